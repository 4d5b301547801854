/*
 * Tests the checksums of the pages of a store in a SQLite file: whichever byte of the file changes,
 * reading fails or gives the same values; files without checksums and pages of other programs.
 */
#include "store_testing.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store.h"
#include "text.h"

enum { RUNS = 40, SAMPLES = 4, PAGE = 4096 };

/* Writes all values of a row into a text. */
static int add_row(void *context, const struct hm_sql_value *cells, size_t count,
                   struct hm_err *err)
{
    (void)err;
    for (size_t i = 0; i < count; i++)
        if (cells[i].null)
            hm__text_add(context, "-,");
        else if (cells[i].kind == HM_SQL_TEXT)
            hm__text_addf(context, "%s,", cells[i].text);
        else
            hm__text_addf(context, "%.17g,", cells[i].real);
    return 0;
}

/* Reads everything in a store. Returns false if that fails. */
static bool read_store(const char *where, struct hm_text *ret_text)
{
    static const char *const queries[] = {
        "SELECT * FROM runs ORDER BY id", "SELECT * FROM samples ORDER BY run_id, position",
        "SELECT * FROM documents ORDER BY kind, name", "SELECT version FROM meta"};
    void *connection;
    char *label;

    *ret_text = (struct hm_text){0};
    if (hm__sqlite.open(where, &connection, &label, NULL))
        return false;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof(queries) / sizeof(queries[0]); i++)
        rc = hm__sqlite.query(connection, queries[i], NULL, 0, add_row, ret_text, NULL, NULL);
    hm__sqlite.close(connection);
    hm_text_free(label);
    return rc == 0;
}

/* Makes a store with runs that have samples and other columns, and with a long document. */
static const char *make_store(void)
{
    const char *where = fresh_where();
    struct hm_store *store = open_store(where);
    struct hm_stored runs[RUNS];
    struct hm_stored_sample samples[SAMPLES];
    static char body[3 * PAGE];

    for (int i = 0; i < SAMPLES; i++)
        samples[i] = (struct hm_stored_sample){i + 1, 0.1, 0.1 * (i + 1), 1.0 / (i + 3)};
    for (int i = 0; i < RUNS; i++) {
        runs[i] = some_run(1 + i, 1.7 * i + 0.3);
        runs[i].machine = i % 2 ? "m5.large" : "c5.large";
        runs[i].more = "{\"note\":\"a remark\",\"power\":311.7}";
        runs[i].samples = samples;
        runs[i].sample_count = SAMPLES;
    }
    assert_done(hm_store_add(store, runs, RUNS, NULL, NULL, err));
    memset(body, 'x', sizeof(body) - 1);
    assert_done(hm_store_put(store, "job", "long", body, err));
    hm_store_close(store);
    return where;
}

static unsigned char *read_bytes(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    struct stat info;

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &info), 0);
    *ret_size = (size_t)info.st_size;
    unsigned char *bytes = malloc(*ret_size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *ret_size, file), *ret_size);
    fclose(file);
    return bytes;
}

static void write_bytes(const char *path, const unsigned char *bytes, size_t size)
{
    static const char *const endings[] = {"-wal", "-shm"};
    char name[1100];
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof(name), "%s%s", path, endings[i]);
        unlink(name);
    }
}

/* Returns whether the check of the whole store finds damage. */
static bool is_found(const char *where)
{
    struct hm_store *store = NULL;
    int64_t runs;

    if (hm_store_open(where, &store, NULL))
        return true;
    int rc = hm__store_verify(store, false, &runs, NULL);
    hm_store_close(store);
    return rc != 0;
}

/* Changes one bit of one byte after the other, at distances that are no multiple of a word. */
static void every_changed_byte_is_found(void **state)
{
    char where[1024], damaged[1024];
    struct hm_text before, now;
    size_t size, found = 0, harmless = 0, step = is_torture() ? 1 : 331;

    (void)state;
    snprintf(where, sizeof(where), "%s", make_store());
    snprintf(damaged, sizeof(damaged), "%s", fresh_where());
    assert_true(read_store(where, &before));
    assert_true(before.length > 20000);
    unsigned char *bytes = read_bytes(where, &size);
    for (size_t at = 0; at < size; at += step) {
        unsigned char bit = (unsigned char)(1 << (at / 7 % 8));
        bytes[at] ^= bit;
        write_bytes(damaged, bytes, size);
        bool read = read_store(damaged, &now);
        if (read && (now.length != before.length || memcmp(now.data, before.data, now.length) != 0))
            fail_msg("byte %zu changed the values that are read", at);
        /* Pages that are not read: indexes. The check reads them too. */
        write_bytes(damaged, bytes, size);
        bool seen = is_found(damaged);
        if (!read && !seen)
            fail_msg("byte %zu: reading fails, but the check finds nothing", at);
        found += seen;
        harmless += !seen;
        hm__text_release(&now);
        bytes[at] ^= bit;
    }
    /* Only bytes that SQLite never reads may be changed without notice. */
    assert_true(harmless * 100 < found);
    free(bytes);
    hm__text_release(&before);
}

/* A page at the place of another page has a wrong checksum, and so has a page of zeros. */
static void misplaced_pages_are_found(void **state)
{
    char where[1024];
    unsigned char kept[PAGE];
    struct hm_text now;
    size_t size;

    (void)state;
    snprintf(where, sizeof(where), "%s", make_store());
    unsigned char *bytes = read_bytes(where, &size);
    for (size_t page = 1; page + 1 < size / PAGE; page++) {
        memcpy(kept, bytes + page * PAGE, PAGE);
        memcpy(bytes + page * PAGE, bytes + (page + 1) * PAGE, PAGE);
        write_bytes(where, bytes, size);
        assert_true(is_found(where));
        memset(bytes + page * PAGE, 0, PAGE);
        write_bytes(where, bytes, size);
        assert_true(is_found(where));
        memcpy(bytes + page * PAGE, kept, PAGE);
    }
    write_bytes(where, bytes, size);
    assert_true(read_store(where, &now));
    hm__text_release(&now);
    free(bytes);
}

/* Runs SQL on a file with SQLite alone, which knows nothing about the checksums. */
static void run_elsewhere(const char *where, const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(where, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* A page that another program changed is refused; a file that it wrote as a whole is accepted, and
 * gets checksums again where it is written. */
static void other_programs(void **state)
{
    char where[1024];
    struct hm_text before, now;

    (void)state;
    snprintf(where, sizeof(where), "%s", make_store());
    assert_true(read_store(where, &before));
    run_elsewhere(where, "UPDATE samples SET loss = 0.5 WHERE run_id = 3");
    assert_false(read_store(where, &now));
    hm__text_release(&now);
    run_elsewhere(where, "VACUUM");
    assert_true(read_store(where, &now));
    assert_false(is_found(where));
    assert_string_not_equal(now.data, before.data);
    hm__text_release(&now);
    hm__text_release(&before);
}

/* A store that was made without checksums is read and written without them. */
static void older_stores_have_none(void **state)
{
    char where[1024];
    size_t size;

    (void)state;
    snprintf(where, sizeof(where), "%s", fresh_where());
    run_elsewhere(where, "CREATE TABLE other (x); DROP TABLE other");
    struct hm_store *store = open_store(where);
    struct hm_stored run = some_run(4, 2.5);
    assert_done(hm_store_add(store, &run, 1, NULL, NULL, err));
    hm_store_close(store);
    unsigned char *bytes = read_bytes(where, &size);
    assert_int_equal(bytes[20], 0);
    free(bytes);
    assert_false(is_found(where));
    run_elsewhere(where, "UPDATE runs SET seconds = 3.5");
    store = open_store(where);
    assert_int_equal(count_where(store, "seconds=3.5"), 1);
    hm_store_close(store);
}

/* ---- checksums for older stores ---------------------------------------------------------------
 */

/* Makes a store without checksums: a copy of all rows of another one. */
static const char *make_older_store(char *ret_where, size_t room)
{
    char from[1024], sql[4096];

    snprintf(from, sizeof(from), "%s", make_store());
    snprintf(ret_where, room, "%s", fresh_where());
    run_elsewhere(ret_where, "CREATE TABLE other (x); DROP TABLE other");
    hm_store_close(open_store(ret_where));
    snprintf(sql, sizeof(sql),
             "ATTACH '%s' AS a; INSERT INTO runs SELECT * FROM a.runs;"
             "INSERT INTO samples SELECT * FROM a.samples;"
             "INSERT INTO documents SELECT * FROM a.documents",
             from);
    run_elsewhere(ret_where, sql);
    return ret_where;
}

static size_t count_unsummed(const char *where)
{
    size_t size, count = 0;
    unsigned char *bytes = read_bytes(where, &size);
    static const unsigned char none[8];

    for (size_t at = 0; at < size; at += PAGE)
        count += memcmp(bytes + at + PAGE - 8, none, 8) == 0;
    free(bytes);
    return count;
}

static bool add_sums(const char *where)
{
    struct hm_store *store = NULL;
    int rc = hm_store_open(where, &store, NULL);

    if (rc == 0)
        rc = hm__store_add_sums(store, NULL);
    bool added = rc == 0 && hm__store_has_sums(store);
    hm_store_close(store);
    return added;
}

static void texts_are_equal(const char *where, const struct hm_text *wanted)
{
    struct hm_text now;

    assert_true(read_store(where, &now));
    assert_int_equal(now.length, wanted->length);
    assert_memory_equal(now.data, wanted->data, now.length);
    hm__text_release(&now);
}

static void older_stores_get_checksums(void **state)
{
    char where[1024];
    struct hm_text before;
    size_t size;

    (void)state;
    make_older_store(where, sizeof(where));
    assert_true(read_store(where, &before));
    assert_true(add_sums(where));
    texts_are_equal(where, &before);
    assert_int_equal(count_unsummed(where), 0);
    assert_true(add_sums(where)); /* It has no effect on a store that has them. */
    assert_false(is_found(where));
    unsigned char *bytes = read_bytes(where, &size);
    for (size_t at = 5; at < size; at += 1531) {
        bytes[at] ^= 4;
        write_bytes(where, bytes, size);
        if (!is_found(where))
            fail_msg("byte %zu changed without notice", at);
        bytes[at] ^= 4;
    }
    /* The id of the next run is kept. */
    write_bytes(where, bytes, size);
    struct hm_store *store = open_store(where);
    struct hm_stored run = some_run(3, 1);
    int64_t id = 0;
    assert_done(hm_store_add(store, &run, 1, &id, NULL, err));
    assert_int_equal(id, RUNS + 1);
    hm_store_close(store);
    free(bytes);
    hm__text_release(&before);
}

/* While another program uses a store, it stays as it is. */
static void stores_in_use_get_no_checksums(void **state)
{
    char where[1024];

    (void)state;
    make_older_store(where, sizeof(where));
    struct hm_store *other = open_store(where), *store = open_store(where);
    assert_int_equal(count_where(other, NULL), RUNS);
    assert_refused(hm__store_add_sums(store, err), HM_E_IO, "while another program uses");
    assert_false(hm__store_has_sums(store));
    assert_int_equal(count_where(store, NULL), RUNS);
    hm_store_close(store);
    hm_store_close(other);
}

/* Kills a process at different moments while it adds checksums: the store has all its rows, with
 * checksums or without. */
static void killed_additions_of_checksums(void **state)
{
    enum { KILLS = 20, KILLS_ALL = 2000, KILLS_MOST = 500 };
    const char *wanted = getenv("HM_KILLS");
    const int kills = wanted ? atoi(wanted) : is_torture() ? KILLS_ALL : KILLS;
    char where[1024];
    struct hm_text before;
    size_t size, with = 0, without = 0, log = 0;
    unsigned wait_us = 2000;

    (void)state;
    make_older_store(where, sizeof(where));
    assert_true(read_store(where, &before));
    unsigned char *bytes = read_bytes(where, &size);
    /* There are more kills until both results have occurred. */
    for (int i = 0; i < kills || (i < KILLS_MOST && (!with || !without || !log)); i++) {
        char name[1100];
        struct stat info;
        int status;
        write_bytes(where, bytes, size);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(add_sums(where) ? 0 : 1);
        usleep(wait_us + (unsigned)(i * 7919 % 1000));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
        snprintf(name, sizeof(name), "%s-wal", where);
        log += stat(name, &info) == 0 && info.st_size > 0;
        texts_are_equal(where, &before);
        assert_false(is_found(where));
        struct hm_store *store = open_store(where);
        bool summed = hm__store_has_sums(store);
        hm_store_close(store);
        with += summed;
        without += !summed;
        assert_true(!summed || count_unsummed(where) == 0);
        /* The moments approach the end of the work, which depends on the machine. */
        wait_us = summed ? wait_us - wait_us / 5 : wait_us + wait_us / 5;
    }
    print_message("# %zu without checksums, %zu with, %zu left a log\n", without, with, log);
    assert_true(with > 0 && without > 0 && log > 0);
    free(bytes);
    hm__text_release(&before);
}

/* If the header says only half of what it must say, it is damaged. */
static void half_a_header_is_damaged(void **state)
{
    char where[1024];
    size_t size;

    (void)state;
    snprintf(where, sizeof(where), "%s", make_store());
    unsigned char *bytes = read_bytes(where, &size);
    for (int i = 0; i < 2; i++) {
        size_t at = i ? 70 : 20;
        unsigned char kept = bytes[at];
        struct hm_store *store = NULL;
        bytes[at] = 0;
        write_bytes(where, bytes, size);
        assert_refused(hm_store_open(where, &store, err), HM_E_IO, "it is damaged");
        bytes[at] = kept;
    }
    free(bytes);
}

/* Compares the checksums of a store in the order of the file. */
static bool is_sound(const char *where)
{
    void *connection;
    char *label;
    bool sound = false;

    assert_done(hm__sqlite.open(where, &connection, &label, err));
    assert_done(hm__sqlite.scan(connection, &sound, err));
    hm__sqlite.close(connection);
    hm_text_free(label);
    return sound;
}

static void all_pages_are_scanned(void **state)
{
    static char body[80 * PAGE];
    char where[1024], plain[1100];
    size_t size;

    (void)state;
    snprintf(where, sizeof(where), "%s", make_store());
    struct hm_store *store = open_store(where);
    memset(body, 'x', sizeof(body) - 1);
    assert_done(hm_store_put(store, "job", "long", body, err));
    hm_store_close(store);
    assert_true(is_sound(where));
    unsigned char *bytes = read_bytes(where, &size);
    assert_true(size > 64 * PAGE); /* More than the scan reads at once. */
    /* The first pages are left as they are, because opening the store reads them. */
    for (size_t page = 8; page < size / PAGE; page += 11) {
        bytes[page * PAGE + 1234] ^= 4;
        write_bytes(where, bytes, size);
        assert_false(is_sound(where));
        bytes[page * PAGE + 1234] ^= 4;
    }
    free(bytes);
    snprintf(plain, sizeof(plain), "%s/plain.db", store_folder);
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(plain, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE t (x)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_false(is_sound(plain)); /* It has no checksums. */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_changed_byte_is_found),
        cmocka_unit_test(misplaced_pages_are_found),
        cmocka_unit_test(other_programs),
        cmocka_unit_test(older_stores_have_none),
        cmocka_unit_test(half_a_header_is_damaged),
        cmocka_unit_test(all_pages_are_scanned),
        cmocka_unit_test(older_stores_get_checksums),
        cmocka_unit_test(stores_in_use_get_no_checksums),
        cmocka_unit_test(killed_additions_of_checksums),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
