/* Opens a store and runs statements on it. */
#include "store.h"

#include <string.h>
#include <sys/stat.h>

#include "checks.h"
#include "err.h"
#include "memory.h"

static bool is_address(const char *where)
{
    return strncmp(where, "postgresql://", 13) == 0 || strncmp(where, "postgres://", 11) == 0;
}

static const struct hm_sql *database_of(const char *where)
{
    return is_address(where) ? &hm__postgres : &hm__sqlite;
}

/*
 * Fails for the names that SQLite does not take for the path of a file: a database in memory would
 * lose all runs when it is closed, and each connection would have its own; a URI has options.
 */
static int check_path(const char *where, struct hm_err *err)
{
    const bool memory = strcmp(where, ":memory:") == 0;

    if (is_address(where) || (!memory && strncmp(where, "file:", 5) != 0))
        return 0;
    hm__fail(err, HM_E_NAME,
             memory ? "a store in memory would lose its runs"
                    : "a store is named by a path or a PostgreSQL address, not by a URI");
    hm__err_hint(err, "name a file, or postgresql://user@host/name");
    hm__err_at(err, where, 0);
    return HM_E_NAME;
}

enum open_mode { OPEN_NORMAL, OPEN_DAMAGED, OPEN_BEFORE_DAMAGE };

static int open_connection(struct hm_store *store, const char *where, enum open_mode mode,
                           struct hm_err *err)
{
    store->waiting = -1;
    if (!where || !*where) {
        hm__fail(err, HM_E_MISSING, "no store is given");
        hm__err_hint(err, "name a file, or postgresql://user@host/name");
        return HM_E_MISSING;
    }
    int bad = check_path(where, err);
    if (bad)
        return bad;
    store->sql = database_of(where);
    if (mode == OPEN_NORMAL)
        return store->sql->open(where, &store->connection, &store->label, err);
    if (!store->sql->open_damaged)
        return hm__fail(err, HM_E_UNSUPPORTED, "this store has no log of its own");
    int rc = store->sql->open_damaged(where, mode == OPEN_BEFORE_DAMAGE, &store->connection,
                                      &store->label, err);
    /* If the log is sound, the version of the store could not be read. */
    if (rc && rc != HM_E_NOMEM && mode == OPEN_DAMAGED)
        rc = store->sql->open(where, &store->connection, &store->label, err);
    return rc;
}

static int open_with_mode(const char *where, enum open_mode mode, struct hm_store **ret_store,
                          struct hm_err *err)
{
    struct hm_store *store = hm__calloc(1, sizeof(*store));
    int rc = store ? open_connection(store, where, mode, err) : hm__fail_nomem(err);

    if (rc == 0)
        rc = mode == OPEN_NORMAL ? hm__store_migrate(store, err)
                                 : hm__store_check_version(store, err);
    if (rc)
        hm_store_close(store);
    else
        *ret_store = store;
    return rc;
}

bool hm__store_exists(const char *where)
{
    const struct hm_sql *sql = database_of(where);

    return !sql->exists || sql->exists(where);
}

bool hm__store_is_same(const char *one, const char *two)
{
    struct stat a, b;

    if (strcmp(one, two) == 0)
        return true;
    return !is_address(one) && !is_address(two) && stat(one, &a) == 0 && stat(two, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int hm_store_open(const char *where, struct hm_store **ret_store, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "ret_store", ret_store, NULL);

    return bad ? bad : open_with_mode(where, OPEN_NORMAL, ret_store, err);
}

int hm__store_open_damaged(const char *where, bool before, struct hm_store **ret_store,
                           struct hm_err *err)
{
    return open_with_mode(where, before ? OPEN_BEFORE_DAMAGE : OPEN_DAMAGED, ret_store, err);
}

void hm_store_close(struct hm_store *store)
{
    if (!store)
        return;
    if (store->connection)
        store->sql->close(store->connection);
    hm__text_release(&store->insert_one);
    hm__text_release(&store->insert_many);
    for (size_t i = 0; i < HM_GROUP_STATEMENTS; i++)
        hm__text_release(&store->insert_group[i]);
    hm__free(store->label);
    hm__free(store);
}

int hm__store_exec(struct hm_store *store, const char *sql, struct hm_err *err)
{
    int rc = store->sql->exec(store->connection, sql, err);

    if (rc)
        hm__err_at(err, store->label, 0);
    return rc;
}

int hm__store_query(struct hm_store *store, const char *sql, const struct hm_sql_value *parameters,
                    size_t count, hm_sql_row *row, void *context, int64_t *ret_changed,
                    struct hm_err *err)
{
    int rc = store->sql->query(store->connection, sql, parameters, count, row, context, ret_changed,
                               err);

    if (rc && rc != HM_SQL_STOP)
        hm__err_at(err, store->label, 0);
    return rc;
}

static int take_number(void *number, const struct hm_sql_value *cells, size_t count,
                       struct hm_err *err)
{
    (void)count;
    (void)err;
    *(int64_t *)number = cells[0].integer;
    return 0;
}

int hm__store_number(struct hm_store *store, const char *sql, const struct hm_sql_value *parameters,
                     size_t count, int64_t *ret_number, struct hm_err *err)
{
    return hm__store_query(store, sql, parameters, count, take_number, ret_number, NULL, err);
}

int hm__store_find_key(struct hm_store *store, const char *key, int64_t *ret_id, struct hm_err *err)
{
    struct hm_sql_value value = hm__sql_text(key);

    return hm__store_number(store, "SELECT id FROM runs WHERE \"key\" = $1", &value, 1, ret_id,
                            err);
}

bool hm__store_refuses_writes(const struct hm_err *err)
{
    static const char *const fields[] = {HM_STORE_DISK, HM_STORE_LOCK, HM_STORE_READ_ONLY};

    for (size_t i = 0; err->code == HM_E_IO && i < sizeof(fields) / sizeof(fields[0]); i++)
        if (strcmp(err->field, fields[i]) == 0)
            return true;
    return false;
}

bool hm__store_is_partly_unreadable(const struct hm_err *err)
{
    return err->code == HM_E_IO && !hm__store_refuses_writes(err) &&
           strcmp(err->field, HM_STORE_PLACE) != 0;
}

bool hm__store_is_usable(const struct hm_store *store)
{
    return !store->sql->usable || store->sql->usable(store->connection);
}

int hm__store_end(struct hm_store *store, int rc, struct hm_err *err)
{
    if (rc == 0)
        rc = hm__store_exec(store, "COMMIT", err);
    if (rc)
        store->sql->exec(store->connection, "ROLLBACK", NULL);
    return rc;
}
