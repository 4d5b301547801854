/* Computes how precisely the time at the target of a design will be known after its runs. */
#ifndef HM_DESIGN_WITHIN_H
#define HM_DESIGN_WITHIN_H

#include "posterior.h"

/*
 * The runs of a design, measured or to be executed, as rows of a least-squares problem. Each row is
 * divided by the time of its run, so that all rows have the same relative noise.
 */
struct hm_design_rows {
    struct hm_lsq lsq;
    double count;
};

/* Adds a run, given by its terms divided by its time. */
void hm__design_add_row(struct hm_design_rows *rows, const double *terms);

/*
 * Returns half the width of the 90 % interval for the time of one run at the target after these
 * runs, as a share of the time. The interval comes from draws of the coefficients, which cannot be
 * negative: a normal approximation would be about twice as wide, because most overheads are near 0.
 * `noise` is the relative noise of a run; `target` holds the terms at the target. Returns NaN if
 * the interval is unknown.
 */
double hm__design_within(const struct hm_design_rows *rows, const struct hm_prior *priors,
                         double noise, const double *target);

#endif
