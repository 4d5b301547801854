/*
 * Solves least squares by Givens rotations, and non-negative least squares.
 *
 * Fits have a few unknowns and between five and a million rows. Rotating each row into a small
 * triangle (Gentleman 1973) needs one pass and no memory for the rows, and is as accurate as a QR
 * decomposition of all rows; everything else works on the triangle. To leave rows out, the other
 * rows are added up, so nothing is ever subtracted. Non-negative least squares uses the active-set
 * method of Lawson and Hanson 1974. Limit: there are at most HM_TERMS_MAX unknowns.
 */
#include "linear.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/*
 * A column is dependent if less than this fraction of its norm is independent of the columns before
 * it.
 */
static const double LINEAR_DEPENDENT = 1e-9;

void hm__lsq_init(struct hm_lsq *lsq, size_t count)
{
    assert(count <= HM_TERMS_MAX);
    lsq->count = count;
    /* Clear only the elements that are used, because this function is called often. */
    for (size_t i = 0; i <= count; i++)
        memset(lsq->r[i], 0, (count + 1) * sizeof(double));
}

void hm__lsq_add(struct hm_lsq *lsq, double *row)
{
    const size_t side = lsq->count + 1;

    for (size_t j = 0; j < side; j++) {
        double *r = lsq->r[j];
        if (row[j] == 0)
            continue;
        /* No earlier row has a value in column j, so the row is stored unchanged. */
        if (r[j] == 0) {
            memcpy(r + j, row + j, (side - j) * sizeof(*r));
            return;
        }
        double length = sqrt(r[j] * r[j] + row[j] * row[j]), c = r[j] / length, s = row[j] / length;
        r[j] = length;
        for (size_t k = j + 1; k < side; k++) {
            double upper = r[k], lower = row[k];
            r[k] = c * upper + s * lower;
            row[k] = c * lower - s * upper;
        }
    }
}

void hm__lsq_merge(struct hm_lsq *lsq, const struct hm_lsq *other)
{
    for (size_t i = 0; i <= other->count; i++) {
        double row[HM_LSQ_SIDE];
        memcpy(row, other->r[i], (other->count + 1) * sizeof(*row));
        hm__lsq_add(lsq, row);
    }
}

void hm__lsq_pick(const struct hm_lsq *from, const size_t *unknowns, size_t count,
                  struct hm_lsq *ret_lsq)
{
    hm__lsq_init(ret_lsq, count);
    for (size_t i = 0; i <= from->count; i++) {
        double row[HM_LSQ_SIDE];
        for (size_t k = 0; k < count; k++)
            row[k] = from->r[i][unknowns[k]];
        row[count] = from->r[i][from->count];
        hm__lsq_add(ret_lsq, row);
    }
}

double hm__lsq_residual(const struct hm_lsq *lsq, const double *theta)
{
    const size_t y = lsq->count;
    double sum = 0;

    for (size_t i = 0; i <= y; i++) {
        double rest = lsq->r[i][y];
        for (size_t k = i; k < y; k++)
            rest -= lsq->r[i][k] * theta[k];
        sum += rest * rest;
    }
    return sum;
}

double hm__lsq_norm(const struct hm_lsq *lsq, size_t column)
{
    double sum = 0;

    for (size_t i = 0; i <= column; i++)
        sum += lsq->r[i][column] * lsq->r[i][column];
    return sqrt(sum);
}

bool hm__lsq_solve(const struct hm_lsq *lsq, double *theta, size_t *ret_column)
{
    for (size_t j = 0; j < lsq->count; j++)
        if (fabs(lsq->r[j][j]) <= LINEAR_DEPENDENT * hm__lsq_norm(lsq, j)) {
            *ret_column = j;
            return false;
        }
    for (size_t j = lsq->count; j-- > 0;) {
        double rest = lsq->r[j][lsq->count];
        for (size_t k = j + 1; k < lsq->count; k++)
            rest -= lsq->r[j][k] * theta[k];
        theta[j] = rest / lsq->r[j][j];
    }
    return true;
}

/* ---- with bounds ----------------------------------------------------------------------------- */

/*
 * Solves for the unknowns in a set, with all other unknowns 0; returns false if the columns are
 * dependent.
 */
static bool lsq_solve_set(const struct hm_lsq *lsq, const bool *in, double *theta)
{
    struct hm_lsq part;
    size_t set[HM_TERMS_MAX] = {0}, count = 0, column;
    double some[HM_TERMS_MAX];

    for (size_t j = 0; j < lsq->count; j++)
        if (in[j])
            set[count++] = j;
    hm__lsq_pick(lsq, set, count, &part);
    if (!hm__lsq_solve(&part, some, &column))
        return false;
    memset(theta, 0, lsq->count * sizeof(*theta));
    for (size_t k = 0; k < count; k++)
        theta[set[k]] = some[k];
    return true;
}

/*
 * Returns the index of the unknown outside the set whose increase lowers the sum of squares most,
 * or -1 if none lowers it.
 */
static int lsq_steepest(const struct hm_lsq *lsq, const bool *in, const bool *barred,
                        const double *theta)
{
    const size_t y = lsq->count;
    double rest[HM_LSQ_SIDE], size = 0, most = 0;
    int best = -1;

    for (size_t i = 0; i <= y; i++) {
        rest[i] = lsq->r[i][y];
        size += rest[i] * rest[i];
        for (size_t k = i; k < y; k++)
            rest[i] -= lsq->r[i][k] * theta[k];
    }
    for (size_t j = 0; j < y; j++) {
        double norm = hm__lsq_norm(lsq, j), slope = 0;
        for (size_t i = 0; i <= j; i++)
            slope += lsq->r[i][j] * rest[i];
        if (in[j] || barred[j] || norm == 0 || slope / norm <= 1e-13 * sqrt(size))
            continue;
        if (slope / norm > most) {
            most = slope / norm;
            best = (int)j;
        }
    }
    return best;
}

/*
 * Moves theta towards `wanted` until the first unknown of the set reaches 0, and removes that
 * unknown from the set.
 */
static void nonnegative_step_back(size_t count, bool *in, double *theta, const double *wanted)
{
    double most = 1;

    for (size_t j = 0; j < count; j++)
        if (in[j] && wanted[j] <= 0)
            most = fmin(most, theta[j] / (theta[j] - wanted[j]));
    for (size_t j = 0; j < count; j++) {
        theta[j] += most * (wanted[j] - theta[j]);
        if (in[j] && wanted[j] <= 0 && theta[j] <= 1e-14 * fabs(wanted[j])) {
            theta[j] = 0;
            in[j] = false;
        }
    }
}

static bool set_all_positive(size_t count, const bool *in, const double *theta)
{
    for (size_t j = 0; j < count; j++)
        if (in[j] && theta[j] <= 0)
            return false;
    return true;
}

/*
 * Solves without bounds. Returns true if every unknown contributes more than rounding errors to y;
 * in that case, the bounds do not matter, and the active-set method is not needed.
 */
static bool lsq_solve_positive(const struct hm_lsq *lsq, double *theta)
{
    const double least = 1e-9 * hm__lsq_norm(lsq, lsq->count);
    size_t column;

    if (!hm__lsq_solve(lsq, theta, &column))
        return false;
    for (size_t j = 0; j < lsq->count; j++)
        if (!(theta[j] * hm__lsq_norm(lsq, j) > least))
            return false;
    return true;
}

void hm__lsq_nonnegative(const struct hm_lsq *lsq, double *theta)
{
    bool in[HM_TERMS_MAX] = {0}, barred[HM_TERMS_MAX] = {0};
    double wanted[HM_TERMS_MAX];
    const size_t count = lsq->count;
    int next;

    if (lsq_solve_positive(lsq, theta))
        return;
    memset(theta, 0, count * sizeof(*theta));
    /*
     * Each pass lowers the sum of squares, so no set of unknowns occurs twice; the limit on passes
     * is needed only because of rounding.
     */
    for (int pass = 0; pass < 10 * HM_TERMS_MAX; pass++) {
        if ((next = lsq_steepest(lsq, in, barred, theta)) < 0)
            return;
        in[next] = true;
        bool solved = lsq_solve_set(lsq, in, wanted);
        /* Up to rounding, the column is a combination of the columns in the set, so it is not
         * added. */
        if (!solved || wanted[next] <= 0) {
            in[next] = false;
            barred[next] = true;
            continue;
        }
        while (!set_all_positive(count, in, wanted)) {
            nonnegative_step_back(count, in, theta, wanted);
            if (!lsq_solve_set(lsq, in, wanted))
                return;
        }
        memcpy(theta, wanted, count * sizeof(*theta));
        memset(barred, 0, sizeof(barred));
    }
}

void hm__lsq_whiten(const struct hm_lsq *lsq, const double *x, double *u)
{
    for (size_t j = 0; j < lsq->count; j++) {
        double rest = x[j];
        for (size_t i = 0; i < j; i++)
            rest -= lsq->r[i][j] * u[i];
        u[j] = rest / lsq->r[j][j];
    }
}

/* ---- Cholesky -------------------------------------------------------------------------------- */

bool hm__cholesky(double a[HM_TERMS_MAX][HM_TERMS_MAX], size_t count)
{
    for (size_t j = 0; j < count; j++) {
        for (size_t i = j; i < count; i++) {
            double sum = a[i][j];
            for (size_t k = 0; k < j; k++)
                sum -= a[i][k] * a[j][k];
            if (i == j && !(sum > 0))
                return false;
            a[i][j] = i == j ? sqrt(sum) : sum / a[j][j];
        }
    }
    return true;
}

void hm__lower_solve(double l[HM_TERMS_MAX][HM_TERMS_MAX], size_t count, double *b)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i; k++)
            b[i] -= l[i][k] * b[k];
        b[i] /= l[i][i];
    }
}

void hm__upper_solve(double l[HM_TERMS_MAX][HM_TERMS_MAX], size_t count, double *b)
{
    for (size_t i = count; i-- > 0;) {
        for (size_t k = i + 1; k < count; k++)
            b[i] -= l[k][i] * b[k];
        b[i] /= l[i][i];
    }
}
