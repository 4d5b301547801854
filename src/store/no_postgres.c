/*
 * Replaces postgres.c in a build without PostgreSQL: opening such a store fails. The error does not
 * show the address, which may contain a password.
 */
#include "err.h"
#include "sql.h"

static int open_none(const char *where, void **ret_connection, char **ret_label, struct hm_err *err)
{
    (void)where;
    (void)ret_connection;
    (void)ret_label;
    hm__fail(err, HM_E_UNSUPPORTED,
             "this build has no PostgreSQL, so it cannot use a store on a server");
    hm__err_hint(err, "install libpq-dev, and build again");
    return HM_E_UNSUPPORTED;
}

const struct hm_sql hm__postgres = {.open = open_none};
