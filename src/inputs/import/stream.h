/*
 * A buffered stream over a source, for readers of files of other tools: bytes, runs of bytes, lines
 * and skips, with a fixed amount of memory.
 *
 * A compressed file that is cut short or damaged ends at the last byte that could be decoded; the
 * stream then has `cut` set. Any other error ends the stream and is kept in `rc`.
 */
#ifndef HM_STREAM_H
#define HM_STREAM_H

#include "source.h"

/* Bytes that a stream can show at once, and the longest line. */
enum { HM_STREAM_ROOM = 1 << 20 };

struct hm_stream {
    struct hm_source *source; /* Owned. */
    char *buffer;             /* Buffer of HM_STREAM_ROOM bytes; owned. */
    size_t at, length;        /* Next byte to read, and bytes in the buffer. */
    uint64_t before;          /* Bytes of the stream before the buffer. */
    bool ended;               /* The source has no further bytes. */
    bool cut;                 /* A compressed file ended before its end, or is damaged. */
    int rc;                   /* Error of reading; 0: none. */
    struct hm_err *err;       /* Borrowed; receives the error of `rc`. */
};

/* Begin a stream; takes the source, also when it fails. */
int hm__stream_init(struct hm_stream *stream, struct hm_source *source, struct hm_err *err);
void hm__stream_release(struct hm_stream *stream);

/* Fill the buffer so that at least `want` bytes follow; returns the bytes that follow, which are
 * fewer only at the end. They begin at buffer + at. */
size_t hm__stream_peek(struct hm_stream *stream, size_t want);
/* Read the next part into the empty buffer; false at the end. */
bool hm__stream_refill(struct hm_stream *stream);
/* Skip bytes; returns the number that the stream had. */
uint64_t hm__stream_skip(struct hm_stream *stream, uint64_t count);

/* A line without its end. It is valid until the stream is used again. */
struct hm_line {
    const char *text; /* Not ended with NUL. */
    size_t length;
    bool whole;   /* The line ended with a line break, not with the end of the file. */
    bool clipped; /* The line is longer than the buffer; it is shown as an empty line. */
};

/* Read the next line; false at the end of the stream. */
bool hm__stream_line(struct hm_stream *stream, struct hm_line *ret_line);

/* Bytes of the stream before the next one. */
static inline uint64_t hm__stream_offset(const struct hm_stream *stream)
{
    return stream->before + stream->at;
}

/* Returns the next byte without reading it, or -1 at the end. */
static inline int hm__stream_see(struct hm_stream *stream)
{
    if (stream->at == stream->length && !hm__stream_refill(stream))
        return -1;
    return (unsigned char)stream->buffer[stream->at];
}

#endif
