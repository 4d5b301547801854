/*
 * Implements ranks in virtual time, for tests. The ranks are fibers of which one runs at a time,
 * always the one with the smallest clock. The order and the times of all events are therefore the
 * same in every run.
 *
 * A message takes latency_s + bytes * byte_s from the time at which both sides are ready; work
 * takes flop * flop_s. Messages do not share links.
 */
#ifndef HM_VIRTUAL_COMM_H
#define HM_VIRTUAL_COMM_H

#include "comm.h"

struct virtual_cluster {
    double latency_s, byte_s, flop_s;
};

/* Runs body(comm, context) on `size` ranks and waits for all of them. */
void virtual_comm_run(int size, const struct virtual_cluster *cluster,
                      void (*body)(struct hm_comm *comm, void *context), void *context);
/* Makes a communicator of the first `count` ranks; only they may use it. */
void virtual_comm_part(struct hm_comm *comm, int count, struct hm_comm *ret_part);

#endif
