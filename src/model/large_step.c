/*
 * Computes the time of one training step: the slots of the pipeline, the communication of data
 * parallelism and sharding that does not overlap with computation, and the optimizer.
 *
 * pipe = m w + (sum of all stages - w)/v + messages, where w is the time of the slowest stage, m is
 * the number of micro-batches and v is the number of chunks per stage. With ZeRO-3, computation (F
 * seconds) and gathering weights (AG seconds) overlap partly and take (F^g + AG^g)^(1/g), where g =
 * 1 means no overlap. step = (pipe + data + optimizer + fixed) (1 + jitter log2 nodes), where data
 * is the communication of data parallelism that is not hidden, fixed is a constant time for each
 * step, and jitter is the slowdown for each doubling of the nodes.
 */
#include <math.h>

#include "large.h"

/*
 * Rate in bytes per second at which the optimizer processes the memory of a host, from the
 * latencies of CPU-Adam in the ZeRO-Offload paper (Ren et al. 2021): 0.22 to 0.26 s for a billion
 * parameters.
 */
static const double HOST_BYTES_PER_S = 115e9;

/* Time in seconds that one hop between neighbours in a torus adds to a collective. */
static const double TORUS_HOP_S = 1e-6;

/* Times in seconds of one micro-batch in a layer, as means over all layers. */
struct mean_layer {
    double forward, backward; /* Time in seconds for which the device computes or the host launches
                                 kernels, whichever takes longer. */
    double comm_forward,
        comm_backward; /* Communication time in seconds that computation does not hide. */
    double attention, traffic, host; /* Components of the forward and backward times in seconds. */
    double slow; /* Additional time in seconds of the forward and backward passes if the host is
                    slow. */
    double tensor, expert, context; /* Communication time in seconds in both passes, by kind. */
};

/* Returns the time in seconds of recomputation in the backward pass. */
static double again_time(const struct hm_large_layer *a, enum hm_recompute recompute)
{
    switch (recompute) {
    case HM_RECOMPUTE_FULL:
        return a->forward;
    case HM_RECOMPUTE_SELECTIVE:
        return a->core + a->traffic / 10;
    case HM_RECOMPUTE_OP:
        return (a->forward - a->core) / 2;
    case HM_RECOMPUTE_LAYER:
        return a->forward / 2;
    case HM_RECOMPUTE_NORM:
        return a->traffic / 2 + a->up;
    default:
        return 0;
    }
}

/* Returns the time in seconds that the host needs to launch a backward pass, including its
 * recomputation. */
static double host_back(double forward, double backward, enum hm_recompute recompute)
{
    return backward + (recompute == HM_RECOMPUTE_NONE   ? 0
                       : recompute == HM_RECOMPUTE_FULL ? forward
                                                        : .4 * forward);
}

/*
 * Returns the time in seconds needed to add the gradients of one layer to their sum over
 * micro-batches: the gradients are read, and the sum is read and written. If the weights have 32
 * bits, the time to convert them before each pass is included. Returns 0 if the addition is part of
 * a fused matrix product, or with ZeRO-3, where the communication of gradients adds them up.
 */
static double accumulate_time(const struct hm_large_case *x, const struct hm_layout *l,
                              double batches, bool expert)
{
    const struct hm_large_work *w = x->work;
    struct hm_large_layer_count count = hm__large_layer_count(w->network, l, expert);
    bool wide = w->gradient_bytes > 2;
    double bytes = batches > 1 ? (wide ? 10 : 6) : wide ? 6 : 0;

    if (l->zero == 3 || !w->separate_sum)
        return 0;
    if (w->weight_bytes > 2)
        bytes += 6;
    return x->constants->accumulate * w->trained * bytes * (count.dense + count.expert) /
           (x->device->bandwidth_bytes_per_s * x->constants->memory);
}

/*
 * Returns how many of `exchange` seconds, in which tokens are sent to their experts, do not overlap
 * with `compute` seconds of another micro-batch. Messages slow the computation a little, as those
 * of context parallelism do.
 */
static double expert_shown(double exchange, double compute, bool overlaps)
{
    return overlaps ? fmax(0, exchange - compute) + .1 * fmin(exchange, compute) : exchange;
}

/* Adds a kind of layers to the mean; `overlaps` is true if messages to experts overlap. */
static void add_layer(struct mean_layer *mean, const struct hm_large_layer *a,
                      enum hm_recompute recompute, double accumulate, bool overlaps)
{
    double again = recompute == HM_RECOMPUTE_FULL ? 1 : 0;
    double device_back = a->backward + again_time(a, recompute) + accumulate;
    double forward = fmax(a->forward, a->host_forward);
    double backward = fmax(device_back, host_back(a->host_forward, a->host_backward, recompute));
    double slow = host_back(a->slow_forward, a->slow_backward, recompute);
    double expert_forward = expert_shown(a->expert, forward, overlaps);
    double expert_backward = expert_shown(a->expert * (1 + again), backward, overlaps);
    double core_again = recompute == HM_RECOMPUTE_FULL || recompute == HM_RECOMPUTE_SELECTIVE;

    mean->forward += a->share * forward;
    mean->backward += a->share * backward;
    mean->comm_forward += a->share * (a->tensor + expert_forward + a->context_forward);
    mean->comm_backward += a->share * (a->tensor * (1 + again) + expert_backward +
                                       a->context_backward + again * a->context_forward);
    mean->host += a->share * (forward - a->forward + backward - device_back);
    mean->slow += a->share * (fmax(0, a->slow_forward - forward) + fmax(0, slow - backward));
    mean->attention += a->share * (a->core * (1 + core_again) + a->core_backward);
    mean->traffic += a->share * (a->traffic * (2.8 + again) + accumulate);
    mean->tensor += a->share * a->tensor * (2 + again);
    mean->expert += a->share * (expert_forward + expert_backward);
    mean->context += a->share * (a->context_backward + a->context_forward * (1 + again));
}

/*
 * Number of parameters of one kind on one worker, and number of workers that hold copies of them.
 */
struct group {
    double count, ranks, per_node;
};

static int set_groups(const struct hm_large_case *x, const struct hm_layout *l,
                      const struct hm_large_times *times, struct group *groups)
{
    const struct hm_transformer *net = x->work->network;
    double q = x->device->per_node, layers = net->layers / l->pipeline;
    double dense = 0, expert = 0, ranks = l->data * l->context;
    double tables = net->tied || net->encoder || l->pipeline > 1 ? 1 : 2;
    int count = 0;

    for (int i = 0; i < 2; i++)
        if (times->layers[i].share > 0) {
            struct hm_large_layer_count one = hm__large_layer_count(net, l, i == 1);
            dense += times->layers[i].share * one.dense;
            expert += times->layers[i].share * one.expert;
        }
    groups[count++] = (struct group){.count = layers * dense +
                                              tables * net->vocabulary * net->hidden / l->tensor +
                                              hm__large_extra(net) / (l->tensor * l->pipeline),
                                     .ranks = ranks,
                                     .per_node = fmin(ranks, fmax(1, q / l->tensor))};
    if (expert > 0) {
        double copies = fmax(1, ranks * l->tensor / l->expert);
        groups[count++] = (struct group){.count = layers * expert,
                                         .ranks = copies,
                                         .per_node = fmin(copies, fmax(1, q / l->expert))};
    }
    return count;
}

/* Returns the time in seconds of a collective that sends `bytes` bytes per parameter, summed over
 * all groups. */
static double groups_time(const struct hm_large_case *x, const struct group *groups, int count,
                          double bytes, double passes)
{
    double sum = 0;

    for (int i = 0; i < count; i++)
        sum += hm__large_collective(x, groups[i].ranks, groups[i].per_node, bytes * groups[i].count,
                                    passes);
    return sum;
}

/*
 * Reduces the rate of a collective of `ranks` neighbours in a torus, and adds the latency of its
 * hops. Links go along each axis in both directions; a ring over one axis uses only the links of
 * this axis, and a group that spans several axes uses the links of all these axes.
 */
static void torus_limit(const struct hm_large_device *d, double ranks, double *rate,
                        double *latency)
{
    double axes = 0, spanned = 0, reach = 1, hops = 0;

    for (int i = 0; i < HM_TORUS_AXES && d->torus[i] > 0; i++) {
        axes++;
        if (reach >= ranks)
            continue;
        hops += fmin(d->torus[i], ranks / reach) / 2;
        reach *= d->torus[i];
        spanned++;
    }
    *rate *= spanned / axes;
    *latency += hops * TORUS_HOP_S;
}

double hm__large_collective(const struct hm_large_case *x, double ranks, double per_node,
                            double bytes, double passes)
{
    const struct hm_large_constants *c = x->constants;
    double rate = x->device->link_bytes_per_s * c->link, latency = c->link_s;
    double nodes = ranks / per_node;

    if (ranks <= 1)
        return 0;
    if (x->device->torus[0] > 0 && fmin(ranks, per_node) > 1)
        torus_limit(x->device, fmin(ranks, per_node), &rate, &latency);
    if (nodes > 1) {
        double step = log2(nodes), share = per_node / x->device->per_node;
        double wide = x->device->network_bytes_per_s * c->network *
                      pow(1 - c->network_decay, fmax(0, step - 1));
        rate = fmin(rate, wide * share);
        latency += c->network_s * step;
    }
    return passes * ((ranks - 1) / ranks * bytes / rate + latency);
}

static double norm_sum(double a, double b, double p)
{
    double large = fmax(a, b), small = fmin(a, b);

    return large > 0 ? large * pow(1 + pow(small / large, p), 1 / p) : 0;
}

/* Returns the time in seconds that ZeRO-3 adds to a step of `batches` micro-batches. */
static double sharded_time(const struct hm_large_case *x, const struct hm_layout *l,
                           const struct hm_large_times *t, const struct mean_layer *mean,
                           double batches, const struct group *all, int count)
{
    const struct hm_large_constants *c = x->constants;
    double layers = x->work->network->layers, q = x->device->per_node;
    double workers = hm__layout_workers(l), nodes = fmax(1, workers / q);
    struct group groups[2];

    for (int i = 0; i < count; i++) {
        groups[i] = all[i];
        if (l->shard_in_node)
            groups[i].ranks = groups[i].per_node = fmin(groups[i].ranks, fmax(1, q / l->tensor));
    }
    double gather = groups_time(x, groups, count, 2, 1);
    double scatter = groups_time(x, groups, count, x->work->send_bytes, 1) * x->work->trained;
    double forward = layers * mean->forward + t->head_forward + t->embed_forward;
    double backward = layers * mean->backward + t->head_backward + t->embed_backward;
    double slow = 1 + c->contend * fmin(1, (2 * gather + scatter) / (forward + backward));
    double shown = norm_sum(forward * slow, gather, c->norm) +
                   norm_sum(backward * slow, gather + scatter, c->norm) - forward - backward;
    double time = batches * shown + 2 * gather / layers;
    if (l->shard_in_node && nodes > 1) {
        double bytes = x->work->send_bytes * x->work->trained *
                       (all[0].count + (count > 1 ? all[1].count : 0)) / q;
        time += .5 * hm__large_collective(x, nodes, 1, bytes, 2);
    }
    return time;
}

/*
 * Returns how many of x seconds of communication do not overlap with computation if each chunk
 * computes for `window` seconds.
 */
static double shown_time(double x, double window, const struct hm_layout *l)
{
    double v = l->interleave;

    return fmax(fmax(.05 * x / v, x / v - window), x - window * (1 + l->pipeline * (v - 1)));
}

/*
 * Returns the time in seconds of gradient sums with sharding within nodes: first a sum inside each
 * node, then a sum between nodes, in which each worker sums its own shard.
 */
static double in_node_sum(const struct hm_large_case *x, const struct group *groups, int count)
{
    double sum = 0;

    for (int i = 0; i < count; i++) {
        double near = groups[i].per_node, bytes = x->work->send_bytes * groups[i].count;
        sum += hm__large_collective(x, near, near, bytes, 1) +
               hm__large_collective(x, groups[i].ranks / near, 1, bytes / near, 2);
    }
    return sum;
}

static double in_node_gather(const struct hm_large_case *x, const struct group *groups, int count)
{
    double sum = 0;

    for (int i = 0; i < count; i++)
        sum +=
            hm__large_collective(x, groups[i].per_node, groups[i].per_node, 2 * groups[i].count, 1);
    return sum;
}

/*
 * Returns the time in seconds of the additional gradient sums that do not overlap if stage 2 of
 * ZeRO shards gradients in a pipeline. A chunk of an interleaved pipeline runs as many
 * micro-batches in a row as there are stages, and its gradients are summed after them; without
 * interleaving, they are summed after each micro-batch. `sum` is the time in seconds of one sum of
 * all gradients, and `back` is the time in seconds of a chunk's backward pass, which may overlap
 * with it.
 */
static double further_sums(const struct hm_large_case *x, const struct hm_layout *l, double batches,
                           double sum, double back)
{
    if (!x->work->shard_gradients || l->zero != 2 || l->pipeline == 1)
        return 0;
    double rounds = l->interleave > 1 ? ceil(batches / l->pipeline) : batches;
    double window = x->work->overlap_data ? back * l->interleave * (batches - 1) : 0;
    return fmax(0, (rounds - 1) * sum - window);
}

/* Returns the time in seconds of gradient sums and weight gathers that do not overlap, for ZeRO
 * stages 0 to 2. */
static double data_time(const struct hm_large_case *x, const struct hm_layout *l,
                        const struct mean_layer *mean, double batches, const struct group *groups,
                        int count)
{
    const struct hm_large_work *w = x->work;
    double stage = w->network->layers / l->pipeline * x->constants->overlap_data / l->interleave;
    double back = stage * (mean->backward + mean->comm_backward);
    double front = stage * (mean->forward + mean->comm_forward);
    bool in_node = l->shard_in_node && l->zero >= 1;
    double sum = in_node ? in_node_sum(x, groups, count)
                         : groups_time(x, groups, count, w->send_bytes, l->zero >= 1 ? 1 : 2);
    double time = w->overlap_data ? shown_time(w->trained * sum, back, l) : w->trained * sum;

    time += further_sums(x, l, batches, w->trained * sum, back);
    if (l->zero >= 1) {
        double gather = w->trained * (in_node ? in_node_gather(x, groups, count)
                                              : groups_time(x, groups, count, 2, 1));
        if (w->broadcast)
            gather += x->constants->broadcast_s * groups[0].ranks;
        time += w->overlap_gather ? shown_time(gather, front, l) : gather;
    }
    return time;
}

/*
 * Returns the time in seconds of an optimizer that the host runs on the states of `own` parameters
 * of each worker. The host reads and writes 28 bytes of memory per parameter. New 16-bit weights
 * are copied to the device; gradients are copied to the host during the backward pass.
 */
static double host_optimizer_time(const struct hm_large_case *x, const struct hm_layout *l,
                                  double own)
{
    double workers = fmin(hm__layout_workers(l), x->device->per_node);

    return own * (28 * workers / HOST_BYTES_PER_S + 2 / hm__large_host_link(x->device));
}

/*
 * Returns the time in seconds spent copying weights from the host, in both passes of all
 * micro-batches, that does not overlap with computation.
 */
static double fetch_time(const struct hm_large_case *x, const struct hm_layout *l,
                         const struct group *groups, int count, double batches, double compute)
{
    double held = 0;

    if (l->offload != HM_OFFLOAD_ALL)
        return 0;
    for (int i = 0; i < count; i++)
        held += groups[i].count / (l->zero == 3 ? groups[i].ranks : 1);
    double copy = 2 * batches * 2 * held / hm__large_host_link(x->device);
    return fmax(0, copy - compute) + .1 * fmin(copy, compute);
}

static double optimizer_time(const struct hm_large_case *x, const struct hm_layout *l,
                             const struct group *groups, int count)
{
    double own = 0, all = 0;

    for (int i = 0; i < count; i++) {
        double ranks =
            l->shard_in_node ? fmin(groups[i].ranks, x->device->per_node) : groups[i].ranks;
        own += groups[i].count / (l->zero >= 1 ? ranks : 1);
        all += groups[i].count;
    }
    if (l->offload != HM_OFFLOAD_NONE)
        return x->work->trained * host_optimizer_time(x, l, own);
    /* The reference counts the bytes of 32-bit states, which are 12 or more bytes per parameter.
     * Smaller states, such as bf16 weights without a 32-bit copy, move proportionally fewer
     * bytes. */
    double states = fmin(1, (x->work->weight_bytes + x->work->optimizer_bytes) / 12);
    return x->work->trained * states * (34 * own + 6 * all) /
           (x->device->bandwidth_bytes_per_s * x->constants->memory);
}

/*
 * Sets the components of the step that belong to the pipeline; returns the time of the pipeline in
 * seconds.
 */
static double pipeline_time(const struct hm_large_case *x, const struct hm_layout *l,
                            const struct hm_large_times *t, const struct mean_layer *mean,
                            double batches, struct hm_large_step *s)
{
    const struct hm_large_constants *c = x->constants;
    const struct hm_large_work *w = x->work;
    double layers = w->network->layers, p = l->pipeline, v = l->interleave;
    double head = t->head_forward + t->head_backward, embed = t->embed_forward + t->embed_backward;
    double layer = mean->forward + mean->backward + mean->comm_forward + mean->comm_backward;
    struct hm_large_stages stages = {layers / p, layers / p};
    bool wide = hm__layout_workers(l) > x->device->per_node;

    s->head_s = batches * (head + embed);
    if (p <= 1)
        return batches * (layers * layer + head + embed);
    if (hm__large_weighs(w, p))
        stages = hm__large_stages(layers, p, head / layer);
    double slot = fmax(stages.other * layer + embed, stages.last * layer + head);
    double rate = wide ? x->device->network_bytes_per_s / x->device->per_node * c->network
                       : x->device->link_bytes_per_s * c->link;
    double bytes = 2 * l->micro_batch * w->sequence / l->context * w->network->hidden /
                   (w->split_messages ? l->tensor : 1);
    double message = 2 * (bytes / rate + (wide ? c->network_s : c->link_s) + c->message_s) * v *
                     (w->overlap_pipeline ? .2 : 1);
    s->message_s = message * (batches + (p - 1) / v);
    s->bubble_s = (layers * layer + head + embed - slot) / v;
    return batches * slot + s->bubble_s + s->message_s;
}

void hm__large_step(const struct hm_large_case *x, const struct hm_layout *layout,
                    const struct hm_large_times *times, struct hm_large_step *ret_step)
{
    struct hm_layout l = *layout;
    struct hm_large_step s = {0};
    struct mean_layer mean = {0};
    struct group groups[2];
    double workers = hm__layout_workers(&l), nodes = fmax(1, workers / x->device->per_node);
    double batches = hm__layout_micro_batches(&l, x->work->batch);

    if (l.zero == 3 && l.pipeline > 1)
        l.zero = 2; /* A pipeline keeps the gathered weights for all micro-batches, so ZeRO-3 is
                       evaluated as stage 2. */
    for (int i = 0; i < 2; i++)
        if (times->layers[i].share > 0)
            add_layer(&mean, &times->layers[i], l.recompute,
                      accumulate_time(x, &l, batches, i == 1),
                      x->work->overlap_expert && batches > 1);
    double slots = batches * x->work->network->layers / l.pipeline;
    int count = set_groups(x, &l, times, groups);
    double pipe = pipeline_time(x, &l, times, &mean, batches, &s);
    s.compute_s = slots * (mean.forward + mean.backward);
    s.attention_s = slots * mean.attention;
    s.traffic_s = slots * mean.traffic;
    s.host_s = slots * mean.host;
    /* A slow host also delays the slots in which the pipeline fills and drains. */
    s.slow_host_s =
        (slots + (l.pipeline - 1) / l.interleave * x->work->network->layers / l.pipeline) *
        mean.slow;
    s.matmul_s = s.compute_s - s.attention_s - s.traffic_s - s.host_s;
    s.tensor_s = slots * mean.tensor;
    s.expert_s = slots * mean.expert;
    s.context_s = slots * mean.context;
    s.data_s = l.zero == 3 ? sharded_time(x, &l, times, &mean, batches, groups, count)
                           : data_time(x, &l, &mean, batches, groups, count);
    s.data_s += fetch_time(x, &l, groups, count, batches, s.compute_s);
    s.optimizer_s = optimizer_time(x, &l, groups, count);
    s.time_s = (pipe + s.data_s + s.optimizer_s + x->constants->step_s) *
               (1 + x->constants->jitter * log2(nodes));
    s.other_s = s.time_s - s.compute_s - s.head_s - s.tensor_s - s.expert_s - s.context_s -
                s.bubble_s - s.message_s - s.data_s - s.optimizer_s;
    *ret_step = s;
}
