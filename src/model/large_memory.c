/*
 * Computes the memory of the fullest worker: states (weights, gradients, optimizer) after sharding,
 * activations that are kept for the backward pass, logits and buffers.
 *
 * With hidden size h, each layer keeps the following bytes per token: 4 h for the inputs of norms,
 * 4 h for their outputs (2 h with 8 bits) and 2 h for dropout masks, all of which tensor
 * parallelism does not split. It also keeps the queries, keys, values, the output of attention, the
 * feed-forward layer and, without a fused kernel, the scores, all of which tensor parallelism
 * splits. A pipeline stage holds as many micro-batches as there are stages after it.
 */
#include <math.h>

#include "large.h"

static const double GIB = 1073741824.0;

struct hm_large_stages hm__large_stages(double layers, double stages, double head_in_layers)
{
    struct hm_large_stages best = {0};
    double least = INFINITY;

    for (double last = 0; last <= floor(layers / stages); last++) {
        double other = ceil((layers - last) / (stages - 1));
        double cost = fmax(other, last + head_in_layers);
        if (cost <= least + 1e-12) {
            least = cost;
            best = (struct hm_large_stages){last, other};
        }
    }
    return best;
}

bool hm__large_weighs(const struct hm_large_work *work, double stages)
{
    return stages > 1 && (work->weigh_head || fmod(work->network->layers, stages) != 0);
}

/* Bytes that one layer keeps per token: `whole` without recomputation, `remains` with
 * recomputation. */
struct kept {
    double whole, remains;
};

/* Returns the additional bytes per hidden value that a gated network keeps if norms are not
 * fused. */
static double extra_kept(const struct hm_large_case *x, const struct hm_layout *l)
{
    const struct hm_large_work *w = x->work;

    if (w->software != HM_SOFTWARE_EAGER || !w->network->gated)
        return 0;
    return x->constants->eager_kept +
           (w->weight_bytes > 2 && l->zero < 3 ? x->constants->cast_kept : 0);
}

/*
 * Returns the bytes per token that a layer does not keep if norms and activation functions are
 * recomputed: the outputs of norms, and the inputs of the last matrix product, whose width is f.
 * With latent attention, the queries, keys and values are computed again from their latents.
 */
static double norm_saved(const struct hm_transformer *net, const struct hm_layout *l, double f,
                         bool eight)
{
    const struct hm_latent *a = &net->latent;
    double split = l->sequence_parallel ? l->tensor : 1;
    double saved = (eight ? 2 : 4) * net->hidden / split + 2 * f / l->tensor;

    if (a->rank_kv > 0)
        saved += 2 * hm__large_widths(net).qkv / l->tensor -
                 2 * (a->rank_q + a->rank_kv + a->dim_rope) / split;
    return saved;
}

static struct kept layer_kept(const struct hm_large_case *x, const struct hm_layout *l, bool expert)
{
    const struct hm_large_work *w = x->work;
    const struct hm_transformer *net = w->network;
    struct hm_large_widths widths = hm__large_widths(net);
    bool eight = w->precision >= HM_FORMAT_FP8;
    double split = l->sequence_parallel ? l->tensor : 1, t = l->tensor, h = net->hidden;
    double f = expert ? net->experts_per_token * net->expert_ffn + net->shared_ffn : net->ffn;
    double gates = !net->gated ? 4 : w->fused_gate ? 6 : 8;
    bool unfused = w->attention == HM_ATTENTION_UNFUSED;
    double blocks = hm__transformer_blocks(net);
    double scores = unfused ? blocks * 5 * net->heads * w->sequence / t : 0;
    double outside = (4 + (eight ? 2 : 4) + (w->dropout ? 2 : 0) + extra_kept(x, l)) * h / split;
    double inside =
        (blocks * (2 * widths.qkv + 2 * widths.out) + f * gates + (unfused ? 0 : 4 * net->heads)) /
        t;
    double whole =
        outside + inside + scores + (expert ? 4 * net->experts_per_token * h / split : 0);

    switch (l->recompute) {
    case HM_RECOMPUTE_FULL:
        return (struct kept){whole, 2 * h / split};
    case HM_RECOMPUTE_SELECTIVE:
        return (struct kept){whole, whole - scores};
    case HM_RECOMPUTE_OP:
        return (struct kept){whole, 6 * h / split + (widths.qkv + (net->gated ? 2 : 1) * f) / t};
    case HM_RECOMPUTE_LAYER:
        return (struct kept){whole, whole / 2};
    case HM_RECOMPUTE_NORM:
        return (struct kept){whole, whole - norm_saved(net, l, f, eight)};
    default:
        return (struct kept){whole, whole};
    }
}

/*
 * Numbers of parameters on the fullest worker: in the layers of its pipeline stage, and in the
 * embedding tables.
 */
struct held {
    /* Numbers of parameters in all layers of the stage, outside of experts and in experts. */
    double dense, expert;
    double one; /* Number of parameters in one layer. */
    double tables;
    double layers; /* Number of layers in the stage. */
};

static struct held count_held(const struct hm_large_work *w, const struct hm_layout *l)
{
    const struct hm_transformer *net = w->network;
    double expert_share = hm__transformer_expert_layers(net) / net->layers;
    struct hm_large_layer_count a = hm__large_layer_count(net, l, false),
                                b = hm__large_layer_count(net, l, true);
    struct held held = {.layers = ceil(net->layers / l->pipeline)};
    double dense = (1 - expert_share) * a.dense + (expert_share > 0 ? expert_share * b.dense : 0);
    double expert = expert_share > 0 ? expert_share * b.expert : 0;

    if (hm__large_weighs(w, l->pipeline)) {
        double layer = l->tensor * dense + l->expert * expert;
        held.layers =
            hm__large_stages(net->layers, l->pipeline, net->vocabulary * net->hidden / layer).other;
    }
    held.dense = held.layers * dense;
    held.expert = held.layers * expert;
    held.one = dense + expert;
    held.tables = (net->tied || net->encoder || l->pipeline > 1 ? 1 : 2) * net->vocabulary *
                      net->hidden / l->tensor +
                  hm__large_extra(net) / (l->tensor * l->pipeline);
    return held;
}

/*
 * Adds the weights, gradients and optimizer states of `count` parameters that are sharded over
 * `group` workers.
 */
static void add_states(struct hm_large_memory *m, const struct hm_large_work *w,
                       const struct hm_layout *l, double zero, double count, double group)
{
    const bool shards = zero == 3 || (zero == 2 && (l->pipeline == 1 || w->shard_gradients));
    double gradients_group = shards ? group : 1;

    m->weights += count * w->weight_bytes / (zero == 3 ? group : 1);
    m->gradients += count * w->trained * w->gradient_bytes / gradients_group;
    m->optimizer += count * w->trained * w->optimizer_bytes / (zero >= 1 ? group : 1);
}

/*
 * Removes the states that the host keeps: optimizer states, gradients if they are sharded
 * (ZeRO-Offload sends them to the host as they are computed), and weights. The gradients and
 * weights of two layers, and the weights of tables, remain on the device. `own_weights` is the size
 * in bytes of the worker's own weights, without gathered weights.
 */
static void offload_states(const struct hm_large_work *w, const struct hm_layout *l,
                           const struct held *held, double own_weights, struct hm_large_memory *m)
{
    const double gradients = m->gradients;

    if (l->offload == HM_OFFLOAD_NONE)
        return;
    m->host = m->optimizer + (l->offload == HM_OFFLOAD_ALL ? own_weights : 0);
    m->optimizer = 0;
    if (l->zero >= 2)
        m->gradients = fmin(m->gradients, w->gradient_bytes * w->trained * 2 * held->one);
    if (l->offload == HM_OFFLOAD_ALL)
        m->weights = fmin(m->weights, 2 * 2 * held->one + w->weight_bytes * held->tables);
    m->host += gradients - m->gradients;
}

static void set_activations(const struct hm_large_case *x, const struct hm_layout *l, double layers,
                            struct hm_large_memory *m)
{
    const struct hm_large_work *w = x->work;
    const struct hm_transformer *net = w->network;
    double expert_share = hm__transformer_expert_layers(net) / net->layers;
    double rows = l->micro_batch * w->sequence / l->context, p = l->pipeline;
    double batches = hm__layout_micro_batches(l, w->batch), flight = 1, last = 1;
    struct kept dense = {0}, expert = {0};

    if (expert_share < 1)
        dense = layer_kept(x, l, false);
    if (expert_share > 0)
        expert = layer_kept(x, l, true);
    double kept = (1 - expert_share) * dense.remains + expert_share * expert.remains;
    double again = l->recompute == HM_RECOMPUTE_FULL || l->recompute == HM_RECOMPUTE_OP
                       ? fmax(dense.whole, expert.whole) * rows
                       : 0;
    bool plain = w->software == HM_SOFTWARE_EAGER && net->gated;
    /*
     * Size of a logit in bytes: 2 bytes, a 32-bit copy, and the gradient unless it overwrites the
     * copy.
     */
    double bytes = w->fused_loss ? 6 : plain ? x->constants->eager_logits : 10;
    double logits = net->encoder ? 0 : bytes * rows * net->vocabulary / l->tensor;
    if (p > 1 && l->interleave > 1) {
        flight = fmin(batches, p * (1 + (p - 1) / (p * l->interleave)));
        last = flight / p;
    } else if (p > 1) {
        flight = fmin(batches, p);
    }
    double first = layers * kept * rows * flight + again;
    double end = layers * kept * rows * last + again + logits;
    bool at_end = p == 1 || end > first;
    m->activations = at_end ? end - logits : first;
    m->logits = at_end ? logits : 0;
    m->buffers = (l->tensor == 1 ? 4 : 8) * rows * net->hidden;
}

/*
 * On one worker without accumulation over micro-batches, PyTorch allocates the gradients of a layer
 * when the backward pass frees its activations, so that only the larger of the two counts. Other
 * software and data parallelism keep buffers of all gradients.
 */
static void share_gradients(const struct hm_large_work *w, const struct hm_layout *l,
                            struct hm_large_memory *m)
{
    if (w->software != HM_SOFTWARE_TUNED && l->data * l->context * l->tensor * l->pipeline == 1 &&
        hm__layout_micro_batches(l, w->batch) == 1)
        m->gradients = fmax(0, m->gradients - m->activations - m->logits);
}

void hm__large_memory(const struct hm_large_case *x, const struct hm_layout *l,
                      struct hm_large_memory *ret_memory)
{
    const struct hm_large_work *w = x->work;
    double per_node = x->device->per_node;
    struct held held = count_held(w, l);
    double zero = l->zero == 3 && l->pipeline > 1 ? 2 : l->zero;
    double dense_group = l->data * l->context;
    double expert_group = l->data * l->tensor * l->context / l->expert;
    struct hm_large_memory m = {0};

    if (l->shard_in_node) {
        dense_group = fmin(dense_group, per_node);
        expert_group = fmin(expert_group, per_node);
    }
    add_states(&m, w, l, zero, held.dense + held.tables, dense_group);
    if (held.expert > 0)
        add_states(&m, w, l, zero, held.expert, fmax(1, expert_group));
    const double own_weights = m.weights;
    if (zero == 3)
        /* Adds the weights of gathered layers and embedding tables. */
        m.weights += 8 * held.one + 6 * held.tables;
    offload_states(w, l, &held, own_weights, &m);
    set_activations(x, l, held.layers, &m);
    share_gradients(w, l, &m);
    m.margin = .02 * (m.activations + m.logits + m.buffers) + GIB;
    m.total =
        m.weights + m.gradients + m.optimizer + m.activations + m.logits + m.buffers + m.margin;
    *ret_memory = m;
}
