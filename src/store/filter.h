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
    char since[24], until[24]; /* Buffers for the values of the parameters `since` and `until`. */
};

/* Adds a parameter and returns its number; the first parameter has the number 1. */
size_t hm__statement_bind(struct hm_statement *s, struct hm_sql_value value);
void hm__statement_release(struct hm_statement *s);

/* How the database should find the runs that match a filter. */
enum hm_where {
    HM_WHERE_ANY, /* The database itself chooses an index. */
    /*
     * The database reads runs in the order of the sort column's index, and tests each run against
     * the conditions.
     */
    HM_WHERE_WALK,
    /*
     * The database finds runs by the index of a column other than the sort column. The statement
     * contains only conditions for which there is such an index.
     */
    HM_WHERE_PROBE,
};

/*
 * Adds the conditions `where`, `since` and `until` of a filter (NULL for no conditions) to the
 * statement, each after " AND ". The arena owns the strings of the parameters. `sort` is the column
 * by which the runs are ordered, or NULL. *ret_count is set to the number of conditions, unless
 * `ret_count` is NULL.
 */
int hm__statement_where(struct hm_statement *s, struct hm_arena *arena, const struct hm_sql *sql,
                        const struct hm_store_filter *filter, enum hm_where how,
                        const struct hm_store_column *sort, size_t *ret_count, struct hm_err *err);

#endif
