/* Tables of runs: finding columns, keeping some rows, and every combination of some values. */
#include <math.h>
#include <string.h>

#include "err.h"
#include "howmany_fit.h"
#include "memory.h"
#include "text.h"

void hm_runs_free(struct hm_runs *runs)
{
    if (runs)
        hm__arena_free(runs->memory);
}

const struct hm_column *hm_runs_column(const struct hm_runs *runs, const char *name)
{
    for (size_t i = 0; i < runs->column_count; i++)
        if (strcmp(runs->columns[i].name, name) == 0)
            return &runs->columns[i];
    return NULL;
}

static const char *column_name(const void *context, size_t i)
{
    const struct hm_runs *runs = context;
    return i < runs->column_count ? runs->columns[i].name : NULL;
}

/* Whether a row has the value; numbers are compared as numbers. */
static bool has_value(const struct hm_column *column, size_t row, const char *text, double number)
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
    runs->lines[to] = runs->lines[from];
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

int hm_runs_where(struct hm_runs *runs, const char *condition, struct hm_err *err)
{
    const struct hm_column *column = NULL, *seconds = hm_runs_column(runs, "seconds");
    double number = 0;
    size_t kept = 0;
    int rc = read_condition(runs, condition, &column, &number, err);

    if (rc)
        return rc;
    const char *text = strchr(condition, '=') + 1;
    for (size_t i = 0; i < runs->count; i++)
        if (has_value(column, i, text, number))
            move_row(runs, i, kept++);
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

enum { CROSS_MAX = 1000000 };

static int cross_size(const struct hm_axis *axes, size_t count, size_t *ret_rows,
                      struct hm_err *err)
{
    double rows = 1;
    bool has_n = false;

    for (size_t i = 0; i < count; i++) {
        rows *= (double)axes[i].count;
        has_n = has_n || strcmp(axes[i].name, "n") == 0;
    }
    if (!has_n)
        return hm__fail(err, HM_E_MISSING, "n has no values");
    if (rows < 1 || rows > CROSS_MAX)
        return hm__fail(err, HM_E_LIMIT, "%.0f combinations; at most %d can be looked at", rows,
                        CROSS_MAX);
    *ret_rows = (size_t)rows;
    return 0;
}

/* Fill the columns; the first axis turns slowest. */
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
    int rc = cross_size(axes, count, &rows, err);

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
