/*
 * Boundaries of fits and recommendations: how many runs give which note, how many steps a job may
 * have, and which runs a fit uses. The figures are computed by hand.
 */
#include "testing.h"

#include "howmany_fit.h"

static struct hm_runs *parse_runs(const char *text)
{
    struct hm_runs *runs = NULL;
    struct hm_err err = {0};

    if (hm_runs_parse(text, strlen(text), "runs.csv", &runs, &err))
        fail_msg("%s", err.message);
    return runs;
}

static struct hm_fit *fit_with(const char *table, const struct hm_fit_settings *settings)
{
    struct hm_runs *runs = parse_runs(table);
    struct hm_fit *fit = NULL;
    struct hm_err err = {0};

    if (hm_fit_new(runs, settings, &fit, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    hm_runs_free(runs);
    return fit;
}

static bool fit_notes(const struct hm_fit *fit, const char *text)
{
    for (size_t i = 0; i < fit->note_count; i++)
        if (strstr(fit->notes[i], text))
            return true;
    return false;
}

/* With two terms, an interval needs three runs, and five runs make it dependable. */
static void few_runs_are_noted(void **state)
{
    static const char *const terms[] = {"1", "1/n"};
    static const char *const tables[] = {
        "n,seconds\n1,11\n2,6.1\n", "n,seconds\n1,11\n2,6.1\n4,3.4\n",
        "n,seconds\n1,11\n2,6.1\n4,3.4\n8,2.3\n", "n,seconds\n1,11\n2,6.1\n4,3.4\n8,2.3\n16,1.6\n"};
    const struct hm_fit_settings settings = {.terms = terms, .term_count = 2};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct hm_fit *fit = fit_with(tables[i], &settings);
        assert_int_equal(fit->intervals, i > 0);
        assert_int_equal(fit_notes(fit, "2 runs for 2 terms are too few for an interval"), i == 0);
        assert_int_equal(fit_notes(fit, "runs for 2 terms give an uncertain interval"),
                         i == 1 || i == 2);
        hm_fit_free(fit);
    }
}

/* Computing, 12 steps of communication and 3 overheads are 16 terms, as many as a fit may have. */
static void a_sheet_has_at_most_12_steps(void **state)
{
    static const char table[] = "n,seconds\n1,7.6\n2,4.6\n4,3.1\n";

    (void)state;
    for (int steps = 12; steps <= 13; steps++) {
        char text[400] = "compute: 6 s / n\ncommunicate: [0.1 s";
        for (int i = 1; i < steps; i++)
            strcat(text, ", 0.1 s");
        strcat(text, "]\n");
        struct hm_job *job = parse_job(text);
        struct hm_runs *runs = parse_runs(table);
        struct hm_fit_settings settings = {.job = job};
        struct hm_fit *fit = NULL;
        struct hm_err err = {0};
        int rc = hm_fit_new(runs, &settings, &fit, &err);
        if (steps == 12) {
            assert_int_equal(rc, 0);
            assert_int_equal(fit->term_count, 16);
        } else {
            assert_int_equal(rc, HM_E_LIMIT);
            assert_string_equal(err.message,
                                "a job of more than 12 communication steps cannot be fitted");
        }
        hm_fit_free(fit);
        hm_runs_free(runs);
        hm_job_free(job);
    }
}

/* ---- recommendations -------------------------------------------------------------------------
 */

static struct hm_recommendation *recommend(const char *table, const struct hm_recommend_question *q)
{
    struct hm_runs *runs = parse_runs(table);
    struct hm_recommendation *r = NULL;
    struct hm_err err = {0};

    if (hm_recommend(runs, q, &r, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    hm_runs_free(runs);
    return r;
}

/* Quantiles of Student's t: 2.919986 for 2 degrees of freedom and 0.95, tan(0.45 pi) for 1. */
static void repeats_have_an_interval(void **state)
{
    struct hm_recommend_question q = {0};
    struct hm_recommendation *r = recommend("n,seconds\n1,20\n1,21\n1,22\n2,11\n2,11.5\n", &q);
    double reach[] = {tan(0.45 * acos(-1)) * sqrt(0.125) * sqrt(1.5), 2.919985580 * sqrt(4. / 3)};

    (void)state;
    assert_int_equal(r->way, HM_RECOMMEND_ROWS);
    for (size_t i = 0; i < 2; i++) {
        double mean = i ? 21 : 11.25;
        assert_near(r->candidates[i].time_s, mean, 1e-12);
        assert_near(r->candidates[i].low_s, mean - reach[i], 1e-6);
        assert_near(r->candidates[i].high_s, mean + reach[i], 1e-6);
    }
    hm_recommendation_free(r);
    r = recommend("n,seconds\n1,1\n1,9\n", &q); /* Times are never negative. */
    assert_near(r->candidates[0].low_s, 0, 0);
    hm_recommendation_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sheet_has_at_most_12_steps),
        cmocka_unit_test(repeats_have_an_interval),
        cmocka_unit_test(few_runs_are_noted),
    };
    return cmocka_run_group_tests_name("edges_fit", tests, NULL, NULL);
}
