/*
 * Reads Chakra execution traces (.et), which ASTRA-sim simulates: the operations of one rank of a
 * training job. A file is a sequence of protocol buffers, each preceded by its length as a varint:
 * one GlobalMetadata, then one Node for each operation (schema/protobuf/et_def.proto of Chakra).
 *
 *     Node: id=1, name=2, type=3, start_time_micros=6, duration_micros=7, attr=10
 *     AttributeProto: name=1, and one value, whose type follows from its field number
 *     attributes of nodes: num_ops (flop), tensor_size (bytes), comm_type, comm_size (bytes),
 *     is_cpu_op
 *
 * Times and bytes are added up by type of node, and by collective. The time from the first start to
 * the last end is a run. Traces that were written for simulators contain operations and bytes but
 * no times, so they give no run. The files of a job are called PREFIX.RANK.et, so the number of
 * ranks is the number of such files in the folder.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "importers.h"
#include "wire.h"

enum { TYPES = 11, COLLECTIVES = 10, RANKS_MOST = 1 << 17 };

/* Names of the types of nodes, indexed by the number of the type in the file. */
static const char *const type_names[TYPES] = {"invalid", "metadata", "load",      "store",
                                              "compute", "send",     "receive",   "collective",
                                              "storage", "batch",    "checkpoint"};
static const char *const collective_names[COLLECTIVES] = {
    "all_reduce", "reduce",         "all_gather",           "gather", "scatter", "broadcast",
    "all_to_all", "reduce_scatter", "reduce_scatter_block", "barrier"};
enum { TYPE_COMPUTE = 4, TYPE_SEND = 5, TYPE_RECEIVE = 6, TYPE_COLLECTIVE = 7 };

/* Sums over all operations of one type in the trace. */
struct chakra_sum {
    double count, seconds, timed, operations, bytes;
};

struct chakra_node {
    /* Start and duration of the operation in seconds; NaN if not in the file. */
    double start, duration;
    double operations, tensor, size, collective;
    uint64_t type;
    bool host; /* True if the operation runs on the CPU instead of the accelerator. */
};

struct chakra {
    struct hm_imported *im;
    char version[32];
    struct chakra_sum types[TYPES], host, collectives[COLLECTIVES];
    double nodes, unknown, damaged;
    double first, last; /* Earliest start and latest end of all nodes, in seconds. */
    double unstarted;   /* Number of nodes that have a duration but no start. */
};

/* ---- reading --------------------------------------------------------------------------------- */

/* Returns the number in a field of an attribute; NaN if the field holds no number. */
static double attribute_number(const struct hm_wire_field *f)
{
    /*
     * The fields 15 and 17 have the types sint32 and sint64, which are stored in zigzag encoding.
     */
    if (f->type == HM_WIRE_VARINT && (f->number == 15 || f->number == 17))
        return (double)(int64_t)(f->value >> 1 ^ (0 - (f->value & 1)));
    if (f->type == HM_WIRE_VARINT &&
        /* Field 13 has the type uint64, so it must not be converted to a signed number. */
        f->number == 13)
        return (double)f->value;
    if (f->type == HM_WIRE_VARINT && f->number >= 7 && f->number <= 27)
        return (double)(int64_t)f->value;
    if (f->type == HM_WIRE_FIXED64 && f->number == 3)
        return hm__wire_double(f->value);
    if (f->type == HM_WIRE_FIXED32 && f->number == 5)
        return hm__wire_float(f->value);
    if (f->type == HM_WIRE_FIXED64 || f->type == HM_WIRE_FIXED32)
        return (double)f->value;
    return NAN;
}

static void read_attribute(struct chakra_node *node, struct hm_wire w)
{
    struct hm_wire_field f;
    char name[24] = "";
    double number = NAN;

    while (hm__wire_next(&w, &f)) {
        if (f.number == 1 && f.type == HM_WIRE_BYTES)
            hm__wire_text(&w, &f, name, sizeof(name));
        else if (f.number >= 3)
            number = attribute_number(&f);
    }
    if (!(number >= 0))
        return;
    if (strcmp(name, "num_ops") == 0)
        node->operations = number;
    else if (strcmp(name, "tensor_size") == 0)
        node->tensor = number;
    else if (strcmp(name, "comm_size") == 0)
        node->size = number;
    else if (strcmp(name, "comm_type") == 0)
        node->collective = number;
    else if (strcmp(name, "is_cpu_op") == 0)
        node->host = number > 0;
}

static void sum_node(struct chakra_sum *sum, const struct chakra_node *node, double bytes)
{
    sum->count++;
    sum->timed += !isnan(node->duration);
    sum->seconds += isnan(node->duration) ? 0 : node->duration;
    sum->operations += isnan(node->operations) ? 0 : node->operations;
    sum->bytes += isnan(bytes) ? 0 : bytes;
}

static void add_node(struct chakra *c, const struct chakra_node *node)
{
    bool communicates = node->type >= TYPE_SEND && node->type <= TYPE_COLLECTIVE;
    double bytes = communicates ? node->size : node->tensor;

    c->nodes++;
    if (node->type >= TYPES) {
        c->unknown++;
        return;
    }
    /*
     * Times of operations on the CPU include the times of the operations that they start on the
     * accelerator, so CPU times are summed separately.
     */
    bool host = node->host && node->type == TYPE_COMPUTE;
    sum_node(host ? &c->host : &c->types[node->type], node, bytes);
    if (node->type == TYPE_COLLECTIVE && node->collective < COLLECTIVES)
        sum_node(&c->collectives[(size_t)node->collective], node, bytes);
    if (isnan(node->start)) {
        c->unstarted += !isnan(node->duration);
        return;
    }
    double end = node->start + (isnan(node->duration) ? 0 : node->duration);
    c->first = isnan(c->first) || node->start < c->first ? node->start : c->first;
    c->last = isnan(c->last) || end > c->last ? end : c->last;
}

/* Reads one message, which is a node, or the metadata if its first field is a string. */
static struct hm_wire read_message(struct chakra *c, uint64_t length)
{
    struct chakra_node node = {.start = NAN,
                               .duration = NAN,
                               .operations = NAN,
                               .tensor = NAN,
                               .size = NAN,
                               .collective = NAN};
    struct hm_wire w;
    struct hm_wire_field f;
    bool metadata = length == 0;

    hm__wire_begin(&w, &c->im->in, length);
    while (hm__wire_next(&w, &f)) {
        if (f.number == 1 && f.type == HM_WIRE_BYTES) {
            metadata = true;
            hm__wire_text(&w, &f, c->version, sizeof(c->version));
        } else if (metadata) {
            continue;
        } else if (f.number == 3 && f.type == HM_WIRE_VARINT) {
            node.type = f.value;
        } else if (f.number == 6 && f.type == HM_WIRE_VARINT) {
            node.start = (double)f.value / 1e6;
        } else if (f.number == 7 && f.type == HM_WIRE_VARINT) {
            node.duration = (double)f.value / 1e6;
        } else if (f.number == 10 && f.type == HM_WIRE_BYTES) {
            struct hm_wire attribute = hm__wire_enter(&w, &f);
            read_attribute(&node, attribute);
        }
    }
    if (!metadata && !w.bad && !w.cut)
        add_node(c, &node);
    return w;
}

/*
 * Reads the length of the next message; false at the end of the file, or if the file is truncated
 * or damaged.
 */
static bool read_length(struct chakra *c, uint64_t *ret_length)
{
    struct hm_wire w;

    if (hm__stream_see(&c->im->in) < 0)
        return false;
    hm__wire_begin(&w, &c->im->in, 10);
    if (hm__wire_varint(&w, ret_length) && *ret_length <= INT64_MAX)
        return true;
    hm__import_cut(c->im);
    return false;
}

static bool read_next(struct chakra *c)
{
    uint64_t length;

    if (!read_length(c, &length))
        return false;
    uint64_t end = hm__stream_offset(&c->im->in) + length;
    struct hm_wire w = read_message(c, length);
    uint64_t at = hm__stream_offset(&c->im->in);
    c->damaged += w.bad;
    if (w.cut || at > end || hm__stream_skip(&c->im->in, end - at) < end - at) {
        hm__import_cut(c->im);
        return false;
    }
    return true;
}

/* ---- results --------------------------------------------------------------------------------- */

/*
 * Counts the files PREFIX.0.et, PREFIX.1.et, … in the folder of a file PREFIX.RANK.et; returns NaN
 * if the name of the file has another form.
 */
static double count_ranks(const struct hm_imported *im)
{
    size_t length = strlen(im->name);
    char path[4096];
    int rank = 0;

    if (!im->from_file || im->archive || length < 5 || strcmp(im->name + length - 3, ".et") != 0)
        return NAN;
    size_t prefix = length - 3;
    while (prefix > 0 && im->name[prefix - 1] >= '0' && im->name[prefix - 1] <= '9')
        prefix--;
    if (prefix == length - 3 || prefix == 0 || im->name[prefix - 1] != '.')
        return NAN;
    while (rank < RANKS_MOST &&
           snprintf(path, sizeof(path), "%.*s%d.et", (int)prefix, im->name, rank) <
               (int)sizeof(path) &&
           access(path, F_OK) == 0)
        rank++;
    return rank > 0 ? (double)rank : (double)NAN;
}

static void put_sum(struct hm_json *j, const char *key, const struct chakra_sum *sum)
{
    if (sum->count == 0)
        return;
    hm__json_open(j, key, HM_JSON_OBJECT);
    hm__json_put_number(j, "count", sum->count);
    hm__json_put_number(j, "seconds", sum->timed > 0 ? sum->seconds : NAN);
    hm__json_put_number(j, "operations", sum->operations > 0 ? sum->operations : NAN);
    hm__json_put_number(j, "bytes", sum->bytes > 0 ? sum->bytes : NAN);
    hm__json_close(j);
}

static void chakra_facts(struct chakra *c)
{
    struct hm_json *j = &c->im->facts;

    hm__json_put_text(j, "schema_version",
                      c->version[0] >= '0' && c->version[0] <= '9' ? c->version : NULL);
    hm__json_put_number(j, "nodes", c->nodes);
    hm__json_put_number(j, "seconds", c->last - c->first);
    hm__json_open(j, "nodes_by_type", HM_JSON_OBJECT | HM_JSON_LINES);
    for (int i = 0; i < TYPES; i++)
        put_sum(j, type_names[i], &c->types[i]);
    put_sum(j, "host", &c->host);
    hm__json_close(j);
    hm__json_open(j, "collectives", HM_JSON_OBJECT | HM_JSON_LINES);
    for (int i = 0; i < COLLECTIVES; i++)
        put_sum(j, collective_names[i], &c->collectives[i]);
    hm__json_close(j);
}

static void chakra_run(struct chakra *c)
{
    double communicate = 0, timed = 0, bytes = 0;

    for (int i = TYPE_SEND; i <= TYPE_COLLECTIVE; i++) {
        communicate += c->types[i].seconds;
        timed += c->types[i].timed;
        /*
         * Bytes of received messages are not added, because they are counted in the trace of the
         * rank that sends them.
         */
        bytes += i == TYPE_RECEIVE ? 0 : c->types[i].bytes;
    }
    if (!(c->last > c->first)) {
        hm__import_note(c->im, "the nodes have no start times, so there is no run: the trace was "
                               "written for a simulator");
        return;
    }
    double ranks = count_ranks(c->im), n = hm__import_n(c->im, ranks);
    if (n == ranks && isnan(hm__import_given(c->im, "n")))
        hm__import_note(c->im, "n = %.0f is the number of files PREFIX.RANK.et in the folder", n);
    const struct chakra_sum *compute = &c->types[TYPE_COMPUTE];
    const struct hm_import_cell cells[] = {hm__cell(n), hm__cell(c->last - c->first),
                                           hm__cell(compute->timed > 0 ? compute->seconds : NAN),
                                           hm__cell(timed > 0 ? communicate : NAN),
                                           hm__cell(bytes)};
    hm__import_columns(&c->im->runs, "n,seconds,compute_s,communicate_s,communicate_bytes");
    hm__import_row(c->im, &c->im->runs, cells);
    hm__import_took(c->im, 1, "run, from the first start to the last end");
}

static int chakra_read(struct hm_imported *im, struct hm_err *err)
{
    struct chakra c = {.im = im, .first = NAN, .last = NAN};

    (void)err;
    hm__json_put_text(&im->facts, "format", "chakra");
    while (read_next(&c))
        ;
    /*
     * Protocol buffers do not store a field whose value is 0. Therefore, in a trace whose times
     * begin near 0, a node without a start time starts at 0.
     */
    if (c.unstarted > 0 && c.first < 1)
        c.first = 0;
    chakra_facts(&c);
    hm__import_took(im, c.nodes - c.unknown, "operations of one rank");
    chakra_run(&c);
    hm__import_left(im, c.unknown, "nodes of unknown types");
    hm__import_left(im, c.damaged, "damaged messages");
    return 0;
}

/* ---- recognising ----------------------------------------------------------------------------- */

/*
 * Decodes a varint that is already in memory; returns the position after it, or NULL if it is not
 * complete.
 */
static const unsigned char *see_varint(const unsigned char *p, const unsigned char *end,
                                       uint64_t *ret_value)
{
    *ret_value = 0;
    for (unsigned shift = 0; p < end && shift < 63; shift += 7) {
        *ret_value |= (uint64_t)(*p & 0x7f) << shift;
        if (*p++ < 0x80)
            return p;
    }
    return NULL;
}

/*
 * Returns whether the bytes are a Node message: fields 1 to 11 with the correct wire types, among
 * them a name and a known type of node.
 */
static bool see_node(const unsigned char *p, const unsigned char *end)
{
    bool name = false, type = false;
    uint64_t key = 0, value = 0;

    while (p && p < end) {
        p = see_varint(p, end, &key);
        p = p ? see_varint(p, end, &value) : NULL;
        uint64_t number = key >> 3;
        bool number_field = number == 1 || number == 3 || number == 6 || number == 7;
        /*
         * Fields 4 and 5 are lists of numbers, which are stored either packed or as one field per
         * number.
         */
        bool list = number == 4 || number == 5;
        if (!p || number == 0 || number > 11 || ((key & 7) != 0 && (key & 7) != 2) ||
            (!list && number_field != ((key & 7) == 0)))
            return false;
        if ((key & 7) == 2 && value > (uint64_t)(end - p))
            return false;
        name |= number == 2 && value > 0;
        type |= number == 3 && value < TYPES;
        p += (key & 7) == 2 ? value : 0;
    }
    return p && name && type;
}

/* Returns whether the bytes are a GlobalMetadata message: a version such as "0.0.4", or
 * attributes. */
static bool see_metadata(const unsigned char *p, const unsigned char *end)
{
    uint64_t key = 0, value = 0;

    while (p && p < end) {
        p = see_varint(p, end, &key);
        p = p ? see_varint(p, end, &value) : NULL;
        if (!p || (key != 0x0a && key != 0x12) || value > (uint64_t)(end - p))
            return false;
        p += value;
    }
    return p != NULL;
}

static int chakra_recognise(const struct hm_import_head *head)
{
    const unsigned char *p = (const unsigned char *)head->text, *end = p + head->length;
    uint64_t length;

    p = see_varint(p, end, &length);
    if (!p || length > (uint64_t)(end - p))
        return 0;
    if (see_node(p, p + length))
        return 80;
    if (!see_metadata(p, p + length))
        return 0;
    p = see_varint(p + length, end, &length);
    return p && length > 0 && length <= (uint64_t)(end - p) && see_node(p, p + length) ? 95 : 0;
}

const struct hm_importer hm__importer_chakra = {
    .name = "chakra",
    .title = "Chakra execution trace",
    .becomes = "a run",
    .recognise = chakra_recognise,
    .read = chakra_read,
};
