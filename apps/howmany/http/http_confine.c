/*
 * The seccomp filter of the server: a program for the kernel's packet filter that looks at the
 * number of each system call. New processes are recognised by the flags of clone. The flags of
 * clone3 are in memory, where a filter cannot see them, so clone3 is reported as not available, and
 * the C library uses clone instead.
 */
#include "http_confine.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "err.h"

#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#endif

/* Sanitizers start processes and trace their own threads. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#undef FILTER_ARCH
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#undef FILTER_ARCH
#endif
#endif

#ifdef FILTER_ARCH
static const unsigned forbidden[] = {
    SYS_execve,
    SYS_execveat,
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
#endif
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_setuid,
    SYS_setgid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_setgroups,
    SYS_capset,
    SYS_personality,
    SYS_acct,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_sethostname,
    SYS_setdomainname,
};

enum { FORBIDDEN = sizeof(forbidden) / sizeof(forbidden[0]), FILTER_MAX = 2 * FORBIDDEN + 32 };

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

/* Return an error if the loaded value, the number of a system call, equals `number`. */
static void filter_refuse(struct filter *f, unsigned number, unsigned error)
{
    filter_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    filter_return(f, SECCOMP_RET_ERRNO | error);
}

static void filter_write(struct filter *f, bool connects)
{
    filter_load(f, offsetof(struct seccomp_data, arch));
    filter_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCH, 1, 0));
    filter_return(f, SECCOMP_RET_KILL_PROCESS);
    filter_load(f, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    /* System calls of the x32 interface have this bit. */
    filter_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));
    filter_return(f, SECCOMP_RET_ERRNO | EPERM);
#endif
    for (size_t i = 0; i < FORBIDDEN; i++)
        filter_refuse(f, forbidden[i], EPERM);
    if (!connects)
        filter_refuse(f, SYS_connect, EPERM);
    filter_refuse(f, SYS_clone3, ENOSYS);
    filter_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0));
    filter_return(f, SECCOMP_RET_ALLOW);
    /* A clone must make a thread of this process. */
    filter_load(f, offsetof(struct seccomp_data, args));
    filter_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0));
    filter_return(f, SECCOMP_RET_ERRNO | EPERM);
    filter_return(f, SECCOMP_RET_ALLOW);
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
    /* A kernel without seccomp, or a container that forbids it, is not an error. */
    if (!filter_apply(connects) && errno != EINVAL && errno != ENOSYS && errno != EPERM)
        return hm__fail(err, HM_E_IO, "cannot restrict system calls: %s", strerror(errno));
    return 0;
}
