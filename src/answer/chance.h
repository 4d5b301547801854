/* Computes the probability that a time stays below a limit, from the median and an interval of the
 * time (chance.c). */
#ifndef HM_CHANCE_H
#define HM_CHANCE_H

#include "random.h"
#include "search.h"

/*
 * Largest probability that an answer states. It is below 1, because an answer can be wrong for
 * reasons that neither runs nor published measurements have shown.
 */
#define HM_CHANCE_MOST 0.99

/* Required probability of meeting the limits if the question does not state one. */
#define HM_DEFAULT_CERTAINTY 0.9

/* A time with its interval; low and high are NaN if the interval is unknown. */
struct hm_span {
    double low, middle, high;
    double level; /* Probability that the time is between low and high. */
};

/* Returns whether the interval for a time is known. */
bool hm__span_known(const struct hm_span *span);
/*
 * Returns the probability that the time is at most `limit`, which is never above HM_CHANCE_MOST;
 * NaN if the interval is unknown.
 */
double hm__span_chance(const struct hm_span *span, double limit);
/*
 * Returns the upper bound of the time that holds with the given probability; the median if the
 * interval is unknown.
 */
double hm__span_bound(const struct hm_span *span, double probability);

/* Fills `times` with random times that have the distribution described by `span`. */
void hm__span_draw(const struct hm_span *span, struct hm_random *random, double *times,
                   size_t count);

/*
 * Returns the largest probability with which an answer may state, after this number of runs, that
 * its recommendation is near the best. `beyond` is true if the recommended number of workers is
 * outside the range of the runs.
 */
double hm__chance_most(size_t runs, bool beyond);

/*
 * Returns the required probability of meeting the limits of a question: `certainty` if it is given,
 * or else the default.
 */
double hm__certainty_or_default(double certainty);

/*
 * Sets bound_s of every point of a curve. If the question has limits and the interval is known, it
 * is the upper bound of the time of an iteration that holds with the required probability;
 * otherwise, it is the expected time.
 */
int hm__curve_bounds(struct hm_curve *curve, const struct hm_search *search,
                     const struct hm_model *model, struct hm_err *err);
/*
 * Returns the probability that a point meets the limits; NaN if unknown. `level` is the probability
 * of the point's interval.
 */
double hm__point_chance(const struct hm_search *search, const struct hm_point *point, double level);
/* Sets the probability that each point of the answer meets the limits of the question. */
void hm__answer_chances(struct hm_answer *answer, const struct hm_search *search);

#endif
