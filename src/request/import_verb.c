/*
 * Implements the verb import, which converts files from other tools to runs, traces, networks,
 * clusters and jobs.
 */
#include <math.h>
#include <string.h>

#include "err.h"
#include "files.h"
#include "import.h"
#include "json.h"
#include "load_import.h"
#include "table_add.h"
#include "verbs.h"

struct hm_import_request {
    struct hm_documents files;
    const char *as, *record, *output;
    struct hm_texts set;
    /*
     * The chosen value of the field `to`, as an index into the list of its choices; -1 if not
     * given.
     */
    int to;
    bool json;
};

enum import_target { TO_RUNS, TO_TRACES, TO_DOCUMENT };

#define T struct hm_import_request

static const struct hm_request_field fields[] = {
    {.name = "files",
     .kind = HM_REQUEST_DOCUMENTS,
     .offset = offsetof(T, files),
     .group = "files",
     .argument = "FILE",
     .choices = "@file",
     .help = "files or folders of other tools; docs/reference/formats.md lists the formats"},
    HM_ROW_TEXT(T, as, "as", 0, "files", "FORMAT", "the format, if it is not recognised"),
    {.name = "set",
     .kind = HM_REQUEST_PAIRS,
     .offset = offsetof(T, set),
     .group = "files",
     .argument = "NAME=VALUE",
     .help = "a property that the files do not contain, such as n=8"},
    {.name = "to",
     .kind = HM_REQUEST_CHOICE,
     .offset = offsetof(T, to),
     .group = "output",
     .argument = "WHAT",
     .choices = "runs traces document",
     .help = "what to write or record (default: what the files contain)"},
    {.name = "output",
     .kind = HM_REQUEST_OUTPUT,
     .offset = offsetof(T, output),
     .letter = 'o',
     .group = "output",
     .argument = "FILE",
     .choices = "@file",
     .help = "write runs or traces as CSV, or a document as YAML; - is standard output"},
    HM_ROW_RECORD(T, record, 'r'),
    HM_ROW_JSON(T, json),
};

#undef T

/* ---- reading ----------------------------------------------------------------------------------
 */

/* The files that one request imports, and their results. */
struct importing {
    struct hm_call *call;
    const struct hm_import_request *r;
    const struct hm_importer *as;
    struct hm_imported **imported; /* Result of each imported file; owned. */
    size_t count, room;
    /* Number of files in folders that were skipped because no reader recognises them. */
    size_t skipped;
    bool in_folder;
};

/*
 * Stores the result of an imported file. If the file contains times of operations, the machine on
 * which they were measured is also described.
 */
static int keep_import(struct importing *all, struct hm_imported *im, struct hm_err *err)
{
    int rc = hm__import_machine(all->call, im, err);

    if (rc == 0)
        rc = hm__import_network(all->call, im, err);
    if (rc) {
        hm__import_free(im);
        return rc;
    }
    struct hm_imported **more = hm__grow(all->imported, all->count, &all->room, sizeof(*more));
    if (!more) {
        hm__import_free(im);
        return hm__fail_nomem(err);
    }
    all->imported = more;
    all->imported[all->count++] = im;
    return 0;
}

/* Reads one file; if the file is in a folder and is not recognised, it is skipped. */
static int import_one(void *data, const char *name, struct hm_err *err)
{
    struct importing *all = data;
    struct hm_import_from from = {
        .name = name, .as = all->as, .set = all->r->set.items, .set_count = all->r->set.count};
    struct hm_imported *im = NULL;
    struct hm_err own = {0};
    int rc = all->call->context->files->import(&from, &im, &own);

    if (rc == HM_E_TYPE && all->in_folder) {
        all->skipped++;
        return 0;
    }
    if (rc && err)
        *err = own;
    return rc ? rc : keep_import(all, im, err);
}

static int import_document(struct importing *all, const struct hm_document *d, struct hm_err *err)
{
    struct hm_import_from from = {.name = d->name,
                                  .data = d->text,
                                  .length = d->length,
                                  .as = all->as,
                                  .set = all->r->set.items,
                                  .set_count = all->r->set.count};
    const struct hm_files *files = all->call->context->files;
    struct hm_imported *im = NULL;

    if (d->tree)
        return hm__request_fail(err, "files", HM_E_TYPE, "send the contents of a file as they are");
    if (d->text) {
        int rc = hm__import_new(&from, &im, err);
        return rc ? rc : keep_import(all, im, err);
    }
    if (!files) {
        hm__request_fail(err, "files", HM_E_NAME, "'%.100s': a request cannot name a file",
                         d->name);
        hm__err_hint(err, "send its contents instead");
        return HM_E_NAME;
    }
    all->in_folder = files->is_folder(d->name);
    return files->walk(d->name, import_one, all, err);
}

/* ---- what is written --------------------------------------------------------------------------
 */

/*
 * Returns what the verb writes: the target in the request or, if there is none, the first of runs,
 * traces and document that the files contain.
 */
static enum import_target choose_target(const struct importing *all)
{
    bool runs = false, traces = false,
         yaml = all->r->output &&
                (hm__text_ends(all->r->output, ".yaml") || hm__text_ends(all->r->output, ".yml"));

    if (all->r->to >= 0)
        return (enum import_target)all->r->to;
    for (size_t i = 0; i < all->count; i++) {
        runs |= all->imported[i]->runs.rows > 0;
        traces |= all->imported[i]->traces.rows > 0;
        yaml |= all->imported[i]->document.length > 0 && all->imported[i]->runs.rows == 0 &&
                all->imported[i]->traces.rows == 0;
    }
    return yaml ? TO_DOCUMENT : traces && !runs ? TO_TRACES : TO_RUNS;
}

static int fail_empty(const struct importing *all, const char *what, struct hm_err *err)
{
    hm__request_fail(err, "to", HM_E_MISSING, "%s gives no %s", all->imported[0]->name, what);
    hm__err_hint(err, "%s becomes %s", all->imported[0]->importer->title,
                 all->imported[0]->importer->becomes);
    return HM_E_MISSING;
}

/* Appends the tables of all files to the output; it is an error if their columns differ. */
static int join_tables(const struct importing *all, bool traces, struct hm_text *out,
                       struct hm_err *err)
{
    const char *first = NULL;

    for (size_t i = 0; i < all->count; i++) {
        const struct hm_imported *im = all->imported[i];
        const struct hm_import_table *t = traces ? &im->traces : &im->runs;
        struct hm_text text = {0};
        if (t->rows == 0)
            continue;
        int rc = hm__import_check(im, t, traces ? "traces" : "runs", err);
        if (rc)
            return rc;
        if (first && strcmp(first, t->columns[0]) != 0)
            return hm__request_fail(err, "files", HM_E_CONFLICT,
                                    "the files give tables with different columns");
        hm__import_csv(t, &text);
        const char *table = text.data ? text.data : "", *rows = strchr(table, '\n');
        hm__text_add(out, !first ? table : rows ? rows + 1 : "");
        out->failed |= text.failed;
        hm__text_release(&text);
        first = t->columns[0];
    }
    return first ? 0 : fail_empty(all, traces ? "traces" : "runs", err);
}

static int write_output(const struct importing *all, enum import_target to, struct hm_err *err)
{
    struct hm_text out = {0};
    int rc = 0;

    if (to != TO_DOCUMENT)
        rc = join_tables(all, to == TO_TRACES, &out, err);
    else if (all->count > 1)
        rc = hm__request_fail(err, "files", HM_E_CONFLICT, "one document is written at a time");
    else if (all->imported[0]->document.length == 0)
        rc = fail_empty(all, "document", err);
    else
        hm__text_add(&out, all->imported[0]->document.data);
    if (rc == 0 && out.failed)
        rc = hm__fail_nomem(err);
    if (rc == 0)
        rc = hm__call_file(all->call, all->r->output, NULL, out.data, err);
    hm__text_release(&out);
    return rc;
}

static int record_one(struct hm_imported *im, bool as_traces, const struct hm_run_sink *sink,
                      struct hm_added *added, struct hm_err *err)
{
    struct hm_traces *traces = NULL;
    struct hm_runs *runs = NULL;
    int rc;

    if (as_traces) {
        rc = hm__import_traces(&im, 1, NULL, &traces, err);
        if (rc == 0)
            rc = hm__table_add_traces(sink, traces, NULL, NULL, added, err);
    } else {
        rc = hm__import_runs(&im, 1, &runs, err);
        if (rc == 0)
            rc = hm__table_add_runs(sink, runs, NULL, added, err);
    }
    hm_traces_free(traces);
    hm_runs_free(runs);
    return rc;
}

static int record_all(const struct importing *all, enum import_target to, struct hm_err *err)
{
    struct hm_call_sink writer = {0};
    struct hm_added added = {0};
    int rc = hm__call_sink_open(all->call, &writer, all->r->record, err);

    if (rc == 0 && to == TO_DOCUMENT)
        rc = hm__request_fail(err, "record", HM_E_CONFLICT,
                              "the store records runs and traces, and the files give none");
    for (size_t i = 0; rc == 0 && i < all->count; i++)
        rc = record_one(all->imported[i], to == TO_TRACES, &writer.sink, &added, err);
    hm__call_sink_close(all->call, &writer, rc, err);
    if (rc == 0 && !all->r->json)
        hm__text_addf(&all->call->out, "%zu %s recorded\n", added.count,
                      to == TO_TRACES ? "traces" : "runs");
    hm__added_release(&added);
    return rc;
}

/* ---- the verb ---------------------------------------------------------------------------------
 */

static int import_check(const struct hm_import_request *r, struct importing *all,
                        struct hm_err *err)
{
    if (r->files.count == 0) {
        hm__request_fail(err, "files", HM_E_MISSING, "no file is given");
        hm__err_hint(err, "give a log, a trace, a configuration or a model file");
        return HM_E_MISSING;
    }
    if (r->as && !(all->as = hm__importer_find(r->as))) {
        const char *near = hm__suggest(r->as, hm__importer_name, NULL);
        hm__request_fail(err, "as", HM_E_NAME, "there is no format '%.60s'", r->as);
        if (near)
            hm__err_hint(err, "did you mean %s?", near);
        return HM_E_NAME;
    }
    return 0;
}

static int import_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_import_request *r = values;
    struct importing all = {.call = call, .r = r};
    int rc = import_check(r, &all, err);

    call->imported = true;
    for (size_t i = 0; rc == 0 && i < r->files.count; i++)
        rc = import_document(&all, &r->files.items[i], err);
    if (rc == 0 && all.count == 0)
        rc = hm__request_fail(err, "files", HM_E_TYPE,
                              "none of %zu files has a format that can be imported", all.skipped);
    enum import_target to = rc == 0 ? choose_target(&all) : TO_RUNS;
    bool quiet = r->output && strcmp(r->output, "-") == 0;
    if (rc == 0 && r->json)
        hm__imported_json(call, all.imported, all.count);
    for (size_t i = 0; rc == 0 && !r->json && !quiet && i < all.count; i++)
        hm__imported_text(call, all.imported[i]);
    if (rc == 0 && all.skipped && !r->json && !quiet)
        hm__text_addf(&call->out, "%zu other files of the folder are not recognised\n",
                      all.skipped);
    if (rc == 0 && r->output)
        rc = write_output(&all, to, err);
    if (rc == 0 && r->record)
        rc = record_all(&all, to, err);
    for (size_t i = 0; i < all.count; i++)
        hm__import_free(all.imported[i]);
    hm__free(all.imported);
    return rc == 0 && call->out.failed ? hm__fail_nomem(err) : rc;
}

const struct hm_verb hm__verb_import = {
    .name = "import",
    .summary = "read logs, traces, configurations and model files from other tools",
    .description =
        "Recognises what a file is by its content, and says what it took from it and what it left "
        "out. Configurations and model files become networks, logs and traces become runs and "
        "traces, benchmarks become clusters. The output is a table or a document; runs and traces "
        "can be recorded in a store. What a file does not say, such as the number of workers, is "
        "set as n=8. docs/reference/formats.md describes every format.\n\n"
        "Exit status: 0 read, also if a file is cut short; 2 wrong usage or an unknown format.",
    HM_VERB_FIELDS(fields),
    .size = sizeof(struct hm_import_request),
    .operand = "files",
    .table = "files",
    .any_body = true,
    .answer = "import",
    .run = import_run,
};
