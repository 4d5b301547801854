/* Defines the routes of the server and builds their responses. */
#include "api.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api_cache.h"
#include "api_metrics.h"
#include "api_problem.h"
#include "api_progress.h"
#include "err.h"
#include "http_connections.h"
#include "http_guard.h"
#include "serve_page.h"
#include "token_limit.h"
#include "verbs.h"

static const char json_type[] = "application/json", text_type[] = "text/plain; charset=utf-8",
                  metrics_type[] = "text/plain; version=0.0.4; charset=utf-8";

/* All routes. A route that writes to the store needs the scope write; a route that reads data needs
 * the scope read. Routes with the same path are adjacent. */
static const struct api_route route_table[] = {
    {"GET", "/healthz", API_HEALTH, 0, "whether the program runs", {0}},
    {"GET", "/readyz", API_READY, 0, "whether it accepts requests", {0}},
    {"GET", "/metrics", API_METRICS, TOKEN_READ, "counters, for Prometheus", {0}},
    {"GET", "/openapi.json", API_OPENAPI, TOKEN_READ, "this description", {0}},
    {"GET", "/v1/progress", API_PROGRESS, TOKEN_READ, "commands that run on this machine", {0}},
    {"GET",
     "/v1/catalog",
     API_VERB,
     TOKEN_READ,
     "all entries in the catalog",
     {.verb = &hm__verb_catalog_list}},
    {"GET",
     "/v1/catalog/{kind}",
     API_VERB,
     TOKEN_READ,
     "the entries of a kind",
     {.verb = &hm__verb_catalog_list}},
    {"GET",
     "/v1/catalog/{kind}/{name}",
     API_VERB,
     TOKEN_READ,
     "one entry",
     {.verb = &hm__verb_catalog_show}},
    {"POST",
     "/v1/plan",
     API_VERB,
     TOKEN_READ,
     "how many machines, how long, how much and why",
     {.verb = &hm__verb_plan}},
    {"POST",
     "/v1/fit",
     API_VERB,
     TOKEN_READ,
     "learn from a few runs, and predict",
     {.verb = &hm__verb_fit}},
    {"POST",
     "/v1/design",
     API_VERB,
     TOKEN_READ,
     "which few runs are most useful",
     {.verb = &hm__verb_design}},
    {"POST",
     "/v1/advise",
     API_VERB,
     TOKEN_READ,
     "which algorithm on how many workers",
     {.verb = &hm__verb_advise}},
    {"POST",
     "/v1/converge",
     API_VERB,
     TOKEN_READ,
     "how the loss depends on iterations and workers",
     {.verb = &hm__verb_converge}},
    {"POST",
     "/v1/graph",
     API_VERB,
     TOKEN_READ,
     "how a graph is split among workers, and what that costs",
     {.verb = &hm__verb_graph}},
    {"GET",
     "/v1/recommend",
     API_VERB,
     TOKEN_READ,
     "how many workers, from the runs of the store",
     {.verb = &hm__verb_recommend, .refused = {"job", "on", "fabric", "set"}}},
    {"POST",
     "/v1/recommend",
     API_VERB,
     TOKEN_READ,
     "how many workers, from runs that are sent or those of the store",
     {.verb = &hm__verb_recommend}},
    {"GET",
     "/v1/runs",
     API_VERB,
     TOKEN_READ,
     "runs of the store, page by page",
     {.verb = &hm__verb_runs_list}},
    {"POST",
     "/v1/runs",
     API_VERB,
     TOKEN_WRITE,
     "add runs or traces",
     {.verb = &hm__verb_runs_import}},
    {"POST",
     "/v1/import",
     API_VERB,
     TOKEN_READ,
     "read a log, trace, configuration or model file of another tool",
     {.verb = &hm__verb_import, .refused = {"record", "output"}}},
    {"GET",
     "/v1/runs/{id}",
     API_VERB,
     TOKEN_READ,
     "one run with its samples",
     {.verb = &hm__verb_runs_show}},
    {"GET",
     "/v1/traces",
     API_VERB,
     TOKEN_READ,
     "samples of the runs of the store, a table",
     {.verb = &hm__verb_runs_export,
      .refused = {"json", "csv", "traces"},
      .set = {"traces", "csv"}}},
    {"GET", "/", API_PAGE, 0, "the web page", {0}},
    {"GET", "/assets/{name}", API_PAGE, 0, "files of the web page", {0}},
};

enum { ROUTES = sizeof(route_table) / sizeof(route_table[0]) };

struct api {
    struct api_settings settings;
    struct api_cache *cache;
    struct api_metrics *metrics;
    struct token_limit *wrong_tokens;
    const struct http_server *_Atomic server;
    atomic_bool shutting_down;
    const char *paths[ROUTES];
    /* Context of all requests; it does not allow requests to open files. */
    struct hm_context context;
};

const struct api_route *api_routes(size_t *count)
{
    *count = ROUTES;
    return route_table;
}

struct api *api_new(const struct api_settings *settings, struct hm_err *err)
{
    struct api *a = calloc(1, sizeof(*a));

    if (!a) {
        hm__fail_nomem(err);
        return NULL;
    }
    a->settings = *settings;
    a->context = (struct hm_context){
        .store = settings->store ? api_store_access(settings->store) : NULL,
        .catalog = settings->catalog,
        .limits = {.seconds = settings->seconds,
                   .bytes = settings->bytes,
                   .max_n = 8192,
                   .values = 10000,
                   .page = 10000,
                   .page_seconds = 0.035,
                   .runs = 100000,
                   .answer_bytes = (size_t)32 << 20},
        .style = {.unicode = true, .width = 100},
    };
    for (size_t i = 0; i < ROUTES; i++)
        a->paths[i] = route_table[i].path;
    a->cache = api_cache_new(settings->cache_bytes);
    a->metrics = api_metrics_new(a->paths, ROUTES);
    a->wrong_tokens = token_limit_new();
    if (!a->cache || !a->metrics || !a->wrong_tokens) {
        hm__fail_nomem(err);
        api_free(a);
        return NULL;
    }
    return a;
}

void api_free(struct api *a)
{
    if (!a)
        return;
    api_cache_free(a->cache);
    api_metrics_free(a->metrics);
    token_limit_free(a->wrong_tokens);
    free(a);
}

void api_attach(struct api *a, const struct http_server *server)
{
    atomic_store(&a->server, server);
}

void api_shut_down(struct api *a)
{
    const double lock_s = 5; /* Time after which requests no longer wait for locks. */

    atomic_store(&a->shutting_down, true);
    if (a->settings.store)
        api_store_stop(a->settings.store, lock_s);
}

/* ---- finding a route --------------------------------------------------------------------------
 */

/* Returns whether a path matches a pattern, in which {…} matches one segment that is not empty. */
static bool path_matches(const char *pattern, const char *path)
{
    while (*pattern) {
        if (*pattern == '{') {
            size_t piece = strcspn(path, "/");
            if (piece == 0)
                return false;
            path += piece;
            pattern += strcspn(pattern, "}") + 1;
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return *path == '\0';
}

static bool is_get(const struct http_request *r)
{
    return strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0;
}

static size_t search_route(const struct http_request *r)
{
    const char *method = is_get(r) ? "GET" : "POST";
    size_t first = 0;

    while (first < ROUTES && !path_matches(route_table[first].path, r->path))
        first++;
    for (size_t i = first; i < ROUTES && strcmp(route_table[i].path, route_table[first].path) == 0;
         i++)
        if (strcmp(route_table[i].method, method) == 0)
            return i;
    return first;
}

/*
 * Returns the index of the route for a path and a method. If only the path matches, returns the
 * first route with that path; if no path matches, returns ROUTES. The index is stored in the
 * request, because several functions need it.
 */
static size_t find_route(const struct http_request *r)
{
    size_t none = 0, *note = r->note ? r->note : &none;

    if (*note == 0)
        *note = 1 + search_route(r);
    return *note - 1;
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void refuse_missing(const struct http_request *r, struct http_response *out)
{
    char detail[160];

    snprintf(detail, sizeof(detail), "the path %.120s does not exist", r->path);
    api_problem(out, 404, "path", "not found", detail, NULL, "see /openapi.json");
}

/*
 * Responds with 405 (method not allowed). The header Allow lists only the method of `route`,
 * because no other route has the same path.
 */
static void refuse_method(const struct api_route *route, struct http_response *out)
{
    bool get = strcmp(route->method, "GET") == 0;

    api_problem(out, 405, "method", "method not allowed",
                get ? "this path accepts GET and HEAD" : "this path accepts POST", NULL,
                get ? "use GET" : "use POST");
    api_extra(out, "Allow", get ? "GET, HEAD" : "POST");
    out->refusal = HTTP_REFUSAL_METHOD;
}

/* Returns whether a Host header names this machine itself: localhost, 127.0.0.0/8 or [::1]. */
static bool is_loopback_host(const char *host)
{
    size_t length = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");

    return length == 0 || (length == 9 && strncasecmp(host, "localhost", 9) == 0) ||
           (length == 5 && strncmp(host, "[::1]", 5) == 0) ||
           (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == length);
}

/*
 * Returns whether a host name, given without its port, is in a list of names that are separated by
 * commas.
 */
static bool is_listed_host(const char *hosts, const char *name, size_t length)
{
    while (hosts && *hosts) {
        size_t piece = strcspn(hosts, ",");
        if (piece == length && strncasecmp(hosts, name, length) == 0)
            return true;
        hosts += piece + (hosts[piece] == ',');
    }
    return false;
}

/* Returns whether a host, with an optional port, is this server. If tokens are required, every
 * numeric address is accepted, because DNS rebinding can redirect only a host name, not an
 * address. */
static bool is_own_host(const struct api *a, const char *host)
{
    size_t length = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    bool address = host[0] == '[' || strspn(host, "0123456789.") == length;

    return is_loopback_host(host) || (a->settings.tokens && address) ||
           is_listed_host(a->settings.hosts, host, length);
}

/* Returns whether an Origin is a page of this server: http or https, and its name with an optional
 * port. */
static bool is_own_origin(const struct api *a, const char *origin)
{
    const char *host = strncasecmp(origin, "http://", 7) == 0    ? origin + 7
                       : strncasecmp(origin, "https://", 8) == 0 ? origin + 8
                                                                 : "";

    return http_guard_is_host(host, strlen(host)) && is_own_host(a, host);
}

/*
 * Refuses a request whose header Host or Origin names another server. Otherwise a web page of that
 * server could send requests to this server through DNS rebinding; without tokens, it could then
 * read and write.
 */
static bool check_host(const struct api *a, const struct http_request *r, struct http_response *out)
{
    if (!is_own_host(a, r->host)) {
        out->refusal = HTTP_REFUSAL_HOST;
        api_problem(out, 403, "host", "forbidden", "the Host is not a name of this server", "Host",
                    a->settings.tokens ? "serve it under this name with --host"
                                       : "without tokens only localhost is served; start it with "
                                         "--token-file and --host to serve another name");
        return false;
    }
    if (r->origin[0] == '\0' || is_own_origin(a, r->origin))
        return true;
    out->refusal = HTTP_REFUSAL_ORIGIN;
    api_problem(out, 403, "origin", "forbidden", "the Origin is not a page of this server",
                "Origin", "serve the page from this server");
    return false;
}

/*
 * Returns the scopes of a request's token. Sets *ret_over if the address of the client has sent too
 * many wrong tokens, so that this token is not checked. Clients on this machine are not limited:
 * one of them may be a proxy that forwards the requests of all clients.
 */
static unsigned request_scopes(const struct api *a, const struct http_request *r, bool *ret_over)
{
    bool limited = r->authorization[0] && r->address[0] && !http_is_loopback(r->address);

    *ret_over = limited && token_limit_is_over(a->wrong_tokens, r->address, http_now());
    if (*ret_over)
        return 0;
    unsigned scopes = tokens_scopes(a->settings.tokens, r->authorization);
    if (scopes == 0 && limited)
        token_limit_count(a->wrong_tokens, r->address, http_now());
    return scopes;
}

/*
 * Checks that the token of a request has the scope of the route; otherwise responds with 401 or 403
 * and returns false.
 */
static bool check_token(const struct api *a, const struct api_route *route,
                        const struct http_request *r, struct http_response *out)
{
    if (route->scope == 0)
        return true;
    if (!check_host(a, r, out))
        return false;
    if (!a->settings.tokens)
        return true;
    bool over;
    unsigned scopes = request_scopes(a, r, &over);
    if (scopes & route->scope)
        return true;
    out->refusal = HTTP_REFUSAL_TOKEN;
    if (over) {
        api_problem(out, 429, "token", "too many requests",
                    "this address has sent too many wrong tokens", "Authorization",
                    "wait for 10 seconds");
        api_extra(out, "Retry-After", "10");
        return false;
    }
    if (scopes == 0) {
        api_problem(out, 401, "token", "unauthorized",
                    r->authorization[0] ? "the token is unknown" : "a token is needed",
                    "Authorization", "send Authorization: Bearer TOKEN");
        api_extra(out, "WWW-Authenticate", "Bearer realm=\"howmany\"");
        return false;
    }
    api_problem(out, 403, "token", "forbidden", "the token does not have the scope of this path",
                "Authorization",
                route->scope == TOKEN_READ ? "this path needs the scope read"
                                           : "this path needs the scope write");
    return false;
}

static bool check_type(const struct api_route *route, const struct http_request *r,
                       struct http_response *out)
{
    enum api_body kind = api_body_kind(r->type);

    if (kind == API_BODY_JSON || kind == API_BODY_YAML ||
        (kind == API_BODY_TABLE && route->how.verb->table) ||
        (kind == API_BODY_OTHER && route->how.verb->any_body))
        return true;
    api_problem(out, 415, "type", "unsupported media type",
                kind == API_BODY_NONE ? "the request has no Content-Type"
                                      : "this path does not accept this Content-Type",
                "Content-Type",
                "send application/json, application/yaml, text/csv or "
                "application/x-ndjson");
    out->refusal = HTTP_REFUSAL_TYPE;
    return false;
}

void api_refuse(void *context, const struct http_request *request,
                const struct http_verdict *verdict, struct http_response *response)
{
    (void)context;
    (void)request;
    api_problem_verdict(response, verdict);
}

/* ---- responses --------------------------------------------------------------------------------
 */

static void release_text(void *text)
{
    hm_text_free(text);
}

/* Responds with a string. The response takes ownership of the string. */
static void send_text(struct http_response *out, int status, const char *type, struct hm_text *text)
{
    struct hm_err err = {0};
    size_t length = text->length;
    char *body;

    if (hm__text_take(text, &body, &err)) {
        api_problem_err(out, &err);
        return;
    }
    *out = (struct http_response){.status = status,
                                  .type = type,
                                  .body = body,
                                  .length = length,
                                  .release = release_text,
                                  .owner = body};
    api_extra(out, "Cache-Control", "no-store");
}

static void send_cache_entry(struct http_response *out, struct api_cached *answer)
{
    *out = (struct http_response){.status = 200,
                                  .type = answer->type,
                                  .body = answer->body,
                                  .length = answer->length,
                                  .release = api_cached_release,
                                  .owner = answer};
    api_extra(out, "Cache-Control", "no-store");
}

static void send_health(struct api *a, enum api_kind kind, struct http_response *out)
{
    struct api_store_counts store = {.healthy = true};
    const char *body = "ok\n";

    if (a->settings.store)
        api_store_count(a->settings.store, &store);
    if (kind == API_READY && atomic_load(&a->shutting_down))
        body = "shutting down\n";
    else if (kind == API_READY && !store.healthy)
        body = "the store is not reachable\n";
    *out = (struct http_response){.status = strcmp(body, "ok\n") ? 503 : 200,
                                  .type = text_type,
                                  .body = body,
                                  .length = strlen(body)};
    api_extra(out, "Cache-Control", "no-store");
}

static void send_metrics(struct api *a, struct http_response *out)
{
    struct http_counts counts = {0};
    struct hm_text text = {0};
    const struct http_server *server = atomic_load(&a->server);

    if (server)
        http_count(server, &counts);
    api_metrics_render(a->metrics, &counts, &text);
    if (a->settings.log)
        api_metrics_log(http_log_dropped(a->settings.log), &text);
    if (a->settings.store) {
        struct api_store_counts store;
        api_store_count(a->settings.store, &store);
        api_metrics_store(&store, &text);
    }
    send_text(out, 200, metrics_type, &text);
}

static void send_progress(struct api *a, struct http_response *out)
{
    struct hm_text text = {0};

    api_progress(&text, a->settings.board);
    send_text(out, 200, json_type, &text);
}

static void send_page(const struct http_request *r, struct http_response *out)
{
    if (!page_answer(r, out))
        refuse_missing(r, out);
}

/*
 * Builds the key under which a response is cached; it contains everything that the response depends
 * on. A line end separates the parts, because a decoded path may contain a "?", but no path, query
 * or type contains a control character.
 */
static void make_key(struct hm_text *key, const struct http_request *r)
{
    hm__text_add(key, r->path);
    hm__text_add(key, "\n");
    hm__text_add(key, r->query);
    if (is_get(r))
        return;
    hm__text_add(key, "\n");
    hm__text_add(key, r->type);
    hm__text_add(key, "\n");
    hm__text_add_n(key, r->body, r->length);
}

static bool send_from_cache(struct api *a, const struct http_request *r, struct http_response *out)
{
    struct hm_text key = {0};

    make_key(&key, r);
    struct api_cached *known = key.failed ? NULL : api_cache_get(a->cache, key.data, key.length);
    hm__text_release(&key);
    api_metrics_cached(a->metrics, known != NULL);
    if (known)
        send_cache_entry(out, known);
    return known != NULL;
}

/* Chooses the thread pool for a request. Requests that write to the store wait for the disk, so
 * they must not occupy the threads for computation; small requests are written together. */
static enum http_next choose_pool(const struct api_route *route, const struct http_request *r)
{
    enum { SMALL_BODY = 4096 };

    if (route->scope != TOKEN_WRITE)
        return HTTP_WORK;
    return r->length <= SMALL_BODY ? HTTP_GROUP : HTTP_WAIT;
}

/* Checks all that does not depend on the body; otherwise responds with an error and returns false.
 */
static bool check_request_head(const struct api *a, const struct http_request *r,
                               struct http_response *out)
{
    size_t i = find_route(r);
    const struct api_route *route = &route_table[i < ROUTES ? i : 0];

    if (i == ROUTES)
        refuse_missing(r, out);
    else if (is_get(r) != (strcmp(route->method, "GET") == 0))
        refuse_method(route, out);
    else
        return check_token(a, route, r, out) && (is_get(r) || check_type(route, r, out));
    return false;
}

/* A request is refused before its body is read, so that a client without a valid token cannot make
 * the server use memory for its bodies, on any path. */
bool api_admit(void *context, const struct http_request *r, struct http_response *out)
{
    return is_get(r) || check_request_head(context, r, out);
}

enum http_next api_quick(void *context, const struct http_request *r, struct http_response *out)
{
    struct api *a = context;
    if (!check_request_head(a, r, out))
        return HTTP_ANSWERED;
    const struct api_route *route = &route_table[find_route(r)];
    if (route->kind == API_HEALTH || route->kind == API_READY)
        send_health(a, route->kind, out);
    else if (route->kind == API_METRICS)
        send_metrics(a, out);
    else if (route->kind == API_PROGRESS)
        send_progress(a, out);
    else if (route->kind == API_PAGE)
        send_page(r, out);
    else if (route->scope == TOKEN_WRITE || !send_from_cache(a, r, out))
        return choose_pool(route, r);
    return HTTP_ANSWERED;
}

/* Responds with an error. The status is 404 if a name in the path is unknown. */
static void send_error(const struct api_route *route, struct http_response *out,
                       const struct hm_err *err)
{
    static const int others[] = {HM_E_NOMEM,  HM_E_IO,    HM_E_KEY,      HM_E_UNSUPPORTED,
                                 HM_E_BUDGET, HM_E_LIMIT, HM_E_CANCELLED};
    bool unknown = strchr(route->path, '{') != NULL;

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        unknown = unknown && err->code != others[i];
    if (unknown)
        api_problem(out, 404, "path", "not found", err->message, NULL, err->hint);
    else
        api_problem_err(out, err);
}

/*
 * Responds with a string and stores it in the cache for equal requests. Takes ownership of the
 * string.
 */
static void send_cached(struct api *a, const struct http_request *r, const char *type, char *text,
                        size_t length, struct http_response *out)
{
    const struct hm_err nomem = {.code = HM_E_NOMEM};
    struct hm_text key = {0};

    make_key(&key, r);
    struct api_cached *answer = NULL;
    /* The key is incomplete, because memory ran out, and could be equal to the key of another
     * request. Therefore, the response is not cached. */
    if (key.failed)
        hm_text_free(text);
    else
        answer = api_cache_put(a->cache, key.data, key.length, type, text, length);
    hm__text_release(&key);
    if (answer)
        send_cache_entry(out, answer);
    else
        api_problem_err(out, &nomem);
}

static void send_openapi(struct api *a, const struct http_request *r, struct http_response *out)
{
    struct hm_text text = {0};
    struct hm_err err = {0};
    char *body;

    api_openapi(&text);
    size_t length = text.length;
    if (hm__text_take(&text, &body, &err))
        api_problem_err(out, &err);
    else
        send_cached(a, r, json_type, body, length, out);
}

/* Computes the response to a request, which uses the store through `access`. */
static void answer_request(struct api *a, const struct http_request *r,
                           const struct hm_store_access *access, struct http_response *out)
{
    const struct api_route *route = &route_table[find_route(r)];
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};

    if (route->kind == API_OPENAPI) {
        send_openapi(a, r, out);
        return;
    }
    struct hm_context limited = a->context;
    limited.store = access;
    limited.cancelled = r->is_over;
    limited.cancelled_data = r->is_over_data;
    if (api_answer(&route->how, route->path, &limited, r, &reply, &err)) {
        send_error(route, out, &err);
        return;
    }
    struct hm_text copy = {0};
    hm__text_add_n(&copy, reply->text, reply->length);
    /* A reply that depends on the store is not cached, because the store may change. */
    if (copy.failed || reply->from_store) {
        send_text(out, 200, reply->type, &copy);
    } else {
        char *body;
        if (hm__text_take(&copy, &body, &err))
            api_problem_err(out, &err);
        else
            send_cached(a, r, reply->type, body, reply->length, out);
    }
    hm_reply_free(reply);
}

void api_work(void *context, const struct http_request *r, struct http_response *out)
{
    struct api *a = context;

    answer_request(a, r, a->context.store, out);
}

/* Requests that are answered together. */
struct request_group {
    struct api *api;
    const struct http_request *const *requests;
    struct http_response *const *responses;
};

static void group_answer(void *context, size_t number, const struct hm_store_access *access)
{
    struct request_group *g = context;

    answer_request(g->api, g->requests[number], access, g->responses[number]);
}

static void group_withdraw(void *context, size_t number)
{
    struct request_group *g = context;
    struct http_response *r = g->responses[number];

    if (r->release)
        r->release(r->owner);
    *r = (struct http_response){0};
}

/*
 * Returns the time at which the time limit of the oldest request of a group ends; 0 if there is no
 * limit.
 */
static double group_end(const struct api *a, const struct http_request *const *requests,
                        size_t count)
{
    double oldest = http_now();

    for (size_t i = 0; i < count; i++)
        if (requests[i]->since > 0 && requests[i]->since < oldest)
            oldest = requests[i]->since;
    return a->settings.seconds > 0 ? oldest + a->settings.seconds : 0;
}

void api_work_group(void *context, const struct http_request *const *requests,
                    struct http_response *const *responses, size_t count)
{
    struct request_group g = {context, requests, responses};
    const struct api_store_group group = {&g, count, group_end(context, requests, count),
                                          group_answer, group_withdraw};

    if (g.api->settings.store) {
        api_store_group(g.api->settings.store, &group);
        return;
    }
    for (size_t i = 0; i < count; i++)
        group_answer(&g, i, NULL);
}

void api_after_group(void *context)
{
    struct api *a = context;

    if (a->settings.store)
        api_store_settle(a->settings.store);
}

void api_done(struct api *a, const struct http_request *r, const struct http_response *response,
              double seconds)
{
    api_metrics_request(a->metrics, find_route(r), response->status, seconds);
    if (response->refusal != HTTP_REFUSAL_NONE)
        api_metrics_refusal(a->metrics, response->refusal);
}

void api_closed(struct api *a, enum http_refusal refusal)
{
    api_metrics_refusal(a->metrics, refusal);
}
