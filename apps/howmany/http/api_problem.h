/* Writes errors as application/problem+json (RFC 9457) with the members of struct hm_err. */
#ifndef HM_API_PROBLEM_H
#define HM_API_PROBLEM_H

#include "http.h"

/*
 * Responds with an error from the library: status 400 for syntax, 422 for invalid values, 501 or
 * 503 for the store.
 */
void api_problem_err(struct http_response *response, const struct hm_err *err);
/* Responds with an error that is not from the library. `detail`, `field` and `hint` may be NULL. */
void api_problem(struct http_response *response, int status, const char *kind, const char *title,
                 const char *detail, const char *field, const char *hint);
/* Responds to a request that the guard refused, or that exceeds a limit of the server. */
void api_problem_verdict(struct http_response *response, const struct http_verdict *verdict);

/* Adds a header to the response; `name` must be a static string. */
void api_extra(struct http_response *response, const char *name, const char *value);

#endif
