/*
 * Implements hm_fit_new, which computes coefficients from runs, and draws of the coefficients for
 * intervals.
 *
 * Runs are grouped by configuration. The terms are given by the caller, are chosen from a library,
 * or are the components of the time that a specification sheet predicts. The coefficients are found
 * by weighted non-negative least squares. With relative errors, the weight of a run is 1 / fitted
 * time, because weights from the measured time would favour runs that were fast by chance. The fit
 * is repeated with the weights of the previous fit until they no longer change (iteratively
 * reweighted least squares). Limits: errors are independent and normal, and their spread is either
 * constant in seconds or proportional to the time.
 */
#include "fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "budget.h"
#include "checks.h"
#include "err.h"
#include "overlap.h"
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
    if (hm__check_seed(s->seed, err))
        return HM_E_RANGE;
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
 * is no previous fit. Returns the largest relative change of any weight.
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

size_t hm__fit_used(const struct hm__fit *f, size_t *terms)
{
    size_t count = 0;

    for (size_t k = 0; k < f->basis.count; k++)
        if (f->in[k])
            terms[count++] = k;
    return count;
}

const struct hm_prior *hm__fit_priors(const struct hm__fit *f)
{
    return f->basis.sheet ? f->basis.priors : NULL;
}

struct hm_noise hm__fit_noise(const struct hm_fit_settings *s)
{
    return s->job ? (struct hm_noise){1, s->noise > 0 ? s->noise : 0.05, 0}
                  : (struct hm_noise){0, 0, 0};
}

/* Returns the smallest mean time of all configurations, in seconds; 1 with relative errors. */
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

static void fit_solve_pass(struct hm__fit *f, const struct hm_fit_settings *s)
{
    struct hm_lsq some;
    size_t terms[HM_TERMS_MAX], count = hm__fit_used(f, terms);
    double theta[HM_TERMS_MAX];

    if (f->basis.overlaps)
        hm__overlap_linearise(&f->basis, f->theta[0], f->theta[1], f->x, f->data.group_count);
    hm__lsq_init(&f->lsq, f->basis.count);
    for (size_t g = 0; g < f->data.group_count; g++)
        add_group(f, g, &f->lsq);
    hm__lsq_pick(&f->lsq, terms, count, &some);
    hm__posterior_mode(&some, (double)f->data.count, hm__fit_priors(f), hm__fit_noise(s), theta,
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
        const double before[2] = {f->theta[0], f->theta[1]};
        if (hm__budget_spent("runs"))
            break;
        fit_solve_pass(f, s);
        /*
         * With overlap, the solution may alternate between two values; half steps after five passes
         * prevent this.
         */
        for (size_t k = 0; f->basis.overlaps && k < 2; k++)
            f->theta[k] = pass < 5 ? f->theta[k] : (f->theta[k] + before[k]) / 2;
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
 * many configurations, a fold contains several of them. Returns NULL if memory runs out.
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
    int rc = hm__choose(&f->basis, &f->rule, folds, fold_count, (double)f->data.count, unit,
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

/* ---- construction ---------------------------------------------------------------------------- */

static int fit_runs(struct hm_fit *fit, const struct hm_runs *runs, const struct hm_fit_settings *s,
                    struct hm_choice **ret_choices, size_t *ret_count, struct hm_err *err)
{
    struct hm__fit *f = fit->inside;
    int rc = hm__fit_prepare(fit, runs, s, err);

    if (rc)
        return rc;
    fit->n_min = f->data.low[0];
    fit->n_max = f->data.high[0];
    fit->run_count = f->data.count;
    fit->failed = runs->failed;
    fit->configurations = f->data.group_count;
    for (size_t k = 0; k < f->basis.count; k++) {
        f->in[k] = true;
        f->theta[k] = f->basis.priors[k].mean;
    }
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
 * Creates a fit from a specification sheet without runs: the coefficients are the means of the
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
    f->spread = hm__fit_noise(s).spread;
    f->typical = 1;
}

/*
 * Returns a static string with the name of the unit; the string of the runs is not kept, because
 * the runs may be freed before the fit.
 */
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
                               .one_node = NAN,
                               .from_sheet = s->job != NULL,
                               .chosen = !s->job && s->term_count == 0,
                               .weak = s->job && s->job->scaling == HM_SCALING_WEAK,
                               .level = s->level > 0 ? s->level : 0.9,
                               .error = NAN,
                               .left_out_error = NAN};
        fit->inside = hm__arena_alloc(arena, 1, sizeof(*fit->inside));
        if (fit->inside)
            fit->inside->rule = s->rule ? *s->rule : hm_fit_rule_default();
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
    return hm__fit_new(runs, settings, NULL, true, ret_fit, err);
}

int hm__fit_new(const struct hm_runs *runs, const struct hm_fit_settings *settings,
                struct hm_step_table *table, bool draws, struct hm_fit **ret_fit,
                struct hm_err *err)
{
    static const struct hm_fit_settings none = {0};
    const struct hm_fit_settings *s = settings ? settings : &none;
    int bad = hm__check_pointers(err, "ret_fit", ret_fit, NULL);
    if (bad == 0 && runs)
        bad = hm__runs_check_times(runs, err);
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
        rc = hm__basis_sheet(&f->basis, fit->memory, s->job, s->cluster, table,
                             s->width > 0 ? s->width : 0.5, err);
    if (rc == 0 && runs)
        rc = fit_runs(fit, runs, s, &choices, &choice_count, err);
    else if (rc == 0)
        fit_nothing(fit, s);
    if (rc == 0 && draws)
        rc = hm__fit_draw(fit, s, choices, choice_count, err);
    hm__free(choices);
    if (rc == 0 && fit->from_sheet && runs)
        hm__fit_take_mean(f);
    fit->noise = f->spread;
    if (rc == 0)
        rc = hm__fit_list(fit, err);
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
