/*
 * Makes a first job from three answers: the model, the machine, and the amount of work. `howmany
 * plan` without a job and `howmany init` ask for these on a terminal.
 */
#ifndef HM_FIRST_JOB_H
#define HM_FIRST_JOB_H

#include "cli.h"

enum { FIRST_TEXT_MAX = 128 };

struct first_job {
    char model[FIRST_TEXT_MAX];   /* Network of the catalog; empty if not chosen yet. */
    char machine[FIRST_TEXT_MAX]; /* Machine of the catalog; empty if not chosen yet. */
    char unit[16];                /* Key of the amount of work: tokens, epochs or iterations. */
    char amount[FIRST_TEXT_MAX]; /* Amount of work in this unit, such as "300B"; empty if not chosen
                                    yet. */
};

/* Whether questions can be asked: standard input and standard error are terminals. */
bool first_job_can_ask(void);
/*
 * Ask for the values that are still empty, on standard error, and repeat a question until its
 * answer is valid. An empty answer selects the suggestion. Returns 0, or EXIT_USAGE with a message
 * when the input ends.
 */
int first_job_ask(const struct hm_catalog *catalog, struct first_job *job);
/* Set the values that are still empty to the suggestions, without questions. */
void first_job_suggest(const struct hm_catalog *catalog, struct first_job *job);
/* Check a job with all three answers. Returns 0, or EXIT_USAGE with a message. */
int first_job_check(const struct hm_catalog *catalog, const struct first_job *job);
/*
 * Returns a batch for a model for which the catalog states no usual batch, if its jobs need one;
 * else NULL.
 */
const char *first_job_batch(const struct hm_catalog *catalog, const char *model);
/* Returns the value that the catalog states as usual for a key of a model; NULL if there is none.
 */
const char *first_job_usual(const struct hm_catalog *catalog, const char *model, const char *key);
/*
 * Whether plans of a model choose a layout, that is, a combination of data, tensor and pipeline
 * parallelism.
 */
bool first_job_has_layouts(const struct hm_catalog *catalog, const char *model);

#endif
