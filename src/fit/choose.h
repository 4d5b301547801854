/* Choosing the terms of a fit by what the runs that are left out say. */
#ifndef HM_CHOOSE_H
#define HM_CHOOSE_H

#include "basis.h"

enum { HM_CHOSEN_MAX = 4, HM_FOLDS_MAX = 64, HM_CHOICES_MAX = 2000 };

/* A set of terms and how well it predicts what it has not seen. */
struct hm_choice {
    size_t terms[HM_CHOSEN_MAX];
    size_t count;
    bool steep;    /* one of them grows faster than ln n */
    double error;  /* mean square of the leave-one-out errors, of weighted rows */
    double weight; /* in the intervals; all together 1 */
    bool misses;   /* the runs by more than repeats allow */
};

/* What repeats show: their degrees of freedom and the sum of squares of their weighted rows. */
struct hm_repeats {
    double free, sum;
};

/*
 * Look at every set of as many terms as the runs can carry. folds are the runs of each
 * configuration (or of a group of them), reduced; rows is their number of runs; unit is the mean
 * square of the seconds of weighted rows, 1 where they are relative; configurations and repeats
 * tell which sets cannot be. Choices come best first; *ret_best is the one to use.
 */
int hm__choose(const struct hm_basis *basis, const struct hm_lsq *folds, size_t fold_count,
               double rows, double unit, size_t configurations, struct hm_repeats repeats,
               struct hm_choice *choices, size_t *ret_count, size_t *ret_best, struct hm_err *err);

#endif
