/*
 * Computes the residuals of a fit, and adds notes that a user should read before trusting the fit.
 *
 * The leverage h, the leave-one-out error e / (1 - h) of a residual e, and Cook's distance follow
 * Cook and Weisberg 1982. They use the terms with a coefficient above 0 and the final weights. A
 * run is an outlier if its studentised residual is significant at the 5 % level over all runs
 * (Bonferroni correction); outliers are reported but stay in the fit. Limit: coefficients that are
 * 0 count as known to be 0.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "fit.h"
#include "student.h"

/* The weighted least-squares problem restricted to the terms with a coefficient above 0. */
struct active_terms {
    struct hm_lsq lsq;
    size_t terms[HM_TERMS_MAX], count;
};

static void find_active(const struct hm__fit *f, struct active_terms *a)
{
    a->count = 0;
    for (size_t k = 0; k < f->basis.count; k++)
        if (f->in[k] && f->theta[k] > 0)
            a->terms[a->count++] = k;
    hm__lsq_pick(&f->lsq, a->terms, a->count, &a->lsq);
    /* Each prior of the specification sheet counts as an additional row of the problem. */
    for (size_t k = 0; k < a->count && f->basis.sheet; k++) {
        double row[HM_LSQ_SIDE] = {0};
        row[k] = f->spread / f->basis.priors[a->terms[k]].width;
        hm__lsq_add(&a->lsq, row);
    }
}

static double run_leverage(const struct hm__fit *f, const struct active_terms *a, size_t group)
{
    double x[HM_TERMS_MAX], u[HM_TERMS_MAX], sum = 0;

    for (size_t k = 0; k < a->count; k++)
        x[k] = f->x[a->terms[k] * f->data.group_count + group] * f->scale[group];
    hm__lsq_whiten(&a->lsq, x, u);
    for (size_t k = 0; k < a->count; k++)
        sum += u[k] * u[k];
    return fmin(sum, 1);
}

/* Returns whether a run differs from the default values in a quantity other than n that the terms
 * use. */
static bool run_is_elsewhere(const struct hm__fit *f, size_t group)
{
    for (size_t q = 1; q < f->basis.quantity_count; q++)
        if (hm__basis_needs(&f->basis, f->in, q) && f->data.places[q][group] != f->at[q])
            return true;
    return false;
}

/*
 * Returns whether the residual `off` of a run with leverage h is significant at the 5 % level over
 * all runs. `plain` is the sum of squares with equal weights for all repeats: with weights from the
 * spread of repeats, an outlier among noisy repeats would not be found.
 */
static bool residual_is_outlier(double off, double h, double plain, double free, double runs)
{
    double rest = plain - off * off / (1 - h);

    if (free <= 2 || h > 1 - 1e-9 || rest <= 0)
        return false;
    double t = fabs(off) / sqrt(rest / (free - 1) * (1 - h));
    /*
     * A residual with t <= 2.5 is never an outlier; skipping it avoids most evaluations of the
     * test.
     */
    return t > 2.5 && 2 * hm__student_tail(free - 1, t) * runs < 0.05;
}

static void residual_init(const struct hm_fit *fit, const struct active_terms *a, double sum,
                          double plain, size_t i, struct hm_residual *r)
{
    const struct hm__fit *f = fit->inside;
    const size_t group = f->data.group_of[i];
    const double runs = (double)f->data.count, free = runs - (double)a->count;
    const double h = run_leverage(f, a, group);

    *r = (struct hm_residual){.row = f->data.rows[i],
                              .line = hm__runs_line(f->data.runs, f->data.rows[i]),
                              .n = f->data.places[0][group],
                              .seconds = f->data.seconds[i]};
    r->elsewhere = run_is_elsewhere(f, group);
    r->fitted_s = hm__fit_seconds(fit, f->x, f->data.group_count, group, HM_NONE);
    r->leverage = h;
    double off = (r->seconds - r->fitted_s) * f->scale[group];
    r->left_out_s = r->seconds - (r->seconds - r->fitted_s) / (1 - h);
    /*
     * The leave-one-out prediction is unknown if the other runs do not determine the coefficients.
     */
    if (h > 1 - 1e-9)
        r->left_out_s = NAN;
    r->influence =
        free > 0 ? off * off * h / ((double)a->count * sum / free * (1 - h) * (1 - h)) : NAN;
    r->outlier =
        residual_is_outlier(off / sqrt(f->data.groups[group].evidence), h, plain, free, runs);
}

/* Returns the sum of squared residuals with equal weights for all repeats. */
static double residual_plain_sum(const struct hm_fit *fit)
{
    const struct hm__fit *f = fit->inside;
    double sum = 0;

    for (size_t i = 0; i < f->data.count; i++) {
        const size_t group = f->data.group_of[i];
        double scale = f->scale[group] / sqrt(f->data.groups[group].evidence);
        double fitted = hm__fit_seconds(fit, f->x, f->data.group_count, group, HM_NONE);
        double off = (f->data.seconds[i] - fitted) * scale;
        sum += off * off;
    }
    return sum;
}

static int fill_residuals(struct hm_fit *fit, struct hm_err *err)
{
    const struct hm__fit *f = fit->inside;
    size_t count = f->data.count < HM_FIT_RESIDUALS ? f->data.count : HM_FIT_RESIDUALS;
    struct active_terms a;
    double squares = 0, left_out = 0;

    fit->residuals = hm__arena_alloc(fit->memory, count, sizeof(*fit->residuals));
    if (!fit->residuals)
        return hm__fail_nomem(err);
    fit->residual_count = count;
    find_active(f, &a);
    double sum = hm__lsq_residual(&f->lsq, f->theta), plain = residual_plain_sum(fit);
    for (size_t i = 0; i < f->data.count; i++) {
        struct hm_residual r;
        residual_init(fit, &a, sum, plain, i, &r);
        double off = r.fitted_s / r.seconds - 1, without = r.left_out_s / r.seconds - 1;
        squares += off * off;
        left_out += without * without;
        if (i < count)
            fit->residuals[i] = r;
    }
    fit->error = sqrt(squares / (double)f->data.count);
    fit->left_out_error = sqrt(left_out / (double)f->data.count);
    return 0;
}

/* ---- notes ----------------------------------------------------------------------------------- */

/*
 * Returns the fraction of term k, 0..1, that is not a linear combination of the other terms in use.
 */
static double term_own_share(const struct hm_lsq *lsq, const bool *in, size_t k)
{
    struct hm_lsq part;
    size_t terms[HM_TERMS_MAX], count = 0;

    for (size_t j = 0; j < lsq->count; j++)
        if (in[j] && j != k)
            terms[count++] = j;
    terms[count++] = k;
    hm__lsq_pick(lsq, terms, count, &part);
    double norm = hm__lsq_norm(&part, count - 1);
    return norm > 0 ? fabs(part.r[count - 1][count - 1]) / norm : 0;
}

/*
 * Returns the cosine of the angle between two terms, seen as vectors over the runs; 1 means that
 * they are proportional.
 */
static double term_cosine(const struct hm_lsq *lsq, size_t a, size_t b)
{
    double dot = 0;

    for (size_t i = 0; i <= (a < b ? a : b); i++)
        dot += lsq->r[i][a] * lsq->r[i][b];
    return dot / (hm__lsq_norm(lsq, a) * hm__lsq_norm(lsq, b));
}

/*
 * Returns the fraction of term k that would not be a combination of the other terms if a run on n
 * workers were added.
 */
static double term_share_with(const struct hm_fit *fit, size_t k, double n)
{
    const struct hm__fit *f = fit->inside;
    double values[HM_QUANTITIES_MAX], x[HM_TERMS_MAX + 1], row[HM_LSQ_SIDE] = {0};
    const double *columns[HM_QUANTITIES_MAX];
    struct hm_err ignored = {0};
    struct hm_lsq more = f->lsq;

    for (size_t q = 0; q < f->basis.quantity_count; q++) {
        values[q] = q == 0 ? n : isnan(f->at[q]) ? f->data.high[q] : f->at[q];
        columns[q] = &values[q];
    }
    if (hm__basis_eval(&f->basis, columns, 1, x, &ignored))
        return 0;
    double seconds = hm__fit_seconds(fit, x, 1, 0, HM_NONE);
    for (size_t j = 0; j < f->basis.count; j++)
        row[j] = x[j] / (fit->errors == HM_ERRORS_RELATIVE ? seconds : 1);
    hm__lsq_add(&more, row);
    return term_own_share(&more, f->in, k);
}

/*
 * Returns the number of workers of an additional run, at least twice the largest measured number,
 * that would distinguish term k from the other terms.
 */
static double distinguishing_n(const struct hm_fit *fit, size_t k, double share)
{
    double n = 2 * fit->n_max;

    for (int i = 0; i < 2 && term_share_with(fit, k, n) < fmax(3 * share, 0.05); i++)
        n *= 2;
    return n;
}

/*
 * If less than the fraction HARDLY of a term is independent of the other terms, the runs hardly
 * determine its coefficient; below NOT_AT_ALL, they do not determine it.
 */
static const double HARDLY = 0.03, NOT_AT_ALL = 1e-8;

static int note_alike(struct hm_fit *fit, struct hm_err *err)
{
    const struct hm__fit *f = fit->inside;
    bool noted[HM_TERMS_MAX] = {0};
    int rc = 0;

    for (size_t k = 0; rc == 0 && k < f->basis.count && !fit->chosen; k++) {
        double share = f->in[k] ? term_own_share(&f->lsq, f->in, k) : 1;
        size_t like = HM_NONE;
        if (share > HARDLY)
            continue;
        for (size_t j = 0; j < f->basis.count; j++)
            if (f->in[j] && j != k &&
                (like == HM_NONE || term_cosine(&f->lsq, k, j) > term_cosine(&f->lsq, k, like)))
                like = j;
        if (like == HM_NONE || noted[like] || noted[k])
            continue;
        noted[k] = noted[like] = true;
        rc = hm__notes_add(hm__fit_notes(fit), err,
                           "these runs %s distinguish %s from %s: add a run at n >= %g",
                           share < NOT_AT_ALL ? "cannot" : "can hardly", f->basis.texts[k],
                           f->basis.texts[like], distinguishing_n(fit, k, share));
    }
    return rc;
}

/* A fit whose relative error is at least this value does not describe the runs. */
static const double FAR_OFF = 0.15;

static int note_far_off(struct hm_fit *fit, struct hm_err *err)
{
    /* A larger error is not written in full; it may be infinite. */
    const double most = 1e6;
    char off[40];

    if (fit->error < FAR_OFF)
        return 0;
    snprintf(off, sizeof(off), fit->error < most ? "%.0f %%" : "more than %.0f %%",
             100 * fmin(fit->error, most));
    if (!fit->from_sheet)
        return hm__notes_add(hm__fit_notes(fit), err,
                             "these terms do not describe the runs: they miss them by %s", off);
    return hm__notes_add(
        hm__fit_notes(fit), err,
        "the sheet and the runs disagree: even corrected, the sheet misses them by %s", off);
}

/*
 * Adds a note if the residual is larger than the spread of repeats allows: a lack-of-fit test at
 * the 1 % level.
 */
static int note_misfit(struct hm_fit *fit, struct hm_err *err)
{
    const struct hm__fit *f = fit->inside;
    struct active_terms a;
    double within, free = hm__fit_data_repeats(&f->data, f->scale, &within);

    find_active(f, &a);
    double more = (double)f->data.group_count - (double)a.count;
    double misfit = hm__lsq_residual(&f->lsq, f->theta) - within;
    if (free < 1 || more < 1 || within <= 0 || fit->from_sheet)
        return 0;
    double ratio = (misfit / more) / (within / free);
    /* Squares of terms near the largest number are infinite, and the misfit is then unknown. */
    if (!isfinite(ratio) || hm__fisher_tail(more, free, ratio) > 0.01)
        return 0;
    return hm__notes_add(
        hm__fit_notes(fit), err,
        "the terms miss the runs by %.1f times the spread of the repeats: a term is "
        "missing",
        sqrt(ratio));
}

/*
 * An outlier is not noted if its relative distance from the prediction is below this fraction,
 * because repeats differ by as much.
 */
static const double OUTLIER_NOTED = 0.01;

static int note_outliers(struct hm_fit *fit, struct hm_err *err)
{
    size_t shown = 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < fit->residual_count && shown < 3; i++) {
        const struct hm_residual *r = &fit->residuals[i];
        if (!r->outlier || fabs(r->seconds / r->left_out_s - 1) < OUTLIER_NOTED)
            continue;
        shown++;
        rc = hm__notes_add(
            hm__fit_notes(fit), err,
            "line %d (n = %g) is an outlier: %.4g s, while the other runs predict %.4g s; "
            "it is not left out",
            r->line, r->n, r->seconds, r->left_out_s);
    }
    return rc;
}

/*
 * Adds a note for each text column with different values, because runs of different kinds are then
 * fitted together.
 */
static int note_labels(struct hm_fit *fit, struct hm_err *err)
{
    const struct hm_fit_data *data = &fit->inside->data;
    int rc = 0;

    for (size_t c = 0; rc == 0 && c < data->runs->column_count; c++) {
        const struct hm_column *column = &data->runs->columns[c];
        /* Start times always differ, so they do not show that the runs are of different kinds. */
        if (strcmp(column->name, "started") == 0)
            continue;
        const char *first = column->labels ? column->labels[data->rows[0]] : NULL;
        for (size_t i = 1; first && i < data->count; i++) {
            const char *other = column->labels[data->rows[i]];
            if (!other || strcmp(first, other) == 0)
                continue;
            rc =
                hm__notes_add(hm__fit_notes(fit), err,
                              "runs of different %s are fitted together (such as %s and %s): where "
                              "%s=%s selects one kind",
                              column->name, first, other, column->name, first);
            break;
        }
    }
    return rc;
}

static int note_few(struct hm_fit *fit, struct hm_err *err)
{
    const struct hm__fit *f = fit->inside;
    size_t terms = fit->term_count;

    if (fit->failed > 0) {
        int rc = hm__notes_add(hm__fit_notes(fit), err, "%zu of %zu runs failed: not in the fit",
                               fit->failed, fit->failed + fit->run_count);
        if (rc)
            return rc;
    }
    if (!fit->intervals)
        return hm__notes_add(
            hm__fit_notes(fit), err,
            "%zu runs for %zu terms are too few for an interval: add runs, or leave "
            "terms out",
            fit->run_count, terms);
    if (!fit->from_sheet && f->data.count < terms + 3)
        return hm__notes_add(
            hm__fit_notes(fit), err,
            "%zu runs for %zu term%s give an uncertain interval: another run would help",
            fit->run_count, terms, terms == 1 ? "" : "s");
    return 0;
}

int hm__fit_diagnose(struct hm_fit *fit, struct hm_err *err)
{
    if (fit->run_count == 0)
        return hm__notes_add(hm__fit_notes(fit), err,
                             "no runs: the prediction comes from the specification sheet alone");
    int rc = fill_residuals(fit, err);
    if (rc == 0)
        rc = hm__fit_note_runs(fit, err);
    if (rc == 0)
        rc = note_far_off(fit, err);
    if (rc == 0)
        rc = note_few(fit, err);
    if (rc == 0)
        rc = note_labels(fit, err);
    if (rc == 0)
        rc = note_outliers(fit, err);
    if (rc == 0 && !fit->from_sheet)
        rc = note_alike(fit, err);
    return rc ? rc : note_misfit(fit, err);
}
