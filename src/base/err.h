/* Setting a struct hm_err. Every setter returns the code, so that `return hm__fail(...)` reads. */
#ifndef HM_ERR_H
#define HM_ERR_H

#include "howmany.h"

/* Record code and message unless an error is recorded already. err may be NULL. */
int hm__fail(struct hm_err *err, int code, const char *format, ...) HM_PRINTF(3, 4);
int hm__fail_nomem(struct hm_err *err);
/* Add to the error just recorded; each is kept only if it was empty. */
void hm__err_hint(struct hm_err *err, const char *format, ...) HM_PRINTF(2, 3);
void hm__err_field(struct hm_err *err, const char *field);
void hm__err_at(struct hm_err *err, const char *source, int line);

#endif
