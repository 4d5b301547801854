/*
 * Adds tables of runs and traces to a store. The key of each row is computed from its values, so
 * that a table that is added twice is stored only once.
 */
#ifndef HM_TABLE_ADD_H
#define HM_TABLE_ADD_H

#include "howmany_store.h"

/* Destination of batches of runs: a store, or a thread that writes for many clients. */
struct hm_run_sink {
    void *data;
    int (*add)(void *data, struct hm_store_batch *batch, struct hm_err *err);
    /*
     * Store to which a large table may be added in one long transaction; NULL if other clients must
     * not wait that long.
     */
    struct hm_store *store;
};

/* The results of adding runs. Zero-initialise the struct, and release it with hm__added_release. */
struct hm_added {
    size_t count; /* Number of runs that were not in the store before. */
    double *ids;  /* Ids of all runs, including runs that were already in the store. */
    /* Number of ids in `ids`, and number of ids that fit into the allocated memory. */
    size_t id_count, room;
};

void hm__added_release(struct hm_added *added);

/* Returns a sink (destination of runs) that adds runs to a store. */
struct hm_run_sink hm__store_sink(struct hm_store *store);

/*
 * Adds all runs of a table, or all traces. The key of each run is `key` followed by the number of
 * the run; if `key` is NULL, it is computed from the values of the run. Properties that traces do
 * not have are copied from the run `like`, unless it is NULL. The results are added to the results
 * that *added already contains.
 */
int hm__table_add_runs(const struct hm_run_sink *sink, const struct hm_runs *runs, const char *key,
                       struct hm_added *added, struct hm_err *err);
int hm__table_add_traces(const struct hm_run_sink *sink, const struct hm_traces *traces,
                         const char *key, const struct hm_stored *like, struct hm_added *added,
                         struct hm_err *err);

#endif
