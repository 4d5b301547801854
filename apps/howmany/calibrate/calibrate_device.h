/*
 * A device that a calibration measures: a table of functions for each kind of device. The CPU of
 * this machine, a GPU behind CUDA's driver, and a recorded device that replays the times of a file.
 */
#ifndef HM_CALIBRATE_DEVICE_H
#define HM_CALIBRATE_DEVICE_H

#include "timings.h"

struct calibrate_device;

struct calibrate_ops {
    /*
     * Prepare an operation: buffers, descriptors, one warm-up run. Returns 1 if it can be run, 0 if
     * this device or its libraries do not have it, or a negative error code.
     */
    int (*prepare)(struct calibrate_device *device, const struct hm_timing *op, struct hm_err *err);
    /* Run the prepared operation `times` times and set the seconds of all of them. */
    int (*run)(struct calibrate_device *device, const struct hm_timing *op, size_t times,
               double *ret_seconds, struct hm_err *err);
    void (*close)(struct calibrate_device *device);
};

struct calibrate_device {
    const struct calibrate_ops *ops;
    /* What the device says about itself; without rows, except on a recorded device. */
    struct hm_timings facts;
    char name[128], library[160];
    void *state; /* Owned by the device. */
};

/* Open the CPU of this machine; `blas` may be switched off in favour of the built-in kernels. */
int calibrate_cpu_open(struct calibrate_device *device, bool blas, struct hm_err *err);
/* Open GPU `index`. The error says which library is missing, or that there is no GPU. */
int calibrate_gpu_open(struct calibrate_device *device, int index, struct hm_err *err);
/* Open a device whose operations take the times in a file. */
int calibrate_recorded_open(struct calibrate_device *device, const char *path, struct hm_err *err);
/* Close a device; a device that was never opened is zero. */
void calibrate_device_close(struct calibrate_device *device);

/* How long to measure. */
struct calibrate_effort {
    size_t rounds;    /* Times that the whole list of operations is measured. */
    size_t samples;   /* Samples of an operation in a round. */
    double sample_s;  /* Least seconds of one sample. */
    double longest_s; /* Operations that take longer are left out. */
    bool fastest;     /* The fastest round counts, not the median: other programs only add time. */
    void (*step)(void *context, size_t done, size_t total); /* Progress; may be NULL. */
    bool (*stopped)(void *context); /* Whether to end, such as after Ctrl-C; may be NULL. */
    void *context;
};

/*
 * Measure the operations in rows and keep those that the device has: sets seconds and spread, and
 * *ret_count to the number that is left. Rounds go over the whole list, so that slow changes of the
 * machine appear in the spread. Returns HM_E_CANCELLED after `stopped`.
 */
int calibrate_measure(struct calibrate_device *device, const struct calibrate_effort *effort,
                      struct hm_timing *rows, size_t count, size_t *ret_count, struct hm_err *err);

#endif
