/*
 * Implements the verbs `runs list`, `runs show`, `runs export` and `runs delete`, which read and
 * delete stored runs.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "json.h"
#include "run_export.h"
#include "stored_render.h"
#include "trace_export.h"
#include "verbs.h"

enum { PAGE_RUNS = 20, EXPORT_PAGE = 5000 };

/*
 * The fields of a request that select runs; the verbs that list, export and delete runs contain
 * this struct.
 */
struct hm_filter_fields {
    struct hm_texts where;
    const char *since, *until, *sort;
};

#define HM_ROWS_FILTER(type, m)                                                                    \
    {.name = "where",                                                                              \
     .kind = HM_REQUEST_PAIRS,                                                                     \
     .offset = offsetof(type, m.where),                                                            \
     .letter = 'w',                                                                                \
     .group = "runs",                                                                              \
     .argument = "COLUMN=VALUE",                                                                   \
     .help = "only runs that meet this condition; also !=, <, <=, >, >=, such as n>=4 or "         \
             "latency<20ms"},                                                                      \
        HM_ROW_TEXT(type, m.since, "since", 0, "runs", "TIME",                                     \
                    "only runs made at or after this time, such as 2026-11-15"),                   \
        HM_ROW_TEXT(type, m.until, "until", 0, "runs", "TIME",                                     \
                    "only runs made at or before this time")
#define HM_ROW_SORT(type, m)                                                                       \
    HM_ROW_TEXT(type, m.sort, "sort", 0, "runs", "COLUMN",                                         \
                "sort by this column; -COLUMN: largest first (default: newest first)")

static struct hm_store_filter filter_of(const struct hm_filter_fields *f)
{
    return (struct hm_store_filter){.where = f->where.items,
                                    .where_count = f->where.count,
                                    .since = f->since,
                                    .until = f->until,
                                    .sort = f->sort};
}

/* ---- list --------------------------------------------------------------------------------------
 */

struct hm_runs_list_request {
    struct hm_filter_fields filter;
    const char *record, *after;
    double limit;
    bool json, csv;
};

#define T struct hm_runs_list_request

static const struct hm_request_field list_fields[] = {
    HM_ROW_RECORD(T, record, 'r'),
    HM_ROWS_FILTER(T, filter),
    HM_ROW_SORT(T, filter),
    {.name = "limit",
     .kind = HM_REQUEST_WHOLE,
     .offset = offsetof(T, limit),
     .least = 1,
     .most = 1e6,
     .fallback = "20",
     .group = "runs",
     .argument = "K",
     .help = "list: runs on a page (default 20)"},
    HM_ROW_TEXT(T, after, "after", 0, "runs", "CURSOR",
                "list: continue where the previous page ended"),
    HM_ROW_JSON(T, json),
    HM_ROW_CSV(T, csv, "as comma-separated values"),
};

#undef T

static void page_json(struct hm_text *out, const struct hm_store_page *page)
{
    struct hm_json json = {.out = out};
    struct hm_text run = {0};

    hm__json_open(&json, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_open(&json, "runs", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t k = 0; k < page->count; k++) {
        hm__render_stored_json(&run, &page->runs[k]);
        hm__json_put_raw(&json, NULL, run.data ? run.data : "null");
        out->failed = out->failed || run.failed;
        hm__text_release(&run);
    }
    hm__json_close(&json);
    hm__json_put_text(&json, "next", page->next);
    hm__json_close(&json);
    hm__text_add(out, "\n");
}

static void page_text(struct hm_call *call, const struct hm_store_page *page)
{
    if (page->count == 0)
        hm__text_add(&call->out, "no runs\n");
    else
        hm__render_stored_table(&call->out, page->runs, page->count, &call->context->style);
    if (page->next)
        hm__text_addf(&call->out, "more runs: give after = %s\n", page->next);
}

static int page_csv(struct hm_call *call, const struct hm_store_page *page, struct hm_err *err)
{
    struct hm_csv_columns *columns = hm__arena_alloc(call->arena, 1, sizeof(*columns));
    int rc = columns ? 0 : hm__fail_nomem(err);

    for (size_t i = 0; rc == 0 && i < page->count; i++)
        rc = hm__csv_columns_add(columns, call->arena, &page->runs[i], err);
    if (rc)
        return rc;
    hm__render_csv_header(&call->out, columns);
    for (size_t i = 0; i < page->count; i++)
        hm__render_csv_row(&call->out, columns, &page->runs[i]);
    return 0;
}

static int list_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_runs_list_request *r = values;
    struct hm_store_filter filter = filter_of(&r->filter);
    size_t most = call->context->limits.page;
    struct hm_store *store = NULL;
    struct hm_store_page *page = NULL;
    enum hm_format format;
    int rc = hm__call_format(r->json, r->csv, &format, err);

    filter.limit = (size_t)r->limit;
    filter.after = r->after;
    if (rc == 0 && most > 0 && filter.limit > most)
        rc = hm__request_fail(err, "limit", HM_E_LIMIT, "'%g' is more than %zu", r->limit, most);
    /* A table of runs in CSV has no place for the cursor with which an incomplete page continues.
     */
    if (format == HM_FORMAT_JSON)
        filter.seconds = call->context->limits.page_seconds * (r->limit > 100 ? r->limit / 100 : 1);
    if (rc == 0)
        rc = hm__call_store_read(call, r->record, &store, err);
    if (rc == 0)
        rc = hm_store_list(store, &filter, &page, err);
    if (rc == 0 && format == HM_FORMAT_JSON)
        page_json(&call->out, page);
    else if (rc == 0 && format == HM_FORMAT_CSV)
        rc = page_csv(call, page, err);
    else if (rc == 0)
        page_text(call, page);
    call->type = format == HM_FORMAT_JSON  ? "application/json"
                 : format == HM_FORMAT_CSV ? "text/csv; charset=utf-8"
                                           : NULL;
    hm_store_page_free(page);
    hm__call_store_close(call, store, rc, err);
    return rc == 0 && call->out.failed ? hm__fail_nomem(err) : rc;
}

const struct hm_verb hm__verb_runs_list = {
    .name = "runs list",
    .summary = "a page of the runs in the store",
    HM_VERB_FIELDS(list_fields),
    .size = sizeof(struct hm_runs_list_request),
    .answer = "runs_page",
    .run = list_run,
};

/* ---- show --------------------------------------------------------------------------------------
 */

struct hm_runs_show_request {
    const char *record;
    struct hm_numbers id;
    bool json;
};

#define T struct hm_runs_show_request
#define HM_ROW_ID(type, HELP)                                                                      \
    {                                                                                              \
        .name = "id", .kind = HM_REQUEST_NUMBERS, .offset = offsetof(type, id), .group = "runs",   \
        .argument = "ID", .help = HELP                                                             \
    }

static const struct hm_request_field show_fields[] = {
    HM_ROW_ID(T, "show: id of the run"),
    HM_ROW_RECORD(T, record, 'r'),
    HM_ROW_JSON(T, json),
};

#undef T

/* Writes the condition of a filter that selects one run, such as "id=7". */
static int id_condition(double id, char text[64], struct hm_err *err)
{
    if (!(id >= 1 && id <= 9e15) || id != floor(id))
        return hm__request_fail(err, "id", HM_E_RANGE, "'%g' is not a whole number from 1", id);
    snprintf(text, 64, "id=%.0f", id);
    return 0;
}

static int show_one(struct hm_call *call, struct hm_store *store, double id, bool json,
                    struct hm_err *err)
{
    char condition[64];
    const char *where[] = {condition};
    const struct hm_store_filter filter = {
        .where = where, .where_count = 1, .limit = 1, .samples = true};
    struct hm_store_page *page = NULL;
    int rc = id_condition(id, condition, err);

    if (rc == 0)
        rc = hm_store_list(store, &filter, &page, err);
    if (rc == 0 && page->count == 0)
        rc = hm__request_fail(err, "id", HM_E_NAME, "there is no run %.0f", id);
    if (rc == 0 && json)
        hm__render_stored_json(&call->out, &page->runs[0]);
    else if (rc == 0)
        hm__render_stored(&call->out, &page->runs[0]);
    hm_store_page_free(page);
    return rc;
}

static int show_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_runs_show_request *r = values;
    struct hm_store *store = NULL;

    if (r->id.count == 0) {
        hm__request_fail(err, "id", HM_E_MISSING, "no id is given");
        hm__err_hint(err, "`howmany runs list` shows ids");
        return HM_E_MISSING;
    }
    int rc = hm__call_store_read(call, r->record, &store, err);
    for (size_t k = 0; rc == 0 && k < r->id.count; k++) {
        rc = show_one(call, store, r->id.values[k], r->json, err);
        hm__text_add(&call->out, r->json || k + 1 < r->id.count ? "\n" : "");
    }
    if (r->json)
        call->type = r->id.count > 1 ? "application/x-ndjson" : "application/json";
    hm__call_store_close(call, store, rc, err);
    return rc == 0 && call->out.failed ? hm__fail_nomem(err) : rc;
}

const struct hm_verb hm__verb_runs_show = {
    .name = "runs show",
    .summary = "one run with its samples",
    HM_VERB_FIELDS(show_fields),
    .size = sizeof(struct hm_runs_show_request),
    .operand = "id",
    .answer = "run",
    .run = show_run,
};

/* ---- export ------------------------------------------------------------------------------------
 */

struct hm_runs_export_request {
    struct hm_filter_fields filter;
    const char *record, *output;
    bool traces, json, csv;
    int format; /* Index of the requested format in the list of formats; -1 if not given. */
};

#define T struct hm_runs_export_request

static const struct hm_request_field export_fields[] = {
    {.name = "output",
     .kind = HM_REQUEST_OUTPUT,
     .offset = offsetof(T, output),
     .letter = 'o',
     .group = "output",
     .argument = "FILE",
     .choices = "@file",
     .help = "export: .csv or .jsonl (default, or -: CSV on standard output)"},
    HM_ROW_RECORD(T, record, 'r'),
    HM_ROWS_FILTER(T, filter),
    HM_ROW_SORT(T, filter),
    HM_ROW_FLAG(T, traces, "traces", 0, "runs",
                "export: the samples, as JSON lines or (with csv) a table that `converge` reads"),
    {.name = "format",
     .kind = HM_REQUEST_CHOICE,
     .offset = offsetof(T, format),
     .group = "output",
     .argument = "NAME",
     .choices = "csv jsonl mllog osu",
     .help = "export: the format; mllog is an MLPerf log of one run, osu is a table of messages"},
    HM_ROW_FLAG(T, json, "json", 'j', "output", "as JSON lines"),
    HM_ROW_CSV(T, csv, "as comma-separated values"),
};

#undef T

/* Formats of exports. The first four are in the order of the choices of the field `format`. */
enum export_form {
    EXPORT_CSV,
    EXPORT_LINES,
    EXPORT_MLLOG,
    EXPORT_OSU,
    EXPORT_TRACE_LINES,
    EXPORT_TRACE_CSV
};

/* An export that is being written. */
struct run_export {
    struct hm_call *call;
    enum export_form form;
    struct hm_csv_columns *columns; /* Columns of a table in CSV. */
    int64_t last;                   /* The largest id of the runs whose columns are known. */
};

static void export_one(struct hm_text *out, enum export_form form, const struct hm_stored *run)
{
    if (form == EXPORT_TRACE_CSV) {
        hm__export_trace_rows(out, run);
    } else if (form == EXPORT_TRACE_LINES) {
        hm__export_trace_lines(out, run);
    } else {
        hm__render_stored_json(out, run);
        hm__text_add(out, "\n");
    }
}

/* Exports runs as one or more lines for each run. Runs are read page by page. */
typedef int export_visit(struct run_export *e, const struct hm_stored *run, struct hm_err *err);

/* Calls a function for each run, page by page, and passes on what it has written. */
static int export_each(struct run_export *e, struct hm_store *store, struct hm_store_filter filter,
                       export_visit *visit, struct hm_err *err)
{
    struct hm_text after = {0};
    bool more = true;
    int rc = 0;

    filter.limit = EXPORT_PAGE;
    while (rc == 0 && more) {
        struct hm_store_page *page = NULL;
        filter.after = after.length ? after.data : NULL;
        rc = hm_store_list(store, &filter, &page, err);
        for (size_t k = 0; rc == 0 && k < page->count; k++)
            rc = visit(e, &page->runs[k], err);
        more = rc == 0 && page->next;
        after.length = 0;
        if (more)
            hm__text_add(&after, page->next);
        hm_store_page_free(page);
        if (rc == 0)
            rc = after.failed ? hm__fail_nomem(err) : hm__call_flush(e->call, err);
    }
    hm__text_release(&after);
    return rc;
}

static int write_one(struct run_export *e, const struct hm_stored *run, struct hm_err *err)
{
    (void)err;
    export_one(&e->call->out, e->form, run);
    return 0;
}

static int export_pages(struct run_export *e, struct hm_store *store, struct hm_store_filter filter,
                        struct hm_err *err)
{
    filter.samples = e->form == EXPORT_TRACE_CSV || e->form == EXPORT_TRACE_LINES;
    if (e->form == EXPORT_TRACE_CSV)
        hm__text_add(&e->call->out, hm__export_trace_header);
    return export_each(e, store, filter, write_one, err);
}

static int see_columns(struct run_export *e, const struct hm_stored *run, struct hm_err *err)
{
    e->last = run->id > e->last ? run->id : e->last;
    return hm__csv_columns_add(e->columns, e->call->arena, run, err);
}

static int write_row(struct run_export *e, const struct hm_stored *run, struct hm_err *err)
{
    (void)err;
    hm__render_csv_row(&e->call->out, e->columns, run);
    return 0;
}

/*
 * Exports runs as CSV. The runs are read twice, because the header depends on all runs. The second
 * time, runs that were added in between are left out, because the header may lack their columns.
 */
static int export_csv(struct run_export *e, struct hm_store *store, struct hm_store_filter filter,
                      struct hm_err *err)
{
    const char **where =
        hm__arena_alloc(e->call->arena, filter.where_count + 1, sizeof(const char *));
    char known[40];

    e->columns = hm__arena_alloc(e->call->arena, 1, sizeof(*e->columns));
    if (!where || !e->columns)
        return hm__fail_nomem(err);
    int rc = export_each(e, store, filter, see_columns, err);
    if (rc)
        return rc;
    snprintf(known, sizeof(known), "id<=%lld", (long long)e->last);
    for (size_t i = 0; i < filter.where_count; i++)
        where[i] = filter.where[i];
    where[filter.where_count++] = known;
    filter.where = where;
    hm__render_csv_header(&e->call->out, e->columns);
    return export_each(e, store, filter, write_row, err);
}

/*
 * Exports one run as an MLPerf log, or runs that measured messages as tables of the OSU benchmarks.
 */
static int export_foreign(struct hm_call *call, struct hm_store *store,
                          struct hm_store_filter filter, enum export_form form, struct hm_err *err)
{
    struct hm_store_page *page = NULL;
    const struct hm_stored *before = NULL;
    size_t written = 0;

    filter.samples = form == EXPORT_MLLOG;
    int rc = hm_store_list(store, &filter, &page, err);
    if (rc == 0 && form == EXPORT_MLLOG && page->count != 1) {
        hm__request_fail(err, "where", HM_E_CONFLICT, "a log of MLPerf has one run, not %zu",
                         page->count);
        hm__err_hint(err, "select one, such as id=3");
        rc = HM_E_CONFLICT;
    }
    for (size_t i = 0; rc == 0 && i < page->count; i++) {
        if (form == EXPORT_MLLOG) {
            hm__export_mllog(&call->out, &page->runs[i]);
        } else if (hm__export_osu(&call->out, &page->runs[i], before)) {
            before = &page->runs[i];
            written++;
        }
    }
    if (rc == 0 && form == EXPORT_OSU && written == 0)
        rc = hm__request_fail(err, "format", HM_E_MISSING,
                              "no run has the columns collective and bytes");
    hm_store_page_free(page);
    return rc ? rc : hm__call_flush(call, err);
}

static int choose_form(const struct hm_runs_export_request *r, enum export_form *ret_form,
                       struct hm_err *err)
{
    const char *file = r->output && strcmp(r->output, "-") != 0 ? r->output : NULL;
    bool lines = file && hm__text_ends(file, ".jsonl");
    bool csv = r->csv || (file && hm__text_ends(file, ".csv"));

    if (r->format >= 0 && (r->json || r->csv || r->traces))
        return hm__request_fail(err, "format", HM_E_CONFLICT,
                                "format excludes json, csv and traces");
    if (r->format >= 0) {
        *ret_form = (enum export_form)r->format;
        return 0;
    }
    if (r->json && r->csv)
        return hm__request_fail(err, "json", HM_E_CONFLICT, "json and csv exclude each other");
    if (file && !lines && !r->json && !csv && !r->traces)
        return hm__request_fail(err, "output", HM_E_NAME, "'%.80s' must end in .csv or .jsonl",
                                file);
    if (r->traces)
        *ret_form = csv ? EXPORT_TRACE_CSV : EXPORT_TRACE_LINES;
    else
        *ret_form = r->json || lines ? EXPORT_LINES : EXPORT_CSV;
    return 0;
}

static int export_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_runs_export_request *r = values;
    struct hm_store_filter filter = filter_of(&r->filter);
    struct hm_store *store = NULL;
    enum export_form form = EXPORT_CSV;
    int rc = choose_form(r, &form, err);
    struct run_export e = {.call = call, .form = form};

    /* Runs are sorted by id, which is the order in which they were added. */
    if (!filter.sort)
        filter.sort = "id";
    if (rc == 0)
        rc = hm__call_store_read(call, r->record, &store, err);
    if (rc == 0)
        rc = form == EXPORT_CSV ? export_csv(&e, store, filter, err)
             : form == EXPORT_MLLOG || form == EXPORT_OSU
                 ? export_foreign(call, store, filter, form, err)
                 : export_pages(&e, store, filter, err);
    call->type = form == EXPORT_CSV || form == EXPORT_TRACE_CSV ? "text/csv; charset=utf-8"
                 : form == EXPORT_MLLOG || form == EXPORT_OSU   ? "text/plain; charset=utf-8"
                                                                : "application/x-ndjson";
    hm__call_store_close(call, store, rc, err);
    return rc;
}

const struct hm_verb hm__verb_runs_export = {
    .name = "runs export",
    .summary = "runs or traces of the store as a table",
    HM_VERB_FIELDS(export_fields),
    .size = sizeof(struct hm_runs_export_request),
    .operand = "output",
    .run = export_run,
};

/* ---- delete ------------------------------------------------------------------------------------
 */

struct hm_runs_delete_request {
    struct hm_filter_fields filter;
    const char *record;
    struct hm_numbers id;
    bool yes;
};

#define T struct hm_runs_delete_request

static const struct hm_request_field delete_fields[] = {
    HM_ROW_ID(T, "delete: ids of runs"),
    HM_ROW_RECORD(T, record, 'r'),
    HM_ROWS_FILTER(T, filter),
    HM_ROW_FLAG(T, yes, "yes", 'y', "runs", "delete: without an id, delete all runs that match"),
};

#undef T

static int delete_matching(struct hm_call *call, struct hm_store *store,
                           const struct hm_store_filter *filter, struct hm_err *err)
{
    int64_t count = 0;
    int rc = hm_store_delete(store, filter, &count, err);

    if (rc == 0)
        hm__text_addf(&call->out, "%lld deleted\n", (long long)count);
    call->no_answer = call->no_answer || count == 0;
    return rc;
}

static int delete_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_runs_delete_request *r = values;
    struct hm_store_filter filter = filter_of(&r->filter);
    struct hm_store *store = NULL;

    if (r->id.count == 0 && !r->yes) {
        hm__request_fail(err, "id", HM_E_MISSING, "no id is given");
        hm__err_hint(err, "give ids, or conditions together with yes");
        return HM_E_MISSING;
    }
    if (r->id.count > 0 && (filter.where_count > 0 || filter.since || filter.until)) {
        hm__request_fail(err, "id", HM_E_CONFLICT, "ids and conditions exclude each other");
        hm__err_hint(err, "give ids, or conditions together with yes");
        return HM_E_CONFLICT;
    }
    int rc = hm__call_store_read(call, r->record, &store, err);
    if (rc == 0 && r->id.count == 0)
        rc = delete_matching(call, store, &filter, err);
    for (size_t k = 0; rc == 0 && !call->no_answer && k < r->id.count; k++) {
        char condition[64];
        const char *where[] = {condition};
        const struct hm_store_filter one = {.where = where, .where_count = 1};
        rc = id_condition(r->id.values[k], condition, err);
        if (rc == 0)
            rc = delete_matching(call, store, &one, err);
    }
    hm__call_store_close(call, store, rc, err);
    return rc == 0 && call->out.failed ? hm__fail_nomem(err) : rc;
}

const struct hm_verb hm__verb_runs_delete = {
    .name = "runs delete",
    .summary = "remove runs from the store",
    HM_VERB_FIELDS(delete_fields),
    .size = sizeof(struct hm_runs_delete_request),
    .operand = "id",
    .writes = true,
    .run = delete_run,
};
