/* Computes the parameters, multiply-adds and output shapes of Keras layers; see keras.h. */
#include <math.h>
#include <string.h>

#include "keras.h"
#include "whole.h"

/* ---- shapes and settings ----------------------------------------------------------------------
 */

struct keras_shape hm__keras_no_shape(void)
{
    struct keras_shape shape = {.rank = -1};

    for (int i = 0; i < KERAS_RANK; i++)
        shape.dims[i] = NAN;
    return shape;
}

static double number_of(const struct hm_value *value)
{
    const char *text = hm__value_text(value);
    double number;
    size_t used = text ? hm__signed_read(text, &number) : 0;

    return used > 0 && text[used] == '\0' && fabs(number) < 1e15 ? number : NAN;
}

struct keras_shape hm__keras_read_shape(const struct hm_value *list)
{
    struct keras_shape shape = hm__keras_no_shape();

    if (!list || list->kind != HM_VALUE_LIST || list->count == 0 || list->count > KERAS_RANK + 1)
        return shape;
    shape.rank = (int)list->count - 1;
    for (int i = 0; i < shape.rank; i++)
        shape.dims[i] = number_of(&list->items[i + 1]);
    return shape;
}

static double read_setting(const struct keras_use *u, const char *key, double fallback)
{
    double number = number_of(hm__value_get(u->config, key));

    return isnan(number) ? fallback : number;
}

static bool read_flag(const struct keras_use *u, const char *key, bool fallback)
{
    const char *text = hm__value_text(hm__value_get(u->config, key));

    return text ? strcmp(text, "true") == 0 : fallback;
}

static bool is_text(const struct keras_use *u, const char *key, const char *wanted)
{
    const char *text = hm__value_text(hm__value_get(u->config, key));

    return text && strcmp(text, wanted) == 0;
}

/*
 * Returns element `i` of a setting that is a list, or the setting itself if it is one number for
 * all dimensions.
 */
static double read_element(const struct keras_use *u, const char *key, int i, double fallback)
{
    const struct hm_value *value = hm__value_get(u->config, key);
    double number = value && value->kind == HM_VALUE_LIST
                        ? ((size_t)i < value->count ? number_of(&value->items[i]) : NAN)
                        : number_of(value);

    return isnan(number) ? fallback : number;
}

/* Counts parameters of a layer as trainable or, if the layer is frozen, as frozen. */
static void add_weights(struct keras_use *u, double count)
{
    if (!u->first)
        return;
    if (read_flag(u, "trainable", true))
        u->model->trainable += count;
    else
        u->model->frozen += count;
}

static void add_frozen(struct keras_use *u, double count)
{
    u->model->frozen += u->first ? count : 0;
}

static void add_macs(struct keras_use *u, double macs)
{
    if (isnan(macs))
        u->model->unknown_products++;
    else
        u->model->macs += macs;
}

/*
 * Returns the product of the sizes of dimensions `from` to `to` - 1; NaN if one of them is unknown.
 */
static double shape_product(const struct keras_shape *s, int from, int to)
{
    double result = 1;

    for (int i = from; i < to; i++)
        result *= s->dims[i];
    return s->rank < 0 ? NAN : result;
}

static double last_dim(const struct keras_shape *s)
{
    return s->rank > 0 ? s->dims[s->rank - 1] : NAN;
}

/* Returns whether the channels are the first dimension (NCHW) instead of the last. */
static bool channels_first(const struct keras_use *u)
{
    return is_text(u, "data_format", "channels_first");
}

/* ---- matrix products --------------------------------------------------------------------------
 */

static struct keras_shape dense_layer(struct keras_use *u)
{
    struct keras_shape out = u->in[0];
    double in = last_dim(&out), units = read_setting(u, "units", NAN);

    add_weights(u, in * units + (read_flag(u, "use_bias", true) ? units : 0));
    add_macs(u, shape_product(&out, 0, out.rank) * units);
    if (out.rank > 0)
        out.dims[out.rank - 1] = units;
    return out;
}

static struct keras_shape embedding_layer(struct keras_use *u)
{
    struct keras_shape out = u->in[0];
    double width = read_setting(u, "output_dim", NAN);

    add_weights(u, read_setting(u, "input_dim", NAN) * width);
    if (out.rank >= 0 && out.rank < KERAS_RANK)
        out.dims[out.rank++] = width;
    return out;
}

static struct keras_shape attention_layer(struct keras_use *u)
{
    const struct keras_shape *query = &u->in[0], *value = &u->in[u->in_count > 1 ? 1 : 0];
    const struct keras_shape *key = &u->in[u->in_count > 2 ? 2 : u->in_count > 1 ? 1 : 0];
    double heads = read_setting(u, "num_heads", NAN),
           key_width = heads * read_setting(u, "key_dim", NAN);
    double value_width = heads * read_setting(u, "value_dim", key_width / heads);
    double bias = read_flag(u, "use_bias", true) ? 1 : 0, out = last_dim(query);
    double rows = shape_product(query, 0, query->rank - 1),
           others = shape_product(value, 0, value->rank - 1);

    double of_query = out * key_width, of_key = last_dim(key) * key_width,
           of_value = last_dim(value) * value_width, of_output = value_width * out;
    add_weights(u, of_query + of_key + of_value + of_output +
                       bias * (2 * key_width + value_width + out));
    add_macs(u, rows * (of_query + of_output) + others * (of_key + of_value) +
                    rows * others * (key_width + value_width));
    return *query;
}

/* ---- recurrent layers -------------------------------------------------------------------------
 */

/* Counts a recurrent layer with the given numbers of gates and bias vectors. */
static struct keras_shape recurrent_layer(struct keras_use *u, double gates, double biases)
{
    struct keras_shape out = u->in[0];
    double units = read_setting(u, "units", NAN), in = last_dim(&out);
    double steps = out.rank == 2 ? out.dims[0] : NAN, matrices = gates * units * (in + units);

    add_weights(u, matrices + (read_flag(u, "use_bias", true) ? biases * units : 0));
    add_macs(u, steps * matrices);
    if (out.rank == 2 && !read_flag(u, "return_sequences", false)) {
        out.rank = 1;
        out.dims[0] = units;
    } else if (out.rank == 2) {
        out.dims[1] = units;
    }
    return out;
}

static struct keras_shape lstm_layer(struct keras_use *u)
{
    return recurrent_layer(u, 4, 4);
}

static struct keras_shape gru_layer(struct keras_use *u)
{
    return recurrent_layer(u, 3, read_flag(u, "reset_after", true) ? 6 : 3);
}

/* In Keras 2, the recurrent layers for cuDNN have two biases for each gate. */
static struct keras_shape cudnn_lstm_layer(struct keras_use *u)
{
    return recurrent_layer(u, 4, 8);
}

static struct keras_shape cudnn_gru_layer(struct keras_use *u)
{
    return recurrent_layer(u, 3, 6);
}

static struct keras_shape simple_rnn_layer(struct keras_use *u)
{
    return recurrent_layer(u, 1, 1);
}

/* Counts the layer inside a wrapper such as Bidirectional `copies` times, for the given input. */
static struct keras_shape wrapped_layer(struct keras_use *u, const struct keras_shape *in,
                                        double copies)
{
    const struct hm_value *layer = hm__value_get(u->config, "layer");
    const char *name = hm__value_text(hm__value_get(layer, "class_name"));
    struct keras own = {.im = u->model->im};
    struct keras_use inner = {.model = &own,
                              .config = hm__value_get(layer, "config"),
                              .in = in,
                              .in_count = 1,
                              .first = u->first};
    struct keras_shape out = hm__keras_no_shape();

    if (!name || !inner.config || !hm__keras_layer(name, &inner, &out))
        hm__keras_unknown(u->model, name ? name : "a layer without a class");
    u->model->trainable += own.trainable * copies;
    u->model->frozen += own.frozen * copies;
    u->model->macs += own.macs * copies;
    u->model->unknown_products += own.unknown_products;
    return out;
}

static struct keras_shape bidirectional_layer(struct keras_use *u)
{
    struct keras_shape out = wrapped_layer(u, u->in, 2);
    const char *merge = hm__value_text(hm__value_get(u->config, "merge_mode"));

    if (out.rank > 0 && (!merge || strcmp(merge, "concat") == 0))
        out.dims[out.rank - 1] *= 2;
    return out;
}

/*
 * Counts a TimeDistributed layer, which applies another layer to each step of a sequence.
 * Multiply-adds are counted for each step, and parameters are counted once.
 */
static struct keras_shape time_distributed_layer(struct keras_use *u)
{
    struct keras_shape step = u->in[0], out;
    double steps = step.rank > 0 ? step.dims[0] : NAN;

    if (step.rank > 0) {
        memmove(step.dims, step.dims + 1, (size_t)(step.rank - 1) * sizeof(*step.dims));
        step.rank--;
    }
    double before = u->model->macs;
    out = wrapped_layer(u, &step, 1);
    double macs = u->model->macs - before;
    u->model->macs = before;
    if (macs > 0)
        add_macs(u, macs * steps);
    if (out.rank >= 0 && out.rank < KERAS_RANK) {
        memmove(out.dims + 1, out.dims, (size_t)out.rank * sizeof(*out.dims));
        out.dims[0] = steps;
        out.rank++;
    }
    return out;
}

/* ---- convolutions and pooling -----------------------------------------------------------------
 */

/*
 * Returns the number of positions that a window of size `kernel` has along a dimension of size
 * `in`.
 */
static double count_windows(const struct keras_use *u, double in, double kernel, double stride,
                            double dilation)
{
    if (is_text(u, "padding", "same") || is_text(u, "padding", "causal"))
        return ceil(in / stride);
    return floor((in - dilation * (kernel - 1) - 1) / stride) + 1;
}

/*
 * Sizes of a convolution or pooling: number of elements in the window, number of output positions,
 * and number of input channels.
 */
struct windowed {
    struct keras_shape out;
    double kernel, positions, channels;
    int channel; /* Index of the dimension that holds the channels. */
};

static struct windowed slide_window(const struct keras_use *u, const char *size, double fallback,
                                    const char *strides)
{
    struct windowed w = {.out = u->in[0], .kernel = 1, .positions = 1, .channels = NAN};
    int first = channels_first(u) ? 1 : 0, spatial = w.out.rank - 1;

    w.channel = first ? 0 : spatial;
    if (spatial < 1) {
        w.positions = NAN;
        w.out = hm__keras_no_shape();
        return w;
    }
    w.channels = w.out.dims[w.channel];
    for (int i = 0; i < spatial; i++) {
        double kernel = read_element(u, size, i, fallback);
        double stride = read_element(u, strides, i, strcmp(size, "pool_size") == 0 ? kernel : 1);
        double *dim = &w.out.dims[i + first];
        *dim = count_windows(u, *dim, kernel, stride, read_element(u, "dilation_rate", i, 1));
        w.kernel *= kernel;
        w.positions *= *dim;
    }
    return w;
}

static struct keras_shape conv_layer(struct keras_use *u)
{
    struct windowed w = slide_window(u, "kernel_size", NAN, "strides");
    double filters = read_setting(u, "filters", NAN);
    double matrix = w.kernel * w.channels / read_setting(u, "groups", 1) * filters;

    add_weights(u, matrix + (read_flag(u, "use_bias", true) ? filters : 0));
    add_macs(u, w.positions * matrix);
    if (w.out.rank > 0)
        w.out.dims[w.channel] = filters;
    return w.out;
}

static struct keras_shape depthwise_layer(struct keras_use *u)
{
    struct windowed w = slide_window(u, "kernel_size", NAN, "strides");
    double channels = w.channels * read_setting(u, "depth_multiplier", 1);

    add_weights(u, w.kernel * channels + (read_flag(u, "use_bias", true) ? channels : 0));
    add_macs(u, w.positions * w.kernel * channels);
    if (w.out.rank > 0)
        w.out.dims[w.channel] = channels;
    return w.out;
}

static struct keras_shape separable_layer(struct keras_use *u)
{
    struct windowed w = slide_window(u, "kernel_size", NAN, "strides");
    double middle = w.channels * read_setting(u, "depth_multiplier", 1);
    double filters = read_setting(u, "filters", NAN), matrix = w.kernel * middle + middle * filters;

    add_weights(u, matrix + (read_flag(u, "use_bias", true) ? filters : 0));
    add_macs(u, w.positions * matrix);
    if (w.out.rank > 0)
        w.out.dims[w.channel] = filters;
    return w.out;
}

static struct keras_shape conv_transpose_layer(struct keras_use *u)
{
    struct keras_shape out = u->in[0];
    int first = channels_first(u) ? 1 : 0, spatial = out.rank - 1;
    double filters = read_setting(u, "filters", NAN), kernel = 1, positions = 1;

    if (spatial < 1) {
        add_weights(u, NAN);
        add_macs(u, NAN);
        return hm__keras_no_shape();
    }
    double channels = out.dims[first ? 0 : spatial];
    for (int i = 0; i < spatial; i++) {
        double size = read_element(u, "kernel_size", i, NAN),
               stride = read_element(u, "strides", i, 1);
        double *dim = &out.dims[i + first];
        positions *= *dim;
        kernel *= size;
        *dim = *dim * stride + (is_text(u, "padding", "same") ? 0 : fmax(size - stride, 0));
    }
    add_weights(u, kernel * channels * filters + (read_flag(u, "use_bias", true) ? filters : 0));
    add_macs(u, positions * kernel * channels * filters);
    out.dims[first ? 0 : spatial] = filters;
    return out;
}

static struct keras_shape pool_layer(struct keras_use *u)
{
    return slide_window(u, "pool_size", 2, "strides").out;
}

static struct keras_shape global_pool_layer(struct keras_use *u)
{
    struct keras_shape out = u->in[0];
    int spatial = out.rank - 1;

    if (spatial < 1)
        return out;
    double channels = out.dims[channels_first(u) ? 0 : spatial];
    if (read_flag(u, "keepdims", false)) {
        for (int i = 0; i <= spatial; i++)
            out.dims[i] = 1;
        out.dims[channels_first(u) ? 0 : spatial] = channels;
        return out;
    }
    out.rank = 1;
    out.dims[0] = channels;
    return out;
}

/* ---- normalisation ----------------------------------------------------------------------------
 */

/*
 * Returns the product of the sizes of the dimensions that the setting `axis` lists; axis 0 is the
 * batch.
 */
static double axis_size(const struct keras_use *u, double fallback)
{
    const struct hm_value *axis = hm__value_get(u->config, "axis");
    size_t count = axis && axis->kind == HM_VALUE_LIST ? axis->count : 1;
    double size = 1;

    for (size_t i = 0; i < count; i++) {
        double at = read_element(u, "axis", (int)i, fallback);
        int k = at < 0 ? u->in[0].rank + (int)fmax(at, -100) : (int)fmin(at, 100) - 1;
        size *= u->in[0].rank >= 0 && k >= 0 && k < u->in[0].rank ? u->in[0].dims[k] : NAN;
    }
    return size;
}

static struct keras_shape batch_norm_layer(struct keras_use *u)
{
    double size = axis_size(u, -1);

    add_weights(u, size * (read_flag(u, "center", true) + read_flag(u, "scale", true)));
    add_frozen(u, 2 * size);
    return u->in[0];
}

static struct keras_shape layer_norm_layer(struct keras_use *u)
{
    add_weights(u, axis_size(u, -1) * (read_flag(u, "center", true) + read_flag(u, "scale", true)));
    return u->in[0];
}

static struct keras_shape rms_norm_layer(struct keras_use *u)
{
    add_weights(u, axis_size(u, -1));
    return u->in[0];
}

/*
 * Counts the mean and the variance of each feature, and a counter in Keras 2, as frozen parameters.
 */
static struct keras_shape feature_norm_layer(struct keras_use *u)
{
    bool given = hm__value_text(hm__value_get(u->config, "mean")) ||
                 (hm__value_get(u->config, "mean") &&
                  hm__value_get(u->config, "mean")->kind == HM_VALUE_LIST);

    if (!given)
        add_frozen(u, 2 * axis_size(u, -1) + 1);
    return u->in[0];
}

static struct keras_shape prelu_layer(struct keras_use *u)
{
    const struct hm_value *shared = hm__value_get(u->config, "shared_axes");
    struct keras_shape alpha = u->in[0];

    for (size_t i = 0; shared && shared->kind == HM_VALUE_LIST && i < shared->count; i++) {
        double at = number_of(&shared->items[i]);
        if (at >= 1 && at <= alpha.rank)
            alpha.dims[(int)at - 1] = 1;
    }
    add_weights(u, shape_product(&alpha, 0, alpha.rank));
    return u->in[0];
}

/* ---- shapes only ------------------------------------------------------------------------------
 */

static struct keras_shape same_layer(struct keras_use *u)
{
    return u->in[0];
}

static struct keras_shape flatten_layer(struct keras_use *u)
{
    struct keras_shape out = hm__keras_no_shape();

    out.rank = 1;
    out.dims[0] = shape_product(&u->in[0], 0, u->in[0].rank);
    return out;
}

static struct keras_shape reshape_layer(struct keras_use *u)
{
    const struct hm_value *target = hm__value_get(u->config, "target_shape");
    struct keras_shape out = hm__keras_no_shape();
    double known = 1, total = shape_product(&u->in[0], 0, u->in[0].rank);

    if (!target || target->kind != HM_VALUE_LIST || target->count > KERAS_RANK)
        return out;
    out.rank = (int)target->count;
    for (int i = 0; i < out.rank; i++) {
        out.dims[i] = number_of(&target->items[i]);
        known *= out.dims[i] > 0 ? out.dims[i] : 1;
    }
    for (int i = 0; i < out.rank; i++)
        if (!(out.dims[i] > 0))
            out.dims[i] = total / known;
    return out;
}

static struct keras_shape permute_layer(struct keras_use *u)
{
    struct keras_shape out = u->in[0];

    for (int i = 0; i < out.rank; i++) {
        double from = read_element(u, "dims", i, NAN);
        out.dims[i] = from >= 1 && from <= out.rank ? u->in[0].dims[(int)from - 1] : NAN;
    }
    return out;
}

static struct keras_shape repeat_layer(struct keras_use *u)
{
    struct keras_shape out = hm__keras_no_shape();

    out.rank = 2;
    out.dims[0] = read_setting(u, "n", NAN);
    out.dims[1] = last_dim(&u->in[0]);
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
        return 2 * read_element(u, key, i, 1);
    if ((size_t)i < value->count && value->items[i].kind == HM_VALUE_LIST)
        return value->items[i].count == 2
                   ? number_of(&value->items[i].items[0]) + number_of(&value->items[i].items[1])
                   : NAN;
    if (spatial == 1 && value->count == 2)
        return number_of(&value->items[0]) + number_of(&value->items[1]);
    return 2 * read_element(u, key, i, NAN);
}

static struct keras_shape pad_layer(struct keras_use *u)
{
    struct keras_shape out = u->in[0];
    bool crop = hm__value_get(u->config, "cropping") != NULL;

    for (int i = 0; i + 1 < out.rank; i++)
        out.dims[i + (channels_first(u) ? 1 : 0)] +=
            (crop ? -1 : 1) * both_sides(u, crop ? "cropping" : "padding", i, out.rank - 1);
    return out;
}

static struct keras_shape upsample_layer(struct keras_use *u)
{
    struct keras_shape out = u->in[0];

    for (int i = 0; i + 1 < out.rank; i++)
        out.dims[i + (channels_first(u) ? 1 : 0)] *= read_element(u, "size", i, 2);
    return out;
}

static struct keras_shape resize_layer(struct keras_use *u)
{
    struct keras_shape out = u->in[0];
    int first = channels_first(u) ? 1 : 0;

    if (out.rank == 3) {
        out.dims[first] = read_setting(u, "height", NAN);
        out.dims[first + 1] = read_setting(u, "width", NAN);
    }
    return out;
}

/*
 * Infers the shape of tensors that are merged element by element, for example added; a dimension of
 * size 1 is broadcast.
 */
static struct keras_shape merge_layer(struct keras_use *u)
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

static struct keras_shape concatenate_layer(struct keras_use *u)
{
    struct keras_shape out = u->in[0];
    double axis = read_setting(u, "axis", -1);
    int k = axis < 0 ? out.rank + (int)fmax(axis, -100) : (int)fmin(axis, 100) - 1;

    if (out.rank < 0 || k < 0 || k >= out.rank)
        return hm__keras_no_shape();
    for (size_t i = 1; i < u->in_count; i++)
        out.dims[k] += u->in[i].rank == out.rank ? u->in[i].dims[k] : NAN;
    return out;
}

/* Handles a layer that has no parameters, but whose output shape cannot be inferred. */
static struct keras_shape opaque_layer(struct keras_use *u)
{
    (void)u;
    return hm__keras_no_shape();
}

/* ---- the table --------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    struct keras_shape (*add)(struct keras_use *use);
} layers[] = {
    {"Dense", dense_layer},
    {"Embedding", embedding_layer},
    {"MultiHeadAttention", attention_layer},
    {"LSTM", lstm_layer},
    {"CuDNNLSTM", cudnn_lstm_layer},
    {"GRU", gru_layer},
    {"CuDNNGRU", cudnn_gru_layer},
    {"SimpleRNN", simple_rnn_layer},
    {"Bidirectional", bidirectional_layer},
    {"TimeDistributed", time_distributed_layer},
    {"Conv1D", conv_layer},
    {"Conv2D", conv_layer},
    {"Convolution2D", conv_layer},
    {"Conv3D", conv_layer},
    {"Conv1DTranspose", conv_transpose_layer},
    {"Conv2DTranspose", conv_transpose_layer},
    {"Conv3DTranspose", conv_transpose_layer},
    {"DepthwiseConv1D", depthwise_layer},
    {"DepthwiseConv2D", depthwise_layer},
    {"SeparableConv1D", separable_layer},
    {"SeparableConv2D", separable_layer},
    {"MaxPooling1D", pool_layer},
    {"MaxPooling2D", pool_layer},
    {"MaxPooling3D", pool_layer},
    {"AveragePooling1D", pool_layer},
    {"AveragePooling2D", pool_layer},
    {"AveragePooling3D", pool_layer},
    {"GlobalMaxPooling1D", global_pool_layer},
    {"GlobalMaxPooling2D", global_pool_layer},
    {"GlobalMaxPooling3D", global_pool_layer},
    {"GlobalAveragePooling1D", global_pool_layer},
    {"GlobalAveragePooling2D", global_pool_layer},
    {"GlobalAveragePooling3D", global_pool_layer},
    {"BatchNormalization", batch_norm_layer},
    {"BatchNormalizationV1", batch_norm_layer},
    {"LayerNormalization", layer_norm_layer},
    {"GroupNormalization", layer_norm_layer},
    {"RMSNormalization", rms_norm_layer},
    {"Normalization", feature_norm_layer},
    {"LayerScale", rms_norm_layer},
    {"PReLU", prelu_layer},
    {"Flatten", flatten_layer},
    {"Reshape", reshape_layer},
    {"Permute", permute_layer},
    {"RepeatVector", repeat_layer},
    {"ZeroPadding1D", pad_layer},
    {"ZeroPadding2D", pad_layer},
    {"ZeroPadding3D", pad_layer},
    {"Cropping1D", pad_layer},
    {"Cropping2D", pad_layer},
    {"Cropping3D", pad_layer},
    {"UpSampling1D", upsample_layer},
    {"UpSampling2D", upsample_layer},
    {"UpSampling3D", upsample_layer},
    {"Resizing", resize_layer},
    {"CenterCrop", resize_layer},
    {"RandomCrop", resize_layer},
    {"Add", merge_layer},
    {"Subtract", merge_layer},
    {"Multiply", merge_layer},
    {"Average", merge_layer},
    {"Maximum", merge_layer},
    {"Minimum", merge_layer},
    {"Concatenate", concatenate_layer},
    {"Lambda", opaque_layer},
    {"TFOpLambda", opaque_layer},
    {"SlicingOpLambda", opaque_layer},
    {"TensorFlowOpLayer", opaque_layer},
    {"Activation", same_layer},
    {"ReLU", same_layer},
    {"LeakyReLU", same_layer},
    {"ELU", same_layer},
    {"ThresholdedReLU", same_layer},
    {"Softmax", same_layer},
    {"Dropout", same_layer},
    {"AlphaDropout", same_layer},
    {"SpatialDropout1D", same_layer},
    {"SpatialDropout2D", same_layer},
    {"SpatialDropout3D", same_layer},
    {"GaussianNoise", same_layer},
    {"GaussianDropout", same_layer},
    {"ActivityRegularization", same_layer},
    {"Masking", same_layer},
    {"Identity", same_layer},
    {"Rescaling", same_layer},
    {"StochasticDepth", same_layer},
    {"RandomFlip", same_layer},
    {"RandomRotation", same_layer},
    {"RandomZoom", same_layer},
    {"RandomTranslation", same_layer},
    {"RandomContrast", same_layer},
    {"RandomBrightness", same_layer},
    {"UnitNormalization", same_layer},
};

bool hm__keras_layer(const char *name, struct keras_use *use, struct keras_shape *ret_shape)
{
    for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++)
        if (strcmp(layers[i].name, name) == 0) {
            *ret_shape = layers[i].add(use);
            return true;
        }
    return false;
}

void hm__keras_unknown(struct keras *model, const char *name)
{
    size_t i = 0;

    while (i < model->unknown_count && strcmp(model->unknown[i].name, name) != 0)
        i++;
    if (i == KERAS_UNKNOWN)
        return;
    model->unknown[i].name = name;
    model->unknown[i].count++;
    model->unknown_count += i == model->unknown_count;
}
