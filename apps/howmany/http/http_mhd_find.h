/*
 * The functions of libmicrohttpd that the server calls. http_mhd_loaded.c loads the library when a
 * server starts, because it loads a TLS library that other commands do not need; http_mhd_linked.c
 * is part of programs that are linked statically.
 */
#ifndef HM_HTTP_MHD_FIND_H
#define HM_HTTP_MHD_FIND_H

#include <microhttpd.h>

#include "howmany.h"

#define MHD_MAP(X)                                                                                 \
    X(MHD_add_response_header)                                                                     \
    X(MHD_create_response_from_buffer_with_free_callback_cls)                                      \
    X(MHD_destroy_response)                                                                        \
    X(MHD_get_connection_info)                                                                     \
    X(MHD_get_connection_values_n)                                                                 \
    X(MHD_get_version)                                                                             \
    X(MHD_queue_response)                                                                          \
    X(MHD_resume_connection)                                                                       \
    X(MHD_start_daemon)                                                                            \
    X(MHD_stop_daemon)                                                                             \
    X(MHD_suspend_connection)

struct mhd_functions {
#define MHD_MEMBER(name) __typeof__(name) *name;
    MHD_MAP(MHD_MEMBER)
#undef MHD_MEMBER
};

/* Set all functions of the table. */
int http_mhd_find(struct mhd_functions *ret_functions, struct hm_err *err);

#endif
