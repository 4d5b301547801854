/* Making rows ready to learn from: labels to classes, and features to a common scale. */
#ifndef HM_PREPARE_H
#define HM_PREPARE_H

#include "comm.h"
#include "memory.h"
#include "rows.h"

enum hm_label_kind {
    HM_LABEL_NUMBER, /* as they are; -1 and 1 when there is a positive one */
    HM_LABEL_SIGN,   /* -1 and 1 */
    HM_LABEL_CLASS,  /* 0 .. classes - 1, in the order of `known` */
};

struct hm_labels {
    enum hm_label_kind kind;
    const double *known; /* ascending; borrowed */
    size_t count;
    double positive; /* the label that becomes 1; NAN: none, of signs the larger of two */
};

/* Labels that are not known become -1, which is no class. */
void hm__labels_apply(const struct hm_labels *labels, struct hm_rows *rows);

enum hm_scale_kind {
    HM_SCALE_NONE,
    HM_SCALE_DIVIDE,      /* by a number */
    HM_SCALE_UNIT,        /* each row to norm 1; a row of zeros stays */
    HM_SCALE_STANDARDISE, /* each column to mean 0 and deviation 1; sparse: deviation only */
};

struct hm_scale {
    enum hm_scale_kind kind;
    double divisor;
    double *mean, *deviation; /* of the columns; set by hm__scale_learn */
};

/* Over all rows of all ranks; for HM_SCALE_STANDARDISE only. */
int hm__scale_learn(struct hm_scale *scale, struct hm_comm *comm, const struct hm_rows *rows,
                    double total, struct hm_arena *arena, struct hm_err *err);
void hm__scale_apply(const struct hm_scale *scale, struct hm_rows *rows);

/*
 * A number that changes when any row of any rank does, and does not depend on how rows are dealt
 * out: what tells data apart in checkpoints.
 */
double hm__rows_fingerprint(struct hm_comm *comm, const struct hm_rows *rows, double first);

#endif
