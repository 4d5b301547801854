/* What a run may have, and the form of its times. */
#ifndef HM_STORE_CHECK_H
#define HM_STORE_CHECK_H

#include "howmany_store.h"

enum { HM_STORE_TIME = 21 }; /* room for "2026-11-15T10:13:48Z" */

/* A text that can be kept: UTF-8, not longer than `most` bytes. */
int hm__store_check_text(const char *field, const char *text, size_t most, struct hm_err *err);
/* A moment; or, if `day` is not NULL, a date too, to which it is added. */
int hm__store_check_time(const char *field, const char *text, const char *day,
                         char ret_time[HM_STORE_TIME], struct hm_err *err);
/* Now, in that form. */
void hm__store_now(char ret_time[HM_STORE_TIME]);

#endif
