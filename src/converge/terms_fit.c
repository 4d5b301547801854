/*
 * Fits the loss curve g(i, m) as a sum of terms x_k, chosen by the Lasso: for y = ln(P - P*),
 *
 *     minimise 1/2 sum of weight (y - a - sum theta_k x_k)^2 + penalty sum |theta_k| sd(x_k)
 *
 * All penalties are compared by cross-validation. The chosen penalty is the largest one whose error
 * is within one standard error of the smallest error (Breiman's rule), so that terms that do not
 * improve the prediction of other traces are left out. The uncertainty of the coefficients comes
 * from repeated fits with random weights of the folds (Rubin's Bayesian bootstrap); a fold holds
 * the traces on one number of workers m, so the spread shows the effect of having measured other m.
 * Limit: at most HM_G_PARAMETERS terms are reported.
 */
#include <math.h>
#include <string.h>

#include "budget.h"
#include "converge.h"
#include "err.h"

/* Number of penalties that are tried, and number of points between checks of the budget. */
enum { PENALTIES = 60, PENALTY_CHECKS = 256 };

static const double LEAST_PENALTY = 1e-4, TOLERANCE = 1e-8, DRAW_TOLERANCE = 1e-6;

/* Inputs, intermediate values and results of one fit of terms. */
struct terms_work {
    const struct hm_g_data *data;
    struct hm_g_basis basis;
    struct hm_gram folds[HM_G_FOLDS];
    bool held[HM_G_FOLDS];
    struct hm_lasso lasso; /* The Lasso problem with all folds. */
    struct hm_lasso_choice choice;
    double b[HM_LASSO_MAX];         /* Coefficients of the standardised terms. */
    double theta[HM_LASSO_MAX + 1]; /* The constant, followed by the coefficients of the terms. */
    double draws[HM_G_DRAWS][HM_LASSO_MAX + 1];
    /*
     * without[f] holds the constant and the coefficients fitted without fold f; without[f][0] is
     * NaN if fold f is never held out.
     */
    double without[HM_G_FOLDS][HM_LASSO_MAX + 1];
    /*
     * True for each term that has a nonzero coefficient in theta, in a random draw or in a fit that
     * leaves out one fold.
     */
    bool used[HM_LASSO_MAX];
};

static int terms_reduce(struct terms_work *w, struct hm_err *err)
{
    const struct hm_g_data *d = w->data;
    size_t count = w->basis.count;
    double *x = hm__calloc(count * d->count + 1, sizeof(*x)), row[HM_LASSO_MAX];
    int rc = x ? hm__g_basis_eval(&w->basis, d->i, d->m, d->count, x, err) : hm__fail_nomem(err);

    for (size_t f = 0; f < d->fold_count; f++)
        hm__gram_init(&w->folds[f], count);
    for (size_t p = 0; rc == 0 && p < d->count; p++) {
        if (p % PENALTY_CHECKS == 0 && (rc = hm__budget_check("traces", err)))
            break;
        for (size_t k = 0; k < count; k++)
            row[k] = x[k * d->count + p];
        hm__gram_add(&w->folds[d->fold[p]], row, d->y[p], d->weight[p]);
    }
    hm__free(x);
    for (size_t f = 0; f < d->fold_count; f++)
        w->held[f] = d->held[f] && w->folds[f].weight > 0;
    return rc;
}

static void terms_merge(const struct terms_work *w, const double *weights,
                        struct hm_lasso *ret_lasso)
{
    struct hm_gram all;

    hm__gram_init(&all, w->basis.count);
    for (size_t f = 0; f < w->data->fold_count; f++)
        if (w->folds[f].weight > 0 && !(weights && weights[f] == 0))
            hm__gram_merge(&all, &w->folds[f], weights ? weights[f] : 1);
    hm__lasso_init(ret_lasso, &all);
}

/*
 * Solves the Lasso for each penalty, from the largest penalty down to the chosen one. Each solution
 * is the starting point for the next.
 */
static void terms_solve(struct terms_work *w)
{
    terms_merge(w, NULL, &w->lasso);
    for (size_t p = 0; p <= w->choice.chosen; p++)
        hm__lasso_solve(&w->lasso, w->choice.penalties[p], TOLERANCE, w->b);
    hm__lasso_unscale(&w->lasso, w->b, &w->theta[0], w->theta + 1);
    for (size_t k = 0; k < w->basis.count; k++)
        w->used[k] = w->theta[1 + k] != 0;
}

static void terms_draw(struct terms_work *w, double seed)
{
    double weights[HM_G_FOLDS];
    struct hm_lasso lasso;

    for (size_t d = 0; d < HM_G_DRAWS; d++) {
        if (hm__budget_spent("traces"))
            break;
        double b[HM_LASSO_MAX];
        memcpy(b, w->b, sizeof(b));
        hm__g_fold_weights(seed, d, w->data->fold_count, weights);
        terms_merge(w, weights, &lasso);
        hm__lasso_solve(&lasso, w->choice.penalties[w->choice.chosen], DRAW_TOLERANCE, b);
        hm__lasso_unscale(&lasso, b, &w->draws[d][0], &w->draws[d][1]);
        for (size_t k = 0; k < w->basis.count; k++)
            w->used[k] = w->used[k] || w->draws[d][1 + k] != 0;
    }
}

/* Fits once for each fold that may be held out, each time without the points of that fold. */
static void terms_hold_out(struct terms_work *w)
{
    double weights[HM_G_FOLDS];
    struct hm_lasso lasso;

    for (size_t f = 0; f < w->data->fold_count; f++)
        weights[f] = 1;
    for (size_t f = 0; f < w->data->fold_count; f++) {
        double b[HM_LASSO_MAX];
        w->without[f][0] = NAN;
        if (!w->held[f])
            continue;
        memcpy(b, w->b, sizeof(b));
        weights[f] = 0;
        terms_merge(w, weights, &lasso);
        weights[f] = 1;
        hm__lasso_solve(&lasso, w->choice.penalties[w->choice.chosen], TOLERANCE, b);
        hm__lasso_unscale(&lasso, b, &w->without[f][0], &w->without[f][1]);
        for (size_t k = 0; k < w->basis.count; k++)
            w->used[k] = w->used[k] || w->without[f][1 + k] != 0;
    }
}

/* Writes the constant and the used terms to the loss curve g, in the order of the term list. */
static int terms_write(struct hm_g *g, struct hm_arena *arena, const struct terms_work *w,
                       double **ret_held, struct hm_err *err)
{
    size_t index[HM_LASSO_MAX + 1] = {0}, count = 1;

    for (size_t k = 0; k < w->basis.count && count < HM_G_PARAMETERS; k++)
        if (w->used[k])
            index[count++] = 1 + k;
    g->form = HM_G_TERMS;
    g->parameter_count = count;
    g->draw_count = HM_G_DRAWS;
    g->parameters = hm__arena_alloc(arena, count, sizeof(*g->parameters));
    g->draws = hm__arena_alloc(arena, count * HM_G_DRAWS, sizeof(*g->draws));
    double *held = hm__arena_alloc(arena, count * w->data->fold_count, sizeof(*held));
    if (!g->parameters || !g->draws || !held)
        return hm__fail_nomem(err);
    for (size_t k = 0; k < count; k++) {
        g->parameters[k].text = k == 0 ? "1" : w->basis.texts[index[k] - 1];
        g->parameters[k].value = w->theta[index[k]];
        for (size_t d = 0; d < HM_G_DRAWS; d++)
            g->draws[d * count + k] = w->draws[d][index[k]];
        for (size_t f = 0; f < w->data->fold_count; f++)
            held[f * count + k] = w->without[f][index[k]];
    }
    *ret_held = held;
    return 0;
}

/*
 * Chooses the penalty by cross-validation; with fewer than two folds to hold out, chooses the
 * middle penalty.
 */
static int terms_choose_penalty(struct terms_work *w, struct hm_err *err)
{
    size_t held = 0;

    for (size_t f = 0; f < w->data->fold_count; f++)
        held += w->held[f];
    if (held >= 2)
        return hm__lasso_choose(w->folds, w->held, w->data->fold_count, PENALTIES, LEAST_PENALTY,
                                TOLERANCE, &w->choice, NULL, err);
    terms_merge(w, NULL, &w->lasso);
    w->choice.penalty_count = PENALTIES;
    w->choice.chosen = PENALTIES / 2;
    for (size_t p = 0; p < PENALTIES; p++)
        w->choice.mean[p] = NAN;
    double most = hm__lasso_penalty_max(&w->lasso);
    hm__lasso_penalties(most > 0 ? most : 1, LEAST_PENALTY, PENALTIES, w->choice.penalties);
    return 0;
}

static int terms_fit(struct terms_work *w, struct hm_g *g, struct hm_arena *arena,
                     const struct hm_converge_settings *settings, double **ret_held,
                     struct hm_err *err)
{
    int rc = hm__g_basis_init(&w->basis, arena, settings->terms, settings->term_count,
                              w->data->m_count > 1, err);

    rc = rc ? rc : terms_reduce(w, err);
    rc = rc ? rc : terms_choose_penalty(w, err);
    if (rc)
        return rc;
    terms_solve(w);
    terms_draw(w, settings->seed);
    terms_hold_out(w);
    g->penalty = w->choice.penalties[w->choice.chosen];
    g->error = sqrt(w->choice.mean[w->choice.chosen]) / log(10);
    return terms_write(g, arena, w, ret_held, err);
}

int hm__g_fit_terms(struct hm_g *g, struct hm_arena *arena, const struct hm_g_data *data,
                    const struct hm_converge_settings *settings, double **ret_held,
                    struct hm_err *err)
{
    struct terms_work *w = hm__calloc(1, sizeof(*w));

    if (!w)
        return hm__fail_nomem(err);
    w->data = data;
    int rc = terms_fit(w, g, arena, settings, ret_held, err);
    hm__free(w);
    return rc;
}
