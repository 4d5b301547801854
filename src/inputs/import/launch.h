/*
 * Declares the settings of a transformer's training run (network, batch, layout, nodes) that are
 * found in command lines and configurations of Megatron, NeMo and torchtitan. Readers set each
 * value by its name; hm__launch_finish writes all values as JSON members (facts) and as a job.
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
    LAUNCH_CHUNK, /* Number of layers in one virtual stage of a pipeline. */
    LAUNCH_CONTEXT,
    LAUNCH_EXPERT,
    /*
     * Number of devices over which the weights are sharded; a value below 1 means all devices that
     * remain after the other kinds of parallelism.
     */
    LAUNCH_SHARD,
    LAUNCH_REPLICATE, /* Number of copies of the sharded weights (hybrid sharding). */
    LAUNCH_ZERO,      /* Stage of ZeRO (sharding of the training state), 0 to 3. */
    LAUNCH_NODES,
    LAUNCH_PER_NODE, /* Number of accelerators per node. */
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
    LAUNCH_SELECTIVE, /* True if activations are recomputed selectively. */
    LAUNCH_FULL,      /* True if all activations of a layer are recomputed. */
    LAUNCH_GROUPED, /* True if groups of queries share keys and values (grouped-query attention). */
    LAUNCH_FLAGS
};

struct launch {
    /* Values of the numeric settings, indexed by enum launch_number; NaN if not given. */
    double numbers[LAUNCH_NUMBERS];
    bool flags[LAUNCH_FLAGS];
    /* How activations are recomputed: "full" or "selective"; "" if not given. */
    bool block; /* True if only some layers of each chunk are recomputed. */
    char recompute[16];
    char tokenizer[48]; /* Type of the tokenizer; some types have a vocabulary of a fixed size. */
    /* Name of a network in the catalog; NULL if the sizes in `numbers` describe the network. */
    const char *network;
    bool sharded;         /* True if the weights are sharded over the data-parallel workers. */
    char accelerator[32]; /* Kind of the accelerators, such as "a100"; "" if unknown. */
    /* Number of settings that were used, and number of settings whose value could not be read. */
    double used, unknown;
};

void hm__launch_init(struct launch *launch);
/*
 * Sets the value of a Megatron option; words in `name` are separated by '-' or '_'. The value of a
 * flag is NULL or "true". Unknown names are ignored.
 */
void hm__launch_set(struct launch *launch, const char *name, const char *value);
/*
 * Writes the settings as JSON members (facts) and as a job. If the user does not specify the number
 * of workers, it is nodes x workers per node.
 */
void hm__launch_finish(struct hm_imported *im, struct launch *launch);

/*
 * Reads settings from a command line or a shell script: flags --name value, in which variables of
 * the script are replaced with their values.
 */
void hm__launch_shell(struct launch *launch, const char *text);

#endif
