/* Runs one command as a child process and returns its result, its time and its output. */
#ifndef HM_CHILD_H
#define HM_CHILD_H

#include "howmany.h"

/*
 * LAUNCH_CHILD_TAIL is the number of bytes at the end of standard error that are stored;
 * LAUNCH_CHILD_LINE is the number of bytes after which a line of standard output is truncated.
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
    char *const *argv; /* Arguments of the command, terminated by NULL, borrowed; argv[0] is looked
                          up in PATH. */
    /* Time limit of the command in seconds; 0 for no limit. The function `line` may change it, for
     * example to end the command. */
    double timeout_s;
    /*
     * If a child of the command has ended and the command has not reaped it for this number of
     * seconds, the command is considered stuck and is ended. (mpirun sometimes hangs like this when
     * a rank is killed while it starts.) 0 disables this check.
     */
    double stuck_s;
    /*
     * Called for each line of standard output, without \n or \r\n, with the time in seconds since
     * the start; may be NULL. Lines are truncated after LAUNCH_CHILD_LINE bytes; NUL bytes become
     * '?'.
     */
    void (*line)(void *context, const char *line, double seconds);
    void *context;
    /* True to copy the command's standard output and error to the standard error of this
     * process. */
    bool show;

    /* The members from here on are results, which launch_child_run sets. */
    enum launch_child_end end;
    /* Exit status of the command; the signal number if a signal ended it; errno if it was not
     * started. */
    int code;
    /* Wall time of the command in seconds. */
    double seconds;
    /* True if this process was stopped (Ctrl-Z) and continued during the run, so that `seconds` may
     * be too large. */
    bool paused;
    double cpu_s; /* Processor time of the command and of the children that it waited for, in
                     seconds. */
    /*
     * Largest resident set size of the command and its children, in bytes. Linux also counts the
     * forked copy of this process before exec, so the value is never less than the resident set
     * size of this process at the start.
     */
    double peak_bytes;
    char tail[LAUNCH_CHILD_TAIL]; /* Last bytes of the command's standard error, NUL-terminated. */
};

/*
 * Runs the command and waits for it. Returns 0 regardless of the command's exit status, and a
 * negative code only if a pipe, a process or memory cannot be allocated. Every process of the
 * command's session is killed before this function returns. When this process is killed, the guard
 * (guard.h) ends the session.
 */
int launch_child_run(struct launch_child *child, struct hm_err *err);

/*
 * Handles Ctrl-C. Between launch_interrupt_begin and launch_interrupt_end, SIGINT, SIGTERM and
 * SIGHUP set a flag. The running child is then ended (SIGTERM, and SIGKILL 2 s later) with the
 * result LAUNCH_CHILD_INTERRUPTED, and later calls of launch_child_run return this result without
 * starting a command. A write to a full pipe in the callback `line` then fails with EINTR, also at
 * the end of the time limit. After an interruption, later writes that wait for over a second fail
 * too. A signal that was already ignored stays ignored. Without
 * launch_interrupt_begin, a signal that ends this process only sends SIGTERM to the child.
 */
void launch_interrupt_begin(void);
/* Sets the interruption flag as a signal would, even if these signals are ignored. */
void launch_interrupt(void);
bool launch_interrupted(void);
void launch_interrupt_end(void);

#endif
