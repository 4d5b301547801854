/* Gives up the rights that a server does not need after its start. */
#ifndef HM_HTTP_CONFINE_H
#define HM_HTTP_CONFINE_H

#include <stdbool.h>

#include "howmany.h"

/*
 * Forbid the process and all its threads to gain privileges, to start programs or processes, to
 * trace other processes, to change mounts, modules, users or namespaces and, unless `connects` is
 * true, to connect to other machines. A forbidden call fails with EPERM. On processors for which
 * the filter is not written, and in builds with a sanitizer, only privileges are given up.
 */
int http_confine(bool connects, struct hm_err *err);

#endif
