/* Running this same program as a child process with other arguments. */
#ifndef HM_OWN_PROGRAM_H
#define HM_OWN_PROGRAM_H

#include "child.h"
#include "command_line.h"

/*
 * As launch_child_run, with `howmany` and the given arguments as the command. child->argv is set
 * during the call and NULL afterwards.
 */
int launch_own_program(const struct launch_command *arguments, struct launch_child *child,
                       struct hm_err *err);

#endif
