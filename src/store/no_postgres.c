/* A build without PostgreSQL: what to say. The address may have a password, and is not shown. */
#include "err.h"
#include "sql.h"

static int open_none(const char *where, void **ret_connection, char **ret_label, struct hm_err *err)
{
    (void)where;
    (void)ret_connection;
    (void)ret_label;
    hm__fail(err, HM_E_UNSUPPORTED,
             "this build cannot keep runs on a server: it has no PostgreSQL");
    hm__err_hint(err, "install libpq-dev, and build again");
    return HM_E_UNSUPPORTED;
}

const struct hm_sql hm__postgres = {.open = open_none};
