/*
 * Compares the errors of a fit for configurations that were left out with fits of two coefficients
 * by the normal equations; and tests the requirements of a question of a recommendation.
 */
#include "order.h"
#include "recommend_off.h"
#include "runs_testing.h"

#include "memory.h"

enum { POINTS = 6 };

static const double ns[POINTS] = {1, 1, 2, 4, 8, 8}, sizes[POINTS] = {1, 2, 1, 3, 1, 4};
static const double seconds[POINTS] = {9.8, 19.1, 5.4, 8.6, 2.1, 6.4};

/* Predicts point `left` by a + b size/n, fitted to the other points with equal errors. */
static double predict_left_out(size_t left)
{
    double w = 0, x = 0, xx = 0, y = 0, xy = 0;

    for (size_t i = 0; i < POINTS; i++) {
        double z = sizes[i] / ns[i];
        if (i == left)
            continue;
        w += 1;
        x += z;
        xx += z * z;
        y += seconds[i];
        xy += z * seconds[i];
    }
    double b = (w * xy - x * y) / (w * xx - x * x), a = (y - b * x) / w;
    return a + b * sizes[left] / ns[left];
}

static void errors_are_those_of_fits_without_a_configuration(void **state)
{
    static const char *const terms[] = {"1", "size/n"};
    const struct hm_fit_settings settings = {
        .terms = terms, .term_count = 2, .errors = HM_ERRORS_EQUAL};
    /* The rank of the quantile among 6 sorted errors is ceil(level * 7), but at most 6. */
    static const struct {
        double level;
        size_t rank;
    } rows[] = {{0.1, 1}, {0.2, 2}, {0.5, 4}, {0.71, 5}, {0.75, 6}, {0.9, 6}, {0.99, 6}};
    char table[400] = "n,size,seconds\n";
    double wanted[POINTS], squares = 0, at_eight = 0, count;

    (void)state;
    for (size_t i = 0; i < POINTS; i++) {
        snprintf(table + strlen(table), sizeof(table) - strlen(table), "%g,%g,%g\n", ns[i],
                 sizes[i], seconds[i]);
        wanted[i] = fabs(seconds[i] - predict_left_out(i)) / predict_left_out(i);
        squares += wanted[i] * wanted[i];
        at_eight += ns[i] == 8 ? wanted[i] * wanted[i] : 0;
    }
    struct hm_fit *fit = fit_with(table, &settings);
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        struct hm_off off = {0};
        double sorted[POINTS];
        assert_int_equal(hm__off_find(fit, rows[k].level, &off, NULL), 0);
        assert_int_equal(off.count, POINTS);
        for (size_t i = 0; i < POINTS; i++)
            assert_near(off.errors[i], wanted[i], 1e-9);
        memcpy(sorted, wanted, sizeof(sorted));
        qsort(sorted, POINTS, sizeof(*sorted), hm__compare_numbers);
        assert_near(off.reach, sorted[rows[k].rank - 1], 1e-9);
        assert_near(off.usual, sqrt(squares / POINTS), 1e-9);
        assert_near(hm__off_at(fit, &off, NAN, &count), squares, 1e-9);
        assert_near(count, POINTS, 0);
        assert_near(hm__off_at(fit, &off, 8, &count), at_eight, 1e-9);
        assert_near(count, 2, 0);
        assert_true(isinf(hm__off_at(fit, &off, 3, &count)));
        assert_near(count, 0, 0);
        hm__free(off.errors);
    }
    hm_fit_free(fit);
}

/*
 * A run whose size is not the default is marked as `elsewhere`, because a plot at the default size
 * does not show it.
 */
static void residuals_may_be_elsewhere(void **state)
{
    static const char *const terms[] = {"1", "size/n"};
    const struct hm_fit_settings settings = {.terms = terms, .term_count = 2};
    struct hm_fit *fit =
        fit_with("n,size,seconds\n1,1,9.8\n2,4,19\n4,4,9.5\n8,2,3.1\n8,4,5.2\n", &settings);

    (void)state;
    for (size_t i = 0; i < fit->residual_count; i++)
        assert_int_equal(fit->residuals[i].elsewhere, i == 0 || i == 3);
    hm_fit_free(fit);
}

static void questions_need_whole_numbers_of_workers(void **state)
{
    static const double wrong[] = {0, -1, 0.5, 1.5, INFINITY, NAN};
    struct hm_runs *runs = parse_runs("n,seconds\n1,10\n2,6\n4,4\n");
    struct hm_recommendation *r = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const double n[] = {1, wrong[i]};
        const struct hm_recommend_question q = {.n = n, .n_count = 2};
        struct hm_err err = {0};
        assert_int_equal(hm_recommend(runs, &q, &r, &err), HM_E_RANGE);
        assert_non_null(strstr(err.message, "is not a whole number of 1 or more"));
    }
    const double n[] = {1, 4};
    const struct hm_recommend_question q = {.n = n, .n_count = 2};
    assert_int_equal(hm_recommend(runs, &q, &r, NULL), 0);
    assert_near(r->candidates[0].n, 4, 0);
    hm_recommendation_free(r);
    hm_runs_free(runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_those_of_fits_without_a_configuration),
        cmocka_unit_test(residuals_may_be_elsewhere),
        cmocka_unit_test(questions_need_whole_numbers_of_workers),
    };
    return cmocka_run_group_tests_name("exact_off", tests, NULL, NULL);
}
