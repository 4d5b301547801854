/*
 * Reads the gzip format (RFC 1952), and deflate streams without a header (RFC 1951). This is the
 * only file that uses zlib; a build without it refuses gzip files with a hint.
 */
#include "unpack.h"

#include "err.h"
#include "memory.h"

static const unsigned char magic[] = {0x1f, 0x8b};

#ifdef HM_HAVE_ZLIB
#include <zlib.h>

struct gzip_state {
    z_stream stream;
    bool between; /* True if the last member has ended and no byte of the next member has been
                     read. */
    bool raw;     /* True if the stream has no header, and nothing follows it. */
};

/* Creates the state of a decoder; `bits` selects the format, as for inflateInit2. */
static struct gzip_state *inflate_open(int bits)
{
    struct gzip_state *s = hm__calloc(1, sizeof(*s));

    if (s && inflateInit2(&s->stream, bits) != Z_OK) {
        hm__free(s);
        return NULL;
    }
    return s;
}

static void *gzip_open(void)
{
    return inflate_open(15 + 16);
}

static void *deflate_open(void)
{
    struct gzip_state *s = inflate_open(-15);

    if (s)
        s->raw = true;
    return s;
}

/* Handles the bytes after a member: another member is decoded, and other bytes are ignored. */
static bool gzip_goes_on(struct gzip_state *s, struct hm_unpack_step *step)
{
    if (step->in_left == 0)
        return false;
    if (s->raw || step->in[0] != magic[0] || inflateReset(&s->stream) != Z_OK) {
        step->ended = true;
        return false;
    }
    s->between = false;
    return true;
}

static int gzip_step(void *state, struct hm_unpack_step *step, struct hm_err *err)
{
    struct gzip_state *s = state;
    z_stream *z = &s->stream;
    int code = Z_OK;

    while (step->in_left > 0 && step->out_left > 0 && code == Z_OK) {
        if (s->between && !gzip_goes_on(s, step))
            break;
        unsigned in = step->in_left > 1u << 30 ? 1u << 30 : (unsigned)step->in_left;
        unsigned out = step->out_left > 1u << 30 ? 1u << 30 : (unsigned)step->out_left;
        z->next_in = (Bytef *)(uintptr_t)step->in;
        z->next_out = step->out;
        z->avail_in = in;
        z->avail_out = out;
        code = inflate(z, Z_NO_FLUSH);
        step->in += in - z->avail_in;
        step->in_left -= in - z->avail_in;
        step->out += out - z->avail_out;
        step->out_left -= out - z->avail_out;
        if (code == Z_STREAM_END) {
            s->between = true;
            code = Z_OK;
        }
    }
    step->between = s->between;
    if (code == Z_OK || code == Z_BUF_ERROR)
        return 0;
    return code == Z_MEM_ERROR
               ? hm__fail_nomem(err)
               : hm__fail(err, HM_E_IO, "%s", z->msg ? z->msg : "damaged gzip data");
}

static void gzip_close(void *state)
{
    struct gzip_state *s = state;

    if (s)
        inflateEnd(&s->stream);
    hm__free(s);
}

const struct hm_codec hm__codec_gzip = {.name = "gzip",
                                        .magic = magic,
                                        .magic_length = sizeof(magic),
                                        .open = gzip_open,
                                        .step = gzip_step,
                                        .close = gzip_close};
const struct hm_codec hm__codec_deflate = {
    .name = "zip", .open = deflate_open, .step = gzip_step, .close = gzip_close};
#else
const struct hm_codec hm__codec_gzip = {
    .name = "gzip", .magic = magic, .magic_length = sizeof(magic), .needs = "zlib"};
const struct hm_codec hm__codec_deflate = {.name = "zip", .needs = "zlib"};
#endif
