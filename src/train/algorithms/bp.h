/* Belief propagation as an algorithm: its objective is a field, a sample is a directed message. */
#ifndef HM_BP_H
#define HM_BP_H

#include "propagate.h"
#include "run.h"

extern const struct hm_algorithm hm__algorithm_bp;

/*
 * Make `objective` the inference on a rank's part of a field, which is borrowed; arena is set. The
 * objective's value is the Bethe free energy, -log Z where it is exact; with max-product, minus the
 * logarithm of the decoded states' weight.
 */
int hm__bp_init(struct hm_objective *objective, const struct hm_mrf *mrf,
                const struct hm_propagate_settings *settings, struct hm_err *err);
/* Of a run that has begun. */
const struct hm_propagate *hm__bp_propagate(const struct hm_run *run);

#endif
