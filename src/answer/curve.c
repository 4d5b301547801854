/*
 * Computes the curve of one combination of job, machine and scheme: a point with time and cost for
 * every number of workers n that can be rented.
 *
 * If a node has g workers, the values of n are 1 to g and then the multiples of g, since only whole
 * nodes can be rented. Speedup is relative to the time at the reference n; with weak scaling, times
 * per sample (step time / n) are compared instead of step times. The job has the number of
 * iterations that it specifies, or one iteration if it specifies none. Limits: by default, n is at
 * most HM_DEFAULT_MAX_N, or HM_BEYOND_RUNS times the largest measured n.
 */
#include <math.h>

#include "chance.h"
#include "checks.h"
#include "device.h"
#include "err.h"
#include "mixes.h"
#include "names.h"
#include "search.h"
#include "way_time.h"
#include "ways.h"

double hm__search_memory(const struct hm_search *s)
{
    const double bytes = s->cluster ? hm__cluster_memory(s->cluster) : NAN;

    return !(bytes > 0) ? NAN : s->table ? hm__usable_memory(bytes) : bytes;
}

/* Returns the largest number of workers in one machine of a cluster. */
static double per_node_most(const struct hm_cluster *c)
{
    double most = c->kind_count > 0 ? 1 : c->node.accelerators;

    for (size_t k = 0; k < c->kind_count; k++)
        most = fmax(most, c->kinds[k].machine->node.accelerators);
    return most;
}

double hm__search_max_n(const struct hm_search *s, bool *ret_ceiling)
{
    const struct hm_cluster *c = s->cluster;
    double per_node = c ? c->node.accelerators : 1;
    bool mixed = c && c->kind_count > 0, few = mixed || (c && c->max_nodes > 0);
    const bool inside = c && hm__strategy_inside(s->way.strategy);
    double nodes = mixed ? fmin(hm__cluster_workers(c), HM_MIX_WORKERS)
                   : few ? (c->max_nodes - hm__way_nodes(&s->way)) * per_node
                         : 0;
    const struct hm_question *q = s->question;
    const struct hm_graph *graph = s->job->graph;
    double asked = q->max_n;

    if (q->n_count > 0)
        asked = asked > 0 ? fmin(asked, q->n[q->n_count - 1]) : q->n[q->n_count - 1];

    if (inside) {
        nodes = fmin(few ? nodes : INFINITY, per_node_most(c));
        few = true;
    }
    *ret_ceiling = asked > 0 || few;
    double open =
        graph || s->way.platform == HM_PLATFORM_PIPELINE ? HM_DEFAULT_PARTS : HM_DEFAULT_MAX_N;
    /* A fit is not trusted far beyond the largest n of its runs, so the default limit on n is
     * lower. */
    if (hm__search_by_runs(s))
        open = fmin(open, HM_BEYOND_RUNS * s->question->fit->n_max);
    double most = asked > 0 && few ? fmin(asked, nodes)
                  : *ret_ceiling   ? fmax(asked, nodes)
                                   : fmax(open, s->reference);
    return graph ? fmin(most, graph->vertices) : most; /* Each worker needs at least one vertex, so
                                                          n is at most the number of vertices. */
}

struct hm_variant hm__search_variant(const struct hm_search *s)
{
    struct hm_variant variant = HM_VARIANT_INIT;

    variant.scheme = s->scheme;
    variant.weak = s->weak;
    variant.parts = s->parts;
    variant.part_count = s->part_count;
    variant.way = s->way;
    variant.stragglers = s->stragglers;
    variant.table = s->table;
    variant.mixes = s->mixes;
    return variant;
}

/*
 * Returns the number of epochs that the job needs with batches of `batch` samples. Measured numbers
 * of epochs are interpolated linearly in the logarithm of the batch, and extrapolated beyond the
 * largest batch.
 */
static double job_epochs(const struct hm_job *job, double batch)
{
    const struct hm_epochs_at *at = job->epochs_at;
    const size_t count = job->epochs_at_count;
    size_t i = 0;

    if (count == 0)
        return job->critical_batch > 0 ? job->epochs * (1 + batch / job->critical_batch)
                                       : job->epochs;
    if (count == 1 || batch <= at[0].batch)
        return at[0].epochs;
    while (i + 2 < count && batch > at[i + 1].batch)
        i++;
    double share = log(batch / at[i].batch) / log(at[i + 1].batch / at[i].batch);
    return fmax(at[i].epochs + share * (at[i + 1].epochs - at[i].epochs), at[0].epochs);
}

/*
 * Returns the number of iterations of the job if all gradients are fresh; stale gradients need
 * more.
 */
static double fresh_iterations(const struct hm_search *s, double work, double n)
{
    const struct hm_job *job = s->job;
    double batch = job->batch * work * (s->weak ? n : 1);

    if (job->epochs > 0)
        return ceil(job_epochs(job, batch) * job->dataset / batch);
    if (!s->weak)
        return job->iterations > 0 ? job->iterations : 1;
    /*
     * The job processes a fixed number of samples. With weak scaling, n workers process more
     * samples in a step than the reference, so they take fewer steps.
     */
    if (job->iterations > 0)
        return ceil(job->iterations * job->reference / n);
    return job->reference / n;
}

double hm__search_iterations(const struct hm_search *s, double work, double n)
{
    double fresh = fresh_iterations(s, work, hm__way_used(&s->way, n));
    double cost = hm__way_stale_cost(&s->way, n);

    if (!(cost > 1))
        return fresh;
    return s->job->iterations > 0 || s->job->epochs > 0 ? ceil(fresh * cost) : fresh * cost;
}

double hm__search_expense(const struct hm_search *s, const struct hm_point *p)
{
    double price = s->cluster ? s->cluster->node.price_per_s : NAN;

    if (s->cluster && s->cluster->kind_count > 0)
        return p->total_s * (hm__cluster_priced(s->cluster) ? p->price_per_s : p->nodes);
    return p->nodes * p->total_s * (isnan(price) ? 1 : price);
}

/*
 * Returns the time in seconds per unit of work. With strong scaling, the unit is a step; with weak
 * scaling, it is the share of one worker in a step.
 */
static double point_seconds_per_work(const struct hm_search *s, const struct hm_point *p)
{
    return s->weak ? p->time_s / hm__way_used(&s->way, p->n) : p->time_s;
}

static void point_finish(const struct hm_search *s, const struct hm_point *reference, double work,
                         struct hm_point *p)
{
    bool priced = s->cluster && hm__cluster_priced(s->cluster);

    p->speedup = point_seconds_per_work(s, reference) / point_seconds_per_work(s, p);
    p->efficiency = p->speedup * reference->n / p->n;
    p->total_s = p->time_s * hm__search_iterations(s, work, p->n);
    p->cost = priced ? hm__search_expense(s, p) : NAN;
}

void hm__curve_finish(struct hm_curve *curve, const struct hm_search *s, double work)
{
    for (size_t i = 0; i < curve->count; i++)
        point_finish(s, &curve->reference, work, &curve->points[i]);
    point_finish(s, &curve->reference, work, &curve->reference);
}

/* Checks that times and costs are finite and that the times are above 0. */
static int point_check(const struct hm_search *s, const struct hm_point *p, struct hm_err *err)
{
    bool time = isfinite(p->time_s) && p->time_s > 0;

    if (time && isfinite(p->total_s) && isfinite(hm__search_expense(s, p)) && isfinite(p->speedup))
        return 0;
    if (p->time_s == 0)
        hm__fail(err, HM_E_RANGE, "an iteration takes no time at all at n = %.0f", p->n);
    else if (!time)
        hm__fail(err, HM_E_RANGE, "an iteration takes no finite time at n = %.0f", p->n);
    else if (!isfinite(p->total_s))
        hm__fail(err, HM_E_RANGE, "the whole job takes no finite time at n = %.0f", p->n);
    else
        hm__fail(err, HM_E_RANGE, "the whole job has no finite cost at n = %.0f", p->n);
    hm__err_hint(err, "check the sizes, speeds and prices of the job and the cluster");
    hm__err_field(err, time ? "iterations" : "compute");
    hm__err_at(err, s->job->source, s->job->compute_line);
    return HM_E_RANGE;
}

static size_t grid_count(double max_n, double per_node)
{
    if (max_n <= per_node)
        return (size_t)max_n;
    return (size_t)per_node + (size_t)floor(max_n / per_node) - 1;
}

static double grid_n(size_t i, double per_node)
{
    double n = (double)i + 1;
    return n <= per_node ? n : (n - per_node + 1) * per_node;
}

/* Returns the number of points in the curve up to max_n workers. */
static size_t search_point_count(const struct hm_search *s, double max_n, double per_node)
{
    const struct hm_question *q = s->question;
    size_t count = 0;

    if (q->n_count == 0)
        return s->mixes ? hm__mixes_count(s->mixes, max_n) : grid_count(max_n, per_node);
    while (count < q->n_count && q->n[count] <= max_n)
        count++;
    return count;
}

/* Sets the number of workers of each point of the curve. */
static void curve_set_n(struct hm_curve *curve, const struct hm_search *s, double per_node)
{
    const struct hm_question *q = s->question;

    if (s->mixes && q->n_count == 0) {
        size_t i = 0;
        for (double n = 1; i < curve->count; n++)
            if (hm__mixes_have(s->mixes, n))
                curve->points[i++].n = n;
        return;
    }
    for (size_t i = 0; i < curve->count; i++)
        curve->points[i].n = q->n_count ? q->n[i] : grid_n(i, per_node);
}

/* Reports that the smallest n of the question exceeds the largest number of workers allowed. */
static int fail_no_point(const struct hm_search *s, double max_n, struct hm_err *err)
{
    hm__fail(err, HM_E_RANGE, "%g workers are more than the largest number allowed, %g",
             s->question->n[0], max_n);
    hm__err_hint(err,
                 hm__strategy_inside(s->way.strategy) ? "%s uses one machine"
                                                      : "max_n and cluster.max_nodes limit n",
                 hm_strategy_title(s->way.strategy));
    hm__err_field(err, "n");
    return HM_E_RANGE;
}

bool hm__point_sampled(const struct hm_search *s, const struct hm_point *p)
{
    return s->weak || s->job->compute || !s->job->network || p->n <= s->job->batch;
}

/* Fails if the smallest n of the question is larger than the batch. */
static int check_samples(const struct hm_search *s, const struct hm_point *least,
                         struct hm_err *err)
{
    if (!s->job || hm__search_by_runs(s) || hm__point_sampled(s, least))
        return 0;
    hm__fail(err, HM_E_RANGE, "%g workers are more than the batch has samples, %g", least->n,
             s->job->batch);
    hm__err_hint(err, "each worker needs a sample: a larger batch, or fewer workers");
    hm__err_field(err, "n");
    return HM_E_RANGE;
}

/* Copies the first points of a curve from another curve, as long as both have the same n. Returns
 * the number of points copied. */
static size_t curve_take_points(struct hm_curve *curve, const struct hm_curve *known)
{
    size_t same = 0;

    while (known && same < known->count && same < curve->count &&
           known->points[same].n == curve->points[same].n) {
        curve->points[same] = known->points[same];
        same++;
    }
    return same;
}

int hm__curve_init(struct hm_curve *curve, const struct hm_search *s, const struct hm_model *model,
                   double work, double max_n, struct hm_err *err)
{
    return hm__curve_extend(curve, s, model, NULL, work, max_n, err);
}

int hm__curve_extend(struct hm_curve *curve, const struct hm_search *s,
                     const struct hm_model *model, const struct hm_curve *known, double work,
                     double max_n, struct hm_err *err)
{
    double per_node = s->cluster ? s->cluster->node.accelerators : 1;
    int rc = hm__way_check(s, max_n, err);

    if (rc)
        return rc;
    size_t count = search_point_count(s, max_n, per_node);
    if (count == 0)
        return fail_no_point(s, max_n, err);
    *curve = (struct hm_curve){.count = count};
    curve->points = hm__calloc(count, sizeof(*curve->points));
    if (!curve->points)
        return hm__fail_nomem(err);
    curve_set_n(curve, s, per_node);
    curve->reference.n = s->reference;
    rc = check_samples(s, &curve->points[0], err);
    size_t same = curve_take_points(curve, known);
    if (rc == 0 && same < count)
        rc = hm__search_eval(s, model, curve->points + same, count - same, err);
    if (rc == 0)
        rc = hm__search_eval(s, model, &curve->reference, 1, err);
    if (rc == 0)
        hm__curve_finish(curve, s, work);
    if (rc == 0)
        rc = point_check(s, &curve->reference, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = point_check(s, &curve->points[i], err);
    if (rc == 0)
        rc = hm__curve_bounds(curve, s, model, err);
    if (rc)
        hm__curve_release(curve);
    return rc;
}

void hm__curve_release(struct hm_curve *curve)
{
    hm__free(curve->points);
    *curve = (struct hm_curve){0};
}
