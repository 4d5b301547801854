/*
 * Judges the candidates that have a time: computes the cost and the value to be minimised, checks
 * the limits, and sorts the candidates. Each random draw of the fits gives a time for every
 * candidate. The probability that the first candidate is the best is the share of draws in which it
 * wins. Limit: there is no probability unless all candidates have draws.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "chance.h"
#include "err.h"
#include "recommend.h"
#include "student.h"

/*
 * Returns the cost of a candidate that takes time_s seconds: money, or worker-seconds unless a cost
 * is known for every candidate.
 */
static double candidate_expense(const struct hm_recommending *w,
                                const struct hm_recommend_candidate *t, double time_s)
{
    return w->priced ? t->r.cost * time_s / t->r.time_s : t->r.n * time_s;
}

double hm__recommend_value(const struct hm_recommending *w, const struct hm_recommend_candidate *t,
                           double time_s)
{
    switch (w->out->goal) {
    case HM_GOAL_COST:
        return candidate_expense(w, t, time_s);
    case HM_GOAL_BALANCE:
        return w->alpha * time_s + w->beta * candidate_expense(w, t, time_s);
    default:
        return time_s;
    }
}

/*
 * Returns the longest time that allows a candidate to meet the deadline and the budget; INFINITY
 * for no limit.
 */
static double candidate_limit_s(const struct hm_recommending *w,
                                const struct hm_recommend_candidate *t)
{
    double limit = w->q->deadline_s > 0 ? w->q->deadline_s : INFINITY;

    if (w->q->budget > 0 && t->r.cost > 0)
        limit = fmin(limit, t->r.time_s * w->q->budget / t->r.cost);
    return limit;
}

/*
 * Returns the larger of time / deadline and cost / budget if a candidate takes time_s seconds.
 */
static double candidate_excess(const struct hm_recommending *w,
                               const struct hm_recommend_candidate *t, double time_s)
{
    double over = 0;

    if (w->q->deadline_s > 0)
        over = time_s / w->q->deadline_s;
    if (w->q->budget > 0)
        over = fmax(over, t->r.cost * time_s / t->r.time_s / w->q->budget);
    return over;
}

static void judge_set_costs(struct hm_recommending *w)
{
    double rate = w->q->price_per_s > 0 ? w->q->price_per_s : w->rate;
    size_t known = 0, priced = 0;

    for (size_t i = 0; i < w->count; i++) {
        struct hm_recommend_candidate *t = &w->candidates[i];
        if (!t->known)
            continue;
        if (w->q->price_per_s > 0 || isnan(t->r.cost))
            t->r.cost = rate * t->r.n * t->r.time_s;
        known++;
        priced += isfinite(t->r.cost) ? 1 : 0;
    }
    w->priced = known > 0 && priced == known;
}

/*
 * Sets the weights of time and cost. A weight that the question does not specify is chosen so that
 * the shortest time and the lowest cost are equally important.
 */
static void judge_set_weights(struct hm_recommending *w)
{
    double time_s = INFINITY, money = INFINITY;

    for (size_t i = 0; i < w->count; i++) {
        const struct hm_recommend_candidate *t = &w->candidates[i];
        if (!t->known)
            continue;
        time_s = fmin(time_s, t->r.time_s);
        money = fmin(money, candidate_expense(w, t, t->r.time_s));
    }
    w->alpha = w->q->alpha > 0 ? w->q->alpha : 1 / fmax(time_s, 1e-300);
    w->beta = w->q->beta > 0 ? w->q->beta : 1 / fmax(money, 1e-300);
}

static int check_budget(const struct hm_recommending *w, struct hm_err *err)
{
    if (!(w->q->budget > 0) || w->priced)
        return 0;
    hm__fail(err, HM_E_MISSING, "a budget needs a price, but no price is known");
    hm__err_hint(err, "give the price of a worker, such as $1/h, or a column cost");
    hm__err_field(err, "budget");
    return HM_E_MISSING;
}

/*
 * Defines the order of candidates: first the candidates within the limits, sorted by value; then
 * the candidates beyond the limits, sorted by their excess; then the candidates whose time is not
 * known.
 */
static int compare_recommended(const void *a, const void *b)
{
    const struct hm_recommend_candidate *x = a, *y = b;

    if (x->known != y->known)
        return x->known ? -1 : 1;
    if (x->known && x->r.feasible != y->r.feasible)
        return x->r.feasible ? -1 : 1;
    double v = x->r.feasible ? x->r.value : x->excess, u = y->r.feasible ? y->r.value : y->excess;
    if (x->known && v != u)
        return v < u ? -1 : 1;
    return x->r.n < y->r.n ? -1 : x->r.n > y->r.n;
}

/* Returns the upper bound on the time of a candidate that holds with the required probability. */
static double candidate_bound_s(const struct hm_recommending *w,
                                const struct hm_recommend_candidate *t)
{
    const struct hm_span span = {t->r.low_s, t->r.time_s, t->r.high_s, w->out->level};

    return !(w->out->certainty > 0) ? t->r.time_s : hm__span_bound(&span, w->out->certainty);
}

/*
 * Returns the probability that a candidate meets the limits; NaN if there are no limits or the
 * probability is unknown.
 */
static double candidate_meets(const struct hm_recommending *w,
                              const struct hm_recommend_candidate *t)
{
    const struct hm_span span = {t->r.low_s, t->r.time_s, t->r.high_s, w->out->level};
    double limit = candidate_limit_s(w, t);

    return isinf(limit) ? NAN : hm__span_chance(&span, limit);
}

/*
 * Names the limit that no candidate meets: the deadline, the budget, or, if each of them alone can
 * be met, both.
 */
static const char *judge_missed_limit(const struct hm_recommending *w)
{
    bool in_time = w->q->deadline_s <= 0, in_budget = w->q->budget <= 0;

    for (size_t i = 0; i < w->count; i++) {
        const struct hm_recommended *r = &w->candidates[i].r;
        if (!w->candidates[i].known)
            continue;
        double late = candidate_bound_s(w, &w->candidates[i]) / r->time_s;
        in_time = in_time || r->time_s * late <= w->q->deadline_s;
        in_budget = in_budget || r->cost * late <= w->q->budget;
    }
    return !in_time ? "deadline" : !in_budget ? "budget" : "deadline and budget";
}

/*
 * Returns whether the first candidate can be compared with all others; false if a candidate without
 * a time may be better.
 */
static bool judge_can_compare(const struct hm_recommending *w)
{
    for (size_t i = 0; i < w->count; i++) {
        const struct hm_recommend_candidate *t = &w->candidates[i];
        bool worse = t->r.failed || t->floor_s > w->candidates[0].r.time_s;
        if (t->known ? !t->draws : !worse)
            return false;
    }
    return w->count > 1 && w->candidates[1].known && w->draw_count > 0;
}

/*
 * Adds up the loss of every candidate over the draws: the fraction by which its value exceeds the
 * value of the best candidate in the draw, at most 1.
 */
static void judge_losses(const struct hm_recommending *w, size_t count, double *losses)
{
    for (size_t d = 0; d < w->draw_count && !hm__budget_spent("n"); d++) {
        double least = INFINITY;
        for (size_t i = 0; i < count; i++)
            least =
                fmin(least, hm__recommend_value(w, &w->candidates[i], w->candidates[i].draws[d]));
        for (size_t i = 0; i < count; i++) {
            double value = hm__recommend_value(w, &w->candidates[i], w->candidates[i].draws[d]);
            losses[i] += fmin(value / fmax(least, 1e-300) - 1, 1);
        }
    }
}

/*
 * If the first candidate was not run, moves the candidate with the smallest mean loss over the
 * draws to the first place, as a plan does. The curve beyond the runs is uncertain, and the most
 * likely curve alone would hide this uncertainty. If the first candidate was run, its measured time
 * is trusted and nothing is changed.
 */
static int judge_least_loss(struct hm_recommending *w, struct hm_err *err)
{
    size_t count = 0, best = 0;

    if (w->candidates[0].r.row_count > 0 || !judge_can_compare(w))
        return 0;
    while (count < w->count && w->candidates[count].known && w->candidates[count].r.feasible)
        count++;
    double *losses = hm__calloc(count, sizeof(*losses));
    if (!losses)
        return hm__fail_nomem(err);
    judge_losses(w, count, losses);
    int rc = hm__budget_check("n", err);
    if (rc) {
        hm__free(losses);
        return rc;
    }
    for (size_t i = 1; i < count; i++)
        if (losses[i] < losses[best] * (1 - 1e-9))
            best = i;
    struct hm_recommend_candidate chosen = w->candidates[best];
    memmove(w->candidates + 1, w->candidates, best * sizeof(*w->candidates));
    w->candidates[0] = chosen;
    hm__free(losses);
    return 0;
}

/*
 * Sets the recommended candidate: the fewest workers within the limits whose value is within the
 * slack of the best.
 */
static void judge_recommend(struct hm_recommending *w)
{
    struct hm_recommendation *out = w->out;
    const struct hm_recommend_candidate *all = w->candidates;
    double limit = (1 + out->slack) * all[0].r.value * (1 + 1e-12);

    out->recommended = 0;
    for (size_t i = 1; i < w->count && all[i].known && all[i].r.feasible; i++)
        if (all[i].r.value <= limit && all[i].r.n < all[out->recommended].r.n)
            out->recommended = i;
    if (all[out->recommended].r.n > w->node_workers)
        out->one_node = w->node_workers;
}

/* Returns whether the recommended candidate has more or fewer workers than all runs. */
static bool judge_is_beyond(const struct hm_recommending *w)
{
    double low = INFINITY, high = 0, n = w->candidates[w->out->recommended].r.n;

    for (size_t i = 0; i < w->picked_count; i++) {
        low = fmin(low, w->n[w->picked[i]]);
        high = fmax(high, w->n[w->picked[i]]);
    }
    return w->picked_count > 0 && (n < low || n > high);
}

/*
 * Counts the draws in which the recommended candidate is the best, and the draws in which it is
 * within the slack of the best, and sets the interval for the best n. Candidates that do not meet
 * the limits with the required probability are never the best.
 */
static int judge_certainty(struct hm_recommending *w, struct hm_err *err)
{
    struct hm_recommendation *out = w->out;
    const struct hm_recommend_candidate *choice = &w->candidates[out->recommended];
    double wins = 0, near = 0, draws = (double)w->draw_count;

    if (!judge_can_compare(w))
        return 0;
    double *chosen = hm__calloc(w->draw_count, sizeof(*chosen));
    if (!chosen)
        return hm__fail_nomem(err);
    int rc = 0;
    for (size_t d = 0; rc == 0 && d < w->draw_count; d++) {
        size_t best = 0;
        rc = hm__budget_check("n", err);
        double least = hm__recommend_value(w, w->candidates, w->candidates[0].draws[d]);
        for (size_t i = 1; i < w->count && w->candidates[i].known && w->candidates[i].r.feasible;
             i++) {
            double value = hm__recommend_value(w, &w->candidates[i], w->candidates[i].draws[d]);
            if (value < least) {
                least = value;
                best = i;
            }
        }
        wins += best == out->recommended;
        near += hm__recommend_value(w, choice, choice->draws[d]) <= (1 + out->slack) * least;
        chosen[d] = w->candidates[best].r.n;
    }
    size_t runs = w->fitted > out->row_count ? w->fitted : out->row_count;
    double most = hm__chance_most(runs, judge_is_beyond(w));
    out->sure = fmin(wins / draws, most);
    out->sure_near = fmin(near / draws, most);
    out->n_low = hm__quantile(chosen, w->draw_count, (1 - out->level) / 2);
    out->n_high = hm__quantile(chosen, w->draw_count, (1 + out->level) / 2);
    hm__free(chosen);
    return rc;
}

/* Adds a note if the limits are compared with a time whose error is not known. */
static int note_recommend_limits(struct hm_recommending *w, struct hm_err *err)
{
    if (isinf(candidate_limit_s(w, &w->candidates[0])) || !isnan(w->candidates[0].r.meets))
        return 0;
    return hm__notes_add(hm__recommend_notes(w), err,
                         "the error of the time is not known: deadline and budget are compared "
                         "with the time itself");
}

static int note_goal(struct hm_recommending *w, struct hm_err *err)
{
    if (w->out->goal == HM_GOAL_TIME)
        return 0;
    int rc = w->priced ? 0
                       : hm__notes_add(hm__recommend_notes(w), err,
                                       "no price is known: the cheapest is the one with the "
                                       "fewest worker-seconds");
    if (rc || w->out->goal != HM_GOAL_BALANCE)
        return rc;
    bool own = w->q->alpha > 0 || w->q->beta > 0;
    return hm__notes_add(hm__recommend_notes(w), err, "balance: %.3g a second, %.3g a %s%s",
                         w->alpha, w->beta, w->priced ? "dollar" : "worker-second",
                         own ? ""
                             : ", so that the least time and the least cost have equal weight");
}

/*
 * Writes the list of candidates of the recommendation: first the candidates with a time, then the
 * candidates that fail.
 */
static int judge_list(struct hm_recommending *w, struct hm_err *err)
{
    struct hm_recommendation *out = w->out;

    out->candidates = hm__arena_alloc(w->arena, w->count ? w->count : 1, sizeof(*out->candidates));
    if (!out->candidates)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < w->count; i++)
        if (w->candidates[i].known)
            out->candidates[out->candidate_count++] = w->candidates[i].r;
    for (size_t i = 0; i < w->count; i++)
        if (w->candidates[i].r.failed)
            out->candidates[out->candidate_count++] = w->candidates[i].r;
    return 0;
}

int hm__recommend_judge(struct hm_recommending *w, struct hm_err *err)
{
    judge_set_costs(w);
    judge_set_weights(w);
    int rc = check_budget(w, err);
    for (size_t i = 0; rc == 0 && i < w->count; i++) {
        struct hm_recommend_candidate *t = &w->candidates[i];
        t->r.meets = NAN;
        if (!t->known)
            continue;
        t->r.value = hm__recommend_value(w, t, t->r.time_s);
        t->excess = candidate_excess(w, t, candidate_bound_s(w, t));
        t->r.feasible = t->excess <= 1;
        t->r.meets = candidate_meets(w, t);
    }
    if (rc)
        return rc;
    if (w->count > 0)
        qsort(w->candidates, w->count, sizeof(*w->candidates), compare_recommended);
    bool any = w->count > 0 && w->candidates[0].known;
    w->out->best = any && w->candidates[0].r.feasible ? 0 : HM_NONE;
    if (any && w->out->best == HM_NONE)
        w->out->missed = judge_missed_limit(w);
    if (w->out->best != HM_NONE) {
        rc = judge_least_loss(w, err);
        judge_recommend(w);
        if (rc == 0)
            rc = judge_certainty(w, err);
    }
    if (rc == 0 && any)
        rc = note_recommend_limits(w, err);
    if (rc == 0 && any)
        rc = note_goal(w, err);
    return rc ? rc : judge_list(w, err);
}
