/*
 * Tests predictions that are corrected by one measured step of the same job, as a part of howmany
 * validate --steps.
 */
#ifndef HM_VALIDATE_ONE_H
#define HM_VALIDATE_ONE_H

#include "json.h"
#include "read_measured.h"
#include "text.h"

/*
 * Writes, for each source, the error without a run, and the error and the coverage with one run.
 * The output is text or, if `json` is not NULL, the member "one_step".
 */
int validate_one(struct hm_text *out, struct hm_json *json, const struct hm_measured_steps *steps,
                 struct hm_err *err);

#endif
