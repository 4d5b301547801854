/*
 * Finds out whether the write-ahead log of an open SQLite file, its index (the shared memory), or
 * the file itself was removed or replaced by another file of the same name, and what may be done
 * with the log then. Connections that have it open can still copy it into the file.
 */
#ifndef HM_SQLITE_LOST_H
#define HM_SQLITE_LOST_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "sqlite_log.h"

enum hm_sums_state {
    HM_SUMS_UNKNOWN, /* The header has not been read yet, or the file is empty. */
    HM_SUMS_OFF,
    HM_SUMS_ON,
    HM_SUMS_DAMAGED /* The header contradicts itself. */
};

/* An open database file or log. The file of the default file system follows in memory. */
struct hm_summed_file {
    sqlite3_file base;
    enum hm_sums_state state;  /* The database: whether its pages have checksums. */
    const char *log;           /* The database: name of its log, borrowed from SQLite. */
    bool log_damaged;          /* The database: true if damage was found in the log. */
    bool log_foreign;          /* The database: true if the log is that of another file. */
    uint32_t id;               /* The database: its id; 0 if it has none, or is not known. */
    bool keep_log;             /* The database: true if the log must not be changed. */
    bool rescues;              /* The database: true if a lost log is copied into the file. */
    struct hm_log_pages pages; /* The database: pages that are read from a damaged log instead. */
    const volatile unsigned char
        *index;                      /* The database: start of the log's index; NULL: unknown. */
    struct hm_summed_file *log_file; /* The database: its open log. The log: NULL. */
    struct hm_summed_file *owner;    /* The log: the database whose member log_file points to it. */
    const char *name;                /* The log: its name, borrowed from SQLite. */
    struct stat place; /* The log: the file when it was opened; st_ino is 0 if unknown. */
    /* The log: its index when it was mapped, the same way, and the last time at which the log was
     * seen in its place. */
    struct stat index_place;
    struct timespec seen;
    /*
     * The log: header of the frame that was written last, its place, and the end of the frames that
     * were written since the last sync; 0 if there are none.
     */
    unsigned char frame[HM_LOG_FRAME_HEAD];
    sqlite3_int64 frame_at, end;
};

static inline sqlite3_file *hm__real_file(sqlite3_file *file)
{
    return (sqlite3_file *)((struct hm_summed_file *)file + 1);
}

/* Finds the file of the log's index, which is next to the log. Returns false if there is none. */
bool hm__log_find_index(const struct hm_summed_file *log, struct stat *ret_index);

/*
 * The functions below get the open database. This one returns whether the open log or its index is
 * no longer the file with its name. Programs that use different indexes do not exclude each other,
 * and would write to the same place of the log.
 */
bool hm__log_is_replaced(const struct hm_summed_file *f);

/* Returns whether the file of the database is no longer the one with its name. */
bool hm__file_is_moved(struct hm_summed_file *f);

/*
 * Returns whether a log that was removed or replaced may be copied into the file. If its index is
 * still there, programs exclude each other by the locks in it. A program that has made a new index
 * for this log has its transactions. Otherwise, no program must have written a new log, or to the
 * file since the log was seen.
 */
bool hm__log_may_be_copied(struct hm_summed_file *f);

/*
 * Begins or ends the copying of a log into the file. It may not be complete, so the file may be
 * newer afterwards than at the time when the log was seen.
 */
void hm__log_copying(struct hm_summed_file *f, bool begins);

/*
 * Returns whether the log may be written: it must be the file with its name, and have the frames
 * that are in the index. If the log is removed while connections use it, a new connection makes an
 * empty one. The caller must hold the lock for writing.
 */
bool hm__log_may_be_written(struct hm_summed_file *f);

/*
 * Returns whether this connection has frames that would be lost with it: the log or the file was
 * removed or replaced, and the log may be copied into the file.
 */
bool hm__log_is_held(struct hm_summed_file *f);

#endif
