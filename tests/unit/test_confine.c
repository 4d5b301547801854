/*
 * Tests the privileges that a server gives up, in a child process after both restrictions: what a
 * server needs must work, and nothing else.
 */
#include <arpa/inet.h>
#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "http_confine.h"
#include "testing.h"

/* The filter is not applied with sanitizers, because they need system calls that a server does not
 * need. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FILTERED false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FILTERED false
#endif
#endif
#if !defined(FILTERED) && (defined(__x86_64__) || defined(__aarch64__))
#define FILTERED true
#elif !defined(FILTERED)
#define FILTERED false
#endif

static char inside[] = "/tmp/howmany-in-XXXXXX", outside[] = "/tmp/howmany-out-XXXXXX";

/* Returns whether the kernel has Landlock. */
static bool has_land(void)
{
    return syscall(444, NULL, 0, 1) > 0;
}

static int write_file(const char *folder)
{
    char path[64];

    snprintf(path, sizeof(path), "%s/file", folder);
    int file = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
    if (file < 0)
        return -1;
    bool good = write(file, "a", 1) == 1 && ftruncate(file, 0) == 0 && fsync(file) == 0;
    close(file);
    return good && unlink(path) == 0 ? 0 : -1;
}

static void *nothing(void *data)
{
    return data;
}

/* Tries what a server must be able to do. Returns the number of the first attempt that fails; 0:
 * none. */
static int try_needed(void)
{
    pthread_t thread;
    int fds[2];

    if (write_file(inside) != 0)
        return 1;
    if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 2;
    if (!mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        return 3;
    if ((fds[0] = open("/etc/passwd", O_RDONLY)) < 0)
        return 4;
    close(fds[0]);
    return 0;
}

/* Returns whether a call failed with one of the errors that the restrictions give. */
static bool is_refused(long result)
{
    return result < 0 && (errno == EPERM || errno == EACCES);
}

/* Tries what Landlock forbids. */
static int try_files(void)
{
    char path[80];

    if (!is_refused(write_file(outside)))
        return 10;
    snprintf(path, sizeof(path), "%s/kept", outside);
    if (!is_refused(open(path, O_WRONLY)) || !is_refused(open(path, O_RDWR)))
        return 11;
    if (!is_refused(unlink(path)))
        return 12;
    if (!is_refused(rmdir(outside)))
        return 13;
    snprintf(path, sizeof(path), "%s/folder", inside);
    if (!is_refused(mkdir(path, 0700)))
        return 14;
    return 0;
}

/* Tries the system calls that the filter forbids. */
static int try_calls(void)
{
    char *const none[] = {NULL};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};

    if (!is_refused(execve("/bin/true", none, none)))
        return 20;
    if (!is_refused(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)))
        return 21;
    if (!is_refused(socket(AF_INET, SOCK_STREAM, 0)))
        return 22;
    if (!is_refused(connect(0, (struct sockaddr *)&to, sizeof(to))))
        return 23;
    if (!is_refused(kill(getppid(), 0)))
        return 24;
    if (!is_refused(
            (long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)))
        return 25;
    if (!is_refused(syscall(SYS_ptrace, 16, getppid(), 0, 0)))
        return 26;
    if (!is_refused(syscall(SYS_bpf, 0, NULL, 0)) || !is_refused(syscall(SYS_unshare, 0)) ||
        !is_refused(syscall(SYS_mount, "a", "/", "tmpfs", 0, NULL)) ||
        !is_refused(syscall(SYS_setuid, 0)) || !is_refused(syscall(SYS_io_uring_setup, 1, NULL)))
        return 27;
    if (!is_refused(syscall(SYS_tgkill, getppid(), getppid(), 0)))
        return 28;
    if (!is_refused(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)))
        return 29;
    return 0;
}

/* Tries to let the kernel send signals to another process, and to change files and processes
 * that are not the server's. */
static int try_others(bool connects)
{
    struct f_owner_ex owner = {.type = F_OWNER_PID, .pid = getppid()};
    int parent = getppid(), file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
    char path[80];

    if (!is_refused(fcntl(file, F_SETOWN, parent)) || !is_refused(fcntl(file, F_SETSIG, SIGKILL)) ||
        !is_refused(fcntl(file, F_SETOWN_EX, &owner)))
        return 32;
    if (connects && !is_refused(ioctl(file, FIOSETOWN, &parent)))
        return 33;
    if (connects && !is_refused(ioctl(file, SIOCSPGRP, &parent)))
        return 34;
    if (connects && !is_refused(ioctl(file, TIOCSTI, "x")))
        return 38;
    if (connects && !is_refused(ioctl(file, TIOCLINUX, "\3")))
        return 39;
    snprintf(path, sizeof(path), "%s/kept", outside);
    if (!is_refused(chmod(path, 0644)) || !is_refused(utimensat(AT_FDCWD, path, NULL, 0)))
        return 35;
    if (!is_refused(setpriority(PRIO_USER, 0, 0)) || !is_refused(setpriority(PRIO_PGRP, 0, 0)))
        return 36;
    if (fcntl(file, F_SETFD, FD_CLOEXEC) != 0 ||
        setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0)) != 0)
        return 37;
    close(file);
    return 0;
}

static int try_all(bool connects)
{
    char path[80];
    const char *files[] = {path, NULL};
    struct hm_err err = {0};
    int failed;

    snprintf(path, sizeof(path), "%s/store.db", inside);
    if (http_confine_files(files, 2, &err) || http_confine(connects, &err))
        return 99;
    if ((failed = try_needed()) == 0 && has_land())
        failed = try_files();
    if (failed || !FILTERED)
        return failed;
    if ((failed = try_others(connects)) != 0)
        return failed;
    if (!connects)
        return try_calls();
    int s = socket(AF_INET, SOCK_STREAM, 0);
    return s < 0 ? 30 : is_refused(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) ? 0 : 31;
}

static int run_child(bool connects)
{
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0)
        _exit(try_all(connects));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_rights(void **state)
{
    char path[80];

    (void)state;
    assert_non_null(mkdtemp(inside));
    assert_non_null(mkdtemp(outside));
    snprintf(path, sizeof(path), "%s/kept", outside);
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(file >= 0);
    close(file);
    if (!has_land())
        print_message("# this kernel has no Landlock: writing is not restricted\n");
    assert_int_equal(run_child(false), 0);
    assert_int_equal(run_child(true), 0);
    unlink(path);
    rmdir(outside);
    rmdir(inside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rights)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
