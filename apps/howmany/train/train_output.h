/* The output of a training run, line by line: passed on, recorded, and shown as a table. */
#ifndef HM_TRAIN_OUTPUT_H
#define HM_TRAIN_OUTPUT_H

#include "cli.h"
#include "own_store.h"
#include "text.h"

/* Zero-initialise, set the first group, then begin. */
struct train_output {
    bool json;          /* Print the lines of JSON; otherwise a table. */
    const char *record; /* File or store to add to; NULL: none. Borrowed. */
    bool stale;         /* The run may use stale parameters (ssp or async). */

    struct hm_store *store; /* Used instead of a file; NULL: no store. */
    struct hm_text lines;   /* The trace so far, kept for the store. */
    int file;               /* Descriptor of the record; -1: none. */
    bool csv;               /* The record is CSV; else JSON lines. */
    bool no_staleness;   /* The record was begun by an earlier version, without column staleness. */
    char staleness[32];  /* Last field of every row of a CSV, with its comma. */
    struct hm_text head; /* First fields of every row of a CSV: values of the run's head line. */
    struct cli_progress progress;
    double iteration;    /* Last iteration that was reported. */
    double limit;        /* Largest possible number of iterations; 0: not known. */
    struct hm_text held; /* Last row of the table when it was not printed. */
    const char *measure; /* Measure of convergence: suboptimality, gap or change. */
    bool simulated;
    bool finished; /* The summary line has arrived. */
    bool failed;   /* Writing failed; the run is being ended. */
};

int train_output_begin(struct train_output *output);
/* Callback for launch_child.line; `output` is a struct train_output. */
void train_output_line(void *output, const char *line, double seconds);
/* Report that the run was restarted for the number-th time after the failure of a rank (-1: which
 * one is not known). */
void train_output_restart(struct train_output *output, double number, int rank);
/* Add the trace to the store, if there is one; 0, or EXIT_USAGE with a message. */
int train_output_store(struct train_output *output);
void train_output_end(struct train_output *output);

#endif
