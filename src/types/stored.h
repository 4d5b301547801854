/*
 * Declares the columns of a stored run in one table, which is used to check, write, read, filter
 * and sort runs.
 */
#ifndef HM_STORED_H
#define HM_STORED_H

#include "howmany_store.h"
#include "unit.h"

enum hm_store_kind { HM_STORE_ID, HM_STORE_TEXT, HM_STORE_NUMBER };

struct hm_store_column {
    /* Name of the column, which is also the name of the member of struct hm_stored. */
    const char *name;
    enum hm_store_kind kind;
    size_t offset;     /* Offset of the member in struct hm_stored. */
    struct hm_dim dim; /* Dimension of the values, if the column holds numbers. */
    double min;
    bool above; /* True if values must be above `min`; false if `min` itself is allowed. */
    bool whole;
    bool label; /* True if tables of runs also have this column. */
};

enum { HM_STORE_COLUMNS = 25 };

/* The table of columns; the first column is `id`, and the last is `more`. */
extern const struct hm_store_column hm__store_columns[HM_STORE_COLUMNS];

/* Returns the column called `name`; NULL if there is none. */
const struct hm_store_column *hm__store_column_find(const char *name);
/*
 * Returns the name of column `i`; NULL after the last column. The function is passed to
 * hm__suggest.
 */
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

/*
 * Returns whether the status of a run means success, which is the case for NULL and "". Tables of
 * runs use the same rule.
 */
bool hm__stored_is_ok(const char *status);

#endif
