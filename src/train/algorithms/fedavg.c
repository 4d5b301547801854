/*
 * Implements federated averaging (McMahan et al.: Communication-efficient learning of deep networks
 * from decentralized data, 2017). The rows belong to K clients (clients.h). An iteration is a
 * round, for which m clients are drawn at random without replacement. Each of them performs
 * settings.passes passes of mini-batch SGD over its own rows, starting from the weights w. Then the
 * mean of their changes, weighted by their numbers of rows n_k, is added to w:
 *
 *     w += sum over drawn k of n_k (w_k - w) / sum over drawn k of n_k,   m = max(1, round(C K))
 *
 * A rank processes its clients one after another; the sum over the ranks is a single all-reduce.
 * The step size decreases with the rounds t as in sgd.c, s / (1 + lambda s t), and is constant for
 * networks. Draws and orders of rows depend on the seed, the round and the client, so results on
 * different numbers of ranks differ only by rounding errors.
 */
#include <math.h>
#include <string.h>

#include "clients.h"
#include "err.h"
#include "run.h"
#include "shard.h"
#include "vector.h"

/*
 * Number of the random stream used to draw the clients; streams with smaller numbers belong to
 * single clients.
 */
enum { DRAW_STREAM = (1 << 20) - 1 };

struct fedavg {
    /*
     * First row of each client, followed by the number of rows as the last element; clients + 1
     * elements.
     */
    double *first;
    /* All clients in random order; the first of them are the clients of the round. */
    uint32_t *list;
    uint32_t *order;
    double *w, *part; /* Weights w of one client, and gradient of one of its mini-batches. */
    double shard;     /* Index of this rank's first row in the whole data. */
};

static int fedavg_begin(struct hm_run *run, struct hm_err *err)
{
    const struct hm_objective *o = run->objective;
    struct hm_train_settings *settings = &run->settings;
    struct fedavg *s = hm__arena_alloc(run->arena, 1, sizeof(*s));

    if (!s)
        return hm__fail_nomem(err);
    run->state = s;
    if (settings->clients == 0)
        settings->clients = run->comm->size;
    if (settings->fraction == 0)
        settings->fraction = 1;
    size_t clients = (size_t)settings->clients;
    s->first = hm__arena_alloc(run->arena, clients + 1, sizeof(*s->first));
    s->list = hm__arena_alloc(run->arena, clients, sizeof(*s->list));
    s->order = hm__arena_alloc(run->arena, o->rows.count + 1, sizeof(*s->order));
    s->w = hm__arena_alloc(run->arena, o->unknowns, sizeof(double));
    s->part = hm__arena_alloc(run->arena, o->unknowns, sizeof(double));
    if (!s->first || !s->list || !s->order || !s->w || !s->part)
        return hm__fail_nomem(err);
    hm__clients_divide(o->total_rows, settings->clients, settings->uneven, s->first);
    struct hm_shard own = hm__shard_in(run->comm, o->total_rows, run->comm->rank);
    s->shard = own.first;
    size_t begin = (size_t)hm__clients_on(settings->clients, run->comm->rank, run->comm->size);
    size_t end = (size_t)hm__clients_on(settings->clients, run->comm->rank + 1, run->comm->size);
    if (s->first[begin] != own.first || s->first[end] != own.first + own.count)
        return hm__fail(err, HM_E_CONFLICT, "the shares of the ranks are not those of the clients");
    return 0;
}

static void fedavg_prepare(struct hm_run *run)
{
    run->step = hm__run_step_size(run, 0.1);
}

/* Draws the clients of this round, which are the same on all ranks; returns their number. */
static size_t fedavg_draw(const struct hm_run *run, struct fedavg *s)
{
    size_t clients = (size_t)run->settings.clients;
    size_t drawn = (size_t)fmax(1, floor(run->settings.fraction * run->settings.clients + 0.5));
    struct hm_random random;

    hm__random_init(&random, run->settings.seed,
                    ((uint64_t)run->iteration << 24) ^ ((uint64_t)DRAW_STREAM << 4));
    hm__fill_range(s->list, clients);
    for (size_t i = 0; i < drawn; i++) {
        size_t j = i + hm__random_below(&random, (uint32_t)(clients - i));
        uint32_t swap = s->list[i];
        s->list[i] = s->list[j];
        s->list[j] = swap;
    }
    return drawn;
}

/*
 * Performs the passes of one client over rows first to first + count - 1 of this rank; the
 * resulting weights are in s->w.
 */
static void fedavg_train_client(struct hm_run *run, struct fedavg *s, uint32_t client,
                                uint32_t first, size_t count, double size)
{
    struct hm_objective *o = run->objective;
    size_t d = o->unknowns, batch = (size_t)run->settings.batch;
    struct hm_random random;
    double flop;

    hm__random_init(&random, run->settings.seed,
                    ((uint64_t)run->iteration << 24) ^ ((uint64_t)client << 4) ^ 1);
    memcpy(s->w, run->w, d * sizeof(double));
    for (double pass = 0; pass < run->settings.passes; pass++) {
        hm__fill_range(s->order, count);
        hm__shuffle(&random, s->order, count);
        for (size_t i = 0; i < count; i++)
            s->order[i] += first;
        for (size_t at = 0; at < count; at += batch) {
            size_t rows = count - at < batch ? count - at : batch;
            memset(s->part, 0, d * sizeof(double));
            o->ops->eval(o, s->w, s->order + at, rows, s->part, &flop);
            for (size_t j = 0; j < d; j++)
                s->w[j] -= size * (s->part[j] / (double)rows + o->lambda * s->w[j]);
            hm__comm_work(run->comm, flop + 5 * (double)d);
        }
    }
}

static void fedavg_step(struct hm_run *run)
{
    struct fedavg *s = run->state;
    const struct hm_objective *o = run->objective;
    size_t d = o->unknowns, drawn = fedavg_draw(run, s);
    double size = run->step, last = s->shard + (double)o->rows.count;

    if (o->curvature > 0)
        size /= 1 + o->lambda * run->step * run->iteration;
    memset(run->gradient, 0, (d + 1) * sizeof(double));
    for (size_t i = 0; i < drawn; i++) {
        uint32_t client = s->list[i];
        double count = s->first[client + 1] - s->first[client];
        if (s->first[client] < s->shard || s->first[client] >= last || count == 0)
            continue;
        fedavg_train_client(run, s, client, (uint32_t)(s->first[client] - s->shard), (size_t)count,
                            size);
        for (size_t j = 0; j < d; j++)
            run->gradient[j] += count * (s->w[j] - run->w[j]);
        run->gradient[d] += count;
        hm__comm_work(run->comm, 3 * (double)d);
    }
    hm__comm_sum(run->comm, run->gradient, d + 1, run->scratch);
    if (run->gradient[d] > 0)
        hm__axpy(1 / run->gradient[d], run->gradient, run->w, d);
    hm__comm_work(run->comm, 2 * (double)d);
    run->samples += run->settings.passes * run->gradient[d];
}

const struct hm_algorithm hm__algorithm_fedavg = {
    .name = "fedavg",
    .title = "federated averaging of clients that make local passes",
    .defaults = {.passes = 1, .batch = 32},
    .begin = fedavg_begin,
    .prepare = fedavg_prepare,
    .step = fedavg_step,
};
