/* Reads recorded times of operations, as `howmany calibrate --record` writes them. */
#ifndef HM_READ_TIMINGS_H
#define HM_READ_TIMINGS_H

#include "timings.h"

/* Reads recorded times from YAML or JSON. Release the result with hm__timings_release. */
int hm__timings_parse(const char *text, size_t length, const char *source,
                      struct hm_timings *ret_timings, struct hm_err *err);
void hm__timings_release(struct hm_timings *timings);

#endif
