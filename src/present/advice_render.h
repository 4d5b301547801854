/* Renderers of an advice, and the phrases that its text and the report of a study share. */
#ifndef HM_ADVICE_RENDER_H
#define HM_ADVICE_RENDER_H

#include "format.h"
#include "howmany_advise.h"
#include "render.h"

void hm__render_advice_text(struct hm_text *out, const struct hm_advice *advice,
                            const struct hm_style *style);
void hm__render_advice_table(struct hm_text *out, const struct hm_advice *advice,
                             const struct hm_style *style);

/* Whether the question names a loss to reach; otherwise it asks for the least loss within limits.
 */
bool hm__advice_asks_loss(const struct hm_advice *advice);
/* Whether a price is known, so that candidates have costs. */
bool hm__advice_priced(const struct hm_advice *advice);
/* Whether candidate i is the best one of its algorithm: no earlier candidate has that algorithm. */
bool hm__advice_is_first(const struct hm_advice *advice, size_t i);

/* Each function below adds a phrase without a full stop. */

/* "cocoa on 4 workers" */
void hm__say_candidate(struct hm_text *out, const struct hm_candidate *candidate);
/* "24.3 ms to 1e-4 (21.0 ms to 29.0 ms), 9.4 iterations of 2.58 ms" */
void hm__say_outcome(struct hm_text *out, const struct hm_advice *advice,
                     const struct hm_candidate *candidate);
/* The value that candidates are ranked by: "24.3 ms". */
void hm__say_value(struct hm_text *out, const struct hm_advice *advice,
                   const struct hm_candidate *candidate);
/* Why the candidate is worse than the first: "needs 1.80x the iterations". */
void hm__say_why(struct hm_text *out, const struct hm_advice *advice,
                 const struct hm_candidate *candidate);
/* The recommendation; it is a sentence and ends with a full stop. */
void hm__say_headline(struct hm_text *out, const struct hm_advice *advice);
/* The probabilities that the first candidate, and its algorithm, are the best. */
void hm__say_sure(struct hm_text *out, const struct hm_advice *advice);
/* Which candidate has the least loss at first, and which later. */
void hm__say_leads(struct hm_text *out, const struct hm_advice *advice);
/* The best schedule of m, if the question asks for one. */
void hm__say_schedule(struct hm_text *out, const struct hm_advice *advice);
/* The run that is expected to improve the advice most. */
void hm__say_next_run(struct hm_text *out, const struct hm_advice *advice);
/* How far the first candidate is outside the measured range; nothing when it is inside. */
void hm__say_beyond(struct hm_text *out, const struct hm_advice *advice);

#endif
