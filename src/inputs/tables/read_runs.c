/*
 * Reads runs from CSV (csv.h) or JSON lines, one run per line; docs/reference/fit.md describes the
 * columns.
 *
 * The table is stored by column. A column holds numbers as long as every cell is a number, and
 * labels otherwise. Synonyms of known columns are resolved (run_names.h), and the values of known
 * columns must be within their range. In one column, either all cells have a unit of the same
 * dimension, or no cell has a unit, because a guessed unit is worse than an error. A cell uses 8
 * bytes of memory. A JSON object may also have a list `samples` (read_samples.h).
 */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "checks.h"
#include "csv.h"
#include "err.h"
#include "howmany_fit.h"
#include "memory.h"
#include "read_samples.h"
#include "row_values.h"
#include "run_names.h"
#include "run_seconds.h"
#include "run_text.h"
#include "text.h"
#include "unit.h"
#include "value.h"

enum column_kind { KIND_OPEN, KIND_NUMBER, KIND_LABEL };

struct run_column {
    char name[HM_RUN_NAME];
    const struct hm_known_column *known; /* Known meaning of the column; NULL if it is not known. */
    double factor; /* Factor that converts the unit in the header to SI; 0 if there is no unit. */
    enum column_kind kind;
    /* Number in each row, NaN if the cell is empty, owned; NULL if there are no numbers. */
    double *values;
    /* Label in each row, with its text in the arena, owned; NULL if there are no labels. */
    const char **labels;
    bool has_unit;     /* True if the first number of the column has a unit. */
    struct hm_dim dim; /* Dimension of the unit of the first number. */
    int unit_line;     /* Line of the first number; 0 if there is no number yet. */
};

struct run_table {
    struct hm_arena *arena;
    const char *source;
    struct run_column *columns;
    size_t column_count, column_room;
    uint16_t *sorted; /* Indices of the columns, sorted by name; NULL if there are no columns. */
    int *lines;
    struct hm_run_samples *samples; /* Samples of each row; NULL means that no row has samples. */
    size_t count, room;
    size_t cells; /* Number of cells that were read, including empty ones. */
    struct hm_err *err;
};

static int fail_cell(struct run_table *t, const struct run_column *c, int line, int code)
{
    hm__err_field(t->err, c->name);
    hm__err_at(t->err, t->source, line);
    return code;
}

/* ---- headers -------------------------------------------------------------------------------- */

/* Returns the place of the first column, in the order of names, that is not before `name`. */
static size_t find_place(const struct run_table *t, const char *name)
{
    size_t low = 0, high = t->column_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(t->columns[t->sorted[middle]].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the column at a place in the order of names if it has this name; NULL if it has not. */
static struct run_column *column_at(const struct run_table *t, size_t place, const char *name)
{
    struct run_column *c = place < t->column_count ? &t->columns[t->sorted[place]] : NULL;

    return c && strcmp(c->name, name) == 0 ? c : NULL;
}

static int fail_repeated(struct run_table *t, const char *written, const char *name, int line)
{
    hm__fail(t->err, HM_E_CONFLICT, "column '%.60s' appears twice", written);
    if (strcmp(written, name) != 0)
        hm__err_hint(t->err, "it means %s, which another column has already", name);
    hm__err_field(t->err, name);
    hm__err_at(t->err, t->source, line);
    return HM_E_CONFLICT;
}

/* Adds a column at a place in the order of names. */
static int insert_column(struct run_table *t, const struct run_column *c, size_t place)
{
    if (t->column_count == HM_CSV_COLUMNS)
        return hm__fail(t->err, HM_E_LIMIT, "more than %d columns", HM_CSV_COLUMNS);
    if (!t->sorted)
        t->sorted = hm__calloc(HM_CSV_COLUMNS, sizeof(*t->sorted));
    struct run_column *columns =
        hm__grow(t->columns, t->column_count, &t->column_room, sizeof(*columns));
    if (columns)
        t->columns = columns;
    if (!columns || !t->sorted)
        return hm__fail_nomem(t->err);
    memmove(t->sorted + place + 1, t->sorted + place,
            (t->column_count - place) * sizeof(*t->sorted));
    t->sorted[place] = (uint16_t)t->column_count;
    t->columns[t->column_count++] = *c;
    return 0;
}

/* Adds a column with the meaning `name`; its cells are empty in the rows read so far. */
static int add_named_column(struct run_table *t, const char *written,
                            const struct hm_run_name *name, int line)
{
    struct run_column c = {
        .known = name->known, .factor = name->factor, .dim = name->dim, .kind = KIND_OPEN};

    memcpy(c.name, name->name, sizeof(c.name));

    if (c.name[0] == '\0') {
        hm__fail(t->err, HM_E_SYNTAX, "column %zu has no name", t->column_count + 1);
        hm__err_at(t->err, t->source, line);
        return HM_E_SYNTAX;
    }
    if (c.factor > 0 && c.known && !hm__dim_equal(c.dim, c.known->dim)) {
        hm__fail(t->err, HM_E_UNIT, "the unit in '%.60s' does not fit the column", written);
        hm__err_hint(t->err, "write %s", hm__dim_example(c.known->dim));
        return fail_cell(t, &c, line, HM_E_UNIT);
    }
    if (c.known && c.known->label)
        c.kind = KIND_LABEL;
    size_t place = find_place(t, c.name);
    return column_at(t, place, c.name) ? fail_repeated(t, written, c.name, line)
                                       : insert_column(t, &c, place);
}

static int add_column(struct run_table *t, const char *written, int line)
{
    struct hm_run_name name = hm__run_name_resolve(written);

    return add_named_column(t, written, &name, line);
}

/* ---- cells ---------------------------------------------------------------------------------- */

/*
 * Cells that a table may have in any case, and cells that it may have for each cell that was read.
 * A table of JSON lines can have thousands of columns in one line and nothing in the others.
 */
enum { CELLS_FREE = 1 << 24, CELLS_EACH = 16 };

/* Fails if the table has too many empty cells after `columns` arrays of `room` rows are added. */
static int check_cells(struct run_table *t, size_t columns, size_t room)
{
    for (size_t i = 0; i < t->column_count; i++)
        columns += (t->columns[i].values ? 1u : 0u) + (t->columns[i].labels ? 1u : 0u);
    if ((double)columns * (double)room <= CELLS_FREE + CELLS_EACH * (double)t->cells)
        return 0;
    hm__fail(t->err, HM_E_LIMIT,
             "the table is too sparse: %zu columns, but only %zu values in %zu rows",
             t->column_count, t->cells, t->count);
    hm__err_hint(t->err, "a table may have %d empty cells, and %d for each value", CELLS_FREE,
                 CELLS_EACH);
    hm__err_at(t->err, t->source, 0);
    return HM_E_LIMIT;
}

static int ensure_values(struct run_table *t, struct run_column *c)
{
    if (!c->values) {
        int rc = check_cells(t, 1, t->room);
        if (rc)
            return rc;
        c->values = hm__calloc(t->room, sizeof(*c->values));
        for (size_t i = 0; c->values && i < t->room; i++)
            c->values[i] = NAN;
    }
    return c->values ? 0 : hm__fail_nomem(t->err);
}

/* Converts a column of numbers to labels: the numbers read so far become strings again. */
static int convert_to_labels(struct run_table *t, struct run_column *c)
{
    int rc = c->labels ? 0 : check_cells(t, 1, t->room);

    if (rc)
        return rc;
    if (!c->labels && !(c->labels = hm__calloc(t->room, sizeof(*c->labels))))
        return hm__fail_nomem(t->err);
    for (size_t i = 0; c->values && i < t->count; i++) {
        if (isnan(c->values[i]))
            continue;
        char text[HM_RUN_DIGITS];
        hm__run_print(c->values[i], text);
        c->labels[i] = hm__arena_strdup(t->arena, text);
        if (!c->labels[i])
            return hm__fail_nomem(t->err);
    }
    hm__free(c->values);
    c->values = NULL;
    c->kind = KIND_LABEL;
    return 0;
}

static int put_label(struct run_table *t, struct run_column *c, size_t row, const char *text)
{
    int rc = c->kind != KIND_LABEL || !c->labels ? convert_to_labels(t, c) : 0;

    if (rc)
        return rc;
    if (row > 0 && c->labels[row - 1] && strcmp(c->labels[row - 1], text) == 0)
        c->labels[row] = c->labels[row - 1]; /* Consecutive runs often have the same label, whose
                                                text is then shared. */
    else
        c->labels[row] = hm__arena_strdup(t->arena, text);
    return c->labels[row] ? 0 : hm__fail_nomem(t->err);
}

/* Fails if the unit of a cell has a different dimension from the units of earlier cells, or if only
 * some cells of the column have a unit. */
static int check_unit(struct run_table *t, struct run_column *c, const char *text, bool has_unit,
                      struct hm_dim dim, int line)
{
    char one[HM_DIM_TEXT], other[HM_DIM_TEXT];

    if (c->factor > 0 && has_unit) {
        hm__fail(t->err, HM_E_UNIT, "'%.60s' has a unit, but the name of the column has one too",
                 text);
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
    hm__err_hint(t->err, "give every value of a column a unit, or none");
    return fail_cell(t, c, line, HM_E_UNIT);
}

static int check_range(struct run_table *t, const struct run_column *c, double value,
                       const char *text, int line)
{
    const struct hm_known_column *k = c->known;
    const double most = k && k->count ? HM_COUNT_MOST : HM_RUN_MOST;

    if (fabs(value) <= most && (!k || (k->above ? value > k->min : value >= k->min)))
        return 0;
    if (!(fabs(value) <= most))
        hm__fail(t->err, HM_E_RANGE, "'%.60s' is too large", text);
    else
        hm__fail(t->err, HM_E_RANGE, "'%.60s' must be %s %g", text,
                 k->above ? "more than" : "at least", k->min);
    return fail_cell(t, c, line, HM_E_RANGE);
}

/* Returns whether a number begins with a zero that it would lose, such as 007, and has no unit. */
static bool is_padded(const char *text)
{
    const char *first = text + (*text == '-' || *text == '+');
    double unused;

    return first[0] == '0' && first[1] >= '0' && first[1] <= '9' &&
           hm__run_bare_number(first, &unused);
}

/*
 * Returns whether a number of a column that is not known is a label: a double cannot hold it, such
 * as 12e45678 or a long identifier, or its text has more than the number. A column with a unit in
 * its name, or whose name says that it counts workers, has numbers with zeros before them.
 */
static bool is_label(const struct run_column *c, const char *text, double value)
{
    if (fabs(value) > HM_RUN_MOST || !hm__run_is_exact(text, value))
        return true;
    return c->factor == 0 && is_padded(text) && !hm__run_name_counts(c->name);
}

static int put_number(struct run_table *t, struct run_column *c, size_t row, const char *text,
                      int line)
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
    if (!c->known && is_label(c, text, value))
        return put_label(t, c, row, text);
    int rc = check_unit(t, c, text, has_unit, dim, line);
    if (rc)
        return rc;
    value *= c->factor > 0 ? c->factor : 1;
    rc = check_range(t, c, value, text, line);
    if (rc == 0)
        rc = ensure_values(t, c);
    if (rc == 0)
        c->values[row] = value;
    c->kind = KIND_NUMBER;
    return rc;
}

/* Stores a string in a cell of the current row, without leading and trailing spaces. A quoted
 * string is a label unless the column is known to hold numbers. */
static int put_cell(struct run_table *t, size_t column, char *text, bool quoted, int line)
{
    struct run_column *c = &t->columns[column];

    text = hm__run_trim(text);
    /* If the loss diverged, its cell stays empty; the run is kept, because its time is still
     * useful. */
    if (!*text || (c->known && strcmp(c->name, "loss") == 0 && hm__run_word(text)))
        return 0;
    if (c->kind == KIND_LABEL || (quoted && !c->known))
        return put_label(t, c, t->count, text);
    return put_number(t, c, t->count, text, line);
}

/* Makes room for the samples of `room` rows; rows beyond the first `used` ones have none yet. */
static int grow_samples(struct run_table *t, size_t used, size_t room)
{
    struct hm_run_samples *samples = hm__realloc(t->samples, room, sizeof(*samples));

    if (!samples)
        return hm__fail_nomem(t->err);
    memset(samples + used, 0, (room - used) * sizeof(*samples));
    t->samples = samples;
    return 0;
}

static int grow_table(struct run_table *t)
{
    size_t room = t->room ? 2 * t->room : 4;
    int rc = check_cells(t, 0, room);

    if (rc)
        return rc;
    int *lines = hm__realloc(t->lines, room, sizeof(*lines));
    if (!lines)
        return hm__fail_nomem(t->err);
    t->lines = lines;
    if (t->samples && grow_samples(t, t->room, room))
        return HM_E_NOMEM;
    for (size_t i = 0; i < t->column_count; i++) {
        struct run_column *c = &t->columns[i];
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

/* ---- CSV and JSON lines --------------------------------------------------------------------- */

static int read_csv(struct run_table *t, const char *text, size_t length)
{
    struct hm_csv *csv = NULL;
    char **fields;
    int skipped, got = 0;
    size_t start = hm__run_skip_comments(text, length, &skipped);
    int rc = hm__csv_parse(text + start, length - start, t->source, skipped, &csv, t->err);

    if (rc)
        return rc;
    rc = hm__run_check_header(csv, "n,size,seconds", t->err);
    for (size_t i = 0; rc == 0 && hm__csv_name(csv, i); i++)
        rc = add_column(t, hm__csv_name(csv, i), hm__csv_line(csv));
    while (rc == 0 && (got = hm__csv_next(csv, &fields, t->err)) == 1) {
        int line = hm__csv_line(csv);
        t->cells += t->column_count;
        rc = t->count == t->room ? grow_table(t) : 0;
        for (size_t i = 0; rc == 0 && i < t->column_count; i++)
            rc = put_cell(t, i, fields[i], false, line);
        if (rc == 0)
            t->lines[t->count++] = line;
    }
    hm__csv_close(csv);
    return rc ? rc : got;
}

static int find_column(struct run_table *t, const char *key, int line, size_t *ret_column)
{
    struct hm_run_name wanted = hm__run_name_resolve(key);

    const struct run_column *c = column_at(t, find_place(t, wanted.name), wanted.name);

    *ret_column = c ? (size_t)(c - t->columns) : t->column_count;
    if (!c)
        return add_named_column(t, key, &wanted, line);
    if (c->factor == wanted.factor)
        return 0;
    hm__fail(t->err, HM_E_UNIT, "'%.60s' has another unit than in the lines above", key);
    return fail_cell(t, c, line, HM_E_UNIT);
}

static bool is_filled(const struct run_column *c, size_t row)
{
    return (c->values && !isnan(c->values[row])) || (c->labels && c->labels[row]);
}

static int put_samples(struct run_table *t, const struct hm_value *list, int line)
{
    struct hm_err why = {0};
    int rc = t->samples ? 0 : grow_samples(t, 0, t->room);

    if (rc || (rc = hm__samples_read(t->arena, list, &t->samples[t->count], &why)) == 0)
        return rc;
    /*
     * Each line of JSON was parsed separately, so its values do not contain their line number in
     * the table.
     */
    why.source[0] = '\0';
    why.line = 0;
    hm__err_at(&why, t->source, line);
    if (t->err)
        *t->err = why;
    return rc;
}

static int put_object(void *table, struct hm_arena *arena, const struct hm_value *object, int line)
{
    struct run_table *t = table;

    int rc = t->count == t->room ? grow_table(t) : 0;
    if (rc)
        return rc;
    t->cells += object->count;
    for (size_t i = 0; i < object->count; i++) {
        const struct hm_value *item = &object->items[i];
        bool samples = item->kind == HM_VALUE_LIST && strcmp(object->keys[i], "samples") == 0;
        size_t column = 0;
        rc = samples ? put_samples(t, item, line) : find_column(t, object->keys[i], line, &column);
        if (rc)
            return rc;
        if (samples || item->kind == HM_VALUE_NULL)
            continue;
        if (is_filled(&t->columns[column], t->count)) {
            hm__fail(t->err, HM_E_CONFLICT, "%s appears twice", t->columns[column].name);
            hm__err_hint(t->err, "'%.60s' means the same", object->keys[i]);
            return fail_cell(t, &t->columns[column], line, HM_E_CONFLICT);
        }
        if (item->kind != HM_VALUE_SCALAR) {
            hm__fail(t->err, HM_E_TYPE, "%s where a number or a text is expected",
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

/* ---- the result ----------------------------------------------------------------------------- */

static void release_table(struct run_table *t)
{
    for (size_t i = 0; i < t->column_count; i++) {
        hm__free(t->columns[i].values);
        hm__free(t->columns[i].labels);
    }
    hm__free(t->columns);
    hm__free(t->sorted);
    hm__free(t->lines);
    hm__free(t->samples);
}

/* Makes the arena own a block of memory, so that it is freed together with the runs. */
static int give_to_arena(struct run_table *t, void *pointer)
{
    int rc = hm__arena_own(t->arena, pointer, hm__free);

    return rc ? hm__fail_nomem(t->err) : 0;
}

static int seal_columns(struct run_table *t, struct hm_runs *runs)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < t->column_count; i++)
        if (!t->columns[i].values && !t->columns[i].labels)
            rc = convert_to_labels(t, &t->columns[i]);
    if (rc)
        return rc;
    /* Allocate more columns than were read, to make room for derived columns. */
    runs->columns =
        hm__arena_alloc(t->arena, t->column_count + HM_RUN_ADDED, sizeof(*runs->columns));
    if (!runs->columns)
        return hm__fail_nomem(t->err);
    for (size_t i = 0; i < t->column_count; i++) {
        struct run_column *c = &t->columns[i];
        struct hm_column *to = &runs->columns[i];
        to->name = hm__arena_strdup(t->arena, c->name);
        if (!to->name)
            return hm__fail_nomem(t->err);
        if (c->values && (rc = give_to_arena(t, c->values)) == 0)
            to->values = c->values;
        if (rc == 0 && c->labels && (rc = give_to_arena(t, (void *)c->labels)) == 0)
            to->labels = c->labels;
        if (rc)
            return rc;
        c->values = NULL;
        c->labels = NULL;
        runs->column_count++;
    }
    rc = give_to_arena(t, t->lines);
    if (rc == 0) {
        runs->lines = t->lines;
        t->lines = NULL;
    }
    if (rc == 0 && t->samples && (rc = give_to_arena(t, t->samples)) == 0) {
        runs->samples = t->samples;
        t->samples = NULL;
    }
    return rc;
}

static int finish_runs(struct run_table *t, struct hm_runs *runs)
{
    if (runs->count > 0)
        return hm__run_seconds(runs, t->err);
    hm__fail(t->err, HM_E_MISSING, "no runs");
    hm__err_hint(t->err, "write one line for each run, below a header such as n,size,seconds");
    hm__err_at(t->err, t->source, 0);
    return HM_E_MISSING;
}

/* Reads a table of runs from the value tree `rows`, or from `text` if rows is NULL. */
static int read_table(const char *text, size_t length, const struct hm_value *rows,
                      const char *source, struct hm_runs **ret_runs, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "ret_runs", ret_runs, NULL);
    if (bad == 0)
        bad = hm__check_array(text, length, "text", err);
    if (bad)
        return bad;
    struct run_table t = {.arena = hm__arena_new(), .err = err};
    struct hm_runs *runs = NULL;
    size_t at = hm__text_mark(text, length);
    int rc = 0;

    if (t.arena && (t.source = hm__arena_strdup(t.arena, source ? source : "runs")))
        runs = hm__arena_alloc(t.arena, 1, sizeof(*runs));
    if (!runs)
        rc = hm__fail_nomem(err);
    while (at < length && strchr(" \t\r\n", text[at]) && text[at])
        at++;
    if (rc == 0 && at < length && text[at] == '[') {
        rc = hm__fail(err, HM_E_SYNTAX, "a JSON list; one JSON object in each line is expected");
        hm__err_hint(err, "jq -c '.[]' turns a list into lines");
        hm__err_at(err, t.source, 1);
    }
    if (rc == 0)
        rc = rows ? hm__run_objects(rows, put_object, &t, err)
             : at < length && text[at] == '{'
                 ? hm__run_json_lines(text, length, t.source, put_object, &t, err)
                 : read_csv(&t, text, length);
    if (rc == 0) {
        *runs = (struct hm_runs){.source = t.source, .count = t.count, .memory = t.arena};
        rc = seal_columns(&t, runs);
    }
    if (rc == 0)
        rc = finish_runs(&t, runs);
    release_table(&t);
    if (rc)
        hm__arena_free(t.arena);
    else
        *ret_runs = runs;
    return rc;
}

int hm_runs_parse(const char *text, size_t length, const char *source, struct hm_runs **ret_runs,
                  struct hm_err *err)
{
    return read_table(text, length, NULL, source, ret_runs, err);
}

int hm__runs_read(const struct hm_value *rows, const char *source, struct hm_runs **ret_runs,
                  struct hm_err *err)
{
    return read_table("", 0, rows, source, ret_runs, err);
}

int hm_runs_load(const char *path, struct hm_runs **ret_runs, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "path", path, "ret_runs", ret_runs, NULL);
    if (bad)
        return bad;
    char *text;
    size_t length;
    int rc = hm__table_load(path, &text, &length, err);

    if (rc)
        return rc;
    rc = hm_runs_parse(text, length, path, ret_runs, err);
    if (rc == 0)
        (*ret_runs)->cut = hm__run_text_is_cut(text, length);
    hm__free(text);
    return rc;
}
