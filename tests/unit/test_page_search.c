/*
 * Tests the search for pages with conditions: whichever step of the search finds the runs, and
 * whenever its time is over, the pages together contain each matching run once, in order. The
 * expected runs come from a filter and qsort in memory.
 */
#include "page_search.h"

#include "store_order.h"
#include "store_waiting.h"

enum { RUNS = 300, PLACED = 240, DELETED = 50, PAGE = 7 };

static const char *const machines[] = {NULL, "a", "b", "c", "rare"};
static const char *const algorithms[] = {"gd", "sgd", "cocoa"};

/* Returns run i; the values of runs repeat, and some values are missing. */
static struct hm_stored made_run(size_t i)
{
    struct hm_stored run = some_run((double)(1 << i * 11 % 5), (double)(1 + i * 37 % 101));

    if (i % 3 == 0)
        run.loss = (double)(i * 17 % 13) - 6;
    run.machine = machines[i % 61 == 7 ? 4 : i * 7 % 4];
    run.algorithm = algorithms[i * 5 % 3];
    run.more = i % 2 ? "{\"rate\": 0.1}" : "{\"rate\": 0.9}";
    return run;
}

/* ---- the expected runs ----------------------------------------------------------------------- */

struct query {
    const char *where[3];
    size_t count;
    bool (*matches)(const struct hm_stored *run, size_t i);
};

static bool is(const char *text, const char *wanted)
{
    return text && strcmp(text, wanted) == 0;
}

static bool of_a(const struct hm_stored *run, size_t i)
{
    (void)i;
    return is(run->machine, "a");
}

static bool rare_sgd(const struct hm_stored *run, size_t i)
{
    (void)i;
    return is(run->machine, "rare") && is(run->algorithm, "sgd");
}

static bool a_cocoa_n(const struct hm_stored *run, size_t i)
{
    (void)i;
    return is(run->machine, "a") && is(run->algorithm, "cocoa") && run->n >= 4;
}

static bool fast_and_slow_rate(const struct hm_stored *run, size_t i)
{
    return run->seconds < 20 && i % 2 == 1;
}

static bool not_a(const struct hm_stored *run, size_t i)
{
    (void)i;
    return run->machine && !is(run->machine, "a") && run->loss > -3;
}

static bool never(const struct hm_stored *run, size_t i)
{
    (void)run;
    (void)i;
    return false;
}

static const struct query queries[] = {
    {{"machine=a"}, 1, of_a},
    {{"machine=rare", "algorithm=sgd"}, 2, rare_sgd},
    {{"algorithm=cocoa", "machine=a", "n>=4"}, 3, a_cocoa_n},
    {{"seconds<20", "rate<0.5"}, 2, fast_and_slow_rate},
    {{"machine!=a", "loss>-3"}, 2, not_a},
    {{"machine=a", "machine=b"}, 2, never},
    {{"rate=7"}, 1, never},
};

static const struct run_order sortings[] = {
    {.sort = "id"},
    {.sort = "-id", .descending = true},
    {.sort = "seconds", .number = seconds_of},
    {.sort = "-loss", .number = loss_of, .descending = true},
    {.sort = "machine", .by_machine = true},
    {.sort = "-machine", .by_machine = true, .descending = true},
};

static const struct run_order *sorting; /* The order of the present trial. */

static size_t find_expected(const struct query *query, struct hm_stored *runs)
{
    size_t count = 0;

    for (size_t i = 0; i < RUNS; i++) {
        runs[count] = made_run(i);
        runs[count].id = (int64_t)i + 1;
        count += i != DELETED && query->matches(&runs[count], i);
    }
    sort_runs(runs, count, sorting);
    return count;
}

/* ---- searching ------------------------------------------------------------------------------- */

struct found_ids {
    int64_t ids[RUNS];
    size_t count;
};

static int add_found(void *context, const struct hm_sql_value *cells, size_t count,
                     struct hm_err *err)
{
    struct found_ids *found = context;

    (void)count;
    (void)err;
    assert_true(found->count < RUNS);
    found->ids[found->count++] = cells[0].integer;
    return 0;
}

/* Finds all pages; returns their number. A page begins where the last one ended. */
static size_t find_pages(struct hm_store *store, const struct query *query,
                         const struct hm_search_effort *effort, double seconds,
                         struct found_ids *found)
{
    struct hm_store_filter filter = {
        .where = query->where, .where_count = query->count, .sort = sorting->sort};
    struct hm_conditions conditions;
    struct hm_arena *arena = hm__arena_new();
    size_t pages = 0;
    bool ended = false;

    assert_done(hm__conditions_read(arena, &filter, &conditions, err));
    for (; !ended; pages++) {
        struct hm_page_search search = {.effort = effort,
                                        .store = store,
                                        .arena = arena,
                                        .conditions = &conditions,
                                        .limit = PAGE,
                                        .seconds = seconds,
                                        .select = "SELECT id FROM runs",
                                        .also = "",
                                        .row = add_found,
                                        .context = found};
        size_t before = found->count;
        assert_true(pages <= RUNS + 1); /* Each page makes progress. */
        assert_done(hm__order_read(arena, &filter, &search.order, err));
        assert_done(hm__store_exec(store, store->sql->begin_read, err));
        assert_done(hm__store_end(store, hm__search_page(&search, &filter.after, err), err));
        assert_true(found->count - before <= PAGE);
        ended = !filter.after && found->count - before < PAGE;
        if (!filter.after && !ended) {
            struct hm_stored last = made_run((size_t)found->ids[found->count - 1] - 1);
            last.id = found->ids[found->count - 1];
            hm__order_move(&search.order, &last);
            filter.after = hm__cursor_write(arena, &search.order);
        }
    }
    hm__arena_free(arena);
    return pages;
}

/* Finds all runs by lists of ids; returns whether some list was short enough. */
static bool find_all(struct hm_store *store, const struct query *query,
                     const struct hm_search_effort *effort, const char *also,
                     struct found_ids *found)
{
    struct hm_store_filter filter = {
        .where = query->where, .where_count = query->count, .sort = sorting->sort};
    struct hm_conditions conditions;
    struct hm_page_search search = {.effort = effort,
                                    .store = store,
                                    .arena = hm__arena_new(),
                                    .conditions = &conditions,
                                    .select = "SELECT id FROM runs",
                                    .also = also,
                                    .row = add_found,
                                    .context = found};
    bool by_lists = false;

    assert_done(hm__conditions_read(search.arena, &filter, &conditions, err));
    assert_done(hm__order_read(search.arena, &filter, &search.order, err));
    assert_done(hm__store_exec(store, store->sql->begin_read, err));
    assert_done(hm__store_end(store, hm__search_all(&search, &by_lists, err), err));
    hm__arena_free(search.arena);
    return by_lists;
}

static struct hm_store *made_store(void)
{
    static struct hm_stored runs[RUNS];
    struct hm_store *store = fresh_store();
    const char *deleted = "id=51";
    struct hm_store_filter filter = {.where = &deleted, .where_count = 1};

    for (size_t i = 0; i < RUNS; i++)
        runs[i] = made_run(i);
    assert_done(hm_store_add(store, runs, PLACED, NULL, NULL, err));
    assert_done(hm__store_exec(store, store->sql->begin_write, err));
    assert_done(hm__store_end(store, hm__store_place_all(store, false, err), err));
    assert_done(hm_store_add(store, &runs[PLACED], RUNS - PLACED, NULL, NULL, err));
    assert_int_equal(waiting_runs(store), RUNS - PLACED);
    assert_done(hm_store_delete(store, &filter, NULL, err));
    return store;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void every_method_finds_the_same_runs(void **state)
{
    static const struct hm_search_effort efforts[] = {
        {1000, 1000, 3000, 1, 1000, 0}, /* Lists of all conditions. */
        {1, 1, 1, 1e9, 1000, 0},        /* No lists: all runs are tested in order. */
        {1, 1000, 3000, 0, 1000, 0},    /* Lists after one run has been tested. */
        {1, 1000, 3000, 0, 0, 0},       /* The same, but candidates are never sorted. */
        {10, 60, 60, 0, 1000, 0},       /* Some lists are complete. */
    };
    static struct hm_stored runs[RUNS];
    struct hm_store *store = made_store();

    (void)state;
    for (size_t q = 0; q < sizeof(queries) / sizeof(queries[0]); q++)
        for (size_t o = 0; o < sizeof(sortings) / sizeof(sortings[0]); o++) {
            sorting = &sortings[o];
            size_t count = find_expected(&queries[q], runs);
            for (size_t e = 0; e < 2 * sizeof(efforts) / sizeof(efforts[0]); e++) {
                struct found_ids found = {0};
                /* The time of the second half of the searches is over after the first run. */
                double seconds = e % 2 ? 1e-9 : 0;
                find_pages(store, &queries[q], &efforts[e / 2], seconds, &found);
                if (found.count != count)
                    fail_msg("query %zu by %s, effort %zu: %zu runs, not %zu", q, sorting->sort, e,
                             found.count, count);
                for (size_t i = 0; i < count; i++)
                    if (found.ids[i] != runs[i].id)
                        fail_msg("query %zu by %s, effort %zu, run %zu: %d, not %d", q,
                                 sorting->sort, e, i, (int)found.ids[i], (int)runs[i].id);
            }
        }
    hm_store_close(store);
}

static void time_ends_a_page(void **state)
{
    struct hm_store *store = made_store();
    struct hm_search_effort none = {1, 1, 1, 1e9, 1000, 0};
    struct found_ids found = {0}, limited = {0};

    (void)state;
    sorting = &sortings[2];
    assert_int_equal(find_pages(store, &queries[6], &none, 0, &found), 1);
    /* Without a list, the search tests one run per page, and the last page finds the end. */
    assert_int_equal(find_pages(store, &queries[6], &none, 1e-9, &limited), RUNS);
    none.small = RUNS; /* In a small store, the time ends no page. */
    assert_int_equal(find_pages(store, &queries[6], &none, 1e-9, &limited), 1);
    hm_store_close(store);
}

static void all_runs_are_found_by_lists(void **state)
{
    static const struct hm_search_effort lists = {1, 1000, 3000, 0, 1000, 0},
                                         none = {1, 1, 1, 0, 1000, 0};
    static struct hm_stored runs[RUNS];
    struct hm_store *store = made_store();

    (void)state;
    for (size_t q = 0; q < sizeof(queries) / sizeof(queries[0]); q++)
        for (size_t o = 0; o < sizeof(sortings) / sizeof(sortings[0]); o++) {
            struct found_ids found = {0}, some = {0}, nothing = {0};
            sorting = &sortings[o];
            size_t count = find_expected(&queries[q], runs);
            bool by_key = queries[q].count == 1 && q > 0; /* There is no list of such a key. */
            assert_int_equal(find_all(store, &queries[q], &lists, "", &found), !by_key);
            assert_int_equal(found.count, by_key ? 0 : count);
            for (size_t i = 0; i < found.count; i++)
                assert_int_equal(found.ids[i], runs[i].id);
            find_all(store, &queries[q], &lists, " AND id <= 100", &some);
            for (size_t i = 0; i < some.count; i++)
                assert_in_range(some.ids[i], 1, 100);
            assert_true(q > 0 || (some.count > 0 && some.count < count));
            assert_false(find_all(store, &queries[q], &none, "", &nothing));
            assert_int_equal(nothing.count, 0);
        }
    hm_store_close(store);
}

static void only_other_columns_need_a_search(void **state)
{
    const char *const where[] = {"seconds<5", "seconds>=1", "machine=a"};
    struct hm_store_filter filter = {.where = where, .where_count = 2, .sort = "-seconds"};
    struct hm_arena *arena = hm__arena_new();
    struct hm_conditions conditions;
    struct hm_order order;

    (void)state;
    assert_done(hm__order_read(arena, &filter, &order, err));
    assert_done(hm__conditions_read(arena, &filter, &conditions, err));
    assert_false(hm__search_is_needed(&conditions, &order));
    filter.where_count = 3;
    assert_done(hm__conditions_read(arena, &filter, &conditions, err));
    assert_true(hm__search_is_needed(&conditions, &order));
    hm__arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_finds_the_same_runs),
        cmocka_unit_test(time_ends_a_page),
        cmocka_unit_test(all_runs_are_found_by_lists),
        cmocka_unit_test(only_other_columns_need_a_search),
    };

    return cmocka_run_group_tests_name("page_search", tests, make_folder, remove_folder);
}
