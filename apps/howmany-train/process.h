/* Measures the CPU time and the memory of a rank's process. */
#ifndef HM_PROCESS_H
#define HM_PROCESS_H

#include "comm.h"

/*
 * Measures the CPU time in seconds and the resident memory in bytes of this process; implements
 * hm_comm_ops.usage.
 */
void process_usage(struct hm_comm *comm, double *ret_cpu_s, double *ret_bytes);

#endif
