/*
 * Computes the path of the loss (the loss as a function of the iteration) of an algorithm on m
 * workers. There is one path for each random draw of the fit.
 *
 * If traces on m workers exist, a path follows one of them, shifted by the noise that remains in
 * the mean of these traces. Beyond the end of the trace, it continues like the draw of the fitted
 * loss curve g(i, m), where i is the iteration. If m was not measured, a path is the draw of g(i,
 * m), shifted by a random error as large as the errors for held-out numbers of workers. If every
 * trace on m workers, or on the neighbouring measured numbers, diverged, the path ends at the
 * iteration where they diverged. Limit: paths are evaluated on a grid of HM_GRID_MAX iterations, up
 * to eight times the longest trace.
 */
#include <math.h>
#include <string.h>

#include "budget.h"
#include "err.h"
#include "runner.h"

/*
 * A draw of the fit that never reaches the target loss counts as this multiple of the mean time of
 * the draws that reach it.
 */
static const double NEVER = 10;
/* Lower limit of the time of a run in a draw of the fits, as a fraction of its mean. */
static const double LEAST_TIME = 0.1;

/*
 * Sets the iterations of the grid: first consecutive iterations, then increasing steps, up to eight
 * times the last measured iteration.
 */
static void grid_init(struct hm_grid *grid, double last)
{
    double cap = fmax(8 * last, 4 * HM_GRID_EACH);
    size_t rest = HM_GRID_MAX - HM_GRID_EACH;
    double ratio = pow(cap / HM_GRID_EACH, 1.0 / (double)rest);

    grid->count = 0;
    while (grid->count < HM_GRID_EACH) {
        grid->iterations[grid->count] = (double)grid->count + 1;
        grid->count++;
    }
    double next = HM_GRID_EACH;
    while (grid->count < HM_GRID_MAX) {
        next = fmax(next * ratio, grid->iterations[grid->count - 1] + 1);
        grid->iterations[grid->count++] = floor(next);
    }
}

/*
 * Evaluates a measured curve on the grid of iterations: ln(P - P*), the logarithm of the excess
 * loss, is interpolated linearly in ln i. It is INFINITY at grid points before the first point of
 * the curve. Returns the number of grid points up to the end of the curve.
 */
static size_t grid_lay_curve(const struct hm_grid *grid, const struct hm_g_curve *curve,
                             double best, double *y)
{
    double last = curve->iteration[curve->count - 1];
    size_t p = 0, c = 0;

    for (; p < grid->count && grid->iterations[p] <= last; p++) {
        double i = grid->iterations[p];
        while (curve->iteration[c] < i)
            c++;
        y[p] = INFINITY;
        if (curve->iteration[c] == i)
            y[p] = hm__g_log(curve->loss[c], best);
        else if (c > 0)
            y[p] = hm__g_log(curve->loss[c - 1], best) +
                   (hm__g_log(curve->loss[c], best) - hm__g_log(curve->loss[c - 1], best)) *
                       log(i / curve->iteration[c - 1]) /
                       log(curve->iteration[c] / curve->iteration[c - 1]);
    }
    return p;
}

/* The traces on m workers, evaluated on the grid. */
struct laid_curves {
    /*
     * y[c * grid.count + p] is ln(P - P*), the logarithm of the excess loss, of trace c at grid
     * point p.
     */
    double *y;
    size_t *ends; /* Number of grid points up to the end of each trace. */
    /*
     * True for each trace that diverged; a path that follows such a trace ends where the trace
     * ends.
     */
    bool *diverged;
};

static void laid_curves_release(struct laid_curves *laid)
{
    hm__free(laid->y);
    hm__free(laid->ends);
    hm__free(laid->diverged);
}

static int laid_curves_init(struct laid_curves *laid, size_t curves, size_t points,
                            struct hm_err *err)
{
    laid->y = hm__calloc(curves * points, sizeof(double));
    laid->ends = hm__calloc(curves, sizeof(size_t));
    laid->diverged = hm__calloc(curves, sizeof(bool));
    return laid->y && laid->ends && laid->diverged ? 0 : hm__fail_nomem(err);
}

static void laid_curves_fill(struct hm_runner *r, double best, struct laid_curves *laid)
{
    for (size_t c = 0; c < r->g->curve_count; c++) {
        const struct hm_g_curve *curve = &r->g->curves[c];
        if (curve->m != r->m)
            continue;
        laid->ends[r->curves] =
            grid_lay_curve(&r->grid, curve, best, laid->y + r->curves * r->grid.count);
        laid->diverged[r->curves++] = curve->diverged;
    }
}

/*
 * Returns the slope of ln(P - P*) of a trace with respect to ln i, where i is the iteration, over
 * the second half of the trace's range of ln i.
 */
static double curve_last_slope(const struct hm_grid *grid, const double *curve, size_t end)
{
    double half = sqrt(grid->iterations[end - 1]);
    size_t from = end - 1;

    while (from > 0 && grid->iterations[from - 1] >= half && isfinite(curve[from - 1]))
        from--;
    if (from == end - 1)
        return 0;
    double fall = curve[from] - curve[end - 1];
    return fmax(fall, 0) / log(grid->iterations[end - 1] / grid->iterations[from]);
}

/*
 * Replaces the path y with a trace, shifted by `away`. On entry, y must hold the values of the
 * fitted loss curve g. Beyond the end of the trace, the path decreases by as much as g decreases. A
 * path is the lowest loss so far and cannot increase; if g increases, the path continues as a power
 * of the iteration, with the last slope of the trace.
 */
static void path_follow_curve(const struct hm_grid *grid, const struct laid_curves *laid, size_t c,
                              double away, double *y)
{
    const double *curve = laid->y + c * grid->count;
    size_t end = laid->ends[c];
    double g = end > 0 ? y[end - 1] : y[0],
           slope = end > 0 ? curve_last_slope(grid, curve, end) : 0;

    for (size_t p = 0; p < end; p++)
        y[p] = curve[p] + away;
    for (size_t p = end; p < grid->count; p++) {
        double fall = y[p] - g;
        g = y[p];
        if (fall >= 0 && p > 0)
            fall = -slope * log(grid->iterations[p] / grid->iterations[p - 1]);
        y[p] = laid->diverged[c] ? INFINITY : p > 0 ? y[p - 1] + fall : y[p] + away;
    }
}

static void path_keep_least(double *y, size_t count)
{
    for (size_t p = 1; p < count; p++)
        y[p] = y[p] < y[p - 1] ? y[p] : y[p - 1];
}

/*
 * Returns the iteration after which all traces on m workers have diverged; INFINITY if at least one
 * trace has not diverged.
 */
static double last_before_divergence(const struct hm_g *g, double m)
{
    double last = 0;

    for (size_t c = 0; c < g->curve_count; c++) {
        const struct hm_g_curve *curve = &g->curves[c];
        if (curve->m == m)
            last = fmax(last, curve->diverged ? curve->iteration[curve->count - 1] : INFINITY);
    }
    return last > 0 ? last : INFINITY;
}

/*
 * Returns the iteration after which a path on m workers is assumed to diverge: the larger of the
 * values for the two neighbouring measured numbers of workers or, outside the measured range, the
 * value for the nearest number.
 */
static double last_valid_iteration(const struct hm_g *g, double m)
{
    size_t right = 0;

    while (right + 1 < g->m_count && g->m[right] < m)
        right++;
    double last = last_before_divergence(g, g->m[right]);
    if (right == 0 || g->m[right] == m || g->m[right] < m)
        return last;
    return fmax(last, last_before_divergence(g, g->m[right - 1]));
}

/* Sets a path to INFINITY after the iteration at which it is assumed to diverge. */
static void path_cut(const struct hm_runner *r, double *y)
{
    double last = last_valid_iteration(r->g, r->m);

    for (size_t p = 0; p < r->grid.count; p++)
        if (r->grid.iterations[p] > last)
            y[p] = INFINITY;
}

/* Changes the path of a draw of the fit so that it needs `factor` times as many iterations. */
static void runner_stretch(struct hm_runner *r, size_t draw, double factor)
{
    double y[HM_GRID_MAX];

    for (size_t p = 0; p < r->grid.count; p++)
        y[p] = hm__runner_reach(r, draw, r->grid.iterations[p] / factor);
    memcpy(r->y + draw * r->grid.count, y, r->grid.count * sizeof(*y));
}

static void runner_draw(struct hm_runner *r, const struct hm_g_path *path,
                        const struct laid_curves *laid, const struct hm_g_bend *bend,
                        struct hm_random *random)
{
    size_t count = r->grid.count, known = hm__g_find(r->g, r->m);
    double spread =
        known == HM_NONE ? hm__g_spread(r->g, r->m) : r->g->spread[known] / sqrt((double)r->curves);
    double bent[HM_GRID_MAX];

    spread = hypot(spread, r->g->size.spread);
    for (size_t p = 0; p < count; p++)
        bent[p] = hm__g_bent(bend, r->grid.iterations[p]);
    for (size_t d = 0; d < HM_G_DRAWS; d++) {
        if (hm__budget_spent("m"))
            break;
        double away = spread * hm__random_normal(random), *y = r->y + d * count;
        size_t c = r->curves ? d % r->curves : 0, end = r->curves ? laid->ends[c] : 0;
        hm__g_path_values(path, d < r->g->draw_count ? d : HM_NONE, end > 0 ? end - 1 : 0, y);
        if (r->curves > 0)
            path_follow_curve(&r->grid, laid, c, away, y);
        else
            for (size_t p = 0; p < count; p++)
                y[p] += away + bent[p];
        if (r->curves == 0)
            path_cut(r, y);
        path_keep_least(y, count);
        if (r->g->size.shift > 0)
            runner_stretch(r, d, exp(r->g->size.shift * hm__random_normal(random)));
    }
}

static int runner_fill(struct hm_runner *r, struct laid_curves *laid, double best, double seed,
                       struct hm_err *err)
{
    struct hm_g_path path;
    struct hm_g_bend bend = {0};
    struct hm_random random;

    laid_curves_fill(r, best, laid);
    int rc = r->curves > 0 ? 0 : hm__g_bend(r->g, r->m, best, &bend, err);
    rc = rc ? rc : hm__g_path_init(&path, r->g, r->m, r->grid.iterations, r->grid.count, err);
    if (rc)
        return rc;
    hm__random_init(&random, (uint64_t)seed, 0x800000000u + (uint64_t)r->m);
    runner_draw(r, &path, laid, &bend, &random);
    hm__g_path_release(&path);
    return 0;
}

static size_t g_count_curves(const struct hm_g *g, double m)
{
    size_t count = 0;

    for (size_t c = 0; c < g->curve_count; c++)
        count += g->curves[c].m == m;
    return count;
}

int hm__runner_init(struct hm_runner *r, const struct hm_g *g, double m, double best, double seed,
                    struct hm_err *err)
{
    size_t curves = g_count_curves(g, m) + 1;

    r->g = g;
    r->name = g->algorithm;
    r->m = m;
    grid_init(&r->grid, g->last);
    r->y = hm__calloc(HM_G_DRAWS * r->grid.count, sizeof(*r->y));
    struct laid_curves laid = {0};
    int rc = laid_curves_init(&laid, curves, r->grid.count, err);
    rc = rc ? rc : r->y ? runner_fill(r, &laid, best, seed, err) : hm__fail_nomem(err);
    laid_curves_release(&laid);
    return rc;
}

void hm__runner_vary(struct hm_runner *r, struct hm_pace_spread spread, double seed, size_t stream)
{
    struct hm_random random;

    r->spread = spread;
    hm__random_init(&random, (uint64_t)seed, 0xb00000000u + stream);
    for (size_t d = 0; d < HM_G_DRAWS; d++)
        r->luck[d] = hm__random_normal(&random);
}

/* Returns the time of a number of iterations in one draw of the fit, relative to its mean; the
 * result is at least LEAST_TIME. */
static double runner_luck(const struct hm_runner *r, size_t draw, double iterations)
{
    double away = r->luck[draw] * r->spread.deviation / sqrt(fmax(iterations, 1));

    return fmax(1 + away, LEAST_TIME);
}

double hm__runner_time(const struct hm_runner *r, size_t draw, double iterations)
{
    return iterations * r->paces[draw] * runner_luck(r, draw, iterations);
}

double hm__runner_within(const struct hm_runner *r, size_t draw, double seconds)
{
    double usual = seconds / r->paces[draw];

    return floor(usual / runner_luck(r, draw, usual) + 1e-9);
}

void hm__runner_delay(struct hm_runner *r, const struct hm_g_stale *cost, double staleness)
{
    for (size_t d = 0; d < HM_G_DRAWS; d++)
        runner_stretch(r, d, exp(hm__g_stale_log_cost(cost, staleness, r->m, d)));
}

void hm__runner_release(struct hm_runner *runner)
{
    hm__free(runner->y);
    runner->y = NULL;
}

/*
 * Returns the index of the first grid point at which a decreasing path is at most `level`; `count`
 * if there is none.
 */
static size_t path_first_at(const double *y, size_t count, double level)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (y[middle] <= level)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

double hm__grid_hit(const struct hm_grid *grid, const double *y, double level)
{
    size_t p = path_first_at(y, grid->count, level);

    if (p == grid->count)
        return INFINITY;
    if (p == 0 || isinf(y[p - 1]) || !(y[p - 1] > y[p]))
        return grid->iterations[p];
    double at = (y[p - 1] - level) / (y[p - 1] - y[p]);
    return grid->iterations[p - 1] + at * (grid->iterations[p] - grid->iterations[p - 1]);
}

double hm__runner_hit(const struct hm_runner *r, size_t draw, double level)
{
    return ceil(hm__grid_hit(&r->grid, r->y + draw * r->grid.count, level) - 1e-9);
}

double hm__runner_reach(const struct hm_runner *r, size_t draw, double iterations)
{
    const double *y = r->y + draw * r->grid.count;
    size_t p = 0;

    while (p < r->grid.count && r->grid.iterations[p] <= iterations)
        p++;
    if (p == 0)
        return INFINITY;
    if (p == r->grid.count || isinf(y[p - 1]))
        return y[p - 1];
    double at = (iterations - r->grid.iterations[p - 1]) /
                (r->grid.iterations[p] - r->grid.iterations[p - 1]);
    return fmin(y[p - 1], (1 - at) * y[p - 1] + at * y[p]);
}

double hm__runner_times(const struct hm_runner *r, double level, size_t step, double *times,
                        size_t *ret_there)
{
    size_t count = HM_G_DRAWS / step, there = 0;
    double sum = 0;

    for (size_t d = 0; d < count; d++) {
        times[d] = hm__runner_time(r, d * step, hm__runner_hit(r, d * step, level));
        sum += isfinite(times[d]) ? times[d] : 0;
        there += isfinite(times[d]) != 0;
    }
    if (ret_there)
        *ret_there = there;
    if (there == 0)
        return INFINITY;
    double never = NEVER * sum / (double)there;
    for (size_t d = 0; d < count; d++)
        times[d] = isfinite(times[d]) ? times[d] : never;
    return (sum + never * (double)(count - there)) / (double)count;
}

int hm__runner_smooth(const struct hm_runner *r, double best, double *y, struct hm_err *err)
{
    struct hm_g_path path;
    struct hm_g_bend bend;
    int rc = hm__g_bend(r->g, r->m, best, &bend, err);

    rc = rc ? rc : hm__g_path_init(&path, r->g, r->m, r->grid.iterations, r->grid.count, err);
    if (rc)
        return rc;
    hm__g_path_values(&path, HM_NONE, 0, y);
    hm__g_path_release(&path);
    for (size_t p = 0; p < r->grid.count; p++)
        y[p] += hm__g_bent(&bend, r->grid.iterations[p]);
    path_cut(r, y);
    path_keep_least(y, r->grid.count);
    return 0;
}
