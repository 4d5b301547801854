/*
 * Renders an answer, with one function for each format, and has helpers for text; all functions
 * append to a text.
 */
#ifndef HM_RENDER_H
#define HM_RENDER_H

#include "howmany.h"
#include "text.h"

/*
 * Returns a copy of the style that the caller of a public render function gave. NULL means no
 * colour, ASCII, no table, no chart and 80 columns; a width of 0 means 80 columns.
 */
struct hm_style hm__style_or_default(const struct hm_style *style);

/* Names of the alternatives, as JSON keys and labels. */
extern const char *const hm__alternative_names[HM_ALTERNATIVES];
/*
 * Returns the answer for the machine of one of its alternatives; all memory still belongs to
 * `answer`.
 */
struct hm_answer hm__answer_of_alternative(const struct hm_answer *answer, size_t kind);

void hm__render_text(struct hm_text *out, const struct hm_answer *answer,
                     const struct hm_style *style);
void hm__render_table(struct hm_text *out, const struct hm_answer *answer,
                      const struct hm_style *style);
void hm__render_chart(struct hm_text *out, const struct hm_answer *answer,
                      const struct hm_style *style);
int hm__render_gnuplot(struct hm_text *out, const struct hm_answer *answer, const char *file,
                       struct hm_err *err);

/*
 * Renders a network layer by layer: shape, parameters, flop and bytes, for the forward pass and for
 * training.
 */
void hm__render_layers(struct hm_text *out, const struct hm_counts *counts, double weight_bytes);

/*
 * Adds the words of a text, wrapped to the width; lines after the first begin at column `indent`.
 */
void hm__render_wrapped(struct hm_text *out, const struct hm_style *style, const char *text,
                        size_t indent);
/* Adds a line "label   text", wrapped to the width; continued lines are aligned with the text. */
void hm__render_line(struct hm_text *out, const struct hm_style *style, const char *label,
                     const char *text);
/* Adds the notes of an answer, one after another; only the first line has the label "note". */
void hm__render_notes(struct hm_text *out, const char *const *notes, size_t count,
                      const struct hm_style *style);

/*
 * The following functions work like hm__render_wrapped (but also end the line) and hm__render_line,
 * for a text that was built piece by piece. They release `text`. If memory ran out while it was
 * built, `out` is marked as failed too.
 */
void hm__render_taken(struct hm_text *out, const struct hm_style *style, struct hm_text *text,
                      size_t indent);
void hm__render_taken_line(struct hm_text *out, const struct hm_style *style, const char *label,
                           struct hm_text *text);
/* Adds the first sentence of an answer, in bold; releases `text` as hm__render_taken does. */
void hm__render_headline(struct hm_text *out, const struct hm_style *style, struct hm_text *text);
/* Adds one cell of a table, `width` columns wide: a short text is padded, a long one is cut. */
void hm__render_cell(struct hm_text *out, const char *text, size_t width);
/*
 * Returns the escape sequence that switches bold or dim type on or off; an empty text if the style
 * has no colour.
 */
const char *hm__render_bold(const struct hm_style *style, bool on);
const char *hm__render_dim(const struct hm_style *style, bool on);

#endif
