/* Connects to a PostgreSQL server within the budget of a request. */
#ifndef HM_POSTGRES_CONNECT_H
#define HM_POSTGRES_CONNECT_H

#include "libpq.h"

/* Longest time between two checks of the budget while a server is waited for, in milliseconds. */
enum { POSTGRES_SLICE_MS = 20 };

/*
 * Connects to the server at an address. Fails if the budget of this thread is spent before, or if
 * there is no memory. A connection that could not be made has a message of its own (PQstatus,
 * PQerrorMessage).
 */
int hm__postgres_connect(const struct hm_libpq *pq, const char *where, PGconn **ret_link,
                         struct hm_err *err);

#endif
