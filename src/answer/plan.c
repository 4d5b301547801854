/*
 * Implements hm_plan, which answers a question, with the model or a fit of runs as the source of
 * f(n), the time of an iteration on n workers. Every combination of machine, scheme and platform is
 * searched over all n; the answer describes the best combination in full, and ranks the others
 * below it with the reason why each is worse. mixes.c chooses the machines in a mixed cluster for
 * each n.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alternatives.h"
#include "budget.h"
#include "chance.h"
#include "checks.h"
#include "err.h"
#include "mixes.h"
#include "model_step.h"
#include "processes.h"
#include "search.h"
#include "sheet_error.h"
#include "slowness.h"
#include "way_time.h"
#include "ways.h"

struct candidate {
    struct hm_search search;
    /* Position of the combination in the question; if values are equal, the combination with the
     * smallest position is preferred. */
    size_t order;
    size_t group; /* Number of the group; candidates of one group differ only in the number of
                     servers. */
    bool feasible;
    /* The recommended point; if no point meets the limits, the point that exceeds them by the
     * smallest factor. */
    struct hm_point best;
    double value;
    /*
     * The smallest number of workers n at which the servers' links limit the speed; NaN if they
     * never do or there are no servers.
     */
    double saturates_n;
    const char *missed; /* Name of the limit that is missed if the candidate is not feasible. */
    /* Error that prevents the evaluation of the candidate; its code is 0 if there is no error. */
    struct hm_err err;
    /*
     * The model and its curve, both owned. Before the curve is computed and after it is released,
     * the model is NULL and the curve is empty.
     */
    struct hm_model *model;
    struct hm_curve curve;
    struct hm_trades trades; /* Times and costs of the curve's points; owned. */
};

struct plan_work {
    const struct hm_job *job;
    const struct hm_question *question;
    struct candidate *candidates;
    /* Number of candidates that are still being compared, and number of elements in the array. */
    size_t count, allocated;
    struct hm_parts *parts; /* Splits of the graph among n workers, n = 1..part_count; owned. */
    size_t part_count;
    /* Straggler tables, one for each cluster that needs one; owned. */
    struct hm_stragglers **stragglers;
    struct hm_step_table **tables; /* Step times, one table for each cluster; owned. */
    struct hm_mixes **mixes;       /* Mixes of each candidate on a mixed cluster, or NULL; owned. */
    size_t table_count;
    size_t straggler_count;
    struct hm_answer *answer;
};

/*
 * Computes the curve of a candidate, unless the candidate already has one. The curve of the best
 * candidate is kept for the answer.
 */
static int candidate_curve(struct candidate *c, struct hm_err *err)
{
    struct hm_variant variant = hm__search_variant(&c->search);
    bool ceiling;

    if (c->model)
        return 0;
    if (c->err.code) {
        if (err != &c->err && err)
            *err = c->err;
        return c->err.code;
    }
    int rc = hm__model_new(c->search.job, c->search.cluster, &variant, &c->model, err);
    if (rc)
        return rc;
    rc = hm__curve_init(&c->curve, &c->search, c->model, 1, hm__search_max_n(&c->search, &ceiling),
                        err);
    if (rc) {
        hm__model_free(c->model);
        c->model = NULL;
    }
    return rc;
}

static void candidate_release(struct candidate *c)
{
    if (!c->model)
        return;
    hm__curve_release(&c->curve);
    hm__model_free(c->model);
    c->model = NULL;
}

/* If no point of a combination meets the limits, chooses the point that exceeds them by the
 * smallest factor. */
static int candidate_find_miss(struct candidate *c, struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_answer scratch = {.memory = arena};
    int rc = arena ? hm__answer_choose(&scratch, &c->search, &c->curve, err) : hm__fail_nomem(err);

    if (rc == 0) {
        c->best = c->curve.points[scratch.nearest];
        c->missed = scratch.missed;
        c->value = scratch.nearest_gap;
    }
    hm__arena_free(arena);
    return rc;
}

static int candidate_evaluate(struct candidate *c, struct hm_err *err)
{
    int rc = candidate_curve(c, err);

    if (rc)
        return rc;
    size_t best = hm__curve_best(&c->search, &c->curve);
    c->saturates_n = hm__way_saturates(&c->search, &c->curve);
    c->feasible = best != HM_NONE;
    if (!c->feasible)
        return candidate_find_miss(c, err);
    rc = hm__trades_init(&c->trades, &c->search, &c->curve, err);
    if (rc)
        return rc;
    c->best = c->curve.points[hm__curve_recommended(&c->search, &c->curve, best)];
    c->value = hm__search_value(&c->search, &c->curve.points[best]);
    return 0;
}

static bool candidate_is_priced(const struct candidate *c)
{
    return c->search.cluster && hm__cluster_priced(c->search.cluster);
}

static bool plan_any_priced(const struct plan_work *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (candidate_is_priced(&p->candidates[i]))
            return true;
    return false;
}

static void candidate_drop(struct candidate *c, const char *missed)
{
    c->feasible = false;
    c->missed = missed;
    c->value = INFINITY;
}

/*
 * Returns whether a machine has no price while others have one, so that it cannot be compared with
 * them by cost.
 */
static bool candidate_lacks_price(const struct candidate *c, bool any_priced)
{
    return any_priced && !candidate_is_priced(c) &&
           (c->search.goal != HM_GOAL_TIME || c->search.question->budget >= 0);
}

/*
 * Chooses the weights of time and cost so that the shortest time and the lowest cost over all
 * candidates are equally important.
 */
static int plan_choose_weights(struct plan_work *p, struct hm_err *err)
{
    double time_s = INFINITY, expense = INFINITY;
    bool any = plan_any_priced(p);

    for (size_t i = 0; i < p->count; i++) {
        /* Errors are ignored here: candidates that cannot be evaluated are reported later. */
        struct hm_err ignored = {0};
        /*
         * If other candidates have prices, a candidate without one is skipped, because node-seconds
         * cannot be compared with money.
         */
        if (any && !candidate_is_priced(&p->candidates[i]))
            continue;
        int rc = candidate_curve(&p->candidates[i], &ignored);
        if (rc == HM_E_NOMEM)
            return hm__fail_nomem(err);
        if (rc)
            continue;
        hm__curve_least(&p->candidates[i].search, &p->candidates[i].curve, &time_s, &expense);
    }
    for (size_t i = 0; i < p->count; i++) {
        struct hm_search *s = &p->candidates[i].search;
        if (isnan(s->alpha))
            s->alpha = 1 / fmax(time_s, 1e-300);
        if (isnan(s->beta))
            s->beta = 1 / fmax(expense, 1e-300);
    }
    return 0;
}

/*
 * Defines the order of candidates: first the candidates that meet the limits, sorted by value; then
 * the others, also sorted by value. Candidates with equal values keep their order in the question.
 */
static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->feasible != y->feasible)
        return x->feasible ? -1 : 1;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int check_plan_question(const struct plan_work *p, const struct hm_search *s,
                               struct hm_err *err)
{
    bool ceiling;

    if (p->question->budget >= 0 && !plan_any_priced(p)) {
        hm__fail(err, HM_E_MISSING, "a budget needs a price, and %s has none",
                 s->cluster && s->cluster->name ? s->cluster->name : "the cluster");
        hm__err_hint(err, "give cluster.price, such as $1/h");
        hm__err_field(err, "budget");
        return HM_E_MISSING;
    }
    if (s->weak && s->job->graph) {
        hm__fail(err, HM_E_CONFLICT, "weak scaling, but the graph stays the same for every n");
        hm__err_hint(err, "leave out scaling: weak");
        hm__err_field(err, "scaling");
        hm__err_at(err, s->job->source, 0);
        return HM_E_CONFLICT;
    }
    double most = hm__search_max_n(s, &ceiling);
    if (most >= 1 && most < s->reference && (ceiling || s->job->graph)) {
        hm__fail(err, HM_E_RANGE, "reference: %g workers are more than the largest n, %g",
                 s->reference, most);
        hm__err_field(err, "reference");
        return HM_E_RANGE;
    }
    return 0;
}

static enum hm_goal question_goal(const struct hm_question *q)
{
    if (q->goal != HM_GOAL_AUTO)
        return q->goal;
    if (q->alpha >= 0 || q->beta >= 0)
        return HM_GOAL_BALANCE;
    return q->deadline_s > 0 ? HM_GOAL_COST : HM_GOAL_TIME;
}

static int plan_make_candidates(struct plan_work *p, const struct hm_cluster *const *clusters,
                                size_t cluster_count, const enum hm_scheme *schemes,
                                size_t scheme_count, struct hm_err *err)
{
    const struct hm_cluster *own = p->job->has_cluster ? &p->job->cluster : NULL;
    size_t machines = cluster_count ? cluster_count : 1, schemed = scheme_count ? scheme_count : 1;
    const struct hm_question *q = p->question;
    size_t ways = hm__ways_count(q), asked;

    p->count = machines * schemed * ways;
    p->candidates = hm__calloc(p->count, sizeof(*p->candidates));
    if (!p->candidates)
        return hm__fail_nomem(err);
    p->allocated = p->count;
    for (size_t i = 0; i < p->count; i++) {
        struct candidate *c = &p->candidates[i];
        struct hm_way way = hm__ways_nth(q, i % ways, &asked);
        c->order = i;
        c->group = i / ways * (q->way_count + 1) + asked;
        c->search = (struct hm_search){
            .job = p->job,
            .cluster = cluster_count ? clusters[i / ways / schemed] : own,
            .question = q,
            .goal = question_goal(q),
            .scheme = scheme_count ? (int)schemes[i / ways % schemed] : -1,
            .way = way,
            .weak = q->weak || p->job->scaling == HM_SCALING_WEAK,
            .reference = q->reference > 0 ? q->reference : p->job->reference,
            .alpha = q->alpha,
            .beta = q->beta,
        };
    }
    return check_plan_question(p, &p->candidates[0].search, err);
}

/* Splits the job's graph for all numbers of workers that the candidates need. */
static int plan_split_graph(struct plan_work *p, struct hm_err *err)
{
    const struct hm_job *job = p->job;
    double most = 1;
    bool ceiling;

    if (!job->graph)
        return 0;
    for (size_t i = 0; i < p->count; i++)
        most = fmax(most, fmax(hm__search_max_n(&p->candidates[i].search, &ceiling),
                               p->candidates[i].search.reference));
    most = fmin(most, job->graph->vertices);
    p->part_count = (size_t)most;
    p->parts = hm__calloc(p->part_count, sizeof(*p->parts));
    double *n = hm__calloc(p->part_count, sizeof(*n));
    int rc = p->parts && n ? 0 : hm__fail_nomem(err);
    for (size_t i = 0; n && i < p->part_count; i++)
        n[i] = (double)i + 1;
    if (rc == 0)
        rc = hm_graph_split(job->graph, job->split, job->trials, job->seed, n, p->part_count,
                            p->parts, err);
    hm__free(n);
    for (size_t i = 0; i < p->count; i++) {
        p->candidates[i].search.parts = p->parts;
        p->candidates[i].search.part_count = p->part_count;
    }
    if (rc) {
        hm__err_field(err, "graph");
        hm__err_at(err, job->source, 0);
    }
    return rc;
}

/*
 * Returns the first candidate of a group whose value is close to the best value of the group. The
 * candidates are sorted by their number of servers, so fewer servers are preferred.
 */
static size_t group_pick(const struct plan_work *p, size_t from, size_t to)
{
    double least = INFINITY;
    bool feasible = false;

    for (size_t i = from; i < to; i++)
        feasible = feasible || p->candidates[i].feasible;
    for (size_t i = from; i < to; i++)
        if (p->candidates[i].feasible == feasible)
            least = fmin(least, p->candidates[i].value);
    for (size_t i = from; i < to; i++)
        if (p->candidates[i].feasible == feasible &&
            p->candidates[i].value <= hm__ways_fewer() * least)
            return i;
    return from;
}

/*
 * Creates one straggler table for each cluster that needs one. All evaluations on that cluster
 * share the cached values of the table.
 */
static int plan_make_stragglers(struct plan_work *p, struct hm_err *err)
{
    p->stragglers = hm__calloc(p->count, sizeof(struct hm_stragglers *));
    if (!p->stragglers)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < p->count; i++) {
        struct hm_search *s = &p->candidates[i].search;
        const struct hm_search *before = i > 0 ? &p->candidates[i - 1].search : NULL;
        if (before && s->cluster == before->cluster) {
            s->stragglers = before->stragglers;
        } else if (s->cluster && hm__slowness_any(&s->cluster->slowness)) {
            int rc = hm__stragglers_new(&s->cluster->slowness, false, &s->stragglers, err);
            if (rc)
                return rc;
            p->stragglers[p->straggler_count++] = s->stragglers;
        }
    }
    return 0;
}

/* Creates one table of step times for each cluster; all candidates on the cluster share it. */
static int plan_make_tables(struct plan_work *p, struct hm_err *err)
{
    p->tables = hm__calloc(p->count, sizeof(struct hm_step_table *));
    if (!p->tables)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < p->count; i++) {
        struct hm_search *s = &p->candidates[i].search;
        const struct hm_search *before = i > 0 ? &p->candidates[i - 1].search : NULL;
        if (before && s->cluster == before->cluster) {
            s->table = before->table;
            continue;
        }
        int rc = hm__model_table_new(s->job, s->cluster, NULL, &s->table, err);
        if (rc)
            return rc;
        if (s->table)
            p->tables[p->table_count++] = s->table;
    }
    return 0;
}

/*
 * Chooses the mixes of machines for candidates on mixed clusters. An error is kept with the
 * candidate, whose evaluation then fails.
 */
static int plan_make_mixes(struct plan_work *p, struct hm_err *err)
{
    p->mixes = hm__calloc(p->count, sizeof(struct hm_mixes *));
    if (!p->mixes)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < p->count; i++) {
        struct candidate *c = &p->candidates[i];
        if (!c->search.cluster || c->search.cluster->kind_count == 0)
            continue;
        bool same = i > 0 && p->mixes[i - 1] && p->mixes[i - 1]->cluster == c->search.cluster;
        int rc = hm__mixes_new(&c->search, same ? p->mixes[i - 1] : NULL, &p->mixes[i], &c->err);
        if (rc == HM_E_NOMEM)
            return hm__fail_nomem(err);
        c->search.mixes = p->mixes[i];
    }
    return 0;
}

static void plan_free_mixes(struct plan_work *p)
{
    for (size_t i = p->mixes ? p->allocated : 0; i-- > 0;) {
        const struct hm_mixes *before = i > 0 ? p->mixes[i - 1] : NULL;
        if (p->mixes[i])
            hm__mixes_free(p->mixes[i], !before || before->cluster != p->mixes[i]->cluster);
    }
    hm__free(p->mixes);
}

/* Evaluates the candidates from..to-1, which differ only in the number of servers. */
static int plan_evaluate_group(struct plan_work *p, size_t from, size_t to, bool any_priced,
                               struct hm_err *err)
{
    for (size_t i = from; i < to; i++) {
        int spent = hm__budget_check("max_n", err);
        if (spent)
            return spent;
        struct candidate *c = &p->candidates[i];
        if (candidate_evaluate(c, &c->err) == HM_E_NOMEM)
            return hm__fail_nomem(err);
        if (c->err.code)
            candidate_drop(c, "error");
        else if (candidate_lacks_price(c, any_priced))
            candidate_drop(c, "price");
    }
    return 0;
}

/*
 * Evaluates all candidates, keeps one candidate of each group, and releases all curves except the
 * curve of the best candidate, which the answer needs.
 */
static int plan_evaluate(struct plan_work *p, struct hm_err *err)
{
    bool any_priced = plan_any_priced(p);
    size_t kept = 0, best = 0;
    int rc = 0;

    for (size_t from = 0, to; rc == 0 && from < p->count; from = to) {
        for (to = from + 1; to < p->count && p->candidates[to].group == p->candidates[from].group;)
            to++;
        rc = plan_evaluate_group(p, from, to, any_priced, err);
        if (rc)
            break;
        size_t pick = group_pick(p, from, to);
        struct candidate chosen = p->candidates[pick];
        /* The curve, its model and the times and costs of its points now belong to `chosen`. */
        p->candidates[pick].model = NULL;
        p->candidates[pick].trades = (struct hm_trades){0};
        for (size_t i = from; i < to; i++) {
            candidate_release(&p->candidates[i]);
            hm__trades_release(&p->candidates[i].trades);
        }
        p->candidates[kept] = chosen;
        if (kept > 0 && compare_candidates(&p->candidates[kept], &p->candidates[best]) > 0) {
            candidate_release(&p->candidates[kept]);
        } else if (kept > 0) {
            candidate_release(&p->candidates[best]);
            best = kept;
        }
        kept++;
    }
    if (rc == 0)
        p->count = kept;
    return rc;
}

static int plan_rank_candidates(struct plan_work *p, struct hm_err *err)
{
    const struct hm_search *first = &p->candidates[0].search;
    int rc = 0;

    if (first->goal == HM_GOAL_BALANCE && (isnan(first->alpha) || isnan(first->beta)))
        rc = plan_choose_weights(p, err);
    if (rc == 0)
        rc = plan_evaluate(p, err);
    if (rc)
        return rc;
    qsort(p->candidates, p->count, sizeof(*p->candidates), compare_candidates);
    if (p->candidates[0].err.code &&
        err) /* If even the best candidate cannot be evaluated, the plan fails with its error. */
        *err = p->candidates[0].err;
    return p->candidates[0].err.code;
}

static const char *answer_copy_text(struct hm_answer *a, const char *text)
{
    return text ? hm__arena_strdup(a->memory, text) : NULL;
}

static const char *candidate_loss_text(struct hm_answer *a, const struct candidate *winner,
                                       const struct candidate *c)
{
    static const char *const words[] = {"", "slower", "the cost", "as bad"};

    if (c->err.code)
        return hm__arena_strdup(a->memory, c->err.message);
    if (!c->feasible && strcmp(c->missed, "price") == 0)
        return "its price is not known";
    if (!c->feasible)
        return hm__arena_printf(a->memory, "misses the %s", c->missed);
    double ratio = c->value / winner->value;
    if (!(ratio > 1.0005))
        return "as good";
    return hm__arena_printf(a->memory, "%.2fx %s", ratio, words[c->search.goal]);
}

static int fill_ranking(struct plan_work *p, struct hm_err *err)
{
    struct hm_answer *a = p->answer;

    if (p->count < 2)
        return 0;
    a->ranking = hm__arena_alloc(a->memory, p->count, sizeof(*a->ranking));
    if (!a->ranking)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < p->count; i++) {
        const struct candidate *c = &p->candidates[i];
        struct hm_rank *r = &a->ranking[i];
        *r = (struct hm_rank){.feasible = c->feasible,
                              .n = c->best.n,
                              .time_s = c->best.time_s,
                              .total_s = c->best.total_s,
                              .cost = c->best.cost,
                              .speedup = c->best.speedup,
                              .way = hm__way_at(&c->search.way, &c->best),
                              .samples_per_s = hm__search_samples_per_s(&c->search, &c->best),
                              .saturates_n = c->saturates_n};
        int rc = c->err.code ? 0 : hm__way_enough(&c->search, c->best.n, &r->servers_enough, err);
        if (rc)
            return rc;
        const char *name = c->search.cluster ? c->search.cluster->name : NULL;
        r->machine = hm__processes_chosen(c->search.cluster)
                         ? hm__arena_printf(a->memory, "%s, %.0f x %.0f threads", name ? name : "",
                                            c->search.cluster->node.accelerators,
                                            c->search.cluster->node.threads)
                         : answer_copy_text(a, name);
        r->scheme = c->search.scheme >= 0 ? hm_scheme_name((enum hm_scheme)c->search.scheme) : NULL;
        if (i > 0 || !c->feasible)
            r->why = candidate_loss_text(a, &p->candidates[0], c);
        if ((name && !r->machine) || ((i > 0 || !c->feasible) && !r->why))
            return hm__fail_nomem(err);
        a->rank_count++;
    }
    return 0;
}

/* Copies one alternative into the answer; evaluates its curve again if it was released. */
static int fill_alternative(struct hm_answer *a, struct candidate *c, size_t index,
                            struct hm_plan_alternative *ret, struct hm_err *err)
{
    const struct hm_cluster *cluster = c->search.cluster;
    int rc = candidate_curve(c, err);

    if (rc)
        return rc;
    *ret = (struct hm_plan_alternative){
        .machine = answer_copy_text(a, cluster->name),
        .accelerators = cluster->kind_count > 0 ? 1 : cluster->node.accelerators,
        .gpus = hm__cluster_has_gpus(cluster),
        .memory_bytes = hm__search_memory(&c->search),
        .way = hm__way_at(&c->search.way, &c->curve.points[index]),
        .point = c->curve.points[index]};
    if (!c->search.question->fit) {
        double level = hm__sheet_intervals(&c->search, &ret->point, 1);
        ret->point.meets = hm__point_chance(&c->search, &ret->point, level);
    }
    rc = cluster->name && !ret->machine ? hm__fail_nomem(err) : 0;
    return rc ? rc : hm__kind_names(a->memory, cluster, &ret->kinds, &ret->kind_count, err);
}

/*
 * Finds the three alternatives over all candidates. Points of the best candidate are copied from
 * the answer, because only these have intervals.
 */
static int fill_alternatives(struct plan_work *p, struct hm_err *err)
{
    struct hm_answer *a = p->answer;
    struct hm_trade_place places[HM_ALTERNATIVES];
    const struct hm_trades **trades = hm__calloc(p->count, sizeof(*trades));
    int rc = trades ? 0 : hm__fail_nomem(err);

    for (size_t i = 0; rc == 0 && i < p->count; i++)
        trades[i] = &p->candidates[i].trades;
    if (rc == 0 && a->best != HM_NONE && hm__trades_choose(trades, p->count, a->slack, places)) {
        a->alternatives = hm__arena_alloc(a->memory, HM_ALTERNATIVES, sizeof(*a->alternatives));
        rc = a->alternatives ? 0 : hm__fail_nomem(err);
        for (size_t k = 0; rc == 0 && k < HM_ALTERNATIVES; k++) {
            rc = fill_alternative(a, &p->candidates[places[k].candidate], places[k].index,
                                  &a->alternatives[k], err);
            if (rc == 0 && places[k].candidate == 0)
                a->alternatives[k].point = a->points[places[k].index];
        }
    }
    hm__free(trades);
    return rc;
}

static int fill_names(struct hm_answer *a, const struct hm_search *s, struct hm_err *err)
{
    const struct hm_cluster *c = s->cluster;
    const struct hm_job *job = s->job;

    a->job = answer_copy_text(a, job->name);
    a->machine = c ? answer_copy_text(a, c->name) : NULL;
    a->fabric = c ? answer_copy_text(a, c->fabric_name) : NULL;
    if ((job->name && !a->job) || (c && c->name && !a->machine) ||
        (c && c->fabric_name && !a->fabric))
        return hm__fail_nomem(err);
    a->measured_count = job->measured_count;
    a->measured = hm__arena_alloc(a->memory, job->measured_count, sizeof(*a->measured));
    if (!a->measured)
        return hm__fail_nomem(err);
    if (job->measured_count)
        memcpy(a->measured, job->measured, job->measured_count * sizeof(*a->measured));
    return hm__kind_names(a->memory, c, &a->kinds, &a->kind_count, err);
}

/* Fills in the fields of the answer that come directly from the search and its curve. */
static int fill_curve(struct hm_answer *a, const struct hm_search *s, const struct hm_curve *c,
                      struct hm_err *err)
{
    a->provenance = !s->question->fit ? "model" : hm__search_by_runs(s) ? "fit" : "model and runs";
    a->iterations = a->nearest_gap = a->plateau_from = a->plateau_to = NAN;
    a->level = a->sure = a->sure_near = a->n_low = a->n_high = NAN;
    a->beyond_n = a->beyond_speedup = NAN;
    a->samples_per_s = a->saturates_n = a->servers_enough = NAN;
    a->certainty = a->slack = a->one_node = a->knee_hours = a->advised_run_s = a->advised_within =
        NAN;
    a->recommended = HM_NONE;
    a->batch = s->job->batch > 0 ? s->job->batch : NAN;
    a->gpus = s->cluster && hm__cluster_has_gpus(s->cluster);
    a->goal = s->goal;
    a->scaling = s->weak ? HM_SCALING_WEAK : HM_SCALING_STRONG;
    a->question = *s->question;
    a->question.alpha = s->alpha;
    a->question.beta = s->beta;
    a->reference = s->reference;
    a->whole_job = s->job->iterations > 0 || s->job->epochs > 0;
    bool mixed = s->cluster && s->cluster->kind_count > 0;
    a->price_per_s = s->cluster && !mixed ? s->cluster->node.price_per_s : NAN;
    a->priced = s->cluster && hm__cluster_priced(s->cluster);
    a->accelerators = s->cluster && !mixed ? s->cluster->node.accelerators : 1;
    a->memory_bytes = hm__search_memory(s);
    a->points = hm__arena_alloc(a->memory, c->count, sizeof(*a->points));
    if (!a->points)
        return hm__fail_nomem(err);
    memcpy(a->points, c->points, c->count * sizeof(*a->points));
    a->point_count = c->count;
    return fill_names(a, s, err);
}

static int plan_answer(struct plan_work *p, struct hm_err *err)
{
    const struct candidate *winner = &p->candidates[0];
    const struct hm_search *s = &winner->search;
    const struct hm_curve *curve = &winner->curve;
    struct hm_answer *a = p->answer;
    int rc = fill_curve(a, s, curve, err);

    if (rc == 0)
        rc = hm__answer_choose(a, s, curve, err);
    if (rc == 0)
        rc = hm__answer_certainty(a, s, winner->model, curve, err);
    if (rc == 0) {
        hm__answer_recommend(a, s, curve);
        hm__answer_sheet_error(a, s);
        hm__answer_chances(a, s);
        rc = hm__answer_advise_runs(a, s, err);
    }
    if (rc == 0)
        rc = hm__answer_ways(a, s, curve, err);
    if (rc == 0)
        rc = hm__answer_explain(a, s, winner->model, curve, err);
    if (rc == 0)
        rc = hm__answer_scenarios(a, s, curve, err);
    if (rc == 0)
        rc = hm__answer_notes(a, s, winner->model, curve->reference.fits, err);
    if (rc == 0 && a->recommended != HM_NONE && a->whole_job)
        a->iterations = hm__search_iterations(s, 1, a->points[a->recommended].n);
    return rc;
}

/*
 * Returns the time in seconds of the best point for one process on all cores of the best machine;
 * NaN if the plan does not choose the number of processes.
 */
static double plan_single_s(const struct plan_work *p)
{
    const struct hm_search *best = &p->candidates[0].search;

    for (size_t i = 0; hm__processes_chosen(best->cluster) && i < p->count; i++) {
        const struct hm_search *s = &p->candidates[i].search;
        if (p->candidates[i].feasible && hm__processes_chosen(s->cluster) &&
            s->cluster->name == best->cluster->name && s->cluster->node.accelerators == 1 &&
            s->scheme == best->scheme && s->way.platform == best->way.platform)
            return p->candidates[i].best.total_s;
    }
    return NAN;
}

int hm_plan(const struct hm_job *job, const struct hm_cluster *const *clusters,
            size_t cluster_count, const enum hm_scheme *schemes, size_t scheme_count,
            const struct hm_question *question, struct hm_answer **ret_answer, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "ret_answer", ret_answer, NULL);
    if (bad == 0)
        bad = hm_job_check(job, err);
    if (bad == 0)
        bad = hm__check_array(clusters, cluster_count, "clusters", err);
    if (bad == 0)
        bad = hm__check_array(schemes, scheme_count, "schemes", err);
    if (bad)
        return bad;
    struct plan_work p = {.job = job, .question = question};
    struct hm_arena *arena = NULL;
    int rc = hm_question_check(question, err);

    if (rc == 0)
        rc = hm__plan_check(job, clusters, cluster_count, schemes, scheme_count, question, err);
    if (rc == 0)
        rc = hm__plan_admit(job, clusters, cluster_count, question, err);
    if (rc == 0 && !(arena = hm__arena_new()))
        rc = hm__fail_nomem(err);
    if (rc == 0 && !(p.answer = hm__arena_alloc(arena, 1, sizeof(*p.answer))))
        rc = hm__fail_nomem(err);
    if (rc == 0) {
        p.answer->memory = arena;
        if (!question->fit)
            rc = hm__processes_expand(job, clusters, cluster_count, arena, &clusters,
                                      &cluster_count, err);
    }
    if (rc == 0)
        rc = plan_make_candidates(&p, clusters, cluster_count, schemes, scheme_count, err);
    if (rc == 0)
        rc = plan_make_stragglers(&p, err);
    if (rc == 0)
        rc = plan_make_tables(&p, err);
    if (rc == 0)
        rc = plan_split_graph(&p, err);
    if (rc == 0)
        rc = plan_make_mixes(&p, err);
    if (rc == 0)
        rc = plan_rank_candidates(&p, err);
    if (rc == 0)
        rc = plan_answer(&p, err);
    if (rc == 0)
        rc = hm__answer_processes(p.answer, &p.candidates[0].search, plan_single_s(&p), err);
    if (rc == 0)
        rc = fill_ranking(&p, err);
    if (rc == 0)
        rc = fill_alternatives(&p, err);
    for (size_t i = 0; p.candidates && i < p.allocated; i++) {
        candidate_release(&p.candidates[i]);
        hm__trades_release(&p.candidates[i].trades);
    }
    hm__free(p.candidates);
    for (size_t i = 0; i < p.straggler_count; i++)
        hm__stragglers_free(p.stragglers[i]);
    hm__free(p.stragglers);
    for (size_t i = 0; i < p.table_count; i++)
        hm__step_table_free(p.tables[i]);
    hm__free(p.tables);
    plan_free_mixes(&p);
    hm__free(p.parts);
    if (rc == 0)
        *ret_answer = p.answer;
    else
        hm__arena_free(arena);
    return rc;
}
