/*
 * Declares the functions and types of CUDA that a calibration uses. Nothing is linked and no header
 * of CUDA is needed: the functions are looked up in the driver, cuBLAS and cuDNN at run time. The
 * types follow the published interfaces: handles are pointers, and device memory is a 64-bit
 * address.
 */
#ifndef HM_CUDA_H
#define HM_CUDA_H

#include <stdint.h>

#include "calibrate_device.h"

typedef uint64_t cuda_memory;

/* Functions of the driver (libcuda.so.1); all return 0 or an error number. */
struct cuda_driver {
    int (*init)(unsigned flags);
    int (*driver_version)(int *version);
    int (*error_name)(int error, const char **name);
    int (*device_count)(int *count);
    int (*device_get)(int *device, int index);
    int (*device_name)(char *name, int room, int device);
    int (*device_attribute)(int *value, int attribute, int device);
    int (*device_memory)(size_t *bytes, int device);
    int (*context_retain)(void **context, int device);
    int (*context_release)(int device);
    int (*context_set)(void *context);
    int (*memory_info)(size_t *available, size_t *total);
    int (*memory_alloc)(cuda_memory *memory, size_t bytes);
    int (*memory_free)(cuda_memory memory);
    int (*module_load)(void **module, const void *image);
    int (*module_function)(void **function, void *module, const char *name);
    int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                  unsigned bz, unsigned shared, void *stream, void **parameters, void **extra);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_wait)(void *stream);
    int (*capture_begin)(void *stream, int mode);
    int (*capture_end)(void *stream, void **graph);
    int (*graph_make)(void **ready, void *graph, unsigned long long flags);
    int (*graph_launch)(void *ready, void *stream);
    int (*graph_destroy)(void *graph);
    int (*ready_destroy)(void *ready);
    int (*event_create)(void **event, unsigned flags);
    int (*event_record)(void *event, void *stream);
    int (*event_wait)(void *event);
    int (*event_elapsed)(float *milliseconds, void *from, void *to);
};

struct cuda_conv; /* State of the convolutions with cuDNN; see cuda_conv.c. */

struct cuda_blas {
    void *handle;
    int (*destroy)(void *handle);
    int (*product)(void *handle, int trans_a, int trans_b, int m, int n, int k, const void *alpha,
                   const void *a, int type_a, int lda, const void *b, int type_b, int ldb,
                   const void *beta, void *c, int type_c, int ldc, int compute, int algorithm);
    struct cuda_lt *fp8; /* State of cuBLASLt for 8-bit matrix products; NULL if cuBLASLt is not
                            available. Owned. */
};

struct cuda_state {
    struct cuda_driver driver;
    int device;
    /* CUDA context, CUDA stream, and the events before and after the timed operations. */
    void *context, *stream, *from, *to;
    void *empty, *add, *fill; /* Three kernels: one that does nothing, one that adds two arrays, and
                                 one that fills memory. */
    void *graph; /* CUDA graph that repeats the prepared operation; NULL if the operation cannot be
                    captured. */
    size_t graph_ops;   /* Number of operations in the CUDA graph. */
    cuda_memory memory; /* Device memory for the operands of all operations. */
    size_t room;
    struct cuda_blas blas;
    /* State of the convolutions with cuDNN; NULL if cuDNN is not available. Owned. */
    struct cuda_conv *conv;
};

/*
 * Opens the first library in a list of names that ends with NULL; *ret_name is the name of the
 * library that was opened.
 */
int cuda_library(const char *const *names, const char *what, void **ret_library,
                 const char **ret_name, struct hm_err *err);

/* Loads cuBLAS and writes its name and version into name[room]. */
int cuda_blas_open(struct cuda_state *cuda, char *name, size_t room, struct hm_err *err);
void cuda_blas_close(struct cuda_state *cuda);
/* Returns whether cuBLAS supports the number format of a matrix product. */
bool cuda_blas_has(const struct cuda_state *cuda, const struct hm_timing *op);
/* Starts one matrix product. Returns 0, or an error number of cuBLAS. */
int cuda_blas_run(struct cuda_state *cuda, const struct hm_timing *op);
/* Returns the size in bytes of a value in a number format. */
double cuda_value_bytes(enum hm_math math);

/* Loads cuDNN, which is optional, and adds its version to name[room]. */
void cuda_conv_open(struct cuda_state *cuda, char *name, size_t room);
void cuda_conv_close(struct cuda_state *cuda);
/*
 * Chooses the algorithm of a convolution. Returns 1, 0 if cuDNN has no algorithm for it, or an
 * error code.
 */
int cuda_conv_prepare(struct cuda_state *cuda, const struct hm_timing *op, struct hm_err *err);
int cuda_conv_run(struct cuda_state *cuda);

#endif
