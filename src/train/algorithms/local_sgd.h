/* Stochastic gradient descent on a rank's own rows: what local SGD and Splash do between sums. */
#ifndef HM_LOCAL_SGD_H
#define HM_LOCAL_SGD_H

#include "run.h"

struct hm_local_sgd {
    double *w; /* this rank's */
    uint32_t *order;
    double *part; /* gradient of a mini-batch; not of linear problems */
    double step;  /* the first one */
    double seen;  /* rows learnt from so far, by all ranks: the steps fall with it */
};

/* As an algorithm's begin and prepare: make run->state, and the size of its first step. */
int hm__local_sgd_begin(struct hm_run *run, struct hm_err *err);
void hm__local_sgd_prepare(struct hm_run *run);
/*
 * settings.passes passes from run->w, each row counting `weight` times; then all ranks take the
 * mean of their w, by their numbers of rows.
 */
void hm__local_sgd_round(struct hm_run *run, double weight);

#endif
