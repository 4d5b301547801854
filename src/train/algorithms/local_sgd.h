/*
 * Stochastic gradient descent on a rank's own rows: the part of local SGD and Splash between two
 * sums over ranks.
 */
#ifndef HM_LOCAL_SGD_H
#define HM_LOCAL_SGD_H

#include "run.h"

struct hm_local_sgd {
    double *w; /* Local copy of w. */
    uint32_t *order;
    double *part; /* Gradient of a mini-batch; unused for linear problems. */
    double step;  /* Initial step size. */
    double seen;  /* Rows processed so far by all ranks; the step size decreases with it. */
};

/* `begin` and `prepare` of an algorithm: allocate run->state, choose the initial step size. */
int hm__local_sgd_begin(struct hm_run *run, struct hm_err *err);
void hm__local_sgd_prepare(struct hm_run *run);
/*
 * Make settings.passes passes from run->w, with each row weighted by `weight`; then average w over
 * the ranks, weighted by their numbers of rows.
 */
void hm__local_sgd_round(struct hm_run *run, double weight);

#endif
