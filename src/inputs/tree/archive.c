/*
 * Opens archives, and reads the zip format as described in PKWARE's APPNOTE, with 64-bit sizes. See
 * archive.h.
 */
#include "archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "archive_parts.h"
#include "err.h"
#include "memory.h"
#include "unpack.h"

/*
 * Sizes of the fixed parts of the records in a zip archive, and limits on the data that are read.
 */
enum {
    LOCAL_SIZE = 30,
    ENTRY_SIZE = 46,
    END_SIZE = 22,
    LOCATOR_SIZE = 20,
    END64_SIZE = 56,
    MEMBERS_MOST = 10000,
    NAME_MOST = 4096,
    DIRECTORY_MOST = 16 << 20,
    HEAD_BYTES = 64 << 10,
};

static const char local_magic[] = "PK\003\004", entry_magic[] = "PK\001\002",
                  end_magic[] = "PK\005\006", locator_magic[] = "PK\006\007",
                  end64_magic[] = "PK\006\006";

static bool is_zip(const char *head, size_t length)
{
    return length >= 4 && (memcmp(head, local_magic, 4) == 0 || memcmp(head, end_magic, 4) == 0);
}

/* Returns whether the beginning of a compressed file decodes to the beginning of a tar archive. */
static bool is_packed_tar(const char *head, size_t length)
{
    struct hm_source *source = NULL;
    char first[512];
    size_t have = 0, got = 1;

    if (!hm__codec_find((const unsigned char *)head, length) ||
        hm__source_open_memory(head, length, "", &source, NULL))
        return false;
    /* Only the first bytes of the file are available, so the last read may fail. */
    while (have < sizeof(first) && got > 0 &&
           hm__source_read(source, first + have, sizeof(first) - have, &got, NULL) == 0)
        have += got;
    hm__source_close(source);
    return hm__tar_magic(first, have);
}

bool hm__archive_magic(const char *head, size_t length)
{
    return is_zip(head, length) || hm__tar_magic(head, length) || is_packed_tar(head, length);
}

bool hm__archive_is(const char *path)
{
    char *head = hm__realloc(NULL, HEAD_BYTES, 1);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = head && file >= 0 ? pread(file, head, HEAD_BYTES, 0) : -1;
    bool is = got > 0 && hm__archive_magic(head, (size_t)got);

    if (file >= 0)
        close(file);
    hm__free(head);
    return is;
}

/* Reads an unsigned integer of `size` bytes, with the lowest byte first. */
static uint64_t read_uint(const unsigned char *p, unsigned size)
{
    uint64_t value = 0;

    while (size-- > 0)
        value = value << 8 | p[size];
    return value;
}

/* Reads bytes at a position; returns false if some of them are outside the archive. */
static bool read_at(const struct hm_archive *a, uint64_t at, void *buffer, size_t size)
{
    if (at > a->length || size > a->length - at)
        return false;
    if (a->memory) {
        memcpy(buffer, a->memory + at, size);
        return true;
    }
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(a->file, (char *)buffer + done, size - done, (off_t)(at + done));
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

/* ---- the directory ----------------------------------------------------------------------------
 */

/* Position of the archive's directory, its size, and its number of entries. */
struct directory {
    uint64_t at, size, entries;
};

/* Finds the record at the end of the archive, which is followed by a comment of any length. */
static bool find_end(const struct hm_archive *a, struct directory *d)
{
    unsigned char tail[END_SIZE + 65535], end64[END64_SIZE], locator[LOCATOR_SIZE];
    size_t size = a->length < sizeof(tail) ? (size_t)a->length : sizeof(tail), i;
    uint64_t start = a->length - size;

    if (size < END_SIZE || !read_at(a, start, tail, size))
        return false;
    for (i = size - END_SIZE + 1; i-- > 0;)
        if (memcmp(tail + i, end_magic, 4) == 0)
            break;
    if (i == (size_t)-1)
        return false;
    *d = (struct directory){read_uint(tail + i + 16, 4), read_uint(tail + i + 12, 4),
                            read_uint(tail + i + 10, 2)};
    if (start + i >= LOCATOR_SIZE &&
        read_at(a, start + i - LOCATOR_SIZE, locator, sizeof(locator)) &&
        memcmp(locator, locator_magic, 4) == 0 &&
        read_at(a, read_uint(locator + 8, 8), end64, sizeof(end64)) &&
        memcmp(end64, end64_magic, 4) == 0)
        *d = (struct directory){read_uint(end64 + 48, 8), read_uint(end64 + 40, 8),
                                read_uint(end64 + 32, 8)};
    return d->at <= a->length && d->size <= a->length - d->at;
}

/* Reads the 64-bit sizes in an extra field, which replace the 32-bit sizes in the header. */
static void read_extra(const unsigned char *extra, size_t length, uint64_t size, uint64_t *packed,
                       uint64_t *header)
{
    const unsigned char *end = extra + length;

    while (end - extra >= 4) {
        size_t field = (size_t)read_uint(extra + 2, 2);
        const unsigned char *p = extra + 4;
        if (field > (size_t)(end - p))
            return;
        if (read_uint(extra, 2) == 1) {
            const unsigned char *stop = p + field;
            if (size == UINT32_MAX)
                p += 8;
            if (*packed == UINT32_MAX && stop - p >= 8) {
                *packed = read_uint(p, 8);
                p += 8;
            }
            if (*header == UINT32_MAX && stop - p >= 8)
                *header = read_uint(p, 8);
            return;
        }
        extra = p + field;
    }
}

/* Adds a member, unless it is a folder. */
static int add_member(struct hm_archive *a, size_t room, const char *name, size_t length,
                      struct hm_archive_member member, struct hm_err *err)
{
    if (length == 0 || length > NAME_MOST || name[length - 1] == '/' || a->count == room)
        return 0;
    member.name = hm__arena_strndup(a->arena, name, length);
    if (!member.name)
        return hm__fail_nomem(err);
    a->members[a->count++] = member;
    return 0;
}

static int read_directory(struct hm_archive *a, const struct directory *d, struct hm_err *err)
{
    if (d->size > DIRECTORY_MOST || d->entries > MEMBERS_MOST)
        return hm__fail(err, HM_E_LIMIT, "has more than %d members", MEMBERS_MOST);
    size_t room = (size_t)d->entries;
    unsigned char *text = hm__arena_alloc(a->arena, (size_t)d->size + 1, 1);
    a->members = hm__arena_alloc(a->arena, room + 1, sizeof(*a->members));
    if (!text || !a->members)
        return hm__fail_nomem(err);
    if (!read_at(a, d->at, text, (size_t)d->size))
        return hm__fail(err, HM_E_IO, "cannot be read");
    const unsigned char *p = text, *end = text + d->size;
    uint64_t total = 0;
    int rc = 0;
    while (rc == 0 && end - p >= ENTRY_SIZE && memcmp(p, entry_magic, 4) == 0) {
        size_t name = (size_t)read_uint(p + 28, 2), extra = (size_t)read_uint(p + 30, 2);
        size_t comment = (size_t)read_uint(p + 32, 2);
        struct hm_archive_member m = {.header = read_uint(p + 42, 4),
                                      .packed = read_uint(p + 20, 4),
                                      .method = (unsigned)read_uint(p + 10, 2),
                                      .encrypted = (p[8] & 1) != 0,
                                      .verified = true,
                                      .checksum = (uint32_t)read_uint(p + 16, 4),
                                      .size = read_uint(p + 24, 4)};
        if (name + extra + comment > (size_t)(end - p) - ENTRY_SIZE)
            break;
        read_extra(p + ENTRY_SIZE + name, extra, read_uint(p + 24, 4), &m.packed, &m.header);
        /* If members share their bytes, thousands of them decode the same bytes again. */
        if (m.packed <= a->length && m.header <= a->length - m.packed)
            total += m.packed;
        if (total > a->length)
            return hm__fail(err, HM_E_LIMIT, "has members that overlap");
        rc = add_member(a, room, (const char *)p + ENTRY_SIZE, name, m, err);
        p += ENTRY_SIZE + name + extra + comment;
    }
    a->cut |= rc == 0 && p != end;
    return rc;
}

/* Finds the members of an archive without a directory by their headers. The sizes of a member that
 * was written as a stream follow its data; such a member is the last one that can be found. */
static int scan_members(struct hm_archive *a, struct hm_err *err)
{
    unsigned char p[LOCAL_SIZE];
    char name[NAME_MOST];
    uint64_t at = 0;
    int rc = 0;

    a->cut = true;
    a->members = hm__arena_alloc(a->arena, MEMBERS_MOST, sizeof(*a->members));
    if (!a->members)
        return hm__fail_nomem(err);
    while (rc == 0 && read_at(a, at, p, sizeof(p)) && memcmp(p, local_magic, 4) == 0) {
        size_t length = (size_t)read_uint(p + 26, 2), extra = (size_t)read_uint(p + 28, 2);
        uint64_t data = at + LOCAL_SIZE + length + extra, packed = read_uint(p + 18, 4);
        bool streamed = (p[6] & 8) != 0 || packed == UINT32_MAX;
        if (length > NAME_MOST || !read_at(a, at + LOCAL_SIZE, name, length) || data > a->length)
            break;
        uint64_t left = a->length - data;
        struct hm_archive_member m = {.header = at,
                                      .packed = streamed || packed > left ? left : packed,
                                      .method = (unsigned)read_uint(p + 8, 2),
                                      .encrypted = (p[6] & 1) != 0,
                                      .verified = !streamed && packed <= left,
                                      .checksum = (uint32_t)read_uint(p + 14, 4),
                                      .size = read_uint(p + 22, 4)};
        rc = add_member(a, MEMBERS_MOST, name, length, m, err);
        if (streamed)
            break;
        at = data + m.packed;
    }
    return rc;
}

/* ---- opening ----------------------------------------------------------------------------------
 */

int hm__archive_open(const char *path, const char *memory, size_t length,
                     struct hm_archive **ret_archive, struct hm_err *err)
{
    struct hm_archive *a = hm__calloc(1, sizeof(*a));
    struct directory directory;
    int rc = 0;

    if (!a || !(a->arena = hm__arena_new())) {
        hm__free(a);
        return hm__fail_nomem(err);
    }
    snprintf(a->path, sizeof(a->path), "%s", path);
    a->memory = memory;
    a->length = length;
    a->file = memory ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    off_t end = a->file >= 0 ? lseek(a->file, 0, SEEK_END) : 0;
    if (!memory && (a->file < 0 || end < 0))
        rc = hm__fail(err, HM_E_IO, "cannot open: %s", strerror(errno));
    if (!memory && rc == 0)
        a->length = (uint64_t)end;
    char first[4];
    a->tar = rc == 0 && !(read_at(a, 0, first, sizeof(first)) && is_zip(first, sizeof(first)));
    if (a->tar)
        rc = hm__tar_list(a, err);
    else if (rc == 0)
        rc = find_end(a, &directory) ? read_directory(a, &directory, err) : scan_members(a, err);
    if (rc) {
        hm__err_at(err, path, 0);
        hm__archive_free(a);
        return rc;
    }
    *ret_archive = a;
    return 0;
}

void hm__archive_free(struct hm_archive *a)
{
    if (!a)
        return;
    hm__source_close(a->base);
    if (a->file >= 0)
        close(a->file);
    if (a->spool)
        fclose(a->spool);
    hm__arena_free(a->arena);
    hm__free(a);
}

int hm__archive_base(const struct hm_archive *a, struct hm_source **ret_source, struct hm_err *err)
{
    if (a->memory)
        return hm__source_open_memory(a->memory, (size_t)a->length, a->path, ret_source, err);
    return hm__source_open(a->path, ret_source, err);
}

/* Copies the rest of standard input to a temporary file and opens it as an archive. */
static int spool_archive(struct hm_source *source, struct hm_archive **ret_archive,
                         struct hm_err *err)
{
    FILE *spool = tmpfile();
    char path[32];

    if (!spool)
        return hm__fail(err, HM_E_IO, "cannot make a temporary file: %s", strerror(errno));
    int rc = hm__source_spool(source, spool, err);
    snprintf(path, sizeof(path), "/dev/fd/%d", fileno(spool));
    if (rc == 0)
        rc = hm__archive_open(path, NULL, 0, ret_archive, err);
    if (rc) {
        fclose(spool);
        return rc;
    }
    (*ret_archive)->spool = spool;
    return 0;
}

int hm__archive_stdin(struct hm_archive **ret_archive, struct hm_source **ret_source,
                      struct hm_err *err)
{
    struct hm_source *source = NULL;
    const char *head = NULL;
    size_t length = 0;
    int rc = hm__source_open("-", &source, err);

    if (rc == 0)
        rc = hm__source_head(source, &head, &length, err);
    if (rc == 0 && !hm__archive_magic(head, length)) {
        *ret_source = source;
        return 0;
    }
    if (rc == 0)
        rc = spool_archive(source, ret_archive, err);
    hm__source_close(source);
    return rc;
}

int hm__archive_source(struct hm_archive *a, const struct hm_archive_member *m,
                       struct hm_source **ret_source, struct hm_err *err)
{
    unsigned char p[LOCAL_SIZE];
    char name[1024];
    int rc = 0;

    snprintf(name, sizeof(name), "%s/%s", a->spool ? "-" : a->path, m->name);
    if (a->tar)
        return hm__tar_source(a, m, name, ret_source, err);
    bool found = read_at(a, m->header, p, sizeof(p)) && memcmp(p, local_magic, 4) == 0;
    uint64_t data =
        found ? m->header + LOCAL_SIZE + read_uint(p + 26, 2) + read_uint(p + 28, 2) : 0;
    if (m->encrypted)
        rc = hm__fail(err, HM_E_UNSUPPORTED, "is encrypted");
    else if (m->method != 0 && m->method != 8)
        rc = hm__fail(err, HM_E_UNSUPPORTED, "is compressed by method %u of zip", m->method);
    else if (!found || data > a->length || m->packed > a->length - data)
        rc = hm__fail(err, HM_E_IO, "lies outside the archive");
    if (rc) {
        hm__err_at(err, name, 0);
        return rc;
    }
    const struct hm_source_part part = {.path = a->path,
                                        .memory = a->memory ? a->memory + data : NULL,
                                        .at = data,
                                        .length = m->packed,
                                        .deflated = m->method == 8,
                                        .verified = m->verified,
                                        .checksum = m->checksum,
                                        .size = m->size};
    return hm__source_open_part(&part, name, ret_source, err);
}
