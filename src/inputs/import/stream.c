/* Implements the buffered stream that readers of files use; see stream.h. */
#include "stream.h"

#include <string.h>

#include "budget.h"
#include "err.h"
#include "memory.h"

int hm__stream_init(struct hm_stream *s, struct hm_source *source, struct hm_err *err)
{
    *s = (struct hm_stream){.source = source, .err = err};
    /*
     * The buffer need not be initialised, so it is allocated with hm__realloc, which does not set
     * it to 0.
     */
    s->buffer = hm__realloc(NULL, HM_STREAM_ROOM, 1);
    if (s->buffer)
        return 0;
    hm__source_close(source);
    *s = (struct hm_stream){0};
    return hm__fail_nomem(err);
}

void hm__stream_release(struct hm_stream *s)
{
    hm__source_close(s->source);
    hm__free(s->buffer);
    *s = (struct hm_stream){0};
}

/*
 * Reads bytes of the source into the free space at the end of the buffer; the buffer must not be
 * full.
 */
static bool stream_grow(struct hm_stream *s)
{
    struct hm_err err = {0};
    size_t got = 0;

    if (s->ended)
        return false;
    int rc =
        hm__source_read(s->source, s->buffer + s->length, HM_STREAM_ROOM - s->length, &got, &err);
    s->length += rc ? 0 : got;
    s->ended = rc != 0 || got == 0;
    /*
     * If decompression fails after some bytes, these bytes are used, and the stream counts as
     * truncated.
     */
    if (rc == HM_E_IO && s->before + s->length > 0 && hm__source_finds_damage(s->source))
        s->cut = true;
    else if (rc)
        s->rc = rc;
    if (s->rc && s->err && s->err->code == 0)
        *s->err = err;
    return !s->ended;
}

bool hm__stream_refill(struct hm_stream *s)
{
    if (s->ended)
        return false;
    s->before += s->length;
    s->at = s->length = 0;
    return stream_grow(s);
}

size_t hm__stream_peek(struct hm_stream *s, size_t want)
{
    size_t ready = s->length - s->at;

    if (want > HM_STREAM_ROOM)
        want = HM_STREAM_ROOM;
    if (ready >= want || s->ended)
        return ready;
    if (s->at > 0) {
        memmove(s->buffer, s->buffer + s->at, ready);
        s->before += s->at;
        s->at = 0;
        s->length = ready;
    }
    while (s->length < want && stream_grow(s))
        ;
    return s->length - s->at;
}

uint64_t hm__stream_skip(struct hm_stream *s, uint64_t count)
{
    size_t ready = s->length - s->at;
    uint64_t skipped = 0;

    if (count <= ready) {
        s->at += (size_t)count;
        return count;
    }
    s->before += s->length;
    s->at = s->length = 0;
    if (s->ended)
        return ready;
    struct hm_err err = {0};
    int rc = hm__source_skip(s->source, count - ready, &skipped, &err);
    s->before += skipped;
    s->ended = rc != 0 || skipped < count - ready;
    if (rc == HM_E_IO && hm__source_finds_damage(s->source))
        s->cut = true;
    else if (rc)
        s->rc = rc;
    if (s->rc && s->err && s->err->code == 0)
        *s->err = err;
    return ready + skipped;
}

/* Skips the rest of a line that does not fit into the buffer. */
static void drop_line(struct hm_stream *s)
{
    while (s->at < s->length || hm__stream_refill(s)) {
        char *end = memchr(s->buffer + s->at, '\n', s->length - s->at);
        if (end) {
            s->at = (size_t)(end - s->buffer) + 1;
            return;
        }
        s->at = s->length;
    }
}

/* Number of lines, and of bytes in lines, between two checks of the budget. */
enum { LINES_CHECKED = 512, BYTES_CHECKED = 64 * 1024 };

/*
 * Returns whether the budget is spent, and checks it now and then: a reader may skip many lines
 * without an allocation, which would check the budget.
 */
static bool line_is_late(struct hm_stream *s)
{
    if (++s->lines % LINES_CHECKED != 0 && hm__stream_offset(s) - s->checked < BYTES_CHECKED)
        return false;
    s->checked = hm__stream_offset(s);
    return hm__budget_spent(NULL);
}

bool hm__stream_line(struct hm_stream *s, struct hm_line *line)
{
    size_t looked = 0, ready = hm__stream_peek(s, 1);
    const char *end = NULL;

    if (ready == 0 || line_is_late(s))
        return false;
    while (!(end = memchr(s->buffer + s->at + looked, '\n', ready - looked))) {
        looked = ready;
        ready = ready < HM_STREAM_ROOM ? hm__stream_peek(s, ready + 1) : ready;
        if (ready == looked)
            break;
    }
    const char *text = s->buffer + s->at;
    size_t length = end ? (size_t)(end - text) : ready;
    *line = (struct hm_line){text, length, end != NULL, !end && ready == HM_STREAM_ROOM};
    if (line->clipped) {
        drop_line(s);
        line->length = 0;
        line->text = "";
        return true;
    }
    s->at += length + (end ? 1 : 0);
    if (length > 0 && text[length - 1] == '\r')
        line->length--;
    return true;
}
