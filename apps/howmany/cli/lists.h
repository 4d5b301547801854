/* Parses options whose values are lists, terms or configurations to predict. */
#ifndef HM_LISTS_H
#define HM_LISTS_H

#include "cli.h"
#include "howmany_fit.h"
#include "request.h"

enum { CLI_LIST_MAX = 64, CLI_AXES_MAX = 16 };

/* A list of numbers, read from "2..32", "4..64:4" or "1,2,4". Zero-initialise the struct. */
struct cli_range {
    double *values; /* Array of `count` numbers; owned by this struct. */
    size_t count;
};

/* Each parsing function below returns 0, or EXIT_USAGE with a message that names the option. */
int cli_range_parse(struct cli_range *range, const char *option, const char *text);
void cli_range_release(struct cli_range *range);

/* Calls `take` for each element of "a,b,c"; the element's text is valid only during the call. */
int cli_each(const char *list, int (*take)(void *context, const char *piece), void *context);

/* Terms of a fit: "auto", or formulas separated by commas. Zero-initialise the struct. */
struct cli_terms {
    struct hm_arena *arena;
    /* Formulas of the terms; if there are none, the fit selects its terms. */
    struct hm_texts texts;
};

int cli_terms_parse(struct cli_terms *terms, const char *text);
void cli_terms_release(struct cli_terms *terms);

/*
 * A configuration to predict, read from "64" or "n=64,size=1,latency=20ms". Zero-initialise the
 * struct.
 */
struct cli_target {
    struct hm_arena *arena;
    struct hm_place place;
};

int cli_target_parse(struct cli_target *target, const char *text);
void cli_target_release(struct cli_target *target);

/* Names of quantities, and the list of values of each quantity. Zero-initialise the struct. */
struct cli_axes {
    char names[CLI_AXES_MAX][64];
    struct cli_range ranges[CLI_AXES_MAX];
    size_t count;
};

/*
 * Adds a quantity with its list of values. For n, "1..8" has steps of 1; for any other quantity,
 * "0.1..1:4" means four evenly spaced values.
 */
int cli_axes_add(struct cli_axes *axes, const char *name, const char *list);
/* Adds a quantity from the value of the option --vary, "NAME=LIST". */
int cli_axes_vary(struct cli_axes *axes, const char *value);
/* Creates a table of runs with all combinations of the values, one combination per row. */
int cli_axes_cross(const struct cli_axes *axes, struct hm_runs **ret_runs);
void cli_axes_release(struct cli_axes *axes);

#endif
