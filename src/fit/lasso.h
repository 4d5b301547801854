/*
 * The Lasso: least squares with a price on the size of coefficients, so that most of them are 0.
 *
 *     min over a, b of  1/2 sum w (y - a - z b)^2 / sum w  +  penalty |b|_1
 *
 * where z are the terms, each shifted and scaled to mean 0 and variance 1 under the weights w. All
 * that is kept of the rows are their sums, so its cost does not depend on how many there are, and
 * the price can be chosen by cross-validation over sets of rows (folds) at next to no cost.
 *
 * Friedman, Hastie, Tibshirani: Regularization paths for generalized linear models via coordinate
 * descent. Journal of Statistical Software 33(1), 2010.
 */
#ifndef HM_LASSO_H
#define HM_LASSO_H

#include <stdbool.h>
#include <stddef.h>

#include "howmany.h"

enum { HM_LASSO_MAX = 32 }; /* terms */

/*
 * What the Lasso needs to know of rows (x, y): their weight, their means, and the weighted sums of
 * products of what is left when the means are taken off. Sums about the means, unlike plain ones,
 * lose no digits where terms vary little beside their size.
 */
struct hm_gram {
    size_t count;                          /* terms */
    double weight;                         /* sum of the weights */
    double x[HM_LASSO_MAX], y;             /* weighted means */
    double xx[HM_LASSO_MAX][HM_LASSO_MAX]; /* about the means; [j][k] with j <= k, others unused */
    double xy[HM_LASSO_MAX], yy;           /* about the means */
};

void hm__gram_init(struct hm_gram *gram, size_t count);
/* Add a row of count terms; weight >= 0. */
void hm__gram_add(struct hm_gram *gram, const double *x, double y, double weight);
/*
 * Add all rows of another gram with the same terms, their weights times factor. A factor of -1
 * takes rows away that were added before, at the price of digits: where there is a choice, leave
 * rows out by adding the others.
 */
void hm__gram_merge(struct hm_gram *gram, const struct hm_gram *other, double factor);
/* Mean square error of y against intercept + theta x on the rows of a gram. */
double hm__gram_error(const struct hm_gram *gram, double intercept, const double *theta);

/* The problem in standardised terms. A term that does not vary has scale 0 and never enters. */
struct hm_lasso {
    size_t count;
    double mean[HM_LASSO_MAX], scale[HM_LASSO_MAX]; /* of the terms; scale is their deviation */
    double y_mean, y_variance;
    double c[HM_LASSO_MAX][HM_LASSO_MAX]; /* correlations of the terms, all of them */
    double d[HM_LASSO_MAX];               /* mean of z times y, which is centred but not scaled */
};

/* The gram must have a weight above 0. */
void hm__lasso_init(struct hm_lasso *lasso, const struct hm_gram *gram);
/* Least penalty at which no term enters. */
double hm__lasso_penalty_max(const struct hm_lasso *lasso);
/*
 * Solve for a penalty above 0. b holds where to start and, on return, the coefficients of the
 * standardised terms. Stops once the duality gap, which bounds how far the objective is from its
 * least, is at most tolerance * y_variance, or when rounding lets it get no smaller, which is at
 * about 1e-16 |b|_1^2. Returns the gap relative to y_variance.
 */
double hm__lasso_solve(const struct hm_lasso *lasso, double penalty, double tolerance, double *b);
/* From standardised terms to terms as they are: y is intercept + theta x. */
void hm__lasso_unscale(const struct hm_lasso *lasso, const double *b, double *ret_intercept,
                       double *ret_theta);
/* Evenly in the logarithm from penalty_max down to penalty_max * least; 0 < least <= 1. */
void hm__lasso_penalties(double penalty_max, double least, size_t count, double *penalties);

enum { HM_LASSO_PENALTIES = 100, HM_LASSO_FOLDS = 64 };

struct hm_lasso_choice {
    size_t penalty_count;
    double penalties[HM_LASSO_PENALTIES]; /* falling */
    double mean[HM_LASSO_PENALTIES];      /* of the folds' mean square errors, folds alike */
    double error[HM_LASSO_PENALTIES];     /* standard error of that mean */
    size_t least;                         /* index of the least mean */
    size_t chosen; /* of the largest penalty whose mean is within one standard error of the least */
};

/*
 * Choose the penalty by cross-validation: each fold with held[f] is left out in turn, the others
 * are standardised and solved for all penalties, and the errors are those on the fold left out.
 * Folds without held[f] always stay in. The penalties are those of all folds together.
 * fold_errors, fold_count x penalty_count, may be NULL; NAN for folds that stay in.
 */
int hm__lasso_choose(const struct hm_gram *folds, const bool *held, size_t fold_count,
                     size_t penalty_count, double least, double tolerance,
                     struct hm_lasso_choice *ret_choice, double *fold_errors, struct hm_err *err);

#endif
