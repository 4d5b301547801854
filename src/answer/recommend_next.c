/*
 * The one run that would help most. It is always at the place that was asked for, so the question
 * is at which n:
 *
 *   rows    an n that was not run there: the one that a fit finds most likely to be better
 *   fit     an n that may be better and of which nothing is told; else the one whose time, once
 *           known, saves most on average: the value of information
 *   model   the n that it recommends, to check it
 *   none    another n than the only one that was run; else the fastest so far
 */
#include <math.h>

#include "err.h"
#include "recommend.h"

/* Where the choice is as sure as that, a run must save so much of the value on average. */
static const double SURE = 0.9, WORTH = 0.01;
/* An n that is better with less than this is not worth a run either. */
static const double LIKELY = 0.05;

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

/* ---- after rows ----------------------------------------------------------------------------- */

/* How often a candidate that was not run there beats the best that was. */
static double beats(const struct hm_recommending *w, const struct hm_recommending *other,
                    const struct hm_told *t)
{
    double wins = 0;

    if (!t->told)
        return isfinite(t->floor_s) && t->floor_s < w->told[0].r.time_s ? 1 : 0;
    for (size_t d = 0; d < other->draw_count; d++)
        wins += hm__recommend_value(other, t, t->draws[d]) < w->told[0].r.value;
    return wins / (double)(other->draw_count ? other->draw_count : 1);
}

/* A workspace for the n that were not run at the place, to see what a fit says of them. */
static int look_at_others(struct hm_recommending *w, struct hm_recommending *other,
                          struct hm_err *err)
{
    size_t count = 0;

    *other = *w;
    other->out = hm__arena_alloc(w->arena, 1, sizeof(*other->out));
    other->told = hm__arena_alloc(w->arena, w->count, sizeof(*other->told));
    if (!other->out || !other->told)
        return hm__fail_nomem(err);
    other->out->way = HM_RECOMMEND_NONE;
    other->out->goal = w->out->goal;
    other->out->level = w->out->level;
    other->draw_count = 0;
    for (size_t i = 0; i < w->count; i++)
        if (!w->told[i].told && !w->told[i].r.failed)
            other->told[count++] = w->told[i];
    other->count = count;
    return count ? hm__recommend_fit(other, err) : 0;
}

static int after_rows(struct hm_recommending *w, struct hm_err *err)
{
    struct hm_recommending other;
    int rc = look_at_others(w, &other, err);
    size_t next = HM_NONE;
    double most = LIKELY, near = INFINITY,
           rate = w->q->price_per_s > 0 ? w->q->price_per_s : w->rate;
    bool any_told = false;

    if (rc || other.count == 0)
        return rc;
    for (size_t i = 0; i < other.count; i++) {
        struct hm_told *t = &other.told[i];
        if (t->told)
            t->r.cost = rate * t->r.n * t->r.time_s;
        any_told = any_told || t->told || isfinite(t->floor_s);
        double chance = beats(w, &other, t);
        if (chance > most) {
            most = chance;
            next = i;
        }
    }
    if (next != HM_NONE && other.told[next].told)
        return set_next(w, other.told[next].r.n,
                        hm__arena_printf(w->arena,
                                         "a fit of the runs gives it %.3g s there (%.3g to %.3g)",
                                         other.told[next].r.time_s, other.told[next].r.low_s,
                                         other.told[next].r.high_s),
                        err);
    for (size_t i = 0; next == HM_NONE && !any_told && i < other.count; i++)
        if (fabs(log(other.told[i].r.n / w->told[0].r.n)) < near) {
            near = fabs(log(other.told[i].r.n / w->told[0].r.n));
            next = i;
        }
    return next == HM_NONE
               ? 0
               : set_next(w, other.told[next].r.n, "it was not run there, and may be better", err);
}

/* ---- after a fit ---------------------------------------------------------------------------- */

/* What knowing one time saves on average, of the value of the first. */
static double gain_of(const struct hm_recommending *w, size_t i)
{
    double others = INFINITY, sum = 0, first = w->told[0].r.value;

    for (size_t k = 0; k < w->count && w->told[k].told; k++)
        if (k != i)
            others = fmin(others, w->told[k].r.value);
    for (size_t d = 0; d < w->draw_count; d++)
        sum += fmin(hm__recommend_value(w, &w->told[i], w->told[i].draws[d]), others);
    double usual = 0; /* the mean of the draws need not be what is told */
    for (size_t d = 0; d < w->draw_count; d++)
        usual += hm__recommend_value(w, &w->told[i], w->told[i].draws[d]);
    double count = (double)w->draw_count;
    return (fmin(usual / count, others) - sum / count) / first;
}

static int after_fit(struct hm_recommending *w, struct hm_err *err)
{
    size_t next = HM_NONE;
    double most = w->out->sure >= SURE ? WORTH : 0;
    char workers[40];

    for (size_t i = 0; i < w->count; i++) {
        const struct hm_told *t = &w->told[i];
        if (!t->told && !t->r.failed && isfinite(t->floor_s) && t->floor_s < w->told[0].r.time_s)
            return set_next(w, t->r.n, "it may be faster, and its runs do not tell", err);
    }
    for (size_t i = 0; i < w->count && w->told[i].told && w->count > 1 && w->told[1].told; i++) {
        double gain = w->told[i].draws ? gain_of(w, i) : 0;
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
                                             hm__recommend_workers(w->told[0].r.n, workers));
    return set_next(w, w->told[next].r.n, why, err);
}

/* ---- after nothing -------------------------------------------------------------------------- */

static bool is_failed(const struct hm_recommending *w, double n)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->told[i].r.n == n)
            return w->told[i].r.failed;
    return false;
}

/* The first n that was asked for and may work. */
static int first_asked(struct hm_recommending *w, struct hm_err *err)
{
    for (size_t i = 0; i < w->count; i++)
        if (!w->told[i].r.failed)
            return set_next(w, w->told[i].r.n, "no run of it tells", err);
    return 0;
}

static int after_none(struct hm_recommending *w, struct hm_err *err)
{
    double low = INFINITY, high = -INFINITY, least = INFINITY, fastest = NAN;

    if (w->q->n_count > 0)
        return w->picked_count ? first_asked(w, err) : 0;
    for (size_t i = 0; i < w->picked_count; i++) {
        size_t row = w->picked[i];
        double seconds = w->seconds[row];
        if (isnan(seconds))
            continue;
        low = fmin(low, w->n[row]);
        high = fmax(high, w->n[row]);
        if (seconds < least && !is_failed(w, w->n[row])) {
            least = seconds;
            fastest = w->n[row];
        }
    }
    if (low == high)
        return set_next(w, 2 * high, "nothing tells yet how the time depends on n", err);
    return isnan(fastest) ? 0 : set_next(w, fastest, "it was the fastest so far", err);
}

int hm__recommend_next(struct hm_recommending *w, struct hm_err *err)
{
    if (w->out->missed)
        return 0;
    switch (w->out->way) {
    case HM_RECOMMEND_ROWS:
        return w->out->best == HM_NONE ? 0 : after_rows(w, err);
    case HM_RECOMMEND_FIT:
        return after_fit(w, err);
    case HM_RECOMMEND_MODEL:
        return w->out->best == HM_NONE
                   ? 0
                   : set_next(w, w->told[0].r.n, "it would check the model", err);
    default:
        return after_none(w, err);
    }
}
