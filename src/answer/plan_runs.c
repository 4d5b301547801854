/*
 * Proposes runs to execute before following a plan that is not based on runs: up to three small
 * numbers of workers, chosen by an experimental design (design.h, criterion I) that minimises the
 * variance of the predicted time at the recommended n. Limits: all runs have the same weight, and
 * the noise of runs and the priors are the same as in a fit that corrects a specification sheet.
 */
#include <math.h>

#include "design.h"
#include "err.h"
#include "sheet_error.h"
#include "sheet_spread.h"

enum { RUNS_MOST = 3, SMALL_N = 8, CANDIDATES_MOST = 12 };

/* Half the width of the 90 % interval of a normal distribution, in standard deviations. */
static const double NORMAL_90 = 1.645;

/* Duration of an advised run in seconds: at least two minutes, and at least five iterations. */
static const double PLAN_RUN_LEAST_S = 120, RUN_ITERATIONS = 5;

/* Lists the powers of two up to n that are at most 8, or at most two nodes if that is more. */
static size_t list_candidates(const struct hm_search *s, double n, double *candidates)
{
    double most = fmax(SMALL_N, s->cluster ? 2 * s->cluster->node.accelerators : 1);
    size_t count = 0;

    for (double k = 1; k <= fmin(most, n) && count < CANDIDATES_MOST; k *= 2)
        candidates[count++] = k;
    return count;
}

/* Returns the largest n of the chosen runs. */
static double design_most(const struct hm_design *d)
{
    double most = 1;

    for (size_t i = 0; i < d->made_count; i++)
        most = fmax(most, d->chosen[i].n);
    return most;
}

/*
 * Copies the chosen runs, in ascending order of n, and the width of the interval that remains after
 * these runs.
 */
static void take_design(struct hm_answer *a, const struct hm_search *s, const struct hm_design *d)
{
    const struct hm_point *p = &a->points[a->recommended];
    const double drift = hm__sheet_drift(s->job, s->cluster, design_most(d), p->n);
    double longest = 0;

    a->advised_within = hypot(d->within, NORMAL_90 * drift);
    /* Runs that hardly narrow the interval are not worth executing. */
    if (!(a->advised_within < 0.8 * (p->high_s - p->low_s) / 2 / p->time_s))
        return;
    for (size_t i = 0; i < d->made_count && a->advised_count < RUNS_MOST; i++) {
        size_t at = a->advised_count++;
        for (; at > 0 && a->advised_n[at - 1] > d->chosen[i].n; at--)
            a->advised_n[at] = a->advised_n[at - 1];
        a->advised_n[at] = d->chosen[i].n;
        longest = fmax(longest, d->chosen[i].time_s);
    }
    a->advised_run_s = 60 * ceil(fmax(PLAN_RUN_LEAST_S, RUN_ITERATIONS * longest) / 60);
}

int hm__answer_advise_runs(struct hm_answer *a, const struct hm_search *s, struct hm_err *err)
{
    bool weak = s->job->scaling == HM_SCALING_WEAK;
    double candidates[CANDIDATES_MOST];
    /* An error is ignored: if the job cannot be corrected by runs, no advice is given. */
    struct hm_err ignored = {0};
    struct hm_runs *table = NULL;
    struct hm_design *design = NULL;

    if (s->question->fit || a->recommended == HM_NONE || s->weak != weak || s->job->graph ||
        s->way.platform != HM_PLATFORM_JOB)
        return 0;
    const double n = a->points[a->recommended].n;
    struct hm_axis axis = {"n", candidates, list_candidates(s, n, candidates)};
    const struct hm_at target = {"n", n};
    const struct hm_design_settings settings = {.job = s->job,
                                                .cluster = s->cluster,
                                                .cost = "1",
                                                .criterion = HM_CRITERION_I,
                                                .budget = RUNS_MOST,
                                                .target = &target,
                                                .target_count = 1};
    int rc = hm_runs_cross(&axis, 1, &table, &ignored);
    if (rc == 0)
        rc = hm__design_new(table, &settings, s->table, &design, &ignored);
    if (rc == 0)
        take_design(a, s, design);
    hm_design_free(design);
    hm_runs_free(table);
    return rc == HM_E_NOMEM ? hm__fail_nomem(err) : 0;
}
