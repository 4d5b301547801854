/*
 * Helpers for tests of requests: they build requests, run them and read numbers from the answers.
 */
#ifndef HM_REQUEST_TESTING_H
#define HM_REQUEST_TESTING_H

#include "testing.h"

#include "memory.h"
#include "request.h"
#include "verbs.h"

/* A job whose steps take 100/n + n seconds on up to 16 workers, each of which costs $1 per hour. */
static const char small_job[] = "name: small job\ncompute: 100 s / n\ncommunicate: 1 s * n\n"
                                "iterations: 10\n"
                                "cluster: {max_nodes: 16, price: $1/h, flops: 1 Tflop/s, "
                                "fabric: {bandwidth: 1 Gbit/s, latency: 1 ms}}\n";

static inline struct hm_request *new_request(const char *verb)
{
    struct hm_request *request = NULL;
    struct hm_err err = {0};

    if (hm_request_new(verb, &request, &err))
        fail_msg("%s: %s", verb, err.message);
    return request;
}

static inline void set(struct hm_request *request, const char *field, const char *text)
{
    struct hm_err err = {0};

    if (hm_request_set(request, field, text, &err))
        fail_msg("%s=%s: %s", field, text, err.message);
}

static inline void set_document(struct hm_request *request, const char *field, const char *text)
{
    struct hm_err err = {0};

    if (hm_request_set_document(request, field, field, text, strlen(text), &err))
        fail_msg("%s: %s", field, err.message);
}

static inline struct hm_request *with_document(const char *verb, const char *field,
                                               const char *text)
{
    struct hm_request *request = new_request(verb);

    set_document(request, field, text);
    return request;
}

/* Runs the request and frees it. */
static inline struct hm_reply *run(struct hm_request *request, const struct hm_context *context)
{
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};

    if (hm_request_run(request, context, &reply, &err))
        fail_msg("%s: %s: %s", err.source, err.field, err.message);
    assert_int_equal(err.code, 0); /* A call that succeeds sets no error. */
    assert_string_equal(err.message, "");
    assert_string_equal(err.source, "");
    hm_request_free(request);
    return reply;
}

/* Checks that the request fails with this code, field and part of the message when it is run; frees
 * the request. */
static inline void run_fails(struct hm_request *request, const struct hm_context *context, int code,
                             const char *field, const char *message)
{
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};
    int rc = hm_request_run(request, context, &reply, &err);

    if (rc != code || strcmp(err.field, field) != 0 || !strstr(err.message, message))
        fail_msg("%d, %s: '%s' instead of %d, %s: '%s'", rc, err.field, err.message, code, field,
                 message);
    assert_null(reply);
    hm_request_free(request);
}

/* Checks that setting the field fails with this code, message and hint ("" for no hint). */
static inline void set_fails(const char *verb, const char *field, const char *text, int code,
                             const char *message, const char *hint)
{
    struct hm_request *request = new_request(verb);
    struct hm_err err = {0};
    int rc = hm_request_set(request, field, text, &err);

    if (rc != code || strcmp(err.message, message) != 0 || strcmp(err.hint, hint) != 0)
        fail_msg("%s=%s: %d '%s' (%s)", field, text, rc, err.message, err.hint);
    assert_string_equal(err.field, field);
    assert_string_equal(err.source, "request");
    hm_request_free(request);
}

/* Returns the element of a tree at a path such as "curve.3.time_s"; NULL if there is none. */
static inline const struct hm_value *value_at(const struct hm_value *value, const char *path)
{
    char part[64];

    while (value && *path) {
        size_t length = strcspn(path, ".");
        snprintf(part, sizeof(part), "%.*s", (int)length, path);
        path += length + (path[length] == '.');
        if (value->kind == HM_VALUE_LIST) {
            size_t index = strtoul(part, NULL, 10);
            value = index < value->count ? &value->items[index] : NULL;
        } else {
            value = value->kind == HM_VALUE_MAP ? hm__value_get(value, part) : NULL;
        }
    }
    return value;
}

/* The expected value at a path of an answer: a number (NaN means null), the length of a list, or a
 * string. */
struct wanted {
    const char *path;
    double number;
    const char *text; /* Expected string; NULL: `number` is expected. */
};

static inline void check_wanted(const struct hm_value *root, const struct wanted *w)
{
    const struct hm_value *value = value_at(root, w->path);
    double number = NAN;

    if (!value)
        fail_msg("the answer has no %s", w->path);
    if (w->text) {
        if (value->kind != HM_VALUE_SCALAR || strcmp(value->text, w->text) != 0)
            fail_msg("%s is '%s', not '%s'", w->path,
                     value->kind == HM_VALUE_SCALAR ? value->text : "(no text)", w->text);
        return;
    }
    if (value->kind == HM_VALUE_LIST)
        number = (double)value->count;
    else if (value->kind == HM_VALUE_SCALAR)
        number = strtod(value->text, NULL);
    if (isnan(number) != isnan(w->number) ||
        fabs(number - w->number) > 1e-9 * fmax(fabs(w->number), 1e-300))
        fail_msg("%s is %.12g, not %.12g", w->path, number, w->number);
}

/* Asks for JSON, runs the request and compares the answer; frees the request. */
static inline void gives_many(struct hm_request *request, const struct hm_context *context,
                              const struct wanted *wanted, size_t count)
{
    set(request, "json", "true");
    struct hm_reply *reply = run(request, context);
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *root = NULL;
    struct hm_err err = {0};

    assert_string_equal(reply->type, "application/json");
    assert_int_equal(reply->length, strlen(reply->text));
    assert_true(reply->length > 2 && reply->text[reply->length - 1] == '\n' &&
                reply->text[reply->length - 2] != '\n');
    if (hm__json_parse(arena, reply->text, reply->length, "answer.json", &root, &err))
        fail_msg("%s", err.message);
    for (size_t i = 0; i < count; i++)
        check_wanted(root, &wanted[i]);
    hm__arena_free(arena);
    hm_reply_free(reply);
}

#define gives(request, context, ...)                                                               \
    gives_many(request, context, (const struct wanted[]){__VA_ARGS__},                             \
               sizeof((const struct wanted[]){__VA_ARGS__}) / sizeof(struct wanted))

/* Checks that the text of the answer contains `text`; frees the request. */
static inline void says(struct hm_request *request, const struct hm_context *context,
                        const char *text)
{
    struct hm_reply *reply = run(request, context);

    if (!strstr(reply->text, text))
        fail_msg("'%s' is not in: %s", text, reply->text);
    hm_reply_free(reply);
}

#endif
