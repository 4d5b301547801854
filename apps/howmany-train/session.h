/* Executes the training run of one rank, from the options to the last line of the trace. */
#ifndef HM_SESSION_H
#define HM_SESSION_H

#include "trace.h"
#include "train_options.h"

struct session {
    struct hm_comm *world; /* Communicator of all ranks; borrowed. */
    /*
     * Communicator of the workers; borrowed. Servers and the driver do not belong to this
     * communicator.
     */
    struct hm_comm *comm;
    struct train_options *options; /* Checked options; borrowed. */
    char mpi[64];                  /* Name and version of MPI, as written to the trace. */
    bool simulated;
    struct hm_arena *arena;
    struct hm_data_shape shape;
    /* Fingerprint of the rows before scaling. Scaled values are not used, because they depend on
     * the number of ranks. */
    double fingerprint;
    struct hm_objective objective;
    struct hm_run run;
    struct hm_straggling straggling;
    /* Settings of parameter servers from the options, including the number of workers. */
    struct hm_serving serving;
    struct hm_mrf *mrf; /* Markov random field of belief propagation; owned by `arena`. */
    struct hm_rows test;
    double test_rows;
    struct hm_train_totals totals;
    struct trace_times
        times;          /* Time of each iteration of this run in seconds; set on rank 0 only. */
    char identity[512]; /* Text that identifies the problem and the data in checkpoints. */
};

/*
 * Runs the training. Returns the exit code: EXIT_ANSWERED, EXIT_NO_ANSWER if the run diverged, or
 * EXIT_USAGE with a message.
 */
int session_run(struct session *session);

/*
 * Reads, distributes and scales the rows. The call is collective and returns the same value on all
 * ranks: 0 or an error code.
 */
int session_read_rows(struct session *session, struct hm_err *err);

int session_write_beliefs(const struct session *session, struct hm_err *err);

#endif
