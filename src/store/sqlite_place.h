/* Finds out what is in the places of a SQLite file and its log. */
#ifndef HM_SQLITE_PLACE_H
#define HM_SQLITE_PLACE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "err.h"

/* Returns whether there is a file with this name, and it is not empty. */
bool hm__sqlite_has_bytes(const char *name);
/* Returns whether the full name that SQLite has made of a name is that of `where`. */
bool hm__sqlite_is_same_name(const char *full, const char *where);
/*
 * Fails if a log has the name of the log of a file that is not there or is empty. SQLite would
 * delete it, although it may have the last runs of a store that was moved without it.
 */
int hm__sqlite_check_orphan(const char *where, struct hm_err *err);
/*
 * Returns whether another program has written the file of a connection that was opened without
 * locks, when the file was `seen`. st_ino is 0 for all other connections.
 */
bool hm__sqlite_is_outdated(sqlite3 *db, const struct stat *seen);
int hm__sqlite_fail_outdated(struct hm_err *err);

#endif
