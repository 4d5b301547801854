/*
 * Implements ranks as fibers of one thread, for tests. A message is transferred only when both
 * sides are ready, as with a strictly synchronous MPI, so that any possible deadlock occurs.
 *
 * Each rank has its own clock, independent of real time: a message takes FAKE_LATENCY_S + bytes *
 * FAKE_BYTE_S from the time at which both sides are ready, and work takes flop * FAKE_FLOP_S. All
 * constants are powers of two, so that times add up exactly and are the same in every run.
 */
#ifndef HM_FAKE_COMM_H
#define HM_FAKE_COMM_H

#include "comm.h"

#define FAKE_LATENCY_S 0x1p-8
#define FAKE_BYTE_S 0x1p-16
#define FAKE_FLOP_S 0x1p-20

/* Runs body(comm, context) on `size` ranks and waits for all of them. */
void fake_comm_run(int size, void (*body)(struct hm_comm *comm, void *context), void *context);

#endif
