/*
 * Finds the leading candidate at each loss, and the additional run that would be most useful.
 *
 * The usefulness of a run is the expected saving from knowing its result (Raiffa and Schlaifer
 * 1961), measured as a time, a cost or a loss. For the candidate ranked first, the saving in a draw
 * is the amount by which this candidate is worse than the expected value of the second; for any
 * other candidate, the amount by which it is better than the expected value of the first. Draws
 * without such a difference count as 0. If a candidate has already been measured k times, another
 * run removes the fraction 1 / (k + 1) of its uncertainty. Limit: the leading candidate is computed
 * at LEVELS values of the loss and from LEAD_DRAWS draws.
 */
#include <math.h>
#include <string.h>

#include "advise_parts.h"
#include "budget.h"
#include "err.h"

enum { LEVELS = 25, LEAD_DRAWS = 16 };

/* Another candidate takes the lead if its time is below this fraction of the leader's time. */
static const double AHEAD = 0.95;
/* A run is proposed if it is expected to save more than this fraction of the time, cost or loss. */
static const double WORTH = 0.01;

/* ---- leads ----------------------------------------------------------------------------------- */

/*
 * Returns the expected time (or cost) to reach a target loss, as the mean over LEAD_DRAWS draws of
 * the fits; INFINITY if most of these draws do not reach it. `level` is the target as ln(P - P*),
 * where P is the loss and P* is the lowest possible loss.
 */
static double runner_expected_to(const struct hm_advising *a, const struct hm_runner *r,
                                 double level)
{
    double times[LEAD_DRAWS];
    size_t there;
    double expected = hm__runner_times(r, level, HM_G_DRAWS / LEAD_DRAWS, times, &there);

    if (2 * there < LEAD_DRAWS)
        return INFINITY;
    return a->question->goal == HM_GOAL_COST ? hm__advising_price(a, r, expected) : expected;
}

/*
 * Finds the candidate that reaches a loss, given as ln(P - P*) in `level`, in the shortest time or
 * at the lowest cost. The previous leader is kept unless another candidate is clearly better.
 */
static const struct hm_runner *advising_leader(const struct hm_advising *a, double level,
                                               const struct hm_runner *before)
{
    const struct hm_runner *best = before ? before : &a->runners[a->order[0]];
    double least = before ? AHEAD * runner_expected_to(a, before, level) : INFINITY;

    for (size_t k = 0; k < a->count && !hm__budget_spent("m"); k++) {
        const struct hm_runner *r = &a->runners[a->order[k]];
        double expected = runner_expected_to(a, r, level);
        if (expected < least) {
            least = expected;
            best = r;
        }
    }
    return best;
}

/*
 * Returns y = ln(P - P*), the logarithm of the excess loss, at the first iteration for which a draw
 * of the fit has a value. Traces may begin after iteration 1.
 */
static double runner_first_known(const struct hm_runner *r, size_t draw)
{
    const double *y = r->y + draw * r->grid.count;
    size_t p = 0;

    while (p + 1 < r->grid.count && isinf(y[p]))
        p++;
    return y[p];
}

/*
 * Returns the loss, as ln(P - P*), at which the comparison of candidates begins. It is the lowest
 * of the candidates' mean losses at their first known iteration.
 */
static double advising_first_level(const struct hm_advising *a)
{
    double level = INFINITY;

    for (size_t k = 0; k < a->count; k++) {
        const struct hm_runner *r = &a->runners[k];
        double sum = 0;
        for (size_t d = 0; d < HM_G_DRAWS; d++)
            sum += runner_first_known(r, d) / HM_G_DRAWS;
        level = fmin(level, sum);
    }
    return level;
}

int hm__advice_leads(struct hm_advising *a, struct hm_err *err)
{
    struct hm_advice *out = a->advice;
    const struct hm_runner *first = &a->runners[a->order[0]];
    double from = advising_first_level(a) + 1, to = a->for_loss ? a->level : first->expected;
    const struct hm_runner *last = NULL;

    out->leads = hm__arena_alloc(a->memory, LEVELS + 1, sizeof(*out->leads));
    if (!out->leads)
        return hm__fail_nomem(err);
    /* If all candidates start below the target, only the last level is left. */
    for (size_t k = from > to ? 0 : LEVELS - 1; isfinite(from) && isfinite(to) && k < LEVELS; k++) {
        double level = from + (to - from) * (double)k / (LEVELS - 1);
        bool end = k + 1 == LEVELS;
        const struct hm_runner *r = end && a->for_loss ? first : advising_leader(a, level, last);
        if (r != last) {
            double change = exp(level - (to - from) / (LEVELS - 1) / 2);
            if (out->lead_count > 0)
                out->leads[out->lead_count - 1].to = change;
            out->leads[out->lead_count++] =
                (struct hm_lead){.algorithm = r->name, .m = r->m, .from = last ? change : INFINITY};
        }
        last = r;
    }
    if (out->lead_count > 0)
        out->leads[out->lead_count - 1].to = exp(to);
    return 0;
}

/* ---- the next run ---------------------------------------------------------------------------- */

/* Returns the expected saving from another run of the candidate at position k of the ranking. */
static double candidate_worth(const struct hm_advising *a, size_t k)
{
    const struct hm_runner *r = &a->runners[a->order[k]];
    bool first = k == 0;
    double other = a->runners[a->order[first ? 1 : 0]].expected, sum = 0;

    for (size_t d = 0; d < HM_G_DRAWS; d++)
        sum += fmax(0, first ? r->value[d] - other : other - r->value[d]);
    /*
     * Draws in which the first candidate is better than the second save nothing, because knowing
     * them would not change the choice.
     */
    return sum / HM_G_DRAWS / (1 + (double)r->curves);
}

void hm__advice_next(struct hm_advising *a)
{
    struct hm_next_run *next = &a->advice->next;
    double first = a->runners[a->order[0]].expected;
    double least = a->for_loss ? WORTH * first : WORTH;

    for (size_t k = 0; a->count > 1 && k < a->count; k++) {
        const struct hm_candidate *c = &a->advice->candidates[k];
        double saves = candidate_worth(a, k);
        if (!(saves > least) || !(saves > next->saves) || !isfinite(c->time_s))
            continue;
        *next = (struct hm_next_run){.algorithm = c->algorithm,
                                     .m = c->m,
                                     .iterations = c->iterations,
                                     .time_s = c->time_s,
                                     .saves = saves};
    }
}
