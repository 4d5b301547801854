/* Preparation of rows for training: labels to classes, and scaling of the features. */
#ifndef HM_PREPARE_H
#define HM_PREPARE_H

#include "comm.h"
#include "memory.h"
#include "rows.h"

enum hm_label_kind {
    HM_LABEL_NUMBER, /* Unchanged; -1 and 1 if `positive` is set. */
    HM_LABEL_SIGN,   /* -1 and 1. */
    HM_LABEL_CLASS,  /* 0..classes - 1, in the order of `known`. */
};

struct hm_labels {
    enum hm_label_kind kind;
    const double *known; /* Ascending; borrowed. */
    size_t count;
    /* The label that becomes 1. NAN: not set; HM_LABEL_SIGN then uses the larger of two labels. */
    double positive;
};

/* Labels that are not in `known` become -1, which is not a class. */
void hm__labels_apply(const struct hm_labels *labels, struct hm_rows *rows);

enum hm_scale_kind {
    HM_SCALE_NONE,
    HM_SCALE_DIVIDE, /* Divide by a number. */
    HM_SCALE_UNIT,   /* Scale each row to norm 1; a row of zeros is unchanged. */
    /* Scale each column to mean 0 and standard deviation 1; sparse rows: deviation only. */
    HM_SCALE_STANDARDISE,
};

struct hm_scale {
    enum hm_scale_kind kind;
    double divisor;
    double *mean, *deviation; /* Of the columns; set by hm__scale_learn. */
};

/*
 * Collective: compute mean and deviation over all rows of all ranks; for HM_SCALE_STANDARDISE only.
 */
int hm__scale_learn(struct hm_scale *scale, struct hm_comm *comm, const struct hm_rows *rows,
                    double total, struct hm_arena *arena, struct hm_err *err);
void hm__scale_apply(const struct hm_scale *scale, struct hm_rows *rows);

/*
 * A number that changes when any row of any rank changes, and that does not depend on the
 * distribution of the rows over the ranks. It identifies data in checkpoints.
 */
double hm__rows_fingerprint(struct hm_comm *comm, const struct hm_rows *rows, double first);

#endif
