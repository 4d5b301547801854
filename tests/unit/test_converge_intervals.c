/*
 * Tests that no interval of a convergence has the width 0, for all reasons why data may be exact:
 * equal traces on every number of workers, traces that follow the fitted form exactly, one trace, a
 * narrow bound of P*, equal costs of staleness. If there is nothing to estimate, there must be no
 * interval. The widths are compared with closed forms.
 */
#include <regex.h>

#include "made_traces.h"

#include "format.h"
#include "memory.h"
#include "value.h"

/* Returns a loss that does not depend on m and whose logarithm is not a sum of the terms of the
 * library. */
static double wavy(double i, double m)
{
    (void)m;
    return 0.5 * pow(0.9, i) * exp(0.3 * sin(i));
}

static double exact_power(double i, double m)
{
    (void)m;
    return 0.5 * pow(i, -1.5);
}

static double exact_rate(double i, double m)
{
    return 0.5 * pow(1 - 0.3 / sqrt(m), i);
}

/* ---- texts ------------------------------------------------------------------------------------
 */

/* Checks that A and B differ in every "A to B" of a text. Returns their number. */
static size_t assert_texts_differ(const char *text)
{
    regmatch_t m[3];
    regex_t pattern;
    size_t count = 0;

    assert_int_equal(regcomp(&pattern, "(-?[0-9][-+.e0-9]*) to (-?[0-9][-+.e0-9]*)", REG_EXTENDED),
                     0);
    for (; regexec(&pattern, text, 3, m, 0) == 0; text += m[0].rm_eo, count++) {
        size_t first = (size_t)(m[1].rm_eo - m[1].rm_so),
               second = (size_t)(m[2].rm_eo - m[2].rm_so);
        if (first == second && memcmp(text + m[1].rm_so, text + m[2].rm_so, first) == 0)
            fail_msg("an interval without width: %.*s", (int)(m[0].rm_eo - m[0].rm_so),
                     text + m[0].rm_so);
    }
    regfree(&pattern);
    return count;
}

/* Checks that the members `low` and `high` differ in every part of a JSON value. Returns the number
 * of intervals. */
static size_t assert_json_differs(const struct hm_value *v)
{
    const struct hm_value *low = hm__value_get(v, "low"), *high = hm__value_get(v, "high");
    size_t count = 0;

    if (low && high && low->kind == HM_VALUE_SCALAR) {
        assert_true(strtod(low->text, NULL) < strtod(high->text, NULL));
        count++;
    }
    for (size_t k = 0; (v->kind == HM_VALUE_LIST || v->kind == HM_VALUE_MAP) && k < v->count; k++)
        count += assert_json_differs(&v->items[k]);
    return count;
}

static char *render(const struct hm_convergence *c, enum hm_format format)
{
    struct hm_style style = {.width = 100, .file = "g.svg"};
    struct hm_err err = {0};
    char *text = NULL;

    if (hm_convergence_render(c, NULL, format, &style, &text, &err))
        fail_msg("%s", err.message);
    return text;
}

/* ---- convergences -----------------------------------------------------------------------------
 */

/* Checks parameters, predictions, the optimal loss and the rendered forms. */
static void assert_widths(const struct hm_convergence *c)
{
    size_t intervals = 0;

    if (c->best_estimated)
        assert_true(c->best_low < c->best_high && c->best_low <= c->best &&
                    c->best <= c->best_high);
    else
        assert_true(isnan(c->best_low) && isnan(c->best_high));
    for (size_t a = 0; a < c->count; a++) {
        const struct hm_g *g = &c->algorithms[a];
        for (size_t k = 0; k < g->parameter_count; k++) {
            const struct hm_g_parameter *p = &g->parameters[k];
            assert_true((isnan(p->low) && isnan(p->high)) ||
                        (p->low < p->value && p->value < p->high));
            intervals += isfinite(p->low) ? 1 : 0;
        }
        for (double i = 1; i <= 32; i *= 2)
            for (size_t k = 0; k < g->m_count; k++) {
                struct hm_g_prediction p = {0};
                assert_int_equal(hm_convergence_predict(c, a, g->m[k], &i, 1, &p, NULL), 0);
                assert_true(p.low < p.high);
            }
    }
    assert_true(intervals > 0);
    char *text = render(c, HM_FORMAT_TEXT), *json = render(c, HM_FORMAT_JSON);
    assert_true(assert_texts_differ(text) > 0);
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *root = NULL;
    assert_int_equal(hm__json_parse(arena, json, strlen(json), "json", &root, NULL), 0);
    assert_true(assert_json_differs(root) >= intervals);
    assert_int_equal(hm__value_get(root, "best_loss_low")->kind,
                     c->best_estimated ? HM_VALUE_SCALAR : HM_VALUE_NULL);
    hm__arena_free(arena);
    hm_text_free(text);
    hm_text_free(json);
}

static struct hm_convergence *fit_made(struct made *made, double (*g)(double i, double m),
                                       size_t m_count, size_t points)
{
    made_init(made);
    made_algorithm(made, "a", made_ms, m_count, points, 0, g, 0, NULL);
    return made_fit(made, 0);
}

static void traces_without_noise_have_intervals(void **state)
{
    double (*const forms[])(double, double) = {wavy, exact_power, exact_rate};
    static const size_t m_counts[] = {1, 2, 3, MADE_MS};
    static struct made made;

    (void)state;
    for (size_t f = 0; f < 3; f++)
        for (size_t k = 0; k < 4; k++) {
            struct hm_convergence *c = fit_made(&made, forms[f], m_counts[k], 32);
            assert_widths(c);
            hm_convergence_free(c);
            made_release(&made);
        }
}

/*
 * Equal traces on 7 numbers of workers contain no more information than one of them. With the terms
 * 1 and i, the interval of the coefficient of i is that of a regression line: t s / sqrt(N var(i)),
 * with the residual s and N = 5 independent residuals.
 */
static void equal_traces_count_once(void **state)
{
    static const char *const terms[] = {"i"};
    struct hm_converge_settings settings = {.best_given = true, .terms = terms, .term_count = 1};
    const double t = 2.015048; /* Student's quantile of 0.95 with 5 degrees of freedom. */
    static struct made made;
    enum { POINTS = 32 };
    double x = 0, y = 0, xx = 0, xy = 0, yy = 0;

    (void)state;
    made_init(&made);
    made_algorithm(&made, "a", made_ms, MADE_MS, POINTS, 0, wavy, 0, NULL);
    for (double i = 1; i <= POINTS; i++) {
        double v = log(wavy(i, 1));
        x += i / POINTS;
        y += v / POINTS;
        xx += i * i / POINTS;
        xy += i * v / POINTS;
        yy += v * v / POINTS;
    }
    double slope = (xy - x * y) / (xx - x * x);
    double s = sqrt(yy - y * y - slope * (xy - x * y));
    struct hm_convergence *c = made_fit_with(&made, &settings);
    const struct hm_g_parameter *p = &c->algorithms[0].parameters[1];
    assert_string_equal(p->text, "i");
    assert_near(p->value, slope, 0.02); /* The Lasso shrinks the coefficient a little. */
    assert_near((p->high - p->low) / 2, t * s / sqrt(5 * (xx - x * x)), 0.01);
    hm_convergence_free(c);
    made_release(&made);
}

/* ---- the optimal loss -------------------------------------------------------------------------
 */

/* An estimate from one trace must have an interval, which must contain the truth. */
static void the_optimal_loss_of_one_trace_has_an_interval(void **state)
{
    static struct made made;

    (void)state;
    for (int f = 0; f < 2; f++) {
        made_init(&made);
        made_algorithm(&made, "a", made_ms, 1, 60, 0.2, f ? exact_power : exact_rate, 0, NULL);
        struct hm_convergence *c = made_fit_with(&made, NULL);
        assert_true(c->best_estimated);
        assert_widths(c);
        assert_true(c->best_low <= 0.2 && 0.2 <= c->best_high);
        hm_convergence_free(c);
        made_release(&made);
    }
}

/* If the duality gap is smaller than any distance that is tried, the estimated P* must still be
 * above its lower bound. */
static void a_narrow_gap_bounds_the_optimal_loss(void **state)
{
    static struct made made;

    (void)state;
    made_init(&made);
    made_algorithm(&made, "a", made_ms, 3, 40, 0.2, exact_power, 0, NULL);
    double least = made.list[0].loss[39];
    made.list[0].bound = least - 1e-9;
    struct hm_convergence *c = made_fit_with(&made, NULL);
    assert_widths(c);
    assert_near(c->best_low, least - 1e-9, 1e-12);
    assert_near(c->best_high, least, 1e-12);
    hm_convergence_free(c);
    made_release(&made);
}

/* ---- staleness --------------------------------------------------------------------------------
 */

/* Tests stale traces that all need exactly 1.5 times the iterations. */
static void equal_costs_have_intervals(void **state)
{
    static struct made made;

    (void)state;
    made_init(&made);
    made_algorithm(&made, "a", made_ms, 4, 60, 0, exact_rate, 0, NULL);
    for (size_t k = 0; k < 4; k++)
        for (double s = 1; s < 4; s++) {
            struct hm_trace *t = made_add(&made, "a", made_ms[k], 60);
            t->staleness = s;
            for (size_t p = 0; p < t->count; p++)
                t->loss[p] = exact_rate(t->iteration[p] / 1.5, t->m);
        }
    struct hm_convergence *c = made_fit(&made, 0);
    const struct hm_g_stale *ssp = &c->algorithms[0].ssp;
    assert_true(ssp->cost_count == 12);
    for (size_t k = 0; k < ssp->cost_count; k++) {
        assert_near(ssp->costs[k].factor, 1.5, 0.02);
        assert_true(ssp->costs[k].low < ssp->costs[k].high);
    }
    assert_widths(c);
    hm_convergence_free(c);
    made_release(&made);
}

/* ---- numbers ----------------------------------------------------------------------------------
 */

static void shown_intervals_have_different_ends(void **state)
{
    char text[HM_SHOWN_RANGE];

    (void)state;
    assert_string_equal(hm__show_interval(1, 2, 4, text), "1 to 2");
    assert_string_equal(hm__show_interval(-2.258, -2.257, 4, text), "-2.258 to -2.257");
    assert_string_equal(hm__show_interval(1.00001, 1.00002, 3, text), "1.00001 to 1.00002");
    assert_string_equal(hm__show_interval(0.1, nextafter(0.1, 1), 4, text),
                        "0.10000000000000001 to 0.10000000000000002");
    assert_string_equal(hm__show_interval(3, 3, 4, text), "3 to 3");
    assert_string_equal(hm__show_interval(NAN, 3, 4, text), "");
    assert_string_equal(hm__show_interval(3, INFINITY, 4, text), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_without_noise_have_intervals),
        cmocka_unit_test(equal_traces_count_once),
        cmocka_unit_test(the_optimal_loss_of_one_trace_has_an_interval),
        cmocka_unit_test(a_narrow_gap_bounds_the_optimal_loss),
        cmocka_unit_test(equal_costs_have_intervals),
        cmocka_unit_test(shown_intervals_have_different_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
