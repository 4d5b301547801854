/*
 * Infers the shapes of the tensors of an ONNX graph from the shapes of its inputs. Some graphs
 * compute a shape with nodes (Shape, Gather, Concat, … before a Reshape); such nodes are evaluated
 * if their values have at most 64 elements.
 */
#include "onnx_step.h"

#include <math.h>
#include <string.h>

#include "budget.h"

/* ---- elementwise ------------------------------------------------------------------------------
 */

static double apply_operator(const char *op, double a, double b)
{
    if (strcmp(op, "Add") == 0)
        return a + b;
    if (strcmp(op, "Sub") == 0)
        return a - b;
    if (strcmp(op, "Mul") == 0)
        return a * b;
    if (strcmp(op, "Div") == 0)
        return b != 0 ? trunc(a / b) : NAN;
    if (strcmp(op, "Mod") == 0)
        return b != 0 ? a - b * floor(a / b) : NAN;
    if (strcmp(op, "Equal") == 0)
        return a == b;
    return NAN;
}

/* Evaluates an operator with two operands that are constant integers. */
static void evaluate_pair(const struct onnx_step *s)
{
    const struct onnx_value *a = hm__onnx_step_input(s, 0), *b = hm__onnx_step_input(s, 1);
    struct onnx_value *out = hm__onnx_step_output(s, 0);
    size_t count = a && b ? (a->count > b->count ? a->count : b->count) : 0;

    if (!a || !b || !a->data || !b->data || a->count == 0 || b->count == 0 ||
        (a->count != count && a->count != 1) || (b->count != count && b->count != 1) ||
        isnan(apply_operator(s->node->op, 1, 1)) || !hm__onnx_new_data(s, out, count))
        return;
    for (size_t i = 0; i < count; i++)
        out->data[i] = apply_operator(s->node->op, a->data[a->count == 1 ? 0 : i],
                                      b->data[b->count == 1 ? 0 : i]);
}

/* Sets the output shape to the shape that all inputs have after broadcasting. */
static bool broadcast_shapes(const struct onnx_step *s, double *dims, int *ret_rank)
{
    int rank = 0;

    for (size_t i = 0; i < s->node->input_count; i++) {
        const struct onnx_value *in = hm__onnx_step_input(s, i);
        if (!in)
            continue;
        if (in->rank < 0)
            return false;
        rank = in->rank > rank ? in->rank : rank;
    }
    for (int k = 0; k < rank; k++) {
        dims[k] = 1;
        for (size_t i = 0; i < s->node->input_count; i++) {
            const struct onnx_value *in = hm__onnx_step_input(s, i);
            int at = in ? k - (rank - in->rank) : -1;
            if (at >= 0 && in->dims[at] != 1)
                dims[k] = in->dims[at];
        }
    }
    *ret_rank = rank;
    return true;
}

static bool infer_broadcast(const struct onnx_step *s)
{
    double dims[ONNX_RANK];
    struct onnx_value *out = hm__onnx_step_output(s, 0);
    int rank;

    if (!out || !broadcast_shapes(s, dims, &rank) || !hm__onnx_set_shape(out, dims, (size_t)rank))
        return false;
    out->type = hm__onnx_step_input(s, 0) ? hm__onnx_step_input(s, 0)->type : 0;
    evaluate_pair(s);
    return true;
}

static bool infer_where(const struct onnx_step *s)
{
    const struct onnx_value *c = hm__onnx_step_input(s, 0), *a = hm__onnx_step_input(s, 1),
                            *b = hm__onnx_step_input(s, 2);
    struct onnx_value *out = hm__onnx_step_output(s, 0);

    if (!infer_broadcast(s))
        return false;
    double count = hm__onnx_elements(out);
    if (!a || !b || !c || !c->data || c->count == 0 || !a->data || !b->data ||
        !(count <= ONNX_DATA) || !hm__onnx_new_data(s, out, (size_t)count))
        return true;
    for (size_t i = 0; i < out->count; i++) {
        const struct onnx_value *from = c->data[i % c->count] != 0 ? a : b;
        out->data[i] = from->count > 0 ? from->data[from->count == 1 ? 0 : i % from->count] : NAN;
    }
    return true;
}

/* ---- convolutions and pools -------------------------------------------------------------------
 */

/* Returns the number of positions of a window that slides over one dimension. */
static double window_size(const struct onnx_step *s, size_t k, double size, double kernel, bool up)
{
    const struct onnx_attribute *pads = hm__onnx_attribute(s->node, "pads");
    const struct onnx_attribute *automatic = hm__onnx_attribute(s->node, "auto_pad");
    double stride = hm__onnx_list_item(hm__onnx_attribute(s->node, "strides"), k, 1);
    double dilation = hm__onnx_list_item(hm__onnx_attribute(s->node, "dilations"), k, 1);
    size_t half = pads ? pads->int_count / 2 : 0;
    double pad =
        hm__onnx_list_item(pads, k, 0) + (half ? hm__onnx_list_item(pads, k + half, 0) : 0);
    double reach = dilation * (kernel - 1) + 1;

    if (!(stride >= 1))
        return NAN;
    if (up)
        return stride * (size - 1) + reach - pad +
               hm__onnx_list_item(hm__onnx_attribute(s->node, "output_padding"), k, 0);
    if (automatic && strncmp(automatic->s, "SAME", 4) == 0)
        return ceil(size / stride);
    double steps = (size + pad - reach) / stride;
    return (hm__onnx_step_int(s, "ceil_mode", 0) != 0 ? ceil(steps) : floor(steps)) + 1;
}

static bool infer_conv(const struct onnx_step *s, bool up)
{
    const struct onnx_value *x = hm__onnx_step_input(s, 0), *w = hm__onnx_step_input(s, 1);
    double dims[ONNX_RANK];

    if (!x || !w || x->rank < 3 || w->rank != x->rank)
        return false;
    dims[0] = x->dims[0];
    dims[1] = up ? w->dims[1] * hm__onnx_step_int(s, "group", 1) : w->dims[0];
    for (int k = 2; k < x->rank; k++)
        dims[k] = window_size(s, (size_t)k - 2, x->dims[k], w->dims[k], up);
    return hm__onnx_set_shape(hm__onnx_step_output(s, 0), dims, (size_t)x->rank);
}

static bool infer_pool(const struct onnx_step *s)
{
    const struct onnx_value *x = hm__onnx_step_input(s, 0);
    const struct onnx_attribute *kernel = hm__onnx_attribute(s->node, "kernel_shape");
    double dims[ONNX_RANK];

    if (!x || x->rank < 3 || !kernel)
        return false;
    memcpy(dims, x->dims, sizeof(dims));
    for (int k = 2; k < x->rank; k++)
        dims[k] = window_size(s, (size_t)k - 2, x->dims[k],
                              hm__onnx_list_item(kernel, (size_t)k - 2, 1), false);
    return hm__onnx_set_shape(hm__onnx_step_output(s, 0), dims, (size_t)x->rank);
}

static bool infer_global_pool(const struct onnx_step *s)
{
    const struct onnx_value *x = hm__onnx_step_input(s, 0);
    double dims[ONNX_RANK] = {0};

    if (!x || x->rank < 2)
        return false;
    for (int k = 0; k < x->rank; k++)
        dims[k] = k < 2 ? x->dims[k] : 1;
    return hm__onnx_set_shape(hm__onnx_step_output(s, 0), dims, (size_t)x->rank);
}

/* ---- products ---------------------------------------------------------------------------------
 */

static bool infer_gemm(const struct onnx_step *s)
{
    const struct onnx_value *a = hm__onnx_step_input(s, 0), *b = hm__onnx_step_input(s, 1);

    if (!a || !b || a->rank != 2 || b->rank != 2)
        return false;
    const double dims[] = {a->dims[hm__onnx_step_int(s, "transA", 0) != 0 ? 1 : 0],
                           b->dims[hm__onnx_step_int(s, "transB", 0) != 0 ? 0 : 1]};
    return hm__onnx_set_shape(hm__onnx_step_output(s, 0), dims, 2);
}

static bool infer_matmul(const struct onnx_step *s)
{
    const struct onnx_value *a = hm__onnx_step_input(s, 0), *b = hm__onnx_step_input(s, 1);
    double dims[ONNX_RANK];
    int rank;

    if (!a || !b || a->rank < 2 || b->rank < 2)
        return false;
    rank = a->rank > b->rank ? a->rank : b->rank;
    for (int k = 0; k < rank - 2; k++) {
        int i = k - (rank - a->rank), j = k - (rank - b->rank);
        double x = i >= 0 ? a->dims[i] : 1, y = j >= 0 ? b->dims[j] : 1;
        dims[k] = x > y ? x : y;
    }
    dims[rank - 2] = a->dims[a->rank - 2];
    dims[rank - 1] = b->dims[b->rank - 1];
    return hm__onnx_set_shape(hm__onnx_step_output(s, 0), dims, (size_t)rank);
}

/* ---- the rest ---------------------------------------------------------------------------------
 */

static bool infer_split(const struct onnx_step *s)
{
    const struct onnx_value *x = hm__onnx_step_input(s, 0);
    double axis = hm__onnx_step_int(s, "axis", 0), dims[ONNX_RANK];

    if (!x || x->rank < 1)
        return false;
    axis = axis < 0 ? axis + x->rank : axis;
    if (!(axis >= 0 && axis < x->rank))
        return false;
    memcpy(dims, x->dims, sizeof(dims));
    for (size_t i = 0; i < s->node->output_count; i++) {
        double size = hm__onnx_axis_item(s, 1, "split", i);
        dims[(int)axis] = isnan(size) ? x->dims[(int)axis] / (double)s->node->output_count : size;
        if (!hm__onnx_set_shape(hm__onnx_step_output(s, i), dims, (size_t)x->rank))
            return false;
    }
    return true;
}

static bool infer_pad(const struct onnx_step *s)
{
    const struct onnx_value *x = hm__onnx_step_input(s, 0);
    double dims[ONNX_RANK];

    if (!x || x->rank < 0)
        return false;
    for (int k = 0; k < x->rank; k++) {
        double low = hm__onnx_axis_item(s, 1, "pads", (size_t)k);
        double high = hm__onnx_axis_item(s, 1, "pads", (size_t)(k + x->rank));
        dims[k] = x->dims[k] + low + high;
    }
    return hm__onnx_set_shape(hm__onnx_step_output(s, 0), dims, (size_t)x->rank);
}

static bool infer_reduce(const struct onnx_step *s)
{
    const struct onnx_value *x = hm__onnx_step_input(s, 0);
    bool keep = hm__onnx_step_int(s, "keepdims", 1) != 0,
         all = isnan(hm__onnx_axis_item(s, 1, "axes", 0));
    double dims[ONNX_RANK];
    size_t rank = 0;

    if (!x || x->rank < 0)
        return false;
    for (int k = 0; k < x->rank; k++) {
        bool reduced = all || hm__onnx_is_named(s, k, x->rank);
        if (!reduced || keep)
            dims[rank++] = reduced ? 1 : x->dims[k];
    }
    return hm__onnx_set_shape(hm__onnx_step_output(s, 0), dims, rank);
}

/*
 * Sets the shapes of the outputs of a recurrent node (RNN, GRU, LSTM) from the length of the
 * sequence, the number of directions, the batch and the hidden size.
 */
static bool infer_recurrent(const struct onnx_step *s)
{
    const struct onnx_value *x = hm__onnx_step_input(s, 0), *w = hm__onnx_step_input(s, 1);
    double hidden = hm__onnx_step_int(s, "hidden_size", NAN);

    if (!x || !w || x->rank != 3 || w->rank != 3 || isnan(hidden))
        return false;
    const double y[] = {x->dims[0], w->dims[0], x->dims[1], hidden};
    const double h[] = {w->dims[0], x->dims[1], hidden};
    if (hm__onnx_step_output(s, 0) && !hm__onnx_set_shape(hm__onnx_step_output(s, 0), y, 4))
        return false;
    for (size_t i = 1; i < s->node->output_count; i++)
        if (hm__onnx_step_output(s, i) && !hm__onnx_set_shape(hm__onnx_step_output(s, i), h, 3))
            return false;
    return true;
}

static bool infer_node(const struct onnx_step *s)
{
    static const struct {
        const char *ops;
        bool (*infer)(const struct onnx_step *s);
    } rules[] = {
        {"Add Sub Mul Div Pow Mod Sum Max Min Mean Equal Less Greater LessOrEqual GreaterOrEqual "
         "And "
         "Or Xor PRelu BitShift",
         infer_broadcast},
        {"Where", infer_where},
        {"MaxPool AveragePool LpPool", infer_pool},
        {"GlobalAveragePool GlobalMaxPool", infer_global_pool},
        {"Gemm", infer_gemm},
        {"MatMul MatMulInteger", infer_matmul},
        {"Flatten", hm__onnx_infer_flatten},
        {"Reshape", hm__onnx_infer_reshape},
        {"Transpose", hm__onnx_infer_transpose},
        {"Concat", hm__onnx_infer_concat},
        {"Slice", hm__onnx_infer_slice},
        {"Gather", hm__onnx_infer_gather},
        {"Shape", hm__onnx_infer_shape},
        {"Constant", hm__onnx_infer_constant},
        {"ConstantOfShape", hm__onnx_infer_filled},
        {"Range", hm__onnx_infer_range},
        {"Expand", hm__onnx_infer_expand},
        {"Split", infer_split},
        {"Pad", infer_pad},
        {"ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL2 ReduceL1", infer_reduce},
        {"LSTM GRU RNN", infer_recurrent},
    };
    static const char same[] =
        "Relu Tanh Sigmoid Softmax LogSoftmax Dropout LRN BatchNormalization Identity Cast Sqrt "
        "HardSwish HardSigmoid Gelu LayerNormalization InstanceNormalization GroupNormalization "
        "Erf "
        "Exp Log Neg Abs Clip LeakyRelu Elu Selu Softplus Mish QuantizeLinear DequantizeLinear "
        "Floor "
        "Ceil Round Reciprocal Not Sign Sin Cos CumSum RMSNormalization ScatterND ScatterElements "
        "RandomUniformLike RandomNormalLike Bernoulli IsNaN IsInf Celu Softsign Trilu Swish";
    const char *op = s->node->op;

    if (hm__onnx_is_op(s->node, same))
        return hm__onnx_same_as(s, 0);
    if (strcmp(op, "Conv") == 0 || strcmp(op, "ConvTranspose") == 0)
        return infer_conv(s, op[4] != '\0');
    if (strcmp(op, "Squeeze") == 0 || strcmp(op, "Unsqueeze") == 0)
        return hm__onnx_infer_squeeze(s, op[0] == 'U');
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (hm__onnx_is_op(s->node, rules[i].ops))
            return rules[i].infer(s);
    return false;
}

/* Returns whether all inputs of a node have their final shapes. */
static bool is_ready(const struct onnx *o, const struct onnx_node *node)
{
    for (size_t i = 0; i < node->input_count; i++)
        if (node->inputs[i] != SIZE_MAX && !o->values[node->inputs[i]].made)
            return false;
    return true;
}

/* Returns whether the file states the shapes of all outputs of a node. */
static bool has_stated(const struct onnx *o, const struct onnx_node *node)
{
    for (size_t k = 0; k < node->output_count; k++)
        if (node->outputs[k] != SIZE_MAX && o->values[node->outputs[k]].rank < 0)
            return false;
    return true;
}

/*
 * Marks the outputs of a node as made. Returns false if one of them is already computed or given:
 * links from tensors to the nodes that compute them could then form a
 * cycle, although each node follows the nodes whose outputs it uses. Constants, which have no
 * inputs, may be repeated; some exporters write them twice.
 */
static bool claim_outputs(struct onnx *o, const struct onnx_node *node)
{
    bool first = true;

    for (size_t k = 0; k < node->output_count; k++) {
        if (node->outputs[k] == SIZE_MAX)
            continue;
        first = first && !o->values[node->outputs[k]].made;
        o->values[node->outputs[k]].made = true;
    }
    return first || node->input_count == 0;
}

bool hm__onnx_infer(struct onnx *o)
{
    bool in_order = true, progress = true;

    /*
     * Nodes may be in any order, so several passes may be needed. The passes end when a pass
     * changes nothing, for example because the remaining nodes form a cycle.
     */
    for (int pass = 0; pass < 100 && progress && !hm__budget_spent(NULL); pass++) {
        progress = false;
        for (size_t i = 0; i < o->node_count; i++) {
            struct onnx_node *node = &o->nodes[i];
            if (node->done)
                continue;
            if (!is_ready(o, node)) {
                in_order = false;
                continue;
            }
            node->done = progress = true;
            if (claim_outputs(o, node))
                node->inferred = infer_node(&(struct onnx_step){o, node}) || has_stated(o, node);
            else
                o->repeated++;
        }
    }
    return in_order;
}
