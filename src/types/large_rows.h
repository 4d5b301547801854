/*
 * Declares measured training steps of large networks: each row of a table contains a layout, and
 * the measured time and memory.
 */
#ifndef HM_LARGE_ROWS_H
#define HM_LARGE_ROWS_H

#include "layout.h"

enum hm_large_outcome {
    HM_LARGE_RAN,
    HM_LARGE_OOM,    /* According to the source, the run failed because it exceeded the memory. */
    HM_LARGE_FAILED, /* The run crashed, probably for lack of memory. */
    HM_LARGE_TIMED,  /* The run succeeded, but it is not known what it kept in memory. */
};

struct hm_large_row {
    const char *source;  /* Name of the publication or measurement that the row comes from. */
    const char *model;   /* Name that the source uses for the network. */
    const char *device;  /* Name of the accelerator in the catalog. */
    struct hm_node node; /* Properties of the accelerator, such as its rates and its memory. */
    double per_node;     /* Number of workers in one node. */
    /*
     * Lengths of the axes of a torus that links the workers of a node; all 0 if there is no torus.
     */
    double torus[HM_TORUS_AXES];
    /* Network bandwidth of one node in bytes per second; NaN if not stated. */
    double network_bytes_per_s;
    struct hm_transformer network;
    /* Data and software of the step; work.network points to `network` of this row. */
    struct hm_large_work work;
    /* Layout of the measured step; micro_batch is 0 if the source does not state it. */
    struct hm_layout layout;
    /* True if the source does not say whether activations were recomputed. */
    bool recompute_unknown;
    double time_s; /* Measured time of one step in seconds; NaN if not measured. */
    /* Measured memory in bytes on the worker that uses the most; NaN if not measured. */
    double memory_bytes;
    enum hm_large_outcome outcome;
};

struct hm_large_rows {
    struct hm_large_row *rows;
    size_t count;
    void *memory; /* Arena that owns all memory of this struct. */
};

void hm__large_rows_free(struct hm_large_rows *rows);

#endif
