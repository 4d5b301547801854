/*
 * Moves a process to a node of a laboratory (a cluster of network namespaces on this machine): to
 * its network namespace, host name, /etc/hosts and settings of Open MPI.
 */
#ifndef HM_LAB_ENTER_H
#define HM_LAB_ENTER_H

#include "lab_plan.h"

/* Moves this process, and every program that it executes later, to this node. */
int lab_enter(const char *name, size_t node, struct hm_err *err);

/*
 * Calls `work` in a forked copy of this process inside the network namespace `space`. Returns the
 * result of `work` (0 to 254), or -1 if `work` could not be called. If `work` has further results,
 * it must write them to shared memory.
 */
int lab_call_inside(const char *space, int (*work)(void *context), void *context);

/*
 * Writes the command of the launch agent that mpirun uses instead of ssh; mpirun appends the host
 * and the command to run. The caller releases the text.
 */
int lab_agent_command(const char *name, struct hm_text *out, struct hm_err *err);
/* Sets the environment variables that make Open MPI's mpirun use the first n nodes. */
int lab_environment(const char *name, size_t n, struct hm_err *err);

#endif
