/*
 * Computes the times of operations on one accelerator.
 *
 * A matrix product is divided into tiles; each multiprocessor computes one tile at a time, so the
 * product takes a whole number of waves (tile and wave quantisation), and a small inner dimension k
 * leaves the pipeline partly empty. The time of a matrix product is the time with the best of
 * several tile sizes, or the time to move the operands, whichever is longer. Rows that are not
 * multiples of 16 bytes prevent the fastest kernels. A convolution is modelled as a matrix product
 * with its own efficiency, plus the changes of memory layout that an eager framework makes. Slow
 * kernels compute a number of values per second on each processor, whatever their number format;
 * other operations move bytes at a fraction of the memory bandwidth. Limits: caches are not
 * modelled, and all kernels that a library may choose have the same efficiency. Sources:
 * docs/explain/accuracy.md.
 */
#include "device.h"

#include <math.h>

#define HM_CONSTANT_VALUE(name, value, low, high, doc) .name = (value),
const struct hm_constants hm__constants = {
    HM_CONSTANT_MAP(HM_CONSTANT_VALUE).cpu = &hm__cpu_constants, .frameworks = hm__framework_costs};
#undef HM_CONSTANT_VALUE

/*
 * Accelerators with at most this many processors have a few large cores, each with its own matrix
 * units (TPU, Trainium). The limits of GPU processors do not apply to them.
 */
static const double CORES_MOST = 8;

/* Clock of the card on which the slow kernels were measured (H200). */
static const double CLOCK_GHZ = 1.98;

/* Returns the size in bytes of an activation in the number format. */
static double math_bytes(enum hm_math math)
{
    return math == HM_MATH_FP64 ? 8 : math == HM_MATH_FP32 || math == HM_MATH_TF32 ? 4 : 2;
}

/*
 * Returns the 16-bit format of mixed precision if the machine has matrix units for it, otherwise
 * TF32, which falls back to fp32. bf16 units are always matrix units if they are faster than fp32.
 * fp16 is also a format of vector units, at twice the rate of fp32 (P100); matrix units have at
 * least four times that rate (V100).
 */
static enum hm_math math_mixed(const struct hm_node *node)
{
    const double wide = node->flops_32 > 0 ? node->flops_32 : 0;

    if (node->flops_bf16 > wide)
        return HM_MATH_BF16;
    return node->flops_16 > 3 * wide ? HM_MATH_FP16 : HM_MATH_TF32;
}

static enum hm_math math_resolve(const struct hm_node *node, enum hm_math math, double bits)
{
    if (math == HM_MATH_AUTO)
        math = bits == 64 ? HM_MATH_FP64 : bits == 16 ? HM_MATH_BF16 : math_mixed(node);
    if (math == HM_MATH_FP8 && !(node->flops_fp8 > 0))
        math = HM_MATH_BF16;
    if (math == HM_MATH_BF16 && !(node->flops_bf16 > 0))
        math = HM_MATH_FP16;
    if (math == HM_MATH_FP16 && !(node->flops_16 > 0))
        math = node->flops_bf16 > 0 ? HM_MATH_BF16 : HM_MATH_FP32;
    if (math == HM_MATH_TF32 && !(node->flops_tf32 > 0))
        math = HM_MATH_FP32;
    return math;
}

double hm__node_rate(const struct hm_node *node, enum hm_math math, double bits,
                     enum hm_math *ret_math)
{
    const double rates[HM_MATH_COUNT] = {
        [HM_MATH_FP64] = node->flops_64,   [HM_MATH_FP32] = node->flops_32,
        [HM_MATH_TF32] = node->flops_tf32, [HM_MATH_BF16] = node->flops_bf16,
        [HM_MATH_FP16] = node->flops_16,   [HM_MATH_FP8] = node->flops_fp8,
    };
    enum hm_math used = math_resolve(node, math, bits);

    if (ret_math)
        *ret_math = used;
    return rates[used] > 0 ? rates[used] : NAN;
}

double hm__rate_of(const struct hm_rates *rates, enum hm_math math)
{
    const double all[HM_MATH_COUNT] = {
        [HM_MATH_AUTO] = NAN,         [HM_MATH_FP64] = rates->fp64, [HM_MATH_FP32] = rates->fp32,
        [HM_MATH_TF32] = rates->tf32, [HM_MATH_BF16] = rates->bf16, [HM_MATH_FP16] = rates->fp16,
        [HM_MATH_FP8] = rates->fp8,
    };

    return all[math];
}

/*
 * Replaces rates from constants and data sheets with the rates that were measured on the machine.
 */
static void device_set_measured(struct hm_device *d, const struct hm_calibration *m)
{
    double flops = hm__rate_of(&m->flops, d->math), speed = hm__rate_of(&m->convolutions, d->math);

    if (flops > 0)
        d->reach = flops / d->rate;
    if (speed > 0)
        d->conv_speed = speed;
    /* The bandwidth was measured with simple kernels, which reach the share `stream` of the peak,
     * so the peak is the measured value divided by `stream`. */
    if (m->memory_bandwidth_bytes_per_s > 0)
        d->bandwidth = m->memory_bandwidth_bytes_per_s / d->k->stream;
    if (m->kernel_s > 0)
        d->kernel_s = m->kernel_s;
}

/*
 * Returns the clock of the processors in Hz, derived from their fp32 rate; NaN if no rate is known.
 * A processor is assumed to have vectors of 128 numbers, or of 64 numbers if its clock would
 * otherwise be below 1.1 GHz.
 */
static double node_clock(const struct hm_node *node)
{
    static const double LANES = 128, LEAST = 1.1e9;
    double clock = node->flops_32 / (2 * LANES * node->processors);

    return clock < LEAST ? 2 * clock : clock;
}

bool hm__device_init(struct hm_device *d, const struct hm_node *node, enum hm_math math,
                     double bits, enum hm_software software, const struct hm_constants *constants)
{
    enum hm_math used;
    double rate = hm__node_rate(node, math, bits, &used);

    bool cpu = node->cores > 0 && !(node->processors > 0);
    if (!(rate > 0) || (!cpu && !(node->processors > 0)) ||
        !(node->memory_bandwidth_bytes_per_s > 0))
        return false;
    const struct hm_constants *k = constants ? constants : &hm__constants;
    double relative = used == HM_MATH_TF32                           ? k->gemm_tf32
                      : used == HM_MATH_FP8                          ? k->gemm_fp8
                      : used == HM_MATH_FP32 || used == HM_MATH_FP64 ? k->gemm_fp32
                                                                     : 1;
    double reach = node->matrix_efficiency > 0 ? node->matrix_efficiency : 0.75;
    *d = (struct hm_device){.math = used,
                            .software = software,
                            .rate = rate,
                            .reach = fmin(reach * relative, 0.95),
                            .wide_rate = hm__node_rate(node, HM_MATH_BF16, bits, NULL),
                            .wide_reach = fmin(reach, 0.95),
                            .bandwidth = node->memory_bandwidth_bytes_per_s,
                            .processors = node->processors,
                            .value_bytes = math_bytes(used),
                            .matrix_units = used != HM_MATH_FP32 && used != HM_MATH_FP64,
                            .kernel_s = k->kernel * 1e-6,
                            .conv_speed = 1,
                            .k = k};
    double speed = node_clock(node) / (CLOCK_GHZ * 1e9);
    d->slow_values = node->processors > CORES_MOST
                         ? 1e9 * node->processors * (speed > 0 ? fmin(fmax(speed, 0.4), 1.5) : 1)
                         : INFINITY;
    device_set_measured(d, &node->measured);
    return !cpu || hm__cpu_init(&d->cpu, node, rate, d->value_bytes, k->cpu);
}

double hm__usable_memory(double memory_bytes)
{
    static const double DRIVER_SHARE = 0.012, CONTEXT_BYTES = 0.6e9, FRAGMENTED = 1.03;

    return fmax(1, ((1 - DRIVER_SHARE) * memory_bytes - CONTEXT_BYTES) / FRAGMENTED);
}

double hm__device_stream(const struct hm_device *d, double bytes, double fraction)
{
    if (d->cpu.k)
        return hm__cpu_stream(&d->cpu, bytes);
    return bytes / (d->bandwidth * fraction) + d->kernel_s;
}

double hm__device_slow(const struct hm_device *d, double bytes, double values, double rate)
{
    if (d->cpu.k)
        return hm__cpu_stream(&d->cpu, bytes);
    return fmax(bytes / (d->bandwidth * d->k->stream), values / (rate * d->slow_values)) +
           d->kernel_s;
}

double hm__device_kept_traffic(const struct hm_device *d)
{
    return d->software == HM_SOFTWARE_EAGER      ? 1
           : d->software == HM_SOFTWARE_COMPILED ? d->k->fuse_compiled
                                                 : fmin(d->k->fuse_tuned, d->k->fuse_compiled);
}

/*
 * Returns the efficiency that the alignment of matrix rows allows; a row has `side` values. Rows
 * that are no multiple of 16 bytes are multiplied by kernels of older processors, which do not
 * reach the rate of newer matrix units; values of 4 bytes have half their rate.
 */
static double align_factor(const struct hm_device *d, double side)
{
    double bytes = side * (d->math == HM_MATH_FP8 ? 1 : d->value_bytes);

    if (!d->matrix_units || d->software == HM_SOFTWARE_TUNED || fmod(bytes, 16) == 0)
        return 1; /* Tuned software pads its matrices, so alignment costs nothing. */
    double older = fmod(bytes, 4) == 0 ? d->k->gemm_align2 : d->k->gemm_align1;
    return fmin(1,
                1e3 * older * d->slow_values * fmin(1, 2 / d->value_bytes) / (d->rate * d->reach));
}

/* Largest number of parts into which the inner dimension of a product is split. */
static const double SPLITS_MOST = 256;

static const struct tile {
    double m, n, efficiency;
} tiles[] = {{256, 128, 1},  {128, 256, 1},  {128, 128, 0.93},
             {128, 64, 0.8}, {64, 128, 0.8}, {64, 64, 0.6}};

/*
 * Returns the time in seconds that the arithmetic of a matrix product takes with the best tile size
 * and the best split of the inner dimension k.
 */
static double tiles_time(const struct hm_device *d, double m, double n, double k, double batch,
                         double efficiency)
{
    double unit = d->rate * d->reach * efficiency / d->processors, best = INFINITY;

    for (size_t i = 0; i < sizeof(tiles) / sizeof(tiles[0]); i++) {
        const struct tile *t = &tiles[i];
        double shrink = d->matrix_units ? t->efficiency : fmax(t->efficiency, 0.9);
        double count = ceil(m / t->m) * ceil(n / t->n) * batch;
        for (double split = 1; split <= SPLITS_MOST; split *= 2) {
            if (split > 1 && (count * split > 2 * d->processors || k / split < 512))
                break;
            double parts = count * split / d->processors;
            double waves = parts < 8 ? ceil(parts) : parts + 0.5;
            double time = waves * 2 * t->m * t->n * (k / split + d->k->gemm_ramp) / (unit * shrink);
            if (split > 1)
                time += 4 * m * n * batch * split / (d->bandwidth * d->k->stream);
            best = fmin(best, time);
        }
    }
    return best;
}

/* Returns the time in seconds of a matrix product that reads and writes `values` values. */
static double product_time(const struct hm_device *d, double m, double n, double k, double batch,
                           double values, double efficiency)
{
    double bytes = values * (d->math == HM_MATH_FP8 ? 1 : d->value_bytes);

    return fmax(tiles_time(d, m, n, k, batch, efficiency), bytes / (d->bandwidth * d->k->stream)) +
           d->kernel_s;
}

/* Returns the number of values in the operands and in the result of `batch` matrix products. */
static double product_values(double m, double n, double k, double batch)
{
    return (m * k + k * n + m * n) * batch;
}

double hm__device_gemm(const struct hm_device *d, double m, double n, double k, double batch)
{
    if (d->cpu.k)
        return hm__cpu_gemm(&d->cpu, m, n, k, batch, 1);
    /* Rows of the operands and of the result have n or k values, so both alignments matter. */
    return product_time(d, m, n, k, batch, product_values(m, n, k, batch),
                        fmin(align_factor(d, n), align_factor(d, k)));
}

/*
 * Returns the time in seconds of a depthwise convolution. Its kernels compute one value at a time,
 * so the number format does not change their time. Libraries have fast kernels for images that are
 * stored position by position, for fp16, and for 16-bit windows larger than 5 x 5.
 */
static double depthwise_time(const struct hm_device *d, const struct hm_conv *c, enum hm_pass pass)
{
    static const double LARGE_WINDOW = 25, LARGE_GAIN = 4;
    double in = c->batch * c->in * c->in_places, out = c->batch * c->out * c->out_places;
    double bytes = (in + out) * d->value_bytes, gain = 1;

    if (d->channels_last || d->software != HM_SOFTWARE_EAGER)
        return hm__device_stream(d, bytes, d->k->depth_last);
    if (d->value_bytes <= 2 && c->window > LARGE_WINDOW)
        gain = LARGE_GAIN;
    else if (d->math == HM_MATH_FP16)
        gain = d->k->depth_half;
    /* Beside the products, the forward pass takes as long as 6 products for each input. */
    return pass == HM_PASS_FORWARD
               ? hm__device_slow(d, bytes, out * c->window + 6 * in, gain * d->k->depth_forward)
           : pass == HM_PASS_DATA
               ? hm__device_slow(d, bytes, in + out, gain * d->k->depth_data)
               : hm__device_slow(d, bytes, out * c->window, gain * d->k->depth_weight);
}

/*
 * Returns the efficiency of a pass of a convolution relative to a matrix product of the same size.
 */
static double conv_efficiency(const struct hm_device *d, const struct hm_conv *c, enum hm_pass pass)
{
    const struct hm_constants *k = d->k;
    double efficiency = pass == HM_PASS_FORWARD ? k->conv_forward
                        : pass == HM_PASS_DATA  ? k->conv_data
                                                : k->conv_weight;

    if (!d->matrix_units)
        efficiency = c->window >= 9 && c->stride == 1 && c->groups == 1
                         ? k->conv_plain * k->conv_winograd
                         : k->conv_plain;
    if (d->matrix_units && d->processors > CORES_MOST) {
        double fed = k->conv_feed * 1e12 * d->processors;
        efficiency *= fed / (fed + d->rate * d->reach);
    }
    if (c->in / c->groups < 8 && c->groups == 1)
        efficiency *= d->matrix_units ? k->conv_few : 0.7;
    if (c->window == 1)
        efficiency *= k->conv_pointwise;
    if (d->math == HM_MATH_TF32)
        efficiency *= pass == HM_PASS_WEIGHT ? k->conv_tf32_weight : k->conv_tf32;
    if (c->groups > 1)
        efficiency *= k->conv_groups * fmin(1, c->in / c->groups / 16) *
                      (d->math == HM_MATH_TF32 ? k->conv_groups_tf32 : 1);
    efficiency *= d->conv_speed;
    /* Fast algorithms beat the nominal count only without matrix units. */
    return d->matrix_units ? fmin(efficiency, 0.95 / d->reach) : efficiency;
}

/* Returns the time in seconds that one pass of a convolution takes on the cores of a CPU. */
static double cpu_conv_time(const struct hm_cpu *cpu, const struct hm_conv *c, enum hm_pass pass)
{
    double places = c->batch * c->out_places, part = cpu->k->conv;
    double deep = c->in / c->groups * c->window, out = c->out / c->groups;

    if (c->groups > 1 && c->groups >= c->in)
        return hm__cpu_loop(cpu, 2 * places * c->out * c->window, cpu->k->depthwise,
                            c->batch * (c->in * c->in_places + c->out * c->out_places) *
                                cpu->value_bytes);
    return pass == HM_PASS_FORWARD ? hm__cpu_gemm(cpu, places, out, deep, c->groups, part)
           : pass == HM_PASS_DATA  ? hm__cpu_gemm(cpu, places, deep, out, c->groups, part)
                                   : hm__cpu_gemm(cpu, out, deep, places, c->groups, part);
}

/*
 * Returns the time in seconds of the arithmetic of a convolution. Kernels for grouped convolutions
 * compute all groups together, although each group has few channels, so they are timed as one
 * group. The gradient of an input sums over the outputs of all windows that contain it.
 */
static double conv_product_time(const struct hm_device *d, const struct hm_conv *c,
                                enum hm_pass pass)
{
    double places = c->batch * c->out_places, efficiency = conv_efficiency(d, c, pass);
    double deep = c->in / c->groups * c->window, back = c->out / c->groups * c->window;
    /* The positions that windows share are read from memory once. */
    double values = c->batch * (c->in * c->in_places + c->out * c->out_places) + deep * c->out;

    return pass == HM_PASS_FORWARD ? product_time(d, places, c->out, deep, 1, values, efficiency)
           : pass == HM_PASS_DATA  ? product_time(d, places, c->in, back, 1, values, efficiency)
                                   : product_time(d, c->out, deep, places, 1, values, efficiency);
}

double hm__device_conv(const struct hm_device *d, const struct hm_conv *c, enum hm_pass pass)
{
    if (d->cpu.k)
        return cpu_conv_time(&d->cpu, c, pass);
    if (d->math == HM_MATH_FP8) {
        struct hm_device wide = *d;
        wide.math = HM_MATH_BF16;
        wide.rate = d->wide_rate;
        wide.reach = d->wide_reach;
        return hm__device_conv(&wide, c, pass);
    }
    if (c->groups > 1 && c->groups >= c->in)
        return depthwise_time(d, c, pass);
    double time = conv_product_time(d, c, pass);
    /*
     * Eager frameworks store images channel by channel (NCHW), but matrix units need all channels
     * of a position together (NHWC), so the layout is converted.
     */
    bool by_channel = d->software == HM_SOFTWARE_EAGER && !d->channels_last && d->matrix_units;
    if (by_channel)
        time += d->k->conv_start * 1e-6;
    if (by_channel && (c->window > 1 || c->stride > 1)) {
        double read = c->batch * c->in * c->in_places, made = c->batch * c->out * c->out_places;
        double moved = pass == HM_PASS_WEIGHT ? read : read + made;
        time += hm__device_slow(d, 2 * moved * d->value_bytes, moved, d->k->layout) + d->kernel_s;
    }
    return time;
}

double hm__device_norm(const struct hm_device *d, double values, double channels, bool backward)
{
    const struct hm_constants *k = d->k;
    double bytes = (backward ? 5 : 3) * values * d->value_bytes;
    bool narrow = d->math == HM_MATH_BF16 || d->math == HM_MATH_FP8;
    double slow = !narrow ? 1 : backward ? k->norm_slow_backward : k->norm_slow;

    if (d->software != HM_SOFTWARE_EAGER || d->cpu.k)
        return hm__device_stream(d, bytes * hm__device_kept_traffic(d), k->stream);
    if (d->channels_last)
        return hm__device_stream(d, bytes, k->norm_last * slow) + d->kernel_s;
    /* A block of threads sums a channel, so few channels use few processors. */
    double wave = (backward ? k->norm_wave_backward : k->norm_wave) * d->processors;
    double busy = fmin(channels, wave) / d->processors;
    double rate = (backward ? k->norm_backward : k->norm_forward) * slow * busy;
    return hm__device_slow(d, bytes, values, rate) + d->kernel_s;
}

double hm__device_scores(const struct hm_device *d, double heads, double length, double width,
                         bool backward)
{
    if (d->cpu.k)
        return hm__device_attention(d, 1, heads, length, width, backward);
    double values = product_values(length, length, width, heads);
    double products = product_time(d, length, length, width, heads, values, 1) +
                      product_time(d, length, width, length, heads, values, 1);
    double bytes = heads * length * length * d->k->score_bytes * d->value_bytes / 2;

    /* The backward pass has four products. */
    return (backward ? 2 : 1) * (products + hm__device_stream(d, bytes, d->k->stream));
}

double hm__device_attention(const struct hm_device *d, double batch, double heads, double length,
                            double width, bool backward)
{
    const struct hm_constants *k = d->k;
    double flop = (backward ? 2.5 : 1) * 4 * batch * heads * length * length * width;

    if (d->cpu.k)
        return hm__cpu_loop(&d->cpu, flop, d->cpu.reach * d->cpu.k->attention,
                            8 * batch * heads * length * width * d->value_bytes);
    /*
     * Fused kernels compute exponentials in parallel with the products, so each processor has a
     * separate limit, which faster matrix units do not raise.
     */
    double own = d->processors > CORES_MOST ? k->flash * 1e12 * d->processors : INFINITY;
    double units = d->rate * d->reach;
    double rate = 1 / (1 / own + 1 / units) * pow(fmin(1, width / 128), 0.4) * length /
                  (length + k->flash_length);

    if (d->value_bytes > 2)
        rate *= k->flash_wide;
    if (backward)
        rate *= k->flash_backward;
    return fmin(flop / rate + 2 * d->kernel_s,
                hm__device_scores(d, batch * heads, length, width, backward));
}
