/*
 * Reads TensorBoard event files. A record consists of a length, a checksum of the length, a
 * protocol buffer (Event) and a checksum of this buffer. Scalars are in `simple_value` or in a
 * tensor of one element. A scalar whose name contains "loss" becomes a trace.
 *
 *     Event { wall_time = 1, step = 2, file_version = 3, summary = 5 { value = 1 } }
 *     Value { tag = 1, simple_value = 2, tensor = 8 }
 *     Tensor { dtype = 1, content = 4, float_val = 5, double_val = 6 }
 */
#include <math.h>
#include <string.h>

#include "err.h"
#include "hash.h"
#include "import.h"
#include "importers.h"
#include "wire.h"

enum { TAGS = 4096, TAG_SLOTS = 4 * TAGS, TAG_NAME = 256 };

struct tag {
    const char *name; /* Name of the scalar, in the arena. */
    double count, nans;
    /*
     * `simple` is true if some values are stored as simple_value, `tensor` if some are stored as
     * tensors.
     */
    bool simple, tensor;
    bool rises; /* True if each step number is larger than the previous one. */
    /* Step, wall time and value of the first point and of the last point. */
    double first[3], last[3];
    double least;
    bool is_loss;
};

struct board {
    struct hm_imported *im;
    struct tag *tags; /* All scalars of the file, an array of TAGS elements in the arena. */
    size_t count;
    /*
     * Hash table that finds scalars by name, an array of TAG_SLOTS elements in the arena: 1 + the
     * index of a scalar, or 0 if the slot is free.
     */
    uint16_t *slots;
    struct hm_hash_key key;
    char version[64];
    double records, bad_sums, other, long_records;
    double first_time, last_time;
    double n; /* Number of workers of the training run; NaN if unknown. */
};

/* ---- checksums ------------------------------------------------------------------------------- */

/* Returns the CRC-32C of a block; a table of 16 entries handles four bits at a time. */
static uint32_t checksum_of(const unsigned char *data, size_t length)
{
    static const uint32_t table[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
                                       0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
                                       0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
                                       0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
    uint32_t crc = 0xffffffff;

    for (size_t i = 0; i < length; i++) {
        crc ^= data[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

static uint32_t masked_checksum(const unsigned char *data, size_t length)
{
    uint32_t crc = checksum_of(data, length);

    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static uint32_t read_stored32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* ---- events ---------------------------------------------------------------------------------- */

static struct tag *find_tag(struct board *b, const char *name)
{
    size_t at = (size_t)hm__hash_text(&b->key, name) % TAG_SLOTS;

    for (; b->slots[at]; at = (at + 1) % TAG_SLOTS)
        if (strcmp(b->tags[b->slots[at] - 1].name, name) == 0)
            return &b->tags[b->slots[at] - 1];
    const char *copy = b->count < TAGS ? hm__arena_strdup(b->im->arena, name) : NULL;
    if (!copy)
        return NULL;
    b->tags[b->count] = (struct tag){.name = copy, .rises = true, .least = NAN};
    b->tags[b->count].is_loss = strstr(name, "loss") || strstr(name, "Loss");
    b->slots[at] = (uint16_t)++b->count;
    return &b->tags[b->count - 1];
}

/*
 * Adds a point to the table of traces, with the mean time of a step in seconds since the previous
 * point.
 */
static void add_trace(struct board *b, const struct tag *t, double step, double time, double value)
{
    double steps = step - t->last[0];
    double seconds = t->count > 1 && steps > 0 ? (time - t->last[1]) / steps : NAN;
    const struct hm_import_cell cells[] = {hm__cell_text(t->name), hm__cell(b->n), hm__cell(step),
                                           hm__cell(value), hm__cell(seconds)};

    hm__import_row(b->im, &b->im->traces, cells);
}

static void add_point(struct board *b, const char *name, double step, double time, double value,
                      bool tensor)
{
    struct tag *t = find_tag(b, name);

    if (!t) {
        b->other++;
        return;
    }
    t->count++;
    *(tensor ? &t->tensor : &t->simple) = true;
    t->nans += isnan(value);
    if (t->is_loss && step >= 1 && isfinite(value))
        add_trace(b, t, step, time, value);
    double point[3] = {step, time, value};
    if (t->count == 1)
        memcpy(t->first, point, sizeof(point));
    else if (step <= t->last[0])
        t->rises = false;
    memcpy(t->last, point, sizeof(point));
    if (!isnan(value) && !(t->least <= value))
        t->least = value;
}

/*
 * Reads a tensor of one floating-point element; returns false if the tensor has another type or
 * size.
 */
static bool read_tensor(struct hm_wire w, double *ret_value)
{
    struct hm_wire_field f;
    double value = NAN;
    uint64_t type = 0, content = 0, bits = 0;
    size_t count = 0;

    while (hm__wire_next(&w, &f)) {
        if (f.number == 1 && f.type == HM_WIRE_VARINT) {
            type = f.value;
        } else if ((f.number == 5 && f.type == HM_WIRE_FIXED32) ||
                   (f.number == 6 && f.type == HM_WIRE_FIXED64)) {
            value = f.number == 5 ? hm__wire_float(f.value) : hm__wire_double(f.value);
            count++;
        } else if (f.type == HM_WIRE_BYTES && (f.number == 4 || f.number == 5 || f.number == 6) &&
                   (f.value == 4 || f.value == 8)) {
            char bytes[9];
            hm__wire_text(&w, &f, bytes, sizeof(bytes));
            content = f.value;
            bits = read_stored32((unsigned char *)bytes);
            if (content == 8)
                bits |= (uint64_t)read_stored32((unsigned char *)bytes + 4) << 32;
        }
    }
    if (count == 0 && ((type == 1 && content == 4) || (type == 2 && content == 8))) {
        value = content == 4 ? hm__wire_float(bits) : hm__wire_double(bits);
        count = 1;
    }
    *ret_value = value;
    return count == 1;
}

static void read_value(struct board *b, struct hm_wire w, double step, double time)
{
    char name[TAG_NAME] = "";
    double value = NAN;
    bool scalar = false, tensor = false;
    struct hm_wire_field f;

    while (hm__wire_next(&w, &f)) {
        if (f.number == 1 && f.type == HM_WIRE_BYTES) {
            hm__wire_text(&w, &f, name, sizeof(name));
        } else if (f.number == 2 && f.type == HM_WIRE_FIXED32) {
            value = hm__wire_float(f.value);
            scalar = true;
        } else if (f.number == 8 && f.type == HM_WIRE_BYTES && !scalar) {
            tensor = read_tensor(hm__wire_enter(&w, &f), &value);
        }
    }
    if (scalar || tensor)
        add_point(b, name, step, time, value, tensor && !scalar);
    else
        b->other++;
}

static void read_event(struct board *b, uint64_t length)
{
    struct hm_wire w;
    struct hm_wire_field f;
    double time = NAN, step = 0;

    hm__wire_begin(&w, &b->im->in, length);
    while (hm__wire_next(&w, &f)) {
        if (f.number == 1 && f.type == HM_WIRE_FIXED64)
            time = hm__wire_double(f.value);
        else if (f.number == 2 && f.type == HM_WIRE_VARINT)
            step = (double)(int64_t)f.value;
        else if (f.number == 3 && f.type == HM_WIRE_BYTES)
            hm__wire_text(&w, &f, b->version, sizeof(b->version));
        else if (f.number == 5 && f.type == HM_WIRE_BYTES) {
            struct hm_wire summary = hm__wire_enter(&w, &f);
            struct hm_wire_field v;
            while (hm__wire_next(&summary, &v))
                if (v.number == 1 && v.type == HM_WIRE_BYTES)
                    read_value(b, hm__wire_enter(&summary, &v), step, time);
        }
    }
    if (isnan(b->first_time))
        b->first_time = time;
    b->last_time = isnan(time) ? b->last_time : time;
}

/* Reads one record; returns false at the end of the file. An incomplete last record is not used. */
static bool read_record(struct board *b)
{
    struct hm_stream *in = &b->im->in;
    size_t ready = hm__stream_peek(in, 12);

    if (ready < 12) {
        if (ready > 0)
            hm__import_cut(b->im);
        return false;
    }
    const unsigned char *head = (const unsigned char *)in->buffer + in->at;
    uint64_t length = read_stored32(head) | (uint64_t)read_stored32(head + 4) << 32;
    if (masked_checksum(head, 8) != read_stored32(head + 8)) {
        /*
         * Without a valid length, the beginning of the next record is not known, so reading ends
         * here.
         */
        b->bad_sums++;
        hm__import_cut(b->im);
        return false;
    }
    in->at += 12;
    uint64_t start = hm__stream_offset(in);
    /* No file is this long, so the length must be damaged; the additions below would overflow. */
    if (length > INT64_MAX) {
        hm__import_cut(b->im);
        return false;
    }
    if (length + 4 <= HM_STREAM_ROOM) {
        if (hm__stream_peek(in, (size_t)length + 4) < length + 4) {
            hm__import_cut(b->im);
            return false;
        }
        const unsigned char *data = (const unsigned char *)in->buffer + in->at;
        if (masked_checksum(data, (size_t)length) == read_stored32(data + length))
            read_event(b, length);
        else
            b->bad_sums++;
    } else {
        b->long_records++;
    }
    uint64_t left = start + length + 4 - hm__stream_offset(in);
    if (hm__stream_skip(in, left) < left) {
        hm__import_cut(b->im);
        return false;
    }
    b->records++;
    return true;
}

/* ---- results --------------------------------------------------------------------------------- */

static void put_point(struct hm_json *j, const char *key, const double point[3])
{
    hm__json_open(j, key, HM_JSON_LIST);
    for (int i = 0; i < 3; i++)
        hm__json_put_number(j, NULL, point[i]);
    hm__json_close(j);
}

static double seconds_per_step(const struct tag *t)
{
    double steps = t->last[0] - t->first[0];

    return t->count > 1 && steps > 0 ? (t->last[1] - t->first[1]) / steps : NAN;
}

static void board_facts(const struct board *b)
{
    struct hm_json *j = &b->im->facts;

    hm__json_put_text(j, "file_version", b->version[0] ? b->version : NULL);
    hm__json_put_number(j, "records", b->records);
    hm__json_put_number(j, "bad_crc", b->bad_sums);
    hm__json_put_bool(j, "truncated", b->im->partial);
    hm__json_put_number(j, "first_wall_time", b->first_time);
    hm__json_put_number(j, "last_wall_time", b->last_time);
    hm__json_put_number(j, "scalar_tags", (double)b->count);
    hm__json_put_number(j, "other_values", b->other);
    hm__json_open(j, "tags", HM_JSON_OBJECT | HM_JSON_LINES);
    for (size_t i = 0; i < b->count; i++) {
        const struct tag *t = &b->tags[i];
        hm__json_open(j, t->name, HM_JSON_OBJECT);
        hm__json_put_number(j, "n", t->count);
        hm__json_put_text(j, "stored_as",
                          t->simple && t->tensor ? "both"
                          : t->tensor            ? "tensor"
                                                 : "simple_value");
        put_point(j, "first", t->first);
        put_point(j, "last", t->last);
        hm__json_put_number(j, "min", t->least);
        hm__json_put_bool(j, "steps_rise", t->rises);
        hm__json_put_number(j, "nan", t->nans);
        hm__json_put_number(j, "seconds_per_step", seconds_per_step(t));
        hm__json_close(j);
    }
    hm__json_close(j);
}

/*
 * Adds one run, with the mean time of a step in seconds according to the loss that has the most
 * points.
 */
static void board_run(struct board *b)
{
    const struct tag *best = NULL;

    for (size_t i = 0; i < b->count; i++) {
        const struct tag *t = &b->tags[i];
        if (!isnan(seconds_per_step(t)) &&
            (!best || t->is_loss > best->is_loss ||
             (t->is_loss == best->is_loss && t->count > best->count)))
            best = t;
    }
    if (!best)
        return;
    const struct hm_import_cell cells[] = {hm__cell(b->n), hm__cell(seconds_per_step(best)),
                                           hm__cell(best->last[0] - best->first[0])};
    hm__import_columns(&b->im->runs, "n,seconds,steps");
    hm__import_row(b->im, &b->im->runs, cells);
    hm__import_took(b->im, best->last[0] - best->first[0], "steps as a run, from '%.60s'",
                    best->name);
}

static int tensorboard_read(struct hm_imported *im, struct hm_err *err)
{
    struct board b = {.im = im, .first_time = NAN, .last_time = NAN};

    hm__json_put_text(&im->facts, "format", "tensorboard");
    hm__hash_begin(&b.key);
    b.tags = hm__arena_alloc(im->arena, TAGS, sizeof(*b.tags));
    b.slots = hm__arena_alloc(im->arena, TAG_SLOTS, sizeof(*b.slots));
    if (!b.tags || !b.slots)
        return hm__fail_nomem(err);
    b.n = hm__import_n(im, NAN);
    hm__import_columns(&im->traces, "*algorithm,n,iteration,loss,seconds");
    while (read_record(&b))
        ;
    board_facts(&b);
    double losses = 0;
    for (size_t i = 0; i < b.count; i++)
        losses += b.tags[i].is_loss;
    if (losses > 0)
        hm__import_took(im, (double)im->traces.rows, "points of %.0f losses as traces", losses);
    board_run(&b);
    hm__import_left(im, (double)b.count - losses, "scalars that are not losses");
    hm__import_left(im, b.other, "values that are not scalars");
    hm__import_left(im, b.long_records, "records of more than 1 MiB");
    hm__import_left(im, b.bad_sums, "records with a wrong checksum");
    return 0;
}

static int tensorboard_recognise(const struct hm_import_head *head)
{
    const unsigned char *p = (const unsigned char *)head->text;

    if (head->length < 12 || masked_checksum(p, 8) != read_stored32(p + 8))
        return 0;
    return hm__find(head->text, head->length < 64 ? head->length : 64, "brain.Event") ? 100 : 80;
}

const struct hm_importer hm__importer_tensorboard = {
    .name = "tensorboard",
    .title = "TensorBoard event file",
    .becomes = "traces and runs",
    .recognise = tensorboard_recognise,
    .read = tensorboard_read,
};
