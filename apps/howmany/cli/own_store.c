/* Finds and opens the store of runs. */
#include "own_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "folders.h"
#include "store.h"

const char *cli_store_find(const char *record, char path[CLI_STORE_ROOM], struct hm_err *err)
{
    const char *named = record ? record : getenv("HOWMANY_DB");
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int length = -1;

    if (record && !*record) { /* A variable of a script may be empty by mistake. */
        hm__fail(err, HM_E_MISSING, "the name of the store is empty");
        hm__err_hint(err, "give a file or postgresql://user@host/name, or leave out --record");
        return NULL;
    }
    if (named && *named)
        return named;
    if (data && data[0] == '/')
        length = snprintf(path, CLI_STORE_ROOM, "%s/howmany/howmany.db", data);
    else if (home && home[0] == '/')
        length = snprintf(path, CLI_STORE_ROOM, "%s/.local/share/howmany/howmany.db", home);
    if (length <= 0 || length >= CLI_STORE_ROOM) {
        hm__fail(err, HM_E_MISSING, "there is no home folder for the store of runs");
        hm__err_hint(err, "give a store with --record or HOWMANY_DB");
        return NULL;
    }
    return cli_folders_make(path, err) ? NULL : path;
}

int cli_store_open(const char *record, struct hm_store **ret_store)
{
    char path[CLI_STORE_ROOM];
    struct hm_err err = {0};
    const char *where = cli_store_find(record, path, &err);

    return !where || hm_store_open(where, ret_store, &err) ? cli_report(&err) : 0;
}

/* ---- requests ----------------------------------------------------------------------------------
 */

/* How a store is opened; see hm__store_open_damaged. */
enum { NORMAL, DAMAGED, BEFORE_DAMAGE };

/* Adds a store to those that are open. */
static int access_keep(struct cli_store_access *a, const char *where, int mode,
                       struct hm_store **ret_store, struct hm_err *err)
{
    struct hm_store *store = NULL;

    if (a->count == CLI_STORES || strlen(where) >= CLI_STORE_ROOM)
        return hm__fail(err, HM_E_LIMIT, "too many stores, or a name that is too long");
    int rc = mode ? hm__store_open_damaged(where, mode == BEFORE_DAMAGE, &store, err)
                  : hm_store_open(where, &store, err);
    if (rc)
        return rc;
    snprintf(a->where[a->count], CLI_STORE_ROOM, "%s", where);
    a->modes[a->count] = mode;
    a->stores[a->count++] = *ret_store = store;
    return 0;
}

/* Opens a store unless it is open already. */
static int access_open_as(struct cli_store_access *a, const char *where, int mode,
                          struct hm_store **ret_store, struct hm_err *err)
{
    char path[CLI_STORE_ROOM];
    const char *found = cli_store_find(where, path, err);

    if (!found)
        return HM_E_MISSING;
    for (size_t i = 0; i < a->count; i++)
        if (a->modes[i] == mode && strcmp(a->where[i], found) == 0) {
            *ret_store = a->stores[i];
            return 0;
        }
    return access_keep(a, found, mode, ret_store, err);
}

static int access_open(void *data, const char *where, struct hm_store **ret_store,
                       struct hm_err *err)
{
    return access_open_as(data, where, NORMAL, ret_store, err);
}

static int access_open_damaged(void *data, const char *where, bool before,
                               struct hm_store **ret_store, struct hm_err *err)
{
    return access_open_as(data, where, before ? BEFORE_DAMAGE : DAMAGED, ret_store, err);
}

/* Does nothing, because a store stays open until the command ends. */
static void access_close(void *data, struct hm_store *store, bool failed)
{
    (void)data;
    (void)store;
    (void)failed;
}

static int access_add(void *data, const char *where, struct hm_store_batch *batch,
                      struct hm_err *err)
{
    struct hm_store *store;
    int rc = access_open(data, where, &store, err);

    return rc ? rc : hm_store_add_batches(store, batch, 1, err);
}

void cli_store_access_init(struct cli_store_access *a)
{
    *a = (struct cli_store_access){
        .access = {a, access_open, access_close, access_add, access_open_damaged}};
}

void cli_store_access_release(struct cli_store_access *a)
{
    while (a->count > 0)
        hm_store_close(a->stores[--a->count]);
}
