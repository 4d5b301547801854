/*
 * Tests the loss curve g of traces that were generated from a known g: its form must be selected,
 * its parameters recovered, the intervals must have their coverage, and P* must be found.
 */
#include "made_traces.h"

#include "converge.h"
#include "student.h"

/* ---- curves ---------------------------------------------------------------------------------- */

static double rate(double i, double m)
{
    return 0.5 * pow(m, 0.1) * pow(1 - 0.3 / pow(m, 0.6), i);
}

static double inverse(double i, double m)
{
    return 1 / (2 * pow(m, -0.5) * i + 4) + 2e-3 * pow(m, 0.4);
}

static double power(double i, double m)
{
    return 0.2 * pow(m, 0.3) * pow(i, -(1.1 - 0.05 * log(m)));
}

static double per_worker(double i, double m)
{
    return 0.3 * exp(-0.4 * i / m);
}

static double by_root(double i, double m)
{
    return 0.3 * exp(-0.3 * i / sqrt(m));
}

static double between_terms(double i, double m)
{
    return 0.3 * exp(-0.3 * i / pow(m, 0.7));
}

static double harmonic(double i, double m)
{
    (void)m;
    return 1 / (3 * i + 2) + 0.001;
}

static double plain_power(double i, double m)
{
    (void)m;
    return 0.7 * pow(i, -1.5);
}

/* ---- recovery of the curve ------------------------------------------------------------------- */

/* Returns the largest error of ln(P - P*) over all iterations, on a number of workers m without
 * traces. */
static double worst(const struct hm_convergence *c, double (*g)(double i, double m), double m,
                    double last)
{
    double most = 0;

    for (double i = 1; i <= last; i = ceil(i * 1.3))
        most = fmax(most, fabs(log(made_predict(c, m, i).loss / g(i, m))));
    return most;
}

struct form_case {
    double (*g)(double i, double m);
    enum hm_g_form form;
    size_t points;
    double best;
    double inside, outside; /* Allowed errors of ln(P - P*) at m = 3 and 24, and at m = 128. */
    double theta[HM_G_SHAPE_MAX];
};

/* Parameters must agree to 1e-3; the regularisation of 1e-6 moves them by less. */
static void assert_form(const struct form_case *t)
{
    struct made made;

    made_init(&made);
    made_algorithm(&made, "a", made_ms, MADE_MS, t->points, t->best, t->g, 0, NULL);
    struct hm_convergence *c = made_fit(&made, t->best);
    const struct hm_g *g = &c->algorithms[0];
    assert_int_equal(g->form, t->form);
    for (size_t k = 0; t->form != HM_G_TERMS && k < g->parameter_count; k++)
        if (fabs(g->parameters[k].value - t->theta[k]) > 1e-3 * fmax(1, fabs(t->theta[k])))
            fail_msg("%s of %s is %g, not %g", g->parameters[k].text, hm_g_form_name(t->form),
                     g->parameters[k].value, t->theta[k]);
    double inside =
        fmax(worst(c, t->g, 3, (double)t->points), worst(c, t->g, 24, (double)t->points));
    if (!(inside <= t->inside))
        fail_msg("%s: off by %g inside", hm_g_form_name(t->form), inside);
    double outside = worst(c, t->g, 128, (double)t->points);
    if (!(outside <= t->outside))
        fail_msg("%s: off by %g outside", hm_g_form_name(t->form), outside);
    hm_convergence_free(c);
    made_release(&made);
}

static void forms_without_noise_are_recovered(void **state)
{
    const struct form_case cases[] = {
        {rate, HM_G_RATE, 60, 2, 1e-3, 1e-3, {log(0.5), 0.1, log(0.3), 0.6}},
        {inverse, HM_G_INVERSE, 60, 0, 1e-2, 3e-2, {log(2), 0.5, log(4), log(2e-3), 0.4}},
        {power, HM_G_POWER, 60, -1, 1e-3, 1e-3, {log(0.2), 0.3, 1.1, -0.05}},
    };

    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
        assert_form(&cases[k]);
}

/* The Lasso shrinks coefficients by a relative 1e-4 and divides them among correlated terms. */
static void terms_without_noise_are_recovered(void **state)
{
    double (*const curves[])(double i, double m) = {per_worker, by_root, between_terms, harmonic,
                                                    plain_power};
    const double inside[] = {0.05, 0.05, 0.05, 0.05, 0.01};

    (void)state;
    for (size_t k = 0; k < sizeof(curves) / sizeof(curves[0]); k++) {
        struct made made;
        made_init(&made);
        made_algorithm(&made, "a", made_ms, MADE_MS, 40, 1, curves[k], 0, NULL);
        struct hm_convergence *c = made_fit(&made, 1);
        double off = fmax(worst(c, curves[k], 3, 40), worst(c, curves[k], 24, 40));
        if (!(off <= inside[k]))
            fail_msg("curve %zu by %s is off by %g", k, hm_g_form_name(c->algorithms[0].form), off);
        hm_convergence_free(c);
        made_release(&made);
    }
}

/* ---- intervals ------------------------------------------------------------------------------- */

enum { REPEATS = 100 };

/* Counts how often the interval of each parameter contains the truth, over seeded repetitions. */
static void count_covered(enum hm_g_form form, double (*g)(double i, double m), const double *theta,
                          size_t m_count, size_t *covered)
{
    double m[40];

    /* The numbers of workers are evenly spaced in the logarithm, from 1 to 64. */
    for (size_t k = 0; k < m_count; k++)
        m[k] = pow(64, (double)k / (double)(m_count - 1));
    for (size_t r = 0; r < REPEATS; r++) {
        struct hm_arena *arena = hm__arena_new();
        struct hm_random random;
        struct hm_g_data data;
        struct made made;
        struct hm_g own = {0};
        double *held;
        made_init(&made);
        hm__random_init(&random, 1, r);
        made_algorithm(&made, "a", m, m_count, 8, 0, g, 0.1, &random);
        assert_int_equal(hm__g_data_init(&data, arena, &made.traces, "a", 0, 0, NULL), 0);
        assert_int_equal(hm__g_fit_form(&own, arena, &data, form, &held, NULL), 0);
        assert_int_equal(hm__g_draw_form(&own, arena, &data, (double)r, NULL), 0);
        own.curves = data.curves;
        own.curve_count = data.curve_count;
        assert_int_equal(hm__g_bound(&own, arena, &data, 0, 0.9, NULL), 0);
        for (size_t k = 0; k < own.parameter_count; k++)
            covered[k] += own.parameters[k].low <= theta[k] && theta[k] <= own.parameters[k].high;
        made_release(&made);
        hm__arena_free(arena);
    }
}

/*
 * Intervals of 90 % must contain the truth about that often, even with few m for the four
 * parameters. In this case the bootstrap alone would be too narrow, like sandwich estimators
 * (Cameron, Gelbach, Miller 2008). With 400 dependent intervals the tolerance is 4 %.
 */
static void intervals_of_parameters_contain_the_truth(void **state)
{
    const double rate_theta[] = {log(0.5), 0.1, log(0.3), 0.6};
    const double power_theta[] = {log(0.2), 0.3, 1.1, -0.05};
    const size_t m_counts[] = {7, 24};
    const double least[] = {0.82, 0.82};

    (void)state;
    for (size_t n = 0; n < 2; n++) {
        size_t covered[2][HM_G_SHAPE_MAX] = {{0}};
        count_covered(HM_G_RATE, rate, rate_theta, m_counts[n], covered[0]);
        count_covered(HM_G_POWER, power, power_theta, m_counts[n], covered[1]);
        for (size_t f = 0; f < 2; f++) {
            const size_t *c = covered[f];
            double share = (double)(c[0] + c[1] + c[2] + c[3]) / (4 * REPEATS);
            if (share < least[n] || share > 0.97)
                fail_msg("%zu m, form %zu: %g of the intervals hold the truth", m_counts[n], f,
                         share);
        }
    }
}

/* Returns the share of the points of a new run, on an m without traces, that lie inside the 90 %
 * interval. */
static double share_inside(double (*g)(double i, double m), double m, size_t repeats)
{
    size_t inside = 0, count = 0;

    for (size_t r = 0; r < repeats; r++) {
        struct hm_random random;
        struct made made;
        made_init(&made);
        hm__random_init(&random, 2, r);
        made_algorithm(&made, "a", made_ms, MADE_MS, 40, 3, g, 0.2, &random);
        struct hm_convergence *c = made_fit(&made, 3);
        for (double i = 1; i <= 40; i++, count++) {
            double loss = g(i, m) * exp(0.2 * hm__random_normal(&random));
            struct hm_g_prediction p = made_predict(c, m, i);
            inside += p.low <= loss && loss <= p.high;
        }
        hm_convergence_free(c);
        made_release(&made);
    }
    return (double)inside / (double)count;
}

/* The interval is that of one new run with its noise: its coverage must not be far below 90 %, and
 * may be higher outside the traces, where the interval grows with the distance. */
static void intervals_of_predictions_contain_new_runs(void **state)
{
    double (*const curves[])(double i, double m) = {rate, by_root, power};

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        double between = share_inside(curves[k], 11, 10), outside = share_inside(curves[k], 128, 4);
        if (between < 0.85 || between > 0.97 || outside < 0.85)
            fail_msg("curve %zu: %g of the points between, %g outside", k, between, outside);
    }
}

/* ---- P* -------------------------------------------------------------------------------------- */

/* Returns the error of the estimated P*, relative to the distance of the traces from the true
 * P*. */
static double miss_best(double (*g)(double i, double m), size_t points, double best, double noise)
{
    struct hm_converge_settings settings = {0};
    struct hm_random random;
    struct made made;
    double least = INFINITY;

    made_init(&made);
    hm__random_init(&random, 3, 0);
    made_algorithm(&made, "a", made_ms, MADE_MS, points, best, g, noise, &random);
    struct hm_convergence *c = made_fit_with(&made, &settings);
    for (size_t k = 0; k < made.traces.count; k++)
        for (size_t p = 0; p < points; p++)
            least = fmin(least, made.list[k].loss[p]);
    assert_true(c->best_estimated);
    assert_true(c->best < least);
    assert_true(c->best_low <= c->best && c->best <= c->best_high && c->best_high < least);
    double miss = fabs(c->best - best) / (least - best);
    hm_convergence_free(c);
    made_release(&made);
    return miss;
}

/* The distances of P* that are tried differ by about 15 %, so the error is up to a tenth. */
static void the_least_loss_is_found(void **state)
{
    (void)state;
    double misses[] = {miss_best(rate, 20, 2.5, 0), miss_best(rate, 20, -7, 0),
                       miss_best(plain_power, 60, 2.5, 0), miss_best(rate, 20, 2.5, 0.01)};
    for (size_t k = 0; k < 4; k++)
        if (!(misses[k] < (k < 3 ? 0.12 : 0.5)))
            fail_msg("case %zu: P* is off by %g of the least distance", k, misses[k]);
}

static void the_least_loss_stays_above_its_bound(void **state)
{
    struct hm_converge_settings settings = {0};
    struct made made;

    (void)state;
    made_init(&made);
    made_algorithm(&made, "a", made_ms, MADE_MS, 60, 1, plain_power, 0, NULL);
    double least = made.list[0].loss[59]; /* The least loss is 1 + 0.7 / 60^1.5, about 1.0015. */
    made.list[2].bound = 1 + (least - 1) / 2;
    struct hm_convergence *c = made_fit_with(&made, &settings);
    double slack = 1e-12; /* This tolerance allows for rounding. */
    assert_true(c->best >= made.list[2].bound - slack);
    assert_true(c->best_low >= made.list[2].bound - slack);
    assert_true(c->best < least);
    /* The estimated P* is equal to its lower bound. */
    assert_near(c->best, made.list[2].bound, 1e-9);
    hm_convergence_free(c);
    made_release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_without_noise_are_recovered),
        cmocka_unit_test(terms_without_noise_are_recovered),
        cmocka_unit_test(intervals_of_parameters_contain_the_truth),
        cmocka_unit_test(intervals_of_predictions_contain_new_runs),
        cmocka_unit_test(the_least_loss_is_found),
        cmocka_unit_test(the_least_loss_stays_above_its_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
