/*
 * The forms of g that theory gives, fitted by least squares in y = ln(P - P*):
 *
 *     rate     y = a + d ln m + i ln(1 - c0 / m^c1)             strongly convex, dual methods
 *     inverse  y = ln(1 / (a m^-p i + b) + c m^q)               sublinear, down to a floor
 *     power    y = a + d ln m - (p + q ln m) ln i               stochastic gradients
 *
 * Parameters that must be positive are logarithms inside, so that every set of numbers is a curve.
 * The solver is Levenberg and Marquardt's, with numeric derivatives: at most five unknowns. A small
 * pull towards where it started keeps those apart that the traces cannot tell apart.
 */
#include <math.h>
#include <string.h>

#include "converge.h"
#include "err.h"
#include "linear.h"

enum { STEPS = 60, DRAW_STEPS = 6 };

static const double PULL = 1e-6; /* of a unit of a parameter, beside a unit of weight */

/* Inside: a and c0 are logarithms where they must be positive. */
struct form {
    size_t count;
    const char *names[HM_G_SHAPE_MAX];
    double start[HM_G_SHAPE_MAX];
    double (*value)(const double *theta, double i, double log_m);
};

static double rate(const double *t, double i, double log_m)
{
    double lost = exp(t[2] - t[3] * log_m); /* of the distance, in an iteration */

    return t[0] + t[1] * log_m + i * log1p(-fmin(lost, 0.999));
}

static double inverse(const double *t, double i, double log_m)
{
    double fall = exp(t[0] - t[1] * log_m) * i + exp(t[2]);

    return log(1 / fall + exp(fmin(t[3] + t[4] * log_m, 100)));
}

static double power(const double *t, double i, double log_m)
{
    return t[0] + t[1] * log_m - (t[2] + t[3] * log_m) * log(i);
}

static const struct form forms[HM_G_FORMS] = {
    [HM_G_RATE] = {4, {"ln a", "d", "ln c0", "c1"}, {0, 0, -1, 0.5}, rate},
    [HM_G_INVERSE] = {5, {"ln a", "p", "ln b", "ln c", "q"}, {0, 0.5, 0, -5, 0.5}, inverse},
    [HM_G_POWER] = {4, {"ln a", "d", "p", "q"}, {0, 0, 1, 0}, power},
};

size_t hm_g_form_count(enum hm_g_form form)
{
    return forms[form].count;
}

const char *hm_g_form_parameter(enum hm_g_form form, size_t k)
{
    return forms[form].names[k];
}

double hm_g_form_value(enum hm_g_form form, const double *theta, double i, double m)
{
    return forms[form].value(theta, i, log(m));
}

/* ---- least squares --------------------------------------------------------------------------- */

struct problem {
    const struct form *form;
    const struct hm_g_data *data;
    const double *weights; /* of folds */
    double start[HM_G_SHAPE_MAX];
};

static double residual(const struct problem *p, size_t k, const double *theta)
{
    return p->data->y[k] - p->form->value(theta, p->data->i[k], log(p->data->m[k]));
}

static double weight_of(const struct problem *p, size_t k)
{
    return p->data->weight[k] * p->weights[p->data->fold[k]];
}

static double loss(const struct problem *p, const double *theta)
{
    double sum = 0;

    for (size_t k = 0; k < p->data->count; k++) {
        double w = weight_of(p, k), r = w > 0 ? residual(p, k, theta) : 0;
        sum += w * r * r;
    }
    for (size_t j = 0; j < p->form->count; j++)
        sum += PULL * (theta[j] - p->start[j]) * (theta[j] - p->start[j]);
    return sum;
}

/* Normal equations of a step, from forward differences. */
static void linearise(const struct problem *p, const double *theta,
                      double a[HM_TERMS_MAX][HM_TERMS_MAX], double *b)
{
    size_t count = p->form->count;

    for (size_t j = 0; j < count; j++) {
        memset(a[j], 0, sizeof(a[j]));
        a[j][j] = PULL;
        b[j] = PULL * (p->start[j] - theta[j]);
    }
    for (size_t k = 0; k < p->data->count; k++) {
        double w = weight_of(p, k), slope[HM_G_SHAPE_MAX], moved[HM_G_SHAPE_MAX];
        if (!(w > 0))
            continue;
        double r = residual(p, k, theta);
        memcpy(moved, theta, count * sizeof(*moved));
        for (size_t j = 0; j < count; j++) {
            double step = 1e-6 * fmax(1, fabs(theta[j]));
            moved[j] += step;
            slope[j] = (r - residual(p, k, moved)) / step;
            moved[j] = theta[j];
        }
        for (size_t j = 0; j < count; j++) {
            b[j] += w * slope[j] * r;
            for (size_t l = 0; l <= j; l++)
                a[j][l] += w * slope[j] * slope[l];
        }
    }
}

static bool step(size_t count, double a[HM_TERMS_MAX][HM_TERMS_MAX], const double *b,
                 double damping, double *ret_step)
{
    double l[HM_TERMS_MAX][HM_TERMS_MAX] = {{0}};

    for (size_t j = 0; j < count; j++) {
        for (size_t k = 0; k <= j; k++)
            l[j][k] = l[k][j] = a[j][k];
        l[j][j] += damping * fmax(a[j][j], 1e-9);
        ret_step[j] = b[j];
    }
    if (!hm_cholesky(l, count))
        return false;
    hm_lower_solve(l, count, ret_step);
    hm_upper_solve(l, count, ret_step);
    return true;
}

/* Levenberg-Marquardt from theta on; the sum of squares it ends with. */
static double minimise(const struct problem *p, double *theta, int steps)
{
    double a[HM_TERMS_MAX][HM_TERMS_MAX], b[HM_TERMS_MAX], move[HM_TERMS_MAX];
    double now = loss(p, theta), damping = 1e-3;

    for (int s = 0; s < steps && isfinite(now); s++) {
        double before = now;
        linearise(p, theta, a, b);
        for (int tries = 0; tries < 12; tries++, damping *= 4) {
            double next[HM_G_SHAPE_MAX];
            if (!step(p->form->count, a, b, damping, move))
                continue;
            for (size_t j = 0; j < p->form->count; j++)
                next[j] = theta[j] + move[j];
            double then = loss(p, next);
            if (!(then < now))
                continue;
            memcpy(theta, next, p->form->count * sizeof(*theta));
            now = then;
            damping = fmax(damping / 10, 1e-12);
            break;
        }
        if (before - now <= 1e-9 * before)
            break;
    }
    return now;
}

/* ---- the fit --------------------------------------------------------------------------------- */

/* Mean square error of a fold. */
static double fold_error(const struct problem *p, size_t fold, const double *theta)
{
    double sum = 0, weight = 0;

    for (size_t k = 0; k < p->data->count; k++)
        if (p->data->fold[k] == fold) {
            double r = residual(p, k, theta);
            sum += p->data->weight[k] * r * r;
            weight += p->data->weight[k];
        }
    return weight > 0 ? sum / weight : NAN;
}

/* Where to start: by the level of the points. */
static void begin(struct problem *p, enum hm_g_form form)
{
    const struct hm_g_data *d = p->data;
    double high = -INFINITY, low = INFINITY;

    memcpy(p->start, p->form->start, sizeof(p->start));
    for (size_t k = 0; k < d->count; k++) {
        high = fmax(high, d->y[k]);
        low = fmin(low, d->y[k]);
    }
    if (form == HM_G_INVERSE) {
        p->start[0] = p->start[2] = -high;
        p->start[3] = low - 2;
    } else {
        p->start[0] = high;
    }
}

/* Parameters and error without each fold in turn, from the parameters with all. */
static double hold_out(struct problem *p, double *weights, const double *theta, double *held)
{
    size_t count = p->form->count;
    double sum = 0, folds = 0;

    for (size_t f = 0; f < p->data->fold_count; f++) {
        double *own = held + f * count;
        memcpy(own, theta, count * sizeof(*own));
        if (p->data->held[f]) {
            weights[f] = 0;
            minimise(p, own, STEPS);
            weights[f] = 1;
        }
        double error = p->data->held[f] ? fold_error(p, f, own) : NAN;
        if (isnan(error)) {
            own[0] = NAN;
            continue;
        }
        sum += error;
        folds++;
    }
    return folds > 0 ? sqrt(sum / folds) / log(10) : NAN;
}

int hm_g_fit_form(struct hm_g *g, struct hm_arena *arena, const struct hm_g_data *data,
                  enum hm_g_form form, double **ret_held, struct hm_err *err)
{
    const struct form *f = &forms[form];
    double weights[HM_G_FOLDS], theta[HM_G_SHAPE_MAX];
    struct problem p = {.form = f, .data = data, .weights = weights};

    g->form = form;
    g->penalty = 0;
    g->parameter_count = f->count;
    g->parameters = hm_arena_alloc(arena, f->count, sizeof(*g->parameters));
    *ret_held = hm_arena_alloc(arena, f->count * data->fold_count, sizeof(**ret_held));
    if (!g->parameters || !*ret_held)
        return hm_fail_nomem(err);
    begin(&p, form);
    for (size_t k = 0; k < data->fold_count; k++)
        weights[k] = 1;
    memcpy(theta, p.start, sizeof(theta));
    minimise(&p, theta, STEPS);
    for (size_t k = 0; k < f->count; k++)
        g->parameters[k] = (struct hm_g_parameter){.text = f->names[k], .value = theta[k]};
    g->error = hold_out(&p, weights, theta, *ret_held);
    return 0;
}

int hm_g_draw_form(struct hm_g *g, struct hm_arena *arena, const struct hm_g_data *data,
                   double seed, struct hm_err *err)
{
    double weights[HM_G_FOLDS];
    struct problem p = {.form = &forms[g->form], .data = data, .weights = weights};
    size_t count = g->parameter_count;

    g->draw_count = HM_G_DRAWS;
    g->draws = hm_arena_alloc(arena, count * HM_G_DRAWS, sizeof(*g->draws));
    if (!g->draws)
        return hm_fail_nomem(err);
    begin(&p, g->form);
    for (size_t d = 0; d < HM_G_DRAWS; d++) {
        double *theta = g->draws + d * count;
        for (size_t k = 0; k < count; k++)
            theta[k] = g->parameters[k].value;
        hm_g_fold_weights(seed, d, data->fold_count, weights);
        minimise(&p, theta, DRAW_STEPS);
    }
    return 0;
}
