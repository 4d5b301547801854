/*
 * Estimates the optimal loss P*, the limit that the traces converge to, when it is not given.
 *
 * For each P* that is tried, y = ln(P - P*) of every trace, where P is the loss at iteration i, is
 * fitted by a + b i + c ln i + d / i. If P* is correct, y is a straight line in i for a trace with
 * a linear rate, and a straight line in ln i for a trace that converges like a power of i. If P* is
 * too high, the end of the trace bends down; if it is too low, the end is flat. Values of P* are
 * compared by the likelihood of the loss itself, as Box and Cox compare transformations (1964): the
 * likelihood of P is that of y times the derivative of the logarithm. The criterion is
 *     ln(residual mean square) / 2 + mean y,          to be minimised.
 * Short traces contain little information about the limit; they are used only if there are no
 * longer ones. The likelihood is unbounded as P* approaches the smallest loss, as for the lognormal
 * distribution with three parameters. Therefore P* is kept below the smallest loss by at least a
 * twentieth of the drop over the last quarter of the best trace.
 *
 * All traces share one P*, because it belongs to the problem, not to the algorithm. P* is below all
 * losses; if duality gaps were recorded, it is not below the largest value of (objective - gap).
 */
#include <math.h>
#include <string.h>

#include "budget.h"
#include "converge.h"
#include "err.h"
#include "linear.h"
#include "student.h"

enum { TERMS = 4, GRID = 90, BOOTS = 40, ENOUGH_POINTS = 20, LEAST_POINTS = 8 };

/* The traces used to estimate P*, reduced to a few points, and the limits of P*. */
struct best_search {
    struct hm_g_curve *curves;
    size_t count;
    double least; /* Smallest loss of all traces. */
    /* Decrease of the loss over the last quarter of the trace with the smallest loss. */
    double drop;
    double range; /* Difference between the largest and the smallest loss. */
    /*
     * Largest amount by which P* may lie below the smallest loss; INFINITY if no trace gives a
     * lower bound of P*.
     */
    double deepest;
};

/*
 * Fits y = ln(P - P*) of one curve for a given P*. Returns the residual sum of squares and the mean
 * of y.
 */
static void curve_cost(const struct hm_g_curve *curve, double best, double *ret_square,
                       double *ret_y)
{
    struct hm_lsq lsq;
    double row[TERMS + 1], theta[HM_TERMS_MAX], sum = 0;
    size_t column;

    hm__lsq_init(&lsq, TERMS);
    for (size_t p = 0; p < curve->count; p++) {
        double i = curve->iteration[p], y = hm__g_log(curve->loss[p], best);
        double values[TERMS + 1] = {1, i / curve->iteration[curve->count - 1], log(i), 1 / i, y};
        memcpy(row, values, sizeof(row));
        hm__lsq_add(&lsq, row);
        sum += y;
    }
    double squares = hm__lsq_solve(&lsq, theta, &column) ? hm__lsq_residual(&lsq, theta) : 0;
    *ret_square = squares;
    *ret_y = sum / (double)curve->count;
}

/*
 * Returns the criterion for P*, summed over all curves. The term of a curve is multiplied by the
 * curve's weight and its residual degrees of freedom.
 */
static double search_criterion(const struct best_search *s, const double *squares, const double *ys,
                               const double *weights)
{
    double square = 0, y = 0, sum = 0;

    for (size_t c = 0; c < s->count; c++) {
        double over = weights[c] * (double)(s->curves[c].count - TERMS);
        square += weights[c] * squares[c];
        y += over * ys[c];
        sum += over;
    }
    return log(fmax(square / sum, 1e-30)) / 2 + y / sum;
}

/*
 * Returns the k-th distance to try between P* and the smallest loss; the distances are evenly
 * spaced on a logarithmic scale.
 */
static double search_depth(const struct best_search *s, size_t k)
{
    double low = fmax(1e-9 * s->range, s->drop / 20), high = fmin(10 * s->range, s->deepest);

    return low < high ? low * pow(high / low, (double)k / (GRID - 1)) : high;
}

static size_t search_least(const struct best_search *s, const double *squares, const double *ys,
                           const double *weights)
{
    size_t best = 0;
    double value = INFINITY;

    for (size_t k = 0; k < GRID; k++) {
        if (hm__budget_spent("traces"))
            break;
        double now = search_criterion(s, squares + k * s->count, ys + k * s->count, weights);
        if (now < value) {
            value = now;
            best = k;
        }
    }
    return best;
}

/* Returns the decrease of the loss over the last quarter of a trace. */
static double trace_last_drop(const struct hm_trace *t)
{
    size_t from = t->count - (t->count + 3) / 4;

    return fmax(t->loss[from > 0 ? from - 1 : 0] - t->loss[t->count - 1], 0);
}

static void search_find_limits(struct best_search *s, const struct hm_traces *traces)
{
    double high = -INFINITY, bound = -INFINITY;

    s->least = INFINITY;
    for (size_t k = 0; k < traces->count; k++) {
        const struct hm_trace *t = &traces->traces[k];
        for (size_t p = 0; p < t->count; p++) {
            if (t->loss[p] < s->least)
                s->drop = trace_last_drop(t);
            s->least = fmin(s->least, t->loss[p]);
            high = fmax(high, t->loss[p]);
        }
        bound = fmax(bound, t->bound);
    }
    s->range = fmax(high - s->least, 1e-12 * fabs(s->least));
    s->deepest = isfinite(bound) ? fmax(s->least - bound, 1e-12 * fabs(s->least)) : INFINITY;
}

static int search_gather(struct best_search *s, struct hm_arena *arena,
                         const struct hm_traces *traces, size_t points, struct hm_err *err)
{
    s->count = 0;
    s->curves = hm__arena_alloc(arena, traces->count + 1, sizeof(*s->curves));
    if (!s->curves)
        return hm__fail_nomem(err);
    for (size_t k = 0; k < traces->count; k++) {
        int rc = hm__g_thin(&s->curves[s->count], arena, &traces->traces[k], -INFINITY, err);
        if (rc)
            return rc;
        s->count += s->curves[s->count].count >= points;
    }
    return 0;
}

/*
 * Widens the interval for P* to all values whose likelihood is not significantly smaller than the
 * likelihood of the best value, and by at least one step of the grid. The best value is at index
 * `first` of the grid. The residuals of neighbouring points are similar, so a curve counts as
 * HM_G_BLOCKS residuals. All weights must be 1.
 */
static void search_widen(const struct best_search *s, const double *squares, const double *ys,
                         const double *weights, double level, size_t first, double *low,
                         double *high)
{
    double count = (double)(HM_G_BLOCKS * s->count);
    double t = hm__student_quantile(count, (1 + level) / 2);
    double most = search_criterion(s, squares + first * s->count, ys + first * s->count, weights) +
                  t * t / (2 * count);

    for (size_t k = 0; k < GRID; k++) {
        bool next = k + 1 == first || k == first + 1;
        double now = search_criterion(s, squares + k * s->count, ys + k * s->count, weights);
        if (!next && now > most)
            continue;
        *low = fmin(*low, s->least - search_depth(s, k));
        *high = fmax(*high, s->least - search_depth(s, k));
    }
    /* If the lower bound of P* is so close to the lowest loss that the grid has only one value, P*
     * is between this bound and the lowest loss. */
    if (*low == *high)
        *high = s->least;
}

/*
 * Finds P* from all curves. The interval for P* comes from repeating the search with random weights
 * of the curves (Bayesian bootstrap), and from the likelihood.
 */
static void search_profile(const struct best_search *s, const double *squares, const double *ys,
                           double level, double seed, double *weights, double *ret_best,
                           double *ret_low, double *ret_high)
{
    double found[BOOTS];

    for (size_t c = 0; c < s->count; c++)
        weights[c] = 1;
    size_t first = search_least(s, squares, ys, weights);
    *ret_best = *ret_low = *ret_high = s->least - search_depth(s, first);
    search_widen(s, squares, ys, weights, level, first, ret_low, ret_high);
    for (size_t b = 0; b < BOOTS; b++) {
        found[b] = *ret_best;
        if (hm__budget_spent("traces"))
            continue;
        hm__g_fold_weights(seed + 1, b, s->count, weights);
        found[b] = s->least - search_depth(s, search_least(s, squares, ys, weights));
    }
    *ret_low = fmin(*ret_low, hm__quantile(found, BOOTS, (1 - level) / 2));
    *ret_high = fmax(*ret_high, hm__quantile(found, BOOTS, (1 + level) / 2));
    /*
     * If the best P* is the highest value tried, the traces do not show how far the loss will still
     * decrease, and P* may have any value up to the smallest loss.
     */
    if (first == 0) {
        *ret_low = fmin(*ret_low, s->least - fmin(s->drop, s->deepest));
        *ret_high = s->least;
    }
}

int hm__g_best(const struct hm_traces *traces, double level, double seed, double *ret_best,
               double *ret_low, double *ret_high, struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct best_search s = {0};
    int rc = arena ? search_gather(&s, arena, traces, ENOUGH_POINTS, err) : hm__fail_nomem(err);

    search_find_limits(&s, traces);
    if (rc == 0 && s.count == 0)
        rc = search_gather(&s, arena, traces, LEAST_POINTS, err);
    if (rc == 0 && s.count == 0) {
        rc = hm__fail(err, HM_E_MISSING,
                      "no trace has the %d points that are needed to estimate P*", LEAST_POINTS);
        hm__err_hint(err, "give the smallest possible loss as best");
    }
    double *squares = rc ? NULL : hm__arena_alloc(arena, GRID * s.count, sizeof(*squares));
    double *ys = rc ? NULL : hm__arena_alloc(arena, GRID * s.count, sizeof(*ys));
    double *weights = rc ? NULL : hm__arena_alloc(arena, s.count, sizeof(*weights));
    if (rc == 0 && (!squares || !ys || !weights))
        rc = hm__fail_nomem(err);
    for (size_t k = 0; rc == 0 && k < GRID; k++)
        for (size_t c = 0; c < s.count && (rc = hm__budget_check("traces", err)) == 0; c++)
            curve_cost(&s.curves[c], s.least - search_depth(&s, k), &squares[k * s.count + c],
                       &ys[k * s.count + c]);
    if (rc == 0)
        search_profile(&s, squares, ys, level, seed, weights, ret_best, ret_low, ret_high);
    hm__arena_free(arena);
    return rc;
}
