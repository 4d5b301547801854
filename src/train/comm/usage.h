/*
 * What ranks use, over time: computing, processors, network and memory, of workers and of whoever
 * has the model. Counted in iterations; what happens at looks and checkpoints is not.
 */
#ifndef HM_USAGE_H
#define HM_USAGE_H

#include "comm.h"
#include "memory.h"

struct hm_run;
struct hm_trace_point;

/* Of one rank, since it began. All doubles, as it is sent about. */
struct hm_usage {
    double compute_s;      /* seconds it computed, by the clock */
    double cpu_s;          /* seconds of processors; NAN where time is virtual */
    double sent, received; /* bytes */
    double memory;         /* bytes it has now */
};

/* Adds up what goes on from each start to the next stop. Zero-initialise. */
struct hm_meter {
    struct hm_usage sum, mark;
};

void hm__meter_start(struct hm_meter *meter, struct hm_comm *comm);
void hm__meter_stop(struct hm_meter *meter, struct hm_comm *comm, double compute_s);

/*
 * A rank's sums, and its memory: of the process, or where ranks share one, of its rows and of the
 * run's arena.
 */
struct hm_usage hm__usage_now(const struct hm_run *run, struct hm_comm *comm);

/* Rank 0's book of all ranks. */
struct hm_usages {
    struct hm_usage *last, *since; /* [count]: at the last look, and from then on; rank 0 only */
    size_t count;
};

/* Called by all workers once the platform has begun. */
int hm__usages_new(struct hm_run *run, struct hm_usages **ret_usages, struct hm_err *err);
/* Called by all workers: what each rank used since the last look, `seconds` ago, to rank 0. */
void hm__usage_gather(struct hm_run *run, struct hm_usages *usages, double seconds,
                      struct hm_trace_point *point);

#endif
