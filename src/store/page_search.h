/*
 * Finds runs, mostly one page of them, in a database whose own query planner does not choose well
 * between indexes (SQLite).
 */
#ifndef HM_PAGE_SEARCH_H
#define HM_PAGE_SEARCH_H

#include "order.h"
#include "store.h"

/* How much work the steps of a search may take; page_search.c describes the steps. */
struct hm_search_effort {
    size_t first_ids; /* Number of ids that are read for each condition at first. */
    /* Number of ids that are read for each condition, and for all, if many runs were tested in
     * vain. */
    size_t most_ids, all_ids;
    double trial_s; /* Time of testing runs in order before more ids are read. */
    /* Maximum number of candidates that are sorted if the time of the search is limited. */
    size_t sorted_max;
    /* In a store whose ids are not larger than this, no time ends a search. */
    int64_t small;
};

extern const struct hm_search_effort hm__search_effort;

struct hm_page_search {
    const struct hm_search_effort *effort;
    struct hm_store *store;
    struct hm_arena *arena;
    const struct hm_conditions *conditions;
    /* Order of the page and the run after which it begins. */
    struct hm_order order;
    size_t limit; /* Maximum number of runs. */
    /*
     * Time after which the search ends, even if it has found fewer runs; 0 for no limit. A search
     * always makes progress, however short the time is.
     */
    double seconds;
    /* First words of the query for runs: the columns that `row` expects. */
    const char *select;
    const char *also; /* A further SQL condition, which begins with " AND "; or "". */
    hm_sql_row *row;  /* Function that is called for each run of the page, in order. */
    void *context;
};

/*
 * Returns whether the conditions require a search. If not, the database can read the runs of a page
 * directly from the index of the sort column.
 */
bool hm__search_is_needed(const struct hm_conditions *conditions, const struct hm_order *order);
/*
 * Finds a page, inside a transaction that the caller has begun. If the time was over before the
 * page was full, *ret_after is the cursor at which the search continues; otherwise it is NULL.
 */
int hm__search_page(struct hm_page_search *search, const char **ret_after, struct hm_err *err);
/*
 * Finds all runs, whatever `limit` and `seconds` are, if some condition has so few that a list of
 * their ids is short. Otherwise, *ret_found is false, and no run has been taken.
 */
int hm__search_all(struct hm_page_search *search, bool *ret_found, struct hm_err *err);

#endif
