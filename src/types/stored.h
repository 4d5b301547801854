/*
 * Declares the columns of a stored run in one table, which the check, the writer, the reader,
 * filters and sorting use.
 */
#ifndef HM_STORED_H
#define HM_STORED_H

#include "howmany_store.h"
#include "unit.h"

enum hm_store_kind { HM_STORE_ID, HM_STORE_TEXT, HM_STORE_NUMBER };

struct hm_store_column {
    const char *name; /* Name of the column, and of the field of struct hm_stored. */
    enum hm_store_kind kind;
    size_t offset;     /* Offset of the field in struct hm_stored. */
    struct hm_dim dim; /* Dimension of the unit, if the column holds numbers. */
    double min;
    bool above; /* True if the value must be greater than min; otherwise min itself is allowed. */
    bool whole;
    bool label; /* True if the column is also part of tables of runs. */
};

enum { HM_STORE_COLUMNS = 25 };

/* The table of columns; the first one is `id`, the last one is `more`. */
extern const struct hm_store_column hm__store_columns[HM_STORE_COLUMNS];

/* Returns the column of that name, or NULL. */
const struct hm_store_column *hm__store_column_find(const char *name);
/* Returns the name of column i, or NULL after the last column; a callback for hm__suggest. */
const char *hm__store_column_name(const void *unused, size_t i);

static inline const char **hm__stored_text(const struct hm_store_column *c, struct hm_stored *run)
{
    return (const char **)(void *)((char *)run + c->offset);
}

static inline double *hm__stored_number(const struct hm_store_column *c, struct hm_stored *run)
{
    return (double *)(void *)((char *)run + c->offset);
}

static inline const char *hm__stored_get_text(const struct hm_store_column *c,
                                              const struct hm_stored *run)
{
    return *(const char *const *)(const void *)((const char *)run + c->offset);
}

static inline double hm__stored_get_number(const struct hm_store_column *c,
                                           const struct hm_stored *run)
{
    return *(const double *)(const void *)((const char *)run + c->offset);
}

/* Whether a status means success, as NULL and "" do. Tables of runs use the same rule. */
bool hm__stored_is_ok(const char *status);

#endif
