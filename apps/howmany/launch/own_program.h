/* Runs this same program as a child process with other arguments. */
#ifndef HM_OWN_PROGRAM_H
#define HM_OWN_PROGRAM_H

#include "child.h"
#include "command_line.h"

/*
 * Same as launch_child_run, but the command is `howmany` with the given arguments. child->argv is
 * set during the call and NULL afterwards.
 */
int launch_own_program(const struct launch_command *arguments, struct launch_child *child,
                       struct hm_err *err);

#endif
