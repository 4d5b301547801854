/* Requests that add runs together: all runs are stored in one transaction, and each request gets
 * the answer that it would get alone. */
#include "store_testing.h"

#include "api.h"
#include "store.h"

enum { REQUESTS = 40 };

static struct http_request post_run(const char *key, const char *body)
{
    struct http_request request = HTTP_REQUEST_INIT;

    request.method = "POST";
    request.path = "/v1/runs";
    request.type = "application/json";
    request.key = key;
    request.body = body;
    request.length = strlen(body);
    return request;
}

/* A server with an empty store. */
struct group_server {
    struct hm_catalog *catalog;
    struct api_store *store;
    struct api *api;
    const char *where;
};

static void server_open(struct group_server *s)
{
    s->where = fresh_where();
    assert_int_equal(hm_catalog_new(&s->catalog, NULL), 0);
    assert_done(api_store_new(s->where, 4, &s->store, err));
    struct api_settings settings = {
        .catalog = s->catalog, .store = s->store, .cache_bytes = 1 << 20};
    s->api = api_new(&settings, NULL);
    assert_non_null(s->api);
}

static void server_close(struct group_server *s)
{
    api_free(s->api);
    api_store_free(s->store);
    hm_catalog_free(s->catalog);
}

static void answer_group(struct group_server *s, const struct http_request *requests,
                         struct http_response *responses, size_t count)
{
    const struct http_request *asked[REQUESTS];
    struct http_response *answers[REQUESTS];

    for (size_t i = 0; i < count; i++) {
        asked[i] = &requests[i];
        answers[i] = &responses[i];
        assert_int_equal(api_quick(s->api, &requests[i], &responses[i]), HTTP_GROUP);
    }
    api_work_group(s->api, asked, answers, count);
}

static void check_response(struct http_response *response, int status, const char *text)
{
    char body[1000];

    assert_true(response->length < sizeof(body));
    memcpy(body, response->body, response->length);
    body[response->length] = '\0';
    if (response->status != status || !strstr(body, text))
        fail_msg("%d: %s, instead of %d with %s", response->status, body, status, text);
    if (response->release)
        response->release(response->owner);
}

static int64_t stored_runs(const struct group_server *s)
{
    struct hm_store *store = open_store(s->where);
    int64_t count = count_where(store, NULL);

    hm_store_close(store);
    return count;
}

static unsigned long long commits(const struct group_server *s)
{
    struct api_store_counts counts;

    api_store_count(s->store, &counts);
    return counts.commits;
}

static void one_transaction_for_all(void **state)
{
    static char bodies[REQUESTS][80];
    struct http_request requests[REQUESTS];
    struct http_response responses[REQUESTS] = {0};
    struct group_server s;
    char ids[40];

    (void)state;
    server_open(&s);
    for (size_t i = 0; i < REQUESTS; i++) {
        snprintf(bodies[i], sizeof(bodies[i]), "{\"n\": %zu, \"seconds\": 1.5}", i + 1);
        requests[i] = post_run("", bodies[i]);
    }
    answer_group(&s, requests, responses, REQUESTS);
    assert_int_equal(commits(&s), 1);
    assert_int_equal(stored_runs(&s), REQUESTS);
    for (size_t i = 0; i < REQUESTS; i++) {
        snprintf(ids, sizeof(ids), "\"ids\":[%zu]", i + 1);
        check_response(&responses[i], 200, ids);
    }
    server_close(&s);
}

/* Requests that are wrong in themselves do not disturb the others. */
static void wrong_requests_in_a_group(void **state)
{
    const struct http_request requests[] = {
        post_run("", "{\"n\": 1, \"seconds\": 2}"),
        post_run("", "{\"n\": -1, \"seconds\": 2}"),
        post_run("", "{\"n\": 1,"),
        post_run("", "{\"n\": 2, \"seconds\": 2}"),
    };
    struct http_response responses[4] = {0};
    struct group_server s;

    (void)state;
    server_open(&s);
    answer_group(&s, requests, responses, 4);
    assert_int_equal(commits(&s), 1);
    check_response(&responses[0], 200, "\"added\":1");
    check_response(&responses[1], 422, "n");
    check_response(&responses[2], 400, "body");
    check_response(&responses[3], 200, "\"ids\":[2]");
    assert_int_equal(stored_runs(&s), 2);
    server_close(&s);
}

/* A run whose key belongs to another run undoes the transaction; the other requests then succeed
 * one by one. */
static void a_conflict_in_a_group(void **state)
{
    const struct http_request requests[] = {
        post_run("a", "{\"n\": 1, \"seconds\": 2}"), post_run("b", "{\"n\": 2, \"seconds\": 2}"),
        post_run("a", "{\"n\": 3, \"seconds\": 2}"), post_run("b", "{\"n\": 2, \"seconds\": 2}"),
        post_run("c", "{\"n\": 4, \"seconds\": 2}"),
    };
    struct http_response responses[5] = {0};
    struct group_server s;

    (void)state;
    server_open(&s);
    answer_group(&s, requests, responses, 5);
    check_response(&responses[0], 200, "\"added\":1");
    check_response(&responses[1], 200, "\"added\":1");
    check_response(&responses[2], 409, "the key 'a-1' is used by a run with other contents");
    check_response(&responses[3], 200, "\"added\":0");
    check_response(&responses[4], 200, "\"added\":1");
    assert_int_equal(stored_runs(&s), 3);
    server_close(&s);
}

/* A store that cannot be written gives an error for each request, and nothing is stored. */
static void a_store_that_fails(void **state)
{
    const struct http_request requests[] = {
        post_run("", "{\"n\": 1, \"seconds\": 2}"),
        post_run("", "{\"n\": 2, \"seconds\": 2}"),
    };
    struct http_response responses[2] = {0};
    struct group_server s;

    (void)state;
    server_open(&s);
    store_behind(s.where, "ALTER TABLE runs RENAME TO lost");
    answer_group(&s, requests, responses, 2);
    check_response(&responses[0], 503, "no such table");
    check_response(&responses[1], 503, "the store does not answer");
    server_close(&s);
}

/* Large bodies do not keep the thread of the group busy. */
static void a_large_body_waits_alone(void **state)
{
    static char body[5000];
    struct group_server s;
    struct http_response response = {0};

    (void)state;
    server_open(&s);
    memset(body, ' ', sizeof(body) - 1);
    memcpy(body, "{\"n\": 1, \"seconds\": 2}", 22);
    struct http_request request = post_run("", body);
    assert_int_equal(api_quick(s.api, &request, &response), HTTP_WAIT);
    request.length = 4096;
    assert_int_equal(api_quick(s.api, &request, &response), HTTP_GROUP);
    server_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_transaction_for_all),  cmocka_unit_test(wrong_requests_in_a_group),
        cmocka_unit_test(a_conflict_in_a_group),    cmocka_unit_test(a_store_that_fails),
        cmocka_unit_test(a_large_body_waits_alone),
    };

    return cmocka_run_group_tests_name("api_group", tests, make_folder, remove_folder);
}
