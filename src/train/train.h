/*
 * Executes a training run: iterations until a stopping criterion holds, with measurements,
 * evaluations of the objective, and checkpoints. Measured times cover iterations only, not
 * evaluations and checkpoints.
 */
#ifndef HM_TRAIN_H
#define HM_TRAIN_H

#include "run.h"
#include "usages.h"

/* Stopping criteria; a criterion whose value is 0 is not used. */
struct hm_train_limits {
    double iterations;
    double within_s;
    double suboptimality; /* Stop when P(w) - `best` is at most this value. */
    double gap;           /* Stop when the duality gap P(w) - D(alpha) is at most this value. */
    double best;          /* P*, the minimum of the objective P(w); NAN if unknown. */
    /*
     * Stop when no message of belief propagation changed by more than this value in an iteration.
     */
    double change;
};

enum hm_stop {
    HM_STOP_NOT,
    HM_STOP_ITERATIONS,
    HM_STOP_WITHIN,
    HM_STOP_SUBOPTIMALITY,
    HM_STOP_GAP,
    HM_STOP_CHANGE,
    HM_STOP_SETTLED,  /* The run stopped because the algorithm finds no further improvement. */
    HM_STOP_DIVERGED, /* The run stopped because the objective is not finite. */
    HM_STOPS
};

const char *hm__stop_name(enum hm_stop stop);

/*
 * One line of the trace of a run. Means are computed over the iterations since the last evaluation.
 */
struct hm_trace_point {
    double iteration; /* Number of iterations finished so far. */
    double epoch;     /* Number of passes over all rows of the data so far. */
    double seconds, compute_s,
        /* Mean time of one iteration in seconds: in total, for computation, and for
         * communication. */
        communicate_s;
    double elapsed_s; /* Total time of all iterations so far, in seconds. */
    double objective;
    double suboptimality; /* Objective minus its minimum P*; NAN if P* is unknown. */
    double gap;           /* Duality gap; NAN if the algorithm has no dual problem. */
    /*
     * Largest change of a message in the last iteration of belief propagation; NAN for other
     * algorithms.
     */
    double change;
    /* Fraction of the test rows that are predicted correctly; NAN if there are no test rows. */
    double accuracy;
    /* Mean squared error on the test rows, for least squares only; NAN otherwise. */
    double test_error;
    double samples_per_s;
    /*
     * Number of bytes sent and number of floating-point operations in an iteration: the mean over
     * iterations of the sum over all ranks.
     */
    double bytes, flop;
    /*
     * This and the following members up to `dropped` are used only with parameter servers;
     * otherwise they are NAN.
     */
    /*
     * Time in seconds per iteration that a worker waits for the weights w, averaged over the
     * workers.
     */
    double wait_s;
    double staleness; /* Mean staleness of the weights w when they were read, in clocks. */
    double dropped;   /* Number of gradients that servers dropped since the last evaluation. */
    /*
     * Resources that each rank has used since the last evaluation, workers first, borrowed; NULL if
     * not requested.
     */
    const struct hm_usage *usage;
    size_t usage_count;
    double usage_s; /* Length in seconds of the interval that `usage` covers. */
};

struct hm_train_plan {
    struct hm_train_limits limits;
    double eval_every; /* Number of iterations between evaluations, at least 1. */
    double save_every; /* Number of iterations between checkpoints; 0 means only at the end. */
    /* Path of the checkpoint file, borrowed; NULL if there are no checkpoints. */
    const char *checkpoint;
    /* String that identifies the problem and the data in a checkpoint; borrowed. */
    const char *identity;
    const struct hm_rows *test; /* Test rows of this rank; NULL if there are none. */
    double test_rows;           /* Number of test rows on all ranks. */
    /* Resource usage of all ranks, which is reported at each evaluation; NULL if not reported. */
    struct hm_usages *usage;
    /* Function that is called on rank 0 after each evaluation; may be NULL. */
    void (*report)(void *context, const struct hm_trace_point *point);
    void *context;
};

/*
 * Allocates w, the buffers and the algorithm's state; the members algorithm, comm, objective,
 * settings and arena of the run must be set. Settings that are 0 (for momentum, negative) are set
 * to the algorithm's defaults.
 */
int hm__run_begin(struct hm_run *run, struct hm_err *err);
/*
 * Iterates until a stopping criterion holds. All ranks must call this function. A resumed run that
 * already meets a criterion performs no iteration and reports nothing. The totals of this call are
 * added to *totals.
 */
int hm__train(struct hm_run *run, const struct hm_train_plan *plan, struct hm_train_totals *totals,
              struct hm_trace_point *ret_last, enum hm_stop *ret_stop, struct hm_err *err);

#endif
