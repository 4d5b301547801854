/*
 * Tests sums of losses and gradients: they are compared with the oracle and with finite
 * differences, dense and sparse, for all rows and for lists, in all sizes around the blocks of two,
 * four and eight.
 */
#include "train_problems.h"

#include "vector.h"

enum { ROOM = 512 };

static void point_of(const struct problem *p, double *w, size_t unknowns)
{
    assert_true(unknowns <= ROOM);
    for (size_t k = 0; k < unknowns; k++)
        w[k] = made_value(p->seed + 9, k, 0);
}

/* ---- vectors -------------------------------------------------------------------------------- */

static void vectors_of_all_lengths(void **state)
{
    double a[40], b[40], c[4][40];

    (void)state;
    for (size_t count = 0; count < 40; count++) {
        double dot = 0, dots[4], factors[4] = {2, -3, 0, 0.5};
        const double *x[4] = {c[0], c[1], c[2], c[3]};
        /* The values are small integers, so that every sum is exact. */
        for (size_t i = 0; i < 40; i++) {
            a[i] = (double)(i % 7) - 3;
            b[i] = (double)(i % 5) + 1;
            for (size_t k = 0; k < 4; k++)
                c[k][i] = (double)((i + k) % 3 + k);
            dot += i < count ? a[i] * b[i] : 0;
        }
        assert_near(hm__dot(a, b, count), dot, 0);
        hm__axpy(2, a, b, count);
        hm__dot4(x, a, count, dots);
        for (size_t k = 0; k < 4; k++) {
            double sum = 0;
            for (size_t i = 0; i < count; i++)
                sum += c[k][i] * a[i];
            assert_near(dots[k], sum, 0);
        }
        for (size_t i = 0; i < 40; i++)
            assert_near(b[i], (double)(i % 5) + 1 + (i < count ? 2 * a[i] : 0), 0);
        hm__axpy4(factors, x, b, count);
        for (size_t i = 0; i < 40; i++)
            assert_near(b[i],
                        (double)(i % 5) + 1 +
                            (i < count ? 2 * a[i] + 2 * c[0][i] - 3 * c[1][i] + 0.5 * c[3][i] : 0),
                        0);
    }
}

static void rows_as_vectors(void **state)
{
    (void)state;
    for (size_t at = 0; at < PROBLEMS; at++) {
        const struct problem *p = &problems[at];
        struct hm_rows dense = problem_rows(p, 0, false, 0, 1);
        struct hm_rows sparse = problem_rows(p, 0, true, 0, 1);
        double w[ROOM], into[2][ROOM] = {{0}};
        point_of(p, w, p->features);
        for (size_t i = 0; i < p->rows; i++) {
            double dot = 0, norm2 = 0, entries = 0;
            for (size_t j = 0; j < p->features; j++)
                if (entry_is_there(p, i, j)) {
                    double x = made_value(p->seed, i, j);
                    dot += x * w[j];
                    norm2 += x * x;
                    entries++;
                }
            assert_true(fabs(hm__row_dot(&dense, i, w) - dot) < 1e-14);
            assert_true(fabs(hm__row_dot(&sparse, i, w) - dot) < 1e-14);
            assert_near(hm__row_norm2(&dense, i), norm2, 1e-14);
            assert_near(hm__row_norm2(&sparse, i), norm2, 1e-14);
            assert_int_equal(hm__row_entries(&dense, i), p->features);
            assert_near((double)hm__row_entries(&sparse, i), entries, 0);
            hm__row_axpy(&dense, i, -1.5, into[0]);
            hm__row_axpy(&sparse, i, -1.5, into[1]);
        }
        for (size_t j = 0; j < p->features; j++)
            assert_true(into[0][j] == into[1][j]);
        hm__rows_release(&dense);
        hm__rows_release(&sparse);
    }
}

/* ---- objectives ----------------------------------------------------------------------------- */

static void check_against_oracle(const struct problem *p, size_t loss, bool sparse)
{
    double wanted[3] = {0}, w[ROOM], g[ROOM] = {0}, flop, norm2 = 0, along = 0;
    struct hm_objective o;

    oracle_read("point", p->name, loss_names[loss], wanted, 3);
    problem_init(&o, p, loss, sparse, 0, 1);
    assert_int_equal(o.unknowns, p->features * o.outputs);
    point_of(p, w, o.unknowns);
    double sum = o.ops->eval(&o, w, NULL, o.rows.count, g, &flop);
    double entries = (double)hm__rows_entries(&o.rows) * (double)o.outputs;
    assert_near(flop, 4 * entries, 0);
    for (size_t k = 0; k < o.unknowns; k++) {
        g[k] = g[k] / o.total_rows + o.lambda * w[k];
        norm2 += g[k] * g[k];
        along += g[k] * made_value(p->seed + 10, k, 0);
    }
    double regular = o.lambda / 2 * hm__dot(w, w, o.unknowns);
    assert_near(sum / o.total_rows + regular, wanted[0], 1e-13);
    assert_near(sqrt(norm2), wanted[1], 1e-12);
    assert_true(fabs(along - wanted[2]) < 1e-13 * (1 + wanted[1]));
    double alone = o.ops->eval(&o, w, NULL, o.rows.count, NULL, &flop);
    /* The sum of the losses is the same if the gradient is not computed. */
    assert_true(alone == sum);
    assert_near(flop, 2 * entries, 0);
    problem_release(&o);
}

static void objectives_are_the_oracles(void **state)
{
    (void)state;
    for (size_t at = 0; at < PROBLEMS; at++)
        for (size_t loss = 0; loss < LOSSES; loss++)
            for (int sparse = 0; sparse < 2; sparse++)
                check_against_oracle(&problems[at], loss, sparse);
}

/* Returns whether some row is near the kink of the hinge loss. */
static bool near_kink(const struct hm_objective *o, const double *w)
{
    for (size_t i = 0; i < o->rows.count; i++)
        if (fabs(1 - o->rows.labels[i] * hm__row_dot(&o->rows, i, w)) < 1e-4)
            return true;
    return false;
}

static void gradients_are_differences(void **state)
{
    const double h = 1e-5;
    double w[ROOM], flop;

    (void)state;
    for (size_t at = 0; at < 2 * PROBLEMS * LOSSES; at++) {
        const struct problem *p = &problems[at % PROBLEMS];
        size_t loss = at / PROBLEMS % LOSSES;
        struct hm_objective o;
        double g[ROOM] = {0};
        problem_init(&o, p, loss, at >= PROBLEMS * LOSSES, 0, 1);
        point_of(p, w, o.unknowns);
        assert_true(loss != 0 || !near_kink(&o, w));
        o.ops->eval(&o, w, NULL, o.rows.count, g, &flop);
        for (size_t k = 0; k < o.unknowns; k++) {
            double kept = w[k];
            w[k] = kept + h;
            double up = o.ops->eval(&o, w, NULL, o.rows.count, NULL, &flop);
            w[k] = kept - h;
            double down = o.ops->eval(&o, w, NULL, o.rows.count, NULL, &flop);
            w[k] = kept;
            assert_true(fabs(g[k] - (up - down) / (2 * h)) < 1e-7 * (1 + fabs(g[k])));
        }
        problem_release(&o);
    }
}

/* A list of any length must give the same result as its rows one by one, added to the existing
 * gradient. */
static void lists_are_rows_one_by_one(void **state)
{
    double w[ROOM], flop;

    (void)state;
    for (size_t at = 0; at < 2 * PROBLEMS * LOSSES; at++) {
        const struct problem *p = &problems[at % PROBLEMS];
        size_t loss = at / PROBLEMS % LOSSES;
        struct hm_objective o;
        problem_init(&o, p, loss, at >= PROBLEMS * LOSSES, 0, 1);
        point_of(p, w, o.unknowns);
        for (size_t count = 0; count <= 9; count++) {
            double g[ROOM], one_by_one[ROOM], sum = 0, flops = 0;
            uint32_t list[9];
            for (size_t k = 0; k < o.unknowns; k++)
                g[k] = one_by_one[k] = (double)k;
            for (size_t k = 0; k < count; k++) { /* One row appears twice in the list. */
                list[k] = (uint32_t)((7 * k + 3) % (o.rows.count - 1));
                sum += o.ops->eval(&o, w, list + k, 1, one_by_one, &flop);
                flops += flop;
            }
            double value = o.ops->eval(&o, w, list, count, g, &flop);
            assert_true(fabs(value - sum) <= 1e-13 * (1 + fabs(sum)));
            assert_near(flop, flops, 0);
            for (size_t k = 0; k < o.unknowns; k++)
                assert_true(fabs(g[k] - one_by_one[k]) <= 1e-12 * (1 + fabs(g[k])));
            for (size_t k = 0; k < count; k++)
                list[k] = (uint32_t)k;
            if (count <= o.rows.count) /* Without a list, the first rows are used. */
                assert_true(o.ops->eval(&o, w, list, count, NULL, &flop) ==
                            o.ops->eval(&o, w, NULL, count, NULL, &flop));
        }
        problem_release(&o);
    }
}

static void no_rows_give_zero(void **state)
{
    (void)state;
    for (size_t loss = 0; loss < LOSSES; loss++)
        for (int sparse = 0; sparse < 2; sparse++) {
            struct hm_objective o;
            double w[ROOM], g[ROOM] = {0}, flop = 5;
            problem_init(&o, &problems[0], loss, sparse, 0, 1000);
            assert_int_equal(o.rows.count, 0);
            point_of(&problems[0], w, o.unknowns);
            assert_near(o.ops->eval(&o, w, NULL, 0, g, &flop), 0, 0);
            assert_near(flop, 0, 0);
            assert_near(g[0], 0, 0);
            assert_near(o.ops->right(&o, w, &o.rows), 0, 0);
            problem_release(&o);
        }
}

static void rows_predicted_right_are_counted(void **state)
{
    double w[ROOM], flop;

    (void)state;
    for (size_t loss = 0; loss < LOSSES; loss++) {
        const struct problem *p = &problems[1];
        double right = 0, one[2];
        struct hm_objective o, dense;
        problem_init(&o, p, loss, true, 0, 1);
        problem_init(&dense, p, loss, false, 0, 1);
        point_of(p, w, o.unknowns);
        for (uint32_t i = 0; i < p->rows; i++) {
            double value = o.ops->eval(&o, w, &i, 1, NULL, &flop), z = hm__row_dot(&o.rows, i, w);
            if (loss == SOFTMAX) { /* If the row is classified correctly, no other label has a
                                      smaller loss. */
                double label = o.rows.labels[i], best = 1;
                for (size_t c = 0; c < p->classes; c++) {
                    o.rows.labels[i] = (double)c;
                    double other = o.ops->eval(&o, w, &i, 1, NULL, &flop);
                    if (other < value || (other == value && (double)c < label))
                        best = 0;
                }
                o.rows.labels[i] = label;
                right += best;
            } else
                right += losses[loss]->classes ? o.rows.labels[i] * z > 0 : -2 * value;
        }
        one[0] = o.ops->right(&o, w, &o.rows);
        one[1] = dense.ops->right(&dense, w, &dense.rows);
        assert_near(one[0], right, 1e-14);
        assert_near(one[1], right, 1e-14);
        assert_true(losses[loss] == &hm__loss_squares || (right > 0 && right < (double)p->rows));
        problem_release(&o);
        problem_release(&dense);
    }
}

/* Scores in the thousands must neither overflow nor lose digits of the loss. */
static void steep_softmax_keeps_its_digits(void **state)
{
    double w[ROOM], g[ROOM] = {0}, flop;
    struct hm_objective o;

    (void)state;
    problem_init(&o, &problems[0], SOFTMAX, false, 0, 1);
    point_of(&problems[0], w, o.unknowns);
    for (size_t k = 0; k < o.unknowns; k++)
        w[k] *= 1e5;
    double sum = o.ops->eval(&o, w, NULL, o.rows.count, g, &flop), wanted = 0;
    /* For large scores the loss is the largest score minus that of the correct class. */
    for (size_t i = 0; i < o.rows.count; i++) {
        double top = -INFINITY, right = 0;
        for (size_t c = 0; c < o.outputs; c++) {
            double z = 0;
            for (size_t j = 0; j < o.rows.features; j++)
                z += o.rows.values[i * o.rows.features + j] * w[j * o.outputs + c];
            top = fmax(top, z);
            right = (double)c == o.rows.labels[i] ? z : right;
        }
        wanted += top - right;
    }
    assert_near(sum, wanted, 1e-12);
    for (size_t k = 0; k < o.unknowns; k++)
        assert_true(isfinite(g[k]));
    problem_release(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_of_all_lengths),
        cmocka_unit_test(rows_as_vectors),
        cmocka_unit_test(objectives_are_the_oracles),
        cmocka_unit_test(gradients_are_differences),
        cmocka_unit_test(lists_are_rows_one_by_one),
        cmocka_unit_test(no_rows_give_zero),
        cmocka_unit_test(rows_predicted_right_are_counted),
        cmocka_unit_test(steep_softmax_keeps_its_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
