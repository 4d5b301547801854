/* Predicts measured training steps of large networks, and computes the errors by source. */
#ifndef HM_LARGE_VALIDATE_H
#define HM_LARGE_VALIDATE_H

#include "large_rows_eval.h"

/* The prediction for one row of the table of measured steps, with constants that were fitted
 * without the rows of its source. */
struct hm_large_prediction {
    const struct hm_large_row *row; /* The row of the table of measured steps; borrowed. */
    /* Predicted time in seconds and its 90 % interval; NaN if the row has no measured time. */
    double time_s, low_s, high_s;
    double memory_bytes;       /* Predicted memory in bytes on the fullest worker. */
    enum hm_large_group group; /* Group of jobs whose errors determine the interval. */
    bool fits;    /* True if the predicted memory is at most the memory that a job can use. */
    bool healthy; /* True if the time is compared with the measured time; see
                     hm__large_rows_healthy. */
};

/* Errors of the predictions for one source, as fractions (1 is 100 %). A value is NaN if there are
 * no measurements for it. */
struct hm_large_score {
    /* Name of the source; NULL for the mean over all sources with equal weights. */
    const char *source;
    double rows;         /* Number of measurements whose times are compared. */
    double mean, median; /* Mean and median of |predicted/measured - 1| over these measurements. */
    double inside;       /* Share of the measured times inside the interval. */
    double memory_rows, memory_median;
    /*
     * Number of measurements whose outcome (fits in memory or not) is known, and share of these
     * outcomes that are predicted correctly.
     */
    double outcomes, outcomes_right;
};

enum { HM_LARGE_SOURCES = 32 };

/*
 * Predicts the measured step of every row; predictions[i] belongs to rows->rows[i]. For a row
 * without a micro-batch, the largest power of two that fits in memory is used.
 */
int hm__large_predict(struct hm_large_rows *rows, struct hm_large_prediction *predictions,
                      struct hm_err *err);
/*
 * Computes the errors of each source, in the order of the rows, followed by the errors over all
 * sources. Returns the number of scores.
 */
size_t hm__large_scores(const struct hm_large_prediction *predictions, size_t count,
                        struct hm_large_score *ret_scores);

#endif
