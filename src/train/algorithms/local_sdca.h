/*
 * Performs stochastic dual coordinate ascent on the rows of one rank, while the dual variables of
 * the other ranks are fixed. This is the local solver of CoCoA and CoCoA+.
 */
#ifndef HM_LOCAL_SDCA_H
#define HM_LOCAL_SDCA_H

#include "run.h"

struct hm_local_sdca {
    double *alpha;   /* Dual variable alpha of each row of this rank. */
    double *before;  /* Values of the dual variables at the start of the round. */
    double *norms;   /* |x_i|^2 */
    double *w;       /* Copy of the weights w of this rank, updated during the passes. */
    uint32_t *order; /* Rows in the order in which a pass visits them. */
    /* For each row, the number of consecutive visits that did not change its dual variable. */
    double *resting;
    double *away;   /* For each row, the number of passes that still skip it. */
    double visited; /* Number of rows visited in the last round. */
};

int hm__local_sdca_init(struct hm_local_sdca *local, struct hm_run *run, struct hm_err *err);
/*
 * Performs settings.passes passes over the rows, starting from run->w. On return, local->w is the
 * change of w due to this rank's rows, multiplied by sigma; `alpha` holds the new dual variables,
 * and `before` holds the old ones.
 */
void hm__local_sdca_solve(struct hm_local_sdca *local, struct hm_run *run, double sigma);
/* Returns the sum of the terms of this rank's rows in the dual objective. */
double hm__local_sdca_dual(const struct hm_local_sdca *local, const struct hm_run *run);

#endif
