/* Predictions of measured training steps of large networks, and their errors by source. */
#ifndef HM_LARGE_VALIDATE_H
#define HM_LARGE_VALIDATE_H

#include "large_rows_eval.h"

/* The prediction of one row by constants that were fitted without its source. */
struct hm_large_prediction {
    const struct hm_large_row *row; /* Borrowed. */
    double time_s, low_s, high_s;   /* Predicted step and its 90 % interval; NaN: none measured. */
    double memory_bytes;            /* Predicted memory of the fullest worker. */
    enum hm_large_group group;      /* Group of jobs whose errors give the interval. */
    bool fits;                      /* Whether the memory is predicted to suffice. */
    bool healthy;                   /* Whether the time counts; see hm__large_rows_healthy. */
};

/* Errors of one source; shares of 1. A figure without rows is NaN. */
struct hm_large_score {
    const char *source;  /* NULL: all sources, each with the same weight. */
    double rows;         /* Number of compared times. */
    double mean, median; /* Mean and median of |predicted/measured - 1|. */
    double inside;       /* Share of the measured times inside the interval. */
    double memory_rows, memory_median;
    double outcomes, outcomes_right; /* Rows known to run or to fail, and the share predicted. */
};

enum { HM_LARGE_SOURCES = 32 };

/* Predict every row; predictions[i] is for rows->rows[i]. Rows are completed on the way. */
int hm__large_predict(struct hm_large_rows *rows, struct hm_large_prediction *predictions,
                      struct hm_err *err);
/* Score each source, in the order of the rows, and all of them last; returns how many scores. */
size_t hm__large_scores(const struct hm_large_prediction *predictions, size_t count,
                        struct hm_large_score *ret_scores);

#endif
