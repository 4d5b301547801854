/*
 * Times operations. In each round, an operation is prepared, its run time is estimated with one
 * run, and several samples are measured, each with enough runs to last long enough for the clock.
 * The time of a round is the first quartile of its samples. On a GPU, the time of the operation is
 * the median of its rounds, because a GPU becomes slower as it warms up, in training as well. On a
 * CPU, it is the fastest round, because the other rounds are slower only if other programs run.
 */
#include <math.h>
#include <stdlib.h>

#include "calibrate_device.h"
#include "calibration.h"
#include "err.h"

enum { SAMPLES_MAX = 64, ROUNDS_MAX = 16 };

/* Returns the number of runs in one sample, so that the sample lasts at least sample_s. */
static size_t runs_for(const struct calibrate_effort *effort, double seconds)
{
    double runs = seconds > 0 ? ceil(effort->sample_s / seconds) : 1e6;

    return (size_t)fmin(fmax(runs, 1), 1e6);
}

/* Estimates the time of one run in seconds. Runs that are too short for the clock are repeated. */
static int estimate_run(struct calibrate_device *d, const struct calibrate_effort *effort,
                        const struct hm_timing *op, double *ret_seconds, struct hm_err *err)
{
    int rc = 0;
    double total = 0;
    size_t runs = 1;

    for (;; runs *= 8) {
        rc = d->ops->run(d, op, runs, &total, err);
        if (rc || total >= effort->sample_s / 16 || runs >= 4096)
            break;
    }
    *ret_seconds = total / (double)runs;
    return rc;
}

/*
 * Measures one operation in one round. Returns 1, 0 if the operation is skipped, or an error code.
 */
static int measure_round(struct calibrate_device *d, const struct calibrate_effort *effort,
                         const struct hm_timing *op, double *ret_seconds, struct hm_err *err)
{
    double samples[SAMPLES_MAX], estimate = 0;
    int rc = d->ops->prepare(d, op, err);

    if (rc <= 0)
        return rc;
    rc = estimate_run(d, effort, op, &estimate, err);
    if (rc)
        return rc;
    if (estimate > effort->longest_s)
        return 0;
    size_t runs = runs_for(effort, estimate);
    size_t count = effort->samples < SAMPLES_MAX ? effort->samples : SAMPLES_MAX;
    /* A long operation needs only a few samples. */
    if (estimate > 10 * effort->sample_s)
        count = count < 3 ? count : 3;
    for (size_t i = 0; i < count; i++) {
        rc = d->ops->run(d, op, runs, &samples[i], err);
        if (rc)
            return rc;
        samples[i] /= (double)runs;
    }
    *ret_seconds = hm__samples_quartile(samples, count);
    return 1;
}

/* Returns whether an operation would take too long at the rate of the matrix products timed so
 * far. */
static bool is_too_long(const struct calibrate_effort *effort, const struct hm_timing *op,
                        const double rates[HM_MATH_COUNT])
{
    double flop = hm__timing_flop(op);

    return flop > 0 && rates[op->math] > 0 && flop / rates[op->math] > effort->longest_s;
}

/* Removes the operations that have no time. */
static size_t keep_timed(struct hm_timing *rows, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (!isnan(rows[i].seconds))
            rows[kept++] = rows[i];
    return kept;
}

int calibrate_measure(struct calibrate_device *d, const struct calibrate_effort *effort,
                      struct hm_timing *rows, size_t count, size_t *ret_count, struct hm_err *err)
{
    size_t rounds = effort->rounds < ROUNDS_MAX ? effort->rounds : ROUNDS_MAX;
    double(*times)[ROUNDS_MAX] = calloc(count + 1, sizeof(*times)), rates[HM_MATH_COUNT] = {0};
    bool *missing = calloc(count + 1, sizeof(*missing));
    int rc = times && missing ? 0 : hm__fail_nomem(err);

    for (size_t i = 0; rc == 0 && i < rounds * count; i++) {
        size_t round = i / count, k = i % count;
        if (effort->step)
            effort->step(effort->context, i, rounds * count);
        if (effort->stopped && effort->stopped(effort->context))
            rc = hm__fail(err, HM_E_CANCELLED, "interrupted");
        if (rc || missing[k] || is_too_long(effort, &rows[k], rates)) {
            missing[k] = true;
            continue;
        }
        int found = measure_round(d, effort, &rows[k], &times[k][round], err);
        missing[k] = found == 0;
        rc = found < 0 ? found : 0;
        if (found == 1 && rows[k].what == HM_TIMED_GEMM)
            rates[rows[k].math] =
                fmax(rates[rows[k].math], hm__timing_flop(&rows[k]) / times[k][round]);
    }
    for (size_t k = 0; rc == 0 && k < count; k++) {
        rows[k].seconds = NAN;
        if (missing[k])
            continue;
        hm__timing_set(&rows[k], times[k], rounds);
        if (effort->fastest)
            rows[k].seconds = times[k][0]; /* The first time is the shortest, because hm__timing_set
                                              has sorted the times of the rounds. */
    }
    if (rc == 0)
        *ret_count = keep_timed(rows, count);
    free(times);
    free(missing);
    return rc;
}

void calibrate_device_close(struct calibrate_device *device)
{
    if (device->ops)
        device->ops->close(device);
    *device = (struct calibrate_device){0};
}
