/*
 * Stochastic dual coordinate ascent on a rank's own rows, with the other ranks' w held fixed: the
 * local solver of CoCoA and CoCoA+.
 */
#ifndef HM_LOCAL_SDCA_H
#define HM_LOCAL_SDCA_H

#include "run.h"

struct hm_local_sdca {
    double *alpha;   /* a dual variable for each row */
    double *before;  /* as it was when the round began */
    double *norms;   /* |x_i|^2 */
    double *w;       /* w as seen here, moving while the passes go on */
    uint32_t *order; /* of a pass */
    double *resting; /* visits in turn that have left alpha as it was */
    double *away;    /* passes still to be left out */
    double visited;  /* rows, in the passes of the last round */
};

int hm__local_sdca_init(struct hm_local_sdca *local, struct hm_run *run, struct hm_err *err);
/*
 * settings.passes passes from run->w. Leaves w where the rows of this rank alone would have it, its
 * change made sigma times as large; alpha is moved, with `before` to go back to.
 */
void hm__local_sdca_solve(struct hm_local_sdca *local, struct hm_run *run, double sigma);
/* Sum of the rows' parts of the dual objective. */
double hm__local_sdca_dual(const struct hm_local_sdca *local, const struct hm_run *run);

#endif
