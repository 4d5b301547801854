/*
 * Helpers for tests of recommendations: questions about the table of measured runs of Anwar et al.
 */
#ifndef HM_RECOMMEND_TESTING_H
#define HM_RECOMMEND_TESTING_H

#include "howmany_fit.h"
#include "testing.h"

static inline struct hm_recommendation *recommend(const struct hm_runs *runs,
                                                  const struct hm_recommend_question *q)
{
    struct hm_recommendation *r = NULL;
    struct hm_err err = {0};

    if (hm_recommend(runs, q, &r, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    return r;
}

static inline struct hm_runs *anwar(void)
{
    struct hm_runs *runs = NULL;
    struct hm_err err = {0};
    char path[1024];

    snprintf(path, sizeof(path), "%s/examples/anwar.csv", getenv("HM_SOURCE"));
    if (hm_runs_load(path, &runs, &err))
        fail_msg("%s", err.message);
    return runs;
}

static inline struct hm_recommendation *ask_at(const struct hm_runs *runs, double batch,
                                               double latency, const double *n)
{
    struct hm_at at[] = {{"batch", batch}, {"latency", latency}};
    struct hm_recommend_question q = {.at = at, .at_count = 2, .n = n, .n_count = n ? 1 : 0};

    return recommend(runs, &q);
}

/* Asks for the best number of workers between `from` and 4. */
static inline struct hm_recommendation *ask_among(const struct hm_runs *runs, double batch,
                                                  double latency, double from)
{
    const double n[] = {1, 2, 3, 4};
    struct hm_at at[] = {{"batch", batch}, {"latency", latency}};
    struct hm_recommend_question q = {
        .at = at, .at_count = 2, .n = n + (size_t)from - 1, .n_count = 5 - (size_t)from};

    return recommend(runs, &q);
}

#endif
