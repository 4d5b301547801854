/*
 * Defines the tables of a store, and the steps that migrate an older store to the current version.
 *
 * A migration step is never changed after its release; a new version adds a step to the table. If
 * several programs open an old store at the same time, one of them migrates it while the others
 * wait.
 *
 * Pages of runs are found by indexes on (column, id), one for each column by which runs can be
 * sorted; see order.c. Runs are added to these indexes some time after they are added to the store;
 * see store_place.c.
 */
#include <string.h>

#include "err.h"
#include "store.h"
#include "text.h"

/*
 * In the SQL below, the placeholders {id}, {text}, {packed} and {,id} are replaced by the members
 * id_type, text_type, packed and index_id of struct hm_sql, because these differ between databases.
 */
/* clang-format off */

/*
 * Version 0 of the schema has one row for each run, with the columns that identify the run and the
 * columns that a fit needs.
 */
static const char CREATE_RUNS[] =
    "CREATE TABLE meta (version bigint NOT NULL);"
    "INSERT INTO meta (version) VALUES (0);"
    "CREATE TABLE runs ("
    "    id         {id},"
    "    \"key\"      {text},"
    "    made_at    {text} NOT NULL,"
    "    status     {text} NOT NULL,"
    "    algorithm  {text},"
    "    problem    {text},"
    "    data       {text},"
    "    job        {text},"
    "    machine    {text},"
    "    scheme     {text},"
    "    host       {text},"
    "    version    {text},"
    "    n          double precision NOT NULL,"
    "    batch      double precision,"
    "    latency    double precision,"
    "    bandwidth  double precision,"
    "    size       double precision,"
    "    seconds    double precision,"
    "    total      double precision,"
    "    iterations double precision,"
    "    loss       double precision,"
    "    best       double precision,"
    "    seed       double precision"
    ");";

/*
 * Version 1 adds costs, other columns and samples, so that a store can hold traces. It also adds
 * documents, unique keys, so that a run that is sent twice is stored once, and an index for each
 * column by which runs can be sorted.
 */
static const char ADD_SAMPLES_AND_DOCUMENTS[] =
    "ALTER TABLE runs ADD COLUMN cost double precision;"
    "ALTER TABLE runs ADD COLUMN more {text};"
    "ALTER TABLE runs ADD COLUMN sample_count bigint NOT NULL DEFAULT 0;"
    "CREATE UNIQUE INDEX runs_key ON runs (\"key\");"
    "CREATE TABLE samples ("
    "    run_id    bigint NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"
    "    position  bigint NOT NULL,"
    "    iteration double precision,"
    "    seconds   double precision,"
    "    elapsed_s double precision,"
    "    loss      double precision,"
    "    PRIMARY KEY (run_id, position)"
    ") {packed};"
    "CREATE TABLE documents ("
    "    kind    {text} NOT NULL,"
    "    name    {text} NOT NULL,"
    "    made_at {text} NOT NULL,"
    "    body    {text} NOT NULL,"
    "    PRIMARY KEY (kind, name)"
    ");"
    "CREATE INDEX runs_made_at    ON runs (made_at{,id});"
    "CREATE INDEX runs_status     ON runs (status{,id});"
    "CREATE INDEX runs_algorithm  ON runs (algorithm{,id});"
    "CREATE INDEX runs_problem    ON runs (problem{,id});"
    "CREATE INDEX runs_data       ON runs (data{,id});"
    "CREATE INDEX runs_job        ON runs (job{,id});"
    "CREATE INDEX runs_machine    ON runs (machine{,id});"
    "CREATE INDEX runs_scheme     ON runs (scheme{,id});"
    "CREATE INDEX runs_host       ON runs (host{,id});"
    "CREATE INDEX runs_version    ON runs (version{,id});"
    "CREATE INDEX runs_n          ON runs (n{,id});"
    "CREATE INDEX runs_batch      ON runs (batch{,id});"
    "CREATE INDEX runs_latency    ON runs (latency{,id});"
    "CREATE INDEX runs_bandwidth  ON runs (bandwidth{,id});"
    "CREATE INDEX runs_size       ON runs (size{,id});"
    "CREATE INDEX runs_seconds    ON runs (seconds{,id});"
    "CREATE INDEX runs_total      ON runs (total{,id});"
    "CREATE INDEX runs_iterations ON runs (iterations{,id});"
    "CREATE INDEX runs_loss       ON runs (loss{,id});"
    "CREATE INDEX runs_best       ON runs (best{,id});"
    "CREATE INDEX runs_cost       ON runs (cost{,id});"
    "CREATE INDEX runs_seed       ON runs (seed{,id});";

/*
 * Since version 2, new runs are added to the indexes later and in large groups, which needs far
 * fewer writes; see store_place.c. Until then, their column `waiting` is 1. A separate index finds
 * the waiting runs.
 */
static const char ADD_WAITING[] =
    "ALTER TABLE runs ADD COLUMN waiting bigint;"
    "CREATE INDEX runs_waiting ON runs (id) WHERE waiting = 1;";
static const char DROP_INDEXES[] =
    "DROP INDEX runs_made_at;"
    "DROP INDEX runs_status;"
    "DROP INDEX runs_algorithm;"
    "DROP INDEX runs_problem;"
    "DROP INDEX runs_data;"
    "DROP INDEX runs_job;"
    "DROP INDEX runs_machine;"
    "DROP INDEX runs_scheme;"
    "DROP INDEX runs_host;"
    "DROP INDEX runs_version;"
    "DROP INDEX runs_n;"
    "DROP INDEX runs_batch;"
    "DROP INDEX runs_latency;"
    "DROP INDEX runs_bandwidth;"
    "DROP INDEX runs_size;"
    "DROP INDEX runs_seconds;"
    "DROP INDEX runs_total;"
    "DROP INDEX runs_iterations;"
    "DROP INDEX runs_loss;"
    "DROP INDEX runs_best;"
    "DROP INDEX runs_cost;"
    "DROP INDEX runs_seed;";
static const char CREATE_INDEXES[] =
    "CREATE INDEX runs_made_at    ON runs (made_at{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_status     ON runs (status{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_algorithm  ON runs (algorithm{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_problem    ON runs (problem{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_data       ON runs (data{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_job        ON runs (job{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_machine    ON runs (machine{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_scheme     ON runs (scheme{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_host       ON runs (host{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_version    ON runs (version{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_n          ON runs (n{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_batch      ON runs (batch{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_latency    ON runs (latency{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_bandwidth  ON runs (bandwidth{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_size       ON runs (size{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_seconds    ON runs (seconds{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_total      ON runs (total{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_iterations ON runs (iterations{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_loss       ON runs (loss{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_best       ON runs (best{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_cost       ON runs (cost{,id}) WHERE waiting IS NULL;"
    "CREATE INDEX runs_seed       ON runs (seed{,id}) WHERE waiting IS NULL;";
/* The index that finds runs by their keys; version 1 of the schema has it. */
static const char DROP_KEYS[] = "DROP INDEX runs_key;";
static const char CREATE_KEYS[] = "CREATE UNIQUE INDEX runs_key ON runs (\"key\");";
/* clang-format on */

enum { STEP_TEXTS = 3 };

static const struct step {
    int version; /* Version of the schema after this migration step. */
    /* SQL statements in the order of execution; NULL after the last one. */
    const char *sql[STEP_TEXTS];
} steps[] = {
    {0, {CREATE_RUNS}},
    {1, {ADD_SAMPLES_AND_DOCUMENTS}},
    {2, {ADD_WAITING, DROP_INDEXES, CREATE_INDEXES}},
};

enum {
    STEPS = sizeof(steps) / sizeof(steps[0]),
    NO_VERSION = -1 /* Version number of a database without tables. */
};

/* Appends SQL text in which the placeholders are replaced. */
static void expand_placeholders(struct hm_text *out, const struct hm_sql *sql, const char *text)
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

    *ret_version = NO_VERSION;
    if (rc == 0 && there)
        rc = hm__store_number(store, "SELECT max(version) FROM meta", NULL, 0, ret_version, err);
    if (rc == 0 && *ret_version > HM_STORE_VERSION) {
        rc = hm__fail(err, HM_E_UNSUPPORTED,
                      "the store has version %lld, but this program supports only %d",
                      (long long)*ret_version, HM_STORE_VERSION);
        hm__err_hint(err, "a newer version of howmany has written it; use that version");
        hm__err_at(err, store->label, 0);
    }
    return rc;
}

/* Replaces the placeholders in statements and runs the statements. */
static int run_texts(struct hm_store *store, const char *const *texts, size_t count,
                     struct hm_err *err)
{
    struct hm_text sql = {0};

    for (size_t i = 0; i < count && texts[i]; i++)
        expand_placeholders(&sql, store->sql, texts[i]);
    int rc = sql.failed ? hm__fail_nomem(err) : store->sql->exec(store->connection, sql.data, err);
    hm__text_release(&sql);
    return rc;
}

int hm__store_drop_indexes(struct hm_store *store, bool keys, struct hm_err *err)
{
    return run_texts(store, (const char *const[]){DROP_INDEXES, keys ? DROP_KEYS : NULL}, 2, err);
}

int hm__store_create_indexes(struct hm_store *store, bool keys, struct hm_err *err)
{
    const char *const texts[] = {CREATE_INDEXES, keys ? CREATE_KEYS : NULL};
    const struct hm_sql *sql = store->sql;
    int rc = sql->begin_sorting ? hm__store_exec(store, sql->begin_sorting, err) : 0;

    if (rc == 0)
        rc = run_texts(store, texts, 2, err);
    /* If this fails, which only makes later requests slower, the error is ignored. */
    if (sql->end_sorting)
        sql->exec(store->connection, sql->end_sorting, NULL);
    return rc;
}

static int apply_step(struct hm_store *store, const struct step *step, struct hm_err *err)
{
    struct hm_sql_value version = hm__sql_integer(step->version);
    struct hm_err why = {0}; /* Error from the database, which becomes part of the message. */
    int rc = run_texts(store, step->sql, STEP_TEXTS, &why);

    if (rc == 0)
        rc = hm__store_query(store, "UPDATE meta SET version = $1", &version, 1, NULL, NULL, NULL,
                             &why);
    if (rc == HM_E_NOMEM)
        return hm__fail_nomem(err);
    if (rc) {
        hm__fail(err, rc, "cannot migrate the store to version %d: %.250s", step->version,
                 why.message);
        hm__err_at(err, store->label, 0);
    }
    return rc;
}

int hm__store_check_version(struct hm_store *store, struct hm_err *err)
{
    int64_t version = NO_VERSION;
    struct hm_err why = {0};
    int rc = read_version(store, &version, &why);

    if (rc == HM_E_IO || (rc == 0 && version == HM_STORE_VERSION))
        return 0;
    if (rc == 0)
        return hm__fail(err, HM_E_UNSUPPORTED, "the store has version %lld, and cannot be migrated",
                        (long long)version);
    if (err)
        *err = why;
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
    /*
     * Read the version again, because another program may have migrated the store while this
     * program waited.
     */
    rc = read_version(store, &version, err);
    for (size_t i = 0; rc == 0 && i < STEPS; i++)
        if (steps[i].version > version)
            rc = apply_step(store, &steps[i], err);
    return hm__store_end(store, rc, err);
}
