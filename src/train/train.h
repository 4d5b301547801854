/*
 * A training run: iterations until a stopping criterion holds, with measurements, evaluations of
 * the objective and checkpoints. Measured times cover iterations only, not evaluations and
 * checkpoints.
 */
#ifndef HM_TRAIN_H
#define HM_TRAIN_H

#include "run.h"
#include "usages.h"

/* Stopping criteria; 0 (NAN for best): not set. */
struct hm_train_limits {
    double iterations;
    double within_s;
    double suboptimality; /* P(w) - best */
    double gap;           /* P(w) - D(alpha) */
    double best;          /* P*, the minimum of the objective; NAN: unknown. */
    double change;        /* Largest change of a belief-propagation message in an iteration. */
};

enum hm_stop {
    HM_STOP_NOT,
    HM_STOP_ITERATIONS,
    HM_STOP_WITHIN,
    HM_STOP_SUBOPTIMALITY,
    HM_STOP_GAP,
    HM_STOP_CHANGE,
    HM_STOP_SETTLED,  /* The algorithm finds no further improvement. */
    HM_STOP_DIVERGED, /* The objective is not finite. */
    HM_STOPS
};

const char *hm__stop_name(enum hm_stop stop);

/* One line of the trace: the mean over the iterations since the last evaluation. */
struct hm_trace_point {
    double iteration;                         /* Number of iterations finished. */
    double epoch;                             /* Passes over all rows so far. */
    double seconds, compute_s, communicate_s; /* Mean per iteration. */
    double elapsed_s;                         /* Total time of the iterations so far. */
    double objective;
    double suboptimality; /* NAN: best is unknown. */
    double gap;           /* Duality gap; NAN: the algorithm has no dual. */
    /* Largest change of a message in the last iteration; NAN: not belief propagation. */
    double change;
    double accuracy;   /* Fraction of test rows predicted correctly; NAN: no test rows. */
    double test_error; /* Least squares only: mean squared error on the test rows; NAN otherwise. */
    double samples_per_s;
    double bytes, flop; /* Mean per iteration, summed over all ranks. */
    /* Parameter servers only; otherwise NAN. */
    double wait_s;    /* Seconds per iteration that a worker waits for w, mean over workers. */
    double staleness; /* Mean number of clocks by which w was stale when it was read. */
    double dropped;   /* Gradients dropped since the last evaluation. */
    /* Usage of each rank, workers first; borrowed; NULL: not requested. */
    const struct hm_usage *usage;
    size_t usage_count;
    double usage_s; /* Seconds covered by `usage`. */
};

struct hm_train_plan {
    struct hm_train_limits limits;
    double eval_every;      /* Iterations between evaluations, >= 1. */
    double save_every;      /* Iterations between checkpoints; 0: only at the end. */
    const char *checkpoint; /* File name; borrowed; NULL: no checkpoints. */
    /* Text that identifies problem and data in a checkpoint; borrowed. */
    const char *identity;
    const struct hm_rows *test; /* This rank's test rows; NULL: none. */
    double test_rows;           /* Test rows of all ranks. */
    /* If not NULL, the usage of each rank is part of each trace point. */
    struct hm_usages *usage;
    /* Called on rank 0 after each evaluation; may be NULL. */
    void (*report)(void *context, const struct hm_trace_point *point);
    void *context;
};

/*
 * Allocate w, the buffers and the algorithm's state. The run has algorithm, comm, objective,
 * settings and arena set. Settings that are 0 (momentum: negative) get the algorithm's defaults.
 */
int hm__run_begin(struct hm_run *run, struct hm_err *err);
/*
 * Collective: iterate until a stopping criterion holds. A run resumed from a checkpoint that
 * already meets one does no iteration and reports nothing. totals: in, totals before this call;
 * out, including this call.
 */
int hm__train(struct hm_run *run, const struct hm_train_plan *plan, struct hm_train_totals *totals,
              struct hm_trace_point *ret_last, enum hm_stop *ret_stop, struct hm_err *err);

#endif
