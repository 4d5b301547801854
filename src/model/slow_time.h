/*
 * How long n uneven and unsteady workers take (slowness.h says what each takes): the expected time
 * until the last of them is done, or all but a few; and the time in which they finish as many
 * iterations as there are workers when they need not wait for each other at every step.
 */
#ifndef HM_SLOW_TIME_H
#define HM_SLOW_TIME_H

#include "howmany.h"

struct hm_slow; /* tables that many evaluations share; not for two threads at once */

/* slowness is borrowed and must outlive it. */
int hm__slow_new(const struct hm_slowness *slowness, struct hm_slow **ret_slow, struct hm_err *err);
void hm__slow_free(struct hm_slow *slow);

/*
 * Expected seconds until all but `late` of n workers have done an iteration of `seconds`: the
 * (n - late)-th smallest of n. 0 <= late < n, and at most HM_BACKUPS_MOST.
 */
double hm__slow_order(struct hm_slow *slow, double n, double late, double seconds);
/* Expected seconds of an iteration of one worker, 0..n-1. */
double hm__slow_mean(const struct hm_slow *slow, double worker, double n, double seconds);
/*
 * Seconds in which n workers do n iterations when nobody waits: each takes `seconds`, slowed, and
 * `extra`, which nothing slows.
 */
double hm__slow_async(const struct hm_slow *slow, double n, double seconds, double extra);
/*
 * Seconds an iteration of all n takes in the long run when the fastest is never more than
 * `staleness` iterations ahead of the slowest: iteration c of worker i ends at
 *     x_i(c) = max(x_i(c-1), max_j x_j(c-1-staleness)) + d_i(c).
 * By running this recursion on draws that depend on nothing else; staleness 0 is hm__slow_order. A
 * staleness above HM_SLOW_STALENESS counts as that.
 */
int hm__slow_stale(struct hm_slow *slow, double n, double staleness, double seconds, double extra,
                   double *ret_seconds, struct hm_err *err);
enum { HM_SLOW_STALENESS = 256 };
/* What every worker is slower by when each has work by its speed: the harmonic mean. */
double hm__slow_even(const struct hm_slow *slow, double n);

#endif
