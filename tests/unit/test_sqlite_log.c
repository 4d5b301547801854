/*
 * Tests damage of the write-ahead log of a store: a child process adds runs and is killed, so that
 * the log stays. Whichever byte of the log changes, the store is refused or has all acknowledged
 * runs; what a power cut can leave is never refused.
 */
#include "store_testing.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store.h"

enum {
    BATCHES = 12,
    BATCH_RUNS = 3,
    PAGE = 4096,
    FRAME = 24 + PAGE,
    HEAD = 32,
    MARK = 40,
    ALL = BATCHES * BATCH_RUNS
};

/* The files of a store after a crash. */
struct crashed {
    char where[1024];
    unsigned char *db, *log;
    size_t db_size, log_size;
    size_t batch_end[BATCHES]; /* Size of the log after each batch. */
};

static unsigned char *read_file(const char *where, const char *ending, size_t *ret_size)
{
    char name[1100];
    struct stat info;

    snprintf(name, sizeof(name), "%s%s", where, ending);
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &info), 0);
    *ret_size = (size_t)info.st_size;
    unsigned char *bytes = malloc(*ret_size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *ret_size, file), *ret_size);
    fclose(file);
    return bytes;
}

static void write_file(const char *where, const char *ending, const unsigned char *bytes,
                       size_t size)
{
    char name[1100];

    snprintf(name, sizeof(name), "%s%s", where, ending);
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static size_t log_length(const char *where)
{
    char name[1100];
    struct stat info;

    snprintf(name, sizeof(name), "%s-wal", where);
    return stat(name, &info) == 0 ? (size_t)info.st_size : 0;
}

static double seconds_of(int run)
{
    return 0.5 + run / BATCH_RUNS;
}

/* Ends a child process, which must not continue with the tests, if a call fails. */
static void must(bool done)
{
    if (!done)
        _exit(1);
}

/* Adds batches of runs on 1, 2, ... workers, and writes the size of the log after each one. Then
 * the process is killed. */
static void add_and_die(const char *where, int report, bool checkpointed)
{
    struct hm_store *store = NULL;

    must(hm_store_open(where, &store, NULL) == 0);
    for (int batch = 0; batch < BATCHES; batch++) {
        struct hm_stored runs[BATCH_RUNS];
        for (int i = 0; i < BATCH_RUNS; i++) {
            int run = batch * BATCH_RUNS + i;
            runs[i] = some_run(run + 1, seconds_of(run));
            runs[i].machine = "m5.large";
        }
        must(hm_store_add(store, runs, BATCH_RUNS, NULL, NULL, NULL) == 0);
        size_t size = log_length(where);
        must(write(report, &size, sizeof(size)) == sizeof(size));
    }
    must(!checkpointed || hm__store_exec(store, "PRAGMA wal_checkpoint(PASSIVE)", NULL) == 0);
    kill(getpid(), SIGKILL);
}

/* Makes a store whose program was killed. If `checkpointed` is true, all pages of its log were
 * copied into the file. */
static struct crashed *crash(bool checkpointed)
{
    struct crashed *c = calloc(1, sizeof(*c));
    int pipe_ends[2], status;

    assert_non_null(c);
    assert_int_equal(pipe(pipe_ends), 0);
    snprintf(c->where, sizeof(c->where), "%s", fresh_where());
    hm_store_close(open_store(c->where)); /* The tables are in the file, the runs in the log. */
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        add_and_die(c->where, pipe_ends[1], checkpointed);
    close(pipe_ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(read(pipe_ends[0], c->batch_end, sizeof(c->batch_end)), sizeof(c->batch_end));
    close(pipe_ends[0]);
    c->db = read_file(c->where, "", &c->db_size);
    c->log = read_file(c->where, "-wal", &c->log_size);
    assert_true(c->log_size > HEAD + BATCHES * FRAME);
    return c;
}

static void forget(struct crashed *c)
{
    free(c->db);
    free(c->log);
    free(c);
}

/* Puts the files back, with the first `size` bytes of the log. */
static void restore(const struct crashed *c, size_t size)
{
    char name[1100];

    snprintf(name, sizeof(name), "%s-shm", c->where);
    unlink(name);
    write_file(c->where, "", c->db, c->db_size);
    write_file(c->where, "-wal", c->log, size);
}

/* Opens the store. Returns the number of its runs, or -1 if the store is refused because of its
 * log; the runs must be those of the first batches, with the right values. */
static int count_runs(const char *where)
{
    struct hm_store *store = NULL;
    struct hm_store_page *page = NULL;
    struct hm_store_filter filter = {.sort = "id"};
    struct hm_err why = {0};
    int64_t verified = 0;

    if (hm_store_open(where, &store, &why)) {
        if (why.code != HM_E_IO || !strstr(why.message, "write-ahead log is damaged") ||
            !strstr(why.hint, "runs recover"))
            fail_msg("%s (%s)", why.message, why.hint);
        return -1;
    }
    assert_done(hm__store_verify(store, false, &verified, err));
    assert_done(hm_store_list(store, &filter, &page, err));
    int count = (int)page->count;
    assert_int_equal(verified, count);
    assert_int_equal(count % BATCH_RUNS, 0);
    for (int i = 0; i < count; i++)
        assert_true(page->runs[i].n == i + 1 && page->runs[i].seconds == seconds_of(i));
    hm_store_page_free(page);
    hm_store_close(store);
    return count;
}

/* Number of runs that can be read from a damaged store one by one. */
static int count_damaged(const char *where, bool before)
{
    struct hm_store *store = NULL;
    int count = 0;

    assert_done(hm__store_open_damaged(where, before, &store, err));
    for (int id = 1; id <= ALL; id++) {
        char text[32];
        const char *const conditions[] = {text};
        struct hm_store_filter filter = {.where = conditions, .where_count = 1};
        struct hm_store_page *page = NULL;
        snprintf(text, sizeof(text), "id=%d", id);
        if (hm_store_list(store, &filter, &page, NULL) == 0 && page->count == 1) {
            assert_true(page->runs[0].n == id);
            count++;
        }
        hm_store_page_free(page);
    }
    hm_store_close(store);
    return count;
}

static void every_changed_byte_of_the_log_is_found(void **state)
{
    struct crashed *c = crash(false);
    size_t step = is_torture() ? 37 : 3001, refused = 0, sound = 0, read = 0, before = 0;

    (void)state;
    restore(c, c->log_size);
    assert_int_equal(count_runs(c->where), ALL);
    for (size_t at = 0; at < c->log_size; at += at < HEAD + 24 ? 1 : step) {
        unsigned char bit = (unsigned char)(1 << (at / 7 % 8));
        c->log[at] ^= bit;
        restore(c, c->log_size);
        int runs = count_runs(c->where);
        if (runs >= 0 && runs != ALL)
            fail_msg("byte %zu of %zu: %d runs are left", at, c->log_size, runs);
        if (runs < 0) {
            /* The refused store is not changed, and most of it can be read. */
            assert_int_equal(count_runs(c->where), -1);
            read += (size_t)count_damaged(c->where, false);
            before += (size_t)count_damaged(c->where, true);
        }
        refused += runs < 0;
        sound += runs == ALL;
        c->log[at] ^= bit;
    }
    print_message("# %zu changes: %zu refused, %zu without effect; of %zu runs, %zu can be read, "
                  "%zu lie before the damage\n",
                  refused + sound, refused, sound, refused * ALL, read, before);
    /* Only the mark at the end has no effect. */
    assert_true(refused > 60 && sound < MARK);
    assert_true(read > before);
    forget(c);
}

/* Without the mark, which a power cut can remove, the last batch may be incomplete. All batches
 * before it were synced, but if the last frame of one of them is damaged, its end is not known. */
static void damage_before_the_last_batch_is_found_without_a_mark(void **state)
{
    struct crashed *c = crash(false);
    size_t last = c->batch_end[BATCHES - 2] - MARK, lost = 0;

    (void)state;
    assert_int_equal((c->log_size - MARK - HEAD) % FRAME, 0);
    memset(c->log + c->log_size - MARK, 0, MARK);
    for (size_t at = HEAD; at < c->log_size; at += is_torture() ? 211 : 5003) {
        c->log[at] ^= 0x10;
        restore(c, c->log_size);
        int runs = count_runs(c->where);
        bool allowed = at < last - FRAME ? runs == -1
                       : at < last       ? runs == -1 || runs == ALL - 2 * BATCH_RUNS
                                         : runs == ALL - BATCH_RUNS;
        if (!allowed)
            fail_msg("byte %zu, the last batch begins at %zu: %d runs", at, last, runs);
        lost += runs == ALL - BATCH_RUNS;
        c->log[at] ^= 0x10;
    }
    assert_true(lost > 0);
    forget(c);
}

/* A log that ends anywhere, and one whose last batch was written only in parts, are accepted. */
static void incomplete_logs_are_accepted(void **state)
{
    struct crashed *c = crash(false);
    size_t last = c->batch_end[BATCHES - 2] - MARK;

    (void)state;
    for (size_t size = 0; size < c->log_size; size += is_torture() ? 101 : 9001) {
        int batches = 0;
        while (batches < BATCHES && c->batch_end[batches] - MARK <= size)
            batches++;
        restore(c, size);
        assert_int_equal(count_runs(c->where), batches * BATCH_RUNS);
    }
    memset(c->log + c->log_size - MARK, 0, MARK);
    for (size_t i = 0; i < 12; i++) {
        size_t from = last + i * 2797 % (c->log_size - MARK - last), length = 1 + i * 61;
        for (int again = 0; again < 2; again++) {
            for (size_t at = from; at < from + length && at < c->log_size - MARK; at++)
                c->log[at] ^= 0xa5;
            if (again)
                break;
            restore(c, c->log_size);
            assert_int_equal(count_runs(c->where), ALL - BATCH_RUNS);
        }
    }
    forget(c);
}

/* If the file has all pages of the log, a damaged header loses nothing. A power cut can leave such
 * a header when SQLite begins the log again. */
static void logs_that_were_copied_may_lose_their_header(void **state)
{
    struct crashed *c = crash(true);

    (void)state;
    for (size_t at = 0; at < HEAD; at++) {
        c->log[at] ^= 0x20;
        restore(c, c->log_size);
        assert_int_equal(count_runs(c->where), ALL);
        c->log[at] ^= 0x20;
    }
    memset(c->log, 0, HEAD);
    restore(c, c->log_size);
    assert_int_equal(count_runs(c->where), ALL);
    /* If one page of the file is older than the log, the log is needed. */
    struct crashed *other = crash(false);
    memset(other->log, 0, HEAD);
    restore(other, other->log_size);
    assert_int_equal(count_runs(other->where), -1);
    forget(other);
    forget(c);
}

/* Programs that open a store while another one writes to it do not take its log for damaged. */
static void stores_in_use_are_not_refused(void **state)
{
    struct crashed *c = crash(false);
    int status, opened = 0;

    (void)state;
    restore(c, c->log_size);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct hm_store *store = NULL;
        must(hm_store_open(c->where, &store, NULL) == 0);
        for (int i = 0; i < 150; i++) {
            struct hm_stored run = some_run(1000 + i, 1);
            must(hm_store_add(store, &run, 1, NULL, NULL, NULL) == 0);
        }
        kill(getpid(), SIGKILL);
    }
    while (waitpid(child, &status, WNOHANG) == 0) {
        struct hm_store *store = open_store(c->where);
        assert_true(count_where(store, NULL) >= ALL);
        hm_store_close(store);
        opened++;
    }
    assert_true(opened > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    struct hm_store *store = open_store(c->where);
    assert_int_equal(count_where(store, NULL), ALL + 150);
    assert_refused(hm__store_open_damaged(c->where, true, &store, err), HM_E_IO, "");
    hm_store_close(store);
    forget(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_changed_byte_of_the_log_is_found),
        cmocka_unit_test(damage_before_the_last_batch_is_found_without_a_mark),
        cmocka_unit_test(incomplete_logs_are_accepted),
        cmocka_unit_test(logs_that_were_copied_may_lose_their_header),
        cmocka_unit_test(stores_in_use_are_not_refused),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
