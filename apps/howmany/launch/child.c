/*
 * Running one command and watching it.
 *
 * The command leads a process group of its own, so that mpirun and all its ranks can be ended at
 * once. Its standard output and error come through two pipes, both always read, so that it never
 * waits for us; its standard input is empty.
 *
 * One loop waits for what comes first: output, the end of the process (SIGCHLD), an interruption,
 * or a time. These signals are blocked while the command runs, and let in where we wait: one that
 * comes a moment before the wait ends it at once instead of being missed.
 *
 * The ended process is looked at (waitid, WNOWAIT) but not reaped until its session has been
 * killed: until then its number cannot become that of another one. mpirun gives each rank a group
 * of its own, but they are all of one session.
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "err.h"
#include "memory.h"
#include "processes.h"

static const double GRACE_S = 2;   /* between asking a command to end and ending it */
static const double LOOK_S = 1;    /* between looks for ended processes that nobody noticed */
static const double DRAIN_S = 0.5; /* for pipes that others hold, once the command is gone */

/* A run as it goes. Times are of the monotonic clock, INFINITY while the event is still to come. */
struct run {
    struct cli_child *child;
    pid_t pid;
    int out, err; /* reading ends of the pipes, -1 once at their end */
    double started_s, asked_s, killed_s, gone_s;
    double looked_s, dead_s;   /* last look for ended processes; since when there is one */
    long dead;                 /* its number */
    enum cli_child_end reason; /* why we ended it; EXITED while we did not */
    sigset_t before, waiting;  /* signals blocked when we were called, and where we wait */
    struct sigaction before_chld;
    size_t length; /* of the line so far */
    bool partial;  /* there is a line without its end, though it may be empty or cut */
    char line[CLI_CHILD_LINE + 1];
    char chunk[64 * 1024]; /* as much as a pipe holds */
};

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---- interruption --------------------------------------------------------------------------- */

/* Signals belong to the process, and so does this: the only state here outside a run. */
static volatile sig_atomic_t interrupted;
static struct sigaction before_int, before_term, before_hup;
static bool begun;

static void note(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

/* Started in the background, or by nohup: what is ignored is meant to be. */
static void note_unless_ignored(int signal_number, struct sigaction *ret_before)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    sigaction(signal_number, NULL, ret_before);
    if (ret_before->sa_handler != SIG_IGN)
        sigaction(signal_number, &action, NULL);
}

void cli_interrupt_begin(void)
{
    if (begun)
        return;
    begun = true;
    interrupted = 0;
    note_unless_ignored(SIGINT, &before_int);
    note_unless_ignored(SIGTERM, &before_term);
    note_unless_ignored(SIGHUP, &before_hup);
}

void cli_interrupt(void)
{
    interrupted = 1;
}

bool cli_interrupted(void)
{
    return interrupted;
}

void cli_interrupt_end(void)
{
    if (!begun)
        return;
    sigaction(SIGINT, &before_int, NULL);
    sigaction(SIGTERM, &before_term, NULL);
    sigaction(SIGHUP, &before_hup, NULL);
    interrupted = 0;
    begun = false;
}

/* ---- signals during a run ------------------------------------------------------------------- */

static void wake(int signal_number)
{
    (void)signal_number; /* that the wait ends is all there is to it */
}

static void block_signals(void)
{
    sigset_t held;

    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    sigaddset(&held, SIGCHLD);
    sigprocmask(SIG_BLOCK, &held, NULL);
}

static void hold_signals(struct run *r)
{
    struct sigaction action = {.sa_handler = wake};

    sigemptyset(&action.sa_mask);
    sigprocmask(SIG_SETMASK, NULL, &r->before);
    block_signals();
    sigaction(SIGCHLD, &action, &r->before_chld);
    r->waiting = r->before;
    sigdelset(&r->waiting, SIGCHLD);
}

static void restore_signals(struct run *r)
{
    sigaction(SIGCHLD, &r->before_chld, NULL);
    sigprocmask(SIG_SETMASK, &r->before, NULL);
}

/* ppoll does not let a signal in when a pipe is ready; a command that never pauses would keep
 * Ctrl-C out for good. */
static void let_signals_in(const struct run *r)
{
    sigprocmask(SIG_SETMASK, &r->waiting, NULL);
    block_signals();
}

/* ---- starting ------------------------------------------------------------------------------- */

struct pipes {
    int out[2], err[2];
    int report[2]; /* closes when the command runs; else brings errno */
};

static void close_pipes(struct pipes *p)
{
    for (int i = 0; i < 2; i++) {
        close_end(&p->out[i]);
        close_end(&p->err[i]);
        close_end(&p->report[i]);
    }
}

/* If we were started without standard streams, a pipe may get their numbers; the child's dup2 would
 * then overwrite one end with another. */
static int move_up(int *fd)
{
    if (*fd > STDERR_FILENO)
        return 0;
    int moved = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (moved < 0)
        return -1;
    close(*fd);
    *fd = moved;
    return 0;
}

static int open_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    return move_up(&ends[0]) != 0 || move_up(&ends[1]) != 0 ? -1 : 0;
}

static void reset_signals(void)
{
    sigset_t none;

    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL); /* fails for those that cannot be changed, which is as well */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool set_streams(const struct pipes *p)
{
    int null = open("/dev/null", O_RDONLY);

    if (null < 0 || dup2(null, STDIN_FILENO) < 0)
        return false;
    if (null != STDIN_FILENO)
        close(null);
    return dup2(p->out[1], STDOUT_FILENO) >= 0 && dup2(p->err[1], STDERR_FILENO) >= 0;
}

/*
 * In the new process: become the command, or report errno. A session of its own is a process group
 * of its own too; and without a terminal, a question for a password fails instead of waiting.
 * Should our parent be killed, so that it cannot end us, we are asked to end all the same.
 */
_Noreturn static void become(char *const *argv, const struct pipes *p, pid_t parent)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(127); /* it is gone already */
    reset_signals();
    if (set_streams(p))
        execvp(argv[0], argv);
    int code = errno;
    ssize_t ignored = write(p->report[1], &code, sizeof(code));
    (void)ignored; /* nobody is left to tell */
    _exit(127);
}

/* errno of the failure to run the command, or 0 if it runs. */
static int read_report(int report)
{
    int code = 0;
    ssize_t got;

    do
        got = read(report, &code, sizeof(code));
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof(code) ? code : 0;
}

static int fail_errno(struct hm_err *err, const char *what)
{
    return hm__fail(err, HM_E_IO, "cannot %s: %s", what, strerror(errno));
}

static int start(struct run *r, struct pipes *p, struct hm_err *err)
{
    if (open_pipe(p->out) != 0 || open_pipe(p->err) != 0 || open_pipe(p->report) != 0)
        return fail_errno(err, "make a pipe");
    r->started_s = cli_now_s();
    pid_t parent = getpid();
    r->pid = fork();
    if (r->pid < 0)
        return fail_errno(err, "start a process");
    if (r->pid == 0)
        become(r->child->argv, p, parent);
    close_end(&p->out[1]);
    close_end(&p->err[1]);
    close_end(&p->report[1]);
    r->out = p->out[0];
    r->err = p->err[0];
    p->out[0] = p->err[0] = -1;
    r->child->code = read_report(p->report[0]);
    if (r->child->code != 0)
        while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    else
        r->child->end = CLI_CHILD_EXITED;
    return 0;
}

/* ---- what it says --------------------------------------------------------------------------- */

static void copy_to_stderr(const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t done = write(STDERR_FILENO, bytes, count);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return; /* whoever closed it does not want to see it */
        bytes += done;
        count -= (size_t)done;
    }
}

/* A C string ends at a NUL; the rest would be lost. */
static void replace_nuls(char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] == '\0')
            bytes[i] = '?';
}

static void give_line(struct run *r, double seconds)
{
    if (r->length > 0 && r->line[r->length - 1] == '\r')
        r->length--;
    r->line[r->length] = '\0';
    r->child->line(r->child->context, r->line, seconds);
    r->length = 0;
    r->partial = false;
}

static void add_to_line(struct run *r, const char *bytes, size_t count)
{
    size_t room = CLI_CHILD_LINE - r->length;

    r->partial = true;
    if (count > room)
        count = room;
    memcpy(r->line + r->length, bytes, count);
    r->length += count;
}

static void take_output(struct run *r, const char *bytes, size_t count)
{
    const char *end = bytes + count, *newline;
    double seconds = cli_now_s() - r->started_s;

    if (!r->child->line)
        return;
    while ((newline = memchr(bytes, '\n', (size_t)(end - bytes)))) {
        add_to_line(r, bytes, (size_t)(newline - bytes));
        give_line(r, seconds);
        bytes = newline + 1;
    }
    if (bytes < end)
        add_to_line(r, bytes, (size_t)(end - bytes));
}

static void take_error(struct run *r, const char *bytes, size_t count)
{
    char *tail = r->child->tail;
    size_t room = sizeof(r->child->tail) - 1, kept = strlen(tail);

    if (count > room) {
        bytes += count - room;
        count = room;
    }
    if (kept > room - count) {
        memmove(tail, tail + kept - (room - count), room - count);
        kept = room - count;
    }
    memcpy(tail + kept, bytes, count);
    tail[kept + count] = '\0';
}

/* Read what a pipe has; to be called when it is ready, since it would wait otherwise. */
static void read_pipe(struct run *r, int *fd,
                      void (*take)(struct run *r, const char *bytes, size_t count))
{
    ssize_t got = read(*fd, r->chunk, sizeof(r->chunk));

    if (got < 0 && errno == EINTR)
        return;
    if (got <= 0) {
        close_end(fd);
        return;
    }
    if (r->child->show)
        copy_to_stderr(r->chunk, (size_t)got);
    replace_nuls(r->chunk, (size_t)got);
    take(r, r->chunk, (size_t)got);
}

/* ---- other processes ------------------------------------------------------------------------ */

/* What /proc tells of a process: "pid (name) state parent group session ...". */
struct process {
    long parent, session;
    char state;
};

static bool read_process(long pid, struct process *process)
{
    char path[300], line[512] = "";

    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    const char *behind = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
    bool told = behind && sscanf(behind + 1, " %c %ld %*d %ld", &process->state, &process->parent,
                                 &process->session) == 3;
    fclose(file);
    return told;
}

/* Whoever has left the group but not the session, as far as /proc tells. */
static void kill_if_ours(void *run, long pid)
{
    const struct run *r = run;
    struct process process;

    if (read_process(pid, &process) && process.session == r->pid)
        kill((pid_t)pid, SIGKILL);
}

static void note_if_dead(void *run, long pid)
{
    struct run *r = run;
    struct process process;

    if (read_process(pid, &process) && process.parent == r->pid && process.state == 'Z')
        r->dead = pid;
}

/* Whether it has not noticed for too long that a process it started has ended. */
static bool is_stuck(struct run *r, double now)
{
    long before = r->dead;

    if (r->child->stuck_s <= 0 || now < r->looked_s + LOOK_S)
        return false;
    r->looked_s = now;
    r->dead = 0; /* found again, if it is still there */
    cli_each_process(note_if_dead, r);
    if (r->dead == 0 || r->dead != before)
        r->dead_s = now;
    return r->dead != 0 && now - r->dead_s >= r->child->stuck_s;
}

/* ---- watching ------------------------------------------------------------------------------- */

/* See whether the process is gone, and leave it to be reaped later. */
static void look_for_end(struct run *r)
{
    siginfo_t info = {0};

    if (isfinite(r->gone_s))
        return;
    int rc = waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    if (rc == 0 ? info.si_pid != 0 : errno == ECHILD)
        r->gone_s = cli_now_s();
}

/* Ask it to end when it is time to, and end it when it does not. */
static void push_along(struct run *r, double now)
{
    bool late = r->child->timeout_s > 0 && now >= r->started_s + r->child->timeout_s;

    if (isinf(r->asked_s) && (cli_interrupted() || late || is_stuck(r, now))) {
        r->reason = cli_interrupted() ? CLI_CHILD_INTERRUPTED
                    : late            ? CLI_CHILD_TIMED_OUT
                                      : CLI_CHILD_STUCK;
        r->asked_s = now;
        kill(-r->pid, SIGTERM);
    }
    if (isinf(r->killed_s) && now >= r->asked_s + GRACE_S) {
        r->killed_s = now;
        kill(-r->pid, SIGKILL);
    }
}

/* When something is to be done even if nothing happens. */
static double next_time(const struct run *r)
{
    if (isfinite(r->gone_s))
        return r->gone_s + DRAIN_S;
    if (isfinite(r->killed_s))
        return INFINITY;
    if (isfinite(r->asked_s))
        return r->asked_s + GRACE_S;
    double look = r->child->stuck_s > 0 ? r->looked_s + LOOK_S : INFINITY;
    return r->child->timeout_s > 0 ? fmin(look, r->started_s + r->child->timeout_s) : look;
}

static void wait_and_read(struct run *r)
{
    struct pollfd ends[2] = {{.fd = r->out, .events = POLLIN}, {.fd = r->err, .events = POLLIN}};
    double left =
        fmin(fmax(next_time(r) - cli_now_s(), 0), 1e6); /* a finite time_t; we come again */
    struct timespec wait = {.tv_sec = (time_t)left};

    wait.tv_nsec = (long)((left - (double)wait.tv_sec) * 1e9);
    if (ppoll(ends, 2, &wait, &r->waiting) <= 0)
        return; /* a signal or the time: the loop sees to both */
    if (ends[0].revents)
        read_pipe(r, &r->out, take_output);
    if (ends[1].revents)
        read_pipe(r, &r->err, take_error);
}

static void watch(struct run *r)
{
    for (;;) {
        let_signals_in(r);
        look_for_end(r);
        bool silent = r->out < 0 && r->err < 0;
        if (isfinite(r->gone_s) && (silent || cli_now_s() >= r->gone_s + DRAIN_S))
            break;
        if (isinf(r->gone_s))
            push_along(r, cli_now_s());
        wait_and_read(r);
    }
    if (r->partial)
        give_line(r, cli_now_s() - r->started_s);
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* End what it left behind, reap it, and say what became of it. */
static void finish(struct run *r)
{
    struct cli_child *c = r->child;
    struct rusage usage = {0};
    int status = 0;

    kill(-r->pid, SIGKILL);
    cli_each_process(kill_if_ours, r);
    while (wait4(r->pid, &status, 0, &usage) < 0 && errno == EINTR)
        ;
    c->end = WIFSIGNALED(status) ? CLI_CHILD_SIGNALLED : CLI_CHILD_EXITED;
    c->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    if (r->reason != CLI_CHILD_EXITED)
        c->end = r->reason;
    c->seconds = r->gone_s - r->started_s;
    c->cpu_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    c->peak_bytes = 1024.0 * (double)usage.ru_maxrss;
}

static void clear_results(struct cli_child *child)
{
    child->end = CLI_CHILD_NOT_STARTED;
    child->code = 0;
    child->seconds = child->cpu_s = child->peak_bytes = 0;
    child->tail[0] = '\0';
}

int cli_child_run(struct cli_child *child, struct hm_err *err)
{
    struct pipes pipes = {{-1, -1}, {-1, -1}, {-1, -1}};
    struct run *r = hm__calloc(1, sizeof(*r));
    int rc = 0;

    clear_results(child);
    if (!r)
        return hm__fail_nomem(err);
    r->child = child;
    r->out = r->err = -1;
    r->asked_s = r->killed_s = r->gone_s = INFINITY;
    hold_signals(r);
    if (cli_interrupted())
        child->end = CLI_CHILD_INTERRUPTED;
    else
        rc = start(r, &pipes, err);
    if (rc == 0 && child->end == CLI_CHILD_EXITED) { /* it runs */
        watch(r);
        finish(r);
    }
    restore_signals(r);
    close_pipes(&pipes);
    close_end(&r->out);
    close_end(&r->err);
    hm__free(r);
    return rc;
}
