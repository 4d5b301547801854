/* Gives up the rights that a server does not need. */
#ifndef HM_HTTP_CONFINE_H
#define HM_HTTP_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

#include "howmany.h"

/*
 * Forbid this thread, and those that it starts later, to gain privileges, to execute programs, and
 * to write, create or remove files outside the folders of the given files; NULL names no file.
 * Reading stays possible. A kernel without Landlock (before 5.13) restricts only privileges.
 */
int http_confine_files(const char *const *files, size_t count, struct hm_err *err);

/*
 * Allow the process and all its threads only the system calls that a server needs after its start:
 * memory, threads of its own, files, accepted connections, clocks. It cannot start programs or
 * processes, send signals to others, open sockets or map new code. If `connects` is true, it may
 * also open sockets, connect, and load the shared libraries that this needs. A forbidden call fails
 * with EPERM. On processors for which the filter is not written, and in builds with a sanitizer,
 * only privileges are given up.
 */
int http_confine(bool connects, struct hm_err *err);

#endif
