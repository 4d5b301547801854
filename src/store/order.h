/* Reads the order in which runs are listed, and the position at which a page of runs begins. */
#ifndef HM_ORDER_H
#define HM_ORDER_H

#include "check.h"
#include "filter.h"

struct hm_order {
    const struct hm_store_column *column;
    bool descending;
    bool after; /* True if the page begins after a given run, which `known`, `value` and `id`
                   describe. */
    bool known; /* True if the run before the page has a value in the sort column, which is `value`.
                 */
    struct hm_sql_value value;
    int64_t id;
};

/*
 * The ranges of runs (parts) of which a page consists, in this order: runs with the sort value of
 * the run before the page, with later values, and with no value; see order.c.
 */
enum hm_part { HM_PART_EQUAL, HM_PART_BEYOND, HM_PART_NULL };
enum { HM_PARTS = 3 };

/* Reads `sort` and `after` of a filter, which may be NULL. The arena owns the text of `value`. */
int hm__order_read(struct hm_arena *arena, const struct hm_store_filter *filter,
                   struct hm_order *ret_order, struct hm_err *err);
/* Whether a page can have runs of the given range (part). */
bool hm__order_needs(const struct hm_order *order, enum hm_part part);
/* Adds the condition that selects the runs of a range (part) to a statement, after " AND ". */
void hm__order_condition(struct hm_statement *s, const struct hm_order *order, enum hm_part part);
/*
 * Adds " ORDER BY …". `plain` is written before the names of the columns: a prefix that keeps the
 * database from using their index, or "".
 */
void hm__order_by(struct hm_statement *s, const struct hm_order *order, enum hm_part part,
                  const char *plain);
/* Returns the text `after` that asks for the page following a run; NULL if out of memory. */
char *hm__cursor_write(struct hm_arena *arena, const struct hm_order *order,
                       const struct hm_stored *run);

#endif
