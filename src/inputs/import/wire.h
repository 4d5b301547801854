/*
 * Reads the wire format of protocol buffers from a stream: fields with a number and a type, and
 * messages inside fields. Bytes of a field that the caller does not read are skipped; in a file
 * that supports seeking, they are not read at all.
 */
#ifndef HM_WIRE_H
#define HM_WIRE_H

#include "stream.h"

enum hm_wire_type {
    HM_WIRE_VARINT = 0,
    HM_WIRE_FIXED64 = 1,
    HM_WIRE_BYTES = 2,
    HM_WIRE_FIXED32 = 5
};

/* State of reading one message, which may be inside a field of another message. */
struct hm_wire {
    struct hm_stream *in; /* The stream from which the message is read; borrowed. */
    uint64_t end;         /* Offset in the stream at which the message ends. */
    uint64_t next;        /* Offset of the next field in the stream. */
    bool bad;             /* True if the message is damaged. */
    bool cut;             /* True if the stream ends inside the message. */
};

struct hm_wire_field {
    unsigned number;
    enum hm_wire_type type;
    uint64_t value; /* Value of a numeric field; for a field of bytes, the number of bytes. */
};

/* Starts reading a message of `length` bytes at the current position of the stream. */
void hm__wire_begin(struct hm_wire *wire, struct hm_stream *in, uint64_t length);
/*
 * Reads the next field; returns false at the end of the message, or if the message is damaged or
 * truncated.
 */
bool hm__wire_next(struct hm_wire *wire, struct hm_wire_field *ret_field);
/*
 * Starts reading the message inside a field of bytes; no other field may have been read after this
 * one.
 */
struct hm_wire hm__wire_enter(struct hm_wire *wire, const struct hm_wire_field *field);
/* Copies at most room - 1 bytes of a field to `text`, and adds a NUL. */
void hm__wire_text(struct hm_wire *wire, const struct hm_wire_field *field, char *text,
                   size_t room);
/* Reads the next varint of a packed field; returns false at the end of the field. */
bool hm__wire_varint(struct hm_wire *wire, uint64_t *ret_value);
/*
 * Converts the value of a field of type FIXED64 (hm__wire_double) or FIXED32 (hm__wire_float) to a
 * double.
 */
double hm__wire_double(uint64_t value);
double hm__wire_float(uint64_t value);

#endif
