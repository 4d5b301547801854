/* The order of runs, and where a page of them goes on. */
#ifndef HM_ORDER_H
#define HM_ORDER_H

#include "check.h"
#include "filter.h"

struct hm_order {
    const struct hm_store_column *column;
    bool down;  /* descending */
    bool after; /* goes on from here: */
    bool told;  /* the last run had a value, which is `value` */
    struct hm_sql_value value;
    int64_t id;
};

/* A page is what these have, one after the other. */
enum hm_part { HM_PART_EQUAL, HM_PART_BEYOND, HM_PART_UNTOLD };
enum { HM_PARTS = 3 };

int hm__order_read(struct hm_arena *arena, const struct hm_store_filter *filter,
                   struct hm_order *ret_order, struct hm_err *err);
/* Add what a part asks for behind the conditions; false: there is no such part. plain: what keeps
 * an index from being used for the order; "": it may be. */
bool hm__order_part(struct hm_statement *s, const struct hm_order *order, enum hm_part part,
                    const char *plain);
/* `after` of the page that follows a run; NULL: out of memory. */
char *hm__cursor_write(struct hm_arena *arena, const struct hm_order *order,
                       const struct hm_stored *run);

#endif
