/*
 * Models one training step of a transformer for any layout: the time of computation and
 * communication in seconds, and the memory of the fullest worker, each split by cause. Everything
 * is computed from the sizes of the network and the data sheet of the device; only the constants in
 * struct hm_large_constants are fitted to published measurements. All functions are pure.
 */
#ifndef HM_LARGE_H
#define HM_LARGE_H

#include "large_job.h"

/* ---- counts ---------------------------------------------------------------------------------- */

/* Returns the number of parameters in a network. */
double hm__large_parameters(const struct hm_transformer *network);
/* Returns the number of parameters that process one token: experts_per_token experts instead of all
 * experts, one embedding table (the output head), and no norms. */
double hm__large_active(const struct hm_transformer *network);
/*
 * Returns the model flop of one token, forward and backward. `share` is the share of the attention
 * matrix that is counted: 0.5 for the causal half, 1 for the full matrix.
 */
double hm__large_flop(const struct hm_transformer *network, double sequence, double share);
/* Same as hm__large_flop, but only for the operations that full recomputation repeats. */
double hm__large_flop_again(const struct hm_transformer *network, double sequence, double share);

/*
 * Numbers of parameters of one layer: parameters in `dense` are split over tensor-parallel workers,
 * while parameters in `expert` are not.
 */
struct hm_large_layer_count {
    double dense, expert;
};
/* Counts the parameters of one layer on one worker; if `expert` is true, the layer has experts. */
struct hm_large_layer_count hm__large_layer_count(const struct hm_transformer *network,
                                                  const struct hm_layout *layout, bool expert);

/*
 * Returns the number of parameters outside of layers and vocabulary: the position table, and
 * parameters that no other key describes.
 */
double hm__large_extra(const struct hm_transformer *network);

/* Widths of the attention in one layer, in values per token. */
struct hm_large_widths {
    double qkv;  /* Total width of queries, keys and values. */
    double out;  /* Total width of the output of all heads. */
    double kv;   /* Width of the keys and values that context parallelism exchanges. */
    double core; /* Mean width of a head in the two matrix products of the attention core. */
};
struct hm_large_widths hm__large_widths(const struct hm_transformer *network);

/* ---- devices --------------------------------------------------------------------------------- */

/* Generations of devices; the devices of one generation have the same efficiencies. */
enum hm_large_family {
    HM_FAMILY_VOLTA,
    HM_FAMILY_AMPERE,
    HM_FAMILY_HOPPER,
    HM_FAMILY_BLACKWELL,
    /* A generation without measurements; its constants are the means over the other generations. */
    HM_FAMILY_OTHER,
    HM_FAMILIES
};

/*
 * Values that a cluster may not specify; the typical values of its devices' generation are then
 * assumed.
 */
enum {
    HM_LARGE_ASSUMED_FABRIC = 1,
    HM_LARGE_ASSUMED_LINK = 2,
    HM_LARGE_ASSUMED_BANDWIDTH = 4,
    HM_LARGE_ASSUMED_MEMORY = 8
};

/* The rates and sizes of one worker, its node and the network that the model uses. */
struct hm_large_device {
    enum hm_large_family family;
    double flops_16, flops_8, flops_4; /* Peak flop/s with 16, 8 and 4 bits; 0 if not supported. */
    double bandwidth_bytes_per_s;      /* Memory bandwidth of one worker. */
    double memory_bytes; /* Size in bytes of the part of a worker's memory that tensors can use. */
    double processors;   /* Number of streaming multiprocessors of one worker. */
    double link_bytes_per_s;    /* Bandwidth of a worker to other workers of the node, one way. */
    double per_node;            /* Number of workers in one node. */
    double network_bytes_per_s; /* Network bandwidth of one node, one way. */
    /*
     * Lengths of the axes of a torus that links the workers of a node, such as in a TPU pod. If all
     * are 0, every worker reaches every other worker at the full bandwidth of its links.
     */
    double torus[HM_TORUS_AXES];
    double machine_workers; /* Number of workers that are rented together; per_node or less. */
    double host_bytes;      /* Memory of the host of machine_workers workers; NaN if unknown. */
    /* Rate of matrix products relative to the typical device of the same generation; 0 means the
     * typical rate. */
    double speed;
    /*
     * Fraction of the peak that the largest matrix products reach, relative to the typical device
     * of the generation. For a device of a generation without measurements, it is the fraction
     * itself. 0 if unknown.
     */
    double reach;
    double price_per_s; /* Price per second of one node; NaN if unknown. */
    double max_nodes;   /* Number of nodes that exist; NaN for no limit. */
    unsigned assumed;   /* Values that are assumed, as a sum of the constants
                           HM_LARGE_ASSUMED_... */
    bool unmeasured;    /* True if no steps were measured on devices like this one. */
};

/*
 * Sets a device from a cluster. This is the only function through which data from the catalog enter
 * the model of large networks. If a cluster specifies only rates, the most similar generation
 * supplies the other values.
 */
int hm__large_device_set(const struct hm_cluster *cluster, struct hm_large_device *ret_device,
                         struct hm_err *err);
/* Returns the bandwidth in bytes per second of a copy between a worker and its host, one way. */
double hm__large_host_link(const struct hm_large_device *device);

/* ---- constants ------------------------------------------------------------------------------- */

/* X(name, value before fitting, smallest, largest) lists efficiencies and fixed costs. Three of
 * them are bytes of activation memory that eager software uses in gated networks: eager_logits for
 * each logit, eager_kept for each hidden value, and, additionally, cast_kept for each hidden value
 * if the weights have more than 16 bits. */
#define HM_LARGE_CONSTANT_MAP(X)                                                                   \
    X(gemm_volta, .80, .3, 1)                                                                      \
    X(gemm_ampere, .87, .3, 1)                                                                     \
    X(gemm_hopper, .80, .3, 1)                                                                     \
    X(gemm_blackwell, .775, .3, 1)                                                                 \
    X(gemm_other, .95, .5, 1.2)                                                                    \
    X(gemm_engine, 1.10, .8, 1.4)                                                                  \
    X(fp8, .75, .3, 1)                                                                             \
    X(fp4, .60, .2, 1)                                                                             \
    X(k0, 128, 0, 1024)                                                                            \
    X(memory, .80, .4, 1)                                                                          \
    X(traffic_tuned, 1.0, .3, 4)                                                                   \
    X(traffic_eager, 1.6, .3, 4)                                                                   \
    X(traffic_compiled, .8, .3, 4)                                                                 \
    X(eager_gated, 2, 1, 6)                                                                        \
    X(eager_host, 3, 1, 10)                                                                        \
    X(accumulate, 1, 0, 2)                                                                         \
    X(eager_logits, 14, 10, 20)                                                                    \
    X(eager_kept, 6, 0, 20)                                                                        \
    X(cast_kept, 10, 0, 20)                                                                        \
    X(experts, .75, .2, 1)                                                                         \
    X(flash2_ampere, .60, .2, 1)                                                                   \
    X(flash2_hopper, .38, .15, 1)                                                                  \
    X(flash3_hopper, .60, .2, 1)                                                                   \
    X(flash3_blackwell, .55, .2, 1)                                                                \
    X(triton_ampere, .45, .2, 1)                                                                   \
    X(triton_hopper, .22, .1, 1)                                                                   \
    X(flash_backward, .85, .4, 1)                                                                  \
    X(context, .85, .4, 1)                                                                         \
    X(launch_s, 8e-6, 1e-6, 40e-6)                                                                 \
    X(call_s, 50e-6, 5e-6, 300e-6)                                                                 \
    X(message_s, 100e-6, 10e-6, 1e-3)                                                              \
    X(alltoall, .50, .1, 1)                                                                        \
    X(link, .75, .3, 1)                                                                            \
    X(link_s, 12e-6, 2e-6, 50e-6)                                                                  \
    X(network, .75, .3, 1)                                                                         \
    X(network_s, 25e-6, 5e-6, 200e-6)                                                              \
    X(network_decay, 0, 0, .2)                                                                     \
    X(norm, 4, 1, 10)                                                                              \
    X(contend, .06, 0, .5)                                                                         \
    X(broadcast_s, 3e-3, 1e-4, 1e-2)                                                               \
    X(overlap_data, .7, .1, 1)                                                                     \
    X(overlap_tensor, .6, .1, 1)                                                                   \
    X(step_s, 10e-3, 0, .1)                                                                        \
    X(jitter, 0, 0, .05)

/* Every member is a double, so the struct can also be used as an array in the order of the list. */
struct hm_large_constants {
#define HM_LARGE_CONSTANT_MEMBER(name, sheet, least, most) double name;
    HM_LARGE_CONSTANT_MAP(HM_LARGE_CONSTANT_MEMBER)
#undef HM_LARGE_CONSTANT_MEMBER
};
enum { HM_LARGE_CONSTANTS = sizeof(struct hm_large_constants) / sizeof(double) };

/* Returns the constants that were fitted to all measured steps. */
const struct hm_large_constants *hm__large_fitted(void);
/* Returns the constants that were fitted to all rows except the rows of one source, for
 * cross-validation; NULL if there is no such source. */
const struct hm_large_constants *hm__large_without(const char *source);

/* Constants with the name of the source that they were fitted without. The first entry was fitted
 * to all sources and has the name "all"; the last entry has no name. */
struct hm_large_set {
    const char *source;
    struct hm_large_constants constants;
};
extern const struct hm_large_set hm__large_sets[];

/* Groups of jobs whose predictions have errors of the same size. */
enum hm_large_group {
    HM_GROUP_OLD,       /* Group of dense networks with tuned software on devices before Hopper. */
    HM_GROUP_HOPPER,    /* Group of dense networks with tuned software on Hopper devices. */
    HM_GROUP_BLACKWELL, /* Group of dense networks with tuned software on Blackwell devices. */
    HM_GROUP_PLAIN,     /* Group of dense networks with software in eager or compiled mode. */
    HM_GROUP_EXPERTS,   /* Group of networks with a mixture of experts. */
    HM_LARGE_GROUPS
};
enum hm_large_group hm__large_group(const struct hm_large_device *device,
                                    const struct hm_large_work *work);
/*
 * The ends of the interval for ln(measured/predicted). Each is a sum of components that depend on
 * what is uncertain about a step. `experts` is added for mixtures of experts. `recent` is added for
 * dense networks with tuned software on Hopper and later devices, whose software is still becoming
 * faster. `waiting` is multiplied by the share of the step in which workers wait for messages, for
 * the pipeline or for the host.
 */
struct hm_large_spread {
    double high, high_experts, high_recent, high_waiting;
    /* Components whose sum is the distance of the interval's lower end below 0. */
    double low, low_experts, low_recent;
};
/*
 * If a source has at least this share of the measurements of a group, its networks are held out one
 * by one instead of all together, because the other sources are too few to estimate the interval of
 * the group.
 */
static const double HM_LARGE_ALONE = .8;
/* A spread that was estimated from all measured steps, or from all except those of one source. */
struct hm_large_spread_set {
    /* Source and network whose measured steps were excluded; NULL if all steps were used. */
    const char *source, *network;
    struct hm_large_spread spread;
};
/* All spreads; the first one was estimated from all measured steps, and the last entry has the
 * source NULL. */
extern const struct hm_large_spread_set hm__large_spreads[];
/*
 * Returns the spread that was estimated without the measured steps of a source. If `network` is not
 * NULL, only the rows of this network and source were excluded; this is used for groups with a
 * single source.
 */
const struct hm_large_spread *hm__large_spread_without(const char *source, const char *network);
/* Factors that convert a predicted time to the interval that contains 90 % of the measurements. */
struct hm_large_interval {
    double low, high;
};
/* Returns the interval for a step; if the step is NULL, the interval for a step in which no worker
 * waits. */
struct hm_large_interval hm__large_interval(const struct hm_large_spread *spread,
                                            const struct hm_large_device *device,
                                            const struct hm_large_work *work,
                                            const struct hm_large_step *step);
/* Returns the interval with the logarithms of both ends multiplied by a factor. */
struct hm_large_interval hm__large_narrow(struct hm_large_interval interval, double factor);

/* Constants of the published fit, which the worked examples use. */
extern const struct hm_large_constants hm__large_reference;

/* ---- time ------------------------------------------------------------------------------------ */

/* Times in seconds of one layer on one worker for one micro-batch, without recomputation. */
struct hm_large_layer {
    double share; /* Share of the layers that are of this kind (dense, or with experts); 0 if there
                     are none. */
    double forward, backward; /* Time in seconds for which the device computes, in each pass. */
    /*
     * Time in seconds of the forward pass in the linear layers of attention, and in the
     * feed-forward layer.
     */
    double maps, mlp;
    double up; /* Time in seconds of the forward pass in the linear layers that compute queries,
                  keys and values from latents; part of `maps`, and 0 without latent attention. */
    double core, core_backward; /* Time in seconds of the attention core (scores and weighted
                                   values), forward and backward. */
    double traffic; /* Time in seconds of the operations in the forward pass that are limited by
                       memory bandwidth. */
    double host_forward, host_backward; /* Time in seconds that the host needs to launch kernels. */
    /* Time in seconds that the host needs to launch kernels if it is as slow as with eager
     * software. */
    double slow_forward, slow_backward;
    double tensor; /* Time in seconds of the all-reduces of tensor parallelism in one pass. */
    double expert; /* Time in seconds to exchange tokens with experts in one pass. */
    double context_forward, context_backward;
};

/*
 * Times of layers that depend only on the fields tensor, context, expert, micro_batch and
 * sequence_parallel of a layout.
 */
struct hm_large_times {
    struct hm_large_layer layers[2]; /* layers[0] holds the times of dense layers, and layers[1] the
                                        times of layers with experts. */
    double head_forward, head_backward, embed_forward, embed_backward;
};

/* The inputs of an evaluation; all pointers are borrowed. */
struct hm_large_case {
    const struct hm_large_device *device;
    const struct hm_large_work *work;
    const struct hm_large_constants *constants;
    /*
     * Measured steps that corrected the device and the constants (large_correct.h); NULL if there
     * are none.
     */
    const struct hm_large_correction *correction;
};

/*
 * Returns the time in seconds of a product of an m x k matrix and a k x n matrix on a device with a
 * peak of `peak` flop/s.
 */
double hm__large_gemm(const struct hm_large_case *x, double peak, double m, double n, double k);
/* Returns the bandwidth in bytes per second of a collective of `ranks` ranks, of which `per_node`
 * are in each node. */
double hm__large_collective(const struct hm_large_case *x, double ranks, double per_node,
                            double bytes, double passes);
/* Computes the times of single layers for a layout, in seconds. */
void hm__large_times(const struct hm_large_case *x, const struct hm_layout *layout,
                     struct hm_large_times *ret_times);
/* Evaluates a whole step from the times of hm__large_times for the same layout. */
void hm__large_step(const struct hm_large_case *x, const struct hm_layout *layout,
                    const struct hm_large_times *times, struct hm_large_step *ret_step);

/* ---- memory ---------------------------------------------------------------------------------- */

/* Evaluates the memory of the fullest worker. */
void hm__large_memory(const struct hm_large_case *x, const struct hm_layout *layout,
                      struct hm_large_memory *ret_memory);

/*
 * Number of layers in the last pipeline stage and in each of the other stages, if the output head
 * takes as long as head_in_layers layers.
 */
struct hm_large_stages {
    double last, other;
};
struct hm_large_stages hm__large_stages(double layers, double stages, double head_in_layers);
/*
 * Returns whether the output head counts as layers when the layers are divided among pipeline
 * stages. It does if the software divides them this way, or if the stages cannot have equal numbers
 * of layers.
 */
bool hm__large_weighs(const struct hm_large_work *work, double stages);

#endif
