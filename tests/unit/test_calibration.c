/*
 * Tests the calibration of machines from the times of operations: the figures from which times were
 * generated must be found again, lines must agree with weighted least squares by
 * tools/oracle/calibration.py, descriptions must be read back, and recorded times with errors must
 * be refused.
 */
#include "testing.h"

#include "allreduce.h"
#include "calibration.h"
#include "checks.h"
#include "order.h"
#include "read_timings.h"

static struct hm_node card(void)
{
    return (struct hm_node){.flops_16 = 990e12,
                            .flops_bf16 = 990e12,
                            .flops_tf32 = 495e12,
                            .flops_32 = 67e12,
                            .flops_64 = 34e12,
                            .memory_bandwidth_bytes_per_s = 4.8e12,
                            .processors = 132,
                            .matrix_efficiency = 0.7,
                            .accelerators = 1,
                            .price_per_s = NAN};
}

/* Returns the times that a GPU with known figures has for all operations of a calibration. */
static struct hm_timings made_gpu(struct hm_timing *rows, const struct hm_calibration *measured)
{
    struct hm_timings t = {.gpu = true,
                           .name = "Made up",
                           .date = "2026-11-16",
                           .processors = 132,
                           .memory_bytes = 141e9,
                           .workers = NAN,
                           .rows = rows};
    struct hm_calibrated m = {.node = card(), .timed = true, .gpu = true};
    size_t all = hm__calibration_gpu_ops(false, rows);

    m.node.measured = *measured;
    for (size_t i = 0; i < all; i++) {
        struct hm_timing row = rows[i];
        if (row.what == HM_TIMED_LAUNCH || row.math == HM_MATH_FP8)
            continue;
        row.seconds = hm__calibrated_time(&m, &row);
        row.spread = 0.02;
        assert_true(row.seconds > 0);
        rows[t.count++] = row;
    }
    return t;
}

static void figures_of_a_gpu_are_found_again(void **state)
{
    const struct hm_calibration truth = {
        .flops = {.fp64 = 50e12, .fp32 = 41e12, .tf32 = 300e12, .bf16 = 600e12, .fp16 = 650e12},
        .convolutions = {.fp32 = 0.8, .tf32 = 0.7, .bf16 = 1.3},
        .memory_bandwidth_bytes_per_s = 3.9e12,
        .kernel_s = 1.5e-6};
    struct hm_timing *rows = calloc(HM_CALIBRATION_OPS, sizeof(*rows));
    struct hm_timings t = made_gpu(rows, &truth);
    const struct hm_node sheet = card();
    struct hm_calibrated m;

    (void)state;
    assert_int_equal(hm__calibrate(&t, &sheet, &m, NULL), 0);
    const struct hm_calibration *c = &m.node.measured;
    assert_near(c->flops.bf16, truth.flops.bf16, 1e-3);
    assert_near(c->flops.fp16, truth.flops.fp16, 1e-3);
    assert_near(c->flops.tf32, truth.flops.tf32, 1e-3);
    assert_near(c->flops.fp32, truth.flops.fp32, 1e-3);
    assert_near(c->flops.fp64, truth.flops.fp64, 1e-3);
    assert_true(c->flops.fp8 == 0);
    assert_near(c->convolutions.fp32, 0.8, 1e-3);
    assert_near(c->convolutions.tf32, 0.7, 1e-3);
    assert_near(c->convolutions.bf16, 1.3, 1e-3);
    assert_near(c->memory_bandwidth_bytes_per_s, 3.9e12, 1e-6);
    assert_near(c->kernel_s, 1.5e-6, 1e-9);
    assert_near(c->uncertainty, 0.02, 1e-9);
    assert_true(m.model_error < 1e-3);
    assert_string_equal(c->date, "2026-11-16");
    assert_null(m.assumed);
    free(rows);
}

/* The model must use the measured figures of a machine: those of matrix products, memory and
 * kernels. */
static void the_model_uses_what_was_measured(void **state)
{
    struct hm_node node = card();
    struct hm_device sheet, measured;

    (void)state;
    assert_true(hm__device_init(&sheet, &node, HM_MATH_BF16, 32, HM_SOFTWARE_EAGER, NULL));
    node.measured.flops.bf16 = 990e12 * 0.35;
    node.measured.memory_bandwidth_bytes_per_s = 2.4e12 * hm__constants.stream;
    node.measured.kernel_s = 1e-6;
    assert_true(hm__device_init(&measured, &node, HM_MATH_BF16, 32, HM_SOFTWARE_EAGER, NULL));
    /* With half of the usual efficiency, the product takes twice the time, apart from the start of
     * the kernel. */
    double usual = hm__device_gemm(&sheet, 8192, 8192, 8192, 1) - hm__constants.kernel * 1e-6;
    assert_near(hm__device_gemm(&measured, 8192, 8192, 8192, 1) - 1e-6, 2 * usual, 1e-6);
    assert_near(hm__device_stream(&measured, 2.4e9, 1), 1e-3 + 1e-6, 1e-9);
    /* The bandwidth was measured with kernels that reach a share of it. */
    struct hm_constants half = hm__constants;
    half.stream = 0.5;
    assert_true(hm__device_init(&measured, &node, HM_MATH_BF16, 32, HM_SOFTWARE_EAGER, &half));
    assert_near(measured.bandwidth, 2.4e12 * hm__constants.stream / 0.5, 1e-12);
    /* For a precision that was not measured, the figures of the data sheet are used. */
    assert_true(hm__device_init(&measured, &node, HM_MATH_TF32, 32, HM_SOFTWARE_EAGER, NULL));
    assert_near(measured.reach, 0.7 * hm__constants.gemm_tf32, 1e-12);
}

static void an_unknown_card_gets_typical_peaks(void **state)
{
    const struct hm_calibration truth = {
        .flops = {.bf16 = 600e12}, .memory_bandwidth_bytes_per_s = 3e12, .kernel_s = 1e-6};
    struct hm_timing *rows = calloc(HM_CALIBRATION_OPS, sizeof(*rows));
    struct hm_timings t = made_gpu(rows, &truth);
    struct hm_calibrated m;
    double best = 0;

    (void)state;
    for (size_t i = 0; i < t.count; i++)
        if (t.rows[i].what == HM_TIMED_GEMM && t.rows[i].math == HM_MATH_BF16)
            best = fmax(best, hm__timing_flop(&t.rows[i]) / t.rows[i].seconds);
    assert_int_equal(hm__calibrate(&t, NULL, &m, NULL), 0);
    assert_near(m.node.flops_bf16, best / 0.75, 1e-9);
    assert_near(m.node.measured.flops.bf16, 600e12, 1e-3);
    assert_non_null(m.assumed);
    free(rows);
}

static struct hm_timing product(enum hm_math math, double side, double workers, double rate)
{
    struct hm_timing t = {.what = HM_TIMED_GEMM,
                          .math = math,
                          .shape = {side, side, side},
                          .workers = workers,
                          .nodes = 1,
                          .spread = NAN};
    t.seconds = 2 * side * side * side / rate;
    return t;
}

static void a_cpu_is_its_fastest_product_and_the_median_of_others(void **state)
{
    struct hm_timing rows[] = {
        product(HM_MATH_FP32, 100, 4, 100e9),
        product(HM_MATH_FP32, 200, 4, 400e9),
        product(HM_MATH_FP32, 300, 4, 300e9),
        product(HM_MATH_FP64, 300, 4, 150e9),
        /* This matrix product ran on one core; only products on all cores are used. */
        product(HM_MATH_FP32, 300, 1, 90e9),
        {.what = HM_TIMED_STREAM, .shape = {3e9}, .workers = 4, .nodes = 1, .seconds = 0.1},
        {.what = HM_TIMED_KERNEL, .workers = 4, .nodes = 1, .seconds = 2e-7},
    };
    const struct hm_timings t = {.name = "CPU",
                                 .processors = 4,
                                 .memory_bytes = 8e9,
                                 .workers = NAN,
                                 .rows = rows,
                                 .count = sizeof(rows) / sizeof(rows[0])};
    struct hm_calibrated m;

    (void)state;
    assert_int_equal(hm__calibrate(&t, NULL, &m, NULL), 0);
    assert_near(m.node.flops_32, 400e9, 1e-12);
    assert_near(m.node.flops_64, 150e9, 1e-12);
    /* The efficiency is the median of 1/4, 3/4, 1 and 1. */
    assert_near(m.node.efficiency, (0.75 + 1) / 2, 1e-12);
    assert_near(m.node.memory_bandwidth_bytes_per_s, 30e9, 1e-12);
    assert_near(m.node.kernel_overhead_s, 2e-7, 1e-12);
    assert_false(m.node.processors > 0);
    assert_near(m.node.cores, 4, 0);
    assert_near(m.node.measured.memory_bandwidth_bytes_per_s, 30e9, 1e-12);
    /* The rate of the largest matrix products is chosen such that the median error of the model of
     * CPUs is 0 for the three products on all cores: the second of their errors is 0. */
    double errors[3];
    for (size_t i = 0; i < 3; i++)
        errors[i] = log(hm__calibrated_time(&m, &rows[i]) / rows[i].seconds);
    assert_true(fabs(hm__values_median(errors, 3)) < 1e-9);
    assert_true(m.node.measured.flops.fp32 > 0 && m.node.measured.flops.fp64 > 0);
}

/* The expected latency and bandwidth are those that tools/oracle/calibration.py fits to these
 * times. */
static void messages_give_latency_and_bandwidth(void **state)
{
    static const double bytes[] = {8, 1024, 65536, 1048576, 16777216};
    static const double seconds[] = {2.1e-6, 2.3e-6, 8.4e-6, 9.1e-5, 1.42e-3};
    struct hm_timing rows[10];
    struct hm_timings t = {
        .rows = rows, .count = 10, .processors = NAN, .memory_bytes = NAN, .workers = NAN};
    struct hm_calibrated m;

    (void)state;
    for (size_t i = 0; i < 10; i++)
        rows[i] = (struct hm_timing){.what = HM_TIMED_SEND,
                                     .shape = {bytes[i % 5]},
                                     .workers = 2,
                                     .nodes = i < 5 ? 1 : 2,
                                     .seconds = (i < 5 ? 1 : 10) * seconds[i % 5],
                                     .spread = NAN};
    assert_int_equal(hm__calibrate(&t, NULL, &m, NULL), 0);
    assert_near(m.node.link.latency_s, 2.1687238816004996e-06, 1e-9);
    assert_near(m.node.link.bandwidth_bytes_per_s, 11554377342.67465, 1e-9);
    assert_near(m.fabric.latency_s, 2.1687238816004996e-05, 1e-9);
    assert_near(m.fabric.bandwidth_bytes_per_s, 1155437734.267465, 1e-9);
    assert_false(m.timed);
}

static void all_reduces_of_gpus_give_the_link(void **state)
{
    const struct hm_wires wires = {
        .link = {.bandwidth_bytes_per_s = 250e9, .latency_s = 4e-6}, .per_node = 8, .servers = 1};
    const struct hm_allreduce a = hm__allreduce_init(HM_SCHEME_BEST, 8, &wires, &hm__constants);
    struct hm_timing *rows = calloc(HM_CALIBRATION_OPS, sizeof(*rows));
    const struct hm_calibration truth = {
        .flops = {.bf16 = 600e12}, .memory_bandwidth_bytes_per_s = 3e12, .kernel_s = 1e-6};
    struct hm_timings t = made_gpu(rows, &truth);
    const struct hm_node sheet = card();
    struct hm_calibrated m;

    (void)state;
    for (double bytes = 1024; bytes < 3e9; bytes *= 4) {
        struct hm_wire_time time = hm__allreduce_time(&a, bytes);
        rows[t.count++] = (struct hm_timing){.what = HM_TIMED_ALL_REDUCE,
                                             .shape = {bytes},
                                             .workers = 8,
                                             .nodes = 1,
                                             .seconds = time.latency_s + time.bandwidth_s,
                                             .spread = NAN};
    }
    t.workers = 8;
    assert_int_equal(hm__calibrate(&t, &sheet, &m, NULL), 0);
    assert_near(m.node.link.bandwidth_bytes_per_s, 250e9, 1e-3);
    assert_near(m.node.link.latency_s, 4e-6, 1e-2);
    assert_near(m.node.accelerators, 8, 0);
    assert_true(m.link_error < 0.01);
    assert_true(isnan(m.fabric.bandwidth_bytes_per_s));
    free(rows);
}

static void too_little_is_an_error(void **state)
{
    struct hm_timing one = {.what = HM_TIMED_SEND, .shape = {8}, .workers = 2, .nodes = 1};
    struct hm_timings t = {.rows = &one, .count = 1, .processors = NAN, .workers = NAN};
    struct hm_calibrated m;
    struct hm_err err = {0};

    (void)state;
    /* Without any times, the calibration fails. */
    assert_int_equal(hm__calibrate(&t, NULL, &m, &err), HM_E_RANGE);
    assert_non_null(strstr(err.message, "operation 1, send, has no time"));
    one.seconds = 1e-6;
    err = (struct hm_err){0};
    assert_int_equal(hm__calibrate(&t, NULL, &m, &err), HM_E_MISSING);
    assert_non_null(strstr(err.message, "two sizes"));
    one = product(HM_MATH_BF16, 512, 1, 1e12);
    t.gpu = true;
    err = (struct hm_err){0};
    assert_int_equal(hm__calibrate(&t, NULL, &m, &err), HM_E_MISSING);
    assert_non_null(strstr(err.message, "memory bandwidth"));
    t.gpu = false;
    err = (struct hm_err){0};
    assert_int_equal(hm__calibrate(&t, NULL, &m, &err), HM_E_MISSING);
    assert_non_null(strstr(err.message, "no matrix product on all 1 cores"));
}

static void rounds_are_summed_up(void **state)
{
    double samples[] = {5, 1, 4, 2, 3, 9, 8, 7}, rounds[] = {1.1, 1.0, 5.0, 1.2}, one[] = {3};
    struct hm_timing t = {.what = HM_TIMED_KERNEL};

    (void)state;
    assert_near(hm__samples_quartile(samples, 8), 2, 0);
    hm__timing_set(&t, rounds, 4);
    assert_near(t.seconds, 1.15, 1e-12);
    assert_near(t.spread, 0.15 / 1.15, 1e-12);
    hm__timing_set(&t, one, 1);
    assert_near(t.seconds, 3, 0);
    assert_true(isnan(t.spread));
}

/* Writes the description of a machine, reads it as a cluster and compares. */
static void descriptions_are_read_back(void **state)
{
    const struct hm_calibration truth = {
        .flops = {.fp64 = 50e12, .fp32 = 41e12, .tf32 = 300e12, .bf16 = 600e12, .fp16 = 650e12},
        .convolutions = {.bf16 = 1.3},
        .memory_bandwidth_bytes_per_s = 3.9e12,
        .kernel_s = 1.5e-6};
    struct hm_timing *rows = calloc(HM_CALIBRATION_OPS, sizeof(*rows));
    struct hm_timings t = made_gpu(rows, &truth);
    struct hm_calibrated m;
    struct hm_cluster *c = NULL;
    struct hm_text out = {0};
    struct hm_err err = {0};

    (void)state;
    t.name = "A \"card\": #1";
    t.workers = 8;
    t.library = "cuBLAS 13.1";
    assert_int_equal(hm__calibrate(&t, NULL, &m, NULL), 0);
    m.node.link = (struct hm_link){.bandwidth_bytes_per_s = 450e9, .latency_s = 3e-6};
    m.fabric = (struct hm_link){.bandwidth_bytes_per_s = 50e9, .latency_s = 5e-6};
    hm__calibration_yaml(&out, &t, &m, NULL);
    int rc = hm_cluster_parse(NULL, out.data, out.length, "machine.yaml", NULL, 0, &c, &err);
    if (rc)
        fail_msg("%s: %s\n%s", err.field, err.message, out.data);
    assert_string_equal(c->title, t.name);
    assert_near(c->node.measured.flops.bf16, 600e12, 1e-3);
    assert_near(c->node.measured.flops.fp64, 50e12, 1e-3);
    assert_near(c->node.measured.convolutions.bf16, 1.3, 1e-3);
    assert_near(c->node.measured.memory_bandwidth_bytes_per_s, 3.9e12, 1e-3);
    assert_near(c->node.measured.kernel_s, 1.5e-6, 1e-3);
    assert_near(c->node.measured.uncertainty, 0.02, 0.05);
    assert_string_equal(c->node.measured.date, "2026-11-16");
    assert_near(c->node.flops_bf16, m.node.flops_bf16, 1e-3);
    assert_near(c->node.processors, 132, 0);
    assert_near(c->node.memory_bytes, 141e9, 1e-3);
    assert_near(c->node.accelerators, 8, 0);
    assert_near(c->node.link.bandwidth_bytes_per_s, 450e9, 1e-3);
    assert_near(c->node.link.latency_s, 3e-6, 1e-3);
    assert_near(c->fabric.bandwidth_bytes_per_s, 50e9, 1e-3);
    assert_near(c->fabric.latency_s, 5e-6, 1e-3);
    assert_true(isnan(c->max_nodes));
    assert_non_null(c->assumed);
    hm_cluster_free(c);
    hm__text_release(&out);
    /* Without a fabric the machine is one node. */
    m.fabric.bandwidth_bytes_per_s = NAN;
    hm__calibration_yaml(&out, &t, &m, "H200");
    assert_int_equal(
        hm_cluster_parse(NULL, out.data, out.length, "machine.yaml", NULL, 0, &c, NULL), 0);
    assert_near(c->max_nodes, 1, 0);
    assert_near(c->node.flops_bf16, 989.4e12, 1e-9);
    hm_cluster_free(c);
    hm__text_release(&out);
    free(rows);
}

static void recorded_times_are_read_back(void **state)
{
    const struct hm_calibration truth = {
        .flops = {.bf16 = 600e12}, .memory_bandwidth_bytes_per_s = 3e12, .kernel_s = 1e-6};
    struct hm_timing *rows = calloc(HM_CALIBRATION_OPS, sizeof(*rows));
    struct hm_timings t = made_gpu(rows, &truth), back;
    struct hm_text out = {0};

    (void)state;
    t.library = "cuBLAS";
    rows[0].spread = NAN;
    hm__timings_json(&out, &t);
    assert_int_equal(hm__timings_parse(out.data, out.length, "x.json", &back, NULL), 0);
    assert_int_equal(back.count, t.count);
    assert_true(back.gpu);
    assert_string_equal(back.name, t.name);
    assert_string_equal(back.library, t.library);
    assert_string_equal(back.date, t.date);
    assert_near(back.processors, 132, 0);
    assert_near(back.memory_bytes, 141e9, 0);
    assert_true(isnan(back.workers));
    for (size_t i = 0; i < t.count; i++) {
        assert_int_equal(back.rows[i].what, rows[i].what);
        assert_int_equal(back.rows[i].math, rows[i].math);
        assert_memory_equal(back.rows[i].shape, rows[i].shape, sizeof(rows[i].shape));
        assert_near(back.rows[i].seconds, rows[i].seconds, 0);
        assert_near(back.rows[i].spread, rows[i].spread, 0);
        assert_near(back.rows[i].workers, 1, 0);
        assert_near(back.rows[i].nodes, 1, 0);
    }
    hm__timings_release(&back);
    hm__text_release(&out);
    free(rows);
}

static void wrong_recordings_are_refused(void **state)
{
    static const struct {
        const char *text, *field, *message;
    } cases[] = {
        {"{", "", ""},
        {"timings: []", "", "'device' is missing"},
        {"device: cpu", "", "'timings' is missing"},
        {"device: tpu\ntimings: []", "device", "tpu"},
        {"device: cpu\ntimings: 3", "timings", ""},
        {"device: cpu\ncores: 3\ntimings: []", "cores", ""},
        {"device: cpu\nprocessors: 0\ntimings: []", "processors", "0"},
        {"device: cpu\ntimings:\n - {what: gemv, shape: [1], seconds: 1}", "timings.0.what",
         "gemv"},
        {"device: cpu\ntimings:\n - {what: stream, seconds: 1}", "timings.0", "'shape' is missing"},
        {"device: cpu\ntimings:\n - {what: stream, shape: [1, 2], seconds: 1}", "timings.0.shape",
         ""},
        {"device: cpu\ntimings:\n - {what: stream, shape: [-1], seconds: 1}", "timings.0.shape.0",
         "-1"},
        {"device: cpu\ntimings:\n - {what: stream, shape: [8], seconds: 0}", "timings.0.seconds",
         "0"},
        {"device: cpu\ntimings:\n - {what: stream, shape: [1e16], seconds: 1}", "timings.0",
         "a side of 1e+16 is larger than 1e+15"},
        {"device: cpu\ntimings:\n - {what: stream, shape: [8]}", "timings.0",
         "'seconds' is missing"},
        {"device: cpu\ntimings:\n - {what: stream, precision: bf16, shape: [8], seconds: 1}",
         "timings.0", "stream has no precision"},
        {"device: cpu\ntimings:\n - {what: gemm, shape: [8, 8, 8], seconds: 1}", "timings.0",
         "gemm needs a precision, such as bf16"},
        {"device: cpu\ntimings:\n - {what: gemm, precision: bf17, shape: [8, 8, 8], seconds: 1}",
         "timings.0.precision", "bf17"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_timings t = {0};
        struct hm_err err = {0};
        int rc = hm__timings_parse(cases[i].text, strlen(cases[i].text), "times.yaml", &t, &err);
        if (rc == 0 || !strstr(err.message, cases[i].message) || !strstr(err.field, cases[i].field))
            fail_msg("case %zu: %s: %s", i, err.field, err.message);
        assert_string_equal(err.source, "times.yaml");
    }
}

/* Returns whether two rows describe the same operation. */
static bool is_same(const struct hm_timing *a, const struct hm_timing *b)
{
    return a->what == b->what && a->math == b->math && a->workers == b->workers &&
           memcmp(a->shape, b->shape, sizeof(a->shape)) == 0;
}

static void lists_of_operations_have_no_repeats(void **state)
{
    struct hm_timing *rows = calloc(HM_CALIBRATION_OPS, sizeof(*rows));
    double sizes[32];

    (void)state;
    for (int kind = 0; kind < 6; kind++) {
        size_t count = kind < 2 ? hm__calibration_gpu_ops(kind == 0, rows)
                                : hm__calibration_cpu_ops(kind % 2 == 0, kind < 4 ? 6 : 1, rows);
        assert_true(count > 4 && count < HM_CALIBRATION_OPS);
        for (size_t i = 0; i < count; i++) {
            assert_true(isnan(rows[i].seconds));
            assert_true(kind >= 2 || rows[i].workers == 1);
            for (size_t k = 0; k < i; k++)
                assert_false(is_same(&rows[i], &rows[k]));
        }
    }
    assert_int_equal(hm__calibration_sizes(true, sizes), 3);
    assert_near(sizes[0], 8, 0);
    size_t all = hm__calibration_sizes(false, sizes);
    assert_true(all <= 32 && sizes[all - 1] >= 32e6);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_a_gpu_are_found_again),
        cmocka_unit_test(the_model_uses_what_was_measured),
        cmocka_unit_test(an_unknown_card_gets_typical_peaks),
        cmocka_unit_test(a_cpu_is_its_fastest_product_and_the_median_of_others),
        cmocka_unit_test(messages_give_latency_and_bandwidth),
        cmocka_unit_test(all_reduces_of_gpus_give_the_link),
        cmocka_unit_test(too_little_is_an_error),
        cmocka_unit_test(rounds_are_summed_up),
        cmocka_unit_test(descriptions_are_read_back),
        cmocka_unit_test(recorded_times_are_read_back),
        cmocka_unit_test(wrong_recordings_are_refused),
        cmocka_unit_test(lists_of_operations_have_no_repeats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
