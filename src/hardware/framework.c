/*
 * Computes the costs of frameworks. Each framework has a few constants, fitted with
 * cross-validation to the rows of data/platforms.csv (tools/fit_platform.c);
 * docs/explain/accuracy.md lists the errors, and docs/reference/platforms.md explains the meaning
 * of each constant. A driver schedules two stages in an iteration, one that computes gradients and
 * one that adds them up. A server handles the messages of its workers one after another, in both
 * directions.
 *
 * Limits: the constants describe versions of the frameworks from 2015 to 2017, and there is one set
 * of constants for all machines, so the speed of the processor that runs a driver or a server does
 * not matter. Sources: Zhang, Alqahtani and Demirbas (ICCCN 2017); Schweitzer (1979) for the queue.
 */
#include "framework.h"

#include <math.h>

const struct hm_framework_costs hm__framework_costs[HM_FRAMEWORK_COUNT] = {
    [HM_FRAMEWORK_NONE] = {.algebra = 1},
    [HM_FRAMEWORK_SPARK] =
        {.algebra = 0.092, .value = 0.19, .stage = 5e3, .task = 1e3, .byte = 5e-3},
    [HM_FRAMEWORK_TENSORFLOW] =
        {.algebra = 1, .step = 8e3, .value = 0.68, .value_threads = 1, .request = 190},
    [HM_FRAMEWORK_MXNET] = {.algebra = 1, .value = 0.053, .request = 600},
    [HM_FRAMEWORK_PMLS] = {.algebra = 1, .value = 0.053, .request = 400},
};

double hm__framework_input_time(const struct hm_framework_costs *c, double values, double threads)
{
    double used = c->value_threads > 0 ? fmin(c->value_threads, threads) : threads;

    return values * c->value * 1e-6 / used;
}

double hm__framework_message_time(const struct hm_framework_costs *c, double n, double bytes)
{
    return n * (c->request + bytes * 1e-3 * c->byte) * 1e-6;
}

double hm__framework_driver_time(const struct hm_framework_costs *c, double n, double tasks)
{
    return (2 * c->stage + n * tasks * c->task) * 1e-6;
}

double hm__framework_queue_time(double n, double apart_s, double served_s)
{
    double excess = n * served_s - apart_s;
    double root = sqrt(excess * excess + 4 * served_s * apart_s);
    /* Two formulas give the same larger root of the quadratic equation; the one that adds positive
     * numbers loses no digits. */
    double at_server = excess > 0          ? (excess + root) / 2
                       : root - excess > 0 ? 2 * served_s * apart_s / (root - excess)
                                           : 0;

    return apart_s + at_server;
}
