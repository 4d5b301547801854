/*
 * Ranks in virtual time. A rank is ready at a moment, or waits for a message or a meeting. Whoever
 * stops running chooses the next: the one that is ready earliest. Nothing that happens later can
 * bring it a message earlier, since messages take time from when both sides are there.
 */
#include "virtual_comm.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 2 }; /* all ranks, and the first few */

/* One side of a message. */
struct side {
    struct side *next; /* in the order they were posted, between the same two ranks */
    const void *data;  /* of a send */
    void *into;        /* of a receive */
    size_t bytes;
    double posted_s, done_s; /* done: INFINITY until the other side is there */
};

struct meeting {
    int size, here;
    double latest_s;
    unsigned long count; /* meetings that are over */
};

struct rank {
    struct hm_comm comm;
    struct world *world;
    pthread_t thread;
    pthread_cond_t turn;
    double clock_s, ready_s; /* INFINITY: not known when */
    struct side **awaited;   /* what it waits for, and how many */
    size_t awaited_count;
    bool over;
};

struct world {
    pthread_mutex_t lock;
    struct virtual_cluster cluster;
    struct rank *ranks;
    struct side **sends, **receives; /* [2 (from * size + to) + started]: not matched yet */
    struct meeting meetings[PARTS];
    int size, running;
    void (*body)(struct hm_comm *comm, void *context);
    void *context;
};

static void give_up(const char *why)
{
    fprintf(stderr, "virtual_comm: %s\n", why);
    abort();
}

static struct rank *rank_of(struct hm_comm *comm)
{
    return comm->state;
}

/* ---- turns ---------------------------------------------------------------------------------- */

static double earliest(const struct rank *r)
{
    double first = INFINITY;

    for (size_t i = 0; i < r->awaited_count; i++)
        if (r->awaited[i])
            first = fmin(first, r->awaited[i]->done_s);
    return first;
}

/* Let the earliest rank run; called with the lock. */
static void choose(struct world *w)
{
    int best = -1;

    for (int i = 0; i < w->size; i++)
        if (!w->ranks[i].over && w->ranks[i].ready_s < INFINITY &&
            (best < 0 || w->ranks[i].ready_s < w->ranks[best].ready_s))
            best = i;
    bool all_over = true;
    for (int i = 0; i < w->size; i++)
        all_over = all_over && w->ranks[i].over;
    if (best < 0 && !all_over)
        give_up("everyone waits for someone");
    w->running = best;
    if (best >= 0)
        pthread_cond_signal(&w->ranks[best].turn);
}

/* Until it is our turn at ready_s, which others may set. */
static void yield(struct rank *r)
{
    struct world *w = r->world;
    int self = (int)(r - w->ranks);

    choose(w);
    while (w->running != self)
        pthread_cond_wait(&r->turn, &w->lock);
    r->clock_s = fmax(r->clock_s, r->ready_s);
}

static void advance(struct rank *r, double seconds)
{
    pthread_mutex_lock(&r->world->lock);
    r->ready_s = r->clock_s + seconds;
    yield(r);
    pthread_mutex_unlock(&r->world->lock);
}

/* ---- messages ------------------------------------------------------------------------------- */

static void append(struct side **list, struct side *side)
{
    while (*list)
        list = &(*list)->next;
    *list = side;
}

static void wake(struct rank *r)
{
    if (r->awaited)
        r->ready_s = fmax(r->clock_s, earliest(r));
}

static struct side *post(struct hm_comm *comm, int peer, bool started, const void *data, void *into,
                         size_t bytes)
{
    struct rank *r = rank_of(comm);
    struct world *w = r->world;
    int self = (int)(r - w->ranks), from = data ? self : peer, to = data ? peer : self;
    size_t pair = (size_t)(2 * (from * w->size + to) + started);
    struct side *side = calloc(1, sizeof(*side));

    if (!side || peer < 0 || peer >= w->size || peer == self)
        give_up("a message from or to nobody");
    *side = (struct side){NULL, data, into, bytes, r->clock_s, INFINITY};
    pthread_mutex_lock(&w->lock);
    struct side **others = data ? &w->receives[pair] : &w->sends[pair];
    struct side *other = *others;
    if (!other) {
        append(data ? &w->sends[pair] : &w->receives[pair], side);
    } else {
        *others = other->next;
        struct side *send = data ? side : other, *receive = data ? other : side;
        if (send->bytes > receive->bytes)
            give_up("a message is longer than the room for it");
        memcpy(receive->into, send->data, send->bytes);
        receive->bytes = send->bytes;
        side->done_s = other->done_s = fmax(side->posted_s, other->posted_s) +
                                       w->cluster.latency_s +
                                       (double)send->bytes * w->cluster.byte_s;
        wake(&w->ranks[peer]);
    }
    pthread_mutex_unlock(&w->lock);
    return side;
}

static void *virtual_start_send(struct hm_comm *comm, int to, const void *data, size_t bytes)
{
    return post(comm, to, true, data, NULL, bytes);
}

static void *virtual_start_receive(struct hm_comm *comm, int from, void *into, size_t room)
{
    return post(comm, from, true, NULL, into, room);
}

static size_t virtual_wait_any(struct hm_comm *comm, void **requests, size_t count,
                               size_t *ret_bytes)
{
    struct rank *r = rank_of(comm);
    size_t place = count;

    pthread_mutex_lock(&r->world->lock);
    r->awaited = (struct side **)requests;
    r->awaited_count = count;
    r->ready_s = fmax(r->clock_s, earliest(r));
    yield(r);
    for (size_t i = 0; i < count; i++)
        if (r->awaited[i] && r->awaited[i]->done_s <= r->clock_s &&
            (place == count || r->awaited[i]->done_s < r->awaited[place]->done_s))
            place = i;
    if (place == count)
        give_up("nothing to wait for");
    *ret_bytes = r->awaited[place]->bytes;
    free(r->awaited[place]);
    r->awaited = NULL;
    r->awaited_count = 0;
    pthread_mutex_unlock(&r->world->lock);
    return place;
}

static bool virtual_test(struct hm_comm *comm, void *request)
{
    struct side *side = request;
    struct rank *r = rank_of(comm);

    pthread_mutex_lock(&r->world->lock);
    bool done = side->done_s <= r->clock_s;
    pthread_mutex_unlock(&r->world->lock);
    if (done)
        free(side);
    return done;
}

static size_t finish(struct hm_comm *comm, void *request)
{
    size_t bytes;

    virtual_wait_any(comm, &request, 1, &bytes);
    return bytes;
}

static void virtual_send(struct hm_comm *comm, int to, const void *data, size_t bytes)
{
    finish(comm, post(comm, to, false, data, NULL, bytes));
}

static void virtual_receive(struct hm_comm *comm, int from, void *data, size_t bytes)
{
    if (finish(comm, post(comm, from, false, NULL, data, bytes)) != bytes)
        give_up("a message is not as long as it was expected to be");
}

static void virtual_exchange(struct hm_comm *comm, int to, const void *data, size_t bytes, int from,
                             void *into, size_t into_bytes)
{
    void *send = post(comm, to, false, data, NULL, bytes);

    virtual_receive(comm, from, into, into_bytes);
    finish(comm, send);
}

/* ---- the rest ------------------------------------------------------------------------------- */

static double virtual_now(struct hm_comm *comm)
{
    return rank_of(comm)->clock_s;
}

static void virtual_work(struct hm_comm *comm, double flop)
{
    advance(rank_of(comm), flop * rank_of(comm)->world->cluster.flop_s);
}

static void virtual_pause(struct hm_comm *comm, double seconds)
{
    advance(rank_of(comm), seconds);
}

static void virtual_fail(struct hm_comm *comm, const char *why)
{
    fprintf(stderr, "rank %d: %s\n", comm->rank, why);
    _Exit(3);
}

static void virtual_barrier(struct hm_comm *comm)
{
    struct rank *r = rank_of(comm);
    struct world *w = r->world;
    struct meeting *m = &w->meetings[comm->size < w->size];

    pthread_mutex_lock(&w->lock);
    m->latest_s = fmax(m->latest_s, r->clock_s);
    if (++m->here == m->size) {
        for (int i = 0; i < m->size; i++)
            w->ranks[i].ready_s = m->latest_s;
        m->here = 0;
        m->count++;
    } else {
        r->ready_s = INFINITY;
    }
    yield(r);
    pthread_mutex_unlock(&w->lock);
}

static void *live(void *argument)
{
    struct rank *r = argument;
    struct world *w = r->world;
    int self = (int)(r - w->ranks);

    pthread_mutex_lock(&w->lock);
    while (w->running != self)
        pthread_cond_wait(&r->turn, &w->lock);
    pthread_mutex_unlock(&w->lock);
    w->body(&r->comm, w->context);
    pthread_mutex_lock(&w->lock);
    r->over = true;
    r->ready_s = INFINITY;
    choose(w);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

void virtual_comm_part(struct hm_comm *comm, int count, struct hm_comm *ret_part)
{
    struct rank *r = rank_of(comm);

    *ret_part = r->comm;
    ret_part->size = count;
    r->world->meetings[1].size = count;
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
    struct world w = {.cluster = *cluster, .size = size, .body = body, .context = context};

    pthread_mutex_init(&w.lock, NULL);
    w.meetings[0].size = size;
    w.ranks = calloc((size_t)size, sizeof(*w.ranks));
    w.sends = calloc(pairs, sizeof(struct side *));
    w.receives = calloc(pairs, sizeof(struct side *));
    if (!w.ranks || !w.sends || !w.receives)
        give_up("out of memory");
    for (int i = 0; i < size; i++) {
        struct rank *r = &w.ranks[i];
        r->world = &w;
        r->comm = (struct hm_comm){
            .ops = &ops, .state = r, .rank = i, .size = size, .shared_clock = true};
        pthread_cond_init(&r->turn, NULL);
        if (pthread_create(&r->thread, NULL, live, r))
            give_up("no thread to be had");
    }
    for (int i = 0; i < size; i++)
        pthread_join(w.ranks[i].thread, NULL);
    for (size_t i = 0; i < pairs; i++)
        if (w.sends[i] || w.receives[i])
            give_up("a message has not been taken");
    for (int i = 0; i < size; i++)
        pthread_cond_destroy(&w.ranks[i].turn);
    pthread_mutex_destroy(&w.lock);
    free(w.receives);
    free(w.sends);
    free(w.ranks);
}
