/* Replaces sqlite.c in a build without SQLite: opening such a store fails. */
#include "err.h"
#include "sql.h"

static int open_no_sqlite(const char *where, void **ret_connection, char **ret_label,
                          struct hm_err *err)
{
    (void)ret_connection;
    (void)ret_label;
    hm__fail(err, HM_E_UNSUPPORTED, "this build has no SQLite, so it cannot use a store in a file");
    hm__err_hint(err, "install libsqlite3-dev, and build again");
    hm__err_at(err, where, 0);
    return HM_E_UNSUPPORTED;
}

void hm__sqlite_configure(void)
{
}

const struct hm_sql hm__sqlite = {.open = open_no_sqlite};
