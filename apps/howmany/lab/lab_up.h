/* Making a laboratory: running the commands of a plan, and undoing them when one fails. */
#ifndef HM_LAB_UP_H
#define HM_LAB_UP_H

#include "lab_plan.h"

/* Make the lab of that plan. On failure or interruption, everything that was made is removed. */
int lab_up(const struct lab_spec *spec, const struct lab_plan *plan, struct hm_err *err);

/* Whether the kernel has netem, tested in a temporary network namespace. */
int lab_has_netem(bool *ret_has, struct hm_err *err);
/* Whether all programs of the plan are installed; the error names the package of a missing one. */
int lab_check_programs(const struct lab_plan *plan, struct hm_err *err);

/* Lock the lab's folder; returns a descriptor to close, or -1 if another process has the lock. */
int lab_lock(const char *name);

#endif
