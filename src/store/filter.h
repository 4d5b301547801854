/* From a filter to a condition of SQL. Whatever a caller wrote is bound, never part of the text. */
#ifndef HM_STORE_FILTER_H
#define HM_STORE_FILTER_H

#include "memory.h"
#include "sql.h"
#include "stored.h"
#include "text.h"

enum { HM_STORE_WHERE = 64, HM_STORE_PARAMETERS = 3 * HM_STORE_WHERE + 8 };

/* A statement that is being made. Zero-initialise. */
struct hm_statement {
    struct hm_text sql;
    struct hm_sql_value parameters[HM_STORE_PARAMETERS];
    size_t count;
    char since[24], until[24]; /* behind parameters */
};

/* Add a parameter, and return its number. */
size_t hm__statement_bind(struct hm_statement *s, struct hm_sql_value value);
void hm__statement_release(struct hm_statement *s);

/* How a condition is to be looked up. */
enum hm_where {
    HM_WHERE_ANY,   /* as the database likes */
    HM_WHERE_WALK,  /* along the index of the sort column, looking at each run */
    HM_WHERE_PROBE, /* only the conditions that an index other than that of the sort column knows */
};

/*
 * Add " WHERE …" with the conditions of where, since and until; filter may be NULL. The arena keeps
 * what parameters point to. sort: the column that has the order; NULL where there is none.
 * *ret_count, the number of conditions, may be NULL.
 */
int hm__statement_where(struct hm_statement *s, struct hm_arena *arena, const struct hm_sql *sql,
                        const struct hm_store_filter *filter, enum hm_where how,
                        const struct hm_store_column *sort, size_t *ret_count, struct hm_err *err);

#endif
