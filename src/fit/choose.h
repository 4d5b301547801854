/* Chooses the terms of a fit by leave-one-out errors. */
#ifndef HM_CHOOSE_H
#define HM_CHOOSE_H

#include "basis.h"

enum { HM_CHOSEN_MAX = 4, HM_FOLDS_MAX = 64, HM_CHOICES_MAX = 2000 };

/* A set of terms and its leave-one-out error. */
struct hm_choice {
    size_t terms[HM_CHOSEN_MAX];
    size_t count;
    bool steep; /* True if one of the terms grows faster than ln n. */
    /* Mean square leave-one-out error of the weighted times, over all runs. */
    double error;
    /* Weight of the set in the intervals of a fit; the weights of all sets add up to 1. */
    double weight;
    bool misses; /* True if the residual is larger than the spread of repeats allows. */
};

/*
 * Repeats of runs: their degrees of freedom and the sum of squares of their weighted times around
 * the means.
 */
struct hm_repeats {
    double free, sum;
};

/*
 * Compares all sets of terms that are small enough for the runs to determine their coefficients.
 * folds[f] holds the runs of one configuration (or of several), reduced to a least-squares problem;
 * rows is the number of runs in all folds; unit is the mean square of the weighted times (1 with
 * relative errors). The number of configurations and the repeats rule out some sets. choices is
 * sorted by error, smallest first; *ret_best is the index of the set to use.
 */
int hm__choose(const struct hm_basis *basis, const struct hm_fit_rule *rule,
               const struct hm_lsq *folds, size_t fold_count, double rows, double unit,
               size_t configurations, struct hm_repeats repeats, struct hm_choice *choices,
               size_t *ret_count, size_t *ret_best, struct hm_err *err);

#endif
