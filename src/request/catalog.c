/*
 * Implements the verbs `catalog list`, `catalog show` and `catalog import`. The catalog contains
 * machines, fabrics and neural networks.
 */
#include <string.h>

#include "catalog_render.h"
#include "err.h"
#include "files.h"
#include "large.h"
#include "readers.h"
#include "render.h"
#include "verbs.h"

static const char kinds[] = "machines fabrics networks accelerators";

/* ---- one entry ---------------------------------------------------------------------------------
 */

/*
 * Counts the parameters and operations of a neural network in the catalog. *ret_counts is NULL if
 * the catalog does not specify the input shape, in which case a job must specify it.
 */
static int count_network(const struct hm_catalog *catalog, const char *name,
                         struct hm_job **ret_job, struct hm_counts **ret_counts, struct hm_err *err)
{
    const char *keys[] = {"network", "batch"};
    struct hm_value values[] = {{.kind = HM_VALUE_SCALAR, .source = "catalog", .text = name},
                                {.kind = HM_VALUE_SCALAR, .source = "catalog", .text = "1"}};
    struct hm_value tree = {
        .kind = HM_VALUE_MAP, .source = "catalog", .items = values, .keys = keys, .count = 2};
    const struct hm_spec spec = {.source = "catalog", .tree = &tree, .closed = true};
    struct hm_err why = {0};
    int rc = hm__job_read(catalog, &spec, ret_job, &why);

    if (rc == 0)
        rc = hm_counts_new((*ret_job)->network, "catalog", ret_counts, &why);
    if (rc == HM_E_MISSING)
        return 0;
    if (rc && err)
        *err = why;
    return rc;
}

/* Writes a transformer as JSON, as one line, or, if `whole` is true, with all of its sizes. */
static void put_transformer(const struct hm_catalog *catalog, const char *name,
                            const struct hm_transformer *network, struct hm_json *json,
                            struct hm_text *out, bool whole)
{
    const struct hm_transformer_size size = {network, hm__large_parameters(network),
                                             hm__large_active(network)};

    if (json)
        hm__render_transformer_json(json, &size);
    else if (whole)
        hm__render_transformer(out, &size);
    else
        hm__render_transformer_line(out, name, &size,
                                    hm_catalog_text(catalog, HM_CATALOG_NETWORK, name, "title"));
}

static int put_network(const struct hm_catalog *catalog, const char *name, struct hm_json *json,
                       struct hm_text *out, bool layers, struct hm_err *err)
{
    struct hm_counts *counts = NULL;
    struct hm_job *job = NULL;
    struct hm_transformer transformer;
    int rc = hm_catalog_transformer(catalog, name, &transformer, NULL);

    if (rc == 0) {
        put_transformer(catalog, name, &transformer, json, out, layers);
        return 0;
    }
    rc = rc == HM_E_NOMEM ? hm__fail_nomem(err) : count_network(catalog, name, &job, &counts, err);

    if (rc == 0 && json)
        hm__render_network_json(json, counts);
    else if (rc == 0 && layers && counts)
        hm__render_layers(out, counts, 4);
    else if (rc == 0)
        hm__render_network_line(out, name, counts,
                                hm_catalog_text(catalog, HM_CATALOG_NETWORK, name, "title"));
    hm_counts_free(counts);
    hm_job_free(job);
    return rc;
}

static int put_fabric(const struct hm_catalog *catalog, const char *name, struct hm_json *json,
                      struct hm_text *out, struct hm_err *err)
{
    struct hm_link link;
    int rc = hm_catalog_fabric(catalog, name, &link, err);

    if (rc == 0 && json)
        hm__render_fabric_json(json, &link);
    else if (rc == 0)
        hm__render_fabric_line(out, name, &link,
                               hm_catalog_text(catalog, HM_CATALOG_FABRIC, name, "title"));
    return rc;
}

/*
 * Writes a machine as JSON if `json` is not NULL, otherwise as text: on one line or, if `whole` is
 * true, with one line for each property.
 */
static int put_machine(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                       const char *name, struct hm_json *json, struct hm_text *out, bool whole,
                       struct hm_err *err)
{
    struct hm_cluster *cluster = NULL;
    int rc = hm_catalog_machine(catalog, name, &cluster, err);

    if (rc == 0 && json)
        hm__render_machine_json(json, cluster);
    else if (rc == 0 && whole)
        hm__render_machine(out, cluster);
    else if (rc == 0)
        hm__render_machine_line(out, name, cluster, hm_catalog_text(catalog, kind, name, "title"));
    hm_cluster_free(cluster);
    return rc;
}

/* Writes an entry in the catalog as JSON if `json` is not NULL, otherwise as text. */
static int put_entry(const struct hm_catalog *catalog, enum hm_catalog_kind kind, const char *name,
                     struct hm_json *json, struct hm_text *out, bool whole, struct hm_err *err)
{
    static const char *const texts[] = {"title", "source", "date"};
    int rc;

    if (json) {
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "name", name);
    }
    for (size_t i = 0; (json || whole) && i < 3; i++) {
        const char *text = hm_catalog_text(catalog, kind, name, texts[i]);
        if (json)
            hm__json_put_text(json, texts[i], text);
        else if (text)
            hm__text_addf(out, "%-16s %s\n", texts[i], text);
    }
    if (kind == HM_CATALOG_FABRIC)
        rc = put_fabric(catalog, name, json, out, err);
    else if (kind == HM_CATALOG_NETWORK)
        rc = put_network(catalog, name, json, out, whole, err);
    else
        rc = put_machine(catalog, kind, name, json, out, whole, err);
    if (json)
        hm__json_close(json);
    return rc;
}

/* ---- list --------------------------------------------------------------------------------------
 */

struct hm_catalog_list_request {
    int kind;
    bool names, json;
};

static const struct hm_request_field list_fields[] = {
    {.name = "kind",
     .kind = HM_REQUEST_CHOICE,
     .offset = offsetof(struct hm_catalog_list_request, kind),
     .group = "catalog",
     .argument = "KIND",
     .choices = kinds,
     .help = "only entries of this kind"},
    {.name = "names",
     .kind = HM_REQUEST_FLAG,
     .offset = offsetof(struct hm_catalog_list_request, names),
     .flags = HM_REQUEST_SCREEN,
     .group = "output",
     .help = "list: names only, one per line"},
    HM_ROW_JSON(struct hm_catalog_list_request, json),
};

static int list_kind(const struct hm_catalog *catalog, enum hm_catalog_kind kind, bool names,
                     struct hm_json *json, struct hm_text *out, struct hm_err *err)
{
    size_t count = hm_catalog_count(catalog, kind);
    char key[32];
    int rc = 0;

    hm__choice_name(kinds, kind, key, sizeof(key));
    if (json)
        hm__json_open(json, key, HM_JSON_LIST | HM_JSON_LINES);
    else if (!names)
        hm__text_add(out, hm__catalog_heading(kind));
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const char *name = hm_catalog_name(catalog, kind, i);
        if (names)
            hm__text_addf(out, "%s\n", name);
        else
            rc = put_entry(catalog, kind, name, json, out, false, err);
    }
    if (json)
        hm__json_close(json);
    return rc;
}

static int list_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_catalog_list_request *r = values;
    const struct hm_catalog *catalog;
    struct hm_json writer = {.out = &call->out}, *json = r->json ? &writer : NULL;
    bool first = true;
    int rc = hm__call_catalog(call, &catalog, err);

    if (rc == 0 && r->json && r->names)
        rc = hm__request_fail(err, "names", HM_E_CONFLICT, "json and names exclude each other");
    if (rc == 0 && json)
        hm__json_open(json, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    for (int k = 0; rc == 0 && k < HM_CATALOG_KINDS; k++) {
        if (r->kind >= 0 && k != r->kind)
            continue;
        if (!first && !json && !r->names)
            hm__text_add(&call->out, "\n");
        rc = list_kind(catalog, (enum hm_catalog_kind)k, r->names, json, &call->out, err);
        first = false;
    }
    if (rc == 0 && json) {
        hm__json_close(json);
        hm__text_add(&call->out, "\n");
        call->type = "application/json";
    }
    return rc == 0 && call->out.failed ? hm__fail_nomem(err) : rc;
}

const struct hm_verb hm__verb_catalog_list = {
    .name = "catalog list",
    .summary = "list the machines, networks and neural networks that are known by name",
    HM_VERB_FIELDS(list_fields),
    .size = sizeof(struct hm_catalog_list_request),
    .operand = "kind",
    .answer = "catalog",
    .run = list_run,
};

/* ---- show --------------------------------------------------------------------------------------
 */

struct hm_catalog_show_request {
    const char *name;
    int kind;
    bool json;
};

static const struct hm_request_field show_fields[] = {
    HM_ROW_TEXT(struct hm_catalog_show_request, name, "name", 0, "catalog", "NAME",
                "name of the entry"),
    {.name = "kind",
     .kind = HM_REQUEST_CHOICE,
     .offset = offsetof(struct hm_catalog_show_request, kind),
     .group = "catalog",
     .argument = "KIND",
     .choices = kinds,
     .help = "show: look only among entries of this kind"},
    HM_ROW_JSON(struct hm_catalog_show_request, json),
};

static int find_entry(const struct hm_catalog *catalog, const struct hm_catalog_show_request *r,
                      enum hm_catalog_kind *ret_kind, struct hm_err *err)
{
    int best = HM_CATALOG_MACHINE;

    for (int k = 0; k < HM_CATALOG_KINDS; k++)
        if ((r->kind < 0 || r->kind == k) &&
            hm__catalog_find(catalog, (enum hm_catalog_kind)k, r->name)) {
            *ret_kind = (enum hm_catalog_kind)k;
            return 0;
        }
    /*
     * No entry was found. If the catalog does have an entry with this name, parsing it failed
     * because memory ran out.
     */
    for (int k = HM_CATALOG_KINDS - 1; k >= 0; k--) {
        if (r->kind >= 0 && r->kind != k)
            continue;
        if (hm__catalog_unknown(catalog, (enum hm_catalog_kind)k, r->name, NULL) == HM_E_NOMEM)
            return hm__fail_nomem(err);
        if (hm__catalog_has_similar(catalog, (enum hm_catalog_kind)k, r->name))
            best = k;
    }
    /* Sets an error that says that there is no such entry, and suggests a similar name, preferably
     * of a kind that contains one. */
    if (r->kind < 0)
        return hm__catalog_unknown(catalog, (enum hm_catalog_kind)best, r->name, err);
    char kind[32] = "";
    hm__choice_name(kinds, (size_t)r->kind, kind, sizeof(kind));
    return hm__request_fail(err, "name", HM_E_NAME, "there is no '%.80s' among the %s", r->name,
                            kind);
}

static int show_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_catalog_show_request *r = values;
    struct hm_json writer = {.out = &call->out}, *json = r->json ? &writer : NULL;
    const struct hm_catalog *catalog;
    enum hm_catalog_kind kind = HM_CATALOG_MACHINE;

    if (!r->name) {
        hm__request_fail(err, "name", HM_E_MISSING, "no entry is named");
        hm__err_hint(err, "`howmany catalog list` shows all");
        return HM_E_MISSING;
    }
    int rc = hm__call_catalog(call, &catalog, err);
    if (rc == 0)
        rc = find_entry(catalog, r, &kind, err);
    if (rc == 0)
        rc = put_entry(catalog, kind, r->name, json, &call->out, true, err);
    if (rc == 0 && json) {
        hm__text_add(&call->out, "\n");
        call->type = "application/json";
    }
    return rc == 0 && call->out.failed ? hm__fail_nomem(err) : rc;
}

const struct hm_verb hm__verb_catalog_show = {
    .name = "catalog show",
    .summary = "show one entry with its source and date, a network layer by layer",
    HM_VERB_FIELDS(show_fields),
    .size = sizeof(struct hm_catalog_show_request),
    .operand = "name",
    .answer = "catalog_entry",
    .run = show_run,
};

/* ---- import ------------------------------------------------------------------------------------
 */

struct hm_catalog_import_request {
    const char *file, *region, *output;
    bool spot;
};

static const struct hm_request_field import_fields[] = {
    {.name = "file",
     .kind = HM_REQUEST_TEXT,
     .offset = offsetof(struct hm_catalog_import_request, file),
     .flags = HM_REQUEST_LOCAL,
     .group = "catalog",
     .argument = "FILE",
     .choices = "@file",
     .help = "import: a SkyPilot vms.csv"},
    HM_ROW_TEXT(struct hm_catalog_import_request, region, "region", 0, "catalog", "NAME",
                "import: prices of that region (default: the cheapest)"),
    HM_ROW_FLAG(struct hm_catalog_import_request, spot, "spot", 0, "catalog",
                "import: spot prices instead of on-demand"),
    {.name = "output",
     .kind = HM_REQUEST_OUTPUT,
     .offset = offsetof(struct hm_catalog_import_request, output),
     .letter = 'o',
     .group = "output",
     .argument = "FILE",
     .choices = "@file",
     .help = "import: write there instead of into your own catalog; - is standard output"},
};

static int import_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_catalog_import_request *r = values;
    struct hm_catalog *built_in;
    struct hm_import report = {0};

    if (!r->file || !r->output || !call->context->files) {
        hm__request_fail(err, r->file ? "output" : "file", HM_E_MISSING, "no file is named");
        hm__err_hint(err, "give a SkyPilot vms.csv");
        return HM_E_MISSING;
    }
    /* The hardware data come from the built-in catalog, so that earlier imports do not affect the
     * result. */
    int rc = hm_catalog_new(&built_in, err);
    if (rc)
        return rc;
    rc = call->context->files->prices(built_in, r->file, r->region, r->spot, &report, err);
    /* The new catalog file is parsed before it is written, so that no invalid file is written. */
    if (rc == 0)
        rc = hm_catalog_add(built_in, report.text, strlen(report.text), "import", err);
    if (rc == 0)
        rc = hm__call_file(call, r->output, NULL, report.text, err);
    if (rc == 0 && strcmp(r->output, "-") != 0)
        hm__text_addf(
            &call->out,
            "%zu rows, %zu machines into %s%s: %zu with hardware from the catalog, %zu "
            "with a known accelerator, %zu with usual cores (assumed), %zu without a price\n",
            report.rows, report.machines, r->output,
            call->context->files->exists(r->output) ? " (replaced)" : "", report.known,
            report.accelerated, report.cores, report.unpriced);
    hm_text_free(report.text);
    hm_catalog_free(built_in);
    return rc == 0 && call->out.failed ? hm__fail_nomem(err) : rc;
}

const struct hm_verb hm__verb_catalog_import = {
    .name = "catalog import",
    .summary = "add the machines and prices of a SkyPilot price list to your own catalog",
    HM_VERB_FIELDS(import_fields),
    .size = sizeof(struct hm_catalog_import_request),
    .operand = "file",
    .run = import_run,
};
