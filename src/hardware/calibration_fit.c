/*
 * Computes the rates and bandwidths of a worker from the times of its operations.
 *
 * On a GPU, the model of operations (device.c) is inverted: the time of a small kernel is measured
 * directly; the memory bandwidth is the median of bytes / (time - kernel) over kernels that move
 * many bytes; for each precision, the rate of the largest matrix products is chosen so that the
 * median of ln(model / measured) over all timed matrix products is 0. The speed of convolutions is
 * found in the same way. Because of the median, a few shapes with slow kernels have little effect.
 *
 * A CPU is described by its cores, by the memory bandwidth of all threads and of one thread, and by
 * one rate for each precision, which is the rate of the fastest matrix product. The rate of the
 * largest matrix products inverts the model of CPUs (cpu.c) in the same way. Jobs that have no
 * layers use the median fraction of the rate that matrix products with the sizes of layers reach.
 *
 * The uncertainty is the root mean square of the spreads of all operations; a spread is the
 * relative distance between the fastest round and the median. It says how well a measurement can be
 * repeated, not how well the model fits: model_error is the median of |model / measured - 1|.
 */
#include "calibration.h"

#include <math.h>
#include <stdlib.h>

#include "calibration_links.h"
#include "checks.h"
#include "err.h"
#include "order.h"

/*
 * Fraction of the peak that the largest matrix products are assumed to reach, if no data sheet
 * specifies the peak.
 */
static const double TYPICAL_REACH = 0.75;
/*
 * Kernels that move fewer bytes are not used to determine the bandwidth: they run in the cache or
 * wait for their launch.
 */
static const double GPU_LARGE = 1 << 26;

double hm__samples_quartile(double *samples, size_t count)
{
    qsort(samples, count, sizeof(*samples), hm__compare_numbers);
    return count ? samples[(count - 1) / 4] : NAN;
}

void hm__timing_set(struct hm_timing *timing, double *rounds, size_t count)
{
    timing->seconds = hm__values_median(rounds, count);
    /*
     * The spread is computed from rounds faster than the median: interruptions only add time, so
     * slower rounds say nothing about the machine.
     */
    timing->spread = count > 1 ? 1 - rounds[0] / timing->seconds : NAN;
}

/* ---- a GPU ------------------------------------------------------------------------------------
 */

static bool is_conv(enum hm_timed what)
{
    return what == HM_TIMED_CONV_FORWARD || what == HM_TIMED_CONV_DATA ||
           what == HM_TIMED_CONV_WEIGHT;
}

static double conv_time(const struct hm_device *d, const struct hm_timing *t)
{
    const double *s = t->shape;
    double side = ceil(s[3] / s[5]);
    const struct hm_conv conv = {.batch = s[0],
                                 .in = s[1],
                                 .out = s[2],
                                 .in_places = s[3] * s[3],
                                 .out_places = side * side,
                                 .window = s[4] * s[4],
                                 .groups = 1,
                                 .stride = s[5]};

    return hm__device_conv(d, &conv,
                           t->what == HM_TIMED_CONV_FORWARD ? HM_PASS_FORWARD
                           : t->what == HM_TIMED_CONV_DATA  ? HM_PASS_DATA
                                                            : HM_PASS_WEIGHT);
}

/* Returns the time of an operation on a GPU in seconds; NaN if the node has no rate for it. */
static double gpu_time(const struct hm_node *node, const struct hm_timing *t)
{
    struct hm_device d;
    enum hm_math math = t->math == HM_MATH_AUTO ? HM_MATH_FP32 : t->math;
    /* The model of eager software includes a change of the memory layout around convolutions, which
     * a single timed convolution does not need. Therefore, convolutions are modelled as compiled
     * software. */
    enum hm_software software = is_conv(t->what) ? HM_SOFTWARE_COMPILED : HM_SOFTWARE_EAGER;

    if (!hm__device_init(&d, node, math, 32, software, NULL) || d.math != math)
        return NAN;
    if (t->what == HM_TIMED_GEMM)
        return hm__device_gemm(&d, t->shape[0], t->shape[1], t->shape[2], 1);
    if (is_conv(t->what))
        return conv_time(&d, t);
    return t->what == HM_TIMED_STREAM   ? hm__device_stream(&d, t->shape[0], d.k->stream)
           : t->what == HM_TIMED_KERNEL ? d.kernel_s
                                        : NAN;
}

/* Returns the time of an operation on a CPU in seconds; NaN if no model covers it. */
static double cpu_time(const struct hm_node *node, const struct hm_timing *t)
{
    double rate = t->math == HM_MATH_FP64 ? node->flops_64 : node->flops_32;
    struct hm_node used = *node;
    struct hm_cpu cpu;

    used.threads = t->workers;
    if (!hm__cpu_init(&cpu, &used, rate, t->math == HM_MATH_FP64 ? 8 : 4, &hm__cpu_constants))
        return NAN;
    return t->what == HM_TIMED_GEMM
               ? hm__cpu_gemm(&cpu, t->shape[0], t->shape[1], t->shape[2], 1, 1)
           : t->what == HM_TIMED_STREAM ? hm__cpu_stream(&cpu, t->shape[0])
                                        : NAN;
}

/*
 * State of the search for a node's rate: the search finds the rate for which the model best
 * predicts the measured times of one kind of operation in one precision.
 */
struct figure_search {
    const struct hm_timings *timings;
    struct hm_node *node;
    double *value; /* Address of the rate in `node` that the search changes. */
    enum hm_math math;
    /* True if the operations are convolutions; otherwise they are matrix products. */
    bool convolutions;
    double cores; /* Number of cores in a CPU; only operations that ran on all cores are used. 0 for
                     a GPU. */
};

/*
 * Returns the median of ln(model / measured) if the rate has the value x; NaN if no operation of
 * this kind was timed.
 */
static double search_error(const struct figure_search *g, double x)
{
    double errors[HM_CALIBRATION_OPS];
    size_t count = 0;

    *g->value = x;
    for (size_t i = 0; i < g->timings->count && count < HM_CALIBRATION_OPS; i++) {
        const struct hm_timing *t = &g->timings->rows[i];
        bool wanted = g->convolutions ? is_conv(t->what) : t->what == HM_TIMED_GEMM;
        if (!wanted || t->math != g->math || (g->cores > 0 && t->workers != g->cores))
            continue;
        double time = g->cores > 0 ? cpu_time(g->node, t) : gpu_time(g->node, t);
        errors[count++] = log(time / t->seconds);
    }
    return hm__values_median(errors, count);
}

/*
 * Finds the rate for which the median error of the model is 0, by bisection of its logarithm: the
 * faster the machine, the shorter the time. Sets the rate to 0 if the operations were not timed, or
 * if no rate reproduces their times because memory traffic limits them.
 */
static void search_solve(const struct figure_search *g, double low, double high)
{
    if (!(search_error(g, low) > 0) || !(search_error(g, high) < 0)) {
        *g->value = 0;
        return;
    }
    for (int i = 0; i < 60; i++) {
        double middle = sqrt(low * high);
        if (search_error(g, middle) > 0)
            low = middle;
        else
            high = middle;
    }
    *g->value = sqrt(low * high);
}

static double *rate_at(struct hm_rates *rates, enum hm_math math)
{
    return math == HM_MATH_FP64   ? &rates->fp64
           : math == HM_MATH_FP32 ? &rates->fp32
           : math == HM_MATH_TF32 ? &rates->tf32
           : math == HM_MATH_BF16 ? &rates->bf16
           : math == HM_MATH_FP16 ? &rates->fp16
                                  : &rates->fp8;
}

static double *flops_at(struct hm_node *node, enum hm_math math)
{
    return math == HM_MATH_FP64   ? &node->flops_64
           : math == HM_MATH_FP32 ? &node->flops_32
           : math == HM_MATH_TF32 ? &node->flops_tf32
           : math == HM_MATH_BF16 ? &node->flops_bf16
           : math == HM_MATH_FP16 ? &node->flops_16
                                  : &node->flops_fp8;
}

/*
 * Returns the rate of the fastest matrix product in a precision, in flop/s; 0 if no matrix product
 * was timed.
 */
static double fastest_product(const struct hm_timings *t, enum hm_math math, double workers)
{
    double best = 0;

    for (size_t i = 0; i < t->count; i++)
        if (t->rows[i].what == HM_TIMED_GEMM && t->rows[i].math == math &&
            t->rows[i].workers == workers)
            best = fmax(best, hm__timing_flop(&t->rows[i]) / t->rows[i].seconds);
    return best;
}

/* Returns the median time of one kind of operation in seconds; 0 if it was not timed. */
static double median_seconds(const struct hm_timings *t, enum hm_timed what)
{
    double values[HM_CALIBRATION_OPS];
    size_t count = 0;

    for (size_t i = 0; i < t->count && count < HM_CALIBRATION_OPS; i++)
        if (t->rows[i].what == what)
            values[count++] = t->rows[i].seconds;
    return count ? hm__values_median(values, count) : 0;
}

/*
 * Returns the bandwidth in bytes per second of the kernels that move at least `least` bytes; 0 if
 * there are none.
 */
static double stream_rate(const struct hm_timings *t, double least, double workers, double kernel)
{
    double values[HM_CALIBRATION_OPS];
    size_t count = 0;

    for (size_t i = 0; i < t->count && count < HM_CALIBRATION_OPS; i++) {
        const struct hm_timing *row = &t->rows[i];
        if (row->what == HM_TIMED_STREAM && row->shape[0] >= least && row->workers == workers &&
            row->seconds > kernel)
            values[count++] = row->shape[0] / (row->seconds - kernel);
    }
    return count ? hm__values_median(values, count) : 0;
}

/*
 * Sets the peak rates: the rates of the data sheet, or typical rates derived from the timed matrix
 * products.
 */
static void set_peaks(const struct hm_timings *t, const struct hm_node *sheet,
                      struct hm_calibrated *m)
{
    if (sheet)
        m->node = *sheet;
    m->node.measured = (struct hm_calibration){.date = t->date};
    if (t->processors > 0)
        m->node.processors = t->processors;
    if (t->memory_bytes > 0)
        m->node.memory_bytes = t->memory_bytes;
    for (enum hm_math math = HM_MATH_FP64; math < HM_MATH_COUNT; math++) {
        double best = fastest_product(t, math, 1);
        double *peak = flops_at(&m->node, math);
        if (best > 0 && !(*peak > 0)) {
            *peak = best / TYPICAL_REACH;
            m->assumed = "peak rates, from measured ones at 75 % of the peak";
        }
    }
}

static int calibrate_gpu(const struct hm_timings *t, const struct hm_node *sheet,
                         struct hm_calibrated *m, struct hm_err *err)
{
    set_peaks(t, sheet, m);
    struct hm_calibration *measured = &m->node.measured;
    measured->kernel_s = median_seconds(t, HM_TIMED_KERNEL);
    measured->memory_bandwidth_bytes_per_s = stream_rate(t, GPU_LARGE, 1, measured->kernel_s);
    if (!(measured->memory_bandwidth_bytes_per_s > 0) && !sheet)
        return hm__fail(err, HM_E_MISSING,
                        "no kernel that moves %.0f MB or more was timed, so that the memory "
                        "bandwidth is unknown",
                        GPU_LARGE / 1e6);
    if (!(m->node.memory_bandwidth_bytes_per_s > 0))
        m->node.memory_bandwidth_bytes_per_s =
            measured->memory_bandwidth_bytes_per_s / hm__constants.stream;
    if (!(m->node.processors > 0))
        return hm__fail(err, HM_E_MISSING, "the number of processors of the GPU is unknown");
    for (enum hm_math math = HM_MATH_FP64; math < HM_MATH_COUNT; math++) {
        double peak = *flops_at(&m->node, math);
        struct figure_search g = {t, &m->node, rate_at(&measured->flops, math), math, false, 0};
        if (peak > 0)
            search_solve(&g, peak / 100, peak * 10);
        g.value = rate_at(&measured->convolutions, math);
        g.convolutions = true;
        if (peak > 0)
            search_solve(&g, 0.02, 50);
    }
    return 0;
}

/* ---- a CPU ------------------------------------------------------------------------------------
 */

static int calibrate_cpu(const struct hm_timings *t, struct hm_calibrated *m, struct hm_err *err)
{
    double shares[HM_CALIBRATION_OPS], cores = t->processors > 0 ? t->processors : 1;
    struct hm_node *n = &m->node;
    size_t count = 0;

    n->flops_32 = fastest_product(t, HM_MATH_FP32, cores);
    n->flops_64 = fastest_product(t, HM_MATH_FP64, cores);
    if (!(n->flops_32 > 0))
        return hm__fail(err, HM_E_MISSING, "no matrix product on all %g cores was timed", cores);
    for (size_t i = 0; i < t->count && count < HM_CALIBRATION_OPS; i++)
        if (t->rows[i].what == HM_TIMED_GEMM && t->rows[i].workers == cores)
            shares[count++] =
                hm__timing_flop(&t->rows[i]) / t->rows[i].seconds / *flops_at(n, t->rows[i].math);
    n->efficiency = fmin(1, hm__values_median(shares, count));
    n->cores = cores;
    n->kernel_overhead_s = median_seconds(t, HM_TIMED_KERNEL);
    n->memory_bandwidth_bytes_per_s = stream_rate(t, 1, cores, 0);
    n->memory_bytes = t->memory_bytes;
    n->measured =
        (struct hm_calibration){.date = t->date,
                                .memory_bandwidth_bytes_per_s = n->memory_bandwidth_bytes_per_s,
                                .core_bandwidth_bytes_per_s = stream_rate(t, 1, 1, 0)};
    for (enum hm_math math = HM_MATH_FP64; math <= HM_MATH_FP32; math++) {
        double peak = *flops_at(n, math);
        struct figure_search g = {t, n, rate_at(&n->measured.flops, math), math, false, cores};
        if (peak > 0)
            search_solve(&g, peak / 10, peak * 10);
    }
    return 0;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

double hm__calibrated_time(const struct hm_calibrated *m, const struct hm_timing *t)
{
    if (t->what == HM_TIMED_SEND || t->what == HM_TIMED_ALL_REDUCE)
        return hm__links_time(m, t);
    return m->gpu ? gpu_time(&m->node, t) : cpu_time(&m->node, t);
}

/* Returns whether an operation ran on the whole worker: a GPU, or all cores of a CPU. */
static bool is_whole_worker(const struct hm_timings *t, const struct hm_timing *row)
{
    return t->gpu || !(t->processors > 0) || row->workers == t->processors;
}

static void set_errors(const struct hm_timings *t, struct hm_calibrated *m)
{
    double compute[HM_CALIBRATION_OPS], links[HM_CALIBRATION_OPS], squares = 0;
    size_t computed = 0, linked = 0, repeated = 0;

    for (size_t i = 0; i < t->count && i < HM_CALIBRATION_OPS; i++) {
        const struct hm_timing *row = &t->rows[i];
        bool product = row->what == HM_TIMED_GEMM || is_conv(row->what);
        double error = fabs(hm__calibrated_time(m, row) / row->seconds - 1);
        if (product && is_whole_worker(t, row) && !isnan(error))
            compute[computed++] = error;
        if (row->what == HM_TIMED_ALL_REDUCE && !isnan(error))
            links[linked++] = error;
        if (!isnan(row->spread) && row->what != HM_TIMED_LAUNCH) {
            squares += row->spread * row->spread;
            repeated++;
        }
    }
    m->model_error = hm__values_median(compute, computed);
    m->link_error = hm__values_median(links, linked);
    m->node.measured.uncertainty = repeated ? fmin(1, sqrt(squares / (double)repeated)) : NAN;
}

/*
 * Checks that the rates are possible for a real machine, because recorded times may have any value.
 */
static int check_machine(const struct hm_calibrated *m, struct hm_err *err)
{
    struct hm_cluster cluster;

    hm__cluster_init(&cluster);
    cluster.node = m->node;
    cluster.fabric = m->fabric;
    return hm__cluster_check(&cluster, "", err);
}

int hm__calibrate(const struct hm_timings *t, const struct hm_node *sheet,
                  struct hm_calibrated *ret_machine, struct hm_err *err)
{
    struct hm_calibrated m = {
        .node = {.accelerators = 1, .price_per_s = NAN}, .fabric = {NAN}, .gpu = t->gpu};
    int rc = 0;

    m.node.link.bandwidth_bytes_per_s = NAN;
    for (size_t i = 0; i < t->count; i++) {
        if (!(t->rows[i].seconds > 0))
            return hm__fail(err, HM_E_RANGE, "operation %zu, %s, has no time above 0", i + 1,
                            hm__timed_name(t->rows[i].what));
        m.timed |= t->rows[i].what < HM_TIMED_SEND;
    }
    if (m.timed)
        rc = t->gpu ? calibrate_gpu(t, sheet, &m, err) : calibrate_cpu(t, &m, err);
    if (rc == 0)
        rc = hm__links_fit(t, &m, err);
    if (rc)
        return rc;
    m.node.measured.date = t->date;
    set_errors(t, &m);
    rc = check_machine(&m, err);
    if (rc == 0)
        *ret_machine = m;
    return rc;
}
