/*
 * An algorithm on m workers, draw by draw.
 *
 * Where m was measured, a draw follows one of its traces, moved by the noise that is left when so
 * many traces are known; what lies beyond the trace's end goes on as the draw's g does. Where m was
 * not measured, a draw is its g, moved by how far m that were held out lay from theirs.
 */
#include <math.h>
#include <string.h>

#include "advise.h"
#include "err.h"

/* Iterations one by one, then ever larger steps, up to eight times what was measured. */
static void make_grid(struct hm_grid *grid, double last)
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

/* ln(P - P*) of a curve at an iteration, between its points in ln i; INFINITY before the first. */
static double curve_at(const struct hm_g_curve *curve, const double *y, double i)
{
    size_t p = 0;

    while (p < curve->count && curve->iteration[p] < i)
        p++;
    if (p == curve->count)
        return y[p - 1];
    if (p == 0)
        return curve->iteration[0] > i ? INFINITY : y[0];
    double at =
        log(i / curve->iteration[p - 1]) / log(curve->iteration[p] / curve->iteration[p - 1]);
    return (1 - at) * y[p - 1] + at * y[p];
}

/* Along a curve, and beyond its end as g goes on. */
static void follow(const struct hm_grid *grid, const struct hm_g_curve *curve, double best,
                   double away, double *y)
{
    double levels[HM_G_POINTS + 1], last = curve->iteration[curve->count - 1];
    double end = INFINITY, g_end = 0;

    for (size_t p = 0; p < curve->count; p++)
        levels[p] = hm_g_log(curve->loss[p], best) + away;
    for (size_t p = 0; p < grid->count; p++) {
        if (grid->iterations[p] <= last) {
            g_end = y[p];
            y[p] = end = curve_at(curve, levels, grid->iterations[p]);
        } else if (curve->diverged) {
            y[p] = INFINITY;
        } else {
            if (isinf(end)) { /* the grid begins after the curve has ended */
                end = levels[curve->count - 1];
                g_end = y[p];
            }
            y[p] = end + (y[p] - g_end);
        }
    }
}

/* The last point of the grid within a curve, from which on g is needed. */
static size_t end_of(const struct hm_grid *grid, const struct hm_g_curve *curve)
{
    size_t p = 0;

    while (p + 1 < grid->count && grid->iterations[p + 1] <= curve->iteration[curve->count - 1])
        p++;
    return p;
}

static void keep_least(double *y, size_t count)
{
    for (size_t p = 1; p < count; p++)
        y[p] = fmin(y[p], y[p - 1]);
}

static void list_curves(struct hm_runner *r, size_t *index)
{
    for (size_t c = 0; c < r->g->curve_count; c++)
        if (r->g->curves[c].m == r->m)
            index[r->curves++] = c;
}

static void draw(struct hm_runner *r, const struct hm_g_path *path, const size_t *index,
                 const struct hm_g_bend *bend, double best, struct hm_random *random)
{
    size_t count = r->grid.count, known = hm_g_find(r->g, r->m);
    double spread =
        known == HM_NONE ? hm_g_spread(r->g, r->m) : r->g->spread[known] / sqrt((double)r->curves);

    for (size_t d = 0; d < HM_G_DRAWS; d++) {
        double away = spread * hm_random_normal(random), *y = r->y + d * count;
        const struct hm_g_curve *curve = r->curves ? &r->g->curves[index[d % r->curves]] : NULL;
        size_t from = curve ? end_of(&r->grid, curve) : 0;
        hm_g_path_values(path, d < r->g->draw_count ? d : HM_NONE, from, y);
        if (curve)
            follow(&r->grid, curve, best, away, y);
        else
            for (size_t p = 0; p < count; p++)
                y[p] += away + hm_g_bent(bend, r->grid.iterations[p]);
        keep_least(y, count);
    }
}

int hm_runner_init(struct hm_runner *r, const struct hm_g *g, double m, double best, double seed,
                   struct hm_err *err)
{
    struct hm_g_path path;
    struct hm_g_bend bend;
    struct hm_random random;

    r->g = g;
    r->m = m;
    make_grid(&r->grid, g->last);
    r->y = hm__calloc(HM_G_DRAWS * r->grid.count, sizeof(*r->y));
    size_t *index = hm__calloc(g->curve_count + 1, sizeof(*index));
    int rc = r->y && index ? 0 : hm_fail_nomem(err);
    rc = rc ? rc : hm_g_bend(g, m, best, &bend, err);
    rc = rc ? rc : hm_g_path_init(&path, g, m, r->grid.iterations, r->grid.count, err);
    if (rc == 0) {
        list_curves(r, index);
        hm_random_init(&random, (uint64_t)seed, 0x800000000u + (uint64_t)m);
        draw(r, &path, index, &bend, best, &random);
        hm_g_path_release(&path);
    }
    hm__free(index);
    return rc;
}

void hm_runner_release(struct hm_runner *runner)
{
    hm__free(runner->y);
    runner->y = NULL;
}

/* First point of the grid where a falling path is at the level; count: none. */
static size_t first_at(const double *y, size_t count, double level)
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

double hm_grid_hit(const struct hm_grid *grid, const double *y, double level)
{
    size_t p = first_at(y, grid->count, level);

    if (p == grid->count)
        return INFINITY;
    if (p == 0 || isinf(y[p - 1]) || !(y[p - 1] > y[p]))
        return grid->iterations[p];
    double at = (y[p - 1] - level) / (y[p - 1] - y[p]);
    return exp((1 - at) * log(grid->iterations[p - 1]) + at * log(grid->iterations[p]));
}

double hm_runner_hit(const struct hm_runner *r, size_t draw, double level)
{
    return ceil(hm_grid_hit(&r->grid, r->y + draw * r->grid.count, level) - 1e-9);
}

double hm_runner_reach(const struct hm_runner *r, size_t draw, double iterations)
{
    const double *y = r->y + draw * r->grid.count;
    size_t p = 0;

    while (p < r->grid.count && r->grid.iterations[p] <= iterations)
        p++;
    if (p == 0)
        return INFINITY;
    if (p == r->grid.count || isinf(y[p - 1]))
        return y[p - 1];
    double at = log(iterations / r->grid.iterations[p - 1]) /
                log(r->grid.iterations[p] / r->grid.iterations[p - 1]);
    return fmin(y[p - 1], (1 - at) * y[p - 1] + at * y[p]);
}

double hm_runner_time(const struct hm_runner *r, size_t draw, double level)
{
    double hit = hm_runner_hit(r, draw, level);

    return r->paces[draw] * (isinf(hit) ? 2 * r->grid.iterations[r->grid.count - 1] : hit);
}

int hm_runner_smooth(const struct hm_runner *r, double best, double *y, struct hm_err *err)
{
    struct hm_g_path path;
    struct hm_g_bend bend;
    int rc = hm_g_bend(r->g, r->m, best, &bend, err);

    rc = rc ? rc : hm_g_path_init(&path, r->g, r->m, r->grid.iterations, r->grid.count, err);
    if (rc)
        return rc;
    hm_g_path_values(&path, HM_NONE, 0, y);
    hm_g_path_release(&path);
    for (size_t p = 0; p < r->grid.count; p++)
        y[p] += hm_g_bent(&bend, r->grid.iterations[p]);
    keep_least(y, r->grid.count);
    return 0;
}
