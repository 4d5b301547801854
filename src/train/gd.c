/*
 * Full gradient descent. The step is found by halving until Armijo's condition holds, P(w - s g) <=
 * P(w) - s |g|^2 / 10^4, from twice the last one. The hinge has kinks, where a subgradient need not
 * lead downhill: it converges slowly there, and may settle a little above the optimum.
 */
#include <math.h>
#include <string.h>

#include "agree.h"
#include "err.h"
#include "loss.h"
#include "run.h"
#include "vector.h"

enum { HALVINGS = 40 };

struct descent {
    double *trial; /* a w to look at */
    double *slope; /* gradient at run->w */
    double *size;  /* [1]: of the last step */
};

static int begin(struct hm_run *run, struct hm_err *err)
{
    struct descent *s = hm_arena_alloc(run->arena, 1, sizeof(*s));
    size_t d = run->objective->unknowns;

    if (s) {
        s->trial = hm_arena_alloc(run->arena, d, sizeof(double));
        s->slope = hm_arena_alloc(run->arena, d, sizeof(double));
        s->size = hm_arena_alloc(run->arena, 1, sizeof(double));
    }
    int rc = s && s->trial && s->slope && s->size ? 0 : hm_fail_nomem(err);
    rc = hm_agree(run->comm, rc, err);
    if (rc)
        return rc;
    s->size[0] = hm_run_step_size(run, 1);
    run->state = s;
    return 0;
}

/* The objective at w - step g, and its gradient in run->gradient. */
static double look(struct hm_run *run, double step)
{
    struct descent *s = run->state;

    for (size_t j = 0; j < run->objective->unknowns; j++)
        s->trial[j] = run->w[j] - step * s->slope[j];
    return hm_run_full(run, s->trial);
}

static void step(struct hm_run *run)
{
    struct descent *s = run->state;
    size_t d = run->objective->unknowns;
    double here = hm_run_full(run, run->w), norm2 = hm_dot(run->gradient, run->gradient, d);
    double size = 2 * s->size[0];

    memcpy(s->slope, run->gradient, d * sizeof(double));
    for (int k = 0; k < HALVINGS; k++, size /= 2)
        if (look(run, size) <= here - 1e-4 * size * norm2) {
            memcpy(run->w, s->trial, d * sizeof(double));
            s->size[0] = size;
            return;
        }
    run->settled = true;
}

static size_t parts(struct hm_run *run, struct hm_part parts[HM_PARTS])
{
    struct descent *s = run->state;

    parts[0] = (struct hm_part){"step", s->size, 1, false};
    return 1;
}

const struct hm_algorithm hm_algorithm_gd = {
    .name = "gd",
    .title = "gradient descent on all rows, with a line search",
    .begin = begin,
    .step = step,
    .parts = parts,
};
