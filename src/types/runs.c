/*
 * Creates tables of runs from arrays or from all combinations of values; checks, searches and
 * filters such tables.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "checks.h"
#include "err.h"
#include "howmany_fit.h"
#include "memory.h"
#include "text.h"

void hm_runs_free(struct hm_runs *runs)
{
    if (runs)
        hm__arena_free(runs->memory);
}

int hm__runs_line(const struct hm_runs *runs, size_t row)
{
    return runs->lines ? runs->lines[row] : 0;
}

const struct hm_column *hm_runs_column(const struct hm_runs *runs, const char *name)
{
    if (!runs || !name || !runs->columns)
        return NULL;
    for (size_t i = 0; i < runs->column_count; i++)
        if (runs->columns[i].name && runs->columns[i].name[0] == name[0] &&
            strcmp(runs->columns[i].name, name) == 0)
            return &runs->columns[i];
    return NULL;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* The allowed range of a numeric column, up to HM_RUN_MOST. Columns that are not listed may also
 * have values from -HM_RUN_MOST on. */
struct column_range {
    const char *name;
    double min;
    bool above; /* True if values must be above the minimum and not equal to it. */
};

static const struct column_range ranges[] = {
    {"n", 1, false},    {"seconds", 0, true},  {"size", 0, true},
    {"batch", 0, true}, {"latency", 0, false}, {"bandwidth", 0, true},
};

static int fail_cell(const struct hm_runs *runs, size_t row, const struct hm_column *column,
                     const struct column_range *range, struct hm_err *err)
{
    char field[128];

    snprintf(field, sizeof(field), "%.80s[%zu]", column->name, row);
    hm__fail(err, HM_E_RANGE, "%g is out of range", column->values[row]);
    if (range)
        hm__err_hint(err, "%s must be %s %g, and at most %g", column->name,
                     range->above ? "above" : "at least", range->min, HM_RUN_MOST);
    else
        hm__err_hint(err, "it must be from %g to %g, or NaN where it is unknown", -HM_RUN_MOST,
                     HM_RUN_MOST);
    hm__err_field(err, field);
    hm__err_at(err, runs->source, hm__runs_line(runs, row));
    return HM_E_RANGE;
}

static int check_values(const struct hm_runs *runs, const struct hm_column *column,
                        struct hm_err *err)
{
    const struct column_range *range = NULL;
    const bool is_n = strcmp(column->name, "n") == 0;

    for (size_t k = 0; k < sizeof(ranges) / sizeof(ranges[0]); k++)
        if (strcmp(ranges[k].name, column->name) == 0)
            range = &ranges[k];
    for (size_t i = 0; i < runs->count; i++) {
        double x = column->values[i];
        bool known = !isnan(x);
        bool good = !range || (range->above ? x > range->min : x >= range->min);
        if (known ? !good || fabs(x) > HM_RUN_MOST : is_n)
            return fail_cell(runs, i, column, range, err);
    }
    return 0;
}

static const char *name_or_empty(const struct hm_column *column)
{
    return column->name ? column->name : "";
}

/* Compares two pointers to columns by name; columns with equal names keep their order. */
static int compare_columns(const void *a, const void *b)
{
    const struct hm_column *x = *(const struct hm_column *const *)a,
                           *y = *(const struct hm_column *const *)b;
    int order = strcmp(name_or_empty(x), name_or_empty(y));

    return order ? order : x < y ? -1 : x > y;
}

/* Sets *ret_at to the index of the first column whose name an earlier column has, too; HM_NONE if
 * all names differ. */
static int find_repeated_column(const struct hm_runs *runs, size_t *ret_at, struct hm_err *err)
{
    const struct hm_column **sorted = hm__calloc(runs->column_count + 1, sizeof(*sorted));

    *ret_at = HM_NONE;
    if (!sorted)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < runs->column_count; i++)
        sorted[i] = &runs->columns[i];
    qsort(sorted, runs->column_count, sizeof(*sorted), compare_columns);
    for (size_t i = 1; i < runs->column_count; i++) {
        size_t at = (size_t)(sorted[i] - runs->columns);
        if (strcmp(name_or_empty(sorted[i - 1]), name_or_empty(sorted[i])) == 0 && at < *ret_at)
            *ret_at = at;
    }
    hm__free(sorted);
    return 0;
}

static int check_column(const struct hm_runs *runs, size_t at, bool repeated, struct hm_err *err)
{
    const struct hm_column *column = &runs->columns[at];

    if (!column->name || !*column->name)
        return hm__fail(err, HM_E_MISSING, "column %zu has no name", at);
    bool numbers = strcmp(column->name, "n") == 0 || strcmp(column->name, "seconds") == 0;
    if (numbers ? !column->values : !column->values == !column->labels) {
        hm__fail(err, HM_E_MISSING,
                 numbers          ? "the column '%.60s' has no values"
                 : column->values ? "the column '%.60s' has both values and labels"
                                  : "the column '%.60s' has neither values nor labels",
                 column->name);
        hm__err_field(err, column->name);
        return HM_E_MISSING;
    }
    if (repeated) {
        hm__fail(err, HM_E_CONFLICT, "the column '%.60s' appears twice", column->name);
        hm__err_field(err, column->name);
        return HM_E_CONFLICT;
    }
    return column->values ? check_values(runs, column, err) : 0;
}

int hm_runs_check(const struct hm_runs *runs, struct hm_err *err)
{
    size_t repeated = HM_NONE;
    int rc = hm__check_pointer(runs, "runs", err);

    if (rc == 0)
        rc = hm__check_array(runs->columns, runs->column_count, "columns", err);
    if (rc == 0 && runs->count == 0)
        rc = hm__fail(err, HM_E_MISSING, "the table has no runs");
    if (rc == 0)
        rc = find_repeated_column(runs, &repeated, err);
    for (size_t i = 0; rc == 0 && i < runs->column_count; i++)
        rc = check_column(runs, i, i == repeated, err);
    if (rc == 0 && !hm_runs_column(runs, "n")) {
        rc = hm__fail(err, HM_E_MISSING, "the table has no column n");
        hm__err_field(err, "n");
    }
    if (rc && runs)
        hm__err_at(err, runs->source, 0);
    return rc;
}

int hm__runs_check_times(const struct hm_runs *runs, struct hm_err *err)
{
    int rc = hm_runs_check(runs, err);

    if (rc || hm_runs_column(runs, "seconds"))
        return rc;
    hm__fail(err, HM_E_MISSING, "the table has no column seconds");
    hm__err_field(err, "seconds");
    hm__err_at(err, runs->source, 0);
    return HM_E_MISSING;
}

/* ---- from arrays ----------------------------------------------------------------------------- */

static int copy_column(struct hm_runs *runs, const char *name, const double *values,
                       const char *const *labels)
{
    struct hm_column *to = &runs->columns[runs->column_count];
    bool ok = (to->name = hm__arena_strdup(runs->memory, name)) != NULL;

    if (values && (to->values = hm__arena_alloc(runs->memory, runs->count, sizeof(*values))))
        memcpy(to->values, values, runs->count * sizeof(*values));
    if (labels)
        to->labels = hm__arena_alloc(runs->memory, runs->count, sizeof(*to->labels));
    ok = ok && (!values || to->values) && (!labels || to->labels);
    for (size_t i = 0; ok && labels && i < runs->count; i++)
        if (labels[i] && !(to->labels[i] = hm__arena_strdup(runs->memory, labels[i])))
            ok = false;
    runs->column_count++;
    return ok ? 0 : HM_E_NOMEM;
}

static int fill_runs(struct hm_runs *runs, const double *n, const double *seconds,
                     const struct hm_column *columns, size_t column_count)
{
    int rc = copy_column(runs, "n", n, NULL);

    if (rc == 0 && seconds)
        rc = copy_column(runs, "seconds", seconds, NULL);
    for (size_t i = 0; rc == 0 && i < column_count; i++)
        rc = copy_column(runs, columns[i].name ? columns[i].name : "", columns[i].values,
                         columns[i].labels);
    for (size_t i = 0; rc == 0 && i < runs->count; i++) {
        runs->lines[i] = (int)i + 1;
        runs->failed += seconds && isnan(seconds[i]) ? 1 : 0;
    }
    return rc;
}

int hm_runs_new(const double *n, const double *seconds, size_t count,
                const struct hm_column *columns, size_t column_count, struct hm_runs **ret_runs,
                struct hm_err *err)
{
    int rc = hm__check_pointer(n, "n", err);

    if (rc == 0)
        rc = hm__check_pointer(ret_runs, "ret_runs", err);
    if (rc == 0)
        rc = hm__check_array(columns, column_count, "columns", err);
    if (rc)
        return rc;
    struct hm_arena *arena = hm__arena_new();
    struct hm_runs *runs = arena ? hm__arena_alloc(arena, 1, sizeof(*runs)) : NULL;
    if (runs) {
        *runs = (struct hm_runs){.source = "arrays", .count = count, .memory = arena};
        runs->columns = hm__arena_alloc(arena, column_count + 2, sizeof(*runs->columns));
        runs->lines = hm__arena_alloc(arena, count, sizeof(*runs->lines));
    }
    if (!runs || !runs->columns || !runs->lines ||
        fill_runs(runs, n, seconds, columns, column_count))
        rc = hm__fail_nomem(err);
    if (rc == 0)
        rc = hm_runs_check(runs, err);
    if (rc)
        hm__arena_free(arena);
    else
        *ret_runs = runs;
    return rc;
}

/* ---- keeping rows ---------------------------------------------------------------------------- */

static const char *column_name(const void *context, size_t i)
{
    const struct hm_runs *runs = context;
    return i < runs->column_count ? runs->columns[i].name : NULL;
}

/* Returns whether a cell of the table has the given value; numbers are compared with a small
 * tolerance. */
static bool cell_has_value(const struct hm_column *column, size_t row, const char *text,
                           double number)
{
    if (column->labels)
        return column->labels[row] && strcmp(column->labels[row], text) == 0;
    return fabs(column->values[row] - number) <= 1e-9 * fabs(number);
}

static void move_row(struct hm_runs *runs, size_t from, size_t to)
{
    for (size_t i = 0; i < runs->column_count; i++) {
        struct hm_column *c = &runs->columns[i];
        if (c->values)
            c->values[to] = c->values[from];
        else
            c->labels[to] = c->labels[from];
    }
    if (runs->lines)
        runs->lines[to] = runs->lines[from];
    if (runs->samples)
        runs->samples[to] = runs->samples[from];
}

static int read_condition(const struct hm_runs *runs, const char *condition,
                          const struct hm_column **ret_column, double *ret_number,
                          struct hm_err *err)
{
    const char *equal = strchr(condition, '=');
    char name[128];

    if (!equal || equal == condition || (size_t)(equal - condition) >= sizeof(name))
        return hm__fail(err, HM_E_SYNTAX, "'%s' is not COLUMN=VALUE", condition);
    memcpy(name, condition, (size_t)(equal - condition));
    name[equal - condition] = '\0';
    *ret_column = hm_runs_column(runs, name);
    if (!*ret_column) {
        const char *near = hm__suggest(name, column_name, runs);
        hm__fail(err, HM_E_NAME, "no column '%s'", name);
        if (near)
            hm__err_hint(err, "did you mean %s?", near);
        hm__err_at(err, runs->source, 0);
        return HM_E_NAME;
    }
    size_t used = hm__number_read(equal + 1, ret_number);
    if ((*ret_column)->values && (used == 0 || equal[1 + used]))
        return hm__fail(err, HM_E_TYPE, "%s: '%s' is not a number, and the column has numbers",
                        name, equal + 1);
    return 0;
}

/* Keeps the rows that have the value of a condition; the table has been checked. */
static int keep_rows(struct hm_runs *runs, const char *condition, struct hm_err *err)
{
    const struct hm_column *column = NULL, *seconds = hm_runs_column(runs, "seconds");
    double number = 0;
    size_t kept = 0;
    int rc = read_condition(runs, condition, &column, &number, err);

    if (rc)
        return rc;
    const char *text = strchr(condition, '=') + 1;
    for (size_t i = 0; i < runs->count; i++)
        if (cell_has_value(column, i, text, number)) {
            if (i != kept)
                move_row(runs, i, kept);
            kept++;
        }
    if (kept == 0) {
        hm__fail(err, HM_E_MISSING, "no run has %s", condition);
        hm__err_at(err, runs->source, 0);
        return HM_E_MISSING;
    }
    runs->count = kept;
    runs->failed = 0;
    for (size_t i = 0; seconds && i < kept; i++)
        runs->failed += isnan(seconds->values[i]) ? 1 : 0;
    return 0;
}

int hm__runs_where(struct hm_runs *runs, const char *const *conditions, size_t count,
                   struct hm_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = hm__check_pointer(conditions[i], "condition", err);
        if (rc == 0 && i == 0)
            rc = hm_runs_check(runs, err);
        if (rc == 0)
            rc = hm__budget_check("where", err);
        if (rc == 0)
            rc = keep_rows(runs, conditions[i], err);
    }
    return rc;
}

int hm_runs_where(struct hm_runs *runs, const char *condition, struct hm_err *err)
{
    return hm__runs_where(runs, &condition, 1, err);
}

/* ---- combinations ---------------------------------------------------------------------------- */

enum { CROSS_MAX = 1000000 };

static int cross_size(const struct hm_axis *axes, size_t count, size_t *ret_rows,
                      struct hm_err *err)
{
    double rows = 1;
    bool has_n = false;

    for (size_t i = 0; i < count; i++) {
        int rc = hm__check_pointer(axes[i].name, "axes.name", err);
        if (rc == 0)
            rc = hm__check_array(axes[i].values, axes[i].count, axes[i].name, err);
        if (rc)
            return rc;
        rows *= (double)axes[i].count;
        has_n = has_n || strcmp(axes[i].name, "n") == 0;
    }
    if (!has_n)
        return hm__fail(err, HM_E_MISSING, "n has no values");
    if (rows < 1 || rows > CROSS_MAX)
        return hm__fail(err, HM_E_LIMIT, "%.0f combinations; at most %d are possible", rows,
                        CROSS_MAX);
    *ret_rows = (size_t)rows;
    return 0;
}

/*
 * Fills the columns of a table with all combinations of values; the values of the first column
 * change slowest.
 */
static int cross_fill(struct hm_runs *runs, const struct hm_axis *axes, struct hm_err *err)
{
    size_t repeat = runs->count;

    for (size_t i = 0; i < runs->column_count; i++) {
        struct hm_column *c = &runs->columns[i];
        c->name = hm__arena_strdup(runs->memory, axes[i].name);
        c->values = hm__arena_alloc(runs->memory, runs->count, sizeof(*c->values));
        if (!c->name || !c->values)
            return hm__fail_nomem(err);
        repeat /= axes[i].count;
        for (size_t k = 0; k < runs->count; k++)
            c->values[k] = axes[i].values[k / repeat % axes[i].count];
    }
    return 0;
}

int hm_runs_cross(const struct hm_axis *axes, size_t count, struct hm_runs **ret_runs,
                  struct hm_err *err)
{
    size_t rows = 0;
    int rc = hm__check_array(axes, count, "axes", err);

    if (rc == 0)
        rc = hm__check_pointer(ret_runs, "ret_runs", err);
    if (rc == 0)
        rc = cross_size(axes, count, &rows, err);
    if (rc)
        return rc;
    struct hm_arena *arena = hm__arena_new();
    struct hm_runs *runs = arena ? hm__arena_alloc(arena, 1, sizeof(*runs)) : NULL;
    if (runs) {
        *runs = (struct hm_runs){.source = "grid", .count = rows, .memory = arena};
        runs->columns = hm__arena_alloc(arena, count, sizeof(*runs->columns));
        runs->lines = hm__arena_alloc(arena, rows, sizeof(*runs->lines));
    }
    if (!runs || !runs->columns || !runs->lines) {
        hm__arena_free(arena);
        return hm__fail_nomem(err);
    }
    runs->column_count = count;
    rc = cross_fill(runs, axes, err);
    if (rc)
        hm__arena_free(arena);
    else
        *ret_runs = runs;
    return rc;
}
