/*
 * howmany train: a distributed algorithm on real ranks or on simulated ones.
 *
 * Everything that can be wrong is looked for before any rank starts. The ranks are another program,
 * run as a child: what they print is handed on, and when one of them dies, the run goes on from its
 * last checkpoint if that was asked for.
 */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine.h"
#include "child.h"
#include "format.h"
#include "train_launch.h"
#include "train_watch.h"

static const double LAUNCHER_STUCK_S = 5; /* mpirun notices a dead rank within a moment */

struct train_state {
    struct train_options options;
    struct train_launch launch;
    struct train_watch watch;
    struct cli_job cluster_job; /* --set and the catalog */
    struct hm_cluster *cluster;
    const char *simulate;
    double restarts;
    bool json, text, dry_run, precision_given;
    int given[TRAIN_RANKS * 2]; /* options of the ranks, in their order */
    const char *values[TRAIN_RANKS * 2];
    size_t given_count;
};

static void *begin(void)
{
    struct train_state *s = calloc(1, sizeof(*s));

    if (s) {
        train_options_init(&s->options);
        s->launch.ranks.workers = 1;
        s->launch.precision = 64;
        s->watch.file = -1;
    }
    return s;
}

static void end(void *state)
{
    struct train_state *s = state;

    train_launch_release(&s->launch);
    train_watch_end(&s->watch);
    hm_cluster_free(s->cluster);
    cli_job_release(&s->cluster_job);
    free(s);
}

/* ---- options -------------------------------------------------------------------------------- */

static int read_precision(struct train_state *s, const char *value)
{
    double bits;

    if (cli_quantity("precision", value, HM_DIM_NONE, &bits))
        return EXIT_USAGE;
    if (bits != 16 && bits != 32 && bits != 64)
        return cli_complain("--precision: '%s' is not 64, 32 or 16", value);
    s->launch.precision = (int)bits;
    s->precision_given = true;
    return 0;
}

static int accept_own(struct train_state *s, int option, const char *value)
{
    switch (option) {
    case TRAIN_N:
        return cli_whole("n", value, 1, 100000, &s->launch.ranks.workers);
    case TRAIN_SIMULATE:
        s->simulate = value;
        return 0;
    case TRAIN_PRECISION:
        return read_precision(s, value);
    case TRAIN_SET:
        return cli_cluster_set(&s->cluster_job, value);
    case TRAIN_SIMGRID_FILES:
        s->launch.platform_folder = value;
        return 0;
    case TRAIN_LAUNCHER:
        s->launch.launcher = value;
        return 0;
    case TRAIN_RESTARTS:
        return cli_whole("restarts", value, 0, 1000, &s->restarts);
    case TRAIN_RECORD:
        s->watch.record = value;
        return 0;
    default:
        *(option == TRAIN_JSON ? &s->json : option == TRAIN_TEXT ? &s->text : &s->dry_run) = true;
        return 0;
    }
}

/* Our table begins after those that are hidden. */
static int accept(void *state, int own_option, const char *value)
{
    struct train_state *s = state;
    int option = own_option + TRAIN_HIDDEN;

    if (own_option < 0)
        return cli_complain("train: '%s' is not an option; the data is given by --data", value);
    if (option >= TRAIN_RANKS)
        return accept_own(s, option, value);
    if (s->given_count == sizeof(s->given) / sizeof(s->given[0]))
        return cli_complain("train: too many options");
    s->given[s->given_count] = option;
    s->values[s->given_count++] = value;
    return train_options_accept(&s->options, option, value);
}

/* ---- before it starts ----------------------------------------------------------------------- */

static int load_cluster(struct train_state *s)
{
    if (!s->simulate) {
        if (s->cluster_job.set_count > 0)
            return cli_complain("--set: changes the cluster of --simulate, and there is none");
        if (s->precision_given)
            return cli_complain("--precision: is of the cluster of --simulate, and there is none");
        return s->launch.platform_folder
                   ? cli_complain(
                         "--simgrid-files: describe the cluster of --simulate, and there is none")
                   : 0;
    }
    if (s->launch.launcher)
        return cli_complain("--launcher: simulated ranks are started by SimGrid");
    if (s->dry_run && !s->launch.platform_folder)
        return cli_complain("--dry-run: with --simulate, the command names files that "
                            "--simgrid-files FOLDER keeps");
    s->cluster_job.catalog = cli_catalog_load();
    if (!s->cluster_job.catalog)
        return EXIT_USAGE;
    int rc = cli_cluster_load(&s->cluster_job, s->simulate, &s->cluster);
    s->launch.cluster = s->cluster;
    return rc;
}

/* Bytes that are free on this machine, negative if unknown. */
static double free_memory(void)
{
    char line[200];
    double kilobytes = -1;
    FILE *file = fopen("/proc/meminfo", "r");

    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, "MemAvailable:", 13) == 0)
            hm__number_read(line + 13 + strspn(line + 13, " \t"), &kilobytes);
    if (file)
        fclose(file);
    return kilobytes < 0 ? -1 : 1024 * kilobytes;
}

/* Bytes of the rows of all ranks, and of the vectors as long as w that each rank has. */
static double memory_needed(const struct train_state *s, const struct hm_data_shape *shape)
{
    const struct train_options *o = &s->options;
    double all = shape->rows * shape->features,
           outputs = train_problem_loss(o->problem) ? 1 : (double)shape->classes;
    double pairs = o->settings.memory > 0 ? o->settings.memory : o->algorithm->defaults.memory;
    double unknowns = shape->features * outputs, vectors = 6 + 2 * pairs;
    double ranks = s->launch.ranks.workers;

    if (o->platform == HM_PLATFORM_SERVER) /* two letters of each worker, at the servers */
        vectors += 5;

    if (o->problem == TRAIN_PERCEPTRON) /* the first layer has most of them */
        return 12 * all + 8 * vectors * ranks * shape->features * (double)o->layers.hidden[0];
    double rows = train_keeps_sparse(o, shape) ? 12 * shape->entries + 16 * shape->rows : 8 * all;
    return rows + 8 * vectors * ranks * unknowns;
}

/* All ranks are on this machine, unless a launcher puts them elsewhere. */
static int check_memory(const struct train_state *s, const struct hm_data_shape *shape)
{
    double bytes = memory_needed(s, shape), available = free_memory();
    char needed[HM_SHOWN], there[HM_SHOWN];

    if (s->launch.launcher || available < 0 || bytes <= available)
        return 0;
    return cli_complain("train: this needs some %s of memory, and %s are free here",
                        hm__show_bytes(bytes, needed), hm__show_bytes(available, there));
}

/* Read all data once: every row is checked before any rank starts. */
static int scan(struct train_state *s)
{
    struct hm_err err = {0};
    struct hm_data_shape *shape = calloc(1, sizeof(*shape));
    struct hm_text word = {0};
    int rc = shape ? hm__data_scan(&s->options.data, shape, &err) : HM_E_NOMEM;

    rc = rc ? rc : train_labels_check(&s->options, shape, &err);
    if (rc == 0 && s->options.has_test) {
        struct hm_data_shape *test = calloc(1, sizeof(*test));
        rc = test ? hm__data_scan(&s->options.test, test, &err) : HM_E_NOMEM;
        free(test);
    }
    rc = rc ? cli_report(&err) : train_servers_check(&s->options, shape);
    rc = rc ? rc : check_memory(s, shape);
    if (rc == 0) {
        train_shape_write(&word, shape);
        rc = word.failed ? cli_complain("out of memory")
                         : train_launch_option(&s->launch, "scanned", word.data);
    }
    hm__text_release(&word);
    free(shape);
    return rc;
}

/* A field is made or read whole once, by one rank's eyes. */
static int look_at_field(struct train_state *s)
{
    struct hm_err err = {0};
    struct hm_mrf *mrf = NULL;
    int rc = train_field_load(&s->options, 0, 1, &mrf, &err);

    hm__mrf_free(mrf);
    return rc ? cli_report(&err) : 0;
}

/* Hours of iterations must not end at a file that cannot be written. Where a launcher puts the
 * ranks, there may be other folders. */
static int check_folder(const struct train_state *s, const char *option, const char *path)
{
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof(folder), "%s", path);

    if (length <= 0 || (size_t)length >= sizeof(folder))
        return cli_complain("--%s: '%s' is not the name of a file", option, path);
    if (s->launch.launcher || access(dirname(folder), W_OK | X_OK) == 0)
        return 0;
    return cli_complain("--%s: %s cannot be written: %s", option, path, strerror(errno));
}

/* What is written at the end must not take the place of what was read. */
static int check_beliefs(const struct train_state *s)
{
    const struct train_options *o = &s->options;
    struct stat data, beliefs;

    if (!o->beliefs)
        return 0;
    if (stat(o->data_name, &data) == 0 && stat(o->beliefs, &beliefs) == 0 &&
        data.st_dev == beliefs.st_dev && data.st_ino == beliefs.st_ino)
        return cli_complain("--beliefs: %s is the data", o->beliefs);
    return check_folder(s, "beliefs", o->beliefs);
}

static int check_checkpoint(const struct train_state *s)
{
    const struct train_options *o = &s->options;

    if (s->restarts > 0 && !o->checkpoint)
        return cli_complain("--restarts: from where? --checkpoint FILE keeps what is to be kept");
    if (!o->checkpoint)
        return 0;
    bool there = access(o->checkpoint, F_OK) == 0;
    if (o->resume && !there)
        return cli_complain("--resume: there is no %s", o->checkpoint);
    if (!o->resume && there)
        return cli_complain("--checkpoint: %s is there already; --resume goes on from it, or "
                            "remove it",
                            o->checkpoint);
    return check_folder(s, "checkpoint", o->checkpoint);
}

static bool is_resume(int option)
{
    return strcmp(train_table[option].name, "resume") == 0;
}

/* What the ranks have to know of a simulated cluster beyond its speed. */
static int tell_slowness(struct train_state *s)
{
    const struct hm_slowness *slowness = s->cluster ? &s->cluster->slowness : NULL;
    struct hm_text word = {0};

    if (!slowness || !hm__slowness_any(slowness))
        return 0;
    train_slowness_write(&word, slowness, s->launch.platform.flops);
    int rc = word.failed ? cli_complain("out of memory")
                         : train_launch_option(&s->launch, "slowness", word.data);
    hm__text_release(&word);
    return rc;
}

/* How many ranks there are, and whether there can be so many. */
static int count_ranks(struct train_state *s)
{
    struct cli_ranks *ranks = &s->launch.ranks;
    const struct train_options *o = &s->options;
    int rc = train_workers_check(o, ranks->workers);

    ranks->others = train_other_ranks(o);
    ranks->beside = o->colocated;
    if (rc || !o->shares)
        return rc;
    bool known = s->cluster && hm__slowness_any(&s->cluster->slowness);
    double *before = calloc((size_t)ranks->workers + 1, sizeof(*before));
    rc = before ? train_shares_read(o->shares, known ? &s->cluster->slowness : NULL,
                                    (size_t)ranks->workers, before)
                : cli_complain("out of memory");
    free(before);
    return rc;
}

static int prepare(struct train_state *s)
{
    int rc = train_options_check(&s->options);

    rc = rc ? rc : check_checkpoint(s);
    rc = rc ? rc : check_beliefs(s);
    rc = rc ? rc : load_cluster(s);
    rc = rc ? rc : count_ranks(s);
    for (size_t i = 0; rc == 0 && i < s->given_count; i++)
        if (!is_resume(s->given[i]))
            rc = train_launch_option(&s->launch, train_table[s->given[i]].name, s->values[i]);
    if (rc == 0)
        rc = s->options.problem == TRAIN_BP ? look_at_field(s) : scan(s);
    rc = rc ? rc : train_launch_prepare(&s->launch);
    return rc ? rc : tell_slowness(s);
}

/* ---- the run -------------------------------------------------------------------------------- */

/* The rank that mpirun says has died, or -1. */
static int dead_rank(const char *tail)
{
    static const char says[] = "process rank ";
    const char *at = strstr(tail, says);
    double rank;

    if (!at || hm__number_read(at + sizeof(says) - 1, &rank) == 0)
        return -1;
    return (int)rank;
}

/* What the ranks said themselves, without what launchers say about it. */
static bool hand_on_errors(const char *tail)
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

/* A run that did not end by itself: say how. Returns the rank that died, or -1. */
static int tell_death(const struct train_state *s, const struct cli_child *child)
{
    int rank = dead_rank(child->tail);
    bool other = rank >= s->launch.ranks.workers;
    const char *how = child->end == CLI_CHILD_SIGNALLED ? strsignal(child->code) : "";

    if (rank >= 0)
        cli_complain("train: rank %d%s has died", rank,
                     !other                                      ? ""
                     : s->options.platform == HM_PLATFORM_SERVER ? ", a server,"
                                                                 : ", the driver,");
    else if (child->end == CLI_CHILD_STUCK)
        cli_complain("train: a rank has died, and its launcher did not notice");
    else if (child->end == CLI_CHILD_SIGNALLED)
        cli_complain("train: the run was ended by a signal: %s", how);
    else
        cli_complain("train: the run ended with status %d:\n%s", child->code, child->tail);
    return rank;
}

/* Run the ranks once. -1: they died; otherwise the exit code. */
static int run_once(struct train_state *s, bool resume, int *ret_rank)
{
    struct cli_words words = {0};
    struct hm_err err = {0};
    int rc = train_launch_words(&s->launch, resume, &words);

    if (rc)
        return rc;
    struct cli_child child = {.argv = words.words,
                              .stuck_s = LAUNCHER_STUCK_S,
                              .line = train_watch_line,
                              .context = &s->watch};
    rc = cli_child_run(&child, &err);
    if (rc == 0 && child.end == CLI_CHILD_NOT_STARTED)
        snprintf(err.message, sizeof(err.message), "train: %s does not start: %s", words.words[0],
                 strerror(child.code));
    cli_words_release(&words);
    if (rc || err.message[0])
        return cli_report(&err);
    if (child.end == CLI_CHILD_INTERRUPTED)
        return s->watch.failed ? EXIT_USAGE : EXIT_INTERRUPTED;
    if (child.end == CLI_CHILD_EXITED && child.code <= EXIT_USAGE &&
        (child.code != EXIT_USAGE || hand_on_errors(child.tail)) &&
        (child.code == EXIT_USAGE || s->watch.finished))
        return child.code;
    *ret_rank = tell_death(s, &child);
    return -1;
}

static int run_ranks(struct train_state *s)
{
    bool resume = s->options.resume;

    for (double restart = 0;; restart++) {
        int rank = -1, rc = run_once(s, resume, &rank);
        if (rc >= 0)
            return rc;
        if (restart >= s->restarts)
            break;
        resume = access(s->options.checkpoint, F_OK) == 0;
        fprintf(stderr, "howmany: train: starting again %s\n",
                resume ? "from the checkpoint" : "from the beginning");
        train_watch_restart(&s->watch, restart + 1, rank);
    }
    if (s->restarts > 0)
        cli_complain("train: no restarts are left");
    return EXIT_NO_ANSWER;
}

static int show_command(const struct train_state *s)
{
    struct cli_words words = {0};
    struct hm_text line = {0};
    int rc = train_launch_words(&s->launch, s->options.resume, &words);

    if (rc == 0 && (cli_words_quote(&line, &words) || line.failed))
        rc = cli_complain("out of memory");
    hm__text_add(&line, "\n");
    if (rc == 0 && !cli_put(line.data))
        rc = EXIT_USAGE;
    hm__text_release(&line);
    cli_words_release(&words);
    return rc;
}

static int run(void *state)
{
    struct train_state *s = state;
    int rc = prepare(s);

    if (rc || s->dry_run)
        return rc ? rc : show_command(s);
    const struct hm_serving *serving = &s->options.serving;
    s->watch.json = s->json || (!s->text && !cli_is_terminal());
    s->watch.stale = s->options.platform == HM_PLATFORM_SERVER &&
                     (serving->consistency == HM_CONSISTENCY_ASYNC ||
                      (serving->consistency == HM_CONSISTENCY_SSP && serving->staleness > 0));
    rc = train_watch_begin(&s->watch);
    if (rc)
        return rc;
    if (s->launch.oversubscribed && isatty(STDERR_FILENO))
        fprintf(stderr,
                "howmany: %.0f ranks share this machine's cores: what they learn is right, "
                "their times are not; --simulate has times\n",
                s->launch.ranks.workers + s->launch.ranks.others);
    cli_interrupt_begin();
    rc = run_ranks(s);
    cli_interrupt_end();
    int stored = train_watch_store(&s->watch);
    return rc ? rc : stored;
}

const struct cli_command cli_train = {
    .name = "train",
    .arguments = "",
    .summary = "run a distributed algorithm, here or on a simulated cluster",
    .description =
        "Runs distributed optimisation or inference on K ranks of MPI, or with --simulate on "
        "ranks of a described cluster, where time is virtual and what is learnt is real. Each "
        "iteration is a line of JSON on standard output, with its seconds, what of them was "
        "computing, the objective, bytes and flop; on a terminal, a row of a table.\n\n"
        "Without --data it makes its own: ten thousand images like handwritten digits. All data "
        "is read and checked before any rank starts. Without a limit it stops after 20 passes "
        "over the data.\n\n"
        "With --platform server, w is on S ranks besides the K workers, which may wait for each "
        "other (bsp), be a few clocks apart (ssp) or never wait (async). With --platform driver it "
        "is "
        "on one rank, which sends it out for every full gradient.\n\n"
        "With --checkpoint the state is saved now and then, and --resume goes on from it: on as "
        "many ranks bit for bit, on others from the same model. With --restarts that happens by "
        "itself when a rank dies.\n\n"
        "The ranks are a program of their own, howmany-train. It can be started by hand, as in "
        "mpirun -n 4 howmany-train --data rows.svm, with the options up to --resume; rank 0 then "
        "prints the lines of JSON.\n\n"
        "Exit status: 0 ran until a limit; 1 diverged, or a rank died without "
        "--restarts; 2 wrong usage or input; 130 interrupted.",
    .options = train_table + TRAIN_HIDDEN,
    .option_count = TRAIN_OPTIONS - TRAIN_HIDDEN,
    .accept = accept,
    .run = run,
    .begin = begin,
    .end = end,
};
