/* The quantities that every formula of a job may use, in addition to those of its `where:`. */
#ifndef HM_SYMBOLS_H
#define HM_SYMBOLS_H

#include "formula.h"

enum hm_symbol_index {
    HM_SYMBOL_N,                /* Workers. */
    HM_SYMBOL_BATCH,            /* Samples, as given in the job. */
    HM_SYMBOL_PARAMETERS,       /* Parameters of the network. */
    HM_SYMBOL_WEIGHT,           /* Bytes of one parameter. */
    HM_SYMBOL_FORWARD,          /* Flop of one sample forward. */
    HM_SYMBOL_TRAINING,         /* Flop of one sample forward and backward. */
    HM_SYMBOL_FLOPS,            /* Flop/s that one worker reaches. */
    HM_SYMBOL_MEMORY_BANDWIDTH, /* Bytes per second of the memory of one worker. */
    HM_SYMBOL_BANDWIDTH,        /* Bytes per second of the network between nodes. */
    HM_SYMBOL_LATENCY,          /* Seconds of latency of the network between nodes. */
    HM_SYMBOL_COUNT
};

extern const struct hm_symbol hm__job_symbols[HM_SYMBOL_COUNT];

#endif
