/*
 * howmany: remembering runs.
 *
 * The fourth part of the public interface: a store of runs with their raw samples, and of named
 * documents (fits, clusters, jobs, price lists); in a file (SQLite) or on a server for a team
 * (PostgreSQL). Conventions are those of howmany.h.
 *
 *     struct hm_stored run = HM_STORED_INIT;
 *
 *     run.n = 4;
 *     run.seconds = 12.5;
 *     if (hm_store_open("runs.db", &store, &err) == 0 &&
 *         hm_store_add(store, &run, 1, NULL, NULL, &err) == 0)
 *             puts("kept");
 */
#ifndef HOWMANY_STORE_H
#define HOWMANY_STORE_H

#include "howmany_advise.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hm_store; /* one connection; not to be shared by threads */

/*
 * Open, and bring the schema up to date. where is a file, which is made if it is not there, or
 * postgresql://…; a store of a later version than this program's is refused.
 */
HM_API int hm_store_open(const char *where, struct hm_store **ret_store, struct hm_err *err);
HM_API void hm_store_close(struct hm_store *store);

/* ---- runs ----------------------------------------------------------------------------------- */

/* One iteration of a run that told of them. */
struct hm_stored_sample {
    double iteration, seconds, elapsed_s, loss; /* NaN: not told */
};

/* A run. Texts NULL and numbers NaN: not told. */
struct hm_stored {
    int64_t id;          /* given by the store */
    const char *key;     /* a second run with the same key is not added; at most 200 bytes */
    const char *made_at; /* "2026-11-15T10:13:48Z"; NULL when adding: now */
    const char *status;  /* "ok", "out of memory", "exit 3", "timeout", …; NULL: ok */
    const char *algorithm, *problem, *data, *job, *machine, *scheme, *host, *version;
    double n;                               /* workers, a whole number from 1 on; needed */
    double batch, latency, bandwidth, size; /* what runs differ in, SI */
    double seconds;                         /* of an iteration */
    double total, iterations, loss, best, cost, seed;
    const char *more; /* other columns: a JSON object of numbers and texts */
    const struct hm_stored_sample *samples;
    size_t sample_count;
};

#define HM_STORED_INIT                                                                             \
    {                                                                                              \
        .batch = __builtin_nan(""), .latency = __builtin_nan(""), .bandwidth = __builtin_nan(""),  \
        .size = __builtin_nan(""), .seconds = __builtin_nan(""), .total = __builtin_nan(""),       \
        .iterations = __builtin_nan(""), .loss = __builtin_nan(""), .best = __builtin_nan(""),     \
        .cost = __builtin_nan(""), .seed = __builtin_nan("")                                       \
    }

HM_API int hm_stored_check(const struct hm_stored *run, struct hm_err *err);
/*
 * The staleness of a trace, which stands in `more`: a number as `staleness`, or async as
 * `consistency`, which is INFINITY; 0 where neither does.
 */
HM_API int hm_stored_staleness(const struct hm_stored *run, double *ret_staleness,
                               struct hm_err *err);

/*
 * Add runs, all or none; when this returns 0 they are kept, whatever happens then. ret_ids, of
 * `count`, may be NULL; a run whose key is there already gets the id of that one, and is not added.
 * *ret_added, the number of new ones, may be NULL.
 */
HM_API int hm_store_add(struct hm_store *store, const struct hm_stored *runs, size_t count,
                        int64_t *ret_ids, size_t *ret_added, struct hm_err *err);

/* Runs that are added together with others, and told of by themselves. */
struct hm_store_batch {
    const struct hm_stored *runs;
    size_t count;
    int64_t *ids; /* of `count`, to be filled in; may be NULL */
    size_t added; /* to be filled in: the number of new ones */
};

/* As hm_store_add, for all batches at once: the disk is waited for only once. All or none. */
HM_API int hm_store_add_batches(struct hm_store *store, struct hm_store_batch *batches,
                                size_t count, struct hm_err *err);

/* Which runs, in which order. Zero-initialise. */
struct hm_store_filter {
    const char *const *where; /* "machine=m5.large", "n=4", "n>=2", "batch<1000"; all must hold */
    size_t where_count;
    const char *since, *until; /* of made_at, both included; may be NULL */
    const char *sort;          /* a column, - before it for descending; NULL: -id, newest first */
    size_t limit;              /* 0: all */
    const char *after;         /* where the page before ended; NULL: from the start */
    bool samples;              /* with them */
};

/* A page of runs. */
struct hm_store_page {
    struct hm_stored *runs;
    size_t count;
    const char *next; /* for `after`; NULL: there are no more */
    void *memory;     /* owns everything above */
};

HM_API int hm_store_list(struct hm_store *store, const struct hm_store_filter *filter,
                         struct hm_store_page **ret_page, struct hm_err *err);
HM_API void hm_store_page_free(struct hm_store_page *page);
/* How many there are; filter's limit and after do not count. */
HM_API int hm_store_count(struct hm_store *store, const struct hm_store_filter *filter,
                          int64_t *ret_count, struct hm_err *err);
/* Delete them, samples too; limit and after do not count. *ret_count may be NULL. */
HM_API int hm_store_delete(struct hm_store *store, const struct hm_store_filter *filter,
                           int64_t *ret_count, struct hm_err *err);

/* The runs as a table, for fits; and those with samples as traces, for advice. */
HM_API int hm_store_runs(struct hm_store *store, const struct hm_store_filter *filter,
                         struct hm_runs **ret_runs, struct hm_err *err);
HM_API int hm_store_traces(struct hm_store *store, const struct hm_store_filter *filter,
                           struct hm_traces **ret_traces, struct hm_err *err);

/* ---- documents ------------------------------------------------------------------------------ */

/* A text under a kind ("fit", "cluster", "job", "prices") and a name; the last one counts. */
HM_API int hm_store_put(struct hm_store *store, const char *kind, const char *name,
                        const char *text, struct hm_err *err);
/* Called with each document; its texts live as long as the call. Not 0: no more, and that is the
 * code. */
typedef int hm_store_document(void *context, const char *kind, const char *name,
                              const char *made_at);
/* All documents of a kind (NULL: of every kind), by kind and name. */
HM_API int hm_store_documents(struct hm_store *store, const char *kind, hm_store_document *take,
                              void *context, struct hm_err *err);
/* *ret_text is NULL where there is none; freed with hm_text_free. */
HM_API int hm_store_get(struct hm_store *store, const char *kind, const char *name, char **ret_text,
                        struct hm_err *err);

#ifdef __cplusplus
}
#endif

#endif
