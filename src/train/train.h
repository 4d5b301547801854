/*
 * A whole run: iterations until something says stop, measured, looked at and saved on the way.
 * What is measured is iterations; looking at the objective and saving are not counted.
 */
#ifndef HM_TRAIN_H
#define HM_TRAIN_H

#include "run.h"

/* When to stop; 0 (NAN for best): does not apply. */
struct hm_train_limits {
    double iterations;
    double within_s;
    double suboptimality; /* P(w) - best */
    double gap;           /* P(w) - D(alpha) */
    double best;          /* P*, the least objective there is; NAN: not known */
    double change;        /* largest change of a message */
};

enum hm_stop {
    HM_STOP_NOT,
    HM_STOP_ITERATIONS,
    HM_STOP_WITHIN,
    HM_STOP_SUBOPTIMALITY,
    HM_STOP_GAP,
    HM_STOP_CHANGE,
    HM_STOP_SETTLED,  /* the algorithm finds nothing better */
    HM_STOP_DIVERGED, /* the objective is no longer a number */
    HM_STOPS
};

const char *hm__stop_name(enum hm_stop stop);

/* What is told of an iteration, or of several since the last that was looked at. */
struct hm_trace_point {
    double iteration;                         /* the last of them */
    double epoch;                             /* passes over all rows so far */
    double seconds, compute_s, communicate_s; /* of one iteration, in the mean */
    double elapsed_s;                         /* of all iterations so far */
    double objective;
    double suboptimality; /* NAN: best not known */
    double gap;           /* NAN: there is none */
    double change;        /* largest of a message in the last iteration; NAN: there is none */
    double accuracy;      /* share of the test rows that is right; NAN: there are none */
    double test_error; /* least squares instead: mean of the squared errors; NAN: there is none */
    double samples_per_s;
    double bytes, flop; /* sent and done by all ranks in one iteration, in the mean */
    /* With servers; otherwise NAN. */
    double wait_s;    /* for w, of a worker in one iteration, in the mean */
    double staleness; /* clocks that w was behind when it was read, in the mean */
    double dropped;   /* gradients, since the last look */
    /* Of each rank, workers first; NULL: nobody asked for it. Borrowed. */
    const struct hm_usage *usage;
    size_t usage_count;
    double usage_s; /* that it is of: seconds since the last look */
};

/* What has been spent, checkpoints included. */
struct hm_train_totals {
    double elapsed_s, compute_s, bytes, flop;
};

struct hm_train_plan {
    struct hm_train_limits limits;
    double look_every;          /* iterations between looks, >= 1 */
    double save_every;          /* iterations between checkpoints; 0: none */
    const char *checkpoint;     /* file; borrowed */
    const char *identity;       /* of problem and data, for the checkpoint; borrowed */
    const struct hm_rows *test; /* this rank's share of the test rows; NULL: none */
    double test_rows;           /* of all ranks */
    struct hm_usages *usage;    /* what each rank uses is told at each look; NULL: it is not */
    /* Called on rank 0 for each look. */
    void (*told)(void *context, const struct hm_trace_point *point);
    void *context;
};

/* Make w, the buffers and the algorithm's state. The run has algorithm, comm, objective, settings
 * and arena set. settings that are 0 (momentum: below 0) are taken from the algorithm. */
int hm__run_begin(struct hm_run *run, struct hm_err *err);
/*
 * Go on until a limit is reached; a run whose checkpoint is there already stays as it is, and
 * nothing is told. totals: of what was before, and then with what came.
 */
int hm__train(struct hm_run *run, const struct hm_train_plan *plan, struct hm_train_totals *totals,
              struct hm_trace_point *ret_last, enum hm_stop *ret_stop, struct hm_err *err);

#endif
