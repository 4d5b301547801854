/*
 * Computes the predictions of a fit: the time on n workers, its interval, and the speedup. The time
 * t(n) is the sum of coefficient * term at n; the bounds of the interval are quantiles of the
 * draws. Limit: beyond the measured n, the interval is correct only if the terms are correct.
 */
#include <math.h>
#include <string.h>

#include "budget.h"
#include "checks.h"
#include "err.h"
#include "fit.h"
#include "overlap.h"
#include "student.h"
#include "text.h"

double hm_fit_reference_s(const struct hm_fit *fit)
{
    const struct hm_sheet *sheet = fit && fit->inside ? fit->inside->basis.sheet : NULL;

    return sheet ? hm__sheet_reference_s(sheet) : 1;
}

size_t hm__fit_draw_count(const struct hm_fit *fit)
{
    return fit->inside->draw_count;
}

/*
 * Returns the factor exp(z s) by which the predicted time of a draw is multiplied if n is outside
 * the range of the measured runs. The factor represents the error of extrapolation, which the terms
 * of the model cannot describe: s is the standard deviation of its logarithm at n, and z is the
 * random number of this draw.
 */
static double drift_factor(const struct hm_fit *fit, const double *x, size_t count, size_t i,
                           size_t draw)
{
    const struct hm__fit *f = fit->inside;
    double ln_n = x[hm__basis_log_row(&f->basis) * count + i];
    double octaves = fmax(ln_n - log(fit->n_max), log(fit->n_min) - ln_n) / log(2);

    if (octaves <= 0)
        return 1;
    double spread = f->rule.drift * pow(octaves, f->rule.drift_power);
    double crossing = ln_n > log(fit->one_node) + 1e-9 ? f->rule.crossing : 0;
    return exp(f->drift[draw] * sqrt(spread * spread + crossing * crossing));
}

double hm__fit_seconds(const struct hm_fit *fit, const double *x, size_t count, size_t i,
                       size_t draw)
{
    const struct hm__fit *f = fit->inside;
    const double *theta = draw == HM_NONE ? f->theta : f->draws[draw].theta;
    const size_t first = f->basis.overlaps ? 2 : 0;
    double sum = first ? hm__overlap_seconds(&f->basis, x, count, i, theta[0], theta[1]) : 0;

    for (size_t k = first; k < f->basis.count; k++)
        if (theta[k] != 0)
            sum += theta[k] * x[k * count + i];
    return draw == HM_NONE || !f->drift ? sum : sum * drift_factor(fit, x, count, i, draw);
}

double hm__fit_run_seconds(const struct hm_fit *fit, const double *x, size_t count, size_t i,
                           size_t draw)
{
    const struct hm__fit *f = fit->inside;
    double mean = hm__fit_seconds(fit, x, count, i, draw);
    double unit = fit->errors == HM_ERRORS_RELATIVE ? mean : 1;

    return fmax(mean + f->draws[draw].spread * f->luck[draw] * unit, 0);
}

double hm__fit_shared(const struct hm_fit *fit, const double *x, size_t count, size_t i)
{
    const struct hm__fit *f = fit->inside;
    /* With overlap, the divided work takes the time of a step without communication. */
    double sum =
        f->basis.overlaps ? hm__overlap_seconds(&f->basis, x, count, i, f->theta[0], 0) : 0;

    for (size_t k = 0, used = 0; k < f->basis.count; k++) {
        if (!f->in[k])
            continue;
        bool falls = fit->terms[used++].falls;
        if (falls && !(f->basis.overlaps && k < 2))
            sum += f->theta[k] * x[k * count + i];
    }
    return sum;
}

double hm__fit_term_at(const struct hm_fit *fit, const double *x, size_t used)
{
    const struct hm__fit *f = fit->inside;
    size_t k = 0;

    for (size_t seen = 0; k < f->basis.count; k++)
        if (f->in[k] && seen++ == used)
            break;
    return x[k];
}

static const char *quantity_name(const void *context, size_t i)
{
    const struct hm_basis *basis = context;
    return i < basis->quantity_count ? basis->quantities[i] : NULL;
}

/* Values of all quantities other than n in a prediction, and how these values depend on n. */
struct place_values {
    double values[HM_QUANTITIES_MAX];
    enum hm_by_n by_n[HM_QUANTITIES_MAX];
};

/*
 * Returns the index of the quantity `name`, or the index of the batch for "batch_per_worker"; -1 if
 * the runs have no such quantity. *ret_by_n receives how its value depends on n.
 */
static int place_find(const struct hm_basis *basis, const char *name, enum hm_by_n *ret_by_n)
{
    bool each = strcmp(name, "batch_per_worker") == 0 && hm__basis_find(basis, "batch") >= 0;

    *ret_by_n = each ? HM_BY_WORKERS : HM_BY_NOTHING;
    return hm__basis_find(basis, each ? "batch" : name);
}

static int place_set(const struct hm_basis *basis, const struct hm_at *at, struct place_values *p,
                     struct hm_err *err)
{
    enum hm_by_n by_n;
    int q = place_find(basis, at->name, &by_n);

    if (q < 0) {
        const char *near = hm__suggest(at->name, quantity_name, basis);
        hm__fail(err, HM_E_NAME, "the runs have no quantity '%s'", at->name);
        if (near)
            hm__err_hint(err, "did you mean %s?", near);
        return HM_E_NAME;
    }
    bool latency = strcmp(at->name, "latency") == 0;
    if (!isfinite(at->value) || !(latency ? at->value >= 0 : at->value > 0))
        return hm__fail(err, HM_E_RANGE,
                        "%s: %g cannot be predicted; it must be finite and more than 0", at->name,
                        at->value);
    p->values[q] = at->value;
    p->by_n[q] = by_n;
    return 0;
}

/*
 * Sets the values of all quantities other than n for a prediction: the values given in `at`, or
 * else the defaults of the fit.
 */
static int place_init(const struct hm_fit *fit, const struct hm_at *at, size_t at_count,
                      struct place_values *p, struct hm_err *err)
{
    const struct hm_basis *basis = &fit->inside->basis;
    int rc = 0;

    memcpy(p->values, fit->inside->at, sizeof(p->values));
    memcpy(p->by_n, fit->inside->by_n, sizeof(p->by_n));
    for (size_t i = 0; rc == 0 && i < at_count; i++)
        rc = place_set(basis, &at[i], p, err);
    for (size_t q = 1; rc == 0 && q < basis->quantity_count; q++) {
        if (!hm__basis_needs(basis, NULL, q) || !isnan(p->values[q]))
            continue;
        hm__fail(err, HM_E_MISSING, "the runs differ in %s, so a prediction needs its value",
                 basis->quantities[q]);
        hm__err_hint(err, "give it in the target, as in n=64,%s=%g", basis->quantities[q],
                     fit->inside->data.high[q]);
        rc = HM_E_MISSING;
    }
    return rc;
}

static double place_value(const struct place_values *p, size_t q, double n)
{
    switch (p->by_n[q]) {
    case HM_BY_WORKERS:
        return p->values[q] * n;
    case HM_BY_NODES:
        return ceil(n / p->values[q]);
    default:
        return p->values[q];
    }
}

/* Computes the terms for each n, with the given values of the other quantities. */
static int eval_terms_at(const struct hm_fit *fit, const struct place_values *p, const double *n,
                         size_t count, double **ret_x, struct hm_err *err)
{
    const struct hm_basis *basis = &fit->inside->basis;
    const double *columns[HM_QUANTITIES_MAX] = {n};
    double *x = hm__calloc(hm__basis_rows(basis) * count, sizeof(*x));
    double *fixed = hm__calloc(basis->quantity_count * count, sizeof(*fixed));
    int rc = x && fixed ? 0 : hm__fail_nomem(err);

    for (size_t q = 1; rc == 0 && q < basis->quantity_count; q++) {
        columns[q] = fixed + q * count;
        for (size_t i = 0; i < count; i++)
            fixed[q * count + i] = place_value(p, q, n[i]);
    }
    if (rc == 0)
        rc = hm__basis_eval(basis, columns, count, x, err);
    hm__free(fixed);
    if (rc)
        hm__free(x);
    else
        *ret_x = x;
    return rc;
}

int hm__fit_terms(const struct hm_fit *fit, const struct hm_model *model, const double *n,
                  size_t count, double **ret_x, struct hm_err *err)
{
    const struct hm_basis *basis = &fit->inside->basis;
    struct place_values place;

    if (!basis->sheet) {
        int rc = place_init(fit, NULL, 0, &place, err);
        return rc ? rc : eval_terms_at(fit, &place, n, count, ret_x, err);
    }
    double *x = hm__calloc(hm__basis_rows(basis) * count, sizeof(*x));
    if (!x)
        return hm__fail_nomem(err);
    int rc = hm__basis_eval_model(basis, model, n, count, x, err);
    if (rc)
        hm__free(x);
    else
        *ret_x = x;
    return rc;
}

int hm__fit_terms_at(const struct hm_fit *fit, const struct hm_at *at, size_t at_count,
                     const double *n, size_t count, double **ret_x, struct hm_err *err)
{
    struct place_values place;
    int rc = place_init(fit, at, at_count, &place, err);

    return rc ? rc : eval_terms_at(fit, &place, n, count, ret_x, err);
}

/* Returns the factor by which n is above or below the measured range; 1 inside the range. */
static double factor_beyond(const struct hm_fit *fit, double n)
{
    if (fit->run_count == 0)
        return 1;
    return n > fit->n_max ? n / fit->n_max : n < fit->n_min ? fit->n_min / n : 1;
}

/* Values of one prediction in all draws: the mean time, the time of a new run, and the speedup. */
struct prediction_draws {
    double *mean, *run, *speedup;
};

static void draws_interval(double *values, size_t count, double level, double value, double *low,
                           double *high)
{
    /*
     * The interval always contains the reported value, even if the draws of other sets of terms do
     * not.
     */
    *low = fmin(hm__quantile(values, count, (1 - level) / 2), value);
    *high = fmax(hm__quantile(values, count, (1 + level) / 2), value);
}

/*
 * Makes the prediction for configuration i of the `count` configurations in x; the last one is n =
 * 1, the reference of the speedup.
 */
static void prediction_init(const struct hm_fit *fit, const double *x, size_t count, size_t i,
                            const struct prediction_draws *sample, struct hm_prediction *p)
{
    const struct hm__fit *f = fit->inside;
    const size_t reference = count - 1, draws = f->draw_count;

    p->time_s = hm__fit_seconds(fit, x, count, i, HM_NONE);
    /*
     * With weak scaling, n workers do n times as much work, so the speedup compares the times per
     * unit of work.
     */
    const double work = fit->weak ? p->n : 1;
    p->speedup =
        p->time_s > 0 ? work * hm__fit_seconds(fit, x, count, reference, HM_NONE) / p->time_s : NAN;
    p->beyond = factor_beyond(fit, p->n);
    p->low_s = p->high_s = p->mean_low = p->mean_high = p->speedup_low = p->speedup_high = NAN;
    if (draws == 0)
        return;
    for (size_t d = 0; d < draws; d++) {
        double mean = hm__fit_seconds(fit, x, count, i, d);
        sample->mean[d] = mean;
        sample->run[d] = hm__fit_run_seconds(fit, x, count, i, d);
        sample->speedup[d] =
            work * hm__fit_seconds(fit, x, count, reference, d) / fmax(mean, 1e-300);
    }
    draws_interval(sample->mean, draws, fit->level, p->time_s, &p->mean_low, &p->mean_high);
    draws_interval(sample->run, draws, fit->level, p->time_s, &p->low_s, &p->high_s);
    /*
     * The interval for a run must include the interval for the mean; random errors of the draws
     * could prevent this.
     */
    p->low_s = fmin(p->low_s, p->mean_low);
    p->high_s = fmax(p->high_s, p->mean_high);
    draws_interval(sample->speedup, draws, fit->level, p->speedup, &p->speedup_low,
                   &p->speedup_high);
}

int hm_fit_predict(const struct hm_fit *fit, const struct hm_at *at, size_t at_count,
                   const double *n, size_t count, struct hm_prediction *predictions,
                   struct hm_err *err)
{
    int bad = hm__check_pointers(err, "ret_predictions", predictions, NULL);
    if (bad == 0)
        bad = hm__fit_check(fit, err);
    if (bad == 0)
        bad = hm__check_array(at, at_count, "at", err);
    if (bad == 0)
        bad = hm__check_array(n, count, "n", err);
    if (bad)
        return bad;
    struct place_values place;
    double *x = NULL;
    double *all = hm__calloc(count + 1, sizeof(*all));
    double *space = hm__calloc((size_t)3 * HM_FIT_DRAWS, sizeof(*space));
    struct prediction_draws sample = {0};
    int rc = all && space ? 0 : hm__fail_nomem(err);

    if (rc == 0)
        sample = (struct prediction_draws){space, space + HM_FIT_DRAWS,
                                           space + (size_t)2 * HM_FIT_DRAWS};

    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (!(n[i] >= 1 && n[i] <= HM_RUN_MOST))
            rc = hm__fail(err, HM_E_RANGE, "n: %g cannot be predicted; it must be from 1 to %g",
                          n[i], HM_RUN_MOST);
        all[i] = n[i];
    }
    if (rc == 0) {
        all[count] = 1;
        rc = place_init(fit, at, at_count, &place, err);
    }
    if (rc == 0)
        rc = eval_terms_at(fit, &place, all, count + 1, &x, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        predictions[i] = (struct hm_prediction){.n = n[i]};
        if ((rc = hm__budget_check("predict", err)))
            break;
        prediction_init(fit, x, count + 1, i, &sample, &predictions[i]);
        if (!isfinite(predictions[i].time_s) || isinf(predictions[i].high_s))
            rc = hm__fail(err, HM_E_RANGE, "the fit gives no finite time at n = %g", n[i]);
    }
    hm__free(x);
    hm__free(all);
    hm__free(space);
    return rc;
}
