/* Explains the results of a comparison: what limits each run, and why the fastest platform is
 * fastest. */
#ifndef HM_COMPARE_EXPLAIN_H
#define HM_COMPARE_EXPLAIN_H

#include "compare_result.h"

/*
 * Adds the published speeds (in samples per second) of a task on a platform to the text if there
 * are any, such as "TensorFlow 403, 443 (batch 500), MXNet 19277".
 */
void compare_add_published(struct hm_text *out, const struct compare_task *task,
                           const struct compare_way *way);
/* Returns the share of the time during which the network port of a rank is busy; NAN if the share
 * is not known. */
double compare_link_share(const struct compare_result *result, const struct compare_run *run,
                          const struct compare_role *role);

/* The resource that limits a run. */
enum compare_limit {
    COMPARE_COMPUTE,
    COMPARE_OTHER_LINK, /* The network port of a server or of the driver. */
    COMPARE_WORKER_LINK,
    COMPARE_WAITING, /* The run mostly waits for messages or other ranks; this value is also used if
                        the limit is not known. */
};
enum compare_limit compare_limit_of(const struct compare_result *result,
                                    const struct compare_run *run);
const char *compare_limit_name(enum compare_limit limit);

/* Returns the fastest or slowest run of a task among the runs on the largest number of workers;
 * NULL if there is no such run. */
const struct compare_run *compare_extreme(const struct compare_result *result,
                                          const struct compare_task *task, bool fastest);
/* Returns the run that has the same task, platform and number of workers as a measurement of
 * another framework; NULL if there is none. */
const struct compare_run *compare_same_run(const struct compare_result *result,
                                           const struct compare_measured *measured);
/* Adds a sentence that says which platform is fastest, and why. */
void compare_add_sentence(struct hm_text *out, const struct compare_result *result,
                          const struct compare_task *task);

#endif
