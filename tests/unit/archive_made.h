/* Makes small zip archives and gzip files for tests. */
#ifndef HM_ARCHIVE_MADE_H
#define HM_ARCHIVE_MADE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "unpack.h"

static inline void put_uint(struct hm_text *out, uint64_t value, int size)
{
    for (int i = 0; i < size; i++) {
        char byte = (char)(i < 8 ? value >> (8 * i) & 255 : 0);
        hm__text_add_n(out, &byte, 1);
    }
}

/*
 * Writes a member and its entry in the directory: `data` as they are in the archive, compressed by
 * `method`, and the checksum and size of the bytes before.
 */
static inline void put_entry(struct hm_text *out, struct hm_text *directory, const char *name,
                             const struct hm_text *data, unsigned method, uint32_t checksum,
                             uint64_t size)
{
    const size_t at = out->length;
    const uint64_t packed = method == 0 ? size : data->length;

    hm__text_add_n(out, "PK\003\004\024\0\0\0", 8);
    put_uint(out, method, 2);
    put_uint(out, 0, 4);
    put_uint(out, checksum, 4);
    put_uint(out, packed, 4);
    put_uint(out, size, 4);
    put_uint(out, strlen(name), 2);
    put_uint(out, 0, 2);
    hm__text_add(out, name);
    hm__text_add_n(out, data->data, data->length);
    hm__text_add_n(directory, "PK\001\002\024\0\024\0\0\0", 10);
    put_uint(directory, method, 2);
    put_uint(directory, 0, 4);
    put_uint(directory, checksum, 4);
    put_uint(directory, packed, 4);
    put_uint(directory, size, 4);
    put_uint(directory, strlen(name), 2);
    put_uint(directory, 0, 12);
    put_uint(directory, at, 4);
    hm__text_add(directory, name);
}

/* Writes a stored member; `size` is the size that the archive gives for it. */
static inline void put_member(struct hm_text *out, struct hm_text *directory, const char *name,
                              const char *text, uint64_t size)
{
    struct hm_text data = {0};

    hm__text_add(&data, text);
    put_entry(out, directory, name, &data, 0, hm__checksum_zip(0, text, strlen(text)), size);
    hm__text_release(&data);
}

/* Writes the directory after the members, and releases it. */
static inline void put_directory(struct hm_text *out, struct hm_text *directory, unsigned count)
{
    size_t at = out->length;

    hm__text_add_n(out, directory->data, directory->length);
    hm__text_add_n(out, "PK\005\006\0\0\0\0", 8);
    put_uint(out, count, 2);
    put_uint(out, count, 2);
    put_uint(out, directory->length, 4);
    put_uint(out, at, 4);
    put_uint(out, 0, 2);
    hm__text_release(directory);
}

/* Returns whether this build can decompress deflate streams. */
static inline bool can_inflate(void)
{
    const char *zlib = getenv("HM_ZLIB");

    return zlib && strcmp(zlib, "1") == 0;
}

/* Writes bytes, at most 65535, as a deflate stream that stores them. */
static inline void put_deflated(struct hm_text *out, const char *data, size_t length)
{
    put_uint(out, 1, 1);
    put_uint(out, length, 2);
    put_uint(out, ~length, 2);
    hm__text_add_n(out, data, length);
}

/* Writes bytes, at most 65535, as a gzip member that stores them. */
static inline void put_gzip(struct hm_text *out, const char *data, size_t length)
{
    hm__text_add_n(out, "\x1f\x8b\x08\0\0\0\0\0\0\3", 10);
    put_deflated(out, data, length);
    put_uint(out, hm__checksum_zip(0, data, length), 4);
    put_uint(out, length, 4);
}

#endif
