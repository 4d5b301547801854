/* Loads shared libraries at run time with dlopen. */
#include "library.h"

#include <dlfcn.h>
#include <string.h>

#include "err.h"

int hm__library_open(const char *name, const char *package, void **ret_library, struct hm_err *err)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_NODELETE);

    if (!library) {
        hm__fail(err, HM_E_UNSUPPORTED, "%s cannot be loaded", name);
        hm__err_hint(err, "install %s", package);
        return HM_E_UNSUPPORTED;
    }
    *ret_library = library;
    return 0;
}

int hm__library_find(void *library, const char *name, void *function, struct hm_err *err)
{
    void *found = dlsym(library, name);

    if (!found)
        return hm__fail(err, HM_E_UNSUPPORTED, "a library that was loaded has no %s", name);
    /* ISO C has no cast from void * to a function pointer, so the bytes are copied. */
    memcpy(function, &found, sizeof(found));
    return 0;
}
