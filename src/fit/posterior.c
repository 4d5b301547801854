/*
 * Draws the coefficients of a fit by perturbing the data and solving again.
 *
 * For each draw, the spread of the noise is drawn from its scaled inverse chi-square distribution.
 * The draw then adds noise with that spread to the runs (in the triangle that they are reduced to),
 * shifts each prior by random noise of its width, and solves the non-negative problem. Without
 * bounds, these are draws from the standard posterior distribution. With bounds, a coefficient that
 * the runs do not show is exactly 0 in many draws. A posterior truncated at 0 would give the value
 * 0 no probability; if a term does not exist, every interval beyond the measured runs would then be
 * above the true value.
 */
#include "posterior.h"

#include <math.h>
#include <string.h>

#include "budget.h"

/*
 * Draws a number from the gamma distribution. For shape >= 1, it uses the method of Marsaglia and
 * Tsang (2000); a smaller shape uses a draw for shape + 1, multiplied by a power of a uniform
 * number.
 */
static double gamma_draw(struct hm_random *random, double shape)
{
    if (shape < 1)
        return gamma_draw(random, shape + 1) * pow(hm__random_uniform(random), 1 / shape);
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = hm__random_normal(random), v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        if (log(hm__random_uniform(random)) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v;
    }
}

/*
 * Adds one row for each prior to the rows of the runs. moved[j] shifts the mean of prior j by that
 * number of widths; moved may be NULL.
 */
static void lsq_with_priors(const struct hm_lsq *lsq, const struct hm_prior *priors,
                            const double *moved, double spread, struct hm_lsq *ret_lsq)
{
    *ret_lsq = *lsq;
    for (size_t j = 0; j < lsq->count; j++) {
        double row[HM_LSQ_SIDE] = {0};
        if (!isfinite(priors[j].width))
            continue;
        row[j] = spread / priors[j].width;
        row[lsq->count] = row[j] * (priors[j].mean + (moved ? moved[j] * priors[j].width : 0));
        hm__lsq_add(ret_lsq, row);
    }
}

static size_t count_positive(const double *theta, size_t count)
{
    size_t used = 0;

    for (size_t j = 0; j < count; j++)
        used += theta[j] > 0;
    return used;
}

void hm__posterior_mode(const struct hm_lsq *lsq, double rows, const struct hm_prior *priors,
                        struct hm_noise noise, double *theta, double *ret_spread)
{
    struct hm_lsq joined;
    double spread = noise.spread > 0 ? noise.spread : 1;
    double before = noise.weight * noise.spread * noise.spread;

    if (!priors) {
        hm__lsq_nonnegative(lsq, theta);
        double free = rows - (double)count_positive(theta, lsq->count) + noise.weight;
        *ret_spread = free > 0 ? sqrt((hm__lsq_residual(lsq, theta) + before) / free) : 0;
        return;
    }
    for (int pass = 0; pass < 20; pass++) {
        lsq_with_priors(lsq, priors, NULL, spread, &joined);
        hm__lsq_nonnegative(&joined, theta);
        spread = sqrt((before + hm__lsq_residual(lsq, theta)) / (noise.weight + rows));
    }
    *ret_spread = spread;
}

/*
 * Computes the sum of squares that determines the spread of the noise, and its degrees of freedom.
 */
static void spread_evidence(const struct hm_lsq *lsq, double rows, const struct hm_prior *priors,
                            struct hm_noise noise, double *ret_sum, double *ret_free)
{
    double theta[HM_TERMS_MAX], spread, rest = lsq->r[lsq->count][lsq->count];

    *ret_sum = noise.weight * noise.spread * noise.spread;
    *ret_free = noise.weight + rows - (priors ? 0 : (double)lsq->count);
    /* With priors, the sum includes the residual of the runs at the most probable coefficients. */
    if (priors) {
        hm__posterior_mode(lsq, rows, priors, noise, theta, &spread);
        *ret_sum += hm__lsq_residual(lsq, theta);
    } else {
        *ret_sum += rest * rest;
    }
}

static const double FEW = 4;

bool hm__posterior_draw(const struct hm_lsq *lsq, double rows, const struct hm_prior *priors,
                        struct hm_noise noise, struct hm_random *random, struct hm_draw *draws,
                        size_t count)
{
    const size_t k = lsq->count;
    double sum, free, moved_priors[HM_TERMS_MAX], theta[HM_TERMS_MAX];
    struct hm_lsq joined;
    size_t column;

    spread_evidence(lsq, rows, priors, noise, &sum, &free);
    if (free <= 0 || (!priors && !hm__lsq_solve(lsq, theta, &column)))
        return false;
    /* With few degrees of freedom, the runs may agree by chance, so the noise is at least the
     * assumed smallest noise. */
    if (free < FEW)
        sum = fmax(sum, free * noise.least * noise.least);
    for (size_t i = 0; i < count; i++) {
        if (hm__budget_spent("runs"))
            return false;
        struct hm_lsq moved = *lsq;
        double spread = sqrt(sum / (2 * gamma_draw(random, free / 2)));
        for (size_t j = 0; j < k; j++)
            moved.r[j][k] += spread * hm__random_normal(random);
        for (size_t j = 0; priors && j < k; j++)
            moved_priors[j] = hm__random_normal(random);
        if (priors)
            lsq_with_priors(&moved, priors, moved_priors, spread, &joined);
        hm__lsq_nonnegative(priors ? &joined : &moved, draws[i].theta);
        draws[i].spread = spread;
    }
    return true;
}
