/* A comparison for a person, for a program, as a table and as a picture. */
#ifndef HM_COMPARE_TELL_H
#define HM_COMPARE_TELL_H

#include "compare_read.h"

struct compare_result {
    const struct compare_asked *asked;
    const char *cluster;      /* its name; NULL: real ranks */
    double bandwidth;         /* of a node, bytes a second; 0: not known */
    struct compare_run *runs; /* owned, in the order of tasks, platforms, n */
    size_t count;
};

void compare_tell_text(const struct compare_result *result, const struct hm_style *style,
                       struct hm_text *out);
void compare_tell_json(const struct compare_result *result, struct hm_text *out);
void compare_tell_csv(const struct compare_result *result, struct hm_text *out);
/* A gnuplot script that makes the file; 0 or a code with the error. */
int compare_plot(const struct compare_result *result, const char *file, struct hm_text *out,
                 struct hm_err *err);

/* ---- words (compare_words.c) ---------------------------------------------------------------- */

/* "server ssp 3" */
void compare_name_way(struct hm_text *out, const struct compare_asked *asked,
                      const struct compare_way *way);
/* "TensorFlow 403, 443 (batch 500), MXNet 19277"; nothing where nothing was published. */
void compare_add_published(struct hm_text *out, const struct compare_task *task,
                           const struct compare_way *way);
/* Share of the time in which the port of a rank is busy; NAN where that is not known. */
double compare_link_share(const struct compare_result *result, const struct compare_run *run,
                          const struct compare_role *role);
/* What limits a run. */
enum compare_limit {
    COMPARE_COMPUTE,
    COMPARE_OTHER_LINK,
    COMPARE_WORKER_LINK,
    COMPARE_WAITING, /* for messages and for each other; or there is no saying */
};
enum compare_limit compare_limit_of(const struct compare_result *result,
                                    const struct compare_run *run);
const char *compare_limit_name(enum compare_limit limit);
/* "its workers compute for 83 % of the time" */
void compare_add_reason(struct hm_text *out, const struct compare_result *result,
                        const struct compare_run *run);
/* The fastest, or slowest, of a task on the most workers; NULL: none. */
const struct compare_run *compare_extreme(const struct compare_result *result,
                                          const struct compare_task *task, bool fastest);
/* One sentence: which platform is fastest, and why. */
void compare_add_sentence(struct hm_text *out, const struct compare_result *result,
                          const struct compare_task *task);

#endif
