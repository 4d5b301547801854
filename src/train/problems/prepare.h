/* Prepares rows for training: converts labels to classes, and scales features. */
#ifndef HM_PREPARE_H
#define HM_PREPARE_H

#include "comm.h"
#include "memory.h"
#include "rows.h"

enum hm_label_kind {
    /* Labels are unchanged or, if `positive` is set, are converted to -1 and 1. */
    HM_LABEL_NUMBER,
    HM_LABEL_SIGN,  /* Labels are converted to -1 and 1. */
    HM_LABEL_CLASS, /* Labels are converted to 0 to classes - 1, in the order of `known`. */
};

struct hm_labels {
    enum hm_label_kind kind;
    const double *known; /* All labels that occur in the data, ascending; borrowed. */
    size_t count;
    /*
     * The label that becomes 1; NAN if not given, in which case HM_LABEL_SIGN uses the larger of
     * the two labels.
     */
    double positive;
};

/*
 * Converts the labels of the rows. With HM_LABEL_CLASS, a label that is not in `known` becomes -1,
 * which means that the row has no known class.
 */
void hm__labels_apply(const struct hm_labels *labels, struct hm_rows *rows);

enum hm_scale_kind {
    HM_SCALE_NONE,
    HM_SCALE_DIVIDE, /* Divides all values of the data by one number. */
    HM_SCALE_UNIT,   /* Scales each row to norm 1; a row of zeros is unchanged. */
    /*
     * Scales each column to mean 0 and standard deviation 1; if rows are sparse, the mean is not
     * subtracted.
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
 * Computes the mean and the standard deviation of each column over the rows of all ranks. All ranks
 * must call this function; it is needed only for HM_SCALE_STANDARDISE.
 */
int hm__scale_learn(struct hm_scale *scale, struct hm_comm *comm, const struct hm_rows *rows,
                    double total, struct hm_arena *arena, struct hm_err *err);
void hm__scale_apply(const struct hm_scale *scale, struct hm_rows *rows);

/*
 * A fingerprint of data is a sum of parts, one for each row, vertex or edge. hm__fingerprint_mix
 * adds a value to the hash of one of them. hm__fingerprint_part returns what the fingerprint gets
 * from a hash: only 24 bits, so that sums over up to 2^29 hashes are exact in any order.
 */
uint64_t hm__fingerprint_mix(uint64_t hash, double value);
double hm__fingerprint_part(uint64_t hash);

/*
 * Returns a fingerprint of the data for checkpoints: it changes if any row of any rank changes, and
 * does not depend on how the rows are distributed over the ranks.
 */
double hm__rows_fingerprint(struct hm_comm *comm, const struct hm_rows *rows, double first);

#endif
