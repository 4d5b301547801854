/*
 * Answers a question from a fit instead of the model: the times for every number of workers n,
 * their intervals, and the probability that the choice is best. Each random draw of the fit is a
 * whole curve over n that is consistent with the runs. The recommended n has the smallest mean loss
 * over these curves (expected regret, capped at 1). This need not be the best n of the most likely
 * curve: a few runs rarely show how steeply the time rises beyond them, and choosing an n that is
 * too large costs more than choosing an n that is too small. Limit: there are at most PLAYED_MAX
 * evaluations, so for long curves only some of the draws are used.
 */
#include <math.h>
#include <string.h>

#include "budget.h"
#include "chance.h"
#include "err.h"
#include "fit.h"
#include "search.h"
#include "student.h"

bool hm__search_by_runs(const struct hm_search *s)
{
    return s->question->fit && !s->question->fit->from_sheet;
}

static int points_terms(const struct hm_search *s, const struct hm_model *model,
                        const struct hm_point *points, size_t count, double **ret_x,
                        struct hm_err *err)
{
    double *n = hm__calloc(count, sizeof(*n));

    if (!n)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        n[i] = points[i].n;
    int rc = hm__fit_terms(s->question->fit, model, n, count, ret_x, err);
    hm__free(n);
    return rc;
}

int hm__search_eval(const struct hm_search *s, const struct hm_model *model,
                    struct hm_point *points, size_t count, struct hm_err *err)
{
    const struct hm_fit *fit = s->question->fit;
    int rc = hm__model_eval(model, points, count, err);
    double *x, work = hm__search_by_runs(s) ? hm__model_work(model) : 1;

    if (rc || !fit)
        return rc;
    rc = points_terms(s, model, points, count, &x, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < count; i++) {
        struct hm_point *p = &points[i];
        double whole = hm__fit_seconds(fit, x, count, i, HM_NONE);
        double shared = hm__fit_shared(fit, x, count, i);
        p->compute_s = shared * work; /* More work increases only the part of the time that is
                                         divided among the workers. */
        /* Rounding errors could make the difference negative, so it is at least 0. */
        p->communicate_s = fmax(whole - shared, 0);
        p->time_s = p->compute_s + p->communicate_s;
        p->latency_s = p->bandwidth_s = NAN;
    }
    hm__free(x);
    return 0;
}

/* ---- certainty ------------------------------------------------------------------------------- */

struct draw_tally {
    double played; /* Number of draws of the fit that were evaluated. */
    /*
     * Number of draws of the fit in which the chosen point is the best, and number of draws in
     * which its value is within the slack of the best.
     */
    double best, near;
    size_t count;   /* Number of elements of `chosen`. */
    double *chosen; /* Best n of each evaluated draw of the fit. */
};

/* Recomputes the curve with the times from one draw of the fit. */
static void curve_apply_draw(const struct hm_search *s, const double *x, size_t draw,
                             struct hm_curve *curve)
{
    const struct hm_fit *fit = s->question->fit;
    const size_t count = curve->count + 1;

    for (size_t i = 0; i < count; i++) {
        struct hm_point *p = i < curve->count ? &curve->points[i] : &curve->reference;
        p->time_s = fmax(hm__fit_seconds(fit, x, count, i, draw), 1e-300);
    }
    hm__curve_finish(curve, s, 1);
}

/*
 * Returns the loss from choosing a point of a curve: (value - smallest value) / smallest value, at
 * most 1. It is 1 if the point may not be chosen.
 */
static double point_loss(const struct hm_search *s, const struct hm_point *p, double least)
{
    if (!p->fits)
        return 1;
    return fmin(hm__search_value(s, p) / fmax(least, 1e-300) - 1, 1);
}

static void draw_tally_add(struct draw_tally *t, const struct hm_search *s,
                           const struct hm_curve *curve, size_t choice, size_t best, double least)
{
    t->best += best == choice;
    t->near += point_loss(s, &curve->points[choice], least) <= hm__search_slack(s) * (1 + 1e-12);
    t->chosen[t->count++] = curve->points[best].n;
}

/* Largest number of evaluated points, summed over all draws of the fit. */
static const double PLAYED_MAX = 2e6;

/*
 * Evaluates every draw of the fit or, for a long curve, only every step-th draw. If `choice` is
 * HM_NONE, adds up the loss of every point over the draws; otherwise, counts the draws in which the
 * chosen point is best.
 */
static void draws_evaluate(const struct hm_search *s, const double *x, struct hm_curve *curve,
                           size_t choice, double *losses, struct draw_tally *t)
{
    const size_t draws = hm__fit_draw_count(s->question->fit);
    size_t step = 1 + (size_t)((double)draws * (double)curve->count / PLAYED_MAX);

    for (size_t d = 0; d < draws; d += step) {
        if (hm__budget_spent("max_n"))
            break;
        curve_apply_draw(s, x, d, curve);
        size_t best = hm__curve_best(s, curve);
        t->played++;
        if (best == HM_NONE)
            continue;
        double least = hm__search_value(s, &curve->points[best]);
        for (size_t i = 0; choice == HM_NONE && i < curve->count; i++)
            losses[i] += point_loss(s, &curve->points[i], least);
        if (choice != HM_NONE)
            draw_tally_add(t, s, curve, choice, best, least);
    }
}

/*
 * Returns the point with the smallest mean loss among the points that meet the limits on the most
 * likely curve.
 */
static size_t curve_least_loss(const struct hm_search *s, const struct hm_curve *curve,
                               const double *losses)
{
    size_t best = HM_NONE;

    for (size_t i = 0; i < curve->count; i++)
        if (hm__search_allows(s, &curve->points[i]) &&
            (best == HM_NONE || losses[i] < losses[best] * (1 - 1e-9)))
            best = i;
    return best;
}

static void draws_range(double *times, size_t count, double level, double *ret_low,
                        double *ret_high)
{
    *ret_low = hm__quantile(times, count, (1 - level) / 2);
    *ret_high = hm__quantile(times, count, (1 + level) / 2);
}

int hm__search_fit_intervals(const struct hm_search *s, const struct hm_model *model,
                             struct hm_point *points, size_t count, double *ret_level,
                             struct hm_err *err)
{
    const struct hm_fit *fit = s->question->fit;
    const size_t draws = hm__fit_draw_count(fit);
    double *x = NULL, *times, low, high;

    *ret_level = NAN;
    if (draws == 0)
        return 0;
    int rc = points_terms(s, model, points, count, &x, err);
    if (rc)
        return rc;
    if (!(times = hm__calloc(2 * draws, sizeof(*times))))
        rc = hm__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < count && !hm__budget_spent("max_n"); i++) {
        struct hm_point *p = &points[i];
        /* Ratio of the times of a changed job to the times of the fit. */
        double changed = p->time_s / hm__fit_seconds(fit, x, count, i, HM_NONE);
        for (size_t d = 0; d < draws; d++) {
            times[d] = changed * hm__fit_run_seconds(fit, x, count, i, d);
            times[draws + d] = changed * hm__fit_seconds(fit, x, count, i, d);
        }
        /* The interval for a run includes the interval for the mean, as in hm_fit_predict. */
        draws_range(times, draws, fit->level, &p->low_s, &p->high_s);
        draws_range(times + draws, draws, fit->level, &low, &high);
        p->low_s = fmin(fmin(p->low_s, low), p->time_s);
        p->high_s = fmax(fmax(p->high_s, high), p->time_s);
    }
    *ret_level = fit->level;
    hm__free(x);
    hm__free(times);
    return rc;
}

static void answer_set_certainty(struct hm_answer *a, const struct hm_fit *fit,
                                 struct draw_tally *t)
{
    if (t->count == 0)
        return;
    bool beyond = a->points[a->recommended].n > fit->n_max;
    double most = hm__chance_most(fit->run_count, beyond);
    a->sure = fmin(t->best / t->played, most);
    a->sure_near = fmin(t->near / t->played, most);
    a->n_low = hm__quantile(t->chosen, t->count, (1 - fit->level) / 2);
    a->n_high = hm__quantile(t->chosen, t->count, (1 + fit->level) / 2);
}

/*
 * Chooses the point with the smallest mean loss over the draws of the fit, and counts the draws in
 * which the recommended point is the best or within the slack of the best. In all draws, the same
 * points are allowed: those that meet the limits with the required probability.
 */
static int answer_choose_by_draws(struct hm_answer *a, const struct hm_search *s, const double *x,
                                  const struct hm_curve *curve, struct hm_curve *scratch,
                                  struct draw_tally *t, struct hm_err *err)
{
    double *losses = hm__calloc(curve->count, sizeof(*losses));
    struct hm_question unlimited = *s->question;
    struct hm_search by = *s;

    if (!losses)
        return hm__fail_nomem(err);
    unlimited.deadline_s = 0;
    unlimited.budget = NAN;
    by.question = &unlimited;
    for (size_t i = 0; i < curve->count; i++)
        scratch->points[i].fits = hm__search_allows(s, &curve->points[i]);
    if (a->best != HM_NONE && a->status == HM_STATUS_OK) {
        draws_evaluate(&by, x, scratch, HM_NONE, losses, t);
        a->likely = a->best;
        a->best = curve_least_loss(s, curve, losses);
        hm__answer_plateau(a, s, curve);
        a->recommended = hm__curve_recommended(s, curve, a->best);
        t->played = 0;
        draws_evaluate(&by, x, scratch, a->recommended, losses, t);
    }
    hm__free(losses);
    return 0;
}

/* Copies a curve, its points and its reference, so that the copy can be changed. */
static int curve_copy(const struct hm_curve *from, struct hm_curve *to, struct hm_err *err)
{
    *to = *from;
    to->points = hm__calloc(from->count + 1, sizeof(*to->points));
    if (!to->points)
        return hm__fail_nomem(err);
    memcpy(to->points, from->points, from->count * sizeof(*to->points));
    /*
     * The reference is stored after the last point, so that one call evaluates the terms for the
     * points and the reference.
     */
    to->points[from->count] = from->reference;
    return 0;
}

int hm__answer_certainty(struct hm_answer *a, const struct hm_search *s,
                         const struct hm_model *model, const struct hm_curve *curve,
                         struct hm_err *err)
{
    const struct hm_fit *fit = s->question->fit;
    const size_t draws = fit ? hm__fit_draw_count(fit) : 0;
    struct hm_curve scratch = {0};
    struct draw_tally t = {0};
    double *x = NULL;

    if (draws == 0)
        return 0;
    int rc = hm__search_fit_intervals(s, model, a->points, a->point_count, &a->level, err);
    if (rc == 0)
        rc = curve_copy(curve, &scratch, err);
    if (rc == 0)
        rc = points_terms(s, model, scratch.points, curve->count + 1, &x, err);
    if (rc == 0 && !(t.chosen = hm__calloc(draws, sizeof(*t.chosen))))
        rc = hm__fail_nomem(err);
    if (rc == 0) {
        rc = answer_choose_by_draws(a, s, x, curve, &scratch, &t, err);
        answer_set_certainty(a, fit, &t);
    }
    hm__curve_release(&scratch);
    hm__free(x);
    hm__free(t.chosen);
    return rc;
}

/* ---- explanation ----------------------------------------------------------------------------- */

int hm__answer_explain_fit(struct hm_answer *a, const struct hm_search *s, const struct hm_point *p,
                           struct hm_err *err)
{
    const struct hm_fit *fit = s->question->fit;
    const struct hm_term *most = NULL;
    double *x, largest = 0;
    int rc = hm__fit_terms(fit, NULL, &p->n, 1, &x, err);

    if (rc)
        return rc;
    for (size_t k = 0; k < fit->term_count; k++) {
        double seconds = fit->terms[k].value * hm__fit_term_at(fit, x, k);
        if (!fit->terms[k].falls && seconds > largest) {
            largest = seconds;
            most = &fit->terms[k];
        }
    }
    hm__free(x);
    a->limit_share = p->compute_s / p->time_s;
    a->limit = HM_LIMIT_COMPUTE;
    a->why = "most of the step is work that is divided among the workers";
    if (a->limit_share >= 0.5 || !most)
        return 0;
    a->limit_share = 1 - a->limit_share;
    if (strcmp(most->text, "1") == 0) {
        a->limit = HM_LIMIT_SERIAL;
        a->why = hm__arena_printf(a->memory, "%.4g s of a step do not shrink with more workers",
                                  most->value);
        return a->why ? 0 : hm__fail_nomem(err);
    }
    a->limit = HM_LIMIT_COMMUNICATION;
    a->why = hm__arena_printf(a->memory, "most of the time that does not shrink is %.4g * %s",
                              most->value, most->text);
    return a->why ? 0 : hm__fail_nomem(err);
}
