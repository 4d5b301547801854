/*
 * Finds damage in the write-ahead log of a SQLite file. When SQLite opens a file after a crash, it
 * takes the first frame of the log that does not match its checksum for the end of the log, because
 * a power cut can leave the last transaction incomplete. A frame that was damaged later has the
 * same effect, and all transactions from this frame on would be lost without a message.
 *
 * The difference is visible if something proves that the frame was synced: the program syncs each
 * transaction before it acknowledges it and before it begins the next one. There are two proofs:
 * 1. a frame of a later transaction, which continues the chain of checksums;
 * 2. a mark after the last transaction, which is written after the transaction was synced. The mark
 *    is not synced itself, so a power cut can remove it, but no cut can leave it without the
 *    transaction. It lies where the next transaction begins, which overwrites it. For SQLite, it is
 *    no frame, because its page number is 0.
 *
 * If the header of the log is damaged, SQLite ignores the whole log. A power cut can have this
 * effect too, when SQLite begins the log again after it has copied all pages into the database.
 * Therefore, such a log is damaged only if the database lacks one of its pages.
 *
 * The format of the log is described in https://sqlite.org/fileformat2.html#the_write_ahead_log.
 */
#ifndef HM_SQLITE_LOG_H
#define HM_SQLITE_LOG_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    HM_LOG_HEAD = 32,       /* Size of the header of a log in bytes. */
    HM_LOG_FRAME_HEAD = 24, /* Size of the header of a frame; the page follows it. */
    HM_LOG_MARK = 40        /* Size of a mark. */
};

/*
 * Checks the log `name` of the database `db` for damage, and syncs it. If both the mark of the log
 * and the database have an id, they must be the same: a log that is left next to a file, and
 * another file put in its place, such as a copy of an earlier time, do not belong together. The
 * sync makes transactions durable that a killed program wrote completely, but did not sync; SQLite
 * treats them as committed and will write after them. The caller must hold a lock that excludes
 * writers. Returns a code of SQLite: SQLITE_OK, also if there is no log, SQLITE_CORRUPT for a
 * damaged log, SQLITE_MISMATCH for the log of another file, or another error.
 */
int hm__log_check(sqlite3_vfs *vfs, const char *name, sqlite3_file *db);

/* Returns whether the header of a frame says that the frame ends a transaction. */
bool hm__log_is_commit(const unsigned char frame[HM_LOG_FRAME_HEAD]);

/*
 * Returns the id of a database from its header, which has at least 100 bytes; 0 if it has none. The
 * id is a random number that hm__sums_begin stores as SQLite's user_version.
 */
uint32_t hm__log_owner(const unsigned char *head);
/*
 * Writes the mark that follows the transaction whose last frame has the header `frame` and the
 * number `number`, counted from 1, in the log of the database with the id `owner`.
 */
void hm__log_mark(unsigned char mark[HM_LOG_MARK], const unsigned char frame[HM_LOG_FRAME_HEAD],
                  uint32_t number, uint32_t owner);

/* Returns the id of the database in the mark at a place of a log; 0 if there is no mark. */
uint32_t hm__log_mark_owner(sqlite3_file *log, sqlite3_int64 offset);

/* The pages of a damaged log that can still be read. */
struct hm_log_pages {
    sqlite3_file *file; /* The open log, owned. */
    /*
     * For each page, its place in the log: the number of its frame; 0 if the page is not in the
     * log, and HM_LOG_LOST if the last frame with this page is damaged. Index 0 is not used.
     */
    uint32_t *frames;
    uint32_t count; /* Number of pages of the database. */
    uint32_t page_size;
};

#define HM_LOG_LOST UINT32_MAX

/*
 * Finds the pages of a damaged log. If `before` is true, these are the pages of the transactions
 * before the first damaged frame, as SQLite would read them; otherwise, those of all transactions
 * that were synced. Returns a code of SQLite; SQLITE_NOTFOUND if the log is not damaged.
 */
int hm__log_pages_read(sqlite3_vfs *vfs, const char *name, sqlite3_file *db, bool before,
                       struct hm_log_pages *ret_pages);
/* Frees the pages; all members may be 0. */
void hm__log_pages_release(struct hm_log_pages *pages);

/*
 * Reads a part of a page from the log. Returns SQLITE_NOTFOUND if the page is not in the log, and
 * SQLITE_CORRUPT if it is damaged there.
 */
int hm__log_pages_get(const struct hm_log_pages *pages, void *buffer, int bytes,
                      sqlite3_int64 offset);

#endif
