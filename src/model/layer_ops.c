/*
 * Lists the operations of a layer, forward and backward, as frameworks run them: matrix products
 * and convolutions with their shapes, and the bytes moved by normalisations, activations, residual
 * additions, pooling, look-ups, precision conversions and the loss. The host launches operations
 * one after another; each kind of layer has a number of operations, measured with chains of one
 * PyTorch module (tools/measure/host-costs.py), in units of a simple element-wise operation.
 *
 * Mixed precision (autocast) keeps 32-bit weights: each matrix product converts its weights, and
 * the gradient of the weights is converted back. Normalisations and residual sums of sequences stay
 * in 32 bits. Limits: the kernels describe one library version, and the memory traffic of fused
 * software is a fixed share of the traffic of eager software. Sizes are given for one sample; b
 * samples are computed together.
 */
#include "layer_ops.h"

#include <math.h>
#include <string.h>

/* The layer, the device and the batch that all functions below use, and the resulting times. */
struct ops {
    const struct hm_device *d;
    const struct hm_count *l;
    const struct hm_layer_place *place;
    double b; /* Number of samples that are computed together. */
    double in,
        out;     /* Number of values that b samples read, and number of values that they write. */
    double a;    /* Size of one activation in bytes. */
    double wide; /* Size in bytes of a value that stays in 32 bits. */
    bool mixed;  /* True if weights have more bits than activations. */
    double forward_ops, backward_ops, casts; /* Numbers of operations that the host launches in each
                                                pass and for precision conversions. */
    struct hm_layer_step step;
};

/* Returns the time in seconds of an element-wise kernel that software may fuse with its
 * neighbours. */
static double ops_stream(const struct ops *o, double bytes)
{
    return hm__device_stream(o->d, bytes * hm__device_kept_traffic(o->d), o->d->k->stream);
}

/* Returns the time in seconds of copying values to other positions. */
static double ops_copied(const struct ops *o, double values)
{
    double kept = values * hm__device_kept_traffic(o->d);

    return hm__device_slow(o->d, 2 * kept * o->a, kept, o->d->k->bias_add);
}

static void ops_host(struct ops *o, double forward, double backward, double casts)
{
    o->forward_ops += forward;
    o->backward_ops += backward;
    o->casts += casts;
}

/*
 * Adds the precision conversions of the weights of a matrix product and of their gradient.
 */
static void ops_cast_weights(struct ops *o, double weights)
{
    if (!o->mixed)
        return;
    o->step.forward_s += hm__device_stream(o->d, 6 * weights, o->d->k->stream);
    o->step.backward_s += hm__device_stream(o->d, 6 * weights, o->d->k->stream);
}

/*
 * Adds a fully connected layer that maps `in` values to `out` values for `rows` rows, with its two
 * gradients.
 */
static void ops_linear(struct ops *o, double rows, double in, double out, bool bias)
{
    o->step.forward_s += hm__device_gemm(o->d, rows, out, in, 1);
    o->step.backward_s += hm__device_gemm(o->d, out, in, rows, 1);
    if (!o->place->first)
        o->step.backward_s += hm__device_gemm(o->d, rows, in, out, 1);
    if (bias)
        o->step.backward_s += ops_stream(o, rows * out * o->a);
    ops_cast_weights(o, in * out);
}

static void ops_dense(struct ops *o)
{
    bool sequence = o->l->in.kind == HM_SHAPE_SEQUENCE;
    double rows = o->b * (sequence ? o->l->in.height : 1);
    double in = sequence ? o->l->in.channels : o->l->inputs;
    const struct hm_count *next = o->place->next;

    ops_linear(o, rows, in, o->l->layer->units, o->l->layer->bias != HM_BIAS_NONE);
    /* In a sequence, the input comes from a normalisation or a sum in 32 bits and must be
     * converted. */
    if (o->mixed && sequence) {
        o->step.forward_s += ops_stream(o, 3 * o->in);
        o->step.backward_s += ops_stream(o, 3 * o->in);
    }
    /* The counts of CPUs are those with which their constants were chosen. */
    double back = o->d->cpu.k ? 2.5 : 4.5;
    ops_host(o, 2, back, (o->l->layer->bias != HM_BIAS_NONE ? 2 : 1) + (sequence ? 1 : 0));
    /*
     * The output is kept for the next layer, unless the next layer is an addition, which does not
     * need it.
     */
    if (!next || strcmp(next->name, "add") != 0)
        o->step.kept_bytes += o->out * o->a;
}

static void ops_conv(struct ops *o)
{
    const struct hm_layer *layer = o->l->layer;
    const struct hm_shape *in = &o->l->in, *out = &o->l->out;
    /*
     * A transposed convolution is computed like the gradient of the input of an ordinary
     * convolution.
     */
    const struct hm_shape *from = layer->transposed ? out : in, *to = layer->transposed ? in : out;
    const struct hm_conv c = {.batch = o->b,
                              .in = from->channels,
                              .out = to->channels,
                              .in_places = from->height * from->width,
                              .out_places = to->height * to->width,
                              .window = layer->kernel_h * layer->kernel_w,
                              .groups = layer->groups,
                              .stride = layer->stride};

    o->step.forward_s += hm__device_conv(o->d, &c, HM_PASS_FORWARD);
    o->step.backward_s += hm__device_conv(o->d, &c, HM_PASS_WEIGHT);
    if (!o->place->first)
        o->step.backward_s += hm__device_conv(o->d, &c, HM_PASS_DATA);
    if (layer->bias != HM_BIAS_NONE) {
        double kept = hm__device_kept_traffic(o->d);
        o->step.forward_s +=
            hm__device_slow(o->d, 2 * o->out * o->a * kept, o->out * kept, o->d->k->bias_add);
        o->step.backward_s +=
            hm__device_slow(o->d, o->out * o->a * kept, o->out * kept, 2 * o->d->k->bias_add);
    }
    ops_cast_weights(o, o->l->parameters);
    ops_host(o, 2, 3, layer->bias != HM_BIAS_NONE ? 2 : 1);
    o->step.kept_bytes += o->out * o->a;
}

static void ops_norm(struct ops *o)
{
    if (o->l->in.kind == HM_SHAPE_IMAGE) {
        o->step.forward_s += hm__device_norm(o->d, o->out, o->l->out.channels, false);
        o->step.backward_s += hm__device_norm(o->d, o->out, o->l->out.channels, true);
        ops_host(o, 2.5, 3.2, 0);
        o->step.kept_bytes += o->out * o->a;
        return;
    }
    /* A row takes as long as ROW more values, so narrow rows are slow. */
    static const double ROW = 200;
    double kept = hm__device_kept_traffic(o->d), share = o->d->k->layer_norm;
    double rows = 1 + ROW / o->l->out.channels;
    o->step.forward_s += hm__device_stream(o->d, 2 * o->out * o->wide * kept * rows, share);
    /*
     * One kernel computes the gradient of the input, and another one computes the gradients of
     * scale and shift.
     */
    o->step.backward_s += hm__device_stream(o->d, 3 * o->out * o->wide * kept * rows, share) +
                          hm__device_stream(o->d, 2 * o->out * o->wide * kept, share / 2);
    ops_host(o, 1.8, 2.3, 0);
    o->step.kept_bytes += o->out * o->a;
}

/*
 * The tanh approximation of GELU is written as arithmetic (GPT-2): an eager framework runs each
 * operation as a kernel on 32-bit values, with 8 kernels in the forward pass and 11 in the backward
 * pass, and keeps four results.
 */
static void ops_gelu_tanh(struct ops *o)
{
    o->step.forward_s += 8 * ops_stream(o, 2.3 * o->out * o->wide);
    o->step.backward_s += 11 * ops_stream(o, 2.5 * o->out * o->wide);
    ops_host(o, 8, 11, 1);
    o->step.kept_bytes += 4 * o->out * o->wide;
}

static void ops_activation(struct ops *o)
{
    bool image = o->l->in.kind == HM_SHAPE_IMAGE, drop = strcmp(o->l->name, "dropout") == 0;
    bool clamp = strcmp(o->l->name, "relu") == 0;

    if (strcmp(o->l->name, "gelu-tanh") == 0 && o->d->software == HM_SOFTWARE_EAGER) {
        ops_gelu_tanh(o);
        return;
    }
    /* A gate reads twice as many values as it writes, and upsampling reads a quarter as many. */
    o->step.forward_s += ops_stream(o, (o->in + o->out) * o->a + (drop ? o->out : 0));
    o->step.backward_s += ops_stream(o, (2 * o->in + o->out) * o->a);
    ops_host(o, drop ? 1.6 : 1, 1, 0);
    /* A rectifier on images works in place; dropout keeps a mask with one byte per value. */
    o->step.kept_bytes += drop ? o->out : image && clamp ? 0 : o->out * o->a;
}

static void ops_pool(struct ops *o)
{
    double kept = o->d->software == HM_SOFTWARE_EAGER ? 1 : 0.5;

    if (o->l->layer->global) {
        o->step.forward_s += hm__device_stream(o->d, o->in * o->a, o->d->k->stream);
        o->step.backward_s += hm__device_stream(o->d, o->in * o->a, o->d->k->stream);
    } else {
        /* The position of each maximum is an 8-byte index. */
        double bytes = (o->in * o->a + o->out * (o->a + 8)) * kept;
        double window = o->l->layer->kernel_h * o->l->layer->kernel_w;
        /* An output takes as long as 12 reads beside those of its window, and an input of the
         * backward pass as long as 9. */
        o->step.forward_s +=
            hm__device_slow(o->d, bytes, o->out * (window + 12) * kept, o->d->k->pool_forward);
        o->step.backward_s += hm__device_slow(o->d, bytes, (9 * o->in + o->out * window) * kept,
                                              o->d->k->pool_backward);
        o->step.kept_bytes += o->out * 8;
    }
    ops_host(o, 1.2, 1.9, 0);
    o->step.kept_bytes += o->out * o->a;
}

static void ops_add(struct ops *o)
{
    bool image = o->l->in.kind == HM_SHAPE_IMAGE;
    double bytes = image ? o->a : o->wide;

    /* The backward pass adds up the gradients of the two branches. */
    o->step.forward_s += ops_stream(o, 3 * o->out * bytes);
    o->step.backward_s += ops_stream(o, 3 * o->out * bytes);
    ops_host(o, 1, 1, 0);
    /* The gradient of a learned offset needs no values. */
    o->step.kept_bytes += image || o->l->layer->units > 0 ? 0 : o->out * o->wide;
}

static void ops_concat(struct ops *o)
{
    o->step.forward_s += ops_stream(o, 2 * o->out * o->a);
    o->step.backward_s += ops_stream(o, 2 * o->out * o->a);
    ops_host(o, 1.5, 1.5, 0);
    o->step.kept_bytes += o->out * o->a;
}

/*
 * Adds a copy. In sequences, the values are stored only once, because the output of the layer that
 * computed them is freed after the copy.
 */
static void ops_copy(struct ops *o)
{
    double copied = ops_copied(o, o->out);

    o->step.forward_s += copied;
    o->step.backward_s += copied;
    ops_host(o, 1.5, 1.5, 0);
    o->step.kept_bytes += o->out * o->a;
    if (o->l->in.kind != HM_SHAPE_IMAGE)
        o->step.kept_bytes = 0;
}

/*
 * Adds the product of two tensors, element by element. The gradient of a learned operand is a sum
 * over all positions. In sequences, a learned operand makes the result 32 bits wide.
 */
static void ops_multiply(struct ops *o)
{
    bool learned = o->l->layer->units > 0;
    double bytes = learned && o->l->in.kind != HM_SHAPE_IMAGE ? o->wide : o->a;

    o->step.forward_s += ops_stream(o, (learned ? 2 : 3) * o->out * bytes);
    o->step.backward_s +=
        ops_stream(o, (learned ? 2 : 3) * o->out * bytes) + ops_stream(o, 3 * o->out * bytes);
    ops_host(o, 1, 2, 0);
    o->step.kept_bytes += o->out * bytes;
}

/* Adds matrix products of two computed tensors, and the gradients of both. */
static void ops_product(struct ops *o)
{
    const struct hm_layer *l = o->l->layer;
    double rows = l->positions, sums = l->depth, columns = l->units, count = o->b * l->times;

    o->step.forward_s += hm__device_gemm(o->d, rows, columns, sums, count);
    o->step.backward_s += hm__device_gemm(o->d, rows, sums, columns, count) +
                          hm__device_gemm(o->d, sums, columns, rows, count);
    ops_host(o, 2, 3, 0);
    o->step.kept_bytes += o->out * o->a;
}

/*
 * Adds the multiplication of each channel by its factor; the gradient of a factor is a sum over all
 * positions.
 */
static void ops_scale(struct ops *o)
{
    o->step.forward_s += ops_stream(o, 2 * o->out * o->a);
    o->step.backward_s += ops_stream(o, 3 * o->out * o->a) + ops_stream(o, 3 * o->out * o->a);
    ops_host(o, 1, 2.5, 0);
    o->step.kept_bytes += 2 * o->out * o->a;
}

/* Returns the time in seconds of a pass of attention over `side` positions, without projections. */
static double attention_time(const struct ops *o, double batch, double side, double head,
                             bool backward)
{
    double heads = o->l->layer->heads;

    return o->l->layer->scores ? hm__device_scores(o->d, batch * heads, side, head, backward)
                               : hm__device_attention(o->d, batch, heads, side, head, backward);
}

static void ops_attention(struct ops *o)
{
    const struct hm_layer *layer = o->l->layer;
    double length = o->l->in.height, width = o->l->in.channels, head = width / layer->heads;
    double windows = fmax(1, layer->groups);
    bool bias = layer->bias == HM_BIAS_SHARED, cross = layer->context > 0;

    if (o->l->in.kind == HM_SHAPE_IMAGE)
        length *= o->l->in.width;
    /* Side of a square matrix that has the same number of scores. */
    double side = cross ? sqrt(length / windows * layer->context) : length / windows;
    if (!layer->core) {
        ops_linear(o, o->b * length, width, cross ? width : 3 * width, bias);
        if (cross)
            ops_linear(o, o->b * layer->context, layer->context_width, 2 * width, bias);
        ops_linear(o, o->b * length, width, width, layer->bias != HM_BIAS_NONE);
    }
    o->step.forward_s += attention_time(o, o->b * windows, side, head, false);
    o->step.backward_s += attention_time(o, o->b * windows, side, head, true);
    /* Without fused kernels, the scores before and after dropout and a mask are kept. */
    if (layer->scores)
        o->step.kept_bytes += o->b * windows * layer->heads * side * side * (2 * o->a + 1);
    /*
     * Splitting values into heads and joining them again copies the values, and inputs are
     * converted to the precision of the activations.
     */
    double moved = ops_copied(o, o->d->k->attention_copies * o->out);
    o->step.forward_s += moved;
    o->step.backward_s += moved;
    /* Two of the five kept tensors and most of the operations belong to the projections. */
    ops_host(o, layer->core ? 3.5 : 18, layer->core ? 8 : 30, layer->core ? 0 : 5);
    o->step.kept_bytes += (layer->core ? 2 : 5) * o->out * o->a;
}

/*
 * Adds a linear layer applied to a vector, whose result is added to all positions of each channel;
 * its gradient is a sum over these positions.
 */
static void ops_condition(struct ops *o)
{
    ops_linear(o, o->b, o->l->layer->units, o->l->out.channels, true);
    o->step.forward_s += ops_stream(o, 2 * o->out * o->a);
    o->step.backward_s += ops_stream(o, o->out * o->a);
    ops_host(o, 4, 6, 2);
}

/*
 * Adds the dot products of all pairs of vectors of each sample, and the copy of the lower half of
 * their matrix.
 */
static void ops_interact(struct ops *o)
{
    double vectors = o->l->in.height + 1, width = o->l->in.channels;

    o->step.forward_s += hm__device_gemm(o->d, vectors, vectors, width, o->b) +
                         ops_stream(o, (2 * o->in + 2 * o->out) * o->a);
    o->step.backward_s += hm__device_gemm(o->d, vectors, width, vectors, 2 * o->b) +
                          ops_stream(o, (2 * o->in + 2 * o->out) * o->a);
    ops_host(o, 6, 6, 2);
    o->step.kept_bytes += (o->in + o->out) * o->a;
}

static void ops_embedding(struct ops *o)
{
    double table = o->l->parameters;

    o->step.forward_s += ops_stream(o, 2 * o->out * 4);
    /* The gradient of the whole table is set to zero and then filled. */
    o->step.backward_s += hm__device_stream(o->d, 4 * table + 3 * o->out * 4, o->d->k->stream / 2);
    ops_host(o, 3, 3, 0);
    o->step.kept_bytes += o->out * 4;
}

/*
 * Adds a recurrent layer: the inputs of all steps are multiplied together, but the matrix products
 * with the state are computed step by step, because each one waits for the previous one.
 */
static void ops_recurrent(struct ops *o)
{
    const struct hm_layer *layer = o->l->layer;
    double gates = layer->cell == HM_CELL_LSTM ? 4 : layer->cell == HM_CELL_GRU ? 3 : 1;
    double steps = o->l->in.height, x = o->l->in.channels, h = layer->units;
    double least = o->d->k->recurrent_step * 1e-6;

    ops_linear(o, o->b * steps, x, gates * h, false);
    o->step.forward_s += steps * fmax(least, hm__device_gemm(o->d, o->b, gates * h, h, 1)) +
                         ops_stream(o, 2 * (gates + 2) * o->out * o->a);
    o->step.backward_s += steps * fmax(least, hm__device_gemm(o->d, o->b, h, gates * h, 1)) +
                          hm__device_gemm(o->d, gates * h, h, o->b * steps, 1) +
                          ops_stream(o, 2 * (gates + 3) * o->out * o->a);
    ops_host(o, 3 + 0.45 * steps, 3 + 0.45 * steps, 4);
    o->step.kept_bytes += (gates + 2) * o->out * o->a;
}

/* Adds the loss over the outputs of the last layer, in 32 bits. */
static void ops_loss(struct ops *o)
{
    static const double CPU_BYTES = 67; /* Bytes moved for each output value on CPUs. */
    double each = o->d->cpu.k ? CPU_BYTES : o->d->k->loss_bytes;
    double bytes = each * o->out * (o->d->software == HM_SOFTWARE_EAGER ? 1 : 0.6);

    o->step.forward_s += hm__device_stream(o->d, bytes / 2, o->d->k->stream);
    o->step.backward_s += hm__device_stream(o->d, bytes / 2, o->d->k->stream);
    ops_host(o, 4, 3, 1);
    /* The logits, their logarithms and the gradients of both are kept in 32 bits. */
    o->step.kept_bytes += o->out * (o->mixed ? 10 : 8);
}

/* Returns the factor by which the job's software (eager, compiled or tuned) changes the time of the
 * host. */
static double host_factor(const struct hm_device *d)
{
    return d->software == HM_SOFTWARE_EAGER      ? 1
           : d->software == HM_SOFTWARE_COMPILED ? d->k->host_compiled
                                                 : d->k->host_tuned;
}

struct hm_layer_step hm__layer_ops(const struct hm_device *d, const struct hm_count *l,
                                   const struct hm_layer_place *place, double b)
{
    static void (*const kinds[])(struct ops *) = {
        [HM_LAYER_DENSE] = ops_dense,
        [HM_LAYER_CONV] = ops_conv,
        [HM_LAYER_POOL] = ops_pool,
        [HM_LAYER_NORM] = ops_norm,
        [HM_LAYER_ACTIVATION] = ops_activation,
        [HM_LAYER_EMBEDDING] = ops_embedding,
        [HM_LAYER_ATTENTION] = ops_attention,
        [HM_LAYER_RECURRENT] = ops_recurrent,
        [HM_LAYER_RESIDUAL] = ops_add,
        [HM_LAYER_CONCAT] = ops_concat,
        [HM_LAYER_SCALE] = ops_scale,
        [HM_LAYER_CONDITION] = ops_condition,
        [HM_LAYER_INTERACT] = ops_interact,
        [HM_LAYER_ADD] = ops_add,
        [HM_LAYER_MULTIPLY] = ops_multiply,
        [HM_LAYER_COPY] = ops_copy,
        [HM_LAYER_PRODUCT] = ops_product,
        [HM_LAYER_KINDS] = NULL,
    };
    struct ops o = {.d = d,
                    .l = l,
                    .place = place,
                    .b = b,
                    .in = l->inputs * b,
                    .out = l->out.height * l->out.width * l->out.channels * b,
                    .a = d->value_bytes,
                    .wide = fmax(4, d->value_bytes),
                    .mixed = d->value_bytes < 4};

    if (kinds[l->layer->kind])
        kinds[l->layer->kind](&o);
    if (place->last)
        ops_loss(&o);
    if (d->cpu.k) {
        o.step.forward_host_s = o.forward_ops * d->cpu.k->operation * 1e-6;
        o.step.backward_host_s = o.backward_ops * d->cpu.k->operation * 1e-6;
        return o.step;
    }
    double factor = host_factor(d) * 1e-6;
    double casts = o.mixed ? o.casts * d->k->host_cast / 2 : 0;
    o.step.forward_host_s = (o.forward_ops * d->k->host_forward + casts) * factor;
    o.step.backward_host_s = (o.backward_ops * d->k->host_backward + casts) * factor;
    return o.step;
}

double hm__layer_tensors(const struct hm_count *l)
{
    if (l->parameters == 0)
        return 0;
    double bias = l->layer->bias != HM_BIAS_NONE ? 2 : 1;

    switch (l->layer->kind) {
    case HM_LAYER_ATTENTION:
        return 2 * bias;
    case HM_LAYER_NORM:
        return 2;
    case HM_LAYER_RECURRENT:
        return 4;
    case HM_LAYER_ADD:
    case HM_LAYER_MULTIPLY:
        return 1;
    case HM_LAYER_EMBEDDING:
        return l->layer->positions > 0 ? 2 : 1;
    default:
        return bias;
    }
}

double hm__update_time(const struct hm_device *d, enum hm_optimizer optimizer, double parameters)
{
    bool eager = d->software == HM_SOFTWARE_EAGER;
    /* Number of bytes moved per parameter: with one kernel for each arithmetic operation (eager),
     * or with a single fused kernel. */
    double bytes = optimizer == HM_OPTIMIZER_SGD        ? 12
                   : optimizer == HM_OPTIMIZER_MOMENTUM ? (eager ? 32 : 20)
                                                        : (eager ? 90 : 28);

    return hm__device_stream(d, bytes * parameters, d->k->update_sgd);
}

double hm__update_host_time(const struct hm_device *d, enum hm_optimizer optimizer, double tensors)
{
    /* The lists of tensors that the framework makes, relative to those of momentum. */
    double lists = optimizer == HM_OPTIMIZER_SGD ? 0.6 : optimizer == HM_OPTIMIZER_MOMENTUM ? 1 : 3;

    if (d->cpu.k)
        return (tensors * d->cpu.k->operation + d->cpu.k->step) * 1e-6;
    return (tensors * lists * d->k->host_update + d->k->host_fixed) * host_factor(d) * 1e-6;
}
