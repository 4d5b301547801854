/*
 * Linear problems as objectives: one output with a loss of loss.h, or several with softmax. Several
 * outputs keep w feature by feature: w[column * outputs + class].
 */
#ifndef HM_LINEAR_PROBLEM_H
#define HM_LINEAR_PROBLEM_H

#include "loss.h"
#include "objective.h"

/* The objective has its rows; sets ops and unknowns. */
void hm__linear_init(struct hm_objective *objective, const struct hm_loss *loss);
/* Softmax: -ln of the probability of the right class, with objective->outputs classes. */
int hm__softmax_init(struct hm_objective *objective, struct hm_err *err);

#endif
