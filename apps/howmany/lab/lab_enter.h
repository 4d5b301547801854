/* Entering a node of a laboratory: its network namespace, host name, /etc/hosts and settings of
 * Open MPI. */
#ifndef HM_LAB_ENTER_H
#define HM_LAB_ENTER_H

#include "lab_plan.h"

/* Move this process, and with it every program that it executes later, to that node. */
int lab_enter(const char *name, size_t node, struct hm_err *err);

/*
 * Call `work` in a forked copy of this process inside the network namespace `space`. Returns what
 * `work` returned (0 to 254), or -1 if it could not be called. Further results need shared memory.
 */
int lab_call_inside(const char *space, int (*work)(void *context), void *context);

/* The launch agent that replaces ssh, without the HOST and COMMAND that follow. The caller releases
 * the text. */
int lab_agent_command(const char *name, struct hm_text *out, struct hm_err *err);
/* Set environment variables that make Open MPI's mpirun use the first n nodes. */
int lab_environment(const char *name, size_t n, struct hm_err *err);

#endif
