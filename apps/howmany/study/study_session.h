/* One study from start to end: runs are chosen and made, an answer is fitted and checked. */
#ifndef HM_STUDY_SESSION_H
#define HM_STUDY_SESSION_H

#include "study_output.h"

/* Zero-initialise and set spec. */
struct study_session {
    struct hm_study_spec *spec; /* Owned. */
    struct study_commands commands;
    struct study_folder folder;
    struct study_result result;
};

/* Check the options of all runs and read the folder, which is made if `make` is set. */
int study_session_open(struct study_session *session, const char *folder, bool make);
void study_session_release(struct study_session *session);

/* Print the commands of the runs that do not depend on the results of others. */
int study_session_print_commands(const struct study_session *session);
/* Make runs, fit them, and check the answer with two further runs; 0 or an exit code. */
int study_session_run(struct study_session *session);

#endif
