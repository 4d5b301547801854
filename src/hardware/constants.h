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
    X(gemm_ramp, 16, 16, 512, "additions to k that fill the pipeline of a matrix product")         \
    X(gemm_tf32, 0.695, 0.6, 1, "efficiency of TF32 products relative to 16-bit ones")             \
    X(gemm_fp32, 1.1, 0.6, 1.3, "efficiency of fp32 products relative to 16-bit ones")             \
    X(gemm_fp8, 0.85, 0.5, 1, "efficiency of fp8 products relative to 16-bit ones")                \
    X(gemm_align2, 0.323, 0.2, 1, "efficiency when a side is even but no multiple of 16 bytes")    \
    X(gemm_align1, 0.6, 0.1, 0.6, "efficiency when a side is odd")                                 \
    X(conv_forward, 1.2, 0.3, 1.2, "efficiency of a convolution relative to a matrix product")     \
    X(conv_data, 1.2, 0.2, 1.2, "the same, gradient of the input")                                 \
    X(conv_weight, 1.2, 0.2, 1.2, "the same, gradient of the weights")                             \
    X(conv_feed, 6.28, 0.5, 50, "Tflop/s at which a processor can feed its matrix units")          \
    X(conv_few, 0.996, 0.05, 1, "efficiency of a convolution of fewer than 8 input maps")          \
    X(conv_plain, 0.944, 0.4, 1.5, "the same without matrix units, all passes")                    \
    X(conv_groups, 0.814, 0.02, 1, "efficiency of grouped convolutions relative to others")        \
    X(conv_winograd, 2.44, 1, 2.5, "speed-up of 3x3 convolutions in fp32 without matrix units")    \
    X(conv_pointwise, 0.855, 0.3, 1.5, "efficiency of 1x1 convolutions relative to larger ones")   \
    X(conv_wide_tf32, 0.875, 0.3, 1.3, "efficiency of TF32 convolutions relative to 16-bit ones")  \
    X(depth_forward, 4.34, 0.5, 200, "GB/s of one processor, depthwise convolution forward")       \
    X(depth_data, 3.42, 0.5, 200, "the same, gradient of its input")                               \
    X(depth_weight, 2.67, 0.5, 200, "the same, gradient of its weights")                           \
    X(depth_half, 1.16, 0.5, 10, "factor on these in fp16, for which the library has kernels")     \
    X(stream, 1, 0.4, 1, "of the bandwidth, operations on each element")                           \
    X(layout, 0.641, 0.2, 1, "of the bandwidth, changes of the memory layout around convolutions") \
    X(norm_forward, 1, 0.05, 1, "of the bandwidth, batch normalisation forward")                   \
    X(norm_backward, 1, 0.05, 1, "of the bandwidth, batch normalisation backward")                 \
    X(norm_slow, 4.96, 0.3, 100, "GB/s of one processor where bf16 has no library kernel (eager)") \
    X(norm_half, 6.61, 0.3, 100, "GB/s of one processor, the library's kernel in fp16 (eager)")    \
    X(norm_last, 13.4, 0.3, 100, "the same, if images are stored position by position")            \
    X(norm_channel, 13.7, 0.5, 200, "GB/s of one channel in batch normalisation")                  \
    X(layer_norm, 0.572, 0.1, 1, "of the bandwidth, layer normalisation")                          \
    X(pool_backward, 2.58, 0.2, 200, "GB/s of one processor, gradient of pooling")                 \
    X(pool_forward, 6, 0.5, 200, "the same, pooling forward")                                      \
    X(bias_add, 37.1, 1, 200, "GB/s of one processor, bias of a convolution and its gradient")     \
    X(loss_bytes, 67.4, 10, 120, "bytes moved for each output value by the loss")                  \
    X(flash, 2.4, 2, 20, "Tflop/s of one processor in attention kernels on 16-bit values")         \
    X(flash_length, 143, 16, 2048, "additions to the length that fill these kernels")              \
    X(score_bytes, 10.9, 4, 80, "bytes moved for each score if attention is not fused")            \
    X(flash_wide, 0.145, 0.1, 1, "factor on it for 32-bit values")                                 \
    X(flash_backward, 0.6, 0.3, 1, "factor on it for the backward pass")                           \
    X(attention_bytes, 15.6, 0, 60, "values moved for each input value beside attention's maps")   \
    X(recurrent_step, 18.9, 1, 60, "microseconds of one step of a recurrent layer, least")         \
    X(update_sgd, 0.53, 0.2, 1, "of the bandwidth, update of the parameters")                      \
    X(kernel, 2.39, 0.5, 8, "microseconds from the start of a small kernel to its end")            \
    X(host_forward, 37.5, 5, 80, "microseconds of the host for one operation forward (eager)")     \
    X(host_backward, 27.2, 5, 80, "the same, backward")                                            \
    X(host_cast, 9.92, 1, 60, "the same, for one conversion of precision")                         \
    X(host_update, 26.6, 0.5, 40, "the same, for the update of one tensor")                        \
    X(host_fixed, 748, 0, 3000, "the same, once a step")                                           \
    X(host_compiled, 0.988, 0.02, 1, "factor on the host's time of compiled graphs")               \
    X(host_tuned, 0.05, 0.005, 1, "factor on the host's time of tuned software")                   \
    X(fuse_compiled, 0.705, 0.1, 1, "share of element-wise traffic that compiled graphs keep")     \
    X(fuse_tuned, 0.543, 0.05, 1, "share of element-wise traffic that tuned software keeps")       \
    X(reach_tuned, 1, 1, 1.4, "efficiency of products in tuned software")                          \
    X(step_fixed, 661, 0, 5000, "microseconds of one step that nothing else explains")             \
    X(coll_start, 22.4, 2, 100, "microseconds to start a collective")                              \
    X(coll_hop, 0.408, 0.05, 5, "factor on the latency of a link from one worker to the next")     \
    X(coll_simple, 45.3, 0, 200, "microseconds that the protocol of large messages adds in a node")\
    X(coll_net, 3.35, 0, 50, "latencies of the fabric that this protocol adds for each hop")       \
    X(coll_half, 352, 10, 5000, "kilobytes at which half of this is added")                        \
    X(coll_fill, 16.9, 1, 500, "microseconds that a large message loses until the links are full") \
    X(coll_chunk, 18.4, 0.5, 60, "megabytes of each worker that fill the pipeline of nodes")       \
    X(coll_link, 0.811, 0.4, 1, "of the bandwidth of the links inside a node")                     \
    X(coll_port, 0.923, 0.3, 1, "of the bandwidth of the port of a node to the fabric")            \
    X(coll_switch, 1.25, 1, 2, "gain where the switch adds up the messages")                       \
    X(coll_tree, 1.26, 1, 2, "the same, if the switches of several nodes form a tree")             \
    X(coll_nodes, 0.0467, 0, 0.2, "share of the fabric lost for each doubling of the nodes")       \
    X(contention, 0.291, 0, 0.5, "slow-down of computing while gradients are sent")                \
    X(jitter, 0.02, 0, 0.1, "slow-down of the step for each doubling of the workers")
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
