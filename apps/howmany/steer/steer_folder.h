/*
 * Reads and writes the folder of a steered training. The folder holds the points and checkpoints of
 * all pieces; existing pieces are read, and missing ones are made.
 */
#ifndef HM_STEER_FOLDER_H
#define HM_STEER_FOLDER_H

#include "cli.h"
#include "steer_command.h"

/* The caller sets the first three members, all of which are borrowed. */
struct steer_folder {
    const char *path;                  /* Path of the folder. */
    const struct steer_source *source; /* The program that the pieces run. */
    /* Text that identifies the training; the same for all pieces of the folder. */
    const char *identity;

    long pieces;  /* Number of pieces of the training so far. */
    long made;    /* Number of pieces that this process made. */
    double bytes; /* Bytes of the largest checkpoint; NaN: unknown. */
    struct cli_progress progress;
};

/* Limits of a piece; INFINITY: no limit. */
struct steer_limits {
    double iterations; /* Maximum number of iterations of the piece. */
    double seconds;    /* Maximum seconds of the piece, without its switch. */
};

/* Make the folder, or check that it belongs to this training. Returns 0, or EXIT_USAGE with a
 * message. */
int steer_folder_open(struct steer_folder *folder);
/*
 * Make the next piece, which continues the line of training `number` at the time line->clock_s, and
 * add its points to that line. If an earlier process made the piece, it is only read. Returns 0 or
 * an exit code.
 */
int steer_folder_piece(struct steer_folder *folder, struct steer_state *state, size_t number,
                       const struct steer_limits *limits);
/* Write a file into the folder. Returns 0, or EXIT_USAGE with a message. */
int steer_folder_write(const struct steer_folder *folder, const char *name, const char *text,
                       size_t length);

#endif
