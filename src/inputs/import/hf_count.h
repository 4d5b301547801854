/*
 * Counts the parameters of a network from a Hugging Face configuration. Each family of models has a
 * function that adds its tensors, one call for each kind of tensor.
 *
 * All counts are doubles, which are exact up to 2^53; larger counts are refused at the end.
 */
#ifndef HM_HF_COUNT_H
#define HM_HF_COUNT_H

#include "text.h"
#include "value.h"

/* The last layers of the class that the configuration names. */
enum hf_head {
    HF_HEAD_NONE,      /* The body alone. */
    HF_HEAD_POOLER,    /* The body with its pooler, where the family has one. */
    HF_HEAD_LM,        /* A language model. */
    HF_HEAD_CLASSIFIER /* A classifier of sequences or images. */
};

struct hf_count {
    /* Given. */
    const struct hm_value *config; /* Borrowed. */
    const char *model_type;
    enum hf_head head;
    bool decoder_only; /* An encoder-decoder family of which only the decoder is used. */
    /* Counted. */
    double parameters, tensors;
    double embedding, positions;  /* Of them, input embeddings and position embeddings. */
    double words;                 /* Input embedding of the vocabulary alone. */
    double routed, routed_active; /* Of them, in routed experts, and those of one token. */
    double products; /* Multiply-adds of one token in matrix products, without attention. */
    double extra;    /* Parameters that are stored with the model but are not part of it. */
    /* The shape of a decoder, for the document; 0 if it does not apply. */
    double layers, hidden, vocabulary, ffn, heads, kv_heads, head_dim, context;
    double experts, experts_per_token, expert_ffn, shared_ffn, dense_layers;
    double q_rank, kv_rank, rope_dim, nope_dim, value_dim;
    double key_width;        /* Sum over heads of the widths of keys and of values, in one layer. */
    bool norm_bias, qk_norm; /* Normalisations have a bias; queries and keys are normalised. */
    const char *bias;        /* Products with a bias: "qkv", "all", or NULL for none. */
    bool gated, tied, plain; /* `plain`: a decoder that the members above describe completely. */
    const char *missing;     /* A key that the count needs and the configuration does not have. */
};

/* Numbers of the configuration; `names` are alternatives separated by '|'. hm__hf_need notes a key
 * that is missing, and returns 1. */
double hm__hf_number(const struct hf_count *c, const char *names, double fallback);
double hm__hf_need(struct hf_count *c, const char *names);
bool hm__hf_flag(const struct hf_count *c, const char *names, bool fallback);

/* Add a vector or other tensor of `size` elements, `copies` times. */
void hm__hf_tensor(struct hf_count *c, double size, double copies);
/* Add a matrix product with or without a bias; its weights are multiply-adds of a token. */
void hm__hf_linear(struct hf_count *c, double in, double out, bool bias, double copies);
/* Add a normalisation with or without a bias. */
void hm__hf_norm(struct hf_count *c, double size, bool bias, double copies);
/* Add an input embedding of `rows` rows. */
void hm__hf_words(struct hf_count *c, double rows, double width);

/* Count the families; false if they do not have model_type. */
bool hm__hf_count_decoder(struct hf_count *c);
bool hm__hf_count_other(struct hf_count *c);
/* Append the names of the families that a function knows, separated by ", ". */
void hm__hf_decoder_names(struct hm_text *out);
void hm__hf_other_names(struct hm_text *out);

#endif
