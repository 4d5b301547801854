/*
 * Declares the all-reduce schemes and their building blocks, for collectives.c and the platforms.
 * Other callers use comm.h.
 */
#ifndef HM_SCHEMES_H
#define HM_SCHEMES_H

#include "comm.h"

void hm__tree_broadcast(struct hm_comm *comm, int root, void *data, size_t bytes);

/*
 * Performs an all-reduce (sum) in place; `scratch` must hold `count` values. There must be more
 * than one rank, and `count` must be above 0.
 */
typedef void hm_reduce_fn(struct hm_comm *comm, double *values, size_t count, double *scratch);
hm_reduce_fn hm__reduce_auto, hm__reduce_tree, hm__reduce_ring, hm__reduce_doubling,
    hm__reduce_two_wave, hm__reduce_master;
void hm__combine_doubling(struct hm_comm *comm, double *values, size_t count, double *scratch,
                          hm_combine_fn *combine);

/*
 * Adds values in two waves, with groups of ceil(sqrt n) ranks: rank `root` receives the sum of the
 * values of all ranks with lower numbers. The values on those ranks are overwritten.
 */
void hm__reduce_two_wave_to(struct hm_comm *comm, int root, double *values, size_t count,
                            double *scratch);

#endif
