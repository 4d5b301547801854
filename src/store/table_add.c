/* Adds tables of runs to a store, a few thousand rows in each batch. */
#include "table_add.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "checks.h"
#include "err.h"
#include "json.h"
#include "memory.h"
#include "run_text.h"
#include "store_load.h"
#include "stored.h"
#include "table_keys.h"
#include "table_send.h"

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
    struct hm_seen_hashes seen;
    struct row_batch_run {
        struct hm_text more;
        char key[HM_KEY_BYTES];
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
    b->room = table->count < HM_BATCH_RUNS ? table->count + 1 : HM_BATCH_RUNS;
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
               ? hm__seen_init(&b->seen, table->count, err)
               : hm__fail_nomem(err);
}

static void batch_release(struct row_batch *b)
{
    hm__seen_release(&b->seen);
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
    hm__key_write(key, b->key, row + 1, "run", hm__key_hash(run), &b->seen);
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
            rc = hm__table_send(sink, batch, added, err);
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
    int64_t ids[HM_BATCH_RUNS];
    int rc = hm__store_load_add(load, b->runs, b->count, ids, err);

    if (rc == 0)
        rc = hm__added_append(added, ids, b->count, err);
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
 * nothing was added, because one transaction is not possible or not faster, because a key occurs
 * twice, or because runs have samples, which store_load.h does not add.
 */
static int load_rows(struct hm_store *store, struct row_batch *b, struct hm_added *added,
                     bool *ret_done, struct hm_err *err)
{
    struct hm_added before = *added;
    struct hm_store_load load;
    const char *key = NULL;

    *ret_done = false;
    if (b->table->count < HM_STORE_WAITING || b->table->samples)
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
    int rc = hm__key_check(key, err);

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
    struct hm_whole_sink whole;
    if (rc == 0 && !done)
        rc = hm__whole_begin(&whole, sink, runs->count, added, err);
    if (rc == 0 && !done)
        rc = hm__whole_end(&whole, send_rows(&whole.sink, &b, added, err), added, err);
    batch_release(&b);
    return rc;
}
