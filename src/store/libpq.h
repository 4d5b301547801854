/*
 * Loads libpq when a store on a PostgreSQL server is opened, not when the program starts. libpq
 * depends on twenty other libraries (for TLS, Kerberos, LDAP and others), which would make every
 * start several times slower.
 */
#ifndef HM_LIBPQ_H
#define HM_LIBPQ_H

#include <libpq-fe.h>

#include "howmany.h"

#define HM_LIBPQ_MAP(X)                                                                            \
    X(PQclear)                                                                                     \
    X(PQcmdTuples)                                                                                 \
    X(PQconnectdbParams)                                                                           \
    X(PQconninfoFree)                                                                              \
    X(PQconninfoParse)                                                                             \
    X(PQerrorMessage)                                                                              \
    X(PQconsumeInput)                                                                              \
    X(PQfinish)                                                                                    \
    X(PQflush)                                                                                     \
    X(PQftype)                                                                                     \
    X(PQgetisnull)                                                                                 \
    X(PQgetResult)                                                                                 \
    X(PQgetvalue)                                                                                  \
    X(PQisBusy)                                                                                    \
    X(PQnfields)                                                                                   \
    X(PQresultErrorField)                                                                          \
    X(PQresultStatus)                                                                              \
    X(PQsendQuery)                                                                                 \
    X(PQsendQueryParams)                                                                           \
    X(PQsetnonblocking)                                                                            \
    X(PQsetNoticeProcessor)                                                                        \
    X(PQsetSingleRowMode)                                                                          \
    X(PQsocket)                                                                                    \
    X(PQstatus)

/* Pointers to the functions of libpq; each member has the name of its function. */
struct hm_libpq {
#define HM_LIBPQ_MEMBER(name) __typeof__(name) *name;
    HM_LIBPQ_MAP(HM_LIBPQ_MEMBER)
#undef HM_LIBPQ_MEMBER
};

/* Loads libpq and finds its functions; the library stays loaded until the program ends. */
int hm__libpq_load(struct hm_libpq *ret_pq, struct hm_err *err);

#endif
