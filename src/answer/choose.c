/*
 * Chooses points on a curve: the best one for the goal, the knee, the best one within the deadline
 * and the budget, the Pareto front, and, if no point meets the limits, the point that exceeds them
 * by the smallest factor.
 *
 * The knee maximises efficiency times speedup, s(n)^2/n, which gives the best ratio of efficiency
 * to execution time (Eager, Zahorjan, Lazowska: Speedup versus efficiency in parallel systems,
 * 1989). Limit: only values of n on the curve are compared.
 */
#include <math.h>
#include <stdlib.h>

#include "err.h"
#include "search.h"

/*
 * Returns bound_s / time_s of a point: the upper bound of the time that holds with the required
 * probability, relative to the expected time. Returns 1 if bound_s is not set.
 */
static double point_late(const struct hm_point *p)
{
    return p->bound_s > 0 ? p->bound_s / p->time_s : 1;
}

bool hm__search_allows(const struct hm_search *s, const struct hm_point *p)
{
    const struct hm_question *q = s->question;

    return p->fits && (q->deadline_s == 0 || p->total_s * point_late(p) <= q->deadline_s) &&
           (isnan(q->budget) || p->cost * point_late(p) <= q->budget);
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

/*
 * Returns whether point i has a smaller goal value than point k. If the values are equal, the
 * shorter time decides.
 */
static bool point_is_less(const struct hm_search *s, const struct hm_curve *c, size_t i, size_t k,
                          double (*value)(const struct hm_search *, const struct hm_point *))
{
    double x = value(s, &c->points[i]), y = value(s, &c->points[k]);
    return x < y || (x == y && c->points[i].total_s < c->points[k].total_s);
}

/*
 * Returns the index of the point with the smallest goal value among the points for which `allow` is
 * true. If several points have this value, returns the first of them.
 */
static size_t curve_least_index(const struct hm_search *s, const struct hm_curve *c,
                                double (*value)(const struct hm_search *, const struct hm_point *),
                                bool (*allow)(const struct hm_search *, const struct hm_point *))
{
    size_t best = HM_NONE;

    for (size_t i = 0; i < c->count; i++)
        if (allow(s, &c->points[i]) && (best == HM_NONE || point_is_less(s, c, i, best, value)))
            best = i;
    return best;
}

size_t hm__curve_best(const struct hm_search *s, const struct hm_curve *c)
{
    return curve_least_index(s, c, hm__search_value, hm__search_allows);
}

static double point_total(const struct hm_search *s, const struct hm_point *p)
{
    (void)s;
    return p->total_s;
}

static double point_memory(const struct hm_search *s, const struct hm_point *p)
{
    (void)s;
    return isnan(p->memory_bytes) ? 0 : p->memory_bytes; /* A point whose memory is unknown counts
                                                            as needing 0 bytes. */
}

static bool point_fits(const struct hm_search *s, const struct hm_point *p)
{
    (void)s;
    return p->fits;
}

/*
 * Factor by which a cost is multiplied to compute its excess over a budget of 0. Dividing by the
 * budget would make all excesses infinite and therefore equal.
 */
static const double NOTHING_OVER = 1e100;

/*
 * Returns the excess of a point over the limits: the larger of time / deadline and cost / budget,
 * where time and cost are the upper bounds that hold with the required probability. The excess is
 * at most 1 if the point meets both limits.
 */
static double point_excess(const struct hm_search *s, const struct hm_point *p)
{
    const struct hm_question *q = s->question;
    double over = 0;

    if (q->deadline_s > 0)
        over = p->total_s * point_late(p) / q->deadline_s;
    if (q->budget >= 0)
        over = fmax(over,
                    q->budget > 0 ? p->cost * point_late(p) / q->budget : p->cost * NOTHING_OVER);
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

/* Finds the knee of the speedup curve among the points up to the fastest one. */
static size_t curve_find_knee(const struct hm_search *s, const struct hm_curve *c)
{
    size_t fastest = curve_least_index(s, c, point_total, point_fits), knee = HM_NONE;
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

static size_t curve_cheapest_in_time(const struct hm_search *s, const struct hm_curve *c)
{
    struct hm_question q = *s->question;
    struct hm_search only = *s;

    if (q.deadline_s == 0)
        return HM_NONE;
    q.budget = NAN;
    only.question = &q;
    return curve_least_index(&only, c, hm__search_expense, hm__search_allows);
}

static size_t curve_fastest_in_budget(const struct hm_search *s, const struct hm_curve *c)
{
    struct hm_question q = *s->question;
    struct hm_search only = *s;

    if (isnan(q.budget))
        return HM_NONE;
    q.deadline_s = 0;
    only.question = &q;
    return curve_least_index(&only, c, point_total, hm__search_allows);
}

struct pareto_point {
    double total, expense;
    size_t index;
};

static int compare_pareto_points(const void *a, const void *b)
{
    const struct pareto_point *x = a, *y = b;

    if (x->total != y->total)
        return x->total < y->total ? -1 : 1;
    if (x->expense != y->expense)
        return x->expense < y->expense ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Collects the points for which no other point is both faster and cheaper, fastest first. */
static int answer_find_pareto(struct hm_answer *a, const struct hm_search *s,
                              const struct hm_curve *c, struct hm_err *err)
{
    struct pareto_point *order = hm__calloc(c->count, sizeof(*order));
    size_t count = 0;
    double least_expense = INFINITY;

    a->pareto = hm__arena_alloc(a->memory, c->count, sizeof(*a->pareto));
    if (!order || !a->pareto) {
        hm__free(order);
        return hm__fail_nomem(err);
    }
    for (size_t i = 0; i < c->count; i++)
        if (c->points[i].fits)
            order[count++] = (struct pareto_point){c->points[i].total_s,
                                                   hm__search_expense(s, &c->points[i]), i};
    qsort(order, count, sizeof(*order), compare_pareto_points);
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

double hm__search_slack(const struct hm_search *s)
{
    return isnan(s->question->slack) ? HM_DEFAULT_SLACK : s->question->slack;
}

/*
 * Returns whether point i is slower than the best point and costs more, if the goal is the cost:
 * then it has no advantage but its smaller number of workers, which the cost already contains.
 */
static bool curve_is_dominated(const struct hm_search *s, const struct hm_curve *c, size_t i,
                               size_t best)
{
    const struct hm_point *p = &c->points[i], *b = &c->points[best];

    return s->goal == HM_GOAL_COST && p->total_s > b->total_s &&
           hm__search_value(s, p) > hm__search_value(s, b);
}

size_t hm__curve_recommended(const struct hm_search *s, const struct hm_curve *c, size_t best)
{
    if (best == HM_NONE)
        return HM_NONE;
    /* The tolerance also accepts points whose values exceed the slack only by rounding errors. */
    const double limit =
        (1 + hm__search_slack(s)) * hm__search_value(s, &c->points[best]) * (1 + 1e-12);

    for (size_t i = 0; i < best; i++)
        if (hm__search_allows(s, &c->points[i]) && hm__search_value(s, &c->points[i]) <= limit &&
            !curve_is_dominated(s, c, i, best))
            return i;
    return best;
}

/*
 * Sets the recommended point, and the ratio of its machine-hours to the machine-hours of the knee.
 */
void hm__answer_recommend(struct hm_answer *a, const struct hm_search *s, const struct hm_curve *c)
{
    a->recommended = hm__curve_recommended(s, c, a->best);
    a->slack = hm__search_slack(s);
    a->knee_hours = NAN;
    if (a->recommended == HM_NONE)
        return;
    const struct hm_point *p = &c->points[a->recommended];
    if (a->knee != HM_NONE)
        a->knee_hours =
            p->nodes * p->total_s / (c->points[a->knee].nodes * c->points[a->knee].total_s);
}

/*
 * Names the limit that cannot be met: the deadline, the budget, or, if each of them alone can be
 * met, both.
 */
static const char *missed_limit(const struct hm_search *s, const struct hm_curve *c)
{
    const struct hm_question *q = s->question;

    if (q->deadline_s > 0 && curve_cheapest_in_time(s, c) == HM_NONE)
        return "deadline";
    if (q->budget >= 0 && curve_fastest_in_budget(s, c) == HM_NONE)
        return "budget";
    return "deadline and budget";
}

/*
 * Records the limit that is missed, and the point that exceeds it by the smallest factor. Called
 * only if no point meets the limits.
 */
static void answer_find_miss(struct hm_answer *a, const struct hm_search *s,
                             const struct hm_curve *c)
{
    size_t near = curve_least_index(s, c, point_excess, point_fits);

    a->status = HM_STATUS_UNREACHED;
    if (near == HM_NONE) {
        a->nearest = curve_least_index(s, c, point_memory, hm__point_sampled);
        a->missed = "memory";
        if (hm__search_memory(s) > 0)
            a->nearest_gap = c->points[a->nearest].memory_bytes / hm__search_memory(s);
        return;
    }
    a->nearest = near;
    a->nearest_gap = point_excess(s, &c->points[near]);
    if (a->nearest_gap > NOTHING_OVER / 1e50)
        a->nearest_gap = INFINITY;
    a->missed = missed_limit(s, c);
}

/* If one worker is fastest, records the fastest point with several workers and how much slower it
 * is, so that the answer can report both. */
static void answer_check_speedup(struct hm_answer *a, const struct hm_search *s,
                                 const struct hm_curve *c)
{
    size_t fastest = curve_least_index(s, c, point_total, point_fits), other = HM_NONE;

    if (s->goal != HM_GOAL_TIME || c->count < 2 || fastest != 0 || c->points[0].n != 1)
        return;
    for (size_t i = 1; i < c->count; i++)
        if (c->points[i].fits &&
            (other == HM_NONE || c->points[i].total_s < c->points[other].total_s))
            other = i;
    /* If no point with several workers fits in memory, there is no speedup to compare. */
    if (other == HM_NONE)
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
    a->knee = curve_find_knee(s, c);
    a->in_deadline = curve_cheapest_in_time(s, c);
    a->in_budget = curve_fastest_in_budget(s, c);
    a->faster = a->work = a->nearest = HM_NONE;
    if (a->best == HM_NONE) {
        answer_find_miss(a, s, c);
    } else {
        hm__answer_plateau(a, s, c);
        answer_check_speedup(a, s, c);
    }
    return answer_find_pareto(a, s, c, err);
}
