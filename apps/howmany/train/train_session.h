/* Executes one training run of `howmany train`: stores its options, prepares it and runs it. */
#ifndef HM_TRAIN_SESSION_H
#define HM_TRAIN_SESSION_H

#include "machine.h"
#include "train_launch.h"
#include "train_options.h"
#include "train_output.h"

/*
 * A training run. Call train_session_init, set the options, prepare and run the training, and
 * release the struct on every path.
 */
struct train_session {
    struct train_options options;
    struct train_launch launch;
    struct train_output output;
    struct cli_machine cluster_job; /* The catalog and the assignments of --set to the cluster. */
    struct hm_cluster *cluster; /* Cluster to simulate, as loaded; owned. NULL means that the ranks
                                   are not simulated. */
    const char *simulate; /* Name of the cluster to simulate; NULL means that the ranks are not
                             simulated. */
    double restarts;      /* Largest number of restarts after the death of a rank. */
    bool dry_run, precision_given;
    /* Indices of the options that are passed to the ranks, in the order of the command line. */
    int given[TRAIN_RANKS * 2];
    const char *values[TRAIN_RANKS * 2];
    size_t given_count;
};

void train_session_init(struct train_session *session);
void train_session_release(struct train_session *session);

/*
 * Checks everything that can be checked before a rank starts. Returns 0, or EXIT_USAGE with a
 * message.
 */
int train_session_prepare(struct train_session *session);
/* Runs the ranks until they finish, with restarts if necessary. Returns an exit code. */
int train_session_run(struct train_session *session);
/* Prints the command that starts the ranks. */
int train_session_print_command(const struct train_session *session);

#endif
