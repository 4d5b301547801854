/*
 * Implements Adam. A step of size s uses m, a running mean of the gradient g, and v, a running mean
 * of g^2. Both means start at 0; the factors with b1^t and b2^t correct the error that this causes.
 * In step t, with the decay rates b1 and b2,
 *
 *     m = b1 m + (1 - b1) g,   v = b2 v + (1 - b2) g^2,
 *     w -= s sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + 1e-8).
 *
 * Kingma and Ba: Adam: a method for stochastic optimization, ICLR 2015.
 */
#include <math.h>

#include "err.h"
#include "run.h"

struct adam {
    struct hm_batches *batches;
    double *mean, *square;
};

static int adam_begin(struct hm_run *run, struct hm_err *err)
{
    struct adam *s = hm__arena_alloc(run->arena, 1, sizeof(*s));

    if (!s)
        return hm__fail_nomem(err);
    run->step = run->settings.step > 0 ? run->settings.step : 0.001;
    s->mean = hm__arena_alloc(run->arena, run->objective->unknowns, sizeof(double));
    s->square = hm__arena_alloc(run->arena, run->objective->unknowns, sizeof(double));
    if (!s->mean || !s->square)
        return hm__fail_nomem(err);
    run->state = s;
    return hm__batches_new(run, &s->batches, err);
}

static void adam_update(struct hm_run *run, double weight, double done)
{
    struct adam *s = run->state;
    size_t d = run->objective->unknowns;
    double t = done + 1, b1 = run->settings.momentum, b2 = 0.999;
    double size = weight * run->step * sqrt(1 - pow(b2, t)) / (1 - pow(b1, t));

    for (size_t j = 0; j < d; j++) {
        double g = run->gradient[j];
        s->mean[j] = b1 * s->mean[j] + (1 - b1) * g;
        s->square[j] = b2 * s->square[j] + (1 - b2) * g * g;
        run->w[j] -= size * s->mean[j] / (sqrt(s->square[j]) + 1e-8);
    }
    hm__comm_work(run->comm, 12 * (double)d);
}

static void adam_step(struct hm_run *run)
{
    struct adam *s = run->state;

    hm__batches_gradient(run, s->batches);
    adam_update(run, 1, run->iteration);
}

static size_t adam_parts(struct hm_run *run, struct hm_part parts[HM_PARTS])
{
    struct adam *s = run->state;

    parts[0] = (struct hm_part){"mean", s->mean, run->objective->unknowns, false};
    parts[1] = (struct hm_part){"square", s->square, run->objective->unknowns, false};
    return 2;
}

const struct hm_algorithm hm__algorithm_adam = {
    .name = "adam",
    .title = "Adam on mini-batches",
    .traits = HM_TRAIT_BATCHES,
    .defaults = {.batch = 128, .momentum = 0.9},
    .begin = adam_begin,
    .step = adam_step,
    .update = adam_update,
    .parts = adam_parts,
};
