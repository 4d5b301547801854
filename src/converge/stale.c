/*
 * Fits the cost of staleness, which is a factor c that multiplies the number of iterations. A
 * gradient computed from old model weights is worth less: after i iterations, a run with staleness
 * s has the loss that a fresh run has after i / c iterations. With y = ln(P - P*), where P is the
 * loss on m workers and P* is the optimal loss, and with the loss curve g of fresh runs, the model
 * is
 *
 *     y(i, m, s) = g(i / c(s, m), m),        ln c = level + growth s^e + power ln m,  c(0, m) = 1.
 *
 * It is fitted by least squares in y over all stale traces, with the Levenberg-Marquardt method. g
 * is fitted to the fresh traces. If there are fresh traces for an m, their smoothed residuals are
 * added to g, so that the residuals are not mistaken for a cost of staleness. The candidate models
 * have a level, a growth (with e = 1 or 2) or both; the one that best predicts a held-out staleness
 * is kept. The power of m is added if the stale traces have several m. A level alone occurs with
 * servers that always send the newest weights: the only change is that gradients are applied one by
 * one. Growth occurs with old copies of the weights: it is small while the step size is small, and
 * then rises quickly. Asynchronous runs have no staleness bound; they have a separate level (and
 * power). Backup workers, whose late gradients are dropped, are fitted in the same way, with s as
 * their number.
 *
 * Intervals come from fitting again with the draws of g and with random weights of fresh and stale
 * traces (Bayesian bootstrap). Source of the model: Ho et al., NIPS 2013 (SSP).
 *
 * Limits: c does not depend on i; it is between about 1/16 and 245; before the first measured
 * iteration, g is assumed to be constant.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "checks.h"
#include "err.h"
#include "stale_work.h"
#include "student.h"

static const double STALE_BETTER = 0.98;

/* ---- choice of parameters -------------------------------------------------------------------- */

/* Lists the different values of staleness; the curves are sorted by staleness. */
static size_t list_staleness(const struct stale_work *w, double *values)
{
    size_t count = 0;

    for (size_t c = 0; c < w->count; c++)
        if (c == 0 || w->staleness[c] != w->staleness[c - 1])
            values[count++] = w->staleness[c];
    return count;
}

/*
 * Returns the root mean square error of predicting the curves of each staleness from a fit to the
 * curves of all other values of staleness.
 */
static double stale_hold_out(struct stale_work *w, const double *values, size_t count)
{
    double squares = 0;

    for (size_t k = 0; k < count && !hm__budget_spent("traces"); k++) {
        double theta[STALE_COUNT];
        w->held = values[k];
        hm__stale_fit(w, theta);
        double off = hm__stale_error(w, theta, values[k]);
        squares += off * off;
    }
    w->held = NAN;
    return sqrt(squares / (double)count);
}

struct stale_model {
    bool level, growth;
    double exponent;
};

static void stale_model_use(struct stale_work *w, const struct stale_model *way)
{
    w->uses[STALE_LEVEL] = way->level;
    w->uses[STALE_GROWTH] = way->growth;
    w->exponent = way->exponent;
}

/*
 * Chooses the model that best predicts a held-out staleness; returns its error. A model with more
 * parameters must be better by 2 %. With several numbers of workers m, a power of m alone is also a
 * candidate. With one staleness, the models cannot be compared; with two, the models with both
 * level and growth are excluded.
 */
static double stale_model_choose(struct stale_work *w, const double *values, size_t count)
{
    static const struct stale_model ways[] = {{false, false, 1}, {true, false, 1}, {false, true, 1},
                                              {false, true, 2},  {true, true, 1},  {true, true, 2}};
    size_t first = w->uses[STALE_POWER] ? 0 : 1, best = 1,
           end = count < 2   ? first
                 : count < 3 ? 4
                             : 6;
    double least = NAN;

    for (size_t k = first; k < end; k++) {
        stale_model_use(w, &ways[k]);
        double off = stale_hold_out(w, values, count);
        if (k == first || off < STALE_BETTER * least) {
            least = off;
            best = k;
        }
    }
    stale_model_use(w, &ways[best]);
    return least;
}

/* ---- the curves ------------------------------------------------------------------------------ */

static void stale_work_release(struct stale_work *w)
{
    for (size_t k = 0; k < w->shape_count; k++)
        hm__g_path_release(&w->shapes[k].path);
}

static int stale_work_add_shape(struct stale_work *w, double m, struct hm_err *err)
{
    struct stale_shape *shape = &w->shapes[w->shape_count];
    int rc = hm__g_path_init(&shape->path, w->g, m, w->iterations, STALE_GRID, err);

    if (rc)
        return rc;
    w->shape_count++;
    shape->known = hm__g_find(w->g, m) != HM_NONE;
    return shape->known ? 0 : hm__g_bend(w->g, m, w->best, &shape->bend, err);
}

/* Kinds of runs with a cost of staleness: bounded staleness, asynchronous runs, backup workers. */
enum stale_part { PART_SSP, PART_ASYNC, PART_BACKUPS, PARTS };

/* Returns the kind of staleness of a trace; PARTS if the trace is fresh, or if it is stale and also
 * has backup workers. */
static enum stale_part trace_part(const struct hm_trace *t)
{
    if (t->backups > 0)
        return t->staleness == 0 ? PART_BACKUPS : PARTS;
    return t->staleness == 0 ? PARTS : isinf(t->staleness) ? PART_ASYNC : PART_SSP;
}

/* Returns the staleness of a trace, or the number of its backup workers. */
static double trace_staleness(const struct hm_trace *t)
{
    return trace_part(t) == PART_BACKUPS ? t->backups : t->staleness;
}

/*
 * Compares pointers to traces by staleness and then by number of workers; equal traces keep their
 * order.
 */
static int compare_stale(const void *a, const void *b)
{
    const struct hm_trace *x = *(const struct hm_trace *const *)a,
                          *y = *(const struct hm_trace *const *)b;
    double left = trace_staleness(x), right = trace_staleness(y);

    return left != right ? (left < right ? -1 : 1) : hm__compare_traces_by_m(a, b);
}

static int stale_work_gather(struct stale_work *w, struct hm_arena *arena,
                             const struct hm_traces *traces, enum stale_part part, double leave_out,
                             size_t *left_out, struct hm_err *err)
{
    const struct hm_trace **listed = hm__arena_alloc(arena, traces->count + 1, sizeof(*listed));
    size_t count = 0;

    if (!listed)
        return hm__fail_nomem(err);
    for (size_t k = 0; k < traces->count; k++) {
        const struct hm_trace *t = &traces->traces[k];
        if (strcmp(t->algorithm, w->g->algorithm) == 0 && trace_part(t) == part &&
            t->m != leave_out)
            listed[count++] = t;
    }
    qsort(listed, count, sizeof(*listed), compare_stale);
    for (size_t k = 0; k < count; k++) {
        const struct hm_trace *t = listed[k];
        struct hm_g_curve curve;
        int rc = hm__g_thin(&curve, arena, t, w->best, err);
        if (rc)
            return rc;
        if (curve.count > 0 && !t->diverged && (w->g->m_count > 1 || t->m == w->g->m[0])) {
            w->curves[w->count] = curve;
            w->staleness[w->count++] = trace_staleness(t);
        } else
            ++*left_out;
    }
    return 0;
}

/*
 * Sets the grid of iterations. It begins at the first iteration of the fresh curves and ends at the
 * last iteration of all curves, divided by the smallest cost of staleness.
 */
static void stale_work_set_grid(struct stale_work *w)
{
    double first = INFINITY, last = w->g->last;

    for (size_t c = 0; c < w->g->curve_count; c++)
        first = fmin(first, w->g->curves[c].iteration[0]);
    for (size_t c = 0; c < w->count; c++)
        last = fmax(last, w->curves[c].iteration[w->curves[c].count - 1]);
    w->first = log(first);
    w->step = (log(last) - STALE_LEAST - w->first) / (STALE_GRID - 1);
    for (size_t p = 0; p < STALE_GRID; p++)
        w->iterations[p] = exp(w->first + w->step * (double)p);
}

/*
 * Sets the weights of the stale curves. All curves with the same staleness and number of workers,
 * which are neighbours, together have weight 1.
 */
static void stale_work_weigh(struct stale_work *w)
{
    for (size_t c = 0, end = 0; c < w->count; c = end) {
        while (end < w->count && w->staleness[end] == w->staleness[c] &&
               w->curves[end].m == w->curves[c].m)
            end++;
        for (size_t d = c; d < end; d++)
            w->weight[d] = 1 / (double)(end - c);
    }
}

/* Prepares the loss curve of fresh runs for each number of workers in the stale curves, and sets
 * the weights of the stale curves. */
static int stale_work_prepare(struct stale_work *w, struct hm_err *err)
{
    stale_work_set_grid(w);
    stale_work_weigh(w);
    for (size_t c = 0; c < w->count; c++) {
        size_t k = 0;
        int rc = hm__budget_check("traces", err);
        while (k < w->shape_count && w->shapes[k].path.m != w->curves[c].m)
            k++;
        if (rc == 0 && k == w->shape_count)
            rc = stale_work_add_shape(w, w->curves[c].m, err);
        if (rc)
            return rc;
        w->shape[c] = &w->shapes[k];
        w->chance[c] = 1;
    }
    for (size_t c = 0; c < w->g->curve_count; c++)
        w->fresh_chance[c] = 1;
    w->uses[STALE_POWER] = w->shape_count > 1;
    w->held = NAN;
    return 0;
}

static int stale_work_init(struct stale_work *w, struct hm_arena *scratch, const struct hm_g *g,
                           double best, size_t room, struct hm_err *err)
{
    *w = (struct stale_work){.g = g, .best = best};
    w->shapes = hm__arena_alloc(scratch, room, sizeof(*w->shapes));
    w->curves = hm__arena_alloc(scratch, room, sizeof(*w->curves));
    w->staleness = hm__arena_alloc(scratch, room, sizeof(double));
    w->weight = hm__arena_alloc(scratch, room, sizeof(double));
    w->chance = hm__arena_alloc(scratch, room, sizeof(double));
    w->shape = hm__arena_alloc(scratch, room, sizeof(*w->shape));
    w->fresh_chance = hm__arena_alloc(scratch, g->curve_count + 1, sizeof(double));
    return w->shapes && w->curves && w->staleness && w->weight && w->chance && w->shape &&
                   w->fresh_chance
               ? 0
               : hm__fail_nomem(err);
}

/* ---- the fit --------------------------------------------------------------------------------- */

static struct hm_stale_cost stale_cost_at(const struct hm_g_stale *stale, double staleness,
                                          double m, double level)
{
    const double theta[STALE_COUNT] = {stale->level, stale->growth, stale->power};
    double values[HM_G_DRAWS], own = hm__stale_log_cost(theta, stale->exponent, staleness, m);
    struct hm_stale_cost cost = {staleness, m, exp(own), NAN, NAN};

    if (stale->draw_count == 0)
        return cost;
    for (size_t d = 0; d < stale->draw_count; d++)
        values[d] =
            hm__stale_log_cost(stale->draws + d * STALE_COUNT, stale->exponent, staleness, m);
    cost.low = exp(fmin(own, hm__quantile(values, stale->draw_count, (1 - level) / 2)));
    cost.high = exp(fmax(own, hm__quantile(values, stale->draw_count, (1 + level) / 2)));
    return cost;
}

/*
 * Returns the factor by which the deviations of draws are multiplied. Draws vary too little for two
 * reasons: parameters in use reduce the degrees of freedom, as in hm__g_bound; and with n fresh
 * traces on the same number of workers, random weights reproduce only (n - 1) / (n + 1) of the
 * variance of their mean.
 */
static double draws_widening(const struct stale_work *w)
{
    double folds = (double)w->count, unknowns = 0, fresh = INFINITY;

    for (size_t k = 0; k < STALE_COUNT; k++)
        unknowns += w->uses[k];
    for (size_t k = 0; k < w->shape_count && !hm__budget_spent("traces"); k++) {
        double own = 0;
        for (size_t c = 0; c < w->g->curve_count; c++)
            own += w->g->curves[c].m == w->shapes[k].path.m;
        fresh = w->shapes[k].known ? fmin(fresh, own) : fresh;
    }
    double few = isinf(fresh) ? 1 : (fresh + 1) / fmax(fresh - 1, 0.5);
    return sqrt(few * folds / fmax(folds - unknowns, folds / 4));
}

/*
 * Smallest number of stale traces for which intervals are computed; with fewer, the spread of
 * traces is unknown.
 */
enum { ENOUGH = 3 };

/*
 * Returns the standard error of ln c, where c is the cost of staleness, that follows from the
 * residuals of the stale curves alone: s / (slope sqrt(N)), where s is the root mean square of the
 * residuals, slope is the root mean square of the derivative of y with respect to ln i, and N is
 * the number of independent residuals. A curve counts as HM_G_BLOCKS residuals, because the
 * residuals of neighbouring points are similar. Draws with random weights of curves would not vary
 * at all if all curves had the same cost.
 */
static double stale_noise(const struct stale_work *w, const double *theta)
{
    double squares = 0, slopes = 0;

    for (size_t c = 0; c < w->count; c++) {
        double cost = hm__stale_curve_cost(w, theta, c);
        for (size_t p = 0; p < w->curves[c].count; p++) {
            double slope, off = hm__stale_residual(w, c, p, cost, &slope);
            squares += hm__stale_curve_weight(w, c) * fmax(off * off, HM_G_NOISE * HM_G_NOISE);
            slopes += hm__stale_curve_weight(w, c) * slope * slope;
        }
    }
    /* Curves that are flat everywhere do not determine c, which may then have any value within its
     * bounds. */
    return slopes > 0 ? fmin(sqrt(squares / slopes / (double)(HM_G_BLOCKS * w->count)), STALE_MOST)
                      : STALE_MOST;
}

static int stale_draw(struct stale_work *w, struct hm_g_stale *stale, struct hm_arena *arena,
                      double seed, struct hm_err *err)
{
    const double theta[STALE_COUNT] = {stale->level, stale->growth, stale->power};
    double wider = draws_widening(w), noise = stale_noise(w, theta);
    struct hm_random random;

    if (w->count < ENOUGH)
        return 0;
    hm__random_init(&random, (uint64_t)seed, 0x900000000u + w->count);
    stale->draws = hm__arena_alloc(arena, (size_t)HM_G_DRAWS * STALE_COUNT, sizeof(double));
    if (!stale->draws)
        return hm__fail_nomem(err);
    stale->draw_count = HM_G_DRAWS;
    for (size_t d = 0; d < HM_G_DRAWS; d++) {
        double *own = stale->draws + d * STALE_COUNT;
        if (hm__budget_spent("traces"))
            break;
        hm__g_fold_weights(seed, HM_G_DRAWS + d, w->count, w->chance);
        hm__g_fold_weights(seed, (size_t)2 * HM_G_DRAWS + d, w->g->curve_count, w->fresh_chance);
        hm__stale_fill_shapes(w, d < w->g->draw_count ? d : HM_NONE);
        memcpy(own, theta, sizeof(theta));
        hm__stale_minimise(w, own);
        for (size_t k = 0; k < STALE_COUNT; k++)
            own[k] = theta[k] + wider * (own[k] - theta[k]);
        own[STALE_LEVEL] += noise * hm__random_normal(&random);
    }
    return 0;
}

static int stale_list_costs(const struct stale_work *w, struct hm_g_stale *stale,
                            struct hm_arena *arena, double level, struct hm_err *err)
{
    stale->costs = hm__arena_alloc(arena, w->count, sizeof(*stale->costs));
    if (!stale->costs)
        return hm__fail_nomem(err);
    for (size_t c = 0; c < w->count && !hm__budget_spent("traces"); c++)
        if (c == 0 || w->staleness[c] != w->staleness[c - 1] ||
            w->curves[c].m != w->curves[c - 1].m)
            stale->costs[stale->cost_count++] =
                stale_cost_at(stale, w->staleness[c], w->curves[c].m, level);
    return 0;
}

static int stale_solve(struct stale_work *w, struct hm_g_stale *stale, struct hm_arena *arena,
                       struct hm_arena *scratch, double level, double seed, struct hm_err *err)
{
    double theta[STALE_COUNT] = {0}, *values = hm__arena_alloc(scratch, w->count, sizeof(*values));
    int rc = values ? stale_work_prepare(w, err) : hm__fail_nomem(err);

    if (rc)
        return rc;
    hm__stale_fill_shapes(w, HM_NONE);
    size_t count = list_staleness(w, values);
    stale->traces = w->count;
    stale->without = hm__stale_error(w, theta, NAN);
    stale->held_out = stale_model_choose(w, values, count);
    hm__stale_fit(w, theta);
    stale->level = theta[STALE_LEVEL];
    stale->growth = theta[STALE_GROWTH];
    stale->power = theta[STALE_POWER];
    stale->exponent = w->exponent;
    stale->error = hm__stale_error(w, theta, NAN);
    rc = stale_draw(w, stale, arena, seed, err);
    return rc ? rc : stale_list_costs(w, stale, arena, level, err);
}

double hm__g_stale_log_cost(const struct hm_g_stale *stale, double staleness, double m, size_t draw)
{
    const double theta[STALE_COUNT] = {stale->level, stale->growth, stale->power};
    double cost =
        hm__stale_log_cost(draw < stale->draw_count ? stale->draws + draw * STALE_COUNT : theta,
                           stale->exponent, staleness, m);

    return fmin(fmax(cost, STALE_LEAST), STALE_MOST);
}

int hm__g_fit_stale(struct hm_g *g, struct hm_arena *arena, const struct hm_traces *traces,
                    double best, double level, const struct hm_converge_settings *settings,
                    size_t *ret_left_out, struct hm_err *err)
{
    struct hm_arena *scratch = hm__arena_new();
    struct hm_g_stale *const parts[PARTS] = {&g->ssp, &g->async, &g->backup};
    int rc = scratch ? 0 : hm__fail_nomem(err);

    *ret_left_out = 0;
    for (enum stale_part k = PART_SSP; rc == 0 && k < PARTS; k++) {
        struct stale_work w;
        rc = stale_work_init(&w, scratch, g, best, traces->count + 1, err);
        if (rc)
            break;
        rc = stale_work_gather(&w, scratch, traces, k, settings->leave_out, ret_left_out, err);
        if (rc == 0 && w.count > 0)
            rc = stale_solve(&w, parts[k], arena, scratch, level, settings->seed, err);
        stale_work_release(&w);
    }
    hm__arena_free(scratch);
    return rc;
}

int hm_convergence_stale(const struct hm_convergence *c, size_t algorithm, double staleness,
                         double m, struct hm_stale_cost *ret_cost, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "ret_cost", ret_cost, NULL);
    if (bad == 0)
        bad = hm__convergence_check(c, err);
    if (bad == 0)
        bad = hm__check_range("algorithm", (double)algorithm, 0, (double)c->count - 1, err);
    if (bad)
        return bad;
    const struct hm_g *g = &c->algorithms[algorithm];
    bool async = isinf(staleness);
    const struct hm_g_stale *stale = async ? &g->async : &g->ssp;

    if (!(staleness >= 0) || !(m >= 1))
        return hm__fail(err, HM_E_RANGE,
                        "staleness %g on %g workers is out of range: they must be at least 0 and 1",
                        staleness, m);
    if (staleness == 0) {
        *ret_cost = (struct hm_stale_cost){0, m, 1, 1, 1};
        return 0;
    }
    if (stale->traces == 0)
        return hm__fail(err, HM_E_MISSING,
                        "there are no %s traces of %s to compare with fresh ones",
                        async ? "asynchronous" : "stale", hm__g_name(g->algorithm));
    *ret_cost = stale_cost_at(stale, staleness, m, c->level);
    return 0;
}
