/*
 * Derives the description of a machine from the times of single operations: lists the operations to
 * time, finds the rates and latencies for which the model predicts the measured times, and writes
 * the description as YAML.
 */
#ifndef HM_CALIBRATION_H
#define HM_CALIBRATION_H

#include "device.h"
#include "text.h"
#include "timings.h"

enum { HM_CALIBRATION_OPS = 512 };

/*
 * Fills rows with the operations that are timed on a GPU, on a CPU with `cores` cores, or between
 * ranks; if `quick` is true, fewer and smaller operations are timed. Returns the number of rows.
 */
size_t hm__calibration_gpu_ops(bool quick, struct hm_timing rows[HM_CALIBRATION_OPS]);
size_t hm__calibration_cpu_ops(bool quick, double cores, struct hm_timing rows[HM_CALIBRATION_OPS]);
/*
 * Sets ret_bytes to the sizes of the messages that are timed between ranks. Returns the number of
 * sizes.
 */
size_t hm__calibration_sizes(bool quick, double ret_bytes[32]);

/*
 * Returns the number of floating-point operations in a timed operation; 0 if it has no matrix
 * products.
 */
double hm__timing_flop(const struct hm_timing *timing);

/*
 * Returns the time of an operation in one round, in seconds: the first quartile of the samples,
 * since interruptions only add time. Sorts the samples.
 */
double hm__samples_quartile(double *samples, size_t count);
/*
 * Sets the time and the spread of an operation from its times in several rounds. Sorts the rounds.
 */
void hm__timing_set(struct hm_timing *timing, double *rounds, size_t count);

/* Results of a calibration. */
struct hm_calibrated {
    struct hm_node node;   /* The worker; its rates are known if operations were timed. */
    struct hm_link fabric; /* Link between nodes; its bandwidth is NaN if it was not measured. */
    bool timed;            /* True if operations of a worker were timed, not only messages. */
    bool gpu; /* True if the workers are GPUs, whose all-reduces are performed by NCCL. */
    /*
     * Text that names the values that were not measured and are not from a data sheet; NULL if
     * there is none.
     */
    const char *assumed;
    /* Median relative error of the model on the timed operations; NaN if none were timed. */
    double model_error;
    /* Median relative error of the model on all-reduces; NaN if none were timed. */
    double link_error;
};

/*
 * Finds the rates and latencies of a machine. `sheet` is the entry of the accelerator in the
 * catalog; NULL if not known. Fails if the times do not determine the rates and latencies.
 */
int hm__calibrate(const struct hm_timings *timings, const struct hm_node *sheet,
                  struct hm_calibrated *ret_machine, struct hm_err *err);
/*
 * Returns the time in seconds that the model predicts for a timed operation on the calibrated
 * machine; NaN if no model covers it.
 */
double hm__calibrated_time(const struct hm_calibrated *machine, const struct hm_timing *timing);

/*
 * Writes the description of the machine as YAML. `accelerator` is the name of its entry in the
 * catalog; NULL if it has no entry.
 */
void hm__calibration_yaml(struct hm_text *out, const struct hm_timings *timings,
                          const struct hm_calibrated *machine, const char *accelerator);
/* Writes the times as JSON, in the format of a recording, which a calibration can replay. */
void hm__timings_json(struct hm_text *out, const struct hm_timings *timings);

#endif
