/* Tests child processes: their results, their output, and that no process outlives them. */
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "guard.h"
#include "memory.h"

enum { HANG_S = 30 }; /* Seconds of a sleep that the tests must end before it is over. */

struct heard {
    size_t lines, bytes, longest;
    char first[64], last[64];
    double first_s, last_s;
};

static void hear(void *context, const char *line, double seconds)
{
    struct heard *h = context;
    size_t length = strlen(line);

    if (h->lines++ == 0) {
        snprintf(h->first, sizeof(h->first), "%s", line);
        h->first_s = seconds;
    }
    assert_true(seconds >= h->last_s);
    snprintf(h->last, sizeof(h->last), "%s", line);
    h->last_s = seconds;
    h->bytes += length;
    h->longest = length > h->longest ? length : h->longest;
}

static struct launch_child run_words(char *const *argv, double timeout_s, struct heard *heard)
{
    struct launch_child child = {.argv = argv,
                                 .timeout_s = timeout_s,
                                 .line = heard ? hear : NULL,
                                 .context = heard,
                                 .end = LAUNCH_CHILD_INTERRUPTED,
                                 .tail = "of before"};
    struct hm_err err = {0};

    if (launch_child_run(&child, &err))
        fail_msg("%s", err.message);
    assert_true(child.seconds < HANG_S);
    return child;
}

static struct launch_child run_sh(const char *script, double timeout_s, struct heard *heard)
{
    char *copy = strdup(script);
    char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, copy, NULL};

    assert_non_null(copy);
    struct launch_child child = run_words(argv, timeout_s, heard);
    free(copy);
    child.argv = NULL;
    return child;
}

static void pause_s(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

/* ---- a file in which a command writes the ids of its processes ------------------------------- */

static char pid_file[64];

static int make_pid_file(void **state)
{
    (void)state;
    snprintf(pid_file, sizeof(pid_file), "/tmp/howmany-child-XXXXXX");
    int fd = mkstemp(pid_file);
    if (fd < 0)
        return -1;
    close(fd);
    return setenv("PID_FILE", pid_file, 1);
}

static int remove_pid_file(void **state)
{
    (void)state;
    return unlink(pid_file);
}

/*
 * Returns whether a process has ended. A zombie counts, because process 1 decides when it is
 * reaped.
 */
static bool is_gone(long pid)
{
    char path[64], line[256] = "";

    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return kill((pid_t)pid, 0) != 0;
    bool read = fgets(line, sizeof(line), file);
    fclose(file);
    const char *state = strrchr(line, ')');
    return !read || !state || state[2] == 'Z' || state[2] == 'X';
}

/* Waits until every process in the file has ended; SIGKILL does not take effect at once. */
static void assert_all_gone(size_t wanted)
{
    char line[32];
    size_t count = 0;
    FILE *file = fopen(pid_file, "r");

    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        long pid = strtol(line, NULL, 10);
        assert_true(pid > 1);
        for (int i = 0; i < 500 && !is_gone(pid); i++)
            pause_s(0.01);
        assert_true(is_gone(pid));
        count++;
    }
    fclose(file);
    assert_int_equal(count, wanted);
}

/* ---- ends ----------------------------------------------------------------------------------- */

static void exit_codes_are_returned(void **state)
{
    (void)state;
    for (int code = 0; code < 256; code += 51) {
        char script[32];
        snprintf(script, sizeof(script), "exit %d", code);
        struct launch_child child = run_sh(script, 0, NULL);
        assert_int_equal(child.end, LAUNCH_CHILD_EXITED);
        assert_int_equal(child.code, code);
        assert_true(child.seconds > 0);
        assert_string_equal(child.tail, "");
    }
    assert_int_equal(run_sh("exit 127", 0, NULL).end, LAUNCH_CHILD_EXITED);
}

static void signals_and_exit_codes_are_distinguished(void **state)
{
    struct launch_child child = run_sh("kill -9 $$", 0, NULL);

    (void)state;
    assert_int_equal(child.end, LAUNCH_CHILD_SIGNALLED);
    assert_int_equal(child.code, SIGKILL);
    child = run_sh("kill -USR1 $$", 0, NULL);
    assert_int_equal(child.end, LAUNCH_CHILD_SIGNALLED);
    assert_int_equal(child.code, SIGUSR1);
}

static void commands_that_cannot_start_are_errors(void **state)
{
    char *const missing[] = {(char[]){"no-such-program-here"}, NULL};
    char *const folder[] = {(char[]){"/"}, NULL};
    char *const empty[] = {(char[]){""}, NULL};
    struct heard heard = {0};
    struct launch_child child = run_words(missing, 5, &heard);

    (void)state;
    assert_int_equal(child.end, LAUNCH_CHILD_NOT_STARTED);
    assert_int_equal(child.code, ENOENT);
    assert_int_equal(heard.lines, 0);
    assert_string_equal(child.tail, "");
    child = run_words(folder, 0, NULL);
    assert_int_equal(child.end, LAUNCH_CHILD_NOT_STARTED);
    assert_int_equal(child.code, EACCES);
    child = run_words(empty, 0, NULL);
    assert_int_equal(child.end, LAUNCH_CHILD_NOT_STARTED);
    assert_int_equal(child.code, ENOENT);
    /* The guard is running, and there is no other child that could be reaped. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), 0);
}

static void time_and_memory_are_counted(void **state)
{
    struct launch_child child =
        run_sh("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", 0, NULL);

    (void)state;
    assert_true(child.cpu_s > 0);
    /* The command has one thread, so its processor time cannot exceed the real time; the tolerance
     * covers coarse clocks. */
    assert_true(child.cpu_s <= child.seconds + 0.1);
    assert_true(child.peak_bytes > 100e3);
    child = run_sh("sleep 0.2", 0, NULL);
    assert_true(child.seconds >= 0.2);
}

/* ---- output ---------------------------------------------------------------------------------- */

static void lines_arrive_one_by_one(void **state)
{
    struct heard heard = {0};

    (void)state;
    run_sh("printf 'a\\n\\nb\\r\\nc'", 0, &heard);
    assert_int_equal(heard.lines, 4);
    assert_int_equal(heard.bytes, 3);
    assert_string_equal(heard.first, "a");
    assert_string_equal(heard.last, "c"); /* The last line has no newline. */
    heard = (struct heard){0};
    run_sh("printf 'a\\nb\\n'", 0, &heard);
    assert_int_equal(heard.lines, 2); /* The newline at the end does not begin another line. */
    heard = (struct heard){0};
    run_sh(":", 0, &heard);
    assert_int_equal(heard.lines, 0);
    heard = (struct heard){0};
    run_sh("printf 'x\\0y\\n'", 0, &heard);
    assert_string_equal(heard.first, "x?y");
}

static void lines_have_their_time(void **state)
{
    struct heard heard = {0};
    struct launch_child child = run_sh("echo a; sleep 0.3; echo b", 0, &heard);

    (void)state;
    assert_int_equal(heard.lines, 2);
    assert_true(heard.first_s > 0);
    assert_true(heard.last_s >= 0.3);
    assert_true(heard.last_s - heard.first_s > 0.1);
    assert_true(heard.last_s <= child.seconds + 1);
}

static void long_lines_are_truncated(void **state)
{
    struct heard heard = {0};

    (void)state;
    run_sh("head -c 300000 /dev/zero | tr '\\0' x; echo; echo short", 0, &heard);
    assert_int_equal(heard.lines, 2);
    assert_int_equal(heard.longest, LAUNCH_CHILD_LINE);
    assert_string_equal(heard.last, "short");
    heard = (struct heard){0};
    run_sh("head -c 65536 /dev/zero", 0,
           /* The output has NUL bytes and no newline, and is exactly as long as a line may be. */
           &heard);
    assert_int_equal(heard.lines, 1);
    assert_int_equal(heard.longest, LAUNCH_CHILD_LINE);
}

static void large_output_on_both_pipes_is_read(void **state)
{
    struct heard heard = {0};
    struct launch_child child =
        run_sh("yes 123456789 | head -c 10000000 & yes error | head -c 10000000 >&2; wait; exit 3",
               0, &heard);

    (void)state;
    assert_int_equal(child.end, LAUNCH_CHILD_EXITED);
    assert_int_equal(child.code, 3);
    assert_int_equal(heard.lines, 1000000);
    assert_int_equal(heard.bytes, 9000000);
    assert_int_equal(strlen(child.tail), LAUNCH_CHILD_TAIL - 1);
    /* Output is read even without a callback. */
    assert_int_equal(run_sh("yes | head -c 10000000", 0, NULL).code, 0);
}

static void the_end_of_standard_error_is_kept(void **state)
{
    struct launch_child child = run_sh("echo one >&2; sleep 0.05; printf 'two\\0x' >&2", 0, NULL);

    (void)state;
    assert_string_equal(child.tail, "one\ntwo?x");
    child = run_sh("for i in $(seq 2000); do echo $i >&2; done", 0, NULL);
    assert_int_equal(strlen(child.tail), LAUNCH_CHILD_TAIL - 1);
    assert_string_equal(child.tail + LAUNCH_CHILD_TAIL - 1 - 10, "1999\n2000\n");
}

/* Runs a script with a pipe as the standard error of this process; copies its bytes into `said`. */
static void run_shown(const char *script, bool show, char *said, size_t room)
{
    char *copy = strdup(script);
    char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, copy, NULL};
    struct launch_child child = {.argv = argv, .show = show};
    int ends[2], kept = dup(STDERR_FILENO);

    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    int rc = launch_child_run(&child, NULL);
    dup2(kept, STDERR_FILENO);
    close(kept);
    ssize_t got = read(ends[0], said, room - 1);
    close(ends[0]);
    free(copy);
    assert_int_equal(rc, 0);
    said[got > 0 ? got : 0] = '\0';
}

static void output_is_forwarded_on_request(void **state)
{
    char said[64];

    (void)state;
    run_shown("echo out; sleep 0.1; echo error >&2", true, said, sizeof(said));
    assert_string_equal(said, "out\nerror\n");
    run_shown("echo out; echo error >&2", false, said, sizeof(said));
    assert_string_equal(said, "");
}

/* ---- environment of the command -------------------------------------------------------------- */

static void standard_input_is_empty(void **state)
{
    struct heard heard = {0};
    struct launch_child child = run_sh("cat; readlink /proc/self/fd/0", 0, &heard);

    (void)state;
    assert_int_equal(child.end, LAUNCH_CHILD_EXITED);
    assert_string_equal(heard.last, "/dev/null");
}

/* Returns the number of open files that every command inherits besides the three standard streams;
 * the environment of the tests may leave some open. */
static size_t inherited(void)
{
    size_t count = 0;

    for (int fd = STDERR_FILENO + 1; fd < 1024; fd++) {
        int flags = fcntl(fd, F_GETFD);
        count += flags >= 0 && !(flags & FD_CLOEXEC);
    }
    return count;
}

static void no_other_descriptor_is_open(void **state)
{
    struct heard heard = {0};
    char *const argv[] = {(char[]){"ls"}, (char[]){"/proc/self/fd"}, NULL};

    (void)state;
    run_words(argv, 0, &heard);
    /* The command lists its standard streams, the folder that it opens, and inherited files. */
    assert_int_equal(heard.lines, 4 + inherited());
}

static void the_child_leads_its_own_group(void **state)
{
    struct heard heard = {0};
    char own[32];

    (void)state;
    run_sh("echo $$; cut -d' ' -f5 /proc/$$/stat", 0, &heard);
    assert_string_equal(heard.first, heard.last);
    heard = (struct heard){0};
    /* The command is the leader of its own session. */
    run_sh("echo $$; cut -d' ' -f6 /proc/$$/stat", 0, &heard);
    assert_string_equal(heard.first, heard.last);
    snprintf(own, sizeof(own), "%ld", (long)getpgrp());
    assert_string_not_equal(heard.first, own);
}

static void the_child_has_default_signals(void **state)
{
    struct heard heard = {0};
    sigset_t set, before;

    (void)state;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &before);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGUSR2, SIG_IGN);
    run_sh("grep -E '^Sig(Blk|Ign):' /proc/self/status", 0, &heard);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGUSR2, SIG_DFL);
    assert_string_equal(heard.first, "SigBlk:\t0000000000000000");
    /* Signals 32 and 33 are reserved by the C library, and some programs ignore them. */
    unsigned long long ignored = strtoull(heard.last + strlen("SigIgn:"), NULL, 16);
    assert_int_equal(ignored & ~(3ull << 31), 0);
    sigprocmask(SIG_SETMASK, &before, &set); /* The signal mask of this process is unchanged. */
    assert_true(sigismember(&set, SIGUSR1));
    assert_false(sigismember(&set, SIGINT));
    assert_false(sigismember(&set, SIGCHLD));
}

/* If this process has no standard streams, its pipes get the descriptors 0, 1 and 2. */
static void closed_standard_streams_do_no_harm(void **state)
{
    int status = 0;
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        struct heard heard = {0};
        char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char[]){"cat; echo a; echo b >&2"},
                              NULL};
        struct launch_child child = {.argv = argv, .line = hear, .context = &heard};
        close(0);
        close(1);
        close(2);
        int rc = launch_child_run(&child, NULL);
        _exit(rc == 0 && strcmp(heard.first, "a") == 0 && strcmp(child.tail, "b\n") == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* ---- timeouts -------------------------------------------------------------------------------- */

static void a_timeout_ends_it_and_its_children(void **state)
{
    struct heard heard = {0};
    struct launch_child child = run_sh("sleep 300 & echo $! >>$PID_FILE; echo $$ >>$PID_FILE;"
                                       "(sleep 300 & echo $! >>$PID_FILE; wait) & echo begun; wait",
                                       1, &heard);

    (void)state;
    assert_int_equal(child.end, LAUNCH_CHILD_TIMED_OUT);
    assert_int_equal(child.code, SIGTERM);
    assert_string_equal(heard.first, "begun");
    assert_all_gone(3);
}

static void a_timeout_allows_cleanup(void **state)
{
    struct heard heard = {0};
    struct launch_child child =
        run_sh("trap 'echo tidy; exit 5' TERM; while :; do sleep 0.05; done", 0.5, &heard);

    (void)state;
    assert_int_equal(child.end, LAUNCH_CHILD_TIMED_OUT);
    assert_int_equal(child.code, 5);
    assert_string_equal(heard.last, "tidy");
}

/* A program that replaces a shell by exec inherits a child of the shell and never reaps it. */
static void a_launcher_that_ignores_a_dead_rank_is_ended(void **state)
{
    static const char *const scripts[] = {"sleep 0.1 & exec sleep 30", "sleep 30 & exec sleep 1",
                                          "for i in 1 2 3; do sleep 0.3; done"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char *copy = strdup(scripts[i]);
        char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, copy, NULL};
        struct launch_child child = {.argv = argv, .stuck_s = 0.6, .timeout_s = 20};
        assert_non_null(copy);
        assert_int_equal(launch_child_run(&child, NULL), 0);
        assert_int_equal(child.end, i == 0 ? LAUNCH_CHILD_STUCK : LAUNCH_CHILD_EXITED);
        free(copy);
    }
}

static void one_that_ignores_the_request_is_killed(void **state)
{
    struct launch_child child =
        run_sh("trap '' TERM; sleep 300 & echo $! >>$PID_FILE; echo $$ >>$PID_FILE; wait; wait",
               0.3, NULL);

    (void)state;
    assert_int_equal(child.end, LAUNCH_CHILD_TIMED_OUT);
    assert_int_equal(child.code, SIGKILL);
    assert_true(child.seconds >= 2);
    assert_all_gone(2);
}

static void a_child_that_closed_its_output_is_waited_for(void **state)
{
    struct launch_child child = run_sh("exec >&- 2>&-; sleep 0.3; exit 4", 10, NULL);

    (void)state;
    assert_int_equal(child.end, LAUNCH_CHILD_EXITED);
    assert_int_equal(child.code, 4);
    assert_true(child.seconds >= 0.3);
}

static void what_it_leaves_behind_is_ended(void **state)
{
    struct heard heard = {0};
    struct launch_child child =
        run_sh("sleep 300 & echo $! >>$PID_FILE; printf done; exit 2", 0, &heard);

    (void)state;
    assert_int_equal(child.end, LAUNCH_CHILD_EXITED); /* Another process has the pipe open. */
    assert_int_equal(child.code, 2);
    assert_string_equal(heard.first, "done");
    assert_all_gone(1);
}

static void one_in_a_group_of_its_own_is_ended(void **state)
{
    struct launch_child child =
        run_sh("set -m; sleep 300 >/dev/null 2>&1 & echo $! >>$PID_FILE", 0, NULL);

    (void)state;
    assert_int_equal(child.end, LAUNCH_CHILD_EXITED);
    assert_all_gone(1);
}

/* Simulates the death of the parent with a process between the test and the command. */
static void it_does_not_outlive_us(void **state)
{
    (void)state;
    pid_t between = fork();
    assert_true(between >= 0);
    if (between == 0) {
        run_sh("echo $$ >>$PID_FILE; exec sleep 300", 0, NULL);
        _exit(0);
    }
    pause_s(0.5);
    assert_int_equal(kill(between, SIGKILL), 0);
    assert_int_equal(waitpid(between, NULL, 0), between);
    assert_all_gone(1);
}

/* Kills a process that runs a script; if `guard_too` is true, kills its guard first. */
static void kill_runner(const char *script, bool guard_too)
{
    pid_t between = fork();

    assert_true(between >= 0);
    if (between == 0) {
        run_sh(script, 0, NULL);
        _exit(0);
    }
    pause_s(0.5);
    if (guard_too) {
        char command[100];
        snprintf(command, sizeof(command), "pkill -9 -P %ld howmany-guard", (long)between);
        assert_int_equal(system(command), 0); // NOLINT: the command has no input from outside.
        pause_s(0.3);
    }
    assert_int_equal(kill(between, SIGKILL), 0);
    assert_int_equal(waitpid(between, NULL, 0), between);
}

static void its_children_do_not_outlive_us(void **state)
{
    (void)state;
    kill_runner("sleep 300 & echo $! >>$PID_FILE; (set -m; sleep 300 & echo $! >>$PID_FILE; wait) &"
                "(trap '' TERM; sleep 300) & echo $! >>$PID_FILE; wait",
                false);
    pause_s(2.2); /* SIGKILL follows SIGTERM after 2 s. */
    assert_all_gone(3);
}

static void another_guard_replaces_one_that_was_killed(void **state)
{
    (void)state;
    kill_runner("sleep 300 & echo $! >>$PID_FILE; wait", true);
    assert_all_gone(1);
}

static void note_cleanup(const char *name)
{
    FILE *file = fopen(name, "w");

    if (file)
        fclose(file);
}

static void the_guard_calls_what_was_registered(void **state)
{
    char folder[] = "/tmp/howmany-test-XXXXXX", dropped[64], made[64];
    const struct timespec pause = {.tv_nsec = 10000000};

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(dropped, sizeof(dropped), "%s-dropped", folder);
    snprintf(made, sizeof(made), "%s-made", folder);
    pid_t between = fork();
    assert_true(between >= 0);
    if (between == 0) {
        launch_guard_add(launch_guard_remove_folder, folder);
        launch_guard_add(note_cleanup, dropped);
        launch_guard_add(note_cleanup, made);
        launch_guard_drop(note_cleanup, dropped);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(between, NULL, 0), between);
    for (int i = 0; i < 500 && (access(made, F_OK) != 0 || access(folder, F_OK) == 0); i++)
        nanosleep(&pause, NULL);
    assert_int_equal(access(folder, F_OK), -1);
    assert_int_equal(access(made, F_OK), 0);
    assert_int_equal(access(dropped, F_OK), -1);
    assert_int_equal(unlink(made), 0);
}

static void quiet_ones_left_behind_are_ended(void **state)
{
    struct launch_child child = run_sh("sleep 300 >&- 2>&- & echo $! >>$PID_FILE", 0, NULL);

    (void)state;
    assert_int_equal(child.end, LAUNCH_CHILD_EXITED);
    assert_all_gone(1);
}

/* A process that leaves the session cannot be ended, but it must not block the call. */
static void a_detached_grandchild_does_not_block(void **state)
{
    struct launch_child child = run_sh("setsid sleep 3 & yes | head -c 100000", 0, NULL);

    (void)state;
    assert_int_equal(child.end, LAUNCH_CHILD_EXITED);
}

/* ---- interruption ---------------------------------------------------------------------------- */

static pid_t signal_us_after(double seconds, int signal_number)
{
    pid_t us = getpid(), helper = fork();

    if (helper == 0) {
        pause_s(seconds);
        kill(us, signal_number);
        _exit(0);
    }
    assert_true(helper > 0);
    return helper;
}

static void assert_interrupted(const char *script, double after_s, int signal_number)
{
    launch_interrupt_begin();
    assert_false(launch_interrupted());
    pid_t helper = signal_us_after(after_s, signal_number);
    struct launch_child child = run_sh(script, 0, NULL);
    assert_int_equal(child.end, LAUNCH_CHILD_INTERRUPTED);
    assert_true(launch_interrupted());
    assert_int_equal(waitpid(helper, NULL, 0), helper);
    launch_interrupt_end();
}

static void an_interruption_ends_it(void **state)
{
    (void)state;
    assert_interrupted("sleep 300 & echo $! >>$PID_FILE; wait", 0.5, SIGINT);
    assert_all_gone(1);
    assert_interrupted("sleep 300", 0.2, SIGTERM);
    assert_interrupted("exec >&- 2>&-; sleep 300", 0.2, SIGINT);
    assert_interrupted("trap '' TERM INT; sleep 300; sleep 300", 0.2, SIGINT);
}

static void hear_slowly(void *context, const char *line, double seconds)
{
    (void)line;
    (void)seconds;
    ++*(size_t *)context;
    pause_s(0.005);
}

/* The command writes faster than its output is read, so the pipe always has data. */
static void an_interruption_ends_a_busy_child(void **state)
{
    char *const argv[] = {(char[]){"sh"}, (char[]){"-c"},
                          (char[]){"exec yes $(head -c 30000 /dev/zero | tr '\\0' x)"}, NULL};
    size_t lines = 0;
    struct launch_child child = {.argv = argv, .line = hear_slowly, .context = &lines};

    (void)state;
    launch_interrupt_begin();
    pid_t helper = signal_us_after(0.5, SIGINT);
    assert_int_equal(launch_child_run(&child, NULL), 0);
    assert_int_equal(waitpid(helper, NULL, 0), helper);
    launch_interrupt_end();
    assert_int_equal(child.end, LAUNCH_CHILD_INTERRUPTED);
    assert_true(lines > 0);
    assert_true(child.seconds < HANG_S);
}

static void an_interruption_at_any_time_is_handled(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++)
        assert_interrupted("sleep 300", 1e-4 * i, SIGINT);
}

static void after_an_interruption_nothing_starts(void **state)
{
    (void)state;
    launch_interrupt_begin();
    raise(SIGINT);
    assert_true(launch_interrupted());
    struct launch_child child = run_sh("echo x >>$PID_FILE", 0, NULL);
    assert_int_equal(child.end, LAUNCH_CHILD_INTERRUPTED);
    assert_all_gone(0);
    launch_interrupt_end();
    assert_false(launch_interrupted());
    assert_int_equal(run_sh("exit 6", 0, NULL).code, 6);
}

static void signal_handlers_are_restored(void **state)
{
    struct sigaction now;

    (void)state;
    signal(SIGTERM, SIG_IGN);
    launch_interrupt_begin();
    launch_interrupt_begin(); /* A second call changes nothing. */
    raise(SIGTERM);           /* The signal was ignored before and must stay ignored. */
    assert_false(launch_interrupted());
    launch_interrupt_end();
    launch_interrupt_end();
    sigaction(SIGTERM, NULL, &now);
    assert_true(now.sa_handler == SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    sigaction(SIGINT, NULL, &now);
    assert_true(now.sa_handler == SIG_DFL);
    run_sh(":", 0, NULL);
    sigaction(SIGCHLD, NULL, &now);
    assert_true(now.sa_handler == SIG_DFL);
}

/* ---- failures of this process ---------------------------------------------------------------- */

/* Runs a command while only `more` further files can be opened. Returns true if it failed for this
 * reason. */
static bool refused_with_room(rlim_t more)
{
    char *const argv[] = {(char[]){"true"}, NULL};
    struct launch_child child = {.argv = argv};
    struct hm_err err = {0};
    struct rlimit before, few;
    int next = dup(STDERR_FILENO); /* `next` is the lowest free descriptor. */

    close(next);
    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    few.rlim_cur = (rlim_t)next + more;
    setrlimit(RLIMIT_NOFILE, &few);
    int rc = launch_child_run(&child, &err);
    setrlimit(RLIMIT_NOFILE, &before);
    if (rc == 0)
        return false;
    assert_int_equal(rc, HM_E_IO);
    assert_non_null(strstr(err.message, "cannot create a pipe"));
    return true;
}

static void failures_of_the_parent_are_errors(void **state)
{
    struct launch_child child = {.end = LAUNCH_CHILD_EXITED};
    struct hm_err err = {0};

    (void)state;
    hm__alloc_fail_after(0);
    assert_int_equal(launch_child_run(&child, &err), HM_E_NOMEM);
    hm__alloc_fail_after(-1);
    assert_int_equal(child.end, LAUNCH_CHILD_NOT_STARTED);
    for (rlim_t more = 0; more < 6; more++)
        assert_true(refused_with_room(more));
    assert_false(refused_with_room(10)); /* The failed calls left no pipe open. */
}

int main(void)
{
    signal(SIGINT, SIG_DFL); /* Background jobs of a shell ignore SIGINT, which the tests send. */
#define WITH_PIDS(test) cmocka_unit_test_setup_teardown(test, make_pid_file, remove_pid_file)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_codes_are_returned),
        cmocka_unit_test(signals_and_exit_codes_are_distinguished),
        cmocka_unit_test(commands_that_cannot_start_are_errors),
        cmocka_unit_test(time_and_memory_are_counted),
        cmocka_unit_test(lines_arrive_one_by_one),
        cmocka_unit_test(lines_have_their_time),
        cmocka_unit_test(long_lines_are_truncated),
        cmocka_unit_test(large_output_on_both_pipes_is_read),
        cmocka_unit_test(the_end_of_standard_error_is_kept),
        cmocka_unit_test(output_is_forwarded_on_request),
        cmocka_unit_test(standard_input_is_empty),
        cmocka_unit_test(no_other_descriptor_is_open),
        cmocka_unit_test(the_child_leads_its_own_group),
        cmocka_unit_test(the_child_has_default_signals),
        cmocka_unit_test(closed_standard_streams_do_no_harm),
        WITH_PIDS(a_timeout_ends_it_and_its_children),
        cmocka_unit_test(a_timeout_allows_cleanup),
        cmocka_unit_test(a_launcher_that_ignores_a_dead_rank_is_ended),
        WITH_PIDS(one_that_ignores_the_request_is_killed),
        cmocka_unit_test(a_child_that_closed_its_output_is_waited_for),
        WITH_PIDS(what_it_leaves_behind_is_ended),
        WITH_PIDS(one_in_a_group_of_its_own_is_ended),
        WITH_PIDS(it_does_not_outlive_us),
        WITH_PIDS(its_children_do_not_outlive_us),
        WITH_PIDS(another_guard_replaces_one_that_was_killed),
        cmocka_unit_test(the_guard_calls_what_was_registered),
        WITH_PIDS(quiet_ones_left_behind_are_ended),
        cmocka_unit_test(a_detached_grandchild_does_not_block),
        WITH_PIDS(an_interruption_ends_it),
        cmocka_unit_test(an_interruption_ends_a_busy_child),
        cmocka_unit_test(an_interruption_at_any_time_is_handled),
        WITH_PIDS(after_an_interruption_nothing_starts),
        cmocka_unit_test(signal_handlers_are_restored),
        cmocka_unit_test(failures_of_the_parent_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
