/*
 * Solves the Lasso: least squares with a penalty on the size of coefficients, so that most of them
 * are 0.
 *
 *     min over a, b of  1/2 sum w (y - a - z b)^2 / sum w  +  penalty |b|_1
 *
 * where z are the terms, each shifted and scaled to mean 0 and variance 1 under the weights w. Only
 * sums over the rows are kept, so that the time to solve it does not depend on the number of rows,
 * and the penalty can be chosen by cross-validation over sets of rows (folds) at little cost.
 *
 * Friedman, Hastie, Tibshirani: Regularization paths for generalized linear models via coordinate
 * descent. Journal of Statistical Software 33(1), 2010.
 */
#ifndef HM_LASSO_H
#define HM_LASSO_H

#include <stdbool.h>
#include <stddef.h>

#include "howmany.h"

enum { HM_LASSO_MAX = 32 }; /* Largest number of terms. */

/*
 * The sums over rows (x, y) that the Lasso needs: total weight, means, and weighted sums of
 * products around the means. Unlike plain sums, sums around the means lose no digits if terms vary
 * little.
 */
struct hm_gram {
    size_t count;              /* Number of terms. */
    double weight;             /* Sum of the weights of all rows. */
    double x[HM_LASSO_MAX], y; /* Weighted means of the terms and of y. */
    /*
     * Sums of products of two terms around their means; only elements xx[j][k] with j <= k are
     * used.
     */
    double xx[HM_LASSO_MAX][HM_LASSO_MAX];
    /* Sums of products of each term with y, and of squares of y, around the means. */
    double xy[HM_LASSO_MAX], yy;
};

void hm__gram_init(struct hm_gram *gram, size_t count);
/* Adds a row: the values x of all terms, the result y, and the weight, which must be >= 0. */
void hm__gram_add(struct hm_gram *gram, const double *x, double y, double weight);
/*
 * Adds the rows of `other`, which must have the same terms; their weights are multiplied by factor.
 * A factor of -1 removes rows that were added before, but loses precision; if possible, add up the
 * remaining rows instead.
 */
void hm__gram_merge(struct hm_gram *gram, const struct hm_gram *other, double factor);
/* Returns the mean square error over all rows if y is predicted as intercept + theta x. */
double hm__gram_error(const struct hm_gram *gram, double intercept, const double *theta);

/* The Lasso problem in standardised terms. A constant term has scale 0 and is never used. */
struct hm_lasso {
    size_t count;
    /* Means and standard deviations of the terms. */
    double mean[HM_LASSO_MAX], scale[HM_LASSO_MAX];
    double y_mean, y_variance;
    double c[HM_LASSO_MAX][HM_LASSO_MAX]; /* Correlations of the terms, as a full matrix. */
    /*
     * Weighted mean of z_j y for each standardised term z_j, where y has mean 0 but is not scaled.
     */
    double d[HM_LASSO_MAX];
};

/* Builds the problem in standardised terms from the sums over rows. Requires gram->weight > 0. */
void hm__lasso_init(struct hm_lasso *lasso, const struct hm_gram *gram);
/* Returns the smallest penalty at which all coefficients are 0. */
double hm__lasso_penalty_max(const struct hm_lasso *lasso);
/*
 * Solves the Lasso for a penalty above 0. b holds the starting values and, on return, the
 * coefficients of the standardised terms. Stops when the duality gap, which bounds the distance of
 * the objective from its minimum, is at most tolerance * y_variance, or when rounding prevents
 * progress, which happens at a gap of about 1e-16 |b|_1^2. Returns the gap relative to y_variance.
 */
double hm__lasso_solve(const struct hm_lasso *lasso, double penalty, double tolerance, double *b);
/*
 * Converts the coefficients b of standardised terms to coefficients of the original terms: y =
 * intercept + theta x.
 */
void hm__lasso_unscale(const struct hm_lasso *lasso, const double *b, double *ret_intercept,
                       double *ret_theta);
/*
 * Sets penalties that are evenly spaced on a logarithmic scale from penalty_max down to penalty_max
 * * least, where 0 < least <= 1.
 */
void hm__lasso_penalties(double penalty_max, double least, size_t count, double *penalties);

enum { HM_LASSO_PENALTIES = 100, HM_LASSO_FOLDS = 64 };

struct hm_lasso_choice {
    size_t penalty_count;
    double penalties[HM_LASSO_PENALTIES]; /* Penalties, largest first. */
    /* Mean square error for each penalty, averaged over the folds with equal weights. */
    double mean[HM_LASSO_PENALTIES];
    double error[HM_LASSO_PENALTIES]; /* Standard error of mean[] over the folds. */
    size_t least;                     /* Index of the penalty with the smallest mean error. */
    /*
     * Index of the largest penalty whose mean error is within one standard error of the smallest.
     */
    size_t chosen;
};

/*
 * Chooses the penalty by cross-validation. Each fold f for which held[f] is true is left out in
 * turn: the other folds are merged and standardised, the problem is solved for all penalties, and
 * the errors are measured on the fold that was left out. Other folds are never left out. The range
 * of penalties comes from all folds together. fold_errors[f * penalty_count + p] receives the error
 * of penalty p on fold f, or NAN for folds that are not left out; fold_errors may be NULL.
 */
int hm__lasso_choose(const struct hm_gram *folds, const bool *held, size_t fold_count,
                     size_t penalty_count, double least, double tolerance,
                     struct hm_lasso_choice *ret_choice, double *fold_errors, struct hm_err *err);

#endif
