/*
 * hm_fit_new: computes coefficients from runs, and draws of the coefficients for intervals.
 *
 * Runs are grouped by configuration. The terms are given by the caller, chosen from a library, or
 * the parts of the time that a specification sheet predicts. The coefficients are found by weighted
 * non-negative least squares. With relative errors, the weight of a run is 1 / fitted time, because
 * weights from the measured time would favour runs that were fast by chance. The fit is repeated
 * with the weights of the previous fit until they no longer change (iteratively reweighted least
 * squares). Limits: errors are independent and normal, and their spread is either constant in
 * seconds or proportional to the time.
 */
#include "fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "student.h"

int hm_fit_settings_check(const struct hm_fit_settings *s, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "settings", s, NULL);
    if (bad == 0)
        bad = hm__check_array(s->terms, s->term_count, "terms", err);
    if (bad == 0)
        bad = hm__check_enum("errors", (int)s->errors, HM_ERRORS_RELATIVE + 1, err);
    if (bad == 0)
        bad = (s->job ? hm_job_check(s->job, err) : 0);
    if (bad == 0)
        bad = (s->cluster ? hm_cluster_check(s->cluster, err) : 0);
    if (bad)
        return bad;
    if (!(s->level >= 0 && s->level < 1)) {
        hm__fail(err, HM_E_RANGE, "level: %g is not from 0 to below 1", s->level);
        hm__err_field(err, "level");
        return HM_E_RANGE;
    }
    if (!(s->seed >= 0 && s->seed < 9e15))
        return hm__fail(err, HM_E_RANGE, "seed: %g is not a whole number of 0 or more", s->seed);
    if (!(s->width >= 0) || !(s->noise >= 0) || isinf(s->width) || isinf(s->noise))
        return hm__fail(err, HM_E_RANGE, "width %g and noise %g must be finite and 0 or more",
                        s->width, s->noise);
    if (s->job && s->term_count > 0) {
        hm__fail(err, HM_E_CONFLICT, "terms and job are both given, but a job has its own terms");
        hm__err_hint(err, "leave one of the two out");
        return HM_E_CONFLICT;
    }
    return 0;
}

/* ---- terms and data -------------------------------------------------------------------------- */

/*
 * Finds the quantities that distinguish configurations: those in the formulas or, without formulas,
 * those that the library and the specification sheet know.
 */
static void find_used_quantities(const struct hm_basis *basis, bool *matters)
{
    static const char *const own[] = {"n", "size", "batch", "latency", "bandwidth"};

    for (size_t q = 0; q < basis->quantity_count; q++) {
        matters[q] = hm__basis_needs(basis, NULL, q);
        for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
            if (strcmp(basis->quantities[q], own[i]) == 0 && (basis->count == 0 || basis->sheet))
                matters[q] = true;
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

/* Fails if a run has no value of a quantity that the terms need; missing values are not guessed. */
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

/* Whether the runs have weak scaling: their work (the column `name`) is proportional to n. */
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
 * Finds the factor that converts the seconds of the runs to seconds of an iteration of the job:
 * speedups are relative to the sheet's reference time; times of a sample or an epoch are multiplied
 * by the samples of an iteration. Without a job, the seconds keep their unit.
 */
static int runs_unit(const struct hm_fit *fit, const struct hm_runs *runs,
                     const struct hm_fit_settings *s, struct hm_unit *ret_unit, struct hm_err *err)
{
    const struct hm_sheet *sheet = fit->inside->basis.sheet;
    const struct hm_job *job = s->job;

    *ret_unit = (struct hm_unit){runs->relative && sheet ? hm__sheet_reference_s(sheet) : 1, false};
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
    find_used_quantities(&f->basis, matters);
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
        varies[q] = f->data.low[q] < f->data.high[q];
    bool weak = runs->weak || scaling_is_weak(f, "size") || scaling_is_weak(f, "batch");
    bool of_work = runs->unit || runs->relative;
    /* The specification sheet itself says whether scaling is weak. */
    if (!fit->from_sheet)
        fit->weak = weak && !of_work;
    f->of_work = of_work && !fit->from_sheet;
    f->weak_runs = weak;
    if (f->basis.sheet && scaling_is_weak(f, "size"))
        hm__sheet_set_size_by_n(f->basis.sheet);
    enum hm_scaled_terms scaled = !weak     ? of_work ? HM_TERMS_OF_WORK : HM_TERMS_STRONG
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

    f->x = hm__arena_alloc(fit->memory, groups * f->basis.count, sizeof(*f->x));
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

/* ---- coefficients ---------------------------------------------------------------------------- */

/*
 * Adds one configuration to the least-squares problem: a row for the mean, weighted by the number
 * of runs, and a row for the sum of squares around the mean.
 */
static void add_group(const struct hm__fit *f, size_t g, struct hm_lsq *lsq)
{
    const struct hm_group *group = &f->data.groups[g];
    double row[HM_LSQ_SIDE] = {0}, weight = f->scale[g] * sqrt(group->count);

    for (size_t k = 0; k < f->basis.count; k++)
        row[k] = f->x[k * f->data.group_count + g] * weight;
    row[f->basis.count] = group->mean_s * weight;
    hm__lsq_add(lsq, row);
    if (group->within == 0)
        return;
    memset(row, 0, sizeof(row));
    row[f->basis.count] = f->scale[g] * sqrt(group->within);
    hm__lsq_add(lsq, row);
}

/*
 * Sets the weights of all configurations from the previous fit, or from the measured means if there
 * is no previous fit; returns the largest relative change of a weight.
 */
static double fit_set_scale(struct hm_fit *fit, bool first)
{
    struct hm__fit *f = fit->inside;
    double change = 0;

    for (size_t g = 0; g < f->data.group_count; g++) {
        const struct hm_group *group = &f->data.groups[g];
        double size = first ? group->mean_s
                            : fmax(hm__fit_seconds(fit, f->x, f->data.group_count, g, HM_NONE),
                                   0.01 * group->mean_s);
        double scale = sqrt(group->evidence) / (fit->errors == HM_ERRORS_RELATIVE ? size : 1);
        change = fmax(change, fabs(scale / f->scale[g] - 1));
        f->scale[g] = scale;
    }
    return first ? INFINITY : change;
}

static size_t list_terms(const struct hm__fit *f, const bool *in, size_t *terms)
{
    size_t count = 0;

    for (size_t k = 0; k < f->basis.count; k++)
        if (in[k])
            terms[count++] = k;
    return count;
}

static const struct hm_prior *fit_priors(const struct hm__fit *f)
{
    return f->basis.sheet ? f->basis.priors : NULL;
}

/*
 * The prior of the noise. With a specification sheet it has the weight of one run; without one
 * there is no prior.
 */
static struct hm_noise noise_before(const struct hm_fit_settings *s)
{
    return s->job ? (struct hm_noise){1, s->noise > 0 ? s->noise : 0.05, 0}
                  : (struct hm_noise){0, 0, 0};
}

/* Smallest mean seconds of a configuration; 1 with relative errors. */
static double smallest_run(const struct hm_fit *fit)
{
    const struct hm_fit_data *data = &fit->inside->data;
    double least = INFINITY;

    if (fit->errors == HM_ERRORS_RELATIVE)
        return 1;
    for (size_t g = 0; g < data->group_count; g++)
        least = fmin(least, data->groups[g].mean_s);
    return least;
}

/*
 * Smallest relative noise that intervals assume: clocks and machines are not more exact, even if a
 * few runs agree better.
 */
static const double LEAST_NOISE = 0.003;

static void fit_solve_pass(struct hm__fit *f, const struct hm_fit_settings *s)
{
    struct hm_lsq some;
    size_t terms[HM_TERMS_MAX], count = list_terms(f, f->in, terms);
    double theta[HM_TERMS_MAX];

    hm__lsq_init(&f->lsq, f->basis.count);
    for (size_t g = 0; g < f->data.group_count; g++)
        add_group(f, g, &f->lsq);
    hm__lsq_pick(&f->lsq, terms, count, &some);
    hm__posterior_mode(&some, (double)f->data.count, fit_priors(f), noise_before(s), theta,
                       &f->spread);
    memset(f->theta, 0, sizeof(f->theta));
    for (size_t k = 0; k < count; k++)
        f->theta[terms[k]] = theta[k];
}

static void fit_solve(struct hm_fit *fit, const struct hm_fit_settings *s)
{
    struct hm__fit *f = fit->inside;
    bool large = f->data.group_count > 10000;

    fit_set_scale(fit, true);
    for (int pass = 0; pass < (large ? 2 : 50); pass++) {
        fit_solve_pass(f, s);
        if (fit->errors == HM_ERRORS_EQUAL || fit_set_scale(fit, false) < 1e-14)
            break;
    }
}

/* ---- choosing -------------------------------------------------------------------------------- */

static const char *choice_text(struct hm_fit *fit, const struct hm_choice *choice)
{
    char text[256] = "";
    size_t length = 0;

    for (size_t k = 0; k < choice->count; k++) {
        int more = snprintf(text + length, sizeof(text) - length, "%s%s", k ? " + " : "",
                            fit->inside->basis.texts[choice->terms[k]]);
        length += (size_t)more;
    }
    return hm__arena_strdup(fit->memory, text);
}

enum { ALTERNATIVES = 8 };

static int list_alternatives(struct hm_fit *fit, const struct hm_choice *choices, size_t count,
                             double unit, struct hm_err *err)
{
    size_t most = count < ALTERNATIVES ? count : ALTERNATIVES;

    fit->alternatives = hm__arena_alloc(fit->memory, most, sizeof(*fit->alternatives));
    if (!fit->alternatives)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < most; i++) {
        struct hm_alternative *a = &fit->alternatives[i];
        a->text = choice_text(fit, &choices[i]);
        a->left_out_error = sqrt(choices[i].error / unit);
        a->weight = choices[i].weight;
        if (!a->text)
            return hm__fail_nomem(err);
    }
    fit->alternative_count = most;
    return 0;
}

/*
 * Reduces the runs of each configuration to a least-squares problem, called a fold. If there are
 * many configurations, a fold has several of them. Returns NULL when out of memory.
 */
static struct hm_lsq *make_folds(struct hm__fit *f, size_t *ret_count)
{
    size_t groups = f->data.group_count, count = groups < HM_FOLDS_MAX ? groups : HM_FOLDS_MAX;
    struct hm_lsq *folds = hm__calloc(count, sizeof(*folds));

    for (size_t i = 0; folds && i < count; i++)
        hm__lsq_init(&folds[i], f->basis.count);
    for (size_t g = 0; folds && g < groups; g++)
        add_group(f, g, &folds[g % count]);
    *ret_count = count;
    return folds;
}

static double weighted_mean_square(const struct hm_fit *fit)
{
    const struct hm_fit_data *data = &fit->inside->data;
    double sum = 0;

    if (fit->errors == HM_ERRORS_RELATIVE)
        return 1;
    for (size_t g = 0; g < data->group_count; g++)
        sum += data->groups[g].count * data->groups[g].mean_s * data->groups[g].mean_s;
    return sum / (double)data->count;
}

static int choose_terms(struct hm_fit *fit, struct hm_choice *choices, size_t *ret_count,
                        struct hm_err *err)
{
    struct hm__fit *f = fit->inside;
    size_t fold_count, best = 0;
    double unit = weighted_mean_square(fit);

    fit_set_scale(fit, true);
    struct hm_lsq *folds = make_folds(f, &fold_count);
    if (!folds)
        return hm__fail_nomem(err);
    struct hm_repeats repeats;
    repeats.free = hm__fit_data_repeats(&f->data, f->scale, &repeats.sum);
    int rc = hm__choose(&f->basis, folds, fold_count, (double)f->data.count, unit,
                        f->data.group_count, repeats, choices, ret_count, &best, err);
    hm__free(folds);
    if (rc)
        return rc;
    for (size_t k = 0; k < f->basis.count; k++)
        f->in[k] = false;
    for (size_t k = 0; k < choices[best].count; k++)
        f->in[choices[best].terms[k]] = true;
    return list_alternatives(fit, choices, *ret_count, unit, err);
}

/* ---- draws ----------------------------------------------------------------------------------- */

/* Appends draws of the coefficients of one set of terms; coefficients of other terms are 0. */
static void draw_set(struct hm__fit *f, const struct hm_fit_settings *s, const size_t *terms,
                     size_t count, size_t draws, struct hm_random *random)
{
    struct hm_lsq some;
    struct hm_draw *first = f->draws + f->draw_count;

    if (draws == 0 || count == 0)
        return;
    hm__lsq_pick(&f->lsq, terms, count, &some);
    struct hm_noise noise = noise_before(s);
    noise.least = LEAST_NOISE * f->typical;
    if (!hm__posterior_draw(&some, (double)f->data.count, fit_priors(f), noise, random, first,
                            draws))
        return;
    for (size_t i = 0; i < draws; i++) {
        struct hm_draw draw = {.spread = first[i].spread};
        for (size_t k = 0; k < count; k++)
            draw.theta[terms[k]] = first[i].theta[k];
        first[i] = draw;
    }
    f->draw_count += draws;
}

static void draw_choices(struct hm__fit *f, const struct hm_fit_settings *s,
                         const struct hm_choice *choices, size_t count, struct hm_random *random)
{
    for (size_t i = 0; i < count; i++) {
        size_t draws = (size_t)lround(choices[i].weight * HM_FIT_DRAWS);
        if (draws > HM_FIT_DRAWS - f->draw_count)
            draws = HM_FIT_DRAWS - f->draw_count;
        draw_set(f, s, choices[i].terms, choices[i].count, draws, random);
    }
}

static int fit_draw(struct hm_fit *fit, const struct hm_fit_settings *s,
                    const struct hm_choice *choices, size_t choice_count, struct hm_err *err)
{
    struct hm__fit *f = fit->inside;
    size_t all[HM_TERMS_MAX];
    struct hm_random random;

    hm__random_init(&random, (uint64_t)s->seed, 0);
    f->draws = hm__arena_alloc(fit->memory, HM_FIT_DRAWS, sizeof(*f->draws));
    f->luck = hm__arena_alloc(fit->memory, HM_FIT_DRAWS, sizeof(*f->luck));
    if (!f->draws || !f->luck)
        return hm__fail_nomem(err);
    if (choice_count > 0)
        draw_choices(f, s, choices, choice_count, &random);
    else
        draw_set(f, s, all, list_terms(f, f->in, all), HM_FIT_DRAWS, &random);
    hm__random_init(&random, (uint64_t)s->seed, 1);
    for (size_t i = 0; i < f->draw_count; i++)
        f->luck[i] = hm__random_normal(&random);
    fit->intervals = f->draw_count > 0;
    return 0;
}

/*
 * Sets the coefficients of a specification sheet that is corrected by runs to the means of the
 * draws. The most probable overheads are 0 as long as no run shows them, but nearly all plausible
 * values are larger.
 */
static void coefficients_take_mean(struct hm__fit *f)
{
    for (size_t k = 0; k < f->basis.count; k++) {
        f->theta[k] = 0;
        for (size_t i = 0; i < f->draw_count; i++)
            f->theta[k] += f->draws[i].theta[k] / (double)f->draw_count;
    }
}

/* ---- construction ---------------------------------------------------------------------------- */

/*
 * Sets the default value of each quantity: the value that all runs have, else NaN. With weak
 * scaling, the size and the batch are those of one worker, times n; otherwise the size is the
 * largest value, but at least 1.
 */
static void fit_set_defaults(struct hm__fit *f)
{
    for (size_t q = 0; q < f->basis.quantity_count; q++) {
        bool same = f->data.low[q] == f->data.high[q];
        /* A sheet has its own batch, latency and bandwidth, for which it predicts. */
        f->at[q] = same && !f->basis.sheet ? f->data.low[q] : NAN;
        bool work = strcmp(f->basis.quantities[q], "size") == 0 ||
                    strcmp(f->basis.quantities[q], "batch") == 0;
        f->by_n[q] = HM_BY_NOTHING;
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

/* Whether term k decreases with the number of workers n beyond the largest measured n. */
static bool term_falls(const struct hm_fit *fit, size_t k)
{
    const struct hm__fit *f = fit->inside;
    double n[2] = {fmax(fit->n_max, 1), 2 * fmax(fit->n_max, 1)}, values[HM_QUANTITIES_MAX][2];
    const double *columns[HM_QUANTITIES_MAX];
    double x[2 * HM_TERMS_MAX];
    struct hm_err ignored = {0};

    /* In a specification sheet, compute and the evenly divided work decrease with n. */
    if (f->basis.sheet)
        return k == 0 || k == f->basis.count - HM_SHEET_EXTRAS;
    /* With weak scaling, the constant term is the work of each worker. */
    if (fit->weak && strcmp(f->basis.texts[k], "1") == 0)
        return true;
    for (size_t q = 0; q < f->basis.quantity_count; q++) {
        values[q][0] = values[q][1] = isnan(f->at[q]) ? f->data.high[q] : f->at[q];
        columns[q] = q == 0 ? n : values[q];
    }
    return hm__basis_eval(&f->basis, columns, 2, x, &ignored) == 0 && x[2 * k + 1] < x[2 * k];
}

static void list_term(struct hm_fit *fit, size_t k, double *scratch)
{
    struct hm__fit *f = fit->inside;
    struct hm_term *term = &fit->terms[fit->term_count++];
    const double tail = (1 - fit->level) / 2;

    *term = (struct hm_term){.text = f->basis.texts[k],
                             .value = f->theta[k],
                             .low = NAN,
                             .high = NAN,
                             .part = f->basis.parts[k],
                             .falls = term_falls(fit, k)};
    if (!fit->intervals)
        return;
    for (size_t i = 0; i < f->draw_count; i++)
        scratch[i] = f->draws[i].theta[k];
    term->low = fmin(hm__quantile(scratch, f->draw_count, tail), term->value);
    term->high = fmax(hm__quantile(scratch, f->draw_count, 1 - tail), term->value);
}

static int list_used(struct hm_fit *fit, struct hm_err *err)
{
    struct hm__fit *f = fit->inside;
    double *scratch = hm__calloc(HM_FIT_DRAWS, sizeof(*scratch));

    fit->terms = hm__arena_alloc(fit->memory, f->basis.count, sizeof(*fit->terms));
    if (!fit->terms || !scratch) {
        hm__free(scratch);
        return hm__fail_nomem(err);
    }
    for (size_t k = 0; k < f->basis.count; k++)
        if (f->in[k])
            list_term(fit, k, scratch);
    hm__free(scratch);
    return 0;
}

/*
 * Median, over the configurations, of the measured time divided by the time that the specification
 * sheet predicts.
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
 * If the specification sheet is wrong by more than a factor of two in the median (another machine,
 * another unit), all its times are multiplied by the median ratio: its shape is still useful, and
 * no single part is responsible. A note reports the factor.
 */
static int rescale_sheet(struct hm_fit *fit, struct hm_err *err)
{
    struct hm__fit *f = fit->inside;
    double ratio = median_sheet_ratio(f);

    if (ratio < 2 && ratio > 0.5)
        return 0;
    for (size_t k = 0; k < f->basis.count; k++) {
        f->basis.priors[k].mean *= ratio;
        f->basis.priors[k].width *= ratio;
    }
    return hm__notes_add(
        hm__fit_notes(fit), err,
        "the runs take %.3g times as long as the sheet predicts, so the whole sheet is "
        "scaled; is it the same job, machine and unit of time?",
        ratio);
}

static int fit_runs(struct hm_fit *fit, const struct hm_runs *runs, const struct hm_fit_settings *s,
                    struct hm_choice **ret_choices, size_t *ret_count, struct hm_err *err)
{
    struct hm__fit *f = fit->inside;
    int rc = prepare_runs(fit, runs, s, err);

    if (rc == 0)
        rc = fit_eval_terms(fit, err);
    if (rc)
        return rc;
    decide_errors(fit, s);
    fit_set_defaults(f);
    if (fit->from_sheet && (rc = rescale_sheet(fit, err)))
        return rc;
    fit->n_min = f->data.low[0];
    fit->n_max = f->data.high[0];
    fit->run_count = f->data.count;
    fit->failed = runs->failed;
    fit->configurations = f->data.group_count;
    for (size_t k = 0; k < f->basis.count; k++)
        f->in[k] = true;
    if (fit->chosen) {
        if (!(*ret_choices = hm__calloc(HM_CHOICES_MAX, sizeof(**ret_choices))))
            return hm__fail_nomem(err);
        rc = choose_terms(fit, *ret_choices, ret_count, err);
    }
    if (rc)
        return rc;
    fit_solve(fit, s);
    f->typical = smallest_run(fit);
    return 0;
}

/*
 * Makes a fit from a specification sheet without runs: the coefficients are the means of the
 * priors.
 */
static void fit_nothing(struct hm_fit *fit, const struct hm_fit_settings *s)
{
    struct hm__fit *f = fit->inside;

    fit->errors = HM_ERRORS_RELATIVE;
    f->basis.quantities[0] = "n";
    f->basis.quantity_count = 1;
    f->at[0] = NAN;
    hm__lsq_init(&f->lsq, f->basis.count);
    for (size_t k = 0; k < f->basis.count; k++) {
        f->in[k] = true;
        f->theta[k] = f->basis.priors[k].mean;
    }
    f->spread = noise_before(s).spread;
    f->typical = 1;
}

/* Returns a constant text for the unit of the runs, which may be freed before the fit. */
static const char *unit_text(const char *unit)
{
    static const char *const units[] = {"sample", "token", "epoch"};

    for (size_t i = 0; unit && i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(unit, units[i]) == 0)
            return units[i];
    return NULL;
}

static struct hm_fit *fit_allocate(const struct hm_fit_settings *s, struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_fit *fit = arena ? hm__arena_alloc(arena, 1, sizeof(*fit)) : NULL;

    if (fit) {
        *fit = (struct hm_fit){.memory = arena,
                               .n_min = NAN,
                               .n_max = NAN,
                               .from_sheet = s->job != NULL,
                               .chosen = !s->job && s->term_count == 0,
                               .weak = s->job && s->job->scaling == HM_SCALING_WEAK,
                               .level = s->level > 0 ? s->level : 0.9,
                               .error = NAN,
                               .left_out_error = NAN};
        fit->inside = hm__arena_alloc(arena, 1, sizeof(*fit->inside));
    }
    if (!fit || !fit->inside) {
        hm__arena_free(arena);
        hm__fail_nomem(err);
        return NULL;
    }
    return fit;
}

int hm_fit_new(const struct hm_runs *runs, const struct hm_fit_settings *settings,
               struct hm_fit **ret_fit, struct hm_err *err)
{
    static const struct hm_fit_settings none = {0};
    const struct hm_fit_settings *s = settings ? settings : &none;
    int bad = hm__check_pointers(err, "ret_fit", ret_fit, NULL);
    if (bad == 0 && runs)
        bad = hm_runs_check(runs, err);
    if (bad)
        return bad;
    struct hm_choice *choices = NULL;
    size_t choice_count = 0;
    int rc = hm_fit_settings_check(s, err);

    if (rc == 0 && !runs && !s->job)
        rc = hm__fail(err, HM_E_MISSING, "no runs and no job: there is nothing to fit");
    if (rc)
        return rc;
    struct hm_fit *fit = fit_allocate(s, err);
    if (!fit)
        return HM_E_NOMEM;
    struct hm__fit *f = fit->inside;
    if (runs) {
        fit->source = hm__arena_strdup(fit->memory, runs->source ? runs->source : "runs");
        fit->relative = runs->relative && !s->job;
        fit->unit = s->job ? NULL : unit_text(runs->unit);
        rc = hm__basis_quantities(&f->basis, fit->memory, runs, err);
    }
    if (rc == 0 && s->job)
        rc = hm__basis_sheet(&f->basis, fit->memory, s->job, s->cluster,
                             s->width > 0 ? s->width : 0.5, err);
    if (rc == 0 && runs)
        rc = fit_runs(fit, runs, s, &choices, &choice_count, err);
    else if (rc == 0)
        fit_nothing(fit, s);
    if (rc == 0)
        rc = fit_draw(fit, s, choices, choice_count, err);
    hm__free(choices);
    if (rc == 0 && fit->from_sheet && runs)
        coefficients_take_mean(f);
    fit->noise = f->spread;
    if (rc == 0)
        rc = list_used(fit, err);
    if (rc == 0)
        rc = hm__fit_diagnose(fit, err);
    /* The runs are borrowed from the caller and may be freed before this fit is. */
    f->data.runs = NULL;
    if (rc)
        hm_fit_free(fit);
    else
        *ret_fit = fit;
    return rc;
}

void hm_fit_free(struct hm_fit *fit)
{
    if (fit)
        hm__arena_free(fit->memory);
}
