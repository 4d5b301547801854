/* What commands that learn from traces ask for in the same words: files, a measure, P*. */
#ifndef HM_ASKED_TRACES_H
#define HM_ASKED_TRACES_H

#include "asked_job.h"
#include "asked_runs.h"
#include "howmany_advise.h"

/* Zero-initialise. */
struct cli_traces {
    const char *files[CLI_LIST_MAX];
    size_t file_count;
    const char *where[CLI_LIST_MAX]; /* of a store: only runs that have this */
    size_t where_count;
    const char *algorithms[CLI_LIST_MAX]; /* only these; none: all */
    size_t algorithm_count;
    char *names[CLI_LIST_MAX]; /* owned */
    struct cli_terms terms;
    struct hm_traces_settings settings;
    struct hm_converge_settings converge;

    struct hm_traces *traces;           /* after cli_traces_load */
    struct hm_convergence *convergence; /* after cli_convergence_load */
};

/* Each returns 0, or EXIT_USAGE with a message. */
int cli_traces_file(struct cli_traces *traces, const char *command, const char *file);
int cli_traces_algorithms(struct cli_traces *traces, const char *list);
int cli_traces_best(struct cli_traces *traces, const char *value);
/* Read the traces, and keep those of the algorithms that are asked for. */
int cli_traces_load(struct cli_traces *traces, const char *command);
/* A fit that was stored, where the one file is one (.json); else that of the traces. */
int cli_convergence_load(struct cli_traces *traces, const char *command);
void cli_traces_release(struct cli_traces *traces);

#endif
