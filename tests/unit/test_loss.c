/*
 * Compares losses with their definitions: slopes are derivatives, `ascend` finds the same maximum
 * as a search, `dual` is the conjugate (Fenchel-Young), and extreme values cause no overflow.
 */
#include "testing.h"

#include "loss.h"

static const struct hm_loss *const losses[] = {&hm__loss_hinge, &hm__loss_logistic,
                                               &hm__loss_squares};
enum { LOSSES = 3 };

static const double labels[] = {-1, 1};
static const double numbers[] = {-2.5, 0, 0.75};

static double label_of(const struct hm_loss *loss, size_t i)
{
    return loss->classes ? labels[i % 2] : numbers[i % 3];
}

/* Returns a dual variable at which the conjugate is finite: any number, or y b with b in [0, 1]. */
static double alpha_of(const struct hm_loss *loss, double y, double b)
{
    return loss->classes ? y * b : 6 * b - 3;
}

static void values_are_those_of_the_formulas(void **state)
{
    (void)state;
    assert_string_equal(hm__loss_hinge.name, "svm");
    assert_near(hm__loss_hinge.value(0.25, 1), 0.75, 0);
    assert_near(hm__loss_hinge.value(0.25, -1), 1.25, 0);
    assert_near(hm__loss_hinge.value(3, 1), 0, 0);
    assert_near(hm__loss_hinge.slope(0.25, 1), -1, 0);
    assert_near(hm__loss_hinge.slope(3, 1), 0, 0);
    assert_near(hm__loss_logistic.value(0, 1), log(2), 1e-15);
    assert_near(hm__loss_logistic.value(1, 1), 0.31326168751822283405, 1e-15);
    assert_near(hm__loss_logistic.value(1, -1), 1.31326168751822283405, 1e-15);
    assert_near(hm__loss_logistic.value(40, 1), 4.2483542552915889953e-18, 1e-14);
    assert_near(hm__loss_logistic.value(-40, 1), 40, 1e-15);
    assert_near(hm__loss_logistic.slope(40, 1), -4.2483542552915889953e-18, 1e-14);
    assert_near(hm__loss_logistic.slope(-40, 1), -1, 1e-15);
    assert_near(hm__loss_squares.value(3, 1), 2, 0);
    assert_near(hm__loss_squares.slope(3, 1), 2, 0);
}

static void slopes_are_derivatives(void **state)
{
    const double h = 1e-5;

    (void)state;
    for (size_t l = 0; l < LOSSES; l++)
        for (int i = -60; i <= 60; i++) {
            double z = 0.1 * i + 0.033, y = label_of(losses[l], (size_t)(i + 60));
            if (!losses[l]->smooth && fabs(1 - y * z) < 2 * h)
                continue;
            double up = losses[l]->value(z + h, y), down = losses[l]->value(z - h, y);
            assert_true(fabs(losses[l]->slope(z, y) - (up - down) / (2 * h)) < 1e-9);
            /* The curvature bounds the change of the slope; the hinge has a kink instead. */
            double bend = (losses[l]->slope(z + h, y) - losses[l]->slope(z - h, y)) / (2 * h);
            assert_true(!losses[l]->smooth || bend <= losses[l]->curvature * (1 + 1e-9));
        }
}

/* Returns the value that `ascend` maximises. */
static double gain(const struct hm_loss *loss, double z, double y, double old, double q, double a)
{
    return loss->dual(a, y) - z * (a - old) - q / 2 * (a - old) * (a - old);
}

static double golden_section(const struct hm_loss *loss, double z, double y, double old, double q,
                             double low, double high)
{
    const double part = 0.61803398874989485;

    for (int k = 0; k < 120; k++) {
        double a = high - part * (high - low), b = low + part * (high - low);
        if (gain(loss, z, y, old, q, a) >= gain(loss, z, y, old, q, b))
            high = b;
        else
            low = a;
    }
    return 0.5 * (low + high);
}

static void check_ascend(const struct hm_loss *loss, double z, double y, double old, double q)
{
    double reach = fabs(z) + fabs(y) + fabs(old) + 1;
    double low = loss->classes ? fmin(0, y) : -reach, high = loss->classes ? fmax(0, y) : reach;
    double best = golden_section(loss, z, y, old, q, low, high);
    double found = loss->ascend(z, y, old, q);

    assert_true(found >= low && found <= high);
    double lost = gain(loss, z, y, old, q, best) - gain(loss, z, y, old, q, found);
    double size = 1 + fabs(z) + q;
    if (!(lost <= 1e-14 * size) || !(fabs(found - best) <= 1e-6))
        fail_msg("%s: z %g, y %g, old %g, q %g: %.17g, not %.17g (%g worse)", loss->name, z, y, old,
                 q, found, best, lost);
}

static void ascend_finds_the_maximum(void **state)
{
    static const double q[] = {0, 1e-12, 1e-3, 0.1, 1, 7, 100, 1e4};
    static const double b[] = {0, 1e-9, 0.2, 0.5, 0.999, 1};
    static const double z[] = {-30, -5, -1.0001, -1, -0.3, 0, 0.2, 0.9999, 1, 2, 12, 35};

    (void)state;
    for (size_t l = 0; l < LOSSES; l++)
        for (size_t i = 0; i < 8 * 6 * 12 * 3; i++) {
            double y = label_of(losses[l], i / (8 * 6 * 12)), at = z[i % 12];
            double old = alpha_of(losses[l], y, b[i / 12 % 6]), curve = q[i / 72 % 8];
            if (losses[l] == &hm__loss_hinge && curve <= 1e-12 && fabs(y * at - 1) < 1e-9)
                continue; /* Skip this case, because every alpha gives the same value. */
            check_ascend(losses[l], at, y, old, curve);
        }
}

/* At the maximum, `ascend` must not change alpha. */
static void ascend_stays_at_the_maximum(void **state)
{
    (void)state;
    for (size_t l = 0; l < LOSSES; l++)
        for (int i = -80; i <= 80; i++)
            for (double q = 1e-3; q < 2e4; q *= 10) {
                double z = 0.25 * i, y = label_of(losses[l], (size_t)(i + 80));
                double best = -losses[l]->slope(z, y);
                double found = losses[l]->ascend(z, y, best, q);
                if (losses[l] == &hm__loss_hinge && fabs(y * z - 1) < 1e-9)
                    continue;
                if (!(fabs(found - best) <= 4e-16 * fabs(best) * (1 + fabs(z))))
                    fail_msg("%s: z %g, q %g: %.17g, not %.17g", losses[l]->name, z, q, found,
                             best);
            }
}

static void an_empty_row_is_decided_at_once(void **state)
{
    (void)state;
    assert_near(hm__loss_hinge.ascend(0, 1, 0, 0), 1, 0);
    assert_near(hm__loss_hinge.ascend(0, -1, 0, 0), -1, 0);
    assert_near(hm__loss_hinge.ascend(2, 1, 0.5, 0), 0, 0);
    /* Every alpha gives the same value, so alpha must not change. */
    assert_near(hm__loss_hinge.ascend(1, 1, 0.5, 0), 0.5, 0);
    assert_near(hm__loss_logistic.ascend(0, 1, 0, 0), 0.5, 1e-15);
    assert_near(hm__loss_logistic.ascend(2, -1, -0.1, 0), -1 / (1 + exp(-2)), 1e-15);
    assert_near(hm__loss_squares.ascend(0, 3, 1, 0), 3, 0);
}

static void dual_is_the_conjugate(void **state)
{
    (void)state;
    for (size_t l = 0; l < LOSSES; l++)
        for (int i = -40; i <= 40; i++) {
            double z = 0.15 * i, y = label_of(losses[l], (size_t)(i + 40));
            double value = losses[l]->value(z, y);
            /* Fenchel-Young inequality: l(z) + l*(-alpha) >= -z alpha for all z and alpha. */
            for (int k = 0; k <= 20; k++) {
                double alpha = alpha_of(losses[l], y, 0.05 * k);
                assert_true(value - losses[l]->dual(alpha, y) >= -z * alpha - 1e-14);
            }
            double touch = -losses[l]->slope(z, y);
            assert_true(fabs(value - losses[l]->dual(touch, y) + z * touch) < 3e-15 * (1 + value));
        }
    /* The conjugates are also compared at the boundary of their domains. */
    for (int k = 0; k < 2; k++) {
        assert_near(hm__loss_logistic.dual(labels[k] * 0.0, labels[k]), 0, 0);
        assert_near(hm__loss_logistic.dual(labels[k], labels[k]), 0, 0);
        assert_near(hm__loss_hinge.dual(labels[k], labels[k]), 1, 0);
    }
    assert_near(hm__loss_logistic.dual(-0.5, -1), log(2), 1e-15);
}

static void extreme_values_stay_finite(void **state)
{
    static const double far[] = {1e3, -1e3, 1e300, -1e300};

    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 2; k++) {
            double z = far[i], y = labels[k], wrong = y * z < 0 ? 1 : 0;
            for (size_t l = 0; l < 2; l++) {
                double value = losses[l]->value(z, y);
                assert_near(value, wrong * (fabs(z) + (l == 0)), 1e-15);
                assert_near(losses[l]->slope(z, y), -y * wrong, 0);
                /* The quadratic term is too weak to have an effect. */
                for (double q = 0; q < fmin(1e6, fabs(z) / 2); q = 10 * q + 1)
                    assert_near(y * losses[l]->ascend(z, y, 0.5 * y, q), wrong, 1e-15);
                assert_near(losses[l]->dual(y * wrong, y), l == 0 ? wrong : 0, 0);
            }
            assert_near(hm__loss_squares.slope(z, y), z - y, 0);
            assert_near(hm__loss_squares.ascend(z, y, 0, 1), (y - z) / 2, 1e-15);
        }
    /* A strong quadratic term limits a step that would otherwise be large. */
    assert_near(hm__loss_hinge.ascend(-1e3, 1, 0, 1e6), 1001e-6, 1e-15);
    double b = hm__loss_logistic.ascend(-1e3, 1, 0, 1e6);
    assert_near(log((1 - b) / b) + 1e3, 1e6 * b, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_the_formulas),
        cmocka_unit_test(slopes_are_derivatives),
        cmocka_unit_test(ascend_finds_the_maximum),
        cmocka_unit_test(ascend_stays_at_the_maximum),
        cmocka_unit_test(an_empty_row_is_decided_at_once),
        cmocka_unit_test(dual_is_the_conjugate),
        cmocka_unit_test(extreme_values_stay_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
