/*
 * Executes the runs of a benchmark. A run that fails is recorded as failed and the remaining runs
 * continue. Ctrl-C ends the running command and keeps all measurements so far.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_session.h"
#include "clock.h"
#include "format.h"
#include "listing.h"
#include "student.h"

void bench_release(struct bench_session *s)
{
    cli_axes_release(&s->axes);
    launch_command_release(&s->command);
    cli_terms_release(&s->terms);
    cli_target_release(&s->target);
    launch_record_end(&s->record);
    hm_runs_free(s->configurations);
    if (s->has_regex)
        regfree(&s->regex);
}

/* ---- commands ------------------------------------------------------------------------------- */

double bench_value(const struct bench_session *s, size_t configuration, size_t axis)
{
    return hm_runs_column(s->configurations, s->axes.names[axis])->values[configuration];
}

bool bench_row_matches(const struct bench_session *s, const struct hm_runs *runs, size_t row,
                       size_t configuration)
{
    for (size_t k = 0; k < s->axes.count; k++)
        if (hm_runs_column(runs, s->axes.names[k])->values[row] != bench_value(s, configuration, k))
            return false;
    return true;
}

enum { VALUE_TEXT = 40 };

/*
 * Replaces the placeholders in the command with the values of one configuration, and {iterations}
 * with a number of iterations. The caller releases the command.
 */
static int fill_command(const struct bench_session *s, size_t configuration, double iterations,
                        struct launch_command *filled)
{
    struct launch_placeholder placeholders[CLI_AXES_MAX + 1];
    char values[CLI_AXES_MAX + 1][VALUE_TEXT];
    struct hm_err err = {0};
    size_t count = s->axes.count;

    for (size_t i = 0; i < count; i++) {
        snprintf(values[i], VALUE_TEXT, "%.15g", bench_value(s, configuration, i));
        placeholders[i] = (struct launch_placeholder){s->axes.names[i], values[i]};
    }
    if (iterations > 0) {
        snprintf(values[count], VALUE_TEXT, "%.15g", iterations);
        placeholders[count] = (struct launch_placeholder){"iterations", values[count]};
        count++;
    }
    return launch_command_fill(&s->command, placeholders, count, filled, &err) ? cli_report(&err)
                                                                               : 0;
}

/* The commands of one configuration. The second is for the short run; it is empty if the command
 * has no {iterations}. */
struct command_pair {
    struct launch_command whole, brief;
};

static int fill_commands(const struct bench_session *s, size_t configuration,
                         struct command_pair *pair)
{
    int rc = fill_command(s, configuration, s->long_count, &pair->whole);

    return rc || s->short_count == 0 ? rc
                                     : fill_command(s, configuration, s->short_count, &pair->brief);
}

static void command_pair_release(struct command_pair *pair)
{
    launch_command_release(&pair->whole);
    launch_command_release(&pair->brief);
}

static int print_command(const struct bench_session *s, size_t configuration, double iterations)
{
    struct launch_command filled = {0};
    struct hm_text line = {0};
    int rc = fill_command(s, configuration, iterations, &filled);

    if (rc == 0 && (launch_command_quote(&line, &filled) || line.failed))
        rc = cli_complain("out of memory");
    if (rc == 0 && (!cli_put(line.data) || !cli_put("\n")))
        rc = EXIT_USAGE;
    hm__text_release(&line);
    launch_command_release(&filled);
    return rc;
}

int bench_print_commands(const struct bench_session *s)
{
    for (size_t configuration = 0; configuration < s->configurations->count; configuration++) {
        int rc = print_command(s, configuration, s->long_count);
        if (rc == 0 && s->short_count > 0)
            rc = print_command(s, configuration, s->short_count);
        if (rc)
            return rc;
    }
    return 0;
}
/* ---- runs ----------------------------------------------------------------------------------- */

/* Returns half the width of the 90 % confidence interval for the mean of the times, relative to the
 * mean; INFINITY for fewer than two times. */
static double relative_half_width(const double *seconds, size_t count)
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

static void describe_configuration(const struct bench_session *s, size_t configuration, char *text,
                                   size_t room)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < s->axes.count && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%s = %g", i ? ", " : "",
                                 s->axes.names[i], bench_value(s, configuration, i));
}

/* If a command could not be started, the benchmark stops, because the next run would also fail. */
static int check_started(const struct launch_measurement *m, const struct launch_command *command)
{
    if (strcmp(m->status, "not started") != 0)
        return 0;
    return cli_complain("bench: cannot start '%s': %s", command->argv[0], m->message);
}

/*
 * Measures the command once. If it has the placeholder {iterations} and did not report its
 * iterations, runs it again with fewer iterations and subtracts the start-up. *ret_wall_s is the
 * wall time of both runs.
 */
static int measure_commands(const struct bench_session *s, const struct command_pair *pair,
                            struct launch_measurement *m, double *ret_wall_s)
{
    struct launch_measure_settings settings = {
        .timeout_s = s->timeout_s, .iteration = s->has_regex ? &s->regex : NULL, .show = s->show};
    struct launch_measurement brief;
    int rc = launch_measure(pair->whole.argv, &settings, m);

    *ret_wall_s = m->total_s;
    if (rc || !pair->brief.argv || m->iterations > 0 || strcmp(m->status, "ok") != 0)
        return rc;
    rc = launch_measure(pair->brief.argv, &settings, &brief);
    if (rc == 0) {
        *ret_wall_s += brief.total_s;
        launch_measurement_subtract(m, s->long_count, &brief, s->short_count);
    }
    return rc;
}

static int run_once(struct bench_session *s, size_t configuration, const struct command_pair *pair,
                    size_t repeat, struct launch_measurement *m)
{
    double values[CLI_AXES_MAX], wall_s;
    int rc = measure_commands(s, pair, m, &wall_s);

    cli_progress_end(&s->progress); /* Clear the progress line, so that messages about the run begin
                                       on an empty line. */
    if (rc == 0 && m->framework && !s->framework) {
        fprintf(stderr, "howmany: iterations are read from the output of %s\n", m->framework);
        s->framework = m->framework;
    }
    if (rc || strcmp(m->status, "interrupted") == 0 || repeat == 0)
        return rc;
    for (size_t i = 0; i < s->axes.count; i++)
        values[i] = bench_value(s, configuration, i);
    s->spent_s += wall_s * values[0];
    return launch_record_add(&s->record, values, repeat, m);
}

static void report_failed_run(const struct bench_session *s, size_t configuration,
                              const struct launch_measurement *m)
{
    char what[200];

    describe_configuration(s, configuration, what, sizeof(what));
    fprintf(stderr, "howmany: %s: %s after %.3g s%s%s\n", what, m->status, m->total_s,
            m->message[0] ? ": " : "", m->message);
}

/* Returns whether the current configuration needs another repeat. */
static bool needs_repeat(const struct bench_session *s, size_t repeats, size_t done,
                         const double *seconds, size_t ok)
{
    if (done < repeats)
        return true;
    return s->within > 0 && ok > 0 && (double)done < s->max_repeat &&
           relative_half_width(seconds, ok) > s->within;
}

/*
 * Shows on the terminal and in the server's list of running commands (board) which run begins, such
 * as "n = 4, run 2", and how many of all runs are done. More runs than `repeats` may be needed, but
 * their number is not known in advance. If the output of the command is shown, it replaces the
 * progress display.
 */
static void show_repeat(struct bench_session *s, size_t configuration, size_t repeat,
                        size_t repeats)
{
    size_t done = configuration * repeats + (repeat <= repeats ? repeat - 1 : repeats - 1);
    char what[200], text[240], left[HM_SHOWN], more[sizeof(text) + 80];
    double spent = cli_now_s() - s->progress.started_s;
    size_t total = s->progress.total * repeats;

    describe_configuration(s, configuration, what, sizeof(what));
    snprintf(text, sizeof(text), "%s, run %zu", what, repeat);
    snprintf(more, sizeof(more), "%s; %zu of %zu runs done", text, done, total);
    if (total > 0 && done > 0)
        snprintf(more, sizeof(more), "%s; %zu of %zu runs done, about %s left", text, done, total,
                 hm__show_time(spent / (double)done * (double)(total - done), left));
    if (!s->show)
        cli_progress_say(&s->progress, total > 0 ? more : text);
    cli_listing_say(s->progress.listing, text);
    if (s->progress.total > 0)
        cli_listing_put(s->progress.listing, (double)done, (double)(s->progress.total * repeats),
                        true);
    else
        cli_listing_put(s->progress.listing, s->spent_s, s->budget_s, true);
}

int bench_run_configuration(struct bench_session *s, size_t configuration, size_t repeats)
{
    struct command_pair pair = {0};
    double *seconds = calloc((size_t)s->max_repeat + repeats, sizeof(*seconds));
    size_t ok = 0, done = 0;
    int rc = seconds ? fill_commands(s, configuration, &pair) : cli_complain("out of memory");
    struct launch_measurement m;

    for (double i = 0; rc == 0 && i < s->warmup; i++) {
        rc = run_once(s, configuration, &pair, 0, &m);
        rc = rc ? rc : check_started(&m, &pair.whole);
        if (launch_interrupted())
            rc = EXIT_INTERRUPTED;
    }
    while (rc == 0 && needs_repeat(s, repeats, done, seconds, ok)) {
        show_repeat(s, configuration, done + 1, repeats);
        rc = run_once(s, configuration, &pair, ++done, &m);
        rc = rc ? rc : check_started(&m, &pair.whole);
        if (rc == 0 && launch_interrupted())
            rc = EXIT_INTERRUPTED;
        else if (rc == 0 && strcmp(m.status, "ok") == 0) {
            seconds[ok++] = m.seconds;
            cli_listing_point(s->progress.listing, bench_value(s, configuration, 0), m.seconds);
            s->unmatched += s->has_regex && m.iterations == 0;
            s->with_startup += strcmp(m.timing, LAUNCH_TIMING_WHOLE) == 0;
        } else if (rc == 0)
            report_failed_run(s, configuration, &m);
    }
    command_pair_release(&pair);
    free(seconds);
    return rc;
}

static int run_all_configurations(struct bench_session *s)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < s->configurations->count; i++)
        rc = bench_run_configuration(s, i, (size_t)s->repeat);
    return rc;
}

/*
 * Starts showing progress on the terminal and on the server's page; the title is the command as the
 * user gave it.
 */
static void list_session(struct bench_session *s, bool design)
{
    struct hm_text command = {0};

    s->progress = cli_progress_start("bench", design ? 0 : s->configurations->count);
    if (launch_command_quote(&command, &s->command) == 0 && !command.failed && command.data)
        cli_progress_list(&s->progress, command.data);
    hm__text_release(&command);
}

/* ---- preparation ---------------------------------------------------------------------------- */

/*
 * Moves n to the front of the varied quantities (axes), because machine time is n times the wall
 * time; the other quantities keep their order.
 */
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

/* Checks that the target of the prediction names only quantities that the benchmark varies. */
static int check_target(const struct bench_session *s)
{
    for (size_t i = 0; i < s->target.place.count; i++) {
        bool known = false;
        for (size_t k = 0; k < s->axes.count; k++)
            known = known || strcmp(s->axes.names[k], s->target.place.at[i].name) == 0;
        if (!known)
            return cli_complain("bench: --target names %s, which is not an axis of the runs",
                                s->target.place.at[i].name);
    }
    return 0;
}

/* Reports a quantity whose column has another name or texts in a table of runs, where the quantity
 * would not be found again. */
static int check_names(const struct bench_session *s, const struct hm_runs *runs)
{
    int rc = 0;

    for (size_t k = 0; rc == 0 && k < s->axes.count; k++) {
        const struct hm_column *column = hm_runs_column(runs, s->axes.names[k]);
        if (!column || !column->values)
            rc = cli_complain("bench: a table of runs has no numbers under the name '%s'; give the "
                              "quantity another name",
                              s->axes.names[k]);
    }
    return rc;
}

/*
 * Reports duplicate names, values out of range and invalid terms before anything runs. To find
 * them, a table of all configurations with an arbitrary time is read, and the terms are compiled.
 */
static int check_fit_terms(const struct bench_session *s)
{
    struct launch_record trial = {.file = -1, .axes = s->axes.count};
    struct launch_measurement measure = {.status = "ok", .seconds = 1, .total_s = 1, .loss = NAN};
    struct hm_fit_settings settings = {.terms = s->terms.texts.items,
                                       .term_count = s->terms.texts.count};
    struct hm_err err = {0};
    struct hm_fit *fit = NULL;
    int rc = 0;

    for (size_t i = 0; i < s->axes.count; i++)
        trial.names[i] = s->axes.names[i];
    rc = launch_record_begin(&trial, NULL);
    for (size_t i = 0; rc == 0 && i < s->configurations->count; i++) {
        double values[CLI_AXES_MAX];
        for (size_t k = 0; k < s->axes.count; k++)
            values[k] = bench_value(s, i, k);
        rc = launch_record_add(&trial, values, 1, &measure);
    }
    struct hm_runs *runs = rc == 0 ? launch_record_runs(&trial, &err) : NULL;
    if (rc == 0 && !runs)
        rc = cli_report(&err);
    rc = rc ? rc : check_names(s, runs);
    if (rc == 0 && hm_fit_new(runs, &settings, &fit, &err) && err.code != HM_E_MISSING)
        rc = cli_report(&err);
    hm_fit_free(fit);
    hm_runs_free(runs);
    launch_record_end(&trial);
    return rc;
}

/* Sets the default numbers of iterations of a command with {iterations}. */
static int check_lengths(struct bench_session *s)
{
    if (!launch_command_uses(&s->command, "iterations"))
        return s->long_count > 0
                   ? cli_complain("bench: --iterations applies only to a command with {iterations}")
                   : 0;
    if (s->long_count == 0) {
        s->short_count = 10;
        s->long_count = 30;
    }
    return 0;
}

int bench_prepare(struct bench_session *s)
{
    struct command_pair first = {0};

    if (!put_n_first(&s->axes))
        return cli_complain("bench: give the numbers of workers: --n 1,2,4");
    int rc = check_target(s);
    for (size_t i = 0; rc == 0 && i < s->axes.count; i++)
        if (s->axes.ranges[i].count > 1 && !launch_command_uses(&s->command, s->axes.names[i]))
            rc = cli_complain("bench: the command does not contain {%s}, which has several values",
                              s->axes.names[i]);
    rc = rc ? rc : check_lengths(s);
    rc = rc ? rc : cli_axes_cross(&s->axes, &s->configurations);
    /* The command of the first configuration is filled in only to detect placeholders that have no
     * value. */
    rc = rc ? rc : fill_commands(s, 0, &first);
    command_pair_release(&first);
    return rc ? rc : check_fit_terms(s);
}

int bench_run(struct bench_session *s, bool design)
{
    s->record.axes = s->axes.count;
    for (size_t i = 0; i < s->axes.count; i++)
        s->record.names[i] = s->axes.names[i];
    int rc = launch_record_begin(&s->record, s->file);
    if (rc)
        return rc;
    launch_interrupt_begin();
    list_session(s, design);
    rc = design ? bench_run_design(s) : run_all_configurations(s);
    cli_progress_close(&s->progress);
    launch_interrupt_end();
    if (rc == EXIT_INTERRUPTED)
        fprintf(stderr, "howmany: interrupted; the finished runs are kept\n");
    else if (rc)
        return rc;
    if (s->unmatched)
        fprintf(stderr,
                "howmany: in %zu runs no line matched --iteration-regex; their whole wall time "
                "counts as one iteration\n",
                s->unmatched);
    if (s->with_startup)
        fprintf(stderr,
                "howmany: warning: %zu run%s reported no iterations, so %s seconds include the "
                "start-up; write {iterations} where the command takes their number, and the "
                "start-up is subtracted\n",
                s->with_startup, s->with_startup == 1 ? "" : "s",
                s->with_startup == 1 ? "its" : "their");
    int shown = bench_show(s);
    return rc ? rc : shown;
}
