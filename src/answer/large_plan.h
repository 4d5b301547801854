/*
 * Declares plans for jobs that train transformers: the best layout for each number of workers n,
 * and the recommended n.
 */
#ifndef HM_LARGE_PLAN_H
#define HM_LARGE_PLAN_H

#include "large_correct.h"

/* The limits of a plan; NaN if not given. */
struct hm_large_question {
    double n;          /* If given, the only number of workers to consider. */
    double max_n;      /* Largest number of workers to consider. */
    double deadline_s; /* Deadline of the job in seconds; if it is given, the cost is minimised. */
    double budget;     /* Largest allowed cost of the job. */
    double certainty;  /* Required probability of meeting the deadline and the budget. */
    enum hm_goal goal; /* Quantity to minimise; HM_GOAL_AUTO means the cost if there is a deadline,
                          otherwise the time. */
    /* Weights of one second and of one unit of money for HM_GOAL_BALANCE; NaN: the plan chooses
     * them so that the shortest time and the lowest cost count equally. */
    double alpha, beta;
    /* The smallest n whose time exceeds the best by at most this fraction is recommended. */
    double slack;
    double loss; /* Loss to reach; the number of tokens follows from scaling laws. */
    /* Measured steps of the job, which correct the model; borrowed. */
    const struct hm_large_measured *runs;
    size_t run_count;
    double parameters; /* Number of parameters to which the network is scaled; INFINITY means that
                          the plan chooses the number. */
};

/* A question without limits. */
#define HM_LARGE_QUESTION_INIT                                                                     \
    {                                                                                              \
        .n = NAN, .max_n = NAN, .deadline_s = NAN, .budget = NAN, .certainty = NAN, .alpha = NAN,  \
        .beta = NAN, .slack = HM_DEFAULT_SLACK, .loss = NAN, .parameters = NAN                     \
    }

/*
 * Plans a job with job->large on one or more clusters. The answer borrows the names of the job and
 * the clusters; free it with hm__large_answer_free.
 */
int hm__large_plan(const struct hm_job *job, const struct hm_cluster *const *clusters,
                   size_t cluster_count, const struct hm_large_question *question,
                   struct hm_large_answer **ret_answer, struct hm_err *err);

/* Chooses the best, the recommended and the alternative points of an answer (large_choose.c). */
void hm__large_choose(struct hm_large_answer *answer, const struct hm_large_question *question);

/*
 * Sets the probability with which a layout meets the deadline and the budget, and the factor by
 * which it exceeds them. If the length of the job is given, time and cost include failures and
 * checkpoints.
 */
void hm__large_judge(const struct hm_large_answer *answer, const struct hm_large_question *question,
                     struct hm_large_choice *choice);

/* The best layouts for one number of workers n. */
enum { HM_LARGE_TOP = 8 };
struct hm_large_tops {
    double n;
    struct hm_large_choice top[HM_LARGE_TOP]; /* Layouts that fit in memory, fastest first. */
    size_t count;
    /* The layout that needs the least memory; its n is 0 if there is no layout. */
    struct hm_large_choice least;
};

/* One machine of a plan, and the data of the search for layouts on it. */
struct hm_large_machine {
    struct hm_large_device device;
    struct hm_large_work work;
    struct hm_large_constants constants; /* Constants of the model, corrected by measured steps. */
    struct hm_large_correction correction;
    struct hm_large_case situation; /* Inputs of the model; points to the members above. */
    struct hm_large_tops *tops;     /* Best layouts for each n, `count` elements; owned. */
    size_t count;
    bool gpus; /* True if texts should refer to the workers as GPUs. */
};

/* The machines of a plan; released with hm__large_machines_release. */
struct hm_large_machines {
    struct hm_large_machine *items;
    size_t count;
};
/*
 * Searches all layouts of a job on all machines, and adds the best layout of each n to the points
 * of the answer. `large` must outlive the machines, which point to it.
 */
int hm__large_points(const struct hm_job *job, const struct hm_large_job *large,
                     const struct hm_cluster *const *clusters, size_t cluster_count,
                     const struct hm_large_question *question, struct hm_large_machines *machines,
                     struct hm_large_answer *answer, struct hm_err *err);
void hm__large_machines_release(struct hm_large_machines *machines);
/* Sets the members of a layout that follow from its time and memory, such as its cost. */
void hm__large_finish(const struct hm_large_case *x, const struct hm_large_job *job,
                      struct hm_large_choice *choice);
/*
 * Returns the factor by which the predicted time of a layout must be multiplied to obtain the upper
 * bound that holds with the given probability.
 */
double hm__large_bound(const struct hm_large_answer *answer, const struct hm_large_choice *choice,
                       double probability);

/*
 * Sets the numbers of parameters and tokens of a job from the question (large_size.c): a loss to
 * reach, a number of parameters, or both. `large` is changed; sizes that were considered are added
 * to the answer.
 */
int hm__large_resize(const struct hm_job *job, struct hm_large_job *large,
                     const struct hm_cluster *const *clusters, size_t cluster_count,
                     const struct hm_large_question *question, struct hm_large_answer *answer,
                     struct hm_err *err);
/* Sets the loss that scaling laws predict, and adds notes about the batch. */
void hm__large_outlook(const struct hm_large_job *large, const struct hm_large_question *question,
                       struct hm_large_answer *answer);
/* Adds a note to the answer; the note is dropped if there is no room for it. */
void hm__large_note(struct hm_large_answer *answer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds notes about what the recommended layout means in practice (large_notes.c). */
void hm__large_note_layout(const struct hm_large_machines *machines,
                           struct hm_large_answer *answer);
/*
 * Adds notes about values of the machines that are assumed because the clusters do not specify them
 * (large_assumed.c). `clusters` has one element for each machine; NULL means the job's own cluster.
 */
void hm__large_note_assumed(const struct hm_large_machines *machines, const struct hm_job *job,
                            const struct hm_cluster *const *clusters,
                            struct hm_large_answer *answer);

/*
 * Sets how the rate changes if the job changes, how far the micro-batch and the sequence can grow,
 * the n at which scaling breaks down, and the run that would narrow the interval (large_growth.c).
 */
void hm__large_growth(const struct hm_large_machines *machines, const struct hm_large_job *large,
                      struct hm_large_answer *answer);

/*
 * Searches the layouts for each tops[i].n and fills in the other members of tops[i]. Members of
 * `given` that are not NaN are used as they are. Returns the number of layouts that were evaluated.
 */
double hm__large_search(const struct hm_large_case *x, const struct hm_large_job *given,
                        struct hm_large_tops *tops, size_t count);
#endif
