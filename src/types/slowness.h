/*
 * How much longer the iterations of a worker take than the cluster description says. An iteration
 * that should take `seconds` takes
 *     seconds * F * exp(spread * Z) * (slow ? factor : 1) + (slow ? pause : 0),
 * where F is the constant factor of the worker, Z is standard normal, and `slow` is true with the
 * given probability. Z and `slow` are drawn for each worker and iteration. F is the same for all
 * workers of a node.
 */
#ifndef HM_SLOWNESS_H
#define HM_SLOWNESS_H

#include "howmany.h"

enum { HM_BACKUPS_MOST = 1000 }; /* Most workers that a step may ignore. */

/* Whether any worker is slower than the cluster description says. */
bool hm__slowness_any(const struct hm_slowness *s);
/* Whether the iterations of one worker differ from each other. */
bool hm__slowness_drawn(const struct hm_slowness *s);
/* The constant factor F of worker 0..n-1 of n; above 1 is slower. */
double hm__slowness_factor(const struct hm_slowness *s, double worker, double n);
/*
 * The seconds that an iteration of `seconds` takes on a worker. The draw depends only on seed,
 * worker and iteration, so platforms can be compared with the same draws. n selects the slow nodes.
 */
double hm__slowness_draw(const struct hm_slowness *s, uint64_t seed, double worker, double n,
                         double iteration, double seconds);

#endif
