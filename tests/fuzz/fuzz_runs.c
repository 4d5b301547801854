/* Fuzzes tables of runs in CSV or JSON lines; valid tables are fitted. */
#include <stdint.h>

#include "howmany_fit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hm_fit_settings settings = {0};
    struct hm_runs *runs = NULL;
    struct hm_fit *fit = NULL;
    struct hm_prediction p;
    struct hm_err err = {0};
    double n = 64;

    if (hm_runs_parse((const char *)data, size, "fuzz.csv", &runs, &err) == 0 &&
        hm_fit_new(runs, &settings, &fit, &err) == 0)
        (void)hm_fit_predict(fit, NULL, 0, &n, 1, &p, &err);
    hm_fit_free(fit);
    hm_runs_free(runs);
    return 0;
}
