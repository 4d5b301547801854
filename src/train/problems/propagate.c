/*
 * Runs belief propagation on several ranks: finds the neighbours of a rank, exchanges products with
 * them, and computes the results. The product of a vertex is its potential times all messages that
 * it receives. The kernels (propagate_kernel.h) compute messages and products.
 *
 * Two ranks are neighbours if an edge connects their vertices. For each such edge, a rank sends the
 * product of its own vertex to the neighbour, where this vertex is a ghost. Both ranks list these
 * vertices in ascending order, so that no lists have to be exchanged.
 *
 * Rank a exchanges products with its neighbours b in ascending order of a xor b. This order avoids
 * deadlock: among all pairs that have not exchanged yet, a pair with the smallest a xor b is next
 * on both of its ranks, so it can always proceed.
 *
 * The Bethe approximation of log Z from the beliefs b, with entropies H and degrees d_i, is
 *     sum_i [sum_x b_i log phi_i + (1 - d_i) H(b_i)] + sum_ab [sum_xy b_ab log psi_ab + H(b_ab)].
 */
#include "propagate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "memory.h"
#include "propagate_kernel.h"

struct neighbour {
    int rank;
    /* Local indices of the ghosts on this rank that the neighbour owns, as a range. */
    size_t ghost, ghost_count;
    /*
     * Range of indices in `shared`, which holds the vertices of this rank that are ghosts on the
     * neighbour.
     */
    size_t shared, shared_count;
    /*
     * Number of bytes sent to and received from the neighbour when the products of vertices are
     * exchanged.
     */
    size_t out_bytes, ghost_bytes;
};

struct hm_propagate {
    const struct hm_mrf *mrf; /* Part of the Markov random field that is on this rank; borrowed. */
    const struct hm_kernel_ops *ops;
    void *kernel;
    /* Neighbouring ranks, in the order in which products are exchanged with them. */
    struct neighbour *neighbours;
    size_t neighbour_count;
    /*
     * For each neighbour in turn, the vertices of this rank that have an edge to one of the
     * neighbour's vertices, in ascending order.
     */
    uint32_t *shared;
    char *out, *in; /* Send and receive buffers, large enough for every exchange. */
    /* Offset of the messages that go to each own vertex; count + 1 elements. */
    size_t *message_places;
    size_t *cursors;  /* Scratch memory with one value per own vertex. */
    double *table;    /* Scratch memory that is large enough for the largest table of an edge. */
    uint32_t *states; /* Scratch memory with one state per local vertex. */
};

double hm__mrf_psi(const struct hm_mrf *mrf, size_t edge, size_t x, size_t y)
{
    if (mrf->weights)
        return x == y ? mrf->weights[edge] : 1;
    uint32_t b = mrf->ends[2 * edge + 1];
    return mrf->tables[mrf->table_places[edge] + x * (mrf->places[b + 1] - mrf->places[b]) + y];
}

/* ---- neighbours ----------------------------------------------------------------------------- */

/*
 * Creates one neighbour for each rank that owns ghosts of this rank. The ghosts are sorted by
 * index, so their owners are in ascending order.
 */
static bool propagate_find_neighbours(struct hm_propagate *p)
{
    const struct hm_mrf *mrf = p->mrf;

    p->neighbours = hm__calloc(mrf->ghosts, sizeof(*p->neighbours));
    if (!p->neighbours)
        return false;
    for (size_t i = 0; i < mrf->ghosts; i++) {
        int owner = hm__mrf_owner(mrf->vertices, mrf->ghost_ids[i], mrf->size);
        struct neighbour *last = p->neighbours + p->neighbour_count;
        if (p->neighbour_count == 0 || last[-1].rank != owner) {
            *last = (struct neighbour){.rank = owner, .ghost = mrf->count + i};
            p->neighbour_count++;
        }
        p->neighbours[p->neighbour_count - 1].ghost_count++;
    }
    return true;
}

/*
 * A neighbouring rank, and the vertex of this rank at a cut edge. Such pairs are collected in a
 * list, from which duplicates are removed after sorting.
 */
struct cut_vertex {
    uint32_t neighbour, vertex;
};

static int cut_vertex_compare(const void *left, const void *right)
{
    const struct cut_vertex *x = left, *y = right;

    if (x->neighbour != y->neighbour)
        return x->neighbour < y->neighbour ? -1 : 1;
    return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

/*
 * Returns the index of the neighbour that owns a ghost. It may only be called before the neighbours
 * are sorted in the order of exchanges.
 */
static uint32_t propagate_owner_of_ghost(const struct hm_propagate *p, size_t ghost)
{
    size_t low = 0, high = p->neighbour_count;

    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (p->neighbours[middle].ghost <= ghost)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

static size_t propagate_cut_vertices(const struct hm_propagate *p, struct cut_vertex *shares)
{
    const struct hm_mrf *mrf = p->mrf;
    size_t found = 0;

    for (size_t e = 0; e < mrf->edge_count; e++) {
        uint32_t a = mrf->ends[2 * e], b = mrf->ends[2 * e + 1];
        if (a >= mrf->count || b >= mrf->count)
            shares[found++] = (struct cut_vertex){
                propagate_owner_of_ghost(p, a >= mrf->count ? a : b), a >= mrf->count ? b : a};
    }
    return found;
}

static bool propagate_find_shared(struct hm_propagate *p)
{
    struct cut_vertex *shares =
        hm__calloc(p->mrf->ghosts ? p->mrf->edge_count : 0, sizeof(*shares));
    size_t found = shares ? propagate_cut_vertices(p, shares) : 0, kept = 0;

    p->shared = shares ? hm__calloc(found, sizeof(*p->shared)) : NULL;
    if (!p->shared) {
        hm__free(shares);
        return false;
    }
    qsort(shares, found, sizeof(*shares), cut_vertex_compare);
    for (size_t i = 0; i < found; i++) {
        if (i > 0 && cut_vertex_compare(&shares[i - 1], &shares[i]) == 0)
            continue;
        struct neighbour *n = &p->neighbours[shares[i].neighbour];
        if (n->shared_count++ == 0)
            n->shared = kept;
        p->shared[kept++] = shares[i].vertex;
    }
    hm__free(shares);
    return true;
}

/* Sort key of a neighbour: the bitwise xor of this rank's number and the neighbour's number. */
struct exchange_key {
    int key;
    struct neighbour neighbour;
};

static int exchange_key_compare(const void *left, const void *right)
{
    const struct exchange_key *x = left, *y = right;

    return x->key < y->key ? -1 : x->key > y->key;
}

static bool propagate_sort_neighbours(struct hm_propagate *p)
{
    struct exchange_key *keys = hm__calloc(p->neighbour_count, sizeof(*keys));

    if (!keys)
        return false;
    for (size_t i = 0; i < p->neighbour_count; i++)
        keys[i] = (struct exchange_key){p->mrf->rank ^ p->neighbours[i].rank, p->neighbours[i]};
    qsort(keys, p->neighbour_count, sizeof(*keys), exchange_key_compare);
    for (size_t i = 0; i < p->neighbour_count; i++)
        p->neighbours[i] = keys[i].neighbour;
    hm__free(keys);
    return true;
}

static bool propagate_alloc_buffers(struct hm_propagate *p)
{
    size_t out = 0, in = 0;

    for (size_t i = 0; i < p->neighbour_count; i++) {
        struct neighbour *n = &p->neighbours[i];
        for (size_t k = 0; k < n->shared_count; k++)
            n->out_bytes += p->ops->bytes(p->kernel, p->shared[n->shared + k]);
        for (size_t k = 0; k < n->ghost_count; k++)
            n->ghost_bytes += p->ops->bytes(p->kernel, n->ghost + k);
        out = n->out_bytes > out ? n->out_bytes : out;
        in = n->ghost_bytes > in ? n->ghost_bytes : in;
    }
    p->out = hm__calloc(out, 1);
    p->in = hm__calloc(in, 1);
    return p->out && p->in;
}

/* ---- exchange ------------------------------------------------------------------------------- */

static void neighbour_exchange(struct hm_comm *comm, int other, const void *out, size_t out_bytes,
                               void *in, size_t in_bytes)
{
    double began = comm->ops->now(comm);

    comm->ops->exchange(comm, other, out, out_bytes, other, in, in_bytes);
    comm->bytes += (double)out_bytes;
    comm->communicate_s += comm->ops->now(comm) - began;
}

/*
 * Sends the products of own vertices to the neighbours that need them, and receives the products of
 * ghosts.
 */
static void propagate_exchange_products(struct hm_propagate *p, struct hm_comm *comm)
{
    for (size_t i = 0; i < p->neighbour_count; i++) {
        const struct neighbour *n = &p->neighbours[i];
        char *out = p->out, *in = p->in;
        for (size_t k = 0; k < n->shared_count; k++) {
            p->ops->pack(p->kernel, p->shared[n->shared + k], out);
            out += p->ops->bytes(p->kernel, p->shared[n->shared + k]);
        }
        neighbour_exchange(comm, n->rank, p->out, n->out_bytes, p->in, n->ghost_bytes);
        for (size_t k = 0; k < n->ghost_count; k++) {
            p->ops->unpack(p->kernel, n->ghost + k, in);
            in += p->ops->bytes(p->kernel, n->ghost + k);
        }
    }
}

static void propagate_exchange_states(struct hm_propagate *p, struct hm_comm *comm)
{
    for (size_t i = 0; i < p->neighbour_count; i++) {
        const struct neighbour *n = &p->neighbours[i];
        /*
         * The state of a vertex needs no more bytes than its product, so the buffers for products
         * are large enough.
         */
        for (size_t k = 0; k < n->shared_count; k++)
            memcpy(p->out + k * sizeof(*p->states), &p->states[p->shared[n->shared + k]],
                   sizeof(*p->states));
        neighbour_exchange(comm, n->rank, p->out, n->shared_count * sizeof(*p->states), p->in,
                           n->ghost_count * sizeof(*p->states));
        memcpy(p->states + n->ghost, p->in, n->ghost_count * sizeof(*p->states));
    }
}

/* ---- construction --------------------------------------------------------------------------- */

void hm__propagate_free(struct hm_propagate *p)
{
    if (!p)
        return;
    if (p->kernel)
        p->ops->destroy(p->kernel);
    hm__free(p->neighbours);
    hm__free(p->shared);
    hm__free(p->out);
    hm__free(p->in);
    hm__free(p->message_places);
    hm__free(p->cursors);
    hm__free(p->table);
    hm__free(p->states);
    hm__free(p);
}

static bool propagate_alloc_scratch(struct hm_propagate *p)
{
    const struct hm_mrf *mrf = p->mrf;
    size_t most = 1;

    for (size_t e = 0; e < mrf->edge_count; e++) {
        uint32_t a = mrf->ends[2 * e], b = mrf->ends[2 * e + 1];
        size_t table =
            (mrf->places[a + 1] - mrf->places[a]) * (mrf->places[b + 1] - mrf->places[b]);
        most = table > most ? table : most;
    }
    for (size_t v = 0; v < mrf->count; v++)
        most =
            mrf->places[v + 1] - mrf->places[v] > most ? mrf->places[v + 1] - mrf->places[v] : most;
    p->table = hm__calloc(most, sizeof(*p->table));
    p->cursors = hm__calloc(mrf->count, sizeof(*p->cursors));
    p->states = hm__calloc(mrf->count + mrf->ghosts, sizeof(*p->states));
    p->message_places = hm__calloc(mrf->count + 1, sizeof(*p->message_places));
    return p->table && p->cursors && p->states && p->message_places;
}

static void propagate_place_messages(struct hm_propagate *p)
{
    const struct hm_mrf *mrf = p->mrf;

    for (size_t i = 0; i < 2 * mrf->edge_count; i++) {
        size_t length;
        p->ops->message(p->kernel, i / 2, (int)(i % 2), &length);
        if (mrf->ends[i] < mrf->count)
            p->message_places[mrf->ends[i] + 1] += length;
    }
    for (size_t v = 0; v < mrf->count; v++)
        p->message_places[v + 1] += p->message_places[v];
}

static bool propagate_build(struct hm_propagate *p, const struct hm_propagate_settings *settings)
{
    p->kernel = p->ops->create(p->mrf, settings);
    if (!p->kernel || !propagate_find_neighbours(p) || !propagate_find_shared(p) ||
        !propagate_sort_neighbours(p) || !propagate_alloc_buffers(p) || !propagate_alloc_scratch(p))
        return false;
    propagate_place_messages(p);
    return true;
}

/*
 * Returns true on all ranks if `here` is true on at least one rank. All ranks must call this
 * function.
 */
static bool propagate_any_rank(struct hm_comm *comm, bool here)
{
    double flag = here;

    hm__comm_max_few(comm, &flag, 1);
    return flag > 0;
}

int hm__propagate_new(const struct hm_mrf *mrf, const struct hm_propagate_settings *settings,
                      struct hm_comm *comm, struct hm_propagate **ret_propagate, struct hm_err *err)
{
    /* All ranks have the same settings, so all of them fail here and no rank waits. */
    if (!(settings->damping >= 0 && settings->damping < 1))
        return hm__fail(err, HM_E_RANGE, "damping: %g is not from 0 to below 1", settings->damping);
    bool general = propagate_any_rank(comm, settings->general || !hm__propagate_binary_fits(mrf));
    struct hm_propagate *p = hm__calloc(1, sizeof(*p));
    if (p) {
        p->mrf = mrf;
        p->ops = general ? &hm__propagate_general : &hm__propagate_binary;
    }
    if (propagate_any_rank(comm, !p || !propagate_build(p, settings))) {
        hm__propagate_free(p);
        return hm__fail_nomem(err);
    }
    p->ops->collect(p->kernel);
    propagate_exchange_products(p, comm);
    *ret_propagate = p;
    return 0;
}

/* ---- iterations ----------------------------------------------------------------------------- */

double hm__propagate_step(struct hm_propagate *p, struct hm_comm *comm)
{
    double change = p->ops->step(p->kernel);

    hm__comm_work(comm, p->ops->flop(p->kernel));
    propagate_exchange_products(p, comm);
    hm__comm_max_few(comm, &change, 1);
    return change;
}

/* ---- results -------------------------------------------------------------------------------- */

void hm__propagate_beliefs(const struct hm_propagate *p, double *beliefs)
{
    for (size_t v = 0; v < p->mrf->count; v++)
        p->ops->belief(p->kernel, v, beliefs + p->mrf->places[v]);
}

void hm__propagate_decode(const struct hm_propagate *p, uint32_t *states)
{
    const struct hm_mrf *mrf = p->mrf;

    for (size_t v = 0; v < mrf->count; v++) {
        uint32_t best = 0;
        p->ops->belief(p->kernel, v, p->table);
        for (uint32_t x = 1; x < mrf->places[v + 1] - mrf->places[v]; x++)
            best = p->table[x] > p->table[best] ? x : best;
        states[v] = best;
    }
}

/*
 * Returns b log(potential) - entropy * b log(b), where b is the belief and `entropy` is the weight
 * of the entropy; the result is 0 if b is 0.
 */
static double bethe_term(double belief, double potential, double entropy)
{
    return belief > 0 ? belief * (log(potential) - entropy * log(belief)) : 0;
}

static double propagate_vertex_term(const struct hm_propagate *p, size_t v)
{
    const struct hm_mrf *mrf = p->mrf;
    double sum = 0, degree = (double)p->cursors[v];

    p->ops->belief(p->kernel, v, p->table);
    for (size_t i = mrf->places[v]; i < mrf->places[v + 1]; i++)
        sum += bethe_term(p->table[i - mrf->places[v]], mrf->unary[i], 1 - degree);
    return sum;
}

static double propagate_edge_term(const struct hm_propagate *p, size_t e)
{
    const struct hm_mrf *mrf = p->mrf;
    uint32_t a = mrf->ends[2 * e], b = mrf->ends[2 * e + 1];
    size_t rows = mrf->places[a + 1] - mrf->places[a],
           columns = mrf->places[b + 1] - mrf->places[b];
    double sum = 0;

    p->ops->edge_belief(p->kernel, e, p->table);
    for (size_t i = 0; i < rows * columns; i++)
        sum += bethe_term(p->table[i], hm__mrf_psi(mrf, e, i / columns, i % columns), 1);
    return sum;
}

double hm__propagate_log_z(const struct hm_propagate *p, struct hm_comm *comm)
{
    const struct hm_mrf *mrf = p->mrf;
    double sum = mrf->log_scale;

    memset(p->cursors, 0, mrf->count * sizeof(*p->cursors));
    for (size_t i = 0; i < 2 * mrf->edge_count; i++)
        if (mrf->ends[i] < mrf->count)
            /* Count the edges of each own vertex, that is, compute its degree. */
            p->cursors[mrf->ends[i]]++;
    for (size_t v = 0; v < mrf->count; v++)
        sum += propagate_vertex_term(p, v);
    for (size_t e = 0; e < mrf->edge_count; e++)
        if (mrf->ends[2 * e] < mrf->count)
            sum += propagate_edge_term(p, e);
    hm__comm_sum_few(comm, &sum, 1);
    return sum;
}

double hm__propagate_score(struct hm_propagate *p, const uint32_t *states, struct hm_comm *comm)
{
    const struct hm_mrf *mrf = p->mrf;
    double sum = mrf->log_scale;

    memcpy(p->states, states, mrf->count * sizeof(*states));
    propagate_exchange_states(p, comm);
    for (size_t v = 0; v < mrf->count; v++)
        sum += log(mrf->unary[mrf->places[v] + states[v]]);
    for (size_t e = 0; e < mrf->edge_count; e++)
        if (mrf->ends[2 * e] < mrf->count)
            sum += log(
                hm__mrf_psi(mrf, e, p->states[mrf->ends[2 * e]], p->states[mrf->ends[2 * e + 1]]));
    hm__comm_sum_few(comm, &sum, 1);
    return sum;
}

/* ---- stored messages ------------------------------------------------------------------------ */

size_t hm__propagate_message_count(const struct hm_propagate *p)
{
    return p->message_places[p->mrf->count];
}

/*
 * Copies all messages that go to own vertices from the kernel to `get`, or from `put` to the
 * kernel.
 */
static void propagate_copy_messages(const struct hm_propagate *p, double *get, const double *put)
{
    const struct hm_mrf *mrf = p->mrf;

    memcpy(p->cursors, p->message_places, mrf->count * sizeof(*p->cursors));
    for (size_t i = 0; i < 2 * mrf->edge_count; i++) {
        uint32_t v = mrf->ends[i];
        if (v >= mrf->count)
            continue;
        size_t length, at = p->cursors[v];
        double *message = p->ops->message(p->kernel, i / 2, (int)(i % 2), &length);
        if (get)
            memcpy(get + at, message, length * sizeof(*message));
        else
            memcpy(message, put + at, length * sizeof(*message));
        p->cursors[v] += length;
    }
}

void hm__propagate_get(const struct hm_propagate *p, double *messages)
{
    propagate_copy_messages(p, messages, NULL);
}

/*
 * Copies messages on edges shared with a neighbour. If `in` is not NULL, the messages that go to
 * the neighbour's vertices are copied from `in`; otherwise the messages that go to own vertices are
 * copied to `out`, unless it is NULL. Returns the total length of these messages in doubles.
 */
static size_t propagate_copy_cut(const struct hm_propagate *p, const struct neighbour *n,
                                 double *out, const double *in)
{
    const struct hm_mrf *mrf = p->mrf;
    size_t used = 0;

    for (size_t i = 0; i < 2 * mrf->edge_count; i++) {
        size_t ghost = mrf->ends[i], length;
        if (ghost < n->ghost || ghost >= n->ghost + n->ghost_count)
            continue;
        int end = (int)(i % 2);
        double *message = p->ops->message(p->kernel, i / 2, in ? end : !end, &length);
        if (in)
            memcpy(message, in + used, length * sizeof(*message));
        else if (out)
            memcpy(out + used, message, length * sizeof(*message));
        used += length;
    }
    return used;
}

/*
 * Returns the number of doubles in the messages that go over shared edges to a neighbour's
 * vertices.
 */
static size_t propagate_count_cut(const struct hm_propagate *p, const struct neighbour *n)
{
    size_t used = 0, length;

    for (size_t i = 0; i < 2 * p->mrf->edge_count; i++)
        if (p->mrf->ends[i] >= n->ghost && p->mrf->ends[i] < n->ghost + n->ghost_count) {
            p->ops->message(p->kernel, i / 2, (int)(i % 2), &length);
            used += length;
        }
    return used;
}

/*
 * Exchanges the messages on cut edges with all neighbours. This takes one pass over the edges for
 * each neighbour, but it is needed only once, when a run is resumed.
 */
static void propagate_exchange_cut(struct hm_propagate *p, struct hm_comm *comm, double *out,
                                   double *in)
{
    for (size_t i = 0; i < p->neighbour_count; i++) {
        const struct neighbour *n = &p->neighbours[i];
        size_t length = propagate_copy_cut(p, n, out, NULL);
        neighbour_exchange(comm, n->rank, out, length * sizeof(*out), in,
                           propagate_count_cut(p, n) * sizeof(*in));
        propagate_copy_cut(p, n, NULL, in);
    }
}

int hm__propagate_put(struct hm_propagate *p, const double *messages, struct hm_comm *comm,
                      struct hm_err *err)
{
    size_t out_room = 0, in_room = 0;

    for (size_t i = 0; i < p->neighbour_count; i++) {
        size_t out_length = propagate_copy_cut(p, &p->neighbours[i], NULL, NULL);
        size_t in_length = propagate_count_cut(p, &p->neighbours[i]);
        out_room = out_length > out_room ? out_length : out_room;
        in_room = in_length > in_room ? in_length : in_room;
    }
    double *out = hm__calloc(out_room, sizeof(*out)), *in = hm__calloc(in_room, sizeof(*in));
    bool failed = propagate_any_rank(comm, !out || !in);
    if (!failed) {
        propagate_copy_messages(p, NULL, messages);
        propagate_exchange_cut(p, comm, out, in);
        p->ops->collect(p->kernel);
        propagate_exchange_products(p, comm);
    }
    hm__free(out);
    hm__free(in);
    return failed ? hm__fail_nomem(err) : 0;
}
