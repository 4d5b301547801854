/*
 * Computes the time in seconds of one iteration of each run, from the value that the table gives:
 * seconds, a total, a rate (samples, tokens or iterations per second), or the time per sample,
 * token or epoch.
 */
#ifndef HM_RUN_SECONDS_H
#define HM_RUN_SECONDS_H

#include "howmany_fit.h"

/*
 * Number of columns that hm__run_seconds may add to the table; the caller must reserve room for
 * them.
 */
enum { HM_RUN_ADDED = 3 };

/*
 * Adds the columns `seconds`, `n` if only the nodes are given, and `batch` if only batch_per_worker
 * is given, to a table that has been read, and sets its unit, its scaling and the number of failed
 * runs. The error names the row and the column.
 */
int hm__run_seconds(struct hm_runs *runs, struct hm_err *err);

#endif
