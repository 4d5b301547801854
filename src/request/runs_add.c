/*
 * Implements the verbs `runs add` and `runs import`, and the verbs that store, list and delete
 * named documents.
 */
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "files.h"
#include "json.h"
#include "notes.h"
#include "row_values.h"
#include "run_text.h"
#include "table_add.h"
#include "verbs.h"

/* ---- the writer --------------------------------------------------------------------------------
 */

static int call_sink_add(void *data, struct hm_store_batch *batch, struct hm_err *err)
{
    const struct hm_call_sink *sink = data;

    return hm__call_store_add(sink->access, sink->record, batch, err);
}

int hm__call_sink_open(struct hm_call *call, struct hm_call_sink *sink, const char *record,
                       struct hm_err *err)
{
    *sink = (struct hm_call_sink){call->context->store, record, {sink, call_sink_add, NULL}};
    call->from_store = true;
    if (!sink->access) {
        hm__request_fail(err, "store", HM_E_UNSUPPORTED, "there is no store of runs here");
        hm__err_hint(err, "let the server keep a store of runs");
        return HM_E_UNSUPPORTED;
    }
    return call->context->files ? hm__call_store_open(call, record, &sink->sink.store, err) : 0;
}

void hm__call_sink_close(struct hm_call *call, struct hm_call_sink *sink, int rc,
                         struct hm_err *err)
{
    if (sink->sink.store)
        hm__call_store_close(call, sink->sink.store, rc, err);
}

/* Writes an answer such as {"runs": 3, "traces": 0, "added": 2, "ids": [7, 8, 5]}. */
static void added_json(struct hm_call *call, const struct hm_added *added, size_t runs,
                       size_t traces, const char *const *notes, size_t note_count)
{
    struct hm_json json = {.out = &call->out};

    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    hm__json_put_number(&json, "runs", (double)runs);
    hm__json_put_number(&json, "traces", (double)traces);
    hm__json_put_number(&json, "added", (double)added->count);
    hm__json_put_numbers(&json, "ids", added->ids, added->id_count);
    if (note_count > 0)
        hm__json_put_texts(&json, "notes", notes, note_count);
    hm__json_close(&json);
    hm__text_add(&call->out, "\n");
    call->type = "application/json";
}

#define HM_ROW_KEY(type)                                                                           \
    HM_ROW_TEXT(type, key, "key", 0, "runs", "TEXT",                                               \
                "add, import: key of the run; a run whose key exists is not added again")

/* ---- add ---------------------------------------------------------------------------------------
 */

struct hm_runs_add_request {
    struct hm_texts value;
    const char *record, *key;
    bool json;
};

#define T struct hm_runs_add_request

static const struct hm_request_field add_fields[] = {
    {.name = "value",
     .kind = HM_REQUEST_PAIRS,
     .offset = offsetof(T, value),
     .group = "runs",
     .argument = "NAME=VALUE",
     .help = "add: a value of the run, such as n=4 or seconds=1.5"},
    HM_ROW_RECORD(T, record, 'r'),
    HM_ROW_KEY(T),
    HM_ROW_JSON(T, json),
};

#undef T

/*
 * Creates a table with one row from the fields of the request, so that names and units have the
 * same meaning as in tables of runs.
 */
static int make_row(struct hm_call *call, const struct hm_runs_add_request *r,
                    struct hm_value *ret_row, struct hm_err *err)
{
    size_t count = r->value.count + (r->key ? 1 : 0);
    struct hm_value *items = hm__arena_alloc(call->arena, count, sizeof(*items));
    const char **keys = hm__arena_alloc(call->arena, count, sizeof(*keys));

    if (!items || !keys)
        return hm__fail_nomem(err);
    for (size_t k = 0; k < r->value.count; k++) {
        const char *text = r->value.items[k], *equal = strchr(text, '=');
        if (!equal || equal == text)
            return hm__request_fail(err, "value", HM_E_SYNTAX, "'%.60s' is not NAME=VALUE", text);
        keys[k] = hm__arena_strndup(call->arena, text, (size_t)(equal - text));
        if (!keys[k])
            return hm__fail_nomem(err);
        items[k] =
            (struct hm_value){.kind = HM_VALUE_SCALAR, .source = "runs add", .text = equal + 1};
    }
    if (r->key) {
        keys[count - 1] = "key";
        items[count - 1] = (struct hm_value){
            .kind = HM_VALUE_SCALAR, .source = "runs add", .text = r->key, .quoted = true};
    }
    *ret_row = (struct hm_value){
        .kind = HM_VALUE_MAP, .source = "runs add", .items = items, .keys = keys, .count = count};
    return 0;
}

static int add_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_runs_add_request *r = values;
    struct hm_added added = {0};
    struct hm_runs *runs = NULL;
    struct hm_value row;
    struct hm_call_sink writer = {0};

    if (r->value.count == 0) {
        hm__request_fail(err, "value", HM_E_MISSING, "no value is given");
        hm__err_hint(err, "give NAME=VALUE, such as n=4 batch=64 seconds=1.5");
        return HM_E_MISSING;
    }
    int rc = hm__call_sink_open(call, &writer, r->record, err);
    if (rc == 0)
        rc = make_row(call, r, &row, err);
    if (rc == 0)
        rc = hm__runs_read(&row, "runs add", &runs, err);
    if (rc == 0)
        rc = hm__table_add_runs(&writer.sink, runs, NULL, &added, err);
    hm__call_sink_close(call, &writer, rc, err);
    if (rc == 0 && r->json)
        added_json(call, &added, 1, 0, NULL, 0);
    else if (rc == 0)
        hm__text_add(&call->out, added.count ? "added\n" : "the store has this run already\n");
    hm__added_release(&added);
    hm_runs_free(runs);
    return rc == 0 && call->out.failed ? hm__fail_nomem(err) : rc;
}

const struct hm_verb hm__verb_runs_add = {
    .name = "runs add",
    .summary = "add one run to the store",
    HM_VERB_FIELDS(add_fields),
    .size = sizeof(struct hm_runs_add_request),
    .operand = "value",
    .writes = true,
    .answer = "added",
    .run = add_run,
};

/* ---- import ------------------------------------------------------------------------------------
 */

struct hm_runs_import_request {
    struct hm_documents runs;
    const char *record, *key;
    bool json;
};

#define T struct hm_runs_import_request

static const struct hm_request_field import_fields[] = {
    {.name = "runs",
     .kind = HM_REQUEST_DOCUMENTS,
     .offset = offsetof(T, runs),
     .flags = HM_REQUEST_ROWS,
     .group = "runs",
     .argument = "FILE",
     .choices = "@file",
     .help = "import: tables of runs or traces, CSV or JSON lines"},
    HM_ROW_RECORD(T, record, 'r'),
    HM_ROW_KEY(T),
    HM_ROW_JSON(T, json),
};

#undef T

/* Numbers of runs and traces that an import has added so far. */
struct import_counts {
    struct hm_added added;
    size_t runs, traces;
    const char **notes; /* Warnings about tables that may have been truncated. */
    size_t note_count;
};

static bool traces_are_cut(const struct hm_traces *traces)
{
    for (size_t i = 0; i < traces->note_count; i++)
        if (strstr(traces->notes[i], HM_NOTE_CUT))
            return true;
    return false;
}

/*
 * Adds a warning about a table that may have been truncated. A table in the body of a request is
 * always complete, so a caller without access to files receives no warning.
 */
static int note_cut(struct hm_call *call, const struct hm_document *d, bool cut,
                    struct import_counts *done, struct hm_err *err)
{
    struct hm_notes notes = {call->arena, &done->notes, &done->note_count};

    if (!cut && !(call->context->files && d->text && hm__run_text_is_cut(d->text, d->length)))
        return 0;
    return hm__notes_add(notes, err, "%.200s " HM_NOTE_CUT, hm__note_source(d->name));
}

/* Returns whether a key of an object, or of an object in a list, contains "iteration". */
static bool has_iterations(const struct hm_value *rows)
{
    const struct hm_value *objects = rows->kind == HM_VALUE_LIST ? rows->items : rows;
    size_t count = rows->kind == HM_VALUE_LIST ? rows->count : 1;

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; objects[i].kind == HM_VALUE_MAP && k < objects[i].count; k++)
            if (strcasestr(objects[i].keys[k], "iteration"))
                return true;
    return false;
}

/*
 * Imports one table. If the table has a column of iterations, its rows are traces; otherwise, they
 * are runs.
 */
static int import_document(struct hm_call *call, const struct hm_runs_import_request *r,
                           const struct hm_document *d, const struct hm_run_sink *sink,
                           struct import_counts *done, struct hm_err *err)
{
    struct hm_err not_traces = {0};
    struct hm_traces *traces = NULL;
    struct hm_runs *runs = NULL;
    size_t before = done->added.count;
    int rc = 0;

    if ((d->tree && !has_iterations(d->tree)) ||
        hm__load_trace_table(call, d, NULL, &traces, &not_traces))
        rc = hm__load_runs(call, d, NULL, &runs, err);
    if (rc == 0)
        rc = traces ? hm__table_add_traces(sink, traces, r->key, NULL, &done->added, err)
                    : hm__table_add_runs(sink, runs, r->key, &done->added, err);
    size_t count = traces ? traces->count : runs ? runs->count : 0;
    *(traces ? &done->traces : &done->runs) += count;
    if (rc == 0)
        rc = note_cut(call, d, traces ? traces_are_cut(traces) : runs->cut, done, err);
    if (rc == 0 && !r->json)
        hm__text_addf(&call->out, "%s: %zu %s, %zu new\n", d->name, count,
                      traces ? "traces" : "runs", done->added.count - before);
    hm_traces_free(traces);
    hm_runs_free(runs);
    return rc;
}

/*
 * Imports a table. The contents of standard input and of pipes are read here, because they can be
 * read only once.
 */
static int import_table(struct hm_call *call, const struct hm_runs_import_request *r,
                        const struct hm_document *d, const struct hm_run_sink *sink,
                        struct import_counts *done, struct hm_err *err)
{
    struct hm_document whole = *d;
    char *text = NULL;
    int rc = 0;

    if (call->context->files && !d->text && !d->tree && call->context->files->is_pipe(d->name)) {
        rc = call->context->files->read_table(d->name, &text, &whole.length, err);
        whole.text = text;
    }
    if (rc == 0)
        rc = import_document(call, r, &whole, sink, done, err);
    hm_text_free(text);
    return rc;
}

static int import_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_runs_import_request *r = values;
    struct import_counts done = {0};
    struct hm_call_sink writer = {0};

    if (r->runs.count == 0) {
        hm__request_fail(err, "runs", HM_E_MISSING, "no table is given");
        hm__err_hint(err, "give a table of runs or traces, CSV or JSON lines");
        return HM_E_MISSING;
    }
    /*
     * A key applies to one table only: keys must be unique, but rows of different tables would have
     * the same key.
     */
    if (r->key && r->runs.count > 1)
        return hm__request_fail(err, "key", HM_E_CONFLICT, "a key applies to one table only");
    int rc = hm__call_sink_open(call, &writer, r->record, err);
    for (size_t k = 0; rc == 0 && k < r->runs.count; k++)
        rc = import_table(call, r, &r->runs.items[k], &writer.sink, &done, err);
    hm__call_sink_close(call, &writer, rc, err);
    for (size_t i = 0; rc == 0 && !r->json && i < done.note_count; i++)
        hm__text_addf(&call->out, "note: %s\n", done.notes[i]);
    if (rc == 0 && r->json)
        added_json(call, &done.added, done.runs, done.traces, done.notes, done.note_count);
    hm__added_release(&done.added);
    return rc == 0 && call->out.failed ? hm__fail_nomem(err) : rc;
}

const struct hm_verb hm__verb_runs_import = {
    .name = "runs import",
    .summary = "add tables of runs or traces to the store",
    HM_VERB_FIELDS(import_fields),
    .size = sizeof(struct hm_runs_import_request),
    .operand = "runs",
    .table = "runs",
    .bare = true,
    .writes = true,
    .answer = "added",
    .run = import_run,
};

/* ---- named documents ---------------------------------------------------------------------------
 */

struct hm_documents_request {
    const char *record, *kind, *name;
    struct hm_document file;
    bool json;
};

#define T struct hm_documents_request
#define HM_ROW_DOCUMENT_KIND                                                                       \
    HM_ROW_TEXT(T, kind, "kind", 0, "documents", "KIND",                                           \
                "put, get: a kind such as fit, cluster, job or prices")
#define HM_ROW_DOCUMENT_NAME                                                                       \
    HM_ROW_TEXT(T, name, "name", 0, "documents", "NAME", "put, get: name of the document")

static const struct hm_request_field put_fields[] = {
    HM_ROW_DOCUMENT_KIND,
    HM_ROW_DOCUMENT_NAME,
    HM_ROW_DOCUMENT(T, file, "file", "documents", "FILE", "put: the text to keep"),
    HM_ROW_RECORD(T, record, 'r'),
};
static const struct hm_request_field get_fields[] = {
    HM_ROW_DOCUMENT_KIND,
    HM_ROW_DOCUMENT_NAME,
    HM_ROW_RECORD(T, record, 'r'),
};
static const struct hm_request_field documents_fields[] = {
    HM_ROW_DOCUMENT_KIND,
    HM_ROW_RECORD(T, record, 'r'),
    HM_ROW_JSON(T, json),
};

#undef T

static int put_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_documents_request *r = values;
    const char *missing = !r->kind ? "kind" : !r->name ? "name" : !r->file.name ? "file" : NULL;
    struct hm_store *store = NULL;
    char *file = NULL;
    size_t length = r->file.length;
    int rc = 0;

    if (missing) {
        hm__request_fail(err, missing, HM_E_MISSING, "a kind, a name and a file are needed");
        hm__err_hint(err, "such as fit mnist fit.json");
        return HM_E_MISSING;
    }
    if (!r->file.text && !call->context->files)
        return hm__request_fail(err, "file", HM_E_NAME, "a request cannot name a file");
    if (!r->file.text)
        rc = call->context->files->read(r->file.name, &file, &length, err);
    const char *text = r->file.text ? r->file.text : file;
    if (rc == 0 && strlen(text) != length)
        rc = hm__request_fail(err, "file", HM_E_TYPE, "%s is not a text", r->file.name);
    if (rc == 0)
        rc = hm__call_store_open(call, r->record, &store, err);
    if (rc == 0)
        rc = hm_store_put(store, r->kind, r->name, text, err);
    hm__call_store_close(call, store, rc, err);
    hm_text_free(file);
    return rc;
}

static int get_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_documents_request *r = values;
    struct hm_store *store = NULL;
    char *text = NULL;

    if (!r->kind || !r->name) {
        hm__request_fail(err, r->kind ? "name" : "kind", HM_E_MISSING,
                         "a kind and a name are needed");
        hm__err_hint(err, "`howmany runs documents` lists them");
        return HM_E_MISSING;
    }
    int rc = hm__call_store_read(call, r->record, &store, err);
    if (rc == 0)
        rc = hm_store_get(store, r->kind, r->name, &text, err);
    if (rc == 0 && !text)
        rc =
            hm__request_fail(err, "name", HM_E_NAME, "there is no %.60s '%.60s'", r->kind, r->name);
    if (rc == 0)
        rc = hm__call_answer(call, HM_FORMAT_TEXT, text, err);
    hm__call_store_close(call, store, rc, err);
    return rc;
}

/* Data needed to write a list of documents as text or JSON. */
struct document_list {
    struct hm_text *out;
    struct hm_json json;
    bool as_json;
};

static int add_document(void *context, const char *kind, const char *name, const char *made_at)
{
    struct document_list *list = context;

    if (!list->as_json) {
        hm__text_addf(list->out, "%s  %-8s  ", made_at, kind);
        hm__text_add(list->out, name);
        hm__text_add(list->out, "\n");
        return 0;
    }
    hm__json_open(&list->json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(&list->json, "kind", kind);
    hm__json_put_text(&list->json, "name", name);
    hm__json_put_text(&list->json, "made_at", made_at);
    hm__json_close(&list->json);
    return 0;
}

static int documents_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_documents_request *r = values;
    struct document_list list = {
        .out = &call->out, .json = {.out = &call->out}, .as_json = r->json};
    struct hm_store *store = NULL;
    int rc = hm__call_store_read(call, r->record, &store, err);

    if (r->json)
        hm__json_open(&list.json, NULL, HM_JSON_LIST | HM_JSON_LINES);
    if (rc == 0)
        rc = hm_store_documents(store, r->kind, add_document, &list, err);
    if (r->json) {
        hm__json_close(&list.json);
        hm__text_add(&call->out, "\n");
        call->type = "application/json";
    } else if (rc == 0 && call->out.length == 0) {
        hm__text_add(&call->out, "no documents\n");
    }
    hm__call_store_close(call, store, rc, err);
    return rc == 0 && call->out.failed ? hm__fail_nomem(err) : rc;
}

const struct hm_verb hm__verb_documents_put = {
    .name = "runs put",
    .summary = "keep a named text in the store",
    HM_VERB_FIELDS(put_fields),
    .size = sizeof(struct hm_documents_request),
    .operand = "kind name file",
    .writes = true,
    .run = put_run,
};

const struct hm_verb hm__verb_documents_get = {
    .name = "runs get",
    .summary = "print a named text of the store",
    HM_VERB_FIELDS(get_fields),
    .size = sizeof(struct hm_documents_request),
    .operand = "kind name",
    .run = get_run,
};

const struct hm_verb hm__verb_documents_list = {
    .name = "runs documents",
    .summary = "list the named documents of the store",
    HM_VERB_FIELDS(documents_fields),
    .size = sizeof(struct hm_documents_request),
    .operand = "kind",
    .run = documents_run,
};
