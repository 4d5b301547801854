/*
 * Compares the Lasso with scikit-learn (tools/oracle/lasso.py), with the conditions of an optimum
 * summed over the rows themselves, with closed forms for one term, and with cross-validation by
 * hand.
 */
#include "testing.h"

#include "lasso.h"

enum { ROWS = 160, FOLDS = 8 };

/* Rows as they were generated; this file does not use the sums that it tests. */
struct rows {
    size_t count, terms, folds;
    double x[ROWS][HM_LASSO_MAX], y[ROWS], weight[ROWS];
    size_t fold[ROWS];
};

/* ---- reference implementation, in two passes over the rows ----------------------------------- */

struct plain {
    double z[ROWS][HM_LASSO_MAX], y[ROWS], total, variance;
};

static double centre(const struct rows *rows, double total, double *values)
{
    double mean = 0, rest = 0, square = 0;

    for (size_t i = 0; i < rows->count; i++)
        mean += rows->weight[i] * values[i] / total;
    for (size_t i = 0; i < rows->count; i++) /* Subtract the rounding error of the mean. */
        rest += rows->weight[i] * (values[i] - mean) / total;
    for (size_t i = 0; i < rows->count; i++) {
        values[i] = values[i] - mean - rest;
        square += rows->weight[i] * values[i] * values[i] / total;
    }
    return square;
}

static void standardise(const struct rows *rows, struct plain *plain)
{
    double column[ROWS];

    plain->total = 0;
    for (size_t i = 0; i < rows->count; i++)
        plain->total += rows->weight[i];
    for (size_t j = 0; j < rows->terms; j++) {
        for (size_t i = 0; i < rows->count; i++)
            column[i] = rows->x[i][j];
        double variance = centre(rows, plain->total, column);
        for (size_t i = 0; i < rows->count; i++)
            plain->z[i][j] = variance > 1e-20 ? column[i] / sqrt(variance) : 0;
    }
    memcpy(plain->y, rows->y, sizeof(plain->y));
    plain->variance = centre(rows, plain->total, plain->y);
}

/* Returns the objective; `slopes` gets the means of z times the residual. */
static double objective_of(const struct rows *rows, const struct plain *plain, double penalty,
                           const double *b, double *slopes)
{
    double square = 0, size = 0;

    memset(slopes, 0, rows->terms * sizeof(*slopes));
    for (size_t j = 0; j < rows->terms; j++)
        size += fabs(b[j]);
    for (size_t i = 0; i < rows->count; i++) {
        double rest = plain->y[i], share = rows->weight[i] / plain->total;
        for (size_t j = 0; j < rows->terms; j++)
            rest -= plain->z[i][j] * b[j];
        for (size_t j = 0; j < rows->terms; j++)
            slopes[j] += share * plain->z[i][j] * rest;
        square += share * rest * rest;
    }
    return square / 2 + penalty * size;
}

/* b is optimal if and only if each slope equals the penalty times the sign of b for each b that is
 * not 0, and is at most the penalty in absolute value for each b that is 0. */
static void assert_optimal(const struct rows *rows, const struct plain *plain, double penalty,
                           const double *b)
{
    double slopes[HM_LASSO_MAX], allowed = 1e-10 * sqrt(plain->variance);

    objective_of(rows, plain, penalty, b, slopes);
    for (size_t j = 0; j < rows->terms; j++) {
        double off = b[j] != 0 ? fabs(slopes[j] - copysign(penalty, b[j]))
                               : fmax(fabs(slopes[j]) - penalty, 0);
        if (off > allowed)
            fail_msg("penalty %g, term %zu: b %g, slope %.17g", penalty, j, b[j], slopes[j]);
    }
}

static void make_grams(const struct rows *rows, struct hm_gram *folds)
{
    for (size_t f = 0; f < rows->folds; f++)
        hm__gram_init(&folds[f], rows->terms);
    for (size_t i = 0; i < rows->count; i++)
        hm__gram_add(&folds[rows->fold[i]], rows->x[i], rows->y[i], rows->weight[i]);
}

static void make_lasso(const struct rows *rows, struct hm_lasso *lasso)
{
    struct hm_gram gram;

    hm__gram_init(&gram, rows->terms);
    for (size_t i = 0; i < rows->count; i++)
        hm__gram_add(&gram, rows->x[i], rows->y[i], rows->weight[i]);
    hm__lasso_init(lasso, &gram);
}

static void assert_close(const double *a, const double *b, size_t count, double allowed, int line)
{
    for (size_t j = 0; j < count; j++)
        if (!(fabs(a[j] - b[j]) <= allowed))
            fail_msg("line %d: value %zu is %.17g, not %.17g", line, j, a[j], b[j]);
}

/* ---- scikit-learn ---------------------------------------------------------------------------- */

/* Reads the numbers up to the end of a line. */
static size_t numbers(const char *text, double *values, size_t room)
{
    size_t count = 0;
    char *end;

    for (;; text = end) {
        double value = strtod(text, &end);
        if (end == text)
            return count;
        assert_true(count < room);
        values[count++] = value;
    }
}

static void read_row(const char *line, struct rows *rows)
{
    double v[HM_LASSO_MAX + 3];
    size_t i = rows->count++;

    assert_true(i < ROWS);
    assert_int_equal(numbers(line, v, HM_LASSO_MAX + 3), rows->terms + 3);
    rows->fold[i] = (size_t)v[0];
    rows->weight[i] = v[1];
    rows->y[i] = v[2];
    memcpy(rows->x[i], v + 3, rows->terms * sizeof(*v));
}

/* Returns the difference between predictions by theta and by standardised coefficients. */
static double apart(const struct rows *rows, const struct plain *plain, double y_mean,
                    double intercept, const double *theta, const double *b)
{
    double square = 0;

    for (size_t i = 0; i < rows->count; i++) {
        double rest = intercept - y_mean;
        for (size_t j = 0; j < rows->terms; j++)
            rest += theta[j] * rows->x[i][j] - plain->z[i][j] * b[j];
        square += rows->weight[i] / plain->total * rest * rest;
    }
    return sqrt(square);
}

/* Solves one penalty of the path in the file, starting from the previous solution and from 0. */
static void check_path(const struct rows *rows, const struct hm_lasso *lasso,
                       const struct plain *plain, const char *line, double *warm)
{
    double v[HM_LASSO_MAX + 2], cold[HM_LASSO_MAX] = {0}, theta[HM_LASSO_MAX], slopes[HM_LASSO_MAX];
    double penalty, intercept, deviation = sqrt(plain->variance);

    assert_int_equal(numbers(line, v, HM_LASSO_MAX + 2), rows->terms + 2);
    penalty = v[0];
    assert_true(hm__lasso_solve(lasso, penalty, 1e-12, warm) <= 1e-12);
    assert_true(hm__lasso_solve(lasso, penalty, 1e-12, cold) <= 1e-12);
    assert_close(warm, cold, rows->terms, 1e-9 * deviation, __LINE__);
    assert_close(warm, v + 2, rows->terms, 1e-6 * deviation, __LINE__);
    assert_near(objective_of(rows, plain, penalty, warm, slopes), v[1], 1e-9);
    assert_optimal(rows, plain, penalty, warm);
    hm__lasso_unscale(lasso, warm, &intercept, theta);
    assert_true(apart(rows, plain, lasso->y_mean, intercept, theta, v + 2) <= 1e-6 * deviation);
}

static void paths_agree_with_scikit_learn(void **state)
{
    static struct rows rows;
    static struct plain plain;
    static struct hm_lasso lasso;
    FILE *file = open_source("tests/data/lasso.tsv");
    char line[4096];
    double warm[HM_LASSO_MAX], first;
    size_t problems = 0, paths = 0, begun = 0;

    (void)state;
    while (next_line(file, line, sizeof(line))) {
        if (strncmp(line, "problem ", 8) == 0) {
            memset(&rows, 0, sizeof(rows));
            assert_int_equal(sscanf(line, "%*s %*s %*s %zu %zu", &rows.terms, &rows.folds), 2);
            begun = ++problems;
        } else if (strncmp(line, "row ", 4) == 0) {
            read_row(line + 4, &rows);
        } else if (strncmp(line, "path ", 5) == 0) {
            if (begun) { /* The first line of a path follows the last row. */
                standardise(&rows, &plain);
                make_lasso(&rows, &lasso);
                memset(warm, 0, sizeof(warm));
                assert_int_equal(sscanf(line, "path %lf", &first), 1);
                assert_near(hm__lasso_penalty_max(&lasso), first, 1e-11);
                begun = 0;
            }
            check_path(&rows, &lasso, &plain, line + 5, warm);
            paths++;
        }
    }
    fclose(file);
    assert_int_equal(problems, 6);
    assert_int_equal(paths, 72);
}

/* The reference values of one cross-validation. */
struct cross {
    size_t penalties;
    double least, errors[FOLDS * HM_LASSO_PENALTIES];
    bool held[FOLDS];
};

static void read_held(const char *line, struct cross *cross)
{
    double held[FOLDS];
    size_t count = numbers(line, held, FOLDS);

    for (size_t f = 0; f < count; f++)
        cross->held[f] = held[f] != 0;
    for (size_t i = 0; i < FOLDS * HM_LASSO_PENALTIES; i++)
        cross->errors[i] = NAN;
}

static void read_fold(const char *line, struct cross *cross)
{
    double v[HM_LASSO_PENALTIES + 1];

    assert_int_equal(numbers(line, v, HM_LASSO_PENALTIES + 1), cross->penalties + 1);
    memcpy(cross->errors + (size_t)v[0] * cross->penalties, v + 1, cross->penalties * sizeof(*v));
}

static void check_choice(const struct rows *rows, const struct cross *cross, const char *line)
{
    static struct hm_gram folds[FOLDS];
    struct hm_lasso_choice choice;
    double errors[FOLDS * HM_LASSO_PENALTIES], v[2];

    assert_int_equal(numbers(line, v, 2), 2);
    make_grams(rows, folds);
    assert_int_equal(hm__lasso_choose(folds, cross->held, rows->folds, cross->penalties,
                                      cross->least, 1e-12, &choice, errors, NULL),
                     0);
    for (size_t i = 0; i < rows->folds * cross->penalties; i++)
        assert_near(errors[i], cross->errors[i], 1e-6);
    assert_near(choice.penalties[choice.least], v[0], 1e-9);
    assert_near(choice.penalties[choice.chosen], v[1], 1e-9);
    for (size_t p = 0; p < cross->penalties;
         p++) { /* The mean and its standard error are computed by their definitions. */
        double sum = 0, square = 0, count = 0;
        for (size_t f = 0; f < rows->folds; f++)
            if (cross->held[f])
                sum += errors[f * cross->penalties + p], count++;
        for (size_t f = 0; f < rows->folds; f++)
            if (cross->held[f])
                square += pow(errors[f * cross->penalties + p] - sum / count, 2);
        assert_near(choice.mean[p], sum / count, 1e-12);
        assert_near(choice.error[p], sqrt(square / (count - 1) / count), 1e-9);
    }
}

static void cross_validation_agrees_with_scikit_learn(void **state)
{
    static struct rows rows;
    static struct cross cross;
    FILE *file = open_source("tests/data/lasso.tsv");
    char line[4096];
    size_t choices = 0;

    (void)state;
    while (next_line(file, line, sizeof(line))) {
        if (strncmp(line, "problem ", 8) == 0) {
            memset(&rows, 0, sizeof(rows));
            assert_int_equal(sscanf(line, "%*s %*s %*s %zu %zu", &rows.terms, &rows.folds), 2);
        } else if (strncmp(line, "row ", 4) == 0) {
            read_row(line + 4, &rows);
        } else if (strncmp(line, "cv ", 3) == 0) {
            assert_int_equal(sscanf(line, "cv %*s %zu %lf", &cross.penalties, &cross.least), 2);
        } else if (strncmp(line, "held ", 5) == 0) {
            read_held(line + 5, &cross);
        } else if (strncmp(line, "fold ", 5) == 0) {
            read_fold(line + 5, &cross);
        } else if (strncmp(line, "choice ", 7) == 0) {
            check_choice(&rows, &cross, line + 7);
            choices++;
        }
    }
    fclose(file);
    assert_int_equal(choices, 4);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Returns deterministic pseudo-random numbers. */
static double made(size_t i, size_t j)
{
    double value = sin(12.9898 * (double)(i + 1) + 78.233 * (double)(j + 1)) * 43758.5453;

    return 2 * (value - floor(value)) - 1;
}

static void make_rows(struct rows *rows, size_t count, size_t terms, double offset)
{
    memset(rows, 0, sizeof(*rows));
    rows->count = count;
    rows->terms = terms;
    rows->folds = 1;
    for (size_t i = 0; i < count; i++) {
        rows->weight[i] = 1;
        for (size_t j = 0; j < terms; j++) {
            /* The values are multiples of 1/1024, so that their sum with the offset is exact. */
            rows->x[i][j] = offset + floor(1024 * made(i, j)) / 1024;
            rows->y[i] += made(0, j) * rows->x[i][j];
        }
        rows->y[i] += 0.1 * made(i, terms);
    }
}

static void means_that_are_large_cost_no_digits(void **state)
{
    static struct rows near, far;
    static struct hm_lasso a, b;

    (void)state;
    make_rows(&near, 100, 6, 0);
    make_rows(&far, 100, 6, 1 << 20);
    memcpy(far.y, near.y, sizeof(far.y));
    make_lasso(&near, &a);
    make_lasso(&far, &b);
    for (size_t j = 0; j < 6; j++) {
        assert_near(b.mean[j], a.mean[j] + (1 << 20), 1e-15);
        assert_near(b.scale[j], a.scale[j], 1e-9);
        assert_close(b.c[j], a.c[j], 6, 1e-9, __LINE__);
    }
    assert_close(b.d, a.d, 6, 1e-9, __LINE__);
}

static void assert_same_gram(const struct hm_gram *a, const struct hm_gram *b, double allowed)
{
    assert_near(a->weight, b->weight, allowed);
    assert_near(a->yy, b->yy, allowed);
    assert_close(a->x, b->x, a->count, allowed, __LINE__);
    assert_close(a->xy, b->xy, a->count, allowed * b->yy, __LINE__);
    for (size_t j = 0; j < a->count; j++)
        assert_close(a->xx[j] + j, b->xx[j] + j, a->count - j, allowed * b->xx[j][j], __LINE__);
}

static void sets_of_rows_are_joined_and_taken_away(void **state)
{
    static struct rows rows;
    static struct hm_gram all, parts[3], sum;

    (void)state;
    make_rows(&rows, 90, 5, 3);
    rows.folds = 3;
    hm__gram_init(&all, 5);
    for (size_t i = 0; i < rows.count; i++) {
        rows.fold[i] = i < 10 ? 0 : 1 + i % 2;
        rows.weight[i] = 1 + made(i, 77) / 2;
        hm__gram_add(&all, rows.x[i], rows.y[i], rows.weight[i]);
    }
    make_grams(&rows, parts);
    hm__gram_init(&sum, 5);
    for (size_t f = 0; f < 3; f++)
        hm__gram_merge(&sum, &parts[f], 1);
    assert_same_gram(&sum, &all, 1e-13);
    hm__gram_merge(&sum, &parts[1], -1);
    hm__gram_merge(&sum, &parts[2], -1);
    assert_same_gram(&sum, &parts[0], 1e-11);
    hm__gram_merge(&parts[0], &parts[0], -1);
    assert_true(parts[0].weight == 0 && parts[0].yy == 0 && parts[0].x[0] == 0);
}

static void weights_count_rows(void **state)
{
    static struct rows rows;
    struct hm_gram once, twice;

    (void)state;
    make_rows(&rows, 30, 4, 1);
    hm__gram_init(&once, 4);
    hm__gram_init(&twice, 4);
    for (size_t i = 0; i < rows.count; i++) {
        hm__gram_add(&once, rows.x[i], rows.y[i], (double)(i % 3));
        for (size_t k = 0; k < i % 3; k++)
            hm__gram_add(&twice, rows.x[i], rows.y[i], 1);
    }
    assert_same_gram(&once, &twice, 1e-13);
    hm__gram_merge(&once, &once, 1);
    assert_near(once.yy, 2 * twice.yy, 1e-13);
}

static void errors_are_those_of_the_rows(void **state)
{
    static struct rows rows;
    struct hm_gram gram;
    const double theta[] = {0.5, 0, -2, 0.25};
    double sum = 0;

    (void)state;
    make_rows(&rows, 30, 4, 2);
    make_grams(&rows, &gram);
    for (size_t i = 0; i < rows.count; i++) {
        double rest = rows.y[i] - 0.7;
        for (size_t j = 0; j < 4; j++)
            rest -= theta[j] * rows.x[i][j];
        sum += rest * rest / 30;
    }
    assert_near(hm__gram_error(&gram, 0.7, theta), sum, 1e-12);
}

/* ---- solutions ------------------------------------------------------------------------------- */

static void the_start_does_not_matter(void **state)
{
    static struct rows rows;
    static struct hm_lasso lasso;
    double down[20][HM_LASSO_MAX] = {{0}}, penalties[20], b[HM_LASSO_MAX];

    (void)state;
    make_rows(&rows, 60, 12, 0);
    for (size_t i = 0; i < rows.count; i++) /* Make the terms strongly correlated. */
        for (size_t j = 1; j < 12; j++)
            rows.x[i][j] = rows.x[i][0] + 0.01 * rows.x[i][j];
    make_lasso(&rows, &lasso);
    hm__lasso_penalties(hm__lasso_penalty_max(&lasso), 1e-4, 20, penalties);
    assert_near(penalties[19], 1e-4 * penalties[0], 1e-13);
    assert_near(penalties[1] / penalties[0], penalties[11] / penalties[10], 1e-13);
    for (size_t p = 0; p < 20; p++) {
        memcpy(down[p], down[p ? p - 1 : 0], sizeof(down[p]));
        hm__lasso_solve(&lasso, penalties[p], 1e-13, down[p]);
    }
    for (size_t j = 0; j < 12; j++)
        b[j] = 100 * made(5, j);
    for (size_t p = 20; p-- > 0;) {
        /* Coefficients that are 100 times the deviation and cancel each other give a gap of about
         * 100^2 rounding errors. */
        assert_true(hm__lasso_solve(&lasso, penalties[p], 1e-13, b) <= 1e-11);
        assert_close(b, down[p], 12, 1e-8 * sqrt(lasso.y_variance), __LINE__);
    }
    for (size_t j = 0; j < 12; j++)
        assert_true(b[j] == 0); /* At the largest penalty no term enters. */
}

/* If terms are sums of other terms, the predictions are unique, but the coefficients are not. */
static void terms_that_depend_on_others(void **state)
{
    static struct rows rows;
    static struct plain plain;
    static struct hm_lasso lasso;
    double penalties[30], b[HM_LASSO_MAX];

    (void)state;
    make_rows(&rows, 20, 32, 0);
    for (size_t i = 0; i < rows.count; i++) {
        rows.x[i][1] = rows.x[i][0];
        rows.x[i][2] = 3 - 2 * rows.x[i][0];
        rows.x[i][3] = rows.x[i][4] + rows.x[i][5];
    }
    standardise(&rows, &plain);
    make_lasso(&rows, &lasso);
    hm__lasso_penalties(hm__lasso_penalty_max(&lasso), 1e-4, 30, penalties);
    for (size_t start = 0; start < 3; start++) {
        for (size_t j = 0; j < 32; j++)
            b[j] = (double)start * made(start, j);
        for (size_t p = 0; p < 30; p++) {
            assert_true(hm__lasso_solve(&lasso, penalties[p], 1e-12, b) <= 1e-12);
            assert_optimal(&rows, &plain, penalties[p], b);
        }
    }
}

/* The terms are powers of i, whose correlation matrix is nearly singular. */
static void terms_that_almost_depend_on_others(void **state)
{
    static struct rows rows;
    static struct plain plain;
    static struct hm_lasso lasso;
    double penalties[100], b[HM_LASSO_MAX] = {0};

    (void)state;
    make_rows(&rows, 100, 20, 0);
    for (size_t i = 0; i < rows.count; i++) {
        rows.y[i] = 3 / (double)(i + 1) + 0.001 * made(i, 1);
        for (size_t j = 0; j < 20; j++)
            rows.x[i][j] = pow((double)(i + 1), ((double)j - 9.5) / 5);
    }
    standardise(&rows, &plain);
    make_lasso(&rows, &lasso);
    hm__lasso_penalties(hm__lasso_penalty_max(&lasso), 1e-6, 100, penalties);
    for (size_t p = 0; p < 100; p++) {
        assert_true(hm__lasso_solve(&lasso, penalties[p], 1e-12, b) <= 1e-12);
        assert_optimal(&rows, &plain, penalties[p], b);
    }
}

/* The terms are copies of one term with decreasing differences, down to 0. */
static void terms_that_are_almost_alike(void **state)
{
    static struct rows rows;
    static struct plain plain;
    static struct hm_lasso lasso;
    double penalties[20];

    (void)state;
    for (double noise = 1; noise > 1e-18; noise /= 4) {
        double b[HM_LASSO_MAX] = {0};
        make_rows(&rows, 13, 6, 0);
        for (size_t i = 0; i < rows.count; i++) {
            rows.y[i] = 0;
            for (size_t j = 0; j < 6; j++) {
                rows.x[i][j] = made(i, 20) + noise * made(i, j);
                rows.y[i] += made(1, j) * rows.x[i][j] + 0.01 * made(i, 30);
            }
        }
        standardise(&rows, &plain);
        make_lasso(&rows, &lasso);
        hm__lasso_penalties(hm__lasso_penalty_max(&lasso), 1e-5, 20, penalties);
        for (size_t p = 0; p < 20; p++) {
            assert_true(hm__lasso_solve(&lasso, penalties[p], 1e-11, b) <= 1e-11);
            assert_optimal(&rows, &plain, penalties[p], b);
        }
    }
}

static void a_term_that_does_not_vary_never_enters(void **state)
{
    static struct rows with, without;
    static struct hm_lasso a, b;
    double first[3] = {0, 5, 0}, second[2] = {0}, theta[3], intercept;

    (void)state;
    make_rows(&without, 40, 2, 1);
    with = without;
    with.terms = 3;
    for (size_t i = 0; i < with.count; i++) {
        with.x[i][2] = with.x[i][1];
        with.x[i][1] = 0.1 + 0.2 * (double)(i % 2) * 1e-16; /* The term varies only by rounding. */
    }
    make_lasso(&with, &a);
    make_lasso(&without, &b);
    assert_true(a.scale[1] == 0 && a.d[1] == 0 && a.c[1][1] == 0);
    assert_true(a.c[0][1] == 0 && a.c[1][0] == 0 && a.c[1][2] == 0);
    hm__lasso_solve(&a, 0.01, 1e-13, first);
    hm__lasso_solve(&b, 0.01, 1e-13, second);
    assert_true(first[1] == 0 && first[0] == second[0] && first[2] == second[1]);
    hm__lasso_unscale(&a, first, &intercept, theta);
    assert_true(theta[1] == 0);
    assert_near(intercept + theta[0] * a.mean[0] + theta[2] * a.mean[2], a.y_mean, 1e-14);
}

static void a_y_that_does_not_vary_needs_no_term(void **state)
{
    static struct rows rows;
    static struct hm_lasso lasso;
    double b[3] = {1, 2, 3}, theta[3], intercept;

    (void)state;
    make_rows(&rows, 10, 3, 0);
    for (size_t i = 0; i < rows.count; i++)
        rows.y[i] = 0.3;
    make_lasso(&rows, &lasso);
    assert_true(lasso.y_variance == 0 && hm__lasso_penalty_max(&lasso) == 0);
    assert_true(hm__lasso_solve(&lasso, 0.1, 1e-12, b) == 0);
    hm__lasso_unscale(&lasso, b, &intercept, theta);
    assert_true(intercept == 0.3 && theta[0] == 0 && theta[1] == 0 && theta[2] == 0);
}

/* ---- choice of a penalty, computed by hand --------------------------------------------------- */

/*
 * Each fold has the rows (-1, -a) and (1, a). The coefficient fitted to the other folds is the mean
 * of their a minus the penalty, and the error is the squared difference from a. With a = 2, 3, 4, 3
 * and penalties 3, 3/2, 3/4, 3/8 the errors at the last penalty are (529, 81, 1681, 81)/576, with
 * the mean 593/576 and the standard error 0.65578. At 3/4 the mean is 1.45139, which is within one
 * standard error of the smallest; at 3/2 it is 3.13889, which is not.
 */
static void fold_by_hand(struct hm_gram *gram, double a)
{
    hm__gram_init(gram, 1);
    hm__gram_add(gram, (double[]){-1}, -a, 1);
    hm__gram_add(gram, (double[]){1}, a, 1);
}

static void the_largest_penalty_within_one_standard_error(void **state)
{
    static const double as[] = {2, 3, 4, 3};
    static const bool held[] = {true, true, true, true};
    struct hm_gram folds[4];
    struct hm_lasso_choice choice;

    (void)state;
    for (size_t f = 0; f < 4; f++)
        fold_by_hand(&folds[f], as[f]);
    assert_int_equal(hm__lasso_choose(folds, held, 4, 4, 0.125, 1e-13, &choice, NULL, NULL), 0);
    assert_int_equal(choice.penalty_count, 4);
    assert_near(choice.penalties[0], 3, 1e-14);
    assert_near(choice.penalties[2], 0.75, 1e-14);
    assert_near(choice.mean[3], 593.0 / 576, 1e-12);
    assert_near(choice.error[3], sqrt(1712128.0 / 12) / 576, 1e-12);
    assert_near(choice.mean[2], 418.0 / 288, 1e-12);
    assert_near(choice.mean[1], 3.0 + 5.0 / 36, 1e-12);
    assert_int_equal(choice.least, 3);
    assert_int_equal(choice.chosen, 2);
}

/* Folds that are never held out are included in the means, but not in the errors. */
static void folds_that_stay_in(void **state)
{
    static const double as[] = {2, 3, 4, 3};
    static const bool held[] = {true, false, true, false};
    struct hm_gram folds[4];
    struct hm_lasso_choice choice;
    double errors[8];

    (void)state;
    for (size_t f = 0; f < 4; f++)
        fold_by_hand(&folds[f], as[f]);
    assert_int_equal(hm__lasso_choose(folds, held, 4, 2, 0.5, 1e-13, &choice, errors, NULL), 0);
    assert_true(isnan(errors[2]) && isnan(errors[3]) && isnan(errors[6]) && isnan(errors[7]));
    assert_near(errors[0], 25.0 / 9, 1e-12); /* The coefficient is 10/3 - 3, and a is 2. */
    assert_near(errors[1], 1.0 / 36, 1e-12);
    assert_near(errors[4], 16, 1e-12);
    assert_near(errors[5], 289.0 / 36, 1e-12);
    assert_near(choice.mean[1], 290.0 / 72, 1e-12);
    assert_near(choice.error[1], 4, 1e-12);
    assert_int_equal(choice.least, 1);
    assert_int_equal(choice.chosen, 1); /* 9.39 > 8.03 */
}

/* Without variation no term enters at any penalty, and the call succeeds. */
static void folds_in_which_nothing_varies(void **state)
{
    static const bool held[] = {true, true};
    struct hm_gram folds[2];
    struct hm_lasso_choice choice;

    (void)state;
    for (size_t f = 0; f < 2; f++) {
        hm__gram_init(&folds[f], 1);
        hm__gram_add(&folds[f], (double[]){5}, (double)f, 1);
    }
    assert_int_equal(hm__lasso_choose(folds, held, 2, 10, 0.01, 1e-12, &choice, NULL, NULL), 0);
    assert_int_equal(choice.chosen, 0);
    assert_near(choice.mean[9], 1, 0);
}

static void impossible_choices_are_refused(void **state)
{
    static const bool held[HM_LASSO_FOLDS + 1] = {true, true};
    static const struct {
        size_t folds, penalties;
        double least;
        const char *message;
    } rows[] = {
        {2, 0, 0.1, "penalties: 0 is not from 1 to 100"},
        {2, 101, 0.1, "penalties: 101 is not from 1 to 100"},
        {2, 9, 0, "least penalty: 0 is not above 0 and at most 1"},
        {2, 9, NAN, "least penalty: nan is not above 0 and at most 1"},
        {HM_LASSO_FOLDS + 1, 9, 0.1, "folds: 65 is more than 64"},
        {2, 9, 0.1, "fold 2 has no rows to hold out"},
        {1, 9, 0.1, "folds to hold out: 1, but the error of a mean needs at least 2"},
        {0, 9, 0.1, "folds to hold out: 0, but the error of a mean needs at least 2"},
    };
    static struct hm_gram folds[HM_LASSO_FOLDS + 1];
    struct hm_lasso_choice choice = {.chosen = 12345};

    (void)state;
    hm__gram_add(&folds[0], (double[]){0}, 1, 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_err err = {0};
        assert_int_equal(hm__lasso_choose(folds, held, rows[i].folds, rows[i].penalties,
                                          rows[i].least, 1e-12, &choice, NULL, &err),
                         HM_E_RANGE);
        assert_string_equal(err.message, rows[i].message);
    }
    assert_int_equal(choice.chosen, 12345);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_agree_with_scikit_learn),
        cmocka_unit_test(cross_validation_agrees_with_scikit_learn),
        cmocka_unit_test(means_that_are_large_cost_no_digits),
        cmocka_unit_test(sets_of_rows_are_joined_and_taken_away),
        cmocka_unit_test(weights_count_rows),
        cmocka_unit_test(errors_are_those_of_the_rows),
        cmocka_unit_test(the_start_does_not_matter),
        cmocka_unit_test(terms_that_depend_on_others),
        cmocka_unit_test(terms_that_almost_depend_on_others),
        cmocka_unit_test(terms_that_are_almost_alike),
        cmocka_unit_test(a_term_that_does_not_vary_never_enters),
        cmocka_unit_test(a_y_that_does_not_vary_needs_no_term),
        cmocka_unit_test(the_largest_penalty_within_one_standard_error),
        cmocka_unit_test(folds_that_stay_in),
        cmocka_unit_test(folds_in_which_nothing_varies),
        cmocka_unit_test(impossible_choices_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
