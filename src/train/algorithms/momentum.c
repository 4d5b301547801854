/*
 * Implements mini-batch gradient descent with momentum: v = m v + g, w -= s v, where v is the
 * velocity, m is the momentum, g is the gradient and s is the step size (Polyak 1964, in the form
 * of Sutskever et al. 2013 without Nesterov's look-ahead).
 */
#include "err.h"
#include "run.h"

struct momentum {
    struct hm_batches *batches;
    double *velocity;
};

static int momentum_begin(struct hm_run *run, struct hm_err *err)
{
    struct momentum *s = hm__arena_alloc(run->arena, 1, sizeof(*s));

    if (!s)
        return hm__fail_nomem(err);
    s->velocity = hm__arena_alloc(run->arena, run->objective->unknowns, sizeof(double));
    if (!s->velocity)
        return hm__fail_nomem(err);
    run->state = s;
    return hm__batches_new(run, &s->batches, err);
}

static void momentum_prepare(struct hm_run *run)
{
    run->step = run->settings.step;
    /*
     * With this default step size, linear problems make the same long-run progress as without
     * momentum.
     */
    if (run->step == 0)
        run->step = run->objective->curvature > 0
                        ? (1 - run->settings.momentum) * hm__run_step_size(run, 1)
                        : 0.05;
}

static void momentum_update(struct hm_run *run, double weight, double done)
{
    struct momentum *s = run->state;
    size_t d = run->objective->unknowns;
    double size = run->step;

    (void)done;
    if (run->objective->curvature > 0)
        size /= 1 + run->objective->lambda * run->step * run->iteration;
    for (size_t j = 0; j < d; j++) {
        s->velocity[j] = run->settings.momentum * s->velocity[j] + weight * run->gradient[j];
        run->w[j] -= size * s->velocity[j];
    }
    hm__comm_work(run->comm, 4 * (double)d);
}

static void momentum_step(struct hm_run *run)
{
    struct momentum *s = run->state;

    hm__batches_gradient(run, s->batches);
    momentum_update(run, 1, run->iteration);
}

static size_t momentum_parts(struct hm_run *run, struct hm_part parts[HM_PARTS])
{
    struct momentum *s = run->state;

    parts[0] = (struct hm_part){"velocity", s->velocity, run->objective->unknowns, false};
    return 1;
}

const struct hm_algorithm hm__algorithm_momentum = {
    .name = "momentum",
    .title = "mini-batch gradient descent with momentum",
    .traits = HM_TRAIT_BATCHES,
    .defaults = {.batch = 128, .momentum = 0.9},
    .begin = momentum_begin,
    .prepare = momentum_prepare,
    .step = momentum_step,
    .update = momentum_update,
    .parts = momentum_parts,
};
