/*
 * Implements a store in a SQLite file, with a write-ahead log next to it. A commit returns after
 * the transaction has been synced to disk (synchronous=FULL). Compiled statements are cached,
 * because the same few statements are used many times.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "budget.h"
#include "err.h"
#include "memory.h"
#include "sql.h"
#include "sqlite_errors.h"
#include "sqlite_place.h"
#include "sqlite_sums.h"
#include "text.h"

enum {
    WAIT_MS = 5000,  /* Longest time to wait for a lock, in milliseconds. */
    STATEMENTS = 24, /* Number of compiled statements in the cache. */
    /*
     * When the write-ahead log has this many pages, it is copied into the database file
     * (checkpoint).
     */
    LOG_PAGES = 4096,
    PAGE_BYTES = 4096,
    /*
     * Number of instructions of SQLite's virtual machine after which the limits of the request are
     * checked again.
     */
    CHECK_EVERY = 4000,
    /* Only one thread at a time uses a connection (howmany_store.h), so it needs no mutex. */
    OPEN_FLAGS = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
};

/* Statement that gives a connection 64 MiB for pages in memory. */
#define CACHE_PRAGMA "PRAGMA cache_size=-65536"

struct statement {
    char *sql; /* SQL of the statement, owned; NULL if this entry of the cache is empty. */
    sqlite3_stmt *compiled;
    /*
     * Number N of each parameter $N, in the order in which the parameters appear in the SQL; owned.
     */
    int *numbers;
    int count;          /* Number of parameters in the statement. */
    unsigned long used; /* Value of the use counter `clock` at the last use of this statement. */
};

struct sqlite {
    sqlite3 *db;
    sqlite3_stmt *rollback; /* Compiled statement ROLLBACK; NULL until the file has been opened. */
    struct statement statements[STATEMENTS];
    const char *where; /* Name of the file while it is being opened, borrowed; NULL afterwards. */
    /*
     * Number of uses of cached statements so far, which is used to find the least recently used
     * statement.
     */
    unsigned long clock;
    bool failed_before;  /* True if the file could not be opened. */
    bool read_only;      /* True if there is no permission to write the file or its folder. */
    struct stat seen;    /* The file when it was opened without locks; st_ino is 0 otherwise. */
    struct sqlite *next; /* Next connection in the list `held`. */
    double wait_s;       /* Time at which the current wait for a lock began, in seconds. */
};

static int sqlite_fail(const struct sqlite *c, int code, struct hm_err *err)
{
    if (hm__sqlite_is_outdated(c->db, &c->seen))
        return hm__sqlite_fail_outdated(err);
    return hm__sqlite_fail(c->db, c->where, c->read_only, code, err);
}

/* ---- statements ----------------------------------------------------------------------------- */

static void drop_statement(struct statement *s)
{
    sqlite3_finalize(s->compiled);
    hm__free(s->sql);
    hm__free(s->numbers);
    *s = (struct statement){0};
}

/*
 * Finds the number N of each parameter $N, because SQLite numbers parameters in their order of
 * appearance.
 */
static int number_parameters(struct statement *s)
{
    s->count = sqlite3_bind_parameter_count(s->compiled);
    s->numbers = hm__calloc((size_t)s->count + 1, sizeof(*s->numbers));
    for (int i = 0; s->numbers && i < s->count; i++) {
        const char *name = sqlite3_bind_parameter_name(s->compiled, i + 1);
        s->numbers[i] = name ? (int)strtol(name + 1, NULL, 10) : 0;
    }
    return s->numbers ? 0 : HM_E_NOMEM;
}

static int compile_statement(struct sqlite *c, struct statement *s, const char *sql,
                             struct hm_err *err)
{
    size_t length = strlen(sql);

    drop_statement(s);
    s->sql = hm__calloc(length + 1, 1);
    if (!s->sql)
        return hm__fail_nomem(err);
    memcpy(s->sql, sql, length);
    int code = sqlite3_prepare_v2(c->db, sql, (int)length + 1, &s->compiled, NULL);
    int rc = code ? sqlite_fail(c, code, err) : 0;
    if (rc == 0 && number_parameters(s))
        rc = hm__fail_nomem(err);
    if (rc)
        drop_statement(s);
    return rc;
}

/* Finds a statement in the cache, or compiles it in place of the least recently used statement. */
static int find_statement(struct sqlite *c, const char *sql, struct statement **ret_statement,
                          struct hm_err *err)
{
    struct statement *oldest = &c->statements[0];
    int rc = 0;

    for (size_t i = 0; i < STATEMENTS; i++) {
        struct statement *s = &c->statements[i];
        if (s->sql && strcmp(s->sql, sql) == 0) {
            oldest = s;
            break;
        }
        if (s->used < oldest->used)
            oldest = s;
    }
    if (!oldest->sql || strcmp(oldest->sql, sql) != 0)
        rc = compile_statement(c, oldest, sql, err);
    oldest->used = ++c->clock;
    *ret_statement = oldest;
    return rc;
}

static int bind_parameter(sqlite3_stmt *s, int at, const struct hm_sql_value *value)
{
    if (value->null)
        return sqlite3_bind_null(s, at);
    switch (value->kind) {
    case HM_SQL_INTEGER:
        return sqlite3_bind_int64(s, at, value->integer);
    case HM_SQL_REAL:
        return sqlite3_bind_double(s, at, value->real);
    case HM_SQL_TEXT:
        return sqlite3_bind_text(s, at, value->text, -1, SQLITE_STATIC);
    case HM_SQL_NULL:
        break;
    }
    return sqlite3_bind_null(s, at);
}

static int bind_parameters(struct sqlite *c, struct statement *s,
                           const struct hm_sql_value *parameters, size_t count, struct hm_err *err)
{
    for (int i = 0; i < s->count; i++) {
        int number = s->numbers[i];
        int code = number < 1 || (size_t)number > count
                       ? SQLITE_RANGE
                       : bind_parameter(s->compiled, i + 1, &parameters[number - 1]);
        if (code)
            return sqlite_fail(c, code, err);
    }
    return 0;
}

enum { SQLITE_CELLS = 64 };

static struct hm_sql_value read_cell(sqlite3_stmt *s, int at)
{
    switch (sqlite3_column_type(s, at)) {
    case SQLITE_INTEGER:
        return (struct hm_sql_value){.kind = HM_SQL_INTEGER,
                                     .integer = sqlite3_column_int64(s, at),
                                     .real = sqlite3_column_double(s, at)};
    case SQLITE_FLOAT:
        return hm__sql_real(sqlite3_column_double(s, at));
    case SQLITE_NULL:
        return (struct hm_sql_value){.kind = HM_SQL_NULL, .null = true, .real = NAN};
    default:
        return hm__sql_text((const char *)sqlite3_column_text(s, at));
    }
}

static int step_rows(struct sqlite *c, struct statement *s, hm_sql_row *row, void *context,
                     struct hm_err *err)
{
    struct hm_sql_value cells[SQLITE_CELLS];
    int code, rc = 0, count = sqlite3_column_count(s->compiled);

    while (rc == 0 && (code = sqlite3_step(s->compiled)) == SQLITE_ROW) {
        if ((rc = hm__budget_check("runs", err)))
            break;
        for (int i = 0; i < count && i < SQLITE_CELLS; i++)
            cells[i] = read_cell(s->compiled, i);
        rc = row ? row(context, cells, (size_t)count, err) : 0;
    }
    return rc ? rc : code == SQLITE_DONE ? 0 : sqlite_fail(c, code, err);
}

/*
 * SQLite calls this function again and again while another program holds a lock. Waiting ends after
 * WAIT_MS, or earlier if the limits of the request are exceeded.
 */
static int wait_for_lock(void *connection, int waits)
{
    struct sqlite *c = connection;
    double now = hm__budget_now();

    if (waits == 0)
        c->wait_s = now;
    if (now >= c->wait_s + 1e-3 * WAIT_MS || hm__budget_spent("runs"))
        return 0;
    sqlite3_sleep(waits < 10 ? 1 + 2 * waits : 20);
    return 1;
}

/*
 * SQLite calls this function periodically during a long statement. If the limits of the request are
 * exceeded, it returns 1, which ends the statement.
 */
static int is_over_budget(void *unused)
{
    (void)unused;
    return hm__budget_spent("runs");
}

/* Makes SQLite call is_over_budget during statements, or no longer. */
static void watch_budget(struct sqlite *c, bool watch)
{
    sqlite3_progress_handler(c->db, watch ? CHECK_EVERY : 0, watch ? is_over_budget : NULL, NULL);
}

/*
 * Copies a log that was removed or replaced into the file, because it will be lost with the last
 * connection that has it open. Then new connections can begin the log again. While other
 * connections read, only a part can be copied; if `waits` is true, the function waits for them.
 * Returns whether nothing will be lost when this connection is closed.
 */
static bool rescue_log(struct sqlite *c, bool waits)
{
    bool rescues = true, held = false;
    int frames = -1, copied = -1, moved = 0;

    sqlite3_file_control(c->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    sqlite3_file_control(c->db, "main", HM_SUMS_LOG_HELD, &held);
    /* The log belongs to other connections now, or they have its transactions, too. */
    if (!held && (moved || hm__sqlite_log_is_lost(c->db)))
        return true;
    watch_budget(c, false);
    sqlite3_busy_handler(c->db, waits ? wait_for_lock : NULL, c);
    sqlite3_file_control(c->db, "main", HM_SUMS_RESCUE, &rescues);
    int code = sqlite3_wal_checkpoint_v2(c->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, &frames, &copied);
    rescues = false;
    sqlite3_file_control(c->db, "main", HM_SUMS_RESCUE, &rescues);
    sqlite3_busy_handler(c->db, wait_for_lock, c);
    watch_budget(c, true);
    sqlite3_file_control(c->db, "main", HM_SUMS_LOG_HELD, &held);
    return !held || code == SQLITE_OK || (frames >= 0 && frames == copied);
}

/*
 * Fails if the file or its log was removed or replaced after it was opened, because reads would
 * return old data, and writes would be lost. The server then opens the file again.
 */
static int check_place(struct sqlite *c, bool waits, struct hm_err *err)
{
    int moved = 0;

    if (hm__sqlite_is_outdated(c->db, &c->seen))
        return hm__sqlite_fail_outdated(err);
    sqlite3_file_control(c->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (!moved && !hm__sqlite_log_is_lost(c->db))
        return 0;
    rescue_log(c, waits);
    return hm__sqlite_fail_lost(moved ? "file" : "write-ahead log", err);
}

static int sqlite_query(void *connection, const char *sql, const struct hm_sql_value *parameters,
                        size_t count, hm_sql_row *row, void *context, int64_t *ret_changed,
                        struct hm_err *err)
{
    struct sqlite *c = connection;
    struct statement *s;
    /* Inside a transaction, the file was already checked when the transaction began. */
    int rc = sqlite3_get_autocommit(c->db) ? check_place(c, false, err) : 0;

    if (rc == 0)
        rc = find_statement(c, sql, &s, err);
    if (rc)
        return rc;
    rc = bind_parameters(c, s, parameters, count, err);
    if (rc == 0)
        rc = step_rows(c, s, row, context, err);
    if (rc == 0 && ret_changed)
        *ret_changed = sqlite3_changes64(c->db);
    sqlite3_reset(s->compiled);
    sqlite3_clear_bindings(s->compiled);
    return rc;
}

static int64_t sqlite_last_insert(void *connection)
{
    struct sqlite *c = connection;

    return sqlite3_last_insert_rowid(c->db);
}

/*
 * Ends a transaction, which must also work if memory has run out or the budget is spent; otherwise,
 * the connection would keep its lock and could not be used again. Therefore the statement was
 * compiled when the file was opened, and the budget is not checked: SQLite counts the instructions
 * of all executions of a compiled statement, so that about one in 1,300 rollbacks checks it.
 */
static int roll_back(struct sqlite *c)
{
    if (sqlite3_get_autocommit(c->db) || !c->rollback)
        return 0; /* SQLite has ended the transaction itself, because of an error. */
    watch_budget(c, false);
    int code = sqlite3_step(c->rollback);
    sqlite3_reset(c->rollback);
    watch_budget(c, true);
    return code == SQLITE_DONE ? 0 : code;
}

static int sqlite_exec(void *connection, const char *sql, struct hm_err *err)
{
    struct sqlite *c = connection;
    bool begins = strncmp(sql, "BEGIN", 5) == 0;
    /* A program that wants to write has time to wait for those that read. */
    bool waits = strcmp(sql, hm__sqlite.begin_write) == 0;
    int rc = begins ? check_place(c, waits, err) : 0;

    if (rc)
        return rc;
    int code =
        strcmp(sql, "ROLLBACK") == 0 ? roll_back(c) : sqlite3_exec(c->db, sql, NULL, NULL, NULL);
    if (begins && sqlite3_extended_errcode(c->db) == SQLITE_IOERR_SHMLOCK)
        rescue_log(c, waits); /* The log of the index was lost; it can begin again afterwards. */
    if (code)
        return sqlite_fail(c, code, err);
    /*
     * The file may have been replaced while the transaction waited for its lock; without locks, it
     * may have been written while it was read.
     */
    bool unlocked = c->seen.st_ino != 0 && strcmp(sql, "COMMIT") == 0;
    rc = begins || unlocked ? check_place(c, false, err) : 0;
    if (rc)
        roll_back(c);
    return rc;
}

static int sqlite_scan(void *connection, bool *ret_sound, struct hm_err *err)
{
    struct sqlite *c = connection;
    int code = hm__sums_scan(c->db, is_over_budget, ret_sound);

    return code ? sqlite_fail(c, code, err) : 0;
}

/* ---- opening -------------------------------------------------------------------------------- */

/*
 * Connections that were closed while they held the only copy of what is in a log that was removed,
 * because other programs read the store or the disk is full. Only an open connection keeps such a
 * log, so this list is global, as the state of SQLite is. Each attempt to open the store again
 * tries to copy the log first.
 */
static struct {
    pthread_mutex_t lock;
    struct sqlite *first;
} held = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_held(struct sqlite *c)
{
    bool holds = false;

    if (c->db && !c->failed_before)
        sqlite3_file_control(c->db, "main", HM_SUMS_LOG_HELD, &holds);
    return holds && !rescue_log(c, false);
}

static void free_connection(struct sqlite *c)
{
    for (size_t i = 0; i < STATEMENTS; i++)
        drop_statement(&c->statements[i]);
    /* Update the statistics of the query planner; errors are ignored. */
    if (c->db && !c->failed_before && !c->read_only)
        sqlite3_exec(c->db, "PRAGMA analysis_limit=1000; PRAGMA optimize", NULL, NULL, NULL);
    if (c->db && c->failed_before)
        sqlite3_file_control(c->db, "main", HM_SUMS_KEEP_LOG, NULL);
    sqlite3_finalize(c->rollback);
    sqlite3_close(c->db);
    hm__free(c);
}

static void close_file(void *connection)
{
    struct sqlite *c = connection;

    if (!c)
        return;
    if (!is_held(c)) {
        free_connection(c);
        return;
    }
    pthread_mutex_lock(&held.lock);
    c->next = held.first;
    held.first = c;
    pthread_mutex_unlock(&held.lock);
}

/*
 * Copies logs that closed connections hold into their files. Fails if this is not possible for the
 * file `where`, because its runs would be missing, or those of another file would be added to it.
 */
static int release_held(const char *where, struct hm_err *err)
{
    int rc = 0;

    pthread_mutex_lock(&held.lock);
    for (struct sqlite **at = &held.first; *at;) {
        struct sqlite *c = *at;
        const char *name = sqlite3_db_filename(c->db, "main");
        if (is_held(c)) {
            rc = rc || !name || !hm__sqlite_is_same_name(name, where)
                     ? rc
                     : hm__sqlite_fail_lost("write-ahead log", err);
            at = &c->next;
            continue;
        }
        *at = c->next;
        free_connection(c);
    }
    pthread_mutex_unlock(&held.lock);
    return rc;
}

/* Switches to a write-ahead log. If two connections do so at the same time, SQLite returns
 * SQLITE_BUSY without waiting, so the switch is retried here. */
static int enable_wal(struct sqlite *c, struct hm_err *err)
{
    int code = SQLITE_BUSY;

    for (int waited = 0; waited < WAIT_MS && code == SQLITE_BUSY && !hm__budget_spent("runs");
         waited += 10) {
        code = sqlite3_exec(c->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
        if (code == SQLITE_BUSY)
            sqlite3_sleep(10);
    }
    return code ? sqlite_fail(c, code, err) : 0;
}

/*
 * Empties a long write-ahead log. After a crash, the first connection reads the whole log. A log is
 * long if its writers were killed before they could checkpoint it; without this function, the log
 * would be read again at every start. The function does nothing while other connections use the
 * file.
 */
static void checkpoint_long_log(struct sqlite *c)
{
    const char *file = sqlite3_db_filename(c->db, "main");
    struct stat log;

    if (!file || !*file || stat(sqlite3_filename_wal(file), &log) != 0 ||
        log.st_size <= (off_t)2 * LOG_PAGES * PAGE_BYTES)
        return;
    sqlite3_busy_timeout(c->db, 0);
    sqlite3_wal_checkpoint_v2(c->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_busy_handler(c->db, wait_for_lock, c);
}

/*
 * Opens a file for reading, without locks and without a write-ahead log; `parameter` is added to
 * the URI.
 */
static int open_immutable(struct sqlite *c, const char *where, const char *parameter,
                          struct hm_err *err)
{
    struct hm_text name = {0};

    hm__text_add(&name, "file:");
    for (const char *at = where; *at; at++)
        hm__text_addf(&name, strchr("%?#", *at) ? "%%%02x" : "%c", (unsigned char)*at);
    hm__text_addf(&name, "?immutable=1%s", parameter);
    if (name.failed) {
        hm__text_release(&name);
        return hm__fail_nomem(err);
    }
    sqlite3_close(c->db);
    c->db = NULL;
    int code =
        sqlite3_open_v2(name.data, &c->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, HM_SUMS_VFS);
    hm__text_release(&name);
    c->read_only = true;
    if (code)
        return sqlite_fail(c, code, err);
    watch_budget(c, true);
    return sqlite_exec(c, "SELECT count(*) FROM sqlite_master; PRAGMA trusted_schema=OFF", err);
}

/*
 * Opens a file that may not be written. A write-ahead log would need a writable folder, so the file
 * is opened as immutable. The results are correct if no log with more data exists.
 */
static int open_read_only(struct sqlite *c, const char *where, struct hm_err *err)
{
    /* The log and the journal are next to the file itself, which `where` may only link to. */
    const char *file = c->db ? sqlite3_db_filename(c->db, "main") : NULL;

    if (!file || !*file)
        return hm__fail(err, HM_E_IO, "cannot use the store: its file cannot be found");
    if (hm__sqlite_has_bytes(sqlite3_filename_wal(file)) ||
        hm__sqlite_has_bytes(sqlite3_filename_journal(file)))
        return hm__fail(err, HM_E_IO,
                        "cannot use the store: no permission to write, and its log must be written "
                        "back first");
    if (stat(where, &c->seen) != 0)
        c->seen.st_ino = 0;
    return open_immutable(c, where, "", err);
}

static int configure_file(struct sqlite *c, const char *where, struct hm_err *err)
{
    char pragmas[256];

    sqlite3_extended_result_codes(c->db, 0);
    sqlite3_busy_handler(c->db, wait_for_lock, c);
    watch_budget(c, true);
    /*
     * SQLite does not read the file when it opens a database, so this query shows whether the file
     * is a database.
     */
    struct hm_err why = {0};
    int rc = sqlite_exec(c, "SELECT count(*) FROM sqlite_master", &why);
    if ((rc || sqlite3_db_readonly(c->db, "main") == 1) && hm__sqlite_is_protected(where))
        return open_read_only(c, where, err);
    if (rc == 0 && sqlite3_db_readonly(c->db, "main") == 1)
        return hm__sqlite_fail_read_only(where, err);
    if (rc && err)
        *err = why;
    if (rc == 0) {
        int code = hm__sums_begin(c->db);
        rc = code ? sqlite_fail(c, code, err) : enable_wal(c, err);
    }
    snprintf(
        pragmas, sizeof(pragmas),
        "PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF;" CACHE_PRAGMA
        "; PRAGMA wal_autocheckpoint=%d",
        LOG_PAGES);
    if (rc == 0)
        rc = sqlite_exec(c, pragmas, err);
    if (rc == 0)
        checkpoint_long_log(c);
    return rc;
}

static char *copy_text(const char *text)
{
    size_t length = strlen(text);
    char *to = hm__calloc(length + 1, 1);

    return to ? memcpy(to, text, length) : NULL;
}

static int open_database(struct sqlite *c, const char *where, struct hm_err *err)
{
    int rc = release_held(where, err);

    if (rc == 0)
        rc = hm__sqlite_check_orphan(where, err);
    if (rc)
        return rc;
    int code = sqlite3_open_v2(where, &c->db, OPEN_FLAGS, HM_SUMS_VFS);
    return code ? sqlite_fail(c, code, err) : configure_file(c, where, err);
}

static int open_log_all(struct sqlite *c, const char *where, struct hm_err *err)
{
    return open_immutable(c, where, "&" HM_SUMS_LOG "=" HM_SUMS_LOG_ALL, err);
}

static int open_log_before(struct sqlite *c, const char *where, struct hm_err *err)
{
    return open_immutable(c, where, "&" HM_SUMS_LOG "=" HM_SUMS_LOG_BEFORE, err);
}

/* Makes a connection; `open` opens its database. */
static int connect_file(const char *where,
                        int (*open)(struct sqlite *c, const char *where, struct hm_err *err),
                        void **ret_connection, char **ret_label, struct hm_err *err)
{
    struct sqlite *c = hm__calloc(1, sizeof(*c));
    char *label = copy_text(where);
    int rc = 0;

    if (!c || !label)
        rc = hm__fail_nomem(err);
    if (rc == 0) {
        c->where = where;
        int code = hm__sums_register();
        rc = code ? sqlite_fail(c, code, err) : open(c, where, err);
        c->where = NULL;
    }
    if (rc == 0) {
        int code = sqlite3_prepare_v2(c->db, "ROLLBACK", -1, &c->rollback, NULL);
        rc = code ? sqlite_fail(c, code, err) : 0;
    }
    if (rc) {
        hm__err_at(err, where, 0);
        if (c)
            c->failed_before = true;
        close_file(c);
        hm__free(label);
        return rc;
    }
    *ret_connection = c;
    *ret_label = label;
    return 0;
}

static int open_file(const char *where, void **ret_connection, char **ret_label, struct hm_err *err)
{
    return connect_file(where, open_database, ret_connection, ret_label, err);
}

static int open_damaged_file(const char *where, bool before, void **ret_connection,
                             char **ret_label, struct hm_err *err)
{
    return connect_file(where, before ? open_log_before : open_log_all, ret_connection, ret_label,
                        err);
}

static bool is_current(void *connection)
{
    const struct sqlite *c = connection;

    return !hm__sqlite_is_outdated(c->db, &c->seen);
}

static bool has_sums(void *connection)
{
    const struct sqlite *c = connection;
    bool present = false;

    sqlite3_file_control(c->db, "main", HM_SUMS_PRESENT, &present);
    return present;
}

static int add_sums(const char *where, struct hm_err *err)
{
    void *connection = NULL;
    char *label = NULL;
    int rc = open_file(where, &connection, &label, err);

    if (rc)
        return rc;
    struct sqlite *c = connection;
    int code = hm__sums_add(c->db);
    if (code == SQLITE_ERROR)
        rc = hm__fail(err, HM_E_UNSUPPORTED,
                      "this version of SQLite cannot add checksums to this store");
    else if (code == SQLITE_BUSY)
        rc = hm__fail(err, HM_E_IO,
                      "checksums cannot be added while another program uses the store");
    else if (code)
        rc = sqlite_fail(c, code, err);
    if (rc)
        hm__err_at(err, where, 0);
    close_file(c);
    hm__free(label);
    return rc;
}

void hm__sqlite_configure(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/* Returns true also for a file that cannot be looked at, because it may be a store. */
static bool file_exists(const char *where)
{
    struct stat file;

    return stat(where, &file) == 0 || errno != ENOENT;
}

const struct hm_sql hm__sqlite = {
    .open = open_file,
    .exists = file_exists,
    .open_damaged = open_damaged_file,
    .close = close_file,
    .usable = is_current,
    .exec = sqlite_exec,
    .query = sqlite_query,
    .last_insert = sqlite_last_insert,
    .has_sums = has_sums,
    .add_sums = add_sums,
    .verify = "PRAGMA integrity_check(1)",
    .verify_quick = "PRAGMA quick_check(1)",
    .scan = sqlite_scan,
    /*
     * SQLite sorts as many entries in memory as fit into its cache, as linked lists. If these are
     * larger than the caches of the processor, sorting takes almost twice as long.
     */
    .begin_sorting = "PRAGMA cache_size=-4000",
    .end_sorting = CACHE_PRAGMA,
    .insert = "INSERT OR ROLLBACK",
    .begin_write = "BEGIN IMMEDIATE",
    .begin_place = "BEGIN IMMEDIATE",
    .begin_read = "BEGIN",
    .last_id = "SELECT seq FROM sqlite_sequence WHERE name = 'runs'",
    .has_meta = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'meta'",
    .id_type = "INTEGER PRIMARY KEY AUTOINCREMENT",
    .text_type = "text",
    .packed = "WITHOUT ROWID",
    /*
     * In SQLite, every index entry ends with the id of its row, so equal values are already ordered
     * by id.
     */
    .index_id = "",
    .plain = "+",
    .by_ids = " NOT INDEXED WHERE id IN (SELECT value FROM json_each($1))",
    .more_number = "EXISTS (SELECT 1 FROM json_each(runs.more) AS j WHERE j.key = {key} AND CASE "
                   "WHEN j.type IN ('integer', 'real') THEN j.value {op} {number} "
                   "ELSE CAST(j.value AS TEXT) {op} {text} END)",
    .more_text = "EXISTS (SELECT 1 FROM json_each(runs.more) AS j WHERE j.key = {key} AND CASE "
                 "j.type WHEN 'text' THEN j.value {op} {text} ELSE 1 {op} 2 AND 2 {op} 1 END)",
};
