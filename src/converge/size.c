/*
 * Fits how the loss curve depends on the number of rows in the training data. Traces on samples of
 * the rows are converted to traces on R rows, to which everything else is then fitted. With y =
 * ln(P - P*), where P is the loss after i iterations on m workers and P* is the optimal loss of the
 * same sample, a trace on r rows becomes
 *
 *     i (R / r)^power,    y + scale ln(R / r).
 *
 * power and scale are chosen so that converted traces on the same m agree best. For each m
 * separately, a sum of the terms 1, ln i, sqrt(i) and i is fitted to y + scale ln(R / r), where i
 * is the converted iteration. The sum of squared residuals plus a small penalty that keeps power
 * and scale near 0 is minimised: over power with a grid and a golden-section search, and over scale
 * exactly. With three sizes or more, four models are compared: with power, with scale, with both
 * and with neither. The largest size is predicted from the smaller ones, and the model with the
 * smallest error is used. With two sizes, the model has only a power. For each m, the traces on the
 * largest number of rows are converted, since their error is the smallest.
 *
 * The time of an iteration on R rows comes from a fit to the iteration times of all sizes (Ernest:
 * Venkataraman et al. 2016), whose terms contain the size divided by m. Source of the idea: Pan et
 * al., Hemingway, 2016, section 6. Limits: power and scale do not depend on m or i; if the strength
 * of the regulariser is not scaled with the rows, the rate of most algorithms changes with the
 * rows.
 */
#include <math.h>
#include <string.h>

#include "budget.h"
#include "converge.h"
#include "err.h"
#include "howmany_fit.h"
#include "order.h"
#include "size.h"

enum { SHAPE = 4, SIZE_STEPS = 80 };

/* Largest value of the exponent `power` that is tried, and width of the interval at which the
 * search ends. */
static const double POWER_MOST = 2, POWER_WIDTH = 1e-4;
/*
 * Penalty on power^2 + scale^2, relative to the sum of squares without power and scale. If P - P*
 * is nearly a power of i, a power and a scale have the same effect, and large values of opposite
 * sign would fit as well as small ones.
 */
static const double SIZE_PULL = 0.01;
/*
 * Expected errors, as standard deviations, of a prediction for TYPICAL_STEP times as many rows.
 * TYPICAL_ERROR is the error of log10(P - P*); it counts as much as TYPICAL_WEIGHT errors of the
 * algorithm itself, since one error says little about the next one. TYPICAL_SHIFT is the error of
 * ln i: an error in the power moves a curve along the iterations, which changes P - P* most where
 * the curve is steep. TYPICAL_SHARE is a share of the change caused by power and scale, because a
 * large conversion is less certain than a small one. The values maximise the likelihood of 32
 * predictions, for four algorithms on four sets of traces (docs/reference/converge.md).
 */
static const double TYPICAL_ERROR = 0.2, TYPICAL_SHIFT = 0.1, TYPICAL_SHARE = 0.3;
static const double TYPICAL_STEP = 5, TYPICAL_WEIGHT = 2;
/* A model with more parameters is chosen only if its error is at most this fraction of the error of
 * the simpler model. */
static const double BETTER = 0.98;

/* ---- sizes ----------------------------------------------------------------------------------- */

/*
 * Lists the different numbers of rows in the traces of an algorithm, or of all algorithms if
 * `algorithm` is NULL, in ascending order. Returns the number of different values.
 */
static size_t list_rows(const struct hm_traces *traces, const char *algorithm, double *rows)
{
    size_t count = 0, different = 0;

    for (size_t k = 0; k < traces->count; k++) {
        const struct hm_trace *t = &traces->traces[k];
        if ((!algorithm || strcmp(t->algorithm, algorithm) == 0) && t->rows > 0)
            rows[count++] = t->rows;
    }
    hm__sort_numbers(rows, count, "traces");
    for (size_t k = 0; k < count; k++)
        if (k == 0 || rows[k] != rows[k - 1])
            rows[different++] = rows[k];
    return different;
}

bool hm__traces_sized(const struct hm_traces *traces, double rows)
{
    double first = rows;

    for (size_t k = 0; k < traces->count; k++) {
        const struct hm_trace *t = &traces->traces[k];
        if (rows > 0 && !(t->rows == rows))
            return true;
        if (t->rows > 0 && first > 0 && t->rows != first)
            return true;
        first = t->rows > 0 ? t->rows : first;
    }
    return false;
}

static int check_rows(const struct hm_traces *traces, const double *rows, size_t count,
                      const struct hm_converge_settings *s, struct hm_err *err)
{
    for (size_t k = 0; k < traces->count; k++)
        if (!(traces->traces[k].rows > 0)) {
            hm__fail(
                err, HM_E_MISSING,
                "a trace of %s has no number of rows, and others have one or one was asked for",
                hm__g_name(traces->traces[k].algorithm));
            hm__err_field(err, "rows");
            hm__err_hint(err, "add a column rows: the rows of the training data of each run");
            hm__err_at(err, traces->traces[k].source, traces->traces[k].line);
            return HM_E_MISSING;
        }
    if (count == 1) {
        hm__fail(err, HM_E_MISSING, "all traces have %.10g rows, so %.10g rows cannot be predicted",
                 rows[0], s->rows);
        hm__err_field(err, "rows");
        hm__err_hint(err, "execute runs on samples of two or more sizes, such as 5 %% and 20 %%");
        return HM_E_MISSING;
    }
    if (s->best_given) {
        hm__fail(err, HM_E_CONFLICT, "one P* is given, but the traces have %zu numbers of rows",
                 count);
        hm__err_field(err, "best");
        hm__err_hint(err, "P* depends on the rows: give it in the column best of the traces");
        return HM_E_CONFLICT;
    }
    return 0;
}

/* ---- P* of each size ------------------------------------------------------------------------- */

/* Finds the optimal loss P* of the traces with a given number of rows: the value that the traces
 * specify, or an estimate if they specify none. */
static int size_best(const struct hm_traces *traces, struct hm_arena *arena, double rows,
                     const struct hm_converge_settings *s, double *ret_best, bool *estimated,
                     struct hm_err *err)
{
    struct hm_traces own = *traces;
    double low, high;

    own.traces = hm__arena_alloc(arena, traces->count + 1, sizeof(*own.traces));
    own.count = 0;
    if (!own.traces)
        return hm__fail_nomem(err);
    for (size_t k = 0; k < traces->count; k++)
        if (traces->traces[k].rows == rows)
            own.traces[own.count++] = traces->traces[k];
    int rc = hm__g_given_best(&own, ret_best, err);
    if (rc || !isnan(*ret_best))
        return rc;
    *estimated = true;
    return hm__g_best(&own, s->level > 0 ? s->level : 0.9, s->seed, ret_best, &low, &high, err);
}

/* ---- power and scale ------------------------------------------------------------------------- */

/* One trace in the form that is used to find the exponents `power` and `scale`. */
struct size_curve {
    double m, rows, best;
    struct hm_g_curve points;
};

struct size_work {
    struct size_curve *curves;
    size_t count;
    double rows; /* Number of rows R to which curves are converted. */
    double most; /* Largest number of rows; curves with more rows are not used. */
    double pull; /* Weight of power^2 + scale^2 in the sum that is minimised. */
};

struct size_model {
    bool uses_power, uses_scale;
    double power, scale;
};

/* Adds the points of the curves on m workers, converted with a power, to a least-squares problem
 * for y = ln(P - P*), whose unknowns are the coefficients of the curve and the scale. Returns true
 * if the curves have several numbers of rows. */
static bool work_add_points(const struct size_work *w, double m, double power, struct hm_lsq *lsq)
{
    double first = NAN;
    bool several = false;

    hm__lsq_init(lsq, SHAPE + 1);
    for (size_t c = 0; c < w->count; c++) {
        const struct size_curve *curve = &w->curves[c];
        if (curve->m != m || curve->rows > w->most)
            continue;
        first = isnan(first) ? curve->rows : first;
        several = several || curve->rows != first;
        double x = log(w->rows / curve->rows), weight = 1 / sqrt((double)curve->points.count);
        for (size_t p = 0; p < curve->points.count; p++) {
            double i = curve->points.iteration[p] * exp(power * x);
            double row[SHAPE + 2] = {1, log(i), sqrt(i),
                                     i, -x,     hm__g_log(curve->points.loss[p], curve->best)};
            for (size_t k = 0; k < SHAPE + 2; k++)
                row[k] *= weight;
            hm__lsq_add(lsq, row);
        }
    }
    return several;
}

/* Returns the sum of squared residuals and penalties for a power, and the best scale. For each m,
 * the second-to-last row of the triangular factor contains only the scale, because the coefficients
 * of the curve on m workers are eliminated in the rows above. Returns NaN if no m has curves of
 * several sizes. */
static double work_residual(const struct size_work *w, double power, bool uses_scale,
                            double *ret_scale)
{
    double yy = 0, xy = 0, xx = 0;
    bool any = false;

    for (size_t c = 0; c < w->count && !hm__budget_spent("traces"); c++) {
        struct hm_lsq lsq;
        size_t before = 0;
        while (before < c && w->curves[before].m != w->curves[c].m)
            before++;
        if (before < c || !work_add_points(w, w->curves[c].m, power, &lsq))
            continue;
        const double *row = lsq.r[SHAPE], rest = lsq.r[SHAPE + 1][SHAPE + 1];
        any = true;
        yy += row[SHAPE + 1] * row[SHAPE + 1] + rest * rest;
        xy += row[SHAPE] * row[SHAPE + 1];
        xx += row[SHAPE] * row[SHAPE];
    }
    double s = *ret_scale = uses_scale && xx + w->pull > 0 ? xy / (xx + w->pull) : 0;
    return any ? yy - 2 * s * xy + s * s * xx + w->pull * (s * s + power * power) : NAN;
}

/* Finds the power and the scale of a model of the dependence on the number of rows; returns false
 * if the curves do not determine them. */
static bool model_fit(struct size_work *w, struct size_model *model)
{
    double step = 2 * POWER_MOST / SIZE_STEPS, least = INFINITY, scale;

    model->power = model->scale = w->pull = 0;
    double without = work_residual(w, 0, false, &scale);
    if (isnan(without))
        return false;
    w->pull = SIZE_PULL * without;
    work_residual(w, 0, model->uses_scale, &model->scale);
    if (!model->uses_power)
        return true;
    for (int k = 0; k <= SIZE_STEPS; k++) {
        double power = -POWER_MOST + step * k;
        double rss = work_residual(w, power, model->uses_scale, &scale);
        if (rss < least) {
            least = rss;
            model->power = power;
        }
    }
    const double golden = (sqrt(5) - 1) / 2;
    double low = model->power - step, high = model->power + step;
    while (high - low > POWER_WIDTH) {
        double left = high - golden * (high - low), right = low + golden * (high - low);
        if (work_residual(w, left, model->uses_scale, &scale) <
            work_residual(w, right, model->uses_scale, &scale))
            high = right;
        else
            low = left;
    }
    model->power = (low + high) / 2;
    work_residual(w, model->power, model->uses_scale, &model->scale);
    return true;
}

/* ---- the error for the largest size ---------------------------------------------------------- */

/*
 * Returns the value at ln i of y = ln(P - P*) of a curve, converted to `rows` rows; NaN outside the
 * curve.
 */
static double curve_at(const struct size_curve *curve, const struct size_model *model, double rows,
                       double log_i)
{
    double x = log(rows / curve->rows), at = log_i - model->power * x;
    const struct hm_g_curve *c = &curve->points;

    for (size_t p = 0; p < c->count; p++) {
        double here = log(c->iteration[p]);
        double y = hm__g_log(c->loss[p], curve->best) + model->scale * x;
        if (fabs(here - at) <= 1e-9)
            return y;
        if (here < at)
            continue;
        if (p == 0)
            break;
        double before = log(c->iteration[p - 1]);
        double y0 = hm__g_log(c->loss[p - 1], curve->best) + model->scale * x;
        return y0 + (y - y0) * (at - before) / (here - before);
    }
    return NAN;
}

/*
 * Among the curves on m workers, finds the largest number of rows below `rows`; 0 if there is none.
 */
static double work_next_rows(const struct size_work *w, double m, double rows)
{
    double most = 0;

    for (size_t c = 0; c < w->count; c++)
        if (w->curves[c].m == m && w->curves[c].rows < rows)
            most = fmax(most, w->curves[c].rows);
    return most;
}

/*
 * Returns the root mean square error of log10(P - P*) when the curves on `rows` rows are predicted
 * from the curves of the next smaller size on the same m; NaN if no point can be predicted.
 */
static double model_error(const struct size_work *w, const struct size_model *model, double rows)
{
    double squares = 0, curves = 0;

    for (size_t c = 0; c < w->count && !hm__budget_spent("traces"); c++) {
        const struct size_curve *known = &w->curves[c];
        double next = known->rows == rows ? work_next_rows(w, known->m, rows) : 0;
        for (size_t d = 0; next > 0 && d < w->count && !hm__budget_spent("traces"); d++) {
            double sum = 0, points = 0;
            if (w->curves[d].m != known->m || w->curves[d].rows != next)
                continue;
            for (size_t p = 0; p < known->points.count; p++) {
                double y = hm__g_log(known->points.loss[p], known->best);
                double ours = curve_at(&w->curves[d], model, rows, log(known->points.iteration[p]));
                sum += isnan(ours) ? 0 : (ours - y) * (ours - y);
                points += !isnan(ours);
            }
            squares += points > 0 ? sum / points : 0;
            curves += points > 0;
        }
    }
    return curves > 0 ? sqrt(squares / curves) / log(10) : NAN;
}

/*
 * Chooses the model that best predicts the largest size from the smaller ones, and fits it to all
 * sizes. With fewer than three sizes, the model has only a power.
 */
static bool model_choose(struct size_work *w, const double *rows, size_t count,
                         struct size_model *ret_model, double *ret_held_out)
{
    static const struct size_model models[] = {
        {false, false, 0, 0}, {false, true, 0, 0}, {true, false, 0, 0}, {true, true, 0, 0}};
    double least = INFINITY;

    *ret_model = models[2];
    *ret_held_out = NAN;
    for (size_t k = 0; count > 2 && k < sizeof(models) / sizeof(models[0]); k++) {
        struct size_model model = models[k];
        w->most = rows[count - 2];
        double error = model_fit(w, &model) ? model_error(w, &model, rows[count - 1]) : NAN;
        if (error < BETTER * least) {
            least = *ret_held_out = error;
            *ret_model = models[k];
        }
    }
    w->most = INFINITY;
    return model_fit(w, ret_model);
}

/* ---- conversion ------------------------------------------------------------------------------ */

static int work_gather(struct size_work *w, struct hm_arena *arena, const struct hm_traces *traces,
                       const struct hm_size *size, const struct hm_sizes *sizes, struct hm_err *err)
{
    bool fresh = hm__g_has_fresh(traces, size->algorithm);

    w->curves = hm__arena_alloc(arena, traces->count + 1, sizeof(*w->curves));
    if (!w->curves)
        return hm__fail_nomem(err);
    w->rows = sizes->rows;
    for (size_t k = 0; k < traces->count; k++) {
        const struct hm_trace *t = &traces->traces[k];
        struct size_curve *curve = &w->curves[w->count];
        if (!hm__g_takes(t, size->algorithm, fresh) || t->diverged)
            continue;
        *curve = (struct size_curve){.m = t->m, .rows = t->rows, .best = sizes->bests[k]};
        int rc = hm__g_thin(&curve->points, arena, t, curve->best, err);
        if (rc)
            return rc;
        w->count += curve->points.count > 0;
    }
    return 0;
}

/* Fits the time of an iteration in seconds for all numbers of rows; *ret_fit is NULL if this is not
 * possible. */
static int fit_seconds(const struct hm_traces *traces, struct hm_arena *arena,
                       const struct hm_size *size, double rows, struct hm_fit **ret_fit,
                       struct hm_err *err)
{
    bool fresh = hm__g_has_fresh(traces, size->algorithm);
    double *n = hm__arena_alloc(arena, 3 * (traces->count + 1), sizeof(*n));
    double *seconds = n ? n + traces->count + 1 : NULL;
    double *share = n ? seconds + traces->count + 1 : NULL;
    struct hm_runs *runs = NULL;
    struct hm_err own = {0};
    size_t count = 0;

    *ret_fit = NULL;
    if (!n)
        return hm__fail_nomem(err);
    for (size_t k = 0; k < traces->count; k++) {
        const struct hm_trace *t = &traces->traces[k];
        double mean = hm__g_takes(t, size->algorithm, fresh) ? hm__trace_mean_seconds(t) : NAN;
        if (!(mean > 0))
            continue;
        n[count] = t->m;
        share[count] = t->rows / rows;
        seconds[count++] = mean;
    }
    struct hm_column column = {.name = "size", .values = share};
    int rc = count > 0 ? hm_runs_new(n, seconds, count, &column, 1, &runs, &own) : HM_E_MISSING;
    rc = rc ? rc : hm_fit_new(runs, NULL, ret_fit, &own);
    hm_runs_free(runs);
    return rc == HM_E_NOMEM ? hm__fail_nomem(err) : 0;
}

/*
 * Returns the time of an iteration on m workers and all rows in seconds, according to the fit; NaN
 * if it is unknown.
 */
static double fitted_seconds(const struct hm_fit *fit, double m)
{
    const struct hm_at whole = {.name = "size", .value = 1};
    struct hm_prediction p;

    return fit && hm_fit_predict(fit, &whole, 1, &m, 1, &p, NULL) == 0 ? p.time_s : NAN;
}

/* Converts one trace to sizes->rows rows. */
static int trace_convert(struct hm_trace *t, struct hm_arena *arena, const struct hm_size *size,
                         const struct hm_sizes *sizes, double best, const struct hm_fit *fit,
                         struct hm_err *err)
{
    double x = log(sizes->rows / t->rows), mean = hm__trace_mean_seconds(t);
    double seconds = x == 0 ? mean : fitted_seconds(fit, t->m);
    double *room = hm__arena_alloc(arena, 4 * t->count, sizeof(*room));

    if (!room)
        return hm__fail_nomem(err);
    for (size_t p = 0; p < t->count; p++) {
        room[p] = t->iteration[p] * exp(size->fit.power * x);
        room[t->count + p] = sizes->best + (t->loss[p] - best) * exp(size->fit.scale * x);
        room[2 * t->count + p] = x == 0 ? t->seconds[p] : t->seconds[p] * seconds / mean;
        room[3 * t->count + p] = x == 0 ? t->elapsed_s[p] : room[p] * seconds;
    }
    t->iteration = room;
    t->loss = room + t->count;
    t->seconds = room + 2 * t->count;
    t->elapsed_s = room + 3 * t->count;
    t->best = sizes->best;
    t->bound = -INFINITY;
    t->rows = sizes->rows;
    return 0;
}

/* Returns whether another trace of the same algorithm, m and consistency has a number of rows
 * nearer to `rows`; if two are equally near, the larger number is preferred. */
static bool trace_is_surpassed(const struct hm_traces *traces, const struct hm_trace *t,
                               double rows)
{
    double own = fabs(log(t->rows / rows));

    for (size_t k = 0; k < traces->count; k++) {
        const struct hm_trace *u = &traces->traces[k];
        double far = fabs(log(u->rows / rows));
        if ((far < own || (far == own && u->rows > t->rows)) && u->m == t->m &&
            u->staleness == t->staleness && u->backups == t->backups &&
            strcmp(u->algorithm, t->algorithm) == 0)
            return true;
    }
    return false;
}

/*
 * Sets the standard deviations of ln(P - P*) and of ln i that the conversion to more rows adds, in
 * proportion to the distance in ln(rows). The deviation of ln(P - P*) combines the typical error of
 * such predictions with the algorithm's own error for its largest size, and is never below the
 * latter. A share of the change caused by scale or power is added to each deviation. Both are 0 if
 * there are traces on that number of rows.
 */
static void size_set_spread(struct hm_g_size *size, double rows, const double *all, size_t count)
{
    double far = log(rows / all[count - 1]), unit = log(TYPICAL_STEP), own = 0;
    double squares = TYPICAL_WEIGHT * TYPICAL_ERROR * TYPICAL_ERROR, weight = TYPICAL_WEIGHT;
    double steps = fmax(1, far / unit), share = TYPICAL_SHARE * unit;

    size->spread = size->shift = 0;
    if (!(far > 0))
        return;
    if (!isnan(size->held_out)) {
        own = size->held_out * fmin(2, fmax(1, unit / log(all[count - 1] / all[count - 2])));
        squares += own * own;
        weight += 1;
    }
    double typical = log(10) * fmax(own, sqrt(squares / weight));
    size->spread = hypot(typical, share * size->scale) * steps;
    size->shift = hypot(TYPICAL_SHIFT, share * size->power) * steps;
}

static int convert_algorithm(struct hm_sizes *sizes, struct hm_arena *arena,
                             const struct hm_traces *traces, const char *algorithm,
                             struct hm_err *err)
{
    struct hm_size *size = &sizes->sizes[sizes->count++];
    double *rows = hm__arena_alloc(arena, traces->count + 1, sizeof(*rows));
    struct size_work w = {0};
    struct size_model model;
    struct hm_fit *fit = NULL;

    *size = (struct hm_size){.algorithm = algorithm, .fit = {.held_out = NAN}};
    int rc = rows ? work_gather(&w, arena, traces, size, sizes, err) : hm__fail_nomem(err);
    if (rc)
        return rc;
    size_t count = list_rows(traces, algorithm, rows);
    struct hm_g_size *own = &size->fit;
    own->count = count;
    own->least = rows[0];
    own->most = rows[count - 1];
    own->known = count > 1 && model_choose(&w, rows, count, &model, &own->held_out);
    own->power = own->known ? model.power : 0;
    own->scale = own->known ? model.scale : 0;
    size_set_spread(own, sizes->rows, rows, count);
    rc = fit_seconds(traces, arena, size, sizes->rows, &fit, err);
    for (size_t k = 0; rc == 0 && k < traces->count; k++) {
        const struct hm_trace *t = &traces->traces[k];
        struct hm_trace *to = &sizes->traces.traces[sizes->traces.count];
        if ((rc = hm__budget_check("traces", err)))
            break;
        if (strcmp(t->algorithm, algorithm) != 0 || trace_is_surpassed(traces, t, sizes->rows))
            continue;
        *to = *t;
        rc = trace_convert(to, arena, size, sizes, sizes->bests[k], fit, err);
        sizes->traces.count++;
    }
    hm_fit_free(fit);
    return rc;
}

/* Finds the optimal loss P* for each trace, and for the number of rows to which traces are
 * converted. */
static int sizes_find_bests(struct hm_sizes *sizes, struct hm_arena *arena,
                            const struct hm_traces *traces, const double *rows, size_t count,
                            const struct hm_converge_settings *s, struct hm_err *err)
{
    int rc = 0;

    for (size_t r = 0; rc == 0 && r < count; r++) {
        double best;
        rc = size_best(traces, arena, rows[r], s, &best, &sizes->estimated, err);
        for (size_t k = 0; rc == 0 && k < traces->count; k++)
            if (traces->traces[k].rows == rows[r])
                sizes->bests[k] = best;
        /*
         * P* for a larger number of rows is unknown, so P* of the largest sample is used instead.
         */
        if (rc == 0 && (rows[r] <= sizes->rows || r == 0))
            sizes->best = best;
        sizes->best_known = rows[r] == sizes->rows || sizes->best_known;
    }
    return rc;
}

int hm__sizes_init(struct hm_sizes *sizes, struct hm_arena *arena, const struct hm_traces *traces,
                   const struct hm_converge_settings *settings, struct hm_err *err)
{
    double *rows = hm__arena_alloc(arena, traces->count + 1, sizeof(*rows));

    *sizes = (struct hm_sizes){.traces = *traces};
    sizes->bests = hm__arena_alloc(arena, traces->count + 1, sizeof(double));
    sizes->sizes = hm__arena_alloc(arena, traces->count + 1, sizeof(*sizes->sizes));
    sizes->traces.traces = hm__arena_alloc(arena, traces->count + 1, sizeof(struct hm_trace));
    sizes->traces.count = 0;
    if (!rows || !sizes->bests || !sizes->sizes || !sizes->traces.traces)
        return hm__fail_nomem(err);
    size_t count = list_rows(traces, NULL, rows);
    int rc = check_rows(traces, rows, count, settings, err);
    if (rc)
        return rc;
    sizes->rows = settings->rows > 0 ? settings->rows : rows[count - 1];
    rc = sizes_find_bests(sizes, arena, traces, rows, count, settings, err);
    for (size_t k = 0; rc == 0 && k < traces->count; k++) {
        const char *algorithm = traces->traces[k].algorithm;
        rc = hm__budget_check("traces", err);
        if (rc == 0 && !hm__sizes_find(sizes, algorithm))
            rc = convert_algorithm(sizes, arena, traces, algorithm, err);
    }
    return rc;
}

const struct hm_size *hm__sizes_find(const struct hm_sizes *sizes, const char *algorithm)
{
    for (size_t k = 0; k < sizes->count; k++)
        if (strcmp(sizes->sizes[k].algorithm, algorithm) == 0)
            return &sizes->sizes[k];
    return NULL;
}
