/*
 * Declares the settings of a training of a transformer that command lines and configurations of
 * Megatron, NeMo and torchtitan give: the network, the batch, the layout, the nodes. Readers set
 * them by their names; hm__launch_finish writes them as JSON members (facts) and as a job.
 */
#ifndef HM_LAUNCH_H
#define HM_LAUNCH_H

#include "import.h"

enum launch_number {
    LAUNCH_LAYERS,
    LAUNCH_HIDDEN,
    LAUNCH_FFN,
    LAUNCH_HEADS,
    LAUNCH_KV_HEADS,
    LAUNCH_HEAD_DIM,
    LAUNCH_VOCABULARY,
    LAUNCH_EXPERTS,
    LAUNCH_TOP_K,
    LAUNCH_EXPERT_FFN,
    LAUNCH_SEQUENCE,
    LAUNCH_BATCH,
    LAUNCH_MICRO,
    LAUNCH_ITERATIONS,
    LAUNCH_SAMPLES,
    LAUNCH_TENSOR,
    LAUNCH_PIPELINE,
    LAUNCH_CHUNK, /* Number of layers of one virtual stage of a pipeline. */
    LAUNCH_CONTEXT,
    LAUNCH_EXPERT,
    /*
     * Number of devices over which the weights are sharded; below 1: all devices that no other
     * degree uses.
     */
    LAUNCH_SHARD,
    LAUNCH_REPLICATE, /* Number of replicas of the sharded weights. */
    LAUNCH_ZERO,      /* Stage of ZeRO, 0 to 3. */
    LAUNCH_NODES,
    LAUNCH_PER_NODE, /* Number of workers per node. */
    LAUNCH_NUMBERS
};

enum launch_flag {
    LAUNCH_BF16,
    LAUNCH_FP16,
    LAUNCH_FP8,
    LAUNCH_SWIGLU,
    LAUNCH_UNTIED,
    LAUNCH_SEQUENCE_PARALLEL,
    LAUNCH_DISTRIBUTED_OPTIMIZER,
    LAUNCH_SELECTIVE, /* Set if activations are recomputed selectively. */
    LAUNCH_FULL,      /* Set if all activations of a layer are recomputed. */
    LAUNCH_GROUPED,   /* Set if queries share keys and values in groups. */
    LAUNCH_FLAGS
};

struct launch {
    double numbers[LAUNCH_NUMBERS]; /* Values in the order of enum launch_number; NaN: not given. */
    bool flags[LAUNCH_FLAGS];
    char recompute[16];   /* Recomputed activations: "full" or "selective"; "" if not given. */
    char tokenizer[48];   /* Kind of the tokenizer, from which the vocabulary may follow. */
    const char *network;  /* Name of a network of the catalog; NULL: sizes describe the network. */
    bool sharded;         /* True if the weights are sharded over the data-parallel workers. */
    char accelerator[32]; /* Kind of the accelerators, such as "a100"; "" if unknown. */
    /* Number of settings that were used, and number of settings without a known value. */
    double used, unknown;
};

void hm__launch_init(struct launch *launch);
/* Set a value by a name of Megatron, with '-' or '_' between words. The value of a flag is NULL or
 * "true". Names that are not known are ignored. */
void hm__launch_set(struct launch *launch, const char *name, const char *value);
/*
 * Write the settings as JSON members (facts) and as a job. The number of workers is the one that
 * the caller gives, otherwise nodes x workers per node.
 */
void hm__launch_finish(struct hm_imported *im, struct launch *launch);

/* Read the settings of a command line or a shell script: flags --name value, with variables that
 * the script sets. */
void hm__launch_shell(struct launch *launch, const char *text);

#endif
