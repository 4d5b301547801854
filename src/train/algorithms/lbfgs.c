/*
 * Implements L-BFGS. The search direction is computed from the last changes of the weights w and of
 * the gradient (Nocedal's two-loop recursion). The step size is found by bisection and doubling
 * until the weak Wolfe conditions hold; this also works at the kinks of the hinge loss (Lewis and
 * Overton: Nonsmooth optimization via quasi-Newton methods, 2013).
 */
#include <math.h>
#include <string.h>

#include "err.h"
#include "run.h"
#include "vector.h"

enum { TRIALS = 40 };

struct lbfgs {
    /* Largest number of stored pairs (change of the weights w, change of the gradient). */
    size_t pairs;
    bool fresh; /* True if the objective and the gradient at the weights w are not known yet. */
    /*
     * Three values: number of stored pairs, index of the next pair, and objective at the weights w.
     */
    double *numbers;
    double *changes; /* Stored changes of the weights w; pairs x unknowns elements. */
    double *slopes;  /* Stored changes of the gradient; pairs x unknowns elements. */
    double *here;    /* Gradient of the objective at the weights w. */
    double *direction, *trial, *factors;
};

static int lbfgs_begin(struct hm_run *run, struct hm_err *err)
{
    struct lbfgs *s = hm__arena_alloc(run->arena, 1, sizeof(*s));
    size_t d = run->objective->unknowns;

    if (!s)
        return hm__fail_nomem(err);
    s->pairs = (size_t)run->settings.memory;
    s->fresh = true;
    s->numbers = hm__arena_alloc(run->arena, 3, sizeof(double));
    s->changes = hm__arena_alloc(run->arena, s->pairs * d, sizeof(double));
    s->slopes = hm__arena_alloc(run->arena, s->pairs * d, sizeof(double));
    s->here = hm__arena_alloc(run->arena, d, sizeof(double));
    s->direction = hm__arena_alloc(run->arena, d, sizeof(double));
    s->trial = hm__arena_alloc(run->arena, d, sizeof(double));
    s->factors = hm__arena_alloc(run->arena, s->pairs, sizeof(double));
    if (!s->numbers || !s->changes || !s->slopes || !s->here || !s->direction || !s->trial ||
        !s->factors)
        return hm__fail_nomem(err);
    run->state = s;
    return 0;
}

/*
 * Computes direction = -H g with the two-loop recursion; the approximate inverse Hessian H starts
 * as a multiple of the identity.
 */
static void lbfgs_find_direction(struct hm_run *run)
{
    struct lbfgs *s = run->state;
    size_t d = run->objective->unknowns, kept = (size_t)s->numbers[0];
    size_t next = (size_t)s->numbers[1];
    double scale = 1;

    for (size_t j = 0; j < d; j++)
        s->direction[j] = -s->here[j];
    for (size_t k = 0; k < kept; k++) {
        size_t at = (next + s->pairs - 1 - k) % s->pairs;
        const double *change = s->changes + at * d, *slope = s->slopes + at * d;
        double curvature = hm__dot(change, slope, d);
        if (k == 0)
            scale = curvature / hm__dot(slope, slope, d);
        s->factors[at] = hm__dot(change, s->direction, d) / curvature;
        hm__axpy(-s->factors[at], slope, s->direction, d);
    }
    for (size_t j = 0; j < d; j++)
        s->direction[j] *= scale;
    for (size_t k = kept; k-- > 0;) {
        size_t at = (next + s->pairs - 1 - k) % s->pairs;
        const double *change = s->changes + at * d, *slope = s->slopes + at * d;
        double factor = hm__dot(slope, s->direction, d) / hm__dot(change, slope, d);
        hm__axpy(s->factors[at] - factor, change, s->direction, d);
    }
    hm__comm_work(run->comm, (double)(12 * kept + 2) * (double)d);
}

/*
 * Stores the last changes of w and of the gradient as a pair, if the curvature along the change of
 * w is positive.
 */
static void lbfgs_keep_pair(struct hm_run *run)
{
    struct lbfgs *s = run->state;
    size_t d = run->objective->unknowns, at = (size_t)s->numbers[1];
    double *change = s->changes + at * d, *slope = s->slopes + at * d, curvature = 0;

    for (size_t j = 0; j < d; j++)
        curvature += (s->trial[j] - run->w[j]) * (run->gradient[j] - s->here[j]);
    if (!(curvature > 1e-300)) /* Without positive curvature, the pair is not stored. */
        return;
    for (size_t j = 0; j < d; j++) {
        change[j] = s->trial[j] - run->w[j];
        slope[j] = run->gradient[j] - s->here[j];
    }
    s->numbers[0] = fmin((double)s->pairs, s->numbers[0] + 1);
    s->numbers[1] = (double)((at + 1) % s->pairs);
}

/*
 * Performs a line search from w along the search direction. Returns the objective at the point
 * found, or NAN if no point meets the Wolfe conditions. The point is stored in `trial` and its
 * gradient in run->gradient.
 */
static double lbfgs_search(struct hm_run *run, double size)
{
    struct lbfgs *s = run->state;
    size_t d = run->objective->unknowns;
    double slope = hm__dot(s->here, s->direction, d), low = 0, high = INFINITY;

    for (int k = 0; k < TRIALS; k++) {
        for (size_t j = 0; j < d; j++)
            s->trial[j] = run->w[j] + size * s->direction[j];
        double value = hm__run_full(run, s->trial);
        if (!(value <= s->numbers[2] + 1e-4 * size * slope))
            high = size;
        else if (hm__dot(run->gradient, s->direction, d) < 0.9 * slope)
            low = size;
        else
            return value;
        size = isinf(high) ? 2 * size : 0.5 * (low + high);
        if (!(size > 0) || (!isinf(high) && high - low <= 1e-14 * high))
            break;
    }
    return NAN;
}

static void lbfgs_step(struct hm_run *run)
{
    struct lbfgs *s = run->state;
    size_t d = run->objective->unknowns;

    if (s->fresh) {
        s->fresh = false;
        s->numbers[2] = hm__run_full(run, run->w);
        memcpy(s->here, run->gradient, d * sizeof(double));
    }
    lbfgs_find_direction(run);
    double first = s->numbers[0] > 0 ? 1 : fmin(1, 1 / sqrt(hm__dot(s->here, s->here, d) + 1e-300));
    double value = lbfgs_search(run, first);
    /*
     * The stored pairs give a direction that is not useful, so they are discarded and the gradient
     * is used.
     */
    if (isnan(value) && s->numbers[0] > 0) {
        s->numbers[0] = 0;
        lbfgs_find_direction(run);
        value = lbfgs_search(run, fmin(1, 1 / sqrt(hm__dot(s->here, s->here, d) + 1e-300)));
    }
    /* The objective does not decrease along the gradient either, so the algorithm has converged. */
    if (isnan(value)) {
        run->settled = true;
        return;
    }
    lbfgs_keep_pair(run);
    memcpy(run->w, s->trial, d * sizeof(double));
    memcpy(s->here, run->gradient, d * sizeof(double));
    /* If the improvement is smaller than the rounding error, the algorithm has converged. */
    run->settled = !(value < s->numbers[2]);
    s->numbers[2] = value;
}

static size_t lbfgs_parts(struct hm_run *run, struct hm_part parts[HM_PARTS])
{
    struct lbfgs *s = run->state;
    size_t d = run->objective->unknowns;

    parts[0] = (struct hm_part){"numbers", s->numbers, 3, false};
    parts[1] = (struct hm_part){"changes", s->changes, s->pairs * d, false};
    parts[2] = (struct hm_part){"slopes", s->slopes, s->pairs * d, false};
    parts[3] = (struct hm_part){"gradient", s->here, d, false};
    return 4;
}

/* Discards a stored index that is out of range, which only a forged checkpoint can contain. */
static int lbfgs_resumed(struct hm_run *run, struct hm_err *err)
{
    struct lbfgs *s = run->state;
    double kept = s->numbers[0], next = s->numbers[1], room = (double)s->pairs;

    (void)err;
    s->fresh = false;
    if (!(kept >= 0 && kept <= room && next >= 0 && next < room))
        s->numbers[0] = s->numbers[1] = 0;
    return 0;
}

const struct hm_algorithm hm__algorithm_lbfgs = {
    .name = "lbfgs",
    .title = "L-BFGS on all rows",
    .defaults = {.memory = 10},
    .begin = lbfgs_begin,
    .step = lbfgs_step,
    .parts = lbfgs_parts,
    .resumed = lbfgs_resumed,
};
