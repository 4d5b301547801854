/*
 * Generates Markov random fields. Every rank generates the vertices of its own block and the edges
 * that touch it, from random numbers that depend only on the seed and on the index of the vertex or
 * edge.
 *
 * A random graph consists of `edges` distinct pairs of vertices, but no rank stores all of them.
 * Edge e is pair number pi(e), where pi is a permutation of the V (V-1)/2 pairs of V vertices: a
 * Feistel network of six rounds on the smallest sufficient even number of bits, applied again while
 * the result is too large (cycle walking; Black and Rogaway: Ciphers with arbitrary finite domains,
 * CT-RSA 2002). Each rank enumerates all edges of a tree or a random graph and stores the edges
 * that touch its block. Therefore, the time grows with the size of the whole graph, but the memory
 * grows only with the size of the rank's part.
 */
#include "field.h"

#include <math.h>
#include <stdio.h>

#include "err.h"
#include "memory.h"
#include "random.h"

/*
 * Random numbers for vertices come from streams with even numbers, and random numbers for edges
 * from streams with odd numbers. If this bit of the stream number is set, the random numbers
 * determine the shape of the graph.
 */
static const uint64_t SHAPE = (uint64_t)1 << 63;
#define MOST_VERTICES 4294967295.0

static bool is_integer_in(double value, double low, double high)
{
    return value >= low && value <= high && value == floor(value);
}

static int recipe_check_potentials(const struct hm_mrf_recipe *r, struct hm_err *err)
{
    if (!is_integer_in(r->states, 2, HM_MARKOV_STATES))
        return hm__fail(err, HM_E_RANGE, "states: %g is not a whole number from 2 to %d", r->states,
                        HM_MARKOV_STATES);
    if (!(r->coupling >= -30 && r->coupling <= 30))
        return hm__fail(err, HM_E_RANGE, "coupling: %g is not from -30 to 30", r->coupling);
    if (!(r->field >= 0 && r->field <= 30))
        return hm__fail(err, HM_E_RANGE, "field: %g is not from 0 to 30", r->field);
    return 0;
}

static int recipe_check_shape(const struct hm_mrf_recipe *r, struct hm_err *err)
{
    if (r->shape == HM_MRF_GRID) {
        if (!is_integer_in(r->rows, 1, MOST_VERTICES) ||
            !is_integer_in(r->columns, 1, MOST_VERTICES) || r->rows * r->columns > MOST_VERTICES)
            return hm__fail(err, HM_E_RANGE,
                            "a grid of %g x %g: both must be whole numbers, with at most 2^32 - 1 "
                            "vertices in all",
                            r->rows, r->columns);
        return 0;
    }
    double least = r->shape == HM_MRF_TREE ? 1 : 2;
    if (!is_integer_in(r->vertices, least, MOST_VERTICES))
        return hm__fail(err, HM_E_RANGE, "vertices: %g is not a whole number from %g to 2^32 - 1",
                        r->vertices, least);
    double pairs = r->vertices * (r->vertices - 1) / 2;
    if (r->shape == HM_MRF_RANDOM && !is_integer_in(r->edges, 1, fmin(pairs, 9007199254740992.0)))
        return hm__fail(err, HM_E_RANGE, "edges: %g is not a whole number from 1 to %g", r->edges,
                        pairs);
    return 0;
}

/* ---- shapes --------------------------------------------------------------------------------- */

/*
 * Adds the edges of a grid, row by row: each vertex is connected to its right and lower neighbours.
 */
static int recipe_grid_edges(const struct hm_mrf_recipe *r, const struct hm_mrf *mrf,
                             struct hm_mrf_edges *edges, struct hm_err *err)
{
    uint64_t rows = (uint64_t)r->rows, columns = (uint64_t)r->columns;
    uint64_t from = mrf->first > columns ? mrf->first - columns : 0, to = mrf->first + mrf->count;
    int rc = 0;

    for (uint64_t v = from; rc == 0 && v < to; v++) {
        uint64_t row = v / columns, column = v % columns;
        bool last = row + 1 == rows;
        uint64_t number = row * (2 * columns - 1) + (last ? 1 : 2) * column;
        if (column + 1 < columns)
            rc = hm__mrf_add(mrf, edges, (uint32_t)v, (uint32_t)v + 1, number++, err);
        if (rc == 0 && !last)
            rc = hm__mrf_add(mrf, edges, (uint32_t)v, (uint32_t)(v + columns), number, err);
    }
    return rc;
}

static int recipe_tree_edges(const struct hm_mrf_recipe *r, const struct hm_mrf *mrf,
                             struct hm_mrf_edges *edges, struct hm_err *err)
{
    int rc = 0;

    for (uint32_t v = 1; rc == 0 && v < mrf->vertices; v++) {
        struct hm_random random;
        hm__random_init(&random, r->seed, SHAPE | v);
        rc = hm__mrf_add(mrf, edges, hm__random_below(&random, v), v, v - 1, err);
    }
    return rc;
}

enum { ROUNDS = 6 };

struct permutation {
    uint64_t keys[ROUNDS];
    uint64_t length; /* Number of permuted numbers, which are 0 to length - 1. */
    unsigned half;   /* Number of bits in each half of a permuted number. */
};

static void permutation_init(struct permutation *p, uint64_t seed, uint64_t length)
{
    struct hm_random random;

    hm__random_init(&random, seed, SHAPE);
    for (int i = 0; i < ROUNDS; i++) {
        p->keys[i] = (uint64_t)hm__random_u32(&random) << 32;
        p->keys[i] |= hm__random_u32(&random);
    }
    p->length = length;
    p->half = 1;
    while (p->half < 32 && (length - 1) >> (2 * p->half))
        p->half++;
}

/*
 * Mixes bits with the finaliser of MurmurHash3: every bit of the input affects every bit of the
 * output.
 */
static uint64_t murmur_mix(uint64_t x)
{
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

static uint64_t permutation_apply(const struct permutation *p, uint64_t x)
{
    const uint64_t mask = ((uint64_t)1 << p->half) - 1;

    do {
        uint64_t left = x >> p->half, right = x & mask;
        for (int i = 0; i < ROUNDS; i++) {
            uint64_t next = left ^ (murmur_mix(right ^ p->keys[i]) & mask);
            left = right;
            right = next;
        }
        x = left << p->half | right;
    } while (x >= p->length);
    return x;
}

/* Computes pair number k, which is (a, b) with k = b (b-1)/2 + a and a < b. */
static void pair_from_index(uint64_t k, uint32_t *a, uint32_t *b)
{
    uint64_t larger = (uint64_t)((1 + sqrt(1 + 8 * (double)k)) / 2);

    /* The square root has a rounding error, which is corrected here. */
    while (larger * (larger - 1) / 2 > k)
        larger--;
    while ((larger + 1) * larger / 2 <= k)
        larger++;
    *b = (uint32_t)larger;
    *a = (uint32_t)(k - larger * (larger - 1) / 2);
}

static int recipe_random_edges(const struct hm_mrf_recipe *r, const struct hm_mrf *mrf,
                               struct hm_mrf_edges *edges, struct hm_err *err)
{
    struct permutation p;
    uint64_t v = mrf->vertices;
    int rc = 0;

    permutation_init(&p, r->seed, v * (v - 1) / 2);
    for (uint64_t e = 0; rc == 0 && e < mrf->edges; e++) {
        uint32_t a, b;
        pair_from_index(permutation_apply(&p, e), &a, &b);
        rc = hm__mrf_add(mrf, edges, a, b, e, err);
    }
    return rc;
}

/* ---- potentials ----------------------------------------------------------------------------- */

static void recipe_draw_vertex(const struct hm_mrf_recipe *r, size_t vertex, double *phi,
                               double *scale)
{
    size_t states = (size_t)r->states;
    struct hm_random random;
    double most = -INFINITY;

    hm__random_init(&random, r->seed, 2 * (uint64_t)vertex);
    for (size_t x = 0; x < states; x++)
        phi[x] = states == 2 && x == 1 ? -phi[0] : r->field * hm__random_normal(&random);
    for (size_t x = 0; x < states; x++)
        most = fmax(most, phi[x]);
    for (size_t x = 0; x < states; x++)
        phi[x] = exp(phi[x] - most);
    *scale += most;
}

static double recipe_draw_coupling(const struct hm_mrf_recipe *r, uint64_t number)
{
    struct hm_random random;

    if (r->fixed)
        return r->coupling;
    hm__random_init(&random, r->seed, 2 * number + 1);
    return r->coupling * hm__random_normal(&random);
}

static int mrf_draw_potentials(struct hm_mrf *mrf, const struct hm_mrf_recipe *r,
                               const struct hm_mrf_edges *edges, struct hm_err *err)
{
    size_t states = (size_t)r->states;

    mrf->unary = hm__calloc(mrf->count, states * sizeof(*mrf->unary));
    mrf->weights = hm__calloc(edges->count, sizeof(*mrf->weights));
    if (!mrf->unary || !mrf->weights)
        return hm__fail_nomem(err);
    for (size_t v = 0; v < mrf->count + mrf->ghosts; v++)
        mrf->places[v + 1] = mrf->places[v] + states;
    for (size_t v = 0; v < mrf->count; v++)
        recipe_draw_vertex(r, mrf->first + v, mrf->unary + states * v, &mrf->log_scale);
    for (size_t i = 0; i < edges->count; i++) {
        double j = recipe_draw_coupling(r, edges->list[i].number);
        mrf->weights[i] = exp(2 * j);
        if (mrf->ends[2 * i] < mrf->count)
            mrf->log_scale -= j;
    }
    return 0;
}

static int mrf_finish(struct hm_mrf *mrf, const struct hm_mrf_recipe *r, struct hm_mrf_edges *edges,
                      int rc, struct hm_mrf **ret_mrf, struct hm_err *err)
{
    if (rc == 0)
        rc = hm__mrf_connect(mrf, edges, err);
    if (rc == 0)
        rc = mrf_draw_potentials(mrf, r, edges, err);
    hm__free(edges->list);
    if (rc == 0)
        *ret_mrf = mrf;
    else
        hm__mrf_free(mrf);
    return rc;
}

static void recipe_sizes(const struct hm_mrf_recipe *r, size_t *vertices, size_t *edges)
{
    double v = r->vertices, e = r->edges;

    if (r->shape == HM_MRF_GRID) {
        v = r->rows * r->columns;
        e = 2 * v - r->rows - r->columns;
    } else if (r->shape == HM_MRF_TREE) {
        e = v - 1;
    }
    *vertices = (size_t)v;
    *edges = (size_t)e;
}

int hm__mrf_make(const struct hm_mrf_recipe *r, int rank, int size, struct hm_mrf **ret_mrf,
                 struct hm_err *err)
{
    struct hm_mrf_edges found = {0};
    size_t vertices, edges;
    int rc = recipe_check_shape(r, err);

    if (rc == 0)
        rc = recipe_check_potentials(r, err);
    if (rc)
        return rc;
    recipe_sizes(r, &vertices, &edges);
    struct hm_mrf *mrf = hm__mrf_new(vertices, edges, rank, size);
    if (!mrf)
        return hm__fail_nomem(err);
    rc = r->shape == HM_MRF_GRID   ? recipe_grid_edges(r, mrf, &found, err)
         : r->shape == HM_MRF_TREE ? recipe_tree_edges(r, mrf, &found, err)
                                   : recipe_random_edges(r, mrf, &found, err);
    return mrf_finish(mrf, r, &found, rc, ret_mrf, err);
}

int hm__mrf_from_graph(const struct hm_graph *graph, const struct hm_mrf_recipe *r, int rank,
                       int size, struct hm_mrf **ret_mrf, struct hm_err *err)
{
    struct hm_mrf_edges found = {0};
    int rc = recipe_check_potentials(r, err);

    if (rc == 0 && !graph->ends)
        rc = hm__fail(err, HM_E_MISSING, "only the degrees of the graph are known, not its edges");
    if (rc)
        return rc;
    struct hm_mrf *mrf = hm__mrf_new((size_t)graph->vertices, (size_t)graph->edges, rank, size);
    if (!mrf)
        return hm__fail_nomem(err);
    for (size_t e = 0; rc == 0 && e < mrf->edges; e++)
        rc = hm__mrf_add(mrf, &found, graph->ends[2 * e], graph->ends[2 * e + 1], e, err);
    return mrf_finish(mrf, r, &found, rc, ret_mrf, err);
}
