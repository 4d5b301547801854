/*
 * Finds the one run that would help most. Its quantities (batch, latency, …) are the same as in the
 * question; only its number of workers n is chosen here. The choice depends on where the times of
 * the recommendation come from:
 *
 *   rows    the n without a matching run that a fit shows to be most likely better
 *   fit     an n without a predicted time that may be better; if there is none, the n whose time,
 *           once known, saves most on average (value of information, Raiffa and Schlaifer 1961)
 *   model   the recommended n, to check the model
 *   none    another n if only one n was run; otherwise the fastest n so far
 *
 * Limit: only one more run is considered at a time.
 */
#include <math.h>

#include "err.h"
#include "recommend.h"

/*
 * If the recommendation is the best with probability SURE or more, another run is proposed only if
 * it is expected to save at least the fraction NEXT_WORTH of the time or cost.
 */
static const double SURE = 0.9, NEXT_WORTH = 0.01;
/*
 * A run with another n is proposed only if that n is better than the recommended n with at least
 * this probability.
 */
static const double NEXT_LIKELY = 0.05;

static int set_next(struct hm_recommending *w, double n, const char *why, struct hm_err *err)
{
    struct hm_recommendation *out = w->out;

    out->next = hm__arena_alloc(w->arena, w->at_count + 1, sizeof(*out->next));
    if (!out->next || !why)
        return hm__fail_nomem(err);
    out->next[0] = (struct hm_at){"n", n};
    for (size_t i = 0; i < w->at_count; i++)
        out->next[i + 1] = w->at[i];
    out->next_count = w->at_count + 1;
    out->next_why = why;
    return 0;
}

/* ---- after rows ------------------------------------------------------------------------------ */

/*
 * Returns the probability that a candidate without a matching run is better than the best
 * candidate, which has one.
 */
static double candidate_beats_best(const struct hm_recommending *w,
                                   const struct hm_recommend_candidate *t)
{
    double wins = 0;

    if (!t->known)
        return isfinite(t->floor_s) && t->floor_s < w->candidates[0].r.time_s ? 1 : 0;
    for (size_t d = 0; t->draws && d < w->draw_count; d++)
        wins += hm__recommend_value(w, t, t->draws[d]) < w->candidates[0].r.value;
    return wins / (double)(w->draw_count ? w->draw_count : 1);
}

/* Proposes the next run if the recommendation comes from matching runs. The times of candidates
 * without a matching run come from a fit or are unknown. */
static int next_after_rows(struct hm_recommending *w, struct hm_err *err)
{
    const struct hm_recommend_candidate *next = NULL;
    double most = NEXT_LIKELY, near = INFINITY;
    bool any_known = false;

    for (size_t i = 0; i < w->count; i++) {
        const struct hm_recommend_candidate *t = &w->candidates[i];
        if (t->r.row_count > 0 || t->r.failed)
            continue;
        any_known = any_known || t->known || isfinite(t->floor_s);
        double chance = candidate_beats_best(w, t);
        if (chance > most) {
            most = chance;
            next = t;
        }
    }
    if (next && next->known)
        return set_next(w, next->r.n,
                        hm__arena_printf(w->arena,
                                         "a fit of the runs gives it %.3g s there (%.3g to %.3g)",
                                         next->r.time_s, next->r.low_s, next->r.high_s),
                        err);
    for (size_t i = 0; !any_known && i < w->count; i++) {
        const struct hm_recommend_candidate *t = &w->candidates[i];
        double distance = fabs(log(t->r.n / w->candidates[0].r.n));
        if (t->r.row_count == 0 && !t->r.failed && distance < near) {
            near = distance;
            next = t;
        }
    }
    return next ? set_next(w, next->r.n, "there is no run of it, and it may be better", err) : 0;
}

/* ---- after a fit ----------------------------------------------------------------------------- */

/*
 * Returns the expected saving from knowing the time of candidate i, as a fraction of the value of
 * the first candidate.
 */
static double candidate_gain(const struct hm_recommending *w, size_t i)
{
    double others = INFINITY, sum = 0, first = w->candidates[0].r.value;

    for (size_t k = 0; k < w->count && w->candidates[k].known; k++)
        if (k != i)
            others = fmin(others, w->candidates[k].r.value);
    for (size_t d = 0; d < w->draw_count; d++)
        sum += fmin(hm__recommend_value(w, &w->candidates[i], w->candidates[i].draws[d]), others);
    /*
     * Mean over the draws of the fit of the value to be minimised for candidate i; it may differ
     * from the reported value.
     */
    double usual = 0;
    for (size_t d = 0; d < w->draw_count; d++)
        usual += hm__recommend_value(w, &w->candidates[i], w->candidates[i].draws[d]);
    double count = (double)w->draw_count;
    return (fmin(usual / count, others) - sum / count) / first;
}

static int next_after_fit(struct hm_recommending *w, struct hm_err *err)
{
    size_t next = HM_NONE;
    double most = w->out->sure >= SURE ? NEXT_WORTH : 0;
    char workers[40];

    for (size_t i = 0; i < w->count; i++) {
        const struct hm_recommend_candidate *t = &w->candidates[i];
        if (!t->known && !t->r.failed && isfinite(t->floor_s) &&
            t->floor_s < w->candidates[0].r.time_s)
            return set_next(w, t->r.n, "it may be faster, and its runs do not show it", err);
    }
    for (size_t i = 0;
         i < w->count && w->candidates[i].known && w->count > 1 && w->candidates[1].known; i++) {
        double gain = w->candidates[i].draws ? candidate_gain(w, i) : 0;
        if (gain > most) {
            most = gain;
            next = i;
        }
    }
    if (next == HM_NONE)
        return 0;
    const char *why = next == 0
                          ? hm__arena_strdup(w->arena, "it would show whether it is the best")
                          : hm__arena_printf(w->arena, "it would show whether it is better than %s",
                                             hm__recommend_workers(w->candidates[0].r.n, workers));
    return set_next(w, w->candidates[next].r.n, why, err);
}

/* ---- after nothing --------------------------------------------------------------------------- */

static bool n_is_failed(const struct hm_recommending *w, double n)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->candidates[i].r.n == n)
            return w->candidates[i].r.failed;
    return false;
}

/* Proposes a run with the first n in the question that is not known to fail. */
static int next_first_candidate(struct hm_recommending *w, struct hm_err *err)
{
    for (size_t i = 0; i < w->count; i++)
        if (!w->candidates[i].r.failed)
            return set_next(w, w->candidates[i].r.n, "no run of it is usable", err);
    return 0;
}

static int next_after_none(struct hm_recommending *w, struct hm_err *err)
{
    double low = INFINITY, high = -INFINITY, least = INFINITY, fastest = NAN;

    if (w->q->n_count > 0)
        return w->picked_count ? next_first_candidate(w, err) : 0;
    for (size_t i = 0; i < w->picked_count; i++) {
        size_t row = w->picked[i];
        double seconds = w->seconds[row];
        if (isnan(seconds))
            continue;
        low = fmin(low, w->n[row]);
        high = fmax(high, w->n[row]);
        if (seconds < least && !n_is_failed(w, w->n[row])) {
            least = seconds;
            fastest = w->n[row];
        }
    }
    if (low == high)
        return set_next(w, 2 * high, "no run shows yet how the time depends on n", err);
    return isnan(fastest) ? 0 : set_next(w, fastest, "it was the fastest so far", err);
}

int hm__recommend_next(struct hm_recommending *w, struct hm_err *err)
{
    if (w->out->missed)
        return 0;
    switch (w->out->provenance) {
    case HM_RECOMMEND_ROWS:
        return w->out->best == HM_NONE ? 0 : next_after_rows(w, err);
    case HM_RECOMMEND_FIT:
        return next_after_fit(w, err);
    case HM_RECOMMEND_MODEL:
        return w->out->best == HM_NONE
                   ? 0
                   : set_next(w, w->candidates[0].r.n, "it would check the model", err);
    default:
        return next_after_none(w, err);
    }
}
