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

struct hm_store; /* One connection. Only one thread at a time may use it. */

/*
 * Open a store and bring its schema up to date. `where` is a file, which is created if it does not
 * exist, or postgresql://... A store that a later version has written is refused.
 */
HM_API int hm_store_open(const char *where, struct hm_store **ret_store, struct hm_err *err);
HM_API void hm_store_close(struct hm_store *store);

/* ---- runs ------------------------------------------------------------------------------------ */

/* One iteration of a run. Unknown values are NaN. */
struct hm_stored_sample {
    double iteration, seconds, elapsed_s, loss;
};

/* A run. Unknown texts are NULL and unknown numbers NaN; start from HM_STORED_INIT. */
struct hm_stored {
    int64_t id;          /* Assigned by the store. */
    const char *key;     /* A second run with the same key is not added; at most 200 bytes. */
    const char *made_at; /* UTC time, "2026-11-15T10:13:48Z"; NULL when adding: now. */
    const char *status;  /* "ok", "out of memory", "exit 3", "timeout", ...; NULL: ok. */
    const char *algorithm, *problem, *data, *job, *machine, *scheme, *host, *version;
    double n;          /* Workers: a whole number, >= 1. Required. */
    double batch;      /* Samples of one iteration, > 0. */
    double latency;    /* Of the network, in seconds, >= 0. */
    double bandwidth;  /* Of the network, in bytes per second, > 0. */
    double size;       /* Size of the problem, > 0. */
    double seconds;    /* Of one iteration, > 0. */
    double total;      /* Seconds of the whole run, > 0. */
    double iterations; /* Of the whole run, > 0. */
    double loss;       /* At the end. */
    double best;       /* P*, the least loss that can be reached. */
    double cost;       /* Money for the whole run, >= 0. */
    double seed;
    const char *more; /* Other columns: a JSON object of numbers and texts. */
    const struct hm_stored_sample *samples;
    size_t sample_count;
};

#define HM_STORED_INIT                                                                             \
    {                                                                                              \
        0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, HM_UNKNOWN,           \
            HM_UNKNOWN, HM_UNKNOWN, HM_UNKNOWN, HM_UNKNOWN, HM_UNKNOWN, HM_UNKNOWN, HM_UNKNOWN,    \
            HM_UNKNOWN, HM_UNKNOWN, HM_UNKNOWN, HM_UNKNOWN, NULL, NULL, 0                          \
    }

/* Check every field. The error names the field, its value and what would be right. */
HM_API int hm_stored_check(const struct hm_stored *run, struct hm_err *err);
/*
 * The staleness of a run, which is part of `more`: the number `staleness`, or INFINITY if
 * `consistency` is async, or 0 if neither is given.
 */
HM_API int hm_stored_staleness(const struct hm_stored *run, double *ret_staleness,
                               struct hm_err *err);

/*
 * Add runs, all or none. When this returns 0, they are on disk. A run whose key exists already is
 * not added. ret_ids has `count` elements and gets the id of each run, new or existing; *ret_added
 * gets the number of new runs. Both may be NULL.
 */
HM_API int hm_store_add(struct hm_store *store, const struct hm_stored *runs, size_t count,
                        int64_t *ret_ids, size_t *ret_added, struct hm_err *err);

/* Runs that are added in one transaction with other batches. */
struct hm_store_batch {
    const struct hm_stored *runs;
    size_t count;
    int64_t *ids; /* Filled in: the id of each run. May be NULL. */
    size_t added; /* Filled in: the number of new runs. */
};

/* As hm_store_add, for several batches in one transaction: all or none. */
HM_API int hm_store_add_batches(struct hm_store *store, struct hm_store_batch *batches,
                                size_t count, struct hm_err *err);

/* Which runs, in which order. {0} selects all runs, the newest first. */
struct hm_store_filter {
    const char *const *where; /* Conditions that must all hold: "machine=m5.large", "n>=2". */
    size_t where_count;
    const char *since, *until; /* First and last made_at; NULL: no limit. */
    const char *sort;          /* A column, with - before it to sort descending; NULL: -id. */
    size_t limit;              /* Most runs of a page; 0: all. */
    const char *after;         /* `next` of the previous page; NULL: the first page. */
    bool samples;              /* Read the samples too. */
};

/* A page of runs. */
struct hm_store_page {
    struct hm_stored *runs;
    size_t count;
    const char *next; /* Set `after` to this for the next page; NULL: this is the last page. */
    void *memory;     /* Owns everything above. */
};

HM_API int hm_store_list(struct hm_store *store, const struct hm_store_filter *filter,
                         struct hm_store_page **ret_page, struct hm_err *err);
HM_API void hm_store_page_free(struct hm_store_page *page);
/* The number of runs; limit and after of the filter are ignored. */
HM_API int hm_store_count(struct hm_store *store, const struct hm_store_filter *filter,
                          int64_t *ret_count, struct hm_err *err);
/* Delete runs and their samples; limit and after are ignored. ret_count may be NULL. */
HM_API int hm_store_delete(struct hm_store *store, const struct hm_store_filter *filter,
                           int64_t *ret_count, struct hm_err *err);

/* The runs as a table, for fits. */
HM_API int hm_store_runs(struct hm_store *store, const struct hm_store_filter *filter,
                         struct hm_runs **ret_runs, struct hm_err *err);
/* The runs that have samples, as traces, for advice. */
HM_API int hm_store_traces(struct hm_store *store, const struct hm_store_filter *filter,
                           struct hm_traces **ret_traces, struct hm_err *err);

/* ---- documents ------------------------------------------------------------------------------- */

/* Keep a text under a kind ("fit", "cluster", "job", "prices") and a name; it replaces another. */
HM_API int hm_store_put(struct hm_store *store, const char *kind, const char *name,
                        const char *text, struct hm_err *err);
/*
 * Called with each document; the texts are valid during the call. A return value other than 0 ends
 * the listing and becomes the result of hm_store_documents.
 */
typedef int hm_store_document(void *context, const char *kind, const char *name,
                              const char *made_at);
/* List the documents of a kind (NULL: of every kind), sorted by kind and name. */
HM_API int hm_store_documents(struct hm_store *store, const char *kind, hm_store_document *take,
                              void *context, struct hm_err *err);
/* Read a document. *ret_text is freed with hm_text_free; it is NULL if there is none. */
HM_API int hm_store_get(struct hm_store *store, const char *kind, const char *name, char **ret_text,
                        struct hm_err *err);

#ifdef __cplusplus
}
#endif

#endif
