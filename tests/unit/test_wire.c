/*
 * Compares the reader of protocol buffers (src/inputs/import/wire.h) with protobuf-c: messages that
 * protobuf-c writes must be read with the same values, and damaged messages must be refused by
 * both. Traces of Chakra that protobuf-c writes are imported. wire.proto defines the messages.
 */
#include <math.h>
#include <stdlib.h>

#include "import_samples.h"
#include "wire.h"
#include "wire.pb-c.h"

enum { MESSAGES = 500, ROOM = 1 << 16, LIST = 8 };

static uint64_t random_state = 1;

/* Returns random bits; the numbers have all lengths equally often. */
static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state >> (random_state >> 58);
}

/* ---- reading with our reader ----------------------------------------------------------------- */

/* Values that our reader finds in a message of type Every; the depth of nested messages is the
 * length of p. */
struct seen {
    uint64_t a, b, c, d, e, f, g, h, i, j, m, last;
    double k, l;
    char n[64], o[64];
    size_t o_length;
    uint64_t q[LIST], r[LIST];
    size_t q_count, r_count, s_count;
    char s[LIST][16];
    bool inner; /* True if the message has a nested message, whose d is inner_d. */
    uint64_t inner_d;
    bool mismatch; /* True if a known field has a wrong type, which protobuf-c refuses. */
};

static uint64_t from_zigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

static void read_every(struct hm_wire *w, struct seen *seen);

static void take_bytes(struct hm_wire *w, const struct hm_wire_field *f, struct seen *seen)
{
    uint64_t value;

    if (f->number == 14) {
        hm__wire_text(w, f, seen->n, sizeof(seen->n));
    } else if (f->number == 15) {
        seen->o_length = (size_t)f->value;
        hm__wire_text(w, f, seen->o, sizeof(seen->o));
    } else if (f->number == 16) {
        struct hm_wire inner = hm__wire_enter(w, f);
        struct seen deeper = {0};
        read_every(&inner, &deeper);
        w->bad |= inner.bad;
        w->cut |= inner.cut;
        seen->inner = true;
        seen->inner_d = deeper.d;
        seen->mismatch |= deeper.mismatch;
    } else if (f->number == 17) {
        struct hm_wire list = hm__wire_enter(w, f);
        while (hm__wire_varint(&list, &value))
            if (seen->q_count < LIST)
                seen->q[seen->q_count++] = value;
        w->bad |= list.bad;
        w->cut |= list.cut;
    } else if (f->number == 2000 && seen->s_count < LIST) {
        hm__wire_text(w, f, seen->s[seen->s_count++], sizeof(seen->s[0]));
    }
}

/* Returns whether a field of the message Every has the type that wire.proto gives it. */
static bool has_type(const struct hm_wire_field *f)
{
    static const enum hm_wire_type types[] = {
        HM_WIRE_VARINT,  HM_WIRE_VARINT,  HM_WIRE_VARINT,  HM_WIRE_VARINT,  HM_WIRE_VARINT,
        HM_WIRE_VARINT,  HM_WIRE_VARINT,  HM_WIRE_FIXED32, HM_WIRE_FIXED64, HM_WIRE_FIXED32,
        HM_WIRE_FIXED64, HM_WIRE_FIXED32, HM_WIRE_FIXED64, HM_WIRE_VARINT,  HM_WIRE_BYTES,
        HM_WIRE_BYTES,   HM_WIRE_BYTES};

    if (f->number >= 1 && f->number <= 16)
        return f->type == types[f->number];
    if (f->number == 17 || f->number == 18)
        return f->type == HM_WIRE_VARINT || f->type == HM_WIRE_BYTES;
    if (f->number == 2000)
        return f->type == HM_WIRE_BYTES;
    return f->number != 536870911 || f->type == HM_WIRE_VARINT;
}

static void read_every(struct hm_wire *w, struct seen *seen)
{
    struct hm_wire_field f;

    while (hm__wire_next(w, &f)) {
        if (!has_type(&f)) {
            seen->mismatch = true;
            continue;
        }
        uint64_t *places[] = {NULL,     &seen->a, &seen->b, &seen->c, &seen->d, &seen->e,
                              &seen->f, &seen->g, &seen->h, &seen->i, &seen->j};
        if (f.type == HM_WIRE_BYTES)
            take_bytes(w, &f, seen);
        else if (f.number >= 1 && f.number <= 10)
            *places[f.number] = f.number == 5 || f.number == 6 ? from_zigzag(f.value) : f.value;
        else if (f.number == 11)
            seen->k = hm__wire_float(f.value);
        else if (f.number == 12)
            seen->l = hm__wire_double(f.value);
        else if (f.number == 13)
            seen->m = f.value;
        else if (f.number == 17 && seen->q_count < LIST)
            seen->q[seen->q_count++] = f.value;
        else if (f.number == 18 && seen->r_count < LIST)
            seen->r[seen->r_count++] = from_zigzag(f.value);
        else if (f.number == 536870911)
            seen->last = f.value;
    }
}

/* Reads a message of `length` bytes, of which the first `ready` are available. Returns 0, -1 if it
 * is damaged, or 1 if it is cut. */
static int see_every(const uint8_t *data, size_t ready, uint64_t length, struct seen *seen)
{
    struct hm_source *source = NULL;
    struct hm_stream stream;
    struct hm_wire w;

    *seen = (struct seen){0};
    assert_int_equal(hm__source_open_memory((const char *)data, ready, "message", &source, NULL),
                     0);
    assert_int_equal(hm__stream_init(&stream, source, NULL), 0);
    hm__wire_begin(&w, &stream, length);
    read_every(&w, seen);
    hm__stream_release(&stream);
    return w.bad ? -1 : w.cut;
}

/* ---- writing with protobuf-c ----------------------------------------------------------------- */

/* A message of protobuf-c with the memory of its lists and texts. */
struct made {
    Wire__Every message, inner;
    uint64_t q[LIST];
    int64_t r[LIST];
    char texts[LIST][16], *s[LIST], n[40];
    uint8_t o[40];
};

static void make_every(struct made *made)
{
    Wire__Every *m = &made->message;

    wire__every__init(m);
    wire__every__init(&made->inner);
    m->a = (int32_t)random_bits();
    m->b = (int64_t)random_bits();
    m->c = (uint32_t)random_bits();
    m->d = random_bits();
    m->e = (int32_t)random_bits();
    m->f = (int64_t)random_bits();
    m->g = (uint32_t)random_bits();
    m->h = random_bits();
    m->i = (int32_t)random_bits();
    m->j = (int64_t)random_bits();
    m->k = (float)random_bits() / 7;
    m->l = (double)random_bits() / 7;
    m->m = random_bits() % 2;
    m->last = (uint32_t)random_bits();
    size_t length = random_bits() % sizeof(made->n);
    memset(made->n, 'x', length);
    made->n[length] = '\0';
    m->n = made->n;
    m->o.len = random_bits() % sizeof(made->o);
    m->o.data = made->o;
    for (size_t i = 0; i < m->o.len; i++)
        made->o[i] = (uint8_t)random_bits();
    made->inner.d = random_bits();
    m->p = random_bits() % 2 ? &made->inner : NULL;
    m->n_q = random_bits() % LIST;
    m->n_r = random_bits() % LIST;
    m->n_s = random_bits() % LIST;
    m->q = made->q;
    m->r = made->r;
    m->s = made->s;
    for (size_t i = 0; i < LIST; i++) {
        made->q[i] = random_bits();
        made->r[i] = (int64_t)random_bits();
        snprintf(made->texts[i], sizeof(made->texts[i]), "%x", (unsigned)random_bits());
        made->s[i] = made->texts[i];
    }
}

static void compare_every(const Wire__Every *m, const struct seen *seen)
{
    assert_int_equal(m->a, (int32_t)seen->a);
    assert_int_equal(m->b, (int64_t)seen->b);
    assert_int_equal(m->c, (uint32_t)seen->c);
    assert_int_equal(m->d, seen->d);
    assert_int_equal(m->e, (int32_t)seen->e);
    assert_int_equal(m->f, (int64_t)seen->f);
    assert_int_equal(m->g, (uint32_t)seen->g);
    assert_int_equal(m->h, seen->h);
    assert_int_equal(m->i, (int32_t)seen->i);
    assert_int_equal(m->j, (int64_t)seen->j);
    assert_true((double)m->k == seen->k && m->l == seen->l);
    assert_int_equal(m->m != 0, seen->m != 0);
    assert_int_equal(m->last, seen->last);
    assert_int_equal(m->o.len, seen->o_length);
    assert_string_equal(m->n, seen->n);
    if (m->o.len > 0)
        assert_memory_equal(m->o.data, seen->o, m->o.len);
    assert_int_equal(m->p != NULL, seen->inner);
    if (m->p)
        assert_int_equal(m->p->d, seen->inner_d);
    assert_int_equal(m->n_q, seen->q_count);
    assert_int_equal(m->n_r, seen->r_count);
    assert_int_equal(m->n_s, seen->s_count);
    for (size_t i = 0; i < m->n_q; i++)
        assert_int_equal(m->q[i], seen->q[i]);
    for (size_t i = 0; i < m->n_r; i++)
        assert_int_equal(m->r[i], (int64_t)seen->r[i]);
    for (size_t i = 0; i < m->n_s; i++)
        assert_string_equal(m->s[i], seen->s[i]);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void messages_are_read_as_they_were_written(void **state)
{
    static uint8_t data[ROOM];
    struct made made;
    struct seen seen;

    (void)state;
    for (int i = 0; i < MESSAGES; i++) {
        make_every(&made);
        size_t length = wire__every__pack(&made.message, data);
        assert_int_equal(see_every(data, length, length, &seen), 0);
        compare_every(&made.message, &seen);
    }
}

static void truncated_messages_are_cut(void **state)
{
    static uint8_t data[ROOM];
    struct made made;
    struct seen seen;

    (void)state;
    for (int i = 0; i < 20; i++) {
        make_every(&made);
        size_t length = wire__every__pack(&made.message, data);
        /* The stream ends before the end of the message. */
        for (size_t cut = 0; cut < length; cut++)
            assert_int_equal(see_every(data, cut, length, &seen), 1);
    }
}

/* A message with changed bytes is read with the values that protobuf-c finds, if it accepts it; our
 * reader accepts no message that protobuf-c refuses. */
static void damaged_messages_are_refused_by_both(void **state)
{
    static uint8_t data[ROOM];
    struct made made;
    struct seen seen;
    int accepted = 0, refused = 0;

    (void)state;
    for (int i = 0; i < 4 * MESSAGES; i++) {
        make_every(&made);
        size_t length = wire__every__pack(&made.message, data);
        for (uint64_t changes = 1 + random_bits() % 3; changes > 0; changes--)
            data[random_bits() % length] = (uint8_t)random_bits();
        Wire__Every *theirs = wire__every__unpack(NULL, length, data);
        int ours = see_every(data, length, length, &seen);
        refused += ours != 0;
        if (theirs && ours != 0)
            fail_msg("message %d: protobuf-c accepts it, we do not", i);
        if (!theirs && ours == 0 && !seen.mismatch)
            fail_msg("message %d: we accept it, protobuf-c does not", i);
        accepted += theirs != NULL;
        if (theirs)
            wire__every__free_unpacked(theirs, NULL);
    }
    assert_true(accepted > MESSAGES / 5 && refused > MESSAGES / 5);
}

static void impossible_numbers_are_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t length;
        int wanted;
    } cases[] = {
        {"\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, 0},      /* 2^64 - 1 */
        {"\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, -1}, /* a varint of 11 bytes */
        {"\x20\x80", 2, -1},                                          /* a varint without its end */
        {"\x20", 1, -1},                                              /* a key without a value */
        {"\x72\x05xx", 4, -1},                                /* a text longer than the message */
        {"\x72\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10, -1}, /* a text of 2^63 - 1 bytes */
        {"\x72\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, -1}, /* a text of 2^64 - 1 bytes */
        {"\x41xxxxxxx", 8, -1},                                   /* 7 of the 8 bytes of a number */
        {"\x3dxxx", 4, -1},                                       /* 3 of the 4 bytes of a number */
        {"\x23", 1, -1},                                          /* the start of a group */
        {"\x26\x00", 2, -1},                                      /* type 6, which does not exist */
        {"\x82\x01\x03\x20\x80\x80", 6, -1},                      /* a damaged message inside */
        {"\x00\x01", 2, -1},                                      /* the field number 0 */
        {"\xa0\x80\x80\x80\x80\x01\x01", 7, -1},                  /* a field number of 36 bits */
        {"", 0, 0},
    };
    struct seen seen;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const uint8_t *bytes = (const uint8_t *)cases[i].bytes;
        Wire__Every *theirs = wire__every__unpack(NULL, cases[i].length, bytes);
        int ours = see_every(bytes, cases[i].length, cases[i].length, &seen);
        if (ours != cases[i].wanted || (theirs != NULL) != (cases[i].wanted == 0))
            fail_msg("case %zu: %d, not %d; protobuf-c %s it", i, ours, cases[i].wanted,
                     theirs ? "accepts" : "refuses");
        if (theirs)
            wire__every__free_unpacked(theirs, NULL);
    }
    /* A message whose length exceeds all files. */
    assert_int_equal(see_every((const uint8_t *)"\x20\x01", 2, UINT64_MAX, &seen), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_read_as_they_were_written),
        cmocka_unit_test(truncated_messages_are_cut),
        cmocka_unit_test(damaged_messages_are_refused_by_both),
        cmocka_unit_test(impossible_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
