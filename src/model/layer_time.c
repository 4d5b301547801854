/*
 * Computes the time of a network's computation on one worker.
 *
 * Without a memory bandwidth, a layer takes flop / F seconds on a worker that reaches F flop per
 * second. With a memory bandwidth, one pass over b samples takes the time of its matrix products or
 * of its memory traffic, whichever is longer, plus the overhead of a kernel launch: max(flop * b /
 * F, (values * b + weights) / bandwidth) + overhead (the roofline model of Williams, Waterman,
 * Patterson 2009). Training makes three passes over a layer with matrix products (forward, gradient
 * of the input, gradient of the weights) and two passes over other layers. Limits: every layer
 * reaches the same F, and caches and fused kernels are not modelled.
 */
#include "layer_time.h"

#include <math.h>
#include <string.h>

#include "budget.h"
#include "err.h"
#include "memory.h"

enum { LOOK_BACK = 256 };

static bool layer_cost_equal(const struct hm_layer_cost *a, const struct hm_layer_cost *b)
{
    return a->flop_s == b->flop_s && a->moved_s == b->moved_s && a->weight_s == b->weight_s &&
           a->start_s == b->start_s && a->backward == b->backward && a->bytes == b->bytes;
}

static void layer_costs_add(struct hm_layer_costs *costs, const struct hm_layer_cost *cost)
{
    /* Only the most recent layers are searched for an equal one, because repeated blocks are
     * short. */
    for (size_t i = costs->count > LOOK_BACK ? costs->count - LOOK_BACK : 0; i < costs->count;
         i++) {
        if (layer_cost_equal(&costs->layers[i], cost)) {
            costs->layers[i].times++;
            return;
        }
    }
    costs->layers[costs->count++] = *cost;
}

/*
 * Returns the cost of one layer; all fields are 0 for a layer that takes no time and has no
 * gradient.
 */
static struct hm_layer_cost layer_cost_of(const struct hm_count *l, double flops,
                                          double memory_bandwidth, double kernel_overhead_s,
                                          double weight_bytes)
{
    struct hm_layer_cost cost = {.flop_s = 2 * l->multiply_adds / flops, .times = 1};

    cost.backward = l->multiply_adds > 0 ? HM_TRAINING_PASSES - 1 : 1;
    cost.bytes = l->parameters * weight_bytes;
    cost.start_s = kernel_overhead_s;
    if (memory_bandwidth > 0) {
        cost.moved_s = (l->inputs + l->outputs) * weight_bytes / memory_bandwidth;
        cost.weight_s = l->parameters * weight_bytes / memory_bandwidth;
    }
    return cost;
}

/* Adds a layer to the stage that is being filled; returns true when the layer ends the stage. */
static bool stage_add_layer(struct hm_stage *stage, const struct hm_layer_cost *l)
{
    stage->constant_s += l->backward * l->start_s;
    /* The layer has no weights to read, so its time is linear in the number of samples b. */
    if (l->bytes == 0) {
        stage->linear_s += l->backward * fmax(l->flop_s, l->moved_s);
        return false;
    }
    stage->flop_s = l->backward * l->flop_s;
    stage->moved_s = l->backward * l->moved_s;
    stage->weight_s = l->backward * l->weight_s;
    stage->bytes = l->bytes;
    return true;
}

int hm__layer_costs_init(struct hm_layer_costs *costs, const struct hm_counts *counts, double flops,
                         double memory_bandwidth, double kernel_overhead_s, double weight_bytes,
                         struct hm_err *err)
{
    *costs = (struct hm_layer_costs){0};
    costs->layers = hm__calloc(counts->layer_count, sizeof(*costs->layers));
    costs->stages = hm__calloc(counts->layer_count + 1, sizeof(*costs->stages));
    if (!costs->layers || !costs->stages) {
        hm__layer_costs_release(costs);
        return hm__fail_nomem(err);
    }
    for (size_t i = counts->layer_count; i-- > 0;) {
        struct hm_layer_cost cost = layer_cost_of(&counts->layers[i], flops, memory_bandwidth,
                                                  kernel_overhead_s, weight_bytes);
        if (cost.flop_s == 0 && cost.moved_s == 0 && cost.start_s == 0 && cost.bytes == 0)
            continue;
        layer_costs_add(costs, &cost);
        if (stage_add_layer(&costs->stages[costs->messages], &cost))
            costs->messages++;
    }
    return 0;
}

void hm__layer_costs_release(struct hm_layer_costs *costs)
{
    hm__free(costs->layers);
    hm__free(costs->stages);
    *costs = (struct hm_layer_costs){0};
}

enum { BLOCK = 64 };

/*
 * Adds the time of one layer to each case of a block of cases, where a case is a number of samples
 * b. Plain loops over arrays allow the compiler to vectorise.
 */
static void layer_cost_eval_block(const struct hm_layer_cost *l, const double *restrict b,
                                  double *restrict forward, double *restrict both)
{
    const double times = l->times, twice = l->times * (1 + l->backward);

    for (size_t i = 0; i < BLOCK; i++) {
        double products = l->flop_s * b[i], moving = l->moved_s * b[i] + l->weight_s;
        double pass = (products > moving ? products : moving) + l->start_s;
        forward[i] += times * pass;
        both[i] += twice * pass;
    }
}

void hm__layer_costs_eval(const struct hm_layer_costs *costs, const double *b, size_t count,
                          double *ret_forward_s, double *ret_both_s)
{
    /* Once the budget is spent, the remaining times are not set; the caller returns the error. */
    for (size_t start = 0; start < count && !hm__budget_spent("max_n"); start += BLOCK) {
        size_t length = count - start < BLOCK ? count - start : BLOCK;
        double cases[BLOCK] = {0}, forward[BLOCK] = {0}, both[BLOCK] = {0};
        memcpy(cases, b + start, length * sizeof(*b));
        for (size_t k = 0; k < costs->count; k++)
            layer_cost_eval_block(&costs->layers[k], cases, forward, both);
        memcpy(ret_forward_s + start, forward, length * sizeof(*b));
        memcpy(ret_both_s + start, both, length * sizeof(*b));
    }
}

/* Adds one stage of the backward pass, and the message with its gradient, to each case of a block,
 * where a case is a number of samples. */
static void stage_eval_block(const struct hm_stage *s, const double *restrict b,
                             const double *restrict latency_s, const double *restrict per_byte_s,
                             double *restrict ready, double *restrict sent)
{
    /* A local copy can stay in registers, because writes to the arrays cannot change it. */
    const struct hm_stage stage = *s;

    /* Without matrix products, the time of the layer is linear in the number of samples b. */
    if (stage.flop_s == 0) {
        const double per_sample = stage.moved_s + stage.linear_s;
        const double fixed = stage.weight_s + stage.constant_s;
        for (size_t i = 0; i < BLOCK; i++) {
            double now = ready[i] + (per_sample * b[i] + fixed);
            double start = sent[i] > now ? sent[i] : now;
            ready[i] = now;
            sent[i] = start + (latency_s[i] + stage.bytes * per_byte_s[i]);
        }
        return;
    }
    for (size_t i = 0; i < BLOCK; i++) {
        double products = stage.flop_s * b[i], moving = stage.moved_s * b[i] + stage.weight_s;
        double pass = products > moving ? products : moving;
        double now = ready[i] + pass + (stage.linear_s * b[i] + stage.constant_s);
        double start = sent[i] > now ? sent[i] : now;
        ready[i] = now;
        sent[i] = start + (latency_s[i] + stage.bytes * per_byte_s[i]);
    }
}

void hm__layer_costs_overlap(const struct hm_layer_costs *costs, const double *b,
                             const double *latency_s, const double *per_byte_s, size_t count,
                             double *ret_s)
{
    /* Once the budget is spent, the remaining times are not set; the caller returns the error. */
    for (size_t start = 0; start < count && !hm__budget_spent("max_n"); start += BLOCK) {
        size_t length = count - start < BLOCK ? count - start : BLOCK;
        double cases[3][BLOCK] = {{0}}, ready[BLOCK] = {0}, sent[BLOCK] = {0};
        memcpy(cases[0], b + start, length * sizeof(*b));
        memcpy(cases[1], latency_s + start, length * sizeof(*b));
        memcpy(cases[2], per_byte_s + start, length * sizeof(*b));
        for (size_t k = 0; k < costs->messages; k++)
            stage_eval_block(&costs->stages[k], cases[0], cases[1], cases[2], ready, sent);
        const struct hm_stage *last = &costs->stages[costs->messages];
        for (size_t i = 0; i < length; i++) {
            ready[i] += last->linear_s * cases[0][i] + last->constant_s;
            ret_s[start + i] = sent[i] > ready[i] ? sent[i] : ready[i];
        }
    }
}
