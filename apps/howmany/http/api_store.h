/*
 * The store of runs that the server uses. Requests that read use a connection from a pool; one
 * thread writes. All queued batches are written in one transaction (group commit), so that many
 * clients that each add a run wait for a single sync to disk.
 */
#ifndef HM_API_STORE_H
#define HM_API_STORE_H

#include "howmany_request.h"

struct api_store;

/* Counters for /metrics. */
struct api_store_counts {
    unsigned long long commits, runs; /* Number of transactions, and number of runs in them. */
    unsigned long long failures;      /* Number of transactions that failed. */
    bool healthy;                     /* True if the store can be read. */
};

/*
 * Opens the store immediately, so that errors are reported when the server starts. `most` is the
 * largest number of connections in the pool.
 */
int api_store_new(const char *where, size_t most, struct api_store **ret_store, struct hm_err *err);
/* Closes the store. Call it after the last request, when all queued batches have been written. */
void api_store_free(struct api_store *store);

/* A group of requests that add runs in one transaction; api_store_group calls these functions. */
struct api_store_group {
    void *context;
    size_t count; /* Number of requests. */
    double end_s; /* Time at which the first time limit of a request ends, in seconds on the clock
                     of http_now; 0 if there is no limit. */
    /* Answers a request, which uses the store through `access`. */
    void (*answer)(void *context, size_t number, const struct hm_store_access *access);
    /* Withdraws the answer of a request, which is then answered again. */
    void (*withdraw)(void *context, size_t number);
};

/*
 * Answers the requests of a group. All runs that they add are committed in one transaction before
 * the function returns, so that the answers may be sent afterwards. If the transaction fails, the
 * answers are withdrawn, and each request is answered again in its own transaction. If another
 * program holds the lock of writers for too long, all requests that add runs fail.
 */
void api_store_group(struct api_store *store, const struct api_store_group *group);

/*
 * Makes all waits for locks end after a number of seconds, because the server shuts down, so that
 * the requests that wait are answered.
 */
void api_store_stop(struct api_store *store, double seconds);

/*
 * Adds the runs of earlier groups to the indexes, if there are many. This takes some time, so it is
 * called after the answers have been handed over. Does nothing while another thread writes.
 */
void api_store_settle(struct api_store *store);

/* Returns the functions through which requests use the store; valid until api_store_free. */
const struct hm_store_access *api_store_access(struct api_store *store);
void api_store_count(struct api_store *store, struct api_store_counts *ret_counts);

#endif
