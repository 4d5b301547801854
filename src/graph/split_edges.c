/*
 * Splits a graph whose edges are known. Either vertices are assigned to workers (dealt, random,
 * greedy, hash, METIS), with exact counts of the cut edges, or edges are assigned to workers, so
 * that vertices are cut instead (edge-random, HDRF).
 *
 * HDRF (Petroni, Querzoni, Daudjee, Kamali, Iacoboni: HDRF: stream-based partitioning for power-law
 * graphs, CIKM 2015): an edge goes to the worker with the best score. The score prefers workers
 * that already hold the ends of the edge, especially the end that has the lower degree so far, and
 * workers with fewer edges. Limit: the number of vertices times the number of workers, divided by
 * 64, must not exceed 1e9.
 */
#include <math.h>

#include "budget.h"
#include "err.h"
#include "memory.h"
#include "random.h"
#include "split.h"

int hm__adjacency_init(struct hm_adjacency *r, const struct hm_graph *g, struct hm_err *err)
{
    size_t vertices = (size_t)g->vertices, edges = (size_t)g->edges;

    r->starts = hm__calloc(vertices + 2, sizeof(*r->starts));
    r->rows = hm__calloc(2 * edges, sizeof(*r->rows));
    if (!r->starts || !r->rows) {
        hm__adjacency_release(r);
        return hm__fail_nomem(err);
    }
    /*
     * Degrees are counted at index v + 2 and rows are filled at index v + 1, so that starts[v] is
     * the start of row v at the end.
     */
    for (size_t i = 0; i < 2 * edges && !hm__budget_pass(i, "graph"); i++)
        r->starts[g->ends[i] + 2]++;
    for (size_t v = 0; v < vertices && !hm__budget_pass(v, "graph"); v++)
        r->starts[v + 2] += r->starts[v + 1];
    /* The rows must not be filled with incomplete starts. */
    int rc = hm__budget_check("graph", err);
    for (size_t i = 0; rc == 0 && i < edges && !hm__budget_pass(i, "graph"); i++) {
        uint32_t u = g->ends[2 * i], v = g->ends[2 * i + 1];
        r->rows[r->starts[u + 1]++] = v;
        r->rows[r->starts[v + 1]++] = u;
    }
    rc = hm__budget_check("graph", err);
    if (rc)
        hm__adjacency_release(r);
    return rc;
}

void hm__adjacency_release(struct hm_adjacency *r)
{
    hm__free(r->starts);
    hm__free(r->rows);
    *r = (struct hm_adjacency){0};
}

static uint32_t vertex_degree(const struct hm_adjacency *r, size_t v)
{
    return (uint32_t)(r->starts[v + 1] - r->starts[v]);
}

/* Sorts the vertices in ascending order of degree, with a counting sort. */
static uint32_t *order_by_degree(const struct hm_graph *g, const struct hm_adjacency *r)
{
    size_t vertices = (size_t)g->vertices, most = (size_t)g->max_degree;
    uint32_t *order = hm__calloc(vertices, sizeof(*order));
    uint32_t *places = hm__calloc(most + 2, sizeof(*places));

    if (!order || !places) {
        hm__free(order);
        hm__free(places);
        return NULL;
    }
    for (size_t v = 0; v < vertices && !hm__budget_pass(v, "graph"); v++)
        places[vertex_degree(r, v) + 1]++;
    for (size_t d = 0; d <= most; d++)
        places[d + 1] += places[d];
    /* The vertices must not be placed with incomplete counts. */
    for (size_t v = 0; !hm__budget_spent("graph") && v < vertices; v++)
        order[places[vertex_degree(r, v)]++] = (uint32_t)v;
    hm__free(places);
    return order;
}

/* Restores the heap of workers, ordered by load, after loads[heap[0]] has increased. */
static void heap_sink(uint32_t *heap, const double *loads, uint32_t n)
{
    for (uint32_t i = 0;;) {
        uint32_t child = 2 * i + 1;
        if (child >= n)
            return;
        if (child + 1 < n && loads[heap[child + 1]] < loads[heap[child]])
            child++;
        if (loads[heap[i]] <= loads[heap[child]])
            return;
        uint32_t swap = heap[i];
        heap[i] = heap[child];
        heap[child] = swap;
        i = child;
    }
}

static int assign_in_order(const struct hm_graph *g, const struct hm_adjacency *r, bool greedy,
                           uint32_t n, uint32_t *owner, struct hm_err *err)
{
    size_t vertices = (size_t)g->vertices;
    uint32_t *order = order_by_degree(g, r);
    uint32_t *heap = hm__calloc(n, sizeof(*heap));
    double *loads = hm__calloc(n, sizeof(*loads));
    int rc = order && heap && loads ? 0 : hm__fail_nomem(err);

    for (uint32_t i = 0; rc == 0 && i < n; i++)
        heap[i] = i;
    for (size_t i = 0; rc == 0 && i < vertices; i++) {
        if (i % 1024 == 0)
            rc = hm__budget_check("trials", err);
        uint32_t v = greedy ? order[vertices - 1 - i] : order[i];
        owner[v] = greedy ? heap[0] : (uint32_t)(i % n);
        if (greedy) {
            loads[heap[0]] += vertex_degree(r, v);
            heap_sink(heap, loads, n);
        }
    }
    hm__free(order);
    hm__free(heap);
    hm__free(loads);
    return rc;
}

/* Mixes all bits of x (the finaliser of SplitMix64, Steele, Lea, Flood 2014). */
static uint64_t mix_bits(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

int hm__assign_vertices(const struct hm_graph *g, const struct hm_adjacency *rows,
                        enum hm_split split, double seed, uint32_t trial, uint32_t n,
                        uint32_t *owner, struct hm_err *err)
{
    struct hm_random random;

    switch (split) {
    case HM_SPLIT_DEALT:
    case HM_SPLIT_GREEDY:
        return assign_in_order(g, rows, split == HM_SPLIT_GREEDY, n, owner, err);
    case HM_SPLIT_METIS:
        return hm__metis(g, rows, n, seed, owner, err);
    case HM_SPLIT_HASH:
        for (size_t v = 0; v < (size_t)g->vertices && !hm__budget_pass(v, "graph"); v++)
            owner[v] = (uint32_t)(mix_bits(v + 0x9e3779b97f4a7c15u) % n);
        return 0;
    default:
        hm__random_init(&random, (uint64_t)seed, (uint64_t)trial << 32 | n);
        for (size_t v = 0; v < (size_t)g->vertices && !hm__budget_pass(v, "graph"); v++)
            owner[v] = hm__random_below(&random, n);
        return 0;
    }
}

/* For each vertex, the set of workers that hold a copy of it, as a row of bits. */
struct holders {
    uint64_t *bits;
    size_t words; /* Number of 64-bit words in a row. */
};

static bool holders_has(const struct holders *h, uint32_t v, uint32_t worker)
{
    return h->bits[v * h->words + worker / 64] >> (worker % 64) & 1;
}

static void holders_add(struct holders *h, uint32_t v, uint32_t worker)
{
    h->bits[v * h->words + worker / 64] |= (uint64_t)1 << (worker % 64);
}

static int holders_init(struct holders *h, const struct hm_graph *g, uint32_t n, struct hm_err *err)
{
    h->words = ((size_t)n + 63) / 64;
    if (g->vertices * (double)h->words > 1e9) {
        hm__fail(err, HM_E_LIMIT, "the copies of %.0f vertices on %u workers do not fit in memory",
                 g->vertices, n);
        hm__err_hint(err,
                     "split edges among fewer workers, or split vertices: greedy, hash, metis");
        return HM_E_LIMIT;
    }
    h->bits = hm__calloc((size_t)g->vertices * h->words, sizeof(*h->bits));
    return h->bits ? 0 : hm__fail_nomem(err);
}

/* Returns the mean number of copies of a vertex; a vertex without edges counts as one copy. */
static double count_replicas(const struct holders *h, const struct hm_graph *g)
{
    double sum = 0;

    for (size_t v = 0; v < (size_t)g->vertices; v++) {
        int copies = 0;
        if (v % 1024 == 0 && hm__budget_spent("trials"))
            break;
        for (size_t w = 0; w < h->words; w++)
            copies += __builtin_popcountll(h->bits[v * h->words + w]);
        sum += copies ? copies : 1;
    }
    return sum / g->vertices;
}

static void summarise_edges(const double *edges, uint32_t n, struct hm_parts *parts)
{
    double sum = 0;

    parts->edges_max = 0;
    for (uint32_t i = 0; i < n; i++) {
        parts->edges_max = fmax(parts->edges_max, edges[i]);
        sum += edges[i];
    }
    parts->edges_mean = sum / n;
}

int hm__measure_vertices(const struct hm_graph *g, const struct hm_adjacency *r,
                         const uint32_t *owner, uint32_t n, struct hm_parts *parts,
                         struct hm_err *err)
{
    double *edges = hm__calloc(n, sizeof(*edges)), copies = 0, cut_ends = 0;
    /* seen[w] is v + 1 if v is the last vertex that was found to have a copy on worker w. */
    uint32_t *seen = hm__calloc(n, sizeof(*seen));
    int rc = edges && seen ? 0 : hm__fail_nomem(err);

    for (size_t v = 0; rc == 0 && v < (size_t)g->vertices; v++) {
        uint32_t mark = (uint32_t)v + 1;
        if (v % 1024 == 0)
            rc = hm__budget_check("trials", err);
        seen[owner[v]] = mark;
        copies++;
        for (uint64_t i = r->starts[v]; i < r->starts[v + 1]; i++) {
            uint32_t other = owner[r->rows[i]];
            /*
             * An edge inside a worker is visited from both ends and counts once; an edge between
             * two workers counts once for each of them.
             */
            edges[owner[v]] += other == owner[v] ? 0.5 : 1;
            cut_ends += other != owner[v];
            copies += seen[other] != mark;
            seen[other] = mark;
        }
    }
    if (rc == 0) {
        summarise_edges(edges, n, parts);
        parts->cut = cut_ends / 2;
        parts->replicas = copies / g->vertices;
    }
    hm__free(seen);
    hm__free(edges);
    return rc;
}

struct hdrf {
    struct holders holders;
    uint32_t *seen; /* Degree of each vertex among the edges read so far. */
    double *sizes;  /* Number of edges on each worker. */
    double most;
};

/*
 * Chooses the worker with the best score, which is the replication score plus the balance score
 * with weight lambda = 1, as in the HDRF paper.
 */
static uint32_t hdrf_choose(const struct hdrf *s, uint32_t n, uint32_t u, uint32_t v)
{
    double share = (double)s->seen[u] / (double)(s->seen[u] + s->seen[v]), best = -1,
           least = s->most;
    uint32_t chosen = 0;

    for (uint32_t p = 0; p < n; p++)
        least = fmin(least, s->sizes[p]);
    for (uint32_t p = 0; p < n; p++) {
        double score = (s->most - s->sizes[p]) / (1 + s->most - least);
        score += holders_has(&s->holders, u, p) ? 1 + (1 - share) : 0;
        score += holders_has(&s->holders, v, p) ? 1 + share : 0;
        if (score > best) {
            best = score;
            chosen = p;
        }
    }
    return chosen;
}

/*
 * Returns a stride that visits every edge once, in a scattered order, similar to the random streams
 * of the HDRF paper. The stored edges are sorted, and a sorted stream would send all edges of a
 * vertex to one worker.
 */
static size_t far_stride(size_t edges)
{
    size_t stride = (size_t)((double)edges * 0.6180339887498949) | 1;

    for (;; stride += 2) {
        size_t a = edges, b = stride;
        while (b) {
            size_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return stride;
    }
}

int hm__split_edges(const struct hm_graph *g, enum hm_split split, double seed, uint32_t trial,
                    uint32_t n, struct hm_parts *parts, struct hm_err *err)
{
    struct hdrf s = {.seen = hm__calloc((size_t)g->vertices, sizeof(*s.seen)),
                     .sizes = hm__calloc(n, sizeof(*s.sizes))};
    struct hm_random random;
    int rc = s.seen && s.sizes ? holders_init(&s.holders, g, n, err) : hm__fail_nomem(err);

    hm__random_init(&random, (uint64_t)seed, (uint64_t)trial << 32 | n);
    size_t edges = (size_t)g->edges, stride = far_stride(edges), at = 0;
    for (size_t i = 0; rc == 0 && i < edges; i++, at = (at + stride) % edges) {
        if (i % 64 == 0)
            rc = hm__budget_check("trials", err);
        uint32_t u = g->ends[2 * at], v = g->ends[2 * at + 1], p;
        s.seen[u]++;
        s.seen[v]++;
        p = split == HM_SPLIT_HDRF ? hdrf_choose(&s, n, u, v) : hm__random_below(&random, n);
        s.most = fmax(s.most, ++s.sizes[p]);
        holders_add(&s.holders, u, p);
        holders_add(&s.holders, v, p);
    }
    parts->cut = NAN;
    if (rc == 0) {
        if (split == HM_SPLIT_HDRF)
            hm__budget_steps(HM_STEP_COMPARE, g->edges * n);
        else
            hm__budget_steps(HM_STEP_SPLIT, g->vertices + g->edges);
        summarise_edges(s.sizes, n, parts);
        parts->replicas = count_replicas(&s.holders, g);
    }
    hm__free(s.holders.bits);
    hm__free(s.seen);
    hm__free(s.sizes);
    return rc;
}
