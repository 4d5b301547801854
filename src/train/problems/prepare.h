/* Prepares rows for training: converts labels to classes, and scales features. */
#ifndef HM_PREPARE_H
#define HM_PREPARE_H

#include "comm.h"
#include "memory.h"
#include "rows.h"

enum hm_label_kind {
    HM_LABEL_NUMBER, /* Labels are unchanged, or become -1 and 1 if `positive` is set. */
    HM_LABEL_SIGN,   /* Labels become -1 and 1. */
    HM_LABEL_CLASS,  /* Labels become 0..classes-1, in the order of `known`. */
};

struct hm_labels {
    enum hm_label_kind kind;
    const double *known; /* Labels that occur in the data, ascending; borrowed. */
    size_t count;
    /* The label that becomes 1. NAN: not set; HM_LABEL_SIGN then uses the larger of two labels. */
    double positive;
};

/*
 * Convert the labels of rows. With HM_LABEL_CLASS, a label that is not in `known` becomes -1, which
 * is not a class.
 */
void hm__labels_apply(const struct hm_labels *labels, struct hm_rows *rows);

enum hm_scale_kind {
    HM_SCALE_NONE,
    HM_SCALE_DIVIDE, /* Divide all values by a number. */
    HM_SCALE_UNIT,   /* Scale each row to norm 1; a row of zeros is unchanged. */
    /*
     * Scale each column to mean 0 and standard deviation 1; columns of sparse rows are not shifted.
     */
    HM_SCALE_STANDARDISE,
};

struct hm_scale {
    enum hm_scale_kind kind;
    double divisor;
    /* Mean and standard deviation of each column; set by hm__scale_learn. */
    double *mean, *deviation;
};

/*
 * Compute mean and deviation of each column over all rows of all ranks. Collective; for
 * HM_SCALE_STANDARDISE only.
 */
int hm__scale_learn(struct hm_scale *scale, struct hm_comm *comm, const struct hm_rows *rows,
                    double total, struct hm_arena *arena, struct hm_err *err);
void hm__scale_apply(const struct hm_scale *scale, struct hm_rows *rows);

/*
 * Returns a number that identifies data in checkpoints: it changes when any row of any rank
 * changes, and it does not depend on the distribution of the rows over the ranks.
 */
double hm__rows_fingerprint(struct hm_comm *comm, const struct hm_rows *rows, double first);

#endif
