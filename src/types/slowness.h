/*
 * Models slow workers: how much longer their iterations take than the cluster description says. An
 * iteration whose nominal duration is `seconds` takes
 *
 *     seconds * F * exp(spread * Z) * (slow ? factor : 1) + (slow ? pause : 0),
 *
 * where F is the constant factor of the worker, Z is standard normal, and `slow` is true with the
 * given probability. Z and `slow` are drawn for each worker and iteration. F is the same for all
 * workers of a node.
 */
#ifndef HM_SLOWNESS_H
#define HM_SLOWNESS_H

#include "howmany.h"

/* Largest allowed number b of backup workers; a step does not wait for the b slowest workers. */
enum { HM_BACKUPS_MOST = 1000 };

/* Returns whether any worker of the cluster is slower than its description says. */
bool hm__slowness_any(const struct hm_slowness *s);
/* Returns whether the times of one worker's iterations differ from each other. */
bool hm__slowness_drawn(const struct hm_slowness *s);
/*
 * Returns the constant factor F of the worker with index 0 to n - 1; a worker with F above 1 is
 * slower.
 */
double hm__slowness_factor(const struct hm_slowness *s, double worker, double n);
/*
 * Returns the time in seconds that an iteration with the nominal duration `seconds` takes on a
 * worker. The random draw depends only on the seed, the worker and the iteration, so that platforms
 * can be compared with the same draws. `n` determines which nodes are slow.
 */
double hm__slowness_draw(const struct hm_slowness *s, uint64_t seed, double worker, double n,
                         double iteration, double seconds);

#endif
