/*
 * The store of runs that the server uses. Requests that read use a connection from a pool; one
 * thread writes. All queued batches are written in one transaction (group commit), so that many
 * clients that each add a run wait for only one sync of the disk.
 */
#ifndef HM_API_STORE_H
#define HM_API_STORE_H

#include "howmany_request.h"

struct api_store;

/* Counters for /metrics. */
struct api_store_counts {
    unsigned long long commits, runs; /* Number of transactions, and number of runs in them. */
    unsigned long long failures;      /* Number of transactions that failed. */
    bool healthy;                     /* True if the last operation on the store succeeded. */
};

/* Open the store at once, so that an error is reported when the server starts. `most` is the
 * largest number of connections in the pool. */
int api_store_new(const char *where, size_t most, struct api_store **ret_store, struct hm_err *err);
/* Close the store. Call it after the last request, when all queued batches have been written. */
void api_store_free(struct api_store *store);

/* Returns the functions through which requests use the store; valid until api_store_free. */
const struct hm_store_access *api_store_access(struct api_store *store);
void api_store_count(struct api_store *store, struct api_store_counts *ret_counts);

#endif
