/* Declares an open store, and functions that several source files of the store share. */
#ifndef HM_STORE_H
#define HM_STORE_H

#include "check.h"
#include "sql.h"
#include "text.h"

enum {
    /* Number of INSERT statements for a group of runs: one for each power of 2 of runs. */
    HM_GROUP_STATEMENTS = 5,
    HM_GROUP_RUNS = 1 << (HM_GROUP_STATEMENTS - 1),
};

struct hm_store {
    const struct hm_sql *sql;
    void *connection;
    char *label; /* Name of the store, as used in messages; owned. */
    /*
     * Number of runs that have not been added to the indexes yet, according to this connection; -1
     * if not counted yet.
     */
    int64_t waiting;
    /*
     * INSERT statements for one run and for several runs (see store_add.c); empty until they are
     * needed.
     */
    struct hm_text insert_one, insert_many;
    struct hm_text insert_group[HM_GROUP_STATEMENTS]; /* Statements of store_group.c. */
};

/* The current version of the database schema; schema.c has the steps of the migration. */
enum { HM_STORE_VERSION = 2 };

/*
 * Opens a store for reading whose write-ahead log or version is damaged, so that hm_store_open
 * refuses it. The store has what can be read of all transactions or, if `before` is true, all
 * transactions before the damage.
 */
int hm__store_open_damaged(const char *where, bool before, struct hm_store **ret_store,
                           struct hm_err *err);

/*
 * Returns whether a store exists at an address. True is returned if only opening it can tell: for a
 * database server, and in a build without the database.
 */
bool hm__store_exists(const char *where);
/*
 * Returns whether two addresses are equal or, for files, lead to the same file, such as through a
 * link or another spelling of the path.
 */
bool hm__store_is_same(const char *one, const char *two);

/* Migrates the schema to HM_STORE_VERSION. */
int hm__store_migrate(struct hm_store *store, struct hm_err *err);
/*
 * Checks that a damaged store, which cannot be written, has the version HM_STORE_VERSION. It is no
 * error if the version cannot be read.
 */
int hm__store_check_version(struct hm_store *store, struct hm_err *err);

/*
 * Drops or creates the indexes of the columns by which runs can be sorted, inside a transaction. If
 * `keys` is true, the index of the keys is included.
 */
int hm__store_drop_indexes(struct hm_store *store, bool keys, struct hm_err *err);
int hm__store_create_indexes(struct hm_store *store, bool keys, struct hm_err *err);

enum { HM_STORE_WAITING = 1024 };

/*
 * SQL conditions that select the runs in the indexes, and the runs that wait to be added to the
 * indexes. The database uses an index only if a query contains the first condition.
 */
#define HM_RUNS_PLACED "waiting IS NULL"
#define HM_RUNS_WAITING "waiting = 1"

/*
 * Adds the waiting runs to the indexes if there are at least HM_STORE_WAITING, and at most 20,000
 * of them; `added` is the number of runs that were committed since the last call. Errors are not
 * reported: if the function fails, the next call adds the runs.
 */
void hm__store_place(struct hm_store *store, size_t added);
/*
 * Returns whether rebuilding the indexes from all `runs` takes less time than adding `added` of the
 * runs to them.
 */
bool hm__store_is_rebuild_faster(int64_t added, int64_t runs);
/* Marks all waiting runs as runs that are in the indexes, inside a transaction. */
int hm__store_place_waiting(struct hm_store *store, struct hm_err *err);
/*
 * Adds all waiting runs to the indexes, inside a transaction. If `rebuild` is true, the indexes are
 * rebuilt from all runs, which is faster if most runs are waiting.
 */
int hm__store_place_all(struct hm_store *store, bool rebuild, struct hm_err *err);

/* Adds batches like hm_store_add_batches, but inside a transaction that the caller has begun. */
int hm__store_add_begun(struct hm_store *store, struct hm_store_batch *batches, size_t count,
                        struct hm_err *err);

/* A run that has an id but has not been inserted yet. */
struct hm_group_run {
    int64_t id;
    struct hm_sql_value *cells; /* Values of the run, followed by their strings; owned. */
};

/*
 * A transaction to which many callers add a few runs each. Several runs are inserted by one
 * statement; until then, they are stored here with their ids.
 */
struct hm_store_group {
    struct hm_store *store;
    struct hm_group_run waiting[HM_GROUP_RUNS];
    size_t count;
    int64_t last_id; /* The largest id that any run has had; -1 if not known. */
    size_t added;    /* Number of new runs. */
    size_t runs;     /* Number of all runs. */
    /* Time at which the transaction began; it is stored for runs without a time. */
    char now[HM_STORE_TIME];
};

/* Begins a transaction; hm__store_group_end must follow unless this function fails. */
int hm__store_group_begin(struct hm_store_group *group, struct hm_store *store, struct hm_err *err);
/* Adds a batch like hm_store_add_batches. The caller must end the transaction after an error. */
int hm__store_group_add(struct hm_store_group *group, struct hm_store_batch *batch,
                        struct hm_err *err);
/*
 * Commits the transaction if `rc` is 0, and rolls it back otherwise. Returns `rc` or the error of
 * the commit. The runs are on disk only after this function has returned 0. The caller must later
 * call hm__store_place with the number of runs.
 */
int hm__store_group_end(struct hm_store_group *group, int rc, struct hm_err *err);

/* Runs statements like the functions `exec` and `query` in sql.h; error messages name the store. */
int hm__store_exec(struct hm_store *store, const char *sql, struct hm_err *err);
int hm__store_query(struct hm_store *store, const char *sql, const struct hm_sql_value *parameters,
                    size_t count, hm_sql_row *row, void *context, int64_t *ret_changed,
                    struct hm_err *err);
/*
 * Returns whether an error means that the store was not written but can still be read, because the
 * disk is full, another program holds a lock, or the store may not be written.
 */
bool hm__store_refuses_writes(const struct hm_err *err);
/*
 * Returns whether an error of reading concerns only what was read, as damage of a page does, so
 * that other parts of the store may be readable.
 */
bool hm__store_is_partly_unreadable(const struct hm_err *err);
/* Returns whether the connection, which runs no statement, can still be used. */
bool hm__store_is_usable(const struct hm_store *store);

/*
 * Runs a query that returns at most one row, and stores the number from this row in *ret_number;
 * without a row, *ret_number is unchanged.
 */
int hm__store_number(struct hm_store *store, const char *sql, const struct hm_sql_value *parameters,
                     size_t count, int64_t *ret_number, struct hm_err *err);

/*
 * Commits the transaction if `rc` is 0, and rolls it back otherwise. Returns `rc` or the error of
 * the commit.
 */
int hm__store_end(struct hm_store *store, int rc, struct hm_err *err);

/*
 * Checks the store for damage; returns HM_E_IO if there is any. If `quick` is true, checksums are
 * enough if the store has them; otherwise, indexes and samples are not compared with the runs, and
 * *ret_runs is not set. If `quick` is false, *ret_runs is the number of runs.
 */
int hm__store_verify(struct hm_store *store, bool quick, int64_t *ret_runs, struct hm_err *err);
/* Returns whether changes of single bytes are found, because the pages have checksums. */
bool hm__store_has_sums(const struct hm_store *store);
/*
 * Gives all pages of an older store checksums, in one transaction, and opens the store again. Fails
 * if another program uses the store. After an error, the store may be closed, and can only be
 * released.
 */
int hm__store_add_sums(struct hm_store *store, struct hm_err *err);
/* Finds the run that has this key; *ret_id is unchanged if there is none. */
int hm__store_find_key(struct hm_store *store, const char *key, int64_t *ret_id,
                       struct hm_err *err);
/* Finds the largest id of a run; *ret_id is unchanged if there is no run. */
int hm__store_largest_id(struct hm_store *store, int64_t *ret_id, struct hm_err *err);

/*
 * A function that is called for each run. The strings of the run are valid only during the call. A
 * result other than 0 stops the query, which returns that code.
 */
typedef int hm_store_visit(void *context, const struct hm_stored *run, struct hm_err *err);

/*
 * Calls a function for each run that matches a filter, inside a transaction that the caller has
 * begun; filter->samples is ignored. If `with_samples` is true, only runs with samples are visited.
 */
int hm__store_each(struct hm_store *store, const struct hm_store_filter *filter, bool with_samples,
                   hm_store_visit *visit, void *context, struct hm_err *err);

#endif
