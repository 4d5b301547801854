/* Internal interface of the search for an answer, shared by the files that compute its parts. */
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
    const struct hm_cluster *cluster; /* NULL when the job has only formulas. */
    const struct hm_question *question;
    enum hm_goal goal; /* The goal as decided, never HM_GOAL_AUTO. */
    /* An enum hm_scheme for all-reduce steps; -1 keeps the schemes of the job. */
    int scheme;
    struct hm_way way; /* Platform and consistency. */
    /*
     * Straggler table of the cluster, shared by all searches on that cluster; NULL: all workers are
     * equally fast.
     */
    struct hm_stragglers *stragglers;
    /* Times of steps of the job on the cluster, shared in the same way; may be NULL. */
    struct hm_step_table *table;
    bool weak;
    double reference;
    /* Weights of time and cost for the goal `balance`; NaN until they are chosen. */
    double alpha, beta;
    /* Splits of the job's graph for n = 1..part_count; NULL if the job has no graph. */
    const struct hm_parts *parts;
    size_t part_count;
};

/* Default largest n for a job with a graph; it is small because splitting takes time. */
enum { HM_DEFAULT_PARTS = 64 };

/* A curve: one point for each n that is considered, in rising order. */
struct hm_curve {
    struct hm_point *points; /* Owned array of `count` points. */
    size_t count;
    /* The point at the reference n; speedups are relative to its time. */
    struct hm_point reference;
};

/* Largest n to consider; *ret_ceiling is true if the user or the cluster set this limit. */
double hm__search_max_n(const struct hm_search *search, bool *ret_ceiling);
/*
 * The changes to the job that this search needs; callers change the variant further for what-if
 * questions.
 */
struct hm_variant hm__search_variant(const struct hm_search *search);
/* Evaluates the curve up to max_n; released with hm__curve_release. */
int hm__curve_init(struct hm_curve *curve, const struct hm_search *search,
                   const struct hm_model *model, double work, double max_n, struct hm_err *err);
void hm__curve_release(struct hm_curve *curve);

/* Computes speedup, total time and cost of every point from its current time per iteration. */
void hm__curve_finish(struct hm_curve *curve, const struct hm_search *search, double work);

/* Computes the times of points from the model, or from the fit of the question (fitted.c). */
int hm__search_eval(const struct hm_search *search, const struct hm_model *model,
                    struct hm_point *points, size_t count, struct hm_err *err);
/* With a fit, computes the intervals and the certainty of the choice (fitted.c). */
int hm__answer_certainty(struct hm_answer *answer, const struct hm_search *search,
                         const struct hm_model *model, const struct hm_curve *curve,
                         struct hm_err *err);
/* With a fit of runs alone, explains which term of the fit limits the speed (fitted.c). */
int hm__answer_explain_fit(struct hm_answer *answer, const struct hm_search *search,
                           const struct hm_point *point, struct hm_err *err);
/* Whether the times come from runs alone, without the job's model (fitted.c). */
bool hm__search_by_runs(const struct hm_search *search);

/*
 * Iterations of the whole job on n workers, with `work` as a factor on its samples; 1 when the job
 * specifies none.
 */
double hm__search_iterations(const struct hm_search *search, double work, double n);
/* Cost of a point: money, or node-seconds if no price is known. */
double hm__search_expense(const struct hm_search *search, const struct hm_point *point);
/* Whether a point fits (memory and batch suffice) and meets deadline and budget. */
bool hm__search_allows(const struct hm_search *search, const struct hm_point *point);
/* The value to be minimised for the goal. */
double hm__search_value(const struct hm_search *search, const struct hm_point *point);

/* Index of the best point, or HM_NONE if no point meets the limits. Fewer workers win ties. */
size_t hm__curve_best(const struct hm_search *search, const struct hm_curve *curve);
/*
 * Lowers *time_s and *expense to the smallest values on the curve, each one independently of the
 * other.
 */
void hm__curve_least(const struct hm_search *search, const struct hm_curve *curve, double *time_s,
                     double *expense);

/* Each of the following functions fills in its part of the answer from the curve. */
int hm__answer_choose(struct hm_answer *answer, const struct hm_search *search,
                      const struct hm_curve *curve, struct hm_err *err);
/* Sets the range of n around the best n in which the value is at most 5 % larger than the best. */
void hm__answer_plateau(struct hm_answer *answer, const struct hm_search *search,
                        const struct hm_curve *curve);
int hm__answer_explain(struct hm_answer *answer, const struct hm_search *search,
                       const struct hm_model *model, const struct hm_curve *curve,
                       struct hm_err *err);
int hm__answer_scenarios(struct hm_answer *answer, const struct hm_search *search,
                         const struct hm_curve *curve, struct hm_err *err);

/* Adds the notes on what the answer assumes (plan_notes.c). */
int hm__answer_notes(struct hm_answer *answer, const struct hm_search *search,
                     const struct hm_model *model, bool reference_fits, struct hm_err *err);

#endif
