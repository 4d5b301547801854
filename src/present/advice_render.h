/*
 * Renders advice (which algorithm to use on how many workers), and declares functions for phrases
 * that are used both in its text and in the report of a study.
 */
#ifndef HM_ADVICE_RENDER_H
#define HM_ADVICE_RENDER_H

#include "format.h"
#include "howmany_advise.h"
#include "render.h"

void hm__render_advice_text(struct hm_text *out, const struct hm_advice *advice,
                            const struct hm_style *style);
void hm__render_advice_table(struct hm_text *out, const struct hm_advice *advice,
                             const struct hm_style *style);

/*
 * Returns whether the question has a target loss; otherwise it asks for the smallest loss within a
 * time or a budget.
 */
bool hm__advice_asks_loss(const struct hm_advice *advice);
/* Returns whether the price of a worker is known, so that candidates have costs. */
bool hm__advice_priced(const struct hm_advice *advice);
/*
 * Returns whether candidate `i` is the best candidate with its algorithm. Candidates are sorted, so
 * this is true if no earlier candidate has that algorithm.
 */
bool hm__advice_is_first(const struct hm_advice *advice, size_t i);

/* Each of the following functions appends a phrase without a full stop to `out`. */

/* Appends the algorithm and the number of workers, such as "cocoa on 4 workers". */
void hm__say_candidate(struct hm_text *out, const struct hm_candidate *candidate);
/*
 * Appends the time to the target loss and the number of iterations, such as "24.3 ms to 1e-4 (21.0
 * ms to 29.0 ms), 9.4 iterations of 2.58 ms".
 */
void hm__say_outcome(struct hm_text *out, const struct hm_advice *advice,
                     const struct hm_candidate *candidate);
/* Appends the value by which candidates are ranked, such as the time "24.3 ms". */
void hm__say_value(struct hm_text *out, const struct hm_advice *advice,
                   const struct hm_candidate *candidate);
/*
 * Appends the reason why the candidate is worse than the best one, such as "needs 1.80x the
 * iterations".
 */
void hm__say_why(struct hm_text *out, const struct hm_advice *advice,
                 const struct hm_candidate *candidate);
/* Appends the recommendation as a complete sentence with a full stop, unlike the other functions.
 */
void hm__say_headline(struct hm_text *out, const struct hm_advice *advice);
/*
 * Appends the probability that the recommended candidate is the best, and the probability that its
 * algorithm is the best.
 */
void hm__say_sure(struct hm_text *out, const struct hm_advice *advice);
/*
 * Appends which candidate has the smallest loss at the beginning of training, and which candidates
 * have it later.
 */
void hm__say_leads(struct hm_text *out, const struct hm_advice *advice);
/*
 * Appends the best schedule (the number of workers to use up to each iteration), if the question
 * asks for one.
 */
void hm__say_schedule(struct hm_text *out, const struct hm_advice *advice);
/* Appends the run that is expected to improve the advice most. */
void hm__say_next_run(struct hm_text *out, const struct hm_advice *advice);
/*
 * Appends how far the recommended candidate is outside the measured range; appends nothing if it is
 * inside.
 */
void hm__say_beyond(struct hm_text *out, const struct hm_advice *advice);

#endif
