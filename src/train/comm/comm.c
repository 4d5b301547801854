/*
 * Implements point-to-point communication between ranks, and the counters of bytes, work and time.
 * The collective operations are in collectives.c.
 *
 * Communication time is the time spent in the functions of comm.h, which includes waiting for other
 * ranks but not the additions of an all-reduce.
 */
#include "comm.h"

#include <math.h>
#include <time.h>

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
    /*
     * A communicator with one rank never sends a message, so the functions for messages stay NULL.
     */
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
 * Converts `flop` operations on this worker, which may be a simulated straggler, to the number of
 * operations that take the same time at nominal speed.
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

void hm__comm_barrier(struct hm_comm *comm)
{
    double began = comm->ops->now(comm);

    comm->ops->barrier(comm);
    comm->communicate_s += comm->ops->now(comm) - began;
}
