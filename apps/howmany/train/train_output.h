/* Handles the output of a training run line by line: prints or tabulates it, and records it. */
#ifndef HM_TRAIN_OUTPUT_H
#define HM_TRAIN_OUTPUT_H

#include "cli.h"
#include "own_store.h"
#include "text.h"

/*
 * Output of a training run. The caller zero-initialises the struct, sets the members of the first
 * group, and calls train_output_begin; the other members are private.
 */
struct train_output {
    bool json; /* True to print the lines as JSON; otherwise a table is printed. */
    const char
        *record;  /* File or store to which the run is recorded; NULL if there is none. Borrowed. */
    bool stale;   /* True if the run may use stale parameters (ssp or async). */
    bool backups; /* True if the run has backup workers. */

    struct hm_store *store; /* Store that is used instead of a file; NULL if there is no store. */
    struct hm_text lines;   /* The trace so far, which is added to the store at the end. */
    int file;               /* Descriptor of the file that records the run; -1 if there is none. */
    bool csv;               /* True if the file is CSV; false if it contains JSON lines. */
    /*
     * Number of the columns staleness, backups and rows that the file has, in this order. A file
     * created by an earlier version of this program may have none of them, or only the first.
     */
    int tail;
    char ends[96];       /* Last fields of every CSV row, each with a comma before it. */
    struct hm_text head; /* First fields of every CSV row: values from the run's header line. */
    struct cli_progress progress;
    double iteration;    /* Number of the last iteration that was reported. */
    double limit;        /* Largest possible number of iterations; 0 if not known. */
    struct hm_text held; /* Last row of the table that has not been printed yet; it is printed when
                            the run ends. */
    const char *measure; /* Name of the measure of convergence: suboptimality, gap or change. */
    bool simulated;
    bool finished; /* True if the summary line of the trace has arrived. */
    bool failed;   /* True if writing failed and the run is being ended. */
    bool cut; /* True if an interruption ended a write to a full pipe; nothing more is written. */
};

int train_output_begin(struct train_output *output);
/*
 * Handles one line of output; this is the callback for launch_child.line, and `output` is a struct
 * train_output.
 */
void train_output_line(void *output, const char *line, double seconds);
/*
 * Reports that the run was restarted after the failure of a rank. `number` counts the restarts;
 * `rank` is -1 if the failed rank is not known.
 */
void train_output_restart(struct train_output *output, double number, int rank);
/* Adds the trace to the store, if there is one. Returns 0, or EXIT_USAGE with a message. */
int train_output_store(struct train_output *output);
void train_output_end(struct train_output *output);

#endif
