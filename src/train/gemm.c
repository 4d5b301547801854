/*
 * Matrix products in single precision by plain loops: what the perceptrons use where there is no
 * BLAS. Row-major; C = alpha op(A) op(B) + beta C.
 */
#include "objective.h"

void hm_gemm_plain(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k, float alpha,
                   const float *a, size_t lda, const float *b, size_t ldb, float beta, float *c,
                   size_t ldc)
{
    for (size_t i = 0; i < m; i++) {
        float *row = c + i * ldc;
        for (size_t j = 0; j < n; j++)
            row[j] = beta == 0 ? 0 : beta * row[j];
        for (size_t p = 0; p < k; p++) {
            float factor = alpha * (transpose_a ? a[p * lda + i] : a[i * lda + p]);
            for (size_t j = 0; j < n; j++)
                row[j] += factor * (transpose_b ? b[j * ldb + p] : b[p * ldb + j]);
        }
    }
}
