/*
 * Chooses the runs that are worth executing (Venkataraman et al., Ernest, NSDI 2016, section 4).
 *
 * A candidate run with the vector of terms f would add f f' to the information matrix of the
 * coefficients. The design gives each candidate a share from 0 to 1; the shares that minimise the
 * variance within a budget are the solution of a convex programme. Candidates with a large share
 * are then chosen as whole runs. Terms are divided by their mean over the candidates, so that
 * coefficients are comparable regardless of their units. If a job is given, its priors count as
 * existing information, errors are relative to the predicted time, and coefficients are scaled by
 * the width of their priors. Runs that have been measured add to the known information. Limits: the
 * noise is the same for all runs, and whole runs are found by rounding, so they need not be
 * optimal.
 */
#include "design.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "checks.h"
#include "design_work.h"
#include "err.h"
#include "text.h"

struct hm_notes hm__design_notes(struct hm_design *d)
{
    return (struct hm_notes){d->memory, &d->notes, &d->note_count};
}

const double *hm__design_values(const struct hm_runs *runs, const char *name)
{
    const struct hm_column *column = hm_runs_column(runs, name);
    return column ? column->values : NULL;
}

/* ---- terms ----------------------------------------------------------------------------------- */

/*
 * Computes the terms for every row of a table: (*ret_x)[k * count + i] is term k for row i. The
 * caller frees *ret_x with hm__free.
 */
static int eval_terms_table(const struct design_work *w, const struct hm_runs *table,
                            double **ret_x, struct hm_err *err)
{
    const double *columns[HM_QUANTITIES_MAX];

    for (size_t q = 0; q < w->basis.quantity_count; q++)
        if (!(columns[q] = hm__design_values(table, w->basis.quantities[q])))
            return hm__fail(err, HM_E_MISSING, "%s has no column %s, and the candidates have one",
                            table->source ? table->source : "the table", w->basis.quantities[q]);
    double *x = hm__calloc(hm__basis_rows(&w->basis) * table->count, sizeof(*x));
    if (!x)
        return hm__fail_nomem(err);
    int rc = hm__basis_eval(&w->basis, columns, table->count, x, err);
    if (rc)
        hm__free(x);
    else
        *ret_x = x;
    return rc;
}

static int design_set_basis(struct design_work *w, struct hm_err *err)
{
    static const char *const ernest[] = {"1", "size/n", "ln(n)", "n"};
    static const char *const plain[] = {"1", "1/n", "ln(n)", "n"};
    const struct hm_design_settings *s = w->settings;
    struct hm_arena *arena = w->design->memory;
    int rc = hm__basis_quantities(&w->basis, arena, w->candidates, err);

    if (rc)
        return rc;
    if (s->job) {
        struct hm_fit_settings fit = {.job = s->job, .cluster = s->cluster};
        rc = hm__basis_sheet(&w->basis, arena, s->job, s->cluster, w->table, 0.5, err);
        if (rc == 0)
            /*
             * Coefficients are drawn only if there are runs. Without runs, the mean of each factor
             * is 1, so no draws are needed.
             */
            rc = hm__fit_new(s->have, &fit, w->table, s->have != NULL, &w->fit, err);
        if (rc == 0)
            w->noise = w->fit->noise;
        return rc;
    }
    if (s->term_count > 0)
        return hm__basis_compile(&w->basis, arena, s->terms, s->term_count, err);
    bool sizes = hm__basis_find(&w->basis, "size") >= 0;
    return hm__basis_compile(&w->basis, arena, sizes ? ernest : plain, 4, err);
}

/* Returns the time in seconds that the fit of the job predicts for a candidate; NaN without a
 * job. */
static double candidate_seconds(const struct design_work *w, const double *x, size_t count,
                                size_t i)
{
    return w->fit ? hm__fit_seconds(w->fit, x, count, i, HM_NONE) : NAN;
}

/* ---- costs ----------------------------------------------------------------------------------- */

/*
 * Evaluates a formula for each candidate, over the columns of the candidates and, if a job is
 * given, the predicted time.
 */
static int eval_candidate_formula(const struct design_work *w, const char *text, const char *field,
                                  const double *seconds, double *values, struct hm_err *err)
{
    struct hm_symbol symbols[HM_QUANTITIES_MAX + 1] = {0};
    const double *columns[HM_QUANTITIES_MAX + 1];
    size_t count = w->basis.quantity_count;
    struct hm_scope scope = {.source = field, .symbols = symbols, .columns = true};
    struct hm_formula *formula;

    for (size_t q = 0; q < count; q++) {
        symbols[q].name = w->basis.quantities[q];
        columns[q] = hm__design_values(w->candidates, symbols[q].name);
    }
    if (w->fit) {
        symbols[count].name = "seconds";
        columns[count++] = seconds;
    }
    scope.symbol_count = count;
    int rc = hm__formula_new(text, &scope, HM_DIM_NONE, &formula, err);
    if (rc)
        return rc;
    rc = hm__formula_eval_columns(formula, columns, w->candidates->count, values, err);
    hm__formula_free(formula);
    return rc;
}

double hm__design_node_seconds(const struct design_work *w, double n, double seconds)
{
    const struct hm_job *job = w->settings->job;
    const struct hm_cluster *c = w->settings->cluster ? w->settings->cluster
                                 : job->has_cluster   ? &job->cluster
                                                      : NULL;

    return seconds * ceil(n / (c ? c->node.accelerators : 1));
}

static void default_costs(struct design_work *w, const double *seconds, double *costs)
{
    const double *n = hm__design_values(w->candidates, "n"),
                 *size = hm__design_values(w->candidates, "size");

    for (size_t i = 0; i < w->candidates->count; i++)
        costs[i] = w->fit ? hm__design_node_seconds(w, n[i], seconds[i])
                   : size ? size[i] / w->size_min / n[i]
                          : 1;
}

static int design_set_costs(struct design_work *w, const double *seconds, double *costs,
                            struct hm_err *err)
{
    const struct hm_design_settings *s = w->settings;
    char text[HM_DIGITS];
    int rc = 0;

    if (s->cost)
        rc = eval_candidate_formula(w, s->cost, "cost", seconds, costs, err);
    else
        default_costs(w, seconds, costs);
    for (size_t i = 0; rc == 0 && i < w->candidates->count; i++)
        if (!(costs[i] >= 0) || isinf(costs[i]))
            rc = hm__fail(err, HM_E_RANGE, "the cost is %s at n = %g; it must be 0 or more",
                          hm__number_words(costs[i], text),
                          hm__design_values(w->candidates, "n")[i]);
    return rc;
}

/* ---- candidates ------------------------------------------------------------------------------ */

static int design_allocate(struct design_work *w, struct hm_err *err)
{
    struct hm_arena *arena = w->design->memory;
    size_t count = w->candidates->count;

    w->rows = hm__arena_alloc(arena, count, sizeof(*w->rows));
    w->features = hm__arena_alloc(arena, count * w->basis.count, sizeof(*w->features));
    w->cost = hm__arena_alloc(arena, count, sizeof(*w->cost));
    w->seconds = hm__arena_alloc(arena, count, sizeof(*w->seconds));
    w->shares = hm__arena_alloc(arena, count, sizeof(*w->shares));
    bool ok = w->rows && w->features && w->cost && w->seconds && w->shares;
    return ok ? 0 : hm__fail_nomem(err);
}

/* Stores the candidates that the settings allow, with their costs, times and terms. */
static int keep_candidates(struct design_work *w, const double *x, struct hm_err *err)
{
    const size_t all = w->candidates->count, terms = w->basis.count;
    double *space = hm__calloc(3 * all, sizeof(*space));
    if (!space)
        return hm__fail_nomem(err);
    double *seconds = space, *costs = space + all, *only = space + 2 * all;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < all; i++) {
        seconds[i] = candidate_seconds(w, x, all, i);
        only[i] = 1;
    }
    if (rc == 0)
        rc = design_set_costs(w, seconds, costs, err);
    if (rc == 0 && w->settings->only)
        rc = eval_candidate_formula(w, w->settings->only, "only", seconds, only, err);
    for (size_t i = 0; rc == 0 && i < all; i++) {
        if (only[i] == 0 || isnan(only[i]))
            continue;
        w->rows[w->count] = i;
        w->cost[w->count] = costs[i];
        w->seconds[w->count] = seconds[i];
        for (size_t k = 0; k < terms; k++)
            w->features[w->count * terms + k] =
                x[k * all + i] / (w->fit ? w->noise * seconds[i] : 1);
        w->count++;
    }
    hm__free(space);
    if (rc == 0 && w->count == 0)
        rc = hm__fail(err, HM_E_MISSING, "no candidate is left");
    return rc;
}

/*
 * Makes coefficients comparable: divides each term by its mean or, if a job is given, multiplies it
 * by the width of the prior.
 */
static void scale_features(struct design_work *w)
{
    const size_t terms = w->basis.count;

    for (size_t k = 0; k < terms; k++) {
        double sum = 0;
        for (size_t j = 0; j < w->count; j++)
            sum += w->features[j * terms + k];
        w->scale[k] = w->fit ? w->basis.priors[k].width : (double)w->count / fmax(sum, 1e-300);
        for (size_t j = 0; j < w->count; j++)
            w->features[j * terms + k] *= w->scale[k];
    }
}

/* ---- known information ----------------------------------------------------------------------- */

static void add_known(struct design_work *w, const double *f)
{
    for (size_t a = 0; a < w->basis.count; a++)
        for (size_t b = 0; b < w->basis.count; b++)
            w->programme.known[a][b] += f[a] * f[b];
}

void hm__design_add_run(struct design_work *w, const double *f)
{
    double terms[HM_TERMS_MAX];

    for (size_t k = 0; k < w->basis.count; k++)
        terms[k] = f[k] * w->noise / w->scale[k];
    if (w->fit)
        hm__design_add_row(&w->runs, terms);
}

/*
 * Checks that measured runs match the candidates: candidates without a size are runs of size 1, so
 * all measured runs must have size 1.
 */
static int check_measured(const struct design_work *w, struct hm_err *err)
{
    const double *size = w->settings->have ? hm__design_values(w->settings->have, "size") : NULL;

    for (size_t i = 0; size && i < w->settings->have->count; i++)
        if (!hm__design_values(w->candidates, "size") && size[i] != 1) {
            hm__fail(err, HM_E_CONFLICT, "a run of size %g, but the candidates have no size",
                     size[i]);
            hm__err_hint(err, "give the candidates a size, such as size 1");
            hm__err_at(err, w->settings->have->source, hm__runs_line(w->settings->have, i));
            return HM_E_CONFLICT;
        }
    return 0;
}

static int design_set_known(struct design_work *w, struct hm_err *err)
{
    const struct hm_runs *have = w->settings->have;
    const double *seconds = have ? hm__design_values(have, "seconds") : NULL;
    double *x = NULL;
    int rc = check_measured(w, err);

    if (rc == 0 && have)
        rc = eval_terms_table(w, have, &x, err);

    /* Coefficients are in units of the widths of their priors, so each prior adds 1 to the
     * information about its coefficient. */
    for (size_t k = 0; k < w->basis.count && w->fit; k++)
        w->programme.known[k][k] = 1;
    hm__lsq_init(&w->runs.lsq, w->basis.count);
    for (size_t i = 0; rc == 0 && have && i < have->count; i++) {
        double f[HM_TERMS_MAX];
        if (seconds && isnan(seconds[i]))
            continue;
        for (size_t k = 0; k < w->basis.count; k++)
            f[k] = x[k * have->count + i] * w->scale[k] /
                   (w->fit ? w->noise * candidate_seconds(w, x, have->count, i) : 1);
        add_known(w, f);
        hm__design_add_run(w, f);
    }
    hm__free(x);
    return rc;
}

/* For criterion I, sets the values of the terms at the target, where the variance of the predicted
 * time is minimised. */
static int design_set_target(struct design_work *w, struct hm_err *err)
{
    const struct hm_design_settings *s = w->settings;
    double values[HM_QUANTITIES_MAX], x[HM_TERMS_MAX + HM_OVERLAP_KNOTS + 1];
    const double *columns[HM_QUANTITIES_MAX];

    if (s->criterion != HM_CRITERION_I)
        return 0;
    for (size_t q = 0; q < w->basis.quantity_count; q++) {
        const char *name = w->basis.quantities[q];
        values[q] = strcmp(name, "size") == 0 ? 1 : NAN;
        for (size_t i = 0; i < s->target_count; i++)
            if (strcmp(s->target[i].name, name) == 0)
                values[q] = s->target[i].value;
        if (isnan(values[q])) {
            hm__fail(err, HM_E_MISSING, "criterion I needs a target with %s", name);
            hm__err_hint(err, "give the target of the prediction, such as n=64,size=1");
            return HM_E_MISSING;
        }
        columns[q] = &values[q];
    }
    int rc = hm__basis_eval(&w->basis, columns, 1, x, err);
    for (size_t k = 0; rc == 0 && k < w->basis.count; k++)
        w->programme.target[k] = x[k] * w->scale[k];
    return rc;
}

/* Checks that all candidates together with the known information determine the coefficients. */
static int check_solvable(struct design_work *w, struct hm_err *err)
{
    struct hm_lsq lsq;
    const size_t terms = w->basis.count;
    double row[HM_LSQ_SIDE], theta[HM_TERMS_MAX];
    size_t column = 0;

    for (size_t j = 0; j < w->count; j++)
        w->shares[j] = 1;
    if (isfinite(hm__programme_value(&w->programme, w->shares)))
        return 0;
    hm__lsq_init(&lsq, terms);
    for (size_t j = 0; j < w->count; j++) {
        memcpy(row, w->features + j * terms, terms * sizeof(*row));
        row[terms] = 0;
        hm__lsq_add(&lsq, row);
    }
    bool apart = hm__lsq_solve(&lsq, theta, &column);
    hm__fail(err, HM_E_RANGE, "%zu candidates cannot distinguish the term %s from the others",
             w->count, w->basis.texts[apart ? 0 : column]);
    hm__err_hint(err, "add values of n or size, or leave the term out of terms");
    return HM_E_RANGE;
}

/* ---- construction ---------------------------------------------------------------------------- */

static int check_settings(const struct hm_design_settings *s, struct hm_err *err)
{
    if (!(s->budget >= 0))
        return hm__fail(err, HM_E_RANGE, "budget: %g is not a number of 0 or more", s->budget);
    if (!(s->keep >= 0 && s->keep < 1))
        return hm__fail(err, HM_E_RANGE, "keep: %g is not a share from 0 to below 1", s->keep);
    if (s->job && s->term_count > 0)
        return hm__fail(err, HM_E_CONFLICT,
                        "terms and job are both given, but a job has its own terms");
    return 0;
}

static int design_prepare(struct design_work *w, struct hm_err *err)
{
    const double *size = hm__design_values(w->candidates, "size");
    double *x = NULL;

    w->size_min = size ? INFINITY : NAN;
    for (size_t i = 0; size && i < w->candidates->count; i++)
        w->size_min = fmin(w->size_min, size[i]);
    int rc = design_set_basis(w, err);
    if (rc == 0)
        rc = design_allocate(w, err);
    if (rc == 0)
        rc = eval_terms_table(w, w->candidates, &x, err);
    if (rc == 0)
        rc = keep_candidates(w, x, err);
    hm__free(x);
    if (rc)
        return rc;
    scale_features(w);
    w->design->candidates = w->count;
    w->programme.criterion = w->settings->criterion;
    w->programme.terms = w->basis.count;
    w->programme.count = w->count;
    w->programme.features = w->features;
    w->programme.cost = w->cost;
    w->programme.budget = w->settings->budget > 0 ? w->settings->budget : INFINITY;
    rc = design_set_known(w, err);
    if (rc == 0)
        rc = design_set_target(w, err);
    return rc ? rc : check_solvable(w, err);
}

int hm_design_new(const struct hm_runs *candidates, const struct hm_design_settings *settings,
                  struct hm_design **ret_design, struct hm_err *err)
{
    return hm__design_new(candidates, settings, NULL, ret_design, err);
}

int hm__design_new(const struct hm_runs *candidates, const struct hm_design_settings *settings,
                   struct hm_step_table *table, struct hm_design **ret_design, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "settings", settings, "ret_design", ret_design, NULL);
    if (bad == 0)
        bad = hm_runs_check(candidates, err);
    if (bad == 0)
        bad = (settings->have ? hm_runs_check(settings->have, err) : 0);
    if (bad == 0)
        bad = (settings->job ? hm_job_check(settings->job, err) : 0);
    if (bad == 0)
        bad = (settings->cluster ? hm_cluster_check(settings->cluster, err) : 0);
    if (bad == 0)
        bad = hm__check_enum("criterion", (int)settings->criterion, HM_CRITERION_I + 1, err);
    if (bad == 0)
        bad = hm__check_array(settings->terms, settings->term_count, "terms", err);
    if (bad == 0)
        bad = hm__check_array(settings->target, settings->target_count, "target", err);
    if (bad)
        return bad;
    struct design_work w = {.candidates = candidates, .settings = settings, .table = table};
    int rc = check_settings(settings, err);

    if (rc)
        return rc;
    struct hm_arena *arena = hm__arena_new();
    if (arena && (w.design = hm__arena_alloc(arena, 1, sizeof(*w.design)))) {
        w.design->memory = arena;
    }
    if (!w.design) {
        hm__arena_free(arena);
        return hm__fail_nomem(err);
    }
    rc = design_prepare(&w, err);
    if (rc == 0)
        rc = hm__programme_solve(&w.programme, w.shares, &w.design->objective, &w.design->gap, err);
    if (rc == 0)
        rc = hm__design_choose_runs(&w, err);
    hm_fit_free(w.fit);
    if (rc)
        hm__arena_free(arena);
    else
        *ret_design = w.design;
    return rc;
}

void hm_design_free(struct hm_design *design)
{
    if (design)
        hm__arena_free(design->memory);
}
