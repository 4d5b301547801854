/* Plans of jobs that train transformers: the best layout for each number of workers n, and the
 * recommended n. */
#ifndef HM_LARGE_PLAN_H
#define HM_LARGE_PLAN_H

#include "large.h"

/* The limits of a plan; NaN: not given. */
struct hm_large_question {
    double n;          /* The only number of workers to consider. */
    double max_n;      /* Largest number of workers to consider. */
    double deadline_s; /* The job must end within this time; then the cost is minimised. */
    double budget;     /* Largest cost of the job. */
    double certainty;  /* Probability with which deadline and budget must be met. */
    enum hm_goal goal; /* What is minimised; HM_GOAL_AUTO: cost with a deadline, otherwise time. */
    double slack; /* The smallest n whose time is within this share of the best is recommended. */
};

/* Plan a job with job->large on one or more clusters. The answer borrows the names of the job and
 * the clusters; free it with hm__large_answer_free. */
int hm__large_plan(const struct hm_job *job, const struct hm_cluster *const *clusters,
                   size_t cluster_count, const struct hm_large_question *question,
                   struct hm_large_answer **ret_answer, struct hm_err *err);

/* Choose the best, the recommended and the alternative points of an answer (large_choose.c). */
void hm__large_choose(struct hm_large_answer *answer, const struct hm_large_question *question);

/* The best layouts for one number of workers n. */
enum { HM_LARGE_TOP = 8 };
struct hm_large_tops {
    double n;
    struct hm_large_choice top[HM_LARGE_TOP]; /* Layouts that fit, fastest first. */
    size_t count;
    struct hm_large_choice least; /* The layout with the least memory; n is 0: no layout. */
};

/* Search the layouts for each tops[i].n and fill in the other members of tops[i]. Members of
 * `given` that are not NaN are not changed. Returns the number of layouts that were evaluated. */
double hm__large_search(const struct hm_large_case *x, const struct hm_large_job *given,
                        struct hm_large_tops *tops, size_t count);
#endif
