/*
 * Implements the command howmany steer, which divides a training run into frames, and chooses the
 * algorithm and the number of workers again before each frame.
 */
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "json.h"
#include "lists.h"
#include "machine.h"
#include "measure.h"
#include "memory.h"
#include "readers.h"
#include "steer_output.h"
#include "steer_session.h"
#include "steer_sheet.h"
#include "study.h"

struct steer_options {
    const char *file, *folder, *command, *resume_with, *pattern;
    const char *algorithms, *m;
    struct hm_override sets[CLI_LIST_MAX];
    size_t set_count;
    double loss, reach, best, within_s, cost, price_per_s, explore_s, frame_s, switch_s, nodes;
    double seed;
    bool alone, json, dry_run;
};

struct steer_command_state {
    struct steer_options options;
    struct hm_arena *arena; /* Owns the strings in this struct. */
    struct hm_study_spec *spec;
    struct study_commands commands;
    struct cli_machine machine;
    struct cli_range m;
    regex_t pattern;
    bool has_pattern;
    struct hm_text identity;
    struct steer_session session;
};

enum steer_option {
    FOLDER,
    SET,
    LOSS,
    BEST,
    REACH,
    WITHIN,
    COST,
    EXPLORE,
    FRAME,
    SWITCH_COST,
    NODES,
    ONE_AT_A_TIME,
    SEED,
    COMMAND,
    M,
    ALGORITHMS,
    RESUME_WITH,
    PATTERN,
    PRICE,
    JSON,
    DRY_RUN,
    OPTIONS
};

static const struct cli_option options[OPTIONS] = {
    [FOLDER] = {"folder", 0, "DIR", "where the state is kept (default: FILE with .steer)", "@file"},
    [SET] = {"set", 0, "KEY=VALUE", "change a key of the file, such as train.lambda=1e-3", NULL},
    [LOSS] = {"loss", 0, "X", "target distance to --best, such as 1e-3", NULL},
    [BEST] = {"best", 0, "P", "the lowest possible loss, if it is known", NULL},
    [REACH] = {"reach", 0, "P", "target loss, instead of --loss", NULL},
    [WITHIN] = {"within", 0, "TIME", "stop after this time", NULL},
    [COST] = {"cost", 0, "MONEY", "stop when the workers have cost this amount", NULL},
    [EXPLORE] = {"explore", 0, "TIME",
                 "largest total time of the trials (default: the file's budget)", NULL},
    [FRAME] = {"frame", 0, "TIME", "length of a frame (default: a third of the remaining time)",
               NULL},
    [SWITCH_COST] = {"switch-cost", 0, "TIME",
                     "time to change the algorithm or the workers (default: measured; simulated: "
                     "the state moves over the network)",
                     NULL},
    [NODES] = {"nodes", 0, "N", "simulated nodes that may be used at once (default: largest m)",
               NULL},
    [ONE_AT_A_TIME] = {"one-at-a-time", 0, NULL, "run simulated trials one after another", NULL},
    [SEED] = {"seed", 0, "K", "seed of all random numbers (default 1)", NULL},
    [COMMAND] = {"command", 0, "TEXT",
                 "your own program, with {n}, {checkpoint}, {resume}; also {algorithm}, "
                 "{iterations}, {seconds}, {seed}",
                 NULL},
    [M] = {"m", 'm', "LIST", "with --command: numbers of workers, such as 1,2,4,8", NULL},
    [ALGORITHMS] = {"algorithms", 'a', "LIST", "with --command: values of {algorithm}", NULL},
    [RESUME_WITH] = {"resume-with", 0, "TEXT",
                     "with --command: what {resume} becomes (default: --resume)", NULL},
    [PATTERN] = {"pattern", 0, "REGEX",
                 "with --command: lines that report an iteration; group 1 is the loss (default: "
                 "JSON lines with iteration and loss)",
                 NULL},
    [PRICE] = {"price", 0, "PRICE", "price of one worker, such as '$1/h'", NULL},
    [JSON] = {"json", 'j', NULL, "the result as one JSON document", NULL},
    [DRY_RUN] = {"dry-run", 0, NULL, "print the first pieces without executing them", NULL},
};

static void *steer_begin(void)
{
    struct steer_command_state *s = calloc(1, sizeof(*s));

    if (s && !(s->arena = hm__arena_new())) {
        free(s);
        return NULL;
    }
    if (s) {
        struct steer_options *o = &s->options;
        o->loss = o->reach = o->best = o->price_per_s = o->explore_s = o->frame_s = NAN;
        o->switch_s = o->nodes = NAN;
        o->within_s = o->cost = INFINITY;
        o->seed = 1;
        o->resume_with = "--resume";
    }
    return s;
}

static void steer_end(void *state)
{
    struct steer_command_state *s = state;

    steer_session_release(&s->session);
    study_commands_release(&s->commands);
    hm__study_spec_free(s->spec);
    cli_machine_release(&s->machine);
    cli_range_release(&s->m);
    if (s->has_pattern)
        regfree(&s->pattern);
    hm__text_release(&s->identity);
    hm__arena_free(s->arena);
    free(s);
}

/* ---- options -------------------------------------------------------------------------------- */

static int add_override(struct steer_command_state *s, const char *text)
{
    struct steer_options *o = &s->options;

    if (o->set_count == CLI_LIST_MAX)
        return cli_complain("--set: more than %d", CLI_LIST_MAX);
    o->sets[o->set_count++].text = text;
    return 0;
}

/* Accepts an option whose value is a number or a quantity with a unit. */
static int accept_number(struct steer_options *o, int option, const char *value)
{
    static const struct hm_dim price = {-1, 0, 0, 1}, money = {0, 0, 0, 1};
    const char *name = options[option].name;

    switch (option) {
    case LOSS:
        return cli_positive(name, value, HM_DIM_NONE, &o->loss);
    case BEST:
        return cli_quantity(name, value, HM_DIM_NONE, &o->best);
    case REACH:
        return cli_quantity(name, value, HM_DIM_NONE, &o->reach);
    case WITHIN:
        return cli_positive(name, value, HM_DIM_TIME, &o->within_s);
    case COST:
        return cli_positive(name, value, money, &o->cost);
    case EXPLORE:
        return cli_positive(name, value, HM_DIM_TIME, &o->explore_s);
    case FRAME:
        return cli_positive(name, value, HM_DIM_TIME, &o->frame_s);
    case SWITCH_COST:
        return cli_quantity(name, value, HM_DIM_TIME, &o->switch_s);
    case NODES:
        return cli_whole(name, value, 1, 1e9, &o->nodes);
    case SEED:
        return cli_whole(name, value, 0, CLI_SEED_MAX, &o->seed);
    default:
        return cli_positive(name, value, price, &o->price_per_s);
    }
}

static int accept_text(struct steer_command_state *s, int option, const char *value)
{
    struct steer_options *o = &s->options;

    switch (option) {
    case FOLDER:
        o->folder = value;
        return 0;
    case COMMAND:
        o->command = value;
        return 0;
    case M:
        o->m = value;
        return 0;
    case ALGORITHMS:
        o->algorithms = value;
        return 0;
    case RESUME_WITH:
        o->resume_with = value;
        return 0;
    case PATTERN:
        o->pattern = value;
        return 0;
    case SET:
        return add_override(s, value);
    default:
        if (o->file)
            return cli_complain("steer: give one file only; '%s' is another", value);
        o->file = value;
        return 0;
    }
}

static int steer_accept(void *state, int option, const char *value)
{
    struct steer_command_state *s = state;

    switch (option) {
    case JSON:
        s->options.json = true;
        return 0;
    case DRY_RUN:
        s->options.dry_run = true;
        return 0;
    case ONE_AT_A_TIME:
        s->options.alone = true;
        return 0;
    case LOSS:
    case BEST:
    case REACH:
    case WITHIN:
    case COST:
    case EXPLORE:
    case FRAME:
    case SWITCH_COST:
    case NODES:
    case SEED:
    case PRICE:
        return accept_number(&s->options, option, value);
    default:
        return accept_text(s, option, value);
    }
}

/* ---- the task -------------------------------------------------------------------------------- */

/* Sets the target loss from --reach, or from --loss and --best. */
static int set_target(struct steer_command_state *s)
{
    struct steer_options *o = &s->options;
    struct steer_task *task = &s->session.task;

    task->best = o->best;
    if (!isnan(o->reach)) {
        task->target = o->reach;
        if (!isnan(o->best) && o->reach <= o->best)
            return cli_complain("--reach: %g is not above the least possible loss, %g", o->reach,
                                o->best);
        return 0;
    }
    if (isnan(o->loss))
        return cli_complain("steer: nothing to reach; give --reach P, or --loss X with --best P");
    if (isnan(o->best))
        return cli_complain("steer: a loss of %g above the least possible loss is to be reached, "
                            "but that is not known; give it with --best, or give --reach P",
                            o->loss);
    task->target = o->best + o->loss;
    return 0;
}

/*
 * Sets the limits of the training from the options. They apply whether a study's file or --command
 * describes the training.
 */
static int set_limits(struct steer_command_state *s)
{
    const struct steer_options *o = &s->options;
    struct steer_task *task = &s->session.task;

    task->within_s = o->within_s;
    task->cost = o->cost;
    task->price_per_s = o->price_per_s;
    task->explore_s = isnan(o->explore_s) ? INFINITY : o->explore_s;
    task->frame_s = o->frame_s;
    task->switch_s = o->switch_s;
    if (isfinite(o->cost) && isnan(o->price_per_s))
        return cli_complain("--cost: it needs the price of a worker; give --price '$1/h'");
    if (!task->virtual_time && (o->alone || !isnan(o->nodes)))
        return cli_complain("%s: it applies only to simulated ranks",
                            o->alone ? "--one-at-a-time" : "--nodes");
    task->together = task->virtual_time && !o->alone;
    task->nodes = isnan(o->nodes) ? task->m[task->m_count - 1] : o->nodes;
    if (task->nodes < task->m[0])
        return cli_complain("--nodes: %.0f is less than the smallest number of workers, %.0f",
                            task->nodes, task->m[0]);
    return set_target(s);
}

/* Reads the study's file; options on the command line take precedence over values in the file. */
static int read_file(struct steer_command_state *s)
{
    struct steer_options *o = &s->options;
    struct hm_err err = {0};
    size_t length = 0;
    char *text = cli_read(o->file, &length, &err);
    int rc =
        text ? hm__study_spec_parse(text, length, o->file, o->sets, o->set_count, &s->spec, &err)
             : err.code;

    hm_text_free(text);
    if (rc)
        return cli_report(&err);
    if (isnan(o->loss))
        o->loss = s->spec->loss;
    if (isnan(o->best))
        o->best = s->spec->best;
    if (isnan(o->price_per_s))
        o->price_per_s = s->spec->price_per_s;
    if (isnan(o->explore_s))
        o->explore_s = s->spec->budget_s;
    return study_commands_prepare(&s->commands, s->spec);
}

/* Finds the network over which the checkpoint of a simulated training is moved between workers. */
static int find_fabric(struct steer_command_state *s, double *ret_flops)
{
    struct hm_cluster *cluster = NULL;

    s->session.bandwidth_bytes_per_s = s->session.latency_s = NAN;
    if (!s->commands.simulate)
        return 0;
    int rc = cli_machine_load(&s->machine, s->commands.simulate, &cluster);
    if (rc == 0) {
        s->session.bandwidth_bytes_per_s = cluster->fabric.bandwidth_bytes_per_s;
        s->session.latency_s = cluster->fabric.latency_s;
        const struct hm_node *node = &cluster->node;
        *ret_flops = node->flops_64 * (node->efficiency > 0 ? node->efficiency : 1);
    }
    return rc;
}

static int prepare_file(struct steer_command_state *s)
{
    struct steer_task *task = &s->session.task;
    struct steer_sheet sheet = {NAN, NAN, NAN};
    int rc = read_file(s);

    if (rc)
        return rc;
    task->title = s->spec->title;
    task->algorithm_count = s->spec->algorithm_count;
    for (size_t i = 0; i < task->algorithm_count; i++)
        task->algorithms[i] = s->spec->algorithms[i].name;
    task->m_count = s->spec->m_count;
    memcpy(task->m, s->spec->m, task->m_count * sizeof(*task->m));
    task->goal = s->spec->goal;
    task->iterations = s->spec->iterations;
    task->virtual_time = s->commands.simulate != NULL;
    s->session.source.study = &s->commands;
    rc = find_fabric(s, &sheet.flops);
    rc = rc ? rc : set_limits(s);
    sheet.bandwidth_bytes_per_s = s->session.bandwidth_bytes_per_s;
    sheet.latency_s = s->session.latency_s;
    if (rc == 0 && task->virtual_time)
        rc = steer_sheet_read(task, s->commands.data, &sheet);
    return rc ? rc : study_commands_identity(&s->commands, &s->identity);
}

/* ---- a program of the user ------------------------------------------------------------------- */

static int take_algorithm(void *context, const char *piece)
{
    struct steer_command_state *s = context;
    struct steer_task *task = &s->session.task;

    if (task->algorithm_count == STEER_ALGORITHMS)
        return cli_complain("--algorithms: more than %d", STEER_ALGORITHMS);
    task->algorithms[task->algorithm_count] = hm__arena_strdup(s->arena, piece);
    return task->algorithms[task->algorithm_count++] ? 0 : cli_complain("out of memory");
}

static int read_workers(struct steer_command_state *s)
{
    struct steer_task *task = &s->session.task;
    int rc = s->options.m ? cli_range_parse(&s->m, "m", s->options.m)
                          : cli_complain("steer: --command needs --m, the numbers of workers");

    if (rc)
        return rc;
    if (s->m.count > STEER_M)
        return cli_complain("--m: more than %d numbers of workers", STEER_M);
    for (size_t i = 0; i < s->m.count; i++) {
        double m = s->m.values[i];
        if (!(m >= 1) || m != floor(m) || (i > 0 && m <= task->m[i - 1]))
            return cli_complain("--m: %g is not a whole number above the one before it", m);
        task->m[task->m_count++] = m;
    }
    return 0;
}

static int read_pattern(struct steer_command_state *s)
{
    int rc = s->options.pattern
                 ? launch_pattern_compile("--pattern", s->options.pattern, 0, &s->pattern)
                 : 0;

    if (rc || !s->options.pattern)
        return rc;
    s->has_pattern = true;
    s->session.source.pattern = &s->pattern;
    return s->pattern.re_nsub >= 1 ? 0
                                   : cli_complain("--pattern: '%s' has no group (…) for the "
                                                  "loss",
                                                  s->options.pattern);
}

static int prepare_command(struct steer_command_state *s)
{
    struct steer_task *task = &s->session.task;
    struct hm_err err = {0};

    if (s->options.set_count > 0)
        return cli_complain("--set: it changes a file, and there is none");
    if (launch_command_split(&s->session.source.program, s->options.command, &err))
        return cli_report(&err);
    s->session.source.resume = s->options.resume_with;
    task->goal = HM_GOAL_TIME;
    task->iterations = 1e15;
    int rc = s->options.algorithms ? cli_each(s->options.algorithms, take_algorithm, s)
                                   : take_algorithm(s, "");
    rc = rc ? rc : read_workers(s);
    rc = rc ? rc : read_pattern(s);
    rc = rc ? rc : set_limits(s);
    rc = rc ? rc : steer_source_check(&s->session.source, task);
    hm__text_addf(&s->identity, "%s\nresume %s\npattern %s\n", s->options.command,
                  s->options.resume_with, s->options.pattern ? s->options.pattern : "");
    return rc;
}

/* ---- the session ----------------------------------------------------------------------------- */

/*
 * Completes the text that identifies the training in its folder; it contains everything that the
 * decisions depend on.
 */
static int complete_identity(struct steer_command_state *s)
{
    const struct steer_task *task = &s->session.task;
    const double numbers[] = {task->target, task->best,          task->explore_s, task->frame_s,
                              task->nodes,  s->options.switch_s, s->options.seed};

    hm__text_add(&s->identity, "choices");
    for (size_t i = 0; i < task->algorithm_count; i++)
        hm__text_addf(&s->identity, " %s", task->algorithms[i]);
    for (size_t i = 0; i < task->m_count; i++)
        hm__text_addf(&s->identity, " %.0f", task->m[i]);
    hm__text_addf(&s->identity, "\n%s", task->together ? "together" : "one at a time");
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        hm__text_add(&s->identity, " ");
        hm__json_number(&s->identity, numbers[i]);
    }
    hm__text_add(&s->identity, "\n");
    return s->identity.failed ? cli_complain("out of memory") : 0;
}

/* Returns the default folder of the training: the name of the study's file with .steer in place of
 * the extension. */
static const char *default_folder(struct steer_command_state *s)
{
    static const char *const endings[] = {".yaml", ".yml", ".json"};
    const char *file = s->options.file ? s->options.file : "training";
    size_t length = strlen(file);

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (hm__text_ends(file, endings[i])) {
            length -= strlen(endings[i]);
            break;
        }
    return hm__arena_printf(s->arena, "%.*s.steer", (int)length, file);
}

static int steer_prepare(struct steer_command_state *s)
{
    const struct steer_options *o = &s->options;
    bool of_command = o->m || o->algorithms || o->pattern;

    if (!o->file == !o->command)
        return cli_complain("steer: give a study's file or --command%s; see 'howmany help steer'",
                            o->file ? ", not both" : "");
    if (o->file && of_command)
        return cli_complain("%s: it applies only with --command; the file has the key %s",
                            o->m            ? "--m"
                            : o->algorithms ? "--algorithms"
                                            : "--pattern",
                            o->m ? "m" : "algorithms");
    if (o->file && strcmp(o->file, "-") == 0 && !o->folder)
        return cli_complain("steer: a file from standard input needs --folder");
    s->session.source.seed = o->seed;
    int rc = o->file ? prepare_file(s) : prepare_command(s);
    rc = rc ? rc : complete_identity(s);
    if (rc)
        return rc;
    s->session.folder.source = &s->session.source;
    s->session.folder.identity = s->identity.data;
    s->session.folder.path = o->folder ? o->folder : default_folder(s);
    return s->session.folder.path ? 0 : cli_complain("out of memory");
}

/* Prints one command for each algorithm: the command of its first trial. */
static int print_commands(const struct steer_command_state *s)
{
    const struct steer_task *task = &s->session.task;
    struct hm_text out = {0}, checkpoint = {0};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < task->algorithm_count; i++) {
        const struct steer_line line = {
            .algorithm = task->together ? i : steer_plan_algorithm(task, i),
            .m = task->together ? steer_plan_middle(task) : steer_plan_first(task)};
        struct launch_command command = {0};
        checkpoint.length = 0;
        hm__text_addf(&checkpoint, "%s/piece-%04zu.ck", s->session.folder.path, i);
        struct steer_piece piece = {.line = &line,
                                    .checkpoint = checkpoint.data ? checkpoint.data : "",
                                    .iterations = 3,
                                    .more = 3,
                                    .within_s = task->explore_s};
        rc = steer_command_make(&s->session.source, task, &piece, &command);
        if (steer_source_is_train(&s->session.source))
            hm__text_add(&out, "howmany ");
        if (rc == 0 && launch_command_quote(&out, &command))
            rc = cli_complain("out of memory");
        hm__text_add(&out, "\n");
        launch_command_release(&command);
    }
    hm__text_release(&checkpoint);
    if (rc == 0 &&
        (out.failed || !out.data || !cli_put(out.data))) /* Command lines are printed without line
                                                            wrapping, so that they can be copied. */
        rc = EXIT_USAGE;
    hm__text_release(&out);
    return rc;
}

static int present_result(struct steer_command_state *s)
{
    struct hm_text out = {0}, report = {0};

    steer_report_html(s->session.state, &report);
    int rc = report.failed ? cli_complain("out of memory")
                           : steer_folder_write(&s->session.folder, "report.html", report.data,
                                                report.length);
    hm__text_release(&report);
    if (s->options.json)
        steer_output_json(s->session.state, &out);
    else
        steer_output_text(&s->session.folder, s->session.state, &out);
    rc = rc ? rc : cli_put_text(&out);
    return rc ? rc : s->session.state->reached >= 0 ? EXIT_ANSWERED : EXIT_NO_ANSWER;
}

static int steer_run_command(void *state)
{
    struct steer_command_state *s = state;
    int rc = steer_prepare(s);

    if (rc || s->options.dry_run)
        return rc ? rc : print_commands(s);
    launch_interrupt_begin();
    rc = steer_session_run(&s->session);
    launch_interrupt_end();
    cli_progress_end(&s->session.folder.progress);
    if (rc == EXIT_INTERRUPTED)
        fprintf(stderr,
                "howmany: interrupted; %s keeps the training, and the same command continues from "
                "there\n",
                s->session.folder.path);
    return rc ? rc : present_result(s);
}

static const struct cli_heading headings[] = {{"folder", "files"},
                                              {"loss", "question"},
                                              {"explore", "trials and frames"},
                                              {"command", "a program of yours"},
                                              {"price", "question"},
                                              {"json", "output"},
                                              {NULL, NULL}};

const struct cli_command cli_steer = {
    .name = "steer",
    .examples = {"howmany steer examples/study.yaml --reach 0.12 --dry-run",
                 "howmany steer examples/study.yaml --reach 0.12 --one-at-a-time --dry-run",
                 "howmany steer --command 't {n} {checkpoint} {resume}' -m 1 --reach 1 --dry-run"},
    .arguments = "[FILE]",
    .summary = "train, and choose the algorithm and the number of workers while training",
    .description =
        "Trains in frames. Frame 0 tries the algorithms on several numbers of workers. Before each "
        "later frame, the time of an iteration and the convergence are fitted to all that was "
        "measured, and the training goes on from a checkpoint with the algorithm and the number of "
        "workers that are expected to reach the loss first, with the cost of the switch. FILE is "
        "a study's file (*howmany help study*); the ranks are real, or simulated in virtual "
        "time.\n\n"
        "With --command, a program of yours is trained. It reads and writes a checkpoint, prints "
        "its loss, and may be ended at any time by SIGTERM.\n\n"
        "The folder keeps points, checkpoints, the log of decisions and a report, and is the only "
        "state. After an interruption, also by kill -9, the same command continues.\n\n"
        "Exit status: 0 the loss was reached; 1 it was not reached within the limits; 2 wrong "
        "usage or input; 130 interrupted.",
    .options = options,
    .option_count = OPTIONS,
    .headings = headings,
    .operands = "@file",
    .accept = steer_accept,
    .run = steer_run_command,
    .begin = steer_begin,
    .end = steer_end,
};
