/*
 * Implements the command howmany bench, which runs a command repeatedly with different values,
 * records the runs and fits them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "append_file.h"
#include "bench_session.h"
#include "load.h"
#include "text.h"

struct bench_state {
    const char *command; /* The command to run, as one string; borrowed from the arguments. */
    bool shell, dry_run, design;
    bool tight_given, max_repeat_given;
    struct bench_session session;
};

enum bench_option {
    N,
    SIZE,
    VARY,
    REPEAT,
    WITHIN,
    MAX_REPEAT,
    WARMUP,
    TIMEOUT,
    RECORD,
    ITERATION_REGEX,
    ITERATIONS,
    SHELL,
    SHOW_OUTPUT,
    DESIGN,
    TARGET,
    TIGHT,
    BUDGET,
    TERMS,
    DRY_RUN,
    JSON
};

static const struct cli_option options[] = {
    [N] = {"n", 'n', "LIST", "values of {n}: 1,2,4 or 1..8", NULL},
    [SIZE] = {"size", 's', "LIST", "values of {size}: 0.1,0.2 or 0.1..1:4 for four values", NULL},
    [VARY] = {"vary", 0, "NAME=LIST", "values of {NAME}", NULL},
    [REPEAT] = {"repeat", 0, "K", "runs of each configuration (default 3)", NULL},
    [WITHIN] =
        {"within", 0, "P",
         "repeat until the 90 % interval of the mean is within this share of the mean, such as 5%",
         NULL},
    [MAX_REPEAT] = {"max-repeat", 0, "K", "with --within: at most K runs (default 20)", NULL},
    [WARMUP] = {"warmup", 0, "K", "runs of each configuration before the measured ones (default 0)",
                NULL},
    [TIMEOUT] = {"timeout", 0, "TIME",
                 "end a run after this time, such as 10min; it counts as failed", NULL},
    [RECORD] =
        {"record", 'r', "FILE",
         "append every run to this table, .csv or .jsonl, or to a store, .db or postgresql://…",
         "@file"},
    [ITERATION_REGEX] = {"iteration-regex", 0, "REGEX",
                         "extended regular expression for lines that report an iteration; its "
                         "first group is the time in seconds",
                         NULL},
    [ITERATIONS] = {"iterations", 'i', "SHORT,LONG",
                    "values of {iterations}: if the command reports no iterations, it runs with "
                    "both, and the start-up is subtracted (default 10,30)",
                    NULL},
    [SHELL] = {"shell", 0, NULL, "run the command through sh", NULL},
    [SHOW_OUTPUT] = {"show-output", 0, NULL, "show the output of the command", NULL},
    [DESIGN] = {"design", 0, NULL,
                "choose each next run so that it improves the prediction at --target most", NULL},
    [TARGET] = {"target", 0, "PLACE", "with --design: 64, or n=64,size=1", NULL},
    [TIGHT] = {"tight", 0, "P",
               "with --design: stop when the prediction is known within P (default 10%)", NULL},
    [BUDGET] = {"budget", 0, "TIME", "with --design: machine time to spend, such as 1h", NULL},
    [TERMS] = {"terms", 't', "LIST", "terms of the fit, such as 1,size/n,ln(n); auto (default)",
               "auto"},
    [DRY_RUN] = {"dry-run", 0, NULL, "print the commands without running them", NULL},
    [JSON] = {"json", 'j', NULL, "the fit of the runs as JSON", NULL},
};

static void *bench_begin(void)
{
    struct bench_state *s = calloc(1, sizeof(*s));

    if (s) {
        s->session.repeat = 3;
        s->session.max_repeat = 20;
        s->session.tight = 0.1;
        s->session.record.file = -1;
    }
    return s;
}

static void bench_end(void *state)
{
    struct bench_state *s = state;

    bench_release(&s->session);
    free(s);
}

/* ---- options -------------------------------------------------------------------------------- */

static int read_regex(struct bench_state *s, const char *value)
{
    int rc = launch_pattern_compile("--iteration-regex", value, REG_NEWLINE, &s->session.regex);

    if (rc)
        return rc;
    s->session.has_regex = true;
    if (s->session.regex.re_nsub < 1)
        return cli_complain("--iteration-regex: '%s' has no group for the seconds, as in "
                            "'step took ([0-9.]+) s'",
                            value);
    return 0;
}

/* Reads the two numbers of iterations that the command is run with. */
static int read_lengths(struct bench_session *s, const char *value)
{
    struct cli_range range = {0};
    int rc = cli_range_parse(&range, "iterations", value);

    for (size_t i = 0; rc == 0 && i < range.count; i++)
        if (!(range.values[i] >= 1) || range.values[i] != floor(range.values[i]))
            rc = cli_complain("--iterations: %g is not a whole number of at least 1",
                              range.values[i]);
    if (rc == 0 && (range.count != 2 || !(range.values[0] < range.values[1])))
        rc = cli_complain("--iterations: '%s' is not a smaller and a larger number, such as 10,30",
                          value);
    if (rc == 0) {
        s->short_count = range.values[0];
        s->long_count = range.values[1];
    }
    cli_range_release(&range);
    return rc;
}

static int accept_switch(struct bench_state *s, int option)
{
    *(option == SHELL         ? &s->shell
      : option == SHOW_OUTPUT ? &s->session.show
      : option == DESIGN      ? &s->design
      : option == DRY_RUN     ? &s->dry_run
                              : &s->session.json) = true;
    return 0;
}

static int bench_accept(void *state, int option, const char *value)
{
    struct bench_state *s = state;

    switch (option) {
    case -1:
        if (s->command)
            return cli_complain("bench: give one command in quotes, not '%s' and '%s'", s->command,
                                value);
        s->command = value;
        return 0;
    case N:
        return cli_axes_add(&s->session.axes, "n", value);
    case SIZE:
        return cli_axes_add(&s->session.axes, "size", value);
    case VARY:
        return cli_axes_vary(&s->session.axes, value);
    case REPEAT:
        return cli_whole("repeat", value, 1, 1e6, &s->session.repeat);
    case WITHIN:
        return cli_positive("within", value, HM_DIM_NONE, &s->session.within);
    case MAX_REPEAT:
        s->max_repeat_given = true;
        return cli_whole("max-repeat", value, 1, 1e6, &s->session.max_repeat);
    case WARMUP:
        return cli_whole("warmup", value, 0, 1e6, &s->session.warmup);
    case TIMEOUT:
        return cli_positive("timeout", value, HM_DIM_TIME, &s->session.timeout_s);
    case RECORD:
        s->session.file = value;
        return 0;
    case ITERATION_REGEX:
        return s->session.has_regex ? cli_complain("--iteration-regex: it was given twice")
                                    : read_regex(s, value);
    case ITERATIONS:
        return read_lengths(&s->session, value);
    case TARGET:
        return cli_target_parse(&s->session.target, value);
    case TIGHT:
        s->tight_given = true;
        return cli_positive("tight", value, HM_DIM_NONE, &s->session.tight);
    case BUDGET:
        return cli_positive("budget", value, HM_DIM_TIME, &s->session.budget_s);
    case TERMS:
        return cli_terms_parse(&s->session.terms, value);
    default:
        return accept_switch(s, option);
    }
}

/* ---- running -------------------------------------------------------------------------------- */

/* Splits the command into arguments. With --shell, the whole string is one argument of sh -c. */
static int split_command(struct bench_state *s)
{
    const char *const shell[] = {"sh", "-c", s->command};
    struct launch_command *command = &s->session.command;
    struct hm_err err = {0};
    int rc = 0;

    if (!s->shell)
        rc = launch_command_split(command, s->command, &err);
    for (size_t i = 0; rc == 0 && s->shell && i < sizeof(shell) / sizeof(shell[0]); i++)
        rc = launch_command_add(command, shell[i], &err);
    return rc ? cli_report(&err) : 0;
}

static int bench_run_command(void *state)
{
    struct bench_state *s = state;

    if (!s->command)
        return cli_complain("bench: the command is missing; give it in quotes: howmany bench "
                            "'mpirun -n {n} ./train' --n 1,2,4");
    if (s->design && (s->session.target.place.count == 0 || isnan(s->session.target.place.n)))
        return cli_complain("bench: --design needs --target, such as n=64,size=1");
    if (!s->design && s->session.budget_s > 0)
        return cli_complain("bench: --budget applies only with --design");
    if (!s->design && s->tight_given)
        return cli_complain("bench: --tight applies only with --design");
    if (s->max_repeat_given && !(s->session.within > 0))
        return cli_complain("bench: --max-repeat applies only with --within");
    if (s->max_repeat_given && s->session.max_repeat < s->session.repeat)
        return cli_complain("bench: --max-repeat %g is less than --repeat %g",
                            s->session.max_repeat, s->session.repeat);
    int rc = split_command(s);
    rc = rc ? rc : bench_prepare(&s->session);
    if (rc == 0 && s->session.file && !hm__is_store(s->session.file) &&
        launch_append_format(s->session.file) < 0)
        return EXIT_USAGE;
    if (rc || s->dry_run)
        return rc ? rc : bench_print_commands(&s->session);
    return bench_run(&s->session, s->design);
}

static const struct cli_heading headings[] = {
    {"n", "configurations"},        {"repeat", "runs"},   {"record", "output"},
    {"iteration-regex", "command"}, {"design", "design"}, {"terms", "fit"},
    {"dry-run", "output"},          {NULL, NULL}};

const struct cli_command cli_bench = {
    .name = "bench",
    .examples = {"howmany bench 'sleep 0.0{n}' --n 1,2 --repeat 1",
                 "howmany bench 'howmany train -i {n} -d digits:500' --n 1,2,4 --repeat 1",
                 "howmany bench 'sleep 0.0{n}' --n 1,2,4 --repeat 1 --json"},
    .arguments = "COMMAND",
    .summary = "run any command repeatedly, record the runs, and fit them",
    .description =
        "Runs COMMAND for each combination of values, which replace {n}, {size} and other names in "
        "it: any launcher (mpirun, srun, torchrun, spark-submit) and any program. The command is "
        "split into arguments as a shell would do, but no shell is used without --shell. The "
        "seconds of an iteration are the median of those that the command prints on standard "
        "output, as JSON lines with the keys iteration, seconds and loss, or as lines that match "
        "--iteration-regex, or as nanoGPT, Megatron-LM, DeepSpeed, Hugging Face, Lightning, Keras "
        "and Spark print them; the first of several is left out. A command that prints none should "
        "contain {iterations}: it runs with two numbers of them, and the difference is the time of "
        "the iterations between, without the start-up. Otherwise the whole run counts as one "
        "iteration, and a warning says so. Runs that fail or take too long are recorded as failed, "
        "and the others continue. Ctrl-C keeps the finished "
        "runs. Then the runs are fitted, as howmany fit does.\n\n"
        "Exit status: 0 measured; 1 all runs failed; 2 wrong usage; 130 interrupted.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .headings = headings,
    .operands = NULL,
    .accept = bench_accept,
    .run = bench_run_command,
    .begin = bench_begin,
    .end = bench_end,
};
