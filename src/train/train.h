/*
 * Makes a training run: iterations until a stopping criterion holds, with measurements, evaluations
 * of the objective and checkpoints. Measured times cover iterations only, not evaluations and
 * checkpoints.
 */
#ifndef HM_TRAIN_H
#define HM_TRAIN_H

#include "run.h"
#include "usages.h"

/* Stopping criteria; a criterion of 0 is not used. */
struct hm_train_limits {
    double iterations;
    double within_s;
    double suboptimality; /* Stop when P(w) - best is at most this value. */
    double gap;           /* Stop when the duality gap P(w) - D(alpha) is at most this value. */
    double best;          /* P*, the minimum of the objective; NAN: unknown. */
    /* Stop when no message of belief propagation changed by more than this in an iteration. */
    double change;
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

/* One line of the trace. Means are over the iterations since the last evaluation. */
struct hm_trace_point {
    double iteration; /* Number of iterations finished so far. */
    double epoch;     /* Number of passes over all rows so far. */
    double seconds, compute_s,
        communicate_s; /* Mean seconds of one iteration: total, computation and communication. */
    double elapsed_s;  /* Total time of the iterations so far, in seconds. */
    double objective;
    double suboptimality; /* Objective minus the known minimum; NAN: the minimum is unknown. */
    double gap;           /* Duality gap; NAN: the algorithm has no dual. */
    /* Largest change of a message in the last iteration; NAN: not belief propagation. */
    double change;
    double accuracy; /* Fraction of test rows predicted correctly; NAN: no test rows. */
    /* Mean squared error on the test rows, for least squares only; NAN otherwise. */
    double test_error;
    double samples_per_s;
    double bytes, flop; /* Bytes sent and operations: mean per iteration, summed over all ranks. */
    /* The members up to `dropped` apply to parameter servers; without servers they are NAN. */
    double wait_s;    /* Seconds per iteration that a worker waits for the weights w; mean over the
                         workers. */
    double staleness; /* Mean number of clocks by which the weights w were stale when they were
                         read. */
    double dropped;   /* Number of gradients dropped since the last evaluation. */
    /*
     * Usage of each rank since the last evaluation, workers first; borrowed; NULL: not requested.
     */
    const struct hm_usage *usage;
    size_t usage_count;
    double usage_s; /* Time that `usage` covers, in seconds. */
};

struct hm_train_plan {
    struct hm_train_limits limits;
    double eval_every;      /* Number of iterations between evaluations, at least 1. */
    double save_every;      /* Number of iterations between checkpoints; 0: only at the end. */
    const char *checkpoint; /* File name of the checkpoint; borrowed; NULL: no checkpoints. */
    /* Text that identifies problem and data in a checkpoint; borrowed. */
    const char *identity;
    const struct hm_rows *test; /* This rank's test rows; NULL: none. */
    double test_rows;           /* Number of test rows of all ranks. */
    /* Usage of all ranks, which is reported in each trace point; NULL: not reported. */
    struct hm_usages *usage;
    /* Called on rank 0 after each evaluation; may be NULL. */
    void (*report)(void *context, const struct hm_trace_point *point);
    void *context;
};

/*
 * Allocate w, the buffers and the algorithm's state; algorithm, comm, objective, settings and arena
 * of the run must be set. Settings that are 0 (momentum: negative) get the algorithm's defaults.
 */
int hm__run_begin(struct hm_run *run, struct hm_err *err);
/*
 * Iterate until a stopping criterion holds. Collective. A resumed run that already meets a
 * criterion does no iteration and reports nothing. *totals contains the totals before this call,
 * and this call adds its own.
 */
int hm__train(struct hm_run *run, const struct hm_train_plan *plan, struct hm_train_totals *totals,
              struct hm_trace_point *ret_last, enum hm_stop *ret_stop, struct hm_err *err);

#endif
