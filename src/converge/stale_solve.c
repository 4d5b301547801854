/*
 * Evaluates the model of staleness costs, and fits its parameters by least squares with the
 * Levenberg-Marquardt method. stale.c describes the model.
 */
#include "stale_work.h"

#include <math.h>
#include <string.h>

#include "budget.h"

enum { STALE_STEPS = 60 };

static const double STALE_PULL = 1e-6;
/*
 * Parameters of the kernel that smooths residuals: its width in ln i, the number of widths after
 * which it is cut off, and the weight of a prior residual of 0 relative to one point.
 */
static const double WIDTH = 0.2, REACH = 4, FEW = 0.02;

/* ---- the model ------------------------------------------------------------------------------- */

/*
 * Computes the factors by which the parameters level, growth and power are multiplied in ln c,
 * where c is the cost of staleness. The staleness of asynchronous runs is INFINITY.
 */
static void stale_features(double exponent, double staleness, double m, double x[STALE_COUNT])
{
    x[STALE_LEVEL] = 1;
    x[STALE_GROWTH] = isinf(staleness) ? 0 : pow(staleness, exponent);
    x[STALE_POWER] = log(m);
}

double hm__stale_log_cost(const double *theta, double exponent, double staleness, double m)
{
    double x[STALE_COUNT], sum = 0;

    stale_features(exponent, staleness, m, x);
    for (size_t k = 0; k < STALE_COUNT; k++)
        sum += theta[k] * x[k];
    return sum;
}

/*
 * Returns the value of `shape`, a loss curve of fresh runs, at ln i, interpolated on the grid and
 * constant outside it. *ret_slope is the derivative with respect to ln i; ret_slope may be NULL.
 */
static double stale_shape_at(const struct stale_work *w, const struct stale_shape *shape,
                             double log_i, double *ret_slope)
{
    double at = (log_i - w->first) / w->step, inside = fmin(fmax(at, 0), STALE_GRID - 1);
    size_t k = (size_t)fmin(floor(inside), STALE_GRID - 2);
    double slope = shape->y[k + 1] - shape->y[k];

    if (ret_slope)
        *ret_slope = at == inside ? slope / w->step : 0;
    return shape->y[k] + slope * (inside - (double)k);
}

/*
 * Fits a straight line in ln i to the difference between the measured fresh curves and the computed
 * loss curve `shape` on the same number of workers.
 */
static struct hm_g_bend stale_shape_bend(const struct stale_work *w,
                                         const struct stale_shape *shape)
{
    struct hm_g_line line = {0};

    for (size_t c = 0; c < w->g->curve_count; c++) {
        const struct hm_g_curve *curve = &w->g->curves[c];
        for (size_t p = 0; curve->m == shape->path.m && p < curve->count; p++) {
            double x = log(curve->iteration[p]);
            hm__g_line_add(&line, w->fresh_chance[c], x,
                           hm__g_log(curve->loss[p], w->best) - stale_shape_at(w, shape, x, NULL));
        }
    }
    return hm__g_line_bend(&line);
}

/*
 * Adds the remaining residuals of the measured fresh curves to the computed loss curve `shape`. The
 * residuals are smoothed with a kernel (Nadaraya and Watson 1964) and shrunk towards 0 at
 * iterations with few points.
 */
static void stale_shape_add_residuals(const struct stale_work *w, struct stale_shape *shape)
{
    double off[STALE_GRID] = {0}, weight[STALE_GRID];

    for (size_t p = 0; p < STALE_GRID; p++)
        weight[p] = FEW;
    for (size_t c = 0; c < w->g->curve_count; c++) {
        const struct hm_g_curve *curve = &w->g->curves[c];
        for (size_t p = 0; curve->m == shape->path.m && p < curve->count; p++) {
            double x = log(curve->iteration[p]);
            double rest = hm__g_log(curve->loss[p], w->best) - stale_shape_at(w, shape, x, NULL);
            double at = (x - w->first) / w->step, reach = REACH * WIDTH / w->step;
            size_t end = (size_t)fmin(at + reach, STALE_GRID - 1);
            for (size_t k = (size_t)fmax(at - reach, 0); k <= end; k++) {
                double apart = ((double)k - at) * w->step / WIDTH;
                double near = w->fresh_chance[c] * exp(-apart * apart / 2);
                off[k] += near * rest;
                weight[k] += near;
            }
        }
    }
    for (size_t p = 0; p < STALE_GRID; p++)
        shape->y[p] += off[p] / weight[p];
}

void hm__stale_fill_shapes(struct stale_work *w, size_t draw)
{
    for (size_t k = 0; k < w->shape_count && !hm__budget_spent("traces"); k++) {
        struct stale_shape *shape = &w->shapes[k];
        hm__g_path_values(&shape->path, draw, 0, shape->y);
        struct hm_g_bend bend = shape->known ? stale_shape_bend(w, shape) : shape->bend;
        for (size_t p = 0; p < STALE_GRID; p++)
            shape->y[p] += hm__g_bent(&bend, w->iterations[p]);
        if (shape->known)
            stale_shape_add_residuals(w, shape);
    }
}

/* ---- least squares --------------------------------------------------------------------------- */

double hm__stale_curve_weight(const struct stale_work *w, size_t c)
{
    return w->staleness[c] == w->held ? 0
                                      : w->weight[c] * w->chance[c] / (double)w->curves[c].count;
}

double hm__stale_residual(const struct stale_work *w, size_t c, size_t p, double cost,
                          double *ret_slope)
{
    const struct hm_g_curve *curve = &w->curves[c];
    double y = hm__g_log(curve->loss[p], w->best);

    return y - stale_shape_at(w, w->shape[c], log(curve->iteration[p]) - cost, ret_slope);
}

double hm__stale_curve_cost(const struct stale_work *w, const double *theta, size_t c)
{
    double cost = hm__stale_log_cost(theta, w->exponent, w->staleness[c], w->curves[c].m);

    return fmin(fmax(cost, STALE_LEAST), STALE_MOST);
}

static double stale_loss(const struct stale_work *w, const double *theta)
{
    double sum = 0;

    for (size_t k = 0; k < STALE_COUNT; k++)
        sum += STALE_PULL * theta[k] * theta[k];
    for (size_t c = 0; c < w->count; c++) {
        double weight = hm__stale_curve_weight(w, c);
        double cost = hm__stale_curve_cost(w, theta, c);
        for (size_t p = 0; weight > 0 && p < w->curves[c].count; p++) {
            double off = hm__stale_residual(w, c, p, cost, NULL);
            sum += weight * off * off;
        }
    }
    return sum;
}

/*
 * Builds the normal equations a x = b for one Levenberg-Marquardt step in the parameters in use,
 * and returns the number of these parameters.
 */
static size_t stale_linearise(const struct stale_work *w, const double *theta,
                              double a[HM_TERMS_MAX][HM_TERMS_MAX], double *b,
                              size_t used[STALE_COUNT])
{
    size_t count = 0;

    for (size_t k = 0; k < STALE_COUNT; k++)
        if (w->uses[k]) {
            memset(a[count], 0, sizeof(a[count]));
            a[count][count] = STALE_PULL;
            b[count] = -STALE_PULL * theta[k];
            used[count++] = k;
        }
    for (size_t c = 0; c < w->count; c++) {
        double x[STALE_COUNT], weight = hm__stale_curve_weight(w, c);
        double cost = hm__stale_curve_cost(w, theta, c);
        stale_features(w->exponent, w->staleness[c], w->curves[c].m, x);
        for (size_t p = 0; weight > 0 && p < w->curves[c].count; p++) {
            double slope, off = hm__stale_residual(w, c, p, cost, &slope);
            for (size_t j = 0; j < count; j++) {
                /* Derivative of the model with respect to the j-th parameter in use. */
                double along = -slope * x[used[j]];
                b[j] += weight * along * off;
                for (size_t l = 0; l <= j; l++)
                    a[j][l] += weight * along * -slope * x[used[l]];
            }
        }
    }
    return count;
}

double hm__stale_minimise(const struct stale_work *w, double *theta)
{
    double a[HM_TERMS_MAX][HM_TERMS_MAX], b[HM_TERMS_MAX], move[HM_TERMS_MAX];
    /* If the budget is spent, the result is not used, and the loop below ends at once. */
    double now = hm__budget_spent("traces") ? 0 : stale_loss(w, theta), damping = 1e-3;
    size_t used[STALE_COUNT];

    for (int s = 0; s < STALE_STEPS; s++) {
        if (hm__budget_spent("traces"))
            break;
        double before = now;
        size_t count = stale_linearise(w, theta, a, b, used);
        for (int tries = 0; tries < 12 && !hm__budget_spent("traces"); tries++, damping *= 4) {
            double next[STALE_COUNT];
            memcpy(next, theta, sizeof(next));
            if (!hm__g_damped_step(count, a, b, damping, move))
                continue;
            for (size_t j = 0; j < count; j++)
                next[used[j]] += move[j];
            double then = stale_loss(w, next);
            if (!(then < now))
                continue;
            memcpy(theta, next, sizeof(next));
            now = then;
            damping = fmax(damping / 10, 1e-12);
            break;
        }
        if (before - now <= 1e-12 * before)
            break;
    }
    return now;
}

void hm__stale_fit(const struct stale_work *w, double theta[STALE_COUNT])
{
    /*
     * Starting values of the fit. Each is the value of ln c that the first parameter in use
     * contributes to the curve with the largest cost c of staleness.
     */
    static const double starts[] = {0, 0.5, 1.5, -0.5};
    double least = INFINITY, most[STALE_COUNT] = {1};
    size_t first = STALE_LEVEL;

    for (size_t c = 0; c < w->count; c++) {
        double x[STALE_COUNT];
        stale_features(w->exponent, w->staleness[c], w->curves[c].m, x);
        for (size_t k = 0; k < STALE_COUNT; k++)
            most[k] = fmax(most[k], x[k]);
    }
    while (!w->uses[first])
        first++;
    for (size_t s = 0; s < sizeof(starts) / sizeof(starts[0]); s++) {
        double own[STALE_COUNT] = {0};
        own[first] = starts[s] / most[first];
        double reached = hm__stale_minimise(w, own);
        if (reached < least) {
            least = reached;
            memcpy(theta, own, sizeof(own));
        }
    }
}

double hm__stale_error(const struct stale_work *w, const double *theta, double only)
{
    double squares = 0, weights = 0;

    for (size_t c = 0; c < w->count; c++) {
        double cost = hm__stale_curve_cost(w, theta, c);
        if (!isnan(only) && w->staleness[c] != only)
            continue;
        for (size_t p = 0; p < w->curves[c].count; p++) {
            double off = hm__stale_residual(w, c, p, cost, NULL);
            squares += w->weight[c] * off * off / (double)w->curves[c].count;
        }
        weights += w->weight[c];
    }
    return sqrt(squares / weights) / log(10);
}
