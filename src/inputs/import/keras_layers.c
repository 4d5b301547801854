/* Computes the parameters, multiply-adds and output shapes of Keras layers; see keras.h. */
#include <math.h>
#include <string.h>

#include "keras_parts.h"

/* ---- matrix products --------------------------------------------------------------------------
 */

static struct keras_shape dense_layer(struct keras_use *u)
{
    struct keras_shape out = u->in[0];
    double in = hm__keras_last_dim(&out), units = hm__keras_setting(u, "units", NAN);

    hm__keras_add_weights(u, in * units + (hm__keras_flag(u, "use_bias", true) ? units : 0));
    hm__keras_add_macs(u, hm__keras_shape_product(&out, 0, out.rank) * units);
    if (out.rank > 0)
        out.dims[out.rank - 1] = units;
    return out;
}

static struct keras_shape embedding_layer(struct keras_use *u)
{
    struct keras_shape out = u->in[0];
    double width = hm__keras_setting(u, "output_dim", NAN);

    hm__keras_add_weights(u, hm__keras_setting(u, "input_dim", NAN) * width);
    if (out.rank >= 0 && out.rank < KERAS_RANK)
        out.dims[out.rank++] = width;
    return out;
}

static struct keras_shape attention_layer(struct keras_use *u)
{
    const struct keras_shape *query = &u->in[0], *value = &u->in[u->in_count > 1 ? 1 : 0];
    const struct keras_shape *key = &u->in[u->in_count > 2 ? 2 : u->in_count > 1 ? 1 : 0];
    double heads = hm__keras_setting(u, "num_heads", NAN),
           key_width = heads * hm__keras_setting(u, "key_dim", NAN);
    double value_width = heads * hm__keras_setting(u, "value_dim", key_width / heads);
    double bias = hm__keras_flag(u, "use_bias", true) ? 1 : 0, out = hm__keras_last_dim(query);
    double rows = hm__keras_shape_product(query, 0, query->rank - 1),
           others = hm__keras_shape_product(value, 0, value->rank - 1);

    double of_query = out * key_width, of_key = hm__keras_last_dim(key) * key_width,
           of_value = hm__keras_last_dim(value) * value_width, of_output = value_width * out;
    hm__keras_add_weights(u, of_query + of_key + of_value + of_output +
                                 bias * (2 * key_width + value_width + out));
    hm__keras_add_macs(u, rows * (of_query + of_output) + others * (of_key + of_value) +
                              rows * others * (key_width + value_width));
    return *query;
}

/* ---- recurrent layers -------------------------------------------------------------------------
 */

/* Counts a recurrent layer with the given numbers of gates and bias vectors. */
static struct keras_shape recurrent_layer(struct keras_use *u, double gates, double biases)
{
    struct keras_shape out = u->in[0];
    double units = hm__keras_setting(u, "units", NAN), in = hm__keras_last_dim(&out);
    double steps = out.rank == 2 ? out.dims[0] : NAN, matrices = gates * units * (in + units);

    hm__keras_add_weights(u, matrices + (hm__keras_flag(u, "use_bias", true) ? biases * units : 0));
    hm__keras_add_macs(u, steps * matrices);
    if (out.rank == 2 && !hm__keras_flag(u, "return_sequences", false)) {
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
    return recurrent_layer(u, 3, hm__keras_flag(u, "reset_after", true) ? 6 : 3);
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
        hm__keras_add_macs(u, macs * steps);
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
    if (hm__keras_is_setting(u, "padding", "same") || hm__keras_is_setting(u, "padding", "causal"))
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
    int first = hm__keras_channels_first(u) ? 1 : 0, spatial = w.out.rank - 1;

    w.channel = first ? 0 : spatial;
    if (spatial < 1) {
        w.positions = NAN;
        w.out = hm__keras_no_shape();
        return w;
    }
    w.channels = w.out.dims[w.channel];
    for (int i = 0; i < spatial; i++) {
        double kernel = hm__keras_element(u, size, i, fallback);
        double stride =
            hm__keras_element(u, strides, i, strcmp(size, "pool_size") == 0 ? kernel : 1);
        double *dim = &w.out.dims[i + first];
        *dim = count_windows(u, *dim, kernel, stride, hm__keras_element(u, "dilation_rate", i, 1));
        w.kernel *= kernel;
        w.positions *= *dim;
    }
    return w;
}

static struct keras_shape conv_layer(struct keras_use *u)
{
    struct windowed w = slide_window(u, "kernel_size", NAN, "strides");
    double filters = hm__keras_setting(u, "filters", NAN);
    double matrix = w.kernel * w.channels / hm__keras_setting(u, "groups", 1) * filters;

    hm__keras_add_weights(u, matrix + (hm__keras_flag(u, "use_bias", true) ? filters : 0));
    hm__keras_add_macs(u, w.positions * matrix);
    if (w.out.rank > 0)
        w.out.dims[w.channel] = filters;
    return w.out;
}

static struct keras_shape depthwise_layer(struct keras_use *u)
{
    struct windowed w = slide_window(u, "kernel_size", NAN, "strides");
    double channels = w.channels * hm__keras_setting(u, "depth_multiplier", 1);

    hm__keras_add_weights(u, w.kernel * channels +
                                 (hm__keras_flag(u, "use_bias", true) ? channels : 0));
    hm__keras_add_macs(u, w.positions * w.kernel * channels);
    if (w.out.rank > 0)
        w.out.dims[w.channel] = channels;
    return w.out;
}

static struct keras_shape separable_layer(struct keras_use *u)
{
    struct windowed w = slide_window(u, "kernel_size", NAN, "strides");
    double middle = w.channels * hm__keras_setting(u, "depth_multiplier", 1);
    double filters = hm__keras_setting(u, "filters", NAN),
           matrix = w.kernel * middle + middle * filters;

    hm__keras_add_weights(u, matrix + (hm__keras_flag(u, "use_bias", true) ? filters : 0));
    hm__keras_add_macs(u, w.positions * matrix);
    if (w.out.rank > 0)
        w.out.dims[w.channel] = filters;
    return w.out;
}

static struct keras_shape conv_transpose_layer(struct keras_use *u)
{
    struct keras_shape out = u->in[0];
    int first = hm__keras_channels_first(u) ? 1 : 0, spatial = out.rank - 1;
    double filters = hm__keras_setting(u, "filters", NAN), kernel = 1, positions = 1;

    if (spatial < 1) {
        hm__keras_add_weights(u, NAN);
        hm__keras_add_macs(u, NAN);
        return hm__keras_no_shape();
    }
    double channels = out.dims[first ? 0 : spatial];
    for (int i = 0; i < spatial; i++) {
        double size = hm__keras_element(u, "kernel_size", i, NAN),
               stride = hm__keras_element(u, "strides", i, 1);
        double *dim = &out.dims[i + first];
        positions *= *dim;
        kernel *= size;
        *dim = *dim * stride +
               (hm__keras_is_setting(u, "padding", "same") ? 0 : fmax(size - stride, 0));
    }
    hm__keras_add_weights(u, kernel * channels * filters +
                                 (hm__keras_flag(u, "use_bias", true) ? filters : 0));
    hm__keras_add_macs(u, positions * kernel * channels * filters);
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
    double channels = out.dims[hm__keras_channels_first(u) ? 0 : spatial];
    if (hm__keras_flag(u, "keepdims", false)) {
        for (int i = 0; i <= spatial; i++)
            out.dims[i] = 1;
        out.dims[hm__keras_channels_first(u) ? 0 : spatial] = channels;
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
        double at = hm__keras_element(u, "axis", (int)i, fallback);
        int k = at < 0 ? u->in[0].rank + (int)fmax(at, -100) : (int)fmin(at, 100) - 1;
        size *= u->in[0].rank >= 0 && k >= 0 && k < u->in[0].rank ? u->in[0].dims[k] : NAN;
    }
    return size;
}

static struct keras_shape batch_norm_layer(struct keras_use *u)
{
    double size = axis_size(u, -1);

    hm__keras_add_weights(
        u, size * (hm__keras_flag(u, "center", true) + hm__keras_flag(u, "scale", true)));
    hm__keras_add_frozen(u, 2 * size);
    return u->in[0];
}

static struct keras_shape layer_norm_layer(struct keras_use *u)
{
    hm__keras_add_weights(u, axis_size(u, -1) * (hm__keras_flag(u, "center", true) +
                                                 hm__keras_flag(u, "scale", true)));
    return u->in[0];
}

static struct keras_shape rms_norm_layer(struct keras_use *u)
{
    hm__keras_add_weights(u, axis_size(u, -1));
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
        hm__keras_add_frozen(u, 2 * axis_size(u, -1) + 1);
    return u->in[0];
}

static struct keras_shape prelu_layer(struct keras_use *u)
{
    const struct hm_value *shared = hm__value_get(u->config, "shared_axes");
    struct keras_shape alpha = u->in[0];

    for (size_t i = 0; shared && shared->kind == HM_VALUE_LIST && i < shared->count; i++) {
        double at = hm__keras_number(&shared->items[i]);
        if (at >= 1 && at <= alpha.rank)
            alpha.dims[(int)at - 1] = 1;
    }
    hm__keras_add_weights(u, hm__keras_shape_product(&alpha, 0, alpha.rank));
    return u->in[0];
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
    {"Flatten", hm__keras_flatten},
    {"Reshape", hm__keras_reshape},
    {"Permute", hm__keras_permute},
    {"RepeatVector", hm__keras_repeat},
    {"ZeroPadding1D", hm__keras_pad},
    {"ZeroPadding2D", hm__keras_pad},
    {"ZeroPadding3D", hm__keras_pad},
    {"Cropping1D", hm__keras_pad},
    {"Cropping2D", hm__keras_pad},
    {"Cropping3D", hm__keras_pad},
    {"UpSampling1D", hm__keras_upsample},
    {"UpSampling2D", hm__keras_upsample},
    {"UpSampling3D", hm__keras_upsample},
    {"Resizing", hm__keras_resize},
    {"CenterCrop", hm__keras_resize},
    {"RandomCrop", hm__keras_resize},
    {"Add", hm__keras_merge},
    {"Subtract", hm__keras_merge},
    {"Multiply", hm__keras_merge},
    {"Average", hm__keras_merge},
    {"Maximum", hm__keras_merge},
    {"Minimum", hm__keras_merge},
    {"Concatenate", hm__keras_concatenate},
    {"Lambda", hm__keras_opaque},
    {"TFOpLambda", hm__keras_opaque},
    {"SlicingOpLambda", hm__keras_opaque},
    {"TensorFlowOpLayer", hm__keras_opaque},
    {"Activation", hm__keras_same},
    {"ReLU", hm__keras_same},
    {"LeakyReLU", hm__keras_same},
    {"ELU", hm__keras_same},
    {"ThresholdedReLU", hm__keras_same},
    {"Softmax", hm__keras_same},
    {"Dropout", hm__keras_same},
    {"AlphaDropout", hm__keras_same},
    {"SpatialDropout1D", hm__keras_same},
    {"SpatialDropout2D", hm__keras_same},
    {"SpatialDropout3D", hm__keras_same},
    {"GaussianNoise", hm__keras_same},
    {"GaussianDropout", hm__keras_same},
    {"ActivityRegularization", hm__keras_same},
    {"Masking", hm__keras_same},
    {"Identity", hm__keras_same},
    {"Rescaling", hm__keras_same},
    {"StochasticDepth", hm__keras_same},
    {"RandomFlip", hm__keras_same},
    {"RandomRotation", hm__keras_same},
    {"RandomZoom", hm__keras_same},
    {"RandomTranslation", hm__keras_same},
    {"RandomContrast", hm__keras_same},
    {"RandomBrightness", hm__keras_same},
    {"UnitNormalization", hm__keras_same},
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
