/*
 * Compares the linear algebra and the convex programme of a design with normal equations and with
 * the conditions of an optimum, on random problems.
 */
#include "testing.h"

#include "budget.h"
#include "linear.h"
#include "programme.h"
#include "random.h"

enum { ROUNDS = 40, ROWS = 9, COUNT = 4 };

/* A random problem of least squares: rows of COUNT values of x and one value of y. */
struct problem {
    double rows[ROWS][COUNT + 1];
    struct hm_lsq lsq;
};

static void draw_problem(struct problem *p, struct hm_random *random)
{
    hm__lsq_init(&p->lsq, COUNT);
    for (size_t i = 0; i < ROWS; i++) {
        double row[HM_LSQ_SIDE] = {0};
        for (size_t k = 0; k <= COUNT; k++)
            row[k] = p->rows[i][k] = hm__random_normal(random);
        hm__lsq_add(&p->lsq, row);
    }
}

static double residual_of(const struct problem *p, const double *theta)
{
    double sum = 0;

    for (size_t i = 0; i < ROWS; i++) {
        double rest = p->rows[i][COUNT];
        for (size_t k = 0; k < COUNT; k++)
            rest -= p->rows[i][k] * theta[k];
        sum += rest * rest;
    }
    return sum;
}

/* Returns half the negative gradient of the sum of squares with respect to one coefficient. */
static double slope_of(const struct problem *p, const double *theta, size_t k)
{
    double sum = 0;

    for (size_t i = 0; i < ROWS; i++) {
        double rest = p->rows[i][COUNT];
        for (size_t j = 0; j < COUNT; j++)
            rest -= p->rows[i][j] * theta[j];
        sum += p->rows[i][k] * rest;
    }
    return sum;
}

static void least_squares_have_no_slope(void **state)
{
    struct hm_random random;
    struct problem p;

    (void)state;
    hm__random_init(&random, 1, 0);
    for (int round = 0; round < ROUNDS; round++) {
        double theta[HM_TERMS_MAX], bounded[HM_TERMS_MAX], some[HM_TERMS_MAX], any[COUNT];
        size_t column = 99;
        draw_problem(&p, &random);
        assert_true(hm__lsq_solve(&p.lsq, theta, &column));
        hm__lsq_nonnegative(&p.lsq, bounded);
        for (size_t k = 0; k < COUNT; k++) {
            double norm = 0;
            for (size_t i = 0; i < ROWS; i++)
                norm += p.rows[i][k] * p.rows[i][k];
            assert_near(hm__lsq_norm(&p.lsq, k), sqrt(norm), 1e-12);
            assert_near(1 + slope_of(&p, theta, k), 1, 1e-10);
            assert_true(bounded[k] >= 0);
            if (bounded[k] > 0)
                assert_near(1 + slope_of(&p, bounded, k), 1, 1e-10);
            else
                assert_true(slope_of(&p, bounded, k) < 1e-10);
            any[k] = hm__random_normal(&random);
        }
        assert_near(hm__lsq_residual(&p.lsq, any), residual_of(&p, any), 1e-12);
        assert_near(hm__lsq_residual(&p.lsq, theta), residual_of(&p, theta), 1e-10);
        /* The problem has two of the unknowns, in another order; the other coefficients are 0. */
        const size_t picked[] = {3, 1};
        struct hm_lsq part;
        hm__lsq_pick(&p.lsq, picked, 2, &part);
        assert_int_equal(part.count, 2);
        const double all[] = {0, any[1], 0, any[3]}, two[] = {any[3], any[1]};
        assert_near(hm__lsq_residual(&part, two), residual_of(&p, all), 1e-12);
        assert_true(hm__lsq_solve(&part, some, &column));
        const double best[] = {0, some[1], 0, some[0]};
        assert_near(1 + slope_of(&p, best, 3), 1, 1e-10);
        assert_near(1 + slope_of(&p, best, 1), 1, 1e-10);
    }
}

/* The solution scales with y, even if y is tiny or huge. */
static void solutions_scale_with_y(void **state)
{
    static const double scales[] = {1e-20, 1e20};
    struct hm_random random;
    struct problem p;

    (void)state;
    hm__random_init(&random, 6, 0);
    for (int round = 0; round < ROUNDS; round++) {
        double theta[HM_TERMS_MAX], scaled[HM_TERMS_MAX];
        draw_problem(&p, &random);
        hm__lsq_nonnegative(&p.lsq, theta);
        struct hm_lsq other;
        hm__lsq_init(&other, COUNT);
        for (size_t i = 0; i < ROWS; i++) {
            double row[HM_LSQ_SIDE] = {0};
            memcpy(row, p.rows[i], sizeof(p.rows[i]));
            row[COUNT] *= scales[round % 2];
            hm__lsq_add(&other, row);
        }
        hm__lsq_nonnegative(&other, scaled);
        for (size_t k = 0; k < COUNT; k++)
            assert_near(1 + scaled[k] / scales[round % 2], 1 + theta[k], 1e-9);
    }
}

static void problems_are_merged(void **state)
{
    struct hm_random random;
    struct problem p, q;
    double any[COUNT] = {0.3, -1, 2, 0.7};

    (void)state;
    hm__random_init(&random, 2, 0);
    draw_problem(&p, &random);
    draw_problem(&q, &random);
    hm__lsq_merge(&p.lsq, &q.lsq);
    assert_near(hm__lsq_residual(&p.lsq, any), residual_of(&p, any) + residual_of(&q, any), 1e-12);
}

/* A column that depends on earlier columns must be named; if there are bounds, its coefficient is
 * 0. */
static void dependent_columns_are_named(void **state)
{
    struct hm_lsq lsq;
    double theta[HM_TERMS_MAX];
    size_t column = 99;

    (void)state;
    hm__lsq_init(&lsq, 3);
    for (int i = 1; i <= 5; i++)
        hm__lsq_add(&lsq, (double[HM_LSQ_SIDE]){1, i, 2 * i + 1, 4 + 3 * i});
    assert_false(hm__lsq_solve(&lsq, theta, &column));
    assert_int_equal(column, 2);
    hm__lsq_nonnegative(&lsq, theta);
    assert_near(1 + hm__lsq_residual(&lsq, theta), 1, 1e-12);
    assert_true(theta[0] == 0 || theta[1] == 0 || theta[2] == 0);
    hm__lsq_init(&lsq, 1); /* A column of zeros does not depend on any other column. */
    hm__lsq_add(&lsq, (double[HM_LSQ_SIDE]){0, 1});
    assert_false(hm__lsq_solve(&lsq, theta, &column));
    assert_int_equal(column, 0);
}

static void factors_solve_their_matrix(void **state)
{
    struct hm_random random;
    struct problem p;

    (void)state;
    hm__random_init(&random, 3, 0);
    for (int round = 0; round < ROUNDS; round++) {
        double a[HM_TERMS_MAX][HM_TERMS_MAX] = {{0}}, l[HM_TERMS_MAX][HM_TERMS_MAX];
        double b[COUNT], x[HM_TERMS_MAX], u[HM_TERMS_MAX], dot = 0, square = 0;
        draw_problem(&p, &random);
        for (size_t j = 0; j < COUNT; j++)
            for (size_t k = 0; k < COUNT; k++)
                for (size_t i = 0; i < ROWS; i++)
                    a[j][k] += p.rows[i][j] * p.rows[i][k];
        memcpy(l, a, sizeof(a));
        assert_true(hm__cholesky(l, COUNT));
        for (size_t k = 0; k < COUNT; k++)
            x[k] = b[k] = hm__random_normal(&random);
        hm__lower_solve(l, COUNT, x);
        hm__upper_solve(l, COUNT, x);
        hm__lsq_whiten(&p.lsq, b, u);
        for (size_t j = 0; j < COUNT; j++) {
            double sum = 0;
            for (size_t k = 0; k < COUNT; k++)
                sum += a[j][k] * x[k];
            assert_near(sum, b[j], 1e-9);
            dot += b[j] * x[j]; /* The sum is b' A^-1 b, which is also |u|^2. */
            square += u[j] * u[j];
        }
        assert_near(square, dot, 1e-9);
    }
    double zero[HM_TERMS_MAX][HM_TERMS_MAX] = {{1, 1}, {1, 1}};
    assert_false(hm__cholesky(zero, 2));
}

/* ---- the programme --------------------------------------------------------------------------- */

enum { CANDIDATES = 7, TERMS = 3 };

/* Returns the derivative of the criterion with respect to one share. */
static double criterion_slope(const struct hm_programme *p, const double *shares, size_t j)
{
    const double step = 1e-5;
    double up[CANDIDATES], down[CANDIDATES];

    memcpy(up, shares, sizeof(up));
    memcpy(down, shares, sizeof(down));
    up[j] += step;
    down[j] -= step;
    return (hm__programme_value(p, up) - hm__programme_value(p, down)) / (2 * step);
}

/* At an optimum, the gain per unit of cost is the same for every share between 0 and 1, smaller for
 * shares at 0, and larger for shares at 1. */
static void check_optimum(const struct hm_programme *p, const double *shares)
{
    double spent = 0, least = INFINITY, most = 0;

    for (size_t j = 0; j < CANDIDATES; j++) {
        double gain = -criterion_slope(p, shares, j) / p->cost[j];
        assert_true(shares[j] > -1e-9 && shares[j] < 1 + 1e-9);
        spent += shares[j] * p->cost[j];
        if (shares[j] > 1e-4)
            least = fmin(least, gain);
        if (shares[j] < 1 - 1e-4)
            most = fmax(most, gain);
    }
    assert_true(spent <= p->budget * (1 + 1e-9));
    assert_near(spent, p->budget, 1e-6);
    if (most > least * 1.001)
        fail_msg("a unit of cost gains %g and %g", least, most);
}

static double value_by_hand(const struct hm_programme *p, const double *shares)
{
    double m[TERMS][TERMS];

    for (size_t a = 0; a < TERMS; a++)
        for (size_t b = 0; b < TERMS; b++) {
            m[a][b] = p->known[a][b];
            for (size_t j = 0; j < CANDIDATES; j++)
                m[a][b] += shares[j] * p->features[j * TERMS + a] * p->features[j * TERMS + b];
        }
    double c[TERMS][TERMS], det = 0, trace = 0, target = 0;
    for (size_t a = 0; a < TERMS; a++)
        for (size_t b = 0; b < TERMS; b++)
            c[a][b] = m[(a + 1) % 3][(b + 1) % 3] * m[(a + 2) % 3][(b + 2) % 3] -
                      m[(a + 1) % 3][(b + 2) % 3] * m[(a + 2) % 3][(b + 1) % 3];
    for (size_t b = 0; b < TERMS; b++) {
        det += m[0][b] * c[0][b];
        trace += c[b][b];
        for (size_t a = 0; a < TERMS; a++)
            target += p->target[a] * c[a][b] * p->target[b];
    }
    return p->criterion == HM_CRITERION_A   ? trace / det
           : p->criterion == HM_CRITERION_D ? -log(det)
                                            : target / det;
}

static void designs_are_optimal(void **state)
{
    static const enum hm_criterion criteria[] = {HM_CRITERION_A, HM_CRITERION_D, HM_CRITERION_I};
    struct hm_random random;

    (void)state;
    hm__random_init(&random, 4, 0);
    for (int round = 0; round < 30; round++) {
        double features[CANDIDATES * TERMS], cost[CANDIDATES], shares[CANDIDATES], value, gap;
        double total = 0;
        struct hm_programme p = {.criterion = criteria[round % 3],
                                 .terms = TERMS,
                                 .count = CANDIDATES,
                                 .features = features,
                                 .cost = cost};
        for (size_t j = 0; j < CANDIDATES; j++) {
            for (size_t k = 0; k < TERMS; k++)
                features[j * TERMS + k] = hm__random_normal(&random);
            total += cost[j] = 0.5 + hm__random_uniform(&random);
        }
        for (size_t k = 0; k < TERMS; k++) {
            p.known[k][k] = round % 2 ? 0.5 : 0;
            p.target[k] = 1 + (double)k;
        }
        p.budget = total * (0.5 + 0.3 * hm__random_uniform(&random));
        assert_int_equal(hm__programme_solve(&p, shares, &value, &gap, NULL), 0);
        assert_near(value, hm__programme_value(&p, shares), 1e-12);
        assert_near(value, value_by_hand(&p, shares), 1e-9);
        assert_true(gap >= 0 && gap < 1e-4 * (1 + fabs(value)));
        check_optimum(&p, shares);
        p.budget = INFINITY; /* Without a limit on the cost, every candidate is run. */
        assert_int_equal(hm__programme_solve(&p, shares, &value, &gap, NULL), 0);
        for (size_t j = 0; j < CANDIDATES; j++)
            assert_near(shares[j], 1, 1e-6);
    }
}

/*
 * The two terms x1 and x2 are measured by different candidates, so the information matrix is
 * diagonal, and the shares have closed forms. With m_i = l_i x_i^2 and the cost c_i, Lagrange's
 * condition gives l_i proportional to 1/c_i for the criterion D, to 1/(x_i sqrt(c_i)) for A and to
 * |g_i|/(x_i sqrt(c_i)) for I.
 */
static void diagonal_designs_have_closed_forms(void **state)
{
    static const double x[2] = {2, 0.5}, cost[2] = {1, 3}, target[2] = {1, -4};
    static const double features[4] = {2, 0, 0, 0.5};
    static const enum hm_criterion criteria[] = {HM_CRITERION_A, HM_CRITERION_D, HM_CRITERION_I};

    (void)state;
    for (int k = 0; k < 3; k++)
        for (double budget = 0.2; budget < 1; budget += 0.2) {
            struct hm_programme p = {.criterion = criteria[k],
                                     .terms = 2,
                                     .count = 2,
                                     .features = features,
                                     .cost = cost,
                                     .budget = budget,
                                     .target = {target[0], target[1]}};
            double wanted[2], shares[2], value, gap, spent = 0;
            for (int i = 0; i < 2; i++) {
                wanted[i] = k == 1   ? 1 / cost[i]
                            : k == 0 ? 1 / (x[i] * sqrt(cost[i]))
                                     : fabs(target[i]) / (x[i] * sqrt(cost[i]));
                spent += wanted[i] * cost[i];
            }
            assert_int_equal(hm__programme_solve(&p, shares, &value, &gap, NULL), 0);
            for (int i = 0; i < 2; i++)
                assert_near(shares[i], wanted[i] * budget / spent, 1e-9);
            double m[2] = {shares[0] * x[0] * x[0], shares[1] * x[1] * x[1]};
            assert_near(value,
                        k == 0   ? 1 / m[0] + 1 / m[1]
                        : k == 1 ? -log(m[0] * m[1])
                                 : target[0] * target[0] / m[0] + target[1] * target[1] / m[1],
                        1e-12);
            assert_true(gap >= 0 && gap <= 1e-9 * (1 + fabs(value)));
        }
}

/* With one term, the best design uses the candidates in the order of their information per unit of
 * cost; only the last of them is used in part. */
static void one_term_is_a_knapsack(void **state)
{
    static const double features[4] = {1, 2, 3, 1}, cost[4] = {1, 1, 3, 4};
    /* The information for a unit of cost is 4, 9/3, 1 and 1/4. */
    static const double wanted[4] = {0, 1, 0.5, 0};
    double shares[4], value, gap;
    struct hm_programme p = {.terms = 1,
                             .count = 4,
                             .features = features,
                             .cost = cost,
                             .budget = 2.5,
                             .known = {{0.25}},
                             .target = {3}};

    (void)state;
    for (int k = 0; k < 3; k++) {
        p.criterion = k == 0 ? HM_CRITERION_A : k == 1 ? HM_CRITERION_D : HM_CRITERION_I;
        assert_int_equal(hm__programme_solve(&p, shares, &value, &gap, NULL), 0);
        for (int j = 0; j < 4; j++)
            assert_true(fabs(shares[j] - wanted[j]) < 1e-9);
        double m = 0.25 + 4 + 4.5;
        assert_near(value, k == 0 ? 1 / m : k == 1 ? -log(m) : 9 / m, 1e-12);
        assert_true(gap >= 0 && gap < 1e-9);
    }
    /* Without information, the criterion is infinite; a column that depends on another column adds
     * no information. */
    static const double twice[4] = {1, 2, 2, 4}, one[2] = {1, 1};
    p = (struct hm_programme){.criterion = HM_CRITERION_D,
                              .terms = 2,
                              .count = 2,
                              .features = twice,
                              .cost = cost,
                              .budget = 1};
    assert_true(isinf(hm__programme_value(&p, one)));
}

/*
 * Random designs with many candidates: the bound on the distance from the optimum must be as small
 * as rounding errors, and the number of Newton steps must be small. In each step, the budget of the
 * request is checked twice for every candidate.
 */
static void designs_converge_in_few_steps(void **state)
{
    enum { MANY = 40, FOUR = 4 };
    static const enum hm_criterion criteria[] = {HM_CRITERION_A, HM_CRITERION_D, HM_CRITERION_I};
    struct hm_random random;
    int64_t all = 0;

    (void)state;
    hm__random_init(&random, 7, 0);
    for (int round = 0; round < 12; round++) {
        double features[MANY * FOUR], cost[MANY], shares[MANY], value, gap, spent = 0, total = 0;
        struct hm_programme p = {.criterion = criteria[round % 3],
                                 .terms = FOUR,
                                 .count = MANY,
                                 .features = features,
                                 .cost = cost};
        for (size_t j = 0; j < MANY; j++) {
            for (size_t k = 0; k < FOUR; k++)
                features[j * FOUR + k] = hm__random_normal(&random);
            total += cost[j] = 0.5 + hm__random_uniform(&random);
        }
        for (size_t k = 0; k < FOUR; k++)
            p.target[k] = 1 + (double)k;
        p.budget = total * (0.1 + 0.3 * hm__random_uniform(&random));
        struct hm_budget budget = {.checks = 1 << 30};
        hm__budget_enter(&budget);
        assert_int_equal(hm__programme_solve(&p, shares, &value, &gap, NULL), 0);
        hm__budget_leave(&budget);
        for (size_t j = 0; j < MANY; j++) {
            assert_true(shares[j] >= 0 && shares[j] <= 1);
            spent += shares[j] * cost[j];
        }
        assert_true(spent <= p.budget * (1 + 1e-12));
        if (!(gap >= 0 && gap < 1e-9 * (1 + fabs(value))))
            fail_msg("round %d: %g is not within %g", round, value, gap);
        all += (1 << 30) - (int64_t)budget.checks;
    }
    assert_true((double)all / 12 / 2 / MANY < 58);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diagonal_designs_have_closed_forms),
        cmocka_unit_test(one_term_is_a_knapsack),
        cmocka_unit_test(designs_converge_in_few_steps),
        cmocka_unit_test(least_squares_have_no_slope),
        cmocka_unit_test(solutions_scale_with_y),
        cmocka_unit_test(problems_are_merged),
        cmocka_unit_test(dependent_columns_are_named),
        cmocka_unit_test(factors_solve_their_matrix),
        cmocka_unit_test(designs_are_optimal),
    };
    return cmocka_run_group_tests_name("edges_linear", tests, NULL, NULL);
}
