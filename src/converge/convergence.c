/*
 * Fits the loss curve g(i, m), the loss after i iterations on m workers, for every algorithm in the
 * traces. The steps are: find the optimal loss P*; for each algorithm, fit the terms chosen by the
 * Lasso and the forms known from theory, and keep the form that best predicts held-out numbers of
 * workers; compute the spread of runs around g; add notes about the traces. Method: Pan,
 * Venkataraman, Tai, Gonzalez, Hemingway: modeling distributed optimization algorithms, 2017.
 * Limits: all traces must belong to one problem with one P*, and predictions for m outside the
 * measured range are extrapolations.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "budget.h"
#include "checks.h"
#include "converge.h"
#include "err.h"
#include "notes.h"
#include "size.h"
#include "student.h"

static const double LEVEL = 0.9;

/* ---- notes ----------------------------------------------------------------------------------- */

static struct hm_notes convergence_notes(struct hm_convergence *c)
{
    return (struct hm_notes){c->memory, &c->notes, &c->note_count};
}

/*
 * Returns the mean of ln(P - P*) over the last quarter of a trace, where P is the loss and P* is
 * the optimal loss.
 */
static double trace_end_level(const struct hm_trace *t, double best)
{
    double sum = 0;
    size_t from = t->count - (t->count + 3) / 4;

    for (size_t p = from; p < t->count; p++)
        sum += hm__g_log(t->loss[p], best);
    return sum / (double)(t->count - from);
}

static int note_traces(struct hm_convergence *c, const struct hm_traces *traces, struct hm_err *err)
{
    int rc = 0;

    for (size_t k = 0; rc == 0 && k < traces->note_count; k++)
        rc = hm__notes_add(convergence_notes(c), err, "%s", traces->notes[k]);
    for (size_t k = 0; rc == 0 && k < traces->count; k++) {
        const struct hm_trace *t = &traces->traces[k];
        if (t->count > 1 && trace_end_level(t, c->best) >= hm__g_log(t->loss[0], c->best))
            rc = hm__notes_add(convergence_notes(c), err,
                               "%s on %g worker%s does not improve: %s %.6g at %s %g, %.6g at %g",
                               hm__g_name(t->algorithm), t->m, t->m == 1 ? "" : "s",
                               traces->measure, t->loss[0], traces->unit, t->iteration[0],
                               t->loss[t->count - 1], t->iteration[t->count - 1]);
    }
    return rc;
}

static int note_algorithm(struct hm_convergence *c, const struct hm_g *g, struct hm_err *err)
{
    if (g->m_count == 1)
        return hm__notes_add(
            convergence_notes(c), err,
            "%s was run on %g worker%s only: its dependence on their number is unknown",
            hm__g_name(g->algorithm), g->m[0], g->m[0] == 1 ? "" : "s");
    if (g->m_count == 2)
        return hm__notes_add(
            convergence_notes(c), err,
            "%s was run on two numbers of workers only: the uncertainty for other numbers "
            "is unknown",
            hm__g_name(g->algorithm));
    return 0;
}

static int note_size(struct hm_convergence *c, const struct hm_g *g, struct hm_err *err)
{
    const struct hm_g_size *s = &g->size;

    if (!s->known)
        return hm__notes_add(convergence_notes(c), err,
                             "%s: no number of workers has traces on two numbers of rows, so their "
                             "effect is unknown",
                             hm__g_name(g->algorithm));
    if (c->rows > s->most && isnan(s->held_out))
        return hm__notes_add(convergence_notes(c), err,
                             "%s: the error of predicting %.10g rows is unknown: traces on a third "
                             "number of rows would show it",
                             hm__g_name(g->algorithm), c->rows);
    return 0;
}

/* ---- P* -------------------------------------------------------------------------------------- */

static int check_best(const struct hm_traces *traces, double best, struct hm_err *err)
{
    double slack = 1e-12 * fmax(1, fabs(best));

    for (size_t k = 0; k < traces->count; k++)
        for (size_t p = 0; p < traces->traces[k].count; p++) {
            const struct hm_trace *t = &traces->traces[k];
            if (t->loss[p] >= best - slack)
                continue;
            hm__fail(err, HM_E_CONFLICT,
                     "%s on %g worker%s has %s %.10g at %s %g, below P* = %.10g",
                     hm__g_name(t->algorithm), t->m, t->m == 1 ? "" : "s", traces->measure,
                     t->loss[p], traces->unit, t->iteration[p], best);
            hm__err_at(err, t->source, t->line);
            hm__err_hint(err, "P* is the smallest possible loss; without it, P* is estimated");
            return HM_E_CONFLICT;
        }
    return 0;
}

int hm__g_given_best(const struct hm_traces *traces, double *ret_best, struct hm_err *err)
{
    double best = NAN;

    for (size_t k = 0; k < traces->count; k++) {
        const struct hm_trace *t = &traces->traces[k];
        if (isnan(t->best))
            continue;
        if (isnan(best))
            best = t->best;
        if (fabs(t->best - best) > 1e-6 * fmax(fabs(best), 1e-12)) {
            hm__fail(err, HM_E_CONFLICT, "the traces give two values of P*: %.10g and %.10g", best,
                     t->best);
            hm__err_at(err, t->source, t->line);
            hm__err_hint(err, "all traces must be of one problem; if they are, give P* as best");
            return HM_E_CONFLICT;
        }
    }
    *ret_best = best;
    return 0;
}

static int convergence_find_best(struct hm_convergence *c, const struct hm_traces *traces,
                                 const struct hm_converge_settings *settings, struct hm_err *err)
{
    double best = settings->best;
    int rc = settings->best_given ? 0 : hm__g_given_best(traces, &best, err);

    if (rc)
        return rc;
    if (isnan(best)) {
        c->best_estimated = true;
        return hm__g_best(traces, c->level, settings->seed, &c->best, &c->best_low, &c->best_high,
                          err);
    }
    c->best = best;
    c->best_low = c->best_high = NAN;
    return check_best(traces, best, err);
}

/* ---- one algorithm --------------------------------------------------------------------------- */

/*
 * Computes the root mean square of the residuals of the loss curve g for every number of workers,
 * weighted as in the fit.
 */
static int measure_spread(struct hm_g *g, const struct hm_g_data *data, struct hm_err *err)
{
    /* Sum of weighted squares and sum of weights for the current number of workers. */
    double sums[2] = {0};
    size_t first = 0;

    for (size_t c = 0; c < g->curve_count; c++) {
        const struct hm_g_curve *curve = &g->curves[c];
        double y[HM_G_CURVE];
        struct hm_g_path path;
        int rc = hm__g_path_init(&path, g, curve->m, curve->iteration, curve->count, err);
        if (rc)
            return rc;
        hm__g_path_values(&path, HM_NONE, 0, y);
        hm__g_path_release(&path);
        if (c > 0 && g->curves[c - 1].m != curve->m)
            sums[0] = sums[1] = 0;
        for (size_t p = 0; p < curve->count; p++) {
            double off = data->y[first + p] - y[p];
            sums[0] += data->weight[first + p] * off * off;
            sums[1] += data->weight[first + p];
        }
        first += curve->count;
        g->spread[hm__g_find(g, curve->m)] = sqrt(sums[0] / sums[1]);
    }
    return 0;
}

/*
 * Returns the mean square of the residuals of one curve. A residual is ln(P - P*) minus the loss
 * curve g, minus a straight line that corrects g for this number of workers.
 */
static int curve_mean_square(const struct hm_g *g, const struct hm_g_curve *curve, double best,
                             double *ret_square, struct hm_err *err)
{
    struct hm_g_bend bend;
    struct hm_g_path path;
    double y[HM_G_CURVE], sum = 0;
    int rc = hm__g_bend(g, curve->m, best, &bend, err);

    rc = rc ? rc : hm__g_path_init(&path, g, curve->m, curve->iteration, curve->count, err);
    if (rc)
        return rc;
    hm__g_path_values(&path, HM_NONE, 0, y);
    hm__g_path_release(&path);
    for (size_t p = 0; p < curve->count; p++) {
        double off =
            hm__g_log(curve->loss[p], best) - y[p] - hm__g_bent(&bend, curve->iteration[p]);
        sum += off * off;
    }
    *ret_square = sum / (double)curve->count;
    return 0;
}

/*
 * Computes the root mean square error of predicting the curves of the k-th number of workers with
 * parameters that were fitted without these curves.
 */
static int measure_apart(struct hm_g *g, struct hm_arena *arena, size_t k, const double *theta,
                         double best, struct hm_err *err)
{
    struct hm_g other = *g;
    double squares = 0, count = 0;

    other.parameters = hm__arena_alloc(arena, g->parameter_count, sizeof(*other.parameters));
    other.curves = hm__arena_alloc(arena, g->curve_count + 1, sizeof(*other.curves));
    other.m = hm__arena_alloc(arena, g->m_count, sizeof(*other.m));
    if (!other.parameters || !other.curves || !other.m)
        return hm__fail_nomem(err);
    other.m_count = other.curve_count = 0;
    for (size_t l = 0; l < g->m_count; l++)
        if (l != k)
            other.m[other.m_count++] = g->m[l];
    for (size_t c = 0; c < g->curve_count; c++)
        if (g->curves[c].m != g->m[k])
            other.curves[other.curve_count++] = g->curves[c];
    for (size_t l = 0; l < g->parameter_count; l++) {
        other.parameters[l] = g->parameters[l];
        other.parameters[l].value = theta[l];
    }
    for (size_t c = 0; c < g->curve_count; c++) {
        double square;
        if (g->curves[c].m != g->m[k])
            continue;
        int rc = curve_mean_square(&other, &g->curves[c], best, &square, err);
        if (rc)
            return rc;
        squares += square;
        count++;
    }
    g->apart[k] = sqrt(squares / count);
    return 0;
}

/* Fits all forms of the loss curve g and keeps the one with the smallest cross-validation error. */
static int choose_form(struct hm_g *g, struct hm_arena *arena, const struct hm_g_data *data,
                       const struct hm_converge_settings *settings, double **ret_held,
                       struct hm_err *err)
{
    int rc = hm__g_fit_terms(g, arena, data, settings, ret_held, err);

    if (rc)
        return rc;
    g->alternatives[g->alternative_count++] = (struct hm_g_alternative){HM_G_TERMS, g->error};
    for (int form = HM_G_TERMS + 1; form < HM_G_FORMS && settings->term_count == 0; form++) {
        struct hm_g other = *g;
        double *held;
        rc = hm__g_fit_form(&other, arena, data, (enum hm_g_form)form, &held, err);
        if (rc)
            return rc;
        g->alternatives[g->alternative_count++] =
            (struct hm_g_alternative){(enum hm_g_form)form, other.error};
        if (!(other.error < g->error))
            continue;
        other.alternative_count = g->alternative_count;
        memcpy(other.alternatives, g->alternatives, sizeof(g->alternatives));
        *g = other;
        *ret_held = held;
    }
    return g->form == HM_G_TERMS ? 0 : hm__g_draw_form(g, arena, data, settings->seed, err);
}

/*
 * Computes the spread of runs around the loss curve g for each number of workers: around the fit to
 * all traces and, if possible, around a fit without the traces on that number.
 */
static int measure_g(struct hm_g *g, struct hm_arena *arena, const struct hm_g_data *data,
                     const double *held, double best, struct hm_err *err)
{
    int rc = measure_spread(g, data, err);

    for (size_t k = 0; rc == 0 && k < g->m_count; k++) {
        size_t f = k < HM_G_FOLDS ? k : HM_G_FOLDS - 1;
        g->apart[k] = NAN;
        if (data->by_m && isfinite(held[f * g->parameter_count]))
            rc = measure_apart(g, arena, k, held + f * g->parameter_count, best, err);
    }
    return rc;
}

/*
 * Fits the cost of staleness. If there are no fresh traces, adds a note that the cost is unknown
 * and that the loss curve was fitted to the stale traces.
 */
static int fit_staleness(struct hm_convergence *c, struct hm_g *g, const struct hm_traces *traces,
                         const struct hm_converge_settings *settings, struct hm_err *err)
{
    size_t left_out = 0;
    int rc;

    if (!hm__g_has_fresh(traces, g->algorithm))
        return hm__notes_add(
            convergence_notes(c), err,
            "no trace of %s is fresh: the cost of staleness is unknown, and its traces are "
            "fitted together",
            hm__g_name(g->algorithm));
    rc = hm__g_fit_stale(g, c->memory, traces, c->best, c->level, settings, &left_out, err);
    if (rc == 0 && left_out > 0)
        rc = hm__notes_add(
            convergence_notes(c), err,
            "%zu trace%s of %s with staleness or backups %s not used: diverged, or on a number of "
            "workers without fresh traces",
            left_out, left_out == 1 ? "" : "s", hm__g_name(g->algorithm),
            left_out == 1 ? "is" : "are");
    return rc;
}

static int fit_algorithm(struct hm_convergence *c, const struct hm_traces *traces,
                         const char *algorithm, const struct hm_converge_settings *settings,
                         struct hm_err *err)
{
    struct hm_g *g = &c->algorithms[c->count];
    struct hm_g_data data;
    double *held = NULL;
    int rc =
        hm__g_data_init(&data, c->memory, traces, algorithm, c->best, settings->leave_out, err);

    if (rc || data.count == 0)
        return rc;
    g->algorithm = hm__arena_strdup(c->memory, algorithm);
    g->m = data.ms;
    g->m_count = data.m_count;
    g->curves = data.curves;
    g->curve_count = data.curve_count;
    g->last = data.last;
    g->spread = hm__arena_alloc(c->memory, data.m_count, sizeof(*g->spread));
    g->apart = hm__arena_alloc(c->memory, data.m_count, sizeof(*g->apart));
    if (!g->algorithm || !g->spread || !g->apart)
        return hm__fail_nomem(err);
    c->count++;
    hm__budget_steps(HM_STEP_TRACE, (double)data.curve_count);
    rc = choose_form(g, c->memory, &data, settings, &held, err);
    rc = rc ? rc : measure_g(g, c->memory, &data, held, c->best, err);
    rc = rc ? rc : hm__g_bound(g, c->memory, &data, c->best, c->level, err);
    if (rc)
        return rc;
    if (!data.by_m)
        g->error = NAN;
    rc = note_algorithm(c, g, err);
    return rc ? rc : fit_staleness(c, g, traces, settings, err);
}

/* ---- all algorithms -------------------------------------------------------------------------- */

static bool algorithm_is_new(const struct hm_convergence *c, const char *algorithm)
{
    for (size_t k = 0; k < c->count; k++)
        if (strcmp(c->algorithms[k].algorithm, algorithm) == 0)
            return false;
    return true;
}

static int convergence_fill(struct hm_convergence *c, const struct hm_traces *traces,
                            const struct hm_converge_settings *settings, struct hm_err *err)
{
    int rc = convergence_find_best(c, traces, settings, err);

    rc = rc ? rc : note_traces(c, traces, err);
    for (size_t k = 0; rc == 0 && k < traces->count; k++) {
        rc = hm__budget_check("traces", err);
        if (rc == 0 && algorithm_is_new(c, traces->traces[k].algorithm))
            rc = fit_algorithm(c, traces, traces->traces[k].algorithm, settings, err);
    }
    if (rc == 0 && c->count == 0)
        rc = hm__fail(err, HM_E_MISSING, "no trace has a point above P* = %.10g", c->best);
    return rc ? rc : hm_paces_from_traces(traces, &c->paces, err);
}

/*
 * Converts traces on samples of the data to one number of rows, and fits the loss curves to the
 * converted traces.
 */
static int convergence_fill_sized(struct hm_convergence *c, const struct hm_traces *traces,
                                  const struct hm_converge_settings *settings, struct hm_err *err)
{
    struct hm_converge_settings own = *settings;
    struct hm_sizes sizes;
    int rc = hm__sizes_init(&sizes, c->memory, traces, settings, err);

    if (rc)
        return rc;
    own.best_given = true;
    own.best = sizes.best;
    c->rows = sizes.rows;
    c->best_sampled = !sizes.best_known;
    rc = convergence_fill(c, &sizes.traces, &own, err);
    c->best_estimated = sizes.estimated;
    for (size_t k = 0; rc == 0 && k < c->count; k++) {
        struct hm_g *g = &c->algorithms[k];
        g->size = hm__sizes_find(&sizes, g->algorithm)->fit;
        rc = note_size(c, g, err);
    }
    return rc;
}

static void free_paces(void *paces)
{
    hm_paces_free(paces);
}

static int converge_settings_check(const struct hm_converge_settings *s, struct hm_err *err)
{
    if (!(s->level >= 0 && s->level < 1))
        return hm__fail(err, HM_E_RANGE, "level: %g is not from 0 to below 1", s->level);
    if (s->best_given && isinf(s->best))
        return hm__fail(err, HM_E_RANGE, "best: P* = %g is not finite", s->best);
    if (!(s->rows >= 0 && isfinite(s->rows)))
        return hm__fail(err, HM_E_RANGE, "rows: %g is not a number of rows", s->rows);
    return hm__check_seed(s->seed, err);
}

static int convergence_begin(struct hm_convergence **ret, const struct hm_traces *traces,
                             double level, struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_convergence *c = arena ? hm__arena_alloc(arena, 1, sizeof(*c)) : NULL;

    if (!c) {
        hm__arena_free(arena);
        return hm__fail_nomem(err);
    }
    c->memory = arena;
    c->rows = NAN;
    c->level = level > 0 ? level : LEVEL;
    c->measure = hm__arena_strdup(arena, traces->measure ? traces->measure : "loss");
    c->unit = hm__arena_strdup(arena, traces->unit ? traces->unit : "iteration");
    c->algorithms = hm__arena_alloc(arena, traces->count + 1, sizeof(*c->algorithms));
    *ret = c;
    if (c->measure && c->unit && c->algorithms)
        return 0;
    hm_convergence_free(c);
    return hm__fail_nomem(err);
}

int hm_convergence_new(const struct hm_traces *traces, const struct hm_converge_settings *settings,
                       struct hm_convergence **ret_convergence, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "ret_convergence", ret_convergence, NULL);
    if (bad == 0)
        bad = hm_traces_check(traces, err);
    if (bad == 0)
        bad = hm__check_array(settings ? settings->terms : NULL,
                              settings ? settings->term_count : 0, "terms", err);
    if (bad)
        return bad;
    static const struct hm_converge_settings none = {0};
    const struct hm_converge_settings *s = settings ? settings : &none;
    struct hm_convergence *c = NULL;
    int rc = converge_settings_check(s, err);

    rc = rc ? rc : convergence_begin(&c, traces, s->level, err);
    if (rc)
        return rc;
    rc = hm__traces_sized(traces, s->rows) ? convergence_fill_sized(c, traces, s, err)
                                           : convergence_fill(c, traces, s, err);
    if (c->paces && hm__arena_own(c->memory, c->paces, free_paces)) {
        hm_paces_free(c->paces);
        rc = rc ? rc : hm__fail_nomem(err);
    }
    if (rc)
        hm_convergence_free(c);
    else
        *ret_convergence = c;
    return rc;
}

/* ---- prediction ------------------------------------------------------------------------------ */

/*
 * The loss curve g, shifted to earlier and to later iterations by one standard deviation of ln i.
 * For other shifts, y is interpolated or extrapolated linearly.
 */
struct shifted_paths {
    double *iterations; /* Iterations of both shifted paths, owned; NULL if there is no shift. */
    double *y;          /* Buffer for the values of one path; owned. */
    struct hm_g_path early, late;
};

static void shifted_paths_release(struct shifted_paths *s)
{
    hm__g_path_release(&s->early);
    hm__g_path_release(&s->late);
    hm__free(s->iterations);
    hm__free(s->y);
}

static int shifted_paths_init(struct shifted_paths *s, const struct hm_g_path *path, double shift,
                              struct hm_err *err)
{
    size_t count = path->count;

    *s = (struct shifted_paths){0};
    if (shift == 0)
        return 0;
    s->iterations = hm__calloc(2 * count + 1, sizeof(*s->iterations));
    s->y = hm__calloc(count + 1, sizeof(*s->y));
    if (!s->iterations || !s->y)
        return hm__fail_nomem(err);
    for (size_t p = 0; p < count; p++) {
        s->iterations[p] = path->iterations[p] * exp(-shift);
        s->iterations[count + p] = path->iterations[p] * exp(shift);
    }
    int rc = hm__g_path_init(&s->early, path->g, path->m, s->iterations, count, err);
    return rc ? rc : hm__g_path_init(&s->late, path->g, path->m, s->iterations + count, count, err);
}

/* Shifts the values y of draw d of the loss curve along the iterations by `away` standard
 * deviations. */
static void shifted_paths_move(const struct shifted_paths *s, size_t d, double away, double *y)
{
    hm__g_path_values(away < 0 ? &s->early : &s->late, d, 0, s->y);
    for (size_t p = 0; p < s->late.count; p++)
        y[p] += fabs(away) * (s->y[p] - y[p]);
}

/*
 * Computes random values of ln(P - P*) for one new run at all iterations of the path, one for each
 * draw of the loss curve g; y[d * count + p] is draw d at iteration p.
 */
static void draw_paths(const struct hm_g_path *path, const struct hm_g_bend *bend, double spread,
                       const struct shifted_paths *shifted, double *y)
{
    struct hm_random random;

    hm__random_init(&random, 0, 0x700000000u + (uint64_t)path->m);
    for (size_t d = 0; d < path->g->draw_count; d++) {
        if (hm__budget_spent("traces"))
            break;
        double away = spread * hm__random_normal(&random);
        hm__g_path_values(path, d, 0, y + d * path->count);
        if (shifted->iterations)
            shifted_paths_move(shifted, d, hm__random_normal(&random), y + d * path->count);
        for (size_t p = 0; p < path->count; p++)
            y[d * path->count + p] += away + hm__g_bent(bend, path->iterations[p]);
    }
}

static int summarise_paths(const struct hm_g_path *path, const double *y, double level,
                           const struct hm_g_bend *bend, struct hm_g_prediction *predictions,
                           struct hm_err *err)
{
    double values[HM_G_DRAWS], *middle = hm__calloc(path->count + 1, sizeof(*middle));

    if (!middle)
        return hm__fail_nomem(err);
    hm__g_path_values(path, HM_NONE, 0, middle);
    for (size_t p = 0; p < path->count; p++) {
        struct hm_g_prediction *out = &predictions[p];
        for (size_t d = 0; d < path->g->draw_count; d++)
            values[d] = y[d * path->count + p];
        out->iteration = path->iterations[p];
        out->loss = exp(middle[p] + hm__g_bent(bend, path->iterations[p]));
        out->low = out->high = NAN;
        if (path->g->draw_count == 0)
            continue;
        out->low = exp(hm__quantile(values, path->g->draw_count, (1 - level) / 2));
        out->high = exp(hm__quantile(values, path->g->draw_count, (1 + level) / 2));
    }
    hm__free(middle);
    return 0;
}

int hm_convergence_predict(const struct hm_convergence *c, size_t algorithm, double m,
                           const double *iterations, size_t count,
                           struct hm_g_prediction *ret_predictions, struct hm_err *err)
{
    int bad =
        hm__check_pointers(err, "ret_predictions", ret_predictions, "iterations", iterations, NULL);
    if (bad == 0)
        bad = hm__convergence_check(c, err);
    if (bad == 0)
        bad = hm__check_range("algorithm", (double)algorithm, 0, (double)c->count - 1, err);
    if (bad == 0)
        bad = hm__check_range("m", m, 1, HM_M_MOST, err);
    if (bad)
        return bad;
    const struct hm_g *g = &c->algorithms[algorithm];
    struct hm_g_path path;
    struct hm_g_bend bend;

    if (g->m_count == 1 && m != g->m[0])
        return hm__fail(err, HM_E_RANGE,
                        "%s was run on %g worker%s only, so %g workers cannot be predicted",
                        hm__g_name(g->algorithm), g->m[0], g->m[0] == 1 ? "" : "s", m);
    int rc = hm__g_path_init(&path, g, m, iterations, count, err);
    rc = rc ? rc : hm__g_bend(g, m, c->best, &bend, err);
    double *y = rc ? NULL : hm__calloc(HM_G_DRAWS * count + 1, sizeof(*y));
    if (rc == 0 && !y)
        rc = hm__fail_nomem(err);
    if (rc == 0) {
        size_t known = hm__g_find(g, m);
        double spread = known == HM_NONE ? hm__g_spread(g, m) : fmax(g->spread[known], HM_G_NOISE);
        spread = hypot(spread, g->size.spread);
        struct shifted_paths shifted;
        rc = shifted_paths_init(&shifted, &path, g->size.shift, err);
        if (rc == 0)
            draw_paths(&path, &bend, spread, &shifted, y);
        rc = rc ? rc : summarise_paths(&path, y, c->level, &bend, ret_predictions, err);
        shifted_paths_release(&shifted);
    }
    hm__free(y);
    hm__g_path_release(&path);
    return rc;
}
