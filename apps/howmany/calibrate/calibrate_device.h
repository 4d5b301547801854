/*
 * A device that a calibration measures, with a table of functions for each kind of device: the CPU
 * of this machine, a GPU that CUDA's driver controls, and a recorded device that replays the times
 * of a file.
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
    /* What the device says about itself; only a recorded device has rows. */
    struct hm_timings facts;
    char name[128], library[160];
    void *state; /* Owned by the device. */
};

/* Open the CPU of this machine; if `blas` is false, the built-in loops replace OpenBLAS. */
int calibrate_cpu_open(struct calibrate_device *device, bool blas, struct hm_err *err);
/* Open GPU `index`. The error says which library is missing, or that there is no GPU. */
int calibrate_gpu_open(struct calibrate_device *device, int index, struct hm_err *err);
/* Open a device whose operations take the times in a file. */
int calibrate_recorded_open(struct calibrate_device *device, const char *path, struct hm_err *err);
/* Close a device, which may also be zero-initialised and never opened. */
void calibrate_device_close(struct calibrate_device *device);

/* How often and how long operations are measured. */
struct calibrate_effort {
    size_t rounds;    /* Number of times that the whole list is measured. */
    size_t samples;   /* Number of samples of an operation in a round. */
    double sample_s;  /* Least seconds of one sample. */
    double longest_s; /* Operations that take longer are left out. */
    bool fastest; /* The fastest round counts instead of the median, because other programs only add
                     time. */
    void (*step)(void *context, size_t done, size_t total); /* Reports progress; may be NULL. */
    bool (*stopped)(void *context); /* Returns true to end, such as after Ctrl-C; may be NULL. */
    void *context;
};

/*
 * Measure the operations in rows and keep those that the device has: sets seconds and spread, and
 * *ret_count to the number of operations that are kept. Rounds go over the whole list, so that slow
 * changes of the machine appear in the spread. Returns HM_E_CANCELLED if `stopped` returned true.
 */
int calibrate_measure(struct calibrate_device *device, const struct calibrate_effort *effort,
                      struct hm_timing *rows, size_t count, size_t *ret_count, struct hm_err *err);

#endif
