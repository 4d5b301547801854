/*
 * Fuzzes the readers of zip and tar archives and of compressed files. The first byte chooses the
 * number of bytes of a read, which must not change what is read.
 */
#include <stdint.h>
#include <stdlib.h>

#include "archive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* At most this number of bytes of each source, and of members of each archive, are read. */
enum { BYTES_MOST = 1 << 18, MEMBERS_MOST = 16 };

/* The result of reading a source: the code, and the number and a hash of its bytes. */
struct outcome {
    int code;
    size_t length;
    uint64_t hash;
};

/* Reads a source with reads of at most `step` bytes, and closes it. */
static struct outcome read_all(struct hm_source *source, size_t step)
{
    static char buffer[1 << 16];
    struct outcome o = {.hash = 14695981039346656037u};
    size_t got = 1;

    while (o.code == 0 && got > 0 && o.length < BYTES_MOST) {
        o.code = hm__source_read(source, buffer, step, &got, NULL);
        for (size_t i = 0; o.code == 0 && i < got; i++)
            o.hash = (o.hash ^ (unsigned char)buffer[i]) * 1099511628211u;
        o.length += o.code ? 0 : got;
    }
    hm__source_close(source);
    return o;
}

/* Checks that both ways to read a source gave the same bytes or both failed. */
static void compare(struct outcome small, struct outcome large)
{
    if (small.length >= BYTES_MOST || large.length >= BYTES_MOST)
        return;
    if (small.code != large.code ||
        (small.code == 0 && (small.length != large.length || small.hash != large.hash)))
        abort();
}

static struct outcome read_member(struct hm_archive *archive, size_t i, size_t step)
{
    struct hm_source *source = NULL;
    int code = hm__archive_source(archive, &archive->members[i], &source, NULL);

    return code ? (struct outcome){.code = code} : read_all(source, step);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hm_archive *archive = NULL;
    struct hm_source *source = NULL;
    struct outcome found[2] = {{0}, {0}};

    if (size < 2)
        return 0;
    const char *bytes = (const char *)data + 1;
    const size_t steps[] = {data[0] + 1u, 1 << 16};

    if (hm__archive_magic(bytes, size - 1) &&
        hm__archive_open("fuzz", bytes, size - 1, &archive, NULL) == 0)
        for (size_t i = 0; i < archive->count && i < MEMBERS_MOST; i++) {
            for (size_t k = 0; k < 2; k++)
                found[k] = read_member(archive, i, steps[k]);
            compare(found[0], found[1]);
        }
    hm__archive_free(archive);
    for (size_t k = 0; k < 2; k++) {
        int code = hm__source_open_memory(bytes, size - 1, "fuzz", &source, NULL);
        found[k] = code ? (struct outcome){.code = code} : read_all(source, steps[k]);
    }
    compare(found[0], found[1]);
    return 0;
}
