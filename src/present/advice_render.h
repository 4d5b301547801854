/* Renders an advice; declares phrases that both its text and the report of a study use. */
#ifndef HM_ADVICE_RENDER_H
#define HM_ADVICE_RENDER_H

#include "format.h"
#include "howmany_advise.h"
#include "render.h"

void hm__render_advice_text(struct hm_text *out, const struct hm_advice *advice,
                            const struct hm_style *style);
void hm__render_advice_table(struct hm_text *out, const struct hm_advice *advice,
                             const struct hm_style *style);

/* Whether the question names a target loss; otherwise it asks for the least loss within limits. */
bool hm__advice_asks_loss(const struct hm_advice *advice);
/* Whether a price is known, so that candidates have costs. */
bool hm__advice_priced(const struct hm_advice *advice);
/*
 * Whether candidate i is the best one of its algorithm, which means that no earlier candidate has
 * that algorithm.
 */
bool hm__advice_is_first(const struct hm_advice *advice, size_t i);

/* Each of the following functions adds a phrase without a full stop to a text. */

/* Adds the algorithm and the number of workers, such as "cocoa on 4 workers". */
void hm__say_candidate(struct hm_text *out, const struct hm_candidate *candidate);
/*
 * Adds time and iterations, such as "24.3 ms to 1e-4 (21.0 ms to 29.0 ms), 9.4 iterations of 2.58
 * ms".
 */
void hm__say_outcome(struct hm_text *out, const struct hm_advice *advice,
                     const struct hm_candidate *candidate);
/* Adds the value that candidates are ranked by, such as "24.3 ms". */
void hm__say_value(struct hm_text *out, const struct hm_advice *advice,
                   const struct hm_candidate *candidate);
/* Adds why the candidate is worse than the first one, such as "needs 1.80x the iterations". */
void hm__say_why(struct hm_text *out, const struct hm_advice *advice,
                 const struct hm_candidate *candidate);
/* Adds the recommendation as a sentence with a full stop, unlike the other functions. */
void hm__say_headline(struct hm_text *out, const struct hm_advice *advice);
/* Adds the probability that the first candidate is the best, and that its algorithm is the best. */
void hm__say_sure(struct hm_text *out, const struct hm_advice *advice);
/* Adds which candidate has the least loss at the beginning, and which candidates have it later. */
void hm__say_leads(struct hm_text *out, const struct hm_advice *advice);
/* Adds the best schedule of the number of workers, if the question asks for one. */
void hm__say_schedule(struct hm_text *out, const struct hm_advice *advice);
/* Adds the run that is expected to improve the advice most. */
void hm__say_next_run(struct hm_text *out, const struct hm_advice *advice);
/* Adds how far the first candidate is outside the measured range; adds nothing if it is inside. */
void hm__say_beyond(struct hm_text *out, const struct hm_advice *advice);

#endif
