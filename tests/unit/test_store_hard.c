/* Tests a store under load: pages while runs are added, concurrent writers, writers that are
 * killed, older and newer versions, and files that are not stores. */
#include "store_testing.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "stored.h"

/* ---- pages ---------------------------------------------------------------------------------- */

/* Number of runs of the large store; with `make torture` it is larger. */
#define MANY (is_torture() ? 50000 : 10000)
enum { BATCH = 5000 };

static const char *const machines[] = {"m5.large", "m5.xlarge", NULL, "p4d", "\xc3\xa9t\xc3\xa9"};

static struct hm_stored mixed_run(size_t i, char key[32])
{
    struct hm_stored run = some_run((double)(1 << i % 8), (double)(i * 7919 % 10007 + 1) / 100);

    snprintf(key, 32, "key %zu", i * 104729 % 1000003);
    run.key = i % 3 ? key : NULL;
    run.machine = machines[i % 5];
    run.algorithm = i % 2 ? "gd" : "sgd";
    run.loss = i % 4 ? (double)(i % 1000) - 500 : NAN;
    run.batch = i % 7 ? (double)(i % 13 + 1) : NAN;
    run.status = i % 11 ? "ok" : "timeout";
    return run;
}

static void add_many(struct hm_store *store, size_t from, size_t count)
{
    static struct hm_stored runs[BATCH];
    static char keys[BATCH][32];

    for (size_t i = 0; i < count; i += BATCH) {
        size_t some = count - i < BATCH ? count - i : BATCH;
        for (size_t k = 0; k < some; k++)
            runs[k] = mixed_run(from + i + k, keys[k]);
        assert_done(hm_store_add(store, runs, some, NULL, NULL, err));
    }
}

static int compare_runs(const struct hm_store_column *c, const struct hm_stored *a,
                        const struct hm_stored *b)
{
    int order = 0;

    if (c->kind == HM_STORE_TEXT) {
        const char *x = hm__stored_get_text(c, a), *y = hm__stored_get_text(c, b);
        order = x && y ? strcmp(x, y) : 0;
        if (!x != !y)
            return x ? -2 : 2; /* Runs without a value come last in both directions. */
    } else if (c->kind == HM_STORE_NUMBER) {
        double x = hm__stored_get_number(c, a), y = hm__stored_get_number(c, b);
        order = (x > y) - (x < y);
        if (isnan(x) != isnan(y))
            return isnan(y) ? -2 : 2;
    }
    return order ? (order > 0) - (order < 0) : (a->id > b->id) - (a->id < b->id);
}

/* Reads all pages; each run that existed at first must appear once, and in order. */
static void page_through(struct hm_store *store, struct hm_store *writer,
                         const struct hm_store_column *c, bool down, int64_t last, size_t *added)
{
    unsigned char *seen = calloc((size_t)last + 1, 1);
    char sort[40], after[9000] = "";
    struct hm_stored before = {0};
    struct hm_store_page *kept = NULL;
    size_t total = 0;

    snprintf(sort, sizeof(sort), "%s%s", down ? "-" : "", c->name);
    for (int pages = 0; pages == 0 || *after; pages++) {
        struct hm_store_filter filter = {
            .sort = sort, .limit = 997, .after = *after ? after : NULL};
        struct hm_store_page *page;
        assert_done(hm_store_list(store, &filter, &page, err));
        for (size_t i = 0; i < page->count; i++) {
            const struct hm_stored *run = &page->runs[i];
            int order = total + i ? compare_runs(c, &before, run) : -2;
            assert_true(order == -2 || (down ? order == 1 : order == -1));
            if (run->id <= last && seen[run->id]++)
                fail_msg("%s: run %lld twice", sort, (long long)run->id);
            before = *run;
        }
        total += page->count;
        snprintf(after, sizeof(after), "%s", page->next ? page->next : "");
        hm_store_page_free(kept);
        kept = page; /* Copies are needed, because `before` owns the strings. */
        if (pages % 10 == 3)
            add_many(writer, MANY + (*added)++, 1);
    }
    hm_store_page_free(kept);
    for (int64_t id = 1; id <= last; id++)
        if (!seen[id])
            fail_msg("%s: run %lld is missing", sort, (long long)id);
    free(seen);
}

static void pages_have_no_gaps(void **state)
{
    const char *where = fresh_where();
    struct hm_store *store = open_store(where), *writer = open_store(where);
    struct hm_store_filter newest = {.limit = 1};
    struct hm_store_page *page;
    size_t added = 0;

    (void)state;
    add_many(writer, 0, MANY);
    assert_int_equal(count_where(store, NULL), MANY);
    assert_done(hm_store_list(store, &newest, &page, err));
    int64_t last = page->runs[0].id;
    hm_store_page_free(page);
    assert_int_equal(last, MANY);
    for (size_t i = 0; i < HM_STORE_COLUMNS - 1; i++)
        page_through(store, writer, &hm__store_columns[i], i % 2, last, &added);
    page_through(store, writer, hm__store_column_find("machine"), true, last, &added);
    page_through(store, writer, hm__store_column_find("loss"), true, last, &added);
    hm_store_close(store);
    hm_store_close(writer);
}

/* ---- many programs -------------------------------------------------------------------------- */

enum { WRITERS = 8, KEYS = 200 };

/* Adds all keys, each writer in another order; returns how many were new. */
static size_t write_keys(const char *where, int writer)
{
    struct hm_store *store;
    struct hm_err err = {0};
    size_t sum = 0;

    if (hm_store_open(where, &store, &err)) {
        fprintf(stderr, "# %s\n", err.message);
        return 1000000;
    }
    for (int i = 0; i < KEYS; i += 10) {
        struct hm_stored runs[10];
        char keys[10][16];
        size_t added;
        for (int k = 0; k < 10; k++) {
            int number = writer % 2 ? KEYS - 1 - i - k : (i + k + writer * 20) % KEYS;
            snprintf(keys[k], sizeof(keys[k]), "k%d", number);
            runs[k] = some_run(number + 1, 1);
            runs[k].key = keys[k];
        }
        if (hm_store_add(store, runs, 10, NULL, &added, &err)) {
            fprintf(stderr, "# %s\n", err.message);
            return 1000000;
        }
        sum += added;
    }
    hm_store_close(store);
    return sum;
}

/* All writers open a store that does not exist yet, so they also compete to create it. */
static void eight_writers_add_a_key_once(void **state)
{
    const char *where = fresh_where();
    int ends[2];
    size_t sum = 0, one;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    for (int i = 0; i < WRITERS; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            one = write_keys(where, i);
            _exit(write(ends[1], &one, sizeof(one)) == sizeof(one) ? 0 : 1);
        }
    }
    close(ends[1]);
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(read(ends[0], &one, sizeof(one)), sizeof(one));
        sum += one;
    }
    close(ends[0]);
    while (wait(NULL) > 0)
        ;
    struct hm_store *store = open_store(where);
    assert_int_equal(sum, KEYS);
    assert_int_equal(count_where(store, NULL), KEYS);
    hm_store_close(store);
}

/* ---- programs that are killed --------------------------------------------------------------- */

/* Adds one or several runs at a time until killed; reports each key after its commit. */
static void write_until_killed(const char *where, int round, int out)
{
    struct hm_store *store;

    if (hm_store_open(where, &store, NULL))
        _exit(1);
    for (int i = 0;; i++) {
        static const struct hm_stored_sample samples[3] = {{1, 1, 1, 1}};
        char keys[4][48];
        struct hm_stored runs[4];
        size_t count = 1 + (size_t)i % 4;
        for (size_t k = 0; k < count; k++) {
            snprintf(keys[k], sizeof(keys[k]), "r%d-%d-%zu", round, i, k);
            runs[k] = some_run((double)count, 1);
            runs[k].key = keys[k];
            runs[k].samples = samples;
            runs[k].sample_count = 3;
        }
        if (hm_store_add(store, runs, count, NULL, NULL, NULL))
            _exit(1);
        for (size_t k = 0; k < count; k++)
            if (dprintf(out, "%s\n", keys[k]) < 0)
                _exit(1);
    }
}

static void wait_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* Checks that each reported key is stored once; returns the number of runs. */
static size_t check_reported(struct hm_store *store, FILE *reported)
{
    char line[64], condition[80];
    size_t count = 0;

    while (fgets(line, sizeof(line), reported)) {
        if (!strchr(line, '\n'))
            break; /* The last key was cut off, because the writer was killed. */
        line[strcspn(line, "\n")] = '\0';
        snprintf(condition, sizeof(condition), "key=%s", line);
        if (count_where(store, condition) != 1)
            fail_msg("%s was reported to be kept", line);
        count++;
    }
    return count;
}

static int take_ok(void *ok, const struct hm_sql_value *cells, size_t count, struct hm_err *err)
{
    (void)count;
    (void)err;
    *(bool *)ok = cells[0].text && strcmp(cells[0].text, "ok") == 0;
    return 0;
}

static void check_file(const char *where)
{
    void *connection;
    char *label;
    bool ok = false;

    assert_done(hm__sqlite.open(where, &connection, &label, err));
    assert_done(
        hm__sqlite.query(connection, "PRAGMA integrity_check", NULL, 0, take_ok, &ok, NULL, err));
    assert_true(ok);
    ok = false;
    assert_done(
        hm__sqlite.query(connection,
                         "SELECT CASE WHEN (SELECT coalesce(sum(sample_count), 0) FROM runs) IS "
                         "(SELECT count(*) FROM samples) THEN 'ok' END",
                         NULL, 0, take_ok, &ok, NULL, err));
    assert_true(ok);
    hm__sqlite.close(connection);
    hm_text_free(label);
}

static void acknowledged_runs_survive_a_kill(void **state)
{
    const char *where = fresh_where();
    struct hm_store *store = open_store(where);
    size_t reported = 0;
    int64_t before = 0;

    (void)state;
    hm_store_close(store);
    srand(1);
    for (int round = 0; round < 50; round++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0)
            write_until_killed(where, round, ends[1]);
        close(ends[1]);
        /* Some kills come before the first report; on a busy machine others must come later. */
        struct pollfd first = {.fd = ends[0], .events = POLLIN};
        if (round % 4)
            poll(&first, 1, 5000);
        wait_ms(rand() % 50);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        FILE *in = fdopen(ends[0], "r");
        store = open_store(where);
        size_t here = check_reported(store, in);
        int64_t now = count_where(store, NULL);
        /* At most the last addition, of up to four runs, was stored and not reported. A server may
         * still be committing the addition of the round before. */
        assert_in_range(now - before, here, here + (store_server() ? 8 : 4));
        before = now;
        reported += here;
        for (int k = 1; k <= 4; k++) { /* Additions are stored completely or not at all. */
            char condition[16];
            snprintf(condition, sizeof(condition), "n=%d", k);
            assert_int_equal(count_where(store, condition) % k, 0);
        }
        hm_store_close(store);
        fclose(in);
        if (!store_server())
            check_file(where);
    }
    assert_true(reported > 0); /* The number of errors depends on the speed of the machine. */
}

/* ---- versions ------------------------------------------------------------------------------- */

static const char version_0[] =
    "CREATE TABLE meta (version bigint NOT NULL); INSERT INTO meta VALUES (0);"
    "CREATE TABLE runs (id %s, \"key\" text, made_at text NOT NULL, status text NOT NULL,"
    "algorithm text, problem text, data text, job text, machine text, scheme text, host text,"
    "version text, n double precision NOT NULL, batch double precision, latency double precision,"
    "bandwidth double precision, size double precision, seconds double precision,"
    "total double precision, iterations double precision, loss double precision,"
    "best double precision, seed double precision);"
    "INSERT INTO runs (\"key\", made_at, status, machine, n, seconds) VALUES "
    "('old', '2020-01-01T00:00:00Z', 'ok', 'm5', 4, 0.5);";

static void an_old_store_is_brought_up_to_date(void **state)
{
    const char *where = fresh_where();
    char sql[2000];
    struct hm_stored run = some_run(8, 1);
    struct hm_store_page *page;

    (void)state;
    snprintf(sql, sizeof(sql), version_0, store_sql()->id_type);
    store_behind(where, sql);
    struct hm_store *store = open_store(where);
    run.cost = 3;
    run.more = "{\"a\": 1}";
    assert_done(hm_store_add(store, &run, 1, NULL, NULL, err));
    assert_done(hm_store_list(store, NULL, &page, err));
    assert_int_equal(page->count, 2);
    assert_string_equal(page->runs[1].key, "old");
    assert_true(isnan(page->runs[1].cost) && !page->runs[1].more);
    assert_near(page->runs[0].cost, 3, 0);
    hm_store_page_free(page);
    hm_store_close(store);
    store = open_store(where); /* The version stays the same. */
    assert_int_equal(count_where(store, "cost=3"), 1);
    hm_store_close(store);
}

/* The changes from version 0 to version 1, except the indexes. The placeholder is the clause of a
 * table whose rows are found by their key. */
static const char version_1[] =
    "ALTER TABLE runs ADD COLUMN cost double precision; ALTER TABLE runs ADD COLUMN more text;"
    "ALTER TABLE runs ADD COLUMN sample_count bigint NOT NULL DEFAULT 0;"
    "CREATE UNIQUE INDEX runs_key ON runs (\"key\");"
    "CREATE TABLE samples (run_id bigint NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"
    "position bigint NOT NULL, iteration double precision, seconds double precision,"
    "elapsed_s double precision, loss double precision, PRIMARY KEY (run_id, position)) %s;"
    "CREATE TABLE documents (kind text NOT NULL, name text NOT NULL, made_at text NOT NULL,"
    "body text NOT NULL, PRIMARY KEY (kind, name)); UPDATE meta SET version = 1;";

static void a_store_of_version_1_is_brought_up_to_date(void **state)
{
    static const char *const indexed[] = {
        "made_at", "status",    "algorithm", "problem", "data",  "job",
        "machine", "scheme",    "host",      "version", "n",     "batch",
        "latency", "bandwidth", "size",      "seconds", "total", "iterations",
        "loss",    "best",      "cost",      "seed"};
    const char *where = fresh_where();
    char sql[2000];
    struct hm_stored run = some_run(8, 0.25);
    struct hm_store_filter filter = {.sort = "seconds"};
    struct hm_store_page *page;

    (void)state;
    snprintf(sql, sizeof(sql), version_0, store_sql()->id_type);
    store_behind(where, sql);
    snprintf(sql, sizeof(sql), version_1, store_sql()->packed);
    store_behind(where, sql);
    for (size_t i = 0; i < sizeof(indexed) / sizeof(indexed[0]); i++) {
        snprintf(sql, sizeof(sql), "CREATE INDEX runs_%s ON runs (%s%s)", indexed[i], indexed[i],
                 store_sql()->index_id);
        store_behind(where, sql);
    }
    struct hm_store *store = open_store(where);
    assert_done(hm_store_add(store, &run, 1, NULL, NULL, err));
    assert_done(hm_store_list(store, &filter, &page, err));
    assert_int_equal(page->count, 2);
    assert_near(page->runs[0].seconds, 0.25, 0);
    assert_string_equal(page->runs[1].key, "old");
    hm_store_page_free(page);
    assert_int_equal(count_where(store, "machine=m5"), 1);
    hm_store_close(store);
}

/* A program that migrates a store of version 0 is killed at some time; the next one finds the old
 * run and all columns. */
static void a_migration_survives_a_kill(void **state)
{
    (void)state;
    srand(2);
    for (int round = 0; round < 10; round++) {
        const char *where = fresh_where();
        char sql[2000];
        snprintf(sql, sizeof(sql), version_0, store_sql()->id_type);
        store_behind(where, sql);
        pid_t child = fork();
        if (child == 0) {
            hm_store_close(open_store(where));
            _exit(0);
        }
        wait_ms(rand() % 8);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        struct hm_store *store = open_store(where);
        struct hm_stored run = some_run(8, 1);
        run.cost = 3;
        assert_done(hm_store_add(store, &run, 1, NULL, NULL, err));
        assert_int_equal(count_where(store, NULL), 2);
        assert_int_equal(count_where(store, "cost=3"), 1);
        hm_store_close(store);
        if (!store_server())
            check_file(where);
    }
}

static void a_later_store_is_refused(void **state)
{
    const char *where = fresh_where();
    struct hm_store *store = open_store(where);

    (void)state;
    hm_store_close(store);
    store_behind(where, "UPDATE meta SET version = 7");
    assert_refused(hm_store_open(where, &store, err), HM_E_UNSUPPORTED,
                   "the store has version 7, but this program supports only 2");
}

static void foreign_tables_are_refused(void **state)
{
    const char *where = fresh_where();
    struct hm_store *store;

    (void)state;
    store_behind(where, "CREATE TABLE runs (mine text); INSERT INTO runs VALUES ('x')");
    assert_refused(hm_store_open(where, &store, err), HM_E_IO,
                   "cannot migrate the store to version 0");
    store_behind(where, "UPDATE runs SET mine = 'y'; CREATE TABLE meta (mine text)");
    assert_refused(hm_store_open(where, &store, err), HM_E_IO, "version");
}

/* ---- files ---------------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void wrong_files_are_refused(void **state)
{
    struct hm_store *store;
    struct hm_err failed = {0};
    char path[200];

    (void)state;
    assert_refused(hm_store_open("", &store, err), HM_E_MISSING, "no store is given");
    assert_refused(hm_store_open(NULL, &store, err), HM_E_MISSING, "no store is given");
    snprintf(path, sizeof(path), "%s/missing/runs.db", store_folder);
    assert_int_equal(hm_store_open(path, &store, &failed), HM_E_IO);
    assert_string_equal(failed.message, "cannot use the store: No such file or directory");
    assert_string_equal(failed.source, path);
    assert_refused(hm_store_open(store_folder, &store, err), HM_E_IO, "Is a directory");
    snprintf(path, sizeof(path), "%s/text.db", store_folder);
    write_file(path, "n,seconds\n1,2\n2,1\nthis is a table of runs, and no database at all\n");
    assert_refused(hm_store_open(path, &store, err), HM_E_IO, "it is not a database");
}

/* Runs in a child process without permission to write: counts the one run of the store, and must
 * fail to add more. Returns 0, or the number of the step that went wrong. */
static int read_without_permission(const char *where)
{
    const struct hm_store_filter all = {.where = NULL};
    struct hm_stored run = some_run(2, 1);
    struct hm_err failed = {0};
    struct hm_store *store;
    int64_t count = -1;

    if (getuid() == 0 && setuid(65534))
        return 1;
    if (hm_store_open(where, &store, &failed))
        return 2;
    if (hm_store_count(store, &all, &count, &failed) || count != 1)
        return 3;
    if (hm_store_add(store, &run, 1, NULL, NULL, &failed) != HM_E_IO ||
        !strstr(failed.message, "no permission to write"))
        return 4;
    hm_store_close(store);
    return 0;
}

static void a_read_only_file_is_read_and_not_written(void **state)
{
    const char *where = fresh_where();
    struct hm_store *store = open_store(where);
    struct hm_stored run = some_run(1, 1);
    int status = 0;

    (void)state;
    assert_done(hm_store_add(store, &run, 1, NULL, NULL, err));
    hm_store_close(store);
    assert_int_equal(chmod(store_folder, 0755), 0);
    assert_int_equal(chmod(where, 0444), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(read_without_permission(where));
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    store = open_store(where);
    assert_int_equal(count_where(store, NULL), 1);
    hm_store_close(store);
}

/* A lock that is never released must be an error, not an endless wait. */
static void a_lock_is_waited_for(void **state)
{
    const char *where = fresh_where();
    struct hm_store *store = open_store(where);
    struct hm_stored run = some_run(1, 1);
    void *other;
    char *label;

    (void)state;
    assert_done(hm__sqlite.open(where, &other, &label, err));
    assert_done(hm__sqlite.exec(other, "BEGIN IMMEDIATE", err));
    assert_refused(hm_store_add(store, &run, 1, NULL, NULL, err), HM_E_IO,
                   "another program has kept it locked");
    assert_int_equal(count_where(store, NULL), 0); /* Readers are not blocked. */
    assert_done(hm__sqlite.exec(other, "ROLLBACK", err));
    assert_done(hm_store_add(store, &run, 1, NULL, NULL, err));
    hm__sqlite.close(other);
    hm_text_free(label);
    hm_store_close(store);
}

/* Makes a writer that is killed before its log was checkpointed. */
static void leave_long_log(const char *path)
{
    void *connection;
    char *label;

    if (hm__sqlite.open(path, &connection, &label, NULL) == 0)
        hm__sqlite.exec(connection,
                        "PRAGMA wal_autocheckpoint=0; CREATE TABLE others (x);"
                        "INSERT INTO others VALUES (zeroblob(40000000))",
                        NULL);
    raise(SIGKILL);
}

static void a_long_log_is_emptied(void **state)
{
    struct hm_store *store;
    struct stat log;
    char path[128], name[160];
    int status;

    (void)state;
    snprintf(path, sizeof(path), "%s/long.db", store_folder);
    snprintf(name, sizeof(name), "%s-wal", path);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        leave_long_log(path);
    waitpid(child, &status, 0);
    assert_int_equal(stat(name, &log), 0);
    assert_true(log.st_size > 40000000);
    assert_done(hm_store_open(path, &store, err));
    assert_int_equal(stat(name, &log), 0);
    assert_true(log.st_size < 1000000);
    assert_int_equal(count_where(store, "n>=1"), 0);
    hm_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_have_no_gaps),
        cmocka_unit_test(eight_writers_add_a_key_once),
        cmocka_unit_test(acknowledged_runs_survive_a_kill),
        cmocka_unit_test(an_old_store_is_brought_up_to_date),
        cmocka_unit_test(a_store_of_version_1_is_brought_up_to_date),
        cmocka_unit_test(a_migration_survives_a_kill),
        cmocka_unit_test(a_later_store_is_refused),
        cmocka_unit_test(foreign_tables_are_refused),
        /* The following tests are for SQLite only. */
        cmocka_unit_test(wrong_files_are_refused),
        cmocka_unit_test(a_read_only_file_is_read_and_not_written),
        cmocka_unit_test(a_lock_is_waited_for),
        cmocka_unit_test(a_long_log_is_emptied),
    };
    size_t count = sizeof(tests) / sizeof(tests[0]) - (store_server() ? 4 : 0);
    return _cmocka_run_group_tests(store_server() ? "PostgreSQL" : "SQLite", tests, count,
                                   make_folder, remove_folder);
}
