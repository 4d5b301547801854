/* Reads the requested order of runs, and the position at which a page of runs begins. */
#ifndef HM_STORE_ORDER_H
#define HM_STORE_ORDER_H

#include "check.h"
#include "filter.h"

struct hm_order {
    const struct hm_store_column *column;
    bool descending;
    /*
     * True if the page begins after a certain run, which `known`, `value` and `id` describe; false
     * for the first page.
     */
    bool after;
    /* True if the run before the page has a value in the sort column; `value` is this value. */
    bool known;
    struct hm_sql_value value;
    int64_t id;
};

/*
 * The three ranges of runs (parts) that a page may contain, in this order: runs with the same sort
 * value as the run before the page, runs with later values, and runs without a value; see order.c.
 */
enum hm_part { HM_PART_EQUAL, HM_PART_BEYOND, HM_PART_NULL };
enum { HM_PARTS = 3 };

/*
 * Reads the members `sort` and `after` of a filter, which is NULL for the default order. The arena
 * owns the string in `value`.
 */
int hm__order_read(struct hm_arena *arena, const struct hm_store_filter *filter,
                   struct hm_order *ret_order, struct hm_err *err);
/* Returns whether a page may contain runs of the given range (part). */
bool hm__order_needs(const struct hm_order *order, enum hm_part part);
/* Adds the condition for the runs of a range (part) to a statement, after " AND ". */
void hm__order_condition(struct hm_statement *s, const struct hm_order *order, enum hm_part part);
/* Adds " ORDER BY …" to a statement. */
void hm__order_by(struct hm_statement *s, const struct hm_order *order, enum hm_part part);
/* Makes a page begin after a run, whose strings must outlive the order. */
void hm__order_move(struct hm_order *order, const struct hm_stored *run);
/*
 * Returns the cursor (the value of `after`) that requests the page at the position of an order;
 * NULL if memory runs out.
 */
char *hm__cursor_write(struct hm_arena *arena, const struct hm_order *order);

#endif
