/*
 * Declares functions that fill in a struct hm_err. hm__fail returns the error code, so callers
 * write `return hm__fail(...)`.
 */
#ifndef HM_ERR_H
#define HM_ERR_H

#include "howmany.h"

/* Records a code and a message, unless err already has an error. err may be NULL. */
int hm__fail(struct hm_err *err, int code, const char *format, ...) HM_PRINTF(3, 4);
/* This function is inline, so that compilers and analyzers know that the result is not 0. */
static inline int hm__fail_nomem(struct hm_err *err)
{
    hm__fail(err, HM_E_NOMEM, "%s", hm_strerror(HM_E_NOMEM));
    return HM_E_NOMEM;
}
/*
 * Adds a hint, a field, or a source with a line to the error. A member that is already set does not
 * change.
 */
void hm__err_hint(struct hm_err *err, const char *format, ...) HM_PRINTF(2, 3);
void hm__err_field(struct hm_err *err, const char *field);
void hm__err_at(struct hm_err *err, const char *source, int line);

#endif
