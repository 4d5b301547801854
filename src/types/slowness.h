/*
 * How much longer the iterations of a worker take than a cluster's sheet says. An iteration of
 * `seconds` on the sheet takes
 *     seconds * F * exp(spread * Z) * (slow ? factor : 1) + (slow ? pause : 0),
 * where F is what the worker is slower by for good, Z is standard normal, and `slow` happens with
 * the chance given, each anew for every worker and iteration.
 *
 * Speeds and slow nodes are of nodes: with several workers in a node they hold for all of them.
 * Z and `slow` are of workers.
 */
#ifndef HM_SLOWNESS_H
#define HM_SLOWNESS_H

#include "howmany.h"

enum { HM_BACKUPS_MOST = 1000 }; /* workers that a step need not wait for */

bool hm__slowness_any(const struct hm_slowness *s);
/* Whether iterations of a worker differ from one to the next. */
bool hm__slowness_drawn(const struct hm_slowness *s);
/* What worker 0..n-1 of n is slower by for good: F above. Above 1 is slower. */
double hm__slowness_factor(const struct hm_slowness *s, double worker, double n);
/*
 * The seconds an iteration of `seconds` takes on that worker: depends on seed, worker and iteration
 * alone, so that ways of running can be compared on the same draws. n is for slow nodes only.
 */
double hm__slowness_draw(const struct hm_slowness *s, uint64_t seed, double worker, double n,
                         double iteration, double seconds);

#endif
