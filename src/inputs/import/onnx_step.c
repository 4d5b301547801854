/* Reads inputs and attributes of an ONNX node, and stores the shapes and values of its outputs. */
#include "onnx_step.h"

#include <math.h>
#include <string.h>

struct onnx_value *hm__onnx_value_at(const struct onnx_step *s, size_t index)
{
    return index == SIZE_MAX ? NULL : &s->o->values[index];
}

struct onnx_value *hm__onnx_step_input(const struct onnx_step *s, size_t i)
{
    return i < s->node->input_count ? hm__onnx_value_at(s, s->node->inputs[i]) : NULL;
}

struct onnx_value *hm__onnx_step_output(const struct onnx_step *s, size_t i)
{
    return i < s->node->output_count ? hm__onnx_value_at(s, s->node->outputs[i]) : NULL;
}

double hm__onnx_step_int(const struct onnx_step *s, const char *name, double fallback)
{
    const struct onnx_attribute *a = hm__onnx_attribute(s->node, name);

    return a && !isnan(a->i) ? a->i : fallback;
}

double hm__onnx_list_item(const struct onnx_attribute *a, size_t i, double fallback)
{
    return a && i < a->int_count ? a->ints[i] : fallback;
}

bool hm__onnx_set_shape(struct onnx_value *v, const double *dims, size_t rank)
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

double *hm__onnx_new_data(const struct onnx_step *s, struct onnx_value *v, size_t count)
{
    if (count > ONNX_DATA || !v)
        return NULL;
    v->data = hm__arena_alloc(s->o->im->arena, count + 1, sizeof(*v->data));
    v->count = v->data ? count : 0;
    return v->data;
}

bool hm__onnx_same_as(const struct onnx_step *s, size_t i)
{
    const struct onnx_value *in = hm__onnx_step_input(s, i);
    struct onnx_value *out = hm__onnx_step_output(s, 0);

    if (!in || in->rank < 0 || !out || !hm__onnx_set_shape(out, in->dims, (size_t)in->rank))
        return false;
    out->type = in->type;
    if (in->data && hm__onnx_new_data(s, out, in->count))
        memcpy(out->data, in->data, in->count * sizeof(*in->data));
    return true;
}

double hm__onnx_axis_item(const struct onnx_step *s, size_t input, const char *name, size_t i)
{
    const struct onnx_value *in = hm__onnx_step_input(s, input);

    if (in)
        return in->data && i < in->count ? in->data[i] : NAN;
    return hm__onnx_list_item(hm__onnx_attribute(s->node, name), i, NAN);
}

bool hm__onnx_is_named(const struct onnx_step *s, int axis, int rank)
{
    for (size_t i = 0; i < ONNX_RANK; i++) {
        double item = hm__onnx_axis_item(s, 1, "axes", i);
        if ((item < 0 ? item + rank : item) == axis) /* False for NaN. */
            return true;
    }
    return false;
}
