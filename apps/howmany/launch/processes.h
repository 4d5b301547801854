/* Lists the processes of this machine from /proc. */
#ifndef HM_PROCESSES_H
#define HM_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Calls `visit` for every process except process 1. */
void launch_each_process(void (*visit)(void *context, long pid), void *context);

/* The fields of /proc/PID/stat that are used. */
struct launch_process {
    long parent, session;
    char state;
};

/*
 * Reads the fields of struct launch_process for a process. Returns false if the process does not
 * exist.
 */
bool launch_process_read(long pid, struct launch_process *process);

/*
 * Sends a signal to every process of a session that has not ended, and returns the number of these
 * processes. If `signal_number` is 0, they are only counted. A process that left its process group
 * is still in its session.
 */
size_t launch_session_signal(pid_t session, int signal_number);

#endif
