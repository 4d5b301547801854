/*
 * Generates data for a linear classifier: there is a separator w*, the label of x is the sign of
 * x.w*, and a fraction of the labels are reversed.
 *
 * In dense data, features are standard normal, and w* is uniform on the unit sphere. In sparse
 * data, which is similar to words in texts, a row has Binomial(features, density) entries of value
 * 1, but at least one; its columns follow the law of Zipf and Mandelbrot, P(column k) ~ 1/(k + q),
 * where q is half the mean number of entries, so that the most frequent column appears in about
 * three of ten rows. A column that is drawn twice is replaced by the next free column. The weight
 * of a column in w* is standard normal.
 */
#include "data_made.h"

#include <math.h>
#include <stdlib.h>

#include "err.h"
#include "memory.h"

/* ---- streams -------------------------------------------------------------------------------- */

/* High bits of the numbers of random streams. No other part of the program uses these bits with the
 * user's seed. */
static const uint64_t ROW_STREAMS = (uint64_t)0xda7a << 48,
                      PLANTED_STREAMS = (uint64_t)0xda7b << 48, TEST_STREAMS = (uint64_t)1 << 47;

void hm__data_planted(const struct hm_data *data, uint64_t number, struct hm_random *ret_random)
{
    hm__random_init(ret_random, data->spec.seed, PLANTED_STREAMS | number);
}

bool hm__data_made_row(struct hm_data *data, struct hm_random *ret_random)
{
    if (data->row >= data->spec.rows)
        return false;
    uint64_t stream = ROW_STREAMS | (data->spec.test ? TEST_STREAMS : 0) | (uint64_t)data->row;
    hm__random_init(ret_random, data->spec.seed, stream);
    data->row++;
    data->line = data->row < INT32_MAX ? (int)data->row : INT32_MAX;
    return true;
}

/* Returns the label of a row, -1 or 1: the sign of `side`, which is x.w*, reversed with probability
 * `noise`. */
static double draw_label(const struct hm_data *data, double side, struct hm_random *random)
{
    double label = side < 0 ? -1 : 1;

    return hm__random_uniform(random) < data->spec.noise ? -label : label;
}

/* ---- dense ---------------------------------------------------------------------------------- */

struct dense {
    double *weights; /* Normal vector w* of the separating hyperplane; owned. */
    double *values;  /* Features of one row; owned. */
};

static int open_dense(struct hm_data *data, struct hm_err *err)
{
    struct dense *made = data->state = hm__calloc(1, sizeof(*made));
    struct hm_random random;
    double square = 0;

    data->features = (size_t)data->spec.features;
    if (!made || !(made->weights = hm__calloc(data->features, sizeof(*made->weights))) ||
        !(made->values = hm__calloc(data->features, sizeof(*made->values))))
        return hm__fail_nomem(err);
    hm__data_planted(data, 0, &random);
    for (size_t j = 0; j < data->features; j++) {
        made->weights[j] = hm__random_normal(&random);
        square += made->weights[j] * made->weights[j];
    }
    for (size_t j = 0; j < data->features; j++)
        made->weights[j] /= sqrt(square);
    return 0;
}

static int next_dense(struct hm_data *data, struct hm_rows *block, struct hm_err *err)
{
    struct dense *made = data->state;
    struct hm_random random;
    double side = 0;

    if (!hm__data_made_row(data, &random))
        return 0;
    for (size_t j = 0; j < data->features; j++) {
        made->values[j] = hm__random_normal(&random);
        side += made->values[j] * made->weights[j];
    }
    int rc = hm__data_put_dense(data, block, draw_label(data, side, &random), made->values, err);
    return rc ? rc : 1;
}

static void close_dense(struct hm_data *data)
{
    struct dense *made = data->state;

    hm__free(made->weights);
    hm__free(made->values);
    hm__free(made);
}

const struct hm_data_reader hm__data_dense = {"dense", false, open_dense, next_dense, close_dense};

/* ---- sparse --------------------------------------------------------------------------------- */

struct sparse {
    uint32_t *columns; /* Columns of one row; owned. */
    double *values;    /* Values of the entries, all 1; owned. */
    size_t room;       /* Capacity of the arrays `columns` and `values`. */
};

static int open_sparse(struct hm_data *data, struct hm_err *err)
{
    data->features = (size_t)data->spec.features;
    data->state = hm__calloc(1, sizeof(struct sparse));
    return data->state ? 0 : hm__fail_nomem(err);
}

static int reserve_entries(struct sparse *made, size_t count, struct hm_err *err)
{
    if (count <= made->room)
        return 0;
    size_t room = 2 * count;
    uint32_t *columns = hm__realloc(made->columns, room, sizeof(*columns));
    if (!columns)
        return hm__fail_nomem(err);
    made->columns = columns;
    double *values = hm__realloc(made->values, room, sizeof(*values));
    if (!values)
        return hm__fail_nomem(err);
    made->values = values;
    for (size_t i = 0; i < room; i++)
        values[i] = 1;
    made->room = room;
    return 0;
}

static int compare_columns(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Draws `count` different columns in increasing order. A column that is drawn twice moves up to the
 * next free column, or down if no column above it is free. */
static void draw_columns(const struct hm_data *data, uint32_t *columns, size_t count,
                         struct hm_random *random)
{
    double features = data->spec.features, q = fmax(1, data->spec.density * features / 2);
    double span = log1p(features / q);

    for (size_t i = 0; i < count; i++) {
        double column = floor(q * expm1(span * hm__random_uniform(random)));
        columns[i] = (uint32_t)fmin(column, features - 1);
    }
    qsort(columns, count, sizeof(*columns), compare_columns);
    for (size_t i = 1; i < count; i++)
        if (columns[i] <= columns[i - 1])
            columns[i] = columns[i - 1] + 1;
    for (size_t i = count; i-- > 0;) {
        uint32_t most = (uint32_t)(data->features - (count - i));
        if (columns[i] <= most)
            break;
        columns[i] = most;
    }
}

static double planted_weight(const struct hm_data *data, uint32_t column)
{
    struct hm_random random;

    hm__data_planted(data, column, &random);
    return hm__random_normal(&random);
}

static int next_sparse(struct hm_data *data, struct hm_rows *block, struct hm_err *err)
{
    struct sparse *made = data->state;
    struct hm_random random;
    double side = 0;

    if (!hm__data_made_row(data, &random))
        return 0;
    double drawn = hm__random_binomial(&random, data->spec.features, data->spec.density);
    size_t count = drawn < 1 ? 1 : (size_t)drawn;
    int rc = reserve_entries(made, count, err);
    if (rc)
        return rc;
    draw_columns(data, made->columns, count, &random);
    for (size_t i = 0; i < count; i++)
        side += planted_weight(data, made->columns[i]);
    double label = draw_label(data, side, &random);
    if (!block->sparse && block->features == 0)
        block->features = data->features;
    rc = hm__data_put_sparse(data, block, label, made->columns, made->values, count, err);
    return rc ? rc : 1;
}

static void close_sparse(struct hm_data *data)
{
    struct sparse *made = data->state;

    hm__free(made->columns);
    hm__free(made->values);
    hm__free(made);
}

const struct hm_data_reader hm__data_sparse = {"sparse", true, open_sparse, next_sparse,
                                               close_sparse};
