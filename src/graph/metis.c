/*
 * METIS k-way partitioning (Karypis and Kumar 1998), weighted by degree, so that parts have about
 * equal numbers of edge ends and few edges between them. This is the only file that uses METIS.
 * Limits: 32-bit indices, and at least ten vertices for each part on average.
 */
#include "split.h"

#include "err.h"

#ifdef HM_HAVE_METIS
#include <math.h>
#include <metis.h>

#include "memory.h"

/*
 * The largest ratio of parts to vertices. With smaller parts METIS tries to bisect empty graphs and
 * prints messages about them on standard output.
 */
#define HM__METIS_VERTICES 0.1

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

static int metis_partition(const struct hm_graph *g, uint32_t n, double seed, idx_t *starts,
                           idx_t *rows, idx_t *weights, idx_t *parts, struct hm_err *err)
{
    idx_t vertices = (idx_t)g->vertices, constraints = 1, count = (idx_t)n, cut;
    idx_t options[METIS_NOPTIONS];

    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = (idx_t)((uint64_t)seed & 0x7fffffff);
    if (METIS_PartGraphKway(&vertices, &constraints, starts, rows, weights, NULL, NULL, &count,
                            NULL, NULL, options, &cut, parts) != METIS_OK)
        return hm__fail(err, HM_E_NOMEM, "METIS could not split the graph");
    return 0;
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
        hm__err_hint(err, "it needs some ten vertices a part; greedy has no such limit");
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
        rc = metis_partition(g, n, seed, starts, rows, weights, parts, err);
    }
    for (size_t v = 0; rc == 0 && v < vertices; v++)
        owner[v] = (uint32_t)parts[v];
    hm__free(starts);
    hm__free(rows);
    hm__free(weights);
    hm__free(parts);
    return rc;
}
#else
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
