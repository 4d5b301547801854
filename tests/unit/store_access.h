/* A store of runs for requests: a file of SQLite in a temporary folder, opened for each request. */
#ifndef STORE_ACCESS_H
#define STORE_ACCESS_H

#include <stdio.h>
#include <unistd.h>

#include "howmany_request.h"
#include "howmany_store.h"
#include "store.h"

static char folder[64], path[80];
static bool closed_after_failure; /* Whether the last request that used the store failed. */

static int access_open(void *data, const char *where, struct hm_store **ret_store,
                       struct hm_err *err)
{
    (void)data;
    return hm_store_open(where ? where : path, ret_store, err);
}

static void access_close(void *data, struct hm_store *store, bool failed)
{
    (void)data;
    closed_after_failure = failed;
    hm_store_close(store);
}

static int access_add(void *data, const char *where, struct hm_store_batch *batch,
                      struct hm_err *err)
{
    struct hm_store *store = NULL;
    int rc = access_open(data, where, &store, err);

    if (rc == 0)
        rc = hm_store_add_batches(store, batch, 1, err);
    hm_store_close(store);
    return rc;
}

static int access_open_damaged(void *data, const char *where, bool before,
                               struct hm_store **ret_store, struct hm_err *err)
{
    (void)data;
    return hm__store_open_damaged(where ? where : path, before, ret_store, err);
}

static const struct hm_store_access store_access = {NULL, access_open, access_close, access_add,
                                                    access_open_damaged};

/* Removes a store and the additional files that SQLite creates in the same folder. */
static void remove_files(const char *file)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    char name[100];

    for (size_t i = 0; i < 4; i++) {
        snprintf(name, sizeof(name), "%s%s", file, endings[i]);
        unlink(name);
    }
}

#endif
