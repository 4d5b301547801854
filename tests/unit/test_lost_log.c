/*
 * Tests a store whose write-ahead log is removed while programs use it: nothing is acknowledged
 * that would be lost, runs that were acknowledged before are copied into the file, and what another
 * program wrote in the meantime is not overwritten.
 */
#include "store_testing.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_a_removed_log_are_kept),
        cmocka_unit_test(another_reader),
        cmocka_unit_test(another_writer),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
