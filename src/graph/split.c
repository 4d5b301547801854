/*
 * Splits a graph among n workers, from its degrees alone.
 *
 * The number of edges on a worker is the sum of the degrees of its vertices, minus the number of
 * edges between two of its own vertices, because the sum counts these edges twice. With V vertices
 * and E edges, the number of edges inside a worker is estimated as
 *     1/2 (V/n - 1) (V/n) E / (V (V-1) / 2)
 * (Ulanov et al. 2016, Section IV-B). If the edges are known, the numbers are exact instead.
 *
 * Vertices of one degree are interchangeable, so the computation time grows with the number of
 * distinct degrees, not with the number of vertices:
 *
 * - dealt: vertices are assigned round robin in the order of degree. In a whole round, every worker
 *   gets one vertex, and the remainder goes to consecutive workers by a difference array.
 * - random: the vertices of a degree are distributed by a multinomial distribution, drawn exactly
 *   as a chain of binomials (or one by one if there are few vertices).
 * - greedy: the vertices of a degree fill the least loaded workers up to a common load.
 *
 * The expected number of copies of a vertex with d random neighbours is 1 + (n-1) (1 - (1-1/n)^d).
 * Limits: from degrees alone, cut edges are unknown and neighbours are assumed to be random.
 */
#include "split.h"

#include <math.h>
#include <stdlib.h>

#include "budget.h"
#include "checks.h"
#include "err.h"
#include "memory.h"
#include "order.h"
#include "random.h"

/*
 * Computes the loads of workers that receive vertices in turn (round robin); marks is a buffer of n
 * + 1 entries.
 */
static void deal_vertices(const struct hm_graph *g, uint32_t n, double *loads, double *marks)
{
    double all = 0;
    uint32_t next = 0;

    for (uint32_t i = 0; i <= n; i++)
        marks[i] = 0;
    for (size_t k = 0; k < g->degree_count; k++) {
        double degree = g->degrees[k].degree, rounds = floor(g->degrees[k].count / n);
        uint32_t rest = (uint32_t)(g->degrees[k].count - rounds * n), end = next + rest;
        all += rounds * degree;
        /* The remainder goes to consecutive workers, beginning with worker `next`. */
        marks[next] += degree;
        marks[end < n ? end : n] -= degree;
        /* If the remainder passes the last worker, it continues at worker 0. */
        if (end > n) {
            marks[0] += degree;
            marks[end - n] -= degree;
        }
        next = end % n;
    }
    hm__budget_steps(HM_STEP_SPLIT, (double)g->degree_count + n);
    double running = all;
    for (uint32_t i = 0; i < n; i++) {
        running += marks[i];
        loads[i] = running;
    }
}

static void scatter_vertices(const struct hm_graph *g, uint32_t n, struct hm_random *random,
                             double *loads)
{
    for (uint32_t i = 0; i < n; i++)
        loads[i] = 0;
    for (size_t k = 0; k < g->degree_count; k++) {
        double degree = g->degrees[k].degree, left = g->degrees[k].count;
        if (hm__budget_spent("trials"))
            return;
        hm__budget_steps(HM_STEP_SPLIT, left <= 2.0 * n ? left : n);
        if (left <= 2.0 * n) {
            for (; left > 0; left--)
                loads[hm__random_below(random, n)] += degree;
            continue;
        }
        for (uint32_t i = 0; i + 1 < n && left > 0; i++) {
            double some = hm__random_binomial(random, left, 1.0 / (n - i));
            loads[i] += some * degree;
            left -= some;
        }
        loads[n - 1] += left * degree;
    }
}

/*
 * Returns the number of vertices that raise the loads of the k least loaded workers to at least the
 * load of the next worker. Loads are sorted.
 */
static double room_below(const double *loads, uint32_t k, double degree)
{
    double room = 0;

    for (uint32_t i = 0; i < k; i++)
        room += ceil((loads[k] - loads[i]) / degree);
    return room;
}

/*
 * Assigns `count` vertices of one degree, with the same result as assigning each in turn to the
 * least loaded worker. As many of the least loaded workers as possible are raised to a common load;
 * after that, their loads differ by less than one degree, and they receive vertices in turn. Loads
 * are sorted before and after the call.
 */
static void fill_least_loaded(double degree, double count, uint32_t n, double *loads)
{
    uint32_t low = 0, high = n - 1;

    /*
     * Finds the largest number of workers whose loads can be raised to the load of the next worker.
     */
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (room_below(loads, middle, degree) <= count)
            low = middle;
        else
            high = middle - 1;
    }
    count -= room_below(loads, low, degree);
    for (uint32_t i = 0; i < low; i++)
        loads[i] += degree * ceil((loads[low] - loads[i]) / degree);
    double turns = floor(count / (low + 1));
    uint32_t rest = (uint32_t)(count - turns * (low + 1));
    hm__sort_numbers(loads, low + 1, "trials");
    for (uint32_t i = 0; i <= low; i++)
        loads[i] += degree * (turns + (i < rest));
    hm__sort_numbers(loads, n, "trials");
}

static void balance_vertices(const struct hm_graph *g, uint32_t n, double *loads)
{
    for (uint32_t i = 0; i < n; i++)
        loads[i] = 0;
    for (size_t k = g->degree_count; k-- > 0 && g->degrees[k].degree > 0;) {
        if (hm__budget_spent("trials"))
            return;
        hm__budget_steps(HM_STEP_SPLIT, n);
        fill_least_loaded(g->degrees[k].degree, g->degrees[k].count, n, loads);
    }
}

static double largest_load(const double *loads, uint32_t n)
{
    double most = 0;

    for (uint32_t i = 0; i < n; i++)
        most = fmax(most, loads[i]);
    return most;
}

static double edges_counted_twice(const struct hm_graph *g, double n)
{
    double v = g->vertices;

    return v > 1 ? 0.5 * (v / n - 1) * (v / n) * g->edges / (v * (v - 1) / 2) : 0;
}

static double expected_replicas(const struct hm_graph *g, double n)
{
    double sum = 0;

    for (size_t k = 0; k < g->degree_count; k++)
        sum += g->degrees[k].count * (1 + (n - 1) * (1 - pow(1 - 1 / n, g->degrees[k].degree)));
    return sum / g->vertices;
}

/* Performs one random trial of a split from the degrees alone; returns the number of edges on the
 * most loaded worker. */
static double try_degrees(const struct hm_graph *g, enum hm_split split, double seed,
                          uint32_t trial, uint32_t n, double *loads)
{
    struct hm_random random;

    if (split == HM_SPLIT_DEALT) {
        deal_vertices(g, n, loads, loads + n);
    } else if (split == HM_SPLIT_GREEDY) {
        balance_vertices(g, n, loads);
    } else {
        hm__random_init(&random, (uint64_t)seed, (uint64_t)trial << 32 | n);
        scatter_vertices(g, n, &random, loads);
    }
    return largest_load(loads, n) - edges_counted_twice(g, n);
}

/* Performs one random trial of a split with known edges, and sets the counts in *parts. */
static int try_edges(const struct hm_graph *g, const struct hm_adjacency *rows, enum hm_split split,
                     double seed, uint32_t trial, uint32_t n, uint32_t *owner,
                     struct hm_parts *parts, struct hm_err *err)
{
    if (hm_split_cuts_vertices(split))
        return hm__split_edges(g, split, seed, trial, n, parts, err);
    int rc = hm__assign_vertices(g, rows, split, seed, trial, n, owner, err);
    /* Each vertex is assigned, and each edge is visited to count those between workers. */
    if (split == HM_SPLIT_METIS)
        hm__budget_steps(HM_STEP_METIS,
                         (g->vertices + g->edges) * hm__metis_passes(g->vertices, n));
    else
        hm__budget_steps(HM_STEP_SPLIT, g->vertices + g->edges);
    return rc ? rc : hm__measure_vertices(g, rows, owner, n, parts, err);
}

/*
 * Returns a percentile of sorted values, with linear interpolation; share is 0 to 1, such as 0.5
 * for the median.
 */
static double sorted_percentile(const double *sorted, size_t count, double share)
{
    double at = share * (double)(count - 1);
    size_t low = (size_t)at, high = low + 1 < count ? low + 1 : low;

    return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}

/* Buffers for the trials, reused for every number of workers. */
struct split_space {
    /* `found` holds the result of each trial; `loads` holds the load of each worker, followed by
     * the difference array of the loads. */
    double *found, *loads;
    uint32_t *owner;          /* Worker of each vertex, if the edges are known. */
    struct hm_adjacency rows; /* Neighbours of each vertex, if the edges are known. */
};

static int split_one(const struct hm_graph *g, enum hm_split split, size_t trials, double seed,
                     uint32_t n, const struct split_space *space, struct hm_parts *parts,
                     struct hm_err *err)
{
    double *found = space->found, sum = 0, mean = 0, cut = 0, replicas = 0;

    for (size_t t = 0; t < trials; t++) {
        int spent = hm__budget_check("trials", err);
        if (spent)
            return spent;
        struct hm_parts one = {.cut = NAN};
        if (g->ends) {
            int rc =
                try_edges(g, &space->rows, split, seed, (uint32_t)t, n, space->owner, &one, err);
            if (rc)
                return rc;
        } else {
            one.edges_max = try_degrees(g, split, seed, (uint32_t)t, n, space->loads);
            one.edges_mean = 2 * g->edges / n - edges_counted_twice(g, n);
            one.replicas = expected_replicas(g, n);
        }
        found[t] = one.edges_max;
        sum += one.edges_max;
        mean += one.edges_mean;
        cut += one.cut;
        replicas += one.replicas;
    }
    hm__sort_numbers(found, trials, "trials");
    *parts = (struct hm_parts){
        .n = n,
        .edges_max = sum / (double)trials,
        .edges_mean = mean / (double)trials,
        .low = sorted_percentile(found, trials, 0.05),
        .high = sorted_percentile(found, trials, 0.95),
        .worst = found[trials - 1],
        .cut = cut / (double)trials,
        .replicas = replicas / (double)trials,
    };
    parts->imbalance = parts->edges_mean > 0 ? parts->edges_max / parts->edges_mean : 1;
    return 0;
}

static int check_split(const struct hm_graph *g, enum hm_split split, double trials,
                       const double *n, size_t count, struct hm_err *err)
{
    if (hm_split_needs_edges(split) && !g->ends) {
        hm__fail(err, HM_E_MISSING, "split '%s' needs the edges, and only degrees are known",
                 hm_split_name(split));
        hm__err_hint(err, "dealt, random and greedy work from degrees");
        return HM_E_MISSING;
    }
    if (!(trials >= 1 && trials <= 1e6) || trials != floor(trials))
        return hm__fail(err, HM_E_RANGE, "trials: %g is not a whole number from 1 to 1e6", trials);
    for (size_t i = 0; i < count; i++) {
        if (!(n[i] >= 1 && n[i] <= 1e6) || n[i] != floor(n[i]))
            return hm__fail(err, HM_E_RANGE, "n: %g is not a whole number of parts from 1 to 1e6",
                            n[i]);
        if (n[i] > g->vertices) {
            hm__fail(err, HM_E_RANGE, "%.0f parts, but only %.0f vertices", n[i], g->vertices);
            hm__err_hint(err, "every part needs at least one vertex");
            return HM_E_RANGE;
        }
        int rc = split == HM_SPLIT_METIS && n[i] > 1 ? hm__metis_check(g, (uint32_t)n[i], err) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

int hm_graph_split(const struct hm_graph *g, enum hm_split split, double trials, double seed,
                   const double *n, size_t count, struct hm_parts *ret_parts, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "ret_parts", ret_parts, NULL);
    if (bad == 0)
        bad = hm__graph_check(g, err);
    if (bad == 0)
        bad = hm__check_enum("split", (int)split, HM_SPLIT_COUNT, err);
    if (bad == 0)
        bad = hm__check_range("seed", seed, 0, 1e15, err);
    if (bad == 0)
        bad = hm__check_array(n, count, "n", err);
    if (bad)
        return bad;
    int rc = check_split(g, split, trials, n, count, err);
    double most = 1;

    if (rc)
        return rc;
    size_t rounds = hm_split_is_random(split) ? (size_t)trials : 1;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, n[i]);
    struct split_space space = {.found = hm__calloc(rounds, sizeof(double)),
                                .loads = hm__calloc(2 * (size_t)most + 1, sizeof(double))};
    if (!space.found || !space.loads)
        rc = hm__fail_nomem(err);
    if (rc == 0 && g->ends && !hm_split_cuts_vertices(split)) {
        space.owner = hm__calloc((size_t)g->vertices, sizeof(*space.owner));
        rc = space.owner ? hm__adjacency_init(&space.rows, g, err) : hm__fail_nomem(err);
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        /* With one worker, no edge is cut and no vertex is copied. */
        if (n[i] == 1)
            ret_parts[i] =
                (struct hm_parts){1, g->edges, g->edges, 1, g->edges, g->edges, g->edges, 0, 1};
        else
            rc = split_one(g, split, rounds, seed, (uint32_t)n[i], &space, &ret_parts[i], err);
    }
    hm__free(space.found);
    hm__free(space.loads);
    hm__free(space.owner);
    hm__adjacency_release(&space.rows);
    return rc;
}
