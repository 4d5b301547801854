/* Finds out why a call of SQLite failed, and reports it. */
#ifndef HM_SQLITE_ERRORS_H
#define HM_SQLITE_ERRORS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "err.h"

/*
 * Reports a result code of SQLite as an error. `opened` is the name of the file while it is being
 * opened, and NULL afterwards; `db` is NULL if there is no connection. `read_only` is true if the
 * file is known to be protected against writing.
 */
int hm__sqlite_fail(sqlite3 *db, const char *opened, bool read_only, int code, struct hm_err *err);
/* Returns whether the write-ahead log was removed or replaced after it was opened. */
bool hm__sqlite_log_is_lost(sqlite3 *db);
/* Reports that a file, `what`, was removed or replaced while it was used. */
int hm__sqlite_fail_lost(const char *what, struct hm_err *err);
/* Returns whether a file can be read, but the file or its folder cannot be written. */
bool hm__sqlite_is_protected(const char *where);
/* Reports that the file or its log could be opened for reading only, although they may be written.
 */
int hm__sqlite_fail_read_only(const char *where, struct hm_err *err);

#endif
