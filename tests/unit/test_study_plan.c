/* Tests the choice of the next run of a study: initial runs, advice, budget, failures, and the runs
 * that check the answer. */
#include "testing.h"

#include "memory.h"
#include "study_plan.h"

static struct hm_study_algorithm algorithms[] = {{.name = "cocoa"}, {.name = "lbfgs"}};
static double workers[] = {1, 2, 4, 8, 16, 32, 64};

static struct hm_study_spec a_study(void)
{
    return (struct hm_study_spec){.algorithms = algorithms,
                                  .algorithm_count = 2,
                                  .m = workers,
                                  .m_count = 7,
                                  .loss = 1e-3,
                                  .budget_s = 10,
                                  .seeds = 1};
}

static void begin(struct study_table *table, const struct hm_study_spec *spec)
{
    assert_int_equal(study_table_init(table, spec, NULL), 0);
}

static void made(const struct study_table *table, const struct study_run *run, double time_s)
{
    *study_table_at(table, run) =
        (struct study_entry){.state = STUDY_COMPLETE, .iterations = 5, .time_s = time_s};
}

static void failed(const struct study_table *table, const struct study_run *run)
{
    study_table_at(table, run)->state = STUDY_FAILED;
}

static void assert_run(const struct hm_study_spec *spec, const struct study_run *run,
                       const char *algorithm, double m, double seed)
{
    assert_string_equal(spec->algorithms[run->algorithm].name, algorithm);
    assert_near(spec->m[run->m], m, 0);
    assert_near(run->seed, seed, 0);
}

static void the_first_runs_are_middle_largest_and_smallest(void **state)
{
    static const double order[] = {8, 8, 64, 64, 1, 1};
    struct hm_study_spec spec = a_study();
    struct study_table table;
    struct study_run run;

    (void)state;
    begin(&table, &spec);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(study_plan_first(&table, &run), STUDY_GO);
        assert_run(&spec, &run, i % 2 ? "lbfgs" : "cocoa", order[i], 1);
        assert_true(study_is_initial(&spec, &run));
        made(&table, &run, 1);
    }
    assert_int_equal(study_plan_first(&table, &run), STUDY_FITS);
    assert_int_equal(study_table_count(&table), 6);
    assert_near(study_table_spent(&table), 6, 0);
    study_table_release(&table);
}

static void few_numbers_of_workers_are_run_once(void **state)
{
    for (size_t count = 1; count <= 2; count++) {
        struct hm_study_spec spec = a_study();
        struct study_table table;
        struct study_run run;
        size_t runs = 0;

        spec.m_count = count;
        spec.seeds = 2;
        begin(&table, &spec);
        while (study_plan_first(&table, &run) == STUDY_GO) {
            made(&table, &run, 0.1);
            runs++;
        }
        assert_int_equal(runs, 2 * 2 * count);
        study_table_release(&table);
    }
    (void)state;
}

static void every_run_is_made_once(void **state)
{
    struct hm_study_spec spec = a_study();
    struct study_table table;
    struct study_run run;
    size_t count = 0;

    (void)state;
    spec.seeds = 3;
    begin(&table, &spec);
    for (; study_table_each(&table, count, &run); count++) {
        assert_int_equal(study_table_at(&table, &run)->state, STUDY_MISSING);
        made(&table, &run, 1);
    }
    assert_int_equal(count, 2 * 7 * 3);
    assert_int_equal(study_table_count(&table), count);
    study_table_release(&table);
}

static void a_small_budget_ends_the_first_runs(void **state)
{
    struct hm_study_spec spec = a_study();
    struct study_table table;
    struct study_run run;

    (void)state;
    begin(&table, &spec);
    table.reference_s = 4;
    assert_int_equal(study_plan_first(&table, &run), STUDY_GO);
    made(&table, &run, 7); /* One run may exceed the budget. */
    assert_int_equal(study_plan_first(&table, &run), STUDY_BUDGET);
    study_table_release(&table);
}

static struct hm_candidate candidates[] = {
    {.algorithm = "cocoa", .m = 4, .time_s = 1, .probability = 0.6, .why = HM_WHY_BEST},
    {.algorithm = "cocoa", .m = 8, .time_s = 2, .probability = 0.3, .why = HM_WHY_ITERATIONS},
    {.algorithm = "lbfgs", .m = 64, .time_s = 3, .probability = 0.1, .why = HM_WHY_BOTH},
    {.algorithm = "lbfgs", .m = 16, .time_s = 9, .probability = 0, .why = HM_WHY_BOTH},
    {.algorithm = "lbfgs", .m = 1, .time_s = NAN, .probability = 0, .why = HM_WHY_NEVER},
};

static struct hm_advice an_advice(const char *algorithm, double m, double time_s)
{
    return (struct hm_advice){.candidates = candidates,
                              .candidate_count = 5,
                              .feasible = true,
                              .next = {.algorithm = algorithm, .m = m, .time_s = time_s}};
}

static void the_advice_is_followed(void **state)
{
    struct hm_study_spec spec = a_study();
    struct hm_advice advice = an_advice("lbfgs", 32, 3);
    struct study_table table;
    struct study_run run;

    (void)state;
    begin(&table, &spec);
    assert_int_equal(study_plan_more(&table, &advice, &run), STUDY_GO);
    assert_run(&spec, &run, "lbfgs", 32, 1);
    made(&table, &run, 1);
    /* The advised run exists already, so the best candidate with a missing run is chosen. */
    assert_int_equal(study_plan_more(&table, &advice, &run), STUDY_GO);
    assert_run(&spec, &run, "cocoa", 4, 1);
    failed(&table, &run);
    assert_int_equal(study_plan_more(&table, &advice, &run), STUDY_GO);
    assert_run(&spec, &run, "cocoa", 8, 1);
    made(&table, &run, 1);
    assert_int_equal(study_plan_more(&table, &advice, &run), STUDY_GO);
    assert_run(&spec, &run, "lbfgs", 64, 1);
    made(&table, &run, 1);
    /* The candidates with missing runs cannot be the best, so no run is needed for them. */
    assert_int_equal(study_plan_more(&table, &advice, &run), STUDY_REPEATS);
    for (size_t i = 3; i < 5; i++) {
        assert_true(study_plan_find(&spec, candidates[i].algorithm, candidates[i].m, &run));
        made(&table, &run, 0.1);
    }
    assert_int_equal(study_plan_more(&table, &advice, &run), STUDY_ALL);
    study_table_release(&table);
}

static void all_seeds_of_a_candidate_are_run(void **state)
{
    struct hm_study_spec spec = a_study();
    struct hm_advice advice = an_advice("cocoa", 2, 0.1);
    struct study_table table;
    struct study_run run;

    (void)state;
    spec.seeds = 2;
    begin(&table, &spec);
    for (double seed = 1; seed <= 2; seed++) {
        assert_int_equal(study_plan_more(&table, &advice, &run), STUDY_GO);
        assert_run(&spec, &run, "cocoa", 2, seed);
        made(&table, &run, 0.1);
    }
    assert_int_equal(study_plan_more(&table, &advice, &run), STUDY_GO);
    assert_run(&spec, &run, "cocoa", 4, 1);
    study_table_release(&table);
}

static void the_advice_or_the_budget_ends_the_study(void **state)
{
    struct hm_study_spec spec = a_study();
    struct hm_advice enough = an_advice(NULL, NAN, NAN), dear = an_advice("cocoa", 2, 11);
    struct hm_advice unknown = an_advice("cocoa", 2, NAN), foreign = an_advice("gd", 3, 1);
    struct study_table table;
    struct study_run run;

    (void)state;
    begin(&table, &spec);
    assert_int_equal(study_plan_more(&table, &enough, &run), STUDY_ENOUGH);
    assert_int_equal(study_plan_more(&table, &dear, &run), STUDY_BUDGET);
    assert_int_equal(study_plan_more(&table, &unknown, &run), STUDY_GO);
    assert_int_equal(study_plan_more(&table, &foreign, &run), STUDY_GO);
    assert_run(&spec, &run, "cocoa", 4, 1);
    table.reference_s = 10;
    assert_int_equal(study_plan_more(&table, &enough, &run), STUDY_BUDGET);
    assert_int_equal(study_plan_any(&table, &run), STUDY_BUDGET);
    table.reference_s = 0;
    assert_int_equal(study_plan_any(&table, &run), STUDY_GO);
    assert_run(&spec, &run, "cocoa", 8, 1);
    study_table_release(&table);
}

static void decisions_depend_on_the_runs_alone(void **state)
{
    struct hm_study_spec spec = a_study();
    struct study_table whole, resumed;
    struct study_run run, again;

    (void)state;
    begin(&whole, &spec);
    while (study_plan_first(&whole, &run) == STUDY_GO) {
        begin(&resumed, &spec); /* This is the state that a second start of the study finds. */
        for (size_t i = 0; study_table_each(&whole, i, &again); i++)
            *study_table_at(&resumed, &again) = *study_table_at(&whole, &again);
        assert_int_equal(study_plan_first(&resumed, &again), STUDY_GO);
        assert_memory_equal(&run, &again, sizeof(run));
        study_table_release(&resumed);
        made(&whole, &run, 0.5);
    }
    study_table_release(&whole);
}

static void failed_candidates_are_not_checked(void **state)
{
    struct hm_study_spec spec = a_study();
    struct hm_advice advice = an_advice(NULL, 0, 0);
    struct study_table table;
    struct study_run run;

    (void)state;
    begin(&table, &spec);
    assert_ptr_equal(study_plan_check(&table, &advice, 0), &candidates[0]);
    assert_ptr_equal(study_plan_check(&table, &advice, 1), &candidates[1]);
    assert_true(study_plan_find(&spec, "cocoa", 4, &run));
    failed(&table, &run);
    assert_ptr_equal(study_plan_check(&table, &advice, 0), &candidates[1]);
    assert_ptr_equal(study_plan_check(&table, &advice, 1), &candidates[2]);
    assert_ptr_equal(study_plan_check(&table, &advice, 2), &candidates[3]);
    assert_null(study_plan_check(&table, &advice, 3)); /* The candidate never reaches the loss. */
    assert_false(study_plan_find(&spec, "cocoa", 3, &run));
    study_table_release(&table);
}

static void a_loss_is_reached_once(void **state)
{
    double loss[] = {0.5, 0.2, 0.3, 0.1};
    struct hm_trace trace = {.count = 4, .loss = loss};

    (void)state;
    assert_int_equal(study_reached(&trace, 0.25), 1);
    assert_int_equal(study_reached(&trace, 0.1), 3);
    assert_int_equal(study_reached(&trace, 0.05), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_runs_are_middle_largest_and_smallest),
        cmocka_unit_test(few_numbers_of_workers_are_run_once),
        cmocka_unit_test(every_run_is_made_once),
        cmocka_unit_test(a_small_budget_ends_the_first_runs),
        cmocka_unit_test(the_advice_is_followed),
        cmocka_unit_test(all_seeds_of_a_candidate_are_run),
        cmocka_unit_test(the_advice_or_the_budget_ends_the_study),
        cmocka_unit_test(decisions_depend_on_the_runs_alone),
        cmocka_unit_test(failed_candidates_are_not_checked),
        cmocka_unit_test(a_loss_is_reached_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
