/* One training run as `howmany train` makes it: its options, its preparation, and running it. */
#ifndef HM_TRAIN_SESSION_H
#define HM_TRAIN_SESSION_H

#include "machine.h"
#include "train_launch.h"
#include "train_options.h"
#include "train_output.h"

/* Initialise with train_session_init; set the options; prepare; run; release on every path. */
struct train_session {
    struct train_options options;
    struct train_launch launch;
    struct train_output output;
    struct cli_machine cluster_job; /* The catalog and the values of --set. */
    struct hm_cluster *cluster;     /* Owned. */
    const char *simulate;           /* Cluster to simulate; NULL: real ranks. */
    double restarts;                /* Number of restarts after the death of a rank. */
    bool dry_run, precision_given;
    int given[TRAIN_RANKS * 2]; /* Options that are passed on to the ranks, in their order. */
    const char *values[TRAIN_RANKS * 2];
    size_t given_count;
};

void train_session_init(struct train_session *session);
void train_session_release(struct train_session *session);

/* Check everything that can be checked before a rank starts; 0, or EXIT_USAGE with a message. */
int train_session_prepare(struct train_session *session);
/* Run the ranks until they finish, with restarts; an exit code. */
int train_session_run(struct train_session *session);
/* Print the command that starts the ranks. */
int train_session_print_command(const struct train_session *session);

#endif
