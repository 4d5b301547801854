/*
 * Computes the time of an all-reduce as collective libraries (NCCL, RCCL) run it on accelerators.
 */
#ifndef HM_ALLREDUCE_H
#define HM_ALLREDUCE_H

#include "collective.h"
#include "constants.h"

/* An all-reduce among a fixed number of workers. The time of a message of M bytes is the sum of a
 * latency, a time for each byte, up to floor_s seconds for the protocol of large messages (half of
 * floor_s if M is half_bytes), and up to fill_s seconds until the pipeline of transfers is full. */
struct hm_allreduce {
    enum hm_scheme scheme; /* The scheme in use; never HM_SCHEME_BEST. */
    double latency_s, per_byte_s, floor_s, half_bytes, fill_s;
};

/*
 * Prepares an all-reduce among n workers. HM_SCHEME_BEST means the scheme that a collective library
 * would choose; other schemes use the same links and the rates that such a library reaches on them.
 */
struct hm_allreduce hm__allreduce_init(enum hm_scheme scheme, double n,
                                       const struct hm_wires *wires,
                                       const struct hm_constants *constants);
/* Returns the time of a message of `bytes` bytes in seconds, split into latency and transfer. */
struct hm_wire_time hm__allreduce_time(const struct hm_allreduce *allreduce, double bytes);

#endif
