/* Makes the command line of each piece of a steered training: `howmany train …`, or a program of
 * the user. */
#ifndef HM_STEER_COMMAND_H
#define HM_STEER_COMMAND_H

#include <regex.h>

#include "steer_types.h"
#include "study_commands.h"

/* The program that the pieces run: `howmany train` if `study` is set, else `program`. */
struct steer_source {
    struct study_commands *study;  /* Options of `howmany train`; borrowed. NULL: not used. */
    double seed;                   /* Random seed of all pieces. */
    struct launch_command program; /* Command of the user, with placeholders; owned. */
    /*
     * Arguments that replace {resume} if a piece continues from a checkpoint, as one text that is
     * split like a command.
     */
    const char *resume;
    /*
     * Pattern of the lines that report an iteration; its first group is the loss. NULL: the lines
     * are JSON.
     */
    const regex_t *pattern;
};

/* Description of a piece of the training that is to be made. */
struct steer_piece {
    const struct steer_line *line;
    const char *checkpoint; /* Path of the checkpoint of the piece. */
    bool resume; /* True if the checkpoint exists, so that the piece continues from it. */
    /*
     * Largest number of iterations and seconds since the training first started, as the program
     * counts them.
     */
    double iterations, within_s;
    double more; /* Maximum number of iterations of this piece alone. */
};

/* Whether pieces are runs of `howmany train`. */
bool steer_source_is_train(const struct steer_source *source);
/*
 * Make the arguments of a piece; with `howmany train`, those after `howmany`. Returns 0, or
 * EXIT_USAGE with a message.
 */
int steer_command_make(const struct steer_source *source, const struct steer_task *task,
                       const struct steer_piece *piece, struct launch_command *ret_command);
/* Check the placeholders of the user's command. Returns 0, or EXIT_USAGE with a message. */
int steer_source_check(const struct steer_source *source, const struct steer_task *task);

#endif
