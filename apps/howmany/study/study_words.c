/*
 * The options of a study's runs. What the file says under `train:` and of algorithms is held
 * against the table of `howmany train`, so that a mistake is told with its line before anything
 * runs. The study itself says which algorithm, on how many workers, with which seed, and when to
 * stop.
 */
#include "study_words.h"

#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "machine.h"
#include "err.h"
#include "format.h"
#include "memory.h"
#include "train_options.h"

/* Of the loss to reach: how well P* is known, and how far below L-BFGS's best it is assumed. */
static const double GAP_SHARE = 1.0 / 20, SETTLED_SHARE = 1.0 / 100;
static const double REFERENCE_ITERATIONS = 10; /* times those of a run */
static const double CHECK_ITERATIONS = 4;      /* the same, of a run that checks the answer */

/* ---- what may be said ----------------------------------------------------------------------- */

/* Keys that are the study's own business, and where it is said instead. */
static const char *own_hint(const char *key)
{
    static const char *const own[][2] = {
        {"algorithm", "algorithms: lists them"},
        {"n", "m: lists the numbers of workers"},
        {"seed", "seeds: says how many runs there are of each"},
        {"data-seed", "all runs have the rows of seed 1"},
        {"iterations", "iterations: stands beside train:"},
        {"epochs", "iterations: limits a run, and budget: all of them"},
        {"within", "budget: limits all runs"},
        {"suboptimality", "loss: says where runs end"},
        {"gap", "loss: says where runs end"},
        {"best", "best: stands beside train:"},
        {"simulate", "simulate: stands beside train:"},
        {"launcher", "launcher: stands beside train:"},
        {"set", "change the cluster's file"},
        {"checkpoint", "a run that is cut off is made again"},
        {"every", "a run that is cut off is made again"},
        {"resume", "a run that is cut off is made again"},
        {"restarts", "a run that is cut off is made again"},
        {"beliefs", "belief propagation has no loss to reach"},
        {"record", "the study's folder has the traces"},
        {"json", "the study's folder has the traces"},
        {"text", "the study's folder has the traces"},
        {"dry-run", "howmany study has --dry-run"},
        {"simgrid-files", "howmany train --simgrid-files leaves the description"},
        {"precision", "flops: of the cluster's file may be the speed that is meant"},
        {"scanned", "it is for the ranks"},
        {"slowness", "stragglers: of the cluster's file says it"},
    };

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strcmp(own[i][0], key) == 0)
            return own[i][1];
    return NULL;
}

static bool is_of_algorithm(const char *key)
{
    static const char *const keys[] = {"step", "batch", "passes", "momentum", "memory", "shrink"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static const char *option_name(const void *unused, size_t i)
{
    (void)unused;
    return i + TRAIN_HIDDEN < TRAIN_RANKS ? train_table[i + TRAIN_HIDDEN].name : NULL;
}

static int option_find(const char *key)
{
    for (int i = TRAIN_HIDDEN; i < TRAIN_RANKS; i++)
        if (strcmp(train_table[i].name, key) == 0)
            return i;
    return -1;
}

/* "file:3: train.lambda: message" and a hint. */
static int refuse(const struct hm_study_option *option, const char *where, const char *message,
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
    const char *own = own_hint(option->key);
    char hint[160];

    if (own)
        return refuse(option, where, "is set by the study", own);
    int index = option_find(option->key);
    if (index < 0) {
        const char *near = hm__suggest(option->key, option_name, NULL);
        snprintf(hint, sizeof(hint), "did you mean %s?", near ? near : "");
        return refuse(option, where, "there is no such option of howmany train",
                      near ? hint : "'howmany help train' lists them");
    }
    if (of_algorithm && !is_of_algorithm(option->key))
        return refuse(option, where, "is not an algorithm's own", "it goes under train:");
    if (train_table[index].argument && !option->value)
        return refuse(option, where, "needs a value", train_table[index].help);
    if (!train_table[index].argument && option->value)
        return refuse(option, where, "is a switch", "write true or false");
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

/* ---- what they mean ------------------------------------------------------------------------- */

static int accept_all(struct train_options *o, const struct hm_study_options *options)
{
    for (size_t i = 0; i < options->count; i++) {
        const struct hm_study_option *option = &options->all[i];
        if (train_options_accept(o, option_find(option->key), option->value) == 0)
            continue;
        fprintf(stderr, "  %s:%d: %s\n", option->source, option->line, option->key);
        return EXIT_USAGE;
    }
    return 0;
}

/* The options of runs by one algorithm, checked by what checks those of a single run. */
static int check_algorithm(const struct study_words *w, const struct hm_study_algorithm *algorithm,
                           struct train_options *o)
{
    train_options_init(o);
    o->algorithm_name = algorithm->name;
    o->limits.iterations = w->spec->iterations;
    int rc = accept_all(o, &w->spec->train);
    rc = rc ? rc : accept_all(o, &algorithm->options);
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

static const struct hm_study_option *find_option(const struct hm_study_spec *spec, const char *key)
{
    for (size_t i = 0; i < spec->train.count; i++)
        if (strcmp(spec->train.all[i].key, key) == 0)
            return &spec->train.all[i];
    return NULL;
}

/* Check all; what is true of all of them is taken from the first. */
static int check_options(struct study_words *w, bool *ret_made)
{
    const struct hm_study_option *problem = find_option(w->spec, "problem");
    struct train_options o;

    if (problem && strcmp(problem->value, "bp") == 0)
        return refuse(problem, "train", "belief propagation has no loss to reach", NULL);
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

/* ---- words ---------------------------------------------------------------------------------- */

/* --name=value, or --name. */
static int add_option(struct cli_words *words, const char *name, const char *value)
{
    struct hm_text word = {0};
    struct hm_err err = {0};

    hm__text_addf(&word, "--%s%s%s", name, value ? "=" : "", value ? value : "");
    int rc = word.failed ? hm__fail_nomem(&err) : cli_words_add(words, word.data, &err);
    hm__text_release(&word);
    return rc ? cli_report(&err) : 0;
}

static int add_quantity(struct cli_words *words, const char *name, double value, const char *unit)
{
    struct hm_text text = {0};

    hm__json_number(&text, value);
    hm__text_add(&text, unit);
    int rc = text.failed ? cli_complain("out of memory") : add_option(words, name, text.data);
    hm__text_release(&text);
    return rc;
}

static int add_number(struct cli_words *words, const char *name, double value)
{
    return add_quantity(words, name, value, "");
}

static int add_options(struct cli_words *words, const struct hm_study_options *options)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < options->count; i++)
        rc = add_option(words, options->all[i].key, options->all[i].value);
    return rc;
}

/* A name beside the study's file, as seen from here; NULL: out of memory. */
static const char *beside(const struct study_words *w, const char *name)
{
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof(folder), "%s", w->spec->source);

    if (name[0] == '/' || length < 0 || (size_t)length >= sizeof(folder) || !strchr(folder, '/'))
        return name;
    return hm__arena_printf(w->arena, "%s/%s", dirname(folder), name);
}

/* Files of the data may lie beside the study's file. */
static int find_files(struct study_words *w)
{
    static const char *const keys[] = {"data", "test", "labels"};

    for (size_t i = 0; i < w->spec->train.count; i++)
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
            struct hm_study_option *option = &w->spec->train.all[i];
            if (strcmp(option->key, keys[k]) != 0 || !option->value)
                continue;
            const char *path = beside(w, option->value);
            if (!path)
                return cli_complain("out of memory");
            if (access(path, F_OK) == 0)
                option->value = path;
        }
    return 0;
}

static int make_common(struct study_words *w, bool made)
{
    const struct hm_study_spec *spec = w->spec;
    struct hm_err err = {0};
    int rc = cli_words_add(&w->common, "train", &err) ? cli_report(&err) : 0;

    rc = rc ? rc : add_options(&w->common, &spec->train);
    if (rc == 0 && made)
        rc = add_option(&w->common, "data-seed", "1");
    if (rc == 0 && w->simulate)
        rc = add_option(&w->common, "simulate", w->simulate);
    if (rc == 0 && spec->launcher)
        rc = add_option(&w->common, "launcher", spec->launcher);
    return rc;
}

int study_words_prepare(struct study_words *w, const struct hm_study_spec *spec)
{
    bool made = false;

    w->spec = spec;
    w->arena = hm__arena_new();
    if (!w->arena)
        return cli_complain("out of memory");
    int rc = check_keys(spec);
    rc = rc ? rc : find_files(w);
    rc = rc ? rc : check_options(w, &made);
    if (rc == 0 && spec->simulate) {
        bool file = cli_cluster_is_file(spec->simulate);
        w->simulate = file ? beside(w, spec->simulate) : spec->simulate;
        rc = w->simulate ? 0 : cli_complain("out of memory");
    }
    return rc ? rc : make_common(w, made);
}

void study_words_release(struct study_words *w)
{
    cli_words_release(&w->common);
    hm__arena_free(w->arena);
}

static int copy_words(const struct cli_words *from, struct cli_words *to)
{
    struct hm_err err = {0};

    for (size_t i = 0; i < from->count; i++)
        if (cli_words_add(to, from->words[i], &err))
            return cli_report(&err);
    return 0;
}

/* A run that checks the answer may take more iterations than those it was told from. */
static int add_limits(const struct study_words *w, double seed, double best,
                      struct cli_words *words)
{
    double more = seed > w->spec->seeds ? CHECK_ITERATIONS : 1;
    int rc = add_number(words, "iterations", more * w->spec->iterations);

    rc = rc ? rc : add_quantity(words, "within", w->spec->budget_s, "s");
    if (rc || (isnan(best) && w->reference == STUDY_ESTIMATED))
        return rc;
    rc = isnan(best) ? add_option(words, "best", "P*") : add_number(words, "best", best);
    return rc ? rc : add_number(words, "suboptimality", w->spec->loss);
}

int study_words_run(const struct study_words *w, const struct study_run *run, double best,
                    struct cli_words *ret_words)
{
    const struct hm_study_algorithm *algorithm = &w->spec->algorithms[run->algorithm];
    struct cli_words words = {0};
    int rc = copy_words(&w->common, &words);

    rc = rc ? rc : add_option(&words, "algorithm", algorithm->name);
    rc = rc ? rc : add_options(&words, &algorithm->options);
    rc = rc ? rc : add_number(&words, "n", w->spec->m[run->m]);
    rc = rc ? rc : add_number(&words, "seed", run->seed);
    rc = rc ? rc : add_limits(w, run->seed, best, &words);
    rc = rc ? rc : add_option(&words, "json", NULL);
    if (rc)
        cli_words_release(&words);
    else
        *ret_words = words;
    return rc;
}

/* ---- P* ------------------------------------------------------------------------------------- */

int study_words_reference(const struct study_words *w, struct cli_words *ret_words)
{
    bool gap = w->reference == STUDY_GAP;
    struct cli_words words = {0};
    int rc = copy_words(&w->common, &words);

    rc = rc ? rc : add_option(&words, "algorithm", gap ? "cocoa" : "lbfgs");
    rc = rc ? rc : add_number(&words, "n", w->spec->m[0]);
    rc = rc ? rc : add_number(&words, "seed", 1);
    if (rc == 0 && gap)
        rc = add_number(&words, "gap", w->spec->loss * GAP_SHARE);
    rc = rc ? rc : add_number(&words, "iterations", REFERENCE_ITERATIONS * w->spec->iterations);
    rc = rc ? rc : add_quantity(&words, "within", w->spec->budget_s, "s");
    rc = rc ? rc : add_option(&words, "json", NULL);
    if (rc)
        cli_words_release(&words);
    else
        *ret_words = words;
    return rc;
}

static double least_of(const struct hm_trace *trace)
{
    double least = INFINITY;

    for (size_t i = 0; i < trace->count; i++)
        least = fmin(least, trace->loss[i]);
    return least;
}

/*
 * With a gap, P* is from objective - gap to objective. The lower end is taken: then no run gets
 * below it, and one that is said to be near enough is. It makes runs look worse by at most a
 * twentieth of the loss to reach.
 */
double study_words_best(const struct study_words *w, const struct hm_trace *trace)
{
    if (w->reference == STUDY_GAP)
        return isfinite(trace->bound) ? trace->bound : NAN;
    return least_of(trace) - w->spec->loss * SETTLED_SHARE;
}

double study_words_best_of_all(const struct study_words *w, double best,
                               const struct hm_traces *traces)
{
    for (size_t i = 0; w->reference == STUDY_LBFGS && !isnan(best) && i < traces->count; i++)
        best = fmin(best, least_of(&traces->traces[i]) - w->spec->loss * SETTLED_SHARE);
    return best;
}

/* ---- names ---------------------------------------------------------------------------------- */

void study_words_name(const struct study_words *w, const struct study_run *run,
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

int study_words_identity(const struct study_words *w, struct hm_text *ret_text)
{
    const struct hm_study_spec *spec = w->spec;
    struct hm_err err = {0};
    char *cluster = NULL;
    size_t length = 0;

    hm__text_add(ret_text, "howmany ");
    if (cli_words_quote(ret_text, &w->common))
        ret_text->failed = true;
    hm__text_add(ret_text, "\nloss ");
    hm__json_number(ret_text, spec->loss);
    hm__text_add(ret_text, "\nbest ");
    hm__json_number(ret_text, spec->best);
    hm__text_addf(ret_text, "\niterations %.0f\n", spec->iterations);
    if (w->simulate && cli_cluster_is_file(w->simulate)) {
        cluster = cli_read(w->simulate, &length, &err);
        if (!cluster)
            return cli_report(&err);
        hm__text_add_n(ret_text, cluster, length);
        hm_text_free(cluster);
    }
    return ret_text->failed ? cli_complain("out of memory") : 0;
}
