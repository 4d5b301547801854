/* Creates designs of runs for callers that already have the times of the job's steps. */
#ifndef HM_DESIGN_H
#define HM_DESIGN_H

#include "howmany_fit.h"

struct hm_step_table;

/*
 * Same as hm_design_new, but `table` holds the times of the job's steps on the cluster of the
 * settings. It is borrowed; if it is NULL, each model computes its own times.
 */
int hm__design_new(const struct hm_runs *candidates, const struct hm_design_settings *settings,
                   struct hm_step_table *table, struct hm_design **ret_design, struct hm_err *err);

#endif
