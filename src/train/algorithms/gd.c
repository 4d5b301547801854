/*
 * Implements full gradient descent. The step size s starts at twice the last step size and is
 * halved until Armijo's condition P(w - s g) <= P(w) - s |g|^2 / 10^4 holds, where g is the
 * gradient.
 *
 * With the non-smooth hinge loss, the steps that a line search along a subgradient accepts may
 * become ever shorter, so that the search converges to a point that is not a minimum. For this
 * loss, the step size in iteration t is at least s_0 / (1 + lambda s_0 t), as in sgd.c. With this
 * step size, the method converges without descending in every step.
 */
#include <math.h>
#include <string.h>

#include "err.h"
#include "loss.h"
#include "run.h"
#include "vector.h"

enum { HALVINGS = 40 };

struct gd {
    double *trial; /* Weights at which the line search evaluates the objective. */
    double *slope; /* Gradient of the objective at run->w. */
    /* Array of one value, the last step size; it is an array so that checkpoints can store it. */
    double *size;
    double first; /* s_0. */
};

static int gd_begin(struct hm_run *run, struct hm_err *err)
{
    struct gd *s = hm__arena_alloc(run->arena, 1, sizeof(*s));
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

static void gd_prepare(struct hm_run *run)
{
    struct gd *s = run->state;

    run->step = s->first = s->size[0] = hm__run_step_size(run, 1);
}

/*
 * Returns the objective at w - step g, where w are the weights and g is the gradient at w; the
 * gradient at the new point is stored in run->gradient.
 */
static double gd_eval_step(struct hm_run *run, double step)
{
    struct gd *s = run->state;

    for (size_t j = 0; j < run->objective->unknowns; j++)
        s->trial[j] = run->w[j] - step * s->slope[j];
    return hm__run_full(run, s->trial);
}

/* Returns the minimum step size for a non-smooth loss, or 0 for a smooth loss. */
static double gd_least_step(const struct hm_run *run)
{
    const struct gd *s = run->state;
    const struct hm_objective *o = run->objective;

    if (!o->loss || o->loss->smooth)
        return 0;
    return s->first / (1 + o->lambda * s->first * run->iteration);
}

static void gd_step(struct hm_run *run)
{
    struct gd *s = run->state;
    size_t d = run->objective->unknowns;
    double here = hm__run_full(run, run->w), norm2 = hm__dot(run->gradient, run->gradient, d);
    double size = 2 * s->size[0], least = gd_least_step(run);
    bool down = false;

    memcpy(s->slope, run->gradient, d * sizeof(double));
    for (int k = 0; k < HALVINGS && size >= least; k++, size /= 2) {
        down = gd_eval_step(run, size) <= here - 1e-4 * size * norm2;
        if (down)
            break;
    }
    /* No step decreases the objective by more than the rounding error. */
    if (!down && least == 0) {
        run->settled = true;
        return;
    }
    size = down ? size : least;
    hm__axpy(-size, s->slope, run->w, d);
    hm__comm_work(run->comm, 2 * (double)d);
    s->size[0] = size;
}

static size_t gd_parts(struct hm_run *run, struct hm_part parts[HM_PARTS])
{
    struct gd *s = run->state;

    parts[0] = (struct hm_part){"step", s->size, 1, false};
    return 1;
}

const struct hm_algorithm hm__algorithm_gd = {
    .name = "gd",
    .title = "gradient descent on all rows, with a line search",
    .begin = gd_begin,
    .prepare = gd_prepare,
    .step = gd_step,
    .parts = gd_parts,
};
