/* Functions for tests of fits; a fit that fails ends the test with its message. */
#ifndef FIT_TESTING_H
#define FIT_TESTING_H

#include "fit.h"
#include "howmany_fit.h"
#include "runs_testing.h"

static inline struct hm_fit *fit_runs(const struct hm_runs *runs,
                                      const struct hm_fit_settings *settings)
{
    struct hm_err err = {0};
    struct hm_fit *fit = NULL;

    if (hm_fit_new(runs, settings, &fit, &err))
        fail_msg("%s:%d: %s: %s", err.source, err.line, err.field, err.message);
    return fit;
}

static inline size_t split_terms(char *list, const char **terms)
{
    size_t count = 0;

    for (char *at = list; at && *at && count < HM_TERMS_MAX;) {
        char *comma = strchr(at, ',');
        if (comma)
            *comma = '\0';
        terms[count++] = at;
        at = comma ? comma + 1 : NULL;
    }
    return count;
}

#endif
