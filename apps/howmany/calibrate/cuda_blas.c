/*
 * Multiplies matrices with cuBLAS 11 or later, loaded at run time. All formats are computed by
 * cublasGemmEx with 32-bit sums (64-bit for fp64); 8-bit matrix products exist only in cuBLASLt,
 * where the first matrix is transposed and the result has 16 bits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda.h"
#include "err.h"
#include "library.h"

/* Values of cudaDataType, cublasComputeType and cublasLtMatmulDescAttributes. */
enum {
    TYPE_32F = 0,
    TYPE_64F = 1,
    TYPE_16F = 2,
    TYPE_16BF = 14,
    TYPE_8F_E4M3 = 28,
    COMPUTE_32F = 68,
    COMPUTE_64F = 70,
    COMPUTE_32F_TF32 = 77,
    ALGORITHM_DEFAULT = -1,
    DESC_TRANSPOSE_A = 3,
    PREFERENCE_WORKSPACE = 1,
    TRANSPOSE = 1
};

static const size_t WORKSPACE_BYTES = 32 << 20;

/* Proposal of cuBLASLt for a matrix product: an opaque description of the algorithm (64 bytes), the
 * size of its workspace in bytes, and whether it can be used. */
struct lt_choice {
    uint64_t algorithm[8];
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

struct cuda_lt {
    void *handle;
    int (*destroy)(void *handle);
    int (*desc_create)(void **desc, int compute, int scale);
    int (*desc_set)(void *desc, int attribute, const void *value, size_t size);
    int (*desc_destroy)(void *desc);
    int (*layout_create)(void **layout, int type, uint64_t rows, uint64_t columns, int64_t ld);
    int (*layout_destroy)(void *layout);
    int (*preference_create)(void **preference);
    int (*preference_set)(void *preference, int attribute, const void *value, size_t size);
    int (*preference_destroy)(void *preference);
    int (*choose)(void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference,
                  int wanted, struct lt_choice *choices, int *count);
    int (*product)(void *handle, void *desc, const void *alpha, const void *a, void *layout_a,
                   const void *b, void *layout_b, const void *beta, const void *c, void *layout_c,
                   void *d, void *layout_d, const void *algorithm, void *workspace,
                   size_t workspace_bytes, void *stream);
    /* Descriptor of the prepared matrix product, whose dimensions are in `shape`, and layouts of
     * its operands and result. */
    void *desc, *layouts[3];
    double shape[3];
    struct lt_choice choice;
    cuda_memory workspace;
};

double cuda_value_bytes(enum hm_math math)
{
    return math == HM_MATH_FP64                           ? 8
           : math == HM_MATH_FP32 || math == HM_MATH_TF32 ? 4
           : math == HM_MATH_FP8                          ? 1
                                                          : 2;
}

int cuda_library(const char *const *names, const char *what, void **ret_library,
                 const char **ret_name, struct hm_err *err)
{
    for (size_t i = 0; names[i]; i++)
        if (hm__library_open(names[i], what, ret_library, NULL) == 0) {
            *ret_name = names[i];
            return 0;
        }
    hm__fail(err, HM_E_UNSUPPORTED, "%s is not found: %s cannot be loaded", what, names[0]);
    hm__err_hint(err, "install CUDA, or name its folder in LD_LIBRARY_PATH, such as "
                      "/usr/local/cuda/lib64");
    return HM_E_UNSUPPORTED;
}

/* ---- 8-bit products ---------------------------------------------------------------------------
 */

static void lt_release_shape(struct cuda_lt *lt)
{
    if (lt->desc)
        lt->desc_destroy(lt->desc);
    for (int i = 0; i < 3; i++)
        if (lt->layouts[i])
            lt->layout_destroy(lt->layouts[i]);
    lt->desc = lt->layouts[0] = lt->layouts[1] = lt->layouts[2] = NULL;
    lt->shape[0] = 0;
}

static struct cuda_lt *lt_open(struct cuda_state *cuda)
{
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", NULL};
    struct cuda_lt *lt = calloc(1, sizeof(*lt));
    int (*create)(void **handle) = NULL;
    const char *found;
    void *library;

    if (!lt)
        return NULL;
    const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"cublasLtCreate", &create},
        {"cublasLtDestroy", &lt->destroy},
        {"cublasLtMatmulDescCreate", &lt->desc_create},
        {"cublasLtMatmulDescSetAttribute", &lt->desc_set},
        {"cublasLtMatmulDescDestroy", &lt->desc_destroy},
        {"cublasLtMatrixLayoutCreate", &lt->layout_create},
        {"cublasLtMatrixLayoutDestroy", &lt->layout_destroy},
        {"cublasLtMatmulPreferenceCreate", &lt->preference_create},
        {"cublasLtMatmulPreferenceSetAttribute", &lt->preference_set},
        {"cublasLtMatmulPreferenceDestroy", &lt->preference_destroy},
        {"cublasLtMatmulAlgoGetHeuristic", &lt->choose},
        {"cublasLtMatmul", &lt->product},
    };
    int rc = cuda_library(names, "cuBLASLt", &library, &found, NULL);
    for (size_t i = 0; rc == 0 && i < sizeof(functions) / sizeof(functions[0]); i++)
        rc = hm__library_find(library, functions[i].name, functions[i].function, NULL);
    if (rc == 0)
        rc = create(&lt->handle);
    if (rc == 0)
        rc = cuda->driver.memory_alloc(&lt->workspace, WORKSPACE_BYTES);
    if (rc) {
        free(lt);
        return NULL;
    }
    return lt;
}

/* Describes a matrix product and lets the library choose its algorithm. */
static int lt_prepare(struct cuda_lt *lt, const double *s)
{
    const uint64_t m = (uint64_t)s[0], n = (uint64_t)s[1], k = (uint64_t)s[2];
    const int transpose = TRANSPOSE;
    void *preference = NULL;
    int count = 0;

    lt_release_shape(lt);
    int rc = lt->desc_create(&lt->desc, COMPUTE_32F, TYPE_32F);
    if (rc == 0)
        rc = lt->desc_set(lt->desc, DESC_TRANSPOSE_A, &transpose, sizeof(transpose));
    if (rc == 0)
        rc = lt->layout_create(&lt->layouts[0], TYPE_8F_E4M3, k, m, (int64_t)k);
    if (rc == 0)
        rc = lt->layout_create(&lt->layouts[1], TYPE_8F_E4M3, k, n, (int64_t)k);
    if (rc == 0)
        rc = lt->layout_create(&lt->layouts[2], TYPE_16BF, m, n, (int64_t)m);
    if (rc == 0)
        rc = lt->preference_create(&preference);
    if (rc == 0)
        rc = lt->preference_set(preference, PREFERENCE_WORKSPACE, &WORKSPACE_BYTES,
                                sizeof(WORKSPACE_BYTES));
    if (rc == 0)
        rc = lt->choose(lt->handle, lt->desc, lt->layouts[0], lt->layouts[1], lt->layouts[2],
                        lt->layouts[2], preference, 1, &lt->choice, &count);
    if (preference)
        lt->preference_destroy(preference);
    for (int i = 0; i < 3; i++)
        lt->shape[i] = s[i];
    return rc ? rc : count == 0 ? 15 : 0; /* 15: CUBLAS_STATUS_NOT_SUPPORTED. */
}

static int lt_run(struct cuda_state *cuda, const double *s)
{
    struct cuda_lt *lt = cuda->blas.fp8;
    const float one = 1, zero = 0;
    char *a = (char *)(uintptr_t)cuda->memory, *b = a + (size_t)(s[0] * s[2]);
    char *c = b + ((size_t)(s[2] * s[1]) + 255) / 256 * 256;
    int rc = 0;

    if (lt->shape[0] != s[0] || lt->shape[1] != s[1] || lt->shape[2] != s[2])
        rc = lt_prepare(lt, s);
    if (rc)
        return rc;
    return lt->product(lt->handle, lt->desc, &one, a, lt->layouts[0], b, lt->layouts[1], &zero, c,
                       lt->layouts[2], c, lt->layouts[2], lt->choice.algorithm,
                       (void *)(uintptr_t)lt->workspace, WORKSPACE_BYTES, cuda->stream);
}

/* ---- other products ---------------------------------------------------------------------------
 */

bool cuda_blas_has(const struct cuda_state *cuda, const struct hm_timing *op)
{
    return op->math != HM_MATH_FP8 || cuda->blas.fp8;
}

int cuda_blas_run(struct cuda_state *cuda, const struct hm_timing *op)
{
    const double *s = op->shape;
    const float one = 1, zero = 0;
    const double wide_one = 1, wide_zero = 0;
    bool wide = op->math == HM_MATH_FP64;
    int m = (int)s[0], n = (int)s[1], k = (int)s[2];
    int type = op->math == HM_MATH_BF16   ? TYPE_16BF
               : op->math == HM_MATH_FP16 ? TYPE_16F
               : wide                     ? TYPE_64F
                                          : TYPE_32F;
    int compute = op->math == HM_MATH_TF32 ? COMPUTE_32F_TF32 : wide ? COMPUTE_64F : COMPUTE_32F;

    if (op->math == HM_MATH_FP8)
        return lt_run(cuda, s);
    double value = cuda_value_bytes(op->math);
    char *a = (char *)(uintptr_t)cuda->memory, *b = a + (size_t)(s[0] * s[2] * value);
    char *c = b + ((size_t)(s[2] * s[1] * value) + 255) / 256 * 256;
    return cuda->blas.product(
        cuda->blas.handle, 0, 0, m, n, k, wide ? (const void *)&wide_one : &one, a, type, m, b,
        type, k, wide ? (const void *)&wide_zero : &zero, c, type, m, compute, ALGORITHM_DEFAULT);
}

int cuda_blas_open(struct cuda_state *cuda, char *name, size_t room, struct hm_err *err)
{
    static const char *const names[] = {"libcublas.so.13",
                                        "libcublas.so.12",
                                        "libcublas.so.11",
                                        "/usr/local/cuda/lib64/libcublas.so.13",
                                        "/usr/local/cuda/lib64/libcublas.so.12",
                                        "/usr/local/cuda/lib64/libcublas.so.11",
                                        NULL};
    struct cuda_blas *blas = &cuda->blas;
    int (*create)(void **handle) = NULL, (*set_stream)(void *handle, void *stream) = NULL,
                       (*get_version)(void *handle, int *version) = NULL;
    int version = 0;
    const char *found;
    void *library;
    int rc = cuda_library(names, "cuBLAS", &library, &found, err);

    if (rc == 0)
        rc = hm__library_find(library, "cublasCreate_v2", &create, err);
    if (rc == 0)
        rc = hm__library_find(library, "cublasDestroy_v2", &blas->destroy, err);
    if (rc == 0)
        rc = hm__library_find(library, "cublasSetStream_v2", &set_stream, err);
    if (rc == 0)
        rc = hm__library_find(library, "cublasGetVersion_v2", &get_version, err);
    if (rc == 0)
        rc = hm__library_find(library, "cublasGemmEx", &blas->product, err);
    if (rc)
        return rc;
    rc = create(&blas->handle);
    if (rc == 0)
        rc = set_stream(blas->handle, cuda->stream);
    if (rc)
        return hm__fail(err, HM_E_UNSUPPORTED, "cuBLAS does not start on this GPU (error %d)", rc);
    get_version(blas->handle, &version);
    snprintf(name, room, "cuBLAS %d.%d", version / 10000, version / 100 % 100);
    blas->fp8 = lt_open(cuda);
    return 0;
}

void cuda_blas_close(struct cuda_state *cuda)
{
    struct cuda_lt *lt = cuda->blas.fp8;

    if (lt) {
        lt_release_shape(lt);
        cuda->driver.memory_free(lt->workspace);
        lt->destroy(lt->handle);
        free(lt);
    }
    if (cuda->blas.handle)
        cuda->blas.destroy(cuda->blas.handle);
}
