/*
 * Declares a growing text, spelling suggestions, and functions that read numbers independently of
 * the locale.
 */
#ifndef HM_TEXT_H
#define HM_TEXT_H

#include "howmany.h"

/*
 * A growing text. Initialise it with {0}. If an allocation fails, `failed` becomes true and stays
 * true.
 */
struct hm_text {
    char *data; /* The text, which is owned and terminated by NUL; NULL if the text is empty. */
    size_t length, room;
    bool failed; /* True if an allocation failed, so that the text is not complete. */
};

void hm__text_add(struct hm_text *text, const char *piece);
void hm__text_add_n(struct hm_text *text, const char *piece, size_t length);
void hm__text_addf(struct hm_text *text, const char *format, ...) HM_PRINTF(2, 3);
void hm__text_repeat(struct hm_text *text, const char *piece, size_t times);
/*
 * Adds as much of the beginning of `piece` as fits into `columns` columns; returns the number of
 * columns that were added.
 */
size_t hm__text_cut(struct hm_text *text, const char *piece, size_t columns);
/* Removes spaces at the end of the text and adds a line break. */
void hm__text_end_line(struct hm_text *text);
void hm__text_release(struct hm_text *text);
/*
 * Passes the text to the caller, who frees it with hm_text_free; fails if the text is not complete.
 */
int hm__text_take(struct hm_text *text, char **ret_text, struct hm_err *err);

/*
 * Returns the candidate most similar to `word`, if `word` looks like a misspelling of that
 * candidate; otherwise NULL. next(context, i) returns candidate i, and NULL after the last.
 */
const char *hm__suggest(const char *word, const char *(*next)(const void *context, size_t i),
                        const void *context);

/* Returns the length of the byte order mark (U+FEFF) with which some programs begin a text; 0 if
 * there is none. */
size_t hm__text_mark(const char *text, size_t length);

/*
 * Reads a decimal number at the start of `text`; returns the number of characters used, or 0 if
 * there is no number.
 */
size_t hm__number_read(const char *text, double *ret_value);
/* Same as hm__number_read, with an optional + or - before the number. */
size_t hm__signed_read(const char *text, double *ret_value);

enum { HM_DIGITS = 24 }; /* Size of a text for any 64-bit number, with its NUL. */
/* Writes a number with decimal digits, as printf does but faster; returns the number of digits. */
size_t hm__digits_write(char text[HM_DIGITS], unsigned long long value);

/*
 * Writes a number into `text` for a message, with %g; "infinity", "minus infinity" or "no number"
 * if it is not finite, because messages are also parts of answers.
 */
const char *hm__number_words(double value, char text[HM_DIGITS]);

/* Returns whether a string ends with `end` and is longer than `end`. */
bool hm__text_ends(const char *text, const char *end);
/*
 * Returns the length of the UTF-8 sequence at the start of text, which has `left` bytes; 0 if the
 * sequence is not valid UTF-8. Overlong sequences and surrogates are not valid.
 */
size_t hm__utf8_length(const char *text, size_t left);
/* Appends a Unicode code point as UTF-8. */
void hm__utf8_add(struct hm_text *text, unsigned code);
/* Returns the width of a UTF-8 text on a terminal; each code point counts as one column. */
size_t hm__text_columns(const char *text);

#endif
