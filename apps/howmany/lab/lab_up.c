/*
 * Making a laboratory. The folder comes first: it says that all that bears the lab's name is the
 * lab's, so that `lab down` may remove it even if nobody finished here. Then the commands of the
 * plan; most end at once, switches and wires stay. Last comes what says that it is complete,
 * lab.json.
 *
 * Processes that stay get real-time priority, since a network does not wait for processors. With a
 * dozen busy processes on two cores, round trips of 40 ms took 40.2 to 41.3 ms; with the highest
 * priority of ordinary processes 39.5 to 58. A wire whose switch is killed spins, so that there is
 * a limit: three seconds without a moment's rest, and it is killed as well. (20 s of as much
 * traffic as goes through did not reach a limit of one second.)
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
#include "lab_find.h"
#include "memory.h"
#include "text.h"

static const double START_S = 10; /* for a switch or a wire to be ready */

/* Where Debian has the programs. */
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
        for (size_t k = 0; rc == 0 && k < plan->steps[i].words.count; k++)
            rc = check_program(plan->steps[i].words.words[k], err);
    return rc;
}

/* ---- commands that end ---------------------------------------------------------------------- */

/* The last line of what it said, for a message. */
static const char *last_words(char *tail)
{
    size_t length = strlen(tail);

    while (length > 0 && (tail[length - 1] == '\n' || tail[length - 1] == ' '))
        tail[--length] = '\0';
    const char *newline = strrchr(tail, '\n');
    return newline ? newline + 1 : tail;
}

static int fail_command(struct cli_child *child, const struct cli_words *words, struct hm_err *err)
{
    struct hm_text line = {0};
    const char *said = last_words(child->tail);

    if (child->end == CLI_CHILD_INTERRUPTED)
        return hm__fail(err, HM_E_IO, "interrupted");
    cli_words_quote(&line, words);
    hm__fail(err, HM_E_IO, "'%.200s' failed: %.200s", line.data ? line.data : "",
             child->end == CLI_CHILD_NOT_STARTED ? strerror(child->code)
             : said[0]                           ? said
                                                 : "it did not say why");
    hm__text_release(&line);
    return HM_E_IO;
}

static int run_step(const struct lab_step *step, struct hm_err *err)
{
    struct cli_child *child = hm__calloc(1, sizeof(*child));
    int rc = child ? 0 : hm__fail_nomem(err);

    if (rc == 0) {
        child->argv = step->words.words;
        child->timeout_s = 60;
        rc = cli_child_run(child, err);
    }
    if (rc == 0 && (child->end != CLI_CHILD_EXITED || child->code != 0))
        rc = fail_command(child, &step->words, err);
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
            : cli_words_split(&step.words, "unshare --net tc qdisc add dev lo root netem delay 1ms",
                              err);
    if (rc == 0)
        *ret_has = run_step(&step, &why) == 0;
    cli_words_release(&step.words);
    return rc;
}

/* ---- processes that stay -------------------------------------------------------------------- */

/* Before all ordinary processes; where that is not allowed, before most of them. */
static void go_first(void)
{
    const struct rlimit busy = {.rlim_cur = 3000000, .rlim_max = 3000000}; /* microseconds */
    const struct sched_param lowest = {.sched_priority = 1};

    if (setrlimit(RLIMIT_RTTIME, &busy) != 0 || sched_setscheduler(0, SCHED_RR, &lowest) != 0)
        setpriority(PRIO_PROCESS, 0, -20);
}

/*
 * Input that never ends and never comes: a pipe whose other end it holds itself. (Switches take the
 * end of their input for the end of their work.) All they say goes to a file.
 */
_Noreturn static void become(const struct lab_step *step, const char *log)
{
    sigset_t none;
    int ends[2];

    setsid();
    go_first();
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    close_range(STDERR_FILENO + 1, ~0U, 0); /* nobody shall wait for what it would keep open */
    int file = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || pipe(ends) != 0 || chdir("/") != 0)
        _exit(126);
    dup2(ends[0], STDIN_FILENO);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    execvp(step->words.words[0], step->words.words);
    _exit(127);
}

static int fail_start(const struct lab_step *step, const char *log, const char *what,
                      struct hm_err *err)
{
    struct cli_child child = {.end = CLI_CHILD_EXITED};
    FILE *file = fopen(log, "r");
    size_t length = file ? fread(child.tail, 1, sizeof(child.tail) - 1, file) : 0;

    if (file)
        fclose(file);
    child.tail[length] = '\0';
    if (length == 0)
        snprintf(child.tail, sizeof(child.tail), "%s", what);
    return fail_command(&child, &step->words, err);
}

/* Start it, and wait until it works. */
static int start_step(const struct lab_step *step, const char *log, pid_t *ret_pid,
                      struct hm_err *err)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    pid_t pid = fork();

    if (pid < 0)
        return hm__fail(err, HM_E_IO, "cannot start a process: %s", strerror(errno));
    if (pid == 0)
        become(step, log);
    *ret_pid = pid;
    for (double waited = 0; access(step->ready, F_OK) != 0; waited += 2e-3) {
        if (waitpid(pid, NULL, WNOHANG) == pid)
            return fail_start(step, log, "it ended at once", err);
        if (waited > START_S)
            return fail_start(step, log, "it is not ready after 10 s", err);
        if (cli_interrupted())
            return hm__fail(err, HM_E_IO, "interrupted");
        nanosleep(&pause, NULL);
    }
    return 0;
}

/* ---- files ---------------------------------------------------------------------------------- */

static int write_file(const char *name, const char *file, struct hm_text *text, struct hm_err *err)
{
    char path[LAB_TEXT];
    int rc = text->failed ? hm__fail_nomem(err) : 0;
    FILE *out = rc ? NULL : fopen(lab_place(name, file, path), "we");

    /* Whoever is on a node reads them, also without root. */
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
    int rc = write_file(spec->name, "hosts", &hosts, err);
    for (size_t n = 1; rc == 0 && n <= spec->n; n++) {
        struct hm_text text = {0};
        char path[LAB_TEXT];
        lab_hostfile_text(spec, n, &text);
        rc =
            write_file(spec->name, strrchr(lab_hostfile(spec->name, n, path), '/') + 1, &text, err);
    }
    return rc;
}

static int write_spec(const struct lab_spec *spec, struct hm_err *err)
{
    struct hm_text text = {0};

    lab_spec_json(spec, &text);
    hm__text_add(&text, "}\n");
    return write_file(spec->name, "lab.json", &text, err);
}

int lab_lock(const char *name)
{
    char place[LAB_TEXT];
    int fd = open(lab_place(name, NULL, place), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Steps in order; then those that stay must still be there. */
static int run_steps(const struct lab_spec *spec, const struct lab_plan *plan, struct hm_err *err)
{
    char file[32], log[LAB_TEXT];
    pid_t *pids = hm__calloc(plan->count, sizeof(*pids));
    int rc = pids ? 0 : hm__fail_nomem(err);

    for (size_t i = 0; rc == 0 && i < plan->count; i++) {
        snprintf(file, sizeof(file), "log-%zu", i + 1);
        lab_place(spec->name, file, log);
        rc = plan->steps[i].stays ? start_step(&plan->steps[i], log, &pids[i], err)
                                  : run_step(&plan->steps[i], err);
    }
    for (size_t i = 0; rc == 0 && i < plan->count; i++) {
        if (!plan->steps[i].stays || waitpid(pids[i], NULL, WNOHANG) == 0)
            continue;
        snprintf(file, sizeof(file), "log-%zu", i + 1);
        rc = fail_start(&plan->steps[i], lab_place(spec->name, file, log), "it has ended", err);
    }
    hm__free(pids);
    return rc;
}

static int claim(const struct lab_spec *spec, struct hm_err *err)
{
    char place[LAB_TEXT];

    mkdir(LAB_PLACES, 0755); /* there may be other labs */
    if (mkdir(lab_place(spec->name, NULL, place), 0755) == 0)
        return 0;
    return hm__fail(err, HM_E_IO, "cannot make %s: %s", place, strerror(errno));
}

int lab_up(const struct lab_spec *spec, const struct lab_plan *plan, struct hm_err *err)
{
    struct hm_err undo = {0};
    int rc = claim(spec, err);

    if (rc)
        return rc;
    int lock = lab_lock(spec->name);
    rc = write_hosts(spec, err);
    rc = rc ? rc : run_steps(spec, plan, err);
    rc = rc ? rc : write_spec(spec, err);
    if (rc && lab_remove(spec->name, &undo) != 0)
        hm__err_hint(err, "and it could not be undone: %.200s", undo.message);
    if (lock >= 0)
        close(lock);
    return rc;
}
