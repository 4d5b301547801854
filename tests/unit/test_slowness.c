/* Tests uneven and unsteady workers: constant factors, and random draws per iteration. */
#include "slowness.h"
#include "testing.h"

static const struct hm_slowness even;

static void even_workers_have_factor_1(void **state)
{
    (void)state;
    assert_false(hm__slowness_any(&even));
    assert_near(hm__slowness_factor(&even, 0, 1), 1, 0);
    assert_near(hm__slowness_draw(&even, 1, 3, 8, 17, 0.25), 0.25, 0);
}

static void constant_factors_of_workers(void **state)
{
    static const double speeds[] = {1, 2, 0.5};
    const struct hm_slowness s = {
        .slow_nodes = 2, .slow_factor = 3, .speeds = speeds, .speed_count = 3};
    static const double of_four[] = {1, 0.5, 6, 3}, of_three[] = {1, 1.5, 6};

    (void)state;
    assert_true(hm__slowness_any(&s));
    assert_false(hm__slowness_drawn(&s));
    for (int i = 0; i < 4; i++)
        assert_near(hm__slowness_factor(&s, i, 4), of_four[i], 0);
    for (int i = 0; i < 3; i++)
        assert_near(hm__slowness_factor(&s, i, 3), of_three[i], 0);
    assert_near(hm__slowness_factor(&s, 0, 1), 3,
                0); /* There are more slow nodes than used nodes. */
    assert_near(hm__slowness_draw(&s, 1, 2, 4, 17, 0.25), 1.5, 0);
}

/* Speeds and slow nodes are properties of nodes, whatever number of workers a node has. */
static void workers_of_a_node_are_alike(void **state)
{
    static const double speeds[] = {0.5};
    const struct hm_slowness s = {
        .slow_nodes = 1, .slow_factor = 3, .speeds = speeds, .speed_count = 1, .per_node = 4};

    (void)state;
    for (int i = 0; i < 12; i++)
        assert_near(hm__slowness_factor(&s, i, 12), i < 4 ? 2 : i < 8 ? 1 : 3, 0);
    assert_near(hm__slowness_factor(&s, 9, 10), 3, 0); /* The last node is not full. */
}

static void draws_depend_on_worker_and_iteration_alone(void **state)
{
    const struct hm_slowness s = {.spread = 0.3, .chance = 0.1, .factor = 4, .pause_s = 1};
    double first = hm__slowness_draw(&s, 7, 2, 8, 5, 1);

    (void)state;
    assert_near(hm__slowness_draw(&s, 7, 2, 64, 5, 1), first, 0);
    assert_true(hm__slowness_draw(&s, 8, 2, 8, 5, 1) != first);
    assert_true(hm__slowness_draw(&s, 7, 3, 8, 5, 1) != first);
    assert_true(hm__slowness_draw(&s, 7, 2, 8, 6, 1) != first);
}

enum { DRAWS = 200000 };

/* Compares mean and variance of draws with those of the distribution. */
static void assert_moments(const struct hm_slowness *s, double mean, double variance)
{
    double sum = 0, squares = 0;

    for (int i = 0; i < DRAWS; i++) {
        double x = hm__slowness_draw(s, 1, i % 100, 100, i / 100, 2);
        sum += x;
        squares += (x - mean) * (x - mean);
    }
    assert_near(sum / DRAWS, mean, 5 * sqrt(variance / DRAWS) / mean);
    assert_near(squares / DRAWS, variance, 0.1);
}

static void draws_have_the_given_distribution(void **state)
{
    const struct hm_slowness rare = {.chance = 0.05, .factor = 4};
    const struct hm_slowness pause = {.chance = 0.25, .pause_s = 8};
    const struct hm_slowness wide = {.spread = 0.5};

    (void)state;
    assert_moments(&rare, 2 + 6 * 0.05, 36 * 0.05 * 0.95);
    assert_moments(&pause, 2 + 8 * 0.25, 64 * 0.25 * 0.75);
    assert_moments(&wide, 2 * exp(0.125), 4 * (exp(0.25) - 1) * exp(0.25));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(even_workers_have_factor_1),
        cmocka_unit_test(constant_factors_of_workers),
        cmocka_unit_test(workers_of_a_node_are_alike),
        cmocka_unit_test(draws_depend_on_worker_and_iteration_alone),
        cmocka_unit_test(draws_have_the_given_distribution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
