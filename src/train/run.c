/*
 * Implements functions that the algorithms share: full gradients, mini-batches, random orders, step
 * sizes.
 */
#include "run.h"

#include <math.h>
#include <string.h>

#include "err.h"
#include "loss.h"
#include "vector.h"

struct hm_random hm__run_random(const struct hm_run *run, unsigned use)
{
    struct hm_random random;
    /*
     * The number of a random stream has 40 bits for the iteration, 20 bits for the rank and 4 bits
     * for `use`.
     */
    uint64_t stream = ((uint64_t)run->iteration << 24) ^ ((uint64_t)run->comm->rank << 4) ^ use;

    hm__random_init(&random, run->settings.seed, stream);
    return random;
}

double hm__run_norm2(const struct hm_run *run)
{
    return hm__dot(run->w, run->w, run->objective->unknowns);
}

double hm__run_part(struct hm_run *run, const double *w, const uint32_t *list, size_t count)
{
    memset(run->gradient, 0, (run->objective->unknowns + HM_RUN_EXTRA) * sizeof(double));
    return hm__run_add(run, w, list, count);
}

double hm__run_add(struct hm_run *run, const double *w, const uint32_t *list, size_t count)
{
    struct hm_objective *o = run->objective;
    double flop;

    double sum = o->ops->eval(o, w, list, count, run->gradient, &flop);
    hm__comm_work(run->comm, flop);
    return sum;
}

double hm__run_full(struct hm_run *run, const double *w)
{
    struct hm_objective *o = run->objective;
    size_t d = o->unknowns;
    double *g = run->gradient;

    if (run->platform && run->platform->sum) {
        run->platform->sum(run, w);
    } else {
        g[d] = hm__run_part(run, w, NULL, o->rows.count);
        hm__comm_sum(run->comm, g, d + 1, run->scratch);
    }
    for (size_t j = 0; j < d; j++)
        g[j] = g[j] / o->total_rows + o->lambda * w[j];
    hm__comm_work(run->comm, 5 * (double)d);
    run->samples += o->total_rows;
    return g[d] / o->total_rows + 0.5 * o->lambda * hm__dot(w, w, d);
}

void hm__fill_range(uint32_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
}

void hm__shuffle(struct hm_random *random, uint32_t *order, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = hm__random_below(random, (uint32_t)i);
        uint32_t swap = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swap;
    }
}

/* ---- mini-batches --------------------------------------------------------------------------- */

struct hm_batches {
    uint32_t *order;  /* Rows of this rank in the order in which the current epoch uses them. */
    double epoch;     /* Epoch to which `order` belongs; -1 if there is none yet. */
    double per_epoch; /* Number of mini-batches per epoch. */
};

double hm__batches_in_epoch(const struct hm_run *run)
{
    return fmax(1, ceil(run->objective->total_rows / run->settings.batch));
}

int hm__batches_new(struct hm_run *run, struct hm_batches **ret_batches, struct hm_err *err)
{
    struct hm_batches *batches = hm__arena_alloc(run->arena, 1, sizeof(*batches));
    size_t count = run->objective->rows.count;

    if (!batches)
        return hm__fail_nomem(err);
    batches->order = hm__arena_alloc(run->arena, count + 1, sizeof(*batches->order));
    batches->epoch = -1;
    batches->per_epoch = hm__batches_in_epoch(run);
    if (!batches->order)
        return hm__fail_nomem(err);
    *ret_batches = batches;
    return 0;
}

const uint32_t *hm__batches_next(struct hm_run *run, struct hm_batches *batches, size_t *ret_count)
{
    double epoch = floor(run->iteration / batches->per_epoch);
    double place = run->iteration - epoch * batches->per_epoch;
    double rows = (double)run->objective->rows.count;

    if (epoch != batches->epoch) {
        struct hm_random random;
        uint64_t stream = ((uint64_t)epoch << 24) ^ ((uint64_t)run->comm->rank << 4) ^ 15;
        hm__random_init(&random, run->settings.seed, stream);
        hm__fill_range(batches->order, run->objective->rows.count);
        hm__shuffle(&random, batches->order, run->objective->rows.count);
        batches->epoch = epoch;
    }
    /*
     * Each rank rounds the bounds of a mini-batch with a different offset, so that the total number
     * of rows on all ranks is nearly the same for every mini-batch.
     */
    double phase = (double)run->comm->rank / run->comm->size;
    size_t first = (size_t)floor(rows * place / batches->per_epoch + phase);
    size_t last = (size_t)floor(rows * (place + 1) / batches->per_epoch + phase);
    *ret_count = last - first;
    return batches->order + first;
}

void hm__batches_gradient(struct hm_run *run, struct hm_batches *batches)
{
    struct hm_objective *o = run->objective;
    size_t d = o->unknowns, count;
    const uint32_t *list = hm__batches_next(run, batches, &count);
    double *g = run->gradient;

    hm__run_part(run, run->w, list, count);
    g[d] = (double)count;
    hm__comm_sum(run->comm, g, d + 1, run->scratch);
    hm__run_mean(run, g[d]);
    run->samples += g[d];
}

void hm__run_mean(struct hm_run *run, double rows)
{
    const struct hm_objective *o = run->objective;
    double scale = rows > 0 ? 1 / rows : 0;

    for (size_t j = 0; j < o->unknowns; j++)
        run->gradient[j] = run->gradient[j] * scale + o->lambda * run->w[j];
    hm__comm_work(run->comm, 3 * (double)o->unknowns);
}

/* ---- step sizes ----------------------------------------------------------------------------- */

/* Returns the mean of |x|^2 over the rows x of all ranks. */
static double run_mean_norm2(struct hm_run *run)
{
    const struct hm_rows *rows = &run->objective->rows;
    double sum = 0;

    for (size_t i = 0; i < rows->count; i++)
        sum += hm__row_norm2(rows, i);
    hm__comm_sum_few(run->comm, &sum, 1);
    return sum / run->objective->total_rows;
}

double hm__run_step_size(struct hm_run *run, double otherwise)
{
    double curvature = run->objective->curvature;

    if (run->settings.step > 0)
        return run->settings.step;
    if (curvature == 0)
        return otherwise;
    double mean = run_mean_norm2(run);
    return mean > 0 ? 1 / (curvature * mean) : 1;
}

/* ---- dual variables ------------------------------------------------------------------------- */

void hm__run_derive_dual(struct hm_run *run, double *alpha)
{
    const struct hm_objective *o = run->objective;
    size_t d = o->unknowns;
    double scale = 1 / (o->lambda * o->total_rows);

    memset(run->gradient, 0, d * sizeof(double));
    for (size_t i = 0; i < o->rows.count; i++) {
        alpha[i] = -o->loss->slope(hm__row_dot(&o->rows, i, run->w), o->rows.labels[i]);
        hm__row_axpy(&o->rows, i, scale * alpha[i], run->gradient);
    }
    hm__comm_sum(run->comm, run->gradient, d, run->scratch);
    memcpy(run->w, run->gradient, d * sizeof(double));
}
