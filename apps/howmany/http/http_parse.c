/* Parses request heads and chunked bodies according to RFC 9112. */
#include "http_parse.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- the end of a head ----------------------------------------------------------------------- */

/* Handles the LF at the end of a line. Returns HTTP_SCAN_MORE if the head is not complete yet. */
static enum http_scan_result scan_line_end(struct http_scan *s)
{
    s->after_cr = false;
    if (s->length == 0 && s->lines > 0)
        return HTTP_SCAN_DONE;
    if (s->length == 0 && s->begin > 0)
        return HTTP_SCAN_BAD;
    if (s->length == 0)
        s->begin = s->at; /* One empty line before a request is ignored (RFC 9112, 2.2). */
    else
        s->lines++;
    s->length = 0;
    return HTTP_SCAN_MORE;
}

enum http_scan_result http_scan_head(struct http_scan *s, const char *data, size_t length)
{
    enum http_scan_result result = HTTP_SCAN_MORE;

    while (s->at < length && result == HTTP_SCAN_MORE) {
        char c = data[s->at++];
        if (s->after_cr)
            result = c == '\n' ? scan_line_end(s) : HTTP_SCAN_BAD;
        else if (c == '\r')
            s->after_cr = true;
        else if (c == '\n' || c == '\0')
            result = HTTP_SCAN_BAD;
        else if (++s->length > HTTP_LINE_MAX && s->lines == 0)
            result = HTTP_SCAN_LONG_LINE;
        if (result == HTTP_SCAN_MORE && s->at - s->begin >= HTTP_HEAD_MAX)
            result = HTTP_SCAN_LONG_HEAD;
    }
    return result;
}

/* ---- the parts of a head --------------------------------------------------------------------- */

static const struct http_verdict no_refusal = {0, HTTP_REFUSAL_NONE, NULL, NULL};

static struct http_verdict bad_head(enum http_refusal refusal, const char *detail)
{
    return (struct http_verdict){400, refusal, detail, NULL};
}

/*
 * Splits off the text before the next character `end`, which is replaced by a NUL. Returns NULL if
 * there is no such character or the text is empty.
 */
static char *split_off(char **at, char end)
{
    char *text = *at, *stop = strchr(text, end);

    if (!stop || stop == text)
        return NULL;
    *stop = '\0';
    *at = stop + 1;
    return text;
}

static struct http_verdict parse_request_line(char *line, struct http_head *head)
{
    head->method = split_off(&line, ' ');
    head->target = head->method ? split_off(&line, ' ') : NULL;
    head->version = line;
    if (!head->method || !head->target || strchr(line, ' '))
        return bad_head(HTTP_REFUSAL_HEADER,
                        "the request line is not a method, a target and a version, with one space "
                        "between them");
    return no_refusal;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct http_verdict parse_header(char *line, size_t length, struct http_header *h)
{
    char *colon = memchr(line, ':', length), *end = line + length;

    if (is_blank(line[0]))
        return bad_head(HTTP_REFUSAL_HEADER, "a header line is folded");
    if (!colon)
        return bad_head(HTTP_REFUSAL_HEADER, "a header line has no colon");
    char *value = colon + 1;
    while (value < end && is_blank(*value))
        value++;
    while (end > value && is_blank(end[-1]))
        end--;
    *colon = *end = '\0';
    *h = (struct http_header){line, value, (size_t)(colon - line), (size_t)(end - value)};
    return no_refusal;
}

/* Returns whether a list of comma-separated words contains "close". */
static bool contains_close(const char *list)
{
    while (*list) {
        size_t blanks = strspn(list, " \t,"), length = strcspn(list + blanks, ",");
        const char *word = list + blanks;
        list = word + length;
        while (length > 0 && is_blank(word[length - 1]))
            length--;
        if (length == 5 && strncasecmp(word, "close", 5) == 0)
            return true;
    }
    return false;
}

/*
 * Replaces an absolute target with its path (RFC 9112, 3.2.2). The host of the target must be equal
 * to the header Host, because otherwise a proxy and this server could use different hosts.
 */
static struct http_verdict parse_absolute(struct http_parsed *p)
{
    const char *host = p->head.target + 7;

    if (strncasecmp(p->head.target, "http://", 7) != 0)
        return no_refusal;
    const struct http_header *named = http_guard_find(&p->head, "Host");
    size_t length = strcspn(host, "/?");
    if (!named || named->value_length != length || strncasecmp(named->value, host, length) != 0)
        return bad_head(HTTP_REFUSAL_HOST,
                        "the host of the request target is not that of the header Host");
    if (host[length] != '/')
        return bad_head(HTTP_REFUSAL_TARGET, "the absolute request target has no path");
    p->head.target = host + length;
    return no_refusal;
}

struct http_verdict http_parse_head(char *text, size_t length, struct http_parsed *p)
{
    struct http_verdict v = no_refusal;
    size_t count = 0;

    p->head = (struct http_head){.headers = p->headers};
    p->close = false;
    for (size_t at = 0, lines = 0; at < length && v.status == 0; lines++) {
        char *line = text + at, *end = memchr(line, '\r', length - at);
        if (!end || end == line)
            break;
        *end = '\0';
        at = (size_t)(end - text) + 2;
        struct http_header unused;
        if (lines == 0)
            v = parse_request_line(line, &p->head);
        else
            v = parse_header(line, (size_t)(end - line),
                             count < HTTP_HEADERS_MAX ? &p->headers[count] : &unused);
        count += lines > 0;
    }
    if (v.status == 0 && !p->head.target)
        v = bad_head(HTTP_REFUSAL_HEADER, "the head has no request line");
    p->head.header_count = count;
    for (size_t i = 0; v.status == 0 && i < count && i < HTTP_HEADERS_MAX; i++)
        if (p->headers[i].name_length == 10 &&
            strncasecmp(p->headers[i].name, "Connection", 10) == 0)
            p->close = p->close || contains_close(p->headers[i].value);
    return v.status == 0 ? parse_absolute(p) : v;
}

/* ---- chunked bodies -------------------------------------------------------------------------- */

/* Returns the value of a hexadecimal digit; -1 if the character is not a digit. */
static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum http_chunk_state chunk_size(struct http_chunks *k, char c)
{
    int digit = digit_value(c);

    if (digit >= 0) {
        /* More than 15 digits are refused, so that the size fits in 64 bits; the caller compares
         * the size with its own limit. */
        if (++k->digits > 15)
            return HTTP_CHUNK_BAD;
        k->left = 16 * k->left + (size_t)digit;
        return HTTP_CHUNK_SIZE;
    }
    if (k->digits == 0)
        return HTTP_CHUNK_BAD;
    return c == ';' ? HTTP_CHUNK_EXTENSION : c == '\r' ? HTTP_CHUNK_SIZE_END : HTTP_CHUNK_BAD;
}

/* Returns whether a character may be part of a chunk extension or of the value of a trailer
 * field. */
static bool is_field_text(char c)
{
    return c == '\t' || ((unsigned char)c >= 0x20 && c != 0x7f);
}

static bool is_name_text(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static enum http_chunk_state chunk_trailer(struct http_chunks *k, char c)
{
    if (++k->extra > HTTP_TRAILER_MAX)
        return HTTP_CHUNK_BAD;
    switch (k->state) {
    case HTTP_CHUNK_TRAILER_START:
        if (c == '\r')
            return HTTP_CHUNK_LAST_LF;
        return is_name_text(c) ? HTTP_CHUNK_TRAILER_NAME : HTTP_CHUNK_BAD;
    case HTTP_CHUNK_TRAILER_NAME:
        if (c == ':')
            return HTTP_CHUNK_TRAILER_VALUE;
        return is_name_text(c) ? HTTP_CHUNK_TRAILER_NAME : HTTP_CHUNK_BAD;
    default:
        if (c == '\r')
            return HTTP_CHUNK_TRAILER_LF;
        return is_field_text(c) ? HTTP_CHUNK_TRAILER_VALUE : HTTP_CHUNK_BAD;
    }
}

/* Returns the state of the chunk parser after a character that is not part of a chunk's data. */
static enum http_chunk_state chunk_next(struct http_chunks *k, char c)
{
    switch (k->state) {
    case HTTP_CHUNK_SIZE:
        return chunk_size(k, c);
    case HTTP_CHUNK_EXTENSION:
        if (c == '\r')
            return HTTP_CHUNK_SIZE_END;
        return is_field_text(c) && ++k->extra <= HTTP_EXTENSION_MAX ? HTTP_CHUNK_EXTENSION
                                                                    : HTTP_CHUNK_BAD;
    case HTTP_CHUNK_SIZE_END:
        if (c != '\n')
            return HTTP_CHUNK_BAD;
        k->digits = k->extra = 0;
        return k->left > 0 ? HTTP_CHUNK_DATA : HTTP_CHUNK_TRAILER_START;
    case HTTP_CHUNK_DATA_CR:
        return c == '\r' ? HTTP_CHUNK_DATA_LF : HTTP_CHUNK_BAD;
    case HTTP_CHUNK_DATA_LF:
        return c == '\n' ? HTTP_CHUNK_SIZE : HTTP_CHUNK_BAD;
    case HTTP_CHUNK_TRAILER_START:
    case HTTP_CHUNK_TRAILER_NAME:
    case HTTP_CHUNK_TRAILER_VALUE:
        return chunk_trailer(k, c);
    case HTTP_CHUNK_TRAILER_LF:
        return c == '\n' ? HTTP_CHUNK_TRAILER_START : HTTP_CHUNK_BAD;
    case HTTP_CHUNK_LAST_LF:
        return c == '\n' ? HTTP_CHUNK_DONE : HTTP_CHUNK_BAD;
    default:
        return HTTP_CHUNK_BAD;
    }
}

size_t http_chunks_decode(struct http_chunks *k, const char *data, size_t length,
                          const char **piece, size_t *size)
{
    size_t used = 0;

    *piece = NULL;
    *size = 0;
    while (used < length && k->state != HTTP_CHUNK_DONE && k->state != HTTP_CHUNK_BAD) {
        if (k->state != HTTP_CHUNK_DATA) {
            k->state = chunk_next(k, data[used++]);
            continue;
        }
        *piece = data + used;
        *size = length - used < k->left ? length - used : k->left;
        k->left -= *size;
        if (k->left == 0)
            k->state = HTTP_CHUNK_DATA_CR;
        return used + *size;
    }
    return used;
}
