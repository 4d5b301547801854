/* Reads the settings and shapes of Keras layers, and adds up their parameters and multiply-adds. */
#include "keras_parts.h"

#include <math.h>
#include <string.h>

struct keras_shape hm__keras_no_shape(void)
{
    struct keras_shape shape = {.rank = -1};

    for (int i = 0; i < KERAS_RANK; i++)
        shape.dims[i] = NAN;
    return shape;
}

/* Largest number of characters of a number. A longer one would be read again for each use. */
enum { NUMBER_LONGEST = 64 };

double hm__keras_number(const struct hm_value *value)
{
    const char *text = hm__value_text(value);
    bool fits = text && strnlen(text, NUMBER_LONGEST + 1) <= NUMBER_LONGEST;
    double number;
    size_t used = fits ? hm__signed_read(text, &number) : 0;

    return used > 0 && text[used] == '\0' && fabs(number) < 1e15 ? number : NAN;
}

struct keras_shape hm__keras_read_shape(const struct hm_value *list)
{
    struct keras_shape shape = hm__keras_no_shape();

    if (!list || list->kind != HM_VALUE_LIST || list->count == 0 || list->count > KERAS_RANK + 1)
        return shape;
    shape.rank = (int)list->count - 1;
    for (int i = 0; i < shape.rank; i++)
        shape.dims[i] = hm__keras_number(&list->items[i + 1]);
    return shape;
}

double hm__keras_setting(const struct keras_use *u, const char *key, double fallback)
{
    double number = hm__keras_number(hm__value_get(u->config, key));

    return isnan(number) ? fallback : number;
}

bool hm__keras_flag(const struct keras_use *u, const char *key, bool fallback)
{
    const char *text = hm__value_text(hm__value_get(u->config, key));

    return text ? strcmp(text, "true") == 0 : fallback;
}

bool hm__keras_is_setting(const struct keras_use *u, const char *key, const char *wanted)
{
    const char *text = hm__value_text(hm__value_get(u->config, key));

    return text && strcmp(text, wanted) == 0;
}

double hm__keras_element(const struct keras_use *u, const char *key, int i, double fallback)
{
    const struct hm_value *value = hm__value_get(u->config, key);
    double number = value && value->kind == HM_VALUE_LIST
                        ? ((size_t)i < value->count ? hm__keras_number(&value->items[i]) : NAN)
                        : hm__keras_number(value);

    return isnan(number) ? fallback : number;
}

void hm__keras_add_weights(struct keras_use *u, double count)
{
    if (!u->first)
        return;
    if (hm__keras_flag(u, "trainable", true))
        u->model->trainable += count;
    else
        u->model->frozen += count;
}

void hm__keras_add_frozen(struct keras_use *u, double count)
{
    u->model->frozen += u->first ? count : 0;
}

void hm__keras_add_macs(struct keras_use *u, double macs)
{
    if (isnan(macs))
        u->model->unknown_products++;
    else
        u->model->macs += macs;
}

double hm__keras_shape_product(const struct keras_shape *s, int from, int to)
{
    double result = 1;

    for (int i = from; i < to; i++)
        result *= s->dims[i];
    return s->rank < 0 ? NAN : result;
}

double hm__keras_last_dim(const struct keras_shape *s)
{
    return s->rank > 0 ? s->dims[s->rank - 1] : NAN;
}

bool hm__keras_channels_first(const struct keras_use *u)
{
    return hm__keras_is_setting(u, "data_format", "channels_first");
}
