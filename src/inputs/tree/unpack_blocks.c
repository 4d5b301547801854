/*
 * Reads the block formats in which Java programs such as Spark write compressed files:
 *
 *   lz4     lz4-java's LZ4BlockOutputStream: blocks of "LZ4Block", a token (method and level),
 *           compressed and original length, a 28-bit xxHash32 of the contents, and the data. A
 *           block of length 0 ends a stream; another stream may follow.
 *   snappy  snappy-java's SnappyOutputStream: 16 bytes of header, then blocks of a big-endian
 *           length and raw snappy data. The header may appear again between blocks.
 *   lzf     compress-lzf: chunks of "ZV", a type, lengths of 16 bits, and the data.
 *
 * A codec collects one block, decodes it into a second buffer, and copies from there. A block of
 * more than 32 MiB is refused.
 */
#include "unpack.h"

#include <string.h>

#include "err.h"
#include "memory.h"
#include "unpack_raw.h"

enum { BLOCK_MOST = 1 << 25 };

/* Properties of one block, as given in its header. */
struct block {
    size_t header;       /* Number of bytes in the header, before the data. */
    size_t packed, size; /* Number of bytes in the data, and number of bytes that they decode to. */
    bool stored;         /* True if the data are not compressed. */
    bool skipped;        /* True if the block is a header without data. */
    uint32_t check;      /* Checksum of the contents, if the format has one. */
};

struct block_format {
    size_t least; /* Number of bytes in the shortest header. */
    /*
     * Reads a header, of which `have` bytes are available; this is at least `least`. Returns the
     * number of bytes that the header needs if it is longer, 0 if *block is complete, or a negative
     * code.
     */
    long (*parse)(const unsigned char *data, size_t have, struct block *block);
    /* Decodes the data of a block; returns false if they are damaged. */
    bool (*decode)(const unsigned char *data, const struct block *block, unsigned char *out);
};

struct block_state {
    const struct block_format *format;
    unsigned char *in, *out; /* Buffers of the block and of its decoded contents; owned. */
    size_t in_room, out_room;
    size_t have;         /* Number of bytes in the current block in `in`. */
    size_t at, out_size; /* Next byte of `out` to copy, and number of bytes in `out`. */
};

/* ---- the three formats ---------------------------------------------------------------------- */

static const unsigned char lz4_magic[] = "LZ4Block", snappy_magic[] = "\x82SNAPPY";
static const unsigned char lzf_magic[] = "ZV";

static uint32_t read_little32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t read_big32(const unsigned char *p)
{
    return (uint32_t)p[3] | (uint32_t)p[2] << 8 | (uint32_t)p[1] << 16 | (uint32_t)p[0] << 24;
}

static long lz4_parse(const unsigned char *data, size_t have, struct block *b)
{
    unsigned method = data[8] & 0xf0u;

    (void)have;
    *b = (struct block){.header = 21,
                        .packed = read_little32(data + 9),
                        .size = read_little32(data + 13),
                        .stored = method == 0x10,
                        .check = read_little32(data + 17)};
    if (memcmp(data, lz4_magic, 8) != 0 || (method != 0x10 && method != 0x20))
        return HM_E_IO;
    b->skipped = b->size == 0;
    return 0;
}

/* The seed and the mask that lz4-java uses to compute the checksum of a block. */
enum { LZ4_SEED = (int)0x9747b28c, LZ4_MASK = 0x0fffffff };

static bool lz4_decode(const unsigned char *data, const struct block *b, unsigned char *out)
{
    if (b->stored && b->packed != b->size)
        return false;
    if (b->stored && b->size > 0) /* There is no buffer for an empty block. */
        memcpy(out, data, b->size);
    else if (!b->stored && !hm__lz4_decode(data, b->packed, out, b->size))
        return false;
    return (hm__xxhash32(out, b->size, (uint32_t)LZ4_SEED) & LZ4_MASK) == b->check;
}

static long snappy_parse(const unsigned char *data, size_t have, struct block *b)
{
    *b = (struct block){.header = 4, .packed = read_big32(data)};
    if (data[0] == snappy_magic[0] && data[1] == 'S') {
        *b = (struct block){.header = 16, .skipped = true};
        return 0;
    }
    if (b->packed == 0 || b->packed > BLOCK_MOST)
        return HM_E_IO;
    /* The length of the contents is a varint of at most 5 bytes at the start of the data. */
    size_t needed = 4 + (b->packed < 5 ? b->packed : 5), used;
    if (have < needed)
        return (long)needed;
    return hm__snappy_size(data + 4, needed - 4, &b->size, &used) ? 0 : HM_E_IO;
}

static bool snappy_decode(const unsigned char *data, const struct block *b, unsigned char *out)
{
    return hm__snappy_decode(data, b->packed, out, b->size);
}

static long lzf_parse(const unsigned char *data, size_t have, struct block *b)
{
    if (data[0] != 'Z' || data[1] != 'V' || data[2] > 1)
        return HM_E_IO;
    *b = (struct block){.header = data[2] ? 7 : 5,
                        .packed = (size_t)data[3] << 8 | data[4],
                        .stored = data[2] == 0};
    if (have < b->header)
        return (long)b->header;
    b->size = b->stored ? b->packed : (size_t)data[5] << 8 | data[6];
    return 0;
}

static bool lzf_decode(const unsigned char *data, const struct block *b, unsigned char *out)
{
    if (!b->stored)
        return hm__lzf_decode(data, b->packed, out, b->size);
    if (b->size > 0)
        memcpy(out, data, b->size);
    return true;
}

/* ---- the common part ------------------------------------------------------------------------ */

/* Collects input until the block has `needed` bytes; returns false if the input ends earlier. */
static bool block_collect(struct block_state *s, struct hm_unpack_step *step, size_t needed)
{
    size_t missing = s->have < needed ? needed - s->have : 0;
    size_t take = missing < step->in_left ? missing : step->in_left;

    if (take > 0)
        memcpy(s->in + s->have, step->in, take);
    s->have += take;
    step->in += take;
    step->in_left -= take;
    return take == missing;
}

static bool block_reserve(unsigned char **buffer, size_t *room, size_t needed)
{
    if (needed <= *room)
        return true;
    unsigned char *larger = hm__realloc(*buffer, needed, 1);
    if (!larger)
        return false;
    *buffer = larger;
    *room = needed;
    return true;
}

/* Reads the header and the data of the next block. Returns 1 when it is complete, 0 when more
 * input is needed, or a negative code. */
static int block_next(struct block_state *s, struct hm_unpack_step *step, struct block *b,
                      struct hm_err *err)
{
    long needed = (long)s->format->least;

    while (needed > 0) {
        if (!block_collect(s, step, (size_t)needed))
            return 0;
        needed = s->format->parse(s->in, s->have, b);
    }
    if (needed < 0 || b->packed > BLOCK_MOST || b->size > BLOCK_MOST)
        return hm__fail(err, HM_E_IO, "damaged compressed data: a block has no valid header");
    if (!block_reserve(&s->in, &s->in_room, b->header + b->packed))
        return hm__fail_nomem(err);
    return block_collect(s, step, b->header + b->packed);
}

static int block_step(void *state, struct hm_unpack_step *step, struct hm_err *err)
{
    struct block_state *s = state;

    while (step->out_left > 0) {
        size_t ready = s->out_size - s->at;
        if (ready > 0) {
            size_t take = ready < step->out_left ? ready : step->out_left;
            memcpy(step->out, s->out + s->at, take);
            s->at += take;
            step->out += take;
            step->out_left -= take;
            continue;
        }
        struct block b;
        int rc = block_next(s, step, &b, err);
        if (rc <= 0) {
            step->between = s->have == 0;
            return rc;
        }
        s->have = s->at = s->out_size = 0;
        if (b.skipped)
            continue;
        if (!block_reserve(&s->out, &s->out_room, b.size))
            return hm__fail_nomem(err);
        if (!s->format->decode(s->in + b.header, &b, s->out))
            return hm__fail(err, HM_E_IO, "damaged compressed data: a block cannot be decoded");
        s->out_size = b.size;
    }
    step->between = s->have == 0 && s->at == s->out_size;
    return 0;
}

static void block_close(void *state)
{
    struct block_state *s = state;

    if (s) {
        hm__free(s->in);
        hm__free(s->out);
    }
    hm__free(s);
}

static void *block_open(const struct block_format *format)
{
    struct block_state *s = hm__calloc(1, sizeof(*s));

    if (!s || !block_reserve(&s->in, &s->in_room, 64)) {
        block_close(s);
        return NULL;
    }
    s->format = format;
    return s;
}

static void *lz4_open(void)
{
    static const struct block_format format = {21, lz4_parse, lz4_decode};

    return block_open(&format);
}

static void *snappy_open(void)
{
    static const struct block_format format = {4, snappy_parse, snappy_decode};

    return block_open(&format);
}

static void *lzf_open(void)
{
    static const struct block_format format = {5, lzf_parse, lzf_decode};

    return block_open(&format);
}

const struct hm_codec hm__codec_lz4 = {.name = "lz4",
                                       .magic = lz4_magic,
                                       .magic_length = 8,
                                       .open = lz4_open,
                                       .step = block_step,
                                       .close = block_close};
const struct hm_codec hm__codec_snappy = {.name = "snappy",
                                          .magic = snappy_magic,
                                          .magic_length = 8,
                                          .open = snappy_open,
                                          .step = block_step,
                                          .close = block_close};
const struct hm_codec hm__codec_lzf = {.name = "lzf",
                                       .magic = lzf_magic,
                                       .magic_length = 2,
                                       .open = lzf_open,
                                       .step = block_step,
                                       .close = block_close};

const struct hm_codec *const hm__codecs[] = {&hm__codec_gzip,   &hm__codec_zstd, &hm__codec_lz4,
                                             &hm__codec_snappy, &hm__codec_lzf,  NULL};

const struct hm_codec *hm__codec_find(const unsigned char *head, size_t length)
{
    for (size_t i = 0; hm__codecs[i]; i++) {
        const struct hm_codec *c = hm__codecs[i];
        /*
         * A text file may begin with "ZV", the magic number of lzf; the type after it must be 0 or
         * 1.
         */
        if (length >= c->magic_length && memcmp(head, c->magic, c->magic_length) == 0 &&
            (c != &hm__codec_lzf || (length > 2 && head[2] <= 1)))
            return c;
    }
    return NULL;
}
