/* Loads runs, traces or a job from files of other tools, and shows the results of an import. */
#include "load_import.h"

#include <math.h>
#include <string.h>

#include "err.h"
#include "files.h"
#include "json.h"

/* ---- how an import is shown -------------------------------------------------------------------
 */

static void add_item(struct hm_text *out, const struct hm_import_item *item)
{
    static const char *const labels[] = {"taken", "left out", "note"};

    hm__text_addf(out, "  %-11s", labels[item->fate]);
    if (!isnan(item->count))
        hm__text_addf(out, "%.0f ", item->count);
    hm__text_add(out, item->what);
    hm__text_add(out, "\n");
}

void hm__imported_text(struct hm_call *call, const struct hm_imported *im)
{
    struct hm_text *out = &call->out;

    hm__text_addf(out, "%s: %s (%s)%s\n", im->name, im->importer->title, im->importer->name,
                  im->partial ? ", partial" : "");
    for (int fate = HM_IMPORT_TAKEN; fate <= HM_IMPORT_NOTED; fate++)
        for (size_t i = 0; i < im->item_count; i++)
            if ((int)im->items[i].fate == fate)
                add_item(out, &im->items[i]);
    if (im->needs_n && (im->runs.rows > 0 || im->traces.rows > 0))
        hm__text_addf(out, "  %-11sn, the number of workers, is not in the file: set n=8\n",
                      "missing");
    if (im->needs_network)
        hm__text_addf(out, "  %-11sthe network is not in the file: set network=llama-3-8b\n",
                      "missing");
    if (im->document.length > 0)
        hm__text_addf(out, "  %-11sa %s (YAML)\n", "makes", im->document_kind);
    if (im->runs.rows > 0)
        hm__text_addf(out, "  %-11s%zu rows of runs (CSV)\n", "makes", im->runs.rows);
    if (im->traces.rows > 0)
        hm__text_addf(out, "  %-11s%zu rows of traces (CSV)\n", "makes", im->traces.rows);
}

static void put_items(struct hm_json *j, const char *key, const struct hm_imported *im,
                      enum hm_import_fate fate)
{
    hm__json_open(j, key, HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < im->item_count; i++) {
        if (im->items[i].fate != fate)
            continue;
        if (fate == HM_IMPORT_NOTED) {
            hm__json_put_text(j, NULL, im->items[i].what);
            continue;
        }
        hm__json_open(j, NULL, HM_JSON_OBJECT);
        hm__json_put_text(j, "what", im->items[i].what);
        hm__json_put_number(j, "count", im->items[i].count);
        hm__json_close(j);
    }
    hm__json_close(j);
}

static void put_table(struct hm_json *j, const char *key, const struct hm_import_table *t)
{
    hm__json_open(j, key, HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < t->rows; i++) {
        hm__json_open(j, NULL, HM_JSON_OBJECT);
        for (size_t k = 0; k < t->column_count; k++) {
            const struct hm_import_cell *c = &t->cells[i * t->column_count + k];
            char name[64] = "";
            strncat(name, t->columns[k], strcspn(t->columns[k], ",") % sizeof(name));
            if (t->texts[k])
                hm__json_put_text(j, name, c->text);
            else
                hm__json_put_number(j, name, c->number);
        }
        hm__json_close(j);
    }
    hm__json_close(j);
}

void hm__imported_json(struct hm_call *call, struct hm_imported *const *all, size_t count)
{
    struct hm_json json = {.out = &call->out}, *j = &json;

    hm__json_open(j, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_put_text(j, "howmany", HM_VERSION);
    hm__json_open(j, "files", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < count; i++) {
        const struct hm_imported *im = all[i];
        hm__json_open(j, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
        hm__json_put_text(j, "file", im->name);
        hm__json_put_text(j, "format", im->importer->name);
        hm__json_put_text(j, "title", im->importer->title);
        hm__json_put_bool(j, "partial", im->partial);
        hm__json_put_bool(j, "needs_n", im->needs_n);
        hm__json_put_bool(j, "needs_network", im->needs_network);
        put_items(j, "taken", im, HM_IMPORT_TAKEN);
        put_items(j, "left_out", im, HM_IMPORT_LEFT);
        put_items(j, "notes", im, HM_IMPORT_NOTED);
        hm__json_put_raw(j, "facts", im->facts_text.data);
        put_table(j, "runs", &im->runs);
        put_table(j, "traces", &im->traces);
        hm__json_put_text(j, "document_kind", im->document.length ? im->document_kind : NULL);
        hm__json_put_text(j, "document", im->document.data);
        hm__json_close(j);
    }
    hm__json_close(j);
    hm__json_close(j);
    hm__text_add(&call->out, "\n");
    call->type = "application/json";
}

/* ---- files of other tools ---------------------------------------------------------------------
 */

/* Returns whether an assignment such as "batch=64" sets a key of the job. */
static bool sets_key(const char *assignment, const char *key)
{
    size_t length = strlen(key);

    return strncmp(assignment, key, length) == 0 && assignment[length] == '=';
}

bool hm__spec_sets(const struct hm_spec *spec, const char *key)
{
    for (size_t i = 0; i < spec->override_count; i++)
        if (sets_key(spec->overrides[i].text, key))
            return true;
    return false;
}

static struct hm_import_from from_document(const struct hm_call *call, const struct hm_document *d)
{
    const struct hm_texts *facts = call->facts;

    return (struct hm_import_from){.name = d->name,
                                   .data = d->text,
                                   .length = d->length,
                                   .set = facts ? facts->items : NULL,
                                   .set_count = facts ? facts->count : 0};
}

bool hm__is_foreign(struct hm_call *call, const struct hm_document *d)
{
    struct hm_import_from from = from_document(call, d);

    if (d->tree || !d->name || strcmp(d->name, "-") == 0 || (!d->text && !call->context->files))
        return false;
    return d->text ? hm__import_recognise(&from) != NULL : call->context->files->is_foreign(&from);
}

static int import_from(struct hm_call *call, const struct hm_document *d,
                       struct hm_imported **ret_import, struct hm_err *err)
{
    struct hm_import_from from = from_document(call, d);

    call->imported = true;
    int rc = d->text ? hm__import_new(&from, ret_import, err)
                     : call->context->files->import(&from, ret_import, err);
    if (rc == 0 && (rc = hm__import_machine(call, *ret_import, err)) != 0) {
        hm__import_free(*ret_import);
        *ret_import = NULL;
    }
    return rc;
}

/* Results of importing several files or folders, as a growing list. */
struct collection {
    struct hm_call *call;
    struct hm_imported **items; /* Result of each imported file; owned. */
    size_t count, room;
    bool in_folder;
};

/* Adds a result, which the list then owns; if it cannot be added, the result is freed. */
static int collection_add(struct collection *c, struct hm_imported *im, struct hm_err *err)
{
    struct hm_imported **more = hm__grow(c->items, c->count, &c->room, sizeof(*more));
    if (!more) {
        hm__import_free(im);
        return hm__fail_nomem(err);
    }
    c->items = more;
    c->items[c->count++] = im;
    return 0;
}

static int collect_one(void *data, const char *name, struct hm_err *err)
{
    struct collection *c = data;
    const struct hm_document d = {.name = name};
    struct hm_imported *im = NULL;

    if (c->in_folder && !hm__is_foreign(c->call, &d))
        return 0;
    int rc = import_from(c->call, &d, &im, err);
    return rc ? rc : collection_add(c, im, err);
}

/*
 * Imports the contents of a document if they are given, otherwise the file or folder that it names.
 */
static int collect_document(struct collection *c, const struct hm_document *d, struct hm_err *err)
{
    const struct hm_files *files = c->call->context->files;

    if (d->text) {
        struct hm_imported *im = NULL;
        int rc = import_from(c->call, d, &im, err);
        return rc ? rc : collection_add(c, im, err);
    }
    c->in_folder = files->is_folder(d->name);
    return files->walk(d->name, collect_one, c, err);
}

static void collection_release(struct collection *c)
{
    for (size_t i = 0; i < c->count; i++)
        hm__import_free(c->items[i]);
    hm__free(c->items);
}

int hm__load_foreign_runs(struct hm_call *call, const struct hm_document *d,
                          struct hm_runs **ret_runs, struct hm_err *err)
{
    struct collection c = {.call = call};
    int rc = collect_document(&c, d, err);

    if (rc == 0)
        rc = hm__import_runs(c.items, c.count, ret_runs, err);
    collection_release(&c);
    return rc;
}

int hm__load_foreign_traces(struct hm_call *call, const struct hm_documents *documents,
                            const struct hm_traces_settings *settings,
                            struct hm_traces **ret_traces, struct hm_err *err)
{
    struct collection c = {.call = call};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < documents->count; i++)
        rc = collect_document(&c, &documents->items[i], err);
    if (rc == 0)
        rc = hm__import_traces(c.items, c.count, settings, ret_traces, err);
    collection_release(&c);
    return rc;
}

/*
 * Adds default values to the tree of a job, for keys that the file lacks. The note lists the keys
 * that the user does not set either.
 */
static int add_usual(struct hm_call *call, struct hm_imported *im, const struct hm_spec *spec,
                     const char **ret_note, struct hm_err *err)
{
    struct hm_text note = {0};
    int rc = 0;

    for (size_t i = 0; i < im->usual_count; i++) {
        const struct hm_import_usual *usual = &im->usual[i];
        hm__text_addf(&im->document, "%s: %s\n", usual->key, usual->value);
        if (!hm__spec_sets(spec, usual->key))
            hm__text_addf(&note, "%s%s %s", note.length ? ", " : "", usual->key, usual->value);
    }
    if (note.length > 0) {
        *ret_note = hm__arena_printf(call->arena, "assumed, because the file does not say it: %s",
                                     note.data);
        rc = *ret_note && !note.failed ? 0 : hm__fail_nomem(err);
    }
    hm__text_release(&note);
    return rc;
}

/*
 * Sets all line numbers of a tree to 0, because they refer to generated text that the user never
 * sees.
 */
static void forget_lines(struct hm_value *value)
{
    value->line = 0;
    for (size_t i = 0; i < value->count; i++)
        forget_lines(&value->items[i]);
}

/* Parses the YAML document that an import produced. Error messages name the imported file. */
static int take_tree(struct hm_call *call, const struct hm_imported *im, struct hm_spec *spec,
                     struct hm_err *err)
{
    const char *name = hm__arena_strdup(call->arena, im->name);
    int rc = name && !im->document.failed
                 ? hm__yaml_parse(call->arena, im->document.data, im->document.length, name,
                                  &spec->tree, err)
                 : hm__fail_nomem(err);

    if (rc == 0) {
        forget_lines(spec->tree);
        spec->source = name;
    }
    return rc;
}

/* Returns whether an import contains a network or a job. */
static bool has_job(const struct hm_imported *im)
{
    return im->document.length > 0 && strcmp(im->document_kind, "cluster") != 0;
}

bool hm__is_import_folder(struct hm_call *call, const struct hm_document *d)
{
    return !d->text && !d->tree && d->name && call->context->files &&
           call->context->files->is_folder(d->name);
}

/* Returns whether the document of an import has a key at its top level. */
static bool document_has(const struct hm_imported *im, const char *key)
{
    size_t length = strlen(key);

    for (const char *p = im->document.data; p; p = strchr(p, '\n')) {
        p += *p == '\n';
        if (strncmp(p, key, length) == 0 && p[length] == ':')
            return true;
    }
    return false;
}

/*
 * Adds the network in another file to the job in a launcher's configuration. Keys that the
 * configuration contains do not receive default values.
 */
static void join_launch(struct hm_imported *network, const struct hm_imported *launch)
{
    size_t kept = 0;

    for (size_t i = 0; i < network->usual_count; i++)
        if (!document_has(launch, network->usual[i].key))
            network->usual[kept++] = network->usual[i];
    network->usual_count = kept;
    hm__text_add(&network->document, launch->document.data);
    network->document_kind = "job";
}

/*
 * Finds the network and the launcher's configuration among the files in a folder, and joins them.
 * Returns false unless there is exactly one of each.
 */
static bool join_folder(struct hm_imported *const *items, size_t count, size_t *ret_network,
                        size_t *ret_launch)
{
    size_t networks = 0, launches = 0, jobs = 0;

    for (size_t i = 0; i < count; i++) {
        if (!has_job(items[i]))
            continue;
        jobs++;
        if (items[i]->needs_network) {
            *ret_launch = i;
            launches++;
        } else if (strcmp(items[i]->document_kind, "network") == 0) {
            *ret_network = i;
            networks++;
        }
    }
    if (jobs != 2 || networks != 1 || launches != 1)
        return false;
    join_launch(items[*ret_network], items[*ret_launch]);
    return true;
}

/*
 * Imports the files in a folder. If there is exactly one network and exactly one launcher's
 * configuration, they are joined. Otherwise, the first file (by name) that contains a network or a
 * job is used.
 */
static int import_folder_job(struct hm_call *call, const struct hm_document *d,
                             struct hm_imported **ret_import, const char **ret_note,
                             struct hm_err *err)
{
    struct collection c = {.call = call};
    size_t jobs = 0, first = 0, launch = 0;
    int rc = collect_document(&c, d, err);
    bool joined = rc == 0 && join_folder(c.items, c.count, &first, &launch);

    if (joined) {
        jobs = 1;
        *ret_note =
            hm__arena_printf(call->arena, "the network is that of %s, the layout that of %s",
                             c.items[first]->name, c.items[launch]->name);
        rc = *ret_note ? 0 : hm__fail_nomem(err);
    }
    for (size_t i = c.count; rc == 0 && !joined && i-- > 0;)
        if (has_job(c.items[i])) {
            first = i;
            jobs++;
        }
    if (rc == 0 && jobs == 0) {
        rc = hm__fail(err, HM_E_TYPE, "no file of the folder gives a network or a job");
        hm__err_hint(err, "give runs with the field `runs`");
        hm__err_at(err, d->name, 0);
    }
    if (rc == 0 && jobs > 1) {
        *ret_note = hm__arena_printf(call->arena,
                                     "the job is that of %s, the first of %zu in the "
                                     "folder",
                                     c.items[first]->name, jobs);
        rc = *ret_note ? 0 : hm__fail_nomem(err);
    }
    if (rc == 0) {
        *ret_import = c.items[first];
        c.items[first] = NULL;
    }
    collection_release(&c);
    return rc;
}

int hm__load_foreign_job(struct hm_call *call, const struct hm_document *d, struct hm_spec *spec,
                         const char **ret_note, struct hm_err *err)
{
    struct hm_imported *im = NULL;
    const char *which = NULL;
    int rc = hm__is_foreign(call, d) ? import_from(call, d, &im, err)
                                     : import_folder_job(call, d, &im, &which, err);

    if (rc == 0 && !has_job(im)) {
        hm__fail(err, HM_E_TYPE, "%s gives no network and no job", im->importer->title);
        hm__err_hint(err, "it becomes %s", im->importer->becomes);
        hm__err_at(err, d->name, 0);
        rc = HM_E_TYPE;
    }
    if (rc == 0)
        rc = add_usual(call, im, spec, ret_note, err);
    if (rc == 0)
        rc = take_tree(call, im, spec, err);
    if (rc == 0 && im->needs_network)
        rc = hm__complete_launch(call, im->importer->title, spec, ret_note, err);
    if (rc == 0 && which) {
        *ret_note = *ret_note ? hm__arena_printf(call->arena, "%s; %s", which, *ret_note) : which;
        rc = *ret_note ? 0 : hm__fail_nomem(err);
    }
    hm__import_free(im);
    return rc;
}

int hm__load_foreign_cluster(struct hm_call *call, const struct hm_document *d,
                             struct hm_spec *spec, struct hm_err *err)
{
    struct hm_imported *im = NULL;
    int rc = import_from(call, d, &im, err);

    if (rc == 0 && (im->document.length == 0 || strcmp(im->document_kind, "cluster") != 0)) {
        hm__fail(err, HM_E_TYPE, "%s gives no cluster", im->importer->title);
        hm__err_hint(err, "it becomes %s", im->importer->becomes);
        hm__err_at(err, d->name, 0);
        rc = HM_E_TYPE;
    }
    if (rc == 0)
        rc = take_tree(call, im, spec, err);
    hm__import_free(im);
    return rc;
}
