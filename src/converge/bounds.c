/*
 * Computes intervals for the parameters of a loss curve g(i, m). An interval covers the random
 * draws, which show how the parameters would differ if other numbers of workers had been measured.
 * It is never narrower than the residuals of the fit allow: if the loss is the same on every number
 * of workers, all draws are equal, although the parameters are known only as well as g describes
 * the points.
 *
 * The minimum width comes from linear least squares at the fitted parameters. With x_k the
 * derivative of y = ln(P - P*) with respect to parameter k, s the root mean square of the
 * residuals, A the weighted mean of x x' over the points, and N the number of independent
 * residuals,
 *     variance of parameter k = s^2 / N (A^-1)_kk.
 * Neighbouring points of a trace have similar residuals, so a trace counts as HM_G_BLOCKS
 * residuals. Traces that differ much less than the residuals count as one. A term that is not in
 * use has the variance that it would have as the only unknown parameter, s^2 / (N A_kk).
 *
 * A parameter without influence on any point, such as a power of m if m is 1 in all traces, has no
 * interval.
 *
 * Limit: with more than HM_TERMS_MAX parameters in use, each is treated as the only unknown.
 */
#include <math.h>
#include <string.h>

#include "budget.h"
#include "converge.h"
#include "err.h"
#include "student.h"

/* Relative addition to the diagonal of the information matrix A, so that collinear terms have a
 * finite variance. */
static const double RIDGE = 1e-6;
/* Curves count as equal if their distance is below this fraction of the size of the residuals. */
static const double ALIKE = 0.1;

struct bounds_work {
    size_t count;
    double *a; /* Matrix A, the weighted mean of x x', with count rows of count values. */
    /*
     * slopes[k * HM_G_CURVE + p] is the derivative of y = g(i, m) with respect to parameter k, at
     * point p of the current curve.
     */
    double *slopes;
    double weight;   /* Sum of the weights of all points. */
    double residual; /* Weighted sum of squared residuals. */
};

/*
 * Computes y = g(i, m) along a path of iterations, and the derivative of y with respect to each
 * parameter by forward differences, which are exact for a sum of terms.
 */
static void bounds_differentiate(struct hm_g_path *path, const struct hm_g *g, double *y,
                                 double *slopes)
{
    struct hm_g_parameter moved[HM_G_PARAMETERS];
    struct hm_g other = *g;
    double there[HM_G_CURVE];

    memcpy(moved, g->parameters, g->parameter_count * sizeof(*moved));
    other.parameters = moved;
    path->g = &other;
    hm__g_path_values(path, HM_NONE, 0, y);
    for (size_t k = 0; k < g->parameter_count; k++) {
        double width = 1e-5 * fmax(1, fabs(moved[k].value));
        moved[k].value += width;
        hm__g_path_values(path, HM_NONE, 0, there);
        moved[k].value = g->parameters[k].value;
        for (size_t p = 0; p < path->count; p++)
            slopes[k * HM_G_CURVE + p] = (there[p] - y[p]) / width;
    }
    path->g = g;
}

/* Adds the points of one curve, which start at index `first` of the data, to the sums. */
static int bounds_add_curve(struct bounds_work *w, const struct hm_g *g,
                            const struct hm_g_data *data, size_t c, size_t first,
                            struct hm_err *err)
{
    const struct hm_g_curve *curve = &g->curves[c];
    struct hm_g_path path;
    double y[HM_G_CURVE];
    int rc = hm__g_path_init(&path, g, curve->m, curve->iteration, curve->count, err);

    if (rc)
        return rc;
    bounds_differentiate(&path, g, y, w->slopes);
    hm__g_path_release(&path);
    for (size_t p = 0; p < curve->count; p++) {
        double weight = data->weight[first + p], off = data->y[first + p] - y[p];
        w->weight += weight;
        w->residual += weight * off * off;
        for (size_t k = 0; k < w->count; k++)
            for (size_t l = 0; l <= k; l++)
                w->a[k * w->count + l] +=
                    weight * w->slopes[k * HM_G_CURVE + p] * w->slopes[l * HM_G_CURVE + p];
    }
    return 0;
}

/* Returns whether the points of two curves differ much less than the residuals, whose size is
 * `noise`. */
static bool curves_are_alike(const struct hm_g_curve *a, const struct hm_g_curve *b, double best,
                             double noise)
{
    double sum = 0;

    if (a->count != b->count)
        return false;
    for (size_t p = 0; p < a->count; p++) {
        double off = hm__g_log(a->loss[p], best) - hm__g_log(b->loss[p], best);
        if (a->iteration[p] != b->iteration[p])
            return false;
        sum += off * off;
    }
    return sum <= ALIKE * ALIKE * noise * noise * (double)a->count;
}

/* Returns the number of curves that differ from all earlier curves. */
static double count_different_curves(const struct hm_g *g, double best, double noise)
{
    double count = 0;

    for (size_t c = 0; c < g->curve_count; c++) {
        size_t d = 0;
        if (hm__budget_spent("traces"))
            break;
        while (d < c && !curves_are_alike(&g->curves[c], &g->curves[d], best, noise))
            d++;
        count += d == c;
    }
    return count;
}

/*
 * Sets inverse[k] to (A^-1)_kk over the parameters in use, and to 1 / A_kk for the other
 * parameters. It is 0 for a parameter without any influence on the points.
 */
static void bounds_invert(const struct bounds_work *w, const struct hm_g *g, double *inverse)
{
    double l[HM_TERMS_MAX][HM_TERMS_MAX], one[HM_TERMS_MAX];
    size_t used[HM_G_PARAMETERS], count = 0;

    for (size_t k = 0; k < w->count; k++) {
        double own = w->a[k * w->count + k] / w->weight;
        inverse[k] = own > 0 ? 1 / own : 0;
        if (g->parameters[k].value != 0 && own > 0)
            used[count++] = k;
    }
    if (count > HM_TERMS_MAX)
        return;
    for (size_t j = 0; j < count; j++) {
        for (size_t i = 0; i <= j; i++)
            l[j][i] = w->a[used[j] * w->count + used[i]] / w->weight;
        l[j][j] *= 1 + RIDGE;
    }
    if (!hm__cholesky(l, count))
        return;
    for (size_t j = 0; j < count; j++) {
        double sum = 0;
        memset(one, 0, sizeof(one));
        one[j] = 1;
        hm__lower_solve(l, count, one);
        for (size_t i = j; i < count; i++)
            sum += one[i] * one[i];
        inverse[used[j]] = sum;
    }
}

/* Sets the interval for each parameter to the quantiles of the draws, which are widened if there
 * are few folds. */
static void bounds_from_draws(struct hm_g *g, double folds, double level)
{
    double values[HM_G_DRAWS], unknowns = 0;

    for (size_t k = 0; k < g->parameter_count; k++)
        unknowns += g->parameters[k].value != 0;
    double wider = sqrt(folds / fmax(folds - unknowns, folds / 4));
    for (size_t k = 0; k < g->parameter_count; k++) {
        double value = g->parameters[k].value;
        for (size_t d = 0; d < g->draw_count; d++)
            values[d] = value + wider * (g->draws[d * g->parameter_count + k] - value);
        g->parameters[k].low = fmin(value, hm__quantile(values, g->draw_count, (1 - level) / 2));
        g->parameters[k].high = fmax(value, hm__quantile(values, g->draw_count, (1 + level) / 2));
    }
}

int hm__g_bound(struct hm_g *g, struct hm_arena *arena, const struct hm_g_data *data, double best,
                double level, struct hm_err *err)
{
    struct bounds_work w = {.count = g->parameter_count};
    double inverse[HM_G_PARAMETERS];
    size_t first = 0;

    w.a = hm__arena_alloc(arena, w.count * w.count, sizeof(*w.a));
    w.slopes = hm__arena_alloc(arena, w.count * HM_G_CURVE, sizeof(*w.slopes));
    if (!w.a || !w.slopes)
        return hm__fail_nomem(err);
    for (size_t c = 0; c < g->curve_count; c++) {
        int rc = bounds_add_curve(&w, g, data, c, first, err);
        if (rc)
            return rc;
        first += g->curves[c].count;
    }
    bounds_from_draws(g, (double)data->fold_count, level);
    bounds_invert(&w, g, inverse);
    double noise = fmax(sqrt(w.residual / w.weight), HM_G_NOISE);
    double count = HM_G_BLOCKS * count_different_curves(g, best, noise);
    double reach = hm__student_quantile(count, (1 + level) / 2) * noise / sqrt(count);
    for (size_t k = 0; k < w.count; k++) {
        struct hm_g_parameter *p = &g->parameters[k];
        double least = reach * sqrt(inverse[k]);
        p->low = least > 0 ? fmin(p->low, p->value - least) : NAN;
        p->high = least > 0 ? fmax(p->high, p->value + least) : NAN;
    }
    return 0;
}
