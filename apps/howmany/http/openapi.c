/*
 * The description of the server, OpenAPI 3.1: made of the tables that the program itself goes by,
 * those of the routes, of the options of commands, and of the keys of jobs and clusters.
 */
#include <math.h>
#include <string.h>

#include "api.h"
#include "format.h"
#include "readers.h"
#include "stored.h"

static void named(struct hm_text *out, const char *key, const char *text)
{
    if (text)
        hm__json_named(out, key, text);
}

/* ---- keys of jobs and clusters ----------------------------------------------------------------
 */

static void field_type(struct hm_text *out, const struct hm_field *f)
{
    switch (f->kind) {
    case HM_FIELD_QUANTITY:
        hm__text_add(out, hm__dim_plain(f->dim) ? "\"type\":[\"number\",\"string\"]"
                                                : "\"type\":[\"string\",\"number\"]");
        if (!hm__dim_plain(f->dim))
            hm__json_named(out, "format", hm__dim_example(f->dim));
        break;
    case HM_FIELD_REAL:
        hm__text_add(out, "\"type\":\"number\"");
        break;
    case HM_FIELD_BOOL:
        hm__text_add(out, "\"type\":\"boolean\"");
        break;
    case HM_FIELD_TEXT:
        hm__text_add(out, "\"type\":\"string\"");
        break;
    case HM_FIELD_CHOICE:
        hm__text_add(out, "\"type\":\"string\",\"enum\":[");
        for (size_t i = 0; f->choices[i]; i++) {
            hm__text_add(out, i ? "," : "");
            hm__json_text(out, f->choices[i]);
        }
        hm__text_add(out, "]");
        break;
    case HM_FIELD_OTHER:
        hm__text_add(out, "\"type\":[\"string\",\"number\",\"object\",\"array\"]");
        break;
    }
}

static void field_range(struct hm_text *out, const struct hm_field *f)
{
    if (f->kind != HM_FIELD_QUANTITY || !hm__dim_plain(f->dim))
        return;
    hm__json_field(out, f->above ? "exclusiveMinimum" : "minimum", f->min);
    if (f->max > 0)
        hm__json_field(out, "maximum", f->max);
    if (f->whole)
        hm__text_add(out, ",\"multipleOf\":1");
}

static void fields_schema(struct hm_text *out, const char *name, const struct hm_field *fields,
                          size_t count)
{
    bool first = true;

    hm__text_add(out, "\"");
    hm__text_add(out, name);
    hm__text_add(out, "\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{");
    for (size_t i = 0; i < count; i++) {
        hm__text_add(out, i ? ",\n  " : "\n  ");
        hm__json_text(out, fields[i].name);
        hm__text_add(out, ":{");
        field_type(out, &fields[i]);
        field_range(out, &fields[i]);
        named(out, "description", fields[i].doc);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "}");
    for (size_t i = 0; i < count; i++)
        if (fields[i].required) {
            hm__text_add(out, first ? ",\"required\":[" : ",");
            hm__json_text(out, fields[i].name);
            first = false;
        }
    hm__text_add(out, first ? "}" : "]}");
}

/* ---- options of commands ----------------------------------------------------------------------
 */

static void document_schema(struct hm_text *out, const char *name)
{
    if (strcmp(name, "job") == 0)
        hm__text_add(out, "\"anyOf\":[{\"$ref\":\"#/components/schemas/job\"},"
                          "{\"type\":\"string\",\"description\":\"a job as YAML\"}]");
    else
        hm__text_add(out, "\"anyOf\":[{\"type\":\"string\",\"description\":\"CSV or JSON lines\"},"
                          "{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
                          "{\"type\":\"object\"}]");
}

/* What an option takes, without its name. */
static void option_type(struct hm_text *out, const struct api_command *how,
                        const struct cli_option *o)
{
    if (api_is_document(how, o->name))
        document_schema(out, o->name);
    else if (!o->argument)
        hm__text_add(out, "\"type\":\"boolean\"");
    else if (strstr(o->argument, "FIT"))
        hm__text_add(out, "\"type\":[\"string\",\"number\",\"object\"]");
    else if (strchr(o->argument, '=') || strcmp(o->argument, "PLACE") == 0)
        hm__text_add(out, "\"type\":[\"string\",\"number\",\"object\",\"array\"]");
    else if (strstr(o->argument, "LIST") || strstr(o->argument, "[,"))
        hm__text_add(out, "\"type\":[\"string\",\"number\",\"array\"]");
    else if (strcmp(o->argument, "MACHINE") == 0)
        hm__text_add(out, "\"type\":[\"string\",\"object\"]");
    else
        hm__text_add(out, "\"type\":[\"string\",\"number\"]");
    if (o->argument)
        hm__json_named(out, "x-argument", o->argument);
    if (o->values && o->values[0] != '@')
        hm__json_named(out, "x-values", o->values);
}

/* Words of the table for completion are choices, unless values can be written otherwise too. */
static void option_schema(struct hm_text *out, const struct api_command *how,
                          const struct cli_option *o)
{
    hm__json_text(out, o->name);
    hm__text_add(out, ":{");
    option_type(out, how, o);
    hm__json_named(out, "description", o->help);
    hm__text_add(out, "}");
}

/* A run as it is sent: whatever else it has is kept too. */
static void run_schema(struct hm_text *out)
{
    hm__text_add(out, "\"run\":{\"type\":\"object\",\"required\":[\"n\"],\"properties\":{");
    for (size_t i = 1; i + 1 < HM_STORE_COLUMNS; i++) { /* neither id nor `more` */
        const struct hm_store_column *c = &hm__store_columns[i];
        hm__text_add(out, i > 1 ? ",\n  " : "\n  ");
        hm__json_text(out, c->name);
        hm__text_add(out, c->kind == HM_STORE_TEXT ? ":{\"type\":\"string\""
                                                   : ":{\"type\":[\"number\",\"string\"]");
        if (c->kind == HM_STORE_NUMBER && isfinite(c->min))
            hm__json_field(out, c->above ? "exclusiveMinimum" : "minimum", c->min);
        if (c->whole)
            hm__text_add(out, ",\"multipleOf\":1");
        hm__text_add(out, "}");
    }
    hm__text_add(out, "},\"additionalProperties\":{\"type\":[\"number\",\"string\"]}}");
}

static void command_schema(struct hm_text *out, const struct api_command *how)
{
    const struct cli_command *c = how->command;

    hm__json_text(out, c->name);
    hm__text_add(out, ":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\n  ");
    hm__json_text(out, how->operand);
    hm__text_add(out, ":{");
    document_schema(out, how->operand);
    hm__text_add(out, "}");
    for (size_t i = 0; i < c->option_count; i++) {
        if (api_is_refused(how, &c->options[i]))
            continue;
        hm__text_add(out, ",\n  ");
        option_schema(out, how, &c->options[i]);
    }
    hm__text_add(out, "}}");
}

/* ---- paths ------------------------------------------------------------------------------------
 */

static void put_body(struct hm_text *out, const struct api_command *how)
{
    const char *bare =
        !how->bare ? ""
        : strcmp(how->operand, "job") == 0
            ? "{\"$ref\":\"#/components/schemas/job\"},"
            : "{\"$ref\":\"#/components/schemas/run\"},{\"type\":\"array\",\"items\":"
              "{\"$ref\":\"#/components/schemas/run\"}},";

    hm__text_add(out, ",\"requestBody\":{\"required\":true,\"content\":{");
    for (int k = 0; k < 2; k++) {
        hm__text_add(out, k ? ",\"application/yaml\":" : "\"application/json\":");
        hm__text_add(out, "{\"schema\":{\"anyOf\":[");
        hm__text_add(out, bare);
        hm__text_add(out, "{\"$ref\":\"#/components/schemas/");
        hm__text_add(out, how->command->name);
        hm__text_add(out, "\"}]}}");
    }
    if (how->table)
        hm__text_add(out, ",\"text/csv\":{\"schema\":{\"type\":\"string\"}},"
                          "\"application/x-ndjson\":{\"schema\":{\"type\":\"string\"}}");
    hm__text_add(out, "}}");
}

/* {kind} and {name}; options of a command that is read. */
static void put_parameters(struct hm_text *out, const struct api_route *r)
{
    const struct cli_command *command = r->kind == API_COMMAND ? r->how.command : NULL;
    const char *at = r->path;
    bool first = true;

    hm__text_add(out, ",\"parameters\":[");
    while ((at = strchr(at, '{'))) {
        size_t length = strcspn(at, "}") - 1;
        hm__text_add(out, first ? "" : ",");
        first = false;
        hm__text_addf(out,
                      "{\"name\":\"%.*s\",\"in\":\"path\",\"required\":true,"
                      "\"schema\":{\"type\":\"string\"}}",
                      (int)length, at + 1);
        at += length;
    }
    for (size_t i = 0; command && i < command->option_count; i++) {
        const struct cli_option *o = &command->options[i];
        if (api_is_refused(&r->how, o) || strcmp(o->name, "json") == 0)
            continue;
        hm__text_add(out, first ? "{\"name\":" : ",\n  {\"name\":");
        first = false;
        hm__json_text(out, o->name);
        hm__text_add(out, ",\"in\":\"query\"");
        hm__json_named(out, "description", o->help);
        hm__text_add(out, ",\"schema\":{");
        option_type(out, &r->how, o);
        hm__text_add(out, "}}");
    }
    hm__text_add(out, "]");
}

static void put_key_header(struct hm_text *out)
{
    hm__text_add(out, ",\"parameters\":[{\"name\":\"Idempotency-Key\",\"in\":\"header\","
                      "\"description\":\"what was sent with this key before is not added again\","
                      "\"schema\":{\"type\":\"string\",\"maxLength\":180}}]");
}

static void put_route(struct hm_text *out, const struct api_route *r)
{
    bool text = r->kind == API_HEALTH || r->kind == API_READY || r->kind == API_METRICS;
    bool post = strcmp(r->method, "POST") == 0;

    hm__text_addf(out, "\"%s\":{\"operationId\":\"%s_", post ? "post" : "get",
                  post ? "post" : "get");
    for (const char *at = r->path + 1; *at; at++)
        if (!strchr("{}", *at))
            hm__text_add_n(out, strchr("/.", *at) ? "_" : at, 1);
    hm__text_add(out, "\"");
    hm__json_named(out, "summary", r->summary);
    if (!post && (strchr(r->path, '{') || r->kind == API_COMMAND))
        put_parameters(out, r);
    if (post && r->scope == TOKEN_WRITE)
        put_key_header(out);
    if (post)
        put_body(out, &r->how);
    if (r->scope == 0)
        hm__text_add(out, ",\"security\":[]");
    hm__text_addf(
        out,
        ",\"responses\":{\"200\":{\"description\":\"the answer\",\"content\":{\"%s\":{}}},"
        "\"default\":{\"$ref\":\"#/components/responses/problem\"}}}",
        text ? "text/plain" : "application/json");
}

static void put_problem(struct hm_text *out)
{
    hm__text_add(out,
                 "\"problem\":{\"type\":\"object\",\"required\":[\"type\",\"title\",\"status\"],"
                 "\"properties\":{\"type\":{\"type\":\"string\"},\"title\":{\"type\":\"string\"},"
                 "\"status\":{\"type\":\"integer\"},\"detail\":{\"type\":\"string\"},"
                 "\"field\":{\"type\":\"string\"},\"hint\":{\"type\":\"string\"},"
                 "\"source\":{\"type\":\"string\"},\"line\":{\"type\":\"integer\"}}}");
}

/* Routes of one path stand together. */
static void put_paths(struct hm_text *out, const struct api_route *routes, size_t count)
{
    const char *path = "";

    for (size_t i = 0; i < count && routes[i].kind != API_PAGE; i++) { /* pages are for people */
        bool same = strcmp(routes[i].path, path) == 0;
        if (!same) {
            hm__text_add(out, i ? "},\n" : "\n");
            hm__json_text(out, routes[i].path);
        }
        hm__text_add(out, same ? "," : ":{");
        put_route(out, &routes[i]);
        path = routes[i].path;
    }
    hm__text_add(out, "}");
}

void api_openapi(struct hm_text *out)
{
    size_t count, fields;
    const struct api_route *routes = api_routes(&count);

    hm__text_add(out, "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"howmany\"");
    hm__json_named(out, "version", hm_version());
    hm__json_named(out, "description", "How many machines, how long, how much, and why.");
    hm__text_add(out, "},\n\"security\":[{\"token\":[]}],\n\"paths\":{");
    put_paths(out, routes, count);
    hm__text_add(out, "},\n\"components\":{\"securitySchemes\":{\"token\":{\"type\":\"http\","
                      "\"scheme\":\"bearer\"}},\n\"responses\":{\"problem\":{\"description\":"
                      "\"what went wrong\",\"content\":{\"application/problem+json\":{\"schema\":"
                      "{\"$ref\":\"#/components/schemas/problem\"}}}}},\n\"schemas\":{\n");
    for (size_t i = 0; i < count; i++)
        if (routes[i].kind == API_COMMAND && strcmp(routes[i].method, "POST") == 0) {
            command_schema(out, &routes[i].how);
            hm__text_add(out, ",\n");
        }
    const struct hm_field *job = hm__job_fields(&fields);
    fields_schema(out, "job", job, fields);
    hm__text_add(out, ",\n");
    const struct hm_field *cluster = hm__cluster_fields(&fields);
    fields_schema(out, "cluster", cluster, fields);
    hm__text_add(out, ",\n");
    run_schema(out);
    hm__text_add(out, ",\n");
    const struct hm_field *stragglers = hm__straggler_fields(&fields);
    fields_schema(out, "stragglers", stragglers, fields);
    hm__text_add(out, ",\n");
    put_problem(out);
    hm__text_add(out, "}}}\n");
}
