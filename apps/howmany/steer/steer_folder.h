/*
 * The folder of a steered training. It holds the points and checkpoints of all pieces; existing
 * pieces are read, and missing ones are made.
 */
#ifndef HM_STEER_FOLDER_H
#define HM_STEER_FOLDER_H

#include "cli.h"
#include "steer_command.h"

/* Set the first three members; release `identity` never, it is borrowed. */
struct steer_folder {
    const char *path;                  /* Path of the folder; borrowed. */
    const struct steer_source *source; /* Borrowed. */
    const char *identity;              /* Text that all pieces of the folder must share. */

    long pieces;  /* Number of pieces so far. */
    long made;    /* Number of pieces that this process made. */
    double bytes; /* Size of the largest checkpoint; NaN: unknown. */
    struct cli_progress progress;
};

/* Limits of a piece; INFINITY: no limit. */
struct steer_limits {
    double iterations; /* Iterations of this piece. */
    double seconds;    /* Time of this piece, without its switch. */
};

/* Make the folder, or check that it belongs to this training. Returns 0, or EXIT_USAGE with a
 * message. */
int steer_folder_open(struct steer_folder *folder);
/*
 * Make the next piece, which continues line `number`, and add its points to the line; if an earlier
 * process made the piece, only read it. Line and piece start at state->now_s or, for a running
 * line, where it is. Returns 0 or an exit code.
 */
int steer_folder_piece(struct steer_folder *folder, struct steer_state *state, size_t number,
                       const struct steer_limits *limits);
/* Write a file of the folder. Returns 0, or EXIT_USAGE with a message. */
int steer_folder_write(const struct steer_folder *folder, const char *name, const char *text,
                       size_t length);

#endif
