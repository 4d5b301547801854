/*
 * Sorts stored runs in memory, as a reference for the orders in which a store lists them.
 */
#ifndef HM_TEST_STORE_ORDER_H
#define HM_TEST_STORE_ORDER_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "howmany_store.h"

struct run_order {
    const char *sort; /* The order as text, as in a filter of the store. */
    /* Value by which runs are compared; NULL if they are compared by machine or by id alone. */
    double (*number)(const struct hm_stored *run);
    bool by_machine, descending;
};

static inline double seconds_of(const struct hm_stored *run)
{
    return run->seconds;
}

static inline double loss_of(const struct hm_stored *run)
{
    return run->loss;
}

static inline int compare_values(const struct hm_stored *a, const struct hm_stored *b,
                                 const struct run_order *order)
{
    int way = order->descending ? -1 : 1;

    if (order->by_machine) {
        if (!a->machine || !b->machine)
            return (a->machine == NULL) - (b->machine == NULL);
        return way * strcmp(a->machine, b->machine);
    }
    if (!order->number)
        return 0;
    double x = order->number(a), y = order->number(b);
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y); /* Runs without a value come last in both directions. */
    return way * ((x > y) - (x < y));
}

static inline int compare_runs(const void *one, const void *two, void *order)
{
    const struct hm_stored *a = one, *b = two;
    const struct run_order *o = order;
    int c = compare_values(a, b, o);

    return c ? c : (o->descending ? -1 : 1) * ((a->id > b->id) - (a->id < b->id));
}

/* Sorts runs; runs with equal values are ordered by id, in the same direction. */
static inline void sort_runs(struct hm_stored *runs, size_t count, const struct run_order *order)
{
    struct run_order copy = *order;

    qsort_r(runs, count, sizeof(runs[0]), compare_runs, &copy);
}

#endif
