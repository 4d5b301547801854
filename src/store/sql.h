/*
 * Defines the interface of a database as a table of functions: SQLite (sqlite.c), PostgreSQL
 * (postgres.c), or an error in a build without them. Statements are written in the SQL that both
 * understand; parameters are $1, $2, … in both. The SQL texts that differ are members of the table.
 */
#ifndef HM_SQL_H
#define HM_SQL_H

#include "howmany_store.h"

enum hm_sql_kind { HM_SQL_NULL, HM_SQL_INTEGER, HM_SQL_REAL, HM_SQL_TEXT };

/* A parameter of a statement, or a cell of a row. `kind` is set even if `null` is true. */
struct hm_sql_value {
    enum hm_sql_kind kind;
    bool null;
    int64_t integer;
    double real;
    const char *text; /* Text of the value; borrowed, UTF-8, ends with NUL. */
};

/* A function that is called with each row. The texts of the row are valid only during the call. A
 * result other than 0 stops the query, which returns that code. */
typedef int hm_sql_row(void *context, const struct hm_sql_value *cells, size_t count,
                       struct hm_err *err);

struct hm_sql {
    /* Opens the store at `where`. *ret_label is its name in messages, without a password; it is
     * freed with hm__free. */
    int (*open)(const char *where, void **ret_connection, char **ret_label, struct hm_err *err);
    void (*close)(void *connection);
    /* Runs statements without parameters; rows are ignored. */
    int (*exec)(void *connection, const char *sql, struct hm_err *err);
    /* Runs one statement. *ret_changed is the number of rows that it changed; row and ret_changed
     * may be NULL. */
    int (*query)(void *connection, const char *sql, const struct hm_sql_value *parameters,
                 size_t count, hm_sql_row *row, void *context, int64_t *ret_changed,
                 struct hm_err *err);

    /*
     * Queries that look for damage and return the text "ok" or a list of errors; NULL if the
     * database has none.
     */
    const char *verify, *verify_quick;
    const char *begin_write; /* Statement that begins a transaction and excludes other writers. */
    /* Statement that begins a transaction in which all queries see the same state of the data. */
    const char *begin_read;
    /* A query that returns the largest id that a run has had; no row: no run was added yet. NULL if
     * ids cannot be chosen by the program. */
    const char *last_id;
    const char *has_meta;  /* A query that returns 1 if the table meta exists, and 0 otherwise. */
    const char *id_type;   /* SQL type of the id of a row; an id is never reused. */
    const char *text_type; /* SQL type of a text column that is compared byte by byte. */
    /* Clause at the end of the definition of a table whose rows are found only by their key. */
    const char *packed;
    /* Text that follows the columns of an index, so that equal values are ordered by id. */
    const char *index_id;
    /* Prefix of a column name that prevents the use of the column's index; "" if not needed. */
    const char *plain;
    /* Condition that compares a key of `more` with a number; contains {key}, {op}, {number} and
     * {text}. */
    const char *more_number;
    /* Condition that compares a key of `more` with a text; contains {key}, {op} and {text}. */
    const char *more_text;
};

extern const struct hm_sql hm__sqlite, hm__postgres;

static inline struct hm_sql_value hm__sql_integer(int64_t value)
{
    return (struct hm_sql_value){.kind = HM_SQL_INTEGER, .integer = value};
}

/* Converts a number to a value for SQL. NaN becomes NULL, and -0 becomes 0, because SQLite does not
 * store -0. */
static inline struct hm_sql_value hm__sql_real(double value)
{
    return (struct hm_sql_value){.kind = HM_SQL_REAL, .null = value != value, .real = value + 0.0};
}

static inline struct hm_sql_value hm__sql_text(const char *text)
{
    return (struct hm_sql_value){.kind = HM_SQL_TEXT, .null = !text, .text = text};
}

#endif
