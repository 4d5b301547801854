/* Runs one command as a child process and returns its result, its time and its output. */
#ifndef HM_CHILD_H
#define HM_CHILD_H

#include "howmany.h"

/*
 * Maximum numbers of bytes that are kept: LAUNCH_CHILD_TAIL of the end of standard error, and
 * LAUNCH_CHILD_LINE of each line of standard output.
 */
enum { LAUNCH_CHILD_TAIL = 8192, LAUNCH_CHILD_LINE = 64 * 1024 };

enum launch_child_end {
    LAUNCH_CHILD_EXITED,
    LAUNCH_CHILD_SIGNALLED,
    LAUNCH_CHILD_TIMED_OUT,
    LAUNCH_CHILD_STUCK,
    LAUNCH_CHILD_INTERRUPTED,
    LAUNCH_CHILD_NOT_STARTED
};

struct launch_child {
    char *const *argv; /* Arguments with NULL at the end, borrowed; argv[0] is looked up in PATH. */
    /* Time limit in seconds; 0: no limit. `line` may change it, for example to end the command. */
    double timeout_s;
    /*
     * If a child of the command has ended and the command has not reaped it for this many seconds,
     * the command is considered stuck and is ended. (mpirun sometimes hangs like this when a rank
     * is killed during its start.) 0: no such check.
     */
    double stuck_s;
    /*
     * Called for each line of standard output, without \n or \r\n, with the seconds since the
     * start; may be NULL. Lines are cut after LAUNCH_CHILD_LINE bytes; NUL bytes become '?'.
     */
    void (*line)(void *context, const char *line, double seconds);
    void *context;
    /* True to copy the command's standard output and error to the standard error of this
     * process. */
    bool show;

    /* The fields from here on are results, set by launch_child_run. */
    enum launch_child_end end;
    /* Exit status; the signal number if a signal ended the command; errno if the command was not
     * started. */
    int code;
    /* Wall time in seconds, from just before the start to the end of the process. */
    double seconds;
    double cpu_s; /* Processor time of the command and the children it waited for. */
    /*
     * The largest resident set of the command and its children, in bytes. Linux counts the forked
     * copy of this process before exec, so the value is never less than the resident set of this
     * process at the start.
     */
    double peak_bytes;
    char tail[LAUNCH_CHILD_TAIL]; /* The end of the command's standard error, NUL-terminated. */
};

/*
 * Run the command and wait for it. Returns 0 whatever the result of the command is, and a negative
 * code only if a pipe, a process or memory cannot be allocated. Every process of the command's
 * session is killed before this function returns. When this process is killed, the guard (guard.h)
 * ends the session.
 */
int launch_child_run(struct launch_child *child, struct hm_err *err);

/*
 * Handle Ctrl-C. Between begin and end, SIGINT, SIGTERM and SIGHUP set a flag: a running child is
 * ended (SIGTERM, and SIGKILL 2 s later) with the result LAUNCH_CHILD_INTERRUPTED, and later calls
 * of launch_child_run return that result without starting anything. A signal that was ignored
 * before stays ignored. Without begin, a signal that ends this process only sends SIGTERM to the
 * child.
 */
void launch_interrupt_begin(void);
/* Set the flag as a signal would, even if the signals are ignored. */
void launch_interrupt(void);
bool launch_interrupted(void);
void launch_interrupt_end(void);

#endif
