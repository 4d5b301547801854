/*
 * Adds tables of runs and traces to a store. The key of each row is computed from its values, so
 * that a table that is added twice is stored only once.
 */
#ifndef HM_TABLE_ADD_H
#define HM_TABLE_ADD_H

#include "table_send.h"

/*
 * Adds all runs of a table, or all traces. The key of each run is `key` followed by the number of
 * the run; if `key` is NULL, it is computed from the values of the run. Properties that traces do
 * not have are copied from the run `like`, unless it is NULL. The results are added to the results
 * that *added already contains.
 */
int hm__table_add_runs(const struct hm_run_sink *sink, const struct hm_runs *runs, const char *key,
                       struct hm_added *added, struct hm_err *err);
int hm__table_add_traces(const struct hm_run_sink *sink, const struct hm_traces *traces,
                         const char *key, const struct hm_stored *like, struct hm_added *added,
                         struct hm_err *err);

#endif
