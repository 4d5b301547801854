/*
 * Defines linear problems as objectives. They have one output and a loss from loss.h, or several
 * outputs with softmax. With several outputs, w is stored by feature: w[column * outputs + class].
 */
#ifndef HM_LINEAR_PROBLEM_H
#define HM_LINEAR_PROBLEM_H

#include "loss.h"
#include "objective.h"

/*
 * Sets the functions, the loss and the number of weights of an objective that already has its rows.
 */
void hm__linear_init(struct hm_objective *objective, const struct hm_loss *loss);
/*
 * Makes `objective` a softmax regression with objective->outputs classes: the loss is -ln of the
 * probability of the correct class.
 */
int hm__softmax_init(struct hm_objective *objective, struct hm_err *err);

#endif
