/* Resource usage of all ranks, collected on rank 0 at each evaluation. */
#ifndef HM_USAGES_H
#define HM_USAGES_H

#include "run.h"

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
/* Collective over the workers: compute `since` on rank 0. */
void hm__usages_gather(struct hm_run *run, struct hm_usages *usages);

#endif
