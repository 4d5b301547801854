/* Placement of a chain of layers over devices, one stage for each, and the time of its pipeline. */
#ifndef HM_PLACE_H
#define HM_PLACE_H

#include "howmany.h"

enum { HM_STAGES_MAX = 16 }; /* Most stages of a pipeline. */

/* One unit of a chain: a layer, or a block of layers that only one tensor enters and leaves. */
struct hm_place_unit {
    double time_s;      /* Seconds of the forward and the backward pass of one micro-batch. */
    double send_s;      /* Seconds to send its outputs forward and their gradients back. */
    double fixed_bytes; /* Memory of its parameters, gradients and optimizer states. */
    double kept_bytes;  /* Memory of what it keeps for the backward pass of one micro-batch. */
};

struct hm_placement {
    double time_s;              /* Seconds of a step; infinite: no placement fits in memory. */
    size_t ends[HM_STAGES_MAX]; /* Index after the last unit of each stage. */
};

/*
 * Returns the seconds of a step: the sum over stages and links, and (micro_batches - 1) times the
 * slowest of them. This is the makespan of a flow shop with equal jobs. Infinite if a stage needs
 * more than `memory` bytes; NaN: no limit. Stage s of k keeps at most k - s micro-batches.
 */
double hm__place_time(const struct hm_place_unit *units, const size_t *ends, size_t stages,
                      double micro_batches, double memory);
/*
 * Finds the placement of the units on `stages` devices, at least one unit on each, with the least
 * time, by dynamic programming for each possible time of the slowest stage. Exact for a chain.
 */
int hm__place_chain(const struct hm_place_unit *units, size_t count, size_t stages,
                    double micro_batches, double memory, struct hm_placement *ret_placement,
                    struct hm_err *err);

#endif
