/*
 * Implements sqlite_log.h.
 *
 * A frame is sound if its salts are those of the log's header and its checksum follows from the
 * stored checksum of the frame before it. So a frame after a damaged one is sound again, unless the
 * damage is in the stored checksum.
 *
 * What a power cut can leave: all transactions but the last one are complete. In the place of the
 * last one, each byte is that of the transaction, or what was there before: a frame of an earlier
 * generation of the log (which has other salts), of a transaction that was rolled back, or of one
 * that an earlier cut left incomplete. After none of them can a frame of a later transaction
 * follow, because that one would have been written only after a sync.
 */
#include "sqlite_log.h"

#include <string.h>

#include "memory.h"

enum {
    AT_LOG_PAGE_SIZE = 8, /* Places of the page size, the salts and the checksum in the header of */
    AT_LOG_SALTS = 16,    /* a log. */
    AT_LOG_SUM = 24,
    AT_COMMIT = 4, /* Places of the number of pages after a commit, the salts and the checksum in */
    AT_SALTS = 8,  /* the header of a frame; the page number is at its start. */
    AT_SUM = 16,
    AT_MARK_WORD = 24, /* Places of the magic word and of the checksum in a mark. */
    AT_MARK_SUM = 32,
    SUMMED_HEAD = 8, /* Number of bytes of a frame's header that its checksum covers. */
    SALT_BYTES = 8,
    LEAST_PAGE = 512,
    MOST_PAGE = 65536,
    DB_HEAD = 100, /* Size of the database's header; places of its page size and reserved bytes. */
    AT_DB_PAGE_SIZE = 16,
    AT_DB_RESERVED = 20,
    AT_DB_OWNER = 60, /* Place of user_version in the header of the database. */
    MARK_WORD_BYTES = 4
};

#define LOG_MAGIC UINT32_C(0x377f0682) /* The last bit says that checksums are big-endian. */
#define LOG_VERSION UINT32_C(3007000)
/* The first half of the magic word of a mark. The second half is the id of the database, or, in
 * older logs and without an id, that of `plain_word`. */
static const unsigned char mark_word[MARK_WORD_BYTES] = {'h', 'o', 'w', 'm'};
static const unsigned char plain_word[MARK_WORD_BYTES] = {'a', 'n', 'y', 1};

struct log_sum {
    uint32_t a, b;
};

struct log_reader {
    sqlite3_file *file;    /* Owned. */
    unsigned char *buffer; /* The current frame, owned. */
    uint32_t page_size;
    uint32_t count; /* Number of complete frames in the file. */
    bool head_ok;
    bool big; /* True if checksums are computed from big-endian words. */
    unsigned char salts[SALT_BYTES];
    uint32_t at;         /* Number of the current frame. */
    struct log_sum last; /* Stored checksum of the current frame; at first, of the header. */
    bool bad;            /* True if one of the frames so far was not sound. */
    bool all;            /* True if the checksums of all frames are computed. */
    uint32_t owner;      /* Id of the database in the mark; 0 if there is none. */
};

struct log_frame {
    uint32_t number, page;
    uint32_t commit; /* Number of pages of the database after a commit; 0 for other frames. */
    bool salted;     /* True if the salts are those of the header. */
    bool chained;    /* True if the checksum follows from that of the frame before. */
    bool marked;     /* True if it is no frame, but a mark. */
};

/* What is known about a log. */
struct log_state {
    uint32_t bad;    /* First frame that is not sound; 0 if there is none. */
    uint32_t good;   /* Last frame of the last transaction before it; 0 if there is none. */
    uint32_t proven; /* Last frame from `bad` on that is known to have been synced; 0: none. */
};

static uint32_t log_word(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void put_word(unsigned char *bytes, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(word >> (24 - 8 * i));
}

static uint32_t sum_word(const unsigned char *bytes, bool big)
{
    return big ? log_word(bytes)
               : (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 |
                     bytes[0];
}

/* Continues a checksum over bytes, whose number is a multiple of 8. */
static struct log_sum sum_bytes(struct log_sum sum, const unsigned char *bytes, size_t count,
                                bool big)
{
    for (size_t i = 0; i < count; i += 8) {
        sum.a += sum_word(bytes + i, big) + sum.b;
        sum.b += sum_word(bytes + i + 4, big) + sum.a;
    }
    return sum;
}

static struct log_sum stored_sum(const unsigned char *bytes)
{
    return (struct log_sum){log_word(bytes), log_word(bytes + 4)};
}

static bool sums_equal(struct log_sum x, struct log_sum y)
{
    return x.a == y.a && x.b == y.b;
}

static struct log_sum frame_sum(const struct log_reader *r, struct log_sum before)
{
    struct log_sum sum = sum_bytes(before, r->buffer, SUMMED_HEAD, r->big);

    return sum_bytes(sum, r->buffer + HM_LOG_FRAME_HEAD, r->page_size, r->big);
}

static sqlite3_int64 frame_offset(uint32_t page_size, uint32_t number)
{
    return HM_LOG_HEAD + (sqlite3_int64)(number - 1) * (HM_LOG_FRAME_HEAD + page_size);
}

/* ---- marks ---------------------------------------------------------------------------------- */

bool hm__log_is_commit(const unsigned char frame[HM_LOG_FRAME_HEAD])
{
    return log_word(frame + AT_COMMIT) != 0;
}

uint32_t hm__log_owner(const unsigned char *head)
{
    return log_word(head + AT_DB_OWNER);
}

void hm__log_mark(unsigned char mark[HM_LOG_MARK], const unsigned char frame[HM_LOG_FRAME_HEAD],
                  uint32_t number, uint32_t owner)
{
    put_word(mark, 0);
    put_word(mark + AT_COMMIT, number);
    memcpy(mark + AT_SALTS, frame + AT_SALTS, HM_LOG_FRAME_HEAD - AT_SALTS);
    memcpy(mark + AT_MARK_WORD, mark_word, MARK_WORD_BYTES);
    memcpy(mark + AT_MARK_WORD + MARK_WORD_BYTES, plain_word, MARK_WORD_BYTES);
    if (owner)
        put_word(mark + AT_MARK_WORD + MARK_WORD_BYTES, owner);
    struct log_sum sum = sum_bytes((struct log_sum){0}, mark, AT_MARK_SUM, true);
    put_word(mark + AT_MARK_SUM, sum.a);
    put_word(mark + AT_MARK_SUM + 4, sum.b);
}

static bool is_mark(const unsigned char *mark)
{
    struct log_sum sum = sum_bytes((struct log_sum){0}, mark, AT_MARK_SUM, true);

    return log_word(mark) == 0 && memcmp(mark + AT_MARK_WORD, mark_word, MARK_WORD_BYTES) == 0 &&
           sums_equal(sum, stored_sum(mark + AT_MARK_SUM));
}

/* Returns whether there is a mark of this log in the place of a frame. */
static bool is_mark_at(const struct log_reader *r, const unsigned char *mark, uint32_t number)
{
    return is_mark(mark) && log_word(mark + AT_COMMIT) == number - 1 &&
           memcmp(mark + AT_SALTS, r->salts, SALT_BYTES) == 0;
}

/* Returns the id of the database in a mark; 0 if there is none. */
static uint32_t mark_owner(const unsigned char *mark)
{
    const unsigned char *owner = mark + AT_MARK_WORD + MARK_WORD_BYTES;

    return memcmp(owner, plain_word, MARK_WORD_BYTES) == 0 ? 0 : log_word(owner);
}

uint32_t hm__log_mark_owner(sqlite3_file *log, sqlite3_int64 offset)
{
    unsigned char mark[HM_LOG_MARK];
    int code = log->pMethods->xRead(log, mark, HM_LOG_MARK, offset);

    return code == SQLITE_OK && is_mark(mark) ? mark_owner(mark) : 0;
}

/* ---- reading -------------------------------------------------------------------------------- */

static void close_log(sqlite3_file *file)
{
    if (file && file->pMethods)
        file->pMethods->xClose(file);
    hm__free(file);
}

static void release_reader(struct log_reader *r)
{
    close_log(r->file);
    hm__free(r->buffer);
    *r = (struct log_reader){0};
}

static uint32_t database_page_size(sqlite3_file *db)
{
    unsigned char head[DB_HEAD];

    if (db->pMethods->xRead(db, head, DB_HEAD, 0) != SQLITE_OK)
        return 0;
    uint32_t size = (uint32_t)head[AT_DB_PAGE_SIZE] << 8 | head[AT_DB_PAGE_SIZE + 1];
    return size == 1 ? MOST_PAGE : size;
}

static bool is_page_size(uint32_t size)
{
    return size >= LEAST_PAGE && size <= MOST_PAGE && (size & (size - 1)) == 0;
}

/* Reads the header of the log. Sets `page_size` to 0 if there is nothing to read. */
static int read_head(struct log_reader *r, sqlite3_file *db, sqlite3_int64 size)
{
    unsigned char head[HM_LOG_HEAD];
    int code = r->file->pMethods->xRead(r->file, head, HM_LOG_HEAD, 0);

    if (code)
        return code == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : code;
    uint32_t magic = log_word(head), page_size = log_word(head + AT_LOG_PAGE_SIZE);
    r->big = magic & 1;
    r->last = stored_sum(head + AT_LOG_SUM);
    memcpy(r->salts, head + AT_LOG_SALTS, SALT_BYTES);
    r->head_ok = (magic & ~UINT32_C(1)) == LOG_MAGIC && is_page_size(page_size) &&
                 sums_equal(r->last, sum_bytes((struct log_sum){0}, head, AT_LOG_SUM, r->big));
    if (!r->head_ok)
        page_size = database_page_size(db);
    if (!is_page_size(page_size))
        return SQLITE_OK;
    r->page_size = page_size;
    r->count = (uint32_t)((size - HM_LOG_HEAD) / (HM_LOG_FRAME_HEAD + page_size));
    r->buffer = hm__calloc(HM_LOG_FRAME_HEAD + page_size, 1);
    return r->buffer ? SQLITE_OK : SQLITE_NOMEM;
}

/*
 * If the header is damaged, takes the salts from the first frame. The checksum from which the first
 * one follows is the stored one or, if that is damaged, the sum of the header, whose other bytes
 * are known.
 */
static int guess_head(struct log_reader *r)
{
    unsigned char head[HM_LOG_HEAD];
    int size = HM_LOG_FRAME_HEAD + (int)r->page_size;
    int code = r->file->pMethods->xRead(r->file, r->buffer, size, HM_LOG_HEAD);

    if (code == SQLITE_OK)
        code = r->file->pMethods->xRead(r->file, head, HM_LOG_HEAD, 0);
    if (code)
        return code;
    memcpy(r->salts, r->buffer + AT_SALTS, SALT_BYTES);
    for (int big = 0; big < 2; big++) {
        r->big = big;
        if (sums_equal(frame_sum(r, r->last), stored_sum(r->buffer + AT_SUM)))
            return SQLITE_OK;
    }
    for (int big = 0; big < 2; big++) {
        r->big = big;
        put_word(head, LOG_MAGIC | (uint32_t)big);
        put_word(head + 4, LOG_VERSION);
        put_word(head + AT_LOG_PAGE_SIZE, r->page_size);
        memcpy(head + AT_LOG_SALTS, r->salts, SALT_BYTES);
        r->last = sum_bytes((struct log_sum){0}, head, AT_LOG_SUM, r->big);
        if (sums_equal(frame_sum(r, r->last), stored_sum(r->buffer + AT_SUM)))
            return SQLITE_OK;
    }
    r->big = false;
    return SQLITE_OK;
}

/* Opens a log. *ret_exists is false if there is no log, or one without frames. */
static int open_reader(sqlite3_vfs *vfs, const char *name, sqlite3_file *db, struct log_reader *r,
                       bool *ret_exists)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_WAL;
    int exists = 0, code = name ? vfs->xAccess(vfs, name, SQLITE_ACCESS_EXISTS, &exists) : 0;
    sqlite3_int64 size = 0;

    *r = (struct log_reader){0};
    *ret_exists = false;
    if (code || !exists)
        return code;
    r->file = hm__calloc((size_t)vfs->szOsFile, 1);
    code = r->file ? vfs->xOpen(vfs, name, r->file, flags, NULL) : SQLITE_NOMEM;
    if (code == SQLITE_OK)
        code = r->file->pMethods->xFileSize(r->file, &size);
    if (code == SQLITE_OK && size > HM_LOG_HEAD)
        code = read_head(r, db, size);
    if (code == SQLITE_OK && r->page_size && r->count > 0) {
        *ret_exists = true;
        code = r->head_ok ? SQLITE_OK : guess_head(r);
    }
    if (code || !*ret_exists)
        release_reader(r);
    return code;
}

/*
 * Reads the next frame, or the mark after the last frame. *ret_found is false at the end. Checksums
 * of older frames with other salts are not computed.
 */
static int next_frame(struct log_reader *r, struct log_frame *f, bool *ret_found)
{
    int size = HM_LOG_FRAME_HEAD + (int)r->page_size;
    sqlite3_int64 offset = frame_offset(r->page_size, ++r->at);
    int wanted = r->at > r->count ? HM_LOG_MARK : size;

    *ret_found = false;
    if (r->at > r->count + 1)
        return SQLITE_OK;
    int code = r->file->pMethods->xRead(r->file, r->buffer, wanted, offset);
    if (code)
        return code == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : code;
    *f = (struct log_frame){.number = r->at, .marked = is_mark_at(r, r->buffer, r->at)};
    *ret_found = r->at <= r->count || f->marked;
    if (f->marked)
        r->owner = mark_owner(r->buffer);
    if (!*ret_found || f->marked) {
        r->bad = true;
        return SQLITE_OK;
    }
    f->page = log_word(r->buffer);
    f->commit = log_word(r->buffer + AT_COMMIT);
    f->salted = memcmp(r->buffer + AT_SALTS, r->salts, SALT_BYTES) == 0;
    struct log_sum stored = stored_sum(r->buffer + AT_SUM);
    if (f->salted || !r->bad || r->all)
        f->chained = sums_equal(frame_sum(r, r->last), stored);
    r->bad = r->bad || !f->salted || !f->chained || f->page == 0;
    r->last = stored;
    return SQLITE_OK;
}

/* ---- damage --------------------------------------------------------------------------------- */

/*
 * Returns whether `f` belongs to a transaction after that of the frame before it, so that all
 * earlier frames were synced. If SQLite fills up a sector, it repeats the last frame of a
 * transaction, with its mark of a commit.
 */
static bool is_later(const struct log_frame *before, const struct log_frame *f, uint32_t bad)
{
    bool repeated = f->commit && f->page == before->page;

    return before->number >= bad && before->commit && before->chained &&
           (before->salted || before->number == bad) && f->salted && f->chained && f->page != 0 &&
           !repeated;
}

/* Reads the whole log and finds its first bad frame and what follows it. */
static int judge_log(struct log_reader *r, struct log_state *s)
{
    struct log_frame f, before = {0};
    bool found = true;
    int code = SQLITE_OK;

    *s = (struct log_state){.bad = r->head_ok ? 0 : 1};
    while (code == SQLITE_OK && (code = next_frame(r, &f, &found)) == SQLITE_OK && found) {
        bool sound = f.salted && f.chained && f.page != 0;
        if (s->bad == 0 && !sound)
            s->bad = f.number;
        if (s->bad == 0 && f.commit)
            s->good = f.number;
        if (s->bad && (f.marked ? f.number > s->bad : is_later(&before, &f, s->bad)))
            s->proven = f.number - 1;
        before = f;
    }
    return code;
}

/* Returns to the beginning of the log; `start` is the checksum of its header. */
static void restart_reader(struct log_reader *r, struct log_sum start)
{
    r->at = 0;
    r->last = start;
    r->bad = false;
    r->all = true;
}

/*
 * Finds the last frame of each page up to the frame `last`. If `verify` is true, pages whose last
 * frame is damaged are lost.
 */
static int gather_pages(struct log_reader *r, sqlite3_file *db, uint32_t last, bool verify,
                        struct hm_log_pages *p)
{
    struct log_frame f;
    sqlite3_int64 size = 0;
    bool found = true;
    int code = db->pMethods->xFileSize(db, &size);
    uint64_t most = (uint64_t)size / r->page_size + r->count;

    p->page_size = r->page_size;
    p->count = (uint32_t)(size / r->page_size);
    if (code == SQLITE_OK && most < UINT32_MAX)
        p->frames = hm__calloc((size_t)most + 1, sizeof(*p->frames));
    if (!p->frames)
        return code ? code : SQLITE_NOMEM;
    while (r->at < last && (code = next_frame(r, &f, &found)) == SQLITE_OK && found) {
        if (f.commit && f.chained && f.commit <= most)
            p->count = f.commit;
        else if (f.chained && f.page > p->count && f.page <= most)
            p->count = f.page; /* The commit of this transaction may be damaged. */
        if (f.page > 0 && f.page <= most)
            p->frames[f.page] = verify && !f.chained ? HM_LOG_LOST : f.number;
    }
    return code;
}

/* Returns SQLITE_CORRUPT if a page of the log differs from that of the database. */
static int compare_page(const struct log_reader *r, sqlite3_file *db, uint32_t page, uint32_t frame,
                        unsigned char *other)
{
    unsigned char head[DB_HEAD];
    int size = (int)r->page_size;
    int code = r->file->pMethods->xRead(r->file, r->buffer, size,
                                        frame_offset(r->page_size, frame) + HM_LOG_FRAME_HEAD);

    if (code == SQLITE_OK)
        code = db->pMethods->xRead(db, head, DB_HEAD, 0);
    if (code == SQLITE_OK)
        code = db->pMethods->xRead(db, other, size, (sqlite3_int64)(page - 1) * size);
    if (code)
        return code == SQLITE_IOERR_SHORT_READ ? SQLITE_CORRUPT : code;
    /* The reserved bytes hold the checksum of the page, which the log does not have. */
    size_t compared = (size_t)size - head[AT_DB_RESERVED];
    return memcmp(r->buffer, other, compared) == 0 ? SQLITE_OK : SQLITE_CORRUPT;
}

/* Returns SQLITE_CORRUPT if the database lacks a page of the log whose header is damaged. */
static int compare_database(struct log_reader *r, sqlite3_file *db, uint32_t last)
{
    struct hm_log_pages p = {0};
    unsigned char *other = hm__calloc(r->page_size, 1);
    int code = other ? gather_pages(r, db, last, false, &p) : SQLITE_NOMEM;

    for (uint32_t i = 1; code == SQLITE_OK && i <= p.count; i++)
        if (p.frames[i])
            code = compare_page(r, db, i, p.frames[i], other);
    hm__free(other);
    hm__free(p.frames);
    return code;
}

/* Returns SQLITE_CORRUPT if the log is damaged, and what was found in any case. */
static int find_damage(struct log_reader *r, sqlite3_file *db, struct log_state *s)
{
    struct log_sum start = r->last;
    int code = judge_log(r, s);

    restart_reader(r, start);
    if (code || s->proven == 0)
        return code;
    if (r->head_ok)
        return SQLITE_CORRUPT;
    code = compare_database(r, db, s->proven);
    restart_reader(r, start);
    return code;
}

/* Returns whether the mark of a log that was read has the id of another database. */
static bool is_of_other(const struct log_reader *r, sqlite3_file *db)
{
    unsigned char head[DB_HEAD];
    uint32_t owner = r->owner && db->pMethods->xRead(db, head, DB_HEAD, 0) == SQLITE_OK
                         ? hm__log_owner(head)
                         : 0;

    return owner && owner != r->owner;
}

int hm__log_check(sqlite3_vfs *vfs, const char *name, sqlite3_file *db)
{
    struct log_reader r;
    struct log_state s;
    bool exists;
    int code = open_reader(vfs, name, db, &r, &exists);

    if (code || !exists)
        return code;
    code = find_damage(&r, db, &s);
    if (is_of_other(&r, db))
        code = SQLITE_MISMATCH;
    if (code == SQLITE_OK)
        code = r.file->pMethods->xSync(r.file, SQLITE_SYNC_NORMAL);
    release_reader(&r);
    return code;
}

/* ---- reading a damaged log ------------------------------------------------------------------ */

int hm__log_pages_read(sqlite3_vfs *vfs, const char *name, sqlite3_file *db, bool before,
                       struct hm_log_pages *ret_pages)
{
    struct log_reader r;
    struct log_state s;
    struct hm_log_pages pages = {0};
    bool exists;
    int code = open_reader(vfs, name, db, &r, &exists);

    if (code == SQLITE_OK && !exists)
        code = SQLITE_NOTFOUND;
    if (code)
        return code;
    code = find_damage(&r, db, &s);
    if (code == SQLITE_CORRUPT)
        code = gather_pages(&r, db, before ? s.good : s.proven, true, &pages);
    else if (code == SQLITE_OK)
        code = SQLITE_NOTFOUND;
    if (code == SQLITE_OK) {
        pages.file = r.file; /* The pages own the open log now. */
        r.file = NULL;
        *ret_pages = pages;
    } else
        hm__log_pages_release(&pages);
    release_reader(&r);
    return code;
}

void hm__log_pages_release(struct hm_log_pages *pages)
{
    close_log(pages->file);
    hm__free(pages->frames);
    *pages = (struct hm_log_pages){0};
}

int hm__log_pages_get(const struct hm_log_pages *pages, void *buffer, int bytes,
                      sqlite3_int64 offset)
{
    uint64_t page = (uint64_t)offset / pages->page_size + 1;
    uint32_t frame = page <= pages->count ? pages->frames[page] : 0;

    if (frame == 0)
        return SQLITE_NOTFOUND;
    if (frame == HM_LOG_LOST)
        return SQLITE_CORRUPT;
    return pages->file->pMethods->xRead(pages->file, buffer, bytes,
                                        frame_offset(pages->page_size, frame) + HM_LOG_FRAME_HEAD +
                                            offset % pages->page_size);
}
