/*
 * Writes the settings of a transformer's training as JSON members (facts) and as a job; see
 * launch.h.
 */
#include "launch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

/* Names of numeric options in Megatron and NeMo, and the enum launch_number that each one sets. */
static const struct {
    const char *name;
    enum launch_number number;
} numbers[] = {
    {"num_layers", LAUNCH_LAYERS},
    {"hidden_size", LAUNCH_HIDDEN},
    {"ffn_hidden_size", LAUNCH_FFN},
    {"num_attention_heads", LAUNCH_HEADS},
    {"num_query_groups", LAUNCH_KV_HEADS},
    {"kv_channels", LAUNCH_HEAD_DIM},
    {"vocab_size", LAUNCH_VOCABULARY},
    {"padded_vocab_size", LAUNCH_VOCABULARY},
    {"num_experts", LAUNCH_EXPERTS},
    {"num_moe_experts", LAUNCH_EXPERTS},
    {"moe_router_topk", LAUNCH_TOP_K},
    {"moe_ffn_hidden_size", LAUNCH_EXPERT_FFN},
    {"seq_length", LAUNCH_SEQUENCE},
    {"encoder_seq_length", LAUNCH_SEQUENCE},
    {"seq_len", LAUNCH_SEQUENCE},
    {"global_batch_size", LAUNCH_BATCH},
    {"micro_batch_size", LAUNCH_MICRO},
    {"local_batch_size", LAUNCH_MICRO},
    {"train_iters", LAUNCH_ITERATIONS},
    {"max_steps", LAUNCH_ITERATIONS},
    {"train_samples", LAUNCH_SAMPLES},
    {"tensor_model_parallel_size", LAUNCH_TENSOR},
    {"tensor_parallel_degree", LAUNCH_TENSOR},
    {"pipeline_model_parallel_size", LAUNCH_PIPELINE},
    {"pipeline_parallel_degree", LAUNCH_PIPELINE},
    {"num_layers_per_virtual_pipeline_stage", LAUNCH_CHUNK},
    {"context_parallel_size", LAUNCH_CONTEXT},
    {"context_parallel_degree", LAUNCH_CONTEXT},
    {"expert_model_parallel_size", LAUNCH_EXPERT},
    {"expert_parallel_degree", LAUNCH_EXPERT},
    {"data_parallel_shard_degree", LAUNCH_SHARD},
    {"data_parallel_replicate_degree", LAUNCH_REPLICATE},
    {"zero_stage", LAUNCH_ZERO},
    {"nnodes", LAUNCH_NODES},
    {"num_nodes", LAUNCH_NODES},
    {"nproc_per_node", LAUNCH_PER_NODE},
    {"gpus_per_node", LAUNCH_PER_NODE},
    {"num_gpus_per_node", LAUNCH_PER_NODE},
    {"devices", LAUNCH_PER_NODE},
};

static const struct {
    const char *name;
    enum launch_flag flag;
} flags[] = {
    {"bf16", LAUNCH_BF16},
    {"fp16", LAUNCH_FP16},
    {"fp8_format", LAUNCH_FP8},
    {"swiglu", LAUNCH_SWIGLU},
    {"gated_linear_unit", LAUNCH_SWIGLU},
    {"untie_embeddings_and_output_weights", LAUNCH_UNTIED},
    {"sequence_parallel", LAUNCH_SEQUENCE_PARALLEL},
    {"use_distributed_optimizer", LAUNCH_DISTRIBUTED_OPTIMIZER},
    {"recompute_activations", LAUNCH_SELECTIVE},
    {"checkpoint_activations", LAUNCH_FULL},
    {"group_query_attention", LAUNCH_GROUPED},
};

/* Names of the numbers in the facts, in the order of enum launch_number. */
static const char *const facts[LAUNCH_NUMBERS] = {
    "layers",          "hidden",     "ffn",
    "heads",           "kv_heads",   "head_dim",
    "vocabulary",      "experts",    "experts_per_token",
    "expert_ffn",      "sequence",   "batch",
    "micro_batch",     "iterations", "samples",
    "tensor",          "pipeline",   "layers_per_chunk",
    "context",         "expert",     "shard",
    "replicate",       "zero",       "nodes",
    "workers_per_node"};

void hm__launch_init(struct launch *l)
{
    *l = (struct launch){.used = 0};
    for (int i = 0; i < LAUNCH_NUMBERS; i++)
        l->numbers[i] = NAN;
}

/* Reads a whole number that may have '_' between digits, or -1, with which some options choose the
 * number themselves; NaN if the string is not such a number. */
static double read_count(const char *text)
{
    char digits[40];
    size_t length = 0;
    double value;

    for (; *text && length < sizeof(digits) - 1; text++)
        if (*text != '_')
            digits[length++] = *text;
    digits[length] = '\0';
    size_t used = hm__signed_read(digits, &value);
    bool whole = used > 0 && used == length && !*text && value == floor(value);
    return whole && value >= -1 && value < 1e15 ? value : NAN;
}

static bool is_false(const char *value)
{
    return value && (strcmp(value, "false") == 0 || strcmp(value, "False") == 0 ||
                     strcmp(value, "null") == 0 || strcmp(value, "no") == 0);
}

void hm__launch_set(struct launch *l, const char *given, const char *value)
{
    char name[64];
    size_t length = 0;

    for (; given[length] && length < sizeof(name) - 1; length++)
        name[length] = given[length] == '-' ? '_' : given[length];
    name[length] = '\0';
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (strcmp(numbers[i].name, name) != 0)
            continue;
        double number = value ? read_count(value) : NAN;
        l->used += !isnan(number);
        l->unknown += isnan(number) && !is_false(value);
        if (!isnan(number))
            l->numbers[numbers[i].number] = number;
        return;
    }
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (strcmp(flags[i].name, name) != 0)
            continue;
        l->flags[flags[i].flag] |= !is_false(value);
        l->used++;
        return;
    }
    bool recompute = strcmp(name, "recompute_granularity") == 0 ||
                     strcmp(name, "activations_checkpoint_granularity") == 0;
    if (recompute && value && (strcmp(value, "full") == 0 || strcmp(value, "selective") == 0)) {
        snprintf(l->recompute, sizeof(l->recompute), "%s", value);
        l->used++;
    }
    if (strcmp(name, "recompute_method") == 0 && value) {
        l->block = strcmp(value, "block") == 0;
        l->used++;
    }
    if (strcmp(name, "vocab_file") == 0 && value && strstr(value, "gpt2"))
        snprintf(l->tokenizer, sizeof(l->tokenizer), "GPT2BPETokenizer");
    if (strcmp(name, "tokenizer_type") == 0 && value) {
        snprintf(l->tokenizer, sizeof(l->tokenizer), "%.47s", value);
        l->used++;
    }
}

/* ---- the job ----------------------------------------------------------------------------------
 */

/*
 * Determines the size of the vocabulary: from the file or the user, or from a tokenizer whose
 * vocabulary is fixed. Megatron pads this size to a multiple of 128 x tensor parallelism.
 */
static void find_vocabulary(struct hm_imported *im, struct launch *l)
{
    double *vocabulary = &l->numbers[LAUNCH_VOCABULARY], given = hm__import_given(im, "vocabulary");
    double multiple =
        128 * fmax(1, isnan(l->numbers[LAUNCH_TENSOR]) ? 1 : l->numbers[LAUNCH_TENSOR]);

    if (!isnan(given))
        *vocabulary = given;
    if (!isnan(*vocabulary) || strcmp(l->tokenizer, "GPT2BPETokenizer") != 0)
        return;
    *vocabulary = ceil(50257 / multiple) * multiple;
    hm__import_note(im, "the vocabulary is that of GPT2BPETokenizer, 50257 tokens, padded to %.0f",
                    *vocabulary);
}

/* Returns whether a number is known and is a whole number of at least 1. */
static bool is_count(double value)
{
    return value >= 1 && value == floor(value);
}

static void add_count(struct hm_text *out, const char *format, const char *key, double value)
{
    if (is_count(value))
        hm__text_addf(out, format, key, value);
}

/* Writes the sizes of the network; returns false if one of them is missing. */
static bool put_sizes(struct hm_imported *im, const struct launch *l)
{
    static const enum launch_number needed[] = {LAUNCH_LAYERS, LAUNCH_HIDDEN, LAUNCH_HEADS,
                                                LAUNCH_VOCABULARY};
    const double *x = l->numbers;
    struct hm_text *out = &im->document;
    bool gated = l->flags[LAUNCH_SWIGLU];

    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        if (!is_count(x[needed[i]])) {
            hm__import_note(im, "the network is not complete: %s is missing%s", facts[needed[i]],
                            needed[i] == LAUNCH_VOCABULARY ? " (set vocabulary=50257)" : "");
            return false;
        }
    /*
     * Megatron's default width of the feed-forward layer is 4 x hidden, or two thirds of that if
     * the layer is gated.
     */
    double ffn = is_count(x[LAUNCH_FFN]) ? x[LAUNCH_FFN]
                 : gated                 ? floor(4 * x[LAUNCH_HIDDEN] * 2 / 3 / 64) * 64
                                         : 4 * x[LAUNCH_HIDDEN];
    bool grouped = l->flags[LAUNCH_GROUPED] || !isnan(x[LAUNCH_KV_HEADS]);
    hm__text_add(out, "network:\n  kind: transformer\n");
    add_count(out, "  %s: %.0f\n", "layers", x[LAUNCH_LAYERS]);
    add_count(out, "  %s: %.0f\n", "hidden", x[LAUNCH_HIDDEN]);
    add_count(out, "  %s: %.0f\n", "ffn", ffn);
    add_count(out, "  %s: %.0f\n", "heads", x[LAUNCH_HEADS]);
    if (grouped)
        add_count(out, "  %s: %.0f\n", "kv_heads", x[LAUNCH_KV_HEADS]);
    add_count(out, "  %s: %.0f\n", "head_dim", x[LAUNCH_HEAD_DIM]);
    add_count(out, "  %s: %.0f\n", "vocabulary", x[LAUNCH_VOCABULARY]);
    hm__text_addf(out, "  gated: %s\n  tied: %s\n", gated ? "true" : "false",
                  l->flags[LAUNCH_UNTIED] ? "false" : "true");
    if (is_count(x[LAUNCH_EXPERTS])) {
        add_count(out, "  %s: %.0f\n", "experts", x[LAUNCH_EXPERTS]);
        add_count(out, "  %s: %.0f\n", "experts_per_token",
                  is_count(x[LAUNCH_TOP_K]) ? x[LAUNCH_TOP_K] : 2);
        add_count(out, "  %s: %.0f\n", "expert_ffn",
                  is_count(x[LAUNCH_EXPERT_FFN]) ? x[LAUNCH_EXPERT_FFN] : ffn);
    }
    return true;
}

/* Adds one degree of parallelism to the YAML map `parallel`. */
static void add_degree(struct hm_text *out, const char *key, double value)
{
    if (is_count(value))
        hm__text_addf(out, "%s%s: %.0f", out->length ? ", " : "", key, value);
}

/* Returns how activations are recomputed, such as "full" or "selective"; NULL if not given. Blocks
 * of layers are counted as half of the layers. */
static const char *recompute_of(const struct launch *l)
{
    const bool full = l->flags[LAUNCH_FULL] || strcmp(l->recompute, "full") == 0;

    return full && l->block             ? "selective-layer"
           : l->recompute[0]            ? l->recompute
           : l->flags[LAUNCH_FULL]      ? "full"
           : l->flags[LAUNCH_SELECTIVE] ? "selective"
                                        : NULL;
}

static void put_layout(struct hm_imported *im, const struct launch *l)
{
    const double *x = l->numbers;
    struct hm_text map = {0};
    double pipeline = is_count(x[LAUNCH_PIPELINE]) ? x[LAUNCH_PIPELINE] : 1;

    add_degree(&map, "tensor", x[LAUNCH_TENSOR]);
    add_degree(&map, "pipeline", x[LAUNCH_PIPELINE]);
    if (is_count(x[LAUNCH_CHUNK]))
        add_degree(&map, "interleave", x[LAUNCH_LAYERS] / (pipeline * x[LAUNCH_CHUNK]));
    add_degree(&map, "context", x[LAUNCH_CONTEXT]);
    add_degree(&map, "expert", x[LAUNCH_EXPERT]);
    add_degree(&map, "micro_batch", x[LAUNCH_MICRO]);
    if (l->flags[LAUNCH_SEQUENCE_PARALLEL] && x[LAUNCH_TENSOR] > 1)
        hm__text_add(&map, ", sequence_parallel: true");
    double zero = x[LAUNCH_ZERO] >= 0 && x[LAUNCH_ZERO] <= 3 ? x[LAUNCH_ZERO]
                  : l->sharded                               ? 3
                  : l->flags[LAUNCH_DISTRIBUTED_OPTIMIZER]   ? 1
                                                             : 0;
    add_degree(&map, "zero", zero);
    const char *recompute = recompute_of(l);
    if (recompute)
        hm__text_addf(&map, "%srecompute: %s", map.length ? ", " : "", recompute);
    if (map.length)
        hm__text_addf(&im->document, "parallel: {%s}\n", map.data);
    im->failed |= map.failed;
    hm__text_release(&map);
}

/* Returns the degree of data parallelism of a job with n workers; NaN if it is unknown. */
static double data_degree(const struct launch *l, double n)
{
    const double *x = l->numbers;
    double shard = x[LAUNCH_SHARD],
           copies = is_count(x[LAUNCH_REPLICATE]) ? x[LAUNCH_REPLICATE] : 1;
    double others = 1;

    if (is_count(shard))
        return shard * copies;
    for (int k = LAUNCH_TENSOR; k <= LAUNCH_CONTEXT; k++)
        if (k != LAUNCH_CHUNK && is_count(x[k]))
            others *= x[k];
    return floor(n / others);
}

static void put_batch(struct hm_imported *im, const struct launch *l, double n)
{
    const double *x = l->numbers;
    double batch = x[LAUNCH_BATCH], data = data_degree(l, n);

    /* In torchtitan, the batch of a data-parallel worker is one micro-batch. */
    if (!is_count(batch) && l->network && is_count(x[LAUNCH_MICRO]))
        batch = x[LAUNCH_MICRO] * data;
    if (is_count(x[LAUNCH_SEQUENCE]))
        hm__text_addf(&im->document, "sequence: %.0f\n", x[LAUNCH_SEQUENCE]);
    else
        hm__import_assume(im, "sequence", "2048");
    if (is_count(batch))
        hm__text_addf(&im->document, "batch: %.0f\n", batch);
    else
        hm__import_assume(im, "batch", "4M tokens");
    double iterations =
        is_count(x[LAUNCH_ITERATIONS]) ? x[LAUNCH_ITERATIONS] : floor(x[LAUNCH_SAMPLES] / batch);
    add_count(&im->document, "%s: %.0f\n", "iterations", iterations);
}

static void put_job(struct hm_imported *im, const struct launch *l, double n)
{
    struct hm_text *out = &im->document;

    if (l->network)
        hm__text_addf(out, "network: %s\n", l->network);
    else if (!put_sizes(im, l))
        return;
    im->document_kind = "job";
    put_batch(im, l, n);
    if (l->flags[LAUNCH_FP8] || l->flags[LAUNCH_BF16] || l->flags[LAUNCH_FP16])
        hm__text_addf(out, "precision: %s\n",
                      l->flags[LAUNCH_FP8]    ? "fp8"
                      : l->flags[LAUNCH_BF16] ? "bf16"
                                              : "fp16");
    put_layout(im, l);
    if (l->accelerator[0] && is_count(l->numbers[LAUNCH_PER_NODE]))
        hm__text_addf(out, "cluster: {accelerator: %s, accelerators: %.0f, max_nodes: %.0f}\n",
                      l->accelerator, l->numbers[LAUNCH_PER_NODE],
                      is_count(l->numbers[LAUNCH_NODES]) ? l->numbers[LAUNCH_NODES] : 1);
}

void hm__launch_finish(struct hm_imported *im, struct launch *l)
{
    struct hm_json *j = &im->facts;
    double given = hm__import_given(im, "n"), *x = l->numbers;
    double n =
        isnan(given) ? (isnan(x[LAUNCH_NODES]) ? 1 : x[LAUNCH_NODES]) * x[LAUNCH_PER_NODE] : given;

    find_vocabulary(im, l);
    hm__json_put_text(j, "network", l->network);
    for (int i = 0; i < LAUNCH_NUMBERS; i++)
        if (!isnan(x[i]))
            hm__json_put_number(j, facts[i], x[i]);
    hm__json_put_text(j, "precision",
                      l->flags[LAUNCH_FP8]    ? "fp8"
                      : l->flags[LAUNCH_BF16] ? "bf16"
                      : l->flags[LAUNCH_FP16] ? "fp16"
                                              : NULL);
    hm__json_put_bool(j, "distributed_optimizer", l->flags[LAUNCH_DISTRIBUTED_OPTIMIZER]);
    hm__json_put_bool(j, "sequence_parallel", l->flags[LAUNCH_SEQUENCE_PARALLEL]);
    hm__json_put_text(j, "recompute", recompute_of(l));
    hm__json_put_number(j, "n", n);
    hm__import_took(im, l->used, "settings");
    hm__import_left(im, l->unknown, "settings whose values are not whole numbers in the file");
    put_job(im, l, n);
}
