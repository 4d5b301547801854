/* Helpers for tests that write tables of runs as text and fit them. */
#ifndef HM_RUNS_TESTING_H
#define HM_RUNS_TESTING_H

#include "howmany_fit.h"
#include "testing.h"

static inline struct hm_runs *parse_runs(const char *text)
{
    struct hm_runs *runs = NULL;
    struct hm_err err = {0};

    if (hm_runs_parse(text, strlen(text), "runs.csv", &runs, &err))
        fail_msg("%s", err.message);
    return runs;
}

static inline struct hm_fit *fit_with(const char *table, const struct hm_fit_settings *settings)
{
    struct hm_runs *runs = parse_runs(table);
    struct hm_fit *fit = NULL;
    struct hm_err err = {0};

    if (hm_fit_new(runs, settings, &fit, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    hm_runs_free(runs);
    return fit;
}

#endif
