/* Loading libpq. */
#include "libpq.h"

#include <dlfcn.h>
#include <string.h>

#include "err.h"

static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);

    memcpy(function, &found, sizeof(found)); /* C has no cast from an object to a function */
    return found != NULL;
}

int hm_libpq_load(struct hm_libpq *pq, struct hm_err *err)
{
    /* The version of its interface, as in the name that programs which link it ask for. */
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_NODELETE);

    if (!library) {
        hm_fail(err, HM_E_UNSUPPORTED, "libpq.so.5 cannot be loaded, which talks to PostgreSQL");
        hm_err_hint(err, "install libpq5");
        return HM_E_UNSUPPORTED;
    }
#define HM_LIBPQ_FIND(name)                                                                        \
    if (!find(library, #name, &pq->name))                                                          \
        return hm_fail(err, HM_E_UNSUPPORTED, "libpq.so.5 has no " #name);
    HM_LIBPQ_MAP(HM_LIBPQ_FIND)
#undef HM_LIBPQ_FIND
    return 0;
}
