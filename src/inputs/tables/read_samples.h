/* Reads the samples of a run: a list of objects with iteration, seconds, elapsed_s and loss. */
#ifndef HM_READ_SAMPLES_H
#define HM_READ_SAMPLES_H

#include "howmany_fit.h"
#include "value.h"

/* Reads samples from a list, and copies them into the arena. The ranges of the numbers are checked
 * when the run is stored. */
int hm__samples_read(struct hm_arena *arena, const struct hm_value *list,
                     struct hm_run_samples *ret_samples, struct hm_err *err);

#endif
