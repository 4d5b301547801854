/*
 * Solves the Lasso on Gram matrices: coordinate descent, then an active-set method that ends at the
 * exact solution.
 *
 * Sums around the means are updated row by row (West 1979). Two sets of rows with the total weights
 * V and W, whose means differ by delta, are merged by the formula of Chan, Golub and LeVeque 1983:
 *
 *     M = M_V + M_W + V W / (V + W) delta delta'.
 *
 * Let C be the correlations of the standardised terms, let d be their products with y, and let g =
 * d - C b be the slopes at the coefficients b. The objective is
 *     P(b) = (var y - 2 d'b + b'C b) / 2 + penalty |b|_1,
 * and b is a solution if and only if, for each term j, g_j = penalty sign(b_j) if b_j is not 0, and
 * |g_j| <= penalty if b_j is 0. Coordinate descent sets b_j to g_j + b_j, moved towards 0 by the
 * penalty, for one term after another: first for all terms, then for the nonzero terms (Friedman,
 * Hastie, Tibshirani 2010).
 *
 * Coordinate descent soon finds most of the signs, but converges slowly if terms are nearly equal,
 * such as i / m and i / sqrt(m). For a given active set A with signs s, the solution solves the
 * linear system C_AA b_A = d_A - penalty s_A, so a few Cholesky factorisations are enough: step
 * towards that solution; if a term reaches 0 on the way, stop there and remove it; if none does,
 * add the term whose |g_j| exceeds the penalty most (feature-sign search: Lee, Battle, Raina, Ng
 * 2006). If a term of A is a linear combination of the others, the step is along that combination,
 * in the direction in which the objective decreases; this changes predictions by no more than
 * rounding.
 *
 * The duality gap: let r = y - z b be the residuals, and let q be any factor with q |g_j| <=
 * penalty for all j. Then q r is a feasible point of the dual problem, and the gap is
 *
 *     P - D = (1 - q)^2 |r|^2 / 2 + sum_j (penalty |b_j| - q b_j g_j).
 *
 * No term of this sum is below 0, so the gap is exact down to rounding errors of g.
 */
#include "lasso.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "budget.h"
#include "err.h"

/*
 * A term is constant if its standard deviation is below this fraction of its mean; smaller
 * deviations are rounding errors.
 */
static const double CONSTANT = 1e-13;
/*
 * A term counts as a combination of other terms if less than this fraction of its variance is
 * independent of them.
 */
static const double DEPENDENT = 1e-14;

enum {
    /* Largest number of cycles of coordinate descent over the nonzero terms. */
    CYCLES = 10,
    /* Largest number of steps of the active-set method; usually few are needed. */
    PASSES = 8 * HM_LASSO_MAX,
    /* Largest number of rounds of coordinate descent followed by the active-set method. */
    ROUNDS = 50,
};

/* ---- sums ------------------------------------------------------------------------------------ */

void hm__gram_init(struct hm_gram *gram, size_t count)
{
    assert(count <= HM_LASSO_MAX);
    memset(gram, 0, sizeof(*gram));
    gram->count = count;
}

/* Moves the means by share * delta and adds factor * delta delta' to the sums of products, where
 * delta is the distance of a row, or of another mean, from the means. */
static void gram_shift(struct hm_gram *gram, const double *delta, double delta_y, double factor,
                       double share)
{
    for (size_t j = 0; j < gram->count; j++) {
        double f = factor * delta[j];
        for (size_t k = j; k < gram->count; k++)
            gram->xx[j][k] += f * delta[k];
        gram->xy[j] += f * delta_y;
        gram->x[j] += share * delta[j];
    }
    gram->yy += factor * delta_y * delta_y;
    gram->y += share * delta_y;
}

void hm__gram_add(struct hm_gram *gram, const double *x, double y, double weight)
{
    double delta[HM_LASSO_MAX], total = gram->weight + weight;

    assert(weight >= 0);
    if (weight == 0)
        return;
    for (size_t j = 0; j < gram->count; j++)
        delta[j] = x[j] - gram->x[j];
    gram_shift(gram, delta, y - gram->y, gram->weight / total * weight, weight / total);
    gram->weight = total;
}

void hm__gram_merge(struct hm_gram *gram, const struct hm_gram *other, double factor)
{
    const size_t count = gram->count;
    double delta[HM_LASSO_MAX], weight = factor * other->weight, total = gram->weight + weight;

    assert(other->count == count);
    if (weight == 0)
        return;
    if (!(total > 0)) { /* No rows remain after the removal. */
        hm__gram_init(gram, count);
        return;
    }
    for (size_t j = 0; j < count; j++) {
        delta[j] = other->x[j] - gram->x[j];
        for (size_t k = j; k < count; k++)
            gram->xx[j][k] += factor * other->xx[j][k];
        gram->xy[j] += factor * other->xy[j];
    }
    gram->yy += factor * other->yy;
    gram_shift(gram, delta, other->y - gram->y, gram->weight / total * weight, weight / total);
    gram->weight = total;
}

double hm__gram_error(const struct hm_gram *gram, double intercept, const double *theta)
{
    double bias = gram->y - intercept, square = gram->yy;

    for (size_t j = 0; j < gram->count; j++) {
        double product = 0;
        if (theta[j] == 0)
            continue;
        for (size_t k = j + 1; k < gram->count; k++)
            product += gram->xx[j][k] * theta[k];
        square += theta[j] * (2 * (product - gram->xy[j]) + gram->xx[j][j] * theta[j]);
        bias -= theta[j] * gram->x[j];
    }
    return fmax(square, 0) / gram->weight + bias * bias;
}

/* ---- standardised problem -------------------------------------------------------------------- */

void hm__lasso_init(struct hm_lasso *lasso, const struct hm_gram *gram)
{
    const size_t count = gram->count;

    assert(gram->weight > 0);
    memset(lasso, 0, sizeof(*lasso));
    lasso->count = count;
    lasso->y_mean = gram->y;
    lasso->y_variance = fmax(gram->yy, 0) / gram->weight;
    if (sqrt(lasso->y_variance) <= CONSTANT * fabs(gram->y))
        lasso->y_variance = 0;
    for (size_t j = 0; j < count; j++) {
        double scale = sqrt(fmax(gram->xx[j][j], 0) / gram->weight);
        lasso->mean[j] = gram->x[j];
        lasso->scale[j] = scale > CONSTANT * fabs(gram->x[j]) ? scale : 0;
    }
    for (size_t j = 0; j < count; j++) {
        if (lasso->scale[j] == 0)
            continue;
        lasso->c[j][j] = 1;
        for (size_t k = j + 1; k < count; k++)
            if (lasso->scale[k] > 0)
                lasso->c[j][k] = lasso->c[k][j] =
                    gram->xx[j][k] / gram->weight / lasso->scale[j] / lasso->scale[k];
        if (lasso->y_variance > 0)
            lasso->d[j] = gram->xy[j] / gram->weight / lasso->scale[j];
    }
}

double hm__lasso_penalty_max(const struct hm_lasso *lasso)
{
    double most = 0;

    for (size_t j = 0; j < lasso->count; j++)
        most = fmax(most, fabs(lasso->d[j]));
    return most;
}

void hm__lasso_unscale(const struct hm_lasso *lasso, const double *b, double *ret_intercept,
                       double *ret_theta)
{
    double intercept = lasso->y_mean;

    for (size_t j = 0; j < lasso->count; j++) {
        ret_theta[j] = lasso->scale[j] > 0 ? b[j] / lasso->scale[j] : 0;
        intercept -= ret_theta[j] * lasso->mean[j];
    }
    *ret_intercept = intercept;
}

void hm__lasso_penalties(double penalty_max, double least, size_t count, double *penalties)
{
    for (size_t p = 0; p < count; p++)
        penalties[p] = p ? penalty_max * pow(least, (double)p / (double)(count - 1)) : penalty_max;
}

/*
 * Computes the slopes g = d - C b: the negative gradient of the squared error at the coefficients
 * b.
 */
static void lasso_slopes(const struct hm_lasso *lasso, const double *b, double *g)
{
    memcpy(g, lasso->d, lasso->count * sizeof(*g));
    for (size_t j = 0; j < lasso->count; j++)
        if (b[j] != 0)
            for (size_t k = 0; k < lasso->count; k++)
                g[k] -= lasso->c[j][k] * b[j];
}

static double duality_gap(const struct hm_lasso *lasso, double penalty, const double *b)
{
    double g[HM_LASSO_MAX], rest = lasso->y_variance, most = 0, sum = 0;

    lasso_slopes(lasso, b, g);
    for (size_t j = 0; j < lasso->count; j++) {
        rest -= b[j] * (lasso->d[j] + g[j]);
        most = fmax(most, fabs(g[j]));
    }
    double s = most > penalty ? penalty / most : 1;
    for (size_t j = 0; j < lasso->count; j++)
        sum += penalty * fabs(b[j]) - s * b[j] * g[j];
    return (1 - s) * (1 - s) * fmax(rest, 0) / 2 + fmax(sum, 0);
}

/* ---- coordinate descent ---------------------------------------------------------------------- */

static double soft_threshold(double value, double by)
{
    return fabs(value) > by ? value - copysign(by, value) : 0;
}

/*
 * Performs one cycle of coordinate descent over all terms, or only over the nonzero terms; returns
 * the largest change of a coefficient.
 */
static double descent_sweep(const struct hm_lasso *lasso, double penalty, bool all, double *b,
                            double *g)
{
    double most = 0;

    for (size_t j = 0; j < lasso->count; j++) {
        if (lasso->scale[j] == 0 || (b[j] == 0 && !all))
            continue;
        double wanted = soft_threshold(g[j] + b[j], penalty), change = wanted - b[j];
        if (change == 0)
            continue;
        for (size_t k = 0; k < lasso->count; k++)
            g[k] -= lasso->c[j][k] * change;
        b[j] = wanted;
        most = fmax(most, fabs(change));
    }
    return most;
}

static void descent_run(const struct hm_lasso *lasso, double penalty, double *b)
{
    const double small = 1e-6 * sqrt(lasso->y_variance);
    double g[HM_LASSO_MAX];

    lasso_slopes(lasso, b, g);
    if (descent_sweep(lasso, penalty, true, b, g) > small)
        for (int i = 0; i < CYCLES && descent_sweep(lasso, penalty, false, b, g) > small; i++)
            ;
}

/* ---- active-set method ----------------------------------------------------------------------- */

/*
 * The active set: its terms, their signs, and the Cholesky factor l of the correlations of these
 * terms.
 */
struct active_set {
    size_t count, terms[HM_LASSO_MAX];
    double signs[HM_LASSO_MAX], l[HM_LASSO_MAX][HM_LASSO_MAX];
};

static void active_set_add(struct active_set *a, size_t term, double sign)
{
    a->terms[a->count] = term;
    a->signs[a->count++] = copysign(1, sign);
}

static void active_set_remove(struct active_set *a, size_t place)
{
    a->count--;
    for (size_t i = place; i < a->count; i++) {
        a->terms[i] = a->terms[i + 1];
        a->signs[i] = a->signs[i + 1];
    }
}

/*
 * Computes the Cholesky factor row by row; returns the number of rows before the first term that is
 * a combination of earlier terms.
 */
static size_t active_set_factor(const struct hm_lasso *lasso, struct active_set *a)
{
    for (size_t i = 0; i < a->count; i++) {
        const double *row = lasso->c[a->terms[i]];
        double *l = a->l[i], rest = 1;
        for (size_t j = 0; j < i; j++) {
            double sum = row[a->terms[j]];
            for (size_t k = 0; k < j; k++)
                sum -= l[k] * a->l[j][k];
            l[j] = sum / a->l[j][j];
            rest -= l[j] * l[j];
        }
        if (!(rest > DEPENDENT))
            return i;
        l[i] = sqrt(rest);
    }
    return a->count;
}

/*
 * Solves L L' x = b if `forward` is set, otherwise L' x = b, with the first `rows` rows of the
 * factor L. x holds b on entry.
 */
static void active_set_solve(const struct active_set *a, size_t rows, bool forward, double *x)
{
    for (size_t i = 0; forward && i < rows; i++) {
        for (size_t k = 0; k < i; k++)
            x[i] -= a->l[i][k] * x[k];
        x[i] /= a->l[i][i];
    }
    for (size_t i = rows; i-- > 0;) {
        for (size_t k = i + 1; k < rows; k++)
            x[i] -= a->l[k][i] * x[k];
        x[i] /= a->l[i][i];
    }
}

/*
 * Computes the step from the coefficients b and returns its largest length: 1 if the step leads to
 * the solution for these signs, INFINITY if it is along a combination of dependent terms.
 */
static double active_set_step(const struct hm_lasso *lasso, double penalty, struct active_set *a,
                              const double *b, double *step)
{
    const size_t rows = active_set_factor(lasso, a);
    double g[HM_LASSO_MAX], gain = 0;

    lasso_slopes(lasso, b, g);
    for (size_t i = 0; i < a->count; i++)
        g[a->terms[i]] -= penalty * a->signs[i];
    memset(step, 0, a->count * sizeof(*step));
    if (rows == a->count) {
        for (size_t i = 0; i < rows; i++)
            step[i] = g[a->terms[i]];
        active_set_solve(a, rows, true, step);
        return 1;
    }
    /*
     * Term number `rows` is a combination of the terms before it. The coefficients of the
     * combination are the solution of L' x = l, where l is the row of L for that term.
     */
    memcpy(step, a->l[rows], rows * sizeof(*step));
    active_set_solve(a, rows, false, step);
    step[rows] = -1;
    for (size_t i = 0; i <= rows; i++)
        gain += g[a->terms[i]] * step[i];
    for (size_t i = 0; i <= rows && gain < 0; i++)
        step[i] = -step[i];
    return INFINITY;
}

/*
 * Moves b along the step until the first term reaches 0; returns the position of that term in the
 * active set, or the size of the set if no term reaches 0.
 */
static size_t active_set_advance(const struct active_set *a, const double *step, double length,
                                 double *b)
{
    size_t first = a->count;

    for (size_t i = 0; i < a->count; i++) {
        double until = -b[a->terms[i]] / step[i];
        if (a->signs[i] * step[i] < 0 && until < length) {
            length = until;
            first = i;
        }
    }
    /* No coefficient moves towards 0, which can happen only because of rounding. */
    if (isinf(length))
        return first;
    for (size_t i = 0; i < a->count; i++)
        b[a->terms[i]] += length * step[i];
    if (first < a->count)
        b[a->terms[first]] = 0;
    return first;
}

/*
 * Adds the term whose slope exceeds the penalty most to the active set; returns false if there is
 * no such term.
 */
static bool active_set_add_steepest(const struct hm_lasso *lasso, double penalty,
                                    struct active_set *a, const double *b)
{
    double g[HM_LASSO_MAX], most = penalty * (1 + 1e-12);
    size_t best = lasso->count;
    bool in[HM_LASSO_MAX] = {0};

    lasso_slopes(lasso, b, g);
    for (size_t i = 0; i < a->count; i++)
        in[a->terms[i]] = true;
    for (size_t j = 0; j < lasso->count; j++)
        if (!in[j] && fabs(g[j]) > most) {
            most = fabs(g[j]);
            best = j;
        }
    if (best == lasso->count)
        return false;
    active_set_add(a, best, g[best]);
    return true;
}

/*
 * Solves by the active-set method, starting from any b; returns false if the solution was not
 * reached.
 */
static bool lasso_finish(const struct hm_lasso *lasso, double penalty, double *b)
{
    struct active_set a;
    double step[HM_LASSO_MAX];
    bool entered = false;

    a.count = 0;
    for (size_t j = 0; j < lasso->count; j++)
        if (b[j] != 0)
            active_set_add(&a, j, b[j]);
    for (int pass = 0; pass < PASSES; pass++) {
        double length = active_set_step(lasso, penalty, &a, b, step);
        size_t place = active_set_advance(&a, step, length, b);
        if (place < a.count) {
            /*
             * The term was added and immediately removed: its slope equals the penalty up to
             * rounding.
             */
            if (entered && place + 1 == a.count)
                return true;
            active_set_remove(&a, place);
            entered = false;
        } else if (isinf(length) || !(entered = active_set_add_steepest(lasso, penalty, &a, b))) {
            return !isinf(length);
        }
    }
    return false;
}

double hm__lasso_solve(const struct hm_lasso *lasso, double penalty, double tolerance, double *b)
{
    double gap = INFINITY;

    for (size_t j = 0; j < lasso->count; j++)
        if (lasso->scale[j] == 0 || lasso->y_variance == 0)
            b[j] = 0;
    if (lasso->y_variance == 0)
        return 0;
    for (int round = 0; round < ROUNDS; round++) {
        if (hm__budget_spent("traces"))
            break;
        double before = gap;
        descent_run(lasso, penalty, b);
        bool done = lasso_finish(lasso, penalty, b);
        gap = duality_gap(lasso, penalty, b) / lasso->y_variance;
        if (gap <= tolerance || (done && gap >= before / 2))
            break;
    }
    return gap;
}

/* ---- cross-validation ------------------------------------------------------------------------ */

static int folds_check(const struct hm_gram *folds, const bool *held, size_t fold_count,
                       size_t penalty_count, double least, struct hm_err *err)
{
    size_t held_count = 0;

    if (penalty_count < 1 || penalty_count > HM_LASSO_PENALTIES)
        return hm__fail(err, HM_E_RANGE, "penalties: %zu is not from 1 to %d", penalty_count,
                        HM_LASSO_PENALTIES);
    if (!(least > 0 && least <= 1))
        return hm__fail(err, HM_E_RANGE, "least penalty: %g is not above 0 and at most 1", least);
    if (fold_count > HM_LASSO_FOLDS)
        return hm__fail(err, HM_E_RANGE, "folds: %zu is more than %d", fold_count, HM_LASSO_FOLDS);
    for (size_t f = 0; f < fold_count; f++) {
        assert(folds[f].count == folds[0].count);
        if (held[f] && !(folds[f].weight > 0))
            return hm__fail(err, HM_E_RANGE, "fold %zu has no rows to hold out", f + 1);
        held_count += held[f];
    }
    if (held_count < 2)
        return hm__fail(err, HM_E_RANGE,
                        "folds to hold out: %zu, but the error of a mean needs at least 2",
                        held_count);
    return 0;
}

/* Merges all folds except number `out`; if out >= fold_count, merges all folds. */
static void folds_sum(const struct hm_gram *folds, size_t fold_count, size_t out,
                      struct hm_gram *sum)
{
    hm__gram_init(sum, folds[0].count);
    for (size_t f = 0; f < fold_count; f++)
        if (f != out)
            hm__gram_merge(sum, &folds[f], 1);
}

/*
 * Solves with all folds except number `out`, for all penalties, each time starting from the
 * solution of the previous penalty. errors[p] is the mean square error for penalty p on the fold
 * that was left out.
 */
static void fold_hold_out(const struct hm_gram *folds, size_t fold_count, size_t out,
                          const struct hm_lasso_choice *choice, double tolerance, double *errors)
{
    struct hm_gram sum;
    struct hm_lasso lasso;
    double b[HM_LASSO_MAX] = {0}, theta[HM_LASSO_MAX], intercept;

    folds_sum(folds, fold_count, out, &sum);
    hm__lasso_init(&lasso, &sum);
    for (size_t p = 0; p < choice->penalty_count; p++) {
        hm__lasso_solve(&lasso, choice->penalties[p], tolerance, b);
        hm__lasso_unscale(&lasso, b, &intercept, theta);
        errors[p] = hm__gram_error(&folds[out], intercept, theta);
    }
}

/*
 * Adds the errors of one fold to the running mean for each penalty, and to the sum of squared
 * deviations from the mean, which is stored in `error`. folds is the number of folds so far.
 */
static void choice_add_errors(struct hm_lasso_choice *choice, const double *errors, double folds)
{
    for (size_t p = 0; p < choice->penalty_count; p++) {
        double delta = errors[p] - choice->mean[p];
        choice->mean[p] += delta / folds;
        choice->error[p] += delta * (errors[p] - choice->mean[p]);
    }
}

static void choice_select(struct hm_lasso_choice *choice, double folds)
{
    for (size_t p = 0; p < choice->penalty_count; p++) {
        choice->error[p] = sqrt(choice->error[p] / (folds - 1) / folds);
        if (choice->mean[p] < choice->mean[choice->least])
            choice->least = p;
    }
    while (choice->mean[choice->chosen] >
           choice->mean[choice->least] + choice->error[choice->least])
        choice->chosen++;
}

int hm__lasso_choose(const struct hm_gram *folds, const bool *held, size_t fold_count,
                     size_t penalty_count, double least, double tolerance,
                     struct hm_lasso_choice *ret_choice, double *fold_errors, struct hm_err *err)
{
    struct hm_lasso_choice choice = {.penalty_count = penalty_count};
    struct hm_gram all;
    struct hm_lasso lasso;
    double errors[HM_LASSO_PENALTIES], folds_held = 0;
    int rc = folds_check(folds, held, fold_count, penalty_count, least, err);

    if (rc)
        return rc;
    folds_sum(folds, fold_count, fold_count, &all);
    hm__lasso_init(&lasso, &all);
    hm__lasso_penalties(hm__lasso_penalty_max(&lasso), least, penalty_count, choice.penalties);
    for (size_t f = 0; f < fold_count; f++) {
        if (held[f]) {
            fold_hold_out(folds, fold_count, f, &choice, tolerance, errors);
            choice_add_errors(&choice, errors, ++folds_held);
        }
        for (size_t p = 0; fold_errors && p < penalty_count; p++)
            fold_errors[f * penalty_count + p] = held[f] ? errors[p] : NAN;
    }
    choice_select(&choice, folds_held);
    *ret_choice = choice;
    return 0;
}
