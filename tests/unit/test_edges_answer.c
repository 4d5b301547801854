/* Tests boundaries of the questions of advise and of published figures: values just inside and just
 * outside the allowed range. */
#include "testing.h"

#include "howmany_advise.h"

/* Fits traces on 1, 2 and 4 workers whose loss is 1/i and whose least loss is 0. */
static struct hm_convergence *make_convergence(void)
{
    char text[4000] = "algorithm,m,iteration,seconds,loss\n";
    const struct hm_converge_settings settings = {.best_given = true};
    struct hm_traces *traces = NULL;
    struct hm_convergence *c = NULL;
    struct hm_err err = {0};
    size_t used = strlen(text);

    for (int m = 1; m <= 4; m *= 2)
        for (int i = 1; i <= 12; i++)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "gd,%d,%d,%g,%.17g\n", m, i,
                                     1. / m, 1. / i);
    if (hm_traces_parse(text, used, "traces.csv", NULL, &traces, &err) ||
        hm_convergence_new(traces, &settings, &c, &err))
        fail_msg("%s", err.message);
    hm_traces_free(traces);
    return c;
}

static struct hm_convergence *convergence;

static int make(void **state)
{
    (void)state;
    convergence = make_convergence();
    return 0;
}

static int release(void **state)
{
    (void)state;
    hm_convergence_free(convergence);
    return 0;
}

/* Checks that the question gives the error code `code`. */
static void asks(struct hm_advise_question q, int code)
{
    struct hm_advice *advice = NULL;
    struct hm_err err = {0};
    int rc = hm_advise(convergence, NULL, 0, &q, &advice, &err);

    if (rc != code)
        fail_msg("%d instead of %d: %s", rc, code, err.message);
    if (rc == 0)
        assert_int_equal(err.code, 0);
    hm_advice_free(advice);
}

static struct hm_advise_question question(double loss, double within_s, double budget)
{
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;

    q.loss = loss;
    q.within_s = within_s;
    q.budget = budget;
    return q;
}

static void questions_need_an_aim(void **state)
{
    struct hm_advise_question q = question(0, 0, 0);

    (void)state;
    asks(q, HM_E_MISSING);
    asks(question(0.2, 0, 0), 0);
    asks(question(0, 0.5, 0), 0);
    q.reach = 0.25;
    asks(q, 0);
    q.reach = 0; /* The least loss itself is never reached. */
    asks(q, HM_E_RANGE);
    q = question(0.2, 0, 0);
    q.reach = 0.25;
    asks(q, HM_E_CONFLICT);
}

static void money_needs_a_price(void **state)
{
    struct hm_advise_question q = question(0, 0, 0.5);

    (void)state;
    asks(q, HM_E_MISSING);
    q.price_per_s = 0.1;
    asks(q, 0);
    q = question(0.2, 0, 0);
    q.goal = HM_GOAL_COST;
    asks(q, HM_E_MISSING);
    q.price_per_s = 0.1;
    asks(q, 0);
    q.adaptive = true;
    asks(q, HM_E_CONFLICT);
    q.goal = HM_GOAL_TIME;
    asks(q, 0);
    q = question(0, 5, 0);
    q.adaptive = true;
    asks(q, HM_E_CONFLICT);
}

static void amounts_are_finite(void **state)
{
    struct hm_advise_question q = question(-0.1, 1, 0);
    const double wrong[] = {0.5, 0, -1}, right[] = {1, 3};

    (void)state;
    asks(q, HM_E_RANGE);
    asks(question(INFINITY, 0, 0), HM_E_RANGE);
    asks(question(0.2, -1, 0), HM_E_RANGE);
    asks(question(0.2, 0, -1), HM_E_RANGE);
    q = question(0.2, 0, 0);
    q.switch_s = -1;
    asks(q, HM_E_RANGE);
    q.switch_s = 0;
    q.level = 1;
    asks(q, HM_E_RANGE);
    q.level = -0.1;
    asks(q, HM_E_RANGE);
    q.level = 0.99;
    asks(q, 0);
    q.m_count = 1;
    for (size_t i = 0; i < 3; i++) {
        q.m = &wrong[i];
        asks(q, HM_E_RANGE);
    }
    q.m = right;
    q.m_count = 2;
    asks(q, 0);
}

static void algorithms_must_have_traces(void **state)
{
    struct hm_advise_question q = question(0.2, 0, 0);
    const char *names[] = {"gd", "dg"};

    (void)state;
    q.algorithms = names;
    q.algorithm_count = 1;
    asks(q, 0);
    q.algorithm_count = 2;
    asks(q, HM_E_NAME);
}

/* ---- published figures -------------------------------------------------------------------------
 */

static struct hm_validation *validate(const char *text, int code, const char *message)
{
    struct hm_job *job = parse_job(text);
    struct hm_validation *v = NULL;
    struct hm_err err = {0};
    int rc = hm_validate(job, &v, &err);

    if (rc != code || !strstr(err.message, message))
        fail_msg("%d instead of %d: %s", rc, code, err.message);
    hm_job_free(job);
    return v;
}

#define STEPS "compute: 100 s / n\ncommunicate: 1 s * n\ncluster: {max_nodes: 16}\n"

/* A step on 4 workers takes 29 s, which is 101 / 29 = 3.482758... times as fast as on one
 * worker. */
static void figures_agree_to_their_digits(void **state)
{
    struct hm_validation *v =
        validate(STEPS "measured: {speedup: {1: 1, 2: 2, 4: 4}}\nexpect:\n"
                       "  - {what: time, n: 4, value: 29.0}\n"
                       "  - {what: speedup, n: 4, value: 3.483, digits: 4}\n"
                       "  - {what: speedup, n: 4, value: 3.482, digits: 4}\n"
                       "  - {what: speedup, n: 4, value: 3.5, within: 0.02}\n"
                       "  - {what: speedup, n: 4, value: 3.5, within: 0.01}\n"
                       "  - {what: best_n, value: 10}\n"
                       "  - {what: best_speedup, value: 5.05}\n"
                       "  - {what: mape, value: 5.27, digits: 3}\n"
                       "  - {what: mape_without_reference, value: 7.91, digits: 3}\n"
                       "  - {what: time, n: 16, value: 22.25}\n"
                       "  - {what: time, n: 1, value: 101}\n",
                 0, "");
    static const bool agrees[] = {true, true, false, true, false, true,
                                  true, true, true,  true, true};
    /* The errors of the three speedups are 0, |101/52 - 2| / 2 and |101/29 - 4| / 4. */
    const double errors = (2 - 101 / 52.) / 2 + (4 - 101 / 29.) / 4;

    (void)state;
    assert_int_equal(v->count, 11);
    for (size_t i = 0; i < 11; i++)
        if (v->checks[i].agrees != agrees[i])
            fail_msg("%zu: %s is %.10g", i, v->checks[i].what, v->checks[i].value);
    assert_near(v->checks[0].n, 4, 0);
    assert_true(isnan(v->checks[5].n) && isnan(v->checks[0].within));
    assert_near(v->checks[3].within, 0.02, 0);
    assert_near(v->checks[7].value, 100 * errors / 3, 1e-12);
    assert_near(v->checks[8].value, 100 * errors / 2, 1e-12);
    hm_validation_free(v);
}

static void figures_need_their_points(void **state)
{
    (void)state;
    validate(STEPS "expect:\n  - {what: time, n: 17, value: 1}\n", HM_E_RANGE,
             "n = 17 is not among");
    validate(STEPS "measured: {speedup: {1: 1, 17: 2}}\nexpect:\n  - {what: mape, value: 1}\n",
             HM_E_RANGE, "n = 17 is not among");
    validate(STEPS "expect:\n  - {what: mape, value: 1}\n", HM_E_MISSING,
             "needs measured speedups");
    validate(STEPS "measured: {speedup: {1: 1}}\nexpect:\n  - {what: mape_random, value: 1}\n",
             HM_E_MISSING, "needs a graph");
    struct hm_validation *v = validate(STEPS, 0, "");
    assert_int_equal(v->count, 0);
    hm_validation_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_need_an_aim),
        cmocka_unit_test(money_needs_a_price),
        cmocka_unit_test(amounts_are_finite),
        cmocka_unit_test(algorithms_must_have_traces),
        cmocka_unit_test(figures_agree_to_their_digits),
        cmocka_unit_test(figures_need_their_points),
    };

    return cmocka_run_group_tests(tests, make, release);
}
