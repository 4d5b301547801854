/*
 * Draws by turns: the spread given theta is a scaled inverse chi-square; theta given the spread is
 * a normal distribution cut off at 0, drawn by the exact Hamiltonian method of Pakman and Paninski
 * (2014): on an ellipse around the mean, reflected where a coefficient meets 0. It has no step size
 * to choose, nothing is rejected, and strongly correlated coefficients do not slow it down.
 */
#include "posterior.h"

#include <math.h>
#include <string.h>

/* Marsaglia and Tsang 2000, for shapes >= 1; smaller ones by one more power. */
static double gamma_draw(struct hm_random *random, double shape)
{
    if (shape < 1)
        return gamma_draw(random, shape + 1) * pow(hm_random_uniform(random), 1 / shape);
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = hm_random_normal(random), v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        if (log(hm_random_uniform(random)) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v;
    }
}

/* ---- the normal distribution cut off at 0 --------------------------------------------------- */

struct cut {
    size_t count;
    double square[HM_TERMS_MAX][HM_TERMS_MAX]; /* X'X and X'y of the runs */
    double product[HM_TERMS_MAX];
    double mean[HM_TERMS_MAX];
    double lower[HM_TERMS_MAX][HM_TERMS_MAX]; /* of the precision P = LL' */
    double wall[HM_TERMS_MAX][HM_TERMS_MAX]; /* theta_j = mean_j + wall_j . u, u = L'(theta-mean) */
};

/* The part of it that does not depend on the spread; columns have been scaled to length 1. */
static void begin(struct cut *cut, const struct hm_lsq *lsq)
{
    const size_t k = cut->count = lsq->count;

    for (size_t i = 0; i < k; i++) {
        cut->product[i] = 0;
        for (size_t j = 0; j <= i; j++) {
            cut->square[i][j] = 0;
            for (size_t row = 0; row <= j; row++)
                cut->square[i][j] += lsq->r[row][i] * lsq->r[row][j];
        }
        for (size_t row = 0; row <= i; row++)
            cut->product[i] += lsq->r[row][i] * lsq->r[row][k];
    }
}

/* Precision and mean for a spread. */
static bool prepare(struct cut *cut, const struct hm_prior *priors, double spread)
{
    const size_t k = cut->count;
    double precision = 1 / (spread * spread);

    for (size_t i = 0; i < k; i++) {
        cut->mean[i] = cut->product[i] * precision;
        for (size_t j = 0; j <= i; j++)
            cut->lower[i][j] = cut->square[i][j] * precision;
        if (priors && isfinite(priors[i].width)) {
            double w = 1 / (priors[i].width * priors[i].width);
            cut->lower[i][i] += w;
            cut->mean[i] += w * priors[i].mean;
        }
    }
    if (!hm_cholesky(cut->lower, k))
        return false;
    hm_lower_solve(cut->lower, k, cut->mean);
    hm_upper_solve(cut->lower, k, cut->mean);
    for (size_t j = 0; j < k; j++) { /* row j of L'^-1 is L^-1 e_j */
        memset(cut->wall[j], 0, k * sizeof(double));
        cut->wall[j][j] = 1;
        hm_lower_solve(cut->lower, k, cut->wall[j]);
    }
    return true;
}

/* When the path u cos t + v sin t meets wall j next; 10 if never. */
static double hit_time(const struct cut *cut, size_t j, const double *u, const double *v)
{
    double a = 0, b = 0, g = cut->mean[j];

    for (size_t i = 0; i < cut->count; i++) {
        a += cut->wall[j][i] * v[i];
        b += cut->wall[j][i] * u[i];
    }
    double length = sqrt(a * a + b * b);
    if (length <= fabs(g) || length == 0)
        return 10;
    /* mean + a sin t + b cos t = mean + length cos(t - phase), which falls through 0 here: */
    double t = fmod(atan2(a, b) + acos(-g / length), 2 * M_PI);
    t = t < 0 ? t + 2 * M_PI : t;
    return t > 2 * M_PI - 1e-9 ? 0 : t; /* on the wall, but for rounding, and leaving */
}

static void travel(const struct cut *cut, double *u, double *v, double t)
{
    double s = sin(t), c = cos(t);

    for (size_t i = 0; i < cut->count; i++) {
        double place = u[i] * c + v[i] * s;
        v[i] = v[i] * c - u[i] * s;
        u[i] = place;
    }
}

static void reflect(const struct cut *cut, size_t j, double *v)
{
    double along = 0, size = 0;

    for (size_t i = 0; i < cut->count; i++) {
        along += cut->wall[j][i] * v[i];
        size += cut->wall[j][i] * cut->wall[j][i];
    }
    for (size_t i = 0; along < 0 && i < cut->count; i++)
        v[i] -= 2 * along / size * cut->wall[j][i];
}

/* One draw of theta >= 0, starting from a theta >= 0. */
static void cut_draw(const struct cut *cut, struct hm_random *random, double *theta)
{
    double u[HM_TERMS_MAX] = {0}, v[HM_TERMS_MAX], left = M_PI / 2;
    const size_t k = cut->count;

    for (size_t i = 0; i < k; i++)
        v[i] = hm_random_normal(random);
    for (size_t i = 0; i < k; i++) /* u = L'(theta - mean) */
        for (size_t j = i; j < k; j++)
            u[i] += cut->lower[j][i] * (theta[j] - cut->mean[j]);
    for (int bounce = 0; bounce < 1000 && left > 0; bounce++) {
        double soonest = left;
        size_t wall = k;
        for (size_t j = 0; j < k; j++) {
            double t = hit_time(cut, j, u, v);
            if (t < soonest) {
                soonest = t;
                wall = j;
            }
        }
        travel(cut, u, v, soonest);
        left -= soonest;
        if (wall < k)
            reflect(cut, wall, v);
    }
    for (size_t j = 0; j < k; j++) {
        double value = cut->mean[j];
        for (size_t i = 0; i < k; i++)
            value += cut->wall[j][i] * u[i];
        theta[j] = fmax(value, 0); /* rounding, at a wall */
    }
}

/* ---- the posterior -------------------------------------------------------------------------- */

/* Scale the columns to length 1, so that nothing depends on the units of the terms. */
static void scale_columns(const struct hm_lsq *lsq, const struct hm_prior *priors,
                          struct hm_lsq *scaled, struct hm_prior *scaled_priors, double *sizes)
{
    *scaled = *lsq;
    for (size_t j = 0; j < lsq->count; j++) {
        double norm = hm_lsq_norm(lsq, j);
        sizes[j] = norm > 0 ? 1 / norm : 1;
        for (size_t i = 0; i <= j; i++)
            scaled->r[i][j] *= sizes[j];
        if (priors)
            scaled_priors[j] =
                (struct hm_prior){priors[j].mean / sizes[j], priors[j].width / sizes[j]};
    }
}

/* Rows of the priors beside those of the runs, for the most probable theta. */
static void with_priors(const struct hm_lsq *lsq, const struct hm_prior *priors, double spread,
                        struct hm_lsq *ret_lsq)
{
    hm_lsq_init(ret_lsq, lsq->count);
    hm_lsq_merge(ret_lsq, lsq);
    for (size_t j = 0; priors && j < lsq->count; j++) {
        double row[HM_LSQ_SIDE] = {0};
        if (!isfinite(priors[j].width))
            continue;
        row[j] = spread / priors[j].width;
        row[lsq->count] = row[j] * priors[j].mean;
        hm_lsq_add(ret_lsq, row);
    }
}

void hm_posterior_mode(const struct hm_lsq *lsq, double rows, const struct hm_prior *priors,
                       struct hm_noise noise, double *theta, double *ret_spread)
{
    struct hm_lsq joined;
    double spread = noise.spread > 0 ? noise.spread : 1;

    if (!priors) {
        size_t used = 0;
        hm_lsq_nonnegative(lsq, theta);
        for (size_t j = 0; j < lsq->count; j++)
            used += theta[j] > 0;
        double free = rows - (double)used + noise.weight;
        double sum = hm_lsq_residual(lsq, theta) + noise.weight * spread * spread;
        *ret_spread = free > 0 ? sqrt(sum / free) : 0;
        return;
    }
    for (int pass = 0; pass < 20; pass++) {
        with_priors(lsq, priors, spread, &joined);
        hm_lsq_nonnegative(&joined, theta);
        spread = sqrt((noise.weight * noise.spread * noise.spread + hm_lsq_residual(lsq, theta)) /
                      (noise.weight + rows));
    }
    *ret_spread = spread;
}

enum { SETTLE = 50 }; /* draws thrown away: the start is the most probable theta, not a draw */

bool hm_posterior_draw(const struct hm_lsq *lsq, double rows, const struct hm_prior *priors,
                       struct hm_noise noise, struct hm_random *random, struct hm_draw *draws,
                       size_t count)
{
    struct hm_lsq scaled;
    struct hm_prior scaled_priors[HM_TERMS_MAX];
    double sizes[HM_TERMS_MAX], theta[HM_TERMS_MAX], spread;
    struct cut cut;

    if (!priors && rows + noise.weight <= (double)lsq->count)
        return false;
    scale_columns(lsq, priors, &scaled, scaled_priors, sizes);
    hm_posterior_mode(&scaled, rows, priors ? scaled_priors : NULL, noise, theta, &spread);
    begin(&cut, &scaled);
    double least = 0;
    for (size_t i = 0; i <= lsq->count; i++)
        least += 1e-20 * scaled.r[i][lsq->count] * scaled.r[i][lsq->count];
    for (size_t i = 0; i < SETTLE + count; i++) {
        double sum = noise.weight * noise.spread * noise.spread + hm_lsq_residual(&scaled, theta);
        sum = fmax(sum, least); /* a perfect fit leaves none, and a matrix nobody can factor */
        spread = sqrt(sum / (2 * gamma_draw(random, (noise.weight + rows) / 2)));
        if (!prepare(&cut, priors ? scaled_priors : NULL, spread))
            return false;
        cut_draw(&cut, random, theta);
        if (i < SETTLE)
            continue;
        struct hm_draw *draw = &draws[i - SETTLE];
        for (size_t j = 0; j < lsq->count; j++)
            draw->theta[j] = theta[j] * sizes[j];
        draw->spread = spread;
    }
    return true;
}
