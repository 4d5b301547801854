/* Plans of jobs that train transformers: the best layout for each n, and which n. */
#ifndef HM_LARGE_PLAN_H
#define HM_LARGE_PLAN_H

#include "large.h"

/* What is asked. A number that is not given is NaN. */
struct hm_large_question {
    double n;          /* Exactly this number of workers. */
    double max_n;      /* At most this number of workers. */
    double deadline_s; /* The job must end in this time, at the least cost. */
    double budget;     /* The job may cost this much. */
    double certainty;  /* Probability with which deadline and budget must be met. */
    enum hm_goal goal; /* What is minimised; HM_GOAL_AUTO: cost with a deadline, otherwise time. */
    double
        slack; /* The recommended n is the smallest whose time is within this share of the best. */
};

/*
 * Plan a job with job->large on one or more clusters. The answer borrows the names of job and
 * clusters; free it with hm__large_answer_free.
 */
int hm__large_plan(const struct hm_job *job, const struct hm_cluster *const *clusters,
                   size_t cluster_count, const struct hm_large_question *question,
                   struct hm_large_answer **ret_answer, struct hm_err *err);

/* Choose the best, the recommended and the alternative points of an answer (large_choose.c). */
void hm__large_choose(struct hm_large_answer *answer, const struct hm_large_question *question);

/* The best layouts for one n. */
enum { HM_LARGE_TOP = 8 };
struct hm_large_tops {
    double n;
    struct hm_large_choice top[HM_LARGE_TOP]; /* Layouts that fit, fastest first. */
    size_t count;
    struct hm_large_choice least; /* The layout that needs the least memory; n 0: none. */
};

/*
 * Search all layouts for several n; members of `given` that are not NaN are kept. tops[i].n says
 * which n; the rest is filled in. Returns the number of layouts that were evaluated.
 */
double hm__large_search(const struct hm_large_case *x, const struct hm_large_job *given,
                        struct hm_large_tops *tops, size_t count);
#endif
