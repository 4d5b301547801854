/*
 * The one place that knows of OpenBLAS. Sizes are below 2^20 (HM_WIDTH_MAX, blocks of rows), so
 * they fit its int.
 */
#include "blas.h"

#ifdef HM_HAVE_OPENBLAS
#include <cblas.h>

void hm_gemm_best(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k, float alpha,
                  const float *a, size_t lda, const float *b, size_t ldb, float beta, float *c,
                  size_t ldc)
{
    cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
                transpose_b ? CblasTrans : CblasNoTrans, (blasint)m, (blasint)n, (blasint)k, alpha,
                a, (blasint)lda, b, (blasint)ldb, beta, c, (blasint)ldc);
}

void hm_blas_start(void)
{
    openblas_set_num_threads(1);
}

const char *hm_blas_name(void)
{
    return openblas_get_config();
}

#else

void hm_gemm_best(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k, float alpha,
                  const float *a, size_t lda, const float *b, size_t ldb, float beta, float *c,
                  size_t ldc)
{
    hm_gemm_plain(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void hm_blas_start(void)
{
}

const char *hm_blas_name(void)
{
    return "plain loops";
}

#endif
