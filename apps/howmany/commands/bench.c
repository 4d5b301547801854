/*
 * howmany bench: make runs of any command, record them, and say what they teach.
 *
 * The command is words with places for values, never a shell's unless that is asked for. A run that
 * fails is recorded as failed and the rest go on; Ctrl-C ends the running command and keeps what
 * was measured.
 */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "student.h"

enum option {
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
    [SIZE] = {"size", 's', "LIST", "values of {size}: 0.1,0.2 or 0.1..1:4 for four", NULL},
    [VARY] = {"vary", 0, "NAME=LIST", "values of {NAME}", NULL},
    [REPEAT] = {"repeat", 'r', "K", "runs of each configuration (default 3)", NULL},
    [WITHIN] = {"within", 0, "P",
                "repeat until the 90 % interval of the mean is within so much of it, such as 5%",
                NULL},
    [MAX_REPEAT] = {"max-repeat", 0, "K", "with --within: at most so many (default 20)", NULL},
    [WARMUP] = {"warmup", 0, "K", "runs of each configuration before, not measured (default 0)",
                NULL},
    [TIMEOUT] = {"timeout", 0, "TIME",
                 "end a run after so long, such as 10min; it counts as failed", NULL},
    [RECORD] =
        {"record", 0, "FILE",
         "append every run to this table, .csv or .jsonl, or to a store, .db or postgresql://…",
         "@file"},
    [ITERATION_REGEX] = {"iteration-regex", 0, "REGEX",
                         "an extended regular expression; a line that matches is an iteration, its "
                         "first group the seconds",
                         NULL},
    [SHELL] = {"shell", 0, NULL, "run the command through sh", NULL},
    [SHOW_OUTPUT] = {"show-output", 0, NULL, "show what the command writes", NULL},
    [DESIGN] = {"design", 0, NULL,
                "choose each next run by what it tells of the prediction at --target", NULL},
    [TARGET] = {"target", 0, "PLACE", "with --design: 64, or n=64,size=1", NULL},
    [TIGHT] = {"tight", 0, "P",
               "with --design: until the prediction is sure within so much (default 10%)", NULL},
    [BUDGET] = {"budget", 'b', "TIME", "with --design: machine time to spend, such as 1h", NULL},
    [TERMS] = {"terms", 't', "LIST", "of the fit, such as 1,size/n,ln(n); auto (default)", "auto"},
    [DRY_RUN] = {"dry-run", 0, NULL, "print the commands, and run none", NULL},
    [JSON] = {"json", 'j', NULL, "the fit of the runs as JSON", NULL},
};

static void *begin(void)
{
    struct bench_state *s = calloc(1, sizeof(*s));

    if (s) {
        s->repeat = 3;
        s->max_repeat = 20;
        s->tight = 0.1;
        s->record.file = -1;
    }
    return s;
}

static void end(void *state)
{
    struct bench_state *s = state;

    cli_axes_release(&s->axes);
    cli_words_release(&s->words);
    cli_terms_release(&s->terms);
    cli_record_end(&s->record);
    hm_runs_free(s->places);
    if (s->has_regex)
        regfree(&s->regex);
    free(s);
}

/* ---- options -------------------------------------------------------------------------------- */

static int read_regex(struct bench_state *s, const char *value)
{
    char why[160];
    int rc = regcomp(&s->regex, value, REG_EXTENDED | REG_NEWLINE);

    if (rc) {
        regerror(rc, &s->regex, why, sizeof(why));
        return cli_complain("--iteration-regex: %s", why);
    }
    s->has_regex = true;
    if (s->regex.re_nsub < 1)
        return cli_complain("--iteration-regex: it needs a group for the seconds: "
                            "'step took ([0-9.]+) s'");
    return 0;
}

static int accept_switch(struct bench_state *s, int option)
{
    *(option == SHELL         ? &s->shell
      : option == SHOW_OUTPUT ? &s->show
      : option == DESIGN      ? &s->design
      : option == DRY_RUN     ? &s->dry_run
                              : &s->json) = true;
    return 0;
}

static int accept(void *state, int option, const char *value)
{
    struct bench_state *s = state;

    switch (option) {
    case -1:
        if (s->command)
            return cli_complain("bench: one command, in quotes ('%s' and '%s')", s->command, value);
        s->command = value;
        return 0;
    case N:
        return cli_axes_add(&s->axes, "n", value);
    case SIZE:
        return cli_axes_add(&s->axes, "size", value);
    case VARY:
        return cli_axes_vary(&s->axes, value);
    case REPEAT:
        return cli_whole("repeat", value, 1, 1e6, &s->repeat);
    case WITHIN:
        return cli_positive("within", value, HM_DIM_NONE, &s->within);
    case MAX_REPEAT:
        return cli_whole("max-repeat", value, 1, 1e6, &s->max_repeat);
    case WARMUP:
        return cli_whole("warmup", value, 0, 1e6, &s->warmup);
    case TIMEOUT:
        return cli_positive("timeout", value, HM_DIM_TIME, &s->timeout_s);
    case RECORD:
        s->file = value;
        return 0;
    case ITERATION_REGEX:
        return s->has_regex ? cli_complain("--iteration-regex: once") : read_regex(s, value);
    case TARGET:
        return cli_target_parse(&s->target, value);
    case TIGHT:
        return cli_positive("tight", value, HM_DIM_NONE, &s->tight);
    case BUDGET:
        return cli_positive("budget", value, HM_DIM_TIME, &s->budget_s);
    case TERMS:
        return cli_terms_parse(&s->terms, value);
    default:
        return accept_switch(s, option);
    }
}

/* ---- commands ------------------------------------------------------------------------------- */

double bench_value(const struct bench_state *s, size_t place, size_t axis)
{
    return hm_runs_column(s->places, s->axes.names[axis])->values[place];
}

bool bench_is_of(const struct bench_state *s, const struct hm_runs *runs, size_t row, size_t place)
{
    for (size_t k = 0; k < s->axes.count; k++)
        if (hm_runs_column(runs, s->axes.names[k])->values[row] != bench_value(s, place, k))
            return false;
    return true;
}

enum { VALUE_TEXT = 40 };

/* The words of one configuration; released by the caller. */
static int fill_words(const struct bench_state *s, size_t place, struct cli_words *filled)
{
    struct cli_fill fills[CLI_AXES_MAX];
    char values[CLI_AXES_MAX][VALUE_TEXT];
    struct hm_err err = {0};

    for (size_t i = 0; i < s->axes.count; i++) {
        snprintf(values[i], VALUE_TEXT, "%.15g", bench_value(s, place, i));
        fills[i] = (struct cli_fill){s->axes.names[i], values[i]};
    }
    return cli_words_fill(&s->words, fills, s->axes.count, filled, &err) ? cli_report(&err) : 0;
}

/* A shell gets the whole text as one word; otherwise it is split here and now. */
static int split_command(struct bench_state *s)
{
    struct hm_err err = {0};

    if (!s->shell)
        return cli_words_split(&s->words, s->command, &err) ? cli_report(&err) : 0;
    const char *const parts[] = {"sh", "-c", s->command};
    s->words.words = calloc(4, sizeof(char *));
    for (size_t i = 0; s->words.words && i < 3; i++)
        if ((s->words.words[i] = strdup(parts[i])))
            s->words.count++;
    return s->words.count == 3 ? 0 : cli_complain("out of memory");
}

static int print_commands(const struct bench_state *s)
{
    for (size_t place = 0; place < s->places->count; place++) {
        struct cli_words filled = {0};
        struct hm_text line = {0};
        int rc = fill_words(s, place, &filled);
        if (rc == 0 && (cli_words_quote(&line, &filled) || line.failed))
            rc = cli_complain("out of memory");
        if (rc == 0 && (!cli_put(line.data) || !cli_put("\n")))
            rc = EXIT_USAGE;
        hm__text_release(&line);
        cli_words_release(&filled);
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- runs ----------------------------------------------------------------------------------- */

/* Half of the 90 % interval of the mean, relative to it; infinite for fewer than two. */
static double half_width(const double *seconds, size_t count)
{
    double mean = 0, squares = 0;

    for (size_t i = 0; i < count; i++)
        mean += seconds[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (seconds[i] - mean) * (seconds[i] - mean);
    if (count < 2)
        return INFINITY;
    double free = (double)count - 1;
    return hm__student_quantile(free, 0.95) * sqrt(squares / free / (double)count) / mean;
}

static void describe(const struct bench_state *s, size_t place, char *text, size_t room)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < s->axes.count && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%s = %g", i ? ", " : "",
                                 s->axes.names[i], bench_value(s, place, i));
}

/* A command that cannot even start will not start the next time either. */
static int check_started(const struct cli_measure *m, const struct cli_words *words)
{
    if (strcmp(m->status, "not started") != 0)
        return 0;
    return cli_complain("bench: cannot start '%s': %s", words->words[0], m->words);
}

static int measure_once(struct bench_state *s, size_t place, char *const *argv, size_t repeat,
                        struct cli_measure *m)
{
    struct cli_watch watch = {
        .timeout_s = s->timeout_s, .iteration = s->has_regex ? &s->regex : NULL, .show = s->show};
    double values[CLI_AXES_MAX];
    int rc = cli_measure(argv, &watch, m);

    if (rc || strcmp(m->status, "interrupted") == 0 || repeat == 0)
        return rc;
    for (size_t i = 0; i < s->axes.count; i++)
        values[i] = bench_value(s, place, i);
    s->spent_s += m->total_s * values[0];
    return cli_record_add(&s->record, values, repeat, m);
}

static void say_failed(const struct bench_state *s, size_t place, const struct cli_measure *m)
{
    char what[200];

    describe(s, place, what, sizeof(what));
    fprintf(stderr, "howmany: %s: %s after %.3g s%s%s\n", what, m->status, m->total_s,
            m->words[0] ? ": " : "", m->words);
}

/* Whether another repeat is called for. */
static bool goes_on(const struct bench_state *s, size_t repeats, size_t done, const double *seconds,
                    size_t ok)
{
    if (done < repeats)
        return true;
    return s->within > 0 && ok > 0 && (double)done < s->max_repeat &&
           half_width(seconds, ok) > s->within;
}

int bench_configuration(struct bench_state *s, size_t place, size_t repeats)
{
    struct cli_words filled = {0};
    double *seconds = calloc((size_t)s->max_repeat + repeats, sizeof(*seconds));
    size_t ok = 0, done = 0;
    int rc = seconds ? fill_words(s, place, &filled) : cli_complain("out of memory");
    struct cli_measure m;

    for (double i = 0; rc == 0 && i < s->warmup; i++) {
        rc = measure_once(s, place, filled.words, 0, &m);
        rc = rc ? rc : check_started(&m, &filled);
        if (cli_interrupted())
            rc = EXIT_INTERRUPTED;
    }
    while (rc == 0 && goes_on(s, repeats, done, seconds, ok)) {
        rc = measure_once(s, place, filled.words, ++done, &m);
        rc = rc ? rc : check_started(&m, &filled);
        if (rc == 0 && cli_interrupted())
            rc = EXIT_INTERRUPTED;
        else if (rc == 0 && strcmp(m.status, "ok") == 0) {
            seconds[ok++] = m.seconds;
            s->unmatched += s->has_regex && m.iterations == 0;
        } else if (rc == 0)
            say_failed(s, place, &m);
    }
    cli_words_release(&filled);
    free(seconds);
    return rc;
}

static int bench_all(struct bench_state *s)
{
    struct cli_progress progress = cli_progress_start("bench", s->places->count);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < s->places->count; i++) {
        cli_progress_step(&progress, i);
        rc = bench_configuration(s, i, (size_t)s->repeat);
    }
    cli_progress_end(&progress);
    return rc;
}

/* ---- what was learnt ------------------------------------------------------------------------ */

struct hm_fit *bench_fit(const struct bench_state *s, struct hm_err *err)
{
    struct hm_fit_settings settings = {.terms = s->terms.terms, .term_count = s->terms.count};
    struct hm_runs *runs = cli_record_runs(&s->record, err);
    struct hm_fit *fit = NULL;

    if (runs && hm_fit_new(runs, &settings, &fit, err))
        fit = NULL;
    hm_runs_free(runs);
    return fit;
}

static void add_row(struct hm_text *out, const struct bench_state *s, const struct hm_runs *runs,
                    size_t place)
{
    const struct hm_column *column = hm_runs_column(runs, "seconds");
    double mean = 0, squares = 0, ok = 0, failed = 0;
    char time[HM_SHOWN], off[HM_SHOWN];

    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < runs->count; i++) {
            bool here = bench_is_of(s, runs, i, place);
            double seconds = column->values[i];
            if (here && pass == 0)
                isnan(seconds) ? failed++ : (ok++, mean += (seconds - mean) / ok);
            else if (here && !isnan(seconds))
                squares += (seconds - mean) * (seconds - mean);
        }
    }
    if (ok + failed == 0)
        return;
    for (size_t k = 0; k < s->axes.count; k++)
        hm__text_addf(out, "%10.6g", bench_value(s, place, k));
    hm__text_addf(out, " %6.0f", ok);
    if (ok > 0)
        hm__text_addf(out, " %10s", hm__show_time(mean, time));
    if (ok > 1)
        hm__text_addf(out, " +- %s", hm__show_time(sqrt(squares / (ok - 1)), off));
    if (failed > 0)
        hm__text_addf(out, "   %.0f failed", failed);
    hm__text_end_line(out);
}

static int show_table(const struct bench_state *s, const struct hm_runs *runs)
{
    struct hm_text out = {0};

    for (size_t k = 0; k < s->axes.count; k++)
        hm__text_addf(&out, "%10s", s->axes.names[k]);
    hm__text_addf(&out, " %6s %10s\n", "runs", "seconds");
    for (size_t i = 0; i < s->places->count; i++)
        add_row(&out, s, runs, i);
    hm__text_add(&out, "\n");
    return cli_put_text(&out);
}

static int show_fit(const struct bench_state *s, const struct hm_fit *fit)
{
    struct hm_prediction predictions[CLI_PLACES_MAX];
    struct hm_style style = cli_style();
    struct hm_err err = {0};
    struct hm_at at[CLI_TARGETS_MAX];
    double n[CLI_PLACES_MAX];
    size_t at_count = cli_target_others(&s->target, at);
    size_t count = cli_target_places(&s->target, fit->n_max, n);
    char *text;

    if (hm_fit_predict(fit, at, at_count, n, count, predictions, &err) ||
        hm_fit_render(fit, predictions, count, s->json ? HM_FORMAT_JSON : HM_FORMAT_TEXT, &style,
                      &text, &err))
        return cli_report(&err);
    int rc = cli_put(text) ? 0 : EXIT_USAGE;
    hm_text_free(text);
    return rc;
}

static int show(const struct bench_state *s)
{
    struct hm_err err = {0};
    struct hm_runs *runs = cli_record_runs(&s->record, &err);
    struct hm_fit *fit = NULL;
    int rc = 0;

    if (!runs)
        return s->record.rows ? cli_report(&err) : cli_complain("bench: nothing was measured");
    if (!s->json)
        rc = show_table(s, runs);
    bool all_failed = runs->failed == runs->count;
    hm_runs_free(runs);
    if (rc)
        return rc;
    if (all_failed)
        return cli_complain("bench: every run failed") ? EXIT_NO_ANSWER : 0;
    if ((fit = bench_fit(s, &err)))
        rc = show_fit(s, fit);
    else
        fprintf(stderr, "howmany: no fit yet: %s\n", err.message);
    hm_fit_free(fit);
    return rc;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* n is what machine time is counted by; the other axes keep their order. */
static bool put_n_first(struct cli_axes *axes)
{
    for (size_t i = 0; i < axes->count; i++) {
        if (strcmp(axes->names[i], "n") != 0)
            continue;
        struct cli_range n = axes->ranges[i];
        for (size_t k = i; k > 0; k--) {
            memcpy(axes->names[k], axes->names[k - 1], sizeof(axes->names[0]));
            axes->ranges[k] = axes->ranges[k - 1];
        }
        snprintf(axes->names[0], sizeof(axes->names[0]), "n");
        axes->ranges[0] = n;
        return true;
    }
    return false;
}

/* What the target names must be something that runs have. */
static int check_target(const struct bench_state *s)
{
    for (size_t i = 0; i < s->target.count; i++) {
        bool known = false;
        for (size_t k = 0; k < s->axes.count; k++)
            known = known || strcmp(s->axes.names[k], s->target.at[i].name) == 0;
        if (!known)
            return cli_complain("bench: --target names %s, which no run has", s->target.at[i].name);
    }
    return 0;
}

/*
 * Names that clash, values out of range and terms that cannot be are told before anything runs:
 * the table of all places, with a made-up time, must be readable, and the terms must compile.
 */
static int check_table(const struct bench_state *s)
{
    struct cli_record trial = {.file = -1, .axes = s->axes.count};
    struct cli_measure measure = {.status = "ok", .seconds = 1, .total_s = 1, .loss = NAN};
    struct hm_fit_settings settings = {.terms = s->terms.terms, .term_count = s->terms.count};
    struct hm_err err = {0};
    struct hm_fit *fit = NULL;
    int rc = 0;

    for (size_t i = 0; i < s->axes.count; i++)
        trial.names[i] = s->axes.names[i];
    rc = cli_record_begin(&trial, NULL);
    for (size_t i = 0; rc == 0 && i < s->places->count; i++) {
        double values[CLI_AXES_MAX];
        for (size_t k = 0; k < s->axes.count; k++)
            values[k] = bench_value(s, i, k);
        rc = cli_record_add(&trial, values, 1, &measure);
    }
    struct hm_runs *runs = rc == 0 ? cli_record_runs(&trial, &err) : NULL;
    if (rc == 0 && !runs)
        rc = cli_report(&err);
    if (rc == 0 && hm_fit_new(runs, &settings, &fit, &err) && err.code != HM_E_MISSING)
        rc = cli_report(&err);
    hm_fit_free(fit);
    hm_runs_free(runs);
    cli_record_end(&trial);
    return rc;
}

static int prepare(struct bench_state *s)
{
    if (!s->command)
        return cli_complain("bench: which command? Give it in quotes, as in howmany bench "
                            "'mpirun -n {n} ./train' --n 1,2,4");
    if (!put_n_first(&s->axes))
        return cli_complain("bench: give the numbers of workers: --n 1,2,4");
    if (s->design && s->target.n == 0)
        return cli_complain("bench: --design needs --target, such as n=64,size=1");
    if (!s->design && s->budget_s > 0)
        return cli_complain("bench: --budget goes with --design");
    int rc = split_command(s);
    if (rc == 0)
        rc = check_target(s);
    for (size_t i = 0; rc == 0 && i < s->axes.count; i++)
        if (s->axes.ranges[i].count > 1 && !cli_words_uses(&s->words, s->axes.names[i]))
            rc = cli_complain("bench: the command does not say {%s}, which is to vary",
                              s->axes.names[i]);
    return rc ? rc : cli_axes_cross(&s->axes, &s->places);
}

static int run(void *state)
{
    struct bench_state *s = state;
    struct cli_words first = {0};
    int rc = prepare(s);

    if (rc == 0) /* a {name} that nothing fills is told before anything runs */
        rc = fill_words(s, 0, &first);
    cli_words_release(&first);
    if (rc == 0)
        rc = check_table(s);
    if (rc || s->dry_run)
        return rc ? rc : print_commands(s);
    s->record.axes = s->axes.count;
    for (size_t i = 0; i < s->axes.count; i++)
        s->record.names[i] = s->axes.names[i];
    rc = cli_record_begin(&s->record, s->file);
    if (rc)
        return rc;
    cli_interrupt_begin();
    rc = s->design ? bench_by_design(s) : bench_all(s);
    cli_interrupt_end();
    if (rc == EXIT_INTERRUPTED)
        fprintf(stderr, "howmany: interrupted; what was measured is kept\n");
    else if (rc)
        return rc;
    if (s->unmatched)
        fprintf(stderr,
                "howmany: no line gave a time by --iteration-regex in %zu runs: the whole "
                "run counts there\n",
                s->unmatched);
    int shown = show(s);
    return rc ? rc : shown;
}

const struct cli_command cli_bench = {
    .name = "bench",
    .arguments = "COMMAND",
    .summary = "make runs of any command, record them, and learn from them",
    .description =
        "Runs COMMAND once for each combination of values, {n}, {size} and the like standing for "
        "them: any launcher (mpirun, srun, torchrun, spark-submit) and any program. It is split "
        "into words here, as a shell would, but no shell is used unless --shell asks for one. The "
        "seconds of an iteration are the median of those the command tells of on standard output, "
        "in lines {\"iteration\":1,\"seconds\":0.5,\"loss\":0.1} or by --iteration-regex; else the "
        "whole run is one. Runs that fail or take too long are recorded as such, and the rest go "
        "on. Ctrl-C keeps what was measured. Then the runs are fitted, as howmany fit does.\n\n"
        "Exit status: 0 measured; 1 every run failed; 2 wrong usage; 130 interrupted.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = NULL,
    .accept = accept,
    .run = run,
    .begin = begin,
    .end = end,
};
