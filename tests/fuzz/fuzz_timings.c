/* Fuzzes recorded times of operations. The description of a machine that is made from them must be
 * readable. */
#include <stdint.h>
#include <stdlib.h>

#include "calibration.h"
#include "read_timings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hm_timings timings;
    struct hm_calibrated machine;
    struct hm_err err = {0};

    if (hm__timings_parse((const char *)data, size, "fuzz", &timings, &err))
        return 0;
    if (hm__calibrate(&timings, NULL, &machine, &err) == 0) {
        struct hm_text yaml = {0}, json = {0};
        struct hm_cluster *cluster = NULL;
        hm__calibration_yaml(&yaml, &timings, &machine, NULL);
        hm__timings_json(&json, &timings);
        if (hm_cluster_parse(NULL, yaml.data, yaml.length, "machine", NULL, 0, &cluster, &err))
            abort();
        hm_cluster_free(cluster);
        hm__text_release(&yaml);
        hm__text_release(&json);
    }
    hm__timings_release(&timings);
    return 0;
}
