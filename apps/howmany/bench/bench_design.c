/*
 * Implements howmany bench --design: after a few cheap runs, the next run is always the one that
 * reduces the uncertainty of the prediction at the target most per machine-second. The benchmark
 * ends when the prediction is precise enough.
 */
#include <math.h>
#include <stdio.h>

#include "bench_session.h"
#include "format.h"
#include "listing.h"

enum { INITIAL_RUNS = 5, CONFIGURATIONS_MIN = 5, RUNS_MAX = 1000 };

/* Returns the configuration with the smallest or largest n. If several configurations have this n,
 * returns the one with the smallest or largest values of the other quantities. */
static size_t corner_configuration(const struct bench_session *s, bool large_n, bool large_size)
{
    size_t best = 0;

    for (size_t i = 1; i < s->configurations->count; i++) {
        double better = 0;
        for (size_t k = 0; k < s->axes.count; k++) {
            bool large = k == 0 ? large_n : large_size;
            double now = bench_value(s, best, k), other = bench_value(s, i, k);
            if (now != other && better == 0)
                better = large ? other - now : now - other;
        }
        if (better > 0)
            best = i;
    }
    return best;
}

/* Returns the number of runs of a configuration in `runs`. */
static size_t count_runs(const struct bench_session *s, const struct hm_runs *runs,
                         size_t configuration)
{
    size_t count = 0;

    for (size_t i = 0; i < runs->count; i++)
        count += bench_row_matches(s, runs, i, configuration);
    return count;
}

/*
 * Executes the initial runs: three corners of the grid of configurations, from cheap to expensive,
 * then two configurations in between. Configurations that already have a recorded run are skipped.
 */
static int make_initial_runs(struct bench_session *s)
{
    const size_t initial[INITIAL_RUNS] = {
        corner_configuration(s, false, false), corner_configuration(s, true, false),
        corner_configuration(s, true, true), s->configurations->count / 2,
        s->configurations->count / 4};
    struct hm_runs *before = launch_record_runs(&s->record, NULL);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < INITIAL_RUNS; i++) {
        bool known = before && count_runs(s, before, initial[i]) > 0;
        for (size_t k = 0; k < i; k++)
            known = known || initial[k] == initial[i];
        if (!known)
            rc = bench_run_configuration(s, initial[i], (size_t)s->repeat);
    }
    hm_runs_free(before);
    return rc;
}

/*
 * Writes the predicted machine time as a formula for the experimental design: n * (a * (term) + …).
 */
static void add_cost_formula(const struct hm_fit *fit, struct hm_text *out)
{
    hm__text_add(out, "n*(1e-9");
    for (size_t k = 0; k < fit->term_count; k++) {
        hm__text_add(out, " + ");
        hm__json_number(out, fit->terms[k].value);
        hm__text_addf(out, "*(%s)", fit->terms[k].text);
    }
    hm__text_add(out, ")");
}

enum { BENCH_TERMS_MAX = 32 };

static int choose_next(struct bench_session *s, const struct hm_fit *fit, size_t *ret_configuration)
{
    const char *terms[BENCH_TERMS_MAX];
    struct hm_text cost = {0};
    struct hm_err err = {0};
    struct hm_design *design = NULL;
    struct hm_runs *have = launch_record_runs(&s->record, &err);
    int rc = have ? 0 : cli_report(&err);

    add_cost_formula(fit, &cost);
    for (size_t k = 0; k < fit->term_count && k < BENCH_TERMS_MAX; k++)
        terms[k] = fit->terms[k].text;
    struct hm_design_settings settings = {.terms = terms,
                                          .term_count = fit->term_count,
                                          .have = have,
                                          .cost = cost.data,
                                          .criterion = HM_CRITERION_I,
                                          .target = s->target.place.at,
                                          .target_count = s->target.place.count,
                                          .budget = s->spent_s / 4};
    if (rc == 0 && cost.failed)
        rc = cli_complain("out of memory");
    if (rc == 0 && hm_design_new(s->configurations, &settings, &design, &err))
        rc = cli_report(&err);
    if (rc == 0)
        *ret_configuration = design->chosen[0].row;
    hm_design_free(design);
    hm_runs_free(have);
    hm__text_release(&cost);
    return rc;
}

/* Returns half the width of the confidence interval at the target, relative to the prediction;
 * INFINITY while the fit has no intervals. */
static double target_uncertainty(const struct bench_session *s, const struct hm_fit *fit)
{
    struct hm_at at[HM_PLACE_MAX];
    struct hm_prediction p;
    size_t count = hm__place_others(&s->target.place, at);

    if (!fit->intervals || hm_fit_predict(fit, at, count, &s->target.place.n, 1, &p, NULL))
        return INFINITY;
    return (p.mean_high - p.mean_low) / 2 / p.time_s;
}

static void report_progress(const struct bench_session *s, double uncertainty)
{
    char spent[HM_SHOWN];

    if (s->budget_s > 0)
        cli_listing_put(s->progress.listing, s->spent_s, s->budget_s, true);
    fprintf(stderr, "howmany: within %.3g %% at the target, after %zu runs and %s\n",
            100 * uncertainty, s->record.rows, hm__show_time(s->spent_s, spent));
}

/*
 * The design assumes that the chosen terms are correct, and only configurations with few runs can
 * show that they are not. Therefore, if the chosen configuration has many more runs than another
 * one, the configuration with the fewest runs is chosen instead.
 */
static int prefer_untried(const struct bench_session *s, size_t *configuration)
{
    struct hm_err err = {0};
    struct hm_runs *runs = launch_record_runs(&s->record, &err);
    size_t least = (size_t)-1, best = *configuration;

    if (!runs)
        return cli_report(&err);
    for (size_t i = s->configurations->count; i-- > 0;) {
        size_t count = count_runs(s, runs, i);
        if (count < least) {
            least = count;
            best = i;
        }
    }
    if (count_runs(s, runs, *configuration) > least + (size_t)s->repeat)
        *configuration = best;
    hm_runs_free(runs);
    return 0;
}

/* Returns the number of configurations with at least one run, failed or not. */
static size_t count_tried(const struct bench_session *s)
{
    struct hm_runs *runs = launch_record_runs(&s->record, NULL);
    size_t tried = 0;

    for (size_t i = 0; runs && i < s->configurations->count; i++)
        tried += count_runs(s, runs, i) > 0;
    hm_runs_free(runs);
    return tried;
}

/*
 * The smallest uncertainty so far, and the number of runs since it last decreased by at least 5 %.
 */
struct progress {
    double best;
    size_t since;
};

enum { PROGRESS_RUNS = 15 }; /* Number of runs without progress after which the design stops. */

static bool still_improves(struct progress *p, double uncertainty)
{
    if (!(uncertainty > 0.95 * p->best)) {
        p->best = uncertainty;
        p->since = 0;
    }
    return p->since++ < PROGRESS_RUNS;
}

int bench_run_design(struct bench_session *s)
{
    struct progress progress = {INFINITY, 0};
    int rc = make_initial_runs(s);

    while (rc == 0) {
        struct hm_err err = {0};
        struct hm_fit *fit = bench_fit(s, &err);
        size_t next = 0;
        if (!fit) /* The fit fails if all runs failed or there is only one configuration. */
            return 0;
        double uncertainty = target_uncertainty(s, fit);
        /* With fewer than CONFIGURATIONS_MIN configurations, several models fit equally well, so
         * the uncertainty is not used yet. */
        size_t tried = count_tried(s);
        bool enough = tried >= CONFIGURATIONS_MIN || tried >= s->configurations->count;
        bool done = (enough && uncertainty <= s->tight) || s->record.rows >= RUNS_MAX ||
                    (s->budget_s > 0 && s->spent_s >= s->budget_s);
        if (!done)
            rc = choose_next(s, fit, &next);
        if (!done && rc == 0)
            rc = prefer_untried(s, &next);
        hm_fit_free(fit);
        report_progress(s, uncertainty);
        if (!done && !still_improves(&progress, uncertainty)) {
            fprintf(stderr, "howmany: more of these runs do not help; add configurations nearer to "
                            "the target\n");
            done = true;
        }
        if (done)
            break;
        if (rc == 0)
            rc = bench_run_configuration(s, next, 1);
    }
    return rc;
}
