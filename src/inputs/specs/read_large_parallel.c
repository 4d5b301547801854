/*
 * Reads the parts of the layout that a job for training a transformer gives. The key names of
 * Megatron, DeepSpeed, torchtitan and Hugging Face are accepted in addition to the names that
 * howmany uses. Two names for one key, and keys that contradict each other, are errors.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "err.h"
#include "read_large_keys.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define AT(member) offsetof(struct hm_large_keys, member)

static const char *const recomputes[] = {"none",     "selective", "selective-op", "selective-layer",
                                         "norm+act", "full",      "uniform",      NULL};
static const char *const offloads[] = {"none", "optimizer", "all", "cpu", NULL};
static const char *const shards[] = {"all", "node", NULL};
const char *const hm__yes_no[] = {"false", "true", "no", "yes", "0", "1", NULL};

#define DEGREE(NAME, MEMBER)                                                                       \
    {                                                                                              \
        .name = NAME, .kind = HM_FIELD_QUANTITY, .offset = AT(job.layout.MEMBER), .min = 1,        \
        .max = 1e7, .whole = true                                                                  \
    }

static const struct hm_field parallel_fields[] = {
    DEGREE("tensor", tensor),
    DEGREE("tp", tensor),
    {.name = "tensor_parallel", .kind = HM_FIELD_OTHER, .doc = "a degree, or {autotp_size: 8}"},
    DEGREE("tensor_model_parallel_size", tensor),
    DEGREE("tensor_parallel_size", tensor),
    DEGREE("tensor_parallel_degree", tensor),
    DEGREE("pipeline", pipeline),
    DEGREE("pp", pipeline),
    DEGREE("pipeline_parallel", pipeline),
    DEGREE("pipeline_model_parallel_size", pipeline),
    DEGREE("pipeline_parallel_degree", pipeline),
    DEGREE("num_stages", pipeline),
    DEGREE("interleave", interleave),
    DEGREE("vpp", interleave),
    DEGREE("virtual_pipeline_model_parallel_size", interleave),
    {.name = "num_layers_per_virtual_pipeline_stage",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(chunk_layers),
     .min = 1,
     .max = 1e7,
     .whole = true},
    DEGREE("context", context),
    DEGREE("cp", context),
    DEGREE("context_parallel_size", context),
    DEGREE("context_parallel_degree", context),
    DEGREE("expert", expert),
    DEGREE("ep", expert),
    DEGREE("ep_size", expert),
    DEGREE("expert_model_parallel_size", expert),
    DEGREE("expert_parallel_degree", expert),
    DEGREE("data", data),
    DEGREE("dp", data),
    DEGREE("data_parallel_size", data),
    DEGREE("data_parallel_shard_degree", data),
    DEGREE("micro_batch", micro_batch),
    DEGREE("mbs", micro_batch),
    DEGREE("micro_batch_size", micro_batch),
    DEGREE("train_micro_batch_size_per_gpu", micro_batch),
    DEGREE("per_device_train_batch_size", micro_batch),
    DEGREE("local_batch_size", micro_batch),
    {.name = "gradient_accumulation_steps",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(job.accumulation),
     .min = 1,
     .max = 1e9,
     .whole = true},
    {.name = "zero",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(job.layout.zero),
     .max = 3,
     .whole = true},
    {.name = "zero_stage",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(job.layout.zero),
     .max = 3,
     .whole = true},
    {.name = "zero_optimization", .kind = HM_FIELD_OTHER, .doc = "{stage: 0 to 3}"},
    {.name = "use_distributed_optimizer",
     .kind = HM_FIELD_CHOICE,
     .offset = AT(distributed_optimizer),
     .choices = hm__yes_no},
    {.name = "shard_within",
     .kind = HM_FIELD_CHOICE,
     .offset = AT(shard_in_node),
     .choices = shards},
    {.name = "recompute", .kind = HM_FIELD_CHOICE, .offset = AT(recompute), .choices = recomputes},
    {.name = "recompute_granularity",
     .kind = HM_FIELD_CHOICE,
     .offset = AT(recompute),
     .choices = recomputes},
    {.name = "gradient_checkpointing",
     .kind = HM_FIELD_CHOICE,
     .offset = AT(checkpointing),
     .choices = hm__yes_no},
    {.name = "activation_checkpointing",
     .kind = HM_FIELD_OTHER,
     .doc = "true or false, or the section of DeepSpeed, which means true"},
    {.name = "offload", .kind = HM_FIELD_CHOICE, .offset = AT(offload), .choices = offloads},
    {.name = "sequence_parallel",
     .kind = HM_FIELD_CHOICE,
     .offset = AT(sequence_parallel),
     .choices = hm__yes_no},
};

bool hm__is_yes(int word)
{
    return word == 1 || word == 3 || word == 5;
}

/* Reports two keys of one map that set the same member. */
static int check_twice(struct hm_reader *reader, const struct hm_value *map,
                       const struct hm_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct hm_value *first = hm__value_get(map, fields[i].name);
        for (size_t k = i + 1; first && k < count; k++) {
            const struct hm_value *second = hm__value_get(map, fields[k].name);
            if (!second || fields[i].kind == HM_FIELD_OTHER || fields[k].kind == HM_FIELD_OTHER ||
                fields[k].offset != fields[i].offset)
                continue;
            hm__reader_fail(reader, second, HM_E_CONFLICT, "%s and %s are both given",
                            fields[i].name, fields[k].name);
            hm__err_hint(reader->err, "they mean the same: keep one of them");
            return HM_E_CONFLICT;
        }
    }
    return 0;
}

static int fail_both(struct hm_reader *reader, const struct hm_value *value, const char *names)
{
    hm__reader_fail(reader, value, HM_E_CONFLICT, "%s are both given", names);
    hm__err_hint(reader->err, "they mean the same: keep one of them");
    return HM_E_CONFLICT;
}

/*
 * Applies keys that switch sharding or recomputation on or off; they must not contradict keys that
 * name a stage of ZeRO or a kind of recomputation.
 */
static int apply_switches(struct hm_reader *reader, const struct hm_value *map,
                          struct hm_large_keys *keys)
{
    double *zero = &keys->job.layout.zero;

    if (keys->distributed_optimizer >= 0 && isnan(*zero))
        *zero = hm__is_yes(keys->distributed_optimizer) ? 1 : 0;
    else if (keys->distributed_optimizer >= 0 &&
             hm__is_yes(keys->distributed_optimizer) != (*zero > 0)) {
        hm__reader_fail(reader, map, HM_E_CONFLICT,
                        "use_distributed_optimizer is %s, but zero is %g",
                        hm__is_yes(keys->distributed_optimizer) ? "true" : "false", *zero);
        hm__err_hint(reader->err, "the distributed optimizer is zero 1: keep one of the keys");
        return HM_E_CONFLICT;
    }
    if (keys->checkpointing >= 0 && keys->recompute < 0)
        keys->recompute = hm__is_yes(keys->checkpointing) ? HM_RECOMPUTE_FULL : HM_RECOMPUTE_NONE;
    else if (keys->checkpointing >= 0 &&
             hm__is_yes(keys->checkpointing) != (keys->recompute != HM_RECOMPUTE_NONE)) {
        hm__reader_fail(
            reader, map, HM_E_CONFLICT, "gradient_checkpointing is %s, but recompute is %s",
            hm__is_yes(keys->checkpointing) ? "true" : "false", recomputes[keys->recompute]);
        hm__err_hint(reader->err, "keep one of the keys");
        return HM_E_CONFLICT;
    }
    return 0;
}

/*
 * Sets the number of chunks per stage from the number of layers per chunk, as Megatron specifies
 * it.
 */
static int apply_chunks(struct hm_reader *reader, const struct hm_value *map,
                        struct hm_large_keys *keys)
{
    struct hm_layout *l = &keys->job.layout;
    double layers = keys->job.network.layers, chunks = layers / (l->pipeline * keys->chunk_layers);

    if (isnan(keys->chunk_layers))
        return 0;
    if (!isnan(l->interleave))
        return fail_both(reader, map, "interleave and num_layers_per_virtual_pipeline_stage");
    if (!(chunks == floor(chunks))) {
        hm__reader_fail(reader, map, HM_E_CONFLICT,
                        "num_layers_per_virtual_pipeline_stage %g times pipeline %g does not "
                        "divide layers, which is %g",
                        keys->chunk_layers, l->pipeline, layers);
        hm__err_hint(reader->err, "it needs pipeline, and layers must be a multiple of both");
        return HM_E_CONFLICT;
    }
    l->interleave = chunks;
    return 0;
}

/* Returns whether a section of zero_optimization offloads; the device "none" does not. */
static bool is_offloaded(const struct hm_value *zero, const char *name)
{
    const struct hm_value *section = hm__value_get(zero, name);
    const struct hm_value *device =
        section && section->kind == HM_VALUE_MAP ? hm__value_get(section, "device") : NULL;

    return section &&
           !(device && device->kind == HM_VALUE_SCALAR && strcmp(device->text, "none") == 0);
}

/* Reads DeepSpeed's key zero_optimization: the stage of ZeRO, and the state that is offloaded. */
static int read_zero(struct hm_reader *reader, const struct hm_value *zero,
                     struct hm_large_keys *keys)
{
    static const struct hm_field fields[] = {
        {.name = "stage",
         .kind = HM_FIELD_QUANTITY,
         .offset = AT(job.layout.zero),
         .max = 3,
         .whole = true},
        {.name = "offload_optimizer", .kind = HM_FIELD_OTHER},
        {.name = "offload_param", .kind = HM_FIELD_OTHER},
        {.name = "overlap_comm", .kind = HM_FIELD_OTHER},
        {.name = "reduce_scatter", .kind = HM_FIELD_OTHER},
        {.name = "contiguous_gradients", .kind = HM_FIELD_OTHER},
        {.name = "reduce_bucket_size", .kind = HM_FIELD_OTHER},
        {.name = "allgather_bucket_size", .kind = HM_FIELD_OTHER},
        {.name = "allgather_partitions", .kind = HM_FIELD_OTHER},
        {.name = "round_robin_gradients", .kind = HM_FIELD_OTHER},
        {.name = "sub_group_size", .kind = HM_FIELD_OTHER},
        {.name = "stage3_max_live_parameters", .kind = HM_FIELD_OTHER},
        {.name = "stage3_max_reuse_distance", .kind = HM_FIELD_OTHER},
        {.name = "stage3_prefetch_bucket_size", .kind = HM_FIELD_OTHER},
        {.name = "stage3_param_persistence_threshold", .kind = HM_FIELD_OTHER},
        {.name = "stage3_gather_16bit_weights_on_model_save", .kind = HM_FIELD_OTHER},
        {.name = "zero_hpz_partition_size", .kind = HM_FIELD_OTHER}};
    size_t mark = hm__reader_enter(reader, "zero_optimization");
    int rc = hm__read_map(reader, zero, fields, COUNT(fields), keys);

    hm__reader_leave(reader, mark);
    if (rc == 0 && keys->offload < 0 && is_offloaded(zero, "offload_param"))
        keys->offload = HM_OFFLOAD_ALL;
    else if (rc == 0 && keys->offload < 0 && is_offloaded(zero, "offload_optimizer"))
        keys->offload = HM_OFFLOAD_OPTIMIZER;
    if (rc == 0 && keys->shard_in_node < 0 && hm__value_number(zero, "zero_hpz_partition_size") > 1)
        keys->shard_in_node = 1;
    return rc;
}

/* Reads tensor_parallel: a degree, or the section of DeepSpeed. */
static int read_tensor(struct hm_reader *reader, const struct hm_value *value,
                       struct hm_large_keys *keys)
{
    static const struct hm_field degree = DEGREE("tensor_parallel", tensor);
    static const struct hm_field section[] = {DEGREE("autotp_size", tensor)};

    if (!isnan(keys->job.layout.tensor))
        return fail_both(reader, value, "tensor_parallel and another name of tensor");
    size_t mark = hm__reader_enter(reader, "tensor_parallel");
    int rc = value->kind == HM_VALUE_MAP
                 ? hm__read_map(reader, value, section, COUNT(section), keys)
                 : hm__read_field(reader, value, &degree, keys);
    hm__reader_leave(reader, mark);
    return rc;
}

/* Reads activation_checkpointing: a switch, or the section of DeepSpeed, which switches it on. */
static int read_checkpointing(struct hm_reader *reader, const struct hm_value *value,
                              struct hm_large_keys *keys)
{
    static const struct hm_field word = {.name = "activation_checkpointing",
                                         .kind = HM_FIELD_CHOICE,
                                         .offset = AT(checkpointing),
                                         .choices = hm__yes_no};

    if (keys->checkpointing >= 0)
        return fail_both(reader, value, "gradient_checkpointing and activation_checkpointing");
    if (value->kind == HM_VALUE_MAP) {
        keys->checkpointing = 1;
        return 0;
    }
    size_t mark = hm__reader_enter(reader, "activation_checkpointing");
    int rc = hm__read_field(reader, value, &word, keys);
    hm__reader_leave(reader, mark);
    return rc;
}

/*
 * torchtitan's local_batch_size is the batch of a data-parallel rank, which its pipeline divides
 * into as many micro-batches as there are stages.
 */
static int apply_local_batch(struct hm_reader *reader, const struct hm_value *map,
                             struct hm_large_keys *keys)
{
    struct hm_layout *l = &keys->job.layout;
    const struct hm_value *local = hm__value_get(map, "local_batch_size");

    if (!local || !(l->pipeline > 1))
        return 0;
    if (fmod(l->micro_batch, l->pipeline) != 0) {
        hm__reader_fail(reader, local, HM_E_CONFLICT,
                        "local_batch_size is %g, which pipeline, %g, does not divide",
                        l->micro_batch, l->pipeline);
        hm__err_hint(reader->err,
                     "the pipeline divides it into as many micro-batches as stages; or give "
                     "micro_batch");
        return HM_E_CONFLICT;
    }
    l->micro_batch /= l->pipeline;
    return 0;
}

int hm__read_parallel(struct hm_reader *reader, const struct hm_value *value,
                      struct hm_large_keys *keys)
{
    const struct hm_value *zero = hm__value_get(value, "zero_optimization");
    const struct hm_value *tensor = hm__value_get(value, "tensor_parallel");
    const struct hm_value *checkpointing = hm__value_get(value, "activation_checkpointing");
    bool sharded;

    if (value->kind == HM_VALUE_SCALAR && strcmp(value->text, "auto") == 0)
        return 0;
    int rc = hm__expect_kind(reader, value, HM_VALUE_MAP, "auto, or degrees such as {tensor: 8}");
    if (rc == 0)
        rc = hm__read_map(reader, value, parallel_fields, COUNT(parallel_fields), keys);
    if (rc == 0)
        rc = check_twice(reader, value, parallel_fields, COUNT(parallel_fields));
    sharded = !isnan(keys->job.layout.zero);
    if (rc == 0 && zero && sharded)
        rc = fail_both(reader, zero, "zero and zero_optimization");
    if (rc == 0 && zero)
        rc = read_zero(reader, zero, keys);
    if (rc == 0 && tensor)
        rc = read_tensor(reader, tensor, keys);
    if (rc == 0 && checkpointing)
        rc = read_checkpointing(reader, checkpointing, keys);
    if (rc == 0)
        rc = apply_local_batch(reader, value, keys);
    if (rc == 0)
        rc = apply_switches(reader, value, keys);
    if (rc == 0)
        rc = apply_chunks(reader, value, keys);
    return rc;
}
