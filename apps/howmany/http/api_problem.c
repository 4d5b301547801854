/* Problems: type, title, status, detail, field, hint, source and line, as far as they are known. */
#include "api_problem.h"

#include <stdio.h>
#include <string.h>

#include "format.h"

static const char problem_type[] = "application/problem+json";

static void release_text(void *text)
{
    hm_text_free(text);
}

/* The last resort is static: there may be no memory for more. */
static void finish(struct http_response *r, int status, struct hm_text *out)
{
    static const char bare[] =
        "{\"type\":\"urn:howmany:problem:nomem\",\"title\":\"out of memory\",\"status\":503}\n";
    struct hm_err err = {0};
    char *text;

    hm__text_add(out, "}\n");
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
    r->release = release_text;
}

static void start(struct hm_text *out, int status, const char *kind, const char *title)
{
    hm__text_addf(out, "{\"type\":\"urn:howmany:problem:%s\"", kind);
    hm__json_named(out, "title", title);
    hm__text_addf(out, ",\"status\":%d", status);
}

static void named(struct hm_text *out, const char *key, const char *text)
{
    if (text && text[0])
        hm__json_named(out, key, text);
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

/* Input and output is the store's: requests touch nothing else. */
static int status_of(const struct hm_err *err)
{
    if (err->code == HM_E_UNSUPPORTED && strcmp(err->field, "store") == 0)
        return 501;
    if (err->code == HM_E_NOMEM || err->code == HM_E_IO)
        return 503;
    return err->code == HM_E_SYNTAX ? 400 : 422;
}

void api_problem_err(struct http_response *r, const struct hm_err *err)
{
    struct hm_text out = {0};
    char kind[24] = "";
    int status = status_of(err);
    const char *name = code_name(err->code);

    for (size_t i = 0; name[i] && i + 1 < sizeof(kind); i++) {
        kind[i] = (char)(name[i] + ('a' - 'A'));
        kind[i + 1] = '\0';
    }
    start(&out, status, kind, hm_strerror(err->code));
    named(&out, "detail", err->message);
    named(&out, "field", err->field);
    named(&out, "hint", err->hint);
    if (err->code != HM_E_IO &&
        strcmp(err->source, "request") != 0) /* the store's path is private */
        named(&out, "source", err->source);
    if (err->line > 0)
        hm__text_addf(&out, ",\"line\":%d", err->line);
    finish(r, status, &out);
    if (status == 503)
        api_extra(r, "Retry-After", "1");
}

void api_problem(struct http_response *r, int status, const char *kind, const char *title,
                 const char *detail, const char *field, const char *hint)
{
    struct hm_text out = {0};

    start(&out, status, kind, title);
    named(&out, "detail", detail);
    named(&out, "field", field);
    named(&out, "hint", hint);
    finish(r, status, &out);
}

static const char *status_title(int status)
{
    static const struct {
        int status;
        const char *title;
    } known[] = {{405, "method not allowed"},   {411, "length required"},
                 {413, "body too large"},       {414, "address too long"},
                 {415, "unknown kind of body"}, {417, "expectation failed"},
                 {431, "headers too large"},    {503, "busy"}};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].status == status)
            return known[i].title;
    return "bad request";
}

void api_problem_verdict(struct http_response *r, const struct http_verdict *v)
{
    api_problem(r, v->status, http_refusal_name(v->refusal), status_title(v->status), v->detail,
                v->field, v->status == 503 ? "try again in a second" : NULL);
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
