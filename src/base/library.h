/* Shared libraries that few need and that cost much to start with: loaded when they are wanted. */
#ifndef HM_LIBRARY_H
#define HM_LIBRARY_H

#include "howmany.h"

/* Load it for as long as the program runs. name: "libpq.so.5"; package: what to install. */
int hm__library_open(const char *name, const char *package, void **ret_library, struct hm_err *err);
/* Put its function of that name into *function, which is a pointer to a function. */
int hm__library_find(void *library, const char *name, void *function, struct hm_err *err);

#endif
