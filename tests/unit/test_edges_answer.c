/* Boundaries of the questions of advise: values that are just inside and just outside. */
#include "testing.h"

#include "howmany_advise.h"

/* Traces whose loss is 1/i on 1, 2 and 4 workers, with a least loss of 0. */
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

/* The question is answered with this code. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_need_an_aim),
        cmocka_unit_test(money_needs_a_price),
        cmocka_unit_test(amounts_are_finite),
        cmocka_unit_test(algorithms_must_have_traces),
    };

    return cmocka_run_group_tests(tests, make, release);
}
