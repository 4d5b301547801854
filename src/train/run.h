/*
 * Declares a run of an algorithm on one rank, and the interface of an algorithm. Each algorithm is
 * a table of functions in its own source file; algorithms.c lists them all.
 *
 * Each rank holds its own rows and a copy of the weights w. At the start and at the end of each
 * iteration, all ranks have the same w, so that w can be evaluated and saved in between; an
 * algorithm whose ranks have different weights sets w in its function `gather`.
 */
#ifndef HM_RUN_H
#define HM_RUN_H

#include "comm.h"
#include "objective.h"
#include "random.h"
#include "usage.h"

/*
 * Settings of the algorithms. The value 0 (for momentum, a negative value) selects the algorithm's
 * default.
 */
struct hm_train_settings {
    double step; /* Initial step size of the algorithm. */
    /* Number of rows in a mini-batch over all ranks or, for local SGD, on each rank. */
    double batch;
    double passes;   /* Number of passes over its own rows that a rank performs in an iteration. */
    double momentum; /* [0, 1) */
    double memory;   /* Number of pairs (change of w, change of the gradient) that L-BFGS stores. */
    bool shrink;     /* True if rows whose dual variable has stopped changing are to be skipped. */
    /*
     * For federated averaging: number of clients (0 means one on each rank), fraction of the
     * clients that take part in a round (0 means all), and exponent of the clients' shares of the
     * rows (clients.h).
     */
    double clients, fraction, uneven;
    uint64_t seed;
};

/* One array of an algorithm's state that is saved in checkpoints. */
struct hm_part {
    const char *name;
    double *values; /* Elements of the array; borrowed. */
    size_t count;
    /*
     * True if the array has one value for each row of this rank. If false, the values are the same
     * on all ranks, unless of_ranks is set.
     */
    bool of_rows;
    /*
     * True if the array is this rank's own copy of w. If a run is resumed on a different number of
     * ranks, all copies start from w.
     */
    bool of_ranks;
};

enum { HM_PARTS = 8 };

struct hm_trace_point; /* One point of a training trace; see train.h. */

struct hm_run {
    const struct hm_algorithm *algorithm;
    struct hm_comm *comm;
    struct hm_objective *objective;
    struct hm_train_settings settings;
    double *w;        /* The weights w; `unknowns` elements. */
    double *gradient; /* Gradient that the algorithm uses; unknowns + HM_RUN_EXTRA elements. */
    double *scratch;  /* Scratch memory for sums over ranks; unknowns + HM_RUN_EXTRA elements. */
    double iteration; /* Number of iterations finished so far. */
    /* Number of rows processed so far by all ranks; a row counts each time it is processed. */
    double samples;
    /* True if the algorithm finds no further improvement; the value is the same on all ranks. */
    bool settled;
    double step; /* Initial step size, for algorithms that have the function `update`. */
    void *state; /* State of the algorithm, such as its velocities or dual variables. */
    /*
     * Functions of a platform whose ranks are not all workers; NULL means that all ranks are
     * workers.
     */
    const struct hm_platform_ops *platform;
    void *platform_state;  /* State of the platform, which its functions use. */
    struct hm_meter meter; /* Measures the resources that this rank uses. */
    /*
     * On rank 0, after each segment: resources used by the ranks that are not workers (servers or
     * driver).
     */
    struct hm_usage *extra_usage;
    size_t extra_count;
    struct hm_arena *arena;
};

enum { HM_RUN_EXTRA = 2 };

enum hm_trait {
    HM_TRAIT_DUAL = 1, /* The algorithm needs a loss for which the dual problem is defined. */
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
     * Allocates the state of the algorithm; w contains the starting point. If this fails on one
     * rank only, that rank returns alone, so the function must not communicate unless all ranks
     * agree first (hm__agree).
     */
    int (*begin)(struct hm_run *run, struct hm_err *err);
    /*
     * Performs computations that are needed before the first iteration; all ranks call it, and it
     * may communicate. May be NULL.
     */
    void (*prepare)(struct hm_run *run);
    /* Performs one iteration; all ranks call it. */
    void (*step)(struct hm_run *run);
    /*
     * Returns the sum of the terms of this rank's rows in the dual objective. It is NULL if the
     * algorithm has no dual problem.
     */
    double (*dual)(const struct hm_run *run);
    /*
     * Only for mini-batch algorithms: performs the second half of `step`, which changes w according
     * to the mean gradient in run->gradient. `weight` is the size of this update as a fraction of a
     * whole step, and `done` is the number of updates before this one. Each weight is updated
     * independently, so that ranges of w may be on different ranks. It is NULL if the algorithm
     * cannot run with parameter servers.
     */
    void (*update)(struct hm_run *run, double weight, double done);
    /*
     * Lists the arrays of the algorithm's state (without w) and returns their number; NULL if there
     * are none.
     */
    size_t (*parts)(struct hm_run *run, struct hm_part parts[HM_PARTS]);
    /*
     * Sets w to the same values on all ranks. It is called on all ranks before evaluations and
     * checkpoints, outside the measured time. It is NULL if w always has the same values on all
     * ranks.
     */
    void (*gather)(struct hm_run *run);
    /*
     * Function that is called on all ranks after the arrays have been loaded from a checkpoint; may
     * be NULL.
     */
    int (*resumed)(struct hm_run *run, struct hm_err *err);
    /*
     * Computes the objective and other members of a trace point. It is NULL if the objective is
     * P(w), which the caller computes.
     */
    void (*eval)(struct hm_run *run, struct hm_trace_point *point);
};

/*
 * Measurements of a segment, that is, of consecutive iterations without an evaluation or checkpoint
 * between them.
 */
struct hm_segment {
    double iterations, samples;
    /* Total time and computation time in seconds; each is the maximum over the ranks. */
    double seconds, compute_s;
    /* Numbers of bytes sent and of floating-point operations, summed over all ranks. */
    double bytes, flop;
    /* The members below are used only with parameter servers; otherwise they are 0. */
    double wait_s; /* Time in seconds that a worker waited for the weights w; the mean over the
                      workers. */
    /* Number of times that workers read w, and total staleness of these reads in clocks. */
    double reads, staleness;
    double dropped; /* Number of gradients that servers dropped because they arrived too late. */
};

/*
 * Functions that execute iterations if some ranks are not workers (driver, parameter servers). All
 * workers call run_segment, which executes `iterations` iterations. When it returns, all workers
 * have the same w, and rank 0 has the algorithm's state.
 */
struct hm_platform_ops {
    const char *name;
    int (*run_segment)(struct hm_run *run, double iterations, struct hm_segment *ret_segment,
                       struct hm_err *err);
    /*
     * The driver, a rank without rows, uses this function instead of run_segment. It stores the sum
     * of the gradients over all rows of all ranks in run->gradient, followed by the sum of the
     * losses.
     */
    void (*sum)(struct hm_run *run, const double *w);
};

/*
 * Totals of the whole run, including iterations that were performed before a checkpoint from which
 * the run was resumed.
 */
struct hm_train_totals {
    double elapsed_s, compute_s, bytes, flop;
};

/* All algorithms for problems with rows; the last element is NULL. */
extern const struct hm_algorithm *const hm__algorithms[];
const struct hm_algorithm *hm__algorithm_find(const char *name);

/* ---- for algorithms ------------------------------------------------------------------------- */

/*
 * Returns the random generator of this rank for the current iteration; `use` (0 to 15) selects one
 * of several independent streams.
 */
struct hm_random hm__run_random(const struct hm_run *run, unsigned use);

/*
 * Returns the objective P(w) over the rows of all ranks, and stores its gradient in run->gradient.
 * All ranks must call this function. The floating-point operations and the processed rows are
 * counted.
 */
double hm__run_full(struct hm_run *run, const double *w);

/*
 * Computes this rank's part of a gradient: returns the sum of the losses of the rows
 * list[0..count), or of rows 0 to count - 1 if `list` is NULL, and stores the sum of their
 * gradients in run->gradient. The floating-point operations are counted.
 */
double hm__run_part(struct hm_run *run, const double *w, const uint32_t *list, size_t count);
/* Same as hm__run_part, but adds the gradients to the gradients in run->gradient. */
double hm__run_add(struct hm_run *run, const double *w, const uint32_t *list, size_t count);
/*
 * Converts run->gradient from a sum over `rows` rows to the mean gradient: divides by `rows` and
 * adds the gradient of the regulariser.
 */
void hm__run_mean(struct hm_run *run, double rows);

/*
 * Derives dual variables from w, for an algorithm that continues a run of an algorithm without dual
 * variables: alpha_i = -l'(x_i.w), which is optimal if w is optimal and the loss l is smooth. w is
 * replaced with the w that belongs to these variables, sum_i alpha_i x_i / (lambda N). All ranks
 * must call this function.
 */
void hm__run_derive_dual(struct hm_run *run, double *alpha);

/* |w|^2 */
double hm__run_norm2(const struct hm_run *run);

/*
 * The mini-batches of a run. hm__batches_gradient stores the mean gradient of the next mini-batch,
 * including the gradient of the regulariser, in run->gradient.
 */
struct hm_batches;
int hm__batches_new(struct hm_run *run, struct hm_batches **ret_batches, struct hm_err *err);
void hm__batches_gradient(struct hm_run *run, struct hm_batches *batches);
/*
 * Returns the rows of the next mini-batch that are on this rank. In each epoch, every row is used
 * once, in a new random order.
 */
const uint32_t *hm__batches_next(struct hm_run *run, struct hm_batches *batches, size_t *ret_count);
/* Returns the number of mini-batches in an epoch. */
double hm__batches_in_epoch(const struct hm_run *run);

/* hm__fill_range sets `order` to 0, 1, …, count - 1; hm__shuffle puts it into a random order. */
void hm__fill_range(uint32_t *order, size_t count);
void hm__shuffle(struct hm_random *random, uint32_t *order, size_t count);

/*
 * Returns settings.step or, if it is 0, a step size that suits the loss: 1 / (curvature x mean
 * |x|^2), or `otherwise` if the curvature is unknown.
 */
double hm__run_step_size(struct hm_run *run, double otherwise);

#endif
