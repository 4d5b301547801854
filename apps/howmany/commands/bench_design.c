/*
 * howmany bench --design: after a few cheap runs, each next one is the run that tells most about
 * the prediction at the target for the machine time it takes, until the prediction is sure enough.
 */
#include <math.h>
#include <stdio.h>

#include "bench.h"
#include "format.h"

enum { SEEDS = 5, CONFIGURATIONS_MIN = 5, RUNS_MAX = 1000 };

/* The place with the least or most workers, and among those the least or largest of the rest. */
static size_t corner(const struct bench_state *s, bool large_n, bool large_size)
{
    size_t best = 0;

    for (size_t i = 1; i < s->places->count; i++) {
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

/* Runs that have been made of a place. */
static size_t runs_of(const struct bench_state *s, const struct hm_runs *runs, size_t place)
{
    size_t count = 0;

    for (size_t i = 0; i < runs->count; i++)
        count += bench_is_of(s, runs, i, place);
    return count;
}

/*
 * The corners first, the cheap ones before the large one, and two places in between; what a record
 * already has is not made again.
 */
static int seed_runs(struct bench_state *s)
{
    const size_t seeds[SEEDS] = {corner(s, false, false), corner(s, true, false),
                                 corner(s, true, true), s->places->count / 2, s->places->count / 4};
    struct hm_runs *before = cli_record_runs(&s->record, NULL);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < SEEDS; i++) {
        bool known = before && runs_of(s, before, seeds[i]) > 0;
        for (size_t k = 0; k < i; k++)
            known = known || seeds[k] == seeds[i];
        if (!known)
            rc = bench_configuration(s, seeds[i], (size_t)s->repeat);
    }
    hm_runs_free(before);
    return rc;
}

/* n * (a * (term) + …): machine time as the fit has it, as a formula for the design. */
static void cost_formula(const struct hm_fit *fit, struct hm_text *out)
{
    hm__text_add(out, "n*(1e-9");
    for (size_t k = 0; k < fit->term_count; k++) {
        hm__text_add(out, " + ");
        hm__json_number(out, fit->terms[k].value);
        hm__text_addf(out, "*(%s)", fit->terms[k].text);
    }
    hm__text_add(out, ")");
}

static int choose_next(struct bench_state *s, const struct hm_fit *fit, size_t *ret_place)
{
    const char *terms[CLI_TERMS_MAX];
    struct hm_text cost = {0};
    struct hm_err err = {0};
    struct hm_design *design = NULL;
    struct hm_runs *have = cli_record_runs(&s->record, &err);
    int rc = have ? 0 : cli_report(&err);

    cost_formula(fit, &cost);
    for (size_t k = 0; k < fit->term_count && k < CLI_TERMS_MAX; k++)
        terms[k] = fit->terms[k].text;
    struct hm_design_settings settings = {.terms = terms,
                                          .term_count = fit->term_count,
                                          .have = have,
                                          .cost = cost.data,
                                          .criterion = HM_CRITERION_I,
                                          .target = s->target.at,
                                          .target_count = s->target.count,
                                          .budget = s->spent_s / 4};
    if (rc == 0 && cost.failed)
        rc = cli_complain("out of memory");
    if (rc == 0 && hm_design_new(s->places, &settings, &design, &err))
        rc = cli_report(&err);
    if (rc == 0)
        *ret_place = design->chosen[0].row;
    hm_design_free(design);
    hm_runs_free(have);
    hm__text_release(&cost);
    return rc;
}

/* Half of the interval of the mean at the target, relative; infinite while nothing can be said. */
static double looseness(const struct bench_state *s, const struct hm_fit *fit)
{
    struct hm_at at[CLI_TARGETS_MAX];
    struct hm_prediction p;
    size_t count = cli_target_others(&s->target, at);

    if (!fit->intervals || hm_fit_predict(fit, at, count, &s->target.n, 1, &p, NULL))
        return INFINITY;
    return (p.mean_high - p.mean_low) / 2 / p.time_s;
}

static void say_where(const struct bench_state *s, double loose)
{
    char spent[HM_SHOWN];

    fprintf(stderr, "howmany: sure within %.3g %% at the target, after %zu runs and %s\n",
            100 * loose, s->record.rows, hm__show_time(s->spent_s, spent));
}

/*
 * The design knows the terms that were chosen, not the doubt about them, which only places that
 * were not run can settle: a place that has had its repeats gives way to the one with fewest.
 */
static int vary_place(const struct bench_state *s, size_t *place)
{
    struct hm_err err = {0};
    struct hm_runs *runs = cli_record_runs(&s->record, &err);
    size_t least = (size_t)-1, best = *place;

    if (!runs)
        return cli_report(&err);
    for (size_t i = s->places->count; i-- > 0;) {
        size_t count = runs_of(s, runs, i);
        if (count < least) {
            least = count;
            best = i;
        }
    }
    if (runs_of(s, runs, *place) > least + (size_t)s->repeat)
        *place = best;
    hm_runs_free(runs);
    return 0;
}

/* Places of which a run has been made, failed or not. */
static size_t places_tried(const struct bench_state *s)
{
    struct hm_runs *runs = cli_record_runs(&s->record, NULL);
    size_t tried = 0;

    for (size_t i = 0; runs && i < s->places->count; i++)
        tried += runs_of(s, runs, i) > 0;
    hm_runs_free(runs);
    return tried;
}

/* Whether runs still help: the looseness has fallen by a twentieth within the last so many. */
struct patience {
    double best;
    size_t since;
};

enum { PATIENCE = 15 };

static bool still_helps(struct patience *p, double loose)
{
    if (!(loose > 0.95 * p->best)) {
        p->best = loose;
        p->since = 0;
    }
    return p->since++ < PATIENCE;
}

int bench_by_design(struct bench_state *s)
{
    struct patience patience = {INFINITY, 0};
    int rc = seed_runs(s);

    while (rc == 0) {
        struct hm_err err = {0};
        struct hm_fit *fit = bench_fit(s, &err);
        size_t next = 0;
        if (!fit) /* everything failed, or there is one configuration: what there is is shown */
            return 0;
        double loose = looseness(s, fit);
        /* Fewer configurations than this look like anything, and nothing like themselves. */
        size_t tried = places_tried(s);
        bool enough = tried >= CONFIGURATIONS_MIN || tried >= s->places->count;
        bool done = (enough && loose <= s->tight) || s->record.rows >= RUNS_MAX ||
                    (s->budget_s > 0 && s->spent_s >= s->budget_s);
        if (!done)
            rc = choose_next(s, fit, &next);
        if (!done && rc == 0)
            rc = vary_place(s, &next);
        hm_fit_free(fit);
        say_where(s, loose);
        if (!done && !still_helps(&patience, loose)) {
            fprintf(stderr, "howmany: more of these runs do not help: the target needs other ones, "
                            "nearer to it\n");
            done = true;
        }
        if (done)
            break;
        if (rc == 0)
            rc = bench_configuration(s, next, 1);
    }
    return rc;
}
