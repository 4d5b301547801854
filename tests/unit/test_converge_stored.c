/*
 * Tests that the same seed gives the same bytes, and that a stored loss curve g gives the same
 * answers as the fitted one, also if the file lacks optional keys or has unknown ones.
 */
#include "made_traces.h"

static double falls(double i, double m)
{
    return 0.5 * pow(1 - 0.3 / sqrt(m), i);
}

static double slower(double i, double m)
{
    return 0.4 * pow(m, 0.2) * pow(i, -1.2);
}

static void make(struct made *made)
{
    struct hm_random random;

    made_init(made);
    hm__random_init(&random, 11, 0);
    made_algorithm(made, "a", made_ms, MADE_MS, 30, 1, falls, 0.1, &random);
    made_algorithm(made, "b", made_ms, MADE_MS, 30, 1, slower, 0.1, &random);
    for (size_t k = 0; k < made->traces.count; k++)
        made_time(&made->list[k], 0.5 / made->list[k].m + 0.02);
}

static char *store(const struct hm_convergence *c)
{
    struct hm_style style = {.table = true, .width = 80};
    struct hm_err err = {0};
    char *text = NULL;

    if (hm_convergence_render(c, NULL, HM_FORMAT_JSON, &style, &text, &err))
        fail_msg("%s", err.message);
    return text;
}

static struct hm_convergence *load(const char *text)
{
    struct hm_convergence *c = NULL;
    struct hm_err err = {0};

    if (hm_convergence_parse(text, strlen(text), "g.json", &c, &err))
        fail_msg("%s: %s", err.field, err.message);
    return c;
}

static char *advise(const struct hm_convergence *c, double seed)
{
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
    struct hm_style style = {.table = true, .width = 80};
    struct hm_advice *advice = NULL;
    struct hm_err err = {0};
    char *text = NULL;

    q.loss = 3e-3;
    q.seed = seed;
    q.adaptive = true;
    if (hm_advise(c, NULL, 0, &q, &advice, &err) ||
        hm_advice_render(advice, HM_FORMAT_JSON, &style, &text, &err))
        fail_msg("%s", err.message);
    hm_advice_free(advice);
    return text;
}

static char *fit_and_store(const struct made *made, double seed)
{
    struct hm_converge_settings settings = {.best_given = true, .best = 1, .seed = seed};
    struct hm_convergence *c = made_fit_with(made, &settings);
    char *text = store(c);

    hm_convergence_free(c);
    return text;
}

static void the_same_seed_gives_the_same_bytes(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    char *first = fit_and_store(&made, 3), *again = fit_and_store(&made, 3);
    char *other = fit_and_store(&made, 4);
    assert_string_equal(first, again);
    assert_string_not_equal(first, other);
    struct hm_convergence *c = load(first);
    char *advice = advise(c, 5), *same = advise(c, 5), *another = advise(c, 6);
    assert_string_equal(advice, same);
    assert_string_not_equal(advice, another);
    hm_text_free(advice);
    hm_text_free(same);
    hm_text_free(another);
    hm_convergence_free(c);
    hm_text_free(first);
    hm_text_free(again);
    hm_text_free(other);
    made_release(&made);
}

static void the_order_of_traces_does_not_matter(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    struct hm_convergence *a = made_fit(&made, 1);
    /* Reverse the order of the traces of algorithm "a". */
    for (size_t k = 0; k < MADE_MS / 2; k++) {
        struct hm_trace swap = made.list[k];
        made.list[k] = made.list[MADE_MS - 1 - k];
        made.list[MADE_MS - 1 - k] = swap;
    }
    struct hm_convergence *b = made_fit(&made, 1);
    char *one = store(a), *two = store(b);
    assert_string_equal(one, two);
    hm_text_free(one);
    hm_text_free(two);
    hm_convergence_free(a);
    hm_convergence_free(b);
    made_release(&made);
}

/* Draws are stored with nine digits, all other numbers exactly. */
static void a_stored_convergence_gives_the_same_answers(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    struct hm_convergence *c = made_fit(&made, 1);
    char *text = store(c);
    struct hm_convergence *again = load(text);
    for (double i = 1; i < 100; i *= 3) {
        struct hm_g_prediction p = made_predict(c, 5, i), q = made_predict(again, 5, i);
        assert_true(p.loss == q.loss);
        assert_near(q.low, p.low, 1e-6);
        assert_near(q.high, p.high, 1e-6);
    }
    char *twice = store(again);
    assert_string_equal(twice, text);
    char *a = advise(again, 1);
    hm_convergence_free(again);
    again = load(twice);
    char *b = advise(again, 1);
    assert_string_equal(a, b);
    hm_text_free(a);
    hm_text_free(b);
    hm_text_free(twice);
    hm_text_free(text);
    hm_convergence_free(again);
    hm_convergence_free(c);
    made_release(&made);
}

/* Without draws there are neither intervals nor probabilities. */
static void optional_keys_may_be_missing(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    struct hm_convergence *c = made_fit(&made, 1);
    c->algorithms[0].draw_count = 0;
    char *text = store(c);
    struct hm_convergence *again = load(text);
    struct hm_g_prediction p = made_predict(again, 5, 10);
    assert_near(p.loss, falls(10, 5), 0.2);
    assert_true(isnan(p.low) && isnan(p.high));
    double i = 10;
    assert_int_equal(hm_convergence_predict(again, 1, 4, &i, 1, &p, NULL), 0);
    assert_near(p.loss, slower(10, 4), 0.3);
    assert_true(p.low <= p.loss && p.loss <= p.high);
    hm_text_free(advise(again, 0));
    hm_text_free(text);
    hm_convergence_free(again);
    hm_convergence_free(c);
    made_release(&made);
}

static void refuse(const struct hm_convergence *c, int code)
{
    struct hm_convergence *again = NULL;
    struct hm_err err = {0};
    char *text = store(c);

    assert_int_equal(hm_convergence_parse(text, strlen(text), "g.json", &again, &err), code);
    assert_null(again);
    hm_text_free(text);
}

static void invalid_files_are_refused(void **state)
{
    double many[HM_G_CURVE + 1];
    struct made made;

    (void)state;
    for (size_t k = 0; k <= HM_G_CURVE; k++)
        many[k] = (double)(k + 1);
    make(&made);
    struct hm_convergence *c = made_fit(&made, 1);
    struct hm_g *g = &c->algorithms[0];
    struct hm_g_curve curve = g->curves[0];
    g->curves[0].iteration = g->curves[0].loss = many;
    g->curves[0].count = HM_G_CURVE + 1;
    refuse(c, HM_E_RANGE);
    g->curves[0].count = 0;
    refuse(c, HM_E_RANGE);
    g->curves[0] = curve;
    double *draws = calloc((HM_G_DRAWS + 1) * g->parameter_count, sizeof(*draws)), *own = g->draws;
    g->draws = draws;
    g->draw_count = HM_G_DRAWS + 1;
    refuse(c, HM_E_RANGE);
    g->draws = own;
    g->draw_count = HM_G_DRAWS;
    free(draws);
    g->curves[0].iteration[0] = 0;
    refuse(c, HM_E_RANGE);
    hm_convergence_free(c);
    made_release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_gives_the_same_bytes),
        cmocka_unit_test(the_order_of_traces_does_not_matter),
        cmocka_unit_test(a_stored_convergence_gives_the_same_answers),
        cmocka_unit_test(optional_keys_may_be_missing),
        cmocka_unit_test(invalid_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
