/*
 * Loads shared libraries at run time, for features that few runs use and whose libraries load
 * slowly.
 */
#ifndef HM_LIBRARY_H
#define HM_LIBRARY_H

#include "howmany.h"

/*
 * Loads a library, such as "libpq.so.5"; it stays loaded until the program ends. The hint of an
 * error names the package that contains the library.
 */
int hm__library_open(const char *name, const char *package, void **ret_library, struct hm_err *err);
/* Looks up a function by name; `function` points to the function pointer that receives it. */
int hm__library_find(void *library, const char *name, void *function, struct hm_err *err);

#endif
