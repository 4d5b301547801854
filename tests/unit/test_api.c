/* Tests the handlers of the server without sockets: responses from the cache must equal the
 * computed ones. */
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "testing.h"
#include "token_limit.h"

static struct http_request post_request(const char *path, const char *query, const char *body)
{
    struct http_request request = HTTP_REQUEST_INIT;

    request.method = "POST";
    request.path = path;
    request.query = query;
    request.type = "application/json";
    request.body = body;
    request.length = strlen(body);
    return request;
}

static void release_response(struct http_response *response)
{
    if (response->release)
        response->release(response->owner);
}

/* Checks a response that api_work computes first and that api_quick then sends from the cache. */
static void check_cached(struct api *api, const struct http_request *request, const char *type)
{
    struct http_response computed = {0}, cached = {0};

    assert_int_equal(api_quick(api, request, &computed), HTTP_WORK);
    api_work(api, request, &computed);
    assert_int_equal(computed.status, 200);
    assert_string_equal(computed.type, type);
    assert_int_equal(api_quick(api, request, &cached), HTTP_ANSWERED);
    assert_int_equal(cached.status, 200);
    assert_string_equal(cached.type, type);
    assert_int_equal(cached.length, computed.length);
    assert_memory_equal(cached.body, computed.body, computed.length);
    assert_int_equal(cached.extra_count, computed.extra_count);
    release_response(&computed);
    release_response(&cached);
}

static void cached_responses_keep_their_type(void **state)
{
    static const char job[] = "{\"compute\": \"10 s / n\", \"communicate\": \"0.1 s * n\"}";
    struct hm_catalog *catalog = NULL;

    (void)state;
    assert_int_equal(hm_catalog_new(&catalog, NULL), 0);
    struct api_settings settings = {.catalog = catalog, .cache_bytes = 1 << 20};
    struct api *api = api_new(&settings, NULL);
    assert_non_null(api);
    struct http_request json = post_request("/v1/plan", "max_n=16", job);
    struct http_request csv = post_request("/v1/plan", "max_n=16&csv", job);
    check_cached(api, &json, "application/json");
    check_cached(api, &csv, "text/csv; charset=utf-8");
    api_free(api);
    hm_catalog_free(catalog);
}

/* Requests that differ only in the query, the body or its type have different responses. */
static void the_cache_distinguishes_requests(void **state)
{
    static const char job[] = "{\"compute\": \"10 s / n\", \"communicate\": \"0.1 s * n\"}";
    struct hm_catalog *catalog = NULL;
    struct http_response first = {0}, other = {0};

    (void)state;
    assert_int_equal(hm_catalog_new(&catalog, NULL), 0);
    struct api_settings settings = {.catalog = catalog, .cache_bytes = 1 << 20};
    struct api *api = api_new(&settings, NULL);
    assert_non_null(api);
    struct http_request request = post_request("/v1/plan", "max_n=16", job);
    api_work(api, &request, &first);
    assert_int_equal(first.status, 200);
    struct http_request query = post_request("/v1/plan", "max_n=4", job);
    assert_int_equal(api_quick(api, &query, &other), HTTP_WORK);
    struct http_request body = post_request("/v1/plan", "max_n=16", "{\"compute\": \"1 s\"}");
    assert_int_equal(api_quick(api, &body, &other), HTTP_WORK);
    request.type = "application/yaml";
    assert_int_equal(api_quick(api, &request, &other), HTTP_WORK);
    /* A "?" that belongs to the path does not begin the query. */
    struct http_response answer = {0}, missing = {0};
    struct http_request path = post_request("/v1/catalog/machines/p4d.24xlarge", "name=x?", "");
    path.method = "GET";
    api_work(api, &path, &answer);
    assert_int_equal(answer.status, 200);
    path.path = "/v1/catalog/machines/p4d.24xlarge?name=x";
    path.query = "";
    assert_int_equal(api_quick(api, &path, &missing), HTTP_WORK);
    release_response(&answer);
    release_response(&first);
    api_free(api);
    hm_catalog_free(catalog);
}

/* Returns the status of a POST with a token from an address; 0 if the request is admitted. */
static int status_of(struct api *api, const char *address, const char *authorization)
{
    struct http_request r = post_request("/v1/plan", "", "{}");
    struct http_response response = {0};

    r.authorization = authorization;
    r.host = "localhost";
    snprintf(r.address, sizeof(r.address), "%s", address);
    bool admitted = api_admit(api, &r, &response);
    release_response(&response);
    return admitted ? 0 : response.status;
}

/* After too many wrong tokens from an address, its tokens are refused without a check, even correct
 * ones. */
static void wrong_tokens_are_limited(void **state)
{
    char token[TOKEN_TEXT], hash[TOKEN_TEXT], line[2 * TOKEN_TEXT], right[2 * TOKEN_TEXT];
    struct hm_catalog *catalog = NULL;
    struct tokens *tokens = NULL;

    (void)state;
    assert_int_equal(tokens_make(token, hash, NULL), 0);
    snprintf(line, sizeof(line), "%s read\n", hash);
    snprintf(right, sizeof(right), "Bearer %s", token);
    assert_int_equal(tokens_parse(line, strlen(line), "tokens", &tokens, NULL), 0);
    assert_int_equal(hm_catalog_new(&catalog, NULL), 0);
    struct api_settings settings = {.catalog = catalog, .tokens = tokens, .cache_bytes = 1 << 20};
    struct api *api = api_new(&settings, NULL);
    assert_non_null(api);
    assert_int_equal(status_of(api, "192.0.2.1", right), 0);
    for (int i = 0; i < TOKEN_LIMIT_WRONG; i++)
        assert_int_equal(status_of(api, "192.0.2.1", "Bearer wrong"), 401);
    assert_int_equal(status_of(api, "192.0.2.1", "Bearer wrong"), 429);
    assert_int_equal(status_of(api, "192.0.2.1", right), 429);
    assert_int_equal(status_of(api, "192.0.2.1", ""), 401);
    assert_int_equal(status_of(api, "192.0.2.2", right), 0);
    for (int i = 0; i < 2 * TOKEN_LIMIT_WRONG; i++)
        assert_int_equal(status_of(api, "127.0.0.1", "Bearer wrong"), 401);
    assert_int_equal(status_of(api, "127.0.0.1", right), 0);
    api_free(api);
    hm_catalog_free(catalog);
    tokens_free(tokens);
    struct token_limit *limit = token_limit_new();
    assert_non_null(limit);
    for (int i = 0; i < TOKEN_LIMIT_WRONG; i++)
        token_limit_count(limit, "a", 100);
    assert_true(token_limit_is_over(limit, "a", 100 + TOKEN_LIMIT_S - 0.1));
    assert_false(token_limit_is_over(limit, "a", 100 + TOKEN_LIMIT_S + 0.1));
    token_limit_free(limit);
}

/* However many addresses send wrong tokens, and whichever they are, others are not limited. */
static void wrong_tokens_do_not_limit_others(void **state)
{
    enum { ADDRESSES = 20000 };
    struct token_limit *limit = token_limit_new();

    (void)state;
    assert_non_null(limit);
    for (int i = 0; i < ADDRESSES; i++) {
        char address[32];
        snprintf(address, sizeof(address), "2001:db8::%x", i);
        for (int k = 0; k < TOKEN_LIMIT_WRONG; k++)
            token_limit_count(limit, address, 100);
        assert_true(token_limit_is_over(limit, address, 101));
        assert_false(token_limit_is_over(limit, "192.0.2.1", 101));
    }
    token_limit_free(limit);
}

/*
 * A request that is refused because of its path, its method or its type is refused before its body
 * is read, as one without a token is.
 */
static void refused_bodies_are_not_read(void **state)
{
    static const struct {
        const char *path, *type;
        int status;
    } cases[] = {{"/nothere", "text/csv", 404},  {"/healthz", "text/csv", 405},
                 {"/", "text/csv", 405},         {"/v1/progress", "text/csv", 405},
                 {"/v1/plan", "text/html", 415}, {"/v1/plan", "", 415},
                 {"/v1/plan", "text/csv", 0},    {"/v1/import", "text/html", 0}};
    struct hm_catalog *catalog = NULL;

    (void)state;
    assert_int_equal(hm_catalog_new(&catalog, NULL), 0);
    struct api *api = api_new(&(struct api_settings){.catalog = catalog}, NULL);
    assert_non_null(api);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct http_request r = post_request(cases[i].path, "", "");
        struct http_response response = {0};
        r.type = cases[i].type;
        r.host = "localhost";
        assert_int_equal(api_admit(api, &r, &response), cases[i].status == 0);
        assert_int_equal(response.status, cases[i].status);
        release_response(&response);
    }
    api_free(api);
    hm_catalog_free(catalog);
}

/* Returns the status with which a request is refused because of its token; 0 if it is not. */
static int refusal_of(struct api *api, const char *method, const char *path,
                      const char *authorization)
{
    struct http_request r = post_request(path, "", "{}");
    struct http_response response = {0};

    r.method = method;
    r.host = "localhost";
    r.authorization = authorization;
    bool refused = !api_admit(api, &r, &response);
    /* The token of a request without a body is checked when the request is complete. */
    if (!refused)
        refused = api_quick(api, &r, &response) == HTTP_ANSWERED &&
                  (response.status == 401 || response.status == 403);
    int status = refused ? response.status : 0;
    release_response(&response);
    return status;
}

/* The path of a route, with a name for each {part}. */
static void fill_path(const char *pattern, char path[128])
{
    size_t length = 0;

    for (const char *at = pattern; *at && length + 8 < 128; at++)
        if (*at == '{') {
            length += (size_t)snprintf(path + length, 128 - length, "machines");
            at += strcspn(at, "}");
        } else
            path[length++] = *at;
    path[length] = '\0';
}

/*
 * Every route with every kind of token. Only the health checks and the page need none, and only
 * adding runs needs the scope write; HEAD needs what GET needs.
 */
static void every_route_needs_its_scope(void **state)
{
    enum { NONE, UNKNOWN, READ, WRITE, BOTH, KINDS };
    static const char *const scopes[KINDS] = {
        [READ] = "read", [WRITE] = "write", [BOTH] = "read,write"};
    static const char *const open_paths[] = {"/healthz", "/readyz", "/", "/assets/{name}"};
    char sent[KINDS][2 * TOKEN_TEXT] = {"", "Bearer unknown"}, lines[8 * TOKEN_TEXT] = "";
    struct hm_catalog *catalog = NULL;
    struct tokens *tokens = NULL;
    size_t count, open_count = 0, writing = 0;

    (void)state;
    for (int k = READ; k < KINDS; k++) {
        char token[TOKEN_TEXT], hash[TOKEN_TEXT];
        assert_int_equal(tokens_make(token, hash, NULL), 0);
        snprintf(sent[k], sizeof(sent[k]), "Bearer %s", token);
        snprintf(lines + strlen(lines), sizeof(lines) - strlen(lines), "%s %s\n", hash, scopes[k]);
    }
    assert_int_equal(tokens_parse(lines, strlen(lines), "tokens", &tokens, NULL), 0);
    assert_int_equal(hm_catalog_new(&catalog, NULL), 0);
    struct api *api = api_new(
        &(struct api_settings){.catalog = catalog, .tokens = tokens, .cache_bytes = 1 << 20}, NULL);
    assert_non_null(api);
    const struct api_route *routes = api_routes(&count);
    assert_true(count >= 20);
    for (size_t i = 0; i < count; i++) {
        bool open = false, writes = strcmp(routes[i].method, "GET") != 0 &&
                                    strcmp(routes[i].path, "/v1/runs") == 0;
        char path[128];
        for (size_t k = 0; k < 4; k++)
            open = open || strcmp(routes[i].path, open_paths[k]) == 0;
        fill_path(routes[i].path, path);
        open_count += open;
        writing += writes;
        for (int k = 0; k < KINDS; k++) {
            bool allowed = open || k == BOTH || k == (writes ? WRITE : READ);
            int wanted = allowed ? 0 : k == NONE || k == UNKNOWN ? 401 : 403;
            if (refusal_of(api, routes[i].method, path, sent[k]) != wanted)
                fail_msg("%s %s with token %d is not refused by %d", routes[i].method, path, k,
                         wanted);
            if (strcmp(routes[i].method, "GET") == 0)
                assert_int_equal(refusal_of(api, "HEAD", path, sent[k]), wanted);
        }
    }
    assert_int_equal(open_count, 4);
    assert_int_equal(writing, 1);
    api_free(api);
    hm_catalog_free(catalog);
    tokens_free(tokens);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_needs_its_scope),
        cmocka_unit_test(cached_responses_keep_their_type),
        cmocka_unit_test(the_cache_distinguishes_requests),
        cmocka_unit_test(wrong_tokens_are_limited),
        cmocka_unit_test(wrong_tokens_do_not_limit_others),
        cmocka_unit_test(refused_bodies_are_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
