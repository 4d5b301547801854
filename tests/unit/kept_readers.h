/*
 * Declares readers of the library for test_kept_inputs.c: each reads a file and writes the outcome
 * as text.
 */
#ifndef KEPT_READERS_H
#define KEPT_READERS_H

#include <stdbool.h>
#include <stddef.h>

enum { OUTCOME = 1 << 17 };

/* The outcome of reading a file: the message of the error, or a summary of what was read. */
struct outcome {
    char text[OUTCOME];
    size_t used;
    bool accepted;
    size_t number; /* Number of variants of the file that were made before, plus 1. */
};

struct reader {
    const char *folder; /* Folder of the fuzz corpus. */
    void (*read)(const char *data, size_t size, struct outcome *o);
    size_t dense; /* Factor on the number of variants that are made of a file. */
    size_t every; /* Only every N-th variant is read, with N = `every`; 0: all variants are read. */
};

/* The readers; the folder of the last element is NULL. */
extern const struct reader kept_readers[];

#endif
