/*
 * Compares perceptrons with references: losses and gradients by complex steps
 * (tools/oracle/perceptron.py); a second implementation here, in double precision, row by row,
 * which is itself checked by finite differences; and matrix products by three plain loops. Single
 * precision has a rounding error of 6e-8: compared values may differ by 3e-6 of their size, and by
 * more in the steep cases, whose z are in the hundreds.
 */
#include <float.h>

#include "blas.h"
#include "perceptron.h"
#include "random.h"
#include "testing.h"

/* ---- products ------------------------------------------------------------------------------- */

static void fill(struct hm_random *random, float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)hm__random_normal(random);
}

static float product_a[140 * 140], product_b[140 * 140], product_c[140 * 140];

static void fill_products(void)
{
    struct hm_random random;

    hm__random_init(&random, 1, 0);
    fill(&random, product_a, 140 * 140);
    fill(&random, product_b, 140 * 140);
    fill(&random, product_c, 140 * 140);
}

static void check_product(hm_gemm_fn *gemm, const size_t size[3], int transposes, float alpha,
                          float beta)
{
    static float c[140 * 140], before[140 * 140];
    const float *a = product_a, *b = product_b;
    const bool ta = transposes & 1, tb = transposes & 2;
    const size_t m = size[0], n = size[1], k = size[2];
    const size_t lda = (ta ? m : k) + 3, ldb = (tb ? k : n) + 2, ldc = n + 1;

    memcpy(c, product_c, sizeof(c));
    for (size_t i = 0; beta == 0 && i < m; i++) /* With beta = 0, C must not be read. */
        for (size_t j = 0; j < n; j++)
            c[i * ldc + j] = NAN;
    memcpy(before, c, sizeof(c));
    gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            double sum = 0, size_sum = 1;
            for (size_t p = 0; p < k; p++) {
                double term = (double)(ta ? a[p * lda + i] : a[i * lda + p]) *
                              (double)(tb ? b[j * ldb + p] : b[p * ldb + j]);
                sum += term;
                size_sum += fabs(term);
            }
            double wanted = alpha * sum + (beta == 0 ? 0 : beta * (double)before[i * ldc + j]);
            if (!(fabs((double)c[i * ldc + j] - wanted) <= 1e-6 * size_sum))
                fail_msg("%zu x %zu x %zu, %d: (%zu, %zu) is %g, not %g", m, n, k, transposes, i, j,
                         (double)c[i * ldc + j], wanted);
        }
        assert_true(c[i * ldc + n] == before[i * ldc + n]); /* Values outside C must not change. */
    }
}

static void test_products(void **state)
{
    static const size_t sizes[] = {1, 2, 7, 10, 64, 67, 130};
    const size_t count = sizeof(sizes) / sizeof(sizes[0]);

    (void)state;
    fill_products();
    hm__blas_start();
    assert_true(strlen(hm__blas_name()) > 0);
    for (size_t at = 0; at < count * count * count; at += is_torture() ? 1 : 5)
        for (int transposes = 0; transposes < 4; transposes++) {
            size_t size[] = {sizes[at % count], sizes[at / count % count],
                             sizes[at / count / count]};
            check_product(hm__gemm_plain, size, transposes, at % 2 ? 1.5F : 1, at % 3 ? 0 : 0.5F);
            check_product(hm__gemm_best, size, transposes, at % 2 ? 1.5F : 1, at % 3 ? 0 : 0.5F);
        }
}

/* ---- a second implementation, in double precision ------------------------------------------- */

enum { WIDE = 16, DEEP = HM_HIDDEN_MAX + 1 };

/* A network and its rows; these rows exist also after the objective has freed its own copy. */
struct net {
    struct hm_perceptron_spec spec;
    size_t features, outputs, rows, unknowns;
    /* `x` has rows x features values, `labels` has one value per row, and `w` has one value per
     * weight. */
    double *x, *labels, *w;
    struct hm_objective objective;
};

/* Returns the width of a layer; layer 0 is the input. */
static size_t width_of(const struct net *net, size_t layer)
{
    if (layer == 0)
        return net->features;
    return layer > net->spec.hidden_count ? net->outputs : net->spec.hidden[layer - 1];
}

static double activate(const struct net *net, double z)
{
    return net->spec.activation == HM_ACTIVATION_RELU ? fmax(z, 0) : 1 / (1 + exp(-z));
}

static double slope(const struct net *net, double a)
{
    return net->spec.activation == HM_ACTIVATION_RELU ? (a > 0 ? 1 : 0) : a * (1 - a);
}

/* Computes the values of all layers for one row; returns the loss of the row. */
static double ref_forward(const struct net *net, const double *w, size_t row,
                          double a[DEEP + 1][WIDE])
{
    const size_t layers = net->spec.hidden_count + 1;
    double top = -INFINITY, sum = 0;

    memcpy(a[0], net->x + row * net->features, net->features * sizeof(double));
    for (size_t l = 0; l < layers; l++) {
        size_t in = width_of(net, l), out = width_of(net, l + 1);
        for (size_t j = 0; j < out; j++) {
            double z = w[in * out + j];
            for (size_t i = 0; i < in; i++)
                z += a[l][i] * w[i * out + j];
            a[l + 1][j] = l + 1 < layers ? activate(net, z) : z;
        }
        w += (in + 1) * out;
    }
    for (size_t j = 0; j < net->outputs; j++)
        top = fmax(top, a[layers][j]);
    for (size_t j = 0; j < net->outputs; j++)
        sum += exp(a[layers][j] - top);
    double loss = log(sum) + top - a[layers][(size_t)net->labels[row]];
    /* Replace the values of the last layer by the gradient of the loss with respect to them. */
    for (size_t j = 0; j < net->outputs; j++)
        a[layers][j] = exp(a[layers][j] - top) / sum - (j == (size_t)net->labels[row]);
    return loss;
}

static double ref_row(const struct net *net, const double *w, size_t row, double *gradient)
{
    double a[DEEP + 1][WIDE], d[WIDE], loss = ref_forward(net, w, row, a);
    size_t at = net->unknowns;

    for (size_t l = net->spec.hidden_count + 1; gradient && l-- > 0;) {
        size_t in = width_of(net, l), out = width_of(net, l + 1);
        at -= (in + 1) * out;
        for (size_t i = 0; i < in; i++) {
            d[i] = 0;
            for (size_t j = 0; j < out; j++) {
                gradient[at + i * out + j] += a[l][i] * a[l + 1][j];
                d[i] += w[at + i * out + j] * a[l + 1][j];
            }
        }
        for (size_t j = 0; j < out; j++)
            gradient[at + in * out + j] += a[l + 1][j];
        for (size_t i = 0; l > 0 && i < in; i++)
            a[l][i] = d[i] * slope(net, a[l][i]);
    }
    return loss;
}

static double ref_eval(const struct net *net, const double *w, const uint32_t *list, size_t count,
                       double *gradient)
{
    double loss = 0;

    for (size_t i = 0; i < count; i++)
        loss += ref_row(net, w, list ? list[i] : i, gradient);
    return loss;
}

static double norm_of(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i] * values[i];
    return sqrt(sum);
}

/* ---- construction of networks --------------------------------------------------------------- */

static struct hm_rows rows_of(const struct net *net, bool sparse)
{
    const size_t values = net->rows * net->features;
    struct hm_rows rows = {.sparse = sparse, .features = net->features, .count = net->rows};

    rows.labels = calloc(net->rows + 1, sizeof(double));
    rows.values = calloc(values + 1, sizeof(double));
    memcpy(rows.labels, net->labels, net->rows * sizeof(double));
    if (!sparse) {
        memcpy(rows.values, net->x, values * sizeof(double));
        return rows;
    }
    rows.starts = calloc(net->rows + 1, sizeof(size_t));
    rows.columns = calloc(values + 1, sizeof(uint32_t));
    for (size_t i = 0, at = 0; i < net->rows; i++, rows.starts[i] = at)
        for (size_t j = 0; j < net->features; j++)
            if (net->x[i * net->features + j] != 0) {
                rows.columns[at] = (uint32_t)j;
                rows.values[at++] = net->x[i * net->features + j];
            }
    return rows;
}

static void rows_release(struct hm_rows *rows)
{
    free(rows->labels);
    free(rows->values);
    free(rows->starts);
    free(rows->columns);
}

static void net_alloc(struct net *net)
{
    for (size_t l = 0; l <= net->spec.hidden_count; l++)
        net->unknowns += (width_of(net, l) + 1) * width_of(net, l + 1);
    net->x = calloc(net->rows * net->features + 1, sizeof(double));
    net->labels = calloc(net->rows + 1, sizeof(double));
    net->w = calloc(net->unknowns, sizeof(double));
}

static void net_start(struct net *net, bool sparse)
{
    struct hm_objective *o = &net->objective;
    struct hm_err err = {0};

    *o = (struct hm_objective){.rows = rows_of(net, sparse),
                               .total_rows = (double)net->rows,
                               .outputs = net->outputs,
                               .arena = hm__arena_new()};
    if (hm__perceptron_init(o, &net->spec, &err))
        fail_msg("%s: %s", err.field, err.message);
    assert_int_equal(o->unknowns, net->unknowns);
    assert_int_equal(o->rows.count, net->rows);
    assert_int_equal(o->rows.features, net->features);
    assert_null(o->rows.values);
}

/* Makes random rows, in which two thirds of the values are not 0, and weights with biases that are
 * not 0. */
static void net_make(struct net *net, bool sparse, uint64_t seed)
{
    struct hm_random random;

    net_alloc(net);
    hm__random_init(&random, seed, 0);
    for (size_t i = 0; i < net->rows * net->features; i++)
        net->x[i] = hm__random_below(&random, 3) ? hm__random_normal(&random) : 0;
    for (size_t i = 0; i < net->rows; i++)
        net->labels[i] = hm__random_below(&random, (uint32_t)net->outputs);
    for (size_t k = 0; k < net->unknowns; k++)
        net->w[k] = 0.6 * hm__random_normal(&random);
    net_start(net, sparse);
}

static void net_release(struct net *net)
{
    rows_release(&net->objective.rows);
    hm__arena_free(net->objective.arena);
    free(net->x);
    free(net->labels);
    free(net->w);
}

static double eval(struct net *net, const uint32_t *list, size_t count, double *gradient)
{
    double flop;

    return net->objective.ops->eval(&net->objective, net->w, list, count, gradient, &flop);
}

static double right_of(struct net *net, const struct hm_rows *rows)
{
    return net->objective.ops->right(&net->objective, net->w, rows);
}

/* ---- gradients ------------------------------------------------------------------------------ */

static void check_differences(const struct net *net, const double *gradient)
{
    const double h = 1e-6, size = norm_of(gradient, net->unknowns);

    for (size_t k = 0; k < net->unknowns; k++) {
        double kept = net->w[k];
        net->w[k] = kept + h;
        double up = ref_eval(net, net->w, NULL, net->rows, NULL);
        net->w[k] = kept - h;
        double down = ref_eval(net, net->w, NULL, net->rows, NULL);
        net->w[k] = kept;
        if (fabs((up - down) / (2 * h) - gradient[k]) > 1e-7 * size)
            fail_msg("gradient[%zu] is %.12g, by differences %.12g", k, gradient[k],
                     (up - down) / (2 * h));
    }
}

/* Compares loss and gradient of some rows in both implementations; the gradient is added to
 * existing values. */
static void check_rows(struct net *net, const uint32_t *list, size_t count)
{
    double *wanted = calloc(net->unknowns, sizeof(double));
    double *got = calloc(net->unknowns, sizeof(double));
    double loss = ref_eval(net, net->w, list, count, wanted), size;

    size = norm_of(wanted, net->unknowns) + (double)count * FLT_EPSILON;
    got[0] = 1000;
    assert_near(eval(net, list, count, got), loss, 3e-6);
    got[0] -= 1000;
    for (size_t k = 0; k < net->unknowns; k++)
        got[k] -= wanted[k];
    if (norm_of(got, net->unknowns) > 3e-6 * size)
        fail_msg("the gradient is off by %g of %g", norm_of(got, net->unknowns), size);
    assert_near(eval(net, list, count, NULL), loss, 3e-6);
    free(wanted);
    free(got);
}

static void check_gradients(const struct net *shape, bool sparse, uint64_t seed)
{
    static const uint32_t mixed[] = {5, 0, 19, 19, 7}, adjoining[] = {3, 4, 5, 6}, one[] = {11};
    struct net net = *shape;
    double *gradient;

    net_make(&net, sparse, seed);
    gradient = calloc(net.unknowns, sizeof(double));
    ref_eval(&net, net.w, NULL, net.rows, gradient);
    check_differences(&net, gradient);
    check_rows(&net, NULL, net.rows);
    check_rows(&net, NULL, 4);
    check_rows(&net, mixed, 5);
    check_rows(&net, adjoining, 4);
    check_rows(&net, one, 1);
    free(gradient);
    net_release(&net);
}

static void test_gradients(void **state)
{
    (void)state;
    for (size_t depth = 0; depth <= 4; depth++)
        for (int kind = 0; kind < 8; kind++) {
            struct net net = {.features = 7, .outputs = 2 + depth, .rows = 20};
            net.spec = (struct hm_perceptron_spec){.hidden = {9, 5, 6, 1},
                                                   .hidden_count = depth,
                                                   .gemm = kind & 4 ? hm__gemm_best : NULL};
            net.spec.activation = kind & 1 ? HM_ACTIVATION_RELU : HM_ACTIVATION_SIGMOID;
            if (depth == 4) /* In deep ReLU networks a neuron may be inactive for all rows. */
                net.spec.activation = HM_ACTIVATION_SIGMOID;
            check_gradients(&net, kind & 2, 10 * depth + (uint64_t)kind % 4);
        }
}

/* There are more rows than a block has; they are evaluated in order, by a list, and a few at a
 * time. */
static void test_blocks(void **state)
{
    struct net net = {.features = 6, .outputs = 3, .rows = 1300};
    uint32_t list[1300];
    double whole, parts = 0;

    (void)state;
    net.spec = (struct hm_perceptron_spec){.hidden = {8}, .hidden_count = 1};
    net_make(&net, false, 3);
    for (uint32_t i = 0; i < 1300; i++)
        list[i] = 1299 - i;
    check_rows(&net, NULL, 1300);
    check_rows(&net, list, 1300);
    whole = eval(&net, NULL, 1300, NULL);
    for (uint32_t i = 0; i < 1300; i += 100)
        parts += eval(&net, list + i, 100, NULL);
    assert_near(parts, whole, 1e-7);
    net_release(&net);
}

static void test_sparse_is_dense(void **state)
{
    struct net net[2];
    double gradient[2][256] = {{0}};

    (void)state;
    for (int i = 0; i < 2; i++) {
        net[i] = (struct net){.features = 9, .outputs = 4, .rows = 60};
        net[i].spec = (struct hm_perceptron_spec){
            .hidden = {7}, .hidden_count = 1, .activation = HM_ACTIVATION_RELU};
        net_make(&net[i], i, 4);
        eval(&net[i], NULL, 60, gradient[i]);
    }
    /* Repeating the evaluation must give the same bits. */
    assert_memory_equal(gradient[0], gradient[1], sizeof(gradient[0]));
    for (int i = 0; i < 2; i++)
        net_release(&net[i]);
}

/* ---- cases of the oracle -------------------------------------------------------------------- */

static void oracle_make(struct net *net, const char *line, double *ret_scale)
{
    char activation[16], hidden[32], *end = hidden;
    double scale;

    *net = (struct net){.rows = 0};
    assert_int_equal(sscanf(line, "case %*s %15s %zu %31s %zu %zu %lf", activation, &net->features,
                            hidden, &net->outputs, &net->rows, &scale),
                     6);
    net->spec.activation =
        strcmp(activation, "relu") == 0 ? HM_ACTIVATION_RELU : HM_ACTIVATION_SIGMOID;
    for (char *at = hidden; *at && *at != '-'; at = *end ? end + 1 : end)
        net->spec.hidden[net->spec.hidden_count++] = strtoul(at, &end, 10);
    net_alloc(net);
    for (size_t row = 0; row < net->rows; row++) {
        double i = (double)row;
        for (size_t column = 0; column < net->features; column++) {
            double j = (double)column;
            net->x[row * net->features + column] = sin(0.7 + 1.3 * i + 2.1 * j + 0.05 * i * j);
        }
        net->labels[row] = (double)((7 * row + row * row) % net->outputs);
    }
    for (size_t at = 0; at < net->unknowns; at++) {
        double k = (double)at;
        net->w[at] = scale * sin(0.4 + 1.7 * k + 0.01 * pow(k, 1.5));
    }
    net_start(net, false);
    *ret_scale = scale;
}

static void oracle_check(struct net *net, double scale, FILE *file, const char *name)
{
    const char *what[] = {"loss", "norm", "along", "right"};
    double got[4] = {0}, wanted[4], *gradient = calloc(net->unknowns, sizeof(double));
    char line[256];

    got[0] = eval(net, NULL, net->rows, gradient);
    got[1] = norm_of(gradient, net->unknowns);
    for (size_t k = 0; k < net->unknowns; k++)
        got[2] += gradient[k] * cos(0.3 + 0.9 * (double)k);
    got[3] = right_of(net, &net->objective.rows);
    for (int i = 0; i < 4; i++) {
        assert_true(next_line(file, line, sizeof(line)));
        assert_memory_equal(line, what[i], strlen(what[i]));
        wanted[i] = strtod(line + strlen(what[i]), NULL);
        /* The derivative along the direction is compared relative to the norm of the gradient. */
        double size = i == 2 ? wanted[1] : wanted[i];
        double allowed = i == 3 ? 0 : 3e-6 * fmax(1, scale) * size;
        if (fabs(got[i] - wanted[i]) > allowed)
            fail_msg("%s: %s is %.9g, not %.9g", name, what[i], got[i], wanted[i]);
    }
    free(gradient);
}

static void test_oracle(void **state)
{
    FILE *file = open_source("tests/data/perceptron.tsv");
    char line[256];
    int cases = 0;

    (void)state;
    for (; next_line(file, line, sizeof(line)); cases++) {
        struct net net;
        double scale;
        oracle_make(&net, line, &scale);
        oracle_check(&net, scale, file, line);
        net_release(&net);
    }
    fclose(file);
    assert_int_equal(cases, 12);
}

/* ---- edge cases ----------------------------------------------------------------------------- */

static void test_no_rows(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        struct net net = {.features = 3, .outputs = 2};
        double gradient[64] = {1}, flop = 1;
        net.spec = (struct hm_perceptron_spec){.hidden = {4}, .hidden_count = 1};
        net_make(&net, sparse, 1);
        assert_true(net.objective.ops->eval(&net.objective, net.w, NULL, 0, gradient, &flop) == 0);
        assert_true(flop == 0 && gradient[0] == 1 && gradient[1] == 0);
        assert_true(right_of(&net, &net.objective.rows) == 0);
        net_release(&net);
    }
}

/* A network with one feature and two classes, one of which has no rows. */
static void test_small(void **state)
{
    struct net net = {.features = 1, .outputs = 2, .rows = 6};

    (void)state;
    net.spec = (struct hm_perceptron_spec){
        .hidden = {3}, .hidden_count = 1, .activation = HM_ACTIVATION_RELU};
    net_make(&net, false, 6);
    for (size_t i = 0; i < net.rows; i++)
        net.labels[i] = net.objective.rows.labels[i] = 1;
    check_rows(&net, NULL, 6);
    net_release(&net);
}

/* Weights of any size must give finite values; NaN must not be hidden. */
static void test_extremes(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        struct net net = {.features = 4, .outputs = 3, .rows = 30};
        double gradient[64] = {0};
        net.spec = (struct hm_perceptron_spec){
            .hidden = {6}, .hidden_count = 1, .activation = (enum hm_activation)kind};
        net_make(&net, false, 8);
        for (double scale = 1e-30; scale < 1e16; scale *= 1e5) {
            for (size_t k = 0; k < net.unknowns; k++)
                net.w[k] = scale * sin(1 + (double)k);
            assert_true(isfinite(eval(&net, NULL, 30, gradient)));
            assert_true(isfinite(norm_of(gradient, net.unknowns)));
        }
        net.w[3] = NAN;
        assert_true(isnan(eval(&net, NULL, 30, gradient)));
        net_release(&net);
    }
}

/* The test rows are not the objective's own rows: they are dense or sparse, with fewer or more
 * columns. */
static void test_right(void **state)
{
    struct net net = {.features = 5, .outputs = 3, .rows = 700}, more;

    (void)state;
    net.spec = (struct hm_perceptron_spec){.hidden = {6}, .hidden_count = 1};
    net_make(&net, false, 9);
    double wanted = right_of(&net, &net.objective.rows);
    assert_true(wanted > 100 && wanted < 600);
    more = net;
    more.features = 7;
    more.x = calloc(more.rows * more.features, sizeof(double));
    for (size_t i = 0; i < more.rows; i++)
        for (size_t j = 0; j < more.features; j++)
            more.x[i * more.features + j] = j < 5 ? net.x[i * 5 + j] : 99;
    for (int sparse = 0; sparse < 2; sparse++) {
        struct hm_rows rows = rows_of(&net, sparse), wider = rows_of(&more, sparse);
        assert_true(right_of(&net, &rows) == wanted);
        assert_true(right_of(&net, &wider) == wanted);
        rows_release(&rows);
        rows_release(&wider);
    }
    more.features = 3; /* Columns that the test rows do not have count as 0. */
    for (size_t i = 0; i < more.rows; i++)
        for (size_t j = 0; j < 3; j++)
            more.x[i * 3 + j] = net.x[i * 5 + j];
    struct hm_rows dense = rows_of(&more, false), sparse = rows_of(&more, true);
    assert_true(right_of(&net, &dense) == right_of(&net, &sparse));
    rows_release(&dense);
    rows_release(&sparse);
    free(more.x);
    net_release(&net);
}

static void test_start(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        struct net net = {.features = 300, .outputs = 2};
        net.spec = (struct hm_perceptron_spec){
            .hidden = {100}, .hidden_count = 1, .activation = (enum hm_activation)kind};
        net_make(&net, false, 1);
        hm__perceptron_start(&net.objective, net.w, 7);
        double variance = pow(norm_of(net.w, 30000), 2) / 30000, first = net.w[0];
        assert_near(variance, kind == HM_ACTIVATION_RELU ? 2. / 300 : 2. / 400, 0.03);
        assert_true(norm_of(net.w + 30000, 100) == 0 && norm_of(net.w + 30300, 2) == 0);
        /* The layers use different random numbers. */
        assert_true(net.w[0] / net.w[30100] != net.w[1] / net.w[30101]);
        hm__perceptron_start(&net.objective, net.w, 8);
        assert_true(net.w[0] != first);
        hm__perceptron_start(&net.objective, net.w, 7);
        assert_true(net.w[0] == first);
        net_release(&net);
    }
}

/* The number of operations is 2 m n k for each product, except the input gradient of the first
 * layer, plus a small remainder. */
static void test_flop(void **state)
{
    struct net net = {.features = 200, .outputs = 10, .rows = 100};
    double forward = 2. * 100 * (200 * 80 + 80 * 10), flop, *gradient = calloc(20000, 8);
    double backward = forward + 2. * 100 * 80 * 10;

    (void)state;
    net.spec = (struct hm_perceptron_spec){.hidden = {80}, .hidden_count = 1};
    net_make(&net, false, 1);
    net.objective.ops->eval(&net.objective, net.w, NULL, 100, NULL, &flop);
    assert_true(flop > forward && flop < 1.05 * forward);
    net.objective.ops->eval(&net.objective, net.w, NULL, 100, gradient, &flop);
    assert_true(flop > forward + backward && flop < 1.05 * (forward + backward));
    free(gradient);
    net_release(&net);
}

/* The network learns exclusive or, which no linear function can represent. */
static void test_learns(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        struct net net = {.features = 2, .outputs = 2, .rows = 4};
        net.spec = (struct hm_perceptron_spec){
            .hidden = {8}, .hidden_count = 1, .activation = (enum hm_activation)kind};
        net_alloc(&net);
        for (size_t i = 0; i < 4; i++) {
            net.x[2 * i] = (double)(i & 1);
            net.x[2 * i + 1] = (double)(i >> 1);
            net.labels[i] = (double)((i & 1) ^ (i >> 1));
        }
        net_start(&net, false);
        hm__perceptron_start(&net.objective, net.w, 1);
        for (int step = 0; step < 3000; step++) {
            double gradient[64] = {0};
            eval(&net, NULL, 4, gradient);
            for (size_t k = 0; k < net.unknowns; k++)
                net.w[k] -= 0.2 * gradient[k];
        }
        assert_true(right_of(&net, &net.objective.rows) == 4);
        assert_true(eval(&net, NULL, 4, NULL) < 0.1);
        net_release(&net);
    }
}

/* ---- failures ------------------------------------------------------------------------------- */

static void expect_refusal(struct net net, double label, const char *field, const char *message)
{
    struct hm_err err = {0};

    net_alloc(&net);
    net.labels[1] = label;
    struct hm_objective o = {.rows = rows_of(&net, false), .outputs = net.outputs};
    o.arena = hm__arena_new();
    assert_true(hm__perceptron_init(&o, &net.spec, &err) < 0);
    assert_string_equal(err.field, field);
    if (!strstr(err.message, message))
        fail_msg("'%s' says nothing of '%s'", err.message, message);
    assert_true(o.rows.values && !o.ops && !o.state);
    net.objective = o;
    net_release(&net);
}

static void test_refusals(void **state)
{
    const struct net fine = {
        .spec = {.hidden = {3}, .hidden_count = 1}, .features = 2, .outputs = 3, .rows = 4};
    struct net net = fine;

    (void)state;
    expect_refusal(net, 3, "labels", "the label 3 of row 2 is not a whole number from 0 to 2");
    expect_refusal(net, 0.5, "labels", "0.5");
    expect_refusal(net, -1, "labels", "-1");
    expect_refusal(net, NAN, "labels", "nan");
    net.outputs = 1;
    expect_refusal(net, 0, "outputs", "1 classes are fewer than 2");
    net = fine;
    net.spec.hidden[0] = 0;
    expect_refusal(net, 0, "hidden", "0 is not from 1 to 1048576");
    net = fine;
    net.features = 0;
    expect_refusal(net, 0, "features", "0 is not from 1");
    net = fine;
    net.spec.hidden_count = 9;
    struct hm_objective o = {.rows = {.features = 1}, .outputs = 2};
    struct hm_err err = {0};
    assert_int_equal(hm__perceptron_init(&o, &net.spec, &err), HM_E_LIMIT);
    assert_string_equal(err.field, "hidden");
}

static void test_nomem(void **state)
{
    struct net net = {.features = 500, .outputs = 3, .rows = 100};
    int failures = 0;

    (void)state;
    net.spec = (struct hm_perceptron_spec){.hidden = {30, 20}, .hidden_count = 2};
    net_alloc(&net);
    for (long after = 0;; after++, failures++) {
        struct hm_objective o = {.rows = rows_of(&net, after % 2), .outputs = 3};
        struct hm_err err = {0};
        o.arena = hm__arena_new();
        hm__alloc_fail_after(after);
        int rc = hm__perceptron_init(&o, &net.spec, &err);
        hm__alloc_fail_after(-1);
        bool kept = o.rows.values && o.rows.labels;
        rows_release(&o.rows);
        hm__arena_free(o.arena);
        if (rc == 0)
            break;
        assert_int_equal(rc, HM_E_NOMEM);
        assert_true(kept && !o.state);
    }
    assert_true(failures >= 5);
    free(net.x);
    free(net.labels);
    free(net.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products), cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_blocks),   cmocka_unit_test(test_sparse_is_dense),
        cmocka_unit_test(test_oracle),   cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_small),    cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_right),    cmocka_unit_test(test_start),
        cmocka_unit_test(test_flop),     cmocka_unit_test(test_learns),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_nomem),
    };
    return cmocka_run_group_tests_name("perceptron", tests, NULL, NULL);
}
