/* Tests the seconds f(m) of an iteration, from the times of traces, from a fit of runs and from the
 * curve of a plan; at numbers of workers m that were measured, between them and beyond. */
#include "made_traces.h"

#include "converge.h"

static double seconds_of(double m)
{
    return 2 / m + 0.1 + 0.05 * log(m);
}

static struct hm_paces *from_traces(const struct made *made)
{
    struct hm_paces *paces = NULL;
    struct hm_err err = {0};

    if (hm_paces_from_traces(&made->traces, &paces, &err))
        fail_msg("%s", err.message);
    return paces;
}

/* Adds traces with times; their losses do not matter. */
static void add_timed(struct made *made, const char *name, const double *m, size_t count)
{
    for (size_t k = 0; k < count; k++)
        made_time(made_add(made, name, m[k], 3), seconds_of(m[k]));
}

static double eval(const struct hm_pace *pace, double m)
{
    double seconds = NAN, draws[HM_G_DRAWS];

    if (!hm__pace_eval(pace, m, &seconds, draws))
        return NAN;
    for (size_t d = 0; d < HM_G_DRAWS; d++)
        assert_true(draws[d] > 0 && isfinite(draws[d]));
    return seconds;
}

static void measured_m_are_as_measured_and_others_by_terms(void **state)
{
    const double others[] = {3, 5, 12, 48, 100};
    struct made made;

    (void)state;
    made_init(&made);
    add_timed(&made, "a", made_ms, MADE_MS);
    struct hm_paces *paces = from_traces(&made);
    assert_int_equal(paces->count, 1);
    const struct hm_pace *pace = hm__pace_find(paces, "a");
    assert_non_null(pace);
    assert_int_equal(pace->count, MADE_MS);
    assert_string_equal(pace->source, "the traces");
    for (size_t k = 0; k < MADE_MS; k++)
        assert_near(eval(pace, made_ms[k]), seconds_of(made_ms[k]), 1e-12);
    for (size_t k = 0; k < 5; k++)
        assert_near(eval(pace, others[k]), seconds_of(others[k]), 0.02);
    hm_paces_free(paces);
    made_release(&made);
}

/* Traces on the same m must be averaged; for a trace that restarts, its own seconds count, not the
 * elapsed time. */
static void several_traces_of_an_m_are_averaged(void **state)
{
    struct made made;

    (void)state;
    made_init(&made);
    made_time(made_add(&made, "a", 4, 5), 1);
    made_time(made_add(&made, "a", 4, 50), 3);
    struct hm_trace *t = made_add(&made, "a", 4, 2);
    made_time(t, 5);
    t->restarts = 1;
    t->elapsed_s[1] = 1000;
    t->seconds[1] = 7;
    made_add(&made, "a", 4, 2); /* Add a trace without times. */
    made_add(&made, "b", 4, 2);
    struct hm_paces *paces = from_traces(&made);
    assert_int_equal(paces->count, 1);
    assert_null(hm__pace_find(paces, "b"));
    assert_near(eval(hm__pace_find(paces, "a"), 4), (1 + 3 + 6) / 3.0, 1e-12);
    assert_true(isnan(eval(hm__pace_find(paces, "a"), 8)));
    hm_paces_free(paces);
    made_release(&made);
}

/* Two values of m are too few for terms: f is interpolated between them in logarithms and unknown
 * beyond them. */
static void two_m_make_a_line(void **state)
{
    const double m[] = {2, 8};
    struct made made;

    (void)state;
    made_init(&made);
    add_timed(&made, "a", m, 2);
    struct hm_paces *paces = from_traces(&made);
    const struct hm_pace *pace = hm__pace_find(paces, "a");
    assert_int_equal(pace->term_count, 0);
    assert_near(eval(pace, 4), sqrt(seconds_of(2) * seconds_of(8)), 1e-12);
    assert_true(isnan(eval(pace, 1)));
    assert_true(isnan(eval(pace, 16)));
    hm_paces_free(paces);
    made_release(&made);
}

/* The times of one algorithm must override the common ones, and later times must override earlier
 * ones. */
static void the_own_pace_comes_first(void **state)
{
    double m = 1, s[4] = {1, 2, 3, 4};
    struct hm_pace list[4] = {{.algorithm = "a", .m = &m, .seconds = &s[0], .count = 1},
                              {.algorithm = NULL, .m = &m, .seconds = &s[1], .count = 1},
                              {.algorithm = "a", .m = &m, .seconds = &s[2], .count = 1},
                              {.algorithm = NULL, .m = &m, .seconds = &s[3], .count = 1}};
    struct hm_paces paces = {.paces = list, .count = 4};

    (void)state;
    assert_near(eval(hm__pace_find(&paces, "a"), 1), 3, 0);
    assert_near(eval(hm__pace_find(&paces, "b"), 1), 4, 0);
    paces.count = 1;
    assert_null(hm__pace_find(&paces, "b"));
    assert_null(hm__pace_find(NULL, "a"));
}

/* Draws that are not positive are replaced. */
static void times_are_not_negative(void **state)
{
    const char *terms[] = {"1", "1/n"};
    double theta[] = {-1, 4}, draws[2 * HM_G_DRAWS], drawn[HM_G_DRAWS], seconds;
    struct hm_pace pace = {
        .terms = terms, .term_count = 2, .theta = theta, .draws = draws, .draw_count = HM_G_DRAWS};

    (void)state;
    for (size_t d = 0; d < HM_G_DRAWS; d++) {
        draws[2 * d] = d % 2 ? -10 : 1;
        draws[2 * d + 1] = 4;
    }
    assert_true(hm__pace_eval(&pace, 2, &seconds, drawn));
    assert_near(seconds, 1, 1e-12);
    for (size_t d = 0; d < HM_G_DRAWS; d++)
        assert_near(drawn[d], d % 2 ? 1 : 3, 1e-12);
    assert_false(hm__pace_eval(&pace, 8, &seconds, drawn)); /* -1 + 4/8 */
    terms[1] = "1/0";
    assert_false(hm__pace_eval(&pace, 2, &seconds, drawn));
    terms[1] = "no formula (";
    assert_false(hm__pace_eval(&pace, 2, &seconds, drawn));
}

/* ---- from a fit ------------------------------------------------------------------------------ */

static struct hm_fit *fit_runs(const char *csv, struct hm_runs **runs)
{
    struct hm_fit_settings settings = {0};
    struct hm_err err = {0};
    struct hm_fit *fit = NULL;

    if (hm_runs_parse(csv, strlen(csv), "runs.csv", runs, &err) ||
        hm_fit_new(*runs, &settings, &fit, &err))
        fail_msg("%s", err.message);
    return fit;
}

static void a_fit_equals_its_pace(void **state)
{
    struct hm_paces *paces = NULL;
    struct hm_runs *runs = NULL;
    struct hm_err err = {0};
    struct hm_fit *fit = fit_runs("n,seconds\n1,9\n2,5.2\n4,3.1\n8,2.3\n16,2.1\n32,2.3\n", &runs);

    (void)state;
    assert_int_equal(hm_paces_from_fit(fit, "a", &paces, &err), 0);
    assert_null(hm__pace_find(paces, "b"));
    for (double n = 1; n <= 64; n *= 2) {
        struct hm_prediction p;
        assert_int_equal(hm_fit_predict(fit, NULL, 0, &n, 1, &p, &err), 0);
        assert_near(eval(hm__pace_find(paces, "a"), n), p.time_s, 0.02);
    }
    hm_paces_free(paces);
    assert_int_equal(hm_paces_from_fit(fit, NULL, &paces, &err), 0);
    assert_non_null(hm__pace_find(paces, "b"));
    hm_paces_free(paces);
    hm_fit_free(fit);
    hm_runs_free(runs);
}

static void speedups_are_refused(void **state)
{
    struct hm_paces *paces = NULL;
    struct hm_runs *runs = NULL;
    struct hm_err err = {0};
    struct hm_fit *fit = fit_runs("n,speedup\n1,1\n2,1.9\n4,3.5\n8,6\n", &runs);

    (void)state;
    assert_int_equal(hm_paces_from_fit(fit, "a", &paces, &err), HM_E_CONFLICT);
    assert_null(paces);
    hm_fit_free(fit);
    hm_runs_free(runs);
}

/* ---- from a plan ----------------------------------------------------------------------------- */

static void a_plan_is_a_table(void **state)
{
    struct hm_job *job = parse_job("compute: 8 s/n\ncommunicate: 0.4 s*log2(n)\n");
    struct hm_question q = HM_QUESTION_INIT;
    struct hm_paces *paces = NULL;
    struct hm_err err = {0};

    (void)state;
    q.max_n = 12;
    struct hm_answer *answer = ask(job, &q);
    assert_int_equal(hm_paces_from_answer(answer, NULL, &paces, &err), 0);
    const struct hm_pace *pace = hm__pace_find(paces, "whatever");
    assert_string_equal(pace->source, "the plan");
    for (double n = 1; n <= 12; n++)
        assert_near(eval(pace, n), 8 / n + 0.4 * log2(n), 1e-9);
    assert_true(isnan(eval(pace, 13)));
    hm_paces_free(paces);
    hm_answer_free(answer);
    hm_job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_m_are_as_measured_and_others_by_terms),
        cmocka_unit_test(several_traces_of_an_m_are_averaged),
        cmocka_unit_test(two_m_make_a_line),
        cmocka_unit_test(the_own_pace_comes_first),
        cmocka_unit_test(times_are_not_negative),
        cmocka_unit_test(a_fit_equals_its_pace),
        cmocka_unit_test(speedups_are_refused),
        cmocka_unit_test(a_plan_is_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
