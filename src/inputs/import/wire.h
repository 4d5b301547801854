/*
 * Reads the wire format of protocol buffers from a stream: fields with a number and a type, and
 * messages inside fields. What a reader does not consume of a field is skipped, without being read
 * where the file can seek.
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

/* A message while it is read. */
struct hm_wire {
    struct hm_stream *in; /* Borrowed. */
    uint64_t end;         /* Offset in the stream at which the message ends. */
    uint64_t next;        /* Offset of the next field. */
    bool bad;             /* The message is damaged. */
    bool cut;             /* The stream ends before the message. */
};

struct hm_wire_field {
    unsigned number;
    enum hm_wire_type type;
    uint64_t value; /* Value of a varint or a fixed number; bytes of a field of bytes. */
};

/* Begin a message of `length` bytes at the position of the stream. */
void hm__wire_begin(struct hm_wire *wire, struct hm_stream *in, uint64_t length);
/* Read the next field; false at the end of the message, or if it is damaged or cut. */
bool hm__wire_next(struct hm_wire *wire, struct hm_wire_field *ret_field);
/* Begin the message in a field of bytes, which was just read. */
struct hm_wire hm__wire_enter(struct hm_wire *wire, const struct hm_wire_field *field);
/* Copy a field of bytes as a text of at most room - 1 bytes. */
void hm__wire_text(struct hm_wire *wire, const struct hm_wire_field *field, char *text,
                   size_t room);
/* Read a varint inside a packed field; false at the end. */
bool hm__wire_varint(struct hm_wire *wire, uint64_t *ret_value);
/* The values of fixed fields as floating-point numbers. */
double hm__wire_double(uint64_t value);
double hm__wire_float(uint64_t value);

#endif
