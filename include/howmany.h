/*
 * howmany: how many machines, how long, how much, and why.
 *
 * The public interface of libhowmany, read from top to bottom: version, errors, inputs (job and
 * cluster), the question, the answer, and the functions that lead from one to the next.
 *
 *     struct hm_err err = {0};
 *     struct hm_job *job = NULL;
 *     struct hm_answer *answer = NULL;
 *     struct hm_question question = HM_QUESTION_INIT;
 *
 *     if (hm_job_load("job.yaml", NULL, 0, &job, &err) == 0 &&
 *         hm_plan(job, NULL, 0, NULL, 0, &question, &answer, &err) == 0)
 *             printf("%g workers\n", answer->points[answer->best].n);
 *     hm_answer_free(answer);
 *     hm_job_free(job);
 *
 * Conventions. Every quantity is a double in SI units and its name ends in the unit (_s seconds,
 * _bytes, _flops flop per second). Functions return 0 or a negative code of enum hm_code; results
 * go out through ret_ parameters, which are written only on success. The last parameter of every
 * function that can fail is a caller-owned struct hm_err *, which may be NULL. Nothing here prints,
 * exits, reads the environment or keeps global state; every *_free accepts NULL.
 */
#ifndef HOWMANY_H
#define HOWMANY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HM_API __attribute__((visibility("default")))
#define HM_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define HM_API
#define HM_PRINTF(fmt, args)
#endif

#define HM_VERSION "0.1.0"

/* The version of the library that is linked, which may differ from HM_VERSION. */
HM_API const char *hm_version(void);

/* ---- errors ----------------------------------------------------------------------------- */

#define HM_ERR_MAP(X)                                                                              \
    X(NOMEM, -1, "out of memory")                                                                  \
    X(IO, -2, "cannot read or write")                                                              \
    X(SYNTAX, -3, "not well-formed")                                                               \
    X(KEY, -4, "unknown key")                                                                      \
    X(MISSING, -5, "something is missing")                                                         \
    X(TYPE, -6, "wrong kind of value")                                                             \
    X(UNIT, -7, "wrong unit")                                                                      \
    X(RANGE, -8, "out of range")                                                                   \
    X(FORMULA, -9, "formula cannot be used")                                                       \
    X(NAME, -10, "unknown name")                                                                   \
    X(LIMIT, -11, "too large")                                                                     \
    X(CONFLICT, -12, "contradiction")                                                              \
    X(UNSUPPORTED, -13, "not available in this build")

enum hm_code {
    HM_OK = 0,
#define HM_ERR_ENUM(name, value, text) HM_E_##name = value,
    HM_ERR_MAP(HM_ERR_ENUM)
#undef HM_ERR_ENUM
};

/* What went wrong, where, and what would be right. Zero-initialise it; the first error wins. */
struct hm_err {
    int code;          /* enum hm_code */
    int line;          /* 1-based line in source, 0 if it has none */
    char source[256];  /* file name, "--set", "catalog"; empty if unknown */
    char field[128];   /* dotted path of the field, e.g. cluster.network.bandwidth; may be empty */
    char message[384]; /* one sentence without a full stop, naming the value */
    char hint[256];    /* what would be right; may be empty */
};

/* A fixed phrase for a code: "out of memory". */
HM_API const char *hm_strerror(int code);

/* ---- inputs: formulas ------------------------------------------------------------------- */

/*
 * A compiled formula over n and named quantities. Opaque; immutable once made, so that threads may
 * share it. See docs/formulas.md for the language.
 */
struct hm_formula;

/* ---- inputs: the network to train --------------------------------------------------------- */

enum hm_layer_kind {
    HM_LAYER_DENSE,      /* fully connected */
    HM_LAYER_CONV,       /* convolution, two-dimensional */
    HM_LAYER_POOL,       /* pooling, maximum or average */
    HM_LAYER_NORM,       /* batch or layer normalisation */
    HM_LAYER_ACTIVATION, /* element by element */
    HM_LAYER_EMBEDDING,  /* table look-up */
    HM_LAYER_ATTENTION,  /* multi-head self-attention with its four projections */
    HM_LAYER_RECURRENT,  /* rnn, gru, lstm */
    HM_LAYER_FLATTEN,    /* image to vector */
    HM_LAYER_RESIDUAL,   /* output = children(input) + shortcut(input) */
    HM_LAYER_CONCAT,     /* branches side by side, channels joined */
    HM_LAYER_BRANCH,     /* one branch of a concat or a shortcut: a plain sequence */
    HM_LAYER_REPEAT,     /* children, `times` times */
};

enum hm_bias {
    HM_BIAS_NONE,
    HM_BIAS_SHARED,   /* one per unit or feature map */
    HM_BIAS_POSITION, /* one per output position, as in LeCun 1989 */
};

enum hm_cell { HM_CELL_RNN, HM_CELL_GRU, HM_CELL_LSTM };

/* One layer as a person writes it; which fields matter depends on the kind. */
struct hm_layer {
    enum hm_layer_kind kind;
    int line;         /* where it stands in its file, for messages */
    const char *name; /* as written: "conv", "gelu"; owned by the job */
    double units;     /* dense: outputs; conv: feature maps; embedding, recurrent: width */
    double kernel_h;  /* conv, pool: window */
    double kernel_w;
    double stride;   /* conv, pool: >= 1 */
    double border_h; /* conv, pool: total border (both sides together) */
    double border_w;
    double groups;     /* conv: >= 1 */
    double depth;      /* conv: input maps each filter sees; 0 means all of its group */
    double vocabulary; /* embedding: rows of the table */
    double positions;  /* embedding: rows of a learned position table; 0 none */
    double heads;      /* attention */
    double times;      /* repeat */
    double biases;     /* recurrent: bias vectors per gate, 0..2 */
    enum hm_bias bias; /* dense, conv, attention */
    enum hm_cell cell; /* recurrent */
    bool tied;         /* dense: weights shared with the embedding, no parameters of its own */
    bool affine;       /* norm: two parameters a channel */
    bool ceil_mode;    /* pool: count a window that sticks out */
    bool global;       /* pool: the whole image at once */
    struct hm_layer *children; /* residual, concat, branch, repeat; owned by the job */
    size_t child_count;
    bool has_shortcut; /* residual: the last child is the shortcut branch */
};

enum hm_shape_kind { HM_SHAPE_VECTOR, HM_SHAPE_IMAGE, HM_SHAPE_SEQUENCE };

/* vector: channels; image: height x width x channels; sequence: height steps of channels each. */
struct hm_shape {
    enum hm_shape_kind kind;
    double height, width, channels;
};

struct hm_network {
    const char *name; /* owned by the job; NULL if it has none */
    struct hm_shape input;
    struct hm_layer *layers; /* owned by the job; NULL when only totals are known */
    size_t layer_count;
    double parameters;             /* totals, given instead of layers; 0 otherwise */
    double forward_flop;           /* flop for one sample forward, with the totals; 0 otherwise */
    double published_parameters;   /* from the literature, to compare with; 0 none */
    double published_forward_flop; /* likewise */
};

/* One layer of a network, counted for one sample forward. */
struct hm_count {
    const char *name;     /* borrowed from the network */
    struct hm_shape out;  /* shape of what it hands on */
    double parameters;    /* trained values */
    double multiply_adds; /* of matrix products and convolutions; 0 for the rest */
    double inputs;        /* values read */
    double outputs;       /* values written and kept for the way back */
};

struct hm_counts {
    struct hm_count *layers; /* unrolled; none when only totals are known */
    size_t layer_count;
    double parameters, multiply_adds, outputs; /* sums */
    double forward_flop;                       /* two per multiply-add, or the total given */
};

/* Training is forward, backward and gradient: three times the products of the way forward. */
#define HM_TRAINING_PASSES 3

/* Count a network; source is named in messages and may be NULL. The network must outlive it. */
HM_API int hm_counts_new(const struct hm_network *network, const char *source,
                         struct hm_counts **ret_counts, struct hm_err *err);
HM_API void hm_counts_free(struct hm_counts *counts);

/* ---- inputs: graphs ------------------------------------------------------------------------- */

/* How many vertices have that many neighbours. */
struct hm_degree {
    double degree, count;
};

/* An undirected graph: its degrees, and its edges where they are known. */
struct hm_graph {
    const char *name; /* file or recipe */
    double vertices;  /* that have been named; without edges, as the degrees say */
    double edges;     /* without self-loops; each once where the edges are known */
    double max_degree;
    struct hm_degree *degrees; /* in rising order */
    size_t degree_count;
    double lines;      /* read, or edges drawn; 0 for a degree distribution */
    double self_loops; /* left out */
    double repeated;   /* edges named again, in either direction, left out; negative: not known */
    uint32_t *ends;    /* 2 * edges numbers of vertices, 0..vertices-1; NULL when only degrees are
                          known */
    void *memory;      /* owns everything above */
};

enum hm_graph_format {
    HM_GRAPH_AUTO,    /* by the name: .graph is METIS, .degree_dist and .degrees are degrees */
    HM_GRAPH_DEGREES, /* lines "degree count" */
    HM_GRAPH_EDGES,   /* lines "vertex vertex", # comments, as SNAP has them */
    HM_GRAPH_METIS,   /* METIS .graph */
};

enum hm_recipe_kind { HM_RECIPE_POWER_LAW, HM_RECIPE_RANDOM, HM_RECIPE_GRID };

/* A graph to make: the same seed gives the same graph. */
struct hm_recipe {
    enum hm_recipe_kind kind;
    double vertices;
    double edges;      /* power law and random; a grid has its own */
    double max_degree; /* power law */
    double seed;
};

/*
 * Read a graph, plain or gzip. With degrees_only the edges are not kept: that takes 4 bytes a
 * vertex where ids are dense, but repeated edges are then counted like others.
 */
HM_API int hm_graph_load(const char *path, enum hm_graph_format format, bool degrees_only,
                         struct hm_graph **ret_graph, struct hm_err *err);
HM_API int hm_graph_make(const struct hm_recipe *recipe, struct hm_graph **ret_graph,
                         struct hm_err *err);
HM_API void hm_graph_free(struct hm_graph *graph);

/* clang-format off */
/* Name; whether it needs the edges; deals out edges, not vertices; and is drawn at random. */
#define HM_SPLIT_MAP(X)                                                                            \
    X(DEALT, "dealt", false, false, false)            /* round robin in the order of degree */     \
    X(RANDOM, "random", false, false, true)           /* each vertex to any worker */              \
    X(GREEDY, "greedy", false, false, false)          /* largest first, to the least loaded */     \
    X(HASH, "hash", true, false, false)               /* by a hash of the vertex's number */       \
    X(METIS, "metis", true, false, false)             /* METIS k-way: few edges between parts */   \
    X(EDGE_RANDOM, "edge-random", true, true, true)   /* each edge to any worker */                \
    X(HDRF, "hdrf", true, true, false)                /* Petroni et al. 2015 */
/* clang-format on */

enum hm_split {
#define HM_SPLIT_ENUM(name, text, needs_edges, cuts_vertices, random) HM_SPLIT_##name,
    HM_SPLIT_MAP(HM_SPLIT_ENUM)
#undef HM_SPLIT_ENUM
        HM_SPLIT_COUNT
};

HM_API const char *hm_split_name(enum hm_split split);
HM_API int hm_split_find(const char *name); /* -1 if there is none */
HM_API bool hm_split_needs_edges(enum hm_split split);
HM_API bool hm_split_cuts_vertices(enum hm_split split);
HM_API bool hm_split_is_random(enum hm_split split);

/* A graph split among n workers. */
struct hm_parts {
    double n;
    double edges_max;  /* of the worker with most, each edge counted once on a worker */
    double edges_mean; /* of all workers */
    double imbalance;  /* edges_max / edges_mean */
    double low, high;  /* of edges_max over the trials: 5th and 95th of a hundred */
    double worst;      /* largest over the trials */
    double cut;        /* edges between workers; negative: not known */
    double replicas;   /* copies of a vertex there are, on average, r >= 1; negative: not known */
};

/*
 * Split a graph. trials and seed matter for random splits; from degrees alone the edges counted
 * twice are estimated as Ulanov et al. do, from edges they are exact.
 */
HM_API int hm_graph_split(const struct hm_graph *graph, enum hm_split split, double trials,
                          double seed, const double *n, size_t count, struct hm_parts *ret_parts,
                          struct hm_err *err);

/* ---- inputs: communication ---------------------------------------------------------------- */

/* REFERENCE: Thakur, Rabenseifner, Gropp 2005; Patarasuk and Yuan 2009; Ulanov et al. 2016. */
#define HM_SCHEME_MAP(X)                                                                           \
    X(RING, "ring", true)                                                                          \
    X(RABENSEIFNER, "rabenseifner", true)                                                          \
    X(RECURSIVE_DOUBLING, "recursive-doubling", true)                                              \
    X(HIERARCHICAL, "hierarchical", true)                                                          \
    X(PARAMETER_SERVER, "parameter-server", true)                                                  \
    X(LINEAR, "linear", false)                                                                     \
    X(TREE, "tree", false)                                                                         \
    X(TREE_SMOOTH, "tree-smooth", false)                                                           \
    X(TORRENT, "torrent", false)                                                                   \
    X(TWO_WAVE, "two-wave", false)                                                                 \
    X(SHUFFLE, "shuffle", false)                                                                   \
    X(SERIAL, "serial", false)

/* The third column of the list says whether the scheme is a whole all-reduce by itself. */
enum hm_scheme {
#define HM_SCHEME_ENUM(name, text, allreduce) HM_SCHEME_##name,
    HM_SCHEME_MAP(HM_SCHEME_ENUM)
#undef HM_SCHEME_ENUM
        HM_SCHEME_BEST, /* at each n the fastest all-reduce among the workers, without servers */
    HM_SCHEME_COUNT = HM_SCHEME_BEST
};

/* "ring", "two-wave"; "best" for HM_SCHEME_BEST. */
HM_API const char *hm_scheme_name(enum hm_scheme scheme);
/* The scheme of that name, or -1. */
HM_API int hm_scheme_find(const char *name);
HM_API bool hm_scheme_is_allreduce(enum hm_scheme scheme);

enum hm_payload {
    HM_PAYLOAD_PARAMETERS,
    HM_PAYLOAD_GRADIENTS,
    HM_PAYLOAD_VERTICES, /* the states of every copy of every vertex of a graph */
    HM_PAYLOAD_BYTES,
};

/* One step of the communication of an iteration: either a message and a scheme, or a time. */
struct hm_transfer {
    enum hm_payload what;
    enum hm_scheme scheme;
    double servers;           /* parameter-server: shards with one link each, >= 1 */
    double times;             /* how often it happens in an iteration, > 0 */
    struct hm_formula *bytes; /* with HM_PAYLOAD_BYTES: size of the message; owned by the job */
    struct hm_formula *time;  /* if set, the seconds themselves; owned by the job */
    int line;                 /* where it stands in the file, for messages */
};

enum hm_overlap {
    HM_OVERLAP_NONE,   /* compute, then communicate */
    HM_OVERLAP_NORM,   /* (compute^p + communicate^p)^(1/p) */
    HM_OVERLAP_LAYERS, /* each layer's all-reduce starts when its gradient is ready */
};

/* ---- inputs: the cluster ------------------------------------------------------------------ */

struct hm_link {
    double bandwidth_bytes_per_s; /* > 0 */
    double latency_s;             /* >= 0 */
};

/* One machine, with `accelerators` workers in it (one worker when it has none). */
struct hm_node {
    double flops_16, flops_32, flops_64; /* peak flop/s of one worker; 0 unknown */
    double efficiency;                   /* fraction of the peak reached, (0, 1] */
    double memory_bandwidth_bytes_per_s; /* of one worker; 0 unknown: no roofline */
    double kernel_overhead_s;            /* time to start one kernel, >= 0 */
    double memory_bytes;                 /* of one worker; 0 unknown */
    double accelerators;                 /* workers in a node, >= 1 */
    struct hm_link link; /* between the workers of a node; bandwidth 0: none given */
    double price_per_s;  /* money per second of one node; negative: unknown */
};

/* How uneven workers are, and how unsteady. All zero: even and steady. */
struct hm_slowness {
    double spread;        /* log-normal: an iteration takes exp(spread * N(0,1)) times as long;
                             its median is 1 */
    double chance;        /* that an iteration of a worker is slow: then it */
    double factor;        /* takes so many times as long, > 1 (0: no factor), */
    double pause_s;       /* and so much longer */
    double slow_nodes;    /* so many nodes, the last ones of those used, are slower for good */
    double slow_factor;   /* by this, > 1 */
    const double *speeds; /* of the first nodes, relative to what the cluster says; others: 1.
                             Owned by the cluster */
    size_t speed_count;
    double per_node; /* workers in a node, as the cluster says; 0: one */
};

struct hm_cluster {
    const char *name;                  /* machine name; owned by the cluster or its job */
    const char *fabric;                /* network name; owned likewise; NULL: the machine's own */
    const char *title, *source, *date; /* of a catalog entry; NULL otherwise */
    struct hm_node node;
    struct hm_link network; /* between nodes; bandwidth 0: none given */
    double max_nodes;       /* ceiling; 0: none given */
    bool roofline;          /* use memory bandwidth and kernel overhead where they are known */
    struct hm_slowness slowness;
    void *memory; /* owns the strings and speeds, or NULL when the job does */
};

/* ---- inputs: the job ---------------------------------------------------------------------- */

enum hm_scaling { HM_SCALING_STRONG, HM_SCALING_WEAK };
enum hm_optimizer { HM_OPTIMIZER_SGD, HM_OPTIMIZER_MOMENTUM, HM_OPTIMIZER_ADAM };

/* A published or measured point of the speedup curve. */
struct hm_measured {
    double n, speedup;
};

/* A figure to reproduce: `what` at `n` should be `value`; see docs/job.md, `expect`. */
struct hm_expect {
    const char *what; /* time, speedup, best_n, best_speedup, mape, mape_without_reference, and
                         mape_random, mape_random_spread: mean and spread over 20 random splits */
    double n;         /* for time and speedup */
    double value;
    double digits; /* significant digits that must agree */
    double within; /* if positive, how far off it may be instead */
};

struct hm_job {
    const char *name; /* owned, like every pointer below */
    const char *description;
    const char *source;               /* file it was read from */
    struct hm_formula *compute;       /* seconds; NULL when the network gives them */
    struct hm_formula *memory_needed; /* bytes per worker; NULL: counted from the network */
    int compute_line, memory_line;    /* where they stand in the file, for messages */
    struct hm_network *network;       /* NULL when compute is a formula or a graph */
    struct hm_graph *graph;           /* message passing on it; NULL otherwise */
    double states;                    /* of a variable on a vertex, >= 2 */
    struct hm_formula *per_edge;      /* flop of an edge; NULL: belief propagation */
    enum hm_split split;              /* how the graph is split */
    double trials, seed;              /* of random splits */
    struct hm_transfer *communicate;
    size_t communicate_count;
    bool communicate_assumed; /* the job did not say; the best all-reduce of gradients is used */
    double batch;             /* samples: of all workers (strong) or of each (weak); 0 not given */
    enum hm_scaling scaling;
    double reference;  /* n that speedups are relative to, >= 1 */
    double iterations; /* 0 not given */
    double epochs;     /* 0 not given */
    double dataset;    /* samples; 0 not given */
    double precision;  /* bits of a parameter: 16, 32, 64 */
    enum hm_optimizer optimizer;
    enum hm_overlap overlap;
    double overlap_p; /* >= 1, with HM_OVERLAP_NORM */
    bool has_cluster;
    struct hm_cluster cluster;
    struct hm_measured *measured;
    size_t measured_count;
    const char *measured_source;
    struct hm_expect *expect;
    size_t expect_count;
    void *memory; /* owns everything above */
};

/* "key.path=value", as on the command line; applied to the file before it is checked. */
struct hm_override {
    const char *text;
};

/*
 * Read a job from a file (YAML, or JSON when the name ends in .json) or from text. Formulas are
 * compiled and every value is checked; names are looked up in the catalog that is built in.
 */
HM_API int hm_job_load(const char *path, const struct hm_override *overrides, size_t count,
                       struct hm_job **ret_job, struct hm_err *err);
HM_API int hm_job_parse(const char *text, size_t length, const char *source,
                        const struct hm_override *overrides, size_t count, struct hm_job **ret_job,
                        struct hm_err *err);
HM_API void hm_job_free(struct hm_job *job);

/* ---- the catalog -------------------------------------------------------------------------- */

/* Machines, fabrics and networks by name. Opaque; holds what is built in and what was added. */
struct hm_catalog;

enum hm_catalog_kind {
    HM_CATALOG_MACHINE,
    HM_CATALOG_FABRIC,
    HM_CATALOG_NETWORK,
    HM_CATALOG_ACCELERATOR, /* what an imported machine with such a card can do */
    HM_CATALOG_KINDS
};

HM_API int hm_catalog_new(struct hm_catalog **ret_catalog, struct hm_err *err);
/* Add the entries of a catalog file; they hide built-in ones of the same name. */
HM_API int hm_catalog_add(struct hm_catalog *catalog, const char *text, size_t length,
                          const char *source, struct hm_err *err);
HM_API void hm_catalog_free(struct hm_catalog *catalog);
HM_API size_t hm_catalog_count(const struct hm_catalog *catalog, enum hm_catalog_kind kind);
/* Name of the entry at index, in the order of the files. Borrowed. */
HM_API const char *hm_catalog_name(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                                   size_t index);
/* Title, source and date of an entry; *ret_text is borrowed, NULL if it does not say. */
HM_API const char *hm_catalog_text(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                                   const char *name, const char *key);
/* The machine (or accelerator, as a machine) of that name as a cluster of its own network. */
HM_API int hm_catalog_machine(const struct hm_catalog *catalog, const char *name,
                              struct hm_cluster **ret_cluster, struct hm_err *err);
/* The network link of that name. */
HM_API int hm_catalog_fabric(const struct hm_catalog *catalog, const char *name,
                             struct hm_link *ret_link, struct hm_err *err);

/* What an import found. */
struct hm_import {
    char *text;         /* a catalog file, to be kept; freed with hm_text_free */
    size_t rows;        /* read */
    size_t machines;    /* written */
    size_t known;       /* of them, with hardware from the catalog */
    size_t accelerated; /* of them, with the figures of a known accelerator */
    size_t unpriced;    /* of them, without a price */
};

/*
 * Read a SkyPilot vms.csv (plain or .gz) and turn it into a catalog file. Of several rows for one
 * machine the cheapest counts; region NULL means all regions. Prices that are missing stay unknown.
 */
HM_API int hm_catalog_import(const struct hm_catalog *catalog, const char *path, const char *region,
                             bool spot, struct hm_import *ret_import, struct hm_err *err);

/* As hm_job_parse, with a catalog of the caller's instead of the built-in one (NULL: built-in). */
HM_API int hm_job_parse_with(const struct hm_catalog *catalog, const char *text, size_t length,
                             const char *source, const struct hm_override *overrides, size_t count,
                             struct hm_job **ret_job, struct hm_err *err);
/* A cluster from text: a file with the keys of a job's `cluster` section at the top. */
HM_API int hm_cluster_parse(const struct hm_catalog *catalog, const char *text, size_t length,
                            const char *source, const struct hm_override *overrides, size_t count,
                            struct hm_cluster **ret_cluster, struct hm_err *err);
HM_API void hm_cluster_free(struct hm_cluster *cluster);

/* ---- the question --------------------------------------------------------------------------- */

enum hm_goal {
    HM_GOAL_AUTO, /* balance when a weight is given, else cost with a deadline, else time */
    HM_GOAL_TIME,
    HM_GOAL_COST,
    HM_GOAL_BALANCE, /* alpha * seconds + beta * money */
};

struct hm_fit; /* what runs have taught, see howmany_fit.h */

enum hm_platform {
    HM_PLATFORM_JOB,       /* as the job says */
    HM_PLATFORM_ALLREDUCE, /* gradients by the fastest all-reduce among the workers */
    HM_PLATFORM_DRIVER,    /* the model at a driver: broadcast by torrent, gradients in two waves */
    HM_PLATFORM_SERVER,    /* the model on parameter servers */
};
enum hm_consistency {
    HM_CONSISTENCY_BSP,   /* all begin a step together */
    HM_CONSISTENCY_SSP,   /* the fastest is at most `staleness` steps ahead of the slowest */
    HM_CONSISTENCY_ASYNC, /* nobody waits */
};
HM_API const char *hm_platform_name(enum hm_platform platform); /* "allreduce", "server", … */
HM_API int hm_platform_find(const char *name);                  /* -1 if there is none */
HM_API const char *hm_consistency_name(enum hm_consistency consistency); /* "bsp", "ssp", "async" */
HM_API int hm_consistency_find(const char *name);                        /* -1 if there is none */

/* A platform and how it is used; see docs/platforms.md. What follows consistency is of servers. */
struct hm_way {
    enum hm_platform platform;
    enum hm_consistency consistency; /* not BSP with servers alone */
    double staleness;                /* SSP: 0 or more, whole */
    double servers;                  /* 0: chosen for the goal */
    bool colocated;    /* servers are on the nodes of the workers, not on nodes of their own */
    double backups;    /* BSP: gradients of a step that nobody waits for, less than n */
    double stale_cost; /* SSP, async: iterations grow by this factor, above 0; 0: by none */
    /* It is of one worker, and that of n is n^stale_power times as large; together at least 1. */
    double stale_power;
};

/* What is asked; 0 means "not asked" unless said otherwise. */
struct hm_question {
    enum hm_goal goal;
    double alpha;      /* balance: weight of a second; negative: chosen, see docs/plan.md */
    double beta;       /* balance: weight of a unit of money; negative: chosen */
    double deadline_s; /* whole job within; 0 none */
    double budget;     /* whole job for at most; negative none */
    double max_n;      /* most workers to consider; 0: from the cluster, else 1024 */
    double reference;  /* n that speedups are relative to; 0: the job's */
    double faster;     /* "how many to be x times faster than at the reference"; 0 not asked */
    double work;       /* "how many to do x times the work in the same time"; 0 not asked */
    bool weak;         /* weak scaling whatever the job says */
    const struct hm_fit *fit;  /* take the times from it (howmany_fit.h); NULL: from the model */
    const struct hm_way *ways; /* platforms to compare, borrowed; NULL: as the job says */
    size_t way_count;
};

#define HM_QUESTION_INIT                                                                           \
    {                                                                                              \
        HM_GOAL_AUTO, -1, -1, 0, -1, 0, 0, 0, 0, false, NULL, NULL, 0                              \
    }

HM_API int hm_question_check(const struct hm_question *question, struct hm_err *err);

/* ---- the answer ----------------------------------------------------------------------------- */

/* One point of the curve: n workers. Money and memory are negative where they are unknown. */
struct hm_point {
    double n, nodes;
    double time_s;        /* one iteration */
    double low_s, high_s; /* interval of its mean, from a fit; negative unknown */
    double compute_s;     /* of it, computing, and waiting for those that are slower */
    double wait_s;        /* of compute_s, waiting; 0 where workers are even */
    double communicate_s; /* communicating; time_s is less than the sum where they overlap */
    double latency_s;     /* of communicate_s, waiting for messages to arrive; negative unknown */
    double bandwidth_s;   /* of communicate_s, moving bytes; negative unknown */
    double speedup, efficiency;
    double total_s; /* whole job; see whole_job of the answer */
    double cost;    /* whole job; negative unknown */
    double memory_bytes;
    double server_share; /* of the iteration, servers' links are busy; negative: no servers */
    double imbalance;    /* of a graph: edges of the fullest worker over the mean; else negative */
    enum hm_scheme scheme; /* the scheme chosen where the job leaves it open */
    bool fits;             /* in memory, as far as is known, and each worker has a sample */
};

enum hm_limit {
    HM_LIMIT_COMPUTE,
    HM_LIMIT_COMMUNICATION,
    HM_LIMIT_BANDWIDTH,
    HM_LIMIT_LATENCY,
    HM_LIMIT_MEMORY,
    HM_LIMIT_BATCH,
    HM_LIMIT_IMBALANCE,  /* one worker has more edges than the others */
    HM_LIMIT_STRAGGLERS, /* waiting for those that are slower */
};

/* "compute", "bandwidth", … */
HM_API const char *hm_limit_name(enum hm_limit limit);

/* "What if": one change, and the best that follows from it. */
struct hm_help {
    const char *what; /* "2x bandwidth", "half of W" */
    double n;         /* new best */
    double time_s;    /* one iteration there */
    double speedup;   /* relative to the reference of the changed job */
    double gain;      /* how many times faster the same work is done than by the answer */
};

/* One of the candidates (machine, scheme, way) that were compared, best first. */
struct hm_rank {
    const char *machine; /* NULL when the job brings its own */
    const char *scheme;  /* NULL when the job's own communication was used */
    bool feasible;
    double n, time_s, total_s, cost; /* of its best point */
    double speedup;
    struct hm_way way; /* with the servers chosen; platform as the job says where none is asked */
    double samples_per_s;               /* of gradients that count; negative unknown */
    double saturates_n, servers_enough; /* as in the answer */
    const char *why; /* what it loses by, or why it is out; NULL for the winner */
};

enum hm_status {
    HM_STATUS_OK,
    HM_STATUS_NO_SPEEDUP, /* no n is better than the reference */
    HM_STATUS_UNREACHED,  /* a deadline, a budget, a factor or the memory: nothing meets it */
};

#define HM_NONE ((size_t)-1) /* index of a point that does not exist */

struct hm_answer {
    enum hm_status status;
    const char *job, *machine, *fabric; /* names; NULL if there is none */
    const char *provenance; /* which of the ways it comes from: "model", "fit", "model and runs" */
    enum hm_goal goal;      /* as decided, never HM_GOAL_AUTO */
    enum hm_scaling scaling;
    bool whole_job; /* total_s and cost are of the whole job; else of one iteration, or, with weak
                       scaling, of the samples of one iteration at the reference */
    bool priced;
    double reference, iterations; /* iterations at best n; 0 not given */
    double price_per_s;           /* of a node; negative unknown */
    double accelerators;          /* workers in a node */
    double memory_bytes;          /* of one worker; 0 unknown */
    struct hm_point *points;
    size_t point_count;
    size_t best, knee;   /* indices into points; HM_NONE when there is none */
    size_t in_deadline;  /* cheapest that meets the deadline */
    size_t in_budget;    /* fastest within the budget */
    size_t faster, work; /* fewest workers that meet --faster, --work; HM_NONE */
    size_t nearest;      /* nearest miss when something is not met; HM_NONE */
    double nearest_gap;  /* of it: how many times over the limit, > 1 */
    const char *missed;  /* what is not met: "deadline", "budget", "memory", "speedup", … */
    struct hm_point *work_points;    /* the curve with the work multiplied; NULL if not asked */
    double plateau_from, plateau_to; /* n within 5 % of the best time around it */
    double level;                    /* of intervals, with a fit; else 0 */
    double sure;          /* probability that no other n is better, with a fit; else negative */
    double sure_near;     /* that it is within 5 % of the best */
    size_t likely;        /* with a fit: the best point of the single most likely curve */
    double n_low, n_high; /* the best n lies between, with the probability of the level */
    size_t *pareto;       /* indices, fastest first */
    size_t pareto_count;
    enum hm_limit limit;
    double limit_share; /* of the iteration at best n */
    const char *why;    /* a phrase: "aggregation by two-wave grows with sqrt(n)" */
    bool at_ceiling;    /* the best n is the largest considered, and nobody asked to stop there */
    double beyond_n;    /* a better n above the ceiling, up to four times it; 0 if none */
    double beyond_speedup;
    struct hm_help *help;
    size_t help_count;
    struct hm_rank *ranking;
    size_t rank_count;
    const char **notes; /* assumptions and warnings a person should know */
    size_t note_count;
    struct hm_measured *measured;
    size_t measured_count;
    bool uneven;                 /* the cluster has stragglers, and they count */
    struct hm_way way;           /* the platform, where one was asked for */
    double samples_per_s;        /* at the best; negative unknown */
    double saturates_n;          /* from so many workers on, the servers' links limit; 0: never */
    double servers_enough;       /* so many would do at the best n, to 5 %; 0: no servers */
    struct hm_question question; /* as asked */
    void *memory;                /* owns everything above */
};

/*
 * Answer a question from the specification sheet alone. With clusters, they take the place of the
 * job's own; with schemes, they take the place of the job's; with several, all combinations are
 * compared and the best one is answered in full. What no n can meet is an answer too: see status.
 */
HM_API int hm_plan(const struct hm_job *job, const struct hm_cluster *const *clusters,
                   size_t cluster_count, const enum hm_scheme *schemes, size_t scheme_count,
                   const struct hm_question *question, struct hm_answer **ret_answer,
                   struct hm_err *err);
HM_API void hm_answer_free(struct hm_answer *answer);

/* A published figure and ours. */
struct hm_check {
    const char *what; /* "speedup", "mape", "parameters" */
    double n;         /* 0 where it does not apply */
    double value;     /* ours */
    double published;
    double digits; /* significant digits that must agree */
    double within; /* if positive, how far off it may be instead */
    bool agrees;
};

struct hm_validation {
    const char *name; /* of the job */
    struct hm_check *checks;
    size_t count;
    struct hm_answer *answer; /* of the job; NULL when only its network was counted */
    void *memory;             /* owns everything above but the answer, which is freed with it */
};

/* Reproduce the figures a job expects and the published counts of its network. */
HM_API int hm_validate(const struct hm_job *job, struct hm_validation **ret_validation,
                       struct hm_err *err);
HM_API void hm_validation_free(struct hm_validation *validation);

/* Job files of the literature that are built in: name and text of the i-th; false after the last.
 */
HM_API bool hm_example(size_t i, const char **ret_name, const char **ret_text, size_t *ret_length);

enum hm_format { HM_FORMAT_TEXT, HM_FORMAT_JSON, HM_FORMAT_CSV, HM_FORMAT_GNUPLOT };

struct hm_style {
    bool colour;      /* escape sequences for a terminal */
    bool unicode;     /* block characters and signs beyond ASCII */
    bool table;       /* text: the whole curve as a table */
    bool chart;       /* text: the curve drawn */
    size_t width;     /* columns of the page, 40.. */
    const char *file; /* gnuplot: where the picture goes; .svg, .png or .pdf */
};

/* The answer as text; *ret_text is freed with hm_text_free. */
HM_API int hm_answer_render(const struct hm_answer *answer, enum hm_format format,
                            const struct hm_style *style, char **ret_text, struct hm_err *err);
HM_API void hm_text_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
