/*
 * Implements decentralised SGD with gossip averaging: every rank has its own copy of the weights w,
 * averages it with the copies of its neighbours, and takes a step along the gradient of its own
 * part of the mini-batch (Lian et al.: Can decentralized algorithms outperform centralized
 * algorithms?, 2017). If x_i is the copy of rank i and g_i is the gradient of its rows at x_i,
 * iteration t is
 *
 *     x_i = sum over j of W_ij x_j - s_t g_i
 *
 *     gossip-ring  W_ij = 1/3 for i and its two neighbours in a ring (1/2 on two ranks); a rank
 *                  sends and receives two messages.
 *     gossip-exp   The exponential graph with one neighbour in each iteration (Ying et al.:
 *                  Exponential graph is provably efficient for decentralized deep training, 2021):
 *                  W_ij = 1/2 for i and for i - 2^(t mod L), counted modulo n, where L is log2 n
 *                  rounded up; a rank sends and receives one message. If n is a power of two, L
 *                  averages in a row are the exact mean.
 *
 * g_i is the sum over the rank's rows of the mini-batch, divided by the mean number of rows per
 * rank, plus lambda x_i. Therefore, the mean of all g_i is the gradient of the mini-batch, even if
 * ranks have different numbers of rows. The step size decreases as in sgd.c. Its default is half as
 * large: the smallest eigenvalue of W is -1/3 in a ring, so a step is stable only if the step size
 * times the curvature of a rank's own rows is below 2/3. The objective is evaluated at the mean of
 * the copies, which is computed outside the measured time.
 */
#include <string.h>

#include "err.h"
#include "run.h"

struct gossip {
    struct hm_batches *batches;
    double *x;        /* Copy of the weights w that this rank has. */
    double *received; /* Copy of the weights w that was received from a neighbour. */
    /*
     * True if `x` is used. Before the first iteration, it is false, and the common weights w are
     * used instead.
     */
    bool started;
    bool gathered; /* True if w has been set to the mean of the copies of all ranks. */
};

static int gossip_begin(struct hm_run *run, struct hm_err *err)
{
    size_t d = run->objective->unknowns;
    struct gossip *s = hm__arena_alloc(run->arena, 1, sizeof(*s));

    if (!s)
        return hm__fail_nomem(err);
    run->state = s;
    s->x = hm__arena_alloc(run->arena, d, sizeof(double));
    s->received = hm__arena_alloc(run->arena, d, sizeof(double));
    if (!s->x || !s->received)
        return hm__fail_nomem(err);
    return hm__batches_new(run, &s->batches, err);
}

static void gossip_prepare(struct hm_run *run)
{
    bool chosen = run->settings.step == 0 && run->objective->curvature > 0;

    run->step = hm__run_step_size(run, 0.1) * (chosen ? 0.5 : 1);
}

/*
 * Sends `own` to the rank with the number of this rank plus `hop`, and receives from the rank with
 * the number of this rank minus `hop`, both modulo the number of ranks.
 */
static void gossip_exchange(struct hm_run *run, const double *own, int hop, double *into)
{
    struct hm_comm *comm = run->comm;
    size_t bytes = run->objective->unknowns * sizeof(double);
    int to = (comm->rank + hop + comm->size) % comm->size;
    int from = (comm->rank - hop + comm->size) % comm->size;
    double began = comm->ops->now(comm);

    hm__comm_exchange(comm, to, own, bytes, from, into, bytes);
    comm->communicate_s += comm->ops->now(comm) - began;
}

/*
 * Computes the mean of this rank's copy and the copies of its two neighbours; the result is in
 * run->scratch.
 */
static void gossip_mix_ring(struct hm_run *run, struct gossip *s)
{
    size_t d = run->objective->unknowns;
    double weight = run->comm->size == 2 ? 0.5 : 1.0 / 3;

    memcpy(run->scratch, s->x, d * sizeof(double));
    gossip_exchange(run, s->x, 1, s->received);
    for (size_t j = 0; j < d; j++)
        run->scratch[j] += s->received[j];
    if (run->comm->size > 2) {
        gossip_exchange(run, s->x, -1, s->received);
        for (size_t j = 0; j < d; j++)
            run->scratch[j] += s->received[j];
    }
    for (size_t j = 0; j < d; j++)
        run->scratch[j] *= weight;
    hm__comm_work(run->comm, (run->comm->size > 2 ? 3 : 2) * (double)d);
}

/*
 * Computes the mean of this rank's copy and the copy of this iteration's neighbour; the result is
 * in run->scratch.
 */
static void gossip_mix_exponential(struct hm_run *run, struct gossip *s)
{
    size_t d = run->objective->unknowns;
    int hops = 0;

    while ((1 << hops) < run->comm->size)
        hops++;
    gossip_exchange(run, s->x, 1 << (int)((uint64_t)run->iteration % (uint64_t)hops), s->received);
    for (size_t j = 0; j < d; j++)
        run->scratch[j] = 0.5 * (s->x[j] + s->received[j]);
    hm__comm_work(run->comm, 2 * (double)d);
}

static void gossip_step(struct hm_run *run, void (*mix)(struct hm_run *run, struct gossip *s))
{
    struct gossip *s = run->state;
    const struct hm_objective *o = run->objective;
    double size = run->step, all = o->total_rows / hm__batches_in_epoch(run);
    double scale = run->comm->size / all;
    size_t d = o->unknowns, count;

    if (!s->started)
        memcpy(s->x, run->w, d * sizeof(double));
    s->started = true;
    s->gathered = false;
    const uint32_t *list = hm__batches_next(run, s->batches, &count);
    hm__run_part(run, s->x, list, count);
    if (o->curvature > 0)
        size /= 1 + o->lambda * run->step * run->iteration;
    if (run->comm->size > 1)
        mix(run, s);
    else
        memcpy(run->scratch, s->x, d * sizeof(double));
    for (size_t j = 0; j < d; j++)
        s->x[j] = run->scratch[j] - size * (run->gradient[j] * scale + o->lambda * s->x[j]);
    hm__comm_work(run->comm, 5 * (double)d);
    run->samples += all;
}

static void gossip_ring_step(struct hm_run *run)
{
    gossip_step(run, gossip_mix_ring);
}

static void gossip_exponential_step(struct hm_run *run)
{
    gossip_step(run, gossip_mix_exponential);
}

/* Sets the weights w to the mean of the copies of all ranks. */
static void gossip_gather(struct hm_run *run)
{
    struct gossip *s = run->state;
    size_t d = run->objective->unknowns;

    if (!s->started || s->gathered)
        return;
    s->gathered = true;
    memcpy(run->w, s->x, d * sizeof(double));
    hm__comm_sum(run->comm, run->w, d, run->scratch);
    for (size_t j = 0; j < d; j++)
        run->w[j] /= run->comm->size;
}

static size_t gossip_parts(struct hm_run *run, struct hm_part parts[HM_PARTS])
{
    struct gossip *s = run->state;

    parts[0] = (struct hm_part){
        .name = "copies", .values = s->x, .count = run->objective->unknowns, .of_ranks = true};
    return 1;
}

static int gossip_resumed(struct hm_run *run, struct hm_err *err)
{
    struct gossip *s = run->state;

    (void)err;
    s->started = s->gathered = true;
    return 0;
}

const struct hm_algorithm hm__algorithm_gossip_ring = {
    .name = "gossip-ring",
    .title = "decentralised SGD, averaged with two neighbours in a ring",
    .traits = HM_TRAIT_BATCHES,
    .defaults = {.batch = 128},
    .begin = gossip_begin,
    .prepare = gossip_prepare,
    .step = gossip_ring_step,
    .gather = gossip_gather,
    .parts = gossip_parts,
    .resumed = gossip_resumed,
};

const struct hm_algorithm hm__algorithm_gossip_exp = {
    .name = "gossip-exp",
    .title = "decentralised SGD, averaged over an exponential graph",
    .traits = HM_TRAIT_BATCHES,
    .defaults = {.batch = 128},
    .begin = gossip_begin,
    .prepare = gossip_prepare,
    .step = gossip_exponential_step,
    .gather = gossip_gather,
    .parts = gossip_parts,
    .resumed = gossip_resumed,
};
