/*
 * Reads config.json of Hugging Face models and creates a network with its exact number of
 * parameters. The keys differ between families of models, and a missing key means the default of
 * that family; hf_decoder.c and hf_other.c describe the families. A family that is not known is an
 * error; its parameters are never estimated.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "hf_count.h"
#include "import.h"
#include "pull.h"

/* ---- counting -------------------------------------------------------------------------------- */

/*
 * Copies the next name from a list of names separated by '|' and advances `names`; returns false
 * after the last name.
 */
static bool next_name(const char **names, char name[64])
{
    size_t length = strcspn(*names, "|");

    if (length == 0)
        return false;
    snprintf(name, 64, "%.*s", (int)length, *names);
    *names += length + ((*names)[length] == '|');
    return true;
}

/* Largest number that is accepted as a size, such as a number of layers, in a configuration. */
static const double SIZE_MOST = 1e9;

static double hf_read(const struct hf_count *c, const char *names, bool whole, double fallback)
{
    char name[64];

    while (next_name(&names, name)) {
        const struct hm_value *v = hm__value_get(c->config, name);
        if (!v || v->kind == HM_VALUE_NULL)
            continue;
        double value = hm__value_number(c->config, name);
        if (value >= 0 && value <= SIZE_MOST && (!whole || value == floor(value)))
            return value;
        if (!c->wrong->key[0]) {
            memcpy(c->wrong->key, name, sizeof(name));
            c->wrong->whole = whole;
        }
        return fallback;
    }
    return fallback;
}

double hm__hf_number(const struct hf_count *c, const char *names, double fallback)
{
    return hf_read(c, names, true, fallback);
}

double hm__hf_ratio(const struct hf_count *c, const char *names, double fallback)
{
    return hf_read(c, names, false, fallback);
}

double hm__hf_need(struct hf_count *c, const char *names)
{
    double value = hm__hf_number(c, names, NAN);

    if (isnan(value) || value == 0) {
        if (!c->missing)
            c->missing = names;
        return 1;
    }
    return value;
}

bool hm__hf_flag(const struct hf_count *c, const char *names, bool fallback)
{
    char name[64];

    while (next_name(&names, name)) {
        const struct hm_value *v = hm__value_get(c->config, name);
        if (v && v->kind == HM_VALUE_SCALAR && !v->quoted)
            return strcmp(v->text, "true") == 0;
    }
    return fallback;
}

void hm__hf_tensor(struct hf_count *c, double size, double copies)
{
    c->parameters += size * copies;
    c->tensors += copies;
}

void hm__hf_linear(struct hf_count *c, double in, double out, bool bias, double copies)
{
    hm__hf_tensor(c, in * out, copies);
    c->products += in * out * copies;
    if (bias)
        hm__hf_tensor(c, out, copies);
}

void hm__hf_norm(struct hf_count *c, double size, bool bias, double copies)
{
    hm__hf_tensor(c, size, copies);
    if (bias)
        hm__hf_tensor(c, size, copies);
}

void hm__hf_words(struct hf_count *c, double rows, double width)
{
    hm__hf_tensor(c, rows * width, 1);
    c->embedding += rows * width;
    c->words += rows * width;
}

/* ---- the class of the model ------------------------------------------------------------------ */

static const char *config_text(const struct hm_value *config, const char *key)
{
    const struct hm_value *v = hm__value_get(config, key);

    return v && v->kind == HM_VALUE_SCALAR && v->quoted ? v->text : NULL;
}

/*
 * Returns the model class that the user specifies with `architecture=`, or else the first class in
 * the key `architectures`; NULL if there is none.
 */
static const char *class_name(const struct hm_imported *im, const struct hm_value *config)
{
    const struct hm_value *list = hm__value_get(config, "architectures");

    const char *given = hm__import_given_text(im, "architecture");

    if (given)
        return given;
    if (list && list->kind == HM_VALUE_LIST && list->count > 0 && list->items[0].quoted)
        return list->items[0].text;
    return NULL;
}

static void set_head(struct hf_count *c, const char *name)
{
    static const char *const classifiers[] = {"ForSequenceClassification", "ForImageClassification",
                                              "ForTokenClassification",    "ForQuestionAnswering",
                                              "ForSequenceScore",          "RewardModel"};

    c->head = HF_HEAD_LM;
    if (!name)
        return;
    for (size_t i = 0; i < sizeof(classifiers) / sizeof(classifiers[0]); i++)
        if (strstr(name, classifiers[i]))
            c->head = HF_HEAD_CLASSIFIER;
    c->each_token = strstr(name, "ForTokenClassification") || strstr(name, "ForQuestionAnswering");
    size_t length = strlen(name);
    bool body = length > 5 && strcmp(name + length - 5, "Model") == 0 && !strstr(name, "LMHead");
    if (body && c->head == HF_HEAD_LM && strcmp(c->model_type, "chatglm") != 0)
        c->head = HF_HEAD_POOLER;
    c->decoder_only = strstr(name, "ForCausalLM") != NULL;
}

/* ---- the document -----------------------------------------------------------------------------
 */

static void add_key(struct hm_text *out, const char *key, double value)
{
    if (value > 0)
        hm__text_addf(out, "  %s: %.0f\n", key, value);
}

/* Writes the network of a decoder as the sizes of its layers. */
static void write_shape(struct hm_text *out, const struct hf_count *c)
{
    hm__text_add(out, "  kind: transformer\n");
    add_key(out, "layers", c->layers);
    add_key(out, "hidden", c->hidden);
    add_key(out, "ffn", c->ffn);
    add_key(out, "heads", c->heads);
    if (c->kv_rank == 0) {
        add_key(out, "kv_heads", c->kv_heads);
        add_key(out, "head_dim", c->head_dim);
    }
    add_key(out, "vocabulary", c->vocabulary);
    hm__text_addf(out, "  gated: %s\n", c->gated ? "true" : "false");
    hm__text_addf(out, "  tied: %s\n", c->tied ? "true" : "false");
    add_key(out, "experts", c->experts);
    add_key(out, "experts_per_token", c->experts_per_token);
    add_key(out, "expert_ffn", c->experts > 0 ? c->expert_ffn : 0);
    add_key(out, "shared_ffn", c->shared_ffn);
    add_key(out, "dense_layers", c->experts > 0 ? c->dense_layers : 0);
    if (c->experts > 0 && hm__hf_number(c, "n_group", 1) > 1) {
        add_key(out, "expert_groups", hm__hf_number(c, "n_group", 1));
        add_key(out, "groups_per_token", hm__hf_number(c, "topk_group", 1));
    }
    if (c->positions > 0)
        add_key(out, "positions", c->positions / c->hidden);
    if (c->norm_bias)
        hm__text_add(out, "  norm_bias: true\n");
    if (c->qk_norm)
        hm__text_add(out, "  qk_norm: true\n");
    if (c->bias)
        hm__text_addf(out, "  bias: %s\n", c->bias);
    if (c->kv_rank > 0) {
        hm__text_add(out, "  latent: {");
        if (c->q_rank > 0)
            hm__text_addf(out, "rank_q: %.0f, ", c->q_rank);
        hm__text_addf(out, "rank_kv: %.0f, dim_nope: %.0f, dim_rope: %.0f, dim_v: %.0f}\n",
                      c->kv_rank, c->nope_dim, c->rope_dim, c->value_dim);
    }
}

/*
 * Longest sequence that a plan assumes if the user does not specify a length. The contexts in
 * configurations are often much longer than the sequences used in pre-training.
 */
enum { USUAL_SEQUENCE = 8192 };

/*
 * Proposes a sequence length and a batch for plans. The batch in tokens grows with the size of the
 * network, as it does in the GPT-3 models.
 */
static void assume_batch(struct hm_imported *im, const struct hf_count *c)
{
    double sequence = c->context > 0 ? fmin(c->context, USUAL_SEQUENCE) : 2048;

    if (!c->plain) {
        hm__import_assume(im, "batch", "256");
        return;
    }
    hm__import_assume(im, "sequence", "%.0f", sequence);
    hm__import_assume(im, "batch", "%s",
                      c->parameters < 1e9   ? "512K tokens"
                      : c->parameters < 4e9 ? "1M tokens"
                                            : "4M tokens");
}

/*
 * Writes the network as two totals: the number of parameters, and the flop of the forward pass of
 * one sample. A sample is a sequence as long as the context in the configuration, at most
 * USUAL_SEQUENCE, or one token if the configuration has no context.
 */
static void write_totals(struct hm_imported *im, const struct hf_count *c)
{
    double tokens = c->context > 0 ? fmin(c->context, USUAL_SEQUENCE) : 1;
    double macs = tokens * (c->products + (tokens > 1 ? c->layers * c->key_width * tokens : 0));

    hm__text_addf(&im->document, "  parameters: %.0f\n  forward: %.0f flop\n", c->parameters,
                  2 * macs);
    if (tokens > 1)
        hm__import_note(im, "a sample is a sequence of %.0f tokens", tokens);
    else
        hm__import_note(im, "forward is the work of one token: a sample of several tokens takes "
                            "that many times as much");
}

static void write_document(struct hm_imported *im, const struct hf_count *c)
{
    struct hm_text *out = &im->document;

    im->document_kind = "network";
    hm__text_add(out, "name: ");
    hm__json_text(out, c->model_type);
    hm__text_add(out, "\nnetwork:\n");
    if (c->plain) {
        write_shape(out, c);
        hm__text_addf(out, "  published: {parameters: %.0f}", c->parameters);
        if (c->routed > 0)
            hm__text_addf(out, " # %.0f of them active for a token",
                          c->parameters - c->routed + c->routed_active);
        hm__text_add(out, "\n");
    } else if (hm__hf_write_layers(out, c)) {
        hm__text_addf(out, "  published: {parameters: %.0f}\n", c->parameters);
        hm__import_note(im, "a sample is %s of %.0f tokens",
                        c->layout == HF_LAYERS_VIT ? "an image" : "a sequence", c->sequence);
    } else {
        write_totals(im, c);
    }
    assume_batch(im, c);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static void write_facts(struct hm_imported *im, const struct hf_count *c, const char *name)
{
    struct hm_json *j = &im->facts;
    double active = c->parameters - c->routed + c->routed_active;
    const char *quantised =
        config_text(hm__value_get(c->config, "quantization_config"), "quant_method");

    hm__json_put_text(j, "model_type", c->model_type);
    hm__json_put_text(j, "architecture", name);
    hm__fact_whole(im, "parameters", c->parameters);
    hm__fact_whole(im, "active_parameters", active);
    hm__fact_whole(im, "active_parameters_without_input_embedding", active - c->embedding);
    hm__fact_whole(im, "input_embedding_parameters", c->embedding);
    hm__fact_whole(im, "word_embedding_parameters", c->words);
    hm__fact_whole(im, "position_embedding_parameters", c->positions);
    hm__fact_whole(im, "routed_expert_parameters", c->routed);
    hm__fact_whole(im, "tensors", c->tensors);
    hm__fact_whole(im, "bytes_bf16", 2 * c->parameters);
    if (c->extra > 0)
        hm__fact_whole(im, "extra_mtp_parameters", c->extra);
    hm__fact_whole(im, "layers", c->layers);
    hm__fact_whole(im, "hidden", c->hidden);
    hm__fact_whole(im, "vocab", c->vocabulary > 0 ? c->vocabulary : -1);
    hm__fact_whole(im, "context", c->context > 0 ? c->context : -1);
    hm__json_put_bool(j, "tied", c->tied);
    hm__fact_whole(im, "forward_macs_per_token", c->products);
    hm__fact_whole(im, "attention_macs_per_token_of_context", c->layers * c->key_width);
    if (quantised)
        hm__json_put_text(j, "quantised", quantised);
}

static void say_counts(struct hm_imported *im, const struct hf_count *c)
{
    double active = c->parameters - c->routed + c->routed_active;

    hm__import_took(im, c->parameters, "parameters of the network");
    if (c->routed > 0)
        hm__import_took(im, active, "parameters active for one token");
    hm__import_left(im, c->extra, "parameters of layers that predict further tokens");
    if (hm__value_get(c->config, "quantization_config"))
        hm__import_note(im, "the weights are stored quantised; parameters are counted before that");
}

static int fail_type(const char *type, struct hm_err *err)
{
    struct hm_text names = {0};

    hm__hf_decoder_names(&names);
    hm__hf_other_names(&names);
    hm__fail(err, HM_E_NAME, "model_type '%.60s' is not known", type);
    hm__err_hint(err, "give its weight index (model.safetensors.index.json) instead; known are %s",
                 names.data ? names.data : "");
    hm__text_release(&names);
    return HM_E_NAME;
}

static int fail_wrong(const struct hf_wrong *wrong, struct hm_err *err)
{
    hm__fail(err, HM_E_RANGE, "%s must be a %s from 0 to %g", wrong->key,
             wrong->whole ? "whole number" : "number", SIZE_MOST);
    hm__err_field(err, wrong->key);
    return HM_E_RANGE;
}

/*
 * Counts the parameters of a configuration. If it has a map text_config, which describes the
 * language model inside a larger model, only that map is counted.
 */
static int count_config(struct hm_imported *im, const struct hm_value *config, struct hm_err *err)
{
    const struct hm_value *text = hm__value_get(config, "text_config");
    const char *outer = config_text(config, "model_type"), *name = class_name(im, config);
    struct hf_wrong wrong = {.whole = false};
    struct hf_count c = {.config = config, .model_type = outer ? outer : "", .wrong = &wrong};

    if (text && text->kind == HM_VALUE_MAP) {
        const char *inner = config_text(text, "model_type");
        c.config = text;
        c.model_type = inner ? inner : c.model_type;
        if (hm__value_get(config, "vision_config"))
            hm__import_left(im, NAN, "the vision part: only the language model is counted");
    }
    set_head(&c, name);
    if (!hm__hf_count_decoder(&c) && !hm__hf_count_other(&c))
        return fail_type(c.model_type, err);
    if (wrong.key[0])
        return fail_wrong(&wrong, err);
    if (c.missing) {
        hm__fail(err, HM_E_MISSING, "a %s needs the key %s", c.model_type, c.missing);
        hm__err_field(err, c.missing);
        return HM_E_MISSING;
    }
    if (c.experts_per_token > c.experts) {
        hm__fail(err, HM_E_CONFLICT, "a token uses %g experts, but a layer has %g",
                 c.experts_per_token, c.experts);
        hm__err_field(err, "num_experts_per_tok");
        return HM_E_CONFLICT;
    }
    if (!(c.parameters > 0 && c.parameters + c.extra < 9007199254740992.0 && c.products < 9e15))
        return hm__fail(err, HM_E_RANGE, "the sizes give %g parameters", c.parameters);
    if (!name)
        hm__import_note(im, "the file names no class: a model with a head of its usual kind is "
                            "counted");
    write_facts(im, &c, name);
    say_counts(im, &c);
    write_document(im, &c);
    return 0;
}

static int config_read(struct hm_imported *im, struct hm_err *err)
{
    struct hm_value *config = NULL;
    struct hm_pull pull;
    bool whole = false;
    int rc = hm__pull_init(&pull, &im->in, err);

    if (rc == 0)
        rc = hm__pull_tree(&pull, im->arena, im->name, &config, &whole, err);
    bool more = rc == 0 && whole && hm__pull_next(&pull) != HM_PULL_END;
    hm__pull_release(&pull);
    hm__json_put_text(&im->facts, "format", "huggingface config.json");
    if (rc == 0 && !whole) {
        hm__import_cut(im);
        hm__import_note(im, "nothing is counted, because keys may be missing");
        return 0;
    }
    if (rc == 0 && config->kind != HM_VALUE_MAP)
        return hm__fail(err, HM_E_TYPE, "is %s, not a JSON object", hm__value_kind_name(config));
    if (rc == 0 && more)
        return hm__fail(err, HM_E_SYNTAX, "has more text after the JSON object");
    return rc ? rc : count_config(im, config, err);
}

static int config_recognise(const struct hm_import_head *head)
{
    const char *p = head->text + strspn(head->text, " \t\r\n");

    if (*p != '{')
        return 0;
    if (hm__find(head->text, head->length, "\"model_type\""))
        return hm__find(head->text, head->length, "_size\"") ||
                       hm__find(head->text, head->length, "\"architectures\"")
                   ? 90
                   : 60;
    return hm__find(head->text, head->length, "\"architectures\"") ? 55 : 0;
}

const struct hm_importer hm__importer_hf_config = {
    .name = "hf-config",
    .title = "Hugging Face config.json",
    .becomes = "a network with exact parameters",
    .recognise = config_recognise,
    .read = config_read,
};
