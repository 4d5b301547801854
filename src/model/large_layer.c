/*
 * Computes the time in seconds that one transformer layer takes on one worker for one micro-batch.
 *
 * A matrix product takes the time of its arithmetic with the best tile size, or the time of its
 * memory traffic, whichever is longer. Each processor computes one tile at a time, so the tiles are
 * computed in waves; the constant k0 is added to the inner dimension, so that matrix products with
 * a small inner dimension are less efficient. Flash attention is limited by its flop, and
 * operations between matrix products are limited by the memory bandwidth. Small layers are limited
 * by the host, which launches kernels one by one: a layer takes the time of the device or of the
 * host, whichever is longer.
 */
#include "large.h"

#include <math.h>

static const struct {
    double m, n, efficiency;
} tiles[] = {{256, 128, 1},  {128, 256, 1},  {128, 128, .93},
             {128, 64, .80}, {64, 128, .80}, {64, 64, .60}};

/*
 * Smallest number of values in each piece when the inner dimension k of a matrix product is split
 * into 2, 4 or 8 pieces.
 */
static const double SPLIT_LEAST = 512;

/*
 * Matrix units read rows of 16 bytes, so sizes must be multiples of 8 values. Other products are
 * computed without these units and with sums in 32 bits, at a sixteenth of the rate (A100: 19.5 of
 * 312 Tflop/s). Runs of BigScience with heads of 108 or 150 values take a third longer.
 */
static const double ALIGNED = 8, UNALIGNED = 16;

/*
 * Returns the share of the peak that matrix products reach on this device, relative to the typical
 * device of its generation. Most devices that reach less are limited by their power. Fused
 * attention on a generation without measurements is assumed to be no faster than on measured
 * generations.
 */
static double reach_factor(const struct hm_large_case *x)
{
    static const double TYPICAL = .75; /* This is the mean over the measured generations. */
    const double reach = x->device->reach > 0 ? x->device->reach : 1;

    return x->device->family == HM_FAMILY_OTHER ? fmin(1, reach / TYPICAL) : reach;
}

/*
 * Returns the factor that multiplies the rate of matrix products if the software overlaps them with
 * the messages of tensor parallelism. Such software (Megatron-Core with Transformer Engine) also
 * fuses casts, norms and sums with the products, and reaches more of the peak on Hopper. All
 * software that was measured on Blackwell is of this kind, so the constant for Blackwell includes
 * the factor.
 */
static double engine_factor(const struct hm_large_case *x)
{
    return x->work && x->work->software == HM_SOFTWARE_TUNED && x->work->overlap_tensor
               ? x->constants->gemm_engine
               : 1;
}

/*
 * Returns the fraction of the peak that large matrix products reach during training. The constants
 * apply to the typical device of each generation; for other devices, they are scaled by the
 * fraction that the largest products reach. For a generation without measurements, the mean over
 * the measured generations is scaled in the same way.
 */
static double gemm_efficiency(const struct hm_large_case *x)
{
    const struct hm_large_constants *c = x->constants;

    switch (x->device->family) {
    case HM_FAMILY_VOLTA:
        return c->gemm_volta * reach_factor(x);
    case HM_FAMILY_AMPERE:
        return c->gemm_ampere * reach_factor(x);
    case HM_FAMILY_HOPPER:
        return c->gemm_hopper * reach_factor(x) * engine_factor(x);
    case HM_FAMILY_BLACKWELL:
        return c->gemm_blackwell * reach_factor(x);
    default:
        return x->device->reach > 0 ? c->gemm_other * x->device->reach
                                    : (c->gemm_ampere + c->gemm_hopper + c->gemm_blackwell) / 3;
    }
}

static double memory_rate(const struct hm_large_case *x)
{
    return x->device->bandwidth_bytes_per_s * x->constants->memory;
}

/* Returns the factor by which the power limit and a measured speed change the rates of a device. */
static double power_factor(const struct hm_large_case *x)
{
    return x->device->speed > 0 ? x->device->speed : 1;
}

double hm__large_gemm(const struct hm_large_case *x, double peak, double m, double n, double k)
{
    double processors = x->device->processors, bandwidth = memory_rate(x);
    double rate = peak * gemm_efficiency(x) * power_factor(x) / processors;
    double best = INFINITY;

    for (size_t i = 0; i < sizeof(tiles) / sizeof(tiles[0]); i++) {
        double count = ceil(m / tiles[i].m) * ceil(n / tiles[i].n);
        double flop = 2 * tiles[i].m * tiles[i].n / (rate * tiles[i].efficiency);
        for (double split = 1; split <= 8; split *= 2) {
            if (split > 1 && (count * split > 2 * processors || k / split < SPLIT_LEAST))
                break;
            double waves = count * split / processors;
            waves = waves < 8 ? ceil(waves) : waves + .5;
            double time = waves * flop * (k / split + x->constants->k0);
            if (split > 1)
                time += 4 * m * n * split / bandwidth;
            best = fmin(best, time);
        }
    }
    return fmax(best, 2 * (m * k + k * n + m * n) / bandwidth);
}

/* Time in seconds of the forward pass and of the backward pass. */
struct pair {
    double forward, backward;
};

/*
 * Returns the time in seconds of a linear layer that maps k values to n values, for `rows` tokens:
 * one matrix product in the forward pass, and two in the backward pass. Weights that are not
 * trained need no gradient.
 */
static struct pair linear_time(const struct hm_large_case *x, double peak, double rows, double n,
                               double k)
{
    return (struct pair){hm__large_gemm(x, peak, rows, n, k),
                         hm__large_gemm(x, peak, rows, k, n) +
                             x->work->trained * hm__large_gemm(x, peak, n, k, rows)};
}

static void pair_add(struct pair *sum, struct pair term, double times)
{
    sum->forward += times * term.forward;
    sum->backward += times * term.backward;
}

/* Returns the peak rate of the linear layers, in the number format of the job. */
static double linear_peak(const struct hm_large_case *x)
{
    const struct hm_large_device *d = x->device;

    switch (x->work->precision) {
    case HM_FORMAT_FP8:
    case HM_FORMAT_MXFP8:
        return d->flops_8 > 0 ? d->flops_8 * x->constants->fp8 : d->flops_16;
    case HM_FORMAT_NVFP4:
        return d->flops_4 > 0 ? d->flops_4 * x->constants->fp4 : d->flops_16;
    default:
        return d->flops_16;
    }
}

/*
 * Returns the time in seconds of a linear layer of attention or of a feed-forward layer, with its
 * adapter. The products of an adapter are small, so memory traffic limits it. In the forward pass,
 * the adapter writes its output, scales it and adds it to the output of the layer; this takes 6
 * passes over n values, and one pass over the k inputs. The backward pass takes 4 passes over n
 * values and 5 passes over k values. Fused kernels need about half as many passes.
 */
static struct pair map_time(const struct hm_large_case *x, double rows, double n, double k)
{
    struct pair time = linear_time(x, linear_peak(x), rows, n, k);
    const double value =
        2 * rows / memory_rate(x); /* Time in seconds to process one value of each token. */
    const double passes = x->work->software == HM_SOFTWARE_EAGER ? 1 : .5;

    if (x->work->adapters) {
        time.forward += passes * (6 * n + k) * value;
        time.backward += passes * (4 * n + 5 * k) * value;
    }
    return time;
}

static double flash_efficiency(const struct hm_large_case *x)
{
    const struct hm_large_constants *c = x->constants;
    enum hm_large_family family = x->device->family;
    bool old = family == HM_FAMILY_VOLTA || family == HM_FAMILY_AMPERE;
    bool new = family == HM_FAMILY_BLACKWELL;

    if (x->work->attention == HM_ATTENTION_TRITON)
        return old ? c->triton_ampere : c->triton_hopper;
    if (x->work->attention == HM_ATTENTION_FLASH2 || old)
        return old ? c->flash2_ampere : c->flash2_hopper;
    return new ? c->flash3_blackwell : c->flash3_hopper;
}

/*
 * Returns the time in seconds of one batched matrix product of attention for one head, without a
 * fused kernel.
 */
static double score_product(const struct hm_large_case *x, double rows, double n, double k)
{
    double rate = x->device->flops_16 * gemm_efficiency(x) * power_factor(x);

    if (fmod(n, ALIGNED) != 0 || fmod(k, ALIGNED) != 0)
        rate /= UNALIGNED;
    double flop = 2 * rows * n * k / rate * (k + x->constants->k0 / 2) / k;

    return fmax(flop, 2 * (rows * k + k * n + rows * n) / memory_rate(x));
}

static struct pair core_time(const struct hm_large_case *x, const struct hm_layout *l)
{
    const struct hm_large_work *w = x->work;
    double d = hm__large_widths(w->network).core;
    double rows = w->sequence / l->context, s = w->sequence;
    double heads = l->micro_batch * w->network->heads / l->tensor;

    if (w->attention == HM_ATTENTION_UNFUSED) {
        double products = score_product(x, rows, s, d) + score_product(x, rows, d, s);
        double score = rows * s / memory_rate(x);
        heads *= hm__transformer_blocks(w->network);
        return (struct pair){heads * (products + 9 * score), heads * (2 * products + 11 * score)};
    }
    double efficiency = flash_efficiency(x) * reach_factor(x) * power_factor(x) *
                        pow(fmin(1, d / 128), .4) * rows / (rows + 256) *
                        (l->context > 1 ? x->constants->context : 1);
    double flop = 4 * hm__transformer_core_share(w->network) * heads * d * rows * s;
    double forward = flop / (x->device->flops_16 * efficiency);
    return (struct pair){forward, 2.5 * forward / x->constants->flash_backward};
}

/* Returns the time in seconds of the linear layers that compute queries, keys and values from
 * latents; 0 without latent attention. */
static struct pair latent_maps(const struct hm_large_case *x, const struct hm_layout *l,
                               double rows)
{
    const struct hm_transformer *net = x->work->network;
    const struct hm_latent *a = &net->latent;
    struct pair sum = {0};

    if (!(a->rank_kv > 0))
        return sum;
    pair_add(&sum,
             map_time(x, rows, net->heads * (a->dim_nope + a->dim_rope) / l->tensor,
                      a->rank_q > 0 ? a->rank_q : net->hidden),
             1);
    pair_add(&sum, map_time(x, rows, net->heads * (a->dim_nope + a->dim_v) / l->tensor, a->rank_kv),
             1);
    return sum;
}

/* Returns the time in seconds of the linear layers of attention. */
static struct pair attention_maps(const struct hm_large_case *x, const struct hm_layout *l,
                                  double rows, struct pair latent)
{
    const struct hm_transformer *net = x->work->network;
    const struct hm_latent *a = &net->latent;
    struct hm_large_widths widths = hm__large_widths(net);
    double h = net->hidden, t = l->tensor;
    struct pair sum = latent;

    if (a->rank_kv > 0) {
        if (a->rank_q > 0)
            pair_add(&sum, map_time(x, rows, a->rank_q, h), 1);
        pair_add(&sum, map_time(x, rows, a->rank_kv + a->dim_rope, h), 1);
    } else {
        pair_add(&sum, map_time(x, rows, widths.qkv / t, h), 1);
    }
    pair_add(&sum, map_time(x, rows, h, widths.out / t), 1);
    return sum;
}

/*
 * Returns the time in seconds of the matrix products in a feed-forward layer of `width` values; a
 * gate doubles the first product.
 */
static struct pair mlp_maps(const struct hm_large_case *x, double rows, double width)
{
    const struct hm_transformer *net = x->work->network;
    struct pair sum = map_time(x, rows, (net->gated ? 2 : 1) * width, net->hidden);

    pair_add(&sum, map_time(x, rows, net->hidden, width), 1);
    return sum;
}

/*
 * Returns the factor that multiplies the number of operators. Without fused kernels, a gated
 * network has more operators, for norms, rotary positions and the gate.
 */
static double gated_factor(const struct hm_large_case *x)
{
    return x->work->software == HM_SOFTWARE_EAGER && x->work->network->gated
               ? x->constants->eager_gated
               : 1;
}

static double traffic_factor(const struct hm_large_case *x)
{
    const struct hm_large_constants *c = x->constants;

    return gated_factor(x) * (x->work->software == HM_SOFTWARE_TUNED   ? c->traffic_tuned
                              : x->work->software == HM_SOFTWARE_EAGER ? c->traffic_eager
                                                                       : c->traffic_compiled);
}

/* Returns the time in seconds of the routed and shared experts, including the permutation of
 * tokens. */
static struct pair expert_maps(const struct hm_large_case *x, const struct hm_layout *l,
                               double rows, double split)
{
    const struct hm_transformer *net = x->work->network;
    double local = net->experts / l->expert;
    struct pair sum = {0};
    double per_expert = rows * net->experts_per_token * l->expert / net->experts / split;
    double permute = 8 * rows * net->experts_per_token * net->hidden / split * traffic_factor(x) /
                     memory_rate(x);

    pair_add(&sum, mlp_maps(x, per_expert, net->expert_ffn),
             local > 1 ? local / x->constants->experts : local);
    if (net->shared_ffn > 0)
        pair_add(&sum, mlp_maps(x, rows, net->shared_ffn / l->tensor), 1);
    pair_add(&sum, (struct pair){permute, 1.5 * permute}, 1);
    return sum;
}

/* Returns the time in seconds of the operations between matrix products in the forward pass, which
 * are limited by memory traffic. */
static double traffic_time(const struct hm_large_case *x, const struct hm_layout *l, double rows,
                           double split, bool expert)
{
    const struct hm_transformer *net = x->work->network;
    double width = expert ? net->experts_per_token * net->expert_ffn + net->shared_ffn : net->ffn;
    double outside = (net->gated ? 20 : 22) * net->hidden / split;
    double inside = ((net->gated ? 6 : 4) * width + 4 * hm__large_widths(net).qkv) / l->tensor;

    return rows * (outside + inside) * traffic_factor(x) / memory_rate(x);
}

/* Returns the time in seconds that the host needs to launch the kernels of one layer with this
 * software. */
static struct pair host_time(const struct hm_large_case *x, const struct hm_layout *l, bool expert,
                             enum hm_software software)
{
    static const struct pair operators[] = {[HM_SOFTWARE_TUNED] = {24, 44},
                                            [HM_SOFTWARE_EAGER] = {34, 60},
                                            [HM_SOFTWARE_COMPILED] = {16, 28}};
    const struct hm_large_constants *c = x->constants;
    struct pair ops = operators[software];
    struct pair calls = {l->sequence_parallel ? 4 : 2, l->sequence_parallel ? 6 : 2};
    double each = c->launch_s, scale = x->work->graphs ? .4 : 1, wait = log2(l->tensor) * c->call_s;
    double experts = expert ? 2 * log2(l->expert) * c->call_s : 0;

    if (software == HM_SOFTWARE_EAGER)
        each *= c->eager_host * gated_factor(x);
    if (x->work->attention == HM_ATTENTION_UNFUSED)
        pair_add(&ops, (struct pair){8, 14}, 1);
    if (expert)
        pair_add(&ops, (struct pair){30, 50}, 1);
    return (struct pair){scale * (ops.forward * each + calls.forward * wait + experts),
                         scale * (.6 * ops.backward * each + calls.backward * wait + experts)};
}

static void layer_compute(const struct hm_large_case *x, const struct hm_layout *l, bool expert,
                          struct hm_large_layer *layer)
{
    double rows = l->micro_batch * x->work->sequence / l->context;
    double split = l->sequence_parallel ? l->tensor : 1;
    struct pair latent = latent_maps(x, l, rows), maps = attention_maps(x, l, rows, latent);
    struct pair core = core_time(x, l), host, slow;
    double blocks = hm__transformer_blocks(x->work->network);
    struct pair mlp = expert ? expert_maps(x, l, rows, split)
                             : mlp_maps(x, rows, x->work->network->ffn / l->tensor);

    /* Some frameworks with fused kernels launch them as slowly as eager software does. The factor
     * for gated networks does not apply, because the kernels of the gate are fused. */
    const bool tuned = x->work->software == HM_SOFTWARE_TUNED && !x->work->graphs;
    host = host_time(x, l, expert, x->work->software);
    slow = tuned ? host_time(x, l, expert, HM_SOFTWARE_EAGER) : host;
    maps = (struct pair){blocks * maps.forward, blocks * maps.backward};
    layer->maps = maps.forward;
    layer->up = blocks * latent.forward;
    layer->mlp = mlp.forward;
    layer->core = core.forward;
    layer->core_backward = core.backward;
    layer->traffic = traffic_time(x, l, rows, split, expert);
    layer->forward = maps.forward + core.forward + mlp.forward + layer->traffic;
    layer->backward = maps.backward + core.backward + mlp.backward + 1.8 * layer->traffic;
    layer->host_forward = host.forward;
    layer->host_backward = host.backward;
    layer->slow_forward = slow.forward;
    layer->slow_backward = slow.backward;
}

/* Returns the communication time in seconds of tensor parallelism in one pass: two all-reduces, or
 * one in a layer with experts. */
static double tensor_time(const struct hm_large_case *x, const struct hm_layout *l, double rows,
                          bool expert)
{
    double near = fmin(l->tensor, x->device->per_node);
    double one = hm__large_collective(x, l->tensor, near, 2 * rows * x->work->network->hidden, 2);

    return (expert ? 1 : 2) * one *
           (x->work->overlap_tensor ? 1 - x->constants->overlap_tensor : 1);
}

/* Largest number of groups of experts. */
enum { GROUPS_MOST = 10000 };

/*
 * Returns the number of ways to choose `chosen` of `all` things; 0 if there are too few. Also
 * stores the numbers of ways to choose fewer things: ways[k] is that for `chosen` - k, where k is
 * from 1 to `count`.
 */
static double count_choices(double all, double chosen, double *ways, size_t count)
{
    double product = 1;

    for (double i = 0; i < chosen; i++) {
        if (chosen - i <= (double)count)
            ways[(size_t)(chosen - i)] = all < i ? 0 : product;
        product *= (all - i) / (i + 1);
    }
    return all < chosen ? 0 : product;
}

/*
 * Returns the probability that a token has an expert on a given one of `nodes` nodes. The token
 * uses `m` of `groups` groups of experts, and its k experts are in these groups at random. Nodes
 * have several groups each, or a group is on several nodes.
 */
static double node_share(const struct hm_transformer *net, double nodes)
{
    double groups = fmax(1, net->expert_groups), experts = net->experts_per_token, share = 0;
    double m = groups > 1 ? fmin(groups, fmax(1, net->groups_per_token)) : 1;
    double here = groups / nodes; /* Number of groups on one node. */

    if (here <= 1)
        return m / groups * (1 - pow(1 - here / m, experts));
    here = round(here);
    size_t most = (size_t)fmin(fmin(here, m), GROUPS_MOST);
    double elsewhere[GROUPS_MOST + 1], chosen = 1, all = count_choices(groups, m, NULL, 0);
    count_choices(groups - here, m, elsewhere, most);
    for (size_t k = 1; k <= most; k++) {
        double i = (double)k;
        /* The number of ways to choose i of the groups on one node. */
        chosen *= (here - (i - 1)) / i;
        share += chosen * elsewhere[k] / all * (1 - pow(1 - i / m, experts));
    }
    return share;
}

/*
 * Returns the time in seconds, in one pass, to send tokens to their experts and to collect the
 * results.
 */
static double expert_time(const struct hm_large_case *x, const struct hm_layout *l, double rows,
                          double split)
{
    const struct hm_transformer *net = x->work->network;
    const struct hm_large_constants *c = x->constants;
    double q = x->device->per_node, bytes = 2 * rows * net->hidden / split;
    double spread = bytes * net->experts_per_token / (x->device->link_bytes_per_s * c->alltoall);

    if (l->expert <= 1)
        return 0;
    if (l->expert <= q)
        return 2 * (spread * (l->expert - 1) / l->expert + 2 * c->link_s);
    double nodes = l->expert / q;
    double copies = (nodes - 1) * node_share(net, nodes);
    double across = bytes * copies / (x->device->network_bytes_per_s / q * c->alltoall);
    return 2 * (fmax(across, spread) + 2 * c->link_s);
}

/* Returns the time in seconds of exchanging keys and values that does not overlap with the
 * attention core. */
static double context_shown(double exchange, double core)
{
    return fmax(0, exchange - core) + .1 * fmin(exchange, core);
}

static void context_time(const struct hm_large_case *x, const struct hm_layout *l, double rows,
                         struct hm_large_layer *layer)
{
    const struct hm_large_device *d = x->device;
    double rate = d->link_bytes_per_s * x->constants->link;

    if (l->context <= 1)
        return;
    if (l->tensor * l->context > d->per_node)
        rate = fmin(rate, d->network_bytes_per_s / d->per_node * x->constants->network);
    double width = hm__large_widths(x->work->network).kv;
    double exchange = 2 * rows * width / l->tensor * (l->context - 1) / rate;
    layer->context_forward = context_shown(exchange, layer->core);
    layer->context_backward = context_shown(2 * exchange, layer->core_backward);
}

static void head_time(const struct hm_large_case *x, const struct hm_layout *l,
                      struct hm_large_times *times)
{
    const struct hm_transformer *net = x->work->network;
    double rows = l->micro_batch * x->work->sequence / l->context;
    double columns = net->vocabulary / l->tensor, rate = memory_rate(x);

    if (!net->encoder) {
        struct pair maps = linear_time(x, x->device->flops_16, rows, columns, net->hidden);
        times->head_forward = maps.forward + 14 * rows * columns / rate;
        times->head_backward = maps.backward + 10 * rows * columns / rate;
    }
    times->embed_forward = 8 * rows * net->hidden / rate;
    times->embed_backward = 14 * rows * net->hidden / rate;
}

void hm__large_times(const struct hm_large_case *x, const struct hm_layout *l,
                     struct hm_large_times *ret_times)
{
    const struct hm_transformer *net = x->work->network;
    double expert_layers = hm__transformer_expert_layers(net);
    double rows = l->micro_batch * x->work->sequence / l->context;
    double split = l->sequence_parallel ? l->tensor : 1;

    *ret_times = (struct hm_large_times){0};
    ret_times->layers[0].share = (net->layers - expert_layers) / net->layers;
    ret_times->layers[1].share = expert_layers / net->layers;
    for (int i = 0; i < 2; i++) {
        struct hm_large_layer *layer = &ret_times->layers[i];
        if (!(layer->share > 0))
            continue;
        layer_compute(x, l, i == 1, layer);
        layer->tensor = tensor_time(x, l, rows, i == 1);
        layer->expert = i == 1 ? expert_time(x, l, rows, split) : 0;
        context_time(x, l, rows, layer);
    }
    head_time(x, l, ret_times);
}
