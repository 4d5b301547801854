/*
 * Writes encoders like BERT and ViT as networks with a list of layers, so that plans model every
 * operation. The layers have exactly the parameters that hf_other.c counts.
 */
#include <math.h>
#include <string.h>

#include "hf_count.h"

static bool drops_values(const struct hf_count *c)
{
    const double usual = c->layout == HF_LAYERS_BERT ? 0.1 : 0;

    return hm__hf_ratio(c, "hidden_dropout_prob|dropout", usual) > 0;
}

/*
 * Writes the layers of the encoder. BERT normalises after each addition of a residual, ViT before.
 * DINOv2 (`scales`) multiplies both outputs by learned vectors.
 */
static void write_blocks(struct hm_text *out, const struct hf_count *c, bool scales)
{
    const bool before = c->layout == HF_LAYERS_VIT;
    const char *norm_before = before ? "{norm: layer}, " : "";
    const char *norm_after = before ? "" : ", {norm: layer}",
               *drop = drops_values(c) ? ", dropout" : "";
    const char *bias = hm__hf_flag(c, "qkv_bias", true) ? "" : ", bias: output";
    struct hm_text scale = {0};

    if (scales)
        hm__text_addf(&scale, ", {multiply: {parameters: %.0f}}", c->hidden);
    hm__text_addf(out,
                  "    - repeat:\n"
                  "        times: %.0f\n"
                  "        layers: [{residual: [%s{attention: {heads: %.0f%s}}%s%s]}%s, "
                  "{residual: [%s{dense: %.0f}, gelu, {dense: %.0f}%s%s]}%s]\n",
                  c->layers, norm_before, c->heads, bias, drop, scale.data ? scale.data : "",
                  norm_after, norm_before, c->ffn, c->hidden, drop, scale.data ? scale.data : "",
                  norm_after);
    out->failed = out->failed || scale.failed;
    hm__text_release(&scale);
}

/* Writes the layers that read the first token of a sequence only. */
static void write_pooler(struct hm_text *out, const struct hf_count *c)
{
    hm__text_addf(out, "    - view: %.0f\n", c->hidden);
    if (c->pooler)
        hm__text_addf(out, "    - dense: %.0f\n    - tanh\n", c->hidden);
}

/* Writes the output layers of an encoder of texts. */
static void write_text_head(struct hm_text *out, const struct hf_count *c)
{
    if (c->head == HF_HEAD_LM) {
        hm__text_addf(out, "    - dense: %.0f\n    - gelu\n    - norm: layer\n", c->hidden);
        hm__text_addf(out, "    - dense: {units: %.0f, tied: %s}\n", c->vocabulary,
                      c->tied ? "true" : "false");
        return;
    }
    if (!c->each_token)
        write_pooler(out, c);
    if (c->head == HF_HEAD_CLASSIFIER)
        hm__text_addf(out, "    - dense: %.0f\n", c->labels);
}

static void write_text_encoder(struct hm_text *out, const struct hf_count *c)
{
    /* The bias of a tied output layer, which costs no operation of its own, is counted with the
     * embedding of token types. */
    const double bias = c->head == HF_HEAD_LM && c->tied ? c->vocabulary : 0;
    const double added = c->types * c->hidden + bias;

    hm__text_addf(out,
                  "  input: {sequence: %.0f}\n  layers:\n"
                  "    - embedding: {vocabulary: %.0f, width: %.0f, positions: %.0f}\n",
                  c->sequence, c->vocabulary, c->hidden, c->context);
    if (added > 0)
        hm__text_addf(out, "    - add: {parameters: %.0f}\n", added);
    hm__text_addf(out, "    - norm: layer\n%s", drops_values(c) ? "    - dropout\n" : "");
    write_blocks(out, c, false);
    write_text_head(out, c);
}

static void write_image_encoder(struct hm_text *out, const struct hf_count *c)
{
    const bool dino = strcmp(c->model_type, "dinov2") == 0;
    const double tokens = (dino && hm__hf_flag(c, "use_mask_token", true) ? 2 : 1) * c->hidden;

    hm__text_addf(out,
                  "  input: [%.0f, %.0f, %.0f]\n  layers:\n"
                  "    - conv: {filters: %.0f, kernel: %.0f, stride: %.0f}\n"
                  "    - view: {sequence: %.0f, width: %.0f}\n"
                  "    - add: {parameters: %.0f}\n",
                  c->image, c->image, c->channels, c->hidden, c->patch, c->patch, c->sequence,
                  c->hidden, tokens + c->positions);
    write_blocks(out, c, dino);
    hm__text_add(out, "    - norm: layer\n");
    if (c->pooler)
        write_pooler(out, c);
    if (c->head == HF_HEAD_CLASSIFIER || c->head == HF_HEAD_LM)
        hm__text_addf(out, "    - view: %.0f\n    - dense: %.0f\n", (dino ? 2 : 1) * c->hidden,
                      c->labels);
}

bool hm__hf_write_layers(struct hm_text *out, const struct hf_count *c)
{
    enum { REPEATS_MOST = 1000 }; /* The most that a job file may repeat layers. */

    if (c->layout == HF_LAYERS_NONE || c->layers > REPEATS_MOST || fmod(c->hidden, c->heads) != 0)
        return false;
    if (c->layout == HF_LAYERS_BERT)
        write_text_encoder(out, c);
    else
        write_image_encoder(out, c);
    return true;
}
