/* A large table is added to a store in one transaction, whose results are those of adding it in
 * small batches. */
#include "store_load.h"
#include "store_waiting.h"
#include "table_add.h"

enum { ROWS = HM_STORE_WAITING + 200, TABLE_BYTES = 200000 };

static char table[TABLE_BYTES];

/* Makes a table of ROWS rows, in which epoch and lane have no column in a store. The values repeat
 * after `period` rows; with `keyed`, the key of a row repeats with them. */
static struct hm_runs *made_table(size_t period, bool keyed)
{
    struct hm_runs *runs = NULL;
    size_t length = (size_t)snprintf(table, TABLE_BYTES, "n,seconds,machine,batch,epoch,lane%s\n",
                                     keyed ? ",key" : "");

    for (size_t row = 0; row < ROWS; row++) {
        size_t i = row % period;
        length +=
            (size_t)snprintf(table + length, TABLE_BYTES - length, "%zu,%zu.25,m%zu,64,%zu,%s",
                             1 + i % 7, 1 + i * 37 % 101, i % 5, i % 11, i % 2 ? "left" : "right");
        if (keyed)
            length += (size_t)snprintf(table + length, TABLE_BYTES - length, ",k%zu", i);
        length += (size_t)snprintf(table + length, TABLE_BYTES - length, "\n");
    }
    assert_true(length < TABLE_BYTES);
    assert_done(hm_runs_parse(table, length, "made", &runs, err));
    return runs;
}

/* Changes the value of a column in a row, also to one that readers of tables refuse. */
static void set_value(struct hm_runs *runs, const char *column, size_t row, double value)
{
    for (size_t c = 0; c < runs->column_count; c++)
        if (strcmp(runs->columns[c].name, column) == 0)
            ((double *)(uintptr_t)runs->columns[c].values)[row] = value;
}

static void check_undamaged(struct hm_store *store, int64_t wanted)
{
    int64_t runs = -1;

    assert_done(hm__store_verify(store, false, &runs, err));
    assert_int_equal(runs, wanted);
}

/* Adds a table, and checks the number of new runs. */
static void add_table(struct hm_store *store, bool load, const struct hm_runs *runs, size_t wanted)
{
    struct hm_run_sink sink = hm__store_sink(store);
    struct hm_added added = {0};

    if (!load)
        sink.store = NULL;
    assert_done(hm__table_add_runs(&sink, runs, NULL, &added, err));
    assert_int_equal(added.count, wanted);
    assert_int_equal(added.id_count, runs->count);
    for (size_t i = 0; i < added.id_count; i++)
        assert_true(added.ids[i] >= 1);
    hm__added_release(&added);
}

/* A large table whose runs have samples, as JSON lines may have, is added with them. */
static void samples_are_added(void **state)
{
    struct hm_store *store = fresh_store();
    struct hm_text lines = {0};
    struct hm_runs *runs = NULL;
    int64_t samples = 0;

    (void)state;
    for (int i = 0; i < ROWS; i++)
        hm__text_addf(
            &lines,
            "{\"n\": %d, \"seconds\": 2, \"samples\": [{\"iteration\": 1, \"loss\": %d}]}\n", i + 1,
            i);
    assert_done(hm_runs_parse(lines.data, lines.length, "lines", &runs, err));
    add_table(store, true, runs, ROWS);
    assert_done(hm__store_number(store, "SELECT count(*) FROM samples", NULL, 0, &samples, err));
    assert_int_equal(samples, ROWS);
    check_undamaged(store, ROWS);
    hm__text_release(&lines);
    hm_runs_free(runs);
    hm_store_close(store);
}

/* Reads all runs in the order of a column. */
static struct hm_store_page *sorted_runs(struct hm_store *store, const char *sort)
{
    struct hm_store_filter filter = {.sort = sort};
    struct hm_store_page *page = NULL;

    assert_done(hm_store_list(store, &filter, &page, err));
    return page;
}

static void check_same_text(const char *a, const char *b)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a)
        assert_string_equal(a, b);
}

static void check_same_runs(struct hm_store *a, struct hm_store *b, const char *sort)
{
    struct hm_store_page *one = sorted_runs(a, sort), *two = sorted_runs(b, sort);

    assert_int_equal(one->count, two->count);
    for (size_t i = 0; i < one->count; i++) {
        const struct hm_stored *x = &one->runs[i], *y = &two->runs[i];
        assert_int_equal(x->id, y->id);
        assert_true(x->n == y->n && x->seconds == y->seconds && x->batch == y->batch);
        check_same_text(x->key, y->key);
        check_same_text(x->machine, y->machine);
        check_same_text(x->status, y->status);
        check_same_text(x->more, y->more);
    }
    hm_store_page_free(one);
    hm_store_page_free(two);
}

static void results_are_those_of_batches(void **state)
{
    static const char *const sorts[] = {"id", "-seconds", "machine", "loss"};
    struct hm_store *one = fresh_store(), *two = fresh_store();
    struct hm_runs *runs = made_table(ROWS, false);

    (void)state;
    add_table(one, true, runs, ROWS);
    add_table(two, false, runs, ROWS);
    assert_int_equal(waiting_runs(one), 0);
    for (size_t k = 0; k < sizeof(sorts) / sizeof(sorts[0]); k++)
        check_same_runs(one, two, sorts[k]);
    check_undamaged(one, ROWS);
    add_table(one, true, runs, 0);
    check_undamaged(one, ROWS);
    hm_runs_free(runs);
    hm_store_close(one);
    hm_store_close(two);
}

/* Runs that waited before, and ids of deleted runs, which are never used again. */
static void a_store_with_runs(void **state)
{
    struct hm_store *store = fresh_store();
    struct hm_stored first[] = {some_run(1, 2), some_run(2, 1)};
    struct hm_runs *runs = made_table(ROWS, false);
    const char *last = "id=2";
    struct hm_store_filter filter = {.where = &last, .where_count = 1};
    int64_t count = 0;

    (void)state;
    assert_done(hm_store_add(store, first, 2, NULL, NULL, err));
    assert_int_equal(waiting_runs(store), 2);
    assert_done(hm_store_delete(store, &filter, &count, err));
    assert_int_equal(count, 1);
    add_table(store, true, runs, ROWS);
    assert_int_equal(count_where(store, last), 0);
    assert_int_equal(count_where(store, "id=3"), 1);
    check_undamaged(store, ROWS + 1);
    assert_int_equal(waiting_runs(store), 0);
    hm_runs_free(runs);
    hm_store_close(store);
}

static void a_wrong_row_adds_nothing(void **state)
{
    struct hm_store *store = fresh_store();
    struct hm_run_sink sink = hm__store_sink(store);
    struct hm_runs *runs = made_table(ROWS, false);
    struct hm_added added = {0};

    (void)state;
    set_value(runs, "batch", ROWS - 10, -3);
    assert_refused(hm__table_add_runs(&sink, runs, NULL, &added, err), HM_E_RANGE, "run 1215: -3");
    assert_int_equal(added.count, 0);
    assert_int_equal(added.id_count, 0);
    check_undamaged(store, 0);
    hm_runs_free(runs);
    runs = made_table(ROWS, false);
    add_table(store, true, runs, ROWS);
    check_undamaged(store, ROWS);
    hm_runs_free(runs);
    hm__added_release(&added);
    hm_store_close(store);
}

/* A key that occurs twice with the same values is one run; with other values it is an error. */
static void keys_that_occur_twice(void **state)
{
    struct hm_store *store = fresh_store();
    struct hm_run_sink sink = hm__store_sink(store);
    struct hm_added added = {0};
    struct hm_runs *runs = made_table(ROWS - 1, true);

    (void)state;
    set_value(runs, "seconds", ROWS - 1, 1e6);
    assert_refused(hm__table_add_runs(&sink, runs, NULL, &added, err), HM_E_CONFLICT,
                   "the key 'k0' is used by a run with other contents");
    assert_int_equal(added.count, 0);
    check_undamaged(store, 0);
    hm_runs_free(runs);
    runs = made_table(ROWS / 2, true);
    add_table(store, true, runs, ROWS / 2);
    check_undamaged(store, ROWS / 2);
    hm_runs_free(runs);
    hm__added_release(&added);
    hm_store_close(store);
}

/* Building all indexes anew is not worth it if the store has many more runs. */
static void when_a_load_begins(void **state)
{
    struct hm_store *store = fresh_store();
    struct hm_store_load load;
    struct hm_runs *runs = made_table(ROWS, false);
    bool begun = true;

    (void)state;
    add_table(store, true, runs, ROWS);
    struct hm_store_page *page = sorted_runs(store, "id");
    const struct {
        size_t count;
        const char *key;
        bool begins;
    } cases[] = {
        {HM_STORE_WAITING - 1, "new", false},
        {HM_STORE_WAITING, "new", true},
        {100000, "new", true},
        {100000, page->runs[3].key, false},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        assert_done(hm__store_load_begin(&load, store, cases[k].count, cases[k].key, &begun, err));
        assert_int_equal(begun, cases[k].begins);
        if (begun)
            assert_int_equal(hm__store_load_end(&load, HM_E_RANGE, NULL), HM_E_RANGE);
        check_undamaged(store, ROWS);
    }
    assert_true(hm__store_is_rebuild_faster(200, 1000));
    assert_false(hm__store_is_rebuild_faster(199, 1000));
    hm_store_page_free(page);
    hm_runs_free(runs);
    hm_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_of_batches), cmocka_unit_test(a_store_with_runs),
        cmocka_unit_test(a_wrong_row_adds_nothing),     cmocka_unit_test(keys_that_occur_twice),
        cmocka_unit_test(when_a_load_begins),           cmocka_unit_test(samples_are_added),
    };

    return cmocka_run_group_tests_name("store_load", tests, make_folder, remove_folder);
}
