/* Requests that add runs together: all runs are stored in one transaction, and each request gets
 * the answer that it would get alone. */
#include "store_testing.h"

#include "api.h"
#include "budget.h"
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

/* Opens a server whose requests have a time limit in seconds; 0 means no limit. */
static void server_open_limited(struct group_server *s, double seconds)
{
    s->where = fresh_where();
    assert_int_equal(hm_catalog_new(&s->catalog, NULL), 0);
    assert_done(api_store_new(s->where, 4, &s->store, err));
    struct api_settings settings = {
        .catalog = s->catalog, .store = s->store, .cache_bytes = 1 << 20, .seconds = seconds};
    s->api = api_new(&settings, NULL);
    assert_non_null(s->api);
}

static void server_open(struct group_server *s)
{
    server_open_limited(s, 0);
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

/* Sends one request in a group of its own, which must add one run. */
static void add_alone(struct group_server *s, const char *key, const char *body, const char *ids)
{
    const struct http_request request = post_run(key, body);
    struct http_response response = {0};

    answer_group(s, &request, &response, 1);
    check_response(&response, 200, ids);
}

/* Checks the runs that all_kinds_in_a_group has stored. */
static void check_group_runs(const struct group_server *s)
{
    struct hm_store *store = open_store(s->where);
    struct hm_store_filter filter = {.sort = "id", .limit = 100};
    struct hm_store_page *page;
    size_t named = 0;

    assert_done(hm_store_list(store, &filter, &page, err));
    assert_int_equal(page->count, 2 + REQUESTS - 6 + 2 + 1);
    for (size_t i = 0; i < page->count; i++) {
        const struct hm_stored *r = &page->runs[i];
        char machine[20], more[40], seconds[20];
        assert_true(i == 0 || r->id > page->runs[i - 1].id);
        assert_int_equal(strlen(r->made_at), 20);
        assert_string_equal(r->status, "ok");
        if (!r->machine || r->machine[0] != 'm')
            continue;
        snprintf(machine, sizeof(machine), "m%g", r->n - 1);
        snprintf(more, sizeof(more), "{\"depth\":%g}", r->n - 1);
        snprintf(seconds, sizeof(seconds), "0.%g", r->n);
        assert_string_equal(r->machine, machine);
        assert_string_equal(r->more, more);
        assert_true(r->seconds == strtod(seconds, NULL));
        named++;
    }
    assert_int_equal(named, REQUESTS - 6);
    hm_store_page_free(page);
    hm_store_close(store);
}

/* Runs that are stored already, tables, traces and runs that occur twice, among 30 new runs. */
static void all_kinds_in_a_group(void **state)
{
    static const char known[] = "{\"n\": 99, \"seconds\": 3, \"machine\": \"old\"}",
                      table[] = "[{\"n\": 7, \"seconds\": 1}, {\"n\": 8, \"seconds\": 1}]",
                      trace[] = "[{\"n\": 2, \"iteration\": 1, \"seconds\": 1, \"loss\": 5},"
                                "{\"n\": 2, \"iteration\": 2, \"seconds\": 1, \"loss\": 4}]";
    static char bodies[REQUESTS][120];
    struct http_request requests[REQUESTS];
    struct http_response responses[REQUESTS] = {0};
    struct group_server s;

    (void)state;
    server_open(&s);
    add_alone(&s, "", known, "\"added\":1,\"ids\":[1]");
    add_alone(&s, "", "{\"n\": 98, \"seconds\": 3}", "\"added\":1,\"ids\":[2]");
    for (size_t i = 0; i < REQUESTS; i++) {
        snprintf(bodies[i], sizeof(bodies[i]),
                 "{\"n\": %zu, \"seconds\": 0.%zu, \"machine\": \"m%zu\", \"depth\": %zu}", i + 1,
                 i + 1, i, i);
        requests[i] = post_run("", bodies[i]);
    }
    requests[18] = post_run("", known);
    requests[19] = requests[5];
    requests[20] = requests[17]; /* This run waits for its insertion when it comes again. */
    requests[22] = post_run("", table);
    requests[25] = post_run("", trace);
    requests[26] = post_run("given", bodies[26]);
    requests[27] = post_run("given", bodies[26]);
    answer_group(&s, requests, responses, REQUESTS);
    assert_int_equal(commits(&s), 3);
    check_response(&responses[0], 200, "{\"runs\":1,\"traces\":0,\"added\":1,\"ids\":[3]}");
    check_response(&responses[5], 200, "\"added\":1,\"ids\":[8]");
    check_response(&responses[17], 200, "\"added\":1,\"ids\":[20]");
    check_response(&responses[18], 200, "\"added\":0,\"ids\":[1]");
    check_response(&responses[19], 200, "\"added\":0,\"ids\":[8]");
    check_response(&responses[20], 200, "\"added\":0,\"ids\":[20]");
    check_response(&responses[22], 200, "\"runs\":2,\"traces\":0,\"added\":2,");
    check_response(&responses[25], 200, "\"runs\":0,\"traces\":1,\"added\":1,");
    check_response(&responses[26], 200, "\"added\":1,");
    check_response(&responses[27], 200, "\"added\":0,");
    check_group_runs(&s);
    for (size_t i = 0; i < REQUESTS; i++)
        if (!(i == 0 || i == 5 || (i >= 17 && i <= 20) || i == 22 || (i >= 25 && i <= 27)))
            check_response(&responses[i], 200, "\"added\":1,");
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

/* Checks that runs can be listed and that the server is ready. */
static void check_readable(struct group_server *s)
{
    struct http_request list = HTTP_REQUEST_INIT, ready = HTTP_REQUEST_INIT;
    struct http_response response = {0};

    list.method = ready.method = "GET";
    list.path = "/v1/runs";
    ready.path = "/readyz";
    assert_int_equal(api_quick(s->api, &list, &response), HTTP_WORK);
    api_work(s->api, &list, &response);
    check_response(&response, 200, "\"runs\":");
    response = (struct http_response){0};
    assert_int_equal(api_quick(s->api, &ready, &response), HTTP_ANSWERED);
    check_response(&response, 200, "ok");
}

/*
 * Another program holds the lock of writers. Requests that add runs wait for it until their time
 * limit, all together, and not again one by one; others are answered as usual.
 */
static void a_lock_of_another_program(void **state)
{
    static char large[5000];
    struct http_request requests[REQUESTS];
    struct http_response responses[REQUESTS] = {0}, alone = {0};
    struct group_server s;
    void *other;
    char *label;

    (void)state;
    server_open_limited(&s, 0.3);
    for (size_t i = 0; i < REQUESTS; i++)
        requests[i] = post_run("", "{\"n\": 1, \"seconds\": 1.5}");
    memset(large, ' ', sizeof(large) - 1);
    memcpy(large, "{\"n\": 1, \"seconds\": 2}", 22);
    const struct http_request large_request = post_run("", large);
    assert_done(store_sql()->open(s.where, &other, &label, err));
    assert_done(store_sql()->exec(other, store_sql()->begin_write, err));
    double begun = hm__budget_now();
    answer_group(&s, requests, responses, REQUESTS);
    api_work(s.api, &large_request, &alone);
    assert_true(hm__budget_now() - begun < 10);
    for (size_t i = 0; i < REQUESTS; i++) {
        assert_string_equal(responses[i].extra[0].name, "Retry-After");
        check_response(&responses[i], 503, "\"field\":\"lock\"");
    }
    check_response(&alone, 503, "\"field\":\"lock\"");
    check_readable(&s);
    assert_done(store_sql()->exec(other, "ROLLBACK", err));
    store_sql()->close(other);
    hm_text_free(label);
    add_alone(&s, "", "{\"n\": 1, \"seconds\": 1.5}", "\"added\":1");
    assert_int_equal(stored_runs(&s), 1);
    server_close(&s);
}

/* When the server shuts down, requests do not wait for a lock until their time limit. */
static void waiting_ends_with_the_server(void **state)
{
    const struct http_request request = post_run("", "{\"n\": 1, \"seconds\": 1.5}");
    struct http_response response = {0};
    struct group_server s;
    void *other;
    char *label;

    (void)state;
    server_open_limited(&s, 1000);
    assert_done(store_sql()->open(s.where, &other, &label, err));
    assert_done(store_sql()->exec(other, store_sql()->begin_write, err));
    double begun = hm__budget_now();
    api_store_stop(s.store, 0.2);
    answer_group(&s, &request, &response, 1);
    assert_true(hm__budget_now() - begun < 4); /* Without an end, it would wait for 5 s. */
    check_response(&response, 503, "\"field\":\"lock\"");
    store_sql()->close(other);
    hm_text_free(label);
    server_close(&s);
}

static int64_t waiting_runs(const struct group_server *s)
{
    struct hm_store *store = open_store(s->where);
    int64_t count = -1;

    assert_done(hm__store_number(store, "SELECT count(*) FROM runs WHERE waiting = 1", NULL, 0,
                                 &count, err));
    hm_store_close(store);
    return count;
}

/* Runs are added to the indexes after the answers, as soon as many runs wait for this. */
static void runs_are_placed_after_the_answers(void **state)
{
    static char bodies[REQUESTS][80];
    struct http_request requests[REQUESTS];
    struct group_server s;
    size_t added = 0;

    (void)state;
    server_open(&s);
    while (added < HM_STORE_WAITING) {
        struct http_response responses[REQUESTS] = {0};
        for (size_t i = 0; i < REQUESTS; i++) {
            snprintf(bodies[i], sizeof(bodies[i]), "{\"n\": %zu, \"seconds\": 2.5}", ++added);
            requests[i] = post_run("", bodies[i]);
        }
        answer_group(&s, requests, responses, REQUESTS);
        for (size_t i = 0; i < REQUESTS; i++)
            check_response(&responses[i], 200, "\"added\":1");
        assert_int_equal(waiting_runs(&s), added);
        api_after_group(s.api);
    }
    assert_int_equal(waiting_runs(&s), 0);
    assert_int_equal(stored_runs(&s), added);
    server_close(&s);
}

/* Adds as many runs as are added to the indexes together. */
static void add_many(struct group_server *s)
{
    static char bodies[REQUESTS][80];
    struct http_request requests[REQUESTS];
    size_t added = 0;

    while (added < HM_STORE_WAITING) {
        struct http_response responses[REQUESTS] = {0};
        for (size_t i = 0; i < REQUESTS; i++) {
            snprintf(bodies[i], sizeof(bodies[i]), "{\"n\": %zu, \"seconds\": 2.5}", ++added);
            requests[i] = post_run("", bodies[i]);
        }
        answer_group(s, requests, responses, REQUESTS);
        for (size_t i = 0; i < REQUESTS; i++)
            check_response(&responses[i], 200, "\"added\":1");
    }
}

/* Adding runs to the indexes does not wait for the lock of another program; a later call adds
 * them. */
static void placing_does_not_wait(void **state)
{
    struct group_server s;
    void *other;
    char *label;

    (void)state;
    server_open(&s);
    add_many(&s);
    assert_done(store_sql()->open(s.where, &other, &label, err));
    assert_done(store_sql()->exec(other, store_sql()->begin_write, err));
    double begun = hm__budget_now();
    api_after_group(s.api);
    assert_true(hm__budget_now() - begun < 4); /* The store waits for locks for 5 s. */
    assert_true(waiting_runs(&s) >= HM_STORE_WAITING);
    assert_done(store_sql()->exec(other, "ROLLBACK", err));
    store_sql()->close(other);
    hm_text_free(label);
    api_after_group(s.api);
    assert_int_equal(waiting_runs(&s), 0);
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
        cmocka_unit_test(one_transaction_for_all),
        cmocka_unit_test(wrong_requests_in_a_group),
        cmocka_unit_test(runs_are_placed_after_the_answers),
        cmocka_unit_test(placing_does_not_wait),
        cmocka_unit_test(all_kinds_in_a_group),
        cmocka_unit_test(a_conflict_in_a_group),
        cmocka_unit_test(a_store_that_fails),
        cmocka_unit_test(a_lock_of_another_program),
        cmocka_unit_test(waiting_ends_with_the_server),
        cmocka_unit_test(a_large_body_waits_alone),
    };

    return cmocka_run_group_tests_name("api_group", tests, make_folder, remove_folder);
}
