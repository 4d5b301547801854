/* Counts the runs of a store that wait to be added to the indexes. */
#ifndef HM_STORE_WAITING_H
#define HM_STORE_WAITING_H

#include "store.h"
#include "store_testing.h"

static inline int64_t waiting_runs(struct hm_store *store)
{
    int64_t count = -1;

    assert_done(hm__store_number(store, "SELECT count(*) FROM runs WHERE waiting = 1", NULL, 0,
                                 &count, err));
    return count;
}

#endif
