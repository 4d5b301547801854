/*
 * Mini-batch gradient descent with momentum: v = m v + g, w -= s v (Polyak 1964, in the form of
 * Sutskever et al. 2013 without look-ahead).
 */
#include "agree.h"
#include "err.h"
#include "run.h"

struct momentum {
    struct hm_batches *batches;
    double *velocity;
    double step;
};

static int begin(struct hm_run *run, struct hm_err *err)
{
    struct momentum *s = hm_arena_alloc(run->arena, 1, sizeof(*s));
    int rc = s ? hm_batches_new(run, &s->batches, err) : hm_fail_nomem(err);

    if (rc == 0) {
        s->velocity = hm_arena_alloc(run->arena, run->objective->unknowns, sizeof(double));
        rc = s->velocity ? 0 : hm_fail_nomem(err);
    }
    rc = hm_agree(run->comm, rc, err);
    if (rc)
        return rc;
    s->step = run->settings.step;
    if (s->step == 0) /* of a linear problem, the same way in the long run as without momentum */
        s->step =
            run->objective->loss ? (1 - run->settings.momentum) * hm_run_step_size(run, 1) : 0.05;
    run->state = s;
    return 0;
}

static void step(struct hm_run *run)
{
    struct momentum *s = run->state;
    size_t d = run->objective->unknowns;
    double size = s->step;

    if (run->objective->loss)
        size /= 1 + run->objective->lambda * s->step * run->iteration;
    hm_batches_gradient(run, s->batches);
    for (size_t j = 0; j < d; j++) {
        s->velocity[j] = run->settings.momentum * s->velocity[j] + run->gradient[j];
        run->w[j] -= size * s->velocity[j];
    }
    hm_comm_work(run->comm, 4 * (double)d);
}

static size_t parts(struct hm_run *run, struct hm_part parts[HM_PARTS])
{
    struct momentum *s = run->state;

    parts[0] = (struct hm_part){"velocity", s->velocity, run->objective->unknowns, false};
    return 1;
}

const struct hm_algorithm hm_algorithm_momentum = {
    .name = "momentum",
    .title = "mini-batch gradient descent with momentum",
    .traits = HM_TRAIT_BATCHES,
    .defaults = {.batch = 128, .momentum = 0.9},
    .begin = begin,
    .step = step,
    .parts = parts,
};
