/*
 * Defines the interface of a database as a table of functions: SQLite (sqlite.c), PostgreSQL
 * (postgres.c), or an error in a build without them. Statements use only SQL that both databases
 * understand, with parameters $1, $2, and so on. SQL that must differ between the databases is
 * stored in members of the table.
 */
#ifndef HM_SQL_H
#define HM_SQL_H

#include <limits.h>

#include "howmany_store.h"

enum { HM_SQL_STOP = INT_MAX };

enum hm_sql_kind { HM_SQL_NULL, HM_SQL_INTEGER, HM_SQL_REAL, HM_SQL_TEXT };

/* A parameter of a statement, or a cell of a result row. `kind` is set even if `null` is true. */
struct hm_sql_value {
    enum hm_sql_kind kind;
    bool null;
    int64_t integer;
    double real;
    const char *text; /* The value if it is a string: UTF-8, terminated by NUL, borrowed. */
};

/*
 * A function that is called for each row of a result. The strings of the row are valid only during
 * the call. A result other than 0 stops the query, which returns that code: an error, or
 * HM_SQL_STOP if the caller needs no further rows.
 */
typedef int hm_sql_row(void *context, const struct hm_sql_value *cells, size_t count,
                       struct hm_err *err);

/* Field of the error of a store whose write-ahead log is damaged. */
#define HM_STORE_LOG "log"
/*
 * Fields of errors (HM_E_IO) of stores that can still be read: the disk is full, another program
 * holds the lock of writers, or the store may not be written.
 */
#define HM_STORE_DISK "disk"
#define HM_STORE_LOCK "lock"
#define HM_STORE_READ_ONLY "read_only"
/* Field of errors (HM_E_IO) of stores whose file or log was removed or replaced while it was used.
 */
#define HM_STORE_PLACE "place"

struct hm_sql {
    /*
     * Opens the store at the address `where`. *ret_label is the name of the store that messages
     * use, without a password; free it with hm__free.
     */
    int (*open)(const char *where, void **ret_connection, char **ret_label, struct hm_err *err);
    /* Returns whether there may be a store at an address; NULL if only opening it tells. */
    bool (*exists)(const char *where);
    /*
     * Opens a store for reading whose write-ahead log is damaged: with what can be read of all
     * transactions or, if `before` is true, with the transactions before the damage. Fails if the
     * log is not damaged. NULL if the database has no such log.
     */
    int (*open_damaged)(const char *where, bool before, void **ret_connection, char **ret_label,
                        struct hm_err *err);
    void (*close)(void *connection);
    /* Returns whether a connection that runs no statement can be used; NULL if it always can. */
    bool (*usable)(void *connection);
    /* Runs statements without parameters; any result rows are ignored. */
    int (*exec)(void *connection, const char *sql, struct hm_err *err);
    /*
     * Runs one statement and calls `row` for each result row. *ret_changed is the number of rows
     * that the statement changed. `row` and `ret_changed` may be NULL.
     */
    int (*query)(void *connection, const char *sql, const struct hm_sql_value *parameters,
                 size_t count, hm_sql_row *row, void *context, int64_t *ret_changed,
                 struct hm_err *err);
    /*
     * Returns the id of the last run that a statement without RETURNING has inserted. If the
     * statement has inserted all its runs, their ids are consecutive. The pointer is NULL if only
     * RETURNING gives the ids.
     */
    int64_t (*last_insert)(void *connection);

    /* Returns whether the pages have checksums; NULL if the database takes care of them itself. */
    bool (*has_sums)(void *connection);
    /* Gives all pages of the store checksums. No connection to the store may be open. */
    int (*add_sums)(const char *where, struct hm_err *err);

    /*
     * Queries that check the database for damage and return "ok" or a list of errors; NULL if the
     * database has no such query.
     */
    const char *verify, *verify_quick;
    /*
     * Compares the checksums of the whole database, in the order of the file, which is many times
     * faster than these queries if the file is not in memory. *ret_sound is true if the database
     * has checksums and all are right. NULL if the database has no checksums of its own.
     */
    int (*scan)(void *connection, bool *ret_sound, struct hm_err *err);
    /* True if a server keeps the data, so that other programs may read while this one writes, and
     * may have locks for any time. */
    bool remote;
    /*
     * First words of a statement that inserts several rows. An error in such a statement may end
     * the transaction, so that the database need not be able to undo the statement alone.
     */
    const char *insert;
    /* Statements before and after indexes are built from many runs; NULL if the database needs
     * none. */
    const char *begin_sorting, *end_sorting;
    const char *begin_write; /* Statement that begins a transaction and excludes other writers. */
    /*
     * Statement that begins such a transaction for work that can be done later: on a database
     * server, it does not wait long for locks of other programs.
     */
    const char *begin_place;
    /*
     * Statement that begins a transaction in which all queries see the same snapshot of the data.
     */
    const char *begin_read;
    /*
     * Query that returns the largest id that any run has had, or no row if no run was ever added.
     * NULL if the database does not let the program choose ids.
     */
    const char *last_id;
    const char *has_meta; /* Query that returns 1 if the table `meta` exists, and 0 otherwise. */
    /* SQL type of a row's id; an id is never reused, even after its row has been deleted. */
    const char *id_type;
    const char *text_type; /* SQL type of a string column that is compared byte by byte. */
    /* SQL clause that makes a table smaller if its rows are found only by their key. */
    const char *packed;
    /* SQL that follows the columns of an index, so that the index orders equal values by id. */
    const char *index_id;
    /*
     * Prefix for the name of a column that prevents the database from using the column's index; ""
     * if not needed.
     */
    const char *plain;
    /*
     * SQL that follows "FROM runs" and selects the runs whose ids are in the JSON array $1, without
     * using another index. NULL if the database chooses well between indexes, so that pages are
     * found by one query.
     */
    const char *by_ids;
    /*
     * Template of a condition that compares a key of the JSON object `more` of a run with a number;
     * it contains {key}, {op}, {number} and {text}.
     */
    const char *more_number;
    /*
     * Template of a condition that compares a key of the JSON object `more` of a run with a string;
     * it contains {key}, {op} and {text}.
     */
    const char *more_text;
};

extern const struct hm_sql hm__sqlite, hm__postgres;

/*
 * Switches off SQLite's statistics of its memory, which take a lock at every allocation. Only a
 * program that uses SQLite for nothing else may call this function, before its first store is
 * opened; later calls do nothing.
 */
void hm__sqlite_configure(void);

static inline struct hm_sql_value hm__sql_integer(int64_t value)
{
    return (struct hm_sql_value){.kind = HM_SQL_INTEGER, .integer = value};
}

/*
 * Converts a number to an SQL value. NaN becomes NULL, and -0 becomes 0, because SQLite does not
 * store -0.
 */
static inline struct hm_sql_value hm__sql_real(double value)
{
    return (struct hm_sql_value){.kind = HM_SQL_REAL, .null = value != value, .real = value + 0.0};
}

static inline struct hm_sql_value hm__sql_text(const char *text)
{
    return (struct hm_sql_value){.kind = HM_SQL_TEXT, .null = !text, .text = text};
}

#endif
