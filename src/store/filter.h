/* Turns a filter into an SQL condition. Texts of the caller are bound as parameters and are never
 * part of the SQL. */
#ifndef HM_STORE_FILTER_H
#define HM_STORE_FILTER_H

#include "memory.h"
#include "sql.h"
#include "stored.h"
#include "text.h"

enum { HM_STORE_WHERE = 64, HM_STORE_PARAMETERS = 6 * HM_STORE_WHERE + 16 };

/* An SQL statement and its parameters, while they are written. Zero-initialise. */
struct hm_statement {
    struct hm_text sql;
    struct hm_sql_value parameters[HM_STORE_PARAMETERS];
    size_t count;
    char since[24], until[24]; /* Storage for the parameters `since` and `until`. */
};

/* Adds a parameter and returns its number, from 1. */
size_t hm__statement_bind(struct hm_statement *s, struct hm_sql_value value);
void hm__statement_release(struct hm_statement *s);

/* The way in which the database should find the runs that match a filter. */
enum hm_where {
    HM_WHERE_ANY,  /* The database chooses the index. */
    HM_WHERE_WALK, /* Runs are read in the order of the sort column's index, and each is tested. */
    /*
     * Runs are found by an index of another column than the sort column. The statement has only
     * the conditions for which there is such an index.
     */
    HM_WHERE_PROBE,
};

/*
 * Adds the conditions `where`, `since` and `until` of a filter, which may be NULL, each after " AND
 * ". The arena owns the texts of the parameters. `sort` is the column that the runs are ordered by,
 * or NULL. *ret_count is the number of conditions; ret_count may be NULL.
 */
int hm__statement_where(struct hm_statement *s, struct hm_arena *arena, const struct hm_sql *sql,
                        const struct hm_store_filter *filter, enum hm_where how,
                        const struct hm_store_column *sort, size_t *ret_count, struct hm_err *err);

#endif
