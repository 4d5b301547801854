/*
 * Adds a large table of runs in one transaction. The indexes are dropped at its beginning and
 * rebuilt at its end, which takes less than half as long as adding the runs in many transactions.
 */
#ifndef HM_STORE_LOAD_H
#define HM_STORE_LOAD_H

#include "check.h"
#include "store.h"
#include "text.h"

/* A transaction that adds a table of runs. */
struct hm_store_load {
    struct hm_store *store;
    struct hm_text insert_one;  /* INSERT statement for one run. */
    struct hm_text insert_many; /* INSERT statement for several runs. */
    int64_t last_id;            /* Id of the run that was added last. */
    /* Time at which the runs are added; it is stored for runs without a time. */
    char now[HM_STORE_TIME];
};

/*
 * Starts adding about `count` runs, the first of which has the key `first_key`. *ret_begun is
 * false, and there is no transaction, if this method is not faster or not possible: the store
 * already has many more runs or a run with this key, or is not a SQLite file.
 */
int hm__store_load_begin(struct hm_store_load *load, struct hm_store *store, size_t count,
                         const char *first_key, bool *ret_begun, struct hm_err *err);

/*
 * Adds runs, which must have keys and no samples, and must have passed hm_stored_check. The id of
 * each run is stored in `ret_ids`.
 */
int hm__store_load_add(struct hm_store_load *load, const struct hm_stored *runs, size_t count,
                       int64_t *ret_ids, struct hm_err *err);

/*
 * Ends the transaction of hm__store_load_begin. If `rc` is 0, builds the indexes and commits.
 * Otherwise, and after any error, the store is unchanged. Returns `rc` or the error of this
 * function, which is HM_E_CONFLICT if a key occurs twice.
 */
int hm__store_load_end(struct hm_store_load *load, int rc, struct hm_err *err);

#endif
