/*
 * Tests a store whose write-ahead log is removed while programs use it: nothing is acknowledged
 * that would be lost, runs that were acknowledged before are copied into the file, and what another
 * program wrote in the meantime is not overwritten. A log has the id of its store, which is set
 * once.
 */
#include "store_testing.h"

#include <pthread.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "store.h"

static void remove_next_to(const char *where, const char *ending)
{
    char name[1100];

    snprintf(name, sizeof(name), "%s%s", where, ending);
    assert_int_equal(unlink(name), 0);
}

static void add_runs(struct hm_store *store, int first, int count)
{
    for (int i = 0; i < count; i++) {
        struct hm_stored run = some_run(first + i, 1.5);
        assert_done(hm_store_add(store, &run, 1, NULL, NULL, err));
    }
}

static void add_is_refused(struct hm_store *store)
{
    struct hm_stored run = some_run(100, 1);

    assert_refused(hm_store_add(store, &run, 1, NULL, NULL, err), HM_E_IO,
                   "write-ahead log was removed or replaced");
}

/* Checks that a sound store has runs on `first` to `last` workers, once each. */
static void has_runs(const char *where, int first, int last)
{
    struct hm_store *store = open_store(where);
    struct hm_store_page *page = NULL;
    struct hm_store_filter filter = {.sort = "n"};
    int64_t verified = 0;

    assert_done(hm__store_verify(store, false, &verified, err));
    assert_done(hm_store_list(store, &filter, &page, err));
    assert_int_equal(verified, last - first + 1);
    assert_int_equal(page->count, last - first + 1);
    for (size_t i = 0; i < page->count; i++)
        assert_true(page->runs[i].n == first + (double)i);
    hm_store_page_free(page);
    hm_store_close(store);
}

/* Copies the file alone, as it would be found if the program were killed now. */
static void copy_file(const char *where, char to[1100])
{
    static char bytes[1 << 20];

    snprintf(to, 1100, "%s-killed", where);
    FILE *from = fopen(where, "rb"), *file = fopen(to, "wb");
    assert_true(from && file);
    size_t size = fread(bytes, 1, sizeof(bytes), from);
    assert_true(size > 0 && size < sizeof(bytes));
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(from);
    assert_int_equal(fclose(file), 0);
}

static void runs_of_a_removed_log_are_kept(void **state)
{
    static const char *const removed[][2] = {{"-wal", NULL}, {"-wal", "-shm"}};
    char killed[1100];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const char *where = fresh_where();
        struct hm_store *store = open_store(where);
        add_runs(store, 1, 3);
        for (size_t k = 0; k < 2 && removed[i][k]; k++)
            remove_next_to(where, removed[i][k]);
        add_is_refused(store);
        copy_file(where, killed);
        has_runs(killed, 1, 3);
        add_is_refused(store);
        hm_store_close(store);
        has_runs(where, 1, 3);
        store = open_store(where);
        add_runs(store, 4, 1);
        hm_store_close(store);
        has_runs(where, 1, 4);
    }
}

/* A program that only reads makes an empty log in the place of the one that was removed. */
static void another_reader(void **state)
{
    const char *where = fresh_where();
    struct hm_store *store = open_store(where), *reader = NULL;
    struct hm_store_page *page = NULL;

    (void)state;
    add_runs(store, 1, 3);
    remove_next_to(where, "-wal");
    if (hm_store_open(where, &reader, NULL) == 0) {
        struct hm_stored run = some_run(100, 1);
        if (hm_store_list(reader, NULL, &page, NULL) == 0)
            assert_int_equal(page->count, 3);
        assert_true(hm_store_add(reader, &run, 1, NULL, NULL, NULL) != 0);
    }
    add_is_refused(store);
    hm_store_page_free(page);
    hm_store_close(reader);
    hm_store_close(store);
    has_runs(where, 1, 3);
}

/* Another program, which adds two runs when it may. With `stays`, it closes the
 * store only when it may again. */
static void write_elsewhere(const char *where, int go, int report, bool stays)
{
    struct hm_stored runs[] = {some_run(11, 1), some_run(12, 1)};
    struct hm_store *store = NULL;
    char byte;

    if (read(go, &byte, 1) != 1 || hm_store_open(where, &store, NULL) ||
        hm_store_add(store, runs, 2, NULL, NULL, NULL))
        _exit(1);
    if (!stays)
        hm_store_close(store);
    if (write(report, "x", 1) != 1)
        _exit(1);
    if (stays && read(go, &byte, 1) == 1)
        hm_store_close(store);
    _exit(0);
}

/* Runs that another program stored after the log and its index were removed must stay. The runs of
 * the removed log are lost then. */
static void another_writer(void **state)
{
    (void)state;
    for (int stays = 0; stays < 2; stays++) {
        const char *where = fresh_where();
        int go[2], report[2], status = 1;
        char byte = 0;

        hm_store_close(open_store(where)); /* The tables are in the file. */
        assert_int_equal(pipe(go) + pipe(report), 0);
        /* SQLite must not be used across a fork, so the child is made before the store is opened.
         */
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            write_elsewhere(where, go[0], report[1], stays);
        struct hm_store *store = open_store(where);
        add_runs(store, 1, 3);
        remove_next_to(where, "-wal");
        remove_next_to(where, "-shm");
        assert_int_equal(write(go[1], "x", 1), 1);
        assert_int_equal(read(report[0], &byte, 1), 1);
        add_is_refused(store);
        hm_store_close(store);
        assert_int_equal(write(go[1], "x", 1), 1);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        has_runs(where, 11, 12);
    }
}

/* Opens the file with SQLite alone and begins to read it, so that the log cannot be emptied. */
static sqlite3 *begin_reading(const char *where)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(where, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN; SELECT count(*) FROM runs", NULL, NULL, NULL),
                     SQLITE_OK);
    return db;
}

static void *end_reading(void *db)
{
    sqlite3_sleep(300);
    assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    return NULL;
}

/* While a program reads an old state, the log cannot be copied as a whole, so a program that adds
 * runs waits for it. */
static void writers_wait_for_readers(void **state)
{
    const char *where = fresh_where();
    struct hm_store *store = open_store(where);
    pthread_t thread;

    (void)state;
    add_runs(store, 1, 3);
    sqlite3 *reader = begin_reading(where);
    add_runs(store, 4, 1);
    remove_next_to(where, "-wal");
    assert_int_equal(pthread_create(&thread, NULL, end_reading, reader), 0);
    add_is_refused(store);
    assert_int_equal(pthread_join(thread, NULL), 0);
    sqlite3_close(reader);
    hm_store_close(store);
    has_runs(where, 1, 4);
}

/* If only a part of the log can be copied when the store is closed, the rest is copied when it is
 * opened again. */
static void a_closed_store_keeps_its_log(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++) {
        const char *where = fresh_where();
        struct hm_store *store = open_store(where), *other = NULL;
        add_runs(store, 1, 3);
        sqlite3 *reader = begin_reading(where);
        add_runs(store, 4, 1);
        remove_next_to(where, "-wal");
        if (both)
            remove_next_to(where, "-shm");
        hm_store_close(store);
        for (int i = 0; i < 2; i++)
            assert_refused(hm_store_open(where, &other, err), HM_E_IO,
                           "write-ahead log was removed or replaced");
        assert_int_equal(sqlite3_exec(reader, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
        has_runs(where, 1, 4);
        sqlite3_close(reader);
        has_runs(where, 1, 4);
    }
}

/* Programs that use different indexes of one log would write to the same place. */
static void a_removed_index_is_noticed(void **state)
{
    const char *where = fresh_where();
    struct hm_store *store = open_store(where), *other;

    (void)state;
    add_runs(store, 1, 3);
    remove_next_to(where, "-shm");
    other = open_store(where); /* Makes another index, as another program would. */
    add_runs(other, 4, 2);
    add_is_refused(store);
    hm_store_close(store);
    add_runs(other, 6, 1);
    hm_store_close(other);
    has_runs(where, 1, 6);
}

/* A backup that takes the place of the file while it is used does not get runs of the old log. */
static void a_file_that_is_replaced(void **state)
{
    char where[1100], backup[1100];
    struct hm_store *stores[2], *after;

    (void)state;
    snprintf(where, sizeof(where), "%s", fresh_where());
    snprintf(backup, sizeof(backup), "%s", fresh_where());
    struct hm_store *other = open_store(backup);
    add_runs(other, 1, 2);
    hm_store_close(other);
    for (int i = 0; i < 2; i++)
        stores[i] = open_store(where);
    add_runs(stores[0], 11, 3);
    assert_int_equal(rename(backup, where), 0);
    struct hm_stored run = some_run(100, 1);
    assert_refused(hm_store_add(stores[0], &run, 1, NULL, NULL, err), HM_E_IO,
                   "its file was removed or replaced");
    hm_store_close(stores[0]);
    after = open_store(where);
    add_runs(after, 3, 1);
    hm_store_close(stores[1]); /* Must not take the log for its own. */
    add_runs(after, 4, 1);
    hm_store_close(after);
    has_runs(where, 1, 4);
}

/* Makes a store whose program was killed, so that its log stays. */
static void make_killed(const char *where, int first, int count)
{
    int status = 1;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        add_runs(open_store(where), first, count);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* The log of a killed program must not be added to another file that is put in its place. */
static void the_log_of_another_file_is_refused(void **state)
{
    char where[1100], backup[1100];
    struct hm_store *store = NULL;

    (void)state;
    snprintf(where, sizeof(where), "%s", fresh_where());
    snprintf(backup, sizeof(backup), "%s", fresh_where());
    make_killed(where, 11, 3);
    store = open_store(backup);
    add_runs(store, 1, 2);
    hm_store_close(store);
    assert_int_equal(rename(backup, where), 0);
    assert_refused(hm_store_open(where, &store, err), HM_E_IO,
                   "the write-ahead log next to it belongs to another file");
    remove_next_to(where, "-wal");
    remove_next_to(where, "-shm");
    has_runs(where, 1, 2);
}

/* Another program that is the last one to close the file copies the log into it, without
 * checksums. */
static void another_program_may_copy_the_log(void **state)
{
    const char *where = fresh_where();
    sqlite3 *db = NULL;

    (void)state;
    make_killed(where, 1, 2); /* Its log is copied into the file, and pages get checksums. */
    hm_store_close(open_store(where));
    make_killed(where, 3, 2);
    assert_int_equal(sqlite3_open(where, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "SELECT count(*) FROM runs", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    has_runs(where, 1, 4);
}

/* Waits until the other programs are ready, opens the store, and reports its id. */
static void report_id(const char *where, int ready, int report)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    char byte;

    if (read(ready, &byte, 1) != 0 || hm_store_open(where, &(struct hm_store *){NULL}, NULL) ||
        sqlite3_open(where, &db) || sqlite3_busy_timeout(db, 30000) ||
        sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &statement, NULL) ||
        sqlite3_step(statement) != SQLITE_ROW)
        _exit(1);
    int id = sqlite3_column_int(statement, 0);
    _exit(write(report, &id, sizeof(id)) != sizeof(id));
}

/* Programs that create a store at the same time give it one id. */
static void one_id_of_several_creators(void **state)
{
    enum { CREATORS = 6, ROUNDS = 12 };
    int ready[2], report[2], ids[CREATORS], status;

    (void)state;
    assert_int_equal(pipe(report), 0);
    for (int round = 0; round < ROUNDS; round++) {
        const char *where = fresh_where();
        assert_int_equal(pipe(ready), 0);
        for (int i = 0; i < CREATORS; i++) {
            pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0) {
                close(ready[1]);
                report_id(where, ready[0], report[1]);
            }
        }
        close(ready[0]);
        close(ready[1]);
        for (int i = 0; i < CREATORS; i++) {
            assert_true(wait(&status) > 0);
            assert_int_equal(status, 0);
            assert_int_equal(read(report[0], &ids[i], sizeof(ids[i])), sizeof(ids[i]));
            assert_int_not_equal(ids[i], 0);
            assert_int_equal(ids[i], ids[0]);
        }
    }
    close(report[0]);
    close(report[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_id_of_several_creators),
        cmocka_unit_test(the_log_of_another_file_is_refused),
        cmocka_unit_test(another_program_may_copy_the_log),
        cmocka_unit_test(writers_wait_for_readers),
        cmocka_unit_test(a_closed_store_keeps_its_log),
        cmocka_unit_test(a_removed_index_is_noticed),
        cmocka_unit_test(a_file_that_is_replaced),
        cmocka_unit_test(runs_of_a_removed_log_are_kept),
        cmocka_unit_test(another_reader),
        cmocka_unit_test(another_writer),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
