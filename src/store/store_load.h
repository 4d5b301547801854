/*
 * Adds a large table of runs in one transaction. The indexes are dropped at its beginning and built
 * anew at its end, which needs less than half of the time of adding the runs in many transactions.
 */
#ifndef HM_STORE_LOAD_H
#define HM_STORE_LOAD_H

#include "check.h"
#include "store.h"
#include "text.h"

/* A transaction that adds a table of runs. */
struct hm_store_load {
    struct hm_store *store;
    struct hm_text insert_one;  /* Statement that inserts one run. */
    struct hm_text insert_many; /* Statement that inserts several runs. */
    int64_t last_id;            /* Id of the run that was added last. */
    char now[HM_STORE_TIME];    /* Time of adding, for runs without a time. */
};

/*
 * Begins to add about `count` runs, of which the first has the key `first_key`. *ret_begun is false
 * if adding them in this way would not be faster, or is not possible: the store has many more runs
 * already, is not a SQLite file, or has a run with this key. Then there is no transaction.
 */
int hm__store_load_begin(struct hm_store_load *load, struct hm_store *store, size_t count,
                         const char *first_key, bool *ret_begun, struct hm_err *err);

/* Adds runs, which must have keys and no samples, and must have passed hm_stored_check. ret_ids
 * gets the id of each run. */
int hm__store_load_add(struct hm_store_load *load, const struct hm_stored *runs, size_t count,
                       int64_t *ret_ids, struct hm_err *err);

/*
 * Ends what hm__store_load_begin began. If rc is 0, builds the indexes and commits; otherwise, and
 * after any error, the store is as before. Returns rc, or the error of this function: HM_E_CONFLICT
 * if a key occurs twice.
 */
int hm__store_load_end(struct hm_store_load *load, int rc, struct hm_err *err);

#endif
