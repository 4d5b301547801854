/*
 * Estimates the work of splitting a graph.
 *
 * If the edges are known, a trial visits each vertex and each edge once; METIS does so several
 * times, more often with more workers, and HDRF compares all n workers for each edge. If only the
 * degrees are known, a random split draws the vertices of a degree one by one if there are at most
 * 2 n of them, and else draws the number on each worker; a greedy split compares the workers for
 * each degree, and dealing visits each degree and each worker once. A split of edges keeps a bit
 * for each vertex and worker.
 */
#include "split.h"

#include <math.h>

#include "admit.h"

/* Returns the number of steps of one trial from the degrees alone, among n workers. */
static double degrees_steps(const struct hm_graph *g, enum hm_split split, double n)
{
    double count = (double)g->degree_count, sum = 0;

    if (split == HM_SPLIT_DEALT)
        return count + n;
    if (split == HM_SPLIT_GREEDY)
        return count * n;
    for (size_t k = 0; k < g->degree_count; k++)
        sum += g->degrees[k].count <= 2 * n ? g->degrees[k].count : n;
    return sum;
}

/*
 * The numbers 30 and 4 keep the estimate below the times that were measured for grids of two and
 * three dimensions, random graphs and power laws of 3 million vertices and edges, split among 2 to
 * 8192 workers; METIS needs 1.5 to 4 times as long, and up to 20 times for random graphs on few.
 */
double hm__metis_passes(double vertices, double n)
{
    return 1 + 4 * fmin(30 * n / vertices, 1) * log2(n);
}

int hm__split_admit(const struct hm_graph *g, enum hm_split split, double trials, double splits,
                    double mean_n, const struct hm_split_fields *f, struct hm_err *err)
{
    bool hdrf = split == HM_SPLIT_HDRF, metis = split == HM_SPLIT_METIS;
    enum hm_step step = hdrf ? HM_STEP_COMPARE : metis ? HM_STEP_METIS : HM_STEP_SPLIT;

    /* hm_graph_split refuses other numbers of trials, and does nothing for one worker. */
    if (!(trials >= 1 && trials <= 1e6) || !(splits > 0))
        return 0;
    const double size = !g->ends ? degrees_steps(g, split, mean_n)
                        : hdrf   ? g->edges
                                 : g->vertices + g->edges;
    const double passes = metis ? hm__metis_passes(g->vertices, mean_n) : 1;
    const struct hm_work_factor factors[] = {
        {f->n, splits, "numbers of workers"},
        {f->trials, hm_split_is_random(split) ? trials : 1, "trials"},
        {f->graph, size,
         !g->ends ? "draws"
         : hdrf   ? "edges"
                  : "vertices and edges"},
        {f->n, metis ? passes : mean_n, metis ? "passes over the graph" : "workers"}};
    int rc = hm__admit(step, factors, hdrf || metis ? 4 : 3, err);
    if (rc == 0 && metis)
        rc = hm__admit_call(step, size * passes, f->graph, err);
    if (rc == 0 && hm_split_cuts_vertices(split))
        rc = hm__admit_bytes(g->vertices * mean_n / 8, factors[3], err);
    return rc;
}
