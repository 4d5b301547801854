/*
 * Infers the shapes of the tensors of an ONNX graph from the shapes of its inputs. Some graphs
 * compute a shape with nodes (Shape, Gather, Concat, … before a Reshape); such nodes are evaluated
 * if their values have at most 64 elements.
 */
#include <math.h>
#include <string.h>

#include "onnx.h"

/* The node whose output shapes are being inferred. */
struct onnx_step {
    struct onnx *o;
    const struct onnx_node *node;
};

static struct onnx_value *value_at(const struct onnx_step *s, size_t index)
{
    return index == SIZE_MAX ? NULL : &s->o->values[index];
}

static struct onnx_value *input_of(const struct onnx_step *s, size_t i)
{
    return i < s->node->input_count ? value_at(s, s->node->inputs[i]) : NULL;
}

static struct onnx_value *output_of(const struct onnx_step *s, size_t i)
{
    return i < s->node->output_count ? value_at(s, s->node->outputs[i]) : NULL;
}

static double int_attribute(const struct onnx_step *s, const char *name, double fallback)
{
    const struct onnx_attribute *a = hm__onnx_attribute(s->node, name);

    return a && !isnan(a->i) ? a->i : fallback;
}

/*
 * Returns element `i` of an attribute that is a list of integers; `fallback` if there is no such
 * element.
 */
static double list_item(const struct onnx_attribute *a, size_t i, double fallback)
{
    return a && i < a->int_count ? a->ints[i] : fallback;
}

static bool set_shape(struct onnx_value *v, const double *dims, size_t rank)
{
    if (!v || rank > ONNX_RANK)
        return false;
    for (size_t i = 0; i < rank; i++) {
        if (!(dims[i] >= 0 && dims[i] < 1e15))
            return false;
        v->dims[i] = dims[i];
    }
    v->rank = (int)rank;
    return true;
}

static double *new_data(const struct onnx_step *s, struct onnx_value *v, size_t count)
{
    if (count > ONNX_DATA || !v)
        return NULL;
    v->data = hm__arena_alloc(s->o->im->arena, count + 1, sizeof(*v->data));
    v->count = v->data ? count : 0;
    return v->data;
}

static bool same_as(const struct onnx_step *s, size_t i)
{
    const struct onnx_value *in = input_of(s, i);
    struct onnx_value *out = output_of(s, 0);

    if (!in || in->rank < 0 || !out || !set_shape(out, in->dims, (size_t)in->rank))
        return false;
    out->type = in->type;
    if (in->data && new_data(s, out, in->count))
        memcpy(out->data, in->data, in->count * sizeof(*in->data));
    return true;
}

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
    const struct onnx_value *a = input_of(s, 0), *b = input_of(s, 1);
    struct onnx_value *out = output_of(s, 0);
    size_t count = a && b ? (a->count > b->count ? a->count : b->count) : 0;

    if (!a || !b || !a->data || !b->data || a->count == 0 || b->count == 0 ||
        (a->count != count && a->count != 1) || (b->count != count && b->count != 1) ||
        isnan(apply_operator(s->node->op, 1, 1)) || !new_data(s, out, count))
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
        const struct onnx_value *in = input_of(s, i);
        if (!in)
            continue;
        if (in->rank < 0)
            return false;
        rank = in->rank > rank ? in->rank : rank;
    }
    for (int k = 0; k < rank; k++) {
        dims[k] = 1;
        for (size_t i = 0; i < s->node->input_count; i++) {
            const struct onnx_value *in = input_of(s, i);
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
    struct onnx_value *out = output_of(s, 0);
    int rank;

    if (!out || !broadcast_shapes(s, dims, &rank) || !set_shape(out, dims, (size_t)rank))
        return false;
    out->type = input_of(s, 0) ? input_of(s, 0)->type : 0;
    evaluate_pair(s);
    return true;
}

static bool infer_where(const struct onnx_step *s)
{
    const struct onnx_value *c = input_of(s, 0), *a = input_of(s, 1), *b = input_of(s, 2);
    struct onnx_value *out = output_of(s, 0);

    if (!infer_broadcast(s))
        return false;
    double count = hm__onnx_elements(out);
    if (!a || !b || !c->data || !a->data || !b->data || !(count <= ONNX_DATA) ||
        !new_data(s, out, (size_t)count))
        return true;
    for (size_t i = 0; i < out->count; i++) {
        const struct onnx_value *from = c->data[c->count == 1 ? 0 : i] != 0 ? a : b;
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
    double stride = list_item(hm__onnx_attribute(s->node, "strides"), k, 1);
    double dilation = list_item(hm__onnx_attribute(s->node, "dilations"), k, 1);
    size_t half = pads ? pads->int_count / 2 : 0;
    double pad = list_item(pads, k, 0) + (half ? list_item(pads, k + half, 0) : 0);
    double reach = dilation * (kernel - 1) + 1;

    if (!(stride >= 1))
        return NAN;
    if (up)
        return stride * (size - 1) + reach - pad +
               list_item(hm__onnx_attribute(s->node, "output_padding"), k, 0);
    if (automatic && strncmp(automatic->s, "SAME", 4) == 0)
        return ceil(size / stride);
    double steps = (size + pad - reach) / stride;
    return (int_attribute(s, "ceil_mode", 0) != 0 ? ceil(steps) : floor(steps)) + 1;
}

static bool infer_conv(const struct onnx_step *s, bool up)
{
    const struct onnx_value *x = input_of(s, 0), *w = input_of(s, 1);
    double dims[ONNX_RANK];

    if (!x || !w || x->rank < 3 || w->rank != x->rank)
        return false;
    dims[0] = x->dims[0];
    dims[1] = up ? w->dims[1] * int_attribute(s, "group", 1) : w->dims[0];
    for (int k = 2; k < x->rank; k++)
        dims[k] = window_size(s, (size_t)k - 2, x->dims[k], w->dims[k], up);
    return set_shape(output_of(s, 0), dims, (size_t)x->rank);
}

static bool infer_pool(const struct onnx_step *s)
{
    const struct onnx_value *x = input_of(s, 0);
    const struct onnx_attribute *kernel = hm__onnx_attribute(s->node, "kernel_shape");
    double dims[ONNX_RANK];

    if (!x || x->rank < 3 || !kernel)
        return false;
    memcpy(dims, x->dims, sizeof(dims));
    for (int k = 2; k < x->rank; k++)
        dims[k] =
            window_size(s, (size_t)k - 2, x->dims[k], list_item(kernel, (size_t)k - 2, 1), false);
    return set_shape(output_of(s, 0), dims, (size_t)x->rank);
}

static bool infer_global_pool(const struct onnx_step *s)
{
    const struct onnx_value *x = input_of(s, 0);
    double dims[ONNX_RANK] = {0};

    if (!x || x->rank < 2)
        return false;
    for (int k = 0; k < x->rank; k++)
        dims[k] = k < 2 ? x->dims[k] : 1;
    return set_shape(output_of(s, 0), dims, (size_t)x->rank);
}

/* ---- products ---------------------------------------------------------------------------------
 */

static bool infer_gemm(const struct onnx_step *s)
{
    const struct onnx_value *a = input_of(s, 0), *b = input_of(s, 1);

    if (!a || !b || a->rank != 2 || b->rank != 2)
        return false;
    const double dims[] = {a->dims[int_attribute(s, "transA", 0) != 0 ? 1 : 0],
                           b->dims[int_attribute(s, "transB", 0) != 0 ? 0 : 1]};
    return set_shape(output_of(s, 0), dims, 2);
}

static bool infer_matmul(const struct onnx_step *s)
{
    const struct onnx_value *a = input_of(s, 0), *b = input_of(s, 1);
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
    return set_shape(output_of(s, 0), dims, (size_t)rank);
}

/* ---- shapes -----------------------------------------------------------------------------------
 */

static bool infer_flatten(const struct onnx_step *s)
{
    const struct onnx_value *x = input_of(s, 0);
    double axis = int_attribute(s, "axis", 1), dims[2] = {1, 1};

    if (!x || x->rank < 0)
        return false;
    axis = axis < 0 ? axis + x->rank : axis;
    for (int k = 0; k < x->rank; k++)
        dims[k < axis ? 0 : 1] *= x->dims[k];
    return set_shape(output_of(s, 0), dims, 2);
}

static bool infer_reshape(const struct onnx_step *s)
{
    const struct onnx_value *x = input_of(s, 0), *shape = input_of(s, 1);
    struct onnx_value *out = output_of(s, 0);
    double dims[ONNX_RANK], known = 1, total = x ? hm__onnx_elements(x) : NAN;
    int open = -1;

    if (isnan(total) || !shape || !shape->data || shape->count > ONNX_RANK)
        return false;
    for (size_t k = 0; k < shape->count; k++) {
        dims[k] = shape->data[k];
        if (dims[k] == 0 && (int)k < x->rank)
            dims[k] = x->dims[k];
        if (dims[k] < 0)
            open = (int)k;
        else
            known *= dims[k];
    }
    if (open >= 0)
        dims[open] = known > 0 ? total / known : NAN;
    if (!set_shape(out, dims, shape->count))
        return false;
    if (x->data && new_data(s, out, x->count))
        memcpy(out->data, x->data, x->count * sizeof(*x->data));
    return true;
}

/*
 * Copies the elements of a constant to the output of a node that reorders them. Moving by one along
 * dimension k of the output moves by steps[k] elements in the input; the first element of the
 * output is element `from` of the input.
 */
static void copy_elements(const struct onnx_step *s, double from, const double *steps)
{
    const struct onnx_value *x = input_of(s, 0);
    struct onnx_value *out = output_of(s, 0);
    double count = hm__onnx_elements(out);

    if (!x->data || !(count <= ONNX_DATA) || !new_data(s, out, (size_t)count))
        return;
    for (size_t i = 0; i < out->count; i++) {
        double at = from;
        size_t rest = i;
        for (int k = out->rank; k-- > 0; rest /= (size_t)out->dims[k])
            at += steps[k] * (double)(rest % (size_t)out->dims[k]);
        out->data[i] = at >= 0 && at < (double)x->count ? x->data[(size_t)at] : NAN;
    }
}

/* Returns the number of elements between two neighbours along dimension k. */
static double element_step(const struct onnx_value *x, int k)
{
    double step = 1;

    for (int i = k + 1; i < x->rank; i++)
        step *= x->dims[i];
    return step;
}

static bool infer_transpose(const struct onnx_step *s)
{
    const struct onnx_value *x = input_of(s, 0);
    const struct onnx_attribute *perm = hm__onnx_attribute(s->node, "perm");
    double dims[ONNX_RANK], steps[ONNX_RANK];

    if (!x || x->rank < 0)
        return false;
    for (int k = 0; k < x->rank; k++) {
        double from = list_item(perm, (size_t)k, x->rank - 1 - k);
        if (!(from >= 0 && from < x->rank))
            return false;
        dims[k] = x->dims[(int)from];
        steps[k] = element_step(x, (int)from);
    }
    if (!set_shape(output_of(s, 0), dims, (size_t)x->rank))
        return false;
    copy_elements(s, 0, steps);
    return true;
}

static bool infer_concat(const struct onnx_step *s)
{
    const struct onnx_value *first = input_of(s, 0);
    struct onnx_value *out = output_of(s, 0);
    double axis = int_attribute(s, "axis", 0), dims[ONNX_RANK], total = 0;
    size_t count = 0;
    bool known = true;

    if (!first || first->rank < 1)
        return false;
    axis = axis < 0 ? axis + first->rank : axis;
    if (!(axis >= 0 && axis < first->rank))
        return false;
    for (size_t i = 0; i < s->node->input_count; i++) {
        const struct onnx_value *in = input_of(s, i);
        if (!in || in->rank != first->rank)
            return false;
        total += in->dims[(int)axis];
        known = known && in->data && in->rank == 1;
        count += in->count;
    }
    memcpy(dims, first->dims, sizeof(dims));
    dims[(int)axis] = total;
    if (!set_shape(out, dims, (size_t)first->rank))
        return false;
    if (!known || !new_data(s, out, count))
        return true;
    count = 0;
    for (size_t i = 0; i < s->node->input_count; i++) {
        const struct onnx_value *in = input_of(s, i);
        memcpy(out->data + count, in->data, in->count * sizeof(*in->data));
        count += in->count;
    }
    return true;
}

/*
 * Returns element `i` of a list that is an input of the node or, in old versions of ONNX, an
 * attribute; NaN if there is no such element.
 */
static double axis_item(const struct onnx_step *s, size_t input, const char *name, size_t i)
{
    const struct onnx_value *in = input_of(s, input);

    if (in)
        return in->data && i < in->count ? in->data[i] : NAN;
    return list_item(hm__onnx_attribute(s->node, name), i, NAN);
}

static bool infer_slice(const struct onnx_step *s)
{
    const struct onnx_value *x = input_of(s, 0);
    double dims[ONNX_RANK], steps[ONNX_RANK], from = 0;

    if (!x || x->rank < 0 || isnan(axis_item(s, 1, "starts", 0)))
        return false;
    memcpy(dims, x->dims, sizeof(dims));
    for (int k = 0; k < x->rank; k++)
        steps[k] = element_step(x, k);
    for (size_t i = 0; !isnan(axis_item(s, 1, "starts", i)); i++) {
        double axis = axis_item(s, 3, "axes", i);
        axis = isnan(axis) ? (double)i : axis < 0 ? axis + x->rank : axis;
        if (!(axis >= 0 && axis < x->rank))
            return false;
        int k = (int)axis;
        double size = x->dims[k], start = axis_item(s, 1, "starts", i);
        double end = axis_item(s, 2, "ends", i), by = axis_item(s, 4, "steps", i);
        by = isnan(by) ? 1 : by;
        if (isnan(end) || by == 0)
            return false;
        start = fmin(fmax(start < 0 ? start + size : start, 0), by < 0 ? size - 1 : size);
        end = fmin(fmax(end < 0 ? end + size : end, by < 0 ? -1 : 0), size);
        dims[k] = fmax(0, ceil((end - start) / by));
        from += start * element_step(x, k);
        steps[k] = by * element_step(x, k);
    }
    if (!set_shape(output_of(s, 0), dims, (size_t)x->rank))
        return false;
    copy_elements(s, from, steps);
    return true;
}

/* Returns whether a Squeeze or Unsqueeze node has this axis in its list of axes. */
static bool is_named(const struct onnx_step *s, int axis, int rank)
{
    for (size_t i = 0; i < ONNX_RANK; i++) {
        double item = axis_item(s, 1, "axes", i);
        if (!isnan(item) && (int)(item < 0 ? item + rank : item) == axis)
            return true;
    }
    return false;
}

static bool infer_squeeze(const struct onnx_step *s, bool add)
{
    const struct onnx_value *x = input_of(s, 0);
    struct onnx_value *out = output_of(s, 0);
    double dims[ONNX_RANK];
    size_t count = 0, rank = 0, named = 0;

    if (!x || x->rank < 0)
        return false;
    while (named < ONNX_RANK && !isnan(axis_item(s, 1, "axes", named)))
        named++;
    if (add) {
        rank = (size_t)x->rank + named;
        for (size_t k = 0; rank <= ONNX_RANK && k < rank; k++)
            dims[k] =
                is_named(s, (int)k, (int)rank) || count >= (size_t)x->rank ? 1 : x->dims[count++];
    } else {
        for (int k = 0; k < x->rank; k++)
            if (!(named ? is_named(s, k, x->rank) : x->dims[k] == 1))
                dims[rank++] = x->dims[k];
    }
    if (!set_shape(out, dims, rank))
        return false;
    if (x->data && new_data(s, out, x->count))
        memcpy(out->data, x->data, x->count * sizeof(*x->data));
    return true;
}

static bool infer_gather(const struct onnx_step *s)
{
    const struct onnx_value *x = input_of(s, 0), *at = input_of(s, 1);
    struct onnx_value *out = output_of(s, 0);
    double axis = int_attribute(s, "axis", 0), dims[2 * ONNX_RANK];
    size_t rank = 0;

    if (!x || !at || x->rank < 1 || at->rank < 0)
        return false;
    axis = axis < 0 ? axis + x->rank : axis;
    for (int k = 0; k < x->rank; k++) {
        if (k != (int)axis) {
            dims[rank++] = x->dims[k];
            continue;
        }
        for (int i = 0; i < at->rank; i++)
            dims[rank++] = at->dims[i];
    }
    if (!set_shape(out, dims, rank))
        return false;
    if (x->rank != 1 || !x->data || !at->data || !new_data(s, out, at->count))
        return true;
    for (size_t i = 0; i < at->count; i++) {
        double index = at->data[i] < 0 ? at->data[i] + (double)x->count : at->data[i];
        out->data[i] = index >= 0 && index < (double)x->count ? x->data[(size_t)index] : NAN;
    }
    return true;
}

static bool infer_shape(const struct onnx_step *s)
{
    const struct onnx_value *x = input_of(s, 0);
    struct onnx_value *out = output_of(s, 0);

    if (!x || x->rank < 0)
        return false;
    double start = int_attribute(s, "start", 0), end = int_attribute(s, "end", x->rank);
    start = start < 0 ? start + x->rank : start;
    end = end < 0 ? end + x->rank : fmin(end, x->rank);
    const double count = fmax(0, end - start);
    if (!(start >= 0) || !set_shape(out, &count, 1) || !new_data(s, out, (size_t)count))
        return false;
    memcpy(out->data, x->dims + (int)start, (size_t)count * sizeof(double));
    out->type = ONNX_INT64;
    return true;
}

/* ---- constants --------------------------------------------------------------------------------
 */

static bool infer_constant(const struct onnx_step *s)
{
    struct onnx_value *out = output_of(s, 0), *from = value_at(s, s->node->tensor);
    double i = int_attribute(s, "value_int", NAN);
    const struct onnx_attribute *list = hm__onnx_attribute(s->node, "value_ints");

    if (from && out) {
        if (from->rank < 0 || !set_shape(out, from->dims, (size_t)from->rank))
            return false;
        out->type = from->type;
        out->data = from->data;
        out->count = from->count;
        return true;
    }
    size_t count = list ? list->int_count : 1;
    const double dims = (double)count;
    if ((isnan(i) && !list) || !set_shape(out, &dims, list ? 1 : 0) || !new_data(s, out, count))
        return out && set_shape(out, &dims, 0);
    if (list)
        memcpy(out->data, list->ints, count * sizeof(double));
    else
        out->data[0] = i;
    return true;
}

static bool infer_filled(const struct onnx_step *s)
{
    const struct onnx_value *shape = input_of(s, 0), *value = value_at(s, s->node->tensor);
    struct onnx_value *out = output_of(s, 0);

    if (!shape || !shape->data || !set_shape(out, shape->data, shape->count))
        return false;
    out->type = value ? value->type : ONNX_FLOAT;
    out->filled = shape->initializer && out->type == ONNX_FLOAT && out->rank > 0;
    double count = hm__onnx_elements(out);
    if (count <= ONNX_DATA && out->type != ONNX_FLOAT && new_data(s, out, (size_t)count))
        for (size_t i = 0; i < out->count; i++)
            out->data[i] = value && value->data ? value->data[0] : 0;
    return true;
}

static bool infer_range(const struct onnx_step *s)
{
    const struct onnx_value *a = input_of(s, 0), *b = input_of(s, 1), *c = input_of(s, 2);

    if (!a || !b || !c || !a->data || !b->data || !c->data || c->data[0] == 0)
        return false;
    const double count = fmax(0, ceil((b->data[0] - a->data[0]) / c->data[0]));
    return set_shape(output_of(s, 0), &count, 1);
}

static bool infer_expand(const struct onnx_step *s)
{
    const struct onnx_value *x = input_of(s, 0), *shape = input_of(s, 1);
    double dims[ONNX_RANK];

    if (!x || !shape || x->rank < 0 || !shape->data || shape->count > ONNX_RANK ||
        (size_t)x->rank > shape->count)
        return false;
    for (size_t k = 0; k < shape->count; k++) {
        int at = (int)k - ((int)shape->count - x->rank);
        dims[k] = at >= 0 && x->dims[at] != 1 ? x->dims[at] : shape->data[k];
    }
    return set_shape(output_of(s, 0), dims, shape->count);
}

/* ---- the rest ---------------------------------------------------------------------------------
 */

static bool infer_split(const struct onnx_step *s)
{
    const struct onnx_value *x = input_of(s, 0);
    double axis = int_attribute(s, "axis", 0), dims[ONNX_RANK];

    if (!x || x->rank < 1)
        return false;
    axis = axis < 0 ? axis + x->rank : axis;
    if (!(axis >= 0 && axis < x->rank))
        return false;
    memcpy(dims, x->dims, sizeof(dims));
    for (size_t i = 0; i < s->node->output_count; i++) {
        double size = axis_item(s, 1, "split", i);
        dims[(int)axis] = isnan(size) ? x->dims[(int)axis] / (double)s->node->output_count : size;
        if (!set_shape(output_of(s, i), dims, (size_t)x->rank))
            return false;
    }
    return true;
}

static bool infer_pad(const struct onnx_step *s)
{
    const struct onnx_value *x = input_of(s, 0);
    double dims[ONNX_RANK];

    if (!x || x->rank < 0)
        return false;
    for (int k = 0; k < x->rank; k++) {
        double low = axis_item(s, 1, "pads", (size_t)k);
        double high = axis_item(s, 1, "pads", (size_t)(k + x->rank));
        dims[k] = x->dims[k] + low + high;
    }
    return set_shape(output_of(s, 0), dims, (size_t)x->rank);
}

static bool infer_reduce(const struct onnx_step *s)
{
    const struct onnx_value *x = input_of(s, 0);
    bool keep = int_attribute(s, "keepdims", 1) != 0, all = isnan(axis_item(s, 1, "axes", 0));
    double dims[ONNX_RANK];
    size_t rank = 0;

    if (!x || x->rank < 0)
        return false;
    for (int k = 0; k < x->rank; k++) {
        bool reduced = all || is_named(s, k, x->rank);
        if (!reduced || keep)
            dims[rank++] = reduced ? 1 : x->dims[k];
    }
    return set_shape(output_of(s, 0), dims, rank);
}

/*
 * Sets the shapes of the outputs of a recurrent node (RNN, GRU, LSTM) from the length of the
 * sequence, the number of directions, the batch and the hidden size.
 */
static bool infer_recurrent(const struct onnx_step *s)
{
    const struct onnx_value *x = input_of(s, 0), *w = input_of(s, 1);
    double hidden = int_attribute(s, "hidden_size", NAN);

    if (!x || !w || x->rank != 3 || w->rank != 3 || isnan(hidden))
        return false;
    const double y[] = {x->dims[0], w->dims[0], x->dims[1], hidden};
    const double h[] = {w->dims[0], x->dims[1], hidden};
    if (output_of(s, 0) && !set_shape(output_of(s, 0), y, 4))
        return false;
    for (size_t i = 1; i < s->node->output_count; i++)
        if (output_of(s, i) && !set_shape(output_of(s, i), h, 3))
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
        {"Flatten", infer_flatten},
        {"Reshape", infer_reshape},
        {"Transpose", infer_transpose},
        {"Concat", infer_concat},
        {"Slice", infer_slice},
        {"Gather", infer_gather},
        {"Shape", infer_shape},
        {"Constant", infer_constant},
        {"ConstantOfShape", infer_filled},
        {"Range", infer_range},
        {"Expand", infer_expand},
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
        return same_as(s, 0);
    if (strcmp(op, "Conv") == 0 || strcmp(op, "ConvTranspose") == 0)
        return infer_conv(s, op[4] != '\0');
    if (strcmp(op, "Squeeze") == 0 || strcmp(op, "Unsqueeze") == 0)
        return infer_squeeze(s, op[0] == 'U');
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

bool hm__onnx_infer(struct onnx *o)
{
    bool in_order = true, progress = true;

    /*
     * Nodes may be in any order, so several passes may be needed. The passes end when a pass
     * changes nothing, for example because the remaining nodes form a cycle.
     */
    for (int pass = 0; pass < 100 && progress; pass++) {
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
            node->inferred = infer_node(&(struct onnx_step){o, node}) || has_stated(o, node);
            for (size_t k = 0; k < node->output_count; k++)
                if (node->outputs[k] != SIZE_MAX)
                    o->values[node->outputs[k]].made = true;
        }
    }
    return in_order;
}
