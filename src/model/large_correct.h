/*
 * Measured steps correct the model of large networks: the rates of the device and the time of the
 * host are scaled so that the model agrees with them.
 */
#ifndef HM_LARGE_CORRECT_H
#define HM_LARGE_CORRECT_H

#include "large.h"

/* A step that was measured with a layout. */
struct hm_large_measured {
    double n; /* Number of workers. */
    /* The layout. Before hm__large_plan completes it, numbers may be NaN and the recomputation may
     * be HM_RECOMPUTES: then they are as in the job, or as in the best layout. */
    struct hm_layout layout;
    double batch,
        sequence;  /* Sequences of one step and tokens of a sequence; NaN: as in the job. */
    double time_s; /* Seconds of one step. */
};

enum { HM_LARGE_MEASURED_MOST = 64 };

/* Factors on the seconds of the model, and what is known about single layouts. */
struct hm_large_correction {
    double compute; /* Factor on the seconds of computing and of memory traffic. */
    double host;    /* Factor on the seconds of the host. */
    size_t rows;    /* Number of measured steps. */
    struct hm_layout layouts[HM_LARGE_MEASURED_MOST];
    double errors[HM_LARGE_MEASURED_MOST]; /* ln(measured/corrected) of each measured step. */
    /* Variance of the logarithm of a time: what remains unknown about all layouts, what differs
     * between layouts, and what differs between runs of one layout. */
    double common, layout, run;
    struct hm_large_interval before; /* Interval without measured steps. */
};

/* Find the factors for measured steps whose layouts are complete; at most HM_LARGE_MEASURED_MOST
 * rows are used. */
void hm__large_correct(const struct hm_large_case *x, const struct hm_large_measured *rows,
                       size_t count, struct hm_large_correction *ret);
/* Apply the factors to a device and to constants. */
void hm__large_apply(const struct hm_large_correction *correction, struct hm_large_device *device,
                     struct hm_large_constants *constants);
/*
 * Returns the factor on the corrected time of a layout that follows from measured steps of the same
 * layout on any number of workers, 1 if there are none, and sets the interval of the result:
 * factors that hold 90 % of the runs.
 */
double hm__large_known(const struct hm_large_correction *correction, const struct hm_layout *layout,
                       struct hm_large_interval *ret_interval);

#endif
