/*
 * The store behind the server: connections that read are lent to whoever answers a request, and one
 * thread writes. Whatever waits to be written is written in one transaction (group commit), so that
 * many who add a run each wait for the disk together.
 */
#ifndef HM_API_STORE_H
#define HM_API_STORE_H

#include "guest.h"

struct api_store;

/* For /metrics. */
struct api_store_counts {
    unsigned long long commits, runs, failures; /* transactions, runs in them, and what failed */
    bool well;                                  /* the last that was tried has worked */
};

/* Opens the store, so that what is wrong with it is told at once. `lent`: at most so many at once.
 */
int api_store_new(const char *where, size_t lent, struct api_store **ret_store, struct hm_err *err);
/* When nobody uses it any more; what was waiting has been written. */
void api_store_free(struct api_store *store);

/* As guests see it. Lives as long as the store. */
const struct cli_guest_store *api_store_access(struct api_store *store);
void api_store_count(struct api_store *store, struct api_store_counts *ret_counts);

#endif
