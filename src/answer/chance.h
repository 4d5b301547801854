/* Probabilities of a time that is known by its median and an interval (chance.c). */
#ifndef HM_CHANCE_H
#define HM_CHANCE_H

#include "search.h"

/*
 * Largest probability that an answer states: what neither runs nor published measurements have
 * shown may be otherwise.
 */
#define HM_CHANCE_MOST 0.99

/* Probability with which limits are met if the question gives none. */
#define HM_DEFAULT_CERTAINTY 0.9

/* A time with its interval; low and high are NaN if the interval is unknown. */
struct hm_span {
    double low, middle, high;
    double level; /* Probability that the time is between low and high. */
};

/* Whether the interval is known. */
bool hm__span_known(const struct hm_span *span);
/* Probability that the time is at most `limit`, at most HM_CHANCE_MOST; NaN if it is unknown. */
double hm__span_chance(const struct hm_span *span, double limit);
/* The time that is not exceeded with a probability; the median if the interval is unknown. */
double hm__span_bound(const struct hm_span *span, double probability);

/*
 * The largest probability of being near the best that an answer states from some number of runs;
 * `beyond`: the recommended number of workers is outside those of the runs.
 */
double hm__chance_most(size_t runs, bool beyond);

/* Probability with which the limits of a question must be met. */
double hm__certainty_or_default(double certainty);

/*
 * Sets bound_s of every point of a curve, if the question has limits; the time of an iteration if
 * the interval is unknown.
 */
int hm__curve_bounds(struct hm_curve *curve, const struct hm_search *search,
                     const struct hm_model *model, struct hm_err *err);
/* Probability that a point meets the limits; `level` is that of its interval. NaN: unknown. */
double hm__point_chance(const struct hm_search *search, const struct hm_point *point, double level);
/* Sets the probability that each point of the answer meets the limits of the question. */
void hm__answer_chances(struct hm_answer *answer, const struct hm_search *search);

#endif
