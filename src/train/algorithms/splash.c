/*
 * Implements Splash: local SGD in which each of the K ranks weights every row by K, as if the rank
 * had K times as many rows; averaging w over the ranks reduces the variance (Zhang and Jordan:
 * Splash: user-friendly programming interface for parallelizing stochastic algorithms, 2015).
 */
#include "local_sgd.h"

static void splash_step(struct hm_run *run)
{
    hm__local_sgd_round(run, run->comm->size);
}

const struct hm_algorithm hm__algorithm_splash = {
    .name = "splash",
    .title = "Splash: local SGD with re-weighted rows",
    .traits = HM_TRAIT_LINEAR,
    .defaults = {.passes = 1, .batch = 32},
    .begin = hm__local_sgd_begin,
    .prepare = hm__local_sgd_prepare,
    .step = splash_step,
};
