/*
 * The guard validates the head of a request before a handler receives the request. HTTP libraries
 * are lenient, and a proxy may parse an ambiguous request differently (request smuggling), so
 * ambiguous requests are refused; see RFC 9110 and RFC 9112. All functions are pure.
 */
#ifndef HM_HTTP_GUARD_H
#define HM_HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>

enum {
    HTTP_TARGET_MAX = 4096,   /* Largest number of bytes in the request target (path and query). */
    HTTP_HEADERS_MAX = 64,    /* Largest number of headers in a request. */
    HTTP_HEADER_MAX = 8192,   /* Largest number of bytes in a header's name and value. */
    HTTP_HEADERS_SIZE = 16384 /* Largest number of bytes in all headers. */
};

struct http_header {
    /* Name and value of a header, borrowed; `value` is NULL if the header has no value. */
    const char *name, *value;
    size_t name_length, value_length;
};

/* The head of a request before decoding. All pointers are borrowed. */
struct http_head {
    const char *method, *target, *version;
    const struct http_header *headers; /* The first HTTP_HEADERS_MAX headers of the request. */
    /* Number of headers in the request; may exceed HTTP_HEADERS_MAX. */
    size_t header_count;
};

/* Reasons for refusing a request, with their names in /metrics. */
#define HTTP_REFUSAL_MAP(X)                                                                        \
    X(NONE, "none")                                                                                \
    X(FRAMING, "framing")                                                                          \
    X(HOST, "host")                                                                                \
    X(HEADER, "header")                                                                            \
    X(TARGET, "target")                                                                            \
    X(VERSION, "version")                                                                          \
    X(METHOD, "method")                                                                            \
    X(EXPECT, "expect")                                                                            \
    X(BODY, "body")                                                                                \
    X(TYPE, "type")                                                                                \
    X(SIZE, "size")                                                                                \
    X(TOKEN, "token")                                                                              \
    X(OVERLOAD, "overload")                                                                        \
    X(CONNECTIONS, "connections")                                                                  \
    X(SLOW, "slow")                                                                                \
    X(MEMORY, "memory")                                                                            \
    X(GONE, "gone")                                                                                \
    X(ORIGIN, "origin")

enum http_refusal {
#define HTTP_REFUSAL_ENUM(name, text) HTTP_REFUSAL_##name,
    HTTP_REFUSAL_MAP(HTTP_REFUSAL_ENUM)
#undef HTTP_REFUSAL_ENUM
        HTTP_REFUSAL_COUNT
};

const char *http_refusal_name(enum http_refusal refusal);

/* The guard's verdict on a request; if `status` is 0, the request is accepted. */
struct http_verdict {
    int status;
    enum http_refusal refusal;
    const char *detail; /* Explanation of the refusal as one sentence without a full stop. */
    const char *field;  /* Name of the header or part of the request that is wrong; may be NULL. */
};

/* Describes how the body of an accepted request is delimited. */
struct http_framing {
    bool chunked;
    bool has_length;
    size_t length;
    bool expects_continue;
};

/*
 * Checks the whole head of a request. `body_limit` is the largest allowed number of bytes in a
 * body.
 */
struct http_verdict http_guard_check(const struct http_head *head, size_t body_limit,
                                     struct http_framing *ret_framing);

/*
 * Decodes a percent-encoded text into text[room]. Returns false if it does not fit, or if the
 * result is not well-formed UTF-8 or contains control characters. If `plus` is true, a + becomes a
 * space, as in queries.
 */
bool http_guard_decode(const char *piece, size_t length, bool plus, char *text, size_t room);

/* Returns the first header with this name, ignoring case; NULL if there is none. */
const struct http_header *http_guard_find(const struct http_head *head, const char *name);

/*
 * Copies the media type from a Content-Type header (the part before ';'), in lower case, into
 * text[room].
 */
bool http_guard_type(const char *value, char *text, size_t room);

/* Returns whether a string is a host name, an IPv4 address or an IPv6 address in brackets, with an
 * optional port. */
bool http_guard_is_host(const char *text, size_t length);

#endif
