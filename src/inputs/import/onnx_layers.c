/*
 * Writes the graph of an ONNX model as layers of a job, so that its step is modelled by operations.
 * Each node with work becomes one layer, in the order of the file; a view before it gives the shape
 * of what it reads. Reshaping and slicing cost nothing; reshaping after a transposition, joining,
 * padding and resizing copy values. Operators that are not known are taken for element-wise ones,
 * and a note lists them.
 *
 * Limits: convolutions in three dimensions, different strides in the two directions, quantised
 * weights, and weights that several convolutions share are not described; only the totals of such a
 * network are used.
 */
#include "onnx_layers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LAYERS_MOST = 10000 };

static const struct onnx_value *value_of(const struct onnx_lister *l, const struct onnx_node *node,
                                         size_t i)
{
    size_t value = hm__onnx_input(node, i);

    return value == SIZE_MAX ? NULL : &l->o->values[value];
}

static double item_of(const struct onnx_node *node, const char *name, size_t i, double fallback)
{
    const struct onnx_attribute *a = hm__onnx_attribute(node, name);

    return a && i < a->int_count ? a->ints[i] : fallback;
}

/* ---- shapes -----------------------------------------------------------------------------------
 */

/* Finds the shape of one sample of a tensor; returns false if it is not known. */
static bool shape_of(const struct onnx_lister *l, size_t value, struct hm_shape *ret)
{
    const struct onnx_value *v = value == SIZE_MAX ? NULL : &l->o->values[value];
    double elements = v ? hm__onnx_elements(v) : NAN;

    if (!(elements >= 1) || v->rank < 1)
        return false;
    double width = v->dims[v->rank - 1], steps = elements / width / l->batch;
    if (l->image[value] && (v->rank == 3 || v->rank == 4)) {
        *ret = (struct hm_shape){HM_SHAPE_IMAGE, v->rank == 4 ? v->dims[2] : 1, width, v->dims[1]};
        return v->dims[0] == l->batch;
    }
    if (v->rank == 1 || steps < 1) {
        width = elements;
        steps = 1;
    }
    *ret = (struct hm_shape){HM_SHAPE_SEQUENCE, steps, 1, width};
    if (steps == 1)
        ret->kind = HM_SHAPE_VECTOR;
    return fmod(steps, 1) == 0;
}

static void write_shape(struct hm_text *text, const struct hm_shape *s)
{
    if (s->kind == HM_SHAPE_IMAGE)
        hm__text_addf(text, "[%.0f, %.0f, %.0f]", s->height, s->width, s->channels);
    else if (s->kind == HM_SHAPE_VECTOR)
        hm__text_addf(text, "%.0f", s->channels);
    else if (s->channels == 1)
        hm__text_addf(text, "{sequence: %.0f}", s->height);
    else
        hm__text_addf(text, "{sequence: %.0f, width: %.0f}", s->height, s->channels);
}

static void list_view(struct onnx_lister *l, const struct hm_shape *s)
{
    const struct hm_shape *now = &l->now;

    if (now->kind == s->kind && now->height == s->height && now->width == s->width &&
        now->channels == s->channels)
        return;
    hm__text_add(&l->text, "    - view: ");
    write_shape(&l->text, s);
    hm__text_add(&l->text, "\n");
    l->now = *s;
}

/* Writes a view of a tensor; returns false, with the node as the reason, if its shape is unknown.
 */
static bool list_view_of(struct onnx_lister *l, const struct onnx_node *node, size_t value)
{
    struct hm_shape s;

    if (!shape_of(l, value, &s)) {
        l->refused = node->op;
        return false;
    }
    list_view(l, &s);
    return true;
}

/* Sets the current shape to that of the first output of a node. */
static void list_output(struct onnx_lister *l, const struct onnx_node *node)
{
    struct hm_shape s;

    if (shape_of(l, node->outputs[0], &s))
        l->now = s;
}

/* Counts the parameters of a weight, once; returns false if they were counted before. */
static bool count_weight(struct onnx_lister *l, size_t value)
{
    size_t weight = hm__onnx_weight(l, value);

    if (weight == SIZE_MAX || l->counted[weight])
        return false;
    l->counted[weight] = true;
    l->parameters += hm__onnx_elements(&l->o->values[weight]);
    return true;
}

/* ---- kinds of nodes ---------------------------------------------------------------------------
 */

/* Writes a word that is a layer on the shape of the node's output. */
static void list_word(struct onnx_lister *l, const struct onnx_node *node, const char *word)
{
    if (list_view_of(l, node, node->outputs[0]))
        hm__text_addf(&l->text, "    - %s\n", word);
}

/* Returns the border of both sides that gives `out` positions of a window on a side. */
static double border_of(double in, double out, double kernel, double stride)
{
    return fmax(0, (out - 1) * stride + kernel - in);
}

static void list_conv(struct onnx_lister *l, const struct onnx_node *node)
{
    const struct onnx_value *w = value_of(l, node, 1);
    bool up = hm__onnx_is_op(node, "ConvTranspose");
    bool flat = w && w->rank == 3;
    double groups = 1, stride = item_of(node, "strides", flat ? 0 : 1, 1);
    const struct onnx_attribute *group = hm__onnx_attribute(node, "group");
    struct hm_shape in, out;

    if (group && group->i >= 1)
        groups = group->i;
    if (!w || (w->rank != 3 && w->rank != 4) ||
        (!flat && item_of(node, "strides", 0, 1) != stride) ||
        !shape_of(l, hm__onnx_input(node, 0), &in) || !shape_of(l, node->outputs[0], &out) ||
        in.kind != HM_SHAPE_IMAGE || out.kind != HM_SHAPE_IMAGE ||
        !count_weight(l, node->inputs[1])) {
        l->refused = node->op;
        return;
    }
    double kernel_h = flat ? 1 : w->dims[2], kernel_w = w->dims[w->rank - 1];
    const struct hm_shape *small = up ? &out : &in, *large = up ? &in : &out;
    size_t offsets = hm__onnx_input(node, 2);
    bool bias = count_weight(l, offsets);
    bool merged = offsets != SIZE_MAX && l->merged && out.height * out.width > 1;
    list_view(l, &in);
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

static void list_pool(struct onnx_lister *l, const struct onnx_node *node)
{
    bool flat = l->o->values[node->outputs[0]].rank == 3;
    double stride = item_of(node, "strides", flat ? 0 : 1, 1);
    double kernel_h = flat ? 1 : item_of(node, "kernel_shape", 0, 1);
    double kernel_w = item_of(node, "kernel_shape", flat ? 0 : 1, 1);
    struct hm_shape in, out;

    if (!shape_of(l, hm__onnx_input(node, 0), &in) || !shape_of(l, node->outputs[0], &out) ||
        in.kind != HM_SHAPE_IMAGE || out.kind != HM_SHAPE_IMAGE) {
        l->refused = node->op;
        return;
    }
    list_view(l, &in);
    hm__text_addf(
        &l->text, "    - pool: {kernel: [%.0f, %.0f], stride: %.0f, border: [%.0f, %.0f]}\n",
        kernel_h, kernel_w, stride, flat ? 0 : border_of(in.height, out.height, kernel_h, stride),
        border_of(in.width, out.width, kernel_w, stride));
    l->now = out;
}

static void list_global_pool(struct onnx_lister *l, const struct onnx_node *node)
{
    if (!list_view_of(l, node, hm__onnx_input(node, 0)))
        return;
    hm__text_add(&l->text, "    - global-pool\n");
    l->now = (struct hm_shape){HM_SHAPE_VECTOR, 1, 1, l->now.channels};
}

/* Returns the shape of a tensor as rows of `width` values. */
static bool rows_of(const struct onnx_lister *l, size_t value, double width, struct hm_shape *ret)
{
    double rows = hm__onnx_elements(&l->o->values[value]) / width / l->batch;

    *ret = (struct hm_shape){rows == 1 ? HM_SHAPE_VECTOR : HM_SHAPE_SEQUENCE, rows, 1, width};
    return rows >= 1 && fmod(rows, 1) == 0;
}

/* Returns whether the only reader of a product adds a learned bias to it, and marks that reader. */
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
        !count_weight(l, weight))
        return false;
    l->mark[reader - 1] = ONNX_PART;
    return true;
}

static void list_dense(struct onnx_lister *l, const struct onnx_node *node)
{
    const struct onnx_value *out = &l->o->values[node->outputs[0]], *w = value_of(l, node, 1);
    size_t weight = hm__onnx_weight(l, hm__onnx_input(node, 1));
    double units = out->rank > 0 ? out->dims[out->rank - 1] : NAN;
    double width = w && units >= 1 ? hm__onnx_elements(w) / units : NAN;
    struct hm_shape in;

    if (weight == SIZE_MAX || !w || w->rank != 2 || !(width >= 1) ||
        !rows_of(l, node->inputs[0], width, &in)) {
        l->refused = node->op;
        return;
    }
    bool tied = !count_weight(l, weight), gemm = hm__onnx_is_op(node, "Gemm");
    bool bias = gemm ? count_weight(l, hm__onnx_input(node, 2)) : takes_bias(l, node, units);
    list_view(l, &in);
    hm__text_addf(&l->text, "    - dense: {units: %.0f, bias: %s%s}\n", units,
                  bias ? "true" : "false", tied ? ", tied: true" : "");
    l->now.channels = units;
    /* A tied layer has no parameters of its own, not even a bias. */
    if (tied && bias)
        l->parameters -= units;
}

/* Writes a product of two computed tensors. */
static void list_product(struct onnx_lister *l, const struct onnx_node *node)
{
    const struct onnx_value *a = value_of(l, node, 0), *out = &l->o->values[node->outputs[0]];

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
static void list_attention(struct onnx_lister *l, const struct onnx_node *node)
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
    list_view(l, &in);
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
    list_output(l, node);
}

/* Marks the learned inputs of a node as counted; returns the number of their values. */
static double learned_inputs(struct onnx_lister *l, const struct onnx_node *node, size_t from,
                             size_t to)
{
    double before = l->parameters, learned;

    for (size_t i = from; i < to; i++)
        count_weight(l, hm__onnx_input(node, i));
    learned = l->parameters - before;
    l->parameters = before;
    return learned;
}

static void list_batch_norm(struct onnx_lister *l, const struct onnx_node *node)
{
    bool batch = hm__onnx_is_op(node, "BatchNormalization");

    if (list_view_of(l, node, node->outputs[0]))
        list_norm(l, node, batch ? "batch" : "group", learned_inputs(l, node, 1, 3));
}

static void list_layer_norm(struct onnx_lister *l, const struct onnx_node *node)
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
    list_view(l, &in);
    list_norm(l, node, "layer", learned_inputs(l, node, 1, 3));
}

static void list_recurrent(struct onnx_lister *l, const struct onnx_node *node)
{
    const struct onnx_value *x = value_of(l, node, 0), *w = value_of(l, node, 1);
    const struct onnx_attribute *hidden = hm__onnx_attribute(node, "hidden_size");
    bool bias = hm__onnx_input(node, 3) != SIZE_MAX;
    const char *cell = hm__onnx_is_op(node, "LSTM")  ? "lstm"
                       : hm__onnx_is_op(node, "GRU") ? "gru"
                                                     : "rnn";

    if (!x || !w || x->rank != 3 || w->rank != 3 || !hidden || !(hidden->i >= 1) ||
        x->dims[1] != l->batch) {
        l->refused = node->op;
        return;
    }
    for (size_t i = 1; i < 4; i++)
        count_weight(l, hm__onnx_input(node, i));
    for (double direction = 0; direction < w->dims[0]; direction++) {
        const struct hm_shape in = {HM_SHAPE_SEQUENCE, x->dims[0], 1, x->dims[2]};
        list_view(l, &in);
        hm__text_addf(&l->text, "    - recurrent: {cell: %s, width: %.0f, biases: %d}\n", cell,
                      hidden->i, bias ? 2 : 0);
        l->now.channels = hidden->i;
    }
}

/* Writes a look-up in a learned table. Look-ups in computed tensors are copies. */
static void list_gather(struct onnx_lister *l, const struct onnx_node *node)
{
    size_t table = hm__onnx_weight(l, hm__onnx_input(node, 0));
    const struct onnx_value *t = table == SIZE_MAX ? NULL : &l->o->values[table];
    double rows = hm__onnx_elements(value_of(l, node, 1)) / l->batch;

    if (!t || t->rank != 2 || !hm__onnx_is_live(l, node, 1) || !(rows >= 1) || l->counted[table]) {
        if (hm__onnx_is_live(l, node, 1))
            list_word(l, node, "copy");
        return;
    }
    const struct hm_shape in = {HM_SHAPE_SEQUENCE, rows, 1, 1};
    count_weight(l, table);
    list_view(l, &in);
    hm__text_addf(&l->text, "    - embedding: {vocabulary: %.0f, width: %.0f}\n", t->dims[0],
                  t->dims[1]);
    l->now.channels = t->dims[1];
}

/* Writes a sum or product of two tensors, one of which may be a number or learned. */
static void list_pair(struct onnx_lister *l, const struct onnx_node *node)
{
    bool sum = hm__onnx_is_op(node, "Add Sub Sum Mean"), both = true;
    double learned = 0, out = hm__onnx_elements(&l->o->values[node->outputs[0]]);
    double least = out;

    for (size_t i = 0; i < node->input_count; i++) {
        bool live = hm__onnx_is_live(l, node, i);
        size_t weight = live ? SIZE_MAX : hm__onnx_weight(l, hm__onnx_input(node, i));
        both = both && live;
        least = fmin(least, hm__onnx_elements(value_of(l, node, i)));
        if (weight != SIZE_MAX && hm__onnx_elements(&l->o->values[weight]) > 1 &&
            count_weight(l, weight))
            learned = hm__onnx_elements(&l->o->values[weight]);
    }
    if (learned > 0) {
        if (list_view_of(l, node, node->outputs[0]))
            hm__text_addf(&l->text, "    - %s: {parameters: %.0f}\n", sum ? "add" : "multiply",
                          learned);
    } else if (!both) {
        list_word(l, node, "elementwise");
    } else if (sum) {
        list_word(l, node, "add");
    } else if (list_view_of(l, node, node->outputs[0])) {
        if (least < out && least == l->now.channels * l->batch)
            hm__text_addf(&l->text, "    - scale: [view: %.0f]\n", l->now.channels);
        else
            hm__text_add(&l->text, "    - multiply\n");
    }
}

/* Writes a mean over the positions of an image as pooling, and other sums as passes over values. */
static void list_reduce(struct onnx_lister *l, const struct onnx_node *node)
{
    size_t in = hm__onnx_input(node, 0);
    const struct onnx_value *v = value_of(l, node, 0);
    double left = hm__onnx_elements(&l->o->values[node->outputs[0]]);

    if (!v)
        return;
    if (l->image[in] && v->rank == 4 && left == l->batch * v->dims[1])
        list_global_pool(l, node);
    else if (list_view_of(l, node, in))
        hm__text_add(&l->text, "    - elementwise\n");
}

/* A reshaping after a transposition has to copy the values, unless attention computed them. */
static void list_reshape(struct onnx_lister *l, const struct onnx_node *node)
{
    size_t in = hm__onnx_input(node, 0), maker = in == SIZE_MAX ? 0 : l->maker[in];
    const struct onnx_node *before = maker ? &l->o->nodes[maker - 1] : NULL;

    if (!before || !hm__onnx_is_op(before, "Transpose"))
        return;
    size_t from = hm__onnx_input(before, 0), first = from == SIZE_MAX ? 0 : l->maker[from];
    if (first && l->mark[first - 1] == ONNX_ATTENTION)
        return;
    list_word(l, node, "copy");
}

static void list_unknown(struct onnx_lister *l, const struct onnx_node *node)
{
    size_t used = strlen(l->unknown);

    if (!strstr(l->unknown, node->op) && used + strlen(node->op) + 3 < sizeof(l->unknown))
        snprintf(l->unknown + used, sizeof(l->unknown) - used, "%s%s", used ? ", " : "", node->op);
    if (l->o->values[node->outputs[0]].rank >= 1)
        list_word(l, node, "elementwise");
}

/* ---- all nodes --------------------------------------------------------------------------------
 */

static void list_plain(struct onnx_lister *l, const struct onnx_node *node)
{
    static const struct {
        const char *ops;
        void (*list)(struct onnx_lister *l, const struct onnx_node *node);
    } rules[] = {
        {"Conv ConvTranspose", list_conv},
        {"Gemm MatMul", list_product},
        {"MaxPool AveragePool LpPool", list_pool},
        {"GlobalAveragePool GlobalMaxPool", list_global_pool},
        {"BatchNormalization InstanceNormalization GroupNormalization", list_batch_norm},
        {"LayerNormalization RMSNormalization", list_layer_norm},
        {"LSTM GRU RNN", list_recurrent},
        {"Gather", list_gather},
        {"Add Sub Mul Div Sum Mean Max Min Pow PRelu", list_pair},
        {"ReduceMean ReduceSum ReduceMax ReduceMin ReduceL2 ReduceL1", list_reduce},
        {"Reshape", list_reshape},
    };
    static const struct {
        const char *ops, *word;
    } words[] = {
        {"Relu", "relu"},
        {"Clip", "relu6"},
        {"Sigmoid", "sigmoid"},
        {"Tanh", "tanh"},
        {"Gelu", "gelu"},
        {"Swish", "swish"},
        {"Softmax LogSoftmax", "softmax"},
        {"Dropout", "dropout"},
        {"Concat Pad Resize Upsample Tile ScatterND ScatterElements GatherElements DepthToSpace "
         "SpaceToDepth",
         "copy"},
        {"LeakyRelu Elu Selu Celu HardSwish HardSigmoid Mish Softplus Softsign Erf Exp Log Sqrt "
         "Neg Abs Reciprocal LRN Sin Cos Floor Ceil Round Sign CumSum",
         "elementwise"},
    };
    static const char free_ops[] =
        "Constant ConstantOfShape Shape Size Flatten Transpose Squeeze Unsqueeze Identity Cast "
        "Slice Split Expand Range Equal Less Greater LessOrEqual GreaterOrEqual And Or Xor Not "
        "Where "
        "IsNaN IsInf Trilu NonZero RandomUniformLike RandomNormalLike Bernoulli";

    if (hm__onnx_is_op(node, free_ops))
        return;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (hm__onnx_is_op(node, rules[i].ops)) {
            rules[i].list(l, node);
            return;
        }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (hm__onnx_is_op(node, words[i].ops)) {
            list_word(l, node, words[i].word);
            return;
        }
    list_unknown(l, node);
}

/* Counts the learned factors and offsets of a normalisation that is written as arithmetic. */
static void list_written_norm(struct onnx_lister *l, const struct onnx_node *node)
{
    double learned = 0;

    for (const struct onnx_node *n = node; n && hm__onnx_is_op(n, "Mul Add Cast Div");) {
        size_t back = SIZE_MAX;
        for (size_t i = 0; i < n->input_count; i++) {
            learned += learned_inputs(l, n, i, i + 1);
            if (hm__onnx_is_live(l, n, i) && back == SIZE_MAX)
                back = n->inputs[i];
        }
        size_t maker = back == SIZE_MAX ? 0 : l->maker[back];
        n = maker && l->mark[maker - 1] == ONNX_PART ? &l->o->nodes[maker - 1] : NULL;
    }
    if (list_view_of(l, node, node->outputs[0]))
        list_norm(l, node, "layer", learned);
}

static void list_node(struct onnx_lister *l, size_t i)
{
    const struct onnx_node *node = &l->o->nodes[i];
    bool live = false;

    for (size_t k = 0; k < node->input_count; k++)
        live = live || hm__onnx_is_live(l, node, k);
    if (!live || node->output_count == 0 || node->outputs[0] == SIZE_MAX)
        return;
    switch (l->mark[i]) {
    case ONNX_PART:
        return;
    case ONNX_GELU:
        list_word(l, node, "gelu");
        return;
    case ONNX_SWISH:
        list_word(l, node, "swish");
        return;
    case ONNX_NORM:
        list_written_norm(l, node);
        return;
    case ONNX_ATTENTION:
        list_attention(l, node);
        return;
    default:
        list_plain(l, node);
    }
}

/* Returns whether the channels of the first output of a node are in its second dimension. */
static bool keeps_image(const struct onnx_lister *l, const struct onnx_node *node)
{
    const struct onnx_value *out = &l->o->values[node->outputs[0]];
    bool image = false;

    if (hm__onnx_is_op(node, "Conv ConvTranspose MaxPool AveragePool LpPool GlobalAveragePool "
                             "GlobalMaxPool BatchNormalization InstanceNormalization "
                             "GroupNormalization"))
        return out->rank >= 3;
    if (hm__onnx_is_op(node, "MatMul Gemm LayerNormalization RMSNormalization"))
        return false;
    for (size_t i = 0; i < node->input_count; i++)
        image = image || (hm__onnx_is_live(l, node, i) && l->image[node->inputs[i]]);
    if (hm__onnx_is_op(node, "Transpose") && out->rank == 4) {
        if (item_of(node, "perm", 1, 0) == 3)
            return true;
        return image && item_of(node, "perm", 1, 0) == 1;
    }
    if (hm__onnx_is_op(node, "Reshape Flatten Squeeze Unsqueeze"))
        return image && out->rank >= 4;
    return image;
}

/* Finds out for each tensor which nodes make and read it, and what it depends on. */
static void trace_values(struct onnx_lister *l)
{
    struct onnx *o = l->o;

    for (size_t i = 0; i < o->input_count; i++) {
        const struct onnx_value *v = &o->values[o->inputs[i]];
        l->live[o->inputs[i]] = !v->initializer;
        l->image[o->inputs[i]] = !v->initializer && v->rank == 4;
    }
    for (size_t i = 0; i < o->node_count; i++) {
        const struct onnx_node *node = &o->nodes[i];
        bool live = false;
        for (size_t k = 0; k < node->input_count; k++) {
            size_t value = node->inputs[k];
            if (value == SIZE_MAX)
                continue;
            live = live || l->live[value];
            /* SIZE_MAX means several readers; it is cleared below. */
            l->reader[value] = l->reader[value] == 0 ? i + 1 : SIZE_MAX;
        }
        live = live && !hm__onnx_is_op(node, "Shape Size");
        for (size_t k = 0; k < node->output_count; k++) {
            if (node->outputs[k] == SIZE_MAX)
                continue;
            l->maker[node->outputs[k]] = i + 1;
            l->live[node->outputs[k]] = live;
        }
        if (live && node->output_count > 0 && node->outputs[0] != SIZE_MAX)
            for (size_t k = 0; k < node->output_count; k++)
                if (node->outputs[k] != SIZE_MAX)
                    l->image[node->outputs[k]] = keeps_image(l, node);
    }
    for (size_t i = 0; i < o->value_count; i++)
        if (l->reader[i] == SIZE_MAX)
            l->reader[i] = 0;
}

/* Finds the shape of the first input of the model; returns false if there is none. */
static bool find_input(struct onnx_lister *l, struct hm_shape *ret)
{
    for (size_t i = 0; i < l->o->input_count; i++) {
        const struct onnx_value *v = &l->o->values[l->o->inputs[i]];
        if (v->initializer || v->rank < 2)
            continue;
        l->batch = v->dims[0];
        if (!(l->batch >= 1) || !shape_of(l, l->o->inputs[i], ret))
            return false;
        if (v->type == ONNX_INT64 || v->type == ONNX_INT32)
            *ret = (struct hm_shape){HM_SHAPE_SEQUENCE, hm__onnx_elements(v) / l->batch, 1, 1};
        return true;
    }
    return false;
}

static bool lister_init(struct onnx_lister *l, struct onnx *o)
{
    size_t values = o->value_count + 1, nodes = o->node_count + 1;

    *l = (struct onnx_lister){.o = o};
    l->maker = hm__calloc(values, sizeof(*l->maker));
    l->reader = hm__calloc(values, sizeof(*l->reader));
    l->live = hm__calloc(values, sizeof(*l->live));
    l->image = hm__calloc(values, sizeof(*l->image));
    l->counted = hm__calloc(values, sizeof(*l->counted));
    l->mark = hm__calloc(nodes, sizeof(*l->mark));
    l->partner = hm__calloc(nodes, sizeof(*l->partner));
    return l->maker && l->reader && l->live && l->image && l->counted && l->mark && l->partner;
}

static void lister_release(struct onnx_lister *l)
{
    hm__free(l->maker);
    hm__free(l->reader);
    hm__free(l->live);
    hm__free(l->image);
    hm__free(l->counted);
    hm__free(l->mark);
    hm__free(l->partner);
    hm__text_release(&l->text);
}

/*
 * Returns whether batch normalisations were merged with convolutions: all convolutions have a bias,
 * no layer is a normalisation, and the network has sums of images or convolutions by channel, which
 * do not train without normalisation.
 */
static bool is_merged(const struct onnx_lister *l)
{
    bool modern = false;

    for (size_t i = 0; i < l->o->node_count; i++) {
        const struct onnx_node *node = &l->o->nodes[i];
        const struct onnx_attribute *group = hm__onnx_attribute(node, "group");
        const struct onnx_value *w = value_of(l, node, 1);
        if (l->mark[i] == ONNX_NORM || strstr(node->op, "Normalization"))
            return false;
        if (hm__onnx_is_op(node, "Conv") && hm__onnx_input(node, 2) == SIZE_MAX)
            return false;
        bool depthwise = hm__onnx_is_op(node, "Conv") && group && group->i > 2 && w &&
                         w->rank > 1 && w->dims[1] == 1;
        modern = modern || depthwise ||
                 (hm__onnx_is_op(node, "Add") && hm__onnx_is_live(l, node, 0) &&
                  hm__onnx_is_live(l, node, 1) && l->image[node->outputs[0]]);
    }
    return modern;
}

/* Lists all layers; returns false if that is not possible. */
static bool list_graph(struct onnx_lister *l, double parameters, struct hm_shape *ret_input)
{
    trace_values(l);
    if (!find_input(l, ret_input)) {
        l->refused = "its input";
        return false;
    }
    l->now = *ret_input;
    hm__onnx_fuse(l);
    l->merged = is_merged(l);
    for (size_t i = 0; i < l->o->node_count && !l->refused; i++)
        list_node(l, i);
    if (!l->refused && l->parameters > parameters)
        l->refused = "weights that are used several times";
    if (!l->refused && l->parameters < parameters)
        hm__text_addf(&l->text, "    - add: {parameters: %.0f}\n", parameters - l->parameters);
    return !l->refused;
}

bool hm__onnx_layers(struct onnx *o, double parameters, bool in_order)
{
    struct onnx_lister l;
    struct hm_shape input;
    bool done = false;

    if (!in_order || o->node_count > LAYERS_MOST || o->subgraphs > 0)
        return false;
    if (!lister_init(&l, o)) {
        o->im->failed = true;
    } else if (list_graph(&l, parameters, &input)) {
        hm__text_add(&o->im->document, "network:\n  input: ");
        write_shape(&o->im->document, &input);
        hm__text_addf(&o->im->document, "\n  layers:\n%s", l.text.data ? l.text.data : "");
        o->im->failed |= l.text.failed;
        done = true;
        if (l.unknown[0])
            hm__import_note(o->im, "operators taken for element-wise ones: %s", l.unknown);
        if (l.merged_count > 0)
            hm__import_note(o->im,
                            "batch normalisations were merged with %zu convolutions for inference; "
                            "they are listed again, as for training",
                            l.merged_count);
    } else {
        hm__import_note(o->im, "only the totals of the network are used: layers cannot describe %s",
                        l.refused);
    }
    lister_release(&l);
    return done;
}
