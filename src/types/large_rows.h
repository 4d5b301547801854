/*
 * Declares measured training steps of large networks: rows of a table, each with its layout and its
 * measured time and memory.
 */
#ifndef HM_LARGE_ROWS_H
#define HM_LARGE_ROWS_H

#include "layout.h"

enum hm_large_outcome {
    HM_LARGE_RAN,
    HM_LARGE_OOM,    /* The source says that the run exceeded the memory. */
    HM_LARGE_FAILED, /* The run crashed, probably for lack of memory. */
};

struct hm_large_row {
    const char *source;  /* Name of the source. */
    const char *model;   /* Name of the network in the source. */
    const char *device;  /* Name of the accelerator in the catalog. */
    struct hm_node node; /* Description of the accelerator. */
    double speed;        /* Rate of matrix products relative to the usual one; NaN: as usual. */
    double per_node;     /* Number of workers of one node. */
    double network_bytes_per_s; /* Network bandwidth of one node; NaN: not stated. */
    struct hm_transformer network;
    /* Data and software of the step; work.network points to `network` of this row. */
    struct hm_large_work work;
    struct hm_layout layout; /* The layout; micro_batch is 0 if it is not stated. */
    bool recompute_unknown;  /* True if the source does not say what is recomputed. */
    double time_s;           /* Seconds of one step; NaN: not measured. */
    double memory_bytes;     /* Bytes on the fullest worker; NaN: not measured. */
    enum hm_large_outcome outcome;
};

struct hm_large_rows {
    struct hm_large_row *rows;
    size_t count;
    void *memory; /* Arena that owns all memory of this struct. */
};

void hm__large_rows_free(struct hm_large_rows *rows);

#endif
