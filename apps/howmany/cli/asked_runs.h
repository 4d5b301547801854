/* What commands that learn from runs ask for in the same words: runs, terms, a target. */
#ifndef HM_ASKED_RUNS_H
#define HM_ASKED_RUNS_H

#include "cli.h"
#include "howmany_fit.h"

enum { CLI_TERMS_MAX = 32, CLI_TARGETS_MAX = 32, CLI_AXES_MAX = 16 };

/* Zero-initialise. */
struct cli_terms {
    char *list; /* owned; commas have become ends of texts */
    const char *terms[CLI_TERMS_MAX];
    size_t count; /* 0: chosen */
};

/* "auto", or formulas between commas (those inside parentheses do not count). */
int cli_terms_parse(struct cli_terms *terms, const char *text);
void cli_terms_release(struct cli_terms *terms);

/* Zero-initialise. */
struct cli_target {
    char names[CLI_TARGETS_MAX][64];
    struct hm_at at[CLI_TARGETS_MAX]; /* everything that was said, n too */
    size_t count;
    double n; /* 0 if it was not said */
};

/* "64", or "n=64,size=1,latency=20ms". */
int cli_target_parse(struct cli_target *target, const char *text);

/* What was said besides n; how many. */
size_t cli_target_others(const struct cli_target *target, struct hm_at *ret_at);
/* Where to predict: the n of the target, or doubling from 1 to four times what was run. */
size_t cli_target_places(const struct cli_target *target, double n_max, double *ret_n);

enum { CLI_PLACES_MAX = 64 };

/* Quantities and the values they take, one option each. Zero-initialise. */
struct cli_axes {
    char names[CLI_AXES_MAX][64];
    struct cli_range ranges[CLI_AXES_MAX];
    size_t count;
};

/* "1..8" for n goes by ones; "0.1..1:4" of anything else is four values. */
int cli_axes_add(struct cli_axes *axes, const char *name, const char *list);
/* "NAME=LIST". */
int cli_axes_vary(struct cli_axes *axes, const char *value);
/* Every combination. */
int cli_axes_cross(const struct cli_axes *axes, struct hm_runs **runs);
void cli_axes_release(struct cli_axes *axes);

/* Add to the conditions of --where, of which there is room for CLI_LIST_MAX. */
int cli_where_add(const char **where, size_t *count, const char *condition);
/* Load runs of a file or a store (NULL: one's own) and keep those that meet all conditions; 0, or
 * EXIT_USAGE with a message. */
int cli_runs_load(const char *path, const char *const *where, size_t where_count,
                  struct hm_runs **runs);

/* "90%" or "0.9". */
int cli_level(const char *text, double *level);

#endif
