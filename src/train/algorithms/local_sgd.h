/*
 * Performs stochastic gradient descent on the rows of one rank, which local SGD and Splash do
 * between two sums over the ranks.
 */
#ifndef HM_LOCAL_SGD_H
#define HM_LOCAL_SGD_H

#include "run.h"

struct hm_local_sgd {
    double *w; /* Copy of the weights w of this rank. */
    uint32_t *order;
    double *part; /* Gradient of a mini-batch; not used for linear problems. */
    double step;  /* Initial step size. */
    /* Number of rows processed so far by all ranks; as it grows, the step size decreases. */
    double seen;
};

/*
 * Functions of an algorithm: `begin` allocates run->state, and `prepare` chooses the initial step
 * size.
 */
int hm__local_sgd_begin(struct hm_run *run, struct hm_err *err);
void hm__local_sgd_prepare(struct hm_run *run);
/*
 * Performs settings.passes passes over the rows of this rank, starting from run->w, with the loss
 * of each row multiplied by `weight`. Then averages w over the ranks, weighted by their numbers of
 * rows.
 */
void hm__local_sgd_round(struct hm_run *run, double weight);

#endif
