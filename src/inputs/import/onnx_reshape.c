/*
 * Infers the shapes of ONNX operators that rearrange a tensor or create a constant. Graphs use them
 * to compute shapes, so they are also evaluated if their values have at most 64 elements.
 */
#include "onnx_step.h"

#include <math.h>
#include <string.h>

bool hm__onnx_infer_flatten(const struct onnx_step *s)
{
    const struct onnx_value *x = hm__onnx_step_input(s, 0);
    double axis = hm__onnx_step_int(s, "axis", 1), dims[2] = {1, 1};

    if (!x || x->rank < 0)
        return false;
    axis = axis < 0 ? axis + x->rank : axis;
    for (int k = 0; k < x->rank; k++)
        dims[k < axis ? 0 : 1] *= x->dims[k];
    return hm__onnx_set_shape(hm__onnx_step_output(s, 0), dims, 2);
}

bool hm__onnx_infer_reshape(const struct onnx_step *s)
{
    const struct onnx_value *x = hm__onnx_step_input(s, 0), *shape = hm__onnx_step_input(s, 1);
    struct onnx_value *out = hm__onnx_step_output(s, 0);
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
    if (!hm__onnx_set_shape(out, dims, shape->count))
        return false;
    if (x->data && hm__onnx_new_data(s, out, x->count))
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
    const struct onnx_value *x = hm__onnx_step_input(s, 0);
    struct onnx_value *out = hm__onnx_step_output(s, 0);
    double count = hm__onnx_elements(out);

    /* A size between 0 and 1 comes from a shape that does not fit the elements. */
    for (int k = 0; k < out->rank; k++)
        if (out->dims[k] > 0 && out->dims[k] < 1)
            return;
    if (!x->data || !(count <= ONNX_DATA) || !hm__onnx_new_data(s, out, (size_t)count))
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

bool hm__onnx_infer_transpose(const struct onnx_step *s)
{
    const struct onnx_value *x = hm__onnx_step_input(s, 0);
    const struct onnx_attribute *perm = hm__onnx_attribute(s->node, "perm");
    double dims[ONNX_RANK], steps[ONNX_RANK];

    if (!x || x->rank < 0)
        return false;
    for (int k = 0; k < x->rank; k++) {
        double from = hm__onnx_list_item(perm, (size_t)k, x->rank - 1 - k);
        if (!(from >= 0 && from < x->rank))
            return false;
        dims[k] = x->dims[(int)from];
        steps[k] = element_step(x, (int)from);
    }
    if (!hm__onnx_set_shape(hm__onnx_step_output(s, 0), dims, (size_t)x->rank))
        return false;
    copy_elements(s, 0, steps);
    return true;
}

bool hm__onnx_infer_concat(const struct onnx_step *s)
{
    const struct onnx_value *first = hm__onnx_step_input(s, 0);
    struct onnx_value *out = hm__onnx_step_output(s, 0);
    double axis = hm__onnx_step_int(s, "axis", 0), dims[ONNX_RANK], total = 0;
    size_t count = 0;
    bool known = true;

    if (!first || first->rank < 1)
        return false;
    axis = axis < 0 ? axis + first->rank : axis;
    if (!(axis >= 0 && axis < first->rank))
        return false;
    for (size_t i = 0; i < s->node->input_count; i++) {
        const struct onnx_value *in = hm__onnx_step_input(s, i);
        if (!in || in->rank != first->rank)
            return false;
        total += in->dims[(int)axis];
        known = known && in->data && in->rank == 1;
        count += in->count;
    }
    memcpy(dims, first->dims, sizeof(dims));
    dims[(int)axis] = total;
    if (!hm__onnx_set_shape(out, dims, (size_t)first->rank))
        return false;
    if (!known || !hm__onnx_new_data(s, out, count))
        return true;
    count = 0;
    for (size_t i = 0; i < s->node->input_count; i++) {
        const struct onnx_value *in = hm__onnx_step_input(s, i);
        memcpy(out->data + count, in->data, in->count * sizeof(*in->data));
        count += in->count;
    }
    return true;
}

bool hm__onnx_infer_slice(const struct onnx_step *s)
{
    const struct onnx_value *x = hm__onnx_step_input(s, 0);
    double dims[ONNX_RANK], steps[ONNX_RANK], from = 0;

    if (!x || x->rank < 0 || isnan(hm__onnx_axis_item(s, 1, "starts", 0)))
        return false;
    memcpy(dims, x->dims, sizeof(dims));
    for (int k = 0; k < x->rank; k++)
        steps[k] = element_step(x, k);
    for (size_t i = 0; !isnan(hm__onnx_axis_item(s, 1, "starts", i)); i++) {
        double axis = hm__onnx_axis_item(s, 3, "axes", i);
        axis = isnan(axis) ? (double)i : axis < 0 ? axis + x->rank : axis;
        if (!(axis >= 0 && axis < x->rank))
            return false;
        int k = (int)axis;
        double size = x->dims[k], start = hm__onnx_axis_item(s, 1, "starts", i);
        double end = hm__onnx_axis_item(s, 2, "ends", i), by = hm__onnx_axis_item(s, 4, "steps", i);
        by = isnan(by) ? 1 : by;
        if (isnan(end) || by == 0)
            return false;
        start = fmin(fmax(start < 0 ? start + size : start, 0), by < 0 ? size - 1 : size);
        end = fmin(fmax(end < 0 ? end + size : end, by < 0 ? -1 : 0), size);
        dims[k] = fmax(0, ceil((end - start) / by));
        from += start * element_step(x, k);
        steps[k] = by * element_step(x, k);
    }
    if (!hm__onnx_set_shape(hm__onnx_step_output(s, 0), dims, (size_t)x->rank))
        return false;
    copy_elements(s, from, steps);
    return true;
}

bool hm__onnx_infer_squeeze(const struct onnx_step *s, bool add)
{
    const struct onnx_value *x = hm__onnx_step_input(s, 0);
    struct onnx_value *out = hm__onnx_step_output(s, 0);
    double dims[ONNX_RANK];
    size_t count = 0, rank = 0, named = 0;

    if (!x || x->rank < 0)
        return false;
    while (named < ONNX_RANK && !isnan(hm__onnx_axis_item(s, 1, "axes", named)))
        named++;
    if (add) {
        rank = (size_t)x->rank + named;
        for (size_t k = 0; rank <= ONNX_RANK && k < rank; k++)
            dims[k] = hm__onnx_is_named(s, (int)k, (int)rank) || count >= (size_t)x->rank
                          ? 1
                          : x->dims[count++];
    } else {
        for (int k = 0; k < x->rank; k++)
            if (!(named ? hm__onnx_is_named(s, k, x->rank) : x->dims[k] == 1))
                dims[rank++] = x->dims[k];
    }
    if (!hm__onnx_set_shape(out, dims, rank))
        return false;
    if (x->data && hm__onnx_new_data(s, out, x->count))
        memcpy(out->data, x->data, x->count * sizeof(*x->data));
    return true;
}

bool hm__onnx_infer_gather(const struct onnx_step *s)
{
    const struct onnx_value *x = hm__onnx_step_input(s, 0), *at = hm__onnx_step_input(s, 1);
    struct onnx_value *out = hm__onnx_step_output(s, 0);
    double axis = hm__onnx_step_int(s, "axis", 0), dims[2 * ONNX_RANK];
    size_t rank = 0;

    if (!x || !at || x->rank < 1 || at->rank < 0)
        return false;
    axis = axis < 0 ? axis + x->rank : axis;
    if (!(axis >= 0 && axis < x->rank))
        return false;
    for (int k = 0; k < x->rank; k++) {
        if (k != (int)axis) {
            dims[rank++] = x->dims[k];
            continue;
        }
        for (int i = 0; i < at->rank; i++)
            dims[rank++] = at->dims[i];
    }
    if (!hm__onnx_set_shape(out, dims, rank))
        return false;
    if (x->rank != 1 || !x->data || !at->data || !hm__onnx_new_data(s, out, at->count))
        return true;
    for (size_t i = 0; i < at->count; i++) {
        double index = at->data[i] < 0 ? at->data[i] + (double)x->count : at->data[i];
        out->data[i] = index >= 0 && index < (double)x->count ? x->data[(size_t)index] : NAN;
    }
    return true;
}

bool hm__onnx_infer_shape(const struct onnx_step *s)
{
    const struct onnx_value *x = hm__onnx_step_input(s, 0);
    struct onnx_value *out = hm__onnx_step_output(s, 0);

    if (!x || x->rank < 0)
        return false;
    double start = hm__onnx_step_int(s, "start", 0), end = hm__onnx_step_int(s, "end", x->rank);
    start = fmin(start < 0 ? start + x->rank : start, x->rank);
    end = end < 0 ? end + x->rank : fmin(end, x->rank);
    const double count = fmax(0, end - start);
    if (!(start >= 0) || !hm__onnx_set_shape(out, &count, 1) ||
        !hm__onnx_new_data(s, out, (size_t)count))
        return false;
    memcpy(out->data, x->dims + (int)start, (size_t)count * sizeof(double));
    out->type = ONNX_INT64;
    return true;
}

bool hm__onnx_infer_constant(const struct onnx_step *s)
{
    struct onnx_value *out = hm__onnx_step_output(s, 0),
                      *from = hm__onnx_value_at(s, s->node->tensor);
    double i = hm__onnx_step_int(s, "value_int", NAN);
    const struct onnx_attribute *list = hm__onnx_attribute(s->node, "value_ints");

    if (from && out) {
        if (from->rank < 0 || !hm__onnx_set_shape(out, from->dims, (size_t)from->rank))
            return false;
        out->type = from->type;
        out->data = from->data;
        out->count = from->count;
        return true;
    }
    size_t count = list ? list->int_count : 1;
    const double dims = (double)count;
    if ((isnan(i) && !list) || !hm__onnx_set_shape(out, &dims, list ? 1 : 0) ||
        !hm__onnx_new_data(s, out, count))
        return out && hm__onnx_set_shape(out, &dims, 0);
    if (list)
        memcpy(out->data, list->ints, count * sizeof(double));
    else
        out->data[0] = i;
    return true;
}

bool hm__onnx_infer_filled(const struct onnx_step *s)
{
    const struct onnx_value *shape = hm__onnx_step_input(s, 0),
                            *value = hm__onnx_value_at(s, s->node->tensor);
    struct onnx_value *out = hm__onnx_step_output(s, 0);

    if (!shape || !shape->data || !hm__onnx_set_shape(out, shape->data, shape->count))
        return false;
    out->type = value ? value->type : ONNX_FLOAT;
    out->filled = shape->initializer && out->type == ONNX_FLOAT && out->rank > 0;
    double count = hm__onnx_elements(out);
    if (count <= ONNX_DATA && out->type != ONNX_FLOAT && hm__onnx_new_data(s, out, (size_t)count))
        for (size_t i = 0; i < out->count; i++)
            out->data[i] = value && value->data ? value->data[0] : 0;
    return true;
}

bool hm__onnx_infer_range(const struct onnx_step *s)
{
    const struct onnx_value *a = hm__onnx_step_input(s, 0), *b = hm__onnx_step_input(s, 1),
                            *c = hm__onnx_step_input(s, 2);

    if (!a || !b || !c || !a->data || !b->data || !c->data || c->data[0] == 0)
        return false;
    const double count = fmax(0, ceil((b->data[0] - a->data[0]) / c->data[0]));
    return hm__onnx_set_shape(hm__onnx_step_output(s, 0), &count, 1);
}

bool hm__onnx_infer_expand(const struct onnx_step *s)
{
    const struct onnx_value *x = hm__onnx_step_input(s, 0), *shape = hm__onnx_step_input(s, 1);
    double dims[ONNX_RANK];

    if (!x || !shape || x->rank < 0 || !shape->data || shape->count > ONNX_RANK ||
        (size_t)x->rank > shape->count)
        return false;
    for (size_t k = 0; k < shape->count; k++) {
        int at = (int)k - ((int)shape->count - x->rank);
        dims[k] = at >= 0 && x->dims[at] != 1 ? x->dims[at] : shape->data[k];
    }
    return hm__onnx_set_shape(hm__onnx_step_output(s, 0), dims, shape->count);
}
