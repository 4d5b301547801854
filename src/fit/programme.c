/*
 * Implements an interior-point method for the convex programme in programme.h: Newton steps on t *
 * criterion + logarithmic barriers of all bounds, with t growing until the barriers are negligible
 * (Boyd and Vandenberghe, Convex Optimization, 2004, chapter 11). Limit: the final Newton steps
 * without barriers handle at most FREE_MAX shares strictly between 0 and 1.
 *
 * With J candidates and k terms, the Hessian of the criterion has rank at most k^2, however large J
 * is. Let f_i be the features (values of the terms) of candidate i, let M = L L' be the information
 * matrix, u_i = L^-1 f_i and v_i = M^-1 f_i, and let g be the target of criterion I. The element
 * (i, j) of the Hessian is
 *
 *     criterion A  2 (u_i.u_j)(v_i.v_j)
 *     criterion D  (u_i.u_j)^2
 *     criterion I  2 (g.v_i)(u_i.u_j)(g.v_j)
 *
 * Each is a scalar product of k^2 (or k) numbers of candidate i and the corresponding numbers of
 * candidate j. Therefore, a Newton step costs J k^4 operations, not J^3.
 */
#include "programme.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "admit.h"
#include "err.h"
#include "memory.h"

enum { NEWTON_MAX = 60, FREE_MAX = 128, POLISHES = 30 };

static const double GROWTH = 30, BARRIER_GAP = 1e-6;

struct programme_work {
    const struct hm_programme *p;
    size_t rank; /* Number of columns in the matrix `factors`. */
    /* Cholesky factor L of the information matrix, M = L L'. */
    double lower[HM_TERMS_MAX][HM_TERMS_MAX];
    /* For each candidate with the features f: L^-1 f in u, and M^-1 f in v. M is the information
     * matrix, and L is its Cholesky factor. */
    double *u, *v;
    /*
     * For each candidate: derivative of the criterion, diagonal of the barriers' Hessian, Newton
     * step, and workspace.
     */
    double *slope, *diagonal, *step, *next;
    /* Matrix F with one row for each candidate; the Hessian is F F'. Element r of row j is
     * factors[j * rank + r]. */
    double *factors;
    double *small; /* Workspace for a rank x rank matrix. */
    double *right; /* Workspace for a vector of length rank. */
    void *memory;
};

/*
 * Computes the Cholesky factor of the information matrix M for the given shares of runs; returns
 * false if M is singular.
 */
static bool programme_factor(const struct hm_programme *p, const double *shares,
                             double lower[HM_TERMS_MAX][HM_TERMS_MAX])
{
    const size_t k = p->terms;

    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b <= a; b++)
            lower[a][b] = p->known[a][b];
    for (size_t j = 0; j < p->count; j++) {
        const double *f = p->features + j * k;
        for (size_t a = 0; shares[j] > 0 && a < k; a++)
            for (size_t b = 0; b <= a; b++)
                lower[a][b] += shares[j] * f[a] * f[b];
    }
    double size[HM_TERMS_MAX];
    for (size_t a = 0; a < k; a++)
        size[a] = lower[a][a];
    if (!hm__cholesky(lower, k))
        return false;
    /* If a column depends on others, its diagonal element contains only rounding errors; the matrix
     * is then singular. */
    for (size_t a = 0; a < k; a++)
        if (lower[a][a] * lower[a][a] <= 1e-12 * size[a])
            return false;
    return true;
}

static double programme_criterion(const struct hm_programme *p,
                                  double lower[HM_TERMS_MAX][HM_TERMS_MAX])
{
    const size_t k = p->terms;
    double sum = 0, column[HM_TERMS_MAX];

    if (p->criterion == HM_CRITERION_D) {
        for (size_t a = 0; a < k; a++)
            sum -= 2 * log(lower[a][a]);
        return sum;
    }
    /*
     * For the Cholesky factor L of M: trace(M^-1) is the sum of squares of L^-1, column by column;
     * g'M^-1 g = |L^-1 g|^2.
     */
    for (size_t a = 0; a < (p->criterion == HM_CRITERION_A ? k : 1); a++) {
        memset(column, 0, sizeof(column));
        if (p->criterion == HM_CRITERION_A)
            column[a] = 1;
        else
            memcpy(column, p->target, k * sizeof(*column));
        hm__lower_solve(lower, k, column);
        for (size_t b = 0; b < k; b++)
            sum += column[b] * column[b];
    }
    return sum;
}

double hm__programme_value(const struct hm_programme *p, const double *shares)
{
    double lower[HM_TERMS_MAX][HM_TERMS_MAX];

    return programme_factor(p, shares, lower) ? programme_criterion(p, lower) : INFINITY;
}

static double dot_product(const double *a, const double *b, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/*
 * Computes, from the Cholesky factor in w->lower, the gradient of the criterion with respect to the
 * shares, and the factors of its Hessian.
 */
static void programme_differentiate(struct programme_work *w)
{
    const struct hm_programme *p = w->p;
    const size_t k = p->terms;

    for (size_t j = 0; j < p->count; j++) {
        if (hm__budget_spent("n"))
            return;
        double *u = w->u + j * k, *v = w->v + j * k, *row = w->factors + j * w->rank;
        memcpy(u, p->features + j * k, k * sizeof(*u));
        hm__lower_solve(w->lower, k, u);
        memcpy(v, u, k * sizeof(*v));
        hm__upper_solve(w->lower, k, v);
        double along = dot_product(p->target, v, k);
        for (size_t a = 0, r = 0; a < k; a++) {
            if (p->criterion == HM_CRITERION_I) {
                row[r++] = sqrt(2) * along * u[a];
                continue;
            }
            for (size_t b = 0; b < k; b++)
                row[r++] = p->criterion == HM_CRITERION_A ? sqrt(2) * u[a] * v[b] : u[a] * u[b];
        }
        w->slope[j] = p->criterion == HM_CRITERION_A   ? -dot_product(v, v, k)
                      : p->criterion == HM_CRITERION_D ? -dot_product(u, u, k)
                                                       : -along * along;
    }
}

static double programme_spent(const struct hm_programme *p, const double *shares)
{
    return dot_product(p->cost, shares, p->count);
}

/*
 * Computes t * criterion + barriers. The result is INFINITY if the shares are not strictly within
 * their bounds or cost more than the budget.
 */
static double programme_barrier(const struct hm_programme *p, const double *shares, double t)
{
    double left = p->budget - programme_spent(p, shares), sum = 0;

    if (!(left > 0))
        return INFINITY;
    for (size_t j = 0; j < p->count; j++) {
        if (!(shares[j] > 0 && shares[j] < 1))
            return INFINITY;
        sum -= log(shares[j]) + log1p(-shares[j]);
    }
    return t * hm__programme_value(p, shares) + sum - (isinf(left) ? 0 : log(left));
}

/*
 * Replaces a dense matrix with its Cholesky factor; returns false if it is not positive definite.
 */
static bool dense_factor(double *a, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) {
            double sum = a[i * n + j] - dot_product(a + i * n, a + j * n, j);
            if (i == j && !(sum > 0))
                return false;
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    }
    return true;
}

static void dense_solve(const double *a, size_t n, double *b)
{
    for (size_t i = 0; i < n; i++)
        b[i] = (b[i] - dot_product(a + i * n, b, i)) / a[i * n + i];
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            b[i] -= a[k * n + i] * b[k];
        b[i] /= a[i * n + i];
    }
}

/*
 * Computes the Newton step -(D + F F')^-1 gradient with Woodbury's formula. The last column of F is
 * the barrier of the budget.
 */
static bool newton_step(struct programme_work *w, const double *gradient)
{
    const size_t count = w->p->count, rank = w->rank;

    hm__budget_steps(HM_STEP_NEWTON, (double)count * (double)(rank * rank));
    memset(w->small, 0, rank * rank * sizeof(*w->small));
    memset(w->right, 0, rank * sizeof(*w->right));
    for (size_t j = 0; j < count; j++) {
        if (hm__budget_spent("n"))
            return false;
        const double *row = w->factors + j * rank;
        for (size_t r = 0; r < rank; r++) {
            double scaled = row[r] / w->diagonal[j];
            w->right[r] += scaled * gradient[j];
            for (size_t q = 0; q <= r; q++)
                w->small[r * rank + q] += scaled * row[q];
        }
    }
    for (size_t r = 0; r < rank; r++)
        w->small[r * rank + r] += 1;
    if (!dense_factor(w->small, rank))
        return false;
    dense_solve(w->small, rank, w->right);
    for (size_t j = 0; j < count; j++)
        w->step[j] =
            -(gradient[j] - dot_product(w->factors + j * rank, w->right, rank)) / w->diagonal[j];
    return true;
}

/*
 * Performs one Newton step for the barrier parameter t; returns the Newton decrement, which
 * estimates the remaining gain, or 0 if no step is possible.
 */
static double programme_newton(struct programme_work *w, double *shares, double t)
{
    const struct hm_programme *p = w->p;
    const double left = p->budget - programme_spent(p, shares);
    double *gradient = w->next, decrement = 0, size = 1;

    if (!programme_factor(p, shares, w->lower))
        return 0;
    programme_differentiate(w);
    for (size_t j = 0; j < p->count; j++) {
        double l = shares[j], r = 1 - l, *row = w->factors + j * w->rank;
        for (size_t q = 0; q + 1 < w->rank; q++)
            row[q] *= sqrt(t);
        row[w->rank - 1] = isinf(left) ? 0 : p->cost[j] / left;
        gradient[j] = t * w->slope[j] - 1 / l + 1 / r + row[w->rank - 1];
        w->diagonal[j] = 1 / (l * l) + 1 / (r * r);
    }
    if (!newton_step(w, gradient))
        return 0;
    decrement = -dot_product(gradient, w->step, p->count);
    double now = programme_barrier(p, shares, t);
    for (int i = 0; i < 60; i++, size /= 2) {
        for (size_t j = 0; j < p->count; j++)
            w->next[j] = shares[j] + size * w->step[j];
        if (programme_barrier(p, w->next, t) <= now - 0.1 * size * decrement) {
            memcpy(shares, w->next, p->count * sizeof(*shares));
            return decrement;
        }
    }
    /* No step improves the value, because of rounding errors. */
    return 0;
}

/* ---- distance from the optimum --------------------------------------------------------------- */

struct knapsack_item {
    double gain, cost;
};

static int compare_knapsack_items(const void *a, const void *b)
{
    const struct knapsack_item *x = a, *y = b;
    double left = x->gain * y->cost, right = y->gain * x->cost;

    return left > right ? -1 : left < right;
}

/*
 * Bounds the distance from the optimum: the largest gain of a step to any feasible shares,
 * estimated by the gradient. This is a fractional knapsack problem.
 */
static int programme_certify(struct programme_work *w, const double *shares, double *ret_gap,
                             struct hm_err *err)
{
    const struct hm_programme *p = w->p;
    struct knapsack_item *all = hm__calloc(p->count, sizeof(*all));
    double left = p->budget, best = 0;

    if (!all)
        return hm__fail_nomem(err);
    for (size_t j = 0; j < p->count; j++)
        all[j] = (struct knapsack_item){-w->slope[j], p->cost[j]};
    qsort(all, p->count, sizeof(*all), compare_knapsack_items);
    for (size_t j = 0; j < p->count && left > 0; j++) {
        double share = all[j].cost > left ? left / all[j].cost : 1;
        best += share * all[j].gain;
        left -= share * all[j].cost;
    }
    *ret_gap = fmax(best + dot_product(w->slope, shares, p->count), 0);
    hm__free(all);
    return 0;
}

/* ---- Newton steps without barriers ----------------------------------------------------------- */

/* The shares that are strictly between 0 and 1. */
struct free_shares {
    size_t at[FREE_MAX], count;
    bool tight; /* True if the budget is used up. */
    double step[FREE_MAX], price[FREE_MAX];
    double hessian[]; /* Hessian, with one row for each of at most FREE_MAX shares. */
};

/*
 * Sets shares that are near 0 or 1 to exactly 0 or 1; returns false if more than FREE_MAX shares
 * remain between these bounds.
 */
static bool free_shares_init(const struct hm_programme *p, double *shares,
                             struct free_shares *loose)
{
    loose->count = 0;
    loose->tight = p->budget - programme_spent(p, shares) < 1e-3 * p->budget;
    for (size_t j = 0; j < p->count; j++) {
        if (shares[j] < 1e-3)
            shares[j] = 0;
        else if (shares[j] > 1 - 1e-3)
            shares[j] = 1;
        else if (loose->count == FREE_MAX)
            return false;
        else
            loose->at[loose->count++] = j;
    }
    return true;
}

/*
 * Computes the Newton step of the shares between their bounds: H step = -slope - price * cost,
 * where the price makes the step use up the budget (if the budget is tight).
 */
static bool free_shares_step(struct programme_work *w, const double *shares, struct free_shares *l)
{
    const size_t n = l->count;
    double most = 0, left = w->p->budget - programme_spent(w->p, shares);

    for (size_t a = 0; a < n; a++) {
        const double *row = w->factors + l->at[a] * w->rank;
        for (size_t b = 0; b <= a; b++)
            l->hessian[a * n + b] = dot_product(row, w->factors + l->at[b] * w->rank, w->rank - 1);
        most = fmax(most, l->hessian[a * n + a]);
        l->step[a] = -w->slope[l->at[a]];
        l->price[a] = w->p->cost[l->at[a]];
    }
    /* A small ridge selects one solution if the shares are not unique. */
    for (size_t a = 0; a < n; a++)
        l->hessian[a * n + a] += 1e-13 * most;
    if (!dense_factor(l->hessian, n))
        return false;
    dense_solve(l->hessian, n, l->step);
    if (!l->tight)
        return true;
    dense_solve(l->hessian, n, l->price);
    double along = 0, size = 0;
    for (size_t a = 0; a < n; a++) {
        along += w->p->cost[l->at[a]] * l->step[a];
        size += w->p->cost[l->at[a]] * l->price[a];
    }
    for (size_t a = 0; size > 0 && a < n; a++)
        l->step[a] += (left - along) / size * l->price[a];
    return true;
}

/*
 * Performs Newton steps on the shares between their bounds until they no longer change; a share
 * that reaches a bound stays there.
 */
static void free_shares_polish(struct programme_work *w, double *shares, struct free_shares *l)
{
    for (int i = 0; i < POLISHES && l->count > 0; i++) {
        if (hm__budget_spent("n"))
            break;
        double size = 1, moved = 0;
        size_t stopped = FREE_MAX;
        if (!programme_factor(w->p, shares, w->lower))
            return;
        programme_differentiate(w);
        if (!free_shares_step(w, shares, l))
            return;
        for (size_t a = 0; a < l->count; a++) {
            double now = shares[l->at[a]], step = l->step[a];
            double most = step > 0 ? (1 - now) / step : step < 0 ? -now / step : INFINITY;
            moved = fmax(moved, fabs(step));
            if (most < size) {
                size = most;
                stopped = a;
            }
        }
        for (size_t a = 0; a < l->count; a++)
            shares[l->at[a]] = fmin(fmax(shares[l->at[a]] + size * l->step[a], 0), 1);
        if (stopped < FREE_MAX) {
            shares[l->at[stopped]] = l->step[stopped] > 0 ? 1 : 0;
            l->at[stopped] = l->at[--l->count];
        } else if (moved < 1e-13) {
            return;
        }
    }
}

/*
 * Improves the shares with Newton steps without barriers; keeps the result if its bound on the
 * distance from the optimum is smaller.
 */
static int programme_finish(struct programme_work *w, double *shares, double *ret_gap,
                            struct hm_err *err)
{
    const struct hm_programme *p = w->p;
    const size_t rows = p->count < FREE_MAX ? p->count : FREE_MAX;
    struct free_shares *loose = hm__calloc(1, sizeof(*loose) + rows * rows * sizeof(double));
    double *better = hm__calloc(p->count, sizeof(*better)), gap = INFINITY;
    int rc = loose && better && programme_factor(p, shares, w->lower) ? 0 : hm__fail_nomem(err);

    if (rc == 0) {
        programme_differentiate(w);
        rc = programme_certify(w, shares, ret_gap, err);
        memcpy(better, shares, p->count * sizeof(*better));
    }
    if (rc == 0 && free_shares_init(p, better, loose)) {
        free_shares_polish(w, better, loose);
        if (programme_spent(p, better) <= p->budget * (1 + 1e-12) &&
            programme_factor(p, better, w->lower)) {
            programme_differentiate(w);
            rc = programme_certify(w, better, &gap, err);
        }
    }
    if (rc == 0 && gap < *ret_gap) {
        memcpy(shares, better, p->count * sizeof(*better));
        *ret_gap = gap;
    }
    hm__free(loose);
    hm__free(better);
    return rc;
}

/* Returns the rank of the Hessian of the criterion, with the barrier of the budget. */
static size_t programme_rank(const struct hm_programme *p)
{
    return 1 + (p->criterion == HM_CRITERION_I ? p->terms : p->terms * p->terms);
}

/*
 * Estimates the work of the programme. Between 40 and 360 Newton steps were counted for 25 to
 * 10,000 candidates, about in proportion to the number of terms.
 */
static int programme_admit(const struct hm_programme *p, struct hm_err *err)
{
    static const double LEAST_STEPS = 20, STEPS_PER_TERM = 20;
    const double rank = (double)programme_rank(p);
    const struct hm_work_factor factors[] = {
        {"n", (double)p->count, "candidates"},
        {NULL, LEAST_STEPS + STEPS_PER_TERM * (double)p->terms, "Newton steps"},
        {"terms", rank * rank, "products of terms"}};

    return hm__admit(HM_STEP_NEWTON, factors, sizeof(factors) / sizeof(factors[0]), err);
}

static int programme_allocate(struct programme_work *w, const struct hm_programme *p,
                              struct hm_err *err)
{
    const size_t count = p->count, k = p->terms;

    w->p = p;
    w->rank = programme_rank(p);
    size_t total = count * (2 * k + 4 + w->rank) + w->rank * (w->rank + 1);
    double *at = w->memory = hm__calloc(total, sizeof(double));
    if (!at)
        return hm__fail_nomem(err);
    w->u = at;
    w->v = w->u + count * k;
    w->slope = w->v + count * k;
    w->diagonal = w->slope + count;
    w->step = w->diagonal + count;
    w->next = w->step + count;
    w->factors = w->next + count;
    w->small = w->factors + count * w->rank;
    w->right = w->small + w->rank * w->rank;
    return 0;
}

/* Reports a criterion that overflows: no shares can be compared then. */
static int fail_not_finite(struct hm_err *err)
{
    return hm__fail(
        err, HM_E_RANGE,
        "the variance of the coefficients is not a finite number: the budget, a cost or "
        "a value of a column is too small or too large");
}

int hm__programme_solve(const struct hm_programme *p, double *shares, double *ret_value,
                        double *ret_gap, struct hm_err *err)
{
    struct programme_work w;
    double all = 0;
    int rc = programme_admit(p, err);

    if (rc == 0)
        rc = programme_allocate(&w, p, err);
    if (rc)
        return rc;
    for (size_t j = 0; j < p->count; j++)
        all += p->cost[j];
    for (size_t j = 0; j < p->count; j++)
        shares[j] = 0.5 * fmin(1, p->budget / fmax(all, 1e-300));
    double value = hm__programme_value(p, shares), bounds = 2 * (double)p->count + 1;
    double scale = fmax(fabs(value), 1), t = bounds / scale;
    if (!(t > 0)) {
        hm__free(w.memory);
        return fail_not_finite(err);
    }
    /*
     * The gap is relative to the value of the criterion, except for criterion D, which is a
     * logarithm. Values near the smallest numbers never reach it: then the largest t ends the loop.
     */
    for (bool last = false; !last && isfinite(t); t *= GROWTH) {
        for (int i = 0; i < NEWTON_MAX; i++)
            if (!(programme_newton(&w, shares, t) >= 1e-6) || hm__budget_spent("n"))
                break;
        value = hm__programme_value(p, shares);
        scale = p->criterion == HM_CRITERION_D ? 1 : fabs(value);
        last = bounds / t < BARRIER_GAP * scale || hm__budget_spent("n");
    }
    rc = programme_finish(&w, shares, ret_gap, err);
    if (rc == 0)
        *ret_value = hm__programme_value(p, shares);
    hm__free(w.memory);
    return rc;
}
