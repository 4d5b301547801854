/*
 * Implements sqlite_sums.h. The last 8 bytes of each page are reserved (SQLite leaves them alone)
 * and hold a checksum of the other bytes and of the page's number. It is computed when a page is
 * written to the database file and compared when it is read from there. The write-ahead log has
 * checksums of its own; it is checked before SQLite reads it after a crash, and gets a mark after
 * each transaction that was synced (sqlite_log.h).
 *
 * A file has checksums if its header says that 8 bytes are reserved and has the application id
 * below. If only one of both holds, the header is damaged. The id is added when a header with
 * reserved bytes is written, so that a file gets both in one transaction. A page whose checksum is
 * 0 is accepted unless all its bytes are 0: another program that rewrites the whole file (VACUUM),
 * or that copies the log into the file because it is the last one that closes it, leaves such
 * pages. If another program changes single pages, their checksums are wrong.
 */
#include "sqlite_sums.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "sqlite_log.h"
#include "sqlite_lost.h"

enum {
    SUMS_PAGE = 4096, /* Page size of SQLite's new files; other sizes have no checksums. */
    SUM_BYTES = 8,
    HEAD_BYTES = 100,  /* Size of the header of a database, at the start of its first page. */
    AT_PAGE_SIZE = 16, /* Places of the page size, of the number of reserved bytes, and of the */
    AT_RESERVED = 20,  /* application id in the header. */
    AT_APPLICATION = 68,
    APPLICATION = 0x686d7331,
    WRITE_LOCK = 0, /* The lock that SQLite holds while it writes to the log. */
    /* The lock that SQLite holds while it reads the log after a crash, together with that for
     * writing. */
    RECOVER_LOCK = 2
};

static sqlite3_vfs *real_vfs; /* File system to which all calls are passed on. */

/*
 * Returns the checksum of a page; never 0. Each step is a one-to-one function of the sum so far, so
 * that a change within one word always changes the result.
 */
static uint64_t page_sum(const unsigned char *page, sqlite3_int64 offset)
{
    uint64_t sum = (uint64_t)offset + 1;

    for (size_t at = 0; at < SUMS_PAGE - SUM_BYTES; at += 8) {
        uint64_t word;
        memcpy(&word, page + at, sizeof(word));
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 32;
    }
    return sum ? sum : 1;
}

static bool page_is_sound(const unsigned char *page, sqlite3_int64 offset)
{
    uint64_t stored;

    memcpy(&stored, page + SUMS_PAGE - SUM_BYTES, sizeof(stored));
    if (stored)
        return stored == page_sum(page, offset);
    for (size_t i = 0; i < SUMS_PAGE; i++)
        if (page[i])
            return true;
    return false;
}

/* Finds out from the header of a database whether its pages have checksums. */
static enum hm_sums_state head_state(const unsigned char *head)
{
    const unsigned char *id = head + AT_APPLICATION;
    bool marked = ((uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 | (uint32_t)id[2] << 8 | id[3]) ==
                  APPLICATION;
    bool reserved = head[AT_RESERVED] == SUM_BYTES;
    int size = head[AT_PAGE_SIZE] << 8 | head[AT_PAGE_SIZE + 1];

    if (memcmp(head, "SQLite format 3", 16) != 0)
        return HM_SUMS_UNKNOWN; /* SQLite refuses such a file. */
    if (!marked && !reserved)
        return HM_SUMS_OFF;
    return marked && reserved && size == SUMS_PAGE ? HM_SUMS_ON : HM_SUMS_DAMAGED;
}

/*
 * Adds the id to the first page of a database that has just got reserved bytes. Returns the page to
 * be written: `buffer` itself, or a copy in `page`.
 */
static const void *mark_head(const unsigned char *buffer, int bytes, unsigned char *page)
{
    static const unsigned char id[4] = {APPLICATION >> 24, APPLICATION >> 16 & 0xff,
                                        APPLICATION >> 8 & 0xff, APPLICATION & 0xff};
    static const unsigned char none[sizeof(id)];

    if (bytes != SUMS_PAGE || buffer[AT_RESERVED] != SUM_BYTES ||
        memcmp(buffer + AT_APPLICATION, none, sizeof(none)) != 0)
        return buffer;
    memcpy(page, buffer, SUMS_PAGE);
    memcpy(page + AT_APPLICATION, id, sizeof(id));
    return page;
}

/* Keeps what the header of the database says. */
static void take_head(struct hm_summed_file *f, const unsigned char *head)
{
    f->state = head_state(head);
    f->id = f->state == HM_SUMS_ON ? hm__log_owner(head) : 0;
}

/* Reads the header if it is not known yet. */
static void find_state(struct hm_summed_file *f)
{
    sqlite3_file *real = hm__real_file(&f->base);
    unsigned char head[HEAD_BYTES];

    if (f->state == HM_SUMS_UNKNOWN &&
        real->pMethods->xRead(real, head, HEAD_BYTES, 0) == SQLITE_OK)
        take_head(f, head);
}

static bool is_page(int bytes, sqlite3_int64 offset)
{
    return bytes == SUMS_PAGE && offset % SUMS_PAGE == 0;
}

/* Reads a page of a damaged log, which has been compared with the checksum in the log. */
static int read_logged(struct hm_summed_file *f, void *buffer, int bytes, sqlite3_int64 offset)
{
    int code =
        f->pages.file ? hm__log_pages_get(&f->pages, buffer, bytes, offset) : SQLITE_NOTFOUND;

    if (code == SQLITE_OK && offset == 0 && bytes >= HEAD_BYTES)
        take_head(f, buffer);
    return code;
}

static int sums_read(sqlite3_file *file, void *buffer, int bytes, sqlite3_int64 offset)
{
    struct hm_summed_file *f = (struct hm_summed_file *)file;
    sqlite3_file *real = hm__real_file(file);
    int code = read_logged(f, buffer, bytes, offset);

    if (code != SQLITE_NOTFOUND)
        return code;
    code = real->pMethods->xRead(real, buffer, bytes, offset);
    /* The header is read alone, before the page size is known. */
    if (code == SQLITE_OK && offset == 0 && bytes >= HEAD_BYTES)
        take_head(f, buffer);
    if (code != SQLITE_OK || (offset == 0 && f->state == HM_SUMS_UNKNOWN))
        return code;
    find_state(f);
    if (f->state == HM_SUMS_DAMAGED)
        return SQLITE_CORRUPT;
    if (f->state != HM_SUMS_ON || !is_page(bytes, offset))
        return SQLITE_OK;
    if (!page_is_sound(buffer, offset))
        return SQLITE_CORRUPT;
    /*
     * If the page is changed, it goes into the log without the old checksum. Another program that
     * copies the log into the file would otherwise write pages whose checksums are wrong.
     */
    memset((unsigned char *)buffer + SUMS_PAGE - SUM_BYTES, 0, SUM_BYTES);
    return SQLITE_OK;
}

static int sums_write(sqlite3_file *file, const void *buffer, int bytes, sqlite3_int64 offset)
{
    struct hm_summed_file *f = (struct hm_summed_file *)file;
    sqlite3_file *real = hm__real_file(file);
    unsigned char page[SUMS_PAGE], marked[SUMS_PAGE];

    if (f->state == HM_SUMS_OFF) /* Another program may have added checksums. */
        f->state = HM_SUMS_UNKNOWN;
    if (offset == 0 && bytes >= HEAD_BYTES) {
        buffer = mark_head(buffer, bytes, marked);
        take_head(f, buffer);
    }
    find_state(f);
    if (f->state != HM_SUMS_ON || !is_page(bytes, offset))
        return real->pMethods->xWrite(real, buffer, bytes, offset);
    memcpy(page, buffer, SUMS_PAGE);
    uint64_t sum = page_sum(page, offset);
    memcpy(page + SUMS_PAGE - SUM_BYTES, &sum, sizeof(sum));
    return real->pMethods->xWrite(real, page, bytes, offset);
}

static int sums_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    if (size == 0)
        ((struct hm_summed_file *)file)->state = HM_SUMS_UNKNOWN;
    return hm__real_file(file)->pMethods->xTruncate(hm__real_file(file), size);
}

static int sums_close(sqlite3_file *file)
{
    struct hm_summed_file *f = (struct hm_summed_file *)file;

    hm__log_pages_release(&f->pages);
    if (f->owner)
        f->owner->log_file = NULL;
    if (f->log_file)
        f->log_file->owner = NULL;
    return hm__real_file(file)->pMethods->xClose(hm__real_file(file));
}

static int sums_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
    const struct hm_log_pages *pages = &((struct hm_summed_file *)file)->pages;

    if (!pages->file)
        return hm__real_file(file)->pMethods->xFileSize(hm__real_file(file), ret_size);
    *ret_size = (sqlite3_int64)pages->count * pages->page_size;
    return SQLITE_OK;
}

static int sums_control(sqlite3_file *file, int what, void *argument)
{
    struct hm_summed_file *f = (struct hm_summed_file *)file;

    if (what == HM_SUMS_KEEP_LOG) {
        f->keep_log = true;
        return SQLITE_OK;
    }
    if (what == HM_SUMS_RESCUE) {
        hm__log_copying(f, *(const bool *)argument);
        return SQLITE_OK;
    }
    if (what == HM_SUMS_LOG_LOST || what == HM_SUMS_LOG_HELD) {
        *(bool *)argument = what == HM_SUMS_LOG_LOST ? hm__log_is_replaced(f) : hm__log_is_held(f);
        return SQLITE_OK;
    }
    if (what == HM_SUMS_LOG_DAMAGED || what == HM_SUMS_LOG_FOREIGN || what == HM_SUMS_PRESENT) {
        *(bool *)argument = what == HM_SUMS_PRESENT       ? f->state == HM_SUMS_ON
                            : what == HM_SUMS_LOG_FOREIGN ? f->log_foreign
                                                          : f->log_damaged;
        return SQLITE_OK;
    }
    return hm__real_file(file)->pMethods->xFileControl(hm__real_file(file), what, argument);
}

/*
 * Locks or unlocks the shared memory of the log. When SQLite gets the lock under which it reads the
 * log after a crash, no other program can write, and the log is checked first. When it gets the
 * lock for writing, the log must still be there.
 */
static int sums_shared_lock(sqlite3_file *file, int offset, int count, int flags)
{
    struct hm_summed_file *f = (struct hm_summed_file *)file;
    sqlite3_file *real = hm__real_file(file);
    int code = real->pMethods->xShmLock(real, offset, count, flags);

    if (code || flags != (SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE))
        return code;
    if (offset == WRITE_LOCK && !hm__log_may_be_written(f))
        code = SQLITE_IOERR_SHMLOCK;
    if (code == SQLITE_OK && offset <= RECOVER_LOCK && offset + count > RECOVER_LOCK) {
        code = hm__log_check(real_vfs, f->log, real);
        f->log_damaged = code == SQLITE_CORRUPT;
        f->log_foreign = code == SQLITE_MISMATCH;
    }
    if (code)
        real->pMethods->xShmLock(real, offset, count, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
    return code;
}

/*
 * Locks the database. SQLite takes the exclusive lock when it closes a database with a log, and
 * then copies the log without the lock that sums_shared_lock watches and deletes it. A damaged log
 * must stay as it is, and a lost one must not overwrite what another program wrote. If the file was
 * moved, the log now belongs to the file that has its name.
 */
static int sums_lock(sqlite3_file *file, int lock)
{
    struct hm_summed_file *f = (struct hm_summed_file *)file;

    if (lock == SQLITE_LOCK_EXCLUSIVE &&
        (f->log_damaged || f->log_foreign || f->keep_log || (f->log_file && hm__file_is_moved(f)) ||
         (hm__log_is_replaced(f) && !hm__log_may_be_copied(f))))
        return SQLITE_BUSY;
    return hm__real_file(file)->pMethods->xLock(hm__real_file(file), lock);
}

/* ---- the log --------------------------------------------------------------------------------- */

/* Follows the frames: SQLite writes the header of a frame, then its page; it may write the header
 * again. */
static int log_write(sqlite3_file *file, const void *buffer, int bytes, sqlite3_int64 offset)
{
    struct hm_summed_file *f = (struct hm_summed_file *)file;

    if (bytes == HM_LOG_FRAME_HEAD) {
        memcpy(f->frame, buffer, HM_LOG_FRAME_HEAD);
        f->frame_at = offset;
    } else if (offset > 0 && offset + bytes > f->end)
        f->end = offset + bytes;
    return hm__real_file(file)->pMethods->xWrite(hm__real_file(file), buffer, bytes, offset);
}

/*
 * Syncs the log. After a commit, a mark is written behind the last frame. Nothing depends on it, so
 * errors are ignored. The connection that has written frames still has the lock for writing here.
 */
static int log_sync(sqlite3_file *file, int flags)
{
    struct hm_summed_file *f = (struct hm_summed_file *)file;
    sqlite3_file *real = hm__real_file(file);
    const sqlite3_int64 frame = f->end - f->frame_at, end = f->end;
    unsigned char mark[HM_LOG_MARK];

    f->end = 0;
    int code = real->pMethods->xSync(real, flags);
    if (code || end <= HM_LOG_HEAD || frame <= HM_LOG_FRAME_HEAD ||
        (end - HM_LOG_HEAD) % frame != 0 || !hm__log_is_commit(f->frame))
        return code;
    hm__log_mark(mark, f->frame, (uint32_t)((end - HM_LOG_HEAD) / frame),
                 f->owner ? f->owner->id : 0);
    real->pMethods->xWrite(real, mark, HM_LOG_MARK, end);
    return SQLITE_OK;
}

/* ---- calls that are passed on --------------------------------------------------------------- */

static int log_read(sqlite3_file *file, void *buffer, int bytes, sqlite3_int64 offset)
{
    return hm__real_file(file)->pMethods->xRead(hm__real_file(file), buffer, bytes, offset);
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return hm__real_file(file)->pMethods->xTruncate(hm__real_file(file), size);
}

static int sums_sync(sqlite3_file *file, int flags)
{
    return hm__real_file(file)->pMethods->xSync(hm__real_file(file), flags);
}

static int sums_unlock(sqlite3_file *file, int lock)
{
    return hm__real_file(file)->pMethods->xUnlock(hm__real_file(file), lock);
}

static int sums_is_reserved(sqlite3_file *file, int *ret_reserved)
{
    return hm__real_file(file)->pMethods->xCheckReservedLock(hm__real_file(file), ret_reserved);
}

static int sums_sector(sqlite3_file *file)
{
    return hm__real_file(file)->pMethods->xSectorSize(hm__real_file(file));
}

static int sums_properties(sqlite3_file *file)
{
    return hm__real_file(file)->pMethods->xDeviceCharacteristics(hm__real_file(file));
}

static int sums_map(sqlite3_file *file, int region, int size, int extend,
                    void volatile **ret_memory)
{
    struct hm_summed_file *f = (struct hm_summed_file *)file;
    int code = hm__real_file(file)->pMethods->xShmMap(hm__real_file(file), region, size, extend,
                                                      ret_memory);

    if (region != 0 || code || !*ret_memory)
        return code;
    f->index = *ret_memory;
    if (f->log_file && !hm__log_find_index(f->log_file, &f->log_file->index_place))
        f->log_file->index_place.st_ino = 0;
    return code;
}

static void sums_barrier(sqlite3_file *file)
{
    hm__real_file(file)->pMethods->xShmBarrier(hm__real_file(file));
}

static int sums_unmap(sqlite3_file *file, int remove)
{
    ((struct hm_summed_file *)file)->index = NULL;
    return hm__real_file(file)->pMethods->xShmUnmap(hm__real_file(file), remove);
}

/* Version 2 has shared memory for the write-ahead log, but no mapped pages, which would be read
 * without a comparison. */
static const sqlite3_io_methods sums_methods = {
    .iVersion = 2,
    .xClose = sums_close,
    .xRead = sums_read,
    .xWrite = sums_write,
    .xTruncate = sums_truncate,
    .xSync = sums_sync,
    .xFileSize = sums_size,
    .xLock = sums_lock,
    .xUnlock = sums_unlock,
    .xCheckReservedLock = sums_is_reserved,
    .xFileControl = sums_control,
    .xSectorSize = sums_sector,
    .xDeviceCharacteristics = sums_properties,
    .xShmMap = sums_map,
    .xShmLock = sums_shared_lock,
    .xShmBarrier = sums_barrier,
    .xShmUnmap = sums_unmap,
};

/* Version 1 has all that SQLite calls for a log. */
static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = sums_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = sums_size,
    .xLock = sums_lock,
    .xUnlock = sums_unlock,
    .xCheckReservedLock = sums_is_reserved,
    .xFileControl = sums_control,
    .xSectorSize = sums_sector,
    .xDeviceCharacteristics = sums_properties,
};

/* Connects a log that was opened with its database. */
static void join_log(struct hm_summed_file *log, const char *name)
{
    struct hm_summed_file *database = (struct hm_summed_file *)sqlite3_database_file_object(name);

    if (database->base.pMethods != &sums_methods)
        return;
    log->name = name;
    if (stat(name, &log->place) != 0)
        log->place.st_ino = 0; /* The default file system has no such names, as in some tests. */
    clock_gettime(CLOCK_REALTIME, &log->seen);
    log->owner = database;
    database->log_file = log;
}

static int sums_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *ret_flags)
{
    struct hm_summed_file *f = (struct hm_summed_file *)file;
    sqlite3_file *real = hm__real_file(file);

    (void)vfs;
    if (!(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL))) /* Such files have no checksums. */
        return real_vfs->xOpen(real_vfs, name, file, flags, ret_flags);
    memset(f, 0, sizeof(*f));
    real->pMethods = NULL;
    int code = real_vfs->xOpen(real_vfs, name, real, flags, ret_flags);
    if (!real->pMethods)
        return code;
    f->base.pMethods = flags & SQLITE_OPEN_WAL ? &log_methods : &sums_methods;
    if (code == SQLITE_OK && flags & SQLITE_OPEN_WAL)
        join_log(f, name);
    if (code || flags & SQLITE_OPEN_WAL)
        return code;
    f->log = name ? sqlite3_filename_wal(name) : NULL;
    const char *part = name ? sqlite3_uri_parameter(name, HM_SUMS_LOG) : NULL;
    if (!part)
        return SQLITE_OK;
    code = hm__log_pages_read(real_vfs, f->log, real, strcmp(part, HM_SUMS_LOG_BEFORE) == 0,
                              &f->pages);
    if (code) { /* SQLite does not close a file that could not be opened. */
        sums_close(file);
        f->base.pMethods = NULL;
    }
    return code;
}

static int registered = SQLITE_ERROR; /* Result of the registration. */

static void register_once(void)
{
    static sqlite3_vfs vfs;

    if (sqlite3_initialize() || !(real_vfs = sqlite3_vfs_find(NULL)))
        return;
    vfs = *real_vfs; /* Names, time, random numbers and sleep are those of the default. */
    vfs.zName = HM_SUMS_VFS;
    vfs.pNext = NULL;
    vfs.szOsFile = real_vfs->szOsFile + (int)sizeof(struct hm_summed_file);
    vfs.xOpen = sums_open;
    registered = sqlite3_vfs_register(&vfs, 0);
}

int hm__sums_register(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, register_once);
    return registered;
}

#ifdef SQLITE_FCNTL_RESERVE_BYTES
static int find_zero(void *ret_zero, int count, char **values, char **names)
{
    (void)names;
    if (count == 1 && values[0])
        *(bool *)ret_zero = strcmp(values[0], "0") == 0;
    return 0;
}

/*
 * Sets the ids of a database that has none. Several programs can create a store at the same time,
 * and its id must not change, because it is also in the log.
 */
static int set_ids(sqlite3 *db)
{
    char sql[128];
    bool unset = false;
    int id = 0, code = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);

    while (id == 0)
        sqlite3_randomness(sizeof(id), &id);
    snprintf(sql, sizeof(sql), "PRAGMA application_id=%d; PRAGMA user_version=%d", APPLICATION, id);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, "PRAGMA user_version", find_zero, &unset, NULL);
    if (code == SQLITE_OK && unset)
        code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    if (sqlite3_get_autocommit(db))
        return code;
    int end = sqlite3_exec(db, code ? "ROLLBACK" : "COMMIT", NULL, NULL, NULL);
    return code ? code : end;
}

int hm__sums_begin(sqlite3 *db)
{
    char sql[64];
    bool empty = false;
    int reserved = SUM_BYTES;

    int code = sqlite3_exec(db, "PRAGMA page_count", find_zero, &empty, NULL);
    if (code || !empty)
        return code;
    code = sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
    snprintf(sql, sizeof(sql), "PRAGMA page_size=%d", SUMS_PAGE);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    return code ? code : set_ids(db);
}

static int is_usual_page(void *ret_usual, int count, char **values, char **names)
{
    (void)names;
    if (count == 1 && values[0])
        *(bool *)ret_usual = strcmp(values[0], "4096") == 0;
    return 0;
}

/*
 * VACUUM writes all pages into the log, with reserved bytes, as one transaction; the checksums are
 * added when the pages are copied from there into the file. No other connection may be open: it
 * would not know yet that the file has checksums. Only without a log can the lock be taken that
 * excludes all others.
 */
int hm__sums_add(sqlite3 *db)
{
    bool usual = false;
    int reserved = SUM_BYTES;
    int code = sqlite3_exec(db, "PRAGMA page_size", is_usual_page, &usual, NULL);

    if (code || !usual)
        return code ? code : SQLITE_ERROR;
    code = sqlite3_exec(db,
                        "PRAGMA journal_mode=DELETE; PRAGMA locking_mode=EXCLUSIVE;"
                        "BEGIN EXCLUSIVE; COMMIT; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL",
                        NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
    return code ? code : sqlite3_exec(db, "VACUUM", NULL, NULL, NULL);
}
#else
int hm__sums_begin(sqlite3 *db)
{
    (void)db;
    return SQLITE_OK;
}

int hm__sums_add(sqlite3 *db)
{
    (void)db;
    return SQLITE_ERROR;
}
#endif

static bool are_pages_sound(const unsigned char *pages, sqlite3_int64 from, sqlite3_int64 to)
{
    for (sqlite3_int64 at = from; at < to; at += SUMS_PAGE)
        if (!page_is_sound(pages + (at - from), at))
            return false;
    return true;
}

int hm__sums_scan(sqlite3 *db, int (*stop)(void *context), bool *ret_sound)
{
    enum { SCAN_PAGES = 64 };
    static const sqlite3_int64 most = (sqlite3_int64)SCAN_PAGES * SUMS_PAGE;
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;

    *ret_sound = false;
    int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code || !file || file->pMethods != &sums_methods)
        return code;
    find_state((struct hm_summed_file *)file);
    sqlite3_file *real = hm__real_file(file);
    code = real->pMethods->xFileSize(real, &size);
    if (code || ((struct hm_summed_file *)file)->state != HM_SUMS_ON || size % SUMS_PAGE)
        return code;
    unsigned char *pages = sqlite3_malloc64((sqlite3_uint64)most);
    bool sound = true;
    for (sqlite3_int64 from = 0, to; pages && code == SQLITE_OK && sound && from < size;
         from = to) {
        to = size - from < most ? size : from + most;
        code = stop(NULL) ? SQLITE_INTERRUPT
                          : real->pMethods->xRead(real, pages, (int)(to - from), from);
        sound = code == SQLITE_OK && are_pages_sound(pages, from, to);
    }
    sqlite3_free(pages);
    *ret_sound = pages && sound;
    return pages ? code : SQLITE_NOMEM;
}
