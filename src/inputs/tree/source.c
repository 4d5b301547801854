/*
 * Reads plain and compressed files, and bytes in memory, as one stream of bytes. The codecs are in
 * unpack.h; a source collects the first bytes to choose one.
 */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "budget.h"
#include "err.h"
#include "memory.h"
#include "unpack.h"

/* RAW_ROOM is the size of the buffer of bytes that have not been decoded yet. */
enum { RAW_ROOM = HM_BUFFER_SIZE(256 * 1024, 1024), HEAD_BYTES = 64 * 1024 };

/*
 * A stream is refused if it decodes to more than BOMB_BYTES bytes and more than BOMB_RATIO times
 * its size, because such files are often made to exhaust a reader's memory. The size is that of the
 * compressed bytes in the file, so that the ratios of a compressed member of a compressed archive
 * do not multiply.
 */
static const uint64_t BOMB_BYTES = (uint64_t)32 << 20, BOMB_RATIO = 200;

struct hm_source {
    struct hm_source *inner; /* Another source from which the bytes are read, instead of a file or
                                memory; owned unless `shared` is true. */
    bool shared;
    uint64_t file_left; /* Bytes that may still be read from the file or from `inner`. */
    bool inflate;       /* True if the bytes are a deflate stream without a header. */
    int file;           /* Open file; -1 for bytes in memory. */
    bool waits;         /* As hm__file_waits. */
    const char *memory; /* Bytes that have not been read yet; borrowed. */
    size_t memory_left;
    char path[256];
    unsigned char *raw; /* Bytes of the file that have not been decoded yet; owned. */
    size_t raw_at, raw_length;
    bool started, raw_ended; /* `started` is true if the codec has been chosen, and `raw_ended` is
                                true if the file has ended. */
    const struct hm_codec *codec;
    void *state;
    bool between, ended; /* State of the codec, as in the members of struct hm_unpack_step that have
                            the same names. */
    uint64_t consumed, produced; /* Bytes that the codec has read and written. */
    uint64_t taken;              /* Bytes that were read from the file or from memory. */
    uint64_t offset;             /* Decoded bytes that were read or skipped. */
    /* The checksum and size of a member of an archive, and those of the bytes so far: decoded ones
     * if `inflate` is true, otherwise those of the file. */
    bool verified;
    uint32_t checksum_wanted, checksum;
    uint64_t size_wanted, size;
};

static int source_fail(const struct hm_source *s, struct hm_err *err, int code, const char *what)
{
    hm__fail(err, code, "%s", what);
    hm__err_at(err, s->path, 0);
    return code;
}

static struct hm_source *source_new(const char *name)
{
    struct hm_source *s = hm__calloc(1, sizeof(*s));

    if (!s || !(s->raw = hm__realloc(NULL, RAW_ROOM, 1))) {
        hm__free(s);
        return NULL;
    }
    snprintf(s->path, sizeof(s->path), "%s", name);
    s->file = -1;
    s->file_left = UINT64_MAX;
    s->between = true;
    return s;
}

int hm__file_open(const char *path)
{
    struct stat facts;
    bool named_pipe = stat(path, &facts) == 0 && S_ISFIFO(facts.st_mode);

    if (strcmp(path, "-") == 0)
        return dup(STDIN_FILENO);
    int file = open(path, O_RDONLY | O_CLOEXEC | (named_pipe ? O_NONBLOCK : 0));
    if (file >= 0 && named_pipe)
        fcntl(file, F_SETFL, 0);
    return file;
}

bool hm__file_waits(int file)
{
    struct stat facts;

    return fstat(file, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

int hm__file_wait(int file, struct hm_err *err)
{
    enum { LOOK_MS = 50 };
    struct pollfd ready = {.fd = file, .events = POLLIN};
    int rc = 0;

    while (rc == 0 && poll(&ready, 1, LOOK_MS) <= 0)
        rc = hm__budget_check(NULL, err);
    return rc;
}

int hm__source_open(const char *path, struct hm_source **ret_source, struct hm_err *err)
{
    struct hm_source *s = source_new(path);

    if (!s)
        return hm__fail_nomem(err);
    s->file = hm__file_open(path);
    if (s->file < 0) {
        hm__fail(err, HM_E_IO, "cannot open: %s", strerror(errno));
        hm__err_at(err, path, 0);
        hm__source_close(s);
        return HM_E_IO;
    }
    s->waits = hm__file_waits(s->file);
    *ret_source = s;
    return 0;
}

int hm__source_open_memory(const char *data, size_t length, const char *name,
                           struct hm_source **ret_source, struct hm_err *err)
{
    struct hm_source *s = source_new(name);

    if (!s)
        return hm__fail_nomem(err);
    s->memory = data;
    s->memory_left = length;
    *ret_source = s;
    return 0;
}

int hm__source_open_part(const struct hm_source_part *part, const char *name,
                         struct hm_source **ret_source, struct hm_err *err)
{
    struct hm_source *s = source_new(name), *outer = NULL;

    if (!s)
        return hm__fail_nomem(err);
    if (part->memory) {
        s->memory = part->memory;
        s->memory_left = (size_t)part->length;
    } else {
        s->file = open(part->path, O_RDONLY | O_CLOEXEC);
        s->file_left = part->length;
        if (s->file < 0 || lseek(s->file, (off_t)part->at, SEEK_SET) < 0) {
            hm__fail(err, HM_E_IO, "cannot open: %s", strerror(errno));
            hm__err_at(err, part->path, 0);
            hm__source_close(s);
            return HM_E_IO;
        }
    }
    s->inflate = part->deflated;
    s->verified = part->verified;
    s->checksum_wanted = part->checksum;
    s->size_wanted = part->size;
    if (part->deflated && !(outer = source_new(name))) {
        hm__source_close(s);
        return hm__fail_nomem(err);
    }
    if (outer)
        outer->inner = s;
    *ret_source = outer ? outer : s;
    return 0;
}

void hm__source_close(struct hm_source *s)
{
    if (!s)
        return;
    if (!s->shared)
        hm__source_close(s->inner);
    if (s->codec && s->state)
        s->codec->close(s->state);
    if (s->file >= 0)
        close(s->file);
    hm__free(s->raw);
    hm__free(s);
}

const char *hm__source_codec(const struct hm_source *s)
{
    if (s->codec)
        return s->codec->name;
    return s->inner ? hm__source_codec(s->inner) : NULL;
}

bool hm__source_finds_damage(const struct hm_source *s)
{
    return s->codec || s->verified || (s->inner && hm__source_finds_damage(s->inner));
}

/* Adds bytes to the checksum and, if there are none, since they have ended, compares it. */
static int source_verify(struct hm_source *s, const void *data, size_t length, struct hm_err *err)
{
    if (!s->verified)
        return 0;
    s->checksum = hm__checksum_zip(s->checksum, data, length);
    s->size += length;
    if (length > 0 || (s->checksum == s->checksum_wanted &&
                       (s->size == s->size_wanted || s->size_wanted == UINT32_MAX)))
        return 0;
    return source_fail(s, err, HM_E_IO, "the checksum of the archive is not that of the file");
}

/* Reads bytes of the file without decoding them; *ret_length is 0 at the end. */
static int raw_take(struct hm_source *s, void *buffer, size_t room, size_t *ret_length,
                    struct hm_err *err)
{
    ssize_t got;

    if (s->inner) {
        room = room < s->file_left ? room : (size_t)s->file_left;
        int rc = hm__source_read(s->inner, buffer, room, ret_length, err);
        s->file_left -= rc ? 0 : *ret_length;
        return rc;
    }
    if (s->file < 0) {
        size_t take = room < s->memory_left ? room : s->memory_left;
        if (take > 0)
            memcpy(buffer, s->memory, take);
        s->memory += take;
        s->memory_left -= take;
        s->taken += take;
        *ret_length = take;
        return 0;
    }
    if (room > s->file_left)
        room = (size_t)s->file_left;
    int rc = s->waits ? hm__file_wait(s->file, err) : 0;
    if (rc)
        return rc;
    do
        got = read(s->file, buffer, room);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return source_fail(s, err, HM_E_IO, strerror(errno));
    s->file_left -= (uint64_t)got;
    s->taken += (uint64_t)got;
    *ret_length = (size_t)got;
    return 0;
}

/* Same as raw_take; verifies the bytes if they are stored in an archive. */
static int raw_read(struct hm_source *s, void *buffer, size_t room, size_t *ret_length,
                    struct hm_err *err)
{
    int rc = raw_take(s, buffer, room, ret_length, err);

    return rc || s->inflate || room == 0 ? rc : source_verify(s, buffer, *ret_length, err);
}

/* Returns whether a source decodes to much more than the bytes of the file that it has used. */
static bool source_is_bomb(const struct hm_source *s)
{
    const struct hm_source *first = s;

    while (first->inner)
        first = first->inner;
    uint64_t used = first->codec ? first->consumed : first->taken;
    return s->produced > BOMB_BYTES && s->produced / BOMB_RATIO > used;
}

/* Reads the first bytes and chooses the codec. */
static int source_start(struct hm_source *s, struct hm_err *err)
{
    size_t got = 1;

    got = !s->raw_ended;
    while (s->raw_length < HM_CODEC_MAGIC && got > 0) {
        int rc = raw_read(s, s->raw + s->raw_length, RAW_ROOM - s->raw_length, &got, err);
        if (rc)
            return rc;
        s->raw_length += got;
    }
    s->raw_ended = got == 0;
    s->started = true;
    s->codec = s->inflate ? &hm__codec_deflate : hm__codec_find(s->raw, s->raw_length);
    s->between = !s->inflate; /* An empty file is a complete file, but not a complete deflate
                                 stream. */
    if (s->codec && s->codec->needs) {
        hm__fail(err, HM_E_UNSUPPORTED, "%s files need %s, which this build leaves out",
                 s->codec->name, s->codec->needs);
        hm__err_hint(err, "unpack it first: %s FILE",
                     s->codec == &hm__codec_gzip      ? "gunzip"
                     : s->codec == &hm__codec_deflate ? "unzip"
                                                      : "unzstd");
        hm__err_at(err, s->path, 0);
        s->codec = NULL;
        return HM_E_UNSUPPORTED;
    }
    if (s->codec && !(s->state = s->codec->open()))
        return hm__fail_nomem(err);
    return 0;
}

int hm__source_open_shared(struct hm_source *outer, uint64_t length, const char *name,
                           struct hm_source **ret_source, struct hm_err *err)
{
    struct hm_source *s = source_new(name);

    if (!s)
        return hm__fail_nomem(err);
    s->inner = outer;
    s->shared = true;
    s->file_left = length;
    *ret_source = s;
    return 0;
}

uint64_t hm__source_offset(const struct hm_source *s)
{
    return s->offset;
}

int hm__source_head(struct hm_source *s, const char **ret_bytes, size_t *ret_length,
                    struct hm_err *err)
{
    size_t room = RAW_ROOM, want = room < HEAD_BYTES ? room : HEAD_BYTES;

    while (s->raw_length < want && !s->raw_ended) {
        size_t got = 0;
        int rc = raw_read(s, s->raw + s->raw_length, RAW_ROOM - s->raw_length, &got, err);
        if (rc)
            return rc;
        s->raw_length += got;
        s->raw_ended = got == 0;
    }
    *ret_bytes = (const char *)s->raw;
    *ret_length = s->raw_length;
    return 0;
}

int hm__source_spool(struct hm_source *s, FILE *out, struct hm_err *err)
{
    size_t length = s->raw_length;

    while (length > 0) {
        if (fwrite(s->raw, 1, length, out) < length)
            return source_fail(s, err, HM_E_IO, "cannot write a temporary file");
        int rc = raw_read(s, s->raw, RAW_ROOM, &length, err);
        if (rc)
            return rc;
    }
    return fflush(out) ? source_fail(s, err, HM_E_IO, "cannot write a temporary file") : 0;
}

/* Runs one step of the codec; first reads more of the file if all bytes have been decoded. */
static int source_decode(struct hm_source *s, char *buffer, size_t room, size_t *ret_length,
                         struct hm_err *err)
{
    if (s->raw_at == s->raw_length && !s->raw_ended) {
        s->raw_at = 0;
        int rc = raw_read(s, s->raw, RAW_ROOM, &s->raw_length, err);
        if (rc)
            return rc;
        s->raw_ended = s->raw_length == 0;
    }
    struct hm_unpack_step step = {.in = s->raw + s->raw_at,
                                  .in_left = s->raw_length - s->raw_at,
                                  .out = (unsigned char *)buffer,
                                  .out_left = room,
                                  .between = s->between};
    int rc = s->codec->step(s->state, &step, err);
    if (rc) {
        hm__err_at(err, s->path, 0);
        return rc;
    }
    s->consumed += s->raw_length - s->raw_at - step.in_left;
    s->raw_at = s->raw_length - step.in_left;
    s->between = step.between;
    s->ended = step.ended;
    *ret_length = room - step.out_left;
    s->produced += *ret_length;
    if (source_is_bomb(s))
        return source_fail(s, err, HM_E_LIMIT, "decodes to more than 200 times its size");
    return 0;
}

static int source_read(struct hm_source *s, char *buffer, size_t room, size_t *ret_length,
                       struct hm_err *err)
{
    int rc = hm__budget_check(NULL, err);

    if (rc == 0 && !s->started)
        rc = source_start(s, err);
    if (rc || room == 0) {
        *ret_length = 0;
        return rc;
    }
    if (!s->codec) {
        size_t ready = s->raw_length - s->raw_at, take = ready < room ? ready : room;
        if (take == 0)
            return s->raw_ended ? (*ret_length = 0, 0) : raw_read(s, buffer, room, ret_length, err);
        memcpy(buffer, s->raw + s->raw_at, take);
        s->raw_at += take;
        *ret_length = take;
        return 0;
    }
    size_t got = 0;
    while (rc == 0 && got == 0 && !s->ended) {
        bool last = s->raw_ended && s->raw_at == s->raw_length;
        rc = source_decode(s, buffer, room, &got, err);
        if (rc == 0 && got == 0 && last)
            break;
        /* A file may have many parts that decode to nothing. */
        if (rc == 0 && got == 0)
            rc = hm__budget_check(NULL, err);
    }
    if (rc == 0 && got == 0 && !s->between && !s->ended)
        return source_fail(s, err, HM_E_IO, "the compressed file is cut short");
    *ret_length = rc ? 0 : got;
    return rc;
}

int hm__source_read(struct hm_source *s, char *buffer, size_t room, size_t *ret_length,
                    struct hm_err *err)
{
    int rc = source_read(s, buffer, room, ret_length, err);

    if (rc == 0 && s->inflate && room > 0)
        rc = source_verify(s, buffer, *ret_length, err);
    s->offset += rc ? 0 : *ret_length;
    return rc;
}

/*
 * Moves the position in a plain file that can seek; returns the number of bytes that were skipped.
 */
static uint64_t source_seek(struct hm_source *s, uint64_t count)
{
    struct stat status;
    off_t at;

    if (s->inner || s->verified)
        return 0;
    if (s->file < 0) {
        uint64_t take = count < s->memory_left ? count : s->memory_left;
        s->memory += take;
        s->memory_left -= (size_t)take;
        return take;
    }
    if (fstat(s->file, &status) || !S_ISREG(status.st_mode) ||
        (at = lseek(s->file, 0, SEEK_CUR)) < 0 || at >= status.st_size)
        return 0;
    uint64_t left = (uint64_t)(status.st_size - at);
    left = left < s->file_left ? left : s->file_left;
    uint64_t take = count < left ? count : left;
    if (lseek(s->file, (off_t)take, SEEK_CUR) < 0)
        return 0;
    s->file_left -= take;
    return take;
}

int hm__source_skip(struct hm_source *s, uint64_t count, uint64_t *ret_skipped, struct hm_err *err)
{
    char waste[16 * 1024];
    uint64_t done = 0;
    size_t got = 1;
    int rc = s->started ? 0 : source_start(s, err);

    if (rc == 0 && !s->codec) {
        size_t ready = s->raw_length - s->raw_at;
        done = count < ready ? count : ready;
        s->raw_at += (size_t)done;
        if (!s->raw_ended && done < count)
            done += source_seek(s, count - done);
        s->offset += done;
    }
    while (rc == 0 && done < count && got > 0) {
        uint64_t left = count - done;
        rc = hm__source_read(s, waste, left < sizeof(waste) ? (size_t)left : sizeof(waste), &got,
                             err);
        done += rc ? 0 : got;
    }
    *ret_skipped = done;
    return rc;
}

int hm__source_fill(struct hm_source *s, char *buffer, size_t room, size_t *ret_length,
                    struct hm_err *err)
{
    size_t length = 0, got = 1;

    while (length < room && got > 0) {
        int rc = hm__source_read(s, buffer + length, room - length, &got, err);
        if (rc)
            return rc;
        length += got;
    }
    *ret_length = length;
    return 0;
}

/* Largest number of bytes that hm__source_read_all reads: 2 GiB. */
static const size_t WHOLE_MAX = (size_t)1 << 31;

/* Appends the rest of the source to a growing buffer. */
static int read_rest(struct hm_source *s, char **text, size_t *length, struct hm_err *err)
{
    size_t room = 0, got = 1;

    while (got > 0) {
        if (room - *length < 64 * 1024) {
            room = room ? 2 * room : 256 * 1024;
            char *larger = hm__realloc(*text, room, 1);
            if (!larger)
                return hm__fail_nomem(err);
            *text = larger;
        }
        int rc = hm__source_read(s, *text + *length, room - *length, &got, err);
        if (rc)
            return rc;
        *length += got;
        if (*length > WHOLE_MAX) {
            hm__fail(err, HM_E_LIMIT, "larger than 2 GiB");
            hm__err_at(err, s->path, 0);
            return HM_E_LIMIT;
        }
    }
    return 0;
}

int hm__source_read_all(const char *path, char **ret_text, size_t *ret_length, struct hm_err *err)
{
    struct hm_source *s;
    char *text = NULL;
    size_t length = 0;
    int rc = hm__source_open(path, &s, err);

    if (rc)
        return rc;
    rc = read_rest(s, &text, &length, err);
    hm__source_close(s);
    if (rc) {
        hm__free(text);
        return rc;
    }
    *ret_text = text;
    *ret_length = length;
    return 0;
}

/* ---- a buffered stream ---------------------------------------------------------------------- */

/* Takes ownership of the source, even if this function fails. */
static int bytes_take(struct hm_bytes *bytes, struct hm_source *source, size_t room,
                      struct hm_err *err)
{
    struct hm_bytes opened = {.source = source, .room = room, .err = err};

    opened.buffer = hm__calloc(room, 1);
    if (!opened.buffer) {
        hm__source_close(opened.source);
        return hm__fail_nomem(err);
    }
    *bytes = opened;
    return 0;
}

int hm__bytes_open(struct hm_bytes *bytes, const char *path, size_t room, struct hm_err *err)
{
    struct hm_source *source = NULL;
    int rc = hm__source_open(path, &source, err);

    return rc ? rc : bytes_take(bytes, source, room, err);
}

int hm__bytes_open_memory(struct hm_bytes *bytes, const char *data, size_t length, const char *name,
                          size_t room, struct hm_err *err)
{
    struct hm_source *source = NULL;
    int rc = hm__source_open_memory(data, length, name, &source, err);

    return rc ? rc : bytes_take(bytes, source, room, err);
}

int hm__bytes_refill(struct hm_bytes *bytes)
{
    int rc = hm__source_read(bytes->source, bytes->buffer, bytes->room, &bytes->length, bytes->err);

    bytes->at = 0;
    if (rc) {
        bytes->length = 0;
        return rc - 1;
    }
    return bytes->length == 0 ? -1 : (unsigned char)bytes->buffer[bytes->at++];
}

void hm__bytes_close(struct hm_bytes *bytes)
{
    hm__source_close(bytes->source);
    hm__free(bytes->buffer);
    *bytes = (struct hm_bytes){0};
}
