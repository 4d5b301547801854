/*
 * The functions of libmicrohttpd in a program that is linked statically with it. The library also
 * calls GnuTLS, of which Debian has no complete static library. The server never asks for TLS, so
 * the build (option static) lets all these symbols be hm__no_tls.
 */
#include "http_mhd_find.h"

int hm__no_tls(void);

int http_mhd_find(struct mhd_functions *functions, struct hm_err *err)
{
    (void)err;
#define MHD_LINK(name) functions->name = name;
    MHD_MAP(MHD_LINK)
#undef MHD_LINK
    return 0;
}

/* Takes the place of every function of GnuTLS. Returns GNUTLS_E_UNIMPLEMENTED_FEATURE, so that a
 * TLS connection would be refused. */
int hm__no_tls(void)
{
    return -1250;
}
