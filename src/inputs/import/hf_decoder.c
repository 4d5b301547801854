/*
 * Counts the parameters of decoders, layer by layer, as the source code of the Hugging Face library
 * builds them. Most families differ only in one row of a table.
 */
#include <math.h>
#include <string.h>

#include "hf_count.h"
#include "text.h"

enum decoder_traits {
    TIED = 1,        /* By default, input and output share one embedding matrix. */
    GATED = 2,       /* The feed-forward layer has three matrices instead of two. */
    NORM_BIAS = 4,   /* Normalisations have a bias. */
    NORM_NONE = 8,   /* Normalisations have no parameters. */
    ONE_NORM = 16,   /* A layer has one normalisation instead of two. */
    FOUR_NORMS = 32, /* A layer has four normalisations instead of two. */
    QKV_BIAS = 64,
    OUT_BIAS = 128,
    MLP_BIAS = 256,
    HEAD_BIAS = 512,
    QK_NORM = 1024,        /* Queries and keys are normalised; all heads share the same scales. */
    QK_NORM_WIDE = 2048,   /* Queries and keys are normalised; each head has its own scales. */
    FUSED_QKV = 4096,      /* Queries, keys and values are computed by one matrix. */
    FUSED_GATE = 8192,     /* The first two feed-forward matrices are stored as one. */
    POSITIONS = 16384,     /* Position embeddings are learned. */
    FFN_FOUR = 32768,      /* The feed-forward width is 4 times the hidden size by default. */
    ATTENTION_KEY = 65536, /* `attention_bias` adds biases to all four attention matrices. */
    QKV_KEY = 131072,      /* A key such as `qkv_bias` adds biases to queries, keys and values. */
};

struct decoder_family {
    const char *names; /* Values of model_type that use this row, separated by spaces. */
    unsigned traits;
    /*
     * Default width of an attention head; 0 means the hidden size divided by the number of heads.
     */
    double head_dim;
};

enum { EVERY_BIAS = NORM_BIAS | QKV_BIAS | OUT_BIAS | MLP_BIAS };

static const struct decoder_family families[] = {
    {"llama mistral mistral3 ministral smollm3 aquila yi internlm", GATED | ATTENTION_KEY, 0},
    {"granite", GATED | ATTENTION_KEY, 0},
    {"ernie4_5", GATED | TIED, 128},
    {"qwen2", GATED | QKV_BIAS, 0},
    {"qwen3", GATED | QK_NORM | ATTENTION_KEY, 128},
    {"gemma", GATED | TIED | ATTENTION_KEY, 256},
    {"gemma2", GATED | TIED | FOUR_NORMS | ATTENTION_KEY, 256},
    {"gemma3_text gemma3", GATED | TIED | FOUR_NORMS | QK_NORM | ATTENTION_KEY, 256},
    {"phi3", GATED | FUSED_QKV | FUSED_GATE, 0},
    {"phi", EVERY_BIAS | ONE_NORM | HEAD_BIAS | FFN_FOUR, 0},
    {"gpt2", EVERY_BIAS | TIED | FUSED_QKV | POSITIONS | FFN_FOUR, 0},
    {"gpt_neo", NORM_BIAS | OUT_BIAS | MLP_BIAS | TIED | POSITIONS | FFN_FOUR, 0},
    {"gpt_neox", EVERY_BIAS | FUSED_QKV | FFN_FOUR, 0},
    {"gptj", NORM_BIAS | MLP_BIAS | HEAD_BIAS | ONE_NORM | FFN_FOUR, 0},
    {"opt", EVERY_BIAS | TIED | POSITIONS, 0},
    {"xglm", EVERY_BIAS | TIED, 0},
    {"bloom", EVERY_BIAS | TIED | FUSED_QKV | FFN_FOUR, 0},
    {"falcon RefinedWeb RefinedWebModel", NORM_BIAS | TIED | FUSED_QKV | FFN_FOUR, 0},
    {"mpt", TIED | FUSED_QKV | FFN_FOUR, 0},
    {"stablelm", GATED | NORM_BIAS | QKV_KEY, 0},
    {"chatglm", GATED | FUSED_QKV | FUSED_GATE | QKV_KEY, 0},
    {"qwen", GATED | FUSED_QKV | QKV_BIAS, 0},
    {"olmo", GATED | NORM_NONE | ATTENTION_KEY, 0},
    {"olmo2", GATED | QK_NORM_WIDE | ATTENTION_KEY, 0},
    {"cohere", GATED | TIED | ONE_NORM | ATTENTION_KEY, 0},
    {"persimmon", EVERY_BIAS | FUSED_QKV, 0},
    {"exaone4", GATED | QK_NORM, 0},
    {"mixtral", GATED, 0},
    {"olmoe", GATED | QK_NORM_WIDE | ATTENTION_KEY, 0},
    {"qwen2_moe", GATED | QKV_BIAS, 0},
    {"qwen3_moe", GATED | QK_NORM | ATTENTION_KEY, 0},
    {"granitemoe", GATED | ATTENTION_KEY, 0},
    {"gpt_oss", QKV_BIAS | OUT_BIAS | GATED, 0},
    {"deepseek_v2 deepseek_v3", GATED, 0},
    {"llama4_text", GATED | ATTENTION_KEY, 0},
    {"jetmoe", GATED | TIED, 0},
};

enum { FAMILIES = sizeof(families) / sizeof(families[0]) };

static bool is_listed(const char *names, const char *name)
{
    size_t length = strlen(name);

    for (const char *p = names; length > 0 && (p = strstr(p, name)); p += length)
        if ((p == names || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0'))
            return true;
    return false;
}

static bool is_type(const struct hf_count *c, const char *names)
{
    return is_listed(names, c->model_type);
}

void hm__hf_decoder_names(struct hm_text *out)
{
    for (size_t i = 0; i < FAMILIES; i++)
        for (const char *p = families[i].names; *p; p += *p == ' ') {
            size_t length = strcspn(p, " ");
            hm__text_add(out, out->length ? ", " : "");
            hm__text_add_n(out, p, length);
            p += length;
        }
}

/* ---- attention ------------------------------------------------------------------------------ */

/* Returns the flags (traits) of a family after the configuration has switched biases on or off. */
static unsigned effective_traits(const struct hf_count *c, const struct decoder_family *f)
{
    unsigned traits = f->traits;

    if (is_type(c, "falcon RefinedWeb RefinedWebModel") && hm__hf_flag(c, "bias", false))
        traits |= QKV_BIAS | OUT_BIAS | MLP_BIAS;
    if (is_type(c, "mpt") && !hm__hf_flag(c, "no_bias", true))
        traits |= EVERY_BIAS;
    if (traits & ATTENTION_KEY && hm__hf_flag(c, "attention_bias", false))
        traits |= QKV_BIAS | OUT_BIAS;
    if (is_type(c, "gpt_neox") && !hm__hf_flag(c, "attention_bias", true))
        traits &= ~(unsigned)(QKV_BIAS | OUT_BIAS);
    if (traits & QKV_KEY && hm__hf_flag(c, "use_qkv_bias|add_qkv_bias|qkv_bias", false))
        traits |= QKV_BIAS;
    if (hm__hf_flag(c, "mlp_bias|add_bias_linear|use_bias", false))
        traits |= MLP_BIAS;
    if (is_type(c, "ernie4_5 chatglm") && hm__hf_flag(c, "use_bias|add_bias_linear", false))
        traits |= QKV_BIAS | OUT_BIAS;
    return traits;
}

/*
 * Adds the parameters of DeepSeek's attention, whose keys and values are computed from a small
 * latent vector.
 */
static void add_latent_attention(struct hf_count *c, double layers)
{
    bool bias = hm__hf_flag(c, "attention_bias", false);

    c->q_rank = hm__hf_number(c, "q_lora_rank", 0);
    c->kv_rank = hm__hf_need(c, "kv_lora_rank");
    c->rope_dim = hm__hf_need(c, "qk_rope_head_dim");
    c->nope_dim = hm__hf_need(c, "qk_nope_head_dim");
    c->value_dim = hm__hf_need(c, "v_head_dim");
    double width = c->nope_dim + c->rope_dim;
    if (c->q_rank > 0) {
        hm__hf_linear(c, c->hidden, c->q_rank, bias, layers);
        hm__hf_norm(c, c->q_rank, false, layers);
        hm__hf_linear(c, c->q_rank, c->heads * width, false, layers);
    } else {
        hm__hf_linear(c, c->hidden, c->heads * width, false, layers);
    }
    hm__hf_linear(c, c->hidden, c->kv_rank + c->rope_dim, bias, layers);
    hm__hf_norm(c, c->kv_rank, false, layers);
    hm__hf_linear(c, c->kv_rank, c->heads * (c->nope_dim + c->value_dim), false, layers);
    hm__hf_linear(c, c->heads * c->value_dim, c->hidden, bias, layers);
    c->key_width = c->heads * (width + c->value_dim);
}

static void add_qk_norms(struct hf_count *c, unsigned traits, double layers)
{
    double query = c->heads * c->head_dim, key = c->kv_heads * c->head_dim;

    if (traits & QK_NORM || (is_type(c, "persimmon phi") && hm__hf_flag(c, "qk_layernorm", false)))
        hm__hf_norm(c, c->head_dim, (traits & NORM_BIAS) != 0, 2 * layers);
    if (traits & QK_NORM_WIDE || (is_type(c, "cohere") && hm__hf_flag(c, "use_qk_norm", false))) {
        hm__hf_norm(c, query, false, layers);
        hm__hf_norm(c, key, false, layers);
    }
}

static void add_attention(struct hf_count *c, unsigned traits, double layers)
{
    double query = c->heads * c->head_dim, key = c->kv_heads * c->head_dim;
    bool bias = traits & QKV_BIAS;

    if (is_type(c, "deepseek_v2 deepseek_v3")) {
        add_latent_attention(c, layers);
        return;
    }
    c->key_width = 2 * query;
    if (traits & FUSED_QKV) {
        hm__hf_linear(c, c->hidden, query + 2 * key, bias, layers);
    } else {
        hm__hf_linear(c, c->hidden, query, bias, layers);
        hm__hf_linear(c, c->hidden, key, bias, 2 * layers);
    }
    hm__hf_linear(c, query, c->hidden, traits & OUT_BIAS, layers);
    add_qk_norms(c, traits, layers);
    if (is_type(c, "gpt_oss"))
        /* GPT-OSS has one parameter per attention head, the attention sink. */
        hm__hf_tensor(c, c->heads, layers);
}

/* ---- feed-forward parts ---------------------------------------------------------------------- */

static void add_ffn(struct hf_count *c, unsigned traits, double width, double layers)
{
    bool bias = traits & MLP_BIAS;

    if (traits & GATED && traits & FUSED_GATE)
        hm__hf_linear(c, c->hidden, 2 * width, bias, layers);
    else
        hm__hf_linear(c, c->hidden, width, bias, (traits & GATED ? 2 : 1) * layers);
    hm__hf_linear(c, width, c->hidden, bias, layers);
}

/*
 * Adds the parameters of routed experts. If `each` is true, every expert has `tensors` tensors;
 * otherwise `tensors` tensors hold all experts of a layer. `biases` is the number of bias elements
 * of one expert.
 */
static void add_experts(struct hf_count *c, double layers, double biases, double tensors, bool each)
{
    double weights = 3 * c->hidden * c->expert_ffn, all = weights + biases;

    c->parameters += layers * c->experts * all;
    c->routed += layers * c->experts * all;
    c->routed_active += layers * c->experts_per_token * all;
    c->products += layers * c->experts_per_token * weights;
    c->tensors += layers * tensors * (each ? c->experts : 1);
}

static void add_router(struct hf_count *c, bool bias, double layers)
{
    hm__hf_linear(c, c->hidden, c->experts, bias, layers);
}

/* Adds the parameters of a shared expert, which processes every token. */
static void add_shared(struct hf_count *c, double width, double layers)
{
    c->shared_ffn = width;
    hm__hf_linear(c, c->hidden, width, false, 2 * layers);
    hm__hf_linear(c, width, c->hidden, false, layers);
}

/* Returns the number of layers with experts; the other layers are dense. */
static double expert_layers(struct hf_count *c)
{
    if (is_type(c, "deepseek_v2 deepseek_v3")) {
        c->dense_layers = fmin(hm__hf_number(c, "first_k_dense_replace", 0), c->layers);
        return c->layers - c->dense_layers;
    }
    if (is_type(c, "llama4_text"))
        return floor(c->layers / fmax(1, hm__hf_number(c, "interleave_moe_layer_step", 1)));
    if (is_type(c, "qwen2_moe qwen3_moe")) {
        const struct hm_value *only = hm__value_get(c->config, "mlp_only_layers");
        double step = fmax(1, hm__hf_number(c, "decoder_sparse_step", 1));
        double dense = only && only->kind == HM_VALUE_LIST ? (double)only->count : 0;
        return fmax(0, floor(c->layers / step) - dense);
    }
    return c->layers;
}

static void read_experts(struct hf_count *c)
{
    c->experts = hm__hf_need(c, "num_local_experts|num_experts|n_routed_experts");
    c->experts_per_token =
        hm__hf_need(c, "num_experts_per_tok|experts_per_token|num_experts_per_token");
    c->expert_ffn = hm__hf_number(c, "moe_intermediate_size", c->ffn);
}

static void add_mixture(struct hf_count *c, unsigned traits)
{
    read_experts(c);
    double layers = expert_layers(c), dense = c->layers - layers;
    bool shared_count = is_type(c, "deepseek_v2 deepseek_v3");

    c->dense_layers = dense;
    if (dense > 0)
        add_ffn(c, traits,
                is_type(c, "llama4_text") ? hm__hf_number(c, "intermediate_size_mlp", c->ffn)
                                          : c->ffn,
                dense);
    if (is_type(c, "gpt_oss")) {
        add_router(c, true, layers);
        add_experts(c, layers, 2 * c->expert_ffn + c->hidden, 4, false);
        return;
    }
    add_router(c, false, layers);
    bool packed = is_type(c, "granitemoe llama4_text");
    add_experts(c, layers, 0, packed ? 2 : 3, !packed);
    if (shared_count) {
        double shared = hm__hf_number(c, "n_shared_experts", 0);
        const struct hm_value *method = hm__value_get(c->config, "topk_method");
        if (shared > 0)
            add_shared(c, shared * c->expert_ffn, layers);
        if (method && method->text && strcmp(method->text, "noaux_tc") == 0)
            hm__hf_tensor(c, c->experts, layers); /* The router has one bias for each expert. */
    } else if (is_type(c, "llama4_text")) {
        add_shared(c, c->expert_ffn, layers);
    } else if (is_type(c, "qwen2_moe")) {
        add_shared(c, hm__hf_need(c, "shared_expert_intermediate_size"), layers);
        hm__hf_linear(c, c->hidden, 1, false, layers);
    }
}

/* JetMoE has experts not only in the feed-forward layer but also in its attention. */
static void add_jetmoe(struct hf_count *c)
{
    double width = hm__hf_need(c, "kv_channels") * c->kv_heads;

    read_experts(c);
    hm__hf_linear(c, c->hidden, 2 * width, false, c->layers);
    for (int part = 0; part < 2; part++) {
        double weights = part ? 3 * c->hidden * c->ffn : 2 * c->hidden * width;
        hm__hf_tensor(c, c->hidden, c->layers);
        add_router(c, false, c->layers);
        c->parameters += c->layers * c->experts * weights;
        c->routed += c->layers * c->experts * weights;
        c->routed_active += c->layers * c->experts_per_token * weights;
        c->products += c->layers * c->experts_per_token * weights;
        c->tensors += 2 * c->layers;
    }
    c->key_width = 2 * width * c->experts_per_token;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/*
 * Returns the number of parameters in DeepSeek's layers for multi-token prediction. They are stored
 * with the model, but are not counted as parameters of the model.
 */
static double next_token_layers(const struct hf_count *c)
{
    double count = hm__hf_number(c, "num_nextn_predict_layers", 0);

    if (!is_type(c, "deepseek_v3") || count == 0 || c->layers <= c->dense_layers)
        return 0;
    struct hf_count one = *c;
    one.parameters = 0;
    /* add_mixture also counts the dense layers, which are subtracted below. */
    one.layers = 1 + c->dense_layers;
    add_attention(&one, GATED, 1);
    hm__hf_norm(&one, one.hidden, false, 2);
    add_mixture(&one, GATED);
    if (c->dense_layers > 0)
        one.parameters -= 3 * c->hidden * c->ffn * c->dense_layers;
    return count * (one.parameters + 2 * c->hidden * c->hidden + 3 * c->hidden +
                    2 * c->vocabulary * c->hidden);
}

static void read_shape(struct hf_count *c, const struct decoder_family *f)
{
    c->hidden = hm__hf_need(c, "hidden_size|n_embd|d_model|dim|n_embed");
    c->layers = hm__hf_need(c, "num_hidden_layers|n_layer|n_layers|num_layers");
    c->heads = hm__hf_need(c, "num_attention_heads|n_head|n_heads|num_heads|attention_heads");
    c->vocabulary =
        hm__hf_number(c, "padded_vocab_size|vocab_size", is_type(c, "gemma3") ? 262208 : 0);
    if (c->vocabulary == 0)
        c->missing = "vocab_size";
    double ffn = hm__hf_number(c, "intermediate_size|n_inner|ffn_dim|d_ff|ffn_hidden_size", 0);
    if (is_type(c, "mpt"))
        ffn = c->hidden * hm__hf_ratio(c, "expansion_ratio", 4);
    if (ffn == 0 && f->traits & FFN_FOUR)
        ffn = 4 * c->hidden;
    c->ffn = is_type(c, "qwen") ? ffn / 2 : ffn;
    if (c->ffn == 0)
        c->missing = "intermediate_size";
    c->head_dim = hm__hf_number(c, "head_dim|kv_channels|d_kv", f->head_dim);
    if (c->head_dim == 0)
        c->head_dim = c->hidden / c->heads;
    c->kv_heads = hm__hf_number(c, "num_key_value_heads|num_kv_heads|n_head_kv", c->heads);
    if (is_type(c, "chatglm"))
        c->kv_heads = hm__hf_flag(c, "multi_query_attention", false)
                          ? hm__hf_need(c, "multi_query_group_num")
                          : c->heads;
    if (is_type(c, "falcon RefinedWebModel") && !hm__hf_flag(c, "new_decoder_architecture", false))
        c->kv_heads = hm__hf_flag(c, "multi_query", true) ? 1 : c->heads;
    c->context = hm__hf_number(c, "max_position_embeddings|n_positions|seq_length|max_seq_len", 0);
    c->gated = f->traits & GATED;
    c->tied = hm__hf_flag(c, "tie_word_embeddings", (f->traits & TIED) != 0);
}

static void add_layer_norms(struct hf_count *c, unsigned traits)
{
    double norms = traits & ONE_NORM ? 1 : traits & FOUR_NORMS ? 4 : 2;

    if (is_type(c, "falcon RefinedWebModel") &&
        !hm__hf_flag(c, "new_decoder_architecture", false) && hm__hf_flag(c, "parallel_attn", true))
        norms = 1;
    if (traits & NORM_NONE)
        return;
    hm__hf_norm(c, c->hidden, traits & NORM_BIAS, norms * c->layers);
    hm__hf_norm(c, c->hidden, traits & NORM_BIAS, 1);
}

static void add_embeddings(struct hf_count *c, unsigned traits)
{
    double width =
        is_type(c, "opt") ? hm__hf_number(c, "word_embed_proj_dim", c->hidden) : c->hidden;

    hm__hf_words(c, c->vocabulary, width);
    if (width != c->hidden)
        hm__hf_linear(c, width, c->hidden, false, 2);
    if (traits & POSITIONS) {
        double rows = c->context + (is_type(c, "opt") ? 2 : 0);
        hm__hf_tensor(c, rows * c->hidden, 1);
        c->positions += rows * c->hidden;
    }
    const struct hm_value *attention = hm__value_get(c->config, "attn_config");
    const struct hm_value *alibi = hm__value_get(attention, "alibi");
    bool alibi_on = alibi && alibi->text && strcmp(alibi->text, "true") == 0;
    if (is_type(c, "mpt") && hm__hf_flag(c, "learned_pos_emb", true) && !alibi_on &&
        !hm__hf_flag(c, "alibi", false)) {
        hm__hf_tensor(c, c->context * c->hidden, 1);
        c->positions += c->context * c->hidden;
    }
    if (is_type(c, "bloom"))
        hm__hf_norm(c, c->hidden, true, 1);
}

static void add_head(struct hf_count *c, unsigned traits)
{
    if (c->head == HF_HEAD_LM) {
        c->products += c->tied ? c->hidden * c->vocabulary : 0;
        if (!c->tied)
            hm__hf_linear(c, c->hidden, c->vocabulary, traits & HEAD_BIAS, 1);
        else if (traits & HEAD_BIAS)
            hm__hf_tensor(c, c->vocabulary, 1);
    } else if (c->head == HF_HEAD_CLASSIFIER) {
        hm__hf_linear(c, c->hidden, hm__hf_number(c, "num_labels", 2), false, 1);
    }
}

bool hm__hf_count_decoder(struct hf_count *c)
{
    const struct decoder_family *f = families;

    while (f < families + FAMILIES && !is_listed(f->names, c->model_type))
        f++;
    if (f == families + FAMILIES)
        return false;
    read_shape(c, f);
    unsigned traits = effective_traits(c, f);
    add_embeddings(c, traits);
    if (is_type(c, "jetmoe"))
        add_jetmoe(c);
    else
        add_attention(c, traits, c->layers);
    add_layer_norms(c, traits);
    if (is_type(c, "mixtral olmoe qwen2_moe qwen3_moe granitemoe gpt_oss deepseek_v2 deepseek_v3 "
                   "llama4_text"))
        add_mixture(c, traits);
    else if (!is_type(c, "jetmoe"))
        add_ffn(c, traits, c->ffn, c->layers);
    add_head(c, traits);
    c->norm_bias = traits & NORM_BIAS;
    c->qk_norm = traits & QK_NORM;
    if (traits & QKV_BIAS)
        c->bias = traits & MLP_BIAS ? "all" : "qkv";
    c->extra = next_token_layers(c);
    c->plain = !is_type(c, "jetmoe");
    return true;
}
