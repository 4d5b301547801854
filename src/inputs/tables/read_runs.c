/*
 * Runs from CSV or JSON lines.
 *
 * A table is gathered column by column: numbers while every cell is one, labels otherwise. Columns
 * that everybody has go by many names, which are brought to one; their cells are checked against a
 * range. Within a column all cells have a unit of one dimension, or none does: a number whose unit
 * is guessed is worse than none. Memory is 8 bytes a cell.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "checks.h"
#include "csv.h"
#include "err.h"
#include "howmany_fit.h"
#include "memory.h"
#include "run_names.h"
#include "run_text.h"
#include "source.h"
#include "text.h"
#include "unit.h"
#include "value.h"

enum kind { KIND_OPEN, KIND_NUMBER, KIND_LABEL };

struct column {
    char name[HM_RUN_NAME];
    const struct hm_known *known; /* NULL: nobody we know */
    double factor;                /* of the unit in the header; 0 if it has none */
    enum kind kind;
    double *values;      /* room for table.room rows, or NULL */
    const char **labels; /* likewise; texts in the arena */
    bool has_unit;       /* of the first cell that is a number */
    struct hm_dim dim;
    int unit_line; /* of that cell; 0 while there is none */
};

struct table {
    struct hm_arena *arena;
    const char *source;
    struct column *columns;
    size_t column_count, column_room;
    int *lines;
    size_t count, room;
    struct hm_err *err;
};

static int fail_cell(struct table *t, const struct column *c, int line, int code)
{
    hm__err_field(t->err, c->name);
    hm__err_at(t->err, t->source, line);
    return code;
}

/* ---- headers -------------------------------------------------------------------------------- */

static int check_twice(struct table *t, const char *written, const char *name, int line)
{
    for (size_t i = 0; i < t->column_count; i++) {
        if (strcmp(t->columns[i].name, name) != 0)
            continue;
        hm__fail(t->err, HM_E_CONFLICT, "column '%.60s' stands twice", written);
        if (strcmp(written, name) != 0)
            hm__err_hint(t->err, "it means %s, and there is one already", name);
        hm__err_field(t->err, name);
        hm__err_at(t->err, t->source, line);
        return HM_E_CONFLICT;
    }
    return 0;
}

/* A new column; rows that are there already have empty cells. */
static int add_column(struct table *t, const char *written, int line)
{
    struct hm_run_name name = hm__run_name_resolve(written);
    struct column c = {
        .known = name.known, .factor = name.factor, .dim = name.dim, .kind = KIND_OPEN};

    memcpy(c.name, name.name, sizeof(c.name));

    if (c.name[0] == '\0') {
        hm__fail(t->err, HM_E_SYNTAX, "column %zu has no name", t->column_count + 1);
        hm__err_at(t->err, t->source, line);
        return HM_E_SYNTAX;
    }
    if (c.factor > 0 && c.known && !hm__dim_equal(c.dim, c.known->dim)) {
        hm__fail(t->err, HM_E_UNIT, "'%.60s' is not in a unit of its kind", written);
        hm__err_hint(t->err, "write %s", hm__dim_example(c.known->dim));
        return fail_cell(t, &c, line, HM_E_UNIT);
    }
    if (c.known && c.known->label)
        c.kind = KIND_LABEL;
    int rc = check_twice(t, written, c.name, line);
    if (rc)
        return rc;
    if (t->column_count == HM_CSV_COLUMNS)
        return hm__fail(t->err, HM_E_LIMIT, "more than %d columns", HM_CSV_COLUMNS);
    if (t->column_count == t->column_room) {
        size_t room = t->column_room ? 2 * t->column_room : 16;
        struct column *columns = hm__realloc(t->columns, room, sizeof(*columns));
        if (!columns)
            return hm__fail_nomem(t->err);
        t->columns = columns;
        t->column_room = room;
    }
    t->columns[t->column_count++] = c;
    return 0;
}

/* ---- cells ---------------------------------------------------------------------------------- */

static int need_values(struct table *t, struct column *c)
{
    if (!c->values) {
        c->values = hm__calloc(t->room, sizeof(*c->values));
        for (size_t i = 0; c->values && i < t->room; i++)
            c->values[i] = NAN;
    }
    return c->values ? 0 : hm__fail_nomem(t->err);
}

/* Labels from here on; numbers that were read become texts again. */
static int become_labels(struct table *t, struct column *c)
{
    if (!c->labels && !(c->labels = hm__calloc(t->room, sizeof(*c->labels))))
        return hm__fail_nomem(t->err);
    for (size_t i = 0; c->values && i < t->count; i++) {
        if (isnan(c->values[i]))
            continue;
        c->labels[i] = hm__arena_printf(t->arena, "%.15g", c->values[i]);
        if (!c->labels[i])
            return hm__fail_nomem(t->err);
    }
    hm__free(c->values);
    c->values = NULL;
    c->kind = KIND_LABEL;
    return 0;
}

static int put_label(struct table *t, struct column *c, size_t row, const char *text)
{
    int rc = c->kind != KIND_LABEL || !c->labels ? become_labels(t, c) : 0;

    if (rc)
        return rc;
    if (row > 0 && c->labels[row - 1] && strcmp(c->labels[row - 1], text) == 0)
        c->labels[row] = c->labels[row - 1]; /* runs of one kind follow one another */
    else
        c->labels[row] = hm__arena_strdup(t->arena, text);
    return c->labels[row] ? 0 : hm__fail_nomem(t->err);
}

/* Either all cells of a column have a unit, of one dimension, or none has. */
static int check_unit(struct table *t, struct column *c, const char *text, bool has_unit,
                      struct hm_dim dim, int line)
{
    char one[HM_DIM_TEXT], other[HM_DIM_TEXT];

    if (c->factor > 0 && has_unit) {
        hm__fail(t->err, HM_E_UNIT, "'%.60s' has a unit, and so has the name of the column", text);
        return fail_cell(t, c, line, HM_E_UNIT);
    }
    if (c->known && has_unit && !hm__dim_equal(dim, c->known->dim)) {
        hm__fail(t->err, HM_E_UNIT, "'%.60s' is in %s", text, hm__dim_name(dim, one));
        hm__err_hint(t->err, "write %s", hm__dim_example(c->known->dim));
        return fail_cell(t, c, line, HM_E_UNIT);
    }
    if (c->unit_line == 0) {
        c->unit_line = line;
        c->has_unit = has_unit;
        c->dim = has_unit ? dim : c->dim;
        return 0;
    }
    if (has_unit == c->has_unit && (!has_unit || hm__dim_equal(dim, c->dim)))
        return 0;
    if (has_unit == c->has_unit)
        hm__fail(t->err, HM_E_UNIT, "'%.60s' is in %s, but line %d is in %s", text,
                 hm__dim_name(dim, one), c->unit_line, hm__dim_name(c->dim, other));
    else
        hm__fail(t->err, HM_E_UNIT, "'%.60s' has %s unit, but line %d has %s", text,
                 has_unit ? "a" : "no", c->unit_line, has_unit ? "none" : "one");
    hm__err_hint(t->err, "give all of a column a unit, or none");
    return fail_cell(t, c, line, HM_E_UNIT);
}

static int check_range(struct table *t, const struct column *c, double value, const char *text,
                       int line)
{
    const struct hm_known *k = c->known;

    if (isfinite(value) && (!k || (k->above ? value > k->min : value >= k->min)))
        return 0;
    if (!isfinite(value))
        hm__fail(t->err, HM_E_RANGE, "'%.60s' is too large", text);
    else
        hm__fail(t->err, HM_E_RANGE, "'%.60s' must be %s %g", text,
                 k->above ? "more than" : "at least", k->min);
    return fail_cell(t, c, line, HM_E_RANGE);
}

static int put_number(struct table *t, struct column *c, size_t row, const char *text, int line)
{
    bool has_unit;
    struct hm_dim dim;
    double value;

    if (!hm__run_number(text, &value, &has_unit, &dim)) {
        if (!c->known)
            return put_label(t, c, row, text);
        hm__fail(t->err, HM_E_TYPE, "'%.60s' is not a number", text);
        return fail_cell(t, c, line, HM_E_TYPE);
    }
    if (!c->known && !isfinite(value)) /* a name that looks like a number: 12e45678 */
        return put_label(t, c, row, text);
    int rc = check_unit(t, c, text, has_unit, dim, line);
    if (rc)
        return rc;
    value *= c->factor > 0 ? c->factor : 1;
    rc = check_range(t, c, value, text, line);
    if (rc == 0)
        rc = need_values(t, c);
    if (rc == 0)
        c->values[row] = value;
    c->kind = KIND_NUMBER;
    return rc;
}

/* Put a text into a cell; its blanks are trimmed in place. quoted: never a number. */
static int put_cell(struct table *t, size_t column, char *text, bool quoted, int line)
{
    struct column *c = &t->columns[column];

    text = hm__run_trim(text);
    /* A loss that has run away is not a number; it tells nothing of the time. */
    if (!*text || (c->known && strcmp(c->name, "loss") == 0 && hm__run_word(text)))
        return 0;
    if (c->kind == KIND_LABEL || (quoted && !c->known))
        return put_label(t, c, t->count, text);
    return put_number(t, c, t->count, text, line);
}

static int grow(struct table *t)
{
    size_t room = t->room ? 2 * t->room : 256;
    int *lines = hm__realloc(t->lines, room, sizeof(*lines));

    if (!lines)
        return hm__fail_nomem(t->err);
    t->lines = lines;
    for (size_t i = 0; i < t->column_count; i++) {
        struct column *c = &t->columns[i];
        double *values = c->values ? hm__realloc(c->values, room, sizeof(*values)) : NULL;
        const char **labels = c->labels ? hm__realloc(c->labels, room, sizeof(*labels)) : NULL;
        if (values)
            c->values = values;
        if (labels)
            c->labels = labels;
        if ((c->values && !values) || (c->labels && !labels))
            return hm__fail_nomem(t->err);
        for (size_t k = t->room; values && k < room; k++)
            values[k] = NAN;
        if (labels)
            memset(labels + t->room, 0, (room - t->room) * sizeof(*labels));
    }
    t->room = room;
    return 0;
}

/* ---- the two forms -------------------------------------------------------------------------- */

static int read_csv(struct table *t, const char *text, size_t length)
{
    struct hm_csv *csv = NULL;
    char **fields;
    int skipped, got = 0;
    size_t start = hm__run_skip_comments(text, length, &skipped);
    int rc = hm__csv_parse_from(text + start, length - start, t->source, skipped, &csv, t->err);

    if (rc)
        return rc;
    rc = hm__run_check_header(csv, "n,size,seconds", t->err);
    for (size_t i = 0; rc == 0 && hm__csv_name(csv, i); i++)
        rc = add_column(t, hm__csv_name(csv, i), hm__csv_line(csv));
    while (rc == 0 && (got = hm__csv_next(csv, &fields, t->err)) == 1) {
        int line = hm__csv_line(csv);
        rc = t->count == t->room ? grow(t) : 0;
        for (size_t i = 0; rc == 0 && i < t->column_count; i++)
            rc = put_cell(t, i, fields[i], false, line);
        if (rc == 0)
            t->lines[t->count++] = line;
    }
    hm__csv_close(csv);
    return rc ? rc : got;
}

static int find_column(struct table *t, const char *key, int line, size_t *ret_column)
{
    struct hm_run_name wanted = hm__run_name_resolve(key);

    for (size_t i = 0; i < t->column_count; i++) {
        struct column *c = &t->columns[i];
        if (strcmp(c->name, wanted.name) != 0)
            continue;
        if (c->factor != wanted.factor) {
            hm__fail(t->err, HM_E_UNIT, "'%.60s' is in another unit than in the lines above", key);
            return fail_cell(t, c, line, HM_E_UNIT);
        }
        *ret_column = i;
        return 0;
    }
    *ret_column = t->column_count;
    return add_column(t, key, line);
}

static bool is_filled(const struct column *c, size_t row)
{
    return (c->values && !isnan(c->values[row])) || (c->labels && c->labels[row]);
}

static int put_object(void *table, struct hm_arena *arena, const struct hm_value *object, int line)
{
    struct table *t = table;

    if (t->count == t->room && grow(t))
        return HM_E_NOMEM;
    for (size_t i = 0; i < object->count; i++) {
        const struct hm_value *item = &object->items[i];
        size_t column;
        int rc = find_column(t, object->keys[i], line, &column);
        if (rc)
            return rc;
        if (item->kind == HM_VALUE_NULL)
            continue;
        if (is_filled(&t->columns[column], t->count)) {
            hm__fail(t->err, HM_E_CONFLICT, "%s stands twice", t->columns[column].name);
            hm__err_hint(t->err, "'%.60s' means the same", object->keys[i]);
            return fail_cell(t, &t->columns[column], line, HM_E_CONFLICT);
        }
        if (item->kind != HM_VALUE_SCALAR) {
            hm__fail(t->err, HM_E_TYPE, "is %s, where a number or a text belongs",
                     hm__value_kind_name(item));
            return fail_cell(t, &t->columns[column], line, HM_E_TYPE);
        }
        char *text = hm__arena_strdup(arena, item->text);
        if (!text)
            return hm__fail_nomem(t->err);
        rc = put_cell(t, column, text, item->quoted, line);
        if (rc)
            return rc;
    }
    t->lines[t->count++] = line;
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void release(struct table *t)
{
    for (size_t i = 0; i < t->column_count; i++) {
        hm__free(t->columns[i].values);
        hm__free(t->columns[i].labels);
    }
    hm__free(t->columns);
    hm__free(t->lines);
}

/* Hand memory over to the arena: it is freed with the runs. */
static int hand_over(struct table *t, void *pointer)
{
    int rc = hm__arena_own(t->arena, pointer, hm__free);

    return rc ? hm__fail_nomem(t->err) : 0;
}

static int seal_columns(struct table *t, struct hm_runs *runs)
{
    /* One more than there are, for seconds where they have to be worked out. */
    runs->columns = hm__arena_alloc(t->arena, t->column_count + 1, sizeof(*runs->columns));
    if (!runs->columns)
        return hm__fail_nomem(t->err);
    for (size_t i = 0; i < t->column_count; i++) {
        struct column *c = &t->columns[i];
        struct hm_column *to = &runs->columns[i];
        int rc = 0;
        to->name = hm__arena_strdup(t->arena, c->name);
        if (!to->name || (!c->values && !c->labels && become_labels(t, c)))
            return hm__fail_nomem(t->err);
        if (c->values && (rc = hand_over(t, c->values)) == 0)
            to->values = c->values;
        if (rc == 0 && c->labels && (rc = hand_over(t, (void *)c->labels)) == 0)
            to->labels = c->labels;
        if (rc)
            return rc;
        c->values = NULL;
        c->labels = NULL;
        runs->column_count++;
    }
    int rc = hand_over(t, t->lines);
    if (rc == 0) {
        runs->lines = t->lines;
        t->lines = NULL;
    }
    return rc;
}

static double value_of(const struct hm_column *column, size_t row)
{
    return column && column->values ? column->values[row] : NAN;
}

static bool has_failed(const struct hm_column *status, size_t row)
{
    const char *text = status && status->labels ? status->labels[row] : NULL;

    return text && strcasecmp(text, "ok") != 0 && strcasecmp(text, "done") != 0 &&
           strcasecmp(text, "success") != 0 && strcasecmp(text, "completed") != 0;
}

static int fail_row(const struct table *t, const struct hm_runs *runs, size_t row,
                    const char *field, const char *message)
{
    hm__fail(t->err, HM_E_MISSING, "%s", message);
    hm__err_field(t->err, field);
    hm__err_at(t->err, t->source, runs->lines[row]);
    return HM_E_MISSING;
}

/* Seconds of each run: given, or total over iterations, or one over the speedup. */
static int work_out_seconds(struct table *t, struct hm_runs *runs, double *seconds)
{
    const struct hm_column *given = hm_runs_column(runs, "seconds");
    const struct hm_column *total = hm_runs_column(runs, "total");
    const struct hm_column *iterations = hm_runs_column(runs, "iterations");
    const struct hm_column *speedup = hm_runs_column(runs, "speedup");
    const struct hm_column *status = hm_runs_column(runs, "status");
    const struct hm_column *n = hm_runs_column(runs, "n");

    runs->relative = !given && !total;
    for (size_t i = 0; i < runs->count; i++) {
        double of = value_of(iterations, i);
        seconds[i] = value_of(given, i);
        if (isnan(seconds[i]))
            seconds[i] = value_of(total, i) / (isnan(of) ? 1 : of);
        if (isnan(seconds[i]) && runs->relative)
            seconds[i] = 1 / value_of(speedup, i);
        if (has_failed(status, i))
            seconds[i] = NAN;
        if (isnan(value_of(n, i)))
            return fail_row(t, runs, i, "n", "the run has no n");
        if (isnan(seconds[i]) && !has_failed(status, i))
            return fail_row(t, runs, i, "seconds",
                            "the run has no time, and no status that says why");
        runs->failed += isnan(seconds[i]) ? 1 : 0;
    }
    return 0;
}

static int finish(struct table *t, struct hm_runs *runs)
{
    const struct hm_column *have = hm_runs_column(runs, "seconds");
    double *seconds;

    if (runs->count == 0) {
        hm__fail(t->err, HM_E_MISSING, "no runs");
        hm__err_hint(t->err, "one line a run, below a line such as n,size,seconds");
        hm__err_at(t->err, t->source, 0);
        return HM_E_MISSING;
    }
    const char *lacks =
        !hm_runs_column(runs, "n")                                                    ? "n"
        : !have && !hm_runs_column(runs, "total") && !hm_runs_column(runs, "speedup") ? "seconds"
                                                                                      : NULL;
    if (lacks) {
        hm__fail(t->err, HM_E_MISSING, "no column '%s'", lacks);
        bool one = runs->column_count == 1 && *lacks == 'n';
        hm__err_hint(t->err, one ? "commas separate columns, and n is how many workers a run had"
                             : *lacks == 'n'
                                 ? "how many workers a run had"
                                 : "of an iteration; or total and iterations, or speedup");
        hm__err_at(t->err, t->source, runs->lines[0]);
        return HM_E_MISSING;
    }
    if (!(seconds = hm__arena_alloc(t->arena, runs->count, sizeof(*seconds))))
        return hm__fail_nomem(t->err);
    int rc = work_out_seconds(t, runs, seconds);
    if (!have)
        runs->columns[runs->column_count++].name = "seconds";
    for (size_t i = 0; i < runs->column_count; i++)
        if (strcmp(runs->columns[i].name, "seconds") == 0) {
            runs->columns[i].values = seconds;
            runs->columns[i].labels = NULL;
        }
    return rc;
}

int hm_runs_parse(const char *text, size_t length, const char *source, struct hm_runs **ret_runs,
                  struct hm_err *err)
{
    int bad = hm__check_pointers(err, "ret_runs", ret_runs, NULL);
    if (bad == 0)
        bad = hm__check_array(text, length, "text", err);
    if (bad)
        return bad;
    struct table t = {.arena = hm__arena_new(), .err = err};
    struct hm_runs *runs = NULL;
    size_t at = 0;
    int rc = 0;

    if (t.arena && (t.source = hm__arena_strdup(t.arena, source ? source : "runs")))
        runs = hm__arena_alloc(t.arena, 1, sizeof(*runs));
    if (!runs)
        rc = hm__fail_nomem(err);
    while (at < length && strchr(" \t\r\n", text[at]) && text[at])
        at++;
    if (rc == 0 && at < length && text[at] == '[') {
        rc = hm__fail(err, HM_E_SYNTAX, "a list, where one JSON object a line is wanted");
        hm__err_hint(err, "jq -c '.[]' turns it into lines");
        hm__err_at(err, t.source, 1);
    }
    if (rc == 0)
        rc = at < length && text[at] == '{'
                 ? hm__run_json_lines(text, length, t.source, put_object, &t, err)
                 : read_csv(&t, text, length);
    if (rc == 0) {
        *runs = (struct hm_runs){.source = t.source, .count = t.count, .memory = t.arena};
        rc = seal_columns(&t, runs);
    }
    if (rc == 0)
        rc = finish(&t, runs);
    release(&t);
    if (rc)
        hm__arena_free(t.arena);
    else
        *ret_runs = runs;
    return rc;
}

int hm_runs_load(const char *path, struct hm_runs **ret_runs, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "path", path, "ret_runs", ret_runs, NULL);
    if (bad)
        return bad;
    char *text;
    size_t length;
    int rc = hm__source_read_all(path, &text, &length, err);

    if (rc)
        return rc;
    rc = hm_runs_parse(text, length, path, ret_runs, err);
    hm__free(text);
    return rc;
}
