/*
 * Reads traces of training runs from CSV (csv.h) or JSON lines; docs/reference/converge.md
 * describes the columns.
 *
 * In CSV, each row contains the labels of its trace. In JSON lines, a header line (with "run")
 * gives the labels of the points that follow, up to a summary or another header line; a label in a
 * point overrides the label in the header line. Other lines and unknown keys are ignored.
 */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "checks.h"
#include "csv.h"
#include "err.h"
#include "row_values.h"
#include "run_text.h"
#include "trace_cells.h"
#include "trace_table.h"

enum {
    NAMES = 64,  /* Number of positions in a line for which the meaning of the key is cached. */
    LISTED = 12, /* Largest number of candidate loss columns that a hint lists. */
};

struct trace_reader {
    struct hm_trace_table *t;
    struct hm_trace_units units;
    struct hm_trace_name names[NAMES]; /* Cached meanings of keys, by position in the line. */
    struct hm_trace_cells head;        /* Cells of the last header line. */
    struct hm_arena
        *head_arena;     /* Owns the strings of the header line; NULL if there is no header line. */
    bool again;          /* True if a line before the next point says that the run restarted. */
    size_t rows, listed; /* Number of points in the file, and number of loss measures listed in
                            file->have. */
};

static int fail_missing(struct trace_reader *r, enum hm_trace_role role, int line,
                        const char *message)
{
    hm__fail(r->t->err, HM_E_MISSING, "%s", message);
    hm__err_field(r->t->err, hm__trace_role_name(role));
    hm__err_at(r->t->err, r->t->file->source, line);
    return HM_E_MISSING;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/*
 * Returns a number from a row, or from the header line if the row does not contain it; head may be
 * NULL.
 */
static double known_number(const struct hm_trace_cells *cells, const struct hm_trace_cells *head,
                           enum hm_trace_role role)
{
    return head && isnan(cells->numbers[role]) ? head->numbers[role] : cells->numbers[role];
}

/* Returns the key that identifies the trace of a row. Values that are missing in the row come from
 * the header line; head may be NULL. */
static struct hm_trace_key trace_key(const struct hm_trace_cells *cells,
                                     const struct hm_trace_cells *head)
{
    struct hm_trace_key key;

    for (size_t i = 0; i < HM_TRACE_LABELS; i++) {
        const char *label = cells->labels[i] ? cells->labels[i] : head ? head->labels[i] : NULL;
        key.labels[i] = label ? label : "";
    }
    key.m = known_number(cells, head, HM_ROLE_M);
    key.seed = known_number(cells, head, HM_ROLE_SEED);
    key.staleness = known_number(cells, head, HM_ROLE_STALENESS);
    key.backups = known_number(cells, head, HM_ROLE_BACKUPS);
    key.backups = key.backups > 0 ? key.backups : 0;
    key.rows = known_number(cells, head, HM_ROLE_ROWS);
    if (isnan(key.staleness))
        key.staleness = strcasecmp(key.labels[HM_LABEL_CONSISTENCY], "async") == 0 ? INFINITY : 0;
    /* Replace -0 with 0, because their hashes differ. */
    key.staleness = key.staleness > 0 ? key.staleness : 0;
    return key;
}

/* Returns the value of the loss measure that the settings ask for ("accuracy" is converted to 1 -
 * accuracy), or the loss if they do not ask for one. */
static double row_measure(const struct hm_trace_table *t, const struct hm_trace_cells *cells)
{
    const char *measure = t->settings.measure;

    if (!measure)
        return cells->numbers[HM_ROLE_LOSS];
    return strcasecmp(measure, "accuracy") == 0 && isfinite(cells->measure) ? 1 - cells->measure
                                                                            : cells->measure;
}

static void note_columns(struct hm_trace_table *t, const struct hm_trace_cells *cells)
{
    struct hm_trace_file *file = t->file;

    file->has_objective = file->has_objective || cells->has[HM_ROLE_OBJECTIVE];
    file->has_other =
        file->has_other || (t->settings.measure ? cells->has_measure : cells->has[HM_ROLE_LOSS]);
    file->has_times = file->has_times || cells->has[HM_ROLE_SECONDS] || cells->has[HM_ROLE_ELAPSED];
}

static int add_row(struct trace_reader *r, const struct hm_trace_cells *cells,
                   const struct hm_trace_cells *head, int line)
{
    struct hm_trace_table *t = r->t;
    struct hm_trace_key key = trace_key(cells, head);
    const double *numbers = cells->numbers;
    double at = numbers[t->settings.epochs ? HM_ROLE_EPOCH : HM_ROLE_ITERATION];
    double iteration = numbers[HM_ROLE_ITERATION];

    if (isnan(key.m))
        return fail_missing(r, HM_ROLE_M, line,
                            t->file->json
                                ? "the line has no m, and neither has a head line above it"
                                : "the row has no m");
    if (isnan(at))
        return t->settings.epochs
                   ? fail_missing(r, HM_ROLE_EPOCH, line, "the row has no epoch")
                   : fail_missing(r, HM_ROLE_ITERATION, line, "the row has no iteration");
    const struct hm_trace_row row = {
        .at = at,
        .iteration = isnan(iteration) ? at : iteration,
        .seconds = numbers[HM_ROLE_SECONDS],
        .elapsed_s = numbers[HM_ROLE_ELAPSED],
        .objective = numbers[HM_ROLE_OBJECTIVE],
        .other = row_measure(t, cells),
        .line = line,
    };
    struct hm_trace_bests bests = {numbers[HM_ROLE_BEST], numbers[HM_ROLE_SUBOPTIMALITY],
                                   numbers[HM_ROLE_GAP]};
    if (isnan(bests.best) && head)
        bests.best = head->numbers[HM_ROLE_BEST];
    if (r->rows++ == 0)
        t->file->line = t->file->json ? line : t->file->line;
    note_columns(t, cells);
    int rc = hm__trace_table_add(t, &key, r->again, &row, &bests);
    r->again = false;
    return rc;
}

/* Adds a column that could be a loss measure to the list that hints show. */
static int list_measure(struct trace_reader *r, const struct hm_trace_name *name, const char *text)
{
    struct hm_text *have = &r->t->file->have;
    enum hm_trace_role role = name->role;
    bool fits = role == HM_ROLE_NONE || role == HM_ROLE_OBJECTIVE || role == HM_ROLE_LOSS ||
                role == HM_ROLE_SUBOPTIMALITY || role == HM_ROLE_GAP;
    struct hm_dim dim;
    double value;
    bool unit;

    if (!fits || name->time || r->listed > LISTED ||
        (*text && !hm__run_word(text) && !hm__run_number(text, &value, &unit, &dim)))
        return 0;
    if (r->listed++ == LISTED)
        hm__text_add(have, ", …");
    else
        hm__text_addf(have, "%s%.40s", have->length ? ", " : "", name->written);
    return have->failed ? hm__fail_nomem(r->t->err) : 0;
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static int check_columns(struct trace_reader *r, const char *header, const bool *has, int line)
{
    bool epochs = r->t->settings.epochs;
    enum hm_trace_role lacks = epochs ? HM_ROLE_EPOCH : HM_ROLE_ITERATION;

    if (has[HM_ROLE_M] && has[lacks])
        return 0;
    lacks = has[HM_ROLE_M] ? lacks : HM_ROLE_M;
    hm__fail(r->t->err, HM_E_MISSING, "no column '%s'", hm__trace_role_name(lacks));
    if (strpbrk(header, ";\t"))
        hm__err_hint(r->t->err, "columns are separated by commas, but this header has %s",
                     strchr(header, ';') ? "semicolons" : "tabs");
    else if (lacks == HM_ROLE_M)
        hm__err_hint(r->t->err, "m: the number of workers of a run; n and workers mean the same");
    else
        hm__err_hint(r->t->err, "%s: the number that is done at this row%s",
                     hm__trace_role_name(lacks),
                     !epochs && has[HM_ROLE_EPOCH] ? "; set `epochs` to count epochs instead" : "");
    hm__err_at(r->t->err, r->t->file->source, line);
    return HM_E_MISSING;
}

/* Resolves the names of the columns in the header. */
static int read_header(struct trace_reader *r, const struct hm_csv *csv,
                       struct hm_trace_name *names, struct hm_trace_cells *cells)
{
    struct hm_trace_table *t = r->t;
    int line = hm__csv_line(csv), rc = 0;

    t->file->line = line;
    for (size_t i = 0; rc == 0 && hm__csv_name(csv, i); i++) {
        struct hm_trace_name *name = &names[i];
        *name = hm__trace_name_resolve(hm__csv_name(csv, i), t->settings.measure);
        if (name->role > HM_ROLE_BEST)
            name->role = HM_ROLE_NONE;
        rc = hm__trace_name_check(name, t->file->source, line, t->err);
        if (rc == 0 && name->role != HM_ROLE_NONE && cells->has[name->role]) {
            rc = hm__fail(t->err, HM_E_CONFLICT, "column '%.60s' appears twice", name->written);
            hm__err_hint(t->err, "it means %s, which another column has already",
                         hm__trace_role_name(name->role));
            hm__err_field(t->err, hm__trace_role_name(name->role));
            hm__err_at(t->err, t->file->source, line);
        }
        cells->has[name->role] = true;
        cells->has_measure = cells->has_measure || name->measure;
        t->file->bare_time = t->file->bare_time || name->time;
    }
    /* Training runs record both columns, objective and simulated. In their tables, an empty
     * objective means that the objective was not a number. */
    t->file->empty_ends = cells->has[HM_ROLE_OBJECTIVE] && cells->has[HM_LABEL_SIMULATED];
    return rc ? rc : check_columns(r, hm__csv_name(csv, 0), cells->has, line);
}

static int read_rows(struct trace_reader *r, struct hm_csv *csv, const struct hm_trace_name *names,
                     struct hm_trace_cells *cells)
{
    char **fields;
    int rc = 0, got = 0;

    while (rc == 0 && (got = hm__csv_next(csv, &fields, r->t->err)) == 1) {
        int line = hm__csv_line(csv);
        for (size_t i = 0; rc == 0 && hm__csv_name(csv, i); i++) {
            if (r->rows == 0)
                rc = list_measure(r, &names[i], fields[i]);
            if (rc == 0 && (names[i].role != HM_ROLE_NONE || names[i].measure))
                rc = hm__trace_cells_put(r->t, &r->units, cells, &names[i], fields[i], line);
        }
        if (rc == 0)
            rc = add_row(r, cells, NULL, line);
    }
    return rc ? rc : got;
}

static int read_csv(struct trace_reader *r, const char *text, size_t length)
{
    struct hm_trace_table *t = r->t;
    struct hm_trace_cells cells;
    struct hm_trace_name *names = NULL;
    struct hm_csv *csv = NULL;
    size_t columns = 0;
    int skipped;
    size_t start = hm__run_skip_comments(text, length, &skipped);
    int rc = hm__csv_parse(text + start, length - start, t->file->source, skipped, &csv, t->err);

    if (rc)
        return rc;
    hm__trace_cells_clear(&cells);
    while (hm__csv_name(csv, columns))
        columns++;
    names = hm__calloc(columns, sizeof(*names));
    rc = names ? hm__run_check_header(csv, "algorithm,m,iteration,elapsed_s,loss", t->err)
               : hm__fail_nomem(t->err);
    if (rc == 0)
        rc = read_header(r, csv, names, &cells);
    if (rc == 0)
        rc = read_rows(r, csv, names, &cells);
    hm__free(names);
    hm__csv_close(csv);
    return rc;
}

/* ---- JSON lines ----------------------------------------------------------------------------- */

/* Resolves a key in a line. The result is cached by position, because most lines have the same
 * keys. */
static const struct hm_trace_name *resolve_key(struct trace_reader *r, const char *key,
                                               size_t place)
{
    struct hm_trace_name *name = &r->names[place % NAMES];

    if (strcmp(name->written, key) != 0 || !*key)
        *name = hm__trace_name_resolve(key, r->t->settings.measure);
    return name;
}

enum line_kind { LINE_OTHER, LINE_HEAD, LINE_POINT, LINE_RESTART, LINE_SUMMARY };

static enum line_kind classify_line(struct trace_reader *r, const struct hm_value *object)
{
    bool has[HM_TRACE_ROLES] = {false};

    for (size_t i = 0; i < object->count; i++)
        has[resolve_key(r, object->keys[i], i)->role] = true;
    return has[HM_ROLE_SUMMARY]                          ? LINE_SUMMARY
           : has[HM_ROLE_ITERATION]                      ? LINE_POINT
           : has[HM_ROLE_EPOCH] && r->t->settings.epochs ? LINE_POINT
           : has[HM_ROLE_RESTART]                        ? LINE_RESTART
           : has[HM_LABEL_RUN]                           ? LINE_HEAD
                                                         : LINE_OTHER;
}

static int read_item(struct trace_reader *r, struct hm_arena *arena, struct hm_trace_cells *cells,
                     const struct hm_trace_name *name, const struct hm_value *item, int line)
{
    struct hm_trace_table *t = r->t;
    int rc = hm__trace_name_check(name, t->file->source, line, t->err);

    if (rc)
        return rc;
    if (name->role != HM_ROLE_NONE && cells->has[name->role]) {
        hm__fail(t->err, HM_E_CONFLICT, "%s appears twice", hm__trace_role_name(name->role));
        hm__err_hint(t->err, "'%.60s' means the same", name->written);
        hm__err_field(t->err, hm__trace_role_name(name->role));
        hm__err_at(t->err, t->file->source, line);
        return HM_E_CONFLICT;
    }
    cells->has[name->role] = true;
    cells->has_measure = cells->has_measure || name->measure;
    if (item->kind == HM_VALUE_NULL)
        return 0;
    if (item->kind != HM_VALUE_SCALAR) {
        hm__fail(t->err, HM_E_TYPE, "%s where a number or a text is expected",
                 hm__value_kind_name(item));
        hm__err_field(t->err, name->written);
        hm__err_at(t->err, t->file->source, line);
        return HM_E_TYPE;
    }
    char *text = hm__arena_strdup(arena, item->text);
    return text ? hm__trace_cells_put(t, &r->units, cells, name, text, line)
                : hm__fail_nomem(t->err);
}

/* Reads the cells of a header line, a point or a summary. */
static int read_items(struct trace_reader *r, struct hm_arena *arena, struct hm_trace_cells *cells,
                      enum line_kind what, const struct hm_value *object, int line)
{
    int rc = 0;

    hm__trace_cells_clear(cells);
    for (size_t i = 0; rc == 0 && i < object->count; i++) {
        const struct hm_trace_name *name = resolve_key(r, object->keys[i], i);
        const struct hm_value *item = &object->items[i];
        enum hm_trace_role role = name->role;
        bool of_head = role <= HM_ROLE_SEED || role == HM_ROLE_BEST || role == HM_ROLE_RESUMED_AT;
        bool of_point = role < HM_ROLE_SUMMARY || name->measure;
        if (what == LINE_POINT && r->rows == 0) {
            r->t->file->bare_time = r->t->file->bare_time || name->time;
            rc = list_measure(r, name, item->kind == HM_VALUE_SCALAR ? item->text : "");
        }
        if (rc == 0 && (what == LINE_HEAD    ? of_head
                        : what == LINE_POINT ? of_point
                                             : role == HM_ROLE_STOPPED_BY))
            rc = read_item(r, arena, cells, name, item, line);
    }
    return rc;
}

static int read_head(struct trace_reader *r, const struct hm_value *object, int line)
{
    hm__arena_free(r->head_arena);
    r->head_arena = hm__arena_new();
    if (!r->head_arena)
        return hm__fail_nomem(r->t->err);
    int rc = read_items(r, r->head_arena, &r->head, LINE_HEAD, object, line);
    if (rc)
        return rc;
    const struct hm_trace_key key = trace_key(&r->head, NULL);
    double resumed = r->head.numbers[HM_ROLE_RESUMED_AT];
    return hm__trace_table_head(r->t, &key, r->again, isfinite(resumed) ? resumed : 0);
}

static int read_summary(struct trace_reader *r, struct hm_arena *arena,
                        const struct hm_value *object, int line)
{
    struct hm_trace_cells cells;
    int rc = read_items(r, arena, &cells, LINE_SUMMARY, object, line);

    if (rc == 0 && r->head_arena) {
        const struct hm_trace_key key = trace_key(&r->head, NULL);
        bool diverged = cells.stopped_by && strcmp(cells.stopped_by, "diverged") == 0;
        rc = hm__trace_table_end(r->t, &key, diverged);
    }
    hm__arena_free(r->head_arena);
    r->head_arena = NULL;
    r->again = false;
    return rc;
}

static int read_object(void *reader, struct hm_arena *arena, const struct hm_value *object,
                       int line)
{
    struct trace_reader *r = reader;
    struct hm_trace_cells cells;
    enum line_kind what = classify_line(r, object);

    if (what == LINE_HEAD)
        return read_head(r, object, line);
    if (what == LINE_SUMMARY)
        return read_summary(r, arena, object, line);
    if (what == LINE_RESTART)
        r->again = true;
    if (what != LINE_POINT)
        return 0;
    int rc = read_items(r, arena, &cells, LINE_POINT, object, line);
    return rc ? rc : add_row(r, &cells, r->head_arena ? &r->head : NULL, line);
}

/* ---- files ---------------------------------------------------------------------------------- */

static int fail_empty(struct hm_trace_table *t)
{
    hm__fail(t->err, HM_E_MISSING, "no rows");
    hm__err_hint(t->err, "write one line for each iteration, below a header such as "
                         "algorithm,m,iteration,elapsed_s,loss");
    hm__err_at(t->err, t->file->source, 0);
    return HM_E_MISSING;
}

static int read_text(struct hm_trace_table *t, const char *text, size_t length, const char *source)
{
    struct trace_reader r = {.t = t};
    size_t at = hm__text_mark(text, length);

    while (at < length && text[at] && strchr(" \t\r\n", text[at]))
        at++;
    char first = at < length ? text[at] : '\n';
    int rc = hm__trace_table_file(t, source, first == '{');
    if (rc == 0 && first == '[') {
        rc = hm__fail(t->err, HM_E_SYNTAX, "a JSON list; one JSON object in each line is expected");
        hm__err_hint(t->err, "jq -c '.[]' turns a list into lines");
        hm__err_at(t->err, t->file->source, 1);
    } else if (rc == 0 && first == '{')
        rc = hm__run_json_lines(text, length, t->file->source, read_object, &r, t->err);
    else if (rc == 0 && first != '\n')
        rc = read_csv(&r, text, length);
    if (rc == 0 && r.rows == 0)
        rc = fail_empty(t);
    hm__arena_free(r.head_arena);
    return rc;
}

static int read_rows_of_tree(struct hm_trace_table *t, const struct hm_value *rows,
                             const char *source)
{
    struct trace_reader r = {.t = t};
    int rc = hm__trace_table_file(t, source, true);

    if (rc == 0)
        rc = hm__run_objects(rows, read_object, &r, t->err);
    if (rc == 0 && r.rows == 0)
        rc = fail_empty(t);
    hm__arena_free(r.head_arena);
    return rc;
}

static int begin_table(struct hm_trace_table *t, const struct hm_traces_settings *settings,
                       struct hm_err *err)
{
    static const char *const known[] = {"objective", "loss", "accuracy"};

    *t = (struct hm_trace_table){.arena = hm__arena_new(), .err = err};
    if (settings)
        t->settings = *settings;
    for (size_t i = 0; t->settings.measure && i < sizeof(known) / sizeof(known[0]); i++)
        if (strcasecmp(t->settings.measure, known[i]) == 0)
            t->settings.measure = known[i];
    return t->arena ? 0 : hm__fail_nomem(err);
}

static int end_table(struct hm_trace_table *t, int rc, struct hm_traces **ret_traces)
{
    if (rc == 0)
        rc = hm__trace_table_finish(t, ret_traces);
    hm__trace_table_release(t);
    if (rc)
        hm__arena_free(t->arena);
    return rc;
}

int hm_traces_parse(const char *text, size_t length, const char *source,
                    const struct hm_traces_settings *settings, struct hm_traces **ret_traces,
                    struct hm_err *err)
{
    int bad = hm__check_pointers(err, "ret_traces", ret_traces, NULL);
    if (bad == 0)
        bad = hm__check_array(text, length, "text", err);
    if (bad)
        return bad;
    struct hm_trace_table t;
    int rc = begin_table(&t, settings, err);

    if (rc == 0)
        rc = read_text(&t, text, length, source ? source : "traces");
    return end_table(&t, rc, ret_traces);
}

int hm__traces_read(const struct hm_value *rows, const char *source,
                    const struct hm_traces_settings *settings, struct hm_traces **ret_traces,
                    struct hm_err *err)
{
    struct hm_trace_table t;
    int rc = begin_table(&t, settings, err);

    if (rc == 0)
        rc = read_rows_of_tree(&t, rows, source ? source : "traces");
    return end_table(&t, rc, ret_traces);
}

int hm_traces_load(const char *const *paths, size_t count,
                   const struct hm_traces_settings *settings, struct hm_traces **ret_traces,
                   struct hm_err *err)
{
    int bad = hm__check_pointers(err, "ret_traces", ret_traces, NULL);
    if (bad == 0)
        bad = hm__check_array(paths, count, "paths", err);
    if (bad)
        return bad;
    struct hm_trace_table t;
    int rc = begin_table(&t, settings, err);

    if (rc == 0 && count == 0)
        rc = hm__fail(err, HM_E_MISSING, "no file of traces is given");
    for (size_t i = 0; rc == 0 && i < count; i++) {
        char *text;
        size_t length;
        rc = hm__table_load(paths[i], &text, &length, err);
        if (rc)
            break;
        rc = read_text(&t, text, length, paths[i]);
        if (rc == 0)
            t.file->cut = hm__run_text_is_cut(text, length);
        hm__free(text);
    }
    return end_table(&t, rc, ret_traces);
}
