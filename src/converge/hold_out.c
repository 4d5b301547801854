/*
 * Measures the error of the loss curve g(i, m) on data that it was not fitted to, as in the
 * Hemingway paper (Pan et al. 2017), in two ways:
 *
 * - A number of workers m is left out: g is fitted without the traces on m workers, and
 *   these traces are predicted.
 * - Later points are predicted: from a window of a trace, the loss some iterations or
 *   seconds later.
 *
 * For the second way, several small models are fitted to the window: linear in i, in sqrt(i), in ln
 * i, in i and ln i, and in the values of g fitted to the other m. The model that best predicts the
 * end of the window from its beginning is used. Errors are differences of log10(P - P*), where P is
 * the loss and P* is the optimal loss. Limit: leaving out an m needs at least three values of m.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "budget.h"
#include "checks.h"
#include "converge.h"
#include "err.h"
#include "hold_out.h"
#include "linear.h"
#include "size.h"
#include "student.h"

enum { SHAPES = HM_HOLD_OUT_SHAPES, SHAPE_TERMS = 3 };

static int error_list_add(struct hm_error_list *e, double error, struct hm_err *err)
{
    double *more = hm__grow(e->values, e->count, &e->room, sizeof(*more));
    if (!more)
        return hm__fail_nomem(err);
    e->values = more;
    e->values[e->count++] = fabs(error);
    e->squares += error * error;
    return 0;
}

int hm__hold_out_trace(const struct hm_convergence *c, size_t algorithm,
                       const struct hm_trace *trace, double best, struct hm_error_list *errors,
                       size_t *covered, struct hm_err *err)
{
    struct hm_g_prediction *p = hm__calloc(trace->count, sizeof(*p));
    int rc =
        p ? hm_convergence_predict(c, algorithm, trace->m, trace->iteration, trace->count, p, err)
          : hm__fail_nomem(err);

    for (size_t k = 0; rc == 0 && k < trace->count; k++) {
        double y = hm__g_log(trace->loss[k], best);
        *covered += log(p[k].low) <= y && y <= log(p[k].high);
        rc = error_list_add(errors, (log(p[k].loss) - y) / log(10), err);
    }
    hm__free(p);
    return rc;
}

double hm__error_list_median(struct hm_error_list *e, size_t from)
{
    return e->count > from ? hm__quantile(e->values + from, e->count - from, 0.5) : NAN;
}

/* ---- one algorithm's traces ------------------------------------------------------------------ */

struct holdout_trial {
    const struct hm_holdout_settings *settings;
    struct hm_traces traces; /* Traces of one algorithm. */
    double best, level;
    double *ms;
    size_t m_count;
    /* without[k] is the fit without the k-th number of workers; NULL until it is computed. */
    struct hm_convergence **without;
    /*
     * Errors for left-out numbers of workers inside the measured range, and errors of predicting
     * later points of a trace.
     */
    struct hm_error_list inside, ahead;
};

static int trial_collect(struct holdout_trial *t, struct hm_arena *arena,
                         const struct hm_traces *all, const struct hm_g *g, struct hm_err *err)
{
    struct hm_trace *traces = hm__arena_alloc(arena, all->count + 1, sizeof(*traces));

    t->traces = *all;
    t->traces.traces = traces;
    t->traces.count = t->traces.note_count = 0;
    t->ms = g->m;
    t->m_count = g->m_count;
    t->without = hm__arena_alloc(arena, g->m_count + 1, sizeof(struct hm_convergence *));
    if (!traces || !t->without)
        return hm__fail_nomem(err);
    bool fresh = hm__g_has_fresh(all, g->algorithm);
    for (size_t k = 0; k < all->count; k++)
        if (hm__g_takes(&all->traces[k], g->algorithm, fresh))
            traces[t->traces.count++] = all->traces[k];
    return 0;
}

static int trial_fit_without(struct holdout_trial *t, size_t m, struct hm_err *err)
{
    struct hm_converge_settings s = t->settings->converge;

    s.best_given = true;
    s.best = t->best;
    s.level = t->level;
    s.leave_out = t->ms[m];
    return t->without[m] ? 0 : hm_convergence_new(&t->traces, &s, &t->without[m], err);
}

/* ---- leaving an m out ------------------------------------------------------------------------ */

static int trial_leave_out(struct holdout_trial *t, size_t m, struct hm_g_error *ret,
                           struct hm_err *err)
{
    struct hm_error_list errors = {0};
    size_t covered = 0;
    int rc = trial_fit_without(t, m, err);

    *ret = (struct hm_g_error){.m = t->ms[m], .inside = m > 0 && m + 1 < t->m_count};
    for (size_t k = 0; rc == 0 && k < t->traces.count; k++)
        if (t->traces.traces[k].m == t->ms[m])
            rc = hm__hold_out_trace(t->without[m], 0, &t->traces.traces[k], t->best, &errors,
                                    &covered, err);
    for (size_t k = 0; rc == 0 && ret->inside && k < errors.count; k++)
        rc = error_list_add(&t->inside, errors.values[k], err);
    if (rc == 0 && errors.count > 0) {
        ret->points = errors.count;
        ret->rms = sqrt(errors.squares / (double)errors.count);
        ret->median = hm__error_list_median(&errors, 0);
        ret->covered = (double)covered / (double)errors.count;
    }
    hm__free(errors.values);
    return rc;
}

static int trial_leave_each_out(struct holdout_trial *t, struct hm_arena *arena,
                                struct hm_g_holdout *out, struct hm_err *err)
{
    double only = t->settings->converge.leave_out;
    int rc = 0;

    out->left_out = hm__arena_alloc(arena, t->m_count + 1, sizeof(*out->left_out));
    if (!out->left_out)
        return hm__fail_nomem(err);
    for (size_t m = 0; rc == 0 && m < t->m_count && t->m_count > 2; m++) {
        if (only > 0 && only != t->ms[m])
            continue;
        if ((rc = hm__budget_check("traces", err)))
            break;
        rc = trial_leave_out(t, m, &out->left_out[out->left_out_count], err);
        if (rc == 0 && m + 1 == t->m_count)
            out->outside = out->left_out[out->left_out_count].median;
        out->left_out_count++;
    }
    out->inside = hm__error_list_median(&t->inside, 0);
    return rc;
}

/* ---- looking ahead --------------------------------------------------------------------------- */

/* One trace, and the values to which small models are fitted to predict its later points. */
struct trace_view {
    const struct hm_trace *trace;
    /*
     * ln(P - P*) of each point, and the loss curve g fitted to other numbers of workers; g is NULL
     * if there is no such fit.
     */
    double *y, *g;
};

static size_t shape_row(const struct trace_view *v, size_t kind, double i, double g, double *row)
{
    row[0] = 1;
    switch (kind) {
    case 0:
        row[1] = i;
        return 2;
    case 1:
        row[1] = sqrt(i);
        return 2;
    case 2:
        row[1] = log(i);
        return 2;
    case 3:
        row[1] = i / v->trace->iteration[v->trace->count - 1];
        row[2] = log(i);
        return 3;
    default:
        row[1] = g;
        return v->g ? 2 : 0;
    }
}

/*
 * Fits one kind of small model to the points from..to-1 of a trace. Returns false if these points
 * do not determine its parameters.
 */
static bool shape_fit(const struct trace_view *v, size_t kind, size_t from, size_t to,
                      double *theta)
{
    struct hm_lsq lsq;
    double row[SHAPE_TERMS + 1];
    size_t column, count = shape_row(v, kind, 1, 0, row);

    if (count == 0)
        return false;
    hm__lsq_init(&lsq, count);
    hm__budget_steps(HM_STEP_ROW, (double)(to - from));
    for (size_t p = from; p < to; p++) {
        shape_row(v, kind, v->trace->iteration[p], v->g ? v->g[p] : 0, row);
        row[count] = v->y[p];
        hm__lsq_add(&lsq, row);
    }
    return hm__lsq_solve(&lsq, theta, &column);
}

static double shape_eval(const struct trace_view *v, size_t kind, double i, double g,
                         const double *theta)
{
    double row[SHAPE_TERMS + 1], sum = 0;
    size_t count = shape_row(v, kind, i, g, row);

    for (size_t k = 0; k < count; k++)
        sum += theta[k] * row[k];
    return sum;
}

/*
 * Returns the kind of model that best predicts the last `tail` points of a window from the points
 * before them.
 */
static size_t shape_best(const struct trace_view *v, size_t from, size_t to, size_t tail)
{
    size_t best = SHAPES;
    double least = INFINITY, theta[HM_TERMS_MAX];

    for (size_t kind = 0; kind < SHAPES; kind++) {
        double sum = 0;
        if (!shape_fit(v, kind, from, to - tail, theta))
            continue;
        for (size_t p = to - tail; p < to; p++) {
            double off =
                v->y[p] - shape_eval(v, kind, v->trace->iteration[p], v->g ? v->g[p] : 0, theta);
            sum += off * off;
        }
        if (sum < least) {
            least = sum;
            best = kind;
        }
    }
    return best;
}

/* Interpolates y linearly between the points p - 1 (share = 0) and p (share = 1). */
static double interpolate_points(const double *y, size_t p, double share)
{
    return y[p - 1] + share * (y[p] - y[p - 1]);
}

/*
 * Finds where `axis` (iterations or seconds) reaches `target` after point `from` of a trace. The
 * place is between the points *ret_point - 1 and *ret_point, at the fraction *ret_share of the
 * distance. Returns false if the trace ends earlier.
 */
static bool trace_find(const struct hm_trace *t, const double *axis, size_t from, double target,
                       size_t *ret_point, double *ret_share)
{
    size_t p = from + 1;

    while (p < t->count && axis[p] < target * (1 - 1e-12))
        p++;
    if (p >= t->count)
        return false;
    *ret_point = p;
    *ret_share = fmin(1, (target - axis[p - 1]) / (axis[p] - axis[p - 1]));
    return true;
}

/*
 * Predicts log10(P - P*) at `ahead` iterations or `ahead_s` seconds after the points from..to-1 of
 * a trace, and returns the error of the prediction; NaN if the trace ends earlier. For seconds,
 * iterations are assumed to take as long as in these points.
 */
static double view_error_ahead(const struct trace_view *v, const struct hm_holdout_settings *s,
                               size_t from, size_t to)
{
    const struct hm_trace *t = v->trace;
    double now = t->iteration[to - 1], then = now + s->ahead, share, theta[HM_TERMS_MAX];
    size_t point, tail = (size_t)fmin(fmax(s->ahead, 1), (double)(to - from) / 3);

    if (s->ahead_s > 0) {
        double past = t->elapsed_s[to - 1] - t->elapsed_s[from];
        then = now + s->ahead_s * (now - t->iteration[from]) / past;
        tail = (size_t)fmin(fmax(then - now, 1), (double)(to - from) / 3);
        if (!trace_find(t, t->elapsed_s, to - 1, t->elapsed_s[to - 1] + s->ahead_s, &point, &share))
            return NAN;
    } else if (!trace_find(t, t->iteration, to - 1, then, &point, &share)) {
        return NAN;
    }
    size_t kind = shape_best(v, from, to, tail);
    if (kind == SHAPES || !shape_fit(v, kind, from, to, theta))
        return NAN;
    double g = 0;
    /*
     * Value of the loss curve g at the predicted iteration, or at the end of the trace if the trace
     * ends before that iteration.
     */
    if (v->g) {
        size_t p;
        double part;
        g = trace_find(t, t->iteration, to - 1, then, &p, &part) ? interpolate_points(v->g, p, part)
                                                                 : v->g[t->count - 1];
    }
    return (shape_eval(v, kind, then, g, theta) - interpolate_points(v->y, point, share)) / log(10);
}

static int view_look_ahead(struct holdout_trial *t, const struct trace_view *v, struct hm_err *err)
{
    const struct hm_holdout_settings *s = t->settings;
    /* Number of points that a window should have. */
    double wanted = s->window > 0 ? s->window : HM_HOLD_OUT_WINDOW;
    size_t window = (size_t)fmin(fmax(wanted, 1), (double)v->trace->count);
    int rc = 0;

    for (size_t to = window; rc == 0 && to < v->trace->count; to++) {
        if ((rc = hm__budget_check("traces", err)))
            break;
        double error = view_error_ahead(v, s, to - window, to);
        if (isfinite(error))
            rc = error_list_add(&t->ahead, error, err);
    }
    return rc;
}

/*
 * Computes the loss curve g, fitted to the traces on other numbers of workers, at the points of a
 * trace.
 */
static int trial_g_shape(struct holdout_trial *t, size_t m, const struct hm_trace *trace, double *g,
                         struct hm_err *err)
{
    struct hm_g_path path;
    int rc = trial_fit_without(t, m, err);

    rc = rc ? rc
            : hm__g_path_init(&path, &t->without[m]->algorithms[0], trace->m, trace->iteration,
                              trace->count, err);
    if (rc == 0) {
        hm__g_path_values(&path, HM_NONE, 0, g);
        hm__g_path_release(&path);
    }
    return rc;
}

static int trial_look_ahead(struct holdout_trial *t, size_t m, const struct hm_trace *trace,
                            struct hm_err *err)
{
    double *y = hm__calloc(trace->count, sizeof(*y)), *g = hm__calloc(trace->count, sizeof(*g));
    struct trace_view v = {.trace = trace, .y = y, .g = t->m_count > 2 ? g : NULL};
    int rc = y && g ? 0 : hm__fail_nomem(err);

    for (size_t p = 0; rc == 0 && p < trace->count; p++)
        y[p] = hm__g_log(trace->loss[p], t->best);
    if (rc == 0 && v.g)
        rc = trial_g_shape(t, m, trace, g, err);
    rc = rc ? rc : view_look_ahead(t, &v, err);
    hm__free(y);
    hm__free(g);
    return rc;
}

static int trial_look_ahead_all(struct holdout_trial *t, struct hm_arena *arena,
                                struct hm_g_holdout *out, struct hm_err *err)
{
    int rc = 0;

    out->ahead = hm__arena_alloc(arena, t->m_count + 1, sizeof(*out->ahead));
    if (!out->ahead)
        return hm__fail_nomem(err);
    for (size_t m = 0; rc == 0 && m < t->m_count; m++) {
        size_t first = t->ahead.count;
        double squares = t->ahead.squares;
        for (size_t k = 0; rc == 0 && k < t->traces.count; k++)
            if (t->traces.traces[k].m == t->ms[m])
                rc = trial_look_ahead(t, m, &t->traces.traces[k], err);
        size_t points = t->ahead.count - first;
        if (rc || points == 0)
            continue;
        out->ahead[out->ahead_count++] =
            (struct hm_g_ahead){.m = t->ms[m],
                                .points = points,
                                .median = hm__error_list_median(&t->ahead, first),
                                .rms = sqrt((t->ahead.squares - squares) / (double)points)};
    }
    out->ahead_median = hm__error_list_median(&t->ahead, 0);
    return rc;
}

/* ---- all algorithms -------------------------------------------------------------------------- */

static int holdout_algorithm(struct hm_holdout *h, const struct hm_traces *traces,
                             const struct hm_convergence *c, size_t algorithm,
                             const struct hm_holdout_settings *settings, struct hm_err *err)
{
    struct hm_g_holdout *out = &h->algorithms[h->count++];
    struct holdout_trial t = {.settings = settings, .best = c->best, .level = c->level};
    int rc = trial_collect(&t, h->memory, traces, &c->algorithms[algorithm], err);

    out->inside = out->outside = out->ahead_median = NAN;
    out->algorithm = hm__arena_strdup(h->memory, c->algorithms[algorithm].algorithm);
    if (rc == 0 && !out->algorithm)
        rc = hm__fail_nomem(err);
    if (rc == 0 && !settings->only_ahead)
        rc = trial_leave_each_out(&t, h->memory, out, err);
    if (rc == 0 && (settings->ahead > 0 || settings->ahead_s > 0))
        rc = trial_look_ahead_all(&t, h->memory, out, err);
    for (size_t m = 0; t.without && m < t.m_count; m++)
        hm_convergence_free(t.without[m]);
    hm__free(t.inside.values);
    hm__free(t.ahead.values);
    return rc;
}

/* Creates an empty result with room for `count` algorithms. */
static int holdout_begin(struct hm_holdout **ret, size_t count, struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_holdout *h = arena ? hm__arena_alloc(arena, 1, sizeof(*h)) : NULL;

    if (h)
        h->algorithms = hm__arena_alloc(arena, count + 1, sizeof(*h->algorithms));
    if (!h || !h->algorithms) {
        hm__arena_free(arena);
        return hm__fail_nomem(err);
    }
    h->memory = arena;
    *ret = h;
    return 0;
}

/* Measures the errors for held-out numbers of workers, and the errors of predicting later points of
 * a trace. Traces on several numbers of rows are first converted to one number of rows. */
static int holdout_of_workers(struct hm_holdout *h, const struct hm_traces *traces,
                              const struct hm_convergence *c,
                              const struct hm_holdout_settings *settings, struct hm_err *err)
{
    struct hm_holdout_settings own = *settings;
    struct hm_sizes sizes;
    bool sized = hm__traces_sized(traces, settings->converge.rows);
    int rc = sized ? hm__sizes_init(&sizes, h->memory, traces, &settings->converge, err) : 0;

    own.converge.rows = 0;
    for (size_t k = 0; rc == 0 && k < c->count; k++) {
        rc = holdout_algorithm(h, sized ? &sizes.traces : traces, c, k, &own, err);
        if (own.progress)
            own.progress(own.progress_data, "algorithm", k + 1, c->count);
    }
    return rc;
}

int hm_convergence_hold_out(const struct hm_traces *traces,
                            const struct hm_holdout_settings *settings,
                            struct hm_holdout **ret_holdout, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "settings", settings, "ret_holdout", ret_holdout, NULL);
    if (bad == 0)
        bad = hm__check_range("ahead", settings->ahead, 0, DBL_MAX, err);
    if (bad == 0)
        bad = hm__check_range("ahead_s", settings->ahead_s, 0, DBL_MAX, err);
    if (bad == 0)
        bad = hm__check_range("window", settings->window, 0, DBL_MAX, err);
    if (bad)
        return bad;
    struct hm_converge_settings all = settings->converge;
    struct hm_convergence *c = NULL;
    struct hm_holdout *h = NULL;

    all.leave_out = 0;
    int rc = hm_convergence_new(traces, &all, &c, err);
    /* A fit to the traces on fewer rows may have algorithms that the fit to all traces drops. */
    rc = rc ? rc : holdout_begin(&h, traces->count, err);
    if (rc == 0 && (!settings->only_ahead || settings->ahead > 0 || settings->ahead_s > 0))
        rc = holdout_of_workers(h, traces, c, settings, err);
    hm_convergence_free(c);
    if (rc == 0 && settings->rows)
        rc = hm__hold_out_rows(h, traces, settings, err);
    if (rc) {
        hm_holdout_free(h);
        return rc;
    }
    h->left_out = !settings->only_ahead;
    h->ahead = settings->ahead;
    h->ahead_s = settings->ahead_s;
    h->window = settings->window > 0 ? settings->window : HM_HOLD_OUT_WINDOW;
    *ret_holdout = h;
    return 0;
}

void hm_holdout_free(struct hm_holdout *holdout)
{
    if (holdout)
        hm__arena_free(holdout->memory);
}
