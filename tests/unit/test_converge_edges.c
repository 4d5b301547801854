/*
 * Tests unusual traces and questions: one m or two, few points, losses that do not fall, that are
 * equal to P*, huge, tiny or negative, runs that diverge, and very many m. The result must be
 * finite if the interface promises it, or an error with its reason.
 */
#include "made_traces.h"

static double falls(double i, double m)
{
    return 0.5 * pow(1 - 0.3 / sqrt(m), i);
}

static double pace(double m)
{
    return 0.5 / m + 0.02;
}

static void add(struct made *made, const char *name, const double *m, size_t count, size_t points,
                double best, double scale)
{
    for (size_t k = 0; k < count; k++) {
        struct hm_trace *t = made_add(made, name, m[k], points);
        for (size_t p = 0; p < points; p++)
            t->loss[p] = best + scale * falls(t->iteration[p], m[k]);
        made_time(t, pace(m[k]));
    }
}

/* ---- finite results ---------------------------------------------------------------------------
 */

/* Checks that all fields of a convergence that must be finite are finite. */
static void assert_sound(const struct hm_convergence *c)
{
    assert_true(isfinite(c->best));
    assert_true(c->best_estimated ? c->best_low <= c->best && c->best <= c->best_high &&
                                        c->best_low < c->best_high
                                  : isnan(c->best_low) && isnan(c->best_high));
    for (size_t a = 0; a < c->count; a++) {
        const struct hm_g *g = &c->algorithms[a];
        assert_true(g->m_count > 0 && g->curve_count >= g->m_count && g->last > 0);
        for (size_t k = 0; k < g->parameter_count; k++) {
            assert_true(isfinite(g->parameters[k].value));
            assert_true(g->parameters[k].low < g->parameters[k].high ||
                        (isnan(g->parameters[k].low) && isnan(g->parameters[k].high)));
        }
        for (size_t k = 0; k < g->draw_count * g->parameter_count; k++)
            assert_true(isfinite(g->draws[k]));
        for (size_t k = 0; k < g->m_count; k++) {
            assert_true(isfinite(g->spread[k]));
            assert_true(!isinf(g->apart[k]));
        }
        for (double i = 1; i < 1000; i *= 7) {
            struct hm_g_prediction p;
            assert_int_equal(hm_convergence_predict(c, a, g->m[0], &i, 1, &p, NULL), 0);
            assert_true(isfinite(p.loss) && p.loss > 0);
            assert_true(p.low < p.high && p.low >= 0);
        }
    }
}

static void assert_sound_advice(const struct hm_advice *advice)
{
    double sum = 0;

    assert_true(advice->candidate_count > 0);
    for (size_t k = 0; k < advice->candidate_count; k++) {
        const struct hm_candidate *c = &advice->candidates[k];
        assert_true(isfinite(c->iteration_s) && c->iteration_s > 0);
        assert_true(isnan(c->time_s) || (isfinite(c->time_s) && c->time_s >= 0));
        assert_true(!isnan(c->low_s) && !isnan(c->high_s));
        assert_true(c->reaches >= 0 && c->reaches <= 1 + 1e-9);
        sum += c->probability;
    }
    assert_near(sum, 1, 1e-9);
    assert_true(advice->right >= 0 && advice->near >= 0 && advice->right_algorithm >= 0);
}

static struct hm_advice *advise(const struct hm_convergence *c, double loss, double within_s)
{
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
    struct hm_advice *advice = NULL;
    struct hm_err err = {0};

    q.loss = loss;
    q.within_s = within_s;
    if (hm_advise(c, NULL, 0, &q, &advice, &err))
        fail_msg("%s", err.message);
    assert_sound_advice(advice);
    return advice;
}

static int try_advise(const struct hm_convergence *c, const struct hm_advise_question *q,
                      struct hm_err *err)
{
    struct hm_advice *advice = NULL;
    int rc = hm_advise(c, NULL, 0, q, &advice, err);

    if (rc)
        assert_null(advice);
    hm_advice_free(advice);
    return rc;
}

/* ---- few m ----------------------------------------------------------------------------------- */

static void one_m_does_not_predict_others(void **state)
{
    const double m = 4, others[] = {2, 8};
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
    struct hm_g_prediction p;
    struct hm_err err = {0};
    struct made made;
    double i = 5;

    (void)state;
    made_init(&made);
    add(&made, "a", &m, 1, 40, 1, 1);
    struct hm_convergence *c = made_fit(&made, 1);
    assert_sound(c);
    assert_true(isnan(c->algorithms[0].error));
    assert_near(made_predict(c, 4, 10).loss, falls(10, 4), 0.05);
    assert_int_equal(hm_convergence_predict(c, 0, 8, &i, 1, &p, &err), HM_E_RANGE);
    struct hm_advice *advice = advise(c, 0.01, 0);
    assert_int_equal(advice->candidate_count, 1);
    assert_true(advice->candidates[0].m == 4);
    assert_near(advice->right, 0.99, 1e-12); /* 0.99 is the largest probability that is stated. */
    assert_null(advice->next.algorithm);
    hm_advice_free(advice);
    q.loss = 0.01;
    q.m = others;
    q.m_count = 2;
    err = (struct hm_err){0};
    assert_int_equal(try_advise(c, &q, &err), HM_E_MISSING);
    hm_convergence_free(c);
    made_release(&made);
}

static void two_m_are_joined(void **state)
{
    const double m[] = {2, 32};
    struct made made;

    (void)state;
    made_init(&made);
    add(&made, "a", m, 2, 40, 1, 1);
    struct hm_convergence *c = made_fit(&made, 1);
    assert_sound(c);
    assert_true(isnan(c->algorithms[0].error));
    assert_true(c->note_count >= 1);
    for (size_t k = 0; k < 2; k++)
        assert_near(made_predict(c, m[k], 10).loss, falls(10, m[k]), 0.05);
    double between = made_predict(c, 8, 10).loss;
    assert_true(between > 0.5 * falls(10, 2) && between < 2 * falls(10, 32));
    struct hm_advice *advice = advise(c, 0.01, 0);
    /* The candidates are the powers of 2 from 2 to 32; there are no times for m = 1. */
    assert_int_equal(advice->candidate_count, 5);
    hm_advice_free(advice);
    hm_convergence_free(c);
    made_release(&made);
}

/* ---- few points -------------------------------------------------------------------------------
 */

static void fewer_points_than_terms(void **state)
{
    const double m[] = {1, 2, 4, 8};

    (void)state;
    for (size_t points = 1; points <= 4; points++)
        for (size_t count = 1; count <= 4; count++) {
            struct made made;
            made_init(&made);
            add(&made, "a", m, count, points, 1, 1);
            struct hm_convergence *c = made_fit(&made, 1);
            assert_sound(c);
            struct hm_advice *advice = advise(c, 0.3, 0);
            hm_advice_free(advice);
            advice = advise(c, 0, 1);
            hm_advice_free(advice);
            hm_convergence_free(c);
            made_release(&made);
        }
}

static void short_traces_do_not_give_the_least_loss(void **state)
{
    struct hm_convergence *c = NULL;
    struct hm_err err = {0};
    struct made made;

    (void)state;
    made_init(&made);
    add(&made, "a", made_ms, MADE_MS, 7, 1, 1);
    assert_int_equal(hm_convergence_new(&made.traces, NULL, &c, &err), HM_E_MISSING);
    assert_null(c);
    made_release(&made);
    made_init(&made);
    add(&made, "a", made_ms, MADE_MS, 8, 1, 1);
    c = made_fit_with(&made, NULL);
    assert_sound(c);
    hm_convergence_free(c);
    made_release(&made);
}

/* ---- constant and nearly constant losses ----------------------------------------------------- */

static void flat_traces(void **state)
{
    struct hm_convergence *c = NULL;
    struct hm_err err = {0};
    struct made made;

    (void)state;
    made_init(&made);
    for (size_t k = 0; k < MADE_MS; k++) {
        struct hm_trace *t = made_add(&made, "flat", made_ms[k], 30);
        for (size_t p = 0; p < 30; p++)
            t->loss[p] = 0.75;
        made_time(t, pace(made_ms[k]));
    }
    c = made_fit(&made, 0.25);
    assert_sound(c);
    assert_near(made_predict(c, 3, 10).loss, 0.5, 1e-3);
    struct hm_advice *advice = advise(c, 1e-3, 0);
    assert_false(advice->feasible);
    hm_advice_free(advice);
    hm_convergence_free(c);
    c = NULL; /* The limit of these losses cannot be estimated. */
    assert_int_equal(hm_convergence_new(&made.traces, NULL, &c, &err), HM_E_MISSING);
    assert_null(c);
    made_release(&made);
}

/* Points at P* are not used; a trace with no other points is an error. */
static void losses_equal_to_the_least_are_skipped(void **state)
{
    struct hm_converge_settings settings = {.best_given = true, .best = 1};
    struct hm_convergence *c = NULL;
    struct hm_err err = {0};
    struct made made;

    (void)state;
    made_init(&made);
    add(&made, "a", made_ms, MADE_MS, 30, 1, 1);
    for (size_t k = 0; k < MADE_MS; k++)
        for (size_t p = 20; p < 30; p++)
            made.list[k].loss[p] = 1;
    c = made_fit(&made, 1);
    assert_sound(c);
    assert_int_equal(c->algorithms[0].curves[0].count, 20);
    assert_near(made_predict(c, 3, 10).loss, falls(10, 3), 0.05);
    hm_convergence_free(c);
    for (size_t k = 0; k < MADE_MS; k++)
        for (size_t p = 0; p < 30; p++)
            made.list[k].loss[p] = 1;
    c = NULL;
    assert_int_equal(hm_convergence_new(&made.traces, &settings, &c, &err), HM_E_MISSING);
    assert_null(c);
    made.list[3].loss[4] = 0.9;
    err = (struct hm_err){0};
    assert_int_equal(hm_convergence_new(&made.traces, &settings, &c, &err), HM_E_CONFLICT);
    made_release(&made);
}

/* The scale and offset of the loss change only the scale and offset of the result. */
static void losses_of_every_size(void **state)
{
    const double scales[] = {1e-30, 1e-12, 1, 1e12, 1e30}, offsets[] = {0, -3, 5};

    (void)state;
    for (size_t k = 0; k < 15; k++) {
        double scale = scales[k / 3], best = offsets[k % 3] * scale;
        struct made made;
        made_init(&made);
        add(&made, "a", made_ms, MADE_MS, 30, best, scale);
        struct hm_convergence *c = made_fit(&made, best);
        assert_sound(c);
        assert_near(made_predict(c, 3, 10).loss / scale, falls(10, 3), 1e-3);
        struct hm_advice *advice = advise(c, 0.01 * scale, 0);
        assert_true(advice->feasible);
        assert_near(advice->candidates[0].loss, 0.01 * scale, 1e-9);
        hm_advice_free(advice);
        hm_convergence_free(c);
        c = made_fit_with(&made, NULL);
        assert_sound(c);
        assert_near((c->best - best) / scale + 1, 1, 1e-3);
        hm_convergence_free(c);
        made_release(&made);
    }
}

/* At losses near 1e9, rounding hides relative differences below 1e-13, that is, absolute
 * differences below 1e-4. */
static void nearly_equal_losses_are_fitted(void **state)
{
    struct hm_converge_settings settings = {.best_given = true, .best = 1e9};
    struct hm_convergence *c = NULL;
    struct hm_err err = {0};
    struct made made;

    (void)state;
    made_init(&made);
    add(&made, "a", made_ms, MADE_MS, 30, 1e9, 1);
    c = made_fit(&made, 1e9);
    assert_sound(c);
    assert_near(made_predict(c, 3, 10).loss, falls(10, 3), 0.01);
    hm_convergence_free(c);
    c = made_fit_with(&made, NULL);
    assert_sound(c);
    hm_convergence_free(c);
    made_release(&made);
    made_init(&made);
    add(&made, "a", made_ms, MADE_MS, 30, 1e9, 1e-5);
    c = NULL;
    assert_int_equal(hm_convergence_new(&made.traces, &settings, &c, &err), HM_E_MISSING);
    assert_null(c);
    made_release(&made);
}

/* ---- runs that diverge ------------------------------------------------------------------------
 */

/*
 * A run that is fast and then diverges must never be recommended for a loss that it did not reach.
 */
static void diverged_runs_are_not_recommended(void **state)
{
    const double losses[] = {1e-3, 1e-5};
    struct made made;

    (void)state;
    made_init(&made);
    add(&made, "sound", made_ms, MADE_MS, 30, 1, 1);
    for (size_t k = 0; k < MADE_MS; k++) {
        struct hm_trace *t = made_add(&made, "bursts", made_ms[k], 10);
        for (size_t p = 0; p < 10; p++)
            t->loss[p] =
                1 +
                0.5 * pow(0.6,
                          t->iteration[p]); /* The last loss is 3e-3 above the optimal loss P*. */
        t->diverged = true;
        made_time(t, 0.01 * pace(made_ms[k]));
    }
    struct hm_convergence *c = made_fit(&made, 1);
    assert_sound(c);
    for (size_t l = 0; l < 2; l++) {
        struct hm_advice *advice = advise(c, losses[l], 0);
        for (size_t k = 0; k < advice->candidate_count; k++) {
            const struct hm_candidate *x = &advice->candidates[k];
            if (strcmp(x->algorithm, "bursts") == 0)
                assert_near(x->reaches, 0, 0);
        }
        assert_string_equal(advice->candidates[0].algorithm, "sound");
        assert_true(advice->feasible);
        hm_advice_free(advice);
    }
    struct hm_advice *advice =
        advise(c, 0.05, 0); /* The run reached this loss and may stop there. */
    assert_string_equal(advice->candidates[0].algorithm, "bursts");
    hm_advice_free(advice);
    hm_convergence_free(c);
    made_release(&made);
}

/* A number of workers m without traces whose neighbours diverge must not be recommended, and must
 * not be part of a schedule. */
static void between_diverged_m_nothing_is_recommended(void **state)
{
    const double asked[] = {3, 6, 12, 128};
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
    struct hm_advice *advice = NULL;
    struct made made;

    (void)state;
    made_init(&made);
    add(&made, "a", made_ms, MADE_MS, 10, 1, 1);
    for (size_t k = 0; k < MADE_MS; k++)
        made.list[k].diverged = true;
    struct hm_convergence *c = made_fit(&made, 1);
    q.loss = 1e-6;
    q.m = asked;
    q.m_count = 4;
    q.adaptive = true;
    assert_int_equal(hm_advise(c, NULL, 0, &q, &advice, NULL), 0);
    assert_sound_advice(advice);
    assert_false(advice->feasible);
    assert_true(!isfinite(advice->schedule->time_s));
    hm_advice_free(advice);
    hm_convergence_free(c);
    made_release(&made);
}

/* ---- many m ---------------------------------------------------------------------------------- */

/* There are more values of m than folds. */
static void seventy_m_are_fitted(void **state)
{
    double m[70];
    struct made made;

    (void)state;
    for (size_t k = 0; k < 70; k++)
        m[k] = (double)(k + 1);
    made_init(&made);
    add(&made, "a", m, 70, 12, 1, 1);
    struct hm_convergence *c = made_fit(&made, 1);
    assert_sound(c);
    assert_int_equal(c->algorithms[0].m_count, 70);
    for (size_t k = 1; k < 70; k++)
        assert_true(isfinite(c->algorithms[0].apart[k]));
    assert_near(made_predict(c, 80, 10).loss, falls(10, 80), 0.02);
    struct hm_advice *advice = advise(c, 0.01, 0);
    assert_int_equal(advice->candidate_count, 70);
    hm_advice_free(advice);
    hm_convergence_free(c);
    made_release(&made);
}

static void a_thousand_workers_are_fitted(void **state)
{
    const double m[] = {1, 10, 100, 300, 1000};
    struct made made;

    (void)state;
    made_init(&made);
    add(&made, "a", m, 5, 40, 1, 1);
    struct hm_convergence *c = made_fit(&made, 1);
    assert_sound(c);
    assert_near(made_predict(c, 600, 30).loss, falls(30, 600), 0.02);
    struct hm_advice *advice = advise(c, 0.05, 0);
    assert_true(advice->candidates[0].m >= 1);
    hm_advice_free(advice);
    hm_convergence_free(c);
    made_release(&made);
}

/* ---- questions --------------------------------------------------------------------------------
 */

static void no_times_no_candidates(void **state)
{
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
    struct hm_err err = {0};
    struct made made;

    (void)state;
    made_init(&made);
    add(&made, "timed", made_ms, MADE_MS, 20, 1, 1);
    add(&made, "untimed", made_ms, MADE_MS, 20, 1, 1);
    for (size_t k = MADE_MS; k < made.traces.count; k++)
        made_time(&made.list[k], NAN);
    struct hm_convergence *c = made_fit(&made, 1);
    struct hm_advice *advice = advise(c, 0.01, 0);
    for (size_t k = 0; k < advice->candidate_count; k++)
        assert_string_equal(advice->candidates[k].algorithm, "timed");
    assert_true(advice->note_count >= 1);
    assert_non_null(strstr(advice->notes[0], "untimed"));
    hm_advice_free(advice);
    const char *only[] = {"untimed"};
    q.loss = 0.01;
    q.algorithms = only;
    q.algorithm_count = 1;
    assert_int_equal(try_advise(c, &q, &err), HM_E_MISSING);
    only[0] = "timd";
    err = (struct hm_err){0};
    assert_int_equal(try_advise(c, &q, &err), HM_E_NAME);
    assert_non_null(strstr(err.hint, "timed"));
    hm_convergence_free(c);
    made_release(&made);
}

static void seeds_are_whole_numbers(void **state)
{
    static const double seeds[] = {-1, NAN, INFINITY, 1e300};
    struct hm_convergence *c = NULL;
    struct made made;

    (void)state;
    made_init(&made);
    add(&made, "timed", made_ms, MADE_MS, 20, 1, 1);
    struct hm_convergence *fitted = made_fit(&made, 1);
    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
        struct hm_converge_settings settings = {.seed = seeds[i]};
        struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
        struct hm_err err = {0};
        assert_int_equal(hm_convergence_new(&made.traces, &settings, &c, &err), HM_E_RANGE);
        assert_non_null(strstr(err.message, "seed"));
        q.loss = 0.01;
        q.seed = seeds[i];
        assert_int_equal(try_advise(fitted, &q, &err), HM_E_RANGE);
    }
    hm_convergence_free(fitted);
    made_release(&made);
}

struct refused {
    struct hm_advise_question q;
    int code;
};

static void impossible_questions_are_refused(void **state)
{
    static const double odd[] = {2.5}, none[] = {0}, unending[] = {INFINITY}, unknown[] = {NAN};
    const struct refused cases[] = {
        {{.reach = NAN, .price_per_s = NAN}, HM_E_MISSING},
        {{.loss = -1, .reach = NAN, .price_per_s = NAN}, HM_E_RANGE},
        {{.loss = NAN, .reach = NAN, .price_per_s = NAN}, HM_E_RANGE},
        {{.loss = 0.1, .reach = 1.1, .price_per_s = NAN}, HM_E_CONFLICT},
        {{.reach = 1, .price_per_s = NAN}, HM_E_RANGE},
        {{.reach = 0.5, .price_per_s = NAN}, HM_E_RANGE},
        {{.budget = 3, .reach = NAN, .price_per_s = NAN}, HM_E_MISSING},
        {{.loss = 0.1, .goal = HM_GOAL_COST, .reach = NAN, .price_per_s = NAN}, HM_E_MISSING},
        {{.within_s = 1, .adaptive = true, .reach = NAN, .price_per_s = NAN}, HM_E_CONFLICT},
        {{.loss = 0.1, .within_s = -1, .reach = NAN, .price_per_s = NAN}, HM_E_RANGE},
        {{.loss = 0.1, .switch_s = -1, .reach = NAN, .price_per_s = NAN}, HM_E_RANGE},
        {{.loss = 0.1, .m = odd, .m_count = 1, .reach = NAN, .price_per_s = NAN}, HM_E_RANGE},
        {{.loss = 0.1, .m = none, .m_count = 1, .reach = NAN, .price_per_s = NAN}, HM_E_RANGE},
        {{.loss = 0.1, .m = unknown, .m_count = 1, .reach = NAN, .price_per_s = NAN}, HM_E_RANGE},
        {{.loss = 0.1, .m = unending, .m_count = 1, .reach = NAN, .price_per_s = NAN}, HM_E_RANGE},
        {{.loss = 0.1, .within_s = NAN, .reach = NAN, .price_per_s = NAN}, HM_E_RANGE},
        {{.loss = 0.1, .switch_s = NAN, .reach = NAN, .price_per_s = NAN}, HM_E_RANGE},
        {{.loss = INFINITY, .reach = NAN, .price_per_s = NAN}, HM_E_RANGE},
        {{.loss = 0.1, .level = 1, .reach = NAN, .price_per_s = NAN}, HM_E_RANGE},
        {{.loss = 0.1, .level = -0.5, .reach = NAN, .price_per_s = NAN}, HM_E_RANGE},
    };
    struct made made;

    (void)state;
    made_init(&made);
    add(&made, "a", made_ms, MADE_MS, 20, 1, 1);
    struct hm_convergence *c = made_fit(&made, 1);
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct hm_err err = {0};
        int rc = try_advise(c, &cases[k].q, &err);
        if (rc != cases[k].code)
            fail_msg("question %zu: %d (%s), not %d", k, rc, err.message, cases[k].code);
        assert_true(err.message[0]);
    }
    hm_convergence_free(c);
    made_release(&made);
}

static void impossible_settings_are_refused(void **state)
{
    const struct hm_converge_settings cases[] = {
        {.best_given = true, .best = INFINITY},
        {.best_given = true, .best = -INFINITY},
        {.best_given = true, .best = 2},
        {.best_given = true, .best = 1, .level = 1},
        {.best_given = true, .best = 1, .level = -1},
        {.best_given = true, .best = 1, .level = NAN},
    };
    struct made made;

    (void)state;
    made_init(&made);
    add(&made, "a", made_ms, MADE_MS, 20, 1, 1);
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct hm_convergence *c = NULL;
        struct hm_err err = {0};
        if (hm_convergence_new(&made.traces, &cases[k], &c, &err) == 0) {
            hm_convergence_free(c);
            fail_msg("settings %zu were taken", k);
        }
        assert_null(c);
    }
    made_release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_m_does_not_predict_others),
        cmocka_unit_test(two_m_are_joined),
        cmocka_unit_test(fewer_points_than_terms),
        cmocka_unit_test(short_traces_do_not_give_the_least_loss),
        cmocka_unit_test(flat_traces),
        cmocka_unit_test(losses_equal_to_the_least_are_skipped),
        cmocka_unit_test(losses_of_every_size),
        cmocka_unit_test(nearly_equal_losses_are_fitted),
        cmocka_unit_test(diverged_runs_are_not_recommended),
        cmocka_unit_test(between_diverged_m_nothing_is_recommended),
        cmocka_unit_test(seventy_m_are_fitted),
        cmocka_unit_test(a_thousand_workers_are_fitted),
        cmocka_unit_test(no_times_no_candidates),
        cmocka_unit_test(seeds_are_whole_numbers),
        cmocka_unit_test(impossible_questions_are_refused),
        cmocka_unit_test(impossible_settings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
