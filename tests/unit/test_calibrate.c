/*
 * Tests the timing of operations: on a device whose operations take known times with interruptions,
 * the known times must be found; operations that a device does not support, or that take too long,
 * must be left out.
 */
#include "testing.h"

#include <unistd.h>

#include "calibrate_device.h"
#include "calibration.h"
#include "err.h"

/* State of a device whose clock is virtual. */
struct fake_state {
    size_t runs, prepared, stop_after;
    int fails; /* Error code that the function `run` returns; 0: none. */
};

/* Returns the seconds of one operation: 1 us for each MB, or the time of its flop at 100
 * Tflop/s. */
static double fake_seconds(const struct hm_timing *op)
{
    return op->what == HM_TIMED_GEMM ? hm__timing_flop(op) / 100e12 : op->shape[0] * 1e-12;
}

static int fake_prepare(struct calibrate_device *d, const struct hm_timing *op, struct hm_err *err)
{
    struct fake_state *s = d->state;

    (void)err;
    s->prepared++;
    return op->math != HM_MATH_FP8;
}

/* Runs an operation; every third run is interrupted and takes twice the time. */
static int fake_run(struct calibrate_device *d, const struct hm_timing *op, size_t times,
                    double *ret_seconds, struct hm_err *err)
{
    struct fake_state *s = d->state;

    if (s->fails)
        return hm__fail(err, s->fails, "the device is lost");
    *ret_seconds = fake_seconds(op) * (double)times * (s->runs++ % 3 == 2 ? 2 : 1);
    return 0;
}

static void fake_close(struct calibrate_device *d)
{
    (void)d;
}

static const struct calibrate_ops fake_ops = {fake_prepare, fake_run, fake_close};

static bool fake_stopped(void *context)
{
    struct fake_state *s = context;
    return s->stop_after > 0 && s->prepared >= s->stop_after;
}

static size_t steps_seen, steps_total;

static void fake_step(void *context, size_t done, size_t total)
{
    (void)context;
    assert_int_equal(done, steps_seen);
    steps_seen++;
    steps_total = total;
}

static struct hm_timing gemm(enum hm_math math, double side)
{
    return (struct hm_timing){.what = HM_TIMED_GEMM,
                              .math = math,
                              .shape = {side, side, side},
                              .workers = 1,
                              .nodes = 1,
                              .seconds = NAN};
}

static void known_times_are_found(void **state)
{
    struct fake_state s = {0};
    struct calibrate_device d = {.ops = &fake_ops, .state = &s};
    const struct calibrate_effort effort = {
        .rounds = 3, .samples = 8, .sample_s = 1e-3, .longest_s = 0.5, .step = fake_step};
    struct hm_timing rows[] = {
        gemm(HM_MATH_BF16, 1000),
        gemm(HM_MATH_FP8, 1000),
        gemm(HM_MATH_BF16, 10000),
        gemm(HM_MATH_BF16, 40000), /* This matrix product would take 1.28 s, so it is left out. */
        {.what = HM_TIMED_STREAM, .shape = {3e6}, .workers = 1, .nodes = 1, .seconds = NAN},
        {.what = HM_TIMED_STREAM, .shape = {9e11}, .workers = 1, .nodes = 1, .seconds = NAN},
    };
    size_t kept = 0;

    (void)state;
    steps_seen = 0;
    assert_int_equal(calibrate_measure(&d, &effort, rows, 6, &kept, NULL), 0);
    assert_int_equal(kept, 3);
    assert_int_equal(steps_total, 18);
    for (size_t i = 0; i < kept; i++) {
        assert_near(rows[i].seconds, fake_seconds(&rows[i]), 1e-9);
        assert_near(rows[i].spread + 1, 1, 1e-9);
    }
    assert_near(rows[2].shape[0], 3e6, 0);
}

/* Runs an operation on a device that is slow in its first rounds. */
static int slow_run(struct calibrate_device *d, const struct hm_timing *op, size_t times,
                    double *ret_seconds, struct hm_err *err)
{
    struct fake_state *s = d->state;

    (void)err;
    *ret_seconds = fake_seconds(op) * (double)times * (s->prepared < 4 ? 3 : 1);
    return 0;
}

static void the_median_of_rounds_or_the_fastest_counts(void **state)
{
    static const struct calibrate_ops ops = {fake_prepare, slow_run, fake_close};
    struct fake_state s = {0};
    struct calibrate_device d = {.ops = &ops, .state = &s};
    struct calibrate_effort effort = {.rounds = 4, .samples = 2, .sample_s = 1e-4, .longest_s = 1};
    struct hm_timing row = gemm(HM_MATH_BF16, 1000);
    size_t kept = 0;

    (void)state;
    assert_int_equal(calibrate_measure(&d, &effort, &row, 1, &kept, NULL), 0);
    assert_near(row.seconds, 3 * fake_seconds(&row), 1e-9);
    assert_near(row.spread, 2. / 3, 1e-9);
    s = (struct fake_state){0};
    effort.fastest = true;
    assert_int_equal(calibrate_measure(&d, &effort, &row, 1, &kept, NULL), 0);
    assert_near(row.seconds, fake_seconds(&row), 1e-9);
    assert_near(row.spread, 2. / 3, 1e-9);
}

static void the_list_ends_at_an_error_or_an_interruption(void **state)
{
    struct fake_state s = {.fails = HM_E_UNSUPPORTED};
    struct calibrate_device d = {.ops = &fake_ops, .state = &s};
    struct calibrate_effort effort = {.rounds = 2,
                                      .samples = 2,
                                      .sample_s = 1e-4,
                                      .longest_s = 1,
                                      .stopped = fake_stopped,
                                      .context = &s};
    struct hm_timing rows[] = {gemm(HM_MATH_BF16, 1000), gemm(HM_MATH_FP32, 1000)};
    struct hm_err err = {0};
    size_t kept = 77;

    (void)state;
    assert_int_equal(calibrate_measure(&d, &effort, rows, 2, &kept, &err), HM_E_UNSUPPORTED);
    assert_string_equal(err.message, "the device is lost");
    s = (struct fake_state){.stop_after = 3};
    err = (struct hm_err){0};
    assert_int_equal(calibrate_measure(&d, &effort, rows, 2, &kept, &err), HM_E_CANCELLED);
    assert_int_equal(s.prepared, 3);
    assert_int_equal(kept, 77); /* Results are written only on success. */
}

static void a_recorded_device_has_the_times_of_its_file(void **state)
{
    char path[] = "/tmp/howmany-timings-XXXXXX";
    int file = mkstemp(path);
    static const char text[] =
        "device: gpu\nname: card\nprocessors: 10\ntimings:\n"
        "  - {what: gemm, precision: bf16, shape: [1000, 1000, 1000], seconds: 0.25}\n"
        "  - {what: send, shape: [8], workers: 2, nodes: 2, seconds: 3e-6}\n";
    struct calibrate_device d = {0};
    const struct calibrate_effort effort = {
        .rounds = 1, .samples = 1, .sample_s = 1e-3, .longest_s = INFINITY};
    struct hm_timing rows[] = {gemm(HM_MATH_BF16, 1000), gemm(HM_MATH_BF16, 2000),
                               gemm(HM_MATH_FP16, 1000)};
    struct hm_err err = {0};
    size_t kept = 0;

    (void)state;
    assert_true(file >= 0 && write(file, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1);
    close(file);
    assert_int_equal(calibrate_recorded_open(&d, path, &err), 0);
    unlink(path);
    assert_int_equal(d.facts.count, 2);
    assert_int_equal(calibrate_measure(&d, &effort, rows, 3, &kept, &err), 0);
    assert_int_equal(kept, 1);
    assert_near(rows[0].seconds, 0.25, 1e-12);
    calibrate_device_close(&d);
    assert_null(d.ops);
    calibrate_device_close(&d); /* Closing a device that is already closed does nothing. */
    assert_true(calibrate_recorded_open(&d, path, &err) < 0);
}

/* The CPU supports matrix products and kernels that move memory, with and without OpenBLAS, and no
 * other operations. */
static void the_cpu_has_products_and_streams(void **state)
{
    struct calibrate_device d = {0};
    struct hm_err err = {0};
    double seconds = 0;

    (void)state;
    for (int blas = 0; blas < 2; blas++) {
        assert_int_equal(calibrate_cpu_open(&d, blas == 1, &err), 0);
        struct hm_timing rows[] = {
            gemm(HM_MATH_FP32, 33),
            gemm(HM_MATH_FP64, 33),
            {.what = HM_TIMED_STREAM, .shape = {12000}, .workers = d.facts.processors},
            {.what = HM_TIMED_KERNEL, .workers = 1}};
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(d.ops->prepare(&d, &rows[i], &err), 1);
            assert_int_equal(d.ops->run(&d, &rows[i], 3, &seconds, &err), 0);
            assert_true(seconds > 0 && seconds < 10);
        }
        struct hm_timing no = gemm(HM_MATH_BF16, 33);
        assert_int_equal(d.ops->prepare(&d, &no, &err), 0);
        no = gemm(HM_MATH_FP32, 33);
        no.workers = d.facts.processors + 1;
        assert_int_equal(d.ops->prepare(&d, &no, &err), 0);
        assert_true(d.facts.memory_bytes > 1e6 && d.facts.name && d.facts.library);
        calibrate_device_close(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_times_are_found),
        cmocka_unit_test(the_median_of_rounds_or_the_fastest_counts),
        cmocka_unit_test(the_list_ends_at_an_error_or_an_interruption),
        cmocka_unit_test(a_recorded_device_has_the_times_of_its_file),
        cmocka_unit_test(the_cpu_has_products_and_streams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
