/* Computes the uncertainty of a plan without runs, and finds the runs that would reduce it. */
#ifndef HM_SHEET_ERROR_H
#define HM_SHEET_ERROR_H

#include "search.h"

/*
 * Sets the intervals of points whose times come from the model alone, and returns the coverage
 * probability of these intervals (sheet_error.c).
 */
double hm__sheet_intervals(const struct hm_search *search, struct hm_point *points, size_t count);
/*
 * Sets the interval of every point of the answer from published measurements, if the question has
 * no fit (sheet_error.c).
 */
void hm__answer_sheet_error(struct hm_answer *answer, const struct hm_search *search);
/*
 * Sets the advised runs of a plan without runs: the experimental design chooses the runs that
 * narrow its interval most (plan_runs.c). None are set if the design cannot be computed.
 */
int hm__answer_advise_runs(struct hm_answer *answer, const struct hm_search *search,
                           struct hm_err *err);

#endif
