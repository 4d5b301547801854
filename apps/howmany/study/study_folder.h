/*
 * Reads and writes the folder of a study. The folder contains the traces of the runs; existing
 * traces are read, and missing runs are executed.
 */
#ifndef HM_STUDY_FOLDER_H
#define HM_STUDY_FOLDER_H

#include "cli.h"
#include "study_commands.h"

/*
 * Folder of a study. Set `path` and `commands`, call study_folder_open, and call study_folder_close
 * on every path.
 */
struct study_folder {
    const char *path;                /* Path of the folder; borrowed. */
    struct study_commands *commands; /* Command lines of the runs; borrowed. */

    struct study_table table;
    /* Result of the run that finds P*, the lowest possible objective. */
    struct study_entry reference;
    double best; /* P*, the lowest possible objective; NaN if not known. */
    /* Largest amount by which the true P* may exceed `best`; 0 if not known. */
    double best_error;
    size_t made; /* Number of runs that this process has executed. */
    struct cli_progress progress;
    int lock; /* Keeps other commands out of the folder; 0 if there is no lock. */
};

/*
 * Reads the traces in the folder; if `make` is true, a missing folder is created. Returns 0, or
 * EXIT_USAGE with a message.
 */
int study_folder_open(struct study_folder *folder, bool make);
void study_folder_close(struct study_folder *folder);

/*
 * Executes the reference run unless P*, the lowest possible objective, is known. Returns 0 or an
 * exit code.
 */
int study_folder_reference(struct study_folder *folder);
/*
 * Executes one of the study's runs, unless its trace exists; a run that fails is marked as failed.
 * Returns 0 or an exit code.
 */
int study_folder_make(struct study_folder *folder, const struct study_run *run);
/* Loads the traces of all runs that have one. Returns 0, or EXIT_USAGE with a message. */
int study_folder_load(const struct study_folder *folder, struct hm_traces **ret_traces);
/*
 * Executes a run that checks the answer and is not one of the study's runs, unless its trace
 * exists, and loads the trace; *ret_traces is NULL if the run failed.
 */
int study_folder_check(struct study_folder *folder, const struct study_run *run,
                       struct hm_traces **ret_traces);

#endif
