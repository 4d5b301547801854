/*
 * Tests predictions that are corrected by one measured step of the same job, for howmany validate
 * --steps.
 */
#ifndef HM_VALIDATE_ONE_H
#define HM_VALIDATE_ONE_H

#include "json.h"
#include "read_measured.h"
#include "text.h"

/*
 * Writes, by source, the error without a run, and the error and the coverage with one run: as text,
 * or as the member "one_step" if json is not NULL.
 */
int validate_one(struct hm_text *out, struct hm_json *json, const struct hm_measured_steps *steps,
                 struct hm_err *err);

#endif
