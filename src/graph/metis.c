/*
 * Partitions a graph with METIS (k-way, Karypis and Kumar 1998), with vertices weighted by degree,
 * so that the parts have about equal numbers of edge ends and there are few edges between them.
 * This is the only file that uses METIS. Limits: 32-bit indices, and at least ten vertices for each
 * part on average.
 */
#include "split.h"

#include "err.h"

#ifdef HM_HAVE_METIS
#include <math.h>
#include <metis.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "admit.h"
#include "memory.h"

/*
 * The largest ratio of parts to vertices. With smaller parts, METIS tries to bisect empty graphs
 * and prints messages about them on standard output.
 */
#define HM__METIS_VERTICES 0.1

/*
 * METIS draws from rand(), whose state belongs to the whole process: if two threads run METIS at
 * the same time, the results differ from those of one thread. The mutex is global, because that
 * state is global.
 */
static pthread_mutex_t metis_mutex = PTHREAD_MUTEX_INITIALIZER;

/* A graph in the form that METIS_PartGraphKway expects; costs may be NULL. */
struct metis_graph {
    idx_t vertices, *starts, *rows, *weights, *costs;
};

/*
 * Waits until no other thread runs METIS. Requests that wait see their limits: a thread in METIS
 * does not check its own, so it may hold the mutex for long.
 */
static int metis_lock(struct hm_err *err)
{
    enum { WAIT_NS = 10000000, SECOND_NS = 1000000000 };

    for (;;) {
        struct timespec until;
        int rc = hm__budget_check("split", err);
        if (rc)
            return rc;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += WAIT_NS;
        until.tv_sec += until.tv_nsec / SECOND_NS;
        until.tv_nsec %= SECOND_NS;
        if (pthread_mutex_clocklock(&metis_mutex, CLOCK_MONOTONIC, &until) == 0)
            return 0;
    }
}

/* Returns 0, or the error that describes a code of METIS. */
static int metis_result(int code, struct hm_err *err)
{
    if (code == METIS_OK)
        return 0;
    if (code == METIS_ERROR_MEMORY)
        return hm__fail_nomem(err);
    hm__fail(err, HM_E_LIMIT, "METIS could not split the graph (its error %d)", code);
    hm__err_hint(err, "use hash, greedy or hdrf");
    return HM_E_LIMIT;
}

static int metis_split(struct metis_graph *g, uint32_t n, idx_t seed, idx_t *parts,
                       struct hm_err *err)
{
    idx_t options[METIS_NOPTIONS], constraints = 1, count = (idx_t)n, cut;

    sigset_t raised, before;

    /* When memory runs out, METIS leaves its functions by raising SIGABRT or SIGTERM in this thread
     * and catching the signal; if the signal were blocked, METIS would continue without memory. A
     * SIGTERM for the process goes to the main thread, which waits for it. */
    sigemptyset(&raised);
    sigaddset(&raised, SIGABRT);
    sigaddset(&raised, SIGTERM);
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = seed;
    int rc = metis_lock(err);
    if (rc)
        return rc;
    /* The time that was left when the request was admitted may have passed since then. */
    double passes = hm__metis_passes((double)g->vertices, n);
    double size = (double)g->vertices + (double)g->starts[g->vertices] / 2;
    rc = hm__admit_call(HM_STEP_METIS, passes * size, "split", err);
    if (rc) {
        pthread_mutex_unlock(&metis_mutex);
        return rc;
    }
    pthread_sigmask(SIG_UNBLOCK, &raised, &before);
    int code = METIS_PartGraphKway(&g->vertices, &constraints, g->starts, g->rows, g->weights, NULL,
                                   g->costs, &count, NULL, NULL, options, &cut, parts);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_mutex_unlock(&metis_mutex);
    return metis_result(code, err);
}

/*
 * Copies the adjacency rows into METIS's index type. The weight of a vertex is its degree, but at
 * most half of the mean weight of a part, because METIS prints a warning if a vertex is heavier
 * than a part.
 */
static void metis_fill_rows(const struct hm_graph *g, const struct hm_adjacency *r, uint32_t n,
                            idx_t *starts, idx_t *rows, idx_t *weights)
{
    size_t vertices = (size_t)g->vertices;
    idx_t most = (idx_t)fmax(1, floor(g->edges / n));

    for (size_t v = 0; v < vertices; v++) {
        idx_t degree = (idx_t)(r->starts[v + 1] - r->starts[v]);
        starts[v + 1] = (idx_t)r->starts[v + 1];
        weights[v] = degree < 1 ? 1 : degree < most ? degree : most;
    }
    for (size_t i = 0; i < 2 * (size_t)g->edges; i++)
        rows[i] = (idx_t)r->rows[i];
}

int hm__metis_check(const struct hm_graph *g, uint32_t n, struct hm_err *err)
{
    if (2 * g->edges > (double)INT32_MAX || g->vertices > (double)INT32_MAX) {
        hm__fail(err, HM_E_LIMIT, "%.0f edges are more than METIS's 32-bit numbers can hold",
                 g->edges);
        hm__err_hint(err, "use hash, greedy or hdrf for a graph of this size");
        return HM_E_LIMIT;
    }
    if (n > HM__METIS_VERTICES * g->vertices || n > g->edges) {
        hm__fail(err, HM_E_LIMIT, "%u parts of %.0f vertices are too small for METIS", n,
                 g->vertices);
        hm__err_hint(err, "it needs about ten vertices for each part; greedy has no such limit");
        return HM_E_LIMIT;
    }
    return 0;
}

int hm__metis(const struct hm_graph *g, const struct hm_adjacency *r, uint32_t n, double seed,
              uint32_t *owner, struct hm_err *err)
{
    size_t vertices = (size_t)g->vertices, edges = (size_t)g->edges;
    idx_t *starts = hm__calloc(vertices + 1, sizeof(*starts));
    idx_t *rows = hm__calloc(2 * edges, sizeof(*rows));
    idx_t *weights = hm__calloc(vertices, sizeof(*weights));
    idx_t *parts = hm__calloc(vertices, sizeof(*parts));
    int rc = starts && rows && weights && parts ? 0 : hm__fail_nomem(err);
    if (rc == 0) {
        metis_fill_rows(g, r, n, starts, rows, weights);
        struct metis_graph graph = {(idx_t)g->vertices, starts, rows, weights, NULL};
        rc = metis_split(&graph, n, (idx_t)((uint64_t)seed & 0x7fffffff), parts, err);
    }
    for (size_t v = 0; rc == 0 && v < vertices; v++)
        owner[v] = (uint32_t)parts[v];
    hm__free(starts);
    hm__free(rows);
    hm__free(weights);
    hm__free(parts);
    return rc;
}

/* Scales a weight to an integer between 1 and 10000; `most` is the largest weight. */
static idx_t metis_weight(double weight, double most)
{
    return (idx_t)fmax(1, most > 0 ? round(1e4 * weight / most) : 1);
}

/* Fills the rows of a symmetric adjacency matrix with the edges in both directions. */
static void metis_fill_edges(size_t count, const struct hm_weighted_edge *edges, size_t edge_count,
                             idx_t *starts, idx_t *rows, idx_t *weights)
{
    double most = 0;

    for (size_t i = 0; i < edge_count; i++) {
        starts[edges[i].from + 1]++;
        starts[edges[i].to + 1]++;
        most = fmax(most, edges[i].weight);
    }
    for (size_t v = 0; v < count; v++)
        starts[v + 1] += starts[v];
    for (size_t i = 0; i < edge_count; i++) {
        const uint32_t ends[2] = {edges[i].from, edges[i].to};
        for (int k = 0; k < 2; k++) {
            idx_t at = starts[ends[k]]++;
            rows[at] = (idx_t)ends[1 - k];
            weights[at] = metis_weight(edges[i].weight, most);
        }
    }
    /* Filling the rows has moved each start to the start of the next row, so the starts are shifted
     * back by one vertex. */
    for (size_t v = count; v > 0; v--)
        starts[v] = starts[v - 1];
    starts[0] = 0;
}

int hm__metis_weighted(size_t count, const double *weights, const struct hm_weighted_edge *edges,
                       size_t edge_count, uint32_t n, uint32_t *owner, struct hm_err *err)
{
    const struct hm_graph graph = {.vertices = (double)count, .edges = (double)edge_count};
    int rc = hm__metis_check(&graph, n, err);

    if (rc)
        return rc;
    idx_t *starts = hm__calloc(count + 2, sizeof(*starts));
    idx_t *rows = hm__calloc(2 * edge_count, sizeof(*rows));
    idx_t *costs = hm__calloc(2 * edge_count, sizeof(*costs));
    idx_t *vertices = hm__calloc(2 * count, sizeof(*vertices));
    rc = starts && rows && costs && vertices ? 0 : hm__fail_nomem(err);
    double most = 0, total = 0;
    for (size_t v = 0; v < count; v++)
        total += weights[v];
    /* Weights are limited, because METIS prints a warning if a vertex is heavier than a part. */
    for (size_t v = 0; v < count; v++)
        most = fmax(most, fmin(weights[v], total / n / 2));
    for (size_t v = 0; rc == 0 && v < count; v++)
        vertices[v] = metis_weight(fmin(weights[v], most), most);
    if (rc == 0) {
        struct metis_graph split = {(idx_t)count, starts, rows, vertices, costs};
        metis_fill_edges(count, edges, edge_count, starts, rows, costs);
        rc = metis_split(&split, n, 1, vertices + count, err);
    }
    for (size_t v = 0; rc == 0 && v < count; v++)
        owner[v] = (uint32_t)vertices[count + v];
    hm__free(starts);
    hm__free(rows);
    hm__free(costs);
    hm__free(vertices);
    return rc;
}
#else
int hm__metis_weighted(size_t count, const double *weights, const struct hm_weighted_edge *edges,
                       size_t edge_count, uint32_t n, uint32_t *owner, struct hm_err *err)
{
    (void)count, (void)weights, (void)edges, (void)edge_count, (void)owner;
    return hm__metis_check(NULL, n, err);
}

int hm__metis_check(const struct hm_graph *g, uint32_t n, struct hm_err *err)
{
    (void)g, (void)n;
    hm__fail(err, HM_E_UNSUPPORTED, "this build does not include METIS");
    hm__err_hint(err, "use hash, greedy or hdrf, or build with libmetis-dev");
    return HM_E_UNSUPPORTED;
}

int hm__metis(const struct hm_graph *g, const struct hm_adjacency *r, uint32_t n, double seed,
              uint32_t *owner, struct hm_err *err)
{
    (void)r, (void)seed, (void)owner;
    return hm__metis_check(g, n, err);
}
#endif
