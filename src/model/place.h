/*
 * Places a chain of layers on devices, with one stage on each device, and computes the time of the
 * resulting pipeline.
 */
#ifndef HM_PLACE_H
#define HM_PLACE_H

#include "howmany.h"

enum { HM_STAGES_MAX = 16 }; /* Largest number of stages of a pipeline. */

/* One unit of a chain: a layer, or a block of layers with a single input tensor and a single output
 * tensor. */
struct hm_place_unit {
    double time_s; /* Time in seconds of the forward and the backward pass of one micro-batch. */
    double send_s; /* Time in seconds to send the outputs of the unit forward and their gradients
                      back. */
    double
        fixed_bytes;   /* Size in bytes of the unit's parameters, gradients and optimizer states. */
    double kept_bytes; /* Number of bytes that the unit keeps for the backward pass of one
                          micro-batch. */
};

struct hm_placement {
    double time_s; /* Time of a step in seconds; INFINITY if no placement fits in memory. */
    size_t ends[HM_STAGES_MAX]; /* Index after the last unit of each stage. */
};

/*
 * Returns the time of a step in seconds: the sum over stages and links, and (micro_batches - 1)
 * times the slowest of them. This is the makespan of a flow shop with equal jobs. The time is
 * infinite if a stage needs more than `memory` bytes; if `memory` is NaN, there is no limit. Stage
 * s of k keeps at most k - s micro-batches.
 */
double hm__place_time(const struct hm_place_unit *units, const size_t *ends, size_t stages,
                      double micro_batches, double memory);
/*
 * Finds the fastest placement of the units on `stages` devices, with at least one unit on each, by
 * dynamic programming for each possible time of the slowest stage. The result is exact.
 */
int hm__place_chain(const struct hm_place_unit *units, size_t count, size_t stages,
                    double micro_batches, double memory, struct hm_placement *ret_placement,
                    struct hm_err *err);

#endif
