/* The columns of a run: one table for checking, writing, reading, filtering and sorting. */
#ifndef HM_STORED_H
#define HM_STORED_H

#include "howmany_store.h"
#include "unit.h"

enum hm_store_kind { HM_STORE_ID, HM_STORE_TEXT, HM_STORE_NUMBER };

struct hm_store_column {
    const char *name; /* field = column */
    enum hm_store_kind kind;
    size_t offset;     /* in struct hm_stored */
    struct hm_dim dim; /* numbers */
    double min;
    bool above; /* more than min */
    bool whole;
    bool label; /* it describes the run: a column of tables of runs too */
};

enum { HM_STORE_COLUMNS = 25 };

/* id first, `more` last. */
extern const struct hm_store_column hm__store_columns[HM_STORE_COLUMNS];

/* The column of that name, or NULL. */
const struct hm_store_column *hm__store_column_find(const char *name);
/* The i-th name, NULL after the last: for suggestions. */
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

/* Whether a status says that all went well; NULL does. As tables of runs have it. */
bool hm__stored_is_ok(const char *status);

#endif
