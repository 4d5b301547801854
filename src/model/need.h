/* Memory that one worker needs for training: what the optimizer keeps, and the activations. */
#ifndef HM_NEED_H
#define HM_NEED_H

#include "howmany_inputs.h"

/* Bytes that a worker keeps for each parameter: the parameter, its gradient and the optimizer's
 * states. */
double hm__need_parameter_bytes(enum hm_optimizer optimizer, double precision);

/*
 * Returns the number of forward passes of an iteration of a worker, and their samples in
 * *ret_micro_batch. `local` is the worker's share of the batch; samples are whole, so the slowest
 * worker has the rounded-up share. If all of them fit in `have` bytes or the memory is unknown,
 * there is one pass; otherwise there are the fewest equal passes that fit, of at least one sample,
 * even if that does not fit. `asked` is the micro-batch of the job; 0 or NaN: the library chooses.
 */
double hm__need_passes(double local, double asked, double fixed_bytes, double sample_bytes,
                       double have, double *ret_micro_batch);

#endif
