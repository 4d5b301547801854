/*
 * The Lasso: least squares with a penalty on the size of coefficients, so that most of them are 0.
 *
 *     min over a, b of  1/2 sum w (y - a - z b)^2 / sum w  +  penalty |b|_1
 *
 * where z are the terms, each shifted and scaled to mean 0 and variance 1 under the weights w. Only
 * sums over the rows are kept, so the cost does not depend on the number of rows, and the penalty
 * can be chosen by cross-validation over sets of rows (folds) at little cost.
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
 * Sums over rows (x, y) that the Lasso needs: weight, means, and weighted sums of products around
 * the means. Sums around the means, unlike plain sums, lose no digits when terms vary little.
 */
struct hm_gram {
    size_t count;              /* Number of terms. */
    double weight;             /* Sum of the weights. */
    double x[HM_LASSO_MAX], y; /* Weighted means. */
    double xx[HM_LASSO_MAX]
             [HM_LASSO_MAX];     /* Sums around the means; only [j][k] with j <= k are used. */
    double xy[HM_LASSO_MAX], yy; /* Sums around the means. */
};

void hm__gram_init(struct hm_gram *gram, size_t count);
/* Adds a row of `count` terms; weight >= 0. */
void hm__gram_add(struct hm_gram *gram, const double *x, double y, double weight);
/*
 * Adds all rows of another gram with the same terms, their weights multiplied by factor. A factor
 * of -1 removes rows that were added before and loses digits; where possible, leave rows out by
 * adding the others.
 */
void hm__gram_merge(struct hm_gram *gram, const struct hm_gram *other, double factor);
/* Mean square error of intercept + theta x against y on the rows of a gram. */
double hm__gram_error(const struct hm_gram *gram, double intercept, const double *theta);

/* The problem in standardised terms. A constant term has scale 0 and never enters. */
struct hm_lasso {
    size_t count;
    double mean[HM_LASSO_MAX],
        scale[HM_LASSO_MAX]; /* Means and standard deviations of the terms. */
    double y_mean, y_variance;
    double c[HM_LASSO_MAX][HM_LASSO_MAX]; /* Correlations of the terms; the full matrix. */
    double d[HM_LASSO_MAX]; /* Mean of z times y, where y is centred but not scaled. */
};

/* Requires gram->weight > 0. */
void hm__lasso_init(struct hm_lasso *lasso, const struct hm_gram *gram);
/* Smallest penalty at which all coefficients are 0. */
double hm__lasso_penalty_max(const struct hm_lasso *lasso);
/*
 * Solves for a penalty above 0. b holds the start and, on return, the coefficients of the
 * standardised terms. Stops when the duality gap, which bounds the distance of the objective from
 * its minimum, is at most tolerance * y_variance, or when rounding prevents progress, at about
 * 1e-16 |b|_1^2. Returns the gap relative to y_variance.
 */
double hm__lasso_solve(const struct hm_lasso *lasso, double penalty, double tolerance, double *b);
/* Converts to coefficients of the original terms: y = intercept + theta x. */
void hm__lasso_unscale(const struct hm_lasso *lasso, const double *b, double *ret_intercept,
                       double *ret_theta);
/*
 * Penalties evenly spaced in the logarithm from penalty_max down to penalty_max * least; 0 < least
 * <= 1.
 */
void hm__lasso_penalties(double penalty_max, double least, size_t count, double *penalties);

enum { HM_LASSO_PENALTIES = 100, HM_LASSO_FOLDS = 64 };

struct hm_lasso_choice {
    size_t penalty_count;
    double penalties[HM_LASSO_PENALTIES]; /* In falling order. */
    double mean[HM_LASSO_PENALTIES];  /* Mean over the folds of the mean square errors, with equal
                                         weights. */
    double error[HM_LASSO_PENALTIES]; /* Standard error of that mean. */
    size_t least;                     /* Index of the smallest mean. */
    size_t chosen; /* Index of the largest penalty whose mean is within one standard error of the
                      smallest. */
};

/*
 * Chooses the penalty by cross-validation: each fold with held[f] is left out in turn, the others
 * are standardised and solved for all penalties, and the errors are measured on the fold left out.
 * Folds without held[f] are never left out. The penalties come from all folds together.
 * fold_errors, fold_count x penalty_count, may be NULL; it is NAN for folds that are not left out.
 */
int hm__lasso_choose(const struct hm_gram *folds, const bool *held, size_t fold_count,
                     size_t penalty_count, double least, double tolerance,
                     struct hm_lasso_choice *ret_choice, double *fold_errors, struct hm_err *err);

#endif
