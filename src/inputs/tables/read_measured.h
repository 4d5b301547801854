/*
 * Reads tables of measured training steps and collectives (data/steps.csv, data/collectives.csv);
 * each row becomes a job or a cluster that the model can predict.
 */
#ifndef HM_READ_MEASURED_H
#define HM_READ_MEASURED_H

#include "howmany.h"

struct hm_measured_step {
    const char *source, *network, *machine, *precision,
        *software; /* Cells of the row that are strings. */
    double n;      /* Number of workers. */
    /* Number of samples per worker in a step. */
    double batch;
    double seconds;      /* Measured time of a step in seconds. */
    double memory_bytes; /* Measured peak memory; NaN if not measured. */
    /*
     * Time in seconds predicted by a model that was fitted without the source of the row; NaN if
     * not given.
     */
    double held_out_s;
    struct hm_way way;  /* Platform; HM_PLATFORM_JOB for an all-reduce of the gradients. */
    struct hm_job *job; /* The job that the row describes, with its cluster; owned. */
};

struct hm_measured_collective {
    const char *source, *machine;
    double n, bytes, seconds;
    struct hm_cluster *cluster; /* The cluster that the row describes; owned. */
};

struct hm_measured_steps {
    struct hm_measured_step *rows;
    size_t count;
    void *memory; /* Arena that holds the strings of the table; owned. */
};

struct hm_measured_collectives {
    struct hm_measured_collective *rows;
    size_t count;
    void *memory;
};

/*
 * Reads a table; if `text` is NULL, the built-in table is read. The caller frees the result with
 * one of the functions below.
 */
int hm__measured_steps_read(const struct hm_catalog *catalog, const char *text, size_t length,
                            const char *source, struct hm_measured_steps *ret_steps,
                            struct hm_err *err);
int hm__measured_collectives_read(const struct hm_catalog *catalog, const char *text, size_t length,
                                  const char *source, struct hm_measured_collectives *ret_rows,
                                  struct hm_err *err);
void hm__measured_steps_release(struct hm_measured_steps *steps);
void hm__measured_collectives_release(struct hm_measured_collectives *rows);

#endif
