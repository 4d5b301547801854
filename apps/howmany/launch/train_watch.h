/* What comes out of a training run, line by line: handed on, recorded, and told to a person. */
#ifndef HM_TRAIN_WATCH_H
#define HM_TRAIN_WATCH_H

#include "own_store.h"
#include "cli.h"
#include "text.h"

/* Zero-initialise, set the first ones, then begin. */
struct train_watch {
    bool json;          /* lines as they are; otherwise a table */
    const char *record; /* file to add to, or NULL; borrowed */
    bool stale;         /* workers may be apart */

    struct hm_store *store; /* in place of a file; NULL: none */
    struct hm_text lines;   /* for it: the trace so far */
    int file;               /* of the record, -1: none */
    bool csv;               /* its form */
    bool early;             /* it has no column for staleness: of an earlier version */
    char staleness[32];     /* the last value of every row of a CSV, with its comma */
    struct hm_text head;    /* the values of the head that every row of a CSV repeats */
    struct cli_progress progress;
    double iteration;    /* the last told of */
    double limit;        /* iterations there will be at most; 0: not known */
    struct hm_text held; /* the table's last row, if it was not shown */
    const char *measure; /* of how near it is: suboptimality, gap or change */
    bool simulated;
    bool finished; /* there was a summary */
    bool failed;   /* could not write: not worth going on */
};

int train_watch_begin(struct train_watch *watch);
/* For cli_child. */
void train_watch_line(void *watch, const char *line, double seconds);
/* Tell that a run was started anew, for a reason. */
void train_watch_restart(struct train_watch *watch, double number, int rank);
/* Put what was watched into the store, if there is one; 0, or EXIT_USAGE with a message. */
int train_watch_store(struct train_watch *watch);
void train_watch_end(struct train_watch *watch);

#endif
