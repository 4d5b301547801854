/*
 * The store behind the server. Requests that read take a connection from a pool; one thread writes.
 * All batches that are queued are written in one transaction (group commit), so that many clients
 * that add a run each wait for one sync of the disk.
 */
#ifndef HM_API_STORE_H
#define HM_API_STORE_H

#include "howmany_request.h"

struct api_store;

/* For /metrics. */
struct api_store_counts {
    unsigned long long commits, runs; /* Transactions, and runs in them. */
    unsigned long long failures;      /* Transactions that failed. */
    bool healthy;                     /* The last operation succeeded. */
};

/* Open the store, so that an error is reported at once; most: connections of the pool. */
int api_store_new(const char *where, size_t most, struct api_store **ret_store, struct hm_err *err);
/* After the last request; queued batches have been written. */
void api_store_free(struct api_store *store);

/* The store as requests use it. Lives as long as the store. */
const struct hm_store_access *api_store_access(struct api_store *store);
void api_store_count(struct api_store *store, struct api_store_counts *ret_counts);

#endif
