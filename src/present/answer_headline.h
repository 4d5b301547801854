/* Writes the first lines of an answer as text. All functions append to `out`. */
#ifndef HM_ANSWER_HEADLINE_H
#define HM_ANSWER_HEADLINE_H

#include "render.h"

/* Appends the time of an iteration, such as "12.7 s an iteration, 4.14x faster than one". */
void hm__answer_say_time(struct hm_text *out, const struct hm_answer *answer,
                         const struct hm_point *point);
/*
 * Appends the first sentence of an answer. This function and the functions below may be called only
 * if the answer has a recommended point.
 */
void hm__answer_say_recommended(struct hm_text *out, const struct hm_answer *answer);

/*
 * Each of the following functions adds labelled lines, or nothing if the lines would repeat earlier
 * ones.
 */
void hm__answer_say_iteration(struct hm_text *out, const struct hm_answer *answer,
                              const struct hm_style *style);
void hm__answer_say_whole(struct hm_text *out, const struct hm_answer *answer,
                          const struct hm_style *style);
void hm__answer_say_memory(struct hm_text *out, const struct hm_answer *answer,
                           const struct hm_style *style);
void hm__answer_say_alternatives(struct hm_text *out, const struct hm_answer *answer,
                                 const struct hm_style *style);
/* Appends the best point of the curve if it is not the recommended point. */
void hm__answer_say_best(struct hm_text *out, const struct hm_answer *answer,
                         const struct hm_style *style);
/* Appends the interval for a plan without runs, and the runs that would narrow this interval. */
void hm__answer_say_sheet(struct hm_text *out, const struct hm_answer *answer,
                          const struct hm_style *style);

#endif
