/* Choice of the constants and intervals of the model of large networks; see large.h. */
#include "large.h"

#include <math.h>
#include <string.h>

const struct hm_large_constants *hm__large_fitted(void)
{
    return &hm__large_sets[0].constants;
}

const struct hm_large_constants *hm__large_without(const char *source)
{
    for (const struct hm_large_set *set = hm__large_sets + 1; set->source; set++)
        if (strcmp(set->source, source) == 0)
            return &set->constants;
    return NULL;
}

enum hm_large_group hm__large_group(const struct hm_large_device *device,
                                    const struct hm_large_work *work)
{
    if (work->network->experts > 0)
        return HM_GROUP_EXPERTS;
    if (work->software != HM_SOFTWARE_TUNED)
        return HM_GROUP_PLAIN;
    return device->family == HM_FAMILY_HOPPER      ? HM_GROUP_HOPPER
           : device->family == HM_FAMILY_BLACKWELL ? HM_GROUP_BLACKWELL
                                                   : HM_GROUP_OLD;
}

struct hm_large_interval hm__large_interval(const struct hm_large_device *device,
                                            const struct hm_large_work *work)
{
    /*
     * Factor on the widest quantiles of all groups of dense networks, for a device without
     * measurements.
     */
    static const double UNMEASURED = 1.5;
    struct hm_large_quantiles q = hm__large_quantiles[hm__large_group(device, work)];

    if (device->family == HM_FAMILY_OTHER) {
        for (int i = 0; i < HM_GROUP_EXPERTS; i++) {
            q.low = fmin(q.low, hm__large_quantiles[i].low);
            q.high = fmax(q.high, hm__large_quantiles[i].high);
        }
        q.low *= UNMEASURED;
        q.high *= UNMEASURED;
    }
    return (struct hm_large_interval){exp(-q.high), exp(-q.low)};
}

const struct hm_large_constants hm__large_reference = {
    .gemm_volta = .697,
    .gemm_ampere = .787,
    .gemm_hopper = .645,
    .gemm_blackwell = .695,
    .fp8 = .814,
    .fp4 = .580,
    .k0 = 137,
    .memory = .751,
    .traffic_tuned = 1.08,
    .traffic_eager = 1.57,
    .traffic_compiled = .785,
    .eager_gated = 1,
    .eager_host = 1,
    .accumulate = 0,
    .eager_logits = 10,
    .eager_kept = 0,
    .cast_kept = 0,
    .experts = .702,
    .flash2_ampere = .547,
    .flash2_hopper = .330,
    .flash3_hopper = .600,
    .flash3_blackwell = .534,
    .triton_ampere = .464,
    .triton_hopper = .227,
    .flash_backward = .745,
    .context = .887,
    .launch_s = 8.92e-6,
    .call_s = 78.1e-6,
    .message_s = 100e-6,
    .alltoall = .495,
    .link = .711,
    .link_s = 12e-6,
    .network = .664,
    .network_s = 25e-6,
    .network_decay = .0206,
    .norm = 4.51,
    .contend = .0565,
    .broadcast_s = 3e-3,
    .overlap_data = .649,
    .overlap_tensor = .587,
    .step_s = 9.82e-3,
    .jitter = .00698,
};
