/*
 * Converts a filter of runs to an SQL condition. Strings from the caller are bound as parameters
 * and are never part of the SQL.
 */
#ifndef HM_STORE_FILTER_H
#define HM_STORE_FILTER_H

#include "memory.h"
#include "sql.h"
#include "stored.h"
#include "text.h"

enum { HM_STORE_WHERE = 64, HM_STORE_PARAMETERS = 6 * HM_STORE_WHERE + 16 };

/* An SQL statement that is being written, and its parameters. Zero-initialise it. */
struct hm_statement {
    struct hm_text sql;
    struct hm_sql_value parameters[HM_STORE_PARAMETERS];
    size_t count;
};

/* Adds a parameter and returns its number; the first parameter has the number 1. */
size_t hm__statement_bind(struct hm_statement *s, struct hm_sql_value value);
void hm__statement_release(struct hm_statement *s);

/* A condition that runs must meet: on a column, or on a key of the JSON object `more` of a run. */
struct hm_condition {
    const struct hm_store_column *column; /* NULL for a key of `more`. */
    const char *op;                       /* =, !=, <, <=, > or >=. */
    /*
     * The value to compare with. For a key of `more`, it is a number, or NULL if the key is
     * compared as a string.
     */
    struct hm_sql_value value;
    const char *key, *text; /* Key of `more` and the value as it was written. */
};

struct hm_conditions {
    struct hm_condition *items;
    size_t count;
};

/*
 * Reads the conditions `where`, `since` and `until` of a filter, which may be NULL. The arena owns
 * the list and its strings.
 */
int hm__conditions_read(struct hm_arena *arena, const struct hm_store_filter *filter,
                        struct hm_conditions *ret_conditions, struct hm_err *err);
/*
 * Adds a condition to the statement, after " AND ". `plain` is written before the name of a column:
 * "", or a prefix that prevents the database from using the column's index.
 */
void hm__statement_condition(struct hm_statement *s, const struct hm_sql *sql,
                             const struct hm_condition *condition, const char *plain);
/*
 * Adds all conditions to the statement. `sort` is the column in whose order the database should
 * read runs, testing each of them; if it is NULL, the database chooses an index itself.
 */
void hm__statement_where(struct hm_statement *s, const struct hm_sql *sql,
                         const struct hm_conditions *conditions,
                         const struct hm_store_column *sort);

#endif
