/*
 * Defines the constants of the model of a training step on an accelerator. They describe software
 * (kernels, frameworks, collective libraries) and are the same for all accelerators; rates and
 * sizes that differ between accelerators are in the catalog. tools/fit_step.c fitted the constants
 * to the tables in data/, with cross-validation; docs/explain/accuracy.md lists the errors.
 */
#ifndef HM_CONSTANTS_H
#define HM_CONSTANTS_H

#include "cpu.h"
#include "framework.h"

/*
 * Columns: name, value, smallest and largest reasonable value, meaning. "Of the bandwidth" means a
 * fraction of the memory bandwidth of the accelerator; the rate of slow kernels is given for one
 * processor at 1.98 GHz, because it depends on the number of processors and their clock instead.
 * Times are in microseconds.
 */
/* clang-format off */
#define HM_CONSTANT_MAP(X)                                                                         \
    X(gemm_ramp, 51.4, 16, 512, "additions to k that fill the pipeline of a matrix product")       \
    X(gemm_tf32, 0.78, 0.6, 1, "efficiency of TF32 products relative to 16-bit ones")              \
    X(gemm_fp32, 1.07, 0.6, 1.3, "efficiency of fp32 products relative to 16-bit ones")            \
    X(gemm_fp8, 0.85, 0.5, 1, "efficiency of fp8 products relative to 16-bit ones")                \
    X(gemm_align2, 1.82, 0.2, 20, "Tflop/s of one processor if rows have no multiple of 16 bytes") \
    X(gemm_align1, 0.87, 0.1, 20, "the same if they have no multiple of 4 bytes")                  \
    X(conv_forward, 1.35, 0.3, 1.5, "efficiency of a convolution relative to a matrix product")    \
    X(conv_data, 1.36, 0.2, 1.5, "the same, gradient of the input")                                \
    X(conv_weight, 1.15, 0.2, 1.5, "the same, gradient of the weights")                            \
    X(conv_feed, 5.4, 0.5, 50, "Tflop/s at which a processor can feed its matrix units")           \
    X(conv_start, 15, 0, 15, "microseconds to start a pass of a convolution")                      \
    X(conv_few, 0.246, 0.05, 1, "efficiency of a convolution of fewer than 8 input maps")          \
    X(conv_plain, 0.951, 0.4, 1.5, "the same without matrix units, all passes")                    \
    X(conv_groups, 0.746, 0.02, 1, "efficiency of grouped convolutions relative to others")        \
    X(conv_groups_tf32, 0.167, 0.1, 1, "factor on it in TF32, for which libraries have few kernels")\
    X(conv_winograd, 2.37, 1, 4, "speed-up of 3x3 convolutions in fp32 without matrix units")      \
    X(conv_pointwise, 0.963, 0.3, 1.5, "efficiency of 1x1 convolutions relative to larger ones")   \
    X(conv_tf32, 1.36, 0.5, 2, "efficiency of TF32 relative to 16 bits, outputs and input gradients")\
    X(conv_tf32_weight, 0.705, 0.3, 2, "the same, gradient of the weights")                        \
    X(depth_forward, 14.2, 1, 200, "10^9 products/s of one processor, depthwise convolution")      \
    X(depth_data, 0.717, 0.05, 50, "10^9 values/s of one processor, gradient of its input")        \
    X(depth_weight, 3.48, 0.2, 100, "10^9 products/s of one processor, gradient of its weights")   \
    X(depth_half, 2.05, 0.5, 10, "factor on these in fp16, for which the library has kernels")     \
    X(depth_last, 0.5, 0.05, 1, "of the bandwidth, if images are stored position by position")     \
    X(stream, 0.921, 0.4, 1, "of the bandwidth, operations on each element")                       \
    X(layout, 2.54, 0.2, 50, "10^9 values/s of one processor, changes of the memory layout")       \
    X(norm_forward, 1.82, 0.1, 20, "10^9 values/s of one channel, batch normalisation (eager)")    \
    X(norm_backward, 0.694, 0.05, 20, "the same, backward")                                        \
    X(norm_slow, 0.547, 0.1, 1, "factor on it in bf16, for which the library has no kernel")       \
    X(norm_slow_backward, 0.766, 0.1, 1, "the same, backward")                                     \
    X(norm_last, 0.7, 0.1, 1, "of the bandwidth, if images are stored position by position")       \
    X(norm_wave, 1.09, 0.5, 8, "channels that a processor normalises at a time")                   \
    X(norm_wave_backward, 1.7, 0.5, 8, "the same, backward")                                       \
    X(layer_norm, 0.57, 0.1, 1, "of the bandwidth, layer normalisation")                           \
    X(pool_backward, 7.97, 0.5, 200, "10^9 reads/s of one processor, gradient of pooling")         \
    X(pool_forward, 10, 0.5, 200, "the same, pooling forward")                                     \
    X(bias_add, 2.41, 0.2, 50, "10^9 values/s of one processor, bias of a convolution, copies")    \
    X(loss_bytes, 113, 10, 120, "bytes moved for each output value by the loss")                   \
    X(flash, 20, 2, 50, "Tflop/s of one processor in attention kernels on 16-bit values")          \
    X(flash_length, 250, 16, 2048, "additions to the length that fill these kernels")              \
    X(score_bytes, 14.1, 4, 80, "bytes moved for each score if attention is not fused")            \
    X(flash_wide, 0.145, 0.1, 1, "factor on it for 32-bit values")                                 \
    X(flash_backward, 0.85, 0.3, 1, "factor on it for the backward pass")                          \
    X(attention_copies, 0.5, 0.5, 20, "copies of the input in a pass of attention, for its heads") \
    X(recurrent_step, 19.6, 1, 60, "microseconds of one step of a recurrent layer, least")         \
    X(update_sgd, 0.76, 0.2, 1, "of the bandwidth, update of the parameters")                      \
    X(kernel, 2, 2, 8, "microseconds from the start of a small kernel to its end")                 \
    X(host_forward, 20.6, 5, 80, "microseconds of the host for one operation forward (eager)")     \
    X(host_backward, 23.9, 5, 80, "the same, backward")                                            \
    X(host_cast, 63, 1, 200, "the same, for one conversion of precision")                          \
    X(host_update, 24.6, 0.5, 40, "the same, for the update of one tensor")                        \
    X(host_fixed, 895, 0, 3000, "the same, once a step")                                           \
    X(host_compiled, 0.96, 0.02, 1, "factor on the host's time of compiled graphs")                \
    X(host_tuned, 0.05, 0.005, 1, "factor on the host's time of tuned software")                   \
    X(fuse_compiled, 0.713, 0.1, 1, "share of element-wise traffic that compiled graphs keep")     \
    X(fuse_tuned, 0.532, 0.05, 1, "share of element-wise traffic that tuned software keeps")       \
    X(coll_start, 22.4, 2, 100, "microseconds to start a collective")                              \
    X(coll_hop, 0.408, 0.05, 5, "factor on the latency of a link from one worker to the next")     \
    X(coll_simple, 45.3, 0, 200, "microseconds that the protocol of large messages adds in a node")\
    X(coll_net, 3.36, 0, 50, "latencies of the fabric that this protocol adds for each hop")       \
    X(coll_half, 354, 10, 5000, "kilobytes at which half of this is added")                        \
    X(coll_fill, 16.9, 1, 500, "microseconds that a large message loses until the links are full") \
    X(coll_chunk, 18.4, 0.5, 60, "megabytes of each worker that fill the pipeline of nodes")       \
    X(coll_link, 0.811, 0.4, 1, "of the bandwidth of the links inside a node")                     \
    X(coll_port, 0.923, 0.3, 1, "of the bandwidth of the port of a node to the fabric")            \
    X(coll_switch, 1.25, 1, 2, "gain where the switch adds up the messages")                       \
    X(coll_tree, 1.26, 1, 2, "the same, if the switches of several nodes form a tree")             \
    X(coll_nodes, 0.0546, 0, 0.2, "share of the fabric lost for each doubling of the nodes")       \
    X(contention, 0.369, 0, 0.5, "slow-down of computing while gradients are sent")                \
    X(jitter, 0.02, 0, 0.02, "slow-down of the step for each doubling of the workers")
/* clang-format on */

struct hm_constants {
#define HM_CONSTANT_MEMBER(name, value, low, high, doc) double name;
    HM_CONSTANT_MAP(HM_CONSTANT_MEMBER)
#undef HM_CONSTANT_MEMBER
    const struct hm_cpu_constants *cpu; /* Constants of the model of CPUs; borrowed. */
    /* Costs of frameworks, one element for each enum hm_framework; borrowed. */
    const struct hm_framework_costs *frameworks;
};

/* The constants of this version of the model. */
extern const struct hm_constants hm__constants;

#endif
