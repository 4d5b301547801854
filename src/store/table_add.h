/*
 * Adding tables of runs and traces to a store. Each row gets a key made of its values, so that a
 * table that is added twice is in the store once.
 */
#ifndef HM_TABLE_ADD_H
#define HM_TABLE_ADD_H

#include "howmany_store.h"

/* Where batches of runs go: straight into a store, or to a thread that writes for many. */
struct hm_run_sink {
    void *data;
    int (*add)(void *data, struct hm_store_batch *batch, struct hm_err *err);
};

/* What came of adding. Zero-initialise; release with hm__added_release. */
struct hm_added {
    size_t count;          /* Runs that were new. */
    double *ids;           /* Of all runs, new or not. */
    size_t id_count, room; /* Length and capacity of ids. */
};

void hm__added_release(struct hm_added *added);

/* A sink that adds to a store. */
struct hm_run_sink hm__store_sink(struct hm_store *store);

/*
 * Add all runs of a table, or all traces. key is what their keys begin with, followed by their
 * number; NULL: keys are made of the values. What traces do not have is taken from `like`, which
 * may be NULL. added is counted on.
 */
int hm__table_add_runs(const struct hm_run_sink *sink, const struct hm_runs *runs, const char *key,
                       struct hm_added *added, struct hm_err *err);
int hm__table_add_traces(const struct hm_run_sink *sink, const struct hm_traces *traces,
                         const char *key, const struct hm_stored *like, struct hm_added *added,
                         struct hm_err *err);

#endif
