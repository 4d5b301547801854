/* Loads runs, traces and fits of the loss, and opens the store. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "files.h"
#include "hold_out.h"
#include "load.h"
#include "load_import.h"
#include "memory.h"
#include "readers.h"
#include "row_values.h"
#include "store.h"

/* ---- the store ---------------------------------------------------------------------------------
 */

bool hm__is_store(const char *name)
{
    return strncmp(name, "postgresql://", 13) == 0 || strncmp(name, "postgres://", 11) == 0 ||
           hm__text_ends(name, ".db") || hm__text_ends(name, ".sqlite") ||
           hm__text_ends(name, ".sqlite3");
}

int hm__call_store_open(struct hm_call *call, const char *record, struct hm_store **ret_store,
                        struct hm_err *err)
{
    const struct hm_store_access *access = call->context->store;

    if (!access || !access->open) {
        hm__request_fail(err, "store", HM_E_UNSUPPORTED, "there is no store of runs here");
        hm__err_hint(err, "send the runs with the request, or let the server keep a store of runs");
        return HM_E_UNSUPPORTED;
    }
    call->from_store = true;
    int rc = access->open(access->data, record, ret_store, err);
    return rc || *ret_store ? rc : hm__fail(err, HM_E_IO, "the store of runs was not opened");
}

int hm__call_store_add(const struct hm_store_access *access, const char *record,
                       struct hm_store_batch *batch, struct hm_err *err)
{
    if (access->add)
        return access->add(access->data, record, batch, err);
    return hm__request_fail(err, "store", HM_E_UNSUPPORTED, "no runs can be added here");
}

int hm__call_store_read(struct hm_call *call, const char *record, struct hm_store **ret_store,
                        struct hm_err *err)
{
    if (record && call->context->files && !hm__store_exists(record)) {
        hm__fail(err, HM_E_IO, "there is no such store");
        hm__err_hint(err, "the first run that is added makes it");
        hm__err_at(err, record, 0);
        return HM_E_IO;
    }
    return hm__call_store_open(call, record, ret_store, err);
}

void hm__call_store_close(struct hm_call *call, struct hm_store *store, int rc, struct hm_err *err)
{
    const struct hm_store_access *access = call->context->store;

    if (rc && err && !call->context->files && strcmp(err->source, "request") != 0)
        err->source[0] = '\0';
    if (store && access->close)
        access->close(access->data, store, rc == HM_E_IO);
    else
        hm_store_close(store);
}

static int fail_file(const char *field, const char *name, struct hm_err *err)
{
    hm__request_fail(err, field, HM_E_NAME, "'%.100s': a request cannot name a file", name);
    hm__err_hint(err, "send its contents instead");
    return HM_E_NAME;
}

/* ---- runs --------------------------------------------------------------------------------------
 */

static int read_stored_runs(struct hm_call *call, struct hm_store *store,
                            const struct hm_texts *where, struct hm_runs **ret_runs,
                            struct hm_err *err)
{
    struct hm_store_filter filter = {.where = where ? where->items : NULL,
                                     .where_count = where ? where->count : 0,
                                     /*
                                      * Runs are sorted by id, which is the order in which they were
                                      * added.
                                      */
                                     .sort = "id"};
    size_t most = call->context->limits.runs;
    int64_t count = 0;
    int rc = hm_store_count(store, &filter, &count, err);

    if (rc == 0 && count == 0) {
        hm__fail(err, HM_E_MISSING, "the store has no such runs");
        hm__err_hint(err, "`howmany runs import` adds tables of runs");
        return HM_E_MISSING;
    }
    if (rc == 0 && most > 0 && (size_t)count > most)
        return hm__request_fail(err, "where", HM_E_LIMIT,
                                "%lld runs match; at most %zu are allowed", (long long)count, most);
    return rc ? rc : hm_store_runs(store, &filter, ret_runs, err);
}

static int load_stored_runs(struct hm_call *call, const char *record, const struct hm_texts *where,
                            struct hm_runs **ret_runs, struct hm_err *err)
{
    struct hm_store *store = NULL;
    int rc = hm__call_store_read(call, record, &store, err);

    if (rc == 0)
        rc = read_stored_runs(call, store, where, ret_runs, err);
    if (rc == 0 && !call->context->files)
        /* A caller without access to files must not learn the address of the store. */
        (*ret_runs)->source = "the store";
    hm__call_store_close(call, store, rc, err);
    return rc;
}

int hm__load_runs(struct hm_call *call, const struct hm_document *d, const struct hm_texts *where,
                  struct hm_runs **ret_runs, struct hm_err *err)
{
    int rc;

    if (!d->name || (!d->text && !d->tree && call->context->files && hm__is_store(d->name)))
        return load_stored_runs(call, d->name, where, ret_runs, err);
    if (d->tree)
        rc = hm__runs_read(d->tree, d->name, ret_runs, err);
    else if (hm__is_foreign(call, d) || hm__is_import_folder(call, d))
        rc = hm__load_foreign_runs(call, d, ret_runs, err);
    else if (d->text)
        rc = hm_runs_parse(d->text, d->length, d->name, ret_runs, err);
    else if (call->context->files)
        rc = call->context->files->runs(d->name, ret_runs, err);
    else
        return fail_file("runs", d->name, err);
    if (rc == 0 && where && (rc = hm__runs_where(*ret_runs, where->items, where->count, err))) {
        hm_runs_free(*ret_runs);
        *ret_runs = NULL;
    }
    return rc;
}

/* ---- traces and fits ---------------------------------------------------------------------------
 */

int hm__load_trace_table(struct hm_call *call, const struct hm_document *d,
                         const struct hm_traces_settings *settings, struct hm_traces **ret_traces,
                         struct hm_err *err)
{
    if (d->tree)
        return hm__traces_read(d->tree, d->name, settings, ret_traces, err);
    if (d->text)
        return hm_traces_parse(d->text, d->length, d->name, settings, ret_traces, err);
    if (call->context->files)
        return call->context->files->traces(&d->name, 1, settings, ret_traces, err);
    return fail_file("traces", d->name, err);
}

int hm__load_fit(struct hm_call *call, const struct hm_document *d,
                 struct hm_convergence **ret_convergence, struct hm_err *err)
{
    if (d->tree)
        return hm__convergence_read(d->tree, ret_convergence, err);
    if (d->text)
        return hm_convergence_parse(d->text, d->length, d->name, ret_convergence, err);
    if (call->context->files)
        return call->context->files->convergence(d->name, ret_convergence, err);
    return fail_file("fit", d->name, err);
}

/* Loads traces from several documents, or from a single document that has contents. */
static int load_trace_files(struct hm_call *call, const struct hm_documents *documents,
                            const struct hm_traces_settings *settings,
                            struct hm_traces **ret_traces, struct hm_err *err)
{
    bool foreign = false;
    for (size_t i = 0; i < documents->count; i++)
        foreign |= hm__is_foreign(call, &documents->items[i]) ||
                   hm__is_import_folder(call, &documents->items[i]);
    if (foreign)
        return hm__load_foreign_traces(call, documents, settings, ret_traces, err);
    if (documents->count == 1)
        return hm__load_trace_table(call, &documents->items[0], settings, ret_traces, err);
    const char **paths = hm__arena_alloc(call->arena, documents->count, sizeof(*paths));
    if (!paths)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < documents->count; i++) {
        const struct hm_document *d = &documents->items[i];
        if (d->text || d->tree)
            return hm__request_fail(err, "traces", HM_E_LIMIT, "more than one document of traces");
        paths[i] = d->name;
    }
    if (!call->context->files)
        return fail_file("traces", paths[0], err);
    return call->context->files->traces(paths, documents->count, settings, ret_traces, err);
}

static int load_stored_traces(struct hm_call *call, const struct hm_trace_fields *f,
                              const char *record, struct hm_traces **ret_traces, struct hm_err *err)
{
    /* Traces are sorted by id, which is the order in which they were added. */
    struct hm_store_filter filter = {
        .where = f->where.items, .where_count = f->where.count, .sort = "id"};
    struct hm_store *store = NULL;

    if (f->measure || f->epochs)
        return hm__request_fail(err, f->measure ? "measure" : "epochs", HM_E_CONFLICT,
                                "a store keeps one loss for each iteration");
    int rc = hm__call_store_read(call, record, &store, err);
    if (rc == 0)
        rc = hm_store_traces(store, &filter, ret_traces, err);
    if (rc == HM_E_MISSING)
        hm__err_hint(err, "`howmany train` records traces; or name a file of them");
    hm__call_store_close(call, store, rc, err);
    return rc;
}

static const char *trace_algorithm(const void *context, size_t i)
{
    const struct hm_traces *traces = context;

    return i < traces->count ? traces->traces[i].algorithm : NULL;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_listed(const char *const *sorted, size_t count, const char *text)
{
    return bsearch(&text, sorted, count, sizeof(*sorted), compare_texts) != NULL;
}

static int fail_algorithm(const struct hm_traces *traces, const char *asked, struct hm_err *err)
{
    const char *near = hm__suggest(asked, trace_algorithm, traces);

    hm__request_fail(err, "algorithms", HM_E_NAME, "there are no traces of '%.60s'", asked);
    if (near)
        hm__err_hint(err, "did you mean %s?", near);
    return HM_E_NAME;
}

/*
 * Removes the traces of algorithms that the request does not name. It is an error if a named
 * algorithm has no trace. The names are looked up in sorted lists, because there can be thousands
 * of them.
 */
static int keep_algorithms(const struct hm_texts *asked, struct hm_traces *traces,
                           struct hm_err *err)
{
    size_t kept = 0, room = traces->count + 1;
    int rc = 0;

    if (asked->count == 0)
        return 0;
    const char **known = hm__calloc(room + asked->count, sizeof(*known));
    if (!known)
        return hm__fail_nomem(err);
    const char **wanted = known + room;
    for (size_t k = 0; k < traces->count; k++)
        known[k] = traces->traces[k].algorithm;
    for (size_t k = 0; k < asked->count; k++)
        wanted[k] = asked->items[k];
    qsort(known, traces->count, sizeof(*known), compare_texts);
    qsort(wanted, asked->count, sizeof(*wanted), compare_texts);
    for (size_t k = 0; rc == 0 && k < asked->count; k++)
        if (!is_listed(known, traces->count, asked->items[k]))
            rc = fail_algorithm(traces, asked->items[k], err);
    for (size_t k = 0; rc == 0 && k < traces->count; k++)
        if (is_listed(wanted, asked->count, traces->traces[k].algorithm))
            traces->traces[kept++] = traces->traces[k];
    if (rc == 0)
        traces->count = kept;
    hm__free(known);
    return rc;
}

static int load_traces(struct hm_call *call, const struct hm_trace_fields *f,
                       struct hm_traces **ret_traces, struct hm_err *err)
{
    const struct hm_traces_settings settings = {.measure = f->measure, .epochs = f->epochs};
    const struct hm_document *only = f->traces.count == 1 ? &f->traces.items[0] : NULL;
    bool named_store = only && !only->text && !only->tree && hm__is_store(only->name) &&
                       call->context->files != NULL;
    bool stored = f->traces.count == 0 || named_store;
    struct hm_traces *traces = NULL;

    if (f->record && f->traces.count > 0)
        return hm__request_fail(err, "record", HM_E_CONFLICT,
                                "traces come from a store or from files, not from both");
    if (f->where.count && !stored)
        return hm__request_fail(err, "where", HM_E_CONFLICT, "this selects runs of a store");
    int rc = stored
                 ? load_stored_traces(call, f, named_store ? only->name : f->record, &traces, err)
                 : load_trace_files(call, &f->traces, &settings, &traces, err);
    if (rc == 0)
        rc = keep_algorithms(&f->algorithms, traces, err);
    if (rc)
        hm_traces_free(traces);
    else
        *ret_traces = traces;
    return rc;
}

/*
 * Returns whether the request has a single document that is a stored fit: a .json file, or a JSON
 * object with the key "algorithms".
 */
static bool is_fit(struct hm_call *call, const struct hm_trace_fields *f)
{
    const struct hm_document *d = f->traces.count == 1 ? &f->traces.items[0] : NULL;

    if (!d)
        return false;
    return d->tree ? d->tree->kind == HM_VALUE_MAP && hm__value_get(d->tree, "algorithms")
                   : hm__text_ends(d->name, ".json") && !hm__is_foreign(call, d);
}

/* Rejects fields that say how traces are fitted, because they have no effect on a stored fit. */
static int check_fit(const struct hm_trace_fields *f, struct hm_err *err)
{
    const char *given = !isnan(f->best)   ? "best"
                        : f->measure      ? "measure"
                        : f->epochs       ? "epochs"
                        : !isnan(f->rows) ? "rows"
                        : f->terms.count  ? "terms"
                                          : NULL;

    return given ? hm__request_fail(err, given, HM_E_CONFLICT,
                                    "%s is a stored fit; this belongs to the traces it came from",
                                    f->traces.items[0].name)
                 : 0;
}

int hm__load_convergence(struct hm_call *call, const struct hm_trace_fields *f,
                         const struct hm_holdout_settings *held, struct hm_loaded_traces *loaded,
                         struct hm_err *err)
{
    struct hm_converge_settings *s = &loaded->settings;

    *s = (struct hm_converge_settings){.terms = f->terms.items,
                                       .term_count = f->terms.count,
                                       .best_given = !isnan(f->best),
                                       .best = isnan(f->best) ? 0 : f->best,
                                       .level = isnan(f->level) ? 0 : f->level,
                                       .rows = isnan(f->rows) ? 0 : f->rows,
                                       .seed = f->seed};
    if (is_fit(call, f)) {
        loaded->fit = f->traces.items[0].name;
        int rc = check_fit(f, err);
        return rc ? rc : hm__load_fit(call, &f->traces.items[0], &loaded->convergence, err);
    }
    int rc = load_traces(call, f, &loaded->traces, err);
    if (rc == 0)
        rc = hm__converge_admit(loaded->traces, held, err);
    return rc ? rc : hm_convergence_new(loaded->traces, s, &loaded->convergence, err);
}

void hm__loaded_traces_release(struct hm_loaded_traces *loaded)
{
    hm_convergence_free(loaded->convergence);
    hm_traces_free(loaded->traces);
    *loaded = (struct hm_loaded_traces){0};
}
