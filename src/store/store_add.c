/*
 * Adds runs, all in one transaction. If a run has the same key and the same contents as a stored
 * run, it is not added again, so a client that received no answer can send its runs again. The same
 * key with other contents is an error.
 */
#include <string.h>

#include "check.h"
#include "checks.h"
#include "err.h"
#include "memory.h"
#include "run_text.h"
#include "store.h"
#include "store_cells.h"
#include "stored.h"
#include "text.h"
#include "value.h"

enum {
    CELLS = HM_RUN_CELLS,
    SAMPLE_CELLS = 6,
    AT_ONCE = 64,      /* Number of samples that one INSERT statement adds. */
    RUNS_AT_ONCE = 16, /* Number of runs that one INSERT statement adds. */
};

struct adding {
    struct hm_store *store;
    struct hm_text samples; /* INSERT statement for AT_ONCE samples. */
    char now[HM_STORE_TIME];
};

/* A run to add, with its id and whether it is new. */
struct added_run {
    const struct hm_stored *run;
    int64_t id;  /* Id of the run; 0 if not known yet. */
    bool is_new; /* True if the run was added, false if the store already had it. */
};

/* Writes the INSERT statement for `count` runs, unless this was done before. */
static void write_insert(const struct hm_sql *database, struct hm_text *sql, size_t count)
{
    if (sql->failed)
        hm__text_release(sql);
    if (sql->data)
        return;
    hm__run_insert(sql, database, HM_INSERT_WAITING, count);
    hm__text_add(sql, " ON CONFLICT (\"key\") DO NOTHING");
    /* SQLite would collect the rows of RETURNING in a temporary table, which takes longer than the
     * insertion. */
    if (!database->last_insert)
        hm__text_add(sql, " RETURNING id, \"key\"");
}

static void write_samples(struct hm_text *sql, size_t count)
{
    hm__text_add(sql, "INSERT INTO samples (run_id, position, iteration, seconds, elapsed_s, loss) "
                      "VALUES ");
    for (size_t i = 0; i < count; i++) {
        hm__text_add(sql, i ? ", (" : "(");
        for (size_t k = 1; k <= SAMPLE_CELLS; k++)
            hm__text_addf(sql, "%s$%zu", k > 1 ? ", " : "", i * SAMPLE_CELLS + k);
        hm__text_add(sql, ")");
    }
}

static int insert_samples(struct adding *a, const char *sql, int64_t id,
                          const struct hm_stored *run, size_t from, size_t count,
                          struct hm_err *err)
{
    struct hm_sql_value cells[AT_ONCE * SAMPLE_CELLS];

    for (size_t i = 0; i < count; i++) {
        const struct hm_stored_sample *s = &run->samples[from + i];
        struct hm_sql_value *c = &cells[i * SAMPLE_CELLS];
        c[0] = hm__sql_integer(id);
        c[1] = hm__sql_integer((int64_t)(from + i));
        c[2] = hm__sql_real(s->iteration);
        c[3] = hm__sql_real(s->seconds);
        c[4] = hm__sql_real(s->elapsed_s);
        c[5] = hm__sql_real(s->loss);
    }
    return hm__store_query(a->store, sql, cells, count * SAMPLE_CELLS, NULL, NULL, NULL, err);
}

static int add_samples(struct adding *a, int64_t id, const struct hm_stored *run,
                       struct hm_err *err)
{
    size_t at = 0;
    int rc = 0;

    if (run->sample_count >= AT_ONCE && !a->samples.data)
        write_samples(&a->samples, AT_ONCE);
    if (a->samples.failed)
        return hm__fail_nomem(err);
    for (; rc == 0 && run->sample_count - at >= AT_ONCE; at += AT_ONCE)
        rc = insert_samples(a, a->samples.data, id, run, at, AT_ONCE, err);
    if (rc == 0 && at < run->sample_count) {
        struct hm_text rest = {0};
        write_samples(&rest, run->sample_count - at);
        rc = rest.failed ? hm__fail_nomem(err)
                         : insert_samples(a, rest.data, id, run, at, run->sample_count - at, err);
        hm__text_release(&rest);
    }
    return rc;
}

/* ---- runs that are stored already --------------------------------------------------------------
 */

/* A run to add, and the stored run that has the same key. */
struct known_run {
    const struct hm_sql_value *cells; /* Values of the run to add, in the order of write_insert. */
    const struct hm_stored *run;
    int64_t id;
    size_t samples; /* Number of samples that have been compared. */
    bool differs;
};

static bool value_is_same(const struct hm_sql_value *a, const struct hm_sql_value *b)
{
    if (a->null || b->null)
        return a->null == b->null;
    if (a->kind == HM_SQL_TEXT || b->kind == HM_SQL_TEXT)
        return a->kind == b->kind && strcmp(a->text, b->text) == 0;
    double x = a->kind == HM_SQL_INTEGER ? (double)a->integer : a->real;
    double y = b->kind == HM_SQL_INTEGER ? (double)b->integer : b->real;
    return x == y;
}

/* Returns whether two scalars of the field `more` have the same value; a table whose column has
 * texts, too, stores a number as a text. */
static bool scalar_is_same(const struct hm_value *a, const struct hm_value *b)
{
    double x, y;

    return strcmp(a->text, b->text) == 0 ||
           (hm__run_bare_number(a->text, &x) && hm__run_bare_number(b->text, &y) && x == y);
}

/* Returns whether two JSON objects of the field `more` have the same members in any order. */
static bool more_is_same(const char *a, const char *b)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *x = NULL, *y = NULL;
    bool same = arena && hm__json_parse(arena, a, strlen(a), NULL, &x, NULL) == 0 &&
                hm__json_parse(arena, b, strlen(b), NULL, &y, NULL) == 0 &&
                x->kind == HM_VALUE_MAP && y->kind == HM_VALUE_MAP && x->count == y->count;

    for (size_t i = 0; same && i < x->count; i++) {
        const struct hm_value *other = hm__value_get(y, x->keys[i]);
        same = other && other->kind == HM_VALUE_SCALAR && x->items[i].kind == HM_VALUE_SCALAR &&
               scalar_is_same(&x->items[i], other);
    }
    hm__arena_free(arena);
    return same;
}

/* Compares a stored value with that of a run to add. */
static bool cell_is_same(size_t column, const struct hm_sql_value *stored,
                         const struct hm_sql_value *added)
{
    return value_is_same(stored, added) ||
           (column < HM_STORE_COLUMNS &&
            hm__store_columns[column].offset == offsetof(struct hm_stored, more) && !stored->null &&
            !added->null && more_is_same(stored->text, added->text));
}

/*
 * Compares the columns of a stored run with the columns of the run to add; `cells` are the id, all
 * other columns, and sample_count. The time at which the run was executed is compared only if it
 * was given, because by default it is the time at which the run is added.
 */
static int compare_columns(void *context, const struct hm_sql_value *cells, size_t count,
                           struct hm_err *err)
{
    struct known_run *k = context;

    (void)err;
    k->id = cells[0].integer;
    for (size_t i = 1; i < count; i++)
        if (i == HM_STORE_COLUMNS || k->run->made_at ||
            hm__store_columns[i].offset != offsetof(struct hm_stored, made_at))
            k->differs = k->differs || !cell_is_same(i, &cells[i], &k->cells[i - 1]);
    return 0;
}

static bool number_is_same(const struct hm_sql_value *cell, double number)
{
    struct hm_sql_value value = hm__sql_real(number);

    return value_is_same(cell, &value);
}

static int compare_sample(void *context, const struct hm_sql_value *cells, size_t count,
                          struct hm_err *err)
{
    struct known_run *k = context;
    const struct hm_stored_sample *s = &k->run->samples[k->samples];

    (void)count;
    (void)err;
    if (k->samples++ >= k->run->sample_count || !number_is_same(&cells[0], s->iteration) ||
        !number_is_same(&cells[1], s->seconds) || !number_is_same(&cells[2], s->elapsed_s) ||
        !number_is_same(&cells[3], s->loss))
        k->differs = true;
    return 0;
}

/*
 * Checks that the stored run that has the key of `run` also has the same contents, and returns its
 * id.
 */
static int check_known(struct adding *a, const struct hm_stored *run,
                       const struct hm_sql_value *cells, int64_t *ret_id, struct hm_err *err)
{
    struct known_run k = {.cells = cells, .run = run};
    struct hm_sql_value key = hm__sql_text(run->key);
    struct hm_text sql = {0};

    for (size_t i = 0; i < HM_STORE_COLUMNS; i++)
        hm__text_addf(&sql, "%s\"%s\"", i ? ", " : "SELECT ", hm__store_columns[i].name);
    hm__text_add(&sql, ", sample_count FROM runs WHERE \"key\" = $1");
    int rc = sql.failed
                 ? hm__fail_nomem(err)
                 : hm__store_query(a->store, sql.data, &key, 1, compare_columns, &k, NULL, err);
    hm__text_release(&sql);
    struct hm_sql_value id = hm__sql_integer(k.id);
    if (rc == 0 && !k.differs && run->sample_count > 0)
        rc = hm__store_query(a->store,
                             "SELECT iteration, seconds, elapsed_s, loss FROM samples "
                             "WHERE run_id = $1 ORDER BY position",
                             &id, 1, compare_sample, &k, NULL, err);
    if (rc == 0 && k.differs) {
        rc = hm__fail(err, HM_E_CONFLICT, "the key '%.80s' is used by a run with other contents",
                      run->key);
        hm__err_field(err, "key");
        hm__err_at(err, "store", 0);
        hm__err_hint(err, "give each run its own key; run %lld has this one", (long long)k.id);
    }
    *ret_id = k.id;
    return rc;
}

/* ---- inserting --------------------------------------------------------------------------------
 */

/* The runs that one INSERT statement has added. */
struct inserted_runs {
    struct added_run *runs;
    size_t count;
};

/*
 * Stores the id of an inserted run. The database may return rows in any order, so the run is found
 * by its key; a run without a key must be the only run in its statement.
 */
static int take_inserted(void *context, const struct hm_sql_value *cells, size_t count,
                         struct hm_err *err)
{
    struct inserted_runs *g = context;

    (void)count;
    (void)err;
    for (size_t i = 0; i < g->count; i++)
        if (!g->runs[i].is_new &&
            (cells[1].null || strcmp(cells[1].text, g->runs[i].run->key) == 0)) {
            g->runs[i].id = cells[0].integer;
            g->runs[i].is_new = true;
            break;
        }
    return 0;
}

/*
 * Finds the runs that an INSERT statement has added, if the store already had some of the runs in
 * the statement. New runs have ids above `before`.
 */
static int find_inserted(struct adding *a, struct inserted_runs *g, int64_t before,
                         struct hm_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < g->count; i++) {
        struct added_run *r = &g->runs[i];
        rc = hm__store_find_key(a->store, r->run->key, &r->id, err);
        r->is_new = rc == 0 && r->id > before;
        for (size_t k = 0; r->is_new && k < i; k++)
            r->is_new =
                g->runs[k].id != r->id; /* Of two runs with the same key, only the first is new. */
    }
    return rc;
}

/*
 * Stores the ids of the runs that an INSERT statement without RETURNING has added. `changed` is
 * their number, and `before` is the largest id before the statement.
 */
static int number_inserted(struct adding *a, struct inserted_runs *g, int64_t changed,
                           int64_t before, struct hm_err *err)
{
    if (changed == 0)
        return 0;
    if (changed < (int64_t)g->count)
        return find_inserted(a, g, before, err);
    int64_t last = a->store->sql->last_insert(a->store->connection);
    for (size_t i = 0; i < g->count; i++) {
        g->runs[i].id = last - (int64_t)(g->count - 1 - i);
        g->runs[i].is_new = true;
    }
    return 0;
}

/* Adds one run, or RUNS_AT_ONCE runs, with a single INSERT statement. */
static int add_runs(struct adding *a, struct added_run *runs, size_t count, struct hm_err *err)
{
    struct hm_sql_value cells[RUNS_AT_ONCE * CELLS];
    struct inserted_runs g = {runs, count};
    bool numbered = a->store->sql->last_insert != NULL;
    int64_t changed = 0, before = 0;
    int rc = 0;

    for (size_t i = 0; i < count; i++)
        hm__run_cells(runs[i].run, a->now, &cells[i * CELLS]);
    if (numbered && count > 1)
        rc = hm__store_number(a->store, a->store->sql->last_id, NULL, 0, &before, err);
    if (rc == 0)
        rc = hm__store_query(a->store,
                             count > 1 ? a->store->insert_many.data : a->store->insert_one.data,
                             cells, count * CELLS, take_inserted, &g, &changed, err);
    if (rc == 0 && numbered)
        rc = number_inserted(a, &g, changed, before, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct added_run *r = &runs[i];
        if (!r->is_new)
            rc = check_known(a, r->run, &cells[i * CELLS], &r->id, err);
        else if (r->run->sample_count)
            rc = add_samples(a, r->id, r->run, err);
    }
    return rc;
}

/* Returns the number of runs that the next INSERT statement adds. */
static size_t group_runs(const struct added_run *runs, size_t count)
{
    if (count < RUNS_AT_ONCE)
        return 1;
    for (size_t i = 0; i < RUNS_AT_ONCE; i++)
        if (!runs[i].run->key)
            return 1;
    return RUNS_AT_ONCE;
}

static int check_batch(const struct hm_store_batch *batch, struct hm_err *err)
{
    for (size_t i = 0; !batch->checked && i < batch->count; i++) {
        int rc = hm_stored_check(&batch->runs[i], err);
        if (rc) {
            hm__err_at(err, "runs", (int)i + 1);
            return rc;
        }
    }
    return 0;
}

static int add_all(struct adding *a, struct added_run *runs, size_t count, struct hm_err *err)
{
    struct hm_store *store = a->store;
    int rc = 0;

    write_insert(store->sql, &store->insert_one, 1);
    if (count >= RUNS_AT_ONCE)
        write_insert(store->sql, &store->insert_many, RUNS_AT_ONCE);
    hm__store_now(a->now);
    if (store->insert_one.failed || store->insert_many.failed)
        return hm__fail_nomem(err);
    for (size_t i = 0, group; rc == 0 && i < count; i += group) {
        group = group_runs(&runs[i], count - i);
        rc = add_runs(a, &runs[i], group, err);
    }
    return rc;
}

/* Creates a list of the runs of all batches; the caller frees the list. */
static struct added_run *list_runs(const struct hm_store_batch *batches, size_t count, size_t total)
{
    struct added_run *runs = hm__calloc(total + 1, sizeof(*runs));

    for (size_t b = 0, at = 0; runs && b < count; b++)
        for (size_t i = 0; i < batches[b].count; i++)
            runs[at++] = (struct added_run){.run = &batches[b].runs[i]};
    return runs;
}

/* Copies ids and results into the batches after the transaction has been committed. */
static void report_runs(struct hm_store_batch *batches, size_t count, const struct added_run *runs)
{
    for (size_t b = 0; b < count; b++) {
        batches[b].added = 0;
        for (size_t i = 0; i < batches[b].count; i++, runs++) {
            if (batches[b].ids)
                batches[b].ids[i] = runs->id;
            batches[b].added += runs->is_new;
        }
    }
}

/* Returns whether the client of every batch will send another batch immediately. */
static bool all_have_more(const struct hm_store_batch *batches, size_t count)
{
    bool more = true;

    for (size_t b = 0; b < count; b++)
        more = more && batches[b].more;
    return more;
}

static size_t count_runs(const struct hm_store_batch *batches, size_t count)
{
    size_t total = 0;

    for (size_t b = 0; b < count; b++)
        total += batches[b].count;
    return total;
}

static int check_batches(const struct hm_store_batch *batches, size_t count, struct hm_err *err)
{
    int rc = 0;

    for (size_t b = 0; rc == 0 && b < count; b++)
        rc = check_batch(&batches[b], err);
    return rc;
}

/* Adds batches whose runs have been checked, inside a transaction. */
static int add_checked(struct hm_store *store, struct hm_store_batch *batches, size_t count,
                       struct hm_err *err)
{
    struct adding a = {.store = store};
    size_t total = count_runs(batches, count);
    struct added_run *runs = list_runs(batches, count, total);
    int rc = runs ? add_all(&a, runs, total, err) : hm__fail_nomem(err);

    if (rc == 0)
        report_runs(batches, count, runs);
    hm__text_release(&a.samples);
    hm__free(runs);
    return rc;
}

int hm__store_add_begun(struct hm_store *store, struct hm_store_batch *batches, size_t count,
                        struct hm_err *err)
{
    int rc = check_batches(batches, count, err);

    return rc ? rc : add_checked(store, batches, count, err);
}

int hm_store_add_batches(struct hm_store *store, struct hm_store_batch *batches, size_t count,
                         struct hm_err *err)
{
    int rc = hm__check_pointers(err, "store", store, NULL);
    if (rc == 0)
        rc = hm__check_array(batches, count, "batches", err);
    if (rc == 0)
        rc = check_batches(batches, count, err);
    if (rc)
        return rc;
    size_t total = count_runs(batches, count);
    if (total == 0) {
        report_runs(batches, count, NULL);
    } else {
        rc = hm__store_exec(store, store->sql->begin_write, err);
        if (rc == 0)
            rc = hm__store_end(store, add_checked(store, batches, count, err), err);
    }
    if (rc == 0 && all_have_more(batches, count))
        store->waiting = -1;
    else if (rc == 0)
        hm__store_place(store, total);
    return rc;
}

int hm_store_add(struct hm_store *store, const struct hm_stored *runs, size_t count,
                 int64_t *ret_ids, size_t *ret_added, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "store", store, NULL);
    if (bad == 0)
        bad = hm__check_array(runs, count, "runs", err);
    if (bad)
        return bad;
    struct hm_store_batch batch = {.runs = runs, .count = count, .ids = ret_ids};
    int rc = hm_store_add_batches(store, &batch, 1, err);

    if (rc == 0 && ret_added)
        *ret_added = batch.added;
    return rc;
}
