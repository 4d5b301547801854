/* Implements sqlite_errors.h. */
#include "sqlite_errors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "budget.h"
#include "err.h"
#include "sql.h"
#include "sqlite_sums.h"
#include "text.h"

static const char *error_reason(int code)
{
    switch (code & 0xff) {
    case SQLITE_NOTADB:
        return "it is not a database";
    case SQLITE_CORRUPT:
        return "it is damaged";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return "no permission to write";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "another program has kept it locked for too long";
    default:
        return NULL;
    }
}

/* Returns the field of an error after which the store can still be read, else NULL. */
static const char *error_field(int code)
{
    switch (code & 0xff) {
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return HM_STORE_READ_ONLY;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return HM_STORE_LOCK;
    default:
        return NULL;
    }
}

static int fail_known(int code, const char *reason, struct hm_err *err)
{
    hm__fail(err, HM_E_IO, "cannot use the store: %s", reason);
    if (error_field(code))
        hm__err_field(err, error_field(code));
    return HM_E_IO;
}

/* Returns the system error that prevents creating a new file next to the store, or 0. If SQLite
 * cannot create a file, it opens the file for reading and keeps only the error of this second
 * attempt. */
static int find_refusal(const char *where)
{
    struct hm_text name = {0};

    hm__text_addf(&name, "%s-XXXXXX", where);
    if (name.failed)
        return ENOMEM;
    int file = mkstemp(name.data), number = file < 0 ? errno : 0;
    if (file >= 0) {
        if (write(file, "", 1) != 1)
            number = errno;
        close(file);
        unlink(name.data);
    }
    hm__text_release(&name);
    return number;
}

/* Returns the name of the store's file; NULL if it is not known. */
static const char *file_name(sqlite3 *db, const char *where)
{
    const char *name = where ? where : db ? sqlite3_db_filename(db, "main") : NULL;

    return name && *name ? name : NULL;
}

/* Returns the last system error that concerns the store's file or its log. */
static int file_error(sqlite3 *db, int which)
{
    sqlite3_file *file = NULL;
    int number = 0;

    sqlite3_file_control(db, "main", which, &file);
    if (file && file->pMethods)
        file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number);
    return number;
}

/* An unknown system error: a file could not be created. */
enum { NOT_MADE = -1 };

/* Returns the system error that SQLite encountered; 0 if there is none. SQLite reports the error
 * EIO on a read as damage. */
static int error_number(sqlite3 *db, const char *opened, int code)
{
    int number = db ? sqlite3_system_errno(db) : 0;

    if (db && (code & 0xff) == SQLITE_CORRUPT)
        return file_error(db, SQLITE_FCNTL_FILE_POINTER) == EIO ||
                       file_error(db, SQLITE_FCNTL_JOURNAL_POINTER) == EIO
                   ? EIO
                   : 0;
    if ((code & 0xff) == SQLITE_IOERR && !number)
        return EIO;

    if ((code & 0xff) != SQLITE_CANTOPEN || number != ENOENT)
        return number;
    const char *where = file_name(db, opened);
    int refusal = where ? find_refusal(where) : 0;
    return refusal ? refusal : NOT_MADE;
}

/* Returns whether damage of the write-ahead log is the reason why the file cannot be opened. */
static bool is_log_damaged(sqlite3 *db, int code)
{
    bool damaged = false;

    if (db && (code & 0xff) == SQLITE_CORRUPT)
        sqlite3_file_control(db, "main", HM_SUMS_LOG_DAMAGED, &damaged);
    return damaged;
}

/* Returns whether the log is that of another file. */
static bool is_log_foreign(sqlite3 *db)
{
    bool foreign = false;

    if (db)
        sqlite3_file_control(db, "main", HM_SUMS_LOG_FOREIGN, &foreign);
    return foreign;
}

bool hm__sqlite_log_is_lost(sqlite3 *db)
{
    bool lost = false;

    if (db)
        sqlite3_file_control(db, "main", HM_SUMS_LOG_LOST, &lost);
    return lost;
}

int hm__sqlite_fail_lost(const char *what, struct hm_err *err)
{
    hm__fail(err, HM_E_IO, "cannot use the store: its %s was removed or replaced", what);
    hm__err_field(err, HM_STORE_PLACE);
    return HM_E_IO;
}

static int fail_full(struct hm_err *err)
{
    hm__fail(err, HM_E_IO, "cannot use the store: the disk is full");
    /* If the disk is full, the error code makes the HTTP server answer with status 507. */
    hm__err_field(err, HM_STORE_DISK);
    return HM_E_IO;
}

/* Returns whether the permissions of a file's folder allow writing; true if memory runs out. */
static bool is_folder_writable(const char *where)
{
    const char *slash = strrchr(where, '/');
    struct hm_text folder = {0};

    if (slash)
        hm__text_add_n(&folder, where, (size_t)(slash - where) + 1);
    bool writable = folder.failed || access(folder.data ? folder.data : ".", W_OK) == 0;
    hm__text_release(&folder);
    return writable;
}

bool hm__sqlite_is_protected(const char *where)
{
    bool writable = access(where, W_OK) == 0 && is_folder_writable(where);

    return !writable && access(where, R_OK) == 0;
}

/*
 * Reports that a new file cannot be made in the folder of the store although the permissions of the
 * folder allow it. The server may write only in the folder that had this name when it started.
 */
static int fail_forbidden(struct hm_err *err)
{
    hm__fail(err, HM_E_IO,
             "cannot use the store: the system forbids writing in its folder, although its "
             "permissions allow it");
    hm__err_hint(err, "if the folder was replaced while a server uses it, restart the server");
    return HM_E_IO;
}

/* SQLite keeps no reason for this. */
int hm__sqlite_fail_read_only(const char *where, struct hm_err *err)
{
    int number = find_refusal(where);

    if (number == ENOSPC || number == EDQUOT)
        return fail_full(err);
    if (number == EACCES && is_folder_writable(where))
        return fail_forbidden(err);
    return hm__fail(err, HM_E_IO,
                    "cannot use the store: it could be opened for reading only, although its "
                    "permissions allow writing (an error of the disk?)");
}

int hm__sqlite_fail(sqlite3 *db, const char *opened, bool read_only, int code, struct hm_err *err)
{
    const char *known = error_reason(code), *where = file_name(db, opened);
    int number = error_number(db, opened, code);

    if (is_log_foreign(db)) {
        hm__fail(err, HM_E_IO,
                 "cannot use the store: the write-ahead log next to it belongs to another file");
        hm__err_hint(err, "if the file was restored from a copy, remove FILE-wal and FILE-shm, "
                          "with the runs that were added after the copy");
        return HM_E_IO;
    }
    if (is_log_damaged(db, code)) {
        hm__fail(err, HM_E_IO,
                 "cannot use the store: its write-ahead log is damaged, and runs that were "
                 "acknowledged would be lost");
        hm__err_hint(err, "copy what can be read: howmany runs recover NEW.db");
        hm__err_field(err, HM_STORE_LOG);
        return HM_E_IO;
    }
    if ((code & 0xff) == SQLITE_IOERR && db &&
        (hm__sqlite_log_is_lost(db) || sqlite3_extended_errcode(db) == SQLITE_IOERR_SHMLOCK))
        return hm__sqlite_fail_lost("write-ahead log", err);
    if ((code & 0xff) == SQLITE_NOMEM)
        return hm__fail_nomem(err);
    if ((code & 0xff) == SQLITE_CONSTRAINT)
        return hm__fail(err, HM_E_CONFLICT, "SQLite: %.200s", sqlite3_errmsg(db));
    if ((code & 0xff) == SQLITE_TOOBIG)
        return hm__fail(err, HM_E_LIMIT, "SQLite: too large");
    if ((code & 0xff) == SQLITE_INTERRUPT && hm__budget_spent("runs"))
        return hm__budget_check("runs", err);
    if ((code & 0xff) == SQLITE_FULL || number == ENOSPC || number == EDQUOT)
        return fail_full(err);
    if ((code & 0xff) == SQLITE_READONLY && !read_only && where && !hm__sqlite_is_protected(where))
        return hm__sqlite_fail_read_only(where, err);
    if ((code & 0xff) == SQLITE_CANTOPEN && number == EACCES && where && is_folder_writable(where))
        return fail_forbidden(err);
    if (known && number != EIO)
        return fail_known(code, known, err);
    if (number && (known || (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_IOERR))
        return hm__fail(err, HM_E_IO, "cannot use the store: %s",
                        number == NOT_MADE ? "the file could not be made" : strerror(number));
    return hm__fail(err, HM_E_IO, "SQLite: %.200s", db ? sqlite3_errmsg(db) : sqlite3_errstr(code));
}
