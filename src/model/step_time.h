/*
 * Computes the time of a training step of one worker, as a function of the batch, from the
 * operations of its layers; and the overlap of its backward pass with the all-reduces of buckets of
 * gradients.
 */
#ifndef HM_STEP_TIME_H
#define HM_STEP_TIME_H

#include "collective.h"
#include "device.h"

enum { HM_BUCKETS_MAX = 256 };

/* The components of a step for one batch. They add up to the time of a step on one worker. */
struct hm_step_parts {
    double forward_s, backward_s, update_s;
    /* Total times of the host and of the device in seconds; a step takes the larger of the two. */
    double host_s, device_s;
    double memory_bytes; /* Peak memory in bytes, without the context of the framework. */
    double ready_s[HM_BUCKETS_MAX]; /* Time in seconds from the start of the step until each bucket
                                       is full. */
};

/*
 * Step times of one network on one kind of worker. Times are computed for selected batch sizes and
 * interpolated for the others. A lookup may add a time to the table, so threads must not share it.
 */
struct hm_step_table;

/*
 * Creates a table for a job whose network has layers. The job is borrowed and must outlive the
 * table. bucket_bytes is the size at which a bucket of gradients is sent; 0 means one bucket for
 * each layer.
 */
int hm__step_table_new(const struct hm_job *job, const struct hm_device *device,
                       double bucket_bytes, struct hm_step_table **ret_table, struct hm_err *err);
void hm__step_table_free(struct hm_step_table *table);

/* Returns the device for which the table was created; borrowed. */
const struct hm_device *hm__step_table_device(const struct hm_step_table *table);
/* Returns the counts of the network for which the table was created; borrowed. */
const struct hm_counts *hm__step_table_counts(const struct hm_step_table *table);
/*
 * Finds the components of a step for a batch of b samples; less than one sample counts as one. They
 * belong to the table and are valid until the next call for another batch.
 */
int hm__step_table_eval(struct hm_step_table *table, double b,
                        const struct hm_step_parts **ret_parts, struct hm_err *err);

/* Communication time of a step on n workers. */
struct hm_step_sent {
    /* Latency and transfer time in seconds, summed over the messages of all buckets. */
    double latency_s, bandwidth_s;
    double end_s; /* Time in seconds from the start of the step until the last bucket has been
                     reduced. */
    enum hm_scheme scheme;
};

/* Computes the all-reduces of all buckets among n workers. Each starts when its bucket is full and
 * the previous one has ended. HM_SCHEME_BEST means the scheme that a collective library would
 * choose. The times at which buckets are full are divided by `speed`; the times of the all-reduces
 * are multiplied by `factor`. */
struct hm_step_sent hm__step_table_send(const struct hm_step_table *table,
                                        const struct hm_step_parts *parts, double n, double speed,
                                        double factor, enum hm_scheme scheme,
                                        const struct hm_wires *wires);

#endif
