/*
 * howmany: the inputs. A job says what one iteration of a training run computes and sends; a
 * cluster says what the machines can do. Both are made in memory (hm_job_new, hm_cluster_new),
 * read from files or texts (hm_job_load, hm_cluster_parse), or taken from the catalog.
 *
 * A program includes howmany.h, where the conventions are described.
 */
#ifndef HOWMANY_INPUTS_H
#define HOWMANY_INPUTS_H

#include "howmany_base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hm_catalog; /* Machines and networks by name, see below. */

/* ---- formulas -------------------------------------------------------------------------------- */

/*
 * A compiled formula, such as "10/n + 0.5*log2(n)". The language is described in docs/formulas.md.
 * A formula does not change once it is made, so threads may share it.
 */
struct hm_formula;

/*
 * Compile a formula over named variables. `unit` is the unit of the result ("s", "byte", "flop",
 * "byte/s"), or NULL for a plain number. Variables are plain numbers in SI units; a formula whose
 * result has no unit is taken to be in `unit`. names may be NULL when name_count is 0.
 */
HM_API int hm_formula_new(const char *text, const char *unit, const char *const *names,
                          size_t name_count, struct hm_formula **ret_formula, struct hm_err *err);
/*
 * Evaluate a formula of hm_formula_new. values[i] is the value of names[i]. The result may be
 * infinite or NaN, as in "1/n" at n = 0. Formulas of a job cannot be evaluated by this function.
 */
HM_API int hm_formula_eval(const struct hm_formula *formula, const double *values,
                           size_t value_count, double *ret_value, struct hm_err *err);
HM_API void hm_formula_free(struct hm_formula *formula);

/* ---- networks -------------------------------------------------------------------------------- */

enum hm_layer_kind {
    HM_LAYER_DENSE,      /* Fully connected. */
    HM_LAYER_CONV,       /* Two-dimensional convolution. */
    HM_LAYER_POOL,       /* Maximum or average pooling. */
    HM_LAYER_NORM,       /* Batch or layer normalisation. */
    HM_LAYER_ACTIVATION, /* A function of each element. */
    HM_LAYER_EMBEDDING,  /* A table look-up. */
    HM_LAYER_ATTENTION,  /* Multi-head self-attention with its four projections. */
    HM_LAYER_RECURRENT,  /* RNN, GRU or LSTM. */
    HM_LAYER_FLATTEN,    /* Turns an image into a vector. */
    HM_LAYER_RESIDUAL,   /* output = children(input) + shortcut(input). */
    HM_LAYER_CONCAT,     /* Branches side by side whose channels are joined. */
    HM_LAYER_BRANCH,     /* One branch of a concat, or a shortcut: a plain sequence of layers. */
    HM_LAYER_REPEAT,     /* The children, repeated `times` times. */
};

enum hm_bias {
    HM_BIAS_NONE,
    HM_BIAS_SHARED,   /* One bias per unit or feature map. */
    HM_BIAS_POSITION, /* One bias per output position, as in LeCun 1989. */
};

enum hm_cell { HM_CELL_RNN, HM_CELL_GRU, HM_CELL_LSTM };

/* One layer. Each comment names the kinds of layers that read the field; others ignore it. */
struct hm_layer {
    enum hm_layer_kind kind;
    int line;          /* Line in the file, for messages; 0 if there is no file. */
    const char *name;  /* Name for messages and tables, such as "conv" or "gelu"; may be NULL. */
    double units;      /* dense: outputs; conv: feature maps; embedding, recurrent: width. >= 1 */
    double kernel_h;   /* conv, pool: height of the window, >= 1. */
    double kernel_w;   /* conv, pool: width of the window, >= 1. */
    double stride;     /* conv, pool: >= 1. */
    double border_h;   /* conv, pool: rows of padding, top and bottom together, >= 0. */
    double border_w;   /* conv, pool: columns of padding, left and right together, >= 0. */
    double groups;     /* conv: >= 1. */
    double depth;      /* conv: input maps that each filter reads; 0 means all of its group. */
    double vocabulary; /* embedding: rows of the table, >= 1. */
    double positions;  /* embedding: rows of a learned position table, >= 0. */
    double heads;      /* attention: >= 1. */
    double times;      /* repeat: >= 1. */
    double biases;     /* recurrent: bias vectors per gate, 0 to 2. */
    enum hm_bias bias; /* dense, conv, attention. */
    enum hm_cell cell; /* recurrent. */
    bool tied;         /* dense: the weights are those of the embedding. */
    bool affine;       /* norm: two parameters per channel. */
    bool ceil_mode;    /* pool: a window that exceeds the border counts too. */
    bool global;       /* pool: one window covers the whole image. */
    struct hm_layer *children; /* residual, concat, branch, repeat. */
    size_t child_count;
    bool has_shortcut; /* residual: the last child is the shortcut branch. */
};

enum hm_shape_kind { HM_SHAPE_VECTOR, HM_SHAPE_IMAGE, HM_SHAPE_SEQUENCE };

/*
 * The shape of one sample. A vector has `channels` values, an image height x width x channels, a
 * sequence `height` steps of `channels` values each.
 */
struct hm_shape {
    enum hm_shape_kind kind;
    double height, width, channels;
};

/* A neural network: either layers with an input shape, or two totals. */
struct hm_network {
    const char *name;      /* NULL if it has none. */
    struct hm_shape input; /* Shape of one sample; read only when there are layers. */
    struct hm_layer *layers;
    size_t layer_count;          /* 0 when only totals are known. */
    double parameters;           /* Total of trained parameters; 0 or NaN when there are layers. */
    double forward_flop;         /* Total flop to pass one sample forward; 0 or NaN likewise. */
    double published_parameters; /* Parameters that the literature gives; 0 or NaN: none. */
    double published_forward_flop; /* Forward flop that the literature gives; 0 or NaN: none. */
};

/* The size of one layer, for one sample passed forward. */
struct hm_count {
    const char *name;     /* Borrowed from the network. */
    struct hm_shape out;  /* Shape of the output. */
    double parameters;    /* Trained values. */
    double multiply_adds; /* Of matrix products and convolutions; 0 for other layers. */
    double inputs;        /* Values read. */
    double outputs;       /* Values written, and kept for the backward pass. */
};

/* The sizes of all layers, with repeated layers written out, and their sums. */
struct hm_counts {
    struct hm_count *layers; /* NULL when only totals are known. */
    size_t layer_count;
    double parameters, multiply_adds, outputs; /* Sums over the layers. */
    double forward_flop; /* Two flop per multiply-add, or the total that was given. */
};

/* A training step costs three forward passes: forward, and twice that much backward. */
#define HM_TRAINING_PASSES 3

/*
 * Count a network. Messages name `source`, which may be NULL. The counts borrow the names of the
 * layers, so the network must outlive them.
 */
HM_API int hm_counts_new(const struct hm_network *network, const char *source,
                         struct hm_counts **ret_counts, struct hm_err *err);
HM_API void hm_counts_free(struct hm_counts *counts);

/* ---- graphs ---------------------------------------------------------------------------------- */

/* `count` vertices have `degree` neighbours. */
struct hm_degree {
    double degree, count;
};

/* An undirected graph: its degrees and, where they are known, its edges. */
struct hm_graph {
    const char *name; /* File, or a description of how the graph was made. */
    double vertices;  /* Number of vertices. */
    double edges;     /* Number of edges without self-loops, each counted once. */
    double max_degree;
    struct hm_degree *degrees; /* In ascending order of degree. */
    size_t degree_count;
    double lines;      /* Lines read, or edges drawn; 0 for a file of degrees. */
    double self_loops; /* Self-loops that were left out. */
    double repeated;   /* Repeated edges that were left out; NaN: unknown. */
    uint32_t *ends;    /* Two vertex numbers from 0 on for each edge; NULL: only degrees known. */
    void *memory;      /* Owns everything above. */
};

enum hm_graph_format {
    HM_GRAPH_AUTO,    /* By the file name: .graph is METIS, .degree_dist and .degrees degrees. */
    HM_GRAPH_DEGREES, /* Lines "degree count". */
    HM_GRAPH_EDGES,   /* Lines "vertex vertex" with # comments, as in SNAP. */
    HM_GRAPH_METIS,   /* The .graph format of METIS. */
};

enum hm_recipe_kind { HM_RECIPE_POWER_LAW, HM_RECIPE_RANDOM, HM_RECIPE_GRID };

/* Describes a graph to generate. The same recipe always gives the same graph. */
struct hm_recipe {
    enum hm_recipe_kind kind;
    double vertices;   /* A whole number, >= 1. */
    double edges;      /* A whole number >= 1; ignored by a grid. */
    double max_degree; /* Power law only: a whole number, >= 1. */
    double seed;       /* A whole number, >= 0. */
};

/*
 * Read a graph from a plain or gzip file. With degrees_only the edges are not kept, which needs
 * about 4 bytes per vertex; repeated edges are then counted as if they were different.
 */
HM_API int hm_graph_load(const char *path, enum hm_graph_format format, bool degrees_only,
                         struct hm_graph **ret_graph, struct hm_err *err);
HM_API int hm_graph_make(const struct hm_recipe *recipe, struct hm_graph **ret_graph,
                         struct hm_err *err);
HM_API void hm_graph_free(struct hm_graph *graph);

/* clang-format off */
/* Columns: name; needs the edges; assigns edges instead of vertices; is random. */
#define HM_SPLIT_MAP(X)                                                                            \
    X(DEALT, "dealt", false, false, false)            /* Round robin in order of degree. */        \
    X(RANDOM, "random", false, false, true)           /* Each vertex to a random worker. */        \
    X(GREEDY, "greedy", false, false, false)          /* Largest first, to the least loaded. */    \
    X(HASH, "hash", true, false, false)               /* By a hash of the vertex number. */        \
    X(METIS, "metis", true, false, false)             /* METIS k-way: few edges between parts. */  \
    X(EDGE_RANDOM, "edge-random", true, true, true)   /* Each edge to a random worker. */          \
    X(HDRF, "hdrf", true, true, false)                /* Petroni et al. 2015. */
/* clang-format on */

/* How a graph is split among workers. */
enum hm_split {
#define HM_SPLIT_ENUM(name, text, needs_edges, cuts_vertices, random) HM_SPLIT_##name,
    HM_SPLIT_MAP(HM_SPLIT_ENUM)
#undef HM_SPLIT_ENUM
        HM_SPLIT_COUNT
};

HM_API const char *hm_split_name(enum hm_split split);   /* "?" for a number out of range. */
HM_API int hm_split_find(const char *name);              /* -1 if there is none. */
HM_API bool hm_split_needs_edges(enum hm_split split);   /* Degrees are not enough. */
HM_API bool hm_split_cuts_vertices(enum hm_split split); /* A vertex has copies. */
HM_API bool hm_split_is_random(enum hm_split split);     /* The result depends on a seed. */

/* How a graph is split among n workers. */
struct hm_parts {
    double n;          /* Workers. */
    double edges_max;  /* Edges of the worker with most edges. */
    double edges_mean; /* Mean number of edges per worker. */
    double imbalance;  /* edges_max / edges_mean. */
    double low, high;  /* 5th and 95th percentile of edges_max over the trials. */
    double worst;      /* Largest edges_max over the trials. */
    double cut;        /* Edges between different workers; NaN: unknown. */
    double replicas;   /* Mean number of copies of a vertex, >= 1; NaN: unknown. */
};

/*
 * Split a graph among n[i] workers for each i; ret_parts has `count` elements. A random split is
 * repeated `trials` times from `seed`. When only degrees are known, the edges that two workers
 * share are estimated as Ulanov et al. do; when the edges are known, they are counted.
 */
HM_API int hm_graph_split(const struct hm_graph *graph, enum hm_split split, double trials,
                          double seed, const double *n, size_t count, struct hm_parts *ret_parts,
                          struct hm_err *err);

/* ---- communication --------------------------------------------------------------------------- */

/*
 * Columns: name, and whether the scheme is a complete all-reduce.
 * REFERENCE: Thakur, Rabenseifner, Gropp 2005; Patarasuk and Yuan 2009; Ulanov et al. 2016.
 */
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

enum hm_scheme {
#define HM_SCHEME_ENUM(name, text, allreduce) HM_SCHEME_##name,
    HM_SCHEME_MAP(HM_SCHEME_ENUM)
#undef HM_SCHEME_ENUM
        HM_SCHEME_BEST, /* At each n, the fastest all-reduce that needs no servers. */
    HM_SCHEME_COUNT = HM_SCHEME_BEST
};

/* "ring", "two-wave"; "best" for HM_SCHEME_BEST; "?" for a number out of range. */
HM_API const char *hm_scheme_name(enum hm_scheme scheme);
HM_API int hm_scheme_find(const char *name); /* -1 if there is none. */
HM_API bool hm_scheme_is_allreduce(enum hm_scheme scheme);

/* What a message contains, which gives its size. */
enum hm_payload {
    HM_PAYLOAD_PARAMETERS, /* The parameters of the network. */
    HM_PAYLOAD_GRADIENTS,  /* A gradient for each parameter of the network. */
    HM_PAYLOAD_VERTICES,   /* The state of every copy of every vertex of the graph. */
    HM_PAYLOAD_BYTES,      /* As many bytes as a formula gives. */
};

/* One communication step of an iteration: either a message and a scheme, or a time. */
struct hm_transfer {
    enum hm_payload what;
    enum hm_scheme scheme;
    double servers;           /* parameter-server: number of servers, >= 1; others ignore it. */
    double times;             /* How often the step happens in one iteration, > 0. */
    struct hm_formula *bytes; /* HM_PAYLOAD_BYTES: size of the message. */
    struct hm_formula *time;  /* If not NULL, the seconds of the step; the rest is ignored. */
    int line;                 /* Line in the file, for messages; 0 if there is no file. */
};

enum hm_overlap {
    HM_OVERLAP_NONE,   /* Compute, then communicate. */
    HM_OVERLAP_NORM,   /* (compute^p + communicate^p)^(1/p). */
    HM_OVERLAP_LAYERS, /* The all-reduce of each layer starts when its gradient is ready. */
};

/* ---- clusters -------------------------------------------------------------------------------- */

struct hm_link {
    double bandwidth_bytes_per_s; /* > 0; 0 or NaN: there is no link. */
    double latency_s;             /* Time until a message arrives, >= 0. */
};

/* One machine. It has `accelerators` workers; a machine without accelerators has one worker. */
struct hm_node {
    double flops_16, flops_32, flops_64; /* Peak flop/s of one worker; 0 or NaN: unknown. */
    double efficiency; /* Fraction of the peak that is reached, in (0, 1]; 0 or NaN: unknown, and
                          the peak is used. */
    double memory_bandwidth_bytes_per_s; /* Of one worker; 0 or NaN: unknown, no roofline. */
    double kernel_overhead_s;            /* Time to start one kernel, >= 0. */
    double memory_bytes;                 /* Of one worker; 0 or NaN: unknown. */
    double accelerators;                 /* Workers in one machine: a whole number, 1 to 1024. */
    struct hm_link link;                 /* Between the workers of one machine. */
    double price_per_s; /* Money per second of one machine, >= 0; NaN: unknown. 0 is free. */
};

/* How much slower some workers or some iterations are. All zero: every iteration is the same. */
struct hm_slowness {
    double spread;        /* An iteration takes exp(spread * N(0,1)) times as long; 0 to 3. */
    double chance;        /* Probability that an iteration of a worker is slow, 0 to 1. */
    double factor;        /* A slow iteration takes this many times as long, > 1; 0: no factor. */
    double pause_s;       /* A slow iteration takes this much longer, >= 0. */
    double slow_nodes;    /* This many machines, the last ones in use, are always slow. */
    double slow_factor;   /* Slow machines take this many times as long, > 1. */
    const double *speeds; /* Relative speeds of the first machines, > 0; 1 for all others. */
    size_t speed_count;
    double per_node; /* Workers in one machine; 0: one. */
};

struct hm_cluster {
    const char *name;                  /* Name of the machine; may be NULL. */
    const char *fabric;                /* Name of the network; NULL: that of the machine. */
    const char *title, *source, *date; /* From a catalog entry; otherwise NULL. */
    struct hm_node node;
    struct hm_link network; /* Between machines. */
    double max_nodes;       /* Most machines there are: whole, 1 to 1e6; 0 or NaN: no limit. */
    bool roofline;          /* Use memory bandwidth and kernel overhead where they are known. */
    struct hm_slowness slowness;
    void *memory; /* Owns the texts and speeds; NULL in a cluster that is part of a job. */
};

/* Make a cluster of machines with one worker each; every other quantity is unknown. */
HM_API int hm_cluster_new(struct hm_cluster **ret_cluster, struct hm_err *err);
/* Check every field. The error names the field, its value and the allowed range. */
HM_API int hm_cluster_check(const struct hm_cluster *cluster, struct hm_err *err);
HM_API void hm_cluster_free(struct hm_cluster *cluster);

/* ---- jobs ------------------------------------------------------------------------------------ */

/* With strong scaling the batch is that of all workers; with weak scaling that of each worker. */
enum hm_scaling { HM_SCALING_STRONG, HM_SCALING_WEAK };
enum hm_optimizer { HM_OPTIMIZER_SGD, HM_OPTIMIZER_MOMENTUM, HM_OPTIMIZER_ADAM };

/* A published or measured point of the speedup curve. */
struct hm_measured {
    double n, speedup;
};

/* A figure that the job must reproduce, for hm_validate; see docs/job.md. */
struct hm_expect {
    const char *what; /* time, speedup, best_n, best_speedup, mape, mape_without_reference, or
                         mape_random, mape_random_spread: mean and spread over 20 random splits. */
    double n;         /* Workers, for time and speedup; 0 or NaN otherwise. */
    double value;     /* The figure. */
    double digits;    /* Significant digits that must agree. */
    double within;    /* Allowed difference instead of digits, > 0; 0 or NaN: not given. */
};

/*
 * A job. hm_job_new fills in every default; then set plain fields directly, and use the functions
 * below for fields that need memory. A pointer that you set yourself is borrowed: it must stay
 * valid while the job is used, and hm_job_free does not free it.
 */
struct hm_job {
    const char *name;                 /* May be NULL. */
    const char *description;          /* May be NULL. */
    const char *source;               /* File that it was read from; may be NULL. */
    struct hm_formula *compute;       /* Seconds of one worker; NULL: from network or graph. */
    struct hm_formula *memory_needed; /* Bytes per worker; NULL: from the network. */
    int compute_line, memory_line;    /* Lines in the file, for messages; 0 without a file. */
    struct hm_network *network;       /* NULL if there is none. */
    struct hm_graph *graph;           /* Message passing on a graph; NULL if there is none. */
    double states;                    /* graph: states of a variable on a vertex, >= 2. */
    struct hm_formula *per_edge;      /* graph: flop per edge; NULL: belief propagation. */
    enum hm_split split;              /* graph: how it is split among workers. */
    double trials, seed;              /* graph: for random splits; trials >= 1, seed >= 0. */
    struct hm_transfer *communicate;  /* The communication steps of one iteration. */
    size_t communicate_count;         /* 0: workers do not communicate. */
    bool communicate_assumed; /* The steps were not given: the best all-reduce is assumed. */
    double batch;             /* Samples of one iteration, see enum hm_scaling; NaN: not given. */
    enum hm_scaling scaling;
    double reference;  /* Speedups are relative to this many workers; whole, >= 1. */
    double iterations; /* Of the whole job, > 0; NaN: not given. */
    double epochs;     /* Of the whole job, > 0; NaN: not given. */
    double dataset;    /* Samples in the data set, > 0; NaN: not given. */
    double precision;  /* Bits of a parameter: 16, 32 or 64. */
    enum hm_optimizer optimizer;
    enum hm_overlap overlap;
    double overlap_p;          /* HM_OVERLAP_NORM: the exponent p, >= 1. */
    bool has_cluster;          /* Whether `cluster` is set. */
    struct hm_cluster cluster; /* Where the job runs, unless hm_plan gets other clusters. */
    struct hm_measured *measured;
    size_t measured_count;
    const char *measured_source;
    struct hm_expect *expect;
    size_t expect_count;
    void *memory; /* Owns what the library allocated. */
};

/*
 * Make a job with every default: strong scaling, reference 1, 32 bits, SGD, no overlap, no
 * communication, everything else not given. It needs a compute formula, a network or a graph.
 */
HM_API int hm_job_new(struct hm_job **ret_job, struct hm_err *err);
/* Set the name. Like all of the functions below, this copies its arguments into the job. */
HM_API int hm_job_set_name(struct hm_job *job, const char *name, struct hm_err *err);
/* Seconds that each of n workers computes in one iteration, such as "10/n". */
HM_API int hm_job_set_compute(struct hm_job *job, const char *formula, struct hm_err *err);
/* Bytes of memory that each of n workers needs, such as "2e9 + 8e9/n". */
HM_API int hm_job_set_memory(struct hm_job *job, const char *formula, struct hm_err *err);
/*
 * Seconds of communication in one iteration, such as "0.5*log2(n)"; NULL: workers do not
 * communicate. This replaces all communication steps.
 */
HM_API int hm_job_set_communicate(struct hm_job *job, const char *formula, struct hm_err *err);
/*
 * Add a communication step: one message of `what`, sent by `scheme`. It replaces an assumed
 * all-reduce. To change its other fields, set them in job->communicate[job->communicate_count - 1].
 */
HM_API int hm_job_add_transfer(struct hm_job *job, enum hm_payload what, enum hm_scheme scheme,
                               struct hm_err *err);
/*
 * Train a network of the catalog ("resnet-50"), or one given as sizes of dense layers
 * ("784-2500-10"). catalog may be NULL for the built-in one. If the job has no communication yet,
 * the best all-reduce of gradients is assumed.
 */
HM_API int hm_job_set_network(struct hm_job *job, const struct hm_catalog *catalog,
                              const char *name, struct hm_err *err);
/* Train a network of which only totals are known. Communication as in hm_job_set_network. */
HM_API int hm_job_set_totals(struct hm_job *job, double parameters, double forward_flop,
                             struct hm_err *err);
/* Run on this cluster, which is copied. */
HM_API int hm_job_set_cluster(struct hm_job *job, const struct hm_cluster *cluster,
                              struct hm_err *err);
/*
 * Run on a machine of the catalog. fabric names the network between machines; NULL keeps that of
 * the machine. catalog may be NULL for the built-in one.
 */
HM_API int hm_job_set_machine(struct hm_job *job, const struct hm_catalog *catalog,
                              const char *machine, const char *fabric, struct hm_err *err);
/* Check every field, and that the parts go together. The error names field, value and range. */
HM_API int hm_job_check(const struct hm_job *job, struct hm_err *err);

/* A change "key.path=value" that is applied to the text before it is checked. */
struct hm_override {
    const char *text;
};

/*
 * Read a job from a file (YAML, or JSON if the name ends in .json) or from a text. Formulas are
 * compiled and every value is checked; names are looked up in the built-in catalog.
 */
HM_API int hm_job_load(const char *path, const struct hm_override *overrides, size_t count,
                       struct hm_job **ret_job, struct hm_err *err);
/* `source` is the name that messages give the text; it may be NULL. */
HM_API int hm_job_parse(const char *text, size_t length, const char *source,
                        const struct hm_override *overrides, size_t count, struct hm_job **ret_job,
                        struct hm_err *err);
/* As hm_job_parse, with another catalog; NULL is the built-in one. */
HM_API int hm_job_parse_with(const struct hm_catalog *catalog, const char *text, size_t length,
                             const char *source, const struct hm_override *overrides, size_t count,
                             struct hm_job **ret_job, struct hm_err *err);
HM_API void hm_job_free(struct hm_job *job);

/* Read a cluster from a text with the keys of the `cluster` section of a job. */
HM_API int hm_cluster_parse(const struct hm_catalog *catalog, const char *text, size_t length,
                            const char *source, const struct hm_override *overrides, size_t count,
                            struct hm_cluster **ret_cluster, struct hm_err *err);

/* ---- the catalog ----------------------------------------------------------------------------- */

/*
 * Machines, fabrics (networks between machines) and neural networks by name: the built-in entries
 * and those that were added. Threads may share a catalog that no thread changes.
 */
struct hm_catalog;

enum hm_catalog_kind {
    HM_CATALOG_MACHINE,
    HM_CATALOG_FABRIC,
    HM_CATALOG_NETWORK,
    HM_CATALOG_ACCELERATOR, /* Used to complete imported machines that have such a card. */
    HM_CATALOG_KINDS
};

/* Make a catalog of the built-in entries. */
HM_API int hm_catalog_new(struct hm_catalog **ret_catalog, struct hm_err *err);
/* Add the entries of a catalog file; they hide earlier entries of the same name. */
HM_API int hm_catalog_add(struct hm_catalog *catalog, const char *text, size_t length,
                          const char *source, struct hm_err *err);
HM_API void hm_catalog_free(struct hm_catalog *catalog);
HM_API size_t hm_catalog_count(const struct hm_catalog *catalog, enum hm_catalog_kind kind);
/* The name of the entry at `index`, in the order of the files; NULL after the last. Borrowed. */
HM_API const char *hm_catalog_name(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                                   size_t index);
/* The title, source or date of an entry; NULL if it has none. Borrowed from the catalog. */
HM_API const char *hm_catalog_text(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                                   const char *name, const char *key);
/* A machine, or an accelerator as a machine, as a cluster that uses its own network. */
HM_API int hm_catalog_machine(const struct hm_catalog *catalog, const char *name,
                              struct hm_cluster **ret_cluster, struct hm_err *err);
/* The bandwidth and latency of a fabric. */
HM_API int hm_catalog_fabric(const struct hm_catalog *catalog, const char *name,
                             struct hm_link *ret_link, struct hm_err *err);

/* The result of an import. */
struct hm_import {
    char *text;         /* A catalog file. The caller frees it with hm_text_free. */
    size_t rows;        /* Rows read. */
    size_t machines;    /* Machines written. */
    size_t known;       /* Machines whose hardware is in the catalog. */
    size_t accelerated; /* Machines that have the figures of a known accelerator. */
    size_t unpriced;    /* Machines without a price. */
};

/*
 * Convert a SkyPilot vms.csv (plain or .gz) to a catalog file. Of several rows for one machine, the
 * cheapest is used. region NULL means all regions; spot selects spot prices.
 */
HM_API int hm_catalog_import(const struct hm_catalog *catalog, const char *path, const char *region,
                             bool spot, struct hm_import *ret_import, struct hm_err *err);

#ifdef __cplusplus
}
#endif

#endif
