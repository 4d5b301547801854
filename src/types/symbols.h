/* The named quantities that every formula of a job may use, besides those of its `where:`. */
#ifndef HM_SYMBOLS_H
#define HM_SYMBOLS_H

#include "formula.h"

enum hm_symbol_index {
    HM_SYMBOL_N,                /* workers */
    HM_SYMBOL_BATCH,            /* samples, as the job gives them */
    HM_SYMBOL_PARAMETERS,       /* of the network */
    HM_SYMBOL_WEIGHT,           /* bytes of one parameter */
    HM_SYMBOL_FORWARD,          /* flop of one sample forward */
    HM_SYMBOL_TRAINING,         /* flop of one sample forward and backward */
    HM_SYMBOL_FLOPS,            /* flop/s one worker reaches */
    HM_SYMBOL_MEMORY_BANDWIDTH, /* of one worker */
    HM_SYMBOL_BANDWIDTH,        /* of the network between nodes */
    HM_SYMBOL_LATENCY,          /* of the network between nodes */
    HM_SYMBOL_COUNT
};

extern const struct hm_symbol hm__job_symbols[HM_SYMBOL_COUNT];

#endif
