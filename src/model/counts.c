/*
 * Counts parameters, multiply-adds and values of a network, layer by layer, for one sample.
 *
 * A fully connected layer has in*out weights (+ out biases) and as many multiply-adds as weights,
 * at every step of a sequence. A convolution has c = (l - k + b) div s + 1 positions on a side of
 * length l, where k is the kernel size, s is the stride and b is the total border (padding). It has
 * maps*(kh*kw*d + bias) weights and maps*kh*kw*d*c*c multiply-adds, where d is the number of input
 * channels that a filter reads, and maps is the number of output channels. Attention over t steps
 * of width w has four w*w projections, and 2*t*t*w multiply-adds for the scores and the weighted
 * sum of values (all positions, not halved for causal attention). For attention to another sequence
 * of u steps of width x, keys and values have x*w weights, and there are 2*t*u*w multiply-adds. A
 * recurrent layer with h units and inputs of width x has g gates of h*(x + h) weights, at every
 * step. A condition on a vector of x values has (x + 1) weights for each channel. The interaction
 * of t vectors of width w with another vector has (t + 1)^2*w multiply-adds.
 *
 * Normalisation, activation, pooling and joining move values but have no multiply-adds; published
 * counts are computed in the same way. Limits: at most 10000 unrolled layers, and attention kernels
 * that recompute scores are not modelled. Source: Ulanov et al. 2016, Section V-A; checked against
 * the parameter counts of torchvision and GPT-2 in tests/unit/test_counts.c.
 */
#include "howmany.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "memory.h"

enum { ROWS_MAX = 10000, VISITS_MAX = 1000000 };

struct counter {
    struct hm_counts *counts;
    size_t room;
    /*
     * Number of layers visited so far, including layers without a row in the table; it limits
     * nested repeats.
     */
    size_t visits;
    double side; /* Number of values in the output of the most recent side layers; 0 if there were
                    none. */
    const char *source;
    struct hm_err *err;
};

HM_PRINTF(3, 4)
static int fail_layer(struct counter *c, const struct hm_layer *layer, const char *format, ...)
{
    char what[200];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    hm__fail(c->err, HM_E_RANGE, "layer '%s': %s", layer->name, what);
    hm__err_field(c->err, "network.layers");
    hm__err_at(c->err, c->source, layer->line);
    return HM_E_RANGE;
}

static double shape_size(const struct hm_shape *s)
{
    return s->height * s->width * s->channels;
}

static int counter_add_row(struct counter *c, const struct hm_layer *layer,
                           const struct hm_count *row)
{
    struct hm_counts *counts = c->counts;

    if (counts->layer_count == ROWS_MAX)
        return fail_layer(c, layer, "the network unrolls to more than 10000 layers");
    struct hm_count *layers =
        hm__grow(counts->layers, counts->layer_count, &c->room, sizeof(*layers));
    if (!layers)
        return hm__fail_nomem(c->err);
    counts->layers = layers;
    if (!(row->parameters <= 1e18))
        return fail_layer(c, layer, "more than 1e18 parameters");
    if (!(row->multiply_adds <= 1e24) || !(row->outputs <= 1e24))
        return fail_layer(c, layer, "more than 1e24 multiply-adds or values a sample");
    counts->layers[counts->layer_count++] = *row;
    counts->parameters += row->parameters;
    counts->multiply_adds += row->multiply_adds;
    counts->outputs += row->outputs;
    return 0;
}

/*
 * Returns the number of positions of a window along a side of length l: (l - k + b) div s + 1 for
 * kernel size k, total border b and stride s; ceil mode rounds up.
 */
static double window_positions(double side, double kernel, double border, double stride, bool up)
{
    double steps = (side - kernel + border) / stride;
    return (up ? ceil(steps) : floor(steps)) + 1;
}

static int slide_window(struct counter *c, const struct hm_layer *l, struct hm_shape *shape)
{
    if (shape->kind != HM_SHAPE_IMAGE)
        return fail_layer(c, l, "the input must be an image, [height, width, channels]");
    if (l->kernel_h > shape->height + l->border_h || l->kernel_w > shape->width + l->border_w)
        return fail_layer(
            c, l, "a window of %gx%g is larger than the image of %gx%g with its border",
            l->kernel_h, l->kernel_w, shape->height + l->border_h, shape->width + l->border_w);
    shape->height =
        window_positions(shape->height, l->kernel_h, l->border_h, l->stride, l->ceil_mode);
    shape->width =
        window_positions(shape->width, l->kernel_w, l->border_w, l->stride, l->ceil_mode);
    return 0;
}

/* Returns the output side of a transposed convolution, (l - 1) s + k - b, where l is the input
 * side, s is the stride, k is the kernel size and b is the total border. */
static int spread_window(struct counter *c, const struct hm_layer *l, struct hm_shape *shape)
{
    if (shape->kind != HM_SHAPE_IMAGE)
        return fail_layer(c, l, "the input must be an image, [height, width, channels]");
    shape->height = (shape->height - 1) * l->stride + l->kernel_h - l->border_h;
    shape->width = (shape->width - 1) * l->stride + l->kernel_w - l->border_w;
    if (!(shape->height >= 1) || !(shape->width >= 1))
        return fail_layer(c, l, "the border is larger than the output");
    return 0;
}

static int count_conv(struct counter *c, const struct hm_layer *l, struct hm_shape *shape,
                      struct hm_count *row)
{
    double maps = shape->channels, before = shape->height * shape->width;
    double depth = l->depth > 0 ? l->depth : maps / l->groups;
    int rc = l->transposed ? spread_window(c, l, shape) : slide_window(c, l, shape);

    if (rc)
        return rc;
    if (depth > maps)
        return fail_layer(c, l, "depth %g is more than the %g input maps", depth, maps);
    if (l->depth == 0 && (fmod(maps, l->groups) != 0 || fmod(l->units, l->groups) != 0))
        return fail_layer(c, l, "%g groups do not divide the maps before (%g) and after (%g)",
                          l->groups, maps, l->units);
    double window = l->kernel_h * l->kernel_w * depth, places = shape->height * shape->width;
    double bias = l->bias == HM_BIAS_NONE ? 0 : l->bias == HM_BIAS_SHARED ? 1 : places;
    row->parameters = l->units * (window + bias);
    /* A transposed convolution spreads each input value over a window of the output, so the
     * positions of the input are counted. */
    row->multiply_adds = l->units * window * (l->transposed ? before : places);
    shape->channels = l->units;
    return 0;
}

static void count_dense(const struct hm_layer *l, struct hm_shape *shape, struct hm_count *row)
{
    bool sequence = shape->kind == HM_SHAPE_SEQUENCE;
    double in = sequence ? shape->channels : shape_size(shape);
    double steps = sequence ? shape->height : 1;

    row->parameters = l->tied ? 0 : l->units * (in + (l->bias == HM_BIAS_NONE ? 0 : 1));
    row->multiply_adds = steps * in * l->units;
    if (sequence)
        shape->channels = l->units;
    else
        *shape = (struct hm_shape){HM_SHAPE_VECTOR, 1, 1, l->units};
}

/* Counts attention. Queries and outputs have the positions t and the width w of the input; keys and
 * values have the positions and the width of the other sequence, if there is one. */
static int count_attention(struct counter *c, const struct hm_layer *l, struct hm_shape *shape,
                           struct hm_count *row)
{
    double w = shape->channels, t = shape->height;

    if (shape->kind == HM_SHAPE_VECTOR)
        return fail_layer(c, l, "the input must be a sequence or an image");
    if (shape->kind == HM_SHAPE_IMAGE)
        t *= shape->width;
    if (fmod(w, l->heads) != 0)
        return fail_layer(c, l, "%g heads do not divide the width of %g", l->heads, w);
    if (l->core) {
        double windows = fmax(1, l->groups), keys = l->context > 0 ? l->context : t / windows;
        if (fmod(t, windows) != 0)
            return fail_layer(c, l, "%g windows do not divide the length of %g", windows, t);
        row->multiply_adds = 2 * t * keys * w;
        row->outputs = t * w + l->heads * t * keys;
        return 0;
    }
    double biases = l->bias == HM_BIAS_NONE ? 0 : l->bias == HM_BIAS_OUTPUT ? 1 : 4;
    double u = l->context > 0 ? l->context : t, x = l->context > 0 ? l->context_width : w;
    row->parameters = 2 * w * w + 2 * x * w + biases * w;
    row->multiply_adds = 2 * t * w * w + 2 * u * x * w + 2 * t * u * w;
    row->outputs = 2 * t * w + 2 * u * w + l->heads * t * u;
    return 0;
}

/* Counts an activation. Two kinds change the shape: a gate halves the channels, and upsampling
 * doubles both sides of an image. */
static int count_activation(struct counter *c, const struct hm_layer *l, struct hm_shape *shape)
{
    if (l->name && strcmp(l->name, "geglu") == 0) {
        if (fmod(shape->channels, 2) != 0)
            return fail_layer(c, l, "a gate needs an even number of channels, not %g",
                              shape->channels);
        shape->channels /= 2;
    } else if (l->name && strcmp(l->name, "upsample") == 0) {
        if (shape->kind != HM_SHAPE_IMAGE)
            return fail_layer(c, l, "the input must be an image, [height, width, channels]");
        shape->height *= 2;
        shape->width *= 2;
    }
    return 0;
}

/* Counts the dot products of all pairs of t vectors of the input and one vector of the side layers,
 * which must have as many values as each of the t vectors. */
static int count_interact(struct counter *c, const struct hm_layer *l, struct hm_shape *shape,
                          struct hm_count *row)
{
    double vectors = shape->height + 1, width = shape->channels;

    if (shape->kind != HM_SHAPE_SEQUENCE)
        return fail_layer(c, l, "the input must be a sequence");
    if (c->side != width)
        return fail_layer(c, l, "the side layers before it must give %g values, not %g", width,
                          c->side);
    row->inputs += width;
    row->multiply_adds = vectors * vectors * width;
    *shape = (struct hm_shape){HM_SHAPE_VECTOR, 1, 1, width + vectors * (vectors - 1) / 2};
    return 0;
}

static int count_recurrent(struct counter *c, const struct hm_layer *l, struct hm_shape *shape,
                           struct hm_count *row)
{
    double gates = l->cell == HM_CELL_LSTM ? 4 : l->cell == HM_CELL_GRU ? 3 : 1;
    double x = shape->channels, h = l->units;

    if (shape->kind != HM_SHAPE_SEQUENCE)
        return fail_layer(c, l, "the input must be a sequence");
    row->parameters = gates * (h * (x + h) + l->biases * h);
    row->multiply_adds = shape->height * gates * h * (x + h);
    row->outputs = shape->height * h * (gates + 1);
    shape->channels = h;
    return 0;
}

static int count_embedding(struct counter *c, const struct hm_layer *l, struct hm_shape *shape,
                           struct hm_count *row)
{
    if (shape->kind != HM_SHAPE_SEQUENCE || shape->channels != 1)
        return fail_layer(c, l, "the input must be a sequence of tokens, {sequence: length}");
    if (l->positions > 0 && l->positions < shape->height)
        return fail_layer(c, l, "a sequence of %g is longer than the position table of %g",
                          shape->height, l->positions);
    row->parameters = (l->vocabulary + l->positions) * l->units;
    shape->channels = l->units;
    return 0;
}

/*
 * Counts a layer that has no child layers, and changes *shape from the shape of its input to the
 * shape of its output.
 */
static int count_simple(struct counter *c, const struct hm_layer *l, struct hm_shape *shape)
{
    struct hm_count row = {
        .name = l->name, .inputs = shape_size(shape), .outputs = -1, .in = *shape, .layer = l};
    int rc = 0;

    switch (l->kind) {
    case HM_LAYER_DENSE:
        count_dense(l, shape, &row);
        break;
    case HM_LAYER_CONV:
        rc = count_conv(c, l, shape, &row);
        break;
    case HM_LAYER_POOL:
        if (l->global && shape->kind != HM_SHAPE_VECTOR)
            *shape = (struct hm_shape){HM_SHAPE_VECTOR, 1, 1, shape->channels};
        else
            rc = slide_window(c, l, shape);
        break;
    case HM_LAYER_NORM:
        row.parameters = l->affine ? 2 * shape->channels : 0;
        break;
    case HM_LAYER_EMBEDDING:
        rc = count_embedding(c, l, shape, &row);
        break;
    case HM_LAYER_ATTENTION:
        rc = count_attention(c, l, shape, &row);
        break;
    case HM_LAYER_RECURRENT:
        rc = count_recurrent(c, l, shape, &row);
        break;
    case HM_LAYER_ACTIVATION:
        rc = count_activation(c, l, shape);
        break;
    case HM_LAYER_CONDITION:
        row.parameters = shape->channels * (l->units + 1);
        row.multiply_adds = shape->channels * l->units;
        break;
    case HM_LAYER_INTERACT:
        rc = count_interact(c, l, shape, &row);
        break;
    case HM_LAYER_ADD:
    case HM_LAYER_MULTIPLY:
        row.parameters = l->units;
        row.inputs += l->units > 0 ? l->units : row.inputs;
        break;
    case HM_LAYER_PRODUCT:
        row.inputs = l->times * l->depth * (l->positions + l->units);
        row.multiply_adds = l->times * l->positions * l->depth * l->units;
        *shape = (struct hm_shape){HM_SHAPE_SEQUENCE, l->times * l->positions, 1, l->units};
        break;
    case HM_LAYER_VIEW:
        *shape = l->view;
        return 0; /* A view moves no values. */
    case HM_LAYER_FLATTEN:
        *shape = (struct hm_shape){HM_SHAPE_VECTOR, 1, 1, shape_size(shape)};
        return 0; /* Flattening moves no values, so it has no row in the table. */
    default:
        break;
    }
    if (rc)
        return rc;
    if (row.outputs < 0)
        row.outputs = shape_size(shape);
    row.out = *shape;
    return counter_add_row(c, l, &row);
}

static int count_layers(struct counter *c, const struct hm_layer *layers, size_t count,
                        struct hm_shape *shape);

static bool same_shape(const struct hm_shape *a, const struct hm_shape *b)
{
    return a->kind == b->kind && a->height == b->height && a->width == b->width &&
           a->channels == b->channels;
}

/*
 * Counts a residual block. Both branches start from the same input; adding them requires another
 * pass over the values.
 */
static int count_residual(struct counter *c, const struct hm_layer *l, struct hm_shape *shape)
{
    struct hm_shape side = *shape;
    int rc = count_layers(c, l->children[0].children, l->children[0].child_count, shape);

    if (rc == 0 && l->has_shortcut)
        rc = count_layers(c, l->children[1].children, l->children[1].child_count, &side);
    if (rc)
        return rc;
    if (!same_shape(shape, &side))
        return fail_layer(c, l, "the two branches have different output shapes");
    struct hm_count row = {.name = "add",
                           .inputs = 2 * shape_size(shape),
                           .outputs = shape_size(shape),
                           .in = *shape,
                           .out = *shape,
                           .layer = l};
    return counter_add_row(c, l, &row);
}

/* Counts a scale layer: the children compute one factor for each channel of the input. */
static int count_scale(struct counter *c, const struct hm_layer *l, struct hm_shape *shape)
{
    struct hm_shape factors = *shape;
    int rc = count_layers(c, l->children, l->child_count, &factors);

    if (rc)
        return rc;
    if (shape_size(&factors) != shape->channels)
        return fail_layer(c, l, "the layers give %g factors for %g channels", shape_size(&factors),
                          shape->channels);
    struct hm_count row = {.name = "scale",
                           .inputs = shape_size(shape) + shape->channels,
                           .outputs = shape_size(shape),
                           .in = *shape,
                           .out = *shape,
                           .layer = l};
    return counter_add_row(c, l, &row);
}

/* Counts layers on a second input; the shape of the first input does not change. */
static int count_side(struct counter *c, const struct hm_layer *l)
{
    struct hm_shape shape = {HM_SHAPE_VECTOR, 1, 1, l->units};
    int rc = count_layers(c, l->children, l->child_count, &shape);

    c->side = shape_size(&shape);
    return rc;
}

static int count_concat(struct counter *c, const struct hm_layer *l, struct hm_shape *shape)
{
    struct hm_shape joined = {0};

    for (size_t i = 0; i < l->child_count; i++) {
        struct hm_shape branch = *shape;
        int rc = count_layers(c, l->children[i].children, l->children[i].child_count, &branch);
        if (rc)
            return rc;
        if (i > 0 && (branch.kind != joined.kind || branch.height != joined.height ||
                      branch.width != joined.width))
            return fail_layer(c, l, "the branches have different sizes");
        branch.channels += joined.channels;
        joined = branch;
    }
    *shape = joined;
    struct hm_count row = {.name = "concat",
                           .inputs = shape_size(shape),
                           .outputs = shape_size(shape),
                           .in = *shape,
                           .out = *shape,
                           .layer = l};
    return counter_add_row(c, l, &row);
}

static int count_layer(struct counter *c, const struct hm_layer *l, struct hm_shape *shape)
{
    int rc = 0;

    if (++c->visits > VISITS_MAX)
        return fail_layer(c, l, "nested repeats visit more than 1000000 layers");
    switch (l->kind) {
    case HM_LAYER_RESIDUAL:
        return count_residual(c, l, shape);
    case HM_LAYER_CONCAT:
        return count_concat(c, l, shape);
    case HM_LAYER_SCALE:
        return count_scale(c, l, shape);
    case HM_LAYER_SIDE:
        return count_side(c, l);
    case HM_LAYER_BRANCH:
        return count_layers(c, l->children, l->child_count, shape);
    case HM_LAYER_REPEAT:
        for (double i = 0; rc == 0 && i < l->times; i++)
            rc = count_layers(c, l->children, l->child_count, shape);
        return rc;
    default:
        return count_simple(c, l, shape);
    }
}

static int count_layers(struct counter *c, const struct hm_layer *layers, size_t count,
                        struct hm_shape *shape)
{
    int rc = 0;

    /* An empty list of layers counts as a visit, so that repeating it also reaches the limit. */
    if (count == 0)
        c->visits++;

    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = count_layer(c, &layers[i], shape);
    return rc;
}

int hm_counts_new(const struct hm_network *network, const char *source,
                  struct hm_counts **ret_counts, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "ret_counts", ret_counts, NULL);
    if (bad == 0)
        bad = hm__network_check(network, source, err);
    if (bad)
        return bad;
    struct counter c = {.source = source, .err = err};
    struct hm_shape shape = network->input;

    c.counts = hm__calloc(1, sizeof(*c.counts));
    if (!c.counts)
        return hm__fail_nomem(err);
    if (network->layer_count == 0) {
        c.counts->parameters = network->parameters;
        c.counts->forward_flop = network->forward_flop;
        *ret_counts = c.counts;
        return 0;
    }
    int rc = count_layers(&c, network->layers, network->layer_count, &shape);
    if (rc) {
        hm_counts_free(c.counts);
        return rc;
    }
    c.counts->forward_flop = 2 * c.counts->multiply_adds;
    *ret_counts = c.counts;
    return 0;
}

void hm_counts_free(struct hm_counts *counts)
{
    if (!counts)
        return;
    hm__free(counts->layers);
    hm__free(counts);
}
