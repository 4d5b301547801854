/* Validates request heads strictly according to RFC 9110 and RFC 9112. */
#include "http_guard.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *http_refusal_name(enum http_refusal refusal)
{
    static const char *const names[] = {
#define HTTP_REFUSAL_TEXT(name, text) text,
        HTTP_REFUSAL_MAP(HTTP_REFUSAL_TEXT)
#undef HTTP_REFUSAL_TEXT
    };
    return names[refusal];
}

static struct http_verdict refuse_head(int status, enum http_refusal refusal, const char *field,
                                       const char *detail)
{
    return (struct http_verdict){status, refusal, detail, field};
}

static const struct http_verdict accepted = {0, HTTP_REFUSAL_NONE, NULL, NULL};

/* ---- characters ------------------------------------------------------------------------------ */

/* Returns whether a character may be part of a method or of a header's name (`token` in RFC
 * 9110). */
static bool is_token_character(unsigned char c)
{
    return isalnum(c) || (c != 0 && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool is_token_text(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!is_token_character((unsigned char)text[i]))
            return false;
    return length > 0;
}

/* Returns the length of the well-formed UTF-8 sequence at `t`; 0 if there is none. */
static size_t utf8_length(const unsigned char *t, size_t left)
{
    size_t more = t[0] < 0x80 ? 0 : t[0] < 0xc2 ? 9 : t[0] < 0xe0 ? 1 : t[0] < 0xf0 ? 2 : 3;

    if (t[0] > 0xf4 || more + 1 > left)
        return 0;
    for (size_t i = 1; i <= more; i++)
        if ((t[i] & 0xc0) != 0x80)
            return 0;
    if ((t[0] == 0xe0 && t[1] < 0xa0) || (t[0] == 0xed && t[1] > 0x9f) ||
        (t[0] == 0xf0 && t[1] < 0x90) || (t[0] == 0xf4 && t[1] > 0x8f))
        return 0;
    return more + 1;
}

/*
 * Returns whether bytes are well-formed UTF-8, without overlong forms, surrogates, and the control
 * characters U+0080 to U+009F, to which terminals that show the log would react.
 */
static bool is_plain_utf8(const char *text, size_t length)
{
    const unsigned char *t = (const unsigned char *)text;

    for (size_t i = 0; i < length;) {
        size_t used = utf8_length(t + i, length - i);
        if (used == 0 || (t[i] == 0xc2 && t[i + 1] < 0xa0))
            return false;
        i += used;
    }
    return true;
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;

    return at ? (int)(at - digits) : -1;
}

bool http_guard_decode(const char *piece, size_t length, bool plus, char *text, size_t room)
{
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)piece[i];
        if (c == '%') {
            int high = length - i > 2 ? hex_digit(piece[i + 1]) : -1;
            int low = high >= 0 ? hex_digit(piece[i + 2]) : -1;
            if (low < 0)
                return false;
            c = (unsigned char)(16 * high + low);
            i += 2;
        } else if (plus && c == '+') {
            c = ' ';
        }
        if (c < 0x20 || c == 0x7f || used + 1 >= room)
            return false;
        text[used++] = (char)c;
    }
    if (used >= room)
        return false;
    text[used] = '\0';
    return is_plain_utf8(text, used);
}

/* ---- the parts of a head --------------------------------------------------------------------- */

static bool is_named(const struct http_header *h, const char *name)
{
    return h->name_length == strlen(name) && strncasecmp(h->name, name, h->name_length) == 0;
}

static size_t kept_headers(const struct http_head *head)
{
    return head->header_count < HTTP_HEADERS_MAX ? head->header_count : HTTP_HEADERS_MAX;
}

const struct http_header *http_guard_find(const struct http_head *head, const char *name)
{
    for (size_t i = 0; i < kept_headers(head); i++)
        if (is_named(&head->headers[i], name))
            return &head->headers[i];
    return NULL;
}

static size_t count_headers(const struct http_head *head, const char *name)
{
    size_t count = 0;

    for (size_t i = 0; i < kept_headers(head); i++)
        count += is_named(&head->headers[i], name);
    return count;
}

/*
 * Checks that a target is an absolute path with an optional query, contains only visible ASCII
 * characters and no fragment, and has a valid percent-encoding.
 */
static struct http_verdict check_target(const char *target)
{
    char decoded[HTTP_TARGET_MAX + 1];
    size_t length = strnlen(target, HTTP_TARGET_MAX + 1);
    const char *query = memchr(target, '?', length);

    if (length > HTTP_TARGET_MAX)
        return refuse_head(414, HTTP_REFUSAL_TARGET, "target", "the request target is too long");
    if (target[0] != '/')
        return refuse_head(400, HTTP_REFUSAL_TARGET, "target",
                           "the request target does not begin with /");
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)target[i];
        if (c <= 0x20 || c >= 0x7f || strchr("\"#<>\\^`{|}", c))
            return refuse_head(400, HTTP_REFUSAL_TARGET, "target",
                               "the request target has a character that must be percent-encoded");
    }
    size_t path = query ? (size_t)(query - target) : length;
    if (!http_guard_decode(target, path, false, decoded, sizeof(decoded)) ||
        (query && !http_guard_decode(query + 1, length - path - 1, true, decoded, sizeof(decoded))))
        return refuse_head(400, HTTP_REFUSAL_TARGET, "target",
                           "the percent-encoded request target is not valid UTF-8, or has "
                           "control characters");
    return accepted;
}

static struct http_verdict check_headers(const struct http_head *head)
{
    size_t total = 0;

    if (head->header_count > HTTP_HEADERS_MAX)
        return refuse_head(431, HTTP_REFUSAL_HEADER, NULL, "there are too many headers");
    for (size_t i = 0; i < head->header_count; i++) {
        const struct http_header *h = &head->headers[i];
        total += h->name_length + h->value_length;
        if (h->name_length + h->value_length > HTTP_HEADER_MAX || total > HTTP_HEADERS_SIZE)
            return refuse_head(431, HTTP_REFUSAL_HEADER, NULL, "the headers are too long");
        if (!is_token_text(h->name, h->name_length))
            return refuse_head(400, HTTP_REFUSAL_HEADER, NULL, "the name of a header is not valid");
        for (size_t k = 0; k < h->value_length; k++) {
            unsigned char c = (unsigned char)h->value[k];
            if ((c < 0x20 && c != '\t') || c == 0x7f)
                return refuse_head(400, HTTP_REFUSAL_HEADER, NULL,
                                   "the value of a header contains control characters");
        }
    }
    return accepted;
}

/* Refuses headers with one value that are sent twice, of which a proxy may use another one. */
static struct http_verdict check_repeats(const struct http_head *head)
{
    static const char *const single[] = {"Authorization", "Content-Type", "Idempotency-Key",
                                         "Origin"};

    for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++)
        if (count_headers(head, single[i]) > 1)
            return refuse_head(400, HTTP_REFUSAL_HEADER, single[i],
                               "the request has this header more than once");
    return accepted;
}

bool http_guard_is_host(const char *text, size_t length)
{
    size_t end = 0;

    if (length == 0 || length > 255)
        return false;
    if (text[0] == '[') {
        for (end = 1; end < length &&
                      (isxdigit((unsigned char)text[end]) || text[end] == ':' || text[end] == '.');)
            end++;
        if (end == length || text[end] != ']' || end < 3)
            return false;
        end++;
    } else {
        while (end < length && (isalnum((unsigned char)text[end]) || strchr("-._~", text[end])))
            end++;
        if (end == 0)
            return false;
    }
    if (end == length)
        return true;
    size_t port = length - end - 1;
    return text[end] == ':' && port <= 5 && strspn(text + end + 1, "0123456789") >= port;
}

static struct http_verdict check_guard_host(const struct http_head *head)
{
    size_t count = count_headers(head, "Host");
    const struct http_header *host = http_guard_find(head, "Host");

    if (count > 1)
        return refuse_head(400, HTTP_REFUSAL_HOST, "Host",
                           "the request has more than one Host header");
    if (count == 0 && strcmp(head->version, "HTTP/1.0") != 0)
        return refuse_head(400, HTTP_REFUSAL_HOST, "Host", "the request has no Host header");
    if (host && !http_guard_is_host(host->value ? host->value : "", host->value_length))
        return refuse_head(400, HTTP_REFUSAL_HOST, "Host",
                           "the Host header is not a host name with an optional port");
    return accepted;
}

/* Reads the value of Content-Length, which must have 1 to 18 digits. */
static bool read_length(const struct http_header *h, size_t *ret_length)
{
    size_t length = 0;

    if (h->value_length == 0 || h->value_length > 18)
        return false;
    for (size_t i = 0; i < h->value_length; i++) {
        if (!isdigit((unsigned char)h->value[i]))
            return false;
        length = 10 * length + (size_t)(h->value[i] - '0');
    }
    *ret_length = length;
    return true;
}

static struct http_verdict check_framing(const struct http_head *head, struct http_framing *f)
{
    const struct http_header *length = http_guard_find(head, "Content-Length");
    const struct http_header *coding = http_guard_find(head, "Transfer-Encoding");

    *f = (struct http_framing){.chunked = coding != NULL, .has_length = length != NULL};
    if (length && coding)
        return refuse_head(400, HTTP_REFUSAL_FRAMING, "Transfer-Encoding",
                           "the request has both Content-Length and Transfer-Encoding");
    if (count_headers(head, "Content-Length") > 1)
        return refuse_head(400, HTTP_REFUSAL_FRAMING, "Content-Length",
                           "the request has more than one Content-Length");
    if (count_headers(head, "Transfer-Encoding") > 1)
        return refuse_head(400, HTTP_REFUSAL_FRAMING, "Transfer-Encoding",
                           "the request has more than one Transfer-Encoding");
    if (length && !read_length(length, &f->length))
        return refuse_head(400, HTTP_REFUSAL_FRAMING, "Content-Length",
                           "the Content-Length is not a number");
    if (coding && (coding->value_length != 7 || strncasecmp(coding->value, "chunked", 7) != 0))
        return refuse_head(400, HTTP_REFUSAL_FRAMING, "Transfer-Encoding",
                           "the Transfer-Encoding is not chunked");
    if (coding && strcmp(head->version, "HTTP/1.1") != 0)
        return refuse_head(400, HTTP_REFUSAL_FRAMING, "Transfer-Encoding",
                           "Transfer-Encoding needs HTTP/1.1");
    return accepted;
}

static struct http_verdict check_body(const struct http_head *head, size_t body_limit,
                                      struct http_framing *f)
{
    bool post = strcmp(head->method, "POST") == 0;
    const struct http_header *expect = http_guard_find(head, "Expect");

    if (count_headers(head, "Expect") > 1 ||
        (expect &&
         (expect->value_length != 12 || strncasecmp(expect->value, "100-continue", 12) != 0)))
        return refuse_head(417, HTTP_REFUSAL_EXPECT, "Expect",
                           "only Expect: 100-continue is supported");
    f->expects_continue = expect != NULL;
    if (!post && (f->chunked || f->length > 0))
        return refuse_head(400, HTTP_REFUSAL_BODY, NULL,
                           "a GET or HEAD request must not have a body");
    if (post && !f->chunked && !f->has_length)
        return refuse_head(411, HTTP_REFUSAL_BODY, "Content-Length",
                           "the request has neither Content-Length nor chunked encoding");
    if (f->length > body_limit)
        return refuse_head(413, HTTP_REFUSAL_SIZE, "Content-Length", "the body is too large");
    return accepted;
}

struct http_verdict http_guard_check(const struct http_head *head, size_t body_limit,
                                     struct http_framing *framing)
{
    struct http_verdict v = accepted;

    *framing = (struct http_framing){.chunked = false};
    if (strcmp(head->version, "HTTP/1.1") != 0 && strcmp(head->version, "HTTP/1.0") != 0)
        return refuse_head(400, HTTP_REFUSAL_VERSION, NULL,
                           "the version is not HTTP/1.1 or HTTP/1.0");
    if (!is_token_text(head->method, strlen(head->method)))
        return refuse_head(400, HTTP_REFUSAL_METHOD, NULL, "the method is not a valid token");
    v = check_headers(head);
    if (v.status == 0)
        v = check_repeats(head);
    if (v.status == 0)
        v = check_framing(head, framing);
    if (v.status == 0)
        v = check_guard_host(head);
    if (v.status == 0)
        v = check_target(head->target);
    if (v.status == 0 && strcmp(head->method, "GET") != 0 && strcmp(head->method, "HEAD") != 0 &&
        strcmp(head->method, "POST") != 0)
        return refuse_head(405, HTTP_REFUSAL_METHOD, NULL, "the method is not GET, HEAD or POST");
    if (v.status == 0)
        v = check_body(head, body_limit, framing);
    return v;
}

bool http_guard_type(const char *value, char *text, size_t room)
{
    size_t length = strcspn(value, ";");

    while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t'))
        length--;
    if (length == 0 || length >= room)
        return false;
    for (size_t i = 0; i < length; i++)
        text[i] = (char)tolower((unsigned char)value[i]);
    text[length] = '\0';
    return true;
}
