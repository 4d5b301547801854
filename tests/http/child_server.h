/* Declares functions that start a server as a child process and end it. */
#ifndef HM_TEST_CHILD_SERVER_H
#define HM_TEST_CHILD_SERVER_H

#include <sys/types.h>

/* Prints the last error of the system and exits with 1. */
_Noreturn void child_give_up(const char *what);
/*
 * Starts a server with a store on a free port, and waits until it is ready. `environment` holds
 * lines NAME=VALUE and ends with NULL; NULL if the variables of this process are used alone.
 * Returns its port.
 */
int child_server_start(const char *program, const char *store, char *const *environment,
                       pid_t *ret_pid);
/*
 * Starts such a server and does not wait. Returns the descriptor of its standard output, for
 * child_server_port.
 */
int child_server_spawn(const char *program, const char *store, char *const *environment,
                       pid_t *ret_pid);
/*
 * Reads the port that a server prints when it listens, and closes the descriptor. Returns 0 if the
 * server ended before.
 */
int child_server_port(int output);
/* Ends a server by a signal and waits for its end. After SIGTERM, its exit code must be 0. */
void child_server_stop(pid_t pid, int signal);

#endif
