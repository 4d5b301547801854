/*
 * Tests the parameter server for other programs (include/howmany_ps.h) on ranks in virtual time:
 * the values that reads contain are compared with sums made here; also tests the staleness bound
 * under random delays, equal bits whatever the delays are, whole tables, wrong arguments, and
 * missing memory.
 */
#include "testing.h"

#include "memory.h"
#include "ps.h"
#include "random.h"
#include "virtual_comm.h"

enum { RANKS = 12, CLOCKS = 12, ROWS = 23, COLUMNS = 3 };

static const struct virtual_cluster quick = {0x1p-10, 0x1p-24, 0x1p-20};

struct ps_job {
    struct hm_ps_settings settings;
    const struct hm_ps_table *tables; /* Tables to which `settings` points. */
    hm_ps_worker_fn *worker;
    uint64_t seed;
    int odd_rank;       /* Rank that passes different settings; -1 if none does. */
    long fail_after;    /* Number of allocations that succeed on rank odd_rank; -1 if all do. */
    double sums[RANKS]; /* Sum that each worker has computed. */
    double most_stale[RANKS];
    struct hm_ps_stats stats[RANKS];
    int rc[RANKS];
    struct hm_err err[RANKS];
};

static struct hm_comm *comm_of[RANKS];

static void job_body(struct hm_comm *comm, void *context)
{
    struct ps_job *job = context;
    struct hm_ps_settings settings = job->settings;
    bool odd = comm->rank == job->odd_rank;

    comm_of[comm->rank] = comm;
    if (odd && job->fail_after < 0)
        settings.table_count--;
    if (odd && job->fail_after >= 0)
        hm__alloc_fail_after(job->fail_after);
    job->rc[comm->rank] = hm__ps_run(comm, &settings, job->worker, job, &job->err[comm->rank]);
    hm__alloc_fail_after(-1);
}

/* Runs the workers on `ranks` ranks; checks that all ranks return `wanted`. */
static void job_run(struct ps_job *job, int ranks, int wanted)
{
    virtual_comm_run(ranks, &quick, job_body, job);
    for (int i = 0; i < ranks; i++)
        if (job->rc[i] != wanted)
            fail_msg("rank %d returned %d: %s", i, job->rc[i], job->err[i].message);
}

static struct ps_job job_of(const struct hm_ps_table *tables, size_t count, int servers,
                            hm_ps_worker_fn *worker)
{
    return (struct ps_job){.settings = {tables, count, servers},
                           .tables = tables,
                           .worker = worker,
                           .odd_rank = -1,
                           .fail_after = -1};
}

/* Lets this worker compute for a random time; worker 0 is slower than the others. */
static void worker_delay(const struct ps_job *job, const struct hm_ps *ps, int clock)
{
    struct hm_random random;
    int me = hm_ps_worker(ps);

    hm__random_init(&random, job->seed, (uint64_t)(me * 1000 + clock));
    hm__comm_work(comm_of[me], (me ? 4096 : 16384) * hm__random_uniform(&random));
}

/* ---- exact tables ---------------------------------------------------------------------------- */

/* Returns the increment of row `row` by worker `w` in clock `clock`; 0 if the worker does not
 * change the row. */
static double increment(int w, int clock, size_t row, size_t column)
{
    if ((row * 7 + (size_t)(w * 3 + clock)) % 4 == 0)
        return 0;
    return (double)(w + 1) * 1000 + clock * 10 + (double)row + 0.25 * (double)column;
}

/* Returns the sum of all increments of clocks before `clock`; integers and quarters are exact in
 * any order. */
static double expected(int workers, int clock, size_t row, size_t column)
{
    double sum = 0;

    for (int c = 0; c < clock; c++)
        for (int w = 0; w < workers; w++)
            sum += increment(w, c, row, column);
    return sum;
}

static void check_rows(struct hm_ps *ps, int clock, bool own)
{
    size_t rows[ROWS];
    double values[ROWS * COLUMNS];
    int me = hm_ps_worker(ps);

    for (size_t i = 0; i < ROWS; i++)
        rows[i] = (i * 5) % ROWS;
    assert_int_equal(hm_ps_get_batch(ps, 0, rows, ROWS, values, NULL), 0);
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        size_t row = rows[i / COLUMNS], column = i % COLUMNS;
        double mine = own ? increment(me, clock, row, column) : 0;
        assert_near(values[i], expected(hm_ps_workers(ps), clock, row, column) + mine, 0);
    }
}

static int exact_worker(struct hm_ps *ps, void *state, struct hm_err *err)
{
    for (int clock = 0; clock < CLOCKS; clock++) {
        check_rows(ps, clock, false);
        worker_delay(state, ps, clock);
        for (size_t row = 0; row < ROWS; row++) {
            double by[COLUMNS];
            for (size_t j = 0; j < COLUMNS; j++)
                by[j] = increment(hm_ps_worker(ps), clock, row, j);
            assert_int_equal(hm_ps_inc(ps, 0, row, by, err), 0);
        }
        check_rows(ps, clock, true);
        assert_int_equal(hm_ps_clock(ps, err), 0);
    }
    return 0;
}

static void exact_reads_are_sums_of_whole_clocks(void **state)
{
    const struct hm_ps_table table = {ROWS, COLUMNS, 0};

    (void)state;
    for (int servers = 1; servers <= 3; servers++)
        for (int workers = 1; workers <= 5; workers += 2) {
            struct ps_job job = job_of(&table, 1, servers, exact_worker);
            job.seed = (uint64_t)servers;
            job_run(&job, workers + servers, 0);
        }
}

/* ---- the bound ------------------------------------------------------------------------------- */

/*
 * Worker i adds 1 to row i in each clock. So the value of a row in a read is the number of clocks
 * of its worker that the read contains.
 */
static int count_worker(struct hm_ps *ps, void *state, struct hm_err *err)
{
    struct ps_job *job = state;
    double bound = job->tables[0].staleness, one = 1, most = 0, count = 0;
    int me = hm_ps_worker(ps);

    for (int clock = 0; clock < CLOCKS; clock++) {
        worker_delay(job, ps, clock);
        for (size_t i = 0; i < (size_t)hm_ps_workers(ps); i++) {
            assert_int_equal(hm_ps_get(ps, 0, i, &count, err), 0);
            if (count < clock - bound || ((int)i == me && count != clock))
                fail_msg("worker %d read %g clocks of worker %zu in clock %d", me, count, i, clock);
            most = fmax(most, clock - count);
        }
        assert_int_equal(hm_ps_inc(ps, 0, (size_t)me, &one, err), 0);
        assert_int_equal(hm_ps_get(ps, 0, (size_t)me, &count, err), 0);
        assert_near(count, clock + 1, 0);
        assert_int_equal(hm_ps_clock(ps, err), 0);
    }
    job->most_stale[me] = most;
    assert_int_equal(hm_ps_stats(ps, &job->stats[me], err), 0);
    /* After a barrier every read is complete. */
    assert_int_equal(hm_ps_barrier(ps, err), 0);
    for (size_t i = 0; i < (size_t)hm_ps_workers(ps); i++) {
        assert_int_equal(hm_ps_get(ps, 0, i, &count, err), 0);
        assert_near(count, CLOCKS, 0);
    }
    return 0;
}

static void no_read_is_staler_than_the_bound(void **state)
{
    const double bounds[] = {0, 1, 3, INFINITY};

    (void)state;
    for (size_t b = 0; b < 4; b++) {
        double most = 0;
        for (uint64_t seed = 0; seed < 20; seed++) {
            const struct hm_ps_table table = {8, 1, bounds[b]};
            struct ps_job job = job_of(&table, 1, 1 + (int)(seed % 3), count_worker);
            job.seed = seed;
            job_run(&job, 6 + job.settings.servers, 0);
            for (int i = 0; i < 6; i++)
                most = fmax(most, job.most_stale[i]);
        }
        /* The largest staleness of a read must equal the bound; both are compared only up to 3. */
        assert_near(fmin(most, 3), fmin(bounds[b], 3), 0);
    }
}

/* With one worker, a cached copy is as new as the clock in which it was received. */
static void copies_are_used_until_they_are_too_old(void **state)
{
    (void)state;
    for (int bound = 0; bound < 5; bound++) {
        const struct hm_ps_table table = {8, 1, bound};
        struct ps_job job = job_of(&table, 1, 1, count_worker);
        job_run(&job, 2, 0);
        assert_near(job.stats[0].rows_read, 2 * CLOCKS, 0);
        assert_near(job.stats[0].rows_received, ceil((double)CLOCKS / (bound + 1)), 0);
        assert_near(job.stats[0].clocks, CLOCKS, 0);
        assert_near(job.stats[0].rows_sent, CLOCKS, 0);
        assert_true(job.stats[0].wait_s > 0);
        /* A request and its reply have 2 headers, a row number and a value; a push has 1 header. */
        assert_near(job.stats[0].bytes,
                    job.stats[0].rows_received * (2 * 64 + 16) + CLOCKS * (64 + 24), 0);
    }
}

/* ---- bits ------------------------------------------------------------------------------------ */

static int bits_worker(struct hm_ps *ps, void *state, struct hm_err *err)
{
    struct ps_job *job = state;
    double w[COLUMNS];

    for (int clock = 0; clock < CLOCKS; clock++) {
        worker_delay(job, ps, clock);
        assert_int_equal(hm_ps_get(ps, 1, 0, w, err), 0);
        for (size_t j = 0; j < COLUMNS; j++)
            w[j] = sin(w[j] + 0.1 * (hm_ps_worker(ps) + 1)) / 7;
        assert_int_equal(hm_ps_inc(ps, 1, 0, w, err), 0);
        assert_int_equal(hm_ps_clock(ps, err), 0);
    }
    assert_int_equal(hm_ps_get(ps, 1, 0, w, err), 0);
    job->sums[hm_ps_worker(ps)] = w[0] + w[1] * 3 + w[2] * 5;
    return 0;
}

static void exact_tables_have_the_same_bits_whatever_the_delays(void **state)
{
    const struct hm_ps_table tables[] = {{4, 2, 5}, {1, COLUMNS, 0}};
    double first = NAN;

    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct ps_job job = job_of(tables, 2, 1 + (int)(seed % 2), bits_worker);
        job.seed = seed;
        job_run(&job, 7 + job.settings.servers, 0);
        if (seed == 0)
            first = job.sums[0];
        for (int i = 0; i < 7; i++)
            assert_memory_equal(&job.sums[i], &first, sizeof(first));
    }
}

/* ---- large messages -------------------------------------------------------------------------- */

enum { WIDE = 300000 };

static int wide_worker(struct hm_ps *ps, void *state, struct hm_err *err)
{
    const size_t rows[] = {5, 1, 2, 3, 4, 0, 6, 8};
    size_t values = 8 * WIDE;
    double *by = calloc(values, sizeof(double)), worst = 0;

    (void)state;
    for (size_t i = 0; i < values; i++)
        by[i] = (double)i;
    assert_int_equal(hm_ps_inc_batch(ps, 0, rows, 8, by, err), 0);
    assert_int_equal(hm_ps_barrier(ps, err), 0);
    memset(by, 0, values * sizeof(double));
    assert_int_equal(hm_ps_get_batch(ps, 0, rows, 8, by, err), 0);
    for (size_t i = 0; i < values; i++)
        worst = fmax(worst, fabs(by[i] - (double)i * hm_ps_workers(ps)));
    assert_near(worst, 0, 0);
    free(by);
    return 0;
}

static void long_batches_are_split_into_messages(void **state)
{
    const struct hm_ps_table table = {9, WIDE, 0}, stale = {9, WIDE, 1};

    (void)state;
    /* Four rows are more than one message may have. */
    assert_true(4 * WIDE > HM_PS_BODY);
    struct ps_job job = job_of(&table, 1, 2, wide_worker);
    job_run(&job, 4, 0);
    job = job_of(&stale, 1, 1, wide_worker);
    job_run(&job, 3, 0);
}

/* ---- whole tables ---------------------------------------------------------------------------- */

/* Adds to whole tables of 4 and of ROWS rows and reads them; the order of the two tables varies. */
static int table_worker(struct hm_ps *ps, void *state, struct hm_err *err)
{
    const size_t rows[] = {4, ROWS};
    double values[ROWS * 2], row[2];
    int me = hm_ps_worker(ps);

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        size_t table = me == 0 ? k : 1 - k;
        for (size_t i = 0; i < 2 * rows[table]; i++)
            values[i] = (double)(i + 100 * table) * (me + 1);
        assert_int_equal(hm_ps_inc_table(ps, table, values, err), 0);
    }
    assert_int_equal(hm_ps_barrier(ps, err), 0);
    for (size_t table = 0; table < 2; table++) {
        assert_int_equal(hm_ps_get_table(ps, table, values, err), 0);
        for (size_t i = 0; i < 2 * rows[table]; i++)
            assert_near(values[i], 3 * (double)(i + 100 * table), 0);
        assert_int_equal(hm_ps_get(ps, table, rows[table] - 1, row, err), 0);
        assert_near(row[1], values[2 * rows[table] - 1], 0);
    }
    return 0;
}

static void whole_tables_are_sums_of_all_workers(void **state)
{
    const struct hm_ps_table tables[] = {{4, 2, 0}, {ROWS, 2, 3}};

    (void)state;
    for (int servers = 1; servers <= 3; servers++) {
        struct ps_job job = job_of(tables, 2, servers, table_worker);
        job_run(&job, 2 + servers, 0);
    }
}

static int table_without_memory(struct hm_ps *ps, void *state, struct hm_err *unused)
{
    double values[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct hm_err err = {0};

    (void)state;
    (void)unused;
    hm__alloc_fail_after(0);
    int get = hm_ps_get_table(ps, 0, values, &err), inc = hm_ps_inc_table(ps, 0, values, NULL);
    hm__alloc_fail_after(-1);
    assert_int_equal(get, HM_E_NOMEM);
    assert_int_equal(inc, HM_E_NOMEM);
    assert_int_equal(hm_ps_barrier(ps, NULL), 0);
    assert_int_equal(hm_ps_get_table(ps, 0, values, NULL), 0);
    for (size_t i = 0; i < 8; i++)
        assert_near(values[i], 0, 0);
    return 0;
}

static void a_table_without_memory_is_unchanged(void **state)
{
    const struct hm_ps_table table = {4, 2, 0};

    (void)state;
    struct ps_job job = job_of(&table, 1, 1, table_without_memory);
    job_run(&job, 2, 0);
}

/* ---- errors ---------------------------------------------------------------------------------- */

#define REFUSED(call, wanted, text)                                                                \
    do {                                                                                           \
        struct hm_err err = {0};                                                                   \
        int rc = (call);                                                                           \
        if (rc != (wanted) || err.code != rc || !strstr(err.message, text) || !err.field[0])       \
            fail_msg("%s: code %d, message '%s'", #call, rc, err.message);                         \
    } while (0)

static int refusing_worker(struct hm_ps *ps, void *state, struct hm_err *unused)
{
    const size_t rows[] = {0, 2, 99};
    const double bad[] = {1, NAN}, more[] = {1, 2, 3, 4, 5, 6, 7, -INFINITY};
    double values[8];
    struct hm_ps_stats stats;

    (void)state;
    (void)unused;
    REFUSED(hm_ps_get(NULL, 0, 0, values, &err), HM_E_MISSING, "ps is NULL");
    REFUSED(hm_ps_get(ps, 0, 0, NULL, &err), HM_E_MISSING, "ret_values is NULL");
    REFUSED(hm_ps_get(ps, 2, 0, values, &err), HM_E_RANGE, "table is 2, but there are 2 tables");
    REFUSED(hm_ps_get(ps, 0, 4, values, &err), HM_E_RANGE, "row is 4, but table 0 has 4 rows");
    REFUSED(hm_ps_get_batch(ps, 0, NULL, 1, values, &err), HM_E_MISSING, "rows is NULL");
    REFUSED(hm_ps_get_batch(ps, 0, rows, 3, values, &err), HM_E_RANGE, "row is 99");
    REFUSED(hm_ps_inc(NULL, 0, 0, values, &err), HM_E_MISSING, "ps is NULL");
    REFUSED(hm_ps_inc(ps, 0, 0, NULL, &err), HM_E_MISSING, "by is NULL");
    REFUSED(hm_ps_inc(ps, 9, 0, values, &err), HM_E_RANGE, "table is 9");
    REFUSED(hm_ps_inc(ps, 0, HM_NONE, bad, &err), HM_E_RANGE, "row is ");
    REFUSED(hm_ps_inc(ps, 0, 0, bad, &err), HM_E_RANGE, "increment 1 is nan");
    REFUSED(hm_ps_inc_batch(ps, 0, rows, 4, more, &err), HM_E_RANGE, "row is 99");
    REFUSED(hm_ps_inc_batch(ps, 0, (size_t[]){0, 1, 2, 3}, 4, more, &err), HM_E_RANGE,
            "increment 7 is -inf");
    REFUSED(hm_ps_get_table(NULL, 0, values, &err), HM_E_MISSING, "ps is NULL");
    REFUSED(hm_ps_get_table(ps, 0, NULL, &err), HM_E_MISSING, "ret_values is NULL");
    REFUSED(hm_ps_get_table(ps, 2, values, &err), HM_E_RANGE, "table is 2");
    REFUSED(hm_ps_inc_table(NULL, 0, values, &err), HM_E_MISSING, "ps is NULL");
    REFUSED(hm_ps_inc_table(ps, 0, NULL, &err), HM_E_MISSING, "by is NULL");
    REFUSED(hm_ps_inc_table(ps, 9, values, &err), HM_E_RANGE, "table is 9");
    REFUSED(hm_ps_inc_table(ps, 0, more, &err), HM_E_RANGE, "increment 7 is -inf");
    REFUSED(hm_ps_clock(NULL, &err), HM_E_MISSING, "ps is NULL");
    REFUSED(hm_ps_barrier(NULL, &err), HM_E_MISSING, "ps is NULL");
    REFUSED(hm_ps_stats(NULL, &stats, &err), HM_E_MISSING, "ps is NULL");
    REFUSED(hm_ps_stats(ps, NULL, &err), HM_E_MISSING, "ret_stats is NULL");
    assert_int_equal(hm_ps_get(ps, 0, 4, values, NULL), HM_E_RANGE);
    assert_int_equal(hm_ps_worker(NULL), -1);
    assert_int_equal(hm_ps_workers(NULL), 0);
    /* Nothing was changed by the refused calls, and a batch of no rows changes nothing. */
    assert_int_equal(hm_ps_inc_batch(ps, 0, rows, 0, values, NULL), 0);
    assert_int_equal(hm_ps_get_batch(ps, 0, rows, 0, values, NULL), 0);
    assert_int_equal(hm_ps_barrier(ps, NULL), 0);
    assert_int_equal(hm_ps_get_batch(ps, 0, rows, 2, values, NULL), 0);
    for (size_t i = 0; i < 4; i++)
        assert_near(values[i], 0, 0);
    return 0;
}

static void wrong_arguments_are_refused(void **state)
{
    const struct hm_ps_table tables[] = {{4, 2, 0}, {4, 2, 1}};

    (void)state;
    struct ps_job job = job_of(tables, 2, 2, refusing_worker);
    job_run(&job, 4, 0);
}

static void wrong_settings_are_refused(void **state)
{
    const struct hm_ps_table good = {4, 2, 0}, zero = {0}, wide = {1, HM_PS_MAX_COLUMNS + 1, 0};
    const struct hm_ps_table many = {HM_PS_MAX_ROWS + 1, 1, 0}, half = {1, 1, 0.5};
    const struct hm_ps_table before = {1, 1, -1}, unknown = {1, 1, NAN}, narrow = {1, 0, 0};
    const struct hm_ps_settings none = {0};
#define SETTINGS(table, count, servers) (&(struct hm_ps_settings){table, count, servers})

    (void)state;
    REFUSED(hm__ps_check(NULL, exact_worker, 4, &err), HM_E_MISSING, "settings is NULL");
    REFUSED(hm__ps_check(&none, NULL, 4, &err), HM_E_MISSING, "worker is NULL");
    REFUSED(hm__ps_check(&none, exact_worker, 4, &err), HM_E_MISSING, "tables is NULL");
    REFUSED(hm__ps_check(SETTINGS(&good, 0, 1), exact_worker, 4, &err), HM_E_RANGE,
            "table_count is 0");
    REFUSED(hm__ps_check(SETTINGS(&good, 1025, 1), exact_worker, 4, &err), HM_E_RANGE,
            "table_count is 1025");
    REFUSED(hm__ps_check(SETTINGS(&good, 1, 0), exact_worker, 4, &err), HM_E_RANGE, "servers is 0");
    REFUSED(hm__ps_check(SETTINGS(&good, 1, -1), exact_worker, 4, &err), HM_E_RANGE,
            "servers is -1");
    REFUSED(hm__ps_check(SETTINGS(&good, 1, 4), exact_worker, 4, &err), HM_E_RANGE,
            "servers is 4 in a job of 4 ranks");
    REFUSED(hm__ps_check(SETTINGS(&zero, 1, 1), exact_worker, 4, &err), HM_E_RANGE,
            "tables[0].rows is 0");
    REFUSED(hm__ps_check(SETTINGS(&many, 1, 1), exact_worker, 4, &err), HM_E_RANGE,
            "tables[0].rows is 2147483649");
    REFUSED(hm__ps_check(SETTINGS(&narrow, 1, 1), exact_worker, 4, &err), HM_E_RANGE,
            "tables[0].columns is 0");
    REFUSED(hm__ps_check(SETTINGS(&wide, 1, 1), exact_worker, 4, &err), HM_E_RANGE,
            "tables[0].columns is 67108865");
    REFUSED(hm__ps_check(SETTINGS(&half, 1, 1), exact_worker, 4, &err), HM_E_RANGE,
            "staleness is 0.5");
    REFUSED(hm__ps_check(SETTINGS(&before, 1, 1), exact_worker, 4, &err), HM_E_RANGE,
            "staleness is -1");
    REFUSED(hm__ps_check(SETTINGS(&unknown, 1, 1), exact_worker, 4, &err), HM_E_RANGE,
            "staleness is nan");
    assert_int_equal(hm__ps_check(SETTINGS(&good, 1, 3), exact_worker, 4, NULL), 0);
}

/* All ranks return the error of the rank whose settings differ. */
static void different_settings_are_refused(void **state)
{
    const struct hm_ps_table tables[] = {{4, 2, 0}, {4, 2, 1}};
    struct ps_job job = job_of(tables, 2, 1, refusing_worker);

    (void)state;
    job.odd_rank = 2;
    job_run(&job, 4, HM_E_CONFLICT);
    assert_non_null(strstr(job.err[3].message, "different settings"));
}

static int failing_worker(struct hm_ps *ps, void *state, struct hm_err *err)
{
    double values[2], by[2] = {1, 1};

    (void)state;
    if (hm_ps_worker(ps) == 1)
        return hm_ps_get(ps, 7, 0, values, err);
    /* The other workers do not wait for a worker that has ended. */
    for (int clock = 0; clock < CLOCKS; clock++) {
        assert_int_equal(hm_ps_get(ps, 0, 0, values, err), 0);
        assert_near(values[0], 2 * clock, 0);
        assert_int_equal(hm_ps_inc(ps, 0, 0, by, err), 0);
        assert_int_equal(hm_ps_clock(ps, err), 0);
    }
    return 0;
}

static void the_error_of_a_worker_reaches_all_ranks(void **state)
{
    const struct hm_ps_table table = {4, 2, 0};
    struct ps_job job = job_of(&table, 1, 2, failing_worker);

    (void)state;
    job_run(&job, 5, HM_E_RANGE);
    for (int i = 0; i < 5; i++)
        assert_non_null(strstr(job.err[i].message, "table is 7"));
}

/* Increments without a following clock are sent when the worker returns. */
static int hasty_worker(struct hm_ps *ps, void *state, struct hm_err *err)
{
    struct ps_job *job = state;
    double by = 5;

    if (hm_ps_worker(ps) == 0)
        return hm_ps_inc(ps, 0, 0, &by, err);
    for (int clock = 0; clock < 3; clock++)
        assert_int_equal(hm_ps_clock(ps, err), 0);
    return hm_ps_get(ps, 0, 0, &job->sums[1], err);
}

static void increments_of_a_worker_that_returns_are_kept(void **state)
{
    const struct hm_ps_table table = {1, 1, 0};
    struct ps_job job = job_of(&table, 1, 1, hasty_worker);

    (void)state;
    job_run(&job, 3, 0);
    assert_near(job.sums[1], 5, 0);
}

static void a_rank_without_memory_ends_the_run(void **state)
{
    const struct hm_ps_table table = {4, 2, 0};

    (void)state;
    for (int rank = 0; rank < 3; rank += 2)
        for (long after = 0; after < 4; after++) {
            struct ps_job job = job_of(&table, 1, 1, refusing_worker);
            job.odd_rank = rank;
            job.fail_after = after;
            job_run(&job, 3, HM_E_NOMEM);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_reads_are_sums_of_whole_clocks),
        cmocka_unit_test(no_read_is_staler_than_the_bound),
        cmocka_unit_test(copies_are_used_until_they_are_too_old),
        cmocka_unit_test(exact_tables_have_the_same_bits_whatever_the_delays),
        cmocka_unit_test(long_batches_are_split_into_messages),
        cmocka_unit_test(whole_tables_are_sums_of_all_workers),
        cmocka_unit_test(a_table_without_memory_is_unchanged),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(wrong_settings_are_refused),
        cmocka_unit_test(different_settings_are_refused),
        cmocka_unit_test(the_error_of_a_worker_reaches_all_ranks),
        cmocka_unit_test(increments_of_a_worker_that_returns_are_kept),
        cmocka_unit_test(a_rank_without_memory_ends_the_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
