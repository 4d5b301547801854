/*
 * Implements ranks in virtual time. A rank is ready at a known time, or waits for a message or a
 * barrier. A rank that stops running selects the next rank to run, which is the one that is ready
 * earliest. No later event can make a message arrive earlier, since a transfer takes time after
 * both sides are ready.
 */
#include "virtual_comm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fibers.h"

enum { PARTS = 2 }; /* There are two communicators: one of all ranks, and one of the first ranks. */

/* One side (sender or receiver) of a message. */
struct message_side {
    /* Next message between the same two ranks, in the order of posting. */
    struct message_side *next;
    const void *data; /* Buffer of the sender. */
    void *into;       /* Buffer of the receiver. */
    size_t bytes;
    /* Time of posting, and time of completion; the latter is INFINITY until the other side is
     * posted. */
    double posted_s, done_s;
};

struct virtual_barrier {
    int size, arrived;
    double latest_s;
    unsigned long count; /* Number of completed barriers. */
};

struct virtual_rank {
    struct hm_comm comm;
    struct virtual_world *world;
    /* Current time of the rank, and time at which it can continue; the latter is INFINITY if
     * unknown. */
    double clock_s, ready_s;
    struct message_side **awaited; /* Requests that the rank waits for. */
    size_t awaited_count;
    bool over;
};

struct virtual_world {
    struct fibers *fibers;
    struct virtual_cluster cluster;
    struct virtual_rank *ranks;
    struct message_side **sends,
        /* Messages that are not matched yet; the index is 2 (from * size + to), plus 1 for
           non-blocking messages. */
        **receives;
    struct virtual_barrier barriers[PARTS];
    int size;
    void (*body)(struct hm_comm *comm, void *context);
    void *context;
};

static void virtual_abort(const char *why)
{
    fprintf(stderr, "virtual_comm: %s\n", why);
    abort();
}

static struct virtual_rank *rank_of(struct hm_comm *comm)
{
    return comm->state;
}

/* ---- scheduling ----------------------------------------------------------------------------- */

static double rank_earliest_done(const struct virtual_rank *r)
{
    double first = INFINITY;

    for (size_t i = 0; i < r->awaited_count; i++)
        if (r->awaited[i])
            first = fmin(first, r->awaited[i]->done_s);
    return first;
}

/* Returns the rank that is ready earliest; -1 if all have ended. */
static int schedule_next(void *context)
{
    struct virtual_world *w = context;
    int best = -1;

    for (int i = 0; i < w->size; i++)
        if (!w->ranks[i].over && w->ranks[i].ready_s < INFINITY &&
            (best < 0 || w->ranks[i].ready_s < w->ranks[best].ready_s))
            best = i;
    bool all_over = true;
    for (int i = 0; i < w->size; i++)
        all_over = all_over && w->ranks[i].over;
    if (best < 0 && !all_over)
        virtual_abort("deadlock: every rank waits");
    return best;
}

/* Waits until this rank may run, at the time ready_s, which other ranks may set. */
static void schedule_wait(struct virtual_rank *r)
{
    struct virtual_world *w = r->world;
    int self = (int)(r - w->ranks), next = schedule_next(w);

    if (next != self)
        fibers_switch(w->fibers, next);
    r->clock_s = fmax(r->clock_s, r->ready_s);
}

static void rank_advance(struct virtual_rank *r, double seconds)
{
    r->ready_s = r->clock_s + seconds;
    schedule_wait(r);
}

/* ---- messages ------------------------------------------------------------------------------- */

static void side_append(struct message_side **list, struct message_side *side)
{
    while (*list)
        list = &(*list)->next;
    *list = side;
}

static void rank_wake(struct virtual_rank *r)
{
    if (r->awaited)
        r->ready_s = fmax(r->clock_s, rank_earliest_done(r));
}

static struct message_side *side_post(struct hm_comm *comm, int peer, bool non_blocking,
                                      const void *data, void *into, size_t bytes)
{
    struct virtual_rank *r = rank_of(comm);
    struct virtual_world *w = r->world;
    int self = (int)(r - w->ranks), from = data ? self : peer, to = data ? peer : self;
    size_t pair = (size_t)(2 * (from * w->size + to) + non_blocking);
    struct message_side *side = calloc(1, sizeof(*side));

    if (!side || peer < 0 || peer >= w->size || peer == self)
        virtual_abort("a message from or to a rank that does not exist");
    *side = (struct message_side){NULL, data, into, bytes, r->clock_s, INFINITY};
    struct message_side **others = data ? &w->receives[pair] : &w->sends[pair];
    struct message_side *other = *others;
    if (!other) {
        side_append(data ? &w->sends[pair] : &w->receives[pair], side);
    } else {
        *others = other->next;
        struct message_side *send = data ? side : other, *receive = data ? other : side;
        if (send->bytes > receive->bytes)
            virtual_abort("a message is longer than the receive buffer");
        memcpy(receive->into, send->data, send->bytes);
        receive->bytes = send->bytes;
        side->done_s = other->done_s = fmax(side->posted_s, other->posted_s) +
                                       w->cluster.latency_s +
                                       (double)send->bytes * w->cluster.byte_s;
        rank_wake(&w->ranks[peer]);
    }
    return side;
}

static void *virtual_start_send(struct hm_comm *comm, int to, const void *data, size_t bytes)
{
    return side_post(comm, to, true, data, NULL, bytes);
}

static void *virtual_start_receive(struct hm_comm *comm, int from, void *into, size_t room)
{
    return side_post(comm, from, true, NULL, into, room);
}

static size_t virtual_wait_any(struct hm_comm *comm, void **requests, size_t count,
                               size_t *ret_bytes)
{
    struct virtual_rank *r = rank_of(comm);
    size_t place = count;

    r->awaited = (struct message_side **)requests;
    r->awaited_count = count;
    r->ready_s = fmax(r->clock_s, rank_earliest_done(r));
    schedule_wait(r);
    for (size_t i = 0; i < count; i++)
        if (r->awaited[i] && r->awaited[i]->done_s <= r->clock_s &&
            (place == count || r->awaited[i]->done_s < r->awaited[place]->done_s))
            place = i;
    if (place == count)
        virtual_abort("nothing to wait for");
    *ret_bytes = r->awaited[place]->bytes;
    free(r->awaited[place]);
    r->awaited = NULL;
    r->awaited_count = 0;
    return place;
}

static bool virtual_test(struct hm_comm *comm, void *request)
{
    struct message_side *side = request;
    struct virtual_rank *r = rank_of(comm);

    bool done = side->done_s <= r->clock_s;
    if (done)
        free(side);
    return done;
}

static size_t side_finish(struct hm_comm *comm, void *request)
{
    size_t bytes;

    virtual_wait_any(comm, &request, 1, &bytes);
    return bytes;
}

static void virtual_send(struct hm_comm *comm, int to, const void *data, size_t bytes)
{
    side_finish(comm, side_post(comm, to, false, data, NULL, bytes));
}

static void virtual_receive(struct hm_comm *comm, int from, void *data, size_t bytes)
{
    if (side_finish(comm, side_post(comm, from, false, NULL, data, bytes)) != bytes)
        virtual_abort("a message does not have the expected length");
}

static void virtual_exchange(struct hm_comm *comm, int to, const void *data, size_t bytes, int from,
                             void *into, size_t into_bytes)
{
    void *send = side_post(comm, to, false, data, NULL, bytes);

    virtual_receive(comm, from, into, into_bytes);
    side_finish(comm, send);
}

/* ---- other operations ----------------------------------------------------------------------- */

static double virtual_now(struct hm_comm *comm)
{
    return rank_of(comm)->clock_s;
}

static void virtual_work(struct hm_comm *comm, double flop)
{
    rank_advance(rank_of(comm), flop * rank_of(comm)->world->cluster.flop_s);
}

static void virtual_pause(struct hm_comm *comm, double seconds)
{
    rank_advance(rank_of(comm), seconds);
}

static void virtual_fail(struct hm_comm *comm, const char *why)
{
    fprintf(stderr, "rank %d: %s\n", comm->rank, why);
    _Exit(3);
}

static void virtual_barrier(struct hm_comm *comm)
{
    struct virtual_rank *r = rank_of(comm);
    struct virtual_world *w = r->world;
    struct virtual_barrier *m = &w->barriers[comm->size < w->size];

    m->latest_s = fmax(m->latest_s, r->clock_s);
    if (++m->arrived == m->size) {
        for (int i = 0; i < m->size; i++)
            w->ranks[i].ready_s = m->latest_s;
        m->arrived = 0;
        m->count++;
    } else {
        r->ready_s = INFINITY;
    }
    schedule_wait(r);
}

static void virtual_body(void *context, int index)
{
    struct virtual_world *w = context;
    struct virtual_rank *r = &w->ranks[index];

    w->body(&r->comm, w->context);
    r->over = true;
    r->ready_s = INFINITY;
}

void virtual_comm_part(struct hm_comm *comm, int count, struct hm_comm *ret_part)
{
    struct virtual_rank *r = rank_of(comm);

    *ret_part = r->comm;
    ret_part->size = count;
    r->world->barriers[1].size = count;
}

void virtual_comm_run(int size, const struct virtual_cluster *cluster,
                      void (*body)(struct hm_comm *comm, void *context), void *context)
{
    static const struct hm_comm_ops ops = {
        .send = virtual_send,
        .receive = virtual_receive,
        .exchange = virtual_exchange,
        .now = virtual_now,
        .work = virtual_work,
        .barrier = virtual_barrier,
        .start_send = virtual_start_send,
        .start_receive = virtual_start_receive,
        .wait_any = virtual_wait_any,
        .test = virtual_test,
        .pause = virtual_pause,
        .fail = virtual_fail,
    };
    size_t pairs = 2 * (size_t)size * (size_t)size;
    struct virtual_world w = {.cluster = *cluster, .size = size, .body = body, .context = context};

    w.barriers[0].size = size;
    w.ranks = calloc((size_t)size, sizeof(*w.ranks));
    w.sends = calloc(pairs, sizeof(struct message_side *));
    w.receives = calloc(pairs, sizeof(struct message_side *));
    if (!w.ranks || !w.sends || !w.receives)
        virtual_abort("out of memory");
    for (int i = 0; i < size; i++) {
        struct virtual_rank *r = &w.ranks[i];
        r->world = &w;
        r->comm = (struct hm_comm){
            .ops = &ops, .state = r, .rank = i, .size = size, .shared_clock = true};
    }
    w.fibers = fibers_new(size, virtual_body, schedule_next, &w);
    fibers_run(w.fibers, 0);
    fibers_free(w.fibers);
    for (size_t i = 0; i < pairs; i++)
        if (w.sends[i] || w.receives[i])
            virtual_abort("a message was not received");
    free(w.receives);
    free(w.sends);
    free(w.ranks);
}
