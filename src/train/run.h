/*
 * Declares a run of an algorithm on one rank, and the interface of an algorithm. An algorithm is a
 * table of functions in a file of its own, listed in algorithms.c.
 *
 * Each rank holds its own rows and a copy of the weights w. At the start and at the end of each
 * iteration all ranks have the same w, so that w can be evaluated and saved in between; an
 * algorithm whose ranks have different parameters sets w in its function `gather`.
 */
#ifndef HM_RUN_H
#define HM_RUN_H

#include "comm.h"
#include "objective.h"
#include "random.h"
#include "usage.h"

/* Settings of the algorithms; 0 (momentum: negative) selects the algorithm's default. */
struct hm_train_settings {
    double step;  /* Initial step size. */
    double batch; /* Number of rows in a mini-batch over all ranks; for local SGD, rows per rank. */
    double passes;   /* Number of passes over its own rows that a rank makes in an iteration. */
    double momentum; /* [0, 1) */
    double memory;   /* Number of pairs of changes (of w and of the gradient) that L-BFGS stores. */
    bool shrink;     /* True to skip rows whose dual variable has stopped changing. */
    /*
     * For federated averaging: number of clients (0: one on each rank), fraction of the clients
     * that take part in a round (0: all), and exponent of the clients' shares of the rows
     * (clients.h).
     */
    double clients, fraction, uneven;
    uint64_t seed;
};

/* One array of an algorithm's state, for checkpoints. */
struct hm_part {
    const char *name;
    double *values; /* Values of the array; borrowed. */
    size_t count;
    /*
     * True if the array has one value for each row of this rank. If false, the values are the same
     * on all ranks, unless of_ranks is set.
     */
    bool of_rows;
    /*
     * True if the array is this rank's own copy of w. If a run is resumed on another number of
     * ranks, all copies start from w.
     */
    bool of_ranks;
};

enum { HM_PARTS = 8 };

struct hm_trace_point; /* A point of a trace; see train.h. */

struct hm_run {
    const struct hm_algorithm *algorithm;
    struct hm_comm *comm;
    struct hm_objective *objective;
    struct hm_train_settings settings;
    double *w;        /* The weights w (parameters); length unknowns. */
    double *gradient; /* Gradient, used by the algorithm; length unknowns + HM_RUN_EXTRA. */
    double *scratch;  /* Scratch for sums over ranks; length unknowns + HM_RUN_EXTRA. */
    double iteration; /* Number of iterations finished so far. */
    double samples;   /* Number of rows processed so far by all ranks, with repetition. */
    /* True if the algorithm finds no further improvement; the same on all ranks. */
    bool settled;
    double step; /* Initial step size, for algorithms that have the function `update`. */
    void *state; /* State of the algorithm. */
    /* Functions of a platform whose ranks are not all workers; NULL: all ranks are workers. */
    const struct hm_platform_ops *platform;
    void *platform_state;  /* State of the platform. */
    struct hm_meter meter; /* Resource usage of this rank. */
    /*
     * On rank 0, after each segment: usage of the ranks that are not workers (servers or driver).
     */
    struct hm_usage *extra_usage;
    size_t extra_count;
    struct hm_arena *arena;
};

enum { HM_RUN_EXTRA = 2 };

enum hm_trait {
    HM_TRAIT_DUAL = 1, /* The algorithm needs a loss with a dual. */
    /* An iteration processes one mini-batch, and an epoch has many mini-batches. */
    HM_TRAIT_BATCHES = 2,
    HM_TRAIT_LINEAR = 4, /* The algorithm needs a linear problem with one output. */
};

struct hm_algorithm {
    const char *name;
    const char *title;
    unsigned traits;
    struct hm_train_settings defaults;
    /*
     * Allocate the state; w contains the starting point. A rank that fails returns alone, so this
     * function must not communicate unless all ranks agree first (hm__agree).
     */
    int (*begin)(struct hm_run *run, struct hm_err *err);
    /* Makes collective computations before the first iteration; may be NULL. */
    void (*prepare)(struct hm_run *run);
    /* Makes one iteration; collective. */
    void (*step)(struct hm_run *run);
    /*
     * Returns the sum, over this rank's rows, of the rows' terms in the dual objective. NULL: the
     * algorithm has no dual.
     */
    double (*dual)(const struct hm_run *run);
    /*
     * For mini-batch algorithms: the second half of `step`, which changes w by the mean gradient in
     * run->gradient. `weight` is the size of this update as a fraction of a whole step, and `done`
     * is the number of updates before this one. Each weight is updated independently, so that
     * ranges of w may be on different ranks. NULL: the algorithm cannot run with parameter servers.
     */
    void (*update)(struct hm_run *run, double weight, double done);
    /* Lists the arrays of the algorithm's state besides w and returns their number; NULL: none. */
    size_t (*parts)(struct hm_run *run, struct hm_part parts[HM_PARTS]);
    /*
     * Called before evaluations and checkpoints, outside the measured time: set w to the same
     * values on all ranks. NULL: w always has the same values on all ranks. Collective.
     */
    void (*gather)(struct hm_run *run);
    /* Called on all ranks after the arrays have been loaded from a checkpoint; may be NULL. */
    int (*resumed)(struct hm_run *run, struct hm_err *err);
    /*
     * Computes the objective and other members of the trace point. NULL: the objective is P(w),
     * which the caller computes.
     */
    void (*eval)(struct hm_run *run, struct hm_trace_point *point);
};

/*
 * Measurements of a segment: consecutive iterations without an evaluation or checkpoint in between.
 */
struct hm_segment {
    double iterations, samples;
    /* Total and computation time in seconds, each the maximum over the ranks. */
    double seconds, compute_s;
    double bytes, flop; /* Bytes sent and operations done, summed over all ranks. */
    /* The members below apply to parameter servers; without servers they are 0. */
    double wait_s; /* Seconds of waiting for the weights w, as a mean over the workers. */
    /* Number of reads of w by all workers, and the sum of their staleness in clocks. */
    double reads, staleness;
    double dropped; /* Number of gradients that were dropped. */
};

/*
 * Functions that execute iterations if some ranks are not workers (driver, parameter servers).
 * run_segment executes `iterations` iterations; it is collective over the workers. On return all
 * workers have the same w, and rank 0 has the algorithm's state.
 */
struct hm_platform_ops {
    const char *name;
    int (*run_segment)(struct hm_run *run, double iterations, struct hm_segment *ret_segment,
                       struct hm_err *err);
    /*
     * For a rank without rows (the driver), instead of run_segment: compute in run->gradient the
     * sum of the gradients over all rows of all ranks, followed by the sum of the losses.
     */
    void (*sum)(struct hm_run *run, const double *w);
};

/* Totals of the whole run, including the iterations before a checkpoint was loaded. */
struct hm_train_totals {
    double elapsed_s, compute_s, bytes, flop;
};

/* All algorithms for problems with rows; the list ends with NULL. */
extern const struct hm_algorithm *const hm__algorithms[];
const struct hm_algorithm *hm__algorithm_find(const char *name);

/* ---- for algorithms ------------------------------------------------------------------------- */

/* Returns the random generator of this rank for this iteration; `use` (0..15) selects a stream. */
struct hm_random hm__run_random(const struct hm_run *run, unsigned use);

/*
 * Returns P(w) over all rows of all ranks; its gradient is stored in run->gradient. Collective. The
 * operations and the processed rows are counted.
 */
double hm__run_full(struct hm_run *run, const double *w);

/*
 * Computes this rank's part of a gradient: returns the sum of the losses of rows list[0..count)
 * (list NULL: rows 0..count-1) and stores the sum of their gradients in run->gradient. The
 * operations are counted.
 */
double hm__run_part(struct hm_run *run, const double *w, const uint32_t *list, size_t count);
/* Like hm__run_part, but adds the gradients to run->gradient. */
double hm__run_add(struct hm_run *run, const double *w, const uint32_t *list, size_t count);
/*
 * Convert run->gradient from a sum over `rows` rows to the mean gradient: divide by `rows` and add
 * the gradient of the regulariser.
 */
void hm__run_mean(struct hm_run *run, double rows);

/*
 * Derive dual variables from w, for an algorithm that continues from a run without them: alpha_i =
 * -l'(x_i.w), which is optimal if w is optimal and the loss l is smooth. w is replaced by the w
 * that belongs to these variables, sum_i alpha_i x_i / (lambda N). Collective.
 */
void hm__run_derive_dual(struct hm_run *run, double *alpha);

/* |w|^2 */
double hm__run_norm2(const struct hm_run *run);

/*
 * The mini-batches of a run. hm__batches_gradient computes the mean gradient of the next
 * mini-batch, including the gradient of the regulariser, in run->gradient.
 */
struct hm_batches;
int hm__batches_new(struct hm_run *run, struct hm_batches **ret_batches, struct hm_err *err);
void hm__batches_gradient(struct hm_run *run, struct hm_batches *batches);
/*
 * Returns this rank's rows of the next mini-batch. In each epoch every row is used once, in a new
 * random order.
 */
const uint32_t *hm__batches_next(struct hm_run *run, struct hm_batches *batches, size_t *ret_count);
/* Returns the number of mini-batches in an epoch. */
double hm__batches_in_epoch(const struct hm_run *run);

/* hm__fill_range fills `order` with 0..count-1; hm__shuffle puts it into a random order. */
void hm__fill_range(uint32_t *order, size_t count);
void hm__shuffle(struct hm_random *random, uint32_t *order, size_t count);

/*
 * Returns settings.step, or, if it is 0, a step size that suits the loss: 1 / (curvature x mean
 * |x|^2), or `otherwise` if the curvature is unknown.
 */
double hm__run_step_size(struct hm_run *run, double otherwise);

#endif
