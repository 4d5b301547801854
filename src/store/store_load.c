/*
 * Adds a large table of runs in one transaction: drops all indexes of the runs, inserts the runs
 * with increasing ids, and builds the indexes by sorting. The index of the keys is also dropped, so
 * a key that occurs twice is found only at the end; the caller must then add the table in another
 * way. The runs must not have samples.
 */
#include "store_load.h"

#include "err.h"
#include "store_cells.h"

enum {
    LOAD_AT_ONCE = 16, /* Number of runs that one INSERT statement adds. */
    LOAD_CELLS =
        HM_RUN_CELLS + 1 /* Number of values that are stored for a run, including its id. */
};

/*
 * Sets *ret_useful to true if rebuilding the indexes from all runs is faster, and the store does
 * not yet have the first run of the table.
 */
static int check_load(struct hm_store_load *load, size_t count, const char *first_key,
                      bool *ret_useful, struct hm_err *err)
{
    struct hm_sql_value key = hm__sql_text(first_key);
    int64_t known = 0, runs = 0;
    int rc = hm__store_number(load->store, "SELECT count(*) FROM runs WHERE \"key\" = $1", &key, 1,
                              &known, err);

    if (rc == 0)
        rc = hm__store_largest_id(load->store, &runs, err);
    if (rc == 0)
        rc = hm__store_number(load->store, load->store->sql->last_id, NULL, 0, &load->last_id, err);
    *ret_useful = rc == 0 && known == 0 && count >= HM_STORE_WAITING &&
                  hm__store_is_rebuild_faster((int64_t)count, (int64_t)count + runs);
    return rc;
}

int hm__store_load_begin(struct hm_store_load *load, struct hm_store *store, size_t count,
                         const char *first_key, bool *ret_begun, struct hm_err *err)
{
    *load = (struct hm_store_load){.store = store};
    *ret_begun = false;
    if (!store->sql->last_id)
        return 0;
    hm__run_insert(&load->insert_one, store->sql, HM_INSERT_IDS, 1);
    hm__run_insert(&load->insert_many, store->sql, HM_INSERT_IDS, LOAD_AT_ONCE);
    hm__store_now(load->now);
    int rc = load->insert_one.failed || load->insert_many.failed ? hm__fail_nomem(err) : 0;
    if (rc == 0)
        rc = hm__store_exec(store, store->sql->begin_write, err);
    if (rc == 0) {
        rc = check_load(load, count, first_key, ret_begun, err);
        if (*ret_begun)
            rc = hm__store_drop_indexes(store, true, err);
        if (rc || !*ret_begun)
            store->sql->exec(store->connection, "ROLLBACK", NULL);
    }
    *ret_begun = *ret_begun && rc == 0;
    if (!*ret_begun) {
        hm__text_release(&load->insert_one);
        hm__text_release(&load->insert_many);
    }
    return rc;
}

int hm__store_load_add(struct hm_store_load *load, const struct hm_stored *runs, size_t count,
                       int64_t *ret_ids, struct hm_err *err)
{
    struct hm_sql_value cells[LOAD_AT_ONCE * LOAD_CELLS];
    int rc = 0;

    for (size_t i = 0, group; rc == 0 && i < count; i += group) {
        group = count - i >= LOAD_AT_ONCE ? LOAD_AT_ONCE : 1;
        for (size_t k = 0; k < group; k++) {
            ret_ids[i + k] = ++load->last_id;
            cells[k * LOAD_CELLS] = hm__sql_integer(load->last_id);
            hm__run_cells(&runs[i + k], load->now, &cells[k * LOAD_CELLS + 1]);
        }
        rc =
            hm__store_query(load->store, group > 1 ? load->insert_many.data : load->insert_one.data,
                            cells, group * LOAD_CELLS, NULL, NULL, NULL, err);
    }
    return rc;
}

int hm__store_load_end(struct hm_store_load *load, int rc, struct hm_err *err)
{
    hm__text_release(&load->insert_one);
    hm__text_release(&load->insert_many);
    if (rc == 0)
        rc = hm__store_place_waiting(load->store, err);
    if (rc == 0)
        rc = hm__store_create_indexes(load->store, true, err);
    rc = hm__store_end(load->store, rc, err);
    load->store->waiting = -1;
    return rc;
}
