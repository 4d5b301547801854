/*
 * Writes single layers of an ONNX model as YAML, and counts the parameters of the weights that
 * layers use. A view layer gives the next layer the shape of one sample of a tensor.
 */
#include "onnx_emit.h"

#include <math.h>

const struct onnx_value *hm__onnx_value(const struct onnx_lister *l, const struct onnx_node *node,
                                        size_t i)
{
    size_t value = hm__onnx_input(node, i);

    return value == SIZE_MAX ? NULL : &l->o->values[value];
}

double hm__onnx_item(const struct onnx_node *node, const char *name, size_t i, double fallback)
{
    const struct onnx_attribute *a = hm__onnx_attribute(node, name);

    return a && i < a->int_count ? a->ints[i] : fallback;
}

bool hm__onnx_sample_shape(const struct onnx_lister *l, size_t value, struct hm_shape *ret)
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

void hm__onnx_write_shape(struct hm_text *text, const struct hm_shape *s)
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

void hm__onnx_view(struct onnx_lister *l, const struct hm_shape *s)
{
    const struct hm_shape *now = &l->now;

    if (now->kind == s->kind && now->height == s->height && now->width == s->width &&
        now->channels == s->channels)
        return;
    hm__text_add(&l->text, "    - view: ");
    hm__onnx_write_shape(&l->text, s);
    hm__text_add(&l->text, "\n");
    l->now = *s;
}

bool hm__onnx_view_of(struct onnx_lister *l, const struct onnx_node *node, size_t value)
{
    struct hm_shape s;

    if (!hm__onnx_sample_shape(l, value, &s)) {
        l->refused = node->op;
        return false;
    }
    hm__onnx_view(l, &s);
    return true;
}

void hm__onnx_set_output(struct onnx_lister *l, const struct onnx_node *node)
{
    struct hm_shape s;

    if (hm__onnx_sample_shape(l, node->outputs[0], &s))
        l->now = s;
}

bool hm__onnx_count_weight(struct onnx_lister *l, size_t value)
{
    size_t weight = hm__onnx_weight(l, value);

    if (weight == SIZE_MAX || l->counted[weight])
        return false;
    l->counted[weight] = true;
    l->parameters += hm__onnx_elements(&l->o->values[weight]);
    return true;
}

void hm__onnx_word(struct onnx_lister *l, const struct onnx_node *node, const char *word)
{
    if (hm__onnx_view_of(l, node, node->outputs[0]))
        hm__text_addf(&l->text, "    - %s\n", word);
}
