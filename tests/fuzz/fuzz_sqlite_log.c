/*
 * Fuzzes the check of SQLite's write-ahead log, and the reader of damaged logs, with a file system
 * in memory. The first byte has flags. The input is then the log itself, or, because no random
 * bytes have correct checksums, a list of frames that are made from it: five bytes for each frame,
 * which choose its kind, page, commit and contents, and what is changed in it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sqlite_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    PAGE = 512,
    FRAME = HM_LOG_FRAME_HEAD + PAGE,
    DATABASE_PAGES = 4,
    FRAMES_MOST = 64,
    STEP = 5, /* Number of bytes of the input for a frame. */
};

/* Flags in the first byte of the input. */
enum { RAW = 1, HIGH_FIRST = 2, BAD_HEAD = 4, HAS_OWNER = 8, OTHER_OWNER = 16, MARKED = 32 };

/* ---- files in memory ------------------------------------------------------------------------- */

struct memory_file {
    sqlite3_file base;
    const unsigned char *data;
    sqlite3_int64 length;
};

static int memory_close(sqlite3_file *file)
{
    (void)file;
    return SQLITE_OK;
}

static int memory_read(sqlite3_file *file, void *buffer, int bytes, sqlite3_int64 offset)
{
    const struct memory_file *f = (const struct memory_file *)file;

    if (bytes < 0 || offset < 0)
        abort();
    sqlite3_int64 there = f->length > offset ? f->length - offset : 0;
    size_t copied = (size_t)(there < bytes ? there : bytes);
    if (copied > 0)
        memcpy(buffer, f->data + offset, copied);
    memset((char *)buffer + copied, 0, (size_t)bytes - copied);
    return copied == (size_t)bytes ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int memory_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
    *ret_size = ((const struct memory_file *)file)->length;
    return SQLITE_OK;
}

static int memory_sync(sqlite3_file *file, int flags)
{
    (void)file;
    (void)flags;
    return SQLITE_OK;
}

static const sqlite3_io_methods methods = {.iVersion = 1,
                                           .xClose = memory_close,
                                           .xRead = memory_read,
                                           .xFileSize = memory_size,
                                           .xSync = memory_sync};

static int memory_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret_exists)
{
    (void)vfs;
    (void)name;
    (void)flags;
    *ret_exists = 1;
    return SQLITE_OK;
}

/* Opens the log, which the file system refers to. */
static int memory_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                       int *ret_flags)
{
    (void)name;
    (void)flags;
    (void)ret_flags;
    *(struct memory_file *)file = *(struct memory_file *)vfs->pAppData;
    return SQLITE_OK;
}

/* ---- logs ------------------------------------------------------------------------------------ */

static void put_word(unsigned char *bytes, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(word >> (24 - 8 * i));
}

static uint32_t get_word(const unsigned char *bytes, bool big)
{
    uint32_t word = 0;

    for (int i = 0; i < 4; i++)
        word |= (uint32_t)bytes[i] << 8 * (big ? 3 - i : i);
    return word;
}

/* Continues the checksum of a log; see "Checksum Algorithm" in the description of the format. */
static void add_sum(uint32_t sum[2], const unsigned char *bytes, size_t count, bool big)
{
    for (size_t i = 0; i < count; i += 8) {
        sum[0] += get_word(bytes + i, big) + sum[1];
        sum[1] += get_word(bytes + i + 4, big) + sum[0];
    }
}

/* Writes the header of a log, and returns its checksum. */
static void put_head(unsigned char *head, uint8_t flags, uint32_t sum[2])
{
    bool big = flags & HIGH_FIRST;

    put_word(head, 0x377f0682u | big);
    put_word(head + 4, 3007000);
    put_word(head + 8, PAGE);
    put_word(head + 16, 0x12345678);
    put_word(head + 20, 0x9abcdef0);
    add_sum(sum, head, 24, big);
    put_word(head + 24, sum[0]);
    put_word(head + 28, sum[1]);
    head[28] ^= flags & BAD_HEAD;
}

/* Writes a frame that is described by five bytes of the input, and its checksum if it is sound. */
static void put_frame(unsigned char *frame, const uint8_t *from, const unsigned char *log,
                      uint32_t sum[2], bool big)
{
    put_word(frame, from[0] % 8);
    put_word(frame + 4, from[1] % 8);
    memcpy(frame + 8, log + 16, 8);
    memset(frame + HM_LOG_FRAME_HEAD, from[2], PAGE);
    add_sum(sum, frame, 8, big);
    add_sum(sum, frame + HM_LOG_FRAME_HEAD, PAGE, big);
    put_word(frame + 16, sum[0]);
    put_word(frame + 20, sum[1]);
    /* A change in the frame, perhaps with later frames that continue the changed checksum. */
    if (from[3])
        frame[from[3] * 2 + from[4] % 2] ^= from[4] | 1;
    if (from[3] && from[4] & 2)
        for (int i = 0; i < 2; i++)
            sum[i] = get_word(frame + 16 + 4 * i, true);
}

/* Makes a log of the input. Returns its length. */
static size_t make_log(const uint8_t *data, size_t size, uint32_t owner, unsigned char *log)
{
    uint8_t flags = data[0];
    uint32_t sum[2] = {0}, count = 0;

    memset(log, 0, HM_LOG_HEAD);
    put_head(log, flags, sum);
    for (size_t at = 1; at + STEP <= size && count < FRAMES_MOST; at += STEP, count++)
        put_frame(log + HM_LOG_HEAD + (size_t)count * FRAME, data + at, log, sum,
                  flags & HIGH_FIRST);
    size_t length = HM_LOG_HEAD + (size_t)count * FRAME;
    if (count == 0 || !(flags & MARKED))
        return length;
    hm__log_mark(log + length, log + length - FRAME, count, owner);
    return length + HM_LOG_MARK;
}

/* Reads every page of a damaged log. */
static void read_pages(struct hm_log_pages *p)
{
    unsigned char page[PAGE];

    for (uint32_t i = 0; i <= p->count; i++) {
        int code = hm__log_pages_get(p, page, PAGE, (sqlite3_int64)i * p->page_size);
        if (code != SQLITE_OK && code != SQLITE_NOTFOUND && code != SQLITE_CORRUPT)
            abort();
    }
    hm__log_pages_release(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char log[HM_LOG_HEAD + FRAMES_MOST * FRAME + HM_LOG_MARK];
    unsigned char database[DATABASE_PAGES * PAGE] = {0};
    struct hm_log_pages pages;

    if (size < 1)
        return 0;
    memset(database + PAGE, data[size - 1], sizeof(database) - PAGE);
    database[16] = PAGE >> 8;
    database[63] = data[0] & HAS_OWNER ? 7 : 0;
    struct memory_file log_file = {{&methods}, data + 1, (sqlite3_int64)size - 1};
    struct memory_file db = {{&methods}, database, sizeof(database)};
    if (!(data[0] & RAW)) {
        log_file.data = log;
        log_file.length = (sqlite3_int64)make_log(data, size, data[0] & OTHER_OWNER ? 8 : 7, log);
    }
    sqlite3_vfs vfs = {.szOsFile = sizeof(struct memory_file),
                       .pAppData = &log_file,
                       .xAccess = memory_access,
                       .xOpen = memory_open};
    int code = hm__log_check(&vfs, "log", &db.base);
    if (code != SQLITE_OK && code != SQLITE_CORRUPT && code != SQLITE_MISMATCH)
        abort();
    for (int before = 0; before < 2; before++) {
        int read = hm__log_pages_read(&vfs, "log", &db.base, before, &pages);
        if (read == SQLITE_OK)
            read_pages(&pages);
        else if (read != SQLITE_NOTFOUND)
            abort();
        /* Pages can be read exactly if the log is damaged. */
        if ((code == SQLITE_CORRUPT && read) || (code == SQLITE_OK && read != SQLITE_NOTFOUND))
            abort();
    }
    return 0;
}
