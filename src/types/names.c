/* Tables of enum names. */
#include "names.h"

const char *const hm__recipe_names[] = {[HM_RECIPE_POWER_LAW] = "power-law",
                                        [HM_RECIPE_RANDOM] = "random",
                                        [HM_RECIPE_GRID] = "grid",
                                        NULL};

const char *const hm__payload_names[] = {[HM_PAYLOAD_PARAMETERS] = "parameters",
                                         [HM_PAYLOAD_GRADIENTS] = "gradients",
                                         [HM_PAYLOAD_VERTICES] = "vertices",
                                         NULL};

const char *hm__payload_name(enum hm_payload payload)
{
    return payload == HM_PAYLOAD_BYTES ? "bytes" : hm__payload_names[payload];
}
