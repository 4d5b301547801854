/*
 * Computes the times of n workers with different and varying speeds (slowness.h models each
 * worker): the expected time until all of them, or all but a few, have finished an iteration; and
 * the time for n iterations in total when workers need not wait for each other at every step.
 */
#ifndef HM_SLOW_TIME_H
#define HM_SLOW_TIME_H

#include "howmany.h"

struct hm_slow; /* Tables of the times of workers with different or varying speeds, which many
                   evaluations share; not thread-safe. */

/* Creates the tables for workers with the given slowness, which is borrowed and must outlive
 * *ret_slow. */
int hm__slow_new(const struct hm_slowness *slowness, struct hm_slow **ret_slow, struct hm_err *err);
void hm__slow_free(struct hm_slow *slow);

/*
 * Returns the expected time in seconds until all but `late` of n workers have finished an iteration
 * of `seconds` seconds; this is the (n - late)-th smallest of their n times. Requires 0 <= late < n
 * and late <= HM_BACKUPS_MOST.
 */
double hm__slow_order(struct hm_slow *slow, double n, double late, double seconds);
/*
 * Returns the time in seconds that n workers need to finish n iterations when no worker waits for
 * another. An iteration takes `seconds`, slowed by the worker's factor, plus `extra`, which is not
 * slowed.
 */
double hm__slow_async(const struct hm_slow *slow, double n, double seconds, double extra);
/*
 * Returns the mean time of an iteration of all n workers, in seconds, when the fastest is never
 * more than `staleness` iterations ahead of the slowest: iteration c of worker i ends at x_i(c) =
 * max(x_i(c-1), max_j x_j(c-1-staleness)) + d_i(c). The recursion runs on random draws with a fixed
 * seed. With staleness 0, the result equals the result of hm__slow_order. A staleness above
 * HM_SLOW_STALENESS is treated as HM_SLOW_STALENESS.
 */
int hm__slow_stale(struct hm_slow *slow, double n, double staleness, double seconds, double extra,
                   double *ret_seconds, struct hm_err *err);
enum { HM_SLOW_STALENESS = 256 };
/* Returns the number of draws that hm__slow_stale needs, if times vary at random. */
double hm__slow_draws(double n, double staleness);
/*
 * Returns the factor by which every worker is slower when work is distributed in proportion to
 * speed: the harmonic mean of the speeds.
 */
double hm__slow_even(const struct hm_slow *slow, double n);

#endif
