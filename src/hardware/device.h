/*
 * Describes one accelerator for the model of a training step: times of matrix products,
 * convolutions, attention and element-wise operations, at one precision and with one kind of
 * software.
 */
#ifndef HM_DEVICE_H
#define HM_DEVICE_H

#include "constants.h"
#include "howmany.h"

struct hm_device {
    enum hm_math math; /* Number format of matrix products; never HM_MATH_AUTO. */
    enum hm_software software;
    double rate;        /* Peak flop/s of matrix products. */
    double reach;       /* Fraction of the peak that the largest matrix products reach. */
    double bandwidth;   /* Peak bytes/s of the memory. */
    double processors;  /* Number of multiprocessors that share a matrix product. */
    double slow_values; /* Factor that converts the rate of a slow kernel from 10^9 values/s of one
                           processor at the clock of an H200 to values/s of all processors. */
    double value_bytes; /* Size of one activation in bytes. */
    double kernel_s;    /* Time in seconds of a small kernel from its start to its end. */
    /* Peak and reached fraction with 16 bits. Convolutions run with 16 bits if `math` is fp8,
     * because frameworks have no convolutions in fp8. */
    double wide_rate, wide_reach;
    double conv_speed; /* Measured speed of convolutions relative to the speed that follows from the
                          constants. */
    bool channels_last; /* True if images are stored position by position (NHWC). */
    bool matrix_units;  /* True if matrix products run on matrix units, which need aligned rows. */
    const struct hm_constants *k;
    /* The cores of a worker without an accelerator; cpu.k is NULL if the worker has an
     * accelerator. */
    struct hm_cpu cpu;
};

/*
 * Returns the peak flop/s of a worker for the number format `math`; NaN if no rate is known.
 * *ret_math is the format in use. The format for HM_MATH_AUTO depends on the bits of a parameter
 * and, for 32 bits, on whether the worker has matrix units for mixed precision. If the worker lacks
 * a format, bf16 and fp8 fall back to the other 16-bit format and then to fp32, and TF32 falls back
 * to fp32.
 */
double hm__node_rate(const struct hm_node *node, enum hm_math math, double bits,
                     enum hm_math *ret_math);

/*
 * Initialises the device from a node. Returns false if its number of processors (cores for a CPU),
 * its memory bandwidth or a rate is unknown.
 */
bool hm__device_init(struct hm_device *device, const struct hm_node *node, enum hm_math math,
                     double bits, enum hm_software software, const struct hm_constants *constants);

/* Returns the rate of a number format; NaN for HM_MATH_AUTO. */
double hm__rate_of(const struct hm_rates *rates, enum hm_math math);

/* Returns the time in seconds of `batch` matrix products of an m x k matrix and a k x n matrix. */
double hm__device_gemm(const struct hm_device *d, double m, double n, double k, double batch);
/* Returns the time in seconds that one kernel needs to move `bytes` bytes at a fraction of the
 * memory bandwidth. */
double hm__device_stream(const struct hm_device *d, double bytes, double fraction);
/* Returns the time in seconds of a slow kernel that moves `bytes` bytes: each processor computes at
 * most `rate` * 10^9 of the `values` values per second, whatever their number of bytes. */
double hm__device_slow(const struct hm_device *d, double bytes, double values, double rate);

enum hm_pass { HM_PASS_FORWARD, HM_PASS_DATA, HM_PASS_WEIGHT };

/* A convolution of `batch` images. */
struct hm_conv {
    double batch, in, out;        /* Numbers of images, input channels and output channels. */
    double in_places, out_places; /* Number of positions (pixels) in an input channel, and number of
                                     positions in an output channel. */
    double window;                /* Number of positions in the kernel window. */
    double groups;
    double stride;
};

/* Returns the time in seconds of one pass of a convolution: forward, gradient of the input, or
 * gradient of the weights. */
double hm__device_conv(const struct hm_device *d, const struct hm_conv *conv, enum hm_pass pass);
/* Returns the time in seconds of a batch normalisation of `values` values in `channels`
 * channels. */
double hm__device_norm(const struct hm_device *d, double values, double channels, bool backward);
/* Returns the time in seconds of attention over `batch` sequences, without its linear
 * projections. */
double hm__device_attention(const struct hm_device *d, double batch, double heads, double length,
                            double width, bool backward);
/* The same for attention that writes its scores to memory: two products for each of `heads` heads
 * of all samples, and passes over the scores for softmax and dropout. */
double hm__device_scores(const struct hm_device *d, double heads, double length, double width,
                         bool backward);
/* Returns the share of the element-wise memory traffic that remains after kernels are fused. */
double hm__device_kept_traffic(const struct hm_device *d);

/*
 * Returns the number of bytes of a worker's memory that the tensors of a job can use: the driver
 * uses 1.2 % of the memory, the context of the framework uses 0.6 GB, and fragments between tensors
 * use 3 %. The result is at least 1, because 0 bytes mean that the memory is unknown.
 */
double hm__usable_memory(double memory_bytes);

#endif
