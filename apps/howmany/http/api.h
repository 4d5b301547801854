/*
 * Declares the routes of the server, the scopes that they need, and their responses. Requests and
 * responses are plain structs without sockets, so that tests and fuzzers can call these functions
 * directly.
 */
#ifndef HM_API_H
#define HM_API_H

#include "api_request.h"
#include "api_store.h"
#include "board.h"
#include "http.h"
#include "http_log.h"
#include "tokens.h"

struct api;

struct api_settings {
    struct hm_catalog *catalog; /* Catalog of models and machines; borrowed. */
    struct api_store *store;    /* Store of runs, borrowed; NULL if there is none. */
    struct hm_board *board; /* List of running commands (board), borrowed; NULL if there is none. */
    const struct http_log *log;  /* Log of requests, borrowed; NULL if there is none. */
    const struct tokens *tokens; /* Accepted tokens, borrowed; NULL if no token is needed. */
    /* Names of this server other than the loopback names, separated by commas, borrowed; NULL if
     * there are none. They are accepted in Host and Origin. */
    const char *hosts;
    size_t cache_bytes;
    double seconds; /* Time limit of a request in seconds; 0 for no limit. */
    size_t bytes;   /* Memory limit of a request in bytes; 0 for no limit. */
};

enum api_kind { API_HEALTH, API_READY, API_METRICS, API_OPENAPI, API_PROGRESS, API_VERB, API_PAGE };

struct api_route {
    const char *method; /* Method of the route: GET (which includes HEAD) or POST. */
    const char *path; /* Pattern of the paths of the route, in which {name} matches one segment. */
    enum api_kind kind;
    /* Scope (enum token_scope) that the token must have; 0 if no token is needed. */
    unsigned scope;
    const char *summary;
    struct api_verb how; /* Verb of the request and its restrictions, if `kind` is API_VERB. */
};

const struct api_route *api_routes(size_t *ret_count);

struct api *api_new(const struct api_settings *settings, struct hm_err *err);
void api_free(struct api *api);
/* Sets the server whose counters /metrics shows; NULL if there is none. */
void api_attach(struct api *api, const struct http_server *server);
/* After this call, /readyz responds with 503. */
void api_shut_down(struct api *api);

/* Functions for struct http_handler; `context` is a struct api. */
bool api_admit(void *context, const struct http_request *request, struct http_response *response);
enum http_next api_quick(void *context, const struct http_request *request,
                         struct http_response *response);
void api_work(void *context, const struct http_request *request, struct http_response *response);
void api_work_group(void *context, const struct http_request *const *requests,
                    struct http_response *const *responses, size_t count);
void api_after_group(void *context);
void api_refuse(void *context, const struct http_request *request,
                const struct http_verdict *verdict, struct http_response *response);
/* api_done counts a response, and api_closed counts a connection that was closed without a
 * response; the caller writes the log. */
void api_done(struct api *api, const struct http_request *request,
              const struct http_response *response, double seconds);
void api_closed(struct api *api, enum http_refusal refusal);

/* Writes the OpenAPI 3.1 description of all routes. */
void api_openapi(struct hm_text *out);

#endif
