/* Predicts iterations on a platform, for comparison with measurements. */
#ifndef HM_PREDICT_PLATFORM_H
#define HM_PREDICT_PLATFORM_H

#include "model.h"

/* Predicts an iteration of the job on n workers of its own cluster with a platform; the time and
 * memory of *ret_point are set. If constants is NULL, the constants of this version are used. */
int hm__predict_platform(const struct hm_job *job, const struct hm_way *way, double n,
                         const struct hm_constants *constants, struct hm_point *ret_point,
                         struct hm_err *err);

#endif
