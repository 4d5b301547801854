/*
 * Builds the command lines of a study's runs. The keys under `train:` and the keys of the
 * algorithms are checked against the options of `howmany train`, so that a mistake is reported with
 * its line before anything runs. The study itself sets the algorithm, the number of workers, the
 * seed and the limits of each run.
 */
#include "study_commands.h"
#include "load.h"

#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "err.h"
#include "format.h"
#include "machine.h"
#include "memory.h"
#include "train_options.h"

/* Fractions of the target loss. The reference run stops when its duality gap is GAP_SHARE times the
 * target loss. If the reference run uses L-BFGS, the lowest possible objective P* is assumed to be
 * LBFGS_SHARE times the target loss below the smallest objective that it reached. */
static const double GAP_SHARE = 1.0 / 20, LBFGS_SHARE = 1.0 / 100;
/* Maximum numbers of iterations, as multiples of the study's limit: REFERENCE_ITERATIONS for the
 * reference run, CHECK_ITERATIONS for a run that checks the answer. */
static const double REFERENCE_ITERATIONS = 10, CHECK_ITERATIONS = 4;

/* ---- keys ----------------------------------------------------------------------------------- */

/* Returns a hint if `key` is an option of `howmany train` that the study itself sets; NULL if it is
 * not. */
static const char *study_key_hint(const char *key)
{
    static const char *const own[][2] = {
        {"algorithm", "algorithms: lists them"},
        {"n", "m: lists the numbers of workers"},
        {"seed", "seeds: gives the number of runs of each configuration"},
        {"data-seed", "all runs use the rows of seed 1"},
        {"iterations", "write iterations: at the top level of the file"},
        {"epochs", "iterations: limits a run, budget: all runs together"},
        {"within", "budget: limits all runs together"},
        {"suboptimality", "loss: sets the loss at which runs end"},
        {"gap", "loss: sets the loss at which runs end"},
        {"best", "write best: at the top level of the file"},
        {"simulate", "write simulate: at the top level of the file"},
        {"launcher", "write launcher: at the top level of the file"},
        {"set", "change the cluster file"},
        {"checkpoint", "an interrupted run is made again"},
        {"every", "an interrupted run is made again"},
        {"resume", "an interrupted run is made again"},
        {"adopt", "an interrupted run is made again"},
        {"restarts", "an interrupted run is made again"},
        {"beliefs", "belief propagation has no loss to reach"},
        {"record", "the traces are in the study's folder"},
        {"json", "the traces are in the study's folder"},
        {"text", "the traces are in the study's folder"},
        {"dry-run", "use howmany study --dry-run"},
        {"simgrid-files", "howmany train --simgrid-files writes the files"},
        {"precision", "set flops: in the cluster file to the speed at that precision"},
        {"scanned", "it is internal to howmany train"},
        {"slowness", "set stragglers: in the cluster file"},
    };

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strcmp(own[i][0], key) == 0)
            return own[i][1];
    return NULL;
}

static bool is_algorithm_key(const char *key)
{
    static const char *const keys[] = {"step", "batch", "passes", "momentum", "memory", "shrink"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static const char *train_option_name(const void *unused, size_t i)
{
    (void)unused;
    return i + TRAIN_HIDDEN < TRAIN_RANKS ? train_table[i + TRAIN_HIDDEN].name : NULL;
}

static int train_option_find(const char *key)
{
    for (int i = TRAIN_HIDDEN; i < TRAIN_RANKS; i++)
        if (strcmp(train_table[i].name, key) == 0)
            return i;
    return -1;
}

/* Reports an error such as "file:3: train.lambda: message", and a hint. */
static int fail_option(const struct hm_study_option *option, const char *where, const char *message,
                       const char *hint)
{
    struct hm_err err = {0};

    hm__fail(&err, HM_E_KEY, "%s", message);
    hm__err_at(&err, option->source, option->line);
    snprintf(err.field, sizeof(err.field), "%s.%.60s", where, option->key);
    if (hint)
        hm__err_hint(&err, "%s", hint);
    return cli_report(&err);
}

static int check_key(const struct hm_study_option *option, const char *where, bool of_algorithm)
{
    const char *own = study_key_hint(option->key);
    char hint[160];

    if (own)
        return fail_option(option, where, "is set by the study", own);
    int index = train_option_find(option->key);
    if (index < 0) {
        const char *near = hm__suggest(option->key, train_option_name, NULL);
        snprintf(hint, sizeof(hint), "did you mean %s?", near ? near : "");
        return fail_option(option, where, "there is no such option of howmany train",
                           near ? hint : "'howmany help train' lists them");
    }
    if (of_algorithm && !is_algorithm_key(option->key))
        return fail_option(option, where, "is not an option of a single algorithm",
                           "write it under train:");
    if (train_table[index].argument && !option->value)
        return fail_option(option, where, "needs a value", train_table[index].help);
    if (!train_table[index].argument && option->value)
        return fail_option(option, where, "is a switch", "write true or false");
    return 0;
}

static int check_keys(const struct hm_study_spec *spec)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < spec->train.count; i++)
        rc = check_key(&spec->train.all[i], "train", false);
    for (size_t a = 0; rc == 0 && a < spec->algorithm_count; a++)
        for (size_t i = 0; rc == 0 && i < spec->algorithms[a].options.count; i++)
            rc = check_key(&spec->algorithms[a].options.all[i], "algorithms", true);
    return rc;
}

/* ---- values --------------------------------------------------------------------------------- */

static int accept_options(struct train_options *o, const struct hm_study_options *options)
{
    for (size_t i = 0; i < options->count; i++) {
        const struct hm_study_option *option = &options->all[i];
        if (train_options_accept(o, train_option_find(option->key), option->value) == 0)
            continue;
        fprintf(stderr, "  %s:%d: %s\n", option->source, option->line, option->key);
        return EXIT_USAGE;
    }
    return 0;
}

/* Checks the options of one algorithm's runs in the same way as `howmany train`. */
static int check_algorithm(const struct study_commands *w,
                           const struct hm_study_algorithm *algorithm, struct train_options *o)
{
    train_options_init(o);
    o->algorithm_name = algorithm->name;
    o->limits.iterations = w->spec->iterations;
    int rc = accept_options(o, &w->spec->train);
    rc = rc ? rc : accept_options(o, &algorithm->options);
    if (rc || train_options_check(o) == 0)
        return rc;
    fprintf(stderr, "  in runs of %s, %s:%d\n", algorithm->name, algorithm->source,
            algorithm->line);
    return EXIT_USAGE;
}

static enum study_reference choose_reference(const struct hm_study_spec *spec,
                                             const struct train_options *o)
{
    if (!isnan(spec->best))
        return STUDY_GIVEN;
    if (train_problem_loss(o->problem) && o->lambda > 0)
        return STUDY_GAP;
    return o->problem == TRAIN_PERCEPTRON ? STUDY_ESTIMATED : STUDY_LBFGS;
}

static const struct hm_study_option *find_train_option(const struct hm_study_spec *spec,
                                                       const char *key)
{
    for (size_t i = 0; i < spec->train.count; i++)
        if (strcmp(spec->train.all[i].key, key) == 0)
            return &spec->train.all[i];
    return NULL;
}

/*
 * Checks the options of all algorithms. All runs use the problem and the data of the first
 * algorithm, because it is checked last.
 */
static int check_options(struct study_commands *w, bool *ret_made)
{
    const struct hm_study_option *problem = find_train_option(w->spec, "problem");
    struct train_options o;

    if (problem && strcmp(problem->value, "bp") == 0)
        return fail_option(problem, "train", "belief propagation has no loss to reach", NULL);
    for (size_t i = w->spec->algorithm_count; i-- > 0;) {
        int rc = check_algorithm(w, &w->spec->algorithms[i], &o);
        if (rc)
            return rc;
    }
    w->reference = choose_reference(w->spec, &o);
    w->problem = train_problem_name(o.problem);
    w->data = hm__arena_strdup(w->arena, o.data_name);
    *ret_made = hm__data_is_made(&o.data);
    return w->data ? 0 : cli_complain("out of memory");
}

/* ---- commands ------------------------------------------------------------------------------- */

/* Adds --name=value to a command, or --name if `value` is NULL. */
static int add_option(struct launch_command *command, const char *name, const char *value)
{
    struct hm_text option = {0};
    struct hm_err err = {0};

    hm__text_addf(&option, "--%s%s%s", name, value ? "=" : "", value ? value : "");
    int rc = option.failed ? hm__fail_nomem(&err) : launch_command_add(command, option.data, &err);
    hm__text_release(&option);
    return rc ? cli_report(&err) : 0;
}

static int add_quantity(struct launch_command *command, const char *name, double value,
                        const char *unit)
{
    struct hm_text text = {0};

    hm__json_number(&text, value);
    hm__text_add(&text, unit);
    int rc = text.failed ? cli_complain("out of memory") : add_option(command, name, text.data);
    hm__text_release(&text);
    return rc;
}

static int add_number(struct launch_command *command, const char *name, double value)
{
    return add_quantity(command, name, value, "");
}

static int add_options(struct launch_command *command, const struct hm_study_options *options)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < options->count; i++)
        rc = add_option(command, options->all[i].key, options->all[i].value);
    return rc;
}

/* Returns the path of a file whose name is relative to the folder of the study's file; NULL if
 * memory runs out. */
static const char *path_beside_file(const struct study_commands *w, const char *name)
{
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof(folder), "%s", w->spec->source);

    if (name[0] == '/' || length < 0 || (size_t)length >= sizeof(folder) || !strchr(folder, '/'))
        return name;
    return hm__arena_printf(w->arena, "%s/%s", dirname(folder), name);
}

/* Finds the data files, whose names may be relative to the folder of the study's file. */
static int find_data_files(struct study_commands *w)
{
    static const char *const keys[] = {"data", "test", "labels"};

    for (size_t i = 0; i < w->spec->train.count; i++)
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
            struct hm_study_option *option = &w->spec->train.all[i];
            if (strcmp(option->key, keys[k]) != 0 || !option->value)
                continue;
            const char *path = path_beside_file(w, option->value);
            if (!path)
                return cli_complain("out of memory");
            if (access(path, F_OK) == 0)
                option->value = path;
        }
    return 0;
}

static int make_common_command(struct study_commands *w, bool made)
{
    const struct hm_study_spec *spec = w->spec;
    struct hm_err err = {0};
    int rc = launch_command_add(&w->common, "train", &err) ? cli_report(&err) : 0;

    rc = rc ? rc : add_options(&w->common, &spec->train);
    if (rc == 0 && made)
        rc = add_option(&w->common, "data-seed", "1");
    if (rc == 0 && w->simulate)
        rc = add_option(&w->common, "simulate", w->simulate);
    if (rc == 0 && spec->launcher)
        rc = add_option(&w->common, "launcher", spec->launcher);
    return rc;
}

int study_commands_prepare(struct study_commands *w, const struct hm_study_spec *spec)
{
    bool made = false;

    w->spec = spec;
    w->arena = hm__arena_new();
    if (!w->arena)
        return cli_complain("out of memory");
    int rc = check_keys(spec);
    rc = rc ? rc : find_data_files(w);
    rc = rc ? rc : check_options(w, &made);
    if (rc == 0 && spec->simulate) {
        bool file = hm__is_cluster_file(spec->simulate);
        w->simulate = file ? path_beside_file(w, spec->simulate) : spec->simulate;
        rc = w->simulate ? 0 : cli_complain("out of memory");
    }
    return rc ? rc : make_common_command(w, made);
}

void study_commands_release(struct study_commands *w)
{
    launch_command_release(&w->common);
    hm__arena_free(w->arena);
}

static int copy_command(const struct launch_command *from, struct launch_command *to)
{
    struct hm_err err = {0};

    for (size_t i = 0; i < from->count; i++)
        if (launch_command_add(to, from->argv[i], &err))
            return cli_report(&err);
    return 0;
}

/*
 * Adds the limits of a run. A run that checks the answer (its seed is above the seeds of the study)
 * may take more iterations than the runs that were fitted.
 */
static int add_limits(const struct study_commands *w, double seed, double best,
                      struct launch_command *command)
{
    double more = seed > w->spec->seeds ? CHECK_ITERATIONS : 1;
    int rc = add_number(command, "iterations", more * w->spec->iterations);

    rc = rc ? rc : add_quantity(command, "within", w->spec->budget_s, "s");
    if (rc || (isnan(best) && w->reference == STUDY_ESTIMATED))
        return rc;
    rc = isnan(best) ? add_option(command, "best", "P*") : add_number(command, "best", best);
    return rc ? rc : add_number(command, "suboptimality", w->spec->loss);
}

int study_commands_start(const struct study_commands *w, const struct study_run *run,
                         struct launch_command *command)
{
    const struct hm_study_algorithm *algorithm = &w->spec->algorithms[run->algorithm];
    int rc = copy_command(&w->common, command);

    rc = rc ? rc : add_option(command, "algorithm", algorithm->name);
    rc = rc ? rc : add_options(command, &algorithm->options);
    rc = rc ? rc : add_number(command, "n", w->spec->m[run->m]);
    return rc ? rc : add_number(command, "seed", run->seed);
}

int study_commands_run(const struct study_commands *w, const struct study_run *run, double best,
                       struct launch_command *ret_command)
{
    struct launch_command command = {0};
    int rc = study_commands_start(w, run, &command);

    rc = rc ? rc : add_limits(w, run->seed, best, &command);
    rc = rc ? rc : add_option(&command, "json", NULL);
    if (rc)
        launch_command_release(&command);
    else
        *ret_command = command;
    return rc;
}

/* ---- P* ------------------------------------------------------------------------------------- */

int study_commands_reference(const struct study_commands *w, struct launch_command *ret_command)
{
    bool gap = w->reference == STUDY_GAP;
    struct launch_command command = {0};
    int rc = copy_command(&w->common, &command);

    rc = rc ? rc : add_option(&command, "algorithm", gap ? "cocoa" : "lbfgs");
    rc = rc ? rc : add_number(&command, "n", w->spec->m[0]);
    rc = rc ? rc : add_number(&command, "seed", 1);
    if (rc == 0 && gap)
        rc = add_number(&command, "gap", w->spec->loss * GAP_SHARE);
    rc = rc ? rc : add_number(&command, "iterations", REFERENCE_ITERATIONS * w->spec->iterations);
    rc = rc ? rc : add_quantity(&command, "within", w->spec->budget_s, "s");
    rc = rc ? rc : add_option(&command, "json", NULL);
    if (rc)
        launch_command_release(&command);
    else
        *ret_command = command;
    return rc;
}

static double least_loss(const struct hm_trace *trace)
{
    double least = INFINITY;

    for (size_t i = 0; i < trace->count; i++)
        least = fmin(least, trace->loss[i]);
    return least;
}

/*
 * P* is the lowest possible objective. With a duality gap, it lies between objective - gap and
 * objective. The lower end is used, because no run can fall below it, and a run that reaches the
 * target loss relative to the lower end has certainly reached it relative to the true P*. The
 * losses of runs are overestimated by at most a twentieth of the target loss.
 */
double study_commands_best(const struct study_commands *w, const struct hm_trace *trace)
{
    if (w->reference == STUDY_GAP)
        return isfinite(trace->bound) ? trace->bound : NAN;
    return least_loss(trace) - w->spec->loss * LBFGS_SHARE;
}

double study_commands_best_of_all(const struct study_commands *w, double best,
                                  const struct hm_traces *traces)
{
    for (size_t i = 0; w->reference == STUDY_LBFGS && !isnan(best) && i < traces->count; i++)
        best = fmin(best, least_loss(&traces->traces[i]) - w->spec->loss * LBFGS_SHARE);
    return best;
}

/* ---- names ---------------------------------------------------------------------------------- */

void study_commands_name(const struct study_commands *w, const struct study_run *run,
                         struct hm_text *ret_name)
{
    const struct hm_study_algorithm *algorithm = &w->spec->algorithms[run->algorithm];

    hm__text_add(ret_name, algorithm->name);
    for (size_t i = 0; i < algorithm->options.count; i++) {
        const struct hm_study_option *option = &algorithm->options.all[i];
        hm__text_addf(ret_name, ",%s%s%s", option->key, option->value ? "=" : "",
                      option->value ? option->value : "");
    }
    hm__text_addf(ret_name, "-%.0f-%.0f", w->spec->m[run->m], run->seed);
    for (char *at = ret_name->data; at && *at; at++)
        if (*at == '/')
            *at = '_';
}

int study_commands_identity(const struct study_commands *w, struct hm_text *ret_text)
{
    const struct hm_study_spec *spec = w->spec;
    struct hm_err err = {0};
    char *cluster = NULL;
    size_t length = 0;

    hm__text_add(ret_text, "howmany ");
    if (launch_command_quote(ret_text, &w->common))
        ret_text->failed = true;
    hm__text_add(ret_text, "\nloss ");
    hm__json_number(ret_text, spec->loss);
    hm__text_add(ret_text, "\nbest ");
    hm__json_number(ret_text, spec->best);
    hm__text_addf(ret_text, "\niterations %.0f\n", spec->iterations);
    if (w->simulate && hm__is_cluster_file(w->simulate)) {
        cluster = cli_read(w->simulate, &length, &err);
        if (!cluster)
            return cli_report(&err);
        hm__text_add_n(ret_text, cluster, length);
        hm_text_free(cluster);
    }
    return ret_text->failed ? cli_complain("out of memory") : 0;
}
