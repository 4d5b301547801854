/* Tests that a store and a file with the same runs give the same table, fit and traces. */
#include "store_testing.h"

#include <time.h>

#include "memory.h"
#include "table_add.h"
#include "table_keys.h"
#include "text.h"

/* Writes the same runs as a CSV file and as an array for the store. */
static void make_runs(char *csv, size_t room, struct hm_stored *runs, size_t count)
{
    size_t used = (size_t)snprintf(
        csv, room, "n,size,seconds,total,iterations,machine,algorithm,status,rate,gpu\n");

    for (size_t i = 0; i < count; i++) {
        double n = (double)(1 << i % 6), size = (double)(1 + i / 6 % 3) / 3;
        double seconds = 1.7 + 20.0 * size / n + 0.3 * log(n) + 0.01 * (double)(i * 7 % 5);
        runs[i] = some_run(n, seconds);
        runs[i].size = size;
        runs[i].total = i % 2 ? 10 * seconds : NAN;
        runs[i].iterations = i % 2 ? 10 : NAN;
        if (i % 4 == 1)
            runs[i].seconds = NAN;
        runs[i].machine = "m5";
        runs[i].algorithm = i % 3 ? "gd" : NULL;
        runs[i].status = i == 5 ? "timeout" : "ok";
        runs[i].more = i % 2 ? "{\"rate\": 0.5, \"gpu\": \"17\"}" : NULL;
        used += (size_t)snprintf(csv + used, room - used, "%.19g,%.19g,", n, size);
        if (i % 4 != 1)
            used += (size_t)snprintf(csv + used, room - used, "%.19g", seconds);
        used += i % 2 ? (size_t)snprintf(csv + used, room - used, ",%.19g,10,", 10 * seconds)
                      : (size_t)snprintf(csv + used, room - used, ",,,");
        used += (size_t)snprintf(csv + used, room - used, "m5,%s,%s,%s\n", i % 3 ? "gd" : "",
                                 i == 5 ? "timeout" : "ok", i % 2 ? "0.5,a17" : ",");
    }
}

static void assert_same_column(const struct hm_runs *a, const struct hm_runs *b, const char *name)
{
    const struct hm_column *x = hm_runs_column(a, name), *y = hm_runs_column(b, name);

    assert_true(x && y && !x->values == !y->values);
    for (size_t i = 0; i < a->count; i++) {
        if (x->values) {
            assert_near(x->values[i], y->values[i], 0);
        } else {
            assert_true(!x->labels[i] == !y->labels[i]);
            if (x->labels[i])
                assert_string_equal(x->labels[i], y->labels[i]);
        }
    }
}

static void a_fit_is_the_same_as_from_a_file(void **state)
{
    enum { COUNT = 36 };
    static char csv[8000];
    struct hm_stored runs[COUNT];
    struct hm_store *store = fresh_store();
    struct hm_store_filter filter = {.sort = "id"};
    struct hm_fit_settings settings = {0};
    struct hm_runs *table, *file;
    struct hm_fit *one, *other;

    (void)state;
    make_runs(csv, sizeof(csv), runs, COUNT);
    assert_done(hm_store_add(store, runs, COUNT, NULL, NULL, err));
    assert_done(hm_store_runs(store, &filter, &table, err));
    assert_done(hm_runs_parse(csv, strlen(csv), "runs.csv", &file, err));
    assert_int_equal(table->count, file->count);
    assert_int_equal(table->column_count, file->column_count);
    assert_int_equal(table->failed, 1);
    assert_int_equal(file->failed, 1);
    static const char *const same[] = {"n",       "size",      "seconds", "total", "iterations",
                                       "machine", "algorithm", "status",  "rate"};
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
        assert_same_column(table, file, same[i]);
    assert_string_equal(hm_runs_column(table, "gpu")->labels[1],
                        "17"); /* A string that looks like a number must stay a string. */
    assert_null(hm_runs_column(table, "latency"));
    assert_done(hm_fit_new(table, &settings, &one, err));
    assert_done(hm_fit_new(file, &settings, &other, err));
    assert_int_equal(one->term_count, other->term_count);
    for (size_t i = 0; i < one->term_count; i++) {
        assert_string_equal(one->terms[i].text, other->terms[i].text);
        assert_near(one->terms[i].value, other->terms[i].value, 0);
        assert_near(one->terms[i].low, other->terms[i].low, 0);
    }
    hm_fit_free(one);
    hm_fit_free(other);
    hm_runs_free(table);
    hm_runs_free(file);
    hm_store_close(store);
}

static void runs_without_a_time_are_left_out(void **state)
{
    struct hm_store *store = fresh_store();
    struct hm_stored runs[] = {some_run(1, NAN), some_run(2, NAN), some_run(3, 0), some_run(4, 2)};
    const char *where = "n<3";
    struct hm_store_filter filter = {.where = &where, .where_count = 1};
    struct hm_runs *table;

    (void)state;
    assert_refused(hm_store_runs(store, NULL, &table, err), HM_E_MISSING,
                   "no selected run has a time");
    runs[1].total = 5;
    runs[1].more = "\n{ \"note\"\n:\r\"a\\nb\" }\n";
    runs[2].status = "exit 3";
    assert_done(hm_store_add(store, runs, 4, NULL, NULL, err));
    assert_done(hm_store_runs(store, NULL, &table, err));
    assert_int_equal(table->count, 3);
    assert_int_equal(table->failed, 1);
    hm_runs_free(table);
    assert_done(hm_store_runs(store, &filter, &table, err));
    assert_int_equal(table->count, 1);
    assert_near(hm_runs_column(table, "seconds")->values[0], 5, 0);
    assert_string_equal(hm_runs_column(table, "note")->labels[0], "a\nb");
    hm_runs_free(table);
    hm_store_close(store);
}

/* Every run that passes the check can be read back as a table. */
static void odd_runs_do_no_harm(void **state)
{
    struct hm_store *store = fresh_store();
    struct hm_stored runs[] = {some_run(1, 1e-320), some_run(2, 1e50), some_run(3, 1)};
    struct hm_runs *table;

    (void)state;
    runs[0].machine = " \t";
    runs[0].algorithm = "1,5\"\x01\x1f";
    runs[0].seed = -1e-300;
    runs[1].latency = 0;
    runs[1].loss = -5;
    runs[1].more = "{\"x\": -0.0, \"y\": \"nan\", \"speedup\": 3}";
    runs[2].more = "{\"x\": \"text\", \"y\": 1e-300}";
    runs[2].status = "Done";
    assert_done(hm_store_add(store, runs, 3, NULL, NULL, err));
    assert_done(hm_store_runs(store, NULL, &table, err));
    assert_int_equal(table->count, 3);
    assert_near(hm_runs_column(table, "seconds")->values[2], 1e-320, 0);
    hm_runs_free(table);
    hm_store_close(store);
}

/* Adds a table in CSV to a store; `key` may be NULL. */
static int add_csv(struct hm_store *store, const char *csv, const char *key, struct hm_err *err)
{
    struct hm_run_sink sink = hm__store_sink(store);
    struct hm_added added = {0};
    struct hm_runs *runs = NULL;
    int rc = hm_runs_parse(csv, strlen(csv), "new.csv", &runs, err);

    if (rc == 0)
        rc = hm__table_add_runs(&sink, runs, key, &added, err);
    hm__added_release(&added);
    hm_runs_free(runs);
    return rc;
}

/* The values of seed, best and cost, which readers of tables do not know, are never dropped. */
static void numbers_of_the_store_are_kept_or_refused(void **state)
{
    static const struct {
        const char *csv;
        int code;
        const char *field, *message;
    } cases[] = {
        {"n,seconds,seed\n1,1,1\n1,1,2\n\n1,1,9007199254740993\n", HM_E_RANGE, "seed",
         "run 3: '9007199254740993' is too large, or has too many digits, for a number"},
        {"n,seconds,seed\n1,1,1\n1,1,2\n\n1,1,9.007199254740993e15\n", HM_E_RANGE, "seed",
         "run 3: '9.007199254740993e15' is too large, or has too many digits, for a number"},
        {"n,seconds,best\n1,1,1\n1,1,2\n\n1,1,1e51\n", HM_E_RANGE, "best",
         "run 3: '1e51' is too large, or has too many digits, for a number"},
        {"n,seconds,best\n1,1,1\n1,1,\n\n1,1,nope\n", HM_E_TYPE, "best",
         "run 3: 'nope' is not a number"},
        {"n,seconds,cost\n1,1,1\n1,1,nan\n\n1,1,3 parts\n", HM_E_TYPE, "cost",
         "run 3: '3 parts' is not a number"},
    };
    struct hm_store *store = fresh_store();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_err err = {0};
        assert_int_equal(add_csv(store, cases[i].csv, NULL, &err), cases[i].code);
        assert_string_equal(err.message, cases[i].message);
        assert_string_equal(err.field, cases[i].field);
        assert_int_equal(err.line, 5);
        assert_true(err.hint[0] != '\0');
        assert_int_equal(count_where(store, NULL), 0);
    }
    hm_store_close(store);
}

/* Cells that are not numbers, but do not hide any, leave the numbers of the column as they are. */
static void numbers_among_labels_are_stored(void **state)
{
    static const char rows[] = "{\"n\": 1, \"seconds\": 1, \"seed\": \"5\", \"cost\": \"$3\"}\n"
                               "{\"n\": 2, \"seconds\": 1, \"best\": 0.12345678901234567}\n"
                               "{\"n\": 3, \"seconds\": 1, \"best\": \"nan\", \"seed\": 7}\n";
    struct hm_store *store = fresh_store();

    (void)state;
    assert_done(add_csv(store, rows, NULL, err));
    assert_int_equal(count_where(store, "seed=5"), 1);
    assert_int_equal(count_where(store, "cost=3"), 1);
    assert_int_equal(count_where(store, "seed=7"), 1);
    assert_int_equal(count_where(store, "best=0.12345678901234567"), 1);
    assert_done(add_csv(store, "n,seconds,seed,tag\n4,1,008,7\n5,1,9,008\n", NULL, err));
    assert_int_equal(count_where(store, "seed=8"), 1);
    assert_int_equal(count_where(store, "seed=9"), 1);
    assert_int_equal(count_where(store, "tag=008"), 1);
    hm_store_close(store);
}

/* Numbers in columns that are texts in the store are stored as they are written. */
static void texts_that_look_like_numbers_are_stored(void **state)
{
    static const char *const where[] = {"job=42",       "version=1.10",    "version=1.1",
                                        "host=007",     "key=7",           "data=0.125",
                                        "algorithm=12", "data=10000000000"};
    struct hm_store *store = fresh_store();

    (void)state;
    assert_done(add_csv(store,
                        "n,seconds,job,version,host,key,data,algorithm\n"
                        "1,1,42,1.10,007,7,0.125,12\n1,1,43,1.1,7,8,1e10,13\n"
                        "1,1,,,,,,\n",
                        NULL, err));
    for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++)
        if (count_where(store, where[i]) != 1)
            fail_msg("%s: %lld", where[i], (long long)count_where(store, where[i]));
    assert_done(add_csv(store, "n,seconds,problem\n1,1,1\n", NULL, err));
    assert_done(add_csv(store, "n,seconds,problem\n1,1,2\n", NULL, err));
    assert_int_equal(count_where(store, NULL), 5);
    hm_store_close(store);
}

static void keys_are_utf8(void **state)
{
    struct hm_store *store = fresh_store();
    struct hm_err why = {0};

    (void)state;
    assert_int_equal(add_csv(store, "n,seconds\n1,1\n", "a\xff", &why), HM_E_RANGE);
    assert_string_equal(why.field, "key");
    assert_string_equal(why.message, "is not UTF-8 at byte 2");
    assert_int_equal(count_where(store, NULL), 0);
    assert_done(add_csv(store, "n,seconds\n1,1\n", "\xc3\xa9", err));
    assert_int_equal(count_where(store, "key=\xc3\xa9-1"), 1);
    hm_store_close(store);
}

static void assert_same_trace(const struct hm_trace *a, const struct hm_trace *b)
{
    assert_string_equal(a->algorithm, b->algorithm);
    assert_near(a->m, b->m, 0);
    assert_near(a->seed, b->seed, 0);
    assert_near(a->best, b->best, 0);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->restarts, b->restarts);
    for (size_t i = 0; i < a->count; i++) {
        assert_near(a->iteration[i], b->iteration[i], 0);
        assert_near(a->loss[i], b->loss[i], 0);
        assert_near(a->seconds[i], b->seconds[i], 0);
        assert_near(a->elapsed_s[i], b->elapsed_s[i], 0);
    }
}

/* Staleness is a key of `more`; an invalid value there does not make the trace unusable. */
static void traces_keep_their_staleness(void **state)
{
    static const char *const more[] = {NULL,
                                       "{\"consistency\":\"ssp\",\"staleness\":2.5}",
                                       "{\"simulated\":\"true\",\"consistency\":\"async\"}",
                                       "{\"staleness\":-3}",
                                       "{\"staleness\":\"much\",\"iteration\":7}",
                                       "{\"staleness\":1e50}"};
    static const double wanted[] = {0, 2.5, INFINITY, 0, 0, 0};
    enum { RUNS = sizeof(wanted) / sizeof(wanted[0]) };
    const struct hm_stored_sample samples[] = {{1, 1, 1, 3}, {2, 1, 2, 2}};
    struct hm_stored runs[RUNS];
    struct hm_store *store = fresh_store();
    struct hm_store_filter filter = {.sort = "id"};
    struct hm_traces *traces;

    (void)state;
    for (size_t i = 0; i < RUNS; i++) {
        double staleness = NAN;
        runs[i] = some_run(2, 1);
        runs[i].algorithm = "sgd";
        runs[i].more = more[i];
        runs[i].samples = samples;
        runs[i].sample_count = 2;
        assert_done(hm_stored_staleness(&runs[i], &staleness, err));
        assert_true(staleness == wanted[i]);
    }
    assert_done(hm_store_add(store, runs, RUNS, NULL, NULL, err));
    assert_done(hm_store_traces(store, &filter, &traces, err));
    assert_int_equal(traces->count, RUNS);
    for (size_t i = 0; i < RUNS; i++)
        assert_true(traces->traces[i].staleness == wanted[i]);
    hm_traces_free(traces);
    hm_store_close(store);
}

static void traces_are_the_same_as_from_a_file(void **state)
{
    enum { RUNS = 6, POINTS = 100 };
    static struct hm_stored_sample samples[RUNS][POINTS];
    static char csv[RUNS * POINTS * 120];
    struct hm_stored runs[RUNS + 2];
    struct hm_store *store = fresh_store();
    struct hm_store_filter filter = {.sort = "id"};
    struct hm_traces *one, *other;
    size_t used = (size_t)snprintf(csv, sizeof(csv),
                                   "algorithm,m,seed,iteration,seconds,elapsed_s,loss,best\n");

    (void)state;
    for (size_t i = 0; i < RUNS; i++) {
        runs[i] = some_run((double)(i + 1), NAN);
        runs[i].algorithm = i % 2 ? "sgd" : "gd";
        runs[i].seed = (double)i;
        runs[i].best = 0.125;
        runs[i].samples = samples[i];
        runs[i].sample_count = POINTS;
        for (size_t k = 0; k < POINTS; k++) {
            struct hm_stored_sample *s = &samples[i][k];
            *s = (struct hm_stored_sample){(double)(k + 1), 0.1 / (double)(i + 1),
                                           0.1 * (double)(k + 1) / (double)(i + 1),
                                           0.125 + pow(0.9, (double)k) / 3};
            used += (size_t)snprintf(csv + used, sizeof(csv) - used,
                                     "%s,%zu,%zu,%zu,%.19g,%.19g,%.19g,0.125\n", runs[i].algorithm,
                                     i + 1, i, k + 1, s->seconds, s->elapsed_s, s->loss);
        }
    }
    /* Two runs are not traces: one has no samples, the other has no sample with a loss. */
    const struct hm_stored_sample silent = {1, 1, 1, NAN};
    runs[RUNS] = runs[RUNS + 1] = some_run(1, 1);
    runs[RUNS].samples = &silent;
    runs[RUNS].sample_count = 1;
    assert_refused(hm_store_traces(store, NULL, &one, err), HM_E_MISSING, "samples with a loss");
    assert_done(hm_store_add(store, runs, RUNS + 2, NULL, NULL, err));
    assert_done(hm_store_traces(store, &filter, &one, err));
    assert_done(hm_traces_parse(csv, strlen(csv), "traces.csv", NULL, &other, err));
    assert_int_equal(one->count, other->count);
    assert_string_equal(one->measure, other->measure);
    assert_string_equal(one->unit, other->unit);
    for (size_t i = 0; i < one->count; i++)
        assert_same_trace(&one->traces[i], &other->traces[i]);
    hm_traces_free(one);
    hm_traces_free(other);
    hm_store_close(store);
}

/* Identical runs are separate traces; a run that diverged is marked. */
static void each_run_is_a_trace(void **state)
{
    static const struct hm_stored_sample samples[] = {{0, 1, 0, 9}, {1, 1, 1, 8}, {2, 1, 2, 7}};
    struct hm_store *store = fresh_store();
    struct hm_stored runs[2];
    struct hm_traces *traces;

    (void)state;
    runs[0] = some_run(2, NAN);
    runs[0].samples = samples;
    runs[0].sample_count = 3;
    runs[1] = runs[0];
    runs[1].status = "diverged";
    assert_done(hm_store_add(store, runs, 2, NULL, NULL, err));
    assert_done(hm_store_traces(store, NULL, &traces, err));
    assert_int_equal(traces->count, 2);
    assert_int_equal(traces->traces[0].count, 2);
    assert_true(traces->traces[0].diverged); /* The newest run comes first. */
    assert_false(traces->traces[1].diverged);
    assert_string_equal(traces->traces[0].algorithm, "");
    hm_traces_free(traces);
    hm_store_close(store);
}

/* ---- memory --------------------------------------------------------------------------------- */

static int whole_way(const char *where, struct hm_err *err)
{
    static const struct hm_stored_sample samples[70] = {{1, 1, 1, 5}, {2, 1, 2, 4}};
    struct hm_stored runs[3] = {some_run(1, 4), some_run(2, 2), some_run(4, 1)};
    const char *const conditions[] = {"n>=1", "machine=m", "rate<1"};
    struct hm_store_filter filter = {.where = conditions,
                                     .where_count = 3,
                                     .sort = "machine",
                                     .samples = true,
                                     .limit = 1,
                                     .since = "2000-01-01"};
    struct hm_store *store = NULL;
    struct hm_store_page *page = NULL, *next = NULL;
    struct hm_runs *table = NULL;
    struct hm_traces *traces = NULL;
    char *text = NULL;
    int64_t count;

    for (size_t i = 0; i < 3; i++) {
        runs[i].key = i == 0   ? "a"
                      : i == 1 ? "b"
                               : "c"; /* The runs have keys, because an earlier attempt may have
                                         stored a run already. */
        runs[i].machine = "m";
        runs[i].more = "{\"rate\": 0.5}";
    }
    runs[0].samples = samples;
    runs[0].sample_count = 70;
    int rc = hm_store_open(where, &store, err);
    if (rc == 0)
        rc = hm_store_add(store, runs, 3, NULL, NULL, err);
    if (rc == 0)
        rc = hm_store_list(store, &filter, &page, err);
    if (rc == 0) {
        filter.after = page->next;
        rc = hm_store_list(store, &filter, &next, err);
    }
    if (rc == 0)
        rc = hm_store_count(store, &filter, &count, err);
    if (rc == 0)
        rc = hm_store_runs(store, NULL, &table, err);
    if (rc == 0)
        rc = hm_store_traces(store, NULL, &traces, err);
    if (rc == 0)
        rc = hm_store_put(store, "fit", "x", "text", err);
    if (rc == 0)
        rc = hm_store_get(store, "fit", "x", &text, err);
    if (rc == 0)
        rc = hm_store_delete(store, &filter, NULL, err);
    hm_text_free(text);
    hm_store_page_free(page);
    hm_store_page_free(next);
    hm_runs_free(table);
    hm_traces_free(traces);
    hm_store_close(store);
    return rc;
}

/* ---- adding tables ---------------------------------------------------------------------------
 */

static int add_table(struct hm_store *store, const char *text, size_t length, struct hm_err *err)
{
    const struct hm_run_sink sink = hm__store_sink(store);
    struct hm_added added = {0};
    struct hm_runs *runs = NULL;
    int rc = hm_runs_parse(text, length, "table", &runs, err);

    if (rc == 0)
        rc = hm__table_add_runs(&sink, runs, NULL, &added, err);
    assert_int_equal(added.count, rc ? 0 : added.id_count);
    hm__added_release(&added);
    hm_runs_free(runs);
    return rc;
}

/* A table of several batches is added completely or not at all, if a key near its end is known. */
static void large_tables_are_added_completely_or_not(void **state)
{
    enum { ROWS = 16400 };
    struct hm_store *store = fresh_store();
    struct hm_stored known = some_run(4, 2);
    struct hm_text text = {0};

    (void)state;
    known.key = "k-16390";
    assert_done(hm_store_add(store, &known, 1, NULL, NULL, err));
    hm__text_add(&text, "n,seconds,key\n");
    for (int i = 0; i < ROWS; i++)
        hm__text_addf(&text, "2,%d,k-%d\n", i + 1, i);
    assert_refused(add_table(store, text.data, text.length, err), HM_E_CONFLICT, "'k-16390'");
    assert_int_equal(count_where(store, NULL), 1);
    hm__text_release(&text);
    hm_store_close(store);
}

static int count_batches(void *count, struct hm_store_batch *batch, struct hm_err *ignored)
{
    (void)ignored;
    *(int *)count += 1;
    batch->added = batch->count;
    for (size_t i = 0; batch->ids && i < batch->count; i++)
        batch->ids[i] = (int64_t)i;
    return 0;
}

/* All traces are checked before any is stored, and many are sent at once. */
static void traces_are_checked_and_sent_together(void **state)
{
    enum { TRACES = 300 };
    int batches = 0;
    const struct hm_run_sink sink = {.data = &batches, .add = count_batches};
    struct hm_added added = {0};
    struct hm_traces *traces;
    struct hm_text text = {0};

    (void)state;
    hm__text_add(&text, "algorithm,m,iteration,seconds,loss\n");
    for (int i = 0; i < TRACES; i++)
        hm__text_addf(&text, "gd,%d,1,1,1\ngd,%d,2,1,0.5\n", i + 1, i + 1);
    assert_done(hm_traces_parse(text.data, text.length, "traces", NULL, &traces, err));
    assert_done(hm__table_add_traces(&sink, traces, NULL, NULL, &added, err));
    assert_int_equal(added.count, TRACES);
    assert_int_equal(batches, 1);
    hm__added_release(&added);
    traces->traces[TRACES - 1].algorithm = "a\xff";
    batches = 0;
    assert_refused(hm__table_add_traces(&sink, traces, NULL, NULL, &added, err), HM_E_RANGE,
                   "trace 300: is not UTF-8 at byte 2");
    assert_int_equal(batches, 0);
    hm_traces_free(traces);
    hm__text_release(&text);
    hm__added_release(&added);
}

/* The columns of a table of JSON objects depend on the other objects in it. */
static void the_same_run_in_another_table_is_the_same(void **state)
{
    struct hm_store *store = fresh_store();
    struct hm_stored run = some_run(1, 1);

    (void)state;
    run.key = "z";
    run.more = "{\"foo\": 1, \"bar\": 2}";
    assert_done(hm_store_add(store, &run, 1, NULL, NULL, err));
    run.more = "{\"bar\": 2.0, \"foo\": \"1\"}";
    assert_done(hm_store_add(store, &run, 1, NULL, NULL, err));
    run.more = "{\"bar\": 2, \"foo\": 1, \"x\": 1}";
    assert_refused(hm_store_add(store, &run, 1, NULL, NULL, err), HM_E_CONFLICT, "'z'");
    run.more = "{\"bar\": 2, \"foo\": 3}";
    assert_refused(hm_store_add(store, &run, 1, NULL, NULL, err), HM_E_CONFLICT, "'z'");
    run.more = "{\"bar\": 2, \"baz\": 1}";
    assert_refused(hm_store_add(store, &run, 1, NULL, NULL, err), HM_E_CONFLICT, "'z'");
    run.more = "{\"foo\": 1, \"bar\": 2}";
    run.made_at = "2026-02-01T00:00:00Z";
    assert_refused(hm_store_add(store, &run, 1, NULL, NULL, err), HM_E_CONFLICT, "'z'");
    assert_int_equal(count_where(store, NULL), 1);
    hm_store_close(store);
}

static double time_of_keys(unsigned step)
{
    enum { ROWS = 30000 };
    struct hm_seen_hashes seen = {0};
    char key[HM_KEY_BYTES];
    clock_t before = clock();

    assert_done(hm__seen_init(&seen, ROWS, err));
    for (uint64_t i = 0; i < ROWS; i++)
        hm__key_write(key, NULL, 0, "run", i << step, &seen);
    hm__seen_release(&seen);
    return (double)(clock() - before + 1);
}

/* Rows can be chosen so that the low bits of their hashes are equal: this must not take longer.
 * Comparing all of them takes hundreds of times as long. */
static void chosen_rows_are_not_slow(void **state)
{
    (void)state;
    assert_true(time_of_keys(40) < 30 * time_of_keys(0));
}

static void failed_allocations_are_reported(void **state)
{
    const char *where = fresh_where();
    long fails = 0;

    (void)state;
    for (int rc = HM_E_NOMEM; rc; fails++) {
        struct hm_err err = {0};
        hm__alloc_fail_after(fails);
        rc = whole_way(where, &err);
        hm__alloc_fail_after(-1);
        if (rc && (rc != HM_E_NOMEM || err.code != HM_E_NOMEM))
            fail_msg("allocation %ld: %d: %s", fails, rc, err.message);
    }
    assert_true(fails > 100);
    struct hm_store *store = open_store(where);
    assert_int_equal(count_where(store, NULL), 0);
    hm_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fit_is_the_same_as_from_a_file),
        cmocka_unit_test(runs_without_a_time_are_left_out),
        cmocka_unit_test(odd_runs_do_no_harm),
        cmocka_unit_test(numbers_of_the_store_are_kept_or_refused),
        cmocka_unit_test(numbers_among_labels_are_stored),
        cmocka_unit_test(texts_that_look_like_numbers_are_stored),
        cmocka_unit_test(keys_are_utf8),
        cmocka_unit_test(traces_keep_their_staleness),
        cmocka_unit_test(traces_are_the_same_as_from_a_file),
        cmocka_unit_test(each_run_is_a_trace),
        cmocka_unit_test(large_tables_are_added_completely_or_not),
        cmocka_unit_test(traces_are_checked_and_sent_together),
        cmocka_unit_test(the_same_run_in_another_table_is_the_same),
        cmocka_unit_test(chosen_rows_are_not_slow),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests_name(store_server() ? "PostgreSQL" : "SQLite", tests, make_folder,
                                       remove_folder);
}
