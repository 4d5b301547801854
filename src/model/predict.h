/* Predicts single steps and collectives, with intervals, for comparison with measurements. */
#ifndef HM_PREDICT_H
#define HM_PREDICT_H

#include "model.h"
#include "sheet_spread.h"

/*
 * Predicts a step of the job on n workers of its own cluster; the time and memory of *ret_point are
 * set. If way is NULL, the job's own communication is used; if constants is NULL, the constants of
 * this version are used.
 */
int hm__predict_step(const struct hm_job *job, const struct hm_way *way, double n,
                     const struct hm_constants *constants, struct hm_point *ret_point,
                     struct hm_err *err);
/* Returns the time in seconds of an all-reduce of `bytes` bytes among n workers of the cluster. */
double hm__predict_allreduce(const struct hm_cluster *cluster, double n, double bytes,
                             const struct hm_constants *constants);

/* Returns the 90 % interval for an all-reduce, from errors on held-out sources. */
struct hm_interval hm__predict_allreduce_interval(void);

#endif
