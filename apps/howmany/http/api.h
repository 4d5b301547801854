/*
 * Routes of the server, the scopes they need, and their responses. Requests and responses are plain
 * structs without sockets, so that tests and fuzzers can drive this part.
 */
#ifndef HM_API_H
#define HM_API_H

#include "api_request.h"
#include "api_store.h"
#include "http.h"
#include "tokens.h"

struct api;

struct api_settings {
    struct hm_catalog *catalog;  /* borrowed */
    struct api_store *store;     /* borrowed; NULL: none */
    const struct tokens *tokens; /* borrowed; NULL: no token is needed */
    size_t cache_bytes;
};

/* What a route is. */
enum api_kind { API_HEALTH, API_READY, API_METRICS, API_OPENAPI, API_VERB, API_PAGE };

struct api_route {
    const char *method; /* GET (and HEAD), or POST */
    const char *path;   /* as documented: {kind} is one piece of a path */
    enum api_kind kind;
    unsigned scope; /* token_scope that is needed; 0: none */
    const char *summary;
    struct api_verb how; /* API_VERB */
};

/* All routes. */
const struct api_route *api_routes(size_t *ret_count);

struct api *api_new(const struct api_settings *settings, struct hm_err *err);
void api_free(struct api *api);
/* The server whose numbers /metrics shows, and that /readyz speaks of; NULL: none yet. */
void api_attach(struct api *api, const struct http_server *server);
/* From now on /readyz says no. */
void api_leave(struct api *api);

/* As struct http_handler has them; context is the api. */
enum http_next api_quick(void *context, const struct http_request *request,
                         struct http_response *response);
void api_work(void *context, const struct http_request *request, struct http_response *response);
void api_refuse(void *context, const struct http_request *request,
                const struct http_verdict *verdict, struct http_response *response);
/* Counts; the caller writes the log. */
void api_done(struct api *api, const struct http_request *request,
              const struct http_response *response, double seconds);
void api_cut(struct api *api, enum http_refusal refusal);

/* The description of all this, OpenAPI 3.1. */
void api_openapi(struct hm_text *out);

#endif
