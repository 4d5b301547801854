/* The order of runs, and the position where a page of them begins. */
#ifndef HM_ORDER_H
#define HM_ORDER_H

#include "check.h"
#include "filter.h"

struct hm_order {
    const struct hm_store_column *column;
    bool descending;
    bool after; /* The page begins after a given run; the following describe that run. */
    bool known; /* It has a value in the sort column, which is `value`. */
    struct hm_sql_value value;
    int64_t id;
};

/* A page consists of the runs of these parts, one after the other; see order.c. */
enum hm_part { HM_PART_EQUAL, HM_PART_BEYOND, HM_PART_NULL };
enum { HM_PARTS = 3 };

/* Reads sort and after of a filter, which may be NULL. The arena owns the text of `value`. */
int hm__order_read(struct hm_arena *arena, const struct hm_store_filter *filter,
                   struct hm_order *ret_order, struct hm_err *err);
/* Adds the condition and the order of a part to a statement; returns false if the part is empty.
 * `plain` is a prefix that keeps an index from being used for the order, or "". */
bool hm__order_part(struct hm_statement *s, const struct hm_order *order, enum hm_part part,
                    const char *plain);
/* Returns the value of `after` for the page that follows a run; NULL if out of memory. */
char *hm__cursor_write(struct hm_arena *arena, const struct hm_order *order,
                       const struct hm_stored *run);

#endif
