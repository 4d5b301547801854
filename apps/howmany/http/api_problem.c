/*
 * Writes problem documents (RFC 9457) with the members type, title and status, and with detail,
 * field, hint, source and line if they are known.
 */
#include "api_problem.h"

#include <stdio.h>
#include <string.h>

#include "json.h"
#include "sql.h"

static const char problem_type[] = "application/problem+json";

static void release_problem(void *text)
{
    hm_text_free(text);
}

/*
 * Finishes the problem document and makes it the body of the response. If memory runs out, the body
 * is a static string.
 */
static void problem_end(struct http_response *r, int status, struct hm_json *json)
{
    static const char bare[] =
        "{\"type\":\"urn:howmany:problem:nomem\",\"title\":\"out of memory\",\"status\":503}\n";
    struct hm_err err = {0};
    struct hm_text *out = json->out;
    char *text;

    hm__json_close(json);
    hm__text_add(out, "\n");
    size_t length = out->length;
    r->type = problem_type;
    if (hm__text_take(out, &text, &err)) {
        r->status = 503;
        r->body = bare;
        r->length = sizeof(bare) - 1;
        return;
    }
    r->status = status;
    r->body = text;
    r->length = length;
    r->owner = text;
    r->release = release_problem;
}

static void problem_begin(struct hm_json *json, int status, const char *kind, const char *title)
{
    char type[64];

    snprintf(type, sizeof(type), "urn:howmany:problem:%s", kind);
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(json, "type", type);
    hm__json_put_text(json, "title", title);
    hm__json_put_number(json, "status", status);
}

/* Adds a member to the problem document unless its text is NULL or empty. */
static void put_member(struct hm_json *json, const char *key, const char *text)
{
    if (text && text[0])
        hm__json_put_text(json, key, text);
}

static const char *code_name(int code)
{
    switch (code) {
#define HM_ERR_NAME(name, value, text)                                                             \
    case value:                                                                                    \
        return #name;
        HM_ERR_MAP(HM_ERR_NAME)
#undef HM_ERR_NAME
    default:
        return "RANGE";
    }
}

/* Returns the HTTP status for an error. HM_E_IO comes from the store, because requests over HTTP
 * open no files. */
static int status_of(const struct hm_err *err)
{
    if (err->code == HM_E_UNSUPPORTED && strcmp(err->field, "store") == 0)
        return 501;
    if (err->code == HM_E_IO && strcmp(err->field, HM_STORE_DISK) == 0)
        return 507; /* 507 is the status when the disk of the store is full. */
    if (err->code == HM_E_NOMEM || err->code == HM_E_IO || err->code == HM_E_BUDGET ||
        err->code == HM_E_CANCELLED)
        return 503;
    /* 409 is the status when the same Idempotency-Key was used before for other runs. */
    if (err->code == HM_E_CONFLICT && strcmp(err->source, "store") == 0)
        return 409;
    return err->code == HM_E_SYNTAX ? 400 : 422;
}

void api_problem_err(struct http_response *r, const struct hm_err *err)
{
    struct hm_text out = {0};
    struct hm_json json = {.out = &out};
    char kind[24] = "";
    int status = status_of(err);
    const char *name = code_name(err->code);

    for (size_t i = 0; name[i] && i + 1 < sizeof(kind); i++) {
        kind[i] = (char)(name[i] + ('a' - 'A'));
        kind[i + 1] = '\0';
    }
    problem_begin(&json, status, kind, hm_strerror(err->code));
    put_member(&json, "detail", err->message);
    put_member(&json, "field", err->field);
    put_member(&json, "hint", err->hint);
    if (err->code != HM_E_IO &&
        /*
         * For I/O errors, the source is the path of the store, which is private, so it is omitted.
         */
        strcmp(err->source, "request") != 0)
        put_member(&json, "source", err->source);
    if (err->line > 0)
        hm__json_put_number(&json, "line", err->line);
    problem_end(r, status, &json);
    if (status == 503)
        api_extra(r, "Retry-After", "1");
}

void api_problem(struct http_response *r, int status, const char *kind, const char *title,
                 const char *detail, const char *field, const char *hint)
{
    struct hm_text out = {0};
    struct hm_json json = {.out = &out};

    problem_begin(&json, status, kind, title);
    put_member(&json, "detail", detail);
    put_member(&json, "field", field);
    put_member(&json, "hint", hint);
    problem_end(r, status, &json);
}

static const char *status_title(int status)
{
    static const struct {
        int status;
        const char *title;
    } known[] = {{405, "method not allowed"},     {411, "length required"},
                 {413, "body too large"},         {414, "request target too long"},
                 {415, "unsupported media type"}, {417, "expectation failed"},
                 {431, "headers too large"},      {503, "busy"}};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].status == status)
            return known[i].title;
    return "bad request";
}

void api_problem_verdict(struct http_response *r, const struct http_verdict *v)
{
    api_problem(r, v->status, http_refusal_name(v->refusal), status_title(v->status), v->detail,
                v->field, v->status == 503 ? "retry after a second" : NULL);
    r->refusal = v->refusal;
    if (v->status == 503)
        api_extra(r, "Retry-After", "1");
    if (v->status == 405)
        api_extra(r, "Allow", "GET, HEAD, POST");
}

void api_extra(struct http_response *r, const char *name, const char *value)
{
    if (r->extra_count == HTTP_EXTRA_MAX)
        return;
    r->extra[r->extra_count].name = name;
    snprintf(r->extra[r->extra_count].value, sizeof(r->extra[0].value), "%s", value);
    r->extra_count++;
}
