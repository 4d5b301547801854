/* The training run of one rank, from the options to the last line of the trace. */
#ifndef HM_SESSION_H
#define HM_SESSION_H

#include "train_options.h"

struct session {
    struct hm_comm *world; /* All ranks; borrowed. */
    /* The workers; borrowed. This rank may be a server or the driver instead. */
    struct hm_comm *comm;
    struct train_options *options; /* Borrowed; already checked. */
    char mpi[64];                  /* Version of MPI, for the trace. */
    bool simulated;
    struct hm_arena *arena;
    struct hm_data_shape shape;
    double
        /*
         * Fingerprint of the rows before scaling, since scaled values depend on the number of
         * ranks.
         */
        fingerprint;
    struct hm_objective objective;
    struct hm_run run;
    struct hm_straggling straggling;
    struct hm_serving serving; /* As in the options, with the number of workers. */
    struct hm_mrf *mrf;        /* Field of belief propagation; owned by arena. */
    struct hm_rows test;
    double test_rows;
    struct hm_train_totals totals;
    char identity[512]; /* Text that identifies problem and data in checkpoints. */
};

/*
 * Returns the exit code: EXIT_ANSWERED, EXIT_NO_ANSWER if the run diverged, EXIT_USAGE with a
 * message.
 */
int session_run(struct session *session);

/*
 * Collective: read, distribute and scale the rows. Returns 0, or a code with the same error on all
 * ranks.
 */
int session_read_rows(struct session *session, struct hm_err *err);

int session_write_beliefs(const struct session *session, struct hm_err *err);

#endif
