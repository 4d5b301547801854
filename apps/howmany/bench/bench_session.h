/* Declares the state of `howmany bench`: its settings, the configurations, and the runs so far. */
#ifndef HM_BENCH_SESSION_H
#define HM_BENCH_SESSION_H

#include "cli.h"
#include "command_line.h"
#include "lists.h"
#include "machine.h"
#include "run_record.h"

/*
 * State of a benchmark. Zero-initialise the struct, set record.file to -1, fill in the settings,
 * and release it with bench_release.
 */
struct bench_session {
    /* Quantities that vary between the runs; bench_prepare moves n to the front. */
    struct cli_axes axes;
    struct launch_command command; /* Command to measure, with {name} placeholders. */
    double repeat, max_repeat, warmup;
    double timeout_s; /* Time limit of one run in seconds; 0 for no limit. */
    /* Runs of a configuration are repeated until half the width of the interval for the mean is
     * below this share of the mean; 0 means that the number of repeats is fixed. */
    double within;
    /* The two numbers of iterations that replace {iterations}. The command runs with both, and the
     * difference between the times is the time of the additional iterations. Both are 0 if the
     * command has no {iterations}. */
    double short_count, long_count;
    const char *file; /* File or store that records the runs; NULL if there is none. Borrowed. */
    regex_t regex;
    bool has_regex, show, json;
    struct cli_terms terms;
    struct cli_target target;
    /*
     * With --design, the benchmark stops when half the width of the interval at the target,
     * relative to the prediction, is at most this value.
     */
    double tight;
    /* With --design, maximum machine-seconds of all runs together; 0 for no limit. */
    double budget_s;

    /* All combinations of the values of the quantities, one per row; owned. */
    struct hm_runs *configurations;
    struct launch_record record;
    size_t unmatched; /* Number of runs in whose output no line matched the regular expression. */
    /* Number of runs whose measured time includes the start-up of the command. */
    size_t with_startup;
    const char *framework; /* Framework whose log lines were recognised in the output of a run; NULL
                              if there is none so far. */
    double spent_s;        /* Machine-seconds used by all runs so far. */
    struct cli_progress progress;
};

void bench_release(struct bench_session *session);

/* ---- runs (bench_runs.c) ---- */

/* Computes the configurations and checks the command, target and terms before anything runs. */
int bench_prepare(struct bench_session *session);
/* Prints the command of each configuration. */
int bench_print_commands(const struct bench_session *session);
/*
 * Opens the record, executes all runs (if `design` is true, only those that --design chooses) and
 * shows the results. Returns an exit code.
 */
int bench_run(struct bench_session *session, bool design);
/*
 * Executes the runs of one configuration. Returns 0 or an exit code, which is 130 after an
 * interruption.
 */
int bench_run_configuration(struct bench_session *session, size_t configuration, size_t repeats);
/* Returns the value of a varied quantity (axis) in a configuration. */
double bench_value(const struct bench_session *session, size_t configuration, size_t axis);
/* Returns whether a row of `runs` is a run of this configuration. */
bool bench_row_matches(const struct bench_session *session, const struct hm_runs *runs, size_t row,
                       size_t configuration);

/* ---- choosing runs (bench_design.c) ---- */

/*
 * Implements --design: chooses and executes runs until the prediction is precise enough or the
 * budget is spent.
 */
int bench_run_design(struct bench_session *session);

/* ---- results (bench_output.c) ---- */

/* Fits all runs so far. Returns NULL with the error set on failure. */
struct hm_fit *bench_fit(const struct bench_session *session, struct hm_err *err);
/* Prints the table of runs and the fit. Returns an exit code. */
int bench_show(const struct bench_session *session);

#endif
