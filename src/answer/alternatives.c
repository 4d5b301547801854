/*
 * Finds three alternatives among all compared candidates (machines, schemes and platforms) and
 * numbers of workers that have a price and meet the limits: the cheapest, the fastest and the
 * balanced one. The fastest alternative belongs to the candidate with the shortest time: it is the
 * point with the fewest workers whose time is within the slack of that time. The balanced one has
 * the smallest sum of time / shortest time and cost / lowest cost. For each curve, only the times
 * and costs are kept, because the whole curves of many machines would need a lot of memory.
 */
#include "alternatives.h"

#include <math.h>

#include "checks.h"
#include "err.h"

int hm__trades_init(struct hm_trades *t, const struct hm_search *s, const struct hm_curve *c,
                    struct hm_err *err)
{
    *t = (struct hm_trades){.least_s = INFINITY, .least_cost = INFINITY};
    if (!(s->cluster && hm__cluster_priced(s->cluster) && s->cluster->node.price_per_s > 0))
        return 0;
    t->items = hm__calloc(c->count, sizeof(*t->items));
    if (!t->items)
        return hm__fail_nomem(err);
    hm__curve_least(s, c, &t->least_s, &t->least_cost);
    for (size_t i = 0; i < c->count; i++)
        if (hm__search_allows(s, &c->points[i]))
            t->items[t->count++] = (struct hm_trade){c->points[i].total_s, c->points[i].cost, i};
    return 0;
}

void hm__trades_release(struct hm_trades *t)
{
    hm__free(t->items);
    *t = (struct hm_trades){0};
}

/*
 * Finds the point with the smallest alpha * time + beta * cost; if several points have this sum,
 * finds the fastest of them.
 */
static bool trades_least(const struct hm_trades *const *trades, size_t count, double alpha,
                         double beta, struct hm_trade_place *ret_place)
{
    const struct hm_trade *best = NULL;

    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < trades[k]->count; i++) {
            const struct hm_trade *t = &trades[k]->items[i];
            double value = alpha * t->total_s + beta * t->cost;
            double least = best ? alpha * best->total_s + beta * best->cost : INFINITY;
            if (best && !(value < least || (value == least && t->total_s < best->total_s)))
                continue;
            best = t;
            *ret_place = (struct hm_trade_place){k, t->index};
        }
    return best != NULL;
}

/*
 * Moves *place to the point of the same candidate with the fewest workers whose time is within the
 * slack of the time at *place.
 */
static void place_shrink(const struct hm_trades *t, double slack, struct hm_trade_place *place)
{
    double limit = 0;

    for (size_t i = 0; i < t->count; i++)
        if (t->items[i].index == place->index)
            limit = (1 + slack) * t->items[i].total_s * (1 + 1e-12);
    for (size_t i = 0; i < t->count; i++)
        if (t->items[i].total_s <= limit) {
            place->index = t->items[i].index;
            return;
        }
}

bool hm__trades_choose(const struct hm_trades *const *trades, size_t count, double slack,
                       struct hm_trade_place places[HM_ALTERNATIVES])
{
    struct hm_trade_place *fastest = &places[HM_ALTERNATIVE_FASTEST];
    struct hm_trade_place *balanced = &places[HM_ALTERNATIVE_BALANCED];
    double time_s = INFINITY, cost = INFINITY;

    for (size_t k = 0; k < count; k++) {
        if (trades[k]->count == 0)
            continue;
        time_s = fmin(time_s, trades[k]->least_s);
        cost = fmin(cost, trades[k]->least_cost);
    }
    if (!trades_least(trades, count, 0, 1, &places[HM_ALTERNATIVE_CHEAPEST]))
        return false;
    trades_least(trades, count, 1, 0, fastest);
    place_shrink(trades[fastest->candidate], slack, fastest);
    trades_least(trades, count, 1 / fmax(time_s, 1e-300), 1 / fmax(cost, 1e-300), balanced);
    /*
     * A point with more workers than the fastest alternative saves less time than the slack, so the
     * balanced alternative never has more workers than the fastest one.
     */
    if (balanced->candidate == fastest->candidate && balanced->index > fastest->index)
        *balanced = *fastest;
    return true;
}
