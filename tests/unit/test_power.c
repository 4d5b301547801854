/*
 * Tests power loss while a store is written: the store must open again, every run whose addition
 * was acknowledged must be in it, a batch must be there as a whole or not at all, and SQLite must
 * find no damage. One time in three, only the program is killed, so that a later cut can still
 * remove what it wrote. Every second store has no checksums at first and gets them later. With
 * HM_TORTURE=1 there are 10,000 power cuts; HM_SEED selects other ones.
 */
#include "store_testing.h"

#include <sqlite3.h>

#include "power_vfs.h"
#include "store.h"

enum { CUTS = 400, CUTS_ALL = 10000, CUTS_PER_STORE = 25, RUNS_MOST = 4000, BATCH_MOST = 5 };

/* What the test knows about each run of a store. Runs are identified by their number of workers n,
 * which is unique. */
enum known { NEVER, UNCERTAIN, ADDED, DELETED, MAYBE_DELETED };

struct trial {
    enum known runs[RUNS_MOST];
    size_t batch_of[RUNS_MOST]; /* Smallest n of the batch with which the run was added. */
    size_t next;                /* Smallest n that was not used yet. */
    size_t cuts, lost, partial, invented, damaged, closed;
    size_t killed; /* Number of cuts that only killed the program. */
    size_t summed; /* Number of older stores that got checksums. */
};

static double seconds_of(size_t n)
{
    return 0.5 + (double)n;
}

/* Adds runs one by one in the transaction of a group, as a server does for many clients. */
static int add_group(struct hm_store *store, const struct hm_stored *runs, size_t count)
{
    struct hm_store_group group;
    int rc = hm__store_group_begin(&group, store, NULL);

    if (rc)
        return rc;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct hm_store_batch batch = {.runs = &runs[i], .count = 1};
        rc = hm__store_group_add(&group, &batch, NULL);
    }
    rc = hm__store_group_end(&group, rc, NULL);
    if (rc == 0)
        hm__store_place(store, group.runs);
    return rc;
}

/* Adds a few runs in one transaction. */
static void add_runs(struct trial *t, struct hm_store *store)
{
    struct hm_stored runs[BATCH_MOST];
    struct hm_stored_sample samples[3];
    char keys[BATCH_MOST][16];
    size_t count = 1 + power_draw(BATCH_MOST), first = t->next;
    bool grouped = power_draw(2) == 0;

    for (size_t i = 0; i < count; i++) {
        runs[i] = some_run((double)(first + i), seconds_of(first + i));
        runs[i].machine = "m5.large";
        snprintf(keys[i], sizeof(keys[i]), "run %zu", first + i);
        runs[i].key = grouped ? keys[i] : NULL; /* Only runs with keys wait for their insertion. */
        if (power_draw(3) == 0) {
            for (size_t k = 0; k < 3; k++)
                samples[k] = (struct hm_stored_sample){(double)k + 1, 0.5, NAN, 1};
            runs[i].samples = samples;
            runs[i].sample_count = 3;
        }
    }
    int rc = grouped ? add_group(store, runs, count)
                     : hm_store_add(store, runs, count, NULL, NULL, NULL);
    for (size_t i = first; i < first + count; i++) {
        t->runs[i] = rc == 0 ? ADDED : UNCERTAIN;
        t->batch_of[i] = first;
    }
    t->next += count;
    assert_true(rc == 0 || power_is_off());
}

static void delete_run(struct trial *t, struct hm_store *store)
{
    size_t n = 1 + power_draw(t->next - 1);
    char condition[32];
    const char *where = condition;
    struct hm_store_filter filter = {.where = &where, .where_count = 1};

    if (t->runs[n] != ADDED)
        return;
    snprintf(condition, sizeof(condition), "n=%zu", n);
    int rc = hm_store_delete(store, &filter, NULL, NULL);
    t->runs[n] = rc == 0 ? DELETED : MAYBE_DELETED;
    t->batch_of[n] = 0; /* The run is no longer present or absent together with its batch. */
    assert_true(rc == 0 || power_is_off());
}

/* Makes an empty database without checksums, as older versions did. */
static void make_older_store(void)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open("power.db", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE other (x); DROP TABLE other", 0, 0, 0), 0);
    sqlite3_close(db);
}

/* Gives an older store checksums. If that fails, the store may be closed. */
static void add_sums(struct trial *t, struct hm_store **store)
{
    if (hm__store_has_sums(*store))
        return;
    if (hm__store_add_sums(*store, NULL) == 0) {
        assert_true(hm__store_has_sums(*store));
        t->summed++;
        return;
    }
    assert_true(power_is_off());
    hm_store_close(*store);
    *store = NULL;
}

/* Work on the store until the power fails, also while it is opened and closed. */
static void work_until_cut(struct trial *t)
{
    struct hm_store *store = NULL;

    power_cut_at(1 + power_draw(power_draw(4) == 0 ? 400 : 40));
    while (!power_is_off()) {
        if (!store && hm_store_open("power.db", &store, NULL))
            assert_true(power_is_off());
        else if (power_draw(8) == 0) {
            hm_store_close(store);
            store = NULL;
            t->closed++;
        } else if (store && power_draw(10) == 0)
            add_sums(t, &store);
        else if (power_draw(6) == 0 && t->next > 1)
            delete_run(t, store);
        else if (store && t->next + BATCH_MOST < RUNS_MOST)
            add_runs(t, store);
    }
    hm_store_close(store);
    t->cuts++;
}

/* Compares the store with what is known, and records what the store contains now. */
static void compare_runs(struct trial *t, const struct hm_store_page *page)
{
    bool *present = calloc(RUNS_MOST, sizeof(*present));

    assert_non_null(present);
    for (size_t i = 0; i < page->count; i++) {
        size_t n = (size_t)page->runs[i].n;
        bool known = n >= 1 && n < t->next && !present[n] && t->runs[n] != DELETED;
        if (!known || page->runs[i].seconds != seconds_of(n))
            t->invented++;
        else
            present[n] = true;
    }
    for (size_t n = 1; n < t->next; n++) {
        if (t->runs[n] == ADDED && !present[n])
            t->lost++;
        if (t->runs[n] == UNCERTAIN && present[n] != present[t->batch_of[n]])
            t->partial++;
        t->runs[n] = present[n] ? ADDED : DELETED;
    }
    free(present);
}

static void check_after_cut(struct trial *t)
{
    struct hm_store *store = NULL;
    struct hm_store_page *page = NULL;
    struct hm_store_filter filter = {.sort = "id"};
    int64_t readable = -1;

    if (power_draw(3) == 0) {
        power_revive();
        t->killed++;
        if (power_draw(2) == 0)
            return; /* The next program finds the log, and continues to write it. */
    } else
        power_restart();
    if (hm_store_open("power.db", &store, NULL) ||
        hm__store_verify(store, false, &readable, NULL) ||
        hm_store_list(store, &filter, &page, NULL) || page->count != (size_t)readable)
        t->damaged++;
    else
        compare_runs(t, page);
    hm_store_page_free(page);
    hm_store_close(store);
}

static struct trial *make_cuts(size_t cuts)
{
    struct trial *t = calloc(1, sizeof(*t));

    assert_non_null(t);
    for (size_t i = 0; i < cuts; i++) {
        if (i % CUTS_PER_STORE == 0 || t->next + 400 > RUNS_MOST || t->damaged) {
            power_clear();
            memset(t->runs, 0, sizeof(t->runs));
            t->next = 1;
            if (i / CUTS_PER_STORE % 2)
                make_older_store();
        }
        work_until_cut(t);
        check_after_cut(t);
        if (t->damaged && cuts > CUTS_PER_STORE)
            break;
    }
    return t;
}

static void acknowledged_runs_survive_power_loss(void **state)
{
    const char *seed = getenv("HM_SEED");

    (void)state;
    assert_int_equal(power_register(seed ? strtoull(seed, NULL, 10) : 1), 0);
    struct trial *t = make_cuts(is_torture() ? CUTS_ALL : CUTS);
    print_message("# %zu cuts, %zu of them kills, %zu lost, %zu partial batches, %zu wrong, %zu "
                  "damaged; %zu older stores got checksums\n",
                  t->cuts, t->killed, t->lost, t->partial, t->invented, t->damaged, t->summed);
    assert_int_equal(t->lost + t->partial + t->invented + t->damaged, 0);
    assert_true(t->closed > t->cuts / 10);
    assert_true(t->summed > t->cuts / 100);
    free(t);
}

/* The test must detect the losses of a disk that confirms writes which it has not made. */
static void a_disk_that_lies_is_noticed(void **state)
{
    (void)state;
    assert_int_equal(power_register(2), 0);
    power_set_lying(true);
    struct trial *t = make_cuts(CUTS_PER_STORE);
    power_set_lying(false);
    assert_true(t->lost + t->damaged > 0);
    free(t);
    power_clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(acknowledged_runs_survive_power_loss),
        cmocka_unit_test(a_disk_that_lies_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
