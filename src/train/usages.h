/* Collects the resource usage of all ranks on rank 0 at each evaluation. */
#ifndef HM_USAGES_H
#define HM_USAGES_H

#include "run.h"

/*
 * Returns the resources that a rank has used so far, and its memory: the resident memory of its
 * process or, if ranks share one process, the size of the rank's rows and of the run's arena.
 */
struct hm_usage hm__usage_now(const struct hm_run *run, struct hm_comm *comm);

/* Resource usage of all ranks, stored on rank 0. */
struct hm_usages {
    /*
     * Usage of each rank from the start to the last evaluation (`last`), and between the last two
     * evaluations (`since`); `count` elements each.
     */
    struct hm_usage *last, *since;
    size_t count;
};

/*
 * Creates the usage records of all ranks. All workers must call this function, after the platform
 * has started.
 */
int hm__usages_new(struct hm_run *run, struct hm_usages **ret_usages, struct hm_err *err);
/*
 * Collects the usage of all ranks and computes `since` on rank 0. All workers must call this
 * function.
 */
void hm__usages_gather(struct hm_run *run, struct hm_usages *usages);

#endif
