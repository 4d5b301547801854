/*
 * How good g is, tried on what it has not seen, as Hemingway's authors did:
 *
 * - leave an m out: everything is fitted again without its traces, which are then predicted;
 * - look ahead: from a window of a trace, its loss so many iterations or seconds later.
 *
 * Looking ahead fits the window by several small models: straight in i, in sqrt(i), in ln i, in i
 * and ln i, and along the shape that g gives from the other m. The one is taken that predicts the
 * window's own end best from its beginning. Errors are of log10(P - P*).
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "checks.h"
#include "converge.h"
#include "err.h"
#include "linear.h"
#include "student.h"

enum { SHAPES = 5, SHAPE_TERMS = 3 };

static const double WINDOW = 50;

/* Growing list of absolute errors. */
struct errors {
    double *values;
    size_t count, room;
    double squares;
};

static int add_error(struct errors *e, double error, struct hm_err *err)
{
    if (e->count == e->room) {
        size_t room = e->room ? 2 * e->room : 256;
        double *more = hm__realloc(e->values, room, sizeof(*more));
        if (!more)
            return hm__fail_nomem(err);
        e->values = more;
        e->room = room;
    }
    e->values[e->count++] = fabs(error);
    e->squares += error * error;
    return 0;
}

static double median(struct errors *e, size_t from)
{
    return e->count > from ? hm__quantile(e->values + from, e->count - from, 0.5) : NAN;
}

/* ---- one algorithm's traces --------------------------------------------------------------------
 */

struct trial {
    const struct hm_holdout_settings *settings;
    struct hm_traces traces; /* of one algorithm */
    double best, level;
    double *ms;
    size_t m_count;
    struct hm_convergence **without; /* fitted without each m; NULL where it was not */
    struct errors inside, ahead;     /* over all */
};

static int collect(struct trial *t, struct hm_arena *arena, const struct hm_traces *all,
                   const struct hm_g *g, struct hm_err *err)
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

static int fit_without(struct trial *t, size_t m, struct hm_err *err)
{
    struct hm_converge_settings s = t->settings->converge;

    s.best_given = true;
    s.best = t->best;
    s.level = t->level;
    s.leave_out = t->ms[m];
    return t->without[m] ? 0 : hm_convergence_new(&t->traces, &s, &t->without[m], err);
}

/* ---- leaving an m out -------------------------------------------------------------------------
 */

static int predict_trace(struct trial *t, size_t m, const struct hm_trace *trace,
                         struct errors *errors, size_t *covered, struct hm_err *err)
{
    struct hm_g_prediction *p = hm__calloc(trace->count, sizeof(*p));
    int rc = p ? hm_convergence_predict(t->without[m], 0, trace->m, trace->iteration, trace->count,
                                        p, err)
               : hm__fail_nomem(err);

    for (size_t k = 0; rc == 0 && k < trace->count; k++) {
        double y = hm__g_log(trace->loss[k], t->best);
        *covered += log(p[k].low) <= y && y <= log(p[k].high);
        rc = add_error(errors, (log(p[k].loss) - y) / log(10), err);
    }
    hm__free(p);
    return rc;
}

static int leave_out(struct trial *t, size_t m, struct hm_g_error *ret, struct hm_err *err)
{
    struct errors errors = {0};
    size_t covered = 0;
    int rc = fit_without(t, m, err);

    *ret = (struct hm_g_error){.m = t->ms[m], .inside = m > 0 && m + 1 < t->m_count};
    for (size_t k = 0; rc == 0 && k < t->traces.count; k++)
        if (t->traces.traces[k].m == t->ms[m])
            rc = predict_trace(t, m, &t->traces.traces[k], &errors, &covered, err);
    for (size_t k = 0; rc == 0 && ret->inside && k < errors.count; k++)
        rc = add_error(&t->inside, errors.values[k], err);
    if (rc == 0 && errors.count > 0) {
        ret->points = errors.count;
        ret->rms = sqrt(errors.squares / (double)errors.count);
        ret->median = median(&errors, 0);
        ret->covered = (double)covered / (double)errors.count;
    }
    hm__free(errors.values);
    return rc;
}

static int leave_each_out(struct trial *t, struct hm_arena *arena, struct hm_g_holdout *out,
                          struct hm_err *err)
{
    double only = t->settings->converge.leave_out;
    int rc = 0;

    out->left_out = hm__arena_alloc(arena, t->m_count + 1, sizeof(*out->left_out));
    if (!out->left_out)
        return hm__fail_nomem(err);
    for (size_t m = 0; rc == 0 && m < t->m_count && t->m_count > 2; m++) {
        if (only > 0 && only != t->ms[m])
            continue;
        rc = leave_out(t, m, &out->left_out[out->left_out_count], err);
        if (rc == 0 && m + 1 == t->m_count)
            out->outside = out->left_out[out->left_out_count].median;
        out->left_out_count++;
    }
    out->inside = median(&t->inside, 0);
    return rc;
}

/* ---- looking ahead -----------------------------------------------------------------------------
 */

/* A trace with what the small models are made of. */
struct view {
    const struct hm_trace *trace;
    double *y, *g; /* ln(P - P*), and the shape of g; g NULL: there is none */
};

static size_t shape(const struct view *v, size_t kind, double i, double g, double *row)
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

/* Fit points from..to-1 by one kind of shape. */
static bool fit_shape(const struct view *v, size_t kind, size_t from, size_t to, double *theta)
{
    struct hm_lsq lsq;
    double row[SHAPE_TERMS + 1];
    size_t column, count = shape(v, kind, 1, 0, row);

    if (count == 0)
        return false;
    hm__lsq_init(&lsq, count);
    for (size_t p = from; p < to; p++) {
        shape(v, kind, v->trace->iteration[p], v->g ? v->g[p] : 0, row);
        row[count] = v->y[p];
        hm__lsq_add(&lsq, row);
    }
    return hm__lsq_solve(&lsq, theta, &column);
}

static double eval_shape(const struct view *v, size_t kind, double i, double g, const double *theta)
{
    double row[SHAPE_TERMS + 1], sum = 0;
    size_t count = shape(v, kind, i, g, row);

    for (size_t k = 0; k < count; k++)
        sum += theta[k] * row[k];
    return sum;
}

/* The kind that predicts the last `tail` points of a window best from those before. */
static size_t best_shape(const struct view *v, size_t from, size_t to, size_t tail)
{
    size_t best = SHAPES;
    double least = INFINITY, theta[HM_TERMS_MAX];

    for (size_t kind = 0; kind < SHAPES; kind++) {
        double sum = 0;
        if (!fit_shape(v, kind, from, to - tail, theta))
            continue;
        for (size_t p = to - tail; p < to; p++) {
            double off =
                v->y[p] - eval_shape(v, kind, v->trace->iteration[p], v->g ? v->g[p] : 0, theta);
            sum += off * off;
        }
        if (sum < least) {
            least = sum;
            best = kind;
        }
    }
    return best;
}

/* y at a place between points, by its share of the way from point p - 1 to p. */
static double between(const double *y, size_t p, double share)
{
    return y[p - 1] + share * (y[p] - y[p - 1]);
}

/* Where a trace is when `axis` has gone on to `target` after point `from`: point and share. */
static bool find(const struct hm_trace *t, const double *axis, size_t from, double target,
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
 * Predict from points from..to-1 the loss at iteration + ahead, or at elapsed + ahead_s, where the
 * iterations until then are as fast as those of the window. NaN: the trace ends before.
 */
static double error_ahead(const struct view *v, const struct hm_holdout_settings *s, size_t from,
                          size_t to)
{
    const struct hm_trace *t = v->trace;
    double now = t->iteration[to - 1], then = now + s->ahead, share, theta[HM_TERMS_MAX];
    size_t point, tail = (size_t)fmin(fmax(s->ahead, 1), (double)(to - from) / 3);

    if (s->ahead_s > 0) {
        double past = t->elapsed_s[to - 1] - t->elapsed_s[from];
        then = now + s->ahead_s * (now - t->iteration[from]) / past;
        tail = (size_t)fmin(fmax(then - now, 1), (double)(to - from) / 3);
        if (!find(t, t->elapsed_s, to - 1, t->elapsed_s[to - 1] + s->ahead_s, &point, &share))
            return NAN;
    } else if (!find(t, t->iteration, to - 1, then, &point, &share)) {
        return NAN;
    }
    size_t kind = best_shape(v, from, to, tail);
    if (kind == SHAPES || !fit_shape(v, kind, from, to, theta))
        return NAN;
    double g = 0;
    if (v->g) { /* the shape at the predicted iteration; beyond the trace, where it ends */
        size_t p;
        double part;
        g = find(t, t->iteration, to - 1, then, &p, &part) ? between(v->g, p, part)
                                                           : v->g[t->count - 1];
    }
    return (eval_shape(v, kind, then, g, theta) - between(v->y, point, share)) / log(10);
}

static int look_ahead(struct trial *t, const struct view *v, struct hm_err *err)
{
    const struct hm_holdout_settings *s = t->settings;
    double wanted = s->window > 0 ? s->window : WINDOW; /* points, and no less than one */
    size_t window = (size_t)fmin(fmax(wanted, 1), (double)v->trace->count);
    int rc = 0;

    for (size_t to = window; rc == 0 && to < v->trace->count; to++) {
        double error = error_ahead(v, s, to - window, to);
        if (isfinite(error))
            rc = add_error(&t->ahead, error, err);
    }
    return rc;
}

/* The shape of g along a trace, from the other m. */
static int shape_of_g(struct trial *t, size_t m, const struct hm_trace *trace, double *g,
                      struct hm_err *err)
{
    struct hm_g_path path;
    int rc = fit_without(t, m, err);

    rc = rc ? rc
            : hm__g_path_init(&path, &t->without[m]->algorithms[0], trace->m, trace->iteration,
                              trace->count, err);
    if (rc == 0) {
        hm__g_path_values(&path, HM_NONE, 0, g);
        hm__g_path_release(&path);
    }
    return rc;
}

static int view_trace(struct trial *t, size_t m, const struct hm_trace *trace, struct hm_err *err)
{
    double *y = hm__calloc(trace->count, sizeof(*y)), *g = hm__calloc(trace->count, sizeof(*g));
    struct view v = {.trace = trace, .y = y, .g = t->m_count > 2 ? g : NULL};
    int rc = y && g ? 0 : hm__fail_nomem(err);

    for (size_t p = 0; rc == 0 && p < trace->count; p++)
        y[p] = hm__g_log(trace->loss[p], t->best);
    if (rc == 0 && v.g)
        rc = shape_of_g(t, m, trace, g, err);
    rc = rc ? rc : look_ahead(t, &v, err);
    hm__free(y);
    hm__free(g);
    return rc;
}

static int look_ahead_all(struct trial *t, struct hm_arena *arena, struct hm_g_holdout *out,
                          struct hm_err *err)
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
                rc = view_trace(t, m, &t->traces.traces[k], err);
        size_t points = t->ahead.count - first;
        if (rc || points == 0)
            continue;
        out->ahead[out->ahead_count++] =
            (struct hm_g_ahead){.m = t->ms[m],
                                .points = points,
                                .median = median(&t->ahead, first),
                                .rms = sqrt((t->ahead.squares - squares) / (double)points)};
    }
    out->ahead_median = median(&t->ahead, 0);
    return rc;
}

/* ---- all ---------------------------------------------------------------------------------------
 */

static int try_algorithm(struct hm_holdout *h, const struct hm_traces *traces,
                         const struct hm_convergence *c, size_t algorithm,
                         const struct hm_holdout_settings *settings, struct hm_err *err)
{
    struct hm_g_holdout *out = &h->algorithms[h->count++];
    struct trial t = {.settings = settings, .best = c->best, .level = c->level};
    int rc = collect(&t, h->memory, traces, &c->algorithms[algorithm], err);

    out->inside = out->outside = out->ahead_median = NAN;
    out->algorithm = hm__arena_strdup(h->memory, c->algorithms[algorithm].algorithm);
    if (rc == 0 && !out->algorithm)
        rc = hm__fail_nomem(err);
    if (rc == 0 && !settings->only_ahead)
        rc = leave_each_out(&t, h->memory, out, err);
    if (rc == 0 && (settings->ahead > 0 || settings->ahead_s > 0))
        rc = look_ahead_all(&t, h->memory, out, err);
    for (size_t m = 0; t.without && m < t.m_count; m++)
        hm_convergence_free(t.without[m]);
    hm__free(t.inside.values);
    hm__free(t.ahead.values);
    return rc;
}

static int begin(struct hm_holdout **ret, size_t count, struct hm_err *err)
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
    rc = rc ? rc : begin(&h, c->count, err);
    for (size_t k = 0; rc == 0 && k < c->count; k++)
        rc = try_algorithm(h, traces, c, k, settings, err);
    hm_convergence_free(c);
    if (rc) {
        hm_holdout_free(h);
        return rc;
    }
    h->left_out = !settings->only_ahead;
    h->ahead = settings->ahead;
    h->ahead_s = settings->ahead_s;
    h->window = settings->window > 0 ? settings->window : WINDOW;
    *ret_holdout = h;
    return 0;
}

void hm_holdout_free(struct hm_holdout *holdout)
{
    if (holdout)
        hm__arena_free(holdout->memory);
}
