/*
 * Small linear algebra for fits: least squares reduced to a triangle, non-negative least squares,
 * and Cholesky factors. At most HM_TERMS_MAX unknowns, any number of rows.
 */
#ifndef HM_LINEAR_H
#define HM_LINEAR_H

#include <stdbool.h>
#include <stddef.h>

enum { HM_TERMS_MAX = 16, HM_LSQ_SIDE = HM_TERMS_MAX + 1 };

/*
 * A least-squares problem: rows (x, y) reduced as they come, by Givens rotations, to an upper
 * triangle R of count + 1 columns, the last of which is y (Gentleman 1973). The sum of squares of
 * y - x theta over all rows is that of R (theta, -1).
 */
struct hm_lsq {
    size_t count; /* unknowns */
    double r[HM_LSQ_SIDE][HM_LSQ_SIDE];
};

void hm__lsq_init(struct hm_lsq *lsq, size_t count);
/* Add a row of count + 1 values, which is destroyed. */
void hm__lsq_add(struct hm_lsq *lsq, double *row);
/* Add all rows of another problem with the same unknowns. */
void hm__lsq_merge(struct hm_lsq *lsq, const struct hm_lsq *other);
/* The same problem with only some of its unknowns. */
void hm__lsq_pick(const struct hm_lsq *from, const size_t *unknowns, size_t count,
                  struct hm_lsq *ret_lsq);
/* Sum of squares of the residuals for a theta. */
double hm__lsq_residual(const struct hm_lsq *lsq, const double *theta);
/* Norm of a column of x. */
double hm__lsq_norm(const struct hm_lsq *lsq, size_t column);
/* Solve without bounds; false where columns depend on one another: *ret_column is such a one. */
bool hm__lsq_solve(const struct hm_lsq *lsq, double *ret_theta, size_t *ret_column);

/* theta >= 0 of least squares (Lawson and Hanson 1974). Columns that depend on others get 0. */
void hm__lsq_nonnegative(const struct hm_lsq *lsq, double *ret_theta);

/* Solve R' u = x for the triangle R of the x columns: |u|^2 is x' (X'X)^-1 x. */
void hm__lsq_whiten(const struct hm_lsq *lsq, const double *x, double *ret_u);

/* A symmetric positive matrix to its lower factor L, in place, LL' = A; false if it is not. */
bool hm__cholesky(double a[HM_TERMS_MAX][HM_TERMS_MAX], size_t count);
/* Solve L x = b and L' x = b in place. */
void hm__lower_solve(double l[HM_TERMS_MAX][HM_TERMS_MAX], size_t count, double *b);
void hm__upper_solve(double l[HM_TERMS_MAX][HM_TERMS_MAX], size_t count, double *b);

#endif
