/* Implements sqlite_lost.h. */
#include "sqlite_lost.h"

#include <stdio.h>
#include <string.h>

enum {
    /*
     * Size of the header of the index, which is at the start of the shared memory and which a copy
     * follows, and the places of the page size and of the number of frames in it
     * (https://sqlite.org/walformat.html#the_wal_index_file_format).
     */
    INDEX_HEAD = 48,
    AT_INDEX_PAGE_SIZE = 14,
    AT_INDEX_FRAMES = 16
};

/*
 * Returns the number of bytes that the log must have according to its index; 0 if that is not
 * known. The caller must hold the lock for writing.
 */
static sqlite3_int64 indexed_size(const struct hm_summed_file *f)
{
    unsigned char head[2 * INDEX_HEAD];
    uint16_t page_size;
    uint32_t frames;

    if (!f->index)
        return 0;
    for (size_t i = 0; i < sizeof(head); i++)
        head[i] = f->index[i];
    if (memcmp(head, head + INDEX_HEAD, INDEX_HEAD) != 0)
        return 0; /* A program was killed while it wrote the header; SQLite makes a new index. */
    memcpy(&page_size, head + AT_INDEX_PAGE_SIZE, sizeof(page_size));
    memcpy(&frames, head + AT_INDEX_FRAMES, sizeof(frames));
    if (frames == 0)
        return 0;
    return HM_LOG_HEAD +
           (sqlite3_int64)frames * (HM_LOG_FRAME_HEAD + (page_size == 1 ? 65536 : page_size));
}

bool hm__log_find_index(const struct hm_summed_file *log, struct stat *ret_index)
{
    const size_t length = strlen(log->name) - strlen("-wal");
    char name[1100];

    return length + sizeof("-shm") <= sizeof(name) &&
           snprintf(name, sizeof(name), "%.*s-shm", (int)length, log->name) > 0 &&
           stat(name, ret_index) == 0;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino != 0 && a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

bool hm__log_is_replaced(const struct hm_summed_file *f)
{
    struct hm_summed_file *log = f->log_file;
    struct stat now;

    if (!log || log->place.st_ino == 0)
        return false;
    bool replaced = stat(log->name, &now) != 0 || !is_same_file(&log->place, &now) ||
                    (log->index_place.st_ino != 0 &&
                     !(hm__log_find_index(log, &now) && is_same_file(&log->index_place, &now)));
    if (!replaced)
        clock_gettime(CLOCK_REALTIME, &log->seen);
    return replaced;
}

bool hm__file_is_moved(struct hm_summed_file *f)
{
    sqlite3_file *real = hm__real_file(&f->base);
    int moved = 0;

    return real->pMethods->xFileControl(real, SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved;
}

/*
 * Returns whether the last transaction in the log of a file that was moved is one of this file, and
 * not of the one that has its name now.
 */
static bool owns_log(const struct hm_summed_file *f)
{
    sqlite3_int64 end = indexed_size(f);

    return f->id && end > 0 && hm__log_mark_owner(hm__real_file(&f->log_file->base), end) == f->id;
}

bool hm__log_may_be_copied(struct hm_summed_file *f)
{
    const struct hm_summed_file *log = f->log_file;
    struct stat now;

    if (hm__file_is_moved(f) && !owns_log(f))
        return false;
    const bool indexed = hm__log_find_index(log, &now);
    if (indexed && is_same_file(&log->index_place, &now))
        return true;
    const bool logged = stat(log->name, &now) == 0;
    if (logged && is_same_file(&log->place, &now))
        return !indexed;
    if (logged && now.st_size > 0)
        return false;
    return stat(sqlite3_filename_database(log->name), &now) == 0 &&
           (now.st_mtim.tv_sec < log->seen.tv_sec ||
            (now.st_mtim.tv_sec == log->seen.tv_sec && now.st_mtim.tv_nsec <= log->seen.tv_nsec));
}

void hm__log_copying(struct hm_summed_file *f, bool begins)
{
    if (!begins && f->rescues && f->log_file)
        clock_gettime(CLOCK_REALTIME, &f->log_file->seen);
    f->rescues = begins && f->log_file && hm__log_may_be_copied(f);
}

bool hm__log_may_be_written(struct hm_summed_file *f)
{
    sqlite3_int64 size = 0;

    if (!f->log_file)
        return true;
    if (f->rescues)
        return hm__log_may_be_copied(f);
    if (hm__file_is_moved(f))
        return false; /* The log belongs to the file that has its name now. */
    sqlite3_file *log = hm__real_file(&f->log_file->base);
    return !hm__log_is_replaced(f) && log->pMethods->xFileSize(log, &size) == SQLITE_OK &&
           size >= indexed_size(f);
}

bool hm__log_is_held(struct hm_summed_file *f)
{
    sqlite3_int64 size = 0;

    if (!f->log_file || !(hm__log_is_replaced(f) || hm__file_is_moved(f)) ||
        !hm__log_may_be_copied(f))
        return false;
    sqlite3_file *log = hm__real_file(&f->log_file->base);
    return log->pMethods->xFileSize(log, &size) == SQLITE_OK && size > 0;
}
