/* Renderers of an answer, one for each format; all append to a text. */
#ifndef HM_RENDER_H
#define HM_RENDER_H

#include "text.h"

void hm__render_text(struct hm_text *out, const struct hm_answer *answer,
                     const struct hm_style *style);
void hm__render_table(struct hm_text *out, const struct hm_answer *answer,
                      const struct hm_style *style);
void hm__render_chart(struct hm_text *out, const struct hm_answer *answer,
                      const struct hm_style *style);
void hm__render_json(struct hm_text *out, const struct hm_answer *answer);
void hm__render_csv(struct hm_text *out, const struct hm_answer *answer);
int hm__render_gnuplot(struct hm_text *out, const struct hm_answer *answer, const char *file,
                       struct hm_err *err);

/* A network layer by layer: shape, parameters, flop and bytes, forward and for training. */
void hm__render_layers(struct hm_text *out, const struct hm_counts *counts, double weight_bytes);

/* Words of a text from a column on, continued at `indent` where the width is reached. */
void hm__render_wrapped(struct hm_text *out, const struct hm_style *style, const char *text,
                        size_t indent);
/* "label   text", wrapped to the width with the text kept in its column. */
void hm__render_line(struct hm_text *out, const struct hm_style *style, const char *label,
                     const char *text);

/* As the two above, with a text that is then emptied; a failure of its memory is passed on. */
void hm__render_taken(struct hm_text *out, const struct hm_style *style, struct hm_text *text,
                      size_t indent);
void hm__render_taken_line(struct hm_text *out, const struct hm_style *style, const char *label,
                           struct hm_text *text);
/* A text in so many columns of a table: filled up, or cut. */
void hm__render_cell(struct hm_text *out, const char *text, size_t width);
/* What switches bold or faint letters on and off; nothing without colour. */
const char *hm__render_bold(const struct hm_style *style, bool on);
const char *hm__render_dim(const struct hm_style *style, bool on);

/* A text inside single quotes of gnuplot's; a quote is written twice, lines are left out. */
void hm__gnuplot_quote(struct hm_text *out, const char *text);
/* The gnuplot lines that choose terminal and output by the ending of a file name. */
int hm__gnuplot_output(struct hm_text *out, const char *file, double width, double height,
                       struct hm_err *err);

#endif
