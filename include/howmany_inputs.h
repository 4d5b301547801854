/*
 * howmany: the inputs. A job says what one iteration of a training run computes and sends; a
 * cluster says what the machines can do. Both can be created in memory (hm_job_new,
 * hm_cluster_new), read from files or strings (hm_job_load, hm_cluster_parse), or looked up in the
 * catalog.
 *
 * A program includes howmany.h, where the conventions are described.
 */
#ifndef HOWMANY_INPUTS_H
#define HOWMANY_INPUTS_H

#include "howmany_base.h"
#include "howmany_network.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hm_dataflow;  /* Partitions and tasks of a dataflow platform; see howmany.h. */
struct hm_large_job; /* A job that trains a transformer; docs/reference/large.md describes it. */
struct hm_catalog;   /* A catalog of machines and networks, described below. */

/* ---- formulas -------------------------------------------------------------------------------- */

/*
 * A compiled formula, such as "10/n + 0.5*log2(n)". The language is described in
 * docs/reference/formulas.md. A formula never changes after it has been compiled, so threads may
 * share it.
 */
struct hm_formula;

/*
 * Compiles a formula over named variables. `unit` is the unit of the result ("s", "byte", "flop",
 * "byte/s"), or NULL for a plain number. Variables are plain numbers in SI units; a result without
 * a unit is assumed to be in `unit`. names may be NULL when name_count is 0.
 */
HM_API int hm_formula_new(const char *text, const char *unit, const char *const *names,
                          size_t name_count, struct hm_formula **ret_formula, struct hm_err *err);
/*
 * Evaluates a formula created by hm_formula_new. values[i] is the value of names[i]. The result may
 * be infinite or NaN, as in "1/n" at n = 0. Formulas of a job cannot be evaluated by this function.
 */
HM_API int hm_formula_eval(const struct hm_formula *formula, const double *values,
                           size_t value_count, double *ret_value, struct hm_err *err);
HM_API void hm_formula_free(struct hm_formula *formula);

/* ---- graphs ---------------------------------------------------------------------------------- */

/* One entry of a degree distribution: `count` vertices have `degree` neighbours. */
struct hm_degree {
    double degree, count;
};

/* An undirected graph: its degrees and, if they are known, its edges. */
struct hm_graph {
    const char *name; /* Name of the file, or a description of how the graph was generated. */
    double vertices;  /* Number of vertices. */
    double edges;     /* Number of edges, each counted once, without self-loops. */
    double max_degree;
    struct hm_degree *degrees; /* Distribution of degrees, in ascending order of degree. */
    size_t degree_count;
    double lines; /* Number of lines that were read, or of edges that were generated; 0 for a file
                     of degrees. */
    double self_loops; /* Number of self-loops that were removed. */
    double repeated;   /* Number of repeated edges that were removed; NaN if unknown. */
    uint32_t *ends;    /* Two vertex numbers for each edge, counted from 0; NULL means that only
                          degrees are known. */
    bool may_be_cut;   /* The last line of the file has no line break, so the file may be cut, and
                          its last number with it. Always false for the METIS format. */
    void *memory;      /* Owns all memory of this struct. */
};

enum hm_graph_format {
    HM_GRAPH_AUTO,    /* The file name decides: .graph means METIS, .degree_dist and .degrees
                         mean degrees, and other names mean edges. */
    HM_GRAPH_DEGREES, /* Lines of the form "degree count". */
    HM_GRAPH_EDGES,   /* Lines of the form "vertex vertex", and # comments, as in SNAP. */
    HM_GRAPH_METIS,   /* The .graph format of METIS. */
};

enum hm_recipe_kind { HM_RECIPE_POWER_LAW, HM_RECIPE_RANDOM, HM_RECIPE_GRID };

/* Describes a graph to generate. The same recipe always produces the same graph. */
struct hm_recipe {
    enum hm_recipe_kind kind;
    double vertices;   /* Number of vertices: whole, >= 1. */
    double edges;      /* Number of edges: whole, >= 1; ignored for a grid. */
    double max_degree; /* Largest degree, for power laws only: whole, >= 1. */
    double seed;       /* Seed of the random graph: whole, >= 0. */
};

/*
 * Reads a graph from a plain or gzip file. With degrees_only, the edges are not stored, and reading
 * needs only about 4 bytes per vertex; repeated edges are then counted as different edges.
 */
HM_API int hm_graph_load(const char *path, enum hm_graph_format format, bool degrees_only,
                         struct hm_graph **ret_graph, struct hm_err *err);
HM_API int hm_graph_make(const struct hm_recipe *recipe, struct hm_graph **ret_graph,
                         struct hm_err *err);
HM_API void hm_graph_free(struct hm_graph *graph);

/* clang-format off */
/*
 * Methods for splitting a graph. Columns of the table: identifier; name; whether the method needs
 * the edges; whether it assigns edges instead of vertices; whether it is random.
 */
#define HM_SPLIT_MAP(X)                                                                            \
    X(DEALT, "dealt", false, false, false)            /* Assigns vertices in turn, by degree. */   \
    X(RANDOM, "random", false, false, true)           /* Assigns each vertex at random. */         \
    X(GREEDY, "greedy", false, false, false)          /* Assigns each vertex to the least loaded worker. */    \
    X(HASH, "hash", true, false, false)               /* Assigns vertices by a hash. */            \
    X(METIS, "metis", true, false, false)             /* METIS k-way, which cuts few edges. */     \
    X(EDGE_RANDOM, "edge-random", true, true, true)   /* Assigns each edge at random. */           \
    X(HDRF, "hdrf", true, true, false)                /* HDRF (Petroni et al. 2015). */
/* clang-format on */

/* Methods for splitting a graph among workers. */
enum hm_split {
#define HM_SPLIT_ENUM(name, text, needs_edges, cuts_vertices, random) HM_SPLIT_##name,
    HM_SPLIT_MAP(HM_SPLIT_ENUM)
#undef HM_SPLIT_ENUM
        HM_SPLIT_COUNT
};

/* Returns the name of a splitting method; "?" for a number out of range. */
HM_API const char *hm_split_name(enum hm_split split);
/* Returns the splitting method with that name, or -1 if there is none. */
HM_API int hm_split_find(const char *name);
/* Returns whether the method needs the edges of the graph and not only its degrees. */
HM_API bool hm_split_needs_edges(enum hm_split split);
/* Returns whether the method may put copies of a vertex on several workers. */
HM_API bool hm_split_cuts_vertices(enum hm_split split);
/* Returns whether the method depends on a seed. */
HM_API bool hm_split_is_random(enum hm_split split);

/* The result of splitting a graph among n workers. */
struct hm_parts {
    double n; /* Number of workers. */
    /* Number of edges on the most loaded worker, averaged over the random trials. */
    double edges_max;
    double edges_mean; /* Mean number of edges per worker. */
    double imbalance;  /* Imbalance: the ratio edges_max / edges_mean. */
    double low, high;  /* 5th and 95th percentiles of edges_max over the random trials. */
    double worst;      /* Largest edges_max over the random trials. */
    double cut;        /* Number of edges between different workers; NaN if unknown. */
    double replicas;   /* Mean number of copies of a vertex, >= 1; NaN if unknown. */
};

/*
 * Splits a graph among n[i] workers for each i; ret_parts has `count` elements. A random split is
 * repeated `trials` times, starting from `seed`. If the edges are known, the edges of each worker
 * are counted; if only degrees are known, they are estimated as in Ulanov et al. 2016.
 */
HM_API int hm_graph_split(const struct hm_graph *graph, enum hm_split split, double trials,
                          double seed, const double *n, size_t count, struct hm_parts *ret_parts,
                          struct hm_err *err);

/* ---- communication --------------------------------------------------------------------------- */

/*
 * Communication schemes. Columns of the table: identifier; name; whether the scheme is a complete
 * all-reduce. References: Thakur, Rabenseifner, Gropp 2005; Patarasuk and Yuan 2009; Ulanov et al.
 * 2016.
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
    X(SERIAL, "serial", false)                                                                     \
    X(GOSSIP_RING, "gossip-ring", false)                                                           \
    X(GOSSIP_EXP, "gossip-exp", false)

enum hm_scheme {
#define HM_SCHEME_ENUM(name, text, allreduce) HM_SCHEME_##name,
    HM_SCHEME_MAP(HM_SCHEME_ENUM)
#undef HM_SCHEME_ENUM
        HM_SCHEME_BEST, /* The library chooses the fastest all-reduce that needs no servers, for
                           each number of workers. */
    HM_SCHEME_COUNT = HM_SCHEME_BEST
};

/* Returns "ring", "two-wave", ...; "best" for HM_SCHEME_BEST; "?" for a number out of range. */
HM_API const char *hm_scheme_name(enum hm_scheme scheme);
HM_API int
hm_scheme_find(const char *name); /* Returns the scheme with that name, or -1 if there is none. */
HM_API bool hm_scheme_is_allreduce(enum hm_scheme scheme);

/* The content of a message, which determines its size. */
enum hm_payload {
    HM_PAYLOAD_PARAMETERS, /* The message contains all parameters of the network. */
    HM_PAYLOAD_GRADIENTS,  /* The message contains one gradient value for each parameter of the
                              network. */
    HM_PAYLOAD_VERTICES,   /* The message contains the states of all copies of all vertices. */
    HM_PAYLOAD_BYTES, /* The message has any content; a formula determines its number of bytes. */
};

/*
 * One communication step of an iteration. It is described by a message and a scheme, or by a
 * formula for its time.
 */
struct hm_transfer {
    enum hm_payload what;
    enum hm_scheme scheme;
    double servers; /* Number of servers, >= 1, for HM_SCHEME_PARAMETER_SERVER; other schemes ignore
                       it. */
    double times;   /* Number of times the step happens in one iteration, > 0. */
    /* Formula for the size of the message with HM_PAYLOAD_BYTES; otherwise NULL. */
    struct hm_formula *bytes;
    struct hm_formula *time; /* Formula for the time of the step in seconds. If it is not NULL, all
                                other fields are ignored. */
    int line; /* Line of the step in the file, used in error messages; 0 if there is no file. */
};

enum hm_overlap {
    HM_OVERLAP_NONE,    /* No overlap: the time is compute + communicate. */
    HM_OVERLAP_NORM,    /* Partial overlap: the time is (compute^p + communicate^p)^(1/p). */
    HM_OVERLAP_LAYERS,  /* The all-reduce of each layer starts when the gradient of the layer is
                           ready. */
    HM_OVERLAP_BUCKETS, /* Gradients are sent in buckets; a bucket is sent when it is full. */
    HM_OVERLAP_AUTO,    /* BUCKETS if the operations of the step are modelled, else NONE. */
};

/* ---- clusters -------------------------------------------------------------------------------- */

struct hm_link {
    double bandwidth_bytes_per_s; /* Bandwidth in bytes per second, > 0; 0 or NaN if there is no
                                     link. */
    double latency_s;             /* Latency of a message in seconds, >= 0. */
    bool reduces; /* True if the switch sums the messages of an all-reduce, as NVLink SHARP does. */
    bool mesh; /* True if each pair of workers has its own link, with a share of the bandwidth. */
};

/* Generation of a GPU, which determines the kernels that libraries provide for it. */
enum hm_generation {
    HM_GENERATION_UNKNOWN, /* Unknown or older generation, or a GPU of another vendor. */
    HM_GENERATION_VOLTA,
    HM_GENERATION_AMPERE,
    HM_GENERATION_ADA,
    HM_GENERATION_HOPPER,
    HM_GENERATION_BLACKWELL, /* GPUs for data centres such as the B200, not those for
                                workstations. */
    HM_GENERATION_COUNT
};

/* One rate for each number format of matrix products; 0 or NaN if not known. */
struct hm_rates {
    double fp64, fp32, tf32, bf16, fp16, fp8;
};

/*
 * The results of measurements on a machine. They replace the values of a data sheet and the
 * assumptions about the speed that software reaches. A value that was not measured is 0 or NaN.
 */
struct hm_calibration {
    const char *date;   /* Day of the measurement, such as "2026-11-16"; may be NULL. */
    double uncertainty; /* Relative uncertainty of the measured values, 0 to 1. */
    /* Rate in flop/s that the largest matrix products of one worker reach. */
    struct hm_rates flops;
    struct hm_rates convolutions; /* Speed of convolutions relative to the speed that the model
                                     derives from the measured matrix products. */
    double memory_bandwidth_bytes_per_s; /* Bytes per second that element-wise kernels move. */
    double core_bandwidth_bytes_per_s;   /* Bytes per second that one thread of a CPU moves. */
    double kernel_s;                     /* Time in seconds that one small kernel takes. */
};

/* One machine. It has `accelerators` workers; a machine without accelerators has one worker. */
struct hm_node {
    enum hm_generation generation;
    double flops_16, flops_32, flops_64; /* Peak flop/s of one worker in fp16, fp32 (without TF32)
                                            and fp64; 0 or NaN if unknown. */
    double flops_bf16, flops_tf32; /* Peak flop/s in bf16 and TF32 without sparsity; 0 or NaN if
                                      there are no such units. */
    /* Peak flop/s in fp8 and fp4 without sparsity; 0 or NaN if there are no such units. */
    double flops_fp8, flops_fp4;
    /* Number of processors in one worker that share a matrix product, such as the multiprocessors
     * of a GPU; 0 or NaN if unknown. If it is known, training steps of networks with layers are
     * modelled operation by operation. */
    double processors;
    /* Number of cores of a worker that is a CPU; 0 or NaN if unknown or if the worker is an
     * accelerator. If it is known, training steps and graph jobs are modelled by the operations of
     * a CPU. */
    double cores;
    double threads;     /* Number of threads that compute on a CPU worker, >= 1; 0 or NaN means all
                           cores. */
    double cache_bytes; /* Size in bytes of the cache that the cores of a CPU share; 0 or NaN if
                           unknown. */
    double matrix_efficiency; /* Fraction of the peak that the largest matrix products reach, in (0,
                                 1]; 0 or NaN if unknown. */
    double efficiency; /* Fraction of the peak that computation reaches, in (0, 1]; 0 or NaN if
                          unknown, in which case the full peak is assumed. */
    double memory_bandwidth_bytes_per_s; /* Memory bandwidth of one worker; 0 or NaN if unknown, in
                                            which case no roofline is used. */
    double kernel_overhead_s;            /* Time in seconds to start one kernel, >= 0. */
    double memory_bytes;                 /* Memory of one worker; 0 or NaN if unknown. */
    double accelerators;                 /* Number of workers in one machine: whole, 1 to 1024. */
    double host_memory_bytes; /* Memory of the host of one machine with accelerators, used for
                                 offloaded states; 0 or NaN if unknown. */
    struct hm_link link;      /* Link between the workers of one machine. */
    double price_per_s; /* Price per second of one machine, >= 0; NaN if unknown; 0 if free. */
    struct hm_calibration measured; /* Rates and times that were measured on this machine. */
};

/* The slowness of workers: how much longer than usual some workers or some iterations take. If all
 * fields are 0, all iterations take the same time. */
struct hm_slowness {
    double spread;  /* Random variation, 0 to 3: an iteration takes exp(spread * Z) times as long,
                       where Z is standard normal. */
    double chance;  /* Probability that one iteration of one worker is slow, 0 to 1. */
    double factor;  /* Factor by which a slow iteration is slower, > 1; 0 if there is none. */
    double pause_s; /* Time in seconds that is added to a slow iteration, >= 0. */
    double slow_nodes; /* Number of machines that are always slow; they are the last machines in
                          use. */
    /* Factor by which the slow machines are slower, > 1; 0 if there are none. */
    double slow_factor;
    const double *speeds; /* Relative speeds of the first machines, > 0; all other machines have
                             speed 1. */
    size_t speed_count;
    double per_node; /* Number of workers in one machine; 0 means one. */
};

/* Keys of a cluster that do not describe one worker or its links; each is one bit of a set. */
enum hm_cluster_key {
    HM_CLUSTER_MAX_NODES = 1,
    HM_CLUSTER_PRICE = 2,
    HM_CLUSTER_FABRIC = 4,
    HM_CLUSTER_EFFICIENCY = 8,
    HM_CLUSTER_STRAGGLERS = 16,
    HM_CLUSTER_ACCELERATORS = 32,
};

struct hm_kind; /* A kind of machine in a mixed cluster; described in howmany.h. */
/*
 * How samples are divided among the workers of a mixed cluster: in proportion to speed, or equally.
 */
enum hm_shares { HM_SHARES_SPEED, HM_SHARES_EQUAL };

struct hm_cluster {
    const char *name; /* Name of the machine; may be NULL. */
    /* Name of the fabric; NULL means the fabric of the machine, or no fabric. */
    const char *fabric_name;
    const char *title, *source, *date; /* Title, source and date of the catalog entry; NULL without
                                          an entry. */
    const char *assumed; /* Names of the values that the source does not specify; may be NULL. */
    struct hm_node node;
    struct hm_link fabric; /* The fabric: the connection of a machine to the other machines. */
    double max_nodes; /* Number of machines that exist: whole, 1 to 1e6; 0 or NaN for no limit. */
    bool roofline; /* True if memory bandwidth and kernel overhead are taken into account when they
                      are known. */
    struct hm_slowness slowness;
    unsigned given;   /* Set of the keys (enum hm_cluster_key) that the description itself contains,
                         without the keys of its machine. */
    const char *note; /* Sentence about keys that come from the cluster of the job or that have an
                         old name; NULL if there is none. */
    /* Kinds of machines in a mixed cluster, see howmany.h; NULL if there is one kind. With several
     * kinds, the other fields describe the first kind. */
    const struct hm_kind *kinds;
    size_t kind_count;
    enum hm_shares shares; /* How the samples are divided among the workers of a mixed cluster. */
    bool threads_auto; /* True if hm_plan chooses processes and threads on a machine with cores. */
    void *memory;      /* Owns the strings and speeds; NULL in a cluster that is part of a job. */
};

/* Creates a cluster of machines with one worker each; every other quantity is unknown. */
HM_API int hm_cluster_new(struct hm_cluster **ret_cluster, struct hm_err *err);
/* Checks every field. The error names the field, its value and the allowed range. */
HM_API int hm_cluster_check(const struct hm_cluster *cluster, struct hm_err *err);
HM_API void hm_cluster_free(struct hm_cluster *cluster);

/* ---- jobs ------------------------------------------------------------------------------------ */

/*
 * With strong scaling, `batch` counts the samples of all workers together; with weak scaling, the
 * samples of each worker.
 */
enum hm_scaling { HM_SCALING_STRONG, HM_SCALING_WEAK };
enum hm_optimizer { HM_OPTIMIZER_SGD, HM_OPTIMIZER_MOMENTUM, HM_OPTIMIZER_ADAM };

/* Number format of matrix products. */
enum hm_math {
    /* The bits of a parameter determine the format. 64 bits: fp64. 32 bits: mixed precision (bf16,
     * else fp16) if the machine has matrix units for it, else fp32. 16 bits: bf16 if the machine
     * has it, else fp16. Jobs without layers of a network use TF32 at 32 bits. */
    HM_MATH_AUTO,
    HM_MATH_FP64,
    HM_MATH_FP32, /* IEEE single precision, never TF32. */
    HM_MATH_TF32, /* TF32 if the machine has it, else fp32. */
    HM_MATH_BF16,
    HM_MATH_FP16,
    HM_MATH_FP8,
    HM_MATH_COUNT
};

/* Returns "tf32", "bf16", ...; "auto" for HM_MATH_AUTO; "?" for a number out of range. */
HM_API const char *hm_math_name(enum hm_math math);

/* The kind of software that runs a step; docs/explain/models.md lists the assumptions about each
 * kind. */
enum hm_software {
    HM_SOFTWARE_EAGER,    /* Python launches each operation separately, when the program reaches
                             it. */
    HM_SOFTWARE_COMPILED, /* The runtime knows the graph of the step, fuses operations and
                             launches them, as with torch.compile, XLA, TensorFlow or MXNet
                             graphs. */
    HM_SOFTWARE_TUNED,    /* The step is optimised by hand, as in MLPerf submissions of vendors. */
    HM_SOFTWARE_COUNT
};

/* Returns "eager", "compiled" or "tuned"; "?" for a number out of range. */
HM_API const char *hm_software_name(enum hm_software software);

/* The framework whose costs are added to a step; docs/reference/platforms.md lists these costs. */
enum hm_framework {
    HM_FRAMEWORK_NONE, /* No costs are added to computation and messages. */
    HM_FRAMEWORK_SPARK,
    HM_FRAMEWORK_TENSORFLOW, /* TensorFlow 1 with parameter servers. */
    HM_FRAMEWORK_MXNET,
    HM_FRAMEWORK_PMLS, /* Petuum, also called PMLS. */
    HM_FRAMEWORK_COUNT
};

/* Returns "none", "spark", "tensorflow", "mxnet" or "pmls"; "?" for a number out of range. */
HM_API const char *hm_framework_name(enum hm_framework framework);

/* The form in which a framework receives the samples of an iteration. */
enum hm_input {
    HM_INPUT_MEMORY, /* Samples are arrays of numbers in memory. */
    HM_INPUT_TEXT,   /* Samples are text or records that the framework converts value by value. */
    HM_INPUT_COUNT
};

/* A published or measured speedup on n workers. */
struct hm_measured {
    double n, speedup;
};

/* A value that hm_validate must reproduce; see docs/reference/job.md. */
struct hm_expect {
    const char *what; /* Name of the value: time, speedup, best_n, best_speedup, mape (mean
                         absolute percentage error of the speedups), mape_without_reference,
                         mape_random or mape_random_spread (mean and spread of mape over 20
                         random splits of the graph). */
    double n;         /* Number of workers, for time and speedup; 0 or NaN for other values. */
    double value;     /* Expected value. */
    double digits;    /* Number of significant digits that must agree. */
    double within; /* Largest allowed absolute difference, used instead of digits, > 0; 0 or NaN if
                      not given. */
};

/*
 * Number of epochs needed to reach a training target if all workers together process `batch`
 * samples per step.
 */
struct hm_epochs_at {
    double batch, epochs;
};

/* A job. hm_job_new fills in every default; then set plain fields directly, and use the functions
 * below for fields that need memory. A pointer that you set yourself is borrowed: it must stay
 * valid while the job is used, and hm_job_free does not free it. */
struct hm_job {
    const char *name;        /* Name of the job; may be NULL. */
    const char *description; /* Description for human readers; may be NULL. */
    const char *source;      /* File that the job was read from; may be NULL. */
    /* Sentence about values that were assumed for the job; NULL if there is none. */
    const char *note;
    /* Formula for the computation time of each worker in one iteration, in seconds; NULL means that
     * it is derived from the network or the graph. */
    struct hm_formula *compute;
    struct hm_formula *memory_needed; /* Formula for the bytes of memory that each worker needs;
                                         NULL means that the bytes are computed from the network. */
    int compute_line, memory_line;    /* Lines of the formulas `compute` and `memory_needed` in the
                                         file, used in error messages; 0 without a file. */
    struct hm_network *network;       /* Neural network to train; NULL if there is none. */
    struct hm_graph *graph;           /* Graph for message passing; NULL if there is none. */
    /* Transformer to plan; NULL if there is none. It is set by hm_job_set_transformer
     * (howmany_layouts.h) and by the functions that read a job. */
    struct hm_large_job *large;
    double states; /* For graph jobs: number of states of the variable at each vertex, >= 2. */
    struct hm_formula *per_edge; /* For graph jobs: formula for the flop per edge; NULL means the
                                    flop of belief propagation. */
    enum hm_split split;         /* For graph jobs: method that splits the graph among workers. */
    double trials, seed; /* For random splits: number of trials, >= 1, and their seed, >= 0. */
    struct hm_transfer *communicate; /* The communication steps of one iteration. */
    size_t communicate_count;        /* Number of communication steps; 0 means that workers do not
                                        communicate. */
    /* True if the communication steps are assumed: the best all-reduce of gradients. */
    bool communicate_assumed;
    double batch; /* Number of samples in one iteration, see enum hm_scaling; NaN if not given. */
    enum hm_scaling scaling;
    double reference;  /* Number of workers that speedups are relative to; whole, >= 1. */
    double iterations; /* Number of iterations of the whole job, > 0; NaN if not given. */
    double epochs;     /* Number of epochs of the whole job, > 0; NaN if not given. */
    struct hm_epochs_at *epochs_at; /* Numbers of epochs to the training target for several batches,
                                       in ascending order; NULL means `epochs` for every batch. */
    size_t epochs_at_count;
    /* Batch that needs twice as many epochs as a small batch, > 0: a batch of B needs 1 + B /
     * critical_batch times `epochs`; 0 or NaN if not given. */
    double critical_batch;
    double dataset;    /* Number of samples in the data set, > 0; NaN if not given. */
    double precision;  /* Bits of a parameter and of its gradient: 16, 32 or 64. */
    enum hm_math math; /* Number format of matrix products. */
    enum hm_software software;
    bool channels_last; /* Images are stored position by position (NHWC). */
    enum hm_framework framework;
    enum hm_input input;
    double bucket_bytes; /* Size in bytes of the gradients that are sent together with
                            HM_OVERLAP_BUCKETS; 0 or NaN means 25 MB. */
    enum hm_optimizer optimizer;
    enum hm_overlap overlap;
    double overlap_p;          /* Exponent p of HM_OVERLAP_NORM, >= 1. */
    bool has_cluster;          /* True if `cluster` is set. */
    struct hm_cluster cluster; /* Cluster that the job runs on, unless other clusters are passed to
                                  hm_plan. */
    struct hm_measured *measured;
    size_t measured_count;
    const char *measured_source;
    struct hm_expect *expect;
    size_t expect_count;
    double micro_batch; /* Number of samples in one forward pass of a worker, >= 1, whole; 0 or NaN
                           means as many as fit in memory. */
    const struct hm_dataflow *dataflow; /* Partitions and tasks of a platform with a driver, see
                                           howmany.h; NULL if there is none. */
    void *memory; /* Owns all memory that the library allocated for the job. */
};

/*
 * Creates a job with default values: strong scaling, a reference of 1 worker, 32 bits, SGD, no
 * overlap, no communication; all other values are unset. The caller must then add a compute
 * formula, a network or a graph.
 */
HM_API int hm_job_new(struct hm_job **ret_job, struct hm_err *err);
/* Sets the name. Like all functions below, this one copies its arguments into the job. */
HM_API int hm_job_set_name(struct hm_job *job, const char *name, struct hm_err *err);
/*
 * Sets the formula for the computation time of each of n workers in one iteration, such as "10/n".
 */
HM_API int hm_job_set_compute(struct hm_job *job, const char *formula, struct hm_err *err);
/* Sets the formula for the bytes of memory that each of n workers needs, such as "2e9 + 8e9/n". */
HM_API int hm_job_set_memory(struct hm_job *job, const char *formula, struct hm_err *err);
/*
 * Sets the formula for the communication time in one iteration, in seconds, such as "0.5*log2(n)";
 * NULL means that workers do not communicate. The formula replaces all communication steps.
 */
HM_API int hm_job_set_communicate(struct hm_job *job, const char *formula, struct hm_err *err);
/*
 * Adds a communication step: one message with content `what`, sent by `scheme`. The first step that
 * is added replaces an assumed all-reduce. To change other fields of the step, set them in
 * job->communicate[job->communicate_count - 1].
 */
HM_API int hm_job_add_transfer(struct hm_job *job, enum hm_payload what, enum hm_scheme scheme,
                               struct hm_err *err);
/*
 * Sets the network to train: a name in the catalog ("resnet-50"), or the sizes of dense layers
 * ("784-2500-10"). catalog may be NULL for the built-in catalog. If the job has no communication
 * yet, the best all-reduce of gradients is assumed.
 */
HM_API int hm_job_set_network(struct hm_job *job, const struct hm_catalog *catalog,
                              const char *name, struct hm_err *err);
/*
 * Sets the network to train if only its total parameters and flop are known. If the job has no
 * communication yet, the best all-reduce of gradients is assumed.
 */
HM_API int hm_job_set_totals(struct hm_job *job, double parameters, double forward_flop,
                             struct hm_err *err);
/* Sets the cluster that the job runs on. The cluster is copied. */
HM_API int hm_job_set_cluster(struct hm_job *job, const struct hm_cluster *cluster,
                              struct hm_err *err);
/*
 * Sets the cluster that the job runs on to a machine in the catalog. fabric names the connection
 * between machines; NULL means the fabric in the entry of the machine. catalog may be NULL for the
 * built-in catalog.
 */
HM_API int hm_job_set_machine(struct hm_job *job, const struct hm_catalog *catalog,
                              const char *machine, const char *fabric, struct hm_err *err);
/*
 * Checks every field, and checks that no fields contradict each other. The error names the field,
 * its value and the allowed range.
 */
HM_API int hm_job_check(const struct hm_job *job, struct hm_err *err);

/* A change "key.path=value", which is applied to the text of a job before the text is checked. */
struct hm_override {
    const char *text;
};

/*
 * Reads a job from a file (YAML, or JSON if the name ends in .json). Formulas are compiled, every
 * value is checked, and names are looked up in the built-in catalog.
 */
HM_API int hm_job_load(const char *path, const struct hm_override *overrides, size_t count,
                       struct hm_job **ret_job, struct hm_err *err);
/* Same as hm_job_load, but reads a string. `source` is the name of the string in error messages; it
 * may be NULL. */
HM_API int hm_job_parse(const char *text, size_t length, const char *source,
                        const struct hm_override *overrides, size_t count, struct hm_job **ret_job,
                        struct hm_err *err);
/* Same as hm_job_parse, but names are looked up in `catalog`; NULL means the built-in catalog. */
HM_API int hm_job_parse_with(const struct hm_catalog *catalog, const char *text, size_t length,
                             const char *source, const struct hm_override *overrides, size_t count,
                             struct hm_job **ret_job, struct hm_err *err);
HM_API void hm_job_free(struct hm_job *job);

/* Reads a cluster from a string with the keys of the `cluster` section of a job. */
HM_API int hm_cluster_parse(const struct hm_catalog *catalog, const char *text, size_t length,
                            const char *source, const struct hm_override *overrides, size_t count,
                            struct hm_cluster **ret_cluster, struct hm_err *err);

/* ---- the catalog ----------------------------------------------------------------------------- */

/* A catalog: machines, fabrics (networks between machines) and neural networks by name. It contains
 * the built-in entries and the entries that were added. Threads may share a catalog that no thread
 * changes. */
struct hm_catalog;

enum hm_catalog_kind {
    HM_CATALOG_MACHINE,
    HM_CATALOG_FABRIC,
    HM_CATALOG_NETWORK,
    HM_CATALOG_ACCELERATOR, /* Accelerator card. Its entry supplies missing data for imported
                               machines that have such a card. */
    HM_CATALOG_KINDS
};

/* Creates a catalog with the built-in entries. */
HM_API int hm_catalog_new(struct hm_catalog **ret_catalog, struct hm_err *err);
/*
 * Adds the entries of a catalog file. They replace earlier entries with the same name in look-ups.
 */
HM_API int hm_catalog_add(struct hm_catalog *catalog, const char *text, size_t length,
                          const char *source, struct hm_err *err);
HM_API void hm_catalog_free(struct hm_catalog *catalog);
HM_API size_t hm_catalog_count(const struct hm_catalog *catalog, enum hm_catalog_kind kind);
/* Returns the name of the entry at `index`, in the order of the files; NULL after the last entry.
 * The name is borrowed from the catalog. */
HM_API const char *hm_catalog_name(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                                   size_t index);
/* Returns the text with the given key ("title", "source" or "date") of an entry; NULL if the entry
 * has no such text. The text is borrowed from the catalog. */
HM_API const char *hm_catalog_text(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                                   const char *name, const char *key);
/*
 * Creates a cluster from a machine in the catalog, with the fabric of that machine. `name` may also
 * be an accelerator, which then counts as a machine.
 */
HM_API int hm_catalog_machine(const struct hm_catalog *catalog, const char *name,
                              struct hm_cluster **ret_cluster, struct hm_err *err);
/* Gets the bandwidth and latency of a fabric. */
HM_API int hm_catalog_fabric(const struct hm_catalog *catalog, const char *name,
                             struct hm_link *ret_link, struct hm_err *err);

/* The result of importing machines. */
struct hm_import {
    char *text;         /* Text of a catalog file. The caller frees it with hm_text_free. */
    size_t rows;        /* Number of rows that were read. */
    size_t machines;    /* Number of machines in the resulting text. */
    size_t known;       /* Number of machines whose hardware is in the catalog. */
    size_t accelerated; /* Number of machines whose hardware data come from an accelerator in the
                           catalog. */
    size_t cores;       /* Number of machines without accelerators whose cores are assumed. */
    size_t unpriced;    /* Number of machines without a price. */
};

/*
 * Converts a SkyPilot vms.csv (plain or .gz) to a catalog file. If a machine has several rows, the
 * cheapest one is used. A region of NULL means all regions; `spot` selects spot prices.
 */
HM_API int hm_catalog_import(const struct hm_catalog *catalog, const char *path, const char *region,
                             bool spot, struct hm_import *ret_import, struct hm_err *err);

#ifdef __cplusplus
}
#endif

#endif
