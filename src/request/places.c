/*
 * Lists the configurations for which a fit predicts the time. They have the quantities in the field
 * `target`, and default numbers of workers if `target` has no n.
 */
#include <math.h>
#include <string.h>

#include "request.h"

size_t hm__place_others(const struct hm_place *place, struct hm_at *ret_at)
{
    size_t count = 0;

    for (size_t i = 0; i < place->count; i++)
        if (strcmp(place->at[i].name, "n") != 0)
            ret_at[count++] = place->at[i];
    return count;
}

size_t hm__place_counts(double target_n, double n_max, double ret_n[HM_PLACE_COUNTS])
{
    double most = 4 * fmax(n_max, 4);
    size_t count = 0;

    if (!isnan(target_n)) {
        ret_n[0] = target_n;
        return 1;
    }
    for (double n = 1; n <= most && count < HM_PLACE_COUNTS; n *= 2)
        ret_n[count++] = n;
    return count;
}
