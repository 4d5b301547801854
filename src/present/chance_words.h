/* Writes phrases about probabilities that several answers share. */
#ifndef HM_CHANCE_WORDS_H
#define HM_CHANCE_WORDS_H

#include "format.h"

/* A deadline and a budget, and the probabilities with which they are met and must be met. */
struct hm_limits_met {
    double deadline_s; /* Deadline in seconds; NaN or 0: no deadline. */
    double budget;     /* Largest money that the job may cost; NaN: no budget. */
    double meets;      /* Probability of meeting deadline and budget; NaN: unknown. */
    /* Probability with which the question requires that deadline and budget are met. */
    double certainty;
};

/*
 * Formats a probability into text[HM_SHOWN]: "93 %", or "less than 1 %". Probabilities that round
 * to 100 % are shown as 99 %, because no answer is certain.
 */
const char *hm__show_chance(double probability, char *text);
/*
 * Adds a phrase such as "meets the deadline of 1 h with 93 % (asked 90 %)"; nothing if the
 * probability is unknown.
 */
void hm__say_limits_met(struct hm_text *out, const struct hm_limits_met *limits);

/* The certainty that a recommended number of workers is good, and the interval of the exact
 * best. */
struct hm_near_best {
    double near;  /* Probability that the recommended number of workers is within `slack` of the
                     best; NaN: unknown. */
    double slack; /* Share by which the recommended number of workers may be worse than the best. */
    double low, high; /* Interval of the best number of workers; NaN: unknown. */
    double level;     /* Probability with which the interval contains the best number. */
    /*
     * Largest number of workers that was considered; NaN: this limit does not affect the best
     * number.
     */
    double most;
};

/*
 * Adds a phrase such as "91 % sure to be within 5 % of the best; the exact best lies between 19 and
 * 51 (90 %)".
 */
void hm__say_near_best(struct hm_text *out, const struct hm_near_best *sure);

/* Adds a sentence which says that all runs were inside one node of this many workers. */
void hm__say_one_node(struct hm_text *out, double workers);

#endif
