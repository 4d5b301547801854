/* Checks the strings, times and numbers of runs before they are stored. */
#ifndef HM_STORE_CHECK_H
#define HM_STORE_CHECK_H

#include "howmany_store.h"

/* Number of bytes in a time such as "2026-11-15T10:13:48Z", including its NUL. */
enum { HM_STORE_TIME = 21 };

/* Fails unless a string is UTF-8 and has at most `most` bytes. */
int hm__store_check_text(const char *field, const char *text, size_t most, struct hm_err *err);
/* Checks a time such as 2026-11-15T10:13:48Z. If `day` is not NULL, a date without a time is also
 * allowed, and the time of day in `day` is appended to it. */
int hm__store_check_time(const char *field, const char *text, const char *day,
                         char ret_time[HM_STORE_TIME], struct hm_err *err);
/* Checks a run like hm_stored_check, but does not parse its JSON object `more`. */
int hm__stored_check_columns(const struct hm_stored *run, struct hm_err *err);

struct hm_known_column;

/*
 * Checks a key of the JSON object `more` of a run, and its value. A key must be usable as the name
 * of a column; synonyms of the store's columns are rejected, because runs have separate fields for
 * their values. *ret_known, which is passed on as `known`, describes the column if readers of
 * tables know it, and is NULL for other keys.
 */
int hm__store_check_more_name(const char *key, const struct hm_known_column **ret_known,
                              struct hm_err *err);
int hm__store_check_more_number(const char *key, const struct hm_known_column *known, double number,
                                struct hm_err *err);
int hm__store_check_more_text(const char *key, const struct hm_known_column *known,
                              const char *text, struct hm_err *err);

/* Writes the current time in UTC, such as 2026-11-15T10:13:48Z. */
void hm__store_now(char ret_time[HM_STORE_TIME]);

#endif
