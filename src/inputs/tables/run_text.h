/*
 * Declares functions that the readers of runs and of traces share, for numbers in cells, comments
 * and JSON lines.
 */
#ifndef HM_RUN_TEXT_H
#define HM_RUN_TEXT_H

#include "csv.h"
#include "unit.h"
#include "value.h"

/* Reads a number without a unit, of any sign; returns false if the text contains anything else. */
bool hm__run_bare_number(const char *text, double *ret_value);
/*
 * Returns whether a number with this text keeps its meaning as the double `value` that was read
 * from it: false for numbers so small that they became 0, and for numbers above 2^53 that the
 * double has with other digits, such as long identifiers. All digits of a number without a point
 * and an exponent count; of others, as many as the text has. A number with a unit is a quantity,
 * whose last digits do not matter.
 */
bool hm__run_is_exact(const char *text, double value);
/* Reads a number with or without a unit and converts it to SI; *ret_dim is the dimension of the
 * unit. */
bool hm__run_number(const char *text, double *ret_value, bool *ret_has_unit,
                    struct hm_dim *ret_dim);
enum { HM_RUN_DIGITS = 40 }; /* Number of bytes for the text of a number. */

/* Writes a number with as many digits as are needed to read the same number again. */
void hm__run_print(double value, char text[HM_RUN_DIGITS]);
/* Removes white space from both ends of a string, in place. */
char *hm__run_trim(char *text);

/* Kinds of words that may be written instead of a number. */
enum hm_run_word {
    HM_RUN_WORD_NO,       /* Any text other than the following words. */
    HM_RUN_WORD_MISSING,  /* "na" or "none", which means that there is no value. */
    HM_RUN_WORD_DIVERGED, /* "nan" or "inf", which means that the loss has diverged. */
};
enum hm_run_word hm__run_word(const char *text);

/* Returns the length of the comments at the beginning of a string; *ret_lines is their number of
 * lines. A line that begins with # is the header, not a comment, if one of its columns is the
 * number of workers n. */
size_t hm__run_skip_comments(const char *text, size_t length, int *ret_lines);
/*
 * Reads a whole file of runs or traces, as hm__source_read_all does; the caller frees the text. A
 * compressed file that decodes to more than 64 MB and more than 100 times its size is refused,
 * because a small file could otherwise take gigabytes of memory.
 */
int hm__table_load(const char *path, char **ret_text, size_t *ret_length, struct hm_err *err);
/*
 * Returns true for a CSV text that does not end with a newline, such as a file that was truncated
 * within its last value. (Truncated JSON is a syntax error.)
 */
bool hm__run_text_is_cut(const char *text, size_t length);
/* Fails if every name in the header is a number; the hint shows `example`, a correct header. */
int hm__run_check_header(const struct hm_csv *csv, const char *example, struct hm_err *err);

/* A function that is called with each object of a table. The object and the arena are freed after
 * the call. */
typedef int hm_run_take(void *context, struct hm_arena *arena, const struct hm_value *object,
                        int line);

/* Calls `take` with each item of a list, or with a single object, as if each were a JSON line. The
 * line number that `take` receives is the line of the item in its source. */
int hm__run_objects(const struct hm_value *value, hm_run_take *take, void *context,
                    struct hm_err *err);

/* Calls `take` with each line of a string; every line must be a JSON object. */
int hm__run_json_lines(const char *text, size_t length, const char *source, hm_run_take *take,
                       void *context, struct hm_err *err);

#endif
