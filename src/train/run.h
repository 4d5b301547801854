/*
 * One run of an algorithm on one rank, and the interface of an algorithm: a table of functions in a
 * file of its own, listed in algorithms.c.
 *
 * All ranks hold the same w; each holds its own rows. At the start and at the end of each iteration
 * all ranks have the same w, so that it can be evaluated and saved in between.
 */
#ifndef HM_RUN_H
#define HM_RUN_H

#include "comm.h"
#include "objective.h"
#include "random.h"
#include "usage.h"

/* Settings of the algorithms; 0 (momentum: negative) selects the algorithm's default. */
struct hm_train_settings {
    double step;     /* Initial step size. */
    double batch;    /* Rows of a mini-batch over all ranks; local SGD: rows per rank. */
    double passes;   /* Passes over its own rows that a rank makes in an iteration. */
    double momentum; /* [0, 1) */
    double memory;   /* Number of pairs that L-BFGS stores. */
    bool shrink;     /* Skip rows whose dual variable has stopped changing. */
    uint64_t seed;
};

/* One array of an algorithm's state, for checkpoints. */
struct hm_part {
    const char *name;
    double *values; /* Borrowed. */
    size_t count;
    bool of_rows; /* True: one number per row of this rank. False: the same values on all ranks. */
};

enum { HM_PARTS = 8 };

struct hm_trace_point; /* See train.h. */

struct hm_run {
    const struct hm_algorithm *algorithm;
    struct hm_comm *comm;
    struct hm_objective *objective;
    struct hm_train_settings settings;
    double *w;        /* [unknowns] */
    double *gradient; /* [unknowns + HM_RUN_EXTRA], used by the algorithm. */
    double *scratch;  /* [unknowns + HM_RUN_EXTRA], used by sums over ranks. */
    double iteration; /* Number of iterations finished. */
    double samples;   /* Rows processed so far by all ranks, with repetition. */
    bool settled;     /* The algorithm finds no further improvement; the same on all ranks. */
    double step;      /* Initial step size, for algorithms with `update`. */
    void *state;      /* State of the algorithm. */
    /* How iterations are executed; NULL: all ranks are workers. */
    const struct hm_platform_ops *platform;
    void *platform_state;  /* State of the platform. */
    struct hm_meter meter; /* Resource usage of this rank. */
    /* Rank 0, after each segment: usage of the ranks that are not workers (servers or driver). */
    struct hm_usage *extra_usage;
    size_t extra_count;
    struct hm_arena *arena;
};

enum { HM_RUN_EXTRA = 2 };

enum hm_trait {
    HM_TRAIT_DUAL = 1,    /* Needs a loss with a dual. */
    HM_TRAIT_BATCHES = 2, /* An iteration is one mini-batch, and an epoch has many of them. */
    HM_TRAIT_LINEAR = 4,  /* Needs one linear output. */
};

struct hm_algorithm {
    const char *name;
    const char *title;
    unsigned traits;
    struct hm_train_settings defaults;
    /*
     * Allocate the state; w holds the starting point. A failing rank returns alone, so this
     * function must not communicate unless all ranks agree first (hm__agree).
     */
    int (*begin)(struct hm_run *run, struct hm_err *err);
    /* Collective computations before the first iteration; NULL: none. */
    void (*prepare)(struct hm_run *run);
    /* One iteration; collective. */
    void (*step)(struct hm_run *run);
    /*
     * Sum over this rank's rows of their terms in the dual objective; NULL: the algorithm has no
     * dual.
     */
    double (*dual)(const struct hm_run *run);
    /*
     * Mini-batch algorithms: the second half of `step`, which changes w by the mean gradient in
     * run->gradient. `weight`: fraction of a step that this gradient is (1: a whole step). `done`:
     * number of updates before this one. Each unknown is updated independently, so that parts of w
     * may be on different ranks. NULL: w must be on the workers.
     */
    void (*update)(struct hm_run *run, double weight, double done);
    /* Lists the arrays of the state besides w and returns their number; NULL: none. */
    size_t (*parts)(struct hm_run *run, struct hm_part parts[HM_PARTS]);
    /* Called on all ranks after the arrays have been loaded from a checkpoint; may be NULL. */
    int (*resumed)(struct hm_run *run, struct hm_err *err);
    /*
     * Compute objective and other members of the trace point where the objective is not P(w); NULL:
     * it is P(w).
     */
    void (*eval)(struct hm_run *run, struct hm_trace_point *point);
};

/* A segment: consecutive iterations without an evaluation or checkpoint in between. */
struct hm_segment {
    double iterations, samples;
    double seconds, compute_s; /* Maximum over the ranks. */
    double bytes, flop;        /* Sum over all ranks. */
    /* Parameter servers only; otherwise 0. */
    double wait_s; /* Seconds waiting for w, mean over the workers. */
    /* Number of reads of w by all workers, and the sum of their staleness in clocks. */
    double reads, staleness;
    double dropped; /* Number of dropped gradients. */
};

/*
 * How iterations are executed where some ranks are not workers (driver, parameter servers).
 * run_segment executes `iterations` iterations; collective over the workers. On return all workers
 * have the same w, and rank 0 has the algorithm's state.
 */
struct hm_platform_ops {
    const char *name;
    int (*run_segment)(struct hm_run *run, double iterations, struct hm_segment *ret_segment,
                       struct hm_err *err);
    /*
     * On a rank without rows, instead of run_segment: compute in run->gradient the sums over all
     * rows of the gradients, and then of the losses.
     */
    void (*sum)(struct hm_run *run, const double *w);
};

/* Totals of the whole run, including the part before a checkpoint was loaded. */
struct hm_train_totals {
    double elapsed_s, compute_s, bytes, flop;
};

/* All algorithms for rows of data; ends with NULL. */
extern const struct hm_algorithm *const hm__algorithms[];
const struct hm_algorithm *hm__algorithm_find(const char *name);

/* ---- for algorithms ------------------------------------------------------------------------- */

/*
 * Random generator of this rank for this iteration; `use` (0..15) selects one of several streams.
 */
struct hm_random hm__run_random(const struct hm_run *run, unsigned use);

/*
 * Returns P(w); its gradient is in run->gradient. Sums over all rows of all ranks. Counts the work
 * and the rows.
 */
double hm__run_full(struct hm_run *run, const double *w);

/*
 * This rank's part of a gradient: returns the sum of the losses of rows list[0..count) (list NULL:
 * rows 0..count); the sum of their gradients is in run->gradient. Counts the work.
 */
double hm__run_part(struct hm_run *run, const double *w, const uint32_t *list, size_t count);
/* The same, but adds to run->gradient. */
double hm__run_add(struct hm_run *run, const double *w, const uint32_t *list, size_t count);
/*
 * Turn a sum over `rows` rows into the gradient: divide by `rows` and add the regulariser's
 * gradient.
 */
void hm__run_mean(struct hm_run *run, double rows);

/* |w|^2 */
double hm__run_norm2(const struct hm_run *run);

/* The mean gradient of the next mini-batch, with the regulariser, in run->gradient. */
struct hm_batches;
int hm__batches_new(struct hm_run *run, struct hm_batches **ret_batches, struct hm_err *err);
void hm__batches_gradient(struct hm_run *run, struct hm_batches *batches);
/* This rank's rows of the next mini-batch. In each epoch every row is used once, in a new order. */
const uint32_t *hm__batches_next(struct hm_run *run, struct hm_batches *batches, size_t *ret_count);
/* Number of mini-batches in an epoch. */
double hm__batches_in_epoch(const struct hm_run *run);

/* Fill with 0..count-1; shuffle. */
void hm__fill_range(uint32_t *order, size_t count);
void hm__shuffle(struct hm_random *random, uint32_t *order, size_t count);

/*
 * settings.step, or else a step size that suits the loss: 1 / (curvature x mean |x|^2); `otherwise`
 * for objectives of unknown curvature.
 */
double hm__run_step_size(struct hm_run *run, double otherwise);

#endif
