/* Reads tables of runs and traces from a value tree: a list of objects, or one object. */
#ifndef HM_ROW_VALUES_H
#define HM_ROW_VALUES_H

#include "howmany_advise.h"
#include "value.h"

/*
 * Reads runs or traces from a tree, as hm_runs_parse and hm_traces_parse read them from a string.
 * The tree may be freed afterwards.
 */
int hm__runs_read(const struct hm_value *rows, const char *source, struct hm_runs **ret_runs,
                  struct hm_err *err);
int hm__traces_read(const struct hm_value *rows, const char *source,
                    const struct hm_traces_settings *settings, struct hm_traces **ret_traces,
                    struct hm_err *err);

#endif
