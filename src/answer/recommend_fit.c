/*
 * Provides times from fits if no row matches the question. Two fits are tried for each number of
 * workers n, and the one with the smaller error for left-out runs (runs that it was not fitted to)
 * gives the time:
 *
 *   all runs   one fit to all n; hm_fit_new chooses the terms (batch/n, latency*ln(n), …)
 *   one n      seconds = a + b batch + c latency + …, fitted to the runs with this n alone
 *
 * The first fit is the formula of Anwar et al., t = o/x_n + l*r, with known functions of n. It
 * needs few runs and can predict values of n that were never run, but it is wrong if the effect of
 * n follows another function: in Anwar's table, latency costs twelve times as much on four machines
 * as on two. The second fit assumes nothing about n, but needs enough runs of each n. A fit to all
 * runs is not used if its error for left-out runs is above a quarter: its terms, and therefore its
 * intervals, are wrong for this job. Limit: at most HM_RECOMMEND_AT quantities.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "budget.h"
#include "chance.h"
#include "checks.h"
#include "err.h"
#include "random.h"
#include "recommend.h"
#include "recommend_off.h"

static const double OFF_TOO_FAR = 0.25;

enum { TERM_TEXT = 80 };

/* Copies some rows of a table of runs into a new table, which is released with
 * hm__arena_free(runs->memory). */
static struct hm_runs *runs_copy_rows(const struct hm_runs *from, const size_t *rows, size_t count)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_runs *runs = arena ? hm__arena_alloc(arena, 1, sizeof(*runs)) : NULL;
    bool ok = runs != NULL;

    if (ok) {
        *runs = (struct hm_runs){.source = from->source, .count = count, .memory = arena};
        runs->columns = hm__arena_alloc(arena, from->column_count, sizeof(*runs->columns));
        runs->lines = hm__arena_alloc(arena, count, sizeof(*runs->lines));
        ok = runs->columns && runs->lines;
    }
    for (size_t i = 0; ok && i < count; i++)
        runs->lines[i] = hm__runs_line(from, rows[i]);
    for (size_t c = 0; ok && c < from->column_count; c++) {
        const struct hm_column *source = &from->columns[c];
        struct hm_column *to = &runs->columns[runs->column_count++];
        to->name = source->name;
        if (source->values)
            to->values = hm__arena_alloc(arena, count, sizeof(*to->values));
        else
            to->labels = hm__arena_alloc(arena, count, sizeof(*to->labels));
        ok = to->values || to->labels;
        for (size_t i = 0; ok && i < count; i++) {
            if (to->values)
                to->values[i] = source->values[rows[i]];
            else
                to->labels[i] = source->labels[rows[i]];
        }
    }
    if (!ok)
        hm__arena_free(arena);
    return ok ? runs : NULL;
}

/* ---- usable rows ----------------------------------------------------------------------------- */

struct recommend_fits {
    struct hm_recommending *w;
    /*
     * Indices of the rows in the table of runs that have a time and a value for every quantity that
     * the question gives.
     */
    size_t *rows, count;
    size_t *few; /* Buffer for the indices of some of the `rows`. */
    /*
     * One fit to all runs, regardless of their number of workers; NULL if such a fit is not used.
     */
    struct hm_fit *all;
    struct hm_off all_off;            /* Errors of the fit `all` for left-out runs. */
    struct hm_at at[HM_RECOMMEND_AT]; /* Quantities that the terms of the fit `all` use. */
    size_t at_count;
    const char *against; /* Reason why the fit `all` is not used. */
    /*
     * Sum of the squared errors for left-out runs, over all fits that are used, and the number of
     * these errors.
     */
    double off, off_rows;
    /* Number of candidates whose time comes from a fit to only the runs with the candidate's n. */
    size_t own;
};

static bool row_is_usable(const struct hm_recommending *w, size_t row)
{
    for (size_t c = 0; c < w->runs->column_count; c++) {
        const struct hm_column *column = &w->runs->columns[c];
        if (column->values && hm__recommend_is_known(column->name) && isnan(column->values[row]))
            return false;
    }
    for (size_t i = 0; i < w->at_count; i++)
        if (isnan(hm__recommend_values(w->runs, w->at[i].name)[row]))
            return false;
    return !isnan(w->seconds[row]);
}

/* Finds the smallest and the largest value of a quantity in the given rows. */
static void rows_range(const struct hm_runs *runs, const char *name, const size_t *rows,
                       size_t count, double *low, double *high)
{
    const double *values = hm__recommend_values(runs, name);

    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        *low = fmin(*low, values[rows[i]]);
        *high = fmax(*high, values[rows[i]]);
    }
}

static int fits_find_rows(struct recommend_fits *f, struct hm_err *err)
{
    struct hm_recommending *w = f->w;

    f->rows = hm__arena_alloc(w->arena, w->picked_count, sizeof(*f->rows));
    f->few = hm__arena_alloc(w->arena, w->picked_count, sizeof(*f->few));
    if (!f->rows || !f->few)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < w->picked_count; i++)
        if (row_is_usable(w, w->picked[i]))
            f->rows[f->count++] = w->picked[i];
    return 0;
}

/* ---- one fit of all n ------------------------------------------------------------------------ */

/*
 * Selects the rows for one fit to all numbers of workers. A quantity that has no terms in such a
 * fit (one other than size, batch, latency and bandwidth) must have the value of the question.
 */
static size_t fits_rows_for_all(struct recommend_fits *f)
{
    struct hm_recommending *w = f->w;
    size_t count = 0;

    for (size_t i = 0; i < f->count; i++) {
        bool same = true;
        for (size_t k = 0; k < w->at_count; k++)
            same = same &&
                   (hm__recommend_is_known(w->at[k].name) ||
                    hm__recommend_same(hm__recommend_values(w->runs, w->at[k].name)[f->rows[i]],
                                       w->at[k].value));
        if (same)
            f->few[count++] = f->rows[i];
    }
    return count;
}

/*
 * Returns a phrase about a quantity that has the same value in all rows, up to rounding, but
 * another value in the question; NULL if there is no such quantity.
 */
static const char *unvaried_text(struct recommend_fits *f, const size_t *rows, size_t count,
                                 const char *whose)
{
    struct hm_recommending *w = f->w;
    char text[HM_PLACE_TEXT];

    for (size_t k = 0; k < w->at_count; k++) {
        double low, high;
        rows_range(w->runs, w->at[k].name, rows, count, &low, &high);
        bool varies = low < high && !hm__recommend_same(low, high);
        if (varies || hm__recommend_same(low, w->at[k].value))
            continue;
        struct hm_at only = {w->at[k].name, low};
        return hm__arena_printf(w->arena, "%s %s only", whose,
                                hm__recommend_place_text(&only, 1, text));
    }
    return NULL;
}

static int fits_fit_rows(struct recommend_fits *f, const size_t *rows, size_t count,
                         const char *const *terms, size_t term_count, double stream,
                         struct hm_fit **ret_fit, struct hm_err *err)
{
    const struct hm_recommend_question *q = f->w->q;
    struct hm_fit_settings s = {.terms = terms,
                                .term_count = term_count,
                                .level = f->w->out->level,
                                .seed = q->seed + 1e6 * stream,
                                .errors = term_count ? HM_ERRORS_RELATIVE : HM_ERRORS_AUTO};
    struct hm_runs *runs = runs_copy_rows(f->w->runs, rows, count);

    if (!runs)
        return hm__fail_nomem(err);
    int rc = hm_fit_new(runs, &s, ret_fit, err);
    hm_runs_free(runs);
    return rc;
}

/* Discards the fit to all numbers of workers if its error for left-out runs is too large. */
static int fits_check_all(struct recommend_fits *f, struct hm_err *err)
{
    double count;

    if (!f->all->intervals) {
        f->against = "they are too few for an interval";
    } else {
        int rc = hm__off_find(f->all, f->w->out->level, &f->all_off, err);
        if (rc)
            return rc;
        double off = sqrt(hm__off_at(f->all, &f->all_off, NAN, &count) / count);
        if (off <= OFF_TOO_FAR)
            return 0;
        f->against = hm__arena_printf(
            f->w->arena, "a fit of all n has an error of %.0f %% for a run left out", 100 * off);
    }
    hm_fit_free(f->all);
    f->all = NULL;
    return f->against ? 0 : hm__fail_nomem(err);
}

static int fits_fit_all(struct recommend_fits *f, struct hm_err *err)
{
    struct hm_recommending *w = f->w;
    size_t count = fits_rows_for_all(f);
    struct hm_err own = {0};

    if (count == 0 || (f->against = unvaried_text(f, f->few, count, "all runs have")))
        return 0;
    int rc = fits_fit_rows(f, f->few, count, NULL, 0, 0, &f->all, &own);
    if (rc == HM_E_NOMEM)
        return hm__fail_nomem(err);
    for (size_t k = 0; k < w->at_count; k++)
        if (hm__recommend_is_known(w->at[k].name))
            f->at[f->at_count++] = w->at[k];
    if (rc) {
        f->against = hm__arena_strdup(w->arena, own.message);
        return f->against ? 0 : hm__fail_nomem(err);
    }
    return fits_check_all(f, err);
}

/* ---- a fit of one n -------------------------------------------------------------------------- */

struct own_terms {
    char texts[HM_RECOMMEND_AT + 1][TERM_TEXT];
    const char *terms[HM_RECOMMEND_AT + 1];
    size_t term_count;
    struct hm_at at[HM_RECOMMEND_AT];
    size_t at_count;
    size_t rows;
    /*
     * True if each quantity that has a single value in the runs has the same value in the question.
     */
    bool reaches;
    /*
     * True if each quantity that has a single value in the runs has the same value in the question,
     * or a value that makes a run take longer, so that the times of the runs are a lower bound.
     */
    bool floor;
};

/* Returns whether a run takes longer if the quantity `name` has the value `value` instead of
 * `than`. */
static bool is_more_demanding(const char *name, double value, double than)
{
    if (strcmp(name, "bandwidth") == 0)
        return value < than;
    return hm__recommend_is_known(name) && value > than;
}

/*
 * Chooses the terms of a fit to the runs on n workers: a constant, and one term for each quantity
 * that varies among these runs.
 */
static void own_terms_init(struct recommend_fits *f, double n, struct own_terms *own)
{
    struct hm_recommending *w = f->w;

    *own = (struct own_terms){.terms = {"1"}, .term_count = 1, .reaches = true, .floor = true};
    for (size_t i = 0; i < f->count; i++)
        if (w->n[f->rows[i]] == n)
            f->few[own->rows++] = f->rows[i];
    for (size_t k = 0; k < w->at_count; k++) {
        const struct hm_at *at = &w->at[k];
        double low, high;
        if (hm__recommend_ignores(w, n, at->name))
            continue;
        rows_range(w->runs, at->name, f->few, own->rows, &low, &high);
        bool same = hm__recommend_same(low, at->value);
        if (low < high && !hm__recommend_same(low, high)) {
            snprintf(own->texts[k], TERM_TEXT, strcmp(at->name, "bandwidth") == 0 ? "1/%s" : "%s",
                     at->name);
            own->terms[own->term_count++] = own->texts[k];
            own->at[own->at_count++] = *at;
        } else {
            own->reaches = own->reaches && same;
            own->floor = own->floor && (same || is_more_demanding(at->name, at->value, low));
        }
    }
}

/* Fits the runs on one number of workers; *ret_fit is NULL if there are too few of these runs. */
static int own_terms_fit(struct recommend_fits *f, const struct own_terms *own, size_t candidate,
                         struct hm_fit **ret_fit, struct hm_err *err)
{
    struct hm_err mine = {0};
    struct hm_fit *fit = NULL;
    double theta[HM_TERMS_MAX];
    size_t column;

    *ret_fit = NULL;
    if (own->rows <= own->term_count || own->term_count > HM_TERMS_MAX)
        return 0;
    int rc = fits_fit_rows(f, f->few, own->rows, own->terms, own->term_count, (double)candidate + 1,
                           &fit, &mine);
    if (rc)
        return rc == HM_E_NOMEM ? hm__fail_nomem(err) : 0;
    /* The fit is used only if these runs determine all coefficients. */
    if (fit->intervals && fit->configurations > own->term_count &&
        hm__lsq_solve(&fit->inside->lsq, theta, &column))
        *ret_fit = fit;
    else
        hm_fit_free(fit);
    return 0;
}

/* ---- times ----------------------------------------------------------------------------------- */

/*
 * Computes a random time of the candidate for each draw of the fit. If the library chose the terms,
 * the draws include the error of this choice, as in a plan. If the terms were given, the draws
 * assume that they are correct. Therefore, a normal error is added to each time; its standard
 * deviation is the spread of the runs or the error for left-out runs, whichever is smaller.
 */
static int candidate_draw(struct hm_recommending *w, struct hm_recommend_candidate *t,
                          const struct hm_fit *fit, const struct hm_off *off,
                          const struct hm_at *at, size_t at_count, struct hm_err *err)
{
    size_t draws = hm__fit_draw_count(fit);
    struct hm_random random;
    double *x;
    int rc = hm__fit_terms_at(fit, at, at_count, &t->r.n, 1, &x, err);

    if (rc)
        return rc;
    t->draws = hm__arena_alloc(w->arena, draws, sizeof(*t->draws));
    hm__random_init(&random, (uint64_t)w->q->seed, 100 + (uint64_t)(t - w->candidates));
    for (size_t d = 0; t->draws && d < draws; d++) {
        double mean = hm__fit_seconds(fit, x, 1, 0, d), spread = fit->inside->draws[d].spread;
        if (fit->errors == HM_ERRORS_RELATIVE)
            spread *= mean;
        t->draws[d] = fit->chosen
                          ? mean
                          : mean + fmin(spread, off->usual * mean) * hm__random_normal(&random);
    }
    hm__free(x);
    w->draw_count = w->draw_count == 0 || draws < w->draw_count ? draws : w->draw_count;
    return t->draws ? 0 : hm__fail_nomem(err);
}

/*
 * Widens the interval for a time. The interval from the fit assumes that the terms are correct; the
 * errors for left-out configurations show how wrong the terms are. The new interval reaches at
 * least as far as the quantile of these errors (a jackknife interval), and the deviations of the
 * draws from the time are multiplied by the same factor.
 */
static void candidate_stretch(struct hm_recommend_candidate *t, size_t draws, double reach)
{
    const double time_s = t->r.time_s;
    double own = fmax(time_s - t->r.low_s, t->r.high_s - time_s) / time_s;
    double factor = own > 0 && reach > own ? reach / own : 1;

    t->r.low_s = fmax(time_s - factor * (time_s - t->r.low_s), 0);
    t->r.high_s = time_s + factor * (t->r.high_s - time_s);
    for (size_t d = 0; d < draws; d++)
        t->draws[d] = fmax(time_s + factor * (t->draws[d] - time_s), 0.01 * time_s);
}

static int candidate_take_time(struct hm_recommending *w, struct hm_recommend_candidate *t,
                               const struct hm_fit *fit, const struct hm_off *off,
                               const struct hm_at *at, size_t at_count, struct hm_err *err)
{
    struct hm_prediction p;
    int rc = hm_fit_predict(fit, at, at_count, &t->r.n, 1, &p, err);

    if (rc == 0)
        rc = candidate_draw(w, t, fit, off, at, at_count, err);
    if (rc)
        return rc;
    t->known = true;
    t->r.time_s = p.time_s;
    t->r.low_s = p.low_s;
    t->r.high_s = p.high_s;
    /* If the library chose the terms, the draws already include the error of this choice. */
    if (!fit->chosen)
        candidate_stretch(t, hm__fit_draw_count(fit), off->reach);
    return 0;
}

/*
 * Sets a lower bound on the time from the runs with the candidate's n, if these runs take less time
 * than the configuration in the question.
 */
static int candidate_take_floor(struct hm_recommend_candidate *t, const struct hm_fit *fit,
                                const struct own_terms *own, struct hm_err *err)
{
    struct hm_prediction p;

    if (!own->floor)
        return 0;
    int rc = hm_fit_predict(fit, own->at, own->at_count, &t->r.n, 1, &p, err);
    if (rc == 0)
        t->floor_s = p.time_s;
    return rc;
}

static int candidate_explain(struct recommend_fits *f, struct hm_recommend_candidate *t,
                             const struct own_terms *own, struct hm_err *err)
{
    if (own->rows == 0)
        t->why = "never run";
    else if (own->reaches)
        t->why = own->rows == 1 ? "one run of it is too few" : "too few runs of it";
    else
        t->why = unvaried_text(f, f->few, own->rows, "its runs have");
    return t->why ? 0 : hm__fail_nomem(err);
}

/*
 * Uses the time from whichever of the two fits has the smaller error for left-out runs at this n.
 */
static int candidate_choose_fit(struct recommend_fits *f, struct hm_recommend_candidate *t,
                                const struct own_terms *own, const struct hm_fit *fit,
                                struct hm_err *err)
{
    double count = 0, all_count = 0, off = INFINITY, all_off = INFINITY;
    struct hm_off own_off = {0};
    bool tells = fit && own->reaches;
    int rc = tells ? hm__off_find(fit, f->w->out->level, &own_off, err) : 0;

    if (rc == 0 && tells)
        off = hm__off_at(fit, &own_off, t->r.n, &count);
    if (rc == 0 && f->all)
        all_off = hm__off_at(f->all, &f->all_off, t->r.n, &all_count);
    if (rc == 0 && tells && (!f->all || off < all_off)) {
        rc = candidate_take_time(f->w, t, fit, &own_off, own->at, own->at_count, err);
        f->off += off;
        f->off_rows += count;
        f->own++;
    } else if (rc == 0 && f->all) {
        rc = candidate_take_time(f->w, t, f->all, &f->all_off, f->at, f->at_count, err);
        f->off += isfinite(all_off) ? all_off : 0;
        f->off_rows += all_count;
    }
    hm__free(own_off.errors);
    return rc;
}

static int fits_evaluate(struct recommend_fits *f, size_t candidate, struct hm_err *err)
{
    struct hm_recommend_candidate *t = &f->w->candidates[candidate];
    struct hm_fit *fit;
    struct own_terms own;

    t->floor_s = NAN;
    own_terms_init(f, t->r.n, &own);
    int rc = own_terms_fit(f, &own, candidate, &fit, err);
    if (rc)
        return rc;
    rc = candidate_choose_fit(f, t, &own, fit, err);
    if (rc == 0 && !t->known && fit)
        rc = candidate_take_floor(t, fit, &own, err);
    if (rc == 0 && !t->known)
        rc = candidate_explain(f, t, &own, err);
    hm_fit_free(fit);
    return rc;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static int note_beyond(struct recommend_fits *f, struct hm_err *err)
{
    struct hm_recommending *w = f->w;
    int rc = 0;

    for (size_t k = 0; rc == 0 && k < w->at_count; k++) {
        char text[HM_PLACE_TEXT], edge[HM_PLACE_TEXT];
        double low, high, value = w->at[k].value;
        rows_range(w->runs, w->at[k].name, f->rows, f->count, &low, &high);
        struct hm_at end = {w->at[k].name, value > high ? high : low};
        if (value <= high * (1 + 1e-9) && value >= low * (1 - 1e-9))
            continue;
        rc = hm__notes_add(hm__recommend_notes(w), err, "%s is outside the runs, which end at %s",
                           hm__recommend_place_text(&w->at[k], 1, text),
                           hm__recommend_place_text(&end, 1, edge));
    }
    return rc;
}

static int note_unknown(struct hm_recommending *w, struct hm_err *err)
{
    int rc = 0;

    for (size_t i = 0, said = 0; rc == 0 && i < w->count && said < 4; i++) {
        const struct hm_recommend_candidate *t = &w->candidates[i];
        char workers[40], least[64] = "";
        if (t->known || t->r.failed || !t->why)
            continue;
        if (isfinite(t->floor_s))
            snprintf(least, sizeof(least), "; it takes at least %.3g s", t->floor_s);
        rc = hm__notes_add(hm__recommend_notes(w), err, "%s cannot be compared: %s%s",
                           hm__recommend_workers(t->r.n, workers), t->why, least);
        said++;
    }
    return rc;
}

/* Returns a phrase that says what was not run, such as "no run has batch 12800, latency 30 ms". */
static const char *place_text(struct hm_recommending *w)
{
    const char *who = w->q->n_count ? "no run of these n" : "no run";
    char text[HM_PLACE_TEXT];

    hm__recommend_place_text(w->at, w->at_count, text);
    if (!text[0])
        return hm__arena_printf(w->arena, "%s succeeded", who);
    return hm__arena_printf(w->arena, "%s has %s", who, text);
}

static int reason_fit(struct recommend_fits *f, size_t known, struct hm_err *err)
{
    struct hm_recommending *w = f->w;
    const char *place = place_text(w), *kind = f->own == known ? "of each n by itself"
                                               : f->own        ? "of each n by itself or of all n"
                                                               : "over all n";
    char off[80] = "";

    if (f->off_rows > 0)
        snprintf(off, sizeof(off), ", with an error of %.1f %% for a run left out",
                 100 * sqrt(f->off / f->off_rows));
    w->out->reason = place ? hm__arena_printf(w->arena, "%s: a fit of %zu runs, %s%s", place,
                                              f->count, kind, off)
                           : NULL;
    return w->out->reason ? 0 : hm__fail_nomem(err);
}

/*
 * Adds a statement to the reason: a fit provides the times for the values of n that have no
 * matching run.
 */
static int reason_mixed(struct recommend_fits *f, struct hm_err *err)
{
    struct hm_recommending *w = f->w;
    char off[80] = "";

    if (f->off_rows > 0)
        snprintf(off, sizeof(off), ", with an error of %.1f %% for a run left out",
                 100 * sqrt(f->off / f->off_rows));
    w->out->reason = hm__arena_printf(w->arena, "%s; the other n from a fit of %zu runs%s",
                                      w->out->reason, f->count, off);
    return w->out->reason ? 0 : hm__fail_nomem(err);
}

/*
 * Draws times for the candidates that were run from their intervals, so that they can be compared
 * with candidates whose times come from a fit.
 */
static int candidates_draw_measured(struct hm_recommending *w, struct hm_err *err)
{
    if (w->draw_count == 0)
        w->draw_count = HM_RECOMMEND_DRAWS;
    for (size_t i = 0; i < w->count; i++) {
        struct hm_recommend_candidate *t = &w->candidates[i];
        struct hm_random random;
        if (!t->known || t->draws || !(t->r.low_s > 0 && t->r.high_s >= t->r.low_s))
            continue;
        if (!(t->draws = hm__arena_alloc(w->arena, w->draw_count, sizeof(*t->draws))))
            return hm__fail_nomem(err);
        const struct hm_span span = {t->r.low_s, t->r.time_s, t->r.high_s, w->out->level};
        hm__random_init(&random, (uint64_t)w->q->seed, 50000 + i);
        hm__span_draw(&span, &random, t->draws, w->draw_count);
    }
    return 0;
}

/*
 * Gives a candidate that was run once the interval of a fit at its n, because its own spread is not
 * known. The measured time is kept.
 */
static int candidate_take_interval(struct recommend_fits *f, size_t candidate, struct hm_err *err)
{
    struct hm_recommend_candidate *t = &f->w->candidates[candidate], measured = *t;
    const struct recommend_fits before = *f;
    struct hm_fit *fit;
    struct own_terms own;

    own_terms_init(f, t->r.n, &own);
    int rc = own_terms_fit(f, &own, candidate, &fit, err);
    if (rc)
        return rc;
    rc = candidate_choose_fit(f, t, &own, fit, err);
    hm_fit_free(fit);
    measured.r.low_s = fmin(t->r.low_s, measured.r.time_s);
    measured.r.high_s = fmax(t->r.high_s, measured.r.time_s);
    if (!isnan(t->r.low_s))
        *t = measured;
    /*
     * The errors for left-out runs describe candidates whose times come from fits. This candidate
     * was measured, so the earlier errors are restored.
     */
    f->off = before.off;
    f->off_rows = before.off_rows;
    f->own = before.own;
    return rc;
}

static int candidates_take_intervals(struct recommend_fits *f, struct hm_err *err)
{
    const size_t draws = f->w->draw_count;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < f->w->count; i++) {
        rc = hm__budget_check("runs", err);
        if (rc == 0 && f->w->candidates[i].known && isnan(f->w->candidates[i].r.low_s))
            rc = candidate_take_interval(f, i, err);
    }
    f->w->draw_count = draws;
    return rc;
}

/* Records why fits cannot answer the question. */
static int reason_no_fit(struct recommend_fits *f, struct hm_err *err)
{
    struct hm_recommending *w = f->w;
    const char *place = place_text(w);

    w->out->reason =
        place ? hm__arena_printf(w->arena, "%s, and the others are not sufficient%s%s", place,
                                 f->against ? ": " : "", f->against ? f->against : "")
              : NULL;
    return w->out->reason ? 0 : hm__fail_nomem(err);
}

static int fits_evaluate_all(struct recommend_fits *f, struct hm_err *err)
{
    struct hm_recommending *w = f->w;
    size_t known = 0;
    int rc = fits_fit_all(f, err);

    bool measured = w->out->provenance == HM_RECOMMEND_ROWS;
    for (size_t i = 0; rc == 0 && i < w->count; i++) {
        bool before = w->candidates[i].known;
        if ((rc = hm__budget_check("runs", err)))
            break;
        if (!w->candidates[i].r.failed && !before)
            rc = fits_evaluate(f, i, err);
        known += w->candidates[i].known && !before;
    }
    if (rc == 0)
        rc = candidates_take_intervals(f, err);
    if (rc)
        return rc;
    w->node_workers = f->all ? f->all->one_node : NAN;
    w->fitted = known > 0 ? f->count : 0;
    if (measured)
        rc = candidates_draw_measured(w, err);
    if (rc || known == 0)
        return rc || measured ? rc : reason_no_fit(f, err);
    if (!measured) {
        w->out->provenance = HM_RECOMMEND_FIT;
        w->out->rows = f->rows;
        w->out->row_count = f->count;
    }
    rc = measured ? reason_mixed(f, err) : reason_fit(f, known, err);
    if (rc == 0)
        rc = note_beyond(f, err);
    return rc ? rc : note_unknown(w, err);
}

int hm__recommend_fit(struct hm_recommending *w, struct hm_err *err)
{
    struct recommend_fits f = {.w = w};

    for (size_t i = 0; i < w->at_count && w->out->provenance == HM_RECOMMEND_NONE; i++)
        if (!hm__recommend_values(w->runs, w->at[i].name)) {
            w->out->reason = hm__arena_printf(w->arena, "no run has a value of %s", w->at[i].name);
            return w->out->reason ? 0 : hm__fail_nomem(err);
        }
    int rc = fits_find_rows(&f, err);
    if (rc == 0)
        rc = fits_evaluate_all(&f, err);
    hm_fit_free(f.all);
    hm__free(f.all_off.errors);
    return rc;
}
