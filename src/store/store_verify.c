/*
 * Checks a store for damage. If the database has its own check, that check runs first; then the
 * number of samples of each run is compared with the number that is stored with the run. Also gives
 * older stores checksums.
 */
#include <string.h>

#include "err.h"
#include "memory.h"
#include "store.h"

struct finding {
    char text[200]; /* First line of the database's report about damage; empty if there is none. */
};

static int take_finding(void *context, const struct hm_sql_value *cells, size_t count,
                        struct hm_err *err)
{
    struct finding *f = context;
    const char *text = count > 0 && cells[0].kind == HM_SQL_TEXT ? cells[0].text : NULL;

    (void)err;
    /* The first line of SQLite's report names the database. */
    if (text && strncmp(text, "***", 3) == 0 && strchr(text, '\n'))
        text = strchr(text, '\n') + 1;
    if (text && strcmp(text, "ok") != 0 && f->text[0] == '\0') {
        size_t length = strcspn(text, "\n");
        if (length >= sizeof(f->text))
            length = sizeof(f->text) - 1;
        memcpy(f->text, text, length);
    }
    return 0;
}

static int verify_counts(struct hm_store *store, int64_t *ret_runs, struct hm_err *err)
{
    int64_t odd = 0;
    int rc = hm__store_number(store, "SELECT count(*) FROM runs", NULL, 0, ret_runs, err);

    if (rc == 0)
        rc = hm__store_number(store,
                              "SELECT count(*) FROM runs WHERE sample_count <> "
                              "(SELECT count(*) FROM samples WHERE run_id = runs.id)",
                              NULL, 0, &odd, err);
    if (rc == 0 && odd > 0)
        rc = hm__fail(err, HM_E_IO, "the store is damaged: %lld runs lack samples", (long long)odd);
    return rc;
}

int hm__store_verify(struct hm_store *store, bool quick, int64_t *ret_runs, struct hm_err *err)
{
    const char *query = quick ? store->sql->verify_quick : store->sql->verify;
    struct finding found = {.text = ""};
    bool sound = false;
    int rc = 0;

    if (store->sql->scan)
        rc = store->sql->scan(store->connection, &sound, err);
    if (rc == 0 && query && !(quick && sound))
        rc = hm__store_query(store, query, NULL, 0, take_finding, &found, NULL, err);
    if (rc == 0 && found.text[0])
        rc = hm__fail(err, HM_E_IO, "the store is damaged: %s", found.text);
    if (rc == 0 && !quick)
        rc = verify_counts(store, ret_runs, err);
    if (rc == HM_E_IO) {
        hm__err_at(err, store->label, 0);
        hm__err_hint(err, "copy what can be read: howmany runs recover NEW.db");
    }
    return rc;
}

bool hm__store_has_sums(const struct hm_store *store)
{
    return !store->sql->has_sums || store->sql->has_sums(store->connection);
}

int hm__store_add_sums(struct hm_store *store, struct hm_err *err)
{
    char *label = NULL;

    if (hm__store_has_sums(store))
        return 0;
    store->sql->close(store->connection);
    store->connection = NULL;
    store->waiting = -1;
    int rc = store->sql->add_sums(store->label, err);
    int again = store->sql->open(store->label, &store->connection, &label, rc ? NULL : err);
    hm__free(label);
    return rc ? rc : again;
}

int hm__store_largest_id(struct hm_store *store, int64_t *ret_id, struct hm_err *err)
{
    return hm__store_number(store, "SELECT max(id) FROM runs", NULL, 0, ret_id, err);
}
