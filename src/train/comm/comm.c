/*
 * Communication of ranks: counting, timing, and the choice of an all-reduce scheme. The
 * schemes are in schemes.c.
 *
 * Communication time is the time from entering a function of comm.h to leaving it, including
 * waiting for other ranks, without the time of the additions.
 */
#include "comm.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "schemes.h"

static const char *const scheme_names[HM_REDUCE_SCHEMES] = {
    [HM_REDUCE_AUTO] = "auto",         [HM_REDUCE_LIBRARY] = "library",
    [HM_REDUCE_TREE] = "tree",         [HM_REDUCE_RING] = "ring",
    [HM_REDUCE_DOUBLING] = "doubling", [HM_REDUCE_TWO_WAVE] = "two-wave",
    [HM_REDUCE_MASTER] = "master",
};

const char *hm__reduce_scheme_name(enum hm_reduce_scheme scheme)
{
    return scheme_names[scheme];
}

int hm__reduce_scheme_find(const char *name)
{
    for (int i = 0; i < HM_REDUCE_SCHEMES; i++)
        if (strcmp(name, scheme_names[i]) == 0)
            return i;
    return -1;
}

/* ---- one rank ------------------------------------------------------------------------------- */

static double alone_now(struct hm_comm *comm)
{
    struct timespec t;

    (void)comm;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void alone_work(struct hm_comm *comm, double flop)
{
    (void)comm;
    (void)flop;
}

static void alone_barrier(struct hm_comm *comm)
{
    (void)comm;
}

void hm__comm_alone(struct hm_comm *comm)
{
    /* With one rank no message is ever sent, so the other functions stay NULL. */
    static const struct hm_comm_ops ops = {
        .now = alone_now, .work = alone_work, .barrier = alone_barrier};

    *comm = (struct hm_comm){.ops = &ops, .size = 1};
}

/* ---- messages ------------------------------------------------------------------------------- */

void hm__comm_send(struct hm_comm *comm, int to, const void *data, size_t bytes)
{
    if (bytes == 0)
        return;
    comm->bytes += (double)bytes;
    comm->ops->send(comm, to, data, bytes);
}

void hm__comm_receive(struct hm_comm *comm, int from, void *data, size_t bytes)
{
    if (bytes == 0)
        return;
    comm->received += (double)bytes;
    comm->ops->receive(comm, from, data, bytes);
}

void hm__comm_exchange(struct hm_comm *comm, int to, const void *data, size_t bytes, int from,
                       void *into, size_t into_bytes)
{
    if (bytes == 0) {
        hm__comm_receive(comm, from, into, into_bytes);
    } else if (into_bytes == 0) {
        hm__comm_send(comm, to, data, bytes);
    } else {
        comm->bytes += (double)bytes;
        comm->received += (double)into_bytes;
        comm->ops->exchange(comm, to, data, bytes, from, into, into_bytes);
    }
}

void hm__comm_start_send(struct hm_comm *comm, int to, const void *data, size_t bytes,
                         void **ret_request)
{
    comm->bytes += (double)bytes;
    *ret_request = comm->ops->start_send(comm, to, data, bytes);
}

void hm__comm_start_receive(struct hm_comm *comm, int from, void *into, size_t room,
                            void **ret_request)
{
    *ret_request = comm->ops->start_receive(comm, from, into, room);
}

size_t hm__comm_wait_any(struct hm_comm *comm, void **requests, size_t count, size_t *ret_bytes)
{
    double began = comm->ops->now(comm);
    size_t bytes, place = comm->ops->wait_any(comm, requests, count, &bytes);

    requests[place] = NULL;
    comm->communicate_s += comm->ops->now(comm) - began;
    if (ret_bytes)
        *ret_bytes = bytes;
    return place;
}

bool hm__comm_test(struct hm_comm *comm, void **request)
{
    bool done = *request && comm->ops->test(comm, *request);

    if (done)
        *request = NULL;
    return done;
}

void hm__comm_wait_all(struct hm_comm *comm, void **requests, size_t count)
{
    size_t left = 0;

    for (size_t i = 0; i < count; i++)
        left += requests[i] != NULL;
    for (; left > 0; left--)
        hm__comm_wait_any(comm, requests, count, NULL);
}

/* ---- work ----------------------------------------------------------------------------------- */

/*
 * Simulated stragglers: the flop that take, at nominal speed, as long as these take on this worker.
 */
static double straggling_flop(struct hm_straggling *s, double flop)
{
    double before = s->real_s;

    s->nominal_s += flop / s->flops;
    s->real_s =
        hm__slowness_draw(&s->slowness, s->seed, s->worker, s->n, s->iteration, s->nominal_s);
    return fmax(0, s->real_s - before) * s->flops;
}

void hm__comm_work(struct hm_comm *comm, double flop)
{
    comm->flop += flop;
    if (flop > 0)
        comm->ops->work(comm, comm->straggling ? straggling_flop(comm->straggling, flop) : flop);
}

void hm__comm_set_iteration(struct hm_comm *comm, double iteration)
{
    struct hm_straggling *s = comm->straggling;

    if (!s || s->iteration == iteration)
        return;
    s->iteration = iteration;
    s->nominal_s = s->real_s = 0;
}

void hm__comm_add(struct hm_comm *comm, double *into, const double *from, size_t count)
{
    double began = comm->ops->now(comm);

    for (size_t i = 0; i < count; i++)
        into[i] += from[i];
    hm__comm_work(comm, (double)count);
    comm->communicate_s -= comm->ops->now(comm) - began;
}

/* Maximum, with the same bits for both orders of the arguments; NAN if one argument is NAN. */
static double comm_larger(double a, double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    if (a == b)
        return signbit(a) ? b : a;
    return a > b ? a : b;
}

static void comm_take_larger(struct hm_comm *comm, double *into, const double *from, size_t count)
{
    (void)comm;
    for (size_t i = 0; i < count; i++)
        into[i] = comm_larger(into[i], from[i]);
}

/* ---- collective operations ------------------------------------------------------------------ */

/*
 * The traffic and the additions inside MPI are not visible; the minimum that an all-reduce needs is
 * counted, which the ring attains.
 */
static void reduce_library(struct hm_comm *comm, double *values, size_t count, double *scratch)
{
    double share = (double)(comm->size - 1) / comm->size * (double)count;
    double began;

    (void)scratch;
    comm->ops->sum(comm, values, count);
    comm->bytes += 2 * share * sizeof(*values);
    comm->received += 2 * share * sizeof(*values);
    began = comm->ops->now(comm);
    hm__comm_work(comm, share);
    comm->communicate_s -= comm->ops->now(comm) - began;
}

static hm_reduce_fn *const reduce_functions[HM_REDUCE_SCHEMES] = {
    [HM_REDUCE_AUTO] = hm__reduce_auto,         [HM_REDUCE_LIBRARY] = reduce_library,
    [HM_REDUCE_TREE] = hm__reduce_tree,         [HM_REDUCE_RING] = hm__reduce_ring,
    [HM_REDUCE_DOUBLING] = hm__reduce_doubling, [HM_REDUCE_TWO_WAVE] = hm__reduce_two_wave,
    [HM_REDUCE_MASTER] = hm__reduce_master,
};

void hm__comm_sum(struct hm_comm *comm, double *values, size_t count, double *scratch)
{
    double began;

    if (comm->size == 1 || count == 0)
        return;
    began = comm->ops->now(comm);
    reduce_functions[comm->scheme](comm, values, count, scratch);
    comm->communicate_s += comm->ops->now(comm) - began;
}

static void comm_reduce_few(struct hm_comm *comm, double *values, size_t count,
                            hm_combine_fn *combine)
{
    double scratch[HM_COMM_FEW], began;

    assert(count <= HM_COMM_FEW);
    if (comm->size == 1 || count == 0)
        return;
    began = comm->ops->now(comm);
    hm__combine_doubling(comm, values, count, scratch, combine);
    comm->communicate_s += comm->ops->now(comm) - began;
}

void hm__comm_sum_few(struct hm_comm *comm, double *values, size_t count)
{
    comm_reduce_few(comm, values, count, hm__comm_add);
}

void hm__comm_max_few(struct hm_comm *comm, double *values, size_t count)
{
    comm_reduce_few(comm, values, count, comm_take_larger);
}

void hm__comm_broadcast(struct hm_comm *comm, int root, void *data, size_t bytes)
{
    double began = comm->ops->now(comm);

    hm__tree_broadcast(comm, root, data, bytes);
    comm->communicate_s += comm->ops->now(comm) - began;
}

void hm__comm_barrier(struct hm_comm *comm)
{
    double began = comm->ops->now(comm);

    comm->ops->barrier(comm);
    comm->communicate_s += comm->ops->now(comm) - began;
}
