/*
 * Adds tables of runs and traces to a store. Each row gets a key made of its values, so that a
 * table that is added twice is stored only once.
 */
#ifndef HM_TABLE_ADD_H
#define HM_TABLE_ADD_H

#include "howmany_store.h"

/* Destination of batches of runs: a store, or a thread that writes for many clients. */
struct hm_run_sink {
    void *data;
    int (*add)(void *data, struct hm_store_batch *batch, struct hm_err *err);
    /* Store in which a large table may be added by one long transaction; NULL: other clients may
     * not be kept waiting. */
    struct hm_store *store;
};

/* The results of adding runs. Zero-initialise; release with hm__added_release. */
struct hm_added {
    size_t count;          /* Number of new runs. */
    double *ids;           /* Ids of all runs, including those that were in the store already. */
    size_t id_count, room; /* Length and capacity of ids. */
};

void hm__added_release(struct hm_added *added);

/* Returns a sink that adds runs to a store. */
struct hm_run_sink hm__store_sink(struct hm_store *store);

/*
 * Add all runs of a table, or all traces. The key of each run is `key` followed by the number of
 * the run; if key is NULL, the key of a run is made of its values. Fields that traces do not have
 * are copied from `like`, which may be NULL. The results are added to those already in *added.
 */
int hm__table_add_runs(const struct hm_run_sink *sink, const struct hm_runs *runs, const char *key,
                       struct hm_added *added, struct hm_err *err);
int hm__table_add_traces(const struct hm_run_sink *sink, const struct hm_traces *traces,
                         const char *key, const struct hm_stored *like, struct hm_added *added,
                         struct hm_err *err);

#endif
