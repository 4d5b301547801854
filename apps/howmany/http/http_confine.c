/*
 * Installs the seccomp filter of the server: a program for the kernel's packet filter that examines
 * the number and some arguments of each system call, and allows only the calls in a list. New
 * processes are recognised by the flags of clone. The flags of clone3 are in memory, where a filter
 * cannot read them, so the filter reports clone3 as not available, and the C library uses clone
 * instead.
 */
#include "http_confine.h"

#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "err.h"

#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#endif

/* There is no filter in builds with sanitizers, because they start processes and trace their own
 * threads. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#undef FILTER_ARCH
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#undef FILTER_ARCH
#endif
#endif

#ifdef FILTER_ARCH
/* System calls that exist only on some processors. On the others, the list contains SYS_read
 * instead, which is allowed anyway. */
#ifdef SYS_open
#define OLD_CALLS                                                                                  \
    SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_poll, SYS_select, SYS_unlink, SYS_rename,       \
        SYS_mkdir, SYS_rmdir, SYS_readlink, SYS_epoll_wait, SYS_getrlimit, SYS_time, SYS_getdents
#else
#define OLD_CALLS SYS_read
#endif

static const unsigned allowed[] = {
    /* System calls for memory and threads. */
    SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_futex, SYS_set_robust_list, SYS_rseq,
    SYS_exit, SYS_exit_group, SYS_sched_yield, SYS_sched_getaffinity, SYS_gettid, SYS_getpid,
    SYS_getpriority, SYS_membarrier, SYS_restart_syscall,
    /* System calls for the signals of this process. */
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigtimedwait, SYS_sigaltstack,
    /*
     * System calls for clocks, random numbers, and information about the process and the machine.
     */
    SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday,
    SYS_getrandom, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_uname, SYS_sysinfo,
    SYS_getrusage, SYS_times, SYS_umask,
    /* System calls for files, as needed by the store, the C library and SQLite. */
    SYS_openat, SYS_close, SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64,
    SYS_lseek, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_fstatfs, SYS_faccessat, SYS_faccessat2,
    SYS_unlinkat, SYS_renameat, SYS_renameat2, SYS_mkdirat, SYS_ftruncate, SYS_fallocate, SYS_fsync,
    SYS_fdatasync, SYS_flock, SYS_fchmod, SYS_fchown, SYS_getdents64, SYS_readlinkat, SYS_getcwd,
    SYS_dup, SYS_dup3, OLD_CALLS,
    /* System calls for connections that were accepted. */
    SYS_accept4, SYS_recvfrom, SYS_recvmsg, SYS_sendto, SYS_sendmsg, SYS_shutdown, SYS_setsockopt,
    SYS_getsockopt, SYS_getsockname, SYS_getpeername, SYS_epoll_pwait, SYS_epoll_ctl, SYS_eventfd2,
    SYS_ppoll, SYS_pselect6};

/*
 * Additional system calls that a store on another machine needs, to connect and to resolve the host
 * name, for which the C library loads shared libraries.
 */
static const unsigned allowed_connects[] = {SYS_socket,   SYS_connect, SYS_bind,    SYS_sendmmsg,
                                            SYS_recvmmsg, SYS_mmap,    SYS_mprotect};

/* Commands that let the kernel send signals to another process, so that a server could end it. */
static const unsigned signals_by_fcntl[] = {F_SETOWN, F_SETSIG, F_SETOWN_EX};
/* The same, and commands that put text into the input of the terminal, where a shell runs it. */
static const unsigned others_by_ioctl[] = {FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCLINUX};

enum {
    ALLOWED = sizeof(allowed) / sizeof(allowed[0]),
    ALLOWED_CONNECTS = sizeof(allowed_connects) / sizeof(allowed_connects[0]),
    FILTER_MAX = 2 * (ALLOWED + ALLOWED_CONNECTS) + 64
};

struct filter {
    struct sock_filter steps[FILTER_MAX];
    unsigned short count;
};

static void filter_add(struct filter *f, struct sock_filter step)
{
    f->steps[f->count++] = step;
}

static void filter_load(struct filter *f, size_t offset)
{
    filter_add(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void filter_return(struct filter *f, unsigned action)
{
    filter_add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/*
 * Adds an instruction to the filter that returns `action` if the value that was loaded, such as the
 * number of the system call, equals `value`.
 */
static void filter_on(struct filter *f, unsigned value, unsigned action)
{
    filter_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    filter_return(f, action);
}

/*
 * Allows a system call depending on the low 32 bits of one of its arguments. The test is BPF_JEQ
 * (the argument equals `value`) or BPF_JSET (the argument and `value` have a bit in common); the
 * call is allowed if the test has the given result.
 */
static void filter_argument(struct filter *f, unsigned number, size_t argument, unsigned short test,
                            unsigned value, bool result)
{
    const unsigned yes = SECCOMP_RET_ALLOW, no = SECCOMP_RET_ERRNO | EPERM;

    filter_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4));
    filter_load(f, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t));
    filter_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | test | BPF_K, value, 0, 1));
    filter_return(f, result ? yes : no);
    filter_return(f, result ? no : yes);
}

/*
 * Allows a system call unless the low 32 bits of its argument 1, the command, are one of `count`
 * values.
 */
static void filter_commands(struct filter *f, unsigned number, const unsigned *denied, size_t count)
{
    filter_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0,
                                               (unsigned char)(2 * count + 2)));
    filter_load(f, offsetof(struct seccomp_data, args) + sizeof(uint64_t));
    for (size_t i = 0; i < count; i++)
        filter_on(f, denied[i], SECCOMP_RET_ERRNO | EPERM);
    filter_return(f, SECCOMP_RET_ALLOW);
}

static void filter_write(struct filter *f, bool connects)
{
    filter_load(f, offsetof(struct seccomp_data, arch));
    filter_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCH, 1, 0));
    filter_return(f, SECCOMP_RET_KILL_PROCESS);
    filter_load(f, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < ALLOWED; i++)
        filter_on(f, allowed[i], SECCOMP_RET_ALLOW);
    for (size_t i = 0; connects && i < ALLOWED_CONNECTS; i++)
        filter_on(f, allowed_connects[i], SECCOMP_RET_ALLOW);
    filter_on(f, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
    /* clone is allowed only if it creates a thread of this process, and tgkill only if the signal
     * is for this process. Priorities are those of a thread, not of a group or a user. Memory must
     * not be mapped as executable, unless shared libraries may be loaded. */
    filter_argument(f, SYS_clone, 0, BPF_JSET, CLONE_THREAD, true);
    filter_argument(f, SYS_tgkill, 0, BPF_JEQ, (unsigned)getpid(), true);
    filter_argument(f, SYS_setpriority, 0, BPF_JEQ, PRIO_PROCESS, true);
    filter_commands(f, SYS_fcntl, signals_by_fcntl,
                    sizeof(signals_by_fcntl) / sizeof(signals_by_fcntl[0]));
    if (connects)
        filter_commands(f, SYS_ioctl, others_by_ioctl,
                        sizeof(others_by_ioctl) / sizeof(others_by_ioctl[0]));
    filter_argument(f, SYS_mmap, 2, BPF_JSET, PROT_EXEC, false);
    filter_argument(f, SYS_mprotect, 2, BPF_JSET, PROT_EXEC, false);
    filter_return(f, SECCOMP_RET_ERRNO | EPERM);
}

static bool filter_apply(bool connects)
{
    struct filter f = {.count = 0};

    filter_write(&f, connects);
    struct sock_fprog program = {.len = f.count, .filter = f.steps};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}
#else
static bool filter_apply(bool connects)
{
    (void)connects;
    return true;
}
#endif

int http_confine(bool connects, struct hm_err *err)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return hm__fail(err, HM_E_IO, "cannot give up privileges: %s", strerror(errno));
    /*
     * If the kernel has no seccomp, or a container forbids it, the server runs without the filter.
     */
    if (!filter_apply(connects) && errno != EINVAL && errno != ENOSYS && errno != EPERM)
        return hm__fail(err, HM_E_IO, "cannot restrict system calls: %s", strerror(errno));
    return 0;
}
