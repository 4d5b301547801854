/*
 * Mini-batch stochastic gradient descent: w -= s_t g_t. Of a linear problem the step falls as
 * s_t = s / (1 + lambda s t), which converges; of a network it stays (Bottou: Stochastic gradient
 * descent tricks, 2012).
 */
#include "agree.h"
#include "err.h"
#include "run.h"

struct sgd {
    struct hm_batches *batches;
    double step;
};

static int begin(struct hm_run *run, struct hm_err *err)
{
    struct sgd *s = hm_arena_alloc(run->arena, 1, sizeof(*s));
    int rc = s ? hm_batches_new(run, &s->batches, err) : hm_fail_nomem(err);

    rc = hm_agree(run->comm, rc, err);
    if (rc)
        return rc;
    s->step = hm_run_step_size(run, 0.1);
    run->state = s;
    return 0;
}

static void step(struct hm_run *run)
{
    struct sgd *s = run->state;
    size_t d = run->objective->unknowns;
    double size = s->step;

    if (run->objective->loss)
        size /= 1 + run->objective->lambda * s->step * run->iteration;
    hm_batches_gradient(run, s->batches);
    for (size_t j = 0; j < d; j++)
        run->w[j] -= size * run->gradient[j];
    hm_comm_work(run->comm, 2 * (double)d);
}

const struct hm_algorithm hm_algorithm_sgd = {
    .name = "sgd",
    .title = "mini-batch stochastic gradient descent",
    .traits = HM_TRAIT_BATCHES,
    .defaults = {.batch = 128},
    .begin = begin,
    .step = step,
};
