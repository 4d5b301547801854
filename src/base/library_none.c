/* Replaces library.c in a program that is linked statically and cannot load shared libraries. */
#include "err.h"
#include "library.h"

int hm__library_open(const char *name, const char *package, void **ret_library, struct hm_err *err)
{
    (void)package;
    *ret_library = NULL;
    hm__fail(err, HM_E_UNSUPPORTED, "%s cannot be loaded: this program is linked statically", name);
    hm__err_hint(err, "use a build with shared libraries, such as that of make install");
    return HM_E_UNSUPPORTED;
}

int hm__library_find(void *library, const char *name, void *function, struct hm_err *err)
{
    (void)library;
    (void)function;
    return hm__fail(err, HM_E_UNSUPPORTED, "%s is not in this program", name);
}
