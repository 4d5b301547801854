/*
 * A transformer: the sizes from which its parameters, operations and memory are counted. Every size
 * is a whole number, stored as a double.
 */
#ifndef HM_TRANSFORMER_H
#define HM_TRANSFORMER_H

#include "howmany_inputs.h"

/* Which linear maps of a layer have a bias. */
enum hm_linear_bias { HM_LINEAR_BIAS_NONE, HM_LINEAR_BIAS_QKV, HM_LINEAR_BIAS_ALL };

/*
 * Multi-head latent attention: queries, keys and values pass through projections of low rank. All
 * members are 0 for ordinary attention. If rank_q is 0 and rank_kv is above 0, queries are
 * projected directly.
 */
struct hm_latent {
    double rank_q;   /* Rank of the queries; 0: no compression of queries. */
    double rank_kv;  /* Rank that keys and values share; 0: ordinary attention. */
    double dim_nope; /* Width per head of the part of queries and keys without rotary positions. */
    double dim_rope; /* Width per head of the part of queries and keys with rotary positions. */
    double dim_v;    /* Width of the values of one head. */
};

struct hm_transformer {
    const char *name;  /* Name of the network; may be NULL. */
    double layers;     /* Number of layers, >= 1. */
    double hidden;     /* Width of the residual stream, >= 1. */
    double ffn;        /* Width of a dense feed-forward layer, >= 1. */
    double heads;      /* Number of query heads, >= 1. */
    double kv_heads;   /* Number of key and value heads; divides `heads`. */
    double head_dim;   /* Width of one head, >= 1. */
    double vocabulary; /* Number of rows of the embedding table, >= 1. */
    bool gated;        /* Whether the feed-forward layer has a gate: three maps instead of two. */
    bool tied;         /* Whether input and output share one embedding table. */
    bool encoder; /* True for an encoder: attention is not causal, and there is no output head. */
    /*
     * Number of decoder layers, which also attend to an encoder (the other layers); 0 if there are
     * not two stacks. Inputs and targets are sequences of the same length.
     */
    double cross_layers;
    double experts;           /* Number of routed experts of a layer; 0: a dense network. */
    double experts_per_token; /* Number of routed experts that process one token. */
    double expert_ffn;        /* Width of one routed expert. */
    double shared_ffn;        /* Width of the shared experts together; 0: none. */
    double dense_layers;      /* Number of layers without experts, in a network with experts. */
    struct hm_latent latent;  /* Multi-head latent attention; all zero: ordinary attention. */
    /* The following members matter only for exact parameter counts. */
    double positions;            /* Number of rows of a learned position table; 0: none. */
    double norms;                /* Number of norms in one layer. */
    bool norm_bias;              /* Whether a norm has a bias in addition to its scale. */
    bool qk_norm;                /* Whether queries and keys of a head are normalised. */
    enum hm_linear_bias bias;    /* Which linear maps have a bias. */
    double other_parameters;     /* Parameters that no other field describes. */
    double published_parameters; /* Number of parameters in the literature; NaN: not given. */
};

/* Set defaults: sizes are unknown (NaN) or 0, there are two norms, and nothing has a bias. */
void hm__transformer_init(struct hm_transformer *network);
/* Derive unset sizes: kv_heads = heads, head_dim = hidden/heads. */
void hm__transformer_complete(struct hm_transformer *network);
/* Check every field. The error names the field, its value and what would be right. */
int hm__transformer_check(const struct hm_transformer *network, struct hm_err *err);

/* Returns the number of attention blocks per layer: above 1 if layers also attend to an encoder. */
double hm__transformer_blocks(const struct hm_transformer *network);
/*
 * Returns the share of the attention matrix that is computed in a layer, summed over its attention
 * blocks and averaged over all layers: 0.5 for a causal network, 1 for an encoder.
 */
double hm__transformer_core_share(const struct hm_transformer *network);
/* Returns the number of layers with experts; 0 for a dense network. */
double hm__transformer_expert_layers(const struct hm_transformer *network);

#endif
