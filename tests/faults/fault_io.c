/*
 * Runs a command and makes one of its system calls on files fail.
 *
 *     fault_io K MODE FOLDER COUNT COMMAND…
 *
 * Calls on files in FOLDER are counted in the command and in all processes that it starts. With
 * MODE eio, the K-th call of open, read, write, truncate, sync, rename and link returns EIO. With
 * MODE full, every call from the K-th on that needs space (opening for creation, write, truncate,
 * rename, link) returns ENOSPC, as on a full disk. With MODE term or
 * kill, the process that makes the K-th call gets SIGTERM or SIGKILL and the call is made. K = 0
 * lets all calls succeed. The number of calls is written to the file COUNT. The exit status is that
 * of the command, or 128 plus the number of the signal that ended it, or 125 if the kernel does not
 * let system calls be watched.
 *
 * The kernel sends each of these calls to this process (seccomp, SECCOMP_RET_USER_NOTIF), so that
 * calls of the C library's streams and of SQLite are reached too.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WATCH_FAILED = 125 };

/* A system call on a file, which names the file by a descriptor in argument 0, or by a path in
 * another argument. */
struct call {
    long number;
    int path; /* Index of the argument with the path; -1: argument 0 is a descriptor. */
    bool needs_space;
    int flags; /* Index of the argument with the flags of open; -1: the call has no flags. */
};

static const struct call calls[] = {
#ifdef __NR_open
    {__NR_open, 0, false, 1},       {__NR_rename, 0, true, -1},    {__NR_link, 1, true, -1},
#endif
    {__NR_openat, 1, false, 2},     {__NR_renameat2, 1, true, -1}, {__NR_linkat, 3, true, -1},
    {__NR_read, -1, false, -1},     {__NR_pread64, -1, false, -1}, {__NR_write, -1, true, -1},
    {__NR_pwrite64, -1, true, -1},  {__NR_writev, -1, true, -1},   {__NR_ftruncate, -1, true, -1},
    {__NR_fallocate, -1, true, -1}, {__NR_fsync, -1, false, -1},   {__NR_fdatasync, -1, false, -1},
};

enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

struct watch {
    unsigned long k, count;
    bool full;
    int signal; /* Signal for the process that makes the K-th call; 0 if the call fails. */
    char folder[PATH_MAX];
    size_t folder_length;
};

/* ---- the command ---------------------------------------------------------------------------- */

/* Installs the seccomp filter. Returns the descriptor on which the system calls arrive, or -1. */
static int install_filter(void)
{
    struct sock_filter filter[CALLS + 3];
    unsigned short at = 0;

    filter[at++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < CALLS; i++) {
        unsigned char jump = (unsigned char)(CALLS - i);
        filter[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                    (unsigned)calls[i].number, jump, 0);
    }
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    struct sock_fprog program = {at, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &program);
}

/*
 * Executes the command under the filter. *passed_on is set to the number of the filter's descriptor
 * plus 1, or to -1. Then this process waits until the parent process has copied the descriptor.
 */
_Noreturn static void command_exec(char **argv, volatile int *passed_on)
{
    int listener = install_filter();

    *passed_on = listener < 0 ? -1 : listener + 1;
    while (*passed_on > 0)
        ;
    if (listener < 0)
        _exit(WATCH_FAILED);
    close(listener);
    execvp(argv[0], argv);
    _exit(127);
}

/* ---- the calls ------------------------------------------------------------------------------ */

static void read_link(const char *of, char *ret_path)
{
    ssize_t length = readlink(of, ret_path, PATH_MAX - 1);
    ret_path[length > 0 ? length : 0] = '\0';
}

/* Writes the path of the file that a system call names; empty if there is none. */
static void call_path(const struct seccomp_notif *n, const struct call *c, char *ret_path)
{
    char name[64], text[PATH_MAX] = "", folder[PATH_MAX];

    ret_path[0] = '\0';
    if (c->path < 0) {
        snprintf(name, sizeof(name), "/proc/%u/fd/%d", n->pid, (int)n->data.args[0]);
        read_link(name, ret_path);
        return;
    }
    snprintf(name, sizeof(name), "/proc/%u/mem", n->pid);
    int memory = open(name, O_RDONLY | O_CLOEXEC);
    if (memory < 0)
        return;
    ssize_t got = pread(memory, text, sizeof(text) - 1, (off_t)n->data.args[c->path]);
    close(memory);
    text[got > 0 ? got : 0] = '\0';
    snprintf(name, sizeof(name), "/proc/%u/cwd", n->pid);
    read_link(name, folder);
    if (text[0] == '/')
        snprintf(ret_path, PATH_MAX, "%s", text);
    else if (text[0])
        snprintf(ret_path, PATH_MAX, "%.*s/%.*s", PATH_MAX / 2 - 2, folder, PATH_MAX / 2 - 2, text);
}

/* Returns the error that a system call gets; 0: the call is made. */
static int call_error(struct watch *w, const struct seccomp_notif *n)
{
    const struct call *c = calls;
    char path[PATH_MAX];

    while (c->number != n->data.nr)
        c++;
    call_path(n, c, path);
    if (strncmp(path, w->folder, w->folder_length) != 0)
        return 0;
    bool creates = c->flags >= 0 && (n->data.args[c->flags] & O_CREAT);
    if (w->full && !c->needs_space && !creates)
        return 0;
    w->count++;
    if (w->k == 0 || (w->full ? w->count < w->k : w->count != w->k))
        return 0;
    if (w->signal)
        kill((pid_t)n->pid, w->signal);
    return w->signal ? 0 : w->full ? ENOSPC : EIO;
}

/* Receives one system call, and lets it succeed or fail. */
static void answer_call(struct watch *w, int listener)
{
    struct seccomp_notif n = {0};
    struct seccomp_notif_resp answer = {0};

    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) != 0)
        return; /* The process that made the call was killed meanwhile. */
    int error = call_error(w, &n);
    answer.id = n.id;
    answer.error = -error;
    answer.flags = error ? 0 : (__u32)SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* Answers system calls until the command ends. Returns the exit status of the command. */
static int watch_command(struct watch *w, int listener, pid_t pid)
{
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    int status = 0;

    while (waitpid(pid, &status, WNOHANG) == 0)
        if (poll(&ready, 1, 20) > 0 && (ready.revents & POLLIN))
            answer_call(w, listener);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int copy_listener(pid_t pid, volatile int *passed_on)
{
    while (*passed_on == 0)
        usleep(100);
    int pidfd = *passed_on > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    int listener = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, *passed_on - 1, 0);
    *passed_on = -1;
    return listener;
}

int main(int argc, char **argv)
{
    struct watch w = {0};

    if (argc < 6 || !realpath(argv[3], w.folder)) {
        fprintf(stderr, "usage: fault_io K eio|full|term|kill FOLDER COUNT COMMAND...\n");
        return WATCH_FAILED;
    }
    w.k = strtoul(argv[1], NULL, 10);
    w.full = strcmp(argv[2], "full") == 0;
    w.signal = strcmp(argv[2], "term") == 0 ? SIGTERM : strcmp(argv[2], "kill") == 0 ? SIGKILL : 0;
    w.folder_length = strlen(w.folder);
    volatile int *passed_on =
        mmap(NULL, sizeof(*passed_on), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (passed_on == MAP_FAILED)
        return WATCH_FAILED;
    pid_t pid = fork();
    if (pid == 0)
        command_exec(argv + 5, passed_on);
    int listener = copy_listener(pid, passed_on);
    if (listener < 0) {
        fprintf(stderr, "fault_io: cannot watch system calls: %s\n", strerror(errno));
        return WATCH_FAILED;
    }
    int code = watch_command(&w, listener, pid);
    FILE *count = fopen(argv[4], "w");
    if (count) {
        fprintf(count, "%lu\n", w.count);
        fclose(count);
    }
    return code;
}
