/* Sends the runs of a table to a store in batches, and collects their ids. */
#ifndef HM_TABLE_SEND_H
#define HM_TABLE_SEND_H

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

enum { HM_BATCH_RUNS = 16384 };

/* Appends the ids of runs to `added`. */
int hm__added_append(struct hm_added *added, const int64_t *ids, size_t count, struct hm_err *err);
/* Sends a batch of at most HM_BATCH_RUNS runs, and appends the ids of these runs to `added`. */
int hm__table_send(const struct hm_run_sink *sink, struct hm_store_batch batch,
                   struct hm_added *added, struct hm_err *err);

/* A sink that adds all batches of a table in one transaction, if there are several, and if its
 * store may be locked for as long as that takes. */
struct hm_whole_sink {
    struct hm_run_sink sink;
    struct hm_store *begun; /* Store with the transaction; NULL if each batch has its own. */
    size_t count, id_count; /* Numbers in `added` before the transaction. */
};

/* Begins the transaction for `rows` rows; the caller then sends all batches to w->sink. */
int hm__whole_begin(struct hm_whole_sink *w, const struct hm_run_sink *sink, size_t rows,
                    const struct hm_added *added, struct hm_err *err);
/* Commits the transaction if `rc` is 0; returns `rc` or the error of the commit. */
int hm__whole_end(struct hm_whole_sink *w, int rc, struct hm_added *added, struct hm_err *err);

#endif
