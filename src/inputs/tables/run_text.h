/* What tables of runs and of traces have in common: cells, comments, JSON lines. */
#ifndef HM_RUN_TEXT_H
#define HM_RUN_TEXT_H

#include "csv.h"
#include "unit.h"
#include "value.h"

/* A number without a unit, which may be below 0; false if the text is more than that. */
bool hm__run_bare_number(const char *text, double *ret_value);
/* A number with or without a unit; *ret_dim tells what it was written in. */
bool hm__run_number(const char *text, double *ret_value, bool *ret_has_unit,
                    struct hm_dim *ret_dim);
/* Take blanks off both ends, in place. */
char *hm__run_trim(char *text);

/* What a number that is none is written as. */
enum hm_run_word {
    HM_RUN_WORD_NO,      /* it is something else */
    HM_RUN_WORD_MISSING, /* na, none */
    HM_RUN_WORD_AWAY,    /* nan, inf: it has run away */
};
enum hm_run_word hm__run_word(const char *text);

/* How many bytes at the beginning are comments: a # line is a header only if it names an n. */
size_t hm__run_skip_comments(const char *text, size_t length, int *ret_lines);
/* Fail if the header has nothing but numbers; example: a header as it should be. */
int hm__run_check_header(const struct hm_csv *csv, const char *example, struct hm_err *err);

/* Called with each object; the arena is emptied before the next. */
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
