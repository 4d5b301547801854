/*
 * The objective that is minimised: P(w) = lambda/2 |w|^2 + the mean over all rows of a loss. Each
 * rank evaluates its own rows; the caller sums over ranks.
 */
#ifndef HM_OBJECTIVE_H
#define HM_OBJECTIVE_H

#include "howmany.h"
#include "memory.h"
#include "rows.h"

struct hm_objective;

/* C = alpha op(A) op(B) + beta C in single precision, row-major, like BLAS sgemm. */
typedef void hm_gemm_fn(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k,
                        float alpha, const float *a, size_t lda, const float *b, size_t ldb,
                        float beta, float *c, size_t ldc);
/* Plain loops, used without BLAS. */
hm_gemm_fn hm__gemm_plain;

struct hm_objective_ops {
    const char *name;
    /*
     * Returns the sum of the losses of rows list[0..count) (list NULL: rows 0..count) at w. Adds
     * the sum of their gradients to `gradient` ([unknowns]; NULL: not computed). Neither is divided
     * by the number of rows, nor includes the regulariser. *ret_flop: floating-point operations
     * done.
     */
    double (*eval)(struct hm_objective *objective, const double *w, const uint32_t *list,
                   size_t count, double *gradient, double *ret_flop);
    /* Number of rows predicted correctly; least squares: minus the sum of squared errors. */
    double (*right)(struct hm_objective *objective, const double *w, const struct hm_rows *rows);
};

struct hm_objective {
    const struct hm_objective_ops *ops;
    const struct hm_loss *loss; /* Loss of a linear problem; NULL for the perceptron. */
    /* Rows of this rank. Labels are -1 and 1, 0..outputs-1, or real numbers. */
    struct hm_rows rows;
    double total_rows;      /* Rows of all ranks. */
    double lambda;          /* Strength of the regulariser. */
    double curvature;       /* Largest second derivative of the loss; 0: unknown. */
    size_t outputs;         /* 1, or the number of classes. */
    size_t unknowns;        /* Length of w. */
    void *state;            /* State of `ops`; owned by `arena`. */
    struct hm_arena *arena; /* Owns the memory allocated for the objective. */
};

#endif
