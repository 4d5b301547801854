/* Internal interface of the search for an answer, shared by its steps. */
#ifndef HM_SEARCH_H
#define HM_SEARCH_H

#include "howmany.h"
#include "howmany_fit.h"
#include "memory.h"
#include "model.h"

enum { HM_DEFAULT_MAX_N = 1024, HM_BEYOND_RUNS = 8 };

/* One combination of job, machine, scheme and platform, and how it is judged. */
struct hm_search {
    const struct hm_job *job;
    const struct hm_cluster *cluster; /* NULL when the job has only formulas. */
    const struct hm_question *question;
    enum hm_goal goal;                /* As decided, never HM_GOAL_AUTO. */
    int scheme;                       /* enum hm_scheme, or -1 for those of the job. */
    struct hm_way way;                /* Platform and consistency. */
    struct hm_stragglers *stragglers; /* Straggler table of the cluster, shared by all searches on
                                         it; NULL: all workers are even. */
    bool weak;
    double reference;
    double alpha, beta; /* Weights of the balance; NaN until they are chosen. */
    const struct hm_parts
        *parts; /* Splits of the job's graph for n = 1..part_count; NULL without a graph. */
    size_t part_count;
};

enum { HM_DEFAULT_PARTS = 64 }; /* Default largest n with a graph: splitting takes time. */

/* A curve: the points for all n that are considered. */
struct hm_curve {
    struct hm_point *points; /* Owned. */
    size_t count;
    struct hm_point reference; /* The point that speedups are relative to. */
};

/* Largest n to consider; *ret_ceiling says whether the user or the cluster set this limit. */
double hm__search_max_n(const struct hm_search *search, bool *ret_ceiling);
/* The variant of the model for this search; callers change it for what-if questions. */
struct hm_variant hm__search_variant(const struct hm_search *search);
/* Evaluates the curve up to max_n; released with hm__curve_release. */
int hm__curve_init(struct hm_curve *curve, const struct hm_search *search,
                   const struct hm_model *model, double work, double max_n, struct hm_err *err);
void hm__curve_release(struct hm_curve *curve);

/* Computes speedup, total and cost of every point from its current time. */
void hm__curve_finish(struct hm_curve *curve, const struct hm_search *search, double work);

/* fitted.c: computes the times of points, by the model or by the fit of the question. */
int hm__search_eval(const struct hm_search *search, const struct hm_model *model,
                    struct hm_point *points, size_t count, struct hm_err *err);
/* fitted.c: with a fit, computes the intervals and the certainty of the choice. */
int hm__answer_certainty(struct hm_answer *answer, const struct hm_search *search,
                         const struct hm_model *model, const struct hm_curve *curve,
                         struct hm_err *err);
/* fitted.c: with a fit of runs alone, explains which term limits. */
int hm__answer_explain_fit(struct hm_answer *answer, const struct hm_search *search,
                           const struct hm_point *point, struct hm_err *err);
/* fitted.c: whether the times come from runs alone, without the job's model. */
bool hm__search_by_runs(const struct hm_search *search);

/* Iterations of the whole job at n workers, with the work factor; 1 when the job gives none. */
double hm__search_iterations(const struct hm_search *search, double work, double n);
/* Money, or node-seconds where no price is known. */
double hm__search_expense(const struct hm_search *search, const struct hm_point *point);
/* Whether a point fits and meets deadline and budget. */
bool hm__search_allows(const struct hm_search *search, const struct hm_point *point);
/* The value to be minimised for the goal. */
double hm__search_value(const struct hm_search *search, const struct hm_point *point);

/* Index of the best point, HM_NONE if none is allowed. Fewer workers win ties. */
size_t hm__curve_best(const struct hm_search *search, const struct hm_curve *curve);
/* Lowers *time_s and *expense to the smallest values on the curve, each independently. */
void hm__curve_least(const struct hm_search *search, const struct hm_curve *curve, double *time_s,
                     double *expense);

/* The parts of an answer; each fills its fields from the curve. */
int hm__answer_choose(struct hm_answer *answer, const struct hm_search *search,
                      const struct hm_curve *curve, struct hm_err *err);
/* Sets the range of n around the best in which the value is at most 5 % larger. */
void hm__answer_plateau(struct hm_answer *answer, const struct hm_search *search,
                        const struct hm_curve *curve);
int hm__answer_explain(struct hm_answer *answer, const struct hm_search *search,
                       const struct hm_model *model, const struct hm_curve *curve,
                       struct hm_err *err);
int hm__answer_scenarios(struct hm_answer *answer, const struct hm_search *search,
                         const struct hm_curve *curve, struct hm_err *err);

/* plan_notes.c: adds the notes on what the answer assumes. */
int hm__answer_notes(struct hm_answer *answer, const struct hm_search *search,
                     const struct hm_model *model, bool reference_fits, struct hm_err *err);

#endif
