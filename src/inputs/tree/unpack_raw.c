/*
 * Decodes single compressed blocks. All three formats are sequences of literals and of copies from
 * earlier output; every length and every distance is checked before it is used.
 *
 *   lz4     https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md
 *   snappy  https://github.com/google/snappy/blob/main/format_description.txt
 *   lzf     liblzf's compressed chunks
 */
#include "unpack_raw.h"

#include <string.h>

/* The input and the output of a block while it is decoded. */
struct cursor {
    const unsigned char *in;
    size_t in_left;
    unsigned char *out;
    size_t size, made;
};

static bool take_literal(struct cursor *c, size_t length)
{
    if (length > c->in_left || length > c->size - c->made)
        return false;
    if (length > 0)
        memcpy(c->out + c->made, c->in, length);
    c->in += length;
    c->in_left -= length;
    c->made += length;
    return true;
}

/* Copies bytes that are `distance` before the end of the output; the two ranges may overlap. */
static bool take_copy(struct cursor *c, size_t distance, size_t length)
{
    if (distance == 0 || distance > c->made || length > c->size - c->made)
        return false;
    if (distance >= length) {
        memcpy(c->out + c->made, c->out + c->made - distance, length);
        c->made += length;
        return true;
    }
    for (size_t i = 0; i < length; i++, c->made++)
        c->out[c->made] = c->out[c->made - distance];
    return true;
}

/* Reads an lz4 length, whose first four bits are in a token; 15 means that more bytes follow. */
static bool lz4_length(struct cursor *c, size_t *length)
{
    if (*length != 15)
        return true;
    unsigned char byte = 255;
    while (byte == 255) {
        if (c->in_left == 0 || *length > c->size)
            return false;
        byte = *c->in++;
        c->in_left--;
        *length += byte;
    }
    return true;
}

bool hm__lz4_decode(const unsigned char *in, size_t length, unsigned char *out, size_t size)
{
    struct cursor c = {in, length, out, size, 0};

    while (c.in_left > 0) {
        unsigned token = *c.in++;
        c.in_left--;
        size_t literal = token >> 4, copy = token & 15;
        if (!lz4_length(&c, &literal) || !take_literal(&c, literal))
            return false;
        if (c.in_left == 0) /* The last sequence of a block has no copy. */
            return c.made == size;
        if (c.in_left < 2)
            return false;
        size_t distance = c.in[0] | (size_t)c.in[1] << 8;
        c.in += 2;
        c.in_left -= 2;
        if (!lz4_length(&c, &copy) || !take_copy(&c, distance, copy + 4))
            return false;
    }
    return c.made == size;
}

bool hm__snappy_size(const unsigned char *in, size_t length, size_t *ret_size, size_t *ret_used)
{
    uint64_t size = 0;

    for (size_t i = 0; i < length && i < 5; i++) {
        size |= (uint64_t)(in[i] & 0x7f) << (7 * i);
        if (in[i] < 0x80) {
            *ret_size = (size_t)size;
            *ret_used = i + 1;
            return size <= UINT32_MAX;
        }
    }
    return false;
}

/* Reads `bytes` bytes as a little-endian number. */
static bool take_number(struct cursor *c, size_t bytes, size_t *ret_number)
{
    size_t number = 0;

    if (c->in_left < bytes)
        return false;
    for (size_t i = 0; i < bytes; i++)
        number |= (size_t)c->in[i] << (8 * i);
    c->in += bytes;
    c->in_left -= bytes;
    *ret_number = number;
    return true;
}

static bool snappy_element(struct cursor *c)
{
    size_t tag, number;

    if (!take_number(c, 1, &tag))
        return false;
    if ((tag & 3) == 0) {
        size_t length = tag >> 2;
        if (length >= 60 && !take_number(c, length - 59, &length))
            return false;
        return take_literal(c, length + 1);
    }
    if ((tag & 3) == 1)
        return take_number(c, 1, &number) &&
               take_copy(c, number | (tag >> 5) << 8, 4 + ((tag >> 2) & 7));
    return take_number(c, (tag & 3) == 2 ? 2 : 4, &number) && take_copy(c, number, 1 + (tag >> 2));
}

bool hm__snappy_decode(const unsigned char *in, size_t length, unsigned char *out, size_t size)
{
    size_t stated, used;

    if (!hm__snappy_size(in, length, &stated, &used) || stated != size)
        return false;
    struct cursor c = {in + used, length - used, out, size, 0};
    while (c.in_left > 0)
        if (!snappy_element(&c))
            return false;
    return c.made == size;
}

bool hm__lzf_decode(const unsigned char *in, size_t length, unsigned char *out, size_t size)
{
    struct cursor c = {in, length, out, size, 0};

    while (c.in_left > 0) {
        size_t control = 0, more = 0, low = 0;
        take_number(&c, 1, &control);
        if (control < 32) {
            if (!take_literal(&c, control + 1))
                return false;
            continue;
        }
        size_t copy = control >> 5;
        if (copy == 7) {
            if (!take_number(&c, 1, &more))
                return false;
            copy += more;
        }
        if (!take_number(&c, 1, &low) || !take_copy(&c, ((control & 31) << 8 | low) + 1, copy + 2))
            return false;
    }
    return c.made == size;
}

/* ---- xxHash32, https://github.com/Cyan4973/xxHash ------------------------------------------- */

static const uint32_t prime1 = 2654435761u, prime2 = 2246822519u, prime3 = 3266489917u,
                      prime4 = 668265263u, prime5 = 374761393u;

static uint32_t rotate_left(uint32_t x, unsigned by)
{
    return x << by | x >> (32 - by);
}

static uint32_t read_word32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint32_t hm__xxhash32(const unsigned char *data, size_t length, uint32_t seed)
{
    const unsigned char *p = data, *end = data + length;
    uint32_t hash = seed + prime5;

    if (length >= 16) {
        uint32_t lanes[4] = {seed + prime1 + prime2, seed + prime2, seed, seed - prime1};
        for (; end - p >= 16; p += 16)
            for (size_t i = 0; i < 4; i++)
                lanes[i] = rotate_left(lanes[i] + read_word32(p + 4 * i) * prime2, 13) * prime1;
        hash = rotate_left(lanes[0], 1) + rotate_left(lanes[1], 7) + rotate_left(lanes[2], 12) +
               rotate_left(lanes[3], 18);
    }
    hash += (uint32_t)length;
    for (; end - p >= 4; p += 4)
        hash = rotate_left(hash + read_word32(p) * prime3, 17) * prime4;
    for (; p < end; p++)
        hash = rotate_left(hash + *p * prime5, 11) * prime1;
    hash = (hash ^ hash >> 15) * prime2;
    hash = (hash ^ hash >> 13) * prime3;
    return hash ^ hash >> 16;
}
