/*
 * Executes one training run. The ranks run in a child process whose output is passed on. When a
 * rank dies and restarts were requested, the run continues from its last checkpoint.
 */
#include "train_session.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "child.h"

/*
 * Time in seconds after which mpirun is considered stuck; normally, it reacts to a dead rank
 * immediately.
 */
static const double LAUNCHER_STUCK_S = 5;

void train_session_init(struct train_session *s)
{
    *s = (struct train_session){0};
    train_options_init(&s->options);
    s->launch.ranks.workers = 1;
    s->launch.precision = 64;
    s->output.file = -1;
}

void train_session_release(struct train_session *s)
{
    train_launch_release(&s->launch);
    train_output_end(&s->output);
    hm_cluster_free(s->cluster);
    cli_machine_release(&s->cluster_job);
}

/* Returns the rank that mpirun reports as dead on its standard error; -1 if it reports none. */
static int read_dead_rank(const char *tail)
{
    static const char phrase[] = "process rank ";
    const char *at = strstr(tail, phrase);
    double rank;

    if (!at || hm__number_read(at + sizeof(phrase) - 1, &rank) == 0)
        return -1;
    return (int)rank;
}

/*
 * Prints the error messages of the ranks without the launcher's messages. Returns false if the
 * ranks wrote none.
 */
static bool print_rank_errors(const char *tail)
{
    bool any = false, ours = false;

    while (*tail) {
        size_t length = strcspn(tail, "\n");
        ours = strncmp(tail, "howmany: ", 9) == 0 || (ours && tail[0] == ' ');
        if (ours)
            fprintf(stderr, "%.*s\n", (int)length, tail);
        any = any || ours;
        tail += length + (tail[length] == '\n');
    }
    return any;
}

/* Reports how a run that did not finish ended. Returns the rank that died; -1 if not known. */
static int report_death(const struct train_session *s, const struct launch_child *child)
{
    int rank = read_dead_rank(child->tail);
    bool other = rank >= s->launch.ranks.workers;
    const char *how = child->end == LAUNCH_CHILD_SIGNALLED ? strsignal(child->code) : "";

    if (rank >= 0)
        cli_complain("train: rank %d%s has died", rank,
                     !other                                      ? ""
                     : s->options.platform == HM_PLATFORM_SERVER ? ", a server,"
                                                                 : ", the driver,");
    else if (child->end == LAUNCH_CHILD_STUCK)
        cli_complain("train: a rank has died and its launcher hangs");
    else if (child->end == LAUNCH_CHILD_SIGNALLED)
        cli_complain("train: the run was ended by a signal: %s", how);
    else
        cli_complain("train: the run ended with status %d:\n%s", child->code, child->tail);
    return rank;
}

/* Runs the ranks once. Returns -1 if a rank died, otherwise the exit code. */
static int run_ranks_once(struct train_session *s, bool resume, int *ret_rank)
{
    struct launch_command command = {0};
    struct hm_err err = {0};
    int rc = train_launch_command(&s->launch, resume, &command);

    if (rc)
        return rc;
    struct launch_child child = {.argv = command.argv,
                                 .stuck_s = LAUNCHER_STUCK_S,
                                 .line = train_output_line,
                                 .context = &s->output};
    cli_progress_say(&s->output.progress, "starting the ranks");
    rc = launch_child_run(&child, &err);
    cli_progress_end(&s->output.progress);
    if (rc == 0 && child.end == LAUNCH_CHILD_NOT_STARTED)
        snprintf(err.message, sizeof(err.message), "train: %s does not start: %s", command.argv[0],
                 strerror(child.code));
    launch_command_release(&command);
    if (rc || err.message[0])
        return cli_report(&err);
    if (child.end == LAUNCH_CHILD_INTERRUPTED)
        return s->output.failed ? EXIT_USAGE : EXIT_INTERRUPTED;
    if (child.end == LAUNCH_CHILD_EXITED && child.code <= EXIT_USAGE &&
        (child.code != EXIT_USAGE || print_rank_errors(child.tail)) &&
        (child.code == EXIT_USAGE || s->output.finished))
        return child.code;
    *ret_rank = report_death(s, &child);
    return -1;
}

static int run_ranks(struct train_session *s)
{
    bool resume = s->options.resume;

    for (double restart = 0;; restart++) {
        int rank = -1, rc = run_ranks_once(s, resume, &rank);
        if (rc >= 0)
            return rc;
        if (restart >= s->restarts)
            break;
        resume = access(s->options.checkpoint, F_OK) == 0;
        fprintf(stderr, "howmany: train: restarting %s\n",
                resume ? "from the checkpoint" : "from the beginning");
        train_output_restart(&s->output, restart + 1, rank);
    }
    if (s->restarts > 0)
        cli_complain("train: no restarts are left");
    return EXIT_NO_ANSWER;
}

int train_session_print_command(const struct train_session *s)
{
    struct launch_command command = {0};
    struct hm_text line = {0};
    int rc = train_launch_command(&s->launch, s->options.resume, &command);

    if (rc == 0 && (launch_command_quote(&line, &command) || line.failed))
        rc = cli_complain("out of memory");
    hm__text_add(&line, "\n");
    if (rc == 0 && !cli_put(line.data))
        rc = EXIT_USAGE;
    hm__text_release(&line);
    launch_command_release(&command);
    return rc;
}

/* Returns whether workers may compute with stale parameters, that is, with parameters that are not
 * the newest. */
static bool may_be_stale(const struct train_options *o)
{
    const struct hm_serving *serving = &o->serving;

    return o->platform == HM_PLATFORM_SERVER &&
           (serving->consistency == HM_CONSISTENCY_ASYNC ||
            (serving->consistency == HM_CONSISTENCY_SSP && serving->staleness > 0));
}

int train_session_run(struct train_session *s)
{
    s->output.stale = may_be_stale(&s->options);
    s->output.backups = s->options.serving.backups > 0;
    int rc = train_output_begin(&s->output);
    if (rc)
        return rc;
    if (s->launch.oversubscribed && isatty(STDERR_FILENO))
        fprintf(stderr,
                "howmany: %.0f ranks share the cores of this machine: the trained model is right, "
                "but the times mean little; --simulate gives times\n",
                s->launch.ranks.workers + s->launch.ranks.others);
    launch_interrupt_begin();
    rc = run_ranks(s);
    launch_interrupt_end();
    int stored = train_output_store(&s->output);
    return rc ? rc : stored;
}
