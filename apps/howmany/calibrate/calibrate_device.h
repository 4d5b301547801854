/*
 * Declares a device that a calibration measures, with a table of functions for each kind of device:
 * the CPU of this machine, a GPU controlled by CUDA's driver, and a recorded device that replays
 * the times in a file.
 */
#ifndef HM_CALIBRATE_DEVICE_H
#define HM_CALIBRATE_DEVICE_H

#include "timings.h"

struct calibrate_device;

struct calibrate_ops {
    /*
     * Prepares an operation: sets up buffers and descriptors, and does one warm-up run. Returns 1
     * if the operation can be run, 0 if the device or its libraries do not support it, or a
     * negative error code.
     */
    int (*prepare)(struct calibrate_device *device, const struct hm_timing *op, struct hm_err *err);
    /* Runs the prepared operation `times` times; *ret_seconds is the total time of these runs. */
    int (*run)(struct calibrate_device *device, const struct hm_timing *op, size_t times,
               double *ret_seconds, struct hm_err *err);
    void (*close)(struct calibrate_device *device);
};

struct calibrate_device {
    const struct calibrate_ops *ops;
    /*
     * Properties that the device itself reports. The rows (times of operations) are set only for a
     * recorded device.
     */
    struct hm_timings facts;
    char name[128], library[160];
    void *state; /* State that only this kind of device uses; owned. */
};

/* Opens the CPU of this machine; if `blas` is false, the built-in loops replace OpenBLAS. */
int calibrate_cpu_open(struct calibrate_device *device, bool blas, struct hm_err *err);
/* Opens GPU `index`. The error says which library is missing, or that there is no GPU. */
int calibrate_gpu_open(struct calibrate_device *device, int index, struct hm_err *err);
/* Opens a recorded device, whose operations take the times in a file. */
int calibrate_recorded_open(struct calibrate_device *device, const char *path, struct hm_err *err);
/* Closes a device, which may also be zero-initialised and never opened. */
void calibrate_device_close(struct calibrate_device *device);

/* The effort of a calibration: how many times and how long operations are measured. */
struct calibrate_effort {
    size_t rounds;    /* Number of rounds; each round measures the whole list of operations. */
    size_t samples;   /* Number of samples of an operation in a round. */
    double sample_s;  /* Shortest time of one sample in seconds; the operation is repeated until the
                         sample lasts this long. */
    double longest_s; /* Longest time of an operation in seconds; operations that take longer are
                         skipped. */
    /* True to use the fastest round instead of the median, because other programs can only add
     * time. */
    bool fastest;
    /* Function that is called to report progress; may be NULL. */
    void (*step)(void *context, size_t done, size_t total);
    /* Function that returns true to end the measurement, such as after Ctrl-C; may be NULL. */
    bool (*stopped)(void *context);
    void *context;
};

/*
 * Measures the operations in `rows`, sets their seconds and spread, and removes the operations that
 * the device does not support; *ret_count is the number of remaining operations. Each round covers
 * the whole list, so that slow changes of the machine appear in the spread. Returns HM_E_CANCELLED
 * if `stopped` returned true.
 */
int calibrate_measure(struct calibrate_device *device, const struct calibrate_effort *effort,
                      struct hm_timing *rows, size_t count, size_t *ret_count, struct hm_err *err);

#endif
