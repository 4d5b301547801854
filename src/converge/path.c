/*
 * Computes the loss of an algorithm on m workers along the iterations: the loss curve y = g(i, m),
 * with the fitted parameters or the parameters of a random draw, and the spread of runs around this
 * curve. Limit: outside the range of measured m, the spread is an extrapolation that grows with the
 * distance in ln m.
 */
#include <math.h>
#include <string.h>

#include "converge.h"
#include "err.h"

static const double SHRINK = 10;

static int path_eval_terms(struct hm_g_path *path, struct hm_arena *arena, struct hm_err *err)
{
    const struct hm_g *g = path->g;
    const char *texts[HM_G_PARAMETERS];
    struct hm_g_basis basis;

    for (size_t k = 1; k < g->parameter_count; k++)
        texts[k - 1] = g->parameters[k].text;
    if (g->parameter_count < 2)
        return 0;
    double *m = hm__arena_alloc(arena, path->count + 1, sizeof(*m));
    path->x = hm__calloc(path->count * (g->parameter_count - 1) + 1, sizeof(*path->x));
    if (!m || !path->x)
        return hm__fail_nomem(err);
    for (size_t p = 0; p < path->count; p++)
        m[p] = path->m;
    int rc = hm__g_basis_init(&basis, arena, texts, g->parameter_count - 1, true, err);
    return rc ? rc : hm__g_basis_eval(&basis, path->iterations, m, path->count, path->x, err);
}

static int path_take_logarithms(struct hm_g_path *path, struct hm_err *err)
{
    path->x = hm__calloc(path->count + 1, sizeof(*path->x));
    for (size_t p = 0; path->x && p < path->count; p++)
        path->x[p] = log(path->iterations[p]);
    return path->x ? 0 : hm__fail_nomem(err);
}

int hm__g_path_init(struct hm_g_path *path, const struct hm_g *g, double m,
                    const double *iterations, size_t count, struct hm_err *err)
{
    *path = (struct hm_g_path){.g = g, .m = m, .iterations = iterations, .count = count};
    if (g->form != HM_G_TERMS)
        return path_take_logarithms(path, err);
    struct hm_arena *arena = hm__arena_new();
    int rc = arena ? path_eval_terms(path, arena, err) : hm__fail_nomem(err);
    hm__arena_free(arena);
    if (rc)
        hm__g_path_release(path);
    return rc;
}

void hm__g_path_release(struct hm_g_path *path)
{
    hm__free(path->x);
    path->x = NULL;
}

static double g_parameter(const struct hm_g *g, size_t draw, size_t k)
{
    return draw == HM_NONE ? g->parameters[k].value : g->draws[draw * g->parameter_count + k];
}

void hm__g_path_values(const struct hm_g_path *path, size_t draw, size_t from, double *y)
{
    const struct hm_g *g = path->g;
    size_t count = path->count;

    if (g->form != HM_G_TERMS) {
        double theta[HM_G_SHAPE_MAX];
        for (size_t k = 0; k < g->parameter_count; k++)
            theta[k] = g_parameter(g, draw, k);
        hm__g_form_values(g->form, theta, path->m, path->iterations + from, path->x + from,
                          count - from, y + from);
        return;
    }
    for (size_t p = from; p < count; p++)
        y[p] = g_parameter(g, draw, 0);
    for (size_t k = 1; k < g->parameter_count; k++) {
        double theta = g_parameter(g, draw, k);
        const double *x = path->x + (k - 1) * count;
        for (size_t p = from; theta != 0 && p < count; p++)
            y[p] += theta * x[p];
    }
}

size_t hm__g_find(const struct hm_g *g, double m)
{
    for (size_t k = 0; k < g->m_count; k++)
        if (g->m[k] == m)
            return k;
    return HM_NONE;
}

/*
 * Returns the spread of runs around the loss curve g at the k-th number of workers: the error of a
 * fit without this number if there is one, otherwise the residual of the fit.
 */
static double g_spread_at(const struct hm_g *g, size_t k)
{
    return fmax(isnan(g->apart[k]) ? g->spread[k] : g->apart[k], HM_G_NOISE);
}

/*
 * Returns the spread of runs around g on m workers. The logarithm of the spread is interpolated
 * linearly in ln m. Outside the measured numbers of workers, the spread grows linearly with the
 * distance in ln m and doubles over a distance equal to the nearest interval between two measured
 * m.
 */
double hm__g_spread(const struct hm_g *g, double m)
{
    size_t last = g->m_count - 1, k = 0;

    if (last == 0)
        return g_spread_at(g, 0) * (1 + fabs(log(m / g->m[0])) / log(2));
    while (k + 1 < last && g->m[k + 1] < m)
        k++;
    double step = log(g->m[k + 1] / g->m[k]), at = log(m / g->m[k]) / step;
    double left = g_spread_at(g, k), right = g_spread_at(g, k + 1);
    if (at < 0)
        return left * (1 - at);
    if (at > 1)
        return right * at;
    return exp((1 - at) * log(left) + at * log(right));
}

void hm__g_line_add(struct hm_g_line *line, double weight, double log_i, double off)
{
    line->weight += weight;
    line->x += weight * log_i;
    line->xx += weight * log_i * log_i;
    line->y += weight * off;
    line->xy += weight * log_i * off;
}

struct hm_g_bend hm__g_line_bend(const struct hm_g_line *s)
{
    struct hm_g_bend bend = {0};

    if (s->weight == 0)
        return bend;
    double mean_x = s->x / s->weight, mean_y = s->y / s->weight;
    double spread = s->xx - s->x * mean_x;
    bend.slope = (s->xy - s->x * mean_y) / (spread + SHRINK);
    bend.level = mean_y - bend.slope * mean_x;
    return bend;
}

static int line_add_residuals(const struct hm_g *g, const struct hm_g_curve *curve, double best,
                              struct hm_g_line *sums, struct hm_err *err)
{
    struct hm_g_path path;
    double y[HM_G_CURVE];
    int rc = hm__g_path_init(&path, g, curve->m, curve->iteration, curve->count, err);

    if (rc)
        return rc;
    hm__g_path_values(&path, HM_NONE, 0, y);
    hm__g_path_release(&path);
    for (size_t p = 0; p < curve->count; p++)
        hm__g_line_add(sums, 1, log(curve->iteration[p]), hm__g_log(curve->loss[p], best) - y[p]);
    return 0;
}

static int g_bend_at(const struct hm_g *g, size_t k, double best, struct hm_g_bend *ret_bend,
                     struct hm_err *err)
{
    /* The sums stay 0 if g was loaded from a file that has no curve for this number of workers. */
    struct hm_g_line s = {0};

    for (size_t c = 0; c < g->curve_count; c++)
        if (g->curves[c].m == g->m[k]) {
            int rc = line_add_residuals(g, &g->curves[c], best, &s, err);
            if (rc)
                return rc;
        }
    *ret_bend = hm__g_line_bend(&s);
    return 0;
}

int hm__g_bend(const struct hm_g *g, double m, double best, struct hm_g_bend *ret_bend,
               struct hm_err *err)
{
    size_t k = hm__g_find(g, m), right = 0;
    struct hm_g_bend a, b;

    *ret_bend = (struct hm_g_bend){0};
    if (k != HM_NONE)
        return g_bend_at(g, k, best, ret_bend, err);
    while (right < g->m_count && g->m[right] < m)
        right++;
    if (right == 0 || right == g->m_count)
        return 0;
    int rc = g_bend_at(g, right - 1, best, &a, err);
    rc = rc ? rc : g_bend_at(g, right, best, &b, err);
    if (rc)
        return rc;
    double at = log(m / g->m[right - 1]) / log(g->m[right] / g->m[right - 1]);
    ret_bend->level = (1 - at) * a.level + at * b.level;
    ret_bend->slope = (1 - at) * a.slope + at * b.slope;
    return 0;
}

double hm__g_bent(const struct hm_g_bend *bend, double i)
{
    return bend->level + bend->slope * log(i);
}
