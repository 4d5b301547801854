/*
 * Fuzzes the parser of HTTP requests. The first byte of an input is the size of the pieces into
 * which the other bytes are divided. Parsing all bytes at once and parsing them in pieces must give
 * the same requests, bodies and errors. The lines of an accepted head must end with CR LF, and the
 * head must have no NUL.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BODY_LIMIT = 65536, HEADS_MAX = 8 };

/* Results of parsing the bytes of a connection. */
struct outcome {
    size_t used[HEADS_MAX]; /* Number of bytes that were used up to the end of each request. */
    int status[HEADS_MAX];
    size_t body[HEADS_MAX]; /* Number of bytes of each body, and the sum of its bytes. */
    unsigned sum[HEADS_MAX];
    size_t count;
};

static void check_lines(const char *head, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (head[i] == '\0' || (head[i] == '\r' && (i + 1 == length || head[i + 1] != '\n')) ||
            (head[i] == '\n' && (i == 0 || head[i - 1] != '\r')))
            abort();
}

static void add_bytes(struct outcome *o, const char *piece, size_t size)
{
    for (size_t i = 0; i < size; i++)
        o->sum[o->count] = 31 * o->sum[o->count] + (unsigned char)piece[i];
    o->body[o->count] += size;
}

/*
 * Reads a body in pieces of `step` bytes. Returns the number of bytes that were used, and sets the
 * status.
 */
static size_t read_body(struct outcome *o, const struct http_framing *f, const char *data,
                        size_t length, size_t step)
{
    struct http_chunks chunks = {.state = HTTP_CHUNK_SIZE};
    size_t used = 0;

    if (!f->chunked) {
        used = f->length < length ? f->length : length;
        add_bytes(o, data, used);
        o->status[o->count] = used == f->length ? 200 : 0;
        return used;
    }
    while (used < length && chunks.state != HTTP_CHUNK_DONE && chunks.state != HTTP_CHUNK_BAD) {
        size_t end = length - used < step ? length : used + step;
        while (used < end && chunks.state != HTTP_CHUNK_DONE && chunks.state != HTTP_CHUNK_BAD) {
            const char *piece;
            size_t size;
            used += http_chunks_decode(&chunks, data + used, end - used, &piece, &size);
            if (piece && (piece < data || piece + size > data + used))
                abort();
            add_bytes(o, piece, size);
        }
    }
    o->status[o->count] = chunks.state == HTTP_CHUNK_DONE  ? 200
                          : chunks.state == HTTP_CHUNK_BAD ? 400
                                                           : 0;
    return used;
}

/*
 * Parses and checks a head. Returns the HTTP status with which it is refused; 0 if it is accepted.
 */
static int check_head(const char *head, size_t length, struct http_framing *framing)
{
    struct http_parsed parsed;
    char *text = malloc(length + 1);

    if (!text)
        abort();
    memcpy(text, head, length);
    text[length] = '\0';
    check_lines(text, length);
    int status = http_parse_head(text, length, &parsed).status;
    if (status == 0)
        status = http_guard_check(&parsed.head, BODY_LIMIT, framing).status;
    for (size_t i = 0; status == 0 && i < parsed.head.header_count; i++) {
        const struct http_header *h = &parsed.headers[i];
        if (strlen(h->name) != h->name_length || strlen(h->value) != h->value_length)
            abort();
    }
    free(text);
    return status;
}

static void read_requests(struct outcome *o, const char *data, size_t length, size_t step)
{
    size_t at = 0;

    while (at < length && o->count < HEADS_MAX) {
        struct http_scan scan = {0};
        struct http_framing framing;
        enum http_scan_result result = HTTP_SCAN_MORE;
        for (size_t end = at; end < length && result == HTTP_SCAN_MORE;) {
            end = length - end < step ? length : end + step;
            result = http_scan_head(&scan, data + at, end - at);
        }
        if (result == HTTP_SCAN_MORE)
            return;
        int status = result == HTTP_SCAN_DONE
                         ? check_head(data + at + scan.begin, scan.at - scan.begin, &framing)
                         : 400;
        at += scan.at;
        o->status[o->count] = status;
        if (status == 0)
            at += read_body(o, &framing, data + at, length - at, step);
        o->used[o->count] = at;
        /* After an error the connection ends; without an error, the parser waits for more bytes. */
        if (o->status[o->count++] != 200)
            return;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct outcome whole = {.count = 0}, pieces = {.count = 0};

    if (size < 2 || size > 65536)
        return 0;
    const char *text = (const char *)data + 1;
    read_requests(&whole, text, size - 1, size);
    read_requests(&pieces, text, size - 1, 1 + data[0] % 61);
    if (memcmp(&whole, &pieces, sizeof(whole)) != 0)
        abort();
    return 0;
}
