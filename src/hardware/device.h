/*
 * One accelerator as the model of a training step sees it: what matrix products, convolutions,
 * attention and element-wise operations take on it, at one precision and with one kind of software.
 */
#ifndef HM_DEVICE_H
#define HM_DEVICE_H

#include "constants.h"
#include "howmany.h"

struct hm_device {
    enum hm_math math; /* Never HM_MATH_AUTO. */
    enum hm_software software;
    double rate;        /* Peak flop/s of matrix products. */
    double reach;       /* Fraction of the peak that the largest products reach. */
    double bandwidth;   /* Peak bytes/s of the memory. */
    double processors;  /* Multiprocessors that share a product. */
    double value_bytes; /* Bytes of an activation. */
    double kernel_s;    /* Seconds of a small kernel from its start to its end. */
    double conv_speed;  /* Speed of convolutions relative to the constants. */
    bool matrix_units;  /* Products run on units that need aligned sides. */
    const struct hm_constants *k;
};

/*
 * Peak flop/s of a worker for the number format `math`; *ret_math is the format in use, which
 * differs from `math` for HM_MATH_AUTO (decided by the bits of a parameter) and where the worker
 * lacks the format: bf16 and fp8 fall back to the other 16-bit format and then to fp32, TF32 falls
 * back to fp32. Returns NaN if no rate is known.
 */
double hm__node_rate(const struct hm_node *node, enum hm_math math, double bits,
                     enum hm_math *ret_math);

/*
 * Describes one worker of a node. Returns false if the node is not described well enough: its
 * processors, its memory bandwidth or a rate is unknown.
 */
bool hm__device_init(struct hm_device *device, const struct hm_node *node, enum hm_math math,
                     double bits, enum hm_software software, const struct hm_constants *constants);

/* The figure of a number format; NaN for HM_MATH_AUTO. */
double hm__rate_of(const struct hm_rates *rates, enum hm_math math);

/* Seconds of `batch` products of an m x k by a k x n matrix. */
double hm__device_gemm(const struct hm_device *d, double m, double n, double k, double batch);
/* Seconds to move `bytes` at a fraction of the memory bandwidth, as one kernel. */
double hm__device_stream(const struct hm_device *d, double bytes, double fraction);
/* The same for a kernel that each processor runs at `rate` GB/s at most. */
double hm__device_stream_slow(const struct hm_device *d, double bytes, double rate);

enum hm_pass { HM_PASS_FORWARD, HM_PASS_DATA, HM_PASS_WEIGHT };

/* A convolution of `batch` images. */
struct hm_conv {
    double batch, in, out;        /* Images, input maps, output maps. */
    double in_places, out_places; /* Positions of one input and one output map. */
    double window;                /* Positions of the kernel. */
    double groups;
    double stride;
};

/* Seconds of one pass of a convolution: forward, gradient of the input, gradient of the weights. */
double hm__device_conv(const struct hm_device *d, const struct hm_conv *conv, enum hm_pass pass);
/* Seconds of batch normalisation of `values` in `channels` channels. */
double hm__device_norm(const struct hm_device *d, double values, double channels, bool backward);
/* Seconds of the attention of `batch` sequences, without its projections. */
double hm__device_attention(const struct hm_device *d, double batch, double heads, double length,
                            double width, bool backward);
/* Share of the element-wise traffic that remains after fusion. */
double hm__device_kept_traffic(const struct hm_device *d);

#endif
