/*
 * Reads and writes the folder of a steered training. Its runs are executed in pieces; each piece is
 * one child process. The folder contains the measured points and the checkpoints of all pieces;
 * existing pieces are read, and missing ones are executed.
 */
#ifndef HM_STEER_FOLDER_H
#define HM_STEER_FOLDER_H

#include "cli.h"
#include "steer_command.h"

/*
 * Folder of a steered training. The caller sets the first three members, all of which are borrowed.
 */
struct steer_folder {
    const char *path;                  /* Path of the folder. */
    const struct steer_source *source; /* The program that the child processes run. */
    /* Text that identifies the training; all pieces of the folder belong to this training. */
    const char *identity;

    long pieces;  /* Number of pieces in the folder so far. */
    long made;    /* Number of pieces that this process has executed. */
    double bytes; /* Size of the largest checkpoint in bytes; NaN if unknown. */
    struct cli_progress progress;
    int lock; /* Keeps other commands out of the folder; 0 if there is no lock. */
};

/* Limits of one piece of a run (one child process); INFINITY for no limit. */
struct steer_limits {
    double iterations; /* Maximum number of iterations in this piece of the run. */
    double seconds;    /* Maximum time of the piece in seconds, excluding the time for changing the
                          algorithm or the number of workers. */
};

/*
 * Creates the folder, or checks that an existing folder belongs to this training. Returns 0, or
 * EXIT_USAGE with a message.
 */
int steer_folder_open(struct steer_folder *folder);
/*
 * Executes the next piece of run `number`, which continues at the time line->clock_s, and adds its
 * points to the run. If an earlier process executed the piece, it is only read. Returns 0 or an
 * exit code.
 */
int steer_folder_piece(struct steer_folder *folder, struct steer_state *state, size_t number,
                       const struct steer_limits *limits);
/* Writes a file into the folder. Returns 0, or EXIT_USAGE with a message. */
int steer_folder_write(const struct steer_folder *folder, const char *name, const char *text,
                       size_t length);

#endif
