/*
 * Creates a laboratory (a cluster of network namespaces). The folder of the lab is created first:
 * it marks every namespace with the lab's name as part of the lab, so that `lab down` may remove
 * the namespaces even if this process is killed. Then the commands of the plan run; switches and
 * wires (wirefilter processes) keep running in the background. lab.json is written last and marks
 * the lab as complete. If this process is killed before that, its guard process removes the lab.
 *
 * Background processes have real-time priority, because a real network does not wait for
 * processors. With a dozen busy processes on two cores, round trips of 40 ms took 40.2 to 41.3 ms;
 * with the highest ordinary priority, they took 39.5 to 58 ms. A wire whose switch was killed uses
 * a whole core, so the kernel kills a background process that runs for three seconds without
 * sleeping. (In 20 s of the largest possible traffic, no process reached a limit of one second.)
 */
#include "lab_up.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "err.h"
#include "guard.h"
#include "json.h"
#include "lab_find.h"
#include "memory.h"
#include "text.h"

/* Time in seconds to wait until a switch (vde_switch) or a wire (wirefilter) is ready. */
static const double START_S = 10;

/* Names of the programs that a lab may need, each with its Debian package. */
static const char *const packages[][2] = {
    {"ip", "iproute2"},     {"tc", "iproute2"},     {"unshare", "util-linux"},
    {"vde_switch", "vde2"}, {"wirefilter", "vde2"},
};

/* ---- programs ------------------------------------------------------------------------------- */

static bool is_installed(const char *program)
{
    const char *path = getenv("PATH");
    char file[4200];

    for (const char *at = path ? path : ""; *at;) {
        size_t length = strcspn(at, ":");
        snprintf(file, sizeof(file), "%.*s/%s", (int)(length < 4000 ? length : 0), at, program);
        if (access(file, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

static int check_program(const char *program, struct hm_err *err)
{
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
        if (strcmp(program, packages[i][0]) != 0 || is_installed(program))
            continue;
        hm__fail(err, HM_E_IO, "%s is not installed", program);
        hm__err_hint(err, "on Debian it is in the package %s: apt-get install %s", packages[i][1],
                     packages[i][1]);
        return HM_E_IO;
    }
    return 0;
}

int lab_check_programs(const struct lab_plan *plan, struct hm_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < plan->count; i++)
        for (size_t k = 0; rc == 0 && k < plan->steps[i].command.count; k++)
            rc = check_program(plan->steps[i].command.argv[k], err);
    return rc;
}

/* ---- foreground commands -------------------------------------------------------------------- */

/* Returns the last line of the standard error of a program, for a message. */
static const char *last_line(char *tail)
{
    size_t length = strlen(tail);

    while (length > 0 && (tail[length - 1] == '\n' || tail[length - 1] == ' '))
        tail[--length] = '\0';
    const char *newline = strrchr(tail, '\n');
    return newline ? newline + 1 : tail;
}

static int fail_step(struct launch_child *child, const struct launch_command *command,
                     struct hm_err *err)
{
    struct hm_text line = {0};
    const char *said = last_line(child->tail);

    if (child->end == LAUNCH_CHILD_INTERRUPTED)
        return hm__fail(err, HM_E_IO, "interrupted");
    launch_command_quote(&line, command);
    hm__fail(err, HM_E_IO, "'%.200s' failed: %.200s", line.data ? line.data : "",
             child->end == LAUNCH_CHILD_NOT_STARTED ? strerror(child->code)
             : said[0]                              ? said
                                                    : "it printed no error message");
    hm__text_release(&line);
    return HM_E_IO;
}

static int run_step(const struct lab_step *step, struct hm_err *err)
{
    struct launch_child *child = hm__calloc(1, sizeof(*child));
    int rc = child ? 0 : hm__fail_nomem(err);

    if (rc == 0) {
        child->argv = step->command.argv;
        child->timeout_s = 60;
        rc = launch_child_run(child, err);
    }
    if (rc == 0 && (child->end != LAUNCH_CHILD_EXITED || child->code != 0))
        rc = fail_step(child, &step->command, err);
    hm__free(child);
    return rc;
}

int lab_has_netem(bool *ret_has, struct hm_err *err)
{
    struct lab_step step = {0};
    struct hm_err why = {0};
    int rc = check_program("unshare", err);

    rc = rc ? rc : check_program("tc", err);
    rc = rc ? rc
            : launch_command_split(&step.command,
                                   "unshare --net tc qdisc add dev lo root netem delay 1ms", err);
    if (rc == 0)
        *ret_has = run_step(&step, &why) == 0;
    launch_command_release(&step.command);
    return rc;
}

/* ---- background commands -------------------------------------------------------------------- */

/* Sets real-time priority if that is allowed, otherwise the highest ordinary priority. */
static void raise_priority(void)
{
    /* Limit of processor time that a process may use without sleeping, in microseconds; if it is
     * exceeded, the kernel ends the process. */
    const struct rlimit busy = {.rlim_cur = 3000000, .rlim_max = 3000000};
    const struct sched_param lowest = {.sched_priority = 1};

    if (setrlimit(RLIMIT_RTTIME, &busy) != 0 || sched_setscheduler(0, SCHED_RR, &lowest) != 0)
        setpriority(PRIO_PROCESS, 0, -20);
}

/*
 * Executes a background command. Its standard input is a pipe, and the command itself has the write
 * end, so that it never reads an end of file, at which a switch would exit. Its output is written
 * to a file.
 */
_Noreturn static void exec_step(const struct lab_step *step, const char *log)
{
    sigset_t none;
    int ends[2];

    setsid();
    /* If the parent is killed now, its guard ends this process, which lab_remove could not find
     * yet. */
    launch_guard_tell_session(getpid());
    raise_priority();
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* If the command inherited the write end of a pipe of this process, the reader of that pipe
     * would never read an end of file. */
    close_range(STDERR_FILENO + 1, ~0U, 0);
    int file = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || pipe(ends) != 0 || chdir("/") != 0)
        _exit(126);
    dup2(ends[0], STDIN_FILENO);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    execvp(step->command.argv[0], step->command.argv);
    _exit(127);
}

static int fail_background_step(const struct lab_step *step, const char *log, const char *what,
                                struct hm_err *err)
{
    struct launch_child child = {.end = LAUNCH_CHILD_EXITED};
    FILE *file = fopen(log, "r");
    size_t length = file ? fread(child.tail, 1, sizeof(child.tail) - 1, file) : 0;

    if (file)
        fclose(file);
    child.tail[length] = '\0';
    if (length == 0)
        snprintf(child.tail, sizeof(child.tail), "%s", what);
    return fail_step(&child, &step->command, err);
}

/* Waits until a background command is ready. */
static int await_background_step(const struct lab_step *step, const char *log, pid_t pid,
                                 struct hm_err *err)
{
    const struct timespec pause = {.tv_nsec = 2000000};

    for (double waited = 0; access(step->ready, F_OK) != 0; waited += 2e-3) {
        if (waitpid(pid, NULL, WNOHANG) == pid)
            return fail_background_step(step, log, "it ended while starting", err);
        if (waited > START_S)
            return fail_background_step(step, log, "it is not ready after 10 s", err);
        if (launch_interrupted())
            return hm__fail(err, HM_E_IO, "interrupted");
        nanosleep(&pause, NULL);
    }
    return 0;
}

/* Starts a background command, and waits until it is ready. From then on, lab_remove finds it. */
static int start_background_step(const struct lab_step *step, const char *log, pid_t *ret_pid,
                                 struct hm_err *err)
{
    pid_t pid = fork();

    if (pid < 0)
        return hm__fail(err, HM_E_IO, "cannot start a process: %s", strerror(errno));
    if (pid == 0)
        exec_step(step, log);
    *ret_pid = pid;
    launch_guard_session(pid);
    int rc = await_background_step(step, log, pid, err);
    launch_guard_session(0);
    return rc;
}

/* ---- files ---------------------------------------------------------------------------------- */

static int write_lab_file(const char *name, const char *file, struct hm_text *text,
                          struct hm_err *err)
{
    char path[LAB_TEXT];
    int rc = text->failed ? hm__fail_nomem(err) : 0;
    FILE *out = rc ? NULL : fopen(lab_path(name, file, path), "we");

    /* These files are readable by everyone, because programs on a node may run without root. */
    bool written = out && fchmod(fileno(out), 0644) == 0 &&
                   fwrite(text->data, 1, text->length, out) == text->length;
    if (out)
        written = fclose(out) == 0 && written;
    if (rc == 0 && !written)
        rc = hm__fail(err, HM_E_IO, "cannot write %s: %s", path, strerror(errno));
    hm__text_release(text);
    return rc;
}

static int write_hosts(const struct lab_spec *spec, struct hm_err *err)
{
    struct hm_text hosts = {0};

    lab_hosts_text(spec, &hosts);
    int rc = write_lab_file(spec->name, "hosts", &hosts, err);
    for (size_t n = 1; rc == 0 && n <= spec->n; n++) {
        struct hm_text text = {0};
        char path[LAB_TEXT];
        lab_hostfile_text(spec, n, &text);
        rc = write_lab_file(spec->name, strrchr(lab_hostfile(spec->name, n, path), '/') + 1, &text,
                            err);
    }
    return rc;
}

static int write_spec(const struct lab_spec *spec, struct hm_err *err)
{
    struct hm_text text = {0};
    struct hm_json json = {.out = &text};

    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    lab_spec_put(spec, &json);
    hm__json_close(&json);
    hm__text_add(&text, "\n");
    return write_lab_file(spec->name, "lab.json", &text, err);
}

int lab_lock(const char *name)
{
    char path[LAB_TEXT];
    int fd = open(lab_path(name, NULL, path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/*
 * Runs all commands of the plan in order, then checks that the background commands are still
 * running.
 */
static int run_steps(const struct lab_spec *spec, const struct lab_plan *plan, struct hm_err *err)
{
    char file[32], log[LAB_TEXT];
    pid_t *pids = hm__calloc(plan->count, sizeof(*pids));
    int rc = pids ? 0 : hm__fail_nomem(err);

    for (size_t i = 0; rc == 0 && i < plan->count; i++) {
        snprintf(file, sizeof(file), "log-%zu", i + 1);
        lab_path(spec->name, file, log);
        rc = plan->steps[i].background ? start_background_step(&plan->steps[i], log, &pids[i], err)
                                       : run_step(&plan->steps[i], err);
    }
    for (size_t i = 0; rc == 0 && i < plan->count; i++) {
        if (!plan->steps[i].background || waitpid(pids[i], NULL, WNOHANG) == 0)
            continue;
        snprintf(file, sizeof(file), "log-%zu", i + 1);
        rc = fail_background_step(&plan->steps[i], lab_path(spec->name, file, log), "it has ended",
                                  err);
    }
    hm__free(pids);
    return rc;
}

static int make_lab_folder(const struct lab_spec *spec, struct hm_err *err)
{
    char path[LAB_TEXT];

    /* mkdir fails if the folder exists already because of other labs; this is not an error. */
    mkdir(LAB_FOLDER, 0755);
    if (mkdir(lab_path(spec->name, NULL, path), 0755) == 0)
        return 0;
    return hm__fail(err, HM_E_IO, "cannot make %s: %s", path, strerror(errno));
}

/* Removes an incomplete lab; called by the guard process after this process was killed. */
static void remove_unfinished(const char *name)
{
    char path[LAB_TEXT];

    if (access(lab_path(name, "lab.json", path), F_OK) != 0)
        lab_remove(name, NULL);
}

int lab_up(const struct lab_spec *spec, const struct lab_plan *plan, struct hm_err *err)
{
    struct hm_err undo = {0};
    int rc = make_lab_folder(spec, err);

    if (rc)
        return rc;
    launch_guard_add(remove_unfinished, spec->name);
    int lock = lab_lock(spec->name);
    rc = write_hosts(spec, err);
    rc = rc ? rc : run_steps(spec, plan, err);
    rc = rc ? rc : write_spec(spec, err);
    if (rc && lab_remove(spec->name, &undo) != 0)
        hm__err_hint(err, "removing what was created failed too: %.200s", undo.message);
    if (lock >= 0)
        close(lock);
    launch_guard_drop(remove_unfinished, spec->name);
    return rc;
}
