/*
 * A stand-in for src/train/comm.c and tests/unit/fake_comm.c, to be dropped for them: ranks are
 * threads, sums and maxima go to rank 0 one after another and back.
 */
#include "propagate_comm_stub.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct slot {
    void *data;
    size_t bytes;
    bool full;
};

struct world {
    pthread_mutex_t lock;
    pthread_cond_t *changed; /* one for each rank: something came, or was taken */
    struct slot *slots;      /* size x size: from, to */
    int size;
    void (*body)(struct hm_comm *comm, void *context);
    void *context;
};

struct rank {
    struct world *world;
    struct hm_comm comm;
    pthread_t thread;
};

static void stub_send(struct hm_comm *comm, int to, const void *data, size_t bytes)
{
    struct world *w = ((struct rank *)comm->state)->world;
    struct slot *slot = &w->slots[comm->rank * w->size + to];
    void *copy = malloc(bytes ? bytes : 1);

    memcpy(copy, data, bytes);
    pthread_mutex_lock(&w->lock);
    while (slot->full)
        pthread_cond_wait(&w->changed[comm->rank], &w->lock);
    *slot = (struct slot){copy, bytes, true};
    pthread_cond_broadcast(&w->changed[to]);
    pthread_mutex_unlock(&w->lock);
}

static void stub_receive(struct hm_comm *comm, int from, void *data, size_t bytes)
{
    struct world *w = ((struct rank *)comm->state)->world;
    struct slot *slot = &w->slots[from * w->size + comm->rank];

    pthread_mutex_lock(&w->lock);
    while (!slot->full)
        pthread_cond_wait(&w->changed[comm->rank], &w->lock);
    assert(slot->bytes == bytes);
    memcpy(data, slot->data, bytes);
    free(slot->data);
    slot->full = false;
    pthread_cond_broadcast(&w->changed[from]);
    pthread_mutex_unlock(&w->lock);
}

static void stub_exchange(struct hm_comm *comm, int to, const void *data, size_t bytes, int from,
                          void *into, size_t into_bytes)
{
    stub_send(comm, to, data, bytes);
    stub_receive(comm, from, into, into_bytes);
}

static double stub_now(struct hm_comm *comm)
{
    struct timespec t;

    (void)comm;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stub_work(struct hm_comm *comm, double flop)
{
    (void)comm;
    (void)flop;
}

static const struct hm_comm_ops stub_ops = {
    .send = stub_send,
    .receive = stub_receive,
    .exchange = stub_exchange,
    .now = stub_now,
    .work = stub_work,
};

void hm_comm_alone(struct hm_comm *comm)
{
    *comm = (struct hm_comm){.ops = &stub_ops, .size = 1};
}

void hm_comm_work(struct hm_comm *comm, double flop)
{
    comm->flop += flop;
}

static void reduce(struct hm_comm *comm, double *values, size_t count, bool most)
{
    double *other = calloc(count, sizeof(*other));

    for (int r = 1; comm->rank == 0 && r < comm->size; r++) {
        stub_receive(comm, r, other, count * sizeof(*other));
        for (size_t i = 0; i < count; i++)
            values[i] = !most ? values[i] + other[i] : other[i] > values[i] ? other[i] : values[i];
    }
    for (int r = 1; comm->rank == 0 && r < comm->size; r++)
        stub_send(comm, r, values, count * sizeof(*values));
    if (comm->rank > 0) {
        stub_send(comm, 0, values, count * sizeof(*values));
        stub_receive(comm, 0, values, count * sizeof(*values));
    }
    free(other);
}

void hm_comm_sum(struct hm_comm *comm, double *values, size_t count, double *scratch)
{
    (void)scratch;
    reduce(comm, values, count, false);
}

void hm_comm_sum_few(struct hm_comm *comm, double *values, size_t count)
{
    reduce(comm, values, count, false);
}

void hm_comm_max_few(struct hm_comm *comm, double *values, size_t count)
{
    reduce(comm, values, count, true);
}

static void *run_rank(void *argument)
{
    struct rank *rank = argument;

    rank->world->body(&rank->comm, rank->world->context);
    return NULL;
}

void fake_comm_run(int size, void (*body)(struct hm_comm *comm, void *context), void *context)
{
    size_t n = (size_t)size;
    struct world w = {.size = size, .body = body, .context = context};
    struct rank *ranks = calloc(n, sizeof(*ranks));
    pthread_attr_t attributes;

    w.slots = calloc(n * n, sizeof(*w.slots));
    w.changed = calloc(n, sizeof(*w.changed));
    pthread_mutex_init(&w.lock, NULL);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    for (int r = 0; r < size; r++)
        pthread_cond_init(&w.changed[r], NULL);
    for (int r = 0; r < size; r++) {
        ranks[r] = (struct rank){
            .world = &w,
            .comm = {.ops = &stub_ops, .state = &ranks[r], .rank = r, .size = size},
        };
        pthread_create(&ranks[r].thread, &attributes, run_rank, &ranks[r]);
    }
    for (int r = 0; r < size; r++)
        pthread_join(ranks[r].thread, NULL);
    pthread_attr_destroy(&attributes);
    free(w.slots);
    free(w.changed);
    free(ranks);
}
