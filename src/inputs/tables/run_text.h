/* What the readers of runs and of traces share: numbers in cells, comments, JSON lines. */
#ifndef HM_RUN_TEXT_H
#define HM_RUN_TEXT_H

#include "csv.h"
#include "unit.h"
#include "value.h"

/* Reads a number without a unit, of any sign; returns false if anything else is in the text. */
bool hm__run_bare_number(const char *text, double *ret_value);
/* Reads a number with or without a unit, in SI; *ret_dim is the dimension of the unit. */
bool hm__run_number(const char *text, double *ret_value, bool *ret_has_unit,
                    struct hm_dim *ret_dim);
/* Removes blanks from both ends, in place. */
char *hm__run_trim(char *text);

/* Words that appear in place of a number. */
enum hm_run_word {
    HM_RUN_WORD_NO,       /* Any other text. */
    HM_RUN_WORD_MISSING,  /* na or none: there is no value. */
    HM_RUN_WORD_DIVERGED, /* nan or inf: the loss has diverged. */
};
enum hm_run_word hm__run_word(const char *text);

/* Returns the length of the comments at the beginning, and how many lines they are. A line that
 * begins with # is a header instead if one of its columns means n. */
size_t hm__run_skip_comments(const char *text, size_t length, int *ret_lines);
/* Fails if every name in the header is a number; the hint shows `example`, a correct header. */
int hm__run_check_header(const struct hm_csv *csv, const char *example, struct hm_err *err);

/* Called with each object; the object and the arena are freed after the call. */
typedef int hm_run_take(void *context, struct hm_arena *arena, const struct hm_value *object,
                        int line);

/* Go through the items of a list, or the one object, as if each were a line; line numbers are
 * those of the values. */
int hm__run_objects(const struct hm_value *value, hm_run_take *take, void *context,
                    struct hm_err *err);

/* Go through the lines, of which each must be an object. */
int hm__run_json_lines(const char *text, size_t length, const char *source, hm_run_take *take,
                       void *context, struct hm_err *err);

#endif
