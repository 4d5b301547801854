/*
 * The guard is a forked copy of this process. It reads messages from a socket until the end of
 * file, which it sees when this process has ended for any reason: the kernel then closes this
 * process's end of the socket, and no other process has that end open after an exec. Messages
 * contain function pointers, which are valid because both processes have the same image.
 *
 * The guard has its own session, so that neither Ctrl-C nor the end of an outer command's session
 * ends it: if howmany study is killed, its guard kills howmany train, and the guard of howmany
 * train ends the ranks.
 */
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "processes.h"

static const double GUARD_GRACE_S = 2; /* Time in seconds between SIGTERM and SIGKILL. */
static const double KILL_S = 5;        /* Time in seconds during which SIGKILL is repeated, because
                                          processes may start others before they end. */

/* Number of functions that can be registered at the same time. */
enum { CLEANUPS = 4 };

struct cleanup {
    void (*clean)(const char *name); /* Function that the guard calls when this process has ended;
                                        NULL if this entry of the table is free. */
    char name[LAUNCH_GUARD_NAME];
};

/* The actions that the guard takes when the guarded process ends. */
struct duties {
    pid_t session;
    struct cleanup cleanups[CLEANUPS];
};

/* One message to the guard: a new session, or a function to register or to remove. */
struct message {
    enum { MESSAGE_SESSION, MESSAGE_ADD, MESSAGE_DROP } kind;
    pid_t session;
    struct cleanup cleanup;
};

/* State of the guard. It is global, because the guard belongs to the whole process, as signal
 * handlers do. */
static struct {
    pid_t owner; /* The process that started the guard; in a forked copy of this process, the guard
                    must not be used. */
    pid_t pid;
    int socket;
    struct duties duties; /* Actions of the current guard; if it is killed, they are passed to
                             another guard. */
} guard;

static void duties_change(struct duties *d, const struct message *m)
{
    struct cleanup *free_entry = NULL, *same = NULL;

    if (m->kind == MESSAGE_SESSION) {
        d->session = m->session;
        return;
    }
    for (int i = 0; i < CLEANUPS; i++) {
        struct cleanup *c = &d->cleanups[i];
        if (!c->clean)
            free_entry = c;
        else if (c->clean == m->cleanup.clean && strcmp(c->name, m->cleanup.name) == 0)
            same = c;
    }
    if (m->kind == MESSAGE_ADD && !same && free_entry)
        *free_entry = m->cleanup;
    else if (m->kind == MESSAGE_DROP && same)
        same->clean = NULL;
}

/* ---- the guard's process -------------------------------------------------------------------- */

static void end_session(pid_t session)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    double started = cli_now_s();

    kill(-session, SIGTERM);
    while (launch_session_signal(session, 0) > 0 && cli_now_s() < started + GUARD_GRACE_S)
        nanosleep(&pause, NULL);
    while (launch_session_signal(session, SIGKILL) > 0 &&
           cli_now_s() < started + GUARD_GRACE_S + KILL_S)
        nanosleep(&pause, NULL);
}

static void close_other_files(int own)
{
    int null = open("/dev/null", O_RDWR);

    for (int i = 0; null >= 0 && i <= STDERR_FILENO; i++)
        dup2(null, i);
    if (own > STDERR_FILENO + 1)
        close_range(STDERR_FILENO + 1, (unsigned)own - 1, 0);
    close_range((unsigned)own + 1, ~0U, 0);
}

_Noreturn static void guard_run(int own, struct duties *duties)
{
    struct message m;
    sigset_t none;
    ssize_t got;

    setsid();
    prctl(PR_SET_NAME, "howmany-guard");
    for (int i = 1; i < NSIG; i++)
        signal(i, i == SIGINT || i == SIGTERM || i == SIGHUP || i == SIGPIPE ? SIG_IGN : SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    close_other_files(own);
    while ((got = recv(own, &m, sizeof(m), 0)) == (ssize_t)sizeof(m) || (got < 0 && errno == EINTR))
        if (got > 0)
            duties_change(duties, &m);
    if (duties->session > 0)
        end_session(duties->session);
    for (int i = 0; i < CLEANUPS; i++)
        if (duties->cleanups[i].clean)
            duties->cleanups[i].clean(duties->cleanups[i].name);
    _exit(0);
}

/* ---- the guarded process -------------------------------------------------------------------- */

/*
 * Clears the state in a forked copy of the process that started the guard, because the copy has no
 * guard.
 */
static void forget_guard_of_parent(void)
{
    if (guard.owner == 0 || guard.owner == getpid())
        return;
    close(guard.socket);
    memset(&guard, 0, sizeof(guard));
}

static bool guard_is_running(void)
{
    forget_guard_of_parent();
    if (guard.owner == 0)
        return false;
    if (waitpid(guard.pid, NULL, WNOHANG) == 0)
        return true;
    close(guard.socket);
    guard.owner = 0;
    return false;
}

/* Moves a descriptor above 2, because the guard replaces the standard streams. */
static int move_up(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return moved;
}

void launch_guard_start(void)
{
    sigset_t all, before;
    int ends[2];

    if (guard_is_running() || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    ends[0] = move_up(ends[0]);
    ends[1] = move_up(ends[1]);
    /* All signals are blocked, so that none of them can end the guard before it ignores signals and
     * has left this session. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = ends[0] < 0 || ends[1] < 0 ? -1 : fork();
    if (pid == 0) {
        close(ends[0]);
        guard_run(ends[1], &guard.duties);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (ends[1] >= 0)
        close(ends[1]);
    if (pid < 0) {
        if (ends[0] >= 0)
            close(ends[0]);
        return;
    }
    guard.owner = getpid();
    guard.pid = pid;
    guard.socket = ends[0];
}

static void guard_send(const struct message *m)
{
    ssize_t ignored = send(guard.socket, m, sizeof(*m), MSG_NOSIGNAL);
    (void)ignored; /* If the write fails because the guard has died, launch_guard_start passes the
                      actions to another guard. */
}

/* Changes the list of the guard's actions, both in this process and in the guard. */
static void guard_change(const struct message *m)
{
    bool running = guard_is_running();

    duties_change(&guard.duties, m);
    if (running)
        guard_send(m);
    else
        launch_guard_start(); /* The new guard is a copy of this process, including its list of
                                 actions. */
}

void launch_guard_session(pid_t session)
{
    struct message m = {.kind = MESSAGE_SESSION, .session = session};

    guard_change(&m);
}

void launch_guard_tell_session(pid_t session)
{
    struct message m = {.kind = MESSAGE_SESSION, .session = session};

    if (guard.owner)
        guard_send(&m);
}

static void change_cleanup(struct message *m, void (*clean)(const char *name), const char *name)
{
    m->cleanup.clean = clean;
    int length = snprintf(m->cleanup.name, sizeof(m->cleanup.name), "%s", name);
    if (length >= 0 && (size_t)length < sizeof(m->cleanup.name))
        guard_change(m);
}

void launch_guard_add(void (*clean)(const char *name), const char *name)
{
    struct message m = {.kind = MESSAGE_ADD};

    change_cleanup(&m, clean, name);
}

void launch_guard_drop(void (*clean)(const char *name), const char *name)
{
    struct message m = {.kind = MESSAGE_DROP};

    change_cleanup(&m, clean, name);
}

int launch_guard_descriptor(void)
{
    return guard.owner == getpid() ? guard.socket : -1;
}

static int remove_entry(const char *path, const struct stat *unused, int kind, struct FTW *ftw)
{
    (void)unused;
    (void)kind;
    (void)ftw;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

int launch_remove_folder(const char *path)
{
    return nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT ? 0 : -1;
}

void launch_guard_remove_folder(const char *path)
{
    launch_remove_folder(path);
}
