/* Carries out one study from start to finish: chooses and executes runs, fits an answer and checks
 * it. */
#ifndef HM_STUDY_SESSION_H
#define HM_STUDY_SESSION_H

#include "study_output.h"

/* The state of a study. Zero-initialise the struct and set `spec`. */
struct study_session {
    struct hm_study_spec *spec; /* Description of the study; owned. */
    struct study_commands commands;
    struct study_folder folder;
    struct study_result result;
};

/*
 * Checks the options of all runs and reads the folder; if `make` is true, a missing folder is
 * created.
 */
int study_session_open(struct study_session *session, const char *folder, bool make);
void study_session_release(struct study_session *session);

/* Prints the commands of the runs that do not depend on the results of other runs. */
int study_session_print_commands(const struct study_session *session);
/* Executes runs, fits them, and checks the answer with two more runs. Returns 0 or an exit code. */
int study_session_run(struct study_session *session);

#endif
