/*
 * Computes the pace f(m), which is the time of an iteration on m workers in seconds, from traces,
 * from a fit of runs or from the curve of a plan. For measured m, the measured times are used. For
 * other m, the terms of a fit are used or, without terms, ln f is interpolated linearly in ln m
 * between measured neighbours. Limit: without terms, f is unknown for m outside the measured range.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "checks.h"
#include "converge.h"
#include "err.h"
#include "fit.h"
#include "order.h"
#include "scaling.h"

static struct hm_paces *paces_begin(size_t room)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_paces *paces = arena ? hm__arena_alloc(arena, 1, sizeof(*paces)) : NULL;

    if (paces) {
        paces->memory = arena;
        paces->paces = hm__arena_alloc(arena, room + 1, sizeof(*paces->paces));
    }
    if (paces && paces->paces)
        return paces;
    hm__arena_free(arena);
    return NULL;
}

static int paces_finish(struct hm_paces *paces, int rc, struct hm_paces **ret_paces)
{
    if (rc)
        hm_paces_free(paces);
    else
        *ret_paces = paces;
    return rc;
}

/* ---- from a fit ------------------------------------------------------------------------------ */

/* Returns whether the terms of the fit depend only on the number of workers n. */
static bool fit_is_of_n(const struct hm__fit *f)
{
    if (f->basis.sheet)
        return false;
    for (size_t q = 1; q < f->basis.quantity_count; q++)
        if (hm__basis_needs(&f->basis, NULL, q))
            return false;
    return true;
}

/*
 * Lists the terms whose coefficient is nonzero in the fit or in one of its draws; only every
 * step-th draw is checked. Returns the number of these terms.
 */
static size_t fit_used_terms(const struct hm__fit *f, size_t step, size_t *ret_terms)
{
    size_t count = 0;

    for (size_t k = 0; k < f->basis.count; k++) {
        bool used = f->theta[k] != 0;
        for (size_t d = 0; d < HM_G_DRAWS && f->draw_count > 0; d++)
            used = used || f->draws[d * step].theta[k] != 0;
        if (used)
            ret_terms[count++] = k;
    }
    return count;
}

static int pace_take_terms(struct hm_pace *pace, struct hm_arena *arena, const struct hm_fit *fit,
                           struct hm_err *err)
{
    const struct hm__fit *f = fit->inside;
    size_t terms[HM_TERMS_MAX], step = f->draw_count / HM_G_DRAWS;
    size_t count = fit_used_terms(f, step, terms);

    pace->terms = hm__arena_alloc(arena, count + 1, sizeof(*pace->terms));
    pace->theta = hm__arena_alloc(arena, count + 1, sizeof(*pace->theta));
    pace->draws = hm__arena_alloc(arena, count * HM_G_DRAWS + 1, sizeof(*pace->draws));
    if (!pace->terms || !pace->theta || !pace->draws)
        return hm__fail_nomem(err);
    pace->draw_count = f->draw_count > 0 ? HM_G_DRAWS : 0;
    for (size_t k = 0; k < count; k++) {
        pace->terms[k] = hm__arena_strdup(arena, f->basis.texts[terms[k]]);
        pace->theta[k] = f->theta[terms[k]];
        if (!pace->terms[k])
            return hm__fail_nomem(err);
        for (size_t d = 0; d < pace->draw_count; d++)
            pace->draws[d * count + k] = f->draws[d * step].theta[terms[k]];
    }
    pace->term_count = count;
    pace->noise = fit->error;
    return 0;
}

enum { TABLE = 96 };

/*
 * Chooses the numbers of workers at which a fit is tabulated: every small n, then values of n at
 * increasing distances.
 */
static size_t table_places(double *n)
{
    size_t count = 0;

    for (double next = 1; count < TABLE; next = fmax(next + 1, ceil(next * 1.1)))
        n[count++] = next;
    return count;
}

static int pace_take_table(struct hm_pace *pace, struct hm_arena *arena, const struct hm_fit *fit,
                           struct hm_err *err)
{
    struct hm_prediction predictions[TABLE];
    double n[TABLE];
    size_t count = table_places(n);
    int rc = hm_fit_predict(fit, NULL, 0, n, count, predictions, err);

    pace->m = hm__arena_alloc(arena, TABLE, sizeof(*pace->m));
    pace->seconds = hm__arena_alloc(arena, TABLE, sizeof(*pace->seconds));
    if (rc == 0 && (!pace->m || !pace->seconds))
        rc = hm__fail_nomem(err);
    for (size_t k = 0; rc == 0 && k < count; k++) {
        pace->m[k] = n[k];
        pace->seconds[k] = predictions[k].time_s;
    }
    pace->count = rc ? 0 : count;
    pace->noise = fit->error;
    return rc;
}

static int pace_label(struct hm_pace *pace, struct hm_arena *arena, const char *algorithm,
                      const char *source, struct hm_err *err)
{
    pace->algorithm = algorithm ? hm__arena_strdup(arena, algorithm) : NULL;
    pace->source = hm__arena_strdup(arena, source ? source : "");
    return (algorithm && !pace->algorithm) || !pace->source ? hm__fail_nomem(err) : 0;
}

int hm_paces_from_fit(const struct hm_fit *fit, const char *algorithm, struct hm_paces **ret_paces,
                      struct hm_err *err)
{
    int bad = hm__check_pointers(err, "ret_paces", ret_paces, NULL);
    if (bad == 0)
        bad = hm__fit_check(fit, err);
    if (bad)
        return bad;
    struct hm_paces *paces = paces_begin(1);

    if (!paces)
        return hm__fail_nomem(err);
    struct hm_pace *pace = &paces->paces[0];
    int rc = fit->relative ? hm__fail(err, HM_E_CONFLICT,
                                      "%s has speedups, but the seconds of an iteration are needed",
                                      fit->source ? fit->source : "the table")
                           : pace_label(pace, paces->memory, algorithm, fit->source, err);
    paces->count = 1;
    rc = rc                         ? rc
         : fit_is_of_n(fit->inside) ? pace_take_terms(pace, paces->memory, fit, err)
                                    : pace_take_table(pace, paces->memory, fit, err);
    return paces_finish(paces, rc, ret_paces);
}

/* Creates the pace (time of an iteration in seconds) of one algorithm, with an empty table that has
 * room for `room` rows. */
static int paces_table(size_t room, const char *algorithm, struct hm_paces **ret_paces,
                       struct hm_err *err)
{
    struct hm_paces *paces = paces_begin(1);

    if (!paces)
        return hm__fail_nomem(err);
    struct hm_pace *pace = &paces->paces[0];
    int rc = pace_label(pace, paces->memory, algorithm, "the plan", err);
    paces->count = 1;
    pace->m = hm__arena_alloc(paces->memory, room + 1, sizeof(*pace->m));
    pace->seconds = hm__arena_alloc(paces->memory, room + 1, sizeof(double));
    if (rc == 0 && (!pace->m || !pace->seconds))
        rc = hm__fail_nomem(err);
    return paces_finish(paces, rc, ret_paces);
}

int hm_paces_from_answer(const struct hm_answer *answer, const char *algorithm,
                         struct hm_paces **ret_paces, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "ret_paces", ret_paces, NULL);
    if (bad == 0)
        bad = hm__answer_check(answer, err);
    if (bad == 0)
        bad = paces_table(answer->point_count, algorithm, ret_paces, err);
    if (bad)
        return bad;
    struct hm_pace *pace = &(*ret_paces)->paces[0];
    for (size_t k = 0; k < answer->point_count; k++) {
        pace->m[pace->count] = answer->points[k].n;
        pace->seconds[pace->count++] = answer->points[k].time_s;
    }
    return 0;
}

int hm__paces_from_table(const double *m, const double *seconds, size_t count,
                         const char *algorithm, struct hm_paces **ret_paces, struct hm_err *err)
{
    int rc = paces_table(count, algorithm, ret_paces, err);

    if (rc)
        return rc;
    struct hm_pace *pace = &(*ret_paces)->paces[0];
    memcpy(pace->m, m, count * sizeof(*m));
    memcpy(pace->seconds, seconds, count * sizeof(*seconds));
    pace->count = count;
    return 0;
}

/* ---- from traces ----------------------------------------------------------------------------- */

double hm__trace_mean_seconds(const struct hm_trace *t)
{
    double sum = 0, count = 0, last = t->elapsed_s[t->count - 1];

    if (isfinite(last) && t->restarts == 0)
        return last / t->iteration[t->count - 1];
    for (size_t p = 0; p < t->count; p++)
        if (isfinite(t->seconds[p])) {
            sum += t->seconds[p];
            count++;
        }
    return count > 0 ? sum / count : NAN;
}

/*
 * Lists the number of workers n and the mean time of an iteration in seconds for each trace that
 * has times; the traces are sorted by n. Returns the number of entries.
 */
static size_t traces_list_runs(const struct hm_trace *const *traces, size_t count, double *n,
                               double *seconds)
{
    size_t listed = 0;

    for (size_t k = 0; k < count; k++) {
        double s = hm__trace_mean_seconds(traces[k]);
        if (!(s > 0))
            continue;
        n[listed] = traces[k]->m;
        seconds[listed++] = s;
    }
    return listed;
}

static int pace_tabulate(struct hm_pace *pace, struct hm_arena *arena, const double *n,
                         const double *seconds, size_t count, struct hm_err *err)
{
    pace->m = hm__arena_alloc(arena, count + 1, sizeof(*pace->m));
    pace->seconds = hm__arena_alloc(arena, count + 1, sizeof(*pace->seconds));
    if (!pace->m || !pace->seconds)
        return hm__fail_nomem(err);
    for (size_t k = 0; k < count;) {
        double sum = 0, first = n[k];
        size_t runs = 0;
        for (; k < count && n[k] == first; k++, runs++)
            sum += seconds[k];
        pace->m[pace->count] = first;
        pace->seconds[pace->count++] = sum / (double)runs;
    }
    return 0;
}

/*
 * Fits terms that predict the pace (time of an iteration in seconds) for numbers of workers that
 * were not measured. With fewer than three measured numbers, the pace has only the table of
 * measured values.
 */
static int pace_add_fit(struct hm_pace *pace, struct hm_arena *arena, double *n, double *seconds,
                        size_t count, struct hm_err *err)
{
    struct hm_column columns[] = {{.name = "n", .values = n},
                                  {.name = "seconds", .values = seconds}};
    int *lines = hm__arena_alloc(arena, count + 1, sizeof(*lines));
    struct hm_runs runs = {.source = "the traces",
                           .count = count,
                           .columns = columns,
                           .column_count = 2,
                           .lines = lines};
    struct hm_fit_settings settings = {0};
    struct hm_fit *fit;
    struct hm_err own = {0};

    if (!lines)
        return hm__fail_nomem(err);
    if (pace->count < 3)
        return 0;
    int rc = hm_fit_new(&runs, &settings, &fit, &own);
    if (rc == HM_E_NOMEM)
        return hm__fail_nomem(err);
    if (rc)
        return 0;
    rc = pace_take_terms(pace, arena, fit, err);
    hm_fit_free(fit);
    return rc;
}

/*
 * Traces of one algorithm whose iteration times are averaged together. If the algorithm has fresh
 * traces, these are the traces with one staleness and one number of backup workers; otherwise, all
 * traces of the algorithm.
 */
struct pace_group {
    const struct hm_trace **traces;
    size_t count;
    const struct hm_trace *first; /* The first of these traces in the table. */
    bool fresh;                   /* True if the algorithm has fresh traces. */
};

static int compare_positions(const struct hm_trace *a, const struct hm_trace *b)
{
    return a < b ? -1 : a > b;
}

/* Compares traces by algorithm, staleness and backup workers; equal traces keep their order. */
static int compare_kinds(const void *a, const void *b)
{
    const struct hm_trace *x = *(const struct hm_trace *const *)a,
                          *y = *(const struct hm_trace *const *)b;
    int order = strcmp(x->algorithm, y->algorithm);

    if (order == 0)
        order = hm__compare_numbers(&x->staleness, &y->staleness);
    if (order == 0)
        order = hm__compare_numbers(&x->backups, &y->backups);
    return order ? order : compare_positions(x, y);
}

static int compare_groups(const void *a, const void *b)
{
    const struct pace_group *x = a, *y = b;

    return compare_positions(x->first, y->first);
}

/*
 * Divides traces, which are sorted with compare_kinds, into groups; returns their number. The
 * groups are sorted by their first trace, and the traces in a group by their number of workers.
 */
static size_t traces_group(const struct hm_trace **sorted, size_t count, struct pace_group *groups)
{
    size_t group_count = 0;
    bool fresh = false;

    for (size_t k = 0; k < count; k++) {
        const struct hm_trace *t = sorted[k], *before = k > 0 ? sorted[k - 1] : NULL;
        bool same = before && strcmp(before->algorithm, t->algorithm) == 0;
        /* The fresh traces of an algorithm come first. */
        if (!same)
            fresh = t->staleness == 0 && t->backups == 0;
        if (!same ||
            (fresh && (before->staleness != t->staleness || before->backups != t->backups)))
            groups[group_count++] =
                (struct pace_group){.traces = &sorted[k], .first = t, .fresh = fresh};
        struct pace_group *group = &groups[group_count - 1];
        group->count++;
        group->first = compare_positions(t, group->first) < 0 ? t : group->first;
    }
    for (size_t k = 0; k < group_count; k++)
        qsort(groups[k].traces, groups[k].count, sizeof(*sorted), hm__compare_traces_by_m);
    qsort(groups, group_count, sizeof(*groups), compare_groups);
    return group_count;
}

/* Adds the pace of a group of traces, unless none of them has times. */
static int paces_add_group(struct hm_paces *paces, const struct pace_group *group, double *n,
                           double *seconds, struct hm_err *err)
{
    struct hm_pace *pace = &paces->paces[paces->count];
    size_t count = traces_list_runs(group->traces, group->count, n, seconds);

    if (count == 0)
        return 0;
    paces->count++;
    pace->staleness = group->fresh ? group->first->staleness : 0;
    pace->backups = group->fresh ? group->first->backups : 0;
    int rc = pace_label(pace, paces->memory, group->first->algorithm, "the traces", err);
    rc = rc ? rc : pace_tabulate(pace, paces->memory, n, seconds, count, err);
    rc = rc ? rc : hm__pace_add_spread(pace, paces->memory, group->traces, group->count, err);
    return rc ? rc : pace_add_fit(pace, paces->memory, n, seconds, count, err);
}

int hm_paces_from_traces(const struct hm_traces *traces, struct hm_paces **ret_paces,
                         struct hm_err *err)
{
    int bad = hm__check_pointers(err, "ret_paces", ret_paces, NULL);
    if (bad == 0)
        bad = hm__traces_check(traces, false, err);
    if (bad)
        return bad;
    struct hm_paces *paces = paces_begin(traces->count);
    size_t room = traces->count + 1, group_count = 0;
    double *n = paces ? hm__arena_alloc(paces->memory, room, sizeof(*n)) : NULL;
    double *s = paces ? hm__arena_alloc(paces->memory, room, sizeof(*s)) : NULL;
    const struct hm_trace **sorted = hm__calloc(room, sizeof(*sorted));
    struct pace_group *groups = hm__calloc(room, sizeof(*groups));
    int rc = n && s && sorted && groups ? 0 : hm__fail_nomem(err);

    for (size_t k = 0; rc == 0 && k < traces->count; k++)
        sorted[k] = &traces->traces[k];
    if (rc == 0) {
        qsort(sorted, traces->count, sizeof(*sorted), compare_kinds);
        group_count = traces_group(sorted, traces->count, groups);
    }
    for (size_t k = 0; rc == 0 && k < group_count; k++) {
        rc = hm__budget_check(NULL, err);
        rc = rc ? rc : paces_add_group(paces, &groups[k], n, s, err);
    }
    hm__free(groups);
    hm__free(sorted);
    return paces_finish(paces, rc, ret_paces);
}

/* ---- use ------------------------------------------------------------------------------------- */

const struct hm_pace *hm__pace_find(const struct hm_paces *paces, const char *algorithm)
{
    const struct hm_pace *found = NULL;

    for (size_t k = 0; paces && k < paces->count; k++) {
        const struct hm_pace *pace = &paces->paces[k];
        if (pace->staleness != 0 || pace->backups != 0)
            continue;
        if (pace->algorithm ? strcmp(pace->algorithm, algorithm) == 0 : !found || !found->algorithm)
            found = pace;
    }
    return found;
}

static double pace_interpolate(const struct hm_pace *pace, double m)
{
    for (size_t k = 0; k < pace->count; k++) {
        if (pace->m[k] == m)
            return pace->seconds[k];
        if (pace->term_count > 0 || k == 0 || !(pace->m[k - 1] < m && m < pace->m[k]))
            continue;
        double at = log(m / pace->m[k - 1]) / log(pace->m[k] / pace->m[k - 1]);
        return exp((1 - at) * log(pace->seconds[k - 1]) + at * log(pace->seconds[k]));
    }
    return NAN;
}

/* Sets x to the values of the terms on m workers; returns false if a value is not finite. */
static bool pace_eval_terms(const struct hm_pace *pace, double m, double *x)
{
    static const struct hm_symbol symbol = {.name = "n"};
    struct hm_scope scope = {.source = "f", .symbols = &symbol, .symbol_count = 1};

    for (size_t k = 0; k < pace->term_count; k++) {
        struct hm_formula *formula;
        if (hm__formula_new(pace->terms[k], &scope, HM_DIM_NONE, &formula, NULL))
            return false;
        int rc = hm__formula_eval(formula, NULL, NULL, &m, 1, &x[k], NULL);
        hm__formula_free(formula);
        if (rc || !isfinite(x[k]))
            return false;
    }
    return true;
}

static double pace_sum_terms(const struct hm_pace *pace, const double *theta, const double *x)
{
    double sum = 0;

    for (size_t k = 0; k < pace->term_count; k++)
        sum += theta[k] * x[k];
    return sum;
}

bool hm__pace_eval(const struct hm_pace *pace, double m, double *ret_seconds, double *draws)
{
    double x[HM_TERMS_MAX], known = pace_interpolate(pace, m);
    bool terms = isnan(known);

    if (terms &&
        (pace->term_count == 0 || pace->term_count > HM_TERMS_MAX || !pace_eval_terms(pace, m, x)))
        return false;
    double seconds = terms ? pace_sum_terms(pace, pace->theta, x) : known;
    for (size_t d = 0; d < HM_G_DRAWS; d++) {
        draws[d] = terms && d < pace->draw_count
                       ? pace_sum_terms(pace, pace->draws + d * pace->term_count, x)
                       : seconds;
        if (!(draws[d] > 0))
            draws[d] = seconds;
    }
    *ret_seconds = seconds;
    return seconds > 0;
}
