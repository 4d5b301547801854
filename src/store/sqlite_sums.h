/*
 * Adds a checksum to every page of a SQLite file, so that a changed byte is found when its page is
 * read. SQLite itself notices only damage that makes a page unreadable, not a number that changed.
 */
#ifndef HM_SQLITE_SUMS_H
#define HM_SQLITE_SUMS_H

#include <sqlite3.h>
#include <stdbool.h>

/* Name of the file system (VFS of SQLite) that computes and compares the checksums. Files that were
 * made without it are read and written as they are. */
#define HM_SUMS_VFS "howmany-sums"

/*
 * Code of sqlite3_file_control that sets a bool to true if the write-ahead log was found to be
 * damaged (sqlite_log.h), so that the file could not be opened.
 */
enum { HM_SUMS_LOG_DAMAGED = 0x686d01 };
/* The same, if the log is that of another file (SQLITE_MISMATCH of hm__log_check). */
enum { HM_SUMS_LOG_FOREIGN = 0x686d07 };
/* The same, if the pages of the file have checksums. */
enum { HM_SUMS_PRESENT = 0x686d02 };
/*
 * Code of sqlite3_file_control that keeps the log as it is when the file is closed, because the
 * file could not be opened. If SQLite can use its shared memory only for reading, because the disk
 * is full, it would delete a log that it has not copied into the file.
 */
enum { HM_SUMS_KEEP_LOG = 0x686d03 };
/*
 * Code of sqlite3_file_control that sets a bool to true if the log of this connection or its index
 * was removed or replaced, so that runs that are written to it would be lost. Such a connection
 * cannot write.
 */
enum { HM_SUMS_LOG_LOST = 0x686d04 };
/*
 * The same, if closing the connection could lose what is in the log: the log, its index or the file
 * was removed or replaced, and the log may be copied into the file.
 */
enum { HM_SUMS_LOG_HELD = 0x686d06 };
/*
 * The same as a code that allows the connection to write nevertheless, if the bool is true: only to
 * copy the log into the file.
 */
enum { HM_SUMS_RESCUE = 0x686d05 };

/*
 * Parameter of a URI (file:NAME?immutable=1&log=VALUE) that opens a file with a damaged log for
 * reading: what can be read of all transactions, or the transactions before the damage.
 */
#define HM_SUMS_LOG "log"
#define HM_SUMS_LOG_ALL "all"
#define HM_SUMS_LOG_BEFORE "before"

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

/*
 * Compares the checksums of all pages, which are read in the order of the file. *ret_sound is true
 * if the file has checksums and all are right. A page that another program is just writing, or that
 * the write-ahead log will repair, may look damaged. Returns a code of SQLite, which is
 * SQLITE_INTERRUPT if `stop` returned a value other than 0; `stop` is called often.
 */
int hm__sums_scan(sqlite3 *db, int (*stop)(void *context), bool *ret_sound);

/*
 * Gives all pages of a database checksums, in one transaction. Returns a code of SQLite:
 * SQLITE_BUSY if another connection uses the file, SQLITE_ERROR if the version of SQLite is too old
 * or pages have another size than those of new files. Afterwards, the connection keeps an exclusive
 * lock until it is closed.
 */
int hm__sums_add(sqlite3 *db);

#endif
