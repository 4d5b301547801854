/*
 * Describes the training of a large network on n workers: the layout, which howmany_layouts.h
 * defines, and the settings of the software that do not depend on n. Each enumeration has one table
 * of names.
 */
#ifndef HM_LAYOUT_H
#define HM_LAYOUT_H

#include "transformer.h"

enum hm_attention {
    HM_ATTENTION_UNFUSED,
    HM_ATTENTION_TRITON, /* First FlashAttention kernels, written in Triton. */
    HM_ATTENTION_FLASH2,
    HM_ATTENTION_FLASH3, /* FlashAttention-3 or cuDNN of the same generation. */
    HM_ATTENTIONS
};

/* Names of the enumerations, in the order of their values; each list ends with NULL. */
extern const char *const hm__recompute_names[];
extern const char *const hm__offload_names[];
extern const char *const hm__attention_names[];
extern const char *const hm__number_format_names[];

/* Largest number of axes of a torus. */
enum { HM_TORUS_AXES = 3 };

/* Number of members of struct hm_layout that are numbers; they come first. */
enum { HM_LAYOUT_NUMBERS = 8 };

/* The data that one training step processes, and the software that runs it. */
struct hm_large_work {
    const struct hm_transformer *network; /* The network; borrowed. */
    double sequence;                      /* Number of tokens of one sequence. */
    double batch;                         /* Number of sequences of one step, over all workers. */
    enum hm_number_format precision;
    enum hm_attention attention;
    enum hm_software software;
    double send_bytes;      /* Bytes per gradient value in messages that sum gradients. */
    double weight_bytes;    /* Bytes kept per parameter for weights. */
    double gradient_bytes;  /* Bytes kept per parameter for gradients. */
    double optimizer_bytes; /* Bytes kept per parameter by the optimizer. */
    double trained;         /* Fraction of the parameters that are trained, in (0, 1]. */
    bool adapters;          /* True if only low-rank adapters beside the linear layers of attention
                               and feed-forward layers are trained. */
    bool overlap_data;      /* True if gradients are summed during the backward pass. */
    bool overlap_gather;    /* True if weights are gathered during the forward pass. */
    bool overlap_tensor; /* True if tensor-parallel communication overlaps with matrix products. */
    bool overlap_pipeline; /* True if messages between stages overlap with computing. */
    bool split_messages; /* True if messages between stages are split over tensor-parallel workers.
                          */
    bool weigh_head; /* True if the last stage has fewer layers, because it has the output head. */
    bool graphs;     /* True if CUDA graphs or fused layers reduce the launch cost. */
    bool dropout;    /* True if dropout masks are kept. */
    bool fused_gate; /* True if gate and activation are one kernel, which keeps fewer values. */
    bool fused_loss; /* True if the loss is one kernel, which writes gradients over the logits. */
    bool separate_sum; /* True if gradients are added up over micro-batches by separate operations.
                        */
    bool broadcast;    /* True if ZeRO broadcasts the shards of updated weights instead of gathering
                          them. */
};

/* Returns the number of workers of a layout. */
double hm__layout_workers(const struct hm_layout *layout);
/* Returns the number of micro-batches of one step. */
double hm__layout_micro_batches(const struct hm_layout *layout, double batch);
/*
 * Check that a layout can train this network with this batch. The error names the field, its value
 * and what would be right.
 */
int hm__layout_check(const struct hm_layout *layout, const struct hm_large_work *work,
                     struct hm_err *err);
#endif
