/* Loads the PostgreSQL client library, libpq, at run time; see libpq.h. */
#include "libpq.h"

#include "library.h"

int hm__libpq_load(struct hm_libpq *pq, struct hm_err *err)
{
    void *library = NULL;
    int rc = hm__library_open("libpq.so.5", "libpq5", &library, err);

#define HM_LIBPQ_FIND(name)                                                                        \
    if (rc == 0)                                                                                   \
        rc = hm__library_find(library, #name, &pq->name, err);
    HM_LIBPQ_MAP(HM_LIBPQ_FIND)
#undef HM_LIBPQ_FIND
    return rc;
}
