/* One rank's part of a training run, from what it is told to the last line of the trace. */
#ifndef HM_SESSION_H
#define HM_SESSION_H

#include "train_options.h"

struct session {
    struct hm_comm *world;         /* all ranks; borrowed */
    struct hm_comm *comm;          /* the workers, of which we may not be one; borrowed */
    struct train_options *options; /* borrowed, checked */
    char mpi[64];                  /* its version, for the trace */
    bool simulated;
    struct hm_arena *arena;
    struct hm_data_shape shape;
    double
        fingerprint; /* of the rows before they are scaled, which depends on how many ranks do it */
    struct hm_objective objective;
    struct hm_run run;
    struct hm_straggling straggling;
    struct hm_serving serving; /* as in the options, with the number of workers */
    struct hm_mrf *mrf;        /* of belief propagation; owned through arena */
    struct hm_rows test;
    double test_rows;
    struct hm_train_totals totals;
    char identity[512]; /* of problem and data, for checkpoints */
};

/* The exit code: EXIT_ANSWERED, EXIT_NO_ANSWER when it diverged, EXIT_USAGE with a message. */
int session_run(struct session *session);

/* The pieces, in their order; 0, or a code with the same error on all ranks. */
int session_read_rows(struct session *session, struct hm_err *err); /* rows.c */

int session_write_beliefs(const struct session *session, struct hm_err *err);

#endif
