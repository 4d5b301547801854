/*
 * This is the only file that uses OpenBLAS. Matrix dimensions are below 2^20 (HM_WIDTH_MAX, blocks
 * of rows), so that they fit into an int.
 *
 * The file calls the Fortran symbol sgemm_, which is column-major: C = A B is computed as C' = B'
 * A'. The symbol cblas_sgemm would resolve to GSL's version, since SimGrid loads GSL first; that
 * version is slower, and its results differ in the last bits.
 */
#include "blas.h"

#ifdef HM_HAVE_OPENBLAS
#include <cblas.h>

extern void sgemm_(const char *transpose_a, const char *transpose_b, const blasint *m,
                   const blasint *n, const blasint *k, const float *alpha, const float *a,
                   const blasint *lda, const float *b, const blasint *ldb, const float *beta,
                   float *c, const blasint *ldc, size_t length_a, size_t length_b);

void hm__gemm_best(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k, float alpha,
                   const float *a, size_t lda, const float *b, size_t ldb, float beta, float *c,
                   size_t ldc)
{
    blasint rows = (blasint)m, columns = (blasint)n, inner = (blasint)k;
    blasint stride_a = (blasint)lda, stride_b = (blasint)ldb, stride_c = (blasint)ldc;

    sgemm_(transpose_b ? "T" : "N", transpose_a ? "T" : "N", &columns, &rows, &inner, &alpha, b,
           &stride_b, a, &stride_a, &beta, c, &stride_c, 1, 1);
}

void hm__blas_start(void)
{
    openblas_set_num_threads(1);
}

const char *hm__blas_name(void)
{
    return openblas_get_config();
}

#else

void hm__gemm_best(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k, float alpha,
                   const float *a, size_t lda, const float *b, size_t ldb, float beta, float *c,
                   size_t ldc)
{
    hm__gemm_plain(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void hm__blas_start(void)
{
}

const char *hm__blas_name(void)
{
    return "plain loops";
}

#endif
