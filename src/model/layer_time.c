/*
 * Time to compute a network on one worker.
 *
 * Without memory bandwidth a layer takes flop / F. With it, a pass over b samples takes the longer
 * of its products and its memory traffic, plus the start of a kernel (the roofline model of
 * Williams, Waterman, Patterson 2009). Training passes over a layer with weights three times
 * (forward, gradient of the input, gradient of the weights), over one without weights twice.
 */
#include "layer_time.h"

#include <string.h>

#include "err.h"
#include "memory.h"

static bool same_cost(const struct hm_layer_cost *a, const struct hm_layer_cost *b)
{
    return a->flop_s == b->flop_s && a->moved_s == b->moved_s && a->weight_s == b->weight_s &&
           a->start_s == b->start_s && a->backward == b->backward && a->bytes == b->bytes;
}

static void add_cost(struct hm_layer_costs *costs, const struct hm_layer_cost *cost, bool merge)
{
    for (size_t i = 0; merge && i < costs->count; i++) {
        if (same_cost(&costs->layers[i], cost)) {
            costs->layers[i].times++;
            return;
        }
    }
    costs->layers[costs->count++] = *cost;
}

int hm_layer_costs_init(struct hm_layer_costs *costs, const struct hm_counts *counts, double flops,
                        double memory_bandwidth, double kernel_overhead_s, double weight_bytes,
                        bool merge, struct hm_err *err)
{
    *costs = (struct hm_layer_costs){0};
    costs->layers = hm__calloc(counts->layer_count, sizeof(*costs->layers));
    if (!costs->layers)
        return hm_fail_nomem(err);
    for (size_t i = 0; i < counts->layer_count; i++) {
        const struct hm_count *l = &counts->layers[i];
        struct hm_layer_cost cost = {.flop_s = 2 * l->multiply_adds / flops, .times = 1};
        cost.backward = l->multiply_adds > 0 ? HM_TRAINING_PASSES - 1 : 1;
        cost.bytes = l->parameters * weight_bytes;
        if (memory_bandwidth > 0) {
            cost.moved_s = (l->inputs + l->outputs) * weight_bytes / memory_bandwidth;
            cost.weight_s = l->parameters * weight_bytes / memory_bandwidth;
            cost.start_s = kernel_overhead_s;
        }
        costs->messages += cost.bytes > 0;
        if (cost.flop_s > 0 || cost.moved_s > 0 || cost.bytes > 0)
            add_cost(costs, &cost, merge);
    }
    return 0;
}

void hm_layer_costs_release(struct hm_layer_costs *costs)
{
    hm__free(costs->layers);
    *costs = (struct hm_layer_costs){0};
}

void hm_layer_costs_eval(const struct hm_layer_costs *costs, double b, double *ret_forward_s,
                         double *ret_backward_s)
{
    double forward = 0, backward = 0;

    for (size_t i = 0; i < costs->count; i++) {
        const struct hm_layer_cost *l = &costs->layers[i];
        double pass = l->times * hm_layer_pass(l, b);
        forward += pass;
        backward += l->backward * pass;
    }
    *ret_forward_s = forward;
    *ret_backward_s = backward;
}

double hm_layer_costs_overlap(const struct hm_layer_costs *costs, double b, double latency_s,
                              double per_byte_s)
{
    double ready = 0, sent = 0;

    for (size_t i = costs->count; i-- > 0;) {
        const struct hm_layer_cost *l = &costs->layers[i];
        ready += l->backward * hm_layer_pass(l, b);
        if (l->bytes > 0)
            sent = (sent > ready ? sent : ready) + latency_s + l->bytes * per_byte_s;
    }
    return sent > ready ? sent : ready;
}
