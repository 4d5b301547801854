/* Compares the times of uneven and unsteady workers with tables of tools/oracle/slowness.py. */
#include "memory.h"
#include "slow_time.h"
#include "testing.h"

enum { SPEEDS = 8 };

/* A row of the table. */
struct row {
    char kind[8], listed[64];
    double n, late, staleness, seconds, extra, value, within, speeds[SPEEDS];
    struct hm_slowness slowness;
};

static void read_row(const char *line, struct row *r)
{
    struct hm_slowness *s = &r->slowness;

    *r = (struct row){0};
    assert_int_equal(sscanf(line, "%7s %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %63s %lf %lf",
                            r->kind, &r->n, &r->late, &r->staleness, &r->seconds, &r->extra,
                            &s->spread, &s->chance, &s->factor, &s->pause_s, &s->slow_nodes,
                            &s->slow_factor, r->listed, &r->value, &r->within),
                     15);
    s->speeds = r->speeds;
    for (char *p = r->listed; *p && *p != '-' && s->speed_count < SPEEDS; p += *p == ',')
        r->speeds[s->speed_count++] = strtod(p, &p);
}

static void times_agree_with_the_table(void **state)
{
    FILE *file = open_source("tests/data/slowness.tsv");
    char line[512];
    int rows = 0;

    (void)state;
    for (; next_line(file, line, sizeof(line)); rows++) {
        struct hm_slow *slow;
        struct row r;
        double value;
        read_row(line, &r);
        assert_int_equal(hm__slow_new(&r.slowness, &slow, NULL), 0);
        if (strcmp(r.kind, "order") == 0)
            value = hm__slow_order(slow, r.n, r.late, r.seconds);
        else
            assert_int_equal(
                hm__slow_stale(slow, r.n, r.staleness, r.seconds, r.extra, &value, NULL), 0);
        if (fabs(value - r.value) > r.within * r.value)
            fail_msg("%s: %.17g", line, value);
        hm__slow_free(slow);
    }
    fclose(file);
    assert_int_equal(rows, 23);
}

/* Compares with closed forms for eight workers whose iterations are 4 times slower with a
 * probability of 5 %. */
static void closed_forms_are_reproduced(void **state)
{
    const struct hm_slowness s = {.chance = 0.05, .factor = 4};
    const double bsp = 1 + 3 * (1 - pow(0.95, 8));
    const double one_late = 1 + 3 * (1 - pow(0.95, 8) - 8 * 0.05 * pow(0.95, 7));
    struct hm_slow *slow;
    double ssp;

    (void)state;
    assert_int_equal(hm__slow_new(&s, &slow, NULL), 0);
    assert_near(hm__slow_order(slow, 8, 0, 1), bsp, 1e-13);
    assert_near(hm__slow_order(slow, 8, 1, 1), one_late, 1e-13);
    assert_near(hm__slow_async(slow, 8, 1, 0.5), 1 + 3 * 0.05 + 0.5, 1e-13);
    assert_int_equal(hm__slow_stale(slow, 8, 0, 1, 0, &ssp, NULL), 0);
    assert_near(ssp, bsp, 1e-13);
    assert_int_equal(hm__slow_stale(slow, 8, 3, 1, 0, &ssp, NULL), 0);
    assert_true(bsp / ssp > 1.45 && bsp / ssp < 1.6);
    assert_true((7 / one_late) / (8 / bsp) > 1.4);
    assert_int_equal(hm__slow_stale(slow, 8, 1e6, 1, 0, &ssp, NULL), 0);
    /* The time is nearly that of workers that do not wait for each other. */
    assert_near(ssp, 1.15, 0.03);
    hm__slow_free(slow);
}

static void a_constantly_slow_worker_limits_all(void **state)
{
    const struct hm_slowness s = {.slow_nodes = 1, .slow_factor = 4};
    struct hm_slow *slow;
    double ssp;

    (void)state;
    assert_int_equal(hm__slow_new(&s, &slow, NULL), 0);
    assert_near(hm__slow_order(slow, 8, 0, 1), 4, 0);
    assert_near(hm__slow_order(slow, 8, 1, 1), 1, 0);
    for (double staleness = 0; staleness < 100; staleness += 33) {
        assert_int_equal(hm__slow_stale(slow, 8, staleness, 1, 0.5, &ssp, NULL), 0);
        assert_near(ssp, 4.5,
                    0); /* With any staleness bound, the slow worker limits the other workers. */
    }
    assert_near(hm__slow_async(slow, 8, 1, 0), 8 / 7.25, 1e-14);
    assert_near(hm__slow_even(slow, 8), 8 / 7.25, 1e-14);
    hm__slow_free(slow);
}

/* Slowness belongs to nodes of four workers; the last node is not full. */
static void nodes_count_not_workers(void **state)
{
    static const double speeds[] = {0.5, 2};
    const struct hm_slowness s = {
        .slow_nodes = 1, .slow_factor = 3, .speeds = speeds, .speed_count = 2, .per_node = 4};
    static const double twice[] = {3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5};
    struct hm_slow *slow;

    (void)state;
    assert_int_equal(hm__slow_new(&s, &slow, NULL), 0);
    for (int late = 0; late < 14; late++)
        assert_near(hm__slow_order(slow, 14, late, 1), twice[late], 0);
    assert_near(hm__slow_order(slow, 8, 0, 1), 2, 0);
    assert_near(hm__slow_order(slow, 4, 0, 1), 6, 0);
    assert_near(hm__slow_even(slow, 14), 14 / (2 / 3.0 + 4 / 2.0 + 4 + 4 * 2), 1e-14);
    hm__slow_free(slow);
}

/* Many different speeds are rounded, which hardly changes the time. */
static void many_speeds(void **state)
{
    double speeds[200];
    struct hm_slowness s = {.spread = 0.1, .speeds = speeds, .speed_count = 200};
    double sum = 0;
    struct hm_slow *slow;

    (void)state;
    for (int i = 0; i < 200; i++)
        speeds[i] = 0.8 + 0.002 * i;
    assert_int_equal(hm__slow_new(&s, &slow, NULL), 0);
    /* The expected time of all workers except the slowest few is compared with a simulation of each
     * worker. */
    for (int run = 0; run < 4000; run++) {
        double last = 0;
        for (int i = 0; i < 200; i++) {
            double u = (rand() + 0.5) / (RAND_MAX + 1.0), v = rand() / (RAND_MAX + 1.0);
            double z = sqrt(-2 * log(u)) * cos(2 * M_PI * v);
            last = fmax(last, exp(0.1 * z) / speeds[i]);
        }
        sum += last;
    }
    assert_near(hm__slow_order(slow, 200, 0, 1), sum / 4000, 0.01);
    hm__slow_free(slow);
}

/* Without random draws no table is needed, so that any number of speeds is exact. */
static void fixed_speeds_are_exact(void **state)
{
    double speeds[20];
    const struct hm_slowness s = {.speeds = speeds, .speed_count = 20};
    struct hm_slow *slow;
    double sum = 0;

    (void)state;
    for (int i = 0; i < 20; i++) {
        speeds[i] = 0.5 + 0.03 * i;
        sum += speeds[i];
    }
    assert_int_equal(hm__slow_new(&s, &slow, NULL), 0);
    for (int late = 0; late < 20; late++)
        assert_near(hm__slow_order(slow, 20, late, 1), 1 / speeds[late], 1e-14);
    assert_near(hm__slow_even(slow, 20), 20 / sum, 1e-14);
    hm__slow_free(slow);
}

static void more_workers_take_longer(void **state)
{
    const struct hm_slowness s = {.spread = 0.3, .chance = 0.01, .factor = 10, .pause_s = 0.1};
    struct hm_slow *slow;
    double before = 0, stale = 0;

    (void)state;
    assert_int_equal(hm__slow_new(&s, &slow, NULL), 0);
    for (double n = 1; n < 2e6; n *= 4) {
        double now = hm__slow_order(slow, n, 0, 1), ssp;
        assert_true(now > before && now < 100);
        assert_int_equal(hm__slow_stale(slow, n, 4, 1, 0, &ssp, NULL), 0);
        assert_true(ssp <= now * 1.001 && ssp > stale * 0.99);
        before = now;
        stale = ssp;
    }
    hm__slow_free(slow);
}

static void failed_allocations_are_reported(void **state)
{
    static const double speeds[] = {0.5, 2};
    const struct hm_slowness s = {.spread = 0.3, .speeds = speeds, .speed_count = 2};

    (void)state;
    for (long after = 0;; after++) {
        struct hm_slow *slow = NULL;
        double value;
        hm__alloc_fail_after(after);
        int rc = hm__slow_new(&s, &slow, NULL);
        if (rc == 0)
            rc = hm__slow_stale(slow, 4, 2, 1, 0, &value, NULL);
        hm__alloc_fail_after(-1);
        hm__slow_free(slow);
        if (rc == 0)
            break;
        assert_int_equal(rc, HM_E_NOMEM);
    }
}

/* If only one allocation fails, this is reported too. */
static void single_failed_allocations_are_reported(void **state)
{
    static const double speeds[] = {1, 0.5, 1, 0.25};
    const struct hm_slowness s = {
        .speeds = speeds, .speed_count = 4, .chance = 0.1, .factor = 3, .spread = 0.2};
    bool failed = true;

    (void)state;
    for (long after = 0; failed; after++) {
        struct hm_slow *slow = NULL;
        hm__alloc_fail_once(after);
        int rc = hm__slow_new(&s, &slow, NULL);
        failed = hm__alloc_fail_after(-1) < 0;
        assert_int_equal(rc, failed ? HM_E_NOMEM : 0);
        hm__slow_free(rc == 0 ? slow : NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_agree_with_the_table),
        cmocka_unit_test(closed_forms_are_reproduced),
        cmocka_unit_test(a_constantly_slow_worker_limits_all),
        cmocka_unit_test(nodes_count_not_workers),
        cmocka_unit_test(many_speeds),
        cmocka_unit_test(more_workers_take_longer),
        cmocka_unit_test(failed_allocations_are_reported),
        cmocka_unit_test(single_failed_allocations_are_reported),
        cmocka_unit_test(fixed_speeds_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
