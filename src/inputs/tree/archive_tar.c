/*
 * Reads tar archives (the oldest format, POSIX ustar and pax, GNU tar), compressed or not. An
 * archive is read as a stream: to list its members, and again for the members that are opened, so
 * that a compressed archive is never stored decompressed. The stream begins again only for a member
 * that comes before the one that was opened last.
 *
 * A member consists of a header of 512 bytes and its data, padded to a multiple of 512 bytes.
 * Before a member with a long name or size, a member of type x (pax) or L (GNU) holds the name or
 * the size. Two blocks of zeros end the archive.
 */
#include <string.h>

#include "archive_parts.h"
#include "err.h"
#include "memory.h"

enum { BLOCK = 512, MEMBERS_MOST = 10000, NAME_MOST = 4096, EXTRA_MOST = 1 << 16 };

/*
 * A compressed archive may be decompressed again, to open members in another order than its own,
 * for REPEATS_MOST times its size and 256 MiB.
 */
enum { REPEATS_MOST = 64 };
static const uint64_t REPEATED_BYTES = (uint64_t)256 << 20;

/*
 * Reads an octal number or, if its first bit is set, a binary number; returns UINT64_MAX if it is
 * neither.
 */
static uint64_t tar_number(const unsigned char *text, size_t length)
{
    uint64_t value = 0;
    size_t i = 0;

    if (text[0] & 0x80) {
        for (i = 1; i + 8 < length; i++)
            if (text[i])
                return UINT64_MAX;
        for (; i < length; i++)
            value = value << 8 | text[i];
        return text[0] == 0x80 ? value : UINT64_MAX;
    }
    while (i < length && text[i] == ' ')
        i++;
    for (; i < length && text[i] >= '0' && text[i] <= '7'; i++)
        value = value << 3 | (uint64_t)(text[i] - '0');
    return i == length || text[i] == ' ' || text[i] == '\0' ? value : UINT64_MAX;
}

/* Returns whether the checksum of a header is correct: the sum of all bytes of the header, where
 * the bytes of the checksum itself count as spaces. */
static bool tar_sum(const unsigned char *block)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= 148 && i < 156 ? ' ' : block[i];
    return sum == tar_number(block + 148, 8);
}

/* All headers have a checksum; headers written by the oldest programs have no other mark. */
bool hm__tar_magic(const char *head, size_t length)
{
    return length >= BLOCK && tar_sum((const unsigned char *)head);
}

/* The name and the size of the next member, if a special member before it gives them. */
struct tar_extra {
    char name[NAME_MOST];
    uint64_t size; /* Size of the next member in bytes; UINT64_MAX if not given. */
};

/* Reads the records "LENGTH KEY=VALUE\n" of a pax header. */
static void read_pax(const char *text, size_t length, struct tar_extra *extra)
{
    const char *end = text + length;

    while (text < end) {
        const char *p = text;
        size_t record = 0;
        while (p < end && *p >= '0' && *p <= '9' && record < EXTRA_MOST)
            record = 10 * record + (size_t)(*p++ - '0');
        if (p == end || *p != ' ' || record > (size_t)(end - text) ||
            record < (size_t)(p - text) + 2)
            return;
        const char *stop =
            text + record - 1; /* Position of the line break at the end of the record. */
        p++;
        if (stop - p > 5 && memcmp(p, "path=", 5) == 0 && stop - p - 5 < NAME_MOST) {
            memcpy(extra->name, p + 5, (size_t)(stop - p - 5));
            extra->name[stop - p - 5] = '\0';
        } else if (stop - p > 5 && memcmp(p, "size=", 5) == 0) {
            extra->size = 0;
            for (p += 5; p < stop && *p >= '0' && *p <= '9' && extra->size < UINT64_MAX / 20; p++)
                extra->size = 10 * extra->size + (uint64_t)(*p - '0');
        }
        text = stop + 1;
    }
}

/* Reads the data of a member of type x or L. Returns 0, or the code of a read error. */
static int read_extra(struct hm_source *s, char type, uint64_t size, struct tar_extra *extra,
                      struct hm_err *err)
{
    size_t padded = ((size_t)size + BLOCK - 1) / BLOCK * BLOCK, got = 0;
    char *text = hm__realloc(NULL, padded + 1, 1);

    if (!text)
        return hm__fail_nomem(err);
    int rc = hm__source_fill(s, text, padded, &got, err);
    if (rc == 0 && got < size)
        rc = hm__fail(err, HM_E_IO, "the archive is cut short");
    if (rc == 0 && type == 'x')
        read_pax(text, (size_t)size, extra);
    if (rc == 0 && type == 'L' && size < NAME_MOST) {
        memcpy(extra->name, text, (size_t)size);
        extra->name[size] = '\0';
    }
    hm__free(text);
    return rc;
}

/* Sets the name of a member from its header: a prefix of 155 bytes and a name of 100 bytes. */
static void header_name(const unsigned char *block, char name[NAME_MOST])
{
    size_t prefix =
        memcmp(block + 257, "ustar\0", 6) == 0 ? strnlen((const char *)block + 345, 155) : 0;
    size_t length = strnlen((const char *)block, 100);

    memcpy(name, block + 345, prefix);
    if (prefix > 0)
        name[prefix++] = '/';
    memcpy(name + prefix, block, length);
    name[prefix + length] = '\0';
}

/* Adds a file; files that macOS writes for attributes (._NAME) are skipped. */
static int add_file(struct hm_archive *a, const char *name, uint64_t at, uint64_t size,
                    struct hm_err *err)
{
    while (strncmp(name, "./", 2) == 0)
        name += 2;
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    if (*base == '\0' || strncmp(base, "._", 2) == 0)
        return 0;
    if (a->count == MEMBERS_MOST)
        return hm__fail(err, HM_E_LIMIT, "has more than %d members", MEMBERS_MOST);
    const char *copy = hm__arena_strdup(a->arena, name);
    if (!copy)
        return hm__fail_nomem(err);
    a->members[a->count++] = (struct hm_archive_member){.name = copy, .header = at, .packed = size};
    return 0;
}

/* State of the listing of an archive. */
struct tar_list {
    struct hm_archive *archive;
    struct hm_source *source;
    uint64_t at; /* Position after the last header that was read. */
    struct tar_extra extra;
    bool ended; /* True if the blocks of zeros at the end were found, and no damage after them. */
};

/* Reads the member after a header. Returns 0 or a negative code, which is HM_E_IO if the archive is
 * truncated. */
static int list_member(struct tar_list *l, const unsigned char *block, struct hm_err *err)
{
    uint64_t size = tar_number(block + 124, 12), skipped = 0;
    char type = (char)block[156], name[NAME_MOST];
    int rc = 0;

    if (!tar_sum(block) || size > INT64_MAX)
        return hm__fail(err, HM_E_IO, "has a damaged header");
    uint64_t data = l->at;
    if ((type == 'x' || type == 'L') && size <= EXTRA_MOST) {
        l->at += (size + BLOCK - 1) / BLOCK * BLOCK;
        return read_extra(l->source, type, size, &l->extra, err);
    }
    if (l->extra.size != UINT64_MAX)
        size = l->extra.size;
    if (type == '0' || type == '\0' || type == '7') {
        header_name(block, name);
        rc = add_file(l->archive, l->extra.name[0] ? l->extra.name : name, data, size, err);
    } else if (type >= '1' && type <= '6') {
        size = 0; /* Links, devices and folders have no data, regardless of the size in their
                     header. */
    }
    if (type != 'g' && type != 'K') {
        l->extra.name[0] = '\0';
        l->extra.size = UINT64_MAX;
    }
    if (rc || size > INT64_MAX)
        return rc ? rc : hm__fail(err, HM_E_IO, "has a damaged header");
    uint64_t padded = (size + BLOCK - 1) / BLOCK * BLOCK;
    rc = hm__source_skip(l->source, padded, &skipped, err);
    l->at += padded;
    /* The padding of the last block may be missing, which is not an error. */
    if (rc == 0 && skipped < size)
        rc = hm__fail(err, HM_E_IO, "the archive is cut short");
    return rc;
}

static bool is_zero(const unsigned char *block)
{
    for (size_t i = 0; i < BLOCK; i++)
        if (block[i])
            return false;
    return true;
}

int hm__tar_list(struct hm_archive *a, struct hm_err *err)
{
    struct tar_list l = {.archive = a, .extra = {.size = UINT64_MAX}};
    unsigned char block[BLOCK];
    struct hm_err reading = {0};
    int rc = hm__archive_base(a, &l.source, err);

    if (rc)
        return rc;
    a->members = hm__arena_alloc(a->arena, MEMBERS_MOST, sizeof(*a->members));
    if (!a->members)
        rc = hm__fail_nomem(err);
    while (rc == 0 && !l.ended) {
        size_t got = 0;
        rc = hm__source_fill(l.source, (char *)block, BLOCK, &got, &reading);
        if (rc || got < BLOCK)
            break;
        l.at += BLOCK;
        l.ended = is_zero(block);
        if (!l.ended)
            rc = list_member(&l, block, &reading);
    }
    a->packed = hm__source_codec(l.source) != NULL;
    a->unpacked = hm__source_offset(l.source);
    /* The checksum of a compressed archive is at its end. */
    if (rc == 0 && l.ended && a->packed) {
        uint64_t skipped;
        rc = hm__source_skip(l.source, UINT64_MAX, &skipped, &reading);
        l.ended = rc == 0;
    }
    hm__source_close(l.source);
    /* The members before the end of a truncated archive can still be read. */
    a->cut = !l.ended;
    if (rc && (rc != HM_E_IO || a->count == 0)) {
        if (err && err->code == 0)
            *err = reading;
        return rc;
    }
    return 0;
}

/* Closes the stream if it is after the beginning of a member. */
static int tar_rewind(struct hm_archive *a, const struct hm_archive_member *m, const char *name,
                      struct hm_err *err)
{
    uint64_t at = a->base ? hm__source_offset(a->base) : 0;

    if (at <= m->header)
        return 0;
    hm__source_close(a->base);
    a->base = NULL;
    a->repeated += a->packed ? at : 0;
    if (a->repeated <= REPEATED_BYTES || a->repeated / REPEATS_MOST <= a->unpacked)
        return 0;
    hm__fail(err, HM_E_LIMIT, "the archive would be decompressed more than %d times", REPEATS_MOST);
    hm__err_hint(err, "its files are not in the order in which they are read: unpack it first");
    hm__err_at(err, name, 0);
    return HM_E_LIMIT;
}

int hm__tar_source(struct hm_archive *a, const struct hm_archive_member *m, const char *name,
                   struct hm_source **ret_source, struct hm_err *err)
{
    uint64_t skipped = 0;
    int rc = tar_rewind(a, m, name, err);

    if (rc == 0 && !a->base)
        rc = hm__archive_base(a, &a->base, err);
    if (rc)
        return rc;
    uint64_t left = m->header - hm__source_offset(a->base);
    rc = hm__source_skip(a->base, left, &skipped, err);
    if (rc) {
        hm__source_close(a->base);
        a->base = NULL;
        return rc;
    }
    return hm__source_open_shared(a->base, skipped < left ? 0 : m->packed, name, ret_source, err);
}
