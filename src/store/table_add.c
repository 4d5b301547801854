/* Adds tables of runs and traces to a store, a few thousand rows in each transaction. */
#include "table_add.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "checks.h"
#include "err.h"
#include "json.h"
#include "memory.h"
#include "run_text.h"
#include "shortest.h"
#include "store_load.h"
#include "stored.h"

enum {
    BATCH_RUNS = 16384,
    KEY_BYTES = 201,
    KEY_GIVEN = 180,
    HASHED_NUMBER = 40, /* Size of the text of a number that is hashed. */
    FEW_RUNS = 16,      /* Number of ids in the small array of send_batch. */
};

/* ---- sinks and results -------------------------------------------------------------------------
 */

static int store_sink_add(void *store, struct hm_store_batch *batch, struct hm_err *err)
{
    return hm_store_add_batches(store, batch, 1, err);
}

struct hm_run_sink hm__store_sink(struct hm_store *store)
{
    return (struct hm_run_sink){store, store_sink_add, store};
}

void hm__added_release(struct hm_added *added)
{
    hm__free(added->ids);
    *added = (struct hm_added){0};
}

static int added_ids(struct hm_added *added, const int64_t *ids, size_t count, struct hm_err *err)
{
    if (added->id_count + count > added->room) {
        size_t room = 2 * (added->id_count + count);
        double *grown = hm__realloc(added->ids, room, sizeof(*grown));
        if (!grown)
            return hm__fail_nomem(err);
        added->ids = grown;
        added->room = room;
    }
    for (size_t k = 0; k < count; k++)
        added->ids[added->id_count++] = (double)ids[k];
    return 0;
}

/* Sends a batch of runs to the store, and appends the ids of these runs to `added`. `ids` is a
 * buffer of the caller with space for one id per run. */
static int send_with_ids(const struct hm_run_sink *sink, struct hm_store_batch batch, int64_t *ids,
                         struct hm_added *added, struct hm_err *err)
{
    batch.ids = ids;
    int rc = sink->add(sink->data, &batch, err);
    if (rc)
        return rc;
    added->count += batch.added;
    return added_ids(added, ids, batch.count, err);
}

static int send_many(const struct hm_run_sink *sink, struct hm_store_batch batch,
                     struct hm_added *added, struct hm_err *err)
{
    int64_t ids[BATCH_RUNS];

    return send_with_ids(sink, batch, ids, added, err);
}

/*
 * Sends a batch of at most BATCH_RUNS runs to the store, and stores the ids of these runs. A small
 * batch uses a small array, so that it does not touch the many pages of the large one.
 */
static int send_batch(const struct hm_run_sink *sink, struct hm_store_batch batch,
                      struct hm_added *added, struct hm_err *err)
{
    int64_t ids[FEW_RUNS];

    if (batch.count == 0)
        return 0;
    return batch.count <= FEW_RUNS ? send_with_ids(sink, batch, ids, added, err)
                                   : send_many(sink, batch, added, err);
}

/* ---- keys --------------------------------------------------------------------------------------
 */

/*
 * Adds a string to a 64-bit FNV-1a hash. The byte 0xff, which does not occur in UTF-8, ends each
 * string.
 */
static uint64_t hash_text(uint64_t sum, const char *text)
{
    for (; *text; text++)
        sum = (sum ^ (unsigned char)*text) * 0x100000001b3u;
    return (sum ^ 0xff) * 0x100000001b3u;
}

/*
 * Writes a number like printf with "%.17g", but faster for the most common values. Keys of stored
 * runs are computed from this form, so it must not change.
 */
static void write_hashed_number(char text[HASHED_NUMBER], double value)
{
    if (isnan(value))
        memcpy(text, signbit(value) ? "-nan" : "nan", signbit(value) ? 5 : 4);
    else if (value >= 1 && value < 1e15 && value == floor(value))
        hm__digits_write(text, (unsigned long long)value);
    else if (!hm__seventeen_digits(value, text))
        snprintf(text, HASHED_NUMBER, "%.17g", value);
}

static uint64_t hash_run(const struct hm_stored *run)
{
    uint64_t sum = 0xcbf29ce484222325u;
    char number[HASHED_NUMBER];

    /* The key depends on all columns except the id. */
    for (size_t k = 1; k < HM_STORE_COLUMNS; k++) {
        const struct hm_store_column *c = &hm__store_columns[k];
        const char *text = number;
        if (c->kind == HM_STORE_TEXT)
            text = hm__stored_get_text(c, run);
        else
            write_hashed_number(number, hm__stored_get_number(c, run));
        sum = hash_text(sum, text ? text : "");
    }
    return sum;
}

/*
 * Hashes a run with its samples, because two runs of one algorithm on the same number of workers
 * may differ only in their samples. Without samples, it is the hash of the columns.
 */
static uint64_t hash_samples(const struct hm_stored *run)
{
    uint64_t sum = hash_run(run);
    char text[120];

    for (size_t p = 0; p < run->sample_count; p++) {
        const struct hm_stored_sample *s = &run->samples[p];
        snprintf(text, sizeof(text), "%.17g %.17g %.17g", s->iteration, s->seconds, s->loss);
        sum = hash_text(sum, text);
    }
    return sum;
}

/*
 * For each hash, the number of rows with this hash that have been added. Equal rows are different
 * runs, so they need different keys.
 */
struct seen_hashes {
    uint64_t *hashes;
    size_t *counts;
    /* Number of elements in both arrays: a power of 2, at least twice the number of rows. */
    size_t room;
};

static int seen_init(struct seen_hashes *s, size_t rows, struct hm_err *err)
{
    for (s->room = 16; s->room < 2 * rows;)
        s->room *= 2;
    s->hashes = hm__calloc(s->room, sizeof(*s->hashes));
    s->counts = hm__calloc(s->room, sizeof(*s->counts));
    return s->hashes && s->counts ? 0 : hm__fail_nomem(err);
}

static void seen_release(struct seen_hashes *s)
{
    hm__free(s->hashes);
    hm__free(s->counts);
}

static size_t seen_before(struct seen_hashes *s, uint64_t sum)
{
    size_t at = (size_t)sum & (s->room - 1);

    while (s->counts[at] > 0 && s->hashes[at] != sum)
        at = (at + 1) & (s->room - 1);
    s->hashes[at] = sum;
    return s->counts[at]++;
}

/*
 * Writes the key of a run: the key in the request and a number, or the hash of the run and the
 * number of equal runs before it.
 */
static void write_key(char text[KEY_BYTES], const char *given, size_t number, const char *kind,
                      uint64_t sum, struct seen_hashes *seen)
{
    if (given)
        snprintf(text, KEY_BYTES, "%s-%zu", given, number);
    else
        snprintf(text, KEY_BYTES, "%s-%016" PRIx64 "-%zu", kind, sum, seen_before(seen, sum));
}

/* Checks that the key in the request is not empty and is UTF-8, and that it is short enough for a
 * hyphen and a number to be appended. NULL is allowed. */
static int check_key(const char *key, struct hm_err *err)
{
    if (!key || (*key != '\0' && strlen(key) <= KEY_GIVEN))
        return key ? hm__store_check_text("key", key, KEY_GIVEN, err) : 0;
    hm__fail(err, HM_E_RANGE, "the key is empty or longer than %d bytes", KEY_GIVEN);
    hm__err_field(err, "key");
    return HM_E_RANGE;
}

/* ---- rows of a table ---------------------------------------------------------------------------
 */

/*
 * Returns the column of the store that holds a column of a table. The column `started`, which
 * `howmany bench` writes, is stored as made_at.
 */
static const struct hm_store_column *find_column(const char *name)
{
    return hm__store_column_find(strcmp(name, "started") == 0 ? "made_at" : name);
}

/* A batch of rows that will be added, and the strings to which its runs point. */
struct row_batch {
    const struct hm_runs *table;
    /*
     * Column of the store for each column of the table; NULL if the value is stored in the JSON
     * object `more` of the run.
     */
    const struct hm_store_column **own;
    /*
     * For each column of the table: whether its name has been checked, and what readers of tables
     * know about a column with this name.
     */
    struct other_column {
        bool checked;
        const struct hm_known_column *known;
    } * others;
    const char *key;
    struct seen_hashes seen;
    struct row_batch_run {
        struct hm_text more;
        char key[KEY_BYTES];
    } * texts;
    struct hm_stored *runs;
    size_t count, room;
    /* Texts of numbers in columns that are texts in the store: `number_columns` for each run. */
    char (*numbers)[HM_RUN_DIGITS];
    size_t number_columns;
};

/*
 * Returns whether a value of a row is stored in the JSON object `more` of the run: the store has no
 * column for it, and the row has a value.
 */
static bool is_in_more(const struct row_batch *b, size_t c, size_t row)
{
    const struct hm_column *column = &b->table->columns[c];

    return !b->own[c] &&
           (column->values ? isfinite(column->values[row]) : column->labels && column->labels[row]);
}

/*
 * Writes a JSON object with the columns of a row that are not columns of the store; writes nothing
 * if there are none.
 */
static void gather_more(const struct row_batch *b, size_t row, struct hm_text *more)
{
    struct hm_json json = {.out = more};

    for (size_t c = 0; c < b->table->column_count; c++) {
        const struct hm_column *column = &b->table->columns[c];
        if (!is_in_more(b, c, row))
            continue;
        if (json.depth == 0)
            hm__json_open(&json, NULL, HM_JSON_OBJECT);
        if (column->values)
            hm__json_put_number(&json, column->name, column->values[row]);
        else
            hm__json_put_text(&json, column->name, column->labels[row]);
    }
    if (json.depth > 0)
        hm__json_close(&json);
}

/*
 * Reads the number in a cell of a column of labels whose values the store keeps as numbers. One
 * cell that is not a number, or a number in quotes, makes labels of all cells of a column. Returns
 * NaN for an empty cell, and for a value such as nan, which a program writes for a loss that has
 * diverged. *ret_code is not 0 if the store cannot keep the value.
 */
static double read_label(const struct hm_store_column *own, const char *label, int *ret_code)
{
    struct hm_dim dim;
    double value = NAN;
    bool has_unit = false;

    *ret_code = 0;
    if (!label || hm__run_word(label))
        return NAN;
    if (!hm__run_number(label, &value, &has_unit, &dim) ||
        (has_unit && !hm__dim_equal(dim, own->dim)))
        *ret_code = HM_E_TYPE;
    else if (!(fabs(value) <= HM_RUN_MOST) || !hm__run_is_exact(label, value))
        *ret_code = HM_E_RANGE;
    return *ret_code ? NAN : value;
}

/* Checks the cells of a row that are labels and are stored as numbers. */
static int check_labels(const struct row_batch *b, size_t row, struct hm_err *err)
{
    for (size_t c = 0; c < b->table->column_count; c++) {
        const struct hm_column *column = &b->table->columns[c];
        const struct hm_store_column *own = b->own[c];
        int code = 0;
        if (!own || own->kind != HM_STORE_NUMBER || !column->labels)
            continue;
        read_label(own, column->labels[row], &code);
        if (code == 0)
            continue;
        hm__fail(err, code,
                 code == HM_E_TYPE ? "'%.60s' is not a number"
                                   : "'%.60s' is too large, or has too many digits, for a number",
                 column->labels[row]);
        hm__err_hint(err,
                     "the store keeps %s as a number; leave it empty, or give the column another "
                     "name to keep it as a text",
                     own->name);
        hm__err_field(err, own->name);
        return code;
    }
    return 0;
}

/* Copies the values of a row to a run. Values that check_labels refuses are left out. */
static void read_row(const struct row_batch *b, size_t row, struct hm_stored *run)
{
    char(*number)[HM_RUN_DIGITS] = b->numbers + b->count * b->number_columns;
    int unused;

    for (size_t c = 0; c < b->table->column_count; c++) {
        const struct hm_column *column = &b->table->columns[c];
        const struct hm_store_column *own = b->own[c];
        if (!own || (!column->labels && !column->values))
            continue;
        if (own->kind == HM_STORE_TEXT && column->labels)
            *hm__stored_text(own, run) = column->labels[row];
        else if (own->kind == HM_STORE_TEXT) {
            if (isfinite(column->values[row])) {
                hm__run_print(column->values[row], *number);
                *hm__stored_text(own, run) = *number;
            }
            number++;
        } else if (own->kind == HM_STORE_NUMBER)
            *hm__stored_number(own, run) = column->values
                                               ? column->values[row]
                                               : read_label(own, column->labels[row], &unused);
    }
}

static void batch_empty(struct row_batch *b)
{
    for (size_t k = 0; k < b->count; k++)
        hm__text_release(&b->texts[k].more);
    b->count = 0;
}

/*
 * Allocates memory for a batch: for the rows of one transaction, or for all rows of a smaller
 * table.
 */
static int batch_init(struct row_batch *b, const struct hm_runs *table, const char *key,
                      struct hm_err *err)
{
    *b = (struct row_batch){.table = table, .key = key};
    b->room = table->count < BATCH_RUNS ? table->count + 1 : BATCH_RUNS;
    b->texts = hm__calloc(b->room, sizeof(*b->texts));
    b->runs = hm__calloc(b->room, sizeof(*b->runs));
    b->own = hm__calloc(table->column_count + 1, sizeof(*b->own));
    b->others = hm__calloc(table->column_count + 1, sizeof(*b->others));
    for (size_t c = 0; b->own && c < table->column_count; c++) {
        b->own[c] = find_column(table->columns[c].name);
        b->number_columns +=
            b->own[c] && b->own[c]->kind == HM_STORE_TEXT && table->columns[c].values;
    }
    b->numbers = hm__calloc(b->room * b->number_columns + 1, sizeof(*b->numbers));
    return b->texts && b->runs && b->own && b->others && b->numbers
               ? seen_init(&b->seen, table->count, err)
               : hm__fail_nomem(err);
}

static void batch_release(struct row_batch *b)
{
    seen_release(&b->seen);
    hm__free(b->own);
    hm__free(b->others);
    hm__free(b->texts);
    hm__free(b->runs);
    hm__free(b->numbers);
}

/* Appends a row of the table to the batch. The key of the run is NULL if the row has none. */
static int batch_add_row(struct row_batch *b, size_t row, struct hm_err *err)
{
    struct hm_stored *run = &b->runs[b->count];
    struct hm_text *more = &b->texts[b->count].more;

    *run = (struct hm_stored)HM_STORED_INIT;
    *more = (struct hm_text){0};
    read_row(b, row, run);
    gather_more(b, row, more);
    run->more = more->data;
    if (b->table->samples) {
        run->samples = b->table->samples[row].samples;
        run->sample_count = b->table->samples[row].count;
    }
    b->count++;
    return more->failed ? hm__fail_nomem(err) : 0;
}

/* Creates a key for the last row of the batch, if the row has none. */
static void batch_make_key(struct row_batch *b, size_t row)
{
    struct hm_stored *run = &b->runs[b->count - 1];
    char *key = b->texts[b->count - 1].key;

    if (run->key)
        return;
    write_key(key, b->key, row + 1, "run", hash_samples(run), &b->seen);
    run->key = key;
}

static int fail_row(const struct row_batch *b, size_t row, const struct hm_err *why,
                    struct hm_err *err)
{
    hm__fail(err, why->code, "run %zu: %.300s", row + 1, why->message);
    hm__err_field(err, why->field);
    hm__err_at(err, b->table->source, hm__runs_line(b->table, row));
    hm__err_hint(err, "%s", why->hint[0] ? why->hint : "no run of the table was added");
    return why->code;
}

/* Checks the values of a row that are stored in the JSON object `more` of the run. */
static int check_more_values(struct row_batch *b, size_t row, struct hm_err *err)
{
    int rc = 0;

    for (size_t c = 0; rc == 0 && c < b->table->column_count; c++) {
        const struct hm_column *column = &b->table->columns[c];
        struct other_column *other = &b->others[c];
        if (!is_in_more(b, c, row))
            continue;
        if (!other->checked)
            rc = hm__store_check_more_name(column->name, &other->known, err);
        other->checked = true;
        if (rc == 0)
            rc = column->values ? hm__store_check_more_number(column->name, other->known,
                                                              column->values[row], err)
                                : hm__store_check_more_text(column->name, other->known,
                                                            column->labels[row], err);
    }
    return rc;
}

/* Checks the last row that was appended to the batch. */
static int batch_check_row(struct row_batch *b, size_t row, struct hm_err *err)
{
    struct hm_err why = {0};

    if (check_labels(b, row, &why) || hm__stored_check_columns(&b->runs[b->count - 1], &why) ||
        check_more_values(b, row, &why))
        return fail_row(b, row, &why, err);
    return 0;
}

/*
 * Checks all rows before any of them is stored; the error names the first row that cannot be
 * stored.
 */
static int check_rows(struct row_batch *b, struct hm_err *err)
{
    int rc = 0;

    for (size_t row = 0; rc == 0 && row < b->table->count; row++) {
        rc = batch_add_row(b, row, err);
        if (rc == 0)
            rc = batch_check_row(b, row, err);
        batch_empty(b);
    }
    return rc;
}

static int send_rows(const struct hm_run_sink *sink, struct row_batch *b, struct hm_added *added,
                     struct hm_err *err)
{
    int rc = 0;

    for (size_t row = 0; rc == 0 && row < b->table->count; row++) {
        rc = batch_add_row(b, row, err);
        if (rc == 0)
            batch_make_key(b, row);
        if (rc == 0 && (b->count == b->room || row + 1 == b->table->count)) {
            const struct hm_store_batch batch = {.runs = b->runs,
                                                 .count = b->count,
                                                 .more = row + 1 < b->table->count,
                                                 .checked = true};
            rc = send_batch(sink, batch, added, err);
            batch_empty(b);
        }
    }
    batch_empty(b);
    return rc;
}

/* Adds the rows of the batch in the transaction of the table, and stores their ids. */
static int load_batch(struct hm_store_load *load, struct row_batch *b, struct hm_added *added,
                      struct hm_err *err)
{
    int64_t ids[BATCH_RUNS];
    int rc = hm__store_load_add(load, b->runs, b->count, ids, err);

    if (rc == 0)
        rc = added_ids(added, ids, b->count, err);
    if (rc == 0)
        added->count += b->count;
    batch_empty(b);
    return rc;
}

static int load_all_rows(struct hm_store_load *load, struct row_batch *b, struct hm_added *added,
                         struct hm_err *err)
{
    int rc = 0;

    for (size_t row = 0; rc == 0 && row < b->table->count; row++) {
        rc = batch_add_row(b, row, err);
        if (rc == 0)
            rc = batch_check_row(b, row, err);
        if (rc == 0)
            batch_make_key(b, row);
        if (rc == 0 && (b->count == b->room || row + 1 == b->table->count))
            rc = load_batch(load, b, added, err);
    }
    batch_empty(b);
    return rc;
}

/* Returns the key of the first row. The string is valid until the batch changes. */
static int first_key(struct row_batch *b, const char **ret_key, struct hm_err *err)
{
    int rc = batch_add_row(b, 0, err);

    if (rc == 0)
        batch_make_key(b, 0);
    *ret_key = b->runs[0].key;
    return rc;
}

/* Removes all rows from the batch, and sets the numbers of equal rows to 0. */
static void batch_restart(struct row_batch *b)
{
    batch_empty(b);
    memset(b->seen.counts, 0, b->seen.room * sizeof(*b->seen.counts));
}

/*
 * Adds a large table in one transaction, if this is possible and faster. *ret_done is false if
 * nothing was added, because one transaction is not possible or not faster, or because a key occurs
 * twice.
 */
static int load_rows(struct hm_store *store, struct row_batch *b, struct hm_added *added,
                     bool *ret_done, struct hm_err *err)
{
    struct hm_added before = *added;
    struct hm_store_load load;
    const char *key = NULL;

    *ret_done = false;
    if (b->table->count < HM_STORE_WAITING)
        return 0;
    int rc = first_key(b, &key, err);
    if (rc == 0)
        rc = hm__store_load_begin(&load, store, b->table->count, key, ret_done, err);
    batch_restart(b);
    if (rc || !*ret_done)
        return rc;
    struct hm_err why = {0};
    rc = load_all_rows(&load, b, added, &why);
    bool loaded = rc == 0;
    rc = hm__store_load_end(&load, rc, &why);
    *ret_done = rc == 0;
    if (rc) {
        added->count = before.count;
        added->id_count = before.id_count;
        batch_restart(b);
    }
    if (loaded && rc == HM_E_CONFLICT)
        return 0;
    if (rc && err)
        *err = why;
    return rc;
}

int hm__table_add_runs(const struct hm_run_sink *sink, const struct hm_runs *runs, const char *key,
                       struct hm_added *added, struct hm_err *err)
{
    struct row_batch b = {0};
    int rc = check_key(key, err);

    if (rc == 0)
        rc = batch_init(&b, runs, key, err);
    if (rc == 0 && runs->relative) {
        rc = hm__fail(err, HM_E_TYPE, "a store keeps seconds, and these runs have speedups only");
        hm__err_at(err, runs->source, 0);
    }
    if (rc == 0 && runs->unit) {
        rc = hm__fail(err, HM_E_TYPE,
                      "a store keeps seconds of an iteration, and these are of a %s", runs->unit);
        hm__err_hint(err, "a column batch converts them");
        hm__err_at(err, runs->source, 0);
    }
    bool done = false;
    if (rc == 0 && sink->store)
        rc = load_rows(sink->store, &b, added, &done, err);
    if (rc == 0 && !done)
        rc = check_rows(&b, err);
    if (rc == 0 && !done)
        rc = send_rows(sink, &b, added, err);
    batch_release(&b);
    return rc;
}

/* ---- traces ------------------------------------------------------------------------------------
 */

static struct hm_stored_sample *samples_new(const struct hm_trace *t)
{
    struct hm_stored_sample *samples = hm__calloc(t->count, sizeof(*samples));

    for (size_t p = 0; samples && p < t->count; p++)
        samples[p] =
            (struct hm_stored_sample){t->iteration[p], t->seconds[p], t->elapsed_s[p], t->loss[p]};
    return samples;
}

/*
 * Returns whether a trace has values that are stored in the JSON object `more` of a run, because
 * the store has no columns for them.
 */
static bool trace_has_more(const struct hm_trace *t)
{
    return t->staleness > 0 || t->backups > 0 || t->rows > 0;
}

/*
 * Writes a JSON object with the members of the object `like` and the staleness, backups and rows of
 * a trace.
 */
static void add_trace_members(struct hm_text *more, const char *like, const struct hm_trace *t)
{
    struct hm_text members = {0};
    struct hm_json json = {.out = &members};
    size_t length = like ? strlen(like) : 0;

    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    if (t->staleness > 0)
        hm__json_put_text(&json, "consistency", isinf(t->staleness) ? "async" : "ssp");
    if (t->staleness > 0 && !isinf(t->staleness))
        hm__json_put_number(&json, "staleness", t->staleness);
    if (t->backups > 0)
        hm__json_put_number(&json, "backups", t->backups);
    if (t->rows > 0)
        hm__json_put_number(&json, "rows", t->rows);
    hm__json_close(&json);
    /* Join both JSON objects: remove the } of the first and the { of the second. */
    if (length > 2) {
        hm__text_add_n(more, like, length - 1);
        hm__text_add(more, ",");
    }
    if (members.data)
        hm__text_add(more, members.data + (length > 2 ? 1 : 0));
    more->failed = more->failed || members.failed;
    hm__text_release(&members);
}

static int send_trace(const struct hm_run_sink *sink, const struct hm_trace *t, size_t number,
                      const char *given, const struct hm_stored *like, struct seen_hashes *seen,
                      struct hm_added *added, struct hm_err *err)
{
    struct hm_stored run = *like;
    struct hm_stored_sample *samples = samples_new(t);
    struct hm_text more = {0};
    char key[KEY_BYTES];

    if (trace_has_more(t))
        add_trace_members(&more, like->more, t);
    if (!samples || more.failed) {
        hm__text_release(&more);
        hm__free(samples);
        return hm__fail_nomem(err);
    }
    run.more = more.data ? more.data : like->more;
    run.algorithm = *t->algorithm ? t->algorithm : NULL;
    run.n = t->m;
    run.seed = t->seed;
    run.best = t->best;
    run.status = t->diverged ? "diverged" : "ok";
    run.iterations = t->iteration[t->count - 1];
    run.total = t->elapsed_s[t->count - 1];
    run.seconds = run.total / run.iterations;
    run.loss = t->loss[t->count - 1];
    run.samples = samples;
    run.sample_count = t->count;
    write_key(key, given, number, "trace", hash_samples(&run), seen);
    run.key = key;
    int rc = send_batch(sink, (struct hm_store_batch){.runs = &run, .count = 1}, added, err);
    hm__free(samples);
    hm__text_release(&more);
    return rc;
}

int hm__table_add_traces(const struct hm_run_sink *sink, const struct hm_traces *traces,
                         const char *key, const struct hm_stored *like, struct hm_added *added,
                         struct hm_err *err)
{
    static const struct hm_stored nothing = HM_STORED_INIT;
    struct seen_hashes seen = {0};
    int rc = check_key(key, err);

    if (rc == 0)
        rc = seen_init(&seen, traces->count, err);
    for (size_t k = 0; rc == 0 && k < traces->count; k++)
        rc = send_trace(sink, &traces->traces[k], k + 1, key, like ? like : &nothing, &seen, added,
                        err);
    seen_release(&seen);
    return rc;
}
