/*
 * Runs one command as a child process.
 *
 * The command leads its own session and process group, so that mpirun and all its ranks can be
 * ended together. Its standard output and standard error are two pipes that are read continuously,
 * so that it never blocks on a full pipe; its standard input is empty.
 *
 * One loop waits for the first of these events: output, the end of the process (SIGCHLD), an
 * interruption, or a deadline. SIGCHLD and the signals of an interruption are blocked while the
 * command runs and unblocked only inside ppoll, so that a signal that arrives just before the wait
 * is not missed.
 *
 * A write to a full pipe that no process reads can block this process while it shows output of the
 * command. Interruptions are delivered during such writes too, and a timer then interrupts the
 * write.
 *
 * The end of the process is detected with waitid and WNOWAIT. The process is reaped only after its
 * session has been killed: as long as it is not reaped, its process id cannot be reused. mpirun
 * puts each rank into its own process group, but all ranks are in one session.
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
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "err.h"
#include "guard.h"
#include "memory.h"
#include "processes.h"

static const double GRACE_S = 2; /* Time in seconds between SIGTERM and SIGKILL. */
static const double LOOK_S = 1;  /* Time in seconds between two searches for children of the command
                                    that have ended without being reaped. */
/* Time in seconds for which pipes are still read after the command has ended, if other processes
 * have them open. */
static const double DRAIN_S = 0.5;

/* The state of a running command. Times are in seconds of the monotonic clock; the time of an event
 * that has not happened is INFINITY. */
struct child_run {
    struct launch_child *child;
    pid_t pid;
    /* Read ends of the pipes for standard output and standard error; -1 after end of file. */
    int out, err;
    double started_s, terminated_s, killed_s, ended_s;
    double looked_s;   /* Time of the last search for a child of the command that has ended without
                          being reaped. */
    double unreaped_s; /* Time at which the process `unreaped` was first seen to have ended. */
    long unreaped; /* Process id of a child of the command that has ended without being reaped; 0 if
                      there is none. */
    /* Reason why this program ended the command; LAUNCH_CHILD_EXITED if this program did not end
     * it. */
    enum launch_child_end reason;
    /* Signal mask of this thread before the command was started, during ppoll, and while output of
     * the command is shown. */
    sigset_t before, waiting, showing;
    struct sigaction before_chld, before_cont;
    bool own_timer; /* True if this run installed the handler of SIGALRM. */
    size_t length;  /* Number of bytes in the current output line so far. */
    bool partial;   /* True if a part of an output line has arrived without its newline. */
    char line[LAUNCH_CHILD_LINE + 1];
    char chunk[64 * 1024]; /* Buffer for one read from a pipe; it has the size of a full pipe. */
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---- interruption --------------------------------------------------------------------------- */

/* The flag for interruptions is global, because signal handlers belong to the whole process. */
static volatile sig_atomic_t interrupted;
static struct sigaction before_int, before_term, before_hup;
static bool interrupt_begun;

/*
 * A timer (SIGALRM) interrupts system calls that block after an interruption or at the end of a
 * time limit: every 50 ms during a run, and every second afterwards, so that a pipe that is only
 * slow gets the results.
 */
static struct sigaction before_alarm;
static volatile sig_atomic_t timer_begun, run_active;
/* True if this process was stopped (Ctrl-Z) and continued during the run. */
static volatile sig_atomic_t continued;

static void signal_wake(int signal_number)
{
    (void)signal_number; /* The handler does nothing; it exists so that a signal makes a system call
                            return. */
}

/* Sends SIGALRM after `first_s` seconds and then repeatedly; never if `first_s` is 0. */
static void timer_set(double first_s)
{
    struct itimerval timer = {
        .it_interval = {.tv_sec = run_active ? 0 : 1, .tv_usec = run_active ? 50000 : 0}};

    first_s = fmin(first_s, 1e6);
    timer.it_value.tv_sec = (time_t)first_s;
    timer.it_value.tv_usec = (suseconds_t)((first_s - (double)timer.it_value.tv_sec) * 1e6);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* Returns whether this call installed the handler, so that timer_end must be called. */
static bool timer_begin(void)
{
    struct sigaction action = {.sa_handler = signal_wake};

    if (timer_begun)
        return false;
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, &before_alarm);
    timer_begun = true;
    return true;
}

static void timer_end(void)
{
    timer_begun = false;
    timer_set(0);
    sigaction(SIGALRM, &before_alarm, NULL);
}

static void interrupt_note(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
    if (timer_begun)
        timer_set(run_active ? 0.001 : 1);
}

/*
 * Catches a signal unless it is ignored, because nohup and background jobs rely on ignored signals.
 */
static void interrupt_catch(int signal_number, struct sigaction *ret_before)
{
    struct sigaction action = {.sa_handler = interrupt_note, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    sigaction(signal_number, NULL, ret_before);
    if (ret_before->sa_handler != SIG_IGN)
        sigaction(signal_number, &action, NULL);
}

void launch_interrupt_begin(void)
{
    if (interrupt_begun)
        return;
    interrupt_begun = true;
    interrupted = 0;
    if (!timer_begin())
        timer_set(0);
    interrupt_catch(SIGINT, &before_int);
    interrupt_catch(SIGTERM, &before_term);
    interrupt_catch(SIGHUP, &before_hup);
}

void launch_interrupt(void)
{
    interrupt_note(0);
}

bool launch_interrupted(void)
{
    return interrupted;
}

void launch_interrupt_end(void)
{
    if (!interrupt_begun)
        return;
    sigaction(SIGINT, &before_int, NULL);
    sigaction(SIGTERM, &before_term, NULL);
    sigaction(SIGHUP, &before_hup, NULL);
    if (interrupted)
        timer_set(1); /* A message to a full pipe must not keep the program from ending. */
    else
        timer_end();
    interrupted = 0;
    interrupt_begun = false;
}

/* ---- signals during a run ------------------------------------------------------------------- */

static void note_continued(int signal_number)
{
    (void)signal_number;
    continued = 1;
}

static void block_signals(void)
{
    sigset_t held;

    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    sigaddset(&held, SIGCHLD);
    sigaddset(&held, SIGALRM);
    sigprocmask(SIG_BLOCK, &held, NULL);
}

static void hold_signals(struct child_run *r)
{
    struct sigaction action = {.sa_handler = signal_wake};
    struct sigaction go_on = {.sa_handler = note_continued, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    sigemptyset(&go_on.sa_mask);
    sigprocmask(SIG_SETMASK, NULL, &r->before);
    block_signals();
    sigaction(SIGCHLD, &action, &r->before_chld);
    continued = 0;
    sigaction(SIGCONT, &go_on, &r->before_cont);
    r->own_timer = timer_begin();
    run_active = true;
    r->waiting = r->before;
    sigdelset(&r->waiting, SIGALRM);
    r->showing = r->waiting;
    sigdelset(&r->waiting, SIGCHLD);
    sigaddset(&r->showing, SIGCHLD);
}

/*
 * Lets blocked signals arrive. ppoll delivers no signal while a pipe is ready, so a command that
 * writes continuously would block Ctrl-C forever.
 */
static void deliver_pending_signals(const struct child_run *r)
{
    sigprocmask(SIG_SETMASK, &r->waiting, NULL);
    block_signals();
}

static void restore_signals(struct child_run *r)
{
    run_active = false;
    timer_set(launch_interrupted() ? 1 : 0);
    deliver_pending_signals(r); /* A pending SIGALRM must not reach the earlier action. */
    if (r->own_timer)
        timer_end();
    sigaction(SIGCHLD, &r->before_chld, NULL);
    sigaction(SIGCONT, &r->before_cont, NULL);
    sigprocmask(SIG_SETMASK, &r->before, NULL);
}

/* ---- starting ------------------------------------------------------------------------------- */

struct child_pipes {
    int out[2], err[2];
    int report[2]; /* Pipe that a successful exec closes; if exec fails, the child process writes
                      errno to it. */
};

static void close_pipes(struct child_pipes *p)
{
    for (int i = 0; i < 2; i++) {
        close_fd(&p->out[i]);
        close_fd(&p->err[i]);
        close_fd(&p->report[i]);
    }
}

/*
 * Moves a descriptor above 2. If this process was started without standard streams, a pipe may be
 * given descriptor 0, 1 or 2, and dup2 in the child would overwrite one end with another.
 */
static int fd_move_up(int *fd)
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
    return fd_move_up(&ends[0]) != 0 || fd_move_up(&ends[1]) != 0 ? -1 : 0;
}

static void reset_signals(void)
{
    sigset_t none;

    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL); /* SIGKILL and SIGSTOP cannot be changed; the errors for these signals
                               are ignored. */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool set_streams(const struct child_pipes *p)
{
    int null = open("/dev/null", O_RDONLY);

    if (null < 0 || dup2(null, STDIN_FILENO) < 0)
        return false;
    if (null != STDIN_FILENO)
        close(null);
    return dup2(p->out[1], STDOUT_FILENO) >= 0 && dup2(p->err[1], STDERR_FILENO) >= 0;
}

/*
 * Executes the command in the forked process, or reports errno. The new session is also a new
 * process group. It has no terminal, so a program that asks for a password fails instead of
 * waiting. PR_SET_PDEATHSIG sends SIGTERM to the command when the parent is killed; the guard
 * (guard.h) ends the other processes of the session.
 */
_Noreturn static void child_exec(char *const *argv, const struct child_pipes *p, pid_t parent)
{
    setsid();
    launch_guard_tell_session(getpid());
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(127); /* The parent process has already ended, so the command must not be started. */
    reset_signals();
    if (set_streams(p))
        execvp(argv[0], argv);
    int code = errno;
    ssize_t ignored = write(p->report[1], &code, sizeof(code));
    (void)ignored; /* A failure of this write cannot be reported. */
    _exit(127);
}

/* Returns the errno of a failed exec; 0 if the command is running. */
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

static int child_start(struct child_run *r, struct child_pipes *p, struct hm_err *err)
{
    if (open_pipe(p->out) != 0 || open_pipe(p->err) != 0 || open_pipe(p->report) != 0)
        return fail_errno(err, "create a pipe");
    launch_guard_start();
    r->started_s = cli_now_s();
    pid_t parent = getpid();
    r->pid = fork();
    if (r->pid < 0)
        return fail_errno(err, "start a process");
    if (r->pid == 0)
        child_exec(r->child->argv, p, parent);
    close_fd(&p->out[1]);
    close_fd(&p->err[1]);
    close_fd(&p->report[1]);
    r->out = p->out[0];
    r->err = p->err[0];
    p->out[0] = p->err[0] = -1;
    r->child->code = read_report(p->report[0]);
    launch_guard_session(r->child->code == 0 ? r->pid : 0);
    if (r->child->code != 0)
        while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    else
        r->child->end = LAUNCH_CHILD_EXITED;
    return 0;
}

/* ---- output of the command ------------------------------------------------------------------ */

/* Returns whether the time of the command is over. */
static bool child_is_late(const struct child_run *r, double now)
{
    return r->child->timeout_s > 0 && now >= r->started_s + r->child->timeout_s;
}

/* Copies output of the command. What cannot be written after an interruption or at the end of the
 * command's time is lost. */
static void copy_to_stderr(const struct child_run *r, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t done = write(STDERR_FILENO, bytes, count);
        if (done < 0 && errno == EINTR && !launch_interrupted() && !child_is_late(r, cli_now_s()))
            continue;
        if (done <= 0)
            return; /* Standard error is closed or blocked, so the output cannot be shown. */
        bytes += done;
        count -= (size_t)done;
    }
}

/* Replaces NUL bytes, because each line is passed as a C string, which ends at the first NUL. */
static void replace_nuls(char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] == '\0')
            bytes[i] = '?';
}

static void deliver_line(struct child_run *r, double seconds)
{
    if (r->length > 0 && r->line[r->length - 1] == '\r')
        r->length--;
    r->line[r->length] = '\0';
    r->child->line(r->child->context, r->line, seconds);
    r->length = 0;
    r->partial = false;
}

static void add_to_line(struct child_run *r, const char *bytes, size_t count)
{
    size_t room = LAUNCH_CHILD_LINE - r->length;

    r->partial = true;
    if (count > room)
        count = room;
    memcpy(r->line + r->length, bytes, count);
    r->length += count;
}

static void split_output(struct child_run *r, const char *bytes, size_t count)
{
    const char *end = bytes + count, *newline;
    double seconds = cli_now_s() - r->started_s;

    if (!r->child->line)
        return;
    while ((newline = memchr(bytes, '\n', (size_t)(end - bytes)))) {
        add_to_line(r, bytes, (size_t)(newline - bytes));
        deliver_line(r, seconds);
        bytes = newline + 1;
    }
    if (bytes < end)
        add_to_line(r, bytes, (size_t)(end - bytes));
}

static void keep_error_tail(struct child_run *r, const char *bytes, size_t count)
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

/* Reads the available bytes of a pipe. Call this only when ppoll reports that the pipe is ready. */
static void read_pipe(struct child_run *r, int *fd,
                      void (*take)(struct child_run *r, const char *bytes, size_t count))
{
    ssize_t got = read(*fd, r->chunk, sizeof(r->chunk));

    if (got < 0 && errno == EINTR)
        return;
    if (got <= 0) {
        close_fd(fd);
        return;
    }
    sigprocmask(SIG_SETMASK, &r->showing, NULL);
    if (r->child->show)
        copy_to_stderr(r, r->chunk, (size_t)got);
    replace_nuls(r->chunk, (size_t)got);
    take(r, r->chunk, (size_t)got);
    block_signals();
}

/* ---- other processes ------------------------------------------------------------------------ */

static void note_if_unreaped(void *run, long pid)
{
    struct child_run *r = run;
    struct launch_process process;

    if (launch_process_read(pid, &process) && process.parent == r->pid && process.state == 'Z')
        r->unreaped = pid;
}

/* Returns whether a child of the command ended long ago and the command still has not reaped it. */
static bool child_is_stuck(struct child_run *r, double now)
{
    long before = r->unreaped;

    if (r->child->stuck_s <= 0 || now < r->looked_s + LOOK_S)
        return false;
    r->looked_s = now;
    r->unreaped =
        0; /* The id is reset to 0; the search below sets it again if the child still exists. */
    launch_each_process(note_if_unreaped, r);
    if (r->unreaped == 0 || r->unreaped != before)
        r->unreaped_s = now;
    return r->unreaped != 0 && now - r->unreaped_s >= r->child->stuck_s;
}

/* ---- watching ------------------------------------------------------------------------------- */

/* Finds out whether the process has ended, without reaping it. */
static void child_look_for_end(struct child_run *r)
{
    siginfo_t info = {0};

    if (isfinite(r->ended_s))
        return;
    int rc = waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    if (rc == 0 ? info.si_pid != 0 : errno == ECHILD)
        r->ended_s = cli_now_s();
}

/* Sends SIGTERM after an interruption, a timeout or a hang, and SIGKILL after the grace period. */
static void child_end_when_due(struct child_run *r, double now)
{
    bool late = child_is_late(r, now);

    if (isinf(r->terminated_s) && (launch_interrupted() || late || child_is_stuck(r, now))) {
        r->reason = launch_interrupted() ? LAUNCH_CHILD_INTERRUPTED
                    : late               ? LAUNCH_CHILD_TIMED_OUT
                                         : LAUNCH_CHILD_STUCK;
        r->terminated_s = now;
        kill(-r->pid, SIGTERM);
    }
    if (isinf(r->killed_s) && now >= r->terminated_s + GRACE_S) {
        r->killed_s = now;
        kill(-r->pid, SIGKILL);
    }
}

/*
 * Returns the time until which the loop may wait for an event; after that time, it must act without
 * one.
 */
static double child_next_deadline(const struct child_run *r)
{
    if (isfinite(r->ended_s))
        return r->ended_s + DRAIN_S;
    if (isfinite(r->killed_s))
        return INFINITY;
    if (isfinite(r->terminated_s))
        return r->terminated_s + GRACE_S;
    double look = r->child->stuck_s > 0 ? r->looked_s + LOOK_S : INFINITY;
    return r->child->timeout_s > 0 ? fmin(look, r->started_s + r->child->timeout_s) : look;
}

static void child_wait_and_read(struct child_run *r)
{
    struct pollfd ends[3] = {{.fd = r->out, .events = POLLIN},
                             {.fd = r->err, .events = POLLIN},
                             {.fd = launch_guard_descriptor(), .events = POLLIN}};
    double left = fmin(fmax(child_next_deadline(r) - cli_now_s(), 0),
                       1e6); /* The wait is at most 1e6 s, which fits into time_t; after that time
                                the loop waits again. */
    struct timespec wait = {.tv_sec = (time_t)left};

    wait.tv_nsec = (long)((left - (double)wait.tv_sec) * 1e9);
    if (ppoll(ends, 3, &wait, &r->waiting) <= 0)
        return; /* A signal arrived or the deadline passed; the calling loop handles both. */
    if (ends[0].revents)
        read_pipe(r, &r->out, split_output);
    if (ends[1].revents)
        read_pipe(r, &r->err, keep_error_tail);
    if (ends[2].revents)
        launch_guard_start(); /* The guard process was killed, so another one is started. */
}

static void child_watch(struct child_run *r)
{
    for (;;) {
        deliver_pending_signals(r);
        child_look_for_end(r);
        bool silent = r->out < 0 && r->err < 0;
        if (isfinite(r->ended_s) && (silent || cli_now_s() >= r->ended_s + DRAIN_S))
            break;
        if (isinf(r->ended_s))
            child_end_when_due(r, cli_now_s());
        child_wait_and_read(r);
    }
    sigprocmask(SIG_SETMASK, &r->showing, NULL);
    if (r->partial)
        deliver_line(r, cli_now_s() - r->started_s);
    block_signals();
}

static double timeval_seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* Kills the remaining processes of the session, reaps the command and sets the results of the run.
 */
static void child_reap(struct child_run *r)
{
    struct launch_child *c = r->child;
    struct rusage usage = {0};
    int status = 0;

    kill(-r->pid, SIGKILL);
    launch_session_signal(r->pid, SIGKILL);
    launch_guard_session(0); /* The guard must forget the session, because the session id can be
                                reused after wait4. */
    while (wait4(r->pid, &status, 0, &usage) < 0 && errno == EINTR)
        ;
    c->end = WIFSIGNALED(status) ? LAUNCH_CHILD_SIGNALLED : LAUNCH_CHILD_EXITED;
    c->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    if (r->reason != LAUNCH_CHILD_EXITED)
        c->end = r->reason;
    c->seconds = r->ended_s - r->started_s;
    c->paused = continued;
    c->cpu_s = timeval_seconds(usage.ru_utime) + timeval_seconds(usage.ru_stime);
    c->peak_bytes = 1024.0 * (double)usage.ru_maxrss;
}

static void child_clear_results(struct launch_child *child)
{
    child->end = LAUNCH_CHILD_NOT_STARTED;
    child->code = 0;
    child->paused = false;
    child->seconds = child->cpu_s = child->peak_bytes = 0;
    child->tail[0] = '\0';
}

int launch_child_run(struct launch_child *child, struct hm_err *err)
{
    struct child_pipes pipes = {{-1, -1}, {-1, -1}, {-1, -1}};
    struct child_run *r = hm__calloc(1, sizeof(*r));
    int rc = 0;

    child_clear_results(child);
    if (!r)
        return hm__fail_nomem(err);
    r->child = child;
    r->out = r->err = -1;
    r->terminated_s = r->killed_s = r->ended_s = INFINITY;
    hold_signals(r);
    if (launch_interrupted())
        child->end = LAUNCH_CHILD_INTERRUPTED;
    else
        rc = child_start(r, &pipes, err);
    /* Wait for the command to end, if it has been started. */
    if (rc == 0 && child->end == LAUNCH_CHILD_EXITED) {
        if (child->timeout_s > 0)
            timer_set(child->timeout_s);
        child_watch(r);
        child_reap(r);
    }
    restore_signals(r);
    close_pipes(&pipes);
    close_fd(&r->out);
    close_fd(&r->err);
    hm__free(r);
    return rc;
}
