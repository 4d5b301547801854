/* Implements the reader of protocol buffers; see wire.h. */
#include "wire.h"

#include <string.h>

void hm__wire_begin(struct hm_wire *w, struct hm_stream *in, uint64_t length)
{
    uint64_t at = hm__stream_offset(in);

    *w = (struct hm_wire){.in = in, .end = at + length, .next = at};
    if (length > UINT64_MAX - at)
        w->bad = true;
}

/* Skips the unread rest of the last field, so that the stream is at the start of the next one. */
static bool wire_arrive(struct hm_wire *w)
{
    uint64_t at = hm__stream_offset(w->in);

    if (w->bad || w->cut)
        return false;
    if (at < w->next && hm__stream_skip(w->in, w->next - at) < w->next - at)
        w->cut = true;
    return !w->cut;
}

bool hm__wire_varint(struct hm_wire *w, uint64_t *ret_value)
{
    uint64_t value = 0;

    if (!wire_arrive(w) || w->next >= w->end)
        return false;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        int c = w->next < w->end ? hm__stream_see(w->in) : -2;
        if (c < 0) {
            *(c == -1 ? &w->cut : &w->bad) = true;
            return false;
        }
        w->in->at++;
        w->next++;
        if (shift < 64)
            value |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80) {
            *ret_value = value;
            return true;
        }
    }
    w->bad = true;
    return false;
}

static bool wire_fixed(struct hm_wire *w, size_t bytes, uint64_t *ret_value)
{
    uint64_t value = 0;

    if (w->end - w->next < bytes) {
        w->bad = true;
        return false;
    }
    if (hm__stream_peek(w->in, bytes) < bytes) {
        w->cut = true;
        return false;
    }
    for (size_t i = bytes; i-- > 0;)
        value = value << 8 | (unsigned char)w->in->buffer[w->in->at + i];
    w->in->at += bytes;
    w->next += bytes;
    *ret_value = value;
    return true;
}

bool hm__wire_next(struct hm_wire *w, struct hm_wire_field *f)
{
    uint64_t start = w->next, key;

    if (!hm__wire_varint(w, &key))
        return false;
    /*
     * The key of a field is a 32-bit number in at most 5 bytes; higher bits are ignored, as in
     * other readers. Field number 0 is not valid.
     */
    key &= UINT32_MAX;
    if (key >> 3 == 0 || w->next - start > 5) {
        w->bad = true;
        return false;
    }
    *f = (struct hm_wire_field){(unsigned)(key >> 3), (enum hm_wire_type)(key & 7), 0};
    switch (f->type) {
    case HM_WIRE_VARINT:
        if (!hm__wire_varint(w, &f->value)) {
            w->bad |= !w->cut;
            return false;
        }
        return true;
    case HM_WIRE_FIXED64:
        return wire_fixed(w, 8, &f->value);
    case HM_WIRE_FIXED32:
        return wire_fixed(w, 4, &f->value);
    case HM_WIRE_BYTES:
        if (!hm__wire_varint(w, &f->value) || f->value > w->end - w->next) {
            w->bad |= !w->cut;
            return false;
        }
        w->next += f->value;
        return true;
    }
    w->bad = true;
    return false;
}

struct hm_wire hm__wire_enter(struct hm_wire *w, const struct hm_wire_field *f)
{
    return (struct hm_wire){.in = w->in, .end = w->next, .next = w->next - f->value};
}

void hm__wire_text(struct hm_wire *w, const struct hm_wire_field *f, char *text, size_t room)
{
    size_t length = f->value < room - 1 ? (size_t)f->value : room - 1;
    size_t got = hm__stream_peek(w->in, length);

    length = got < length ? got : length;
    memcpy(text, w->in->buffer + w->in->at, length);
    w->in->at += length;
    text[length] = '\0';
}

double hm__wire_double(uint64_t value)
{
    double number;

    memcpy(&number, &value, sizeof(number));
    return number;
}

double hm__wire_float(uint64_t value)
{
    uint32_t bits = (uint32_t)value;
    float number;

    memcpy(&number, &bits, sizeof(number));
    return (double)number;
}
