/* Tests a store of runs: adding, listing with filters and orders, and deleting. */
#include "store_testing.h"

#include "budget.h"
#include "memory.h"

/* ---- adding --------------------------------------------------------------------------------- */

static struct hm_stored whole_run(void)
{
    static const struct hm_stored_sample samples[] = {
        {1, 0.5, 0.5, 10}, {2, 0.25, 0.75, NAN}, {NAN, 0.1, NAN, 0.1 + 0.2}};

    return (struct hm_stored){
        .key = "k/1",
        .made_at = "2024-02-29T23:59:60Z",
        .status = "out of memory",
        .algorithm = "CoCoA\xe2\x81\xba",
        .problem = "\xd0\xb7\xd0\xb0\xd0\xb4\xd0\xb0\xd1\x87\xd0\xb0",
        .data = "'; DROP TABLE runs; --",
        .job = "a \"quoted\" \\ one\n\ttoo",
        .machine = "\xf0\x9f\x96\xa5 m5.large",
        .scheme = "ring",
        .host = "",
        .version = "0.1.0",
        .n = 9007199254740991,
        .batch = 0.1,
        .latency = 5e-324,
        .bandwidth = 9.9876543210987654e49,
        .size = 2.2250738585072014e-308,
        .seconds = 1.0 / 3,
        .total = 123456789.123456789,
        .iterations = 1e22,
        .loss = -1e-17,
        .best = -9.9876543210987654e49,
        .cost = 0.1 + 0.2,
        .seed = -3,
        .more = "{\"rate\": 0.1, \"gpu\": \"a\\u0301100\", \"d\xc3\xa9j\xc3\xa0\": 1e50}",
        .samples = samples,
        .sample_count = 3,
    };
}

static void assert_same_bits(double a, double b)
{
    if (isnan(a) && isnan(b))
        return;
    assert_memory_equal(&a, &b, sizeof(a));
}

static void assert_same_text(const char *a, const char *b)
{
    if (a && b)
        assert_string_equal(a, b);
    else
        assert_true(!a && !b);
}

static void assert_same_run(const struct hm_stored *a, const struct hm_stored *b)
{
    const char *one[] = {a->key, a->made_at, a->status, a->algorithm, a->problem, a->data,
                         a->job, a->machine, a->scheme, a->host,      a->version, a->more};
    const char *two[] = {b->key, b->made_at, b->status, b->algorithm, b->problem, b->data,
                         b->job, b->machine, b->scheme, b->host,      b->version, b->more};
    const double x[] = {a->n,     a->batch,      a->latency, a->bandwidth, a->size, a->seconds,
                        a->total, a->iterations, a->loss,    a->best,      a->cost, a->seed};
    const double y[] = {b->n,     b->batch,      b->latency, b->bandwidth, b->size, b->seconds,
                        b->total, b->iterations, b->loss,    b->best,      b->cost, b->seed};

    for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++)
        assert_same_text(one[i], two[i]);
    for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++)
        assert_same_bits(x[i], y[i]);
    assert_int_equal(a->sample_count, b->sample_count);
    for (size_t i = 0; i < a->sample_count; i++) {
        assert_same_bits(a->samples[i].iteration, b->samples[i].iteration);
        assert_same_bits(a->samples[i].seconds, b->samples[i].seconds);
        assert_same_bits(a->samples[i].elapsed_s, b->samples[i].elapsed_s);
        assert_same_bits(a->samples[i].loss, b->samples[i].loss);
    }
}

static void a_run_is_read_back_bit_for_bit(void **state)
{
    struct hm_store *store = fresh_store();
    struct hm_stored runs[] = {whole_run(), HM_STORED_INIT};
    struct hm_store_filter filter = {.samples = true, .sort = "id"};
    struct hm_store_page *page;
    int64_t ids[2] = {0, 0};
    size_t added = 9;

    (void)state;
    runs[1].n = 1;
    assert_done(hm_store_add(store, runs, 2, ids, &added, err));
    assert_int_equal(added, 2);
    assert_true(ids[0] > 0 && ids[1] > ids[0]);
    assert_done(hm_store_list(store, &filter, &page, err));
    assert_int_equal(page->count, 2);
    assert_null(page->next);
    assert_int_equal(page->runs[0].id, ids[0]);
    assert_same_run(&page->runs[0], &runs[0]);
    runs[1].status = "ok";
    runs[1].made_at = page->runs[1].made_at;
    assert_int_equal(strlen(runs[1].made_at), 20);
    assert_same_run(&page->runs[1], &runs[1]);
    hm_store_page_free(page);
    filter.samples = false;
    assert_done(hm_store_list(store, &filter, &page, err));
    assert_int_equal(page->runs[0].sample_count, 0);
    assert_null(page->runs[0].samples);
    hm_store_page_free(page);
    hm_store_close(store);
}

static void random_doubles_are_read_back(void **state)
{
    enum { COUNT = 500 };
    static struct hm_stored_sample samples[COUNT];
    struct hm_store *store = fresh_store();
    struct hm_stored run = some_run(1, 1);
    struct hm_store_filter filter = {.samples = true};
    struct hm_store_page *page;
    uint64_t bits = 88172645463325252u;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        do {
            bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
            memcpy(&samples[i].loss, &bits, sizeof(bits));
        } while (!(fabs(samples[i].loss) <= HM_RUN_MOST));
        samples[i].iteration = (double)i;
        samples[i].seconds = samples[i].elapsed_s = NAN;
    }
    run.samples = samples;
    run.sample_count = COUNT;
    assert_done(hm_store_add(store, &run, 1, NULL, NULL, err));
    assert_done(hm_store_list(store, &filter, &page, err));
    assert_int_equal(page->runs[0].sample_count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        assert_same_bits(page->runs[0].samples[i].loss, samples[i].loss);
        assert_true(isnan(page->runs[0].samples[i].seconds));
    }
    hm_store_page_free(page);
    hm_store_close(store);
}

static void a_wrong_run_rejects_its_batch(void **state)
{
    struct hm_store *store = fresh_store();
    struct hm_stored runs[] = {some_run(1, 1), some_run(2, -1), some_run(3, 1)};
    struct hm_err failed = {0};
    int64_t ids[3] = {7, 7, 7};

    (void)state;
    assert_int_equal(hm_store_add(store, runs, 3, ids, NULL, &failed), HM_E_RANGE);
    assert_string_equal(failed.field, "seconds");
    assert_int_equal(failed.line, 2);
    assert_string_equal(failed.message, "-1 must be more than 0");
    assert_int_equal(ids[0], 7);
    assert_int_equal(count_where(store, NULL), 0);
    assert_done(hm_store_add(store, NULL, 0, NULL, NULL, err));
    hm_store_close(store);
}

static void a_key_is_added_once(void **state)
{
    struct hm_store *store = fresh_store();
    struct hm_stored runs[] = {some_run(1, 1), some_run(2, 2), some_run(1, 1), some_run(4, 4)};
    int64_t ids[4], again[4];
    size_t added;

    (void)state;
    runs[0].key = runs[2].key = "same";
    runs[1].key = "other";
    assert_done(hm_store_add(store, runs, 4, ids, &added, err));
    assert_int_equal(added, 3);
    assert_int_equal(ids[2], ids[0]);
    assert_done(hm_store_add(store, runs, 4, again, &added, err));
    assert_int_equal(added, 1); /* Only the run without a key is added. */
    assert_int_equal(again[0], ids[0]);
    assert_int_equal(again[1], ids[1]);
    assert_int_not_equal(again[3], ids[3]);
    assert_int_equal(count_where(store, "key=same"), 1);
    assert_int_equal(count_where(store, "n=1"), 1);
    hm_store_close(store);
}

/* One statement adds several runs; some of them may be stored already, or have the same key. */
static void known_runs_among_new_ones(void **state)
{
    enum { COUNT = 32 };
    struct hm_store *store = fresh_store();
    struct hm_store_filter filter = {.sort = "id", .limit = 100};
    struct hm_store_page *page;
    struct hm_stored runs[COUNT];
    char keys[COUNT][16];
    int64_t first[COUNT], again[COUNT];
    size_t added = 0;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        runs[i] = some_run((double)i + 1, 2);
        snprintf(keys[i], sizeof(keys[i]), "run %zu", i);
        runs[i].key = keys[i];
    }
    for (size_t i = 0; i < COUNT; i += 3)
        assert_done(hm_store_add(store, &runs[i], 1, &first[i], NULL, err));
    runs[20] = runs[16]; /* A new run that occurs twice. */
    runs[21] = runs[18]; /* A known run that occurs twice. */
    assert_done(hm_store_add(store, runs, COUNT, again, &added, err));
    assert_int_equal(added, 20);
    assert_int_equal(count_where(store, NULL), 31);
    assert_int_equal(again[20], again[16]);
    assert_int_equal(again[21], first[18]);
    assert_done(hm_store_list(store, &filter, &page, err));
    assert_int_equal(page->count, 31);
    for (size_t i = 0; i < COUNT; i++) {
        size_t at = 0;
        if (i % 3 == 0 && i != 21)
            assert_int_equal(again[i], first[i]);
        while (at < page->count && page->runs[at].id != again[i])
            at++;
        assert_true(at < page->count);
        assert_string_equal(page->runs[at].key, runs[i].key);
    }
    hm_store_page_free(page);
    hm_store_close(store);
}

/* The same key with other contents must be an error, whichever part of the run differs. */
static void a_key_belongs_to_one_run(void **state)
{
    struct hm_store *store = fresh_store();
    struct hm_stored_sample samples[] = {{1, 1, 1, 0.5}, {2, 1, 2, 0.25}};
    struct hm_stored first = some_run(4, 4), other;

    (void)state;
    first.key = "mine";
    first.samples = samples;
    first.sample_count = 2;
    assert_done(hm_store_add(store, &first, 1, NULL, NULL, err));
    assert_done(hm_store_add(store, &first, 1, NULL, NULL, err));
    other = first;
    other.seconds *= 2;
    assert_refused(hm_store_add(store, &other, 1, NULL, NULL, err), HM_E_CONFLICT, "'mine'");
    other = first;
    other.loss = 7;
    assert_refused(hm_store_add(store, &other, 1, NULL, NULL, err), HM_E_CONFLICT, "'mine'");
    other = first;
    other.machine = "another machine";
    assert_refused(hm_store_add(store, &other, 1, NULL, NULL, err), HM_E_CONFLICT, "'mine'");
    other = first;
    other.sample_count = 1;
    assert_refused(hm_store_add(store, &other, 1, NULL, NULL, err), HM_E_CONFLICT, "'mine'");
    samples[1].loss = 0.125;
    assert_refused(hm_store_add(store, &first, 1, NULL, NULL, err), HM_E_CONFLICT, "'mine'");
    assert_int_equal(count_where(store, NULL), 1);
    hm_store_close(store);
}

static void batches_are_reported_separately(void **state)
{
    struct hm_store *store = fresh_store();
    struct hm_stored first[] = {some_run(1, 1), some_run(2, 2)}, second[] = {some_run(2, 2)};
    int64_t one[2], two[1] = {0};
    struct hm_store_batch batches[] = {{first, 2, one, 9}, {second, 1, two, 9}, {NULL, 0, NULL, 9}};

    (void)state;
    first[1].key = second[0].key = "same";
    assert_done(hm_store_add_batches(store, batches, 3, err));
    assert_int_equal(batches[0].added, 2);
    assert_int_equal(batches[1].added, 0);
    assert_int_equal(batches[2].added, 0);
    assert_int_equal(two[0], one[1]);
    assert_int_equal(count_where(store, NULL), 2);
    second[0].key = NULL;
    second[0].n = 0.5; /* One invalid run must prevent the addition of all others, and no result may
                          be returned. */
    batches[0].added = batches[1].added = 9;
    assert_refused(hm_store_add_batches(store, batches, 2, err), HM_E_RANGE, "0.5");
    assert_int_equal(batches[0].added + batches[1].added, 18);
    assert_int_equal(count_where(store, NULL), 2);
    hm_store_close(store);
}

/* ---- checking ------------------------------------------------------------------------------- */

static void checks_name_what_is_wrong(void **state)
{
    static char text[5000], key[202];
    const struct hm_stored good = some_run(1, 1);
    struct hm_stored run;
    struct hm_stored_sample sample = {1, -1, 1, 1};

    (void)state;
    memset(text, 'a', sizeof(text) - 1);
    memset(key, 'k', sizeof(key) - 1);
#define REFUSED(change, code, wanted_field, said)                                                  \
    do {                                                                                           \
        struct hm_err e = {0};                                                                     \
        run = good;                                                                                \
        change;                                                                                    \
        assert_int_equal(hm_stored_check(&run, &e), code);                                         \
        assert_string_equal(e.field, wanted_field);                                                \
        assert_string_equal(e.message, said);                                                      \
    } while (0)
    REFUSED(run.n = NAN, HM_E_MISSING, "n", "the number of workers is missing");
    REFUSED(run.n = 0, HM_E_RANGE, "n", "0 must be a whole number, at least 1");
    REFUSED(run.n = 1.5, HM_E_RANGE, "n", "1.5 must be a whole number, at least 1");
    REFUSED(run.seconds = 0, HM_E_RANGE, "seconds", "0 must be more than 0");
    REFUSED((run.status = "timeout", run.seconds = -1), HM_E_RANGE, "seconds",
            "-1 must be at least 0");
    REFUSED(run.loss = INFINITY, HM_E_RANGE, "loss", "inf is not a number of at most 1e+50");
    REFUSED(run.loss = -1.1e50, HM_E_RANGE, "loss", "-1.1e+50 is not a number of at most 1e+50");
    REFUSED(run.seconds = 1e308, HM_E_RANGE, "seconds", "1e+308 is not a number of at most 1e+50");
    REFUSED(run.cost = -2, HM_E_RANGE, "cost", "-2 must be at least 0");
    REFUSED(run.key = "", HM_E_RANGE, "key", "is empty");
    REFUSED(run.key = key, HM_E_LIMIT, "key",
            "'kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\xe2\x80\xa6' has 201 bytes; at most 200 "
            "are allowed");
    REFUSED(run.machine = text, HM_E_LIMIT, "machine",
            "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\xe2\x80\xa6' has 4999 bytes; at most 4095 "
            "are allowed");
    REFUSED(run.host = "a\xff", HM_E_RANGE, "host", "is not UTF-8 at byte 2");
    REFUSED(run.made_at = "2023-02-29T00:00:00Z", HM_E_RANGE, "made_at",
            "'2023-02-29T00:00:00Z' is not a time");
    REFUSED(run.made_at = "2023-02-28", HM_E_RANGE, "made_at", "'2023-02-28' is not a time");
    REFUSED((run.samples = &sample, run.sample_count = 1), HM_E_RANGE, "samples.0.seconds",
            "-1 must be at least 0");
    REFUSED((run.samples = &sample, run.sample_count = 1000001), HM_E_LIMIT, "samples",
            "1000001 samples; at most 1000000 are allowed");
    REFUSED(run.more = "[1]", HM_E_TYPE, "more", "'[1]' is not a JSON object");
    REFUSED(run.more = "{\"a\": [1]}", HM_E_TYPE, "more.a",
            "a list where a number or a text is expected");
    REFUSED(run.more = "{\"a\": true}", HM_E_TYPE, "more.a",
            "true where a number or a text is expected");
    REFUSED(run.more = "{\"a\": 1, \"a\": 2}", HM_E_SYNTAX, "more", "key 'a' appears twice");
    REFUSED(run.more = "{\"startup\": \"long\"}", HM_E_TYPE, "more.startup",
            "long where a number is expected");
    REFUSED(run.more = "{\"scaling\": 2}", HM_E_TYPE, "more.scaling", "2 where a text is expected");
    REFUSED(run.more = "{\"gpus\": 1}", HM_E_CONFLICT, "more.gpus",
            "'gpus' is stored in the column n");
    REFUSED(run.more = "{\"host\": \"b\"}", HM_E_CONFLICT, "more.host",
            "'host' is stored in the column host");
    REFUSED(run.more = "{\"wait (ms)\": 1}", HM_E_RANGE, "more.wait (ms)",
            "'wait (ms)' cannot be the name of a column");
    REFUSED(run.more = "{\"nodes\": 0.5}", HM_E_RANGE, "more.nodes", "0.5 must be at least 1");
    REFUSED(run.more = "{\"nodes\": 9007199254740992}", HM_E_RANGE, "more.nodes",
            "9007199254740992 is more than 2^53 - 1");
    REFUSED(run.n = 9007199254740992, HM_E_RANGE, "n", "9007199254740992 is more than 2^53 - 1");
    REFUSED(run.more = "{\"a\": 9.007199254740993e15}", HM_E_RANGE, "more.a",
            "'9.007199254740993e15' cannot be stored as a number without loss");
    REFUSED(run.more = "{\"a\": 1e999}", HM_E_RANGE, "more.a",
            "inf is not a number of at most 1e+50");
    REFUSED(run.more = "{\"a\": 1e-400}", HM_E_RANGE, "more.a",
            "'1e-400' cannot be stored as a number without loss");
    REFUSED(run.more = "{\"a\": 0e-20000}", HM_E_RANGE, "more.a",
            "'0e-20000' cannot be stored as a number without loss");
    REFUSED(run.more = "{\"a\": 9007199254740993}", HM_E_RANGE, "more.a",
            "'9007199254740993' cannot be stored as a number without loss");
#undef REFUSED
    run = good;
    run.status = "exit 3";
    run.seconds = 0;
    run.more = " {\"nodes\": 2, \"a\": \"\"} ";
    assert_done(hm_stored_check(&run, err));
}

/* ---- filters -------------------------------------------------------------------------------- */

static void add_mixture(struct hm_store *store)
{
    struct hm_stored runs[] = {some_run(1, 4), some_run(2, 2), some_run(4, 1), some_run(8, 0.5)};

    runs[0].machine = runs[1].machine = "m5.large";
    runs[2].machine = "p4d";
    runs[0].latency = 0.01;
    runs[1].latency = 0.02;
    runs[2].latency = 0.03;
    runs[0].more = "{\"rate\": 0.1, \"gpu\": \"a100\", \"mixed\": 10}";
    runs[1].more = "{\"rate\": 1e1, \"gpu\": \"v100\", \"mixed\": \"9\"}";
    runs[2].more = "{\"rate\": 2, \"x\\\"y\": 5}";
    runs[0].made_at = "2026-01-01T00:00:00Z";
    runs[1].made_at = "2026-01-02T12:00:00Z";
    runs[2].made_at = "2026-01-03T23:59:59Z";
    runs[3].made_at = "2026-01-04T00:00:00Z";
    runs[3].status = "timeout";
    runs[0].cost = 2;
    assert_done(hm_store_add(store, runs, 4, NULL, NULL, err));
}

static void conditions_of_every_kind(void **state)
{
    struct hm_store *store = fresh_store();
    static const struct {
        const char *condition;
        int count;
    } cases[] = {
        {"n=4", 1},
        {"n!=4", 3},
        {"n<4", 2},
        {"n<=4", 3},
        {"n>4", 1},
        {"n>=4", 2},
        {" n >= 4 ", 2},
        {"n=4.0", 1},
        {"machine=m5.large", 2},
        {"machine!=m5.large", 1},
        {"machine=M5.large", 0},
        {"status=ok", 3},
        {"status!=ok", 1},
        {"latency<20ms", 1},
        {"latency<=20ms", 2},
        {"latency=0.02", 1},
        {"seconds>1000 ms", 2},
        {"cost=$2", 1},
        {"loss=1", 0},
        {"id>=1", 4},
        {"id<0", 0},
        {"seconds>-1", 4},
        {"rate=0.1", 1},
        {"rate<10", 2},
        {"rate<=10", 3},
        {"rate>2", 1},
        {"rate!=2", 2},
        {"rate>=2", 2},
        {"gpu=a100", 1},
        {"gpu!=a100", 1},
        {"gpu>a", 2},
        {"gpu<b", 1},
        {"mixed=9", 1},
        {"mixed>=9", 2},
        {"mixed=10", 1},
        {"x\"y=5", 1},
        {"nobody=1", 0},
        {"nobody!=1", 0},
        {"rate=abc", 0},
        {"rate!=abc", 3},
        /* A number is no text, whose form would depend on the database. */
        {"rate>=0/", 0},
        {"rate<~", 0},
        {"mixed<~", 1},
        {"made_at=2026-01-01T00:00:00Z", 1},
    };

    (void)state;
    add_mixture(store);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (count_where(store, cases[i].condition) != cases[i].count)
            fail_msg("%s: %d", cases[i].condition, (int)count_where(store, cases[i].condition));
    const char *const both[] = {"n>1", "machine=m5.large", "rate>1"};
    struct hm_store_filter filter = {.where = both, .where_count = 3};
    int64_t count;
    assert_done(hm_store_count(store, &filter, &count, err));
    assert_int_equal(count, 1);
    filter = (struct hm_store_filter){.since = "2026-01-02", .until = "2026-01-03"};
    assert_done(hm_store_count(store, &filter, &count, err));
    assert_int_equal(count, 2);
    filter.until = "2026-01-03T23:59:58Z";
    assert_done(hm_store_count(store, &filter, &count, err));
    assert_int_equal(count, 1);
    hm_store_close(store);
}

static void wrong_filters_are_refused(void **state)
{
    struct hm_store *store = fresh_store();
    struct hm_store_page *page;
    static const struct {
        const char *condition;
        int code;
        const char *said;
    } cases[] = {
        {"n", HM_E_SYNTAX, "'n' is not COLUMN=VALUE"},
        {"=4", HM_E_SYNTAX, "is not COLUMN=VALUE"},
        {"n=", HM_E_SYNTAX, "is not COLUMN=VALUE"},
        {"n!4", HM_E_SYNTAX, "is not COLUMN=VALUE"},
        {"n=four", HM_E_TYPE, "'four' is not a number"},
        {"n==4", HM_E_TYPE, "'=4' is not a number"},
        {"n=4;DROP", HM_E_TYPE, "is not a number"},
        {"latency<20 MB", HM_E_UNIT, "the unit of '20 MB' does not fit the column"},
        {"machine<m", HM_E_TYPE, "machine is a text, which can be compared only with = and !="},
        {"machine=\xff", HM_E_RANGE, "is not UTF-8"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_store_filter filter = {.where = &cases[i].condition, .where_count = 1};
        int64_t count;
        assert_refused(hm_store_count(store, &filter, &count, err), cases[i].code, cases[i].said);
        assert_refused(hm_store_list(store, &filter, &page, err), cases[i].code, cases[i].said);
        assert_refused(hm_store_delete(store, &filter, NULL, err), cases[i].code, cases[i].said);
    }
    struct hm_store_filter many = {.where = NULL, .where_count = 65};
    assert_refused(hm_store_list(store, &many, &page, err), HM_E_LIMIT, "65 conditions");
    struct hm_store_filter time = {.since = "yesterday"};
    assert_refused(hm_store_list(store, &time, &page, err), HM_E_RANGE, "is not a time");
    hm_store_close(store);
}

static void sql_cannot_be_injected(void **state)
{
    static const char *const evil[] = {
        "n\" = 1 OR 1=1 --=1",
        "x'; DROP TABLE runs; --=1",
        "x\"; DELETE FROM runs; --!=1",
        "machine='; DROP TABLE runs; --",
        "machine=$1",
        "$1=$2",
        "?=?",
        "x'); DELETE FROM runs; SELECT ('=a",
        "{key}={op}",
        "machine=\\'; DROP TABLE runs; --",
        "made_at=1' OR '1'='1",
        "rate=1) OR (1=1",
    };
    static const char *const sorts[] = {
        "n; DROP TABLE runs", "id\" --", "-", "", "--id", "1", "(SELECT 1)", "more",
        "sample_count",       "N"};
    static const char *const afters[] = {"",          ".",         "id",
                                         "-id",       "-id.",      "-id.u",
                                         "-id.u.",    "-id.u.x",   "-id.u.1 OR 1=1",
                                         "id.u.1",    "-id.u1.1",  "-id.x3ff0000000000000.1",
                                         "-id.t61.1", "-id.u.-1",  "-id.u.9999999999999999999",
                                         "-n.u.1",    "-id.u.1.1", "'; DROP TABLE runs"};
    static const char *const keys[] = {"machine.t.",         "machine.t6.1",
                                       "machine.t00.1",      "machine.tff.1",
                                       "machine.tzz.1",      "machine.x3ff0000000000000.1",
                                       "machine.t27; DROP.1"};
    struct hm_store *store = fresh_store();
    struct hm_store_page *page;

    (void)state;
    add_mixture(store);
    for (size_t i = 0; i < sizeof(evil) / sizeof(evil[0]); i++)
        assert_int_equal(count_where(store, evil[i]), 0);
    for (size_t i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++) {
        struct hm_store_filter filter = {.sort = sorts[i]};
        assert_refused(hm_store_list(store, &filter, &page, err), HM_E_NAME, "not a column");
    }
    for (size_t i = 0; i < sizeof(afters) / sizeof(afters[0]); i++) {
        struct hm_store_filter filter = {.after = afters[i], .limit = 1};
        assert_refused(hm_store_list(store, &filter, &page, err), HM_E_RANGE,
                       "is not the end of a page");
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct hm_store_filter filter = {.after = keys[i], .sort = "machine"};
        assert_refused(hm_store_list(store, &filter, &page, err), HM_E_RANGE,
                       "is not the end of a page");
    }
    struct hm_store_filter nan = {.after = "n.x7ff8000000000000.1", .sort = "n"};
    assert_refused(hm_store_list(store, &nan, &page, err), HM_E_RANGE, "is not the end of a page");
    assert_int_equal(count_where(store, NULL), 4);
    hm_store_close(store);
}

static void delete_removes_the_selected_runs(void **state)
{
    struct hm_store *store = fresh_store();
    const char *where = "machine=m5.large";
    struct hm_store_filter filter = {.where = &where, .where_count = 1, .limit = 1, .after = "x"};
    struct hm_stored run = whole_run();
    int64_t count = 0, ids[2];

    (void)state;
    assert_done(hm_store_add(store, &run, 1, &ids[0], NULL, err));
    add_mixture(store);
    assert_done(hm_store_delete(store, &filter, &count, err));
    assert_int_equal(count, 2);
    assert_int_equal(count_where(store, NULL), 3);
    assert_done(hm_store_delete(store, NULL, NULL, err));
    assert_int_equal(count_where(store, NULL), 0);
    /* Samples are deleted too: the key can be used again, and ids are never reused. */
    assert_done(hm_store_add(store, &run, 1, &ids[1], NULL, err));
    assert_true(ids[1] > ids[0]);
    hm_store_close(store);
}

/* ---- documents ------------------------------------------------------------------------------ */

static int gather_name(void *names, const char *kind, const char *name, const char *made_at)
{
    char *text = names;

    assert_int_equal(strlen(made_at), 20);
    snprintf(text + strlen(text), 64 - strlen(text), "%s/%s ", kind, name);
    return 0;
}

static int refuse_name(void *context, const char *kind, const char *name, const char *made_at)
{
    (void)context;
    (void)kind;
    (void)name;
    (void)made_at;
    return HM_E_LIMIT;
}

static void a_later_document_replaces_an_earlier_one(void **state)
{
    struct hm_store *store = fresh_store();
    char *text = NULL;

    (void)state;
    assert_done(hm_store_get(store, "fit", "mine", &text, err));
    assert_null(text);
    assert_done(hm_store_put(store, "fit", "mine", "{\"a\": 1}", err));
    assert_done(hm_store_put(store, "job", "mine", "", err));
    assert_done(hm_store_put(store, "fit", "mine", "\xd0\xb4\xd0\xb2\xd0\xb0 '\"$1\n", err));
    assert_done(hm_store_get(store, "fit", "mine", &text, err));
    assert_string_equal(text, "\xd0\xb4\xd0\xb2\xd0\xb0 '\"$1\n");
    hm_text_free(text);
    assert_done(hm_store_get(store, "job", "mine", &text, err));
    assert_string_equal(text, "");
    hm_text_free(text);
    char names[64] = "";
    assert_done(hm_store_documents(store, NULL, gather_name, names, err));
    assert_string_equal(names, "fit/mine job/mine ");
    names[0] = '\0';
    assert_done(hm_store_documents(store, "job", gather_name, names, err));
    assert_string_equal(names, "job/mine ");
    assert_int_equal(hm_store_documents(store, NULL, refuse_name, NULL, NULL), HM_E_LIMIT);
    assert_refused(hm_store_documents(store, "", gather_name, names, err), HM_E_MISSING, "no kind");
    assert_refused(hm_store_put(store, "", "x", "y", err), HM_E_MISSING, "no kind");
    assert_refused(hm_store_put(store, "fit", "x", "\xc0", err), HM_E_RANGE, "is not UTF-8");
    assert_refused(hm_store_get(store, "fit", NULL, &text, err), HM_E_MISSING, "no name");
    hm_store_close(store);
}

/* Lists all runs with a budget that is spent at check number `check`; returns the checks made. */
static long list_until(struct hm_store *store, long check, bool fails)
{
    struct hm_budget budget = {.checks = check};
    struct hm_store_page *page = NULL;

    hm__budget_enter(&budget);
    int rc = hm_store_list(store, NULL, &page, NULL);
    hm__budget_leave(&budget);
    assert_int_equal(rc != 0, fails);
    hm_store_page_free(page);
    return check - budget.checks;
}

/*
 * Every listing that ends because its budget is spent must end its transaction, so that the next
 * one can begin. SQLite asks for the budget after some thousand instructions of all executions of a
 * statement, so the test makes more rollbacks than that.
 */
static void a_spent_budget_ends_the_transaction(void **state)
{
    struct hm_store *store = fresh_store();
    struct hm_stored run = whole_run();
    const int trials = store_server() ? 20 : 5000;

    (void)state;
    assert_done(hm_store_add(store, &run, 1, NULL, NULL, err));
    list_until(store, 1000000, false); /* The first listing also compiles its statements. */
    long checks = list_until(store, 1000000, false);
    for (int i = 0; i < trials; i++)
        list_until(store, checks, true);
    list_until(store, 1000000, false);
    hm_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_read_back_bit_for_bit),
        cmocka_unit_test(random_doubles_are_read_back),
        cmocka_unit_test(a_wrong_run_rejects_its_batch),
        cmocka_unit_test(known_runs_among_new_ones),
        cmocka_unit_test(a_key_is_added_once),
        cmocka_unit_test(a_key_belongs_to_one_run),
        cmocka_unit_test(batches_are_reported_separately),
        cmocka_unit_test(checks_name_what_is_wrong),
        cmocka_unit_test(conditions_of_every_kind),
        cmocka_unit_test(wrong_filters_are_refused),
        cmocka_unit_test(sql_cannot_be_injected),
        cmocka_unit_test(delete_removes_the_selected_runs),
        cmocka_unit_test(a_later_document_replaces_an_earlier_one),
        cmocka_unit_test(a_spent_budget_ends_the_transaction),
    };
    return cmocka_run_group_tests_name(store_server() ? "PostgreSQL" : "SQLite", tests, make_folder,
                                       remove_folder);
}
