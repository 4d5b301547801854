/*
 * Explains an answer: the part of a step that limits the speed, the effect of better hardware or a
 * larger batch, the best n above a ceiling that the user set, and the two scenarios of Ulanov et
 * al. 2016: to be x times as fast, or to do x times as much work in the same time. Limit: each
 * change is evaluated alone, not in combination with others.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collective.h"
#include "err.h"
#include "memory.h"
#include "model_step.h"
#include "names.h"
#include "search.h"

static int check_allocated(const void *pointer, struct hm_err *err)
{
    return pointer ? 0 : hm__fail_nomem(err);
}

/*
 * Returns whether a faster point exists that cannot be used, because a worker has too little memory
 * or no sample. In that case, memory or the batch limits the speedup, not the speed of the
 * hardware.
 */
static bool answer_limited_by_fit(struct hm_answer *a, const struct hm_search *s,
                                  const struct hm_curve *c)
{
    /* A gain within the slack would not change the recommendation. */
    const double limit = c->points[a->best].total_s / (1 + hm__search_slack(s));

    for (size_t i = 0; s->goal == HM_GOAL_TIME && i < c->count; i++) {
        const struct hm_point *p = &c->points[i];
        if (p->fits || p->total_s >= limit)
            continue;
        bool batch = !s->weak && p->n > s->job->batch && s->job->network && !s->job->compute;
        a->limit = batch ? HM_LIMIT_BATCH : HM_LIMIT_MEMORY;
        a->limit_share = 1;
        return true;
    }
    return false;
}

/* Returns the communication time in seconds of a step that is not hidden by computation. */
static double point_exposed_s(const struct hm_search *s, const struct hm_point *p)
{
    double both = p->compute_s + p->communicate_s;

    /*
     * The overlapped time is divided between computation and communication in proportion to the
     * time that each takes alone.
     */
    if (s->job->overlap == HM_OVERLAP_NORM)
        return both > 0 ? p->time_s * (p->communicate_s / both) : 0;
    return fmax(p->time_s - p->compute_s, 0);
}

/* Explains that most of the step is spent waiting for stragglers. */
static int explain_stragglers(struct hm_answer *a, const struct hm_search *s,
                              const struct hm_point *p, struct hm_err *err)
{
    /* Beyond 1e15, the steady time is lost in the rounding of the time of the slowest worker. */
    const double most = 1e15, ratio = p->compute_s / (p->compute_s - p->wait_s);
    char times[40];

    snprintf(times, sizeof(times), ratio < most ? "%.3g" : "more than %g",
             ratio < most ? ratio : most);
    a->limit = HM_LIMIT_STRAGGLERS;
    a->limit_share = p->wait_s / p->time_s;
    if (s->way.consistency == HM_CONSISTENCY_ASYNC)
        a->why = hm__arena_printf(
            a->memory, "workers take %s times as long on average as a steady one", times);
    else if (s->way.consistency == HM_CONSISTENCY_SSP && s->way.staleness > 0)
        a->why = hm__arena_printf(a->memory,
                                  "no worker is more than %g ahead of the slowest: they take %s "
                                  "times as long as a steady one",
                                  s->way.staleness, times);
    else if (s->way.backups > 0)
        a->why = hm__arena_printf(
            a->memory, "the first %g of %g workers are expected after %s times the steady time",
            p->n - s->way.backups, p->n, times);
    else
        a->why =
            hm__arena_printf(a->memory,
                             "the slowest of %g workers is expected to take %s times as long as a "
                             "steady one",
                             p->n, times);
    return check_allocated(a->why, err);
}

/*
 * Returns the computation time in seconds that does not shrink with more workers. The part that is
 * divided among the workers is found by comparing n workers with half as many; the rest does not
 * shrink. Returns 0 if half as many workers cannot be evaluated, or if the work grows with n.
 */
static double point_serial_s(const struct hm_search *s, const struct hm_model *model,
                             const struct hm_point *p)
{
    struct hm_point half = {.n = floor(p->n / 2)};

    if (s->weak || s->job->graph || s->mixes || half.n < 1 || hm__model_eval(model, &half, 1, NULL))
        return 0;
    double now = p->compute_s - p->wait_s, then = half.compute_s - half.wait_s;
    double shrinks = (then - now) / (p->n / half.n - 1);
    return fmax(now - fmax(shrinks, 0), 0);
}

/* Explains that most of the step is computation that more workers do not shorten. */
static int explain_serial(struct hm_answer *a, const struct hm_search *s, const struct hm_point *p,
                          double serial_s, struct hm_err *err)
{
    a->limit = HM_LIMIT_SERIAL;
    a->limit_share = serial_s / p->time_s;
    a->why = hm__arena_printf(a->memory, "%s %.3g s, which does not shrink with more workers",
                              s->job->compute ? "a part of the computing takes"
                                              : "starting kernels and reading weights takes",
                              serial_s);
    return check_allocated(a->why, err);
}

/*
 * Explains communication whose time is given by a formula of the job, and says so if it does not
 * grow with n.
 */
static int explain_formula(struct hm_answer *a, const struct hm_model *model,
                           const struct hm_point *p, double exposed, struct hm_err *err)
{
    struct hm_point half = {.n = floor(p->n / 2)};
    bool constant = half.n >= 2 && hm__model_eval(model, &half, 1, NULL) == 0 &&
                    fabs(half.communicate_s / p->communicate_s - 1) < 1e-6;

    a->why = "communication by the job's formula";
    if (!constant)
        return 0;
    a->why = hm__arena_printf(a->memory,
                              "communication by the job's formula takes %.3g s, which does not "
                              "shrink with more workers",
                              exposed);
    return check_allocated(a->why, err);
}

static int explain_limit(struct hm_answer *a, const struct hm_search *s,
                         const struct hm_model *model, const struct hm_curve *c, struct hm_err *err)
{
    bool stuck = a->best == HM_NONE || a->status == HM_STATUS_NO_SPEEDUP;
    const struct hm_point *p = &c->points[stuck ? a->nearest : a->recommended];
    double exposed = point_exposed_s(s, p);
    enum hm_scheme scheme = HM_SCHEME_BEST;
    int step = hm__model_dominant(model, p->n, &scheme);

    a->limit_n = p->n;
    if (hm__search_by_runs(s))
        return hm__answer_explain_fit(a, s, p, err);
    if (!stuck && answer_limited_by_fit(a, s, c)) {
        a->why = a->limit == HM_LIMIT_BATCH
                     ? "each worker needs at least one sample of the batch"
                     : "numbers of workers that would be faster do not fit in memory";
        return 0;
    }
    bool limits;
    int rc = hm__answer_explain_dataflow(a, model, p, &limits, err);
    if (rc == 0 && !limits)
        rc = hm__answer_explain_pipeline(a, model, p, &limits, err);
    if (rc || limits)
        return rc;
    if (p->imbalance > 1.1 && p->time_s - exposed >= exposed) {
        a->limit = HM_LIMIT_IMBALANCE;
        a->limit_share = (1 - exposed / p->time_s) * (1 - 1 / p->imbalance);
        a->why =
            hm__arena_printf(a->memory, "the worker with most edges has %.2f times the mean (%s)",
                             p->imbalance, hm_split_name(s->job->split));
        return check_allocated(a->why, err);
    }
    if (p->wait_s > exposed && p->wait_s > p->compute_s - p->wait_s)
        return explain_stragglers(a, s, p, err);
    double serial_s = point_serial_s(s, model, p);
    if (serial_s > 0.5 * p->time_s)
        return explain_serial(a, s, p, serial_s, err);
    if (p->time_s <= 0 || p->time_s - exposed >= exposed || step < 0) {
        a->limit = HM_LIMIT_COMPUTE;
        a->limit_share = p->time_s > 0 ? 1 - exposed / p->time_s : 1;
        a->why = "most of the step is spent computing";
        return 0;
    }
    a->limit_share = exposed / p->time_s;
    a->limit = isnan(p->latency_s)             ? HM_LIMIT_COMMUNICATION
               : p->latency_s > p->bandwidth_s ? HM_LIMIT_LATENCY
                                               : HM_LIMIT_BANDWIDTH;
    const struct hm_transfer *t = hm__model_step(model, (size_t)step);
    if (t->time)
        return explain_formula(a, model, p, exposed, err);
    a->why = hm__arena_printf(a->memory, "%s by %s %s",
                              t->what == HM_PAYLOAD_PARAMETERS  ? "sending parameters"
                              : t->what == HM_PAYLOAD_GRADIENTS ? "joining gradients"
                                                                : "moving data",
                              hm_scheme_name(scheme), hm__collective_growth(scheme));
    return check_allocated(a->why, err);
}

/*
 * Evaluates a changed job and adds its recommended point to the list of changes that would help.
 * The gain compares the time of the whole job, so both jobs must do the same work. If a formula is
 * not valid for the changed job, nothing is added and no error is reported.
 */
static int add_help(struct hm_answer *a, const struct hm_search *s, const struct hm_curve *now,
                    const struct hm_variant *variant, const char *what, struct hm_err *err)
{
    struct hm_err ignored = {0};
    struct hm_model *model;
    struct hm_curve curve;
    bool ceiling;
    int rc = hm__model_new(s->job, s->cluster, variant, &model, &ignored);

    if (rc == 0) {
        rc = hm__curve_init(&curve, s, model, variant->work, hm__search_max_n(s, &ceiling),
                            &ignored);
        hm__model_free(model);
    }
    if (rc)
        return rc == HM_E_NOMEM ? hm__fail_nomem(err) : 0;
    size_t best = hm__curve_best(s, &curve);
    if (best != HM_NONE) {
        const struct hm_point *p = &curve.points[hm__curve_recommended(s, &curve, best)];
        a->help[a->help_count++] =
            (struct hm_help){.what = what,
                             .n = p->n,
                             .time_s = p->time_s,
                             .speedup = p->speedup,
                             .gain = now->points[a->recommended].total_s / p->total_s};
    }
    hm__curve_release(&curve);
    return 0;
}

enum { HELP_QUANTITIES = 3, HELP_MAX = 10 + HELP_QUANTITIES };

struct lever {
    const char *name;
    double elasticity;
};

/*
 * Returns whether a quantity of the job is the amount of work, that is, whether halving it halves
 * the computation time. If the changed job is not valid, returns false.
 */
static bool quantity_is_work(const struct hm_search *s, const struct hm_model *model, double n,
                             const char *name)
{
    struct hm_variant variant = hm__search_variant(s);
    struct hm_point now = {.n = n}, then = {.n = n};
    struct hm_model *changed;

    variant.quantity = (struct hm_scaled){name, 0.5};
    if (hm__model_new(s->job, s->cluster, &variant, &changed, NULL))
        return false;
    bool valid =
        hm__model_eval(model, &now, 1, NULL) == 0 && hm__model_eval(changed, &then, 1, NULL) == 0;
    hm__model_free(changed);
    return valid && now.compute_s > 0 && then.compute_s < 0.505 * now.compute_s;
}

/*
 * Collects the quantities in the job's section `where:` that have the largest elasticity, in
 * descending order. A quantity that is the amount of work is excluded: a job with half the work is
 * a different job, not a faster one.
 */
static int gather_levers(const struct hm_search *s, const struct hm_model *model,
                         const struct hm_formula *f, double n, struct lever *levers, size_t *count,
                         struct hm_err *err)
{
    for (size_t i = 0; f && i < hm__formula_quantity_count(f); i++) {
        struct lever l = {.name = hm__formula_quantity_name(f, i)};
        bool known = false;
        int rc = hm__model_elasticity(model, n, l.name, &l.elasticity, err);
        if (rc)
            return rc;
        for (size_t k = 0; k < *count; k++)
            known = known || strcmp(levers[k].name, l.name) == 0;
        if (known || fabs(l.elasticity) < 0.01 ||
            (l.elasticity > 0 && quantity_is_work(s, model, n, l.name)))
            continue;
        size_t at = *count < HELP_QUANTITIES ? (*count)++ : HELP_QUANTITIES;
        for (; at > 0 && fabs(levers[at - 1].elasticity) < fabs(l.elasticity); at--)
            if (at < HELP_QUANTITIES)
                levers[at] = levers[at - 1];
        if (at < HELP_QUANTITIES)
            levers[at] = l;
    }
    return 0;
}

static int help_quantities(struct hm_answer *a, const struct hm_search *s,
                           const struct hm_model *model, const struct hm_curve *c,
                           struct hm_err *err)
{
    struct lever levers[HELP_QUANTITIES];
    size_t count = 0;
    double n = c->points[a->recommended].n;
    int rc = gather_levers(s, model, s->job->compute, n, levers, &count, err);

    if (rc == 0)
        rc = gather_levers(s, model, s->job->per_edge, n, levers, &count, err);
    for (size_t i = 0; rc == 0 && i < s->job->communicate_count; i++)
        rc = gather_levers(s, model, s->job->communicate[i].time, n, levers, &count, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct hm_variant variant = hm__search_variant(s);
        bool more = levers[i].elasticity < 0;
        variant.quantity = (struct hm_scaled){levers[i].name, more ? 2 : 0.5};
        const char *what =
            hm__arena_printf(a->memory, "%s %s", more ? "2x" : "half of", levers[i].name);
        rc = check_allocated(what, err);
        if (rc == 0)
            rc = add_help(a, s, c, &variant, what, err);
    }
    return rc;
}

/*
 * Evaluates another split of the graph at the best n only; the splits for other n are not changed.
 */
static int help_split(struct hm_answer *a, const struct hm_search *s, const struct hm_curve *c,
                      enum hm_split split, const char *what, struct hm_err *err)
{
    struct hm_variant v = hm__search_variant(s);
    double n = c->points[a->recommended].n;
    struct hm_parts *parts = hm__calloc(s->part_count, sizeof(*parts));
    /* The error is ignored, because METIS may be missing or the graph may be too large for it. */
    struct hm_err ignored = {0};

    if (!parts)
        return hm__fail_nomem(err);
    memcpy(parts, s->parts, s->part_count * sizeof(*parts));
    v.parts = parts;
    int rc = hm_graph_split(s->job->graph, split, 1, s->job->seed, &n, 1, &parts[(size_t)n - 1],
                            &ignored);
    if (rc == 0)
        rc = add_help(a, s, c, &v, what, err);
    else
        rc = rc == HM_E_NOMEM && ignored.code == HM_E_NOMEM ? hm__fail_nomem(err) : 0;
    hm__free(parts);
    return rc;
}

/*
 * Adds the gain from better splits of the graph among the workers: greedy and METIS splits, and the
 * even split as an upper bound.
 */
static int help_splits(struct hm_answer *a, const struct hm_search *s, const struct hm_curve *c,
                       struct hm_err *err)
{
    enum hm_split now = s->job->split;
    struct hm_variant v = hm__search_variant(s);
    int rc = 0;

    if (now == HM_SPLIT_DEALT || now == HM_SPLIT_RANDOM || now == HM_SPLIT_HASH)
        rc = help_split(a, s, c, HM_SPLIT_GREEDY, "a greedy split", err);
    if (rc == 0 && s->job->graph->ends && now != HM_SPLIT_METIS && !hm_split_cuts_vertices(now))
        rc = help_split(a, s, c, HM_SPLIT_METIS, "a METIS split", err);
    v.balanced = true;
    return rc ? rc : add_help(a, s, c, &v, "an even split", err);
}

/*
 * Adds the gains from twice as many servers, from workers of equal speed, and from batches
 * proportional to the workers' speeds.
 */
static int help_ways(struct hm_answer *a, const struct hm_search *s, const struct hm_curve *c,
                     struct hm_err *err)
{
    struct hm_variant v = hm__search_variant(s);
    int rc = 0;

    if (s->way.platform == HM_PLATFORM_SERVER && !hm__strategy_inside(s->way.strategy)) {
        v.way.servers *= 2;
        rc = add_help(a, s, c, &v, "2x servers", err);
    }
    if (rc || !a->uneven)
        return rc;
    v = hm__search_variant(s);
    v.steady = true;
    rc = add_help(a, s, c, &v, "no stragglers", err);
    const struct hm_slowness *slow = &s->cluster->slowness;
    if (rc || (slow->slow_nodes == 0 && slow->speed_count == 0))
        return rc;
    v = hm__search_variant(s);
    v.by_speed = true;
    return add_help(a, s, c, &v, "batches by speed", err);
}

/*
 * Adds the gain from workers that compute twice as fast. If steps are modelled by operations, those
 * that memory or the host limits stay as they are.
 */
static int help_flops(struct hm_answer *a, const struct hm_search *s, const struct hm_curve *c,
                      struct hm_err *err)
{
    struct hm_variant v = hm__search_variant(s);
    struct hm_step_table *faster = NULL;
    int rc = 0;

    if (s->table)
        rc = hm__model_table_faster(s->job, s->cluster, 2, &faster, err);
    if (faster)
        v.table = faster;
    else
        v.flops = 2;
    if (rc == 0)
        rc = add_help(a, s, c, &v, "2x flop/s", err);
    hm__step_table_free(faster);
    return rc;
}

static int explain_help(struct hm_answer *a, const struct hm_search *s,
                        const struct hm_model *model, const struct hm_curve *c, struct hm_err *err)
{
    const struct hm_cluster *cluster = s->cluster;
    struct hm_variant v;
    int rc = 0;

    a->help = hm__arena_alloc(a->memory, HELP_MAX, sizeof(*a->help));
    if (!a->help)
        return hm__fail_nomem(err);
    if (a->best == HM_NONE || hm__search_by_runs(s)) /* A fit of runs does not show the effect of
                                                        hardware, so no change can be evaluated. */
        return 0;
    if (cluster && cluster->fabric.bandwidth_bytes_per_s > 0) {
        v = hm__search_variant(s);
        v.bandwidth = 2;
        rc = add_help(a, s, c, &v, "2x bandwidth", err);
    }
    if (rc == 0 && cluster && cluster->fabric.latency_s > 0) {
        v = hm__search_variant(s);
        v.latency = 0.5;
        rc = add_help(a, s, c, &v, "half the latency", err);
    }
    if (rc == 0 && cluster &&
        (cluster->node.flops_32 > 0 || cluster->node.flops_64 > 0 || cluster->node.flops_16 > 0))
        rc = help_flops(a, s, c, err);
    if (rc == 0 && s->parts)
        rc = help_splits(a, s, c, err);
    /*
     * A larger batch helps only a job whose length is given in epochs, because the job then needs
     * fewer iterations.
     */
    if (rc == 0 && s->job->epochs > 0) {
        v = hm__search_variant(s);
        v.work = 2;
        rc = add_help(a, s, c, &v, "2x batch", err);
    }
    if (rc == 0)
        rc = help_ways(a, s, c, err);
    return rc ? rc : help_quantities(a, s, model, c, err);
}

/*
 * Looks for a better point with more workers than the largest n that the user or the cluster
 * allows. Without such a limit, no point above the default limit is evaluated.
 */
static int explain_ceiling(struct hm_answer *a, const struct hm_search *s,
                           const struct hm_model *model, const struct hm_curve *c,
                           struct hm_err *err)
{
    /* The error is ignored, because a formula may become invalid at large n. */
    struct hm_err ignored = {0};
    struct hm_curve beyond;
    bool ceiling;
    double max_n = hm__search_max_n(s, &ceiling);

    if (a->best == HM_NONE || s->goal != HM_GOAL_TIME || s->question->n_count > 0)
        return 0;
    bool all = s->job->graph && max_n == s->job->graph->vertices;
    if (!all && (!ceiling || max_n > 25000))
        a->at_ceiling = a->best + 1 == c->count && c->count > 1;
    /* The graph was not split for n above the ceiling. */
    if (!ceiling || max_n > 25000 || s->parts || hm__strategy_inside(s->way.strategy))
        return 0;
    int rc = hm__curve_extend(&beyond, s, model, c, 1, 4 * max_n, &ignored);
    if (rc)
        return rc == HM_E_NOMEM ? hm__fail_nomem(err) : 0;
    size_t best = hm__curve_best(s, &beyond);
    if (best != HM_NONE && best >= c->count &&
        beyond.points[best].total_s < 0.999 * c->points[a->best].total_s) {
        a->beyond_n = beyond.points[best].n;
        a->beyond_speedup = beyond.points[best].speedup;
    }
    hm__curve_release(&beyond);
    return 0;
}

int hm__answer_explain(struct hm_answer *a, const struct hm_search *s, const struct hm_model *model,
                       const struct hm_curve *c, struct hm_err *err)
{
    int rc = explain_limit(a, s, model, c, err);

    if (rc == 0)
        rc = explain_help(a, s, model, c, err);
    return rc ? rc : explain_ceiling(a, s, model, c, err);
}

/*
 * A time that exceeds the requested time by less than this fraction counts as reached: 4 workers
 * that are 3.9995 times as fast are 4 times as fast.
 */
static const double NEARLY = 1e-3;

/*
 * Finds the smallest number of workers whose time is at most `limit`. If no number of workers meets
 * the limit, records the number that exceeds it by the smallest factor.
 */
static size_t fewest_within(struct hm_answer *a, const struct hm_point *points, size_t count,
                            double limit, const char *what)
{
    size_t near = HM_NONE;

    for (size_t i = 0; i < count; i++) {
        if (!points[i].fits)
            continue;
        if (points[i].total_s <= limit * (1 + NEARLY))
            return i;
        if (near == HM_NONE || points[i].total_s < points[near].total_s)
            near = i;
    }
    /* The user asked for this time. If it cannot be reached, the answer says so, instead of saying
     * that there is no speedup. */
    if (a->status != HM_STATUS_UNREACHED) {
        a->status = HM_STATUS_UNREACHED;
        a->missed = what;
        a->nearest = near;
        a->nearest_gap = near == HM_NONE ? NAN : points[near].total_s / limit;
    }
    return HM_NONE;
}

int hm__answer_scenarios(struct hm_answer *a, const struct hm_search *s, const struct hm_curve *c,
                         struct hm_err *err)
{
    const struct hm_question *q = s->question;
    struct hm_variant variant = hm__search_variant(s);
    struct hm_model *model;
    struct hm_curve grown;
    bool ceiling;

    if (q->faster > 0)
        a->faster =
            fewest_within(a, c->points, c->count, c->reference.total_s / q->faster, "faster");
    if (q->work <= 0)
        return 0;
    /* With weak scaling, the batch of each worker is fixed, so more work means more iterations. */
    variant.work = s->weak ? 1 : q->work;
    int rc = hm__model_new(s->job, s->cluster, &variant, &model, err);
    if (rc)
        return rc;
    /*
     * With strong scaling, the number of iterations is fixed, so more work means longer iterations.
     */
    rc = hm__curve_init(&grown, s, model, 1, hm__search_max_n(s, &ceiling), err);
    for (size_t i = 0; rc == 0 && s->weak && i < grown.count; i++) {
        grown.points[i].total_s *= q->work;
        grown.points[i].cost *= grown.points[i].cost > 0 ? q->work : 1;
    }
    hm__model_free(model);
    if (rc)
        return rc;
    a->work_points = hm__arena_alloc(a->memory, grown.count, sizeof(*a->work_points));
    if (a->work_points)
        memcpy(a->work_points, grown.points, grown.count * sizeof(*grown.points));
    else
        rc = hm__fail_nomem(err);
    if (rc == 0)
        a->work = fewest_within(a, grown.points, grown.count, c->reference.total_s, "work");
    hm__curve_release(&grown);
    return rc;
}
