/*
 * Resource usage of each rank over time: computation, CPU, network and memory, for workers and for
 * servers or the driver. Only iterations are measured; evaluations and checkpoints are not.
 */
#ifndef HM_USAGE_H
#define HM_USAGE_H

#include "comm.h"
#include "memory.h"

struct hm_run;
struct hm_trace_point;

/*
 * Usage of one rank since its start. All members are doubles, since the struct is sent as a
 * message.
 */
struct hm_usage {
    double compute_s;      /* Seconds of computation (wall clock). */
    double cpu_s;          /* CPU seconds; NAN in virtual time. */
    double sent, received; /* Bytes. */
    double memory;         /* Bytes in use now. */
};

/* Accumulates usage between each start and the next stop. Zero-initialise. */
struct hm_meter {
    struct hm_usage sum, mark;
};

void hm__meter_start(struct hm_meter *meter, struct hm_comm *comm);
void hm__meter_stop(struct hm_meter *meter, struct hm_comm *comm, double compute_s);

/*
 * Accumulated usage of a rank, and its memory: resident memory of the process, or, where ranks
 * share one process, the size of its rows and of the run's arena.
 */
struct hm_usage hm__usage_now(const struct hm_run *run, struct hm_comm *comm);

/* Usage of all ranks, kept on rank 0. */
struct hm_usages {
    /* [count]: totals at the last evaluation, and usage since the one before it; rank 0 only. */
    struct hm_usage *last, *since;
    size_t count;
};

/* Collective over the workers, after the platform has started. */
int hm__usages_new(struct hm_run *run, struct hm_usages **ret_usages, struct hm_err *err);
/*
 * Collective over the workers: gather on rank 0 the usage of each rank since the last evaluation.
 * `seconds`: duration of the iterations in between.
 */
void hm__usage_gather(struct hm_run *run, struct hm_usages *usages, double seconds,
                      struct hm_trace_point *point);

#endif
