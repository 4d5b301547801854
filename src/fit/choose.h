/* Chooses the terms of a fit by leave-one-out errors. */
#ifndef HM_CHOOSE_H
#define HM_CHOOSE_H

#include "basis.h"

enum { HM_CHOSEN_MAX = 4, HM_FOLDS_MAX = 64, HM_CHOICES_MAX = 2000 };

/* A set of terms and its error on runs that were left out. */
struct hm_choice {
    size_t terms[HM_CHOSEN_MAX];
    size_t count;
    bool steep;    /* One of the terms grows faster than ln n. */
    double error;  /* Mean square of the leave-one-out errors of weighted rows. */
    double weight; /* Weight in the intervals; the weights add up to 1. */
    bool misses;   /* The residual is larger than repeats allow. */
};

/* Repeats: their degrees of freedom and the sum of squares of their weighted rows. */
struct hm_repeats {
    double free, sum;
};

/*
 * Compares every set with as many terms as the runs can determine. folds holds the reduced runs of
 * each configuration (or of a group of configurations); rows is their number of runs; unit is the
 * mean square of the weighted seconds, 1 with relative errors; configurations and repeats rule out
 * sets. choices are sorted best first; *ret_best is the one to use.
 */
int hm__choose(const struct hm_basis *basis, const struct hm_lsq *folds, size_t fold_count,
               double rows, double unit, size_t configurations, struct hm_repeats repeats,
               struct hm_choice *choices, size_t *ret_count, size_t *ret_best, struct hm_err *err);

#endif
