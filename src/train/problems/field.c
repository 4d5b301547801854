/*
 * Builds one rank's part of a Markov random field: its block of vertices, its edges and its ghosts.
 * It also builds the part from a field that was read from a file; field_make.c generates fields.
 * See field.h for the data structure.
 */
#include "field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "memory.h"
#include "prepare.h"

size_t hm__mrf_block(size_t vertices, int rank, int size)
{
    return (size_t)((uint64_t)vertices * (uint64_t)rank / (uint64_t)size);
}

int hm__mrf_owner(size_t vertices, size_t vertex, int size)
{
    /*
     * With V vertices and n ranks, the owner of vertex v is the largest rank r with floor(V r/n) <=
     * v, that is, with V r/n < v + 1.
     */
    return (int)((((uint64_t)vertex + 1) * (uint64_t)size - 1) / (uint64_t)vertices);
}

static size_t mrf_global_index(const struct hm_mrf *mrf, size_t local)
{
    return local < mrf->count ? mrf->first + local : mrf->ghost_ids[local - mrf->count];
}

struct hm_mrf *hm__mrf_new(size_t vertices, size_t edges, int rank, int size)
{
    struct hm_mrf *mrf = hm__calloc(1, sizeof(*mrf));

    if (!mrf)
        return NULL;
    mrf->vertices = vertices;
    mrf->edges = edges;
    mrf->rank = rank;
    mrf->size = size;
    mrf->first = hm__mrf_block(vertices, rank, size);
    mrf->count = hm__mrf_block(vertices, rank + 1, size) - mrf->first;
    return mrf;
}

void hm__mrf_free(struct hm_mrf *mrf)
{
    if (!mrf)
        return;
    hm__free(mrf->ghost_ids);
    hm__free(mrf->places);
    hm__free(mrf->unary);
    hm__free(mrf->ends);
    hm__free(mrf->weights);
    hm__free(mrf->tables);
    hm__free(mrf->table_places);
    hm__free(mrf);
}

static bool mrf_is_own(const struct hm_mrf *mrf, uint32_t vertex)
{
    return vertex >= mrf->first && vertex - mrf->first < mrf->count;
}

int hm__mrf_add(const struct hm_mrf *mrf, struct hm_mrf_edges *edges, uint32_t a, uint32_t b,
                uint64_t number, struct hm_err *err)
{
    if (!mrf_is_own(mrf, a) && !mrf_is_own(mrf, b))
        return 0;
    struct hm_mrf_edge *list = hm__grow(edges->list, edges->count, &edges->room, sizeof(*list));
    if (!list)
        return hm__fail_nomem(err);
    edges->list = list;
    edges->list[edges->count++] = (struct hm_mrf_edge){a < b ? a : b, a < b ? b : a, number};
    return 0;
}

static int mrf_compare_edges(const void *left, const void *right)
{
    const struct hm_mrf_edge *x = left, *y = right;

    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void mrf_sort_edges(struct hm_mrf_edges *edges)
{
    for (size_t i = 1; i < edges->count; i++)
        if (mrf_compare_edges(&edges->list[i - 1], &edges->list[i]) > 0) {
            qsort(edges->list, edges->count, sizeof(*edges->list), mrf_compare_edges);
            return;
        }
}

static int mrf_compare_ids(const void *left, const void *right)
{
    uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;

    return x < y ? -1 : x > y;
}

/* Collects the ghosts: the ends of edges that other ranks own, each once, in ascending order. */
static int mrf_find_ghosts(struct hm_mrf *mrf, const struct hm_mrf_edges *edges, struct hm_err *err)
{
    size_t found = 0, kept = 0;

    for (size_t i = 0; i < edges->count; i++)
        found += !mrf_is_own(mrf, edges->list[i].a) || !mrf_is_own(mrf, edges->list[i].b);
    mrf->ghost_ids = hm__calloc(found, sizeof(*mrf->ghost_ids));
    if (!mrf->ghost_ids)
        return hm__fail_nomem(err);
    found = 0;
    for (size_t i = 0; i < edges->count; i++) {
        const struct hm_mrf_edge *e = &edges->list[i];
        if (!mrf_is_own(mrf, e->a))
            mrf->ghost_ids[found++] = e->a;
        else if (!mrf_is_own(mrf, e->b))
            mrf->ghost_ids[found++] = e->b;
    }
    qsort(mrf->ghost_ids, found, sizeof(*mrf->ghost_ids), mrf_compare_ids);
    for (size_t i = 0; i < found; i++)
        if (kept == 0 || mrf->ghost_ids[kept - 1] != mrf->ghost_ids[i])
            mrf->ghost_ids[kept++] = mrf->ghost_ids[i];
    mrf->ghosts = kept;
    return 0;
}

static uint32_t mrf_local_index(const struct hm_mrf *mrf, uint32_t vertex)
{
    if (mrf_is_own(mrf, vertex))
        return (uint32_t)(vertex - mrf->first);
    const uint32_t *found =
        bsearch(&vertex, mrf->ghost_ids, mrf->ghosts, sizeof(vertex), mrf_compare_ids);
    return (uint32_t)(mrf->count + (size_t)(found - mrf->ghost_ids));
}

int hm__mrf_connect(struct hm_mrf *mrf, struct hm_mrf_edges *edges, struct hm_err *err)
{
    mrf_sort_edges(edges);
    int rc = mrf_find_ghosts(mrf, edges, err);
    if (rc)
        return rc;
    mrf->edge_count = edges->count;
    mrf->ends = hm__calloc(2 * (edges->count + HM_MRF_AHEAD), sizeof(*mrf->ends));
    mrf->places = hm__calloc(mrf->count + mrf->ghosts + 1, sizeof(*mrf->places));
    if (!mrf->ends || !mrf->places)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < edges->count; i++) {
        mrf->ends[2 * i] = mrf_local_index(mrf, edges->list[i].a);
        mrf->ends[2 * i + 1] = mrf_local_index(mrf, edges->list[i].b);
    }
    return 0;
}

/* ---- from a file ---------------------------------------------------------------------------- */

static size_t markov_table_length(const struct hm_markov *m, size_t edge)
{
    return m->table_places[edge + 1] - m->table_places[edge];
}

/*
 * Returns whether the table of an edge has the same value everywhere on its diagonal, and the same
 * nonzero value everywhere else, so that a single weight describes it.
 */
static bool markov_is_weight(const struct hm_markov *m, size_t edge)
{
    const double *table = m->tables + m->table_places[edge];
    uint32_t rows = m->states[m->ends[2 * edge]], columns = m->states[m->ends[2 * edge + 1]];

    if (rows != columns || rows < 2 || table[0] <= 0 || table[1] <= 0)
        return false;
    for (uint32_t x = 0; x < rows; x++)
        for (uint32_t y = 0; y < columns; y++)
            if (table[x * columns + y] != table[x == y ? 0 : 1])
                return false;
    return isfinite(table[0] / table[1]) && table[0] / table[1] > 0;
}

static bool markov_has_weights(const struct hm_markov *m)
{
    for (size_t e = 0; e < m->edges; e++)
        if (!markov_is_weight(m, e))
            return false;
    return true;
}

static int mrf_copy_vertices(struct hm_mrf *mrf, const struct hm_markov *m, struct hm_err *err)
{
    for (size_t v = 0; v < mrf->count + mrf->ghosts; v++)
        mrf->places[v + 1] = mrf->places[v] + m->states[mrf_global_index(mrf, v)];
    mrf->unary = hm__calloc(mrf->places[mrf->count], sizeof(*mrf->unary));
    if (!mrf->unary)
        return hm__fail_nomem(err);
    memcpy(mrf->unary, m->unary + m->unary_places[mrf->first],
           mrf->places[mrf->count] * sizeof(*mrf->unary));
    return 0;
}

static int mrf_copy_weights(struct hm_mrf *mrf, const struct hm_markov *m,
                            const struct hm_mrf_edges *edges, struct hm_err *err)
{
    mrf->weights = hm__calloc(edges->count, sizeof(*mrf->weights));
    if (!mrf->weights)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < edges->count; i++) {
        const double *table = m->tables + m->table_places[edges->list[i].number];
        mrf->weights[i] = table[0] / table[1];
        if (mrf_is_own(mrf, edges->list[i].a))
            mrf->log_scale += log(table[1]);
    }
    return 0;
}

static int mrf_copy_tables(struct hm_mrf *mrf, const struct hm_markov *m,
                           const struct hm_mrf_edges *edges, struct hm_err *err)
{
    mrf->table_places = hm__calloc(edges->count + 1, sizeof(*mrf->table_places));
    if (!mrf->table_places)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < edges->count; i++)
        mrf->table_places[i + 1] =
            mrf->table_places[i] + markov_table_length(m, edges->list[i].number);
    mrf->tables = hm__calloc(mrf->table_places[edges->count], sizeof(*mrf->tables));
    if (!mrf->tables)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < edges->count; i++)
        memcpy(mrf->tables + mrf->table_places[i],
               m->tables + m->table_places[edges->list[i].number],
               markov_table_length(m, edges->list[i].number) * sizeof(*mrf->tables));
    return 0;
}

int hm__mrf_from_markov(const struct hm_markov *m, int rank, int size, struct hm_mrf **ret_mrf,
                        struct hm_err *err)
{
    struct hm_mrf_edges edges = {0};
    struct hm_mrf *mrf = hm__mrf_new(m->variables, m->edges, rank, size);
    int rc = mrf ? 0 : hm__fail_nomem(err);

    for (size_t e = 0; rc == 0 && e < m->edges; e++)
        rc = hm__mrf_add(mrf, &edges, m->ends[2 * e], m->ends[2 * e + 1], e, err);
    if (rc == 0)
        rc = hm__mrf_connect(mrf, &edges, err);
    if (rc == 0)
        rc = mrf_copy_vertices(mrf, m, err);
    if (rc == 0)
        rc = markov_has_weights(m) ? mrf_copy_weights(mrf, m, &edges, err)
                                   : mrf_copy_tables(mrf, m, &edges, err);
    hm__free(edges.list);
    if (rc) {
        hm__mrf_free(mrf);
        return rc;
    }
    if (rank == 0)
        mrf->log_scale += m->log_scale;
    *ret_mrf = mrf;
    return 0;
}

/* ---- fingerprint ---------------------------------------------------------------------------- */

static double mrf_vertex_part(const struct hm_mrf *mrf, size_t vertex)
{
    uint64_t hash = hm__fingerprint_mix(1, (double)(mrf->first + vertex));

    for (size_t e = mrf->places[vertex]; e < mrf->places[vertex + 1]; e++)
        hash = hm__fingerprint_mix(hash, mrf->unary[e]);
    return hm__fingerprint_part(hash);
}

static double mrf_edge_part(const struct hm_mrf *mrf, size_t edge)
{
    uint64_t hash = hm__fingerprint_mix(2, (double)mrf_global_index(mrf, mrf->ends[2 * edge]));

    hash = hm__fingerprint_mix(hash, (double)mrf_global_index(mrf, mrf->ends[2 * edge + 1]));
    if (mrf->weights)
        return hm__fingerprint_part(hm__fingerprint_mix(hash, mrf->weights[edge]));
    for (size_t e = mrf->table_places[edge]; e < mrf->table_places[edge + 1]; e++)
        hash = hm__fingerprint_mix(hash, mrf->tables[e]);
    return hm__fingerprint_part(hash);
}

double hm__mrf_fingerprint(struct hm_comm *comm, const struct hm_mrf *mrf)
{
    double sum = 0;

    for (size_t v = 0; v < mrf->count; v++)
        sum += mrf_vertex_part(mrf, v);
    /* The rank that owns the first end of an edge counts it. */
    for (size_t e = 0; e < mrf->edge_count; e++)
        if (mrf->ends[2 * e] < mrf->count)
            sum += mrf_edge_part(mrf, e);
    hm__comm_sum_few(comm, &sum, 1);
    return sum;
}
