/*
 * Reads ONNX models, which are graphs stored as protocol buffers. Weights are skipped without being
 * read; only constants of at most 64 elements are read, because shapes may depend on them.
 *
 *     Model { ir_version = 1, producer = 2, graph = 7, opset = 8 { domain = 1, version = 2 } }
 *     Graph { node = 1, initializer = 5, input = 11, output = 12, value_info = 13 }
 *     Node { input = 1, output = 2, op = 4, attribute = 5 }
 *     Attribute { name = 1, i = 3, s = 4, t = 5, g = 6, ints = 8 }
 *     Tensor { dims = 1, type = 2, float_data = 4, int32_data = 5, int64_data = 7, name = 8,
 *              raw_data = 9, external_data = 13, location = 14 }
 *
 * Graphs inside attributes (bodies of loops and branches) are only counted; tensors that they use
 * are marked as used, but the multiply-adds in these graphs are not counted.
 */
#include "onnx.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "budget.h"
#include "err.h"
#include "importers.h"
#include "wire.h"

enum { NAME_ROOM = 512, GRAPH_DEPTH = 8, NODE_ENDS = 512 };

/* ---- values by name ---------------------------------------------------------------------------
 */

/*
 * Doubles the size of the hash table of values. It does not hold the values of add_value alone,
 * which have no name.
 */
static bool grow_slots(struct onnx *o)
{
    size_t count = o->slot_count ? 2 * o->slot_count : 1024;
    size_t *slots = hm__calloc(count, sizeof(*slots));

    if (!slots)
        return false;
    for (size_t i = 0; i < o->slot_count; i++) {
        if (!o->slots[i])
            continue;
        size_t at = hm__hash_text(&o->key, o->values[o->slots[i] - 1].name) & (count - 1);
        while (slots[at])
            at = (at + 1) & (count - 1);
        slots[at] = o->slots[i];
    }
    hm__free(o->slots);
    o->slots = slots;
    o->slot_count = count;
    return true;
}

static size_t add_value(struct onnx *o, const char *name)
{
    const char *copy = hm__arena_strdup(o->im->arena, name);
    struct onnx_value *more =
        o->value_count == ONNX_VALUES
            ? NULL
            : hm__grow(o->values, o->value_count, &o->value_room, sizeof(*more));

    o->values = more ? more : o->values;
    if (!copy || !more) {
        o->failed = true;
        return SIZE_MAX;
    }
    o->values[o->value_count] = (struct onnx_value){.name = copy, .rank = -1};
    return o->value_count++;
}

/*
 * Returns the index of the value `name`; adds the value if it is new; SIZE_MAX if there are too
 * many values or memory runs out.
 */
static size_t find_value(struct onnx *o, const char *name)
{
    if (2 * (o->value_count + 1) > o->slot_count && !grow_slots(o)) {
        o->failed = true;
        return SIZE_MAX;
    }
    size_t at = hm__hash_text(&o->key, name) & (o->slot_count - 1);
    for (; o->slots[at]; at = (at + 1) & (o->slot_count - 1))
        if (strcmp(o->values[o->slots[at] - 1].name, name) == 0)
            return o->slots[at] - 1;
    size_t index = add_value(o, name);
    if (index != SIZE_MAX)
        o->slots[at] = index + 1;
    return index;
}

double hm__onnx_elements(const struct onnx_value *v)
{
    double elements = 1;

    if (!v || v->rank < 0)
        return NAN;
    for (int k = 0; k < v->rank; k++)
        elements *= v->dims[k];
    return elements;
}

const struct onnx_attribute *hm__onnx_attribute(const struct onnx_node *node, const char *name)
{
    for (size_t i = 0; i < node->attribute_count; i++)
        if (strcmp(node->attributes[i].name, name) == 0)
            return &node->attributes[i];
    return NULL;
}

/* ---- tensors ----------------------------------------------------------------------------------
 */

/* The fields of a tensor message that have been read so far. */
struct tensor {
    char name[NAME_ROOM];
    double dims[ONNX_RANK], data[ONNX_DATA];
    size_t rank, count;
    int type;
    /*
     * `external` is true if the data are in another file; `deep` is true if the tensor has more
     * than ONNX_RANK dimensions, so that its shape is not stored.
     */
    bool external, deep;
    bool damaged; /* True if the message or its packed numbers are damaged. */
    unsigned char raw[8 * ONNX_DATA];
    size_t raw_length;
};

static void add_dimension(struct tensor *t, uint64_t size)
{
    if (t->rank == ONNX_RANK)
        t->deep = true;
    else
        t->dims[t->rank++] = (double)(int64_t)size;
}

static void add_datum(struct tensor *t, double value)
{
    if (t->count < ONNX_DATA)
        t->data[t->count++] = value;
}

/* Reads a field of numbers, which are stored either packed or as one field per number. */
static void read_numbers(struct hm_wire *w, const struct hm_wire_field *f, struct tensor *t,
                         void (*add)(struct tensor *t, uint64_t value))
{
    uint64_t value;

    if (f->type == HM_WIRE_VARINT) {
        add(t, f->value);
    } else if (f->type == HM_WIRE_BYTES) {
        struct hm_wire packed = hm__wire_enter(w, f);
        for (size_t i = 0; i < ONNX_DATA + 1 && hm__wire_varint(&packed, &value); i++)
            add(t, value);
        t->damaged |= packed.bad;
    }
}

static void add_integer(struct tensor *t, uint64_t value)
{
    add_datum(t, (double)(int64_t)value);
}

/* Decodes the raw bytes of a constant with few elements. */
static void decode_raw(struct tensor *t)
{
    size_t width = t->type == ONNX_INT64                            ? 8
                   : t->type == ONNX_INT32 || t->type == ONNX_FLOAT ? 4
                                                                    : 0;

    for (size_t i = 0; width && i + width <= t->raw_length; i += width) {
        uint64_t bits = 0;
        for (size_t k = width; k-- > 0;)
            bits = bits << 8 | t->raw[i + k];
        add_datum(t, t->type == ONNX_FLOAT   ? hm__wire_float(bits)
                     : t->type == ONNX_INT32 ? (double)(int32_t)(uint32_t)bits
                                             : (double)(int64_t)bits);
    }
}

static void read_tensor(struct onnx *o, struct hm_wire w, struct tensor *t)
{
    struct hm_wire_field f;

    *t = (struct tensor){.type = 0};
    while (hm__wire_next(&w, &f)) {
        if (f.number == 1)
            read_numbers(&w, &f, t, add_dimension);
        else if (f.number == 2 && f.type == HM_WIRE_VARINT)
            t->type = (int)(f.value & 0xff);
        else if (f.number == 5 || f.number == 7)
            read_numbers(&w, &f, t, add_integer);
        else if (f.number == 8 && f.type == HM_WIRE_BYTES)
            hm__wire_text(&w, &f, t->name, sizeof(t->name));
        else if (f.number == 9 && f.type == HM_WIRE_BYTES && f.value <= sizeof(t->raw)) {
            char raw[8 * ONNX_DATA + 1];
            hm__wire_text(&w, &f, raw, sizeof(raw));
            t->raw_length = (size_t)f.value;
            memcpy(t->raw, raw, t->raw_length);
        } else if (f.number == 13 || (f.number == 14 && f.value == 1))
            t->external = true;
    }
    o->damaged += w.bad || t->damaged;
    decode_raw(t);
}

/* Copies the shape and the elements of a tensor message to a value of the graph. */
static void set_tensor(struct onnx *o, size_t index, const struct tensor *t)
{
    double elements = 1;

    if (index == SIZE_MAX)
        return;
    struct onnx_value *v = &o->values[index];
    v->rank = t->deep ? -1 : (int)t->rank;
    for (size_t k = 0; k < t->rank; k++) {
        v->dims[k] = t->dims[k] >= 0 ? t->dims[k] : 0;
        elements *= v->dims[k];
    }
    v->type = t->type;
    v->external = t->external;
    v->made = true;
    if (!t->deep && elements == (double)t->count && t->count <= ONNX_DATA) {
        v->data = hm__arena_alloc(o->im->arena, t->count + 1, sizeof(*v->data));
        o->failed |= !v->data;
        v->count = v->data ? t->count : 0;
        if (v->data)
            memcpy(v->data, t->data, t->count * sizeof(*t->data));
    }
}

/* ---- nodes ------------------------------------------------------------------------------------
 */

static void read_graph(struct onnx *o, struct hm_wire w, int depth);

static void add_int(struct onnx_attribute *a, uint64_t value)
{
    if (a->int_count < ONNX_INTS)
        a->ints[a->int_count++] = (double)(int64_t)value;
}

/* Reads one integer, or packed integers. Returns whether these are damaged. */
static bool read_ints(struct hm_wire *w, const struct hm_wire_field *f, struct onnx_attribute *a)
{
    struct hm_wire packed = {0};
    uint64_t value;

    if (f->type == HM_WIRE_VARINT)
        add_int(a, f->value);
    if (f->type == HM_WIRE_BYTES)
        packed = hm__wire_enter(w, f);
    while (f->type == HM_WIRE_BYTES && a->int_count < ONNX_INTS && hm__wire_varint(&packed, &value))
        add_int(a, value);
    return packed.bad;
}

static void read_attribute(struct onnx *o, struct hm_wire w, struct onnx_attribute *a,
                           struct onnx_node *node, int depth)
{
    struct hm_wire_field f;
    struct tensor t;
    bool damaged = false;

    *a = (struct onnx_attribute){.i = NAN};
    while (hm__wire_next(&w, &f)) {
        if (f.number == 1 && f.type == HM_WIRE_BYTES) {
            hm__wire_text(&w, &f, a->name, sizeof(a->name));
        } else if (f.number == 3 && f.type == HM_WIRE_VARINT) {
            a->i = (double)(int64_t)f.value;
        } else if (f.number == 4 && f.type == HM_WIRE_BYTES) {
            hm__wire_text(&w, &f, a->s, sizeof(a->s));
        } else if (f.number == 5 && f.type == HM_WIRE_BYTES) {
            read_tensor(o, hm__wire_enter(&w, &f), &t);
            node->tensor = add_value(o, "");
            set_tensor(o, node->tensor, &t);
        } else if (f.number == 6 && f.type == HM_WIRE_BYTES) {
            o->subgraphs++;
            if (depth < GRAPH_DEPTH)
                read_graph(o, hm__wire_enter(&w, &f), depth + 1);
        } else if (f.number == 8) {
            damaged |= read_ints(&w, &f, a);
        }
    }
    o->damaged += w.bad || damaged;
}

/* Inputs, outputs and attributes of a node that have been read so far. */
struct node_parts {
    size_t ends[2][NODE_ENDS];
    size_t counts[2];
    struct onnx_attribute attributes[ONNX_ATTRIBUTES];
    size_t attribute_count;
};

static void read_end(struct onnx *o, struct hm_wire *w, const struct hm_wire_field *f,
                     struct node_parts *p)
{
    char name[NAME_ROOM];
    int side = f->number == 2;

    hm__wire_text(w, f, name, sizeof(name));
    if (p->counts[side] == NODE_ENDS)
        return;
    size_t index = name[0] ? find_value(o, name) : SIZE_MAX;
    if (side == 0 && index != SIZE_MAX)
        o->values[index].used = true;
    p->ends[side][p->counts[side]++] = index;
}

static bool keep_node(struct onnx *o, const struct onnx_node *node, const struct node_parts *p)
{
    struct onnx_node *more = o->node_count == ONNX_NODES
                                 ? NULL
                                 : hm__grow(o->nodes, o->node_count, &o->node_room, sizeof(*more));

    if (!more)
        return false;
    o->nodes = more;
    struct onnx_node *n = &o->nodes[o->node_count++];
    *n = *node;
    n->input_count = p->counts[0];
    n->output_count = p->counts[1];
    n->inputs = hm__arena_alloc(o->im->arena, p->counts[0] + p->counts[1] + 1, sizeof(size_t));
    n->attributes = hm__arena_alloc(o->im->arena, p->attribute_count + 1, sizeof(*n->attributes));
    if (!n->inputs || !n->attributes) {
        n->input_count = n->output_count = 0;
        return false;
    }
    n->outputs = n->inputs + p->counts[0];
    memcpy(n->inputs, p->ends[0], p->counts[0] * sizeof(size_t));
    memcpy(n->outputs, p->ends[1], p->counts[1] * sizeof(size_t));
    memcpy(n->attributes, p->attributes, p->attribute_count * sizeof(*n->attributes));
    n->attribute_count = p->attribute_count;
    return true;
}

static void read_node(struct onnx *o, struct hm_wire w, int depth)
{
    struct node_parts *p = hm__calloc(1, sizeof(*p));
    struct onnx_node node = {.op = "", .tensor = SIZE_MAX};
    struct onnx_attribute spare;
    struct hm_wire_field f;
    char op[64];

    if (!p) {
        o->failed = true;
        return;
    }
    while (hm__wire_next(&w, &f)) {
        if ((f.number == 1 || f.number == 2) && f.type == HM_WIRE_BYTES) {
            read_end(o, &w, &f, p);
        } else if (f.number == 4 && f.type == HM_WIRE_BYTES) {
            hm__wire_text(&w, &f, op, sizeof(op));
            node.op = hm__arena_strdup(o->im->arena, op);
        } else if (f.number == 5 && f.type == HM_WIRE_BYTES) {
            bool room = p->attribute_count < ONNX_ATTRIBUTES;
            read_attribute(o, hm__wire_enter(&w, &f),
                           room ? &p->attributes[p->attribute_count] : &spare, &node, depth);
            p->attribute_count += room;
        }
    }
    o->damaged += w.bad;
    if (!node.op)
        o->failed = true;
    else if (!w.bad && !w.cut && depth == 0 && !keep_node(o, &node, p))
        o->failed = true;
    hm__free(p);
}

/* ---- the graph --------------------------------------------------------------------------------
 */

/*
 * Returns the size that is assumed for a symbolic dimension such as "batch": the number that the
 * user gives, or else 1.
 */
static double symbol_size(struct onnx *o, const char *name)
{
    double given = hm__import_given(o->im, name), size = given >= 1 ? given : 1;

    for (size_t i = 0; i < o->symbol_count; i++)
        if (strcmp(o->symbols[i].name, name) == 0)
            return size;
    if (o->symbol_count < 64) {
        snprintf(o->symbols[o->symbol_count].name, sizeof(o->symbols[0].name), "%.47s", name);
        o->symbols[o->symbol_count++].size = size;
    }
    return size;
}

/* The shape of an input or output of the graph, as it is written in the file. */
struct stated {
    char name[NAME_ROOM], symbols[ONNX_RANK][48];
    double dims[ONNX_RANK]; /* Sizes of the dimensions; NaN if the size is a symbol or unknown. */
    int rank, type;
    bool damaged; /* True if a message with a part of the shape is damaged. */
};

static void read_dimension(struct hm_wire w, struct stated *s)
{
    struct hm_wire_field f;

    if (s->rank == ONNX_RANK)
        return;
    s->dims[s->rank] = NAN;
    s->symbols[s->rank][0] = '\0';
    while (hm__wire_next(&w, &f)) {
        if (f.number == 1 && f.type == HM_WIRE_VARINT)
            s->dims[s->rank] = (double)(int64_t)f.value;
        else if (f.number == 2 && f.type == HM_WIRE_BYTES)
            hm__wire_text(&w, &f, s->symbols[s->rank], sizeof(s->symbols[0]));
    }
    s->damaged |= w.bad;
    s->rank++;
}

/* Reads the type of a tensor: its element type and its shape. */
static void read_type(struct hm_wire w, struct stated *s)
{
    struct hm_wire_field f, g;

    while (hm__wire_next(&w, &f)) {
        if (f.number == 1 && f.type == HM_WIRE_VARINT) {
            s->type = (int)(f.value & 0xff);
        } else if (f.number == 2 && f.type == HM_WIRE_BYTES) {
            struct hm_wire shape = hm__wire_enter(&w, &f);
            s->rank = 0;
            while (hm__wire_next(&shape, &g))
                if (g.number == 1 && g.type == HM_WIRE_BYTES)
                    read_dimension(hm__wire_enter(&shape, &g), s);
            s->damaged |= shape.bad;
        }
    }
    s->damaged |= w.bad;
}

static void read_stated(struct onnx *o, struct hm_wire w, struct stated *s)
{
    struct hm_wire_field f, g;

    *s = (struct stated){.rank = -1};
    while (hm__wire_next(&w, &f)) {
        if (f.number == 1 && f.type == HM_WIRE_BYTES) {
            hm__wire_text(&w, &f, s->name, sizeof(s->name));
        } else if (f.number == 2 && f.type == HM_WIRE_BYTES) {
            struct hm_wire type = hm__wire_enter(&w, &f);
            while (hm__wire_next(&type, &g))
                if (g.number == 1 && g.type == HM_WIRE_BYTES)
                    read_type(hm__wire_enter(&type, &g), s);
            s->damaged |= type.bad;
        }
    }
    o->damaged += w.bad || s->damaged;
}

/*
 * Stores the shape of a graph input twice: as it is written in the file, and with numbers in place
 * of symbols, from which other shapes are inferred.
 */
static void keep_input(struct onnx *o, const struct stated *s)
{
    size_t index = find_value(o, s->name);

    if (index == SIZE_MAX || o->input_count == ONNX_ENDS)
        return;
    struct onnx_value *v = &o->values[index];
    if (!v->initializer) {
        v->rank = s->rank;
        for (int k = 0; k < s->rank; k++)
            v->dims[k] = !isnan(s->dims[k]) ? s->dims[k]
                         : s->symbols[k][0] ? symbol_size(o, s->symbols[k])
                                            : 1;
        v->type = s->type;
        v->made = true;
    }
    if (!hm__onnx_keep_stated(o, o->input_count, s->rank, s->dims, (const char(*)[48])s->symbols))
        o->failed = true;
    o->inputs[o->input_count++] = index;
}

/*
 * Stores the shape that the file states for a tensor inside the graph; it is used if the shape
 * cannot be inferred. Shapes with an unknown size, and symbols that no input has, are ignored.
 */
static void keep_value_info(struct onnx *o, const struct stated *s)
{
    size_t index = find_value(o, s->name);

    if (index == SIZE_MAX || s->rank < 0 || o->values[index].made)
        return;
    struct onnx_value *v = &o->values[index];
    for (int k = 0; k < s->rank; k++) {
        v->dims[k] = s->dims[k];
        for (size_t i = 0; isnan(s->dims[k]) && i < o->symbol_count; i++)
            if (strcmp(o->symbols[i].name, s->symbols[k]) == 0)
                v->dims[k] = o->symbols[i].size;
        if (!(v->dims[k] >= 0 && v->dims[k] < 1e15))
            return;
    }
    v->rank = s->rank;
    v->type = s->type;
}

static void read_initializer(struct onnx *o, struct hm_wire w)
{
    struct tensor t;

    read_tensor(o, w, &t);
    size_t index = find_value(o, t.name);
    set_tensor(o, index, &t);
    if (index != SIZE_MAX)
        o->values[index].initializer = true;
}

static void read_graph(struct onnx *o, struct hm_wire w, int depth)
{
    struct hm_wire_field f;
    struct stated s;

    while (!o->failed && !hm__budget_spent(NULL) && hm__wire_next(&w, &f)) {
        if (f.type != HM_WIRE_BYTES)
            continue;
        if (f.number == 1) {
            read_node(o, hm__wire_enter(&w, &f), depth);
        } else if (f.number == 5) {
            read_initializer(o, hm__wire_enter(&w, &f));
        } else if (f.number == 11 && depth == 0) {
            read_stated(o, hm__wire_enter(&w, &f), &s);
            keep_input(o, &s);
        } else if (f.number == 13 && depth == 0) {
            read_stated(o, hm__wire_enter(&w, &f), &s);
            keep_value_info(o, &s);
        } else if (f.number == 12) {
            read_stated(o, hm__wire_enter(&w, &f), &s);
            size_t index = find_value(o, s.name);
            if (index != SIZE_MAX && depth == 0 && o->output_count < ONNX_ENDS)
                o->outputs[o->output_count++] = index;
            if (index != SIZE_MAX)
                o->values[index].used = true;
        }
    }
    o->damaged += w.bad;
    if (w.cut)
        hm__import_cut(o->im);
}

static void read_opset(struct onnx *o, struct hm_wire w)
{
    struct hm_wire_field f;
    char domain[64] = "";
    double version = NAN;

    while (hm__wire_next(&w, &f)) {
        if (f.number == 1 && f.type == HM_WIRE_BYTES)
            hm__wire_text(&w, &f, domain, sizeof(domain));
        else if (f.number == 2 && f.type == HM_WIRE_VARINT)
            version = (double)f.value;
    }
    o->damaged += w.bad;
    if (!domain[0] || strcmp(domain, "ai.onnx") == 0)
        o->opset = version;
}

static int onnx_read(struct hm_imported *im, struct hm_err *err)
{
    struct onnx o = {.im = im, .ir = NAN, .opset = NAN};
    struct hm_wire w;
    struct hm_wire_field f;
    /* Returns whether a graph and an operator set were found; every valid model has both. */
    bool graph = false, opset = false;

    hm__hash_begin(&o.key);
    hm__json_put_text(&im->facts, "format", "onnx");
    o.inputs = hm__arena_alloc(im->arena, ONNX_ENDS, sizeof(*o.inputs));
    o.outputs = hm__arena_alloc(im->arena, ONNX_ENDS, sizeof(*o.outputs));
    o.failed = !o.inputs || !o.outputs;
    hm__wire_begin(&w, &im->in, UINT64_MAX / 2);
    while (!o.failed && hm__stream_peek(&im->in, 1) > 0 && hm__wire_next(&w, &f)) {
        if (f.number == 1 && f.type == HM_WIRE_VARINT)
            o.ir = (double)f.value;
        else if (f.number == 2 && f.type == HM_WIRE_BYTES)
            hm__wire_text(&w, &f, o.producer, sizeof(o.producer));
        else if (f.number == 7 && f.type == HM_WIRE_BYTES)
            read_graph(&o, hm__wire_enter(&w, &f), 0);
        else if (f.number == 8 && f.type == HM_WIRE_BYTES)
            read_opset(&o, hm__wire_enter(&w, &f));
        graph |= f.number == 7;
        opset |= f.number == 8;
        uint64_t at = hm__stream_offset(&im->in);
        if (at < w.next && hm__stream_skip(&im->in, w.next - at) < w.next - at)
            w.cut = true;
    }
    if (w.bad || w.cut || o.damaged > 0 || !graph || !opset)
        hm__import_cut(im);
    if (!o.failed)
        hm__onnx_facts(&o);
    hm__free(o.values);
    hm__free(o.slots);
    hm__free(o.nodes);
    return o.failed ? hm__fail(err, HM_E_LIMIT, "the graph is too large for the memory") : 0;
}

static int onnx_recognise(const struct hm_import_head *head)
{
    size_t length = head->length < 4096 ? head->length : 4096;

    /* An ONNX file begins with the version of the format, followed by the producer or the graph. */
    if (head->length < 8 || head->text[0] != 0x08 || head->text[1] < 1 || head->text[1] > 20)
        return 0;
    return head->text[2] == 0x12 || head->text[2] == 0x3a || head->text[2] == 0x42 ||
                   hm__find(head->text, length, "Conv") || hm__find(head->text, length, "Gemm")
               ? 80
               : 0;
}

const struct hm_importer hm__importer_onnx = {
    .name = "onnx",
    .title = "ONNX model",
    .becomes = "a network with its layers",
    .recognise = onnx_recognise,
    .read = onnx_read,
};
