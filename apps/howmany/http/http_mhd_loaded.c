/* Finds the functions of libmicrohttpd in the shared library, which is loaded for it. */
#include "http_mhd_find.h"
#include "library.h"

int http_mhd_find(struct mhd_functions *functions, struct hm_err *err)
{
    void *library = NULL;
    int rc = hm__library_open("libmicrohttpd.so.12", "libmicrohttpd12", &library, err);

#define MHD_FIND(name)                                                                             \
    if (rc == 0)                                                                                   \
        rc = hm__library_find(library, #name, &functions->name, err);
    MHD_MAP(MHD_FIND)
#undef MHD_FIND
    return rc;
}
