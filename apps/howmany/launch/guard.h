/*
 * The guard is a process that cleans up after this process is killed, because SIGKILL leaves this
 * process no time to end its commands and to remove its temporary files. The guard is started when
 * it is first needed. It waits until this process has ended, ends the command that was running,
 * calls the functions that were registered, and exits. If the guard itself is killed, another one
 * is started.
 */
#ifndef HM_GUARD_H
#define HM_GUARD_H

#include <sys/types.h>

/* Largest number of bytes in a name that is passed to launch_guard_add, including its NUL. */
enum { LAUNCH_GUARD_NAME = 1024 };

/*
 * Starts the guard unless it is running. A failure is not reported, because the guard is needed
 * only if this process is killed.
 */
void launch_guard_start(void);

/*
 * Passes the session id of the running command to the guard; 0 if no command is running. When this
 * process ends, the guard sends SIGTERM to the process group with that id, and, 2 s later, SIGKILL
 * to all remaining processes of the session.
 */
void launch_guard_session(pid_t session);
/*
 * Same as launch_guard_session, but called in the forked process that is about to execute the
 * command, so that the guard knows the session before the command runs.
 */
void launch_guard_tell_session(pid_t session);

/*
 * Registers a function that the guard calls with `name` if this process ends without a call to
 * launch_guard_drop.
 */
void launch_guard_add(void (*clean)(const char *name), const char *name);
void launch_guard_drop(void (*clean)(const char *name), const char *name);

/* Removes a folder and everything in it; a missing folder is not an error. Returns 0, or -1 with
 * the reason in errno. */
int launch_remove_folder(const char *path);
/*
 * Same as launch_remove_folder, but ignores errors, so that it can be passed to launch_guard_add.
 */
void launch_guard_remove_folder(const char *path);

/* Returns a descriptor that becomes readable when the guard dies, so that launch_guard_start can be
 * called again; -1 if there is no guard. */
int launch_guard_descriptor(void);

#endif
