/*
 * Reads transformers from the keys of howmany, or from the keys of a Hugging Face config.json,
 * whose other keys are ignored.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "read_large_job.h"

#define AT(member) offsetof(struct hm_transformer, member)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SIZE(NAME, MEMBER, DOC)                                                                    \
    {                                                                                              \
        .name = NAME, .kind = HM_FIELD_QUANTITY, .offset = AT(MEMBER), .whole = true, .max = 1e13, \
        .doc = DOC                                                                                 \
    }
#define YES_NO(NAME, MEMBER, DOC)                                                                  \
    {                                                                                              \
        .name = NAME, .kind = HM_FIELD_BOOL, .offset = AT(MEMBER), .doc = DOC                      \
    }
#define OTHER(NAME)                                                                                \
    {                                                                                              \
        .name = NAME, .kind = HM_FIELD_OTHER                                                       \
    }

static const char *const biases[] = {"none", "qkv", "all", NULL};

static const struct hm_field fields[] = {
    OTHER("kind"),
    OTHER("name"),
    OTHER("title"),
    OTHER("aliases"),
    OTHER("source"),
    OTHER("date"),
    OTHER("latent"),
    OTHER("published"),
    OTHER("usual"),
    SIZE("layers", layers, "number of layers"),
    SIZE("hidden", hidden, "width of the residual stream"),
    SIZE("ffn", ffn, "width of the feed-forward layer"),
    SIZE("heads", heads, "heads of queries"),
    SIZE("kv_heads", kv_heads, "heads of keys and values"),
    SIZE("head_dim", head_dim, "width of a head"),
    SIZE("vocabulary", vocabulary, "rows of the embedding table"),
    YES_NO("gated", gated, "whether the feed-forward layer has a gate"),
    YES_NO("tied", tied, "whether input and output share the embedding table"),
    YES_NO("encoder", encoder, "whether there is no output head"),
    SIZE("cross_layers", cross_layers, "layers that also attend to an encoder, the other layers"),
    SIZE("experts", experts, "routed experts of a layer"),
    SIZE("experts_per_token", experts_per_token, "routed experts that process one token"),
    SIZE("expert_ffn", expert_ffn, "width of a routed expert"),
    SIZE("shared_ffn", shared_ffn, "width of the shared experts"),
    SIZE("dense_layers", dense_layers, "layers without experts"),
    SIZE("expert_groups", expert_groups, "groups of experts in a layer"),
    SIZE("groups_per_token", groups_per_token, "groups of experts that one token may use"),
    SIZE("positions", positions, "rows of a learned position table"),
    SIZE("norms", norms, "norms of a layer"),
    YES_NO("norm_bias", norm_bias, "whether norms have a bias"),
    YES_NO("qk_norm", qk_norm, "whether queries and keys are normalised"),
    {.name = "bias", .kind = HM_FIELD_CHOICE, .offset = AT(bias), .choices = biases},
    SIZE("other_parameters", other_parameters, "parameters that no other key describes"),
};

static const struct hm_field latent_fields[] = {
    SIZE("rank_q", latent.rank_q, "rank of the queries"),
    SIZE("rank_kv", latent.rank_kv, "rank of keys and values"),
    SIZE("dim_nope", latent.dim_nope, "width of a head without rotary positions"),
    SIZE("dim_rope", latent.dim_rope, "width of a head with rotary positions"),
    SIZE("dim_v", latent.dim_v, "width of a head of values"),
};

static const struct hm_field published_fields[] = {
    SIZE("parameters", published_parameters, "parameters in the literature"),
};

/* Keys of Hugging Face config.json files. */
static const struct hm_field config_fields[] = {
    SIZE("num_hidden_layers", layers, "layers"),
    SIZE("n_layer", layers, "layers"),
    SIZE("hidden_size", hidden, "hidden"),
    SIZE("n_embd", hidden, "hidden"),
    SIZE("intermediate_size", ffn, "ffn"),
    SIZE("n_inner", ffn, "ffn"),
    SIZE("num_attention_heads", heads, "heads"),
    SIZE("n_head", heads, "heads"),
    SIZE("num_key_value_heads", kv_heads, "kv_heads"),
    SIZE("head_dim", head_dim, "head_dim"),
    SIZE("vocab_size", vocabulary, "vocabulary"),
    YES_NO("tie_word_embeddings", tied, "tied"),
    SIZE("num_local_experts", experts, "experts"),
    SIZE("num_experts", experts, "experts"),
    SIZE("n_routed_experts", experts, "experts"),
    SIZE("num_experts_per_tok", experts_per_token, "experts_per_token"),
    SIZE("moe_intermediate_size", expert_ffn, "expert_ffn"),
    SIZE("shared_expert_intermediate_size", shared_ffn, "shared_ffn"),
    SIZE("first_k_dense_replace", dense_layers, "dense_layers"),
    SIZE("n_group", expert_groups, "expert_groups"),
    SIZE("topk_group", groups_per_token, "groups_per_token"),
    SIZE("q_lora_rank", latent.rank_q, "latent.rank_q"),
    SIZE("kv_lora_rank", latent.rank_kv, "latent.rank_kv"),
    SIZE("qk_nope_head_dim", latent.dim_nope, "latent.dim_nope"),
    SIZE("qk_rope_head_dim", latent.dim_rope, "latent.dim_rope"),
    SIZE("v_head_dim", latent.dim_v, "latent.dim_v"),
};

/*
 * Sets values that follow from the type of a model and are not among the keys of its config.json.
 */
static void set_model_type(const struct hm_value *map, struct hm_transformer *network)
{
    const struct hm_value *type = hm__value_get(map, "model_type");

    if (!type || type->kind != HM_VALUE_SCALAR)
        return;
    const char *name = type->text;
    if (strncmp(name, "qwen2", 5) == 0)
        network->bias = HM_LINEAR_BIAS_QKV;
    network->qk_norm = strncmp(name, "qwen3", 5) == 0;
    if (strcmp(name, "gpt2") != 0)
        return;
    network->bias = HM_LINEAR_BIAS_ALL;
    network->norm_bias = network->tied = true;
    if (hm__value_number(map, "n_positions") >= 1)
        network->positions = hm__value_number(map, "n_positions");
}

/* Reads the known keys of a config.json; null means that the key is not given. */
static int read_config(struct hm_reader *reader, const struct hm_value *map,
                       struct hm_transformer *network)
{
    const struct hm_value *act = hm__value_get(map, "hidden_act");
    const struct hm_value *shared = hm__value_get(map, "n_shared_experts");
    int rc = 0;

    set_model_type(map, network);
    network->gated = hm__value_get(map, "intermediate_size") != NULL;
    if (act && act->kind == HM_VALUE_SCALAR)
        network->gated = strcmp(act->text, "gelu") != 0 && strcmp(act->text, "relu") != 0 &&
                         strcmp(act->text, "gelu_new") != 0;
    for (size_t i = 0; rc == 0 && i < COUNT(config_fields); i++) {
        const struct hm_value *value = hm__value_get(map, config_fields[i].name);
        if (!value || value->kind == HM_VALUE_NULL)
            continue;
        size_t mark = hm__reader_enter(reader, config_fields[i].name);
        rc = hm__read_field(reader, value, &config_fields[i], network);
        hm__reader_leave(reader, mark);
    }
    if (rc == 0 && shared && shared->kind == HM_VALUE_SCALAR && network->expert_ffn > 0)
        network->shared_ffn = hm__value_number(map, "n_shared_experts") * network->expert_ffn;
    return rc;
}

static int read_own(struct hm_reader *reader, const struct hm_value *map,
                    struct hm_transformer *network)
{
    const struct hm_value *latent = hm__value_get(map, "latent");
    const struct hm_value *published = hm__value_get(map, "published");
    int rc = hm__read_map(reader, map, fields, COUNT(fields), network);

    if (rc == 0 && latent) {
        size_t mark = hm__reader_enter(reader, "latent");
        rc = hm__read_map(reader, latent, latent_fields, COUNT(latent_fields), network);
        hm__reader_leave(reader, mark);
    }
    if (rc == 0 && published) {
        size_t mark = hm__reader_enter(reader, "published");
        rc = hm__read_map(reader, published, published_fields, COUNT(published_fields), network);
        hm__reader_leave(reader, mark);
    }
    return rc;
}

/* Adds the line and path of the network to an error that names one of its fields. */
static int place_error(struct hm_reader *reader, const struct hm_value *map, int rc)
{
    if (rc && reader->err) {
        char field[64];
        strncpy(field, reader->err->field, sizeof(field) - 1);
        field[sizeof(field) - 1] = '\0';
        reader->err->field[0] = '\0';
        hm__reader_enter(reader, field);
        hm__reader_place(reader, map, rc);
    }
    return rc;
}

/* Reports the first required key that is missing. */
static int check_missing(struct hm_reader *reader, const struct hm_value *map,
                         const struct hm_transformer *x)
{
    const char *missing = isnan(x->layers)       ? "layers"
                          : isnan(x->hidden)     ? "hidden"
                          : isnan(x->heads)      ? "heads"
                          : isnan(x->vocabulary) ? "vocabulary"
                                                 : NULL;

    if (!missing)
        return 0;
    hm__reader_fail(reader, map, HM_E_MISSING, "'%s' is missing", missing);
    hm__err_hint(reader->err, "a transformer needs layers, hidden, heads and vocabulary");
    return HM_E_MISSING;
}

int hm__read_transformer(struct hm_reader *reader, const struct hm_value *map,
                         struct hm_transformer *network)
{
    bool config = hm__value_get(map, "hidden_size") || hm__value_get(map, "n_embd");
    int rc = config ? read_config(reader, map, network) : read_own(reader, map, network);

    if (rc == 0)
        rc = check_missing(reader, map, network);
    if (rc)
        return rc;
    hm__transformer_complete(network);
    return place_error(reader, map, hm__transformer_check(network, reader->err));
}
