/*
 * Reads the gzip format (RFC 1952), and deflate streams without a header (RFC 1951), and computes
 * the checksums of zip archives. This is the only file that uses zlib; a build without it refuses
 * gzip files with a hint.
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

/*
 * Handles the bytes after a member: another member is decoded, and zeros, with which a file may be
 * padded, are skipped. Other bytes are damage, except after a stream without a header.
 */
static int gzip_go_on(struct gzip_state *s, struct hm_unpack_step *step, struct hm_err *err)
{
    step->ended = s->raw;
    for (; !s->raw && step->in_left > 0 && *step->in == 0; step->in_left--)
        step->in++;
    if (s->raw || step->in_left == 0)
        return 0;
    if (step->in[0] != magic[0] || inflateReset(&s->stream) != Z_OK)
        return hm__fail(err, HM_E_IO, "other bytes follow the gzip data");
    s->between = false;
    return 0;
}

static int gzip_step(void *state, struct hm_unpack_step *step, struct hm_err *err)
{
    struct gzip_state *s = state;
    z_stream *z = &s->stream;
    const size_t room = step->out_left;
    int code = Z_OK;

    /* A match that did not fit into the last output is completed even without further input. */
    while ((step->in_left > 0 || !s->between) && step->out_left > 0 && code == Z_OK) {
        /* Bytes that were decoded are returned before damage after them is reported. */
        if (s->between && step->out_left < room)
            break;
        int rc = s->between ? gzip_go_on(s, step, err) : 0;
        if (rc)
            return rc;
        if (s->between)
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

uint32_t hm__checksum_zip(uint32_t sum, const void *data, size_t length)
{
    return (uint32_t)crc32_z(sum, data, length);
}
#else
const struct hm_codec hm__codec_gzip = {
    .name = "gzip", .magic = magic, .magic_length = sizeof(magic), .needs = "zlib"};
const struct hm_codec hm__codec_deflate = {.name = "zip", .needs = "zlib"};

uint32_t hm__checksum_zip(uint32_t sum, const void *data, size_t length)
{
    static const uint32_t halves[] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                      0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                      0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                      0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    const unsigned char *p = data;

    sum = ~sum;
    for (size_t i = 0; i < length; i++) {
        sum ^= p[i];
        sum = sum >> 4 ^ halves[sum & 15];
        sum = sum >> 4 ^ halves[sum & 15];
    }
    return ~sum;
}
#endif
