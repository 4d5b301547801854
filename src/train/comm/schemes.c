/*
 * Implements all-reduces over n ranks with point-to-point messages. If a message of M bytes takes a
 * + Mb seconds and adding M bytes takes c seconds, an all-reduce of M bytes takes the time
 *
 *     tree       2 L (a + Mb) + L c                        L = ceil(log2 n)
 *     ring       2(n-1) a + 2(n-1)/n Mb + (n-1)/n c        exact if n divides the count
 *     doubling   L (a + Mb + c)                            if n is a power of two
 *                (2 + K)(a + Mb) + (1 + K) c               for other n, K = floor(log2 n)
 *     two-wave   (g-1 + ceil(n/g)-1)(a + Mb + c) + L (a + Mb)     at most, g = ceil(sqrt n)
 *     master     2(n-1)(a + Mb) + (n-1) c
 *
 * provided that a message starts when both sides are ready for it, and that links are full duplex.
 * In each scheme, a sum is either computed once and forwarded, or computed on both sides from the
 * same two operands. Since x + y and y + x have the same bits, all ranks end with the same bits.
 *
 * Sources: Thakur, Rabenseifner, Gropp 2005; Patarasuk and Yuan 2009; Ulanov et al. 2016.
 */
#include "schemes.h"

/* Returns the largest power of two that is not larger than n, which must be at least 1. */
static int largest_power_of_two(int n)
{
    int power = 1;

    while (power <= n / 2)
        power *= 2;
    return power;
}

/*
 * Performs a binomial reduction to rank 0. In round k, ranks at a distance of 2^k form pairs; the
 * higher rank of a pair sends its sum to the lower one and is then finished.
 */
static void tree_reduce(struct hm_comm *comm, double *values, size_t count, double *scratch)
{
    size_t bytes = count * sizeof(*values);

    for (int step = 1; step < comm->size; step *= 2) {
        if (comm->rank & step) {
            hm__comm_send(comm, comm->rank - step, values, bytes);
            return;
        }
        if (comm->rank + step < comm->size) {
            hm__comm_receive(comm, comm->rank + step, scratch, bytes);
            hm__comm_add(comm, values, scratch, count);
        }
    }
}

void hm__tree_broadcast(struct hm_comm *comm, int root, void *data, size_t bytes)
{
    /* `place` is the number of this rank relative to the root. */
    int n = comm->size, place = (comm->rank - root + n) % n;
    int step = 1;

    while (step < n && !(place & step))
        step *= 2;
    if (place != 0)
        hm__comm_receive(comm, (place - step + root) % n, data, bytes);
    for (step /= 2; step > 0; step /= 2)
        if (place + step < n)
            hm__comm_send(comm, (place + step + root) % n, data, bytes);
}

void hm__reduce_tree(struct hm_comm *comm, double *values, size_t count, double *scratch)
{
    tree_reduce(comm, values, count, scratch);
    hm__tree_broadcast(comm, 0, values, count * sizeof(*values));
}

/* ---- ring ----------------------------------------------------------------------------------- */

/*
 * One of n chunks of nearly equal length into which `count` values are divided; the index `i` may
 * be any integer and is reduced modulo n.
 */
struct ring_chunk {
    size_t first, count;
};

static struct ring_chunk ring_chunk(size_t count, int n, int i)
{
    size_t parts = (size_t)n, part = (size_t)(((i % n) + n) % n);
    /* The first `longer` chunks have one more value than the others. */
    size_t each = count / parts, longer = count % parts;

    return (struct ring_chunk){part * each + (part < longer ? part : longer),
                               each + (part < longer ? 1 : 0)};
}

void hm__reduce_ring(struct hm_comm *comm, double *values, size_t count, double *scratch)
{
    int n = comm->size, rank = comm->rank, next = (rank + 1) % n, last = (rank + n - 1) % n;
    const size_t size = sizeof(*values);

    /* Performs a reduce-scatter: at the end, rank i-1 has the complete sum of chunk i. */
    for (int step = 0; step < n - 1; step++) {
        struct ring_chunk out = ring_chunk(count, n, rank - step),
                          in = ring_chunk(count, n, rank - step - 1);
        hm__comm_exchange(comm, next, values + out.first, out.count * size, last, scratch,
                          in.count * size);
        hm__comm_add(comm, values + in.first, scratch, in.count);
    }
    for (int step = 0; step < n - 1; step++) {
        struct ring_chunk out = ring_chunk(count, n, rank + 1 - step),
                          in = ring_chunk(count, n, rank - step);
        hm__comm_exchange(comm, next, values + out.first, out.count * size, last, values + in.first,
                          in.count * size);
    }
}

/* ---- doubling ------------------------------------------------------------------------------- */

/*
 * Performs recursive doubling. Let 2^k be the largest power of two up to n. Each rank with a number
 * of at least 2^k first sends its values to a rank below 2^k, and receives the result at the end.
 */
void hm__combine_doubling(struct hm_comm *comm, double *values, size_t count, double *scratch,
                          hm_combine_fn *combine)
{
    int rank = comm->rank, power = largest_power_of_two(comm->size);
    size_t bytes = count * sizeof(*values);

    if (rank >= power) {
        hm__comm_send(comm, rank - power, values, bytes);
        hm__comm_receive(comm, rank - power, values, bytes);
        return;
    }
    if (rank + power < comm->size) {
        hm__comm_receive(comm, rank + power, scratch, bytes);
        combine(comm, values, scratch, count);
    }
    for (int step = 1; step < power; step *= 2) {
        hm__comm_exchange(comm, rank ^ step, values, bytes, rank ^ step, scratch, bytes);
        combine(comm, values, scratch, count);
    }
    if (rank + power < comm->size)
        hm__comm_send(comm, rank + power, values, bytes);
}

void hm__reduce_doubling(struct hm_comm *comm, double *values, size_t count, double *scratch)
{
    hm__combine_doubling(comm, values, count, scratch, hm__comm_add);
}

/* ---- through one rank ----------------------------------------------------------------------- */

/*
 * Makes ranks first + step, first + 2 step, … below `end` send their values to `first`, which adds
 * them in this order.
 */
static void reduce_gather(struct hm_comm *comm, int first, int step, int end, double *values,
                          size_t count, double *scratch)
{
    size_t bytes = count * sizeof(*values);

    if (comm->rank != first) {
        hm__comm_send(comm, first, values, bytes);
        return;
    }
    for (int from = first + step; from < end; from += step) {
        hm__comm_receive(comm, from, scratch, bytes);
        hm__comm_add(comm, values, scratch, count);
    }
}

/*
 * Performs the first wave of a two-wave sum among ranks below n: in each group of ceil(sqrt n)
 * ranks, all ranks send to the first rank of the group. Returns the size of a group.
 */
static int two_wave_first(struct hm_comm *comm, int n, double *values, size_t count,
                          double *scratch)
{
    int group = 1;

    while (group * group < n)
        group++;
    int leader = comm->rank - comm->rank % group, end = leader + group < n ? leader + group : n;
    if (comm->rank < n)
        reduce_gather(comm, leader, 1, end, values, count, scratch);
    return group;
}

void hm__reduce_two_wave_to(struct hm_comm *comm, int root, double *values, size_t count,
                            double *scratch)
{
    int group = two_wave_first(comm, root, values, count, scratch);
    size_t bytes = count * sizeof(*values);

    if (comm->rank < root && comm->rank % group == 0)
        hm__comm_send(comm, root, values, bytes);
    for (int from = 0; comm->rank == root && from < root; from += group) {
        hm__comm_receive(comm, from, from == 0 ? values : scratch, bytes);
        if (from > 0)
            hm__comm_add(comm, values, scratch, count);
    }
}

void hm__reduce_two_wave(struct hm_comm *comm, double *values, size_t count, double *scratch)
{
    int n = comm->size, group = two_wave_first(comm, n, values, count, scratch);

    if (comm->rank % group == 0)
        reduce_gather(comm, 0, group, n, values, count, scratch);
    hm__tree_broadcast(comm, 0, values, count * sizeof(*values));
}

void hm__reduce_master(struct hm_comm *comm, double *values, size_t count, double *scratch)
{
    size_t bytes = count * sizeof(*values);

    reduce_gather(comm, 0, 1, comm->size, values, count, scratch);
    if (comm->rank != 0) {
        hm__comm_receive(comm, 0, values, bytes);
        return;
    }
    for (int to = 1; to < comm->size; to++)
        hm__comm_send(comm, to, values, bytes);
}

/* ---- by size -------------------------------------------------------------------------------- */

/*
 * Chooses recursive doubling or the ring, whichever is faster if latency x bandwidth = 16 KiB,
 * which is typical of 1 Gbit/s with 130 us and of 10 Gbit/s with 13 us. The choice depends only on
 * `count` and n, so that sums have the same bits on every cluster.
 */
void hm__reduce_auto(struct hm_comm *comm, double *values, size_t count, double *scratch)
{
    const double message = 16 * 1024;
    double n = comm->size, bytes = (double)count * sizeof(*values);
    int power = largest_power_of_two(comm->size);
    double rounds = power == comm->size ? 0 : 2;

    for (int i = power; i > 1; i /= 2)
        rounds++;
    double by_doubling = rounds * (message + bytes);
    double by_ring = 2 * (n - 1) * message + 2 * (n - 1) / n * bytes;
    (by_doubling <= by_ring ? hm__reduce_doubling : hm__reduce_ring)(comm, values, count, scratch);
}
