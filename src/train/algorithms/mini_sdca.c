/*
 * Implements mini-batch SDCA: the steps of all b rows of a batch are computed from the same weights
 * w. The curvature of each row is multiplied by beta, so that the sum of the steps does not
 * overshoot:
 *
 *     beta = 1 + (b - 1)(omega - 1)/(N - 1),  omega = the largest eigenvalue of the Gram matrix of
 *     all N rows, each scaled to norm 1.
 *
 * Takac, Bijral, Richtarik and Srebro: Mini-batch primal and dual methods for SVMs, ICML 2013.
 * omega is computed by the power method before the first iteration; this time is not measured.
 */
#include <math.h>
#include <string.h>

#include "err.h"
#include "loss.h"
#include "run.h"
#include "vector.h"

enum { POWER_STEPS = 30 };

struct mini_sdca {
    struct hm_batches *batches;
    double *alpha, *norms, *change;
    double beta;
};

/*
 * Computes sum_i x_i (x_i.v) / |x_i|^2 over the rows x_i of all ranks and stores it in
 * run->gradient; returns the norm of the sum.
 */
static double mini_sdca_multiply(struct hm_run *run, const double *v)
{
    struct mini_sdca *s = run->state;
    const struct hm_rows *rows = &run->objective->rows;
    size_t d = run->objective->unknowns;

    memset(run->gradient, 0, d * sizeof(double));
    for (size_t i = 0; i < rows->count; i++)
        if (s->norms[i] > 0)
            hm__row_axpy(rows, i, hm__row_dot(rows, i, v) / s->norms[i], run->gradient);
    hm__comm_sum(run->comm, run->gradient, d, run->scratch);
    return sqrt(hm__dot(run->gradient, run->gradient, d));
}

/*
 * Returns omega, the largest eigenvalue of the Gram matrix of the rows scaled to norm 1. The power
 * method converges to omega from below, so a safety margin of 5 % is added.
 */
static double mini_sdca_largest_eigenvalue(struct hm_run *run)
{
    struct mini_sdca *s = run->state;
    size_t d = run->objective->unknowns;
    struct hm_random random;
    double norm = 0;

    /* All ranks draw the same random vector, which is the starting point of the power method. */
    hm__random_init(&random, run->settings.seed, UINT64_MAX);
    for (size_t j = 0; j < d; j++)
        s->change[j] = hm__random_uniform(&random);
    double start = sqrt(hm__dot(s->change, s->change, d));
    for (size_t j = 0; j < d; j++)
        s->change[j] /= start;
    for (int k = 0; k < POWER_STEPS; k++) {
        norm = mini_sdca_multiply(run, s->change);
        for (size_t j = 0; j < d && norm > 0; j++)
            s->change[j] = run->gradient[j] / norm;
    }
    return fmax(1, 1.05 * norm);
}

static int mini_sdca_begin(struct hm_run *run, struct hm_err *err)
{
    struct mini_sdca *s = hm__arena_alloc(run->arena, 1, sizeof(*s));
    const struct hm_objective *o = run->objective;
    size_t count = o->rows.count + 1;

    if (!s)
        return hm__fail_nomem(err);
    s->alpha = hm__arena_alloc(run->arena, count, sizeof(double));
    s->norms = hm__arena_alloc(run->arena, count, sizeof(double));
    s->change = hm__arena_alloc(run->arena, o->unknowns, sizeof(double));
    if (!s->alpha || !s->norms || !s->change)
        return hm__fail_nomem(err);
    run->state = s;
    for (size_t i = 0; i < o->rows.count; i++)
        s->norms[i] = hm__row_norm2(&o->rows, i);
    return hm__batches_new(run, &s->batches, err);
}

static void mini_sdca_prepare(struct hm_run *run)
{
    struct mini_sdca *s = run->state;
    double rows = run->objective->total_rows, batch = fmin(run->settings.batch, rows);

    s->beta = 1 + (batch - 1) * (mini_sdca_largest_eigenvalue(run) - 1) / fmax(1, rows - 1);
}

static void mini_sdca_step(struct hm_run *run)
{
    struct mini_sdca *s = run->state;
    const struct hm_objective *o = run->objective;
    size_t d = o->unknowns, count;
    const uint32_t *list = hm__batches_next(run, s->batches, &count);
    double scale = 1 / (o->lambda * o->total_rows), touched = 0;

    memset(run->gradient, 0, (d + HM_RUN_EXTRA) * sizeof(double));
    for (size_t k = 0; k < count; k++) {
        size_t i = list[k];
        double z = hm__row_dot(&o->rows, i, run->w), old = s->alpha[i];
        s->alpha[i] = o->loss->ascend(z, o->rows.labels[i], old, s->beta * scale * s->norms[i]);
        if (s->alpha[i] != old)
            hm__row_axpy(&o->rows, i, scale * (s->alpha[i] - old), run->gradient);
        touched += (double)hm__row_entries(&o->rows, i) * (s->alpha[i] != old ? 2 : 1);
    }
    run->gradient[d] = (double)count;
    hm__comm_work(run->comm, 2 * touched);
    hm__comm_sum(run->comm, run->gradient, d + 1, run->scratch);
    hm__axpy(1, run->gradient, run->w, d);
    hm__comm_work(run->comm, (double)d);
    run->samples += run->gradient[d];
}

static double mini_sdca_dual(const struct hm_run *run)
{
    const struct mini_sdca *s = run->state;
    const struct hm_objective *o = run->objective;
    double sum = 0;

    for (size_t i = 0; i < o->rows.count; i++)
        sum += o->loss->dual(s->alpha[i], o->rows.labels[i]);
    return sum;
}

static size_t mini_sdca_parts(struct hm_run *run, struct hm_part parts[HM_PARTS])
{
    struct mini_sdca *s = run->state;

    parts[0] = (struct hm_part){"alpha", s->alpha, run->objective->rows.count, true};
    return 1;
}

const struct hm_algorithm hm__algorithm_mini_sdca = {
    .name = "mini-sdca",
    .title = "mini-batch stochastic dual coordinate ascent",
    .traits = HM_TRAIT_BATCHES | HM_TRAIT_DUAL | HM_TRAIT_LINEAR,
    .defaults = {.batch = 128},
    .begin = mini_sdca_begin,
    .prepare = mini_sdca_prepare,
    .step = mini_sdca_step,
    .dual = mini_sdca_dual,
    .parts = mini_sdca_parts,
};
