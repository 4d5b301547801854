/* Traces of training runs. */
#include "howmany_advise.h"
#include "memory.h"

void hm_traces_free(struct hm_traces *traces)
{
    if (traces)
        hm__arena_free(traces->memory);
}
