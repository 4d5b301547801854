/*
 * Tests the parser of request heads and of chunked bodies, with all bytes at once and byte by byte.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "http_parse.h"
#include "http_write.h"
#include "testing.h"

#define TEXT(text) text, sizeof(text) - 1

static enum http_scan_result scan_whole(const char *data, size_t length, struct http_scan *scan)
{
    *scan = (struct http_scan){0};
    return http_scan_head(scan, data, length);
}

/* Scans a head one byte at a time. */
static enum http_scan_result scan_bytes(const char *data, size_t length, struct http_scan *scan)
{
    enum http_scan_result result = HTTP_SCAN_MORE;

    *scan = (struct http_scan){0};
    for (size_t i = 1; i <= length && result == HTTP_SCAN_MORE; i++)
        result = http_scan_head(scan, data, i);
    return result;
}

static enum http_scan_result scan(const char *data, size_t length, struct http_scan *s)
{
    struct http_scan bytes;
    enum http_scan_result result = scan_whole(data, length, s);

    assert_int_equal(scan_bytes(data, length, &bytes), result);
    assert_int_equal(bytes.at, s->at);
    assert_int_equal(bytes.begin, s->begin);
    return result;
}

static void test_end_of_head(void **state)
{
    struct http_scan s;

    (void)state;
    assert_int_equal(scan(TEXT("GET / HTTP/1.1\r\nA: b\r\n\r\nGET"), &s), HTTP_SCAN_DONE);
    assert_int_equal(s.at, 24);
    assert_int_equal(s.begin, 0);
    assert_int_equal(scan(TEXT("\r\nGET / HTTP/1.0\r\n\r\n"), &s), HTTP_SCAN_DONE);
    assert_int_equal(s.begin, 2);
    assert_int_equal(s.at, 20);
    assert_int_equal(scan(TEXT("GET / HTTP/1.1\r\nA: b\r\n\r"), &s), HTTP_SCAN_MORE);
    assert_int_equal(scan(TEXT(""), &s), HTTP_SCAN_MORE);
    static const char *const bad[] = {
        "\r\n\r\n", "GET / HTTP/1.1\n",    "\n", "GET / HTTP/1.1\rA", "GET / HTTP/1.1\r\r",
        "\r\r\n",   "GET / HTTP/1.1\r\n\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(scan(bad[i], strlen(bad[i]), &s), HTTP_SCAN_BAD);
    assert_int_equal(scan(TEXT("GET /\0"), &s), HTTP_SCAN_BAD);
}

static void test_long_heads(void **state)
{
    static char text[HTTP_HEAD_MAX + 100];
    struct http_scan s;

    (void)state;
    memset(text, 'a', sizeof(text));
    assert_int_equal(scan(text, HTTP_LINE_MAX, &s), HTTP_SCAN_MORE);
    assert_int_equal(scan(text, HTTP_LINE_MAX + 1, &s), HTTP_SCAN_LONG_LINE);
    memcpy(text + 20, "\r\n", 2);
    assert_int_equal(scan(text, HTTP_HEAD_MAX - 1, &s), HTTP_SCAN_MORE);
    assert_int_equal(scan(text, sizeof(text), &s), HTTP_SCAN_LONG_HEAD);
    assert_int_equal(s.at, HTTP_HEAD_MAX);
}

static struct http_parsed parsed;

static int parse(const char *head)
{
    static char text[4096];

    snprintf(text, sizeof(text), "%s", head);
    return http_parse_head(text, strlen(text), &parsed).status;
}

static void test_parts(void **state)
{
    (void)state;
    assert_int_equal(parse("POST /a?b HTTP/1.1\r\nHost: x \r\nEmpty:\r\nA:\t b c\t\r\n\r\n"), 0);
    assert_string_equal(parsed.head.method, "POST");
    assert_string_equal(parsed.head.target, "/a?b");
    assert_string_equal(parsed.head.version, "HTTP/1.1");
    assert_int_equal(parsed.head.header_count, 3);
    assert_string_equal(parsed.headers[0].name, "Host");
    assert_string_equal(parsed.headers[0].value, "x");
    assert_int_equal(parsed.headers[1].value_length, 0);
    assert_string_equal(parsed.headers[2].value, "b c");
    assert_int_equal(parsed.headers[2].value_length, 3);
    assert_false(parsed.close);
    static const char *const bad[] = {"GET /\r\n\r\n",
                                      "\r\n",
                                      "",
                                      "GET\r\n\r\n",
                                      " GET / HTTP/1.1\r\n\r\n",
                                      "GET  / HTTP/1.1\r\n\r\n",
                                      "GET / HTTP/1.1 \r\n\r\n",
                                      "GET / HTTP/1.1\r\nA\r\n\r\n",
                                      "GET / HTTP/1.1\r\n A: b\r\n\r\n",
                                      "GET / HTTP/1.1\r\nA: b\r\n\tc\r\n\r\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(parse(bad[i]), 400);
}

static void test_many_headers(void **state)
{
    char text[4096];
    int used = snprintf(text, sizeof(text), "GET / HTTP/1.1\r\n");

    (void)state;
    for (int i = 0; i < HTTP_HEADERS_MAX + 10; i++)
        used += snprintf(text + used, sizeof(text) - (size_t)used, "A: b\r\n");
    snprintf(text + used, sizeof(text) - (size_t)used, "\r\n");
    assert_int_equal(parse(text), 0);
    assert_int_equal(parsed.head.header_count, HTTP_HEADERS_MAX + 10);
}

static void test_connection(void **state)
{
    static const char *const closing[] = {"close", "Close", "keep-alive, close", "a ,close ,b"},
                             *const open[] = {"keep-alive", "closed", "a,xclose", "", ",, ,"};
    char text[256];

    (void)state;
    for (size_t i = 0; i < sizeof(closing) / sizeof(closing[0]); i++) {
        snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nconnection: %s\r\n\r\n", closing[i]);
        assert_int_equal(parse(text), 0);
        assert_true(parsed.close);
    }
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
        snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nConnection: %s\r\n\r\n", open[i]);
        assert_int_equal(parse(text), 0);
        assert_false(parsed.close);
    }
}

static void test_absolute_targets(void **state)
{
    (void)state;
    assert_int_equal(parse("GET http://A.b:1/c?d HTTP/1.1\r\nHost: a.B:1\r\n\r\n"), 0);
    assert_string_equal(parsed.head.target, "/c?d");
    assert_int_equal(parse("GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n"), 0);
    /* The parser accepts this target, and the guard refuses it later. */
    assert_string_equal(parsed.head.target, "https://a/");
    static const char *const bad[] = {
        "GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n", "GET http://a/ HTTP/1.1\r\nHost: aa\r\n\r\n",
        "GET http://a/ HTTP/1.0\r\n\r\n", "GET http://a HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET http://a?b HTTP/1.1\r\nHost: a\r\n\r\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(parse(bad[i]), 400);
}

/* Decodes a body in pieces of `step` bytes. Returns the number of bytes used. */
static size_t decode(const char *data, size_t length, size_t step, struct http_chunks *k,
                     char *body)
{
    size_t used = 0, filled = 0;

    *k = (struct http_chunks){0};
    for (size_t end = 0; end < length && k->state != HTTP_CHUNK_DONE;) {
        end = length - end < step ? length : end + step;
        while (used < end && k->state != HTTP_CHUNK_DONE && k->state != HTTP_CHUNK_BAD) {
            const char *piece;
            size_t size;
            used += http_chunks_decode(k, data + used, end - used, &piece, &size);
            if (size > 0)
                memcpy(body + filled, piece, size);
            filled += size;
        }
    }
    body[filled] = '\0';
    return used;
}

static void test_chunks(void **state)
{
    static const char good[] = "5;a=\"b c\"\r\nhello\r\n00a\r\n0123456789\r\n0;x\r\nA: b\r\n\r\n";
    struct http_chunks k;
    char body[256];

    (void)state;
    for (size_t step = 1; step < 60; step++) {
        char text[128];
        snprintf(text, sizeof(text), "%sGET /", good);
        assert_int_equal(decode(text, strlen(text), step, &k, body), sizeof(good) - 1);
        assert_int_equal(k.state, HTTP_CHUNK_DONE);
        assert_string_equal(body, "hello0123456789");
    }
    static const char *const bad[] = {"\r\n",
                                      "x\r\n",
                                      "-1\r\n",
                                      "+1\r\n",
                                      " 1\r\n",
                                      "1 \r\n",
                                      "1\n",
                                      "1\rx",
                                      "1;a\n",
                                      "1;a\x7f\r\n",
                                      "0x1\r\n",
                                      "1\r\nab",
                                      "1\r\na\n",
                                      "1\r\na\rb",
                                      "0\r\n\n",
                                      "0\r\nA\r\n",
                                      "0\r\n: b\r\n",
                                      "0\r\nA : b\r\n",
                                      "0\r\n A: b\r\n",
                                      "0\r\nA: b\n",
                                      "0\r\nA: b\rc",
                                      "0\r\nA: b\r\n\n",
                                      "0\n",
                                      "0000000000000001\r\n",
                                      "fffffffffffffffff\r\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        decode(bad[i], strlen(bad[i]), 100, &k, body);
        assert_int_equal(k.state, HTTP_CHUNK_BAD);
        decode(bad[i], strlen(bad[i]), 1, &k, body);
        assert_int_equal(k.state, HTTP_CHUNK_BAD);
    }
    decode(TEXT("fffffffffffffff\r\n"), 100, &k, body);
    assert_int_equal(k.state, HTTP_CHUNK_DATA);
    assert_true(k.left == 0xfffffffffffffff);
}

static void test_chunk_limits(void **state)
{
    static char text[HTTP_TRAILER_MAX + 20];
    struct http_chunks k;
    char body[16];

    (void)state;
    memset(text, 'a', sizeof(text));
    memcpy(text, "1;", 2);
    decode(text, HTTP_EXTENSION_MAX + 2, 1000, &k, body);
    assert_int_equal(k.state, HTTP_CHUNK_EXTENSION);
    decode(text, HTTP_EXTENSION_MAX + 3, 1000, &k, body);
    assert_int_equal(k.state, HTTP_CHUNK_BAD);
    memcpy(text, "0\r\n", 3);
    decode(text, HTTP_TRAILER_MAX + 3, sizeof(text), &k, body);
    assert_int_equal(k.state, HTTP_CHUNK_TRAILER_NAME);
    decode(text, HTTP_TRAILER_MAX + 4, sizeof(text), &k, body);
    assert_int_equal(k.state, HTTP_CHUNK_BAD);
}

static void test_response_heads(void **state)
{
    struct http_response r = {.status = 413, .type = "text/plain", .length = 7};
    char text[HTTP_WRITE_ROOM + 1];

    (void)state;
    text[http_write_head(text, &r, "id", true)] = '\0';
    assert_ptr_equal(strstr(text, "HTTP/1.1 413 Content Too Large\r\nDate: "), text);
    assert_non_null(strstr(text, " GMT\r\nContent-Length: 7\r\nContent-Type: text/plain\r\n"));
    assert_non_null(strstr(text, "\r\nConnection: close\r\n\r\n"));
    r.status = 304;
    r.extra_count = HTTP_EXTRA_MAX;
    for (size_t i = 0; i < HTTP_EXTRA_MAX; i++) {
        r.extra[i].name = "X-A-Name-That-Is-As-Long-As-Any-Name-Of-A-Header-May-Be-In-Here";
        memset(r.extra[i].value, 'v', HTTP_EXTRA - 1);
    }
    size_t length = http_write_head(text, &r, "01234567-012345678901", false);
    assert_true(length < HTTP_WRITE_ROOM);
    text[length] = '\0';
    assert_null(strstr(text, "Content-Length"));
    assert_null(strstr(text, "Connection"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end_of_head),    cmocka_unit_test(test_long_heads),
        cmocka_unit_test(test_parts),          cmocka_unit_test(test_many_headers),
        cmocka_unit_test(test_connection),     cmocka_unit_test(test_absolute_targets),
        cmocka_unit_test(test_chunks),         cmocka_unit_test(test_chunk_limits),
        cmocka_unit_test(test_response_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
