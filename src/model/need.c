/*
 * Computes the memory that one worker needs for training.
 *
 * With 32 or 64 bits, a worker keeps each parameter, its gradient, and the states of the optimizer
 * (one for momentum, two for Adam) in that precision. 16 bits mean mixed precision (Micikevicius et
 * al., ICLR 2018): the parameter and its gradient have 16 bits, and a copy of the parameter and the
 * states have 32 bits, so Adam needs 2 + 2 + 4 + 8 = 16 bytes per parameter. Activations grow with
 * the number of samples in one forward pass. If a worker's samples do not fit, it performs several
 * passes and adds their gradients (gradient accumulation). Limit: nothing is recomputed or divided
 * among workers.
 */
#include "need.h"

#include <math.h>

double hm__need_parameter_bytes(enum hm_optimizer optimizer, double precision)
{
    double states = optimizer == HM_OPTIMIZER_ADAM ? 2 : optimizer == HM_OPTIMIZER_MOMENTUM ? 1 : 0;

    if (precision == 16)
        return 2 + 2 + 4 + 4 * states;
    return precision / 8 * (2 + states);
}

double hm__need_passes(double local, double asked, double fixed_bytes, double sample_bytes,
                       double have, double *ret_micro_batch)
{
    /*
     * A share of less than one sample is not rounded up; it occurs only at points that are not
     * feasible.
     */
    double batch = local >= 1 ? ceil(local * (1 - 1e-12)) : local, most = batch;

    if (asked > 0)
        most = asked;
    else if (have > 0 && sample_bytes > 0)
        most = floor((have - fixed_bytes) / sample_bytes);
    most = fmax(fmin(most, batch), fmin(1, batch));
    double passes = batch > 0 ? ceil(batch / most * (1 - 1e-12)) : 1;
    *ret_micro_batch = asked > 0 ? most : ceil(batch / passes * (1 - 1e-12));
    if (batch < 1)
        *ret_micro_batch = batch;
    return passes;
}
