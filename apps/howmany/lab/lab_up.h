/*
 * Creates a laboratory (a cluster of network namespaces on one machine): runs the commands of a
 * plan, and removes the laboratory if a command fails.
 */
#ifndef HM_LAB_UP_H
#define HM_LAB_UP_H

#include "lab_plan.h"

/*
 * Creates the lab with the commands of a plan. After a failure or an interruption, everything that
 * was created so far is removed.
 */
int lab_up(const struct lab_spec *spec, const struct lab_plan *plan, struct hm_err *err);

/*
 * Finds out whether the kernel supports the netem queue, with a test in a temporary network
 * namespace.
 */
int lab_has_netem(bool *ret_has, struct hm_err *err);
/*
 * Checks that all programs of the plan are installed; the error names the package of a missing
 * program.
 */
int lab_check_programs(const struct lab_plan *plan, struct hm_err *err);

/*
 * Locks the lab's folder. Returns a descriptor, which the caller closes, or -1 if another process
 * has locked it.
 */
int lab_lock(const char *name);

#endif
