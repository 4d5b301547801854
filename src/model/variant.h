/* Describes the changes to a job and a cluster that what-if questions and alternatives ask for. */
#ifndef HM_VARIANT_H
#define HM_VARIANT_H

#include "formula.h"
#include "howmany.h"
#include "mix.h"
#include "step_time.h"
#include "way_time.h"

/* Changes to the job and the cluster for one model; a factor of 1 changes nothing. */
struct hm_variant {
    int scheme; /* An enum hm_scheme for all all-reduce steps; -1 keeps the schemes of the job. */
    bool weak;
    /* Factors that multiply the bandwidth, the latency and the flop per second of the hardware. */
    double bandwidth, latency, flops;
    double work; /* Factor that multiplies the number of samples in an iteration. */
    /* Factor that multiplies one quantity of the section `where:` of the job. */
    struct hm_scaled quantity;
    const struct hm_parts *parts; /* Splits of a graph for n = 1..part_count; borrowed. */
    size_t part_count;
    bool balanced;     /* True if each worker has the mean number of edges. */
    struct hm_way way; /* Platform and consistency of the model. */
    /* Straggler table of the cluster, borrowed; if NULL, the model creates its own. */
    struct hm_stragglers *stragglers;
    /* Step times of the job on the cluster, borrowed; if NULL, the model computes its own. */
    struct hm_step_table *table;
    bool steady;   /* True if the cluster's stragglers are ignored. */
    bool by_speed; /* True if each worker's share of the batch is proportional to its speed. */
    /* Mix of machines for each n, borrowed; NULL if the cluster is not mixed. */
    const struct hm_mixes *mixes;
};

/* clang-format off */
#define HM_VARIANT_INIT {-1, false, 1, 1, 1, 1, {NULL, 1}, NULL, 0, false, {0}, NULL, NULL, false, false, NULL}
/* clang-format on */

#endif
