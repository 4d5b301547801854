/*
 * Stores the tables of runs and traces that readers of other formats fill in, and converts them to
 * struct hm_runs, struct hm_traces and CSV.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "import.h"
#include "row_values.h"
#include "text.h"

void hm__import_columns(struct hm_import_table *t, const char *columns)
{
    t->column_count = 0;
    while (*columns && t->column_count < HM_IMPORT_COLUMNS) {
        t->texts[t->column_count] = *columns == '*';
        t->columns[t->column_count++] = columns + (*columns == '*');
        columns += strcspn(columns, ",");
        columns += *columns == ',';
    }
}

/*
 * Returns the length of the name of column `k`; names are separated by commas, so a name ends at a
 * comma.
 */
static size_t column_length(const struct hm_import_table *t, size_t k)
{
    return strcspn(t->columns[k], ",");
}

void hm__import_row(struct hm_imported *im, struct hm_import_table *t,
                    const struct hm_import_cell *cells)
{
    if (t->rows == HM_IMPORT_ROWS) {
        hm__import_note(im, "only the first %d rows are used", HM_IMPORT_ROWS);
        return;
    }
    if (t->rows == t->room) {
        size_t room = t->room ? 2 * t->room : 64;
        struct hm_import_cell *larger =
            hm__realloc(t->cells, room * t->column_count, sizeof(*larger));
        if (!larger) {
            im->failed = true;
            return;
        }
        t->cells = larger;
        t->room = room;
    }
    memcpy(t->cells + t->rows++ * t->column_count, cells, t->column_count * sizeof(*cells));
}

void hm__import_csv(const struct hm_import_table *t, struct hm_text *out)
{
    for (size_t k = 0; k < t->column_count; k++)
        hm__text_addf(out, "%s%.*s", k ? "," : "", (int)column_length(t, k), t->columns[k]);
    hm__text_add(out, "\n");
    for (size_t i = 0; i < t->rows * t->column_count; i++) {
        size_t k = i % t->column_count;
        const struct hm_import_cell *c = &t->cells[i];
        if (t->texts[k] && c->text) {
            hm__text_add(out, "\"");
            for (const char *p = c->text; *p; p++)
                hm__text_add_n(out, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
            hm__text_add(out, "\"");
        } else if (!t->texts[k] && !isnan(c->number)) {
            if (isinf(c->number))
                hm__text_add(out, "inf");
            else
                hm__json_number(out, c->number);
        }
        hm__text_add(out, k + 1 == t->column_count ? "\n" : ",");
    }
}

int hm__import_check(const struct hm_imported *im, const struct hm_import_table *t,
                     const char *what, struct hm_err *err)
{
    if (t->rows == 0) {
        hm__fail(err, HM_E_MISSING, "this file gave no %s: %s", what, im->importer->title);
        hm__err_hint(err, "it becomes %s", im->importer->becomes);
        hm__err_at(err, im->name, 0);
        return HM_E_MISSING;
    }
    if (im->needs_n) {
        hm__fail(err, HM_E_MISSING, "n, the number of workers, is not in the file");
        hm__err_hint(err, "give it with the field `set`, such as n=8");
        hm__err_at(err, im->name, 0);
        return HM_E_MISSING;
    }
    return 0;
}

/*
 * Converts the rows of a table to maps from column names to values. Unknown cells are omitted. If
 * `run` is not NULL, each map has this value as an additional member `run`.
 */
static int make_rows(const struct hm_import_table *t, const char *run, struct hm_arena *arena,
                     struct hm_value *rows, struct hm_err *err)
{
    const char *names[HM_IMPORT_COLUMNS];

    for (size_t k = 0; k < t->column_count; k++)
        if (!(names[k] = hm__arena_strndup(arena, t->columns[k], column_length(t, k))))
            return hm__fail_nomem(err);
    for (size_t i = 0; i < t->rows; i++) {
        struct hm_value *row = &rows[i];
        *row = (struct hm_value){.kind = HM_VALUE_MAP, .line = (int)i + 1};
        row->items = hm__arena_alloc(arena, t->column_count + 1, sizeof(*row->items));
        row->keys = hm__arena_alloc(arena, t->column_count + 1, sizeof(*row->keys));
        if (!row->items || !row->keys)
            return hm__fail_nomem(err);
        for (size_t k = 0; k < t->column_count; k++) {
            const struct hm_import_cell *c = &t->cells[i * t->column_count + k];
            char text[40];
            if (t->texts[k] ? !c->text : isnan(c->number))
                continue;
            snprintf(text, sizeof(text), "%.17g", c->number);
            struct hm_value item = {.kind = HM_VALUE_SCALAR, .quoted = t->texts[k]};
            item.text = t->texts[k] ? c->text : hm__arena_strdup(arena, text);
            if (!item.text)
                return hm__fail_nomem(err);
            row->items[row->count] = item;
            row->keys[row->count++] = names[k];
        }
        if (run) {
            row->items[row->count] =
                (struct hm_value){.kind = HM_VALUE_SCALAR, .quoted = true, .text = run};
            row->keys[row->count++] = "run";
        }
    }
    return 0;
}

/* Creates a list of `count` empty maps, one for each row. */
static int make_list(struct hm_arena *arena, size_t count, struct hm_value *root,
                     struct hm_err *err)
{
    *root = (struct hm_value){.kind = HM_VALUE_LIST, .count = count};
    root->items = hm__arena_alloc(arena, count, sizeof(*root->items));
    root->keys = hm__arena_alloc(arena, count, sizeof(*root->keys));
    return root->items && root->keys ? 0 : hm__fail_nomem(err);
}

/*
 * Creates one list from the rows of runs or traces of all imported files. A file without rows is
 * ignored, unless no file has rows.
 */
static int join_rows(struct hm_imported *const *imports, size_t count, bool traces,
                     struct hm_arena *arena, struct hm_value *root, struct hm_err *err)
{
    const char *what = traces ? "traces" : "runs";
    size_t rows = 0, at = 0;

    if (count == 0)
        return hm__fail(err, HM_E_MISSING, "there is no file that gives %s", what);
    for (size_t i = 0; i < count; i++)
        rows += (traces ? &imports[i]->traces : &imports[i]->runs)->rows;
    if (rows == 0)
        return hm__import_check(imports[0], traces ? &imports[0]->traces : &imports[0]->runs, what,
                                err);
    int rc = make_list(arena, rows, root, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct hm_import_table *t = traces ? &imports[i]->traces : &imports[i]->runs;
        if (t->rows == 0)
            continue;
        rc = hm__import_check(imports[i], t, what, err);
        if (rc == 0)
            rc = make_rows(t, traces && count > 1 ? imports[i]->name : NULL, arena,
                           root->items + at, err);
        at += t->rows;
    }
    return rc;
}

int hm__import_runs(struct hm_imported *const *imports, size_t count, struct hm_runs **ret_runs,
                    struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_value root;
    int rc = arena ? join_rows(imports, count, false, arena, &root, err) : hm__fail_nomem(err);

    if (rc == 0)
        rc = hm__runs_read(&root, count == 1 ? imports[0]->name : "the files", ret_runs, err);
    hm__arena_free(arena);
    return rc;
}

int hm__import_traces(struct hm_imported *const *imports, size_t count,
                      const struct hm_traces_settings *settings, struct hm_traces **ret_traces,
                      struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_value root;
    int rc = arena ? join_rows(imports, count, true, arena, &root, err) : hm__fail_nomem(err);

    if (rc == 0)
        rc = hm__traces_read(&root, count == 1 ? imports[0]->name : "the files", settings,
                             ret_traces, err);
    hm__arena_free(arena);
    return rc;
}
