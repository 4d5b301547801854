/* Builds the command line of each child process of a steered training: `howmany train …`, or the
 * user's program. */
#ifndef HM_STEER_COMMAND_H
#define HM_STEER_COMMAND_H

#include <regex.h>

#include "steer_types.h"
#include "study_commands.h"

/*
 * The program that the child processes run: `howmany train` if `study` is not NULL, else `program`.
 */
struct steer_source {
    struct study_commands
        *study;  /* Options of `howmany train`, borrowed; NULL if `howmany train` is not used. */
    double seed; /* Random seed of all child processes. */
    struct launch_command program; /* The user's command, with placeholders; owned. */
    /*
     * Arguments that replace {resume} if a child process continues from a checkpoint; they are one
     * string, which is split like a command.
     */
    const char *resume;
    /*
     * Regular expression for the output lines that report an iteration; its first group is the
     * loss. NULL if the lines are JSON.
     */
    const regex_t *pattern;
};

/* Description of the next piece of a training run, which one child process executes. */
struct steer_piece {
    const struct steer_line *line;
    const char *checkpoint; /* Path of the checkpoint that the child process writes, and reads if it
                               resumes. */
    bool resume; /* True if the checkpoint exists, so that the child process continues from it. */
    /*
     * Largest number of iterations, and largest time in seconds, since the start of the run, as the
     * program itself counts them.
     */
    double iterations, within_s;
    double more; /* Maximum number of iterations of this child process alone. */
};

/* Returns whether the child processes are `howmany train`. */
bool steer_source_is_train(const struct steer_source *source);
/*
 * Builds the arguments of a child process; for `howmany train`, the arguments after `howmany`.
 * Returns 0, or EXIT_USAGE with a message.
 */
int steer_command_make(const struct steer_source *source, const struct steer_task *task,
                       const struct steer_piece *piece, struct launch_command *ret_command);
/* Checks the placeholders of the user's command. Returns 0, or EXIT_USAGE with a message. */
int steer_source_check(const struct steer_source *source, const struct steer_task *task);

#endif
