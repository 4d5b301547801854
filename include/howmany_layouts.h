/*
 * howmany: plans for transformers. A network is given by its sizes; a plan finds the best layout
 * for each number of workers.
 *
 *     struct hm_transformer network;
 *     hm_catalog_transformer(catalog, "llama-3-8b", &network, &err);
 *     struct hm_transformer_work work = HM_TRANSFORMER_WORK_INIT;
 *     work.sequence = 8192, work.batch = 512, work.tokens = 1e12;
 *     hm_job_set_transformer(job, &network, &work, &err);
 *     hm_job_set_machine(job, catalog, "p5.48xlarge", NULL, &err);
 *     hm_plan_layouts(job, NULL, 0, &question, &layouts, &err);
 *
 * howmany.h describes the conventions.
 */
#ifndef HOWMANY_LAYOUTS_H
#define HOWMANY_LAYOUTS_H

#include "howmany.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the network ----------------------------------------------------------------------------- */

/* The linear layers of a transformer layer that have a bias. */
enum hm_linear_bias { HM_LINEAR_BIAS_NONE, HM_LINEAR_BIAS_QKV, HM_LINEAR_BIAS_ALL };

/*
 * Multi-head latent attention: queries, keys and values pass through projections of low rank. All
 * members are 0 for ordinary attention. If rank_q is 0 and rank_kv is above 0, queries are
 * projected directly.
 */
struct hm_latent {
    double rank_q;   /* Rank of the queries; 0 if queries are not compressed. */
    double rank_kv;  /* Rank that keys and values share; 0 means ordinary attention. */
    double dim_nope; /* Width of the part of each head's queries and keys that has no rotary
                        position encoding. */
    double dim_rope; /* Width of the part of each head's queries and keys that has a rotary position
                        encoding. */
    double dim_v;    /* Width of the values of one head. */
};

/*
 * A transformer, described by the sizes that determine its parameters, operations and memory. Every
 * size is a whole number, stored as a double. Start from hm_transformer_init.
 */
struct hm_transformer {
    const char *name;  /* Name of the network; may be NULL. */
    double layers;     /* Number of layers, >= 1. */
    double hidden;     /* Width of the residual stream, >= 1. */
    double ffn;        /* Width of a dense feed-forward layer, >= 1. */
    double heads;      /* Number of query heads, >= 1. */
    double kv_heads;   /* Number of key and value heads; divides `heads`. */
    double head_dim;   /* Width of one head, >= 1. */
    double vocabulary; /* Number of rows in the embedding table, >= 1. */
    bool gated;   /* True if the feed-forward layer has a gate: three matrices instead of two. */
    bool tied;    /* True if input and output share one embedding table. */
    bool encoder; /* True for an encoder: attention is not causal, and there is no output head. */
    /*
     * Number of decoder layers, which also attend to an encoder (the other layers); 0 if the
     * network is not an encoder with a decoder. Inputs and targets are sequences of the same
     * length.
     */
    double cross_layers;
    double experts;           /* Number of routed experts of a layer; 0 means a dense network. */
    double experts_per_token; /* Number of routed experts that process one token. */
    double expert_ffn;        /* Width of one routed expert. */
    double shared_ffn;        /* Total width of the shared experts; 0 if there are none. */
    double dense_layers;      /* Number of layers without experts, in a network with experts. */
    /*
     * The experts of a layer are in `expert_groups` groups, of which one token may use at most
     * `groups_per_token` (node-limited routing of DeepSeek); 0 or 1 groups mean no limit.
     */
    double expert_groups, groups_per_token;
    struct hm_latent latent; /* Multi-head latent attention; all zero for ordinary attention. */
    /* The following members matter only for exact parameter counts. */
    double positions;         /* Number of rows in a learned position table; 0 if there is none. */
    double norms;             /* Number of normalisations in one layer. */
    bool norm_bias;           /* True if a norm has a bias in addition to its scale. */
    bool qk_norm;             /* True if the queries and keys of each head are normalised. */
    enum hm_linear_bias bias; /* The linear layers that have a bias. */
    double other_parameters;  /* Number of parameters that no other field describes. */
    double published_parameters; /* Published number of parameters; NaN if not given. */
};

/* Sets the defaults: sizes are unknown (NaN) or 0, there are two norms, and nothing has a bias. */
HM_API void hm_transformer_init(struct hm_transformer *network);
/*
 * Gets a transformer from the catalog. It is an error if the network is not a transformer. The name
 * is borrowed from the catalog.
 */
HM_API int hm_catalog_transformer(const struct hm_catalog *catalog, const char *name,
                                  struct hm_transformer *ret_network, struct hm_err *err);

/* ---- layouts --------------------------------------------------------------------------------- */

/* The operations that the backward pass recomputes, so that their results need not be kept. */
enum hm_recompute {
    HM_RECOMPUTE_NONE,
    HM_RECOMPUTE_SELECTIVE, /* The attention core (scores and weighted values) is recomputed. */
    HM_RECOMPUTE_OP,        /* Every second matrix product is recomputed. */
    HM_RECOMPUTE_LAYER,     /* Every second layer is recomputed. */
    HM_RECOMPUTE_NORM,      /* Norms and activation functions are recomputed. */
    HM_RECOMPUTE_FULL,
    HM_RECOMPUTES
};

/* The training states that are kept in the memory of the host instead of the device. */
enum hm_offload {
    HM_OFFLOAD_NONE,
    HM_OFFLOAD_OPTIMIZER, /* The host keeps the optimizer's state and runs the optimizer. */
    HM_OFFLOAD_ALL, /* The host also keeps the weights; each pass copies them to the device. */
    HM_OFFLOADS
};

/* Number format of the matrix products in the linear layers. */
enum hm_number_format {
    HM_FORMAT_BF16,
    HM_FORMAT_FP16,
    HM_FORMAT_FP8,
    HM_FORMAT_MXFP8,
    HM_FORMAT_NVFP4,
    HM_NUMBER_FORMATS
};

/* A layout. All degrees of parallelism are whole numbers >= 1. */
struct hm_layout {
    double tensor;     /* Tensor parallelism: number of workers that share each layer. */
    double pipeline;   /* Pipeline parallelism: number of pipeline stages. */
    double interleave; /* Number of chunks of layers per stage. */
    double context;    /* Context parallelism: number of workers that share each sequence. */
    double expert; /* Expert parallelism: number of workers that share the experts of a layer. */
    double data;   /* Data parallelism: number of copies of the model. */
    double micro_batch; /* Number of sequences in one forward pass. */
    double zero; /* ZeRO stage, 0 to 3, which determines the states that data-parallel workers
                    shard. */
    bool shard_in_node;     /* True if ZeRO shards within a node and replicates between nodes. */
    bool sequence_parallel; /* True if tensor-parallel workers also split the tokens of norms. */
    enum hm_recompute recompute;
    enum hm_offload offload;
};

/*
 * Writes a layout as text, such as "tp 4 pp 8 vpp 5 dp 2 mb 1 zero 1". The text has at most `room`
 * - 1 characters.
 */
HM_API void hm_layout_text(const struct hm_layout *layout, char *text, size_t room);

/* ---- the job --------------------------------------------------------------------------------- */

/*
 * Settings for training a transformer. Start from HM_TRANSFORMER_WORK_INIT. docs/reference/large.md
 * lists the defaults of other settings.
 */
struct hm_transformer_work {
    double sequence; /* Number of tokens in one sequence, whole, 1 to 1e9. */
    double batch;    /* Number of sequences in one step over all workers, whole, 1 to 1e9. */
    double tokens;   /* Number of tokens in the whole job, > 0; 0 or NaN if not given, in which case
                        the answer has neither a time nor a cost for the whole job. */
    enum hm_number_format precision;
    enum hm_software software;
    double trained; /* Share of the parameters that are trained, at most 1; 0 or NaN means 1. */
    /*
     * Layout to use; NULL means that the plan searches. The plan searches only the degrees of
     * parallelism that are 0 or NaN, and the ZeRO stage if it is NaN; the other members are used as
     * they are. Borrowed during the call.
     */
    const struct hm_layout *layout;
};

#define HM_TRANSFORMER_WORK_INIT                                                                   \
    {                                                                                              \
        0, 0, HM_UNKNOWN, HM_FORMAT_BF16, HM_SOFTWARE_TUNED, HM_UNKNOWN, NULL                      \
    }

/*
 * Makes a job train a transformer, which is copied. Sizes of the network that are NaN or 0 are
 * derived from other sizes where possible. Such a job has no other network, formula or graph; only
 * hm_plan_layouts accepts it.
 */
HM_API int hm_job_set_transformer(struct hm_job *job, const struct hm_transformer *network,
                                  const struct hm_transformer_work *work, struct hm_err *err);

/* ---- the answer ------------------------------------------------------------------------------ */

/* The best layout on n workers of one machine. */
struct hm_layout_point {
    double n, nodes; /* Number of workers, and number of machines. */
    size_t machine;  /* Index of the cluster among the clusters passed to the function; 0 for the
                        cluster of the job. */
    struct hm_layout layout;
    double time_s;        /* Time of one training step in seconds. */
    double low_s, high_s; /* Interval around time_s that contains 90 % of similar measurements. */
    double total_s; /* Time of the whole job in seconds, including time lost to failures; NaN if the
                       number of tokens is not given. */
    double cost; /* Cost of the whole job or, if the number of tokens is not given, of one step; NaN
                    if no price is known. */
    double tokens_per_s;
    double mfu; /* Model flop utilization: model flop per second as a share of the 16-bit peak of
                   all workers. */
    double memory_bytes;       /* Memory in bytes that the fullest worker needs. */
    double memory_limit_bytes; /* Number of bytes that a job may use on one worker. */
    bool fits;                 /* True if the layout fits in the memory of the workers. */
    double meets; /* Probability of meeting the deadline and the budget; NaN if neither is given. */
};

/* The answer that hm_plan_layouts returns. */
struct hm_layouts {
    double parameters, active_parameters; /* Number of parameters in the network, and number of
                                             parameters used for each token. */
    struct hm_layout_point *points;       /* Points of each machine, in ascending order of n. */
    size_t point_count;
    bool feasible; /* True if the recommended point fits in memory and meets the deadline and the
                      budget. */
    size_t best;   /* Index of the best point or, if no point is feasible, of the point that exceeds
                      the limits by the smallest factor. */
    size_t recommended; /* Index of the point with the fewest workers whose goal value is within the
                           slack of the best. */
    /*
     * Indices of the cheapest, balanced and fastest alternatives; HM_NONE if no price is known, or
     * no point is feasible.
     */
    size_t cheapest, balanced, fastest;
    const char *missed; /* Limit that no point meets: "memory", "deadline" or "budget"; NULL if
                           there is none. */
    void *memory;       /* Owns all memory of this struct. */
};

/*
 * Plans a job that trains a transformer on its cluster, or on each of several clusters. The
 * question may have a goal with its weights, a deadline, a budget, a certainty, a slack, and either
 * max_n or one n.
 */
HM_API int hm_plan_layouts(const struct hm_job *job, const struct hm_cluster *const *clusters,
                           size_t cluster_count, const struct hm_question *question,
                           struct hm_layouts **ret_layouts, struct hm_err *err);
HM_API void hm_layouts_free(struct hm_layouts *layouts);

#ifdef __cplusplus
}
#endif

#endif
