/* Handlers of the server without sockets: responses from the cache equal the computed ones. */
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "testing.h"

static struct http_request post_request(const char *path, const char *query, const char *body)
{
    return (struct http_request){.method = "POST",
                                 .path = path,
                                 .query = query,
                                 .type = "application/json",
                                 .accept = "",
                                 .authorization = "",
                                 .host = "",
                                 .origin = "",
                                 .if_none_match = "",
                                 .key = "",
                                 .body = body,
                                 .length = strlen(body)};
}

static void release_response(struct http_response *response)
{
    if (response->release)
        response->release(response->owner);
}

/* The first response is computed by api_work; api_quick sends the same one from the cache. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cached_responses_keep_their_type),
        cmocka_unit_test(the_cache_distinguishes_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
