/*
 * Implements convolutions with cuDNN 8 or later, if it is installed. The channels of a position are
 * stored together (NHWC), as matrix units require. In fp32, for which there are no matrix units,
 * one channel is stored after another (NCHW). The library chooses the algorithm that it expects to
 * be the fastest.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "err.h"
#include "library.h"

/* Values of cuDNN's enumerations, as its headers define them. */
enum {
    FORMAT_NCHW = 0,
    FORMAT_NHWC = 1,
    DATA_FLOAT = 0,
    DATA_BFLOAT16 = 9,
    CROSS_CORRELATION = 1,
    MATH_DEFAULT = 0, /* Math mode of cuDNN that allows matrix units to use TF32. */
    MATH_TENSOR = 1,
    MATH_FMA = 3
};

/* Properties of an algorithm that cuDNN proposes (cudnnConvolution…AlgoPerf_t). */
struct conv_choice {
    int algorithm, status;
    float time;
    size_t memory;
    int determinism, math, reserved[3];
};

struct cuda_conv {
    void *handle, *in, *out, *filter, *conv;
    int (*destroy)(void *handle);
    int (*tensor_create)(void **tensor);
    int (*tensor_set)(void *tensor, int format, int type, int n, int c, int h, int w);
    int (*tensor_destroy)(void *tensor);
    int (*filter_create)(void **filter);
    int (*filter_set)(void *filter, int type, int format, int k, int c, int h, int w);
    int (*filter_destroy)(void *filter);
    int (*conv_create)(void **conv);
    int (*conv_set)(void *conv, int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h,
                    int dilation_w, int mode, int type);
    int (*conv_math)(void *conv, int math);
    int (*conv_destroy)(void *conv);
    /*
     * Functions of the three passes (forward, gradient of the input, gradient of the weights): one
     * chooses an algorithm, one returns its workspace size, and one runs it.
     */
    int (*choose[3])(void *handle, void *a, void *b, void *conv, void *c, int wanted, int *found,
                     struct conv_choice *choices);
    int (*workspace[3])(void *handle, void *a, void *b, void *conv, void *c, int algorithm,
                        size_t *bytes);
    int (*run[3])(void *handle, const void *alpha, void *a, const void *data_a, void *b,
                  const void *data_b, void *conv, int algorithm, void *workspace, size_t bytes,
                  const void *beta, void *c, void *data_c);
    /* Pass and algorithm of the prepared convolution. */
    int pass, algorithm;
    size_t bytes;
    cuda_memory data[3], memory; /* Buffers for the input, the filter and the output of the
                                    convolution, and the workspace. */
};

static void conv_free(struct cuda_conv *v)
{
    if (v->in)
        v->tensor_destroy(v->in);
    if (v->out)
        v->tensor_destroy(v->out);
    if (v->filter)
        v->filter_destroy(v->filter);
    if (v->conv)
        v->conv_destroy(v->conv);
    if (v->handle)
        v->destroy(v->handle);
    free(v);
}

static int conv_find(struct cuda_conv *v, void *library, void *create, void *set_stream,
                     void *get_version)
{
    const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"cudnnCreate", create},
        {"cudnnSetStream", set_stream},
        {"cudnnGetVersion", get_version},
        {"cudnnDestroy", &v->destroy},
        {"cudnnCreateTensorDescriptor", &v->tensor_create},
        {"cudnnSetTensor4dDescriptor", &v->tensor_set},
        {"cudnnDestroyTensorDescriptor", &v->tensor_destroy},
        {"cudnnCreateFilterDescriptor", &v->filter_create},
        {"cudnnSetFilter4dDescriptor", &v->filter_set},
        {"cudnnDestroyFilterDescriptor", &v->filter_destroy},
        {"cudnnCreateConvolutionDescriptor", &v->conv_create},
        {"cudnnSetConvolution2dDescriptor", &v->conv_set},
        {"cudnnSetConvolutionMathType", &v->conv_math},
        {"cudnnDestroyConvolutionDescriptor", &v->conv_destroy},
        {"cudnnGetConvolutionForwardAlgorithm_v7", &v->choose[0]},
        {"cudnnGetConvolutionBackwardDataAlgorithm_v7", &v->choose[1]},
        {"cudnnGetConvolutionBackwardFilterAlgorithm_v7", &v->choose[2]},
        {"cudnnGetConvolutionForwardWorkspaceSize", &v->workspace[0]},
        {"cudnnGetConvolutionBackwardDataWorkspaceSize", &v->workspace[1]},
        {"cudnnGetConvolutionBackwardFilterWorkspaceSize", &v->workspace[2]},
        {"cudnnConvolutionForward", &v->run[0]},
        {"cudnnConvolutionBackwardData", &v->run[1]},
        {"cudnnConvolutionBackwardFilter", &v->run[2]},
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(functions) / sizeof(functions[0]); i++)
        rc = hm__library_find(library, functions[i].name, functions[i].function, NULL);
    return rc;
}

void cuda_conv_open(struct cuda_state *cuda, char *name, size_t room)
{
    static const char *const names[] = {"libcudnn.so.9", "libcudnn.so.8", NULL};
    struct cuda_conv *v = calloc(1, sizeof(*v));
    int (*create)(void **handle) = NULL, (*set_stream)(void *handle, void *stream) = NULL;
    size_t (*get_version)(void) = NULL, used = strlen(name);
    const char *found;
    void *library;

    if (!v)
        return;
    int rc = cuda_library(names, "cuDNN", &library, &found, NULL);
    if (rc == 0)
        rc = conv_find(v, library, &create, &set_stream, &get_version);
    if (rc == 0)
        rc = create(&v->handle);
    if (rc == 0)
        rc = set_stream(v->handle, cuda->stream);
    if (rc == 0)
        rc = v->tensor_create(&v->in);
    if (rc == 0)
        rc = v->tensor_create(&v->out);
    if (rc == 0)
        rc = v->filter_create(&v->filter);
    if (rc == 0)
        rc = v->conv_create(&v->conv);
    if (rc) {
        conv_free(v);
        return;
    }
    size_t version = get_version(), thousand = version >= 90000 ? 10000 : 1000;
    snprintf(name + used, room - used, " and cuDNN %zu.%zu", version / thousand,
             version % thousand / 100);
    cuda->conv = v;
}

void cuda_conv_close(struct cuda_state *cuda)
{
    if (cuda->conv)
        conv_free(cuda->conv);
    cuda->conv = NULL;
}

/* Describes the tensors of a convolution to cuDNN and divides the device memory among them. */
static int conv_describe(struct cuda_state *cuda, const struct hm_timing *op)
{
    struct cuda_conv *v = cuda->conv;
    const double *s = op->shape;
    int n = (int)s[0], in = (int)s[1], out = (int)s[2], side = (int)s[3], window = (int)s[4];
    int stride = (int)s[5], small = (side + stride - 1) / stride, pad = (window - 1) / 2;
    int type = op->math == HM_MATH_BF16 ? DATA_BFLOAT16 : DATA_FLOAT;
    int math = op->math == HM_MATH_BF16   ? MATH_TENSOR
               : op->math == HM_MATH_TF32 ? MATH_DEFAULT
                                          : MATH_FMA;
    int format = op->math == HM_MATH_FP32 ? FORMAT_NCHW : FORMAT_NHWC;
    int rc = v->tensor_set(v->in, format, type, n, in, side, side);

    if (rc == 0)
        rc = v->tensor_set(v->out, format, type, n, out, small, small);
    if (rc == 0)
        rc = v->filter_set(v->filter, type, format, out, in, window, window);
    if (rc == 0)
        rc = v->conv_set(v->conv, pad, pad, stride, stride, 1, 1, CROSS_CORRELATION, DATA_FLOAT);
    if (rc == 0)
        rc = v->conv_math(v->conv, math);
    double value = cuda_value_bytes(op->math);
    double sizes[] = {s[0] * s[1] * s[3] * s[3] * value, s[1] * s[2] * s[4] * s[4] * value,
                      s[0] * s[2] * small * small * value};
    cuda_memory at = cuda->memory;
    for (int i = 0; i < 3; i++) {
        v->data[i] = at;
        at += ((uint64_t)sizes[i] + 511) / 512 * 512;
    }
    v->memory = at;
    return rc;
}

/*
 * Returns the descriptors of a pass in the order in which its cuDNN functions expect them: the two
 * operands and the result.
 */
static void conv_order(const struct cuda_conv *v, void *ret_desc[3], cuda_memory ret_data[3])
{
    void *const all[] = {v->in, v->filter, v->out};
    static const int order[3][3] = {{0, 1, 2}, {1, 2, 0}, {0, 2, 1}};

    for (int i = 0; i < 3; i++) {
        ret_desc[i] = all[order[v->pass][i]];
        ret_data[i] = v->data[order[v->pass][i]];
    }
}

int cuda_conv_prepare(struct cuda_state *cuda, const struct hm_timing *op, struct hm_err *err)
{
    struct cuda_conv *v = cuda->conv;
    struct conv_choice choices[8];
    void *desc[3];
    cuda_memory data[3];
    int found = 0;

    (void)err;
    if (!v || conv_describe(cuda, op))
        return 0;
    v->pass = (int)op->what - HM_TIMED_CONV_FORWARD;
    conv_order(v, desc, data);
    if (v->choose[v->pass](v->handle, desc[0], desc[1], v->conv, desc[2], 8, &found, choices))
        return 0;
    for (int i = 0; i < found; i++) {
        size_t bytes = 0;
        if (choices[i].status != 0)
            continue;
        v->conv_math(v->conv, choices[i].math);
        if (v->workspace[v->pass](v->handle, desc[0], desc[1], v->conv, desc[2],
                                  choices[i].algorithm, &bytes) ||
            v->memory + bytes > cuda->memory + cuda->room)
            continue;
        v->algorithm = choices[i].algorithm;
        v->bytes = bytes;
        return 1;
    }
    return 0;
}

int cuda_conv_run(struct cuda_state *cuda)
{
    struct cuda_conv *v = cuda->conv;
    const float one = 1, zero = 0;
    void *desc[3];
    cuda_memory data[3];

    conv_order(v, desc, data);
    return v->run[v->pass](v->handle, &one, desc[0], (const void *)(uintptr_t)data[0], desc[1],
                           (const void *)(uintptr_t)data[1], v->conv, v->algorithm,
                           (void *)(uintptr_t)v->memory, v->bytes, &zero, desc[2],
                           (void *)(uintptr_t)data[2]);
}
