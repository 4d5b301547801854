/*
 * Tests shrinkage towards the usual loss of efficiency: the draws that are selected must have the
 * weights that the formula gives, computed here from the draws of a fit without shrinkage; fits to
 * runs that show no loss per doubling must not change; and intervals beyond the runs must become
 * narrower.
 */
#include "testing.h"

#include "fit.h"
#include "order.h"
#include "random.h"

static struct hm_runs *make_runs(const double *n, size_t count, bool weak)
{
    struct hm_runs *runs = NULL;
    double seconds[16];
    struct hm_random random;

    hm__random_init(&random, 7, 0);
    for (size_t i = 0; i < count; i++)
        seconds[i] = ((weak ? 1 + 0.1 * log(n[i]) : 1 / n[i] + 0.003 * log(n[i]))) *
                     (1 + 0.03 * hm__random_normal(&random));
    assert_int_equal(hm_runs_new(n, seconds, count, NULL, 0, &runs, NULL), 0);
    runs->weak = weak;
    return runs;
}

static struct hm_fit *make_fit(const struct hm_runs *runs, double weak_turn, double strong_turn)
{
    struct hm_fit_rule rule = hm_fit_rule_default();
    struct hm_fit_settings settings = {.rule = &rule};
    struct hm_fit *fit = NULL;

    /* Only few runs are counted, so that sets of terms with different losses beyond the runs
     * remain. */
    rule.counted_runs = 2;
    rule.steep_needs = 4;
    rule.steep_weight = 0.15;
    rule.drift = 0;
    rule.weak_turn = weak_turn;
    rule.strong_turn = strong_turn;
    assert_int_equal(hm_fit_new(runs, &settings, &fit, NULL), 0);
    return fit;
}

static const double ns[] = {1, 2, 4, 8, 16};

enum { RUNS = 5, PLACES = 4 };

/* Numbers of workers at which losses are compared: in the last quarter of the range of the runs,
 * and beyond it. */
static const double places[PLACES] = {4, 8, 16, 128};

static double loss(const struct hm_fit *fit, const double *x, size_t from, size_t to, size_t draw)
{
    double more = log(places[to] / places[from]);
    double ratio =
        hm__fit_seconds(fit, x, PLACES, to, draw) / hm__fit_seconds(fit, x, PLACES, from, draw);

    return (log(ratio) + (fit->weak ? 0 : more)) / (more / log(2));
}

/* Returns the growth of the loss inside the range of the runs that four of five draws exceed; 0 if
 * this growth is negative. */
static double agreed_growth(const struct hm_fit *fit, const double *x)
{
    size_t count = hm__fit_draw_count(fit);
    double *growths = test_calloc(count, sizeof(*growths));

    for (size_t d = 0; d < count; d++)
        growths[d] = loss(fit, x, 1, 2, d) - loss(fit, x, 0, 1, d);
    for (size_t d = 0; d < count; d++)
        growths[d] = isfinite(growths[d]) ? growths[d] : 0;
    qsort(growths, count, sizeof(*growths), hm__compare_numbers);
    double growth = growths[count / 5];
    test_free(growths);
    return fmax(growth, 0);
}

/* Computes the mean and the mean square of the loss beyond the runs, with the weights of the
 * formula if turn > 0. */
static void moments(const struct hm_fit *fit, double turn, double *mean, double *square)
{
    double *x, sum = 0;

    *mean = *square = 0;
    assert_int_equal(hm__fit_terms(fit, NULL, places, PLACES, &x, NULL), 0);
    double usual = turn + 8 * agreed_growth(fit, x);
    for (size_t d = 0; d < hm__fit_draw_count(fit); d++) {
        double inside = loss(fit, x, 0, 2, d), beyond = loss(fit, x, 2, 3, d);
        double z = (beyond - inside) / (usual + 0.15 * fabs(inside));
        double weight = turn > 0 ? pow(1 + z * z / 4, -2.5) : 1;
        if (!isfinite(beyond)) /* Skip a draw in which one of the times is 0. */
            continue;
        sum += weight;
        *mean += weight * beyond;
        *square += weight * beyond * beyond;
    }
    *mean /= sum;
    *square /= sum;
    hm__free(x);
}

static void assert_weighted(bool weak)
{
    struct hm_runs *runs = make_runs(ns, RUNS, weak);
    struct hm_fit *plain = make_fit(runs, 0, 0);
    struct hm_fit *shrunk = make_fit(runs, weak ? 0.06 : 0, weak ? 0 : 0.06);
    double mean, square, wanted, wanted_square, before, before_square;

    assert_int_equal(plain->weak, weak);
    assert_int_equal(hm__fit_draw_count(shrunk), hm__fit_draw_count(plain));
    moments(plain, 0, &before, &before_square);
    moments(plain, 0.06, &wanted, &wanted_square);
    moments(shrunk, 0, &mean, &square);
    /* Systematic resampling of 2000 draws has an error far below their standard deviation. */
    double deviation = sqrt(before_square - before * before);
    assert_true(fabs(mean - wanted) < 0.03 * deviation);
    assert_true(fabs(sqrt(square) - sqrt(wanted_square)) < 0.03 * deviation);
    assert_true(fabs(wanted - before) > 0.1 * deviation);
    hm_fit_free(plain);
    hm_fit_free(shrunk);
    hm_runs_free(runs);
}

static void draws_have_the_weights_of_the_formula(void **state)
{
    (void)state;
    assert_weighted(true);
    assert_weighted(false);
}

static double width_at(const struct hm_fit *fit, double n)
{
    struct hm_prediction p;

    assert_int_equal(hm_fit_predict(fit, NULL, 0, &n, 1, &p, NULL), 0);
    return p.high_s / p.low_s;
}

/* Beyond the runs the interval must be narrower; inside the range of the runs it must hardly
 * change. */
static void intervals_beyond_the_runs_are_narrower(void **state)
{
    struct hm_runs *runs = make_runs(ns, RUNS, true);
    struct hm_fit *plain = make_fit(runs, 0, 0), *shrunk = make_fit(runs, 0.06, 0);

    (void)state;
    assert_true(width_at(shrunk, 128) < 0.95 * width_at(plain, 128));
    assert_near(width_at(shrunk, 4), width_at(plain, 4), 0.1);
    hm_fit_free(plain);
    hm_fit_free(shrunk);
    hm_runs_free(runs);
}

/*
 * The loss of these runs grows at each doubling, with a scatter of 5 %: the curve rises beyond
 * them, and the intervals of most tables must contain it.
 */
static void curves_that_turn_stay_possible(void **state)
{
    static const double n[] = {1, 2, 3, 4, 6, 8, 12, 16}, far = 64;
    const double truth = 100 / far + far / 4;
    struct hm_random random;
    int inside = 0;

    (void)state;
    hm__random_init(&random, 11, 0);
    for (int table = 0; table < 20; table++) {
        double seconds[8];
        struct hm_runs *runs = NULL;
        struct hm_fit *fit = NULL;
        struct hm_prediction p;
        for (int i = 0; i < 8; i++)
            seconds[i] = (100 / n[i] + n[i] / 4) * (1 + 0.05 * hm__random_normal(&random));
        assert_int_equal(hm_runs_new(n, seconds, 8, NULL, 0, &runs, NULL), 0);
        assert_int_equal(hm_fit_new(runs, NULL, &fit, NULL), 0);
        assert_int_equal(hm_fit_predict(fit, NULL, 0, &far, 1, &p, NULL), 0);
        inside += p.low_s <= truth && truth <= p.high_s;
        hm_fit_free(fit);
        hm_runs_free(runs);
    }
    print_message("# %d of 20 intervals contain the time\n", inside);
    assert_true(inside >= 16);
}

/* Shrinkage must change nothing for runs of the other kind of scaling, for a range below a factor
 * of two, and for given terms. */
static void other_fits_are_left_alone(void **state)
{
    static const double narrow[] = {9, 10, 12, 14, 16};
    static const char *const terms[] = {"1", "ln(n)"};

    (void)state;
    for (int k = 0; k < 3; k++) {
        struct hm_runs *runs = make_runs(k == 1 ? narrow : ns, RUNS, true);
        struct hm_fit_rule rule = hm_fit_rule_default();
        struct hm_fit_settings settings = {
            .rule = &rule, .terms = terms, .term_count = k == 2 ? 2 : 0};
        struct hm_fit *fits[2];
        for (int i = 0; i < 2; i++) {
            rule.weak_turn = i && k > 0 ? 0.06 : 0;
            rule.strong_turn = i ? 0.06 : 0;
            assert_int_equal(hm_fit_new(runs, &settings, &fits[i], NULL), 0);
        }
        assert_true(width_at(fits[0], 128) == width_at(fits[1], 128));
        hm_fit_free(fits[0]);
        hm_fit_free(fits[1]);
        hm_runs_free(runs);
    }
}

/* With three exact runs, the width of an interval comes only from the expected noise. */
static void the_expected_noise_counts(void **state)
{
    static const double n[] = {1, 2, 4}, seconds[] = {1, 1, 1};
    struct hm_fit_rule rule = hm_fit_rule_default();
    struct hm_fit_settings settings = {.rule = &rule};
    struct hm_runs *runs = NULL;
    double widths[3];

    (void)state;
    assert_int_equal(hm_runs_new(n, seconds, 3, NULL, 0, &runs, NULL), 0);
    runs->weak = true;
    for (int i = 0; i < 3; i++) {
        struct hm_fit *fit = NULL;
        rule.noise_weight = i == 0 ? 0 : 2;
        rule.noise = i == 2 ? 0.06 : 0.03;
        assert_int_equal(hm_fit_new(runs, &settings, &fit, NULL), 0);
        widths[i] = log(width_at(fit, 4));
        hm_fit_free(fit);
    }
    assert_true(widths[0] < widths[1] / 2);
    assert_near(widths[2] / widths[1], 2, 0.15);
    hm_runs_free(runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_have_the_weights_of_the_formula),
        cmocka_unit_test(intervals_beyond_the_runs_are_narrower),
        cmocka_unit_test(curves_that_turn_stay_possible),
        cmocka_unit_test(other_fits_are_left_alone),
        cmocka_unit_test(the_expected_noise_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
