/* Finds the three alternatives of a plan, over all compared machines, schemes and platforms. */
#ifndef HM_ALTERNATIVES_H
#define HM_ALTERNATIVES_H

#include "search.h"

/* Time and cost of one point that meets the limits. */
struct hm_trade {
    double total_s, cost;
    size_t index; /* Index of the point in its curve. */
};

/* All points of one candidate that meet the limits, in ascending order of n. */
struct hm_trades {
    /* Points that meet the limits, owned; NULL if the candidate has no price or no such point. */
    struct hm_trade *items;
    size_t count;
    double least_s,
        least_cost; /* Shortest time and lowest cost over all points that fit in memory. */
};

/* Position of an alternative: the candidate, and the index of the point in its curve. */
struct hm_trade_place {
    size_t candidate, index;
};

/* Collects the points of a curve that meet the limits. Release them with hm__trades_release. */
int hm__trades_init(struct hm_trades *trades, const struct hm_search *search,
                    const struct hm_curve *curve, struct hm_err *err);
void hm__trades_release(struct hm_trades *trades);
/*
 * Finds the cheapest, the balanced and the fastest point of several candidates; `trades` contains
 * `count` pointers. Returns false if no candidate has a point with a price.
 */
bool hm__trades_choose(const struct hm_trades *const *trades, size_t count, double slack,
                       struct hm_trade_place places[HM_ALTERNATIVES]);

#endif
