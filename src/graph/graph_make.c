/*
 * Generates graphs from a recipe.
 *
 * In a power-law graph with V vertices and E edges, a vertex has degree d with probability
 * proportional to d^-g, for d from 1 to the maximum, where g is chosen so that the mean degree is
 * 2E/V. The counts are rounded so that there are V vertices and 2E edge ends, and the largest
 * degree occurs at least once. The ends are then joined at random (the configuration model,
 * Bollobas 1980); self-loops and repeated edges are repaired by exchanging ends with other edges,
 * and those that remain are removed and counted. A random graph has E distinct pairs of vertices,
 * chosen with equal probability (Erdos and Renyi's G(V, E)). In a grid, the numbers of rows and
 * columns are as equal as possible, and each vertex is joined to its right and lower neighbours.
 * Limits: there are at most 1e9 vertices and 2e9 edges.
 */
#include <math.h>
#include <stdio.h>

#include "admit.h"
#include "budget.h"
#include "checks.h"
#include "err.h"
#include "graph_build.h"
#include "memory.h"
#include "names.h"
#include "random.h"

enum { CHECK_EVERY = 4096 }; /* Number of edges between two checks of the limits of the request. */

/*
 * Returns the mean degree if the degrees 1..most have probabilities proportional to d^-g; logs[d]
 * is ln d.
 */
static double mean_degree(double g, double most, const double *logs)
{
    double mass = 0, sum = 0;

    for (size_t d = (size_t)most; d >= 1; d--) {
        double p = exp(-g * logs[d]);
        mass += p;
        sum += p * (double)d;
    }
    return sum / mass;
}

/* Finds the exponent g of the power law by bisection; the mean degree decreases as g grows. */
static double find_exponent(double mean, double most, const double *logs)
{
    double low = -20, high = 60;

    for (int i = 0; i < 60; i++) {
        if (hm__budget_spent("max_degree"))
            break;
        double middle = (low + high) / 2;
        if (mean_degree(middle, most, logs) > mean)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/*
 * Sets counts[d], the number of vertices with degree d, for d in 1..most, as close to the power law
 * as whole numbers allow. In total, there are V vertices and 2E edge ends.
 */
static void fill_degree_counts(const struct hm_recipe *r, double *counts)
{
    double most = r->max_degree, mass = 0, vertices = 0, ends = 0, owed = 0;

    for (size_t d = 1; d <= (size_t)most; d++)
        counts[d] =
            log((double)d); /* The array holds the logarithms until the counts replace them. */
    double g = find_exponent(2 * r->edges / r->vertices, most, counts);
    for (double d = most; d >= 1; d--)
        mass += pow(d, -g);
    /* The rounding error of each count is carried over to the next smaller degree. */
    for (size_t d = (size_t)most; d >= 1; d--) {
        owed += r->vertices * pow((double)d, -g) / mass;
        counts[d] = fmax(d == (size_t)most ? 1 : 0, floor(owed + 0.5));
        owed -= counts[d];
        vertices += counts[d];
        ends += counts[d] * (double)d;
    }
    counts[1] += r->vertices - vertices;
    ends += r->vertices - vertices;
    /* Moves vertices to a neighbouring degree until the number of edge ends is 2E. */
    for (size_t d = 1; ends != 2 * r->edges; d = d + 1 < (size_t)most ? d + 1 : 1) {
        if (hm__budget_spent("max_degree"))
            break;
        double step = ends < 2 * r->edges ? 1 : -1;
        size_t from = step > 0 ? d : d + 1, to = step > 0 ? d + 1 : d;
        if (to == 0 || to > (size_t)most || counts[from] < 1 ||
            (from == (size_t)most && counts[from] < 2))
            continue;
        double move = fmin(fabs(2 * r->edges - ends), ceil(counts[from] / 8));
        if (from == (size_t)most)
            move = fmin(move, counts[from] - 1);
        counts[from] -= move;
        counts[to] += move;
        ends += step * move;
    }
}

/* A set of edges with open addressing; a key is (smaller end + 1) << 32 | larger end. */
struct edge_set {
    uint64_t *keys; /* Each slot holds FREE, GONE (deleted) or a key. */
    size_t mask;
};

enum { FREE = 0, GONE = 1 };

static int edge_set_init(struct edge_set *set, size_t edges, struct hm_err *err)
{
    set->mask = 1;
    /* The table is large enough to also hold deleted entries. */
    while (set->mask < 4 * edges)
        set->mask = set->mask << 1 | 1;
    set->keys = hm__calloc(set->mask + 1, sizeof(*set->keys));
    return set->keys ? 0 : hm__fail_nomem(err);
}

static uint64_t edge_key(uint32_t a, uint32_t b)
{
    return a < b ? ((uint64_t)a + 1) << 32 | b : ((uint64_t)b + 1) << 32 | a;
}

/* Finds the slot of an edge, or the free slot where it would be inserted. */
static uint64_t *edge_set_slot(const struct edge_set *set, uint32_t a, uint32_t b)
{
    uint64_t key = edge_key(a, b), hash = key * 0x9e3779b97f4a7c15u;

    for (size_t i = (size_t)(hash >> 20) & set->mask;; i = (i + 1) & set->mask)
        if (set->keys[i] == key || set->keys[i] == FREE)
            return &set->keys[i];
}

/* Returns whether an edge may be added: it joins two different vertices and is not in the set. */
static bool edge_set_may_add(const struct edge_set *set, uint32_t a, uint32_t b)
{
    return a != b && *edge_set_slot(set, a, b) == FREE;
}

static bool edge_set_add(struct edge_set *set, uint32_t a, uint32_t b)
{
    bool may = edge_set_may_add(set, a, b);

    if (may)
        *edge_set_slot(set, a, b) = edge_key(a, b);
    return may;
}

/*
 * Repairs edge i, which is a self-loop or a repeated edge: exchanges ends with a random edge k so
 * that both become valid new edges. Returns false if no suitable edge k is found.
 */
static bool repair_edge(struct edge_set *set, uint32_t *ends, size_t edges, const bool *bad,
                        size_t i, struct hm_random *random)
{
    enum { ATTEMPTS = 100 };

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        size_t k = hm__random_below(random, (uint32_t)edges);
        uint32_t a = ends[2 * i], b = ends[2 * i + 1], c = ends[2 * k], d = ends[2 * k + 1];
        if (bad[k] || !edge_set_may_add(set, a, d) || !edge_set_may_add(set, c, b) ||
            edge_key(a, d) == edge_key(c, b))
            continue;
        *edge_set_slot(set, c, d) = GONE;
        edge_set_add(set, a, d);
        edge_set_add(set, c, b);
        ends[2 * i + 1] = d;
        ends[2 * k + 1] = b;
        return true;
    }
    return false;
}

/*
 * Repairs self-loops and repeated edges if possible; hm__graph_from_edges removes those that
 * remain.
 */
static int repair_edges(uint32_t *ends, size_t edges, struct hm_random *random, struct hm_err *err)
{
    struct edge_set set = {0};
    bool *bad = hm__calloc(edges, sizeof(*bad));
    int rc = bad ? edge_set_init(&set, edges, err) : hm__fail_nomem(err);
    size_t repaired = 0, room = set.mask / 8;

    for (size_t i = 0; rc == 0 && i < edges; i++) {
        if (i % CHECK_EVERY == 0)
            rc = hm__budget_check("edges", err);
        bad[i] = !edge_set_add(&set, ends[2 * i], ends[2 * i + 1]);
    }
    /* Passes are repeated while each of them repairs at least a quarter of the bad edges. */
    for (size_t found = 1; rc == 0 && found > 0;) {
        size_t tried = 0;
        found = 0;
        for (size_t i = 0; i < edges && repaired < room; i++) {
            if (i % CHECK_EVERY == 0 && hm__budget_spent("edges"))
                break;
            if (!bad[i])
                continue;
            tried++;
            bad[i] = !repair_edge(&set, ends, edges, bad, i, random);
            found += !bad[i];
            /* Each repair leaves a deleted slot, so repairs stop before the table is full. */
            repaired += !bad[i];
        }
        if (found < tried / 4)
            break;
    }
    hm__free(set.keys);
    hm__free(bad);
    return rc;
}

/* Joins the edge ends of the vertices at random: shuffles the ends and pairs them up. */
static int join_ends(const struct hm_recipe *r, const double *counts, struct hm_random *random,
                     struct hm_edge_list *list, struct hm_err *err)
{
    size_t total = (size_t)(2 * r->edges), used = 0;

    hm__budget_about("edges");
    uint32_t *ends = hm__calloc(total, sizeof(*ends)), vertex = 0;
    int rc = ends ? 0 : hm__fail_nomem(err);

    for (size_t d = 1; rc == 0 && d <= (size_t)r->max_degree; d++)
        for (double k = 0; k < counts[d]; k++, vertex++)
            for (size_t i = 0; i < d; i++)
                ends[used++] = vertex;
    for (size_t i = total; rc == 0 && i > 1; i--) {
        if (i % CHECK_EVERY == 0)
            rc = hm__budget_check("edges", err);
        size_t k = hm__random_below(random, (uint32_t)i);
        uint32_t swap = ends[i - 1];
        ends[i - 1] = ends[k];
        ends[k] = swap;
    }
    if (rc == 0)
        rc = repair_edges(ends, total / 2, random, err);
    for (size_t i = 0; rc == 0 && i + 1 < total; i += 2)
        rc = hm__edge_list_add(list, ends[i], ends[i + 1], err);
    hm__free(ends);
    return rc;
}

static int make_power_law(const struct hm_recipe *r, struct hm_random *random,
                          struct hm_edge_list *list, struct hm_err *err)
{
    hm__budget_about("max_degree");
    double *counts = hm__calloc((size_t)r->max_degree + 2, sizeof(*counts));

    if (!counts)
        return hm__fail_nomem(err);
    fill_degree_counts(r, counts);
    /*
     * If the budget was spent before the counts were complete, they must not be used, because their
     * number of edge ends is wrong.
     */
    int rc = hm__budget_check("max_degree", err);
    if (rc == 0)
        rc = join_ends(r, counts, random, list, err);
    hm__free(counts);
    return rc;
}

/*
 * Draws pairs until there are enough distinct edges. For a nearly complete graph, most draws are
 * rejected.
 */
static int make_random(const struct hm_recipe *r, struct hm_random *random,
                       struct hm_edge_list *list, struct hm_err *err)
{
    uint32_t vertices = (uint32_t)r->vertices;
    struct edge_set set;
    size_t draws = 0;

    hm__budget_about("edges");
    int rc = edge_set_init(&set, (size_t)r->edges, err);

    while (rc == 0 && (double)list->count < r->edges) {
        if (++draws % CHECK_EVERY == 0 && (rc = hm__budget_check("edges", err)))
            break;
        uint32_t a = hm__random_below(random, vertices), b = hm__random_below(random, vertices);
        if (edge_set_add(&set, a, b))
            rc = hm__edge_list_add(list, a, b, err);
    }
    hm__free(set.keys);
    return rc;
}

static int make_grid(const struct hm_recipe *r, struct hm_edge_list *list, struct hm_err *err)
{
    uint64_t vertices = (uint64_t)r->vertices, rows = (uint64_t)sqrt(r->vertices);
    int rc = 0;

    while (vertices % rows)
        rows--;
    uint64_t columns = vertices / rows;
    for (uint64_t v = 0; rc == 0 && v < vertices; v++) {
        if (v % CHECK_EVERY == 0 && (rc = hm__budget_check("vertices", err)))
            break;
        if (v % columns + 1 < columns)
            rc = hm__edge_list_add(list, v, v + 1, err);
        if (rc == 0 && v + columns < vertices)
            rc = hm__edge_list_add(list, v, v + columns, err);
    }
    return rc;
}

static int recipe_check(const struct hm_recipe *r, struct hm_err *err)
{
    bool law = r->kind == HM_RECIPE_POWER_LAW, grid = r->kind == HM_RECIPE_GRID;

    if (!(r->vertices >= 2 && r->vertices <= 1e9) || r->vertices != floor(r->vertices))
        return hm__fail(err, HM_E_RANGE, "vertices: %g is not a whole number from 2 to 1e9",
                        r->vertices);
    if (!grid && (!(r->edges >= 1 && r->edges <= 2e9) || r->edges != floor(r->edges)))
        return hm__fail(err, HM_E_RANGE, "edges: %g is not a whole number from 1 to 2e9", r->edges);
    if (!grid && r->edges > r->vertices * (r->vertices - 1) / 2)
        return hm__fail(err, HM_E_RANGE, "edges: %g is more than %g vertices can have", r->edges,
                        r->vertices);
    if (law && (!(r->max_degree >= 1 && r->max_degree < r->vertices && r->max_degree <= 1e6) ||
                r->max_degree != floor(r->max_degree)))
        return hm__fail(err, HM_E_RANGE,
                        "max_degree: %g is not a whole number below the vertices, up to 1e6",
                        r->max_degree);
    if (grid && r->edges > 0)
        return hm__fail(err, HM_E_CONFLICT,
                        "edges: a grid of %g vertices determines its own number of edges",
                        r->vertices);
    if (law && (2 * r->edges < r->vertices - 1 + r->max_degree ||
                2 * r->edges > r->vertices * r->max_degree)) {
        hm__fail(err, HM_E_RANGE, "a mean degree of %g is impossible with a largest degree of %g",
                 2 * r->edges / r->vertices, r->max_degree);
        hm__err_hint(
            err,
            "every vertex has at least one edge, and at least one vertex has the largest degree");
        return HM_E_RANGE;
    }
    return 0;
}

/*
 * Refuses a graph that the memory limit of the request cannot hold. A lower bound on the bytes for
 * V vertices and E edges is the larger of two moments: the list of edges (16 E) beside the index
 * from which the graph is built (4 E + 12 V), and what the recipe keeps at once: the set of edges
 * (32 E) beside the list in a random graph, or beside the ends and marks (9 E) in a power law.
 */
static int recipe_admit(const struct hm_recipe *r, struct hm_err *err)
{
    bool grid = r->kind == HM_RECIPE_GRID;
    /* A grid whose rows have one vertex is a path, which has the fewest edges. */
    double edges = grid ? r->vertices - 1 : r->edges;
    double kept = r->kind == HM_RECIPE_RANDOM ? 48 : r->kind == HM_RECIPE_POWER_LAW ? 41 : 0;
    double bytes = fmax(20 * edges + 12 * r->vertices, kept * edges);

    return hm__admit_bytes(bytes,
                           grid || r->vertices > r->edges
                               ? (struct hm_work_factor){"vertices", r->vertices, "vertices"}
                               : (struct hm_work_factor){"edges", r->edges, "edges"},
                           err);
}

int hm_graph_make(const struct hm_recipe *r, struct hm_graph **ret_graph, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "recipe", r, "ret_graph", ret_graph, NULL);
    if (bad == 0)
        bad = hm__check_enum("kind", (int)r->kind, HM_RECIPE_GRID + 1, err);
    if (bad == 0)
        bad = hm__check_range("seed", r->seed, 0, 1e15, err);
    if (bad)
        return bad;

    struct hm_edge_list list = {0};
    struct hm_random random;
    char name[120];
    int rc = recipe_check(r, err);

    if (rc == 0)
        rc = recipe_admit(r, err);
    if (rc)
        return rc;
    hm__random_init(&random, (uint64_t)r->seed, 0);
    rc = r->kind == HM_RECIPE_POWER_LAW ? make_power_law(r, &random, &list, err)
         : r->kind == HM_RECIPE_RANDOM  ? make_random(r, &random, &list, err)
                                        : make_grid(r, &list, err);
    snprintf(name, sizeof(name), "%s, %.0f vertices", hm__recipe_names[r->kind], r->vertices);
    if (rc == 0)
        rc = hm__graph_from_edges(&list, r->vertices, name, ret_graph, err);
    hm__edge_list_release(&list);
    return rc;
}
