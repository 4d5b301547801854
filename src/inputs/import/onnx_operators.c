/*
 * Writes the layers of a job for the operators of an ONNX model, one function for each family of
 * operators. A function that cannot describe its node stores the operator in `refused`.
 */
#include "onnx_emit.h"

#include <math.h>

/*
 * Returns the total padding on both sides of a dimension of size `in` for which a window has `out`
 * positions.
 */
static double border_of(double in, double out, double kernel, double stride)
{
    return fmax(0, (out - 1) * stride + kernel - in);
}

void hm__onnx_conv(struct onnx_lister *l, const struct onnx_node *node)
{
    const struct onnx_value *w = hm__onnx_value(l, node, 1);
    bool up = hm__onnx_is_op(node, "ConvTranspose");
    bool flat = w && w->rank == 3;
    double groups = 1, stride = hm__onnx_item(node, "strides", flat ? 0 : 1, 1);
    const struct onnx_attribute *group = hm__onnx_attribute(node, "group");
    struct hm_shape in, out;

    if (group && group->i >= 1)
        groups = group->i;
    if (!w || (w->rank != 3 && w->rank != 4) ||
        (!flat && hm__onnx_item(node, "strides", 0, 1) != stride) ||
        !hm__onnx_sample_shape(l, hm__onnx_input(node, 0), &in) ||
        !hm__onnx_sample_shape(l, node->outputs[0], &out) || in.kind != HM_SHAPE_IMAGE ||
        out.kind != HM_SHAPE_IMAGE || !hm__onnx_count_weight(l, node->inputs[1])) {
        l->refused = node->op;
        return;
    }
    double kernel_h = flat ? 1 : w->dims[2], kernel_w = w->dims[w->rank - 1];
    const struct hm_shape *small = up ? &out : &in, *large = up ? &in : &out;
    size_t offsets = hm__onnx_input(node, 2);
    bool bias = hm__onnx_count_weight(l, offsets);
    bool merged = offsets != SIZE_MAX && l->merged && out.height * out.width > 1;
    hm__onnx_view(l, &in);
    hm__text_addf(
        &l->text,
        "    - conv: {filters: %.0f, kernel: [%.0f, %.0f], stride: %.0f, border: [%.0f, %.0f]",
        out.channels, kernel_h, kernel_w, stride,
        flat ? 0 : border_of(small->height, large->height, kernel_h, stride),
        border_of(small->width, large->width, kernel_w, stride));
    hm__text_addf(&l->text, ", groups: %.0f%s, bias: %s}\n", groups, up ? ", transposed: true" : "",
                  bias && !merged ? "true" : "false");
    if (merged)
        hm__text_add(&l->text, "    - norm: batch\n");
    l->merged_count += merged;
    l->now = out;
}

void hm__onnx_pool(struct onnx_lister *l, const struct onnx_node *node)
{
    bool flat = l->o->values[node->outputs[0]].rank == 3;
    double stride = hm__onnx_item(node, "strides", flat ? 0 : 1, 1);
    double kernel_h = flat ? 1 : hm__onnx_item(node, "kernel_shape", 0, 1);
    double kernel_w = hm__onnx_item(node, "kernel_shape", flat ? 0 : 1, 1);
    struct hm_shape in, out;

    if (!hm__onnx_sample_shape(l, hm__onnx_input(node, 0), &in) ||
        !hm__onnx_sample_shape(l, node->outputs[0], &out) || in.kind != HM_SHAPE_IMAGE ||
        out.kind != HM_SHAPE_IMAGE) {
        l->refused = node->op;
        return;
    }
    hm__onnx_view(l, &in);
    hm__text_addf(
        &l->text, "    - pool: {kernel: [%.0f, %.0f], stride: %.0f, border: [%.0f, %.0f]}\n",
        kernel_h, kernel_w, stride, flat ? 0 : border_of(in.height, out.height, kernel_h, stride),
        border_of(in.width, out.width, kernel_w, stride));
    l->now = out;
}

void hm__onnx_global_pool(struct onnx_lister *l, const struct onnx_node *node)
{
    if (!hm__onnx_view_of(l, node, hm__onnx_input(node, 0)))
        return;
    hm__text_add(&l->text, "    - global-pool\n");
    l->now = (struct hm_shape){HM_SHAPE_VECTOR, 1, 1, l->now.channels};
}

/*
 * Finds the shape of a tensor as rows of `width` values; returns false if its size is not a
 * multiple of a row.
 */
static bool rows_of(const struct onnx_lister *l, size_t value, double width, struct hm_shape *ret)
{
    double rows = hm__onnx_elements(&l->o->values[value]) / width / l->batch;

    *ret = (struct hm_shape){rows == 1 ? HM_SHAPE_VECTOR : HM_SHAPE_SEQUENCE, rows, 1, width};
    return rows >= 1 && fmod(rows, 1) == 0;
}

/*
 * Returns whether the only reader of a product adds a learned bias to the product; if so, marks
 * this reader as part of the product.
 */
static bool takes_bias(struct onnx_lister *l, const struct onnx_node *node, double units)
{
    size_t reader = l->reader[node->outputs[0]];
    struct onnx_node *next = reader ? &l->o->nodes[reader - 1] : NULL;

    if (!next || !hm__onnx_is_op(next, "Add") || next->input_count != 2 ||
        l->mark[reader - 1] != ONNX_PLAIN)
        return false;
    size_t other = next->inputs[next->inputs[0] == node->outputs[0] ? 1 : 0];
    size_t weight = hm__onnx_weight(l, other);
    if (weight == SIZE_MAX || hm__onnx_elements(&l->o->values[weight]) != units ||
        !hm__onnx_count_weight(l, weight))
        return false;
    l->mark[reader - 1] = ONNX_PART;
    return true;
}

static void list_dense(struct onnx_lister *l, const struct onnx_node *node)
{
    const struct onnx_value *out = &l->o->values[node->outputs[0]], *w = hm__onnx_value(l, node, 1);
    size_t weight = hm__onnx_weight(l, hm__onnx_input(node, 1));
    double units = out->rank > 0 ? out->dims[out->rank - 1] : NAN;
    double width = w && units >= 1 ? hm__onnx_elements(w) / units : NAN;
    struct hm_shape in;

    if (weight == SIZE_MAX || !w || w->rank != 2 || !(width >= 1) ||
        !rows_of(l, node->inputs[0], width, &in)) {
        l->refused = node->op;
        return;
    }
    bool tied = !hm__onnx_count_weight(l, weight), gemm = hm__onnx_is_op(node, "Gemm");
    bool bias =
        gemm ? hm__onnx_count_weight(l, hm__onnx_input(node, 2)) : takes_bias(l, node, units);
    hm__onnx_view(l, &in);
    hm__text_addf(&l->text, "    - dense: {units: %.0f, bias: %s%s}\n", units,
                  bias ? "true" : "false", tied ? ", tied: true" : "");
    l->now.channels = units;
    /* A tied layer has no separate parameters, not even a bias. */
    if (tied && bias)
        l->parameters -= units;
}

/* Writes a product of two computed tensors, or a dense layer if one of them is a weight. */
void hm__onnx_product(struct onnx_lister *l, const struct onnx_node *node)
{
    const struct onnx_value *a = hm__onnx_value(l, node, 0), *out = &l->o->values[node->outputs[0]];

    if (!hm__onnx_is_live(l, node, 0) || !hm__onnx_is_live(l, node, 1)) {
        list_dense(l, node);
        return;
    }
    if (out->rank < 2 || a->rank < 1) {
        l->refused = node->op;
        return;
    }
    double rows = out->dims[out->rank - 2], columns = out->dims[out->rank - 1];
    double count = hm__onnx_elements(out) / (rows * columns) / l->batch;
    if (!(count >= 1) || fmod(count, 1) != 0) {
        l->refused = node->op;
        return;
    }
    hm__text_addf(&l->text,
                  "    - product: {count: %.0f, rows: %.0f, depth: %.0f, columns: %.0f}\n", count,
                  rows, a->dims[a->rank - 1], columns);
    l->now = (struct hm_shape){HM_SHAPE_SEQUENCE, count * rows, 1, columns};
}

/* Writes scores, softmax and weighted sum as one layer. */
void hm__onnx_attention(struct onnx_lister *l, const struct onnx_node *node)
{
    const struct onnx_node *first = &l->o->nodes[l->partner[node - l->o->nodes]];
    const struct onnx_value *scores = &l->o->values[first->outputs[0]];
    const struct onnx_value *out = &l->o->values[node->outputs[0]];

    if (scores->rank < 2 || out->rank < 1) {
        l->refused = node->op;
        return;
    }
    double length = scores->dims[scores->rank - 2], keys = scores->dims[scores->rank - 1];
    double size = out->dims[out->rank - 1];
    double count = hm__onnx_elements(scores) / (length * keys) / l->batch;
    double heads = scores->rank == 4 ? scores->dims[1] : count, windows = count / heads;

    if (!(windows >= 1) || fmod(windows, 1) != 0) {
        l->refused = node->op;
        return;
    }
    const struct hm_shape in = {HM_SHAPE_SEQUENCE, length * windows, 1, heads * size};
    hm__onnx_view(l, &in);
    hm__text_addf(&l->text, "    - attention: {heads: %.0f, core: true, windows: %.0f", heads,
                  windows);
    if (keys != length)
        hm__text_addf(&l->text, ", context: %.0f", keys);
    hm__text_add(&l->text, "}\n");
}

/* Writes a normalisation of the current shape with `learned` parameters. */
static void list_norm(struct onnx_lister *l, const struct onnx_node *node, const char *kind,
                      double learned)
{
    if (learned == 2 * l->now.channels) {
        l->parameters += learned;
        hm__text_addf(&l->text, "    - norm: %s\n", kind);
    } else {
        hm__text_add(&l->text, "    - norm: {affine: false}\n");
    }
    hm__onnx_set_output(l, node);
}

/* Marks the learned inputs of a node as counted; returns the number of their values. */
static double learned_inputs(struct onnx_lister *l, const struct onnx_node *node, size_t from,
                             size_t to)
{
    double before = l->parameters, learned;

    for (size_t i = from; i < to; i++)
        hm__onnx_count_weight(l, hm__onnx_input(node, i));
    learned = l->parameters - before;
    l->parameters = before;
    return learned;
}

void hm__onnx_batch_norm(struct onnx_lister *l, const struct onnx_node *node)
{
    bool batch = hm__onnx_is_op(node, "BatchNormalization");

    if (hm__onnx_view_of(l, node, node->outputs[0]))
        list_norm(l, node, batch ? "batch" : "group", learned_inputs(l, node, 1, 3));
}

void hm__onnx_layer_norm(struct onnx_lister *l, const struct onnx_node *node)
{
    const struct onnx_value *out = &l->o->values[node->outputs[0]];
    const struct onnx_attribute *axis = hm__onnx_attribute(node, "axis");
    double from = axis && fabs(axis->i) <= ONNX_RANK ? axis->i : -1, width = 1;
    struct hm_shape in;

    for (int k = (int)(from < 0 ? from + out->rank : from); k >= 0 && k < out->rank; k++)
        width *= out->dims[k];
    if (!rows_of(l, node->outputs[0], width, &in)) {
        l->refused = node->op;
        return;
    }
    hm__onnx_view(l, &in);
    list_norm(l, node, "layer", learned_inputs(l, node, 1, 3));
}

void hm__onnx_recurrent(struct onnx_lister *l, const struct onnx_node *node)
{
    const struct onnx_value *x = hm__onnx_value(l, node, 0), *w = hm__onnx_value(l, node, 1);
    const struct onnx_attribute *hidden = hm__onnx_attribute(node, "hidden_size");
    bool bias = hm__onnx_input(node, 3) != SIZE_MAX;
    const char *cell = hm__onnx_is_op(node, "LSTM")  ? "lstm"
                       : hm__onnx_is_op(node, "GRU") ? "gru"
                                                     : "rnn";

    /* The first dimension of the weights is the number of directions, which is 1 or 2. */
    if (!x || !w || x->rank != 3 || w->rank != 3 || !(w->dims[0] == 1 || w->dims[0] == 2) ||
        !hidden || !(hidden->i >= 1) || x->dims[1] != l->batch) {
        l->refused = node->op;
        return;
    }
    for (size_t i = 1; i < 4; i++)
        hm__onnx_count_weight(l, hm__onnx_input(node, i));
    for (double direction = 0; direction < w->dims[0]; direction++) {
        const struct hm_shape in = {HM_SHAPE_SEQUENCE, x->dims[0], 1, x->dims[2]};
        hm__onnx_view(l, &in);
        hm__text_addf(&l->text, "    - recurrent: {cell: %s, width: %.0f, biases: %d}\n", cell,
                      hidden->i, bias ? 2 : 0);
        l->now.channels = hidden->i;
    }
}

/* Writes a look-up in a learned table. A look-up in a computed tensor is written as a copy. */
void hm__onnx_gather(struct onnx_lister *l, const struct onnx_node *node)
{
    size_t table = hm__onnx_weight(l, hm__onnx_input(node, 0));
    const struct onnx_value *t = table == SIZE_MAX ? NULL : &l->o->values[table];
    double rows = hm__onnx_elements(hm__onnx_value(l, node, 1)) / l->batch;

    if (!t || t->rank != 2 || !hm__onnx_is_live(l, node, 1) || !(rows >= 1) || l->counted[table]) {
        if (hm__onnx_is_live(l, node, 1))
            hm__onnx_word(l, node, "copy");
        return;
    }
    const struct hm_shape in = {HM_SHAPE_SEQUENCE, rows, 1, 1};
    hm__onnx_count_weight(l, table);
    hm__onnx_view(l, &in);
    hm__text_addf(&l->text, "    - embedding: {vocabulary: %.0f, width: %.0f}\n", t->dims[0],
                  t->dims[1]);
    l->now.channels = t->dims[1];
}

/* Writes a sum or product of two tensors, one of which may be a constant or learned. */
void hm__onnx_pair(struct onnx_lister *l, const struct onnx_node *node)
{
    bool sum = hm__onnx_is_op(node, "Add Sub Sum Mean"), both = true;
    double learned = 0, out = hm__onnx_elements(&l->o->values[node->outputs[0]]);
    double least = out;

    for (size_t i = 0; i < node->input_count; i++) {
        bool live = hm__onnx_is_live(l, node, i);
        size_t weight = live ? SIZE_MAX : hm__onnx_weight(l, hm__onnx_input(node, i));
        both = both && live;
        least = fmin(least, hm__onnx_elements(hm__onnx_value(l, node, i)));
        if (weight != SIZE_MAX && hm__onnx_elements(&l->o->values[weight]) > 1 &&
            hm__onnx_count_weight(l, weight))
            learned = hm__onnx_elements(&l->o->values[weight]);
    }
    if (learned > 0) {
        if (hm__onnx_view_of(l, node, node->outputs[0]))
            hm__text_addf(&l->text, "    - %s: {parameters: %.0f}\n", sum ? "add" : "multiply",
                          learned);
    } else if (!both) {
        hm__onnx_word(l, node, "elementwise");
    } else if (sum) {
        hm__onnx_word(l, node, "add");
    } else if (hm__onnx_view_of(l, node, node->outputs[0])) {
        if (least < out && least == l->now.channels * l->batch)
            hm__text_addf(&l->text, "    - scale: [view: %.0f]\n", l->now.channels);
        else
            hm__text_add(&l->text, "    - multiply\n");
    }
}

/*
 * Writes a mean over the positions of an image as global pooling, and any other reduction as an
 * element-wise layer.
 */
void hm__onnx_reduce(struct onnx_lister *l, const struct onnx_node *node)
{
    size_t in = hm__onnx_input(node, 0);
    const struct onnx_value *v = hm__onnx_value(l, node, 0);
    double left = hm__onnx_elements(&l->o->values[node->outputs[0]]);

    if (!v)
        return;
    if (l->image[in] && v->rank == 4 && left == l->batch * v->dims[1])
        hm__onnx_global_pool(l, node);
    else if (hm__onnx_view_of(l, node, in))
        hm__text_add(&l->text, "    - elementwise\n");
}

/*
 * Writes a copy if a tensor is reshaped after a transposition, unless attention computed its
 * values; other reshaping costs nothing.
 */
void hm__onnx_reshape(struct onnx_lister *l, const struct onnx_node *node)
{
    size_t in = hm__onnx_input(node, 0), maker = in == SIZE_MAX ? 0 : l->maker[in];
    const struct onnx_node *before = maker ? &l->o->nodes[maker - 1] : NULL;

    if (!before || !hm__onnx_is_op(before, "Transpose"))
        return;
    size_t from = hm__onnx_input(before, 0), first = from == SIZE_MAX ? 0 : l->maker[from];
    if (first && l->mark[first - 1] == ONNX_ATTENTION)
        return;
    hm__onnx_word(l, node, "copy");
}

/* Counts the learned factors and offsets of a normalisation that is written as arithmetic. */
void hm__onnx_written_norm(struct onnx_lister *l, const struct onnx_node *node)
{
    double learned = 0;
    int steps = 0;

    for (const struct onnx_node *n = node;
         n && steps++ <= ONNX_CHAIN && hm__onnx_is_op(n, "Mul Add Cast Div");) {
        size_t back = SIZE_MAX;
        for (size_t i = 0; i < n->input_count; i++) {
            learned += learned_inputs(l, n, i, i + 1);
            if (hm__onnx_is_live(l, n, i) && back == SIZE_MAX)
                back = n->inputs[i];
        }
        size_t maker = back == SIZE_MAX ? 0 : l->maker[back];
        n = maker && l->mark[maker - 1] == ONNX_PART ? &l->o->nodes[maker - 1] : NULL;
    }
    if (hm__onnx_view_of(l, node, node->outputs[0]))
        list_norm(l, node, "layer", learned);
}
