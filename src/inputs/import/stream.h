/*
 * Declares a buffered stream over a source, for readers of other tools' files. Readers obtain
 * bytes, blocks or lines from it and can skip bytes; it uses a fixed amount of memory.
 *
 * If a compressed file is truncated or damaged, the stream ends at the last byte that could be
 * decoded, and `cut` is set. Any other error ends the stream and is stored in `rc`.
 */
#ifndef HM_STREAM_H
#define HM_STREAM_H

#include "memory.h"
#include "source.h"

/* Size of the buffer, which is also the largest length of a line. */
enum { HM_STREAM_ROOM = HM_BUFFER_SIZE(1 << 20, 1 << 11) };

struct hm_stream {
    struct hm_source *source; /* Source from which the bytes are read; owned. */
    char *buffer;             /* Buffer of HM_STREAM_ROOM bytes; owned. */
    /* Position of the next byte to read in the buffer, and number of bytes in the buffer. */
    size_t at, length;
    uint64_t before;    /* Number of bytes in the stream before the bytes in the buffer. */
    uint64_t lines;     /* Number of lines that were read. */
    uint64_t checked;   /* Number of bytes that had been read when the budget was last checked. */
    bool ended;         /* True if all bytes of the source have been read. */
    bool cut;           /* True if the compressed file is truncated or damaged. */
    int rc;             /* Error code if reading failed; 0 if there is no error. */
    struct hm_err *err; /* Error that receives the details if reading fails; borrowed. */
};

/* Starts a stream. The stream takes ownership of the source, even if this function fails. */
int hm__stream_init(struct hm_stream *stream, struct hm_source *source, struct hm_err *err);
void hm__stream_release(struct hm_stream *stream);

/*
 * Fills the buffer until it contains at least `want` unread bytes. Returns the number of unread
 * bytes, which is less than `want` only at the end of the stream.
 */
size_t hm__stream_peek(struct hm_stream *stream, size_t want);
/* Refills the empty buffer; returns false at the end of the stream. */
bool hm__stream_refill(struct hm_stream *stream);
/*
 * Skips `count` bytes; returns the number of skipped bytes, which is smaller than `count` only at
 * the end of the stream.
 */
uint64_t hm__stream_skip(struct hm_stream *stream, uint64_t count);

/* A line without its line break. The text is valid until the next call to a stream function. */
struct hm_line {
    const char *text; /* Text of the line, not terminated by NUL. */
    size_t length;
    bool whole;   /* True if the line ended with a line break, false if it ended with the file. */
    bool clipped; /* True if the line was longer than the buffer; its text is then empty. */
};

/* Reads the next line; returns false at the end of the stream. */
bool hm__stream_line(struct hm_stream *stream, struct hm_line *ret_line);

/* Returns the number of bytes in the stream that have been read so far. */
static inline uint64_t hm__stream_offset(const struct hm_stream *stream)
{
    return stream->before + stream->at;
}

/* Returns the next byte without consuming it; -1 at the end of the stream. */
static inline int hm__stream_see(struct hm_stream *stream)
{
    if (stream->at == stream->length && !hm__stream_refill(stream))
        return -1;
    return (unsigned char)stream->buffer[stream->at];
}

#endif
