/* Inside of the search for an answer, shared by its steps. */
#ifndef HM_SEARCH_H
#define HM_SEARCH_H

#include "howmany.h"
#include "howmany_fit.h"
#include "memory.h"
#include "model.h"

enum { HM_DEFAULT_MAX_N = 1024, HM_BEYOND_RUNS = 8 };

/* One combination to look at, and how it is judged. */
struct hm_search {
    const struct hm_job *job;
    const struct hm_cluster *cluster; /* NULL when the job is formulas alone */
    const struct hm_question *question;
    enum hm_goal goal;    /* decided */
    int scheme;           /* enum hm_scheme or -1 */
    struct hm_way way;    /* the platform */
    struct hm_crew *crew; /* of the cluster, shared by all that look at it; NULL: even */
    bool weak;
    double reference;
    double alpha, beta;           /* Weights of the balance; NaN until they are chosen. */
    const struct hm_parts *parts; /* of the job's graph, for n = 1..part_count; NULL without one */
    size_t part_count;
};

enum { HM_DEFAULT_PARTS = 64 }; /* splitting takes time: fewer workers are looked at by default */

/* A curve: points for the n that are worth looking at. */
struct hm_curve {
    struct hm_point *points; /* owned */
    size_t count;
    struct hm_point reference; /* the point speedups are relative to */
};

/* Largest n to consider; *ret_ceiling tells whether it is a limit somebody set. */
double hm__search_max_n(const struct hm_search *search, bool *ret_ceiling);
/* Variant of the model for this search, to be changed by "what if". */
struct hm_variant hm__search_variant(const struct hm_search *search);
/* Evaluate the curve up to max_n; released with hm__curve_release. */
int hm__curve_init(struct hm_curve *curve, const struct hm_search *search,
                   const struct hm_model *model, double work, double max_n, struct hm_err *err);
void hm__curve_release(struct hm_curve *curve);

/* Speedup, total and cost of every point of a curve from the times they have now. */
void hm__curve_finish(struct hm_curve *curve, const struct hm_search *search, double work);

/* fitted.c: the times of points, by the model or by the fit of the question. */
int hm__search_eval(const struct hm_search *search, const struct hm_model *model,
                    struct hm_point *points, size_t count, struct hm_err *err);
/* fitted.c: with a fit, how sure the times and the choice are. */
int hm__answer_certainty(struct hm_answer *answer, const struct hm_search *search,
                         const struct hm_model *model, const struct hm_curve *curve,
                         struct hm_err *err);
/* fitted.c: with a fit of runs alone, the term that limits. */
int hm__answer_explain_fit(struct hm_answer *answer, const struct hm_search *search,
                           const struct hm_point *point, struct hm_err *err);
/* fitted.c: whether the times come from runs alone, and the job tells nothing of them. */
bool hm__search_by_runs(const struct hm_search *search);

/* Iterations of the whole job at n workers, with the work factor; 1 when the job gives none. */
double hm__search_iterations(const struct hm_search *search, double work, double n);
/* Money, or node-seconds where no price is known: what "cheap" means for this search. */
double hm__search_expense(const struct hm_search *search, const struct hm_point *point);
/* Whether a point fits and meets deadline and budget. */
bool hm__search_allows(const struct hm_search *search, const struct hm_point *point);
/* What is to be made small. */
double hm__search_value(const struct hm_search *search, const struct hm_point *point);

/* Index of the best point, HM_NONE if none is allowed. Fewer workers win ties. */
size_t hm__curve_best(const struct hm_search *search, const struct hm_curve *curve);
/* Lower *time_s and *expense to the least on the curve, each by itself. */
void hm__curve_least(const struct hm_search *search, const struct hm_curve *curve, double *time_s,
                     double *expense);

/* The parts of an answer, each filling its fields from the curve. */
int hm__answer_choose(struct hm_answer *answer, const struct hm_search *search,
                      const struct hm_curve *curve, struct hm_err *err);
/* Around the best: the range in which the goal is missed by less than 5 %. */
void hm__answer_plateau(struct hm_answer *answer, const struct hm_search *search,
                        const struct hm_curve *curve);
int hm__answer_explain(struct hm_answer *answer, const struct hm_search *search,
                       const struct hm_model *model, const struct hm_curve *curve,
                       struct hm_err *err);
int hm__answer_scenarios(struct hm_answer *answer, const struct hm_search *search,
                         const struct hm_curve *curve, struct hm_err *err);

#endif
