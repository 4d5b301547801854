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
    HM_ATTENTION_TRITON, /* The first FlashAttention kernels, which were written in Triton. */
    HM_ATTENTION_FLASH2,
    HM_ATTENTION_FLASH3, /* FlashAttention-3, or a cuDNN of the same generation. */
    HM_ATTENTIONS
};

/* Names of the values of each enumeration, in the order of the values; each list ends with NULL. */
extern const char *const hm__recompute_names[];
extern const char *const hm__offload_names[];
extern const char *const hm__attention_names[];
extern const char *const hm__number_format_names[];

/* Largest number of dimensions of a torus network. */
enum { HM_TORUS_AXES = 3 };

/* Number of numeric members of struct hm_layout; they are its first members. */
enum { HM_LAYOUT_NUMBERS = 8 };

/* The data that one training step processes, and the software that runs it. */
struct hm_large_work {
    const struct hm_transformer *network; /* Transformer that is trained; borrowed. */
    double sequence;                      /* Number of tokens in one sequence. */
    double batch;                         /* Number of sequences in one step, over all workers. */
    enum hm_number_format precision;
    enum hm_attention attention;
    enum hm_software software;
    /* Size in bytes of a gradient value in the messages that sum gradients over workers. */
    double send_bytes;
    double weight_bytes;    /* Memory per parameter for weights, in bytes. */
    double gradient_bytes;  /* Memory per parameter for gradients, in bytes. */
    double optimizer_bytes; /* Memory per parameter for the state of the optimizer, in bytes. */
    double trained;         /* Fraction of the parameters that are trained, in (0, 1]. */
    /*
     * True if only low-rank adapters next to the linear layers of attention and feed-forward layers
     * are trained.
     */
    bool adapters;
    /* True if summing gradients over workers overlaps with the backward pass. */
    bool overlap_data;
    /* True if gathering sharded weights overlaps with the forward pass. */
    bool overlap_gather;
    bool overlap_tensor; /* True if tensor-parallel communication overlaps with matrix products. */
    bool overlap_pipeline; /* True if messages between pipeline stages overlap with computation. */
    /* True if sending tokens to their experts overlaps with the computation of another micro-batch,
     * as in DualPipe. */
    bool overlap_expert;
    /* True if each message between pipeline stages is divided among the tensor-parallel workers. */
    bool split_messages;
    /*
     * True if the last pipeline stage has fewer layers than the others, because it also has the
     * output head.
     */
    bool weigh_head;
    /* True if CUDA graphs or fused layers reduce the time that the host needs to launch kernels. */
    bool graphs;
    bool dropout; /* True if dropout masks are stored for the backward pass. */
    /*
     * True if one kernel computes both the gate and the activation, so that fewer values are stored
     * for the backward pass.
     */
    bool fused_gate;
    /* True if one kernel computes the loss and overwrites the logits with their gradients. */
    bool fused_loss;
    bool separate_sum; /* True if separate operations add up the gradients of micro-batches. */
    /* True if ZeRO stage 2 shards gradients even in a pipeline, so that each micro-batch sends its
     * part of the gradients for each chunk of layers. */
    bool shard_gradients;
    /* True if ZeRO broadcasts the shards of updated weights; false if it gathers them. */
    bool broadcast;
};

/* Returns the number of workers that a layout uses. */
double hm__layout_workers(const struct hm_layout *layout);
/* Returns the number of micro-batches in one step. */
double hm__layout_micro_batches(const struct hm_layout *layout, double batch);
/*
 * Checks that a layout can train this network with this batch. The error names the field, its value
 * and the allowed values.
 */
int hm__layout_check(const struct hm_layout *layout, const struct hm_large_work *work,
                     struct hm_err *err);

/*
 * Largest number of layers that may be missing for chunks of equal size: the embedding, the output
 * head and a layer that predicts further tokens take their places, as in Llama 3.1 (126 layers) and
 * DeepSeek-V3 (61).
 */
enum { HM_LAYERS_WEIGHED = 3 };
/* Returns the number of layers that are missing for `chunks` chunks of equal size. */
double hm__layout_missing(double layers, double chunks);
/*
 * Returns the number of layers in chunk `index` of a pipeline. Chunks have equal numbers of layers.
 * If a few layers are missing, the embedding takes the place of one in the first chunk, and the
 * output head takes the places of the others at the end; otherwise the last chunks have fewer.
 */
double hm__layout_chunk_layers(const struct hm_layout *layout, double layers, double index);
#endif
