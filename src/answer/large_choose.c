/*
 * Chooses among the points of a plan for a transformer, as choose.c does for other jobs: the best
 * point for the goal, the recommended one (the fewest workers within the slack of the best), the
 * knee, and three alternatives. A deadline and a budget must be met with the probability that the
 * question asks for. Points of several machines are compared with each other.
 */
#include <math.h>

#include "chance.h"
#include "large_plan.h"

/* Coverage probability of the intervals for the times of large networks. */
static const double LARGE_LEVEL = 0.9;

/* Returns the time of the whole job in seconds, or of one step if the length of the job is not
 * given. */
static double choice_total_s(const struct hm_large_choice *c)
{
    return isnan(c->total_s) ? c->step.time_s : c->total_s;
}

/* Returns the cost of training with a layout: money if there is a price, otherwise node-seconds. */
static double choice_expense(const struct hm_large_choice *c)
{
    return isnan(c->cost) ? c->nodes * choice_total_s(c) : c->cost;
}

/* Returns the value that a goal minimises. */
static double choice_value(const struct hm_large_answer *a, const struct hm_large_choice *c,
                           enum hm_goal goal)
{
    double time = choice_total_s(c), expense = choice_expense(c);

    return goal == HM_GOAL_COST      ? expense
           : goal == HM_GOAL_BALANCE ? a->alpha * time + a->beta * expense
                                     : time;
}

/*
 * Returns the interval for the job's time, relative to the median. If the number of tokens is
 * derived from a target loss, the differences between scaling laws widen the interval.
 */
static struct hm_span choice_span(const struct hm_large_answer *a, const struct hm_large_choice *c)
{
    const struct hm_large_outlook *o = &a->outlook;
    double low = log(c->low_s / c->step.time_s), high = log(c->high_s / c->step.time_s);

    if (!isnan(o->target)) {
        low = -hypot(low, log(o->least_tokens * o->factor / a->tokens));
        high = hypot(high, fmin(50, log(o->most_tokens * o->factor / a->tokens)));
    }
    return (struct hm_span){exp(low), 1, exp(high), LARGE_LEVEL};
}

double hm__large_bound(const struct hm_large_answer *a, const struct hm_large_choice *c,
                       double probability)
{
    const struct hm_span span = choice_span(a, c);

    return hm__span_bound(&span, probability);
}

void hm__large_judge(const struct hm_large_answer *a, const struct hm_large_question *q,
                     struct hm_large_choice *c)
{
    const struct hm_span span = choice_span(a, c);
    double certainty = hm__certainty_or_default(q->certainty);
    double limit = INFINITY, useful = isnan(c->total_s) ? 1 : fmax(1e-3, c->goodput);

    if (q->deadline_s > 0)
        limit = q->deadline_s / choice_total_s(c);
    if (q->budget >= 0 && c->cost > 0)
        limit = fmin(limit, q->budget / c->cost);
    c->low_total = span.low;
    c->high_total = span.high;
    c->meets = isinf(limit) ? NAN : hm__span_chance(&span, limit * useful);
    c->excess = hm__span_bound(&span, certainty) / (limit * useful);
}

static bool choice_allowed(const struct hm_large_choice *c)
{
    return c->fits && !(c->excess > 1);
}

/*
 * Returns the index of the point with the smallest value for a goal, among the points that fit in
 * memory and meet the limits; HM_NONE if there is none.
 */
static size_t points_best(const struct hm_large_answer *a, enum hm_goal goal)
{
    size_t best = HM_NONE;

    for (size_t i = 0; i < a->point_count; i++)
        if (choice_allowed(&a->points[i]) &&
            (best == HM_NONE ||
             choice_value(a, &a->points[i], goal) < choice_value(a, &a->points[best], goal)))
            best = i;
    return best;
}

/*
 * Returns whether a point is slower than the best point and costs more, if the goal is the cost:
 * then it has no advantage but its smaller number of workers, which the cost already contains.
 */
static bool choice_is_dominated(const struct hm_large_choice *c, const struct hm_large_choice *best,
                                enum hm_goal goal)
{
    return goal == HM_GOAL_COST && choice_total_s(c) > choice_total_s(best) &&
           choice_expense(c) > choice_expense(best);
}

/*
 * Returns the index of the allowed point with the fewest workers whose value is within the slack of
 * the best; if several points have this number of workers, returns the one with the smallest value.
 */
static size_t points_recommended(const struct hm_large_answer *a, enum hm_goal goal, size_t best)
{
    size_t found = best;

    for (size_t i = 0; best != HM_NONE && i < a->point_count; i++) {
        const struct hm_large_choice *c = &a->points[i], *f = &a->points[found];
        double value = choice_value(a, c, goal);
        if (!choice_allowed(c) || choice_is_dominated(c, &a->points[best], goal) ||
            value > (1 + a->slack) * choice_value(a, &a->points[best], goal) * (1 + 1e-12))
            continue;
        if (c->n < f->n || (c->n == f->n && value < choice_value(a, f, goal)))
            found = i;
    }
    return found;
}

/*
 * Returns the index of the knee for the recommended machine, which is its point with the largest
 * speedup^2 / n.
 */
static size_t points_knee(const struct hm_large_answer *a)
{
    size_t knee = HM_NONE;
    double most = 0;

    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_large_choice *c = &a->points[i];
        double power = 1 / (c->step.time_s * c->step.time_s * c->n);
        if (c->fits && c->machine == a->points[a->recommended].machine && power > most) {
            most = power;
            knee = i;
        }
    }
    return knee;
}

/* Returns whether a point exceeds the limits by a smaller factor. Every cost exceeds a budget of 0
 * by an infinite factor, so that the cost decides. */
static bool choice_exceeds_less(const struct hm_large_choice *c, const struct hm_large_choice *than)
{
    return c->excess < than->excess ||
           (isinf(c->excess) && isinf(than->excess) && c->cost < than->cost);
}

/*
 * If no point is allowed, chooses the one that exceeds the limits by the smallest factor; if no
 * point fits in memory, chooses the one with the most workers, which needs the least memory per
 * worker.
 */
static void choose_nearest(struct hm_large_answer *a, const struct hm_large_question *q)
{
    size_t near = 0;

    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_large_choice *c = &a->points[i], *n = &a->points[near];
        if (c->fits > n->fits || (c->fits == n->fits && (!c->fits || choice_exceeds_less(c, n))))
            near = i;
    }
    a->best = a->recommended = near;
    a->missed = !a->points[near].fits                 ? "memory"
                : q->deadline_s > 0 && q->budget >= 0 ? "deadline and budget"
                : q->deadline_s > 0                   ? "deadline"
                                                      : "budget";
}

/* Sets the three alternatives, if every machine has a price. */
static void choose_alternatives(struct hm_large_answer *a)
{
    for (size_t i = 0; i < a->point_count; i++)
        if (!(a->points[i].cost > 0))
            return;
    a->cheapest = points_best(a, HM_GOAL_COST);
    a->balanced = points_best(a, HM_GOAL_BALANCE);
    a->fastest = points_recommended(a, HM_GOAL_TIME, points_best(a, HM_GOAL_TIME));
    if (a->points[a->balanced].machine == a->points[a->fastest].machine &&
        a->points[a->balanced].n > a->points[a->fastest].n)
        a->balanced = a->fastest;
}

static enum hm_goal layouts_goal(const struct hm_large_question *q)
{
    return q->goal != HM_GOAL_AUTO               ? q->goal
           : !isnan(q->alpha) || !isnan(q->beta) ? HM_GOAL_BALANCE
           : q->deadline_s > 0                   ? HM_GOAL_COST
                                                 : HM_GOAL_TIME;
}

void hm__large_choose(struct hm_large_answer *a, const struct hm_large_question *q)
{
    bool limited = q->deadline_s > 0 || q->budget >= 0;
    double least[2] = {INFINITY, INFINITY};

    a->cheapest = a->balanced = a->fastest = a->knee = HM_NONE;
    a->certainty = limited ? hm__certainty_or_default(q->certainty) : NAN;
    a->deadline_s = q->deadline_s;
    a->budget = q->budget;
    a->goal = layouts_goal(q);
    for (size_t i = 0; i < a->point_count; i++) {
        struct hm_large_choice *c = &a->points[i];
        hm__large_judge(a, q, c);
        if (!choice_allowed(c))
            continue;
        least[0] = fmin(least[0], choice_total_s(c));
        least[1] = fmin(least[1], choice_expense(c));
    }
    a->alpha = isnan(q->alpha) ? 1 / least[0] : q->alpha;
    a->beta = isnan(q->beta) ? 1 / fmax(least[1], 1e-300) : q->beta;
    a->best = points_best(a, a->goal);
    a->feasible = a->best != HM_NONE;
    if (!a->feasible) {
        choose_nearest(a, q);
        return;
    }
    a->recommended = points_recommended(a, a->goal, a->best);
    a->knee = points_knee(a);
    choose_alternatives(a);
}
