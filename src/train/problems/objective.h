/*
 * Defines the objective that is minimised: P(w) = lambda/2 |w|^2 + the mean loss over all rows.
 * Each rank evaluates its own rows; the caller sums over ranks.
 */
#ifndef HM_OBJECTIVE_H
#define HM_OBJECTIVE_H

#include "howmany.h"
#include "memory.h"
#include "rows.h"

struct hm_objective;

/*
 * Function that computes C = alpha op(A) op(B) + beta C in single precision, row-major, like sgemm
 * of BLAS.
 */
typedef void hm_gemm_fn(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k,
                        float alpha, const float *a, size_t lda, const float *b, size_t ldb,
                        float beta, float *c, size_t ldc);
/* Multiplies matrices with plain loops; used if there is no BLAS. */
hm_gemm_fn hm__gemm_plain;

struct hm_objective_ops {
    const char *name;
    /*
     * Returns the sum of the losses at w over the rows list[0..count), or over rows 0 to count - 1
     * if `list` is NULL. Adds the sum of their gradients to `gradient`, which has `unknowns`
     * elements, unless it is NULL. The sums are not divided by the number of rows and do not
     * include the regulariser. *ret_flop is the number of floating-point operations.
     */
    double (*eval)(struct hm_objective *objective, const double *w, const uint32_t *list,
                   size_t count, double *gradient, double *ret_flop);
    /*
     * Returns the number of rows that are predicted correctly or, for least squares, minus the sum
     * of squared errors.
     */
    double (*right)(struct hm_objective *objective, const double *w, const struct hm_rows *rows);
};

struct hm_objective {
    const struct hm_objective_ops *ops;
    /* Loss of a linear problem with one output; NULL for softmax and the perceptron. */
    const struct hm_loss *loss;
    /* Rows of the data on this rank. Labels are -1 and 1, or 0 to outputs - 1, or real numbers. */
    struct hm_rows rows;
    double total_rows; /* Number of rows in the data on all ranks. */
    double lambda;     /* Strength of the regulariser, lambda. */
    /* Largest second derivative of the loss with respect to the prediction; 0 if unknown. */
    double curvature;
    size_t outputs;         /* Number of outputs: 1, or the number of classes. */
    size_t unknowns;        /* Number of weights, which is the length of w. */
    void *state;            /* State that the functions in `ops` use; owned by `arena`. */
    struct hm_arena *arena; /* Arena that owns the memory of the objective. */
};

#endif
