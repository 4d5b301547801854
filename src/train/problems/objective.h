/*
 * What is minimised: P(w) = lambda/2 |w|^2 + the mean over all rows of a loss. One rank sees its
 * own rows; sums over ranks are the caller's.
 */
#ifndef HM_OBJECTIVE_H
#define HM_OBJECTIVE_H

#include "howmany.h"
#include "memory.h"
#include "rows.h"

struct hm_objective;

/* C = alpha A B + beta C in single precision, row-major, as BLAS has it; t: transposed. */
typedef void hm_gemm_fn(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k,
                        float alpha, const float *a, size_t lda, const float *b, size_t ldb,
                        float beta, float *c, size_t ldc);
/* Plain loops, for where there is no BLAS. */
hm_gemm_fn hm__gemm_plain;

struct hm_objective_ops {
    const char *name;
    /*
     * Sum of the losses of rows list[0..count) (list NULL: rows 0..count) at w. The sum of their
     * gradients is added to `gradient` (unknowns long; NULL: not wanted). Neither is divided by the
     * number of rows, nor has the regulariser. *ret_flop: the arithmetic done.
     */
    double (*eval)(struct hm_objective *objective, const double *w, const uint32_t *list,
                   size_t count, double *gradient, double *ret_flop);
    /* How many of the rows are predicted right; least squares: minus the sum of squared errors. */
    double (*right)(struct hm_objective *objective, const double *w, const struct hm_rows *rows);
};

struct hm_objective {
    const struct hm_objective_ops *ops;
    const struct hm_loss *loss; /* of linear problems; NULL for the perceptron */
    struct hm_rows rows;        /* this rank's; labels are -1 and 1, 0..outputs-1, or any number */
    double total_rows;          /* of all ranks */
    double lambda;              /* of the regulariser */
    double curvature;           /* largest second derivative of the loss; 0: not known */
    size_t outputs;             /* 1, or the number of classes */
    size_t unknowns;            /* length of w */
    void *state;                /* of the ops; owned through arena */
    struct hm_arena *arena;     /* owns what is made for it */
};

#endif
