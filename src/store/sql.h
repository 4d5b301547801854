/*
 * A database, as a table of functions: SQLite (sqlite.c), PostgreSQL (postgres.c), or the message
 * that a build has none of it. SQL is that which both know; parameters are $1, $2, … in both. What
 * they spell differently stands in the table as text.
 */
#ifndef HM_SQL_H
#define HM_SQL_H

#include "howmany_store.h"

enum hm_sql_kind { HM_SQL_NULL, HM_SQL_INTEGER, HM_SQL_REAL, HM_SQL_TEXT };

/* A parameter, or a cell of a row. A NULL parameter has the kind it would have had. */
struct hm_sql_value {
    enum hm_sql_kind kind;
    bool null;
    int64_t integer;
    double real;
    const char *text; /* borrowed, UTF-8, ends in NUL */
};

/* Called with each row, whose texts live as long as the call; not 0: no more, and that is the code.
 */
typedef int hm_sql_row(void *context, const struct hm_sql_value *cells, size_t count,
                       struct hm_err *err);

struct hm_sql {
    /* *ret_label: what messages call it, without a password; to be freed with hm__free. */
    int (*open)(const char *where, void **ret_connection, char **ret_label, struct hm_err *err);
    void (*close)(void *connection);
    /* Statements without parameters and without rows. */
    int (*exec)(void *connection, const char *sql, struct hm_err *err);
    /* One statement. row may be NULL; *ret_changed, the rows it changed, too. */
    int (*query)(void *connection, const char *sql, const struct hm_sql_value *parameters,
                 size_t count, hm_sql_row *row, void *context, int64_t *ret_changed,
                 struct hm_err *err);

    const char *begin_write; /* begins a transaction that no other writer is in */
    const char *begin_read;  /* begins one that sees one state */
    const char *has_meta;    /* a query whose row is 1 if there is a table meta, 0 if not */
    const char *id_type;     /* of a column that numbers rows, never the same twice */
    const char *text_type;   /* compared byte by byte */
    const char *packed;      /* behind a table that is found by its primary key alone */
    const char *index_id;    /* what an index needs to be in the order of ids as well */
    const char *plain;       /* before a column: not to be looked up in an index */
    const char *more_number; /* a condition on a key of `more`; {key} {op} {number} {text} */
    const char *more_text;   /* where the value is no number; {key} {op} {text} */
};

extern const struct hm_sql hm__sqlite, hm__postgres;

static inline struct hm_sql_value hm__sql_integer(int64_t value)
{
    return (struct hm_sql_value){.kind = HM_SQL_INTEGER, .integer = value};
}

/* NaN becomes NULL, and -0 becomes 0: SQLite knows none. */
static inline struct hm_sql_value hm__sql_real(double value)
{
    return (struct hm_sql_value){.kind = HM_SQL_REAL, .null = value != value, .real = value + 0.0};
}

static inline struct hm_sql_value hm__sql_text(const char *text)
{
    return (struct hm_sql_value){.kind = HM_SQL_TEXT, .null = !text, .text = text};
}

#endif
