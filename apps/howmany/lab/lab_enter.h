/* Entering a node of a laboratory: its network, its name, its hosts, and what MPI wants to know. */
#ifndef HM_LAB_ENTER_H
#define HM_LAB_ENTER_H

#include "lab_plan.h"

/* From now on, this process and what it becomes are on that node. */
int lab_enter(const char *name, size_t node, struct hm_err *err);

/* Call work in a copy of this process that is in the network namespace; what it returned, 0 to 255,
 * or -1 if it could not be called. Memory that is shared can bring more back. */
int lab_inside(const char *space, int (*work)(void *context), void *context);

/* The words before HOST and COMMAND of our launch agent, in place of ssh; released by the caller.
 */
int lab_agent_words(const char *name, struct hm_text *out, struct hm_err *err);
/* Environment variables that make Open MPI's mpirun use the first n nodes. */
int lab_environment(const char *name, size_t n, struct hm_err *err);

#endif
