/*
 * Builds a graph from a list of edges.
 *
 * Vertex ids may be sparse and in any order. If the largest id is not much larger than the number
 * of edges, a table indexed by id renumbers the vertices; otherwise the ids are sorted. Repeated
 * edges (in either direction, because SNAP lists undirected graphs in both) are found by collecting
 * the edges in one row per vertex and sorting each row. The running time is linear except for
 * sorting the rows. Limit: there are at most 2^32 - 1 vertices.
 */
#include "graph_build.h"

#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "err.h"
#include "memory.h"
#include "order.h"

int hm__edge_list_add(struct hm_edge_list *list, uint64_t a, uint64_t b, struct hm_err *err)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 65536;
        uint64_t *ids = hm__realloc(list->ids, 2 * room, sizeof(*ids));
        if (!ids)
            return hm__fail_nomem(err);
        list->ids = ids;
        list->room = room;
    }
    list->ids[2 * list->count] = a;
    list->ids[2 * list->count + 1] = b;
    list->count++;
    return 0;
}

void hm__edge_list_release(struct hm_edge_list *list)
{
    hm__free(list->ids);
    *list = (struct hm_edge_list){0};
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/*
 * Renumbers the vertices with a table indexed by id: each id that occurs is marked with 1, and then
 * each mark is replaced by the rank of the id.
 */
static int number_by_table(struct hm_edge_list *list, uint64_t largest, uint64_t *vertices,
                           struct hm_err *err)
{
    uint32_t *rank = hm__calloc(largest + 1, sizeof(*rank));

    if (!rank)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < 2 * list->count && !hm__budget_pass(i, "graph"); i++)
        rank[list->ids[i]] = 1;
    *vertices = 0;
    for (uint64_t id = 0; id <= largest && !hm__budget_pass(id, "graph"); id++)
        if (rank[id])
            rank[id] = (uint32_t)(*vertices)++;
    for (size_t i = 0; i < 2 * list->count && !hm__budget_pass(i, "graph"); i++)
        list->ids[i] = rank[list->ids[i]];
    hm__free(rank);
    return hm__budget_check("graph", err);
}

static int number_by_sorting(struct hm_edge_list *list, uint64_t *vertices, struct hm_err *err)
{
    size_t total = 2 * list->count, used = 0;
    uint64_t *sorted = hm__calloc(total, sizeof(*sorted));

    if (!sorted)
        return hm__fail_nomem(err);
    memcpy(sorted, list->ids, total * sizeof(*sorted));
    int rc = hm__sort(sorted, total, sizeof(*sorted), compare_ids, "graph", err);
    for (size_t i = 0; rc == 0 && i < total; i++)
        if (used == 0 || sorted[used - 1] != sorted[i])
            sorted[used++] = sorted[i];
    for (size_t i = 0; rc == 0 && i < total; i++) {
        const uint64_t *found = bsearch(&list->ids[i], sorted, used, sizeof(*sorted), compare_ids);
        list->ids[i] = (uint64_t)(found - sorted);
        if (hm__budget_pass(i, "graph"))
            rc = hm__budget_check("graph", err);
    }
    *vertices = used;
    hm__free(sorted);
    return rc;
}

static int number_vertices(struct hm_edge_list *list, uint64_t *vertices, struct hm_err *err)
{
    uint64_t largest = 0;

    for (size_t i = 0; i < 2 * list->count; i++)
        largest = list->ids[i] > largest ? list->ids[i] : largest;
    int rc = largest < 16 * (uint64_t)list->count + 1000000
                 ? number_by_table(list, largest, vertices, err)
                 : number_by_sorting(list, vertices, err);
    if (rc == 0 && *vertices > UINT32_MAX)
        rc = hm__fail(err, HM_E_LIMIT, "more than 4294967295 vertices");
    return rc;
}

static int compare_ends(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/*
 * Writes one row for each vertex v: its neighbours with larger numbers, starting at rows[starts[v +
 * 1]].
 */
static void fill_rows(const struct hm_edge_list *list, uint64_t *starts, uint64_t vertices,
                      uint32_t *rows)
{
    for (size_t i = 0; i < list->count; i++) {
        uint64_t a = list->ids[2 * i], b = list->ids[2 * i + 1];
        if (a != b)
            starts[(a < b ? a : b) + 1]++;
        if (hm__budget_pass(i, "graph"))
            return;
    }
    for (uint64_t v = 0; v < vertices && !hm__budget_pass(v, "graph"); v++)
        starts[v + 1] += starts[v];
    if (hm__budget_spent("graph")) /* The rows must not be filled with incomplete starts. */
        return;
    for (size_t i = list->count; i-- > 0;) {
        uint64_t a = list->ids[2 * i], b = list->ids[2 * i + 1];
        /*
         * Each row is filled from its end, so that finally starts[v + 1] is the index of the first
         * entry of row v.
         */
        if (a != b)
            rows[--starts[(a < b ? a : b) + 1]] = (uint32_t)(a < b ? b : a);
        if (hm__budget_pass(i, "graph"))
            return;
    }
}

/*
 * Sorts each row, drops repeated edges, writes the edges as pairs of vertices and counts the
 * degrees.
 */
static void write_edges(struct hm_graph *g, const uint64_t *starts, uint32_t *rows,
                        uint32_t *degrees, uint64_t named)
{
    size_t used = 0;

    for (uint64_t v = 0; v < (uint64_t)g->vertices; v++) {
        if (v % 1024 == 0 && hm__budget_spent("vertices"))
            break;
        uint64_t from = starts[v + 1], to = v + 1 < (uint64_t)g->vertices ? starts[v + 2] : named;
        qsort(rows + from, to - from, sizeof(*rows), compare_ends);
        for (uint64_t i = from; i < to; i++) {
            if (i > from && rows[i] == rows[i - 1])
                continue;
            g->ends[used++] = (uint32_t)v;
            g->ends[used++] = rows[i];
            degrees[v]++;
            degrees[rows[i]]++;
        }
    }
    g->edges = (double)used / 2;
    g->repeated = (double)named - g->edges;
}

/* Computes the degree distribution from the degree of each vertex. */
static int count_degrees(struct hm_graph *g, const uint32_t *degrees, struct hm_err *err)
{
    uint32_t most = 0;
    size_t used = 0;

    for (size_t v = 0; v < (size_t)g->vertices && !hm__budget_pass(v, "graph"); v++)
        most = degrees[v] > most ? degrees[v] : most;
    int rc = hm__budget_check("graph", err);
    if (rc)
        return rc;
    uint64_t *counts = hm__calloc((size_t)most + 1, sizeof(*counts));
    if (!counts)
        return hm__fail_nomem(err);
    for (size_t v = 0; v < (size_t)g->vertices && !hm__budget_pass(v, "graph"); v++)
        used += counts[degrees[v]]++ == 0;
    rc = hm__budget_check("graph", err);
    if (rc == 0)
        g->degrees = hm__arena_alloc(g->memory, used, sizeof(*g->degrees));
    for (uint32_t d = 0; g->degrees && d <= most; d++)
        if (counts[d])
            g->degrees[g->degree_count++] = (struct hm_degree){d, (double)counts[d]};
    hm__free(counts);
    g->max_degree = most;
    return rc || g->degrees ? rc : hm__fail_nomem(err);
}

static struct hm_graph *graph_new(const char *name)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_graph *g = arena ? hm__arena_alloc(arena, 1, sizeof(*g)) : NULL;

    if (g)
        g->name = hm__arena_strdup(arena, name);
    if (!g || !g->name) {
        hm__arena_free(arena);
        return NULL;
    }
    g->memory = arena;
    return g;
}

static int graph_build(struct hm_graph *g, struct hm_edge_list *list, uint64_t vertices,
                       struct hm_err *err)
{
    uint64_t *starts = hm__calloc(vertices + 2, sizeof(*starts)), named = 0;
    uint32_t *rows = hm__calloc(list->count, sizeof(*rows));
    uint32_t *degrees = hm__calloc(vertices, sizeof(*degrees));
    int rc = starts && rows && degrees ? 0 : hm__fail_nomem(err);

    g->vertices = (double)vertices;
    g->lines = (double)list->count;
    for (size_t i = 0; i < list->count; i++)
        named += list->ids[2 * i] != list->ids[2 * i + 1];
    g->self_loops = (double)(list->count - named);
    if (rc == 0) {
        fill_rows(list, starts, vertices, rows);
        /*
         * The list of edges is the largest array; it is released here, before the result is
         * allocated.
         */
        hm__edge_list_release(list);
        g->ends = hm__arena_alloc(g->memory, 2 * named, sizeof(*g->ends));
        rc = g->ends ? 0 : hm__fail_nomem(err);
    }
    if (rc == 0) {
        write_edges(g, starts, rows, degrees, named);
        rc = count_degrees(g, degrees, err);
    }
    hm__free(starts);
    hm__free(rows);
    hm__free(degrees);
    return rc;
}

int hm__graph_from_edges(struct hm_edge_list *list, double dense, const char *name,
                         struct hm_graph **ret_graph, struct hm_err *err)
{
    uint64_t vertices = (uint64_t)dense;
    int rc = 0;

    if (list->count == 0 && dense == 0)
        return hm__fail(err, HM_E_MISSING, "the graph has no edge");
    if (dense == 0)
        rc = number_vertices(list, &vertices, err);
    if (rc)
        return rc;
    struct hm_graph *g = graph_new(name);
    if (!g)
        return hm__fail_nomem(err);
    rc = graph_build(g, list, vertices, err);
    if (rc == 0 && g->edges == 0)
        rc = hm__fail(err, HM_E_MISSING, "the graph has no edge");
    if (rc == 0)
        *ret_graph = g;
    else
        hm_graph_free(g);
    return rc;
}

static int compare_degrees(const void *a, const void *b)
{
    const struct hm_degree *x = a, *y = b;
    return x->degree < y->degree ? -1 : x->degree > y->degree;
}

int hm__graph_from_degrees(const struct hm_degree *degrees, size_t count, const char *name,
                           struct hm_graph **ret_graph, struct hm_err *err)
{
    struct hm_graph *g = graph_new(name);
    double sum = 0;

    if (g)
        g->degrees = hm__arena_alloc(g->memory, count, sizeof(*g->degrees));
    if (!g || !g->degrees) {
        hm_graph_free(g);
        return hm__fail_nomem(err);
    }
    memcpy(g->degrees, degrees, count * sizeof(*degrees));
    qsort(g->degrees, count, sizeof(*g->degrees), compare_degrees);
    for (size_t i = 0; i < count; i++) {
        struct hm_degree d = g->degrees[i];
        sum += d.degree * d.count;
        g->vertices += d.count;
        if (g->degree_count > 0 && g->degrees[g->degree_count - 1].degree == d.degree)
            g->degrees[g->degree_count - 1].count += d.count;
        else if (d.count > 0)
            g->degrees[g->degree_count++] = d;
    }
    g->edges = sum / 2;
    g->repeated = NAN;
    g->max_degree = g->degree_count ? g->degrees[g->degree_count - 1].degree : 0;
    *ret_graph = g;
    return 0;
}
