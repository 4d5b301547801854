/* Corrects the model of large networks with measured steps: the rates of the device and the time of
 * the host are scaled so that the model agrees with the measured times. */
#ifndef HM_LARGE_CORRECT_H
#define HM_LARGE_CORRECT_H

#include "large.h"

/* A measured step and its layout. */
struct hm_large_measured {
    double n; /* Number of workers. */
    /*
     * The layout of the step. Before hm__large_plan completes it, unknown numbers are NaN and an
     * unknown recomputation is HM_RECOMPUTES; the job or the best layout then supplies them.
     */
    struct hm_layout layout;
    /* Number of sequences in one step, and number of tokens in a sequence; NaN means the numbers of
     * the job. */
    double batch, sequence;
    double time_s; /* Measured time of one step in seconds. */
};

enum { HM_LARGE_MEASURED_MOST = 64 };

/*
 * Factors that scale the times predicted by the model, and the errors that remain for the measured
 * layouts.
 */
struct hm_large_correction {
    double compute; /* Factor that scales the time of computation and memory traffic. */
    double host;    /* Factor that scales the time that the host needs to launch kernels. */
    size_t rows;    /* Number of measured steps. */
    struct hm_layout layouts[HM_LARGE_MEASURED_MOST];
    double errors[HM_LARGE_MEASURED_MOST]; /* ln(measured/corrected) of each measured step. */
    /*
     * Variances of the logarithm of a time: of the error that all layouts share, of the error of
     * one layout, and of the error of one run.
     */
    double common, layout, run;
    double all; /* Variance of the error if no step was measured. */
};

/*
 * Finds the factors for measured steps whose layouts are complete; at most HM_LARGE_MEASURED_MOST
 * rows are used.
 */
void hm__large_correct(const struct hm_large_case *x, const struct hm_large_measured *rows,
                       size_t count, struct hm_large_correction *ret);
/* Applies the factors to a device and to constants. */
void hm__large_apply(const struct hm_large_correction *correction, struct hm_large_device *device,
                     struct hm_large_constants *constants);
/*
 * Returns the factor by which the corrected time of a layout is multiplied because steps of the
 * same layout, on any number of workers, were measured; 1 if there are none. *ret_narrower is the
 * factor, at most 1, by which the logarithms of the ends of the interval without measured steps are
 * multiplied.
 */
double hm__large_known(const struct hm_large_correction *correction, const struct hm_layout *layout,
                       double *ret_narrower);
/* Returns the value of *ret_narrower that hm__large_known would return for a layout after one
 * measured step of this layout. */
double hm__large_after_run(const struct hm_large_case *x, const struct hm_layout *layout);

#endif
