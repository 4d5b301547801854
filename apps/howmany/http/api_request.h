/* Converts an HTTP request to a library request and runs it. */
#ifndef HM_API_REQUEST_H
#define HM_API_REQUEST_H

#include "http.h"
#include "request.h"

/* The verb of a route, and the restrictions on its fields. */
struct api_verb {
    const struct hm_verb *verb;
    const char *refused[4]; /* Fields that this route does not accept. */
    const char *set[2];     /* Flags that are always set in requests to this route. */
};

/* Formats of a request body. */
enum api_body { API_BODY_NONE, API_BODY_JSON, API_BODY_YAML, API_BODY_TABLE, API_BODY_OTHER };
enum api_body api_body_kind(const char *content_type);

/* Returns whether this route accepts a field over HTTP. */
bool api_takes_field(const struct api_verb *how, const struct hm_request_field *field);

/*
 * Reads the path, query, headers and body into a request for the verb, runs it, and returns the
 * reply. `pattern` is the path of the route; a segment such as {id} sets the field with that name.
 */
int api_answer(const struct api_verb *how, const char *pattern, const struct hm_context *context,
               const struct http_request *request, struct hm_reply **ret_reply, struct hm_err *err);

#endif
