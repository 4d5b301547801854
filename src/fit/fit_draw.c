/*
 * Draws the coefficients, from which all intervals of a fit are computed, and lists the terms with
 * the intervals for their coefficients.
 */
#include <math.h>
#include <string.h>

#include "budget.h"
#include "err.h"
#include "fit.h"
#include "overlap.h"
#include "student.h"

/*
 * Smallest relative noise that intervals assume: clocks and machines are not more precise, even if
 * a few runs agree better.
 */
static const double LEAST_NOISE = 0.003;

/* Appends draws of the coefficients of one set of terms; coefficients of other terms are 0. */
static void draw_set(struct hm__fit *f, const struct hm_fit_settings *s, const size_t *terms,
                     size_t count, size_t draws, struct hm_random *random)
{
    struct hm_lsq some;
    struct hm_draw *first = f->draws + f->draw_count;

    if (draws == 0 || count == 0)
        return;
    hm__lsq_pick(&f->lsq, terms, count, &some);
    struct hm_noise noise = hm__fit_noise(s);
    noise.least = LEAST_NOISE * f->typical;
    if (!s->job && s->term_count == 0) {
        noise.weight = f->rule.noise_weight;
        noise.spread = f->rule.noise * f->typical;
    }
    if (!hm__posterior_draw(&some, (double)f->data.count, hm__fit_priors(f), noise, random, first,
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

/*
 * Returns the weighted sum of squares of the runs around a draw. If `curved` is true, the true
 * (curved) time of overlapped communication is used; otherwise, a linear approximation is used.
 */
static double draw_residual(const struct hm_fit *fit, size_t draw, bool curved)
{
    const struct hm__fit *f = fit->inside;
    const size_t groups = f->data.group_count;
    const double *theta = f->draws[draw].theta;
    double sum = 0;

    for (size_t g = 0; g < groups; g++) {
        double seconds = hm__fit_seconds(fit, f->x, groups, g, draw);
        if (!curved)
            seconds += theta[0] * f->x[g] + theta[1] * f->x[groups + g] -
                       hm__overlap_seconds(&f->basis, f->x, groups, g, theta[0], theta[1]);
        double off = (seconds - f->data.groups[g].mean_s) * f->scale[g];
        sum += f->data.groups[g].count * off * off;
    }
    return sum;
}

enum { KEPT_LEAST = 100 };

/*
 * With overlap, coefficients are drawn from a linear problem, in which communication stays hidden
 * no matter how long it takes. Each draw is therefore kept with a probability that is smaller if
 * its true (curved) time explains the runs worse than the linear time does.
 */
static void draws_reject(struct hm_fit *fit, struct hm_random *random)
{
    struct hm__fit *f = fit->inside;
    size_t kept = 0;

    for (size_t d = 0; d < f->draw_count; d++) {
        if (hm__budget_spent("runs"))
            return;
        double more = draw_residual(fit, d, true) - draw_residual(fit, d, false);
        double spread = f->draws[d].spread;
        f->luck[d] = exp(-fmax(more, 0) / (2 * spread * spread));
        kept += hm__random_uniform(random) < f->luck[d];
    }
    if (kept < KEPT_LEAST)
        return;
    kept = 0;
    for (size_t d = 0; d < f->draw_count; d++)
        if (hm__random_uniform(random) < f->luck[d])
            f->draws[kept++] = f->draws[d];
    f->draw_count = kept;
}

/*
 * Degrees of freedom of the drift's distribution: published curves have a few large errors and many
 * small ones.
 */
enum { DRIFT_FREE = 4 };

/*
 * Draws the drift (the deviation outside the range of the runs) from Student's distribution, scaled
 * so that its 90 % interval equals the 90 % interval of a normal distribution.
 */
static int fit_draw_drift(struct hm_fit *fit, const struct hm_fit_settings *s, struct hm_err *err)
{
    struct hm__fit *f = fit->inside;
    struct hm_random random;
    double *drift = hm__arena_alloc(fit->memory, HM_FIT_DRAWS, sizeof(*drift));

    if (!drift)
        return hm__fail_nomem(err);
    const double unit = hm__student_quantile(1e6, 0.95) / hm__student_quantile(DRIFT_FREE, 0.95);
    hm__random_init(&random, (uint64_t)s->seed, 2);
    for (size_t d = 0; d < HM_FIT_DRAWS; d++) {
        double squares = 0, z = hm__random_normal(&random);
        for (int i = 0; i < DRIFT_FREE; i++) {
            double x = hm__random_normal(&random);
            squares += x * x;
        }
        drift[d] = unit * z / sqrt(squares / DRIFT_FREE);
    }
    f->drift = drift;
    return 0;
}

int hm__fit_draw(struct hm_fit *fit, const struct hm_fit_settings *s,
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
        draw_set(f, s, all, hm__fit_used(f, all), HM_FIT_DRAWS, &random);
    if (f->basis.overlaps && f->data.count > 0)
        draws_reject(fit, &random);
    int rc = fit->chosen ? hm__fit_shrink(fit, &random, err) : 0;
    if (rc)
        return rc;
    hm__random_init(&random, (uint64_t)s->seed, 1);
    for (size_t i = 0; i < f->draw_count; i++)
        f->luck[i] = hm__random_normal(&random);
    fit->intervals = f->draw_count > 0;
    bool drifts = fit->chosen || (fit->from_sheet && f->data.count > 0);
    return drifts && f->rule.drift > 0 ? fit_draw_drift(fit, s, err) : 0;
}

void hm__fit_take_mean(struct hm__fit *f)
{
    for (size_t k = 0; k < f->basis.count; k++) {
        f->theta[k] = 0;
        for (size_t i = 0; i < f->draw_count; i++)
            f->theta[k] += f->draws[i].theta[k] / (double)f->draw_count;
    }
}

/* Returns whether term k decreases with the number of workers n beyond the largest measured n. */
static bool term_falls(const struct hm_fit *fit, size_t k)
{
    const struct hm__fit *f = fit->inside;
    double n[2] = {fmax(fit->n_max, 1), 2 * fmax(fit->n_max, 1)}, values[HM_QUANTITIES_MAX][2];
    const double *columns[HM_QUANTITIES_MAX];
    double x[2 * (HM_TERMS_MAX + 1)];
    struct hm_err ignored = {0};

    /*
     * With a specification sheet, the terms of computation and of evenly divided work decrease with
     * n.
     */
    if (f->basis.sheet)
        return k == 0 || k == f->basis.count - HM_SHEET_EXTRAS;
    /* With weak scaling, the constant term is the work of each worker, so it counts as work that is
     * divided among the workers. */
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

int hm__fit_list(struct hm_fit *fit, struct hm_err *err)
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
