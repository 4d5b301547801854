/* Starts the ranks of a training run: as processes with a launcher, or simulated on SimGrid. */
#ifndef HM_TRAIN_LAUNCH_H
#define HM_TRAIN_LAUNCH_H

#include "cli.h"
#include "simgrid_platform.h"
#include "temporary.h"

/*
 * Command that starts the ranks of a run. Zero-initialise the struct, set the members before the
 * empty line, call train_launch_prepare, and release it on every path.
 */
struct train_launch {
    /* Name of the program that each rank runs if ranks are not simulated; NULL means howmany-train.
     * Borrowed. */
    const char *program;
    /* True if this process is itself an MPI rank. It then starts one child process without a
     * launcher, which does the work of this rank. */
    bool inside;
    struct launch_ranks ranks;
    /* Command that starts the ranks, in which {n} is replaced by their number; if NULL,
     * train_launch_prepare chooses the command. Borrowed. */
    const char *launcher;
    const struct hm_cluster
        *cluster;  /* Cluster to simulate; NULL means that the ranks are not simulated. Borrowed. */
    int precision; /* Precision of the simulated computation in bits. */
    const char *platform_folder; /* Folder for SimGrid's files; NULL means a temporary folder. */

    /* First part of the command, before the arguments of the program that each rank runs. */
    struct launch_command prefix;
    struct launch_command arguments; /* The arguments of the program that each rank runs. */
    struct simgrid_platform platform;
    char *module; /* Path of the module that simulated ranks run; owned. */
    /* Path of the temporary folder for files of SimGrid or mpirun; empty if there is none. */
    char folder[LAUNCH_FOLDER];
    /* Path of the folder in /dev/shm for the memory that ranks share; empty if there is none. */
    char shared[LAUNCH_FOLDER];
    /* True if there are more ranks than cores, so that times are unreliable. */
    bool oversubscribed;
};

/*
 * Finds the programs and writes the platform file of a simulation. Returns 0, or EXIT_USAGE with a
 * message.
 */
int train_launch_prepare(struct train_launch *launch);
/* Adds an option to the arguments of the ranks; `value` is NULL for an option without a value. */
int train_launch_option(struct train_launch *launch, const char *name, const char *value);
/* Builds the whole command, with --resume if `resume` is true. */
int train_launch_command(const struct train_launch *launch, bool resume,
                         struct launch_command *ret_command);
void train_launch_release(struct train_launch *launch);

#endif
