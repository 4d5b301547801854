/*
 * The tables, version by version. A step is never changed once it has been released: a new version
 * is a new row of the table of steps. Of several programs that open an old store at once one makes
 * the steps, and the others wait for it.
 *
 * Pages of runs are found by indexes in the order (column, id), whichever column they are sorted
 * by; see order.c.
 */
#include <string.h>

#include "err.h"
#include "store.h"
#include "text.h"

/* {id}, {text}, {packed}, {,id}: as the database spells it. */
#define REAL(name) name " double precision"
#define TEXT(name) name " {text}"
#define INDEX(name) "CREATE INDEX runs_" name " ON runs (" name "{,id});"

static const struct step {
    int version; /* that it leads to, from the one before */
    const char *sql;
} steps[] = {
    {0,
     "CREATE TABLE meta (version bigint NOT NULL);"
     "INSERT INTO meta (version) VALUES (0);"
     "CREATE TABLE runs (id {id}, \"key\" {text}, made_at {text} NOT NULL,"
     "status {text} NOT NULL," TEXT("algorithm") "," TEXT("problem") "," TEXT("data") "," TEXT(
         "jo"
         "b") "," TEXT("machine") "," TEXT("scheme") "," TEXT("host") "," TEXT("version") ","
                                                                                          "n "
                                                                                          "double "
                                                                                          "precisio"
                                                                                          "n NOT "
                                                                                          "NULL"
                                                                                          "," REAL("batch") "," REAL("latency") "," REAL(
                                                                                              "band"
                                                                                              "widt"
                                                                                              "h") "," REAL("size") "," REAL("seconds") "," REAL("total") "," REAL("iterations") "," REAL("loss") "," REAL("best") "," REAL("seed") ");"},
    {1,
     "ALTER TABLE runs ADD COLUMN cost double precision;"
     "ALTER TABLE runs ADD COLUMN more {text};"
     "ALTER TABLE runs ADD COLUMN sample_count bigint NOT NULL DEFAULT 0;"
     "CREATE UNIQUE INDEX runs_key ON runs (\"key\");"
     "CREATE TABLE samples (run_id bigint NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"
     "position bigint NOT NULL," REAL("iteration") "," REAL("seconds") "," REAL(
         "elapsed_s") "," REAL("loss") ", PRIMARY KEY (run_id, position)) {packed};"
                                       "CREATE TABLE documents (kind {text} NOT NULL, name {text} "
                                       "NOT NULL,"
                                       "made_at {text} NOT NULL, body {text} NOT NULL, PRIMARY KEY "
                                       "(kind, name));" INDEX("made_at") INDEX("status") INDEX(
                                           "algorithm") INDEX("problem") INDEX("data") INDEX("job")
                                           INDEX("machine") INDEX("scheme") INDEX("host") INDEX(
                                               "version") INDEX("n") INDEX("batch") INDEX("latency")
                                               INDEX("bandwidth") INDEX("size") INDEX("seconds")
                                                   INDEX("total") INDEX("iterations") INDEX("loss")
                                                       INDEX("best") INDEX("cost") INDEX("seed")},
};

enum { STEPS = sizeof(steps) / sizeof(steps[0]), NOTHING = -1 };

static void spell(struct hm_text *out, const struct hm_sql *sql, const char *text)
{
    const struct {
        const char *name, *spelling;
    } words[] = {{"{id}", sql->id_type},
                 {"{text}", sql->text_type},
                 {"{packed}", sql->packed},
                 {"{,id}", sql->index_id}};

    while (*text) {
        size_t plain = strcspn(text, "{");
        hm__text_add_n(out, text, plain);
        text += plain;
        for (size_t i = 0; *text && i < sizeof(words) / sizeof(words[0]); i++)
            if (strncmp(text, words[i].name, strlen(words[i].name)) == 0) {
                hm__text_add(out, words[i].spelling);
                text += strlen(words[i].name);
                break;
            }
    }
}

static int read_version(struct hm_store *store, int64_t *ret_version, struct hm_err *err)
{
    int64_t there = 0;
    int rc = hm__store_number(store, store->sql->has_meta, NULL, 0, &there, err);

    *ret_version = NOTHING;
    if (rc == 0 && there)
        rc = hm__store_number(store, "SELECT max(version) FROM meta", NULL, 0, ret_version, err);
    if (rc == 0 && *ret_version > HM_STORE_VERSION) {
        rc =
            hm__fail(err, HM_E_UNSUPPORTED, "the store has version %lld, and this program knows %d",
                     (long long)*ret_version, HM_STORE_VERSION);
        hm__err_hint(err, "a later version of howmany has written it; use that one");
        hm__err_at(err, store->label, 0);
    }
    return rc;
}

static int make_step(struct hm_store *store, const struct step *step, struct hm_err *err)
{
    struct hm_sql_value version = hm__sql_integer(step->version);
    struct hm_text sql = {0};
    struct hm_err why = {0};

    spell(&sql, store->sql, step->sql);
    int rc =
        sql.failed ? hm__fail_nomem(&why) : store->sql->exec(store->connection, sql.data, &why);
    if (rc == 0)
        rc = hm__store_query(store, "UPDATE meta SET version = $1", &version, 1, NULL, NULL, NULL,
                             &why);
    hm__text_release(&sql);
    if (rc == HM_E_NOMEM)
        return hm__fail_nomem(err);
    if (rc) {
        hm__fail(err, rc, "cannot bring the store to version %d: %.250s", step->version,
                 why.message);
        hm__err_at(err, store->label, 0);
    }
    return rc;
}

int hm__store_migrate(struct hm_store *store, struct hm_err *err)
{
    int64_t version;
    int rc = read_version(store, &version, err);

    if (rc || version == HM_STORE_VERSION)
        return rc;
    rc = hm__store_exec(store, store->sql->begin_write, err);
    if (rc)
        return rc;
    rc = read_version(store, &version, err); /* another may have been here first */
    for (size_t i = 0; rc == 0 && i < STEPS; i++)
        if (steps[i].version > version)
            rc = make_step(store, &steps[i], err);
    return hm__store_end(store, rc, err);
}
