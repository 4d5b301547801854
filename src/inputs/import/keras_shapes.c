/* Computes the output shapes of Keras layers that have neither parameters nor multiply-adds. */
#include "keras_parts.h"

#include <math.h>

struct keras_shape hm__keras_same(struct keras_use *u)
{
    return u->in[0];
}

struct keras_shape hm__keras_flatten(struct keras_use *u)
{
    struct keras_shape out = hm__keras_no_shape();

    out.rank = 1;
    out.dims[0] = hm__keras_shape_product(&u->in[0], 0, u->in[0].rank);
    return out;
}

struct keras_shape hm__keras_reshape(struct keras_use *u)
{
    const struct hm_value *target = hm__value_get(u->config, "target_shape");
    struct keras_shape out = hm__keras_no_shape();
    double known = 1, total = hm__keras_shape_product(&u->in[0], 0, u->in[0].rank);

    if (!target || target->kind != HM_VALUE_LIST || target->count > KERAS_RANK)
        return out;
    out.rank = (int)target->count;
    for (int i = 0; i < out.rank; i++) {
        out.dims[i] = hm__keras_number(&target->items[i]);
        known *= out.dims[i] > 0 ? out.dims[i] : 1;
    }
    for (int i = 0; i < out.rank; i++)
        if (!(out.dims[i] > 0))
            out.dims[i] = total / known;
    return out;
}

struct keras_shape hm__keras_permute(struct keras_use *u)
{
    struct keras_shape out = u->in[0];

    for (int i = 0; i < out.rank; i++) {
        double from = hm__keras_element(u, "dims", i, NAN);
        out.dims[i] = from >= 1 && from <= out.rank ? u->in[0].dims[(int)from - 1] : NAN;
    }
    return out;
}

struct keras_shape hm__keras_repeat(struct keras_use *u)
{
    struct keras_shape out = hm__keras_no_shape();

    out.rank = 2;
    out.dims[0] = hm__keras_setting(u, "n", NAN);
    out.dims[1] = hm__keras_last_dim(&u->in[0]);
    return out;
}

/*
 * Returns the sum of the padding before and after dimension `i`, from a setting such as [[3, 3],
 * [2, 2]], [1, 1] or 1.
 */
static double both_sides(const struct keras_use *u, const char *key, int i, int spatial)
{
    const struct hm_value *value = hm__value_get(u->config, key);

    if (!value || value->kind != HM_VALUE_LIST)
        return 2 * hm__keras_element(u, key, i, 1);
    if ((size_t)i < value->count && value->items[i].kind == HM_VALUE_LIST)
        return value->items[i].count == 2 ? hm__keras_number(&value->items[i].items[0]) +
                                                hm__keras_number(&value->items[i].items[1])
                                          : NAN;
    if (spatial == 1 && value->count == 2)
        return hm__keras_number(&value->items[0]) + hm__keras_number(&value->items[1]);
    return 2 * hm__keras_element(u, key, i, NAN);
}

struct keras_shape hm__keras_pad(struct keras_use *u)
{
    struct keras_shape out = u->in[0];
    bool crop = hm__value_get(u->config, "cropping") != NULL;

    for (int i = 0; i + 1 < out.rank; i++)
        out.dims[i + (hm__keras_channels_first(u) ? 1 : 0)] +=
            (crop ? -1 : 1) * both_sides(u, crop ? "cropping" : "padding", i, out.rank - 1);
    return out;
}

struct keras_shape hm__keras_upsample(struct keras_use *u)
{
    struct keras_shape out = u->in[0];

    for (int i = 0; i + 1 < out.rank; i++)
        out.dims[i + (hm__keras_channels_first(u) ? 1 : 0)] *= hm__keras_element(u, "size", i, 2);
    return out;
}

struct keras_shape hm__keras_resize(struct keras_use *u)
{
    struct keras_shape out = u->in[0];
    int first = hm__keras_channels_first(u) ? 1 : 0;

    if (out.rank == 3) {
        out.dims[first] = hm__keras_setting(u, "height", NAN);
        out.dims[first + 1] = hm__keras_setting(u, "width", NAN);
    }
    return out;
}

/*
 * Infers the shape of tensors that are merged element by element, for example added; a dimension of
 * size 1 is broadcast.
 */
struct keras_shape hm__keras_merge(struct keras_use *u)
{
    struct keras_shape out = u->in[0];

    for (size_t i = 1; i < u->in_count; i++) {
        if (u->in[i].rank != out.rank)
            return hm__keras_no_shape();
        for (int k = 0; k < out.rank; k++)
            out.dims[k] = fmax(out.dims[k], u->in[i].dims[k]);
    }
    return out;
}

struct keras_shape hm__keras_concatenate(struct keras_use *u)
{
    struct keras_shape out = u->in[0];
    double axis = hm__keras_setting(u, "axis", -1);
    int k = axis < 0 ? out.rank + (int)fmax(axis, -100) : (int)fmin(axis, 100) - 1;

    if (out.rank < 0 || k < 0 || k >= out.rank)
        return hm__keras_no_shape();
    for (size_t i = 1; i < u->in_count; i++)
        out.dims[k] += u->in[i].rank == out.rank ? u->in[i].dims[k] : NAN;
    return out;
}

/* Handles a layer that has no parameters, but whose output shape cannot be inferred. */
struct keras_shape hm__keras_opaque(struct keras_use *u)
{
    (void)u;
    return hm__keras_no_shape();
}
