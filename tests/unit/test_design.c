/*
 * Compares experimental designs with an independent solver (tools/oracle/design.py) and the example
 * of Ernest, and tests properties of every design: budgets, bounds, whole runs, and the use of
 * measured runs.
 */
#include <time.h>

#include "howmany_fit.h"
#include "testing.h"

/* Makes one of the oracle's two sets of candidates. */
static struct hm_runs *make_candidates(bool grid)
{
    double n[20], size[20];
    struct hm_axis axes[] = {{"n", n, grid ? 20 : 8}, {"size", size, grid ? 10 : 20}};
    struct hm_runs *runs = NULL;

    for (size_t i = 0; i < 20; i++) {
        n[i] = 1 + (double)i;
        size[i] = grid ? (1 + (double)i) / 10 : (4 + 28 * (double)i / 19) / 256;
    }
    assert_int_equal(hm_runs_cross(axes, 2, &runs, NULL), 0);
    return runs;
}

static struct hm_runs *three_runs(void)
{
    const char text[] = "n,size,seconds\n1,0.015625,1\n2,0.015625,1\n8,0.125,1\n";
    struct hm_runs *runs = NULL;

    assert_int_equal(hm_runs_parse(text, strlen(text), "have.csv", &runs, NULL), 0);
    return runs;
}

static struct hm_design *solve(const struct hm_runs *candidates,
                               const struct hm_design_settings *settings)
{
    struct hm_err err = {0};
    struct hm_design *design = NULL;

    if (hm_design_new(candidates, settings, &design, &err))
        fail_msg("%s: %s", err.field, err.message);
    return design;
}

static struct hm_design *solve_case(const char *line, double *ret_objective)
{
    char name[32], criterion;
    double budget, gap;
    struct hm_at target[] = {{"n", 64}, {"size", 1}};
    struct hm_runs *have = NULL;

    assert_int_equal(
        sscanf(line, "case %31s %c %lf %lf %lf", name, &criterion, &budget, ret_objective, &gap),
        5);
    bool grid = strcmp(name, "grid") == 0;
    struct hm_runs *candidates = make_candidates(grid);
    if (strcmp(name, "ernest-more") == 0)
        have = three_runs();
    struct hm_design_settings settings = {.budget = budget,
                                          .criterion = criterion == 'A'   ? HM_CRITERION_A
                                                       : criterion == 'D' ? HM_CRITERION_D
                                                                          : HM_CRITERION_I,
                                          .only = grid ? NULL : "floor(size*256 + 0.5) >= 4*n",
                                          .target = target,
                                          .target_count = 2,
                                          .have = have};
    struct hm_design *design = solve(candidates, &settings);
    assert_true(grid || design->candidates == 83);
    hm_runs_free(candidates);
    hm_runs_free(have);
    return design;
}

static double share_of(const struct hm_design *design, double n, double size)
{
    for (size_t i = 0; i < design->chosen_count; i++)
        if (design->chosen[i].n == n && fabs(design->chosen[i].size - size) < 1e-12)
            return design->chosen[i].share;
    return 0;
}

static void test_oracle(void **state)
{
    FILE *file = open_source("tests/data/design.tsv");
    char line[256];
    struct hm_design *design = NULL;
    int cases = 0, shares = 0;

    (void)state;
    while (next_line(file, line, sizeof(line))) {
        double objective, n, size, cost, share;
        if (strncmp(line, "case ", 5) == 0) {
            hm_design_free(design);
            design = solve_case(line, &objective);
            assert_near(design->objective, objective, 1e-8);
            assert_true(design->gap <= 1e-8 * fmax(fabs(objective), 1));
            cases++;
        } else if (sscanf(line, "share %lf %lf %lf %lf", &n, &size, &cost, &share) == 4) {
            if (fabs(share_of(design, n, size) - share) > 2e-3)
                fail_msg("(%g, %g) has %g, not %g", n, size, share_of(design, n, size), share);
            shares++;
        }
    }
    hm_design_free(design);
    fclose(file);
    assert_int_equal(cases, 8);
    assert_true(shares > 100);
}

/* The design must have the seven runs of Ernest's example (REFERENCE, section 2). */
static void test_ernest(void **state)
{
    static const double wanted[][2] = {{8, .125},     {1, .015625},  {1, .0213816}, {3, .0501645},
                                       {3, .0559211}, {3, .0616776}, {4, .0616776}};
    double objective;
    struct hm_design *d = solve_case("case ernest A 10 0 0", &objective);

    (void)state;
    assert_true(fabs(d->objective - 5.61727309) < 5e-9);
    assert_int_equal(d->made_count, 7);
    for (size_t i = 0; i < 7; i++) {
        bool found = false;
        for (size_t k = 0; k < d->made_count; k++)
            found = found || (d->chosen[k].n == wanted[i][0] &&
                              fabs(d->chosen[k].size - wanted[i][1]) < 5e-8);
        assert_true(found);
    }
    assert_true(d->spent <= 10 && isfinite(d->rounded) && isinf(d->before));
    for (size_t i = 1; i < d->made_count; i++) /* Each run improves the criterion. */
        assert_true(d->chosen[i].after <= d->chosen[i - 1].after);
    hm_design_free(d);
}

/* With a job, its model is the prior, so that even one cheap run is a valid design. */
static void test_job(void **state)
{
    struct hm_job *job = parse_job("compute: 100 s/n\ncommunicate: 2 s * log2(n)\n"
                                   "cluster: {price: $1/h}\n");
    const double n[] = {1, 2, 4, 8, 16};
    struct hm_axis axis = {"n", n, 5};
    struct hm_at target = {"n", 64};
    struct hm_runs *candidates = NULL;
    struct hm_design_settings settings = {.job = job,
                                          .budget = 300,
                                          .criterion = HM_CRITERION_I,
                                          .target = &target,
                                          .target_count = 1};

    (void)state;
    assert_int_equal(hm_runs_cross(&axis, 1, &candidates, NULL), 0);
    struct hm_design *d = solve(candidates, &settings);
    assert_true(d->made_count >= 1 && d->spent <= 300 * (1 + 1e-9));
    assert_true(isfinite(d->before) && d->rounded < d->before);
    assert_near(d->money, d->seconds / 3600, 1e-12);
    for (size_t i = 0; i < d->made_count; i++)
        assert_near(d->chosen[i].cost, d->chosen[i].n * d->chosen[i].time_s, 1e-12);
    hm_design_free(d);
    hm_runs_free(candidates);
    hm_job_free(job);
}

static void expect_error(const struct hm_runs *candidates,
                         const struct hm_design_settings *settings, const char *message)
{
    struct hm_err err = {0};
    struct hm_design *design = NULL;

    assert_true(hm_design_new(candidates, settings, &design, &err) < 0);
    if (!strstr(err.message, message))
        fail_msg("'%s' says nothing of '%s'", err.message, message);
}

static void test_refusals(void **state)
{
    struct hm_runs *candidates = make_candidates(false), *same = NULL;
    const double n[] = {4};
    struct hm_axis axes[] = {{"n", n, 1}};
    const struct hm_axis no_n = {"size", n, 1};
    struct hm_design_settings s = {.budget = -1};

    (void)state;
    expect_error(candidates, &s, "budget");
    s = (struct hm_design_settings){.only = "n > 100"};
    expect_error(candidates, &s, "no candidate is left");
    s = (struct hm_design_settings){.cost = "n +"};
    expect_error(candidates, &s, "");
    s = (struct hm_design_settings){.cost = "5 - n"};
    expect_error(candidates, &s, "cost is -1");
    s = (struct hm_design_settings){.criterion = HM_CRITERION_I};
    expect_error(candidates, &s, "needs a target with n");
    assert_int_equal(hm_runs_cross(axes, 1, &same, NULL), 0);
    s = (struct hm_design_settings){.budget = 3};
    expect_error(same, &s, "cannot distinguish the term");
    hm_runs_free(same);
    assert_int_equal(hm_runs_cross(&no_n, 1, &same, NULL), HM_E_MISSING);
    hm_runs_free(candidates);
}

/* A variance beyond the largest double once let the steps of the programme never end. */
static void values_that_overflow_are_refused(void **state)
{
    const double n[] = {1, 2, 4, 8}, usual[] = {0.1, 0.5, 1}, tiny[] = {1e-310, 0.1, 1};
    struct hm_axis axes[] = {{"n", n, 4}, {"size", usual, 3}};
    struct hm_design_settings s = {.budget = 1e-308};
    struct hm_runs *candidates = NULL;

    (void)state;
    assert_int_equal(hm_runs_cross(axes, 2, &candidates, NULL), 0);
    expect_error(candidates, &s, "is not a finite number");
    hm_runs_free(candidates);
    axes[1].values = tiny;
    assert_int_equal(hm_runs_cross(axes, 2, &candidates, NULL), 0);
    s.budget = 7;
    expect_error(candidates, &s, "the cost is infinity at n = 1");
    hm_runs_free(candidates);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_ernest),
        cmocka_unit_test(test_job),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(values_that_overflow_are_refused),
    };
    return cmocka_run_group_tests_name("design", tests, NULL, NULL);
}
