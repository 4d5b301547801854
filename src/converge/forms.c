/*
 * Fits forms of the loss curve g(i, m) that are known from theory, by least squares in y = ln(P -
 * P*), where P is the loss after i iterations on m workers and P* is the optimal loss:
 *
 *     rate     y = a + d ln m + i ln(1 - c0 / m^c1)             strongly convex, dual methods
 *     inverse  y = ln(1 / (a m^-p i + b) + c m^q)               sublinear, down to a floor
 *     power    y = a + d ln m - (p + q ln m) ln i               stochastic gradients
 *
 * Parameters that must be positive are stored as logarithms, so that every parameter vector gives a
 * valid curve. The solver is the Levenberg-Marquardt method with numeric derivatives. Parameters
 * that the traces do not determine are kept near their starting values by a small penalty. Sources:
 * Smith et al., CoCoA, 2018 (rate); Bottou, Curtis, Nocedal 2018 (inverse, power). Limit: there are
 * at most five unknowns.
 */
#include <math.h>
#include <string.h>

#include "budget.h"
#include "converge.h"
#include "err.h"
#include "linear.h"

enum { STEPS = 60, DRAW_STEPS = 6 };

/* Factor of the penalty on the squared distance of the parameters from their starting values. */
static const double PULL = 1e-6;

/* Number of values that describe a loss curve on a fixed number of workers. */
enum { CURVE = 3 };

/* A form of the loss curve g. Parameters that must be positive are stored as logarithms. */
struct g_form {
    size_t count;
    const char *names[HM_G_SHAPE_MAX];
    double start[HM_G_SHAPE_MAX];
    void (*at_m)(const double *theta, double log_m, double curve[CURVE]);
    double (*value)(const double curve[CURVE], double i, double log_i);
};

static void rate_at(const double *t, double log_m, double curve[CURVE])
{
    /* Factor by which one iteration reduces P - P*, the distance to the optimal loss. */
    double lost = exp(t[2] - t[3] * log_m);

    curve[0] = t[0] + t[1] * log_m;
    curve[1] = log1p(-fmin(lost, 0.999));
}

static double rate_value(const double curve[CURVE], double i, double log_i)
{
    (void)log_i;
    return curve[0] + i * curve[1];
}

static void inverse_at(const double *t, double log_m, double curve[CURVE])
{
    curve[0] = exp(t[0] - t[1] * log_m);
    curve[1] = exp(t[2]);
    curve[2] = exp(fmin(t[3] + t[4] * log_m, 100));
}

static double inverse_value(const double curve[CURVE], double i, double log_i)
{
    (void)log_i;
    return log(1 / (curve[0] * i + curve[1]) + curve[2]);
}

static void power_at(const double *t, double log_m, double curve[CURVE])
{
    curve[0] = t[0] + t[1] * log_m;
    curve[1] = t[2] + t[3] * log_m;
}

static double power_value(const double curve[CURVE], double i, double log_i)
{
    (void)i;
    return curve[0] - curve[1] * log_i;
}

static const struct g_form forms[HM_G_FORMS] = {
    [HM_G_RATE] = {4, {"ln a", "d", "ln c0", "c1"}, {0, 0, -1, 0.5}, rate_at, rate_value},
    [HM_G_INVERSE] =
        {5, {"ln a", "p", "ln b", "ln c", "q"}, {0, 0.5, 0, -5, 0.5}, inverse_at, inverse_value},
    [HM_G_POWER] = {4, {"ln a", "d", "p", "q"}, {0, 0, 1, 0}, power_at, power_value},
};

void hm__g_form_values(enum hm_g_form form, const double *theta, double m, const double *i,
                       const double *log_i, size_t count, double *y)
{
    double curve[CURVE];

    forms[form].at_m(theta, log(m), curve);
    for (size_t k = 0; k < count; k++)
        y[k] = forms[form].value(curve, i[k], log_i[k]);
}

/* ---- least squares --------------------------------------------------------------------------- */

struct form_problem {
    const struct g_form *form;
    const struct hm_g_data *data;
    double weights[HM_G_FOLDS]; /* Weight of each cross-validation fold. */
    double start[HM_G_SHAPE_MAX];
    /*
     * Logarithm of the iteration of each point, owned; the arrays below use the same memory block.
     */
    double *log_i;
    double *off; /* Residual of each point: y minus the value of the form of the loss curve. */
    /* slopes[j][p] is the derivative of the form of the loss curve with respect to parameter j, at
     * point p. */
    double *slopes[HM_G_SHAPE_MAX];
};

static int form_problem_init(struct form_problem *p, enum hm_g_form form,
                             const struct hm_g_data *data, struct hm_err *err)
{
    size_t count = data->count + 1;

    *p = (struct form_problem){.form = &forms[form], .data = data};
    p->log_i = hm__calloc((2 + HM_G_SHAPE_MAX) * count, sizeof(double));
    if (!p->log_i)
        return hm__fail_nomem(err);
    p->off = p->log_i + count;
    for (size_t j = 0; j < HM_G_SHAPE_MAX; j++)
        p->slopes[j] = p->off + (j + 1) * count;
    for (size_t k = 0; k < data->count; k++)
        p->log_i[k] = log(data->i[k]);
    for (size_t f = 0; f < data->fold_count; f++)
        p->weights[f] = 1;
    return 0;
}

static void form_problem_release(struct form_problem *p)
{
    hm__free(p->log_i);
}

static double point_weight(const struct form_problem *p, size_t k)
{
    return p->data->weight[k] * p->weights[p->data->fold[k]];
}

/* Number of points between checks of the budget. */
enum { FORM_CHECKS = 4096 };

/*
 * Computes the residual, y minus the value of the form of the loss curve, at every point. Points
 * with the same number of workers are adjacent. Once the budget is spent, the residuals stay
 * unchanged.
 */
static void form_residuals(const struct form_problem *p, const double *theta, double *off)
{
    const struct hm_g_data *d = p->data;
    double curve[CURVE] = {0};

    for (size_t k = 0; k < d->count; k++) {
        if (k % FORM_CHECKS == 0 && hm__budget_spent("traces"))
            return;
        if (k == 0 || d->m[k] != d->m[k - 1])
            p->form->at_m(theta, log(d->m[k]), curve);
        off[k] = d->y[k] - p->form->value(curve, d->i[k], p->log_i[k]);
    }
}

/*
 * Returns the sum of squared residuals plus the penalty for the parameters theta; stores the
 * residuals in p->off.
 */
static double form_loss(const struct form_problem *p, const double *theta)
{
    double sum = 0;

    form_residuals(p, theta, p->off);
    for (size_t k = 0; k < p->data->count; k++) {
        double w = point_weight(p, k);
        sum += w > 0 ? w * p->off[k] * p->off[k] : 0;
    }
    for (size_t j = 0; j < p->form->count; j++)
        sum += PULL * (theta[j] - p->start[j]) * (theta[j] - p->start[j]);
    return sum;
}

/* Computes the derivatives of the form of the loss curve with respect to every parameter by forward
 * differences. */
static void form_differentiate(const struct form_problem *p, const double *theta)
{
    double moved[HM_G_SHAPE_MAX];

    memcpy(moved, theta, p->form->count * sizeof(*moved));
    form_residuals(p, theta, p->off);
    for (size_t j = 0; j < p->form->count; j++) {
        double width = 1e-6 * fmax(1, fabs(theta[j]));
        moved[j] += width;
        form_residuals(p, moved, p->slopes[j]);
        moved[j] = theta[j];
        for (size_t k = 0; k < p->data->count; k++)
            p->slopes[j][k] = (p->off[k] - p->slopes[j][k]) / width;
    }
}

/* Builds the normal equations a x = b for one Levenberg-Marquardt step. */
static void form_linearise(const struct form_problem *p, const double *theta,
                           double a[HM_TERMS_MAX][HM_TERMS_MAX], double *b)
{
    size_t count = p->form->count;

    for (size_t j = 0; j < count; j++) {
        memset(a[j], 0, sizeof(a[j]));
        a[j][j] = PULL;
        b[j] = PULL * (p->start[j] - theta[j]);
    }
    form_differentiate(p, theta);
    for (size_t k = 0; k < p->data->count; k++) {
        double w = point_weight(p, k);
        if (!(w > 0))
            continue;
        for (size_t j = 0; j < count; j++) {
            double slope = w * p->slopes[j][k];
            b[j] += slope * p->off[k];
            for (size_t l = 0; l <= j; l++)
                a[j][l] += slope * p->slopes[l][k];
        }
    }
}

bool hm__g_damped_step(size_t count, double a[HM_TERMS_MAX][HM_TERMS_MAX], const double *b,
                       double damping, double *ret_step)
{
    double l[HM_TERMS_MAX][HM_TERMS_MAX] = {{0}};

    for (size_t j = 0; j < count; j++) {
        for (size_t k = 0; k <= j; k++)
            l[j][k] = l[k][j] = a[j][k];
        l[j][j] += damping * fmax(a[j][j], 1e-9);
        ret_step[j] = b[j];
    }
    if (!hm__cholesky(l, count))
        return false;
    hm__lower_solve(l, count, ret_step);
    hm__upper_solve(l, count, ret_step);
    return true;
}

/*
 * Minimises the sum of squares by the Levenberg-Marquardt method, starting at theta; returns the
 * final sum.
 */
static double form_minimise(const struct form_problem *p, double *theta, int steps)
{
    double a[HM_TERMS_MAX][HM_TERMS_MAX], b[HM_TERMS_MAX], move[HM_TERMS_MAX];
    double now = form_loss(p, theta), damping = 1e-3;

    for (int s = 0; s < steps && isfinite(now); s++) {
        if (hm__budget_spent("traces"))
            break;
        double before = now;
        form_linearise(p, theta, a, b);
        for (int tries = 0; tries < 12; tries++, damping *= 4) {
            double next[HM_G_SHAPE_MAX];
            if (!hm__g_damped_step(p->form->count, a, b, damping, move))
                continue;
            for (size_t j = 0; j < p->form->count; j++)
                next[j] = theta[j] + move[j];
            double then = form_loss(p, next);
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

/* Returns the mean square error on the points of one fold, with the parameters theta. */
static double form_fold_error(const struct form_problem *p, size_t fold, const double *theta)
{
    double sum = 0, weight = 0;

    form_residuals(p, theta, p->off);
    for (size_t k = 0; k < p->data->count; k++)
        if (p->data->fold[k] == fold) {
            sum += p->data->weight[k] * p->off[k] * p->off[k];
            weight += p->data->weight[k];
        }
    return weight > 0 ? sum / weight : NAN;
}

/* Sets the starting values of the parameters from the largest and the smallest y of the points. */
static void form_set_start(struct form_problem *p, enum hm_g_form form)
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

/*
 * Fits again without each fold in turn, starting from the parameters fitted to all folds. Returns
 * the root mean square error of log10(P - P*) on the folds that were left out.
 */
static double form_hold_out(struct form_problem *p, const double *theta, double *held)
{
    size_t count = p->form->count;
    double sum = 0, folds = 0;

    for (size_t f = 0; f < p->data->fold_count; f++) {
        double *own = held + f * count;
        memcpy(own, theta, count * sizeof(*own));
        if (p->data->held[f]) {
            p->weights[f] = 0;
            form_minimise(p, own, STEPS);
            p->weights[f] = 1;
        }
        double error = p->data->held[f] ? form_fold_error(p, f, own) : NAN;
        if (isnan(error)) {
            own[0] = NAN;
            continue;
        }
        sum += error;
        folds++;
    }
    return folds > 0 ? sqrt(sum / folds) / log(10) : NAN;
}

int hm__g_fit_form(struct hm_g *g, struct hm_arena *arena, const struct hm_g_data *data,
                   enum hm_g_form form, double **ret_held, struct hm_err *err)
{
    double theta[HM_G_SHAPE_MAX];
    struct form_problem p;
    int rc = form_problem_init(&p, form, data, err);

    if (rc)
        return rc;
    g->form = form;
    g->penalty = 0;
    g->parameter_count = p.form->count;
    g->parameters = hm__arena_alloc(arena, p.form->count, sizeof(*g->parameters));
    *ret_held = hm__arena_alloc(arena, p.form->count * data->fold_count, sizeof(**ret_held));
    if (g->parameters && *ret_held) {
        form_set_start(&p, form);
        memcpy(theta, p.start, sizeof(theta));
        form_minimise(&p, theta, STEPS);
        for (size_t k = 0; k < p.form->count; k++)
            g->parameters[k] = (struct hm_g_parameter){.text = p.form->names[k], .value = theta[k]};
        g->error = form_hold_out(&p, theta, *ret_held);
    } else {
        rc = hm__fail_nomem(err);
    }
    form_problem_release(&p);
    return rc;
}

int hm__g_draw_form(struct hm_g *g, struct hm_arena *arena, const struct hm_g_data *data,
                    double seed, struct hm_err *err)
{
    size_t count = g->parameter_count;
    struct form_problem p;
    int rc = form_problem_init(&p, g->form, data, err);

    if (rc)
        return rc;
    g->draw_count = HM_G_DRAWS;
    g->draws = hm__arena_alloc(arena, count * HM_G_DRAWS, sizeof(*g->draws));
    form_set_start(&p, g->form);
    for (size_t d = 0; g->draws && d < HM_G_DRAWS; d++) {
        double *theta = g->draws + d * count;
        if (hm__budget_spent("traces"))
            break;
        for (size_t k = 0; k < count; k++)
            theta[k] = g->parameters[k].value;
        hm__g_fold_weights(seed, d, data->fold_count, p.weights);
        form_minimise(&p, theta, DRAW_STEPS);
    }
    form_problem_release(&p);
    return g->draws ? 0 : hm__fail_nomem(err);
}
