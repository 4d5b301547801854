/*
 * Writes the head of a response: its status, the headers that every response has, and the headers
 * set by the handler.
 */
#include "http_write.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "text.h"

static const char *status_text(int status)
{
    static const struct {
        int status;
        const char *text;
    } names[] = {
        {200, "OK"},
        {201, "Created"},
        {204, "No Content"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {409, "Conflict"},
        {411, "Length Required"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {507, "Insufficient Storage"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].status == status)
            return names[i].text;
    return "Unknown";
}

/* Returns the current time in the format of RFC 9110, with names of days and months that do not
 * depend on the locale. Each thread formats the time at most once per second. */
static const char *date_text(void)
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"},
                      months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    static _Thread_local char text[64];
    static _Thread_local time_t written;
    time_t now = time(NULL);
    struct tm t;

    if (now == written && text[0])
        return text;
    gmtime_r(&now, &t);
    snprintf(text, sizeof(text), "%s, %02d %s %d %02d:%02d:%02d GMT", days[t.tm_wday], t.tm_mday,
             months[t.tm_mon], t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
    written = now;
    return text;
}

/*
 * A head that is being written. HTTP_WRITE_ROOM bytes are enough for the longest head; a longer
 * head would be truncated.
 */
struct head {
    char *text;
    size_t used;
};

/* Appends a string, at most `most` bytes of it. */
static void head_add(struct head *h, const char *piece, size_t most)
{
    size_t length = strnlen(piece, most), left = HTTP_WRITE_ROOM - 1 - h->used;

    length = length < left ? length : left;
    memcpy(h->text + h->used, piece, length);
    h->used += length;
}

/* Appends a line with the name and the value of a header. */
static void head_line(struct head *h, const char *name, const char *value)
{
    enum { NAME_MAX_BYTES = 60 };

    head_add(h, name, NAME_MAX_BYTES);
    head_add(h, ": ", 2);
    head_add(h, value, HTTP_EXTRA);
    head_add(h, "\r\n", 2);
}

size_t http_write_head(char *text, const struct http_response *r, const char *id, bool close)
{
    struct head h = {text, 0};
    char number[HM_DIGITS];

    head_add(&h, "HTTP/1.1 ", HTTP_EXTRA);
    hm__digits_write(number, (unsigned long long)r->status);
    head_add(&h, number, sizeof(number));
    head_add(&h, " ", 1);
    head_add(&h, status_text(r->status), HTTP_EXTRA);
    head_add(&h, "\r\n", 2);
    head_line(&h, "Date", date_text());
    /* A response without a body has no Content-Length (RFC 9110, 8.6). */
    if (r->status != 304 && r->status != 204) {
        hm__digits_write(number, r->length);
        head_line(&h, "Content-Length", number);
    }
    head_line(&h, "Content-Type", r->type);
    head_line(&h, "X-Request-Id", id);
    head_line(&h, "X-Content-Type-Options", "nosniff");
    if (close)
        head_line(&h, "Connection", "close");
    for (size_t i = 0; i < r->extra_count; i++)
        head_line(&h, r->extra[i].name, r->extra[i].value);
    head_add(&h, "\r\n", 2);
    text[h.used] = '\0';
    return h.used;
}
