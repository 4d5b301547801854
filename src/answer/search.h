/* Internal interface of the search for an answer, shared by the files that compute it. */
#ifndef HM_SEARCH_H
#define HM_SEARCH_H

#include "howmany.h"
#include "howmany_fit.h"
#include "memory.h"
#include "model.h"

enum { HM_DEFAULT_MAX_N = 1024, HM_BEYOND_RUNS = 8 };

/* One combination of job, machine, scheme and platform, and how its points are compared. */
struct hm_search {
    const struct hm_job *job;
    const struct hm_cluster *cluster; /* The cluster; NULL if the job has only formulas. */
    const struct hm_question *question;
    /*
     * The goal of the search; never HM_GOAL_AUTO, because the automatic choice has already been
     * made.
     */
    enum hm_goal goal;
    /* Scheme (enum hm_scheme) of all-reduce steps; -1 keeps the schemes that the job specifies. */
    int scheme;
    struct hm_way way; /* Platform and consistency that the search considers. */
    /*
     * Straggler table of the cluster, shared by all searches on that cluster; NULL if all workers
     * are equally fast.
     */
    struct hm_stragglers *stragglers;
    /* Step times of the job, shared by all searches on the cluster; may be NULL. */
    struct hm_step_table *table;
    bool weak;
    double reference;
    /* Weights of time and cost for the goal `balance`; NaN until they are chosen. */
    double alpha, beta;
    /* Splits of the job's graph for n = 1..part_count; NULL if the job has no graph. */
    const struct hm_parts *parts;
    size_t part_count;
    /* Mix of machines for each n; NULL if the cluster is not mixed. */
    const struct hm_mixes *mixes;
};

/*
 * Returns the number of bytes that a job may use on one worker of the search's cluster; NaN if not
 * known.
 */
double hm__search_memory(const struct hm_search *search);

/* Default largest n for a job with a graph; it is small because splitting takes time. */
enum { HM_DEFAULT_PARTS = 64 };

/* A curve: one point for each value of n that is considered, in ascending order of n. */
struct hm_curve {
    struct hm_point *points; /* Points of the curve; owned. */
    size_t count;
    /* The point at the reference n; speedups are relative to its time. */
    struct hm_point reference;
};

/*
 * Returns the largest n to consider; *ret_ceiling is true if the user or the cluster set this
 * limit.
 */
double hm__search_max_n(const struct hm_search *search, bool *ret_ceiling);
/*
 * Returns the changes to the job that the model of this search applies. Callers add other changes
 * to evaluate what-if questions.
 */
struct hm_variant hm__search_variant(const struct hm_search *search);
/*
 * Returns whether every worker receives at least one sample of the batch; memory is not considered.
 * There must be a job.
 */
bool hm__point_sampled(const struct hm_search *search, const struct hm_point *point);
/* Evaluates the curve up to max_n. Release it with hm__curve_release. */
int hm__curve_init(struct hm_curve *curve, const struct hm_search *search,
                   const struct hm_model *model, double work, double max_n, struct hm_err *err);
/*
 * Same as hm__curve_init, but copies the first points from `known`, a curve of the same search and
 * model, as long as their values of n are equal. known may be NULL.
 */
int hm__curve_extend(struct hm_curve *curve, const struct hm_search *search,
                     const struct hm_model *model, const struct hm_curve *known, double work,
                     double max_n, struct hm_err *err);
void hm__curve_release(struct hm_curve *curve);

/* Computes the speedup, total time and cost of every point from its current time per iteration. */
void hm__curve_finish(struct hm_curve *curve, const struct hm_search *search, double work);

/* Computes the times of points from the model, or from the fit of the question (fitted.c). */
int hm__search_eval(const struct hm_search *search, const struct hm_model *model,
                    struct hm_point *points, size_t count, struct hm_err *err);
/*
 * Sets the intervals of points whose times come from the fit of the question, and sets *ret_level
 * to their coverage probability, which is NaN if the fit has no intervals (fitted.c).
 */
int hm__search_fit_intervals(const struct hm_search *search, const struct hm_model *model,
                             struct hm_point *points, size_t count, double *ret_level,
                             struct hm_err *err);
/*
 * Computes the intervals of the answer and the probability that the recommended number of workers
 * is best, if the question has a fit (fitted.c).
 */
int hm__answer_certainty(struct hm_answer *answer, const struct hm_search *search,
                         const struct hm_model *model, const struct hm_curve *curve,
                         struct hm_err *err);
/* Explains which term of the fit limits the speed, if the times come from runs alone (fitted.c). */
int hm__answer_explain_fit(struct hm_answer *answer, const struct hm_search *search,
                           const struct hm_point *point, struct hm_err *err);
/* Returns whether the times come from runs alone, without the job's model (fitted.c). */
bool hm__search_by_runs(const struct hm_search *search);

/*
 * Returns the number of iterations of the whole job on n workers; 1 if the job specifies none.
 * `work` multiplies the number of samples.
 */
double hm__search_iterations(const struct hm_search *search, double work, double n);
/* Returns the cost of a point: money, or node-seconds if no price is known. */
double hm__search_expense(const struct hm_search *search, const struct hm_point *point);
/*
 * Returns whether a point has enough memory and samples and meets the deadline and the budget with
 * the probability that the question asks for.
 */
bool hm__search_allows(const struct hm_search *search, const struct hm_point *point);
/* Returns the value that the goal minimises at one point. */
double hm__search_value(const struct hm_search *search, const struct hm_point *point);

/*
 * Returns the index of the best point, or HM_NONE if no point meets the limits. If several points
 * are equally good, returns the one with the fewest workers.
 */
size_t hm__curve_best(const struct hm_search *search, const struct hm_curve *curve);
/*
 * Lowers *time_s to the shortest time on the curve and *expense to the lowest cost, if these are
 * smaller; they may belong to different points.
 */
void hm__curve_least(const struct hm_search *search, const struct hm_curve *curve, double *time_s,
                     double *expense);

/*
 * Returns the slack for the recommendation: the slack given by the question, or HM_DEFAULT_SLACK.
 */
double hm__search_slack(const struct hm_search *search);
/*
 * Returns the index of the recommended point: the first point that meets the limits and whose value
 * is at most (1 + slack) times the value of the point `best`. Returns HM_NONE if `best` is HM_NONE.
 */
size_t hm__curve_recommended(const struct hm_search *search, const struct hm_curve *curve,
                             size_t best);

/* Checks the clusters and schemes of a plan, and checks that they agree with the question. */
int hm__plan_check(const struct hm_job *job, const struct hm_cluster *const *clusters,
                   size_t cluster_count, const enum hm_scheme *schemes, size_t scheme_count,
                   const struct hm_question *question, struct hm_err *err);

/*
 * Estimates the work of a plan, and fails if it cannot be done within the time limit of the request
 * (admit.h).
 */
int hm__plan_admit(const struct hm_job *job, const struct hm_cluster *const *clusters,
                   size_t cluster_count, const struct hm_question *question, struct hm_err *err);

/* Each of the following functions fills in some fields of the answer from the curve. */
int hm__answer_choose(struct hm_answer *answer, const struct hm_search *search,
                      const struct hm_curve *curve, struct hm_err *err);
/* Sets the recommended point. The best point and the knee must have been set before. */
void hm__answer_recommend(struct hm_answer *answer, const struct hm_search *search,
                          const struct hm_curve *curve);
/* Sets the range of n around the best n in which the value is at most 5 % larger than the best. */
void hm__answer_plateau(struct hm_answer *answer, const struct hm_search *search,
                        const struct hm_curve *curve);
int hm__answer_explain(struct hm_answer *answer, const struct hm_search *search,
                       const struct hm_model *model, const struct hm_curve *curve,
                       struct hm_err *err);
int hm__answer_scenarios(struct hm_answer *answer, const struct hm_search *search,
                         const struct hm_curve *curve, struct hm_err *err);

/*
 * Explains what limits an iteration on a dataflow platform; *ret_limits is false if neither the
 * tasks nor the driver limits it (explain_dataflow.c).
 */
int hm__answer_explain_dataflow(struct hm_answer *answer, const struct hm_model *model,
                                const struct hm_point *point, bool *ret_limits, struct hm_err *err);
/* Explains idle stages of a pipeline, as hm__answer_explain_dataflow does for tasks, and adds notes
 * about the placement of layers (explain_pipeline.c). */
int hm__answer_explain_pipeline(struct hm_answer *answer, const struct hm_model *model,
                                const struct hm_point *point, bool *ret_limits, struct hm_err *err);
int hm__answer_note_pipeline(struct hm_answer *answer, const struct hm_search *search,
                             const struct hm_model *model, struct hm_err *err);
/* Adds notes about the tasks of a dataflow platform and about lost workers (explain_dataflow.c). */
int hm__answer_note_dataflow(struct hm_answer *answer, const struct hm_model *model,
                             struct hm_err *err);
/* Adds notes about the assumptions of the answer (plan_notes.c). */
int hm__answer_notes(struct hm_answer *answer, const struct hm_search *search,
                     const struct hm_model *model, bool reference_fits, struct hm_err *err);

#endif
