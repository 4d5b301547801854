/*
 * Stochastic dual coordinate ascent on a rank's own rows, with w of the other ranks held fixed: the
 * local solver of CoCoA and CoCoA+.
 */
#ifndef HM_LOCAL_SDCA_H
#define HM_LOCAL_SDCA_H

#include "run.h"

struct hm_local_sdca {
    double *alpha;   /* Dual variable of each row. */
    double *before;  /* alpha at the start of the round. */
    double *norms;   /* |x_i|^2 */
    double *w;       /* Local copy of w, updated during the passes. */
    uint32_t *order; /* Order of the rows in a pass. */
    double *resting; /* Number of consecutive visits that did not change alpha. */
    double *away;    /* Number of passes that the row still skips. */
    double visited;  /* Rows visited in the last round. */
};

int hm__local_sdca_init(struct hm_local_sdca *local, struct hm_run *run, struct hm_err *err);
/*
 * Make settings.passes passes from run->w. On return local->w contains the change of w by this
 * rank's rows, multiplied by sigma; alpha is updated, and `before` holds its old values.
 */
void hm__local_sdca_solve(struct hm_local_sdca *local, struct hm_run *run, double sigma);
/* Sum over this rank's rows of their terms in the dual objective. */
double hm__local_sdca_dual(const struct hm_local_sdca *local, const struct hm_run *run);

#endif
