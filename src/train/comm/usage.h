/*
 * Measures the resource usage of each rank over time: computation, CPU, network and memory, for
 * workers and for servers or the driver. Only iterations are measured; evaluations and checkpoints
 * are not.
 */
#ifndef HM_USAGE_H
#define HM_USAGE_H

#include "comm.h"

/*
 * Resources that one rank has used since its start. All members are doubles, because the struct is
 * sent as a message.
 */
struct hm_usage {
    double compute_s;      /* Wall-clock time in seconds during which the rank computed. */
    double cpu_s;          /* CPU time in seconds that the rank used; NAN if time is virtual. */
    double sent, received; /* Numbers of bytes sent and received by the rank. */
    double memory;         /* Number of bytes of memory that the rank currently uses. */
};

/*
 * Adds up the usage of a rank over several intervals, each from a start to the next stop.
 * Zero-initialise it.
 */
struct hm_meter {
    struct hm_usage sum, mark;
};

void hm__meter_start(struct hm_meter *meter, struct hm_comm *comm);
void hm__meter_stop(struct hm_meter *meter, struct hm_comm *comm, double compute_s);

#endif
