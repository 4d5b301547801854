/* Implements ranks as threads: there is one slot for each pair of ranks, which transfers one
 * message at a time. */
#include "fake_comm.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum slot_state { SLOT_EMPTY, SLOT_OFFERED, SLOT_TAKEN };

/* Channel from one rank to another. */
struct slot {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum slot_state state;
    const void *data; /* Buffer of the sending rank. */
    size_t bytes;
    double ready_s; /* Clock of the sending rank; after the transfer, the time of arrival. */
};

struct fake_world {
    struct slot *slots; /* Slots of all pairs of ranks; the slot from rank `from` to rank `to` has
                           the index from * size + to. */
    double *clocks;     /* Clocks of the ranks at the last barrier. */
    pthread_barrier_t barrier;
    void (*body)(struct hm_comm *comm, void *context);
    void *context;
};

struct fake_rank {
    struct hm_comm comm;
    struct fake_world *world;
    double clock_s;
    pthread_t thread;
};

/* Ends the program after an error in the test or in the tested code, because cmocka's assertions do
 * not work in threads. */
static void fake_abort(const char *why)
{
    fprintf(stderr, "fake_comm: %s\n", why);
    abort();
}

static struct slot *slot_find(struct hm_comm *comm, int from, int to)
{
    struct fake_rank *r = comm->state;

    if (from < 0 || from >= comm->size || to < 0 || to >= comm->size || from == to)
        fake_abort("a message from or to a rank that does not exist");
    return &r->world->slots[from * comm->size + to];
}

static void slot_offer(struct hm_comm *comm, int to, const void *data, size_t bytes)
{
    struct slot *s = slot_find(comm, comm->rank, to);

    pthread_mutex_lock(&s->lock);
    s->state = SLOT_OFFERED;
    s->data = data;
    s->bytes = bytes;
    s->ready_s = ((struct fake_rank *)comm->state)->clock_s;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* Wait until the message has been received; returns the time of arrival. */
static double slot_wait_taken(struct hm_comm *comm, int to)
{
    struct slot *s = slot_find(comm, comm->rank, to);

    pthread_mutex_lock(&s->lock);
    while (s->state != SLOT_TAKEN)
        pthread_cond_wait(&s->changed, &s->lock);
    s->state = SLOT_EMPTY;
    double arrived_s = s->ready_s;
    pthread_mutex_unlock(&s->lock);
    return arrived_s;
}

static double slot_take(struct hm_comm *comm, int from, void *into, size_t bytes)
{
    struct slot *s = slot_find(comm, from, comm->rank);

    pthread_mutex_lock(&s->lock);
    while (s->state != SLOT_OFFERED)
        pthread_cond_wait(&s->changed, &s->lock);
    if (s->bytes != bytes)
        fake_abort("a message does not have the expected length");
    memcpy(into, s->data, bytes);
    s->ready_s = fmax(s->ready_s, ((struct fake_rank *)comm->state)->clock_s) + FAKE_LATENCY_S +
                 (double)bytes * FAKE_BYTE_S;
    s->state = SLOT_TAKEN;
    double arrived_s = s->ready_s;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return arrived_s;
}

static void fake_send(struct hm_comm *comm, int to, const void *data, size_t bytes)
{
    slot_offer(comm, to, data, bytes);
    ((struct fake_rank *)comm->state)->clock_s = slot_wait_taken(comm, to);
}

static void fake_receive(struct hm_comm *comm, int from, void *data, size_t bytes)
{
    ((struct fake_rank *)comm->state)->clock_s = slot_take(comm, from, data, bytes);
}

static void fake_exchange(struct hm_comm *comm, int to, const void *data, size_t bytes, int from,
                          void *into, size_t into_bytes)
{
    struct fake_rank *r = comm->state;

    slot_offer(comm, to, data, bytes);
    double received_s = slot_take(comm, from, into, into_bytes);
    double sent_s = slot_wait_taken(comm, to);
    r->clock_s = fmax(received_s, sent_s);
}

/* Replaces the all-reduce of the MPI library: all ranks send to the last rank, which sends the sum
 * back. None of our schemes does this. */
static void fake_sum(struct hm_comm *comm, double *values, size_t count)
{
    size_t bytes = count * sizeof(*values);
    int last = comm->size - 1;
    double *theirs = malloc(bytes);

    if (!theirs)
        fake_abort("out of memory");
    for (int rank = 0; rank < last && comm->rank == last; rank++) {
        fake_receive(comm, rank, theirs, bytes);
        for (size_t i = 0; i < count; i++)
            values[i] += theirs[i];
    }
    for (int rank = 0; rank < last && comm->rank == last; rank++)
        fake_send(comm, rank, values, bytes);
    if (comm->rank != last) {
        fake_send(comm, last, values, bytes);
        fake_receive(comm, last, values, bytes);
    }
    free(theirs);
}

static double fake_now(struct hm_comm *comm)
{
    return ((struct fake_rank *)comm->state)->clock_s;
}

static void fake_work(struct hm_comm *comm, double flop)
{
    ((struct fake_rank *)comm->state)->clock_s += flop * FAKE_FLOP_S;
}

static void fake_barrier(struct hm_comm *comm)
{
    struct fake_rank *r = comm->state;

    r->world->clocks[comm->rank] = r->clock_s;
    pthread_barrier_wait(&r->world->barrier);
    for (int i = 0; i < comm->size; i++)
        r->clock_s = fmax(r->clock_s, r->world->clocks[i]);
    pthread_barrier_wait(&r->world->barrier);
}

static void *fake_thread(void *argument)
{
    struct fake_rank *r = argument;

    r->world->body(&r->comm, r->world->context);
    return NULL;
}

static void slots_init(struct slot *slots, int count)
{
    for (int i = 0; i < count; i++) {
        pthread_mutex_init(&slots[i].lock, NULL);
        pthread_cond_init(&slots[i].changed, NULL);
    }
}

static void slots_free(struct slot *slots, int count)
{
    for (int i = 0; i < count; i++) {
        pthread_cond_destroy(&slots[i].changed);
        pthread_mutex_destroy(&slots[i].lock);
    }
    free(slots);
}

void fake_comm_run(int size, void (*body)(struct hm_comm *comm, void *context), void *context)
{
    static const struct hm_comm_ops ops = {fake_send, fake_receive, fake_exchange, fake_sum,
                                           fake_now,  fake_work,    fake_barrier};
    struct fake_world world = {.body = body, .context = context};
    struct fake_rank *ranks = calloc((size_t)size, sizeof(*ranks));

    world.slots = calloc((size_t)size * (size_t)size, sizeof(*world.slots));
    world.clocks = calloc((size_t)size, sizeof(*world.clocks));
    if (!ranks || !world.slots || !world.clocks)
        fake_abort("out of memory");
    slots_init(world.slots, size * size);
    pthread_barrier_init(&world.barrier, NULL, (unsigned)size);
    for (int i = 0; i < size; i++) {
        ranks[i].world = &world;
        ranks[i].comm = (struct hm_comm){.ops = &ops, .state = &ranks[i], .rank = i, .size = size};
        if (pthread_create(&ranks[i].thread, NULL, fake_thread, &ranks[i]))
            fake_abort("cannot create a thread");
    }
    for (int i = 0; i < size; i++)
        pthread_join(ranks[i].thread, NULL);
    pthread_barrier_destroy(&world.barrier);
    slots_free(world.slots, size * size);
    free(world.clocks);
    free(ranks);
}
