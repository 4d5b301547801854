/* Executes the runs of a comparison. */
#ifndef HM_COMPARE_RUNS_H
#define HM_COMPARE_RUNS_H

#include "compare_result.h"

/*
 * Executes all runs of result->request and reads their traces; if `dry_run` is true, only sets
 * their commands. Returns 0, or an exit code with a message. Release the result in both cases.
 */
int compare_make_runs(struct compare_result *result, bool dry_run);

#endif
