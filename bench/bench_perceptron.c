/*
 * Cost of a training step of a perceptron (784 features, 128 hidden, 10 classes) compared with its
 * matrix products: steps of eval and a plain update of the weights in double precision, on batches
 * of rows in random order, in flop/s; and the same products alone, alternating with the steps. The
 * ratio is that of the medians; both count only the flop of the products.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "blas.h"
#include "perceptron.h"
#include "random.h"

enum { ROWS = 20000, FEATURES = 784, HIDDEN = 128, CLASSES = 10, ROUNDS = 41 };

static double wall_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *alloc_or_exit(size_t count, size_t size)
{
    void *p = calloc(count, size);

    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return p;
}

static void rows_make(struct hm_rows *rows)
{
    struct hm_random random;

    hm__random_init(&random, 1, 1);
    *rows = (struct hm_rows){.count = ROWS, .features = FEATURES};
    rows->values = alloc_or_exit((size_t)ROWS * FEATURES, sizeof(double));
    rows->labels = alloc_or_exit(ROWS, sizeof(double));
    /* A fifth of the values is not 0, as in MNIST. */
    for (size_t i = 0; i < (size_t)ROWS * FEATURES; i++)
        rows->values[i] = hm__random_u32(&random) % 5 ? 0 : hm__random_uniform(&random);
    for (size_t i = 0; i < ROWS; i++)
        rows->labels[i] = hm__random_below(&random, CLASSES);
}

static void list_make(uint32_t *list)
{
    struct hm_random random;

    hm__random_init(&random, 1, 2);
    for (uint32_t i = 0; i < ROWS; i++)
        list[i] = i;
    for (uint32_t i = ROWS; i > 1; i--) {
        uint32_t other = hm__random_below(&random, i), kept = list[i - 1];
        list[i - 1] = list[other];
        list[other] = kept;
    }
}

static int compare_seconds(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare_seconds);
    return values[count / 2];
}

struct matrices {
    float *x, *hidden, *z, *w1, *w2, *g1, *g2;
};

/* The matrix products of one step. */
static void run_products(const struct matrices *f, size_t m)
{
    hm__gemm_best(false, false, m, HIDDEN, FEATURES, 1, f->x, FEATURES, f->w1, HIDDEN, 0, f->hidden,
                  HIDDEN);
    hm__gemm_best(false, false, m, CLASSES, HIDDEN, 1, f->hidden, HIDDEN, f->w2, CLASSES, 0, f->z,
                  CLASSES);
    hm__gemm_best(true, false, HIDDEN, CLASSES, m, 1, f->hidden, HIDDEN, f->z, CLASSES, 0, f->g2,
                  CLASSES);
    hm__gemm_best(false, true, m, HIDDEN, CLASSES, 1, f->z, CLASSES, f->w2, CLASSES, 0, f->hidden,
                  HIDDEN);
    hm__gemm_best(true, false, FEATURES, HIDDEN, m, 1, f->x, FEATURES, f->hidden, HIDDEN, 0, f->g1,
                  HIDDEN);
}

static void run_step(struct hm_objective *o, double *w, double *g, const uint32_t *list, size_t m)
{
    const double rate = 0.01 / (double)m;

    memset(g, 0, o->unknowns * sizeof(*g));
    o->ops->eval(o, w, list, m, g, NULL);
    for (size_t i = 0; i < o->unknowns; i++)
        w[i] -= rate * g[i];
}

static void measure(struct hm_objective *o, const uint32_t *list, size_t m, const char *what)
{
    const double flop = 2 * (double)m * (2. * FEATURES * HIDDEN + 3. * HIDDEN * CLASSES);
    const size_t steps = (size_t)(1e9 / flop) + 1;
    struct matrices f = {alloc_or_exit(m * FEATURES, 4), alloc_or_exit(m * HIDDEN, 4),
                         alloc_or_exit(m * CLASSES, 4),  alloc_or_exit(FEATURES * HIDDEN, 4),
                         alloc_or_exit(HIDDEN, 40),      alloc_or_exit(FEATURES * HIDDEN, 4),
                         alloc_or_exit(HIDDEN, 40)};
    double *w = alloc_or_exit(o->unknowns, sizeof(*w)), *g = alloc_or_exit(o->unknowns, sizeof(*g));
    double alone[ROUNDS], whole[ROUNDS];
    size_t at = 0;

    hm__perceptron_start(o, w, 1);
    for (size_t i = 0; i < (size_t)FEATURES * HIDDEN; i++)
        f.w1[i] = (float)w[i];
    for (size_t i = 0; i < m * FEATURES; i++)
        f.x[i] = (float)(i % 7) / 7;
    for (int round = 0; round < ROUNDS; round++) {
        double start = wall_seconds();
        for (size_t i = 0; i < steps; i++)
            run_products(&f, m);
        alone[round] = (wall_seconds() - start) / (double)steps;
        start = wall_seconds();
        for (size_t i = 0; i<steps; i++, at = at + 2 * m> ROWS ? 0 : at + m)
            run_step(o, w, g, list + at, m);
        whole[round] = (wall_seconds() - start) / (double)steps;
    }
    double a = median(alone, ROUNDS), b = median(whole, ROUNDS);
    printf("%-8s batch %4zu: step %8.1f us %7.2f Gflop/s, products %8.1f us %7.2f Gflop/s, "
           "ratio %.2f   (aim: 0.70)\n",
           what, m, 1e6 * b, 1e-9 * flop / b, 1e6 * a, 1e-9 * flop / a, a / b);
    void *all[] = {f.x, f.hidden, f.z, f.w1, f.w2, f.g1, f.g2, w, g};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        free(all[i]);
}

int main(void)
{
    static uint32_t list[ROWS];
    struct hm_err err = {0};

    hm__blas_start();
    printf("\nperceptron 784-128-10, one thread, %s\n", hm__blas_name());
    list_make(list);
    for (int activation = HM_ACTIVATION_SIGMOID; activation <= HM_ACTIVATION_RELU; activation++) {
        struct hm_perceptron_spec spec = {.hidden = {HIDDEN},
                                          .hidden_count = 1,
                                          .activation = (enum hm_activation)activation,
                                          .gemm = hm__gemm_best};
        struct hm_objective o = {.outputs = CLASSES, .arena = hm__arena_new()};
        rows_make(&o.rows);
        if (!o.arena || hm__perceptron_init(&o, &spec, &err)) {
            fprintf(stderr, "%s\n", err.message);
            return 1;
        }
        for (size_t m = 128; m <= 512; m *= 4)
            measure(&o, list, m, activation == HM_ACTIVATION_RELU ? "ReLU" : "sigmoid");
        free(o.rows.labels);
        hm__arena_free(o.arena);
    }
    return 0;
}
