/* Compares collectives with tests/data/collectives.csv, which tools/oracle/collectives.py made. */
#include "testing.h"

#include "collective.h"

static void agrees_with_the_oracle(void **state)
{
    FILE *file = open_source("tests/data/collectives.csv");
    char line[300];
    int rows = 0;

    (void)state;
    next_line(file, line, sizeof(line));
    while (next_line(file, line, sizeof(line))) {
        char *rest = line, *name = strsep(&rest, ",");
        double v[7];
        for (int i = 0; i < 7; i++)
            v[i] = atof(strsep(&rest, ","));
        struct hm_wires wires = {
            .fabric = {v[3], v[2]}, .link = {300e9, 3e-6}, .per_node = v[4], .servers = v[5]};
        int scheme = hm_scheme_find(name);
        assert_true(scheme >= 0);
        struct hm_wire_time t = hm__collective_eval((enum hm_scheme)scheme, v[0], v[1], &wires);
        hm_assert_near(t.latency_s + t.bandwidth_s, v[6], 1e-13, name, rows);
        rows++;
    }
    fclose(file);
    assert_true(rows > 2000);
}

static void the_best_is_the_least(void **state)
{
    static const enum hm_scheme all[] = {HM_SCHEME_RING, HM_SCHEME_RABENSEIFNER,
                                         HM_SCHEME_RECURSIVE_DOUBLING, HM_SCHEME_HIERARCHICAL};

    (void)state;
    for (double per_node = 1; per_node <= 8; per_node *= 8) {
        struct hm_wires wires = {{1.25e9, 50e-6}, {300e9, 3e-6}, per_node, 1};
        for (double n = 1; n <= 512; n = n * 2 + (n > 8)) {
            for (double bytes = 1; bytes < 1e10; bytes *= 37) {
                struct hm_wire_time best = hm__collective_eval(HM_SCHEME_BEST, n, bytes, &wires);
                double least = INFINITY;
                for (int i = 0; i < (per_node > 1 ? 4 : 3); i++) {
                    struct hm_wire_time t = hm__collective_eval(all[i], n, bytes, &wires);
                    least = fmin(least, t.latency_s + t.bandwidth_s);
                }
                assert_near(best.latency_s + best.bandwidth_s, least, 0);
            }
        }
    }
}

/*
 * Eight workers in one node do not use the network; nine workers are on two nodes and use its port.
 */
static void workers_of_a_node_communicate_locally(void **state)
{
    struct hm_wires wires = {{1e9, 1e-3}, {100e9, 1e-6}, 8, 1};

    (void)state;
    for (int s = 0; s < HM_SCHEME_COUNT; s++) {
        struct hm_wire_time in = hm__collective_eval((enum hm_scheme)s, 8, 1e9, &wires);
        struct hm_wire_time out = hm__collective_eval((enum hm_scheme)s, 16, 1e9, &wires);
        assert_true(in.latency_s + in.bandwidth_s < 1);
        assert_true(out.latency_s + out.bandwidth_s >= 0.9);
    }
    /* All eight workers share one port, so recursive doubling counts the message eight times. */
    struct hm_wire_time t = hm__collective_eval(HM_SCHEME_RECURSIVE_DOUBLING, 16, 1e9, &wires);
    assert_near(t.bandwidth_s, 4 * 8, 1e-15);
    t = hm__collective_eval(HM_SCHEME_RING, 16, 1e9, &wires);
    assert_near(t.bandwidth_s, 2 * 15.0 / 16, 1e-15);
}

/* The number of rounds is also right for numbers of workers that no integer type can hold. */
static void rounds_of_very_many_workers(void **state)
{
    struct hm_wires wires = {{1e9, 1e-3}, {100e9, 1e-6}, 1, 1};

    (void)state;
    for (int k = 50; k < 160; k += 10) {
        struct hm_wire_time t =
            hm__collective_eval(HM_SCHEME_RECURSIVE_DOUBLING, ldexp(1, k), 1, &wires);
        assert_near(t.latency_s, k * 1e-3, 1e-12);
    }
}

static void names_and_kinds(void **state)
{
    (void)state;
    for (int i = 0; i <= HM_SCHEME_BEST; i++)
        assert_int_equal(hm_scheme_find(hm_scheme_name((enum hm_scheme)i)), i);
    assert_int_equal(hm_scheme_find("rings"), -1);
    assert_true(hm_scheme_is_allreduce(HM_SCHEME_RING));
    assert_false(hm_scheme_is_allreduce(HM_SCHEME_TREE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_oracle),
        cmocka_unit_test(the_best_is_the_least),
        cmocka_unit_test(workers_of_a_node_communicate_locally),
        cmocka_unit_test(rounds_of_very_many_workers),
        cmocka_unit_test(names_and_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
