/* Writes phrases about probabilities that are used in several kinds of answers. */
#ifndef HM_CHANCE_WORDS_H
#define HM_CHANCE_WORDS_H

#include "format.h"

/*
 * A deadline and a budget, the probability that they are met, and the probability that the question
 * requires.
 */
struct hm_limits_met {
    double deadline_s; /* Deadline in seconds; NaN or 0 if there is no deadline. */
    double budget;     /* Largest cost of the job; NaN if there is no budget. */
    double meets;      /* Probability that the deadline and the budget are met; NaN if unknown. */
    /* Required probability that the deadline and the budget are met. */
    double certainty;
};

/*
 * Writes a probability into text[HM_SHOWN]: "93 %", or "less than 1 %". Probabilities that round to
 * 100 % are shown as 99 %, because no answer is certain.
 */
const char *hm__show_chance(double probability, char *text);
/*
 * Appends a phrase such as "meets the deadline of 1 h with 93 % (asked 90 %)"; appends nothing if
 * the probability is unknown.
 */
void hm__say_limits_met(struct hm_text *out, const struct hm_limits_met *limits);

/*
 * How certain it is that the recommended number of workers is good, and the interval for the best
 * number.
 */
struct hm_near_best {
    double near; /* Probability that the recommended number of workers is within `slack` of the
                    best; NaN if unknown. */
    /*
     * Slack: the largest relative difference from the best that still counts as good, such as 0.05.
     */
    double slack;
    /* Ends of the interval that contains the best number of workers; NaN if unknown. */
    double low, high;
    double level; /* Probability that the interval contains the best number of workers. */
    /*
     * Largest number of workers that was considered; NaN if the best number does not depend on this
     * limit.
     */
    double most;
};

/*
 * Appends a phrase such as "91 % sure to be within 5 % of the best; the exact best lies between 19
 * and 51 (90 %)".
 */
void hm__say_near_best(struct hm_text *out, const struct hm_near_best *sure);

/* Appends a sentence that says that all runs used a single node, and how many workers it has. */
void hm__say_one_node(struct hm_text *out, double workers);

#endif
