/* Makes empty stores for tests: files in a temporary folder, or schemas on the server at
 * HM_STORE_SERVER. Every test of a store runs on both kinds of stores. */
#ifndef HM_STORE_TESTING_H
#define HM_STORE_TESTING_H

#include "testing.h"

#include <ftw.h>
#include <unistd.h>

#include "howmany_store.h"
#include "sql.h"

static char store_folder[64];
static int store_number;

static inline const char *store_server(void)
{
    const char *server = getenv("HM_STORE_SERVER");
    return server && *server ? server : NULL;
}

static inline const struct hm_sql *store_sql(void)
{
    return store_server() ? &hm__postgres : &hm__sqlite;
}

#define assert_done(call)                                                                          \
    do {                                                                                           \
        struct hm_err done_err = {0};                                                              \
        struct hm_err *err = &done_err;                                                            \
        if (call)                                                                                  \
            fail_msg("line %d: %s: %s: %s", __LINE__, done_err.source, done_err.field,             \
                     done_err.message);                                                            \
    } while (0)

#define assert_refused(call, wanted, said)                                                         \
    do {                                                                                           \
        struct hm_err refused_err = {0};                                                           \
        struct hm_err *err = &refused_err;                                                         \
        int refused_rc = call;                                                                     \
        if (refused_rc != (wanted) || !strstr(refused_err.message, said))                          \
            fail_msg("line %d: %d, %s: '%s'", __LINE__, refused_rc, refused_err.field,             \
                     refused_err.message);                                                         \
    } while (0)

/* Runs statements on the database directly, without the library. */
static inline void store_behind(const char *where, const char *sql)
{
    void *connection;
    char *label;

    assert_done(store_sql()->open(where, &connection, &label, err));
    assert_done(store_sql()->exec(connection, sql, err));
    store_sql()->close(connection);
    hm_text_free(label);
}

/* Returns the address of a store that does not exist yet. */
static inline const char *fresh_where(void)
{
    static char where[1024];
    char sql[64];

    store_number++;
    if (!store_server()) {
        snprintf(where, sizeof(where), "%s/runs%d.db", store_folder, store_number);
        return where;
    }
    snprintf(sql, sizeof(sql), "CREATE SCHEMA s%d_%d", (int)getpid(), store_number);
    store_behind(store_server(), sql);
    snprintf(where, sizeof(where), "%s&options=-csearch_path%%3Ds%d_%d", store_server(),
             (int)getpid(), store_number);
    return where;
}

static inline struct hm_store *open_store(const char *where)
{
    struct hm_store *store = NULL;

    assert_done(hm_store_open(where, &store, err));
    return store;
}

static inline struct hm_store *fresh_store(void)
{
    return open_store(fresh_where());
}

static inline struct hm_stored some_run(double n, double seconds)
{
    struct hm_stored run = HM_STORED_INIT;

    run.n = n;
    run.seconds = seconds;
    return run;
}

static inline int64_t count_where(struct hm_store *store, const char *condition)
{
    struct hm_store_filter filter = {.where = &condition, .where_count = condition ? 1 : 0};
    int64_t count = -1;

    assert_done(hm_store_count(store, &filter, &count, err));
    return count;
}

static inline int make_folder(void **state)
{
    (void)state;
    const char *folder = getenv("TMPDIR");
    snprintf(store_folder, sizeof(store_folder), "%.40s/howmany-XXXXXX", folder ? folder : "/tmp");
    return mkdtemp(store_folder) ? 0 : -1;
}

static inline int remove_entry(const char *path, const struct stat *status, int kind,
                               struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static inline int remove_folder(void **state)
{
    (void)state;
    return nftw(store_folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
