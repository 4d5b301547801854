/*
 * Writes the OpenAPI 3.1 description of the server. It is generated from the tables that the
 * program itself uses: routes, fields of requests, members of answers, keys of jobs and clusters,
 * columns of runs.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "readers.h"
#include "schemas.h"
#include "stored.h"

/*
 * Writes the name of the schema for the request of a verb: "runs import" becomes
 * "runs_import_request".
 */
static void request_name(const struct hm_verb *verb, char *text, size_t room)
{
    snprintf(text, room, "%s_request", verb->name);
    for (char *at = text; *at; at++)
        *at = *at == ' ' ? '_' : *at;
}

static void put_ref(struct hm_json *json, const char *name)
{
    char path[96];

    snprintf(path, sizeof(path), "#/components/schemas/%s", name);
    hm__json_put_text(json, "$ref", path);
}

/* ---- keys of jobs and clusters -----------------------------------------------------------------
 */

static void put_types(struct hm_json *json, const char *first, const char *second)
{
    hm__json_open(json, "type", HM_JSON_LIST);
    hm__json_put_text(json, NULL, first);
    hm__json_put_text(json, NULL, second);
    hm__json_close(json);
}

static void put_key_type(struct hm_json *json, const struct hm_field *f)
{
    bool plain = hm__dim_plain(f->dim);

    switch (f->kind) {
    case HM_FIELD_QUANTITY:
        put_types(json, plain ? "number" : "string", plain ? "string" : "number");
        if (!plain)
            hm__json_put_text(json, "x-example", hm__dim_example(f->dim));
        if (plain)
            hm__json_put_number(json, f->above ? "exclusiveMinimum" : "minimum", f->min);
        if (plain && f->max > 0)
            hm__json_put_number(json, "maximum", f->max);
        if (plain && f->whole)
            hm__json_put_number(json, "multipleOf", 1);
        break;
    case HM_FIELD_REAL:
        hm__json_put_text(json, "type", "number");
        break;
    case HM_FIELD_BOOL:
        hm__json_put_text(json, "type", "boolean");
        break;
    case HM_FIELD_TEXT:
        hm__json_put_text(json, "type", "string");
        break;
    case HM_FIELD_CHOICE:
        hm__json_put_text(json, "type", "string");
        hm__json_open(json, "enum", HM_JSON_LIST);
        for (size_t i = 0; f->choices[i]; i++)
            hm__json_put_text(json, NULL, f->choices[i]);
        hm__json_close(json);
        break;
    case HM_FIELD_OTHER: /* The value may be a string, a number, an object or a list
                            (docs/reference/job.md). */
        break;
    }
}

static void put_keys(struct hm_json *json, const char *name, const struct hm_field *fields,
                     size_t count)
{
    hm__json_open(json, name, HM_JSON_OBJECT);
    hm__json_put_text(json, "type", "object");
    hm__json_put_bool(json, "additionalProperties", false);
    hm__json_open(json, "properties", HM_JSON_OBJECT | HM_JSON_LINES);
    for (size_t i = 0; i < count; i++) {
        hm__json_open(json, fields[i].name, HM_JSON_OBJECT);
        put_key_type(json, &fields[i]);
        if (fields[i].doc)
            hm__json_put_text(json, "description", fields[i].doc);
        hm__json_close(json);
    }
    hm__json_close(json);
    hm__json_open(json, "required", HM_JSON_LIST);
    for (size_t i = 0; i < count; i++)
        if (fields[i].required)
            hm__json_put_text(json, NULL, fields[i].name);
    hm__json_close(json);
    hm__json_close(json);
}

/*
 * Writes the schema of a run that a client sends. The run may have additional columns, which are
 * also stored.
 */
static void put_sent_run(struct hm_json *json)
{
    hm__json_open(json, "sent_run", HM_JSON_OBJECT);
    hm__json_put_text(json, "type", "object");
    hm__json_open(json, "required", HM_JSON_LIST);
    hm__json_put_text(json, NULL, "n");
    hm__json_close(json);
    hm__json_open(json, "properties", HM_JSON_OBJECT | HM_JSON_LINES);
    /* The first and the last column (`id` and `more`) are omitted. */
    for (size_t i = 1; i + 1 < HM_STORE_COLUMNS; i++) {
        const struct hm_store_column *c = &hm__store_columns[i];
        hm__json_open(json, c->name, HM_JSON_OBJECT);
        if (c->kind == HM_STORE_TEXT)
            hm__json_put_text(json, "type", "string");
        else
            put_types(json, "number", "string");
        if (c->kind == HM_STORE_NUMBER && isfinite(c->min))
            hm__json_put_number(json, c->above ? "exclusiveMinimum" : "minimum", c->min);
        if (c->whole)
            hm__json_put_number(json, "multipleOf", 1);
        hm__json_close(json);
    }
    hm__json_close(json);
    hm__json_open(json, "additionalProperties", HM_JSON_OBJECT);
    put_types(json, "number", "string");
    hm__json_close(json);
    hm__json_close(json);
}

/* ---- requests ----------------------------------------------------------------------------------
 */

static void put_request(struct hm_json *json, const struct api_verb *how)
{
    char name[64];

    request_name(how->verb, name, sizeof(name));
    hm__json_open(json, name, HM_JSON_OBJECT);
    hm__json_put_text(json, "type", "object");
    hm__json_put_bool(json, "additionalProperties", false);
    hm__json_open(json, "properties", HM_JSON_OBJECT | HM_JSON_LINES);
    for (size_t i = 0; i < how->verb->field_count; i++) {
        const struct hm_request_field *f = &how->verb->fields[i];
        if (!api_takes_field(how, f))
            continue;
        hm__json_open(json, f->name, HM_JSON_OBJECT);
        hm__field_schema_json(json, f);
        hm__json_close(json);
    }
    hm__json_close(json);
    hm__json_close(json);
}

/*
 * Writes the schemas of a body that is not an object with the fields of the request: the body may
 * also be a job alone, one run, or a list of runs.
 */
static void put_bare(struct hm_json *json, const struct hm_verb *verb)
{
    bool job = strcmp(verb->operand, "job") == 0;

    hm__json_open(json, NULL, HM_JSON_OBJECT);
    put_ref(json, job ? "job" : "sent_run");
    hm__json_close(json);
    if (job)
        return;
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(json, "type", "array");
    hm__json_open(json, "items", HM_JSON_OBJECT);
    put_ref(json, "sent_run");
    hm__json_close(json);
    hm__json_close(json);
}

static void put_body(struct hm_json *json, const struct hm_verb *verb)
{
    static const char *const objects[] = {"application/json", "application/yaml"};
    static const char *const tables[] = {"text/csv", "application/x-ndjson"};
    char name[64];

    request_name(verb, name, sizeof(name));
    hm__json_open(json, "requestBody", HM_JSON_OBJECT);
    hm__json_put_bool(json, "required", true);
    hm__json_open(json, "content", HM_JSON_OBJECT);
    for (size_t k = 0; k < 2; k++) {
        hm__json_open(json, objects[k], HM_JSON_OBJECT);
        hm__json_open(json, "schema", HM_JSON_OBJECT);
        hm__json_open(json, "anyOf", HM_JSON_LIST);
        if (verb->bare)
            put_bare(json, verb);
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        put_ref(json, name);
        hm__json_close(json);
        hm__json_close(json);
        hm__json_close(json);
        hm__json_close(json);
    }
    for (size_t k = 0; verb->table && k < 2; k++) {
        hm__json_open(json, tables[k], HM_JSON_OBJECT);
        hm__json_open(json, "schema", HM_JSON_OBJECT);
        hm__json_put_text(json, "type", "string");
        hm__json_close(json);
        hm__json_close(json);
    }
    if (verb->any_body) {
        hm__json_open(json, "application/octet-stream", HM_JSON_OBJECT);
        hm__json_close(json);
    }
    hm__json_close(json);
    hm__json_close(json);
}

static void put_path_parameters(struct hm_json *json, const char *path)
{
    while ((path = strchr(path, '{'))) {
        char name[32];
        size_t length = strcspn(path, "}") - 1;
        snprintf(name, sizeof(name), "%.*s", (int)length, path + 1);
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "name", name);
        hm__json_put_text(json, "in", "path");
        hm__json_put_bool(json, "required", true);
        hm__json_open(json, "schema", HM_JSON_OBJECT);
        hm__json_put_text(json, "type", "string");
        hm__json_close(json);
        hm__json_close(json);
        path += length;
    }
}

static void put_query_parameters(struct hm_json *json, const struct api_route *r)
{
    for (size_t i = 0; i < r->how.verb->field_count; i++) {
        const struct hm_request_field *f = &r->how.verb->fields[i];
        char piece[40];
        snprintf(piece, sizeof(piece), "{%s}", f->name);
        if (!api_takes_field(&r->how, f) || strcmp(f->name, "json") == 0 || strstr(r->path, piece))
            continue;
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "name", f->name);
        hm__json_put_text(json, "in", "query");
        hm__json_open(json, "schema", HM_JSON_OBJECT);
        hm__field_schema_json(json, f);
        hm__json_close(json);
        hm__json_close(json);
    }
}

static void put_key_header(struct hm_json *json)
{
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(json, "name", "Idempotency-Key");
    hm__json_put_text(json, "in", "header");
    hm__json_put_text(json, "description", "runs that were sent with this key are not added again");
    hm__json_open(json, "schema", HM_JSON_OBJECT);
    hm__json_put_text(json, "type", "string");
    hm__json_put_number(json, "maxLength", 180);
    hm__json_close(json);
    hm__json_close(json);
}

/* ---- paths -------------------------------------------------------------------------------------
 */

static void put_operation_id(struct hm_json *json, const struct api_route *r)
{
    char id[96];
    size_t length = (size_t)snprintf(id, sizeof(id), "%s_", r->method);

    for (size_t i = 0; i < length; i++)
        id[i] = (char)(id[i] >= 'A' && id[i] <= 'Z' ? id[i] + ('a' - 'A') : id[i]);
    for (const char *at = r->path + 1; *at && length + 1 < sizeof(id); at++)
        if (!strchr("{}", *at))
            id[length++] = strchr("/.", *at) ? '_' : *at;
    id[length] = '\0';
    hm__json_put_text(json, "operationId", id);
}

static void put_responses(struct hm_json *json, const struct api_route *r)
{
    const char *schema = r->kind == API_VERB       ? r->how.verb->answer
                         : r->kind == API_PROGRESS ? "progress"
                                                   : NULL;
    bool table = r->kind == API_VERB && !schema;
    bool text = r->kind == API_HEALTH || r->kind == API_READY || r->kind == API_METRICS;

    hm__json_open(json, "responses", HM_JSON_OBJECT);
    hm__json_open(json, "200", HM_JSON_OBJECT);
    hm__json_put_text(json, "description", "the answer");
    hm__json_open(json, "content", HM_JSON_OBJECT);
    hm__json_open(json,
                  table  ? "text/csv"
                  : text ? "text/plain"
                         : "application/json",
                  HM_JSON_OBJECT);
    if (schema) {
        hm__json_open(json, "schema", HM_JSON_OBJECT);
        put_ref(json, schema);
        hm__json_close(json);
    }
    hm__json_close(json);
    hm__json_close(json);
    hm__json_close(json);
    hm__json_open(json, "default", HM_JSON_OBJECT);
    hm__json_put_text(json, "$ref", "#/components/responses/problem");
    hm__json_close(json);
    hm__json_close(json);
}

static void put_route(struct hm_json *json, const struct api_route *r)
{
    bool post = strcmp(r->method, "POST") == 0, verb = r->kind == API_VERB;

    hm__json_open(json, post ? "post" : "get", HM_JSON_OBJECT);
    put_operation_id(json, r);
    hm__json_put_text(json, "summary", r->summary);
    if (verb) {
        hm__json_open(json, "parameters", HM_JSON_LIST | HM_JSON_LINES);
        put_path_parameters(json, r->path);
        if (!post)
            put_query_parameters(json, r);
        else if (r->how.verb->writes)
            put_key_header(json);
        hm__json_close(json);
    }
    if (post)
        put_body(json, r->how.verb);
    if (r->scope == 0) {
        hm__json_open(json, "security", HM_JSON_LIST);
        hm__json_close(json);
    }
    put_responses(json, r);
    hm__json_close(json);
}

/*
 * Writes the paths of all routes except those of the web page. Routes with the same path are
 * adjacent.
 */
static void put_paths(struct hm_json *json, const struct api_route *routes, size_t count)
{
    hm__json_open(json, "paths", HM_JSON_OBJECT | HM_JSON_LINES);
    for (size_t i = 0; i < count && routes[i].kind != API_PAGE; i++) {
        bool first = i == 0 || strcmp(routes[i].path, routes[i - 1].path) != 0;
        bool last = i + 1 == count || strcmp(routes[i].path, routes[i + 1].path) != 0;
        if (first)
            hm__json_open(json, routes[i].path, HM_JSON_OBJECT);
        put_route(json, &routes[i]);
        if (last)
            hm__json_close(json);
    }
    hm__json_close(json);
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

static void put_security(struct hm_json *json)
{
    hm__json_open(json, "securitySchemes", HM_JSON_OBJECT);
    hm__json_open(json, "token", HM_JSON_OBJECT);
    hm__json_put_text(json, "type", "http");
    hm__json_put_text(json, "scheme", "bearer");
    hm__json_close(json);
    hm__json_close(json);
    hm__json_open(json, "responses", HM_JSON_OBJECT);
    hm__json_open(json, "problem", HM_JSON_OBJECT);
    hm__json_put_text(json, "description", "what went wrong");
    hm__json_open(json, "content", HM_JSON_OBJECT);
    hm__json_open(json, "application/problem+json", HM_JSON_OBJECT);
    hm__json_open(json, "schema", HM_JSON_OBJECT);
    put_ref(json, "problem");
    hm__json_close(json);
    hm__json_close(json);
    hm__json_close(json);
    hm__json_close(json);
    hm__json_close(json);
}

/*
 * Returns whether an earlier route has the same verb, so that its schema has already been written.
 */
static bool is_repeated(const struct api_route *routes, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (routes[k].how.verb == routes[i].how.verb && strcmp(routes[k].method, "POST") == 0)
            return true;
    return false;
}

static void put_schemas(struct hm_json *json, const struct api_route *routes, size_t count)
{
    size_t fields;

    hm__json_open(json, "schemas", HM_JSON_OBJECT | HM_JSON_LINES);
    for (size_t i = 0; i < count; i++)
        if (routes[i].kind == API_VERB && strcmp(routes[i].method, "POST") == 0 &&
            !is_repeated(routes, i))
            put_request(json, &routes[i].how);
    const struct hm_field *keys = hm__job_fields(&fields);
    put_keys(json, "job", keys, fields);
    keys = hm__cluster_fields(&fields);
    put_keys(json, "cluster", keys, fields);
    keys = hm__straggler_fields(&fields);
    put_keys(json, "stragglers", keys, fields);
    put_sent_run(json);
    hm__answer_schemas_json(json);
    hm__json_close(json);
}

void api_openapi(struct hm_text *out)
{
    struct hm_json json = {.out = out};
    size_t count;
    const struct api_route *routes = api_routes(&count);

    hm__json_open(&json, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_put_text(&json, "openapi", "3.1.0");
    hm__json_open(&json, "info", HM_JSON_OBJECT);
    hm__json_put_text(&json, "title", "howmany");
    hm__json_put_text(&json, "version", hm_version());
    hm__json_put_text(&json, "description", "How many machines, how long, how much, and why.");
    hm__json_close(&json);
    hm__json_open(&json, "security", HM_JSON_LIST);
    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    hm__json_open(&json, "token", HM_JSON_LIST);
    hm__json_close(&json);
    hm__json_close(&json);
    hm__json_close(&json);
    put_paths(&json, routes, count);
    hm__json_open(&json, "components", HM_JSON_OBJECT | HM_JSON_LINES);
    put_security(&json);
    put_schemas(&json, routes, count);
    hm__json_close(&json);
    hm__json_close(&json);
    hm__text_add(out, "\n");
}
