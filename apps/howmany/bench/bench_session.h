/* The state of `howmany bench`: its settings, the configurations, and the runs so far. */
#ifndef HM_BENCH_SESSION_H
#define HM_BENCH_SESSION_H

#include "command_line.h"
#include "lists.h"
#include "machine.h"
#include "run_record.h"

/* Zero-initialise, set record.file to -1 and the settings; release with bench_release. */
struct bench_session {
    struct cli_axes axes;          /* Quantities that vary, with n first after bench_prepare. */
    struct launch_command command; /* With {name} placeholders. */
    double repeat, max_repeat, warmup;
    double timeout_s; /* 0: no timeout. */
    double within; /* Repeat until half of the interval of the mean is below this share of the mean;
                      0: a fixed number of repeats. */
    const char *file; /* Where runs are recorded; NULL: nowhere. Borrowed. */
    regex_t regex;
    bool has_regex, show, json;
    struct cli_terms terms;
    struct cli_target target;
    double tight;    /* --design: half of the relative interval at the target to reach. */
    double budget_s; /* --design: machine-seconds; 0: no limit. */

    struct hm_runs *configurations; /* All combinations of values, one per row; owned. */
    struct launch_record record;
    size_t unmatched; /* Runs in which no line matched the regular expression. */
    double spent_s;   /* Machine-seconds so far. */
};

void bench_release(struct bench_session *session);

/* ---- runs (bench_runs.c) ---- */

/* Compute the configurations and check the command, target and terms before anything runs. */
int bench_prepare(struct bench_session *session);
/* Print the command of each configuration. */
int bench_print_commands(const struct bench_session *session);
/* Open the record, make all runs (design: those that --design chooses) and show the results; an
 * exit code. */
int bench_run(struct bench_session *session, bool design);
/* Make the runs of one configuration; 0, or an exit code: 130 when interrupted. */
int bench_run_configuration(struct bench_session *session, size_t configuration, size_t repeats);
/* The value of an axis in a configuration. */
double bench_value(const struct bench_session *session, size_t configuration, size_t axis);
/* Whether a row of `runs` has the values of a configuration. */
bool bench_row_matches(const struct bench_session *session, const struct hm_runs *runs, size_t row,
                       size_t configuration);

/* ---- choosing runs (bench_design.c) ---- */

/* Choose and make runs until the prediction is tight enough or the budget is spent. */
int bench_run_design(struct bench_session *session);

/* ---- results (bench_output.c) ---- */

/* Fit all runs so far; NULL with the error. */
struct hm_fit *bench_fit(const struct bench_session *session, struct hm_err *err);
/* Print the table of runs and the fit; an exit code. */
int bench_show(const struct bench_session *session);

#endif
