/*
 * Lists the quantities that every formula of a job may use, in addition to the definitions in its
 * section `where:`.
 */
#ifndef HM_SYMBOLS_H
#define HM_SYMBOLS_H

#include "formula.h"

enum hm_symbol_index {
    HM_SYMBOL_N, /* Number of workers n. */
    /* Batch: number of samples in one iteration of the whole job. */
    HM_SYMBOL_BATCH,
    HM_SYMBOL_PARAMETERS, /* Number of parameters in the network. */
    HM_SYMBOL_WEIGHT,     /* Number of bytes in one parameter. */
    HM_SYMBOL_FORWARD, /* Number of floating-point operations in the forward pass of one sample. */
    /* Number of floating-point operations in the forward and backward passes of one sample. */
    HM_SYMBOL_TRAINING,
    HM_SYMBOL_FLOPS, /* Number of floating-point operations per second that one worker reaches. */
    HM_SYMBOL_MEMORY_BANDWIDTH, /* Memory bandwidth of one worker in bytes per second. */
    HM_SYMBOL_BANDWIDTH,        /* Bandwidth of the network between nodes in bytes per second. */
    HM_SYMBOL_LATENCY,          /* Latency of the network between nodes in seconds. */
    HM_SYMBOL_COUNT
};

extern const struct hm_symbol hm__job_symbols[HM_SYMBOL_COUNT];

#endif
