/*
 * Belief propagation as an algorithm: the objective is a Markov random field, and a sample is one
 * directed message.
 */
#ifndef HM_BP_H
#define HM_BP_H

#include "propagate.h"
#include "run.h"

extern const struct hm_algorithm hm__algorithm_bp;

/*
 * Initialise `objective` for inference on a rank's part of a field, which is borrowed; arena is
 * set. The objective is the Bethe free energy, equal to -log Z where belief propagation is exact;
 * with max-product it is minus the logarithm of the weight of the decoded states.
 */
int hm__bp_init(struct hm_objective *objective, const struct hm_mrf *mrf,
                const struct hm_propagate_settings *settings, struct hm_err *err);
/* The propagation of a run after hm__run_begin. */
const struct hm_propagate *hm__bp_propagate(const struct hm_run *run);

#endif
