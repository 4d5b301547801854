/* Builds a library request from the path, the query, the headers and the body of an HTTP
 * request. */
#include "api_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "err.h"

enum api_body api_body_kind(const char *content_type)
{
    static const struct {
        const char *type;
        enum api_body kind;
    } known[] = {{"application/json", API_BODY_JSON},   {"application/yaml", API_BODY_YAML},
                 {"application/x-yaml", API_BODY_YAML}, {"text/yaml", API_BODY_YAML},
                 {"text/csv", API_BODY_TABLE},          {"application/x-ndjson", API_BODY_TABLE},
                 {"application/jsonl", API_BODY_TABLE}};
    char type[64];

    if (content_type[0] == '\0')
        return API_BODY_NONE;
    for (size_t i = 0;
         http_guard_type(content_type, type, sizeof(type)) && i < sizeof(known) / sizeof(known[0]);
         i++)
        if (strcmp(known[i].type, type) == 0)
            return known[i].kind;
    return API_BODY_OTHER;
}

bool api_takes_field(const struct api_verb *how, const struct hm_request_field *f)
{
    const unsigned local = HM_REQUEST_LOCAL | HM_REQUEST_SCREEN;

    for (size_t i = 0; i < 4 && how->refused[i]; i++)
        if (strcmp(how->refused[i], f->name) == 0)
            return false;
    return !(f->flags & local) && f->kind != HM_REQUEST_OUTPUT;
}

/* Returns whether each value of a field that is given several times is added to the others. */
static bool field_adds_up(const struct hm_request_field *f)
{
    return f->kind == HM_REQUEST_CHOICES || f->kind == HM_REQUEST_TEXTS ||
           f->kind == HM_REQUEST_PAIRS || f->kind == HM_REQUEST_DOCUMENTS ||
           f->kind == HM_REQUEST_MACHINES;
}

/* Refuses a query key that would replace an earlier value. */
static int check_repeat(const struct api_verb *how, const struct hm_request *request,
                        const char *key, struct hm_err *err)
{
    const struct hm_request_field *f = hm__verb_field(how->verb, key);

    if (!f || !hm__request_given(request, key) || field_adds_up(f))
        return 0;
    return hm__request_fail(err, f->name, HM_E_CONFLICT, "this field is given twice");
}

/* Refuses a field that is allowed only on the command line. */
static int check_key(const struct api_verb *how, const char *key, struct hm_err *err)
{
    const struct hm_request_field *f = hm__verb_field(how->verb, key);

    if (!f || api_takes_field(how, f))
        return 0;
    hm__request_fail(err, f->name, HM_E_UNSUPPORTED, "this field is for the command line only");
    hm__err_hint(err, "a request starts no program and reads or writes no file");
    return HM_E_UNSUPPORTED;
}

/* ---- path and query ----------------------------------------------------------------------------
 */

/*
 * For each {name} in the pattern of the route, sets the field with this name to the text at the
 * same position in the path.
 */
static int read_path(struct hm_request *request, const char *pattern, const char *path,
                     struct hm_err *err)
{
    int rc = 0;

    while (rc == 0 && *pattern) {
        if (*pattern != '{') {
            pattern++;
            path++;
            continue;
        }
        size_t name = strcspn(pattern, "}") - 1, piece = strcspn(path, "/");
        char field[32], value[256];
        if (piece >= sizeof(value))
            return hm__fail(err, HM_E_NAME, "a part of the path is too long");
        snprintf(field, sizeof(field), "%.*s", (int)name, pattern + 1);
        snprintf(value, sizeof(value), "%.*s", (int)piece, path);
        rc = hm_request_set(request, field, value, err);
        pattern += name + 2;
        path += piece;
    }
    return rc;
}

/* Reads one key=value pair of the query; a key without a value sets a flag. */
static int read_pair(const struct api_verb *how, struct hm_request *request, const char *pair,
                     size_t length, struct hm_err *err)
{
    const char *equal = memchr(pair, '=', length);
    size_t name = equal ? (size_t)(equal - pair) : length;
    char key[64], *value = calloc(1, length + 8);
    int rc = 0;

    if (!value)
        return hm__fail_nomem(err);
    if (!http_guard_decode(pair, name, true, key, sizeof(key)) ||
        !http_guard_decode(equal ? equal + 1 : "true", equal ? length - name - 1 : 4, true, value,
                           length + 8))
        rc = hm__request_fail(err, "query", HM_E_SYNTAX, "the query cannot be decoded");
    if (rc == 0)
        rc = check_key(how, key, err);
    if (rc == 0)
        rc = check_repeat(how, request, key, err);
    const struct hm_request_field *f = rc == 0 ? hm__verb_field(how->verb, key) : NULL;
    bool document = f && (f->kind == HM_REQUEST_DOCUMENT || f->kind == HM_REQUEST_DOCUMENTS);
    if (rc == 0 && document)
        rc = hm_request_set_document(request, key, key, value, strlen(value), err);
    else if (rc == 0)
        rc = hm_request_set(request, key, value, err);
    free(value);
    return rc;
}

static int read_query(const struct api_verb *how, struct hm_request *request, const char *query,
                      struct hm_err *err)
{
    int rc = 0;

    while (rc == 0 && *query) {
        size_t length = strcspn(query, "&");
        if (length > 0)
            rc = read_pair(how, request, query, length, err);
        query += length + (query[length] == '&');
    }
    return rc;
}

/* ---- body --------------------------------------------------------------------------------------
 */

static int read_body(const struct api_verb *how, struct hm_request *request,
                     const struct http_request *r, struct hm_err *err)
{
    const struct hm_verb *verb = how->verb;

    if (strcmp(r->method, "POST") != 0)
        return 0;
    switch (api_body_kind(r->type)) {
    case API_BODY_TABLE:
    case API_BODY_OTHER:
        return hm_request_set_document(request, verb->table, verb->table, r->body, r->length, err);
    case API_BODY_YAML:
        return hm_request_read(request, r->body, r->length, "body.yaml", err);
    default:
        return hm_request_read(request, r->body, r->length, "body.json", err);
    }
}

/* Refuses fields of the body that are allowed only on the command line. */
static int check_fields(const struct api_verb *how, const struct hm_request *request,
                        struct hm_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < how->verb->field_count; i++)
        if (hm__request_given(request, how->verb->fields[i].name))
            rc = check_key(how, how->verb->fields[i].name, err);
    return rc;
}

/* Chooses the format of the response: JSON unless the request asks for CSV. */
static int choose_format(const struct api_verb *how, struct hm_request *request, struct hm_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < 2 && how->set[i]; i++)
        rc = hm_request_set(request, how->set[i], "true", err);
    if (rc == 0 && hm__verb_field(how->verb, "json") && !hm__request_flag(request, "csv"))
        rc = hm_request_set(request, "json", "true", err);
    else if (rc == 0 && hm__verb_field(how->verb, "json"))
        rc = hm_request_set(request, "json", "false", err);
    return rc;
}

int api_answer(const struct api_verb *how, const char *pattern, const struct hm_context *context,
               const struct http_request *r, struct hm_reply **ret_reply, struct hm_err *err)
{
    struct hm_request *request = NULL;
    /* The limits apply not only to hm_request_run but also to reading the request. */
    struct hm_budget budget = {.seconds = context->limits.seconds,
                               .bytes = context->limits.bytes,
                               .cancelled = context->cancelled,
                               .data = context->cancelled_data};
    hm__budget_enter(&budget);
    int rc = hm_request_new(how->verb->name, &request, err);

    if (rc == 0)
        rc = read_query(how, request, r->query, err);
    if (rc == 0 && r->key[0] && hm__verb_field(how->verb, "key") && strcmp(r->method, "POST") == 0)
        rc = hm_request_set(request, "key", r->key, err);
    if (rc == 0)
        rc = read_body(how, request, r, err);
    if (rc == 0)
        rc = check_fields(how, request, err);
    if (rc == 0)
        rc = read_path(request, pattern, r->path, err);
    if (rc == 0)
        rc = choose_format(how, request, err);
    if (rc == 0)
        rc = hm_request_run(request, context, ret_reply, err);
    else
        rc = hm__request_budget(how->verb, rc, err);
    hm__budget_leave(&budget);
    hm_request_free(request);
    return rc;
}
