/*
 * Tests the guard of requests, the timeouts and limits of connections, and the cache of responses.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_cache.h"
#include "http.h"
#include "http_address.h"
#include "http_connections.h"
#include "http_guard.h"
#include "testing.h"

enum { LIMIT = 1000 };

/* Checks a head whose headers are given as lines "Name: value". */
static struct http_verdict look(const char *method, const char *target, const char *version,
                                const char *const *lines, size_t count,
                                struct http_framing *framing)
{
    struct http_header headers[HTTP_HEADERS_MAX];

    for (size_t i = 0; i < count && i < HTTP_HEADERS_MAX; i++) {
        const char *colon = strstr(lines[i], ": ");
        headers[i] = (struct http_header){lines[i], colon + 2, (size_t)(colon - lines[i]),
                                          strlen(colon + 2)};
    }
    struct http_head head = {method, target, version, headers, count};
    return http_guard_check(&head, LIMIT, framing);
}

#define LINES(...)                                                                                 \
    (const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)

static int status(const char *method, const char *target, const char *const *lines, size_t count)
{
    struct http_framing framing;

    return look(method, target, "HTTP/1.1", lines, count, &framing).status;
}

static void test_valid_requests(void **state)
{
    struct http_framing f;

    (void)state;
    assert_int_equal(status("GET", "/healthz", LINES("Host: a")), 0);
    assert_int_equal(status("HEAD", "/a?b=c%20d&e", LINES("Host: a.b:8080")), 0);
    assert_int_equal(status("GET", "/", LINES("Host: [::1]:80", "X-Any: \xc3\xa4\t")), 0);
    assert_int_equal(status("GET", "/", LINES("host: a", "content-length: 0")), 0);
    assert_int_equal(look("GET", "/", "HTTP/1.0", NULL, 0, &f).status, 0);
    assert_int_equal(
        look("POST", "/", "HTTP/1.1", LINES("Host: a", "Content-Length: 12"), &f).status, 0);
    assert_int_equal(f.length, 12);
    assert_int_equal(
        look("POST", "/", "HTTP/1.1", LINES("Host: a", "Transfer-Encoding: Chunked"), &f).status,
        0);
    assert_true(f.chunked);
    assert_int_equal(look("POST", "/", "HTTP/1.1",
                          LINES("Host: a", "Content-Length: 1", "Expect: 100-Continue"), &f)
                         .status,
                     0);
    assert_true(f.expects_continue);
}

static void test_framing(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "Content-Length: 5\0Transfer-Encoding: chunked",
        "Content-Length: 5\0Content-Length: 5",
        "Content-Length: 5\0content-length: 6",
        "Transfer-Encoding: chunked\0Transfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked\0A: b",
        "Transfer-Encoding: chunked, identity\0A: b",
        "Transfer-Encoding: xchunked\0A: b",
        "Transfer-Encoding: \0A: b",
        "Transfer-Encoding: identity\0A: b",
        "Transfer-Encoding: chunked \0A: b",
        "Content-Length: +5\0A: b",
        "Content-Length: -5\0A: b",
        "Content-Length: 5, 5\0A: b",
        "Content-Length: 0x5\0A: b",
        "Content-Length: \0A: b",
        "Content-Length:  5\0A: b",
        "Content-Length: 99999999999999999999\0A: b",
        "Content-Length: 5 5\0A: b",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        const char *second = lines[i] + strlen(lines[i]) + 1;
        assert_int_equal(status("POST", "/", LINES("Host: a", lines[i], second)), 400);
    }
    struct http_framing f;
    assert_int_equal(
        look("POST", "/", "HTTP/1.0", LINES("Host: a", "Transfer-Encoding: chunked"), &f).status,
        400);
}

static void test_host(void **state)
{
    (void)state;
    assert_int_equal(status("GET", "/", NULL, 0), 400);
    assert_int_equal(status("GET", "/", LINES("Host: a", "Host: a")), 400);
    assert_int_equal(status("GET", "/", LINES("Host: a", "HOST: b")), 400);
    static const char *const bad[] = {"Host: ",      "Host: a b",   "Host: a/b",      "Host: a@b",
                                      "Host: a:b",   "Host: a:1:2", "Host: [::1",     "Host: []",
                                      "Host: a,b",   "Host: :80",   "Host: a:999999", "Host: ä.de",
                                      "Host: [g::1]"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(status("GET", "/", LINES(bad[i])), 400);
}

static void test_target(void **state)
{
    static const char *const bad[] = {
        "*",          "http://a/",     "",       "/a b",      "/a\x01",   "/a\x7f", "/\xc3\xa4",
        "/%",         "/%4",           "/%4g",   "/%00",      "/%0a",     "/%ff",   "/%c0%80",
        "/%ed%a0%80", "/%f4%90%80%80", "/a#b",   "/a?%00",    "/a?b=%zz", "/a?%e4", "/<a>",
        "/a\\b",      "/a?b={}",       "/a?%7f", "/%c2%9b2J", "/a?%C2%80"};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(status("GET", bad[i], LINES("Host: a")), 400);
    assert_int_equal(status("GET", "/%c3%a4/%F0%9F%98%80?a=%E2%82%AC+b", LINES("Host: a")), 0);
    assert_int_equal(status("GET", "/%c2%a0", LINES("Host: a")), 0);
    char *far = malloc(HTTP_TARGET_MAX + 2);
    assert_non_null(far);
    memset(far, 'a', HTTP_TARGET_MAX + 1);
    far[0] = '/';
    far[HTTP_TARGET_MAX + 1] = '\0';
    assert_int_equal(status("GET", far, LINES("Host: a")), 414);
    far[HTTP_TARGET_MAX] = '\0';
    assert_int_equal(status("GET", far, LINES("Host: a")), 0);
    free(far);
}

static void test_headers(void **state)
{
    const char *many[HTTP_HEADERS_MAX + 1];
    static char large[HTTP_HEADER_MAX + 10];

    (void)state;
    assert_int_equal(status("GET", "/", LINES("Host: a", "A b: c")), 400);
    assert_int_equal(status("GET", "/", LINES("Host: a", "A : c")), 400);
    assert_int_equal(status("GET", "/", LINES("Host: a", "A\x01: c")), 400);
    assert_int_equal(status("GET", "/", LINES("Host: a", "A: c\x01")), 400);
    assert_int_equal(status("GET", "/", LINES("Host: a", "A: c\rB")), 400);
    assert_int_equal(status("GET", "/", LINES("Host: a", "A: c\x7f")), 400);
    assert_int_equal(status("GET", "/", LINES("Host: a", ": c")), 400);
    /* A proxy may use another one of two values. */
    assert_int_equal(status("GET", "/", LINES("Host: a", "Authorization: b", "Origin: c")), 0);
    assert_int_equal(status("GET", "/", LINES("Host: a", "Authorization: b", "authorization: b")),
                     400);
    assert_int_equal(status("GET", "/", LINES("Host: a", "Content-Type: b", "Content-Type: c")),
                     400);
    assert_int_equal(
        status("GET", "/", LINES("Host: a", "Idempotency-Key: b", "Idempotency-Key: c")), 400);
    assert_int_equal(status("GET", "/", LINES("Host: a", "Origin: b", "Origin: c")), 400);
    assert_int_equal(status("GET", "/", LINES("Host: a", "Accept: b", "Accept: c")), 0);
    for (size_t i = 0; i <= HTTP_HEADERS_MAX; i++)
        many[i] = i ? "A: b" : "Host: a";
    assert_int_equal(status("GET", "/", many, HTTP_HEADERS_MAX), 0);
    assert_int_equal(status("GET", "/", many, HTTP_HEADERS_MAX + 1), 431);
    memset(large, 'a', sizeof(large) - 1);
    memcpy(large + 1, ": ", 2);
    assert_int_equal(status("GET", "/", LINES("Host: a", large)), 431);
    large[HTTP_HEADER_MAX - 100] = '\0';
    assert_int_equal(status("GET", "/", LINES("Host: a", large)), 0);
    assert_int_equal(status("GET", "/", LINES("Host: a", large, large, large)), 431);
}

static void test_methods_and_bodies(void **state)
{
    struct http_framing f;

    (void)state;
    static const char *const methods[] = {"PUT", "DELETE", "TRACE", "CONNECT", "OPTIONS", "get"};
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        assert_int_equal(status(methods[i], "/", LINES("Host: a")), 405);
    assert_int_equal(status("G ET", "/", LINES("Host: a")), 400);
    assert_int_equal(status("", "/", LINES("Host: a")), 400);
    assert_int_equal(status("GET", "/", LINES("Host: a", "Content-Length: 1")), 400);
    assert_int_equal(status("HEAD", "/", LINES("Host: a", "Transfer-Encoding: chunked")), 400);
    assert_int_equal(status("POST", "/", LINES("Host: a")), 411);
    assert_int_equal(status("POST", "/", LINES("Host: a", "Content-Length: 1000")), 0);
    assert_int_equal(status("POST", "/", LINES("Host: a", "Content-Length: 1001")), 413);
    assert_int_equal(status("POST", "/", LINES("Host: a", "Content-Length: 1", "Expect: x")), 417);
    assert_int_equal(look("GET", "/", "HTTP/2.0", LINES("Host: a"), &f).status, 400);
    assert_int_equal(look("GET", "/", "HTTP/1.2", LINES("Host: a"), &f).status, 400);
    assert_int_equal(look("GET", "/", "", LINES("Host: a"), &f).status, 400);
}

static void test_types(void **state)
{
    char type[32];

    (void)state;
    assert_true(http_guard_type("Application/JSON ; charset=utf-8", type, sizeof(type)));
    assert_string_equal(type, "application/json");
    assert_false(http_guard_type(" ;", type, sizeof(type)));
    assert_false(http_guard_type("a/0123456789012345678901234567890", type, sizeof(type)));
}

static void test_timeouts(void **state)
{
    struct http_timeouts p = {
        .header_s = 10, .body_s = 14, .send_s = 60, .idle_s = 30, .body_rate = 512};

    (void)state;
    assert_false(http_connection_is_late(&p, HTTP_PHASE_HEAD, 9.9, 0));
    assert_true(http_connection_is_late(&p, HTTP_PHASE_HEAD, 10.1, 0));
    assert_false(http_connection_is_late(&p, HTTP_PHASE_BODY, 2.9, 0));
    assert_true(http_connection_is_late(&p, HTTP_PHASE_BODY, 3.1, 1500));
    assert_false(http_connection_is_late(&p, HTTP_PHASE_BODY, 3.1, 1600));
    assert_true(http_connection_is_late(&p, HTTP_PHASE_BODY, 14.1, 1 << 20));
    assert_false(http_connection_is_late(&p, HTTP_PHASE_WORK, 1e6, 0));
    assert_true(http_connection_is_late(&p, HTTP_PHASE_SEND, 61, 0));
    assert_true(http_connection_is_late(&p, HTTP_PHASE_IDLE, 31, 0));
    assert_false(http_connection_is_late(&p, HTTP_PHASE_LINGER, 1.9, 0));
    assert_true(http_connection_is_late(&p, HTTP_PHASE_LINGER, 2.1, 0));
}

static void test_connection_limits(void **state)
{
    struct http_connections *w = http_connections_new(4, 2);

    (void)state;
    assert_non_null(w);
    assert_true(http_connections_add(w, "10.0.0.1"));
    assert_true(http_connections_add(w, "10.0.0.1"));
    assert_false(http_connections_add(w, "10.0.0.1"));
    assert_true(http_connections_add(w, "10.0.0.2"));
    assert_false(http_connections_is_at_limit(w));
    assert_true(http_connections_add(w, "10.0.0.3"));
    assert_true(http_connections_is_at_limit(w));
    assert_false(http_connections_is_full(w));
    assert_true(http_connections_add(w, "10.0.0.3"));
    assert_true(http_connections_is_full(w));
    http_connections_remove(w, "10.0.0.1");
    assert_true(http_connections_add(w, "10.0.0.1"));
    assert_int_equal(http_connections_count(w), 5);
    /* Beyond the limit, an eighth of the limit plus eight connections are admitted. */
    char address[HTTP_ADDRESS];
    for (int i = 5; i < 12; i++) {
        snprintf(address, sizeof(address), "10.0.1.%d", i);
        assert_true(http_connections_add(w, address));
    }
    assert_false(http_connections_add(w, "10.0.0.9"));
    http_connections_remove(w, "10.0.1.5");
    assert_true(http_connections_add(w, "10.0.0.9"));
    http_connections_free(w);
}

struct crowd {
    struct http_connections *connections;
    int number;      /* Number of this thread, from 0. */
    size_t admitted; /* Connections of this thread that are open at its end. */
    size_t most;     /* Largest number of connections of all threads that this thread saw. */
};

/* Opens connections, and closes one after every third of them. */
static void *crowd_run(void *data)
{
    struct crowd *c = data;
    char address[HTTP_ADDRESS];

    snprintf(address, sizeof(address), "10.0.0.%d", c->number);
    for (int i = 0; i < 200000; i++) {
        c->admitted += http_connections_add(c->connections, address);
        size_t count = http_connections_count(c->connections);
        c->most = count > c->most ? count : c->most;
        if (i % 3 == 0 && c->admitted > 0) {
            http_connections_remove(c->connections, address);
            c->admitted--;
        }
    }
    return NULL;
}

/* The upper bound is exact if threads add and remove connections at the same time. */
static void test_connection_bound_in_threads(void **state)
{
    enum { THREADS = 8, CONNECTIONS = 40, BOUND = CONNECTIONS + CONNECTIONS / 8 + 8 };
    struct http_connections *w = http_connections_new(CONNECTIONS, 1000);
    struct crowd crowds[THREADS];
    pthread_t threads[THREADS];
    size_t sum = 0;

    (void)state;
    assert_non_null(w);
    for (int i = 0; i < THREADS; i++) {
        crowds[i] = (struct crowd){w, i, 0, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, crowd_run, &crowds[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += crowds[i].admitted;
        assert_true(crowds[i].most <= BOUND);
    }
    assert_int_equal(sum, http_connections_count(w));
    while (http_connections_add(w, "10.0.1.1"))
        sum++;
    assert_int_equal(sum, BOUND);
    http_connections_free(w);
}

static char *copy(const char *text)
{
    char *c = strdup(text);
    assert_non_null(c);
    return c;
}

static void test_cache(void **state)
{
    struct api_cache *c = api_cache_new(4000);
    struct api_cached *held, *again;
    char key[32];

    (void)state;
    assert_null(api_cache_get(c, "a", 1));
    held = api_cache_put(c, "a", 1, "text/plain", copy("first"), 5);
    again = api_cache_get(c, "a", 1);
    assert_ptr_equal(held, again);
    api_cached_release(again);
    for (int i = 0; i < 100;
         i++) { /* These entries evict the first one, which stays valid until it is released. */
        snprintf(key, sizeof(key), "key %d", i);
        api_cached_release(
            api_cache_put(c, key, strlen(key), "text/plain", copy(key), strlen(key)));
    }
    assert_null(api_cache_get(c, "a", 1));
    assert_string_equal(held->body, "first");
    api_cached_release(held);
    again = api_cache_get(c, "key 99", 6);
    assert_non_null(again);
    assert_string_equal(again->body, "key 99");
    api_cached_release(again);
    api_cache_free(c);
}

/* IPv4 clients of a server that listens on an IPv6 address are loopback clients, too. */
static void test_client_addresses(void **state)
{
    static const struct {
        const char *address, *text;
        bool loopback;
    } cases[] = {{"::ffff:127.0.0.1", "127.0.0.1", true},
                 {"::ffff:192.0.2.7", "192.0.2.7", false},
                 {"::1", "::1", true},
                 {"2001:db8::7", "2001:db8::7", false}};
    struct sockaddr_in four = {.sin_family = AF_INET};
    char text[HTTP_ADDRESS];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sockaddr_in6 six = {.sin6_family = AF_INET6};
        assert_int_equal(inet_pton(AF_INET6, cases[i].address, &six.sin6_addr), 1);
        http_address_text((const struct sockaddr *)&six, text);
        assert_string_equal(text, cases[i].text);
        assert_int_equal(http_is_loopback(text), cases[i].loopback);
    }
    assert_int_equal(inet_pton(AF_INET, "192.0.2.7", &four.sin_addr), 1);
    http_address_text((const struct sockaddr *)&four, text);
    assert_string_equal(text, "192.0.2.7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid_requests),
        cmocka_unit_test(test_framing),
        cmocka_unit_test(test_host),
        cmocka_unit_test(test_target),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_methods_and_bodies),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_timeouts),
        cmocka_unit_test(test_connection_limits),
        cmocka_unit_test(test_connection_bound_in_threads),
        cmocka_unit_test(test_cache),
        cmocka_unit_test(test_client_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
