/*
 * howmany: a store of measured runs.
 *
 * A store keeps runs with their samples, and named documents (fits, clusters, jobs, price lists),
 * in a file (SQLite) or on a server (PostgreSQL). This header includes howmany_advise.h;
 * conventions are described in howmany.h.
 *
 *     struct hm_stored run = HM_STORED_INIT;
 *
 *     run.n = 4;
 *     run.seconds = 12.5;
 *     if (hm_store_open("runs.db", &store, &err) == 0 &&
 *         hm_store_add(store, &run, 1, NULL, NULL, &err) == 0)
 *             puts("stored");
 */
#ifndef HOWMANY_STORE_H
#define HOWMANY_STORE_H

#include "howmany_advise.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hm_store; /* One connection to a store. Only one thread at a time may use it. */

/*
 * Opens a store and brings its schema up to date. `where` is postgresql://... or a file, which is
 * created if it does not exist. A store that a later version of the library has written is refused.
 */
HM_API int hm_store_open(const char *where, struct hm_store **ret_store, struct hm_err *err);
HM_API void hm_store_close(struct hm_store *store);

/* ---- runs ------------------------------------------------------------------------------------ */

/* Values of one iteration of a run. Unknown values are NaN. */
struct hm_stored_sample {
    double iteration, seconds, elapsed_s, loss;
};

/* A run. Unknown strings are NULL and unknown numbers are NaN; start from HM_STORED_INIT. */
struct hm_stored {
    int64_t id;      /* Identifier of the run, which the store assigns. */
    const char *key; /* Unique key, at most 200 bytes. A second run with the same key is not added.
                        NULL means that there is no key. */
    const char *made_at; /* UTC time of the run, such as "2026-11-15T10:13:48Z". When a run is
                            added, NULL means now. */
    /* Status: "ok", "out of memory", "exit 3", "timeout", ...; NULL means "ok". */
    const char *status;
    const char *algorithm, *problem, *data, *job, *machine, *scheme, *host, *version;
    double n;          /* Number of workers: whole, 1 to HM_COUNT_MOST. Required. */
    double batch;      /* Number of samples in one iteration, > 0. */
    double latency;    /* Latency of the network in seconds, >= 0. */
    double bandwidth;  /* Bandwidth of the network in bytes per second, > 0. */
    double size;       /* Share of the data, or amount of work, > 0. */
    double seconds;    /* Time of one iteration in seconds, > 0. */
    double total;      /* Time of the whole run in seconds, > 0. */
    double iterations; /* Number of iterations of the whole run, > 0. */
    double loss;       /* Loss at the end of the run. */
    double best;       /* Lowest loss P* that can be reached. */
    double cost;       /* Cost of the whole run, >= 0. */
    double seed;
    const char *more; /* Other columns, as a JSON object of numbers and strings. */
    const struct hm_stored_sample *samples;
    size_t sample_count;
};

#define HM_STORED_INIT                                                                             \
    {                                                                                              \
        0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, HM_UNKNOWN,           \
            HM_UNKNOWN, HM_UNKNOWN, HM_UNKNOWN, HM_UNKNOWN, HM_UNKNOWN, HM_UNKNOWN, HM_UNKNOWN,    \
            HM_UNKNOWN, HM_UNKNOWN, HM_UNKNOWN, HM_UNKNOWN, NULL, NULL, 0                          \
    }

/* Checks every field. The error names the field, its value and what would be correct. */
HM_API int hm_stored_check(const struct hm_stored *run, struct hm_err *err);
/*
 * Gets the staleness of a run from its field `more`: the number `staleness`, or INFINITY if
 * `consistency` is async, or 0 if neither is given.
 */
HM_API int hm_stored_staleness(const struct hm_stored *run, double *ret_staleness,
                               struct hm_err *err);
/*
 * Gets a number from the field `more` of a run, such as `backups` or `rows`. The result is NaN if
 * the field has no such number.
 */
HM_API int hm_stored_number(const struct hm_stored *run, const char *key, double *ret_number,
                            struct hm_err *err);

/*
 * Adds all of the runs, or none if one fails. When this function returns 0, the runs are on disk. A
 * run whose key already exists is not added. ret_ids has `count` elements and receives the id of
 * each run, new or existing; *ret_added receives the number of new runs. Both may be NULL.
 */
HM_API int hm_store_add(struct hm_store *store, const struct hm_stored *runs, size_t count,
                        int64_t *ret_ids, size_t *ret_added, struct hm_err *err);

/* A batch of runs for hm_store_add_batches. */
struct hm_store_batch {
    const struct hm_stored *runs;
    size_t count;
    int64_t *ids; /* Output: array that receives the id of each run. May be NULL. */
    size_t added; /* Output: number of runs that were not in the store before. */
    /*
     * True if further batches follow immediately. All runs are then added to the store's indexes
     * together with the last batch, which is faster, but until then reading pages takes longer.
     */
    bool more;
    /* True if all runs have passed hm_stored_check, so that they are not checked again. */
    bool checked;
};

/*
 * Same as hm_store_add, but adds several batches in one transaction: all runs are added, or none.
 */
HM_API int hm_store_add_batches(struct hm_store *store, struct hm_store_batch *batches,
                                size_t count, struct hm_err *err);

/* Selects and sorts runs. {0} selects all runs, the newest first. */
struct hm_store_filter {
    const char *const *where; /* Conditions that must all hold: "machine=m5.large", "n>=2". */
    size_t where_count;
    const char *since,
        *until;        /* Earliest and latest time `made_at` of the runs; NULL for no limit. */
    const char *sort;  /* Name of the column to sort by; a "-" before it sorts in descending
                          order. NULL means "-id". */
    size_t limit;      /* Maximum number of runs on a page; 0 for no limit. */
    const char *after; /* Value of `next` of the previous page; NULL means the first page. */
    bool samples;      /* True to also read the samples of each run. */
    /*
     * Time in seconds that the search for a page with conditions may take in a SQLite store with
     * more than 5,000 runs; 0 for no limit. If it takes longer, the page has fewer runs than
     * `limit`, or none, and `next` continues the search.
     */
    double seconds;
};

/* One page of runs. */
struct hm_store_page {
    struct hm_stored *runs;
    size_t count;
    const char *next; /* Value of `after` for the next page; NULL if there are no more runs. */
    void *memory;     /* Owns all memory of this struct. */
};

HM_API int hm_store_list(struct hm_store *store, const struct hm_store_filter *filter,
                         struct hm_store_page **ret_page, struct hm_err *err);
HM_API void hm_store_page_free(struct hm_store_page *page);
/* Counts the runs. The fields `limit` and `after` of the filter are ignored. */
HM_API int hm_store_count(struct hm_store *store, const struct hm_store_filter *filter,
                          int64_t *ret_count, struct hm_err *err);
/*
 * Deletes runs and their samples. The fields `limit` and `after` of the filter are ignored.
 * ret_count may be NULL.
 */
HM_API int hm_store_delete(struct hm_store *store, const struct hm_store_filter *filter,
                           int64_t *ret_count, struct hm_err *err);

/* Reads the runs as a table that hm_fit_new accepts. */
HM_API int hm_store_runs(struct hm_store *store, const struct hm_store_filter *filter,
                         struct hm_runs **ret_runs, struct hm_err *err);
/* Reads the runs that have samples as traces that hm_convergence_new accepts. */
HM_API int hm_store_traces(struct hm_store *store, const struct hm_store_filter *filter,
                           struct hm_traces **ret_traces, struct hm_err *err);

/* ---- documents ------------------------------------------------------------------------------- */

/*
 * Stores a document under a kind ("fit", "cluster", "job", "prices") and a name. It replaces any
 * earlier document with the same kind and name.
 */
HM_API int hm_store_put(struct hm_store *store, const char *kind, const char *name,
                        const char *text, struct hm_err *err);
/*
 * Function that is called once for each document; the strings are valid during the call. A return
 * value other than 0 ends the listing and becomes the result of hm_store_documents.
 */
typedef int hm_store_document(void *context, const char *kind, const char *name,
                              const char *made_at);
/* Lists the documents of one kind (NULL for all kinds), sorted by kind and name. */
HM_API int hm_store_documents(struct hm_store *store, const char *kind, hm_store_document *take,
                              void *context, struct hm_err *err);
/*
 * Reads a document. *ret_text is NULL if the document does not exist; the caller frees it with
 * hm_text_free.
 */
HM_API int hm_store_get(struct hm_store *store, const char *kind, const char *name, char **ret_text,
                        struct hm_err *err);

#ifdef __cplusplus
}
#endif

#endif
