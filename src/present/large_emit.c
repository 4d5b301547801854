/*
 * Writes layouts as options of other software; see large_emit.h. If a format cannot express a
 * setting of the layout, the setting is not ignored: the call fails with an error that names the
 * key to change.
 */
#include "large_emit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "format.h"

/*
 * State shared by the functions that write a layout: the output, the job, the layout, and numbers
 * derived from them.
 */
struct emitter {
    struct hm_text *out;
    const struct hm_large_job *job;
    const struct hm_large_choice *choice;
    double per_node, micro_batches;
};

static void add_flag(const struct emitter *e, const char *name, double value)
{
    hm__text_addf(e->out, "--%s %.0f\n", name, value);
}

static void add_option(const struct emitter *e, const char *name, const char *value)
{
    hm__text_addf(e->out, "--%s %s\n", name, value);
}

static void add_word(const struct emitter *e, const char *word, bool wanted)
{
    if (wanted)
        hm__text_addf(e->out, "--%s\n", word);
}

/*
 * Returns the number of groups of workers that each hold a complete set of shards of the training
 * state.
 */
static double emitter_copies(const struct emitter *e)
{
    const struct hm_layout *l = &e->choice->layout;

    return l->shard_in_node ? fmax(1, l->data / fmax(1, floor(e->per_node / l->tensor))) : 1;
}

/*
 * Fails because of a setting of the layout that a format cannot express; the error names the key to
 * change.
 */
static int emit_refuse(struct hm_err *err, const char *format, const char *key, const char *reason,
                       const char *instead)
{
    hm__fail(err, HM_E_CONFLICT, "the format %s %s", format, reason);
    /* Some advice repeats the key, because it has other keys too. */
    if (strncmp(instead, key, strlen(key)) == 0)
        hm__err_hint(err, "in parallel, write %s", instead);
    else
        hm__err_hint(err, "in parallel, %s: %s", key, instead);
    hm__err_field(err, "emit");
    return HM_E_CONFLICT;
}

static bool is_eight_bit(const struct hm_large_work *w)
{
    return w->precision == HM_FORMAT_FP8 || w->precision == HM_FORMAT_MXFP8;
}

/* Appends the flags that describe multi-head latent attention. */
static void emit_megatron_latent(const struct emitter *e)
{
    const struct hm_latent *a = &e->job->network.latent;

    add_word(e, "multi-latent-attention", true);
    if (a->rank_q > 0)
        add_flag(e, "q-lora-rank", a->rank_q);
    add_flag(e, "kv-lora-rank", a->rank_kv);
    add_flag(e, "qk-head-dim", a->dim_nope);
    add_flag(e, "qk-pos-emb-head-dim", a->dim_rope);
    add_flag(e, "v-head-dim", a->dim_v);
}

/* Appends the flags that describe experts. */
static void emit_megatron_experts(const struct emitter *e)
{
    const struct hm_transformer *x = &e->job->network;

    add_flag(e, "num-experts", x->experts);
    add_flag(e, "moe-router-topk", x->experts_per_token);
    add_flag(e, "moe-ffn-hidden-size", x->expert_ffn);
    if (x->dense_layers > 0) {
        char layers[64];
        snprintf(layers, sizeof(layers), "([0]*%.0f+[1]*%.0f)", x->dense_layers,
                 x->layers - x->dense_layers);
        add_option(e, "moe-layer-freq", layers);
    }
    if (x->shared_ffn > 0)
        add_flag(e, "moe-shared-expert-intermediate-size", x->shared_ffn);
    if (x->expert_groups > 1) {
        add_flag(e, "moe-router-num-groups", x->expert_groups);
        add_flag(e, "moe-router-group-topk", x->groups_per_token);
    }
}

static void emit_megatron_network(const struct emitter *e)
{
    const struct hm_transformer *x = &e->job->network;

    add_flag(e, "num-layers", x->layers);
    add_flag(e, "hidden-size", x->hidden);
    add_flag(e, "ffn-hidden-size", x->ffn);
    add_flag(e, "num-attention-heads", x->heads);
    if (x->kv_heads != x->heads) {
        add_word(e, "group-query-attention", true);
        add_flag(e, "num-query-groups", x->kv_heads);
    }
    if (x->latent.rank_kv > 0)
        emit_megatron_latent(e);
    else
        add_flag(e, "kv-channels", x->head_dim);
    add_flag(e, "vocab-size", x->vocabulary);
    add_word(e, "swiglu", x->gated);
    add_word(e, "untie-embeddings-and-output-weights", !x->tied);
    if (x->positions == 0)
        add_option(e, "position-embedding-type", "rope");
    if (!x->norm_bias)
        add_option(e, "normalization", "RMSNorm");
    add_word(e, "disable-bias-linear", x->bias != HM_LINEAR_BIAS_ALL);
    add_word(e, "add-qkv-bias", x->bias == HM_LINEAR_BIAS_QKV);
    add_word(e, "qk-layernorm", x->qk_norm);
    if (x->experts > 0)
        emit_megatron_experts(e);
}

/*
 * Appends the chunks of a pipeline whose layers do not divide evenly, in the notation of Megatron:
 * E is the embedding, t a layer and L the output head.
 */
static void emit_megatron_chunks(const struct emitter *e, double chunks)
{
    hm__text_addf(e->out, "--%s ", "pipeline-model-parallel-layout");
    for (double i = 0; i < chunks; i++) {
        double layers = hm__layout_chunk_layers(&e->choice->layout, e->job->network.layers, i);
        hm__text_add(e->out, i == 0 ? "E" : "|");
        if (layers >= 1)
            hm__text_addf(e->out, layers > 1 ? "t*%.0f" : "t", layers);
    }
    hm__text_add(e->out, "L\n");
}

/*
 * Appends the flags of pipeline parallelism. If the layers cannot be divided evenly among the
 * chunks, the embedding and the output head take the places of layers; without chunks, and if more
 * layers are missing, the last stage has fewer layers.
 */
static void emit_megatron_pipeline(const struct emitter *e)
{
    const struct hm_layout *l = &e->choice->layout;
    double layers = e->job->network.layers, chunks = l->pipeline * l->interleave;
    double missing = hm__layout_missing(layers, chunks);

    add_flag(e, "pipeline-model-parallel-size", l->pipeline);
    if (l->interleave > 1 && missing == 0)
        add_flag(e, "num-layers-per-virtual-pipeline-stage", layers / chunks);
    else if (l->interleave > 1 && missing == 2)
        add_flag(e, "num-virtual-stages-per-pipeline-rank", l->interleave);
    if (missing == 2) {
        add_word(e, "account-for-embedding-in-pipeline-split", true);
        add_word(e, "account-for-loss-in-pipeline-split", true);
    } else if (missing > 0 && l->interleave > 1) {
        emit_megatron_chunks(e, chunks);
    } else if (missing > 0) {
        add_flag(e, "decoder-last-pipeline-num-layers",
                 layers - (l->pipeline - 1) * ceil(layers / l->pipeline));
    }
}

static void emit_megatron_recompute(const struct emitter *e)
{
    const struct hm_layout *l = &e->choice->layout;
    /* Megatron counts the recomputed layers of each chunk. */
    double half = ceil(ceil(e->job->network.layers / (l->pipeline * l->interleave)) / 2);

    switch (l->recompute) {
    case HM_RECOMPUTE_FULL:
        add_option(e, "recompute-granularity", "full");
        add_option(e, "recompute-method", "uniform");
        add_flag(e, "recompute-num-layers", 1);
        break;
    case HM_RECOMPUTE_LAYER:
        add_option(e, "recompute-granularity", "full");
        add_option(e, "recompute-method", "block");
        add_flag(e, "recompute-num-layers", half);
        break;
    case HM_RECOMPUTE_SELECTIVE:
        add_option(e, "recompute-granularity", "selective");
        add_option(e, "recompute-modules", "core_attn");
        break;
    case HM_RECOMPUTE_NORM:
        add_option(e, "recompute-granularity", "selective");
        add_option(e, "recompute-modules",
                   e->job->network.latent.rank_kv > 0 ? "layernorm moe_act mla_up_proj"
                                                      : "layernorm moe_act");
        break;
    default:
        break;
    }
}

static void emit_megatron_sharding(const struct emitter *e)
{
    const struct hm_layout *l = &e->choice->layout;
    bool whole = l->zero >= 2 && l->pipeline == 1;

    add_word(e, "use-distributed-optimizer", l->zero >= 1);
    add_word(e, "use-megatron-fsdp", whole);
    if (whole) {
        add_option(e, "data-parallel-sharding-strategy",
                   l->zero == 3 ? "optim_grads_params" : "optim_grads");
        add_word(e, "no-gradient-accumulation-fusion", true);
        add_option(e, "ckpt-format", "fsdp_dtensor");
    }
    if (l->shard_in_node && l->zero >= 1 && emitter_copies(e) > 1)
        add_flag(e, "num-distributed-optimizer-instances", emitter_copies(e));
    add_word(e, "optimizer-cpu-offload", l->offload == HM_OFFLOAD_OPTIMIZER);
}

static int emit_megatron(const struct emitter *e, struct hm_err *err)
{
    const struct hm_layout *l = &e->choice->layout;
    const struct hm_large_work *w = &e->job->work;

    if (l->recompute == HM_RECOMPUTE_OP)
        return emit_refuse(err, "megatron", "recompute", "cannot recompute every second product",
                           "use none, selective, selective-layer or full");
    if (l->recompute == HM_RECOMPUTE_NORM && e->job->network.experts == 0)
        return emit_refuse(err, "megatron", "recompute",
                           "recomputes activation functions only in experts",
                           "use none, selective-layer or full");
    if (l->pipeline > 1 && l->zero >= 2)
        return emit_refuse(err, "megatron", "zero",
                           "shards only the optimizer together with a pipeline", "zero: 1");
    if (l->offload == HM_OFFLOAD_ALL)
        return emit_refuse(err, "megatron", "offload", "cannot offload weights",
                           "use optimizer or none");
    emit_megatron_network(e);
    add_flag(e, "seq-length", w->sequence);
    add_flag(e, "max-position-embeddings", w->sequence);
    add_flag(e, "micro-batch-size", l->micro_batch);
    add_flag(e, "global-batch-size", w->batch);
    if (e->job->tokens > 0)
        add_flag(e, "train-iters", ceil(e->job->tokens / (w->batch * w->sequence)));
    add_flag(e, "tensor-model-parallel-size", l->tensor);
    add_word(e, "sequence-parallel", l->sequence_parallel);
    emit_megatron_pipeline(e);
    add_flag(e, "context-parallel-size", l->context);
    if (l->expert > 1) {
        add_flag(e, "expert-model-parallel-size", l->expert);
        add_flag(e, "expert-tensor-parallel-size", 1);
    }
    emit_megatron_sharding(e);
    emit_megatron_recompute(e);
    hm__text_addf(e->out, "--%s\n", w->precision == HM_FORMAT_FP16 ? "fp16" : "bf16");
    if (is_eight_bit(w))
        add_option(e, "fp8-format", "hybrid");
    if (w->precision == HM_FORMAT_MXFP8)
        add_option(e, "fp8-recipe", "mxfp8");
    if (w->precision == HM_FORMAT_NVFP4)
        add_option(e, "fp4-format", "e2m1");
    add_option(e, "attention-backend", w->attention == HM_ATTENTION_UNFUSED ? "unfused" : "flash");
    add_word(e, "overlap-grad-reduce", w->overlap_data);
    add_word(e, "overlap-param-gather", w->overlap_gather && l->zero >= 1);
    add_word(e, "tp-comm-overlap", w->overlap_tensor && l->tensor > 1 && l->sequence_parallel);
    add_word(e, "overlap-moe-expert-parallel-comm", w->overlap_expert && l->expert > 1);
    return 0;
}

/* Writes the section of a DeepSpeed configuration that describes sharding and offload. */
static void put_zero(struct hm_json *json, const struct emitter *e)
{
    static const char *const parts[] = {"offload_optimizer", "offload_param"};
    const struct hm_layout *l = &e->choice->layout;

    hm__json_open(json, "zero_optimization", HM_JSON_OBJECT);
    hm__json_put_number(json, "stage", l->zero);
    hm__json_put_bool(json, "overlap_comm", e->job->work.overlap_data);
    if (l->shard_in_node && l->zero == 3)
        hm__json_put_number(json, "zero_hpz_partition_size", e->per_node);
    for (int i = 0; i < (int)l->offload; i++) {
        hm__json_open(json, parts[i], HM_JSON_OBJECT);
        hm__json_put_text(json, "device", "cpu");
        hm__json_close(json);
    }
    hm__json_close(json);
}

static int emit_deepspeed(const struct emitter *e, struct hm_err *err)
{
    const struct hm_layout *l = &e->choice->layout;
    struct hm_json json = {.out = e->out};

    if (l->pipeline > 1)
        return emit_refuse(err, "deepspeed", "pipeline",
                           "has no key for stages, which the program gives to PipelineModule",
                           "pipeline: 1");
    if (l->expert > 1)
        return emit_refuse(err, "deepspeed", "expert",
                           "has no key for expert parallelism, which the program gives to the "
                           "layer (ep_size)",
                           "expert: 1");
    if (l->tensor > 1 && l->zero == 3)
        return emit_refuse(err, "deepspeed", "zero",
                           "has no tensor parallelism together with sharded weights",
                           "zero: 2, or tensor: 1");
    if (l->recompute != HM_RECOMPUTE_NONE && l->recompute != HM_RECOMPUTE_FULL)
        return emit_refuse(err, "deepspeed", "recompute",
                           "checkpoints the layers that the program says", "use none or full");
    hm__json_open(&json, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_put_number(&json, "train_batch_size", l->micro_batch * e->micro_batches * l->data);
    hm__json_put_number(&json, "train_micro_batch_size_per_gpu", l->micro_batch);
    hm__json_put_number(&json, "gradient_accumulation_steps", e->micro_batches);
    hm__json_open(&json, e->job->work.precision == HM_FORMAT_FP16 ? "fp16" : "bf16",
                  HM_JSON_OBJECT);
    hm__json_put_bool(&json, "enabled", true);
    hm__json_close(&json);
    put_zero(&json, e);
    if (l->tensor > 1) {
        hm__json_open(&json, "tensor_parallel", HM_JSON_OBJECT);
        hm__json_put_number(&json, "autotp_size", l->tensor);
        hm__json_close(&json);
    }
    if (l->context > 1) {
        hm__json_put_number(&json, "data_parallel_size", l->data);
        hm__json_put_number(&json, "sequence_parallel_size", l->context);
    }
    if (l->recompute == HM_RECOMPUTE_FULL) {
        hm__json_open(&json, "activation_checkpointing", HM_JSON_OBJECT);
        hm__json_put_number(&json, "number_checkpoints", e->job->network.layers);
        hm__json_close(&json);
    }
    hm__json_close(&json);
    hm__text_add(e->out, "\n");
    return 0;
}

/*
 * Appends the lines about the pipeline. torchtitan counts the layers that the first and the last
 * chunk have less than the others, one each unless the file says otherwise, and refuses numbers of
 * chunks that are no multiple of the stages.
 */
static void emit_torchtitan_pipeline(const struct emitter *e)
{
    const struct hm_layout *l = &e->choice->layout;
    double layers = e->job->network.layers, chunks = l->pipeline * l->interleave;
    double missing = hm__layout_missing(layers, chunks);
    double first = missing > HM_LAYERS_WEIGHED ? 0 : floor(missing / 2);
    double last = missing > HM_LAYERS_WEIGHED ? 0 : ceil(missing / 2);

    hm__text_addf(e->out,
                  "pipeline_parallel_schedule = \"%s\"\n"
                  "pipeline_parallel_layers_per_stage = %.0f\n"
                  "pipeline_parallel_first_stage_less_layers = %.0f\n"
                  "pipeline_parallel_last_stage_less_layers = %.0f\n"
                  "pipeline_parallel_microbatch_size = %.0f\n",
                  l->interleave > 1 ? "Interleaved1F1B" : "1F1B", ceil(layers / chunks), first,
                  last, l->micro_batch);
}

/* Writes the section of a torchtitan configuration that describes parallelism. */
static void emit_torchtitan_degrees(const struct emitter *e)
{
    const struct hm_layout *l = &e->choice->layout;
    double replicas = l->zero == 0 ? l->data : emitter_copies(e);

    hm__text_addf(e->out,
                  "\n[parallelism]\ndata_parallel_replicate_degree = %.0f\n"
                  "data_parallel_shard_degree = %.0f\ntensor_parallel_degree = %.0f\n"
                  "pipeline_parallel_degree = %.0f\ncontext_parallel_degree = %.0f\n",
                  replicas, l->data / replicas, l->tensor, l->pipeline, l->context);
    if (l->pipeline > 1)
        emit_torchtitan_pipeline(e);
    if (l->expert > 1)
        hm__text_addf(e->out, "expert_parallel_degree = %.0f\n", l->expert);
    if (l->zero > 0)
        hm__text_addf(e->out, "fsdp_reshard_after_forward = \"%s\"\n",
                      l->zero == 3 ? "always" : "never");
}

static int emit_torchtitan(const struct emitter *e, struct hm_err *err)
{
    const struct hm_layout *l = &e->choice->layout;
    const char *mode = l->recompute == HM_RECOMPUTE_NONE   ? "none"
                       : l->recompute == HM_RECOMPUTE_FULL ? "full"
                                                           : "selective";

    if (l->offload == HM_OFFLOAD_OPTIMIZER)
        return emit_refuse(err, "torchtitan", "offload", "cannot offload the optimizer alone",
                           "use all or none");
    if (l->zero == 1)
        hm__text_add(e->out, "# Gradients are sharded too (zero 2); torchtitan has no zero 1.\n");
    hm__text_addf(
        e->out, "[training]\nseq_len = %.0f\nlocal_batch_size = %.0f\nglobal_batch_size = %.0f\n",
        e->job->work.sequence, l->pipeline > 1 ? l->micro_batch * e->micro_batches : l->micro_batch,
        l->micro_batch * e->micro_batches * l->data);
    if (e->job->tokens > 0)
        hm__text_addf(e->out, "steps = %.0f\n",
                      ceil(e->job->tokens / (e->job->work.batch * e->job->work.sequence)));
    if (l->offload == HM_OFFLOAD_ALL)
        hm__text_add(e->out, "enable_cpu_offload = true\n");
    emit_torchtitan_degrees(e);
    hm__text_addf(e->out, "\n[activation_checkpoint]\nmode = \"%s\"\n", mode);
    if (l->recompute == HM_RECOMPUTE_OP || l->recompute == HM_RECOMPUTE_LAYER)
        hm__text_addf(e->out, "selective_ac_option = \"%s\"\n",
                      l->recompute == HM_RECOMPUTE_OP ? "op" : "2");
    hm__text_addf(e->out, "\n[compile]\nenable = %s\n",
                  e->job->work.software == HM_SOFTWARE_EAGER ? "false" : "true");
    if (is_eight_bit(&e->job->work))
        hm__text_add(e->out, "\n[model]\nconverters = [\"quantize.linear.float8\"]\n");
    return 0;
}

/* Appends the lines of an accelerate configuration for sharding with DeepSpeed. */
static void emit_accelerate_deepspeed(const struct emitter *e)
{
    const struct hm_layout *l = &e->choice->layout;

    hm__text_addf(e->out,
                  "deepspeed_config:\n  zero_stage: %.0f\n  gradient_accumulation_steps: %.0f\n"
                  "  offload_optimizer_device: %s\n  offload_param_device: %s\n",
                  l->zero, e->micro_batches, l->offload >= HM_OFFLOAD_OPTIMIZER ? "cpu" : "none",
                  l->offload == HM_OFFLOAD_ALL ? "cpu" : "none");
}

/* Appends the lines of an accelerate configuration for sharding with FSDP and for other
 * parallelism. */
static void emit_accelerate_fsdp(const struct emitter *e)
{
    const struct hm_layout *l = &e->choice->layout;
    double replicas = emitter_copies(e);

    hm__text_addf(e->out,
                  "fsdp_config:\n  fsdp_version: 2\n  fsdp_reshard_after_forward: %s\n"
                  "  fsdp_activation_checkpointing: %s\n",
                  l->zero == 3 ? "true" : "false",
                  l->recompute == HM_RECOMPUTE_FULL ? "true" : "false");
    if (l->offload == HM_OFFLOAD_ALL)
        hm__text_add(e->out, "  fsdp_offload_params: true\n");
    if (l->tensor * l->context * replicas > 1)
        hm__text_addf(e->out,
                      "parallelism_config:\n  parallelism_config_dp_replicate_size: %.0f\n"
                      "  parallelism_config_dp_shard_size: %.0f\n"
                      "  parallelism_config_tp_size: %.0f\n  parallelism_config_cp_size: %.0f\n",
                      replicas, l->data / replicas, l->tensor, l->context);
}

static int emit_accelerate(const struct emitter *e, struct hm_err *err)
{
    const struct hm_layout *l = &e->choice->layout;
    bool fsdp = l->tensor * l->context > 1 || (l->zero == 3 && l->offload == HM_OFFLOAD_NONE);

    if (l->pipeline > 1)
        return emit_refuse(err, "accelerate", "pipeline", "has no pipeline parallelism",
                           "pipeline: 1");
    if (l->expert > 1)
        return emit_refuse(err, "accelerate", "expert", "has no expert parallelism", "expert: 1");
    if (fsdp && l->zero < 2)
        return emit_refuse(err, "accelerate", "zero",
                           "shards the gradients or more when it is combined with tensor or "
                           "context parallelism",
                           "zero: 2 or zero: 3, or tensor: 1");
    if (fsdp && l->offload == HM_OFFLOAD_OPTIMIZER)
        return emit_refuse(err, "accelerate", "offload",
                           "offloads weights too when it is combined with tensor or context "
                           "parallelism",
                           "use all or none, or tensor: 1");
    if (l->recompute != HM_RECOMPUTE_NONE && l->recompute != HM_RECOMPUTE_FULL)
        return emit_refuse(err, "accelerate", "recompute", "recomputes all layers or none",
                           "use none or full");
    hm__text_addf(e->out,
                  "# In the program: micro-batches of %.0f, gradient_accumulation_steps %.0f%s.\n"
                  "compute_environment: LOCAL_MACHINE\ndistributed_type: %s\nmixed_precision: %s\n"
                  "num_machines: %.0f\nnum_processes: %.0f\n",
                  l->micro_batch, e->micro_batches,
                  l->recompute == HM_RECOMPUTE_FULL && !fsdp ? ", gradient_checkpointing" : "",
                  fsdp          ? "FSDP"
                  : l->zero > 0 ? "DEEPSPEED"
                                : "MULTI_GPU",
                  is_eight_bit(&e->job->work)                ? "fp8"
                  : e->job->work.precision == HM_FORMAT_FP16 ? "fp16"
                                                             : "bf16",
                  e->choice->nodes, e->choice->n);
    if (fsdp)
        emit_accelerate_fsdp(e);
    else if (l->zero > 0)
        emit_accelerate_deepspeed(e);
    return 0;
}

/*
 * Returns the number of workers on one host, which one launcher starts. A domain of many GPUs, such
 * as that of a GB200 NVL72, consists of hosts with 4 GPUs each.
 */
static double host_workers(const struct emitter *e)
{
    static const double HOST_MOST = 16, DOMAIN_HOST = 4;
    const double each = fmin(e->per_node, e->choice->n);

    return each > HOST_MOST && fmod(each, DOMAIN_HOST) == 0 ? DOMAIN_HOST : each;
}

static int emit_torchrun(const struct emitter *e, struct hm_err *err)
{
    const double each = host_workers(e);

    (void)err;
    hm__text_addf(e->out,
                  "torchrun --%s %.0f --%s %.0f --%s c10d --%s \"$HEAD_NODE:29500\" train.py\n",
                  "nnodes", ceil(e->choice->n / each), "nproc-per-node", each, "rdzv-backend",
                  "rdzv-endpoint");
    return 0;
}

static int emit_sbatch(const struct emitter *e, struct hm_err *err)
{
    const struct {
        const char *name;
        double value;
    } lines[] = {{"nodes", ceil(e->choice->n / host_workers(e))},
                 {"ntasks-per-node", 1},
                 {"gpus-per-node", host_workers(e)}};

    hm__text_add(e->out, "#!/bin/bash\n");
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        hm__text_addf(e->out, "#SBATCH --%s=%.0f\n", lines[i].name, lines[i].value);
    hm__text_addf(e->out, "#SBATCH --%s\n\n", "exclusive");
    hm__text_add(e->out, "HEAD_NODE=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -1)\n"
                         "export HEAD_NODE\nsrun ");
    return emit_torchrun(e, err);
}

int hm__large_emit(const struct hm_large_answer *answer, enum hm_large_emit what, char **ret_text,
                   struct hm_err *err)
{
    static int (*const emitters[])(const struct emitter *, struct hm_err *) = {
        [HM_EMIT_MEGATRON] = emit_megatron,     [HM_EMIT_DEEPSPEED] = emit_deepspeed,
        [HM_EMIT_TORCHTITAN] = emit_torchtitan, [HM_EMIT_ACCELERATE] = emit_accelerate,
        [HM_EMIT_TORCHRUN] = emit_torchrun,     [HM_EMIT_SBATCH] = emit_sbatch,
    };
    const struct hm_large_choice *choice = &answer->points[answer->recommended];
    struct hm_text out = {0};
    const struct emitter e = {.out = &out,
                              .job = &answer->planned,
                              .choice = choice,
                              .per_node = ceil(choice->n / choice->nodes),
                              .micro_batches =
                                  hm__layout_micro_batches(&choice->layout, answer->batch)};

    int rc = emitters[what](&e, err);
    if (rc) {
        hm__text_release(&out);
        return rc;
    }
    if (out.failed) {
        hm__text_release(&out);
        return hm__fail_nomem(err);
    }
    *ret_text = out.data;
    return 0;
}
