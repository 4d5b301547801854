/* Gives up the privileges that the server does not need. */
#ifndef HM_HTTP_CONFINE_H
#define HM_HTTP_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

#include "howmany.h"

/*
 * Forbids this thread, and the threads that it starts later, to gain privileges, to execute
 * programs, or to write, create or remove files outside the folders of the given files. NULL
 * entries in `files` are ignored. Reading remains possible. On a kernel without Landlock (before
 * 5.13), only gaining privileges is forbidden.
 */
int http_confine_files(const char *const *files, size_t count, struct hm_err *err);

/*
 * Allows the process and all its threads only the system calls that a server needs after startup:
 * for memory, its own threads, files, accepted connections and clocks. The process can then no
 * longer start programs or processes, send signals to other processes, open sockets or map new
 * code. If `connects` is true, it may also open sockets, connect, and load the shared libraries
 * that this needs. A forbidden call fails with EPERM. On processors that the filter does not
 * support, and in builds with a sanitizer, only gaining privileges is forbidden.
 */
int http_confine(bool connects, struct hm_err *err);

#endif
