/*
 * Reads plain and gzip files (RFC 1952) as a stream of bytes. This is the only file that uses zlib;
 * a build without it reads plain files and refuses gzip files with a hint.
 */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef HM_HAVE_ZLIB
#include <zlib.h>
#endif

#include "err.h"
#include "memory.h"

struct hm_source {
    int file;
    char path[256];
#ifdef HM_HAVE_ZLIB
    gzFile gz;       /* Open file; zlib reads plain files with the same functions. */
    long long bytes; /* Number of bytes that were read after unpacking. */
#else
    bool first; /* Nothing was read yet, so the file was not yet checked for the gzip magic. */
#endif
};

static int source_fail(const struct hm_source *s, struct hm_err *err, const char *what)
{
    hm__fail(err, HM_E_IO, "%s", what);
    hm__err_at(err, s->path, 0);
    return HM_E_IO;
}

int hm__source_open(const char *path, struct hm_source **ret_source, struct hm_err *err)
{
    struct hm_source *s = hm__calloc(1, sizeof(*s));

    if (!s)
        return hm__fail_nomem(err);
    snprintf(s->path, sizeof(s->path), "%s", path);
    s->file = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (s->file < 0) {
        hm__fail(err, HM_E_IO, "cannot open: %s", strerror(errno));
        hm__err_at(err, path, 0);
        hm__free(s);
        return HM_E_IO;
    }
#ifdef HM_HAVE_ZLIB
    s->gz = gzdopen(s->file, "rb");
    if (!s->gz) {
        close(s->file);
        hm__free(s);
        return hm__fail_nomem(err);
    }
    gzbuffer(s->gz, 256 * 1024);
#else
    s->first = true;
#endif
    *ret_source = s;
    return 0;
}

#ifdef HM_HAVE_ZLIB
/* A file that unpacks to more bytes than RATIO_FROM must not be RATIO_MAX times as large as packed:
 * tables of numbers are packed to a tenth, files made to fill the memory to a thousandth. */
enum { RATIO_MAX = 100, RATIO_FROM = 16 << 20 };

static bool source_is_bomb(const struct hm_source *s)
{
    /* The offset is not known for a pipe. */
    long long packed = s->bytes > RATIO_FROM ? (long long)gzoffset(s->gz) : -1;

    return packed > 0 && s->bytes / RATIO_MAX > packed;
}

int hm__source_read(struct hm_source *s, char *buffer, size_t room, size_t *ret_length,
                    struct hm_err *err)
{
    int got = gzread(s->gz, buffer, (unsigned)(room > 1u << 30 ? 1u << 30 : room)), code = Z_OK;
    const char *text = gzerror(s->gz, &code), *colon = strrchr(text, ':');

    if (got < 0 || (got == 0 && code == Z_BUF_ERROR))
        return source_fail(s, err,
                           code == Z_BUF_ERROR ? "the compressed file is cut short"
                           : code == Z_ERRNO   ? strerror(errno)
                           : colon             ? colon + 2 /* Skip the "name: " that zlib adds. */
                                               : text);
    s->bytes += got;
    if (source_is_bomb(s)) {
        hm__fail(err, HM_E_LIMIT, "the compressed file unpacks to more than %d times its size",
                 RATIO_MAX);
        hm__err_hint(err, "if this is right, unpack it first: gunzip FILE");
        hm__err_at(err, s->path, 0);
        return HM_E_LIMIT;
    }
    *ret_length = (size_t)got;
    return 0;
}

void hm__source_close(struct hm_source *s)
{
    if (!s)
        return;
    gzclose(s->gz);
    hm__free(s);
}
#else
int hm__source_read(struct hm_source *s, char *buffer, size_t room, size_t *ret_length,
                    struct hm_err *err)
{
    ssize_t got;

    do
        got = read(s->file, buffer, room);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return source_fail(s, err, strerror(errno));
    if (s->first && got >= 2 && (unsigned char)buffer[0] == 0x1f &&
        (unsigned char)buffer[1] == 0x8b) {
        hm__fail(err, HM_E_UNSUPPORTED, "gzip files need zlib, which this build leaves out");
        hm__err_hint(err, "unpack it first: gunzip FILE");
        hm__err_at(err, s->path, 0);
        return HM_E_UNSUPPORTED;
    }
    s->first = false;
    *ret_length = (size_t)got;
    return 0;
}

void hm__source_close(struct hm_source *s)
{
    if (!s)
        return;
    close(s->file);
    hm__free(s);
}
#endif

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

int hm__bytes_open(struct hm_bytes *bytes, const char *path, size_t room, struct hm_err *err)
{
    struct hm_bytes opened = {.room = room, .err = err};
    int rc = hm__source_open(path, &opened.source, err);

    if (rc)
        return rc;
    opened.buffer = hm__calloc(room, 1);
    if (!opened.buffer) {
        hm__source_close(opened.source);
        return hm__fail_nomem(err);
    }
    *bytes = opened;
    return 0;
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
