/*
 * Counts the parameters of a network from a Hugging Face configuration. Each family of models has a
 * function that adds its tensors, one call for each kind of tensor.
 *
 * All counts are doubles, which are exact up to 2^53; a larger count is reported as an error at the
 * end.
 */
#ifndef HM_HF_COUNT_H
#define HM_HF_COUNT_H

#include "text.h"
#include "value.h"

/*
 * Output layers (head) that the model class in the configuration adds to the body of the network.
 */
enum hf_head {
    HF_HEAD_NONE,   /* The class has no head: only the body of the network is counted. */
    HF_HEAD_POOLER, /* The body of the network is counted with its pooler, if the family has one. */
    HF_HEAD_LM,     /* The head predicts tokens; the model is a language model. */
    HF_HEAD_CLASSIFIER /* The head classifies sequences or images. */
};

/* How the layers of a network follow one another, if it can be written as a list of layers. */
enum hf_layout { HF_LAYERS_NONE, HF_LAYERS_BERT, HF_LAYERS_VIT };

/* A key whose value is not a number in its range; `key` is empty if there is none. */
struct hf_wrong {
    char key[64];
    bool whole; /* True if a whole number is needed. */
};

struct hf_count {
    /* The caller sets the following members before the count. */
    /* Configuration whose parameters are counted, as the tree of config.json; borrowed. */
    const struct hm_value *config;
    const char *model_type;
    enum hf_head head;
    bool each_token;   /* True if the head classifies every token instead of a sequence. */
    bool decoder_only; /* True if only the decoder of an encoder-decoder family is counted. */
    /* The functions below set the following members. */
    double parameters, tensors;
    /* Numbers of parameters in the input embeddings and in the position embeddings. */
    double embedding, positions;
    double words; /* Number of parameters in the input embedding of the vocabulary. */
    /*
     * Number of parameters in all routed experts, and number of parameters in the routed experts
     * that process one token.
     */
    double routed, routed_active;
    /* Number of multiply-adds for one token in matrix products, without attention. */
    double products;
    /*
     * Number of parameters that are stored with the model but not used by it, such as DeepSeek's
     * layers for additional tokens.
     */
    double extra;
    /*
     * Sizes of a decoder that are written to the YAML document; 0 if the decoder has no such size.
     */
    double layers, hidden, vocabulary, ffn, heads, kv_heads, head_dim, context;
    double experts, experts_per_token, expert_ffn, shared_ffn, dense_layers;
    double q_rank, kv_rank, rope_dim, nope_dim, value_dim;
    double key_width; /* Sum of the widths of keys and values over all heads of one layer. */
    /*
     * `norm_bias` is true if normalisations have a bias, `qk_norm` if queries and keys are
     * normalised.
     */
    bool norm_bias, qk_norm;
    const char *bias;        /* Matrix products that have a bias: "qkv", "all", or NULL for none. */
    bool gated, tied, plain; /* `gated` is true if the feed-forward layer is gated, `tied` if input
                                and output share one embedding, and `plain` if the members above
                                describe the decoder completely. */
    /*
     * Sizes of an encoder that is written as a list of layers: tokens of a sample, rows of the
     * embedding of token types, classes, whether the head begins with a pooler, and for images the
     * side, the side of a patch and the channels.
     */
    enum hf_layout layout;
    double sequence, types, labels, image, patch, channels;
    bool pooler;
    /* Name of a required key that the configuration lacks; NULL if none is missing. */
    const char *missing;
    /* First key that is not a number of the kind that it should be; borrowed from the caller. */
    struct hf_wrong *wrong;
};

/*
 * Returns the number at the first key in `names` that exists and is not null; the keys are
 * separated by '|'. If no key exists, hm__hf_number and hm__hf_ratio return `fallback`, and
 * hm__hf_need records the missing key for an error message and returns 1. A value that is not a
 * whole number (for hm__hf_ratio, a number) from 0 to 1e9 is recorded as wrong.
 */
double hm__hf_number(const struct hf_count *c, const char *names, double fallback);
double hm__hf_ratio(const struct hf_count *c, const char *names, double fallback);
double hm__hf_need(struct hf_count *c, const char *names);
bool hm__hf_flag(const struct hf_count *c, const char *names, bool fallback);

/* Counts `copies` tensors of `size` elements each, which are not weights of matrix products. */
void hm__hf_tensor(struct hf_count *c, double size, double copies);
/*
 * Counts the weights of `copies` matrix products, with or without a bias. Each weight is one
 * multiply-add per token.
 */
void hm__hf_linear(struct hf_count *c, double in, double out, bool bias, double copies);
/* Counts `copies` normalisations, with or without a bias. */
void hm__hf_norm(struct hf_count *c, double size, bool bias, double copies);
/* Counts the parameters of an input embedding with `rows` rows of `width` values. */
void hm__hf_words(struct hf_count *c, double rows, double width);

/*
 * Counts the parameters of a model; returns false if the function does not handle its family
 * (model_type).
 */
bool hm__hf_count_decoder(struct hf_count *c);
bool hm__hf_count_other(struct hf_count *c);
/*
 * Writes the input and the layers of a network as YAML. Returns false, and writes nothing, if the
 * network cannot be written as a list of layers.
 */
bool hm__hf_write_layers(struct hm_text *out, const struct hf_count *c);
/* Appends the names of the model families that a function handles, separated by ", ". */
void hm__hf_decoder_names(struct hm_text *out);
void hm__hf_other_names(struct hm_text *out);

#endif
