/*
 * Counts the parameters of the families of the Hugging Face library that are not plain decoders:
 * encoders, encoder-decoders, state-space and vision models. The layers follow the source code of
 * that library.
 */
#include <math.h>
#include <string.h>

#include "hf_count.h"
#include "text.h"

static bool is_one_of(const struct hf_count *c, const char *name)
{
    return strcmp(c->model_type, name) == 0;
}

static double label_count(const struct hf_count *c)
{
    const struct hm_value *labels = hm__value_get(c->config, "id2label");

    return labels && labels->count > 0 ? (double)labels->count : hm__hf_number(c, "num_labels", 2);
}

/* ---- encoders like BERT ---------------------------------------------------------------------- */

/*
 * Adds the parameters of BERT's layers: attention with four matrices, a feed-forward layer, and a
 * normalisation after each of these; all of them have biases.
 */
static void add_bert_layers(struct hf_count *c, double layers)
{
    hm__hf_linear(c, c->hidden, c->hidden, true, 4 * layers);
    hm__hf_linear(c, c->hidden, c->ffn, true, layers);
    hm__hf_linear(c, c->ffn, c->hidden, true, layers);
    hm__hf_norm(c, c->hidden, true, 2 * layers);
    c->key_width = 2 * c->hidden;
}

static void read_bert(struct hf_count *c)
{
    c->hidden = hm__hf_need(c, "hidden_size|d_model|dim");
    c->layers = hm__hf_need(c, "num_hidden_layers|n_layers|n_layer");
    c->heads = c->kv_heads = hm__hf_need(c, "num_attention_heads|n_heads");
    c->head_dim = c->hidden / c->heads;
    c->ffn = hm__hf_need(c, "intermediate_size|hidden_dim");
    c->vocabulary = hm__hf_need(c, "vocab_size");
    c->context = hm__hf_need(c, "max_position_embeddings");
    c->tied = hm__hf_flag(c, "tie_word_embeddings", true);
}

/*
 * Adds the parameters of the embeddings of words, positions and token types, and of their
 * normalisation.
 */
static void add_bert_embeddings(struct hf_count *c, double width)
{
    c->types = is_one_of(c, "distilbert") ? 0 : hm__hf_number(c, "type_vocab_size", 2);
    double rest = (c->context + c->types) * width;

    hm__hf_words(c, c->vocabulary, width);
    hm__hf_tensor(c, c->context * width, 1);
    if (c->types > 0)
        hm__hf_tensor(c, c->types * width, 1);
    c->positions = c->context * width;
    c->embedding += rest;
    hm__hf_norm(c, width, true, 1);
}

/*
 * Adds the parameters of the head of a language model: a matrix product, a normalisation, the
 * output embedding and a separate bias.
 */
static void add_bert_head(struct hf_count *c, double width, bool pooler)
{
    if (c->head == HF_HEAD_LM) {
        hm__hf_linear(c, c->hidden, width, true, 1);
        hm__hf_norm(c, width, true, 1);
        hm__hf_tensor(c, c->vocabulary, 1);
        if (c->tied)
            c->products += width * c->vocabulary;
        else
            hm__hf_linear(c, width, c->vocabulary, false, 1);
        return;
    }
    c->pooler = pooler && c->head != HF_HEAD_NONE && !c->each_token;
    if (c->pooler)
        hm__hf_linear(c, c->hidden, c->hidden, true, 1);
    c->labels = label_count(c);
    if (c->head == HF_HEAD_CLASSIFIER)
        hm__hf_linear(c, c->hidden, c->labels, true, 1);
}

/* RoBERTa does not use the first two rows of its position table for tokens. */
static void set_text_layers(struct hf_count *c)
{
    const bool shifted =
        is_one_of(c, "roberta") || is_one_of(c, "xlm-roberta") || is_one_of(c, "camembert");

    c->layout = HF_LAYERS_BERT;
    c->sequence = shifted && c->context > 2 ? c->context - 2 : c->context;
}

static void count_bert(struct hf_count *c)
{
    read_bert(c);
    set_text_layers(c);
    add_bert_embeddings(c, c->hidden);
    add_bert_layers(c, c->layers);
    add_bert_head(c, c->hidden, !is_one_of(c, "distilbert") || c->head == HF_HEAD_CLASSIFIER);
}

static void count_electra(struct hf_count *c)
{
    read_bert(c);
    double width = hm__hf_number(c, "embedding_size", c->hidden);
    add_bert_embeddings(c, width);
    if (width != c->hidden)
        hm__hf_linear(c, width, c->hidden, true, 1);
    else
        set_text_layers(c);
    add_bert_layers(c, c->layers);
    add_bert_head(c, width, false);
}

/* In ALBERT, the layers of a group share one set of weights, which is counted once. */
static void count_albert(struct hf_count *c)
{
    read_bert(c);
    double width = hm__hf_number(c, "embedding_size", 128);
    double kinds =
        hm__hf_number(c, "num_hidden_groups", 1) * hm__hf_number(c, "inner_group_num", 1);
    add_bert_embeddings(c, width);
    hm__hf_linear(c, width, c->hidden, true, 1);
    double before = c->products;
    add_bert_layers(c, kinds);
    c->products = before + (c->products - before) / kinds * c->layers;
    add_bert_head(c, width, true);
}

/*
 * In MobileBERT, each layer reduces its input to a smaller width (bottleneck), computes, and widens
 * the result again.
 */
static void count_mobilebert(struct hf_count *c)
{
    read_bert(c);
    double narrow = hm__hf_need(c, "intra_bottleneck_size"),
           width = hm__hf_need(c, "embedding_size");
    double stacks = hm__hf_number(c, "num_feedforward_networks", 4), n = c->layers;
    double types = hm__hf_number(c, "type_vocab_size", 2);

    hm__hf_words(c, c->vocabulary, width);
    hm__hf_tensor(c, c->context * c->hidden, 1);
    hm__hf_tensor(c, types * c->hidden, 1);
    c->positions = c->context * c->hidden;
    c->embedding += (c->context + types) * c->hidden;
    hm__hf_linear(c, width * (hm__hf_flag(c, "trigram_input", true) ? 3 : 1), c->hidden, true, 1);
    hm__hf_norm(c, c->hidden, true, 1);
    hm__hf_linear(
        c, c->hidden, narrow, true,
        /* These matrices reduce the width of the inputs of the layer and of its attention. */
        2 * n);
    hm__hf_norm(c, narrow, true, 2 * n);
    /* These are the matrices that compute queries and keys. */
    hm__hf_linear(c, narrow, narrow, true, 2 * n);
    hm__hf_linear(c, c->hidden, narrow, true, n); /* This is the matrix that computes values. */
    hm__hf_linear(c, narrow, narrow, true, n);
    hm__hf_norm(c, narrow, true, n);
    hm__hf_linear(c, narrow, c->ffn, true, stacks * n);
    hm__hf_linear(c, c->ffn, narrow, true, stacks * n);
    hm__hf_norm(c, narrow, true, stacks * n);
    hm__hf_linear(c, narrow, c->hidden, true, n);
    hm__hf_norm(c, c->hidden, true, n);
    if (c->head == HF_HEAD_LM) {
        hm__hf_linear(c, c->hidden, c->hidden, true, 1);
        hm__hf_norm(c, c->hidden, true, 1);
        hm__hf_linear(c, c->vocabulary, c->hidden - width, false, 1);
        hm__hf_tensor(c, c->vocabulary, 1);
        c->products += width * c->vocabulary;
    }
}

static void count_xlnet(struct hf_count *c)
{
    c->hidden = hm__hf_need(c, "d_model");
    c->layers = hm__hf_need(c, "n_layer");
    c->heads = c->kv_heads = hm__hf_need(c, "n_head");
    c->head_dim = hm__hf_number(c, "d_head", c->hidden / c->heads);
    c->ffn = hm__hf_need(c, "d_inner");
    c->vocabulary = hm__hf_need(c, "vocab_size");
    c->tied = hm__hf_flag(c, "tie_word_embeddings", true);
    double inner = c->heads * c->head_dim, n = c->layers;

    hm__hf_words(c, c->vocabulary, c->hidden);
    hm__hf_tensor(c, c->hidden, 1); /* The embedding of the mask token is a separate vector. */
    hm__hf_linear(c, c->hidden, inner, false, 5 * n);
    hm__hf_tensor(c, inner, 3 * n);
    hm__hf_tensor(c, 2 * inner, n);
    hm__hf_norm(c, c->hidden, true, 2 * n);
    hm__hf_linear(c, c->hidden, c->ffn, true, n);
    hm__hf_linear(c, c->ffn, c->hidden, true, n);
    c->key_width = 2 * inner;
    if (c->head == HF_HEAD_LM) {
        hm__hf_tensor(c, c->vocabulary, 1);
        c->products += c->hidden * c->vocabulary;
    }
}

/* ---- encoder-decoders ------------------------------------------------------------------------ */

/*
 * Counts the parameters of T5, which has no biases; the first layer of each stack has a table of
 * relative positions.
 */
static void add_t5_stack(struct hf_count *c, double layers, bool decoder)
{
    double inner = c->heads * c->head_dim;
    const struct hm_value *kind = hm__value_get(c->config, "encoder_attention_type");
    double table = hm__hf_number(c, "relative_attention_num_buckets", 32) * c->heads;

    hm__hf_linear(c, c->hidden, inner, false, (decoder ? 6 : 3) * layers);
    hm__hf_linear(c, inner, c->hidden, false, (decoder ? 2 : 1) * layers);
    hm__hf_tensor(c, table, 1);
    if (!decoder && kind && kind->text && strcmp(kind->text, "transient-global") == 0) {
        hm__hf_tensor(c, table, 1);
        hm__hf_norm(c, c->hidden, false, layers);
    }
    hm__hf_linear(c, c->hidden, c->ffn, false, (c->gated ? 2 : 1) * layers);
    hm__hf_linear(c, c->ffn, c->hidden, false, layers);
    hm__hf_norm(c, c->hidden, false, (decoder ? 3 : 2) * layers + 1);
}

static void count_t5(struct hf_count *c)
{
    const struct hm_value *act = hm__value_get(c->config, "feed_forward_proj");

    c->hidden = hm__hf_need(c, "d_model");
    c->layers = hm__hf_need(c, "num_layers");
    c->heads = c->kv_heads = hm__hf_need(c, "num_heads");
    c->head_dim = hm__hf_number(c, "d_kv", 64);
    c->ffn = hm__hf_need(c, "d_ff");
    c->vocabulary = hm__hf_need(c, "vocab_size");
    c->context = hm__hf_number(c, "n_positions", 0);
    c->gated = act && act->text && strncmp(act->text, "gated", 5) == 0;
    c->tied = hm__hf_flag(c, "tie_word_embeddings", true);
    c->key_width = 2 * c->heads * c->head_dim;
    hm__hf_words(c, c->vocabulary, c->hidden);
    add_t5_stack(c, c->layers, false);
    if (c->head == HF_HEAD_NONE && strcmp(c->model_type, "t5_encoder") == 0)
        return;
    add_t5_stack(c, hm__hf_number(c, "num_decoder_layers", c->layers), true);
    if (c->head == HF_HEAD_LM && !c->tied)
        hm__hf_linear(c, c->hidden, c->vocabulary, false, 1);
    else if (c->head == HF_HEAD_LM)
        c->products += c->hidden * c->vocabulary;
}

/* Adds the parameters of attention blocks of BART or Whisper; in Whisper, keys have no bias. */
static void add_bart_attention(struct hf_count *c, double blocks, bool key_bias)
{
    hm__hf_linear(c, c->hidden, c->hidden, true, 3 * blocks);
    hm__hf_linear(c, c->hidden, c->hidden, key_bias, blocks);
    hm__hf_norm(c, c->hidden, true, blocks);
}

static void add_bart_layers(struct hf_count *c, bool decoder, bool key_bias)
{
    double layers = hm__hf_need(c, decoder ? "decoder_layers" : "encoder_layers");
    double ffn = hm__hf_need(c, decoder ? "decoder_ffn_dim" : "encoder_ffn_dim");

    add_bart_attention(c, (decoder ? 2 : 1) * layers, key_bias);
    hm__hf_linear(c, c->hidden, ffn, true, layers);
    hm__hf_linear(c, ffn, c->hidden, true, layers);
    hm__hf_norm(c, c->hidden, true, layers);
}

static void add_positions(struct hf_count *c, double rows)
{
    hm__hf_tensor(c, rows * c->hidden, 1);
    c->positions += rows * c->hidden;
}

static void read_bart(struct hf_count *c)
{
    c->hidden = hm__hf_need(c, "d_model");
    c->vocabulary = hm__hf_need(c, "vocab_size");
    c->layers = hm__hf_need(c, c->decoder_only ? "decoder_layers" : "encoder_layers");
    c->heads = c->kv_heads = hm__hf_need(c, "decoder_attention_heads");
    c->head_dim = c->hidden / c->heads;
    c->ffn = hm__hf_need(c, "decoder_ffn_dim");
    c->tied = hm__hf_flag(c, "tie_word_embeddings", true);
    c->key_width = 2 * c->hidden;
    c->context = hm__hf_number(c, "max_position_embeddings|max_target_positions", 0);
}

static void add_tied_head(struct hf_count *c)
{
    if (c->head == HF_HEAD_LM && !c->tied)
        hm__hf_linear(c, c->hidden, c->vocabulary, false, 1);
    else if (c->head == HF_HEAD_LM)
        c->products += c->hidden * c->vocabulary;
}

static void count_bart(struct hf_count *c)
{
    /*
     * BART has two additional rows in its table of positions and normalises its embeddings; Pegasus
     * has a final normalisation.
     */
    double more = is_one_of(c, "bart") || is_one_of(c, "mbart") ? 2 : 0;
    double stacks = c->decoder_only ? 1 : 2;
    double norms = is_one_of(c, "mbart") ? 2 : 1;

    read_bart(c);
    hm__hf_words(c, c->vocabulary, c->hidden);
    for (int s = 0; s < (int)stacks; s++) {
        add_positions(c, c->context + more);
        hm__hf_norm(c, c->hidden, true, norms);
    }
    if (!c->decoder_only)
        add_bart_layers(c, false, true);
    add_bart_layers(c, true, true);
    add_tied_head(c);
}

static void count_whisper(struct hf_count *c)
{
    double mel = hm__hf_number(c, "num_mel_bins", 80);

    read_bart(c);
    if (!c->decoder_only) {
        hm__hf_linear(c, mel * 3, c->hidden, true, 1);
        hm__hf_linear(c, c->hidden * 3, c->hidden, true, 1);
        add_positions(c, hm__hf_number(c, "max_source_positions", 1500));
        add_bart_layers(c, false, false);
        hm__hf_norm(c, c->hidden, true, 1);
    }
    hm__hf_words(c, c->vocabulary, c->hidden);
    add_positions(c, hm__hf_number(c, "max_target_positions", 448));
    add_bart_layers(c, true, false);
    hm__hf_norm(c, c->hidden, true, 1);
    add_tied_head(c);
}

/* ---- recurrent networks ---------------------------------------------------------------------- */

static void count_mamba(struct hf_count *c)
{
    c->hidden = hm__hf_need(c, "hidden_size|d_model");
    c->layers = hm__hf_need(c, "num_hidden_layers|n_layer");
    c->vocabulary = hm__hf_need(c, "vocab_size");
    c->tied = hm__hf_flag(c, "tie_word_embeddings", true);
    double inner = hm__hf_number(c, "intermediate_size", hm__hf_ratio(c, "expand", 2) * c->hidden);
    double state = hm__hf_number(c, "state_size", 16), n = c->layers;
    const struct hm_value *given = hm__value_get(c->config, "time_step_rank");
    double rank = ceil(c->hidden / 16);
    if (!given || !given->quoted || strcmp(given->text, "auto") != 0)
        rank = hm__hf_number(c, "time_step_rank", rank);
    bool bias = hm__hf_flag(c, "use_bias", false);

    hm__hf_words(c, c->vocabulary, c->hidden);
    hm__hf_norm(c, c->hidden, false, n + 1);
    hm__hf_linear(c, c->hidden, 2 * inner, bias, n);
    hm__hf_linear(c, hm__hf_number(c, "conv_kernel", 4), inner,
                  hm__hf_flag(c, "use_conv_bias", true), n);
    hm__hf_linear(c, inner, rank + 2 * state, false, n);
    hm__hf_linear(c, rank, inner, true, n);
    hm__hf_tensor(c, inner * state, n);
    hm__hf_tensor(c, inner, n);
    hm__hf_linear(c, inner, c->hidden, bias, n);
    c->ffn = inner;
    add_tied_head(c);
}

static void count_recurrent_gemma(struct hf_count *c)
{
    const struct hm_value *types = hm__value_get(c->config, "block_types");

    c->hidden = hm__hf_need(c, "hidden_size");
    c->layers = hm__hf_need(c, "num_hidden_layers");
    c->vocabulary = hm__hf_need(c, "vocab_size");
    c->heads = hm__hf_need(c, "num_attention_heads");
    c->kv_heads = hm__hf_number(c, "num_key_value_heads", c->heads);
    c->head_dim = hm__hf_number(c, "head_dim", c->hidden / c->heads);
    c->ffn = hm__hf_need(c, "intermediate_size") / 2;
    c->tied = hm__hf_flag(c, "tie_word_embeddings", true);
    c->gated = true;
    double width = hm__hf_number(c, "lru_width", c->hidden), n = c->layers, attention = 0;
    double cycle = types && types->kind == HM_VALUE_LIST ? (double)types->count : 0;

    for (double i = 0; cycle > 0 && i < n && n < 1e5; i++) {
        const struct hm_value *type = &types->items[(size_t)fmod(i, cycle)];
        attention += type->text && strcmp(type->text, "attention") == 0;
    }
    double recurrent = n - attention, query = c->heads * c->head_dim;
    hm__hf_words(c, c->vocabulary, c->hidden);
    hm__hf_norm(c, c->hidden, false, 2 * n + 1);
    hm__hf_linear(c, c->hidden, c->ffn, true, 2 * n);
    hm__hf_linear(c, c->ffn, c->hidden, true, n);
    hm__hf_linear(c, c->hidden, width, true, 2 * recurrent);
    hm__hf_linear(c, width, c->hidden, true, recurrent);
    hm__hf_linear(c, hm__hf_number(c, "conv1d_width", 4), width, true, recurrent);
    hm__hf_tensor(c, width, recurrent);
    hm__hf_linear(c, width / c->heads, width, true,
                  /*
                   * The matrices of the gates are block-diagonal with one block per head, so each
                   * has only width / heads rows.
                   */
                  2 * recurrent);
    hm__hf_linear(c, c->hidden, query, false, attention);
    hm__hf_linear(c, c->hidden, c->kv_heads * c->head_dim, false, 2 * attention);
    hm__hf_linear(c, query, c->hidden, true, attention);
    add_tied_head(c);
}

/* ---- vision ---------------------------------------------------------------------------------- */

/* Reads a size that is written as a number or as a list of two equal numbers. */
static double square_size(struct hf_count *c, const char *name)
{
    const struct hm_value *v = hm__value_get(c->config, name);
    double value;

    if (v && v->kind == HM_VALUE_LIST && v->count > 0 && v->items[0].text &&
        hm__number_read(v->items[0].text, &value) > 0)
        return value;
    return hm__hf_need(c, name);
}

/*
 * Counts the parameters of ViT and DINOv2: an embedding of patches, a class token, and layers like
 * the layers of BERT.
 */
static void count_vit(struct hf_count *c)
{
    bool dino = is_one_of(c, "dinov2");
    double patch = square_size(c, "patch_size"), image = square_size(c, "image_size");

    c->hidden = hm__hf_need(c, "hidden_size");
    c->layers = hm__hf_need(c, "num_hidden_layers");
    c->heads = c->kv_heads = hm__hf_need(c, "num_attention_heads");
    c->head_dim = c->hidden / c->heads;
    c->ffn = hm__hf_number(c, "intermediate_size", c->hidden * hm__hf_ratio(c, "mlp_ratio", 4));
    double patches = floor(image / patch) * floor(image / patch), n = c->layers;
    c->layout = HF_LAYERS_VIT;
    c->image = image;
    c->patch = patch;
    c->channels = hm__hf_number(c, "num_channels", 3);
    c->sequence = patches + 1;
    c->labels = label_count(c);
    bool bias = hm__hf_flag(c, "qkv_bias", true);

    hm__hf_tensor(c, c->hidden, 1 + (dino && hm__hf_flag(c, "use_mask_token", true) ? 1 : 0));
    add_positions(c, patches + 1);
    hm__hf_linear(c, c->channels * patch * patch, c->hidden, true, 1);
    hm__hf_linear(c, c->hidden, c->hidden, bias, 3 * n);
    hm__hf_linear(c, c->hidden, c->hidden, true, n);
    hm__hf_linear(c, c->hidden, c->ffn, true, n);
    hm__hf_linear(c, c->ffn, c->hidden, true, n);
    hm__hf_norm(c, c->hidden, true, 2 * n + 1);
    if (dino)
        /*
         * DINOv2 multiplies the outputs of attention and of the feed-forward layer by learned
         * vectors (LayerScale).
         */
        hm__hf_tensor(c, c->hidden, 2 * n);
    c->key_width = 2 * c->hidden;
    c->context = patches + 1;
    c->pooler = !dino && c->head == HF_HEAD_POOLER;
    if (c->pooler)
        hm__hf_linear(c, c->hidden, c->hidden, true, 1);
    if (c->head == HF_HEAD_CLASSIFIER || c->head == HF_HEAD_LM)
        hm__hf_linear(c, (dino ? 2 : 1) * c->hidden, c->labels, true, 1);
}

/* Counts a stage of Hiera, whose first layer reads values of another width. */
static void add_hiera_stage(struct hf_count *c, double in, double width, double ffn, double layers)
{
    hm__hf_norm(c, in, true, 1);
    hm__hf_linear(c, in, 3 * width, true, 1);
    if (in != width)
        hm__hf_linear(c, in, width, true, 1);
    hm__hf_norm(c, width, true, 2 * layers - 1);
    hm__hf_linear(c, width, 3 * width, true, layers - 1);
    hm__hf_linear(c, width, width, true, layers);
    hm__hf_linear(c, width, ffn, true, layers);
    hm__hf_linear(c, ffn, width, true, layers);
}

/* Counts the parameters of Hiera, whose hidden width is doubled at each stage. */
static void count_hiera(struct hf_count *c)
{
    const struct hm_value *depths = hm__value_get(c->config, "depths");
    double width = hm__hf_need(c, "embed_dim"), image = square_size(c, "image_size");
    double patch = square_size(c, "patch_size"), stride = square_size(c, "patch_stride");
    double ratio = hm__hf_ratio(c, "mlp_ratio", 4),
           grow = hm__hf_ratio(c, "embed_dim_multiplier", 2);

    hm__hf_linear(c, hm__hf_number(c, "num_channels", 3) * patch * patch, width, true, 1);
    c->hidden = width;
    add_positions(c, floor(image / stride) * floor(image / stride));
    for (size_t s = 0; depths && depths->kind == HM_VALUE_LIST && s < depths->count; s++) {
        double layers = 0;
        if (depths->items[s].text)
            hm__number_read(depths->items[s].text, &layers);
        if (layers >= 1)
            add_hiera_stage(c, s == 0 ? width : width / grow, width, ratio * width, layers);
        c->layers += layers;
        c->hidden = width;
        width *= grow;
    }
    hm__hf_norm(c, c->hidden, true, 1);
    if (c->head == HF_HEAD_CLASSIFIER || c->head == HF_HEAD_LM)
        hm__hf_linear(c, c->hidden, label_count(c), true, 1);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*count)(struct hf_count *c);
} families[] = {
    {"bert", count_bert},        {"roberta", count_bert},
    {"xlm-roberta", count_bert}, {"camembert", count_bert},
    {"distilbert", count_bert},  {"electra", count_electra},
    {"albert", count_albert},    {"mobilebert", count_mobilebert},
    {"xlnet", count_xlnet},      {"t5", count_t5},
    {"mt5", count_t5},           {"longt5", count_t5},
    {"bart", count_bart},        {"mbart", count_bart},
    {"pegasus", count_bart},     {"whisper", count_whisper},
    {"mamba", count_mamba},      {"recurrent_gemma", count_recurrent_gemma},
    {"vit", count_vit},          {"dinov2", count_vit},
    {"hiera", count_hiera},
};

enum { FAMILIES = sizeof(families) / sizeof(families[0]) };

bool hm__hf_count_other(struct hf_count *c)
{
    for (size_t i = 0; i < FAMILIES; i++)
        if (is_one_of(c, families[i].name)) {
            families[i].count(c);
            return true;
        }
    return false;
}

void hm__hf_other_names(struct hm_text *out)
{
    for (size_t i = 0; i < FAMILIES; i++)
        hm__text_addf(out, "%s%s", out->length ? ", " : "", families[i].name);
}
