/* Defines the names and shapes of the operations that are timed. */
#include "timings.h"

const char *hm__timed_name(enum hm_timed what)
{
    static const char *const names[] = {
#define HM_TIMED_NAME(id, name, sides, doc) name,
        HM_TIMED_MAP(HM_TIMED_NAME)
#undef HM_TIMED_NAME
    };

    return what < HM_TIMED_COUNT ? names[what] : "?";
}

size_t hm__timed_sides(enum hm_timed what)
{
    static const size_t sides[] = {
#define HM_TIMED_SIDES(id, name, count, doc) count,
        HM_TIMED_MAP(HM_TIMED_SIDES)
#undef HM_TIMED_SIDES
    };

    return what < HM_TIMED_COUNT ? sides[what] : 0;
}
