/*
 * Choosing points on a curve: the best for the goal, the knee, the ends of deadline and budget, the
 * Pareto front, and the nearest miss when nothing will do.
 *
 * The knee is where efficiency times speedup, s(n)^2/n, is largest: the best ratio of efficiency to
 * execution time (Eager, Zahorjan, Lazowska: Speedup versus efficiency in parallel systems, 1989).
 */
#include <math.h>
#include <stdlib.h>

#include "err.h"
#include "search.h"

bool hm__search_allows(const struct hm_search *s, const struct hm_point *p)
{
    const struct hm_question *q = s->question;

    return p->fits && (q->deadline_s == 0 || p->total_s <= q->deadline_s) &&
           (isnan(q->budget) || p->cost <= q->budget);
}

double hm__search_value(const struct hm_search *s, const struct hm_point *p)
{
    switch (s->goal) {
    case HM_GOAL_COST:
        return hm__search_expense(s, p);
    case HM_GOAL_BALANCE:
        return s->alpha * p->total_s + s->beta * hm__search_expense(s, p);
    default:
        return p->total_s;
    }
}

/* Smaller value, or the same in less time (where nothing costs anything, say). */
static bool less(const struct hm_search *s, const struct hm_curve *c, size_t i, size_t k,
                 double (*value)(const struct hm_search *, const struct hm_point *))
{
    double x = value(s, &c->points[i]), y = value(s, &c->points[k]);
    return x < y || (x == y && c->points[i].total_s < c->points[k].total_s);
}

/* Index of the smallest value among the points that `allow` lets through. */
static size_t least(const struct hm_search *s, const struct hm_curve *c,
                    double (*value)(const struct hm_search *, const struct hm_point *),
                    bool (*allow)(const struct hm_search *, const struct hm_point *))
{
    size_t best = HM_NONE;

    for (size_t i = 0; i < c->count; i++)
        if (allow(s, &c->points[i]) && (best == HM_NONE || less(s, c, i, best, value)))
            best = i;
    return best;
}

size_t hm__curve_best(const struct hm_search *s, const struct hm_curve *c)
{
    return least(s, c, hm__search_value, hm__search_allows);
}

static double total(const struct hm_search *s, const struct hm_point *p)
{
    (void)s;
    return p->total_s;
}

static double memory(const struct hm_search *s, const struct hm_point *p)
{
    (void)s;
    return isnan(p->memory_bytes) ? 0 : p->memory_bytes; /* Unknown memory limits nothing. */
}

static bool fits(const struct hm_search *s, const struct hm_point *p)
{
    (void)s;
    return p->fits;
}

/* With a budget of nothing every cost is infinitely over it; the order must remain. */
static const double NOTHING_OVER = 1e100;

/* How many times over the limits a point is; at most 1 when it meets them. */
static double excess(const struct hm_search *s, const struct hm_point *p)
{
    const struct hm_question *q = s->question;
    double over = 0;

    if (q->deadline_s > 0)
        over = p->total_s / q->deadline_s;
    if (q->budget >= 0)
        over = fmax(over, q->budget > 0 ? p->cost / q->budget : p->cost * NOTHING_OVER);
    return over;
}

void hm__curve_least(const struct hm_search *s, const struct hm_curve *c, double *time_s,
                     double *expense)
{
    for (size_t i = 0; i < c->count; i++) {
        if (!c->points[i].fits)
            continue;
        *time_s = fmin(*time_s, c->points[i].total_s);
        *expense = fmin(*expense, hm__search_expense(s, &c->points[i]));
    }
}

/* The knee of the speedup curve, looked for up to the fastest point. */
static size_t find_knee(const struct hm_search *s, const struct hm_curve *c)
{
    size_t fastest = least(s, c, total, fits), knee = HM_NONE;
    double most = 0;

    for (size_t i = 0; fastest != HM_NONE && i <= fastest; i++) {
        const struct hm_point *p = &c->points[i];
        double power = p->speedup * p->speedup / p->n;
        if (p->fits && power > most) {
            most = power;
            knee = i;
        }
    }
    return knee;
}

static size_t cheapest_in_time(const struct hm_search *s, const struct hm_curve *c)
{
    struct hm_question q = *s->question;
    struct hm_search only = *s;

    if (q.deadline_s == 0)
        return HM_NONE;
    q.budget = NAN;
    only.question = &q;
    return least(&only, c, hm__search_expense, hm__search_allows);
}

static size_t fastest_for_money(const struct hm_search *s, const struct hm_curve *c)
{
    struct hm_question q = *s->question;
    struct hm_search only = *s;

    if (isnan(q.budget))
        return HM_NONE;
    q.deadline_s = 0;
    only.question = &q;
    return least(&only, c, total, hm__search_allows);
}

struct ranked {
    double total, expense;
    size_t index;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->total != y->total)
        return x->total < y->total ? -1 : 1;
    if (x->expense != y->expense)
        return x->expense < y->expense ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Points that no other beats in both time and expense, fastest first. */
static int find_pareto(struct hm_answer *a, const struct hm_search *s, const struct hm_curve *c,
                       struct hm_err *err)
{
    struct ranked *order = hm__calloc(c->count, sizeof(*order));
    size_t count = 0;
    double least_expense = INFINITY;

    a->pareto = hm__arena_alloc(a->memory, c->count, sizeof(*a->pareto));
    if (!order || !a->pareto) {
        hm__free(order);
        return hm__fail_nomem(err);
    }
    for (size_t i = 0; i < c->count; i++)
        if (c->points[i].fits)
            order[count++] =
                (struct ranked){c->points[i].total_s, hm__search_expense(s, &c->points[i]), i};
    qsort(order, count, sizeof(*order), compare_ranked);
    for (size_t i = 0; i < count; i++) {
        if (order[i].expense >= least_expense)
            continue;
        least_expense = order[i].expense;
        a->pareto[a->pareto_count++] = order[i].index;
    }
    hm__free(order);
    return 0;
}

void hm__answer_plateau(struct hm_answer *a, const struct hm_search *s, const struct hm_curve *c)
{
    const double limit = 1.05 * hm__search_value(s, &c->points[a->best]);
    size_t from = a->best, to = a->best;

    while (from > 0 && hm__search_allows(s, &c->points[from - 1]) &&
           hm__search_value(s, &c->points[from - 1]) <= limit)
        from--;
    while (to + 1 < c->count && hm__search_allows(s, &c->points[to + 1]) &&
           hm__search_value(s, &c->points[to + 1]) <= limit)
        to++;
    a->plateau_from = c->points[from].n;
    a->plateau_to = c->points[to].n;
}

/* Whether every worker has a sample: the rule that has nothing to do with memory. */
static bool sampled(const struct hm_search *s, const struct hm_point *p)
{
    return s->weak || s->job->compute || !s->job->network || p->n <= s->job->batch;
}

/* Which limit cannot be met: one of the two by itself, or only both together. */
static const char *name_miss(const struct hm_search *s, const struct hm_curve *c)
{
    const struct hm_question *q = s->question;

    if (q->deadline_s > 0 && cheapest_in_time(s, c) == HM_NONE)
        return "deadline";
    if (q->budget >= 0 && fastest_for_money(s, c) == HM_NONE)
        return "budget";
    return "deadline and budget";
}

/* Nothing is allowed: say what is missed and by how much at the nearest point. */
static void find_miss(struct hm_answer *a, const struct hm_search *s, const struct hm_curve *c)
{
    size_t near = least(s, c, excess, fits);

    a->status = HM_STATUS_UNREACHED;
    if (near == HM_NONE) {
        a->nearest = least(s, c, memory, sampled);
        a->missed = "memory";
        if (s->cluster && s->cluster->node.memory_bytes > 0)
            a->nearest_gap = c->points[a->nearest].memory_bytes / s->cluster->node.memory_bytes;
        return;
    }
    a->nearest = near;
    a->nearest_gap = excess(s, &c->points[near]);
    if (a->nearest_gap > NOTHING_OVER / 1e50)
        a->nearest_gap = INFINITY;
    a->missed = name_miss(s, c);
}

/* More workers do not help at all: the nearest miss is the best of the others. */
static void check_speedup(struct hm_answer *a, const struct hm_search *s, const struct hm_curve *c)
{
    size_t fastest = least(s, c, total, fits), other = HM_NONE;

    if (s->goal != HM_GOAL_TIME || c->count < 2 || fastest != 0 || c->points[0].n != 1)
        return;
    for (size_t i = 1; i < c->count; i++)
        if (c->points[i].fits &&
            (other == HM_NONE || c->points[i].total_s < c->points[other].total_s))
            other = i;
    if (other == HM_NONE) /* nothing else fits: that is not a question of speed */
        return;
    a->status = HM_STATUS_NO_SPEEDUP;
    a->missed = "speedup";
    a->nearest = other;
    a->nearest_gap = c->points[other].total_s / c->points[0].total_s;
}

int hm__answer_choose(struct hm_answer *a, const struct hm_search *s, const struct hm_curve *c,
                      struct hm_err *err)
{
    a->best = hm__curve_best(s, c);
    a->knee = find_knee(s, c);
    a->in_deadline = cheapest_in_time(s, c);
    a->in_budget = fastest_for_money(s, c);
    a->faster = a->work = a->nearest = HM_NONE;
    if (a->best == HM_NONE) {
        find_miss(a, s, c);
    } else {
        hm__answer_plateau(a, s, c);
        check_speedup(a, s, c);
    }
    return find_pareto(a, s, c, err);
}
