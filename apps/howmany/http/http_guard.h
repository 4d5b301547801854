/*
 * The guard: what must hold of a request before anything looks at what it asks. Libraries below are
 * lenient, and a proxy in front may read a lenient request in another way than we do; so whatever
 * can be read in two ways is refused (RFC 9110, 9112). Pure functions on a parsed request.
 */
#ifndef HM_HTTP_GUARD_H
#define HM_HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>

enum {
    HTTP_TARGET_MAX = 4096,   /* bytes of path and query */
    HTTP_ARGUMENTS_MAX = 100, /* of a query */
    HTTP_HEADERS_MAX = 64,    /* fields */
    HTTP_HEADER_MAX = 8192,   /* bytes of a field, name and value */
    HTTP_HEADERS_SIZE = 16384 /* bytes of all fields */
};

struct http_header {
    const char *name, *value; /* borrowed; value may be NULL: empty */
    size_t name_length, value_length;
};

/* A request as its head says it, nothing decoded. Borrows everything. */
struct http_head {
    const char *method, *target, *version;
    const struct http_header *headers; /* the first HTTP_HEADERS_MAX */
    size_t header_count;               /* all there are */
};

/* Why a request is refused; the names are those of /metrics. */
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
    X(SLOW, "slow")

enum http_refusal {
#define HTTP_REFUSAL_ENUM(name, text) HTTP_REFUSAL_##name,
    HTTP_REFUSAL_MAP(HTTP_REFUSAL_ENUM)
#undef HTTP_REFUSAL_ENUM
        HTTP_REFUSAL_COUNT
};

const char *http_refusal_name(enum http_refusal refusal);

/* What the guard says: status 0 lets the request in. */
struct http_verdict {
    int status;
    enum http_refusal refusal;
    const char *detail; /* one sentence without a full stop */
    const char *field;  /* header or part of the request; NULL: none */
};

/* How the body is framed, once the guard has let the head in. */
struct http_framing {
    bool chunked;
    bool has_length;
    size_t length;
    bool expects_continue;
};

/* Look at the whole head. body_limit: bytes a body may have. */
struct http_verdict http_guard_check(const struct http_head *head, size_t body_limit,
                                     struct http_framing *ret_framing);

/*
 * Decode a percent-encoded piece into text[room]: false unless it is well-formed UTF-8 without
 * control characters. With plus, a + is a blank, as in queries.
 */
bool http_guard_decode(const char *piece, size_t length, bool plus, char *text, size_t room);
/* Whether bytes are well-formed UTF-8 (no overlong forms, no surrogates). */
bool http_guard_utf8(const char *text, size_t length);

/* The one header of that name, any case; NULL where there is none. */
const struct http_header *http_guard_find(const struct http_head *head, const char *name);

/* The media type of a Content-Type, before ';', in small letters, into text[room]. */
bool http_guard_type(const char *value, char *text, size_t room);

#endif
