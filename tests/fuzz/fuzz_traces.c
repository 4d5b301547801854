/* Fuzzes traces in CSV or JSON lines, with several settings. The iterations of a valid trace must
 * increase. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "howmany_advise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct hm_trace *trace, bool times_only)
{
    double last = 0;

    if (trace->count == 0 || !(trace->m >= 1) || !(trace->staleness >= 0) || trace->line < 1)
        abort();
    for (size_t i = 0; i < trace->count; i++) {
        if (!(trace->iteration[i] > last) || (!times_only && !isfinite(trace->loss[i])) ||
            trace->seconds[i] < 0 || trace->elapsed_s[i] < 0)
            abort();
        last = trace->iteration[i];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct hm_traces_settings settings[] = {
        {0}, {.measure = "accuracy"}, {.epochs = true}, {.times_only = true}};

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        struct hm_traces *traces = NULL;
        struct hm_err err = {0};
        if (hm_traces_parse((const char *)data, size, "fuzz.csv", &settings[i], &traces, &err))
            continue;
        if (traces->count == 0 || traces->note_count > 27)
            abort();
        for (size_t k = 0; k < traces->count; k++)
            check(&traces->traces[k], settings[i].times_only);
        hm_traces_free(traces);
    }
    return 0;
}
