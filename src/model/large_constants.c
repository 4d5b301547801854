/* Chooses the constants and intervals of the model of large networks; see large.h. */
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

const struct hm_large_spread *hm__large_spread_without(const char *source, const char *network)
{
    for (const struct hm_large_spread_set *set = hm__large_spreads + 1; set->source; set++)
        if (strcmp(set->source, source) == 0 && !set->network == !network &&
            (!network || strcmp(set->network, network) == 0))
            return &set->spread;
    return &hm__large_spreads[0].spread;
}

/* Returns the share of a step during which workers wait, which widens its interval. */
static double waiting_share(const struct hm_large_step *s)
{
    return (s->tensor_s + s->context_s + s->message_s + s->data_s + s->bubble_s + s->host_s) /
           s->time_s;
}

struct hm_large_interval hm__large_interval(const struct hm_large_spread *spread,
                                            const struct hm_large_device *device,
                                            const struct hm_large_work *work,
                                            const struct hm_large_step *step)
{
    /*
     * Factors by which the logarithms of the ends of the interval are multiplied. For devices of
     * another kind, the factor 1.5 puts 44 of 45 published steps on TPU, Trainium and MI250X inside
     * the interval. The factor 2 put all of them inside when their fraction of the peak had to be
     * estimated, before it was known from these steps. The factor for devices of a measured
     * generation with other rates is a guess.
     */
    static const double OTHER_KIND = 1.5, UNKNOWN_KIND = 2, OTHER_RATES = 1.75;
    const enum hm_large_group group = hm__large_group(device, work);
    const bool other = device->family == HM_FAMILY_OTHER, experts = group == HM_GROUP_EXPERTS;
    const bool recent =
        !experts && (other || group == HM_GROUP_HOPPER || group == HM_GROUP_BLACKWELL);
    const double high =
        spread->high + experts * spread->high_experts + recent * spread->high_recent +
        (step ? spread->high_waiting * waiting_share(step) + log1p(step->slow_host_s / step->time_s)
              : 0);
    const double low = spread->low + experts * spread->low_experts + recent * spread->low_recent;

    const double factor = !device->unmeasured ? (other ? OTHER_KIND : 1)
                          : other             ? UNKNOWN_KIND
                                              : OTHER_RATES;
    return hm__large_narrow((struct hm_large_interval){exp(-low), exp(high)}, factor);
}

struct hm_large_interval hm__large_narrow(struct hm_large_interval interval, double factor)
{
    return (struct hm_large_interval){pow(interval.low, factor), pow(interval.high, factor)};
}

const struct hm_large_constants hm__large_reference = {
    .gemm_volta = .697,
    .gemm_ampere = .787,
    .gemm_hopper = .645,
    .gemm_blackwell = .695,
    .gemm_other = .95,
    .gemm_engine = 1,
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
