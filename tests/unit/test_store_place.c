/* Tests that runs which wait to be added to the indexes are found like all other runs. The expected
 * orders come from qsort on the runs in memory. */
#include "store_order.h"
#include "store_waiting.h"

enum { RUNS = 240, PAGE = 7 };

static const char *const machines[] = {NULL, "a", "b", "c"};

/* Returns run i; the values of runs repeat, and some values are missing. */
static struct hm_stored made_run(size_t i)
{
    struct hm_stored run = some_run((double)(1 + i % 5), (double)(1 + i * 37 % 101));

    if (i % 3 == 0)
        run.loss = (double)(i * 17 % 13) - 6;
    run.machine = machines[i * 7 % 4];
    return run;
}

/* ---- all orders and filters ------------------------------------------------------------------ */

static bool run_matches(const struct hm_stored *run, const char *where)
{
    if (!where)
        return true;
    return strcmp(where, "machine=b") == 0 ? run->machine && strcmp(run->machine, "b") == 0
                                           : run->n >= 4;
}

/* Reads all pages in an order, and compares their runs with the expected ones. */
static void check_order(struct hm_store *store, const struct run_order *wanted, const char *where,
                        size_t added)
{
    static struct hm_stored runs[RUNS];
    struct hm_store_filter filter = {
        .where = &where, .where_count = where ? 1 : 0, .sort = wanted->sort, .limit = PAGE};
    struct hm_store_page *page = NULL;
    char after[200];
    size_t count = 0, at = 0;

    for (size_t i = 0; i < added; i++) {
        runs[count] = made_run(i);
        runs[count].id = (int64_t)i + 1;
        count += run_matches(&runs[count], where);
    }
    sort_runs(runs, count, wanted);
    do {
        assert_done(hm_store_list(store, &filter, &page, err));
        for (size_t i = 0; i < page->count; i++, at++) {
            assert_true(at < count);
            assert_int_equal(page->runs[i].id, runs[at].id);
        }
        filter.after = page->next ? after : NULL;
        if (page->next)
            snprintf(after, sizeof(after), "%s", page->next);
        hm_store_page_free(page);
    } while (filter.after);
    assert_int_equal(at, count);
    assert_int_equal(count_where(store, where), count);
}

static void check_orders(struct hm_store *store, size_t added)
{
    static const struct run_order orders[] = {
        {.sort = "id"},
        {.sort = "-id", .descending = true},
        {.sort = "seconds", .number = seconds_of},
        {.sort = "-loss", .number = loss_of, .descending = true},
        {.sort = "loss", .number = loss_of},
        {.sort = "machine", .by_machine = true},
    };
    static const char *const filters[] = {NULL, "machine=b", "n>=4"};

    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
        for (size_t k = 0; k < 3; k++)
            check_order(store, &orders[i], filters[k], added);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void add_made_runs(struct hm_store *store, size_t from, size_t to)
{
    struct hm_stored runs[RUNS];

    for (size_t i = from; i < to; i++)
        runs[i - from] = made_run(i);
    assert_done(hm_store_add(store, runs, to - from, NULL, NULL, err));
}

static void place_all(struct hm_store *store, bool rebuild)
{
    assert_done(hm__store_exec(store, store->sql->begin_write, err));
    assert_done(hm__store_end(store, hm__store_place_all(store, rebuild, err), err));
    assert_int_equal(waiting_runs(store), 0);
}

static void orders_do_not_depend_on_waiting(void **state)
{
    struct hm_store *store = fresh_store();
    int64_t runs = 0;

    (void)state;
    add_made_runs(store, 0, 80);
    assert_int_equal(waiting_runs(store), 80);
    check_orders(store, 80);
    place_all(store, false);
    check_orders(store, 80);
    add_made_runs(store, 80, 160);
    assert_int_equal(waiting_runs(store), 80);
    check_orders(store, 160);
    place_all(store, true);
    check_orders(store, 160);
    add_made_runs(store, 160, RUNS);
    check_orders(store, RUNS);
    assert_done(hm__store_verify(store, false, &runs, err));
    assert_int_equal(runs, RUNS);
    hm_store_close(store);
}

static void waiting_runs_are_deleted_too(void **state)
{
    struct hm_store *store = fresh_store();
    const char *where = "machine=b";
    struct hm_store_filter filter = {.where = &where, .where_count = 1};
    int64_t count = -1;

    (void)state;
    add_made_runs(store, 0, 100);
    place_all(store, false);
    add_made_runs(store, 100, 200);
    assert_done(hm_store_delete(store, &filter, &count, err));
    assert_int_equal(count, 50); /* Every fourth run has this machine. */
    assert_int_equal(count_where(store, where), 0);
    assert_int_equal(count_where(store, NULL), 150);
    hm_store_close(store);
}

/* Many runs must be added to the indexes at once, but not while further batches follow. */
static void many_runs_are_placed(void **state)
{
    static struct hm_stored runs[HM_STORE_WAITING];
    struct hm_store *store = fresh_store();
    struct hm_store_batch batch = {.runs = runs, .count = HM_STORE_WAITING - 1, .more = true};

    (void)state;
    if (store_server()) { /* This is not tested on a server: the rule does not depend on the
                             database, and adding runs takes longer there. */
        print_message("many runs are added to SQLite only\n");
        hm_store_close(store);
        return;
    }
    for (size_t i = 0; i < HM_STORE_WAITING; i++)
        runs[i] = made_run(i);
    assert_done(hm_store_add_batches(store, &batch, 1, err));
    assert_int_equal(waiting_runs(store), HM_STORE_WAITING - 1);
    batch.runs = &runs[HM_STORE_WAITING - 1];
    batch.count = 1;
    assert_done(hm_store_add_batches(store, &batch, 1, err));
    assert_int_equal(waiting_runs(store), HM_STORE_WAITING);
    batch.more = false;
    assert_done(hm_store_add_batches(store, &batch, 1, err));
    assert_int_equal(waiting_runs(store), 0);
    assert_done(hm_store_add_batches(store, &batch, 1, err));
    assert_int_equal(waiting_runs(store), 1);
    hm_store_close(store);
}

/* If very many runs are waiting, each call adds a part of them to the indexes. */
static void very_many_runs_are_placed_in_parts(void **state)
{
    enum { MANY = 25000 };
    struct hm_store *store = fresh_store();
    struct hm_stored run = made_run(0);
    int64_t runs = 0;

    (void)state;
    assert_done(hm_store_add(store, &run, 1, NULL, NULL, err));
    assert_done(hm__store_exec(
        store,
        "INSERT INTO runs (\"key\", made_at, status, n, seconds, waiting) "
        "WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 25000) "
        "SELECT 'many-' || i, '2026-11-18T00:00:00Z', 'ok', 1, i, 1 FROM k",
        err));
    assert_int_equal(waiting_runs(store), MANY + 1);
    hm__store_place(store, MANY);
    assert_int_equal(waiting_runs(store), MANY + 1 - 20000);
    hm__store_place(store, 0);
    assert_int_equal(waiting_runs(store), 0);
    assert_done(hm__store_verify(store, false, &runs, err));
    assert_int_equal(runs, MANY + 1);
    assert_int_equal(count_where(store, "seconds>=24001"), 1000);
    hm_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_do_not_depend_on_waiting),
        cmocka_unit_test(waiting_runs_are_deleted_too),
        cmocka_unit_test(many_runs_are_placed),
        cmocka_unit_test(very_many_runs_are_placed_in_parts),
    };

    return cmocka_run_group_tests_name("store_place", tests, make_folder, remove_folder);
}
