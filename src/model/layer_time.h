/* Time to compute a network on one worker, layer by layer. */
#ifndef HM_LAYER_TIME_H
#define HM_LAYER_TIME_H

#include "howmany.h"

/* What one layer costs, in the units of the worker it runs on. */
struct hm_layer_cost {
    double flop_s;   /* seconds of products for one sample, one pass */
    double moved_s;  /* seconds of moving values for one sample, one pass; 0 without a roofline */
    double weight_s; /* seconds of reading the weights once; 0 without a roofline */
    double start_s;  /* kernel overhead of a pass */
    double backward; /* passes on the way back: 2 with weights, 1 without */
    double bytes;    /* gradient it sends */
    double times;    /* equal layers are counted once */
};

/* Seconds of one pass of a layer over b samples. */
static inline double hm_layer_pass(const struct hm_layer_cost *l, double b)
{
    double products = l->flop_s * b, moving = l->moved_s * b + l->weight_s;
    return (products > moving ? products : moving) + l->start_s;
}

struct hm_layer_costs {
    struct hm_layer_cost *layers;
    size_t count;
    size_t messages; /* layers that have a gradient to send */
};

/*
 * Costs of the layers of a network on a worker of `flops` reached, with a roofline when
 * memory_bandwidth is positive. `merge` joins equal layers, when their order does not matter.
 */
int hm_layer_costs_init(struct hm_layer_costs *costs, const struct hm_counts *counts, double flops,
                        double memory_bandwidth, double kernel_overhead_s, double weight_bytes,
                        bool merge, struct hm_err *err);
void hm_layer_costs_release(struct hm_layer_costs *costs);

/* Seconds of forward and backward over b samples. */
void hm_layer_costs_eval(const struct hm_layer_costs *costs, double b, double *ret_forward_s,
                         double *ret_backward_s);

/*
 * Seconds from the start of the backward pass until the last gradient has been reduced, when each
 * layer's all-reduce starts as soon as its gradient is ready and they follow one another. A message
 * of M bytes takes latency_s + M * per_byte_s.
 */
double hm_layer_costs_overlap(const struct hm_layer_costs *costs, double b, double latency_s,
                              double per_byte_s);

#endif
