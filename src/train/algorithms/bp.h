/*
 * Runs belief propagation as an algorithm of the training loop: the objective is defined by a
 * Markov random field, and one directed message counts as one sample.
 */
#ifndef HM_BP_H
#define HM_BP_H

#include "propagate.h"
#include "run.h"

extern const struct hm_algorithm hm__algorithm_bp;

/*
 * Initialises `objective` for inference on a rank's part of a Markov random field, which is
 * borrowed; objective->arena must be set. The objective is the Bethe free energy, which equals -log
 * Z if belief propagation is exact; with max-product, it is minus the logarithm of the weight
 * (product of all potentials) of the decoded states.
 */
int hm__bp_init(struct hm_objective *objective, const struct hm_mrf *mrf,
                const struct hm_propagate_settings *settings, struct hm_err *err);
/* Returns the state of belief propagation in a run. Call hm__run_begin first. */
const struct hm_propagate *hm__bp_propagate(const struct hm_run *run);

#endif
