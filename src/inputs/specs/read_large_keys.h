/*
 * Declares the keys of a job that trains a transformer, as they are after reading and before
 * defaults are applied.
 */
#ifndef HM_READ_LARGE_KEYS_H
#define HM_READ_LARGE_KEYS_H

#include "large_job.h"
#include "schema.h"

/* The values of all keys, before defaults are applied. */
struct hm_large_keys {
    struct hm_large_job job;
    const char *name, *description;
    double iterations, epochs;
    int precision, weights, optimizer, attention, software, recompute, offload;
    int sequence_parallel, shard_in_node; /* Indices of the chosen values in the list of allowed
                                             values of each key; -1 if not given. */
    int distributed_optimizer, checkpointing;
    int overlap_data, overlap_gather, overlap_tensor, overlap_pipeline, overlap_expert;
    int graphs, weigh_head, separate_sum, shard_gradients, broadcast, fused_gate, fused_loss,
        dropout;
    double grad_bytes;
    double chunk_layers; /* Number of layers in one chunk of a stage; NaN if not given. */
};

/* Marks all keys as not given. */
void hm__large_keys_init(struct hm_large_keys *keys);
/*
 * Sets the members of keys->job that follow from the keys, or from defaults if they are not given.
 */
void hm__large_keys_finish(struct hm_large_keys *keys);

/* Allowed values of keys that are true or false, ending with NULL. */
extern const char *const hm__yes_no[];
/* Returns whether an index into hm__yes_no means true. */
bool hm__is_yes(int word);

/*
 * Reads `parallel`, which is auto or a map of the degrees and settings of the layout that are
 * given.
 */
int hm__read_parallel(struct hm_reader *reader, const struct hm_value *value,
                      struct hm_large_keys *keys);

#endif
