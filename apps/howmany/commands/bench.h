/* howmany bench: its settings and its state, shared by the loop and by the choice of runs. */
#ifndef HM_BENCH_H
#define HM_BENCH_H

#include "machine.h"
#include "lists.h"
#include "record.h"
#include "words.h"

struct bench_state {
    const char *command;
    struct cli_axes axes;
    struct cli_words words;
    double repeat, max_repeat, warmup, timeout_s;
    double within; /* repeats go on until the interval of the mean is that narrow; 0: not asked */
    const char *file;
    regex_t regex;
    bool has_regex, shell, dry_run, show, json, design;
    struct cli_terms terms;
    struct cli_target target;
    double tight;           /* of --design: half of the interval at the target, relative */
    double budget_s;        /* of --design: machine-seconds; 0 none */
    struct hm_runs *places; /* every configuration */
    struct cli_record record;
    size_t unmatched; /* runs in which the regular expression matched nothing */
    double spent_s;   /* machine-seconds so far */
};

/* Make the runs of one configuration; 0, or an exit code: 130 when interrupted. */
int bench_configuration(struct bench_state *s, size_t place, size_t repeats);
/* Value of an axis at a place. */
double bench_value(const struct bench_state *s, size_t place, size_t axis);
/* Whether a run was made at a place. */
bool bench_is_of(const struct bench_state *s, const struct hm_runs *runs, size_t row, size_t place);
/* --design: choose and make runs until the prediction is tight enough, or the budget is gone. */
int bench_by_design(struct bench_state *s);
/* Fit what has been measured; NULL with the reason. */
struct hm_fit *bench_fit(const struct bench_state *s, struct hm_err *err);

#endif
