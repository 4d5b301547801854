/* The folder of a study: traces of runs, made where they are missing, read where they are there. */
#ifndef HM_STUDY_RUNS_H
#define HM_STUDY_RUNS_H

#include "cli.h"
#include "study_words.h"

/* Set the first ones; open; close on every way out. */
struct study_folder {
    const char *path;          /* borrowed */
    struct study_words *words; /* borrowed */

    struct study_table table;
    struct study_entry reference; /* the run that finds P* */
    double best;                  /* P*; NaN: not known */
    double best_error;            /* it may be so much more; 0 where nobody says */
    size_t made;                  /* runs that were started by us */
    struct cli_progress progress;
};

/* Look what there is. A folder is made if there is none; 0, or EXIT_USAGE with a message. */
int study_folder_open(struct study_folder *folder, bool make);
void study_folder_close(struct study_folder *folder);

/* Find P* unless it is known; 0 or an exit code. */
int study_folder_reference(struct study_folder *folder);
/* Make a run of the table unless it is there; a run that fails is marked. 0 or an exit code. */
int study_folder_make(struct study_folder *folder, const struct study_run *run);
/* The traces of all whole runs; 0, or EXIT_USAGE with a message. */
int study_folder_load(const struct study_folder *folder, struct hm_traces **ret_traces);
/* Make a run outside the table unless it is there; its traces, NULL: it failed. */
int study_folder_check(struct study_folder *folder, const struct study_run *run,
                       struct hm_traces **ret_traces);

#endif
