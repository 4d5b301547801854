/*
 * Reads tables of steps that were measured on CPUs and with the platforms of frameworks
 * (data/platforms.csv); each row becomes a job and a platform that the model can predict.
 */
#ifndef HM_READ_PLATFORMS_H
#define HM_READ_PLATFORMS_H

#include "howmany.h"

struct hm_platform_row {
    const char *source, *framework, *network, *machine; /* Cells of the row that are strings. */
    /* Platform of the measurement; HM_PLATFORM_JOB means one worker alone. */
    struct hm_way way;
    double n; /* Number of workers. */
    /* Number of samples per worker in an iteration. */
    double batch;
    double seconds;     /* Measured time of an iteration in seconds. */
    double held_out_s;  /* Time in seconds predicted with model constants that were fitted without
                           this neural network; NaN if unknown. */
    struct hm_job *job; /* The job that the row describes, with its cluster; owned. */
};

struct hm_platform_rows {
    struct hm_platform_row *rows;
    size_t count;
    void *memory; /* Arena that holds the strings of the table; owned. */
};

/* Reads a table; if text is NULL, the built-in table is read. */
int hm__platform_rows_read(const struct hm_catalog *catalog, const char *text, size_t length,
                           const char *source, struct hm_platform_rows *ret_rows,
                           struct hm_err *err);
void hm__platform_rows_release(struct hm_platform_rows *rows);

#endif
