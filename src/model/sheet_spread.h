/*
 * Declares the errors of the times that a specification sheet predicts, by kind of job and
 * hardware, and the functions that estimate them from measured steps.
 */
#ifndef HM_SHEET_SPREAD_H
#define HM_SHEET_SPREAD_H

#include "howmany.h"

/*
 * Kinds of predictions, each with its own distribution of errors. Accelerators are entries in the
 * catalog.
 */
enum hm_sheet_kind {
    HM_SHEET_DEVICE,    /* Prediction for a network on one accelerator in the catalog. */
    HM_SHEET_NODE,      /* Prediction for a network on several accelerators in one node. */
    HM_SHEET_NODES,     /* Prediction for a network on the accelerators of several nodes. */
    HM_SHEET_COMPILED,  /* Prediction for a network on any number of accelerators, with compiled
                           software. */
    HM_SHEET_SERVER,    /* Prediction for parameter servers or a driver, and workers with
                           accelerators. */
    HM_SHEET_DRIVER,    /* Prediction for parameter servers or a driver on CPUs, with an unknown
                           framework. */
    HM_SHEET_FRAMEWORK, /* Prediction for parameter servers or a driver of a known framework on
                           CPUs. */
    HM_SHEET_CPU,       /* Prediction for a network on CPUs whose cores are known. */
    HM_SHEET_RATES,     /* Prediction for a network on hardware with known rates and no other known
                           properties. */
    /*
     * Same as HM_SHEET_RATES, but with matrix units, whose rate is at least twice the rate of fp32.
     */
    HM_SHEET_MATRIX,
    HM_SHEET_TOTALS,  /* Prediction for a network with known totals, on accelerators in the
                         catalog. */
    HM_SHEET_FORMULA, /* Prediction for a job given by formulas, totals or a graph. */
    HM_SHEET_KIND_COUNT
};

/* The distribution of ln(measured / predicted) for one kind of prediction. */
struct hm_sheet_error {
    const char *title; /* Description of the kind for answers and reports. */
    double mean;
    double spread; /* Standard deviation around the mean, for a source that was not measured. */
};

extern const struct hm_sheet_error hm__sheet_errors[HM_SHEET_KIND_COUNT];

/* Interval for a time, given as two factors by which the predicted time is multiplied. */
struct hm_interval {
    double low, high;
};

/*
 * Returns the kind of prediction for a job on n workers of a cluster (may be NULL) with the
 * platform `way`.
 */
enum hm_sheet_kind hm__sheet_kind(const struct hm_job *job, const struct hm_cluster *cluster,
                                  const struct hm_way *way, double n);
/*
 * Returns the interval that contains 90 % of the measured times if errors have this distribution.
 */
struct hm_interval hm__sheet_interval(const struct hm_sheet_error *error);

/*
 * Standard deviation of ln(measured / predicted) for other n after a job was measured on one n:
 * HM_SHEET_DRIFT for each doubling of n beyond the measured n, and HM_SHEET_CROSSING if n needs
 * several nodes and the measured n was inside one node. Both were fitted to the curves in
 * data/steps.csv.
 */
#define HM_SHEET_DRIFT 0.025
#define HM_SHEET_CROSSING 0.15

/*
 * Returns the standard deviation of ln(measured / predicted) on n workers for a job that was
 * measured on `measured` workers, or 0 if its steps are not modelled by operations, because no
 * curves of such jobs were measured.
 */
double hm__sheet_drift(const struct hm_job *job, const struct hm_cluster *cluster, double measured,
                       double n);

/* A measured step and the error of its prediction. */
struct hm_sheet_row {
    const char *source;
    double error; /* Error of the prediction: ln(measured / predicted). */
};

/*
 * Estimates the distribution from the measurements of one kind, leaving out the source `without`,
 * which may be NULL. Returns the number of sources; if it is below 2, the spread describes a single
 * source.
 */
size_t hm__sheet_estimate(const struct hm_sheet_row *rows, size_t count, const char *without,
                          struct hm_sheet_error *ret_error);

#endif
