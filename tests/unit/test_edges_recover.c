/*
 * Tests boundaries of the verbs that check and copy a store, of recording imports, and of hints and
 * missing memory in the verbs of a store. The store is a file of SQLite in a temporary folder.
 */
#include "request_testing.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"
#include "store_access.h"

static char copy[80], small[80];
static struct hm_context with_store = {.store = &store_access};

static int make_folder(void **state)
{
    (void)state;
    with_store.files = hm_local_files(); /* Only requests that may open files may name a store. */
    snprintf(folder, sizeof(folder), "/tmp/hm-recover-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/runs.db", folder);
    snprintf(copy, sizeof(copy), "%s/copy.db", folder);
    snprintf(small, sizeof(small), "%s/small.db", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    remove_files(path);
    remove_files(copy);
    remove_files(small);
    return rmdir(folder);
}

static struct hm_request *verb_with(const char *verb, const char *field, const char *value)
{
    struct hm_request *request = new_request(verb);

    if (field)
        set(request, field, value);
    return request;
}

/* Checks that the answer has exactly this text; the answer depends on the store. */
static void text_is(struct hm_request *request, const struct hm_context *context, const char *text)
{
    struct hm_reply *reply = run(request, context);

    assert_string_equal(reply->text, text);
    assert_true(reply->from_store);
    hm_reply_free(reply);
}

static void fails_with_hint(struct hm_request *request, const struct hm_context *context, int code,
                            const char *message, const char *hint)
{
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};
    int rc = hm_request_run(request, context, &reply, &err);

    if (rc != code || !strstr(err.message, message) || !strstr(err.hint, hint))
        fail_msg("%d: '%s' (%s)", rc, err.message, err.hint);
    hm_request_free(request);
}

static void answers_of_the_store_are_texts(void **state)
{
    struct hm_request *request = verb_with("runs add", "value", "n=1");

    (void)state;
    set(request, "value", "seconds=3");
    text_is(request, &with_store, "added\n");
    request = verb_with("runs add", "value", "n=1");
    set(request, "value", "seconds=3");
    set(request, "key", "twice");
    gives(request, &with_store, {"runs", 1, NULL}, {"traces", 0, NULL}, {"added", 1, NULL},
          {"ids", 1, NULL});
    request = new_request("runs import");
    set_document(request, "runs", "n,seconds\n2,2\n4,1\n");
    text_is(request, &with_store, "runs: 2 runs, 2 new\n");
    request = new_request("runs import");
    set_document(request, "runs",
                 "algorithm,m,iteration,seconds,loss\ngd,1,1,1,1\ngd,1,2,1,0.5\ngd,2,1,1,1\n");
    text_is(request, &with_store, "runs: 2 traces, 2 new\n");
    request = verb_with("runs import", "key", "k");
    set_document(request, "runs", "n,seconds\n8,2\n");
    text_is(request, &with_store, "runs: 1 runs, 1 new\n");
    request = verb_with("runs import", "key", "k");
    set_document(request, "runs", "n,seconds\n8,2\n");
    text_is(request, &with_store, "runs: 1 runs, 0 new\n");
    text_is(new_request("runs check"), &with_store, "7 runs, no damage found\n");
    request = new_request("runs import");
    set_document(request, "runs", "n,seconds\n16,2\n32,1\n");
    set_document(request, "runs", "n,seconds\n64,1\n");
    gives(request, &with_store, {"runs", 3, NULL}, {"traces", 0, NULL}, {"added", 3, NULL},
          {"ids", 3, NULL});
}

static void hints_say_what_to_do(void **state)
{
    const struct hm_context nothing = {0};

    (void)state;
    fails_with_hint(new_request("runs add"), &with_store, HM_E_MISSING, "no value is given",
                    "give NAME=VALUE, such as n=4 batch=64 seconds=1.5");
    fails_with_hint(new_request("runs import"), &with_store, HM_E_MISSING, "no table is given",
                    "give a table of runs or traces, CSV or JSON lines");
    fails_with_hint(new_request("runs put"), &with_store, HM_E_MISSING, "are needed",
                    "such as fit mnist fit.json");
    fails_with_hint(new_request("runs get"), &with_store, HM_E_MISSING, "are needed",
                    "`howmany runs documents` lists them");
    fails_with_hint(new_request("runs show"), &with_store, HM_E_MISSING, "no id",
                    "`howmany runs list` shows ids");
    fails_with_hint(verb_with("runs add", "value", "n=1"), &nothing, HM_E_UNSUPPORTED, "no store",
                    "let the server keep a store of runs");
    fails_with_hint(new_request("runs list"), &nothing, HM_E_UNSUPPORTED, "no store",
                    "send the runs with the request");
    fails_with_hint(verb_with("fit", "where", "n=99"), &with_store, HM_E_MISSING, "no such runs",
                    "`howmany runs import` adds tables of runs");
    fails_with_hint(verb_with("converge", "where", "m=99"), &with_store, HM_E_MISSING, "",
                    "`howmany train` records traces; or name a file of them");
}

/* An import is recorded: the 2 steps after the first as runs, or their losses as one trace. */
static void imports_are_recorded(void **state)
{
    static const char log[] = "iter 0: loss 10.5, time 900.00ms, mfu 1%\n"
                              "iter 10: loss 9.5, time 80.00ms, mfu 1%\n"
                              "iter 20: loss 9.25, time 120.00ms, mfu 1%\n";

    (void)state;
    for (int traces = 0; traces < 2; traces++) {
        struct hm_request *request = with_document("import", "files", log);
        set(request, "set", "n=128");
        set(request, "record", path);
        if (traces)
            set(request, "to", "traces");
        struct hm_reply *reply = run(request, &with_store);
        const char *end = traces ? "\n1 traces recorded\n" : "\n2 runs recorded\n";
        assert_non_null(strstr(reply->text, end));
        assert_true(reply->from_store);
        hm_reply_free(reply);
    }
    gives(verb_with("runs list", "where", "n=128"), &with_store, {"runs", 3, NULL});
    struct hm_request *request = with_document("import", "files",
                                               "distributed_type: DEEPSPEED\nnum_machines: 2\n"
                                               "num_processes: 16\ndeepspeed_config:\n"
                                               "  zero_stage: 2\n");
    set(request, "record", path);
    set(request, "to", "document");
    run_fails(request, &with_store, HM_E_CONFLICT, "record", "runs and traces");
}

/* ---- copies ---------------------------------------------------------------------------------- */

enum { MANY = 2500 };

/* Makes a store of `count` runs, on 1 to `count` workers. */
static void make_large_store(const char *file, size_t count)
{
    struct hm_stored *runs = calloc(count, sizeof(*runs));
    struct hm_store *store = NULL;
    struct hm_err err = {0};

    assert_non_null(runs);
    if (hm_store_open(file, &store, &err))
        fail_msg("%s", err.message);
    for (size_t i = 0; i < count; i++) {
        runs[i] = (struct hm_stored)HM_STORED_INIT;
        runs[i].n = (double)(i + 1);
        runs[i].seconds = 1;
    }
    if (hm_store_add(store, runs, count, NULL, NULL, &err))
        fail_msg("%s", err.message);
    hm_store_close(store);
    free(runs);
}

/* Counts the runs that can be read one at a time. */
static int count_readable(const char *file)
{
    struct hm_store *store = NULL;
    int count = 0;

    assert_int_equal(hm_store_open(file, &store, NULL), 0);
    for (int id = 1; id <= MANY; id++) {
        char text[32];
        const char *const where[] = {text};
        const struct hm_store_filter filter = {.where = where, .where_count = 1, .samples = true};
        struct hm_store_page *page = NULL;
        snprintf(text, sizeof(text), "id=%d", id);
        if (hm_store_list(store, &filter, &page, NULL) == 0)
            count += (int)page->count;
        hm_store_page_free(page);
    }
    hm_store_close(store);
    return count;
}

/* Runs that were deleted leave gaps in the ids, also at the end. */
static void sound_stores_are_copied(void **state)
{
    struct hm_request *request;
    char text[80];

    (void)state;
    remove_files(path);
    make_large_store(path, MANY);
    request = verb_with("runs delete", "where", "n>2490");
    set(request, "yes", "true");
    text_is(request, &with_store, "10 deleted\n");
    text_is(new_request("runs check"), &with_store, "2490 runs, no damage found\n");
    request = verb_with("runs recover", "to", "same.db");
    set(request, "record", "same.db");
    run_fails(request, &with_store, HM_E_CONFLICT, "to", "this is the store that is copied");
    run_fails(new_request("runs recover"), &with_store, HM_E_MISSING, "to",
              "no store for the copy");
    char nowhere[100];
    snprintf(nowhere, sizeof(nowhere), "%s/no/copy.db", folder);
    /* An error of the new store is not reported as damage of the old one. */
    request = verb_with("runs recover", "to", nowhere);
    struct hm_reply *reply = NULL;
    assert_true(hm_request_run(request, &with_store, &reply, NULL) < 0);
    hm_request_free(request);
    request = verb_with("runs recover", "to", copy);
    snprintf(text, sizeof(text), "2490 runs copied; the largest id was 2490\n");
    text_is(request, &with_store, text);
    request = verb_with("runs list", "record", copy);
    set(request, "where", "n>=1");
    set(request, "limit", "5000");
    set(request, "sort", "n");
    gives(request, &with_store, {"runs", 2490, NULL}, {"runs.0.n", 1, NULL},
          {"runs.1023.n", 1024, NULL}, {"runs.1024.n", 1025, NULL}, {"runs.2489.n", 2490, NULL});
    remove_files(copy);
}

/* A copy reads 1024 runs at once: the last run of a part, and the first and last run of the next
 * part, are copied once. */
static void parts_of_a_copy_do_not_overlap(void **state)
{
    static const size_t counts[] = {1023, 1024, 1025, 1026, 2048, 2049};
    char text[80];

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        remove_files(path);
        remove_files(copy);
        make_large_store(path, counts[i]);
        snprintf(text, sizeof(text), "%zu runs copied; the largest id was %zu\n", counts[i],
                 counts[i]);
        text_is(verb_with("runs recover", "to", copy), &with_store, text);
        snprintf(text, sizeof(text), "%zu runs, no damage found\n", counts[i]);
        text_is(verb_with("runs check", "record", copy), &with_store, text);
        snprintf(text, sizeof(text), "n=%zu", counts[i]);
        struct hm_request *request = verb_with("runs list", "record", copy);
        set(request, "where", text);
        gives(request, &with_store, {"runs", 1, NULL});
    }
    remove_files(copy);
}

/* Exactly those runs must be copied that can be read one at a time. */
static void damaged_stores_are_copied(void **state)
{
    char text[120], *page = NULL;
    int readable;

    (void)state;
    remove_files(path);
    make_large_store(path, MANY);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    long size = ftell(file) / 4096 * 4096;
    page = calloc(1, 4096);
    assert_non_null(page);
    memset(page, 0x5a, 4096);
    for (long k = 1; k <= 8; k++) {
        fseek(file, size * k / 9 / 4096 * 4096, SEEK_SET);
        assert_int_equal(fwrite(page, 1, 4096, file), 4096);
    }
    free(page);
    assert_int_equal(fclose(file), 0);
    readable = count_readable(path);
    if (readable == 0 || readable == MANY)
        fail_msg("%d runs can be read", readable);
    fails_with_hint(new_request("runs check"), &with_store, HM_E_IO, "damage", "");
    snprintf(text, sizeof(text), "%d runs copied; the largest id was %d; %d ids cannot be read\n",
             readable, MANY, MANY - readable);
    text_is(verb_with("runs recover", "to", copy), &with_store, text);
    snprintf(text, sizeof(text), "%d runs, no damage found\n", readable);
    text_is(verb_with("runs check", "record", copy), &with_store, text);
}

/* Adds runs to the copy after the file of the store that is copied was removed. */
static int remove_and_add(void *data, const char *where, struct hm_store_batch *batch,
                          struct hm_err *err)
{
    unlink(path);
    return access_add(data, where, batch, err);
}

/* A store that is removed while it is copied is not one whose runs cannot be read: the copy would
 * end as if it were complete. */
static void a_store_that_is_removed_is_not_copied(void **state)
{
    struct hm_store_access access = store_access;
    struct hm_context context = with_store;

    (void)state;
    remove_files(path);
    remove_files(copy);
    make_large_store(path, MANY);
    access.add = remove_and_add;
    context.store = &access;
    fails_with_hint(verb_with("runs recover", "to", copy), &context, HM_E_IO,
                    "its file was removed or replaced", "");
}

/* Changes a store by statements of SQL. Its pages must have no checksums. */
static void change_store(const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* A run that no store accepts, which an earlier version took, does not prevent a copy of the
 * others. */
static void refused_runs_are_left_out(void **state)
{
    enum { RUNS = 1200 };
    struct hm_request *request;

    (void)state;
    remove_files(path);
    remove_files(copy);
    change_store("CREATE TABLE other (x)");
    make_large_store(path, RUNS);
    change_store("UPDATE runs SET key = CAST(x'ff' AS TEXT) WHERE id = 7");
    text_is(verb_with("runs recover", "to", copy), &with_store,
            "1199 runs copied; the largest id was 1200\n"
            "1 runs left out, because a store refuses them (the first: key: is not UTF-8 at byte "
            "1); their ids: 7\n");
    remove_files(copy);
    change_store("UPDATE runs SET made_at = 'now' WHERE id = 3 OR id = 1200");
    text_is(verb_with("runs recover", "to", copy), &with_store,
            "1197 runs copied; the largest id was 1200\n"
            "3 runs left out, because a store refuses them (the first: made_at: 'now' is not a "
            "time); their ids: 3 7 1200\n");
    request = verb_with("runs show", "record", copy);
    set(request, "id", "1197");
    hm_reply_free(run(request, &with_store));
    text_is(verb_with("runs check", "record", copy), &with_store, "1197 runs, no damage found\n");
}

/* A damaged number of samples, or a damaged id, does not prevent a copy of the others. */
static void damaged_numbers_do_no_harm(void **state)
{
    struct hm_reply *reply = NULL;

    (void)state;
    remove_files(path);
    remove_files(copy);
    change_store("CREATE TABLE other (x)");
    make_large_store(path, 40);
    change_store("UPDATE runs SET sample_count = -1 WHERE id = 5;"
                 "UPDATE runs SET sample_count = 300000000000 WHERE id = 6;"
                 "UPDATE runs SET id = 9000000000000000000 WHERE id = 7");
    text_is(verb_with("runs recover", "to", copy), &with_store,
            "40 runs copied; the largest id was 9000000000000000000\n");
    text_is(verb_with("runs check", "record", copy), &with_store, "40 runs, no damage found\n");
    change_store("UPDATE runs SET algorithm = 7 WHERE id = 9;"
                 "INSERT INTO documents (kind, name, made_at, body) VALUES ('a', 'b', 'c', 5)");
    struct hm_request *request = verb_with("runs list", "sort", "algorithm");
    hm_request_run(request, &with_store, &reply, NULL); /* It may fail. */
    hm_reply_free(reply);
    hm_request_free(request);
    remove_files(copy);
    hm_reply_free(run(verb_with("runs recover", "to", copy), &with_store));
}

/* Changes one byte of a page. */
static void change_page(size_t page)
{
    const long at = (long)page * 4096 + 2048;
    FILE *file = fopen(path, "r+b");

    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 0x10, file);
    assert_int_equal(fclose(file), 0);
}

/* Returns the number of runs that are copied. */
static int count_copied(void)
{
    struct hm_reply *reply = NULL;

    remove_files(copy);
    reply = run(verb_with("runs recover", "to", copy), &with_store);
    int copied = atoi(reply->text);
    hm_reply_free(reply);
    return copied;
}

/*
 * A damaged page with runs hides only these, also if it is the last one; only the page that names
 * all others hides all. Damage to any other page, such as that with the version, hides none.
 */
static void a_damaged_page_hides_only_its_own_runs(void **state)
{
    enum { RUNS = 300, PAGES = 30 };
    int hidden = 0, none = 0;
    struct stat file;

    (void)state;
    remove_files(path);
    make_large_store(path, RUNS);
    assert_int_equal(stat(path, &file), 0);
    const size_t pages = (size_t)file.st_size / 4096;
    assert_true(pages > PAGES);
    for (size_t page = 1; page < pages; page++) {
        change_page(page);
        int copied = count_copied();
        none += copied == 0;
        hidden += copied == 0 ? 0 : RUNS - copied;
        change_page(page);
    }
    assert_int_equal(none, 1);
    assert_int_equal(hidden, RUNS);
}

/* ---- checksums --------------------------------------------------------------------------------
 */

/* A database that existed before howmany used it has no checksums until they are added. */
static void checksums_are_added(void **state)
{
    struct hm_request *request;
    sqlite3 *db;

    (void)state;
    remove_files(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE other (x)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    request = verb_with("runs add", "value", "n=1");
    set(request, "value", "seconds=3");
    text_is(request, &with_store, "added\n");
    text_is(new_request("runs check"), &with_store,
            "1 runs, no damage found; the pages have no checksums (add_checksums adds them)\n");
    text_is(verb_with("runs check", "add_checksums", "true"), &with_store,
            "1 runs, no damage found; the pages have checksums now\n");
    text_is(verb_with("runs check", "add_checksums", "true"), &with_store,
            "1 runs, no damage found\n");
    /* A caller without files, such as a client of a server, may not rewrite the store. */
    const struct hm_context remote = {.store = &store_access};
    run_fails(verb_with("runs check", "add_checksums", "true"), &remote, HM_E_UNSUPPORTED,
              "add_checksums", "");
}

/* ---- a damaged log ----------------------------------------------------------------------------
 */

enum { LOGGED = 16 };

/* A child process adds runs and documents, one by one, and is killed, so that its log stays. */
static void make_crashed_store(void)
{
    struct hm_store *store = NULL;
    int status;
    pid_t child;

    remove_files(path);
    assert_int_equal(hm_store_open(path, &store, NULL), 0);
    hm_store_close(store); /* The tables are in the file, the rest in the log. */
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int rc = hm_store_open(path, &store, NULL);
        for (int i = 0; rc == 0 && i < LOGGED; i++) {
            struct hm_stored one = HM_STORED_INIT;
            char key[16];
            snprintf(key, sizeof(key), "run %d", i);
            one.n = i + 1;
            one.seconds = 1;
            one.key = i % 2 ? key : NULL;
            rc = hm_store_add(store, &one, 1, NULL, NULL, NULL);
            if (rc == 0 && i % 8 == 0)
                rc = hm_store_put(store, "job", i ? "second" : "first", "a text", NULL);
        }
        if (rc == 0)
            kill(getpid(), SIGKILL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

/* Changes a byte of the log; a negative place counts from the end. */
static void change_log(long place)
{
    char name[100];

    snprintf(name, sizeof(name), "%s-wal", path);
    FILE *file = fopen(name, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, place, place < 0 ? SEEK_END : SEEK_SET), 0);
    int byte = fgetc(file);
    assert_true(byte != EOF);
    assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
    fputc(byte ^ 1, file);
    assert_int_equal(fclose(file), 0);
}

/* A store with a damaged log is refused until its runs and documents are copied. */
static void damaged_logs_are_copied(void **state)
{
    /* The page of the first frame, which later frames replace; the salts of a frame; the header. */
    static const long places[] = {32 + 24 + 1000, 32 + 4120 + 9, 20};
    struct hm_request *request;

    (void)state;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        make_crashed_store();
        change_log(places[i]);
        remove_files(copy);
        for (int again = 0; again < 2; again++)
            fails_with_hint(new_request("runs check"), &with_store, HM_E_IO,
                            "its write-ahead log is damaged", "howmany runs recover NEW.db");
        text_is(verb_with("runs recover", "to", copy), &with_store,
                "16 runs and 2 documents copied; the largest id was 16\n");
        text_is(verb_with("runs check", "record", copy), &with_store, "16 runs, no damage found\n");
        request = verb_with("runs get", "record", copy);
        set(request, "kind", "job");
        set(request, "name", "second");
        text_is(request, &with_store, "a text");
    }
    /* The last page of the last transaction is lost, but not what it had before. */
    make_crashed_store();
    change_log(-40 - 2000);
    remove_files(copy);
    request = verb_with("runs recover", "to", copy);
    struct hm_reply *reply = run(request, &with_store);
    int runs = atoi(reply->text);
    char text[80];
    if (runs < LOGGED - 1 || !strstr(reply->text, " runs and 2 documents copied; the largest id"))
        fail_msg("%s", reply->text);
    hm_reply_free(reply);
    snprintf(text, sizeof(text), "%d runs, no damage found\n", runs);
    text_is(verb_with("runs check", "record", copy), &with_store, text);
}

/* Requests that may not open damaged stores get the reason why the store cannot be opened. */
static void damaged_logs_need_a_right(void **state)
{
    struct hm_store_access less = store_access;
    struct hm_context context = with_store;

    (void)state;
    less.open_damaged = NULL;
    context.store = &less;
    make_crashed_store();
    change_log(2000);
    fails_with_hint(verb_with("runs recover", "to", copy), &context, HM_E_IO,
                    "its write-ahead log is damaged", "");
}

/* Another name of the store that is copied is refused, also if the store is damaged. */
static void other_names_of_a_store_are_refused(void **state)
{
    char spelled[100];
    const char *const names[] = {path, spelled, copy, small};

    (void)state;
    remove_files(copy);
    remove_files(small);
    snprintf(spelled, sizeof(spelled), "%s/./runs.db", folder);
    for (int damaged = 0; damaged < 2; damaged++) {
        make_crashed_store();
        if (damaged)
            change_log(2000);
        assert_int_equal(link(path, copy), 0);
        assert_int_equal(symlink("runs.db", small), 0);
        for (size_t i = 0; i < 8; i++) {
            struct hm_request *request = verb_with("runs recover", "to", names[i % 4]);
            if (i < 4) /* Otherwise, the store is the default one. */
                set(request, "record", path);
            run_fails(request, &with_store, HM_E_CONFLICT, "to",
                      "this is the store that is copied");
        }
        remove_files(copy);
        remove_files(small);
    }
}

/* ---- missing memory -------------------------------------------------------------------------- */

/* A request to the small store: a document and up to three fields. */
struct call {
    const char *verb, *document, *text, *fields[3][2];
};

/* Runs the request. If *text is NULL, it receives the text of the answer; otherwise the answer must
 * have the same text. */
static int run_call(const struct call *call, char **text)
{
    struct hm_request *request = NULL;
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};
    int rc = hm_request_new(call->verb, &request, &err);

    if (rc == 0 && call->document)
        rc = hm_request_set_document(request, call->document, "d", call->text, strlen(call->text),
                                     &err);
    for (size_t i = 0; rc == 0 && i < 3 && call->fields[i][0]; i++)
        rc = hm_request_set(request, call->fields[i][0], call->fields[i][1], &err);
    if (rc == 0)
        rc = hm_request_set(request, "record", small, &err);
    if (rc == 0)
        rc = hm_request_run(request, &with_store, &reply, &err);
    if (rc == 0 && *text)
        assert_string_equal(reply->text, *text);
    else if (rc == 0)
        *text = strdup(reply->text);
    else
        assert_int_equal(err.code, rc);
    hm_reply_free(reply);
    hm_request_free(request);
    return rc;
}

/* A request that runs out of memory must fail with that error, and must give its answer once there
 * is enough memory. */
static void store_verbs_may_lack_memory(void **state)
{
    static const struct call calls[] = {
        {"runs add", NULL, NULL, {{"value", "n=1"}, {"value", "seconds=1"}, {"key", "a"}}},
        {"runs import", "runs", "n,seconds,key\n1,10,b\n2,6,c\n", {{"json", "true"}}},
        {"runs import", "runs", "n,seconds,key\n1,10,b\n2,6,c\n", {{NULL, NULL}}},
        {"runs list", NULL, NULL, {{"json", "true"}}},
        {"runs list", NULL, NULL, {{"limit", "1"}}},
        {"runs list", NULL, NULL, {{"csv", "true"}}},
        {"runs show", NULL, NULL, {{"id", "1"}}},
        {"runs show", NULL, NULL, {{"id", "1"}, {"json", "true"}}},
        {"runs export", NULL, NULL, {{"json", "true"}}},
        {"runs export", NULL, NULL, {{"csv", "true"}}},
        {"runs check", NULL, NULL, {{NULL, NULL}}},
        {"runs put", "file", "a text", {{"kind", "fit"}, {"name", "x"}}},
        {"runs get", NULL, NULL, {{"kind", "fit"}, {"name", "x"}}},
        {"runs documents", NULL, NULL, {{"json", "true"}}},
        {"runs documents", NULL, NULL, {{NULL, NULL}}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        char *text = NULL;
        int rc = run_call(&calls[i], &text);
        /* The second answer is compared, because the store then has the run or document. */
        free(text);
        text = NULL;
        rc = rc ? rc : run_call(&calls[i], &text);
        if (rc)
            fail_msg("%s: %d", calls[i].verb, rc);
        rc = HM_E_NOMEM;
        for (long after = 0; rc; after += after < 60 ? 1 : 5) {
            hm__alloc_fail_after(after);
            rc = run_call(&calls[i], &text);
            hm__alloc_fail_after(-1);
            if (rc && rc != HM_E_NOMEM)
                fail_msg("%s, allocation %ld: %d", calls[i].verb, after, rc);
        }
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_of_the_store_are_texts),
        cmocka_unit_test(hints_say_what_to_do),
        cmocka_unit_test(imports_are_recorded),
        cmocka_unit_test(sound_stores_are_copied),
        cmocka_unit_test(parts_of_a_copy_do_not_overlap),
        cmocka_unit_test(damaged_stores_are_copied),
        cmocka_unit_test(a_store_that_is_removed_is_not_copied),
        cmocka_unit_test(refused_runs_are_left_out),
        cmocka_unit_test(damaged_numbers_do_no_harm),
        cmocka_unit_test(a_damaged_page_hides_only_its_own_runs),
        cmocka_unit_test(checksums_are_added),
        cmocka_unit_test(damaged_logs_are_copied),
        cmocka_unit_test(damaged_logs_need_a_right),
        cmocka_unit_test(other_names_of_a_store_are_refused),
        cmocka_unit_test(store_verbs_may_lack_memory),
    };

    return cmocka_run_group_tests_name("edges_recover", tests, make_folder, remove_folder);
}
