/*
 * howmany: how many machines to train on, how long it takes, what it costs, and why.
 *
 * This is the main header of libhowmany. It describes the question, the answer, and hm_plan, which
 * leads from one to the other. It includes howmany_base.h (version, errors) and howmany_inputs.h
 * (jobs, clusters, the catalog). Three more headers go further: howmany_fit.h learns from measured
 * runs, howmany_advise.h from training curves, howmany_store.h keeps runs in a database.
 *
 *     struct hm_err err = {0};
 *     struct hm_job *job = NULL;
 *     struct hm_answer *answer = NULL;
 *     struct hm_question question = HM_QUESTION_INIT;
 *
 *     if (hm_job_new(&job, &err) == 0 && hm_job_set_compute(job, "10/n", &err) == 0 &&
 *         hm_job_set_communicate(job, "0.5*log2(n)", &err) == 0 &&
 *         hm_plan(job, NULL, 0, NULL, 0, &question, &answer, &err) == 0)
 *             printf("%g workers\n", answer->points[answer->best].n);
 *     hm_answer_free(answer);
 *     hm_job_free(job);
 *
 * Conventions
 *
 * Quantities are doubles in SI units. The name ends in the unit: _s seconds, _bytes, _flops flop
 * per second. Money has no unit; the catalog uses US dollars.
 *
 * An unknown quantity is NaN. In the description of a job or a cluster, 0 is accepted for it too
 * where 0 cannot be a value. In questions and settings, 0 means "not asked" or "the default", and
 * NaN is an error, unless the comment of the field says otherwise. Results use NaN only.
 *
 * Functions return 0 or a negative code of enum hm_code. Results go out through ret_ parameters,
 * which are written only on success. The last parameter is a struct hm_err *, which the caller
 * owns and which may be NULL. A required pointer that is NULL is an error, not a crash.
 *
 * Memory: hm_x_new, _load, _parse and _make allocate, and hm_x_free frees; every hm_x_free accepts
 * NULL. Inputs are copied unless a comment says "borrowed". A pointer inside a result lives as
 * long as the result.
 *
 * Threads: the library keeps no global state, prints nothing, never exits and does not read the
 * environment. Threads may share objects that no thread changes. A struct hm_store belongs to one
 * thread at a time.
 *
 * Versions
 *
 * Until 1.0.0 the middle number grows when something changes that a program must adapt to; such
 * changes are listed in CHANGELOG.md. The name of the shared library contains the first two numbers
 * (libhowmany.so.0.2), so a program never runs with an incompatible version. Releases that differ
 * only in the last number are compatible: structs keep their size and meaning, and functions,
 * error codes and values of enums are only added.
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

/* ---- the question ---------------------------------------------------------------------------- */

/* What is to be as small as possible. */
enum hm_goal {
    HM_GOAL_AUTO,    /* Balance if a weight is given, else cost with a deadline, else time. */
    HM_GOAL_TIME,    /* Seconds. */
    HM_GOAL_COST,    /* Money, or node-seconds where no price is known. */
    HM_GOAL_BALANCE, /* alpha * seconds + beta * money. */
};

struct hm_fit; /* A fit of measured runs, see howmany_fit.h. */

/* How workers exchange gradients; see docs/platforms.md. */
enum hm_platform {
    HM_PLATFORM_JOB,       /* As the job says. */
    HM_PLATFORM_ALLREDUCE, /* The fastest all-reduce among the workers. */
    HM_PLATFORM_DRIVER,    /* A driver broadcasts by torrent and collects in two waves. */
    HM_PLATFORM_SERVER,    /* Parameter servers hold the model. */
};
enum hm_consistency {
    HM_CONSISTENCY_BSP,   /* All workers begin a step together. */
    HM_CONSISTENCY_SSP,   /* The fastest worker is at most `staleness` steps ahead. */
    HM_CONSISTENCY_ASYNC, /* No worker waits for another. */
};
HM_API const char *hm_platform_name(enum hm_platform platform); /* "?" if out of range. */
HM_API int hm_platform_find(const char *name);                  /* -1 if there is none. */
HM_API const char *hm_consistency_name(enum hm_consistency consistency);
HM_API int hm_consistency_find(const char *name); /* -1 if there is none. */

/* A platform and its settings. All fields after `platform` need HM_PLATFORM_SERVER. */
struct hm_way {
    enum hm_platform platform;
    enum hm_consistency consistency;
    double staleness;   /* SSP: a whole number, 0 to 1e6. */
    double servers;     /* A whole number, 1 to 1e6; 0: chosen for the goal. */
    bool colocated;     /* Servers run on the machines of the workers. */
    double backups;     /* BSP: a step ignores the slowest workers, this many; 0 to 1000, < n. */
    double stale_cost;  /* SSP, async: stale gradients multiply the iterations on one worker by
                           this factor, 1e-6 to 1e6; 0: they cost nothing. */
    double stale_power; /* On n workers the factor is stale_cost * n^stale_power, at least 1;
                           -10 to 10. */
};

/* A question. Start from HM_QUESTION_INIT, which asks for the least time. */
struct hm_question {
    enum hm_goal goal;
    double alpha;      /* Balance: weight of one second, >= 0; NaN: chosen, see docs/plan.md. */
    double beta;       /* Balance: weight of one unit of money, >= 0; NaN: chosen. */
    double deadline_s; /* Most seconds of the whole job, > 0; 0: no deadline. */
    double budget;     /* Most money for the whole job, >= 0; NaN: no limit. */
    double max_n;      /* Most workers to consider, 1 to 1e6; 0: those of the cluster, else
                          1024. */
    double reference;  /* Speedups are relative to this many workers; 0: as in the job. */
    double faster;     /* How many workers are this many times as fast as the reference? > 0; 0: not
                          asked. */
    double work;       /* How many workers do this many times the work in the same time? > 0; 0: not
                          asked. */
    bool weak;         /* Weak scaling, even if the job says strong scaling. */
    const struct hm_fit *fit;  /* Times come from this fit; NULL: from the model. Borrowed. */
    const struct hm_way *ways; /* Platforms to compare; NULL: as the job says. Borrowed. */
    size_t way_count;
};

#define HM_QUESTION_INIT                                                                           \
    {                                                                                              \
        HM_GOAL_AUTO, HM_UNKNOWN, HM_UNKNOWN, 0, HM_UNKNOWN, 0, 0, 0, 0, false, NULL, NULL, 0      \
    }

/* Check every field. The error names the field, its value and the allowed range. */
HM_API int hm_question_check(const struct hm_question *question, struct hm_err *err);

/* ---- the answer ------------------------------------------------------------------------------ */

/* One point of the curve: n workers. */
struct hm_point {
    double n;             /* Workers. */
    double nodes;         /* Machines, with those of servers or a driver. */
    double time_s;        /* One iteration. */
    double low_s, high_s; /* Interval of the mean of time_s; NaN without a fit. */
    double compute_s;     /* Computing, and waiting for slower workers. */
    double wait_s;        /* The part of compute_s that is waiting; 0 if workers are equal. */
    double communicate_s; /* Communicating. Where it overlaps, time_s is less than the sum. */
    double latency_s;     /* The part of communicate_s that waits for messages; NaN: unknown. */
    double bandwidth_s;   /* The part of communicate_s that moves bytes; NaN: unknown. */
    double speedup;       /* Relative to the reference. */
    double efficiency;    /* Speedup per worker, relative to the reference. */
    double total_s;       /* The whole job; see whole_job of the answer. */
    double cost;          /* The whole job; NaN: no price is known. */
    double memory_bytes;  /* Memory that one worker needs; NaN: unknown. */
    double server_share;  /* Share of time_s in which links of servers are busy; NaN: no servers. */
    double imbalance;     /* Graph: edges of the worker with most edges over the mean; else NaN. */
    enum hm_scheme scheme; /* The scheme used where the job leaves it open. */
    bool fits;             /* The memory suffices, as far as known, and each worker has a sample. */
};

/* What limits the speed at the best n. */
enum hm_limit {
    HM_LIMIT_COMPUTE,
    HM_LIMIT_COMMUNICATION,
    HM_LIMIT_BANDWIDTH,
    HM_LIMIT_LATENCY,
    HM_LIMIT_MEMORY,
    HM_LIMIT_BATCH,
    HM_LIMIT_IMBALANCE,  /* One worker has more edges than the others. */
    HM_LIMIT_STRAGGLERS, /* Waiting for slower workers. */
};

/* "compute", "bandwidth", ...; "?" for a number out of range. */
HM_API const char *hm_limit_name(enum hm_limit limit);

/* The effect of one change of the job or the cluster. */
struct hm_help {
    const char *what; /* The change: "2x bandwidth", "half of W". */
    double n;         /* The best n after the change. */
    double time_s;    /* One iteration there. */
    double speedup;   /* Relative to the reference of the changed job. */
    double gain;      /* The same work is done this many times as fast as in the answer. */
};

/* One compared candidate: a machine, a scheme and a platform. */
struct hm_rank {
    const char *machine;                      /* NULL if the cluster of the job has no name. */
    const char *scheme;                       /* NULL if the job's own communication was used. */
    bool feasible;                            /* Some n meets every limit of the question. */
    double n, time_s, total_s, cost, speedup; /* Of its best point, as in struct hm_point. */
    struct hm_way way; /* With the chosen number of servers; HM_PLATFORM_JOB if none was asked. */
    double samples_per_s;  /* Samples whose gradients are used; NaN: the job has no batch. */
    double saturates_n;    /* As in the answer. */
    double servers_enough; /* As in the answer. */
    const char *why;       /* Why it is not the best; NULL for the best. */
};

enum hm_status {
    HM_STATUS_OK,
    HM_STATUS_NO_SPEEDUP, /* No n is faster than the reference. */
    HM_STATUS_UNREACHED,  /* No n meets the deadline, the budget, the factor or the memory. */
};

struct hm_answer {
    enum hm_status status;
    const char *job, *machine, *fabric; /* Names; NULL where there is none. */
    const char *provenance;             /* "model", "fit" or "model and runs". */
    enum hm_goal goal;                  /* The goal that was used, never HM_GOAL_AUTO. */
    enum hm_scaling scaling;
    bool whole_job; /* total_s and cost are those of the whole job. Otherwise they are those of one
                       iteration or, with weak scaling, of the samples of one iteration at the
                       reference. */
    bool priced;    /* The price of a machine is known. */
    double reference;        /* Speedups are relative to this many workers. */
    double iterations;       /* Of the whole job at the best n; NaN: not given. */
    double price_per_s;      /* Money per second of one machine; NaN: unknown. */
    double accelerators;     /* Workers in one machine. */
    double memory_bytes;     /* Memory of one worker; NaN: unknown. */
    struct hm_point *points; /* In ascending order of n. */
    size_t point_count;
    size_t best, knee;               /* Indices into points; HM_NONE: there is none. */
    size_t in_deadline;              /* Cheapest point within the deadline; or HM_NONE. */
    size_t in_budget;                /* Fastest point within the budget; or HM_NONE. */
    size_t faster, work;             /* Fewest workers that reach the factor; or HM_NONE. */
    size_t nearest;                  /* Nearest miss if a limit is not met; or HM_NONE. */
    double nearest_gap;              /* The nearest miss exceeds the limit by this factor, > 1; NaN
                                        if nothing is missed. */
    const char *missed;              /* "deadline", "budget", "memory", "speedup", ...; or NULL. */
    struct hm_point *work_points;    /* The curve with more work; NULL if not asked. */
    double plateau_from, plateau_to; /* Around the best n, the goal is within 5 % of the best from
                                        one to the other; NaN if there is no best. */
    double level;                    /* Probability of all intervals; NaN without a fit. */
    double sure;                     /* Probability that no other n is better; NaN without a fit. */
    double sure_near;     /* Probability that it is within 5 % of the best; NaN likewise. */
    size_t likely;        /* With a fit: best point of the single most likely curve. */
    double n_low, n_high; /* Interval of the best n; NaN without a fit. */
    size_t *pareto;       /* Points that no other beats in both time and cost, fastest first. */
    size_t pareto_count;
    enum hm_limit limit;
    double limit_share;    /* Share of the iteration at the best n that is due to the limit. */
    const char *why;       /* A phrase: "joining gradients by ring grows with n". */
    bool at_ceiling;       /* The best n is the largest considered, and no limit was given. */
    double beyond_n;       /* A better n above the ceiling, at most four times it; NaN: none. */
    double beyond_speedup; /* Its speedup; NaN: none. */
    struct hm_help *help;  /* What would help. */
    size_t help_count;
    struct hm_rank *ranking; /* The candidates, best first; NULL if there is only one. */
    size_t rank_count;
    const char **notes; /* Assumptions and warnings, one sentence each. */
    size_t note_count;
    struct hm_measured *measured; /* Measured speedups, from the job. */
    size_t measured_count;
    bool uneven;                 /* The cluster has stragglers, and they are in the times. */
    struct hm_way way;           /* The platform, if one was asked for. */
    double samples_per_s;        /* At the best n, with a platform; NaN: unknown. */
    double saturates_n;          /* From this n on the links of servers limit; NaN: never. */
    double servers_enough;       /* This many servers suffice at the best n; NaN: no servers. */
    struct hm_question question; /* As asked, with the weights that were used. */
    void *memory;                /* Owns everything above. */
};

/*
 * Answer a question. With clusters, they replace that of the job; with schemes, they replace the
 * all-reduce of the job. All combinations are compared, and the best one is answered in full. A
 * limit that no n meets is not an error: see status. clusters and schemes may be NULL with a count
 * of 0. The answer keeps the pointers of the question; it does not use them.
 */
HM_API int hm_plan(const struct hm_job *job, const struct hm_cluster *const *clusters,
                   size_t cluster_count, const enum hm_scheme *schemes, size_t scheme_count,
                   const struct hm_question *question, struct hm_answer **ret_answer,
                   struct hm_err *err);
HM_API void hm_answer_free(struct hm_answer *answer);

/* ---- validation ------------------------------------------------------------------------------ */

/* A published figure beside that of the library. */
struct hm_check {
    const char *what; /* "speedup", "mape", "parameters". */
    double n;         /* Workers; NaN where it does not apply. */
    double value;     /* The figure of the library. */
    double published; /* The figure of the literature. */
    double digits;    /* Significant digits that must agree. */
    double within;    /* Allowed difference instead of digits; NaN: digits are compared. */
    bool agrees;
};

struct hm_validation {
    const char *name; /* Of the job. */
    struct hm_check *checks;
    size_t count;
    struct hm_answer *answer; /* The plan of the job; NULL if only its network was counted. */
    void *memory;             /* Owns everything above. */
};

/* Compare with the figures that a job expects, and with the published counts of its network. */
HM_API int hm_validate(const struct hm_job *job, struct hm_validation **ret_validation,
                       struct hm_err *err);
HM_API void hm_validation_free(struct hm_validation *validation);

/* The name and text of the built-in job file at index i; false after the last one. */
HM_API bool hm_example(size_t i, const char **ret_name, const char **ret_text, size_t *ret_length);

/* ---- rendering ------------------------------------------------------------------------------- */

enum hm_format { HM_FORMAT_TEXT, HM_FORMAT_JSON, HM_FORMAT_CSV, HM_FORMAT_GNUPLOT };

/* How a result is rendered. A NULL style is the same as {0}. */
struct hm_style {
    bool colour;      /* Use escape sequences of a terminal. */
    bool unicode;     /* Use characters beyond ASCII. */
    bool table;       /* Text: add the whole curve as a table. */
    bool chart;       /* Text: draw the curve. */
    size_t width;     /* Columns of the page; 0: 80; fewer than 40 count as 40. */
    const char *file; /* Gnuplot: the picture that the script writes: .svg, .png or .pdf. */
};

/* Render the answer; the caller frees *ret_text with hm_text_free. */
HM_API int hm_answer_render(const struct hm_answer *answer, enum hm_format format,
                            const struct hm_style *style, char **ret_text, struct hm_err *err);

#ifdef __cplusplus
}
#endif

#endif
