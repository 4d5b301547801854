/* What commands that learn from runs ask for in the same words: runs, terms, a target. */
#ifndef HM_ASKED_RUNS_H
#define HM_ASKED_RUNS_H

#include "cli.h"
#include "howmany_fit.h"

enum { CLI_TERMS_MAX = 32, CLI_TARGETS_MAX = 32 };

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

/* Load runs and keep those that meet all conditions; 0, or EXIT_USAGE with a message. */
int cli_runs_load(const char *path, const char *const *where, size_t where_count,
                  struct hm_runs **runs);

/* "90%" or "0.9". */
int cli_level(const char *text, double *level);

#endif
