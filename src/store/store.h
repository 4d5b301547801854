/* A store while it is open. */
#ifndef HM_STORE_H
#define HM_STORE_H

#include "sql.h"

struct hm_store {
    const struct hm_sql *sql;
    void *connection;
    char *label; /* of messages; owned */
};

/* The version that this program writes; the steps that lead there are in schema.c. */
enum { HM_STORE_VERSION = 1 };

/* Bring the schema up to date. */
int hm__store_migrate(struct hm_store *store, struct hm_err *err);

/* Run a statement; errors name the store. */
int hm__store_exec(struct hm_store *store, const char *sql, struct hm_err *err);
int hm__store_query(struct hm_store *store, const char *sql, const struct hm_sql_value *parameters,
                    size_t count, hm_sql_row *row, void *context, int64_t *ret_changed,
                    struct hm_err *err);
/* The number in the only row of a query. */
int hm__store_number(struct hm_store *store, const char *sql, const struct hm_sql_value *parameters,
                     size_t count, int64_t *ret_number, struct hm_err *err);

/* End a transaction: it is kept if rc is 0, else undone. Returns rc, or why it could not be kept.
 */
int hm__store_end(struct hm_store *store, int rc, struct hm_err *err);

/* Called with each run; its texts live as long as the call. Not 0: no more, and that is the code.
 */
typedef int hm_store_take(void *context, const struct hm_stored *run, struct hm_err *err);

/* Go through the runs of a filter, within a transaction of the caller's; `samples` is not looked
 * at. */
int hm__store_each(struct hm_store *store, const struct hm_store_filter *filter, bool with_samples,
                   hm_store_take *take, void *context, struct hm_err *err);

#endif
