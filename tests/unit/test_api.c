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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cached_responses_keep_their_type),
        cmocka_unit_test(the_cache_distinguishes_requests),
        cmocka_unit_test(wrong_tokens_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
