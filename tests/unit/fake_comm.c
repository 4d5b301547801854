/*
 * Implements ranks as fibers: there is one slot for each pair of ranks, which transfers one message
 * at a time. A rank that waits for another one lets it continue; if ranks wait for each other in a
 * circle, the program is ended.
 */
#include "fake_comm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fibers.h"

enum slot_state { SLOT_EMPTY, SLOT_OFFERED, SLOT_TAKEN };

/* Channel from one rank to another. */
struct slot {
    enum slot_state state;
    const void *data; /* Buffer of the sending rank. */
    size_t bytes;
    double ready_s; /* Clock of the sending rank; after the transfer, the time of arrival. */
};

struct fake_world {
    struct slot *slots; /* Slots of all pairs of ranks; the slot from rank `from` to rank `to` has
                           the index from * size + to. */
    struct fibers *fibers;
    int size;
    int waits;   /* Number of times that a rank had to wait since a rank last continued. */
    int arrived; /* Number of ranks that have arrived at the current barrier. */
    unsigned long barrier; /* Number of barriers so far. */
    double latest_s;       /* Latest clock of the ranks at the current barrier. */
    double released_s;     /* Latest clock of the ranks at the last barrier. */
    void (*body)(struct hm_comm *comm, void *context);
    void *context;
    struct fake_rank *ranks;
};

struct fake_rank {
    struct hm_comm comm;
    struct fake_world *world;
    double clock_s;
    unsigned long barriers; /* Number of barriers at which the rank has arrived. */
};

/* Ends the program after an error in the test or in the tested code, because cmocka's assertions
 * jump to another stack. */
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

/* Lets another rank continue, because this one waits for it. */
static void rank_wait(struct hm_comm *comm, int other)
{
    struct fake_world *w = ((struct fake_rank *)comm->state)->world;

    if (++w->waits > 2 * w->size || fibers_ended(w->fibers, other))
        fake_abort("deadlock: ranks wait for each other");
    fibers_switch(w->fibers, other);
}

/* The rank need not wait any longer. */
static void rank_continue(struct hm_comm *comm)
{
    ((struct fake_rank *)comm->state)->world->waits = 0;
}

static void slot_offer(struct hm_comm *comm, int to, const void *data, size_t bytes)
{
    struct slot *s = slot_find(comm, comm->rank, to);

    s->state = SLOT_OFFERED;
    s->data = data;
    s->bytes = bytes;
    s->ready_s = ((struct fake_rank *)comm->state)->clock_s;
}

/* Waits until the message has been received; returns the time of arrival. */
static double slot_wait_taken(struct hm_comm *comm, int to)
{
    struct slot *s = slot_find(comm, comm->rank, to);

    while (s->state != SLOT_TAKEN)
        rank_wait(comm, to);
    rank_continue(comm);
    s->state = SLOT_EMPTY;
    return s->ready_s;
}

static double slot_take(struct hm_comm *comm, int from, void *into, size_t bytes)
{
    struct slot *s = slot_find(comm, from, comm->rank);

    while (s->state != SLOT_OFFERED)
        rank_wait(comm, from);
    rank_continue(comm);
    if (s->bytes != bytes)
        fake_abort("a message does not have the expected length");
    memcpy(into, s->data, bytes);
    s->ready_s = fmax(s->ready_s, ((struct fake_rank *)comm->state)->clock_s) + FAKE_LATENCY_S +
                 (double)bytes * FAKE_BYTE_S;
    s->state = SLOT_TAKEN;
    return s->ready_s;
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
    struct fake_world *w = r->world;

    w->latest_s = fmax(w->latest_s, r->clock_s);
    r->barriers++;
    if (++w->arrived == w->size) {
        w->arrived = 0;
        w->released_s = w->latest_s;
        w->barrier++;
    }
    while (w->barrier < r->barriers) {
        int other = 0;
        while (w->ranks[other].barriers >= r->barriers)
            other++;
        rank_wait(comm, other);
    }
    rank_continue(comm);
    r->clock_s = w->released_s;
}

static void fake_body(void *context, int index)
{
    struct fake_world *w = context;

    w->waits = 0;
    w->body(&w->ranks[index].comm, w->context);
}

/* Returns a rank that has not ended; -1 if there is none. */
static int fake_choose(void *context)
{
    const struct fake_world *w = context;

    for (int i = 0; i < w->size; i++)
        if (!fibers_ended(w->fibers, i))
            return i;
    return -1;
}

void fake_comm_run(int size, void (*body)(struct hm_comm *comm, void *context), void *context)
{
    static const struct hm_comm_ops ops = {fake_send, fake_receive, fake_exchange, fake_sum,
                                           fake_now,  fake_work,    fake_barrier};
    struct fake_world world = {.body = body, .context = context, .size = size};

    world.ranks = calloc((size_t)size, sizeof(*world.ranks));
    world.slots = calloc((size_t)size * (size_t)size, sizeof(*world.slots));
    if (!world.ranks || !world.slots)
        fake_abort("out of memory");
    for (int i = 0; i < size; i++) {
        struct fake_rank *r = &world.ranks[i];
        r->world = &world;
        r->comm = (struct hm_comm){.ops = &ops, .state = r, .rank = i, .size = size};
    }
    world.fibers = fibers_new(size, fake_body, fake_choose, &world);
    fibers_run(world.fibers, 0);
    fibers_free(world.fibers);
    free(world.slots);
    free(world.ranks);
}
