/*
 * Computes sums of losses and gradients over rows. With one output, z_i = w.x_i, and the gradient
 * is sum_i l'(z_i, y_i) x_i. With softmax, z_ic = w_c.x_i, and the gradient of class c is sum_i
 * (p_ic - [c = y_i]) x_i. Dense rows are processed eight at a time, so that each row is read from
 * memory once and w is read less often.
 */
#include "linear_problem.h"

#include <math.h>

#include "err.h"
#include "vector.h"

static size_t list_row(const uint32_t *list, size_t k)
{
    return list ? list[k] : k;
}

/*
 * Returns the sum of the losses of four dense rows whose predictions are `z`. Adds the gradients of
 * the rows to `gradient`, unless it is NULL.
 */
static double linear_eval_four(const struct hm_objective *o, const size_t row[4],
                               const double *const x[4], const double z[4], double *gradient)
{
    const struct hm_rows *rows = &o->rows;
    double slopes[4], sum = 0;

    for (size_t k = 0; k < 4; k++) {
        sum += o->loss->value(z[k], rows->labels[row[k]]);
        slopes[k] = o->loss->slope(z[k], rows->labels[row[k]]);
    }
    if (gradient)
        hm__axpy4(slopes, x, gradient, rows->features);
    return sum;
}

/*
 * Evaluates the rows at positions k to k + count - 1 of the list, where `count` is 4 or 8, and adds
 * their losses to *sum.
 */
static void linear_eval_block(const struct hm_objective *o, const double *w, const uint32_t *list,
                              size_t k, size_t count, double *gradient, double *sum)
{
    const struct hm_rows *rows = &o->rows;
    const double *x[8];
    double z[8];
    size_t row[8];

    for (size_t i = 0; i < count; i++) {
        row[i] = list_row(list, k + i);
        x[i] = rows->values + row[i] * rows->features;
    }
    if (count == 8)
        hm__dot8(x, w, rows->features, z);
    else
        hm__dot4(x, w, rows->features, z);
    for (size_t i = 0; i < count; i += 4)
        *sum += linear_eval_four(o, row + i, x + i, z + i, gradient);
}

static double linear_eval_row(const struct hm_objective *o, const double *w, size_t row,
                              double *gradient)
{
    double y = o->rows.labels[row], z = hm__row_dot(&o->rows, row, w);

    if (gradient) {
        double slope = o->loss->slope(z, y);
        if (slope != 0)
            hm__row_axpy(&o->rows, row, slope, gradient);
    }
    return o->loss->value(z, y);
}

static double linear_eval(struct hm_objective *o, const double *w, const uint32_t *list,
                          size_t count, double *gradient, double *ret_flop)
{
    const struct hm_rows *rows = &o->rows;
    double sum = 0, entries = 0;
    size_t k = 0;

    while (!rows->sparse && k + 4 <= count) {
        size_t block = k + 8 <= count ? 8 : 4;
        linear_eval_block(o, w, list, k, block, gradient, &sum);
        entries += (double)block * (double)rows->features;
        k += block;
    }
    for (; k < count; k++) {
        size_t row = list_row(list, k);
        sum += linear_eval_row(o, w, row, gradient);
        entries += (double)hm__row_entries(rows, row);
    }
    *ret_flop = (gradient ? 4 : 2) * entries;
    return sum;
}

static double linear_right(struct hm_objective *o, const double *w, const struct hm_rows *rows)
{
    double right = 0;

    for (size_t i = 0; i < rows->count; i++) {
        double y = rows->labels[i], z = hm__row_dot(rows, i, w);
        right += o->loss->classes ? (y * z > 0) : -(z - y) * (z - y);
    }
    return right;
}

static const struct hm_objective_ops linear_ops = {
    .name = "linear", .eval = linear_eval, .right = linear_right};

void hm__linear_init(struct hm_objective *objective, const struct hm_loss *loss)
{
    objective->ops = &linear_ops;
    objective->loss = loss;
    objective->curvature = loss->curvature;
    objective->outputs = 1;
    objective->unknowns = objective->rows.features;
}

/* ---- softmax -------------------------------------------------------------------------------- */

/* Computes the score z_c = w_c.x of row `i` for each class c. */
static void softmax_scores(const struct hm_rows *rows, size_t i, const double *w, size_t classes,
                           double *z)
{
    size_t at = rows->sparse ? rows->starts[i] : i * rows->features;

    for (size_t c = 0; c < classes; c++)
        z[c] = 0;
    for (size_t e = 0; e < hm__row_entries(rows, i); e++) {
        size_t column = rows->sparse ? rows->columns[at + e] : e;
        hm__axpy(rows->values[at + e], w + column * classes, z, classes);
    }
}

/*
 * Replaces the scores `z` of a row with probabilities; returns the loss if `y` is the correct
 * class.
 */
static double softmax_normalise(double *z, size_t classes, size_t y)
{
    double most = z[0], sum = 0, right = z[y];

    for (size_t c = 1; c < classes; c++)
        most = fmax(most, z[c]);
    for (size_t c = 0; c < classes; c++)
        sum += z[c] = exp(z[c] - most);
    for (size_t c = 0; c < classes; c++)
        z[c] /= sum;
    return log(sum) + most - right;
}

static double softmax_eval(struct hm_objective *o, const double *w, const uint32_t *list,
                           size_t count, double *gradient, double *ret_flop)
{
    const struct hm_rows *rows = &o->rows;
    size_t classes = o->outputs;
    double *z = o->state, sum = 0, entries = 0;

    for (size_t k = 0; k < count; k++) {
        size_t i = list_row(list, k), y = (size_t)rows->labels[i];
        softmax_scores(rows, i, w, classes, z);
        sum += softmax_normalise(z, classes, y);
        entries += (double)hm__row_entries(rows, i);
        if (!gradient)
            continue;
        z[y] -= 1;
        size_t at = rows->sparse ? rows->starts[i] : i * rows->features;
        for (size_t e = 0; e < hm__row_entries(rows, i); e++) {
            size_t column = rows->sparse ? rows->columns[at + e] : e;
            hm__axpy(rows->values[at + e], z, gradient + column * classes, classes);
        }
    }
    *ret_flop = (gradient ? 4 : 2) * entries * (double)classes;
    return sum;
}

static double softmax_right(struct hm_objective *o, const double *w, const struct hm_rows *rows)
{
    double *z = o->state, right = 0;

    for (size_t i = 0; i < rows->count; i++) {
        size_t best = 0;
        softmax_scores(rows, i, w, o->outputs, z);
        for (size_t c = 1; c < o->outputs; c++)
            if (z[c] > z[best])
                best = c;
        right += (double)best == rows->labels[i];
    }
    return right;
}

static const struct hm_objective_ops softmax_ops = {
    .name = "softmax", .eval = softmax_eval, .right = softmax_right};

int hm__softmax_init(struct hm_objective *objective, struct hm_err *err)
{
    objective->ops = &softmax_ops;
    /*
     * This upper bound on the curvature comes from Boehning: Multinomial logistic regression
     * algorithm, 1992.
     */
    objective->curvature = 0.5;
    objective->unknowns = objective->rows.features * objective->outputs;
    objective->state = hm__arena_alloc(objective->arena, objective->outputs, sizeof(double));
    return objective->state ? 0 : hm__fail_nomem(err);
}
