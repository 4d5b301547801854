/*
 * Renders an answer, with one function for each format, and declares helpers that write wrapped
 * text; all functions append to `out`.
 */
#ifndef HM_RENDER_H
#define HM_RENDER_H

#include "howmany.h"
#include "text.h"

/*
 * Returns a copy of the style that was passed to a public render function. NULL means no colour,
 * ASCII, no table, no chart and 80 columns; a width of 0 means 80 columns.
 */
struct hm_style hm__style_or_default(const struct hm_style *style);

/* Names of the alternatives, used as JSON keys and as labels. */
extern const char *const hm__alternative_names[HM_ALTERNATIVES];
/*
 * Returns an answer that describes the machine of one alternative of `answer`. The result shares
 * the memory of `answer` and must not be freed.
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
 * Appends a string, broken into lines of at most the width of the style; lines after the first
 * begin at column `indent`.
 */
void hm__render_wrapped(struct hm_text *out, const struct hm_style *style, const char *text,
                        size_t indent);
/*
 * Appends a line "label   text", broken at the width of the style; continuation lines are aligned
 * with `text`.
 */
void hm__render_line(struct hm_text *out, const struct hm_style *style, const char *label,
                     const char *text);
/* Appends the notes of an answer, one after another; only the first note has the label "note". */
void hm__render_notes(struct hm_text *out, const char *const *notes, size_t count,
                      const struct hm_style *style);

/*
 * hm__render_taken works like hm__render_wrapped, but also ends the line; hm__render_taken_line
 * works like hm__render_line. Both release `text`. If an allocation failed while `text` was built,
 * they also mark `out` as failed.
 */
void hm__render_taken(struct hm_text *out, const struct hm_style *style, struct hm_text *text,
                      size_t indent);
void hm__render_taken_line(struct hm_text *out, const struct hm_style *style, const char *label,
                           struct hm_text *text);
/* Appends the first sentence of an answer, in bold, and releases `text`. */
void hm__render_headline(struct hm_text *out, const struct hm_style *style, struct hm_text *text);
/*
 * Appends one cell of a table, `width` columns wide: a short string is padded, and a long string is
 * truncated.
 */
void hm__render_cell(struct hm_text *out, const char *text, size_t width);
/*
 * Returns the escape sequence that switches bold or dim type on or off, or an empty string if the
 * style has no colour.
 */
const char *hm__render_bold(const struct hm_style *style, bool on);
const char *hm__render_dim(const struct hm_style *style, bool on);

#endif
