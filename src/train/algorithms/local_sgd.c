/*
 * Implements local SGD: every rank performs passes over its own rows, then the weights w are
 * averaged over the ranks (Zinkevich et al.: Parallelized stochastic gradient descent, 2010; Stich:
 * Local SGD converges fast, 2019).
 *
 * The step for a row x with label y is implicit: with step size s, w becomes the w' that minimises
 * weight * l(w'.x, y) + |w' - w|^2 / (2 s), where l is the loss. Such a step never overshoots the
 * row's own optimum, no matter how large the weight and the step size are (Kulis and Bartlett 2010;
 * Karampatziakis and Langford 2011), and it equals the dual step of loss.h from alpha = 0. The step
 * size decreases as s / (1 + lambda s t). The factor by which the regulariser scales w is stored
 * separately, so that the cost of a sparse row is proportional to its number of entries. Networks
 * use explicit steps on mini-batches instead.
 */
#include "local_sgd.h"

#include <math.h>
#include <string.h>

#include "err.h"
#include "loss.h"
#include "vector.h"

static int local_sgd_init(struct hm_local_sgd *local, struct hm_run *run, struct hm_err *err)
{
    size_t d = run->objective->unknowns;

    local->w = hm__arena_alloc(run->arena, d, sizeof(double));
    local->order = hm__arena_alloc(run->arena, run->objective->rows.count + 1, sizeof(uint32_t));
    local->part = hm__arena_alloc(run->arena, d, sizeof(double));
    if (!local->w || !local->order || !local->part)
        return hm__fail_nomem(err);
    return 0;
}

/* Multiplies the weights w by the factor that is stored separately, and sets this factor to 1. */
static void local_sgd_apply_factor(double *w, size_t d, double *factor)
{
    for (size_t j = 0; j < d; j++)
        w[j] *= *factor;
    *factor = 1;
}

/*
 * Performs one pass over the rows of a linear problem; returns its work: the number of entries of
 * rows that were read or added to w.
 */
static double local_sgd_pass_rows(struct hm_local_sgd *local, struct hm_run *run, double weight)
{
    const struct hm_objective *o = run->objective;
    const struct hm_rows *rows = &o->rows;
    /* The current weights are `factor` times local->w, so that scaling them takes no time. */
    double factor = 1, touched = 0;

    for (size_t k = 0; k < rows->count; k++) {
        size_t i = local->order[k];
        double size = local->step / (1 + o->lambda * local->step * local->seen);
        double z = factor * hm__row_dot(rows, i, local->w);
        double pull = size * weight;
        double alpha = o->loss->ascend(z, rows->labels[i], 0, pull * hm__row_norm2(rows, i));
        factor /= 1 + pull * o->lambda;
        if (alpha != 0)
            hm__row_axpy(rows, i, pull * alpha / factor, local->w);
        if (factor < 1e-100)
            local_sgd_apply_factor(local->w, o->unknowns, &factor);
        touched += (double)hm__row_entries(rows, i) * (alpha != 0 ? 3 : 2);
        /*
         * Each of the other ranks processes a row at the same time, so the total number of
         * processed rows grows by the number of ranks.
         */
        local->seen += run->comm->size;
    }
    local_sgd_apply_factor(local->w, o->unknowns, &factor);
    return touched;
}

/* Performs one pass over the rows in mini-batches; returns the number of floating-point
 * operations. */
static double local_sgd_pass_batches(struct hm_local_sgd *local, struct hm_run *run, double weight)
{
    struct hm_objective *o = run->objective;
    size_t batch = (size_t)fmax(1, run->settings.batch), d = o->unknowns;
    double flop, all = 0;

    for (size_t at = 0; at < o->rows.count; at += batch) {
        size_t count = o->rows.count - at < batch ? o->rows.count - at : batch;
        memset(local->part, 0, d * sizeof(double));
        o->ops->eval(o, local->w, local->order + at, count, local->part, &flop);
        for (size_t j = 0; j < d; j++)
            local->w[j] -=
                local->step * weight * (local->part[j] / (double)count + o->lambda * local->w[j]);
        all += flop + 5 * (double)d;
    }
    return all;
}

void hm__local_sgd_round(struct hm_run *run, double weight)
{
    struct hm_local_sgd *local = run->state;
    struct hm_objective *o = run->objective;
    size_t d = o->unknowns;
    struct hm_random random = hm__run_random(run, 0);
    double share = (double)o->rows.count / o->total_rows;

    local->seen = run->iteration * run->settings.passes * o->total_rows;

    memcpy(local->w, run->w, d * sizeof(double));
    for (double pass = 0; pass < run->settings.passes; pass++) {
        hm__fill_range(local->order, o->rows.count);
        hm__shuffle(&random, local->order, o->rows.count);
        hm__comm_work(run->comm, o->loss ? 2 * local_sgd_pass_rows(local, run, weight)
                                         : local_sgd_pass_batches(local, run, weight));
    }
    for (size_t j = 0; j < d; j++)
        run->gradient[j] = share * (local->w[j] - run->w[j]);
    hm__comm_work(run->comm, 2 * (double)d);
    hm__comm_sum(run->comm, run->gradient, d, run->scratch);
    hm__axpy(1, run->gradient, run->w, d);
    run->samples += run->settings.passes * o->total_rows;
}

int hm__local_sgd_begin(struct hm_run *run, struct hm_err *err)
{
    struct hm_local_sgd *local = hm__arena_alloc(run->arena, 1, sizeof(*local));

    if (!local)
        return hm__fail_nomem(err);
    run->state = local;
    return local_sgd_init(local, run, err);
}

void hm__local_sgd_prepare(struct hm_run *run)
{
    struct hm_local_sgd *local = run->state;

    local->step = hm__run_step_size(run, 0.1);
}

static void local_sgd_step(struct hm_run *run)
{
    hm__local_sgd_round(run, 1);
}

const struct hm_algorithm hm__algorithm_local_sgd = {
    .name = "local-sgd",
    .title = "SGD with local updates, averaged",
    .defaults = {.passes = 1, .batch = 32},
    .begin = hm__local_sgd_begin,
    .prepare = hm__local_sgd_prepare,
    .step = local_sgd_step,
};
