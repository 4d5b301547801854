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

/* Whether a loss is asked for; otherwise the least loss is, within limits. */
bool hm__advice_asks_loss(const struct hm_advice *advice);
/* Whether a price is known, so that candidates have costs. */
bool hm__advice_priced(const struct hm_advice *advice);
/* Whether no candidate before the i-th has its algorithm: it is the best with it. */
bool hm__advice_is_first(const struct hm_advice *advice, size_t i);
/* "never", "iterations", … */
const char *hm__advise_why_name(enum hm_advise_why why);

/* Each adds a phrase without a full stop. */
void hm__say_candidate(struct hm_text *out,
                       const struct hm_candidate *candidate); /* X on m workers */
/* "24.3 ms to 1e-4 (21.0 ms to 29.0 ms), 9.4 iterations of 2.58 ms". */
void hm__say_outcome(struct hm_text *out, const struct hm_advice *advice,
                     const struct hm_candidate *candidate);
/* The outcome in a word or two: "24.3 ms". */
void hm__say_value(struct hm_text *out, const struct hm_advice *advice,
                   const struct hm_candidate *candidate);
/* Why it loses against the first: "needs 1.80x the iterations, though each takes 0.80x as long". */
void hm__say_why(struct hm_text *out, const struct hm_advice *advice,
                 const struct hm_candidate *candidate);
void hm__say_headline(struct hm_text *out, const struct hm_advice *advice);
void hm__say_sure(struct hm_text *out, const struct hm_advice *advice);
void hm__say_leads(struct hm_text *out, const struct hm_advice *advice);
void hm__say_schedule(struct hm_text *out, const struct hm_advice *advice);
void hm__say_next_run(struct hm_text *out, const struct hm_advice *advice);
/* What of the first candidate nobody has seen; nothing if all was. */
void hm__say_beyond(struct hm_text *out, const struct hm_advice *advice);

#endif
