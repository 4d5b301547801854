/*
 * Adds waiting runs to the indexes. A commit of a few runs would change pages of all indexes, and
 * each changed page is written to the log as a whole. Therefore, new runs are committed without
 * index entries; later, many runs are added to the indexes in one transaction, in which most pages
 * change only once. Until then, queries read these waiting runs one by one, in addition to the runs
 * that they find by an index (store_runs.c).
 */
#include "store.h"

/*
 * Rebuilding an index from all runs takes a fifth of the time per run that adding single runs
 * takes, because runs are sorted instead of searched for. With SQLite, the 22 indexes take 8 us per
 * run instead of 40 us.
 */
enum { REBUILD = 5 };

/*
 * If more runs are waiting, because earlier attempts failed, this many are added in one
 * transaction, which takes about a second; the next call adds more.
 */
enum { PLACED_AT_ONCE = 20000 };

static int count_waiting(struct hm_store *store, int64_t *ret_count)
{
    return hm__store_number(store, "SELECT count(*) FROM runs WHERE waiting = 1", NULL, 0,
                            ret_count, NULL);
}

bool hm__store_is_rebuild_faster(int64_t added, int64_t runs)
{
    return REBUILD * added >= runs;
}

int hm__store_place_waiting(struct hm_store *store, struct hm_err *err)
{
    return hm__store_exec(store, "UPDATE runs SET waiting = NULL WHERE waiting = 1", err);
}

int hm__store_place_all(struct hm_store *store, bool rebuild, struct hm_err *err)
{
    int rc = rebuild ? hm__store_drop_indexes(store, false, err) : 0;

    if (rc == 0)
        rc = hm__store_place_waiting(store, err);
    if (rc == 0 && rebuild)
        rc = hm__store_create_indexes(store, false, err);
    return rc;
}

/* Adds PLACED_AT_ONCE waiting runs to the indexes, inside a transaction. */
static int place_some(struct hm_store *store)
{
    struct hm_sql_value most = hm__sql_integer(PLACED_AT_ONCE);

    return hm__store_query(store,
                           "UPDATE runs SET waiting = NULL WHERE id IN "
                           "(SELECT id FROM runs WHERE waiting = 1 ORDER BY id LIMIT $1)",
                           &most, 1, NULL, NULL, NULL, NULL);
}

/* Adds the waiting runs to the indexes unless another program has just done so. */
static int place_if_many(struct hm_store *store)
{
    /*
     * `last` is the largest id. It serves as an estimate of the number of runs, which is too large
     * only by the number of deleted runs.
     */
    int64_t waiting = 0, last = 0;
    int rc = count_waiting(store, &waiting);

    if (rc == 0)
        rc = hm__store_largest_id(store, &last, NULL);
    if (rc || waiting < HM_STORE_WAITING)
        return rc;
    if (waiting > PLACED_AT_ONCE)
        return place_some(store);
    /*
     * A database server drops an index only when no other program reads the table, and all later
     * readers wait for that. Only a program that has the file to itself rebuilds the indexes.
     */
    return hm__store_place_all(
        store, !store->sql->remote && hm__store_is_rebuild_faster(waiting, last), NULL);
}

void hm__store_place(struct hm_store *store, size_t added)
{
    if (store->waiting < 0 && count_waiting(store, &store->waiting))
        store->waiting = -1;
    else
        store->waiting += (int64_t)added;
    if (store->waiting < HM_STORE_WAITING)
        return;
    store->waiting = -1;
    if (hm__store_exec(store, store->sql->begin_place, NULL) == 0)
        hm__store_end(store, place_if_many(store), NULL);
}
