/*
 * The guard is a process that cleans up after this process is killed: SIGKILL leaves this process
 * no time to end its commands and to remove its temporary files. The guard is started when it is
 * first needed. It waits until this process has ended, ends the command that was running, calls the
 * functions that were registered, and exits. If the guard itself is killed, another one is started.
 */
#ifndef HM_GUARD_H
#define HM_GUARD_H

#include <sys/types.h>

/* Longest name that can be passed to launch_guard_add, with its NUL byte. */
enum { LAUNCH_GUARD_NAME = 1024 };

/* Start the guard unless it is running. Nothing is reported if that fails, because the guard is
 * needed only if this process is killed. */
void launch_guard_start(void);

/*
 * Pass the session id of the running command to the guard; 0: no command is running. When this
 * process ends, the guard sends SIGTERM to the process group with that id, and SIGKILL to all
 * processes of the session that are left 2 s later.
 */
void launch_guard_session(pid_t session);
/*
 * Like launch_guard_session, but called in the forked process that is about to execute the command,
 * so that the guard knows the session before the command runs.
 */
void launch_guard_tell_session(pid_t session);

/* Register a function to be called with this name if this process ends without
 * launch_guard_drop. The function runs in the guard. */
void launch_guard_add(void (*clean)(const char *name), const char *name);
void launch_guard_drop(void (*clean)(const char *name), const char *name);

/* Removes a folder and everything in it; a missing folder is no error. Returns 0, or -1 with the
 * reason in errno. */
int launch_remove_folder(const char *path);
/* A function for launch_guard_add: like launch_remove_folder, but errors are ignored. */
void launch_guard_remove_folder(const char *path);

/* Returns a descriptor that becomes readable when the guard dies; -1: there is no guard. Call
 * launch_guard_start then. */
int launch_guard_descriptor(void);

#endif
