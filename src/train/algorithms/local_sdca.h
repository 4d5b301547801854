/*
 * Makes stochastic dual coordinate ascent on a rank's own rows, with the dual variables of the
 * other ranks held fixed: the local solver of CoCoA and CoCoA+.
 */
#ifndef HM_LOCAL_SDCA_H
#define HM_LOCAL_SDCA_H

#include "run.h"

struct hm_local_sdca {
    double *alpha;   /* Dual variable of each row. */
    double *before;  /* Values of alpha at the start of the round. */
    double *norms;   /* |x_i|^2 */
    double *w;       /* Local copy of the weights w, updated during the passes. */
    uint32_t *order; /* Order of the rows in a pass. */
    double *resting; /* For each row, number of consecutive visits that did not change alpha. */
    double *away;    /* For each row, number of passes that it still skips. */
    double visited;  /* Number of rows visited in the last round. */
};

int hm__local_sdca_init(struct hm_local_sdca *local, struct hm_run *run, struct hm_err *err);
/*
 * Make settings.passes passes over the rows, starting from run->w. On return local->w contains the
 * change of w by this rank's rows, multiplied by sigma; alpha contains the new values, and `before`
 * the old values.
 */
void hm__local_sdca_solve(struct hm_local_sdca *local, struct hm_run *run, double sigma);
/* Returns the sum, over this rank's rows, of the rows' terms in the dual objective. */
double hm__local_sdca_dual(const struct hm_local_sdca *local, const struct hm_run *run);

#endif
