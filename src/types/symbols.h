/*
 * The quantities that every formula of a job may use, in addition to the definitions in its section
 * `where:`.
 */
#ifndef HM_SYMBOLS_H
#define HM_SYMBOLS_H

#include "formula.h"

enum hm_symbol_index {
    HM_SYMBOL_N,                /* Number of workers. */
    HM_SYMBOL_BATCH,            /* Number of samples, as given in the job. */
    HM_SYMBOL_PARAMETERS,       /* Number of parameters of the network. */
    HM_SYMBOL_WEIGHT,           /* Bytes of one parameter. */
    HM_SYMBOL_FORWARD,          /* Flop of the forward pass of one sample. */
    HM_SYMBOL_TRAINING,         /* Flop of the forward and backward pass of one sample. */
    HM_SYMBOL_FLOPS,            /* Flop/s that one worker reaches. */
    HM_SYMBOL_MEMORY_BANDWIDTH, /* Bytes per second of the memory of one worker. */
    HM_SYMBOL_BANDWIDTH,        /* Bytes per second of the network between nodes. */
    HM_SYMBOL_LATENCY,          /* Seconds of latency of the network between nodes. */
    HM_SYMBOL_COUNT
};

extern const struct hm_symbol hm__job_symbols[HM_SYMBOL_COUNT];

#endif
