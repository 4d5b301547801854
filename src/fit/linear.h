/*
 * Provides small linear algebra for fits: least squares reduced to a triangle, non-negative least
 * squares, and Cholesky factors. There are at most HM_TERMS_MAX unknowns and any number of rows.
 */
#ifndef HM_LINEAR_H
#define HM_LINEAR_H

#include <stdbool.h>
#include <stddef.h>

enum { HM_TERMS_MAX = 16, HM_LSQ_SIDE = HM_TERMS_MAX + 1 };

/*
 * A least-squares problem for y = x theta. Rows (x, y) are reduced by Givens rotations to an upper
 * triangle R with count + 1 columns, the last of which is y (Gentleman 1973). The sum of squares of
 * y - x theta over all rows equals |R (theta, -1)|^2.
 */
struct hm_lsq {
    size_t count; /* Number of unknowns. */
    double r[HM_LSQ_SIDE][HM_LSQ_SIDE];
};

void hm__lsq_init(struct hm_lsq *lsq, size_t count);
/* Adds a row of `count` values of x and one value of y; the row is overwritten. */
void hm__lsq_add(struct hm_lsq *lsq, double *row);
/* Adds all rows of another problem with the same unknowns. */
void hm__lsq_merge(struct hm_lsq *lsq, const struct hm_lsq *other);
/* Builds the problem that has only some of the unknowns; the other coefficients are then 0. */
void hm__lsq_pick(const struct hm_lsq *from, const size_t *unknowns, size_t count,
                  struct hm_lsq *ret_lsq);
/* Returns the sum of squared residuals with the coefficients theta. */
double hm__lsq_residual(const struct hm_lsq *lsq, const double *theta);
/* Returns the Euclidean norm of a column of x over all rows. */
double hm__lsq_norm(const struct hm_lsq *lsq, size_t column);
/*
 * Solves without bounds on theta. Returns false if columns are dependent; *ret_column is then one
 * of the dependent columns.
 */
bool hm__lsq_solve(const struct hm_lsq *lsq, double *ret_theta, size_t *ret_column);

/*
 * Solves with theta >= 0 (Lawson and Hanson 1974). If columns are dependent, some of their
 * coefficients are 0.
 */
void hm__lsq_nonnegative(const struct hm_lsq *lsq, double *ret_theta);

/* Solves R' u = x, where R is the triangle without the column of y; then |u|^2 = x' (X'X)^-1 x. */
void hm__lsq_whiten(const struct hm_lsq *lsq, const double *x, double *ret_u);

/*
 * Replaces a symmetric positive definite matrix A with its lower Cholesky factor L with L L' = A;
 * returns false if A is not positive definite.
 */
bool hm__cholesky(double a[HM_TERMS_MAX][HM_TERMS_MAX], size_t count);
/* Solves L x = b (lower) or L' x = b (upper) in place, with the Cholesky factor L. */
void hm__lower_solve(double l[HM_TERMS_MAX][HM_TERMS_MAX], size_t count, double *b);
void hm__upper_solve(double l[HM_TERMS_MAX][HM_TERMS_MAX], size_t count, double *b);

#endif
