/* The folder of a study: traces of runs, read where they exist and made where they are missing. */
#ifndef HM_STUDY_FOLDER_H
#define HM_STUDY_FOLDER_H

#include "cli.h"
#include "study_commands.h"

/* Set the first group, open, and close on every path. */
struct study_folder {
    const char *path;                /* Borrowed. */
    struct study_commands *commands; /* Borrowed. */

    struct study_table table;
    struct study_entry reference; /* The run that finds P*. */
    double best;                  /* P*; NaN: not known. */
    double best_error;            /* P* may be this much larger; 0: no bound is known. */
    size_t made;                  /* Number of runs that this process started. */
    struct cli_progress progress;
};

/* Read the traces in the folder, which is made if `make` is set and it does not exist; 0, or
 * EXIT_USAGE with a message. */
int study_folder_open(struct study_folder *folder, bool make);
void study_folder_close(struct study_folder *folder);

/* Make the reference run unless P* is known; 0 or an exit code. */
int study_folder_reference(struct study_folder *folder);
/* Make a run of the table unless its trace exists; a failed run is marked. 0 or an exit code. */
int study_folder_make(struct study_folder *folder, const struct study_run *run);
/* The traces of all complete runs; 0, or EXIT_USAGE with a message. */
int study_folder_load(const struct study_folder *folder, struct hm_traces **ret_traces);
/* Make a run that is not in the table unless its trace exists; *ret_traces is NULL when it failed.
 */
int study_folder_check(struct study_folder *folder, const struct study_run *run,
                       struct hm_traces **ret_traces);

#endif
