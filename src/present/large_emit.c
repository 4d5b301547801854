/*
 * Writes layouts as options of other software; see large_emit.h. Ranks are numbered as in Megatron:
 * tensor parallelism innermost, then context, then data, pipeline outermost.
 */
#include "large_emit.h"

#include <math.h>

#include "err.h"
#include "format.h"

/* Number of nodes that an explanation lists. */
enum { NODES_SHOWN = 16 };

/* The inputs and the output of the functions that write a layout. */
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

static bool is_eight_bit(const struct hm_large_work *w)
{
    return w->precision == HM_FORMAT_FP8 || w->precision == HM_FORMAT_MXFP8;
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
    add_flag(e, "kv-channels", x->head_dim);
    add_word(e, "swiglu", x->gated);
    add_word(e, "untie-embeddings-and-output-weights", !x->tied);
    if (x->experts > 0) {
        add_flag(e, "num-experts", x->experts);
        add_flag(e, "moe-router-topk", x->experts_per_token);
        add_flag(e, "moe-ffn-hidden-size", x->expert_ffn);
    }
    if (x->shared_ffn > 0)
        add_flag(e, "moe-shared-expert-intermediate-size", x->shared_ffn);
}

static void emit_megatron(const struct emitter *e)
{
    const struct hm_layout *l = &e->choice->layout;
    const struct hm_large_work *w = &e->job->work;

    emit_megatron_network(e);
    add_flag(e, "seq-length", w->sequence);
    add_flag(e, "max-position-embeddings", w->sequence);
    add_flag(e, "micro-batch-size", l->micro_batch);
    add_flag(e, "global-batch-size", w->batch);
    add_flag(e, "tensor-model-parallel-size", l->tensor);
    add_word(e, "sequence-parallel", l->sequence_parallel);
    add_flag(e, "pipeline-model-parallel-size", l->pipeline);
    if (l->interleave > 1)
        add_flag(e, "num-layers-per-virtual-pipeline-stage",
                 e->job->network.layers / (l->pipeline * l->interleave));
    add_flag(e, "context-parallel-size", l->context);
    if (l->expert > 1)
        add_flag(e, "expert-model-parallel-size", l->expert);
    add_word(e, "use-distributed-optimizer", l->zero >= 1);
    add_word(e, "use-megatron-fsdp", l->zero >= 2 && l->pipeline == 1);
    if (l->zero >= 2 && l->pipeline == 1)
        add_option(e, "data-parallel-sharding-strategy",
                   l->zero == 3 ? "optim_grads_params" : "optim_grads");
    if (l->recompute == HM_RECOMPUTE_FULL) {
        add_option(e, "recompute-granularity", "full");
        add_option(e, "recompute-method", "uniform");
        add_flag(e, "recompute-num-layers", 1);
    } else if (l->recompute == HM_RECOMPUTE_SELECTIVE) {
        add_option(e, "recompute-granularity", "selective");
    }
    hm__text_addf(e->out, "--%s\n", w->precision == HM_FORMAT_FP16 ? "fp16" : "bf16");
    if (is_eight_bit(w))
        add_option(e, "fp8-format", "hybrid");
    add_word(e, "use-flash-attn", w->attention != HM_ATTENTION_UNFUSED);
    add_word(e, "overlap-grad-reduce", w->overlap_data);
    add_word(e, "overlap-param-gather", w->overlap_gather && l->zero >= 1);
    add_word(e, "tp-comm-overlap", w->overlap_tensor && l->tensor > 1);
}

static void emit_deepspeed(const struct emitter *e)
{
    const struct hm_layout *l = &e->choice->layout;
    struct hm_json json = {.out = e->out};

    hm__json_open(&json, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_put_number(&json, "train_batch_size", l->micro_batch * e->micro_batches * l->data);
    hm__json_put_number(&json, "train_micro_batch_size_per_gpu", l->micro_batch);
    hm__json_put_number(&json, "gradient_accumulation_steps", e->micro_batches);
    hm__json_open(&json, e->job->work.precision == HM_FORMAT_FP16 ? "fp16" : "bf16",
                  HM_JSON_OBJECT);
    hm__json_put_bool(&json, "enabled", true);
    hm__json_close(&json);
    hm__json_open(&json, "zero_optimization", HM_JSON_OBJECT);
    hm__json_put_number(&json, "stage", l->zero);
    hm__json_put_bool(&json, "overlap_comm", e->job->work.overlap_data);
    if (l->shard_in_node)
        hm__json_put_number(&json, "zero_hpz_partition_size", e->per_node);
    hm__json_close(&json);
    if (l->tensor > 1) {
        hm__json_open(&json, "tensor_parallel", HM_JSON_OBJECT);
        hm__json_put_number(&json, "autotp_size", l->tensor);
        hm__json_close(&json);
    }
    hm__json_close(&json);
    hm__text_add(e->out, "\n");
}

static void emit_torchtitan(const struct emitter *e)
{
    const struct hm_layout *l = &e->choice->layout;
    double replicas = l->shard_in_node ? fmax(1, l->data * l->tensor / e->per_node) : 1;
    const char *mode = l->recompute == HM_RECOMPUTE_NONE   ? "none"
                       : l->recompute == HM_RECOMPUTE_FULL ? "full"
                                                           : "selective";

    hm__text_addf(
        e->out, "[training]\nseq_len = %.0f\nlocal_batch_size = %.0f\nglobal_batch_size = %.0f\n",
        e->job->work.sequence, l->pipeline > 1 ? l->micro_batch * e->micro_batches : l->micro_batch,
        l->micro_batch * e->micro_batches * l->data);
    hm__text_addf(e->out,
                  "\n[parallelism]\ndata_parallel_replicate_degree = %.0f\n"
                  "data_parallel_shard_degree = %.0f\ntensor_parallel_degree = %.0f\n"
                  "pipeline_parallel_degree = %.0f\ncontext_parallel_degree = %.0f\n",
                  replicas, l->data / replicas, l->tensor, l->pipeline, l->context);
    if (l->pipeline > 1)
        hm__text_addf(e->out,
                      "pipeline_parallel_schedule = \"%s\"\n"
                      "pipeline_parallel_microbatch_size = %.0f\n",
                      l->interleave > 1 ? "Interleaved1F1B" : "1F1B", l->micro_batch);
    if (l->expert > 1)
        hm__text_addf(e->out, "expert_parallel_degree = %.0f\n", l->expert);
    hm__text_addf(e->out, "fsdp_reshard_after_forward = \"%s\"\n",
                  l->zero == 3 ? "always" : "never");
    hm__text_addf(e->out, "\n[activation_checkpoint]\nmode = \"%s\"\n\n[compile]\nenable = %s\n",
                  mode, e->job->work.software == HM_SOFTWARE_EAGER ? "false" : "true");
}

static void emit_accelerate(const struct emitter *e)
{
    const struct hm_layout *l = &e->choice->layout;

    hm__text_addf(e->out,
                  "compute_environment: LOCAL_MACHINE\ndistributed_type: %s\nmixed_precision: %s\n"
                  "num_machines: %.0f\nnum_processes: %.0f\n",
                  l->zero > 0 ? "FSDP" : "MULTI_GPU",
                  e->job->work.precision == HM_FORMAT_FP16 ? "fp16" : "bf16", e->choice->nodes,
                  e->choice->n);
    if (l->zero > 0)
        hm__text_addf(e->out,
                      "fsdp_config:\n  fsdp_version: 2\n  fsdp_reshard_after_forward: %s\n"
                      "  fsdp_activation_checkpointing: %s\n",
                      l->zero == 3 ? "true" : "false",
                      l->recompute == HM_RECOMPUTE_FULL ? "true" : "false");
}

static void emit_torchrun(const struct emitter *e)
{
    hm__text_addf(e->out,
                  "torchrun --%s %.0f --%s %.0f --%s c10d --%s \"$HEAD_NODE:29500\" train.py\n",
                  "nnodes", e->choice->nodes, "nproc-per-node", fmin(e->per_node, e->choice->n),
                  "rdzv-backend", "rdzv-endpoint");
}

static void emit_sbatch(const struct emitter *e)
{
    const struct {
        const char *name;
        double value;
    } lines[] = {{"nodes", e->choice->nodes},
                 {"ntasks-per-node", 1},
                 {"gpus-per-node", fmin(e->per_node, e->choice->n)}};

    hm__text_add(e->out, "#!/bin/bash\n");
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        hm__text_addf(e->out, "#SBATCH --%s=%.0f\n", lines[i].name, lines[i].value);
    hm__text_addf(e->out, "#SBATCH --%s\n\n", "exclusive");
    hm__text_add(e->out, "HEAD_NODE=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -1)\n"
                         "export HEAD_NODE\nsrun ");
    emit_torchrun(e);
}

static int finish_text(struct hm_text *out, char **ret_text, struct hm_err *err)
{
    if (out->failed) {
        hm__text_release(out);
        return hm__fail_nomem(err);
    }
    *ret_text = out->data;
    return 0;
}

int hm__large_emit(const struct hm_large_answer *answer, const struct hm_large_job *job,
                   enum hm_large_emit what, char **ret_text, struct hm_err *err)
{
    static void (*const emitters[])(const struct emitter *) = {
        [HM_EMIT_MEGATRON] = emit_megatron,     [HM_EMIT_DEEPSPEED] = emit_deepspeed,
        [HM_EMIT_TORCHTITAN] = emit_torchtitan, [HM_EMIT_ACCELERATE] = emit_accelerate,
        [HM_EMIT_TORCHRUN] = emit_torchrun,     [HM_EMIT_SBATCH] = emit_sbatch,
    };
    const struct hm_large_choice *choice = &answer->points[answer->recommended];
    struct hm_text out = {0};
    const struct emitter e = {.out = &out,
                              .job = job,
                              .choice = choice,
                              .per_node = ceil(choice->n / choice->nodes),
                              .micro_batches =
                                  hm__layout_micro_batches(&choice->layout, answer->batch)};

    emitters[what](&e);
    return finish_text(&out, ret_text, err);
}

/* Adds one line about groups of `count` ranks; it lists the first group, such as "0 8 16 24". */
static void add_group(struct hm_text *out, const char *name, double count, double stride)
{
    if (count <= 1)
        return;
    hm__text_addf(out, "  %-9s %5.0f ranks, the first group:", name, count);
    for (double i = 0; i < fmin(count, 8); i++)
        hm__text_addf(out, " %.0f", i * stride);
    hm__text_addf(out, "%s\n", count > 8 ? " …" : "");
}

int hm__large_explain(const struct hm_large_answer *answer, char **ret_text, struct hm_err *err)
{
    const struct hm_large_choice *c = &answer->points[answer->recommended];
    const struct hm_layout *l = &c->layout;
    double per_node = ceil(c->n / c->nodes), inner = l->tensor * l->context;
    struct hm_text out = {0};
    char text[160];

    hm__layout_text(l, text, sizeof(text));
    hm__text_addf(&out, "%.0f ranks on %.0f node%s: %s\n\ngroups\n", c->n, c->nodes,
                  hm__plural(c->nodes), text);
    add_group(&out, "tensor", l->tensor, 1);
    add_group(&out, "context", l->context, l->tensor);
    add_group(&out, "expert", l->expert, 1);
    add_group(&out, "data", l->data, inner);
    add_group(&out, "pipeline", l->pipeline, inner * l->data);
    hm__text_add(&out, "\nnode  ranks        stages  copies of the model\n");
    for (double node = 0; node < fmin(c->nodes, NODES_SHOWN); node++) {
        double first = node * per_node, last = fmin(c->n, first + per_node) - 1;
        double stage[] = {floor(first / (inner * l->data)), floor(last / (inner * l->data))};
        double copy[] = {fmod(floor(first / inner), l->data), fmod(floor(last / inner), l->data)};
        hm__text_addf(&out, "%4.0f  %5.0f-%-6.0f %3.0f-%-4.0f %3.0f-%.0f\n", node, first, last,
                      stage[0], stage[1], copy[0], copy[1]);
    }
    if (c->nodes > NODES_SHOWN)
        hm__text_addf(&out, "   …  and %.0f more nodes\n", c->nodes - NODES_SHOWN);
    return finish_text(&out, ret_text, err);
}
