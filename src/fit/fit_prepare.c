/*
 * Prepares a fit: the quantities and terms, the runs grouped by configuration, their unit and
 * scaling, and the specification sheet that the runs correct. Limit: a run must have a value for
 * each quantity that the terms use, because missing values are not guessed.
 */
#include <math.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "fit.h"
#include "student.h"

/* ---- terms and data -------------------------------------------------------------------------- */

static bool column_is_full(const struct hm_column *column, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (isnan(column->values[i]))
            return false;
    return true;
}

/*
 * Finds the quantities that distinguish configurations: the quantities in the formulas or, without
 * formulas, the quantities that the library of terms and the specification sheet use.
 */
static void find_used_quantities(const struct hm_basis *basis, const struct hm_runs *runs,
                                 bool *matters)
{
    static const char *const own[] = {"n", "size", "batch", "latency", "bandwidth"};

    for (size_t q = 0; q < basis->quantity_count; q++) {
        matters[q] = hm__basis_needs(basis, NULL, q);
        for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
            if (strcmp(basis->quantities[q], own[i]) == 0 && (basis->count == 0 || basis->sheet))
                matters[q] = true;
        /* The number of nodes is used only if all runs state it. */
        if (basis->count == 0 && strcmp(basis->quantities[q], "nodes") == 0)
            matters[q] = column_is_full(hm_runs_column(runs, "nodes"), runs->count);
    }
    matters[0] = true;
}

static int fail_at_row(struct hm__fit *f, size_t row, const char *field, int code,
                       struct hm_err *err)
{
    hm__err_field(err, field);
    hm__err_at(err, f->data.runs->source, hm__runs_line(f->data.runs, row));
    return code;
}

/*
 * Fails if a run has no value for a quantity that the terms need; missing values are not guessed.
 */
static int check_gaps(struct hm__fit *f, const bool *matters, struct hm_err *err)
{
    for (size_t q = 0; q < f->basis.quantity_count; q++) {
        if (!matters[q] || f->data.gap[q] == HM_NONE)
            continue;
        hm__fail(err, HM_E_MISSING, "the run has no value of %s, which the terms need",
                 f->basis.quantities[q]);
        return fail_at_row(f, f->data.gap[q], f->basis.quantities[q], HM_E_MISSING, err);
    }
    return 0;
}

static int check_enough(const struct hm_fit *fit, const struct hm_fit_settings *s,
                        struct hm_err *err)
{
    const struct hm_fit_data *data = &fit->inside->data;
    size_t terms = s->term_count;

    bool one_n = data->low[0] == data->high[0] && terms == 0;
    if (fit->from_sheet || (data->group_count > 1 && data->group_count >= terms && !one_n))
        return 0;
    if (one_n && data->group_count > 1) {
        hm__fail(err, HM_E_MISSING,
                 "every run has n = %g, so the dependence of the time on n is unknown",
                 data->low[0]);
        hm__err_hint(err, "add a run at another n");
        hm__err_at(err, data->runs->source, 0);
        return HM_E_MISSING;
    }
    if (data->group_count == 1)
        hm__fail(err, HM_E_MISSING, "%s cannot show how the time depends on n",
                 data->count == 1 ? "one run" : "runs of one configuration");
    else
        hm__fail(err, HM_E_MISSING, "%zu terms need as many different runs; there are %zu", terms,
                 data->group_count);
    hm__err_hint(err, data->group_count == 1 ? "add a run at another n, or start from a job"
                                             : "add runs, or leave terms out");
    hm__err_at(err, data->runs->source, 0);
    return HM_E_MISSING;
}

/* Returns whether every run states its scaling, weak or strong. */
static bool scaling_is_stated(const struct hm_runs *runs)
{
    const struct hm_column *scaling = hm_runs_column(runs, "scaling");

    for (size_t i = 0; scaling && scaling->labels && i < runs->count; i++)
        if (!scaling->labels[i] || !*scaling->labels[i])
            return false;
    return scaling && scaling->labels;
}

/* Returns whether the runs have weak scaling: their work (the column `name`) is proportional to
 * n. */
static bool scaling_is_weak(const struct hm__fit *f, const char *name)
{
    int q = hm__basis_find(&f->basis, name);
    const double *n = f->data.places[0], *work = q >= 0 ? f->data.places[q] : NULL;

    if (!work || f->data.low[0] == f->data.high[0])
        return false;
    for (size_t g = 1; g < f->data.group_count; g++)
        if (!(fabs(work[g] / n[g] / (work[0] / n[0]) - 1) < 1e-6))
            return false;
    return true;
}

/*
 * Finds the factor that converts the times of the runs to times of an iteration of the job:
 * speedups are relative to the reference time of the specification sheet; times per sample or per
 * epoch are converted with the number of samples in an iteration. Without a job, the times keep
 * their unit.
 */
static int runs_unit(const struct hm_fit *fit, const struct hm_runs *runs,
                     const struct hm_fit_settings *s, struct hm_unit *ret_unit, struct hm_err *err)
{
    const struct hm_sheet *sheet = fit->inside->basis.sheet;
    const struct hm_job *job = s->job;

    *ret_unit = (struct hm_unit){runs->relative && sheet ? hm__sheet_reference_s(sheet) : 1, false};
    if (!(ret_unit->factor > 0 && ret_unit->factor <= HM_RUN_MOST)) {
        hm__fail(err, HM_E_RANGE,
                 "the runs have speedups over one worker, and by the job, one worker takes %s",
                 ret_unit->factor > 0 ? "too long" : "no time");
        hm__err_hint(err, "correct the job, or give the seconds of the runs");
        hm__err_at(err, runs->source, 0);
        return HM_E_RANGE;
    }
    if (!sheet || !runs->unit)
        return 0;
    double batch = job->batch > 0 ? job->batch : NAN;
    bool sample = strcmp(runs->unit, "sample") == 0, epoch = strcmp(runs->unit, "epoch") == 0;
    ret_unit->factor = sample ? batch : epoch && job->dataset > 0 ? batch / job->dataset : NAN;
    ret_unit->by_n = job->scaling == HM_SCALING_WEAK;
    if (!isnan(ret_unit->factor))
        return 0;
    hm__fail(err, HM_E_MISSING,
             "the runs have seconds of %s %s, and the job does not say how many "
             "an iteration has",
             strcmp(runs->unit, "epoch") == 0 ? "an" : "a", runs->unit);
    hm__err_hint(err, "add a column batch%s to the runs",
                 epoch    ? " and a column dataset"
                 : sample ? ""
                          : " and a column sequence");
    hm__err_at(err, runs->source, 0);
    return HM_E_MISSING;
}

static int prepare_runs(struct hm_fit *fit, const struct hm_runs *runs,
                        const struct hm_fit_settings *s, struct hm_err *err)
{
    struct hm__fit *f = fit->inside;
    bool matters[HM_QUANTITIES_MAX], varies[HM_QUANTITIES_MAX];
    int rc = 0;

    if (s->term_count > 0)
        rc = hm__basis_compile(&f->basis, fit->memory, s->terms, s->term_count, err);
    if (rc)
        return rc;
    find_used_quantities(&f->basis, runs, matters);
    struct hm_unit unit;
    rc = runs_unit(fit, runs, s, &unit, err);
    if (rc == 0)
        rc = hm__fit_data_init(&f->data, fit->memory, runs, &f->basis, matters, unit, err);
    if (rc == 0)
        rc = check_gaps(f, matters, err);
    if (rc == 0)
        rc = check_enough(fit, s, err);
    if (rc)
        return rc;
    for (size_t q = 0; q < f->basis.quantity_count; q++)
        varies[q] = f->data.low[q] < f->data.high[q] && f->data.gap[q] == HM_NONE;
    bool weak = runs->weak || scaling_is_weak(f, "size") || scaling_is_weak(f, "batch");
    bool of_work = runs->unit || runs->relative;
    /* A fit that is based on a specification sheet uses the scaling of the sheet. */
    if (!fit->from_sheet)
        fit->weak = weak && !of_work;
    f->of_work = of_work && !fit->from_sheet;
    f->weak_runs = weak;
    f->scaling_stated = scaling_is_stated(runs);
    if (f->basis.sheet && scaling_is_weak(f, "size"))
        hm__sheet_set_size_by_n(f->basis.sheet);
    bool unknown = of_work && !f->scaling_stated;
    enum hm_scaled_terms scaled = !weak     ? unknown ? HM_TERMS_OF_WORK : HM_TERMS_STRONG
                                  : of_work ? HM_TERMS_WEAK_OF_WORK
                                            : HM_TERMS_WEAK;
    if (f->basis.count == 0)
        rc = hm__basis_library(&f->basis, fit->memory, varies, scaled, err);
    return rc;
}

static int fit_eval_terms(struct hm_fit *fit, struct hm_err *err)
{
    struct hm__fit *f = fit->inside;
    const size_t groups = f->data.group_count;

    f->x = hm__arena_alloc(fit->memory, groups * hm__basis_rows(&f->basis), sizeof(*f->x));
    f->scale = hm__arena_alloc(fit->memory, groups, sizeof(*f->scale));
    if (!f->x || !f->scale)
        return hm__fail_nomem(err);
    struct hm_err own = {0};
    int rc = hm__basis_eval(&f->basis, f->data.places, groups, f->x, &own);
    if (rc == 0)
        return 0;
    /*
     * An error without a source is not about the job: a term is negative or not finite at some run.
     */
    if (!own.source[0]) {
        int line = own.line > 0 ? hm__runs_line(f->data.runs, f->data.groups[own.line - 1].row) : 0;
        own.line = 0;
        hm__err_at(&own, f->data.runs->source, line);
    }
    if (err && err->code == 0)
        *err = own;
    return rc;
}

static void decide_errors(struct hm_fit *fit, const struct hm_fit_settings *s)
{
    int shown = hm__fit_data_relative(&fit->inside->data);

    fit->errors = s->errors;
    if (s->errors == HM_ERRORS_AUTO && shown >= 0 && !fit->from_sheet)
        fit->errors = shown ? HM_ERRORS_RELATIVE : HM_ERRORS_EQUAL;
    else if (s->errors == HM_ERRORS_AUTO)
        fit->errors = s->term_count > 0 ? HM_ERRORS_EQUAL : HM_ERRORS_RELATIVE;
    if (s->errors == HM_ERRORS_AUTO)
        hm__fit_data_weigh(&fit->inside->data, fit->errors == HM_ERRORS_RELATIVE);
}

/*
 * Returns the number of workers in a node: the number that the runs state, or else the largest
 * number that any run used in a node; NaN if neither is known.
 */
static double node_workers(const struct hm__fit *f)
{
    int stated = hm__basis_find(&f->basis, "workers_per_node");
    int nodes = hm__basis_find(&f->basis, "nodes");
    double most = NAN;

    if (stated >= 0 && f->data.low[stated] == f->data.high[stated])
        return f->data.low[stated];
    for (size_t g = 0; nodes >= 0 && g < f->data.group_count; g++)
        most = fmax(most, f->data.places[0][g] / f->data.places[nodes][g]);
    return most;
}

/* Returns the number of workers in a node if all runs used one node only; NaN otherwise. */
static double find_one_node(const struct hm__fit *f)
{
    int nodes = hm__basis_find(&f->basis, "nodes");
    double workers = node_workers(f);

    return f->data.high[0] <= workers && !(nodes >= 0 && f->data.high[nodes] > 1) ? workers : NAN;
}

/*
 * Sets the default value of each quantity: the value that all runs have in common, else NaN. With
 * weak scaling, the size and the batch are n times the values of one worker; otherwise, the size is
 * the largest value, but at least 1.
 */
static void fit_set_defaults(struct hm__fit *f)
{
    for (size_t q = 0; q < f->basis.quantity_count; q++) {
        bool same = f->data.low[q] == f->data.high[q];
        /* With a specification sheet, predictions use the batch, latency and bandwidth of the sheet
         * by default. */
        f->at[q] = same && !f->basis.sheet ? f->data.low[q] : NAN;
        bool work = strcmp(f->basis.quantities[q], "size") == 0 ||
                    strcmp(f->basis.quantities[q], "batch") == 0;
        f->by_n[q] = HM_BY_NOTHING;
        if (strcmp(f->basis.quantities[q], "nodes") == 0 && !f->basis.sheet) {
            f->by_n[q] = HM_BY_NODES;
            f->at[q] = node_workers(f);
            continue;
        }
        if (same || f->basis.sheet)
            continue;
        if (work && scaling_is_weak(f, f->basis.quantities[q])) {
            f->by_n[q] = HM_BY_WORKERS;
            f->at[q] = f->data.places[q][0] / f->data.places[0][0];
        } else if (strcmp(f->basis.quantities[q], "size") == 0) {
            f->at[q] = fmax(f->data.high[q], 1);
        }
    }
}

/*
 * Returns the median over the configurations of the measured time divided by the time that the
 * specification sheet predicts.
 */
static double median_sheet_ratio(struct hm__fit *f)
{
    const size_t groups = f->data.group_count;
    /* The weights are not set yet, so their array can hold the ratios. */
    double *ratios = f->scale;

    for (size_t g = 0; g < groups; g++) {
        double sheet = 0;
        for (size_t k = 0; k < f->basis.count; k++)
            sheet += f->basis.priors[k].mean * f->x[k * groups + g];
        ratios[g] = f->data.groups[g].mean_s / fmax(sheet, 1e-300);
    }
    return hm__quantile(ratios, groups, 0.5);
}

/*
 * Returns the ratio of the measured time to the predicted time of the specification sheet at the
 * smallest n, which has the least communication.
 */
static double least_n_ratio(const struct hm__fit *f)
{
    const size_t groups = f->data.group_count;
    size_t at = 0;
    double sheet = 0;

    for (size_t g = 1; g < groups; g++)
        at = f->data.places[0][g] < f->data.places[0][at] ? g : at;
    for (size_t k = 0; k < f->basis.count; k++)
        sheet += f->basis.priors[k].mean * f->x[k * groups + at];
    return f->data.groups[at].mean_s / fmax(sheet, 1e-300);
}

/* The largest ratio, in either direction, by which a specification sheet is corrected. */
static const double RATIO_MOST = 1e100;

/*
 * If the median error of the specification sheet is more than a factor of two (another machine,
 * another unit), all its times are multiplied by the median ratio: its shape is still useful, and
 * no single component is responsible. If communication overlaps with computation, only computation
 * is multiplied, by the ratio at the smallest n, because the time of hidden communication is not
 * visible. A note reports the factor.
 */
static int rescale_sheet(struct hm_fit *fit, struct hm_err *err)
{
    struct hm__fit *f = fit->inside;
    bool overlaps = f->basis.overlaps;
    double ratio = overlaps ? least_n_ratio(f) : median_sheet_ratio(f);

    if (ratio < 2 && ratio > 0.5)
        return 0;
    if (!(ratio >= 1 / RATIO_MOST && ratio <= RATIO_MOST)) {
        hm__fail(err, HM_E_RANGE,
                 "the times of the runs are more than %g times longer or shorter than those of the "
                 "job's model",
                 RATIO_MOST);
        hm__err_hint(err, "correct the units of the runs, or the sizes and speeds of the job");
        return HM_E_RANGE;
    }
    for (size_t k = 0; k < f->basis.count; k++) {
        if (overlaps && k == 1)
            continue;
        f->basis.priors[k].mean *= ratio;
        f->basis.priors[k].width *= ratio;
    }
    return hm__notes_add(
        hm__fit_notes(fit), err,
        "the runs take %.3g times as long as the sheet predicts%s, so %s is scaled; is it the same "
        "job, machine and unit of time?",
        ratio, overlaps ? " at the smallest n" : "",
        overlaps ? "its computing" : "the whole sheet");
}

int hm__fit_prepare(struct hm_fit *fit, const struct hm_runs *runs, const struct hm_fit_settings *s,
                    struct hm_err *err)
{
    int rc = prepare_runs(fit, runs, s, err);

    if (rc == 0)
        rc = fit_eval_terms(fit, err);
    if (rc)
        return rc;
    decide_errors(fit, s);
    fit_set_defaults(fit->inside);
    fit->one_node = find_one_node(fit->inside);
    if (fit->from_sheet)
        hm__sheet_set_drift(fit->inside->basis.sheet, fit->inside->data.high[0], &fit->inside->rule,
                            &fit->one_node);
    return fit->from_sheet ? rescale_sheet(fit, err) : 0;
}
