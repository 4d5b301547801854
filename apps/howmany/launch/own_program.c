/*
 * Runs this same program as a child process. /proc/self/exe is the path of the running executable,
 * regardless of its folder and name.
 */
#include "own_program.h"

int launch_own_program(const struct launch_command *arguments, struct launch_child *child,
                       struct hm_err *err)
{
    struct launch_command command = {0};
    int rc = launch_command_add(&command, "/proc/self/exe", err);

    for (size_t i = 0; rc == 0 && i < arguments->count; i++)
        rc = launch_command_add(&command, arguments->argv[i], err);
    child->argv = command.argv;
    rc = rc ? rc : launch_child_run(child, err);
    child->argv = NULL;
    launch_command_release(&command);
    return rc;
}
