/*
 * Tests whole plans for howmany validate --answers: checks the headline rule on the examples, and
 * counts how often published curves confirm plans that are based on small runs.
 */
#ifndef HM_VALIDATE_PLANS_H
#define HM_VALIDATE_PLANS_H

#include "json.h"
#include "text.h"
#include "validate_fits.h"

/* The plan for one example and how it was judged. */
struct validate_headline {
    char name[64];
    bool skipped; /* True if a file that the example names is missing. */
    /* Recommended, best and knee number of workers; NaN if there is none. */
    double recommended, best, knee;
    double slack;
    bool holds; /* True if the recommended n is the smallest n whose goal value is within the slack
                   of the best. */
};

enum { VALIDATE_HEADLINES = 64, VALIDATE_BINS = 4, VALIDATE_LEVELS = 5 };

struct validate_headlines {
    struct validate_headline items[VALIDATE_HEADLINES];
    size_t count;
};

/*
 * The answers whose stated probability is in one range, and the number of these answers that the
 * measurements confirm.
 */
struct validate_bin {
    double from, to;
    double stated; /* Mean of the probabilities stated by the answers in this range. */
    size_t count, held;
};

/* Counts how often published curves confirm answers that are based on small runs. */
struct validate_plans {
    /* Answers that state "p % sure to be within 5 % of the best", grouped by the probability p. */
    struct validate_bin near[VALIDATE_BINS];
    /*
     * Probability that a plan states for an upper bound on a time, and share of the curves whose
     * measured time is below that bound.
     */
    double stated[VALIDATE_LEVELS], kept[VALIDATE_LEVELS];
};

/*
 * Plans every built-in example and the given job files. Files that examples name are looked up in
 * the folder `data`, which may be NULL. Returns an exit code.
 */
int validate_headlines_make(const struct hm_catalog *catalog, const char *data,
                            const char *const *files, size_t file_count,
                            struct validate_headlines *ret_headlines);
void validate_headlines_text(struct hm_text *out, const struct validate_headlines *h);
void validate_headlines_json(struct hm_json *json, const struct validate_headlines *h);

/*
 * For every curve, fits the runs on the smaller half of its numbers of workers with the rule of its
 * source, makes a plan, and compares the plan with the measurements on all numbers of workers.
 * `rules` has one rule for each curve.
 */
void validate_plans_make(const struct validate_curves *curves,
                         const struct hm_fit_rule *const *rules, struct validate_plans *ret_plans);
void validate_plans_text(struct hm_text *out, const struct validate_plans *p);
void validate_plans_json(struct hm_json *json, const struct validate_plans *p);

#endif
