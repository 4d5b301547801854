/* Reads bytes from a file or from memory, compressed or not. */
#ifndef HM_SOURCE_H
#define HM_SOURCE_H

#include <stdio.h>

#include "howmany.h"

struct hm_source;

/* Opens a file to read, "-" for standard input, without waiting for the writer of a named pipe.
 * Returns its descriptor, or -1 with errno. */
int hm__file_open(const char *path);
/* Returns whether reading a file may wait for another program or a person. */
bool hm__file_waits(int file);
/* Waits until such a file has bytes or ends, or the budget of the thread is spent. */
int hm__file_wait(int file, struct hm_err *err);

/* Opens a file; "-" is standard input. A file that begins with the magic number of a codec in
 * unpack.h (gzip, zstd, lz4, snappy, lzf) is decompressed. */
int hm__source_open(const char *path, struct hm_source **ret_source, struct hm_err *err);
/*
 * Opens bytes in memory in the same way as hm__source_open opens a file; the bytes must outlive the
 * source.
 */
int hm__source_open_memory(const char *data, size_t length, const char *name,
                           struct hm_source **ret_source, struct hm_err *err);
/* A range of a file or of bytes in memory: a member of an archive. */
struct hm_source_part {
    const char *path;    /* Path of the file, which is opened if `memory` is NULL. */
    const char *memory;  /* First byte of the range, which must outlive the source. */
    uint64_t at, length; /* Position of the range in the file, and its number of bytes. */
    bool deflated;       /* True if the bytes are a deflate stream without a header. */
    /* True if `checksum` and `size` are those of the bytes, after inflating, which are verified. */
    bool verified;
    uint32_t checksum; /* See hm__checksum_zip. */
    uint64_t size;     /* Number of bytes; UINT32_MAX if it is not known. */
};

/*
 * Opens a range. If its bytes, after inflating, begin with the magic number of a codec, they are
 * also decompressed.
 */
int hm__source_open_part(const struct hm_source_part *part, const char *name,
                         struct hm_source **ret_source, struct hm_err *err);
/*
 * Opens the next `length` bytes of another source, which stays open when the new source is closed
 * and must outlive it.
 */
int hm__source_open_shared(struct hm_source *outer, uint64_t length, const char *name,
                           struct hm_source **ret_source, struct hm_err *err);
/* Returns the number of decoded bytes that have been read or skipped. */
uint64_t hm__source_offset(const struct hm_source *source);
/* Returns the first bytes of a file without decoding or consuming them, up to 64 KiB; they are
 * valid until the source is read. It must be called before the first read. */
int hm__source_head(struct hm_source *source, const char **ret_bytes, size_t *ret_length,
                    struct hm_err *err);
/*
 * Copies the undecoded bytes of a file to `out`. Call this after hm__source_head and before the
 * first read.
 */
int hm__source_spool(struct hm_source *source, FILE *out, struct hm_err *err);
/*
 * Reads up to `room` bytes; *ret_length is 0 at the end. It is an error if a compressed file is
 * truncated, or if it decodes to more than 32 MiB and more than 200 times the compressed bytes in
 * the file. Reading ends when the budget of the thread is spent.
 */
int hm__source_read(struct hm_source *source, char *buffer, size_t room, size_t *ret_length,
                    struct hm_err *err);
/* Reads until the buffer is full or the file ends. */
int hm__source_fill(struct hm_source *source, char *buffer, size_t room, size_t *ret_length,
                    struct hm_err *err);
/*
 * Reads a whole file of at most 2 GiB; *ret_text has no terminating NUL, and the caller frees it
 * with hm__free.
 */
int hm__source_read_all(const char *path, char **ret_text, size_t *ret_length, struct hm_err *err);
/* Skips bytes, without reading them if the file can seek. *ret_skipped is smaller than `count` if
 * the file ends earlier. */
int hm__source_skip(struct hm_source *source, uint64_t count, uint64_t *ret_skipped,
                    struct hm_err *err);
/*
 * Returns, after the first read, whether damage is found while the bytes are read, at the latest at
 * their end: they are compressed, or have a checksum. Reading then fails with HM_E_IO.
 */
bool hm__source_finds_damage(const struct hm_source *source);
/* Returns the name of the codec after the first read; NULL if the file is not compressed. */
const char *hm__source_codec(const struct hm_source *source);
void hm__source_close(struct hm_source *source);

/* A buffered stream that is read byte by byte. hm__bytes_open initialises it. All fields are
 * private except `at`, which a caller may decrease by one after a successful read. */
struct hm_bytes {
    struct hm_source *source; /* Open file to read from; owned. */
    char *buffer;             /* Buffer of `room` bytes; owned. */
    /* Size of the buffer, number of bytes in it, and index of the next byte. */
    size_t room, length, at;
    struct hm_err *err; /* Receives the errors of reading; borrowed. */
};

/* Opens a file with a buffer of `room` bytes. After a failure, there is nothing to close. */
int hm__bytes_open(struct hm_bytes *bytes, const char *path, size_t room, struct hm_err *err);
/* Opens bytes in memory, which must outlive the stream; `name` is used in error messages. */
int hm__bytes_open_memory(struct hm_bytes *bytes, const char *data, size_t length, const char *name,
                          size_t room, struct hm_err *err);
/*
 * Reads the next block of the file into the buffer, which must be empty. Returns the first new
 * byte, or a negative value as hm__bytes_next does.
 */
int hm__bytes_refill(struct hm_bytes *bytes);
void hm__bytes_close(struct hm_bytes *bytes);

/* Returns the next byte, -1 at the end of the file, or an error code minus 1 (below -1). */
static inline int hm__bytes_next(struct hm_bytes *bytes)
{
    if (bytes->at == bytes->length)
        return hm__bytes_refill(bytes);
    return (unsigned char)bytes->buffer[bytes->at++];
}

#endif
