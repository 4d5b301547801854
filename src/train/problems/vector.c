/*
 * Implements loops over vectors. Sums are computed as interleaved partial sums, two per vector
 * register. The order of the additions is written out, so that it does not depend on the compiler
 * or the machine.
 */
#include "vector.h"

typedef double unaligned_pair __attribute__((vector_size(16), aligned(8), may_alias));

static unaligned_pair pair_load(const double *p)
{
    return *(const unaligned_pair *)(const void *)p;
}

double hm__dot(const double *a, const double *b, size_t count)
{
    unaligned_pair s = {0}, t = {0}, u = {0}, v = {0};
    size_t i = 0;
    double rest = 0;

    for (; i + 8 <= count; i += 8) {
        s += pair_load(a + i) * pair_load(b + i);
        t += pair_load(a + i + 2) * pair_load(b + i + 2);
        u += pair_load(a + i + 4) * pair_load(b + i + 4);
        v += pair_load(a + i + 6) * pair_load(b + i + 6);
    }
    for (; i < count; i++)
        rest += a[i] * b[i];
    s = (s + t) + (u + v);
    return s[0] + s[1] + rest;
}

void hm__axpy(double factor, const double *a, double *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        b[i] += factor * a[i];
}

/*
 * Partial sums of the dot products of four rows and the weights w, in two registers for each row.
 */
struct four_sums {
    unaligned_pair s[4], t[4];
};

/*
 * Adds the products of row values and weights in columns `from` to `to` - 1; both bounds must be
 * multiples of 4.
 */
static void four_add_products(struct four_sums *sums, const double *const x[4], const double *w,
                              size_t from, size_t to)
{
    struct four_sums f = *sums; /* A local copy of *sums can stay in registers during the loop. */

    for (size_t i = from; i < to; i += 4) {
        unaligned_pair v = pair_load(w + i), u = pair_load(w + i + 2);
        for (size_t k = 0; k < 4; k++) {
            f.s[k] += pair_load(x[k] + i) * v;
            f.t[k] += pair_load(x[k] + i + 2) * u;
        }
    }
    *sums = f;
}

/*
 * Adds the products of row values and weights in the last columns, `from` to `count` - 1, and
 * combines the partial sums.
 */
static void four_finish(const struct four_sums *sums, const double *const x[4], const double *w,
                        size_t from, size_t count, double dots[4])
{
    for (size_t k = 0; k < 4; k++) {
        double rest = 0;
        for (size_t j = from; j < count; j++)
            rest += x[k][j] * w[j];
        unaligned_pair s = sums->s[k] + sums->t[k];
        dots[k] = s[0] + s[1] + rest;
    }
}

void hm__dot4(const double *const x[4], const double *w, size_t count, double dots[4])
{
    struct four_sums sums = {0};
    size_t whole = count - count % 4;

    four_add_products(&sums, x, w, 0, whole);
    four_finish(&sums, x, w, whole, count, dots);
}

void hm__dot8(const double *const x[8], const double *w, size_t count, double dots[8])
{
    enum {
        /*
         * Number of columns in a block. The eight rows are processed in two groups of four: while
         * the products of one group are summed, the rows of the other group are loaded.
         */
        BLOCK = 96
    };
    struct four_sums first = {0}, second = {0};
    size_t whole = count - count % 4;

    for (size_t from = 0; from < whole; from += BLOCK) {
        size_t to = whole - from > BLOCK ? from + BLOCK : whole;
        four_add_products(&first, x, w, from, to);
        four_add_products(&second, x + 4, w, from, to);
    }
    four_finish(&first, x, w, whole, count, dots);
    four_finish(&second, x + 4, w, whole, count, dots + 4);
}

void hm__axpy4(const double factors[4], const double *const x[4], double *w, size_t count)
{
    const double a = factors[0], b = factors[1], c = factors[2], d = factors[3];
    const double *p = x[0], *q = x[1], *r = x[2], *s = x[3];

    for (size_t i = 0; i < count; i++)
        w[i] += (a * p[i] + b * q[i]) + (c * r[i] + d * s[i]);
}

static double sparse_dot(const double *values, const uint32_t *columns, size_t count,
                         const double *w)
{
    double s = 0, t = 0;
    size_t i = 0;

    for (; i + 2 <= count; i += 2) {
        s += values[i] * w[columns[i]];
        t += values[i + 1] * w[columns[i + 1]];
    }
    if (i < count)
        s += values[i] * w[columns[i]];
    return s + t;
}

double hm__row_dot(const struct hm_rows *rows, size_t i, const double *w)
{
    if (!rows->sparse)
        return hm__dot(rows->values + i * rows->features, w, rows->features);
    size_t at = rows->starts[i];
    return sparse_dot(rows->values + at, rows->columns + at, rows->starts[i + 1] - at, w);
}

void hm__row_axpy(const struct hm_rows *rows, size_t i, double factor, double *w)
{
    if (!rows->sparse) {
        hm__axpy(factor, rows->values + i * rows->features, w, rows->features);
        return;
    }
    for (size_t e = rows->starts[i]; e < rows->starts[i + 1]; e++)
        w[rows->columns[e]] += factor * rows->values[e];
}

void hm__row_prefetch(const struct hm_rows *rows, size_t i)
{
    enum { LINE = 64 };
    size_t at = rows->sparse ? rows->starts[i] : i * rows->features;
    size_t end = at + hm__row_entries(rows, i);

    for (size_t e = at; e < end; e += LINE / sizeof(*rows->values))
        __builtin_prefetch(rows->values + e);
    for (size_t e = at; rows->sparse && e < end; e += LINE / sizeof(*rows->columns))
        __builtin_prefetch(rows->columns + e);
}

double hm__row_norm2(const struct hm_rows *rows, size_t i)
{
    size_t at = rows->sparse ? rows->starts[i] : i * rows->features;
    return hm__dot(rows->values + at, rows->values + at, hm__row_entries(rows, i));
}

size_t hm__row_entries(const struct hm_rows *rows, size_t i)
{
    return rows->sparse ? rows->starts[i + 1] - rows->starts[i] : rows->features;
}
