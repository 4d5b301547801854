/*
 * Adds a checksum to every page of a SQLite file, so that a changed byte is found when its page is
 * read. SQLite itself notices only damage that makes a page unreadable, not a number that changed.
 */
#ifndef HM_SQLITE_SUMS_H
#define HM_SQLITE_SUMS_H

#include <sqlite3.h>

/* Name of the file system (VFS of SQLite) that computes and compares the checksums. Files that were
 * made without it are read and written as they are. */
#define HM_SUMS_VFS "howmany-sums"

/*
 * Registers the file system. It passes all calls on to the one that is the default at the first
 * call. Returns a code of SQLite.
 */
int hm__sums_register(void);

/*
 * Gives a database checksums if its file is still empty. Returns a code of SQLite; does nothing if
 * the version of SQLite is too old for them.
 */
int hm__sums_begin(sqlite3 *db);

#endif
