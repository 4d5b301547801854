/*
 * Computes the costs of the frameworks that run a step, in addition to its arithmetic and its
 * messages.
 */
#ifndef HM_FRAMEWORK_H
#define HM_FRAMEWORK_H

#include "howmany.h"

/* Columns: name, smallest and largest reasonable value, meaning. Times are in microseconds. */
/* clang-format off */
#define HM_FRAMEWORK_COST_MAP(X)                                                                   \
    X(algebra, 0.01, 1, "speed of linear algebra on a CPU relative to a tuned BLAS")               \
    X(step, 0, 1e5, "microseconds of a worker in each iteration")                                  \
    X(value, 0, 1, "microseconds of one thread to convert one input value from text")              \
    X(value_threads, 0, 1024, "threads that convert values; 0: all threads of the worker")         \
    X(stage, 0, 1e6, "microseconds of a driver for each of the two stages of an iteration")        \
    X(task, 0, 1e5, "microseconds of a driver to start one task; each thread runs one task")       \
    X(request, 0, 1e5, "microseconds of a server or driver for one message of a worker")           \
    X(byte, 0, 0.1, "microseconds of a server or driver to copy and convert 1000 bytes")
/* clang-format on */

struct hm_framework_costs {
#define HM_FRAMEWORK_COST_MEMBER(name, low, high, doc) double name;
    HM_FRAMEWORK_COST_MAP(HM_FRAMEWORK_COST_MEMBER)
#undef HM_FRAMEWORK_COST_MEMBER
};

/* The costs of this version, one element for each enum hm_framework. */
extern const struct hm_framework_costs hm__framework_costs[HM_FRAMEWORK_COUNT];

/* Returns the time in seconds that a worker needs to convert `values` input values with `threads`
 * threads. */
double hm__framework_input_time(const struct hm_framework_costs *costs, double values,
                                double threads);
/*
 * Returns the time in seconds that the software of one server or driver needs for n messages of
 * `bytes` bytes, one from each worker.
 */
double hm__framework_message_time(const struct hm_framework_costs *costs, double n, double bytes);
/* Returns the time in seconds that a driver needs to schedule an iteration of n workers that run
 * `tasks` tasks each. */
double hm__framework_driver_time(const struct hm_framework_costs *costs, double n, double tasks);

/*
 * Returns the time in seconds that each of n workers needs to complete one iteration if they share
 * a server that serves one worker at a time. A worker spends `apart_s` without the server and
 * occupies the server for `served_s`. This is the mean value analysis of a closed queue with
 * Schweitzer's approximation: a worker that arrives finds (n - 1)/n of the mean queue, so the time
 * R at the server satisfies R (Z + R) = S (Z + R) + (n - 1) S R, where S is served_s and Z is
 * apart_s.
 */
double hm__framework_queue_time(double n, double apart_s, double served_s);

#endif
