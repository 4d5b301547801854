/*
 * Makes stochastic gradient descent on a rank's own rows: the computation of local SGD and Splash
 * between two sums over ranks.
 */
#ifndef HM_LOCAL_SGD_H
#define HM_LOCAL_SGD_H

#include "run.h"

struct hm_local_sgd {
    double *w; /* Local copy of the weights w. */
    uint32_t *order;
    double *part; /* Gradient of a mini-batch; unused for linear problems. */
    double step;  /* Initial step size. */
    /* Number of rows processed so far by all ranks; as it grows, the step size decreases. */
    double seen;
};

/*
 * Functions of an algorithm: `begin` allocates run->state, `prepare` chooses the initial step size.
 */
int hm__local_sgd_begin(struct hm_run *run, struct hm_err *err);
void hm__local_sgd_prepare(struct hm_run *run);
/*
 * Make settings.passes passes over the rows, starting from run->w, with each row weighted by
 * `weight`; then average w over the ranks, weighted by their numbers of rows.
 */
void hm__local_sgd_round(struct hm_run *run, double weight);

#endif
