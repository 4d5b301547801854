/*
 * Represents mixes of several kinds of machines in one cluster, and computes the time of an
 * iteration on a mix.
 */
#ifndef HM_MIX_H
#define HM_MIX_H

#include "howmany.h"
#include "step_time.h"

struct hm_model;

/* A mix: the number of machines of each kind. */
struct hm_mix {
    double machines[HM_KINDS_MAX];
};

/* The mix of machines for each number of workers. */
struct hm_mixes {
    const struct hm_cluster *cluster; /* The mixed cluster; borrowed. */
    /* Step times on each kind of machine, or NULL; owned by the creator of this struct. */
    struct hm_step_table *tables[HM_KINDS_MAX];
    /* at[n] is the mix of n workers; all its numbers are 0 if there is no such mix. */
    struct hm_mix *at;
    size_t count; /* Number of elements in `at`. */
};

/* Returns the number of workers in a mix that uses all workers of its machines. */
double hm__mix_workers(const struct hm_cluster *cluster, const struct hm_mix *mix);
/* Evaluates one mix at point->n, which is at most the number of workers in the mix, in the same way
 * as hm__model_eval_slowed. Also sets `machines` and `price_per_s`. */
int hm__mix_eval(const struct hm_model *model, const struct hm_mix *mix, double factor,
                 struct hm_point *point, struct hm_err *err);

#endif
