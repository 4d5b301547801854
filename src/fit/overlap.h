/*
 * Computes the time of a step whose communication overlaps with computation, after a fit has
 * corrected the times of both.
 *
 * With the factors c on computation and m on communication, the time is c * t(m / c), where t(r) is
 * the time that the specification sheet predicts if communication takes r times as long. t is
 * tabulated at the knots and interpolated linearly; beyond the last knot, it continues with the
 * last slope. The time is homogeneous in (c, m), so that at fixed m / c it equals c * t_c + m * t_m
 * with its two partial derivatives: these are the terms of the least-squares problem.
 */
#ifndef HM_OVERLAP_H
#define HM_OVERLAP_H

#include "basis.h"

/*
 * hm__overlap_ratios holds the ratio m / c of each knot; it is 1 at the knot HM_OVERLAP_ONE, where
 * the time equals that of the specification sheet.
 */
enum { HM_OVERLAP_ONE = 7 };
extern const double hm__overlap_ratios[HM_OVERLAP_KNOTS];

/*
 * Returns the time in seconds for configuration i with the factors c and m; x has the rows that
 * hm__basis_eval describes.
 */
double hm__overlap_seconds(const struct hm_basis *basis, const double *x, size_t count, size_t i,
                           double c, double m);
/*
 * Sets the first two terms of all configurations to the partial derivatives of the time at (c, m).
 */
void hm__overlap_linearise(const struct hm_basis *basis, double c, double m, double *x,
                           size_t count);

#endif
