/*
 * howmany: how many machines to train on, how long it takes, what it costs, and why.
 *
 * This is the main header of libhowmany. It describes the question, the answer, and hm_plan, which
 * answers the question. It includes howmany_base.h (version, errors) and howmany_inputs.h (jobs,
 * clusters, the catalog). Four more headers go further: howmany_fit.h fits measured runs,
 * howmany_advise.h fits training curves, howmany_store.h keeps runs in a database, and
 * howmany_request.h answers requests from a program or a server as the command line does.
 *
 *     struct hm_err err = {0};
 *     struct hm_job *job = NULL;
 *     struct hm_answer *answer = NULL;
 *     struct hm_question question = HM_QUESTION_INIT;
 *
 *     if (hm_job_new(&job, &err) == 0 && hm_job_set_compute(job, "10/n", &err) == 0 &&
 *         hm_job_set_communicate(job, "0.5*log2(n)", &err) == 0 &&
 *         hm_plan(job, NULL, 0, NULL, 0, &question, &answer, &err) == 0)
 *             printf("%g workers\n", answer->points[answer->recommended].n);
 *     hm_answer_free(answer);
 *     hm_job_free(job);
 *
 * Conventions
 *
 * Quantities are doubles in SI units. The name ends in the unit: _s for seconds, _bytes for bytes,
 * _flops for flop per second. Money has no unit; the catalog uses US dollars.
 *
 * An unknown quantity is NaN. In a job or a cluster, 0 also means unknown if 0 is not a possible
 * value of the quantity. In questions and settings, 0 means "not asked" or "the default", and NaN
 * is an error, unless the comment on the field says otherwise. Results use NaN only.
 *
 * Functions return 0 or a negative code from enum hm_code. Results go out through ret_ parameters,
 * which are written only on success. The last parameter is a struct hm_err *, which the caller owns
 * and which may be NULL. A required pointer that is NULL is an error, not a crash.
 *
 * Memory: hm_x_new, _load, _parse and _make allocate, and hm_x_free frees; every hm_x_free accepts
 * NULL. Inputs are copied unless a comment says "borrowed". A pointer inside a result lives as long
 * as the result.
 *
 * Threads: the library keeps no global state, prints nothing, never exits and does not read the
 * environment. Threads may share objects that no thread changes. A struct hm_store belongs to one
 * thread at a time.
 *
 * Versions
 *
 * Until 1.0.0, the middle number increases with every change that a program must adapt to; such
 * changes are listed in CHANGELOG.md. The name of the shared library contains the first two numbers
 * (libhowmany.so.0.2), so a program never runs with an incompatible version. Releases that differ
 * only in the last number are compatible: structs keep their size and meaning, and functions, error
 * codes and values of enums are only added.
 *
 * To let structs grow without changes to your source: start each struct that you fill in from its
 * HM_..._INIT macro, from {0} where no macro exists, or from hm_x_new. New fields are added at the
 * end, and their initial value means "not given". Do not depend on the size of a struct that the
 * library allocates, and do not copy one.
 */
#ifndef HOWMANY_H
#define HOWMANY_H

#include "howmany_base.h"
#include "howmany_inputs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- mixed clusters ---------------------------------------------------------------------------
 */

enum { HM_KINDS_MAX = 8 }; /* Largest number of kinds of machines in one cluster. */

/*
 * One kind of machine in a mixed cluster, that is, a cluster with several kinds of machines.
 * hm_plan considers every mix of at most `count` machines of each kind. If there are too many
 * mixes, it considers some of them, and a note of the answer says so.
 */
struct hm_kind {
    const struct hm_cluster *machine; /* Machine of this kind, with its price and its fabric. */
    double count;                     /* Number of machines of this kind: whole, 1 to 1e6. */
};

/*
 * Adds a kind of machine to a cluster created by hm_cluster_new. The machine is copied. Its name
 * must differ from the names of the other kinds. The other fields of the cluster are copied from
 * its first kind.
 */
HM_API int hm_cluster_add_kind(struct hm_cluster *cluster, const struct hm_cluster *machine,
                               double count, struct hm_err *err);

/* ---- dataflow platforms ------------------------------------------------------------------------
 */

/* Methods that a dataflow platform such as Spark uses to recover from a lost worker. */
enum hm_recovery {
    HM_RECOVERY_AUTO,       /* The library chooses the cheaper of the two methods below. */
    HM_RECOVERY_LINEAGE,    /* The other workers compute the lost partitions again. */
    HM_RECOVERY_CHECKPOINT, /* All workers go back to the last checkpoint. */
};

/*
 * Partitions and tasks of a job with a driver; see docs/reference/platforms.md. They are used for
 * HM_PLATFORM_DRIVER and for the communication that the job describes (HM_PLATFORM_JOB). A number
 * of 0 or NaN means the default.
 */
struct hm_dataflow {
    /* Number of partitions of the data set: whole, 1 to 1e7; default: one for each slot. */
    double partitions;
    /* Number of tasks that a worker runs at the same time: whole, 1 to 1e4; default: the number of
     * its threads. */
    double slots;
    /*
     * Time in seconds that the driver needs to start one task; default: the time of the framework.
     */
    double task_s;
    double skew;        /* Size of the largest partition divided by the mean size, 1 to 1e6;
                           default: 1. */
    double speculation; /* Speculative execution: a copy of a task starts when the task has run this
                           many times as long as usual, 1 to 100; default: there are no copies. */
    /* True if the parameters of the model are a distributed data set instead of a variable at the
     * driver. */
    bool distributed;
    double mtbf_s;    /* Mean time in seconds between two failures of one worker; default: no worker
                         fails. */
    double restart_s; /* Time in seconds to replace a lost worker, >= 0. */
    double lineage;   /* Number of iterations that must be repeated to compute a lost partition
                         again, > 0; default: 1. */
    double checkpoint_s; /* Time in seconds to write one checkpoint, >= 0. */
    enum hm_recovery recovery;
};

/* ---- the question ---------------------------------------------------------------------------- */

/* The quantity that the answer minimises. */
enum hm_goal {
    HM_GOAL_AUTO,    /* The library chooses: HM_GOAL_BALANCE if a weight is given, else HM_GOAL_COST
                        if a deadline is given, else HM_GOAL_TIME. */
    HM_GOAL_TIME,    /* Minimise the time in seconds. */
    HM_GOAL_COST,    /* Minimise the cost: money, or node-seconds if no price is known. */
    HM_GOAL_BALANCE, /* Minimise the weighted sum alpha * seconds + beta * money. */
};

struct hm_fit; /* A fit of measured runs; see howmany_fit.h. */

/* Methods that workers use to exchange gradients; see docs/reference/platforms.md. */
enum hm_platform {
    HM_PLATFORM_JOB,         /* Use the communication that the job describes. */
    HM_PLATFORM_ALLREDUCE,   /* Use the fastest all-reduce among the workers. */
    HM_PLATFORM_DRIVER,      /* A driver broadcasts the model in the manner of BitTorrent and
                                collects the gradients in two waves. */
    HM_PLATFORM_SERVER,      /* Parameter servers hold the model. */
    HM_PLATFORM_GOSSIP_RING, /* Every worker has its own copy of the model and averages it with its
                                two neighbours in a ring. */
    HM_PLATFORM_GOSSIP_EXP,  /* Like HM_PLATFORM_GOSSIP_RING, but with one neighbour in an
                                exponential graph. */
    HM_PLATFORM_FEDERATED,   /* Federated averaging: clients perform local steps; then one server
                                averages their models. */
    HM_PLATFORM_PIPELINE,    /* The layers of the network are placed on several workers, which pass
                                the activations of micro-batches to each other. */
};
enum hm_consistency {
    HM_CONSISTENCY_BSP,   /* Bulk synchronous parallel: all workers begin a step together. */
    HM_CONSISTENCY_SSP,   /* Stale synchronous parallel: the fastest worker is at most `staleness`
                             steps ahead of the slowest. */
    HM_CONSISTENCY_ASYNC, /* Asynchronous: no worker waits for another. */
};
/*
 * Functions whose names end in _name return "?" for a number out of range. Functions whose names
 * end in _find return -1 if there is no such name.
 */
HM_API const char *hm_platform_name(enum hm_platform platform);
HM_API int hm_platform_find(const char *name);
HM_API const char *hm_consistency_name(enum hm_consistency consistency);
HM_API int hm_consistency_find(const char *name);

/*
 * TensorFlow strategies (tf.distribute), each of which is a platform with certain settings. Columns
 * of the table: identifier; name in requests; name in TensorFlow; platform; whether it runs in one
 * machine only.
 */
#define HM_STRATEGY_MAP(X)                                                                         \
    X(MIRRORED, "mirrored", "MirroredStrategy", ALLREDUCE, true)                                   \
    X(CENTRAL_STORAGE, "central-storage", "CentralStorageStrategy", SERVER, true)                  \
    X(MULTI_WORKER_MIRRORED, "multi-worker-mirrored", "MultiWorkerMirroredStrategy", ALLREDUCE,    \
      false)                                                                                       \
    X(TPU, "tpu", "TPUStrategy", ALLREDUCE, false)                                                 \
    X(PARAMETER_SERVER, "parameter-server", "ParameterServerStrategy", SERVER, false)

enum hm_strategy {
    HM_STRATEGY_NONE, /* No TensorFlow strategy was named. */
#define HM_STRATEGY_ENUM(id, name, title, platform, inside) HM_STRATEGY_##id,
    HM_STRATEGY_MAP(HM_STRATEGY_ENUM)
#undef HM_STRATEGY_ENUM
        HM_STRATEGY_COUNT
};
/* Returns the name of a strategy in TensorFlow, such as "MirroredStrategy"; "none" for
 * HM_STRATEGY_NONE. */
HM_API const char *hm_strategy_title(enum hm_strategy strategy);

/*
 * A platform and its settings. All fields after `platform` apply only to HM_PLATFORM_SERVER, except
 * `local_steps`.
 */
struct hm_way {
    enum hm_platform platform;
    enum hm_consistency consistency;
    double staleness; /* For SSP only: maximum number of steps by which a worker may be ahead of the
                         slowest one; whole, 0 to 1e6. */
    double servers;   /* Number of parameter servers: whole, 1 to 1e6; 0 means that the library
                         chooses the best number. */
    /* True if the servers run on the machines of the workers instead of on separate machines. */
    bool colocated;
    double backups; /* For BSP only: number of backup workers. A step does not wait for this many of
                       the slowest workers; 0 to 1000, and less than n. */
    double stale_cost;  /* For SSP and async: factor by which stale gradients multiply the number of
                           iterations on one worker, 1e-6 to 1e6; 0 if there are no additional
                           iterations. */
    double stale_power; /* Exponent of the number of workers n, -10 to 10: on n workers, the factor
                           is stale_cost * n^stale_power, but at least 1. */
    /* Number of iterations that a worker performs between two averagings of the models; whole, 1 to
     * 1e9; 0 means 1. Servers and drivers do not use it. */
    double local_steps;
    /* TensorFlow strategy that these settings describe; HM_STRATEGY_NONE if there is none. A
     * strategy may require a single machine, or machines with TPUs. Central storage means one
     * parameter server, which runs on the host of the machine. */
    enum hm_strategy strategy;
};

/* A question to hm_plan. Start from HM_QUESTION_INIT, which asks for the shortest time. */
struct hm_question {
    enum hm_goal goal;
    double alpha;      /* Weight of one second for HM_GOAL_BALANCE, >= 0; NaN means that the library
                          chooses, see docs/reference/plan.md. */
    double beta;       /* Weight of one unit of money for HM_GOAL_BALANCE, >= 0; NaN means that the
                          library chooses. */
    double deadline_s; /* Maximum time in seconds that the whole job may take, > 0; 0 if there is no
                          deadline. */
    double budget;     /* Maximum cost of the whole job, >= 0; NaN for no limit. */
    double max_n; /* Maximum number of workers to consider, 1 to 1e6; 0 means as many as the cluster
                     has, or 1024 if that is unknown. */
    double reference; /* Number of workers that speedups are relative to; 0 means the reference of
                         the job. */
    double faster;    /* If > 0, ask for the fewest workers that are this many times as fast as the
                         reference. */
    double work; /* If > 0, ask for the fewest workers that do this many times as much work as the
                    reference in the same time. */
    bool weak;   /* True to assume weak scaling, even if the job says strong scaling. */
    const struct hm_fit *fit; /* Fit that provides the times; if NULL, the model of the job provides
                                 them. Borrowed. */
    /* Platforms to compare; NULL means only the communication of the job. Borrowed. */
    const struct hm_way *ways;
    size_t way_count;
    /*
     * Fraction by which the goal value at the recommended number of workers may exceed the best
     * goal value, 0 to 1e6; the smallest such number is recommended. NaN means HM_DEFAULT_SLACK.
     */
    double slack;
    const double *n; /* Numbers of workers to consider: whole, 1 to 1e6, ascending; NULL means all
                        up to max_n. Borrowed. */
    size_t n_count;
    double certainty; /* Required probability of meeting the deadline and the budget, > 0 and at
                         most 0.99; NaN or 0 means 0.9. */
};

/* The slack of a recommendation if the question does not specify one. */
#define HM_DEFAULT_SLACK 0.05

#define HM_QUESTION_INIT                                                                           \
    {                                                                                              \
        HM_GOAL_AUTO, HM_UNKNOWN, HM_UNKNOWN, 0, HM_UNKNOWN, 0, 0, 0, 0, false, NULL, NULL, 0,     \
            HM_UNKNOWN, NULL, 0, HM_UNKNOWN                                                        \
    }

/* Checks every field. The error names the field, its value and the allowed range. */
HM_API int hm_question_check(const struct hm_question *question, struct hm_err *err);

/* ---- the answer ------------------------------------------------------------------------------ */

/* The prediction for one number of workers n. */
struct hm_point {
    double n;     /* Number of workers. */
    double nodes; /* Number of machines, including the machines of parameter servers or a driver. */
    double time_s; /* Time of one iteration in seconds. */
    /*
     * Interval for the mean time of an iteration, with the coverage probability `level` of the
     * answer. It comes from the fit of runs or, without runs, from the errors of the model on
     * published measurements; NaN if unknown.
     */
    double low_s, high_s;
    double compute_s; /* Computation time of one iteration in seconds, including waiting for slower
                         workers. */
    double wait_s;    /* Part of compute_s in which workers wait for slower workers; 0 if all
                         workers are equally fast. */
    double communicate_s; /* Communication time of one iteration in seconds. If it overlaps with
                             computation, time_s is less than the sum of both. */
    double latency_s;     /* Part of communicate_s that is due to the latency of messages; NaN if
                             unknown. */
    double bandwidth_s;   /* Part of communicate_s that is due to the bandwidth; NaN if unknown. */
    double speedup;       /* Speedup relative to the reference number of workers. */
    double efficiency;    /* Parallel efficiency: speedup per worker, relative to the speedup per
                             worker of the reference. */
    double total_s; /* Time in seconds of the whole job or of one iteration; see whole_job in struct
                       hm_answer. */
    double cost;    /* Cost of the whole job or of one iteration; see whole_job in struct hm_answer;
                       NaN if no price is known. */
    double memory_bytes; /* Memory that one worker needs; NaN if unknown. */
    double server_share; /* Share of time_s in which the links of the parameter servers are busy, 0
                            to 1; NaN if there are no servers. */
    double imbalance; /* For graph jobs: number of edges on the most loaded worker, divided by the
                         mean over all workers; NaN for other jobs. */
    enum hm_scheme scheme; /* All-reduce scheme that the library chose, if the job does not name
                              one. */
    /* True if the memory is sufficient or unknown, and each worker has at least one sample. */
    bool fits;
    /*
     * Number of samples in one forward pass of a worker; NaN if the job has no network. If the
     * batch of a worker does not fit in its memory, the gradients of several passes are added.
     */
    double micro_batch;
    /*
     * Upper bound of the time of one iteration in seconds, which holds with the probability
     * `certainty` of the question. It is equal to time_s if the interval is unknown or the question
     * has neither a deadline nor a budget.
     */
    double bound_s;
    double meets; /* Probability that the point meets the deadline and the budget; NaN if the
                     question has neither, or the interval is unknown. */
    double machines[HM_KINDS_MAX]; /* For mixed clusters: number of machines of each kind, excluding
                                      those for servers or a driver; 0 for other clusters. */
    double price_per_s; /* For mixed clusters: price per second of all machines; NaN if unknown. */
};

/* The resource that limits the speed at the recommended number of workers. */
enum hm_limit {
    HM_LIMIT_COMPUTE,
    HM_LIMIT_COMMUNICATION,
    HM_LIMIT_BANDWIDTH,
    HM_LIMIT_LATENCY,
    HM_LIMIT_MEMORY,
    HM_LIMIT_BATCH,
    HM_LIMIT_IMBALANCE,  /* One worker has more edges of the graph than the others. */
    HM_LIMIT_STRAGGLERS, /* Workers wait for slower workers. */
    HM_LIMIT_SERIAL,     /* Part of the computation does not shrink with more workers. */
};

/* Returns "compute", "bandwidth", ...; "?" for a number out of range. */
HM_API const char *hm_limit_name(enum hm_limit limit);

/* The effect of one change of the job or the cluster. */
struct hm_help {
    const char *what; /* Description of the change, such as "2x bandwidth" or "half of W". */
    double n;         /* Recommended number of workers after the change. */
    double time_s;    /* Time of one iteration in seconds on n workers after the change. */
    double speedup;   /* Speedup over the reference number of workers, after the change. */
    double gain;      /* Factor by which the change makes the whole job faster. */
};

/* One candidate of a comparison: a machine, a scheme and a platform. */
struct hm_rank {
    const char *machine; /* Name of the machine; NULL if the cluster of the job has no name. */
    const char *scheme;  /* Name of the scheme; NULL if the communication of the job was used. */
    /* True if at least one number of workers meets every limit of the question. */
    bool feasible;
    double n, time_s, total_s, cost, speedup; /* Values at the recommended number of workers n of
                                                 this candidate, as in struct hm_point. */
    struct hm_way way;    /* The platform, with the number of servers that was chosen;
                             HM_PLATFORM_JOB if the question names no platform. */
    double samples_per_s; /* Samples per second, counting only samples whose gradients are used; NaN
                             if the job has no batch. */
    double saturates_n;   /* Smallest number of workers at which the links of the servers limit the
                             speed; NaN if there is none. */
    double servers_enough; /* Number of servers that suffice for the best number of workers; NaN if
                              there are no servers. */
    const char *why;       /* Reason why the candidate is not the best; NULL for the best. */
};

/* Kinds of alternatives. All meet the limits of the question. */
enum hm_alternative_kind {
    HM_ALTERNATIVE_CHEAPEST, /* The point with the lowest cost. */
    HM_ALTERNATIVE_BALANCED, /* The point with the smallest sum of time and cost, each divided by
                                its smallest value. */
    HM_ALTERNATIVE_FASTEST, /* The point with the fewest workers whose time is within `slack` of the
                               shortest time. */
    HM_ALTERNATIVES,
};

/* One alternative: a point and the machine that it belongs to. */
struct hm_plan_alternative {
    const char *machine; /* Name of the machine; NULL if the cluster has no name. */
    double accelerators; /* Number of workers in one machine. */
    bool gpus;           /* True if the workers of the machine are GPUs. */
    double memory_bytes; /* Number of bytes that a job may use on one worker; NaN if unknown. */
    struct hm_way way;   /* Platform of the alternative, if the question names platforms. */
    struct hm_point point;
    const char **kinds; /* For mixed clusters: names of the kinds of machines; NULL if there is only
                           one kind. */
    size_t kind_count;
};

enum hm_status {
    HM_STATUS_OK,
    HM_STATUS_NO_SPEEDUP, /* No number of workers is faster than the reference. */
    HM_STATUS_UNREACHED,  /* No number of workers meets all limits: the deadline, the budget, the
                             memory and the factors `faster` and `work` that the question asks
                             for. */
};

struct hm_answer {
    enum hm_status status;
    const char *job, *machine, *fabric; /* Names of the job, the machine and the fabric; NULL for a
                                           name that is not known. */
    const char *provenance; /* Source of the times: "model", "fit" or "model and runs". */
    enum hm_goal goal;      /* Goal that was used; never HM_GOAL_AUTO. */
    enum hm_scaling scaling;
    /*
     * True if total_s and cost refer to the whole job. If false, they refer to one iteration or,
     * with weak scaling, to the number of samples that one iteration on the reference number of
     * workers processes.
     */
    bool whole_job;
    bool priced;             /* True if the price of a machine is known. */
    double reference;        /* Number of workers that speedups are relative to. */
    double iterations;       /* Number of iterations of the whole job at the recommended number of
                                workers; NaN if not given. */
    double price_per_s;      /* Price per second of one machine; NaN if unknown. */
    double accelerators;     /* Number of workers in one machine. */
    double memory_bytes;     /* Number of bytes that a job may use on one worker; NaN if unknown. */
    struct hm_point *points; /* The curve: one point for each number of workers, in ascending
                                order. */
    size_t point_count;
    size_t best, knee; /* Indices into points: the best point, and the knee of the curve; HM_NONE if
                          there is none. */
    size_t in_deadline; /* Index of the cheapest point within the deadline; HM_NONE if there is
                           none. */
    size_t in_budget; /* Index of the fastest point within the budget; HM_NONE if there is none. */
    size_t faster,
        work; /* Indices of the points with the fewest workers that are `faster` times as fast, and
                 that do `work` times as much work; HM_NONE if there is none. */
    size_t nearest;     /* Index of the point that exceeds the missed limit by the smallest factor;
                           HM_NONE if no limit is missed. */
    double nearest_gap; /* Factor, > 1, by which the point `nearest` exceeds the limit; for a
                           deadline or a budget, it is computed with bound_s instead of time_s. NaN
                           if no limit is missed. */
    const char *missed; /* Name of the limit that is missed: "deadline", "budget", "memory",
                           "speedup", ...; NULL if there is none. */
    struct hm_point *work_points; /* Points of the curve for `work` times as much work; NULL if the
                                     question does not ask for `work`. */
    /*
     * Range of the number of workers, around the best one, in which the goal value is within 5 % of
     * the best one; NaN if there is no best one.
     */
    double plateau_from, plateau_to;
    double level; /* Coverage probability of all intervals; NaN without a fit. */
    double sure;  /* Probability that the recommended point is exactly the best; NaN without a fit.
                     Like sure_near, it is at most 0.99, at most 0.9 if the point lies outside the
                     range of the runs, and at most (k + 1/2) / (k + 1) with k runs. */
    double sure_near;     /* Probability that the recommended point is within `slack` of the true
                             optimum; NaN without a fit. */
    size_t likely;        /* With a fit: index of the best point on the most likely curve. */
    double n_low, n_high; /* Interval for the best number of workers; NaN without a fit. */
    size_t *pareto;       /* Indices of the points that no other point beats in both time and cost,
                             fastest first. */
    size_t pareto_count;
    enum hm_limit limit;
    double limit_share; /* Share of the time of an iteration on limit_n workers that is due to
                           `limit`, 0 to 1. */
    /*
     * Number of workers that `limit` and `why` describe: the recommended one or, if more workers do
     * not help or none meet the limits, the number of the point `nearest`.
     */
    double limit_n;
    const char *why; /* Phrase that explains the limit, such as "joining gradients by ring grows
                        with n". */
    /* True if the best number of workers is the largest one considered, although neither the
     * question nor the cluster sets a limit. */
    bool at_ceiling;
    double beyond_n; /* A better number of workers above the largest one considered, at most four
                        times as large; NaN if none was found. */
    double beyond_speedup; /* Speedup on beyond_n workers; NaN if beyond_n is NaN. */
    struct hm_help *help;  /* Changes of the job or the cluster that would make the job faster. */
    size_t help_count;
    /* All compared candidates, best first; NULL if there is only one candidate. */
    struct hm_rank *ranking;
    size_t rank_count;
    const char **notes; /* Assumptions and warnings, one sentence each. */
    size_t note_count;
    struct hm_measured *measured; /* Measured speedups that the job contains. */
    size_t measured_count;
    /* True if the cluster has stragglers; the times then include waiting for them. */
    bool uneven;
    struct hm_way way;     /* The chosen platform, if the question names platforms. */
    double samples_per_s;  /* Samples per second at the recommended number of workers, counting only
                              samples whose gradients are used; NaN if the job has no batch. */
    double saturates_n;    /* Smallest number of workers at which the links of the servers limit the
                              speed; NaN if there is none. */
    double servers_enough; /* Number of servers that suffice for the best number of workers; NaN if
                              there are no servers. */
    struct hm_question question; /* The question that was asked, with the weights that were used. */
    size_t recommended; /* Index of the recommended point: the smallest number of workers whose goal
                           value is within `slack` of the best one; HM_NONE if there is none. */
    double slack;       /* The slack that was used for the recommendation. */
    double one_node;    /* Number of workers in one node, if all runs used one node only and the
                           recommended point needs several nodes; else NaN. */
    double knee_hours;  /* Ratio of the machine-hours at the recommended point to the machine-hours
                           at the knee; NaN if there is no recommended point. */
    /*
     * Three alternatives over all compared machines, indexed by enum hm_alternative_kind; NULL if
     * no price is known, or nothing meets the limits.
     */
    struct hm_plan_alternative *alternatives;
    bool gpus;    /* True if the title of the machine says that its workers are GPUs. */
    double batch; /* Number of samples in one iteration: of the whole job with strong scaling, of
                     one worker with weak scaling; NaN if not given. */
    const char *sheet_kind; /* Kind of published measurements that the interval comes from, for a
                               plan without runs; NULL with runs. */
    double advised_n[3];  /* Numbers of workers for which runs would narrow the interval most, for a
                             plan without runs. */
    size_t advised_count; /* Number of advised runs; 0 if there are none. */
    double advised_run_s; /* Duration of each advised run in seconds. */
    double advised_within; /* Half the width of the interval after the advised runs, relative to the
                              time; NaN if unknown. */
    double certainty; /* Required probability of meeting the deadline and the budget; NaN if the
                         question has neither. */
    /* Unit of work that the seconds refer to, if the runs state it: "sample", "token" or "epoch";
     * NULL means one iteration. */
    const char *unit;
    double processes, threads; /* Number of processes on a machine and number of threads of each
                                  process, if the plan chose them; NaN otherwise. */
    const char **kinds; /* For mixed clusters: names of the kinds of machines, as in `machines` of
                           the points; NULL if there is only one kind. */
    size_t kind_count;
    void *memory; /* Owns all memory of this struct. */
};

/*
 * Answers a question. If clusters are given, they replace the cluster of the job; if schemes are
 * given, they replace the all-reduce of the job. All combinations are compared, and the answer
 * describes the best one in full. A limit that no number of workers meets is not an error: see the
 * field `status`. clusters and schemes may be NULL with a count of 0. The answer contains a copy of
 * the question but does not use its pointers.
 */
HM_API int hm_plan(const struct hm_job *job, const struct hm_cluster *const *clusters,
                   size_t cluster_count, const enum hm_scheme *schemes, size_t scheme_count,
                   const struct hm_question *question, struct hm_answer **ret_answer,
                   struct hm_err *err);
HM_API void hm_answer_free(struct hm_answer *answer);

/* ---- validation ------------------------------------------------------------------------------ */

/* A published value and the value that the library computes. */
struct hm_check {
    const char *what; /* Name of the value: "speedup", "mape" or "parameters". */
    double n;         /* Number of workers; NaN if the value does not depend on it. */
    double value;     /* Value that the library computes. */
    double published; /* Value that the literature gives. */
    double digits;    /* Number of significant digits that must agree. */
    double within; /* Largest allowed absolute difference, used instead of `digits`; NaN means that
                      digits are compared. */
    bool agrees;
};

struct hm_validation {
    const char *name; /* Name of the job that was checked. */
    struct hm_check *checks;
    size_t count;
    struct hm_answer *answer; /* Plan for the job; NULL if the job only describes a network, so that
                                 only its parameters are counted. */
    void *memory;             /* Owns all memory of this struct. */
};

/*
 * Compares the results of the library with the values that the job expects, and with the published
 * sizes of its network.
 */
HM_API int hm_validate(const struct hm_job *job, struct hm_validation **ret_validation,
                       struct hm_err *err);
HM_API void hm_validation_free(struct hm_validation *validation);

/*
 * Gets the name and the text of the built-in job file at index i. Returns false after the last
 * file.
 */
HM_API bool hm_example(size_t i, const char **ret_name, const char **ret_text, size_t *ret_length);

/* ---- rendering ------------------------------------------------------------------------------- */

enum hm_format { HM_FORMAT_TEXT, HM_FORMAT_JSON, HM_FORMAT_CSV, HM_FORMAT_GNUPLOT };

/* Settings for rendering a result. A style pointer of NULL means {0}. */
struct hm_style {
    bool colour;      /* True to use colours, with terminal escape sequences. */
    bool unicode;     /* True to use characters beyond ASCII. */
    bool table;       /* True to add the whole curve as a table, in the text format. */
    bool chart;       /* True to draw the curve, in the text format. */
    size_t width;     /* Width of the text in columns; 0 means 80, and values below 40 mean 40. */
    const char *file; /* Name of the image file that a gnuplot script writes, ending in .svg, .png
                         or .pdf. */
};

/* Renders the answer in the given format. The caller frees *ret_text with hm_text_free. */
HM_API int hm_answer_render(const struct hm_answer *answer, enum hm_format format,
                            const struct hm_style *style, char **ret_text, struct hm_err *err);

#ifdef __cplusplus
}
#endif

#endif
