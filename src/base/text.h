/* Strings: a buffer that grows, near misses, and numbers read independently of the locale. */
#ifndef HM_TEXT_H
#define HM_TEXT_H

#include "howmany.h"

/* A growing text. Zero-initialise; errors stick, so that only the end needs checking. */
struct hm_text {
    char *data; /* owned, NUL-terminated, NULL while empty */
    size_t length, room;
    bool failed; /* out of memory at some point: the text is not complete */
};

void hm__text_add(struct hm_text *text, const char *piece);
void hm__text_add_n(struct hm_text *text, const char *piece, size_t length);
void hm__text_addf(struct hm_text *text, const char *format, ...) HM_PRINTF(2, 3);
void hm__text_repeat(struct hm_text *text, const char *piece, size_t times);
/* Add as much of a piece as so many columns hold; returns the columns it takes. */
size_t hm__text_cut(struct hm_text *text, const char *piece, size_t columns);
/* Take away blanks at the end and start a new line. */
void hm__text_end_line(struct hm_text *text);
void hm__text_release(struct hm_text *text);
/* Hand the text over to the caller (hm_text_free), or fail if it is not complete. */
int hm__text_take(struct hm_text *text, char **ret_text, struct hm_err *err);

/*
 * The candidate nearest to word, if near enough to be a typing error; else NULL.
 * next(context, i) gives the i-th candidate, NULL after the last.
 */
const char *hm__suggest(const char *word, const char *(*next)(const void *context, size_t i),
                        const void *context);

/* Read a decimal number at text; returns the characters used, 0 if there is none. */
size_t hm__number_read(const char *text, double *ret_value);
/* As above, with a + or - before it. */
size_t hm__signed_read(const char *text, double *ret_value);

/* Whether a text ends in another, and has something before it. */
bool hm__text_ends(const char *text, const char *end);
/* Length of the UTF-8 sequence at text, of which there are `left` bytes; 0: it is none (overlong
 * ones and surrogates too). */
size_t hm__utf8_length(const char *text, size_t left);
/* Columns a UTF-8 text takes on a terminal (each code point counts one). */
size_t hm__text_columns(const char *text);

#endif
