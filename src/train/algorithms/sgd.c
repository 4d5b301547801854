/*
 * Implements mini-batch stochastic gradient descent: w -= s_t g_t, where g_t is the gradient of
 * mini-batch t. For linear problems, the step size decreases as s_t = s / (1 + lambda s t), so that
 * the method converges; for networks, it is constant (Bottou: Stochastic gradient descent tricks,
 * 2012).
 */
#include "err.h"
#include "run.h"

struct sgd {
    struct hm_batches *batches;
};

static int sgd_begin(struct hm_run *run, struct hm_err *err)
{
    struct sgd *s = hm__arena_alloc(run->arena, 1, sizeof(*s));

    if (!s)
        return hm__fail_nomem(err);
    run->state = s;
    return hm__batches_new(run, &s->batches, err);
}

static void sgd_prepare(struct hm_run *run)
{
    run->step = hm__run_step_size(run, 0.1);
}

static void sgd_update(struct hm_run *run, double weight, double done)
{
    size_t d = run->objective->unknowns;
    double size = run->step;

    (void)done;
    if (run->objective->curvature > 0)
        size /= 1 + run->objective->lambda * run->step * run->iteration;
    size *= weight;
    for (size_t j = 0; j < d; j++)
        run->w[j] -= size * run->gradient[j];
    hm__comm_work(run->comm, 2 * (double)d);
}

static void sgd_step(struct hm_run *run)
{
    struct sgd *s = run->state;

    hm__batches_gradient(run, s->batches);
    sgd_update(run, 1, run->iteration);
}

const struct hm_algorithm hm__algorithm_sgd = {
    .name = "sgd",
    .title = "mini-batch stochastic gradient descent",
    .traits = HM_TRAIT_BATCHES,
    .defaults = {.batch = 128},
    .begin = sgd_begin,
    .prepare = sgd_prepare,
    .step = sgd_step,
    .update = sgd_update,
};
