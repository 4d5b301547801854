/*
 * Judging candidates that have a time: costs, what is to be least, limits, order, and how sure the
 * first is. Each draw of the fits is a time for every n that the runs leave possible; the choice is
 * made again on each of them.
 */
#include <math.h>
#include <stdlib.h>

#include "err.h"
#include "recommend.h"

/* Money, or worker-seconds where not every cost is known. */
static double expense(const struct hm_recommending *w, const struct hm_told *t, double time_s)
{
    return w->priced ? t->r.cost * time_s / t->r.time_s : t->r.n * time_s;
}

double hm__recommend_value(const struct hm_recommending *w, const struct hm_told *t, double time_s)
{
    switch (w->out->goal) {
    case HM_GOAL_COST:
        return expense(w, t, time_s);
    case HM_GOAL_BALANCE:
        return w->alpha * time_s + w->beta * expense(w, t, time_s);
    default:
        return time_s;
    }
}

/* How many times over the limits, were the time that. */
static double excess(const struct hm_recommending *w, const struct hm_told *t, double time_s)
{
    double over = 0;

    if (w->q->deadline_s > 0)
        over = time_s / w->q->deadline_s;
    if (w->q->budget > 0)
        over = fmax(over, t->r.cost * time_s / t->r.time_s / w->q->budget);
    return over;
}

static void set_costs(struct hm_recommending *w)
{
    double rate = w->q->price_per_s > 0 ? w->q->price_per_s : w->rate;
    size_t told = 0, priced = 0;

    for (size_t i = 0; i < w->count; i++) {
        struct hm_told *t = &w->told[i];
        if (!t->told)
            continue;
        if (w->q->price_per_s > 0 || isnan(t->r.cost))
            t->r.cost = rate * t->r.n * t->r.time_s;
        told++;
        priced += isfinite(t->r.cost) ? 1 : 0;
    }
    w->priced = told > 0 && priced == told;
}

/* Weights that make the least time and the least expense count alike, where none are given. */
static void set_weights(struct hm_recommending *w)
{
    double time_s = INFINITY, money = INFINITY;

    for (size_t i = 0; i < w->count; i++) {
        const struct hm_told *t = &w->told[i];
        if (!t->told)
            continue;
        time_s = fmin(time_s, t->r.time_s);
        money = fmin(money, expense(w, t, t->r.time_s));
    }
    w->alpha = w->q->alpha > 0 ? w->q->alpha : 1 / fmax(time_s, 1e-300);
    w->beta = w->q->beta > 0 ? w->q->beta : 1 / fmax(money, 1e-300);
}

static int check_budget(const struct hm_recommending *w, struct hm_err *err)
{
    if (!(w->q->budget > 0) || w->priced)
        return 0;
    hm__fail(err, HM_E_MISSING, "a budget needs a price, and there is none");
    hm__err_hint(err, "give that of a worker, such as --price '$1/h', or a column cost");
    hm__err_field(err, "budget");
    return HM_E_MISSING;
}

/* Told before not told and failed; what fits first, by value; then by how far over. */
static int compare(const void *a, const void *b)
{
    const struct hm_told *x = a, *y = b;

    if (x->told != y->told)
        return x->told ? -1 : 1;
    if (x->told && x->r.fits != y->r.fits)
        return x->r.fits ? -1 : 1;
    double v = x->r.fits ? x->r.value : x->excess, u = y->r.fits ? y->r.value : y->excess;
    if (x->told && v != u)
        return v < u ? -1 : 1;
    return x->r.n < y->r.n ? -1 : x->r.n > y->r.n;
}

/* Which limit nothing meets: one by itself, or only both together. */
static const char *name_miss(const struct hm_recommending *w)
{
    bool in_time = w->q->deadline_s <= 0, in_budget = w->q->budget <= 0;

    for (size_t i = 0; i < w->count; i++) {
        const struct hm_recommended *r = &w->told[i].r;
        if (!w->told[i].told)
            continue;
        in_time = in_time || r->time_s <= w->q->deadline_s;
        in_budget = in_budget || r->cost <= w->q->budget;
    }
    return !in_time ? "deadline" : !in_budget ? "budget" : "deadline and budget";
}

/* On how many of the draws the first is the best that is allowed. */
static double count_sure(const struct hm_recommending *w)
{
    double wins = 0;

    for (size_t i = 0; i < w->count; i++)
        if (w->told[i].told && !w->told[i].draws)
            return NAN;
    if (w->count < 2 || !w->told[1].told || w->draw_count == 0)
        return NAN;
    for (size_t d = 0; d < w->draw_count; d++) {
        size_t best = HM_NONE;
        double least = INFINITY;
        for (size_t i = 0; i < w->count && w->told[i].told; i++) {
            double time_s = w->told[i].draws[d];
            double value = hm__recommend_value(w, &w->told[i], time_s);
            if (excess(w, &w->told[i], time_s) <= 1 && value < least) {
                least = value;
                best = i;
            }
        }
        wins += best == 0;
    }
    return wins / (double)w->draw_count;
}

static int note_goal(struct hm_recommending *w, struct hm_err *err)
{
    if (w->out->goal == HM_GOAL_TIME)
        return 0;
    int rc = w->priced ? 0
                       : hm__recommend_note(w, err,
                                            "no price is known: the cheapest is the one with the "
                                            "fewest worker-seconds");
    if (rc || w->out->goal != HM_GOAL_BALANCE)
        return rc;
    bool own = w->q->alpha > 0 || w->q->beta > 0;
    return hm__recommend_note(w, err, "balance: %.3g a second, %.3g a %s%s", w->alpha, w->beta,
                              w->priced ? "dollar" : "worker-second",
                              own ? "" : ", so that the least time and the least cost count alike");
}

/* The public list: those that have a time, then those that fail. */
static int list(struct hm_recommending *w, struct hm_err *err)
{
    struct hm_recommendation *out = w->out;

    out->candidates = hm__arena_alloc(w->arena, w->count ? w->count : 1, sizeof(*out->candidates));
    if (!out->candidates)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < w->count; i++)
        if (w->told[i].told)
            out->candidates[out->candidate_count++] = w->told[i].r;
    for (size_t i = 0; i < w->count; i++)
        if (w->told[i].r.failed)
            out->candidates[out->candidate_count++] = w->told[i].r;
    return 0;
}

int hm__recommend_judge(struct hm_recommending *w, struct hm_err *err)
{
    set_costs(w);
    set_weights(w);
    int rc = check_budget(w, err);
    for (size_t i = 0; rc == 0 && i < w->count; i++) {
        struct hm_told *t = &w->told[i];
        if (!t->told)
            continue;
        t->r.value = hm__recommend_value(w, t, t->r.time_s);
        t->excess = excess(w, t, t->r.time_s);
        t->r.fits = t->excess <= 1;
    }
    if (rc)
        return rc;
    if (w->count > 0)
        qsort(w->told, w->count, sizeof(*w->told), compare);
    bool any = w->count > 0 && w->told[0].told;
    w->out->best = any && w->told[0].r.fits ? 0 : HM_NONE;
    if (any && w->out->best == HM_NONE)
        w->out->missed = name_miss(w);
    if (w->out->best != HM_NONE)
        w->out->sure = count_sure(w);
    rc = any ? note_goal(w, err) : 0;
    return rc ? rc : list(w, err);
}
