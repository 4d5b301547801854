/* A growing table of measured runs: in memory as CSV, and in a file as soon as each is made. */
#ifndef HM_RECORD_H
#define HM_RECORD_H

#include "lists.h"
#include "own_store.h"
#include "measure.h"
#include "text.h"

/* Zero-initialise. */
struct cli_record {
    const char *names[CLI_AXES_MAX]; /* of the quantities that vary; borrowed */
    size_t axes;
    struct hm_text csv;     /* all of it */
    int file;               /* -1: none */
    bool json_lines;        /* the file's form */
    size_t rows;            /* in csv */
    struct hm_store *store; /* in place of a file; NULL: none */
};

/*
 * Begin; path may be NULL, or name a store, which is only added to. A file that is there is
 * appended to, if it has the same columns, and what it has counts as runs already made. 0, or
 * EXIT_USAGE.
 */
int cli_record_begin(struct cli_record *record, const char *path);
/* Add a run; on the disk when this returns. */
int cli_record_add(struct cli_record *record, const double *values, size_t repeat,
                   const struct cli_measure *measure);
/* The runs so far; NULL with the error when they cannot be read. */
struct hm_runs *cli_record_runs(const struct cli_record *record, struct hm_err *err);
void cli_record_end(struct cli_record *record);

#endif
