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

/*
 * What happens on the way back up to and including the next gradient: layers without one only add
 * to the time until it is ready. Over b samples that is the longer of flop_s * b and moved_s * b +
 * weight_s, plus linear_s * b + constant_s.
 */
struct hm_stage {
    double flop_s, moved_s, weight_s; /* all passes of the layer that has the gradient */
    double linear_s, constant_s;
    double bytes; /* of the gradient; 0 in the last stage, which has none */
};

struct hm_layer_costs {
    struct hm_layer_cost *layers; /* equal ones merged */
    size_t count;
    struct hm_stage *stages; /* in the order of the way back */
    size_t stage_count;
    size_t messages; /* layers that have a gradient to send */
};

/*
 * Costs of the layers of a network on a worker of `flops` reached, with a roofline when
 * memory_bandwidth is positive.
 */
int hm__layer_costs_init(struct hm_layer_costs *costs, const struct hm_counts *counts, double flops,
                         double memory_bandwidth, double kernel_overhead_s, double weight_bytes,
                         struct hm_err *err);
void hm__layer_costs_release(struct hm_layer_costs *costs);

/* Seconds of the way forward and of both ways, for count cases: b[i] samples. */
void hm__layer_costs_eval(const struct hm_layer_costs *costs, const double *b, size_t count,
                          double *ret_forward_s, double *ret_both_s);

/*
 * Seconds from the start of the backward pass until the last gradient has been reduced, when each
 * layer's all-reduce starts as soon as its gradient is ready and they follow one another; for
 * `count` cases at once: b[i] samples, and a message of M bytes takes latency_s[i] +
 * M * per_byte_s[i].
 */
void hm__layer_costs_overlap(const struct hm_layer_costs *costs, const double *b,
                             const double *latency_s, const double *per_byte_s, size_t count,
                             double *ret_s);

#endif
