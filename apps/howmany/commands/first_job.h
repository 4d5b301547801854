/*
 * Creates a first job from three answers: the model, the machine, and the amount of training. On a
 * terminal, `howmany init` and `howmany plan` without a job ask for these.
 */
#ifndef HM_FIRST_JOB_H
#define HM_FIRST_JOB_H

#include "cli.h"

enum { FIRST_TEXT_MAX = 128 };

struct first_job {
    char model[FIRST_TEXT_MAX];   /* Name of the model in the catalog; empty if not chosen yet. */
    char machine[FIRST_TEXT_MAX]; /* Name of the machine in the catalog; empty if not chosen yet. */
    char unit[16]; /* Unit in which the amount of training is given, which is also its key in the
                      job file: tokens, epochs or iterations. */
    char amount[FIRST_TEXT_MAX]; /* Amount of training in `unit`, such as "300B"; empty if not
                                    chosen yet. */
};

/*
 * Returns whether questions can be asked, that is, whether standard input and standard error are
 * terminals.
 */
bool first_job_can_ask(void);
/*
 * Asks for the values that are still empty, on standard error, and repeats a question until its
 * answer is valid. An empty answer selects the suggestion. Returns 0, or EXIT_USAGE with a message
 * when the input ends.
 */
int first_job_ask(const struct hm_catalog *catalog, struct first_job *job);
/* Sets the values that are still empty to the suggestions, without questions. */
void first_job_suggest(const struct hm_catalog *catalog, struct first_job *job);
/* Checks a job with all three answers. Returns 0, or EXIT_USAGE with a message. */
int first_job_check(const struct hm_catalog *catalog, const struct first_job *job);
/*
 * Returns a default batch for a model whose jobs need a batch that the catalog does not state;
 * otherwise NULL.
 */
const char *first_job_batch(const struct hm_catalog *catalog, const char *model);
/* Returns the usual value of a key for a model, as stated in the catalog; NULL if the catalog
 * states none. */
const char *first_job_usual(const struct hm_catalog *catalog, const char *model, const char *key);
/*
 * Returns whether a plan for a model chooses a layout, that is, a combination of data, tensor and
 * pipeline parallelism.
 */
bool first_job_has_layouts(const struct hm_catalog *catalog, const char *model);

#endif
