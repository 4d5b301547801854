/*
 * A fake cuBLAS (libcublas.so.12): a matrix product takes 1 us plus the time of its operations, at
 * 250 Tflop/s with 16 bits, 125 in TF32, 16 in fp32 and 18 in fp64. With the environment variable
 * FAKE_BLAS=none, its initialisation fails.
 */
#include <stdint.h>
#include <stdlib.h>

#include "fake_cuda.h"

#define FAKE_API __attribute__((visibility("default")))

FAKE_API int cublasCreate_v2(void **handle);
FAKE_API int cublasDestroy_v2(void *handle);
FAKE_API int cublasSetStream_v2(void *handle, void *stream);
FAKE_API int cublasGetVersion_v2(void *handle, int *version);
FAKE_API int cublasGemmEx(void *handle, int trans_a, int trans_b, int m, int n, int k,
                          const void *alpha, const void *a, int type_a, int lda, const void *b,
                          int type_b, int ldb, const void *beta, void *c, int type_c, int ldc,
                          int compute, int algorithm);

int cublasCreate_v2(void **handle)
{
    static int made;
    *handle = &made;
    return getenv("FAKE_BLAS") ? 1 : 0;
}

int cublasDestroy_v2(void *handle)
{
    return handle ? 0 : 1;
}

int cublasSetStream_v2(void *handle, void *stream)
{
    return handle && stream ? 0 : 1;
}

int cublasGetVersion_v2(void *handle, int *version)
{
    (void)handle;
    *version = 120400;
    return 0;
}

int cublasGemmEx(void *handle, int trans_a, int trans_b, int m, int n, int k, const void *alpha,
                 const void *a, int type_a, int lda, const void *b, int type_b, int ldb,
                 const void *beta, void *c, int type_c, int ldc, int compute, int algorithm)
{
    (void)handle, (void)trans_a, (void)trans_b, (void)alpha, (void)beta, (void)algorithm;
    /* Operands of another type, size or order are refused, as by the real library. */
    if (type_a != type_b || type_a != type_c || lda != m || ldb != k || ldc != m || a == b ||
        b == c)
        return 7;
    double rate = type_a == 14 || type_a == 2 ? 250e12
                  : type_a == 1               ? 18e12
                  : compute == 77             ? 125e12
                                              : 16e12;
    fake_cuda_spend(1e-6 + 2.0 * m * n * k / rate);
    return 0;
}
