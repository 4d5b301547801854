/* Computes the time of a network's computation on one worker, layer by layer. */
#ifndef HM_LAYER_TIME_H
#define HM_LAYER_TIME_H

#include "howmany.h"

/* Cost of one layer on one worker. */
struct hm_layer_cost {
    double flop_s;   /* Time in seconds of the matrix products for one sample and one pass. */
    double moved_s;  /* Time in seconds to move activations for one sample and one pass; 0 without a
                        roofline. */
    double weight_s; /* Time in seconds to read the weights once; 0 without a roofline. */
    double start_s;  /* Time in seconds of kernel launches in one pass. */
    double backward; /* Number of backward passes: 2 with matrix products, 1 without. */
    double bytes;    /* Size in bytes of the gradient that the layer sends. */
    double times;    /* Number of equal layers that this entry represents. */
};

/*
 * A stage is the part of the backward pass up to and including the next layer that has a gradient.
 * Layers without a gradient only delay the gradient of that layer. A stage over b samples takes
 * max(flop_s * b, moved_s * b + weight_s) + linear_s * b + constant_s seconds.
 */
struct hm_stage {
    /* Time in seconds of all backward passes of the layer that has a gradient; a stage has one such
     * layer. */
    double flop_s, moved_s, weight_s;
    double linear_s, constant_s;
    double bytes; /* Size of the gradient in bytes; 0 in the last stage, which has no gradient. */
};

struct hm_layer_costs {
    /* Layers in the order of the forward pass; equal layers are merged into one entry. */
    struct hm_layer_cost *layers;
    size_t count;
    struct hm_stage *stages; /* Stages in the order of the backward pass. */
    size_t messages;         /* Number of layers that have a gradient to send. */
};

/*
 * Computes the costs of a network's layers on a worker that reaches `flops` flop per second. The
 * roofline model is used when memory_bandwidth is above 0.
 */
int hm__layer_costs_init(struct hm_layer_costs *costs, const struct hm_counts *counts, double flops,
                         double memory_bandwidth, double kernel_overhead_s, double weight_bytes,
                         struct hm_err *err);
void hm__layer_costs_release(struct hm_layer_costs *costs);

/*
 * Computes the time in seconds of the forward pass, and of the forward and backward passes
 * together, for `count` cases with b[i] samples.
 */
void hm__layer_costs_eval(const struct hm_layer_costs *costs, const double *b, size_t count,
                          double *ret_forward_s, double *ret_both_s);

/*
 * Computes the time in seconds from the start of the backward pass until the last gradient has been
 * reduced. Each layer's all-reduce starts when its gradient is ready and the previous all-reduce
 * has ended. `count` cases are evaluated together: case i has b[i] samples, and a message of M
 * bytes takes latency_s[i] + M * per_byte_s[i].
 */
void hm__layer_costs_overlap(const struct hm_layer_costs *costs, const double *b,
                             const double *latency_s, const double *per_byte_s, size_t count,
                             double *ret_s);

#endif
