/*
 * Answers from single rows of the table of runs: rows that match a question exactly, and rows of
 * runs that failed.
 *
 * A row matches if every quantity in the question is equal up to rounding. The time for a number of
 * workers n is the median of its k repeats; the interval is mean +- t s sqrt(1 + 1/k), where s is
 * the standard deviation of the repeats and t comes from Student's distribution. A failure rules
 * out the same n with the same or more work (batch, size), because a job that does not fit in
 * memory does not fit with more work either. A failure is ignored if a run with at least as much
 * work succeeded. Limit: a failure has no effect on other n.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "checks.h"
#include "err.h"
#include "order.h"
#include "random.h"
#include "recommend.h"
#include "student.h"
#include "text.h"

const double *hm__recommend_values(const struct hm_runs *runs, const char *name)
{
    const struct hm_column *column = runs ? hm_runs_column(runs, name) : NULL;

    return column ? column->values : NULL;
}

bool hm__recommend_same(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* ---- selection of rows ----------------------------------------------------------------------- */

static bool row_has_label(const struct hm_runs *runs, const char *name, const char *wanted,
                          size_t row)
{
    const struct hm_column *column = wanted ? hm_runs_column(runs, name) : NULL;

    if (!wanted)
        return true;
    return column && column->labels && column->labels[row] &&
           strcmp(column->labels[row], wanted) == 0;
}

/*
 * Adds a note if the runs use several algorithms or machines, but the question does not name one.
 */
static int note_labels(struct hm_recommending *w, const char *name, const char *asked,
                       struct hm_err *err)
{
    const struct hm_column *column = hm_runs_column(w->runs, name);
    const char *first = NULL;

    for (size_t i = 0; !asked && column && column->labels && i < w->picked_count; i++) {
        const char *label = column->labels[w->picked[i]];
        if (label && first && strcmp(label, first) != 0)
            return hm__notes_add(hm__recommend_notes(w), err,
                                 "runs of different %ss are combined; give %s to use those of one",
                                 name, name);
        first = label ? label : first;
    }
    return 0;
}

int hm__recommend_pick(struct hm_recommending *w, struct hm_err *err)
{
    if (!w->runs)
        return 0;
    w->picked = hm__arena_alloc(w->arena, w->runs->count, sizeof(*w->picked));
    if (!w->picked)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < w->runs->count; i++)
        if (row_has_label(w->runs, "algorithm", w->q->algorithm, i) &&
            row_has_label(w->runs, "machine", w->q->machine, i))
            w->picked[w->picked_count++] = i;
    int rc = note_labels(w, "algorithm", w->q->algorithm, err);
    return rc ? rc : note_labels(w, "machine", w->q->machine, err);
}

/* ---- the place ------------------------------------------------------------------------------- */

static const char *const known_quantities[] = {"size", "batch", "latency", "bandwidth"};
enum { KNOWN = sizeof(known_quantities) / sizeof(known_quantities[0]) };

bool hm__recommend_is_known(const char *name)
{
    for (size_t i = 0; i < KNOWN; i++)
        if (strcmp(known_quantities[i], name) == 0)
            return true;
    return false;
}

static const char *quantity_name(const void *context, size_t i)
{
    const struct hm_runs *runs = context;
    size_t seen = 0;

    if (i < KNOWN)
        return known_quantities[i];
    for (size_t c = 0; runs && c < runs->column_count; c++)
        if (runs->columns[c].values && seen++ == i - KNOWN)
            return runs->columns[c].name;
    return NULL;
}

static int place_check_name(const struct hm_recommending *w, const char *name, struct hm_err *err)
{
    const struct hm_column *column = w->runs ? hm_runs_column(w->runs, name) : NULL;

    if (strcmp(name, "n") == 0 || strcmp(name, "seconds") == 0)
        return hm__fail(err, HM_E_NAME, "%s is the result; it cannot be given in the question",
                        name);
    if (column && !column->values) {
        hm__fail(err, HM_E_TYPE, "%s is a label, not a quantity", name);
        hm__err_hint(err, "select runs with where %s=…", name);
        return HM_E_TYPE;
    }
    if (column || hm__recommend_is_known(name))
        return 0;
    const char *near = hm__suggest(name, quantity_name, w->runs);
    hm__fail(err, HM_E_NAME, "the runs have no quantity '%s'", name);
    if (near)
        hm__err_hint(err, "did you mean %s?", near);
    return HM_E_NAME;
}

static int place_add(struct hm_recommending *w, const struct hm_at *at, struct hm_err *err)
{
    bool positive = hm__recommend_is_known(at->name) && strcmp(at->name, "latency") != 0;
    int rc = place_check_name(w, at->name, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < w->at_count; i++)
        if (strcmp(w->at[i].name, at->name) == 0)
            return hm__fail(err, HM_E_CONFLICT, "%s is given twice", at->name);
    if (!isfinite(at->value) || at->value < 0 || (positive && at->value == 0))
        return hm__fail(err, HM_E_RANGE, "%s: %g is out of range; it must be %s", at->name,
                        at->value, positive ? "more than 0" : "0 or more");
    if (w->at_count == HM_RECOMMEND_AT)
        return hm__fail(err, HM_E_LIMIT, "more than %d quantities", HM_RECOMMEND_AT);
    w->at[w->at_count] = (struct hm_at){hm__arena_strdup(w->arena, at->name), at->value};
    return w->at[w->at_count++].name ? 0 : hm__fail_nomem(err);
}

static bool place_has(const struct hm_recommending *w, const char *name)
{
    for (size_t i = 0; i < w->at_count; i++)
        if (strcmp(w->at[i].name, name) == 0)
            return true;
    return false;
}

/*
 * Checks a quantity that is not part of the question: it must have the same value in all runs. The
 * size is an exception, because its default is the whole data set.
 */
static int place_close(struct hm_recommending *w, const char *name, struct hm_err *err)
{
    const double *values = hm__recommend_values(w->runs, name);
    double low = INFINITY, high = -INFINITY;

    for (size_t i = 0; values && i < w->picked_count; i++) {
        low = fmin(low, values[w->picked[i]]);
        high = fmax(high, values[w->picked[i]]);
    }
    if (!(low < high) || hm__recommend_same(low, high) || place_has(w, name))
        return 0;
    if (strcmp(name, "size") == 0) {
        w->at[w->at_count++] = (struct hm_at){"size", fmax(high, 1)};
        return 0;
    }
    hm__fail(err, HM_E_MISSING, "the runs differ in %s, so the question must give it", name);
    if (strcmp(name, "batch") == 0)
        hm__err_hint(err, "give it, as in batch %.6g", high);
    else if (strcmp(name, "latency") == 0)
        hm__err_hint(err, "give it, as in latency %.6gms", 1e3 * high);
    else
        hm__err_hint(err, "give it, as in at %s=%.6gMbit/s", name, 8e-6 * high);
    hm__err_at(err, w->runs->source, 0);
    return HM_E_MISSING;
}

int hm__recommend_place(struct hm_recommending *w, struct hm_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < w->q->at_count; i++)
        rc = place_add(w, &w->q->at[i], err);
    for (size_t i = 0; rc == 0 && i < KNOWN && w->at_count < HM_RECOMMEND_AT; i++)
        rc = place_close(w, known_quantities[i], err);
    return rc;
}

/* ---- candidates ------------------------------------------------------------------------------ */

int hm__recommend_candidates(struct hm_recommending *w, struct hm_err *err)
{
    size_t room = w->q->n_count ? w->q->n_count : w->picked_count, kept = 0;
    double *n = hm__calloc(room, sizeof(*n));

    if (!n)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < room; i++)
        n[i] = w->q->n_count ? w->q->n[i] : w->n[w->picked[i]];
    qsort(n, room, sizeof(*n), hm__compare_numbers);
    for (size_t i = 0; i < room; i++)
        if (i == 0 || n[i] != n[i - 1])
            n[kept++] = n[i];
    int rc = kept > HM_RECOMMEND_CANDIDATES
                 ? hm__fail(err, HM_E_LIMIT, "%zu numbers of workers; at most %d can be compared",
                            kept, HM_RECOMMEND_CANDIDATES)
                 : 0;
    if (rc == 0 && !(w->candidates = hm__arena_alloc(w->arena, kept, sizeof(*w->candidates))))
        rc = hm__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < kept; i++) {
        struct hm_recommended *r = &w->candidates[w->count++].r;
        r->n = n[i];
        r->time_s = r->low_s = r->high_s = r->cost = r->value = NAN;
    }
    hm__free(n);
    return rc;
}

/* ---- failures -------------------------------------------------------------------------------- */

/*
 * Compares the work (batch and size) of a row with the work in the question. If at_least is true,
 * returns whether the row has at least as much work; otherwise, returns whether it has at most as
 * much.
 */
static bool row_had_work(const struct hm_recommending *w, size_t row, bool at_least)
{
    for (size_t i = 0; i < w->at_count; i++) {
        const struct hm_at *at = &w->at[i];
        const double *values = hm__recommend_values(w->runs, at->name);
        if (strcmp(at->name, "batch") != 0 && strcmp(at->name, "size") != 0)
            continue;
        /* A row whose work is unknown is assumed to have at most as much work as the question, so
         * that a failure counts and a success does not. */
        if (!values || isnan(values[row]))
            return !at_least;
        if (hm__recommend_same(values[row], at->value))
            continue;
        if (at_least ? values[row] < at->value : values[row] > at->value)
            return false;
    }
    return true;
}

static const char *failure_text(struct hm_recommending *w, size_t row)
{
    const struct hm_column *status = hm_runs_column(w->runs, "status");
    const char *text = status && status->labels ? status->labels[row] : NULL;
    const double *batch = hm__recommend_values(w->runs, "batch");
    char with[64] = "";

    for (size_t i = 0; batch && i < w->at_count; i++)
        if (strcmp(w->at[i].name, "batch") == 0 &&
            !hm__recommend_same(batch[row], w->at[i].value) && !isnan(batch[row]))
            snprintf(with, sizeof(with), " with a batch of %.6g", batch[row]);
    const int line = hm__runs_line(w->runs, row);
    if (line == 0)
        return hm__arena_printf(w->arena, "%s%s", text ? text : "failed", with);
    return hm__arena_printf(w->arena, "%s%s (line %d)", text ? text : "failed", with, line);
}

static int candidate_find_failure(struct hm_recommending *w, struct hm_recommended *r,
                                  struct hm_err *err)
{
    size_t failure = HM_NONE, failures = 0;
    bool went_well = false;

    for (size_t i = 0; i < w->picked_count; i++) {
        size_t row = w->picked[i];
        bool failed = isnan(w->seconds[row]);
        if (w->n[row] != r->n)
            continue;
        went_well = went_well || (!failed && row_had_work(w, row, true));
        if (!failed || !row_had_work(w, row, false))
            continue;
        failure = failure == HM_NONE ? row : failure;
        failures++;
    }
    if (failure == HM_NONE)
        return 0;
    const char *why = failure_text(w, failure);
    if (!why)
        return hm__fail_nomem(err);
    char workers[40];
    if (went_well)
        return hm__notes_add(
            hm__recommend_notes(w), err, "%s: %zu run%s failed, although others succeeded: %s",
            hm__recommend_workers(r->n, workers), failures, failures == 1 ? "" : "s", why);
    r->failed = true;
    r->why = why;
    return 0;
}

int hm__recommend_failures(struct hm_recommending *w, struct hm_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && w->runs && i < w->count; i++) {
        rc = hm__budget_check("runs", err);
        if (rc == 0)
            rc = candidate_find_failure(w, &w->candidates[i].r, err);
    }
    return rc;
}

/* ---- rows that match ------------------------------------------------------------------------- */

bool hm__recommend_ignores(const struct hm_recommending *w, double n, const char *name)
{
    const double *values = hm__recommend_values(w->runs, name);
    double low = INFINITY, high = -INFINITY;

    if (n != 1 || !values || (strcmp(name, "latency") != 0 && strcmp(name, "bandwidth") != 0))
        return false;
    for (size_t i = 0; i < w->picked_count; i++) {
        if (w->n[w->picked[i]] != n)
            continue;
        low = fmin(low, values[w->picked[i]]);
        high = fmax(high, values[w->picked[i]]);
    }
    return !(low < high);
}

/* A quantity in the question, and its values in the runs. */
struct row_quantity {
    const double *values; /* Value in each run; NULL if the runs do not have the quantity. */
    double wanted;
};

/*
 * Lists the quantities in the question that matter for n workers. They are the same for all rows
 * with this n, so they are listed once for each candidate. Returns their number.
 */
static size_t list_quantities(const struct hm_recommending *w, double n,
                              struct row_quantity *quantities)
{
    size_t count = 0;

    for (size_t i = 0; i < w->at_count; i++)
        if (!hm__recommend_ignores(w, n, w->at[i].name))
            quantities[count++] =
                (struct row_quantity){hm__recommend_values(w->runs, w->at[i].name), w->at[i].value};
    return count;
}

static bool row_matches(const struct hm_recommending *w, const struct row_quantity *quantities,
                        size_t count, size_t row)
{
    for (size_t i = 0; i < count; i++)
        if (!quantities[i].values ||
            !hm__recommend_same(quantities[i].values[row], quantities[i].wanted))
            return false;
    return !isnan(w->seconds[row]);
}

/*
 * Sets the interval for one more repeat, and random draws of the mean time. Both use Student's t
 * distribution.
 */
static int candidate_set_spread(struct hm_recommending *w, struct hm_recommend_candidate *t,
                                const double *seconds, size_t count, struct hm_err *err)
{
    double mean = 0, sum = 0, k = (double)count;
    struct hm_random random;

    if (count < 2)
        return 0;
    for (size_t i = 0; i < count; i++)
        mean += seconds[i] / k;
    for (size_t i = 0; i < count; i++)
        sum += (seconds[i] - mean) * (seconds[i] - mean);
    double spread = sqrt(sum / (k - 1));
    double reach = hm__student_quantile(k - 1, (1 + w->out->level) / 2) * spread * sqrt(1 + 1 / k);
    t->r.low_s = fmax(fmin(mean - reach, t->r.time_s), 0);
    t->r.high_s = fmax(mean + reach, t->r.time_s);
    w->draw_count = HM_RECOMMEND_DRAWS;
    if (!(t->draws = hm__arena_alloc(w->arena, w->draw_count, sizeof(*t->draws))))
        return hm__fail_nomem(err);
    hm__random_init(&random, (uint64_t)w->q->seed, 2 + (uint64_t)(t - w->candidates));
    for (size_t d = 0; d < w->draw_count; d++) {
        double squares = 0, z = hm__random_normal(&random);
        for (size_t i = 1; i < count && i < 31; i++) {
            double x = hm__random_normal(&random);
            squares += x * x;
        }
        double off = z / sqrt(squares / (double)(count < 31 ? count - 1 : 30));
        t->draws[d] = fmax(mean + off * spread / sqrt(k), 0.01 * mean);
    }
    return 0;
}

static int candidate_from_rows(struct hm_recommending *w, struct hm_recommend_candidate *t,
                               double *scratch, struct hm_err *err)
{
    const double *costs = hm__recommend_values(w->runs, "cost");
    double *seconds = scratch, *money = scratch + w->picked_count;
    struct row_quantity quantities[HM_RECOMMEND_AT];
    size_t count = 0, paid = 0, quantity_count = list_quantities(w, t->r.n, quantities);

    for (size_t i = 0; i < w->picked_count; i++) {
        size_t row = w->picked[i];
        if (w->n[row] != t->r.n || !row_matches(w, quantities, quantity_count, row))
            continue;
        seconds[count++] = w->seconds[row];
        if (costs && isfinite(costs[row]))
            money[paid++] = costs[row];
        if (!t->r.failed)
            w->out->rows[w->out->row_count++] = row;
    }
    t->r.row_count = count;
    if (count == 0 || t->r.failed)
        return 0;
    t->known = true;
    t->r.time_s = hm__values_median(seconds, count);
    if (paid > 0)
        t->r.cost = hm__values_median(money, paid);
    return candidate_set_spread(w, t, seconds, count, err);
}

/*
 * Removes the random draws of all candidates unless every candidate that has a time also has draws.
 */
static void candidates_drop_draws(struct hm_recommending *w)
{
    bool all = true;

    for (size_t i = 0; i < w->count; i++)
        all = all && (!w->candidates[i].known || w->candidates[i].draws);
    for (size_t i = 0; !all && i < w->count; i++)
        w->candidates[i].draws = NULL;
}

int hm__recommend_rows(struct hm_recommending *w, struct hm_err *err)
{
    double *scratch = hm__calloc(2 * w->picked_count, sizeof(*scratch));
    int rc = 0;

    w->out->rows = hm__arena_alloc(w->arena, w->picked_count, sizeof(*w->out->rows));
    if (!scratch || !w->out->rows)
        rc = hm__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < w->count; i++) {
        rc = hm__budget_check("runs", err);
        if (rc == 0)
            rc = candidate_from_rows(w, &w->candidates[i], scratch, err);
    }
    hm__free(scratch);
    if (rc || w->out->row_count == 0)
        return rc;
    candidates_drop_draws(w);
    w->out->provenance = HM_RECOMMEND_ROWS;
    w->out->reason =
        hm__arena_printf(w->arena, "%zu of %zu runs match%s exactly", w->out->row_count,
                         w->runs->count, w->out->row_count == 1 ? "es" : "");
    return w->out->reason ? 0 : hm__fail_nomem(err);
}
