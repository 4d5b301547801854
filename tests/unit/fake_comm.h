/*
 * Ranks as threads of one process, for tests. A message is handed over only when both sides are
 * there, as the strictest MPI does, so that whatever could hang does hang.
 *
 * Each rank has a clock of its own that the real one does not move: a message takes
 * FAKE_LATENCY_S + bytes * FAKE_BYTE_S from the moment both sides are ready, work takes flop *
 * FAKE_FLOP_S. All are powers of two, so that times add up exactly, and the same on every run.
 */
#ifndef HM_FAKE_COMM_H
#define HM_FAKE_COMM_H

#include "comm.h"

#define FAKE_LATENCY_S 0x1p-8
#define FAKE_BYTE_S 0x1p-16
#define FAKE_FLOP_S 0x1p-20

/* Run body(comm, context) on `size` ranks at once and wait for all. */
void fake_comm_run(int size, void (*body)(struct hm_comm *comm, void *context), void *context);

#endif
