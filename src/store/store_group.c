/*
 * Adds the runs of many callers in one transaction. A statement that inserts a run opens the table
 * and each of its indexes, which takes longer than the insertion itself. Therefore, a run is given
 * its id at once, because its caller needs it, and is inserted later together with other runs. The
 * transaction excludes other writers, so no other run can have this id.
 *
 * Runs that are already in the store, runs without a key and runs with samples are added at once
 * (store_add.c).
 */
#include <string.h>

#include "check.h"
#include "err.h"
#include "memory.h"
#include "store.h"
#include "store_cells.h"
#include "stored.h"

enum { GROUP_CELLS = HM_RUN_CELLS + 1 }; /* Values of a run, including its id. */

int hm__store_group_begin(struct hm_store_group *g, struct hm_store *store, struct hm_err *err)
{
    g->store = store;
    g->count = g->added = g->runs = 0;
    g->last_id = -1;
    hm__store_now(g->now);
    return hm__store_exec(store, store->sql->begin_write, err);
}

/* ---- inserting --------------------------------------------------------------------------------
 */

/* Inserts 2^power waiting runs, starting with the run at index `first`. */
static int insert_runs(struct hm_store_group *g, size_t power, size_t first, struct hm_err *err)
{
    struct hm_text *sql = &g->store->insert_group[power];
    struct hm_sql_value cells[HM_GROUP_RUNS * GROUP_CELLS];
    size_t count = (size_t)1 << power;

    if (sql->failed)
        hm__text_release(sql);
    if (!sql->data)
        hm__run_insert(sql, g->store->sql, HM_INSERT_IDS | HM_INSERT_WAITING, count);
    if (sql->failed)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        const struct hm_group_run *r = &g->waiting[first + i];
        cells[i * GROUP_CELLS] = hm__sql_integer(r->id);
        memcpy(&cells[i * GROUP_CELLS + 1], r->cells, HM_RUN_CELLS * sizeof(*r->cells));
    }
    return hm__store_query(g->store, sql->data, cells, count * GROUP_CELLS, NULL, NULL, NULL, err);
}

static void forget_waiting(struct hm_store_group *g)
{
    for (size_t i = 0; i < g->count; i++)
        hm__free(g->waiting[i].cells);
    g->count = 0;
}

/* Inserts all waiting runs, with as few statements as possible. */
static int insert_waiting(struct hm_store_group *g, struct hm_err *err)
{
    int rc = 0;

    for (size_t at = 0, power = HM_GROUP_STATEMENTS; rc == 0 && power-- > 0;)
        if (g->count & ((size_t)1 << power)) {
            rc = insert_runs(g, power, at, err);
            at += (size_t)1 << power;
        }
    forget_waiting(g);
    return rc;
}

/* ---- adding -----------------------------------------------------------------------------------
 */

/* Returns the values of a run with copies of its strings, or NULL if memory runs out. */
static struct hm_sql_value *copy_cells(const struct hm_stored *run, const char *now)
{
    struct hm_sql_value cells[HM_RUN_CELLS], *copy;
    size_t lengths[HM_RUN_CELLS], bytes = sizeof(cells);

    hm__run_cells(run, now, cells);
    for (size_t i = 0; i < HM_RUN_CELLS; i++) {
        bool text = cells[i].kind == HM_SQL_TEXT && !cells[i].null;
        lengths[i] = text ? strlen(cells[i].text) + 1 : 0;
        bytes += lengths[i];
    }
    if (!(copy = hm__calloc(1, bytes)))
        return NULL;
    char *at = (char *)(copy + HM_RUN_CELLS);
    for (size_t i = 0; i < HM_RUN_CELLS; i++) {
        copy[i] = cells[i];
        if (lengths[i] == 0)
            continue;
        copy[i].text = memcpy(at, cells[i].text, lengths[i]);
        at += lengths[i];
    }
    return copy;
}

static bool key_waits(const struct hm_store_group *g, const char *key)
{
    const size_t column = offsetof(struct hm_stored, key);

    for (size_t i = 0; i < HM_RUN_CELLS - 1; i++)
        for (size_t k = 0; hm__store_columns[i + 1].offset == column && k < g->count; k++)
            if (strcmp(g->waiting[k].cells[i].text, key) == 0)
                return true;
    return false;
}

/* Determines whether a run is new and may be inserted later. */
static int check_run(struct hm_store_group *g, const struct hm_stored *run, bool *ret_waits,
                     struct hm_err *err)
{
    int64_t known = 0;
    int rc = 0;

    *ret_waits = false;
    if (!g->store->sql->last_insert || !run->key || run->sample_count > 0 || key_waits(g, run->key))
        return 0;
    rc = hm__store_find_key(g->store, run->key, &known, err);
    *ret_waits = rc == 0 && known == 0;
    return rc;
}

/* Gives a new run an id, and stores the run until it is inserted. */
static int keep_run(struct hm_store_group *g, const struct hm_stored *run, int64_t *ret_id,
                    struct hm_err *err)
{
    int rc = g->count == HM_GROUP_RUNS ? insert_waiting(g, err) : 0;

    if (rc == 0 && g->last_id < 0) {
        g->last_id = 0; /* The query returns nothing if no run was ever added. */
        rc = hm__store_number(g->store, g->store->sql->last_id, NULL, 0, &g->last_id, err);
    }
    struct hm_sql_value *cells = rc == 0 ? copy_cells(run, g->now) : NULL;
    if (rc == 0 && !cells)
        rc = hm__fail_nomem(err);
    if (rc == 0) {
        *ret_id = ++g->last_id;
        g->waiting[g->count++] = (struct hm_group_run){*ret_id, cells};
    }
    return rc;
}

/* Adds a whole batch at once, after the waiting runs. */
static int add_at_once(struct hm_store_group *g, struct hm_store_batch *batch, struct hm_err *err)
{
    int rc = insert_waiting(g, err);

    g->last_id = -1;
    return rc ? rc : hm__store_add_begun(g->store, batch, 1, err);
}

int hm__store_group_add(struct hm_store_group *g, struct hm_store_batch *batch, struct hm_err *err)
{
    bool waits = false;
    int64_t id = 0;
    int rc = 0;

    if (batch->count == 1 && !batch->checked) {
        rc = hm_stored_check(&batch->runs[0], err);
        if (rc)
            hm__err_at(err, "runs", 1);
    }
    if (rc == 0 && batch->count == 1)
        rc = check_run(g, &batch->runs[0], &waits, err);
    if (rc == 0 && waits)
        rc = keep_run(g, &batch->runs[0], &id, err);
    else if (rc == 0)
        rc = add_at_once(g, batch, err);
    if (rc == 0 && waits) {
        batch->added = 1;
        if (batch->ids)
            batch->ids[0] = id;
    }
    g->runs += batch->count;
    g->added += rc == 0 ? batch->added : 0;
    return rc;
}

int hm__store_group_end(struct hm_store_group *g, int rc, struct hm_err *err)
{
    if (rc == 0)
        rc = insert_waiting(g, err);
    forget_waiting(g);
    return hm__store_end(g->store, rc, err);
}
