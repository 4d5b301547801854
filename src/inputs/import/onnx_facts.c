/* Counts the parameters, multiply-adds and operators of an ONNX graph, and writes a network with
 * their totals. */
#include "onnx_layers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number of bytes in an element; `type` is the number of its type in ONNX. */
static double type_width(int type)
{
    static const double widths[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8, 8, 16, 2};

    return type >= 0 && type < (int)(sizeof(widths) / sizeof(widths[0])) ? widths[type] : 0;
}

/* Returns whether the elements are floating-point numbers of 16, 32 or 64 bits. */
static bool is_float(int type)
{
    return type == ONNX_FLOAT || type == 10 || type == 11 || type == 16;
}

bool hm__onnx_keep_stated(struct onnx *o, size_t input, int rank, const double *dims,
                          const char (*symbols)[48])
{
    struct hm_text text = {0};
    struct hm_json j = {.out = &text};

    hm__json_open(&j, NULL, HM_JSON_LIST);
    for (int k = 0; k < rank; k++) {
        if (!isnan(dims[k]))
            hm__json_put_number(&j, NULL, dims[k]);
        else
            hm__json_put_text(&j, NULL, symbols[k][0] ? symbols[k] : NULL);
    }
    hm__json_close(&j);
    const char *copy = text.data ? hm__arena_strdup(o->im->arena, text.data) : NULL;
    hm__text_release(&text);
    if (!copy)
        return false;
    if (!o->stated)
        o->stated = hm__arena_alloc(o->im->arena, ONNX_ENDS, sizeof(*o->stated));
    if (!o->stated)
        return false;
    o->stated[input] = copy;
    return true;
}

/* ---- parameters -------------------------------------------------------------------------------
 */

/*
 * Numbers of tensors, elements and bytes in a graph, for each category such as weights, constants
 * and statistics.
 */
struct tally {
    double initializers, external, elements, bytes, floats, filled, quantised, unused, statistics;
    double constants;
};

static void mark_statistics(struct onnx *o)
{
    for (size_t i = 0; i < o->node_count; i++) {
        const struct onnx_node *node = &o->nodes[i];
        if (strcmp(node->op, "BatchNormalization") != 0)
            continue;
        for (size_t k = 3; k < 5 && k < node->input_count; k++)
            if (node->inputs[k] != SIZE_MAX)
                o->values[node->inputs[k]].statistics = true;
    }
}

static void count_value(const struct onnx_value *v, struct tally *t)
{
    double elements = hm__onnx_elements(v);
    bool weight = is_float(v->type) && v->rank > 0 && v->used;

    if (v->filled && v->used && !isnan(elements)) {
        t->filled += elements;
        t->statistics += v->statistics ? elements : 0;
    }
    if (!v->initializer)
        return;
    elements = isnan(elements) ? 0 : elements;
    t->initializers++;
    t->external += v->external;
    t->elements += elements;
    t->bytes += elements * type_width(v->type);
    t->floats += weight ? elements : 0;
    t->unused += v->used ? 0 : elements;
    t->statistics += weight && v->statistics ? elements : 0;
    if ((v->type == ONNX_UINT8 || v->type == ONNX_INT8) && v->rank > 0 && v->used)
        t->quantised += elements;
}

static struct tally count_values(struct onnx *o)
{
    struct tally t = {0};

    mark_statistics(o);
    for (size_t i = 0; i < o->value_count; i++)
        count_value(&o->values[i], &t);
    for (size_t i = 0; i < o->node_count; i++) {
        const struct onnx_node *node = &o->nodes[i];
        if (strcmp(node->op, "Constant") != 0 || node->tensor == SIZE_MAX)
            continue;
        const struct onnx_value *v = &o->values[node->tensor];
        if (is_float(v->type) && v->rank > 0)
            t.constants += hm__onnx_elements(v);
    }
    return t;
}

/* ---- multiply-adds ----------------------------------------------------------------------------
 */

double hm__onnx_macs(const struct onnx *o, const struct onnx_node *node)
{
    const struct onnx_value *ends[3], *y = NULL;
    const struct onnx_attribute *turned = hm__onnx_attribute(node, "transA");

    if (!hm__onnx_is_op(node, "Conv ConvTranspose Gemm MatMul MatMulInteger LSTM GRU RNN"))
        return 0;
    for (size_t i = 0; i < 3; i++)
        ends[i] = i < node->input_count && node->inputs[i] != SIZE_MAX ? &o->values[node->inputs[i]]
                                                                       : NULL;
    if (node->output_count > 0 && node->outputs[0] != SIZE_MAX)
        y = &o->values[node->outputs[0]];
    const struct onnx_value *a = ends[0], *w = ends[1], *r = ends[2];
    if (!node->inferred || !a || !w)
        return NAN;
    if (hm__onnx_is_op(node, "Conv"))
        return hm__onnx_elements(y) * hm__onnx_elements(w) / fmax(1, w->dims[0]);
    if (hm__onnx_is_op(node, "ConvTranspose"))
        return hm__onnx_elements(a) * hm__onnx_elements(w) / fmax(1, w->dims[0]);
    if (hm__onnx_is_op(node, "Gemm"))
        return hm__onnx_elements(y) *
               a->dims[turned && turned->i != 0 && !isnan(turned->i) ? 0 : 1];
    if (hm__onnx_is_op(node, "MatMul MatMulInteger"))
        return a->rank > 0 ? hm__onnx_elements(y) * a->dims[a->rank - 1] : NAN;
    return r ? a->dims[0] * a->dims[1] * (hm__onnx_elements(w) + hm__onnx_elements(r)) : NAN;
}

bool hm__onnx_is_op(const struct onnx_node *node, const char *list)
{
    size_t length = strlen(node->op);

    for (const char *p = list; length > 0 && (p = strstr(p, node->op)); p += length)
        if ((p == list || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0'))
            return true;
    return false;
}

/* ---- operators --------------------------------------------------------------------------------
 */

static int compare_ops(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_ops(struct onnx *o)
{
    const char **ops = hm__calloc(o->node_count + 1, sizeof(*ops));
    struct hm_json *j = &o->im->facts;

    o->im->failed |= !ops;
    if (!ops)
        return;
    for (size_t i = 0; i < o->node_count; i++)
        ops[i] = o->nodes[i].op;
    if (o->node_count > 0)
        qsort(ops, o->node_count, sizeof(*ops), compare_ops);
    hm__json_open(j, "ops", HM_JSON_OBJECT);
    for (size_t i = 0, k; i < o->node_count; i = k) {
        for (k = i; k < o->node_count && strcmp(ops[k], ops[i]) == 0; k++)
            ;
        hm__json_put_number(j, ops[i], (double)(k - i));
    }
    hm__json_close(j);
    hm__free(ops);
}

/*
 * Writes the number of multiply-adds for each operator; returns their sum, or NaN if some are not
 * known.
 */
static double put_macs(struct onnx *o)
{
    static const char *const ops[] = {"Conv",          "ConvTranspose", "Gemm", "MatMul",
                                      "MatMulInteger", "LSTM",          "GRU",  "RNN"};
    enum { OPS = sizeof(ops) / sizeof(ops[0]) };
    double sums[OPS] = {0}, total = 0, unknown = 0;
    struct hm_json *j = &o->im->facts;

    for (size_t i = 0; i < o->node_count; i++) {
        double macs = hm__onnx_macs(o, &o->nodes[i]);
        unknown += isnan(macs);
        for (size_t k = 0; k < OPS; k++)
            if (!isnan(macs) && strcmp(o->nodes[i].op, ops[k]) == 0)
                sums[k] += macs;
    }
    hm__json_open(j, "macs_by_op", HM_JSON_OBJECT);
    for (size_t k = 0; k < OPS; k++) {
        total += sums[k];
        if (sums[k] > 0)
            hm__json_put_number(j, ops[k], sums[k]);
    }
    hm__json_close(j);
    hm__json_put_number(j, "not_inferred", unknown);
    hm__import_left(o->im, unknown, "products whose shapes are not known");
    total = unknown > 0 ? NAN : total;
    hm__json_put_number(j, "forward_macs", total);
    return total;
}

/* ---- ends -------------------------------------------------------------------------------------
 */

static void put_ends(struct onnx *o)
{
    struct hm_json *j = &o->im->facts;

    hm__json_open(j, "inputs", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < o->input_count; i++) {
        const struct onnx_value *v = &o->values[o->inputs[i]];
        if (v->initializer)
            continue;
        hm__json_open(j, NULL, HM_JSON_LIST);
        hm__json_put_text(j, NULL, v->name);
        hm__json_put_raw(j, NULL, o->stated[i]);
        hm__json_close(j);
    }
    hm__json_close(j);
    hm__json_open(j, "outputs", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < o->output_count; i++) {
        const struct onnx_value *v = &o->values[o->outputs[i]];
        hm__json_open(j, NULL, HM_JSON_LIST);
        hm__json_put_text(j, NULL, v->name);
        if (v->rank >= 0)
            hm__json_put_numbers(j, NULL, v->dims, (size_t)v->rank);
        else
            hm__json_put_null(j, NULL);
        hm__json_close(j);
    }
    hm__json_close(j);
    hm__json_open(j, "assumed_dims", HM_JSON_OBJECT);
    for (size_t i = 0; i < o->symbol_count; i++)
        hm__json_put_number(j, o->symbols[i].name, o->symbols[i].size);
    hm__json_close(j);
}

static void put_network(struct onnx *o, double parameters, double macs, bool in_order)
{
    if (!(parameters > 0) || !(macs > 0))
        return;
    o->im->document_kind = "network";
    hm__import_assume(o->im, "batch", "256");
    if (hm__onnx_layers(o, parameters, in_order))
        return;
    hm__text_addf(&o->im->document, "network:\n  parameters: %.0f\n  forward: %.0f flop\n",
                  parameters, 2 * macs);
}

void hm__onnx_facts(struct onnx *o)
{
    struct hm_json *j = &o->im->facts;
    bool in_order = hm__onnx_infer(o);
    struct tally t = count_values(o);
    double parameters = t.floats + t.filled;

    hm__json_put_text(j, "producer", o->producer[0] ? o->producer : NULL);
    hm__json_put_number(j, "ir_version", o->ir);
    hm__json_put_number(j, "opset", o->opset);
    hm__json_put_number(j, "nodes", (double)o->node_count);
    hm__json_put_number(j, "subgraphs", o->subgraphs);
    hm__json_put_number(j, "initializers", t.initializers);
    hm__json_put_number(j, "initializers_external", t.external);
    hm__json_put_number(j, "initializer_elements", t.elements);
    hm__json_put_number(j, "initializer_bytes", t.bytes);
    hm__json_put_number(j, "float_initializer_elements", t.floats);
    hm__json_put_number(j, "constant_filled_weight_elements", t.filled);
    hm__json_put_number(j, "parameters", parameters);
    hm__json_put_number(j, "quantised_weight_elements", t.quantised);
    hm__json_put_number(j, "unused_initializer_elements", t.unused);
    hm__json_put_number(j, "batchnorm_statistics", t.statistics);
    hm__json_put_number(j, "trainable_parameters", parameters - t.statistics);
    hm__json_put_number(j, "constant_node_float_elements", t.constants);
    put_ends(o);
    hm__json_put_bool(j, "nodes_in_order", in_order);
    hm__import_left(o->im, o->repeated,
                    "nodes whose outputs another node computes or the file gives");
    put_ops(o);
    hm__import_took(o->im, parameters - t.statistics, "trainable parameters of the network");
    double macs = put_macs(o);
    if (!isnan(macs))
        hm__import_took(o->im, macs, "multiply-adds of one forward pass");
    for (size_t i = 0; i < o->symbol_count; i++)
        hm__import_note(o->im, "the size '%.47s' is assumed to be %.0f", o->symbols[i].name,
                        o->symbols[i].size);
    put_network(o, parameters - t.statistics, macs, in_order);
}
