/* Errors as application/problem+json (RFC 9457), with what struct hm_err knows. */
#ifndef HM_API_PROBLEM_H
#define HM_API_PROBLEM_H

#include "http.h"

/* An error of ours: 400 where it is not well-formed, 422 where it makes no sense. */
void api_problem_err(struct http_response *response, const struct hm_err *err);
/* Anything else. field and hint may be NULL. */
void api_problem(struct http_response *response, int status, const char *kind, const char *title,
                 const char *detail, const char *field, const char *hint);
/* What the guard, or overload, refused. */
void api_problem_verdict(struct http_response *response, const struct http_verdict *verdict);

void api_extra(struct http_response *response, const char *name, const char *value);

#endif
