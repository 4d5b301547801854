/* Making a laboratory: the commands of a plan, run one by one, and undone when one fails. */
#ifndef HM_LAB_UP_H
#define HM_LAB_UP_H

#include "lab_plan.h"

/* Make the lab of that plan; what was made is removed again if that fails or is interrupted. */
int lab_up(const struct lab_spec *spec, const struct lab_plan *plan, struct hm_err *err);

/* Whether the kernel has netem: found out by using it, in a namespace that nobody sees. */
int lab_has_netem(bool *ret_has, struct hm_err *err);
/* Whether all programs that the plan needs are there; names the package of one that is not. */
int lab_check_programs(const struct lab_plan *plan, struct hm_err *err);

/* Hold the lab's folder while at work on it: a descriptor to be closed, or -1 if another does. */
int lab_lock(const char *name);

#endif
