/*
 * Declares the times of single operations and messages, measured on one machine. `howmany
 * calibrate` measures and records such times, and can read recorded times;
 * src/hardware/calibration_fit.c computes the rates and latencies of the machine from them.
 */
#ifndef HM_TIMINGS_H
#define HM_TIMINGS_H

#include "howmany.h"

/*
 * Columns of the list: name of the operation in files, number of dimensions of its shape, and
 * meaning. The shape of a convolution consists of the numbers of images, input channels and output
 * channels, the width and height of the input, the side of the kernel, and the stride; the padding
 * keeps the size of the image at stride 1.
 */
#define HM_TIMED_MAP(X)                                                                            \
    X(GEMM, "gemm", 3, "product of an m x k and a k x n matrix; the shape is m, n, k")             \
    X(STREAM, "stream", 1, "a kernel that reads and writes this many bytes in all")                \
    X(KERNEL, "kernel", 0, "a kernel without work in a queue of such kernels")                     \
    X(LAUNCH, "launch", 0, "the host's share of the launch of a kernel")                           \
    X(CONV_FORWARD, "conv_forward", 6, "a convolution")                                            \
    X(CONV_DATA, "conv_data", 6, "the gradient of its input")                                      \
    X(CONV_WEIGHT, "conv_weight", 6, "the gradient of its weights")                                \
    X(SEND, "send", 1, "a message of this many bytes from one rank to another, one way")           \
    X(ALL_REDUCE, "all_reduce", 1, "an all-reduce of this many bytes")

enum hm_timed {
#define HM_TIMED_ENUM(id, name, sides, doc) HM_TIMED_##id,
    HM_TIMED_MAP(HM_TIMED_ENUM)
#undef HM_TIMED_ENUM
        HM_TIMED_COUNT
};

enum { HM_TIMING_SIDES = 6 };

/* One operation on a machine, and its measured time. */
struct hm_timing {
    enum hm_timed what;
    /* Number format of the matrix products; HM_MATH_AUTO for operations without matrix products. */
    enum hm_math math;
    /*
     * Dimensions of the operation, such as m, n and k of a matrix product; the first
     * hm__timed_sides(what) elements are used.
     */
    double shape[HM_TIMING_SIDES];
    /* Number of threads of a CPU, or number of ranks that exchange messages; 1 on a GPU. */
    double workers;
    double nodes;   /* Number of nodes on which the ranks run; 1 for operations without messages. */
    double seconds; /* Time of one operation in seconds; NaN if not measured yet. */
    /*
     * Difference between the median time and the fastest time of several measurements, relative to
     * the median; NaN if there was only one measurement.
     */
    double spread;
};

/* The measured times of one machine, and properties that the machine reports. */
struct hm_timings {
    bool gpu; /* True if the operations ran on a GPU, false if they ran on a CPU. */
    /*
     * Name of the processor or accelerator, such as "NVIDIA H200"; NULL if only messages were
     * measured.
     */
    const char *name;
    const char *library; /* Library that ran the operations, with its version; may be NULL. */
    const char *date;    /* Date on which the times were measured; may be NULL. */
    double processors;   /* Number of multiprocessors (GPU) or cores (CPU); NaN if unknown. */
    double memory_bytes; /* Memory of a worker in bytes; NaN if unknown. */
    double workers;      /* Number of identical GPUs in the machine; NaN if unknown. */
    struct hm_timing *rows;
    size_t count;
    void *memory; /* Arena that owns all memory of the struct; NULL if the caller owns it. */
};

/* Returns the name that a kind of operation has in files. */
const char *hm__timed_name(enum hm_timed what);
size_t hm__timed_sides(enum hm_timed what);

#endif
