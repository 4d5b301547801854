/* Predictions of single steps and collectives, with intervals, for comparison with measurements. */
#ifndef HM_PREDICT_H
#define HM_PREDICT_H

#include "model.h"

/* Predicts a step of the job on n workers of its own cluster; the time and memory of *ret_point are
 * set. If constants is NULL, those of this version are used. */
int hm__predict_step(const struct hm_job *job, double n, const struct hm_constants *constants,
                     struct hm_point *ret_point, struct hm_err *err);
/* Returns the seconds of an all-reduce of `bytes` among n workers of the cluster. */
double hm__predict_allreduce(const struct hm_cluster *cluster, double n, double bytes,
                             const struct hm_constants *constants);

/* Factors on a predicted time; the interval contains the measured time in 90 of 100 cases. */
struct hm_interval {
    double low, high;
};

/* Returns the interval of a step of the job on n workers, from errors on held-out sources and
 * networks. */
struct hm_interval hm__predict_interval(const struct hm_job *job, double n);
struct hm_interval hm__predict_allreduce_interval(void);

#endif
