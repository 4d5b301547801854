/*
 * Computes the memory that one worker needs for training: parameters, gradients, states of the
 * optimizer, and activations.
 */
#ifndef HM_NEED_H
#define HM_NEED_H

#include "howmany_inputs.h"

/*
 * Returns the number of bytes that a worker keeps for each parameter: the parameter, its gradient
 * and the optimizer's states.
 */
double hm__need_parameter_bytes(enum hm_optimizer optimizer, double precision);

/*
 * Returns the number of forward passes of a worker in an iteration; *ret_micro_batch is the number
 * of samples in a pass. `local` is the worker's share of the batch, which is rounded up, since
 * samples are whole. There is one pass if all samples fit in `have` bytes or the memory is unknown;
 * otherwise there are as few equal passes as memory allows, with at least one sample each, even if
 * one sample does not fit. `asked` is the micro-batch that the job gives; if it is 0 or NaN, the
 * library chooses.
 */
double hm__need_passes(double local, double asked, double fixed_bytes, double sample_bytes,
                       double have, double *ret_micro_batch);

#endif
