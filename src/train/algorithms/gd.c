/*
 * Full gradient descent. The step is found by halving until Armijo's condition holds, P(w - s g) <=
 * P(w) - s |g|^2 / 10^4, from twice the last one. The hinge has kinks where only ever shorter steps
 * along a subgradient go downhill, to where it is not least; of it no step is shorter than those of
 * sgd.c, s_0 / (1 + lambda s_0 t), which converge though not downhill.
 */
#include <math.h>
#include <string.h>

#include "err.h"
#include "loss.h"
#include "run.h"
#include "vector.h"

enum { HALVINGS = 40 };

struct descent {
    double *trial; /* a w to look at */
    double *slope; /* gradient at run->w */
    double *size;  /* [1]: of the last step */
    double first;  /* s_0 */
};

static int begin(struct hm_run *run, struct hm_err *err)
{
    struct descent *s = hm__arena_alloc(run->arena, 1, sizeof(*s));
    size_t d = run->objective->unknowns;

    if (!s)
        return hm__fail_nomem(err);
    s->trial = hm__arena_alloc(run->arena, d, sizeof(double));
    s->slope = hm__arena_alloc(run->arena, d, sizeof(double));
    s->size = hm__arena_alloc(run->arena, 1, sizeof(double));
    if (!s->trial || !s->slope || !s->size)
        return hm__fail_nomem(err);
    run->state = s;
    return 0;
}

static void prepare(struct hm_run *run)
{
    struct descent *s = run->state;

    run->step = s->first = s->size[0] = hm__run_step_size(run, 1);
}

/* The objective at w - step g, and its gradient in run->gradient. */
static double look(struct hm_run *run, double step)
{
    struct descent *s = run->state;

    for (size_t j = 0; j < run->objective->unknowns; j++)
        s->trial[j] = run->w[j] - step * s->slope[j];
    return hm__run_full(run, s->trial);
}

/* Of a loss with kinks, the shortest step to take; otherwise 0. */
static double least_step(const struct hm_run *run)
{
    const struct descent *s = run->state;
    const struct hm_objective *o = run->objective;

    if (!o->loss || o->loss->smooth)
        return 0;
    return s->first / (1 + o->lambda * s->first * run->iteration);
}

static void step(struct hm_run *run)
{
    struct descent *s = run->state;
    size_t d = run->objective->unknowns;
    double here = hm__run_full(run, run->w), norm2 = hm__dot(run->gradient, run->gradient, d);
    double size = 2 * s->size[0], least = least_step(run);
    bool down = false;

    memcpy(s->slope, run->gradient, d * sizeof(double));
    for (int k = 0; k < HALVINGS && size >= least; k++, size /= 2) {
        down = look(run, size) <= here - 1e-4 * size * norm2;
        if (down)
            break;
    }
    if (!down && least == 0) { /* as good as it gets */
        run->settled = true;
        return;
    }
    size = down ? size : least;
    hm__axpy(-size, s->slope, run->w, d);
    hm__comm_work(run->comm, 2 * (double)d);
    s->size[0] = size;
}

static size_t parts(struct hm_run *run, struct hm_part parts[HM_PARTS])
{
    struct descent *s = run->state;

    parts[0] = (struct hm_part){"step", s->size, 1, false};
    return 1;
}

const struct hm_algorithm hm__algorithm_gd = {
    .name = "gd",
    .title = "gradient descent on all rows, with a line search",
    .begin = begin,
    .prepare = prepare,
    .step = step,
    .parts = parts,
};
