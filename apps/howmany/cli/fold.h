/* Wraps lines that are too long for the terminal. */
#ifndef HM_FOLD_H
#define HM_FOLD_H

#include "text.h"

/*
 * Appends a string with lines of at most `width` columns; longer lines are broken at spaces.
 * Continuation lines begin below the last column of a table if that column is wide enough, else
 * four columns to the right of the start of the line. A word that is longer than a line is not
 * broken. Escape sequences for colours have no width.
 */
void cli_fold(struct hm_text *out, const char *text, size_t width);

#endif
