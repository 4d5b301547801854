/* Running one command and watching it: how it ends, how long it takes, what it says. */
#ifndef HM_CHILD_H
#define HM_CHILD_H

#include "howmany.h"

enum { CLI_CHILD_TAIL = 8192, CLI_CHILD_LINE = 64 * 1024 }; /* bytes */

enum cli_child_end {
    CLI_CHILD_EXITED,
    CLI_CHILD_SIGNALLED,
    CLI_CHILD_TIMED_OUT,
    CLI_CHILD_STUCK,
    CLI_CHILD_INTERRUPTED,
    CLI_CHILD_NOT_STARTED
};

struct cli_child {
    char *const *argv; /* borrowed, NULL at the end; argv[0] is looked up in PATH */
    double timeout_s;  /* 0: none */
    /* A process that it started has ended and it has not noticed for so long: it hangs, and is
     * ended (STUCK). mpirun does so now and then when a rank is killed while it starts. 0: never
     * mind. */
    double stuck_s;
    /*
     * Called for each line of standard output, without its end (\n or \r\n), with the seconds since
     * the start; may be NULL. Lines are cut after CLI_CHILD_LINE bytes; NUL bytes come as '?'.
     */
    void (*line)(void *context, const char *line, double seconds);
    void *context;
    bool show; /* also copy all it writes to our standard error */

    /* What became of it; set by cli_child_run. */
    enum cli_child_end end;
    int code;       /* exit status; signal number if a signal ended it; errno if not started */
    double seconds; /* wall time from just before the start until the process is gone */
    double cpu_s;   /* processor time of it and of the children it waited for */
    /* The largest resident set among those; never less than our own at the start, since Linux
     * counts the copy of us that a process is before it becomes another program. */
    double peak_bytes;
    char tail[CLI_CHILD_TAIL]; /* the last of its standard error, NUL-terminated */
};

/*
 * Run the command and wait for it. 0 whenever it could be dealt with, whatever its end; negative
 * only for troubles of our own (pipes, processes, memory). Nothing it started outlives it, short of
 * a process that leaves its session. When we are killed, it gets SIGTERM.
 */
int cli_child_run(struct cli_child *child, struct hm_err *err);

/*
 * Ctrl-C. From begin to end, SIGINT, SIGTERM and SIGHUP are only noted: a running child is ended
 * (SIGTERM, and SIGKILL 2 s later) and cli_child_run returns INTERRUPTED, as do all later runs
 * without starting anything. A signal that was ignored before stays ignored. Without begin, a
 * signal that ends us ends the child too, but not gently.
 */
void cli_interrupt_begin(void);
/* As if there had been a signal: also where signals are ignored. */
void cli_interrupt(void);
bool cli_interrupted(void);
void cli_interrupt_end(void);

#endif
